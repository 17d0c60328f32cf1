//! What must hold of a run of several load hosts, whatever happened to some of them. Must not play.

use super::{Far, Played, Trouble, name};
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Kind, Nanos};
use stend_record::{HostId, RunRecord, RunState, Slice, TrialOutcome};
use stend_spec::order::OnLoss;
use stend_wire::{Reply, Request};

/// After a loss that ends the run no host may load longer than this.
const STOP_LIMIT: Nanos = Nanos::secs(2);

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
    must(&mut wrong, said(fars) == recorded(record), "the file has something else than the hosts measured");
    let lost: Vec<(Nanos, HostId)> = record.lost_loads().map(|(at, host, _)| (at, host)).collect();
    let is_victim = |host: &HostId| matches!(fars[host.index()].trouble, Trouble::Dies(_) | Trouble::Hangs(_));
    must(&mut wrong, lost.iter().all(|(_, host)| is_victim(host)), "the file names another lost host");
    let different: BTreeSet<HostId> = lost.iter().map(|(_, host)| *host).collect();
    must(&mut wrong, different.len() == lost.len(), "a host is lost twice");
    let complete = record.state == RunState::Complete;
    must(&mut wrong, complete == end.is_none(), "the state of the file is not how the run ended");
    match on_loss {
        OnLoss::Stop => stops(&mut wrong, played, &lost),
        OnLoss::GoOn => goes_on(&mut wrong, played, record, &lost),
    }
    let loads = record.loads().map(|(_, host)| (host.name.clone(), host.facts.is_some()));
    must(&mut wrong, loads.eq((0..fars.len()).map(|host| (name(host), true))), "the file does not know the hosts");
    for trial in record.executed() {
        let (asked, seeds, begins) = trial_of(fars, trial.trial);
        must(
            &mut wrong,
            seeds.len() == asked.len() && begins.len() == 1,
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

/// A run that a loss ends.
fn stops(wrong: &mut Vec<String>, played: &Played, lost: &[(Nanos, HostId)]) {
    let Played { fars, end, told, .. } = played;
    let victim = fars.iter().position(|far| far.trouble != Trouble::None);
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
    }
    if let (Some(_), Some(noticed)) = (end, played.noticed) {
        for far in fars.iter().filter(|far| !far.dead && !far.hanging) {
            must(wrong, !asked_after(far, noticed), "a host went on after another was lost");
            let stop = far.asked.iter().find(|(_, request)| *request == Request::Stop);
            must(wrong, stop.is_some_and(|(at, _)| *at <= noticed + STOP_LIMIT), "a host was not stopped in time");
        }
    }
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

/// What arrived from the hosts.
pub(super) fn said(fars: &[Far]) -> Measured {
    let mut all = Measured::new();
    for (host, far) in (0..).map(HostId).zip(fars) {
        for reply in &far.said {
            match reply {
                Reply::Slices { ordinal, slices } => {
                    all.entry((*ordinal, host)).or_default().0.extend_from_slice(slices);
                }
                Reply::TrialDone { ordinal, outcome } => {
                    all.entry((*ordinal, host)).or_default().1 = Some(outcome.as_ref().clone());
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

/// Hosts that were asked for a trial, with its seeds and begins.
fn trial_of(fars: &[Far], number: u32) -> (BTreeSet<HostId>, BTreeSet<u64>, BTreeSet<Nanos>) {
    let asked = (0..).map(HostId).zip(fars).filter_map(|(host, far)| {
        far.asked.iter().find_map(|(_, request)| match request {
            Request::Trial { ordinal, trial, begin, .. } if *ordinal == number => Some((host, trial.seed, *begin)),
            _ => None,
        })
    });
    let mut found = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (host, seed, begin) in asked {
        found.0.insert(host);
        found.1.insert(seed);
        found.2.insert(begin);
    }
    found
}
