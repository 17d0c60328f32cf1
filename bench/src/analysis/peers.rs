//! Imports beside fio's own scripts over the same logs, in turn: processor time, pair by pair.

use super::{Row, once};
use crate::{Outcome, Settings, say};

/// Pairs of each import and its script. What comes first changes from pair to pair.
const PAIRS: usize = 5;
/// Imports in each pair, of which the mean counts: the kernel tells processor time in steps of 10 ms, and an import takes a few of them.
const IMPORTS: u32 = 10;

/// An import and the script that does the like.
pub struct Pair {
    /// Stend.
    pub ours: Row,
    /// The script.
    pub theirs: Row,
    /// How many times the processor time of the import the script has to take.
    pub at_least: f64,
}

/// Processor times of each pair, s: ours and theirs.
pub type Times = Vec<(f64, f64)>;

/// Runs both in turn.
pub fn in_turn(settings: &Settings, pair: &Pair) -> Outcome<Times> {
    let cpu = |row: &Row| -> Outcome<f64> { Ok(once(settings, row)?.cpu.as_secs_f64()) };
    let ours = || (0..IMPORTS).try_fold(0.0, |sum, _| Ok::<_, String>(sum + cpu(&pair.ours)? / f64::from(IMPORTS)));
    let one = |index: usize| {
        say(pair.theirs.what);
        if index.is_multiple_of(2) {
            let ours = ours()?;
            return Ok((ours, cpu(&pair.theirs)?));
        }
        let theirs = cpu(&pair.theirs)?;
        Ok((ours()?, theirs))
    };
    (0..PAIRS).map(one).collect()
}

/// The table; nothing without pairs.
pub fn text(pairs: &[(Times, Pair)]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "## Beside fio's scripts\n\n{PAIRS} pairs of each, in turn; processor time of a whole process, in each pair the mean of {IMPORTS} imports and one script; middle (smallest to largest); the quotient is that of each pair.\n\n\
         | what | stend import, s | the script, s | times as much | goal | reached |\n|---|---|---|---|---|---|\n"
    );
    for (times, pair) in pairs {
        let ours = Middle::of(times.iter().map(|(ours, _)| *ours));
        let theirs = Middle::of(times.iter().map(|(_, theirs)| *theirs));
        let quotient = Middle::of(times.iter().map(|(ours, theirs)| theirs / ours));
        let reached = if quotient.middle >= pair.at_least { "yes" } else { "**no**" };
        text += &format!(
            "| {} | {} | {} | {} | ≥ {} | {reached} |\n",
            pair.theirs.what,
            ours.shown(3),
            theirs.shown(2),
            quotient.shown(0),
            pair.at_least
        );
    }
    text.push('\n');
    text
}

/// Median and range of some numbers.
struct Middle {
    least: f64,
    middle: f64,
    most: f64,
}

impl Middle {
    /// The median of an odd count of numbers.
    fn of(numbers: impl Iterator<Item = f64>) -> Middle {
        let mut all: Vec<f64> = numbers.collect();
        all.sort_by(f64::total_cmp);
        let at = |index: usize| all.get(index).copied().unwrap_or(f64::NAN);
        Middle { least: at(0), middle: at(all.len() / 2), most: at(all.len().saturating_sub(1)) }
    }

    fn shown(&self, digits: usize) -> String {
        format!("{:.digits$} ({:.digits$} to {:.digits$})", self.middle, self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(what: &'static str) -> Row {
        Row { what, program: None, arguments: Vec::new(), files: Vec::new(), goal: None, memory_goal: None }
    }

    #[test]
    fn the_middle_of_the_quotients_decides() {
        let pair = |at_least| Pair { ours: row("ours"), theirs: row("theirs"), at_least };
        let times = vec![(0.1, 9.0), (0.1, 11.0), (0.2, 30.0)];
        let table = text(&[(times.clone(), pair(100.0)), (times, pair(120.0))]);
        let lines: Vec<_> = table.lines().filter(|line| line.starts_with("| theirs")).collect();
        let begin = "| theirs | 0.100 (0.100 to 0.200) | 11.00 (9.00 to 30.00) | 110 (90 to 150) |";
        assert_eq!(lines, [format!("{begin} ≥ 100 | yes |"), format!("{begin} ≥ 120 | **no** |")]);
        assert_eq!(text(&[]), "");
    }
}
