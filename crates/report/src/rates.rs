//! Rates as texts: of a case, and of its kinds of I/O so that they add up to it. Nothing is measured or estimated here.

use crate::figures::{self, NONE};
use stend_analyse::findings::{
    Basis, CaseFinding, CheckId, Estimate, Headline, NumaCell, NumaFinding, OpFinding, Rates,
};
use stend_base::{Lang, Say, format, say};
use stend_spec::workload::Op;

/// Both rates, in the order of columns.
pub const BOTH: [Headline; 2] = [Headline::Iops, Headline::Throughput];

/// A rate with its unit: `412 000 IOPS`, `1 234 MB/s`; a dash when no trial counts.
pub fn rate(estimate: &Estimate, headline: Headline) -> Say {
    match is_known(estimate) {
        true => with_unit(&Say::both(|lang| format::number(in_unit(estimate.value, headline), lang)), headline),
        false => Say::same(NONE),
    }
}

/// The headline rate of a case: where it fell to a lower level both levels, since their mean is neither.
pub fn of_headline(case: &CaseFinding) -> Say {
    match &case.levels {
        Some(levels) => Say::both(|lang| levels.pair(lang)),
        None => rate(case.total.of(case.headline), case.headline),
    }
}

/// The rate of a pair of nodes, of one that fell both levels, with its failed checks in front: `✖ H45 · 8000 IOPS`.
pub fn of_nodes(matrix: &NumaFinding, cell: &NumaCell) -> Say {
    let Say { en, ru } = match &cell.levels {
        Some(levels) => Say::both(|lang| levels.pair(lang)),
        None => rate(&cell.rate, matrix.headline),
    };
    if cell.failed.is_empty() {
        return Say { en, ru };
    }
    let checks = CheckId::codes(&cell.failed).join(", ");
    say!("✖ {checks} · {en}", "✖ {checks} · {ru}")
}

/// What a bar of the headline rate is as long as: where it fell to a lower level that one, which lasts.
pub fn drawn(case: &CaseFinding) -> Estimate {
    let whole = case.total.of(case.headline);
    match &case.levels {
        Some(levels) => Estimate { value: levels.then, interval: None, ..whole.clone() },
        None => whole.clone(),
    }
}

/// Rates of a row of the table of cases, with their units.
#[derive(Debug, Clone, PartialEq)]
pub struct RowRates {
    /// The rate that the case shows first, and its ±.
    pub first: [Say; 2],
    /// In rows of a mix the other one; `None` elsewhere, and of syncs, which move no bytes.
    pub second: Option<[Say; 2]>,
}

/// Rates of a case, and of each of its operations.
pub fn of_case(case: &CaseFinding) -> (RowRates, Vec<RowRates>) {
    if case.levels.is_some() {
        let none = || [Say::same(NONE), Say::same(NONE)];
        let row = |first: [Say; 2]| RowRates { first, second: case.is_mix().then(none) };
        let total = row([of_headline(case), Say::same(NONE)]);
        return (total, case.ops.iter().map(|_| RowRates { first: none(), second: None }).collect());
    }
    let order = match case.headline {
        Headline::Iops => BOTH,
        Headline::Throughput => [Headline::Throughput, Headline::Iops],
    };
    let with_spread = |shown: Say, estimate: &Estimate| {
        let spread = figures::plus_minus(estimate).filter(|_| shown.en != NONE);
        [shown, spread.unwrap_or_else(|| Say::same(NONE))]
    };
    let row = |shown: [Say; 2], rates: &Rates| {
        let [first, second] = shown;
        RowRates {
            first: with_spread(first, rates.of(order[0])),
            second: case.is_mix().then(|| with_spread(second, rates.of(order[1]))),
        }
    };
    let numbers = order.map(|headline| of_operations(case, headline));
    let of_op = |(i, op): (usize, &OpFinding)| match op.op {
        Op::Sync => {
            let shown = rate(&op.rates.iops, Headline::Iops);
            RowRates { first: with_spread(shown, &op.rates.iops), second: None }
        }
        _ => row([0, 1].map(|n| with_unit(&numbers[n][i], order[n])), &op.rates),
    };
    let total = order.map(|headline| rate(case.total.of(headline), headline));
    (row(total, &case.total), case.ops.iter().enumerate().map(of_op).collect())
}

/// One rate of each operation of a case, without its unit; dashes where the rate fell to a lower level.
pub fn of_operations(case: &CaseFinding, headline: Headline) -> Vec<Say> {
    match case.levels {
        Some(_) => vec![Say::same(NONE); case.ops.len()],
        None => by_operation(&case.total, &case.ops, headline),
    }
}

/// One rate of each operation of a case or of one of its targets, without its unit: rounded so that they add up to that of the `total`
/// as [`rate`] shows it. Syncs are no part of the total and move no bytes. A dash when no trial counts.
pub fn by_operation(total: &Rates, ops: &[OpFinding], headline: Headline) -> Vec<Say> {
    let ops: Vec<(Op, &Estimate)> = ops.iter().map(|op| (op.op, op.rates.of(headline))).collect();
    parts(total.of(headline).value, &ops, headline)
}

/// The same of operations by their estimates.
pub fn parts(total: f64, ops: &[(Op, &Estimate)], headline: Headline) -> Vec<Say> {
    let counted = ops.iter().filter(|(op, estimate)| *op != Op::Sync && is_known(estimate));
    let counted: Vec<f64> = counted.map(|(_, estimate)| in_unit(estimate.value, headline)).collect();
    let [mut en, mut ru] =
        [Lang::En, Lang::Ru].map(|lang| format::parts(in_unit(total, headline), &counted, lang).into_iter());
    let shown = |(op, estimate): &(Op, &Estimate)| match (op, headline) {
        _ if !is_known(estimate) => Say::same(NONE),
        (Op::Sync, Headline::Throughput) => Say::same(NONE),
        (Op::Sync, Headline::Iops) => Say::both(|lang| format::iops(estimate.value, lang)),
        _ => Say { en: en.next().unwrap_or_default(), ru: ru.next().unwrap_or_default() },
    };
    ops.iter().map(shown).collect()
}

/// A number with the unit of a rate; a dash is left alone.
pub fn with_unit(number: &Say, headline: Headline) -> Say {
    if number.en == NONE {
        return number.clone();
    }
    let (Say { en, ru }, unit) = (number, unit(headline));
    let (unit_en, unit_ru) = (unit.en, unit.ru);
    say!("{en} {unit_en}", "{ru} {unit_ru}")
}

/// The unit that a rate is shown in.
pub fn unit(headline: Headline) -> Say {
    match headline {
        Headline::Iops => Say::same("IOPS"),
        Headline::Throughput => say!("MB/s", "МБ/с"),
    }
}

/// A rate as a number of [`unit`].
pub fn in_unit(value: f64, headline: Headline) -> f64 {
    match headline {
        Headline::Iops => value,
        Headline::Throughput => value / 1e6,
    }
}

/// Whether a trial stands behind a rate.
fn is_known(estimate: &Estimate) -> bool {
    estimate.value.is_finite() && !matches!(estimate.basis, Basis::TooFew { n: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use std::io::Read;

    /// Rates of a mix whose parts, each rounded for itself, would not make up the total: 7.44 + 3.04 = 10.48, and 30.5 + 12.4 = 42.9.
    fn mix() -> (stend_record::RunRecord, stend_analyse::Findings) {
        let (run, mut findings) = (fixture::run(), fixture::findings());
        findings.cases.retain(|case| case.is_mix());
        let case = &mut findings.cases[0];
        let estimate = |value| Estimate { value, interval: None, basis: Basis::Trials { n: 6 } };
        let rates = |iops: f64| Rates { iops: estimate(iops), throughput: estimate(iops * 4.096e6) };
        (case.total, case.ops[0].rates, case.ops[1].rates) = (rates(10.48), rates(7.44), rates(3.04));
        (run, findings)
    }

    fn shown(rates: &RowRates) -> [&str; 2] {
        [&rates.first[0].en, rates.second.as_ref().map_or("", |second| &second[0].en)]
    }

    #[test]
    fn reads_and_writes_of_a_mix_have_both_rates_and_add_up_to_the_total_as_shown() {
        let (total, ops) = of_case(&mix().1.cases[0]);
        assert_eq!(shown(&total), ["10.5 IOPS", "42.9 MB/s"]);
        assert_eq!([shown(&ops[0]), shown(&ops[1])], [["7.5 IOPS", "30.5 MB/s"], ["3.0 IOPS", "12.4 MB/s"]]);
    }

    #[test]
    fn terminal_page_and_markdown_show_the_same_digits_of_a_mix() {
        let (run, findings) = mix();
        let one_line = |text: String| text.replace(['\u{a0}', '\u{202f}'], " ");
        let screens = [
            one_line(crate::text(&findings, Lang::En, 110, false)),
            one_line(crate::text(&findings, Lang::En, 40, false)),
            one_line(crate::html(&findings, &run, Lang::En)),
            one_line(crate::markdown(&findings, Lang::En)),
        ];
        for screen in &screens {
            for number in ["10.5 IOPS", "42.9 MB/s", "7.5 IOPS", "30.5 MB/s", "3.0 IOPS", "12.4 MB/s"] {
                assert!(screen.contains(number), "{number} is not in {screen}");
            }
        }
        let ru = one_line(crate::text(&findings, Lang::Ru, 110, false));
        assert!(["7,5 IOPS", "30,5 МБ/с", "3,0 IOPS", "12,4 МБ/с"].iter().all(|number| ru.contains(number)), "{ru}");
    }

    #[test]
    fn tables_for_programs_have_both_rates_of_a_mix_to_the_last_digit() {
        let (run, findings) = mix();
        let mut csv = Vec::new();
        crate::ResultsCsv::new(&run, &findings, crate::Dialect::Plain).unwrap().write(&mut csv).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        for (name, metric, value) in [("mix, read", "iops", "7.44"), ("mix, write", "throughput", "12451840")] {
            let has = |line: &&str| {
                line.contains(name) && line.contains(&format!(",{metric},")) && line.contains(&format!(",{value},"))
            };
            assert!(csv.lines().any(|line| has(&line)), "{name} {metric} {value} is not in {csv}");
        }
        let document: serde_json::Value = serde_json::from_str(&crate::json(&findings)).unwrap();
        let of = |node: &serde_json::Value, name: &str| node[name]["value"].as_f64().unwrap();
        let case = &document["cases"][0];
        for name in ["iops", "throughput_bytes_per_s"] {
            let sum: f64 = case["operations"].as_array().unwrap().iter().map(|op| of(op, name)).sum();
            assert!((sum - of(case, name)).abs() < 1e-6 * sum, "{name}: {sum}");
        }
    }

    #[test]
    fn a_comparison_has_both_rates_of_a_mix_everywhere() {
        let comparison = crate::comparison::fixture();
        let screens = [
            crate::comparison_text(&comparison, Lang::En, 110, false),
            crate::comparison_text(&comparison, Lang::En, 40, false),
            crate::comparison_html(&comparison, Lang::En),
            crate::comparison_markdown(&comparison, Lang::En),
        ];
        for screen in screens {
            // 6305 + 2695 = 9000, and 315 + 135 = 450.
            for text in [
                "IOPS, read",
                "6305\u{a0}IOPS",
                "315\u{a0}IOPS",
                "MB/s, write",
                "2695\u{a0}IOPS",
                "135\u{a0}IOPS",
                "22.1\u{a0}MB/s",
            ] {
                let screen = screen.replace(['\u{202f}', ' '], "\u{a0}");
                assert!(screen.contains(&text.replace(' ', "\u{a0}")), "{text} is not in {screen}");
            }
        }
        let (run, findings) = mix();
        let book = crate::Book { runs: vec![(&run, &findings)], comparison: Some(&comparison), lang: Lang::En };
        let mut sheets = zip::ZipArchive::new(std::io::Cursor::new(crate::xlsx(&book).unwrap())).unwrap();
        let mut strings = String::new();
        sheets.by_name("xl/sharedStrings.xml").unwrap().read_to_string(&mut strings).unwrap();
        assert!(["IOPS, read", "MB/s, write"].iter().all(|name| strings.contains(name)), "{strings}");
        let document: serde_json::Value = serde_json::from_str(&crate::comparison_json(&comparison)).unwrap();
        let side = &document["cases"][2]["sides"][1];
        assert_eq!(side["operations"][1]["operation"], "write");
        assert!(side["operations"][1]["throughput_ratio"]["value"].as_f64().is_some_and(|ratio| ratio == 0.05));
        assert!(document["cases"][0]["sides"][1]["operations"].as_array().unwrap().is_empty());
    }

    #[test]
    fn syncs_are_shown_in_their_own_unit_and_are_no_part_of_the_total() {
        let mut findings = mix().1;
        let case = &mut findings.cases[0];
        case.headline = Headline::Throughput;
        let sync = OpFinding { op: Op::Sync, ..case.ops[1].clone() };
        case.ops.push(sync);
        let (total, ops) = of_case(case);
        assert_eq!(shown(&total), ["42.9 MB/s", "10.5 IOPS"]);
        assert_eq!(ops.iter().map(shown).collect::<Vec<_>>()[1..], [["12.4 MB/s", "3.0 IOPS"], ["3.04 IOPS", ""]]);
        assert!(crate::text(&findings, Lang::En, 110, false).contains("syncs are not counted in the result"));
        assert_eq!(by_operation(&case_total(&findings), &findings.cases[0].ops, Headline::Throughput)[2].en, NONE);
    }

    fn case_total(findings: &stend_analyse::Findings) -> Rates {
        findings.cases[0].total.clone()
    }

    #[test]
    fn a_rate_that_no_trial_stands_behind_is_a_dash() {
        let estimate = |n| Estimate { value: 0.0, interval: None, basis: Basis::TooFew { n } };
        assert_eq!(rate(&estimate(0), Headline::Iops).en, NONE);
        assert_eq!(rate(&estimate(1), Headline::Iops).en, "0 IOPS");
    }
}
