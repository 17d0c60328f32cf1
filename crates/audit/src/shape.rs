//! H09: a sweep over block sizes has a shape. Larger blocks move no fewer bytes per second and are no more in number; a step
//! the other way is a typing error or the edge of a cache.

use super::{Cell, Found, Severity, cell, doubt};
use stend_analyse::findings::CheckId;
use stend_analyse::limits::{SWEEP_POINTS, SWEEP_STEP_BACK};
use stend_base::{Say, format, say_in};
use stend_record::published::{Claim, Dimension, OTHER_PATTERN};

pub(super) fn shape(rows: &[Claim]) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for dimension in [Dimension::Throughput, Dimension::Rate] {
        for sweep in sweeps(rows, dimension) {
            places += 1;
            for pair in sweep.windows(2) {
                let (small, large) = (pair[0], pair[1]);
                let step = match dimension {
                    Dimension::Throughput => 1.0 - large.value / small.value,
                    _ => large.value / small.value - 1.0,
                };
                if step > SWEEP_STEP_BACK {
                    let why = why(step, dimension);
                    doubts.push(doubt(CheckId::H09, Severity::Warn, large.claim, &[small.claim], why));
                }
            }
        }
    }
    Found::new(CheckId::H09, places, doubts)
}

fn why(step: f64, dimension: Dimension) -> stend_base::Say {
    Say::both(|lang| {
        let step = format::percent(step, lang);
        match dimension {
            Dimension::Throughput => say_in!(
                lang,
                "With larger blocks the throughput is {step} lower than with the size before: a typing error, or the limit of a cache or of the largest transfer.",
                "С более крупными блоками пропускная способность на {step} ниже, чем с предыдущими: опечатка либо граница кэша или наибольшего размера передачи."
            ),
            _ => say_in!(
                lang,
                "There are {step} more I/Os per second than with the smaller size before: a typing error, or a cache answered.",
                "Операций в секунду на {step} больше, чем с предыдущим, меньшим размером: опечатка или ответы кэша."
            ),
        }
    })
}

/// Numbers of one system and load that differ in block size alone, ascending.
fn sweeps(rows: &[Claim], dimension: Dimension) -> Vec<Vec<Cell<'_>>> {
    let mut sweeps: Vec<Vec<Cell<'_>>> = Vec::new();
    // Nothing shows that loads without a common name are one.
    let has_name = |claim: &&Claim| !["", OTHER_PATTERN].contains(&claim.pattern.as_str());
    let cells = rows.iter().filter(|claim| claim.block_size.is_some()).filter(has_name);
    for cell in cells.filter_map(|claim| cell(claim, dimension)).filter(|cell| cell.value > 0.0) {
        match sweeps.iter_mut().find(|sweep| same_load(sweep[0].claim, cell.claim)) {
            Some(sweep) => sweep.push(cell),
            None => sweeps.push(vec![cell]),
        }
    }
    for sweep in &mut sweeps {
        sweep.sort_by_key(|cell| cell.claim.block_size);
        sweep.dedup_by_key(|cell| cell.claim.block_size);
    }
    sweeps.retain(|sweep| sweep.len() >= SWEEP_POINTS);
    sweeps
}

fn same_load(a: &Claim, b: &Claim) -> bool {
    (&a.source, &a.experiment, &a.stand, &a.layout, &a.pattern, &a.metric)
        == (&b.source, &b.experiment, &b.stand, &b.layout, &b.pattern, &b.metric)
        && (a.queue_depth, a.jobs) == (b.queue_depth, b.jobs)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::claim;
    use super::*;
    use stend_base::Bytes;

    fn sweep(metric: &str, unit: &str, values: &[&str]) -> Vec<Claim> {
        let of = |(i, value): (usize, &&str)| Claim {
            block_size: Some(Bytes::kib(4 << i)),
            pattern: "randread".into(),
            ..claim(i as u32 + 2, &format!("t{i}"), metric, unit, value)
        };
        values.iter().enumerate().map(of).collect()
    }

    #[test]
    fn what_grows_and_falls_as_it_must_passes() {
        assert!(shape(&sweep("throughput", "MB/s", &["100", "180", "300", "295"])).doubts.is_empty());
        assert!(shape(&sweep("iops", "IOPS", &["25000", "22000", "18000"])).doubts.is_empty());
    }

    #[test]
    fn a_step_the_other_way_is_doubted() {
        let found = shape(&sweep("throughput", "MB/s", &["100", "180", "90", "300"]));
        assert_eq!((found.places, found.doubts.len(), found.doubts[0].row), (1, 1, 4));
        assert!(found.doubts[0].why.en.contains("50.0 % lower"), "{}", found.doubts[0].why.en);
        assert_eq!(shape(&sweep("iops", "IOPS", &["20000", "30000", "10000"])).doubts[0].row, 3);
    }

    #[test]
    fn loads_without_a_common_name_are_no_sweep() {
        let mut rows = sweep("throughput", "MB/s", &["100", "180", "90", "300"]);
        rows.iter_mut().for_each(|row| row.pattern = OTHER_PATTERN.into());
        assert_eq!(shape(&rows).places, 0);
    }

    #[test]
    fn two_points_have_no_shape() {
        assert_eq!(shape(&sweep("throughput", "MB/s", &["100", "50"])).places, 0);
    }

    #[test]
    fn sizes_on_two_stands_are_no_sweep() {
        let mut rows = sweep("throughput", "MB/s", &["100", "180", "90", "300"]);
        rows[2].stand = "another".into();
        assert!(shape(&rows).doubts.is_empty());
    }
}
