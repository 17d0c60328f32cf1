//! The open target as the jobs of a trial use it. Must not open anything but what it was given, once more.

use crate::layout::Job;
use std::collections::HashMap;
use std::sync::Arc;
use stend_base::{Error, Result, say};
use stend_spec::workload::{Pattern, Sync, Trial};
use stend_sys::IoFile;

/// A handle for threads that may outlive the caller's when a target stalls.
pub(crate) fn share(file: &IoFile) -> Result<Arc<IoFile>> {
    let copy = file.try_clone().map_err(|e| {
        Error::preflight(say!(
            "cannot duplicate the target's descriptor: {e}",
            "не удаётся дублировать дескриптор объекта: {e}"
        ))
    })?;
    Ok(Arc::new(copy))
}

/// The handles of the load threads.
#[derive(Debug)]
pub(crate) struct Target {
    file: Arc<IoFile>,
    /// The same, open for writes that end when they are durable; there if a stream wants it.
    dsync: Option<Arc<IoFile>>,
    /// Files of jobs that append, by stream and job.
    own: HashMap<(u16, u32), Arc<IoFile>>,
}

impl Target {
    /// For the `jobs` of a trial on `file`.
    pub fn new(file: &IoFile, trial: &Trial, jobs: &[Job]) -> Result<Target> {
        let dsync = match trial.streams.iter().any(|stream| stream.sync == Sync::ODsync) {
            true => Some(Arc::new(file.open_dsync().map_err(|e| {
                Error::preflight(say!(
                    "cannot open the target with O_DSYNC: {e}",
                    "не удаётся открыть объект с O_DSYNC: {e}"
                ))
            })?)),
            false => None,
        };
        let appending = jobs.iter().filter(|job| job.spec.pattern == Pattern::Append);
        let own = appending.map(|job| Ok(((job.stream, job.job), Arc::new(own_file(file, job)?))));
        Ok(Target { file: share(file)?, dsync, own: own.collect::<Result<_>>()? })
    }

    /// What a job works on.
    pub fn of(&self, job: &Job) -> &Arc<IoFile> {
        if let Some(own) = self.own.get(&(job.stream, job.job)) {
            return own;
        }
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

/// A new, empty file for a job that appends, where its share of the target is.
pub(crate) fn own_file(file: &IoFile, job: &Job) -> Result<IoFile> {
    let made = file.create_beside(job.area.start);
    let opened = made.and_then(|own| if job.spec.sync == Sync::ODsync { own.open_dsync() } else { Ok(own) });
    opened.map_err(|e| {
        let message = say!(
            "cannot make a file without a name (O_TMPFILE) beside the test file, for a job to append to: {e}",
            "не удаётся создать рядом с тестовым файлом безымянный файл (O_TMPFILE), в который дописывает задание: {e}"
        );
        Error::preflight(message).hint(say!(
            "name a directory on a file system that supports this (ext4, XFS, Btrfs, tmpfs, ZFS; not NFS)",
            "укажите каталог на файловой системе, которая это умеет (ext4, XFS, Btrfs, tmpfs, ZFS; не NFS)"
        ))
    })
}
