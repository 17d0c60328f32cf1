//! The keys of a pool of ZFS. Data only; must not parse.

use super::{COUNT, SIZE, UNIT};
use crate::keys::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::stand::ZfsLayout;
use stend_base::Bytes;

/// Devices of a group.
pub const GROUP: Limits<u32> = Limits { least: 2, most: COUNT.most };
/// Devices for the log or the cache.
pub const HELPERS: Limits<u32> = Limits { least: 0, most: 8 };
/// Smallest block, as a power of two.
//= OpenZFS 2.3, zpoolprops(7), "ashift": "values from 9 to 16, inclusive, are valid"
pub const ASHIFT: Limits<u32> = Limits { least: 9, most: 16 };
/// Largest record; older modules take 1 MiB at most, and report an error.
pub const RECORD: Limits<Bytes> = Limits { least: Bytes(512), most: Bytes::mib(16) };
/// Block of a volume.
//= OpenZFS 2.3, zfsprops(7), "volblocksize": "any power of 2 from 512 B to 128 KiB"
pub const VOLUME_BLOCK: Limits<Bytes> = Limits { least: Bytes(512), most: Bytes::kib(128) };

/// How a pool lies on its devices.
pub const LAYOUTS: &[Choice<ZfsLayout>] = &[
    ("stripe", "blocks go to one device after the other", ZfsLayout::Stripe),
    ("mirror", "groups of copies, two each unless `group` says more", ZfsLayout::Mirror),
    ("raidz1", "one parity", ZfsLayout::Raidz1),
    ("raidz2", "two parities", ZfsLayout::Raidz2),
    ("raidz3", "three parities", ZfsLayout::Raidz3),
];
/// Compression.
pub const COMPRESSIONS: &[Choice<()>] = &[
    ("off", "none", ()),
    ("lz4", "LZ4, the default of ZFS since 2.2", ()),
    ("zstd", "Zstandard, level 3", ()),
    ("zstd-fast", "Zstandard, its fastest", ()),
    ("gzip", "gzip, level 6", ()),
    ("zle", "runs of zeros alone", ()),
];
/// What a sync means.
pub const SYNCS: &[Choice<()>] = &[
    ("standard", "what programs ask to be durable is", ()),
    ("always", "every write is made durable", ()),
    ("disabled", "syncs are not obeyed: what was acknowledged is lost with the power", ()),
];
/// What is kept in memory.
pub const CACHED: &[Choice<()>] = &[
    ("all", "data and metadata", ()),
    ("metadata", "metadata alone: reads of data come from the devices", ()),
    ("none", "neither", ()),
];

/// `zfs`.
pub const ZFS: Mapping = Mapping {
    en: "zfs",
    ru: "zfs",
    doc: "A pool of ZFS with one volume (a block device) or one dataset (mounted). Properties that are not named are what ZFS takes.",
    keys: &[
        required("layout", Shape::Word(|| words(LAYOUTS)), "How it lies on the devices."),
        optional(
            "group",
            "2 for `mirror`, all for raidz",
            Shape::Whole(GROUP),
            "Devices of each group; data go over all groups. Not for `stripe`.",
        ),
        optional(
            "log",
            "0",
            Shape::Whole(HELPERS),
            "So many of the last devices (before those of `cache` and `spares`) keep the log of synchronous writes.",
        ),
        optional(
            "cache",
            "0",
            Shape::Whole(HELPERS),
            "So many of the last devices (before those of `spares`) keep a cache of what is read.",
        ),
        optional(
            "spares",
            "0",
            Shape::Whole(HELPERS),
            "So many of the last devices are spares, for the event `drive.replace`; nothing takes one by itself. Not for `stripe`.",
        ),
        optional(
            "ashift",
            "what ZFS takes of the devices",
            Shape::Whole(ASHIFT),
            "Smallest block, as a power of two: 12 for 4 KiB.",
        ),
        optional(
            "volume",
            "absent: a dataset",
            Shape::Size(SIZE, UNIT),
            "A volume of this size; it must have room beside parity and what ZFS keeps for itself.",
        ),
        optional("sparse", "false", Shape::Bool, "Room for the volume is not set aside."),
        optional("volblocksize", "what ZFS takes", Shape::Size(VOLUME_BLOCK, 1), "Block of a volume, a power of two."),
        optional(
            "recordsize",
            "what ZFS takes",
            Shape::Size(RECORD, 1),
            "Largest block of files of a dataset, a power of two.",
        ),
        optional("atime", "what ZFS takes", Shape::Bool, "For a dataset: reading a file notes the time."),
        optional("compression", "what ZFS takes", Shape::Word(|| words(COMPRESSIONS)), "What is compressed."),
        optional("dedup", "false", Shape::Bool, "Blocks that are alike are kept once."),
        optional("sync", "standard", Shape::Word(|| words(SYNCS)), "What a sync means."),
        optional("primarycache", "all", Shape::Word(|| words(CACHED)), "What is kept in memory."),
    ],
};
