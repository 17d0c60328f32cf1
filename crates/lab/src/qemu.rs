//! The command line of QEMU for a machine: what is pure about a start. Must not touch the world.

use crate::image::Image;
use stend_spec::machine::{Drive, DriveKind, Machine};

/// The emulator.
pub const PROGRAM: &str = "qemu-system-x86_64";
/// What the guest's kernel is told. It must not wait for a person, and a panic must end the machine (`-no-reboot`); its clock
/// comes from the emulator, and nobody attacks it, so that it need not slow itself down.
const KERNEL: &str = "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check mitigations=off random.trust_cpu=on";

/// How instructions of the guest are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// By the processor.
    Kvm,
    /// One by one, in software.
    Tcg,
}

/// Paths by which QEMU reaches what a machine is made of.
pub struct Paths<'a> {
    /// Kernel and system.
    pub image: &'a Image,
    /// Archive that the guest's kernel unpacks: the system, and this program behind it.
    pub archive: String,
    /// One file per drive, in their order.
    pub drives: Vec<String>,
}

/// Everything behind the name of the program.
///
/// The guest's port `stend.worker` is joined to the standard streams, its console to the standard error.
pub fn arguments(machine: &Machine, accelerator: Accelerator, paths: &Paths) -> Vec<String> {
    let (accelerator, cpu) = match accelerator {
        Accelerator::Kvm => ("kvm", "host"),
        Accelerator::Tcg => ("tcg,thread=multi", "max"),
    };
    let mut words: Vec<String> = Vec::new();
    let mut say = |option: &str, value: &str| words.extend([format!("-{option}"), value.to_string()]);
    say("machine", "q35");
    say("accel", accelerator);
    say("cpu", cpu);
    say("smp", &machine.cpus.to_string());
    say("m", &format!("{}M", machine.memory.0 >> 20));
    say("display", "none");
    say("kernel", &paths.image.kernel.to_string_lossy());
    say("initrd", &paths.archive);
    say("append", &kernel_line(machine));
    say("chardev", "file,id=console,path=/dev/stderr,append=on");
    say("serial", "chardev:console");
    say("device", "virtio-serial-pci");
    say("chardev", "stdio,id=worker,signal=off");
    say("device", "virtserialport,chardev=worker,name=stend.worker");
    say("object", "rng-builtin,id=rng");
    say("device", "virtio-rng-pci,rng=rng");
    for (index, (drive, path)) in machine.drives.iter().zip(&paths.drives).enumerate() {
        for (option, value) in drive_options(index, drive, path) {
            say(option, &value);
        }
    }
    words.extend(["-nodefaults", "-no-user-config", "-no-reboot"].map(String::from));
    words
}

fn kernel_line(machine: &Machine) -> String {
    let drives = machine.drives.len();
    let polled = match machine.nvme_poll_queues {
        0 => String::new(),
        queues => format!(" nvme.poll_queues={queues}"),
    };
    format!("{KERNEL} stend.drives={drives}{polled}")
}

fn drive_options(index: usize, drive: &Drive, path: &str) -> Vec<(&'static str, String)> {
    let file = format!(
        "driver=file,node-name=file{index},filename={path},aio=threads,discard=unmap,locking=off,cache.direct=off"
    );
    let mut options = vec![("blockdev", file)];
    let mut node = format!("file{index}");
    let limit = |name: &str, most: Option<u64>| most.map(|most| format!(",{name}={most}")).unwrap_or_default();
    let limits = limit("x-iops-total", drive.iops.map(u64::from)) + &limit("x-bps-total", drive.bandwidth.map(|b| b.0));
    if !limits.is_empty() {
        options.push(("object", format!("throttle-group,id=limits{index}{limits}")));
        // A discard counts with all its bytes: at 20 MiB/s that of a whole drive would take minutes.
        let throttle = "discard=ignore";
        let group = format!("throttle-group=limits{index}");
        options.push(("blockdev", format!("driver=throttle,node-name=limited{index},{group},file={node},{throttle}")));
        node = format!("limited{index}");
    }
    let kind = match drive.kind {
        DriveKind::Nvme => "nvme",
        DriveKind::Virtio => "virtio-blk-pci",
    };
    let (serial, block) = (&drive.serial, drive.logical_block_size);
    let blocks = format!("logical_block_size={block},physical_block_size={}", block.max(4096));
    options.push(("device", format!("{kind},serial={serial},drive={node},{blocks}")));
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::path::Path;

    fn line(text: &str, accelerator: Accelerator) -> String {
        let machine = stend_spec::parse::machine(text, "m.yaml").unwrap();
        let image = Image { kernel: Path::new("/c/vmlinuz").into(), system: Path::new("/c/system.cpio").into() };
        let drives = (0..machine.drives.len()).map(|index| format!("/proc/7/fd/{index}")).collect();
        let paths = Paths { image: &image, archive: "/proc/7/fd/9".into(), drives };
        arguments(&machine, accelerator, &paths).join(" ").replace(" -", "\n-")
    }

    #[test]
    fn a_machine_of_two_drives_is_started_so() {
        let text = "machine: m\ncpus: 2\nmemory: 512MiB\nnvme_poll_queues: 1\ndrives:\n  - {serial: A1, size: 64MiB}\n  \
                    - {kind: virtio, serial: B2, size: 1GiB, logical_block_size: 4KiB, iops: 400, bandwidth: 20MiB}\n";
        expect![[r#"
            -machine q35
            -accel tcg,thread=multi
            -cpu max
            -smp 2
            -m 512M
            -display none
            -kernel /c/vmlinuz
            -initrd /proc/7/fd/9
            -append console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check mitigations=off random.trust_cpu=on stend.drives=2 nvme.poll_queues=1
            -chardev file,id=console,path=/dev/stderr,append=on
            -serial chardev:console
            -device virtio-serial-pci
            -chardev stdio,id=worker,signal=off
            -device virtserialport,chardev=worker,name=stend.worker
            -object rng-builtin,id=rng
            -device virtio-rng-pci,rng=rng
            -blockdev driver=file,node-name=file0,filename=/proc/7/fd/0,aio=threads,discard=unmap,locking=off,cache.direct=off
            -device nvme,serial=A1,drive=file0,logical_block_size=512,physical_block_size=4096
            -blockdev driver=file,node-name=file1,filename=/proc/7/fd/1,aio=threads,discard=unmap,locking=off,cache.direct=off
            -object throttle-group,id=limits1,x-iops-total=400,x-bps-total=20971520
            -blockdev driver=throttle,node-name=limited1,throttle-group=limits1,file=file1,discard=ignore
            -device virtio-blk-pci,serial=B2,drive=limited1,logical_block_size=4096,physical_block_size=4096
            -nodefaults
            -no-user-config
            -no-reboot
        "#]]
        .assert_eq(&format!("{}\n", line(text, Accelerator::Tcg)));
    }

    #[test]
    fn with_kvm_the_guest_gets_the_processor_as_it_is_and_no_limits_where_none_are_asked_for() {
        let line = line("machine: m\ndrives: [{serial: A1, size: 64MiB}]", Accelerator::Kvm);
        assert!(line.contains("-accel kvm\n-cpu host\n"), "{line}");
        assert!(!line.contains("throttle") && !line.contains("poll_queues"), "{line}");
    }
}
