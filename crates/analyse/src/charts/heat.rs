//! Latency heat maps: every I/O of a case by the second in which it completed and by how long it took.

use super::{since, time_axis, time_series, tint};
use crate::chart::{Axis, Cell, Chart, Field, Pane, Point, Quantity, Scale, Series, Unit};
use crate::phrase::op as op_name;
use crate::series;
use crate::trials::CaseTrials;
use std::collections::BTreeMap;
use stend_base::histogram::Sparse;
use stend_base::{Histogram, Nanos, Say, Share, format, say, say_in};
use stend_record::TrialRecord;
use stend_spec::workload::Op;

/// Most columns: at half a page each is still 3 pixels wide.
const COLUMNS_MAX: usize = 120;
/// Rows per decade at the finest: each is 12 % higher than the one below.
const ROWS_PER_DECADE: f64 = 20.0;
/// Most rows: 4 pixels each.
const ROWS_MAX: i32 = 40;
/// Fewest rows an axis is long: half a decade, or a steady device would fill the pane with one bar.
const ROWS_SHOWN: f64 = 10.0;

/// One pane for each kind of I/O. `None` without histograms.
pub fn chart(case: &CaseTrials<'_>, run_start: Nanos) -> Option<Chart> {
    let mut trials = case.all.clone();
    trials.sort_by_key(|trial| series::load_start(trial));
    let found: Vec<(Op, Vec<Column>)> = Op::IO
        .into_iter()
        .map(|op| (op, columns(&trials, op, run_start)))
        .filter(|(_, columns)| !columns.is_empty())
        .collect();
    let all = || found.iter().flat_map(|(_, columns)| columns);
    let from = all().map(|c| c.from).fold(f64::INFINITY, f64::min);
    let to = all().map(|c| c.to).fold(0.0, f64::max);
    let summary = summary(&found);
    let panes: Vec<Pane> = found.into_iter().filter_map(|(op, columns)| pane(op, &columns)).collect();
    (!panes.is_empty()).then(|| Chart {
        id: format!("case-{}-heat", case.case),
        title: say!("Latency of every I/O over time", "Задержка каждой операции по времени"),
        summary,
        x: time_axis(from, to),
        panes,
        bands: time_series::bands(&trials, run_start),
        events: Vec::new(),
    })
}

/// Latencies of one or more seconds.
struct Column {
    from: f64,
    to: f64,
    /// I/Os by row of the finest grid; row `r` begins at 10^(r / 20) ns.
    rows: BTreeMap<i32, u64>,
    p99: Option<Nanos>,
}

/// Seconds of the trials, several to a column where there are too many. Columns of different trials
/// stay apart unless there are more trials than columns.
fn columns(trials: &[&TrialRecord], op: Op, run_start: Nanos) -> Vec<Column> {
    let seconds: f64 = trials.iter().map(|trial| time_series::shown(trial).as_secs().ceil()).sum();
    let apart = trials.len() <= COLUMNS_MAX / 2;
    // Each trial may end with a column that is not full.
    let room = if apart { COLUMNS_MAX - trials.len() } else { COLUMNS_MAX };
    let mut gather = Gather { group: (seconds / room as f64).ceil().max(1.0) as u32, ..Gather::default() };
    for trial in trials {
        let start = since(run_start, series::load_start(trial));
        let end = time_series::shown(trial).as_secs();
        for (second, latencies) in series::by_second(&trial.slices, op) {
            let second = second as f64;
            if second < end {
                gather.add(start + second, start + (second + 1.0).min(end), &latencies);
            }
        }
        if apart {
            gather.close();
        }
    }
    gather.close();
    // Trials of a damaged record may overlap; of any other they are in order already.
    gather.columns.sort_by(|a, b| (a.from + a.to).total_cmp(&(b.from + b.to)));
    gather.columns
}

/// Columns being made.
#[derive(Default)]
struct Gather {
    columns: Vec<Column>,
    /// Seconds per column.
    group: u32,
    /// Seconds in the column that is open.
    seconds: u32,
    span: Option<(f64, f64)>,
    histogram: Histogram,
}

impl Gather {
    fn add(&mut self, from: f64, to: f64, latencies: &[&Sparse]) {
        if self.seconds >= self.group {
            self.close();
        }
        self.span = Some(self.span.map_or((from, to), |(first, last)| (first.min(from), last.max(to))));
        // Adds without overflow, whatever a damaged file holds.
        latencies.iter().for_each(|part| self.histogram.merge_sparse(part));
        self.seconds += 1;
    }

    fn close(&mut self) {
        let Some((from, to)) = self.span.take() else { return };
        let mut rows = BTreeMap::new();
        for (low, high, count) in self.histogram.buckets() {
            let middle = low.0 as f64 + (high.0 - low.0) as f64 / 2.0;
            let sum: &mut u64 = rows.entry((middle.max(1.0).log10() * ROWS_PER_DECADE).floor() as i32).or_default();
            *sum = sum.saturating_add(count);
        }
        if !rows.is_empty() {
            self.columns.push(Column { from, to, rows, p99: self.histogram.quantile(Share(0.99)) });
        }
        self.histogram.clear();
        self.seconds = 0;
    }
}

fn pane(op: Op, columns: &[Column]) -> Option<Pane> {
    let rows = || columns.iter().flat_map(|c| c.rows.keys().copied());
    let (first, last) = (rows().min()?, rows().max()?);
    let coarse = (last - first + 1).div_euclid(ROWS_MAX) + i32::from((last - first + 1) % ROWS_MAX > 0);
    let count = (last - first) / coarse + 1;
    let edge = |row: f64| 10f64.powf(row / ROWS_PER_DECADE);
    let mut cells: BTreeMap<(u16, u16), f64> = BTreeMap::new();
    let mut margin = vec![0.0; count as usize];
    for (column, at) in columns.iter().zip(0u16..) {
        for (row, n) in &column.rows {
            let row = (row - first) / coarse;
            *cells.entry((at, row as u16)).or_default() += *n as f64;
            margin[row as usize] += *n as f64;
        }
    }
    let largest = cells.values().copied().fold(0.0, f64::max);
    let label = Say::both(|l| format!("{}{}", op_name(op).get(l), l.pick(" latency", ", задержка")));
    let name = Say::both(|l| l.pick("I/Os per cell", "операций в клетке").into());
    let field = Field {
        name,
        quantity: Quantity::Latency,
        unit: Unit::Plain,
        columns: columns.iter().map(|c| (c.from, c.to)).collect(),
        rows: (0..count)
            .map(|r| f64::from(first + r * coarse))
            .map(|r| (edge(r), edge(r + f64::from(coarse))))
            .collect(),
        cells: cells.into_iter().map(|((column, row), value)| Cell { column, row, value }).collect(),
        steps: tint::by_root(largest),
        largest,
        numbers: false,
        margin,
    };
    let (bottom, top) = (f64::from(first), f64::from(first + count * coarse));
    let pad = ((ROWS_SHOWN - (top - bottom)) / 2.0).max(0.0);
    let y = Axis::new(label, Scale::Log, Unit::LatencyNs, edge(bottom - pad), edge(top + pad));
    Some(Pane { y, series: vec![p99(columns)], field: Some(field) })
}

fn p99(columns: &[Column]) -> Series {
    let point = |c: &Column| {
        let y = c.p99.map(|v| v.0.max(1) as f64);
        Point { x: (c.from + c.to) / 2.0, y, envelope: None }
    };
    let points = columns.iter().map(point).collect();
    Series::line(Say::same("p99"), Quantity::Latency, points)
}

/// Where most I/Os lie, and how far the 99th percentile of a column moved.
fn summary(found: &[(Op, Vec<Column>)]) -> Say {
    Say::both(|l| {
        let line = |(op, columns): &(Op, Vec<Column>)| {
            let p99 = || columns.iter().filter_map(|c| c.p99);
            let low = format::latency(p99().min().unwrap_or_default(), l);
            let high = format::latency(p99().max().unwrap_or_default(), l);
            say_in!(l, "{op}: p99 between {low} and {high}", "{op}: p99 от {low} до {high}", op = op_name(*op).get(l))
        };
        let lines: Vec<String> = found.iter().map(line).collect();
        let end = l.pick(
            "The stronger the colour of a cell, the more I/Os completed there; bars at the right add up the rows.",
            "Чем гуще цвет клетки, тем больше в ней операций; полосы справа — суммы по строкам.",
        );
        format!("{}. {end}", lines.join("; "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run, run_of};
    use crate::trials::by_case;
    use stend_record::{RunRecord, Slice};
    use stend_spec::workload::Sync;

    fn heat(record: &RunRecord) -> Option<Chart> {
        chart(&by_case(record)[0], Nanos::secs(99))
    }

    fn field(chart: &Chart) -> &Field {
        chart.panes[0].field.as_ref().unwrap()
    }

    fn count(field: &Field) -> f64 {
        field.cells.iter().map(|c| c.value).sum()
    }

    #[test]
    fn every_io_is_in_one_cell_and_in_the_bars_beside_it() {
        let record = run().trial(0).done().trial(0).done().record();
        let chart = heat(&record).unwrap();
        let field = field(&chart);
        let recorded: u64 =
            record.trials.iter().flat_map(|t| &t.slices).filter_map(|s| s.latency.as_ref()).map(|h| h.count()).sum();
        assert_eq!((count(field), field.margin.iter().sum::<f64>()), (recorded as f64, recorded as f64));
        assert!(field.steps.first() == Some(&1.0) && field.steps.len() <= 8);
    }

    #[test]
    fn a_mix_has_a_pane_for_each_operation_and_syncs_have_none() {
        let mix = heat(&run_of(vec![case("mix", 70, 32, Sync::None)]).trial(0).done().record()).unwrap();
        assert_eq!(mix.panes.len(), 2);
        let durable = heat(&run_of(vec![case("d", 0, 1, Sync::Fdatasync(1))]).trial(0).done().record()).unwrap();
        assert_eq!(durable.panes.len(), 1);
    }

    /// A slice at the end of a second with one latency.
    fn second(second: u32, ns: u64) -> Slice {
        let mut histogram = Histogram::new();
        histogram.record(Nanos(ns));
        Slice { latency: Some(histogram.sparse()), ..crate::fixture::slice(second * 10 + 9, Op::Read, 1) }
    }

    #[test]
    fn hours_of_seconds_become_few_columns_and_no_io_is_lost() {
        let mut record = run().trial(0).unfinished().record();
        record.trials[0].slices = (0..36_000).map(|s| second(s, 1 << (s % 40))).collect();
        let chart = heat(&record).unwrap();
        let field = field(&chart);
        assert!(field.columns.len() <= COLUMNS_MAX && field.rows.len() <= ROWS_MAX as usize);
        assert_eq!(count(field), 36_000.0);
    }

    #[test]
    fn a_single_second_with_a_single_io_has_a_map_of_one_cell_and_a_readable_axis() {
        let mut record = run().trial(0).unfinished().record();
        record.trials[0].slices = vec![second(0, 100_000)];
        let chart = heat(&record).unwrap();
        let (field, y) = (field(&chart), &chart.panes[0].y);
        assert_eq!((field.cells.len(), field.columns.len(), field.rows.len()), (1, 1, 1));
        assert!(y.to / y.from > 3.0 && (y.from..y.to).contains(&1e5));
    }

    #[test]
    fn more_trials_than_columns_share_columns() {
        let mut builder = run();
        for _ in 0..150 {
            builder = builder.trial(0).window(Nanos::millis(600)).done();
        }
        let chart = heat(&builder.record()).unwrap();
        assert!(field(&chart).columns.len() <= COLUMNS_MAX);
    }

    #[test]
    fn nothing_timed_draws_no_map() {
        assert!(heat(&run().trial(0).change(|_, slices| slices.clear()).done().record()).is_none());
    }
}
