//! Evidence of runs of several load hosts that was spoiled on purpose: each check sees what it is there for.

use super::far::Far;
use super::{CROWDED, Played, SEEDS, play, wrong};
use stend_base::{Kind, Nanos};
use stend_record::{RunRecord, TrialOutcome};
use stend_spec::order::OnLoss;
use stend_wire::Request;

/// The first run of a seed of which this holds, as it should be.
fn first(test: &str, of: impl Fn(&Played) -> bool) -> Played {
    let mut all = (CROWDED + 1..SEEDS).map(|seed| play(test, seed));
    let played = all.find(|played| played.record.is_some() && of(played)).expect("some seed has one");
    assert_eq!(wrong::of(&played), [""; 0]);
    played
}

fn must_be_seen(played: &Played, what: &str) {
    let found = wrong::of(played);
    assert!(found.iter().any(|found| found == what), "{found:?}");
}

fn record(played: &mut Played) -> &mut RunRecord {
    played.record.as_mut().expect("a run file")
}

/// Whether it has a clock of its own that was never set.
fn has_own_clock(far: &Far) -> bool {
    far.clock.is_own && far.clock.never_set(Nanos(0)).is_some()
}

#[test]
fn hosts_that_are_all_stopped_late_are_seen() {
    let is_stopped = |far: &Far| far.asked.iter().any(|(_, request)| *request == Request::Stop);
    let mut played = first("late", |played| {
        let ended = (played.on_loss, played.end) == (OnLoss::Stop, Some(Kind::HostLost));
        ended && played.fars.iter().any(is_stopped)
    });
    for (at, request) in played.fars.iter_mut().flat_map(|far| &mut far.asked) {
        if *request == Request::Stop {
            *at = *at + Nanos::secs(3);
        }
    }
    must_be_seen(&played, "a host was not stopped in time");
}

#[test]
fn a_sample_that_lies_elsewhere_is_seen() {
    let has_samples = |played: &Played, host: usize| {
        let record = played.record.as_ref().expect("a run file");
        record.hosts().get(host).is_some_and(|host| !host.samples.is_empty())
    };
    let own = |played: &Played| {
        let mut own = (0..played.fars.len()).filter(|host| has_own_clock(&played.fars[*host]));
        own.find(|host| has_samples(played, *host))
    };
    let mut played = first("sample", |played| own(played).is_some());
    let host = own(&played).expect("a host");
    let at = &mut record(&mut played).hosts_mut()[host].samples[0].at;
    *at = *at + Nanos::secs(60);
    must_be_seen(&played, "a sample lies elsewhere on the axis than it was taken");
}

#[test]
fn a_trial_that_was_at_another_time_is_seen() {
    let none_is_set = |played: &Played| played.fars.iter().all(|far| far.clock.never_set(Nanos(0)).is_some());
    let has_outcome = |played: &Played| {
        let trials = played.record.iter().flat_map(|record| &record.trials);
        trials.flat_map(|trial| &trial.parts).any(|part| part.outcome.is_some())
    };
    let mut played = first("trial", |played| {
        played.fars.iter().any(has_own_clock) && none_is_set(played) && has_outcome(played) && played.end.is_none()
    });
    let trials = record(&mut played).trials.iter_mut();
    let outcomes = trials.flat_map(|trial| &mut trial.parts).filter_map(|part| part.outcome.as_mut());
    outcomes.for_each(|outcome: &mut TrialOutcome| outcome.shift(Nanos::secs(60).0 as i64));
    must_be_seen(&played, "the file has something else than the hosts measured");
}
