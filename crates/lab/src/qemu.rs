//! The command line of QEMU for a machine: what is pure about a start. Must not touch the world.

use crate::drives;
use crate::guest;
use crate::image::Image;
use std::path::Path;
use stend_base::random::mix;
use stend_spec::machine::{Link, Machine};

/// The emulator.
pub const PROGRAM: &str = "qemu-system-x86_64";
/// The command line of the guest's kernel. It must not wait for a person, and a panic must end the machine (`-no-reboot`); its clock
/// comes from the emulator, and nobody attacks it, so that it need not slow itself down; nor does its cryptography need a
/// test at every start.
pub const KERNEL: &str = "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check mitigations=off random.trust_cpu=on \
     cryptomgr.notests";

/// The processor that is emulated: all that QEMU can, but `cmpxchg16b`. QEMU before 8.0 makes the flags of it from a state that may be
/// stale (`helper_cmpxchg16b` reads `env->cc_op`, which the translator has not written): an interrupt right behind it then brings
/// nonsense into EFLAGS. The kernel allocates memory by it; without it, it takes another way. One of 15 runs of two machines over iSCSI
/// ended by that: its panic showed the lower half of a pointer in EFLAGS.
const EMULATED: &str = "max,cx16=off";

/// What the serial numbers of drives begin with that every machine has: those of a machine file have no such letters.
pub const OWN: &str = "stend-";

/// How instructions of the guest are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// By the processor.
    Kvm,
    /// One by one, in software.
    Tcg {
        /// Speed of this machine's time stamp counter, kHz, which the guest then reads, too.
        counter_khz: Option<u64>,
    },
}

/// Paths by which QEMU reaches what a machine is made of.
pub struct Paths<'a> {
    /// Kernel and system.
    pub image: &'a Image,
    /// Archive that the guest's kernel unpacks: the first steps, and this program behind them.
    pub archive: String,
    /// What each drive keeps, in their order.
    pub drives: Vec<drives::Backing>,
    /// What a reset of the machine leaves of its guest's own.
    pub keep: String,
}

/// How a machine is spoken to.
pub enum Streams<'a> {
    /// The port of the worker is joined to the standard streams, the console to the standard error, and QEMU itself listens
    /// on this descriptor.
    Standard {
        /// One end of a socket.
        control: i32,
    },
    /// QEMU leaves the terminal and has a socket for each port and for itself in its working directory, which is this one.
    Sockets {
        /// The directory.
        directory: &'a Path,
    },
}

/// Names in the directory of a machine that stays up: sockets of QEMU and of the two ports, the console, the process.
pub const CONTROL: &str = "control.sock";
/// See [`CONTROL`].
pub const WORKER_SOCKET: &str = "worker.sock";
/// See [`CONTROL`].
pub const COMMAND_SOCKET: &str = "command.sock";
/// See [`CONTROL`].
pub const CONSOLE: &str = "console.log";
/// See [`CONTROL`].
pub const PROCESS: &str = "pid";

/// A path as a value of an option, in which a comma would be the end.
pub fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

/// Everything behind the name of the program.
pub fn arguments(machine: &Machine, how: Accelerator, paths: &Paths, streams: &Streams) -> Vec<String> {
    let (accelerator, cpu) = match how {
        Accelerator::Kvm => ("kvm", "host"),
        Accelerator::Tcg { .. } => ("tcg,thread=multi", EMULATED),
    };
    let mut words: Vec<String> = Vec::new();
    let mut say = |option: &str, value: &str| words.extend([format!("-{option}"), value.to_string()]);
    say("machine", "q35");
    say("accel", accelerator);
    say("cpu", cpu);
    // With one CPU, QEMU executes locked instructions and barriers of the guest as plain ones, as if nobody shared its memory; but its own
    // threads do, which serve the devices: a queue whose tail and event index crossed on the way was never looked at again (NVMe with
    // shadow doorbells, virtio), which two of 25 runs of two machines over iSCSI showed. Where a second CPU could be plugged in it executes
    // them as they are (`tcg_cpu_init_cflags`).
    let alone = machine.cpus == 1 && matches!(how, Accelerator::Tcg { .. });
    say("smp", &if alone { "1,maxcpus=2".to_string() } else { machine.cpus.to_string() });
    say("m", &format!("{}M", machine.memory.0 >> 20));
    say("display", "none");
    say("kernel", &paths.image.kernel.to_string_lossy());
    say("initrd", &paths.archive);
    say("append", &kernel_line(machine, how, streams));
    for (option, value) in stream_options(streams) {
        say(option, &value);
    }
    say("object", "rng-builtin,id=rng");
    say("device", "virtio-rng-pci,rng=rng");
    for (index, node) in machine.numa.iter().enumerate() {
        say("object", &format!("memory-backend-ram,id=memory{index},size={}", node.memory.0));
        let first: u32 = machine.numa[..index].iter().map(|node| node.cpus).sum();
        let cpus = format!("cpus={first}-{}", first + node.cpus - 1);
        say("numa", &format!("node,nodeid={index},{cpus},memdev=memory{index}"));
    }
    for (option, value) in drives::options(machine, &paths.drives) {
        say(option, &value);
    }
    for (option, value) in link_options(machine, streams) {
        say(option, &value);
    }
    let system = escaped(&paths.image.system);
    // Behind the drives, so that those get the first names.
    words.extend([
        "-blockdev".into(),
        format!("driver=file,node-name=system,filename={system},read-only=on,locking=off"),
    ]);
    words.extend(["-device".into(), "virtio-blk-pci,bus=pcie.0,drive=system,serial=stend-system".into()]);
    // What a reset of the machine leaves.
    let keep = format!("driver=file,node-name=keep,filename={},discard=unmap,locking=off", paths.keep);
    words.extend(["-blockdev".into(), keep]);
    words.extend(["-device".into(), "virtio-blk-pci,bus=pcie.0,drive=keep,serial=stend-keep".into()]);
    if matches!(streams, Streams::Sockets { .. }) {
        words.push("-daemonize".into());
    }
    words.extend(["-nodefaults", "-no-user-config", "-no-reboot"].map(String::from));
    words
}

fn stream_options(streams: &Streams) -> Vec<(&'static str, String)> {
    let port = |name: &str, port: &str| ("device", format!("virtserialport,chardev={name},name={port}"));
    let mut options = vec![("device", "virtio-serial-pci".to_string())];
    match streams {
        Streams::Standard { control } => options.extend([
            ("chardev", "file,id=console,path=/dev/stderr,append=on".into()),
            ("chardev", "stdio,id=worker,signal=off".into()),
            ("chardev", format!("socket,id=control,fd={control}")),
            port("worker", guest::WORKER),
        ]),
        Streams::Sockets { directory } => {
            let socket = |name: &str, file| ("chardev", format!("socket,id={name},path={file},server=on,wait=off"));
            options.extend([
                ("chardev", format!("file,id=console,path={}", escaped(&directory.join(CONSOLE)))),
                ("pidfile", PROCESS.into()),
                socket("control", CONTROL),
                socket("worker", WORKER_SOCKET),
                socket("command", COMMAND_SOCKET),
                port("worker", guest::WORKER),
                port("command", guest::COMMAND),
            ]);
        }
    }
    options.extend([("serial", "chardev:console".into()), ("mon", "chardev=control,mode=control".into())]);
    options
}

/// Networks between machines that stay up: each sends to a socket in the directory of the other, and what nobody is there for is lost,
/// as on a cable that is not plugged in. QEMU leaves its directory when it has started: the paths of its peers are whole.
//= QEMU 7.2, qemu-options.hx, `-netdev dgram`
fn link_options(machine: &Machine, streams: &Streams) -> Vec<(&'static str, String)> {
    let Streams::Sockets { directory } = streams else { return Vec::new() };
    let place = directory.parent().unwrap_or(directory);
    let link = |(number, Link { to, .. }): (usize, &Link)| {
        let (ours, mac) = (socket_name(to), mac(&machine.name, to));
        let theirs = escaped(&place.join(to).join(socket_name(&machine.name)));
        [
            (
                "netdev",
                format!("dgram,id=net{number},local.type=unix,local.path={ours},remote.type=unix,remote.path={theirs}"),
            ),
            ("device", format!("virtio-net-pci,bus=pcie.0,netdev=net{number},mac={mac}")),
        ]
    };
    (1..).zip(&machine.links).flat_map(link).collect()
}

/// Socket for what the machine of this name sends; paths of sockets have some hundred characters at most.
fn socket_name(from: &str) -> String {
    let bits = from.bytes().fold(0, |seed, byte| mix(seed ^ u64::from(byte)));
    format!("link-{:08x}", bits as u32)
}

/// Address of one end of a link, which follows from the names of both: locally administered, no group.
fn mac(own: &str, to: &str) -> String {
    let words = own.bytes().chain([0]).chain(to.bytes());
    let bits = words.fold(0, |seed, byte| mix(seed ^ u64::from(byte))).to_le_bytes();
    let [a, b, c, d, e, ..] = bits;
    format!("52:{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}")
}

fn kernel_line(machine: &Machine, how: Accelerator, streams: &Streams) -> String {
    // Left to itself the guest measures the counter against a timer while others take the processor from it; on a busy machine
    // its clock then ran nine times too fast.
    let counter = match how {
        Accelerator::Tcg { counter_khz: Some(khz) } => format!(" tsc_early_khz={khz}"),
        _ => String::new(),
    };
    // Each once for every path.
    let count: u32 = machine.drives.iter().map(|drive| drive.paths).sum();
    let polled = match machine.nvme_poll_queues {
        0 => String::new(),
        queues => format!(" nvme.poll_queues={queues}"),
    };
    let given: String = machine.kernel.iter().map(|parameter| format!(" {parameter}")).collect();
    let modules = drives::modules(machine);
    let links: Vec<String> =
        machine.links.iter().map(|link| format!("{}@{}", mac(&machine.name, &link.to), link.address)).collect();
    let links = if links.is_empty() { String::new() } else { format!(" stend.links={}", links.join(",")) };
    let stays = if matches!(streams, Streams::Sockets { .. }) { " stend.stays" } else { "" };
    // It shall not make room for a second CPU.
    let alone = if machine.cpus == 1 { " nr_cpus=1" } else { "" };
    format!(
        "{KERNEL}{alone}{counter} stend.drives={count} stend.modules={modules}{links} stend.keep{stays}{polled}{given}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const TCG: Accelerator = Accelerator::Tcg { counter_khz: Some(2_500_000) };

    fn line(text: &str, accelerator: Accelerator) -> String {
        let machine = stend_spec::parse::machine(text, "m.yaml").unwrap();
        let [kernel, start, system, packages] =
            ["kernel", "start", "system", "packages"].map(|name| Path::new("/c").join(name));
        let image = Image { kernel, start, system, packages };
        let drives =
            (0..machine.drives.len()).map(|index| drives::Backing::File(format!("/proc/7/fd/{index}"))).collect();
        let paths = Paths { image: &image, archive: "/proc/7/fd/9".into(), drives, keep: "/proc/7/fd/8".into() };
        arguments(&machine, accelerator, &paths, &Streams::Standard { control: 5 }).join(" ").replace(" -", "\n-")
    }

    #[test]
    fn a_machine_of_two_drives_is_started_so() {
        let text = "machine: m\ncpus: 2\nmemory: 512MiB\nnvme_poll_queues: 1\ndrives:\n  - {serial: A1, size: 64MiB}\n  \
                    - {kind: virtio, serial: B2, size: 1GiB, logical_block_size: 4KiB, iops: 400, bandwidth: 20MiB}\n";
        expect![[r#"
            -machine q35
            -accel tcg,thread=multi
            -cpu max,cx16=off
            -smp 2
            -m 512M
            -display none
            -kernel /c/kernel
            -initrd /proc/7/fd/9
            -append console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check mitigations=off random.trust_cpu=on cryptomgr.notests tsc_early_khz=2500000 stend.drives=2 stend.modules=nvme,virtio_blk stend.keep nvme.poll_queues=1
            -device virtio-serial-pci
            -chardev file,id=console,path=/dev/stderr,append=on
            -chardev stdio,id=worker,signal=off
            -chardev socket,id=control,fd=5
            -device virtserialport,chardev=worker,name=stend.worker
            -serial chardev:console
            -mon chardev=control,mode=control
            -object rng-builtin,id=rng
            -device virtio-rng-pci,rng=rng
            -blockdev driver=file,node-name=file-A1,filename=/proc/7/fd/0,aio=threads,discard=unmap,locking=off,cache.direct=off
            -object throttle-group,id=limits-A1
            -blockdev driver=throttle,node-name=limited-A1,throttle-group=limits-A1,file=file-A1,discard=unmap
            -device pcie-root-port,id=slot1,bus=pcie.0,chassis=1,slot=1
            -device nvme,id=drive-A1,bus=slot1,serial=A1,drive=limited-A1,logical_block_size=512,physical_block_size=4096
            -blockdev driver=file,node-name=file-B2,filename=/proc/7/fd/1,aio=threads,discard=unmap,locking=off,cache.direct=off
            -object throttle-group,id=limits-B2,x-iops-total=400,x-bps-total=20971520
            -blockdev driver=throttle,node-name=limited-B2,throttle-group=limits-B2,file=file-B2,discard=ignore
            -device pcie-root-port,id=slot2,bus=pcie.0,chassis=2,slot=2
            -device virtio-blk-pci,id=drive-B2,bus=slot2,serial=B2,drive=limited-B2,logical_block_size=4096,physical_block_size=4096
            -blockdev driver=file,node-name=system,filename=/c/system,read-only=on,locking=off
            -device virtio-blk-pci,bus=pcie.0,drive=system,serial=stend-system
            -blockdev driver=file,node-name=keep,filename=/proc/7/fd/8,discard=unmap,locking=off
            -device virtio-blk-pci,bus=pcie.0,drive=keep,serial=stend-keep
            -nodefaults
            -no-user-config
            -no-reboot
        "#]]
        .assert_eq(&format!("{}\n", line(text, TCG)));
    }

    #[test]
    fn a_drive_with_two_paths_is_a_disk_of_two_controllers_which_share_what_it_keeps() {
        let text =
            "machine: m\ndrives:\n  - {kind: sas, serial: S, size: 64MiB, count: 2, paths: 2, wwn: 5000c500a0b1c2d0}\n";
        let line = line(text, TCG);
        let told: Vec<&str> = line
            .lines()
            .filter(|line| {
                ["-device scsi-hd", "-device mptsas", "-blockdev driver=throttle"].iter().any(|of| line.starts_with(of))
            })
            .collect();
        expect![[r#"
            -blockdev driver=throttle,node-name=limited-S1,throttle-group=limits-S1,file=file-S1,discard=unmap
            -device mptsas1068,id=controller0,bus=slot1
            -device scsi-hd,id=drive-S1,bus=controller0.0,scsi-id=0,serial=S1,drive=limited-S1,logical_block_size=512,physical_block_size=4096,rotation_rate=1,share-rw=on,wwn=0x5000c500a0b1c2d0
            -device mptsas1068,id=controller1,bus=slot2
            -device scsi-hd,id=drive-S1-2,bus=controller1.0,scsi-id=0,serial=S1,drive=limited-S1,logical_block_size=512,physical_block_size=4096,rotation_rate=1,share-rw=on,wwn=0x5000c500a0b1c2d0
            -blockdev driver=throttle,node-name=limited-S2,throttle-group=limits-S2,file=file-S2,discard=unmap
            -device scsi-hd,id=drive-S2,bus=controller0.0,scsi-id=1,serial=S2,drive=limited-S2,logical_block_size=512,physical_block_size=4096,rotation_rate=1,share-rw=on,wwn=0x5000c500a0b1c2d1
            -device scsi-hd,id=drive-S2-2,bus=controller1.0,scsi-id=1,serial=S2,drive=limited-S2,logical_block_size=512,physical_block_size=4096,rotation_rate=1,share-rw=on,wwn=0x5000c500a0b1c2d1
        "#]]
        .assert_eq(&format!("{}\n", told.join("\n")));
        assert!(line.contains(" stend.drives=4 "), "{line}");
        let machine = stend_spec::parse::machine(text, "m.yaml").unwrap();
        let plugs: Vec<String> = drives::plugs(&machine).into_iter().map(|(serial, _)| serial).collect();
        assert_eq!(plugs, ["S1", "S1", "S2", "S2"]);
    }

    #[test]
    fn drives_are_plugged_in_near_their_node_each_where_it_can_be_unplugged() {
        let text = "machine: m\nnuma: [{cpus: 1, memory: 512MiB}, {cpus: 2, memory: 1GiB}]\nkernel: [nvme_core.io_timeout=5]\n\
                    drives:\n  - {serial: A, size: 64MiB, count: 2, node: 1, warnings: [spare]}\n  \
                    - {kind: sas, serial: S, size: 64MiB, count: 9, rotation: 7200, wwn: 5000c500a0b1c2d0}\n  \
                    - {kind: scsi, serial: V, size: 64MiB}\n";
        let line = line(text, TCG);
        let told: Vec<&str> = line
            .lines()
            .filter(|line| {
                ["-smp", "-m ", "-numa"].iter().any(|of| line.starts_with(of))
                    || line.starts_with("-device")
                    || line.contains("memory-")
            })
            .collect();
        expect![[r#"
            -smp 3
            -m 1536M
            -device virtio-serial-pci
            -device virtserialport,chardev=worker,name=stend.worker
            -device virtio-rng-pci,rng=rng
            -object memory-backend-ram,id=memory0,size=536870912
            -numa node,nodeid=0,cpus=0-0,memdev=memory0
            -object memory-backend-ram,id=memory1,size=1073741824
            -numa node,nodeid=1,cpus=1-2,memdev=memory1
            -device pxb-pcie,id=node0,bus_nr=32,bus=pcie.0,numa_node=0
            -device pxb-pcie,id=node1,bus_nr=60,bus=pcie.0,numa_node=1
            -device pcie-root-port,id=slot1,bus=node1,chassis=1,slot=1
            -device nvme,id=drive-A1,bus=slot1,serial=A1,drive=limited-A1,logical_block_size=512,physical_block_size=4096,smart_critical_warning=1
            -device pcie-root-port,id=slot2,bus=node1,chassis=2,slot=2
            -device nvme,id=drive-A2,bus=slot2,serial=A2,drive=limited-A2,logical_block_size=512,physical_block_size=4096,smart_critical_warning=1
            -device pcie-root-port,id=slot3,bus=pcie.0,chassis=3,slot=3
            -device mptsas1068,id=controller0,bus=slot3
            -device scsi-hd,id=drive-S1,bus=controller0.0,scsi-id=0,serial=S1,drive=limited-S1,logical_block_size=512,physical_block_size=4096,rotation_rate=7200,wwn=0x5000c500a0b1c2d0
            -device scsi-hd,id=drive-S2,bus=controller0.0,scsi-id=1,serial=S2,drive=limited-S2,logical_block_size=512,physical_block_size=4096,rotation_rate=7200,wwn=0x5000c500a0b1c2d1
            -device scsi-hd,id=drive-S3,bus=controller0.0,scsi-id=2,serial=S3,drive=limited-S3,logical_block_size=512,physical_block_size=4096,rotation_rate=7200,wwn=0x5000c500a0b1c2d2
            -device scsi-hd,id=drive-S4,bus=controller0.0,scsi-id=3,serial=S4,drive=limited-S4,logical_block_size=512,physical_block_size=4096,rotation_rate=7200,wwn=0x5000c500a0b1c2d3
            -device scsi-hd,id=drive-S5,bus=controller0.0,scsi-id=4,serial=S5,drive=limited-S5,logical_block_size=512,physical_block_size=4096,rotation_rate=7200,wwn=0x5000c500a0b1c2d4
            -device scsi-hd,id=drive-S6,bus=controller0.0,scsi-id=5,serial=S6,drive=limited-S6,logical_block_size=512,physical_block_size=4096,rotation_rate=7200,wwn=0x5000c500a0b1c2d5
            -device scsi-hd,id=drive-S7,bus=controller0.0,scsi-id=6,serial=S7,drive=limited-S7,logical_block_size=512,physical_block_size=4096,rotation_rate=7200,wwn=0x5000c500a0b1c2d6
            -device scsi-hd,id=drive-S8,bus=controller0.0,scsi-id=7,serial=S8,drive=limited-S8,logical_block_size=512,physical_block_size=4096,rotation_rate=7200,wwn=0x5000c500a0b1c2d7
            -device pcie-root-port,id=slot4,bus=pcie.0,chassis=4,slot=4
            -device mptsas1068,id=controller1,bus=slot4
            -device scsi-hd,id=drive-S9,bus=controller1.0,scsi-id=0,serial=S9,drive=limited-S9,logical_block_size=512,physical_block_size=4096,rotation_rate=7200,wwn=0x5000c500a0b1c2d8
            -device pcie-root-port,id=slot5,bus=pcie.0,chassis=5,slot=5
            -device virtio-scsi-pci,id=controller2,bus=slot5
            -device scsi-hd,id=drive-V,bus=controller2.0,scsi-id=0,serial=V,drive=limited-V,logical_block_size=512,physical_block_size=4096,rotation_rate=1
            -device virtio-blk-pci,bus=pcie.0,drive=system,serial=stend-system
            -device virtio-blk-pci,bus=pcie.0,drive=keep,serial=stend-keep
        "#]].assert_eq(&format!("{}\n", told.join("\n")));
        assert!(
            line.contains(
                "stend.drives=12 stend.modules=mptsas,sd_mod,nvme,virtio_scsi,sd_mod stend.keep nvme_core.io_timeout=5"
            ),
            "{line}"
        );
    }

    #[test]
    fn a_machine_that_stays_up_has_sockets_in_its_directory_and_leaves_the_terminal() {
        let streams = Streams::Sockets { directory: Path::new("/run/x") };
        let told: Vec<String> =
            stream_options(&streams).into_iter().map(|(option, value)| format!("-{option} {value}\n")).collect();
        expect![[r#"
            -device virtio-serial-pci
            -chardev file,id=console,path=/run/x/console.log
            -pidfile pid
            -chardev socket,id=control,path=control.sock,server=on,wait=off
            -chardev socket,id=worker,path=worker.sock,server=on,wait=off
            -chardev socket,id=command,path=command.sock,server=on,wait=off
            -device virtserialport,chardev=worker,name=stend.worker
            -device virtserialport,chardev=command,name=stend.command
            -serial chardev:console
            -mon chardev=control,mode=control
        "#]]
        .assert_eq(&told.concat());
        let machine = stend_spec::parse::machine("machine: m\ndrives: [{serial: A1, size: 64MiB}]", "m.yaml").unwrap();
        assert!(
            kernel_line(&machine, Accelerator::Kvm, &streams).ends_with(" stend.modules=nvme stend.keep stend.stays")
        );
    }

    #[test]
    fn a_single_emulated_cpu_executes_barriers_as_they_are() {
        let machine = |cpus: &str| format!("machine: m\n{cpus}drives: [{{serial: A1, size: 64MiB}}]");
        let emulated = line(&machine(""), TCG);
        assert!(emulated.contains("-smp 1,maxcpus=2\n") && emulated.contains(" nr_cpus=1 "), "{emulated}");
        assert!(line(&machine(""), Accelerator::Kvm).contains("-smp 1\n"), "a processor needs no help");
        let two = line(&machine("cpus: 2\n"), TCG);
        assert!(two.contains("-smp 2\n") && !two.contains("nr_cpus"), "{two}");
    }

    #[test]
    fn machines_with_links_send_into_each_other_s_directories() {
        let end = |own: &str, to: &str, address: &str| {
            let text = format!(
                "machine: {own}\nlinks: [{{to: {to}, address: {address}/24}}]\ndrives: [{{serial: A1, size: 64MiB}}]"
            );
            let machine = stend_spec::parse::machine(&text, "m.yaml").unwrap();
            let place = Path::new("/run/x").join(own);
            let streams = Streams::Sockets { directory: &place };
            let words = link_options(&machine, &streams);
            assert!(link_options(&machine, &Streams::Standard { control: 5 }).is_empty(), "such a machine is alone");
            (words[0].1.clone(), words[1].1.clone(), kernel_line(&machine, TCG, &streams))
        };
        let (array, host) = (end("array", "host", "10.77.0.1"), end("host", "array", "10.77.0.2"));
        expect![
            "dgram,id=net1,local.type=unix,local.path=link-HOST,remote.type=unix,remote.path=/run/x/host/link-ARRAY"
        ]
        .assert_eq(&array.0.replace(&socket_name("host"), "link-HOST").replace(&socket_name("array"), "link-ARRAY"));
        assert!(host.0.contains(&format!("local.path={},", socket_name("array"))), "{}", host.0);
        assert!(host.0.ends_with(&format!("/run/x/array/{}", socket_name("host"))), "{}", host.0);
        assert!(array.1.ends_with(&format!("mac={}", mac("array", "host"))), "{}", array.1);
        assert!(array.2.contains(&format!("stend.links={}@10.77.0.1/24", mac("array", "host"))), "{}", array.2);
        assert_ne!(mac("array", "host"), mac("host", "array"));
        let first = u8::from_str_radix(&mac("array", "host")[..2], 16).unwrap();
        assert_eq!(first & 0b11, 0b10, "locally administered, and no group");
    }

    #[test]
    fn with_kvm_the_guest_gets_the_processor_as_it_is_and_no_limits_where_none_are_asked_for() {
        let line = line("machine: m\ndrives: [{serial: A1, size: 64MiB}]", Accelerator::Kvm);
        assert!(line.contains("-accel kvm\n-cpu host\n"), "{line}");
        assert!(line.contains("throttle-group,id=limits-A1\n") && !line.contains("poll_queues"), "{line}");
        assert!(!line.contains("tsc_early_khz"), "{line}");
    }
}
