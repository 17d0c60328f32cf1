//! The rounds of a case until its rate was steady, or was not: the curve of workload-dependent preconditioning, with the window of
//! the last five and what the rule allows around its mean.

use super::steady::{curve, rate_axis};
use super::{caps, from_zero};
use crate::chart::{Axis, Chart, Pane, Scale, Unit};
use crate::findings::Headline;
use crate::pts::Window;
use crate::steady::{rates, series};
use stend_base::{Say, format, say, say_in};
use stend_record::RunRecord;

/// Most rounds that are drawn.
const ROUNDS_MAX: usize = 600;

/// The last rounds before the trials of a case; `None` if it has none.
pub fn chart(run: &RunRecord, case: u32, headline: Headline) -> Option<Chart> {
    let rounds = series(run, case).pop()?;
    let all = rates(headline, &rounds);
    let (window, mut values) = (all.window(), all.values().to_vec());
    let (count, more) = (values.len(), values.len().saturating_sub(ROUNDS_MAX));
    // The last ones are those that the rule looks at.
    values.drain(..more);
    let first = more as f64 + 1.0;
    let lines = curve(&values, first, window, say!("round", "раунд"), headline);
    let (label, unit) = rate_axis(headline);
    let x = Axis::new(say!("round", "раунд"), Scale::Linear, Unit::Plain, first - 0.5, (count.max(1) as f64) + 0.5);
    let left_out = caps::left_out(summary(window), &say!("First rounds", "Первые раунды"), more);
    (!values.is_empty()).then(|| Chart {
        id: format!("case-{case}-rounds"),
        title: say!("Rounds until steady state", "Раунды до установившегося режима"),
        summary: left_out,
        x,
        panes: vec![Pane::lines(from_zero(label, unit, &lines), lines)],
        bands: Vec::new(),
        events: Vec::new(),
    })
}

fn summary(window: Option<Window>) -> Say {
    let Some(window) = window else {
        return say!(
            "Fewer than five complete rounds in a row: the rule of SNIA's PTS cannot be applied.",
            "Подряд удалось меньше пяти раундов: правило SNIA PTS применить нельзя."
        );
    };
    let steady = window.is_steady();
    Say::both(|l| {
        let (range, slope) = (format::percent(window.range, l), format::percent(window.excursion(), l));
        match steady {
            true => say_in!(
                l,
                "Steady: the last five rounds span {range} of their mean, and the line fitted through them moves by {slope}; 20 % and 10 % are allowed (SNIA PTS).",
                "Режим установился: размах последних пяти раундов — {range} от среднего, проведённая через них прямая уходит на {slope}; допустимо 20 % и 10 % (SNIA PTS)."
            ),
            false => say_in!(
                l,
                "Not steady: the last five rounds span {range} of their mean, and the line fitted through them moves by {slope}; 20 % and 10 % are allowed (SNIA PTS).",
                "Режим не установился: размах последних пяти раундов — {range} от среднего, проведённая через них прямая уходит на {slope}; допустимо 20 % и 10 % (SNIA PTS)."
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run;
    use crate::fixture_rounds::settled;

    #[test]
    fn the_curve_has_every_round_and_the_window_of_the_last_five() {
        let record = settled(25, &[20_000.0, 12_000.0, 10_000.0, 10_000.0, 10_000.0, 10_000.0], &[10_000.0; 6]);
        let chart = chart(&record, 0, Headline::Iops).unwrap();
        let [curve, band, line] = &chart.panes[0].series[..] else { panic!("{chart:?}") };
        let x = |series: &crate::chart::Series| series.points.iter().map(|point| point.x).collect::<Vec<_>>();
        assert_eq!((x(curve), x(band), x(line)), (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![2.0, 6.0], vec![2.0, 6.0]));
        let (low, high) = band.points[0].envelope.unwrap();
        assert!((high - low - 0.2 * 10_400.0).abs() < 1e-6, "{low} {high}");
        assert!(
            chart.summary.en.starts_with("Not steady") && chart.summary.ru.starts_with("Режим не"),
            "{}",
            chart.summary.en
        );
    }

    #[test]
    fn four_rounds_have_a_curve_without_a_window_and_none_have_no_chart() {
        let chart_of = |record: &RunRecord| chart(record, 0, Headline::Iops);
        let four = chart_of(&settled(5, &[10_000.0; 4], &[10_000.0; 6])).unwrap();
        assert_eq!(four.panes[0].series.len(), 1);
        assert_eq!(chart_of(&run().trial(0).done().record()), None);
    }

    #[test]
    fn of_very_many_rounds_the_last_are_drawn() {
        let long = chart(&settled(1000, &[10_000.0; 700], &[10_000.0]), 0, Headline::Iops).unwrap();
        assert_eq!((long.panes[0].series[0].points.len(), long.x.from), (600, 100.5));
        assert!(long.summary.en.contains("100"), "{}", long.summary.en);
    }
}
