//! `make speed`: what does an I/O cost, and is the peer faster? Paired rounds, their order reversed every other time.

mod bare;
mod contenders;
mod experiment;
mod measured;
mod report;
mod t_io_uring;

pub use contenders::relative;

use crate::fio::Fio;
use crate::{Outcome, Settings};
use experiment::Peer;
use std::time::Duration;

/// Rounds: fifteen give an interval of the median from the 4th to the 12th.
const ROUNDS: usize = 15;
/// Window of each trial; the kernel counts CPU time in steps of 10 ms, 1 % of it.
const WINDOW: Duration = Duration::from_secs(1);

/// How long and how often.
#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    window: Duration,
}

/// Measures everything and writes the page; with `ONLY` a part of it, which is printed.
pub fn compare(settings: &Settings) -> Outcome<()> {
    let extent = Extent { rounds: settings.blocks.unwrap_or(ROUNDS).max(6), window: settings.window.unwrap_or(WINDOW) };
    let fio = Fio::find(settings)?;
    let start_up = contenders::start_up(&fio)?;
    let mut results = Vec::new();
    for mut experiment in experiment::all() {
        experiment.goals.retain(|goal| goal.peer != Peer::TIoUring || settings.t_io_uring.is_some());
        if settings.only.as_ref().is_none_or(|only| experiment.name.contains(only.as_str())) {
            results.push(contenders::run(settings, extent, &fio, start_up, &experiment)?);
        }
    }
    report::write(settings, extent, &fio, start_up, &results)
}
