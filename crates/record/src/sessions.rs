//! Sessions of a run: a run that ended early goes on in another one, in which all of its load hosts are there again. Must not judge what a
//! session measured.

use crate::event::{Event, EventKind};
use crate::hosts::HostId;
use crate::run::{RunRecord, RunState};
use crate::trial::TrialRecord;
use stend_base::Nanos;

impl RunRecord {
    /// When the run went on, in order; none if it has one session.
    fn resumed(&self) -> impl Iterator<Item = Nanos> {
        let began = |event: &Event| matches!(event.kind, EventKind::Resumed { .. }).then_some(event.at);
        self.events.iter().filter_map(began)
    }

    /// Which session a time is in, from 0.
    pub fn session_of(&self, at: Nanos) -> usize {
        self.resumed().filter(|resumed| *resumed <= at).count()
    }

    /// When the last session began; 0 if there was one.
    pub fn last_session(&self) -> Nanos {
        self.resumed().last().unwrap_or_default()
    }

    /// Whether the run went on after this trial or round in its session, however it ended: with another one, or to the end of its plan.
    pub fn went_on_after(&self, trial: &TrialRecord) -> bool {
        let session = self.session_of(trial.started);
        if self.state == RunState::Complete && session == self.resumed().count() {
            return true;
        }
        let mut others = self.trials.iter().chain(&self.rounds);
        others.any(|other| other.trial > trial.trial && self.session_of(other.started) == session)
    }

    /// Load hosts that were lost: when, which, and what the coordinator saw. A loss that ended its session is not among them once the run has
    /// gone on with all hosts.
    pub fn lost_loads(&self) -> impl Iterator<Item = (Nanos, HostId, &str)> {
        let last = self.resumed().count();
        let losses = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::HostLost { detail } => Some((event.at, event.host, detail.as_str())),
            _ => None,
        });
        losses.filter(move |(at, ..)| {
            let session = self.session_of(*at);
            let began_without = |trial: &TrialRecord| trial.started >= *at && self.session_of(trial.started) == session;
            session == last || self.trials.iter().chain(&self.rounds).any(began_without)
        })
    }

    /// What an event means for the hosts that are expected of trials.
    pub(crate) fn learn_who_is_there(&mut self, event: &Event) {
        let trials = self.trials.iter_mut().chain(&mut self.rounds);
        match event.kind {
            EventKind::HostLost { .. } => trials.for_each(|trial| trial.lost(event.host, event.at)),
            EventKind::Resumed { .. } => trials.for_each(|trial| trial.returned(event.at)),
            _ => {}
        }
    }

    /// Load hosts that are lost, by what is known so far, and when.
    pub(crate) fn lost_now(&self) -> Vec<(HostId, Nanos)> {
        let mut lost = Vec::new();
        for event in &self.events {
            match event.kind {
                EventKind::HostLost { .. } => lost.push((event.host, event.at)),
                EventKind::Resumed { .. } => lost.clear(),
                _ => {}
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::{HostInfo, Role};
    use crate::observed::{Slice, TrialOutcome};
    use crate::run::Entry;
    use stend_base::Bytes;
    use stend_spec::workload::{Mix, Op, Pattern, Region, Stream, Trial};

    fn event(at: u64, host: u16, kind: EventKind) -> Entry {
        Entry::Event(Event { at: Nanos(at), host: HostId(host), kind })
    }

    fn lost(at: u64, host: u16) -> Entry {
        event(at, host, EventKind::HostLost { detail: "gone".into() })
    }

    fn resumed(at: u64) -> Entry {
        event(at, 0, EventKind::Resumed { host: Box::default(), shift_ns: 0, boot_id: String::new() })
    }

    fn start(trial: u32, at: u64, load_hosts: Option<u32>) -> Entry {
        let region = Region { start: Bytes(0), len: Bytes::mib(1) };
        let stream = Stream::new(Mix::of_reads(100), Pattern::Random, Bytes::kib(4));
        let asked = Box::new(Trial { load_hosts, ..Trial::new(vec![stream], Nanos::SECOND, region) });
        Entry::TrialStart { trial, case: 0, block: trial, round: false, asked, at: Nanos(at) }
    }

    fn end(trial: u32, host: u16) -> Entry {
        let outcome = Box::new(TrialOutcome::empty(Nanos(0), (Nanos(0), Nanos(9))));
        Entry::TrialEnd { host: HostId(host), trial, outcome }
    }

    fn some(trial: u32, host: u16) -> Entry {
        let slice = Slice {
            interval: 0,
            span: 1,
            stream: 0,
            op: Op::Read,
            ops: 1,
            bytes: 4096,
            errors: 0,
            latency_max_ns: 0,
            latency: None,
            open: None,
        };
        Entry::Slices { host: HostId(host), trial, slices: vec![slice] }
    }

    /// A run of three load hosts after these entries.
    fn run(entries: impl IntoIterator<Item = Entry>) -> RunRecord {
        let mut run = RunRecord::new(crate::of_host::fixture::header());
        for host in 0..3 {
            let info = Box::new(HostInfo { name: format!("h{host}"), role: Role::Load, ..HostInfo::default() });
            run.apply(Entry::Host { host: HostId(host), info });
        }
        entries.into_iter().for_each(|entry| run.apply(entry));
        run
    }

    fn parts(run: &RunRecord, trial: usize) -> Vec<u16> {
        run.trials[trial].parts.iter().map(|part| part.host.0).collect()
    }

    #[test]
    fn a_host_that_was_lost_is_expected_again_when_the_run_goes_on() {
        // A file has its trials before its events, one that is followed has them in the order of time.
        let trials = [start(0, 10, None), start(1, 30, None)];
        let events = [lost(20, 1), resumed(25)];
        for entries in [
            [&trials[..1], &events, &trials[1..]].concat(),
            [&trials[..], &events].concat(),
            [&events[..], &trials].concat(),
        ] {
            let mut run = run(entries.clone());
            assert_eq!((parts(&run, 0), parts(&run, 1)), (vec![0, 1, 2], vec![0, 1, 2]), "{entries:?}");
            // It counts only with the part of each.
            [end(1, 0), end(1, 2)].into_iter().for_each(|entry| run.apply(entry));
            assert_eq!(run.trials[1].outcome, None);
            run.apply(end(1, 1));
            assert!(run.trials[1].outcome.is_some());
            assert_eq!(run.lost_loads().count(), 0, "the session ended by it, and all are there again");
        }
    }

    #[test]
    fn the_first_hosts_of_a_trial_are_the_first_ones_again() {
        let own = [start(0, 5, Some(2)), start(1, 15, Some(2)), start(2, 30, Some(2))];
        let events = [lost(10, 0), resumed(25), lost(28, 1)];
        let done = [some(1, 2), end(1, 1), end(1, 2)];
        let run = run([&own[..], &done, &events].concat());
        assert_eq!((parts(&run, 1), parts(&run, 2)), (vec![1, 2], vec![0, 2]));
        assert!(run.trials[1].outcome.is_some(), "the others went on with it");
        let losses: Vec<(u64, u16)> = run.lost_loads().map(|(at, host, _)| (at.0, host.0)).collect();
        assert_eq!(losses, [(10, 0), (28, 1)], "trials lack both");
    }

    #[test]
    fn a_run_goes_on_after_a_trial_only_where_the_next_one_is_of_its_session() {
        let mut run = run([start(0, 10, None), start(1, 15, None), resumed(20), start(2, 30, None)]);
        let went_on = |run: &RunRecord| run.trials.iter().map(|trial| run.went_on_after(trial)).collect::<Vec<_>>();
        assert_eq!(went_on(&run), [true, false, false]);
        run.apply(Entry::End(RunState::Complete));
        assert_eq!(went_on(&run), [true, false, true], "to the end of its plan");
        assert_eq!((run.session_of(Nanos(19)), run.session_of(Nanos(20)), run.last_session()), (0, 1, Nanos(20)));
    }

    #[test]
    fn a_loss_that_ends_the_last_session_is_told() {
        let run = run([start(0, 10, None), lost(12, 2)]);
        assert_eq!(run.lost_loads().map(|(_, host, _)| host.0).collect::<Vec<_>>(), [2]);
    }
}
