//! A chart about the whole run: what the CPUs did and how warm the drives were while the phases went by.

use super::thin::{self, Join};
use super::{caps, events, phases, since, time_axis};
use crate::chart::{Axis, Chart, Pane, Point, Quantity, Scale, Series, Unit};
use crate::cpu::busy;
use stend_base::{Nanos, Say, format, say, say_in};
use stend_record::{Role, RunRecord, Sample};

/// Most drives whose temperature is drawn: the hottest.
const DRIVES_MAX: usize = 6;
/// Room around temperatures, °C.
const ROOM: f64 = 5.0;

/// What the CPUs did, and how warm the drives were. `None` without samples of either.
pub fn chart(run: &RunRecord, run_start: Nanos, run_end: Nanos) -> Option<Chart> {
    let (cpus, warm) = (cpus(run, run_start), temperatures(run, run_start));
    let title = match (&cpus, &warm) {
        (Some(_), Some(_)) => say!("CPUs and temperatures over the run", "Процессоры и температуры за прогон"),
        (None, Some(_)) => say!("Temperatures over the run", "Температуры за прогон"),
        _ => say!("CPUs over the run", "Процессоры за прогон"),
    };
    let (panes, told): (Vec<Pane>, Vec<Say>) = cpus.into_iter().chain(warm).unzip();
    if panes.is_empty() {
        return None;
    }
    let summary = Say::both(|lang| told.iter().map(|said| said.get(lang)).collect::<Vec<_>>().join(" "));
    let (bands, more) = phases::of(run, run_start, run_end);
    Some(Chart {
        id: "cpu".to_string(),
        title,
        summary: caps::left_out(summary, &say!("Phases", "Фазы"), more),
        x: time_axis(0.0, since(run_start, run_end)),
        panes,
        bands,
        events: events::within(run, run_start, Nanos(0), Nanos(u64::MAX)),
    })
}

/// Busy share of all CPUs, and the worker's part of it, in words, too.
fn cpus(run: &RunRecord, run_start: Nanos) -> Option<(Pane, Say)> {
    let busy = between(run, run_start, |a, b| busy(a.cpus.as_ref()?, b.cpus.as_ref()?));
    let worker = between(run, run_start, |a, b| {
        let used = b.worker?.cpu_ns.checked_sub(a.worker?.cpu_ns)?;
        let cpus = b.cpus.as_ref()?.len() as f64;
        Some((used as f64 / b.at.saturating_sub(a.at).0 as f64 / cpus).min(1.0))
    });
    if busy.is_empty() {
        return None;
    }
    let peak = busy.iter().filter_map(|p| p.y).fold(0.0, f64::max);
    let mean = busy.iter().filter_map(|p| p.y).sum::<f64>() / busy.len() as f64;
    let mut series = vec![line(say!("all CPUs", "все процессоры"), Quantity::Cpu, 0, busy, Join::Mean)];
    if !worker.is_empty() {
        series.push(line(say!("Stend's worker", "исполнитель Stend"), Quantity::Cpu, 1, worker, Join::Mean));
    }
    let label = say!("busy share of all CPUs", "доля занятости всех процессоров");
    let y = Axis::new(label, Scale::Linear, Unit::Share, 0.0, 1.0);
    let said = Say::both(|l| {
        let (mean, peak) = (format::percent(mean, l), format::percent(peak, l));
        say_in!(
            l,
            "CPUs busy {mean} on average, {peak} at most.",
            "Процессоры заняты в среднем на {mean}, самое большее на {peak}."
        )
    });
    Some((Pane::lines(y, series), said))
}

/// Temperature of each drive that tells one, at most six: the hottest, and how hot it was.
fn temperatures(run: &RunRecord, run_start: Nanos) -> Option<(Pane, Say)> {
    let mut of: Vec<(String, Option<i64>, Vec<Point>)> = Vec::new();
    for host in run.hosts() {
        let readings = host.samples.iter().filter_map(|s| Some((s.at, s.parts.as_ref()?)));
        for (at, reading) in readings.flat_map(|(at, parts)| parts.temperatures.iter().map(move |t| (at, t))) {
            let name = match host.role {
                Role::Storage | Role::Observe => format!("{}: {}", host.name, reading.device),
                Role::Load => reading.device.clone(),
            };
            let y = Some(reading.milli_celsius as f64 / 1e3);
            let point = Point { x: since(run_start, at), y, envelope: None };
            match of.iter_mut().find(|(known, ..)| *known == name) {
                Some((.., points)) => points.push(point),
                None => of.push((name, reading.warning.filter(|limit| *limit > 0), vec![point])),
            }
        }
    }
    let most = |points: &[Point]| points.iter().filter_map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
    of.sort_by(|a, b| most(&b.2).total_cmp(&most(&a.2)));
    let (hottest, warning, points) = of.first()?;
    let (hottest, warning, top) = (hottest.clone(), *warning, most(points));
    let more = caps::cut(&mut of, DRIVES_MAX);
    let lowest = of.iter().flat_map(|(.., points)| points).filter_map(|p| p.y).fold(top, f64::min);
    let lines = (0..).zip(of).map(|(variant, (name, _, mut points))| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        line(Say::same(name), Quantity::Temperature, variant, points, Join::Largest)
    });
    let label = say!("temperature of drives, °C", "температура накопителей, °C");
    let y = Axis::new(label, Scale::Linear, Unit::Plain, (lowest - ROOM).floor(), (top + ROOM).ceil());
    let pane = Pane::lines(y, lines.collect());
    let degrees = |value: f64, lang| format::fixed(value, usize::from(value.fract() != 0.0), lang);
    let said = Say::both(|l| {
        let limit = warning.map_or(String::new(), |limit| {
            say_in!(
                l,
                ", which warns from {t} °C on",
                ", предупреждает он от {t} °C",
                t = degrees(limit as f64 / 1e3, l)
            )
        });
        say_in!(
            l,
            "Hottest: {hottest} with {t} °C{limit}.",
            "Горячее всех {hottest}: {t} °C{limit}.",
            t = degrees(top, l)
        )
    });
    Some((pane, caps::left_out(said, &say!("Drives", "Накопители"), more)))
}

/// A line through every point: between two looks a temperature or a share does not jump.
fn line(name: Say, quantity: Quantity, variant: u8, points: Vec<Point>, join: Join) -> Series {
    let points = thin::line(vec![points], join);
    Series { variant, ..Series::line(name, quantity, points) }
}

/// A value of each pair of neighbouring samples, in the middle between them.
fn between(run: &RunRecord, run_start: Nanos, value: impl Fn(&Sample, &Sample) -> Option<f64>) -> Vec<Point> {
    let mut points: Vec<Point> = run
        .load()
        .samples
        .windows(2)
        .filter(|pair| pair[0].at < pair[1].at)
        .filter_map(|pair| {
            let x = (since(run_start, pair[0].at) + since(run_start, pair[1].at)) / 2.0;
            Some(Point { x, y: Some(value(&pair[0], &pair[1])?), envelope: None })
        })
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_record::Parts;
    use stend_record::parts::Temperature;

    #[test]
    fn temperatures_are_lines_over_the_run_and_the_hottest_drive_is_named() {
        let mut record = crate::fixture::run().trial(0).done().record();
        let first = record.load().samples[0].clone();
        for (second, hot, cool) in [(0, 41_000, 30_000), (60, 72_500, 31_000), (120, 65_000, 31_500)] {
            let of = |device: &str, milli_celsius, warning| Temperature {
                device: device.into(),
                milli_celsius,
                warning,
                critical: None,
            };
            let temperatures = vec![of("nvme1n1", cool, None), of("nvme0n1", hot, Some(70_000))];
            let parts = Some(Box::new(Parts { temperatures, ..Parts::default() }));
            record.load_mut().samples.push(Sample { at: first.at + Nanos::secs(second), parts, ..first.clone() });
        }
        let (pane, said) = temperatures(&record, first.at).unwrap();
        let lines: Vec<_> = pane.series.iter().map(|s| (s.name.en.as_str(), s.points.len(), s.dots)).collect();
        assert_eq!(lines, [("nvme0n1", 3, false), ("nvme1n1", 3, false)]);
        assert_eq!((pane.y.from, pane.y.to), (25.0, 78.0));
        assert_eq!(said.en, "Hottest: nvme0n1 with 72.5 °C, which warns from 70 °C on.");
    }
}
