//! What the rules say of a host between two samples. Must not know what was open before.

use super::rules::{JournalRule, ProblemSeverity};
use crate::counter::grown;
use crate::host_rates::{DriveRates, HostRates, of_ports};
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Bytes, Nanos, Say, format, say};
use stend_record::nfs::NfsMount;
use stend_record::parts::{ArrayState, LinkState, PathState};
use stend_record::sample::DiskCounters;
use stend_record::{Parts, Sample};

/// Fewer siblings have no median that a drive could be held against.
const SIBLINGS_LEAST: usize = 3;
/// A drive that does less per second has too few latencies to be judged.
const IOPS_LEAST: f64 = 10.0;
/// Latencies closer than this are alike whatever their ratio, ns: a busy CPU adds as much.
const APART_NS: f64 = 1e6;
/// Drives whose loads differ by more than this factor are not held against each other.
const ALIKE: f64 = 2.0;
/// The same of shares of reads among all I/Os: reads and writes take different times.
const READS_APART: f64 = 0.2;
/// Bytes per second; below, a few segments that are sent again are nothing.
const TRAFFIC_LEAST: f64 = 1e6;

/// The object of rules over the machine itself.
pub(super) const HOST: &str = "host";

/// Devices that programs make and take away as a matter of course, by the begin of their names: one that goes is no drive that fails.
const MADE: [&str; 11] = ["loop", "dm-", "md", "zram", "nbd", "rbd", "zd", "drbd", "bcache", "ublkb", "pmem"];

/// Whether a program made the device of this name.
pub(super) fn is_made(name: &str) -> bool {
    MADE.iter().any(|family| name.starts_with(family))
}

/// What a rule says of an object now.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// It is bad: how, and in words.
    Bad(ProblemSeverity, Say),
    /// It is neither bad enough to open a problem nor good enough to close one.
    Between,
    /// It is good.
    Good,
}

/// Verdicts of one moment: rule, object, what is said.
pub(super) type Verdicts = Vec<(JournalRule, String, Verdict)>;

/// A value against the limits of a rule, whose larger values are worse.
fn above(rule: JournalRule, value: f64, severity: ProblemSeverity, evidence: impl FnOnce() -> Say) -> Verdict {
    let limits = rule.limits();
    match value {
        value if value >= limits.from => Verdict::Bad(severity, evidence()),
        value if value < limits.until => Verdict::Good,
        _ => Verdict::Between,
    }
}

/// What is known of a host beside its samples.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Memory that is set aside as huge pages, bytes: it is never available to others, and no program lacks it.
    pub huge_pages: u64,
    /// Whether each device of the host is a drive itself. Some kernels lose count of what is in flight on arrays and mappings.
    pub devices: BTreeMap<String, bool>,
    /// Drives that spin.
    pub spinning: BTreeSet<String>,
    /// Model of each device that has one: those of one model are siblings.
    pub models: BTreeMap<String, String>,
    /// Network interfaces with hardware.
    pub ports: Vec<String>,
}

impl Known {
    /// Whether a device is a drive itself. The host no longer lists one that hung and died, so that its name has to tell.
    fn is_drive(&self, name: &str) -> bool {
        self.devices.get(name).copied().unwrap_or_else(|| !is_made(name))
    }
}

/// Verdicts over what happened between two samples.
pub(super) fn step(before: &Sample, after: &Sample, rates: &HostRates, known: &Known) -> Verdicts {
    let mut said: Verdicts = Vec::new();
    for disk in &after.disks {
        said.push((JournalRule::DriveGone, disk.name.clone(), Verdict::Good));
        let earlier = before.disks.iter().find(|earlier| earlier.name == disk.name);
        if let Some(earlier) = earlier.filter(|_| known.is_drive(&disk.name)) {
            said.push((JournalRule::DriveStuck, disk.name.clone(), stuck(earlier, disk)));
        }
    }
    slow(&rates.drives, &known.models, &mut said);
    for now in after.nfs_mounts() {
        let is_same = |earlier: &&NfsMount| (&earlier.at, &earlier.export) == (&now.at, &now.export);
        let verdict = before.nfs_mounts().iter().find(is_same).and_then(|earlier| silent(earlier, now));
        said.extend(verdict.map(|verdict| (JournalRule::NfsSilent, now.at.clone(), verdict)));
    }
    for network in &rates.networks {
        let verdict = above(JournalRule::PortErrors, network.errors, ProblemSeverity::Warning, || {
            Say::both(|lang| {
                let errors = format::number(network.errors, lang);
                say!("{errors} bad packets per second", "{errors} повреждённых пакетов в секунду").get(lang).to_string()
            })
        });
        said.push((JournalRule::PortErrors, network.name.clone(), verdict));
    }
    let host = || HOST.to_string();
    let ports = of_ports(&rates.networks, |network| &network.name, &known.ports);
    let traffic: f64 = ports.map(|n| n.received + n.sent).sum();
    if let Some(again) = rates.tcp_sent_again.filter(|_| traffic >= TRAFFIC_LEAST) {
        let verdict = above(JournalRule::SentAgain, again, ProblemSeverity::Warning, || {
            percent(again, &say!("of all segments", "всех сегментов"))
        });
        said.push((JournalRule::SentAgain, host(), verdict));
    }
    if let Some(steal) = rates.cpu_steal {
        let verdict = above(JournalRule::CpuSteal, steal, ProblemSeverity::Warning, || {
            percent(steal, &say!("of the CPU time", "времени процессоров"))
        });
        said.push((JournalRule::CpuSteal, host(), verdict));
    }
    if let Some(memory) = rates.memory.filter(|memory| memory.total_bytes > 0) {
        let all = memory.total_bytes.saturating_sub(known.huge_pages).max(1);
        let (left, limits) = (memory.available_bytes as f64 / all as f64, JournalRule::MemoryLow.limits());
        let verdict = match left {
            left if left <= limits.from => Verdict::Bad(ProblemSeverity::Warning, bytes_left(memory.available_bytes)),
            left if left > limits.until => Verdict::Good,
            _ => Verdict::Between,
        };
        said.push((JournalRule::MemoryLow, host(), verdict));
    }
    let kills = |sample: &Sample| sample.paging.and_then(|paging| paging.oom_kills);
    if let Some(killed) = kills(before).zip(kills(after)).and_then(|(before, after)| grown(before, after, rates.span)) {
        let verdict = match killed {
            0 => Verdict::Good,
            _ => {
                Verdict::Bad(ProblemSeverity::Critical, say!("processes killed: {killed}", "убито процессов: {killed}"))
            }
        };
        said.push((JournalRule::MemoryKill, host(), verdict));
    }
    said
}

fn percent(share: f64, of: &Say) -> Say {
    Say::both(|lang| format!("{} {}", format::percent(share, lang), of.get(lang)))
}

fn bytes_left(bytes: u64) -> Say {
    Say::both(|lang| {
        let left = format::bytes(Bytes(bytes), lang);
        say!("{left} left", "осталось {left}").get(lang).to_string()
    })
}

/// I/Os in flight at both ends, and none completed between them.
///
/// Samples do not count discards, which are in flight, too. Where the kernel counts flushes (since 5.5), its time in queue is that of the
/// I/Os that completed, discards included; before 5.0 it was in flight × time, which grows at a drive that does not answer.
//= linux, block/genhd.c, diskstats_show(): "stat.nsecs[STAT_READ] + stat.nsecs[STAT_WRITE] + stat.nsecs[STAT_DISCARD] + stat.nsecs[STAT_FLUSH]"
fn stuck(before: &DiskCounters, after: &DiskCounters) -> Verdict {
    let completed = |disk: &DiskCounters| {
        let all = disk.flushes.map(|_| disk.weighted_ns);
        (disk.reads, disk.writes, disk.flushes, all)
    };
    let same = completed(before) == completed(after);
    let waiting = after.in_flight;
    match same && before.in_flight > 0 && waiting > 0 {
        true => Verdict::Bad(
            ProblemSeverity::Critical,
            say!("{waiting} I/Os in flight, none completes", "операций в очереди: {waiting}, ни одна не завершается"),
        ),
        false => Verdict::Good,
    }
}

/// Requests were sent to a server of NFS, and none was answered. `None`: nothing happened, which tells neither. The client sends a request again
/// after a minute (`timeo`), and programs send others. Requests that had no answer when a connection broke are missing for ever, so that the
/// difference of both counts tells nothing.
fn silent(before: &NfsMount, after: &NfsMount) -> Option<Verdict> {
    let sent = after.sent.checked_sub(before.sent)?;
    match (sent, after.answered.checked_sub(before.answered)?) {
        (0, 0) => None,
        (_, 0) => Some(Verdict::Bad(
            ProblemSeverity::Critical,
            say!("requests sent: {sent}, answered: none", "отправлено запросов: {sent}, ответов нет"),
        )),
        _ => Some(Verdict::Good),
    }
}

/// Whether the latencies of two drives tell which is the slower: I/Os of a size, as many reads among them, and as many in flight or as many per
/// second. A drive with more in flight that also does more answers later without being slower; one that does as much and needs more in flight
/// for it is slower, and so is one that does less with as many in flight.
//= Little's law: in flight = rate × latency
fn are_alike(one: &DriveRates, other: &DriveRates) -> bool {
    let near = |of: fn(&DriveRates) -> f64| of(one) <= ALIKE * of(other) && of(other) <= ALIKE * of(one);
    let size = |drive: &DriveRates| (drive.read_bytes + drive.write_bytes) / drive.iops().max(1e-9);
    let reads = |drive: &DriveRates| drive.reads / drive.iops().max(1e-9);
    near(size)
        && (reads(one) - reads(other)).abs() <= READS_APART
        && (near(|drive| drive.queue) || near(DriveRates::iops))
}

/// Mean latency of each drive against the median of the others of its model that are loaded as it is.
fn slow(drives: &[DriveRates], models: &BTreeMap<String, String>, said: &mut Verdicts) {
    let latency = |drive: &DriveRates| {
        let of = |latency: Option<Nanos>, rate: f64| latency.map_or(0.0, |ns| ns.0 as f64 * rate);
        let busy = of(drive.read_latency, drive.reads) + of(drive.write_latency, drive.writes);
        (drive.iops() >= IOPS_LEAST).then(|| busy / drive.iops())
    };
    for drive in drives {
        let (Some(model), Some(own)) = (models.get(&drive.name), latency(drive)) else { continue };
        let of_model = |other: &&DriveRates| other.name != drive.name && models.get(&other.name) == Some(model);
        let alike = |other: &&DriveRates| are_alike(drive, other);
        let mut siblings: Vec<f64> = drives.iter().filter(of_model).filter(alike).filter_map(latency).collect();
        if siblings.len() < SIBLINGS_LEAST {
            continue;
        }
        siblings.sort_by(f64::total_cmp);
        let median = siblings[siblings.len() / 2];
        let ratio = if own - median < APART_NS { 0.0 } else { own / median.max(1.0) };
        let verdict = above(JournalRule::DriveSlow, ratio, ProblemSeverity::Warning, || {
            Say::both(|lang| {
                let time = |ns: f64| format::latency(Nanos(ns as u64), lang);
                let (own, median) = (time(own), time(median));
                say!("mean latency {own}, its siblings {median}", "средняя задержка {own}, у соседей {median}")
                    .get(lang)
                    .to_string()
            })
        });
        said.push((JournalRule::DriveSlow, drive.name.clone(), verdict));
    }
}

/// Rules over parts that a program makes, imports or connects, and takes away again. A link that is trained anew cannot be read for a
/// moment, and is over only with its device.
pub(super) const RULES_OF_PARTS: [JournalRule; 3] =
    [JournalRule::ArrayDegraded, JournalRule::PoolUnhealthy, JournalRule::PathDown];

/// What rules over parts judge in a reading, well or not.
pub(super) fn parts_there(now: &Parts) -> BTreeSet<(JournalRule, String)> {
    let arrays = now.arrays.iter().map(|array| (JournalRule::ArrayDegraded, array.name.clone()));
    let pools = now.pools.iter().map(|pool| (JournalRule::PoolUnhealthy, pool.name.clone()));
    let paths = now.paths.iter().map(|path| (JournalRule::PathDown, name_of(path)));
    let links = now.links.iter().flat_map(|link| {
        let name = name_of_link(link);
        [JournalRule::LinkNarrow, JournalRule::LinkErrors].map(|rule| (rule, name.clone()))
    });
    arrays.chain(pools).chain(paths).chain(links).collect()
}

fn name_of(path: &PathState) -> String {
    format!("{}/{}", path.device, path.path)
}

/// The drive, and which of its links: one with two ports has two, of which one may be away.
fn name_of_link(link: &LinkState) -> String {
    format!("{}/{}", link.device, link.address)
}

/// Verdicts over a PCIe link.
fn of_link(link: &LinkState, before: &[LinkState]) -> Verdicts {
    let name = name_of_link(link);
    let (lanes, possible) = (link.now.width, link.best.width);
    // Without a device behind it a link has no lanes: that is another problem.
    let narrow = match lanes > 0 && lanes < possible {
        true => {
            Verdict::Bad(ProblemSeverity::Warning, say!("{lanes} lanes of {possible}", "линий {lanes} из {possible}"))
        }
        false => Verdict::Good,
    };
    let earlier = before.iter().find(|earlier| earlier.address == link.address);
    // Readings are seconds apart; no link corrects as many even in a day.
    let corrected = earlier.and_then(|earlier| grown(earlier.corrected?, link.corrected?, Nanos::SECOND));
    let errors = corrected.map(|errors| {
        above(JournalRule::LinkErrors, errors as f64, ProblemSeverity::Warning, || {
            say!("errors corrected: {errors}", "исправлено ошибок: {errors}")
        })
    });
    let errors = errors.map(|verdict| (JournalRule::LinkErrors, name.clone(), verdict));
    errors.into_iter().chain([(JournalRule::LinkNarrow, name, narrow)]).collect()
}

/// Verdict over an array. One that is being assembled is inactive until enough of its drives are there, and a container of the firmware,
/// which has no drives of its own, always is.
//= linux, drivers/md/md.c, array_state, "broken": "mounted-arrays aren't stopped when array is failed"
fn of_array(array: &ArrayState, before: Option<&Parts>) -> Verdict {
    let (state, disks) = (array.state.as_str(), array.disks);
    let evidence = || say!("its state is {state}", "состояние {state}");
    let is_inactive = |array: &ArrayState| array.state == "inactive" && array.disks > 0;
    let was_inactive = || {
        let earlier = before.and_then(|before| before.arrays.iter().find(|earlier| earlier.name == array.name));
        earlier.is_some_and(is_inactive)
    };
    match array.degraded {
        _ if state == "broken" => Verdict::Bad(ProblemSeverity::Critical, evidence()),
        Some(missing) if missing > 0 => Verdict::Bad(
            ProblemSeverity::Critical,
            say!("lacks {missing} of {disks} drives", "не хватает накопителей: {missing} из {disks}"),
        ),
        _ if is_inactive(array) && was_inactive() => Verdict::Bad(ProblemSeverity::Warning, evidence()),
        _ if is_inactive(array) => Verdict::Between,
        _ => Verdict::Good,
    }
}

/// Verdicts over what parts of the machine say of themselves; `before` is their reading before this one, and `links` are those of the
/// reading since which errors of links are counted.
pub(super) fn parts(before: Option<&Parts>, links: &[LinkState], now: &Parts) -> Verdicts {
    let mut said: Verdicts = Vec::new();
    let state = |is_bad: bool, severity, evidence: Say| match is_bad {
        true => Verdict::Bad(severity, evidence),
        false => Verdict::Good,
    };
    for array in &now.arrays {
        said.push((JournalRule::ArrayDegraded, array.name.clone(), of_array(array, before)));
    }
    for pool in &now.pools {
        let Some(health) = &pool.health else { continue };
        let evidence = say!("its state is {health}", "состояние {health}");
        let severity = if health == "DEGRADED" { ProblemSeverity::Warning } else { ProblemSeverity::Critical };
        said.push((JournalRule::PoolUnhealthy, pool.name.clone(), state(health != "ONLINE", severity, evidence)));
    }
    for path in &now.paths {
        let told = path.state.as_deref().unwrap_or("gone");
        let evidence = say!("its state is {told}", "состояние {told}");
        said.push((JournalRule::PathDown, name_of(path), state(!path.is_usable(), ProblemSeverity::Warning, evidence)));
    }
    now.links.iter().for_each(|link| said.extend(of_link(link, links)));
    for reading in &now.temperatures {
        let limit = |of: Option<i64>| of.filter(|milli| *milli > 0);
        let Some(warning) = limit(reading.warning).or(limit(reading.critical)) else { continue };
        let is_critical = limit(reading.critical).is_some_and(|critical| reading.milli_celsius >= critical);
        let severity = if is_critical { ProblemSeverity::Critical } else { ProblemSeverity::Warning };
        let over = (reading.milli_celsius - warning) as f64 / 1e3;
        let verdict = above(JournalRule::DriveHot, over, severity, || {
            Say::both(|lang| {
                let celsius = |milli: i64| format::fixed(milli as f64 / 1e3, 0, lang);
                let (now, limit) = (celsius(reading.milli_celsius), celsius(warning));
                say!("{now} °C, its own limit is {limit} °C", "{now} °C при собственном пределе {limit} °C")
                    .get(lang)
                    .to_string()
            })
        });
        said.push((JournalRule::DriveHot, reading.device.clone(), verdict));
    }
    said
}
