//! NFS for Prometheus: shares that are mounted, and the server. Must not judge.

use super::page::{Family, Page, seconds};
use stend_record::nfs::{Nfs, NfsMount, NfsRequests, NfsServer};

/// A number of requests of a kind.
type OfRequests = fn(&NfsRequests) -> f64;

const REQUESTS: [(Family, OfRequests); 4] = [
    (("stend_nfs_mount_requests_total", "counter", "Requests to a server of NFS that are over."), |r| r.done as f64),
    (
        ("stend_nfs_mount_requests_sent_total", "counter", "How often they were sent; more: some were sent again."),
        |r| r.sent as f64,
    ),
    (("stend_nfs_mount_timeouts_total", "counter", "How often one had no answer in time."), |r| r.timeouts as f64),
    (
        ("stend_nfs_mount_request_seconds_total", "counter", "Time of all of them, waiting in the client included."),
        |r| seconds(r.time_ns),
    ),
];

/// A number of a share.
type OfMount = fn(&NfsMount) -> u64;

const MOUNTS: [(Family, OfMount); 4] = [
    (("stend_nfs_mount_read_bytes_total", "counter", "Bytes read from a server of NFS."), |m| m.read_bytes),
    (("stend_nfs_mount_written_bytes_total", "counter", "Bytes written to a server of NFS."), |m| m.write_bytes),
    (("stend_nfs_mount_connection_sent_total", "counter", "Requests that were handed to connections."), |m| m.sent),
    (("stend_nfs_mount_connection_answered_total", "counter", "Answers that came back on them."), |m| m.answered),
];

/// A number of the server.
type OfServer = fn(&NfsServer) -> u64;

const SERVER: [(Family, OfServer); 4] = [
    (("node_nfsd_server_rpcs_total", "counter", "Requests of clients of NFS."), |s| s.requests),
    (("stend_nfsd_refused_rpcs_total", "counter", "Requests of clients of NFS that were refused."), |s| s.bad),
    (("node_nfsd_disk_bytes_read_total", "counter", "Bytes that clients of NFS read."), |s| s.read_bytes),
    (("node_nfsd_disk_bytes_written_total", "counter", "Bytes that clients of NFS wrote."), |s| s.write_bytes),
];

/// Requests of a share by kind.
fn kinds(mount: &NfsMount) -> [(&NfsMount, &'static str, &NfsRequests); 3] {
    [(mount, "read", &mount.reads), (mount, "write", &mount.writes), (mount, "other", &mount.others)]
}

/// Both.
pub(super) fn nfs(page: &mut Page, nfs: &Nfs) {
    let of = |mount: &NfsMount| vec![("mount", mount.at.clone()), ("export", mount.export.clone())];
    for (family, number) in REQUESTS {
        page.each(family, nfs.mounts.iter().flat_map(kinds), |(mount, op, requests)| {
            let labels = of(mount).into_iter().chain([("op", op.to_string())]).collect();
            Some((labels, number(requests)))
        });
    }
    for (family, number) in MOUNTS {
        page.each(family, &nfs.mounts, |mount| Some((of(mount), number(mount) as f64)));
    }
    for (family, number) in SERVER {
        page.alone(family, nfs.server.as_ref().map(|server| number(server) as f64));
    }
    let threads = nfs.server.and_then(|server| server.threads).map(f64::from);
    page.alone(("node_nfsd_server_threads", "gauge", "Threads that answer clients of NFS."), threads);
}
