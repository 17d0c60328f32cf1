//! What others claim: numbers of a published table, as printed and as read. No judgement.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use stend_base::{Bytes, Say};

/// Sizes of I/Os that the name of a test may have, bytes. Links (`3g`, `12g`) are outside of it.
const BLOCK_SIZES: RangeInclusive<u64> = 512..=64 << 20;
/// A size of I/Os is a multiple of a sector, bytes.
const SECTOR: u64 = 512;
/// `pattern` of a load for which fio has no word, or of several at once. A blank pattern would be any pattern.
pub const OTHER_PATTERN: &str = "other";
/// Revolutions per minute of drives, in words of the same form.
const SPINDLES: [&str; 6] = ["7k", "10k", "15k", "7к", "10к", "15к"];

/// A table of published numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Published {
    /// Name of the file it was read from.
    pub file: String,
    /// One number each, in the order of the file.
    pub rows: Vec<Claim>,
}

/// One published number and what it is a number of. Empty texts were blank.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Claim {
    /// Line of the table's file, from 1.
    pub row: u32,
    /// Where it was published.
    pub source: String,
    /// Which experiment.
    pub experiment: String,
    /// On what hardware.
    pub stand: String,
    /// What was compared: a system, a layout, a drive.
    pub layout: String,
    /// Name of the test.
    pub test: String,
    /// Order of offsets, as printed.
    pub pattern: String,
    /// Bytes per I/O.
    pub block_size: Option<Bytes>,
    /// I/Os in flight per job.
    pub queue_depth: Option<u32>,
    /// Jobs, in all.
    pub jobs: Option<u32>,
    /// What the number is: `iops`, `throughput`, `latency`, `relative_percent`, …
    pub metric: String,
    /// Unit as printed.
    pub unit: String,
    /// The number as printed.
    pub printed: String,
    /// The number as read; `None`: it is text.
    pub value: Option<Number>,
    /// The layout that a relative number refers to.
    pub baseline: String,
    /// Line of the publication.
    pub line: Option<u32>,
    /// Which of several kinds of I/O of the test: `write`, `sync`, …
    #[serde(default)]
    pub operation: String,
}

impl Claim {
    /// Which number it is: layout, test and metric.
    pub fn name(&self) -> String {
        let words = [&self.layout, &self.test, &self.metric].into_iter().filter(|word| !word.is_empty());
        words.map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// A printed number in base units: bytes per second, I/Os per second, seconds, bytes; otherwise in its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// Its value.
    pub value: f64,
    /// One unit of its last printed digit: rounding may hide half of it.
    pub step: f64,
    /// Digits that it was printed with, leading zeros left out.
    pub digits: u32,
    /// What it is a number of.
    pub dimension: Dimension,
    /// Base units in one printed unit.
    pub factor: f64,
}

/// What a number is a number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Bytes per second.
    Throughput,
    /// I/Os per second.
    Rate,
    /// Seconds.
    Time,
    /// Bytes.
    Size,
    /// Hundredths.
    Percent,
    /// A ratio, a count, or a unit that is taken as it is.
    Plain,
}

/// What of a table could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Line of the file, from 1.
    pub row: u32,
    /// Name of the column.
    pub column: String,
    /// Why.
    pub why: Say,
}

/// Bytes per I/O by the name of a test: `seq-read-128k`. `None`: no word of it is such a size, or several are and differ, because one of them
/// can be that of a chunk or a record. `read` reads one word in lower case.
///
/// Drives and links have words of the same form (`15k`, `7.2k`, `12g`), which are no sizes.
pub fn block_size_in_name(test: &str, read: fn(&str) -> Option<Bytes>) -> Option<Bytes> {
    let test = test.to_lowercase();
    let words = test.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | ',')).filter(|word| !is_decimal(word));
    let words = words.flat_map(|word| word.split(['.', ',']));
    let words = words.filter(|word| word.ends_with(char::is_alphabetic) && !SPINDLES.contains(word));
    let mut sizes = words.filter_map(read).filter(|size| BLOCK_SIZES.contains(&size.0));
    let first = sizes.next()?;
    (sizes.all(|size| size == first) && first.0.is_multiple_of(SECTOR)).then_some(first)
}

/// Whether a word is a number with decimals, and perhaps letters behind it: `7.2k`, `7,2k`.
fn is_decimal(word: &str) -> bool {
    let Some((whole, decimals)) = word.trim_matches(['.', ',']).split_once(['.', ',']) else { return false };
    whole.bytes().all(|byte| byte.is_ascii_digit()) && decimals.starts_with(|c: char| c.is_ascii_digit())
}
