//! Which resource bounds a rate: shares of ceilings in, a verdict out. Pure sums; what is measured stands elsewhere.
//!
//! `docs/method/ceilings.md` has the rules.

use crate::limits::{BOUND_AT, BOUND_TOGETHER, LATENCY_BOUND_BELOW, LATENCY_BOUND_REACHED};

/// A verdict over shares of ceilings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The first one is the bound.
    Limited,
    /// The first two are as near to their ceilings.
    Together,
    /// Nothing is busy: each I/O takes as long as alone, and there are too few of them.
    Latency,
    /// None of these.
    Unexplained,
}

/// The rule of method §5.1. `shares`: parts of ceilings that are used, largest first, those of the same thing by another
/// name left out. `alone`: rate over in flight / latency of one alone; `None` where that is not known.
pub fn decide(shares: &[f64], alone: Option<f64>) -> Decision {
    match shares {
        [first, second, ..] if *first >= BOUND_AT && first - second <= BOUND_TOGETHER => Decision::Together,
        [first, ..] if *first >= BOUND_AT => Decision::Limited,
        _ if alone.is_some_and(|alone| alone >= LATENCY_BOUND_REACHED)
            && shares.iter().all(|share| *share < LATENCY_BOUND_BELOW) =>
        {
            Decision::Latency
        }
        _ => Decision::Unexplained,
    }
}

/// How many must be in flight to reach a rate if each takes as long as alone: N* = R₀ · X, rounded up.
pub fn needed_in_flight(rate: f64, alone_seconds: f64) -> u64 {
    (rate * alone_seconds).ceil().max(1.0) as u64
}

/// Bytes per second and direction of a PCIe link, before protocol: GT/s × lanes × coding / 8.
///
/// `None` for a speed that no generation has.
//= PCI Express Base Specification: 8b/10b up to 5 GT/s, 128b/130b from 8 GT/s on
pub fn pcie_bytes_per_second(mega_transfers: u32, lanes: u32) -> Option<f64> {
    let coding = match mega_transfers {
        2_500 | 5_000 => 8.0 / 10.0,
        8_000 | 16_000 | 32_000 => 128.0 / 130.0,
        _ => return None,
    };
    Some(f64::from(mega_transfers) * 1e6 * f64::from(lanes) * coding / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_that_of_the_method() {
        assert_eq!(decide(&[0.92, 0.4], None), Decision::Limited);
        assert_eq!(decide(&[0.92, 0.88], None), Decision::Together);
        assert_eq!(decide(&[0.92, 0.86], None), Decision::Limited);
        assert_eq!(decide(&[0.69, 0.2], Some(0.95)), Decision::Latency);
        assert_eq!(decide(&[0.71, 0.2], Some(0.95)), Decision::Unexplained);
        assert_eq!(decide(&[0.5], Some(0.6)), Decision::Unexplained);
        assert_eq!((decide(&[0.5], None), decide(&[], None)), (Decision::Unexplained, Decision::Unexplained));
    }

    #[test]
    fn the_knee_is_where_both_bounds_meet() {
        // 100 µs alone and 600,000 I/Os per second at most: 60 in flight.
        assert_eq!(needed_in_flight(600_000.0, 100e-6), 60);
        assert_eq!(needed_in_flight(1.0, 1e-6), 1);
    }

    #[test]
    fn links_have_the_bandwidth_of_their_generation() {
        let gigabytes = |speed, lanes| (pcie_bytes_per_second(speed, lanes).unwrap() / 1e7).round() / 100.0;
        assert_eq!((gigabytes(8_000, 4), gigabytes(16_000, 4), gigabytes(32_000, 4)), (3.94, 7.88, 15.75));
        assert_eq!((gigabytes(2_500, 1), gigabytes(5_000, 4)), (0.25, 2.0));
        assert_eq!(pcie_bytes_per_second(3_000, 4), None);
    }
}
