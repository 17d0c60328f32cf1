//! What far NUMA nodes cost, for machines.

use super::levels::{self, LevelsOut};
use super::{Number, number};
use serde::Serialize;
use stend_analyse::findings::{CheckId, Headline, NumaFinding};
use stend_base::Say;

/// The matrix of a case that ran on every pair of nodes.
#[derive(Serialize)]
pub(super) struct NumaOut<'a> {
    label: &'a str,
    /// Whether rates are I/Os or bytes per second.
    headline: Headline,
    /// `null`: the kernel does not tell it.
    device_node: Option<u32>,
    cells: Vec<CellOut>,
    text: Say,
}

#[derive(Serialize)]
struct CellOut {
    threads_node: Option<u32>,
    memory_node: Option<u32>,
    rate: Number,
    /// Both levels of the rate, where it fell from one to a lower one.
    levels: Option<LevelsOut>,
    /// Numbers of the checks that failed.
    failed_checks: Vec<&'static str>,
    /// In parts of the cell where both are the node of the device.
    of_local: Option<f64>,
    of_local_interval_95: Option<(f64, f64)>,
}

pub(super) fn out(found: &NumaFinding) -> NumaOut<'_> {
    let cell = |cell: &stend_analyse::findings::NumaCell| CellOut {
        threads_node: cell.cpu,
        memory_node: cell.memory,
        rate: number(&cell.rate),
        levels: cell.levels.as_ref().map(levels::out),
        failed_checks: CheckId::codes(&cell.failed),
        of_local: cell.of_local.map(|of| of.ratio),
        of_local_interval_95: cell.of_local.and_then(|of| of.interval),
    };
    NumaOut {
        label: &found.label,
        headline: found.headline,
        device_node: found.device,
        cells: found.cells.iter().map(cell).collect(),
        text: found.say(),
    }
}
