//! Tells people and other programs of problems in a journal: whom, when, in which words, by which way. What waits is kept in a file, so
//! that it outlives this process. Must not find problems, and never makes its caller wait.
#![forbid(unsafe_code)]

mod changes;
mod forms;
mod item;
mod mail;
mod outbox;
mod policy;
mod program;
mod secret;
mod send;
mod snmp;
mod store;
mod syslog;
mod vendor;
mod words;

pub use changes::{Changes, Standing};
pub use item::{Happening, Item};
pub use outbox::{Outbox, Told};
pub use policy::limits;
pub use program::Program;
pub use send::{post, test};
pub use vendor::{Decided, Decision, Desk, Logged, RECEIVER as VENDOR, Waiting, file_of as file_of_vendor};
