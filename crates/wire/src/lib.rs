//! What a coordinator and a worker say to each other, and how a worker is reached: two byte streams and nothing else. No engine is behind
//! it: who holds the streams compiles none.
#![forbid(unsafe_code)]

mod comparer;
mod cut;
mod drift;
pub mod link;
mod look;
pub mod protocol;
mod remote;
mod stand;

pub use comparer::Comparer;
pub use drift::{Clock, drifted};
pub use link::{FromHost, Host, SILENCE, StartedWorker, WorkerCommand};
pub use look::{Look, Seen};
pub use protocol::{Facts, Inspect, Judge, Prepare, Reply, Request, SwitchTo, UpcomingTrial, Watch};
pub use remote::{Remote, StartBy, ssh_words};
pub use stand::{StandAnswer, StandFile, StandOrder, StandOwner};
pub use stend_record::DryRun;
pub use stend_spec::permission::Permission;
pub use stend_sys::clock::{now, stamps};
