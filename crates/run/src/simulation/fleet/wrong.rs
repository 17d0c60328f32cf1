//! What must hold of a run of several load hosts, whatever happened to some of them. Must not play.

use super::far::{Far, Message, Trouble};
use super::{Played, name};
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Kind, Nanos};
use stend_record::{EventKind, HostId, RunRecord, RunState, Slice, TrialOutcome};
use stend_spec::order::OnLoss;
use stend_wire::{Reply, Request};

/// After what ends the run no host may load longer than this.
const STOP_LIMIT: Nanos = Nanos::secs(2);
/// Longest time, beside that of a trial, after which a host that says nothing counts as lost: preparing, with what messages may take.
const SILENT_MAX: Nanos = Nanos::secs(310);

/// What each host measured in each trial, by what arrived from it.
pub(super) type Measured = BTreeMap<(u32, HostId), (Vec<Slice>, Option<TrialOutcome>)>;

/// What does not hold of a run.
pub(super) fn of(played: &Played) -> Vec<String> {
    let mut wrong = Vec::new();
    let Played { fars, end, record, on_loss, .. } = played;
    must(&mut wrong, !played.endless, "it has no end");
    for far in fars {
        must(&mut wrong, far.worker.out_of_turn.is_empty(), "a worker was asked out of turn");
        must(&mut wrong, !far.left, "something was left on a target");
    }
    let Some(record) = record else {
        must(&mut wrong, end.is_some(), "it measured nothing and says nothing");
        return wrong;
    };
    lies_on_our_axis(&mut wrong, fars, record);
    if played.is_full {
        full(&mut wrong, played, record);
        return wrong;
    }
    must(&mut wrong, is_kept(fars, record), "the file has something else than the hosts measured");
    let lost: Vec<(Nanos, HostId)> = record.lost_loads().map(|(at, host, _)| (at, host)).collect();
    let is_victim = |host: &HostId| fars[host.index()].trouble.is_loss();
    must(&mut wrong, lost.iter().all(|(_, host)| is_victim(host)), "the file names another lost host");
    let different: BTreeSet<HostId> = lost.iter().map(|(_, host)| *host).collect();
    must(&mut wrong, different.len() == lost.len(), "a host is lost twice");
    let complete = record.state == RunState::Complete;
    must(&mut wrong, complete == end.is_none(), "the state of the file is not how the run ended");
    match on_loss {
        OnLoss::Stop => stops(&mut wrong, played, record, &lost),
        OnLoss::GoOn => goes_on(&mut wrong, played, record, &lost),
    }
    let loads = record.loads().map(|(_, host)| (host.name.clone(), host.facts.is_some()));
    must(&mut wrong, loads.eq((0..fars.len()).map(|host| (name(host), true))), "the file does not know the hosts");
    for trial in record.executed() {
        let (asked, seeds, begins) = trial_of(fars, trial.trial);
        let least = begins.iter().min().copied().unwrap_or_default();
        let apart = begins.iter().max().map_or(0, |last| last.0 - least.0);
        // Each gets the time by its own clock, as far as that is known.
        let others = (0..).map(HostId).zip(fars).filter(|(_, far)| far.clock.is_own);
        let unknown = others.filter_map(|(host, _)| uncertainty_ns(record, host)).max();
        must(
            &mut wrong,
            !asked.is_empty() && seeds.len() == asked.len() && apart <= 2 * unknown.unwrap_or_default(),
            "a trial is not drawn apart, or does not begin together",
        );
        let parts: BTreeSet<HostId> = trial.parts.iter().map(|part| part.host).collect();
        // One that was lost while it was asked did nothing.
        let gone = |host: &HostId| lost.iter().any(|(at, lost)| lost == host && *at <= trial.started);
        must(&mut wrong, parts.is_subset(&asked), "a trial has a host that was not asked for it");
        must(&mut wrong, asked.difference(&parts).all(gone), "a trial lacks a host that was asked for it");
        let ended = trial.parts.iter().all(|part| part.outcome.is_some()) && !trial.parts.is_empty();
        must(&mut wrong, ended == trial.outcome.is_some(), "a trial ends without all of its hosts, or not with them");
    }
    wrong
}

/// A run whose file could not be written any more: what it has is a beginning of what the hosts measured, and all of them were stopped.
fn full(wrong: &mut Vec<String>, played: &Played, record: &RunRecord) {
    let Played { fars, end, .. } = played;
    must(wrong, matches!(end, None | Some(Kind::RunFile)), "a full disk ends with another error");
    let said = said(fars);
    let begins = |at: &(u32, HostId), slices: &[Slice], outcome: &Option<TrialOutcome>| match said.get(at) {
        Some((all, end)) => all.starts_with(slices) && (outcome.is_none() || outcome == end),
        None => false,
    };
    let found = recorded(record);
    let all = found.iter().all(|(at, (slices, outcome))| begins(at, slices, outcome));
    must(wrong, all, "the file has something that no host measured");
    let whole = end.is_some() || (found == said && record.state == RunState::Complete);
    must(wrong, whole, "it ends well, and the file lacks something");
    let ends = |(_, request): &(Nanos, Request)| matches!(request, Request::Stop | Request::Release);
    must(wrong, fars.iter().all(|far| far.asked.iter().any(ends)), "a host was not stopped");
}

/// Whether the file has what the hosts measured, each at the time when it was.
fn is_kept(fars: &[Far], record: &RunRecord) -> bool {
    let (said, mut found) = (said(fars), recorded(record));
    for (at, (_, outcome)) in &mut found {
        let (trial, host) = *at;
        let Some((_, Some(known))) = said.get(at).filter(|_| fars[host.index()].clock.is_own) else { continue };
        let slack_ns = slack_of_trial(&fars[host.index()], trial, uncertainty_ns(record, host).unwrap_or_default());
        outcome.iter_mut().for_each(|outcome| align(outcome, known, slack_ns));
    }
    said == found
}

/// Takes times that are those of `known`, within this, for the same.
fn align(outcome: &mut TrialOutcome, known: &TrialOutcome, slack_ns: u64) {
    let near = |one: &mut Nanos, other: Nanos| {
        if one.0.abs_diff(other.0) <= slack_ns {
            *one = other;
        }
    };
    near(&mut outcome.load_start, known.load_start);
    near(&mut outcome.window_start, known.window_start);
    near(&mut outcome.window_end, known.window_end);
}

/// How far times of a trial may be off, ns: any, if the clock of its host was set meanwhile.
fn slack_of_trial(far: &Far, number: u32, uncertainty_ns: u64) -> u64 {
    let is_asked = |request: &Request| matches!(request, Request::Trial { ordinal, .. } if *ordinal == number);
    let asked = far.asked.iter().find(|(_, request)| is_asked(request)).map(|(at, _)| *at);
    let is_end = |message: &&Message| matches!(&message.reply, Reply::TrialDone { ordinal, .. } if *ordinal == number);
    let ended = far.said.iter().find(is_end).map(|message| message.arrived);
    match asked.zip(ended) {
        Some((asked, ended)) if far.clock.was_known(asked, ended) => uncertainty_ns,
        _ => u64::MAX,
    }
}

/// How far off times of a host may be, as the file has it; `None`: its clock is ours.
fn uncertainty_ns(record: &RunRecord, host: HostId) -> Option<u64> {
    let of = record.events.iter().filter(|event| event.host == host).filter_map(|event| match event.kind {
        EventKind::HostClock { uncertainty_ns, .. } => Some(uncertainty_ns),
        _ => None,
    });
    of.max()
}

/// Samples of each host lie where they were taken, as exactly as the file says, whatever its clock shows.
fn lies_on_our_axis(wrong: &mut Vec<String>, fars: &[Far], record: &RunRecord) {
    for (host, far) in (0..).map(HostId).zip(fars) {
        let Some(known) = record.hosts().get(host.index()) else { continue };
        let uncertainty = uncertainty_ns(record, host);
        must(wrong, uncertainty.is_some() == far.clock.is_own, "the file does not know which clocks are ours");
        let taken: BTreeMap<u64, (&Message, Nanos)> = far.said.iter().filter_map(taken).collect();
        let lies = |sample: &stend_record::Sample| match taken.get(&sample.cost_ns) {
            Some((message, at)) if far.clock.was_known(message.sent, message.arrived) => {
                sample.at.0.abs_diff(at.0) <= uncertainty.unwrap_or_default()
            }
            Some(_) => true,
            None => false,
        };
        must(wrong, known.samples.iter().all(lies), "a sample lies elsewhere on the axis than it was taken");
    }
}

/// The number of a sample, and when it was taken by our clock.
fn taken(message: &Message) -> Option<(u64, (&Message, Nanos))> {
    let Reply::Sample(sample) = &message.reply else { return None };
    Some((sample.cost_ns, (message, sample.at.shifted(-message.ahead_ns))))
}

/// A run that a loss ends.
fn stops(wrong: &mut Vec<String>, played: &Played, record: &RunRecord, lost: &[(Nanos, HostId)]) {
    let Played { fars, end, told, .. } = played;
    let victim = fars.iter().position(|far| far.trouble.is_loss() || far.trouble == Trouble::Refuses);
    let trouble = victim.map_or(Trouble::None, |victim| fars[victim].trouble);
    match (trouble, end) {
        (Trouble::None, _) => must(wrong, end.is_none(), "nothing went wrong, and it is not complete"),
        // It may have ended before.
        (_, None) => {}
        (Trouble::Refuses, Some(kind)) => must(wrong, *kind == Kind::Preflight, "a refusal ends with another error"),
        (_, Some(kind)) => {
            must(wrong, *kind == Kind::HostLost, "a lost host ends with another error");
            let named = lost.first().map(|(_, host)| host.index());
            must(wrong, named == victim, "the file does not name the lost host");
        }
    }
    if let (Some(victim), Some(_)) = (victim, end) {
        must(wrong, told.contains(&name(victim)), "the error does not name the host");
        let seen = lost.first().map(|(at, _)| *at);
        stopped_in_time(wrong, fars, &fars[victim], (seen, longest_trial(record)));
    }
}

/// Every other host stops soon after what went wrong, counted from when that happened and not from when it was asked to. What is silent may
/// be waited for as long as a step may take; `seen` is when the coordinator gave it up.
fn stopped_in_time(wrong: &mut Vec<String>, fars: &[Far], victim: &Far, (seen, longest_trial): (Option<Nanos>, Nanos)) {
    let Some(struck) = victim.struck else { return must(wrong, false, "it ended before anything went wrong") };
    let silent = matches!(victim.trouble, Trouble::Hangs(_) | Trouble::Chats(_));
    let noticed = seen.filter(|_| silent).unwrap_or(struck);
    must(wrong, noticed <= struck + SILENT_MAX + longest_trial, "a silent host was waited for too long");
    let released = |(at, request): &(Nanos, Request)| *request == Request::Release && *at < noticed;
    if fars.iter().any(|far| far.asked.iter().any(released)) {
        // They undo already, and go on with that.
        return;
    }
    for far in fars.iter().filter(|far| far.is_there()) {
        let stop = far.asked.iter().find(|(_, request)| *request == Request::Stop).map(|(at, _)| *at);
        must(wrong, stop.is_some_and(|at| at <= noticed + STOP_LIMIT), "a host was not stopped in time");
        must(wrong, !asked_after(far, noticed), "a host went on after another was lost");
    }
}

/// What a trial of a run may take.
fn longest_trial(record: &RunRecord) -> Nanos {
    let Ok(plan) = record.plan() else { return Nanos(0) };
    let trials = plan.cases.iter().map(|case| &case.trial);
    trials.map(|trial| trial.ramp + trial.window + trial.drain_limit).max().unwrap_or_default()
}

/// A run that goes on as long as any host is there.
fn goes_on(wrong: &mut Vec<String>, played: &Played, record: &RunRecord, lost: &[(Nanos, HostId)]) {
    let Played { fars, end, .. } = played;
    let works = |request: &Request| {
        matches!(request, Request::Calibrate { .. } | Request::Fill { .. } | Request::SampleZeros { .. })
            || matches!(request, Request::Trial { .. } | Request::Release)
    };
    // Until all are ready the loss of one ends it.
    let was_ready = fars.iter().all(|far| far.asked.iter().any(|(_, request)| works(request)))
        && !fars.iter().any(|far| far.asked.iter().any(|(_, request)| *request == Request::Stop));
    match end {
        None => {
            // How many a search takes depends on what it finds.
            let whole = record.plan().is_ok_and(|plan| match plan.ladders.is_empty() {
                true => record.trials.len() == plan.order.len(),
                false => record.trials.len() > plan.order.len(),
            });
            must(wrong, whole, "the others did not go on to the end");
            must(wrong, was_ready, "a host was stopped in a run that went on");
        }
        Some(kind) => {
            must(wrong, *kind == Kind::HostLost, "a lost host ends with another error");
            let ready = fars.iter().all(|far| far.asked.iter().any(|(_, request)| works(request)));
            must(wrong, lost.len() == fars.len() || !ready, "it ended although others were there");
        }
    }
    for (at, host) in lost {
        let asked = &fars[host.index()].asked;
        must(wrong, asked.iter().all(|(asked, _)| asked <= at), "a lost host was asked for something");
    }
}

/// Whether a host was asked for load, or anything else that takes time, after this.
fn asked_after(far: &Far, noticed: Nanos) -> bool {
    let ends = |request: &Request| matches!(request, Request::Stop | Request::Release | Request::Clock);
    far.asked.iter().any(|(at, request)| *at > noticed && !ends(request))
}

/// What arrived from the hosts, with times of our clock.
pub(super) fn said(fars: &[Far]) -> Measured {
    let mut all = Measured::new();
    for (host, far) in (0..).map(HostId).zip(fars) {
        for message in &far.said {
            match &message.reply {
                Reply::Slices { ordinal, slices } => {
                    all.entry((*ordinal, host)).or_default().0.extend_from_slice(slices);
                }
                Reply::TrialDone { ordinal, outcome } => {
                    let mut outcome = outcome.as_ref().clone();
                    outcome.shift(-message.ahead_ns);
                    all.entry((*ordinal, host)).or_default().1 = Some(outcome);
                }
                _ => {}
            }
        }
    }
    all
}

/// What a file has of it.
pub(super) fn recorded(record: &RunRecord) -> Measured {
    let of = |trial: &stend_record::TrialRecord| {
        let number = trial.trial;
        trial
            .by_host()
            .into_iter()
            .map(|(host, slices, outcome)| ((number, host), (slices.to_vec(), outcome.cloned())))
            .filter(|(_, (slices, outcome))| !slices.is_empty() || outcome.is_some())
            .collect::<Vec<_>>()
    };
    record.executed().into_iter().flat_map(of).collect()
}

/// Says what does not hold.
pub(super) fn must(wrong: &mut Vec<String>, holds: bool, what: &str) {
    wrong.extend((!holds).then(|| what.to_string()));
}

/// Hosts that were asked for a trial, with its seeds, and its begins by our clock where that of the host was never set.
fn trial_of(fars: &[Far], number: u32) -> (BTreeSet<HostId>, BTreeSet<u64>, BTreeSet<Nanos>) {
    let mut found = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (host, far) in (0..).map(HostId).zip(fars) {
        for (_, request) in &far.asked {
            if let Request::Trial { ordinal, trial, begin, .. } = request
                && *ordinal == number
            {
                found.0.insert(host);
                found.1.insert(trial.seed);
                found.2.extend(far.clock.never_set(*begin));
            }
        }
    }
    found
}
