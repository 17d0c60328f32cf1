//! The log of every I/O: how one is packed into 16 bytes, and what travels and is stored together. Pure; must not know
//! who makes the I/O or where a log is kept. Layout: `docs/formats/io-log.md`.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stend_base::{Bytes, Nanos};
pub use stend_spec::io_log::{OFFSET_LIMIT, SIZES_MAX};
use stend_spec::workload::Op;

/// Bytes of a record.
pub const RECORD_BYTES: usize = 16;

/// Bits of the fields, from the lowest of the first word on; together 128.
const END_BITS: u32 = 43;
const OP_BITS: u32 = 3;
const SIZE_BITS: u32 = 4;
/// The latency lies in both words: its lower bits fill the first one.
const LATENCY_LOW_BITS: u32 = 64 - END_BITS - 1 - OP_BITS - SIZE_BITS;
const LATENCY_BITS: u32 = LATENCY_LOW_BITS + 64 - OFFSET_BITS;
const OFFSET_BITS: u32 = 41;

const FAILED_AT: u32 = END_BITS;
const OP_AT: u32 = FAILED_AT + 1;
const SIZE_AT: u32 = OP_AT + OP_BITS;
const LATENCY_AT: u32 = SIZE_AT + SIZE_BITS;

/// Offsets are kept in sectors of this many bytes: blocks of a suite begin at nothing smaller.
const SECTOR: u64 = 512;
/// Latest end of an I/O after the base of its chunk, ns: 2.4 hours.
pub const END_MAX: u64 = mask(END_BITS);
/// Largest latency, ns, 68.7 s: a longer one is stored as this.
pub const LATENCY_MAX: u64 = mask(LATENCY_BITS);

/// Most I/Os of a trial whose places are counted.
pub const PLACES_MAX: usize = 1 << 20;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// An I/O as its record has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logged {
    /// When it ended, ns after the base of its chunk; at most [`END_MAX`].
    pub end: u64,
    /// How long it took, in an open loop from when it was due; more than [`LATENCY_MAX`] is stored as that.
    pub latency: Nanos,
    /// What it did.
    pub op: Op,
    /// It failed.
    pub failed: bool,
    /// Its first byte on the target, a multiple of 512 below [`OFFSET_LIMIT`].
    pub offset: u64,
    /// Which of the sizes of its stream it has, in the order of [`Stream::sizes`](stend_spec::workload::Stream::sizes);
    /// below [`SIZES_MAX`].
    pub size: u8,
}

impl Logged {
    /// As two words. What is beyond the limits of the fields must not come here, except for the latency.
    #[inline(always)]
    pub fn pack(self) -> [u64; 2] {
        debug_assert!(self.end <= END_MAX && self.offset < OFFSET_LIMIT.0 && usize::from(self.size) < SIZES_MAX);
        debug_assert!(self.offset.is_multiple_of(SECTOR), "{} is not the start of a sector", self.offset);
        let latency = self.latency.0.min(LATENCY_MAX);
        let kind = u64::from(self.failed) << FAILED_AT | (self.op.index() as u64) << OP_AT;
        let low = (self.end & END_MAX) | kind | u64::from(self.size) << SIZE_AT | latency << LATENCY_AT;
        let high = ((self.offset / SECTOR) & mask(OFFSET_BITS)) | (latency >> LATENCY_LOW_BITS) << OFFSET_BITS;
        [low, high]
    }

    /// From two words; `None` if they name an operation that there is not.
    pub fn unpack([low, high]: [u64; 2]) -> Option<Logged> {
        let latency = low >> LATENCY_AT | (high >> OFFSET_BITS) << LATENCY_LOW_BITS;
        Some(Logged {
            end: low & END_MAX,
            latency: Nanos(latency),
            op: *Op::ALL.get((low >> OP_AT & mask(OP_BITS)) as usize)?,
            failed: low >> FAILED_AT & 1 == 1,
            offset: (high & mask(OFFSET_BITS)) * SECTOR,
            size: (low >> SIZE_AT & mask(SIZE_BITS)) as u8,
        })
    }

    /// Bytes that it moved or named, given the sizes of its stream; a sync has none. `None`: there is no such size.
    pub fn bytes(&self, sizes: &[Bytes]) -> Option<Bytes> {
        if self.op == Op::Sync { Some(Bytes(0)) } else { sizes.get(usize::from(self.size)).copied() }
    }
}

/// I/Os of one job, in the order in which a thread of it saw them end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoChunk {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Index of the job in the stream.
    pub job: u32,
    /// CLOCK_MONOTONIC ns that the ends of the records count from.
    pub base: Nanos,
    /// The records.
    pub records: Records,
}

impl IoChunk {
    /// Number of I/Os.
    pub fn len(&self) -> u64 {
        self.records.count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its I/Os in order; `None` for a record that cannot be one.
    pub fn ios(&self) -> impl Iterator<Item = Option<Logged>> + '_ {
        let (records, _) = self.records.0.as_chunks::<RECORD_BYTES>();
        records.iter().map(|record| {
            let record = u128::from_le_bytes(*record);
            Logged::unpack([record as u64, (record >> 64) as u64])
        })
    }
}

/// Records one behind the other, each 16 bytes, little-endian. Serialised as one run of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Records(Vec<u8>);

impl Records {
    /// Bytes of packed I/Os.
    pub fn of(words: &[[u64; 2]]) -> Records {
        let mut bytes = vec![0; words.len() * RECORD_BYTES];
        let (records, _) = bytes.as_chunks_mut::<RECORD_BYTES>();
        for (record, [low, high]) in records.iter_mut().zip(words) {
            *record = (u128::from(*high) << 64 | u128::from(*low)).to_le_bytes();
        }
        Records(bytes)
    }

    /// From bytes as they are stored; what is left behind the last whole record is ignored.
    pub fn from_bytes(bytes: Vec<u8>) -> Records {
        Records(bytes)
    }

    /// As they are stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn count(&self) -> u64 {
        (self.0.len() / RECORD_BYTES) as u64
    }
}

impl Serialize for Records {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Records {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Records, D::Error> {
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = Records;
            fn expecting(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
                to.write_str("bytes")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Records, E> {
                Ok(Records(bytes.to_vec()))
            }
        }
        from.deserialize_bytes(Whole)
    }
}

/// What became of the I/Os that completed or failed inside the window of a logged trial: each is counted in one of the
/// first three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoLogTotals {
    /// Handed over to be kept; how many of them the run file holds is known to itself.
    pub recorded: u64,
    /// Not recorded, because the collector was behind.
    pub dropped: u64,
    /// Not recorded, because the size that the suite allows was used up.
    pub beyond: u64,
    /// I/Os of the window that failed; in whichever of the others they are, too.
    pub failed: u64,
    /// Recorded I/Os whose places were counted: the first that are neither failed nor syncs, at most [`PLACES_MAX`].
    pub placed: u64,
    /// Different first bytes that they had.
    pub places: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn logged() -> impl Strategy<Value = Logged> {
        let op = (0..Op::ALL.len()).prop_map(|index| Op::ALL[index]);
        let fields = (0..=END_MAX, 0..=LATENCY_MAX, op, any::<bool>(), 0..1u64 << OFFSET_BITS, 0..SIZES_MAX as u8);
        fields.prop_map(|(end, latency, op, failed, sector, size)| Logged {
            end,
            latency: Nanos(latency),
            op,
            failed,
            offset: sector * SECTOR,
            size,
        })
    }

    #[test]
    fn the_fields_fill_sixteen_bytes() {
        assert_eq!(END_BITS + 1 + OP_BITS + SIZE_BITS + LATENCY_BITS + OFFSET_BITS, 8 * RECORD_BYTES as u32);
        assert_eq!((SIZES_MAX, OFFSET_LIMIT.0), (1 << SIZE_BITS, SECTOR << OFFSET_BITS));
    }

    #[test]
    fn a_latency_beyond_the_field_is_stored_as_the_largest() {
        let long = Logged { end: 1, latency: Nanos::secs(3600), op: Op::Write, failed: true, offset: 512, size: 15 };
        let back = Logged::unpack(long.pack());
        assert_eq!(back, Some(Logged { latency: Nanos(LATENCY_MAX), ..long }));
    }

    #[test]
    fn words_that_name_no_operation_are_no_record() {
        let known = |op: u64| Logged::unpack([op << OP_AT, 0]).is_some();
        assert_eq!((0..8).map(known).collect::<Vec<_>>(), [true, true, true, true, true, false, false, false]);
    }

    #[test]
    fn bytes_are_those_of_the_size_and_none_of_a_sync() {
        let io = Logged { end: 0, latency: Nanos(1), op: Op::Read, failed: false, offset: 0, size: 1 };
        let sizes = [Bytes(512), Bytes(4096)];
        assert_eq!(io.bytes(&sizes), Some(Bytes(4096)));
        assert_eq!(Logged { size: 2, ..io }.bytes(&sizes), None);
        assert_eq!(Logged { op: Op::Sync, ..io }.bytes(&sizes), Some(Bytes(0)));
    }

    proptest! {
        #[test]
        fn an_io_survives_its_record(io in logged()) {
            prop_assert_eq!(Logged::unpack(io.pack()), Some(io));
        }

        #[test]
        fn a_chunk_survives_its_bytes(ios in prop::collection::vec(logged(), 0..40), cut in 0usize..16) {
            let words: Vec<[u64; 2]> = ios.iter().map(|io| io.pack()).collect();
            let chunk = IoChunk { stream: 3, job: 4, base: Nanos(5), records: Records::of(&words) };
            let back: IoChunk = postcard::from_bytes(&postcard::to_stdvec(&chunk).unwrap()).unwrap();
            prop_assert!(back == chunk && back.len() == ios.len() as u64);
            prop_assert!(back.ios().map(Option::unwrap).eq(ios.iter().copied()));
            // A tail that is no whole record costs itself alone.
            let mut bytes = chunk.records.as_bytes().to_vec();
            bytes.truncate(bytes.len().saturating_sub(cut));
            let torn = IoChunk { records: Records::from_bytes(bytes), ..chunk };
            prop_assert_eq!(torn.ios().count(), ios.len().saturating_sub(usize::from(cut > 0)));
        }

        #[test]
        fn arbitrary_words_are_a_record_or_none(low in any::<u64>(), high in any::<u64>()) {
            if let Some(io) = Logged::unpack([low, high]) {
                prop_assert_eq!(io.pack(), [low, high]);
            }
        }
    }
}
