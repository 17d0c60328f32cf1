//! What other tools read and write: their jobs as suites and suites as their jobs, their results as a run, published tables as what they
//! claim. Must not judge what it reads, or guess what it cannot read.
#![forbid(unsafe_code)]

pub mod answers;
mod build;
mod date;
mod diskspd;
mod elbencho;
pub mod fio;
mod fio_values;
mod formats;
mod iometer;
pub mod jobs;
mod json;
mod number;
mod printed;
mod table;
mod unit;
mod vdbench;
pub mod xml;

pub use build::{File, ImportedRun, RESULTS_MAX};
pub use formats::results;
pub use table::{FILE_MAX, read};
