//! What a source answered over the run, below the load of the same time.

use super::thin::{self, Join};
use super::{SERIES_MAX, caps, from_zero, phases, since, time_axis, values};
use crate::chart::{Axis, Chart, Pane, Point, Quantity, Scale, Series, Unit};
use crate::sources::{self, SourcePoint};
use crate::trials::CaseTrials;
use stend_base::{Nanos, Say, say};
use stend_record::{RunRecord, SourceRecord};
use stend_spec::workload::Op;

/// A chart for each source with a value.
pub fn charts(run: &RunRecord, trials: &[CaseTrials<'_>], (start, end): (Nanos, Nanos)) -> Vec<Chart> {
    let load = load(trials, start);
    let of = |(at, source): (usize, &SourceRecord)| {
        let lines = by_unit(source, start);
        let count = lines.iter().map(Vec::len).sum::<usize>();
        if count == 0 {
            return None;
        }
        let panes = [load.clone()].into_iter().flatten().chain(lines.into_iter().map(pane)).collect();
        let (bands, more) = phases::of(run, start, end);
        let name = &source.info.name;
        let summary = say!(
            |l| "What `{name}` answered over the run ({count} lines), below the rate of each trial.",
            "Что отвечал `{name}` за прогон (линий: {count}), под скоростью каждого испытания."
        );
        Some(Chart {
            id: format!("source-{at}"),
            title: say!("`{name}` beside the load", "`{name}` рядом с нагрузкой"),
            summary: caps::left_out(summary, &say!("Phases", "Фазы"), more),
            x: time_axis(0.0, since(start, end)),
            panes,
            bands,
            events: Vec::new(),
        })
    };
    run.sources.iter().enumerate().filter_map(of).collect()
}

/// Mean rate of each trial over its window; `None` where no trial counts.
fn load(trials: &[CaseTrials<'_>], start: Nanos) -> Option<Pane> {
    let mut steps: Vec<Vec<Point>> = trials
        .iter()
        .flat_map(|case| &case.counting)
        .map(|trial| {
            let rate = trial.done(None, &Op::IO).0 as f64 / trial.window.as_secs();
            let at = |x: Nanos| Point { x: since(start, x), y: Some(rate), envelope: None };
            vec![at(trial.outcome.window_start), at(trial.outcome.window_end)]
        })
        .collect();
    steps.sort_by(|a, b| a[0].x.total_cmp(&b[0].x));
    let points = thin::line(steps, Join::Mean);
    let name = say!("the load", "нагрузка");
    let line = Series::line(name, Quantity::Iops, points);
    let y = from_zero(Say::same("IOPS"), Unit::Plain, std::slice::from_ref(&line));
    (!line.points.is_empty()).then(|| Pane::lines(y, vec![line]))
}

/// Its lines, those of one unit together, six at most.
fn by_unit(source: &SourceRecord, start: Nanos) -> Vec<Vec<(String, Series)>> {
    let mut groups: Vec<Vec<(String, Series)>> = Vec::new();
    for (at, info) in source.info.values.iter().enumerate() {
        let point = |point: &SourcePoint| Point { x: since(start, point.at), y: Some(point.value), envelope: None };
        let stretches = sources::stretches(source, at);
        let points =
            thin::line(stretches.iter().map(|stretch| stretch.iter().map(point).collect()).collect(), Join::Mean);
        if points.is_empty() {
            continue;
        }
        let place = groups.iter_mut().find(|group| group.len() < SERIES_MAX && group[0].0 == info.unit);
        let variant = place.as_ref().map_or(0, |group| group.len()) as u8;
        let (name, quantity) = (Say::same(&info.meaning), quantity(&info.unit));
        // Few answers are dots: what was between them is not known.
        let dots = super::few(&points);
        let line = Series { name, quantity, variant, points, dots, joined: dots, labels: Vec::new() };
        match place {
            Some(group) => group.push((info.unit.clone(), line)),
            None => groups.push(vec![(info.unit.clone(), line)]),
        }
    }
    groups
}

/// The colour of what is known by its unit.
fn quantity(unit: &str) -> Quantity {
    match unit {
        "%" => Quantity::Cpu,
        "°C" | "C" => Quantity::Temperature,
        "IOPS" => Quantity::Iops,
        "ms" | "µs" | "us" | "s" => Quantity::Latency,
        _ => Quantity::Throughput,
    }
}

fn pane(lines: Vec<(String, Series)>) -> Pane {
    let label = Say::same(lines.first().map_or("", |(unit, _)| unit));
    let lines: Vec<Series> = lines.into_iter().map(|(_, line)| line).collect();
    let least = values(&lines).fold(0.0, f64::min);
    let y = from_zero(label, Unit::Plain, &lines);
    Pane::lines(Axis { scale: Scale::Linear, from: least, ..y }, lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::source;
    use crate::trials::by_case;

    #[test]
    fn values_of_one_unit_share_a_pane_below_the_load() {
        let mut record = crate::fixture::run().six_blocks(&[1000.0]).record();
        let mut asked = source(false, &[(100, Some("10")), (101, None), (102, Some("-5"))]);
        for (unit, name) in [("%", "b"), ("W", "c")] {
            let value = asked.info.values[0].clone();
            asked.info.values.push(stend_record::SourceValueInfo { unit: unit.into(), meaning: name.into(), ..value });
        }
        for reading in &mut asked.readings {
            if let stend_record::SourceAnswer::Values(values) = &mut reading.answer {
                values.extend([Some("7".to_string()), Some("250".to_string())]);
            }
        }
        record.sources = vec![asked, source(false, &[(100, None)])];
        let cases = by_case(&record);
        let all = charts(&record, &cases, (Nanos::secs(99), Nanos::secs(130)));
        let [chart] = &all[..] else { panic!("a source without any value has no chart: {}", all.len()) };
        let panes: Vec<(&str, usize, f64)> =
            chart.panes.iter().map(|pane| (pane.y.label.en.as_str(), pane.series.len(), pane.y.from)).collect();
        assert_eq!(panes, [("IOPS", 1, 0.0), ("%", 2, -5.0), ("W", 1, 0.0)]);
        let line = &chart.panes[1].series[0];
        assert_eq!((line.name.en.as_str(), line.dots), ("CPU of controller A", true));
        assert_eq!(line.points.iter().map(|point| point.y).collect::<Vec<_>>(), [Some(10.0), None, Some(-5.0)]);
    }
}
