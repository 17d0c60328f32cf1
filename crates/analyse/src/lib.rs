//! Records in, findings out: every statistic, every check, every verdict. Pure: no clock, no I/O.
#![forbid(unsafe_code)]

pub mod chart;
pub mod findings;

pub use chart::Chart;
pub use findings::Findings;
