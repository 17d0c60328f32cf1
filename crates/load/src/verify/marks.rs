//! Whose blocks are verified.

/// Whose blocks these are: every sector that a verified trial writes carries both numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// Number of the run, or of its session if it was resumed: a later one has a larger one.
    pub run: u64,
    /// Number of the trial in its run, from 1.
    pub epoch: u32,
}

impl Marks {
    /// The marks of the trial number `trial` (from 0) in a session of a run that made its target ready at
    /// `realtime_ns`, the wall clock. A session that resumes a run has a number of its own: nobody knows whether the
    /// last trial before a crash is in the run file.
    pub fn of_session(realtime_ns: u64, trial: u32) -> Marks {
        Marks { run: realtime_ns, epoch: trial.saturating_add(1) }
    }
}
