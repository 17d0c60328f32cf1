//! What sources beside the load answered: a table for each. Nothing is computed here.

use super::{Page, section, table};
use crate::markup::Markup;
use crate::sources::{asked, heading, of_case, spread};
use stend_analyse::findings::{SourceFinding, SourceValueFinding};
use stend_base::{Say, say};

/// The section; nothing where no source was asked.
pub(super) fn all(m: &mut Markup, page: &Page) {
    if page.findings.sources.is_empty() {
        return;
    }
    section(
        m,
        "sources",
        &say!("Sources beside the load", "Источники рядом с нагрузкой"),
        |m| {
            m.line(
            "p",
            "about",
            &say!(
                "Values that were read during the run where no worker of Stend runs: means over the answers within measuring windows, with the least and the most.",
                "Значения, прочитанные во время прогона там, где исполнитель Stend не работает: средние по ответам внутри окон измерения, в скобках наименьшее и наибольшее."
            ),
        );
            page.findings.sources.iter().for_each(|source| one(m, page, source));
        },
    );
}

fn one(m: &mut Markup, page: &Page, source: &SourceFinding) {
    m.el("h3", "", |m| m.text(&source.name));
    m.line("p", "note", &asked(source));
    let mut columns = vec![say!("Case", "Случай")];
    columns.extend(source.values.iter().map(heading));
    let cells = |m: &mut Markup, of: &dyn Fn(&SourceValueFinding) -> Say| {
        source.values.iter().for_each(|value| m.line("td", "", &of(value)));
    };
    table(m, "numbers", &columns, |m| {
        m.el("tr", "", |m| {
            m.with("th", &[("scope", "row")], |m| m.say(&say!("all", "все")));
            cells(m, &|value| spread(value.measured.as_ref()));
        });
        let known = |case: u32| source.values.iter().any(|value| of_case(value, case).is_some());
        for case in page.findings.cases.iter().filter(|case| known(case.case)) {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| m.text(&case.label));
                cells(m, &|value| spread(of_case(value, case.case)));
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use stend_base::Lang;

    #[test]
    fn a_page_has_what_each_source_answered_and_what_did_not_come() {
        let page = crate::html(&fixture::watched_findings(), &fixture::watched_array(), Lang::En);
        for told in [
            "CPU of controller A, %",
            "41.2 (38.0 … 47.0)",
            "43.8 (41.0 … 47.0)",
            "Too late: 2",
            "error 503",
            "over HTTP",
        ] {
            assert!(page.contains(told) || page.contains(&told.replace(' ', "\u{a0}")), "{told}");
        }
        let without = crate::html(&fixture::findings(), &fixture::run(), Lang::En);
        assert!(!without.contains("id=\"sources\""));
    }
}
