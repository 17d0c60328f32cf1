//! A chart on the page: caption, legend, drawing, and the same data as a table.

use crate::figures::{NONE, both};
use crate::markup::Markup;
use crate::svg;
use stend_analyse::Chart;
use stend_analyse::chart::{Pane, Series, Unit};
use stend_base::{Lang, Nanos, Say, format, say};

/// Rows of a data table; more points are thinned, and the table says so.
const ROWS_MAX: usize = 60;

/// Writes the figure; its plot will be about `width` pixels wide.
pub fn draw(m: &mut Markup, chart: &Chart, lang: Lang, width: f64) {
    m.el("figure", "chart", |m| {
        let caption = svg::caption_id(chart);
        m.with("figcaption", &[("id", &caption)], |m| {
            m.line("b", "", &chart.title);
            m.line("span", "note", &chart.summary);
        });
        legend(m, chart);
        let direct = chart.panes.iter().any(|p| svg::labelled(&p.series));
        m.el("div", if direct { "plot-box direct-labels" } else { "plot-box" }, |m| svg::draw(m, chart, lang, width));
        m.el("details", "data", |m| {
            m.line("summary", "", &say!("Data as a table", "Данные таблицей"));
            data(m, chart);
        });
    });
}

/// Every line once. Where all names fit beside the plot, the legend is for narrow screens only.
fn legend(m: &mut Markup, chart: &Chart) {
    let mut lines: Vec<&Series> = Vec::new();
    for series in chart.panes.iter().flat_map(|p| &p.series) {
        let same = |l: &&Series| (l.quantity, l.variant, &l.name) == (series.quantity, series.variant, &series.name);
        if !lines.iter().any(same) {
            lines.push(series);
        }
    }
    if chart.panes.iter().all(|p| p.series.len() < 2) {
        return;
    }
    let named = |p: &Pane| p.series.len() < 2 || svg::labelled(&p.series);
    m.el("ul", if chart.panes.iter().all(named) { "legend narrow" } else { "legend" }, |m| {
        for series in lines {
            m.el("li", "", |m| {
                svg::swatch(m, series);
                m.say(&series.name);
            });
        }
    });
}

fn data(m: &mut Markup, chart: &Chart) {
    let lines: Vec<(&Pane, &Series)> = chart.panes.iter().flat_map(|p| p.series.iter().map(move |s| (p, s))).collect();
    let mut xs: Vec<f64> =
        lines.iter().flat_map(|(_, s)| s.points.iter().map(|p| p.x)).filter(|x| !x.is_nan()).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let stride = xs.len().div_ceil(ROWS_MAX).max(1);
    if stride > 1 {
        let all = xs.len();
        m.line(
            "p",
            "note",
            &say!(
                "Every {stride}th of {all} points; all of them are in the JSON output.",
                "Каждая {stride}-я точка из {all}; все точки есть в выводе JSON."
            ),
        );
    }
    let mut columns = vec![chart.x.label.clone()];
    columns.extend(lines.iter().map(|(pane, series)| heading(pane, series)));
    super::table(m, "numbers", &columns, |m| {
        for &x in xs.iter().step_by(stride) {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| m.say(&value(x, chart.x.unit)));
                for (pane, series) in &lines {
                    m.line("td", "", &at(series, x).map_or_else(|| Say::same(NONE), |y| value(y, pane.y.unit)));
                }
            });
        }
    });
}

/// Name of a line and what its pane measures, unless that says the same twice.
fn heading(pane: &Pane, series: &Series) -> Say {
    let join = |lang| match (series.name.get(lang), pane.y.label.get(lang)) {
        (name, label) if label.starts_with(name) => label.to_string(),
        (name, label) => format!("{name}, {label}"),
    };
    both(join)
}

/// Value of a line at a place; points ascend in x.
fn at(series: &Series, x: f64) -> Option<f64> {
    let i = series.points.partition_point(|p| p.x < x);
    series.points.get(i).filter(|p| p.x == x)?.y.filter(|y| y.is_finite())
}

fn value(value: f64, unit: Unit) -> Say {
    both(|lang| match unit {
        Unit::Plain | Unit::Seconds => format::number(value, lang),
        Unit::BytesPerSecond => format::number(value / 1e6, lang),
        // Nines in a share (99.999 %) are the point of it: no rounding to one decimal.
        Unit::Share => format!("{} %", format::fixed(value * 100.0, share_digits(value), lang)),
        Unit::LatencyNs => format::latency(Nanos(value.max(0.0) as u64), lang),
    })
}

/// Decimals that keep one digit after the last nine.
fn share_digits(share: f64) -> usize {
    let nines = -(1.0 - share).max(1e-9).log10();
    (nines.ceil().max(2.0) as usize).saturating_sub(1)
}
