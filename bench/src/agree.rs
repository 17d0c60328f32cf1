//! `make agree`: do Stend and fio agree? Same target, same minute, paired and interleaved.

mod cell;
mod contest;
mod limited;
mod report;
mod reserved;

use crate::fio::Fio;
use crate::{Outcome, Settings};
use std::time::Duration;

/// Six blocks are the fewest for a 95 % statement.
const BLOCKS: usize = 6;
/// The limiter lets I/O through in slices of up to 100 ms; one I/O that spans the end of the window counts with its full
/// latency, 2 % of 5 s at depth 1.
const WINDOW: Duration = Duration::from_secs(5);

/// How long and how often.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Interleaved blocks per cell.
    blocks: usize,
    /// Window of each trial.
    window: Duration,
}

/// Measures everything and writes the page.
pub fn compare(settings: &Settings) -> Outcome<()> {
    let extent =
        Extent { blocks: settings.blocks.unwrap_or(BLOCKS).max(BLOCKS), window: settings.window.unwrap_or(WINDOW) };
    let fio = Fio::find(settings)?;
    // For as long as anything is measured.
    let _reserved = reserved::Reserved::make()?;
    let limited = limited::Limited::make()?;
    let first = contest::on_device(settings, extent, &fio, limited.device(), &limited.words())?;
    drop(limited);
    let second = contest::in_directory(settings, extent, &fio)?;
    report::write(settings, extent, &fio, &[first, second])
}
