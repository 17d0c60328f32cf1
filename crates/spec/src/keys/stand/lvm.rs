//! The keys of a logical volume. Data only; must not parse.

use super::{CHUNK, SIZE, STRIPES, SYNC_KEY, UNIT};
use crate::keys::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::stand::{Allocation, CacheMode, IntegrityMode, LvmType};
use stend_base::Bytes;

/// Snapshots of a volume: each of them has what is written copied to it (eight, by eye).
pub const SNAPSHOTS: Limits<u32> = Limits { least: 0, most: 8 };
/// Chunk of a cache.
//= LVM 2.03, lvmcache(7), "chunk size": "between 32KiB and 1GiB"
pub const CACHE_CHUNK: Limits<Bytes> = Limits { least: Bytes::kib(32), most: Bytes::gib(1) };
/// Chunk of a snapshot.
//= LVM 2.03, lvcreate(8), "--chunksize": "For snapshots, the value must be a power of 2 between 4KiB and 512KiB"
pub const SNAPSHOT_CHUNK: Limits<Bytes> = Limits { least: Bytes::kib(4), most: Bytes::kib(512) };
/// A chunk of either.
pub const CHUNKS: Limits<Bytes> = Limits { least: SNAPSHOT_CHUNK.least, most: CACHE_CHUNK.most };

/// Types of a logical volume.
pub const LVM_TYPES: &[Choice<LvmType>] = &[
    ("linear", "one device behind the other", LvmType::Linear),
    ("striped", "stripes, by the device mapper", LvmType::Striped),
    ("raid0", "stripes, by md inside the device mapper", LvmType::Raid0),
    ("raid1", "a mirror", LvmType::Raid1),
    ("raid10", "stripes of mirrors", LvmType::Raid10),
    ("raid5", "one parity", LvmType::Raid5),
    ("raid6", "two parities", LvmType::Raid6),
    ("thin", "a thin pool with one thin volume", LvmType::Thin),
    ("vdo", "a VDO pool (compression, deduplication) with one volume", LvmType::Vdo),
    (
        "cache",
        "one device behind the other, and the last one keeps copies of what is used much (dm-cache)",
        LvmType::Cache,
    ),
    (
        "writecache",
        "one device behind the other, and the last one takes all writes first (dm-writecache)",
        LvmType::Writecache,
    ),
];
/// How the pool of VDO lies on the devices.
pub const POOLS: &[Choice<LvmType>] = LVM_TYPES.split_at(7).0;
/// Where room is taken.
pub const ALLOCATIONS: &[Choice<Allocation>] = &[
    ("contiguous", "in one piece", Allocation::Contiguous),
    ("cling", "on the devices that the volume has already", Allocation::Cling),
    ("normal", "not two parts of a stripe on one device", Allocation::Normal),
    ("anywhere", "also two parts of a stripe on one device", Allocation::Anywhere),
];
/// When a write is done.
pub const MODES: &[Choice<CacheMode>] = &[
    ("writethrough", "a write is done when it is on the cache and behind it", CacheMode::Writethrough),
    ("writeback", "a write is done when it is on the cache; it is carried on later", CacheMode::Writeback),
];
/// How checksums stay in step with data.
pub const INTEGRITIES: &[Choice<IntegrityMode>] = &[
    ("journal", "data and checksums go through a journal: all is written twice", IntegrityMode::Journal),
    ("bitmap", "checksums of what a bitmap marks are computed anew after a crash", IntegrityMode::Bitmap),
];

/// `lvm`.
pub const LVM: Mapping = Mapping {
    en: "lvm",
    ru: "lvm",
    doc: "A logical volume, alone in a volume group of its own.",
    keys: &[
        required("type", Shape::Word(|| words(LVM_TYPES)), "How it lies on the devices."),
        optional(
            "stripes",
            "as many as there are devices for",
            Shape::Whole(STRIPES),
            "Stripes that carry data (`-i`); for striped types and pools.",
        ),
        optional(
            "stripe_size",
            "64KiB",
            Shape::Size(CHUNK, 4096),
            "Size of a stripe (`-I`); for striped types and pools.",
        ),
        optional(
            "size",
            "all there is",
            Shape::Size(SIZE, UNIT),
            "Size of the volume, or of the pool; required with `snapshots`, except for `thin`.",
        ),
        optional(
            "virtual_size",
            "absent",
            Shape::Size(SIZE, UNIT),
            "Size that a thin or VDO volume shows; required for these.",
        ),
        optional("allocation", "LVM's default", Shape::Word(|| words(ALLOCATIONS)), "Where room is taken (`--alloc`)."),
        optional("pool", "linear", Shape::Word(|| words(POOLS)), "How the pool lies on the devices; for `vdo`."),
        optional("compression", "true", Shape::Bool, "For `vdo`."),
        optional("deduplication", "true", Shape::Bool, "For `vdo`."),
        SYNC_KEY,
        optional(
            "integrity",
            "absent: no checksums",
            Shape::Word(|| words(INTEGRITIES)),
            "Each device keeps checksums of its data (dm-integrity), so that what is read wrongly is taken from another one; for raid types with redundancy.",
        ),
        optional("mode", "writethrough", Shape::Word(|| words(MODES)), "When a write is done; for `cache`."),
        optional(
            "cache_size",
            "all of the last device",
            Shape::Size(SIZE, UNIT),
            "Used of the last device; for `cache` and `writecache`.",
        ),
        optional(
            "chunk",
            "what LVM takes",
            Shape::Size(CHUNKS, 4096),
            "A power of two: what a `cache` takes in at once (from 32 KiB), or a snapshot copies at once (to 512 KiB; not for `thin`).",
        ),
        optional(
            "snapshots",
            "0",
            Shape::Whole(SNAPSHOTS),
            "Snapshots of the volume that are there while it is measured, each with room for all of it; not for `vdo`, `cache`, `writecache`.",
        ),
    ],
};
