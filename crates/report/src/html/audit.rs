//! An audit as one HTML file: what was found, and the table with every doubtful number marked and the right one beside it.

use super::{bar, document, section, table};
use crate::audit::{looked, place, summary};
use crate::figures::NONE;
use crate::markup::Markup;
use stend_audit::{Audit, Checked, Doubt, Severity, printed};
use stend_base::{Lang, Say, say};
use stend_record::published::{Claim, Published};

/// The audit of a table as one HTML file that starts in `lang`.
pub fn audit_html(audit: &Audit, published: &Published, lang: Lang) -> String {
    let file = &audit.file;
    let title = say!("Audit of {file}", "Проверка {file}");
    document(&title, lang, |m| {
        m.raw("\n");
        m.el("header", "top", |m| {
            bar(m);
            m.line("h1", "", &title);
            m.line("p", "verdict", &summary(audit));
        });
        m.raw("\n");
        m.el("main", "", |m| {
            checks(m, &audit.checks);
            doubts(m, audit);
            numbers(m, audit, published);
            unread(m, audit);
            section(m, "limits", &say!("Limits", "Пределы"), super::limits::folded);
        });
    })
}

fn checks(m: &mut Markup, checks: &[Checked]) {
    section(m, "checks", &say!("Checks", "Проверки"), |m| {
        table(
            m,
            "",
            &[say!("Check", "Проверка"), say!("What", "Что"), say!("Result", "Результат")],
            |m| {
                for check in checks {
                    m.el("tr", "", |m| {
                        m.with("th", &[("scope", "row")], |m| m.text(check.id.code()));
                        m.line("td", "", &check.name);
                        m.line("td", "", &looked(check));
                    });
                }
            },
        );
    });
}

fn doubts(m: &mut Markup, audit: &Audit) {
    if audit.doubts.is_empty() {
        return;
    }
    section(m, "doubts", &say!("Doubtful numbers", "Сомнительные числа"), |m| {
        let columns = [
            say!("Check", "Проверка"),
            say!("Number", "Число"),
            say!("Printed", "Напечатано"),
            say!("Should be", "Должно быть"),
            say!("Why", "Почему"),
        ];
        table(m, "", &columns, |m| {
            for doubt in &audit.doubts {
                m.el("tr", "", |m| {
                    m.el("td", "", |m| mark(m, doubt));
                    m.el("td", "", |m| {
                        m.text(&doubt.what);
                        m.line("span", "note", &place(doubt));
                    });
                    m.el("td", "", |m| m.text(&doubt.printed));
                    m.el("td", "", |m| match &doubt.right {
                        Some(right) => m.text(right),
                        None => m.raw(NONE),
                    });
                    m.line("td", "", &doubt.why);
                });
            }
        });
    });
}

/// The name of the check, never by colour alone.
fn mark(m: &mut Markup, doubt: &Doubt) {
    let (class, glyph) = match doubt.severity {
        Severity::Wrong => ("mark fail", "✖ "),
        Severity::Warn => ("mark warn", "! "),
    };
    m.el("span", class, |m| {
        m.raw(glyph);
        m.text(doubt.check.code());
    });
}

fn numbers(m: &mut Markup, audit: &Audit, published: &Published) {
    section(m, "numbers", &say!("The table", "Таблица"), |m| {
        let columns = [
            say!("Row", "Строка"),
            say!("Compared", "Сравнивается"),
            say!("Test", "Испытание"),
            say!("Quantity", "Величина"),
            say!("Printed", "Напечатано"),
            say!("Doubts", "Сомнения"),
        ];
        table(m, "", &columns, |m| {
            for claim in &published.rows {
                row(m, claim, &audit.doubts.iter().filter(|doubt| is_of(doubt, claim)).collect::<Vec<_>>());
            }
        });
    });
}

/// Whether a doubt is about this number; in the wide form several share a row.
fn is_of(doubt: &Doubt, claim: &Claim) -> bool {
    doubt.row == claim.row && doubt.what == claim.name()
}

fn row(m: &mut Markup, claim: &Claim, doubts: &[&Doubt]) {
    m.el("tr", "", |m| {
        m.with("th", &[("scope", "row")], |m| m.text(&claim.row.to_string()));
        [&claim.layout, &claim.test, &claim.metric].into_iter().for_each(|text| m.el("td", "", |m| m.text(text)));
        m.el("td", "", |m| m.text(&printed(claim)));
        m.el("td", "", |m| {
            for doubt in doubts {
                mark(m, doubt);
                doubt.right.iter().for_each(|right| m.say(&Say::same(right.clone())));
            }
        });
    });
}

fn unread(m: &mut Markup, audit: &Audit) {
    if audit.unread.is_empty() {
        return;
    }
    section(m, "unread", &say!("Could not be read", "Не прочитано"), |m| {
        table(
            m,
            "",
            &[say!("Row", "Строка"), say!("Column", "Столбец"), say!("Why", "Почему")],
            |m| {
                for unread in &audit.unread {
                    m.el("tr", "", |m| {
                        m.with("th", &[("scope", "row")], |m| m.text(&unread.row.to_string()));
                        m.el("td", "", |m| m.text(&unread.column));
                        m.line("td", "", &unread.why);
                    });
                }
            },
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_marks_doubts_and_escapes_what_is_foreign() {
        let (audit, published) = crate::fixture::audit::audited();
        let page = audit_html(&audit, &published, Lang::En);
        assert!(!page.contains("md <b>") && page.contains("md &lt;b&gt;"));
        assert!(page.contains("11538.44 MB/s") && page.contains("Audit of table.csv"));
        let table = page.split("id=\"numbers\"").nth(1).unwrap();
        assert_eq!(table.matches("mark fail").count(), 3, "throughput, latency and percentage");
        assert!(page.contains("Проверка table.csv") || page.contains("lang=\"ru\""));
    }
}
