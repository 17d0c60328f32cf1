//! What a gate says of a comparison or of one run, in words.

pub mod junit;
pub mod limit;

use super::{Line, letter, lines, scale};
use std::collections::BTreeMap;
use stend_analyse::Comparison;
use stend_analyse::compare::{Metric, Ratio};
use stend_analyse::gate::{Asked, GateFinding, GatedCell, GatedGap, LimitedValue, Outcome};
use stend_base::text::plural_en;
use stend_base::{Lang, Say, say};
use stend_spec::gate::{GateRule, GateVerdict};

/// Sentences about what is undecided, at most: more of them say the same, and the table has them all (by eye).
const UNDECIDED_MOST: usize = 5;
/// Up to this many limits, each is printed, also when met (by eye).
const LIMITS_MOST: usize = 12;

/// A cell under its rule, with the numbers that the table shows for it.
pub struct Row<'a> {
    /// The cell.
    pub cell: &'a GatedCell,
    /// Its ratio.
    pub ratio: &'a Ratio,
    /// Its line of the table.
    pub line: Line,
    /// What it is: `p99, read`.
    pub name: Say,
}

/// The gate in a sentence, and what it did not hold in others.
pub fn summary(gate: &GateFinding) -> Say {
    let Say { mut en, mut ru } = in_a_sentence(gate);
    let (idle, free, unapplied) = (gate.idle.len() + gate.unfit.len(), gate.free, gate.unapplied);
    // With limits alone no cell has a rule, as expected.
    let further = [
        (idle > 0).then(|| {
            say!(
                "Rules and limits that match nothing: {idle}.",
                "Правил и пределов, которым ничего не подходит: {idle}."
            )
        }),
        (free > 0 && !gate.cells.is_empty())
            .then(|| say!("Cells without a rule: {free}.", "Ячеек без правила: {free}.")),
        (unapplied > 0).then(|| {
            let [rules, them] = if unapplied == 1 { ["rule", "it"] } else { ["rules", "them"] };
            say!(
                "{unapplied} {rules} for comparisons not applied: `stend compare` checks {them}.",
                "Правил для сравнения не применено: {unapplied}, их проверяет `stend compare`."
            )
        }),
    ];
    for further in further.iter().flatten() {
        en.push_str(&format!(" {}", further.en));
        ru.push_str(&format!(" {}", further.ru));
    }
    Say { en, ru }
}

/// The gate in a sentence: by its name, or, where a command line gave nothing but limits, as these.
fn in_a_sentence(gate: &GateFinding) -> Say {
    let gaps = || gate.gaps.iter().map(|gap| seen(gap.outcome, true));
    let limits = || gate.limits.iter().map(|value| seen(value.outcome, value.open.is_some()));
    let outcomes = || gate.cells.iter().map(|cell| seen(cell.outcome, cell.undecided)).chain(limits()).chain(gaps());
    let count = |outcome| outcomes().filter(|one| *one == outcome).count();
    let (all, failed, undecided) = (outcomes().count(), count(Outcome::Failed), count(Outcome::Undecided));
    let passed = all - failed - undecided;
    let (let_pass, let_pass_ru) = match undecided {
        0 => Default::default(),
        _ => (
            format!("; {undecided} undecided (`inconclusive: pass`)"),
            format!("; {undecided} неясно (`inconclusive: pass`)"),
        ),
    };
    let undecided_too = |word: &str| if undecided > 0 { format!(", {undecided} {word}") } else { String::new() };
    let (more_en, more_ru) = (undecided_too("undecided"), undecided_too("без ответа"));
    match (&gate.name, gate.outcome) {
        (Some(name), Outcome::Passed) => {
            say!(
                "Gate `{name}` passed: {passed} of {all}{let_pass}.",
                "Порог `{name}` пройден: {passed} из {all}{let_pass_ru}."
            )
        }
        (Some(name), Outcome::Failed) => say!(
            "Gate `{name}` failed: {failed} of {all} failed{more_en}.",
            "Порог `{name}` не пройден: не прошло {failed} из {all}{more_ru}."
        ),
        (Some(name), Outcome::Undecided) => say!(
            "Gate `{name}` undecided: {undecided} of {all} undecided.",
            "Порог `{name}`: данных для решения мало, без ответа {undecided} из {all}."
        ),
        (None, Outcome::Passed) => {
            say!("Limits met: {passed} of {all}{let_pass}.", "Пределы выдержаны: {passed} из {all}{let_pass_ru}.")
        }
        (None, Outcome::Failed) => say!(
            "Limits not met: {failed} of {all} missed{more_en}.",
            "Пределы не выдержаны: {failed} из {all}{more_ru}."
        ),
        (None, Outcome::Undecided) if undecided == 0 => say!("No limit decided.", "Ни один предел не проверен."),
        (None, Outcome::Undecided) => {
            let limits = plural_en(all as u64, "limit", "limits");
            say!("{undecided} of {all} {limits} undecided.", "Неясно пределов: {undecided} из {all}.")
        }
    }
}

/// What a reader sees of a value: one that is undecided has not passed, also where the gate lets it pass.
fn seen(outcome: Outcome, undecided: bool) -> Outcome {
    match outcome {
        Outcome::Passed if undecided => Outcome::Undecided,
        outcome => outcome,
    }
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
pub fn rows<'a>(comparison: &'a Comparison, gate: &'a GateFinding) -> Vec<Row<'a>> {
    let key = |cell: &'a GatedCell| ((cell.label.as_str(), cell.run, cell.metric, cell.stream), cell);
    let cells: BTreeMap<(&str, usize, Metric, u16), &GatedCell> = gate.cells.iter().map(key).collect();
    let ratios: BTreeMap<_, _> =
        comparison.cells().map(|of| ((of.label, of.run, of.metric, of.stream), of.ratio)).collect();
    let scale = scale(comparison);
    let of_case = |case: &'a stend_analyse::compare::CaseComparison| {
        // A label stands in the first line of its runs only.
        let mut name = say!("rate", "скорость");
        lines(case, scale)
            .into_iter()
            .filter_map(|line| {
                if !line.first && !line.label.en.is_empty() {
                    name = line.label.clone();
                }
                let (run, metric, stream) = line.cell?;
                let key = (case.label.as_str(), run, metric, stream);
                Some(Row { cell: cells.get(&key)?, ratio: ratios.get(&key)?, line, name: name.clone() })
            })
            .collect::<Vec<_>>()
    };
    comparison.cases.iter().flat_map(of_case).collect()
}

/// What did not pass, with its glyph: what failed first, then some of what is undecided, rules and limits without a value last.
pub fn failures(comparison: &Comparison, gate: &GateFinding) -> Vec<(&'static str, Say)> {
    let shown = |row: Row<'_>| (seen(row.cell.outcome, row.cell.undecided), sentence(&row));
    let cells = rows(comparison, gate).into_iter().map(shown);
    let mut told = most_telling(cells.chain(limits(gate)).filter(|(outcome, _)| *outcome != Outcome::Passed).collect());
    told.extend(without_value(gate));
    told
}

/// The same of one run, and what passed unless that is too much to tell.
pub fn of_run(gate: &GateFinding) -> Vec<(&'static str, Say)> {
    if gate.limits.len() > LIMITS_MOST {
        return not_held(gate);
    }
    let mut told = most_telling(limits(gate).collect());
    told.extend(without_value(gate));
    told
}

/// What one run does not hold, or of which it cannot be told.
pub fn not_held(gate: &GateFinding) -> Vec<(&'static str, Say)> {
    let mut told = most_telling(limits(gate).filter(|(outcome, _)| *outcome != Outcome::Passed).collect());
    told.extend(without_value(gate));
    told
}

/// What one run holds.
pub fn held(gate: &GateFinding) -> Vec<(&'static str, Say)> {
    most_telling(limits(gate).filter(|(outcome, _)| *outcome == Outcome::Passed).collect())
}

fn limits(gate: &GateFinding) -> impl Iterator<Item = (Outcome, Say)> {
    let shown = |value: &LimitedValue| (seen(value.outcome, value.open.is_some()), limit::sentence(value));
    let values = gate.limits.iter().map(shown);
    values.chain(gate.gaps.iter().map(|gap| (seen(gap.outcome, true), gap_sentence(gap))))
}

/// `B, seq-read: not measured, the run has no such case; line 3 allows a loss of 5 %`, and how to leave it out.
pub fn gap_sentence(gap: &GatedGap) -> Say {
    let run = gap.run.map(|run| format!("{}, ", letter(run))).unwrap_or_default();
    let (Say { en, ru }, label) = (asked_of(&gap.asked), &gap.label);
    let (why_en, why_ru) = (&gap.reason.en, &gap.reason.ru);
    let (leave_en, leave_ru) = match &gap.asked {
        // Then it is named already.
        Asked::Limit(limit) if !limit.cases.contains('*') => (String::new(), String::new()),
        Asked::Limit(_) | Asked::Rule(_) => (
            "; to leave it out, name the cases that are meant".to_string(),
            "; чтобы его не учитывать, назовите нужные случаи".to_string(),
        ),
    };
    if label == "*" {
        return say!("{run}{why_en}; {en}{leave_en}", "{run}{why_ru}; {ru}{leave_ru}");
    }
    say!("{run}{label}: not measured, {why_en}; {en}{leave_en}", "{run}{label}: не измерялся, {why_ru}; {ru}{leave_ru}")
}

/// What a gap is a gap of.
pub fn asked_of(wanted: &Asked) -> Say {
    match wanted {
        Asked::Limit(limit) => limit::asked(limit),
        Asked::Rule(rule) => asked(rule),
    }
}

/// What failed, some of what is undecided, and what passed, in this order.
fn most_telling(told: Vec<(Outcome, Say)>) -> Vec<(&'static str, Say)> {
    let of = |wanted: Outcome| -> Vec<(&'static str, Say)> {
        let wanted = told.iter().filter(|(outcome, _)| *outcome == wanted);
        wanted.map(|(outcome, sentence)| (glyph(*outcome), sentence.clone())).collect()
    };
    let mut undecided = of(Outcome::Undecided);
    let left = undecided.len().saturating_sub(UNDECIDED_MOST);
    undecided.truncate(UNDECIDED_MOST);
    if left > 0 {
        let more = say!("{left} more undecided; `--json` lists them", "ещё без ответа: {left}; перечислит `--json`");
        undecided.push((glyph(Outcome::Undecided), more));
    }
    [of(Outcome::Failed), undecided, of(Outcome::Passed)].concat()
}

/// Rules and limits that hold nothing.
fn without_value(gate: &GateFinding) -> Vec<(&'static str, Say)> {
    let rules = gate.idle.iter().map(|line| {
        say!("the rule in line {line} matches no cell", "правилу в строке {line} не подходит ни одна ячейка")
    });
    rules.chain(gate.unfit.iter().map(limit::unfit)).map(|say| (glyph(Outcome::Undecided), say)).collect()
}

/// `B, rand-read, rate: 90.1 % (89.0 … 91.2 %), ▼ worse; line 4 allows a loss of 5 %`.
fn sentence(row: &Row<'_>) -> Say {
    // The smallest ratio that is good enough, of a latency the largest.
    let limit = row.cell.rule.loss.map(|loss| match row.cell.metric {
        Metric::Rate => 1.0 - loss.as_share(),
        Metric::P99(_) => 1.0 / (1.0 - loss.as_share()),
    });
    let limit = limit.as_slice();
    let ratio = super::value(row.ratio, limit);
    let interval =
        row.ratio.interval.map_or_else(|| row.line.interval.clone(), |ends| super::interval_beside(ends, limit));
    let line = |lang: Lang| {
        let (label, run) = (&row.cell.label, letter(row.cell.run));
        let [name, ratio, interval, verdict] =
            [&row.name, &ratio, &interval, &row.line.verdict].map(|say| say.get(lang));
        format!("{run}, {label}, {name}: {ratio} ({interval}), {verdict}; {}", asked(&row.cell.rule).get(lang))
    };
    Say { en: line(Lang::En), ru: line(Lang::Ru) }
}

/// A rule, by its place.
fn rule_in_line(line: u32) -> Say {
    say!("rule in line {line}", "правило в строке {line}")
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
