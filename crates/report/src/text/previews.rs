//! `stend run --on A --against B --dry-run`: what the run of each target would do, and what all of them take together.

use super::layout::{clean, left, paragraph, width};
use super::preview::{preview_text, time, written};
use super::{Screen, WIDTH_MAX, WIDTH_MIN};
use stend_analyse::preview::{Preview, together};
use stend_base::{Lang, Say, say};
use stend_record::targets::{in_line, names};

/// Previews of several runs for a person, at most `width` columns wide (40 at least); `comparison` is the page that compares them.
pub fn previews_text(previews: &[Preview], comparison: &str, lang: Lang, width: usize, colour: bool) -> String {
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    let count = previews.len();
    let mut out = String::new();
    for (preview, number) in previews.iter().zip(1..) {
        let target = clean(&in_line(&names(&preview.targets)));
        let heading =
            say!("Target {number} of {count}: {target}", "Объект {number} из {count}: {target}").get(lang).to_string();
        out.push_str(&screen.bold(&paragraph("", &heading, screen.width)));
        out.push_str(&preview_text(preview, lang, width, colour));
        out.push('\n');
    }
    out + &in_all(previews, comparison, &screen)
}

/// The order of the runs, and the sum of their costs.
fn in_all(previews: &[Preview], comparison: &str, screen: &Screen) -> String {
    let Some(all) = together(previews) else { return String::new() };
    let order = match all.ahead.in_blocks {
        true => say!(
            "block by block in turn; the seed draws the order of each block.",
            "поочерёдно, блок за блоком; порядок в каждом блоке задаёт начальное число (seed)."
        ),
        false => say!("one after the other.", "один за другим."),
    };
    let rows = [
        (say!("order", "порядок"), order),
        (say!("time", "время"), time(&all)),
        (say!("written", "запись"), written(&all)),
        (say!("comparison", "сравнение"), Say::same(format!("{}.", clean(comparison)))),
    ];
    let count = previews.len();
    let heading = say!("All {count} targets together", "Все объекты вместе ({count})");
    let mut out = screen.bold(&paragraph("", heading.get(screen.lang), screen.width));
    let column = rows.iter().map(|(name, _)| width(name.get(screen.lang))).max().unwrap_or_default();
    for (name, value) in &rows {
        let first = format!("{}  ", left(name.get(screen.lang), column));
        out.push_str(&paragraph(&first, value.get(screen.lang), screen.width));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use expect_test::expect_file;

    #[test]
    fn several_previews_end_with_what_they_cost_together() {
        let mut text = String::new();
        for (lang, width, in_blocks) in [(Lang::En, 100, true), (Lang::Ru, 80, true), (Lang::En, 60, false)] {
            let previews = [fixture::preview_of_one_side(in_blocks), fixture::preview_of_one_side(in_blocks)];
            let shown = previews_text(&previews, "/home/anna/R-1-campaign.html", lang, width, false);
            assert!(shown.lines().all(|line| super::width(line) <= width), "{shown}");
            text += &format!("{shown}---\n");
        }
        expect_file!["../../tests/golden/previews.txt"].assert_eq(&text);
    }
}
