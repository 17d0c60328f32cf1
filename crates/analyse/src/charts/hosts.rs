//! The rate of each load host over time: a line for each of few, a heat map of many.

use super::thin::{self, Join};
use super::{SERIES_MAX, few, from_zero, since, time_axis, time_series, tint, values};
use crate::chart::{Axis, Chart, Field, Mark, Pane, Point, Quantity, Scale, Series, Unit};
use crate::findings::Headline;
use crate::series::{self, Cell, INTERVAL, INTERVALS_MAX};
use crate::trials::CaseTrials;
use stend_base::{Nanos, Say, format, say, say_in};
use stend_record::{HostId, RunRecord, TrialRecord};
use stend_spec::workload::Op;

/// Most hosts that have lines, in panes of six.
const LINES_MAX: usize = 12;
/// Most columns of the heat map: at half a page each is still 3 pixels wide.
const COLUMNS_MAX: usize = 120;
/// Most names beside the heat map that can be read (by eye).
const NAMES_MAX: usize = 24;

/// The chart; `None` where one host made the case, or nothing was recorded. Hosts that rest meanwhile are not in it.
pub fn chart(run: &RunRecord, case: &CaseTrials<'_>, headline: Headline, run_start: Nanos) -> Option<Chart> {
    let took_part = |host: &HostId| case.all.iter().any(|trial| trial.parts.iter().any(|part| part.host == *host));
    let mut hosts = run.several_loads();
    hosts.retain(|(host, _)| took_part(host));
    let mut trials = case.all.clone();
    trials.sort_by_key(|trial| series::load_start(trial));
    if hosts.len() < 2 || trials.iter().all(|trial| trial.slices.is_empty()) {
        return None;
    }
    let rates: Vec<Vec<Vec<Point>>> = hosts
        .iter()
        .map(|(host, _)| trials.iter().map(|trial| stretch(trial, *host, headline, run_start)).collect())
        .collect();
    let names: Vec<&str> = hosts.iter().map(|(_, name)| *name).collect();
    let bounds = |trial: &&TrialRecord| {
        let start = series::load_start(trial);
        (since(run_start, start), since(run_start, start + time_series::shown(trial)))
    };
    let (from, to) = trials
        .iter()
        .map(bounds)
        .fold((f64::INFINITY, 0.0f64), |(low, high), (from, to)| (low.min(from), high.max(to)));
    let panes = match hosts.len() <= LINES_MAX {
        true => lines(&names, rates, headline),
        false => map(&names, &rates, headline),
    };
    let many = hosts.len();
    (!panes.is_empty()).then(|| Chart {
        id: format!("case-{}-hosts", case.case),
        title: match headline {
            Headline::Iops => say!("IOPS of each load host over time", "IOPS каждой нагружающей машины по времени"),
            Headline::Throughput => say!(
                "Throughput of each load host over time",
                "Пропускная способность каждой нагружающей машины по времени"
            ),
        },
        summary: summary(many, &panes, headline),
        x: time_axis(from, to),
        panes,
        bands: time_series::bands(&trials, run_start),
        events: Vec::new(),
    })
}

/// Rate of a host per interval of a trial, all I/Os but syncs; zero where it stalled.
fn stretch(trial: &TrialRecord, host: HostId, headline: Headline, run_start: Nanos) -> Vec<Point> {
    let parts = trial.by_host();
    let Some((_, slices, outcome)) = parts.iter().find(|(id, ..)| *id == host) else { return Vec::new() };
    let mut cells = series::cells(slices, |slice| slice.op != Op::Sync);
    // Nothing more is known of a lost host; one that ended has done nothing since.
    if outcome.is_some() {
        let shown = time_series::shown(trial).0 / INTERVAL.0;
        cells.resize(shown.min(INTERVALS_MAX as u64) as usize, Cell::default());
    }
    let start = outcome.map_or(series::load_start(trial), |outcome| outcome.load_start);
    let value = |cell: &Cell| match headline {
        Headline::Iops => cell.ops / INTERVAL.as_secs(),
        Headline::Throughput => cell.bytes / INTERVAL.as_secs(),
    };
    let x = |index: usize| since(run_start, start) + (index as f64 + 0.5) * INTERVAL.as_secs();
    cells.iter().enumerate().map(|(i, cell)| Point { x: x(i), y: Some(value(cell)), envelope: None }).collect()
}

fn axis_of(headline: Headline) -> (Say, Unit, Quantity) {
    match headline {
        Headline::Iops => (Say::same("IOPS"), Unit::Plain, Quantity::Iops),
        Headline::Throughput => {
            (say!("throughput, MB/s", "пропускная способность, МБ/с"), Unit::BytesPerSecond, Quantity::Throughput)
        }
    }
}

/// A line for each host; panes have the same scale, so that hosts can be held against each other.
fn lines(names: &[&str], rates: Vec<Vec<Vec<Point>>>, headline: Headline) -> Vec<Pane> {
    let (label, unit, quantity) = axis_of(headline);
    let line = |(at, (name, stretches)): (usize, (&&str, Vec<Vec<Point>>))| {
        let points = thin::line(stretches, Join::Mean);
        let variant = (at % SERIES_MAX) as u8;
        let (dots, name) = (few(&points), Say::same(*name));
        Series { variant, dots, ..Series::line(name, quantity, points) }
    };
    let all: Vec<Series> = names.iter().zip(rates).enumerate().map(line).collect();
    let y = from_zero(label, unit, &all);
    all.chunks(SERIES_MAX).map(|part| Pane::lines(y.clone(), part.to_vec())).collect()
}

/// A row for each host, the first on top; each cell is a mean.
fn map(names: &[&str], rates: &[Vec<Vec<Point>>], headline: Headline) -> Vec<Pane> {
    let (label, unit, quantity) = axis_of(headline);
    let times: Vec<f64> = {
        let mut times: Vec<f64> = rates.iter().flatten().flatten().map(|point| point.x.floor()).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    };
    let group = times.len().div_ceil(COLUMNS_MAX).max(1);
    let columns: Vec<(f64, f64)> =
        times.chunks(group).filter_map(|part| Some((*part.first()?, part.last()? + 1.0))).collect();
    let mut cells = Vec::new();
    for (host, stretches) in rates.iter().enumerate() {
        let row = (names.len() - 1 - host) as u16;
        let mut sums = vec![(0.0, 0u32); columns.len()];
        for point in stretches.iter().flatten() {
            let at = columns.partition_point(|(from, _)| *from <= point.x).saturating_sub(1);
            if let (Some(sum), Some(y)) = (sums.get_mut(at), point.y) {
                *sum = (sum.0 + y, sum.1 + 1);
            }
        }
        let known = (0u16..).zip(sums).filter(|(_, (_, count))| *count > 0);
        cells.extend(known.map(|(column, (sum, count))| crate::chart::Cell {
            column,
            row,
            value: sum / f64::from(count),
        }));
    }
    if cells.is_empty() {
        return Vec::new();
    }
    let least = cells.iter().map(|cell| cell.value).fold(f64::INFINITY, f64::min);
    let largest = cells.iter().map(|cell| cell.value).fold(0.0, f64::max);
    let every = names.len().div_ceil(NAMES_MAX);
    let name = |(at, name): (usize, &&str)| Mark {
        at: (names.len() - 1 - at) as f64 + 0.5,
        name: Say::same(*name),
        detail: Say::same(""),
    };
    let shown = names.iter().enumerate().filter(|(at, _)| at % every == 0).map(name).collect();
    let hosts = say!("load hosts", "нагружающие машины");
    let y = Axis { names: shown, ..Axis::new(hosts, Scale::Linear, Unit::Plain, 0.0, names.len() as f64) };
    let rows = (0..names.len()).map(|row| (row as f64, row as f64 + 1.0)).collect();
    let steps = tint::equal(least, largest);
    let field =
        Field { name: label, quantity, unit, columns, rows, cells, steps, largest, numbers: false, margin: Vec::new() };
    vec![Pane { y, series: Vec::new(), field: Some(field) }]
}

fn summary(hosts: usize, panes: &[Pane], headline: Headline) -> Say {
    let drawn = || {
        let fields = panes.iter().filter_map(|pane| pane.field.as_ref()).flat_map(|field| &field.cells);
        panes.iter().flat_map(|pane| values(&pane.series)).chain(fields.map(|cell| cell.value))
    };
    let (low, high) = (drawn().fold(f64::INFINITY, f64::min), drawn().fold(0.0, f64::max));
    Say::both(|l| {
        let value = |v: f64| match headline {
            Headline::Throughput => format::throughput(v, l),
            Headline::Iops => format!("{} IOPS", format::iops(v, l)),
        };
        let low = value(low);
        let high = value(high);
        match hosts <= LINES_MAX {
            true => say_in!(
                l,
                "Load hosts: {hosts}, a line for each; the values drawn lie between {low} and {high}.",
                "Нагружающих машин: {hosts}, у каждой своя линия; показанные значения — от {low} до {high}."
            ),
            false => say_in!(
                l,
                "Load hosts: {hosts}, a row for each; cells are means of at least a second and lie between {low} and {high}.",
                "Нагружающих машин: {hosts}, у каждой своя строка; клетка — среднее не менее чем за секунду, значения от {low} до {high}."
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{run, several};
    use crate::trials::by_case;

    fn of(hosts: usize) -> Option<Chart> {
        let one = |host: usize| {
            let slow = if host == 1 { 0.5 } else { 1.0 };
            (format!("h{host}"), run().trial(0).iops(1000.0 * slow).done().trial(0).iops(1000.0 * slow).done().record())
        };
        let record = several((0..hosts).map(one).collect());
        chart(&record, &by_case(&record)[0], Headline::Iops, Nanos::secs(99))
    }

    #[test]
    fn few_hosts_have_a_line_each_in_panes_of_six_with_one_scale() {
        assert!(of(1).is_none());
        let two = of(2).unwrap();
        let names: Vec<&str> = two.panes[0].series.iter().map(|line| line.name.en.as_str()).collect();
        assert_eq!((two.panes.len(), names), (1, vec!["h0", "h1"]));
        let most = |line: &Series| line.points.iter().filter_map(|point| point.y).fold(0.0, f64::max);
        assert_eq!((most(&two.panes[0].series[0]), most(&two.panes[0].series[1])), (1000.0, 500.0));
        let twelve = of(12).unwrap();
        assert_eq!(twelve.panes.iter().map(|pane| pane.series.len()).collect::<Vec<_>>(), [6, 6]);
        assert_eq!(twelve.panes[0].y, twelve.panes[1].y);
    }

    #[test]
    fn more_than_twelve_hosts_are_rows_of_a_heat_map_with_the_first_on_top() {
        let chart = of(30).unwrap();
        let field = chart.panes[0].field.as_ref().unwrap();
        assert_eq!((chart.panes.len(), field.rows.len()), (1, 30));
        let slow: Vec<u16> = field.cells.iter().filter(|cell| cell.value < 600.0).map(|cell| cell.row).collect();
        assert!(!slow.is_empty() && slow.iter().all(|row| *row == 28), "{slow:?}");
        assert!(chart.panes[0].y.names.len() <= NAMES_MAX);
        assert_eq!(chart.panes[0].y.names[0].name.en, "h0");
    }
}
