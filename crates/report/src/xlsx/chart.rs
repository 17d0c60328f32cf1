//! Native charts: rates and latencies by case, sweeps, and rates over time. Their data stand on a page of their own, in the units of
//! the axes, so that whoever likes can draw them otherwise.

use super::Book;
use super::page::{Digits, Look, Page, cleaned};
use rust_xlsxwriter::{
    Chart as Drawing, ChartErrorBars, ChartErrorBarsType, ChartLegendPosition, ChartRange, ChartType, Workbook,
    XlsxError,
};
use stend_analyse::chart::{Axis, Chart, Pane, Scale, Unit};
use stend_analyse::findings::{CaseFinding, Estimate, Headline};
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
    for (index, (_, findings)) in book.runs.iter().enumerate() {
        let run = if book.runs.len() > 1 { format!("{}: ", crate::comparison::letter(index)) } else { String::new() };
        charts.rates(&findings.cases, Headline::Iops, &run)?;
        charts.rates(&findings.cases, Headline::Throughput, &run)?;
        charts.latencies(&findings.cases, &run)?;
        for chart in &findings.across {
            charts.document(chart, &run)?;
        }
        for case in &findings.cases {
            let over_time = case.charts.iter().find(|chart| chart.x.unit == Unit::Seconds);
            if let Some(chart) = over_time {
                charts.document(chart, &format!("{run}{}: ", case.label))?;
            }
        }
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

    /// The headline rates of the cases of one kind as bars with their intervals.
    fn rates(&mut self, cases: &[CaseFinding], headline: Headline, run: &str) -> Result<(), XlsxError> {
        let lang = self.data.lang;
        let cases: Vec<&CaseFinding> = cases.iter().filter(|case| case.headline == headline).collect();
        let estimate = |case: &CaseFinding| case.total.of(headline).clone();
        let all: Vec<Estimate> = cases.iter().map(|case| estimate(case)).collect();
        if self.full() || all.iter().all(|rate| !rate.value.is_finite()) {
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
        let labels: Vec<String> = cases.iter().map(|case| case.label.clone()).collect();
        let rows = labels.len() as u32;
        let names = self.names(title, &labels)?;
        let finite = |value: f64| Some(value / scale).filter(|value| value.is_finite());
        let values = self.numbers(title, &all.iter().map(|rate| finite(rate.value)).collect::<Vec<_>>())?;
        let part = |of: fn(f64, (f64, f64)) -> f64| {
            all.iter().map(|rate| rate.interval.and_then(|ends| finite(of(rate.value, ends)))).collect::<Vec<_>>()
        };
        let up = self.numbers("+", &part(|value, (_, high)| high - value))?;
        let down = self.numbers("−", &part(|value, (low, _)| value - low))?;
        let mut chart = titled(ChartType::Column, &format!("{run}{title}"));
        let bars = ChartErrorBarsType::Custom(self.range(up, rows), self.range(down, rows));
        let (categories, values) = (self.range(names, rows), self.range(values, rows));
        let series = chart.add_series().set_name(named(title).as_str()).set_categories(&categories).set_values(&values);
        series.set_y_error_bars(ChartErrorBars::new().set_type(bars));
        chart.legend().set_hidden();
        self.drawn.push(chart);
        Ok(())
    }

    /// p50, p99 and p99.9 by case and kind of I/O.
    fn latencies(&mut self, cases: &[CaseFinding], run: &str) -> Result<(), XlsxError> {
        let lang = self.data.lang;
        let ops: Vec<_> = cases.iter().flat_map(|case| case.ops.iter().map(move |op| (case, op))).collect();
        if self.full() || ops.is_empty() {
            return Ok(());
        }
        let title = say!("Latency by case, µs", "Задержка по случаям, мкс");
        let name = |(case, op): &(&CaseFinding, &_)| match case.ops.len() {
            1 => case.label.clone(),
            _ => format!("{}, {}", case.label, crate::figures::op_name(case, op).get(lang)),
        };
        let labels: Vec<String> = ops.iter().map(name).collect();
        let rows = labels.len() as u32;
        let names = self.names(title.get(lang), &labels)?;
        let mut chart = titled(ChartType::Column, &format!("{run}{}", title.get(lang)));
        for share in QUANTILES {
            let at = |op: &stend_analyse::findings::OpFinding| {
                let found = op.quantiles.iter().find(|quantile| quantile.q == share)?;
                found.value.single().map(|value| value.0 as f64 / 1e3)
            };
            let head = crate::figures::quantile_name(share);
            let values = self.numbers(head.get(lang), &ops.iter().map(|(_, op)| at(op)).collect::<Vec<_>>())?;
            let (categories, values) = (self.range(names, rows), self.range(values, rows));
            chart.add_series().set_name(head.get(lang)).set_categories(&categories).set_values(&values);
        }
        chart.y_axis().set_log_base(10);
        chart.legend().set_position(ChartLegendPosition::Bottom);
        self.drawn.push(chart);
        Ok(())
    }

    /// The panes of a chart document as charts of their own; grids of tints are left to the page.
    fn document(&mut self, chart: &Chart, prefix: &str) -> Result<(), XlsxError> {
        for pane in chart.panes.iter().filter(|pane| !pane.series.is_empty()) {
            if !self.full() {
                self.pane(chart, pane, prefix)?;
            }
        }
        Ok(())
    }

    fn pane(&mut self, chart: &Chart, pane: &Pane, prefix: &str) -> Result<(), XlsxError> {
        let lang = self.data.lang;
        let title = format!("{prefix}{}", chart.title.get(lang));
        let kind = if pane.series.iter().all(|s| s.dots) { ChartType::Scatter } else { ChartType::ScatterStraight };
        let mut drawn = titled(kind, &title);
        let (across, up) = (scaled(&chart.x, lang), scaled(&pane.y, lang));
        let mut any = false;
        for series in &pane.series {
            let points: Vec<_> = series.points.iter().filter(|point| point.x.is_finite()).collect();
            let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
            let y: Vec<_> = points.iter().map(|point| finite(point.y).map(|y| y / up.1)).collect();
            if y.iter().all(Option::is_none) {
                continue;
            }
            any = true;
            let x: Vec<_> = points.iter().map(|point| Some(point.x / across.1)).collect();
            let name = series.name.get(lang);
            let x = self.numbers(&across.0, &x)?;
            let y = self.numbers(&format!("{title}: {name}"), &y)?;
            let rows = points.len() as u32;
            let (x, y) = (self.range(x, rows), self.range(y, rows));
            drawn.add_series().set_name(named(name).as_str()).set_categories(&x).set_values(&y);
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
