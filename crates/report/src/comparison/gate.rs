//! What a gate says of a comparison, in words: for people, and for JUnit.

use super::{Line, letter, lines, unit};
use crate::markup::Markup;
use std::collections::BTreeMap;
use stend_analyse::Comparison;
use stend_analyse::compare::Metric;
use stend_analyse::gate::{GateFinding, GatedCell, Outcome};
use stend_base::{Lang, Say, say};
use stend_spec::gate::{GateRule, GateVerdict};

/// What JUnit begins with.
pub(crate) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// A cell under its rule, with the numbers that the table shows for it.
pub struct Row<'a> {
    /// The cell.
    pub cell: &'a GatedCell,
    /// Its line of the table.
    pub line: Line,
    /// What it is: `p99, read`.
    pub name: Say,
}

/// The gate in one sentence.
pub fn summary(gate: &GateFinding) -> Say {
    let count = |outcome| gate.cells.iter().filter(|cell| cell.outcome == outcome).count();
    let (passed, failed, undecided) = (count(Outcome::Passed), count(Outcome::Failed), count(Outcome::Undecided));
    let (name, idle, free) = (&gate.name, gate.idle.len(), gate.free);
    let word = match gate.outcome {
        Outcome::Passed => say!("passed", "пройден"),
        Outcome::Undecided => say!("not decided", "не решён"),
        Outcome::Failed => say!("failed", "не пройден"),
    };
    let (en, ru) = (word.en, word.ru);
    say!(
        "Gate `{name}` {en}: cells passed {passed}, failed {failed}, not decided {undecided}, without a rule {free}; rules without a cell {idle}.",
        "Порог `{name}` {ru}: ячеек прошло {passed}, не прошло {failed}, не решено {undecided}, без правила {free}; правил без ячеек {idle}."
    )
}

/// Glyph of an outcome: readable without colour.
pub fn glyph(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "✔",
        Outcome::Undecided => "?",
        Outcome::Failed => "✖",
    }
}

/// Every cell under a rule, in the order of the table.
pub fn rows<'a>(comparison: &Comparison, gate: &'a GateFinding) -> Vec<Row<'a>> {
    let key = |cell: &'a GatedCell| ((cell.label.as_str(), cell.run, cell.metric, cell.stream), cell);
    let cells: BTreeMap<(&str, usize, Metric, u16), &GatedCell> = gate.cells.iter().map(key).collect();
    let unit = unit(comparison);
    let of_case = |case| {
        // A label stands in the first line of its runs only.
        let mut name = say!("rate", "скорость");
        lines(case, unit)
            .into_iter()
            .filter_map(|line| {
                if !line.first && !line.label.en.is_empty() {
                    name = line.label.clone();
                }
                let (run, metric, stream) = line.cell?;
                let cell = cells.get(&(case.label.as_str(), run, metric, stream))?;
                Some(Row { cell, line, name: name.clone() })
            })
            .collect::<Vec<_>>()
    };
    comparison.cases.iter().flat_map(of_case).collect()
}

/// What did not pass: glyph and sentence. Rules without a cell come last.
pub fn failures(comparison: &Comparison, gate: &GateFinding) -> Vec<(&'static str, Say)> {
    let of = |row: &Row<'_>| (glyph(row.cell.outcome), sentence(row));
    let cells =
        rows(comparison, gate).iter().filter(|row| row.cell.outcome != Outcome::Passed).map(of).collect::<Vec<_>>();
    let idle = gate.idle.iter().map(|line| {
        (
            glyph(Outcome::Undecided),
            say!("the rule in line {line} fits no cell", "правилу в строке {line} не подходит ни одна ячейка"),
        )
    });
    cells.into_iter().chain(idle).collect()
}

/// `B, rand-read, rate: 90.1 % (89.0 … 91.2 %), ▼ worse; line 4 allows a loss of 5 %`.
fn sentence(row: &Row<'_>) -> Say {
    let line = |lang: Lang| {
        let (label, run) = (&row.cell.label, letter(row.cell.run));
        let [name, ratio, interval, verdict] =
            [&row.name, &row.line.ratio, &row.line.interval, &row.line.verdict].map(|say| say.get(lang));
        format!("{run}, {label}, {name}: {ratio} ({interval}), {verdict}; {}", asked(&row.cell.rule).get(lang))
    };
    Say { en: line(Lang::En), ru: line(Lang::Ru) }
}

/// What a rule asks for.
pub fn asked(rule: &GateRule) -> Say {
    let line = rule.line;
    if let Some(loss) = rule.loss {
        let percent = loss.as_percent();
        return say!("line {line} allows a loss of {percent} %", "строка {line} допускает потерю {percent} %");
    }
    if rule.verdicts.is_empty() {
        return say!("line {line} allows anything but worse", "строка {line} допускает всё, кроме «хуже»");
    }
    let words = |lang| rule.verdicts.iter().map(|v| word(*v).get(lang).to_string()).collect::<Vec<_>>().join(", ");
    let (en, ru) = (words(Lang::En), words(Lang::Ru));
    say!("line {line} asks for: {en}", "строка {line} требует: {ru}")
}

fn word(verdict: GateVerdict) -> Say {
    match verdict {
        GateVerdict::Better => say!("better", "лучше"),
        GateVerdict::Worse => say!("worse", "хуже"),
        GateVerdict::DiffersSlightly => say!("differs slightly", "слегка отличается"),
        GateVerdict::Equivalent => say!("equivalent", "равноценно"),
    }
}

/// A gate as JUnit: a suite, and a case for every cell under a rule and every rule without one. What is not decided is
/// an error there, because JUnit has no third outcome that a CI would show.
pub fn junit(comparison: &Comparison, gate: &GateFinding, lang: Lang) -> String {
    let rows = rows(comparison, gate);
    let count = |outcome| rows.iter().filter(|row| row.cell.outcome == outcome).count();
    let (tests, failures) = (rows.len() + gate.idle.len(), count(Outcome::Failed));
    let errors = count(Outcome::Undecided) + gate.idle.len();
    let mut m = Markup::new();
    m.raw(DECLARATION);
    m.raw(crate::ours::COMMENT);
    let [tests, failures, errors] = [tests, failures, errors].map(|n| n.to_string());
    let numbers = [("name", gate.name.as_str()), ("tests", &tests), ("failures", &failures), ("errors", &errors)];
    m.with("testsuites", &numbers, |m| {
        m.raw("\n");
        m.with("testsuite", &numbers, |m| {
            m.raw("\n");
            rows.iter().for_each(|row| test_case(m, row, lang));
            for line in &gate.idle {
                let name = say!("rule in line {line}", "правило в строке {line}");
                let message = say!("no cell falls under it", "ему не подходит ни одна ячейка");
                m.with("testcase", &[("classname", &gate.name), ("name", name.get(lang))], |m| {
                    m.with("error", &[("message", message.get(lang))], |_| ());
                });
                m.raw("\n");
            }
        });
        m.raw("\n");
    });
    m.raw("\n");
    m.finish()
}

fn test_case(m: &mut Markup, row: &Row<'_>, lang: Lang) {
    let (run, name) = (letter(row.cell.run), row.name.get(lang));
    let name = format!("{run}: {name}");
    let message = sentence(row);
    let values = format!("A {}, {run} {}", row.line.baseline.get(lang), row.line.other.get(lang));
    let result = |m: &mut Markup, tag| m.with(tag, &[("message", message.get(lang))], |m| m.text(&values));
    m.with("testcase", &[("classname", &row.cell.label), ("name", &name)], |m| match row.cell.outcome {
        Outcome::Passed => (),
        Outcome::Undecided => result(m, "error"),
        Outcome::Failed => result(m, "failure"),
    });
    m.raw("\n");
}
