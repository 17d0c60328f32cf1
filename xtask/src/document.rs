//! Tables of `docs/ARCHITECTURE.md` that rules read: what people read is what is enforced. Must not know
//! what a table means.

use crate::finding::Finding;
use crate::tree::Source;

/// The document.
pub const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its line, from 1.
    pub line: usize,
    cells: Vec<String>,
}

impl Row {
    /// Text of a column without back-quotes; empty if the row has no such column.
    pub fn text(&self, column: usize) -> String {
        self.cells.get(column).map_or("", String::as_str).replace('`', "")
    }

    /// What stands between back-quotes in a column.
    pub fn quoted(&self, column: usize) -> Vec<&str> {
        self.cells.get(column).map_or("", String::as_str).split('`').skip(1).step_by(2).collect()
    }

    /// A finding about this row.
    pub fn finding(&self, rule: &'static str, message: impl Into<String>) -> Finding {
        Finding::new(ARCHITECTURE, self.line, rule, message)
    }
}

/// Rows of the table with this header, or why there are none.
pub fn table(document: &Source, header: &[&str]) -> Result<Vec<Row>, Finding> {
    let mut lines = document.text.lines().enumerate().map(|(i, line)| (i + 1, cells(line)));
    let found = lines.by_ref().find(|(_, cells)| cells.as_deref().is_some_and(|cells| cells == header));
    let missing = || {
        let header = header.join(" | ");
        Finding::new(
            &document.path,
            1,
            "document",
            format!("the table `{header}` is missing, and with it what it allows"),
        )
    };
    found.ok_or_else(missing)?;
    let rows = lines.map_while(|(line, cells)| cells.map(|cells| Row { line, cells })).skip(1).collect::<Vec<_>>();
    if rows.is_empty() { Err(missing()) } else { Ok(rows) }
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Source {
        Source::new(ARCHITECTURE, "text\n\n| a | b |\n|---|---|\n| `x` and `y` | 1 |\n| z | |\n\n| c |\n|---|\n")
    }

    #[test]
    fn a_table_is_found_by_its_header_and_read_to_its_end() {
        let rows = table(&document(), &["a", "b"]).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].line, rows[0].quoted(0), rows[0].text(1)), (5, vec!["x", "y"], "1".to_string()));
        assert_eq!(
            (rows[0].text(0), rows[1].quoted(0).len(), rows[1].text(7)),
            ("x and y".to_string(), 0, String::new())
        );
    }

    #[test]
    fn a_table_that_is_missing_or_empty_is_a_finding() {
        assert!(table(&document(), &["a"]).unwrap_err().message.contains("`a` is missing"));
        assert!(table(&document(), &["c"]).is_err());
    }
}
