//! Numbers of a comparison that must agree with one another, and its short form.

use super::{alternating, assert_fits, three, two};
use crate::{comparison, comparison_html};
use expect_test::expect_file;
use stend_analyse::Comparison;
use stend_analyse::compare::RatioValue;
use stend_base::Lang;

/// A number as it is printed, and half of its last digit.
fn read(text: &str) -> Option<(f64, f64)> {
    let digits = text.trim_start_matches("✖ ").split_once(['%', 'I', 'M', 'm', 'µ']).map_or(text, |(number, _)| number);
    let plain: String = digits.chars().filter(|c| !c.is_whitespace() && *c != '✖').collect();
    let decimals = plain.split_once('.').map_or(0, |(_, after)| after.len());
    Some((plain.parse().ok()?, 0.5 * 10f64.powi(-(decimals as i32))))
}

#[test]
fn every_percentage_is_the_quotient_of_the_values_beside_it_and_lies_in_its_interval() {
    let mut held = 0;
    for comparison in [two(), three(), alternating()] {
        let scale = comparison::scale(&comparison);
        for line in comparison.cases.iter().flat_map(|case| comparison::lines(case, scale)) {
            let [a, b, ratio] = [&line.baseline, &line.other, &line.ratio].map(|say| read(&say.en));
            let (Some((a, of_a)), Some((b, of_b)), Some((percent, of_percent))) = (a, b, ratio) else { continue };
            let tolerance = of_a / a + of_b / b + of_percent / percent;
            assert!((percent / 100.0 / (b / a) - 1.0).abs() <= tolerance, "{line:?}");
            if let Some((low, high)) = line.interval.en.split_once('…') {
                let (low, high) = (read(low).unwrap().0, read(high).unwrap().0);
                assert!(low <= percent && percent <= high, "{line:?}");
            }
            held += 1;
        }
    }
    assert!(held >= 20, "{held} rows were read");
}

#[test]
fn an_end_of_an_interval_shows_on_which_side_of_the_margin_it_lies() {
    let mut found = two();
    (found.rule.margin, found.rule.rate) = (0.02, 0.02);
    let mut shown = |value: f64, interval: (f64, f64)| {
        let ratio = found.cases[0].sides[1].as_mut().unwrap().rate_ratio.as_mut().unwrap();
        (ratio.value, ratio.interval) = (RatioValue::At(value), Some(interval));
        let line = comparison::lines(&found.cases[0], comparison::scale(&found)).remove(0);
        format!("{} ({})", line.ratio.en, line.interval.en)
    };
    assert_eq!(shown(1.0203, (1.0201, 1.0206)), "102.03 % (102.01 … 102.1 %)", "better, and not at the margin");
    assert_eq!(shown(0.9812, (0.98046, 0.9834)), "98.12 % (98.05 … 98.3 %)", "within the margin");
    assert_eq!(shown(1.0003, (1.00004, 1.0006)), "100.030 % (100.004 … 100.1 %)", "different");
    assert_eq!(shown(1.09, (1.05, 1.13)), "109.0 % (105.0 … 113.0 %)");
}

#[test]
fn in_short_a_comparison_takes_some_twenty_lines_and_ends_with_its_table() {
    let mut all = String::new();
    let names = ["before.stend".to_string(), "after.stend".to_string()];
    for (comparison, lang, columns) in [
        (two(), Lang::En, 80),
        (two(), Lang::Ru, 80),
        (alternating(), Lang::En, 80),
        (three(), Lang::En, 80),
        (two(), Lang::En, 42),
    ] {
        let screen = crate::comparison_brief(&comparison, &names, lang, columns, false);
        assert_fits(&screen, columns);
        all.push_str(&format!("════ {} {columns}\n{screen}", lang.tag()));
    }
    let plain = Comparison { layers: Vec::new(), ..two() };
    let first = crate::comparison_brief(&plain, &names, Lang::En, 80, false);
    assert!(first.lines().count() <= 22 && first.ends_with("that it takes\n"), "{first}");
    expect_file!["../../../tests/golden/compare_brief.txt"].assert_eq(&all);
}

#[test]
fn a_run_beside_itself_is_told_so_and_a_title_names_what_tells_runs_apart() {
    let mut same = two();
    same.runs[1].run = same.runs[0].run.clone();
    assert_eq!(comparison::verdict::summary(&same)[0].en, "A run is compared with itself, which shows nothing.");
    let names =
        |comparison: &Comparison| comparison::names(comparison).iter().map(|name| name.en.clone()).collect::<Vec<_>>();
    assert_eq!(names(&same), ["A", "B"], "nothing tells them apart");
    let mut disks = two();
    disks.runs[0].targets = vec!["/dev/nvme0n1".into()];
    disks.runs[1].targets = vec!["/dev/nvme1n1".into()];
    assert_eq!(names(&disks), ["/dev/nvme0n1", "/dev/nvme1n1"]);
    assert_eq!(names(&alternating()), ["plain", "tuned"]);
    let mut labelled = disks.clone();
    labelled.runs.iter_mut().zip(["before", "after"]).for_each(|(run, label)| run.label = Some(label.into()));
    assert_eq!(names(&labelled), ["before", "after"]);
    let described = comparison::describe(&labelled.runs[0]).en;
    assert!(described.starts_with("before (R-20261121T213000Z-aaaa): quick on /dev/nvme0n1"), "{described}");
    let page = comparison_html(&disks, Lang::En);
    assert!(page.contains("<title>quick: /dev/nvme1n1 against /dev/nvme0n1</title>"), "{}", &page[..600]);
}

#[test]
fn a_page_draws_the_latencies_of_all_runs_where_it_has_them() {
    let plain = comparison_html(&two(), Lang::En);
    let chart = crate::fixture::findings().cases[0].charts[0].clone();
    let drawn = comparison_html(&Comparison { charts: vec![chart], ..two() }, Lang::En);
    let figures = |page: &str| page.matches("<figure class=\"chart\">").count();
    assert_eq!((figures(&plain), figures(&drawn)), (0, 1));
    assert!(drawn.contains("Latency by percentile") && !plain.contains("Latency by percentile"));
}
