//! Native charts: rates and latencies by case, sweeps, and rates over time. Their data stand on a page of their own, in the units of
//! the axes, so that users can draw them otherwise. A chart of several runs holds all of them.

use super::Book;
use super::page::{Digits, Look, Page, cleaned};
use crate::rates;
use rust_xlsxwriter::{
    Chart as Drawing, ChartErrorBars, ChartErrorBarsType, ChartLegendPosition, ChartRange, ChartType, Workbook,
    XlsxError,
};
use stend_analyse::Findings;
use stend_analyse::chart::{Axis, Chart, Pane, Scale, Unit};
use stend_analyse::findings::{CaseFinding, Estimate, Headline, OpFinding};
use stend_base::{Lang, Say, Share, say};

/// Charts of a workbook: more than anybody looks at, and a file that still opens at once.
const CHARTS_MAX: usize = 60;
/// Size of a chart, pixels: two beside each other on a screen.
const SIZE: (u32, u32) = (720, 360);
/// Rows and columns of a page that a chart covers, with a margin: a row has 20 pixels, a column 64.
const PLACE: (u32, u16) = (20, 12);
/// Quantiles that are drawn.
const QUANTILES: [Share; 3] = [Share(0.5), Share(0.99), Share(0.999)];

/// Charts that wait for their page, and the page of their data.
struct Charts<'a, 'p> {
    drawn: Vec<Drawing>,
    data: &'p mut Page<'a>,
    /// Name of the page of data.
    sheet: String,
    /// The column that is free.
    column: u16,
}

/// Adds the page of charts and the page of their data; none if there is nothing to draw.
pub(super) fn fill(workbook: &mut Workbook, book: &Book<'_>, look: &Look) -> Result<(), XlsxError> {
    let lang = book.lang;
    let (name, data) = (say!("Charts", "Графики"), say!("Chart data", "Данные графиков"));
    let mut sheet = rust_xlsxwriter::Worksheet::new();
    let mut page = Page::new(&mut sheet, &data, look, lang)?;
    let mut charts = Charts { drawn: Vec::new(), data: &mut page, sheet: data.get(lang).to_string(), column: 0 };
    let letter =
        |index| if book.runs.len() > 1 { format!("{}: ", crate::comparison::letter(index)) } else { String::new() };
    let sides: Vec<Side> = (0..).zip(&book.runs).map(|(index, (_, findings))| (letter(index), *findings)).collect();
    charts.rates(&sides, Headline::Iops)?;
    charts.rates(&sides, Headline::Throughput)?;
    charts.latencies(&sides)?;
    for chart in book.comparison.iter().filter(|_| sides.len() > 1).flat_map(|comparison| &comparison.charts) {
        charts.document(&[(String::new(), chart)], "")?;
    }
    for id in in_order(sides.iter().flat_map(|(_, findings)| findings.across.iter().map(|chart| chart.id.as_str()))) {
        charts.document(&alike(&sides, |findings| findings.across.iter().find(|chart| chart.id == id)), "")?;
    }
    for label in in_order(sides.iter().flat_map(|(_, findings)| findings.cases.iter().map(|case| case.label.as_str())))
    {
        charts.document(&alike(&sides, |findings| over_time(findings, label)), &format!("{label}: "))?;
    }
    let drawn = charts.drawn;
    if drawn.is_empty() {
        return Ok(());
    }
    let page = workbook.add_worksheet().set_name(name.get(lang))?;
    for (index, chart) in (0u32..).zip(&drawn) {
        page.insert_chart(index / 2 * PLACE.0, index as u16 % 2 * PLACE.1, chart)?;
    }
    workbook.push_worksheet(sheet);
    Ok(())
}

/// A run with its letter, which is empty if there is only one.
type Side<'a> = (String, &'a Findings);

/// What appears in any side, once, in the order of the first that has it.
fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    names.for_each(|name| {
        if !seen.contains(&name) {
            seen.push(name);
        }
    });
    seen
}

/// The chart over time of a case.
fn over_time<'a>(findings: &'a Findings, label: &str) -> Option<&'a Chart> {
    let case = findings.cases.iter().find(|case| case.label == label)?;
    case.charts.iter().find(|chart| chart.x.unit == Unit::Seconds)
}

/// The cases that are described by such a rate.
fn of_kind(findings: &Findings, headline: Headline) -> impl Iterator<Item = &CaseFinding> {
    findings.cases.iter().filter(move |case| case.headline == headline)
}

/// The same chart of every side that has it.
fn alike<'a>(sides: &[Side<'a>], of: impl Fn(&'a Findings) -> Option<&'a Chart>) -> Vec<(String, &'a Chart)> {
    sides.iter().filter_map(|(letter, findings)| Some((letter.clone(), of(findings)?))).collect()
}

impl Charts<'_, '_> {
    fn full(&self) -> bool {
        self.drawn.len() >= CHARTS_MAX
    }

    fn range(&self, column: u16, rows: u32) -> ChartRange {
        ChartRange::new_from_range(&self.sheet, 1, column, rows.max(1), column)
    }

    /// A column of numbers under a head; where one is `None` the cell stays empty.
    fn numbers(&mut self, head: &str, values: &[Option<f64>]) -> Result<u16, XlsxError> {
        let column = self.column;
        self.data.row = 0;
        self.data.text(column, head)?;
        for value in values {
            self.data.next();
            self.data.number(column, *value, Digits::All)?;
        }
        self.column += 1;
        Ok(column)
    }

    /// A column of names under a head.
    fn names(&mut self, head: &str, names: &[String]) -> Result<u16, XlsxError> {
        let column = self.column;
        self.data.row = 0;
        self.data.text(column, head)?;
        for name in names {
            self.data.next();
            self.data.text(column, name)?;
        }
        self.column += 1;
        Ok(column)
    }

    /// The headline rates of the cases of one kind as bars with their intervals, those of all sides beside each other.
    fn rates(&mut self, sides: &[Side], headline: Headline) -> Result<(), XlsxError> {
        let lang = self.data.lang;
        let labels = in_order(
            sides.iter().flat_map(|(_, findings)| of_kind(findings, headline)).map(|case| case.label.as_str()),
        );
        let rate = |findings: &Findings, label: &str| -> Option<Estimate> {
            let case = of_kind(findings, headline).find(|case| case.label == label)?;
            Some(rates::drawn(case)).filter(|rate| rate.value.is_finite())
        };
        let known = sides.iter().any(|(_, findings)| labels.iter().any(|label| rate(findings, label).is_some()));
        if self.full() || !known {
            return Ok(());
        }
        let (title, scale) = match headline {
            Headline::Iops => (say!("IOPS by case, with 95 % intervals", "IOPS по случаям, с 95-% интервалами"), 1.0),
            Headline::Throughput => (
                say!(
                    "Throughput by case, MB/s, with 95 % intervals",
                    "Пропускная способность по случаям, МБ/с, с 95-% интервалами"
                ),
                1e6,
            ),
        };
        let title = title.get(lang);
        let rows = labels.len() as u32;
        let names = self.names(title, &labels.iter().map(|label| label.to_string()).collect::<Vec<_>>())?;
        let mut chart = titled(ChartType::Column, title);
        for (letter, findings) in sides {
            let all: Vec<Option<Estimate>> = labels.iter().map(|label| rate(findings, label)).collect();
            let part = |of: fn(f64, (f64, f64)) -> f64| {
                let end = |rate: &Option<Estimate>| rate.as_ref().and_then(|rate| Some(of(rate.value, rate.interval?)));
                let finite = |value: f64| Some(value / scale).filter(|value| value.is_finite());
                all.iter().map(|rate| end(rate).and_then(finite)).collect::<Vec<_>>()
            };
            let values: Vec<_> = all.iter().map(|rate| rate.as_ref().map(|rate| rate.value / scale)).collect();
            let values = self.numbers(&format!("{letter}{title}"), &values)?;
            let up = self.numbers("+", &part(|value, (_, high)| high - value))?;
            let down = self.numbers("−", &part(|value, (low, _)| value - low))?;
            let bars = ChartErrorBarsType::Custom(self.range(up, rows), self.range(down, rows));
            let (categories, values) = (self.range(names, rows), self.range(values, rows));
            let name = if letter.is_empty() { title } else { letter.trim_end_matches(": ") };
            let series =
                chart.add_series().set_name(named(name).as_str()).set_categories(&categories).set_values(&values);
            series.set_y_error_bars(ChartErrorBars::new().set_type(bars));
        }
        match sides.len() {
            1 => chart.legend().set_hidden(),
            _ => chart.legend().set_position(ChartLegendPosition::Bottom),
        };
        self.drawn.push(chart);
        Ok(())
    }

    /// Latencies by case and kind of I/O: p50, p99 and p99.9 of one run, p99 of several beside each other.
    fn latencies(&mut self, sides: &[Side]) -> Result<(), XlsxError> {
        let lang = self.data.lang;
        let name = |case: &CaseFinding, op: &OpFinding| match case.ops.len() {
            1 => case.label.clone(),
            _ => format!("{}, {}", case.label, crate::figures::op_name(case, op).get(lang)),
        };
        let of = |findings: &Findings| -> Vec<(String, OpFinding)> {
            let ops = findings.cases.iter().flat_map(|case| case.ops.iter().map(move |op| (case, op)));
            ops.map(|(case, op)| (name(case, op), op.clone())).collect()
        };
        let all: Vec<(&String, Vec<(String, OpFinding)>)> =
            sides.iter().map(|(letter, findings)| (letter, of(findings))).collect();
        let labels = in_order(all.iter().flat_map(|(_, ops)| ops.iter().map(|(name, _)| name.as_str())));
        if self.full() || labels.is_empty() {
            return Ok(());
        }
        let (title, shares) = match sides.len() {
            1 => (say!("Latency by case, µs", "Задержка по случаям, мкс"), &QUANTILES[..]),
            _ => (say!("p99 by case, µs", "p99 по случаям, мкс"), &QUANTILES[1..2]),
        };
        let rows = labels.len() as u32;
        let names = self.names(title.get(lang), &labels.iter().map(|label| label.to_string()).collect::<Vec<_>>())?;
        let mut chart = titled(ChartType::Column, title.get(lang));
        for ((letter, ops), share) in all.iter().flat_map(|side| shares.iter().map(move |share| (side, *share))) {
            let at = |label: &&str| {
                let (_, op) = ops.iter().find(|(name, _)| name == label)?;
                let found = op.quantiles.iter().find(|quantile| quantile.q == share)?;
                found.value.single().map(|value| value.0 as f64 / 1e3)
            };
            let head = format!("{letter}{}", crate::figures::quantile_name(share).get(lang));
            let values = self.numbers(&head, &labels.iter().map(at).collect::<Vec<_>>())?;
            let (categories, values) = (self.range(names, rows), self.range(values, rows));
            chart.add_series().set_name(head.as_str()).set_categories(&categories).set_values(&values);
        }
        chart.y_axis().set_log_base(10);
        chart.legend().set_position(ChartLegendPosition::Bottom);
        self.drawn.push(chart);
        Ok(())
    }

    /// The panes of a chart document, which several sides may have, as charts of their own; grids of tints are left to the page.
    fn document(&mut self, alike: &[(String, &Chart)], prefix: &str) -> Result<(), XlsxError> {
        let panes = alike.iter().map(|(_, chart)| chart.panes.len()).max().unwrap_or(0);
        for index in 0..panes {
            let found: Vec<(&str, &Chart, &Pane)> = alike
                .iter()
                .filter_map(|(letter, chart)| Some((letter.as_str(), *chart, chart.panes.get(index)?)))
                .filter(|(_, _, pane)| !pane.series.is_empty())
                .collect();
            if !found.is_empty() && !self.full() {
                self.pane(&found, prefix)?;
            }
        }
        Ok(())
    }

    fn pane(&mut self, alike: &[(&str, &Chart, &Pane)], prefix: &str) -> Result<(), XlsxError> {
        let lang = self.data.lang;
        let Some((_, chart, pane)) = alike.first() else { return Ok(()) };
        let title = format!("{prefix}{}", chart.title.get(lang));
        let all = || alike.iter().flat_map(|(letter, _, pane)| pane.series.iter().map(move |series| (*letter, series)));
        let kind = if all().all(|(_, s)| s.dots) { ChartType::Scatter } else { ChartType::ScatterStraight };
        let mut drawn = titled(kind, &title);
        let (across, up) = (scaled(&chart.x, lang), scaled(&pane.y, lang));
        let mut any = false;
        for (letter, series) in all() {
            let points: Vec<_> = series.points.iter().filter(|point| point.x.is_finite()).collect();
            let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
            let y: Vec<_> = points.iter().map(|point| finite(point.y).map(|y| y / up.1)).collect();
            if y.iter().all(Option::is_none) {
                continue;
            }
            any = true;
            let x: Vec<_> = points.iter().map(|point| Some(point.x / across.1)).collect();
            let name = format!("{letter}{}", series.name.get(lang));
            let x = self.numbers(&across.0, &x)?;
            let y = self.numbers(&format!("{title}: {name}"), &y)?;
            let rows = points.len() as u32;
            let (x, y) = (self.range(x, rows), self.range(y, rows));
            drawn.add_series().set_name(named(&name).as_str()).set_categories(&x).set_values(&y);
        }
        if !any {
            return Ok(());
        }
        drawn.x_axis().set_name(named(&across.0).as_str());
        drawn.y_axis().set_name(named(&up.0).as_str());
        if pane.y.scale == Scale::Log {
            drawn.y_axis().set_log_base(10);
        }
        if chart.x.scale == Scale::Log {
            drawn.x_axis().set_log_base(10);
        }
        drawn.legend().set_position(ChartLegendPosition::Bottom);
        self.drawn.push(drawn);
        Ok(())
    }
}

/// A name in a chart. What begins with `=` would be taken for the place of a name.
fn named(text: &str) -> String {
    let text = cleaned(text);
    if text.starts_with('=') { format!("'{text}") } else { text }
}

fn titled(kind: ChartType, title: &str) -> Drawing {
    let mut chart = Drawing::new(kind);
    chart.set_width(SIZE.0).set_height(SIZE.1);
    chart.title().set_name(named(title).as_str());
    chart
}

/// Name of an axis with its unit, and base units in one of that.
fn scaled(axis: &Axis, lang: Lang) -> (String, f64) {
    let label = axis.label.get(lang);
    let with = |unit: Say, scale| (format!("{label}, {}", unit.get(lang)), scale);
    match axis.unit {
        // Its name has the unit already.
        Unit::BytesPerSecond => (label.to_string(), 1e6),
        Unit::LatencyNs => with(say!("µs", "мкс"), 1e3),
        Unit::Share => with(Say::same("%"), 0.01),
        Unit::Bytes => with(say!("bytes", "байт"), 1.0),
        Unit::Plain | Unit::Seconds => (label.to_string(), 1.0),
    }
}
