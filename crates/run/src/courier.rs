//! Carries the I/Os of traces to the worker, a frame at a time: only this side has the files. Must not send more before
//! what it sent was taken.

use std::sync::Arc;
use stend_host::Request;
use stend_spec::trace::{Trace, TraceFacts};

/// I/Os of one message: at most 7 MiB, far below the limit of a frame.
const PIECE: usize = 1 << 18;

/// How far the traces have been carried.
#[derive(Debug)]
pub(crate) struct Courier {
    traces: Vec<Arc<Trace>>,
    number: usize,
    sent: usize,
}

impl Courier {
    /// With nothing carried yet.
    pub fn new(traces: &[Arc<Trace>]) -> Courier {
        Courier { traces: traces.to_vec(), number: 0, sent: 0 }
    }

    /// The next message; `None` if everything was carried.
    pub fn next(&mut self) -> Option<Request> {
        loop {
            let trace = self.traces.get(self.number)?;
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

/// What a plan must know of traces.
pub(crate) fn facts(traces: &[Arc<Trace>]) -> Vec<TraceFacts> {
    traces.iter().map(|trace| trace.facts.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_spec::trace::{self, Arrival, Source, TraceDevice};

    #[test]
    fn every_io_is_carried_once_in_pieces_that_fit_a_frame() {
        let source = Source { file: "t".into(), device: TraceDevice::Only, arrival: Arrival::Queued, align: None };
        let of = |ios: u64| {
            let lines: String = (0..ios).map(|n| format!("{n} /a read {} 512\n", n * 512)).collect();
            Arc::new(trace::read(format!("fio version 3 iolog\n{lines}").as_bytes(), "t", &source).unwrap())
        };
        let traces = [of(3), of(PIECE as u64 + 5)];
        let mut courier = Courier::new(&traces);
        let mut carried = vec![Vec::new(); 2];
        let mut pieces = Vec::new();
        while let Some(Request::Trace { number, ios }) = courier.next() {
            pieces.push((number, ios.len()));
            carried[number as usize].extend(ios);
        }
        assert_eq!(pieces, [(0, 3), (1, PIECE), (1, 5)]);
        assert!(carried[0] == traces[0].ios && carried[1] == traces[1].ios);
        assert_eq!((courier.next(), Courier::new(&[]).next()), (None, None));
        assert_eq!(facts(&traces)[1].count(), PIECE as u64 + 5);
    }
}
