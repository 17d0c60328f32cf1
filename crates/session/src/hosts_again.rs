//! The load hosts of a run that goes on, found among those that the order names: each keeps its place in the run and its name. Must not
//! decide whether it is as it was: the run looks at that before anything is written.

use crate::frontend::Frontend;
use crate::load_hosts;
use crate::reaching::Reached;
use crate::worker_host::WorkerHost;
use stend_base::{Error, Result, say};
use stend_record::StandText;
use stend_record::targets::{are_named, in_line, names};
use stend_run::{EarlierHost, LoadHost, Progressed};
use stend_spec::order::Order;

/// The hosts of the earlier session, in their order; each of several uses what it used then. Behind them the targets that the order
/// names for the only one.
///
/// Errors: `Usage` where the order names others, or other targets than those of the earlier session; what keeps a host from being reached.
pub(crate) fn reach(
    order: &Order,
    earlier: &Progressed,
    (place, stand): (&WorkerHost, Option<&StandText>),
    frontend: &Frontend,
) -> Result<(Vec<LoadHost>, Vec<String>)> {
    let loads = &earlier.loads;
    if let (Some(stand), [_, _, ..]) = (stand, loads.as_slice()) {
        return Err(on_a_stand(&stand.name));
    }
    let named = load_hosts::names(order)?;
    if named.len().max(1) != loads.len() {
        return Err(other_number(loads, &named));
    }
    let mut reached = load_hosts::reach_all(order, place, frontend)?;
    if loads.len() == 1 {
        let of_file = reached.first().map(|one| one.targets.clone()).filter(|_| order.hosts.is_some());
        let hosts = reached.drain(..).map(|one| LoadHost::only(one.host)).collect();
        return Ok((hosts, of_file.unwrap_or_else(|| order.on.clone())));
    }
    let given: Vec<Given<'_>> =
        reached.iter().map(|one| Given { name: &one.name, boot_id: one.host.boot_id() }).collect();
    let places = places(loads, &given)?;
    let mut hosts: Vec<(usize, LoadHost)> = Vec::with_capacity(loads.len());
    for (place, Reached { name, host, targets }) in places.into_iter().zip(reached) {
        let then = names(&loads[place].targets);
        if !targets.is_empty() && !are_named(&loads[place].targets, &targets) {
            return Err(other_targets(&name, &then, &targets));
        }
        hosts.push((place, LoadHost { name: loads[place].name.clone(), host, targets: then }));
    }
    hosts.sort_by_key(|(place, _)| *place);
    let count = hosts.len();
    frontend.note(say!(
        "{count} hosts go on together, as the run began",
        "нагружающих машин: {count}; прогон продолжается так же, как начат"
    ));
    Ok((hosts.into_iter().map(|(_, host)| host).collect(), Vec::new()))
}

/// A host that the order names, as it was reached.
#[derive(Debug, Clone, Copy)]
struct Given<'a> {
    /// As the user calls it now.
    name: &'a str,
    /// Which boot of which machine it is; `None`: that cannot be known.
    boot_id: Option<&'a str>,
}

/// Which host of the run each of those that are named is: by its boot, whatever it is called now, and one that was restarted by its name.
/// Containers have the boot of their machine: of several hosts with one boot it is the one of that name.
///
/// Errors: `Usage` with one that is none of them.
fn places(loads: &[EarlierHost], given: &[Given<'_>]) -> Result<Vec<usize>> {
    let by_boot = |given: &Given<'_>| {
        let has_its_boot = |place: &usize| given.boot_id == Some(loads[*place].host.boot_id.as_str());
        let found: Vec<usize> = (0..loads.len()).filter(has_its_boot).collect();
        match found.as_slice() {
            [only] => Some(*only),
            _ => found.iter().copied().find(|place| loads[*place].name == given.name),
        }
    };
    let mut found: Vec<Option<usize>> = given.iter().map(by_boot).collect();
    for at in 0..given.len() {
        if found[at].is_none() {
            let is_free = |place: &usize| !found.contains(&Some(*place));
            let by_name = loads.iter().position(|load| load.name == given[at].name);
            found[at] = Some(by_name.filter(is_free).ok_or_else(|| unknown(loads, given[at].name))?);
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// Nothing there is what it was, and each load host takes in what is built anew: that is not tried yet.
fn on_a_stand(stand: &str) -> Box<Error> {
    Error::usage(say!(
        "a run of several load hosts on a stand (`{stand}`) cannot be resumed yet",
        "прогон с несколькими нагружающими машинами на стенде (`{stand}`) пока нельзя продолжить"
    ))
    .hint(say!(
        "what it measured stays in its file; run the suite again",
        "измеренное осталось в файле; запустите набор заново"
    ))
}

fn called(loads: &[EarlierHost]) -> Vec<String> {
    loads.iter().map(|load| load.name.clone()).collect()
}

fn other_number(loads: &[EarlierHost], named: &[String]) -> Box<Error> {
    let (then, now) = (in_line(&called(loads)), in_line(named));
    let message = match (loads, named) {
        ([_], _) => say!(
            "the run began on one host, and several are named ({now})",
            "прогон начался на одной машине, а указано несколько ({now})"
        ),
        (_, []) => say!(
            "the run began with several load hosts ({then}), and none is named",
            "прогон начался с несколькими нагружающими машинами ({then}), а не указана ни одна"
        ),
        _ => say!(
            "the run began with other load hosts ({then}) than those that are named ({now})",
            "прогон начался с другими нагружающими машинами ({then}), чем указанные ({now})"
        ),
    };
    Error::usage(message).hint(name_them(loads))
}

fn unknown(loads: &[EarlierHost], name: &str) -> Box<Error> {
    let then = in_line(&called(loads));
    Error::usage(say!(
        "`{name}` is none of the load hosts that the run began with ({then})",
        "`{name}` — не из тех нагружающих машин, с которыми начался прогон ({then})"
    ))
    .hint(name_them(loads))
}

/// The words that name the hosts of a run.
fn name_them(loads: &[EarlierHost]) -> stend_base::Say {
    let words = loads.iter().map(|load| format!("--ssh {}", load.name)).collect::<Vec<_>>().join(" ");
    match loads {
        [_] => say!(
            "name the host of the run with one `--ssh`, or in a file of hosts if it is reached by `exec` or `vm`; name none if it was this machine",
            "укажите машину прогона одним `--ssh`, а если доступ к ней через `exec` или `vm` — в файле машин; если это была эта машина, не указывайте ничего"
        ),
        _ => say!(
            "name all of them: `{words}`, or a file of hosts, which is needed if they are reached by `exec` or `vm`; a host that was restarted is found by its name",
            "укажите все машины: `{words}` или файл машин — он нужен, если доступ к ним через `exec` или `vm`; перезапущенная машина узнаётся по имени"
        ),
    }
}

fn other_targets(host: &str, then: &[String], now: &[String]) -> Box<Error> {
    let (then, now) = (in_line(then), in_line(now));
    Error::usage(say!(
        "`{host}`: the run continues on `{then}`, not on `{now}`",
        "`{host}`: прогон продолжается на `{then}`, а не на `{now}`"
    ))
    .hint(say!("leave out `--on`: the run file has the targets", "уберите `--on`: объекты есть в файле прогона"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;
    use stend_record::HostFacts;

    /// Hosts of a run by (name, boot).
    fn loads(of: &[(&str, &str)]) -> Vec<EarlierHost> {
        let one = |(name, boot): &(&str, &str)| EarlierHost {
            name: name.to_string(),
            host: HostFacts { boot_id: boot.to_string(), ..HostFacts::default() },
            targets: Vec::new(),
        };
        of.iter().map(one).collect()
    }

    fn found(then: &[(&str, &str)], now: &[(&str, Option<&str>)]) -> Result<Vec<usize>> {
        let given: Vec<Given<'_>> = now.iter().map(|(name, boot_id)| Given { name, boot_id: *boot_id }).collect();
        places(&loads(then), &given)
    }

    #[test]
    fn a_host_is_found_by_its_boot_and_one_that_was_restarted_by_its_name() {
        let then = [("a", "1"), ("b", "2"), ("c", "3")];
        let of = |now: &[(&str, Option<&str>)]| found(&then, now).unwrap();
        assert_eq!(of(&[("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]), [0, 1, 2]);
        assert_eq!(of(&[("c", Some("3")), ("a", Some("1")), ("b", Some("2"))]), [2, 0, 1], "in another order");
        assert_eq!(of(&[("root@a", Some("1")), ("b", Some("9")), ("c", Some("3"))]), [0, 1, 2], "b was restarted");
        // Their names were exchanged: a machine is what it was, whatever it is called.
        assert_eq!(of(&[("b", Some("1")), ("a", Some("2")), ("c", Some("3"))]), [0, 1, 2]);
        // Containers have the boot of their machine.
        assert_eq!(found(&[("p", "1"), ("q", "1")], &[("q", None), ("p", None)]).unwrap(), [1, 0]);
        assert_eq!(found(&[("p", "1"), ("m", "1")], &[("p", None), ("m", Some("1"))]).unwrap(), [0, 1], "beside it");
    }

    #[test]
    fn a_host_that_is_none_of_the_run_is_refused_with_those_that_are() {
        let then = [("a", "1"), ("b", "2")];
        for now in [
            [("a", Some("1")), ("x", Some("7"))],
            // It has the name of one that is there under another.
            [("x", Some("2")), ("b", Some("7"))],
        ] {
            let error = found(&then, &now).unwrap_err();
            assert_eq!(error.kind, Kind::Usage);
            let name = now[1].0;
            assert!(error.message.en.contains(&format!("`{name}` is none of the load hosts")), "{error}");
            assert!(error.message.ru.contains("(a, b)"), "{}", error.message.ru);
        }
    }

    #[test]
    fn another_number_of_hosts_is_refused_and_all_are_named() {
        let several = loads(&[("a", "1"), ("root@b", "2")]);
        for (named, told) in [(&[][..], "none is named"), (&["a"], "than those that are named (a)")] {
            let named: Vec<String> = named.iter().map(|name| name.to_string()).collect();
            let error = other_number(&several, &named);
            assert!(error.message.en.contains(told) && error.message.en.contains("(a, root@b)"), "{error}");
            assert!(error.hint.as_ref().is_some_and(|hint| hint.en.contains("`--ssh a --ssh root@b`")), "{error}");
            assert!(error.hint.as_ref().is_some_and(|hint| hint.en.contains("`exec` or `vm`")), "{error}");
        }
        let error = other_number(&loads(&[("", "1")]), &["a".to_string(), "b".to_string()]);
        assert!(error.message.en.contains("began on one host, and several are named (a, b)"), "{error}");
    }
}
