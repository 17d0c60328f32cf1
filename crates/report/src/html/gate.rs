//! Results of a gate, near the verdict: failures are shown, passes are folded.

use crate::comparison::gate;
use crate::markup::Markup;
use stend_analyse::compare::Outcome;
use stend_analyse::gate::GateFinding;
use stend_base::text::counted;
use stend_base::{Say, say};

/// Held values that the fold lists; of more, the JSON has all.
const HELD_MOST: usize = 100;

/// The outcome of a run, and each value under a limit.
pub fn of_run(m: &mut Markup, found: &GateFinding) {
    let class = match found.outcome {
        Outcome::Passed => "gate passed",
        Outcome::Undecided => "gate undecided",
        Outcome::Failed => "gate failed",
    };
    m.with("aside", &[("class", class), ("id", "gate")], |m| {
        first(m, found);
        lines(m, &gate::not_held(found));
        let held = gate::held(found);
        if held.is_empty() {
            return;
        }
        let Say { en, ru } = counted(
            held.len() as u64,
            ["limit is met", "limits are met"],
            ["предел выдержан", "предела выдержано", "пределов выдержано"],
        );
        m.el("details", "folded", |m| {
            m.line("summary", "", &say!("✔ {en}", "✔ {ru}"));
            lines(m, &held[..held.len().min(HELD_MOST)]);
        });
    });
}

/// The gate in a sentence.
pub fn first(m: &mut Markup, found: &GateFinding) {
    m.el("p", "lead", |m| {
        m.raw(gate::glyph(found.outcome));
        m.raw(" ");
        m.say(&gate::summary(found));
    });
}

/// A line each, behind its glyph.
pub fn lines(m: &mut Markup, told: &[(&'static str, Say)]) {
    for (glyph, line) in told {
        m.el("p", "", |m| {
            m.raw(glyph);
            m.raw(" ");
            m.say(line);
        });
    }
}
