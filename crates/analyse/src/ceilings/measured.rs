//! Ceilings from what was measured before the first case, and whether one can be held against a case. Must not decide what
//! bounds a rate.

use super::work::SMALLEST;
use crate::findings::CeilingDoubt;
use crate::limits::{NEVER_WRITTEN, THREAD_BUSY};
use crate::trials::CaseTrials;
use stend_base::{Nanos, Say, Share, say};
use stend_record::calibration::{Calibration, Subject};
use stend_record::targets::calibrated;
use stend_record::{Device, RunRecord, TrialOutcome, TrialStatus};
use stend_spec::calibration::{Reading, engine_trial};
use stend_spec::workload::{Op, Pattern, Trial};

/// Reads of drives as fast as they were seen to go.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfDrives {
    /// Kernel names.
    pub names: Vec<String>,
    /// I/Os per second of a random reading, bytes per second of a sequential one.
    pub per_second: f64,
    /// The drives were read at the same time; else it is the sum of what each did alone.
    pub together: bool,
    /// Why it may be too high.
    pub doubt: Option<CeilingDoubt>,
    /// I/Os in flight on all of them.
    in_flight: u64,
    /// Bytes in flight.
    bytes_in_flight: u64,
}

/// Whether anything was calibrated.
pub(crate) fn is_calibrated(run: &RunRecord) -> bool {
    run.calibrations().next().is_some()
}

/// What the drives under the targets give, by all of them together where that was seen.
pub(crate) fn of_drives(run: &RunRecord, reading: Reading) -> Result<OfDrives, Say> {
    let names: Vec<String> = calibrated(&run.load().targets).iter().map(|drive| drive.name.clone()).collect();
    if names.is_empty() {
        return Err(say!(
            "no block device below the target is visible",
            "под объектом не видно ни одного блочного устройства"
        ));
    }
    let alone =
        names.iter().map(|name| found(run, reading, std::slice::from_ref(name))).collect::<Result<Vec<_>, Say>>()?;
    let doubt = alone.iter().filter_map(|seen| never_written(seen.0)).max_by(|a, b| a.0.total_cmp(&b.0));
    let doubt = doubt.map(|share| CeilingDoubt::NeverWritten { share });
    let all = if names.len() > 1 { Some(found(run, reading, &names)?) } else { None };
    let together = all.is_some();
    let used = all.map_or(alone, |all| vec![all]);
    if used.iter().any(|(_, outcome)| is_thread_bound(outcome)) {
        return Err(say!(
            "while the drives were read, a load thread was busy all the time: this is its limit, not theirs",
            "пока читались накопители, поток нагрузки был занят всё время: это его предел, а не их"
        ));
    }
    let sum = |of: fn(&Trial) -> u64| used.iter().map(|(reading, _)| of(&reading.asked)).sum();
    Ok(OfDrives {
        per_second: used.iter().map(|(_, outcome)| per_second(outcome, reading)).sum(),
        in_flight: sum(Trial::in_flight),
        bytes_in_flight: sum(bytes_in_flight),
        names,
        together,
        doubt,
    })
}

/// The last reading of these drives, if it is whole.
fn found<'a>(
    run: &'a RunRecord,
    reading: Reading,
    names: &[String],
) -> Result<(&'a Calibration, &'a TrialOutcome), Say> {
    let subject = Subject::Drives(names.to_vec());
    let of = |c: &&Calibration| c.subject == subject && read_as(&c.asked) == Some(reading);
    let all = names.join(", ");
    let Some(calibration) = run.calibrations().filter(of).last() else {
        return Err(say!("{all} was not read", "чтение {all} не измерено"));
    };
    let outcome = calibration.found.as_ref().map_err(Clone::clone)?;
    if outcome.status != TrialStatus::Complete || outcome.window_end <= outcome.window_start {
        return Err(say!("the reading of {all} did not finish", "чтение {all} измерено не до конца"));
    }
    Ok((calibration, outcome))
}

fn read_as(asked: &Trial) -> Option<Reading> {
    match asked.streams.first()?.pattern {
        Pattern::Random => Some(Reading::Random),
        Pattern::Sequential => Some(Reading::Sequential),
        _ => None,
    }
}

fn never_written(calibration: &Calibration) -> Option<Share> {
    let zeros = calibration.zeros.filter(|zeros| zeros.sampled > 0)?;
    let share = f64::from(zeros.zero) / f64::from(zeros.sampled);
    (share > NEVER_WRITTEN).then_some(Share(share))
}

fn window(outcome: &TrialOutcome) -> Nanos {
    outcome.window_end.saturating_sub(outcome.window_start)
}

fn per_second(outcome: &TrialOutcome, reading: Reading) -> f64 {
    let done = outcome.jobs.iter().map(|job| job.done[Op::Read.index()]);
    let all: u64 = done.map(|(ops, bytes)| if reading == Reading::Random { ops } else { bytes }).sum();
    all as f64 / window(outcome).as_secs()
}

fn is_thread_bound(outcome: &TrialOutcome) -> bool {
    let busiest = outcome.jobs.iter().filter_map(|job| job.cpu_max_ns).max().unwrap_or(0);
    busiest as f64 >= THREAD_BUSY * window(outcome).0 as f64
}

fn bytes_in_flight(trial: &Trial) -> u64 {
    trial.streams.iter().fold(0u64, |sum, s| {
        sum.saturating_add(s.block_size.0.saturating_mul(u64::from(s.queue_depth) * u64::from(s.jobs)))
    })
}

impl OfDrives {
    /// Why the ceiling does not bound a case each I/O of which keeps `spread` drives busy at the same time; `None`: it does.
    pub fn why_not(&self, run: &RunRecord, reading: Reading, case: &CaseTrials<'_>, spread: f64) -> Option<Say> {
        let spinning = |name: &String| {
            let spins =
                |d: &&Device| (d.kind == "disk" || d.joins_paths()) && d.rotational == Some(true) && !d.is_virtual;
            calibrated(&run.load().targets).into_iter().filter(spins).any(|d| d.name == *name)
        };
        match reading {
            Reading::Random if self.names.iter().any(spinning) => Some(say!(
                "on a rotating disk a small range is faster than the whole disk, which was read",
                "на вращающемся диске небольшая область быстрее целого диска, который читался"
            )),
            Reading::Random if spread * case.asked.in_flight() as f64 > self.in_flight as f64 => {
                let (asked, had) = ((spread * case.asked.in_flight() as f64).ceil(), self.in_flight);
                Some(say!(
                    "the case has {asked} I/Os in flight, the reading had {had}",
                    "в случае в очереди {asked} операций, при чтении накопителей было {had}"
                ))
            }
            Reading::Sequential if spread * bytes_in_flight(case.asked) as f64 > self.bytes_in_flight as f64 => {
                Some(say!(
                    "the case has more bytes in flight than the reading had",
                    "в случае в очереди больше байт, чем было при чтении накопителей"
                ))
            }
            Reading::Random | Reading::Sequential => None,
        }
    }
}

/// Whether a reading of 4 KiB at random can bound the I/Os of a case: neighbours in order are merged and read ahead.
pub(crate) fn is_random(case: &CaseTrials<'_>) -> bool {
    case.asked.streams.iter().all(|s| s.pattern.is_scattered() && s.block_size_min() >= SMALLEST)
}

/// What the engine does with the load of a case and nothing behind it: (I/Os, bytes) per second.
pub(crate) fn of_engine(run: &RunRecord, case: &CaseTrials<'_>) -> Result<(f64, f64), Say> {
    let Some(asked) = engine_trial(case.asked) else {
        return Err(say!("a case like this does not run without a target", "такой случай без объекта не выполняется"));
    };
    let of = |c: &&Calibration| c.subject == Subject::Engine && c.asked == asked;
    let Some(calibration) = run.calibrations().filter(of).last() else {
        return Err(say!("it was not measured for this load", "для этой нагрузки он не измерялся"));
    };
    let outcome = calibration.found.as_ref().map_err(Clone::clone)?;
    let seconds = window(outcome).as_secs();
    if outcome.status != TrialStatus::Complete || seconds <= 0.0 {
        return Err(say!("its measurement did not finish", "он измерен не до конца"));
    }
    let done = || outcome.jobs.iter().flat_map(|job| Op::IO.map(|op| job.done[op.index()]));
    let sum = |of: fn((u64, u64)) -> u64| done().map(of).sum::<u64>() as f64 / seconds;
    Ok((sum(|d| d.0), sum(|d| d.1)))
}
