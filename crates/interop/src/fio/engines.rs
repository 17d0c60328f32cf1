//! Engines of fio: which of them wait for each I/O. Must not know other options.
//!
//! Source: fio, engines/*.c of 2.21 and 3.42, `FIO_SYNCIO` and `FIO_Q_QUEUED`.

/// Have one I/O in flight per job, whatever `iodepth` says.
const WAIT: &str = "sync psync vsync pvsync pvsync2 mmap splice falloc ftruncate e4defrag libpmem pmemblk dev-dax http gfapi ime_psync \
    libcufile libhipfile libhdfs libzbc mtd net netsplice fusion-aw-sync";
/// Keep `iodepth` of them in flight.
const QUEUE: &str = "libaio io_uring io_uring_cmd posixaio solarisaio windowsaio null cpp_null rbd rados nbd nfs rdma dfs gfapi_async \
    ime_aio libiscsi libblkio xnvme guasi";

/// Whether an engine waits for each I/O before it makes the next one. `None`: not known, as of an engine from outside of fio, or of `sg`,
/// which waits on block devices alone. Where results of other tools are in fio's form the name is empty, and the depth is theirs.
pub(super) fn waits(engine: &str) -> Option<bool> {
    let is_one_of = |names: &str| names.split_ascii_whitespace().any(|name| name == engine);
    let queues = || engine.is_empty() || is_one_of(QUEUE);
    is_one_of(WAIT).then_some(true).or_else(|| queues().then_some(false))
}
