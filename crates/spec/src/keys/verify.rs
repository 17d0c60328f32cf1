//! The keys below `verify`: whether data come back as they were written. Data only; must not parse.

use super::{Mapping, Shape, optional};

/// `verify` as a mapping.
pub const VERIFY: Mapping = Mapping {
    en: "verify",
    ru: "verify",
    doc: "While the load runs, its own reads are compared with what was written.",
    keys: &[
        optional(
            "after",
            "false",
            Shape::Bool,
            "After the window every block that the trial wrote is read once more, in the order of addresses, and compared. It takes a minute and a second for every 8 MiB of the range at most, or twice the time of the load if that is longer; `op: write` needs it or `crash`.",
        ),
        optional(
            "crash",
            "false",
            Shape::Bool,
            "A ledger beside the run file keeps what was sent and what was acknowledged. With it, `stend run --resume` can check every block after a crash, or after the event `power.cut`. On a stand with a log of writes (`dm: {log_writes: {}}`) states of the device are checked instead. Needs a `sync` that makes each write durable (`dsync`, `o_dsync`, `fdatasync: 1` or `fsync: 1`) and a run file on another drive than the target; takes 32 bytes per block there.",
        ),
    ],
};
