//! The keys of a Ceph. Data only; must not parse.

use super::UNIT;
use crate::keys::{Limits, Mapping, Shape, optional, required};
use stend_base::Bytes;

/// Copies.
pub const SIZE: Limits<u32> = Limits { least: 2, most: 10 };
/// Copies without which I/Os wait.
pub const MIN_SIZE: Limits<u32> = Limits { least: 1, most: SIZE.most };
/// Parts with data.
pub const K: Limits<u32> = Limits { least: 2, most: 16 };
/// Parts with parity.
pub const M: Limits<u32> = Limits { least: 1, most: 8 };
/// Memory of an OSD.
//= ceph 16.2, src/common/options.cc: osd_memory_target has the minimum 896 MiB
pub const OSD_MEMORY: Limits<Bytes> = Limits { least: Bytes::mib(896), most: Bytes::gib(64) };
/// Memory of an OSD that the file does not give: a host with a few drives and not much else has it.
pub const OSD_MEMORY_DEFAULT: Bytes = Bytes::gib(1);

/// `ceph`.
pub const CEPH: Mapping = Mapping {
    en: "ceph",
    ru: "ceph",
    doc: "A Ceph of this host alone: one monitor, one manager, an OSD (BlueStore) on each device, and a CephFS, mounted by `ceph-fuse`. Exactly one of `replicated` and `ec`. Copies and parts lie on different drives (failure domain `osd`): the loss of the host takes all of them.",
    keys: &[
        optional("replicated", "absent", Shape::Map(&REPLICATED), "Whole copies."),
        optional(
            "ec",
            "absent",
            Shape::Map(&EC),
            "Erasure coding: parts and parity. Metadata have m + 1 whole copies.",
        ),
        optional(
            "osd_memory",
            "1GiB",
            Shape::Size(OSD_MEMORY, UNIT),
            "Memory that each OSD aims at, its cache included.",
        ),
    ],
};
/// `replicated`.
pub const REPLICATED: Mapping = Mapping {
    en: "replicated",
    ru: "replicated",
    doc: "Whole copies of each object, each on another drive.",
    keys: &[
        required("size", Shape::Whole(SIZE), "How many."),
        optional(
            "min_size",
            "more than half of `size`, as Ceph takes it",
            Shape::Whole(MIN_SIZE),
            "With fewer copies available, I/Os wait.",
        ),
    ],
};
/// `ec`.
pub const EC: Mapping = Mapping {
    en: "ec",
    ru: "ec",
    doc: "Each object in k parts with m parts of parity (Reed-Solomon of jerasure), each on another drive. Overwrites are allowed.",
    keys: &[
        required("k", Shape::Whole(K), "Parts with data."),
        required("m", Shape::Whole(M), "Parts with parity: so many drives may be lost."),
    ],
};
