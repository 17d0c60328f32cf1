//! The keys of a mirror of two hosts. Data only; must not parse.

use super::{INITIAL_SYNC_OF_DRBD, UNIT};
use crate::keys::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::stand::DrbdProtocol;
use stend_base::Bytes;

/// When a write is done.
pub const PROTOCOLS: &[Choice<DrbdProtocol>] = &[
    ("A", "when it is on the drive of the primary and in the queue of what is sent", DrbdProtocol::A),
    ("B", "when it is on the drive of the primary and has arrived in the memory of the peer", DrbdProtocol::B),
    ("C", "when it is on the drives of both hosts", DrbdProtocol::C),
];
/// Where metadata lie: whether outside of the device with the data.
pub const METADATA: &[Choice<bool>] = &[
    ("internal", "at the end of the device with the data", false),
    ("external", "on a device of their own: the second one of each host", true),
];
/// Bytes per second of a resync.
//= drbd 8.4, drbdsetup(8), resync-rate: up to 4 GiB/s
pub const RESYNC_RATE: Limits<Bytes> = Limits { least: Bytes::mib(1), most: Bytes::gib(4) };

/// `drbd`.
pub const DRBD: Mapping = Mapping {
    en: "drbd",
    ru: "drbd",
    doc: "A device of which two hosts keep a copy (DRBD 8.4, the module of the kernel). `on` names a device of each; `to` names the host that has the device of the mirror: its primary. The other one takes the copy and never has the device (no dual primary). Only with `hosts`.",
    keys: &[
        required("protocol", Shape::Word(|| words(PROTOCOLS)), "When a write is done."),
        optional("metadata", "internal", Shape::Word(|| words(METADATA)), "Where DRBD keeps its metadata."),
        optional(
            "resync_rate",
            "what DRBD takes: it adapts to the load",
            Shape::Size(RESYNC_RATE, UNIT),
            "Fixed rate of a resync, per second (`resync-rate`, with `c-plan-ahead 0`).",
        ),
        INITIAL_SYNC_OF_DRBD,
    ],
};
