//! NFS of a host, as a client of others and as a server: counters since a share was mounted, or the server's module was loaded. Data only.

use serde::{Deserialize, Serialize};

/// NFS of a host at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Nfs {
    /// Shares of others that are mounted here, at most 64. One that is mounted at several places is here once, by the first of them.
    pub mounts: Vec<NfsMount>,
    /// The server of this host's kernel; `None` where it does not run.
    pub server: Option<NfsServer>,
}

/// A share that is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NfsMount {
    /// Where it is mounted.
    pub at: String,
    /// What is mounted: `filer:/vol`.
    pub export: String,
    /// Version of the protocol: `3`, `4.2`.
    pub version: String,
    /// Bytes that reads got from the server.
    pub read_bytes: u64,
    /// Bytes that writes sent to it.
    pub write_bytes: u64,
    /// Requests to read.
    pub reads: NfsRequests,
    /// Requests to write.
    pub writes: NfsRequests,
    /// All other requests.
    pub others: NfsRequests,
    /// Requests that were handed to the connections of this share.
    pub sent: u64,
    /// Answers that came back on them.
    pub answered: u64,
}

/// Requests of a kind that are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NfsRequests {
    /// How many there were.
    pub done: u64,
    /// How often one was sent; more than there were: some were sent again.
    pub sent: u64,
    /// How often one had no answer in time.
    pub timeouts: u64,
    /// Time of all of them from request to answer, waiting in the queue of the client included, ns.
    pub time_ns: u64,
}

/// The server of this host's kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NfsServer {
    /// Requests of clients.
    pub requests: u64,
    /// Requests that were refused: malformed, or by a client that may not.
    pub bad: u64,
    /// Bytes that clients read.
    pub read_bytes: u64,
    /// Bytes that clients wrote.
    pub write_bytes: u64,
    /// Threads that answer.
    pub threads: Option<u32>,
}
