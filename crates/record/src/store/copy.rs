//! Writes a record into a new run file. Must not read what it copies.

use super::io_log::IoLogs;
use super::owner::Owner;
use super::recorder::Recorder;
use crate::event::Event;
use crate::hosts::HostId;
use crate::run::{Entry, RunRecord, RunState};
use crate::sources;
use crate::trial::TrialRecord;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};

/// Slices of one entry; an entry is limited, and a trial may be long.
const SLICES: usize = 1000;

/// A new run file with everything in the record, and with the logs of its I/Os. It gets its name when it is whole.
///
/// Errors are of kind `RunFile`: the file exists (it is never replaced) or cannot be written, or the run has no end.
pub fn copy(record: &RunRecord, logs: &mut IoLogs, to: &Path) -> Result<PathBuf> {
    if record.state == RunState::Open {
        return Err(Error::run_file(say!(
            "a run without an end cannot be copied",
            "прогон без конца нельзя скопировать"
        ))
        .hint(say!(
            "wait until it ends; if it was killed, finish it with `stend run --resume`",
            "дождитесь его конца; прерванный прогон завершите командой `stend run --resume`"
        )));
    }
    let mut recorder = Recorder::create_whole(to, &record.header, Owner::behind_sudo())?;
    record.plan.iter().for_each(|plan| recorder.record(Entry::Plan(plan.clone())));
    for (host, of) in (0..).map(HostId).zip(record.hosts()) {
        recorder.record(Entry::Host { host, info: Box::new(of.info.clone()) });
        of.fill.iter().for_each(|fill| recorder.record(Entry::Fill { host, outcome: *fill }));
        of.zeros.iter().for_each(|zeros| recorder.record(Entry::Zeros { host, zeros: *zeros }));
        of.samples.iter().for_each(|sample| recorder.record(Entry::Sample { host, sample: Box::new(sample.clone()) }));
    }
    for (seq, decision) in (0..).zip(&record.decisions) {
        recorder.record(Entry::Decision { seq, decision: *decision });
    }
    let both = [(false, &record.trials), (true, &record.rounds)];
    let mut trials: Vec<(bool, &TrialRecord)> =
        both.into_iter().flat_map(|(round, trials)| trials.iter().map(move |trial| (round, trial))).collect();
    trials.sort_by_key(|(_, of)| of.trial);
    for (round, of) in trials {
        let trial = of.trial;
        let asked = Box::new(of.asked.clone());
        recorder.record(Entry::TrialStart { trial, case: of.case, block: of.block, round, asked, at: of.started });
        logs.each::<Box<Error>>(trial, |host, chunk| {
            recorder.record(Entry::IoLog { host, trial, chunk: chunk.clone() });
            Ok(())
        })?;
        for (host, slices, outcome) in of.by_host() {
            for slices in slices.chunks(SLICES) {
                recorder.record(Entry::Slices { host, trial, slices: slices.to_vec() });
            }
            if let Some(outcome) = outcome {
                recorder.record(Entry::TrialEnd { host, trial, outcome: Box::new(outcome.clone()) });
            }
        }
    }
    record.events.iter().for_each(|event| recorder.record(Entry::Event(event.clone())));
    let of_sources = record.sources.iter().flat_map(sources::events);
    of_sources.for_each(|(at, kind)| recorder.record(Entry::Event(Event::new(at, kind))));
    recorder.close(Some(record.state.clone()))
}
