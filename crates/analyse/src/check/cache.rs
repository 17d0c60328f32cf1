//! H10 and H12: could memory have answered instead of the storage, and did it?

use super::drives::{asked, moves_no_data, too_much_in_flight};
use super::foreign::writes_elsewhere;
use super::stretch::{self, Stretch, stretches};
use super::{Check, too_few_samples};
use crate::findings::{CheckId, CheckResult};
use crate::limits::{BYTES_PAGED, CACHE_GROWTH, CACHE_GROWTH_MIN, CACHE_INFLATION, EDGE_EXCUSES};
use crate::phrase::op as op_name;
use crate::trials::CaseTrials;
use stend_base::{Bytes, Lang, Say, format, say, say_in};
use stend_record::{RunRecord, Sample, TargetKind};
use stend_spec::workload::{Op, Region, Trial};

/// File systems that keep what was read in memory of this machine whatever the opening says: ZFS has a cache
/// of its own, and FUSE may take direct I/O and cache it all the same.
const CACHES_ANYWAY: [&str; 3] = ["zfs", "fuse", "fuseblk"];

/// H10: the working set is so large that memory could raise the rate by little.
pub fn working_set(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H10,
        limit: Say::both(|l| {
            let gain = format::percent(CACHE_INFLATION, l);
            say_in!(l, "memory may add ≤ {gain}", "память может добавить ≤ {gain}")
        }),
    };
    if !asked(case, Op::Read) {
        return check.not_applicable(say!("the case does not read", "случай не читает"));
    }
    let region = read_from(case.asked);
    let anyway = run.load().targets.iter().filter_map(|t| t.file_system.as_deref()).find(|fs| caches_anyway(fs));
    if case.asked.direct && anyway.is_none() {
        return check.pass(say!(
            |l| "{r}, past the page cache",
            "{r}, мимо страничного кэша",
            r = format::bytes(region, l)
        ));
    }
    let Some(memory) = memory(run) else {
        return check.not_measurable(say!("the size of memory is not known", "размер памяти неизвестен"));
    };
    let measured =
        say!(|l| "{r}, {m} of memory", "{r}, памяти {m}", r = format::bytes(region, l), m = format::bytes(memory, l));
    // A cache of C answers at most C / WS of uniform random reads, and the rate grows by 1 / (1 − C / WS).
    let need = memory.0 as f64 * (1.0 + CACHE_INFLATION) / CACHE_INFLATION;
    if region.0 as f64 >= need {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        |l| "Reads go through a cache of this machine, which may hold a part of the range: use direct I/O, or a range of {need} and more.",
        "Чтение идёт через кэш этой машины, и часть области может лежать в нём: возьмите прямой ввод-вывод или область от {need}.",
        need = format::bytes(Bytes(need as u64), l)
    ))
}

/// Bytes that the streams which read may read from, each counted once.
fn read_from(asked: &Trial) -> Bytes {
    let reading = asked.streams.iter().filter(|stream| stream.mix.share(Op::Read) > 0);
    let Some(mut regions) = reading.map(|stream| stream.region).collect::<Option<Vec<Region>>>() else {
        return asked.region.len;
    };
    regions.sort_by_key(|region| region.start);
    let (mut bytes, mut counted) = (0, 0);
    for region in regions {
        let (start, end) = (region.start.0.max(counted), region.start.0.saturating_add(region.len.0));
        bytes += end.saturating_sub(start);
        counted = counted.max(end);
    }
    // These are the regions in the first part.
    Bytes(bytes.saturating_mul(u64::from(asked.parts)))
}

fn caches_anyway(file_system: &str) -> bool {
    CACHES_ANYWAY.contains(&file_system) || file_system.starts_with("fuse.")
}

/// Memory that may hold what was read: the machine's, or what the worker's control group leaves of it.
fn memory(run: &RunRecord) -> Option<Bytes> {
    let machine = run.load().facts.as_ref().map(|host| host.memory).filter(|memory| memory.0 > 0);
    let groups = run.load().samples.iter().filter_map(|sample| sample.limits.as_ref()?.memory_bytes);
    machine.into_iter().chain(groups.map(Bytes)).min()
}

/// What block devices of the whole machine moved for one operation, and what the application did.
#[derive(Debug, Clone, Copy)]
struct Paged {
    op: Op,
    ratio: f64,
    /// What the edges of the stretches may hide of it.
    edges: f64,
}

impl Paged {
    /// The ratio, with what the edges may hide of it where that decides.
    fn said(&self, l: Lang) -> String {
        let decides = self.ratio < BYTES_PAGED && self.ratio + self.edges >= BYTES_PAGED;
        let edges = if decides { format!(" ± {}", format::percent(self.edges, l)) } else { String::new() };
        format!("{} {}{edges}", op_name(self.op).get(l), format::near_limit::percent(self.ratio, BYTES_PAGED, l))
    }
}

/// H12: what the application moved passed the block devices, and did not end in the page cache.
pub fn page_cache(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H12,
        limit: say!(
            |l| "block devices moved ≥ {p}, the cache grew < {g}",
            "через блочный уровень ≥ {p}, рост кэша < {g}",
            p = format::percent(BYTES_PAGED, l),
            g = format::percent(CACHE_GROWTH, l)
        ),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    if run.load().targets.is_empty() || run.load().targets.iter().any(|target| target.devices.is_empty()) {
        return check.not_measurable(say!(
            "no block device below the target is visible",
            "под объектом не видно ни одного блочного устройства"
        ));
    }
    let stretches = stretches(run, case);
    let ops: Vec<Op> = Op::TRANSFERS.into_iter().filter(|&op| asked(case, op)).collect();
    if ops.is_empty() {
        return check.not_applicable(moves_no_data());
    }
    let Some(paged) = ops.into_iter().map(|op| paged(&stretches, op)).collect::<Option<Vec<Paged>>>() else {
        return check.not_measurable(too_few_samples());
    };
    // The tables that such a file system writes anew for every write lie in the page cache, and none of the file.
    let growth = growth(&stretches).filter(|_| writes_elsewhere(run, case).is_none());
    let measured = moved(&paged, growth);
    if !case.asked.direct {
        return check.measured(measured).warn(say!(
            "Measured with the page cache, as declared: the result is of memory and storage together and shows little about the storage alone.",
            "Измерено со страничным кэшем, как заявлено: это память и хранилище вместе, о самом хранилище это говорит мало."
        ));
    }
    let through_devices = paged.iter().all(|p| p.ratio + p.edges.min(EDGE_EXCUSES) >= BYTES_PAGED);
    if !through_devices && paged.iter().all(|p| p.ratio + p.edges >= BYTES_PAGED) {
        return check.not_measurable(too_much_in_flight());
    }
    if through_devices && growth.is_none_or(|share| share < CACHE_GROWTH) {
        return check.pass(measured);
    }
    if through_devices {
        // The cache is the whole machine's: a compiler beside the run fills it just as well.
        return check.measured(measured).warn(say!(
            "The page cache grew meanwhile: either the file system keeps a copy of direct I/O, or other programs filled it. Repeat without other programs to find out.",
            "Страничный кэш за это время вырос: либо файловая система оставляет себе копию данных прямого ввода-вывода, либо его заполнили другие программы. Повторите без них, чтобы узнать."
        ));
    }
    check.measured(measured).fail(through_memory(run))
}

/// What passed the block devices, and by how much the cache grew.
fn moved(paged: &[Paged], growth: Option<f64>) -> Say {
    Say::both(|l| {
        let parts = paged.iter().map(|paged| paged.said(l)).collect::<Vec<_>>().join(", ");
        let grew = growth.map(|share| {
            say_in!(
                l,
                ", the cache grew {g}",
                ", кэш вырос на {g}",
                g = format::near_limit::percent(share, CACHE_GROWTH, l)
            )
        });
        parts + &grew.unwrap_or_default()
    })
}

/// Who may have answered in the place of the block layer.
fn through_memory(run: &RunRecord) -> Say {
    if run.load().targets.iter().any(|target| target.kind == TargetKind::BlockDevice) {
        return say!(
            "Direct I/O was requested, but block devices moved less than the load did: a layer above them answered the rest. H11 shows what reached the drives; look for a cache in the layers above.",
            "Заявлен прямой ввод-вывод, но блочные устройства передали меньше, чем нагрузка: часть ответов пришла выше них. Сколько дошло до накопителей, говорит H11; ищите кэш в слоях над ними."
        );
    }
    say!(
        "Direct I/O was requested, but the file system went through memory anyway. Measure on a file system that honours it, or declare `direct: false`.",
        "Заявлен прямой ввод-вывод, но файловая система всё равно шла через память. Меряйте на файловой системе, которая его соблюдает, или заявите `direct: false`."
    )
}

fn paged(stretches: &[Stretch<'_>], op: Op) -> Option<Paged> {
    let counter = |sample: &Sample| {
        let paging = sample.paging?;
        Some(if op == Op::Read { paging.read_bytes } else { paging.write_bytes })
    };
    let moved = stretch::sum(stretches, |s| s.growth(counter))?;
    let application = stretch::application(stretches, op).bytes;
    let edges = stretch::edges(stretches, op).bytes;
    (application > 0.0).then(|| Paged { op, ratio: moved as f64 / application, edges: edges / application })
}

/// Growth of the page cache per byte of the application, in the trial where it grew most; `None` where too
/// little grew to mean anything. Over several trials a cache that is full already does not grow again.
fn growth(stretches: &[Stretch<'_>]) -> Option<f64> {
    let of = |stretch: &Stretch<'_>| {
        let grew = stretch.growth(|sample| Some(sample.memory?.cached_bytes))?;
        let moved = stretch.application(Op::Read).bytes + stretch.application(Op::Write).bytes;
        (grew >= CACHE_GROWTH_MIN.0 && moved > 0.0).then(|| grew as f64 / moved)
    };
    stretches.iter().filter_map(of).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run, run_of};
    use crate::trials::by_case;
    use stend_record::sample::{GroupLimits, Memory};
    use stend_spec::workload::Sync;

    fn record() -> RunRecord {
        run().trial(0).iops(50_000.0).done().record()
    }

    fn h10(record: &RunRecord) -> CheckStatus {
        working_set(record, &by_case(record)[0]).status
    }

    fn h12(record: &RunRecord) -> CheckStatus {
        page_cache(record, &by_case(record)[0]).status
    }

    #[test]
    fn h10_direct_reads_do_not_fear_memory_unless_the_file_system_caches_anyway() {
        let mut record = record();
        assert_eq!(h10(&record), CheckStatus::Pass);
        record.load_mut().targets[0].file_system = Some("fuse.sshfs".into());
        assert_eq!(h10(&record), CheckStatus::Warn);
    }

    #[test]
    fn h10_buffered_reads_need_a_range_of_twenty_one_times_the_memory() {
        let mut record = record();
        record.trials[0].asked.direct = false;
        assert_eq!(h10(&record), CheckStatus::Warn);
        record.trials[0].asked.region.len = Bytes::gib(64 * 22);
        assert_eq!(h10(&record), CheckStatus::Pass);
        record.trials[0].asked.region.len = Bytes::gib(22);
        assert_eq!(h10(&record), CheckStatus::Warn);
        record.load_mut().samples[0].limits =
            Some(GroupLimits { memory_bytes: Some(1 << 30), ..GroupLimits::default() });
        assert_eq!(h10(&record), CheckStatus::Pass);
        record.load_mut().facts = None;
        record.load_mut().samples[0].limits = None;
        assert_eq!(h10(&record), CheckStatus::NotMeasurable);
    }

    #[test]
    fn h10_counts_what_is_read_from_and_not_the_range_around_it() {
        let mut record = record();
        let asked = &mut record.trials[0].asked;
        (asked.direct, asked.region.len) = (false, Bytes::gib(64 * 22));
        let part = |start, len| Some(Region { start: Bytes::gib(start), len: Bytes::gib(len) });
        asked.streams[0].region = part(0, 64);
        assert_eq!(read_from(asked), Bytes::gib(64));
        asked.streams.push(asked.streams[0].clone());
        asked.streams[1].region = part(32, 64);
        assert_eq!(read_from(asked), Bytes::gib(96), "what both read counts once");
        asked.parts = 2;
        assert_eq!(read_from(asked), Bytes::gib(192));
        asked.streams[1].region = None;
        assert_eq!(read_from(asked), asked.region.len);
        asked.streams.truncate(1);
        assert_eq!(h10(&record), CheckStatus::Warn);
    }

    #[test]
    fn h10_does_not_concern_writes() {
        assert_eq!(
            h10(&run_of(vec![case("w", 0, 1, Sync::None)]).trial(0).done().record()),
            CheckStatus::NotApplicable
        );
    }

    #[test]
    fn h12_direct_io_that_passes_the_block_devices_passes() {
        assert_eq!(h12(&record()), CheckStatus::Pass);
    }

    #[test]
    fn h12_fails_when_memory_answers_direct_reads() {
        assert_eq!(h12(&run().trial(0).at_drives(0.5).done().record()), CheckStatus::Fail);
    }

    #[test]
    fn h12_of_a_block_device_no_file_system_is_blamed() {
        let mut record = run().trial(0).at_drives(0.5).done().record();
        let of = |record: &RunRecord| page_cache(record, &by_case(record)[0]).meaning.en;
        assert!(of(&record).contains("file system"));
        record.load_mut().targets[0].kind = TargetKind::BlockDevice;
        assert!(!of(&record).contains("file system") && of(&record).contains("above them"));
    }

    #[test]
    fn h12_what_is_in_flight_at_the_edges_of_a_short_window_is_not_missing() {
        let of = |share: f64, depth: u32| {
            let case = case("deep", 100, depth, Sync::None);
            let record = run_of(vec![case]).trial(0).iops(20_000.0).at_drives(share).done().record();
            page_cache(&record, &by_case(&record)[0]).status
        };
        // 2,048 of 50,000 I/Os are 4 %.
        assert_eq!((of(0.93, 2048), of(0.93, 32)), (CheckStatus::Pass, CheckStatus::Fail));
        assert_eq!(of(0.85, 2048), CheckStatus::Fail);
    }

    #[test]
    fn h12_warns_when_the_cache_grows_meanwhile_because_it_belongs_to_the_whole_machine() {
        let mut record = record();
        for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
            sample.memory = Some(Memory { cached_bytes: at as u64 * (90 << 20), ..Memory::default() });
        }
        assert_eq!(h12(&record), CheckStatus::Warn);
        record.load_mut().samples.iter_mut().for_each(|s| s.memory.as_mut().unwrap().cached_bytes /= 4);
        assert_eq!(h12(&record), CheckStatus::Pass);
    }

    #[test]
    fn h12_tables_that_btrfs_writes_anew_grow_the_cache_and_reads_that_fill_it_are_found_there_too() {
        let of = |reads: u32, at_drives: f64| {
            let case = case("btrfs", reads as u8, 1, Sync::Fdatasync(u32::from(reads == 0)));
            let mut record = run_of(vec![case]).trial(0).iops(1_300.0).at_drives(at_drives).done().record();
            record.load_mut().targets[0].file_system = Some("btrfs".into());
            // 4,000 durable writes of 4 KiB on btrfs, Linux 6.18: the cache grew by 188 MiB, and held no page of the file.
            for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
                sample.memory = Some(Memory { cached_bytes: at as u64 * (60 << 20), ..Memory::default() });
            }
            h12(&record)
        };
        assert_eq!((of(0, 1.0), of(0, 0.5), of(100, 1.0)), (CheckStatus::Pass, CheckStatus::Fail, CheckStatus::Warn));
    }

    #[test]
    fn h12_a_declared_page_cache_is_a_warning_and_no_counters_are_not_measurable() {
        let mut declared = record();
        declared.trials[0].asked.direct = false;
        assert_eq!(h12(&declared), CheckStatus::Warn);
        let mut blind = record();
        blind.load_mut().samples.iter_mut().for_each(|s| s.paging = None);
        assert_eq!(h12(&blind), CheckStatus::NotMeasurable);
        let mut memory = record();
        memory.load_mut().targets[0].devices.clear();
        assert_eq!(h12(&memory), CheckStatus::NotMeasurable);
    }
}
