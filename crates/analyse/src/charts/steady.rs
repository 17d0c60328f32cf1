//! Whether a case held its rate from block to block: its trials with a band of ± 10 % around their mean
//! and the line fitted through them. Information only: check H21 judges.

use super::{caps, few, from_zero};
use crate::chart::{Axis, Chart, Mark, Pane, Point, Quantity, Scale, Series, Unit};
use crate::findings::Headline;
use crate::limits::{STEADY_RANGE, STEADY_ROUNDS};
use crate::pts::Window;
use crate::trials::CaseTrials;
use stend_base::{Say, format, say, say_in};
use stend_spec::workload::Op;
use stend_stats::{line, mean};

/// Fewest trials: through two any line fits.
const TRIALS_MIN: usize = 3;
/// Half the band around the mean: a range of 20 % in all.
//= SNIA PTS, steady state: max - min <= 20 % of the mean.
const BAND: f64 = STEADY_RANGE / 2.0;
/// Most values that are drawn; more are a time series.
const TRIALS_MAX: usize = 600;

/// The headline rate of each counting trial, in the order of blocks. `None` with fewer than three.
pub fn chart(case: &CaseTrials<'_>, headline: Headline) -> Option<Chart> {
    let mut trials = case.counting.clone();
    trials.sort_by_key(|t| (t.record.block, t.record.trial));
    let more = caps::cut(&mut trials, TRIALS_MAX);
    let values: Vec<f64> = trials
        .iter()
        .map(|trial| {
            let (ops, bytes) = trial.done(None, &Op::IO);
            let done = if headline == Headline::Iops { ops } else { bytes };
            done as f64 / trial.window.as_secs()
        })
        .collect();
    let (first, last) = line::ends(&values).filter(|_| values.len() >= TRIALS_MIN)?;
    let mean = mean(&values).filter(|m| *m > 0.0)?;
    let whole = Window { mean, range: 0.0, ends: (first, last) };
    let lines = drawn(&values, 1.0, Some((whole, values.len())), say!("trial", "испытание"), headline);
    let (label, unit) = rate_axis(headline);
    let range = values.iter().copied().fold(0.0, f64::max) - values.iter().copied().fold(f64::INFINITY, f64::min);
    Some(Chart {
        id: format!("case-{}-steady", case.case),
        title: say!("Rate from block to block", "Скорость от блока к блоку"),
        summary: caps::left_out(summary(range / mean, (last - first) / mean), &say!("Trials", "Испытания"), more),
        x: blocks(trials.iter().map(|t| t.record.block)),
        panes: vec![Pane::lines(from_zero(label, unit, &lines), lines)],
        bands: Vec::new(),
        events: Vec::new(),
    })
}

/// Name and unit of the axis of a headline rate.
pub(super) fn rate_axis(headline: Headline) -> (Say, Unit) {
    match headline {
        Headline::Iops => (Say::same("IOPS"), Unit::Plain),
        Headline::Throughput => (say!("throughput, MB/s", "пропускная способность, МБ/с"), Unit::BytesPerSecond),
    }
}

/// Values from `first` on, and around the last five what the rule allows, if there are so many.
pub(super) fn curve(values: &[f64], first: f64, window: Option<Window>, name: Say, headline: Headline) -> Vec<Series> {
    drawn(values, first, window.map(|window| (window, STEADY_ROUNDS)), name, headline)
}

/// Values from `first` on, and around the last ones of them a band of ± 10 % and the fitted line.
fn drawn(values: &[f64], first: f64, window: Option<(Window, usize)>, name: Say, headline: Headline) -> Vec<Series> {
    let quantity = match headline {
        Headline::Iops => Quantity::Iops,
        Headline::Throughput => Quantity::Throughput,
    };
    let point =
        |x: f64, y: f64, half: Option<f64>| Point { x, y: Some(y), envelope: half.map(|half| (y - half, y + half)) };
    let series = |name: Say, variant: u8, points: Vec<Point>, dots: bool| Series {
        variant,
        dots,
        ..Series::line(name, quantity, points)
    };
    let measured: Vec<Point> = values.iter().enumerate().map(|(i, v)| point(i as f64 + first, *v, None)).collect();
    let dots = few(&measured);
    let mut lines = vec![series(name, 0, measured, dots)];
    if let Some((Window { mean, ends, .. }, length)) = window {
        let to = first + values.len() as f64 - 1.0;
        let (from, half) = (to + 1.0 - length as f64, Some(BAND * mean));
        let band = vec![point(from, mean, half), point(to, mean, half)];
        lines.push(series(say!("mean ± 10 %", "среднее ± 10 %"), 1, band, false));
        let fitted = vec![point(from, ends.0, None), point(to, ends.1, None)];
        lines.push(series(say!("fitted line", "прямая МНК"), 2, fitted, false));
    }
    lines
}

/// An axis with a place for each block, named by its number.
fn blocks(numbers: impl Iterator<Item = u32>) -> Axis {
    let name = |(i, block): (usize, u32)| {
        let name = Say::same(block.saturating_add(1).to_string());
        Mark { at: i as f64 + 1.0, name, detail: Say::same("") }
    };
    let names: Vec<Mark> = numbers.enumerate().map(name).collect();
    let to = names.len() as f64 + 0.5;
    Axis { names, ..Axis::new(say!("block", "блок"), Scale::Linear, Unit::Plain, 0.5, to) }
}

/// Range and slope in words, beside what the rule of SNIA's PTS allows.
fn summary(range: f64, slope: f64) -> Say {
    Say::both(|l| {
        let (range, slope) = (format::percent(range, l), format::percent(slope.abs(), l));
        say_in!(
            l,
            "The trials span {range} of their mean, and the line fitted through them moves by {slope}. For orientation: the steady-state rule of SNIA's PTS allows 20 % and 10 % over five rounds.",
            "Размах испытаний — {range} от среднего, проведённая через них прямая уходит на {slope}. Для ориентира: правило установившегося режима SNIA PTS допускает 20 % и 10 % за пять раундов."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run;
    use crate::trials::by_case;

    fn of(rates: &[f64]) -> Option<Chart> {
        let record = rates.iter().fold(run(), |run, rate| run.trial(0).iops(*rate).done()).record();
        chart(&by_case(&record)[0], Headline::Iops)
    }

    #[test]
    fn range_and_slope_are_those_of_the_method() {
        // The example that passes by its range and fails by its slope: 11 and 10.8 of 100.4.
        let summary = of(&[9_500.0, 9_800.0, 10_000.0, 10_300.0, 10_600.0]).unwrap().summary.en;
        assert!(summary.contains("span 11.0 %") && summary.contains("moves by 10.8 %"), "{summary}");
        let level = of(&[10_000.0, 10_400.0, 9_800.0, 10_200.0, 10_100.0]).unwrap().summary.en;
        assert!(level.contains("span 5.9 %") && level.contains("moves by 0.0 %"), "{level}");
    }

    #[test]
    fn the_band_is_ten_percent_to_each_side() {
        let chart = of(&[9_000.0, 10_000.0, 11_000.0]).unwrap();
        assert_eq!(chart.panes[0].series[1].points[0].envelope, Some((9_000.0, 11_000.0)));
        assert_eq!(chart.x.names.len(), 3);
    }

    #[test]
    fn two_trials_have_no_line() {
        assert_eq!(of(&[9_000.0, 10_000.0]), None);
    }
}
