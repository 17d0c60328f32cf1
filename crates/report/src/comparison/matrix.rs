//! Runs as rows and cases as columns, relative to the first run: the form for many, and for a suite on several stands.

use super::letter;
use crate::figures::NONE;
use crate::rates;
use crate::text::{clean, columns};
use std::collections::BTreeSet;
use stend_analyse::Comparison;
use stend_analyse::compare::{CaseComparison, RatioValue, Side};
use stend_analyse::findings::CheckId;
use stend_base::{Lang, Say, format, say};

/// With more runs a line for every value of every run is more than anybody reads.
pub const FEW: usize = 6;

/// Runs by name against cases.
pub struct Matrix<'a> {
    comparison: &'a Comparison,
    /// All have stands of their own.
    by_stand: bool,
    /// Names of the runs: those of their stands, where these are all different, or their letters.
    pub names: Vec<String>,
}

/// What a run has of a case.
pub struct Cell {
    /// The rate.
    pub rate: Say,
    /// Part of the first run's rate, with its interval if there is one.
    pub percent: Say,
    /// The same as a number; `None` where that is not known.
    pub part: Option<f64>,
    /// Checks that forbid the comparison.
    pub failed: String,
}

/// Nothing where a few runs are better told line by line.
pub fn of(comparison: &Comparison) -> Option<Matrix<'_>> {
    let runs = &comparison.runs;
    let stands: BTreeSet<&str> = runs.iter().filter_map(|run| run.stand.as_deref()).collect();
    let by_stand = runs.len() > 1 && stands.len() == runs.len();
    if !by_stand && runs.len() <= FEW {
        return None;
    }
    let name = |(i, run): (usize, &stend_analyse::compare::ComparedRun)| match &run.stand {
        Some(stand) if by_stand => clean(stand),
        _ => letter(i),
    };
    Some(Matrix { comparison, by_stand, names: runs.iter().enumerate().map(name).collect() })
}

impl<'a> Matrix<'a> {
    /// `Every stand relative to single (100 %)`
    pub fn title(&self) -> Say {
        let first = self.names.first().map_or("", String::as_str);
        match self.by_stand {
            true => say!("Every stand relative to {first} (100 %)", "Каждый стенд относительно {first} (100 %)"),
            false => say!("Every run relative to {first} (100 %)", "Каждый прогон относительно {first} (100 %)"),
        }
    }

    /// The columns.
    pub fn cases(&self) -> &'a [CaseComparison] {
        &self.comparison.cases
    }

    /// What run number `run`, the first of which is 0, has of a case.
    pub fn cell(&self, case: &CaseComparison, run: usize) -> Option<Cell> {
        let side = case.sides.get(run)?.as_ref()?;
        let part = match side.rate_ratio.as_ref().map(|ratio| ratio.value) {
            None => Some(1.0),
            Some(RatioValue::At(part)) => Some(part),
            Some(_) => None,
        };
        let rate = rates::rate(&side.rate, case.headline);
        Some(Cell {
            rate,
            percent: Say::both(|lang| percent(side, lang)),
            part,
            failed: CheckId::codes(&side.failed).join(", "),
        })
    }

    /// A block for each case, with a line for each run.
    pub fn text(&self, lang: Lang) -> String {
        let mut out = format!("{}\n", self.title().get(lang));
        for case in self.cases() {
            out.push_str(&format!("\n{}\n", clean(&case.label)));
            let rows: Vec<Vec<String>> =
                self.names.iter().enumerate().map(|(run, name)| self.row(name, case, run, lang)).collect();
            columns(&rows).iter().for_each(|line| out.push_str(&format!("{line}\n")));
        }
        out
    }

    fn row(&self, name: &str, case: &CaseComparison, run: usize, lang: Lang) -> Vec<String> {
        let Some(cell) = self.cell(case, run) else {
            return vec![format!("  {name}"), say!("not measured", "не измерено").get(lang).to_string()];
        };
        let failed = &cell.failed;
        let why = match failed.is_empty() {
            true => Say::same(""),
            false => say!("✖ do not compare: {failed}", "✖ сравнивать нельзя: {failed}"),
        };
        vec![format!("  {name}"), cell.rate.get(lang).into(), cell.percent.get(lang).into(), why.get(lang).into()]
    }

    /// A table with a row for each run.
    pub fn markdown(&self, plain: fn(&str) -> String, lang: Lang) -> String {
        let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let heads = self.cases().iter().map(|case| plain(&case.label));
        let mut lines = vec![row([String::new()].into_iter().chain(heads).collect())];
        lines.push(format!("|---|{}", "--:|".repeat(self.cases().len())));
        for (run, name) in self.names.iter().enumerate() {
            let cell = |case: &CaseComparison| match self.cell(case, run) {
                None => NONE.to_string(),
                Some(Cell { rate, percent, failed, .. }) => {
                    let mark = if failed.is_empty() { String::new() } else { format!("✖ {failed}: ") };
                    plain(&format!("{mark}{}, {}", rate.get(lang), percent.get(lang)))
                }
            };
            lines.push(row([plain(name)].into_iter().chain(self.cases().iter().map(cell)).collect()));
        }
        lines.join("\n")
    }
}

/// `50 % (49 to 51)`; of the first run 100 %.
fn percent(side: &Side, lang: Lang) -> String {
    let Some(ratio) = &side.rate_ratio else { return "100 %".to_string() };
    let shown = |part: f64| format::number(part * 100.0, lang);
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
        let mut found = crate::comparison::tests::two();
        assert!(of(&found).is_none());
        for (run, name) in found.runs.iter_mut().zip(["plain", "mirror"]) {
            run.stand = Some(name.into());
        }
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
        .assert_eq(&crate::campaign_text(&found, &[], Lang::En, 80, false));
        assert!(
            crate::campaign_text(&found, &[], Lang::Ru, 80, false)
                .starts_with("Каждый стенд относительно plain (100 %)")
        );
        let table = of(&found).unwrap().markdown(str::to_string, Lang::En);
        expect![[r#"
            |  | rand-read, queue_depth 32 | seq-read | oltp | rare |
            |---|--:|--:|--:|--:|
            | plain | 412 000 IOPS, 100 % | 3100 MB/s, 100 % | 9000 IOPS, 100 % | 12.0 IOPS, 100 % |
            | mirror | 451 000 IOPS, 109 % (108 to 111) | 3120 MB/s, 101 % (99.0 to 102) | ✖ H18, H76: 450 IOPS, 5.00 % | 12.1 IOPS, 101 % (90.0 to 113) |"#]].assert_eq(&table);
    }

    #[test]
    fn many_runs_are_rows_of_one_table_everywhere() {
        let mut found = crate::comparison::tests::two();
        let second = found.runs[1].clone();
        found.changed.retain(|condition| condition.key == "kernel");
        while found.runs.len() <= FEW {
            found.runs.push(second.clone());
            for case in &mut found.cases {
                case.sides.push(case.sides[1].clone());
            }
            for condition in found.changed.iter_mut().chain(&mut found.same) {
                condition.values.push(condition.values[1].clone());
            }
        }
        let text = crate::comparison_text(&found, Lang::En, 100, false);
        assert!(text.contains("\n  G  451"), "{text}");
        assert!(text.contains("6.8.12 (A); 6.12.57 (B, C, D, E, F, G)"), "{text}");
        let markdown = crate::comparison_markdown(&found, Lang::En);
        assert!(markdown.contains("\n| G | 451"), "{markdown}");
        assert!(!markdown.contains("G against A"), "{markdown}");
        let page = crate::comparison_html(&found, Lang::En);
        assert!(page.contains("<th scope=\"row\">G</th>"), "{page}");
    }
}
