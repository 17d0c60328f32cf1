//! What a gate says of one run, on a terminal.

use super::layout::paragraph;
use super::screen;
use crate::comparison::gate;
use stend_analyse::gate::GateFinding;
use stend_base::Lang;

/// The gate in one sentence, and a line for each value that it holds, at most `width` columns wide (40 at least).
pub fn gate_text(found: &GateFinding, lang: Lang, width: usize, colour: bool) -> String {
    let screen = screen(lang, width, colour);
    let first = format!("{} ", gate::glyph(found.outcome));
    let mut out = screen.bold(&paragraph(&first, gate::summary(found).get(lang), screen.width));
    for (glyph, line) in gate::of_run(found) {
        out.push_str(&paragraph(&format!("  {glyph} "), line.get(lang), screen.width));
    }
    out
}
