//! A gate as JUnit, for a CI: a suite, and a case for every cell under a rule and every value under a limit.
//!
//! What cannot be told is skipped, with the reason, also where the gate lets it pass: noise is no error of anybody. The exit code tells
//! whether the gate passed.
//! A rule or limit that fits nothing, or a case that was not measured, is an error: it holds nothing, and someone must mend it.

use super::{Row, limit, rows};
use crate::comparison::letter;
use crate::markup::Markup;
use stend_analyse::Comparison;
use stend_analyse::compare::{Doubt, Rule};
use stend_analyse::findings::CheckId;
use stend_analyse::gate::{Asked, GateFinding, GatedGap, LimitedValue, Outcome};
use stend_base::{Lang, Say, say};

/// One `testcase`.
struct Test {
    class: String,
    name: String,
    /// Its element and the message of that; `None`: passed.
    result: Option<(&'static str, String)>,
    /// The numbers.
    text: String,
}

/// The gate; `comparison` unless it holds one run only.
pub fn junit(comparison: Option<&Comparison>, gate: &GateFinding, lang: Lang) -> String {
    let mut tests: Vec<Test> = Vec::new();
    if let Some(comparison) = comparison {
        tests.extend(rows(comparison, gate).iter().map(|row| of_row(row, comparison, lang)));
    }
    tests.extend(gate.limits.iter().map(|value| of_limit(value, lang)));
    tests.extend(gate.gaps.iter().map(|gap| of_gap(gap, lang)));
    let idle = gate
        .idle
        .iter()
        .map(|line| (super::rule_in_line(*line), say!("no cell falls under it", "ему не подходит ни одна ячейка")));
    let unfit = gate.unfit.iter().map(|unfit| (Say::same(&unfit.limit.text), limit::unfit(unfit)));
    tests.extend(idle.chain(unfit).map(|(name, message)| Test {
        class: gate.known_as().to_string(),
        name: name.get(lang).to_string(),
        result: Some(("error", message.get(lang).to_string())),
        text: String::new(),
    }));
    written(gate.known_as(), &tests)
}

fn written(name: &str, tests: &[Test]) -> String {
    let count = |tag| tests.iter().filter(|test| test.result.as_ref().is_some_and(|(of, _)| *of == tag)).count();
    let counts = [tests.len(), count("failure"), count("error"), count("skipped")].map(|n| n.to_string());
    let [all, failures, errors, skipped] = &counts;
    let numbers = [("name", name), ("tests", all), ("failures", failures), ("errors", errors), ("skipped", skipped)];
    let mut m = Markup::new();
    m.raw(crate::ours::DECLARATION);
    m.raw(crate::ours::COMMENT);
    m.with("testsuites", &numbers[..4], |m| {
        m.raw("\n");
        m.with("testsuite", &numbers, |m| {
            m.raw("\n");
            for test in tests {
                m.with("testcase", &[("classname", &test.class), ("name", &test.name)], |m| {
                    if let Some((tag, message)) = &test.result {
                        m.with(tag, &[("message", message)], |m| m.text(&test.text));
                    }
                });
                m.raw("\n");
            }
        });
        m.raw("\n");
    });
    m.raw("\n");
    m.finish()
}

fn of_row(row: &Row<'_>, comparison: &Comparison, lang: Lang) -> Test {
    let (run, name) = (letter(row.cell.run), row.name.get(lang));
    let sentence = super::sentence(row).get(lang).to_string();
    let text = format!("A {}, {run} {}", row.line.baseline.get(lang), row.line.other.get(lang));
    let result = match super::seen(row.cell.outcome, row.cell.undecided) {
        Outcome::Passed => None,
        Outcome::Failed => Some(("failure", sentence)),
        Outcome::Undecided => {
            let why = why(row.ratio.judged.doubt.as_ref(), &comparison.rule);
            Some(("skipped", reason(&why, &sentence, lang)))
        }
    };
    Test { class: row.cell.label.clone(), name: format!("{run}: {name}"), result, text }
}

fn of_limit(value: &LimitedValue, lang: Lang) -> Test {
    let run = value.run.map(|run| format!("{}: ", letter(run))).unwrap_or_default();
    let part = limit::part(value).map(|part| format!(", {}", part.get(lang))).unwrap_or_default();
    let name = format!("{run}{}{part}", value.limit.text);
    let sentence = limit::sentence(value).get(lang).to_string();
    let result = match super::seen(value.outcome, value.open.is_some()) {
        Outcome::Passed => None,
        Outcome::Failed => Some(("failure", sentence)),
        Outcome::Undecided => {
            let why = value.open.as_ref().map_or_else(|| Say::same(""), limit::reason);
            Some(("skipped", reason(&why, &sentence, lang)))
        }
    };
    let what = limit::name(value);
    let text = format!("{} {}", what.get(lang), limit::shown(value).get(lang));
    Test { class: value.label.clone(), name, result, text }
}

fn of_gap(gap: &GatedGap, lang: Lang) -> Test {
    let run = gap.run.map(|run| format!("{}: ", letter(run))).unwrap_or_default();
    let name = match &gap.asked {
        Asked::Limit(limit) => Say::same(&limit.text),
        Asked::Rule(rule) => super::rule_in_line(rule.line),
    };
    let sentence = super::gap_sentence(gap).get(lang).to_string();
    let result = match gap.outcome {
        // `inconclusive: pass` lets it pass, but it was not measured.
        Outcome::Passed => Some(("skipped", sentence)),
        Outcome::Failed => Some(("failure", sentence)),
        Outcome::Undecided => Some(("error", sentence)),
    };
    Test { class: gap.label.clone(), name: format!("{run}{}", name.get(lang)), result, text: String::new() }
}

/// `reason: too few trials, needs 12 blocks (B, rand-read, …)`.
fn reason(why: &Say, sentence: &str, lang: Lang) -> String {
    let why = why.get(lang);
    say!("reason: {why} ({sentence})", "причина: {why} ({sentence})").get(lang).to_string()
}

/// Why nothing can be said of a cell, and what it would take.
fn why(doubt: Option<&Doubt>, rule: &Rule) -> Say {
    match doubt {
        Some(Doubt::TooFew { have, need }) => {
            let need = rule.suggested.unwrap_or(*need).max(*need);
            say!(
                "too few trials, needs {need} blocks, has {have}",
                "мало испытаний, нужно блоков: {need}, есть: {have}"
            )
        }
        Some(Doubt::Failed(checks)) => {
            let checks = CheckId::codes(checks).join(", ");
            say!("check {checks} failed", "не пройдена проверка {checks}")
        }
        Some(Doubt::OtherWorkload) => say!(
            "the same name means another workload in the other run",
            "под этим именем в другом прогоне другая нагрузка"
        ),
        Some(Doubt::NoInterval) => {
            say!("no interval, needs more or longer trials", "нет интервала, нужны ещё или более длинные испытания")
        }
        Some(Doubt::Chance) => say!(
            "may be chance among so many cells, needs more blocks",
            "среди стольких ячеек возможна случайность, нужно больше блоков"
        ),
        Some(Doubt::InsideFloor) => say!(
            "within the noise of this stand, needs a quieter machine or longer trials",
            "в пределах шума этого стенда, нужна более тихая машина или более длинные испытания"
        ),
        Some(Doubt::Wide) | None => say!(
            "the 95 % interval is too wide, needs more or longer blocks",
            "95 %-й интервал слишком широк, нужны ещё или более длинные блоки"
        ),
    }
}
