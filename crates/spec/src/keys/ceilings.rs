//! The keys of `ceilings`. Data only; must not parse.

use super::{BLOCK_UNIT, Key, Limits, Mapping, Shape, optional, required};
use crate::keys::rate::RATE;
use stend_base::Bytes;

/// Drives of a layout: far more than one system has.
pub const DRIVES: Limits<u32> = Limits { least: 1, most: 10_000 };
/// Bytes on one drive before the next one follows.
pub const CHUNK: Limits<Bytes> = Limits { least: Bytes::kib(4), most: Bytes::mib(64) };
/// A chunk is a multiple of this, bytes: what every array counts in.
pub const CHUNK_UNIT: u64 = BLOCK_UNIT * 8;
/// Copies of a block.
pub const COPIES: Limits<u32> = Limits { least: 2, most: 16 };
/// Copies of `raid10` and those that a host sends, if they are not named.
pub const COPIES_DEFAULT: u32 = 2;
/// See [`COPIES_DEFAULT`].
pub const SENT_DEFAULT: u32 = 1;
/// Copies that the host itself sends.
pub const SENT: Limits<u32> = Limits { least: 0, most: 16 };
/// Blocks of a row of an erasure code: as many as a byte tells apart.
pub const BLOCKS: Limits<u32> = Limits { least: 1, most: 255 };
/// Throughput of a drive or a network, per second.
pub const THROUGHPUT: Limits<Bytes> = Limits { least: Bytes(1_000_000), most: Bytes(10_000_000_000_000) };

const DRIVES_KEY: Key = required("drives", Shape::Whole(DRIVES), "How many drives there are, spares left out.");
const CHUNK_KEY: Key = required(
    "chunk",
    Shape::Size(CHUNK, CHUNK_UNIT),
    "Bytes on one drive before the next one follows (md: chunk; arrays: stripe unit, strip).",
);
const CHUNK_OR_NOT: Key = Key { default: Some("absent"), ..CHUNK_KEY };

/// Layouts of which only the number of drives matters.
pub const OF_DRIVES: Mapping =
    Mapping {
        en: "a number of drives", ru: "число накопителей", doc: "So many drives.", keys: &[DRIVES_KEY]
    };

/// `stripe`.
pub const STRIPE: Mapping =
    Mapping { en: "stripe", ru: "stripe", doc: "Blocks lie on the drives in turn.", keys: &[DRIVES_KEY, CHUNK_OR_NOT] };

/// `raid10`.
pub const RAID10: Mapping = Mapping {
    en: "raid10",
    ru: "raid10",
    doc: "A stripe of which every block lies on several drives.",
    keys: &[
        DRIVES_KEY,
        optional("copies", "2", Shape::Whole(COPIES), "Drives that hold a block, at most all of them."),
        CHUNK_OR_NOT,
    ],
};

/// `raid5` and `raid6`.
pub const PARITY: Mapping = Mapping {
    en: "a parity array",
    ru: "массив с чётностью",
    doc: "At least three drives of `raid5`, four of `raid6`.",
    keys: &[DRIVES_KEY, CHUNK_KEY],
};

/// `replication`.
pub const REPLICATION: Mapping = Mapping {
    en: "replication",
    ru: "replication",
    doc: "Whole copies on several drives, of a cluster (Ceph) or of two hosts (DRBD).",
    keys: &[
        required("copies", Shape::Whole(COPIES), "How many, the first one included; at most one per drive."),
        required("drives", Shape::Whole(DRIVES), "Drives of all copies together."),
        optional(
            "sent",
            "1",
            Shape::Whole(SENT),
            "Copies that this host itself sends over the network for each write: 1 where a server of the cluster passes the others on, all but one where the host holds a copy of its own.",
        ),
    ],
};

/// `erasure`.
pub const ERASURE: Mapping = Mapping {
    en: "erasure",
    ru: "erasure",
    doc: "Erasure code that changes blocks in place: a row has `data` blocks of data and `parity` of parity, each on another drive.",
    keys: &[
        required("data", Shape::Whole(BLOCKS), "Blocks of data of a row."),
        required("parity", Shape::Whole(BLOCKS), "Blocks of parity of a row."),
        required("drives", Shape::Whole(DRIVES), "All drives, at least as many as a row has blocks."),
        required("chunk", Shape::Size(CHUNK, CHUNK_UNIT), "Bytes of a block (stripe unit)."),
    ],
};

/// `layout`.
pub const LAYOUT: Mapping = Mapping {
    en: "layout",
    ru: "layout",
    doc: "How the drives are put together: exactly one of these.",
    keys: &[
        optional("stripe", "absent", Shape::Map(&STRIPE), "RAID 0, or a striped volume of LVM."),
        optional("mirror", "absent", Shape::Map(&OF_DRIVES), "RAID 1: every drive holds everything."),
        optional("raid10", "absent", Shape::Map(&RAID10), "RAID 10."),
        optional("raid5", "absent", Shape::Map(&PARITY), "RAID 5."),
        optional("raid6", "absent", Shape::Map(&PARITY), "RAID 6."),
        optional("replication", "absent", Shape::Map(&REPLICATION), "Whole copies."),
        optional("erasure", "absent", Shape::Map(&ERASURE), "Erasure code."),
        optional(
            "copy_on_write",
            "absent",
            Shape::Map(&OF_DRIVES),
            "ZFS, btrfs, log-structured storage: no model for writes; only I/O counted at the drives is used.",
        ),
    ],
};

/// `drive`.
pub const DRIVE: Mapping = Mapping {
    en: "drive",
    ru: "drive",
    doc: "Rates of one drive alone; at least one of these. Reads that `calibrate: members` measured win over these.",
    keys: &[
        optional("random_read", "absent", Shape::Rate(RATE), "Reads of 4 KiB at random."),
        optional(
            "random_write",
            "absent",
            Shape::Rate(RATE),
            "Writes of 4 KiB at random, for hours and not only until a cache is full: of an SSD in steady state.",
        ),
        optional("sequential_read", "absent", Shape::Throughput(THROUGHPUT), "Large reads in order."),
        optional("sequential_write", "absent", Shape::Throughput(THROUGHPUT), "Large writes in order, likewise."),
    ],
};

/// `ceilings`.
pub const CEILINGS: Mapping = Mapping {
    en: "ceilings",
    ru: "ceilings",
    doc: "Facts that Stend cannot measure without writing to drives, or cannot see from the host. At least one of `layout`, `drive` and `network`.",
    keys: &[
        optional(
            "layout",
            "as the host shows it",
            Shape::Map(&LAYOUT),
            "How the drives under the targets are put together, where the host does not show it: hardware arrays, volumes of LVM, clusters. What contradicts the host is not used; the result shows that.",
        ),
        optional("drive", "absent", Shape::Map(&DRIVE), "Rates of one drive. Needs `source`."),
        optional(
            "network",
            "absent",
            Shape::Throughput(THROUGHPUT),
            "Capacity of the network between the host and the storage in one direction, all links together: `25Gbit/s`. Needs `source`.",
        ),
        optional(
            "source",
            "absent",
            Shape::Name,
            "Source of the numbers, printed in the report: `R-20261123-…, each drive alone`, `data sheet, page 3`.",
        ),
    ],
};

/// As a key of the suite.
pub const KEY: Key = optional(
    "ceilings",
    "absent",
    Shape::Map(&CEILINGS),
    "Known facts about the storage that `calibrate` does not measure: they give ceilings for writes, layouts and networks.",
);
