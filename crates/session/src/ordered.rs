//! What an order asks for, read and not carried out. Must not start anything.

use crate::complete::written;
use crate::{inputs, load_hosts};
use stend_base::{Code, Error, Result, Say, say};
use stend_record::{StandText, TargetFacts, store, targets};
use stend_spec::hosts::{HostRole, NamedHost, Via};
use stend_spec::order::{NamedText, Order, Work};
use stend_spec::stand::Stand;

/// All of this machine.
pub const LOCAL: &str = "local";

/// An order that can be read, with everything in it.
pub struct Ordered {
    /// File of the suite, or the run that is resumed.
    pub work: String,
    /// Targets or stands.
    pub on: Vec<String>,
    /// Label of its runs.
    pub label: Option<String>,
    /// Devices that it allows to be written, by identity: those of its permission, and the drives of its stands as these name them.
    pub confirms: Vec<String>,
    /// Signatures that it allows to be overwritten.
    pub overwrites_signatures: Vec<String>,
    /// It allows commands of the suite and changes of the host.
    pub commands: bool,
    /// It puts a stand up: as its file says, that writes over drives, mounts, and changes settings of the kernel.
    pub builds: bool,
    /// It names the run file.
    pub names_output: bool,
    /// It measures targets in turn, each into a run of its own.
    pub alternates: bool,
    /// It goes on with a run instead of beginning one.
    pub resumes: bool,
    /// What it loads: `drive:` with an identity, `host:` with a name, or [`LOCAL`].
    pub loads: Vec<String>,
    /// What is carried out: the text as it was sent, but with the id of the run that is resumed.
    pub text: String,
}

impl Ordered {
    /// Whether it allows more than writing to files of its own.
    pub fn is_destructive(&self) -> bool {
        !self.confirms.is_empty() || self.commands || self.builds
    }
}

/// The [`loads`](Ordered::loads) of these targets; `None`: their drives are not visible, or did not answer in time.
pub type Look<'a> = &'a dyn Fn(&[String]) -> Option<Vec<String>>;

/// Reads an order, its suite, stands and gate, and has its targets looked at: a drive or a file system that hangs must not hang who reads
/// an order.
///
/// Errors: those of the parsers.
pub fn ordered(text: &str, look: Look) -> Result<Ordered> {
    let mut order = stend_spec::parse::order(text, "order")?;
    let of_resumed = resumed(&mut order)?;
    let work = match &order.work {
        Work::Suite(work) => {
            inputs::asked(work)?;
            work.suite.file.clone()
        }
        Work::Resume { resume } => resume.clone(),
    };
    let text = match &order.work {
        Work::Suite(_) => text.to_string(),
        Work::Resume { .. } => written(&order)?,
    };
    let stands = stands(&order, of_resumed.as_ref())?;
    if let Some(gate) = &order.gate {
        stend_spec::parse::gate(&gate.text, &gate.file)?;
    }
    for limit in &order.expect {
        stend_spec::parse::expect(limit)?;
    }
    if order.sources.is_some() {
        return Err(sources_refused());
    }
    let mut loads = loads(&order, look);
    loads.extend(far_hosts(&order)?);
    let mut confirms = order.permission.confirm.clone();
    let drives = stands.iter().flat_map(|stand| &stand.drives).map(|drive| &drive.id);
    for id in drives {
        if !confirms.contains(id) {
            confirms.push(id.clone());
        }
    }
    let overwritten = stands.iter().flat_map(|stand| stand.overwrite.clone());
    let files = order.stands.iter().map(|stand| stand.file.clone());
    Ok(Ordered {
        work,
        loads,
        on: order.on.iter().chain(&order.against).cloned().chain(files).collect(),
        label: order.label.clone(),
        confirms,
        overwrites_signatures: order.permission.overwrite_signatures.iter().cloned().chain(overwritten).collect(),
        builds: !stands.is_empty(),
        commands: order.permission.commands,
        names_output: order.output.is_some(),
        alternates: !order.against.is_empty(),
        resumes: matches!(order.work, Work::Resume { .. }),
        text,
    })
}

/// Puts the id of the run that an order resumes in the place of its name, and hands over its stand. By `last` or a label its process would find
/// another run than the one that was judged here, if one began meanwhile.
///
/// Errors: `NotAllowed` for a path; those of finding the run and of reading it.
fn resumed(order: &mut Order) -> Result<Option<StandText>> {
    let Work::Resume { resume } = &mut order.work else { return Ok(None) };
    let directory = store::directory()?;
    if resume.contains('/') || resume.ends_with(&format!(".{}", store::EXTENSION)) {
        return Err(path_refused(resume));
    }
    let path = store::locate(resume, &directory)?.path;
    let header = store::glance(&path)?.header;
    // A file of the directory where this process runs is a path, too.
    if !store::locate(&header.id, &directory).is_ok_and(|listed| listed.path == path) {
        return Err(path_refused(resume));
    }
    *resume = header.id;
    Ok(header.stand)
}

/// Errors: those of the parser.
fn stands(order: &Order, of_resumed: Option<&StandText>) -> Result<Vec<Stand>> {
    let given = order.stands.iter().map(|stand| (&stand.text, &stand.file));
    let resumed = of_resumed.map(|stand| (&stand.text, &stand.file));
    given.chain(resumed).map(|(text, file)| stend_spec::parse::stand(text, file)).collect()
}

fn path_refused(resume: &str) -> Box<Error> {
    let told = say!(
        "`{resume}` is no run of this server's list, and a server takes no paths of run files",
        "`{resume}` — не прогон из списка этого сервера, а пути файлов прогонов сервер не принимает"
    );
    Error::new(Code::NotAllowed, told)
        .hint(say!("name the run by its id or label", "назовите прогон по имени или метке"))
}

/// Whether two orders that load this may not be carried out at the same time.
pub fn collide(one: &str, other: &str) -> bool {
    let is_here = |load: &str| !load.starts_with("host:");
    one == other || (one == LOCAL && is_here(other)) || (other == LOCAL && is_here(one))
}

/// The load hosts of its file of hosts.
///
/// Errors: those of the file, and `NotAllowed` if it has commands: an order comes from elsewhere.
fn far_hosts(order: &Order) -> Result<Vec<String>> {
    if let Some(NamedText { file, text }) = &order.hosts
        && stend_spec::parse::hosts(text, file)?.executes()
    {
        let told = say!(
            "the hosts of the order are reached by commands (`exec`), which a server does not execute",
            "до машин заказа дотягиваются командами (`exec`), а сервер их не выполняет"
        );
        return Err(Error::new(Code::NotAllowed, told).hint(say!(
            "name them by `ssh`, or carry the order out with `stend run --order`",
            "укажите их через `ssh` или выполните заказ командой `stend run --order`"
        )));
    }
    let hosts = load_hosts::of_file(order, HostRole::Load)?.unwrap_or_default();
    let name = |host: NamedHost| match host.via {
        Via::Ssh(destination) => far(&destination),
        Via::Exec { .. } => format!("host:{}", host.name),
        // It is on this machine, and its disks may lie on any drive.
        Via::Vm(_) => LOCAL.to_string(),
    };
    Ok(hosts.into_iter().map(name).collect())
}

/// A file of sources has commands, addresses and files with passwords: who sends an order must not choose these for the server's machine.
fn sources_refused() -> Box<Error> {
    let told = say!(
        "the order reads sources (`sources`), which a server does not do",
        "заказ опрашивает источники (`sources`), а сервер этого не делает"
    );
    Error::new(Code::NotAllowed, told)
        .hint(say!("carry the order out with `stend run --order`", "выполните заказ командой `stend run --order`"))
}

fn loads(order: &Order, look: Look) -> Vec<String> {
    let mut loads: Vec<String> = order.lab.iter().map(|name| format!("host:{name}")).collect();
    loads.extend(order.ssh.iter().map(|name| far(name)));
    // Without the name that the stand has for it.
    let storage = order.storage.iter().map(|given| given.split_once('=').map_or(given.as_str(), |(_, host)| host));
    loads.extend(storage.map(|host| host.strip_prefix("ssh:").map_or_else(|| format!("host:{host}"), far)));
    if order.lab.is_none() && order.ssh.is_empty() && order.hosts.is_none() {
        loads.extend(here(order, look));
    }
    loads.sort();
    loads.dedup();
    loads
}

/// What a host loads that is named for `ssh`: the same for every way to write user, scheme, port and case; all of this machine where it is
/// this one. Names that only the configuration of `ssh` makes one host stay two.
fn far(destination: &str) -> String {
    let rest = destination.trim_start_matches("ssh://").split('/').next().unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let host = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        // Several colons are an address of IPv6.
        None if rest.matches(':').count() == 1 => rest.split(':').next().unwrap_or_default(),
        None => rest,
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let is_loopback = host == "::1" || ["127.", "::ffff:127."].iter().any(|net| host.starts_with(net));
    let is_here = is_loopback || host == "localhost" || host == own.trim().to_ascii_lowercase();
    if is_here { LOCAL.to_string() } else { format!("host:{host}") }
}

/// The drives below the targets; where they cannot be told, everything.
fn here(order: &Order, look: Look) -> Vec<String> {
    let targets: Vec<String> = order.on.iter().chain(&order.against).cloned().collect();
    let is_unknown = !order.stands.is_empty() || targets.is_empty();
    let found = if is_unknown { None } else { look(&targets) };
    found.unwrap_or_else(|| vec![LOCAL.to_string()])
}

/// The drives below a target, as [`Ordered::loads`] has them; none if they are not visible.
pub fn drives_below(target: &TargetFacts) -> Vec<String> {
    let drives = targets::drives(std::slice::from_ref(target));
    drives.iter().map(|drive| format!("drive:{}", drive.identity.as_ref().unwrap_or(&drive.name))).collect()
}

/// Where an order waits, for people.
pub fn shown(load: &str) -> Say {
    match load.split_once(':') {
        Some(("drive", id)) => stend_base::say!("the drive {id}", "диск {id}"),
        Some(("host", name)) => stend_base::say!("the host {name}", "машина {name}"),
        _ => stend_base::say!("this machine", "эта машина"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without drives that can be seen.
    fn blind(text: &str) -> Result<Ordered> {
        ordered(text, &|_| None)
    }

    fn order(more: &str) -> String {
        format!(
            "order: 1\nseed: '1'\nsuite: {{file: s.yaml, text: \"suite: x\\ncases: [{{name: a, streams: [{{op: read, pattern: random, block_size: 4KiB}}]}}]\\n\"}}\n{more}"
        )
    }

    #[test]
    fn an_order_on_another_host_loads_that_host_and_a_stand_all_of_this_one() {
        let of = |more: &str| blind(&order(more)).map_err(|error| error.to_string()).unwrap().loads;
        assert_eq!(of("on: [serial:X]\nssh: db1\n"), ["host:db1"]);
        assert_eq!(of("on: [/no/such/place]\n"), [LOCAL], "what cannot be looked at may be anything");
        let stand = "stand: x\\nlayers: [{zram: {size: 64MiB}}]\\n";
        assert_eq!(of(&format!("stands: [{{file: s.yaml, text: \"{stand}\"}}]\n")), [LOCAL]);
    }

    #[test]
    fn a_host_is_the_same_however_it_is_written_and_this_machine_is_no_other_one() {
        for name in ["db1", "DB1.", "root@db1", "ssh://db1", "ssh://root@db1:22", "ssh://root@db1:22/"] {
            assert_eq!(far(name), "host:db1", "{name}");
        }
        assert_eq!(far("ssh://root@[2001:DB8::1]:22"), far("2001:db8::1"));
        let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        for name in ["localhost", "root@127.0.0.1", "ssh://[::1]:22", "::ffff:127.0.0.1", own.trim()] {
            assert_eq!(far(name), LOCAL, "{name}");
        }
        let of = |more: &str| blind(&order(more)).map_err(|error| error.to_string()).unwrap().loads;
        assert_eq!(of("on: [serial:X]\nssh: root@DB1\n"), ["host:db1"]);
        // A machine of the lab is no host of `ssh`, and may be named by its file.
        assert_eq!(of("on: [serial:X]\nlab: /x/Six.yaml\n"), ["host:/x/Six.yaml"]);
    }

    #[test]
    fn an_order_with_a_file_of_hosts_loads_these_and_one_that_would_execute_commands_here_is_refused() {
        let of = |hosts: &str| blind(&order(&format!("on: [/x]\nhosts: {{file: h.yaml, text: '{hosts}'}}\n")));
        let found = of("hosts: {a: {ssh: root@db1}, b: {ssh: nas, role: observe}}").map_err(|error| error.to_string());
        assert_eq!(found.unwrap().loads, ["host:db1"]);
        for exec in ["hosts: {a: {ssh: x}, b: {exec: [reboot]}}", "hosts: {a: {ssh: x}, b: {exec: [x], role: observe}}"]
        {
            assert_eq!(of(exec).err().unwrap().code, Code::NotAllowed);
        }
        assert!(of("hosts: 1").err().unwrap().place.is_some_and(|place| place.file == "h.yaml"));
    }

    #[test]
    fn a_stand_is_destructive_and_its_drives_are_to_be_confirmed() {
        let of = |stand: &str| blind(&order(&format!("stands: [{{file: s.yaml, text: \"{stand}\"}}]\n"))).unwrap();
        let found = of("stand: x\\ndrives: [{id: 'serial:X'}]\\noverwrite: [ext4]\\nlayers: [{fs: {type: xfs}}]\\n");
        assert!(found.is_destructive());
        assert_eq!((found.confirms, found.overwrites_signatures), (vec!["serial:X".into()], vec!["ext4".into()]));
        // Without drives it still mounts, or changes settings of the kernel.
        let found = of("stand: x\\nlayers: [{loop: {count: 1, size: 64MiB, directory: /x}}]\\n");
        assert!(found.is_destructive() && found.confirms.is_empty());
        assert!(!blind(&order("on: [/x]\n")).unwrap().is_destructive());
    }

    #[test]
    fn all_of_a_machine_collides_with_each_of_its_drives_and_with_no_other_host() {
        assert!(collide("drive:a", "drive:a") && !collide("drive:a", "drive:b"));
        assert!(collide(LOCAL, "drive:b") && collide("drive:b", LOCAL) && collide(LOCAL, LOCAL));
        assert!(!collide(LOCAL, "host:db1") && collide("host:db1", "host:db1"));
    }

    #[test]
    fn a_suite_that_cannot_be_read_is_refused_before_anything_is_started() {
        let error = blind("order: 1\nseed: '1'\nsuite: {file: s.yaml, text: 'suite: 1'}\non: [/x]\n").err().unwrap();
        assert!(error.place.is_some_and(|place| place.file == "s.yaml"));
    }
}
