//! The price of a layer.

use super::RatioValue;
use crate::findings::Headline;

/// What one or several layers do to every case that both runs have.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerPrice {
    /// Index of the run without them.
    pub below: usize,
    /// Index of the run with them.
    pub above: usize,
    /// The layers, from below, e.g. `md → ext4`.
    pub layers: String,
    /// Rate with them over rate without, by case in the order of the run without.
    pub rates: Vec<LayerRate>,
    /// Geometric mean of these with its interval; `None` for a single case.
    pub mean: Option<(f64, Option<(f64, f64)>)>,
}

/// One case with layers against the same without.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerRate {
    /// Label of the case.
    pub label: String,
    /// What is compared.
    pub headline: Headline,
    /// The ratio.
    pub value: RatioValue,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
}
