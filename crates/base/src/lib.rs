//! What every other crate stands on: units, histogram, seeded randomness, errors with hints and
//! texts in two languages. Pure: no I/O, no clock, no global state.
#![forbid(unsafe_code)]

pub mod buckets;
pub mod calendar;
pub mod code;
pub mod distribution;
pub mod error;
pub mod fingerprint;
pub mod format;
pub mod histogram;
pub mod own_data;
pub mod permutation;
pub mod random;
pub mod text;
pub mod units;

pub use code::{Code, Kind};
pub use error::{Error, FilePosition, Result};
pub use fingerprint::Fingerprint;
pub use histogram::Histogram;
pub use text::{Lang, Say};
pub use units::{Bytes, MilliIops, Millionths, Nanos, Share};
