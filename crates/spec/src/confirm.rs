//! Tests of cause: what is run beside a case, so that the result can say whether what seems to bound it does. Pure.

use serde::{Deserialize, Serialize};

/// One kind of test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Twice the queue depth: what is used up does not give more.
    Depth,
    /// As much in flight over twice the jobs: a load thread that was the limit gives more.
    Threads,
    /// The same on another NUMA node than that of the device.
    Node,
}

/// A cell of a plan that is there for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirming {
    /// Index of the cell that it is a test of.
    pub of: u32,
    /// Which test.
    pub test: Test,
}

/// A cell that tests another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestedBy {
    /// Index of the cell that is the test.
    pub cell: u32,
    /// Which test.
    pub test: Test,
    /// It is a case of the suite, which is measured for itself, too.
    pub is_case: bool,
}
