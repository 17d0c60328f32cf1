//! H65: is the number that of a rate limiter? A limit of a control group, a top cut flat at a round value, or
//! credits that ran out. The last two are found from the rates alone, because a cloud does not show its limits.

use super::Check;
use super::stretch::{self, Stretch, stretches};
use crate::findings::{CheckId, CheckResult};
use crate::levels::fall;
use crate::limits::{FLAT_SECONDS, FLAT_TOP, LIMIT_REACHED, ROUND_DISTANCE};
use crate::series::{self, Cell};
use crate::trials::CaseTrials;
use stend_base::{Lang, Say, format, say};
use stend_record::sample::{DiskCounters, IoLimit};
use stend_record::{RunRecord, TargetFacts};
use stend_spec::workload::{Op, Stream};
use stend_stats::{mean, plateau};

/// Intervals of a value of the series: 1 s.
const SECOND: usize = 10;

/// A rate in words.
type InWords = fn(f64, Lang) -> String;

/// H65: no limit is known, and none shows.
pub fn limiter(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H65,
        limit: say!(
            "no limit, no flat top at a round value, no step down",
            "ни лимита, ни ровного верха на круглом числе, ни ступени вниз"
        ),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let stretches = stretches(run, case);
    let (known, uncounted) = known(run, &stretches);
    if let Some((measured, _)) = known.iter().find(|(_, share)| *share >= LIMIT_REACHED) {
        return check.measured(measured.clone()).fail(of_limit());
    }
    // A rate that was asked for is flat, and follows its schedule, by itself.
    let paced = case.asked.streams.iter().any(Stream::is_open);
    let seconds = if paced { Vec::new() } else { seconds(case) };
    if let Some(step) = step_down(&seconds) {
        return check.measured(step).fail(say!(
            "The rate fell to a lower level and stayed there, as when credits run out or a burst ends: the mean describes neither level. Measure longer, and report both.",
            "Скорость упала на более низкий уровень и осталась там — так кончаются кредиты или всплеск: среднее не относится ни к одному из уровней. Меряйте дольше и указывайте оба."
        ));
    }
    if let Some(flat) = flat_top(&seconds) {
        return check.measured(flat).warn(say!(
            "The rate is cut off at a round number: probably a limit of the volume, the virtual machine or the array, not of the storage itself. Find out who set it.",
            "Скорость срезана на круглом числе: вероятно, это лимит тома, виртуальной машины или массива, а не возможности хранилища. Узнайте, кто его задал."
        ));
    }
    if let Some((measured, _)) = known.into_iter().next() {
        return check.measured(measured).warn(say!(
            "A control group limits this target; the rate stayed below it.",
            "Контрольная группа ограничивает этот объект; скорость осталась ниже лимита."
        ));
    }
    if let Some(device) = uncounted {
        return check.not_measurable(say!(
            "{device} has a limit, and what it did was not counted",
            "у {device} есть лимит, но счётчиков этого устройства нет"
        ));
    }
    if stretches.is_empty() && seconds.len() < FLAT_SECONDS {
        return check
            .not_measurable(say!("the trials are too short to decide", "испытания слишком коротки, чтобы судить"));
    }
    check.pass(say!("none found", "не найден"))
}

fn of_limit() -> Say {
    say!(
        "A control group limits the rate: the number is that limit, not what the storage can do. Remove it (io.max, blkio.throttle), or publish the number as a limit.",
        "Скорость ограничивает контрольная группа: число — это её лимит, а не возможности хранилища. Снимите его (io.max, blkio.throttle) или публикуйте как лимит."
    )
}

/// Limits on the target's devices with the share of them that was reached, the highest first; and a device that has one and was not
/// counted.
fn known(run: &RunRecord, stretches: &[Stretch<'_>]) -> (Vec<(Say, f64)>, Option<String>) {
    let span = stretch::length(stretches).as_secs();
    let limits = stretches.iter().rev().find_map(|s| s.samples.last()?.limits.as_ref());
    let (mut found, mut uncounted) = (Vec::new(), None);
    for limit in limits.iter().flat_map(|limits| &limits.io) {
        let done = match takes_all(&run.load().targets, &limit.device) {
            true => Some([Op::Read, Op::Write].map(|op| stretch::application(stretches, op))),
            false => done_by(stretches, &limit.device),
        };
        match done {
            Some([read, write]) => found.extend(of_device(limit, read, write, span)),
            None => uncounted = Some(limit.device.clone()),
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    (found, uncounted)
}

/// Whether all I/O of the application goes to this device as it was made: it is the only target, or a partition of it is.
fn takes_all(targets: &[TargetFacts], device: &str) -> bool {
    let [target] = targets else { return false };
    let mut above = target.devices.iter().take_while(|found| found.name != device);
    target.devices.iter().any(|found| found.name == device) && above.all(|found| found.kind == "partition")
}

/// Reads and writes that a device counted; `None` where its counters are missing.
fn done_by(stretches: &[Stretch<'_>], device: &str) -> Option<[Cell; 2]> {
    let sum = |of: fn(&DiskCounters) -> u64| stretch::sum(stretches, |stretch| stretch.disk(device, of));
    let cell = |ops: u64, bytes: u64| Cell { ops: ops as f64, bytes: bytes as f64 };
    let read = cell(sum(|disk| disk.reads)?, sum(|disk| disk.read_bytes)?);
    Some([read, cell(sum(|disk| disk.writes)?, sum(|disk| disk.write_bytes)?)])
}

fn of_device(limit: &IoLimit, read: Cell, write: Cell, span: f64) -> Vec<(Say, f64)> {
    let device = &limit.device;
    let ios = |value: f64, l: Lang| format!("{} IOPS", format::iops(value, l));
    let kinds: [(Option<u64>, f64, InWords); 4] = [
        (limit.reads, read.ops, ios),
        (limit.writes, write.ops, ios),
        (limit.read_bytes, read.bytes, format::throughput),
        (limit.write_bytes, write.bytes, format::throughput),
    ];
    let one = |(most, done, text): (Option<u64>, f64, InWords)| {
        let (most, rate) = (most.filter(|&most| most > 0)? as f64, done / span);
        let measured = say!(
            |l| "{r} of the {m} that {device} is limited to",
            "{r} из {m}, разрешённых для {device}",
            r = text(rate, l),
            m = text(most, l)
        );
        // Limits of the other direction do not concern this case.
        (done > 0.0).then_some((measured, rate / most))
    };
    kinds.into_iter().filter_map(one).collect()
}

/// What completed in each whole second of the windows of all trials, in order.
fn seconds(case: &CaseTrials<'_>) -> Vec<Cell> {
    let of = |trial: &crate::trials::Counting<'_>| {
        let cells = series::cells(&trial.record.slices, |s| s.op != Op::Sync);
        let window = series::inside_window(trial.record, cells);
        let ops = series::blocks(&window, SECOND, |cell| cell.ops);
        let bytes = series::blocks(&window, SECOND, |cell| cell.bytes);
        ops.into_iter().zip(bytes).map(|(ops, bytes)| Cell { ops, bytes }).collect::<Vec<_>>()
    };
    case.counting.iter().flat_map(of).collect()
}

/// A lasting fall to a lower level, both of them even.
fn step_down(seconds: &[Cell]) -> Option<Say> {
    let ops: Vec<f64> = seconds.iter().map(|cell| cell.ops).collect();
    let step = fall(&ops)?;
    let at = step.at;
    Some(say!(
        |l| "from {b} to {a} IOPS after {at} s of load",
        "с {b} до {a} IOPS после {at} с нагрузки",
        b = format::iops(step.before, l),
        a = format::iops(step.after, l)
    ))
}

/// A flat top at a round number of I/Os, decimal or binary megabytes per second.
fn flat_top(seconds: &[Cell]) -> Option<Say> {
    let ops: Vec<f64> = seconds.iter().map(|cell| cell.ops).collect();
    let bytes: Vec<f64> = seconds.iter().map(|cell| cell.bytes).collect();
    if seconds.len() < FLAT_SECONDS || plateau::flatness(&ops)? >= FLAT_TOP {
        return None;
    }
    let round = |value: f64| plateau::round(value, ROUND_DISTANCE);
    let (ops, bytes) = (mean(&ops)?, mean(&bytes)?);
    let mebi = f64::from(1 << 20);
    let shown: (f64, InWords) = match (round(ops), round(bytes), round(bytes / mebi)) {
        (Some(round), _, _) => (round, |value, l| format!("{} IOPS", format::iops(value, l))),
        (None, Some(round), _) => (round, format::throughput),
        (None, None, Some(round)) => {
            (round, |value, l| format!("{} {}", format::number(value, l), l.pick("MiB/s", "МиБ/с")))
        }
        (None, None, None) => return None,
    };
    Some(say!(|l| "flat at {v}", "ровно {v}", v = shown.1(shown.0, l)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_base::Nanos;
    use stend_record::sample::GroupLimits;

    /// Noise of several percent, as storage has it.
    fn noise(interval: u32) -> f64 {
        0.9 + 0.2 * f64::from(interval / 10 * 7 % 11) / 11.0
    }

    /// A trial of 30 s.
    fn record(iops: f64, shape: fn(u32) -> f64) -> RunRecord {
        run().trial(0).window(Nanos::secs(30)).iops(iops).shape(shape).done().record()
    }

    fn check(record: &RunRecord) -> CheckResult {
        limiter(record, &by_case(record)[0])
    }

    #[test]
    fn a_rate_that_moves_passes_even_around_a_round_number() {
        assert_eq!(check(&record(3_000.0, noise)).status, CheckStatus::Pass);
    }

    #[test]
    fn a_flat_top_at_a_round_number_is_found_without_reading_any_limit() {
        let found = check(&record(2_990.0, |_| 1.0));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Warn, "flat at 3000 IOPS"));
        // 25,600 I/Os of 4 KiB are 100 MiB.
        assert_eq!(check(&record(25_600.0, |_| 1.0)).measured.ru, "ровно 100 МиБ/с");
        assert_eq!(check(&record(2_850.0, |_| 1.0)).status, CheckStatus::Pass);
    }

    #[test]
    fn credits_that_run_out_fail() {
        let found = check(&record(10_000.0, |i| noise(i) * if i < 120 { 1.0 } else { 0.1 }));
        assert_eq!(found.status, CheckStatus::Fail);
        assert!(found.measured.en.ends_with("after 12 s of load"), "{}", found.measured.en);
    }

    #[test]
    fn a_known_limit_that_is_reached_fails_and_one_that_is_not_is_a_warning() {
        let limited = |reads: u64| {
            let mut record = record(3_000.0, noise);
            let io = vec![IoLimit { device: "sda".into(), reads: Some(reads), writes: Some(1), ..IoLimit::default() }];
            let limits = GroupLimits { io, ..GroupLimits::default() };
            record.load_mut().samples.iter_mut().for_each(|s| s.limits = Some(limits.clone()));
            check(&record)
        };
        assert_eq!(limited(3_000).status, CheckStatus::Fail);
        let below = limited(9_000);
        assert_eq!((below.status, below.measured.en.ends_with("that sda is limited to")), (CheckStatus::Warn, true));
    }

    #[test]
    fn a_limit_of_one_of_several_drives_is_held_against_what_that_drive_did() {
        let mut record = record(3_000.0, noise);
        let limit = IoLimit { device: "sda".into(), reads: Some(3_000), ..IoLimit::default() };
        let limits = GroupLimits { io: vec![limit], ..GroupLimits::default() };
        let second = TargetFacts { path: "/dev/sdb".into(), ..record.load().targets[0].clone() };
        record.load_mut().targets.push(second);
        for sample in &mut record.load_mut().samples {
            sample.limits = Some(limits.clone());
            // The other half is that of the second drive.
            sample.disks.iter_mut().for_each(|disk| disk.reads /= 2);
        }
        let found = check(&record);
        assert_eq!(found.status, CheckStatus::Warn, "{found:?}");
        assert!(
            found.measured.en.starts_with("1") && found.measured.en.contains("of the 3000"),
            "{}",
            found.measured.en
        );
        record.load_mut().samples.iter_mut().for_each(|sample| sample.disks.clear());
        let uncounted = check(&record);
        assert_eq!(uncounted.status, CheckStatus::NotMeasurable, "{uncounted:?}");
    }

    #[test]
    fn a_short_trial_without_samples_is_not_measurable() {
        let mut record = run().trial(0).done().record();
        assert_eq!(check(&record).status, CheckStatus::Pass);
        record.load_mut().samples.clear();
        assert_eq!(check(&record).status, CheckStatus::NotMeasurable);
    }
}
