//! System calls, wrapped so that the rest of the tool needs no `unsafe`: io_uring, direct I/O, block
//! device ioctls and signatures, affinity, clocks, process set-up, and the [`claim::Claim`] without
//! which nothing can be opened for writing. Must not decide anything: callers do.

pub mod access;
pub mod affinity;
pub mod aio;
pub mod block;
pub mod buffer;
pub mod claim;
pub mod clock;
pub mod counting;
pub mod file;
pub mod interrupts;
pub mod local_socket;
pub mod mapped;
pub mod null;
pub mod numa;
pub mod nvme;
pub mod obstacle;
pub mod opened;
mod ownership;
pub mod passthrough;
pub mod plain;
pub mod process;
pub mod queue;
pub mod regular;
pub mod seccomp;
pub mod signature;
pub mod ticker;
pub mod tree;
pub mod uring;

pub use claim::Claim;
pub use file::IoFile;
pub use obstacle::Obstacle;
