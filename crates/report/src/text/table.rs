//! The table of cases on a terminal. Where it does not fit, each case becomes a few lines of its own.

use super::Screen;
use super::layout::{at_most, left, right, width, wrap};
use crate::figures::{self, LatencyUnit, NONE};
use crate::{rates, words};
use stend_analyse::findings::{CaseFinding, CheckStatus, OpFinding, Quantile, QuantileValue};
use stend_base::{Lang, Nanos, Say, Share, say};
use stend_spec::workload::Op;

/// A label column narrower than this reads worse than one case below the other.
const LABEL_MIN: usize = 14;
/// Lines that a label may take.
const LABEL_LINES: usize = 3;
const GAP: &str = "  ";
/// Results of checks that the table counts, worst first.
const SHOWN: [CheckStatus; 3] = [CheckStatus::Fail, CheckStatus::Warn, CheckStatus::NotMeasurable];
const QUANTILES: [Share; 3] = [Share(0.5), Share(0.99), Share(0.999)];

/// Most axes that have columns of their own.
const AXES_MAX: usize = 2;

/// One line of the table, as texts.
struct Row {
    label: String,
    /// The label without what columns of axes say.
    name: String,
    /// Values of the axes that have columns.
    axes: Vec<String>,
    /// Case of its own, not one of its operations.
    case: bool,
    /// Rate, ±, p50, p99, p99.9, max, checks.
    cells: [String; 7],
    /// Below rate and ± the other rate and its ±: in rows of a mix.
    below: Option<[String; 2]>,
}

impl Row {
    /// One that belongs to the case above it.
    fn below(label: String, cells: [String; 7]) -> Row {
        Row { name: label.clone(), label, axes: Vec::new(), case: false, cells, below: None }
    }

    /// Columns that its cell number `i` takes.
    fn width(&self, i: usize) -> usize {
        let below = self.below.as_ref().and_then(|below| below.get(i)).map_or(0, |text| width(text));
        below.max(width(&self.cells[i]))
    }
}

/// How much the table says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Only checks that speak against a number, one rate for a mix, and no row for syncs that writes wait for anyway.
    Brief,
    /// Everything that it counts.
    Full,
}

impl Detail {
    /// Results of checks that are counted, worst first.
    fn shown(self) -> &'static [CheckStatus] {
        match self {
            Detail::Brief => &SHOWN[..2],
            Detail::Full => &SHOWN,
        }
    }
}

/// The table, and what its signs mean.
pub fn table(cases: &[CaseFinding], detail: Detail, screen: &Screen) -> String {
    if cases.is_empty() {
        let nothing = say!("No trial of any case completed.", "Ни одно испытание ни одного случая не завершилось.");
        return super::paragraph("", nothing.get(screen.lang), screen.width);
    }
    let unit = LatencyUnit::for_cases(cases);
    let axes = axes(cases);
    let rows: Vec<Row> = cases.iter().flat_map(|case| rows(case, &axes, (unit, detail), screen)).collect();
    let named = heads(screen);
    let unit_name = unit.name();
    let unit = unit_name.get(screen.lang);
    let in_columns = |heads: &[String; 7]| {
        let widths: [usize; 7] =
            std::array::from_fn(|i| rows.iter().map(|r| r.width(i)).chain([width(&heads[i])]).max().unwrap_or(0));
        let columns: usize = widths.iter().map(|w| w + GAP.len()).sum();
        let firsts = [Firsts::with_axes(&rows, &axes, screen), Firsts::of_labels(&rows, screen, columns)];
        let fits = |firsts: &Firsts| firsts.width() + columns <= screen.width && firsts.is_readable();
        firsts.into_iter().find(fits).map(|firsts| wide(&rows, &firsts, heads, &widths, unit, screen))
    };
    // In brief the glyphs may do without their head: they are explained below the table.
    let mut bare = named.clone();
    if detail == Detail::Brief {
        bare[6].clear();
    }
    // A head that makes labels take more lines is worth less than they are.
    let lines = |drawn: &Option<String>| drawn.as_ref().map_or(usize::MAX, |text| text.lines().count());
    let [with_head, without] = [&named, &bare].map(in_columns);
    let drawn = if lines(&without) < lines(&with_head) { without } else { with_head };
    let mut out = drawn.unwrap_or_else(|| stacked(&rows, &named, unit, screen));
    out.push_str(&screen.faint(&signs(cases, detail, screen)));
    out
}

/// Names of the axes that get columns: those of all cases, if there are few.
fn axes(cases: &[CaseFinding]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in cases.iter().flat_map(|case| &case.axes) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    if names.len() > AXES_MAX { Vec::new() } else { names }
}

/// An axis as people call it at the head of a column.
fn axis_head<'a>(name: &'a str, screen: &Screen) -> &'a str {
    match (name, screen.lang) {
        ("queue_depth", _) => "QD",
        ("block_size", Lang::En) => "block",
        ("block_size", Lang::Ru) => "блок",
        ("jobs", Lang::Ru) => "потоки",
        ("rate", Lang::Ru) => "темп",
        (name, _) => name,
    }
}

/// What stands before the numbers: labels, or names and the values of axes.
struct Firsts<'a> {
    /// Widest label that there is, and how wide the column is.
    longest: usize,
    label: usize,
    /// Heads of the columns of axes, with their widths.
    axes: Vec<(&'a str, usize)>,
}

impl<'a> Firsts<'a> {
    fn with_axes(rows: &[Row], axes: &'a [String], screen: &Screen) -> Firsts<'a> {
        let longest = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0).max(width(case_head(screen)));
        let of = |(i, name): (usize, &'a String)| {
            let values = rows.iter().filter_map(|row| row.axes.get(i)).map(|value| width(value));
            let name = axis_head(name, screen);
            (name, values.chain([width(name)]).max().unwrap_or(0))
        };
        Firsts { longest, label: longest, axes: axes.iter().enumerate().map(of).collect() }
    }

    fn of_labels(rows: &[Row], screen: &Screen, columns: usize) -> Firsts<'a> {
        let longest = rows.iter().map(|row| width(&row.label)).max().unwrap_or(0);
        let label = longest.min(screen.width.saturating_sub(columns)).max(width(case_head(screen)));
        Firsts { longest, label, axes: Vec::new() }
    }

    fn width(&self) -> usize {
        self.label + self.axes.iter().map(|(_, width)| GAP.len() + width).sum::<usize>()
    }

    fn is_readable(&self) -> bool {
        self.label >= LABEL_MIN.min(self.longest)
    }

    /// The text of a row in its column.
    fn text<'r>(&self, row: &'r Row) -> &'r str {
        if self.axes.is_empty() { &row.label } else { &row.name }
    }

    /// A first column with this text, and the values of axes.
    fn line<'t>(&self, text: &str, values: impl Iterator<Item = &'t str>) -> String {
        let mut line = left(text, self.label);
        let values = values.chain(std::iter::repeat(""));
        for ((_, wide), value) in self.axes.iter().zip(values) {
            line.push_str(GAP);
            line.push_str(&right(value, *wide));
        }
        line
    }
}

/// What the signs that occur in the table mean.
fn signs(cases: &[CaseFinding], detail: Detail, screen: &Screen) -> String {
    let mut signs = Vec::new();
    for &status in &SHOWN {
        if cases.iter().any(|case| counts(case, detail).iter().any(|(shown, _)| *shown == status)) {
            let word = words::check(status).get(screen.lang).replace(' ', "\u{a0}");
            signs.push(format!("{}\u{a0}{word}", words::check_glyph(status)));
        }
    }
    let shown = || cases.iter().flat_map(move |case| only(case, detail).map_or(&case.ops[..], std::slice::from_ref));
    if shown().flat_map(|op| &op.quantiles).any(not_enough) {
        let note = say!("{NONE}\u{a0}not\u{a0}enough\u{a0}data", "{NONE}\u{a0}мало\u{a0}данных");
        signs.push(note.get(screen.lang).to_string());
    }
    if shown().any(|op| op.op == Op::Sync) {
        signs.push(
            say!("syncs are not counted in the result", "синхронизации в результат не входят")
                .get(screen.lang)
                .to_string(),
        );
    }
    if signs.is_empty() { String::new() } else { super::paragraph("", &signs.join(", "), screen.width) }
}

fn heads(screen: &Screen) -> [String; 7] {
    let words = [
        say!("result", "результат"),
        Say::same("± 95 %"),
        figures::quantile_name(QUANTILES[0]),
        figures::quantile_name(QUANTILES[1]),
        figures::quantile_name(QUANTILES[2]),
        say!("max", "макс."),
        say!("checks", "проверки"),
    ];
    words.map(|word| word.get(screen.lang).to_string())
}

fn case_head(screen: &Screen) -> &'static str {
    match screen.lang {
        Lang::En => "case",
        Lang::Ru => "случай",
    }
}

/// The operation that makes a case: its only one, or in brief its only one but for the syncs of which each write waits for its own.
fn only(case: &CaseFinding, detail: Detail) -> Option<&OpFinding> {
    match case.ops.as_slice() {
        [op] => Some(op),
        // At the edges of a window there may be one more or less.
        [op, sync] if sync.op == Op::Sync && sync.stream == op.stream && 4 * sync.count > 3 * op.count => {
            (detail == Detail::Brief).then_some(op)
        }
        _ => None,
    }
}

/// A case with one operation is one row; with several, a row for all and one for each.
fn rows(case: &CaseFinding, axes: &[String], (unit, detail): (LatencyUnit, Detail), screen: &Screen) -> Vec<Row> {
    let only = only(case, detail);
    let texts = |pair: &[Say; 2]| pair.each_ref().map(|say| say.get(screen.lang).to_string());
    let (total, of_ops) = rates::of_case(case);
    let [rate, spread] = texts(&total.first);
    let [p50, p99, p999, max] = only.map_or_else(Default::default, |op| latencies(op, unit, screen));
    let cells = [rate, spread, p50, p99, p999, max, checks(case, detail)];
    let other = |second: &Option<[Say; 2]>| second.as_ref().map(texts).filter(|_| detail == Detail::Full);
    let label = super::clean(&case.label);
    let said: String = case.axes.iter().map(|(axis, value)| format!(", {axis} {value}")).collect();
    let name = label.strip_suffix(&super::clean(&said)).unwrap_or(&label).to_string();
    let value = |axis: &String| case.axes.iter().find(|(name, _)| name == axis).map_or("", |(_, value)| value);
    let axes = axes.iter().map(|axis| super::clean(value(axis))).collect();
    let mut rows = vec![Row { label, name, axes, case: true, cells, below: other(&total.second) }];
    for (op, rates) in case.ops.iter().zip(&of_ops).filter(|_| only.is_none()) {
        let [rate, spread] = texts(&rates.first);
        let [p50, p99, p999, max] = latencies(op, unit, screen);
        let label = format!("  {}", figures::op_name(case, op).get(screen.lang));
        let cells = [rate, spread, p50, p99, p999, max, String::new()];
        rows.push(Row { below: other(&rates.second), ..Row::below(label, cells) });
        rows.extend(service(op, unit, screen));
    }
    rows.extend(only.and_then(|op| service(op, unit, screen)));
    rows
}

/// An open loop has a second row: latencies without the wait for a place in flight.
fn service(op: &OpFinding, unit: LatencyUnit, screen: &Screen) -> Option<Row> {
    let service = op.service.as_ref()?;
    let label = format!("  {}", words::service().get(screen.lang));
    let [p50, p99, p999, max] =
        latency_cells(&service.quantiles, (figures::known(op, service.max), service.censored), unit, screen);
    let cells = [String::new(), String::new(), p50, p99, p999, max, String::new()];
    Some(Row::below(label, cells))
}

fn latencies(op: &OpFinding, unit: LatencyUnit, screen: &Screen) -> [String; 4] {
    latency_cells(&op.quantiles, (figures::largest(op), op.censored), unit, screen)
}

fn latency_cells(
    quantiles: &[Quantile],
    (max, censored): (Option<Nanos>, u64),
    unit: LatencyUnit,
    screen: &Screen,
) -> [String; 4] {
    let quantile = |i: usize| match quantiles.get(i) {
        Some(q) => figures::quantile(q, unit).get(screen.lang).to_string(),
        None => NONE.to_string(),
    };
    let max = figures::latency_max(max, censored, unit);
    [quantile(0), quantile(1), quantile(2), max.get(screen.lang).to_string()]
}

/// Results of the checks of a case that the table counts, with how many have them: also in brief those that decide nothing, where no other
/// check speaks for the number.
fn counts(case: &CaseFinding, detail: Detail) -> Vec<(CheckStatus, usize)> {
    let count = |status| case.checks.iter().filter(|c| c.status == status).count();
    let counted = |shown: &[CheckStatus]| -> Vec<(CheckStatus, usize)> {
        shown.iter().map(|&status| (status, count(status))).filter(|(_, n)| *n > 0).collect()
    };
    match counted(detail.shown()) {
        none if none.is_empty() && !has_passed(case) => counted(&SHOWN),
        counts => counts,
    }
}

/// Whether a check holds, at least for screening.
fn has_passed(case: &CaseFinding) -> bool {
    case.checks.iter().any(|check| matches!(check.status, CheckStatus::Pass | CheckStatus::ScreeningOnly))
}

/// Results of checks by number; a tick where some passed and none of these is left.
fn checks(case: &CaseFinding, detail: Detail) -> String {
    let parts: Vec<String> =
        counts(case, detail).into_iter().map(|(status, n)| format!("{}{n}", words::check_glyph(status))).collect();
    match parts.is_empty() {
        true if has_passed(case) => words::check_glyph(CheckStatus::Pass).to_string(),
        _ => parts.join(" "),
    }
}

fn wide(
    rows: &[Row],
    firsts: &Firsts,
    heads: &[String; 7],
    widths: &[usize; 7],
    unit: &str,
    screen: &Screen,
) -> String {
    let label = firsts.label;
    let line = |first: String, cells: &[String; 7]| {
        let mut line = first;
        for (i, (cell, w)) in cells.iter().zip(widths).enumerate() {
            line.push_str(GAP);
            line.push_str(&if i == 6 { coloured(cell, screen) } else { right(cell, *w) });
        }
        line.trim_end().to_string() + "\n"
    };
    let latency = say!("latency, {unit}", "задержка, {unit}");
    let before = firsts.width() + widths[..2].iter().map(|w| w + GAP.len()).sum::<usize>() + GAP.len();
    let over: usize = widths[2..6].iter().sum::<usize>() + 3 * GAP.len();
    let mut out = screen.faint(&format!("{}{}\n", " ".repeat(before), right(latency.get(screen.lang), over)));
    let head = firsts.line(case_head(screen), firsts.axes.iter().map(|(name, _)| *name));
    out.push_str(&screen.faint(&line(head, heads)));
    for row in rows {
        let indent = if row.case { 0 } else { 2 };
        let text = at_most(wrap(firsts.text(row), label - indent), LABEL_LINES, label - indent);
        let lines = text.len().max(if row.below.is_some() { 2 } else { 1 });
        for i in 0..lines {
            let part = text.get(i).map_or("", String::as_str);
            let part = format!("{}{part}", " ".repeat(if i == 0 { indent } else { 2.min(label - width(part)) }));
            out.push_str(&match (i, &row.below) {
                (0, _) => line(firsts.line(&part, row.axes.iter().map(String::as_str)), &row.cells),
                (1, Some([rate, spread])) => {
                    let first = firsts.line(&part, std::iter::empty());
                    line(first, &[rate, spread, "", "", "", "", ""].map(str::to_string))
                }
                _ => part + "\n",
            });
        }
    }
    out
}

/// The results of checks, each in its colour.
fn coloured(cell: &str, screen: &Screen) -> String {
    let one = |part: &str| match part.chars().next() {
        Some('✖') => screen.escape("31", part),
        Some('!') => screen.escape("33", part),
        Some('✔') => screen.escape("36", part),
        _ => part.to_string(),
    };
    cell.split(' ').map(one).collect::<Vec<_>>().join(" ")
}

fn stacked(rows: &[Row], heads: &[String; 7], unit: &str, screen: &Screen) -> String {
    let mut out = String::new();
    for row in rows {
        let indent = if row.case { "" } else { "  " };
        let columns = screen.width - indent.len();
        for line in at_most(wrap(&row.label, columns), LABEL_LINES, columns) {
            let line = format!("{indent}{line}\n");
            out.push_str(&if row.case { screen.bold(&line) } else { line });
        }
        let indent = format!("{indent}  ");
        let [rate, spread, latencies @ .., checks] = &row.cells;
        out.push_str(&super::paragraph(&indent, &format!("{rate} {spread} {checks}"), screen.width));
        if let Some([rate, spread]) = &row.below {
            out.push_str(&super::paragraph(&indent, &format!("{rate} {spread}"), screen.width));
        }
        let named = heads[2..6].iter().zip(latencies).filter(|(_, v)| !v.is_empty());
        let named: Vec<String> = named.map(|(name, v)| format!("{name}\u{a0}{v}\u{a0}{unit}")).collect();
        if !named.is_empty() {
            out.push_str(&super::paragraph(&indent, &named.join(", "), screen.width));
        }
    }
    out
}

fn not_enough(quantile: &Quantile) -> bool {
    matches!(quantile.value, QuantileValue::NotEnough { .. })
}
