//! A recording as a whole: every drive and the host over its time, folded one sample after the other, so that months need no more
//! memory than minutes. Pure.

use crate::Chart;
use crate::charts::{events, recording as charts};
use crate::host_rates::{self, HostRates};
use crate::recording_lines::{ConcurrentRun, Line, Lines, RecordedDrive, Spread};
use std::collections::BTreeMap;
use stend_base::{Nanos, Say};
use stend_record::parts::ArcCounters;
use stend_record::sample::Memory;
use stend_record::{Device, Event, EventKind, Health, HostInfo, RunRecord, Sample};

/// What a recording says.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Samples that were read.
    pub samples: u64,
    /// When the first was read, on the clock of the host.
    pub begin: Nanos,
    /// From the first to the last of them.
    pub span: Nanos,
    /// Mean and largest busy share of all CPUs.
    pub cpu_busy: Option<Spread>,
    /// Mean and largest share of time in which some task waited for I/O.
    pub io_some: Option<Spread>,
    /// Mean and largest memory in use, bytes.
    pub memory_used: Option<Spread>,
    /// Devices that did any I/O, in the order in which the host lists them.
    pub drives: Vec<RecordedDrive>,
    /// Devices that did none.
    pub idle: Vec<String>,
    /// What drives said of themselves last, by kernel name.
    pub health: BTreeMap<String, Health>,
    /// Runs of the host in that time, the oldest first.
    pub runs: Vec<ConcurrentRun>,
    /// What happened to the host, the newest 1000 in the order of time.
    pub events: Vec<(Nanos, Say)>,
    /// Charts over time.
    pub charts: Vec<Chart>,
}

/// Folds the samples of a recording, which come in the order of time.
#[derive(Debug)]
pub struct Fold {
    before: Option<Sample>,
    samples: u64,
    /// Times of the first and the last sample.
    ends: Option<(Nanos, Nanos)>,
    lines: Lines,
    temperatures: BTreeMap<String, Vec<(Nanos, i64)>>,
    /// The cache of ZFS as it was last read.
    arc: Option<ArcCounters>,
    /// Network interfaces with hardware.
    ports: Vec<String>,
    runs: Vec<ConcurrentRun>,
}

/// Least time between two temperatures of a drive that are kept: a month has 8640 then.
const TEMPERATURE_EVERY: Nanos = Nanos::secs(300);

/// Most events that a reader gets. By eye: a host whose devices come and go all day.
const EVENTS_MAX: usize = 1000;

impl Fold {
    /// A recording of so many samples between two times, which decide how fine its charts are.
    pub fn new(from: Nanos, to: Nanos, samples: usize) -> Fold {
        let lines = Lines::new(from, to, samples);
        Fold {
            before: None,
            samples: 0,
            ends: None,
            lines,
            temperatures: BTreeMap::new(),
            arc: None,
            ports: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// The host that it is of.
    pub fn of_host(self, host: &HostInfo) -> Fold {
        Fold { ports: host.ports.clone(), ..self }
    }

    /// Runs of the host in that time.
    pub fn with_runs(self, runs: Vec<ConcurrentRun>) -> Fold {
        Fold { runs, ..self }
    }

    /// Takes the next sample.
    pub fn add(&mut self, sample: Sample) {
        self.samples += 1;
        let (first, _) = *self.ends.get_or_insert((sample.at, sample.at));
        self.ends = Some((first, sample.at));
        for reading in sample.parts.iter().flat_map(|parts| &parts.temperatures) {
            let kept = self.temperatures.entry(reading.device.clone()).or_default();
            if kept.last().is_none_or(|(at, _)| sample.at.saturating_sub(*at) >= TEMPERATURE_EVERY) {
                kept.push((sample.at, reading.milli_celsius));
            }
        }
        self.arc = sample.parts.as_ref().map_or(self.arc, |parts| parts.arc);
        if let Some(rates) = self.before.as_ref().and_then(|before| host_rates::between(before, &sample)) {
            self.note(&rates);
        }
        self.before = Some(sample);
    }

    fn note(&mut self, rates: &HostRates) {
        let span = rates.span.as_secs();
        for drive in &rates.drives {
            let latency = |of: Option<Nanos>| of.map(|ns| ns.0 as f64);
            let (reads, writes) = (drive.reads * span, drive.writes * span);
            let values = [
                (Line::Iops, Some(drive.iops()), span),
                (Line::Throughput, Some(drive.read_bytes + drive.write_bytes), span),
                (Line::ReadLatency, latency(drive.read_latency), reads),
                (Line::WriteLatency, latency(drive.write_latency), writes),
                (Line::Queue, Some(drive.queue), span),
                (Line::Busy, Some(drive.busy), span),
            ];
            for (line, value, weight) in values {
                self.lines.add((line, &drive.name), rates, value, weight);
            }
        }
        let used = |memory: Memory| memory.total_bytes.saturating_sub(host_rates::available(&memory, self.arc)) as f64;
        let used = rates.memory.map(used);
        let ports = || host_rates::of_ports(&rates.networks, |network| &network.name, &self.ports);
        let sum = |of: fn(&host_rates::NetworkRates) -> f64| ports().map(of).reduce(|a, b| a + b);
        let values = [
            (Line::CpuBusy, rates.cpu_busy),
            (Line::CpuSteal, rates.cpu_steal),
            (Line::CpuSome, rates.stalls.cpu_some),
            (Line::IoSome, rates.stalls.io_some),
            (Line::MemorySome, rates.stalls.memory_some),
            (Line::MemoryUsed, used),
            (Line::Received, sum(|n| n.received)),
            (Line::Sent, sum(|n| n.sent)),
        ];
        for (line, value) in values {
            self.lines.add((line, ""), rates, value, span);
        }
    }

    /// What they say together; `run` has the events that are marked.
    pub fn end(self, run: &RunRecord) -> Recorded {
        let lines = &self.lines;
        let host = |line| lines.spread((line, ""));
        let (from, to) = self.ends.unwrap_or_default();
        let (mut drives, mut idle) = (Vec::new(), Vec::new());
        for name in lines.devices() {
            let of = |line| lines.spread((line, name));
            let none = Spread { mean: 0.0, max: 0.0 };
            let known = run.load().targets.iter().flat_map(|target| &target.devices).find(|known| known.name == name);
            let drive = RecordedDrive {
                name: name.to_string(),
                kind: kind(known, name),
                identity: known.and_then(|known| known.identity.clone()),
                iops: of(Line::Iops).unwrap_or(none),
                throughput: of(Line::Throughput).unwrap_or(none),
                read_latency: of(Line::ReadLatency),
                write_latency: of(Line::WriteLatency),
                queue: of(Line::Queue).unwrap_or(none),
                busy: of(Line::Busy).unwrap_or(none),
            };
            match drive.iops.max > 0.0 {
                true => drives.push(drive),
                false => idle.push(drive.name),
            }
        }
        Recorded {
            samples: self.samples,
            begin: from,
            span: to.saturating_sub(from),
            cpu_busy: host(Line::CpuBusy),
            io_some: host(Line::IoSome),
            memory_used: host(Line::MemoryUsed),
            charts: charts::charts(lines, &drives, &self.temperatures, run, &self.runs, (from, to)),
            drives,
            idle,
            runs: self.runs,
            events: events::newest(run, from, to, EVENTS_MAX),
            health: health(&run.events),
        }
    }
}

/// Names of devices that are made by programs, as the kernel begins them, and their kinds.
const MADE: [(&str, &str); 10] = [
    ("dm-", "dm"),
    ("md", "md"),
    ("loop", "loop"),
    ("zram", "zram"),
    ("ram", "ram"),
    ("nbd", "nbd"),
    ("rbd", "rbd"),
    ("drbd", "drbd"),
    ("zd", "zvol"),
    ("bcache", "bcache"),
];

/// What a device is: by what the host said of it, and of one that has left by its name.
fn kind(known: Option<&Device>, name: &str) -> String {
    let by_name = || MADE.iter().find(|(begin, _)| name.starts_with(begin)).map_or("disk", |(_, kind)| kind);
    known.map_or_else(by_name, |device| &device.kind).to_string()
}

/// The last word of each drive about itself in these events, by kernel name.
pub fn health<'a>(events: impl IntoIterator<Item = &'a Event>) -> BTreeMap<String, Health> {
    let told = events.into_iter().filter_map(|event| match &event.kind {
        EventKind::DriveHealth { drives } => Some(drives),
        _ => None,
    });
    told.flatten().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Bytes;
    use stend_plan::{PlanInputs, PlanTarget};
    use stend_record::parts::Temperature;
    use stend_record::sample::{CpuTimes, DiskCounters};
    use stend_record::{Parts, RunHeader, TargetFacts, TargetKind, WriteAccess};
    use stend_spec::suite::Suite;

    fn run() -> RunRecord {
        let target = PlanTarget::device(Bytes(0));
        let inputs = PlanInputs { suite: Suite::default(), seed: 0, target, time_budget: None, traces: Vec::new() };
        RunRecord::new(RunHeader::new("R-1", inputs))
    }

    /// A host after `s` seconds: a drive that does 100 reads a second of 2 ms, and 1000 in the last one; another that does nothing.
    fn sample(s: u64, last: u64) -> Sample {
        let reads = 100 * s + if s == last { 900 } else { 0 };
        let disk = |name: &str, reads: u64| DiskCounters {
            name: name.into(),
            reads,
            read_ns: reads * 2_000_000,
            busy_ns: s * 250_000_000,
            ..DiskCounters::default()
        };
        let cpu = CpuTimes { user_ns: s * 250_000_000, idle_ns: s * 750_000_000, ..CpuTimes::default() };
        let warm = Temperature { device: "sda".into(), milli_celsius: 40_000, warning: None, critical: None };
        Sample {
            at: Nanos::secs(1000 + s),
            cpus: Some(vec![cpu]),
            disks: vec![disk("sda", reads), DiskCounters { busy_ns: 0, ..disk("sdb", 0) }],
            parts: s.is_multiple_of(300).then(|| Box::new(Parts { temperatures: vec![warm], ..Parts::default() })),
            ..Sample::default()
        }
    }

    fn folded(seconds: u64) -> Recorded {
        let at = |s| Nanos::secs(1000 + s);
        let mut fold = Fold::new(at(0), at(seconds), seconds as usize + 1);
        (0..=seconds).for_each(|s| fold.add(sample(s, seconds)));
        let mut run = run();
        let went = EventKind::Devices { came: Vec::new(), went: vec!["sdc".into()], detachable: Vec::new() };
        run.events = vec![Event::new(at(seconds / 2), went)];
        fold.end(&run)
    }

    #[test]
    fn a_recording_has_the_mean_and_the_peak_of_each_drive_and_of_the_host() {
        let found = folded(1000);
        assert_eq!((found.samples, found.span, found.idle.clone()), (1001, Nanos::secs(1000), vec!["sdb".to_string()]));
        let drive = &found.drives[0];
        assert!((drive.iops.mean - 100.9).abs() < 1e-6 && (drive.iops.max - 1000.0).abs() < 1e-6, "{drive:?}");
        assert_eq!(drive.read_latency, Some(Spread { mean: 2e6, max: 2e6 }));
        assert_eq!((drive.write_latency, drive.busy), (None, Spread { mean: 0.25, max: 0.25 }));
        assert_eq!(found.cpu_busy, Some(Spread { mean: 0.25, max: 0.25 }));
    }

    #[test]
    fn each_device_of_a_recording_has_its_kind_also_one_that_has_left_and_its_identity_if_known() {
        let mut fold = Fold::new(Nanos::secs(1000), Nanos::secs(1100), 101);
        for s in 0..=100 {
            let disk = |name: &str| DiskCounters { name: name.into(), ..sample(s, 1000).disks[0].clone() };
            let disks = ["sda", "md0", "dm-0", "nbd1", "nvme0n1", "sdz"].map(disk).into();
            fold.add(Sample { disks, ..sample(s, 1000) });
        }
        let mut run = run();
        let target = |(name, kind): (&str, &str)| TargetFacts {
            devices: vec![Device {
                name: name.into(),
                kind: kind.into(),
                identity: Some(format!("wwn:{name}")),
                ..Device::default()
            }],
            ..TargetFacts::new(name, TargetKind::BlockDevice, WriteAccess::Nowhere)
        };
        run.load_mut().targets = [("sda", "disk"), ("dm-0", "dm"), ("nvme0n1", "nvme-of")].map(target).into();
        let drives = fold.end(&run).drives;
        let found: Vec<String> = drives.iter().map(|drive| format!("{} {}", drive.name, drive.kind)).collect();
        assert_eq!(found, ["sda disk", "md0 md", "dm-0 dm", "nbd1 nbd", "nvme0n1 nvme-of", "sdz disk"]);
        let identities: Vec<&str> = drives.iter().filter_map(|drive| drive.identity.as_deref()).collect();
        assert_eq!(identities, ["wwn:sda", "wwn:dm-0", "wwn:nvme0n1"]);
    }

    #[test]
    fn charts_of_a_recording_have_few_points_with_their_peaks_and_its_events() {
        let found = folded(1000);
        let ids: Vec<&str> = found.charts.iter().map(|chart| chart.id.as_str()).collect();
        assert_eq!(ids, ["recording-total", "recording-drives", "recording-host", "recording-temperatures"]);
        let drives = &found.charts[1];
        let iops = &drives.panes[0].series[0];
        assert!(iops.points.len() <= 600, "{}", iops.points.len());
        assert!(
            iops.points.iter().any(|p| p.envelope.is_some_and(|(_, high)| high > 999.0)),
            "the peak is in the band"
        );
        // A quarter of an hour is in minutes.
        assert!((drives.x.to - 1000.0 / 60.0).abs() < 1e-6 && drives.x.label.en.ends_with("min"));
        assert_eq!(drives.events.iter().map(|mark| mark.name.en.as_str()).collect::<Vec<_>>(), ["sdc gone"]);
        assert_eq!(found.charts[3].panes[0].series[0].points.len(), 4);
        let events: Vec<_> = found.events.iter().map(|(at, name)| (at.0 / 1_000_000_000, name.en.as_str())).collect();
        assert_eq!(events, [(1500, "sdc gone")]);
    }

    #[test]
    fn a_run_in_that_time_is_a_band_of_its_name_in_every_chart() {
        let at = |s: u64| Nanos::secs(1000 + s);
        let run_of = |label: Option<&str>, from, to| ConcurrentRun {
            run: "R-2".into(),
            suite: "quick".into(),
            label: label.map(String::from),
            from: at(from),
            to: at(to),
        };
        let runs = vec![run_of(None, 0, 60), run_of(Some("after"), 120, 600)];
        let mut fold = Fold::new(at(0), at(900), 901).with_runs(runs.clone());
        (0..=900).for_each(|s| fold.add(sample(s, 900)));
        let found = fold.end(&run());
        assert_eq!((found.begin, &found.runs), (at(0), &runs));
        for chart in &found.charts {
            let bands: Vec<_> = chart.bands.iter().map(|band| (band.from, band.to, band.label.en.as_str())).collect();
            // Minutes.
            assert_eq!(bands, [(0.0, 1.0, "quick"), (2.0, 10.0, "after")], "{}", chart.id);
        }
    }

    #[test]
    fn a_recording_of_one_sample_says_nothing_and_draws_nothing() {
        let mut fold = Fold::new(Nanos(1), Nanos(1), 1);
        fold.add(sample(0, 9));
        let found = fold.end(&run());
        assert_eq!((found.samples, found.drives.len(), found.cpu_busy), (1, 0, None));
        assert!(found.charts.iter().all(|chart| chart.id == "recording-temperatures"));
    }
}
