//! How many instances hold their objective: the answer, and a row for each number that was tried.

use super::{Page, table};
use crate::density::{cells, columns, origin};
use crate::markup::Markup;
use stend_base::say;

/// The section; nothing where no instances were searched.
pub(super) fn section(m: &mut Markup, page: &Page) {
    super::section(
        m,
        "results",
        &say!("How many instances hold", "Сколько экземпляров выдерживает"),
        |m| {
            for found in &page.findings.density {
                m.el("h3", "", |m| m.text(&found.label));
                m.line("p", "about", &found.say());
                table(m, "numbers", &columns(found), |m| {
                    for point in &found.points {
                        m.el("tr", "", |m| {
                            m.with("th", &[("scope", "row")], |m| m.text(&point.instances.to_string()));
                            cells(point).iter().for_each(|cell| m.line("td", "", cell));
                        });
                    }
                });
                m.line("p", "note", &origin(found));
            }
        },
    );
}
