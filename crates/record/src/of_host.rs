//! The load hosts of a run, and the run as one of them saw it. Must not judge: it only leaves out what others did.

use crate::event::{Event, EventKind};
use crate::hosts::HostId;
use crate::run::RunRecord;
use crate::trial::TrialRecord;

impl RunRecord {
    /// Load hosts with names that differ; none where there is one: as the user calls them, else as they call
    /// themselves.
    pub fn several_loads(&self) -> Vec<(HostId, &str)> {
        let named: Vec<(HostId, &str)> = self.loads().map(|(id, host)| (id, host.called())).collect();
        if named.len() > 1 { named } else { Vec::new() }
    }

    /// The run as if this load host had been its only host: its facts, samples and slices, how its trials ended there, and the events
    /// that are of it or of no machine. Hosts that were watched are not in it. `None` of a host that made no load.
    pub fn of_host(&self, host: HostId) -> Option<RunRecord> {
        let (_, own) = self.loads().find(|(id, _)| *id == host)?;
        let of_trial = |trial: &TrialRecord| {
            let mut alone =
                TrialRecord::new(trial.trial, (trial.case, trial.block), trial.asked.clone(), trial.started);
            let part = trial.by_host().into_iter().find(|(id, ..)| *id == host);
            if let Some((_, slices, outcome)) = part {
                (alone.slices, alone.outcome) = (slices.to_vec(), outcome.cloned());
            }
            alone
        };
        let of_event = |event: &Event| {
            let kind = match (&event.kind, &own.facts) {
                // It went on for all of them, and each is described as the last session found it.
                (EventKind::Resumed { shift_ns, boot_id, .. }, Some(facts)) if event.host != host => {
                    let (shift_ns, boot_id) = (*shift_ns, boot_id.clone());
                    Some(EventKind::Resumed { host: Box::new(facts.clone()), shift_ns, boot_id })
                }
                (kind, _) => {
                    let is_own = event.host == host || (event.host == HostId::LOAD && is_of_the_run(kind));
                    is_own.then(|| kind.clone())
                }
            };
            Some(Event { host: HostId::LOAD, at: event.at, kind: kind? })
        };
        Some(RunRecord {
            header: self.header.clone(),
            plan: self.plan.clone(),
            state: self.state.clone(),
            hosts: vec![own.clone()],
            decisions: self.decisions.clone(),
            trials: self.trials.iter().map(of_trial).collect(),
            rounds: self.rounds.iter().map(of_trial).collect(),
            events: self.events.iter().filter_map(of_event).collect(),
            sources: Vec::new(),
        })
    }
}

/// Whether an event that is noted for the first host is of no machine.
fn is_of_the_run(kind: &EventKind) -> bool {
    match kind {
        EventKind::Phase(_)
        | EventKind::StopRequested
        | EventKind::Crash(_)
        | EventKind::NoSpool { .. }
        | EventKind::RunFileFull { .. }
        | EventKind::Note { .. }
        | EventKind::Fault { .. }
        | EventKind::Replaying { .. }
        | EventKind::Back(_) => true,
        EventKind::Resumed { .. }
        | EventKind::HostClock { .. }
        | EventKind::Arm { .. }
        | EventKind::Calibrated(_)
        | EventKind::HostLost { .. }
        | EventKind::IntervalsMerged { .. }
        | EventKind::Command { .. }
        | EventKind::Unwatched { .. }
        | EventKind::Source(_)
        | EventKind::SourceRead { .. }
        | EventKind::Step { .. }
        | EventKind::Beside { .. }
        | EventKind::DriveHealth { .. }
        | EventKind::KernelErrors { .. }
        | EventKind::WallClock { .. }
        | EventKind::Problem(_)
        | EventKind::Devices { .. } => false,
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    use crate::run::RunHeader;
    use stend_base::Bytes;
    use stend_plan::{PlanInputs, PlanTarget};
    use stend_spec::suite::Suite;

    /// The header of a run on a device.
    pub(crate) fn header() -> RunHeader {
        let target = PlanTarget {
            count: 1,
            hosts: 1,
            size: Bytes::gib(1),
            room: None,
            logical_block: Bytes(512),
            discards: false,
            null: None,
            topology: Default::default(),
            writes: Ok(()),
        };
        let inputs = PlanInputs { traces: Vec::new(), suite: Suite::default(), seed: 1, target, time_budget: None };
        RunHeader::new("R-1", inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::{HostInfo, Role};
    use crate::observed::{FillOutcome, Slice, TrialOutcome};
    use crate::phase::Phase;
    use crate::run::Entry;
    use crate::sample::Sample;
    use stend_base::{Bytes, Nanos};
    use stend_spec::workload::{Mix, Op, Pattern, Region, Stream, Trial};

    fn slice(ops: u64) -> Slice {
        Slice {
            interval: 0,
            span: 1,
            stream: 0,
            op: Op::Read,
            ops,
            bytes: ops * 4096,
            errors: 0,
            latency_max_ns: 0,
            latency: None,
            open: None,
        }
    }

    /// A run of load hosts `a` and `b`, between which `nas` was watched.
    fn run() -> RunRecord {
        let mut run = RunRecord::new(super::fixture::header());
        for (host, name, role) in [(0, "a", Role::Load), (1, "nas", Role::Observe), (2, "b", Role::Load)] {
            let info = Box::new(HostInfo { name: name.into(), role, ..HostInfo::default() });
            run.apply(Entry::Host { host: HostId(host), info });
            let sample = Box::new(Sample { at: Nanos(u64::from(host)), ..Sample::default() });
            run.apply(Entry::Sample { host: HostId(host), sample });
        }
        let region = Region { start: Bytes(0), len: Bytes::mib(1) };
        let stream = Stream::new(Mix::of_reads(100), Pattern::Random, Bytes::kib(4));
        let asked = Box::new(Trial::new(vec![stream], Nanos::SECOND, region));
        run.apply(Entry::TrialStart { trial: 0, case: 0, block: 0, round: false, asked, at: Nanos(10) });
        for (host, ops) in [(0, 5), (2, 7)] {
            run.apply(Entry::Slices { host: HostId(host), trial: 0, slices: vec![slice(ops)] });
            let outcome = FillOutcome { written: Bytes(ops), ..FillOutcome::default() };
            run.apply(Entry::Fill { host: HostId(host), outcome });
        }
        let outcome = Box::new(TrialOutcome::empty(Nanos(20), (Nanos(20), Nanos(30))));
        run.apply(Entry::TrialEnd { host: HostId(2), trial: 0, outcome });
        let event = |host, kind| Event { at: Nanos(1), host: HostId(host), kind };
        run.events = vec![
            event(0, EventKind::Phase(Phase::Measure)),
            event(0, EventKind::HostClock { shift_ns: 1, uncertainty_ns: 1 }),
            event(2, EventKind::HostClock { shift_ns: 2, uncertainty_ns: 2 }),
        ];
        run
    }

    #[test]
    fn a_load_host_alone_has_its_own_data_and_what_is_of_no_machine() {
        let b = run().of_host(HostId(2)).unwrap();
        assert_eq!((b.load().name.as_str(), b.hosts().len(), b.load().samples[0].at), ("b", 1, Nanos(2)));
        assert_eq!((b.load().fill.unwrap().written, b.trials[0].slices[0].ops), (Bytes(7), 7));
        assert!(b.trials[0].outcome.is_some() && b.trials[0].parts.is_empty());
        let shifts: Vec<_> = b.events.iter().map(|event| (event.host, event.kind.clone())).collect();
        let clock = EventKind::HostClock { shift_ns: 2, uncertainty_ns: 2 };
        assert_eq!(shifts, [(HostId::LOAD, EventKind::Phase(Phase::Measure)), (HostId::LOAD, clock)]);
        let a = run().of_host(HostId(0)).unwrap();
        assert!(a.trials[0].slices[0].ops == 5 && a.trials[0].outcome.is_none(), "it did not end there");
    }

    #[test]
    fn each_host_alone_has_gone_on_too_as_the_machine_that_it_is() {
        let mut run = run();
        let named = |name: &str| crate::facts::HostFacts { hostname: name.into(), ..Default::default() };
        run.hosts_mut()[2].facts = Some(named("b"));
        run.events.push(Event::new(
            Nanos(9),
            EventKind::Resumed { host: Box::new(named("a")), shift_ns: 3, boot_id: String::new() },
        ));
        for (host, name) in [(0, "a"), (2, "b")] {
            let alone = run.of_host(HostId(host)).unwrap();
            let kind = EventKind::Resumed { host: Box::new(named(name)), shift_ns: 3, boot_id: String::new() };
            assert_eq!(alone.events.last(), Some(&Event::new(Nanos(9), kind)));
        }
    }

    #[test]
    fn a_host_that_made_no_load_has_no_run_of_its_own() {
        assert_eq!((run().of_host(HostId(1)), run().of_host(HostId(9))), (None, None));
    }
}
