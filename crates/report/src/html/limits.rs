//! The table of limits, folded: it shows what each mark was decided by.

use crate::markup::Markup;
use stend_analyse::findings::CheckId;
use stend_analyse::limits::{LIMITS_VERSION, list};
use stend_base::say;

/// Every limit with its value.
pub fn folded(m: &mut Markup) {
    let columns = [say!("Check", "Проверка"), say!("Limit", "Предел"), say!("Value", "Значение")];
    m.el("details", "data", |m| {
        m.line(
            "summary",
            "",
            &say!(
                "Limits of checks, intervals and caveats, version {LIMITS_VERSION}",
                "Пределы проверок, интервалов и оговорок, версия {LIMITS_VERSION}"
            ),
        );
        super::table(m, "", &columns, |m| {
            for limit in list::all() {
                m.el("tr", "", |m| {
                    m.el("td", "", |m| m.text(&CheckId::codes(limit.checks).join(" ")));
                    m.with("th", &[("scope", "row")], |m| m.line("span", "", &limit.meaning));
                    m.line("td", "", &limit.value.say());
                });
            }
        });
    });
}
