//! What events did, on a terminal.

use super::Screen;
use super::grid::{Column, Row, grid};
use super::layout::clean;
use crate::faults::{NARROW, columns, rows};
use stend_analyse::findings::FaultFinding;
use stend_base::Say;

/// A table for each case with events; nothing where there are none.
pub(super) fn tables(found: &[FaultFinding], screen: &Screen) -> String {
    found.iter().map(|one| table(one, screen) + "\n").collect()
}

fn table(found: &FaultFinding, screen: &Screen) -> String {
    let lang = screen.lang;
    // The verdict above has said it in words.
    let mut out = format!("{}\n", screen.bold(&clean(&found.label)));
    found.events.iter().for_each(|event| out.push_str(&super::paragraph("· ", event.get(lang), screen.width)));
    // Where its power was cut a trial has no course.
    if found.trials.is_empty() {
        return out;
    }
    let heads: Vec<Say> = NARROW.iter().map(|index| columns()[*index].clone()).collect();
    let column = |(index, head): (usize, &Say)| Column { head: head.get(lang).to_string(), right: index > 0 };
    let columns: Vec<Column> = heads.iter().enumerate().map(column).collect();
    let row = |(name, cells): (Say, Vec<Say>)| Row {
        name: name.get(lang).to_string(),
        indent: 0,
        cells: NARROW[1..].iter().map(|index| cells[index - 1].get(lang).to_string()).collect(),
        tint: None,
    };
    let rows: Vec<Row> = rows(found).into_iter().map(row).collect();
    // What does not fit side by side stands below each other.
    out.push_str(&grid(&columns, &rows, screen).unwrap_or_else(|| {
        let line = |row: &Row| {
            let told = heads[1..].iter().zip(&row.cells).map(|(head, cell)| format!("{} {cell}", head.get(lang)));
            super::paragraph(&format!("{}: ", row.name), &told.collect::<Vec<_>>().join(", "), screen.width)
        };
        rows.iter().map(line).collect()
    }));
    out
}
