//! The axis of ratios that pictures of a comparison share: of the page and of Markdown.

use super::Line;
use stend_analyse::Comparison;
use stend_analyse::compare::{CaseComparison, Ratio, RatioValue};

/// Ratios beyond these are drawn at the edge.
const EDGES: (f64, f64) = (0.01, 100.0);
/// Least part on either side of 1 that the axis shows.
const ROOM: f64 = 1.1;

/// Ratios on a logarithmic axis, on which half and twice are equally far from 1.
pub struct Axis {
    /// Its left end, above 0.
    pub low: f64,
    /// Its right end.
    pub high: f64,
}

impl Axis {
    /// The axis that holds every interval of a comparison.
    pub fn of(comparison: &Comparison) -> Axis {
        Axis::over(&comparison.cells().map(|cell| cell.ratio).collect::<Vec<_>>())
    }

    fn over(ratios: &[&Ratio]) -> Axis {
        let ends = |ratio: &Ratio| {
            let value = at(ratio);
            [ratio.interval.map(|(low, _)| low), ratio.interval.map(|(_, high)| high), value]
        };
        let all = || ratios.iter().copied().flat_map(ends).flatten().filter(|end| end.is_finite() && *end > 0.0);
        let low = all().fold(1.0 / ROOM, f64::min).max(EDGES.0);
        let high = all().fold(ROOM, f64::max).min(EDGES.1);
        // Half an end's width of room for what is drawn there.
        let room = (high / low).ln() * 0.03;
        Axis { low: low * (-room).exp(), high: high * room.exp() }
    }

    /// Part of the axis left of a ratio, 0 to 1.
    pub fn place(&self, ratio: f64) -> f64 {
        let place = (ratio / self.low).ln() / (self.high / self.low).ln();
        place.clamp(0.0, 1.0)
    }

    /// Ratios that are written at the axis: 1, and round ones on either side, so that they do not touch.
    pub fn ticks(&self) -> Vec<f64> {
        const APART: f64 = 0.11;
        let round = [100.0_f64, 50.0, 20.0, 10.0, 5.0, 2.0, 1.5, 1.2, 1.1, 1.05, 1.02];
        let mut ticks = vec![1.0];
        for ratio in round.into_iter().flat_map(|round| [round, 1.0 / round]) {
            // A half is 50 %, two thirds are no round number.
            let ratio = if ratio < 1.0 { ((ratio * 100.0).round() / 100.0).max(0.01) } else { ratio };
            let far = |other: &f64| (self.place(ratio) - self.place(*other)).abs() >= APART;
            // A number at the very edge would be cut off.
            let inside = (0.04..=0.94).contains(&self.place(ratio)) && (self.low..=self.high).contains(&ratio);
            if inside && ticks.iter().all(far) {
                ticks.push(ratio);
            }
        }
        ticks
    }
}

/// Where a ratio is drawn.
pub fn at(ratio: &Ratio) -> Option<f64> {
    match ratio.value {
        RatioValue::At(value) | RatioValue::Above(value) | RatioValue::Below(value) => Some(value),
        RatioValue::Unknown => None,
    }
}

/// The ratio that a line of the table shows.
pub fn ratio_of<'a>(case: &'a CaseComparison, line: &Line) -> Option<&'a Ratio> {
    let (run, metric, stream) = line.cell?;
    case.cells().find(|cell| (cell.run, cell.metric, cell.stream) == (run, metric, stream)).map(|cell| cell.ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_and_twice_are_equally_far_from_one_and_ticks_stand_apart() {
        let axis = Axis { low: 0.25, high: 4.0 };
        let left = axis.place(1.0) - axis.place(0.5);
        assert!((left - (axis.place(2.0) - axis.place(1.0))).abs() < 1e-12);
        for axis in [axis, Axis { low: 0.9, high: 1.1 }, Axis { low: 0.01, high: 60.0 }] {
            let mut places: Vec<f64> = axis.ticks().iter().map(|tick| axis.place(*tick)).collect();
            places.sort_by(f64::total_cmp);
            assert!(places.len() >= 3 && places.windows(2).all(|two| two[1] - two[0] >= 0.11), "{places:?}");
        }
    }

    #[test]
    fn the_axis_holds_every_interval_but_ends_at_a_hundredfold() {
        let ratio =
            |low, high| Ratio { interval: Some((low, high)), ..crate::comparison::tests::over_trials(1.0, low, high) };
        let (near, far) = (ratio(0.8, 1.3), ratio(1e-9, 1e9));
        let axis = Axis::over(&[&near]);
        assert!(axis.low < 0.8 && axis.high > 1.3, "{} {}", axis.low, axis.high);
        let axis = Axis::over(&[&near, &far]);
        assert!(axis.low > 0.005 && axis.high < 200.0 && axis.place(1e9) == 1.0, "{} {}", axis.low, axis.high);
    }
}
