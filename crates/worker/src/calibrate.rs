//! The worker's part in measuring ceilings: reads drives and runs the engine against nothing, one reading after the other.
//! Must not judge, and opens nothing for writing that is a drive.

use stend_base::{Bytes, Result};
use stend_load::Control;
use stend_record::calibration::{Calibration, Subject};
use stend_record::{Device, TrialOutcome, ZeroSample};
use stend_spec::calibration::Reading;
use stend_spec::workload::{Region, Trial};
use stend_sys::IoFile;

/// A drive, opened for reading if that is possible.
pub(crate) struct Drive {
    name: String,
    size: Bytes,
    file: Result<IoFile>,
}

/// Opens every drive.
pub(crate) fn open(drives: &[&Device]) -> Vec<Drive> {
    let open =
        |drive: &&Device| Drive { name: drive.name.clone(), size: drive.size, file: stend_stand::open_drive(drive) };
    drives.iter().map(open).collect()
}

/// Reads each drive alone, then all together if they are several. A drive without room for one block is left out.
pub(crate) fn read_drives(drives: Vec<Drive>, seed: u64, control: &Control, tell: &mut dyn FnMut(Calibration)) {
    for drive in &drives {
        for reading in Reading::ALL {
            let Some(asked) = reading.trial(1, drive.size).map(|trial| Trial { seed, ..trial }) else { continue };
            if control.stopped() {
                return;
            }
            let zeros = match reading {
                Reading::Random => drive.file.as_ref().ok().and_then(|file| zeros(file, asked.region, (seed, control))),
                Reading::Sequential => None,
            };
            tell(one(
                Subject::Drives(vec![drive.name.clone()]),
                asked,
                drive.file.as_ref().map_err(Clone::clone),
                control,
                zeros,
            ));
        }
    }
    if drives.len() < 2 {
        return;
    }
    let share = drives.iter().map(|drive| drive.size).min().unwrap_or_default();
    let names: Vec<String> = drives.iter().map(|drive| drive.name.clone()).collect();
    let files: Result<Vec<IoFile>> = drives.into_iter().map(|drive| drive.file).collect();
    let joined = files.and_then(|files| stend_stand::join_drives(files, share));
    for reading in Reading::ALL {
        let Some(asked) = reading.trial(names.len() as u32, share).map(|trial| Trial { seed, ..trial }) else {
            continue;
        };
        if control.stopped() {
            return;
        }
        tell(one(Subject::Drives(names.clone()), asked, joined.as_ref().map_err(Clone::clone), control, None));
    }
}

/// Runs the loads of cases with nothing behind them, on what `open` gives for each.
pub(crate) fn run_engine(
    trials: Vec<Trial>,
    control: &Control,
    open: &mut dyn FnMut(&Trial) -> Result<IoFile>,
    tell: &mut dyn FnMut(Calibration),
) {
    for asked in trials {
        if control.stopped() {
            return;
        }
        let file = open(&asked);
        tell(one(Subject::Engine, asked, file.as_ref().map_err(Clone::clone), control, None));
    }
}

fn one(
    subject: Subject,
    asked: Trial,
    file: std::result::Result<&IoFile, Box<stend_base::Error>>,
    control: &Control,
    zeros: Option<ZeroSample>,
) -> Calibration {
    let run = |file: &IoFile| -> Result<TrialOutcome> { stend_load::run_trial(&asked, file, control, &mut drop) };
    let found = file.and_then(run).map(Box::new).map_err(|error| error.message);
    Calibration { subject, found, asked, zeros }
}

/// What could not be sampled is not known; that the drive fails reads shows in the reading that follows.
fn zeros(file: &IoFile, region: Region, (seed, control): (u64, &Control)) -> Option<ZeroSample> {
    stend_load::sample_zeros(file, region, seed, control).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::{Error, Nanos, Say};
    use stend_record::TrialStatus;
    use stend_spec::workload::{Backend, Mix, Pattern, Stream};

    /// A file in place of a drive; of these nothing was ever written.
    fn drive(name: &str, mib: u64) -> Drive {
        let file = IoFile::create_scratch(&std::env::temp_dir(), mib << 20, false).unwrap();
        Drive { name: name.into(), size: Bytes::mib(mib), file: Ok(file) }
    }

    fn readings(drives: Vec<Drive>) -> Vec<Calibration> {
        let mut found = Vec::new();
        read_drives(drives, 7, &Control::new(), &mut |reading| found.push(reading));
        found
    }

    fn names(found: &[Calibration]) -> Vec<String> {
        let name = |c: &Calibration| match &c.subject {
            Subject::Drives(names) => names.join("+"),
            Subject::Engine => "engine".to_string(),
        };
        found.iter().map(name).collect()
    }

    #[test]
    fn a_drive_that_cannot_be_opened_has_a_reason_and_the_others_are_tried() {
        let gone = || Error::preflight(Say::same("no"));
        let drives = ["a", "b"].map(|name| Drive { name: name.into(), size: Bytes::mib(4), file: Err(gone()) });
        let found = readings(drives.into());
        assert_eq!(names(&found), ["a", "a", "b", "b", "a+b", "a+b"]);
        assert!(found.iter().all(|reading| reading.found == Err(Say::same("no")) && reading.zeros.is_none()));
    }

    #[test]
    fn a_drive_too_small_for_a_block_is_left_out_and_a_stop_ends_it() {
        assert_eq!(readings(vec![drive("tiny", 0)]), []);
        let stopped = Control::new();
        stopped.stop();
        let mut found = Vec::new();
        read_drives(vec![drive("a", 4)], 7, &stopped, &mut |reading| found.push(reading));
        assert_eq!(found, []);
    }

    #[test]
    fn the_engine_runs_against_nothing_as_fast_as_it_can() {
        let stream = Stream { queue_depth: 4, ..Stream::new(Mix::of_reads(100), Pattern::Random, Bytes::kib(4)) };
        let region = Region { start: Bytes(0), len: Bytes::mib(4) };
        let asked =
            Trial { backend: Backend::Null, direct: false, ..Trial::new(vec![stream], Nanos::millis(100), region) };
        let mut found = Vec::new();
        let mut open = |_: &Trial| drive("t", 4).file;
        run_engine(vec![asked.clone()], &Control::new(), &mut open, &mut |reading| found.push(reading));
        let [Calibration { subject: Subject::Engine, found: Ok(outcome), asked: of, .. }] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((of, outcome.status), (&asked, TrialStatus::Complete));
        assert!(outcome.jobs[0].done[0].0 > 0 && outcome.engine.backend == "none", "{outcome:?}");
    }
}
