//! How many instances hold their objective, on a terminal.

use super::Screen;
use super::grid::{Column, Row, grid};
use super::layout::clean;
use crate::density::{cells, columns, origin};
use stend_analyse::findings::{DensityFinding, DensityPoint};
use stend_base::Say;

/// A table for each search; nothing where there are none.
pub(super) fn tables(found: &[DensityFinding], screen: &Screen) -> String {
    found.iter().map(|one| table(one, screen)).collect::<Vec<_>>().join("\n")
}

/// Without how fair it was and what limits held back, which the page has.
fn narrow(mut all: Vec<Say>) -> Vec<Say> {
    let (fairness, held_back) = (4, 8);
    all.remove(held_back);
    all.remove(fairness);
    all
}

fn table(found: &DensityFinding, screen: &Screen) -> String {
    let lang = screen.lang;
    let mut out = format!("{}\n", screen.bold(&clean(&found.label)));
    let heads = narrow(columns(found));
    let column = |(index, head): (usize, &Say)| Column { head: head.get(lang).to_string(), right: index > 0 };
    let columns: Vec<Column> = heads.iter().enumerate().map(column).collect();
    let row = |point: &DensityPoint| Row {
        name: point.instances.to_string(),
        indent: 0,
        cells: narrow([vec![Say::same("")], cells(point)].concat())[1..]
            .iter()
            .map(|cell| cell.get(lang).to_string())
            .collect(),
        tint: None,
    };
    let rows: Vec<Row> = found.points.iter().map(row).collect();
    // What does not fit side by side stands below each other.
    out.push_str(&grid(&columns, &rows, screen).unwrap_or_else(|| {
        let line = |row: &Row| {
            let told = heads[1..].iter().zip(&row.cells).map(|(head, cell)| format!("{} {cell}", head.get(lang)));
            super::paragraph(&format!("{}: ", row.name), &told.collect::<Vec<_>>().join(", "), screen.width)
        };
        rows.iter().map(line).collect()
    }));
    out.push_str(&super::paragraph("", origin(found).get(lang), screen.width));
    out
}
