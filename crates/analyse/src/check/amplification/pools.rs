//! What a Ceph that a stand made writes to its drives for a byte of the application, for H63. Pure arithmetic; must not judge.

use super::Expected;
use crate::limits::{POOL_CACHE, POOL_METADATA};
use crate::trials::CaseTrials;
use stend_base::Bytes;
use stend_record::{Device, RunRecord};
use stend_spec::pattern::Pattern;
use stend_spec::stand::{CephPool, Kind};
use stend_spec::workload::{Op, Stream};

/// The file system that a stand mounts from its cluster.
const FILE_SYSTEM: &str = "fuse.ceph-fuse";
/// The most that the kernel hands to a program in user space as one write, unless that asks for more.
//= linux, fs/fuse/fuse_i.h: FUSE_DEFAULT_MAX_PAGES_PER_REQ is 32 pages
const REQUEST: Bytes = Bytes::kib(128);
/// Files are cut into objects of this size.
//= ceph 16.2, doc/cephfs/file-layouts.rst: object_size is 4 MB by default
const OBJECT: Bytes = Bytes::mib(4);
/// Shorter pieces go into the log of an OSD on a spinning drive first, and to their place later.
//= ceph 16.2, src/common/options.cc: bluestore_prefer_deferred_size_hdd is 65536
const DEFERRED: Bytes = Bytes::kib(64);

/// What a pool makes of the writes of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PoolWrites {
    /// Bytes at the drives per byte.
    pub expected: Expected,
    /// Copies, or (k + m) / k: without journals and metadata.
    pub theory: f64,
    /// Bytes of a piece that OSDs on spinning drives write twice, if they do.
    pub deferred: Option<f64>,
    /// What the client may still hold back at the end of each trial.
    pub held: Bytes,
}

/// That of a run on a Ceph that its stand made of bare drives or files; `None` elsewhere, and where parts of stripes are overwritten, which
/// costs as much as the state of the stripe asks for.
pub(super) fn of(run: &RunRecord, case: &CaseTrials<'_>) -> Option<PoolWrites> {
    let pool = pool(run)?;
    let devices = run.load().targets.iter().flat_map(|target| &target.devices);
    let spinning = devices.into_iter().any(|device| device.rotational == Some(true));
    let writers = case.asked.streams.iter().filter(|stream| stream.mix.share(Op::Write) > 0);
    let each = writers.map(|stream| of_stream(pool, stream, case.asked.direct, spinning));
    let all = each.collect::<Option<Vec<PoolWrites>>>()?;
    all.into_iter().reduce(|a, b| PoolWrites {
        expected: Expected {
            least: a.expected.least.min(b.expected.least),
            most: a.expected.most.max(b.expected.most),
        },
        deferred: a.deferred.or(b.deferred),
        ..a
    })
}

/// What the OSDs lie on. Files behind loop devices share their drive with others, so what is below counts for nothing here.
pub(super) fn drives(run: &RunRecord) -> Vec<&Device> {
    run.load().targets.iter().flat_map(|target| &target.devices).filter(|device| device.depth == 0).collect()
}

fn pool(run: &RunRecord) -> Option<CephPool> {
    let is_mounted = run.load().targets.iter().all(|target| target.file_system.as_deref() == Some(FILE_SYSTEM));
    let text = run.header.stand.as_ref().filter(|_| is_mounted)?;
    let stand = stend_spec::parse::stand(&text.text, &text.file).ok()?;
    // Arrays below would make more of each byte.
    let plain = |kind: &Kind| matches!(kind, Kind::Loop(_) | Kind::Ceph(_));
    let mut layers = stand.layers.iter();
    match layers.next_back()?.kind {
        Kind::Ceph(ceph) if layers.all(|layer| plain(&layer.kind)) => Some(ceph.pool),
        _ => None,
    }
}

/// What comes of the writes of a stream.
fn of_stream(pool: CephPool, stream: &Stream, direct: bool, spinning: bool) -> Option<PoolWrites> {
    let in_order = matches!(stream.pattern, Pattern::Sequential | Pattern::SharedSequential | Pattern::Append);
    if matches!(pool, CephPool::Erasure { .. }) && !in_order {
        return None;
    }
    let block = stream.block_size_min().0;
    let most = match direct {
        true => REQUEST.0,
        false => OBJECT.0,
    };
    // What is written in order through a cache reaches the OSDs in whole objects, unless it is asked to be durable before.
    let gathered = match (direct || stream.sync.is_durable_each() || !in_order, stream.sync.every()) {
        (true, _) => block,
        (false, 0) => most,
        (false, writes) => block.saturating_mul(u64::from(writes)),
    };
    let write = gathered.min(most).max(1) as f64;
    let parts = match pool {
        CephPool::Replicated { .. } => 1.0,
        CephPool::Erasure { k, .. } => f64::from(k),
    };
    let (theory, width) = (pool.amplification(), f64::from(pool.width()));
    let piece = write / parts;
    let deferred = Some(piece).filter(|piece| spinning && *piece < DEFERRED.0 as f64);
    let times = if deferred.is_some() { 2.0 } else { 1.0 };
    let journals = width * POOL_METADATA.0 as f64 / write;
    let expected = Expected { least: theory, most: theory * times + journals };
    let held = if direct { Bytes(0) } else { POOL_CACHE };
    Some(PoolWrites { expected, theory, deferred, held })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_spec::workload::Sync;

    /// What comes of a stream that writes blocks of this size.
    fn writes(pool: CephPool, pattern: Pattern, block: Bytes, sync: Sync, direct: bool) -> Option<(f64, f64, bool)> {
        let record = run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).done().record();
        let stream = by_case(&record)[0].asked.streams[0].clone();
        let stream = Stream { pattern, block_size: block, sync, ..stream };
        let found = of_stream(pool, &stream, direct, true)?;
        let round = |value: f64| (value * 100.0).round() / 100.0;
        Some((round(found.expected.least), round(found.expected.most), found.deferred.is_some()))
    }

    const COPIES: CephPool = CephPool::Replicated { size: 3, min_size: 2 };
    const CODED: CephPool = CephPool::Erasure { k: 3, m: 2 };

    #[test]
    fn what_osds_get_decides_what_a_byte_costs() {
        let in_order =
            |pool, direct| writes(pool, Pattern::Sequential, Bytes::mib(1), Sync::Fdatasync(1024), direct).unwrap();
        // Measured on five loop devices: 3.01 and 1.69 through the page cache, 3.25 and 4.33 with direct I/O.
        assert_eq!(in_order(COPIES, false), (3.0, 3.02, false));
        assert_eq!(in_order(CODED, false), (1.67, 1.7, false));
        assert_eq!(in_order(COPIES, true), (3.0, 3.56, false));
        assert_eq!(in_order(CODED, true), (1.67, 4.27, true), "pieces of 43 KiB");
    }

    #[test]
    fn small_writes_cost_their_journals_and_parts_of_stripes_are_not_known() {
        let small = |pool, pattern, sync| writes(pool, pattern, Bytes::kib(16), sync, false);
        assert_eq!(small(COPIES, Pattern::Random, Sync::None), Some((3.0, 10.5, true)));
        assert_eq!(small(COPIES, Pattern::Sequential, Sync::Dsync), Some((3.0, 10.5, true)));
        assert_eq!(small(COPIES, Pattern::Sequential, Sync::Fsync(64)), Some((3.0, 3.07, false)));
        assert_eq!(small(CODED, Pattern::Random, Sync::None), None);
    }
}
