//! Runs as rows and cases as columns, each value with a bar as long as its part of the longest in its column.

use super::table;
use crate::comparison::matrix::Matrix;
use crate::figures::NONE;
use crate::markup::Markup;
use stend_analyse::compare::CaseComparison;
use stend_analyse::findings::Headline;
use stend_base::Say;

/// The section.
pub(super) fn section(m: &mut Markup, matrix: &Matrix) {
    super::section(m, "matrix", &matrix.title(), |m| {
        let labels = matrix.cases().iter().map(|case| Say::same(&case.label));
        let columns: Vec<Say> = [Say::same("")].into_iter().chain(labels).collect();
        table(m, "numbers matrix", &columns, |m| {
            for (run, name) in matrix.names.iter().enumerate() {
                m.el("tr", "", |m| {
                    m.with("th", &[("scope", "row")], |m| m.text(name));
                    matrix.cases().iter().for_each(|case| cell(m, matrix, case, run));
                });
            }
        });
    });
}

fn cell(m: &mut Markup, matrix: &Matrix, case: &CaseComparison, run: usize) {
    let Some(found) = matrix.cell(case, run) else { return m.el("td", "", |m| m.raw(NONE)) };
    let parts = (0..matrix.names.len()).filter_map(|run| matrix.cell(case, run)?.part);
    let longest = parts.fold(f64::MIN_POSITIVE, f64::max);
    m.el("td", "", |m| {
        m.say(&found.rate);
        m.line("span", "note", &found.percent);
        if !found.failed.is_empty() {
            m.el("span", "note failed", |m| m.text(&format!("✖ {}", found.failed)));
        }
        if let Some(part) = found.part {
            let class = if case.headline == Headline::Iops { "cell q-iops t5" } else { "cell q-throughput t5" };
            let long = format!("{:.1}", part / longest * 100.0);
            let view = [
                ("class", "gauge"),
                ("viewBox", "0 0 100 4"),
                ("preserveAspectRatio", "none"),
                ("aria-hidden", "true"),
            ];
            m.with("svg", &view, |m| m.with("rect", &[("class", class), ("width", &long), ("height", "4")], |_| {}));
        }
    });
}
