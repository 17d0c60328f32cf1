//! What far NUMA nodes cost. Data only.

use super::{CheckId, Estimate, Headline, LevelsFinding};
use serde::{Deserialize, Serialize};

/// The matrix of one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumaFinding {
    /// Name of the case, with its other axes.
    pub label: String,
    /// Which rate the cells have.
    pub headline: Headline,
    /// Node of the target's device; `None`: the kernel does not tell it.
    pub device: Option<u32>,
    /// Nodes of the machine.
    pub nodes: u32,
    /// Cells that ran, in the order of the plan.
    pub cells: Vec<NumaCell>,
}

/// A pair of nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumaCell {
    /// Node of the threads; `None` on a machine that tells no nodes.
    pub cpu: Option<u32>,
    /// Node of their buffers, likewise.
    pub memory: Option<u32>,
    /// The rate.
    pub rate: Estimate,
    /// Both levels of its rate, where it fell from one to a lower one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<LevelsFinding>,
    /// Checks of it that failed: the rate is not of what it is called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<CheckId>,
    /// In parts of the local cell; `None` where that is not known or did not run, or a check of either failed.
    pub of_local: Option<OfLocal>,
}

/// A cell in parts of the local one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OfLocal {
    /// Geometric mean of the ratios of the blocks; 1 of the local cell itself.
    pub ratio: f64,
    /// Its 95 % interval over blocks; `None` below two, and of the local cell.
    pub interval: Option<(f64, f64)>,
}
