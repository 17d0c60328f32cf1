//! The result as Markdown.

use super::{Found, Row};
use crate::{Outcome, Settings, page, say};

/// What a nominal 95 % interval may cover.
const COVERED: (f64, f64) = (0.93, 0.97);
/// Most of the comparisons of the same thing that may claim a difference.
const FALSE: f64 = 0.06;
/// Least of the comparisons with a true difference that must claim it.
const POWER: f64 = 0.80;
/// Most of the experiments of a planned length that may publish no interval.
const REFUSED: f64 = 0.10;

/// Most of the experiments of less than a planned length that may publish an interval without the truth.
const MISLED: f64 = 0.07;

/// Writes the page, or prints what there is of it.
pub fn write(settings: &Settings, found: &Found) -> Outcome<()> {
    let text = body(found);
    if settings.simulations.is_some() {
        say(&text);
        return Ok(());
    }
    page::write(&settings.page("coverage.md"), &text)
}

fn body(found: &Found) -> String {
    let simulations = found.rates.first().map_or(0, |row| row.tally.made);
    let mut text = format!(
        "# Do the intervals hold the truth?\n\n\
         Written by `make coverage`; everything above \"Notes\" is replaced by the next run. No storage takes part, and seeds are\n\
         fixed: every machine gets the same numbers.\n\n\
         Each row is {simulations} simulated runs of storage whose truth is known, through the functions that make what Stend\n\
         publishes. Goals: {:.0} to {:.0} % of the intervals hold the truth; at most {:.0} % of the runs publish no interval (\"refused\");\n\
         at most {:.0} % of comparisons of a thing with itself claim a difference; at least {:.0} % find one of 5 %. A miss is marked. More than\n\
         {:.0} % is a miss, too: such an interval is wider than need be, but nobody is misled by it. Of runs that are shorter than a plan\n\
         should be, it counts that at most {:.0} % of all publish an interval without the truth inside (\"misled\").\n\n",
        COVERED.0 * 100.0,
        COVERED.1 * 100.0,
        REFUSED * 100.0,
        FALSE * 100.0,
        POWER * 100.0,
        COVERED.1 * 100.0,
        MISLED * 100.0
    );
    text += &covered("Rate of a case", &found.rates);
    text += &covered("Percentile of a case", &found.quantiles);
    text += &claims("Two arms that are the same", "claimed a difference", &found.alike, |share| share <= FALSE);
    text += &claims("Two arms that differ by 5 %", "found it", &found.unlike, |share| share >= POWER);
    text += &covered("Ratio of two runs that were made one after the other", &found.runs);
    let fewer = found.runs.iter().map(|row| row.tally.made).min().unwrap_or(0);
    text += &format!("Of p99 {fewer} pairs of runs each.\n\n");
    text += &histories(&found.histories);
    text
}

fn covered(title: &str, rows: &[Row]) -> String {
    let mut text =
        format!("## {title}\n\n| storage | trials | refused | holds the truth | misled |\n|---|---|---|---|---|\n");
    for row in rows {
        let (refused, covered, misled) = (refused(row), coverage(row), row.tally.misled());
        let misled = marked(misled, row.planned || misled <= MISLED);
        text += &format!("| {} | {} | {refused} | {covered} | {misled} |\n", row.storage, row.published);
    }
    text + "\n"
}

fn claims(title: &str, column: &str, rows: &[Row], good: fn(f64) -> bool) -> String {
    let mut text = format!("## {title}\n\n| machine | blocks | {column} | holds the true ratio |\n|---|---|---|---|\n");
    for row in rows {
        let share = marked(row.tally.claims(), !row.planned || good(row.tally.claims()));
        let covered = coverage(row);
        text += &format!("| {} | {} | {share} | {covered} |\n", row.storage, row.published);
    }
    text + "\n"
}

fn histories(rows: &[Row]) -> String {
    let made = rows.first().map_or(0, |row| row.tally.made);
    let mut text = format!(
        "## Runs in which nothing changes\n\n`compare --history`, {made} series each.\n\n\
         | runs | series | claimed a change |\n|---|---|---|\n"
    );
    for row in rows {
        let share = marked(row.tally.claims(), row.tally.claims() <= FALSE);
        text += &format!("| {} | {} | {share} |\n", row.storage, row.published);
    }
    text + "\n"
}

fn refused(row: &Row) -> String {
    let share = row.tally.refusals();
    marked(share, !row.planned || share <= REFUSED)
}

fn coverage(row: &Row) -> String {
    if row.tally.made == row.tally.refused {
        return "–".to_string();
    }
    let share = row.tally.coverage();
    marked(share, !row.planned || (COVERED.0..=COVERED.1).contains(&share))
}

fn marked(share: f64, good: bool) -> String {
    let text = format!("{:.1} %", share * 100.0);
    if good { text } else { format!("**{text}** ✗") }
}
