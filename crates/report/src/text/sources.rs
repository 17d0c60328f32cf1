//! What sources beside the load answered, on a terminal.

use super::Screen;
use super::layout::clean;
use crate::sources::{asked, heading, spread};
use stend_analyse::Findings;
use stend_base::say;

/// A paragraph for each source and a line for each value; nothing where there is none.
pub(super) fn lines(findings: &Findings, screen: &Screen) -> String {
    let (lang, mut out) = (screen.lang, String::new());
    if findings.sources.is_empty() {
        return out;
    }
    let title = say!(
        "Sources beside the load (mean, least … most within measuring windows)",
        "Источники рядом с нагрузкой (среднее, от … до внутри окон измерения)"
    );
    out.push_str(&format!("\n{}\n", screen.bold(title.get(lang))));
    for source in &findings.sources {
        let said = format!("{}: {}", clean(&source.name), clean(asked(source).get(lang)));
        out.push_str(&super::paragraph("– ", &said, screen.width));
        for value in &source.values {
            let said = format!("{}: {}", clean(heading(value).get(lang)), spread(value.measured.as_ref()).get(lang));
            out.push_str(&super::paragraph("    ", &said, screen.width));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use stend_base::Lang;

    #[test]
    fn a_terminal_shows_each_value_of_each_source() {
        let shown = crate::text(&fixture::watched_findings(), Lang::En, 100, false).replace('\u{a0}', " ");
        assert!(shown.contains("CPU of controller A, %: 41.2 (38.0 … 47.0)"), "{shown}");
        assert!(
            shown.contains("reads of the pool, IOPS: –") || shown.contains("reads of the pool, IOPS: —"),
            "{shown}"
        );
    }
}
