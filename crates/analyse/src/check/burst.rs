//! H15: was a burst measured together with what comes after it? A cache of fast cells takes writes until it is full.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::levels::fall;
use crate::limits::{STEP_DOWN, STEP_SECONDS};
use crate::series;
use crate::trials::{CaseTrials, Counting};
use stend_base::{Bytes, format, say};
use stend_spec::workload::{Op, Stream};

/// Intervals of a value of the series: 1 s.
const SECOND: usize = 10;

/// H15: over the bytes that were written, write throughput does not fall to a lower level.
pub fn burst(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H15,
        limit: say!(|l| "no lasting drop > {s}", "нет стойкого падения > {s}", s = format::percent(1.0 - STEP_DOWN, l)),
    };
    if !case.asked.streams.iter().any(|stream| stream.mix.write > 0) {
        return check.not_applicable(say!("the case does not write", "случай не пишет"));
    }
    if case.asked.streams.iter().any(Stream::is_open) {
        return check.not_applicable(say!("the rate is the one that was asked for", "скорость та, которую запросили"));
    }
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let seconds: Vec<f64> = case.counting.iter().flat_map(seconds).collect();
    if seconds.len() < 2 * STEP_SECONDS {
        return check
            .not_measurable(say!("the trials are too short to decide", "испытания слишком коротки, чтобы судить"));
    }
    let Some(step) = fall(&seconds) else {
        return check.pass(say!("no drop", "падения нет"));
    };
    let before: f64 = seconds[..step.at].iter().sum();
    let measured = say!(
        |l| "{a}, then {b} from {n} on",
        "{a}, затем {b} — после {n}",
        a = format::throughput(step.before, l),
        b = format::throughput(step.after, l),
        n = format::bytes(Bytes(before as u64), l)
    );
    check.measured(measured).fail(say!(
        "After so many bytes writes became slower and stayed slow: a cache was full. The mean describes neither level. Run rounds of the load first (`steady`), or publish the first level as a burst.",
        "После стольких байт запись надолго замедлилась: кэш заполнился. Среднее не относится ни к одному из уровней. Сначала выполните раунды нагрузки (`steady`) или публикуйте первый уровень как всплеск."
    ))
}

/// Bytes per second that a trial wrote in each whole second of its window; what was not seen is zero.
fn seconds(trial: &Counting<'_>) -> Vec<f64> {
    let cells = series::cells(&trial.record.slices, |slice| slice.op == Op::Write);
    let window = series::window(trial.record);
    let of = |second: usize| {
        let from = (window.start + second * SECOND).min(cells.len());
        cells[from..(from + SECOND).min(cells.len())].iter().map(|cell| cell.bytes).sum()
    };
    (0..window.len() / SECOND).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, open_case, run_of};
    use crate::trials::by_case;
    use stend_base::Nanos;
    use stend_spec::suite::SuiteCase;
    use stend_spec::workload::Sync;

    fn check(case: SuiteCase, seconds: u64, shape: fn(u32) -> f64) -> CheckResult {
        let record = run_of(vec![case]).trial(0).window(Nanos::secs(seconds)).shape(shape).done().record();
        burst(&by_case(&record)[0])
    }

    fn writes() -> SuiteCase {
        case("w", 0, 4, Sync::None)
    }

    #[test]
    fn h15_a_cliff_inside_the_windows_fails_and_says_after_how_much() {
        // 10,000 × 4 KiB per second for 10 s are 391 MiB.
        let found = check(writes(), 30, |i| if i < 100 { 1.0 } else { 0.3 });
        let told = (found.status, found.measured.en.as_str());
        assert_eq!(told, (CheckStatus::Fail, "41.0 MB/s, then 12.3 MB/s from 391 MiB on"));
        assert!(found.measured.ru.contains("затем 12,3"), "{}", found.measured.ru);
    }

    #[test]
    fn h15_a_level_load_a_rise_and_a_small_drop_pass() {
        for shape in [|_| 1.0, |i| if i < 100 { 0.3 } else { 1.0 }, |i| if i < 100 { 1.0 } else { 0.85 }] {
            assert_eq!(check(writes(), 30, shape).status, CheckStatus::Pass);
        }
    }

    #[test]
    fn h15_concerns_writes_at_full_speed_and_needs_ten_seconds() {
        let cliff = |i| if i < 100 { 1.0 } else { 0.3 };
        assert_eq!(check(case("r", 100, 4, Sync::None), 30, cliff).status, CheckStatus::NotApplicable);
        let mut open = open_case("open", 1000);
        open.streams[0].mix = stend_spec::workload::Mix::of_reads(0);
        assert_eq!(check(open, 30, cliff).status, CheckStatus::NotApplicable);
        assert_eq!(check(writes(), 2, |_| 1.0).status, CheckStatus::NotMeasurable);
    }
}
