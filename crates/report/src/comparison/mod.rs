//! A comparison as lines of text, shared by page and terminal, so that both print the same digits.

pub mod axis;
pub mod gate;
pub mod json;
pub mod layers;
pub mod markdown;
pub mod matrix;
pub mod verdict;

use crate::figures::{self, LatencyUnit, NONE};
use crate::{rates, words};
use std::collections::BTreeSet;
use stend_analyse::Comparison;
pub use stend_analyse::compare::letter;
use stend_analyse::compare::{
    CaseComparison, ComparedRun, Doubt, LatencySide, Mean, Metric, PartSide, Ratio, RatioBasis, RatioValue, Rule, Side,
};
use stend_analyse::findings::{CheckId, Headline, QuantileValue};
use stend_base::{Lang, Say, format, say};
use stend_spec::workload::Op;

/// Above this many percent decimals say nothing.
const PERCENT_WHOLE: f64 = 999.95;

/// One value of a case in the baseline and in one other run.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Label of the case, or what else of it is compared.
    pub label: Say,
    /// It is the first line of its case.
    pub first: bool,
    /// Letter of the other run.
    pub run: String,
    /// Value of the baseline.
    pub baseline: Say,
    /// Value of the other run.
    pub other: Say,
    /// The other value in percent of the baseline's.
    pub ratio: Say,
    /// 95 % interval of the ratio.
    pub interval: Say,
    /// What it means.
    pub verdict: Say,
    /// Colour of the verdict, if it may have one.
    pub tint: Option<verdict::Tint>,
    /// How sure it is; `None` without an interval.
    pub sure: Option<verdict::Significance>,
    /// Blocks or trials that it has and that a verdict takes, where these are too few.
    pub lacking: Option<(u32, u32)>,
    /// Which cell it is, as run, metric and stream; `None` for what is no cell.
    pub cell: Option<(usize, Metric, u16)>,
}

/// In which units and beside which limits the numbers of a comparison stand.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// The one unit of all latencies.
    unit: LatencyUnit,
    rule: Rule,
}

impl Scale {
    /// What the ends of an interval are held against, as ratios.
    fn limits(&self, metric: Metric) -> [f64; 5] {
        let beyond = if metric == Metric::Rate { self.rule.rate } else { self.rule.latency };
        let [margin, beyond] = [1.0 + self.rule.margin, 1.0 + beyond];
        [1.0 / beyond, 1.0 / margin, 1.0, margin, beyond]
    }
}

/// The scale of all lines of a comparison.
pub fn scale(comparison: &Comparison) -> Scale {
    let sides = comparison.cases.iter().flat_map(|c| c.sides.iter().flatten());
    let values = sides.flat_map(|side| &side.latencies).filter_map(|latency| match latency.p99.value {
        QuantileValue::At(v) | QuantileValue::Above(v) => Some(v.0),
        QuantileValue::Printed(printed) => printed.map(|(least, _)| least.0),
        QuantileValue::NotEnough { .. } => None,
    });
    Scale { unit: LatencyUnit::for_smallest(values.min()), rule: comparison.rule }
}

/// The lines of a case: its rate, of a mix the rates of each operation, then the p99 of each operation, each for every other run.
pub fn lines(case: &CaseComparison, scale: Scale) -> Vec<Line> {
    let Some(Some(baseline)) = case.sides.first() else { return Vec::new() };
    let mut lines = rate_lines(case, baseline, scale);
    for part in &baseline.parts {
        lines.extend(rates::BOTH.iter().flat_map(|headline| part_lines(case, baseline, part, *headline)));
    }
    for latency in &baseline.latencies {
        lines.extend(latency_lines(case, baseline, latency, scale));
    }
    lines
}

fn rate_lines(case: &CaseComparison, baseline: &Side, scale: Scale) -> Vec<Line> {
    let shown = |side: &Side| marked(side, rates::rate(&side.rate, case.headline));
    let others = case.sides.iter().enumerate().skip(1);
    let line = |(i, side): (usize, &Option<Side>)| Line {
        label: Say::same(if i == 1 { &case.label } else { "" }),
        first: i == 1,
        baseline: shown(baseline),
        other: side.as_ref().map_or_else(missing, shown),
        cell: Some((i, Metric::Rate, 0)),
        ..compared(i, side.as_ref().and_then(|s| s.rate_ratio.as_ref()), &scale.limits(Metric::Rate))
    };
    others.map(line).collect()
}

/// One rate of one operation of a mix: told beside the total, which is what is judged.
fn part_lines(case: &CaseComparison, baseline: &Side, of: &PartSide, headline: Headline) -> Vec<Line> {
    let name = part_name(baseline, of, headline);
    let at = |side: &Side| side.parts.iter().position(|part| (part.stream, part.op) == (of.stream, of.op));
    let shown = |side: &Side| {
        let number = parts(side, case.headline, headline).into_iter().nth(at(side)?)?;
        Some(marked(side, rates::with_unit(&number, headline)))
    };
    let line = |(i, side): (usize, &Option<Side>)| Line {
        label: if i == 1 { name.clone() } else { Say::same("") },
        baseline: shown(baseline).unwrap_or_else(missing),
        other: side.as_ref().and_then(shown).unwrap_or_else(missing),
        verdict: Say::same(""),
        tint: None,
        sure: None,
        lacking: None,
        ..compared(i, side.as_ref().and_then(|side| side.parts[at(side)?].of(headline).1), &[])
    };
    case.sides.iter().enumerate().skip(1).map(line).collect()
}

/// One rate of each operation of a mix as numbers that add up to the total; `compared` is the rate of which the total is shown.
fn parts(side: &Side, compared: Headline, headline: Headline) -> Vec<Say> {
    let all: Vec<_> = side.parts.iter().map(|part| (part.op, part.of(headline).0)).collect();
    let total = match compared == headline {
        true => side.rate.value,
        false => all.iter().map(|(_, rate)| rate.value).sum(),
    };
    rates::parts(total, &all, headline)
}

fn latency_lines(case: &CaseComparison, baseline: &Side, of: &LatencySide, scale: Scale) -> Vec<Line> {
    let (unit, limits) = (scale.unit, scale.limits(Metric::P99(of.op)));
    let name = latency_name(baseline, of);
    let shown = |side: &Side, latency: &LatencySide| {
        let value = figures::quantile(&latency.p99, unit);
        let unit = unit.name();
        let with_unit = |text: &str, unit: &str| if text == NONE { text.to_string() } else { format!("{text} {unit}") };
        marked(side, Say { en: with_unit(&value.en, &unit.en), ru: with_unit(&value.ru, &unit.ru) })
    };
    let line = |(i, side): (usize, &Option<Side>)| {
        let found = side.as_ref().and_then(|s| {
            let latency = s.latencies.iter().find(|l| (l.stream, l.op) == (of.stream, of.op))?;
            Some((s, latency))
        });
        Line {
            label: if i == 1 { name.clone() } else { Say::same("") },
            first: false,
            baseline: shown(baseline, of),
            other: found.map_or_else(missing, |(s, l)| shown(s, l)),
            cell: Some((i, Metric::P99(of.op), of.stream)),
            ..compared(i, found.and_then(|(_, l)| l.ratio.as_ref()), &limits)
        }
    };
    case.sides.iter().enumerate().skip(1).map(line).collect()
}

/// The geometric means of the table, as lines without values of their own.
pub fn means(comparison: &Comparison) -> Vec<Line> {
    let line = |mean: &Mean| {
        let n = mean.cells;
        let Say { en, ru } = match mean.metric {
            Metric::Rate => say!("rate", "скорость"),
            Metric::P99(op) => {
                Say { en: format!("p99, {}", words::op(op).en), ru: format!("p99, {}", words::op(op).ru) }
            }
        };
        Line {
            label: say!("geometric mean of {n}: {en}", "среднее геометрическое из {n}: {ru}"),
            ratio: Say::both(|lang| format!("{} %", percent(mean.value, lang))),
            interval: mean.interval.map_or_else(missing, interval),
            verdict: Say::same(""),
            ..compared(mean.run, None, &[])
        }
    };
    comparison.means.iter().map(line).collect()
}

/// `p99, read`; with its stream where a case has several.
pub fn latency_name(baseline: &Side, of: &LatencySide) -> Say {
    of_operation(&Say::same("p99"), baseline, (of.stream, of.op))
}

/// `IOPS, read`; with its stream where a case has several.
pub fn part_name(baseline: &Side, of: &PartSide, headline: Headline) -> Say {
    of_operation(&rates::unit(headline), baseline, (of.stream, of.op))
}

fn of_operation(number: &Say, baseline: &Side, (stream, op): (u16, Op)) -> Say {
    let (Say { en, ru }, Say { en: number_en, ru: number_ru }) = (words::op(op), number);
    match baseline.latencies.iter().any(|latency| latency.stream > 0) {
        true => {
            let stream = u32::from(stream) + 1;
            say!("{number_en}, stream {stream}: {en}", "{number_ru}, поток {stream}: {ru}")
        }
        false => say!("{number_en}, {en}", "{number_ru}, {ru}"),
    }
}

/// A value that a failed check takes out of comparison carries its glyph.
fn marked(side: &Side, value: Say) -> Say {
    match side.failed.is_empty() {
        true => value,
        false => Say { en: format!("✖ {}", value.en), ru: format!("✖ {}", value.ru) },
    }
}

fn missing() -> Say {
    Say::same(NONE)
}

/// The columns that follow from the ratio, whose ends are held against these limits; label and values are left empty.
fn compared(run: usize, ratio: Option<&Ratio>, limits: &[f64]) -> Line {
    let empty = || Say::same("");
    Line {
        label: empty(),
        first: false,
        run: letter(run),
        baseline: empty(),
        other: empty(),
        ratio: ratio.map_or_else(missing, |ratio| value(ratio, limits)),
        interval: ratio.and_then(|r| r.interval).map_or_else(missing, |ends| interval_beside(ends, limits)),
        verdict: ratio.map_or_else(missing, verdict::cell),
        tint: ratio.and_then(|r| verdict::tint(&r.judged)),
        sure: ratio.and_then(verdict::sure),
        lacking: ratio.and_then(|ratio| match ratio.judged.doubt {
            Some(Doubt::TooFew { have, need }) => Some((have, need)),
            _ => None,
        }),
        cell: None,
    }
}

/// The ratio, with as many more digits as the ends of its interval have to show their side of the limits: it must not leave it.
fn value(ratio: &Ratio, limits: &[f64]) -> Say {
    let ends = match (ratio.interval, ratio.value) {
        (Some((low, high)), _) => vec![low, high],
        (None, RatioValue::At(v) | RatioValue::Above(v) | RatioValue::Below(v)) => vec![v],
        (None, RatioValue::Unknown) => Vec::new(),
    };
    let more = ends.iter().map(|end| digits(*end, limits) - digits(*end, &[])).max().unwrap_or(0);
    let sign = |sign: &'static str, v: f64| {
        let digits = digits(v, &[]) + more;
        Say::both(|lang| format!("{sign}{} %", format::fixed(v * 100.0, digits, lang)))
    };
    match ratio.value {
        RatioValue::At(v) => sign("", v),
        RatioValue::Above(v) => sign("> ", v),
        RatioValue::Below(v) => sign("< ", v),
        RatioValue::Unknown => missing(),
    }
}

fn interval(ends: (f64, f64)) -> Say {
    interval_beside(ends, &[])
}

/// The ends in digits that tell them from each of the limits.
fn interval_beside((low, high): (f64, f64), limits: &[f64]) -> Say {
    let percent = |ratio, lang| format::fixed(ratio * 100.0, digits(ratio, limits), lang);
    Say::both(|lang| format!("{} … {} %", percent(low, lang), percent(high, lang)))
}

/// A ratio as a number of percent: one decimal, two below 10 %, none from 1000 % on.
fn percent(ratio: f64, lang: Lang) -> String {
    format::fixed(ratio * 100.0, digits(ratio, &[]), lang)
}

/// Decimals of a ratio in percent beside these limits.
fn digits(ratio: f64, limits: &[f64]) -> usize {
    let percent = ratio * 100.0;
    let least = match percent {
        p if p >= PERCENT_WHOLE => 0,
        p if p >= 9.995 => 1,
        _ => 2,
    };
    let limits: Vec<f64> = limits.iter().map(|limit| limit * 100.0).collect();
    format::near_limit::among(percent, &limits, least)
}

/// What the numbers are, and why some are not there: only what occurs.
pub fn notes(comparison: &Comparison) -> Vec<Say> {
    let sides = || comparison.cases.iter().flat_map(|c| c.sides.iter().flatten());
    let latencies = || sides().flat_map(|s| &s.latencies).filter_map(|l| l.ratio.as_ref());
    let ratios: Vec<&Ratio> = sides().filter_map(|s| s.rate_ratio.as_ref()).chain(latencies()).collect();
    let any = |of: fn(&RatioBasis) -> bool| ratios.iter().any(|r| of(&r.basis));
    let mut notes = verdict::notes(comparison);
    if sides().any(|side| !side.parts.is_empty()) {
        notes.push(say!(
            "IOPS and MB/s of the reads and writes of a mix have no verdict: their shares are set by the suite, so they follow the rate of the whole case, which has one.",
            "IOPS и МБ/с чтений и записей смешанной нагрузки вердикта не имеют: их доли заданы набором, и они следуют за скоростью всего случая, у которой вердикт есть."
        ));
    }
    if any(|b| matches!(b, RatioBasis::Trials { .. })) {
        notes.push(say!(
            "The interval of a ratio (jackknife over the trials, Welch's t) covers the spread between the trials of each run, not other differences between the runs.",
            "Интервал отношения (складной нож по испытаниям, t Уэлча) учитывает разброс испытаний внутри каждого прогона, но не другие различия между прогонами."
        ));
    }
    if any(|b| matches!(b, RatioBasis::Blocks { .. })) {
        notes.push(say!(
            "A ratio with an interval uses the blocks that both arms have. The interval (jackknife over the blocks, Student's t) covers the spread between blocks; drift common to both arms cancels.",
            "Отношение с интервалом использует блоки, которые есть у обоих вариантов. Интервал (складной нож по блокам, t Стьюдента) учитывает разброс между блоками; общий для вариантов дрейф сокращается."
        ));
    }
    if any(|b| matches!(b, RatioBasis::TooFewTrials)) {
        notes.push(say!(
            "No interval where a run has fewer than two trials of a case.",
            "Интервала нет там, где в одном из прогонов меньше двух испытаний случая."
        ));
    }
    if let Some(need) = ratios.iter().find_map(|r| match r.basis {
        RatioBasis::TrialsTooShort { need, .. } => Some(need),
        _ => None,
    }) {
        notes.push(say!(
            "p99 without an interval: not enough data; every trial would need {need} I/Os.",
            "p99 без интервала: данных недостаточно; в каждом испытании нужно {need} операций."
        ));
    }
    if any(|b| matches!(b, RatioBasis::NotANumber)) {
        notes.push(say!(
            "No interval where a value is zero or only known to be larger.",
            "Интервала нет там, где значение равно нулю или известно лишь, что оно больше."
        ));
    }
    if any(|b| matches!(b, RatioBasis::NotEnough)) {
        notes.push(say!(
            "{NONE} in place of p99: not enough data in one of the runs.",
            "{NONE} вместо p99: в одном из прогонов недостаточно данных."
        ));
    }
    if any(|b| matches!(b, RatioBasis::NotMergeable)) {
        notes.push(say!(
            "{NONE} in place of a ratio of p99: it was printed for each of several trials or jobs, and such percentiles cannot be merged.",
            "{NONE} вместо отношения p99: он напечатан отдельно для нескольких испытаний или заданий, а такие процентили не объединить."
        ));
    }
    notes
}

/// Sides that a failed check takes out of comparison: `B, rand-read: H18`.
pub fn failed(comparison: &Comparison) -> Vec<Say> {
    let mut all = Vec::new();
    for case in &comparison.cases {
        for (i, side) in case.sides.iter().enumerate() {
            if let Some(side) = side.as_ref().filter(|s| !s.failed.is_empty()) {
                let (run, label, checks) = (letter(i), &case.label, CheckId::codes(&side.failed).join(", "));
                all.push(say!("{run}, {label}: failed {checks}", "{run}, {label}: не пройдено: {checks}"));
            }
        }
    }
    all
}

/// Cases whose label means different workloads.
pub fn redefined(comparison: &Comparison) -> Vec<Say> {
    let differing = comparison.cases.iter().filter(|case| !case.workloads.is_empty());
    differing
        .map(|case| {
            let (label, values) = (&case.label, arrows(&case.workloads));
            let (en, ru) = (values.en, values.ru);
            say!("{label} is a different workload: {en}", "{label} — разные нагрузки: {ru}")
        })
        .collect()
}

/// Cases that only some runs have: `seq-write: only A`.
pub fn unmatched(comparison: &Comparison) -> Vec<Say> {
    let line = |case: &stend_analyse::compare::Unmatched| {
        let label = &case.label;
        let runs = case.runs.iter().map(|i| letter(*i)).collect::<Vec<_>>().join(", ");
        say!("{label}: only {runs}", "{label}: только {runs}")
    };
    comparison.unmatched.iter().map(line).collect()
}

/// Values in the order of the runs: `6.8 → 6.12`; a dash where one is not known.
pub fn arrows(values: &[Say]) -> Say {
    let known = |value: &str| if value.is_empty() { NONE.to_string() } else { value.to_string() };
    if values.len() > matrix::FEW {
        return grouped(values);
    }
    Say::both(|lang| values.iter().map(|v| known(v.get(lang))).collect::<Vec<_>>().join(" → "))
}

/// Conditions that differ because of the stands, by name; call it only where there are any.
pub fn follow(comparison: &Comparison) -> Say {
    let names =
        |lang: Lang| comparison.follow.iter().map(|c| c.name.get(lang).to_string()).collect::<Vec<_>>().join(", ");
    let (en, ru) = (names(Lang::En), names(Lang::Ru));
    say!("Differs because of the stands: {en}", "Различается из-за стендов: {ru}")
}

/// `6.1 (A, C), 6.12 (B)`: of many runs those with one value stand together.
fn grouped(values: &[Say]) -> Say {
    let mut groups: Vec<(&Say, Vec<String>)> = Vec::new();
    for (i, value) in values.iter().enumerate() {
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, runs)) => runs.push(letter(i)),
            None => groups.push((value, vec![letter(i)])),
        }
    }
    let count = groups.len();
    if count > matrix::FEW {
        return say!("{count} different values", "разных значений: {count}");
    }
    let shown = |value: &str| if value.is_empty() { NONE.to_string() } else { value.to_string() };
    let group = |(value, runs): &(&Say, Vec<String>), lang| format!("{} ({})", shown(value.get(lang)), runs.join(", "));
    Say::both(|lang| groups.iter().map(|found| group(found, lang)).collect::<Vec<_>>().join("; "))
}

/// What tells the runs apart: their arms, labels, stands, targets, suites or starts, whichever comes first that no two have in common; else
/// their letters.
pub fn names(comparison: &Comparison) -> Vec<Say> {
    let runs = &comparison.runs;
    let by: [fn(&ComparedRun) -> Option<Say>; 6] = [
        |run| run.arm.as_deref().map(Say::same),
        |run| run.label.as_deref().map(Say::same),
        |run| run.stand.as_deref().map(Say::same),
        |run| Some(Say::same(run.targets.join(", "))).filter(|name| !name.en.is_empty()),
        |run| Some(Say::same(&run.suite)),
        |run| Some(Say::same(figures::utc(run.started_unix))),
    ];
    let told = by.into_iter().find_map(|name| {
        let names: Vec<Say> = runs.iter().map(name).collect::<Option<_>>()?;
        let different: BTreeSet<&str> = names.iter().map(|name| name.en.as_str()).collect();
        (different.len() == names.len()).then_some(names)
    });
    told.unwrap_or_else(|| (0..runs.len()).map(|i| Say::same(letter(i))).collect())
}

/// Whether a run is compared with itself.
pub fn is_same_run(comparison: &Comparison) -> bool {
    let arms = comparison.runs.iter().any(|run| run.arm.is_some());
    let ids: BTreeSet<&str> = comparison.runs.iter().map(|run| run.run.as_str()).collect();
    !arms && ids.len() < comparison.runs.len()
}

/// What a run of the comparison is: `R-…: quick on /srv, 2026-01-02 03:04 UTC`, and whether it ended early.
pub fn describe(run: &ComparedRun) -> Say {
    let (id, suite, target) = (&run.run, &run.suite, figures::on(&run.targets, run.stand.as_deref()));
    let began = figures::utc(run.started_unix);
    let state = match run.state {
        stend_record::RunState::Complete => Say::same(""),
        stend_record::RunState::Open => say!(", has no end", ", не завершён"),
        stend_record::RunState::Suspended { .. } => say!(", suspended", ", приостановлен"),
        stend_record::RunState::Ended { .. } => say!(", ended early", ", закончился раньше"),
    };
    let built = match run.builds {
        Some(times @ 2..) => say!(", built {times} times", ", сборок: {times}"),
        _ => Say::same(""),
    };
    let (en, ru) = (built.en + &state.en, built.ru + &state.ru);
    if let Some(arm) = &run.arm {
        return Say::same(arm);
    }
    let name = run.label.as_ref().map_or(id.clone(), |label| format!("{label} ({id})"));
    say!("{name}: {suite} on {target}, {began}{en}", "{name}: {suite} на {target}, {began}{ru}")
}

#[cfg(test)]
pub use tests::two as fixture;
#[cfg(test)]
pub(crate) mod tests;
