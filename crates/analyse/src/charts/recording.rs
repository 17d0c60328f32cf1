//! A recording over its time: the drives, the host, and how warm the drives were.

use super::thin::{self, Join};
use super::{SERIES_MAX, caps, events, few, from_zero, latency_axis, since, values};
use crate::chart::{Axis, Band, Chart, Pane, Point, Quantity, Scale, Series, Unit};
use crate::recording_lines::{ConcurrentRun, Line, Lines, RecordedDrive};
use std::collections::BTreeMap;
use stend_base::{Nanos, Say, format, say, say_in};
use stend_record::RunRecord;

/// Temperatures of each drive.
type Temperatures = BTreeMap<String, Vec<(Nanos, i64)>>;
/// One of them.
type Drive<'a> = (&'a String, &'a Vec<(Nanos, i64)>);

/// Room around temperatures, °C.
const ROOM: f64 = 5.0;

/// Charts of what there is; none of a recording that ended at once.
pub fn charts(
    lines: &Lines,
    drives: &[RecordedDrive],
    temperatures: &Temperatures,
    run: &RunRecord,
    runs: &[ConcurrentRun],
    (from, to): (Nanos, Nanos),
) -> Vec<Chart> {
    let (unit, label) = unit(to.saturating_sub(from));
    let band = |run: &ConcurrentRun| {
        let [begin, end] = [run.from, run.to].map(|at| since(from, at) / unit);
        Band { from: begin, to: end, label: Say::same(run.called()) }
    };
    let chart = |id: &str, title: Say, summary: Say, mut panes: Vec<Pane>| {
        panes.retain(|pane| values(&pane.series).any(|y| y != 0.0));
        let points = panes.iter_mut().flat_map(|pane| &mut pane.series).flat_map(|series| &mut series.points);
        points.for_each(|point| point.x /= unit);
        let mut marks = events::within(run, from, from, to);
        marks.iter_mut().for_each(|mark| mark.at /= unit);
        // A plain axis: nothing is cut out of it where points are few.
        let x = Axis::new(label.clone(), Scale::Linear, Unit::Plain, 0.0, (since(from, to) / unit).max(1.0 / unit));
        (!panes.is_empty()).then(|| Chart {
            id: id.to_string(),
            title,
            summary,
            x,
            panes,
            bands: runs.iter().map(band).collect(),
            events: marks,
        })
    };
    let (shown, left_out) = busiest(drives);
    let title = say!("Drives over time", "Накопители по времени");
    let summary = caps::left_out(of_drives(&shown), &say!("Drives", "Накопители"), left_out);
    let together = say!(
        "Sums of the drives themselves: arrays and mappings above them do the same I/Os once more.",
        "Суммы самих накопителей: массивы и отображения над ними выполняют те же операции ещё раз."
    );
    let charts = [
        chart(
            "recording-total",
            say!("All drives together", "Все накопители вместе"),
            together,
            total_panes(lines, drives),
        ),
        chart("recording-drives", title, summary, drive_panes(lines, &shown)).map(caps::merged),
        chart("recording-host", say!("The host over time", "Хост по времени"), of_host(lines), host_panes(lines))
            .map(caps::merged),
        chart(
            "recording-temperatures",
            say!("Temperatures of drives over time", "Температуры накопителей по времени"),
            say!("A point is at least five minutes.", "Между точками не менее пяти минут."),
            warm(temperatures, from).into_iter().collect(),
        ),
    ];
    charts.into_iter().flatten().collect()
}

/// Seconds of a unit in which so long a time is read easily, and the axis in that unit.
fn unit(span: Nanos) -> (f64, Say) {
    const HOUR: u64 = 3600;
    match span.0 / 1_000_000_000 {
        0..=600 => (1.0, say!("time since the first sample, s", "время от первого отсчёта, с")),
        601..=10_800 => (60.0, say!("time since the first sample, min", "время от первого отсчёта, мин")),
        10_801..=259_200 => (HOUR as f64, say!("time since the first sample, h", "время от первого отсчёта, ч")),
        _ => ((24 * HOUR) as f64, say!("time since the first sample, d", "время от первого отсчёта, сут")),
    }
}

/// The drives with most I/O in the order of the host, as many as a pane can show, and how many are left out.
fn busiest(drives: &[RecordedDrive]) -> (Vec<&RecordedDrive>, usize) {
    let mut by_load: Vec<&RecordedDrive> = drives.iter().collect();
    by_load.sort_by(|a, b| b.busy.mean.total_cmp(&a.busy.mean).then(b.iops.mean.total_cmp(&a.iops.mean)));
    let left_out = caps::cut(&mut by_load, SERIES_MAX);
    let shown = drives.iter().filter(|drive| by_load.iter().any(|one| one.name == drive.name)).collect();
    (shown, left_out)
}

fn drive_panes(lines: &Lines, shown: &[&RecordedDrive]) -> Vec<Pane> {
    let of = |line: Line, quantity: Quantity| -> Vec<Series> {
        (0u8..)
            .zip(shown)
            .map(|(variant, drive)| {
                let points = match quantity {
                    Quantity::Latency => seen(lines.points((line, &drive.name))),
                    _ => lines.points((line, &drive.name)),
                };
                let dots = few(&points);
                Series { variant, dots, ..Series::line(Say::same(&*drive.name), quantity, points) }
            })
            .collect()
    };
    let (iops, bytes) = (of(Line::Iops, Quantity::Iops), of(Line::Throughput, Quantity::Throughput));
    let (read, write) = (of(Line::ReadLatency, Quantity::Latency), of(Line::WriteLatency, Quantity::Latency));
    let (queue, busy) = (of(Line::Queue, Quantity::Iops), of(Line::Busy, Quantity::Iops));
    let share = say!("share of time with I/O", "доля времени с операциями");
    vec![
        Pane::lines(from_zero(Say::same("IOPS"), Unit::Plain, &iops), iops),
        Pane::lines(
            from_zero(say!("throughput, MB/s", "пропускная способность, МБ/с"), Unit::BytesPerSecond, &bytes),
            bytes,
        ),
        Pane::lines(latency_axis(say!("mean read latency", "средняя задержка чтения"), &read), read),
        Pane::lines(latency_axis(say!("mean write latency", "средняя задержка записи"), &write), write),
        Pane::lines(from_zero(say!("I/Os in flight", "операций в очереди"), Unit::Plain, &queue), queue),
        Pane::lines(Axis::new(share, Scale::Linear, Unit::Share, 0.0, 1.0), busy),
    ]
}

/// What the drives do together. Only sums of like things: a mean latency of several drives would be of none of them.
fn total_panes(lines: &Lines, drives: &[RecordedDrive]) -> Vec<Pane> {
    let own: Vec<&str> = drives.iter().filter(|drive| drive.kind == "disk").map(|drive| drive.name.as_str()).collect();
    let of = |line: Line, quantity: Quantity| -> Vec<Series> {
        let points = lines.together(line, &own);
        let dots = few(&points);
        vec![Series { dots, ..Series::line(say!("all drives", "все накопители"), quantity, points) }]
    };
    let (iops, bytes) = (of(Line::Iops, Quantity::Iops), of(Line::Throughput, Quantity::Throughput));
    let label = say!("throughput, MB/s", "пропускная способность, МБ/с");
    vec![
        Pane::lines(from_zero(Say::same("IOPS"), Unit::Plain, &iops), iops),
        Pane::lines(from_zero(label, Unit::BytesPerSecond, &bytes), bytes),
    ]
}

/// The kernel counts in ms: a step of a few fast I/Os shows as zero, which a logarithmic axis does not have.
fn seen(mut points: Vec<Point>) -> Vec<Point> {
    points.retain(|point| point.y != Some(0.0));
    for point in &mut points {
        point.envelope =
            point.envelope.map(|(low, high)| (if low > 0.0 { low } else { point.y.unwrap_or(high) }, high));
    }
    points
}

fn host_panes(lines: &Lines) -> Vec<Pane> {
    let of = |line: Line, name: Say, quantity: Quantity, variant: u8| {
        let points = lines.points((line, ""));
        let dots = few(&points);
        Series { variant, dots, ..Series::line(name, quantity, points) }
    };
    let cpu = vec![
        of(Line::CpuBusy, say!("busy", "заняты"), Quantity::Cpu, 0),
        of(Line::CpuSteal, say!("taken by the hypervisor", "отняты гипервизором"), Quantity::Cpu, 1),
    ];
    let stalls = vec![
        of(Line::CpuSome, say!("waits for a CPU", "ждали процессор"), Quantity::Cpu, 0),
        of(Line::IoSome, say!("waits for I/O", "ждали ввод-вывод"), Quantity::Iops, 1),
        of(Line::MemorySome, say!("waits for memory", "ждали память"), Quantity::Memory, 2),
    ];
    let memory = vec![of(Line::MemoryUsed, say!("in use", "занято"), Quantity::Memory, 0)];
    let network = vec![
        of(Line::Received, say!("received", "принято"), Quantity::Throughput, 0),
        of(Line::Sent, say!("sent", "отправлено"), Quantity::Throughput, 1),
    ];
    let share = |label: Say| Axis::new(label, Scale::Linear, Unit::Share, 0.0, 1.0);
    vec![
        Pane::lines(share(say!("share of all CPUs", "доля всех процессоров")), cpu),
        Pane::lines(share(say!("share of time some task waited", "доля времени, когда кто-то ждал")), stalls),
        Pane::lines(from_zero(say!("memory in use", "занятая память"), Unit::Bytes, &memory), memory),
        Pane::lines(from_zero(say!("network, MB/s", "сеть, МБ/с"), Unit::BytesPerSecond, &network), network),
    ]
}

/// The hottest drives, as many as a pane can show.
fn warm(temperatures: &Temperatures, from: Nanos) -> Option<Pane> {
    let celsius = |milli: i64| milli as f64 / 1e3;
    let most = |of: &[(Nanos, i64)]| of.iter().map(|(_, milli)| *milli).max();
    let mut drives: Vec<Drive> = temperatures.iter().collect();
    drives.sort_by_key(|(_, of)| std::cmp::Reverse(most(of)));
    drives.truncate(SERIES_MAX);
    let line = |(variant, (name, of)): (u8, &Drive)| {
        let point =
            |(at, milli): &(Nanos, i64)| Point { x: since(from, *at), y: Some(celsius(*milli)), envelope: None };
        let points = thin::line(vec![of.iter().map(point).collect()], Join::Largest);
        let dots = few(&points);
        Series { variant, dots, ..Series::line(Say::same(name.as_str()), Quantity::Temperature, points) }
    };
    let series: Vec<Series> = (0..).zip(&drives).map(line).collect();
    let low = values(&series).reduce(f64::min)?;
    let high = values(&series).fold(low, f64::max);
    let label = say!("temperature, °C", "температура, °C");
    Some(Pane::lines(Axis::new(label, Scale::Linear, Unit::Plain, (low - ROOM).floor(), (high + ROOM).ceil()), series))
}

/// The busiest drive in one sentence.
fn of_drives(shown: &[&RecordedDrive]) -> Say {
    let Some(drive) = shown.iter().max_by(|a, b| a.busy.mean.total_cmp(&b.busy.mean)) else {
        return say!("No drive did any I/O.", "Ни один накопитель не работал.");
    };
    Say::both(|lang| {
        let (name, iops) = (&drive.name, format::iops(drive.iops.mean, lang));
        let busy = format::percent(drive.busy.mean, lang);
        say_in!(
            lang,
            "Busiest: {name}, {iops} IOPS on average, with I/O {busy} of the time.",
            "Больше всех занят {name}: в среднем {iops} IOPS, операции шли {busy} времени."
        )
    })
}

fn of_host(lines: &Lines) -> Say {
    let Some(busy) = lines.spread((Line::CpuBusy, "")) else {
        return say!("CPUs were not observed.", "Процессоры не наблюдались.");
    };
    Say::both(|lang| {
        let (mean, most) = (format::percent(busy.mean, lang), format::percent(busy.max, lang));
        say_in!(
            lang,
            "CPUs busy {mean} on average, {most} at most.",
            "Процессоры заняты в среднем на {mean}, самое большее на {most}."
        )
    })
}
