//! Matrices of NUMA nodes: a row for each node of threads, a column for each node of memory.

use super::{Page, table};
use crate::figures::{self, NONE};
use crate::markup::Markup;
use crate::rates;
use stend_analyse::findings::{NumaCell, NumaFinding};
use stend_base::{Say, say};

/// The section; nothing where there are no matrices.
pub(super) fn section(m: &mut Markup, page: &Page) {
    if page.findings.numa.is_empty() {
        return;
    }
    super::section(m, "numa", &say!("NUMA nodes", "Узлы NUMA"), |m| {
        for matrix in &page.findings.numa {
            m.el("p", "about", |m| {
                m.el("b", "", |m| m.text(&matrix.label));
                m.raw(": ");
                m.say(&matrix.say());
            });
            if matrix.cells.len() > 1 {
                drawn(m, matrix);
            }
        }
    });
}

fn drawn(m: &mut Markup, matrix: &NumaFinding) {
    let node = |node, of: &Say| figures::numa_node(node, matrix.device, of);
    let mut columns = vec![Say::same("")];
    columns.extend(matrix.columns().into_iter().map(|memory| node(memory, &say!("memory on", "память на"))));
    table(m, "numbers", &columns, |m| {
        for cpu in matrix.rows() {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| m.say(&node(cpu, &say!("threads on", "потоки на"))));
                for memory in matrix.columns() {
                    m.el("td", "", |m| match matrix.cell(cpu, memory) {
                        Some(found) => cell(m, matrix, found),
                        None => m.raw(NONE),
                    });
                }
            });
        }
    });
}

fn cell(m: &mut Markup, matrix: &NumaFinding, found: &NumaCell) {
    m.say(&rates::of_nodes(matrix, found));
    if found.of_local.is_some() {
        m.line("span", "note", &Say::both(|lang| found.percent(lang).unwrap_or_default()));
    }
}
