//! The result as Markdown.

use super::Extent;
use super::cell::{RAMP, RANGE};
use super::contest::{self, Compared, Row, Table};
use crate::fio::Fio;
use crate::{Outcome, Settings, machine, page, say};

/// Largest distance of the ratio from 1 on the limited target, for the whole interval.
const TOLERANCE: f64 = 0.03;
/// Writes the document.
pub fn write(settings: &Settings, extent: Extent, fio: &Fio, tables: &[Table]) -> Outcome<()> {
    let text = document(settings, extent, fio, tables);
    match (&settings.only, &settings.out) {
        // A part of the rows is no page, unless it gets one of its own.
        (Some(_), None) => say(&text),
        _ => page::write(&settings.page("agree.md"), &text)?,
    }
    let missed = tables.iter().filter(|table| table.limited).flat_map(|table| &table.rows).filter(|row| !holds(row));
    let missed = missed.map(|row| row.cell.name()).collect::<Vec<_>>();
    say(&format!("{} of the cells under the limit missed {}", missed.len(), missed.join(", ")));
    Ok(())
}

fn document(settings: &Settings, extent: Extent, fio: &Fio, tables: &[Table]) -> String {
    let example = tables.first().and_then(|table| table.rows.first()).map(|row| row.cell);
    let command =
        example.map(|cell| contest::fio_arguments(&cell, "TARGET", extent.window, 1).join(" ")).unwrap_or_default();
    let mut text = format!(
        "# Does Stend agree with fio?\n\n\
         Written by `make agree`; everything above \"Notes\" is replaced by the next run.\n\n\
         Both tools have the same file or device, filled once by Stend, in the same minute. A block runs each contender\n\
         twice, mirrored (A B B A), and the first one changes from block to block. The ratio is Stend / fio, the exponential\n\
         of the mean of {} paired log ratios with its 95 % t interval. Latency is the mean of fio's *lat* and of Stend's\n\
         latency: both count from before the submission.\n\n\
         | what | |\n|---|---|\n",
        extent.blocks
    );
    for (name, value) in machine::facts(settings, fio) {
        text += &format!("| {name} | {value} |\n");
    }
    let trial = format!("ramp {} ms, window {} ms", RAMP.0 / 1_000_000, extent.window.as_millis());
    text += &format!("| trial | {trial}, range {} MiB |\n| fio | `fio {command}` |\n\n", RANGE.0 >> 20);
    tables.iter().for_each(|table| text += &section(table));
    text
}

fn section(table: &Table) -> String {
    let rule = match table.limited {
        true => format!("The whole interval must lie within ±{:.0} %.", TOLERANCE * 100.0),
        false => "No tolerance: the disk is shared and moves by itself. The A/A floor is the 95th percentile of the\n\
                  distance of Stend from itself in the same blocks; a ratio inside it says nothing."
            .to_string(),
    };
    let last = if table.limited { "holds" } else { "A/A floor" };
    let mut text = format!(
        "## On {}\n\n{rule}\n\n| cell | quantity | Stend | fio | Stend / fio, % | 95 % interval | {last} |\n|---|---|---|---|---|---|---|\n",
        table.target
    );
    for row in &table.rows {
        let cell = row.cell.name();
        for (name, compared, unit) in [("IOPS", &row.iops, 1.0), ("mean latency, µs", &row.latency, 1e3)] {
            let Compared { stend, fio, ratio, floor } = compared;
            let last = match (table.limited, floor) {
                (true, _) if within(compared) => "yes".to_string(),
                (true, _) => "**no**".to_string(),
                (false, Some(floor)) => format!("±{:.1} %", floor * 100.0),
                (false, None) => "–".to_string(),
            };
            let (low, high) = ratio.interval;
            let percent = |share: f64| format!("{:.2}", share * 100.0);
            text += &format!(
                "| {cell} | {name} | {:.1} | {:.1} | {} | {} to {} | {last} |\n",
                stend / unit,
                fio / unit,
                percent(ratio.ratio),
                percent(low),
                percent(high)
            );
        }
    }
    text + "\n"
}

fn holds(row: &Row) -> bool {
    within(&row.iops) && within(&row.latency)
}

fn within(compared: &Compared) -> bool {
    let (low, high) = compared.ratio.interval;
    low >= 1.0 - TOLERANCE && high <= 1.0 + TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_stats::paired;

    fn compared(effects: &[f64]) -> Compared {
        Compared { stend: 1.0, fio: 1.0, ratio: paired::ratio(effects).unwrap(), floor: None }
    }

    #[test]
    fn agreement_needs_the_whole_interval_and_not_only_the_middle() {
        assert!(within(&compared(&[0.01, 0.011, 0.009, 0.01, 0.012, 0.008])));
        assert!(!within(&compared(&[0.2, -0.2, 0.2, -0.2, 0.2, -0.2])));
        assert!(!within(&compared(&[0.05, 0.051, 0.05, 0.051, 0.05, 0.051])));
    }
}
