//! The key `confirm`. Data only; must not parse.

use super::{Choice, Key, Shape, axis, optional, words};
use crate::confirm::Test;

/// Tests of cause.
pub const TESTS: &[Choice<Test>] = &[
    ("depth", "with twice the queue depth: what is used up gives no more, and latency doubles", Test::Depth),
    (
        "threads",
        "with twice the jobs at half the queue depth, of patterns at random: more with as much in flight means that a load thread was the limit",
        Test::Threads,
    ),
    (
        "node",
        "on the CPUs and the memory of another NUMA node than that of the target's device, where the machine has one",
        Test::Node,
    ),
];

/// `confirm`.
pub const KEY: Key = axis(optional(
    "confirm",
    "absent",
    Shape::Word(|| words(TESTS)),
    "Tests of cause: every case that is a closed loop of one stream is run once more in each block, changed in one thing, so that the result can say whether what seems to bound it does. They have no row in tables, no charts and no part in the verdict, and take as long as their case. Not for cases with `think`, `verify`, `batch`, `trace`, `steady` or a rate, and where the suite has that cell anyway, that case is the test, as plan and result say.",
));
