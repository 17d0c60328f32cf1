//! A run beside a published table as one HTML file.

use super::{bar, document, section, table};
use crate::markup::Markup;
use crate::published::{notes, ours, ratio, theirs};
use stend_analyse::comparison_with_published::{PublishedCase, PublishedComparison, PublishedRow};
use stend_base::{Lang, say};

/// A run beside a published table as one HTML file that starts in `lang`.
pub fn published_html(comparison: &PublishedComparison, lang: Lang) -> String {
    let (run, file) = (&comparison.run, &comparison.file);
    let title = say!("{run} beside {file}", "{run} рядом с {file}");
    document(&title, lang, |m| {
        m.raw("\n");
        m.el("header", "top", |m| {
            bar(m);
            m.line("h1", "", &title);
            m.line("p", "verdict", &comparison.summary());
            m.line("p", "", &comparison.label());
        });
        m.raw("\n");
        m.el("main", "", |m| {
            if !comparison.cases.is_empty() {
                let heading = say!("Cases beside published numbers", "Случаи рядом с опубликованными числами");
                section(m, "cases", &heading, |m| comparison.cases.iter().for_each(|case| numbers(m, case)));
            }
            conditions(m, comparison);
            unmatched(m, comparison);
        });
    })
}

fn numbers(m: &mut Markup, case: &PublishedCase) {
    m.el("h3", "", |m| m.text(&case.label));
    m.line("p", "", &case.workload);
    let columns = [
        say!("Published", "Опубликовано"),
        say!("Quantity", "Величина"),
        say!("Theirs", "У них"),
        say!("Ours", "У нас"),
        say!("Ours of theirs", "Наше от их"),
        say!("Differs", "Отличия"),
    ];
    table(m, "numbers", &columns, |m| case.rows.iter().for_each(|row| number(m, row)));
}

fn number(m: &mut Markup, row: &PublishedRow) {
    let (line, printed) = (row.row, &row.printed);
    m.el("tr", "", |m| {
        m.with("th", &[("scope", "row")], |m| {
            m.text(&row.layout);
            m.raw(" ");
            m.line("span", "note", &say!("row {line}: {printed}", "строка {line}: {printed}"));
        });
        m.line("td", "judged", &row.quantity.name());
        m.line("td", "", &theirs(row));
        m.line("td", "", &ours(row));
        m.line("td", "", &ratio(row));
        m.line("td", "told", &notes(row));
    });
}

fn conditions(m: &mut Markup, comparison: &PublishedComparison) {
    section(m, "conditions", &say!("Conditions", "Условия"), |m| {
        table(m, "", &[say!("What", "Что"), say!("Ours", "У нас")], |m| {
            for condition in &comparison.ours {
                m.el("tr", "", |m| {
                    m.line("td", "", &condition.name);
                    m.line("td", "", &condition.value);
                });
            }
        });
        table(m, "", &[say!("Theirs, from the table", "У них, из таблицы")], |m| {
            for stand in &comparison.theirs {
                m.el("tr", "", |m| m.el("td", "", |m| m.text(stand)));
            }
        });
    });
}

fn unmatched(m: &mut Markup, comparison: &PublishedComparison) {
    if comparison.unmatched.is_empty() {
        return;
    }
    section(m, "unmatched", &say!("Not in the table", "Нет в таблице"), |m| {
        table(m, "", &[say!("Case", "Случай"), say!("Why", "Почему")], |m| {
            for (label, why) in &comparison.unmatched {
                m.el("tr", "", |m| {
                    m.el("td", "", |m| m.text(label));
                    m.line("td", "", why);
                });
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_both_numbers_and_escapes_what_is_foreign() {
        let page = published_html(&crate::fixture::published::published(), Lang::En);
        assert!(!page.contains("md <b>") && page.contains("md &lt;b&gt;"));
        assert!(page.contains("queue depth 32, theirs 128") && page.contains("глубина очереди 32, у них 128"));
        assert!(page.contains("doubtful: H02"), "what an audit says of their number");
    }
}
