//! One suite on several stands: a table with a line for each stand, relative to the first.

use crate::figures;
use crate::text::{clean, columns};
use stend_analyse::Comparison;
use stend_analyse::compare::{CaseComparison, RatioValue, Side};
use stend_base::{Lang, Say, say};

/// A block for each case: stand, rate, percent of the first stand with its interval, and which checks forbid the comparison.
/// `stands` are the names in the order of the runs.
pub fn campaign_text(stands: &[String], comparison: &Comparison, lang: Lang) -> String {
    let first = stands.first().map(|name| clean(name)).unwrap_or_default();
    let title = say!("Every stand relative to {first} (100 %)", "Каждый стенд относительно {first} (100 %)");
    let mut out = format!("{}\n", title.get(lang));
    for case in &comparison.cases {
        out.push_str(&format!("\n{}\n", clean(&case.label)));
        let rows: Vec<Vec<String>> =
            stands.iter().zip(&case.sides).map(|(name, side)| row(name, case, side, lang)).collect();
        columns(&rows).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    out
}

fn row(name: &str, case: &CaseComparison, side: &Option<Side>, lang: Lang) -> Vec<String> {
    let name = format!("  {}", clean(name));
    let Some(side) = side else {
        return vec![name, say!("not measured", "не измерено").get(lang).to_string()];
    };
    let rate = figures::rate(&side.rate, case.headline);
    let failed = side.failed.join(", ");
    let why = match side.failed.is_empty() {
        true => Say::same(""),
        false => say!("✖ do not compare: {failed}", "✖ сравнивать нельзя: {failed}"),
    };
    vec![name, rate.get(lang).to_string(), percent(side, lang), why.get(lang).to_string()]
}

/// `50 % (49 to 51)`; of the first stand 100 %.
fn percent(side: &Side, lang: Lang) -> String {
    let Some(ratio) = &side.rate_ratio else { return "100 %".to_string() };
    let shown = |part: f64| stend_base::format::number(part * 100.0, lang);
    let value = match ratio.value {
        RatioValue::At(value) => format!("{} %", shown(value)),
        RatioValue::Above(value) => format!("> {} %", shown(value)),
        RatioValue::Below(value) => format!("< {} %", shown(value)),
        RatioValue::Unknown => "?".to_string(),
    };
    let Some((low, high)) = ratio.interval else { return value };
    let (low, high) = (shown(low), shown(high));
    format!("{value} {}", say!("({low} to {high})", "(от {low} до {high})").get(lang))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_line_for_every_stand_with_its_part_of_the_first() {
        let found = crate::comparison::tests::two();
        let stands = ["plain".to_string(), "mirror".to_string()];
        expect![[r#"
            Every stand relative to plain (100 %)

            rand-read, queue_depth 32
              plain   412 000 IOPS  100 %
              mirror  451 000 IOPS  109 % (108 to 111)

            seq-read
              plain   3100 MB/s  100 %
              mirror  3120 MB/s  101 % (99.0 to 102)

            oltp
              plain   9000 IOPS  100 %
              mirror  450 IOPS   5.00 %  ✖ do not compare: H18, H76

            rare
              plain   12.0 IOPS  100 %
              mirror  12.1 IOPS  101 % (90.0 to 113)
        "#]]
        .assert_eq(&campaign_text(&stands, &found, Lang::En));
        assert!(campaign_text(&stands, &found, Lang::Ru).starts_with("Каждый стенд относительно plain (100 %)"));
    }
}
