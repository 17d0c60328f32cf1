//! `stend compare --history`: where values changed over many runs, for people and machines.

use crate::figures::utc;
use crate::text::{clean, list, screen};
use crate::words;
use serde::Serialize;
use stend_analyse::compare::Condition;
use stend_analyse::history::{Change, Followed, History, RUNS_LEAST, Series};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Nanos, Say, format, say, say_in};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// Conditions that are not the same in two neighbouring runs, by the index of the second one.
pub type Changed = Vec<(usize, Vec<Condition>)>;

/// A history for a person, at most `width` columns wide (40 at least). `changed` belongs to the runs right after a change.
pub fn history_text(history: &History, changed: &Changed, lang: Lang, width: usize, colour: bool) -> String {
    let screen = screen(lang, width, colour);
    let mut out = screen.bold(&screen.paragraph(title(history).get(lang)));
    out.push_str(&list(
        &say!("Changed for good", "Изменилось и осталось таким"),
        &screen,
        told(history).map(|(series, change)| (glyph(change), sentence(history, series, change, lang))),
    ));
    out.push_str(&list(
        &say!("What else changed right after it", "Что ещё стало другим сразу после этого"),
        &screen,
        changed.iter().map(|(run, conditions)| ("–".to_string(), conditions_of(history, *run, conditions, lang))),
    ));
    let ranges = |glyph: &'static str, said: Vec<Say>| {
        said.into_iter().map(move |said| (glyph.to_string(), said.get(lang).to_string()))
    };
    out.push_str(&list(
        &say!("No lasting change of 5 % or more", "Стойких изменений от 5 % нет"),
        &screen,
        ranges("=", steady(history)),
    ));
    out.push_str(&list(&short_heading(), &screen, ranges("?", short(history))));
    out.push_str(&list(
        &say!("Left out, because a check failed", "Не учтено: проверка не пройдена"),
        &screen,
        left_out(history).iter().map(|said| ("✖".to_string(), clean(said.get(lang)))),
    ));
    out
}

fn told(history: &History) -> impl Iterator<Item = (&Series, &Change)> {
    history.series.iter().flat_map(|series| series.changes.iter().map(move |change| (series, change)))
}

/// Every lasting change, in one sentence each.
pub(crate) fn changes(history: &History) -> Vec<Say> {
    let one = |(series, change): (&Series, &Change)| {
        Say::both(|lang| format!("{} {}", glyph(change), sentence(history, series, change, lang)))
    };
    told(history).map(one).collect()
}

/// What else was not the same right after each of them.
pub(crate) fn conditions(history: &History, changed: &Changed) -> Vec<Say> {
    changed.iter().map(|(run, found)| Say::both(|lang| conditions_of(history, *run, found, lang))).collect()
}

/// The values that did not change, with their range.
pub(crate) fn steady(history: &History) -> Vec<Say> {
    let steady = history.series.iter().filter(|series| series.changes.is_empty() && !series.is_short());
    steady.map(|series| Say::both(|lang| range(series, lang))).collect()
}

/// The values that too few runs have for a change to be seen, with their range.
pub(crate) fn short(history: &History) -> Vec<Say> {
    let short = history.series.iter().filter(|series| series.is_short());
    short.map(|series| Say::both(|lang| range(series, lang))).collect()
}

/// Heading of these.
pub(crate) fn short_heading() -> Say {
    say!("Too few runs to tell ({RUNS_LEAST} are needed)", "Слишком мало прогонов, чтобы судить (нужно {RUNS_LEAST})")
}

/// Cases with the runs in which a check of theirs failed, the first and the last of them named.
pub(crate) fn left_out(history: &History) -> Vec<Say> {
    let one = |(label, runs): &(String, Vec<usize>)| {
        let name = |run: Option<&usize>| run.and_then(|run| history.runs.get(*run)).map_or("?", |(id, _)| id.as_str());
        let (count, first, last) = (runs.len() as u64, name(runs.first()), name(runs.last()));
        let (en, ru) = (plural_en(count, "run", "runs"), plural_ru(count, "прогон", "прогона", "прогонов"));
        match count {
            1 => Say::same(format!("{label}: {first}")),
            _ => say!("{label}: {count} {en}, {first} to {last}", "{label}: {count} {ru}, с {first} по {last}"),
        }
    };
    history.left_out.iter().map(one).collect()
}

/// How many runs, and when.
pub(crate) fn title(history: &History) -> Say {
    let count = history.runs.len() as u64;
    let (en, ru) = (plural_en(count, "run", "runs"), plural_ru(count, "прогон", "прогона", "прогонов"));
    let at = |run: Option<&(String, i64)>| run.map_or_else(String::new, |(_, started)| utc(*started));
    let (first, last) = (at(history.runs.first()), at(history.runs.last()));
    say!("{count} {en} from {first} to {last}", "{count} {ru} с {first} по {last}")
}

fn glyph(change: &Change) -> String {
    if change.after > change.before { "▲" } else { "▼" }.to_string()
}

fn name(series: &Series) -> Say {
    let (label, what) = (series.name(), words::followed(series.followed));
    Say::both(|lang| format!("{}, {}", label.get(lang), what.get(lang)))
}

/// A value as people write it.
fn value(followed: Followed, value: f64, lang: Lang) -> String {
    match followed {
        Followed::Iops => format!("{} IOPS", format::iops(value, lang)),
        Followed::Throughput => format::throughput(value, lang),
        Followed::P99 { .. } => format::latency(Nanos(value.max(0.0) as u64), lang),
    }
}

fn sentence(history: &History, series: &Series, change: &Change, lang: Lang) -> String {
    let shown = |number| value(series.followed, number, lang);
    let percent = (change.ratio() - 1.0) * 100.0;
    let sign = if percent > 0.0 { "+" } else { "−" };
    let by = format::fixed(percent.abs(), usize::from(percent.abs() < 100.0), lang);
    let (last, first) = (&history.runs[change.last].0, &history.runs[change.first].0);
    let (name, before, after) = (name(series), shown(change.before), shown(change.after));
    let name = name.get(lang);
    clean(&say_in!(
        lang,
        "{name}: {before} → {after} ({sign}{by} %) between {last} and {first}",
        "{name}: {before} → {after} ({sign}{by} %) между {last} и {first}"
    ))
}

fn conditions_of(history: &History, run: usize, conditions: &[Condition], lang: Lang) -> String {
    let id = &history.runs[run].0;
    if conditions.is_empty() {
        return say_in!(lang, "{id}: no known condition", "{id}: ни одно известное условие");
    }
    let one = |condition: &Condition| {
        let values: Vec<&str> = condition.values.iter().map(|value| value.get(lang)).collect();
        format!("{}: {}", condition.name.get(lang), values.join(" → "))
    };
    clean(&format!("{id}: {}", conditions.iter().map(one).collect::<Vec<_>>().join("; ")))
}

fn range(series: &Series, lang: Lang) -> String {
    let values = || series.points.iter().map(|(_, value)| *value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let (low, high) = (value(series.followed, low, lang), value(series.followed, high, lang));
    clean(&format!("{}: {low} … {high}", name(series).get(lang)))
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    /// In the order of time; places in the lists below count from 0.
    runs: Vec<RunOut<'a>>,
    series: Vec<SeriesOut<'a>>,
    /// Cases of runs that are in no series because a check failed.
    left_out: Vec<LeftOut<'a>>,
    /// Conditions that differ between a run right after a change and the one before it.
    conditions_changed: Vec<ChangedOut<'a>>,
}

#[derive(Serialize)]
struct RunOut<'a> {
    run: &'a str,
    started_unix_s: i64,
}

#[derive(Serialize)]
struct LeftOut<'a> {
    label: &'a str,
    /// Places of the runs.
    runs: &'a [usize],
}

#[derive(Serialize)]
struct SeriesOut<'a> {
    label: &'a str,
    /// What the case does, where cases of this label do not all do the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    workload: Option<&'a Say>,
    /// `iops`, `throughput_bytes_per_s` or `latency_ns_p99`.
    value: &'static str,
    /// Index of the stream, for a latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<u16>,
    /// The operation, for a latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<stend_spec::workload::Op>,
    /// (place of the run, value).
    points: &'a [(usize, f64)],
    changes: Vec<ChangeOut>,
}

#[derive(Serialize)]
struct ChangeOut {
    /// Place of the last run before it.
    last: usize,
    /// Place of the first run after it.
    first: usize,
    before: f64,
    after: f64,
    ratio: f64,
}

#[derive(Serialize)]
struct ChangedOut<'a> {
    /// Place of the run.
    run: usize,
    conditions: Vec<ConditionOut<'a>>,
}

#[derive(Serialize)]
struct ConditionOut<'a> {
    condition: &'a str,
    name: &'a Say,
    /// Values of the run before and of this one; empty texts where unknown.
    values: &'a [Say],
}

/// A history as JSON, indented, with a line feed at the end.
pub fn history_json(history: &History, changed: &Changed) -> String {
    crate::json::pretty(&Document {
        schema: "stend-history",
        schema_version: SCHEMA_VERSION,
        runs: history.runs.iter().map(|(run, started)| RunOut { run, started_unix_s: *started }).collect(),
        series: history.series.iter().map(series_out).collect(),
        left_out: history.left_out.iter().map(|(label, runs)| LeftOut { label, runs }).collect(),
        conditions_changed: changed.iter().map(changed_out).collect(),
    })
}

fn series_out(series: &Series) -> SeriesOut<'_> {
    let (value, stream) = match series.followed {
        Followed::Iops => ("iops", None),
        Followed::Throughput => ("throughput_bytes_per_s", None),
        Followed::P99 { stream, .. } => ("latency_ns_p99", Some(stream)),
    };
    let change = |change: &Change| ChangeOut {
        last: change.last,
        first: change.first,
        before: change.before,
        after: change.after,
        ratio: change.ratio(),
    };
    SeriesOut {
        label: &series.label,
        workload: series.workload.as_ref(),
        value,
        stream,
        operation: series.followed.op(),
        points: &series.points,
        changes: series.changes.iter().map(change).collect(),
    }
}

fn changed_out((run, conditions): &(usize, Vec<Condition>)) -> ChangedOut<'_> {
    ChangedOut { run: *run, conditions: conditions.iter().map(condition_out).collect() }
}

fn condition_out(condition: &Condition) -> ConditionOut<'_> {
    ConditionOut { condition: &condition.key, name: &condition.name, values: &condition.values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    /// Eight runs, of which the last four are slower, on another kernel.
    fn example() -> (History, Changed) {
        let runs = (0..8).map(|i| (format!("R-{i}"), 1_767_323_045 + i * 86_400)).collect();
        let points = |before: f64, after: f64| {
            (0..8).map(|i| (i, if i < 4 { before + i as f64 } else { after + i as f64 })).collect()
        };
        let change = |before, after| Change { last: 3, first: 4, before, after };
        let series =
            |followed, points, changes| Series { label: "rand-read".into(), workload: None, followed, points, changes };
        let history = History {
            runs,
            series: vec![
                series(Followed::Iops, points(84_200.0, 71_000.0), vec![change(84_201.5, 71_005.5)]),
                series(Followed::P99 { stream: 0, op: 0 }, points(569_000.0, 570_000.0), Vec::new()),
            ],
            left_out: vec![("seq-write".into(), vec![2, 5, 6])],
        };
        let kernel = Condition {
            key: "kernel".into(),
            name: say!("kernel", "ядро"),
            values: vec![Say::same("6.1.0"), Say::same("6.12.1")],
        };
        (history, vec![(4, vec![kernel])])
    }

    #[test]
    fn a_history_names_the_change_the_runs_around_it_and_what_else_changed() {
        let (history, changed) = example();
        let texts = [Lang::En, Lang::Ru].map(|lang| history_text(&history, &changed, lang, 80, false));
        expect_file!["../tests/golden/history.txt"].assert_eq(&texts.join("\n"));
    }

    #[test]
    fn of_fewer_than_four_runs_nothing_is_said_to_have_stayed() {
        let (mut history, _) = example();
        history.series.remove(0);
        history.runs.truncate(3);
        history.series[0].points.truncate(3);
        let text = history_text(&history, &Vec::new(), Lang::En, 80, false);
        assert!(text.contains("Too few runs to tell (4 are needed)") && !text.contains("No lasting change"), "{text}");
        let page = crate::history_html(&history, &Vec::new(), Lang::Ru);
        assert!(page.contains("Слишком мало прогонов, чтобы судить (нужно 4)"), "{page}");
        assert!(!page.contains("No value changed") && !page.contains("No lasting change"), "{page}");
    }

    #[test]
    fn the_page_has_each_change_in_words_and_each_case_as_a_chart_with_its_level() {
        let (history, changed) = example();
        let page = crate::history_html(&history, &changed, Lang::En);
        assert_eq!(page.matches("<figure").count(), 1, "one chart of the case with its two values");
        for text in ["Lasting changes: 1.", "▼ rand-read, IOPS:", "kernel: 6.1.0 → 6.12.1"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(page.contains("IOPS −15.7\u{a0}%") && page.contains("Стойких изменений: 1."), "{page}");
        let calm = History { series: history.series[1..].to_vec(), ..history };
        let page = crate::history_html(&calm, &Vec::new(), Lang::Ru);
        assert!(page.contains("No value changed for good") && !page.contains("id=\"changed\""), "{page}");
    }

    #[test]
    fn the_machine_form_of_a_history_is_stable() {
        let (history, changed) = example();
        expect_file!["../tests/golden/history.json"].assert_eq(&history_json(&history, &changed));
    }
}
