//! Matrices of NUMA nodes on a terminal: a row for each node of threads, a column for each node of memory.

use super::Screen;
use super::grid::{Column, Row, grid};
use super::layout::clean;
use crate::figures;
use crate::rates;
use stend_analyse::findings::{NumaCell, NumaFinding};
use stend_base::say;

/// All matrices under their heading; nothing where there are none.
pub(super) fn matrices(found: &[NumaFinding], screen: &Screen) -> String {
    let (lang, mut out) = (screen.lang, String::new());
    for matrix in found {
        if out.is_empty() {
            out.push_str(&format!("\n{}\n", screen.bold(say!("NUMA nodes", "Узлы NUMA").get(lang))));
        }
        let said = format!("{}: {}", clean(&matrix.label), matrix.say().get(lang));
        out.push_str(&super::paragraph("– ", &said, screen.width));
        if matrix.cells.len() > 1 {
            out.push_str(&drawn(matrix, screen));
        }
    }
    out
}

fn drawn(matrix: &NumaFinding, screen: &Screen) -> String {
    let lang = screen.lang;
    let threads = |node| figures::numa_node(node, matrix.device, &say!("threads on", "потоки на"));
    let memory = |node| figures::numa_node(node, matrix.device, &say!("memory on", "память на"));
    let column = |node| Column { head: memory(node).get(lang).to_string(), right: true };
    let columns: Vec<Column> = std::iter::once(Column { head: String::new(), right: false })
        .chain(matrix.columns().into_iter().map(column))
        .collect();
    let cell = |cell: &NumaCell| {
        let rate = rates::of_nodes(matrix, cell);
        let rate = rate.get(lang);
        cell.short_percent(lang).map_or(rate.to_string(), |percent| format!("{rate}, {percent}"))
    };
    let cells = |cpu| {
        matrix.columns().into_iter().map(move |memory| matrix.cell(cpu, memory).map_or(figures::NONE.to_string(), cell))
    };
    let row =
        |cpu| Row { name: threads(cpu).get(lang).to_string(), indent: 2, cells: cells(cpu).collect(), tint: None };
    let rows: Vec<Row> = matrix.rows().into_iter().map(row).collect();
    grid(&columns, &rows, screen).unwrap_or_else(|| {
        let line = |found: &NumaCell| {
            let (cpu, memory) = (threads(found.cpu), memory(found.memory));
            let text = format!("{}, {}: {}", cpu.get(lang), memory.get(lang), cell(found));
            super::paragraph("  ", &text, screen.width)
        };
        matrix.cells.iter().map(line).collect()
    })
}
