//! Charts about the whole run: what the CPUs did while the phases went by.

use super::thin::{self, Join};
use super::{caps, events, few, since, time_axis};
use crate::chart::{Axis, Band, Chart, Pane, Point, Quantity, Scale, Series, Unit};
use crate::cpu::busy;
use crate::phrase::{both, pick};
use stend_base::{Nanos, Say, format, say};
use stend_record::observed::Phase;
use stend_record::{EventKind, RunRecord, Sample};

/// There are seven phases, of which some may alternate; a damaged file may hold more.
const PHASES_MAX: usize = 24;

/// Busy share of all CPUs, and the worker's part of it. `None` without samples of the CPUs.
pub fn cpu(run: &RunRecord, run_start: Nanos, run_end: Nanos) -> Option<Chart> {
    let busy = between(run, run_start, |a, b| busy(a.cpus.as_ref()?, b.cpus.as_ref()?));
    let worker = between(run, run_start, |a, b| {
        let used = b.worker?.cpu_ns.checked_sub(a.worker?.cpu_ns)?;
        let cpus = b.cpus.as_ref()?.len() as f64;
        Some((used as f64 / b.at.saturating_sub(a.at).0 as f64 / cpus).min(1.0))
    });
    if busy.is_empty() {
        return None;
    }
    let line = |name: Say, variant: u8, points: Vec<Point>| {
        let points = thin::line(vec![points], Join::Mean);
        Series { name, quantity: Quantity::Cpu, variant, dots: few(&points), points, labels: Vec::new() }
    };
    let peak = busy.iter().filter_map(|p| p.y).fold(0.0, f64::max);
    let mean = busy.iter().filter_map(|p| p.y).sum::<f64>() / busy.len() as f64;
    let mut series = vec![line(say!("all CPUs", "все процессоры"), 0, busy)];
    if !worker.is_empty() {
        series.push(line(say!("Stend's worker", "исполнитель Stend"), 1, worker));
    }
    let label = say!("busy share of all CPUs", "доля занятости всех процессоров");
    let y = Axis::new(label, Scale::Linear, Unit::Share, 0.0, 1.0);
    let summary = both(|l| {
        let (mean, peak) = (format::percent(mean, l), format::percent(peak, l));
        pick(l, "Busy {m} on average, {p} at most.", "Заняты в среднем на {m}, самое большее на {p}.")
            .replace("{m}", &mean)
            .replace("{p}", &peak)
    });
    let (bands, more) = phases(run, run_start, run_end);
    Some(Chart {
        id: "cpu".to_string(),
        title: say!("CPU over the run", "Процессоры за прогон"),
        summary: caps::left_out(summary, &say!("Phases", "Фазы"), more),
        x: time_axis(0.0, since(run_start, run_end)),
        panes: vec![Pane::lines(y, series)],
        bands,
        events: events::within(run, run_start, Nanos(0), Nanos(u64::MAX)),
    })
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

/// Phases of the run, each until the next or the end.
fn phases(run: &RunRecord, run_start: Nanos, run_end: Nanos) -> (Vec<Band>, usize) {
    let mut begun: Vec<(Nanos, Phase)> = run
        .events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Phase(phase) => Some((event.at, phase)),
            _ => None,
        })
        .collect();
    let more = caps::cut(&mut begun, PHASES_MAX);
    let ends = begun.iter().skip(1).map(|b| b.0).chain([run_end]);
    let bands = begun
        .iter()
        .zip(ends)
        .map(|(&(from, phase), to)| Band {
            from: since(run_start, from),
            to: since(run_start, to),
            label: phase_name(phase),
        })
        .filter(|band| band.to > band.from)
        .collect();
    (bands, more)
}

fn phase_name(phase: Phase) -> Say {
    match phase {
        Phase::Preflight => say!("preflight", "проверка"),
        Phase::Provision => say!("provision", "подготовка"),
        Phase::Calibrate => say!("ceilings", "потолки"),
        Phase::Fill => say!("fill", "заполнение"),
        Phase::Arm => say!("arm", "вариант"),
        Phase::Measure => say!("measure", "измерение"),
        Phase::CleanUp => say!("clean-up", "уборка"),
        Phase::Replay => say!("replay", "воспроизведение"),
    }
}
