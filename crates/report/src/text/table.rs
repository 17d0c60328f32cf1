//! The table of cases on a terminal. Where it does not fit, each case becomes a few lines of its own.

use super::Screen;
use super::layout::{at_most, left, right, width, wrap};
use crate::figures::{self, LatencyUnit, NONE};
use crate::{rates, words};
use stend_analyse::findings::{CaseFinding, CheckStatus, OpFinding, Quantile, QuantileValue};
use stend_base::{Nanos, Say, Share, say};
use stend_spec::workload::Op;

/// A label column narrower than this reads worse than one case below the other.
const LABEL_MIN: usize = 14;
/// Lines that a label may take.
const LABEL_LINES: usize = 3;
const GAP: &str = "  ";
/// Results of checks that the table counts, worst first.
const SHOWN: [CheckStatus; 3] = [CheckStatus::Fail, CheckStatus::Warn, CheckStatus::NotMeasurable];
const QUANTILES: [Share; 3] = [Share(0.5), Share(0.99), Share(0.999)];

/// One line of the table, as texts.
struct Row {
    label: String,
    /// Case of its own, not one of its operations.
    case: bool,
    /// Rate, ±, p50, p99, p99.9, max, checks.
    cells: [String; 7],
    /// Below rate and ± the other rate and its ±: in rows of a mix.
    below: Option<[String; 2]>,
}

impl Row {
    /// Columns that its cell number `i` takes.
    fn width(&self, i: usize) -> usize {
        let below = self.below.as_ref().and_then(|below| below.get(i)).map_or(0, |text| width(text));
        below.max(width(&self.cells[i]))
    }
}

/// The table, and what its signs mean.
pub fn table(cases: &[CaseFinding], screen: &Screen) -> String {
    if cases.is_empty() {
        let nothing = say!("No trial of any case completed.", "Ни одно испытание ни одного случая не завершилось.");
        return super::paragraph("", nothing.get(screen.lang), screen.width);
    }
    let unit = LatencyUnit::for_cases(cases);
    let rows: Vec<Row> = cases.iter().flat_map(|case| rows(case, unit, screen)).collect();
    let heads = heads(screen);
    let widths: [usize; 7] =
        std::array::from_fn(|i| rows.iter().map(|r| r.width(i)).chain([width(&heads[i])]).max().unwrap_or(0));
    let columns: usize = widths.iter().map(|w| w + GAP.len()).sum();
    let longest = rows.iter().map(|r| width(&r.label)).max().unwrap_or(0);
    let label = longest.min(screen.width.saturating_sub(columns)).max(width(case_head(screen)));
    let unit_name = unit.name();
    let unit = unit_name.get(screen.lang);
    let mut out = if label >= LABEL_MIN.min(longest) && label + columns <= screen.width {
        wide(&rows, &heads, &widths, label, unit, screen)
    } else {
        stacked(&rows, &heads, unit, screen)
    };
    out.push_str(&screen.faint(&signs(cases, screen)));
    out
}

/// What the signs that occur in the table mean.
fn signs(cases: &[CaseFinding], screen: &Screen) -> String {
    let mut signs = Vec::new();
    for status in SHOWN {
        if cases.iter().flat_map(|c| &c.checks).any(|c| c.status == status) {
            let word = words::check(status).get(screen.lang).replace(' ', "\u{a0}");
            signs.push(format!("{}\u{a0}{word}", words::check_glyph(status)));
        }
    }
    if cases.iter().flat_map(|c| &c.ops).flat_map(|op| &op.quantiles).any(not_enough) {
        let note = say!("{NONE}\u{a0}not\u{a0}enough\u{a0}data", "{NONE}\u{a0}мало\u{a0}данных");
        signs.push(note.get(screen.lang).to_string());
    }
    if cases.iter().flat_map(|c| &c.ops).any(|op| op.op == Op::Sync) {
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
        stend_base::Lang::En => "case",
        stend_base::Lang::Ru => "случай",
    }
}

/// A case with one operation is one row; with several, a row for all and one for each.
fn rows(case: &CaseFinding, unit: LatencyUnit, screen: &Screen) -> Vec<Row> {
    let only = (case.ops.len() == 1).then(|| &case.ops[0]);
    let texts = |pair: &[Say; 2]| pair.each_ref().map(|say| say.get(screen.lang).to_string());
    let (total, of_ops) = rates::of_case(case);
    let [rate, spread] = texts(&total.first);
    let [p50, p99, p999, max] = only.map_or_else(Default::default, |op| latencies(op, unit, screen));
    let cells = [rate, spread, p50, p99, p999, max, checks(case)];
    let below = total.second.as_ref().map(texts);
    let mut rows = vec![Row { label: super::clean(&case.label), case: true, cells, below }];
    for (op, rates) in case.ops.iter().zip(&of_ops).filter(|_| only.is_none()) {
        let [rate, spread] = texts(&rates.first);
        let [p50, p99, p999, max] = latencies(op, unit, screen);
        let label = format!("  {}", figures::op_name(case, op).get(screen.lang));
        let cells = [rate, spread, p50, p99, p999, max, String::new()];
        rows.push(Row { label, case: false, cells, below: rates.second.as_ref().map(texts) });
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
    Some(Row { label, case: false, cells, below: None })
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

/// Failed checks and warnings by number; a tick when there are none.
fn checks(case: &CaseFinding) -> String {
    let count = |status| case.checks.iter().filter(|c| c.status == status).count();
    let shown = SHOWN.map(|s| (s, count(s)));
    let parts: Vec<String> =
        shown.iter().filter(|(_, n)| *n > 0).map(|(s, n)| format!("{}{n}", words::check_glyph(*s))).collect();
    if parts.is_empty() { words::check_glyph(CheckStatus::Pass).to_string() } else { parts.join(" ") }
}

fn wide(rows: &[Row], heads: &[String; 7], widths: &[usize; 7], label: usize, unit: &str, screen: &Screen) -> String {
    let line = |first: &str, cells: &[String; 7]| {
        let mut line = left(first, label);
        for (i, (cell, w)) in cells.iter().zip(widths).enumerate() {
            line.push_str(GAP);
            line.push_str(&if i == 6 { left(cell, *w) } else { right(cell, *w) });
        }
        line.trim_end().to_string() + "\n"
    };
    let latency = say!("latency, {unit}", "задержка, {unit}");
    let before = label + widths[..2].iter().map(|w| w + GAP.len()).sum::<usize>() + GAP.len();
    let over: usize = widths[2..6].iter().sum::<usize>() + 3 * GAP.len();
    let mut out = screen.faint(&format!("{}{}\n", " ".repeat(before), right(latency.get(screen.lang), over)));
    out.push_str(&screen.faint(&line(case_head(screen), heads)));
    for row in rows {
        let indent = if row.case { 0 } else { 2 };
        let text = at_most(wrap(&row.label, label - indent), LABEL_LINES, label - indent);
        let lines = text.len().max(if row.below.is_some() { 2 } else { 1 });
        for i in 0..lines {
            let part = text.get(i).map_or("", String::as_str);
            let part = format!("{}{part}", " ".repeat(if i == 0 { indent } else { 2.min(label - width(part)) }));
            out.push_str(&match (i, &row.below) {
                (0, _) => line(&part, &row.cells),
                (1, Some([rate, spread])) => line(&part, &[rate, spread, "", "", "", "", ""].map(str::to_string)),
                _ => part + "\n",
            });
        }
    }
    out
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
