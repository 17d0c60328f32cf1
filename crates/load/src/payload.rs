//! The data that is written: as compressible and as repetitive as asked, by default not at all. Must not depend on
//! what was read.
//!
//! A slot's memory is [written data, as many blocks as fit its part of the pool | the same for duplicates, with one
//! content in all slots | block read into]. Writes of whatever length take turns through the slot's part, each from where the
//! one before ended, so that a compressor looking at neighbouring writes finds no repetition; before each write every sector
//! (the smallest unit that any array we know deduplicates) gets a fresh stamp, so that deduplication finds none either, and
//! so that what was written is known again as ours (docs/formats/drives.md). A duplicate gets the stamps of one of the job's
//! repeated contents instead.

use crate::layout::Job;
use stend_base::own_data::{self, STAMP, StampScope};
use stend_base::random::{Random, below, draw};

/// Random data per job. Larger than the windows of the compressors in storage stacks (ZFS records are up
/// to 1 MiB, btrfs extents 128 KiB, zstd level 3 looks back 2 MiB), small enough for one job's buffers to
/// be registered under the usual RLIMIT_MEMLOCK of 8 MiB.
const POOL: usize = 4 << 20;
/// Unit in which compressible data are made and duplicates counted: the block of most arrays and file systems.
const UNIT: usize = 4096;
/// 2^64 divided by the golden ratio: multiples of it visit all residues far from one another.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// What the compressible part of a unit holds. Not zero, which some storage leaves out without compressing; and one byte
/// all over, because fast compressors look only here and there: a word of 8 bytes they took for random over the first 70.
const FILLER: u8 = 0x2A;
/// Which content a duplicate has, and what those hold, come from seeds this far from the job's.
const WHICH: u64 = 0x5BE0_CD19_137E_2179;
const CONTENT: u64 = 0xCBBB_9D5D_C105_9ED8;
/// Repeated contents are at most one in so many of the distinct ones: each is repeated often, and 128 times the
/// ratio is still within what arrays let one block be referred to (VDO: 254 times, then it stores another).
const REPEATED: f64 = 128.0;

/// Where a slot's memory holds what, and how its data change. Cost of a stamp: see [`Payload::stamp`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payload {
    seed: u64,
    /// Bytes of the largest I/O.
    block: usize,
    /// The same in whole units.
    pitch: usize,
    /// What data are made of, and where writes begin: 4 KiB, or a block if that is less.
    unit: usize,
    variants: u64,
    reads: bool,
    /// Variants of duplicates; 0 without deduplication.
    repeated: u64,
    /// Contents that duplicates have.
    contents: u64,
    /// Share of the I/Os that are duplicates, of 2^64.
    duplicate: u64,
    /// Bytes of a full unit that do not compress; all of them by default.
    dense: usize,
}

impl Payload {
    /// The payload of a job.
    pub fn new(job: &Job) -> Payload {
        let (spec, data) = (&job.spec, job.spec.data);
        let block = spec.block_size.0 as usize;
        let dedups = spec.mix.write > 0 && data.dedup_thousandths > 1000;
        let share = POOL / spec.queue_depth.max(1) as usize / (1 + usize::from(dedups));
        let variants = if spec.mix.write > 0 { (share / block.max(1)).max(1) } else { 0 } as u64;
        let (contents, share) = duplicates(f64::from(data.dedup_thousandths) / 1e3, job.area.blocks as f64);
        let unit = UNIT.min(block.max(1));
        Payload {
            seed: job.seed,
            block,
            pitch: block.next_multiple_of(unit),
            unit,
            variants,
            reads: spec.mix.reads(),
            repeated: if dedups { variants } else { 0 },
            contents,
            duplicate: if dedups { (share * u64::MAX as f64) as u64 } else { 0 },
            dense: (UNIT * 1000).div_ceil(data.compress_thousandths.max(1000) as usize),
        }
    }

    /// Bytes of memory a slot needs.
    pub fn slot_len(&self) -> usize {
        let written = self.pitch.saturating_mul((self.variants + self.repeated) as usize);
        written.saturating_add(if self.reads { self.block } else { 0 })
    }

    /// Fills the memory of slot number `slot` with data, once.
    pub fn prime(&self, slot: u64, memory: &mut [u8]) {
        let (unique, repeated) = memory.split_at_mut(self.unique());
        let repeated = &mut repeated[..self.pitch * self.repeated as usize];
        for (part, seed) in [(unique, draw(self.seed, slot)), (repeated, draw(self.seed ^ CONTENT, 0))] {
            Random::new(seed).fill(part);
            for unit in part.chunks_mut(self.unit) {
                let dense = (unit.len() * self.dense).div_ceil(UNIT);
                unit[dense..].fill(FILLER);
            }
        }
    }

    /// Where reads go.
    pub fn read_at(&self) -> usize {
        self.unique() + self.pitch * self.repeated as usize
    }

    /// Bytes for writes that are no duplicates.
    fn unique(&self) -> usize {
        self.pitch * self.variants as usize
    }

    /// Makes the next `len` bytes to be written, at most a block, and returns where they are. `turn` is where the slot's next
    /// write begins, at first 0; `index` is the I/O's own and never the same twice in a job.
    ///
    /// Costs 34 ns per 4 KiB write and 10 µs per MiB (2-vCPU KVM guest shared with other load, best of 3);
    /// half of the 4 KiB figure is the wait for memory that has left the cache since its last turn. Nothing is
    /// copied or generated, whatever the ratios: in one comparison plain data cost 52 ns per 4 KiB, deduplicating ones 46,
    /// compressible ones, with one stamp where others get eight, 19 (the same machine, best of 5).
    #[inline]
    pub fn stamp(&self, memory: &mut [u8], turn: &mut usize, index: u64, len: usize) -> usize {
        // Not drawn but spread evenly, so that the share is exact: the multiple of the share passes a whole number.
        let repeats = index.wrapping_mul(self.duplicate).overflowing_add(self.duplicate).1;
        let (at, stamp) = if repeats {
            let content = below(draw(self.seed ^ WHICH, index), self.contents);
            (self.unique() + self.place_of(content, len), draw(self.seed ^ CONTENT, content + 1))
        } else {
            let at = if *turn + len > self.unique() { 0 } else { *turn };
            *turn = at + len.next_multiple_of(self.unit);
            (at, draw(self.seed, index))
        };
        // Sectors of compressible data are alike behind the dense part; in units they differ.
        match self.dense < UNIT {
            true => stamp_each::<UNIT>(&mut memory[at..at + len], stamp, StampScope::Block),
            false => stamp_each::<{ own_data::SECTOR }>(&mut memory[at..at + len], stamp, StampScope::Sector),
        }
        at
    }

    /// Where a repeated content of `len` bytes lies among them. Contents that begin alike whatever their lengths would be one
    /// content to deduplication, contents that all begin at the same place would be to compression: those up to the
    /// same power of two begin alike.
    fn place_of(&self, content: u64, len: usize) -> usize {
        let step = len.next_power_of_two().max(self.unit).min(self.pitch);
        let places = self.pitch * self.repeated as usize / step;
        (content % places as u64) as usize * step
    }
}

/// Stamps the first bytes of every `STEP` bytes of the data. As arrays of a known length they need no look at the length of each: 2 of
/// 13 ns for 4 KiB.
#[inline(always)]
fn stamp_each<const STEP: usize>(data: &mut [u8], mut stamp: u64, scope: StampScope) {
    let (units, rest) = data.as_chunks_mut::<STEP>();
    for unit in units {
        stamp = stamp.wrapping_add(SPREAD);
        unit[..STAMP].copy_from_slice(&own_data::stamp(stamp, scope));
    }
    // A write of a trace may end anywhere.
    let first = rest.len().min(STAMP);
    rest[..first].copy_from_slice(&own_data::stamp(stamp.wrapping_add(SPREAD), scope)[..first]);
}

/// How many contents are repeated, and the share of I/Os that repeat one, so that of `places` written ones
/// `places` over `ratio` are distinct: those that repeat nothing, and each repeated content once.
fn duplicates(ratio: f64, places: f64) -> (u64, f64) {
    if ratio <= 1.0 {
        return (1, 0.0);
    }
    let contents = (places / ratio / REPEATED).floor().max(1.0);
    (contents as u64, (1.0 - 1.0 / ratio + contents / places).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::{stream, trial};
    use std::collections::HashSet;
    use stend_base::Bytes;
    use stend_spec::workload::{Data, Mix, Stream};

    /// A job over 64 MiB.
    fn job(spec: Stream) -> Job {
        crate::layout::jobs(&trial(Bytes::mib(64), vec![spec]), u64::MAX).unwrap().remove(0)
    }

    fn spec(read_percent: u8, block: u64, depth: u32) -> Job {
        job(Stream { mix: Mix::of_reads(read_percent), block_size: Bytes(block), queue_depth: depth, ..stream() })
    }

    /// What a job of these ratios leaves when it writes its 64 MiB once, in order, from all of its slots in turn.
    fn written(compress_thousandths: u32, dedup_thousandths: u32, block: u64, depth: u32) -> Vec<u8> {
        written_in(compress_thousandths, dedup_thousandths, block, depth, &[block as usize])
    }

    /// The same in writes of these lengths in turn, as a trace or a mixture of sizes makes them.
    fn written_in(
        compress_thousandths: u32,
        dedup_thousandths: u32,
        block: u64,
        depth: u32,
        lens: &[usize],
    ) -> Vec<u8> {
        let data = Data { compress_thousandths, dedup_thousandths };
        let mix = Mix::of_reads(0);
        let payload =
            Payload::new(&job(Stream { data, mix, block_size: Bytes(block), queue_depth: depth, ..stream() }));
        let mut slots: Vec<Vec<u8>> = vec![vec![0; payload.slot_len()]; depth as usize];
        slots.iter_mut().enumerate().for_each(|(slot, memory)| payload.prime(slot as u64, memory));
        let (mut all, mut turns) = (Vec::new(), vec![0; depth as usize]);
        for index in 0.. {
            let (slot, len) = ((index % u64::from(depth)) as usize, lens[index as usize % lens.len()]);
            let at = payload.stamp(&mut slots[slot], &mut turns[slot], index, len);
            all.extend_from_slice(&slots[slot][at..at + len]);
            if all.len() >= 64 << 20 {
                break;
            }
        }
        all
    }

    /// Bytes over bytes after zstd, each record on its own as storage does it.
    fn compress_ratio(data: &[u8], record: usize) -> f64 {
        let after: usize = data.chunks(record).map(|part| zstd::bulk::compress(part, 3).unwrap().len()).sum();
        data.len() as f64 / after as f64
    }

    fn dedup_ratio(data: &[u8]) -> f64 {
        let distinct: HashSet<&[u8]> = data.chunks(4096).collect();
        (data.len() / 4096) as f64 / distinct.len() as f64
    }

    fn near(is: f64, asked: f64) -> bool {
        (is / asked - 1.0).abs() < 0.02
    }

    #[test]
    fn compressible_data_have_their_ratio_within_two_percent_in_every_record() {
        for (asked, block, depth) in
            [(1000, 4096, 32), (1500, 4096, 1), (2000, 4096, 32), (2000, 1 << 20, 8), (4000, 65_536, 4)]
        {
            let data = written(asked, 1000, block, depth);
            let ratio = f64::from(asked) / 1e3;
            for record in [128 << 10, 1 << 20] {
                let is = compress_ratio(&data[..16 << 20], record);
                assert!(near(is, ratio), "asked {ratio}, blocks of {block}: {is} in records of {record}");
            }
            assert!(dedup_ratio(&data) < 1.0001, "no two units are alike");
        }
        assert!(near(compress_ratio(&written(2000, 1000, 4096, 1)[..4 << 20], 4096), 2.0), "in single blocks too");
    }

    #[test]
    fn repeated_data_have_their_ratio_within_two_percent() {
        for (asked, block, depth) in [(1200, 4096, 32), (1500, 4096, 1), (3000, 16_384, 8), (10_000, 4096, 4)] {
            let data = written(1000, asked, block, depth);
            let (is, ratio) = (dedup_ratio(&data), f64::from(asked) / 1e3);
            assert!(near(is, ratio), "asked {ratio}, blocks of {block}: {is}");
        }
    }

    #[test]
    fn both_ratios_hold_together_in_units() {
        let data = written(2000, 1500, 4096, 32);
        assert!(near(dedup_ratio(&data), 1.5), "{}", dedup_ratio(&data));
        let is = compress_ratio(&data[..4 << 20], 4096);
        assert!(near(is, 2.0), "{is}");
    }

    #[test]
    fn writes_shorter_than_the_largest_do_not_come_again_and_again() {
        const KIB: usize = 1024;
        let mixed = [4 * KIB, 64 * KIB, 8 * KIB, 12 * KIB];
        for (block, depth, lens) in
            [(1 << 20, 8, &[4 * KIB][..]), (1 << 20, 64, &mixed), (10_240, 4, &[10_240, 4 * KIB])]
        {
            let plain = &written_in(1000, 1000, block, depth, lens)[..16 << 20];
            for record in [128 * KIB, 1 << 20] {
                let ratio = compress_ratio(plain, record);
                assert!(ratio < 1.01, "{lens:?} of {block} at {depth}: {ratio} in records of {record}");
            }
            // The units of an I/O are counted from its begin.
            if lens.iter().all(|len| len.is_multiple_of(4 * KIB)) {
                let half = compress_ratio(&written_in(2000, 1000, block, depth, lens)[..16 << 20], 128 * KIB);
                assert!(near(half, 2.0), "{lens:?} of {block} at {depth}: {half}");
            }
        }
    }

    #[test]
    fn repeated_contents_of_small_writes_lie_apart_and_those_of_about_one_length_begin_together() {
        let data = Data { dedup_thousandths: 1500, ..Data::default() };
        let payload =
            Payload::new(&job(Stream { mix: Mix::of_reads(0), data, block_size: Bytes::kib(256), ..stream() }));
        // Half of 4 MiB is 8 blocks of 256 KiB, or 512 of 4 KiB.
        let places = |len: usize| (0..1024).map(|content| payload.place_of(content, len)).collect::<HashSet<_>>();
        let counts = [1, 4096, 6000, 8192, 200_000, 262_144].map(|len| places(len).len());
        assert_eq!(counts, [512, 512, 256, 256, 8, 8]);
        assert_eq!(places(200_000), places(262_144));
        assert_eq!(places(4096).into_iter().max(), Some((2 << 20) - 4096));
    }

    #[test]
    fn a_ratio_that_was_not_asked_for_is_told_apart() {
        assert!(!near(compress_ratio(&written(2000, 1000, 4096, 4)[..1 << 20], 128 << 10), 2.1));
        assert!(!near(dedup_ratio(&written(1000, 1500, 4096, 4)), 1.6));
    }

    #[test]
    fn memory_is_only_taken_for_what_the_mix_needs() {
        let len = |percent, block, depth| Payload::new(&spec(percent, block, depth)).slot_len();
        assert_eq!(len(100, 4096, 32), 4096);
        assert_eq!(len(0, 4096, 32), 128 << 10);
        assert_eq!(len(70, 4096, 32), (128 << 10) + 4096);
        assert_eq!(len(0, 1 << 20, 8), 1 << 20);
        let data = Data { dedup_thousandths: 1500, ..Data::default() };
        let writer = job(Stream { mix: Mix::of_reads(0), data, queue_depth: 32, ..stream() });
        assert_eq!(Payload::new(&writer).slot_len(), 128 << 10, "duplicates share the pool");
    }

    #[test]
    fn what_was_written_is_known_again_in_every_block() {
        const KIB: usize = 1024;
        for (compress, dedup, block, lens) in [
            (1000, 1000, 4096, &[4096][..]),
            (1000, 1500, 65_536, &[65_536]),
            (1500, 1000, 16_384, &[16_384]),
            (4000, 1200, 4096, &[4096]),
            (1000, 1000, 512, &[512]),
            (2000, 1000, 1024, &[1024]),
            (1000, 1000, 1 << 20, &[4 * KIB, 512, 3 * KIB + 512, 8 * KIB]),
        ] {
            let data = written_in(compress, dedup, block, 4, lens);
            for (index, written) in data.chunks_exact(own_data::BLOCK).take(4096).enumerate() {
                let found = own_data::content(written);
                assert_eq!(found, own_data::Content::Ours, "block {index} of {compress}, {dedup}, {block}, {lens:?}");
            }
        }
    }

    #[test]
    fn no_sector_is_ever_written_twice_and_reads_do_not_touch_the_data() {
        let payload = Payload::new(&spec(50, 4096, 1));
        let mut memory = vec![0; payload.slot_len()];
        payload.prime(0, &mut memory);
        let (mut seen, mut turn) = (HashSet::new(), 0);
        for index in 0..3000 {
            memory[payload.read_at()..].fill(0);
            let at = payload.stamp(&mut memory, &mut turn, index * 3, 4096);
            for sector in memory[at..at + 4096].chunks(512) {
                assert!(seen.insert(sector.to_vec()), "a sector came twice");
            }
        }
    }

    #[test]
    fn what_is_written_has_no_repeated_word_that_a_compressor_could_use() {
        let payload = Payload::new(&spec(0, 4096, 4));
        let mut memory = vec![0; payload.slot_len()];
        payload.prime(0, &mut memory);
        let (mut words, mut turn) = (HashSet::new(), 0);
        for index in 0..payload.slot_len() as u64 / 4096 {
            let at = payload.stamp(&mut memory, &mut turn, index, 4096);
            words.extend(memory[at..at + 4096].windows(8).step_by(4).map(<[u8]>::to_vec));
        }
        // Matches of 8 bytes at random positions: n^2 / 2^65, far below one.
        assert_eq!(words.len(), payload.slot_len() / 4096 * ((4096 - 8) / 4 + 1));
    }
}
