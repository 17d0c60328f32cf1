//! Results of other tools as records: published tables as what they claim, results of a benchmark as a run. Must not judge what it
//! reads, or guess what it cannot read.
#![forbid(unsafe_code)]

mod build;
mod date;
mod diskspd;
mod elbencho;
pub mod fio;
mod formats;
mod iometer;
mod json;
mod number;
mod printed;
mod table;
mod unit;
mod vdbench;

pub use build::{File, ImportedRun, RESULTS_MAX};
pub use formats::results;
pub use table::{FILE_MAX, read};
