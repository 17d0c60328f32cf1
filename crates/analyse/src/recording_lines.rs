//! The values of a recording over its time, in so many places that a chart can show: of each place mean, smallest and largest.

use crate::chart::Point;
use crate::host_rates::HostRates;
use std::collections::BTreeMap;
use stend_base::Nanos;

/// Places on the axis of time: more than a screen has columns for.
const PLACES_MAX: usize = 600;

/// Most lines: 512 devices of six and the host's. What comes beyond is left out; no host has so many devices that do I/O.
const LINES_MAX: usize = 4096;

/// So many empty places are a gap: a step that falls beside its place leaves one or two.
const GAP: usize = 3;

/// A device over the time of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedDrive {
    /// Kernel name.
    pub name: String,
    /// `disk`, `loop`, `md`, `dm`, `zram`, …: I/Os of what lies above drives are counted at these, too.
    pub kind: String,
    /// Stable identity, as the host described it last; `None` if it has none, or has left.
    pub identity: Option<String>,
    /// I/Os per second.
    pub iops: Spread,
    /// Bytes per second, both ways.
    pub throughput: Spread,
    /// Latency of reads, ns: of all of them, and the largest mean of a step.
    pub read_latency: Option<Spread>,
    /// The same of writes.
    pub write_latency: Option<Spread>,
    /// I/Os in flight.
    pub queue: Spread,
    /// Share of time with I/O.
    pub busy: Spread,
}

/// A run of the host while it was recorded, on the clock of the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcurrentRun {
    /// Its name in the list.
    pub run: String,
    /// Name of its suite.
    pub suite: String,
    /// What the user calls it.
    pub label: Option<String>,
    /// When it began, at the earliest with the recording.
    pub from: Nanos,
    /// When it ended, at the latest with the recording.
    pub to: Nanos,
}

impl ConcurrentRun {
    /// As people call it.
    pub fn called(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.suite)
    }
}

/// A value over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Mean: over time, of a latency over all I/Os.
    pub mean: f64,
    /// Largest of one step.
    pub max: f64,
}

/// What a line shows: of a device, or of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Line {
    Iops,
    Throughput,
    ReadLatency,
    WriteLatency,
    Queue,
    Busy,
    CpuBusy,
    CpuSteal,
    CpuSome,
    IoSome,
    MemorySome,
    MemoryUsed,
    Received,
    Sent,
}

/// Name of a line: what it shows, and of which device.
type Key<'a> = (Line, &'a str);

/// All lines in the making.
#[derive(Debug)]
pub(crate) struct Lines {
    from: Nanos,
    /// Length of a place.
    place: Nanos,
    /// Devices in the order in which they came.
    devices: Vec<String>,
    of: BTreeMap<(Line, String), Vec<Place>>,
}

/// What fell into one place.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    sum: f64,
    weight: f64,
    low: f64,
    high: f64,
}

const EMPTY: Place = Place { sum: 0.0, weight: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY };

impl Lines {
    /// Lines between two times, as fine as so many samples allow.
    pub fn new(from: Nanos, to: Nanos, samples: usize) -> Lines {
        let places = samples.saturating_sub(1).clamp(1, PLACES_MAX) as u64;
        let place = Nanos((to.saturating_sub(from).0 / places).max(1));
        Lines { from, place, devices: Vec::new(), of: BTreeMap::new() }
    }

    /// Adds a value of a step with its weight: the length of the step, or the I/Os whose mean it is.
    pub fn add(&mut self, (line, device): Key<'_>, step: &HostRates, value: Option<f64>, weight: f64) {
        let Some(value) = value.filter(|value| value.is_finite() && weight > 0.0) else { return };
        if !device.is_empty() && !self.devices.iter().any(|known| known == device) {
            self.devices.push(device.to_string());
        }
        let key = (line, device.to_string());
        if self.of.len() >= LINES_MAX && !self.of.contains_key(&key) {
            return;
        }
        let middle = Nanos(step.at.0.saturating_sub(step.span.0 / 2)).saturating_sub(self.from);
        let index = (middle.0 / self.place.0).min(PLACES_MAX as u64 - 1) as usize;
        let places = self.of.entry(key).or_default();
        if places.len() <= index {
            places.resize(index + 1, EMPTY);
        }
        let place = &mut places[index];
        place.sum += value * weight;
        place.weight += weight;
        (place.low, place.high) = (place.low.min(value), place.high.max(value));
    }

    /// Devices of which there are lines.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.devices.iter().map(String::as_str)
    }

    /// Mean and largest of a line; `None` if it has no value.
    pub fn spread(&self, (line, device): Key<'_>) -> Option<Spread> {
        let places = || self.of.get(&(line, device.to_string())).into_iter().flatten().filter(|p| p.weight > 0.0);
        let weight: f64 = places().map(|p| p.weight).sum();
        let max = places().map(|p| p.high).fold(0.0, f64::max);
        (weight > 0.0).then(|| Spread { mean: places().map(|p| p.sum).sum::<f64>() / weight, max })
    }

    /// Points of a line in seconds since the start; a stretch without values is a gap.
    pub fn points(&self, (line, device): Key<'_>) -> Vec<Point> {
        let of = |of: &Place| {
            let envelope = (of.low < of.high).then_some((of.low, of.high));
            (of.weight > 0.0).then(|| (of.sum / of.weight, envelope))
        };
        self.drawn(self.of.get(&(line, device.to_string())).into_iter().flatten().map(of))
    }

    /// The same of what several devices do together. Smallest and largest of a sum are not known.
    pub fn together(&self, line: Line, devices: &[&str]) -> Vec<Point> {
        let all: Vec<&Vec<Place>> =
            devices.iter().filter_map(|device| self.of.get(&(line, device.to_string()))).collect();
        let places = all.iter().map(|places| places.len()).max().unwrap_or(0);
        let of = |index: usize| {
            let here = all.iter().filter_map(|places| places.get(index)).filter(|place| place.weight > 0.0);
            here.map(|place| place.sum / place.weight).reduce(|a, b| a + b).map(|sum| (sum, None))
        };
        self.drawn((0..places).map(of))
    }

    /// Points of places in their order, each with its mean and what was smallest and largest; `None`: it is empty.
    fn drawn(&self, places: impl Iterator<Item = Option<(f64, Option<(f64, f64)>)>>) -> Vec<Point> {
        let place = self.place.as_secs();
        let mut points: Vec<Point> = Vec::new();
        let mut empty = 0;
        for (index, of) in places.enumerate() {
            let x = (index as f64 + 0.5) * place;
            let Some((mean, envelope)) = of else {
                empty += 1;
                continue;
            };
            if empty >= GAP && !points.is_empty() {
                points.push(Point { x: x - place, y: None, envelope: None });
            }
            empty = 0;
            points.push(Point { x, y: Some(mean), envelope });
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(s: u64) -> HostRates {
        HostRates { at: Nanos::secs(s), span: Nanos::SECOND, ..HostRates::default() }
    }

    #[test]
    fn a_place_keeps_the_mean_by_weight_and_what_was_smallest_and_largest() {
        let mut lines = Lines::new(Nanos(0), Nanos::secs(1200), 1201);
        for (s, latency, ios) in [(1, 1.0, 90.0), (2, 11.0, 10.0), (4, 5.0, 1.0)] {
            lines.add((Line::ReadLatency, "sda"), &step(s), Some(latency), ios);
        }
        let points = lines.points((Line::ReadLatency, "sda"));
        assert_eq!(points[0], Point { x: 1.0, y: Some(2.0), envelope: Some((1.0, 11.0)) });
        assert_eq!(points[1], Point { x: 3.0, y: Some(5.0), envelope: None });
        assert_eq!(lines.spread((Line::ReadLatency, "sda")), Some(Spread { mean: 205.0 / 101.0, max: 11.0 }));
        assert_eq!(lines.spread((Line::ReadLatency, "sdb")), None);
    }

    #[test]
    fn drives_together_do_the_sum_of_what_each_does_and_one_that_is_away_does_nothing() {
        let mut lines = Lines::new(Nanos(0), Nanos::secs(4), 5);
        for (device, values) in [("sda", [Some(10.0), Some(20.0), None, None]), ("sdb", [Some(1.0), None, None, None])]
        {
            for (s, value) in (1..).zip(values) {
                lines.add((Line::Iops, device), &step(s), value, 1.0);
            }
        }
        lines.add((Line::Iops, "md0"), &step(1), Some(11.0), 1.0);
        let sums: Vec<_> = lines.together(Line::Iops, &["sda", "sdb"]).into_iter().map(|p| (p.x, p.y)).collect();
        assert_eq!(sums, [(0.5, Some(11.0)), (1.5, Some(20.0))]);
        assert_eq!(lines.together(Line::Iops, &["sdz"]), []);
    }

    #[test]
    fn a_drive_that_was_away_leaves_a_gap_and_a_short_recording_none() {
        let mut lines = Lines::new(Nanos(0), Nanos::secs(20), 21);
        for s in (1..=5).chain(15..=20) {
            lines.add((Line::Iops, "sda"), &step(s), Some(1.0), 1.0);
        }
        let gaps = lines.points((Line::Iops, "sda")).iter().filter(|p| p.y.is_none()).count();
        assert_eq!((gaps, lines.points((Line::Iops, "sda")).len()), (1, 12));
        let mut short = Lines::new(Nanos(0), Nanos::secs(2), 3);
        (1..=2).for_each(|s| short.add((Line::Iops, "sda"), &step(s), Some(1.0), 1.0));
        assert!(short.points((Line::Iops, "sda")).iter().all(|p| p.y.is_some()));
    }
}
