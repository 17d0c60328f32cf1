//! The table of docs/bench/fuzz.md: what was searched, read back so that later searches add to it. Everything else on the page is
//! written by hand and stays.

use std::collections::BTreeMap;
use std::path::Path;
use stend_untrusted::{TARGETS, Target};

/// The first line of the table.
const HEADER: &str = "| target | reads | executions | CPU time | coverage | inputs kept | not mended |";
const RULE: &str = "|---|---|--:|--:|--:|--:|--:|";

/// What a target has had.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// Name of the target.
    pub name: String,
    /// Inputs that it was given.
    pub executions: u64,
    /// CPU time, seconds.
    pub seconds: u64,
    /// Edges of the program that were reached.
    pub coverage: u64,
    /// Inputs that each reach something new.
    pub inputs: u64,
    /// Inputs that are found and not mended.
    pub open: usize,
}

/// The page.
#[derive(Debug)]
pub struct Page {
    before: String,
    rows: BTreeMap<String, Row>,
    after: String,
}

impl Page {
    /// Reads it. It must have the table.
    pub fn read(path: &Path) -> Result<Page, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Page::parse(&text).ok_or_else(|| format!("{}: it has no line `{HEADER}`", path.display()))
    }

    fn parse(text: &str) -> Option<Page> {
        let (before, rest) = text.split_once(HEADER)?;
        let lines: Vec<&str> = rest.lines().skip(1).collect();
        let end = lines.iter().position(|line| !line.starts_with('|')).unwrap_or(lines.len());
        let rows = lines[..end].iter().filter_map(|line| Row::parse(line)).map(|row| (row.name.clone(), row)).collect();
        let after = lines[end..].iter().map(|line| format!("{line}\n")).collect();
        Some(Page { before: before.to_string(), rows, after })
    }

    /// Writes it back.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        std::fs::write(path, self.text()).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn text(&self) -> String {
        let rows: String = TARGETS.iter().map(|target| self.row(target.name).line(target.reads)).collect();
        format!("{}{HEADER}\n{RULE}\n{rows}{}", self.before, self.after)
    }

    /// What a target has had so far.
    pub fn row(&self, name: &str) -> Row {
        self.rows.get(name).cloned().unwrap_or_else(|| Row { name: name.to_string(), ..Row::default() })
    }

    /// Adds a slice: time and executions add up, coverage and inputs are those of all slices together.
    pub fn add(&mut self, target: &Target, done: &Row) {
        let mut row = self.row(target.name);
        row.executions += done.executions;
        row.seconds += done.seconds;
        row.coverage = row.coverage.max(done.coverage);
        row.inputs = row.inputs.max(done.inputs);
        row.open = done.open;
        self.rows.insert(row.name.clone(), row);
    }
}

impl Row {
    fn line(&self, reads: &str) -> String {
        let Row { name, executions, seconds, coverage, inputs, open } = self;
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        format!("| `{name}` | {reads} | {executions} | {minutes}:{seconds:02} | {coverage} | {inputs} | {open} |\n")
    }

    fn parse(line: &str) -> Option<Row> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, _, executions, time, coverage, inputs, open, _] = cells[..] else { return None };
        let (minutes, seconds) = time.split_once(':')?;
        Some(Row {
            name: name.trim_matches('`').to_string(),
            executions: executions.parse().ok()?,
            seconds: minutes.parse::<u64>().ok()? * 60 + seconds.parse::<u64>().ok()?,
            coverage: coverage.parse().ok()?,
            inputs: inputs.parse().ok()?,
            open: open.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_added_to_what_the_page_says_and_the_words_around_it_stay() {
        let text =
            format!("# Title\n\nwords\n\n{HEADER}\n{RULE}\n| `suite` | x | 100 | 1:05 | 30 | 7 | 0 |\n\nmore words\n");
        let mut page = Page::parse(&text).expect("a page");
        let target = stend_untrusted::named("suite").expect("a target");
        page.add(target, &Row { executions: 11, seconds: 60, coverage: 20, inputs: 9, open: 1, ..Row::default() });
        let written = page.text();
        assert!(written.starts_with("# Title\n\nwords\n\n") && written.ends_with("|\n\nmore words\n"), "{written}");
        assert!(written.contains("| 111 | 2:05 | 30 | 9 | 1 |"), "{written}");
        assert_eq!(Page::parse(&written).expect("a page").text(), written);
    }

    #[test]
    fn a_page_without_the_table_is_not_written() {
        assert!(Page::parse("# Title\n").is_none());
    }
}
