//! H47 and H48: did the CPUs run evenly, and did heat hold CPUs or drives back?

use super::Check;
use super::readings::{no_readings, readings};
use super::stretch::stretches;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{FREQUENCIES_JUDGED, FREQUENCY_VARIATION, THROTTLED_LOSS};
use crate::series::{self, cells, inside_window};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Lang, Say, format, say, say_in};
use stend_record::parts::Temperature;
use stend_record::{EventKind, Parts, RunRecord};

/// The governor that keeps a CPU at its highest frequency.
const STEADY: &str = "performance";

/// H47: one governor that does not follow the load, and frequencies that stay.
pub fn frequency(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H47,
        limit: say!(
            |l| "`performance`, varies ≤ {v}",
            "`performance`, разброс ≤ {v}",
            v = format::percent(FREQUENCY_VARIATION, l)
        ),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let governor = governor(run, case);
    let variation = variation(run, case);
    if governor.is_none() && variation.is_none() {
        return check.not_measurable(say!(
            "neither governor nor frequency of the CPUs is visible here, as usual in a virtual machine",
            "ни регулятор, ни частота процессоров отсюда не видны, как обычно в виртуальной машине"
        ));
    }
    let measured = Say::both(|l| {
        let varies = |v: f64| {
            say_in!(l, "varies by {v}", "разброс {v}", v = format::near_limit::percent(v, FREQUENCY_VARIATION, l))
        };
        let told = governor.map(String::from).into_iter().chain(variation.map(varies));
        told.collect::<Vec<_>>().join(", ")
    });
    let steady = governor.is_none_or(|governor| governor == STEADY);
    if steady && variation.is_none_or(|variation| variation <= FREQUENCY_VARIATION) {
        return check.pass(measured);
    }
    check.measured(measured).warn(drifting())
}

fn drifting() -> Say {
    say!(
        "The CPUs change their frequency with the load, so that latencies of few I/Os in flight contain the time to speed up. Set the governor (`cpupower frequency-set -g performance`), and look at limits of power and at deep idle states.",
        "Процессоры меняют частоту вслед за нагрузкой, и в задержки при малой глубине очереди входит время разгона. Установите регулятор (`cpupower frequency-set -g performance`), проверьте ограничения мощности и глубокие состояния простоя."
    )
}

/// Governors as inventory found them last before the case began.
fn governor<'a>(run: &'a RunRecord, case: &CaseTrials<'_>) -> Option<&'a str> {
    let start = case.counting.first()?.outcome.load_start;
    let later = run.events.iter().rev().filter(|event| event.at <= start).find_map(|event| match &event.kind {
        EventKind::Arm { facts, .. } => Some(&facts.host),
        EventKind::Resumed { host, .. } => Some(host.as_ref()),
        _ => None,
    });
    later.or(run.load().facts.as_ref())?.governor.as_deref()
}

/// Coefficient of variation of the mean frequency of the CPUs, over the readings while the load ran; `None` if there are too few.
fn variation(run: &RunRecord, case: &CaseTrials<'_>) -> Option<f64> {
    let stretches = stretches(run, case);
    let readings = stretches.iter().flat_map(|stretch| stretch.samples).filter_map(|sample| sample.parts.as_deref());
    let mean = |khz: &Vec<u64>| khz.iter().map(|&khz| khz as f64).sum::<f64>() / khz.len() as f64;
    let means: Vec<f64> =
        readings.map(|parts| &parts.frequencies_khz).filter(|khz| !khz.is_empty()).map(mean).collect();
    let n = means.len() as f64;
    let centre = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (n - 1.0);
    (means.len() >= FREQUENCIES_JUDGED && centre > 0.0).then(|| variance.sqrt() / centre)
}

/// What heat did around the trials of a case.
#[derive(Debug, Clone, Default)]
struct Heat {
    /// Times that a CPU was held back; `None` if nobody counts.
    throttled: Option<u64>,
    /// Highest temperature of each drive.
    drives: Vec<Temperature>,
}

/// H48: no CPU was held back, and no drive was as warm as it warns of.
pub fn heat(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H48,
        limit: say!("no throttling, drives below their warning", "без торможения, накопители холоднее своего порога"),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let readings = readings(run, case);
    if readings.is_empty() {
        return check.not_measurable(no_readings());
    }
    let found = felt(&readings);
    if found.throttled.is_none() && found.drives.is_empty() {
        return check.not_measurable(say!(
            "neither throttling of CPUs nor temperatures of drives are visible here, as usual in a virtual machine",
            "ни торможение процессоров, ни температура накопителей отсюда не видны, как обычно в виртуальной машине"
        ));
    }
    let measured = Say::both(|l| measured(&found, l));
    let hot = found.throttled.is_some_and(|n| n > 0) || found.drives.iter().any(is_hot);
    if !hot {
        return check.pass(measured);
    }
    let fell = case.counting.iter().filter_map(kept).fold(1.0, f64::min) < 1.0 - THROTTLED_LOSS;
    match fell {
        true => check.measured(measured).fail(slowed()),
        false => check.measured(measured).warn(warm()),
    }
}

fn slowed() -> Say {
    say!(
        "Heat throttled the machine, and the rate fell within a trial: these are results of a hot machine. Improve the cooling, or measure the steady state and mention this with the result.",
        "Перегрев тормозил машину, и скорость внутри испытания упала: это скорость горячей машины. Улучшите охлаждение или измерьте установившийся режим и оговорите это в отчёте."
    )
}

fn warm() -> Say {
    say!(
        "CPUs or drives reached their protection temperature. The rate did not fall within the trials, but may have been low from the start. Improve the cooling and repeat.",
        "Процессоры или накопители нагрелись до порога защиты; внутри испытаний скорость не упала, но могла быть низкой с самого начала. Улучшите охлаждение и повторите."
    )
}

fn felt(readings: &[Vec<&Parts>]) -> Heat {
    let throttled = |trial: &Vec<&Parts>| trial.last()?.throttled?.checked_sub(trial.first()?.throttled?);
    let mut drives: Vec<Temperature> = Vec::new();
    for temperature in readings.iter().flatten().flat_map(|parts| &parts.temperatures) {
        match drives.iter_mut().find(|known| known.device == temperature.device) {
            Some(known) if known.milli_celsius < temperature.milli_celsius => *known = temperature.clone(),
            Some(_) => {}
            None => drives.push(temperature.clone()),
        }
    }
    let throttled = readings.iter().map(throttled).collect::<Option<Vec<u64>>>();
    Heat { throttled: throttled.map(|counts| counts.into_iter().fold(0, u64::saturating_add)), drives }
}

fn is_hot(temperature: &Temperature) -> bool {
    temperature.warning.or(temperature.critical).is_some_and(|limit| limit > 0 && temperature.milli_celsius >= limit)
}

fn measured(found: &Heat, lang: Lang) -> String {
    let degrees = |milli: i64| format!("{} °C", format::fixed(milli as f64 / 1000.0, 0, lang));
    let drive = |drive: &Temperature| {
        let limit = drive.warning.or(drive.critical).filter(|&limit| limit > 0);
        let of = limit.map(|limit| format!("{}{}", lang.pick(" of ", " из "), degrees(limit))).unwrap_or_default();
        format!("{} {}{of}", drive.device, degrees(drive.milli_celsius))
    };
    let cpus = found
        .throttled
        .map(|n| say_in!(lang, "CPUs throttled {n} times", "процессоры тормозили, раз: {n}", n = format::count(n)));
    cpus.into_iter().chain(found.drives.iter().map(drive)).collect::<Vec<_>>().join(", ")
}

/// Rate of the last third of a window over that of the first; `None` if either is empty.
fn kept(trial: &Counting<'_>) -> Option<f64> {
    let window =
        inside_window(trial.record, cells(&trial.record.slices, |slice| slice.op != stend_spec::workload::Op::Sync));
    let third = window.len() / 3;
    let sum = |part: &[series::Cell]| part.iter().map(|cell| cell.ops).sum::<f64>();
    let (first, last) = (sum(window.get(..third)?), sum(window.get(window.len() - third..)?));
    (first > 0.0).then(|| last / first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;

    /// A run in which the parts of sample number n are made by `parts`.
    fn record(shape: fn(u32) -> f64, parts: fn(usize) -> Parts) -> RunRecord {
        let mut record = run().trial(0).shape(shape).done().record();
        let each = record.load_mut().samples.iter_mut().enumerate();
        each.for_each(|(at, sample)| sample.parts = Some(Box::new(parts(at))));
        record
    }

    fn h47(governor: Option<&str>, parts: fn(usize) -> Parts) -> CheckResult {
        let mut record = record(|_| 1.0, parts);
        record.load_mut().facts.as_mut().unwrap().governor = governor.map(String::from);
        frequency(&record, &by_case(&record)[0])
    }

    fn h48(shape: fn(u32) -> f64, parts: fn(usize) -> Parts) -> CheckResult {
        let record = record(shape, parts);
        heat(&record, &by_case(&record)[0])
    }

    fn at_khz(khz: u64) -> Parts {
        Parts { frequencies_khz: vec![khz, khz], ..Parts::default() }
    }

    fn drive(milli_celsius: i64) -> Parts {
        let temperature =
            Temperature { device: "nvme0n1".into(), milli_celsius, warning: Some(70_000), critical: Some(85_000) };
        Parts { temperatures: vec![temperature], throttled: Some(7), ..Parts::default() }
    }

    #[test]
    fn h47_the_performance_governor_at_one_frequency_passes() {
        let found = h47(Some("performance"), |_| at_khz(3_000_000));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "performance, varies by 0.0 %"));
        assert_eq!(h47(Some("performance"), |_| Parts::default()).status, CheckStatus::Pass);
    }

    #[test]
    fn h47_a_governor_that_follows_the_load_and_a_frequency_that_wanders_are_warnings() {
        assert_eq!(h47(Some("schedutil"), |_| at_khz(3_000_000)).status, CheckStatus::Warn);
        assert_eq!(h47(Some("performance, powersave"), |_| at_khz(3_000_000)).status, CheckStatus::Warn);
        let wanders = h47(Some("performance"), |at| at_khz(if at % 2 == 0 { 3_000_000 } else { 2_000_000 }));
        assert_eq!(
            (wanders.status, wanders.measured.ru.contains("разброс 21")),
            (CheckStatus::Warn, true),
            "{wanders:?}"
        );
    }

    #[test]
    fn h47_edges_of_trials_where_cpus_are_idle_do_not_count() {
        let idle_at_the_edges = h47(Some("performance"), |at| at_khz(if at == 0 { 800_000 } else { 3_000_000 }));
        assert_eq!(idle_at_the_edges.status, CheckStatus::Pass);
    }

    #[test]
    fn h47_and_h48_in_a_machine_that_hides_both_are_not_measurable() {
        assert_eq!(h47(None, |_| Parts::default()).status, CheckStatus::NotMeasurable);
        assert_eq!(h48(|_| 1.0, |_| Parts::default()).status, CheckStatus::NotMeasurable);
    }

    #[test]
    fn h48_cool_drives_and_cpus_pass() {
        let found = h48(|_| 1.0, |_| drive(45_400));
        assert_eq!(found.status, CheckStatus::Pass);
        assert_eq!(found.measured.en, "CPUs throttled 0 times, nvme0n1 45 °C of 70 °C");
    }

    #[test]
    fn h48_a_drive_at_its_warning_is_a_warning_and_fails_where_the_rate_fell() {
        assert_eq!(h48(|_| 1.0, |at| drive(40_000 + 8_000 * at as i64)).status, CheckStatus::Warn);
        let fell = h48(|at| if at < 10 { 1.0 } else { 0.7 }, |_| drive(71_000));
        assert_eq!(fell.status, CheckStatus::Fail);
    }

    #[test]
    fn h48_a_cpu_that_was_throttled_during_a_trial_is_a_warning() {
        let found = h48(|_| 1.0, |at| Parts { throttled: Some(at as u64), ..Parts::default() });
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Warn, "CPUs throttled 5 times"));
    }
}
