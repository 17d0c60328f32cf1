//! H09: does a rate follow block size, queue depth, jobs and load hosts as it must? Larger blocks move no fewer bytes and are no more in
//! number; between two depths with more there is none with less. What is otherwise is a cache, a limit or a disturbance.

use super::Check;
use crate::charts::family::{Family, Kind, Member, families};
use crate::findings::{CaseFinding, CheckId, CheckResult, Estimate};
use crate::limits::SWEEP_POINTS;
use std::collections::BTreeMap;
use stend_base::{Say, format, say};
use stend_plan::Plan;

/// A value that breaks the shape of its sweep.
#[derive(Debug, Clone)]
struct Break {
    /// How far, relative to its neighbour.
    by: f64,
    words: Say,
}

/// H09 of every case, in their order.
pub fn sweeps(plan: &Plan, cases: &[CaseFinding]) -> Vec<CheckResult> {
    let families = families(plan, cases);
    // By case: its worst break, or none if it is part of a sweep that has its shape there.
    let mut found: BTreeMap<u32, Option<Break>> = BTreeMap::new();
    for family in &families {
        for (index, parameter) in family.parameters.iter().enumerate() {
            for (_, members) in family.lines(&[index]).iter().filter(|(_, members)| members.len() >= SWEEP_POINTS) {
                for (case, broken) in line(parameter.kind, members) {
                    let worst = found.entry(case).or_default();
                    let further = |known: &Option<Break>, new: &Break| known.as_ref().is_none_or(|k| k.by < new.by);
                    if let Some(broken) = broken.filter(|new| further(worst, new)) {
                        *worst = Some(broken);
                    }
                }
            }
        }
    }
    cases.iter().map(|case| result(&families, case, found.remove(&case.case))).collect()
}

fn result(families: &[Family<'_>], case: &CaseFinding, found: Option<Option<Break>>) -> CheckResult {
    let check = Check {
        id: CheckId::H09,
        limit: say!("no step back beyond the intervals", "без шагов назад за пределы интервалов"),
    };
    let swept = families.iter().any(|family| family.members.iter().any(|member| member.case.case == case.case));
    match found {
        None if swept => check.not_applicable(say!("fewer than three values", "меньше трёх значений")),
        None => check.not_applicable(say!("nothing is varied", "ничего не варьируется")),
        Some(None) => check.pass(say!("as it must be", "как и должно быть")),
        Some(Some(broken)) => check.measured(broken.words).warn(say!(
            "Storage alone does not behave like this: some data came from a cache, a limit applies at this value only, or another program ran. Repeat the case alone before you draw conclusions from the curve.",
            "Само хранилище так себя не ведёт: часть данных из кэша, именно здесь достигнут какой-то предел, или тем временем работало что-то ещё. Повторите случай отдельно, прежде чем судить по кривой."
        )),
    }
}

/// What each case of a line, ascending in its parameter, breaks.
fn line(kind: Kind, members: &[&Member<'_>]) -> Vec<(u32, Option<Break>)> {
    match kind {
        Kind::BlockSize => {
            let step = |pair: &[&Member<'_>]| (pair[1].case.case, step(pair[0].case, pair[1].case));
            members.windows(2).map(step).collect()
        }
        // Beyond the knee more in flight may well be less, but not in the middle.
        Kind::QueueDepth | Kind::Jobs | Kind::LoadHosts => {
            let dip =
                |three: &[&Member<'_>]| (three[1].case.case, dip(kind, three[0].case, three[1].case, three[2].case));
            members.windows(3).map(dip).collect()
        }
    }
}

/// From a block size to a larger one.
fn step(small: &CaseFinding, large: &CaseFinding) -> Option<Break> {
    let less = below(&large.total.throughput, &small.total.throughput).map(|by| Break {
        by,
        words: say!(
            |l| "{share} fewer bytes per second than with smaller blocks",
            "на {share} меньше байт в секунду, чем блоками мельче",
            share = format::percent(by, l)
        ),
    });
    let more = below(&small.total.iops, &large.total.iops).map(|by| Break {
        by,
        words: say!(
            |l| "smaller blocks are {share} fewer per second",
            "блоков мельче — на {share} меньше в секунду",
            share = format::percent(by, l)
        ),
    });
    [less, more].into_iter().flatten().max_by(|a, b| a.by.total_cmp(&b.by))
}

fn dip(kind: Kind, before: &CaseFinding, here: &CaseFinding, after: &CaseFinding) -> Option<Break> {
    let by = below(&here.total.iops, &before.total.iops)?.min(below(&here.total.iops, &after.total.iops)?);
    let words = match kind {
        Kind::LoadHosts => say!(
            |l| "{share} fewer I/Os than with fewer and with more load hosts",
            "на {share} меньше операций, чем при меньшем и при большем числе нагружающих машин",
            share = format::percent(by, l)
        ),
        Kind::BlockSize | Kind::QueueDepth | Kind::Jobs => say!(
            |l| "{share} fewer I/Os than with less and with more in flight",
            "на {share} меньше операций, чем при меньшей и при большей очереди",
            share = format::percent(by, l)
        ),
    };
    Some(Break { by, words })
}

/// By which part `lower` is below `upper`, where both intervals are apart; without intervals nothing can be told.
fn below(lower: &Estimate, upper: &Estimate) -> Option<f64> {
    let apart = lower.interval?.1 < upper.interval?.0;
    (apart && upper.value > 0.0).then(|| 1.0 - lower.value / upper.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use stend_base::Bytes;
    use stend_spec::suite::SuiteCase;
    use stend_spec::workload::Sync;

    fn swept(suite: SuiteCase, iops: &[f64]) -> Vec<CheckStatus> {
        let found = analyse(&run_of(vec![suite]).six_blocks(iops).record()).unwrap();
        let h09 = |case: &CaseFinding| case.checks.iter().find(|check| check.id == CheckId::H09).unwrap().status;
        found.cases.iter().map(h09).collect()
    }

    fn depths(iops: &[f64]) -> Vec<CheckStatus> {
        let mut suite = case("read", 100, 1, Sync::None);
        suite.streams[0].queue_depth = (0..iops.len()).map(|i| 1 << i).collect();
        swept(suite, iops)
    }

    fn sizes(iops: &[f64]) -> Vec<CheckStatus> {
        let mut suite = case("read", 100, 8, Sync::None);
        suite.streams[0].block_size = (0..iops.len()).map(|i| Bytes::kib(4 << i)).collect();
        swept(suite, iops)
    }

    use CheckStatus::{NotApplicable, Pass, Warn};

    #[test]
    fn more_in_flight_up_to_a_knee_passes_and_a_dip_is_a_warning() {
        assert_eq!(depths(&[1_000.0, 1_900.0, 3_000.0, 2_500.0]), [NotApplicable, Pass, Pass, NotApplicable]);
        assert_eq!(depths(&[1_000.0, 700.0, 3_000.0, 3_500.0]), [NotApplicable, Warn, Pass, NotApplicable]);
        assert_eq!(depths(&[1_000.0, 995.0, 3_000.0, 3_500.0])[1], Pass, "within its interval");
    }

    #[test]
    fn larger_blocks_move_no_fewer_bytes_and_are_no_more_in_number() {
        assert_eq!(sizes(&[10_000.0, 8_000.0, 5_000.0]), [NotApplicable, Pass, Pass]);
        assert_eq!(sizes(&[10_000.0, 4_000.0, 3_000.0]), [NotApplicable, Warn, Pass], "20 % fewer bytes");
        assert_eq!(
            sizes(&[10_000.0, 12_000.0, 5_000.0]),
            [NotApplicable, Warn, Warn],
            "20 % more I/Os, then fewer bytes"
        );
    }

    #[test]
    fn two_values_and_none_have_no_shape() {
        assert_eq!(depths(&[1_000.0, 100.0]), [NotApplicable; 2]);
        assert_eq!(swept(case("one", 100, 8, Sync::None), &[5_000.0]), [NotApplicable]);
    }
}
