//! The worker's part in judging crashes: when a ledger is opened and closed, and what a crash left behind. Must not judge.

use crate::outbox::Outbox;
use std::path::Path;
use stend_base::{Kind, Nanos, Result, say};
use stend_load::{Control, LedgerPlace, Reading};
use stend_record::observed::TrialStatus;
use stend_record::{Aftermath, TargetFacts, TrialOutcome};
use stend_spec::workload::Trial;
use stend_stand::Left;
use stend_wire::DryRun;
use stend_wire::protocol::{Judge, Prepare, Reply};

/// How often progress is reported.
const REPORT: Nanos = Nanos::millis(200);

/// The ledger of a run, as long as its target is ready.
pub(crate) struct Ledgers {
    /// (path, run id); `None`: nothing of the run is to be judged after a crash.
    place: Option<(String, String)>,
    /// The target failed while the ledger was open, and has still to be judged.
    suspect: bool,
}

impl Ledgers {
    /// As asked.
    pub fn new(prepare: &Prepare) -> Ledgers {
        Ledgers { place: prepare.ledger.clone().map(|path| (path, prepare.run.clone())), suspect: false }
    }

    /// Where the ledger goes.
    pub fn place(&self) -> Option<LedgerPlace<'_>> {
        self.place.as_ref().map(|(path, run)| LedgerPlace { path: Path::new(path), run })
    }

    /// What the ledger says is not true any more, or nobody has to know it: takes it away.
    pub fn close(&mut self) -> Result<()> {
        self.suspect = false;
        self.place().map_or(Ok(()), stend_load::remove_ledger)
    }

    /// A trial is about to begin. One without a ledger of its own that writes makes an earlier one untrue.
    pub fn open(&mut self, trial: &Trial) -> Result<()> {
        if !trial.writes() {
            return Ok(());
        }
        self.suspect = false;
        if is_kept(trial) { Ok(()) } else { self.close() }
    }

    /// A trial has ended.
    pub fn ended(&mut self, trial: &Trial, ran: &Result<TrialOutcome>) {
        let failed = match ran {
            Ok(outcome) => {
                matches!(outcome.status, TrialStatus::Failed | TrialStatus::Stalled) || !outcome.errors.is_empty()
            }
            // Others are of a trial that did not begin, or whose ledger itself is damaged.
            Err(error) => matches!(error.kind, Kind::TargetIo | Kind::Bug),
        };
        // A log of writes has its ledgers in memory, and is judged whatever has failed.
        self.suspect |= self.place.is_some() && is_kept(trial) && failed;
    }

    /// Whether target and ledger are to be left as they are, for a session that judges them.
    pub fn is_suspect(&self) -> bool {
        self.suspect
    }
}

/// Whether a crash of the trial is to be judged.
pub(crate) fn is_kept(trial: &Trial) -> bool {
    trial.streams.iter().any(|stream| stream.verify.is_some_and(|verify| verify.crash))
}

/// The steps of a dry run with that of the ledger.
pub(crate) fn rehearsed(mut rehearsal: DryRun, ledger: Option<&str>) -> DryRun {
    if let Some(path) = ledger {
        rehearsal.steps.push(say!(
            "keep the ledger {path} while a trial goes on whose crash is to be judged",
            "вести журнал записей {path}, пока идёт испытание, сбой в котором будет проверен"
        ));
        rehearsal.undo.insert(0, say!("remove {path}", "удалить {path}"));
    }
    rehearsal
}

/// Compares the target with the ledger that a crash left behind; `None`: there is none.
pub(crate) fn judge(
    judge: &Judge,
    target: &TargetFacts,
    control: &Control,
    outbox: &Outbox,
) -> Result<Option<Aftermath>> {
    let path = Path::new(&judge.ledger);
    let Some(pending) = stend_load::pending(path, &judge.run)? else {
        // A worker that came to its end has taken it away, with everything else that it had made.
        let lost = judge.kept && stend_stand::was_left(target, &judge.run, &judge.files);
        let reason = say!(
            "the ledger is not there: it was lost or removed, or not copied with the run file",
            "журнала нет на месте: он утрачен, удалён или не скопирован вместе с файлом прогона"
        );
        return Ok(lost.then_some(Aftermath::Unknown { reason }));
    };
    let left = stend_stand::open_left(target, &judge.run, &judge.files, pending.is_direct())?;
    let file = match &left {
        Left::File(file) => Some(file),
        // The marker of the directory is there, and the file that was made durable before the first write is not.
        Left::Emptied => None,
        Left::Gone | Left::Foreign => {
            let reason = say!(
                "the test file of the run is gone: if nobody removed it, everything that was acknowledged is lost",
                "тестового файла прогона больше нет: если его никто не удалял, потеряно всё подтверждённое"
            );
            return Ok(Some(Aftermath::Unknown { reason }));
        }
    };
    let mut last = Nanos(0);
    let mut reading = Reading {
        read: &mut |memory, offset| file.map_or(Ok(0), |file| file.read_at(memory, offset)),
        grain: file.and_then(|file| file.grain()),
        go_on: &mut |done| {
            let now = stend_sys::clock::now();
            if now.saturating_sub(last) >= REPORT {
                last = now;
                outbox.send(Reply::Judging { done });
            }
            !control.stopped()
        },
    };
    Ok(Some(Aftermath::Judged(Box::new(pending.judge(path, &mut reading)?))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::{Bytes, Error, Say};
    use stend_record::observed::IoErrors;
    use stend_spec::workload::{Mix, Op, Pattern, Region, Stream, Verify};

    fn trial(op: Op, crash: bool) -> Trial {
        let verify = crash.then_some(Verify { after: false, crash });
        let stream = Stream { verify, ..Stream::new(Mix::only(op), Pattern::Random, Bytes::kib(4)) };
        Trial::new(vec![stream], Nanos::millis(1), Region { start: Bytes(0), len: Bytes::mib(1) })
    }

    fn outcome(status: TrialStatus, failed: u64) -> Result<TrialOutcome> {
        let error = IoErrors { stream: 0, op: Op::Write, errno: 5, count: failed, first_offset: None };
        Ok(TrialOutcome {
            status,
            errors: (failed > 0).then_some(error).into_iter().collect(),
            ..TrialOutcome::empty(Nanos(0), (Nanos(0), Nanos(1)))
        })
    }

    #[test]
    fn a_target_that_failed_under_a_ledger_is_left_to_be_judged_until_something_else_is_written() {
        // No trial of this test is run, so there is never such a file.
        let path = std::env::temp_dir().join(format!("stend-no-ledger-{}", std::process::id()));
        let place = (path.to_string_lossy().into_owned(), "R-1".to_string());
        let mut ledgers = Ledgers { place: Some(place), suspect: false };
        let kept = trial(Op::Write, true);
        for (status, failed, suspect) in [
            (TrialStatus::Complete, 0, false),
            (TrialStatus::Interrupted, 0, false),
            (TrialStatus::Mismatch, 0, false),
            (TrialStatus::Complete, 1, true),
            (TrialStatus::Failed, 9, true),
            (TrialStatus::Stalled, 0, true),
        ] {
            ledgers.open(&kept).unwrap();
            ledgers.ended(&kept, &outcome(status, failed));
            ledgers.open(&trial(Op::Read, false)).unwrap();
            assert_eq!(ledgers.is_suspect(), suspect, "{status:?} {failed}; reading changes nothing");
            ledgers.open(&trial(Op::Write, false)).unwrap();
            ledgers.ended(&trial(Op::Write, false), &outcome(TrialStatus::Failed, 9));
            assert!(!ledgers.is_suspect(), "what a trial without a ledger did nobody can judge");
        }
        let why = || Say::same("no");
        for (error, suspect) in [
            (Error::target_io(why()), true),
            (Error::bug(why()), true),
            (Error::interrupted(why()), false),
            (Error::preflight(why()), false),
            (Error::run_file(why()), false),
        ] {
            let kind = error.kind;
            ledgers.open(&kept).unwrap();
            ledgers.ended(&kept, &Err(error));
            assert_eq!(ledgers.is_suspect(), suspect, "{kind:?}");
        }
        let mut in_memory = Ledgers { place: None, suspect: false };
        in_memory.ended(&kept, &outcome(TrialStatus::Failed, 9));
        assert!(!in_memory.is_suspect(), "there is no file by which a later session could judge");
    }
}
