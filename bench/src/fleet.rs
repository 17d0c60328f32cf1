//! `make fleet`: what do many hosts in one run cost? One core that merges what they send, a run file of them, how far apart they begin, and
//! what a watched host does to the load. A part that cannot be measured here is on the page with its reason.

mod file;
mod merging;
mod skew;
mod watched;
mod workers;

use crate::{Outcome, Settings, machine, page, say};

/// Name of a part, and what measures it and words what came out.
type Part = (&'static str, fn(&Settings) -> Outcome<String>);

/// In this order: memory is measured of a program that did nothing else yet.
const PARTS: [Part; 4] = [
    ("What a thousand hosts send", merging::measure),
    ("A run file of many hosts", file::measure),
    ("How far apart hosts begin", skew::measure),
    ("A host that is watched", watched::measure),
];

/// Measures everything and writes the page; with `ONLY` some parts, which are printed.
pub fn measure(settings: &Settings) -> Outcome<()> {
    let wanted = |name: &str| settings.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut text = "# Can one core take in what a thousand load hosts send?\n\n\
                    Written by `make fleet`; everything above \"Notes\" is replaced by the next run.\n\n"
        .to_string();
    for (name, part) in PARTS.iter().filter(|(name, _)| wanted(name)) {
        say(&format!("fleet: {name}"));
        let found = part(settings).unwrap_or_else(|why| not_measured(&why));
        text += &format!("## {name}\n\n{found}");
    }
    if settings.only.is_some() {
        say(&text);
        return Ok(());
    }
    text += "## The machine\n\n| what | |\n|---|---|\n";
    for (what, value) in machine::of_host(settings) {
        text += &format!("| {what} | {value} |\n");
    }
    page::write(&settings.page("fleet.md"), &(text + "\n"))
}

fn not_measured(why: &str) -> String {
    say(why);
    format!("Not measured: {}\n\n", why.lines().next().unwrap_or_default())
}

/// How the page shows whether a goal is reached.
fn reached(held: bool) -> &'static str {
    if held { "✔" } else { "**✗**" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_failed_is_on_the_page_with_the_first_line_of_its_reason() {
        assert_eq!(not_measured("no root\nmore"), "Not measured: no root\n\n");
        assert!(PARTS.iter().all(|(name, _)| !name.is_empty()) && reached(true) != reached(false));
    }
}
