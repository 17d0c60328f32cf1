//! The keys below `rate`: when the I/Os of an open loop are due. Data only; must not parse.

use super::{Choice, Limits, Mapping, Shape, optional, required, words};
use crate::rate::{self, Gaps};
use stend_base::{MilliIops, Millionths, Nanos};

/// Rate of an open loop. At the most an arrival comes every 100 ns, twice as often as one thread can begin I/O.
pub const RATE: Limits<MilliIops> = Limits { least: MilliIops(1), most: MilliIops::per_second(10_000_000) };
/// A rate inside a schedule, which may pause.
pub const RATE_OR_PAUSE: Limits<MilliIops> = Limits { least: MilliIops(0), most: RATE.most };
/// Steps of a schedule.
pub const STEPS: Limits<usize> = Limits { least: 1, most: 1000 };
/// Places in flight of an open loop that does not name them: enough for a healthy device at any rate
/// that it can take, few enough that plain calls could make them (by eye).
pub const OPEN_DEPTH: u32 = 64;
/// When a step of a schedule begins.
pub const STEP_AT: Limits<Nanos> = Limits { least: Nanos(0), most: super::SPAN_MAX };
/// Length of a swing or a burst.
pub const PERIOD: Limits<Nanos> = Limits { least: Nanos::millis(1), most: super::SPAN_MAX };
/// Quantile that a search holds.
pub const QUANTILE: Limits<Millionths> = Limits { least: Millionths::percent(50), most: Millionths(999_990) };
/// Response that a search allows.
pub const LIMIT: Limits<Nanos> = Limits { least: Nanos(1_000), most: Nanos::secs(3600) };
/// Distance of neighbouring rates of a search; below 1 % rates are rounded away.
pub const PRECISION: Limits<Millionths> = Limits { least: Millionths::percent(1), most: Millionths::ALL };
/// The precision of those who do not name one: that of method §5.5.
pub const PRECISION_DEFAULT: Millionths = Millionths::percent(3);
/// A point of the curve.
pub const CURVE_PART: Limits<Millionths> = Limits { least: Millionths::percent(1), most: Millionths::ALL };
/// Points of the curve.
pub const CURVE_PARTS: Limits<usize> = Limits { least: 1, most: 100 };
/// How arrivals are spread.
pub const GAPS: &[Choice<Gaps>] =
    &[("even", "at equal distances", Gaps::Even), ("poisson", "like those of many independent users", Gaps::Poisson)];
/// Shapes of a step that need nothing more.
pub const SHAPES: &[Choice<rate::Shape>] = &[
    ("jump", "at once", rate::Shape::Jump),
    ("ramp", "evenly from the rate before, reached at `at`", rate::Shape::Ramp),
];
/// `rate` as a mapping.
pub const RATE_MAP: Mapping = Mapping {
    en: "rate",
    ru: "rate",
    doc: "Exactly one of `poisson`, `schedule` and `search`.",
    keys: &[
        optional("poisson", "absent", Shape::Rate(RATE), "Gaps of a Poisson process, as of many independent users."),
        optional(
            "schedule",
            "absent",
            Shape::List(&STEP, STEPS),
            "The rate over time, in ascending order; the first step is at `0s`, the last has no end. Ramps and sines are made of 1024 equal steps.",
        ),
        optional("gaps", "even", Shape::Word(|| words(GAPS)), "How arrivals are spread at the rate of a `schedule`."),
        optional(
            "search",
            "absent",
            Shape::Map(&SEARCH),
            "Searches the highest rate that is served within a limit of latency, trial by trial. Only one stream of a case, and not with `arms`.",
        ),
    ],
};

/// `search`.
pub const SEARCH: Mapping = Mapping {
    en: "search",
    ru: "search",
    doc: "Rates double from `from` until one misses the limit, the gap is halved, and the last two are tried three times. A rate holds if it is served and the limit is kept every time.",
    keys: &[
        required("from", Shape::Rate(RATE), "First and lowest rate."),
        required("to", Shape::Rate(RATE), "Highest rate."),
        required(
            "quantile",
            Shape::Share(QUANTILE),
            "Share of the I/Os whose response must stay within the limit, e.g. `99%`.",
        ),
        required("limit", Shape::Span(LIMIT), "Longest response that this share may have, from when an I/O was due."),
        optional("precision", "3%", Shape::Share(PRECISION), "Distance of neighbouring rates."),
        optional("gaps", "poisson", Shape::Word(|| words(GAPS)), "How arrivals are spread."),
        optional(
            "curve",
            "absent",
            Shape::Several(&Shape::Share(CURVE_PART), CURVE_PARTS),
            "Parts of the rate that was found, at each of which latency is then measured once per block of `repeats`, e.g. `[10%, 50%, 100%]`.",
        ),
    ],
};

/// An item of `schedule`.
pub const STEP: Mapping = Mapping {
    en: "a step",
    ru: "шаг расписания",
    doc: "A change of the rate.",
    keys: &[
        required("at", Shape::Span(STEP_AT), "When, since the start of the load (its ramp included)."),
        required("rate", Shape::Rate(RATE_OR_PAUSE), "The rate from here on; `0/s` is a pause."),
        optional(
            "shape",
            "jump",
            Shape::Either(&[Shape::Word(|| words(SHAPES)), Shape::Map(&SHAPE)]),
            "How the rate is reached, or what happens around it.",
        ),
    ],
};

/// `shape` as a mapping.
pub const SHAPE: Mapping = Mapping {
    en: "shape",
    ru: "shape",
    doc: "Exactly one of the two.",
    keys: &[
        optional("sine", "absent", Shape::Map(&SINE), "The rate swings around its value."),
        optional("burst", "absent", Shape::Map(&BURST), "The rate rises again and again."),
    ],
};

/// `sine`.
pub const SINE: Mapping = Mapping {
    en: "sine",
    ru: "sine",
    doc: "The rate swings around its value, beginning with the rise.",
    keys: &[
        required("amplitude", Shape::Rate(RATE), "Largest distance from the value; not above it."),
        required("period", Shape::Span(PERIOD), "Length of a swing."),
    ],
};

/// `burst`.
pub const BURST: Mapping = Mapping {
    en: "burst",
    ru: "burst",
    doc: "The rate rises again and again, the first time at once.",
    keys: &[
        required("rate", Shape::Rate(RATE), "Rate inside a burst."),
        required("every", Shape::Span(PERIOD), "From the beginning of one burst to the next."),
        required("lasting", Shape::Span(PERIOD), "Length of a burst, less than `every`."),
    ],
};
