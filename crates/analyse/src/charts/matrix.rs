//! Two parameters at once: a number and a tint for each pair of their values.

use super::family::{Family, Kind, Member, Parameter};
use super::{caps, tint};
use crate::chart::{Axis, Cell, Chart, Field, Mark, Pane, Quantity, Scale, Unit};
use crate::findings::{CaseFinding, Headline, OpFinding, QuantileValue};
use crate::phrase::op as op_name;
use stend_base::{Say, say, say_in};

/// Most values of a parameter: more columns would not hold their numbers.
const SIDE_MAX: usize = 16;
/// Most matrices of a run; the sweeps show the rest.
const CHARTS_MAX: usize = 12;
/// Index of p99 in the quantiles of an operation.
const P99: usize = 1;

/// Matrices of every family with two or more parameters; one for each value of a third.
pub fn charts(families: &[Family<'_>]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (number, family) in families.iter().enumerate().filter(|(_, f)| f.parameters.len() > 1) {
        let (across, up) = sides(&family.parameters);
        for (part, (name, members)) in family.lines(&[across, up]).into_iter().enumerate() {
            charts.extend(chart(format!("matrix-{number}-{part}"), family, (across, up), &name, &members));
        }
    }
    let more = caps::cut(&mut charts, CHARTS_MAX);
    if let Some(last) = charts.last_mut() {
        last.summary = caps::left_out(last.summary.clone(), &say!("Matrices", "Матрицы"), more);
    }
    charts
}

/// The parameters that go across and up: queue depth and jobs where both vary.
fn sides(parameters: &[Parameter]) -> (usize, usize) {
    let first = |kind: Kind| parameters.iter().position(|p| p.kind == kind);
    match (first(Kind::QueueDepth), first(Kind::Jobs)) {
        (Some(depth), Some(jobs)) => (depth, jobs),
        _ => (0, 1),
    }
}

fn chart(
    id: String,
    family: &Family<'_>,
    (across, up): (usize, usize),
    line: &Say,
    members: &[&Member],
) -> Option<Chart> {
    let side = |index: usize| {
        let mut values: Vec<u64> = members.iter().map(|m| m.values[index]).collect();
        values.sort_unstable();
        values.dedup();
        let more = caps::cut(&mut values, SIDE_MAX);
        (values, more)
    };
    let ((columns, more_columns), (rows, more_rows)) = (side(across), side(up));
    if columns.len() < 2 || rows.len() < 2 {
        return None;
    }
    let cells = |of: &dyn Fn(&CaseFinding) -> Option<f64>| -> Vec<Cell> {
        let cell = |m: &&Member| {
            let column = columns.iter().position(|v| *v == m.values[across])? as u16;
            let row = rows.iter().position(|v| *v == m.values[up])? as u16;
            Some(Cell { column, row, value: of(m.case).filter(|v| v.is_finite())? })
        };
        members.iter().filter_map(cell).collect()
    };
    let rates = match members.first()?.case.headline {
        Headline::Iops => (Say::same("IOPS"), Quantity::Iops, Unit::Plain, cells(&|c| Some(c.total.iops.value))),
        Headline::Throughput => {
            let name = say!("throughput, MB/s", "пропускная способность, МБ/с");
            (name, Quantity::Throughput, Unit::BytesPerSecond, cells(&|c| Some(c.total.throughput.value)))
        }
    };
    let op = members.first()?.case.ops.iter().max_by_key(|op| op.count)?;
    let (op_en, op_ru) = (op_name(op.op).en, op_name(op.op).ru);
    let p99_name = say!("p99 latency, {op_en}", "задержка p99, {op_ru}");
    let p99 = (p99_name, Quantity::Latency, Unit::LatencyNs, cells(&|c| p99(c, op)));
    let y = |name: &Say| axis(&family.parameters[up], &rows, name);
    let panes: Vec<Pane> = [rates, p99]
        .into_iter()
        .filter(|(_, _, _, cells)| !cells.is_empty())
        .map(|(name, quantity, unit, cells)| Pane {
            y: y(&name),
            series: Vec::new(),
            field: Some(field(name, quantity, unit, (columns.len(), rows.len()), cells)),
        })
        .collect();
    let title = if line.en.is_empty() {
        Say::same(&family.name)
    } else {
        Say::both(|l| format!("{}, {}", family.name, line.get(l)))
    };
    Some(Chart {
        id,
        summary: caps::left_out(
            summary(family, &family.parameters[across], &family.parameters[up]),
            &say!("Columns and rows", "Столбцы и строки"),
            more_columns + more_rows,
        ),
        title,
        x: axis(&family.parameters[across], &columns, &Say::same("")),
        panes,
        bands: Vec::new(),
        events: Vec::new(),
    })
}

fn p99(case: &CaseFinding, of: &OpFinding) -> Option<f64> {
    let op = case.ops.iter().find(|o| (o.stream, o.op) == (of.stream, of.op))?;
    match op.quantiles.get(P99)?.value {
        QuantileValue::At(value) => Some(value.0 as f64),
        _ => None,
    }
}

/// An axis with a place for each value; `of` says what the cells along it hold.
fn axis(parameter: &Parameter, values: &[u64], of: &Say) -> Axis {
    let name = |(i, v): (usize, &u64)| Mark { at: i as f64 + 0.5, name: parameter.value(*v), detail: Say::same("") };
    let names = values.iter().enumerate().map(name).collect();
    let label = Say::both(|l| match of.get(l) {
        "" => parameter.name().get(l).to_string(),
        of => format!("{of} {} {}", l.pick("by", "по оси:"), parameter.name().get(l)),
    });
    Axis { names, ..Axis::new(label, Scale::Linear, Unit::Plain, 0.0, values.len() as f64) }
}

fn field(name: Say, quantity: Quantity, unit: Unit, (columns, rows): (usize, usize), cells: Vec<Cell>) -> Field {
    let least = cells.iter().map(|c| c.value).fold(f64::INFINITY, f64::min);
    let largest = cells.iter().map(|c| c.value).fold(f64::NEG_INFINITY, f64::max);
    let places = |n: usize| (0..n).map(|i| (i as f64, i as f64 + 1.0)).collect();
    Field {
        name,
        quantity,
        unit,
        columns: places(columns),
        rows: places(rows),
        cells,
        steps: tint::equal(least, largest),
        largest,
        numbers: true,
        margin: Vec::new(),
    }
}

fn summary(family: &Family<'_>, across: &Parameter, up: &Parameter) -> Say {
    let missing = family.missing();
    Say::both(|l| {
        let (across, up) = (across.name(), up.name());
        say_in!(
            l,
            "Each cell is one case: {across} to the right, {up} upwards. An empty cell was not measured.",
            "Клетка — один случай: вправо {across}, вверх {up}. Пустая клетка не измерена.",
            across = across.get(l),
            up = up.get(l)
        ) + missing.get(l)
    })
}
