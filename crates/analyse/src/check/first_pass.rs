//! H14: did a cache that the kernel does not see, of an array, a controller or a drive, answer at first or only later?
//!
//! Such a cache shows in time alone: reads become faster once it holds what is read, writes slower once it is full.

use super::Check;
use super::drives::asked;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{CACHE_FILLED, CACHE_FILLING, CACHE_WARMED};
use crate::series::{self, Cell, INTERVAL};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Nanos, Say, format, say, say_in};
use stend_record::RunRecord;
use stend_spec::workload::Op;
use stend_stats::mean;

/// How the begin of a case relates to what came later.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Begin {
    /// Later trials over the first one, from which they are further than from each other.
    Reads(f64),
    /// The first trial over the later ones, from which it is further than they are from each other.
    Writes(f64),
    /// The first seconds of load over the rest of a trial.
    FirstSeconds(f64),
    /// The first trial is no further from the others than they are from each other.
    WithinSpread,
}

impl Begin {
    fn ratio(self) -> f64 {
        match self {
            Begin::Reads(ratio) | Begin::Writes(ratio) | Begin::FirstSeconds(ratio) => ratio,
            Begin::WithinSpread => 0.0,
        }
    }

    fn limit(self) -> f64 {
        if let Begin::Reads(_) = self { CACHE_WARMED } else { CACHE_FILLED }
    }

    fn say(self) -> Say {
        Say::both(|l| {
            let ratio = format::near_limit::fixed(self.ratio(), self.limit(), 2, l);
            match self {
                Begin::Reads(_) => say_in!(
                    l,
                    "later trials {ratio} × the first, reads",
                    "следующие испытания — {ratio} × первого, чтение"
                ),
                Begin::Writes(_) => say_in!(
                    l,
                    "the first trial {ratio} × later ones, writes",
                    "первое испытание — {ratio} × следующих, запись"
                ),
                Begin::FirstSeconds(_) => say_in!(
                    l,
                    "the first {time} of load {ratio} × the rest, writes",
                    "первые {time} нагрузки — {ratio} × остальных, запись",
                    time = format::duration(CACHE_FILLING, l)
                ),
                Begin::WithinSpread => say_in!(
                    l,
                    "the first trial is within the spread of the others",
                    "первое испытание — в пределах разброса остальных"
                ),
            }
        })
    }
}

/// H14: the begin of a case is neither slower for reads nor faster for writes than what came later.
pub fn first_pass(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H14,
        limit: say!(
            |l| "reads ≤ {r}, writes ≤ {w}",
            "чтение ≤ {r}, запись ≤ {w}",
            r = format::fixed(CACHE_WARMED, 2, l),
            w = format::fixed(CACHE_FILLED, 2, l)
        ),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    if case.asked.streams.iter().all(|stream| stream.is_open() || stream.replay.is_some()) {
        return check.not_applicable(say!("the rate is given, not found", "скорость задана, а не найдена"));
    }
    if case.asked.streams.iter().all(|stream| Op::TRANSFERS.iter().all(|op| stream.mix.share(*op) == 0)) {
        return check.not_applicable(super::drives::moves_no_data());
    }
    let found = begins(run, case);
    let Some(worst) = found.iter().copied().max_by(|a, b| excess(*a).total_cmp(&excess(*b))) else {
        return check.not_measurable(say!(
            "this needs three trials, or one that writes longer than a cache takes to fill",
            "нужны три испытания или одно, где запись идёт дольше, чем наполняется кэш"
        ));
    };
    if excess(worst) <= 1.0 {
        return check.pass(worst.say());
    }
    let meaning = match worst {
        Begin::Reads(_) => say!(
            "A cache filled during the case: later trials partly measure it, and the mean mixes two systems. Use a range far larger than that cache, or name it.",
            "Во время случая наполнился кэш: следующие испытания отчасти измеряют его, и среднее смешивает две системы. Возьмите область намного больше кэша или назовите его."
        ),
        _ => say!(
            "A cache took writes until it was full: the mean mixes two systems. Use a longer ramp, so that the window begins after it, or publish both levels.",
            "Кэш принимал записи, пока не заполнился: среднее смешивает две системы. Возьмите разгон длиннее, чтобы окно начиналось после него, или публикуйте оба уровня."
        ),
    };
    check.measured(worst.say()).warn(meaning)
}

fn excess(begin: Begin) -> f64 {
    begin.ratio() / begin.limit()
}

fn begins(run: &RunRecord, case: &CaseTrials<'_>) -> Vec<Begin> {
    let rates = |op: Op| -> Vec<f64> {
        case.counting.iter().map(|trial| trial.done(None, &[op]).0 as f64 / trial.window.as_secs()).collect()
    };
    // Switching an arm in between changes more than a cache does.
    let one_arm = run.header.inputs.suite.arms.is_empty();
    let mut found = Vec::new();
    if asked(case, Op::Read) && one_arm {
        found.extend(first_and_later(&rates(Op::Read)).map(|(first, later, (least, most))| {
            // Reads that merely vary are not this far above the first trial, and this close to each other.
            if least - first > most - least { Begin::Reads(later / first) } else { Begin::WithinSpread }
        }));
    }
    if asked(case, Op::Write) {
        if one_arm {
            found.extend(first_and_later(&rates(Op::Write)).map(|(first, later, (least, most))| {
                if first - most > most - least { Begin::Writes(first / later) } else { Begin::WithinSpread }
            }));
        }
        found.extend(case.counting.iter().filter_map(first_seconds).map(Begin::FirstSeconds));
    }
    found
}

/// The first value, the mean of the others, and the smallest and largest of these; they must be two at least to tell how
/// far they are from each other.
fn first_and_later(rates: &[f64]) -> Option<(f64, f64, (f64, f64))> {
    let (&first, later) = rates.split_first().filter(|(_, later)| later.len() >= 2)?;
    let mean = mean(later).filter(|mean| first > 0.0 && *mean > 0.0)?;
    let least = later.iter().copied().fold(f64::INFINITY, f64::min);
    let most = later.iter().copied().fold(0.0, f64::max);
    Some((first, mean, (least, most)))
}

/// Writes of the first seconds of load over those of the rest; `None` if the rest is shorter than them.
fn first_seconds(trial: &Counting<'_>) -> Option<f64> {
    let cells: Vec<Cell> = series::cells(&trial.record.slices, |slice| slice.op == Op::Write);
    let length = INTERVAL.0.saturating_mul(cells.len() as u64);
    // Another engine tells nothing of its ramp, in which the cache was filled.
    let told = trial.outcome.engine.external.is_none();
    if length < 2 * CACHE_FILLING.0 || !told {
        return None;
    }
    let (first, rest) = (series::between(&cells, Nanos(0), CACHE_FILLING), (CACHE_FILLING, Nanos(length)));
    let rest = series::between(&cells, rest.0, rest.1).ops / (rest.1.0 - rest.0.0) as f64;
    let first = first.ops / CACHE_FILLING.0 as f64;
    (rest > 0.0).then_some(first / rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{RunBuilder, case, open_case, run_of};
    use crate::trials::by_case;
    use stend_spec::workload::Sync;

    fn of(reads: u8, rates: &[f64]) -> CheckResult {
        let run = run_of(vec![case("c", reads, 32, Sync::None)]);
        let record = rates.iter().fold(run, |run, rate| run.trial(0).iops(*rate).done()).record();
        first_pass(&record, &by_case(&record)[0])
    }

    #[test]
    fn trials_that_vary_around_the_first_pass() {
        assert_eq!(of(100, &[10_000.0, 11_500.0, 9_900.0, 11_000.0]).status, CheckStatus::Pass);
        let varying = of(0, &[10_000.0, 8_000.0, 10_100.0]);
        assert_eq!(varying.status, CheckStatus::Pass);
        assert_eq!(varying.measured.en, "the first trial is within the spread of the others", "not 1.00 ×");
        // All above the first by chance, and as far from each other.
        assert_eq!(of(100, &[10_000.0, 12_500.0, 11_000.0]).status, CheckStatus::Pass);
    }

    #[test]
    fn reads_that_a_cache_answers_from_the_second_trial_on_are_a_warning() {
        let found = of(100, &[10_000.0, 30_000.0, 31_000.0]);
        assert_eq!(found.status, CheckStatus::Warn);
        assert_eq!(found.measured.en, "later trials 3.05 × the first, reads");
        assert_eq!(
            of(0, &[10_000.0, 30_000.0, 30_500.0]).status,
            CheckStatus::Pass,
            "writes do not become faster by a cache"
        );
    }

    #[test]
    fn writes_that_a_cache_took_in_the_first_trial_are_a_warning() {
        let found = of(0, &[30_000.0, 10_000.0, 10_000.0]);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Warn, "the first trial 3.00 × later ones, writes")
        );
        assert_eq!(
            of(100, &[30_000.0, 10_000.0, 10_000.0]).status,
            CheckStatus::Pass,
            "reads do not become slower by it"
        );
    }

    #[test]
    fn writes_that_fall_within_a_trial_are_a_warning() {
        let shaped = |shape: fn(u32) -> f64| {
            let run: RunBuilder = run_of(vec![case("c", 0, 32, Sync::None)]);
            let record = run.trial(0).window(Nanos::secs(30)).shape(shape).done().record();
            first_pass(&record, &by_case(&record)[0])
        };
        assert_eq!(shaped(|_| 1.0).status, CheckStatus::Pass);
        let found = shaped(|i| if i < 100 { 3.0 } else { 1.0 });
        assert_eq!(found.status, CheckStatus::Warn, "{found:?}");
        assert!(found.measured.ru.starts_with("первые 10 с нагрузки"), "{found:?}");
    }

    #[test]
    fn one_short_trial_cannot_tell_and_a_given_rate_is_not_asked() {
        assert_eq!(of(100, &[10_000.0, 30_000.0]).status, CheckStatus::NotMeasurable);
        let record = run_of(vec![open_case("open", 1_000)]).trial(0).done().record();
        assert_eq!(first_pass(&record, &by_case(&record)[0]).status, CheckStatus::NotApplicable);
    }
}
