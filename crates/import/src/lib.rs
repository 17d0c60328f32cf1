//! Published tables as records of what they claim. Must not judge what it reads, or guess what it cannot read.
#![forbid(unsafe_code)]

mod number;
mod table;
mod unit;

pub use table::{FILE_MAX, read};
