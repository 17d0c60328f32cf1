//! H41: did the queue reach the device, or did it wait above it?

use super::foreign::{no_device, not_told, of_all, writes_elsewhere};
use super::stretch::{self, Stretch, stretches};
use super::{Check, too_few_samples};
use crate::findings::{CheckId, CheckResult};
use crate::limits::{DEPTH_LOST, DEPTH_REACHED, TRIALS_SURE};
use crate::submitted;
use crate::trials::CaseTrials;
use stend_base::{Lang, Say, format, say, say_in};
use stend_record::RunRecord;
use stend_record::sample::DiskCounters;
use stend_spec::workload::{Op, Stream, Sync};
use stend_stats::t_interval;

/// H41: as many I/Os are in flight at the device as the case keeps in flight.
pub fn depth(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let mut check = Check { id: CheckId::H41, limit: limit(false) };
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
            "this check applies only to a closed loop of direct reads and writes with several I/Os in flight",
            "проверка относится лишь к замкнутому циклу прямых чтений и записей с несколькими операциями в очереди"
        ));
    }
    let Some(devices) = of_all(&run.load().targets) else { return check.not_measurable(no_device()) };
    if let Some(file_system) = writes_elsewhere(run, case) {
        return check.not_measurable(not_told(file_system));
    }
    let stretches = stretches(run, case);
    let Some(queue) = Queue::of(&stretches, &devices) else { return check.not_measurable(too_few_samples()) };
    if queue.weighted == 0.0 {
        return check.not_measurable(say!(
            "this driver does not account for the time of its I/Os",
            "этот драйвер не учитывает время своих операций"
        ));
    }
    let mean = queue.mean();
    // What waits for its turn to be submitted is not at the device: the result tells it, and it is no fault of a layer.
    let held = case.counting.iter().map(submitted::waiting).sum::<f64>() / case.counting.len() as f64;
    let rest = asked - held;
    check.limit = limit(submitted::is_told(held));
    let each: Vec<f64> = stretches
        .iter()
        .filter_map(|stretch| Queue::of(std::slice::from_ref(stretch), &devices))
        .map(|queue| queue.with_edges())
        .collect();
    // Trials that differ make the interval wide: one in which the queue never arrived must not hide there.
    let lost = each.iter().copied().filter(|reached| *reached < DEPTH_LOST * rest).reduce(f64::min);
    let shown = lost.filter(|_| each.len() > 1);
    // The whole interval is below, as far as trials make one.
    let interval = t_interval::interval(&each).filter(|_| each.len() >= TRIALS_SURE);
    let excused = interval.filter(|_| mean < DEPTH_REACHED * rest);
    let measured = Say::both(|l| {
        let shown_mean = format::near_limit::number(mean, DEPTH_REACHED * rest, l);
        let mean = match excused {
            Some((_, high)) if high > mean => {
                say_in!(l, "{shown_mean} (up to {high})", "{shown_mean} (до {high})", high = format::number(high, l))
            }
            _ => shown_mean,
        };
        measured((&mean, asked), &devices.join(", "), shown, held, l)
    });
    if lost.is_none() && interval.map_or(mean, |(_, high)| high).max(mean) >= DEPTH_REACHED * rest {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "The rest of the queue waited above the device: in the engine, the file system or a layer between. The rate is not that of the device at this depth. Look for a limit of the layers (locks, `nr_requests`, one busy CPU), or give the load more jobs.",
        "Остальная очередь ждала над устройством: в генераторе, файловой системе или слое между ними. Скорость относится не к устройству на этой глубине. Ищите предел слоёв (блокировки, `nr_requests`, один занятый ЦП) или добавьте заданий."
    ))
}

/// What has to be there of what was asked, or of what is left of that when some `wait` above the device.
fn limit(wait: bool) -> Say {
    Say::both(|l| {
        let less = if wait { l.pick(" and did not wait", " без ждавших подачи") } else { "" };
        say_in!(
            l,
            "≥ {p} of what was asked{less}, ≥ {q} in each trial",
            "≥ {p} заявленной{less}, в каждом испытании ≥ {q}",
            p = format::percent(DEPTH_REACHED, l),
            q = format::percent(DEPTH_LOST, l)
        )
    })
}

/// How many were in flight of how many asked for, in the worst trial if that is `lost`, and how many were `held` above the device.
fn measured((mean, asked): (&str, f64), devices: &str, lost: Option<f64>, held: f64, l: Lang) -> String {
    let lost =
        lost.map(|lost| say_in!(l, ", {n} in one trial", ", в одном испытании {n}", n = format::number(lost, l)));
    say_in!(
        l,
        "{mean} of {a} at {devices}{n}{h}",
        "{mean} из {a} на {devices}{n}{h}",
        a = format::number(asked, l),
        n = lost.unwrap_or_default(),
        h = submitted::beside(held, l)
    )
}

/// What the kernel counts of the queue of the devices.
struct Queue {
    /// Time of all requests together, ns.
    weighted: f64,
    requests: f64,
    /// I/Os of the case in one request: the kernel merges neighbours into larger ones (above 1), and splits what is larger than
    /// the device takes (below 1).
    ios_of_a_request: f64,
    /// Time over which they were counted, ns.
    length: f64,
}

impl Queue {
    /// `None` if counters are missing, or nothing was done.
    fn of(stretches: &[Stretch<'_>], devices: &[&str]) -> Option<Queue> {
        let sum = |of: fn(&DiskCounters) -> u64| {
            let each = devices.iter().map(|name| stretch::sum(stretches, |s| s.disk(name, of)));
            each.sum::<Option<u64>>().map(|sum| sum as f64)
        };
        let requests = sum(|d| d.reads.saturating_add(d.writes))?;
        let bytes = sum(|d| d.read_bytes.saturating_add(d.write_bytes))?;
        let (mut own_ios, mut own_bytes) = (0.0, 0.0);
        for op in Op::TRANSFERS {
            let own = stretch::application(stretches, op);
            (own_ios, own_bytes) = (own_ios + own.ops, own_bytes + own.bytes);
        }
        let queue = Queue {
            weighted: sum(|d| d.weighted_ns)?,
            requests,
            ios_of_a_request: bytes / requests * own_ios / own_bytes,
            length: stretch::length(stretches).0 as f64,
        };
        (queue.length > 0.0 && queue.ios_of_a_request.is_normal()).then_some(queue)
    }

    /// Mean number of I/Os of the case in flight.
    fn mean(&self) -> f64 {
        self.weighted / self.length * self.ios_of_a_request
    }

    /// The same and what the edges may hide: the kernel adds the time of a request when it ends, so that what is in flight at an edge
    /// is missing or there as a whole, up to its mean latency at the device for each.
    fn with_edges(&self) -> f64 {
        self.mean() * (1.0 + self.weighted / self.requests / self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run, run_of};
    use crate::trials::by_case;
    use stend_record::observed::Submissions;

    /// With this part of the time of all I/Os at the device.
    fn with(share: f64) -> CheckResult {
        let mut record = run().trial(0).done().record();
        let disks = record.load_mut().samples.iter_mut().flat_map(|sample| &mut sample.disks);
        disks.for_each(|disk| disk.weighted_ns = (disk.weighted_ns as f64 * share) as u64);
        depth(&record, &by_case(&record)[0])
    }

    #[test]
    fn what_waits_to_be_submitted_is_told_and_not_missed_at_the_device() {
        let with = |waited_ns| {
            let mut record = run().trial(0).done().record();
            let disks = record.load_mut().samples.iter_mut().flat_map(|sample| &mut sample.disks);
            disks.for_each(|disk| disk.weighted_ns = disk.weighted_ns * 3 / 4);
            let outcome = record.trials[0].outcome.as_mut().unwrap();
            let loaded = (outcome.window_end - outcome.load_start).0;
            let submissions = Submissions { calls: 1, ios: 1, together: 0, waited_ns: waited_ns * loaded, late_ns: 0 };
            outcome.jobs[0].submissions = Some(submissions);
            depth(&record, &by_case(&record)[0])
        };
        let found = with(4);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Pass, "24.0 of 32.0 at sda, 4.00 waited to be submitted")
        );
        assert_eq!((with(1).status, with(0).measured.en.as_str()), (CheckStatus::Warn, "24.0 of 32.0 at sda"));
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
        for sample in &mut record.load_mut().samples {
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
    fn ios_that_are_merged_or_split_on_their_way_count_as_they_were_made() {
        let with = |requests: fn(u64) -> u64, weighted: fn(u64) -> u64| {
            let mut record = run().trial(0).done().record();
            for disk in record.load_mut().samples.iter_mut().flat_map(|sample| &mut sample.disks) {
                (disk.reads, disk.writes) = (requests(disk.reads), requests(disk.writes));
                disk.weighted_ns = weighted(disk.weighted_ns);
            }
            depth(&record, &by_case(&record)[0])
        };
        // Read on a virtual disk: eight reads of 1 MiB in a row arrive as three requests of 2.5 MiB and are all in flight.
        let merged = with(|ios| ios / 4, |time| time / 4);
        assert_eq!((merged.status, merged.measured.en.as_str()), (CheckStatus::Pass, "32.0 of 32.0 at sda"));
        let split = with(|ios| ios * 4, |time| time);
        assert_eq!((split.status, split.measured.en.as_str()), (CheckStatus::Warn, "8.00 of 32.0 at sda"));
    }

    #[test]
    fn what_a_copying_file_system_writes_for_itself_has_no_depth_to_tell() {
        for (reads, status) in [(70, CheckStatus::NotMeasurable), (100, CheckStatus::Pass)] {
            let mut record = run_of(vec![case("mix", reads, 32, Sync::None)]).trial(0).done().record();
            record.load_mut().targets[0].file_system = Some("btrfs".into());
            assert_eq!(depth(&record, &by_case(&record)[0]).status, status);
        }
    }

    #[test]
    fn one_io_at_a_time_and_durable_writes_have_no_depth_to_reach() {
        for (depth_asked, sync) in [(1, Sync::None), (32, Sync::Fdatasync(1)), (32, Sync::Dsync), (32, Sync::ODsync)] {
            let record = run_of(vec![case("c", 0, depth_asked, sync)]).trial(0).done().record();
            assert_eq!(depth(&record, &by_case(&record)[0]).status, CheckStatus::NotApplicable);
        }
    }
}
