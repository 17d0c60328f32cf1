//! Carries to the worker what it needs before the fill, a frame at a time: the I/Os of traces, whose files only this side
//! has, and the trials, so that what cannot be run is refused before anything is written. Must not send more before what
//! it sent was taken.

use std::sync::Arc;
use stend_plan::Case;
use stend_plan::Plan;
use stend_spec::fault::Fault;
use stend_spec::trace::{Trace, TraceFacts};
use stend_wire::{Request, UpcomingTrial};

/// I/Os of one message: at most 448 KiB, which arrive in 10 s over a line of 50 kB/s. A worker that has not answered after a minute counts as
/// lost.
const PIECE: usize = 1 << 14;
/// Trials of one message. The largest that a suite of 1 MiB can ask for, one of schedules with some 50 000 steps, takes a
/// MiB.
const TRIALS: usize = 8;

/// How far the traces have been carried.
#[derive(Debug)]
pub(crate) struct Upload {
    traces: Vec<Arc<Trace>>,
    number: usize,
    sent: usize,
    /// Trials that nobody has looked at yet, with their labels.
    unseen: Vec<UpcomingTrial>,
}

impl Upload {
    /// With nothing carried yet.
    pub fn new(traces: &[Arc<Trace>]) -> Upload {
        Upload { traces: traces.to_vec(), number: 0, sent: 0, unseen: Vec::new() }
    }

    /// Has the worker look at the trials of a plan, too. What arms change may decide whether one can be run, so with
    /// arms each is looked at when it is due. `power`: that of the worker's machine is cut by us, not by the worker.
    pub fn show(&mut self, plan: &Plan, power: bool) {
        let runs = plan.cases.iter().filter(|case| case.not_run.is_none() && plan.arms.is_empty());
        self.unseen = runs.map(|case| foreseen(case, power)).rev().collect();
    }

    /// The next message; `None` if everything was carried.
    pub fn next(&mut self) -> Option<Request> {
        loop {
            let Some(trace) = self.traces.get(self.number) else {
                let left = self.unseen.len().saturating_sub(TRIALS);
                let trials: Vec<_> = self.unseen.drain(left..).rev().collect();
                return (!trials.is_empty()).then_some(Request::Foresee(trials));
            };
            let rest = trace.ios.get(self.sent..).unwrap_or_default();
            let piece = &rest[..rest.len().min(PIECE)];
            if !piece.is_empty() {
                self.sent += piece.len();
                return Some(Request::Trace { number: self.number as u32, ios: piece.to_vec() });
            }
            (self.number, self.sent) = (self.number + 1, 0);
        }
    }
}

fn foreseen(case: &Case, power: bool) -> UpcomingTrial {
    let faults = case.faults.iter().filter(|fault| is_of_worker(fault, power));
    UpcomingTrial { label: case.label(), trial: case.trial.clone(), faults: faults.cloned().collect() }
}

/// Whether a worker does an event. What takes it away, or changes its machine from outside, is not for it to do; `power`: we can cut it.
pub(crate) fn is_of_worker(fault: &Fault, power: bool) -> bool {
    fault.act.machine().is_none() && (!fault.is_cut() || !power)
}

/// What a plan must know of traces.
pub(crate) fn facts(traces: &[Arc<Trace>]) -> Vec<TraceFacts> {
    traces.iter().map(|trace| trace.facts.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::{Bytes, Nanos};
    use stend_plan::{PlanInputs, PlanTarget};
    use stend_spec::trace::{self, Arrival, Source, TraceDevice, TracedIo};

    #[test]
    fn every_io_is_carried_once_in_pieces_that_fit_a_frame() {
        let source = Source { file: "t".into(), device: TraceDevice::Only, arrival: Arrival::Queued, align: None };
        let of = |ios: u64| {
            let lines: String = (0..ios).map(|n| format!("{n} /a read {} 512\n", n * 512)).collect();
            Arc::new(trace::read(format!("fio version 3 iolog\n{lines}").as_bytes(), "t", &source).unwrap())
        };
        let traces = [of(3), of(PIECE as u64 + 5)];
        let mut upload = Upload::new(&traces);
        let mut carried = vec![Vec::new(); 2];
        let mut pieces = Vec::new();
        while let Some(Request::Trace { number, ios }) = upload.next() {
            pieces.push((number, ios.len()));
            carried[number as usize].extend(ios);
        }
        assert_eq!(pieces, [(0, 3), (1, PIECE), (1, 5)]);
        assert!(carried[0] == traces[0].ios && carried[1] == traces[1].ios);
        assert_eq!((upload.next(), Upload::new(&[]).next()), (None, None));
        assert_eq!(facts(&traces)[1].count(), PIECE as u64 + 5);
    }

    #[test]
    fn a_piece_of_a_trace_crosses_a_slow_line_in_time() {
        let source = Source { file: "t".into(), device: TraceDevice::Only, arrival: Arrival::Queued, align: None };
        let text = "fio version 3 iolog\n0 /a read 0 512\n";
        let mut trace = trace::read(text.as_bytes(), "t", &source).unwrap();
        let widest = TracedIo { at: Nanos(u64::MAX), offset: u64::MAX, len: u32::MAX, ..trace.ios[0] };
        trace.ios = vec![widest; 2 * PIECE];
        let mut upload = Upload::new(&[Arc::new(trace)]);
        for _ in 0..2 {
            let mut frame = Vec::new();
            stend_wire::protocol::write_frame(&mut frame, &upload.next().unwrap()).unwrap();
            assert!(frame.len() <= 512 << 10, "{} bytes", frame.len());
        }
        assert_eq!(upload.next(), None);
    }

    #[test]
    fn every_trial_is_shown_once_in_order_unless_arms_decide() {
        let plan = |more: &str| {
            let depths = (1..=40).map(|depth| depth.to_string()).collect::<Vec<_>>().join(", ");
            let stream = format!("{{op: read, pattern: random, block_size: 4KiB, queue_depth: [{depths}]}}");
            let text = format!("suite: x\n{more}cases: [{{name: a, streams: [{stream}]}}]\n");
            let suite = stend_spec::parse::suite(&text, "s.yaml").unwrap();
            Plan::new(&PlanInputs { suite, seed: 1, target: target(), time_budget: None, traces: Vec::new() }).unwrap()
        };
        let mut upload = Upload::new(&[]);
        upload.show(&plan(""), false);
        let mut shown = Vec::new();
        while let Some(Request::Foresee(trials)) = upload.next() {
            assert!(trials.len() <= TRIALS);
            shown.extend(trials.into_iter().map(|one| one.trial.streams[0].queue_depth));
        }
        assert_eq!(shown, (1..=40).collect::<Vec<_>>());
        upload.show(&plan("arms: [{name: a}, {name: b}]\n"), false);
        assert_eq!(upload.next(), None);
    }

    fn target() -> PlanTarget {
        PlanTarget::device(Bytes::gib(1))
    }
}
