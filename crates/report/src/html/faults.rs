//! What events did to the load: the answer, and a row for each trial.

use super::{Page, figure, table};
use crate::faults::{columns, origin, rows};
use crate::markup::Markup;
use stend_base::say;

/// The section; nothing where no case has events.
pub(super) fn section(m: &mut Markup, page: &Page) {
    if page.findings.faults.is_empty() {
        return;
    }
    super::section(m, "events", &say!("What the events did", "Что сделали события"), |m| {
        for found in &page.findings.faults {
            m.el("h3", "", |m| m.text(&found.label));
            m.el("ul", "", |m| found.events.iter().for_each(|event| m.line("li", "", event)));
            m.line("p", "about", &found.say());
            // Where its power was cut a trial has no course.
            if found.trials.is_empty() {
                continue;
            }
            table(m, "numbers", &columns(), |m| {
                for (name, cells) in rows(found) {
                    m.el("tr", "", |m| {
                        m.with("th", &[("scope", "row")], |m| m.say(&name));
                        cells.iter().for_each(|cell| m.line("td", "", cell));
                    });
                }
            });
        }
        if page.findings.faults.iter().any(|found| !found.trials.is_empty()) {
            m.line("p", "note", &origin());
        }
        m.el("div", "charts wide", |m| {
            for chart in page.findings.faults.iter().filter_map(|found| found.chart.as_ref()) {
                figure::draw(m, chart, page.lang, crate::svg::WIDTH_PAGE);
            }
        });
    });
}
