//! The open target as the jobs of a trial use it. Must not open anything but what it was given, once more.

use crate::layout::Job;
use std::sync::Arc;
use stend_base::{Error, Kind, Result, say};
use stend_spec::workload::{Sync, Trial};
use stend_sys::IoFile;

/// A handle for threads that may outlive the caller's when a target stalls.
pub(crate) fn share(file: &IoFile) -> Result<Arc<IoFile>> {
    let copy = file.try_clone().map_err(|e| {
        Error::new(
            Kind::Preflight,
            say!("cannot duplicate the target's descriptor: {e}", "не удаётся дублировать дескриптор цели: {e}"),
        )
    })?;
    Ok(Arc::new(copy))
}

/// The handles of the load threads.
#[derive(Debug)]
pub(crate) struct Target {
    file: Arc<IoFile>,
    /// The same, open for writes that end when they are durable; there if a stream wants it.
    dsync: Option<Arc<IoFile>>,
}

impl Target {
    /// For a trial on `file`.
    pub fn new(file: &IoFile, trial: &Trial) -> Result<Target> {
        let dsync = match trial.streams.iter().any(|stream| stream.sync == Sync::ODsync) {
            true => Some(Arc::new(file.open_dsync().map_err(|e| {
                Error::new(
                    Kind::Preflight,
                    say!("cannot open the target with O_DSYNC: {e}", "не удаётся открыть цель с O_DSYNC: {e}"),
                )
            })?)),
            false => None,
        };
        Ok(Target { file: share(file)?, dsync })
    }

    /// What a job works on.
    pub fn of(&self, job: &Job) -> &Arc<IoFile> {
        match (&self.dsync, job.spec.sync) {
            (Some(dsync), Sync::ODsync) => dsync,
            _ => &self.file,
        }
    }

    /// What the target is open as, whichever stream works on it.
    pub fn file(&self) -> &Arc<IoFile> {
        &self.file
    }
}
