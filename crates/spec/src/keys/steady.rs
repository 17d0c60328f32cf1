//! The keys of `steady`. Data only; must not parse.

use super::{Key, Limits, Mapping, SPAN_MAX, Shape, optional};
use stend_base::Nanos;

/// Rounds: five are the fewest that the rule looks at.
pub const ROUNDS: Limits<u32> = Limits { least: 5, most: 1000 };
/// Rounds, if none are named: PTS lets a load that is not steady by then go on or be reported as it is.
//= SNIA SSS PTS, steady state: not reached by round 25
pub const ROUNDS_DEFAULT: u32 = 25;
/// Length of a round; two intervals of 100 ms at least.
pub const ROUND: Limits<Nanos> = Limits { least: Nanos::millis(200), most: SPAN_MAX };
/// The same, if none is named.
//= SNIA SSS PTS: a round is a minute
pub const ROUND_DEFAULT: Nanos = Nanos::secs(60);

/// `steady`.
pub const STEADY: Mapping = Mapping {
    en: "steady",
    ru: "steady",
    doc: "Rounds of the load of a case before it is measured. The rate (IOPS, or throughput from 64 KiB on) is steady when, over the last five rounds, it spans at most 20 % of its mean and its fitted line moves by at most 10 % ([steady.md](../method/steady.md)).",
    keys: &[
        optional(
            "rounds",
            "25",
            Shape::Whole(ROUNDS),
            "Most rounds. A case that is not steady by then is measured anyway; its result shows that.",
        ),
        optional("round", "1min", Shape::Span(ROUND), "Length of each round."),
    ],
};

/// As a setting of a case.
pub const KEY: Key = optional(
    "steady",
    "none",
    Shape::Either(&[
        Shape::Word(|| vec![("none", "the case is measured in the state that it finds")]),
        Shape::Map(&STEADY),
    ]),
    "Before the case is measured its own load runs in rounds until its rate is steady (workload-dependent preconditioning). Such cases come after all others, in the order of the file, each with all of its trials one after the other. Not with `arms`, `rate` and traces.",
);
