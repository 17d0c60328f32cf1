//! Targets that are ready for I/O, and all that is kept for them until they are released. Must not decide what is done on them.

use crate::ledgers::Ledgers;
use crate::outbox::Outbox;
use crate::replay::Replay;
use crate::stand_orders::Stands;
use crate::telemetry::Telemetry;
use stend_base::own_data::BLOCK;
use stend_base::{Bytes, Error, Kind, Result, say};
use stend_load::{Applications, Control, Programs};
use stend_record::{TargetFacts, TrialOutcome};
use stend_spec::app::App;
use stend_spec::workload::{Engine, Stream, Trial};
use stend_stand::{DriveNote, Need, Owner, PreparedAll, Used};
use stend_sys::IoFile;
use stend_wire::Permission;
use stend_wire::protocol::{Prepare, Reply};

/// Targets that are ready for I/O.
pub(crate) struct Ready {
    prepared: PreparedAll,
    /// What tells other runs of the drives.
    beside: DriveNote,
    pub telemetry: Telemetry,
    /// Wall clock when it was made ready, ns.
    pub since_ns: u64,
    /// Ways in which it could be opened: (writable, direct).
    opened: Vec<(bool, bool)>,
    /// Whose it is.
    pub owner: Owner,
    /// What is kept for the judgement of a crash.
    pub ledgers: Ledgers,
    /// What is kept for the replay of the log of the stand, if it keeps one.
    pub replay: Option<Replay>,
    /// Data were written that do not say whose they are.
    pub opaque: bool,
    /// Instances of applications; none before the first trial of one.
    applications: Option<Applications>,
}

/// Whether what this trial writes may leave blocks that do not say whose they are. Those of another program never do; and a write of
/// less than a block may take away the one stamp of a block of compressible data that an earlier trial or run left there.
pub fn leaves_unknown_blocks(trial: &Trial) -> bool {
    let whole = |bytes: Bytes| bytes.0.is_multiple_of(BLOCK as u64);
    let parts = |stream: &Stream| stream.mix.writes() && (stream.replay.is_some() || !whole(stream.block_size_min()));
    match trial.engine {
        Engine::Native => trial.streams.iter().any(parts),
        Engine::Fio | Engine::Other => trial.writes(),
    }
}

impl Ready {
    /// Makes them ready.
    pub fn make(
        (targets, permission): (&[TargetFacts], &Permission),
        stands: &Stands,
        prepare: &Prepare,
        outbox: &Outbox,
    ) -> Result<Ready> {
        let mut log = |kind| outbox.event(kind);
        let replay = Replay::of(stands, targets, prepare, owner(prepare))?;
        let mut ledgers = Ledgers::new(prepare);
        // The session that went on has judged what an earlier one left.
        ledgers.close()?;
        let owner = owner(prepare);
        let beside = DriveNote::leave(targets, &owner, permission, &mut log)?;
        let used = Used { share: prepare.share, begin: prepare.begin };
        let prepared = stend_stand::prepare_all(targets, permission, &need(prepare), used, &mut log)?;
        let telemetry = Telemetry::start(targets, prepare.coordinator, prepare.sample_every, outbox)?;
        let (.., since_ns) = stend_sys::clock::stamps();
        let opened = Vec::new();
        Ok(Ready {
            prepared,
            beside,
            telemetry,
            since_ns,
            owner,
            opened,
            ledgers,
            replay,
            opaque: false,
            applications: None,
        })
    }

    /// Tells of runs that have begun to load the same drives.
    pub fn tell_beside(&mut self, outbox: &Outbox) {
        self.beside.tell(&mut |kind| outbox.event(kind));
    }

    /// Opens the targets. One that could be opened before and cannot now has failed: its file system turned
    /// read-only, or its device is gone.
    pub fn open(&mut self, writable: bool, direct: bool) -> Result<IoFile> {
        let before = self.opened.contains(&(writable, direct));
        let file = self.prepared.open(writable, direct).map_err(|error| {
            if before && error.kind == Kind::Preflight { error.instead(Kind::TargetIo) } else { error }
        })?;
        if !before {
            self.opened.push((writable, direct));
        }
        Ok(file)
    }

    /// Something without a ledger is about to write: what a log of writes holds from here on is not judged by the ledgers so far.
    pub fn close_log(&self) -> Result<()> {
        self.replay.as_ref().map_or(Ok(()), Replay::close)
    }

    /// The range is about to be filled: no ledger is true any more.
    pub fn close_ledgers(&mut self) -> Result<()> {
        self.close_log()?;
        self.ledgers.close()
    }

    /// Runs a trial whose load is an application.
    pub fn application(
        &mut self,
        trial: &Trial,
        app: &App,
        control: &Control,
        outbox: &Outbox,
    ) -> Result<TrialOutcome> {
        let mut note = |kind| outbox.event(kind);
        if self.applications.is_none() {
            let others = Programs::find(app.program)?.user().is_some();
            self.applications = Some(Applications::new(self.prepared.make_app_directory(others, &mut note)?));
        }
        let Some(applications) = &mut self.applications else { return Err(out_of_order("an application")) };
        self.telemetry.mark();
        let outcome = applications.run(trial, app, control, &mut note)?;
        self.telemetry.mark();
        Ok(outcome)
    }

    /// Undoes what was made for them. A log of writes that the stand kept is replayed first; what a crash left behind stays for a judge.
    pub fn release(mut self, control: &Control, outbox: &Outbox) {
        self.tell_beside(outbox);
        let Ready { prepared, telemetry, mut ledgers, replay, applications, opened, opaque, .. } = self;
        drop((telemetry, applications));
        let mut log = |kind| outbox.event(kind);
        let recorded = replay.as_ref().map(Replay::take).unwrap_or_default();
        if let Some(replay) = replay.filter(|_| !recorded.is_empty() && !ledgers.is_suspect() && !control.stopped()) {
            // Nothing of the stand stays, so nothing in it has to be removed.
            prepared.let_go(&mut log);
            if let Err(error) = replay.examine(&recorded, control, outbox) {
                outbox.send(Reply::Failed(error));
            }
            return;
        }
        if ledgers.is_suspect() {
            return prepared.leave(&mut log);
        }
        if opened.iter().any(|(writable, _)| *writable) {
            prepared.leave_marks(opaque, &mut log);
        }
        let closed = ledgers.close();
        for error in [closed, prepared.undo(&mut log)].into_iter().filter_map(Result::err) {
            outbox.send(Reply::Failed(error));
        }
    }
}

fn owner(prepare: &Prepare) -> Owner {
    let (run_id, run_file, ledger) = (prepare.run.clone(), prepare.run_file.clone(), prepare.ledger.clone());
    Owner { run_id, run_file, ledger }
}

/// What a plan needs of the targets.
pub(crate) fn need(prepare: &Prepare) -> Need {
    let owner = owner(prepare);
    match prepare.files.is_empty() {
        false => Need::TestFiles { sizes: prepare.files.clone(), owner },
        true if prepare.write => Need::WriteDevice(owner),
        true => Need::Read,
    }
}

/// What was asked before what it needs was made: an error of the coordinator.
pub(crate) fn out_of_order(what: &str) -> Box<Error> {
    Error::bug(say!("{what} was asked before the target was ready", "{what}: объект ещё не подготовлен"))
}
