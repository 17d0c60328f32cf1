//! Results of other tools as records: published tables as what they claim, results of fio as a run. Must not judge what it
//! reads, or guess what it cannot read.
#![forbid(unsafe_code)]

pub mod fio;
mod json;
mod number;
mod table;
mod unit;

pub use table::{FILE_MAX, read};
