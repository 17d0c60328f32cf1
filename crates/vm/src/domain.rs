//! A machine as libvirt's XML: written, and what is read of it again. Pure.
//= libvirt, formatdomain

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use stend_spec::keys::vm::{CACHES, IO};
use stend_spec::vm::{Accelerator, Bus, Disk, DiskPlace, Machines};

/// Namespace of our mark in the metadata of a domain.
pub const NAMESPACE: &str = "urn:stend:machine:1";
/// What the guest finds its system by.
const SYSTEM: &str = "stend-system";

/// What a domain of ours bears: whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Name of the machines that it is one of.
    pub machines: String,
    /// Drawn when these were put up, so that it differs from others of that name.
    pub id: String,
    /// Its number, from 1.
    pub number: u32,
}

/// Paths that a domain is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Kernel of the guest.
    pub kernel: String,
    /// Archive that it unpacks.
    pub archive: String,
    /// Its system; several guests read it.
    pub system: String,
    /// Where its console goes.
    pub console: String,
    /// Files or volumes of its disks, in their order.
    pub disks: Vec<String>,
}

/// Name of the domain of a machine.
pub fn name(machines: &str, number: u32) -> String {
    format!("stend-{machines}-{number}")
}

/// Serial number of a disk, 20 characters at most, which a virtio disk can tell.
pub fn serial(id: &str, number: u32, disk: usize) -> String {
    format!("{}-{number}-{disk}", &id[..8])
}

/// Modules that the guest loads for its disks.
pub fn modules(disks: &[Disk]) -> &'static str {
    match disks.iter().any(|disk| disk.bus == Bus::Scsi) {
        true => "virtio_blk,virtio_scsi,sd_mod",
        false => "virtio_blk",
    }
}

/// The domain of the machine that bears this mark. `parameters` are those of its kernel.
pub fn xml(
    machines: &Machines,
    how: Accelerator,
    (mark, uuid): (&Mark, &str),
    paths: &Paths,
    parameters: &str,
) -> String {
    let (kind, cpu) = match how {
        Accelerator::Kvm => ("kvm", "<cpu mode='host-passthrough'/>"),
        // QEMU before 8.0 emulates this instruction wrongly (crates/lab/src/qemu.rs).
        Accelerator::Tcg => ("qemu", "<cpu mode='maximum'><feature policy='disable' name='cx16'/></cpu>"),
    };
    let (name, memory, cpus) = (name(&mark.machines, mark.number), machines.memory.0 >> 10, machines.cpus);
    // One emulated CPU executes barriers as they are only where a second one could come (crates/lab/src/qemu.rs).
    let place = machines.place(mark.number);
    let on = place.filter(|place| !place.cpus.is_empty()).map_or(String::new(), |place| {
        let cpus = place.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        format!(" cpuset='{cpus}'")
    });
    let vcpu = match (how, cpus) {
        (Accelerator::Tcg, 1) => format!("<vcpu{on} current='1'>2</vcpu>"),
        _ => format!("<vcpu{on}>{cpus}</vcpu>"),
    };
    let node = place.and_then(|place| place.memory_node);
    let memory_on =
        node.map_or(String::new(), |node| format!("  <numatune><memory mode='strict' nodeset='{node}'/></numatune>\n"));
    let threads = machines.disks.iter().filter(|disk| disk.iothread).count();
    let threads = if threads == 0 { String::new() } else { format!("  <iothreads>{threads}</iothreads>\n") };
    let Mark { machines: of, id, number } = mark;
    let (kernel, archive, parameters) = (escaped(&paths.kernel), escaped(&paths.archive), escaped(parameters));
    let devices = devices(machines, mark, paths);
    // A guest whose kernel panics while it boots boots again; `boot_limit` ends that.
    format!(
        "<domain type='{kind}'>
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <metadata>
    <stend:machine xmlns:stend='{NAMESPACE}' of='{of}' id='{id}' number='{number}'/>
  </metadata>
  <memory unit='KiB'>{memory}</memory>
  {vcpu}
{memory_on}{threads}  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>{kernel}</kernel>
    <initrd>{archive}</initrd>
    <cmdline>{parameters}</cmdline>
  </os>
  <features><acpi/></features>
  {cpu}
  <clock offset='utc'/>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>restart</on_reboot>
  <on_crash>destroy</on_crash>
  <devices>
{devices}  </devices>
</domain>
"
    )
}

/// Its devices: the system, which all guests read, its disks, ports, console and random numbers.
fn devices(machines: &Machines, mark: &Mark, paths: &Paths) -> String {
    let (system, console) = (escaped(&paths.system), escaped(&paths.console));
    let disks = disks(machines, mark, &paths.disks);
    let [worker, command] = [stend_lab::WORKER, stend_lab::COMMAND].map(|port| {
        format!(
            "    <channel type='unix'>
      <source mode='bind'/>
      <target type='virtio' name='{port}'/>
    </channel>
"
        )
    });
    format!(
        "    <disk type='file' device='disk'>
      <driver name='qemu' type='raw'/>
      <source file='{system}'><seclabel model='dac' relabel='no'/></source>
      <target dev='vda' bus='virtio'/>
      <serial>{SYSTEM}</serial>
      <readonly/>
      <shareable/>
    </disk>
{disks}    <controller type='usb' model='none'/>
{worker}{command}    <serial type='file'>
      <source path='{console}'/>
    </serial>
    <rng model='virtio'><backend model='builtin'/></rng>
    <memballoon model='none'/>
"
    )
}

/// What libvirt calls the disks behind the system, in their order: `vdb`, `sda`.
pub fn targets(disks: &[Disk]) -> Vec<String> {
    let mut controllers = 0..;
    let of = |(at, disk): (usize, &Disk)| match disk.bus {
        Bus::Virtio => format!("vd{}", letter(at + 1)),
        Bus::Scsi => format!("sd{}", letter(controllers.next().unwrap_or_default())),
    };
    disks.iter().enumerate().map(of).collect()
}

/// Its disks behind the system, each SCSI disk behind a controller of its own.
fn disks(machines: &Machines, mark: &Mark, paths: &[String]) -> String {
    let (mut text, mut thread, mut controller) = (String::new(), 0, 0);
    let targets = targets(&machines.disks);
    for (at, ((disk, path), target)) in machines.disks.iter().zip(paths).zip(targets).enumerate() {
        let (path, serial) = (escaped(path), serial(&mark.id, mark.number, at + 1));
        thread += usize::from(disk.iothread);
        let thread = if disk.iothread { format!(" iothread='{thread}'") } else { String::new() };
        let (kind, source) = match disk.place {
            DiskPlace::File { .. } => ("file", "file"),
            DiskPlace::Devices(_) => ("block", "dev"),
        };
        let mut driver = "name='qemu' type='raw' discard='unmap'".to_string();
        driver += &word(CACHES, disk.cache).map(|word| format!(" cache='{word}'")).unwrap_or_default();
        driver += &word(IO, disk.io).map(|word| format!(" io='{word}'")).unwrap_or_default();
        let (target, address) = match disk.bus {
            Bus::Virtio => {
                driver += &thread;
                (format!("<target dev='{target}' bus='virtio'/>"), String::new())
            }
            Bus::Scsi => {
                let index = controller;
                controller += 1;
                let own = if thread.is_empty() { "/>".to_string() } else { format!("><driver{thread}/></controller>") };
                text += &format!("    <controller type='scsi' index='{index}' model='virtio-scsi'{own}\n");
                let address =
                    format!("      <address type='drive' controller='{index}' bus='0' target='0' unit='0'/>\n");
                (format!("<target dev='{target}' bus='scsi'/>"), address)
            }
        };
        text += &format!(
            "    <disk type='{kind}' device='disk'>
      <driver {driver}/>
      <source {source}='{path}'/>
      {target}
{limits}      <serial>{serial}</serial>
{address}    </disk>
",
            limits = limits(disk),
        );
    }
    text
}

/// What a disk may do at most.
fn limits(disk: &Disk) -> String {
    let iops = disk.iops.map(|iops| format!("<total_iops_sec>{iops}</total_iops_sec>"));
    let bytes = disk.bandwidth.map(|bytes| format!("<total_bytes_sec>{}</total_bytes_sec>", bytes.0));
    match iops.into_iter().chain(bytes).collect::<String>().as_str() {
        "" => String::new(),
        limits => format!("      <iotune>{limits}</iotune>\n"),
    }
}

fn word<T: PartialEq + Copy>(choices: &[stend_spec::keys::Choice<T>], is: Option<T>) -> Option<&'static str> {
    choices.iter().find(|(.., choice)| Some(*choice) == is).map(|(word, ..)| *word)
}

/// Letter of the n-th disk of a bus; there are fewer disks than letters.
fn letter(at: usize) -> char {
    char::from(b'a' + (at as u8).min(25))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&apos;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

/// What of a domain is read again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Read {
    /// Our mark, if it bears one.
    pub mark: Option<Mark>,
    /// The socket of the worker's port, while it runs.
    pub worker: Option<String>,
    /// That of the port of commands.
    pub command: Option<String>,
}

/// Reads the XML of a domain; `None`: it is none that can be read.
pub fn read(text: &str) -> Option<Read> {
    let mut reader = Reader::from_str(text);
    let (mut found, mut path) = (Read::default(), None);
    loop {
        match reader.read_event().ok()? {
            Event::Eof => return Some(found),
            Event::Start(element) | Event::Empty(element) => match element.local_name().as_ref() {
                "channel" => path = None,
                "source" => path = attribute(&element, "path"),
                "target" => match attribute(&element, "name").as_deref() {
                    Some(stend_lab::WORKER) => found.worker = path.take(),
                    Some(stend_lab::COMMAND) => found.command = path.take(),
                    _ => {}
                },
                "machine" if is_ours(&element) => found.mark = mark(&element),
                _ => {}
            },
            _ => {}
        }
    }
}

/// Whether an element is of our namespace, whatever prefix libvirt keeps.
fn is_ours(element: &BytesStart) -> bool {
    element.attributes().flatten().any(|attribute| &*attribute.value == NAMESPACE)
}

fn mark(element: &BytesStart) -> Option<Mark> {
    let number = attribute(element, "number")?.parse().ok()?;
    let id = attribute(element, "id").filter(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()))?;
    Some(Mark { machines: attribute(element, "of")?, id, number })
}

fn attribute(element: &BytesStart, name: &str) -> Option<String> {
    let found = element.try_get_attribute(name).ok()??;
    let text = found.value.into_owned();
    // Paths of libvirt's own have nothing that XML would write otherwise, and what cannot be read is not used.
    (!text.contains('&')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn machines(text: &str) -> Machines {
        stend_spec::parse::machines(text, "m").unwrap()
    }

    fn made(machines: &Machines, how: Accelerator) -> String {
        let mark = Mark { machines: machines.name.clone(), id: "0123456789abcdef".into(), number: 2 };
        let disks = (1..=machines.disks.len()).map(|at| format!("/d/{at}")).collect();
        let [kernel, archive, system, console] =
            ["kernel", "archive", "system", "a&b"].map(|name| format!("/s/{name}"));
        xml(machines, how, (&mark, "U"), &Paths { kernel, archive, system, console, disks }, "quiet")
    }

    /// The lines in which two texts differ from one another, without those that both have.
    fn further(text: &str, than: &str) -> String {
        text.lines().filter(|line| !than.lines().any(|other| other == *line)).map(|line| format!("{line}\n")).collect()
    }

    const PLAIN: &str = "machines: web\ncount: 2\nmemory: 256MiB\ndisks: [{size: 64MiB, directory: /d}]\n";

    #[test]
    fn a_machine_of_one_disk_is_this_domain() {
        expect![[r#"
            <domain type='qemu'>
              <name>stend-web-2</name>
              <uuid>U</uuid>
              <metadata>
                <stend:machine xmlns:stend='urn:stend:machine:1' of='web' id='0123456789abcdef' number='2'/>
              </metadata>
              <memory unit='KiB'>262144</memory>
              <vcpu current='1'>2</vcpu>
              <os>
                <type arch='x86_64' machine='q35'>hvm</type>
                <kernel>/s/kernel</kernel>
                <initrd>/s/archive</initrd>
                <cmdline>quiet</cmdline>
              </os>
              <features><acpi/></features>
              <cpu mode='maximum'><feature policy='disable' name='cx16'/></cpu>
              <clock offset='utc'/>
              <on_poweroff>destroy</on_poweroff>
              <on_reboot>restart</on_reboot>
              <on_crash>destroy</on_crash>
              <devices>
                <disk type='file' device='disk'>
                  <driver name='qemu' type='raw'/>
                  <source file='/s/system'><seclabel model='dac' relabel='no'/></source>
                  <target dev='vda' bus='virtio'/>
                  <serial>stend-system</serial>
                  <readonly/>
                  <shareable/>
                </disk>
                <disk type='file' device='disk'>
                  <driver name='qemu' type='raw' discard='unmap'/>
                  <source file='/d/1'/>
                  <target dev='vdb' bus='virtio'/>
                  <serial>01234567-2-1</serial>
                </disk>
                <controller type='usb' model='none'/>
                <channel type='unix'>
                  <source mode='bind'/>
                  <target type='virtio' name='stend.worker'/>
                </channel>
                <channel type='unix'>
                  <source mode='bind'/>
                  <target type='virtio' name='stend.command'/>
                </channel>
                <serial type='file'>
                  <source path='/s/a&amp;b'/>
                </serial>
                <rng model='virtio'><backend model='builtin'/></rng>
                <memballoon model='none'/>
              </devices>
            </domain>
        "#]]
        .assert_eq(&made(&machines(PLAIN), Accelerator::Tcg));
    }

    #[test]
    fn machines_are_at_their_places_in_turn() {
        let placed = PLAIN.to_string() + "placement: [{cpus: [0]}, {cpus: [4, 5], memory_node: 1}, {memory_node: 0}]\n";
        let placed = machines(&placed);
        let numbers = [1, 2, 3, 4].map(|number| placed.place(number));
        assert_eq!((numbers[0], numbers[3]), (placed.placement.first(), placed.placement.first()));
        let lines = further(&made(&placed, Accelerator::Tcg), &made(&machines(PLAIN), Accelerator::Tcg));
        let lines: Vec<&str> = lines.lines().map(str::trim).collect();
        let node = "<numatune><memory mode='strict' nodeset='1'/></numatune>";
        assert_eq!(lines, ["<vcpu cpuset='4,5' current='1'>2</vcpu>", node]);
        assert!(made(&placed, Accelerator::Kvm).contains("<vcpu cpuset='4,5'>1</vcpu>"));
    }

    #[test]
    fn keys_of_a_disk_are_those_of_libvirt() {
        let plain = made(&machines(PLAIN), Accelerator::Tcg);
        let text = "machines: web\ncount: 2\ncpus: 2\nmemory: 256MiB\ndisks:\n\
                    - {size: 64MiB, directory: /d, cache: none, io: native, iothread: true, iops: 400, bandwidth: 20MiB}\n\
                    - {devices: [serial:A, serial:B], bus: scsi, cache: directsync, io: io_uring, iothread: true}\n\
                    - {size: 64MiB, directory: /d, bus: scsi}\n";
        expect![[r#"
            <domain type='kvm'>
              <vcpu>2</vcpu>
              <iothreads>2</iothreads>
              <cpu mode='host-passthrough'/>
                  <driver name='qemu' type='raw' discard='unmap' cache='none' io='native' iothread='1'/>
                  <iotune><total_iops_sec>400</total_iops_sec><total_bytes_sec>20971520</total_bytes_sec></iotune>
                <controller type='scsi' index='0' model='virtio-scsi'><driver iothread='2'/></controller>
                <disk type='block' device='disk'>
                  <driver name='qemu' type='raw' discard='unmap' cache='directsync' io='io_uring'/>
                  <source dev='/d/2'/>
                  <target dev='sda' bus='scsi'/>
                  <serial>01234567-2-2</serial>
                  <address type='drive' controller='0' bus='0' target='0' unit='0'/>
                <controller type='scsi' index='1' model='virtio-scsi'/>
                  <source file='/d/3'/>
                  <target dev='sdb' bus='scsi'/>
                  <serial>01234567-2-3</serial>
                  <address type='drive' controller='1' bus='0' target='0' unit='0'/>
        "#]]
        .assert_eq(&further(&made(&machines(text), Accelerator::Kvm), &plain));
        assert_eq!(modules(&machines(text).disks), "virtio_blk,virtio_scsi,sd_mod");
        assert!(serial("0123456789abcdef", 64, 16).len() <= 20);
    }

    #[test]
    fn the_mark_and_the_port_of_a_domain_are_read_again_and_those_of_others_are_not() {
        let text = made(&machines(PLAIN), Accelerator::Tcg);
        let read_again = read(&text).unwrap();
        let mark = Mark { machines: "web".into(), id: "0123456789abcdef".into(), number: 2 };
        assert_eq!(read_again, Read { mark: Some(mark), worker: None, command: None });
        // What libvirt makes of a channel that runs.
        let runs = text.replacen("<source mode='bind'/>", "<source mode='bind' path='/run/x/stend.worker'/>", 1);
        assert_eq!(read(&runs).unwrap().worker.as_deref(), Some("/run/x/stend.worker"));
        let other = text.replace(NAMESPACE, "urn:other");
        assert_eq!(read(&other).unwrap().mark, None);
        assert_eq!(read(&text.replace("id='0123456789abcdef'", "id='x'")).unwrap().mark, None);
        assert_eq!(read("<domain"), None);
        assert_eq!(read("").unwrap(), Read::default());
    }
}
