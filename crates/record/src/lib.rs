//! Everything recorded: what was observed, what was decided, what others claimed. No statistic of ours.
#![forbid(unsafe_code)]

pub mod checkup;
pub mod facts;
pub mod observed;
pub mod published;
pub mod run;
pub mod sample;
#[cfg(feature = "store")]
pub mod store;
pub mod verification;

pub use checkup::{Checkup, CheckupItem, Level};
pub use facts::{Busy, Device, HostFacts, Refusal, Signature, TargetFacts, TargetKind, WriteAccess};
pub use observed::{
    ArmFacts, Censored, Chosen, EngineFacts, Event, EventKind, External, IoErrors, JobTotals, Slice, TrialOutcome,
    TrialStatus, ZeroSample,
};
pub use run::{Entry, RunHeader, RunRecord, RunState, TrialRecord};
pub use sample::Sample;
pub use verification::{Defect, Verification};
