//! Answers of several load hosts as one for the walk. Pure.

use super::{Notice, walk};
use crate::channel::out_of_order;
use crate::step::Input;
use stend_base::{Error, Kind, Result, say};
use stend_record::{Entry, HostId, HostInfo, TargetFacts};
use stend_wire::{Facts, Reply};

/// What answers of all hosts to one request mean; they come in the order of the hosts, of which this much is known.
///
/// Errors: the host whose answer does not go with that of the first, and why.
pub(super) fn joined(
    mut answers: Vec<(HostId, Reply)>,
    known: impl Fn(HostId) -> HostInfo,
) -> std::result::Result<Vec<Notice>, (HostId, Box<Error>)> {
    let kind = |reply: &Reply| std::mem::discriminant(reply);
    let Some(first) = answers.first().map(|(_, reply)| kind(reply)) else { return Ok(Vec::new()) };
    if let Some((host, _)) = answers.iter().find(|(_, reply)| kind(reply) != first) {
        return Err((*host, out_of_order()));
    }
    if matches!(answers[0].1, Reply::Facts(_)) {
        return of_facts(answers, known);
    }
    let mut heard = Vec::new();
    let mut parts = Vec::new();
    let mut least = None;
    for (host, reply) in &answers {
        match reply {
            Reply::TrialDone { ordinal, outcome } => parts.push((*ordinal, *host, outcome.as_ref().clone())),
            Reply::Filled(outcome) => {
                least = least.into_iter().chain([*outcome]).min_by_key(|outcome| outcome.written);
            }
            _ => {}
        }
    }
    if let Some((ordinal, ..)) = parts.first() {
        let ordinal = *ordinal;
        let parts = parts.into_iter().map(|(_, host, outcome)| (host, outcome)).collect();
        return Ok(vec![Notice::Walk(Input::TrialDone { ordinal, parts })]);
    }
    match least {
        // The walk keeps what it is told for the first host: what that did replaces it.
        Some(least) => heard.push(walk(Reply::Filled(least))),
        None => heard.push(walk(answers[0].1.clone())),
    }
    answers.drain(..).for_each(|(host, reply)| heard.extend(kept(host, &reply)));
    Ok(heard)
}

/// What of an answer belongs into the run file, whatever the others say.
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
    let Some((_, first)) = all.first() else { return Ok(Vec::new()) };
    let mut together = first.clone();
    let mut heard = Vec::new();
    for (host, facts) in all {
        add(&mut together, &facts).map_err(|error| (host, error))?;
        let info = HostInfo { facts: Some(facts.host), targets: facts.targets, ..known(host) };
        heard.push(Notice::Keep(Entry::Host { host, info: Box::new(info) }));
    }
    heard.insert(0, walk(Reply::Facts(Box::new(together))));
    Ok(heard)
}

/// Narrows facts to what also holds on another host.
fn add(together: &mut Facts, other: &Facts) -> Result<()> {
    let kinds = |facts: &Facts| facts.targets.iter().map(|target| target.kind).collect::<Vec<_>>();
    if kinds(together) != kinds(other) {
        let message = say!(
            "its targets are not of the kinds of those of the first host",
            "виды её объектов не такие, как у первой машины"
        );
        return Err(Error::new(Kind::Usage, message).hint(say!(
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
