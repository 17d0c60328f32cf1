//! The cells of a case: every combination of the values of its axes. Must not know what becomes of them.

use super::super::notes::in_one_line;
use stend_spec::suite::{StreamSpec, SuiteCase};

/// Every combination of the values of the axes, with its label; at most so many and one more.
pub(super) fn cells(case: &SuiteCase, most: usize) -> Vec<(String, Vec<StreamSpec>)> {
    let singles: Vec<_> = case.streams.iter().map(single).collect();
    let all = singles.iter().fold(1usize, |all, one| all.saturating_mul(one.len()));
    let cell = |number: usize| {
        // The values of the last stream change fastest. Digits from its end up: the product of all may be more than a number holds.
        let (mut rest, mut picked) = (number, vec![0; singles.len()]);
        for (pick, one) in picked.iter_mut().zip(&singles).rev() {
            (*pick, rest) = (rest % one.len(), rest / one.len());
        }
        let (mut label, mut streams) = (in_one_line(&case.name), Vec::new());
        for (index, (one, pick)) in singles.iter().zip(picked).enumerate() {
            let (axes, stream) = &one[pick];
            if singles.len() > 1 && !axes.is_empty() {
                label += &format!(" s{}", index + 1);
            }
            label += axes;
            streams.push(stream.clone());
        }
        (label, streams)
    };
    // Whole cells, also where there are more than so many: one that lacks a stream would be another load.
    (0..all.min(most.saturating_add(1))).map(cell).collect()
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
