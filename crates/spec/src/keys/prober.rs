//! The keys of the prober. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::prober::ProberKey;
use crate::workload::Op;
use stend_base::MilliIops;

/// How often one may ask that was asked for: more is a load.
pub const RATE: Limits<MilliIops> = Limits { least: MilliIops::per_second(1), most: MilliIops::per_second(1000) };
/// Words instead of a rate.
pub const WORDS: &[Choice<ProberKey>] = &[
    ("off", "none", ProberKey::Off),
    (
        "auto",
        "where streams have a `rate`, at 0.5 % of it, from 1 to 100 per second; none with closed loops, searches and replays, without readable data, or with fewer than 10 probes in the window",
        ProberKey::Auto,
    ),
];
/// What probes do.
pub const OPERATIONS: &[Choice<Option<Op>>] = &[
    ("auto", "`write` where a stream writes durably, else `read`", None),
    ("read", "reads at random places of the range", Some(Op::Read)),
    (
        "write",
        "durable writes into the last 1 MiB of the range (of a small one 1/64), which no stream then touches; needs a stream that writes with a `sync` that is durable",
        Some(Op::Write),
    ),
];

/// `prober`.
pub const PROBER: Mapping = Mapping {
    en: "prober",
    ru: "prober",
    doc: "A prober with a fixed rate; the result warns if that is more than 0.5 % of the load.",
    keys: &[
        required("rate", Shape::Rate(RATE), "Probes per second."),
        optional("op", "auto", Shape::Word(|| words(OPERATIONS)), "What they do."),
    ],
};
