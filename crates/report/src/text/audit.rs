//! `stend audit` on a terminal: what was found, the checks, then every doubt with its right value.

use super::layout::{clean, left, paragraph, width};
use super::{Screen, WIDTH_MAX, WIDTH_MIN};
use crate::audit::{looked, place, summary, values};
use stend_audit::{Audit, Severity};
use stend_base::{Lang, say};

/// An audit for a person, at most `width` columns wide (40 at least).
pub fn audit_text(audit: &Audit, lang: Lang, width: usize, colour: bool) -> String {
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    let mut out =
        screen.bold(&paragraph("", &format!("{}. {}", clean(&audit.file), summary(audit).get(lang)), screen.width));
    out.push('\n');
    out.push_str(&checks(audit, &screen));
    for doubt in &audit.doubts {
        let glyph = if doubt.severity == Severity::Wrong { "✖" } else { "!" };
        let head = format!("{} {}, {}", doubt.check, place(doubt).get(lang), clean(&doubt.what));
        out.push('\n');
        out.push_str(&screen.bold(&paragraph(&format!("{glyph} "), &head, screen.width)));
        out.push_str(&paragraph("  ", &clean(values(doubt).get(lang)), screen.width));
        out.push_str(&paragraph("  ", &clean(doubt.why.get(lang)), screen.width));
    }
    let heading = say!("Could not be read", "Не прочитано");
    let unread = audit.unread.iter().map(|unread| {
        let (row, column) = (unread.row, clean(&unread.column));
        let place = say!("row {row} {column}", "строка {row} {column}");
        ("–".to_string(), format!("{}: {}", place.get(lang).trim_end(), clean(unread.why.get(lang))))
    });
    out.push_str(&super::list(&heading, &screen, unread));
    out
}

fn checks(audit: &Audit, screen: &Screen) -> String {
    let lang = screen.lang;
    let names = audit.checks.iter().map(|check| width(check.name.get(lang))).max().unwrap_or(0);
    let line = |check: &stend_audit::Checked| {
        let start = match names * 2 <= screen.width {
            true => format!("{}  {}  ", check.id, left(check.name.get(lang), names)),
            false => format!("{}  ", check.id),
        };
        let text = match names * 2 <= screen.width {
            true => looked(check).get(lang).to_string(),
            false => format!("{}: {}", check.name.get(lang), looked(check).get(lang)),
        };
        paragraph(&start, &text, screen.width)
    };
    audit.checks.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn a_screen_of_it_in_both_languages() {
        let (audit, _) = crate::fixture::audit::audited();
        let screens = [(Lang::En, 100), (Lang::Ru, 100), (Lang::Ru, 40)];
        let all = screens.map(|(lang, width)| audit_text(&audit, lang, width, false)).join("\n====\n");
        expect_file!["../../tests/golden/audit.txt"].assert_eq(&all);
    }
}
