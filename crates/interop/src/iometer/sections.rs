//! Sections of Iometer's `results.csv`: a line that begins with `'` names what stands in the lines below it. Pure.

use super::Bad;
use super::access::Access;
use std::rc::Rc;
use stend_base::{Say, say};

/// Rows of a file.
const ROWS_MAX: usize = 100_000;
/// Columns of a head: Iometer 1.1 has 76.
const COLUMNS_MAX: usize = 1000;
/// Columns without which nothing can be said.
const NEEDED: [&str; 7] =
    ["Target Name", "Access Specification Name", "IOps", "Read I/Os", "Write I/Os", "Bytes Read", "Bytes Written"];
/// What separates columns: a comma, as Iometer writes them, or what spreadsheets save.
const SEPARATORS: [char; 3] = [',', ';', '\t'];
/// Column of the name of the access specification, which may hold commas that nobody quotes.
const NAME: &str = "Access Specification Name";

/// Results of all managers together, and what they are of.
#[derive(Debug)]
pub struct Test {
    /// What the user calls it; may be empty.
    pub description: String,
    /// Version of Iometer.
    pub version: String,
    /// The access specification, if the file has it.
    pub access: Option<Access>,
    /// The row.
    pub row: Row,
}

/// A row under its head.
#[derive(Debug)]
pub struct Row {
    /// Line, from 1.
    pub line: u32,
    head: Rc<Head>,
    cells: Vec<String>,
}

#[derive(Debug)]
struct Head {
    separator: char,
    names: Vec<String>,
}

/// Whether a line is the head of results.
pub fn is_head(line: &str) -> bool {
    line.trim_start_matches('"').starts_with("'Target Type") && line.contains(NAME)
}

/// What is read so far.
#[derive(Default)]
struct Reader {
    description: String,
    version: String,
    accesses: Vec<Access>,
    /// Line of the specifications whose results have not been seen.
    awaited: Option<u32>,
    head: Option<Rc<Head>>,
    tests: Vec<Test>,
    dropped: Vec<Bad>,
}

/// The tests of a text, and what of it is left out.
pub fn read(text: &str) -> Result<(Vec<Test>, Vec<Bad>), Bad> {
    let mut reader = Reader::default();
    let (mut section, mut rows) = ("", 0usize);
    let last = text.lines().count();
    for (line, content) in (1u32..).zip(text.lines()) {
        if content.trim().trim_matches(SEPARATORS).is_empty() {
            continue;
        }
        // A spreadsheet may put every cell in double quotes.
        if let Some(name) = content.strip_prefix('"').unwrap_or(content).strip_prefix('\'') {
            section = name;
            reader.begins(line, content, name)?;
            continue;
        }
        rows += 1;
        if rows > ROWS_MAX {
            return Err((line, say!("more than {ROWS_MAX} rows", "больше {ROWS_MAX} строк")));
        }
        // A last line without its end was cut off while it was written.
        let cut = line as usize == last && !text.ends_with('\n');
        reader.row(section, line, content, cut)?;
    }
    reader.unanswered();
    Ok((reader.tests, reader.dropped))
}

impl Reader {
    fn begins(&mut self, line: u32, content: &str, name: &str) -> Result<(), Bad> {
        if is_head(content) {
            self.head = Some(Rc::new(Head::of(line, content)?));
        } else if name.starts_with("Access specifications") {
            self.unanswered();
            (self.accesses, self.awaited) = (Vec::new(), Some(line));
        }
        Ok(())
    }

    /// Specifications without results: the test did not end.
    fn unanswered(&mut self) {
        if let Some(line) = self.awaited.take() {
            let why = say!("a test without results: it did not end", "испытание без результатов: оно не завершилось");
            self.dropped.push((line, why));
        }
    }

    fn row(&mut self, section: &str, line: u32, content: &str, cut: bool) -> Result<(), Bad> {
        let is = |name: &str| section.starts_with(name);
        let first = || cells(content, separator(section)).into_iter().next().unwrap_or_default();
        if is("Target Type") {
            return self.result(line, content, cut);
        } else if is("Test Type") {
            self.description = content.split_once(SEPARATORS).map_or("", |(_, text)| text).to_string();
            self.description = self.description.trim_matches(SEPARATORS).trim().trim_matches('"').trim().to_string();
        } else if is("Version") {
            self.version = first().trim().to_string();
        } else if is("Access specification name") {
            let separator = separator(section);
            // The name may hold commas; behind the last one stands whether it is assigned by default.
            let name = match separator {
                ',' if !content.starts_with('"') => {
                    content.rsplit_once(',').map_or(content, |(name, _)| name).trim_end_matches(',').to_string()
                }
                _ => first(),
            };
            self.accesses.push(Access::named(&name));
        } else if is("size")
            && let Some(access) = self.accesses.last_mut()
        {
            access.add(line, &cells(content, separator(section)))?;
        }
        Ok(())
    }

    fn result(&mut self, line: u32, content: &str, cut: bool) -> Result<(), Bad> {
        let Some(head) = &self.head else { return Ok(()) };
        let mut found = cells(content, head.separator);
        // Managers, workers, targets and processors are parts of it.
        if found.first().is_none_or(|kind| kind.trim() != "ALL") {
            return Ok(());
        }
        let (own, expected) = (found.len(), head.names.len());
        let name = head.names.iter().position(|name| name == NAME).unwrap_or_default();
        while found.len() > expected && found.last().is_some_and(|cell| cell.trim().is_empty()) {
            found.pop();
        }
        if found.len() > expected {
            let more = found.len() - expected;
            let whole = found[name..=name + more].join(&head.separator.to_string());
            found.splice(name..=name + more, [whole]);
        }
        if found.len() < expected {
            let why = say!("{own} columns, but the header has {expected}", "столбцов {own}, а в заголовке {expected}");
            if cut && !self.tests.is_empty() {
                self.dropped.push((line, why));
                return Ok(());
            }
            return Err((line, why));
        }
        found.iter_mut().for_each(|cell| *cell = cell.trim().to_string());
        self.awaited = None;
        let of = |access: &&Access| access.name == found[name];
        let access = self.accesses.iter().find(of).cloned();
        let row = Row { line, head: Rc::clone(head), cells: found };
        let (description, version) = (self.description.clone(), self.version.clone());
        self.tests.push(Test { description, version, access, row });
        Ok(())
    }
}

/// What separates the names of a section.
fn separator(names: &str) -> char {
    let count = |separator: &char| names.matches(*separator).count();
    // The first of several that occur as often is the one that Iometer writes.
    SEPARATORS.into_iter().rev().max_by_key(count).unwrap_or(',')
}

fn cells(line: &str, separator: char) -> Vec<String> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator as u8).has_headers(false).from_reader(line.as_bytes());
    let first = reader.records().next().and_then(Result::ok);
    first.map(|cells| cells.iter().map(String::from).collect()).unwrap_or_default()
}

impl Head {
    fn of(line: u32, content: &str) -> Result<Head, Bad> {
        let separator = separator(content);
        let names = cells(content, separator);
        let mut names: Vec<String> =
            names.iter().map(|name| name.trim_start_matches('\'').trim().to_string()).collect();
        while names.last().is_some_and(String::is_empty) {
            names.pop();
        }
        if names.len() > COLUMNS_MAX {
            return Err((line, say!("more than {COLUMNS_MAX} columns", "больше {COLUMNS_MAX} столбцов")));
        }
        match NEEDED.iter().find(|name| !names.iter().any(|own| own == *name)) {
            None => Ok(Head { separator, names }),
            Some(name) => Err((line, say!("there is no column `{name}`", "нет столбца `{name}`"))),
        }
    }
}

impl Row {
    /// Names and cells.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.head.names.iter().map(String::as_str).zip(self.cells.iter().map(String::as_str))
    }

    /// The cell of a column; empty if there is no such column.
    pub fn text(&self, name: &str) -> &str {
        self.pairs().find(|(own, _)| *own == name).map_or("", |(_, cell)| cell)
    }

    /// A number that is not below 0, and one unit of its last digit; `None` where the cell is empty or -1, which Iometer writes for what is
    /// not the same everywhere.
    pub fn number(&self, name: &str) -> Result<Option<(f64, f64)>, Bad> {
        let text = self.text(name);
        if text.is_empty() || text == "-1" {
            return Ok(None);
        }
        // Where columns are separated by something else, a comma is what a spreadsheet writes for the point.
        let point = if self.head.separator == ',' { text.to_string() } else { text.replace(',', ".") };
        let decimals = point.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        match point.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0) {
            Some(value) => Ok(Some((value, 10f64.powi(-(decimals.min(300) as i32))))),
            None => {
                let why: Say =
                    say!("`{text}` in column `{name}` is not a number", "`{text}` в столбце `{name}` — не число");
                Err((self.line, why))
            }
        }
    }
}
