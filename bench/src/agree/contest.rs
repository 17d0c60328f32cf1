//! The schedule: blocks in which every contender runs twice, mirrored, so that a drift cancels.

use crate::cell::{self, Cell, Measured};
use crate::fio::Fio;
use crate::stend::Stend;
use crate::{Outcome, Settings, say};
use std::path::Path;
use stend_analyse::stats::paired;

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
pub fn on_device(settings: &Settings, fio: &Fio, device: &Path, words: &str) -> Outcome<Table> {
    let stend = Stend::on_device(settings, device)?;
    run(settings, fio, stend, &[Contender::Stend, Contender::Fio], words, true)
}

/// Stend against fio and against itself in a directory of the real disk.
pub fn in_directory(settings: &Settings, fio: &Fio) -> Outcome<Table> {
    let stend = Stend::in_directory(settings, &settings.directory)?;
    let words = format!("a file in `{}`", settings.directory.display());
    run(settings, fio, stend, &[Contender::Stend, Contender::Fio, Contender::Again], &words, false)
}

fn run(
    settings: &Settings,
    fio: &Fio,
    mut stend: Stend,
    contenders: &[Contender],
    words: &str,
    limited: bool,
) -> Outcome<Table> {
    let mut rows = Vec::new();
    for cell in cell::all() {
        say(&format!("{words}: {}", cell.name()));
        let mut results: Vec<(Contender, usize, Measured)> = Vec::new();
        for block in 0..settings.blocks {
            for contender in order(contenders, block) {
                let seed = results.len() as u64 + 1;
                let measured = match contender {
                    Contender::Fio => fio.measure(&cell, &stend.target, settings.window, seed)?,
                    Contender::Stend | Contender::Again => stend.measure(&cell, settings.window, seed)?,
                };
                results.push((contender, block, measured));
            }
        }
        rows.push(row(cell, &results, settings.blocks)?);
    }
    stend.end()?;
    Ok(Table { target: words.to_string(), limited, rows })
}

/// A block: each contender once and then the mirror; who is first changes from block to block.
fn order(contenders: &[Contender], block: usize) -> Vec<Contender> {
    let mut order = contenders.to_vec();
    order.rotate_left(block % contenders.len());
    let mirror: Vec<Contender> = order.iter().rev().copied().collect();
    [order, mirror].concat()
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
        let mean = |who| stend_analyse::stats::mean(&of(who, None)).unwrap_or_default();
        Ok::<Compared, String>(Compared { stend: mean(Contender::Stend), fio: mean(Contender::Fio), ratio, floor })
    };
    Ok(Row { cell, iops: compare(|m| m.iops)?, latency: compare(|m| m.latency_ns)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Contender::{Again, Fio, Stend};

    #[test]
    fn blocks_are_mirrored_and_take_turns_in_who_is_first() {
        assert_eq!(order(&[Stend, Fio], 0), [Stend, Fio, Fio, Stend]);
        assert_eq!(order(&[Stend, Fio], 1), [Fio, Stend, Stend, Fio]);
        assert_eq!(order(&[Stend, Fio, Again], 2), [Again, Stend, Fio, Fio, Stend, Again]);
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
