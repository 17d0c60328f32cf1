//! What a run that is being watched sends, as server-sent events. Must not read runs or compute figures: the server fills these types.

use serde::{Deserialize, Serialize};
use stend_record::EventKind;
use stend_record::observed::Phase;

/// Where a reader of a stream is: what it has got already. The `id` of each event, which comes back as `Last-Event-ID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// How many recorded events.
    pub events: usize,
    /// Ordinal of the trial whose second came last.
    pub trial: u32,
    /// How many seconds of that trial.
    pub seconds: u32,
}

impl Cursor {
    /// As an `id`.
    pub fn text(self) -> String {
        format!("{}.{}.{}", self.events, self.trial, self.seconds)
    }

    /// What an `id` says; `None` if it is none of ours.
    pub fn of(text: &str) -> Option<Cursor> {
        let mut parts = text.split('.');
        let mut next = || parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let cursor =
            Cursor { events: next()?.parse().ok()?, trial: next()?.parse().ok()?, seconds: next()?.parse().ok()? };
        parts.next().is_none().then_some(cursor)
    }
}

/// What storage did, all I/Os but syncs of all streams together. For watching: results are computed of the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub throughput_bytes_per_s: f64,
    /// Median latency; `null`: no histogram came.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile of the same I/Os.
    pub latency_ns_p99: Option<u64>,
    /// 99.9th percentile of the same I/Os.
    pub latency_ns_p999: Option<u64>,
    /// Largest latency; `null`: nothing completed.
    pub latency_ns_max: Option<u64>,
    /// Failed I/Os.
    pub errors: u64,
}

/// `progress`: the run at one moment. Only the newest counts, so that it has no `id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What is going on.
    pub phase: Phase,
    /// Trial or round in progress, from 1; 0 before the first.
    pub step: u32,
    /// Trials planned, and rounds that there may be.
    pub steps: u32,
    /// Label of the case in progress; empty outside trials.
    pub case: String,
    /// Since the start of the run.
    pub elapsed_ns: u64,
    /// Share of the planned work that is done, 0 to 1.
    pub done_share: f64,
    /// Time left; `null`: too early to tell.
    pub left_ns: Option<u64>,
    /// Not much less than this is left.
    pub left_ns_low: Option<u64>,
    /// Not much more than this is left.
    pub left_ns_high: Option<u64>,
    /// Since the worker last sent anything.
    pub silent_ns: u64,
    /// Figures of the last two seconds of the trial in progress; `null` outside trials.
    pub figures: Option<Figures>,
}

/// `second`: one second of load of a trial. It comes once, about a second after its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Second {
    /// Ordinal of the trial in the run.
    pub trial: u32,
    /// Label of its case.
    pub case: String,
    /// Since the start of its load, ramp included; from 0.
    pub second: u32,
    /// Where it stands on the axis of the run: since its first event, counted from when the trial was begun.
    pub elapsed_ns: u64,
    /// What storage did in it.
    pub figures: Figures,
}

/// `recorded`: an event of the run file, in the form of `stend export --format json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Happened<'a> {
    /// Since the first event of the run.
    pub elapsed_ns: u64,
    /// Which host saw it; 0 is the one that is measured.
    pub host: u32,
    /// What happened.
    pub event: &'a EventKind,
}

/// `finished`: nothing more comes; the stream ends behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// How far the run got.
    pub state: LiveState,
}

/// How a run that was watched stands at the end of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveState {
    /// The plan was walked to its end.
    Complete,
    /// It waits for a person, and goes on with `stend run --resume`.
    Suspended,
    /// It ended early.
    Ended,
    /// Its coordinator is gone; the file holds what it measured.
    Lost,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went_and_anything_else_is_none() {
        let cursor = Cursor { events: 12, trial: 3, seconds: 17 };
        assert_eq!((cursor.text().as_str(), Cursor::of("12.3.17")), ("12.3.17", Some(cursor)));
        for wrong in ["", "1", "1.2", "1.2.3.4", "a.b.c", "1.-2.3", "+1.2.3", "1.2.99999999999", "1..3"] {
            assert_eq!(Cursor::of(wrong), None, "{wrong}");
        }
    }
}
