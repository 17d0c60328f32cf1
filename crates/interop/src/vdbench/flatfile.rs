//! Rows of vdbench's flatfile: words between blanks below a head of names. Columns differ by version and are found by their names. Pure.

use stend_base::{Say, say};

/// Why a text cannot be read, and at which line.
pub type Bad = (u32, Say);
/// Rows of a file: three years of seconds would be more.
const ROWS_MAX: usize = 4_000_000;
/// Columns of a head: that of vdbench 5.04.06 has some 30.
const COLUMNS_MAX: usize = 1000;
/// Columns without which nothing can be said.
const NEEDED: [&str; 8] = ["tod", "Run", "Interval", "rate", "MB/sec", "bytes/io", "read%", "resp"];

/// Intervals of one load, and their means.
#[derive(Debug)]
pub struct Run<'t> {
    /// Line of its first row.
    pub line: u32,
    /// Rows of single intervals.
    pub intervals: Vec<Row<'t>>,
    /// The row of means.
    pub mean: Row<'t>,
}

/// A row under its head.
#[derive(Debug, Clone)]
pub struct Row<'t> {
    /// Line, from 1.
    pub line: u32,
    head: std::rc::Rc<Vec<&'t str>>,
    words: Vec<&'t str>,
}

/// Whether a line is the head. Every file that may be a flatfile is asked this, so words are looked at and not kept: those of one long
/// line take eight times its memory.
pub fn is_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("tod")
        && ["Run", "Interval", "rate", "resp"].iter().all(|name| words.clone().any(|own| own == *name))
}

/// The loads of a flatfile, and what of it is left out.
pub fn runs(text: &str) -> Result<(Vec<Run<'_>>, Vec<Bad>), Bad> {
    let (mut found, mut dropped, mut head) = (Vec::new(), Vec::new(), None);
    let mut intervals: Vec<Row<'_>> = Vec::new();
    let mut count = 0usize;
    for (line, content) in (1u32..).zip(text.lines()) {
        let content = content.split('<').next().unwrap_or_default();
        if content.trim().is_empty() || content.starts_with('*') {
            continue;
        }
        if is_head(content) {
            head = Some(std::rc::Rc::new(headed(line, content)?));
            continue;
        }
        // Before the head there is the title of the page.
        let Some(head) = &head else { continue };
        count += 1;
        if count > ROWS_MAX {
            return Err((line, say!("more than {ROWS_MAX} rows", "больше {ROWS_MAX} строк")));
        }
        let expected = head.len();
        let words: Vec<&str> = content.split_whitespace().take(expected + 1).collect();
        if words.len() != expected {
            let own = content.split_whitespace().count();
            let why = say!("{own} columns, but the header has {expected}", "столбцов {own}, а в заголовке {expected}");
            // What wrote the last line was cut off.
            if own < expected && !text.ends_with('\n') && line as usize == text.lines().count() {
                dropped.push((line, why));
                break;
            }
            return Err((line, why));
        }
        let row = Row { line, head: std::rc::Rc::clone(head), words };
        if row.text("Interval").starts_with("avg") {
            let first = intervals.first().map_or(line, |row| row.line);
            found.push(Run { line: first, intervals: std::mem::take(&mut intervals), mean: row });
            continue;
        }
        // A load that begins anew without means of the one before: that one was cut off.
        let again = intervals.last().is_some_and(|last| last.number("Interval") >= row.number("Interval"));
        if again {
            dropped.push(cut(&intervals));
            intervals.clear();
        }
        intervals.push(row);
    }
    if !intervals.is_empty() {
        dropped.push(cut(&intervals));
    }
    Ok((found, dropped))
}

fn headed(line: u32, content: &str) -> Result<Vec<&str>, Bad> {
    let names: Vec<&str> = content.split_whitespace().take(COLUMNS_MAX + 1).collect();
    if names.len() > COLUMNS_MAX {
        return Err((line, say!("more than {COLUMNS_MAX} columns", "больше {COLUMNS_MAX} столбцов")));
    }
    match NEEDED.iter().find(|name| !names.contains(*name)) {
        None => Ok(names),
        Some(name) => Err((line, say!("there is no column `{name}`", "нет столбца `{name}`"))),
    }
}

fn cut(intervals: &[Row<'_>]) -> Bad {
    let (line, name) = intervals.first().map_or((0, ""), |row| (row.line, row.text("Run")));
    (line, say!("`{name}` has no row of means: it did not end", "у `{name}` нет строки средних: он не завершён"))
}

impl<'t> Row<'t> {
    /// Names and words.
    pub fn pairs(&self) -> impl Iterator<Item = (&'t str, &'t str)> + '_ {
        self.head.iter().copied().zip(self.words.iter().copied())
    }

    /// The word of a column; empty if there is no such column.
    pub fn text(&self, name: &str) -> &'t str {
        self.pairs().find(|(own, _)| *own == name).map_or("", |(_, word)| word)
    }

    /// A number that is not below 0; `None` if there is none. Java writes a comma where the language of the machine has one.
    pub fn number(&self, name: &str) -> Option<f64> {
        let text = self.text(name).replace(',', ".");
        text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
    }

    /// A number without which the row is wrong.
    pub fn needed(&self, name: &str) -> Result<f64, Bad> {
        let text = self.text(name);
        self.number(name).ok_or_else(|| {
            (self.line, say!("`{text}` in column `{name}` is not a number", "`{text}` в столбце `{name}` — не число"))
        })
    }
}
