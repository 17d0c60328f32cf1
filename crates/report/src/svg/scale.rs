//! Axes of a chart: where a value goes, which values get a tick, how ticks are written. Any axis, also
//! a senseless one (empty, reversed, not finite), gives finite places.

use stend_analyse::chart::{Axis, Mark, Scale, Unit};
use stend_base::{Lang, format};

/// More ticks than this are read as a texture, not as numbers.
const TICKS_MAX: usize = 8;
/// Steps between ticks aim at this many; by eye at 150 px of height.
const TICKS_AIM: f64 = 5.0;
/// Steps of time in seconds that people count in; above, multiples of an hour.
const TIME_STEPS: [f64; 12] = [0.001, 0.01, 0.1, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0];
/// Shares that a nines axis may label.
const NINES: [f64; 10] = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.999_99, 0.999_999, 0.999_999_9, 0.999_999_99];
/// Most names on an axis: the sides of the largest matrix.
const NAMES_MAX: usize = 16;
/// How far outside of the pane a point may lie, in lengths of the axis: far enough that a clipped
/// line keeps its direction, near enough for any renderer.
const OUTSIDE: f64 = 2.0;

/// Length of a cut as a part of the axis, and of all cuts together at most; by eye.
const CUT: f64 = 0.02;
const CUTS_ALL: f64 = 0.25;

/// An axis that can be drawn.
#[derive(Debug, Clone)]
pub struct DrawnAxis {
    scale: Scale,
    unit: Unit,
    from: f64,
    to: f64,
    /// Start and end of each stretch between cuts as (value, place); empty if the axis is whole.
    knots: Vec<(f64, f64)>,
    /// Places with names, which take the place of ticks; empty for an axis of numbers.
    names: Vec<Mark>,
}

impl DrawnAxis {
    /// The axis itself, or a plain 0 to 1 (1 to 10, 0 to 99 %) if its range cannot be drawn.
    pub fn new(axis: &Axis) -> DrawnAxis {
        let names = || axis.names.iter().filter(|n| n.at.is_finite()).cloned().collect();
        let ruler =
            |from, to| DrawnAxis { scale: axis.scale, unit: axis.unit, from, to, knots: Vec::new(), names: names() };
        let span = project(axis.scale, axis.to) - project(axis.scale, axis.from);
        if axis.from < axis.to && span.is_finite() && span > 0.0 && (axis.to - axis.from).is_finite() {
            return ruler(axis.from, axis.to);
        }
        match axis.scale {
            Scale::Linear => ruler(0.0, 1.0),
            Scale::Log => ruler(1.0, 10.0),
            Scale::Nines => ruler(0.0, 0.99),
        }
    }

    /// A linear axis of which only the stretches are drawn to scale and everything between them is cut
    /// short. Whole if there are fewer than two. Stretches ascend, lie apart and inside the axis.
    pub fn cut(axis: &Axis, stretches: &[(f64, f64)]) -> DrawnAxis {
        let mut ruler = DrawnAxis::new(axis);
        let total: f64 = stretches.iter().map(|(from, to)| to - from).sum();
        if stretches.len() < 2 || !total.is_finite() || total <= 0.0 {
            return ruler;
        }
        let cuts = (stretches.len() - 1) as f64;
        let cut = CUT.min(CUTS_ALL / cuts);
        let mut place = 0.0;
        for (from, to) in stretches {
            let end = place + (to - from) / total * (1.0 - cut * cuts);
            ruler.knots.extend([(*from, place), (*to, end)]);
            place = end + cut;
        }
        ruler
    }

    /// Places in the middle of the cuts.
    pub fn cuts(&self) -> impl Iterator<Item = f64> {
        let inner = self.knots.get(1..self.knots.len().saturating_sub(1)).unwrap_or_default();
        inner.chunks_exact(2).map(|pair| (pair[0].1 + pair[1].1) / 2.0)
    }

    /// Place of a value: 0 at the start of the axis, 1 at its end, clamped not far outside.
    /// `None` for NaN.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !self.knots.is_empty() {
            return self.place_between_knots(value);
        }
        let (from, to) = (project(self.scale, self.from), project(self.scale, self.to));
        let place = (project(self.scale, value) - from) / (to - from);
        if place.is_nan() { None } else { Some(place.clamp(-OUTSIDE, 1.0 + OUTSIDE)) }
    }

    fn place_between_knots(&self, value: f64) -> Option<f64> {
        let (first, last) = (self.knots.first()?, self.knots.last()?);
        match self.knots.partition_point(|knot| knot.0 <= value) {
            _ if value.is_nan() => None,
            0 => Some(first.1),
            n if n == self.knots.len() => Some(last.1),
            n => {
                let ((x0, p0), (x1, p1)) = (self.knots[n - 1], self.knots[n]);
                let place = p0 + (value - x0) / (x1 - x0) * (p1 - p0);
                place.is_finite().then_some(place)
            }
        }
    }

    /// Values with a tick, ascending, at most eight. On a cut axis: where its stretches begin; on an
    /// axis with names: the named places, at most sixteen.
    pub fn ticks(&self) -> Vec<f64> {
        if !self.names.is_empty() {
            let inside = |at: &f64| (self.from..=self.to).contains(at);
            let mut places: Vec<f64> = self.names.iter().map(|n| n.at).filter(inside).collect();
            places.sort_by(f64::total_cmp);
            let stride = places.len().div_ceil(NAMES_MAX).max(1);
            return places.into_iter().step_by(stride).collect();
        }
        if !self.knots.is_empty() {
            let starts: Vec<f64> = self.knots.iter().step_by(2).map(|knot| knot.0).collect();
            let stride = starts.len().div_ceil(TICKS_MAX).max(1);
            return starts.into_iter().step_by(stride).map(|s| (s * 10.0).round() / 10.0).collect();
        }
        let inside = |v: &f64| (self.from..=self.to).contains(v);
        let ticks: Vec<f64> = match self.scale {
            Scale::Linear => self.linear_ticks(),
            Scale::Nines => NINES.into_iter().filter(inside).take(TICKS_MAX).collect(),
            Scale::Log => self.log_ticks(),
        };
        ticks.into_iter().filter(inside).collect()
    }

    /// The name at a place, if it has one.
    pub fn name(&self, value: f64) -> Option<&Mark> {
        self.names.iter().find(|n| n.at == value)
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let step = step(self.to - self.from, self.unit);
        let first = (self.from / step).ceil();
        (0..TICKS_MAX).map(|i| (first + i as f64) * step).collect()
    }

    /// Decades; with few of them also 2 and 5 times a decade, with many only some.
    fn log_ticks(&self) -> Vec<f64> {
        let (low, high) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        let with = |factors: &[f64]| -> Vec<f64> {
            let decades = (low..=high).flat_map(|d| factors.iter().map(move |f| f * 10f64.powi(d)));
            decades.filter(|v| (self.from..=self.to).contains(v)).collect()
        };
        let (fine, decades) = (with(&[1.0, 2.0, 5.0]), with(&[1.0]));
        match (fine.len(), decades.len()) {
            (0..=1, _) => self.linear_ticks(),
            (_, 0..=2) if fine.len() <= TICKS_MAX => fine,
            (_, n) => decades.into_iter().step_by(n.div_ceil(TICKS_MAX).max(1)).collect(),
        }
    }

    /// How a tick is written.
    pub fn label(&self, value: f64, lang: Lang) -> String {
        if let Some(mark) = self.name(value) {
            return mark.name.get(lang).to_string();
        }
        match self.unit {
            Unit::Plain | Unit::Seconds => short(value, lang),
            Unit::BytesPerSecond => short(value / 1e6, lang),
            Unit::Share => format!("{} %", short(value * 100.0, lang)),
            Unit::LatencyNs => latency(value, lang),
            Unit::Bytes => bytes(value, lang),
        }
    }
}

/// Where a value lies before it is scaled to the length of the axis.
fn project(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Log if value <= 0.0 => f64::NEG_INFINITY,
        Scale::Log => value.log10(),
        Scale::Nines if value >= 1.0 => f64::INFINITY,
        Scale::Nines => -(1.0 - value).log10(),
    }
}

/// Smallest step of 1, 2 or 5 times a power of ten (for time: of seconds, minutes, hours) that gives
/// about [`TICKS_AIM`] ticks.
fn step(span: f64, unit: Unit) -> f64 {
    let least = span / TICKS_AIM;
    if unit == Unit::Seconds && least >= TIME_STEPS[0] {
        if let Some(step) = TIME_STEPS.into_iter().find(|s| *s >= least) {
            return step;
        }
        if least <= 3600.0 {
            return if least <= 600.0 { 600.0 } else { 3600.0 };
        }
        return 3600.0 * round_up(least / 3600.0);
    }
    if unit == Unit::Bytes && least >= 1.0 {
        return least.log2().ceil().exp2();
    }
    round_up(least)
}

/// The next 1, 2 or 5 times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|f| f * power).find(|s| *s >= value * 0.999_999).unwrap_or(value)
}

/// A size without needless zeros: `512 MiB`, `1.5 GiB`.
fn bytes(value: f64, lang: Lang) -> String {
    let names = match lang {
        Lang::En => ["B", "KiB", "MiB", "GiB", "TiB", "PiB"],
        Lang::Ru => ["Б", "КиБ", "МиБ", "ГиБ", "ТиБ", "ПиБ"],
    };
    let power = (value.abs().max(1.0).log2() / 10.0).floor().min((names.len() - 1) as f64);
    format!("{}\u{a0}{}", short(value / 1024f64.powf(power), lang), names[power.max(0.0) as usize])
}

/// A latency without needless zeros: `1 µs`, `2.5 ms`.
fn latency(ns: f64, lang: Lang) -> String {
    let names = match lang {
        Lang::En => ["ns", "µs", "ms", "s"],
        Lang::Ru => ["нс", "мкс", "мс", "с"],
    };
    let (scale, name) = match ns.abs() {
        a if a < 1e3 => (1.0, names[0]),
        a if a < 1e6 => (1e3, names[1]),
        a if a < 1e9 => (1e6, names[2]),
        _ => (1e9, names[3]),
    };
    format!("{}\u{a0}{name}", short(ns / scale, lang))
}

/// A number with as many decimals as it needs, at most six; from a million on in millions.
fn short(value: f64, lang: Lang) -> String {
    let magnitude = value.abs();
    let million = match lang {
        Lang::En => "M",
        Lang::Ru => "млн",
    };
    match magnitude {
        m if !m.is_finite() => "—".to_string(),
        0.0 => "0".to_string(),
        m if !(1e-6..1e13).contains(&m) => format!("{value:.0e}"),
        m if m >= 1e6 => format!("{}\u{a0}{million}", decimals(value / 1e6, lang)),
        _ => decimals(value, lang),
    }
}

fn decimals(value: f64, lang: Lang) -> String {
    let exact = |digits: &usize| {
        let scaled = value * 10f64.powi(*digits as i32);
        (scaled - scaled.round()).abs() <= 1e-6 * scaled.abs().max(1.0)
    };
    format::fixed(value, (0..6).find(exact).unwrap_or(6), lang)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stend_base::Say;

    fn axis(scale: Scale, unit: Unit, from: f64, to: f64) -> Axis {
        Axis::new(Say::same("x"), scale, unit, from, to)
    }

    fn labels(scale: Scale, unit: Unit, from: f64, to: f64) -> String {
        let ruler = DrawnAxis::new(&axis(scale, unit, from, to));
        let labels: Vec<_> = ruler.ticks().into_iter().map(|t| ruler.label(t, Lang::En)).collect();
        labels.join(" | ").replace('\u{a0}', " ")
    }

    #[test]
    fn ticks_are_round_numbers() {
        use Scale::*;
        assert_eq!(labels(Linear, Unit::Plain, 0.0, 460_000.0), "0 | 100 000 | 200 000 | 300 000 | 400 000");
        assert_eq!(labels(Linear, Unit::Plain, 0.0, 0.7), "0 | 0.2 | 0.4 | 0.6");
        assert_eq!(labels(Linear, Unit::Share, 0.0, 1.0), "0 % | 20 % | 40 % | 60 % | 80 % | 100 %");
        assert_eq!(labels(Linear, Unit::BytesPerSecond, 0.0, 3.2e9), "0 | 1000 | 2000 | 3000");
        assert_eq!(labels(Linear, Unit::Plain, 0.0, 3.2e6), "0 | 1 M | 2 M | 3 M");
    }

    #[test]
    fn time_is_ticked_in_seconds_minutes_and_hours() {
        use Scale::Linear;
        assert_eq!(labels(Linear, Unit::Seconds, 0.0, 3.0), "0 | 1 | 2 | 3");
        assert_eq!(labels(Linear, Unit::Seconds, 0.0, 190.0), "0 | 60 | 120 | 180");
        assert_eq!(labels(Linear, Unit::Seconds, 0.0, 9000.0), "0 | 3600 | 7200");
    }

    #[test]
    fn latency_is_ticked_by_decades_and_finer_when_there_are_few() {
        use Scale::Log;
        assert_eq!(labels(Log, Unit::LatencyNs, 9e3, 2e8), "10 µs | 100 µs | 1 ms | 10 ms | 100 ms");
        assert_eq!(labels(Log, Unit::LatencyNs, 6e4, 2e6), "100 µs | 200 µs | 500 µs | 1 ms | 2 ms");
        assert_eq!(labels(Log, Unit::LatencyNs, 2.1e4, 4.2e4), "25 µs | 30 µs | 35 µs | 40 µs");
    }

    #[test]
    fn shares_are_ticked_by_nines() {
        assert_eq!(labels(Scale::Nines, Unit::Share, 0.0, 0.9999), "0 % | 50 % | 90 % | 99 % | 99.9 % | 99.99 %");
        let ruler = DrawnAxis::new(&axis(Scale::Nines, Unit::Share, 0.0, 0.9999));
        assert_eq!(ruler.place(0.99).map(|p| (p * 100.0).round()), Some(50.0));
    }

    #[test]
    fn a_senseless_range_is_replaced() {
        for (scale, from, to) in [
            (Scale::Linear, 1.0, 1.0),
            (Scale::Linear, f64::NAN, 1.0),
            (Scale::Linear, f64::MIN, f64::MAX),
            (Scale::Log, 0.0, 10.0),
            (Scale::Log, -5.0, -1.0),
            (Scale::Nines, 0.0, 1.0),
            (Scale::Nines, 5.0, 6.0),
        ] {
            let ruler = DrawnAxis::new(&axis(scale, Unit::Plain, from, to));
            assert!(ruler.place(0.5).is_some_and(f64::is_finite), "{scale:?} {from} {to}");
            assert!(!ruler.ticks().is_empty(), "{scale:?} {from} {to}");
        }
    }

    #[test]
    fn a_cut_axis_gives_its_length_to_the_stretches() {
        let axis = axis(Scale::Linear, Unit::Seconds, 0.0, 100.0);
        let ruler = DrawnAxis::cut(&axis, &[(0.0, 4.0), (50.0, 54.0)]);
        let place = |v| ruler.place(v).map(|p| (p * 100.0).round());
        assert_eq!([0.0, 4.0, 50.0, 54.0, 100.0].map(place), [0.0, 49.0, 51.0, 100.0, 100.0].map(Some));
        assert_eq!(ruler.ticks(), [0.0, 50.0]);
        assert_eq!(ruler.cuts().map(|p| (p * 100.0).round()).collect::<Vec<_>>(), [50.0]);
        assert_eq!(DrawnAxis::cut(&axis, &[(0.0, 4.0)]).cuts().count(), 0);
    }

    proptest! {
        #[test]
        fn any_axis_has_few_finite_ticks_in_order(from: f64, to: f64, value: f64, kind in 0..3usize, time: bool) {
            let scale = [Scale::Linear, Scale::Log, Scale::Nines][kind];
            let ruler = DrawnAxis::new(&axis(scale, if time { Unit::Seconds } else { Unit::LatencyNs }, from, to));
            let ticks = ruler.ticks();
            prop_assert!(ticks.len() <= TICKS_MAX);
            prop_assert!(ticks.iter().all(|t| ruler.place(*t).is_some_and(|p| (-1e-9..=1.0 + 1e-9).contains(&p))));
            prop_assert!(ticks.is_sorted());
            prop_assert!(ruler.place(value).is_none_or(f64::is_finite));
        }
    }
}
