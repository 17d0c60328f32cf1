//! Reads the tables of a Markdown file.

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Line of the file, from 1.
    pub line: usize,
    /// Cells without surrounding space.
    pub cells: Vec<String>,
}

/// Rows of the table whose header begins with `first`, without the header. `None` if there is none.
pub fn rows(text: &str, first: &str) -> Option<Vec<Row>> {
    let lines = || text.lines().enumerate();
    let (header, _) = lines().find(|(_, line)| cells(line).is_some_and(|cells| cells[0] == first))?;
    // The line below the header holds only dashes.
    let body = lines().skip(header + 2).map_while(|(index, line)| Some(Row { line: index + 1, cells: cells(line)? }));
    Some(body.collect())
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().to_string()).collect())
}

/// Texts between back quotes.
pub fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_found_by_its_first_column_and_ends_with_it() {
        let text = "text\n\n| a | b |\n|---|---|\n| 1 | `x` and `y` |\n| 2 | |\n\n| c |\n|---|\n| 3 |\n";
        let found = rows(text, "a").unwrap();
        assert_eq!(found.iter().map(|row| row.line).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(quoted(&found[0].cells[1]), ["x", "y"]);
        assert_eq!(rows(text, "c").unwrap().len(), 1);
        assert_eq!(rows(text, "d"), None);
    }
}
