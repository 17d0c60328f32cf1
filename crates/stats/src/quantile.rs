//! A quantile of latencies with its interval, or why there is none.

use serde::{Deserialize, Serialize};
use stend_base::{Nanos, Share};

/// One quantile of a latency distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// Share of I/Os at or below.
    pub q: Share,
    /// The value, or why there is none.
    pub value: QuantileValue,
    /// 95 % order-statistic interval over the effective number of I/Os, which follows from how much the trials differ.
    /// `None` where that is too small for a finite one, where it cannot be told (a single short trial, or one of an open
    /// loop), or where the interval reaches I/Os whose end was not seen.
    pub interval: Option<(Nanos, Nanos)>,
}

/// Value of a quantile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuantileValue {
    /// The latency.
    At(Nanos),
    /// It reaches I/Os whose end was not seen: more than this.
    Above(Nanos),
    /// Not enough I/Os for a two-sided interval.
    NotEnough {
        /// I/Os seen.
        have: u64,
        /// I/Os needed.
        need: u64,
    },
    /// As another tool printed it: the smallest and the largest over jobs and trials, which nobody can merge. `None`: it printed
    /// none for one of them.
    Printed(Option<(Nanos, Nanos)>),
}

impl QuantileValue {
    /// The one latency that it is: ours, or the only one that another tool printed.
    pub fn single(self) -> Option<Nanos> {
        match self {
            QuantileValue::At(value) => Some(value),
            QuantileValue::Printed(Some((least, most))) => (least == most).then_some(least),
            QuantileValue::Above(_) | QuantileValue::NotEnough { .. } | QuantileValue::Printed(None) => None,
        }
    }

    /// The smallest and the largest of what another tool printed, where these are not one latency.
    pub fn range(self) -> Option<(Nanos, Nanos)> {
        match self {
            QuantileValue::Printed(range) => range.filter(|(least, most)| least != most),
            _ => None,
        }
    }
}
