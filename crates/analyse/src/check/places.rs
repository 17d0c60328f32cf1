//! H19: do random I/Os go to as many places as chance would send them to?

use super::Check;
use crate::findings::{CheckResult, CheckStatus};
use crate::limits::{PLACES_SHORTFALL, PLACES_SIGMA};
use crate::phrase::{both, pick};
use crate::trials::{CaseTrials, Counting};
use stend_base::{format, say};
use stend_spec::workload::{Pattern, Trial};

/// Different places of a trial: found, and expected if each I/O went to any block of the range.
#[derive(Debug, Clone, Copy)]
struct Spread {
    placed: u64,
    found: u64,
    expected: f64,
}

impl Spread {
    /// The least that is no accident.
    fn least(self) -> f64 {
        self.expected * (1.0 - PLACES_SHORTFALL) - PLACES_SIGMA * self.expected.sqrt()
    }
}

/// H19: I/Os at random places of a case that keeps a log of them go to as many different ones as if they were drawn with replacement.
/// A permutation, which comes back to no place before it was at all others, has more.
pub fn places(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: "H19",
        name: say!("random places differ", "случайные места различны"),
        limit: both(|l| {
            pick(l, "≥ what chance gives, less {p}", "≥ случайного минус {p}")
                .replace("{p}", &format::percent(PLACES_SHORTFALL, l))
        }),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let Some(blocks) = blocks(case.asked) else {
        return check.not_applicable(say!(
            "only one stream of blocks of one size at random places of the whole range has a number of places to expect",
            "ожидаемое число мест есть лишь у одного потока блоков одного размера в случайных местах всей области"
        ));
    };
    let spreads = case.counting.iter().filter_map(|trial| spread(trial, blocks));
    let Some(worst) = spreads.min_by(|a, b| (a.found as f64 / a.least()).total_cmp(&(b.found as f64 / b.least())))
    else {
        return check.not_applicable(say!(
            "the case keeps no log of its I/Os (`io_log`)",
            "случай не ведёт журнала операций (`io_log`)"
        ));
    };
    let measured = both(|l| {
        pick(l, "{f} places in {n} I/Os, chance gives {e}", "мест {f} на операций {n}, случай даёт {e}")
            .replace("{f}", &format::count(worst.found))
            .replace("{n}", &format::count(worst.placed))
            .replace("{e}", &format::count(worst.expected.round() as u64))
    });
    if worst.found as f64 >= worst.least() {
        return check.pass(measured);
    }
    check.result(
        CheckStatus::Warn,
        measured,
        say!(
            "The same places come too often: caches answer I/Os that a real random load would bring to the medium. Jobs with the same seed do this, and so does a range that is smaller than was asked.",
            "Одни и те же места повторяются слишком часто: кэши отвечают там, где настоящая случайная нагрузка дошла бы до носителя. Так бывает, когда у заданий одно и то же зерно или область меньше заявленной."
        ),
    )
}

/// Blocks of the range that any I/O may go to, if that is all there is to expect.
fn blocks(asked: &Trial) -> Option<u64> {
    let [stream] = asked.streams.as_slice() else { return None };
    let random = matches!(stream.pattern, Pattern::Random | Pattern::Uniform);
    let whole = stream.region.is_none() && stream.replay.is_none() && stream.block_mix.is_empty();
    (random && whole).then(|| asked.region.len.0 / stream.block_size.0.max(1)).filter(|blocks| *blocks > 0)
}

fn spread(trial: &Counting<'_>, blocks: u64) -> Option<Spread> {
    let log = trial.outcome.io_log.filter(|log| log.placed > 0)?;
    let (n, b) = (log.placed as f64, blocks as f64);
    // B (1 − (1 − 1/B)^n), by exp and ln so that it holds for any B.
    let expected = -b * (n * (-1.0 / b).ln_1p()).exp_m1();
    Some(Spread { placed: log.placed, found: log.places, expected })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_record::IoLogTotals;
    use stend_spec::workload::Sync;

    /// With so many different places of so many I/Os for every block of the range.
    fn with(per_block: f64, places: impl Fn(f64) -> f64) -> CheckResult {
        let mut record = run_of(vec![case("c", 100, 8, Sync::None)]).trial(0).done().record();
        let blocks = blocks(&by_case(&record)[0].asked.clone()).unwrap();
        let placed = blocks as f64 * per_block;
        let log = IoLogTotals { placed: placed as u64, places: places(placed) as u64, ..IoLogTotals::default() };
        record.trials.iter_mut().filter_map(|trial| trial.outcome.as_mut()).for_each(|o| o.io_log = Some(log));
        places_of(&record)
    }

    fn places_of(record: &stend_record::RunRecord) -> CheckResult {
        super::places(&by_case(record)[0])
    }

    #[test]
    fn as_many_places_as_chance_gives_pass_and_a_repeated_order_is_a_warning() {
        // As many draws with replacement as there are blocks reach 1 − 1/e of them (method.md, H19: 63.2 %).
        assert_eq!(with(1.0, |n| n * 0.6322).status, CheckStatus::Pass);
        assert_eq!(with(1.0, |n| n).status, CheckStatus::Pass, "a permutation");
        assert_eq!(with(1.0, |n| n * 0.60).status, CheckStatus::Warn);
        // Four jobs that follow one another at the same places.
        assert_eq!(with(0.04, |n| n / 4.0).status, CheckStatus::Warn);
    }

    #[test]
    fn cases_without_a_log_and_other_patterns_are_not_asked() {
        let record = run_of(vec![case("c", 100, 8, Sync::None)]).trial(0).done().record();
        assert_eq!(places_of(&record).status, CheckStatus::NotApplicable);
        let mut sequential = case("s", 100, 8, Sync::None);
        sequential.streams[0].pattern = Pattern::Sequential;
        let record = run_of(vec![sequential]).trial(0).done().record();
        assert_eq!(places_of(&record).status, CheckStatus::NotApplicable);
    }
}
