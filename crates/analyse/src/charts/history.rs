//! A case over many runs: its values in the order of time, the level before and after each lasting change, and where that was. The
//! changes themselves are found elsewhere.

use super::thin::{self, Join};
use super::{caps, few, from_zero, latency_axis};
use crate::chart::{Axis, Chart, Mark, Pane, Point, Quantity, Scale, Series, Unit};
use crate::history::{Change, Followed, History, RUNS_LEAST, Series as Followings};
use crate::phrase::op as op_name;
use stend_base::text::plural_en;
use stend_base::{Say, format, say, say_in};

/// Most cases that are drawn: by eye, what a page still is.
const CHARTS_MAX: usize = 40;
/// Most values of a case that are drawn.
const PANES_MAX: usize = 6;

/// One chart for each case, those that changed first; and how many cases are left out.
pub fn charts(history: &History) -> (Vec<Chart>, usize) {
    let mut cases: Vec<Vec<&Followings>> = Vec::new();
    for series in &history.series {
        let is_same =
            |case: &&mut Vec<&Followings>| case[0].label == series.label && case[0].workload == series.workload;
        match cases.last_mut().filter(is_same) {
            Some(case) => case.push(series),
            None => cases.push(vec![series]),
        }
    }
    cases.sort_by_key(|case| case.iter().all(|series| series.changes.is_empty()));
    let left_out = caps::cut(&mut cases, CHARTS_MAX);
    (cases.iter().enumerate().map(|(index, case)| chart(history, index, case)).collect(), left_out)
}

fn chart(history: &History, index: usize, case: &[&Followings]) -> Chart {
    let shown = &case[..case.len().min(PANES_MAX)];
    let marks = shown.iter().flat_map(|series| series.changes.iter().map(|change| mark(history, series, change)));
    let what = say!("Percentiles", "Перцентили");
    let label = say!("run, in the order of time", "прогон, в порядке времени");
    let chart = Chart {
        id: format!("history-{index}"),
        title: case[0].name(),
        summary: caps::left_out(summary(shown), &what, case.len() - shown.len()),
        x: Axis::new(label, Scale::Linear, Unit::Plain, 0.5, history.runs.len() as f64 + 0.5),
        panes: shown.iter().map(|series| pane(series)).collect(),
        bands: Vec::new(),
        events: joined(marks.collect()),
    };
    caps::merged(chart)
}

/// Marks in the order of the runs; those at one place are one.
fn joined(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by(|a, b| a.at.total_cmp(&b.at));
    let mut joined: Vec<Mark> = Vec::new();
    for mark in marks {
        match joined.last_mut().filter(|last| last.at == mark.at) {
            Some(last) => last.name = Say::both(|l| format!("{}, {}", last.name.get(l), mark.name.get(l))),
            None => joined.push(mark),
        }
    }
    joined
}

/// Runs are numbered from 1.
fn place(run: usize) -> f64 {
    run as f64 + 1.0
}

fn point(run: usize, value: f64) -> Point {
    Point { x: place(run), y: Some(value), envelope: None }
}

fn pane(series: &Followings) -> Pane {
    let (quantity, join) = match series.followed {
        Followed::Iops => (Quantity::Iops, Join::Mean),
        Followed::Throughput => (Quantity::Throughput, Join::Mean),
        Followed::P99 { .. } => (Quantity::Latency, Join::Largest),
    };
    let line = |name: Say, variant: u8, points: Vec<Point>, dots: bool| Series {
        variant,
        dots,
        ..Series::line(name, quantity, points)
    };
    let points = thin::line(vec![series.points.iter().map(|(run, value)| point(*run, *value)).collect()], join);
    let dots = few(&points);
    let mut lines = vec![line(say!("run", "прогон"), 0, points, dots)];
    if !series.changes.is_empty() {
        lines.push(line(say!("level", "уровень"), 1, levels(series), false));
    }
    let y = match series.followed {
        Followed::Iops => from_zero(Say::same("IOPS"), Unit::Plain, &lines),
        Followed::Throughput => {
            from_zero(say!("throughput, MB/s", "пропускная способность, МБ/с"), Unit::BytesPerSecond, &lines)
        }
        Followed::P99 { .. } => latency_axis(name(series.followed), &lines),
    };
    Pane::lines(y, lines)
}

/// The mean of each stretch between two changes, with a gap at each change.
fn levels(series: &Followings) -> Vec<Point> {
    let ends = series.points.first().zip(series.points.last()).map(|(first, last)| (first.0, last.0));
    let (first, last) = ends.unwrap_or_default();
    let mut points = Vec::new();
    let mut from = first;
    for change in &series.changes {
        points.extend([point(from, change.before), point(change.last, change.before)]);
        points.push(Point { x: (place(change.last) + place(change.first)) / 2.0, y: None, envelope: None });
        from = change.first;
    }
    points.extend(series.changes.last().iter().flat_map(|c| [point(from, c.after), point(last, c.after)]));
    points
}

fn mark(history: &History, series: &Followings, change: &Change) -> Mark {
    let by = |l| {
        let percent = (change.ratio() - 1.0) * 100.0;
        let sign = if percent > 0.0 { "+" } else { "−" };
        format!("{} {sign}{}\u{a0}%", name(series.followed).get(l), format::fixed(percent.abs(), 1, l))
    };
    let runs = [change.last, change.first].map(|run| history.runs.get(run).map_or("?", |(id, _)| id.as_str()));
    let [last, first] = runs;
    Mark {
        at: (place(change.last) + place(change.first)) / 2.0,
        name: Say::both(by),
        detail: say!("between {last} and {first}", "между {last} и {first}"),
    }
}

/// What is followed, in few words.
fn name(followed: Followed) -> Say {
    match followed {
        Followed::Iops => Say::same("IOPS"),
        Followed::Throughput => say!("throughput", "пропускная способность"),
        Followed::P99 { stream, .. } => {
            let Say { en, ru } = followed.op().map_or_else(|| Say::same(""), op_name);
            match stream {
                0 => say!("p99 of {en}", "p99 операции «{ru}»"),
                _ => {
                    let number = u32::from(stream) + 1;
                    say!("p99 of {en}, stream {number}", "p99 операции «{ru}», поток {number}")
                }
            }
        }
    }
}

fn summary(case: &[&Followings]) -> Say {
    let changes: usize = case.iter().map(|series| series.changes.len()).sum();
    let runs = case.iter().map(|series| series.points.len()).max().unwrap_or(0);
    Say::both(|l| {
        let n = format::count(runs as u64);
        let word = plural_en(runs as u64, "run", "runs");
        match changes {
            0 if runs < RUNS_LEAST => say_in!(
                l,
                "{n} {word}: too few to tell a lasting change ({RUNS_LEAST} are needed).",
                "Прогонов: {n}, этого мало, чтобы судить о стойком изменении (нужно {RUNS_LEAST})."
            ),
            0 => say_in!(
                l,
                "{n} {word} without a lasting change of 5 % or more.",
                "Прогонов: {n}, стойких изменений от 5 % нет."
            ),
            _ => say_in!(
                l,
                "{n} {word}; lasting changes: {c}, each with a mark and the level before and after it.",
                "Прогонов: {n}, стойких изменений: {c}, у каждого отметка и уровень до и после.",
                c = format::count(changes as u64)
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of which those from the fifth on are slower, and a case that is not.
    fn of(labels: &[&str]) -> History {
        let runs = (0..8).map(|i| (format!("R-{i}"), i)).collect();
        let followed = |label: &&str, followed, changes: Vec<Change>| Followings {
            label: label.to_string(),
            workload: None,
            followed,
            points: (0..8).map(|i| (i, if i < 4 || changes.is_empty() { 100.0 } else { 80.0 })).collect(),
            changes,
        };
        let change = Change { last: 3, first: 4, before: 100.0, after: 80.0 };
        let slower = |label: &&str| if label.starts_with("slower") { vec![change] } else { Vec::new() };
        let one = |label: &&str| {
            [
                followed(label, Followed::Iops, slower(label)),
                followed(label, Followed::P99 { stream: 0, op: 0 }, Vec::new()),
            ]
        };
        History { runs, series: labels.iter().flat_map(one).collect(), left_out: Vec::new() }
    }

    #[test]
    fn a_change_has_a_mark_between_its_runs_and_a_level_on_each_side() {
        let (charts, left_out) = charts(&of(&["slower"]));
        let [chart] = &charts[..] else { panic!("{charts:?}") };
        assert_eq!((chart.panes.len(), left_out), (2, 0));
        let [runs, level] = &chart.panes[0].series[..] else { panic!("{chart:?}") };
        assert_eq!((runs.points.len(), runs.points[0].x, runs.points[7].x), (8, 1.0, 8.0));
        let drawn: Vec<(f64, Option<f64>)> = level.points.iter().map(|p| (p.x, p.y)).collect();
        let expected = [(1.0, Some(100.0)), (4.0, Some(100.0)), (4.5, None), (5.0, Some(80.0)), (8.0, Some(80.0))];
        assert_eq!(drawn, expected);
        let [mark] = &chart.events[..] else { panic!("{chart:?}") };
        assert_eq!((mark.at, mark.name.en.as_str()), (4.5, "IOPS −20.0\u{a0}%"));
        assert_eq!(mark.detail.ru, "между R-3 и R-4");
        let joined = joined(vec![Mark { at: 6.5, ..mark.clone() }, mark.clone(), mark.clone()]);
        assert_eq!(joined.iter().map(|mark| mark.at).collect::<Vec<_>>(), [4.5, 6.5]);
        assert_eq!(joined[0].name.en, "IOPS −20.0\u{a0}%, IOPS −20.0\u{a0}%");
    }

    #[test]
    fn a_case_that_did_not_change_has_its_runs_alone_and_stands_behind_those_that_did() {
        let (charts, _) = charts(&of(&["a", "slower"]));
        let titles: Vec<&str> = charts.iter().map(|chart| chart.title.en.as_str()).collect();
        assert_eq!(titles, ["slower", "a"]);
        assert_eq!((charts[1].panes[0].series.len(), charts[1].events.len()), (1, 0));
        assert!(charts[1].summary.en.starts_with("8 runs without"), "{}", charts[1].summary.en);
    }

    #[test]
    fn of_few_runs_it_is_not_said_that_nothing_changed() {
        let summary = |runs: usize| {
            let mut history = of(&["a"]);
            history.runs.truncate(runs);
            history.series.iter_mut().for_each(|series| series.points.truncate(runs));
            charts(&history).0[0].summary.en.clone()
        };
        assert_eq!(summary(1), "1 run: too few to tell a lasting change (4 are needed).");
        assert!(
            summary(3).starts_with("3 runs: too few") && summary(4).starts_with("4 runs without"),
            "{}",
            summary(4)
        );
    }

    #[test]
    fn of_very_many_cases_those_that_changed_are_drawn_and_the_others_counted() {
        let mut labels: Vec<String> = (0..CHARTS_MAX + 4).map(|i| format!("case {i:03}")).collect();
        labels.push("slower".into());
        let (charts, left_out) = charts(&of(&labels.iter().map(String::as_str).collect::<Vec<_>>()));
        assert_eq!((charts.len(), left_out, charts[0].title.en.as_str()), (CHARTS_MAX, 5, "slower"));
        assert_eq!(super::charts(&of(&[])), (Vec::new(), 0));
    }
}
