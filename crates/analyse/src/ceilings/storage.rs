//! Ceilings of what lies below a case: its drives, as they were read or are stated, the links that they hang on, the network.
//! Must not decide which of them bounds.

use super::demand::{Demand, most_per_second};
use super::measured::{OfDrives, is_random, of_drives};
use super::model;
use super::work::{Work, work};
use crate::check::stretch::stretches;
use crate::check::{fullest_interface, is_over_network};
use crate::findings::{CaseFinding, CeilingDoubt, CeilingUse, Headline, RateFrom, Resource, UnknownCeiling};
use crate::limits::{ABOVE_CEILING, LINK_USABLE, NETWORK_USABLE};
use crate::trials::CaseTrials;
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{MilliIops, Say, Share, format, say, say_in};
use stend_record::targets::calibrated;
use stend_record::{RunRecord, TargetKind};
use stend_spec::calibration::Reading;
use stend_spec::ceilings::{Ceilings, Layout};
use stend_spec::workload::{Backend, Op};

/// Part of what drives do that is left out (by eye: far below what two trials differ by).
const FEW: f64 = 0.01;

/// The rate that a case would have at the ceiling of its drives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    /// Kernel names of the drives.
    pub names: Vec<String>,
    /// I/Os per second, or bytes per second of a sequential reading.
    pub per_second: f64,
    /// How it is known what they read; `None` where nothing is read.
    pub read: Option<RateFrom>,
    /// The same of writes.
    pub written: Option<RateFrom>,
    /// Why it may be too high.
    pub doubt: Option<CeilingDoubt>,
}

impl Held {
    /// Whether a number of the suite is a part of it.
    pub fn is_stated(&self) -> bool {
        [&self.read, &self.written].into_iter().flatten().any(|from| matches!(from, RateFrom::Stated { .. }))
    }
}

/// What the suite states.
pub(crate) fn stated(run: &RunRecord) -> Option<&Ceilings> {
    run.header.inputs.suite.ceilings.as_ref()
}

/// Ceilings that a case is held against, and those that are not known, with the reason. What it takes of its drives, where it
/// has any.
pub(super) fn of_storage(
    run: &RunRecord,
    case: &CaseTrials<'_>,
    found: &CaseFinding,
    (uses, unknown): (&mut Vec<CeilingUse>, &mut Vec<UnknownCeiling>),
) -> Option<Work> {
    let nowhere = run.load().targets.iter().any(|target| target.kind == TargetKind::NullDevice);
    if nowhere || case.asked.backend == Backend::Null {
        return None;
    }
    let work = work(run, case);
    let mut missing: Vec<(Reading, Say)> = Vec::new();
    for (reading, ceiling) in bounding(run, case, &work, &work.held()) {
        match ceiling {
            Ok(held) => match of_drives_use(reading, held, found) {
                // What a case is faster than does not bound it; H07 asks why.
                above if above.used.0 > ABOVE_CEILING => missing.push((reading, faster(&above))),
                held => uses.push(held),
            },
            Err(why) => missing.push((reading, why)),
        }
    }
    let of = |what, why| UnknownCeiling { what, why };
    unknown.extend(work.contradiction.clone().map(|why| of(say!("the layout", "схема накопителей"), why)));
    unknown.extend(match missing.as_slice() {
        [(_, why), (_, same)] if why == same => vec![of(say!("the drives", "накопители"), why.clone())],
        _ => missing.into_iter().map(|(reading, why)| of(way(reading), why)).collect(),
    });
    uses.extend(links(run, case, &work, found));
    match network(run, case, &work, found) {
        Some(Ok(used)) => uses.push(used),
        Some(Err(why)) => unknown.push(of(say!("the network", "сеть"), why)),
        None => {}
    }
    Some(work)
}

fn faster(above: &CeilingUse) -> Say {
    let stated = matches!(&above.resource, Resource::Drives { read, written, .. }
        if [read, written].into_iter().flatten().any(|from| matches!(from, RateFrom::Stated { .. })));
    Say::both(|l| {
        let used = format::percent(above.used.0, l);
        match stated {
            false => say_in!(
                l,
                "the case is faster than they were when they were read, {used} of it: see check H07",
                "случай быстрее, чем они были при чтении, {used} от него: см. проверку H07"
            ),
            true => say_in!(
                l,
                "the case is faster than the stated numbers allow, {used} of them: see check H07",
                "случай быстрее, чем позволяют указанные для них числа, {used} от них: см. проверку H07"
            ),
        }
    })
}

/// A way of loading drives, in words.
fn way(reading: Reading) -> Say {
    match reading {
        Reading::Random => say!("the drives at random", "накопители вразброс"),
        Reading::Sequential => say!("the drives in order", "накопители подряд"),
    }
}

/// Ceilings that a case may be held against if its I/Os take this of the drives, each or why it is none.
pub(crate) fn bounding(
    run: &RunRecord,
    case: &CaseTrials<'_>,
    work: &Work,
    demand: &Result<Demand, Say>,
) -> Vec<(Reading, Result<Held, Say>)> {
    let wanted = Reading::ALL.into_iter().filter(|reading| *reading == Reading::Sequential || is_random(case));
    wanted
        .map(|reading| (reading, demand.clone().and_then(|demand| held(run, case, reading, (work, demand)))))
        .collect()
}

fn held(run: &RunRecord, case: &CaseTrials<'_>, reading: Reading, of: (&Work, Demand)) -> Result<Held, Say> {
    let (work, demand) = of;
    let (reads, writes, each) = match reading {
        Reading::Random => (demand.reads, demand.writes, 1.0),
        Reading::Sequential => (demand.read_bytes, demand.write_bytes, work.bytes),
    };
    // A few I/Os of somebody else are no reason to know nothing; without them the ceiling is higher, never too low.
    let some = |part: f64| if part > FEW * (reads + writes) { part } else { 0.0 };
    let (reads, writes) = (some(reads), some(writes));
    let names: Vec<String> = calibrated(&run.load().targets).iter().map(|drive| drive.name.clone()).collect();
    let drives = working(run, work.finding.layout, names.len());
    let mut held = Held { names, per_second: 0.0, read: None, written: None, doubt: None };
    let (mut read_rate, mut write_rate) = (0.0, 0.0);
    if reads > 0.0 {
        let stated = stated_rate(run, reading, false);
        match (read(run, case, reading, &demand, work), stated) {
            (Ok(of), _) => {
                read_rate = of.per_second;
                held.doubt = of.doubt;
                held.read = Some(match (of.names.len(), of.together) {
                    (1, _) => RateFrom::Alone,
                    (_, true) => RateFrom::Together,
                    (_, false) => RateFrom::Summed,
                });
            }
            (Err(_), Some((one, source))) => {
                read_rate = one * drives;
                held.read = Some(RateFrom::Stated { source });
            }
            (Err(why), None) => return Err(why),
        }
    }
    if writes > 0.0 {
        let (one, source) = stated_rate(run, reading, true).ok_or_else(no_writes)?;
        write_rate = one * drives;
        held.written = Some(RateFrom::Stated { source });
    }
    let most = most_per_second((reads, writes), (read_rate, write_rate));
    held.per_second = most.map(|most| most * each).filter(|most| *most > 0.0).ok_or_else(|| {
        say!("reading the drives completed no I/O", "при чтении накопители не выполнили ни одной операции")
    })?;
    Ok(held)
}

/// Drives that I/Os go to: of several arrays those of each, of several volumes of one array its own.
pub(super) fn working(run: &RunRecord, layout: Option<Layout>, members: usize) -> f64 {
    let arrays = || {
        let devices = run.load().targets.iter().flat_map(|target| &target.devices);
        devices.filter(|device| device.kind == "md").map(|device| device.name.as_str()).collect::<BTreeSet<_>>().len()
    };
    match layout {
        None | Some(Layout::CopyOnWrite { .. }) => members.max(1) as f64,
        Some(layout) => f64::from(layout.drives()) * arrays().max(1) as f64,
    }
}

fn no_writes() -> Say {
    say!(
        "Stend never measures writing to the drives; state it with `ceilings: {{drive: …}}` in the suite",
        "потолок записи на накопители не измеряется; укажите его в наборе: `ceilings: {{drive: …}}`"
    )
}

/// What the drives read, where that bounds the case.
fn read(
    run: &RunRecord,
    case: &CaseTrials<'_>,
    reading: Reading,
    demand: &Demand,
    work: &Work,
) -> Result<OfDrives, Say> {
    let of = of_drives(run, reading)?;
    // While an array works on an I/O, several drives do.
    let spread = match reading {
        Reading::Random => demand.reads.max(demand.writes),
        Reading::Sequential => demand.bytes_one_way() / work.bytes.max(1.0),
    };
    of.why_not(run, reading, case, spread.max(1.0)).map_or(Ok(of), Err)
}

/// What the suite says that one drive does, and where it has that from.
fn stated_rate(run: &RunRecord, reading: Reading, writes: bool) -> Option<(f64, String)> {
    let stated = stated(run)?;
    let drive = stated.drive;
    let per_second = |rate: Option<MilliIops>| rate.map(MilliIops::as_iops);
    let one = match (reading, writes) {
        (Reading::Random, false) => per_second(drive.random_read),
        (Reading::Random, true) => per_second(drive.random_write),
        (Reading::Sequential, false) => drive.sequential_read.map(|bytes| bytes.0 as f64),
        (Reading::Sequential, true) => drive.sequential_write.map(|bytes| bytes.0 as f64),
    };
    Some((one?, stated.source.clone().unwrap_or_default()))
}

fn of_drives_use(reading: Reading, held: Held, found: &CaseFinding) -> CeilingUse {
    let (rate, unit) = match reading {
        Reading::Random => (found.total.iops.value, Headline::Iops),
        Reading::Sequential => (found.total.throughput.value, Headline::Throughput),
    };
    CeilingUse {
        used: Share(rate / held.per_second),
        ceiling: held.per_second,
        unit,
        doubt: held.doubt,
        resource: Resource::Drives { devices: held.names, reading, read: held.read, written: held.written },
    }
}

/// Bytes per second that the drives moved in the direction in which they moved more.
fn moved(work: &Work, found: &CaseFinding) -> f64 {
    match work.held() {
        // What is behind the array is not on these links.
        Ok(demand) if !work.opaque => demand.bytes_one_way() * found.total.iops.value,
        _ => found.total.throughput.value,
    }
}

/// What the links of all drives carry, as slow as they were under this load. `None` where it is not certain that all drives are
/// on these links, and below a hypervisor, whose links say nothing.
fn links(run: &RunRecord, case: &CaseTrials<'_>, work: &Work, found: &CaseFinding) -> Option<CeilingUse> {
    let drives = calibrated(&run.load().targets);
    let idle = |name: &str| {
        let mut named =
            run.load().targets.iter().flat_map(|target| &target.devices).filter(|device| device.name == name);
        named.clone().next().is_some() && named.all(|device| device.reserve == Some(true))
    };
    let mut slowest: BTreeMap<&str, (&str, f64)> = BTreeMap::new();
    let read = stretches(run, case).into_iter().flat_map(|s| s.samples).filter_map(|s| s.parts.as_deref());
    for link in read.flat_map(|p| &p.links).filter(|link| !idle(&link.device)) {
        let carries = model::pcie_bytes_per_second(link.now.speed_mt_per_s, link.now.width)?;
        let known = slowest.entry(&link.address).or_insert((&link.device, carries));
        known.1 = known.1.min(carries);
    }
    // One for each drive, or one controller for all of them.
    let told = !slowest.is_empty() && (slowest.len() == drives.len() || slowest.len() == 1);
    let carries = slowest.values().map(|(_, carries)| carries).sum::<f64>() * LINK_USABLE;
    let real = !drives.is_empty() && drives.iter().all(|drive| drive.kind == "disk" && !drive.is_virtual);
    let used = moved(work, found) / carries.max(1.0);
    (told && real && used > 0.0).then(|| CeilingUse {
        resource: Resource::Link { devices: slowest.values().map(|(device, _)| device.to_string()).collect() },
        used: Share(used),
        ceiling: found.total.throughput.value / used,
        unit: Headline::Throughput,
        doubt: None,
    })
}

/// The network below a remote target, by the line rate of the interface that is nearest to it; elsewhere as it is stated.
/// `None`: nothing says that there is one.
fn network(
    run: &RunRecord,
    case: &CaseTrials<'_>,
    work: &Work,
    found: &CaseFinding,
) -> Option<Result<CeilingUse, Say>> {
    let throughput = found.total.throughput.value;
    let used = |used: f64, interface, source| {
        let resource = Resource::Network { interface, source };
        let ceiling = throughput / used;
        Some(Ok(CeilingUse { resource, used: Share(used), ceiling, unit: Headline::Throughput, doubt: None }))
    };
    if let Some((interface, share)) = fullest_interface(run, case).filter(|(_, share)| *share > 0.0) {
        return used(share, Some(interface), None);
    }
    if let Some((network, source)) = stated(run).and_then(|s| Some((s.network?, s.source.clone()))) {
        let sent = match work.finding.layout {
            Some(Layout::Replication { sent, .. }) => f64::from(sent),
            _ => 1.0,
        };
        let of = |op| found.ops.iter().filter(|f| f.op == op).map(|f| f.rates.throughput.value).sum::<f64>();
        let (read, written) = (of(Op::Read), of(Op::Write) * sent);
        let share = read.max(written) / (network.0 as f64 * NETWORK_USABLE);
        return if share > 0.0 { used(share, None, source) } else { None };
    }
    is_over_network(run).then(|| {
        Err(say!(
            "no interface reports its line rate; state it with `ceilings: {{network: …}}` in the suite",
            "ни один интерфейс не сообщает скорость канала; укажите её в наборе: `ceilings: {{network: …}}`"
        ))
    })
}
