//! H41: did the queue reach the device, or did it wait above it?

use super::foreign::{no_device, of_all};
use super::stretch::{self, Stretch, stretches};
use super::{Check, too_few_samples};
use crate::findings::{CheckResult, CheckStatus};
use crate::limits::{DEPTH_LOST, DEPTH_REACHED, TRIALS_SURE};
use crate::phrase::{both, pick};
use crate::stats::t_interval;
use crate::trials::CaseTrials;
use stend_base::{format, say};
use stend_record::RunRecord;
use stend_record::sample::DiskCounters;
use stend_spec::workload::{Op, Stream, Sync};

/// H41: as many I/Os are in flight at the device as the case keeps in flight.
pub fn depth(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: "H41",
        name: say!("queue depth at the device", "глубина очереди на устройстве"),
        limit: both(|l| {
            pick(l, "≥ {p} of what was asked, ≥ {q} in each trial", "≥ {p} заявленной, в каждом испытании ≥ {q}")
                .replace("{p}", &format::percent(DEPTH_REACHED, l))
                .replace("{q}", &format::percent(DEPTH_LOST, l))
        }),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let asked: f64 = case.asked.streams.iter().map(|s| f64::from(s.queue_depth) * f64::from(s.jobs)).sum();
    let full = |stream: &Stream| {
        let transfers = Op::TRANSFERS.iter().map(|op| u32::from(stream.mix.share(*op))).sum::<u32>() == 100;
        transfers && !stream.is_open() && stream.think.is_none() && stream.sync == Sync::None && stream.replay.is_none()
    };
    if asked < 2.0 || !case.asked.direct || !case.asked.streams.iter().all(full) {
        return check.not_applicable(say!(
            "only a closed loop of direct reads and writes with several I/Os in flight has a depth to reach",
            "глубину достигает лишь замкнутый цикл прямых чтений и записей с несколькими операциями в очереди"
        ));
    }
    let Some(devices) = of_all(&run.targets) else { return check.not_measurable(no_device()) };
    let stretches = stretches(run, case);
    let (ops, length) = (
        stretch::sum(&stretches, |s| s.disk(devices[0], |d| d.reads.saturating_add(d.writes))),
        stretch::length(&stretches),
    );
    let weighted = devices.iter().map(|name| stretch::sum(&stretches, |s| s.disk(name, |d| d.weighted_ns)));
    let weighted = weighted.reduce(|sum, one| Some(sum?.saturating_add(one?))).flatten();
    let Some(weighted) = weighted.filter(|_| ops.is_some_and(|ops| ops > 0) && length.0 > 0) else {
        return check.not_measurable(too_few_samples());
    };
    if weighted == 0 {
        return check.not_measurable(say!(
            "this driver does not account for the time of its I/Os",
            "этот драйвер не учитывает время своих операций"
        ));
    }
    let mean = weighted as f64 / length.0 as f64;
    let each: Vec<f64> = stretches.iter().filter_map(|stretch| in_flight(stretch, &devices)).collect();
    // Trials that differ make the interval wide: one in which the queue never arrived must not hide there.
    let lost = each.iter().copied().filter(|reached| *reached < DEPTH_LOST * asked).reduce(f64::min);
    let measured = both(|l| {
        let lowest = lost.map(|lost| {
            pick(l, ", {n} in one trial", ", в одном испытании {n}").replace("{n}", &format::number(lost, l))
        });
        pick(l, "{m} of {a} at {d}{n}", "{m} из {a} на {d}{n}")
            .replace("{m}", &format::number(mean, l))
            .replace("{a}", &format::number(asked, l))
            .replace("{d}", &devices.join(", "))
            .replace("{n}", lowest.as_deref().filter(|_| each.len() > 1).unwrap_or_default())
    });
    // The whole interval is below, as far as trials make one.
    let interval = t_interval::interval(&each).filter(|_| each.len() >= TRIALS_SURE);
    if lost.is_none() && interval.map_or(mean, |(_, high)| high).max(mean) >= DEPTH_REACHED * asked {
        return check.pass(measured);
    }
    check.result(
        CheckStatus::Warn,
        measured,
        say!(
            "The rest of the queue waited above the device, in the engine, the file system or a layer between: the rate is not that of the device at this depth. Look for a limit of the layers (locks, `nr_requests`, one busy CPU), or give the load more jobs.",
            "Остальная очередь ждала над устройством: в генераторе, файловой системе или слое между ними. Скорость относится не к устройству на этой глубине. Ищите предел слоёв (блокировки, `nr_requests`, один занятый ЦП) или добавьте заданий."
        ),
    )
}

/// Mean number in flight over one stretch, and what its edges may hide: the kernel adds the time of an I/O when it ends, so that what is in
/// flight at an edge is missing or there as a whole, up to its mean latency at the device for each.
fn in_flight(stretch: &Stretch<'_>, devices: &[&str]) -> Option<f64> {
    let sum = |of: fn(&DiskCounters) -> u64| {
        devices.iter().map(|name| stretch.disk(name, of)).sum::<Option<u64>>().map(|sum| sum as f64)
    };
    let (weighted, ops) = (sum(|d| d.weighted_ns)?, sum(|d| d.reads.saturating_add(d.writes))?);
    let length = stretch.length().0 as f64;
    let mean = weighted / length;
    Some(mean * (1.0 + weighted / ops.max(1.0) / length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run, run_of};
    use crate::trials::by_case;

    /// With this part of the time of all I/Os at the device.
    fn with(share: f64) -> CheckResult {
        let mut record = run().trial(0).done().record();
        let disks = record.samples.iter_mut().flat_map(|sample| &mut sample.disks);
        disks.for_each(|disk| disk.weighted_ns = (disk.weighted_ns as f64 * share) as u64);
        depth(&record, &by_case(&record)[0])
    }

    #[test]
    fn a_queue_that_is_at_the_device_passes_and_one_above_it_is_a_warning() {
        let found = with(1.0);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "32.0 of 32.0 at sda"));
        let found = with(0.25);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Warn, "8.00 of 32.0 at sda"));
        assert_eq!(with(0.0).status, CheckStatus::NotMeasurable);
    }

    /// Six trials with these parts of the time of all I/Os at the device.
    fn of_trials(shares: [f64; 6]) -> CheckStatus {
        let builder = shares.iter().fold(run(), |builder, _| builder.trial(0).done());
        let mut record = builder.record();
        let starts: Vec<_> = record.trials.iter().map(|trial| trial.started).collect();
        let (mut last, mut at_device) = (0, 0);
        for sample in &mut record.samples {
            let trial = starts.iter().rposition(|start| *start < sample.at).unwrap_or(0);
            let all = sample.disks[1].weighted_ns;
            at_device += ((all - last) as f64 * shares[trial]) as u64;
            last = all;
            sample.disks.iter_mut().for_each(|disk| disk.weighted_ns = at_device);
        }
        depth(&record, &by_case(&record)[0]).status
    }

    #[test]
    fn a_depth_about_the_limit_is_told_when_the_trials_are_sure_of_it() {
        assert_eq!(of_trials([0.78, 0.83, 0.75, 0.81, 0.79, 0.77]), CheckStatus::Pass, "0.79 ± 0.03");
        assert_eq!(of_trials([0.72, 0.74, 0.75, 0.73, 0.74, 0.71]), CheckStatus::Warn, "0.73 ± 0.02");
    }

    #[test]
    fn trials_in_which_the_queue_never_arrived_do_not_hide_behind_those_in_which_it_did() {
        assert_eq!(of_trials([0.1, 0.1, 1.0, 1.0, 1.0, 1.0]), CheckStatus::Warn);
        assert_eq!(of_trials([1.0, 1.0, 0.45, 1.0, 1.0, 1.0]), CheckStatus::Warn);
        assert_eq!(of_trials([1.0, 1.0, 0.6, 1.0, 1.0, 1.0]), CheckStatus::Pass);
    }

    #[test]
    fn one_io_at_a_time_and_durable_writes_have_no_depth_to_reach() {
        for (depth_asked, sync) in [(1, Sync::None), (32, Sync::Fdatasync(1)), (32, Sync::Dsync), (32, Sync::ODsync)] {
            let record = run_of(vec![case("c", 0, depth_asked, sync)]).trial(0).done().record();
            assert_eq!(depth(&record, &by_case(&record)[0]).status, CheckStatus::NotApplicable);
        }
    }
}
