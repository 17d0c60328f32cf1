//! What must hold of the drawing of any chart, however hostile.

use super::*;
use crate::fixture::{HOSTILE, assert_well_formed, series, time_chart};
use proptest::prelude::*;
use stend_analyse::chart::{Axis, Band, Point, Quantity, Scale, Series, Unit};
use stend_base::Say;

#[test]
fn a_chart_draws_its_lines_gaps_and_bands() {
    let svg = svg(&time_chart("c1"), Lang::En);
    assert_well_formed(&svg);
    assert_eq!(svg.matches("class=\"band\"").count(), 2);
    assert!(svg.contains("class=\"line q-iops v0\""), "{svg}");
    assert!(svg.contains("class=\"envelope q-iops v0\""), "{svg}");
    // The gap between the two trials cuts the line.
    assert_eq!(svg.matches("class=\"line q-iops v0\"").count(), 2);
}

#[test]
fn waiting_between_trials_is_cut_and_said() {
    let svg = svg(&time_chart("c1"), Lang::En);
    assert_eq!(svg.matches("class=\"cut\"").count(), 1);
    assert!(svg.contains("other cases ran") && svg.contains("между ними шли другие случаи"));
    let mut whole = time_chart("c1");
    whole.panes.iter_mut().flat_map(|p| &mut p.series).for_each(|s| s.points.truncate(20));
    assert!(!super::svg(&whole, Lang::En).contains("class=\"cut\""));
}

#[test]
fn few_points_are_dots() {
    let mut chart = time_chart("c1");
    chart.panes.truncate(1);
    chart.panes[0].series = vec![series("IOPS", Quantity::Iops, 0, &[1.0, 2.0, 3.0])];
    chart.panes[0].series[0].dots = true;
    let svg = svg(&chart, Lang::En);
    assert_eq!((svg.matches("class=\"dot").count(), svg.matches("class=\"line").count()), (3, 0));
}

#[test]
fn direct_labels_do_not_touch() {
    let mut chart = time_chart("c1");
    let flat = |i: u8| series(&format!("line {i}"), Quantity::Latency, i, &[5e5; 40]);
    chart.panes[1].series = (0..6).map(flat).collect();
    let svg = svg(&chart, Lang::En);
    let mut tops: Vec<f64> = svg
        .split("class=\"direct q-latency\"")
        .skip(1)
        .filter_map(|s| s.split(" y=\"").nth(1)?.split('"').next()?.parse().ok())
        .collect();
    tops.sort_by(f64::total_cmp);
    assert_eq!(tops.len(), 6);
    assert!(tops.windows(2).all(|w| w[1] - w[0] >= 12.9), "{tops:?}");
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    assert_eq!(svg(&time_chart("c"), Lang::Ru), svg(&time_chart("c"), Lang::Ru));
}

fn any_axis() -> impl Strategy<Value = Axis> {
    let scale = prop_oneof![Just(Scale::Linear), Just(Scale::Log), Just(Scale::Nines)];
    let unit = prop_oneof![
        Just(Unit::Plain),
        Just(Unit::Seconds),
        Just(Unit::LatencyNs),
        Just(Unit::BytesPerSecond),
        Just(Unit::Share)
    ];
    (scale, unit, any::<f64>(), any::<f64>(), 0..HOSTILE.len())
        .prop_map(|(scale, unit, from, to, name)| Axis::new(Say::same(HOSTILE[name]), scale, unit, from, to))
}

fn any_series() -> impl Strategy<Value = Series> {
    let point = (any::<f64>(), any::<Option<f64>>(), any::<Option<(f64, f64)>>());
    (prop::collection::vec(point, 0..20), any::<u8>(), any::<bool>(), 0..HOSTILE.len()).prop_map(
        |(points, variant, dots, name)| Series {
            name: Say::same(HOSTILE[name]),
            quantity: Quantity::Latency,
            variant,
            points: points.into_iter().map(|(x, y, envelope)| Point { x, y, envelope }).collect(),
            dots,
            labels: Vec::new(),
        },
    )
}

proptest! {
    #[test]
    fn any_chart_gives_well_formed_finite_markup(
        x in any_axis(),
        panes in prop::collection::vec((any_axis(), prop::collection::vec(any_series(), 0..7)), 0..4),
        bands in prop::collection::vec((any::<f64>(), any::<f64>(), 0..HOSTILE.len()), 0..4),
    ) {
        let chart = Chart {
            id: HOSTILE[0].into(),
            title: Say::same(HOSTILE[1]),
            summary: Say::same(HOSTILE[2]),
            x,
            panes: panes.into_iter().map(|(y, series)| Pane::lines(y, series)).collect(),
            bands: bands
                .into_iter()
                .map(|(from, to, name)| Band { from, to, label: Say::same(HOSTILE[name]) })
                .collect(),
            events: Vec::new(),
        };
        let svg = svg(&chart, Lang::Ru);
        assert_well_formed(&svg);
        for attribute in svg.split('<').flat_map(|tag| tag.split('>').next()).filter(|tag| tag.contains(" d=")) {
            prop_assert!(!attribute.contains("NaN") && !attribute.contains("inf"), "{attribute}");
        }
        prop_assert!(!svg.contains("\"NaN") && !svg.contains("\"inf") && !svg.contains("\"-inf"));
    }
}
