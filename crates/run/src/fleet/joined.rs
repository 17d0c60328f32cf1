//! Answers of several load hosts as one for the walk. Pure.

use super::{Notice, walk};
use crate::channel::out_of_order;
use crate::step::Input;
use stend_base::{Error, Result, say};
use stend_record::{Entry, HostId, HostInfo, TargetFacts, TargetKind, TrialOutcome};
use stend_wire::{Facts, Reply};

/// What answers of all hosts to one request mean; they come in the order of the hosts, of which this much is known. During a
/// trial that is not `whole` a host was lost.
///
/// Errors: the host whose answer does not go with that of the first, and why.
pub(super) fn joined(
    answers: Vec<(HostId, Reply)>,
    whole: bool,
    known: impl Fn(HostId) -> HostInfo,
) -> std::result::Result<Vec<Notice>, (HostId, Box<Error>)> {
    let kind = |reply: &Reply| std::mem::discriminant(reply);
    let Some((_, first)) = answers.first() else { return Ok(Vec::new()) };
    if let Some((host, _)) = answers.iter().find(|(_, reply)| kind(reply) != kind(first)) {
        return Err((*host, out_of_order()));
    }
    let input = match first {
        Reply::Facts(_) => return of_facts(answers, known),
        Reply::TrialDone { ordinal, .. } => {
            Input::TrialDone { ordinal: *ordinal, parts: each(answers, trial_outcome), whole }
        }
        Reply::Filled(_) => Input::Filled(each(answers, |reply| match reply {
            Reply::Filled(outcome) => Some(outcome),
            _ => None,
        })),
        Reply::Zeros(_) => Input::Zeros(each(answers, |reply| match reply {
            Reply::Zeros(zeros) => Some(zeros),
            _ => None,
        })),
        other => return Ok(vec![walk(other.clone())]),
    };
    Ok(vec![Notice::Walk(input)])
}

fn each<T>(answers: Vec<(HostId, Reply)>, of: fn(Reply) -> Option<T>) -> Vec<(HostId, T)> {
    answers.into_iter().filter_map(|(host, reply)| Some((host, of(reply)?))).collect()
}

fn trial_outcome(reply: Reply) -> Option<TrialOutcome> {
    match reply {
        Reply::TrialDone { outcome, .. } => Some(*outcome),
        _ => None,
    }
}

/// What of an answer belongs in the run file, whatever the others say.
pub(super) fn kept(host: HostId, reply: &Reply) -> Vec<Notice> {
    match reply {
        Reply::Filled(outcome) => vec![Notice::Keep(Entry::Fill { host, outcome: *outcome })],
        Reply::Zeros(zeros) => vec![Notice::Keep(Entry::Zeros { host, zeros: *zeros })],
        _ => Vec::new(),
    }
}

/// Facts that hold on each host, for the plan; the run file gets those of each.
fn of_facts(
    answers: Vec<(HostId, Reply)>,
    known: impl Fn(HostId) -> HostInfo,
) -> std::result::Result<Vec<Notice>, (HostId, Box<Error>)> {
    let all = answers.into_iter().filter_map(|(host, reply)| match reply {
        Reply::Facts(facts) => Some((host, *facts)),
        _ => None,
    });
    let all: Vec<(HostId, Facts)> = all.collect();
    let Some(together) = together(&all)? else { return Ok(Vec::new()) };
    let mut heard = vec![walk(Reply::Facts(Box::new(together)))];
    for (host, facts) in all {
        let info = HostInfo { facts: Some(facts.host), targets: facts.targets, ..known(host) };
        heard.push(Notice::Keep(Entry::Host { host, info: Box::new(info) }));
    }
    Ok(heard)
}

/// What holds on each host; `None` without any.
///
/// Errors: the host whose targets do not go with those of the others, and why.
pub(crate) fn together(all: &[(HostId, Facts)]) -> std::result::Result<Option<Facts>, (HostId, Box<Error>)> {
    let Some(((_, first), others)) = all.split_first() else { return Ok(None) };
    let mut together = first.clone();
    for ((host, facts), before) in others.iter().zip(1..) {
        add(&mut together, facts).map_err(|error| (*host, error))?;
        let seen = all[..before].iter().flat_map(|(_, facts)| &facts.targets);
        not_shared(seen, &facts.targets).map_err(|error| (*host, error))?;
    }
    let hosts = all.len() as u64;
    together.targets.iter_mut().filter(|_| hosts > 1).for_each(|target| divide_room(target, hosts));
    Ok(Some(together))
}

/// A directory without a device below it is one of a network, which hosts may share: then each has its part of the room.
fn divide_room(target: &mut TargetFacts, hosts: u64) {
    if target.kind == TargetKind::Directory && target.devices.is_empty() {
        (target.size.0, target.free.0) = (target.size.0 / hosts, target.free.0 / hosts);
    }
}

/// Identities of what is used as a device, and of all below it, that are the same on every host.
fn identities(target: &TargetFacts) -> impl Iterator<Item = &str> {
    let used = target.kind == TargetKind::BlockDevice;
    let devices = target.devices.iter().filter(move |_| used).filter_map(|device| device.identity.as_deref());
    devices.filter(|identity| identity.starts_with("wwn:") || identity.starts_with("serial:"))
}

/// Whether none of these devices is among those of other hosts, which would write over one another.
fn not_shared<'a>(others: impl Iterator<Item = &'a TargetFacts>, own: &[TargetFacts]) -> Result<()> {
    let known: Vec<&str> = others.flat_map(identities).collect();
    let Some(shared) = own.iter().flat_map(identities).find(|identity| known.contains(identity)) else { return Ok(()) };
    let message = say!(
        "another load host reaches the same device (`{shared}`)",
        "то же устройство (`{shared}`) доступно и другой нагружающей машине"
    );
    Err(Error::usage(message).hint(say!(
        "hosts would load the same blocks; give each a device of its own, or a directory on a file system that they share",
        "машины нагружали бы одни и те же блоки; дайте каждой своё устройство или каталог на общей файловой системе"
    )))
}

/// Narrows facts to what also holds on another host.
fn add(together: &mut Facts, other: &Facts) -> Result<()> {
    let kinds = |facts: &Facts| facts.targets.iter().map(|target| target.kind).collect::<Vec<_>>();
    if kinds(together) != kinds(other) {
        let message = say!(
            "its targets are not of the kinds of those of the first host",
            "виды её объектов не такие, как у первой машины"
        );
        return Err(Error::usage(message).hint(say!(
            "name a directory on each, or a device on each",
            "укажите на каждой каталог или на каждой устройство"
        )));
    }
    let narrow = |one: &mut TargetFacts, other: &TargetFacts| {
        one.size = one.size.min(other.size);
        one.free = one.free.min(other.free);
        one.logical_block = one.logical_block.max(other.logical_block);
    };
    together.targets.iter_mut().zip(&other.targets).for_each(|(one, other)| narrow(one, other));
    together.shares_drive |= other.shares_drive;
    if together.writes.is_ok() {
        together.writes.clone_from(&other.writes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Bytes;
    use stend_base::Kind;
    use stend_record::Device;

    /// What a host says of a target with this below it.
    fn facts(kind: TargetKind, identities: &[&str]) -> Facts {
        let device = |identity: &&str| Device { identity: Some(identity.to_string()), ..Device::default() };
        let mut facts = crate::fixture::facts();
        facts.targets[0] = TargetFacts {
            kind,
            size: Bytes(1000),
            free: Bytes(600),
            devices: identities.iter().map(device).collect(),
            ..facts.targets[0].clone()
        };
        facts
    }

    fn of(all: [Facts; 2]) -> std::result::Result<Facts, (HostId, Box<Error>)> {
        let [one, other] = all;
        Ok(together(&[(HostId(0), one), (HostId(1), other)])?.expect("two"))
    }

    #[test]
    fn a_device_that_two_hosts_reach_is_refused_and_one_that_is_called_alike_is_not() {
        let device = |identities: &[&str]| facts(TargetKind::BlockDevice, identities);
        let (host, error) = of([device(&["md:1", "wwn:0x5"]), device(&["wwn:0x5"])]).unwrap_err();
        assert_eq!((host, error.kind), (HostId(1), Kind::Usage));
        assert!(error.message.en.contains("same device (`wwn:0x5`)") && error.message.ru.contains("wwn:0x5"));
        assert!(of([device(&["wwn:0x5"]), device(&["wwn:0x6", "serial:5"])]).is_ok());
        assert!(of([device(&["loop:8:1:77"]), device(&["loop:8:1:77"])]).is_ok(), "a place on a host");
        let directory = || facts(TargetKind::Directory, &["wwn:0x5"]);
        assert!(of([directory(), directory()]).is_ok(), "each has files of its own");
    }

    #[test]
    fn hosts_that_may_share_a_file_system_share_its_room() {
        let room = |facts: &Facts| (facts.targets[0].size.0, facts.targets[0].free.0);
        let network = || facts(TargetKind::Directory, &[]);
        assert_eq!(room(&of([network(), network()]).unwrap()), (500, 300));
        let own = || facts(TargetKind::Directory, &["wwn:0x5"]);
        assert_eq!(room(&of([own(), own()]).unwrap()), (1000, 600));
        let alone = together(&[(HostId(0), network())]).unwrap().expect("one");
        assert_eq!(room(&alone), (1000, 600));
    }

    #[test]
    fn targets_of_different_kinds_are_refused() {
        let (host, error) = of([facts(TargetKind::Directory, &[]), facts(TargetKind::BlockDevice, &[])]).unwrap_err();
        assert_eq!(host, HostId(1));
        assert!(error.message.en.contains("kinds"), "{error}");
    }
}
