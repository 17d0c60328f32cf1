//! What must hold of the drawing of any chart, however hostile.

use super::*;
use crate::fixture::{HOSTILE, assert_well_formed, heat_chart, matrix_chart, scaling_chart, series, time_chart};
use proptest::prelude::*;
use stend_analyse::chart::{Axis, Band, Cell, Field, Mark, Point, Quantity, Scale, Series, Unit};
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
fn an_axis_of_rates_is_never_cut_because_nothing_runs_between_two_rates() {
    let mut rates = time_chart("c1");
    rates.x.unit = Unit::Plain;
    let svg = svg(&rates, Lang::En);
    assert!(!svg.contains("class=\"cut\"") && !svg.contains("other cases ran"));
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
fn joined_dots_have_a_thin_line_and_their_intervals_stay_bars() {
    let mut chart = time_chart("c1");
    chart.panes.truncate(1);
    let mut joined = series("IOPS", Quantity::Iops, 0, &[1.0, 2.0, 3.0]);
    (joined.dots, joined.joined, joined.points[0].envelope) = (true, true, Some((0.5, 1.5)));
    chart.panes[0].series = vec![joined];
    let svg = svg(&chart, Lang::En);
    assert_eq!((svg.matches("class=\"dot").count(), svg.matches("class=\"line thin").count()), (3, 1));
    assert_eq!((svg.matches("class=\"whisker ").count(), svg.matches("class=\"envelope").count()), (1, 0));
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
            variant,
            dots,
            ..Series::line(
                Say::same(HOSTILE[name]),
                Quantity::Latency,
                points.into_iter().map(|(x, y, envelope)| Point { x, y, envelope }).collect(),
            )
        },
    )
}

fn any_field() -> impl Strategy<Value = Field> {
    let edges = || prop::collection::vec(any::<(f64, f64)>(), 0..6);
    let cell = (0..8u16, 0..8u16, any::<f64>()).prop_map(|(column, row, value)| Cell { column, row, value });
    let numbers = prop::collection::vec(any::<f64>(), 0..10);
    (edges(), edges(), prop::collection::vec(cell, 0..20), numbers, any::<(f64, bool)>(), 0..HOSTILE.len()).prop_map(
        |(columns, rows, cells, steps, (largest, numbers), name)| Field {
            name: Say::same(HOSTILE[name]),
            quantity: Quantity::Iops,
            unit: Unit::Bytes,
            columns,
            rows,
            cells,
            margin: steps.clone(),
            steps,
            largest,
            numbers,
        },
    )
}

fn any_mark() -> impl Strategy<Value = Mark> {
    (any::<f64>(), 0..HOSTILE.len(), 0..HOSTILE.len()).prop_map(|(at, name, detail)| Mark {
        at,
        name: Say::same(HOSTILE[name]),
        detail: Say::same(HOSTILE[detail]),
    })
}

/// Every number of the attributes that place ink lies near the drawing.
fn assert_near(svg: &str) {
    for piece in svg.split(" d=\"").skip(1).filter_map(|s| s.split('"').next()) {
        for number in piece.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').filter(|n| !n.is_empty()) {
            for part in number.split_inclusive('-').filter_map(|n| n.trim_end_matches('-').parse::<f64>().ok()) {
                assert!(part.abs() < 10_000.0, "{part} in {piece}");
            }
        }
    }
}

#[test]
fn a_heat_map_is_a_path_per_tint_with_steps_and_bars() {
    let svg = svg(&heat_chart("h", 8e4), Lang::En);
    assert_well_formed(&svg);
    assert!(svg.matches("class=\"cell ").count() <= 8);
    assert_eq!(svg.matches("class=\"margin ").count(), 1);
    // Two trials far apart: the line over the cells is in two parts, each with a halo.
    assert_eq!((svg.matches("line over").count(), svg.matches("halo").count()), (2, 2));
    assert!(svg.contains("class=\"event\"") && svg.contains("stop asked"));
}

#[test]
fn a_matrix_has_a_number_in_every_measured_cell() {
    let svg = svg(&matrix_chart(), Lang::En);
    assert_well_formed(&svg);
    assert_eq!(svg.matches("class=\"number-in\"").count(), 11);
    assert!(svg.contains(">64<"));
}

#[test]
fn points_carry_their_names_and_intervals_are_bars() {
    let mut chart = scaling_chart();
    chart.panes[0].series[0].points[0].envelope = Some((4e5, 6e5));
    let svg = svg(&chart, Lang::En);
    assert_well_formed(&svg);
    assert_eq!(svg.matches("class=\"point-name ").count(), 4);
    assert_eq!((svg.matches("class=\"whisker ").count(), svg.matches("class=\"envelope").count()), (1, 0));
}

proptest! {
    #[test]
    fn any_chart_gives_well_formed_finite_markup(
        x in any_axis(),
        panes in prop::collection::vec((any_axis(), prop::collection::vec(any_series(), 0..7)), 0..4),
        bands in prop::collection::vec((any::<f64>(), any::<f64>(), 0..HOSTILE.len()), 0..4),
        field in prop::option::of(any_field()),
        (events, names) in (prop::collection::vec(any_mark(), 0..4), prop::collection::vec(any_mark(), 0..20)),
        named in any::<bool>(),
    ) {
        let mut chart = Chart {
            id: HOSTILE[0].into(),
            title: Say::same(HOSTILE[1]),
            summary: Say::same(HOSTILE[2]),
            x,
            panes: panes.into_iter().map(|(y, series)| Pane::lines(y, series)).collect(),
            bands: bands
                .into_iter()
                .map(|(from, to, name)| Band { from, to, label: Say::same(HOSTILE[name]) })
                .collect(),
            events,
        };
        if let Some(pane) = chart.panes.first_mut() {
            pane.field = field;
            pane.series.iter_mut().for_each(|s| s.labels = names.iter().map(|n| n.name.clone()).collect());
        }
        if named {
            chart.x.names = names;
        }
        let svg = svg(&chart, Lang::Ru);
        assert_well_formed(&svg);
        assert_near(&svg);
        for attribute in svg.split('<').flat_map(|tag| tag.split('>').next()).filter(|tag| tag.contains(" d=")) {
            prop_assert!(!attribute.contains("NaN") && !attribute.contains("inf"), "{attribute}");
        }
        prop_assert!(!svg.contains("\"NaN") && !svg.contains("\"inf") && !svg.contains("\"-inf"));
    }
}
