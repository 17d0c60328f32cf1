//! Everything recorded: what was observed, what was decided, what others claimed. No statistic of ours.
#![forbid(unsafe_code)]

pub mod app;
pub mod calibration;
pub mod checkup;
pub mod crash;
mod engine;
pub mod event;
pub mod facts;
mod fault;
pub mod fio_bins;
pub mod hosts;
pub mod imported;
pub mod inventory;
pub mod io_log;
pub mod mirrors;
pub mod nfs;
pub mod observed;
mod of_host;
pub mod parts;
mod phase;
pub mod probes;
pub mod published;
mod recording;
pub mod redact;
mod refusal;
pub mod run;
pub mod sample;
mod sessions;
mod source;
mod sources;
mod stand_answers;
#[cfg(feature = "store")]
pub mod store;
pub mod targets;
mod together;
mod trial;
pub mod verification;
mod wall_clock;

pub use calibration::{Calibration, Subject};
pub use checkup::{Checkup, CheckupItem, Level};
pub use crash::{Aftermath, Crash, Replayed};
pub use event::{ArmFacts, Event, EventKind, KeptProblem};
pub use facts::{
    Busy, Device, HostFacts, OwnMark, STAND_PATHS, Sampled, Signature, TargetFacts, TargetKind, UNKNOWN_DATA,
    WriteAccess, joins_paths,
};
pub use fault::{Back, FaultMoment};
pub use hosts::{HYPERVISOR, HostId, HostInfo, HostRecord, Role, are_of_one_run, run_on_host};
pub use imported::{Imported, SourceFile, ToolNumber, ToolOp, ToolOutput};
pub use inventory::{FabricPath, Health, Inventory, InventoryDevice};
pub use io_log::{IoChunk, IoLogTotals};
pub use observed::{
    BufferPages, Censored, Chosen, Contents, EngineFacts, External, IoErrors, JobTotals, Slice, TrialOutcome,
    TrialStatus, ZeroSample,
};
pub use parts::Parts;
pub use probes::{Probes, Silence};
pub use recording::{Recording, Retention, Tier};
pub use refusal::Refusal;
pub use run::{Entry, GateText, RunHeader, RunRecord, RunState, StandText};
pub use sample::Sample;
pub use source::{SourceAnswer, SourceInfo, SourceReading, SourceRecord, SourceValueInfo, SourceWay};
pub use stand_answers::{DryRun, LayerStatus, PlannedDrive, PlannedStep, StandPlan, StandStatus, StandTargets};
pub use together::together;
pub use trial::{TrialPart, TrialRecord};
pub use verification::{Defect, Verification};
pub use wall_clock::WallClock;
