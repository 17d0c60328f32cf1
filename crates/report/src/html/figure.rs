//! A chart on the page: caption, legend, drawing, and the same data as a table.

use crate::figures::{NONE, value};
use crate::markup::Markup;
use crate::svg;
use stend_analyse::Chart;
use stend_analyse::chart::{Axis, Field, Pane, Series};
use stend_base::{Lang, Say, say};

/// Rows of a data table; more points are thinned, which the table mentions.
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
        let beside = |p: &Pane| p.field.as_ref().map_or_else(|| svg::labelled(&p.series), svg::has_margin);
        let direct = chart.panes.iter().any(beside);
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
    // A line alone in its pane is named by the axis; lines of one name are the same in each pane.
    let alone = |p: &&Pane| p.series.len() < 2 && p.field.is_none();
    for series in chart.panes.iter().filter(|p| !alone(p)).flat_map(|p| &p.series) {
        let same = |l: &&Series| (l.variant, &l.name) == (series.variant, &series.name);
        if !lines.iter().any(same) {
            lines.push(series);
        }
    }
    let fields: Vec<&Field> = chart.panes.iter().filter_map(|p| p.field.as_ref()).collect();
    // Numbers in cells need no scale, a single line no name.
    let maps = fields.iter().any(|f| !f.numbers);
    if !maps && chart.panes.iter().all(|p| p.series.len() < 2) {
        return;
    }
    let named = |p: &Pane| p.series.len() < 2 || svg::labelled(&p.series);
    m.el("ul", if !maps && chart.panes.iter().all(named) { "legend narrow" } else { "legend" }, |m| {
        for series in lines {
            m.el("li", "", |m| {
                if maps {
                    svg::swatch_over(m)
                } else {
                    svg::swatch(m, series)
                }
                m.say(&series.name);
            });
        }
        for field in fields.iter().filter(|f| !f.numbers) {
            m.el("li", "", |m| svg::tints(m, field));
        }
    });
}

fn data(m: &mut Markup, chart: &Chart) {
    for pane in &chart.panes {
        if let Some(field) = &pane.field {
            m.line("p", "note", &pane.y.label);
            if field.numbers { matrix(m, chart, pane, field) } else { sums(m, pane, field) }
        }
    }
    if chart.panes.iter().flat_map(|p| &p.series).any(|s| !s.labels.is_empty()) {
        return points(m, chart);
    }
    if chart.panes.iter().any(|p| !p.series.is_empty()) {
        lines(m, chart);
    }
}

/// A matrix as it is drawn, the largest row on top.
fn matrix(m: &mut Markup, chart: &Chart, pane: &Pane, field: &Field) {
    let name = |axis: &Axis, (from, to): (f64, f64)| place(axis, (from + to) / 2.0);
    let mut columns = vec![Say::same("")];
    columns.extend(field.columns.iter().map(|c| name(&chart.x, *c)));
    super::table(m, "numbers", &columns, |m| {
        for (row, edges) in field.rows.iter().enumerate().rev() {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| m.say(&name(&pane.y, *edges)));
                for column in 0..field.columns.len() {
                    let at = |c: &&stend_analyse::chart::Cell| (c.column, c.row) == (column as u16, row as u16);
                    let cell = field.cells.iter().find(at);
                    m.line("td", "", &cell.map_or_else(|| Say::same(NONE), |c| value(c.value, field.unit)));
                }
            });
        }
    });
}

/// The rows of a heat map added up: as many numbers as can be read.
fn sums(m: &mut Markup, pane: &Pane, field: &Field) {
    let all: f64 = field.margin.iter().sum();
    let columns = [say!("from … to", "от … до"), say!("I/Os", "Операций"), say!("share", "доля")];
    super::table(m, "numbers", &columns, |m| {
        for (edges, sum) in field.rows.iter().zip(&field.margin).filter(|(_, sum)| **sum > 0.0) {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| m.say(&svg::range(*edges, pane.y.unit)));
                m.line("td", "", &value(*sum, field.unit));
                m.line(
                    "td",
                    "",
                    &Say::both(|lang| format!("{} %", stend_base::format::number(sum / all * 100.0, lang))),
                );
            });
        }
    });
}

/// Named points, one to a row.
fn points(m: &mut Markup, chart: &Chart) {
    for pane in &chart.panes {
        let columns = [say!("line", "ряд"), say!("point", "точка"), chart.x.label.clone(), pane.y.label.clone()];
        super::table(m, "numbers", &columns, |m| {
            for series in &pane.series {
                for (point, label) in series.points.iter().zip(&series.labels).take(ROWS_MAX) {
                    m.el("tr", "", |m| {
                        m.with("th", &[("scope", "row")], |m| m.say(&series.name));
                        m.line("td", "", label);
                        m.line("td", "", &value(point.x, chart.x.unit));
                        m.line("td", "", &point.y.map_or_else(|| Say::same(NONE), |y| value(y, pane.y.unit)));
                    });
                }
            }
        });
    }
}

/// A place on an axis as text: its name with its detail, or its number.
fn place(axis: &Axis, at: f64) -> Say {
    match axis.names.iter().find(|n| n.at == at) {
        Some(mark) => Say::both(|lang| match mark.detail.get(lang) {
            "" => mark.name.get(lang).to_string(),
            detail => format!("{} {detail}", mark.name.get(lang)),
        }),
        None => value(at, axis.unit),
    }
}

fn lines(m: &mut Markup, chart: &Chart) {
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
                m.with("th", &[("scope", "row")], |m| m.say(&place(&chart.x, x)));
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
    Say::both(join)
}

/// Value of a line at a place; points ascend in x.
fn at(series: &Series, x: f64) -> Option<f64> {
    let i = series.points.partition_point(|p| p.x < x);
    series.points.get(i).filter(|p| p.x == x)?.y.filter(|y| y.is_finite())
}
