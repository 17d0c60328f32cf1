//! Hosts that are watched while another one is measured, as `--observe` names them. They are reached before anything is built or
//! measured; one that is lost later does not end the run.

use crate::frontend::Frontend;
use crate::load_hosts;
use crate::worker_host::WorkerHost;
use stend_base::{Error, Result, say};
use stend_record::{HYPERVISOR, HostId, Role};
use stend_run::{ObservedHost, Setup};
use stend_spec::hosts::{HostRole, NamedHost, Via};
use stend_spec::keys::order::OBSERVED;
use stend_spec::order::Order;

/// One of them.
struct Asked {
    place: WorkerHost,
    /// What is watched there; `None`: every drive.
    targets: Option<Vec<String>>,
}

/// Watches those of the order; so many hosts of a stand, `storages`, are watched, too.
///
/// Errors: `Usage` where the order names a host twice, and what keeps one from being watched if `must`; else that is reported, and kept
/// in the run file.
pub(crate) fn begin(
    order: &Order,
    setup: &Setup,
    storages: usize,
    must: bool,
    frontend: &Frontend,
) -> Result<Vec<ObservedHost>> {
    let mut known = known(setup, storages);
    let loads = setup.hosts.len() as u16;
    let mut hosts = Vec::new();
    for Asked { place, targets } in asked(order)? {
        let name = name_of(&place);
        // A run in virtual machines did not ask for it.
        let must = must && place != WorkerHost::Local;
        let mut host = ObservedHost::new(id_of(&name, &mut known, loads), Role::Observe, &name, Vec::new());
        match host.watch(place.reach(frontend), targets) {
            Err(error) if must => return Err(not_watched(&name, error)),
            Err(error) => frontend.note(stend_run::unwatched(&name, &error.message)),
            Ok(()) => {}
        }
        hosts.push((name, host));
    }
    let again = |name: &String| hosts.iter().any(|(asked, _)| asked == name);
    for (_, name) in known.iter().filter(|(role, name)| *role == Role::Observe && !again(name)) {
        frontend.note(say!(
            "`{name}` was watched when the run began, but is not now: to continue, name it with `--observe` again",
            "когда прогон начался, за `{name}` наблюдали, а теперь нет: чтобы продолжить, снова укажите её в `--observe`"
        ));
    }
    Ok(hosts.into_iter().map(|(_, host)| host).collect())
}

/// How a watched host is called, in both languages.
fn name_of(place: &WorkerHost) -> String {
    match place {
        WorkerHost::Local => HYPERVISOR.to_string(),
        WorkerHost::Lab(_) | WorkerHost::Remote(_) | WorkerHost::Vm(_) => place.name().en,
    }
}

/// The hosts of the run after those that make the load, by their ids.
fn known(setup: &Setup, storages: usize) -> Vec<(Role, String)> {
    match &setup.resume {
        Some(resume) => resume.progressed.beside.clone(),
        // They have the first ids, whatever they are called.
        None => vec![(Role::Storage, String::new()); storages],
    }
}

/// The id that the host of this name has in the run, or gets; the first ids are of so many load hosts.
fn id_of(name: &str, known: &mut Vec<(Role, String)>, loads: u16) -> HostId {
    let found = known.iter().position(|(role, known)| *role == Role::Observe && known == name);
    let at = found.unwrap_or_else(|| {
        known.push((Role::Observe, name.to_string()));
        known.len() - 1
    });
    HostId(at as u16 + loads)
}

/// Those that the order names, behind them those of its file of hosts, and the hypervisor of virtual machines that make the load.
fn asked(order: &Order) -> Result<Vec<Asked>> {
    let named = order.observe.iter().map(|text| of_text(text)).collect::<Result<Vec<Asked>>>()?;
    let of_file = load_hosts::of_file(order, HostRole::Observe)?.unwrap_or_default();
    let of_host = |host: &NamedHost| -> Result<Asked> {
        let targets = (!host.on.is_empty()).then(|| host.on.clone());
        Ok(Asked { place: WorkerHost::of(host)?, targets })
    };
    let of_file = of_file.iter().map(of_host).collect::<Result<Vec<Asked>>>()?;
    let mut all = each_once(named.into_iter().chain(of_file).collect())?;
    let loads = load_hosts::of_file(order, HostRole::Load)?.unwrap_or_default();
    // A host of that name is one that the user has watched instead.
    if loads.iter().any(|host| matches!(host.via, Via::Vm(_)))
        && all.iter().all(|one| one.place.name().en != HYPERVISOR)
    {
        all.push(Asked { place: WorkerHost::Local, targets: None });
    }
    Ok(all)
}

fn each_once(observe: Vec<Asked>) -> Result<Vec<Asked>> {
    if !OBSERVED.hold(&observe.len()) {
        let (count, most) = (observe.len(), OBSERVED.most);
        let message =
            say!("{count} hosts are to be watched; the limit is {most}", "наблюдаемых машин: {count}; предел — {most}");
        return Err(Error::usage(message));
    }
    let mut all: Vec<Asked> = Vec::new();
    for one in observe {
        if all.iter().any(|other| other.place == one.place) {
            let name = one.place.name().en;
            return Err(Error::usage(say!("`--observe` names `{name}` twice", "`--observe` называет `{name}` дважды"))
                .hint(say!(
                    "name several paths of one host together: `ssh:HOST=/srv/a,/srv/b`",
                    "несколько путей одной машины указываются вместе: `ssh:МАШИНА=/srv/a,/srv/b`"
                )));
        }
        all.push(one);
    }
    Ok(all)
}

fn of_text(text: &str) -> Result<Asked> {
    let (host, paths) = match text.split_once('=') {
        Some((host, paths)) => (host, Some(paths)),
        None => (text, None),
    };
    let targets = paths.map(|paths| paths.split(',').map(String::from).collect::<Vec<_>>());
    if host.is_empty() || targets.iter().flatten().any(|path| !path.starts_with('/')) {
        return Err(Error::usage(say!(
            "`--observe {text}` names no host with paths",
            "`--observe {text}` — не машина с путями"
        ))
        .hint(say!(
            "`ssh:HOST` watches all drives of a host, `ssh:HOST=/dev/sdb,/srv/data` only those below these paths; `NAME` is a machine of the lab",
            "`ssh:МАШИНА` — все накопители машины, `ssh:МАШИНА=/dev/sdb,/srv/data` — те, что под этими путями; `ИМЯ` — машина лаборатории"
        )));
    }
    Ok(Asked { place: WorkerHost::beside(host)?, targets })
}

fn not_watched(name: &str, mut error: Box<Error>) -> Box<Error> {
    let stend_base::Say { en, ru } = &error.message;
    error.message = say!("`{name}` cannot be watched: {en}", "наблюдать за `{name}` нельзя: {ru}");
    error.hint(say!("without `--observe` the run starts without it", "без `--observe` прогон начнётся без неё"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn a_host_keeps_its_id_and_a_new_one_gets_the_next() {
        let mut known = vec![(Role::Storage, "nas".to_string()), (Role::Observe, "switch".to_string())];
        assert_eq!(id_of("switch", &mut known, 1), HostId(2));
        assert_eq!(id_of("nas", &mut known, 1), HostId(3), "the storage host of a stand is another one");
        assert_eq!(id_of("nas", &mut known, 1), HostId(3));
        assert_eq!(id_of("nas", &mut Vec::new(), 4), HostId(4), "behind four load hosts");
    }

    #[test]
    fn hosts_are_named_with_or_without_paths_and_never_twice() {
        let of = |texts: &[&str]| each_once(texts.iter().map(|text| of_text(text)).collect::<Result<Vec<Asked>>>()?);
        let [nas, lab] = &of(&["ssh:root@nas=/srv/a,/dev/sdb", "six-nvme"]).unwrap()[..] else { panic!() };
        assert_eq!(nas.targets.as_deref(), Some(&["/srv/a".to_string(), "/dev/sdb".to_string()][..]));
        assert_eq!(
            (nas.place.name().en.as_str(), &lab.place, &lab.targets),
            ("root@nas", &WorkerHost::Lab("six-nvme".into()), &None)
        );
        for (wrong, told) in [
            (&["ssh:a", "ssh:a=/srv"][..], "names `a` twice"),
            (&["ssh:a=srv"], "names no host with paths"),
            (&["ssh:a="], "names no host with paths"),
            (&["=/srv"], "names no host with paths"),
            (&["ssh:-oProxyCommand=/x"], "does not name a host"),
        ] {
            let error = of(wrong).err().unwrap();
            assert!(error.kind == Kind::Usage && error.message.en.contains(told), "{wrong:?}: {error}");
        }
        let many: Vec<String> = (0..65).map(|n| format!("ssh:h{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(of(&many).err().unwrap().message.en.contains("the limit is 64"));
    }

    #[test]
    fn hosts_of_a_file_that_are_watched_come_behind_those_that_the_order_names() {
        let text = "hosts:\n  nas: {ssh: root@nas, role: observe, on: [/srv/a]}\n  a: {ssh: a}\n  sw: {exec: [x], role: observe}\n";
        let hosts = serde_json::json!({ "file": "h.yaml", "text": text });
        let suite = serde_json::json!({ "file": "s.yaml", "text": "" });
        let order = serde_json::json!({ "order": 1, "suite": suite, "seed": "1", "hosts": hosts, "observe": ["lab1"] });
        let found = asked(&stend_spec::parse::order(&order.to_string(), "o").unwrap()).unwrap();
        let names: Vec<String> = found.iter().map(|one| one.place.name().en).collect();
        assert_eq!(names, ["lab1", "nas", "sw"]);
        let targets: Vec<Option<&[String]>> = found.iter().map(|one| one.targets.as_deref()).collect();
        assert_eq!(targets, [None, Some(&["/srv/a".to_string()][..]), None]);
    }

    #[test]
    fn the_hypervisor_is_watched_where_virtual_machines_make_the_load() {
        let of = |text: &str| {
            let hosts = serde_json::json!({ "file": "h.yaml", "text": text });
            let suite = serde_json::json!({ "file": "s.yaml", "text": "" });
            let order = serde_json::json!({ "order": 1, "suite": suite, "seed": "1", "hosts": hosts });
            let found = asked(&stend_spec::parse::order(&order.to_string(), "o").unwrap()).unwrap();
            found.iter().map(|one| name_of(&one.place)).collect::<Vec<_>>()
        };
        assert_eq!(of("hosts:\n  web-1: {vm: web-1}\n  a: {ssh: a}\n"), [HYPERVISOR]);
        assert!(of("hosts:\n  a: {ssh: a}\n").is_empty());
        assert_eq!(of("hosts:\n  w: {vm: web-1}\n  hypervisor: {ssh: h, role: observe}\n"), ["hypervisor"]);
    }
}
