//! H19: do random I/Os go to as many places as chance would send them to?

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{PLACES_SHORTFALL, PLACES_SIGMA};
use crate::trials::{CaseTrials, Counting};
use stend_base::{format, say};
use stend_spec::workload::{Pattern, Trial};

/// What jobs of a trial may be off their mean before one draw over the whole range is no model of them. At 5 % the places to expect lose
/// less than 0.1 %, a tenth of the limit: with x I/Os for each block 0.05² / 2 · x² e⁻ˣ / (1 − e⁻ˣ), and that fraction is at most 0.65.
const UNEVEN: f64 = 0.05;

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
    let mut check = Check {
        id: CheckId::H19,
        limit: say!(
            |l| "≥ what chance gives, less {p}",
            "≥ случайного минус {p}",
            p = format::percent(PLACES_SHORTFALL, l)
        ),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let Some(blocks) = blocks(case.asked) else {
        return check.not_applicable(say!(
            "this check needs a single stream of one block size at uniformly random places of the whole range",
            "для этой проверки нужен один поток блоков одного размера в случайных местах всей области"
        ));
    };
    if case.asked.parts > 1 || case.counting.iter().any(uneven) {
        return check.not_applicable(say!(
            "each job has its own region, and their numbers of I/Os differ: there is no expected number of places",
            "каждое задание выбирает из своей области, а операций у заданий не поровну: ожидаемого числа мест нет"
        ));
    }
    let spreads: Vec<_> = case.counting.iter().filter_map(|trial| spread(trial, blocks)).collect();
    if spreads.is_empty() {
        return check.not_applicable(say!(
            "the case keeps no log of its I/Os (`io_log`)",
            "случай не ведёт журнала операций (`io_log`)"
        ));
    }
    // With few I/Os chance may leave no places: anything would pass a limit of none, and a ratio to it is meaningless.
    let judged = spreads.into_iter().filter(|spread| spread.least() > 0.0);
    let Some(worst) = judged.min_by(|a, b| (a.found as f64 / a.least()).total_cmp(&(b.found as f64 / b.least())))
    else {
        return check.not_applicable(say!(
            "the trials are too short: so few I/Os may all go to one place by chance",
            "испытания слишком коротки: столько операций и случайно могут прийтись на одно место"
        ));
    };
    // Less the part that may be missing and what chance takes away.
    check.limit = say!(|l| "≥ {n} places", "мест ≥ {n}", n = format::count(worst.least().ceil() as u64));
    let measured = say!(
        |l| "{f} places in {n} I/Os, chance gives {e}",
        "мест {f} на операций {n}, случай даёт {e}",
        f = format::count(worst.found),
        n = format::count(worst.placed),
        e = format::count(worst.expected.round() as u64)
    );
    if worst.found as f64 >= worst.least() {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "The same offsets come too often: caches answer I/Os that a real random load would send to the medium. Causes: jobs with the same seed, or a range smaller than requested.",
        "Одни и те же места повторяются слишком часто: кэши отвечают там, где настоящая случайная нагрузка дошла бы до носителя. Причины: одинаковое начальное число у заданий или область меньше заявленной."
    ))
}

/// Blocks of the range that any I/O may go to, if that is all there is to expect.
fn blocks(asked: &Trial) -> Option<u64> {
    let [stream] = asked.streams.as_slice() else { return None };
    let random = matches!(stream.pattern, Pattern::Random | Pattern::Uniform);
    let whole = stream.region.is_none() && stream.replay.is_none() && stream.block_mix.is_empty();
    (random && whole).then(|| asked.region.len.0 / stream.block_size.0.max(1)).filter(|blocks| *blocks > 0)
}

/// Its jobs did not do equally many I/Os, so that the areas of some were drawn from more often than those of others.
fn uneven(trial: &Counting<'_>) -> bool {
    let jobs = trial.outcome.jobs.iter();
    let counts: Vec<f64> = jobs.map(|job| job.done.iter().map(|done| done.0 as f64).sum()).collect();
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    counts.iter().any(|count| (count - mean).abs() > mean * UNEVEN)
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
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_record::{IoLogTotals, JobTotals};
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

    /// As many places as I/Os, by so many I/Os of each job.
    fn of_jobs(counts: &'static [u64], placed: u64, parts: u32) -> CheckResult {
        let mut record = run_of(vec![case("c", 100, 8, Sync::None)])
            .trial(0)
            .change(move |outcome, _| {
                let one = outcome.jobs[0].clone();
                let job = |done: &u64| JobTotals { done: [(*done, 0), (0, 0), (0, 0), (0, 0), (0, 0)], ..one.clone() };
                outcome.jobs = counts.iter().map(job).collect();
                outcome.io_log = Some(IoLogTotals { placed, places: placed.min(1), ..IoLogTotals::default() });
            })
            .done()
            .record();
        record.trials[0].asked.parts = parts;
        places_of(&record)
    }

    #[test]
    fn jobs_that_did_not_do_equally_many_ios_are_not_one_draw_over_the_range() {
        assert_eq!(of_jobs(&[1000, 1040], 100_000, 1).status, CheckStatus::Warn);
        for uneven in [of_jobs(&[1000, 1200], 100_000, 1), of_jobs(&[1000, 1000], 100_000, 2)] {
            assert_eq!(uneven.status, CheckStatus::NotApplicable);
            assert!(uneven.meaning.en.contains("has its own region"), "{uneven:?}");
        }
    }

    #[test]
    fn trials_too_short_to_judge_are_neither_passed_nor_the_worst() {
        // Chance may take away 4 · √16 of 16 I/Os, that is all.
        let short = of_jobs(&[16], 16, 1);
        assert_eq!(short.status, CheckStatus::NotApplicable);
        assert!(short.meaning.en.contains("too short"), "{short:?}");
        let mut record = run_of(vec![case("c", 100, 8, Sync::None)]).trial(0).done().trial(0).done().record();
        let logs = [(16, 16), (100_000, 50_000)];
        for (trial, (placed, places)) in record.trials.iter_mut().zip(logs) {
            trial.outcome.as_mut().unwrap().io_log = Some(IoLogTotals { placed, places, ..IoLogTotals::default() });
        }
        // The ratio of the first is below any: its limit is below none.
        assert_eq!(places_of(&record).status, CheckStatus::Warn);
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
