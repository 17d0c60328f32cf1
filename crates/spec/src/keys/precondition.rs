//! The keys of `precondition`. Data only; must not parse.

use super::{BLOCK_UNIT, Choice, Key, Limits, Mapping, Shape, optional, words};
use crate::precondition::Purge;
use stend_base::Bytes;

/// Passes over the range; more wear a drive out without telling more, and none leave it as the purge did.
pub const PASSES: Limits<u32> = Limits { least: 0, most: 100 };
/// Passes, if none are named.
//= SNIA SSS PTS, WIPC: twice the user capacity
pub const PASSES_DEFAULT: u32 = 2;
/// Bytes per write: what direct I/O takes everywhere, and what a fill keeps in flight at most.
pub const BLOCK_SIZE: Limits<Bytes> = Limits { least: Bytes::kib(4), most: Bytes::mib(1) };
/// The same, if none are named.
//= SNIA SSS PTS, WIPC: sequential writes of 128 KiB
pub const BLOCK_DEFAULT: Bytes = Bytes::kib(128);
/// How the range is emptied.
pub const PURGES: &[Choice<Purge>] = &[
    ("none", "no purge: whatever the target held counts as part of its state; the result shows that", Purge::None),
    (
        "discard",
        "the range is discarded (TRIM, UNMAP, deallocate; in a test file, holes are punched). Where the target has no discard, the range is zeroed; the result shows which",
        Purge::Discard,
    ),
];

/// `precondition`.
pub const PRECONDITION: Mapping = Mapping {
    en: "precondition",
    ru: "precondition",
    doc: "Preparation before the trials instead of one plain fill: purge, then passes over the range (SNIA SSS PTS: workload-independent preconditioning). All data of the range are lost, as by any fill; secure erase and format are not done.",
    keys: &[
        optional("purge", "none", Shape::Word(|| words(PURGES)), "How the range is emptied first."),
        optional(
            "passes",
            "2",
            Shape::Whole(PASSES),
            "How often the range is then written, in order, with incompressible data. With 0 the range stays as the purge left it (this needs a purge), to measure a fresh drive until it is full (SNIA SSS PTS: write saturation).",
        ),
        optional("block_size", "128KiB", Shape::Size(BLOCK_SIZE, BLOCK_SIZE_UNIT), "Bytes per write, a power of two."),
    ],
};

/// Sizes are multiples of the smallest one.
const BLOCK_SIZE_UNIT: u64 = BLOCK_UNIT * 8;

/// As a key of the suite.
pub const KEY: Key = optional(
    "precondition",
    "absent",
    Shape::Map(&PRECONDITION),
    "Brings the range of `fill` to a known state before the first trial. Needs `fill`; for the preconditioning of a whole drive name its size there.",
);
