//! The table of cases, and their latencies side by side on one axis.

use super::Page;
use crate::figures::{self, NONE};
use crate::markup::{Markup, coordinate};
use crate::rates::{self, RowRates};
use crate::svg::DrawnAxis;
use crate::words;
use stend_analyse::chart::{Axis, Scale, Unit};
use stend_analyse::findings::{CaseFinding, CheckStatus, OpFinding, Quantile, QuantileValue};
use stend_base::{Say, Share, say};

/// The quantiles of every operation, in the order of findings.
const QUANTILES: [Share; 3] = [Share(0.5), Share(0.99), Share(0.999)];
/// Half the height of a row of the overview, pixels.
const MIDDLE: &str = "10";

/// The section.
pub fn section(m: &mut Markup, page: &Page) {
    super::section(m, "results", &say!("Results", "Результаты"), |m| {
        if page.findings.cases.is_empty() {
            let nothing = say!("No trial of any case completed.", "Ни одно испытание ни одного случая не завершилось.");
            return m.line("p", "", &nothing);
        }
        m.with("div", &[("class", "scroll"), ("tabindex", "0")], |m| {
            m.el("table", "results", |m| {
                m.el("thead", "", |m| head(m, page));
                for case in &page.findings.cases {
                    m.el("tbody", if failed(case) { "void" } else { "" }, |m| rows(m, page, case));
                }
            });
        });
        notes(m, page);
        overview(m, page);
    });
}

fn head(m: &mut Markup, page: &Page) {
    let columns = [
        ("left", say!("Case", "Случай")),
        ("right", say!("Result", "Результат")),
        ("right", stend_base::Say::same("± 95 %")),
    ];
    m.el("tr", "", |m| {
        for (class, name) in &columns {
            m.with("th", &[("scope", "col"), ("class", class), ("rowspan", "2")], |m| m.say(name));
        }
        m.with("th", &[("scope", "colgroup"), ("class", "group"), ("colspan", "4")], |m| {
            let unit = page.unit.name();
            let (en, ru) = (&unit.en, &unit.ru);
            m.say(&say!("Latency, {en}", "Задержка, {ru}"));
        });
        m.with("th", &[("scope", "col"), ("class", "left"), ("rowspan", "2")], |m| {
            m.say(&say!("Checks", "Проверки"));
        });
    });
    m.el("tr", "", |m| {
        for name in quantile_names() {
            m.with("th", &[("scope", "col")], |m| m.say(&name));
        }
    });
}

fn quantile_names() -> Vec<Say> {
    QUANTILES.map(figures::quantile_name).into_iter().chain([say!("max", "макс.")]).collect()
}

/// A case with one operation is one row; with several, a row for all and one for each.
fn rows(m: &mut Markup, page: &Page, case: &CaseFinding) {
    let only = (case.ops.len() == 1).then(|| &case.ops[0]);
    let (total, of_ops) = rates::of_case(case);
    m.el("tr", "case", |m| {
        m.with("th", &[("scope", "row"), ("class", "left")], |m| {
            m.el("span", "number", |m| m.text(&number(case)));
            m.with("a", &[("href", &format!("#case-{}", number(case)))], |m| m.text(&case.label));
            m.line("span", "workload", &case.workload);
            for check in case.checks.iter().filter(|c| c.status == CheckStatus::Fail) {
                m.el("span", "reason", |m| {
                    m.raw("✖ ");
                    m.text(check.id.code());
                    m.raw(" ");
                    m.say(&check.name);
                });
            }
        });
        rate_cells(m, &total);
        match only {
            Some(op) => latency_cells(m, page, op),
            None => m.with("td", &[("class", "skip-cell"), ("colspan", "4")], |_| {}),
        }
        m.with("td", &[("class", "left checks")], |m| checks(m, case));
    });
    for (op, rates) in case.ops.iter().zip(&of_ops).filter(|_| only.is_none()) {
        m.el("tr", "op", |m| {
            m.with("th", &[("scope", "row"), ("class", "left")], |m| m.say(&figures::op_name(case, op)));
            rate_cells(m, rates);
            latency_cells(m, page, op);
            m.el("td", "skip-cell", |_| {});
        });
    }
}

/// Number of a case, as the list of trials calls it.
pub fn number(case: &CaseFinding) -> String {
    (u64::from(case.case) + 1).to_string()
}

fn rate_cells(m: &mut Markup, rates: &RowRates) {
    for (i, class) in ["rate", "spread"].into_iter().enumerate() {
        m.el("td", class, |m| {
            m.say(&rates.first[i]);
            if let Some(second) = &rates.second {
                m.line("span", "note", &second[i]);
            }
        });
    }
}

fn latency_cells(m: &mut Markup, page: &Page, op: &OpFinding) {
    let quantiles = (0..QUANTILES.len()).map(|i| {
        let text = |q: &Quantile| figures::quantile(q, page.unit);
        op.quantiles.get(i).map_or_else(|| Say::same(NONE), text)
    });
    let cells = quantiles.chain([figures::latency_max(figures::largest(op), op.censored, page.unit)]);
    for (name, value) in quantile_names().iter().zip(cells) {
        m.el("td", "latency", |m| {
            // On a narrow screen the row becomes a card, whose cells carry their own heading.
            let (unit, Say { en, ru }) = (page.unit.name(), name);
            let (unit_en, unit_ru) = (unit.en, unit.ru);
            m.line("span", "key", &say!("{en}, {unit_en}", "{ru}, {unit_ru}"));
            m.say(&value);
        });
    }
}

/// Counts by result, worst first; glyph and word, so that no colour is needed.
pub fn checks(m: &mut Markup, case: &CaseFinding) {
    let order = [CheckStatus::Fail, CheckStatus::Warn, CheckStatus::NotMeasurable, CheckStatus::Pass];
    for status in order {
        let n = case.checks.iter().filter(|c| c.status == status).count();
        if n == 0 {
            continue;
        }
        m.el("span", words::check_class(status), |m| {
            m.text(words::check_glyph(status));
            m.raw(" ");
            m.say(&words::check_count(status, n as u64));
        });
    }
}

/// A check failed: the number may not be compared with others.
pub fn failed(case: &CaseFinding) -> bool {
    case.checks.iter().any(|c| c.status == CheckStatus::Fail)
}

fn notes(m: &mut Markup, page: &Page) {
    m.el("p", "note", |m| {
        m.say(&say!(
            "Result: mean over trials, all I/Os but syncs together. ± is half of the 95 % interval. MB/s are 10⁶ bytes per second.",
            "Результат: среднее по испытаниям, все операции, кроме синхронизаций, вместе. ± — половина 95 %-го интервала. МБ/с — 10⁶ байт в секунду."
        ));
        if page.findings.cases.iter().flat_map(|c| &c.ops).flat_map(|op| &op.quantiles).any(not_enough) {
            m.raw(" ");
            m.say(&say!(
                "A dash in place of a percentile: not enough data for it.",
                "Прочерк вместо процентиля: данных для него недостаточно."
            ));
        }
        if page.findings.cases.iter().any(failed) {
            m.raw(" ");
            m.say(&say!(
                "Grey: a check failed, do not compare this number with others.",
                "Серым: проверка не пройдена, сравнивать это число с другими нельзя."
            ));
        }
    });
}

fn not_enough(quantile: &Quantile) -> bool {
    matches!(quantile.value, QuantileValue::NotEnough { .. })
}

/// Median, percentiles and maximum of every operation on one logarithmic axis.
fn overview(m: &mut Markup, page: &Page) {
    let rows: Vec<_> = page.findings.cases.iter().flat_map(|c| c.ops.iter().map(move |op| (c, op))).collect();
    let Some(ruler) = shared_axis(rows.iter().map(|(_, op)| *op)) else { return };
    m.el("figure", "overview", |m| {
        m.el("figcaption", "", |m| {
            m.line("b", "", &say!("Latency of all cases on one axis", "Задержка всех случаев на одной оси"));
            m.line(
                "span",
                "note",
                &say!(
                    "Logarithmic; the same values as in the table.",
                    "Шкала логарифмическая; значения те же, что в таблице."
                ),
            );
        });
        legend(m);
        for (case, op) in &rows {
            m.el("div", "strip", |m| {
                m.el("span", "name", |m| {
                    m.text(&case.label);
                    if case.ops.len() > 1 {
                        m.raw(" · ");
                        m.say(&figures::op_name(case, op));
                    }
                });
                strip(m, &ruler, op);
            });
        }
        m.el("div", "strip axis", |m| {
            m.el("span", "name", |_| {});
            m.with(
                "svg",
                &[("width", "100%"), ("height", "18"), ("overflow", "visible"), ("aria-hidden", "true")],
                |m| {
                    for (i, tick) in ruler.ticks().into_iter().enumerate() {
                        let at = percent(&ruler, tick);
                        let class = if i % 2 == 0 { "tick" } else { "tick odd" };
                        let attributes = [("class", class), ("x", &at), ("y", "13"), ("text-anchor", "middle")];
                        crate::svg::text(m, &attributes, &Say::both(|lang| ruler.label(tick, lang)));
                    }
                },
            );
        });
    });
}

/// The axis from just below the smallest median to just above the largest maximum.
fn shared_axis<'a>(ops: impl Iterator<Item = &'a OpFinding>) -> Option<DrawnAxis> {
    let (mut low, mut high) = (u64::MAX, 0);
    for op in ops {
        for value in marks(op).into_iter().flatten() {
            (low, high) = (low.min(value), high.max(value));
        }
    }
    let (from, to) = (low.max(1) as f64 / 1.5, high.max(2) as f64 * 1.3);
    let label = Say::same("");
    (low <= high).then(|| DrawnAxis::new(&Axis::new(label, Scale::Log, Unit::LatencyNs, from, to)))
}

/// Values of p50, p99, p99.9 and the maximum, ns.
fn marks(op: &OpFinding) -> [Option<u64>; 4] {
    let quantile = |i: usize| match op.quantiles.get(i)?.value {
        QuantileValue::At(v) | QuantileValue::Above(v) => Some(v.0),
        QuantileValue::Printed(_) => op.quantiles.get(i)?.value.single().map(|v| v.0),
        QuantileValue::NotEnough { .. } => None,
    };
    [quantile(0), quantile(1), quantile(2), figures::largest(op).map(|max| max.0)]
}

/// Marks of p50, p99, p99.9 and the maximum: shapes differ, so no colour is needed.
const SHAPES: [(&str, &str); 4] = [
    ("m50", "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z"),
    ("m99", "M0-5L5 0L0 5L-5 0z"),
    ("m999", "M0-4.6L4.6 3.8h-9.2z"),
    ("max", "M-1-6h2v12h-2z"),
];

fn strip(m: &mut Markup, ruler: &DrawnAxis, op: &OpFinding) {
    let marks = marks(op);
    m.with("svg", &[("width", "100%"), ("height", "20"), ("overflow", "visible"), ("aria-hidden", "true")], |m| {
        for tick in ruler.ticks() {
            let at = percent(ruler, tick);
            m.with("line", &[("class", "grid"), ("x1", &at), ("x2", &at), ("y1", "0"), ("y2", "20")], |_| {});
        }
        let ends = marks.iter().flatten();
        if let (Some(low), Some(high)) = (ends.clone().min(), ends.max()) {
            let (from, to) = (percent(ruler, *low as f64), percent(ruler, *high as f64));
            let attributes = [("class", "range"), ("x1", &from), ("x2", &to), ("y1", MIDDLE), ("y2", MIDDLE)];
            m.with("line", &attributes, |_| {});
        }
        for ((class, shape), value) in SHAPES.into_iter().zip(marks) {
            if let Some(value) = value {
                mark(m, (class, shape), &percent(ruler, value as f64));
            }
        }
    });
}

fn mark(m: &mut Markup, (class, shape): (&'static str, &'static str), x: &str) {
    m.with("svg", &[("x", x), ("y", MIDDLE), ("overflow", "visible")], |m| {
        m.with("path", &[("class", class), ("d", shape)], |_| {});
    });
}

fn legend(m: &mut Markup) {
    m.el("ul", "legend", |m| {
        for (shape, name) in SHAPES.into_iter().zip(quantile_names()) {
            m.el("li", "", |m| {
                m.with(
                    "svg",
                    &[("class", "swatch"), ("width", "14"), ("height", "20"), ("aria-hidden", "true")],
                    |m| {
                        mark(m, shape, "7");
                    },
                );
                m.say(&name);
            });
        }
    });
}

fn percent(ruler: &DrawnAxis, value: f64) -> String {
    format!("{}%", coordinate(ruler.place(value).unwrap_or(0.0).clamp(0.0, 1.0) * 100.0))
}
