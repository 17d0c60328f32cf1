//! The schedule: blocks in which every contender runs twice, mirrored, so that a drift cancels.

use super::Extent;
use super::cell::{self, Cell, Measured, RAMP, RANGE};
use crate::fio::Fio;
use crate::stend::Stend;
use crate::{Outcome, Settings, say, schedule};
use std::path::Path;
use std::time::Duration;
use stend_base::{Bytes, Nanos};
use stend_record::{BufferPages, TrialOutcome, TrialStatus};
use stend_spec::workload::Pages;
use stend_stats::paired;

/// Who runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// Stend.
    Stend,
    /// fio.
    Fio,
    /// Stend once more, under another name: what it differs from itself by is the noise of the place.
    Again,
}

/// Everything measured on one target.
pub struct Table {
    /// What the target is.
    pub target: String,
    /// Whether the tolerance applies here.
    pub limited: bool,
    /// One row per cell.
    pub rows: Vec<Row>,
}

/// One cell on one target: both quantities.
pub struct Row {
    /// What was run.
    pub cell: Cell,
    /// I/Os per second.
    pub iops: Compared,
    /// Mean latency, ns.
    pub latency: Compared,
}

/// One quantity.
pub struct Compared {
    /// Mean over Stend's trials.
    pub stend: f64,
    /// Mean over fio's trials.
    pub fio: f64,
    /// Stend relative to fio.
    pub ratio: paired::Ratio,
    /// 95th percentile of how far Stend is from itself, as a share; `None` where that was not run.
    pub floor: Option<f64>,
}

/// Stend against fio on a device with a limit: what both must find is known.
pub fn on_device(settings: &Settings, extent: Extent, fio: &Fio, device: &Path, words: &str) -> Outcome<Table> {
    let stend = Stend::on_device(settings, device, RANGE)?;
    run((extent, settings.only.as_deref()), fio, stend, &[Contender::Stend, Contender::Fio], words, true)
}

/// Stend against fio and against itself in a directory of the real disk.
pub fn in_directory(settings: &Settings, extent: Extent, fio: &Fio) -> Outcome<Table> {
    let stend = Stend::in_directory(settings, &settings.directory, RANGE)?;
    let words = format!("a file in `{}`", settings.directory.display());
    let contenders = [Contender::Stend, Contender::Fio, Contender::Again];
    run((extent, settings.only.as_deref()), fio, stend, &contenders, &words, false)
}

fn run(
    (extent, only): (Extent, Option<&str>),
    fio: &Fio,
    mut stend: Stend,
    contenders: &[Contender],
    words: &str,
    limited: bool,
) -> Outcome<Table> {
    let mut rows = Vec::new();
    let wanted = |cell: &Cell| only.is_none_or(|only| cell.name().contains(only));
    for cell in cell::all().into_iter().filter(wanted) {
        say(&format!("{words}: {}", cell.name()));
        let mut results: Vec<(Contender, usize, Measured)> = Vec::new();
        for block in 0..extent.blocks {
            for contender in schedule::mirrored(contenders, block) {
                let seed = results.len() as u64 + 1;
                let measured = match contender {
                    Contender::Fio => by_fio(fio, &cell, &stend.target, extent.window, seed)?,
                    Contender::Stend | Contender::Again => by_stend(&mut stend, &cell, extent.window, seed)?,
                };
                results.push((contender, block, measured));
            }
        }
        rows.push(row(cell, &results, extent.blocks)?);
    }
    stend.end()?;
    Ok(Table { target: words.to_string(), limited, rows })
}

fn by_stend(stend: &mut Stend, cell: &Cell, window: Duration, seed: u64) -> Outcome<Measured> {
    let (outcome, _) = stend.trial(cell.trial(Nanos(window.as_nanos() as u64), seed))?;
    got(cell.pages, outcome.engine.buffers)?;
    numbers(&outcome).ok_or_else(|| format!("a trial of Stend has no numbers; it ended as {:?}", outcome.status))
}

/// Refuses a trial whose buffers lay in other pages than it is compared by.
fn got(asked: Pages, buffers: Option<BufferPages>) -> Outcome<()> {
    let BufferPages { size, huge } = buffers.ok_or("the kernel does not tell what buffers lie in")?;
    let expected = if asked == Pages::Huge { size } else { Bytes(0) };
    if huge == expected {
        return Ok(());
    }
    Err(format!("{} of {} bytes of buffers lay in huge pages, and {asked:?} ones were asked for", huge.0, size.0))
}

/// Rate over the window, and the mean over everything that began in it, drained I/O included, as fio does.
fn numbers(outcome: &TrialOutcome) -> Option<Measured> {
    let window = outcome.window_end.saturating_sub(outcome.window_start).as_secs();
    let ops: u64 = outcome.jobs.iter().flat_map(|job| job.done).map(|(ops, _)| ops).sum();
    let in_window = outcome.jobs.iter().flat_map(|job| &job.latency);
    let latencies: Vec<_> = in_window.chain(outcome.drained.iter().map(|drained| &drained.latency)).collect();
    let count: u64 = latencies.iter().map(|latency| latency.count()).sum();
    let sum: u128 = latencies.iter().map(|latency| latency.sum_ns).sum();
    let whole = outcome.status == TrialStatus::Complete && outcome.errors.is_empty();
    (whole && window > 0.0 && count > 0)
        .then(|| Measured { iops: ops as f64 / window, latency_ns: sum as f64 / count as f64 })
}

fn by_fio(fio: &Fio, cell: &Cell, target: &Path, window: Duration, seed: u64) -> Outcome<Measured> {
    let ran = fio.run(&fio_arguments(cell, &target.to_string_lossy(), window, seed))?;
    let side = if cell.writes { ran.write } else { ran.read };
    match side.iops > 0.0 {
        true => Ok(Measured { iops: side.iops, latency_ns: side.latency_ns }),
        false => Err("fio did nothing".to_string()),
    }
}

/// The command line: what Stend does by itself is asked for here, registered files and buffers included.
pub fn fio_arguments(cell: &Cell, target: &str, window: Duration, seed: u64) -> Vec<String> {
    let rw = match (cell.random, cell.writes) {
        (true, false) => "randread",
        (true, true) => "randwrite",
        (false, false) => "read",
        (false, true) => "write",
    };
    let values = [
        ("name", "agree".to_string()),
        ("filename", target.to_string()),
        ("ioengine", "io_uring".to_string()),
        ("rw", rw.to_string()),
        ("bs", cell.block_size.0.to_string()),
        ("iodepth", cell.queue_depth.to_string()),
        ("size", RANGE.0.to_string()),
        ("ramp_time", format!("{}ms", RAMP.0 / 1_000_000)),
        ("runtime", format!("{}ms", window.as_millis())),
        ("randseed", seed.to_string()),
        ("norandommap", "0".to_string()),
        ("direct", "1".to_string()),
        ("registerfiles", "1".to_string()),
        ("fixedbufs", "1".to_string()),
    ];
    let mut words = vec!["--thread".to_string(), "--time_based".to_string()];
    if cell.pages == Pages::Huge {
        words.extend(["--mem=shmhuge".to_string(), "--hugepage-size=2m".to_string()]);
    }
    words.extend(values.iter().map(|(name, value)| format!("--{name}={value}")));
    words
}

fn row(cell: Cell, results: &[(Contender, usize, Measured)], blocks: usize) -> Outcome<Row> {
    let compare = |quantity: fn(&Measured) -> f64| {
        let of = |who: Contender, block: Option<usize>| -> Vec<f64> {
            let mine = results.iter().filter(|(by, at, _)| *by == who && block.is_none_or(|block| block == *at));
            mine.map(|(.., measured)| quantity(measured)).collect()
        };
        let effects = |above: Contender, below: Contender| -> Vec<f64> {
            (0..blocks).filter_map(|b| paired::effect(&of(above, Some(b)), &of(below, Some(b)))).collect()
        };
        let ratio = paired::ratio(&effects(Contender::Stend, Contender::Fio)).ok_or("too few blocks")?;
        let floor = paired::floor(&effects(Contender::Again, Contender::Stend));
        let mean = |who| stend_stats::mean(&of(who, None)).unwrap_or_default();
        Ok::<Compared, String>(Compared { stend: mean(Contender::Stend), fio: mean(Contender::Fio), ratio, floor })
    };
    Ok(Row { cell, iops: compare(|m| m.iops)?, latency: compare(|m| m.latency_ns)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Contender::{Again, Fio, Stend};

    #[test]
    fn a_trial_in_other_pages_than_asked_is_no_result() {
        let buffers = |huge| Some(BufferPages { size: Bytes::mib(4), huge: Bytes::mib(huge) });
        assert!(got(Pages::Huge, buffers(4)).is_ok() && got(Pages::Ordinary, buffers(0)).is_ok());
        assert!(got(Pages::Huge, buffers(2)).is_err() && got(Pages::Ordinary, buffers(2)).is_err());
        assert!(got(Pages::Ordinary, None).is_err());
    }

    #[test]
    fn a_row_compares_inside_blocks_only() {
        // Everything doubles from block to block; inside a block Stend has 1 % more.
        let at = |block: usize, factor: f64| Measured { iops: factor * 2f64.powi(block as i32), latency_ns: 1.0 };
        let block = |b| [(Stend, b, at(b, 101.0)), (Fio, b, at(b, 100.0)), (Again, b, at(b, 101.0))];
        let results: Vec<_> = (0..6).flat_map(block).collect();
        let row = row(cell::all()[0], &results, 6).unwrap();
        assert!((row.iops.ratio.ratio - 1.01).abs() < 1e-9 && row.iops.ratio.interval.1 < 1.0101);
        assert_eq!((row.iops.floor, row.latency.ratio.ratio), (Some(0.0), 1.0));
    }
}
