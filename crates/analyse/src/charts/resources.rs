//! What each case took from the host while its load ran: CPU, pressure, memory, network.

use super::{caps, from_zero, values};
use crate::chart::{Axis, Chart, Mark, Pane, Point, Quantity, Scale, Series, Unit};
use crate::cost;
use crate::counter;
use crate::findings::CaseFinding;
use crate::host_rates;
use crate::trials::CaseTrials;
use stend_base::{Nanos, Say, format, say, say_in};
use stend_record::sample::{NetworkCounters, Pressure};
use stend_record::targets::drives;
use stend_record::{HostId, HostRecord, RunRecord, Sample};

/// Most cases; beyond, neighbours could not be told apart.
const CASES_MAX: usize = 200;

/// Most load hosts that have a chart: more make a page that nobody reads (by eye).
const LOADS_MAX: usize = 12;

/// Bytes per second: less goes through any interface without anybody measuring over it.
const CHATTER: f64 = 1e5;

/// First and last sample inside the load of a trial.
type Load<'a> = (&'a Sample, &'a Sample);
/// A counter of a sample, cumulative.
type Counter = fn(&Sample) -> Option<u64>;
/// Bytes one way through an interface, cumulative.
type Direction = fn(&NetworkCounters) -> u64;

/// The same of the storage host, with how busy its drives were. `None` without samples inside the load of any case.
pub fn of_storage(id: HostId, storage: &HostRecord, trials: &[CaseTrials<'_>], cases: &[CaseFinding]) -> Option<Chart> {
    let name = &storage.name;
    let title = say!(
        "What each case took from the storage host `{name}`",
        "Что каждый случай взял у машины с накопителями `{name}`"
    );
    // The first one has kept the name that it had when it was the only one.
    let chart = match id {
        HostId::STORAGE => "resources-storage".to_string(),
        HostId(other) => format!("resources-storage-{other}"),
    };
    with_drives((chart, title), storage, trials, cases)
}

/// The same of a host that the user had watched, and what else it did then.
pub fn of_observed(id: HostId, host: &HostRecord, trials: &[CaseTrials<'_>], cases: &[CaseFinding]) -> Option<Chart> {
    let name = &host.name;
    let title = say!("`{name}` during each case", "`{name}` во время каждого случая");
    with_drives((format!("resources-host-{}", id.0), title), host, trials, cases)
}

/// The same of each of several load hosts: more than a page can show are left out, and told.
pub fn of_loads(
    run: &RunRecord,
    hosts: &[(HostId, &str)],
    trials: &[CaseTrials<'_>],
    cases: &[CaseFinding],
) -> Vec<Chart> {
    let more = hosts.len().saturating_sub(LOADS_MAX);
    let of = |(id, name): &(HostId, &str)| {
        let chart = chart(run.hosts().get(id.index())?, trials, cases)?;
        let title = say!(
            "What each case took from the load host `{name}`",
            "Что каждый случай взял у нагружающей машины `{name}`"
        );
        let summary = caps::left_out(chart.summary, &say!("Load hosts", "Нагружающие машины"), more);
        Some(Chart { id: format!("resources-host-{}", id.0), title, summary, ..chart })
    };
    hosts.iter().take(LOADS_MAX).filter_map(of).collect()
}

fn with_drives(
    (id, title): (String, Say),
    host: &HostRecord,
    trials: &[CaseTrials<'_>],
    cases: &[CaseFinding],
) -> Option<Chart> {
    let chart = chart(host, trials, cases)?;
    let shown = &trials[..trials.len().min(CASES_MAX)];
    let loads: Vec<Vec<Load>> = shown.iter().map(|case| loads(&host.samples, case)).collect();
    let drives: Vec<&str> = drives(&host.targets).iter().map(|drive| drive.name.as_str()).collect();
    let line = |name: Say, variant: u8, of: fn(&[f64]) -> f64| {
        let at = |(i, loads): (usize, &Vec<Load>)| {
            let busy: Option<Vec<f64>> = drives.iter().map(|drive| drive_busy(loads, drive)).collect();
            let y = busy.filter(|busy| !busy.is_empty()).map(|busy| of(&busy));
            Point { x: i as f64 + 0.5, y, envelope: None }
        };
        let points: Vec<Point> = loads.iter().enumerate().map(at).collect();
        Series { variant, dots: true, ..Series::line(name, Quantity::Iops, points) }
    };
    let busiest = line(say!("the busiest drive", "самый занятый накопитель"), 0, |all| {
        all.iter().copied().fold(0.0, f64::max)
    });
    let mean = line(say!("mean of its drives", "в среднем по накопителям"), 1, |all| {
        all.iter().sum::<f64>() / all.len() as f64
    });
    let y =
        Axis::new(say!("share of time with I/O", "доля времени с операциями"), Scale::Linear, Unit::Share, 0.0, 1.0);
    Some(Chart { id, title, panes: pane(y, vec![busiest, mean]).into_iter().chain(chart.panes).collect(), ..chart })
}

/// Share of the time of loads in which a drive had something to do.
fn drive_busy(loads: &[Load], name: &str) -> Option<f64> {
    share(loads, |sample| sample.disks.iter().find(|disk| disk.name == name).map(|disk| disk.busy_ns))
}

/// Panes with a dot per case. `None` without samples inside the load of any case.
pub fn chart(host: &HostRecord, trials: &[CaseTrials<'_>], cases: &[CaseFinding]) -> Option<Chart> {
    let samples = &host.samples;
    let more = trials.len().saturating_sub(CASES_MAX);
    let trials = &trials[..trials.len() - more];
    let loads: Vec<Vec<Load>> = trials.iter().map(|case| loads(samples, case)).collect();
    let places: Vec<f64> = (0..trials.len()).map(|i| i as f64 + 0.5).collect();
    let line = |name: Say, quantity: Quantity, variant: u8, of: &dyn Fn(&[Load]) -> Option<f64>| {
        let point = |(x, loads): (&f64, &Vec<Load>)| Point { x: *x, y: of(loads), envelope: None };
        let points: Vec<Point> = places.iter().zip(&loads).map(point).collect();
        Series { variant, dots: true, ..Series::line(name, quantity, points) }
    };
    let share = |counter: Counter| move |loads: &[Load]| share(loads, counter);
    let cpu = vec![
        line(say!("all CPUs", "все процессоры"), Quantity::Cpu, 0, &busy),
        line(say!("Stend's worker", "исполнитель Stend"), Quantity::Cpu, 1, &worker),
    ];
    let pressure: [(Say, Quantity, Counter); 3] = [
        (say!("waits for a CPU", "ждали процессор"), Quantity::Cpu, |s| pressure(s)?.cpu_some_ns),
        (say!("waits for I/O", "ждали ввод-вывод"), Quantity::Iops, |s| pressure(s)?.io_some_ns),
        (say!("waits for memory", "ждали память"), Quantity::Memory, |s| pressure(s)?.memory_some_ns),
    ];
    let pressure = (0u8..).zip(pressure).map(|(v, (name, quantity, of))| line(name, quantity, v, &share(of)));
    let used = |loads: &[Load]| memory(samples, loads);
    let memory = vec![line(say!("in use, at most", "занято, не более"), Quantity::Memory, 0, &used)];
    let share_axis = |label: Say| Axis::new(label, Scale::Linear, Unit::Share, 0.0, 1.0);
    let summary = caps::left_out(summary(&cpu[0], trials), &say!("Cases", "Случаи"), more);
    let network: [(Say, Direction); 2] =
        [(say!("received", "принято"), |n| n.received.bytes), (say!("sent", "отправлено"), |n| n.sent.bytes)];
    let network = (0u8..).zip(network);
    let network: Vec<Series> = network
        .map(|(v, (name, of))| line(name, Quantity::Throughput, v, &move |loads| traffic(loads, &host.ports, of)))
        .collect();
    let network = if values(&network).any(|rate| rate >= CHATTER) { network } else { Vec::new() };
    let network_axis = from_zero(say!("network, MB/s", "сеть, МБ/с"), Unit::BytesPerSecond, &network);
    let memory_axis = from_zero(say!("memory in use", "занятая память"), Unit::Bytes, &memory);
    let panes = [
        (share_axis(say!("busy share of all CPUs", "доля занятости всех процессоров")), cpu),
        (
            share_axis(say!("share of time some task waited", "доля времени, когда кто-то ждал")),
            pressure.collect::<Vec<_>>(),
        ),
        (memory_axis, memory),
        (network_axis, network),
    ];
    let panes: Vec<Pane> = panes.into_iter().filter_map(|(y, series)| pane(y, series)).collect();
    (!panes.is_empty()).then(|| Chart {
        id: "resources".to_string(),
        title: say!("What each case took from the host", "Что каждый случай взял у хоста"),
        summary,
        x: axis(trials, cases),
        panes,
        bands: Vec::new(),
        events: Vec::new(),
    })
}

/// A pane of the lines that have a value other than zero; `None` if none has: nothing to see needs no room.
fn pane(y: Axis, mut series: Vec<Series>) -> Option<Pane> {
    series.retain(|s| s.points.iter().any(|p| p.y.is_some_and(|y| y != 0.0)));
    (!series.is_empty()).then(|| Pane::lines(y, series))
}

/// First and last sample of the load of each trial that counts.
fn loads<'a>(samples: &'a [Sample], case: &CaseTrials<'_>) -> Vec<Load<'a>> {
    let load = |outcome: &stend_record::TrialOutcome| {
        let inside = cost::stretch(samples, outcome.load_start, outcome.window_end)?;
        Some((*inside.first()?, *inside.last()?))
    };
    case.counting.iter().filter_map(|trial| load(trial.outcome)).collect()
}

fn pressure(sample: &Sample) -> Option<&Pressure> {
    sample.pressure.as_ref()
}

fn time(loads: &[Load]) -> f64 {
    loads.iter().map(|(first, last)| last.at.saturating_sub(first.at).as_secs()).sum()
}

/// Growth of a counter of ns per time, over all loads.
fn share(loads: &[Load], of: impl Fn(&Sample) -> Option<u64>) -> Option<f64> {
    let one = |(first, last): &Load| {
        let span = last.at.saturating_sub(first.at);
        Some(Nanos(counter::grown(of(first)?, of(last)?, span)?).as_secs())
    };
    let grown: Option<f64> = loads.iter().map(one).sum();
    let time = time(loads);
    grown.filter(|_| time > 0.0).map(|grown| (grown / time).min(1.0))
}

/// Busy share of all CPUs, weighted by the length of the loads.
fn busy(loads: &[Load]) -> Option<f64> {
    let all = time(loads);
    let part = |(first, last): &Load| {
        let busy = crate::cpu::busy(first.cpus.as_ref()?, last.cpus.as_ref()?)?;
        Some(busy * last.at.saturating_sub(first.at).as_secs())
    };
    let sum: Option<f64> = loads.iter().map(part).sum();
    sum.filter(|_| all > 0.0).map(|sum| sum / all)
}

fn worker(loads: &[Load]) -> Option<f64> {
    let cpus = loads.iter().find_map(|(_, last)| last.cpus.as_ref()).map(Vec::len).filter(|n| *n > 0)?;
    let used: Option<f64> = loads
        .iter()
        .map(|(first, last)| Some(Nanos(last.worker?.cpu_ns.checked_sub(first.worker?.cpu_ns)?).as_secs()))
        .sum();
    let all = time(loads) * cpus as f64;
    used.filter(|_| all > 0.0).map(|used| (used / all).min(1.0))
}

/// Largest memory that was not available, at the ends of the loads. The cache of ZFS is read less often than memory.
fn memory(samples: &[Sample], loads: &[Load]) -> Option<f64> {
    let used = |sample: &Sample| {
        let earlier = &samples[..samples.partition_point(|other| other.at <= sample.at)];
        let arc = earlier.iter().rev().find_map(|other| other.parts.as_ref()).and_then(|parts| parts.arc);
        sample.memory.map(|m| m.total_bytes.saturating_sub(host_rates::available(&m, arc)) as f64)
    };
    loads.iter().flat_map(|(first, last)| [used(first), used(last)]).flatten().reduce(f64::max)
}

fn counted<'a>(sample: &'a Sample, ports: &'a [String]) -> Option<Vec<&'a NetworkCounters>> {
    Some(host_rates::of_ports(sample.networks.as_ref()?, |network| &network.name, ports).collect())
}

/// Bytes per second one way through the interfaces whose traffic is that of the host, over all loads. `None` if there are none, or if one
/// came, went, began to count anew or jumped meanwhile.
fn traffic(loads: &[Load], ports: &[String], of: Direction) -> Option<f64> {
    let grown = |(first, last): &Load| -> Option<f64> {
        let (before, after) = (counted(first, ports)?, counted(last, ports)?);
        let same = before.len() == after.len() && before.iter().zip(&after).all(|(b, a)| b.name == a.name);
        let span = last.at.saturating_sub(first.at);
        let bytes: Option<Vec<u64>> =
            before.iter().zip(&after).map(|(b, a)| counter::grown(of(b), of(a), span)).collect();
        let bytes = bytes.filter(|_| same && !before.is_empty())?;
        Some(bytes.into_iter().fold(0, u64::saturating_add) as f64)
    };
    let (bytes, time) = (loads.iter().map(grown).sum::<Option<f64>>(), time(loads));
    bytes.filter(|_| time > 0.0).map(|bytes| bytes / time)
}

/// An axis with a place for each case: its number in the report, and its label.
fn axis(trials: &[CaseTrials<'_>], cases: &[CaseFinding]) -> Axis {
    let mark = |(i, case): (usize, &CaseTrials<'_>)| {
        let label = cases.iter().find(|c| c.case == case.case).map_or("", |c| c.label.as_str());
        let name = Say::same((u64::from(case.case) + 1).to_string());
        Mark { at: i as f64 + 0.5, name, detail: Say::same(label) }
    };
    let names = trials.iter().enumerate().map(mark).collect();
    Axis { names, ..Axis::new(say!("case", "случай"), Scale::Linear, Unit::Plain, 0.0, trials.len() as f64) }
}

/// The case that kept the CPUs busiest.
fn summary(busy: &Series, trials: &[CaseTrials<'_>]) -> Say {
    let most = busy
        .points
        .iter()
        .zip(trials)
        .filter_map(|(p, case)| Some((p.y?, case.case)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    Say::both(|l| match most {
        None => say_in!(l, "CPUs were not observed.", "Процессоры не наблюдались."),
        Some((share, case)) => {
            say_in!(
                l,
                "While the load ran; case {n} kept the CPUs busiest, {share} of all.",
                "Пока шла нагрузка; сильнее всего процессоры занял случай {n}: {share} от всех.",
                n = u64::from(case) + 1,
                share = format::percent(share, l)
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_record::sample::DiskCounters;

    #[test]
    fn a_time_that_jumped_is_no_share_of_a_load() {
        let busy = |after: u64| {
            let at = |s: u64, busy_ns: u64| Sample {
                at: Nanos::secs(s),
                disks: vec![DiskCounters { name: "sda".into(), busy_ns, ..DiskCounters::default() }],
                ..Sample::default()
            };
            let (first, last) = (at(100, 5), at(110, after));
            drive_busy(&[(&first, &last)], "sda")
        };
        assert_eq!((busy(5_000_000_005), busy(1 << 59), busy(4)), (Some(0.5), None, None));
    }
}
