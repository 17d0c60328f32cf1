//! Two levels of a rate: credits of a volume that run out, the burst of a limiter that ends, a cache that is full. Pure.
//!
//! A token bucket lets I/O pass at the first rate until it is empty, and then at the rate at which it is filled. So the lower rate is that at
//! which it fills, and what was done beyond it before the fall is what it held.

use crate::findings::{CaseFinding, CheckId, CheckStatus, Headline, LevelsFinding};
use crate::limits::{STEP_DOWN, STEP_SECONDS};
use crate::phrase;
use crate::series::{self, Cell};
use crate::trials::{CaseTrials, Counting};
use stend_base::text::plural_ru;
use stend_base::{Bytes, Lang, Nanos, Say, format, say_in};
use stend_spec::workload::{Op, Stream};
use stend_stats::plateau::{self, Step};
use stend_stats::{fairness::median, mean};

/// Intervals of a value of the series: 1 s.
const SECOND: usize = 10;

/// A lasting fall to a lower level.
pub(crate) fn fall(seconds: &[f64]) -> Option<Step> {
    plateau::step(seconds, STEP_SECONDS).filter(|step| step.after < STEP_DOWN * step.before)
}

/// The levels of the first trial: what later ones find has been filled for as long as they waited, and not longer. `None` where the rate
/// was asked for, and where a later trial stayed at the first level: then something else disturbed the first one.
pub(crate) fn of_case(case: &CaseTrials<'_>) -> Option<LevelsFinding> {
    if case.asked.streams.iter().any(Stream::is_open) {
        return None;
    }
    let of = phrase::headline(case.asked);
    let (first, later) = case.counting.split_first()?;
    let levels = of_trial(first, of)?;
    let agrees = |trial: &Counting<'_>| {
        let (seconds, from) = seconds(trial, of);
        let window = &seconds[from.min(seconds.len())..];
        fall(window).is_some() || mean(window).is_some_and(|mean| mean < STEP_DOWN * levels.first)
    };
    later.iter().all(agrees).then_some(levels)
}

/// What was done in each second from the start of the load to the end of the window, and the first of these that lies in the window.
fn seconds(trial: &Counting<'_>, of: Headline) -> (Vec<f64>, usize) {
    let window = series::window(trial.record);
    let mut cells = series::cells(&trial.record.slices, |slice| slice.op != Op::Sync);
    cells.resize(window.end, Cell::default());
    let value: fn(&Cell) -> f64 = match of {
        Headline::Iops => |cell| cell.ops,
        Headline::Throughput => |cell| cell.bytes,
    };
    (series::blocks(&cells, SECOND, value), window.start.div_ceil(SECOND))
}

fn of_trial(trial: &Counting<'_>, of: Headline) -> Option<LevelsFinding> {
    let (seconds, from) = seconds(trial, of);
    // What is over when the window begins is what a ramp is for.
    fall(seconds.get(from..)?)?;
    // Credits do not wait for the window: from the start of the load on.
    let step = fall(&seconds)?;
    // Medians: the second in which it fell belongs to neither level.
    let (first, then) = (median(&seconds[..step.at])?, median(&seconds[step.at..])?);
    if then <= 0.0 {
        // A stall: nothing is filled meanwhile.
        return None;
    }
    // That second may be on either side of the cut.
    let bucket = seconds.iter().take(step.at + 1).map(|value| (value - then).max(0.0)).sum::<f64>();
    Some(LevelsFinding {
        of,
        first,
        lasted: Nanos::secs(step.at as u64),
        then,
        bucket,
        refill: Nanos((bucket / then * 1e9).min(u64::MAX as f64) as u64),
    })
}

impl LevelsFinding {
    /// `3,000 IOPS for 30 s, then 300 IOPS`.
    pub fn short(&self, lang: Lang) -> String {
        let (first, then) =
            (phrase::plain_rate(self.of, self.first, lang), phrase::plain_rate(self.of, self.then, lang));
        let lasted = format::duration(self.lasted, lang);
        say_in!(lang, "{first} for {lasted}, then {then}", "{first} в течение {lasted}, затем {then}")
    }

    /// The same where there is no room for more, as in a table: `3,000 → 300 IOPS`.
    pub fn pair(&self, lang: Lang) -> String {
        let first = match self.of {
            Headline::Iops => format::iops(self.first, lang),
            Headline::Throughput => format::number(self.first / 1e6, lang),
        };
        format!("{first} → {}", phrase::plain_rate(self.of, self.then, lang))
    }

    /// The same in whole sentences, with what a bucket would hold.
    pub fn say(&self) -> Say {
        Say::both(|l| {
            let (short, refill) = (self.short(l), format::duration(self.refill, l));
            let held = match self.of {
                Headline::Iops => {
                    let count = format::iops(self.bucket, l);
                    say_in!(l, "{count} I/Os", "{count} операций")
                }
                Headline::Throughput => format::bytes(Bytes(self.bucket as u64), l),
            };
            say_in!(
                l,
                "Two levels: {short}. A bucket of credits that explains this holds {held}, and is full again after {refill} without load.",
                "Два уровня: {short}. Запас кредитов, которым это объясняется, — {held}; без нагрузки он наполнится за {refill}."
            )
        })
    }
}

/// Levels of the first case that is not `named` elsewhere, and how many others there are like it.
pub(crate) fn of_others(cases: &[CaseFinding], named: impl Fn(u32) -> bool) -> Option<Say> {
    let mut fell =
        cases.iter().filter(|case| !named(case.case)).filter_map(|case| Some((&case.label, case.levels.as_ref()?)));
    let (label, levels) = fell.next()?;
    let more = fell.count() as u64;
    Some(Say::both(|l| {
        let short = levels.short(l);
        let first = say_in!(l, "Case {label}: {short}", "Случай {label}: {short}");
        let others = match (more, l) {
            (0, _) => String::new(),
            (1, Lang::En) => " Another case has two levels, too.".to_string(),
            (_, Lang::En) => format!(" {more} other cases have two levels, too."),
            (_, Lang::Ru) => {
                let cases = plural_ru(more, "случае", "случаях", "случаях");
                format!(" Ещё в {more} {cases} тоже два уровня.")
            }
        };
        format!("{first}.{others}")
    }))
}

/// Whether two levels are all that is wrong with the numbers: then they are the answer, and only a mean of both misleads.
pub(crate) fn explain(cases: &[CaseFinding]) -> bool {
    let failed = |case: &CaseFinding| {
        let failed = case.checks.iter().filter(|check| check.status == CheckStatus::Fail).map(|check| check.id);
        failed.collect::<Vec<_>>()
    };
    let of_levels = |id: &CheckId| matches!(id, CheckId::H15 | CheckId::H65);
    let explained = |case: &CaseFinding| {
        let failed = failed(case);
        failed.is_empty() || case.levels.is_some() && failed.iter().all(of_levels)
    };
    cases.iter().any(|case| !failed(case).is_empty()) && cases.iter().all(explained)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, open_case, run_of};
    use crate::trials::by_case;
    use stend_spec::suite::SuiteCase;
    use stend_spec::workload::Sync;

    fn found(case: SuiteCase, shape: fn(u32) -> f64) -> Option<LevelsFinding> {
        let record = run_of(vec![case]).trial(0).window(Nanos::secs(60)).iops(3_000.0).shape(shape).done().record();
        of_case(&by_case(&record)[0])
    }

    fn reads() -> SuiteCase {
        case("r", 100, 32, Sync::None)
    }

    #[test]
    fn a_bucket_is_measured_by_what_was_done_beyond_the_rate_at_which_it_fills() {
        // Half a second of ramp and 20 s at 3000 per second, then 300: (3000 − 300) × 20.5 = 55,350.
        let levels = found(reads(), |i| if i < 200 { 1.0 } else { 0.1 }).unwrap();
        assert_eq!((levels.of, levels.then, levels.lasted.as_secs().round()), (Headline::Iops, 300.0, 21.0));
        assert!((levels.bucket / 55_350.0 - 1.0).abs() < 0.01, "{levels:?}");
        assert!((levels.refill.as_secs() / 184.5 - 1.0).abs() < 0.01, "{levels:?}");
        let text = levels.say();
        assert!(text.en.contains("I/Os, and is full again after"), "{}", text.en);
        assert!(text.ru.contains("операций; без нагрузки он наполнится"), "{}", text.ru);
    }

    #[test]
    fn one_trial_that_something_disturbed_is_no_bucket() {
        fn shape(trial: usize) -> fn(u32) -> f64 {
            match trial {
                0 => |i| if i < 200 { 1.0 } else { 0.1 },
                1 => |_| 0.1,
                _ => |_| 1.0,
            }
        }
        let of = |trials: &[usize]| {
            let run = trials.iter().fold(run_of(vec![reads()]), |run, trial| {
                run.trial(0).window(Nanos::secs(60)).iops(3_000.0).shape(shape(*trial)).done()
            });
            of_case(&by_case(&run.record())[0]).is_some()
        };
        assert!(of(&[0, 0]) && of(&[0, 1, 1]), "it was full again, or still empty");
        assert!(!of(&[0, 2]) && !of(&[2, 0]) && !of(&[1, 0]));
    }

    #[test]
    fn a_level_rate_a_rise_noise_and_a_rate_that_was_asked_for_have_no_levels() {
        for shape in [|_| 1.0, |i| if i < 300 { 0.1 } else { 1.0 }, |i: u32| 0.8 + 0.4 * f64::from(i * 7 % 11) / 11.0] {
            assert_eq!(found(reads(), shape), None);
        }
        assert_eq!(found(reads(), |i| if i < 300 { 1.0 } else { 0.0 }), None);
        // What falls during the ramp is not in the window.
        let mut ramped = reads();
        ramped.ramp = Nanos::secs(20);
        assert_eq!(found(ramped, |i| if i == 0 { 1.0 } else { 0.1 }), None);
        assert_eq!(found(open_case("open", 3_000), |i| if i < 200 { 1.0 } else { 0.1 }), None);
    }
}
