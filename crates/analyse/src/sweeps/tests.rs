//! The bend, the law and their words at rates of a known form.

use super::*;
use crate::analyse;
use crate::fixture::{RunBuilder, case, open_case, run_of};
use expect_test::{Expect, expect};
use stend_spec::workload::Sync;

/// Depths with their rates, two trials each.
fn swept(rates: &[(u32, f64)]) -> RunBuilder {
    let mut spec = case("rand-read", 100, 1, Sync::None);
    spec.streams[0].queue_depth = rates.iter().map(|(depth, _)| *depth).collect();
    let mut builder = run_of(vec![spec]);
    for factor in [0.995, 1.005] {
        for (cell, (_, rate)) in rates.iter().enumerate() {
            builder = builder.trial(cell as u32).iops(rate * factor).done();
        }
    }
    builder
}

fn of(rates: &[(u32, f64)]) -> Vec<SweepFinding> {
    analyse(&swept(rates).record()).unwrap().sweeps
}

fn check(rates: &[(u32, f64)], expected: Expect) {
    let said: Vec<Say> = of(rates).iter().map(SweepFinding::say).collect();
    let text: Vec<String> = said.iter().map(|said| format!("{}\n{}\n", said.en, said.ru)).collect();
    expected.assert_eq(&text.concat());
}

/// A law of this shape at doubling depths.
fn law(depths: u32, alpha: f64, beta: f64) -> Vec<(u32, f64)> {
    let of = |depth: u32| {
        let n = f64::from(depth);
        (depth, 10_000.0 * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0)))
    };
    (0..depths).map(|i| of(1 << i)).collect()
}

#[test]
fn the_bend_and_the_largest_rate_are_told_with_their_latencies() {
    check(
        &law(8, 0.05, 0.0005),
        expect![[r#"
        The rate bends at queue depth 32: 105 055 IOPS, p99 455 µs; beyond, it does not grow, only latency does (at queue depth 128: 82 695 IOPS, p99 2.33 ms). Universal Scalability Law: contention 5.0 %, coherence 0.050 %; largest near 44 at 107 427 IOPS.
        Перегиб — глубина очереди 32: 105 055 IOPS, p99 455 мкс; дальше скорость не растёт, растёт только задержка (глубина очереди 128: 82 695 IOPS, p99 2,33 мс). Универсальный закон масштабируемости: борьба за ресурс 5,0 %, согласование 0,050 %; наибольшая около 44: 107 427 IOPS.
    "#]],
    );
}

#[test]
fn a_peak_that_was_not_reached_is_called_extrapolated() {
    check(
        &law(6, 0.02, 0.0002),
        expect![[r#"
        The rate has no clear bend up to queue depth 32: 175 970 IOPS, p99 272 µs. Universal Scalability Law: contention 2.0 %, coherence 0.020 %; largest near 70 at 208 991 IOPS (extrapolated beyond what was measured).
        Явного перегиба нет вплоть до наибольшего значения (глубина очереди 32: 175 970 IOPS, p99 272 мкс). Универсальный закон масштабируемости: борьба за ресурс 2,0 %, согласование 0,020 %; наибольшая около 70: 208 991 IOPS (экстраполяция за пределы измеренного).
    "#]],
    );
}

#[test]
fn with_fewer_than_six_values_there_is_a_bend_and_no_law() {
    check(
        &[(1, 10_000.0), (4, 38_000.0), (16, 60_000.0), (64, 61_000.0)],
        expect![[r#"
        The rate bends at queue depth 16: 59 995 IOPS, p99 399 µs; beyond, it does not grow, only latency does (at queue depth 64: 60 995 IOPS, p99 1.57 ms).
        Перегиб — глубина очереди 16: 59 995 IOPS, p99 399 мкс; дальше скорость не растёт, растёт только задержка (глубина очереди 64: 60 995 IOPS, p99 1,57 мс).
    "#]],
    );
}

#[test]
fn rates_that_follow_no_law_are_not_extrapolated() {
    let jumps = [(1, 10_000.0), (2, 9_000.0), (4, 60_000.0), (8, 20_000.0), (16, 90_000.0), (32, 30_000.0)];
    check(
        &jumps,
        expect![[r#"
            The rate bends at queue depth 4: 59 995 IOPS, p99 99.8 µs, 66.7 % of the largest (queue depth 16: 89 995 IOPS, p99 266 µs). It does not follow the Universal Scalability Law (off by 44.4 %), so there is no extrapolation.
            Перегиб — глубина очереди 4: 59 995 IOPS, p99 99,8 мкс, это 66,7 % наибольшей скорости (глубина очереди 16: 89 995 IOPS, p99 266 мкс). Универсальному закону масштабируемости скорость не следует (отклонение 44,4 %), поэтому экстраполяции нет.
        "#]],
    );
}

#[test]
fn three_values_and_open_loops_say_nothing() {
    assert_eq!(of(&law(3, 0.05, 0.001)), []);
    let mut spec = open_case("open", 10_000);
    spec.streams[0].queue_depth = vec![8, 16, 32, 64];
    let mut builder = run_of(vec![spec]);
    for cell in 0..4 {
        builder = builder.trial(cell).done();
    }
    assert_eq!(analyse(&builder.record()).unwrap().sweeps, []);
}

#[test]
fn the_law_is_drawn_on_the_chart_of_the_sweep_up_to_what_was_measured() {
    let findings = analyse(&swept(&law(8, 0.05, 0.0005)).record()).unwrap();
    let chart = findings.across.iter().find(|chart| chart.id.starts_with("sweep-")).unwrap();
    let [_, model] = &chart.panes[0].series[..] else { panic!("{:?}", chart.panes[0].series.len()) };
    assert!(!model.dots && model.points.len() > 10, "{model:?}");
    assert_eq!((model.points.first().unwrap().x, model.points.last().unwrap().x), (1.0, 128.0));
    let bend = findings.sweeps[0].knee.unwrap() as f64;
    assert!(chart.events.iter().any(|mark| mark.at == bend), "{:?}", chart.events);
    let few = analyse(&swept(&law(5, 0.05, 0.0005)).record()).unwrap();
    let chart = few.across.iter().find(|chart| chart.id.starts_with("sweep-")).unwrap();
    assert_eq!(chart.panes[0].series.len(), 1);
}
