//! The first screen: a few large numbers, one picture of all cases, and how much there is to read about them. Draws, and judges nothing.

use super::results::number;
use super::{Page, bars};
use crate::figures;
use crate::markup::{Markup, coordinate};
use crate::rates;
use crate::svg::DrawnAxis;
use crate::words;
use stend_analyse::Findings;
use stend_analyse::chart::{Axis, Scale, Unit};
use stend_analyse::compare::QUANTILE;
use stend_analyse::findings::{
    CaseFinding, CheckStatus, Estimate, GradeLevel, Headline, OpFinding, QuantileValue, SweepFinding,
};
use stend_base::text::counted;
use stend_base::{Lang, Nanos, Say, format, say};
use stend_spec::workload::Op;

/// Most cases that the picture holds; more would not fit a screen.
const BARS_MOST: usize = 24;

/// The numbers that tell most, each with its interval and p99.
pub fn cards(m: &mut Markup, page: &Page) {
    let findings = page.findings;
    let telling = || findings.telling.iter().filter_map(|index| findings.cases.iter().find(|case| case.case == *index));
    let cases: Vec<&CaseFinding> = match findings.only_sweep() {
        Some(sweep) => of_sweep(findings, sweep),
        None => telling().collect(),
    };
    let cases: Vec<&CaseFinding> = cases.into_iter().filter(|case| value(case).is_some()).collect();
    if cases.is_empty() {
        return;
    }
    m.el("div", "numbers-that-tell", |m| {
        for case in cases {
            m.with("a", &[("class", "tell"), ("href", &anchor(case))], |m| card(m, case));
        }
    });
}

/// A sweep: its least value, where it bends, and its largest rate.
fn of_sweep<'a>(findings: &'a Findings, sweep: &SweepFinding) -> Vec<&'a CaseFinding> {
    let bend = sweep.points.iter().find(|point| Some(point.value) == sweep.knee);
    let best = sweep.points.iter().max_by(|a, b| a.rate.total_cmp(&b.rate));
    let mut rates: Vec<f64> =
        sweep.points.first().into_iter().chain(bend).chain(best).map(|point| point.rate).collect();
    rates.dedup();
    let at = |rate: &f64| findings.cases.iter().find(|case| case.total.of(sweep.headline).value == *rate);
    rates.iter().filter_map(at).collect()
}

fn card(m: &mut Markup, case: &CaseFinding) {
    let estimate = case.total.of(case.headline);
    m.line("span", "what", &case.workload);
    let rate = rates::of_headline(case);
    let part =
        |of: fn((&str, &str)) -> String| Say::both(|lang| rate.get(lang).rsplit_once(' ').map_or(String::new(), of));
    let (number, unit) = (part(|(number, _)| number.to_string()), part(|(_, unit)| unit.to_string()));
    // Said apart: in a narrow card the unit goes below its number.
    m.el("b", "", |m| {
        m.say(if unit.en.is_empty() { &rate } else { &number });
        m.text(" ");
        m.say(&unit);
    });
    if let Some(levels) = &case.levels {
        return m.line("span", "what", &Say::both(|lang| levels.short(lang)));
    }
    let none = say!("no interval: too few trials", "без интервала: мало испытаний");
    let half = figures::plus_minus(estimate).unwrap_or(none);
    let p99 = p99(case).map_or(Say::same(""), |p99| Say::both(|lang| format!(" · p99 {}", said(p99, lang))));
    let (half_en, half_ru, p99_en, p99_ru) = (half.en, half.ru, p99.en, p99.ru);
    m.line("span", "what", &say!("{half_en}{p99_en}", "{half_ru}{p99_ru}"));
}

/// One bar for each case, with its interval, and its p99 on an axis of all.
pub fn bars(m: &mut Markup, page: &Page) {
    let known: Vec<&CaseFinding> = page.findings.cases.iter().filter(|case| value(case).is_some()).collect();
    if known.len() < 2 {
        return;
    }
    let shown = &known[..known.len().min(BARS_MOST)];
    let axis = axis(shown);
    m.el("div", "all-cases", |m| {
        m.el("div", "case-bar head", |m| {
            m.line("span", "what", &say!("rate, with its 95 % interval", "скорость с 95 %-м интервалом"));
            if let Some(ruler) = &axis {
                m.el("span", "dots", |m| ticks(m, ruler));
            }
        });
        shown.iter().for_each(|case| bar(m, case, shown, axis.as_ref()));
        if known.len() > shown.len() {
            let (some, all) = (shown.len(), known.len());
            m.line(
                "p",
                "note",
                &say!(
                    "The first {some} of {all} cases; the table has all.",
                    "Первые {some} случаев из {all}; в таблице — все."
                ),
            );
        }
    });
}

fn bar(m: &mut Markup, case: &CaseFinding, shown: &[&CaseFinding], axis: Option<&DrawnAxis>) {
    let estimate = rates::drawn(case);
    let alike = shown.iter().filter(|other| other.headline == case.headline);
    let alike: Vec<Estimate> = alike.map(|other| rates::drawn(other)).collect();
    let longest = bars::longest(alike.iter());
    let class = match case.headline {
        Headline::Iops => "length iops",
        Headline::Throughput => "length throughput",
    };
    m.el("div", "case-bar", |m| {
        m.with("a", &[("class", "name"), ("href", &anchor(case))], |m| m.text(&case.label));
        bars::bar(m, class, (&estimate, case.headline), longest, |m| {
            if let Some(levels) = &case.levels {
                m.say(&Say::both(|lang| format::number(rates::in_unit(levels.first, levels.of), lang)));
                m.raw(" → ");
            }
        });
        dot(m, case, axis);
    });
}

/// The p99 of a case on the axis of all.
fn dot(m: &mut Markup, case: &CaseFinding, axis: Option<&DrawnAxis>) {
    let found = p99(case).zip(axis).and_then(|(p99, ruler)| Some((p99, ruler.place(p99.0.0 as f64)?)));
    let at = found.map_or(0.0, |(_, place)| place.clamp(0.0, 1.0) * 100.0);
    m.with("span", &[("class", "dots"), ("style", &format!("--at:{}%", coordinate(at)))], |m| {
        if let Some((p99, _)) = found {
            m.el("i", "dot", |_| {});
            m.el("span", "rate", |m| {
                m.el("span", "key", |m| m.raw("p99 "));
                m.say(&Say::both(|lang| said(p99, lang)));
            });
        }
    });
}

/// The axis of p99, from just below the smallest to above the largest, with room for its number.
fn axis(cases: &[&CaseFinding]) -> Option<DrawnAxis> {
    let all = || cases.iter().filter_map(|case| p99(case)).map(|(p99, _)| p99.0.max(1) as f64);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let axis = || Axis::new(Say::same(""), Scale::Log, Unit::LatencyNs, low / 3.0, high * 12.0);
    (low <= high).then(|| DrawnAxis::new(&axis()))
}

fn ticks(m: &mut Markup, ruler: &DrawnAxis) {
    m.el("span", "key-always", |m| m.raw("p99"));
    for tick in ruler.ticks().into_iter().filter(|tick| is_decade(*tick)) {
        let Some(place) = ruler.place(tick).filter(|place| (0.22..=0.9).contains(place)) else { continue };
        let at = format!("--at:{}%", coordinate(place * 100.0));
        let label = Say::both(|lang| ruler.label(tick, lang));
        m.with("span", &[("class", "tick"), ("style", &at)], |m| m.say(&label));
    }
}

fn is_decade(value: f64) -> bool {
    (value.log10() - value.log10().round()).abs() < 1e-9
}

/// How much there is to read, each with the way there.
pub fn chips(m: &mut Markup, page: &Page) {
    let findings = page.findings;
    let checks = || findings.cases.iter().flat_map(|case| case.checks.iter().map(move |check| (case, check)));
    let first = |status| checks().find(|(_, check)| check.status == status).map(|(case, _)| anchor(case));
    let count = |status| checks().filter(|(_, check)| check.status == status).count() as u64;
    let (failed, passed) = (findings.checks_with(CheckStatus::Fail).0 as u64, count(CheckStatus::Pass));
    let notes = findings.caveats.iter().filter(|caveat| !words::is_ending(caveat)).count() as u64;
    let grade = match findings.grade.level {
        GradeLevel::Screening => say!("screening, not for publishing", "предварительная оценка, не для публикации"),
        GradeLevel::Publishable => say!("fit for publishing", "годится для публикации"),
    };
    let failed_said = counted(
        failed,
        ["check fails", "checks fail"],
        ["проверка не пройдена", "проверки не пройдены", "проверок не пройдено"],
    );
    let passed_said = counted(
        passed,
        ["check passed", "checks passed"],
        ["проверка пройдена", "проверки пройдены", "проверок пройдено"],
    );
    let notes_said = counted(notes, ["caveat", "caveats"], ["оговорка", "оговорки", "оговорок"]);
    m.el("p", "chips", |m| {
        chip(m, "chip", "#caveats", "", &grade);
        if let Some(href) = first(CheckStatus::Fail) {
            chip(m, "chip fail", &href, "✖ ", &failed_said);
        }
        if let (Some(href), Some(warned)) = (first(CheckStatus::Warn), words::warnings(findings)) {
            chip(m, "chip warn", &href, "! ", &warned);
        }
        if passed > 0 {
            chip(m, "chip", "#cases", "✔ ", &passed_said);
        }
        if notes > 0 {
            chip(m, "chip", "#caveats", "", &notes_said);
        }
    });
}

fn chip(m: &mut Markup, class: &'static str, href: &str, glyph: &'static str, said: &Say) {
    m.with("a", &[("class", class), ("href", href)], |m| {
        m.raw(glyph);
        m.say(said);
    });
}

fn anchor(case: &CaseFinding) -> String {
    format!("#case-{}", number(case))
}

/// The rate of a case, if it has one that can be drawn.
fn value(case: &CaseFinding) -> Option<f64> {
    bars::drawable(case.total.of(case.headline))
}

/// The largest p99 of the operations of a case, and whether it is more than that.
fn p99(case: &CaseFinding) -> Option<(Nanos, bool)> {
    let of = |op: &OpFinding| match op.quantiles.iter().find(|q| q.q == QUANTILE)?.value {
        QuantileValue::At(value) => Some((value, false)),
        QuantileValue::Above(value) => Some((value, true)),
        QuantileValue::Printed(_) | QuantileValue::NotEnough { .. } => None,
    };
    case.ops.iter().filter(|op| op.op != Op::Sync).filter_map(of).max()
}

fn said((value, more): (Nanos, bool), lang: Lang) -> String {
    format!("{}{}", if more { "> " } else { "" }, format::latency(value, lang))
}
