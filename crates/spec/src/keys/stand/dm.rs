//! The keys of mappings. Data only; must not parse.

use super::{SIZE, UNIT};
use crate::keys::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::stand::{Checksums, Cipher};
use stend_base::{Bytes, Nanos};

/// How long a mapping makes I/Os wait, or works and fails.
pub const WAIT: Limits<Nanos> = Limits { least: Nanos(0), most: Nanos::secs(3600) };

/// Where a place that fails begins.
pub const PLACE: Limits<Bytes> = Limits { least: Bytes(0), most: SIZE.most };
/// How long it is.
pub const LENGTH: Limits<Bytes> = Limits { least: Bytes(UNIT), most: SIZE.most };
/// Ciphers.
pub const CIPHERS: &[Choice<Cipher>] = &[
    ("aes-256-xts", "AES-256 in XTS mode, as LUKS2 by default", Cipher::Aes256Xts),
    ("aes-128-xts", "AES-128 in XTS mode", Cipher::Aes128Xts),
];
/// How checksums stay in step with data.
pub const CHECKSUMS: &[Choice<Checksums>] = &[
    ("journal", "data and checksums go through a journal: all data are written twice", Checksums::Journal),
    ("bitmap", "blocks marked in a bitmap are recomputed after a crash", Checksums::Bitmap),
    ("direct", "no journal: after a crash, blocks that were being written cannot be read", Checksums::Direct),
];
/// What a mapping drops instead of letting it fail.
pub const DROPPED: &[Choice<()>] = &[("writes", "writes and flushes are acknowledged but dropped; reads work", ())];
/// States of a device that are examined; each takes a second or so.
pub const POINTS: Limits<u32> = Limits { least: 2, most: 10_000 };
/// Without a number, by eye: a minute or two.
pub const POINTS_USUAL: u32 = 48;
/// What a cache of writes keeps at once: at most a page.
pub const CACHE_BLOCK: Limits<Bytes> = Limits { least: Bytes(512), most: Bytes::kib(4) };

/// `dm`.
pub const DM: Mapping = Mapping {
    en: "dm",
    ru: "dm",
    doc: "Exactly one mapping, over each device; `writecache` and `log_writes` make one of two.",
    keys: &[
        optional("linear", "absent", Shape::Word(|| vec![("whole", "the whole device")]), "The device itself."),
        optional("delay", "absent", Shape::Map(&DELAY), "Delays I/Os."),
        optional("flakey", "absent", Shape::Map(&FLAKEY), "I/Os fail periodically."),
        optional("error", "absent", Shape::Map(&ERROR), "I/Os to one range fail, as on a drive with bad blocks."),
        optional(
            "crypt",
            "absent",
            Shape::Word(|| words(CIPHERS)),
            "Contents are encrypted (dm-crypt). The key is drawn for the stand and shown in its plan: this measures what encryption costs and protects nothing.",
        ),
        optional(
            "integrity",
            "absent",
            Shape::Word(|| words(CHECKSUMS)),
            "A checksum (CRC32C) of every sector of 512 bytes is kept on the device and compared whenever that is read (dm-integrity).",
        ),
        optional(
            "writecache",
            "absent",
            Shape::Map(&WRITECACHE),
            "A write cache (dm-writecache): the last of two devices takes the writes first and writes them back to the other one later.",
        ),
        optional(
            "log_writes",
            "absent",
            Shape::Map(&LOG_WRITES),
            "Every write to the first of exactly two devices is kept in a log on the second (dm-log-writes). Trials with `verify: {crash: true}` are then judged by replaying it ([verification.md](verification.md)).",
        ),
    ],
};
/// `delay`.
pub const DELAY: Mapping = Mapping {
    en: "delay",
    ru: "delay",
    doc: "How long I/Os wait, in whole milliseconds.",
    keys: &[
        optional("read", "0ms", Shape::Span(WAIT), "Reads."),
        optional("write", "0ms", Shape::Span(WAIT), "Writes."),
    ],
};
/// `flakey`.
pub const FLAKEY: Mapping = Mapping {
    en: "flakey",
    ru: "flakey",
    doc: "Whole seconds.",
    keys: &[
        required("up", Shape::Span(WAIT), "How long it works."),
        required("down", Shape::Span(WAIT), "How long it fails. Not both 0."),
        optional(
            "drop",
            "absent: I/Os fail",
            Shape::Word(|| words(DROPPED)),
            "What happens instead of failing: emulates storage that lies, to test whether that is found.",
        ),
    ],
};
/// `error`.
pub const ERROR: Mapping = Mapping {
    en: "error",
    ru: "error",
    doc: "The place that fails, in whole MiB; it must lie on each of the devices.",
    keys: &[
        required("from", Shape::Size(PLACE, UNIT), "Where it begins."),
        required("length", Shape::Size(LENGTH, UNIT), "How long it is."),
    ],
};
/// `writecache`.
pub const WRITECACHE: Mapping = Mapping {
    en: "writecache",
    ru: "writecache",
    doc: "The second device is the cache of the first.",
    keys: &[optional("block_size", "4KiB", Shape::Size(CACHE_BLOCK, 512), "What it keeps at once, a power of two.")],
};
/// `log_writes`.
pub const LOG_WRITES: Mapping = Mapping {
    en: "log_writes",
    ru: "log_writes",
    doc: "A log of every write, one layer of a stand at most. What lies on it may be mappings without superblocks of their own, `luns`, `md`, `lvm`, `zfs`, `btrfs` and `fs`; what is built over several devices lies on `luns`, which have one log.",
    keys: &[optional(
        "points",
        "48",
        Shape::Whole(POINTS),
        "Most states of the device that are rebuilt and checked after each trial with `verify: {crash: true}`. Half of them are after a flush or a durable write, half where Stend noted what had been acknowledged, evenly over the trial.",
    )],
};
