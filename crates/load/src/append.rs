//! The file of a job that appends: as long as what was written, and emptied when it has its full length. Must not be used
//! while an I/O is in flight.

use crate::layout::Job;
use crate::sequence::Sequence;
use std::io;
use std::sync::Arc;
use stend_spec::workload::Pattern;
use stend_sys::IoFile;

/// See the module.
#[derive(Debug)]
pub(crate) struct Appended {
    file: Arc<IoFile>,
    /// Writes until it has its full length.
    full: u64,
    /// How often it was emptied.
    emptied: u64,
}

impl Appended {
    /// The file of a job, if it appends to one.
    pub fn new(job: &Job, sequence: &Sequence, file: &Arc<IoFile>) -> Option<Appended> {
        (job.spec.pattern == Pattern::Append).then(|| Appended {
            file: file.clone(),
            full: sequence.places(),
            emptied: 0,
        })
    }

    /// Empties the file if write number `index` is the first one that has no room in it. Asked twice it does nothing more.
    #[inline]
    pub fn make_room(&mut self, index: u64) -> io::Result<()> {
        let passes = index / self.full;
        if passes != self.emptied {
            self.file.empty()?;
            self.emptied = passes;
        }
        Ok(())
    }
}
