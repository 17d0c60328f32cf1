//! The cells of a case: every combination of the values of its axes. Must not know what becomes of them.

use super::super::told::in_one_line;
use crate::suite::{StreamSpec, SuiteCase};

/// Every combination of the values of the axes, with its label; at most so many and one more.
pub(super) fn cells(case: &SuiteCase, most: usize) -> Vec<(String, Vec<StreamSpec>)> {
    let mut cells = vec![(in_one_line(&case.name), Vec::new())];
    for (index, spec) in case.streams.iter().enumerate() {
        let mut next = Vec::new();
        for (label, before) in &cells {
            for (axes, one) in single(spec) {
                if next.len() > most {
                    return next;
                }
                let streams: Vec<StreamSpec> = before.iter().cloned().chain([one]).collect();
                let prefix =
                    if case.streams.len() > 1 && !axes.is_empty() { format!(" s{}", index + 1) } else { String::new() };
                next.push((format!("{label}{prefix}{axes}"), streams));
            }
        }
        cells = next;
    }
    cells
}

/// A stream for each combination of its own values.
fn single(spec: &StreamSpec) -> Vec<(String, StreamSpec)> {
    let rates: Vec<_> = if spec.rate.is_empty() { vec![None] } else { spec.rate.iter().map(Some).collect() };
    let mut found = Vec::new();
    for size in &spec.block_size {
        for depth in &spec.queue_depth {
            for jobs in &spec.jobs {
                for rate in &rates {
                    let axes = [
                        (spec.block_size.len(), format!(" bs{}", size.0)),
                        (spec.queue_depth.len(), format!(" qd{depth}")),
                        (spec.jobs.len(), format!(" jobs{jobs}")),
                        (rates.len(), rate.map(|rate| format!(" {}", rate.label())).unwrap_or_default()),
                    ];
                    let label: String =
                        axes.into_iter().filter(|(count, _)| *count > 1).map(|(_, text)| text).collect();
                    let one = StreamSpec {
                        block_size: vec![*size],
                        queue_depth: vec![*depth],
                        jobs: vec![*jobs],
                        rate: rate.iter().map(|rate| (*rate).clone()).collect(),
                        ..spec.clone()
                    };
                    found.push((label, one));
                }
            }
        }
    }
    found
}
