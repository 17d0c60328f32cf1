//! H11: did the bytes reach the drives, or were they served from a cache above them?

use super::lower_devices::LowerDevices;
use super::stretch::{self, Stretch};
use super::{Check, too_few_samples};
use crate::findings::{CheckId, CheckResult};
use crate::limits::{BYTES_AT_DRIVES, EDGE_EXCUSES};
use crate::phrase::op as op_name;
use crate::trials::CaseTrials;
use stend_base::{Lang, Say, format, say};
use stend_record::{Device, RunRecord};
use stend_spec::workload::Op;

/// Bytes of one operation, over the stretches of load that lie between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Bytes {
    application: f64,
    drives: f64,
    /// By how much both may differ because of the edges of the stretches.
    edges: f64,
}

impl Bytes {
    fn ratio(&self) -> f64 {
        self.drives / self.application
    }

    /// What the edges may hide of the ratio.
    fn excuse(&self) -> f64 {
        self.edges / self.application
    }
}

/// H11: bytes at the lowest visible devices against bytes of the application.
pub fn bytes(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check =
        Check { id: CheckId::H11, limit: Say::both(|l| format!("≥ {}", format::fixed(BYTES_AT_DRIVES, 2, l))) };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let below = LowerDevices::of(run);
    let Some(drives) = LowerDevices::drives_of(&below) else {
        return check.not_measurable(say!(
            "no block device below the target is visible",
            "под объектом не видно ни одного блочного устройства"
        ));
    };
    let ops: Vec<Op> = Op::TRANSFERS.into_iter().filter(|&op| asked(case, op)).collect();
    if ops.is_empty() {
        return check.not_applicable(moves_no_data());
    }
    // Each host has a copy of its own: what a cache on one keeps back shall not hide behind what the other wrote.
    let copies = LowerDevices::mirrored(run) && below.len() == 2;
    let of = |&op: &Op| match copies && op == Op::Write {
        true => least(&below, case, op),
        false => everywhere(&below, case, op),
    };
    let found = ops.iter().map(of).collect::<Option<Vec<Bytes>>>();
    let Some(found) = found.filter(|found| found.iter().all(|b| b.application > 0.0)) else {
        return check.not_measurable(too_few_samples());
    };
    let ratios: Vec<(Op, Bytes)> = ops.into_iter().zip(found).collect();
    let measured = measured(&ratios, &below, &drives);
    if ratios.iter().all(|(_, found)| found.ratio() + found.excuse().min(EDGE_EXCUSES) >= BYTES_AT_DRIVES) {
        return check.pass(measured);
    }
    if ratios.iter().all(|(_, found)| found.ratio() + found.excuse() >= BYTES_AT_DRIVES) {
        return check.not_measurable(too_much_in_flight());
    }
    if !case.asked.direct {
        return check.measured(measured).warn(say!(
            "The case goes through the page cache, which answered a part: the result is not of the drives alone.",
            "Случай идёт через страничный кэш, и часть операций обслужил он: результат относится не только к накопителям."
        ));
    }
    check.measured(measured).fail(say!(
        "Some data never reached the drives: a cache above them answered, or still holds it. Use a larger range.",
        "Часть данных не дошла до накопителей: ответил кэш над ними или они остались в нём. Увеличьте область."
    ))
}

/// Whether the case asks for an operation.
pub(super) fn asked(case: &CaseTrials<'_>, op: Op) -> bool {
    case.asked.streams.iter().any(|s| s.mix.share(op) > 0)
}

/// Why what compares data at two places does not concern a case.
pub(super) fn moves_no_data() -> Say {
    say!("the case moves no data", "случай не передаёт данных")
}

/// Bytes at the drives of each host. Each was read at moments of its own.
fn by_host(below: &[LowerDevices<'_>], case: &CaseTrials<'_>, op: Op) -> Option<Vec<Bytes>> {
    below.iter().map(|at| reconcile(&at.stretches(case), &at.drives(), op)).collect()
}

/// Bytes at the drives of all hosts: what each adds is held against what the application did by its readings.
fn everywhere(below: &[LowerDevices<'_>], case: &CaseTrials<'_>, op: Op) -> Option<Bytes> {
    let mut each = by_host(below, case, op)?.into_iter();
    let first = each.next()?;
    Some(each.fold(first, |sum, other| {
        // In parts of what the application did by the readings of the first host.
        let scale = sum.application / other.application.max(1.0);
        Bytes { drives: sum.drives + other.drives * scale, edges: sum.edges + other.edges * scale, ..sum }
    }))
}

/// Bytes at the drives of the host at which the least arrived.
fn least(below: &[LowerDevices<'_>], case: &CaseTrials<'_>, op: Op) -> Option<Bytes> {
    let each = by_host(below, case, op)?;
    // Where the application did nothing by the readings of one of them, there is nothing to hold its bytes against.
    let least = || each.iter().copied().min_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    if each.iter().all(|bytes| bytes.application > 0.0) { least() } else { None }
}

/// Bytes over all stretches; `None` if there are none or a counter is missing.
fn reconcile(stretches: &[Stretch<'_>], drives: &[&Device], op: Op) -> Option<Bytes> {
    let moved = |drive: &&Device| {
        stretch::sum(stretches, |s| s.disk(&drive.name, |d| if op == Op::Read { d.read_bytes } else { d.write_bytes }))
    };
    let drives = drives.iter().map(moved).collect::<Option<Vec<u64>>>()?;
    let drives = drives.iter().map(|&bytes| bytes as f64).sum();
    let edges = stretch::edges(stretches, op).bytes;
    Some(Bytes { application: stretch::application_and_prober(stretches, op).bytes, drives, edges })
}

/// Why counts over stretches this short cannot be held against each other.
pub(super) fn too_much_in_flight() -> Say {
    say!(
        "trials this short have too much in flight at their edges to notice missing bytes: measure longer",
        "на краях столь коротких испытаний в очереди слишком много, чтобы заметить пропавшие байты: измеряйте дольше"
    )
}

/// A ratio in words, with what the edges may hide where that decides.
fn said(found: &Bytes, lang: Lang) -> String {
    let ratio = format::near_limit::fixed(found.ratio(), BYTES_AT_DRIVES, 3, lang);
    match found.ratio() < BYTES_AT_DRIVES && found.ratio() + found.excuse() >= BYTES_AT_DRIVES {
        true => format!("{ratio} ± {}", format::fixed(found.excuse(), 3, lang)),
        false => ratio,
    }
}

fn measured(ratios: &[(Op, Bytes)], below: &[LowerDevices<'_>], drives: &[&Device]) -> Say {
    let names = LowerDevices::names_of(below, |_| true);
    let is_virtual = drives.iter().any(|d| d.is_virtual);
    Say::both(|l| {
        let ratio = |(op, found): &(Op, Bytes)| format!("{} {}", op_name(*op).get(l), said(found, l));
        let ratios = ratios.iter().map(ratio).collect::<Vec<_>>().join(", ");
        let at = l.pick("at", "на");
        let beyond = if LowerDevices::ends_at_a_network(drives) {
            l.pick(
                " (over a network: drives and caches behind it are not visible)",
                " (по сети: накопители и кэши за ней не видны)",
            )
        } else if is_virtual {
            l.pick(" (virtual: caches of its host are not visible)", " (виртуальный: кэш его хоста не виден)")
        } else {
            ""
        };
        format!("{ratios} {at} {}{beyond}", names.get(l))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{by_fio, case, over_storage, run, run_of};
    use crate::trials::by_case;
    use stend_base::Nanos;
    use stend_spec::workload::Sync;

    fn check(record: &RunRecord) -> CheckResult {
        bytes(record, &by_case(record)[0])
    }

    #[test]
    fn every_byte_at_the_drive_passes() {
        let found = check(&run().trial(0).done().trial(0).done().record());
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "read 1.000 at sda"));
    }

    #[test]
    fn reads_from_a_cache_above_the_drives_fail() {
        let found = check(&run().trial(0).at_drives(0.1).done().record());
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Fail, "read 0.100 at sda"));
    }

    /// A case of 1 MiB with 128 in flight at 400 MB/s: what is in flight is a third of a second of it.
    fn deep(share: f64, trials: usize, length: Nanos) -> CheckResult {
        let mut deep = case("deep", 100, 128, Sync::None);
        deep.streams[0].block_size = vec![stend_base::Bytes::mib(1)];
        let builder = (0..trials)
            .fold(run_of(vec![deep]), |builder, _| builder.trial(0).window(length).iops(400.0).at_drives(share).done());
        check(&builder.record())
    }

    #[test]
    fn what_is_in_flight_at_the_edges_of_a_short_window_is_no_cache() {
        assert_eq!(deep(0.94, 6, Nanos::secs(20)).status, CheckStatus::Pass);
        assert_eq!(deep(0.90, 6, Nanos::secs(20)).status, CheckStatus::Fail, "a cache that answers a tenth");
        assert_eq!(deep(0.50, 6, Nanos::secs(2)).status, CheckStatus::Fail, "one that answers half");
        let short = deep(0.84, 1, Nanos::secs(2));
        assert_eq!((short.status, short.meaning.en.contains("in flight")), (CheckStatus::NotMeasurable, true));
        assert_eq!(deep(1.0, 1, Nanos::secs(2)).status, CheckStatus::Pass);
    }

    #[test]
    fn the_ramp_of_another_engine_does_not_count_as_load_without_ios() {
        // fio tells nothing of its ramp: its load begins with its window, from which intervals are numbered.
        let of = |share: f64, uncertainty: Nanos| {
            let record = run().trial(0).at_drives(share).change(by_fio(uncertainty)).done().record();
            let foreign = super::super::foreign::foreign(&record, &by_case(&record)[0]).status;
            (check(&record).status, foreign)
        };
        assert_eq!(of(0.8, Nanos::millis(3)), (CheckStatus::Fail, CheckStatus::Pass));
        assert_eq!(of(1.0, Nanos::millis(3)), (CheckStatus::Pass, CheckStatus::Pass));
        // 400 ms of a window of 2 s: what the counters say then may be of another time.
        assert_eq!(of(0.8, Nanos::millis(400)), (CheckStatus::NotMeasurable, CheckStatus::NotMeasurable));
    }

    #[test]
    fn writes_that_stay_in_memory_fail_beside_reads_that_arrive() {
        let mut record = run_of(vec![case("mix", 70, 32, Sync::None)]).trial(0).done().record();
        assert_eq!(check(&record).status, CheckStatus::Pass);
        let start = 7 << 40;
        record
            .load_mut()
            .samples
            .iter_mut()
            .flat_map(|s| &mut s.disks)
            .for_each(|d| d.write_bytes = start + (d.write_bytes - start) / 2);
        let found = check(&record);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Fail, "read 1.000, write 0.500 at sda"));
    }

    #[test]
    fn a_declared_page_cache_is_a_warning() {
        let mut record = run().trial(0).at_drives(0.1).done().record();
        record.trials[0].asked.direct = false;
        assert_eq!(check(&record).status, CheckStatus::Warn);
    }

    #[test]
    fn a_virtual_disk_says_what_it_cannot_show() {
        let mut record = run().trial(0).done().record();
        record.load_mut().targets.iter_mut().flat_map(|t| &mut t.devices).for_each(|d| d.is_virtual = true);
        let found = check(&record);
        assert_eq!(found.status, CheckStatus::Pass);
        assert!(found.measured.en.contains("not visible") && found.measured.ru.contains("не виден"));
    }

    #[test]
    fn of_a_mirror_the_bytes_at_the_drives_of_both_hosts_count() {
        let found = check(&crate::fixture::mirrored(run().trial(0).at_drives(1.0).done().record()));
        let told = (found.status, found.measured.en.as_str());
        assert_eq!(told, (CheckStatus::Pass, "read 2.000 at sda; sda of array1"));
    }

    #[test]
    fn of_a_mirror_every_host_has_to_write_every_byte() {
        let writes = || run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).at_drives(1.0).done().record();
        let whole = crate::fixture::mirrored(writes());
        let found = check(&whole);
        let told = (found.status, found.measured.en.as_str());
        assert_eq!(told, (CheckStatus::Pass, "write 1.000 at sda; sda of array1"));
        // A cache of the peer keeps half of it.
        let mut kept = whole;
        let disks = kept.storage_mut().unwrap().samples.iter_mut().flat_map(|sample| &mut sample.disks);
        let start = 7 << 40;
        disks.for_each(|disk| disk.write_bytes = start + (disk.write_bytes - start) / 2);
        let found = check(&kept);
        let told = (found.status, found.measured.en.as_str());
        assert_eq!(told, (CheckStatus::Fail, "write 0.500 at sda; sda of array1"));
    }

    #[test]
    fn of_two_hosts_the_bytes_at_the_drives_of_the_storage_host_count() {
        let record = |share: f64| over_storage(run().trial(0).at_drives(share).done().record());
        let found = check(&record(1.0));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "read 1.000 at sda of array1"));
        // Its memory answers: everything comes over the network, and hardly anything from the drives.
        let mut cached = record(0.1);
        cached.load_mut().samples.iter_mut().flat_map(|s| &mut s.disks).for_each(|d| d.read_bytes *= 10);
        let found = check(&cached);
        assert_eq!(
            (found.status, found.measured.ru.as_str()),
            (CheckStatus::Fail, "чтение 0,100 на sda машины array1")
        );
        // What was not watched is not replaced by what the client sees.
        let mut lost = record(1.0);
        lost.storage_mut().unwrap().samples.truncate(2);
        assert_eq!(check(&lost).status, CheckStatus::NotMeasurable);
        let mut earlier = record(1.0);
        earlier.storage_mut().unwrap().facts = None;
        let found = check(&earlier);
        assert_eq!(found.status, CheckStatus::Pass);
        assert!(
            found.measured.en.ends_with("at nvme1n1 (over a network: drives and caches behind it are not visible)")
        );
        let mut unwatched = earlier;
        crate::fixture::unwatched(&mut unwatched);
        assert_eq!(check(&unwatched).status, CheckStatus::NotMeasurable);
    }

    #[test]
    fn what_cannot_be_seen_is_not_measurable() {
        let whole = run().trial(0).done().record();
        let mut no_device = whole.clone();
        no_device.load_mut().targets.iter_mut().for_each(|t| t.devices.clear());
        let mut no_target = whole.clone();
        no_target.load_mut().targets.clear();
        let mut no_samples = whole.clone();
        no_samples.load_mut().samples.clear();
        let mut few_samples = whole.clone();
        few_samples.load_mut().samples.drain(3..);
        let mut no_counter = whole.clone();
        no_counter.load_mut().samples.iter_mut().for_each(|s| s.disks.clear());
        let mut reset = whole.clone();
        reset.load_mut().samples.last_mut().unwrap().disks.iter_mut().for_each(|d| d.read_bytes = 0);
        for record in [no_device, no_target, no_samples, few_samples, no_counter, reset] {
            assert_eq!(check(&record).status, CheckStatus::NotMeasurable);
        }
    }
}
