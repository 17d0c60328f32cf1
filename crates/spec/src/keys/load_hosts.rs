//! The key `load_hosts`. Data only; must not parse.

use super::rate::{LIMIT, QUANTILE};
use super::{Choice, Key, Limits, Mapping, Shape, optional, required, words};
use crate::load_hosts::LoadHosts;

/// Load hosts of a run.
pub const COUNT: Limits<u32> = Limits { least: 1, most: super::order::LOADS.most as u32 };
/// Numbers of a case.
pub const COUNTS: Limits<usize> = Limits { least: 1, most: 64 };
/// Words instead of numbers.
pub const WORDS: &[Choice<LoadHosts>] = &[
    ("all", "every load host of the run", LoadHosts::All),
    ("doubling", "a cell each for 1, 2, 4 and so on, and for all of them", LoadHosts::Doubling),
];

/// `load_hosts` as a mapping.
pub const LOAD_HOSTS: Mapping = Mapping {
    en: "load_hosts",
    ru: "load_hosts",
    doc: "The number is searched.",
    keys: &[required("search", Shape::Map(&SEARCH), "The largest number of load hosts that each hold an objective.")],
};

/// Its `search`.
pub const SEARCH: Mapping = Mapping {
    en: "search of hosts",
    ru: "поиск числа машин",
    doc: "Numbers double from `from` until one misses the objective, the gap is halved, and the last two are tried three times. A number holds if every host stays within `limit` every time, and serves its `rate` if the stream has one.",
    keys: &[
        optional("from", "1", Shape::Whole(COUNT), "Fewest, tried first."),
        optional("to", "all", Shape::Whole(COUNT), "Most; the run may have fewer."),
        required(
            "quantile",
            Shape::Share(QUANTILE),
            "Share of the I/Os of each host, and of each stream, that must stay within the limit, e.g. `99%`.",
        ),
        required(
            "limit",
            Shape::Span(LIMIT),
            "Longest response that this share may have; with a `rate` from when an I/O was due.",
        ),
    ],
};

/// As a setting of a case.
pub const KEY: Key = optional(
    "load_hosts",
    "all",
    Shape::Either(&[
        Shape::Word(|| words(WORDS)),
        Shape::Whole(COUNT),
        Shape::Several(&Shape::Whole(COUNT), COUNTS),
        Shape::Map(&LOAD_HOSTS),
    ]),
    "How many of the load hosts make the load: the first ones of those that the run has. The others rest meanwhile. A cell with more hosts than there are does not run. Not with `arms`, `events`, a searched rate and `--load all-hosts`. A list makes a cell for each number.",
);
