//! The key `confirm`. Data only; must not parse.

use super::{Choice, Key, Shape, axis, optional, words};
use crate::confirm::Test;

/// Tests of cause.
pub const TESTS: &[Choice<Test>] = &[
    ("depth", "with twice the queue depth: a saturated resource gives no more, and latency doubles", Test::Depth),
    (
        "threads",
        "with twice the jobs at half the queue depth, for random patterns: a higher rate means that a load thread was the limit",
        Test::Threads,
    ),
    (
        "node",
        "with CPUs and memory of another NUMA node than that of the target's device, if the machine has one",
        Test::Node,
    ),
];

/// `confirm`.
pub const KEY: Key = axis(optional(
    "confirm",
    "absent",
    Shape::Word(|| words(TESTS)),
    "Tests of the supposed limit: every case with a closed loop of one stream runs once more in each block, with one change. They have no row in tables, no charts and no part in the verdict, and take as long as their case. Not for cases with `think`, `verify`, `batch`, `trace`, `steady` or a rate. If the suite already has that cell, it is used as the test.",
));
