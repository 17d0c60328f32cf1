//! Tables as CSV: the tidy form with one number a row, and the wide form of spreadsheets with one system a row.

use crate::number::{self, Printed, Separators};
use crate::unit;
use encoding_rs::{UTF_8, WINDOWS_1251};
use stend_base::{Bytes, Error, Result, Say, say};
use stend_record::published::{Claim, Dimension, Number, Published, Unread, block_size_in_name};

/// Largest table, bytes.
pub const FILE_MAX: usize = 16 << 20;
/// Most numbers in a table: each is compared with each other one. Published tables have hundreds.
const NUMBERS_MAX: usize = 10_000;
/// Most cells that could not be read and are listed one by one.
const UNREAD_MAX: usize = 100;
/// What may separate columns. Where several would do, the last is it, because the others occur in texts.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// A line of the file with its number.
type Line = (u32, Vec<String>);

/// Reads a table of either form. What cannot be read in it is listed with its place and left out of the numbers.
///
/// Errors: what makes the whole table unreadable; of kind `Spec`.
pub fn read(bytes: &[u8], file: &str) -> Result<(Published, Vec<Unread>)> {
    if bytes.len() > FILE_MAX {
        let (size, most) = (bytes.len() >> 20, FILE_MAX >> 20);
        return Err(refused(
            file,
            &say!("it has {size} MiB, at most {most} are read", "в ней {size} МиБ, читается не больше {most}"),
        ));
    }
    let text = decoded(bytes);
    let mut lines = lines(&text, file)?.into_iter();
    let Some((head_line, head)) = lines.next() else {
        return Err(refused(file, &say!("it is empty", "она пуста")));
    };
    let names: Vec<String> = head.iter().map(|name| name.trim().to_lowercase()).collect();
    let tidy = names.iter().any(|name| name == "metric") || names.iter().any(|name| name == "value");
    let mut reader = Reader { width: head.len(), ..Reader::default() };
    let cells = lines.collect::<Vec<_>>();
    if tidy {
        reader.tidy(&names, &cells, file)?
    } else {
        reader.wide((head_line, &head), &cells, file)?
    }
    if reader.claims.len() > NUMBERS_MAX {
        return Err(refused(file, &say!("it has more than {NUMBERS_MAX} numbers", "в ней больше {NUMBERS_MAX} чисел")));
    }
    let rows = std::mem::take(&mut reader.claims);
    Ok((Published { file: file.to_string(), rows }, reader.all_unread()))
}

/// UTF-8 with or without a byte order mark, else what Russian spreadsheets write.
fn decoded(bytes: &[u8]) -> String {
    let (text, _, broken) = UTF_8.decode(bytes);
    if broken { WINDOWS_1251.decode_without_bom_handling(bytes).0.into_owned() } else { text.into_owned() }
}

/// What separates the columns: with it most lines have as many cells as the first one, at least two. Separators inside of quotes are none.
fn separator(text: &str) -> u8 {
    let (mut first, mut same) = (None, [0u64; SEPARATORS.len()]);
    let (mut line, mut is_blank, mut is_quoted, mut begins) = ([0u64; SEPARATORS.len()], true, false, true);
    // The last line may have no end.
    for byte in text.bytes().chain([b'\n']) {
        let known = SEPARATORS.iter().position(|separator| *separator == byte);
        match byte {
            // Quotes begin a cell, whatever separates cells: those of `3.5"` are a part of a text. Two of them in quotes close and open.
            b'"' if is_quoted || begins => (is_quoted, begins, is_blank) = (!is_quoted, is_quoted, false),
            _ if is_quoted => {}
            b'\n' | b'\r' => {
                if !is_blank {
                    let head = *first.get_or_insert(line);
                    for (at, same) in same.iter_mut().enumerate() {
                        *same += u64::from(head[at] > 0 && line[at] == head[at]);
                    }
                }
                (line, is_blank, begins) = ([0; SEPARATORS.len()], true, true);
            }
            _ => {
                if let Some(at) = known {
                    line[at] += 1;
                }
                is_blank &= known.is_some() || byte.is_ascii_whitespace();
                begins = known.is_some() || begins && byte == b' ';
            }
        }
    }
    let best = (0..SEPARATORS.len()).max_by_key(|at| same[*at]).unwrap_or(0);
    SEPARATORS[best]
}

/// All lines that are not blank.
fn lines(text: &str, file: &str) -> Result<Vec<Line>> {
    let separator = separator(text);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(text.as_bytes());
    let (mut lines, mut line, mut counted) = (Vec::new(), 1, 0);
    for record in reader.records() {
        let record = record.map_err(|e| refused(file, &Say::same(e.to_string())))?;
        // The place where a record begins is known before the line feeds that are left of the line before it.
        let from = record.position().map_or(0, |place| place.byte() as usize).min(text.len());
        let begin = text.len() - text.as_bytes()[from..].trim_ascii_start().len();
        line += text.as_bytes()[counted..begin].iter().filter(|byte| **byte == b'\n').count() as u32;
        counted = begin;
        if record.iter().any(|cell| !cell.trim().is_empty()) {
            lines.push((line, record.iter().map(|cell| cell.trim().to_string()).collect()));
        }
    }
    Ok(lines)
}

fn refused(file: &str, why: &Say) -> Box<Error> {
    let (en, ru) = (&why.en, &why.ru);
    Error::spec(say!("cannot read the table `{file}`: {en}", "таблица `{file}` не читается: {ru}"))
        .hint(say!("docs/formats/published.md describes both forms", "обе формы описаны в docs/formats/published.md"))
}

#[derive(Default)]
struct Reader {
    width: usize,
    claims: Vec<Claim>,
    unread: Vec<Unread>,
    /// How many more there are, and the first line of them.
    unlisted: usize,
    unlisted_from: u32,
}

impl Reader {
    fn tidy(&mut self, names: &[String], lines: &[Line], file: &str) -> Result<()> {
        let place = |name: &str| names.iter().position(|known| known == name);
        let missing: Vec<&str> = ["metric", "unit", "value"].into_iter().filter(|name| place(name).is_none()).collect();
        if !missing.is_empty() {
            let names = missing.join(", ");
            return Err(refused(file, &say!("it has no column {names}", "в ней нет столбца {names}")));
        }
        let value = place("value").unwrap_or_default();
        let is_text = |cells: &[String]| place("unit").and_then(|at| cells.get(at)).is_some_and(|unit| unit == "text");
        let mut habits = Separators::default();
        let numbers = lines.iter().filter(|(_, cells)| !is_text(cells));
        numbers.filter_map(|(_, cells)| cells.get(value)).for_each(|cell| habits.learn(cell));
        for (row, cells) in lines.iter().filter(|line| self.fits(line)).collect::<Vec<_>>() {
            let cell = |name: &str| place(name).and_then(|at| cells.get(at)).cloned().unwrap_or_default();
            let mut claim = Claim {
                row: *row,
                source: cell("source"),
                experiment: cell("experiment"),
                stand: cell("stand"),
                layout: cell("layout"),
                test: cell("test"),
                pattern: cell("pattern"),
                metric: cell("metric").to_lowercase(),
                unit: cell("unit"),
                printed: cell("value"),
                baseline: cell("baseline"),
                operation: cell("operation").to_lowercase(),
                ..Claim::default()
            };
            claim.block_size = self.field(*row, "block_size", &cell("block_size"), block_size);
            claim.queue_depth = self.field(*row, "queue_depth", &cell("queue_depth"), whole);
            claim.jobs = self.field(*row, "jobs", &cell("jobs"), whole);
            claim.line = self.field(*row, "line", &cell("line"), whole);
            if claim.unit != "text" {
                self.number(&mut claim, "value", &habits);
            }
            self.claims.push(claim);
        }
        Ok(())
    }

    fn wide(&mut self, (head_line, head): (u32, &[String]), lines: &[Line], file: &str) -> Result<()> {
        let columns: Vec<Option<Column>> = head.iter().skip(1).map(|name| column(name)).collect();
        if !columns.iter().any(Option::is_some) {
            let why = say!(
                "it has neither the columns of the tidy form (metric, unit, value) nor a column with a unit, as `rand-read-4k-qd32 (IOPS)`",
                "в ней нет ни столбцов строгой формы (metric, unit, value), ни столбца с единицей вида `rand-read-4k-qd32 (IOPS)`"
            );
            return Err(refused(file, &why));
        }
        self.tell_unknown_units((head_line, head), lines);
        let mut habits = Separators::default();
        let cells = lines.iter().flat_map(|(_, cells)| cells.iter().skip(1).zip(&columns));
        cells.filter(|(_, column)| column.is_some()).for_each(|(cell, _)| habits.learn(cell));
        for (row, cells) in lines.iter().filter(|line| self.fits(line)).collect::<Vec<_>>() {
            let layout = cells.first().cloned().unwrap_or_default();
            for (cell, column) in cells.iter().skip(1).zip(&columns) {
                let Some(column) = column.as_ref().filter(|_| !cell.is_empty()) else { continue };
                let (printed, layout) = (cell.clone(), layout.clone());
                let mut claim = Claim { row: *row, layout, printed, ..column.claim.clone() };
                self.number(&mut claim, &column.claim.test, &habits);
                self.claims.push(claim);
            }
        }
        Ok(())
    }

    /// Lists columns of numbers whose head ends in brackets with no unit in them. Columns of texts may have any word there.
    fn tell_unknown_units(&mut self, (head_line, head): (u32, &[String]), lines: &[Line]) {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.' | ' ' | '\u{a0}' | '\u{202f}');
        let is_number = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit()) && cell.chars().all(is_part);
        for (place, name) in head.iter().enumerate().skip(1) {
            let Some((_, unit)) = bracketed(name).filter(|(_, unit)| unit::parse(unit).is_none()) else { continue };
            if lines.iter().filter_map(|(_, cells)| cells.get(place)).any(is_number) {
                let why = say!(
                    "`{unit}` is no known unit, so the column is left out",
                    "`{unit}` — неизвестная единица, столбец пропущен"
                );
                self.tell(head_line, name, why);
            }
        }
    }

    /// Whether a line has as many cells as the head; a shorter one may leave out blanks at its end.
    fn fits(&mut self, (row, cells): &Line) -> bool {
        let (is, width) = (cells.len(), self.width);
        if is > width {
            let why = say!(
                "the line has {is} cells, the header {width}: is a comma inside a number not quoted?",
                "в строке {is} ячеек, а в заголовке {width}: запятая внутри числа не взята в кавычки?"
            );
            self.tell(*row, "", why);
        }
        is <= width
    }

    fn field<T>(&mut self, row: u32, column: &str, cell: &str, read: fn(&str) -> Option<T>) -> Option<T> {
        let value = read(cell);
        if value.is_none() && !cell.is_empty() {
            self.tell(row, column, say!("`{cell}` is not understood", "`{cell}` не понято"));
        }
        value
    }

    /// Reads what a claim prints. Its own unit, if it has one, is the unit of the claim from then on.
    fn number(&mut self, claim: &mut Claim, column: &str, habits: &Separators) {
        match number::parse(&claim.printed, habits).and_then(|printed| {
            let number = |printed: Printed| Ok((number_of(&printed, claim)?, printed));
            printed.map(number).transpose()
        }) {
            Ok(Some((_, printed))) if printed.rest.is_empty() && must_have_unit(claim) => {
                let unit = &claim.unit;
                self.tell(claim.row, "unit", say!("`{unit}` is no known unit", "`{unit}` — неизвестная единица"));
            }
            Ok(Some((number, printed))) => {
                claim.value = Some(number);
                if !printed.rest.is_empty() {
                    (claim.printed, claim.unit) = (printed.text, printed.rest);
                }
            }
            Ok(None) => {}
            Err(why) => self.tell(claim.row, column, why),
        }
    }

    fn tell(&mut self, row: u32, column: &str, why: Say) {
        if self.unread.len() < UNREAD_MAX {
            self.unread.push(Unread { row, column: column.to_string(), why });
        } else {
            self.unlisted += 1;
            self.unlisted_from = if self.unlisted == 1 { row } else { row.min(self.unlisted_from) };
        }
    }

    /// What could not be read: one by one, then the number of all others.
    fn all_unread(mut self) -> Vec<Unread> {
        if self.unlisted > 0 {
            let more = self.unlisted;
            let why = say!(
                "{more} more could not be read, the first of them here",
                "ещё {more} прочитать не удалось, первое из них — здесь"
            );
            self.unread.push(Unread { row: self.unlisted_from, column: String::new(), why });
        }
        self.unread
    }
}

/// Whether checks take a number by its dimension, and its column has a unit that is not known: as a count it would be left out without
/// a word. Any unit of another metric (`max_vms`, `iops_per_watt`) is a count.
fn must_have_unit(claim: &Claim) -> bool {
    let is_share = |word: &str| word.strip_prefix('p').is_some_and(|of| of.starts_with(|c: char| c.is_ascii_digit()));
    let is_known = |word: &str| ["mean", "avg", "median", "min", "max", "ratio"].contains(&word) || is_share(word);
    let measured = |name: &str| {
        let rest = claim.metric.strip_prefix(name);
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix('_').is_some_and(|rest| rest.split('_').any(is_known))
        })
    };
    let setting = claim.metric.strip_prefix("config_").or_else(|| claim.metric.strip_prefix("fio_"));
    let of_dimension = ["iops", "throughput", "latency"].into_iter().any(measured)
        || ["ratio", "relative_percent", "change_percent"].contains(&claim.metric.as_str())
        || setting.is_some_and(|name| ["runtime", "size", "working_set"].contains(&name));
    of_dimension && unit::parse(&claim.unit).is_none()
}

/// A printed number in base units; its own unit wins over that of the column. Errors: what follows it is no unit, or its word and the
/// unit of the column both multiply it.
fn number_of(printed: &Printed, claim: &Claim) -> std::result::Result<Number, Say> {
    let (cell, column) = (&claim.printed, &claim.unit);
    let (dimension, factor) = match printed.rest.as_str() {
        "" if printed.multiplied && unit::is_multiple_of_rate(column) => {
            return Err(say!(
                "`{cell}` in a column of `{column}` can be read in two ways; write the number with its unit",
                "`{cell}` в столбце с единицей `{column}` читается двояко; запишите число вместе с единицей"
            ));
        }
        "" => unit::parse(column).unwrap_or((Dimension::Plain, 1.0)),
        rest => unit::parse(rest).ok_or_else(|| {
            say!(
                "`{cell}`: `{rest}` after the number is no known unit",
                "`{cell}`: `{rest}` после числа — неизвестная единица"
            )
        })?,
    };
    let Printed { value, step, digits, .. } = *printed;
    Ok(Number { value: value * factor, step: step * factor, digits, dimension, factor })
}

/// Sizes of blocks are powers of two whatever their unit says: `4k`, `4KB` and `4KiB` are 4096 bytes.
fn block_size(cell: &str) -> Option<Bytes> {
    let lower = cell.to_lowercase().replace(' ', "");
    let digits = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (number, name) = lower.split_at(digits);
    let shift = match name.chars().next() {
        None | Some('b' | 'б') => 0,
        Some('k' | 'к') => 10,
        Some('m' | 'м') => 20,
        Some('g' | 'г') => 30,
        Some(_) => return None,
    };
    let name = name.trim_start_matches(['k', 'к', 'm', 'м', 'g', 'г']);
    let known = ["", "b", "ib", "б", "иб", "байт"].contains(&name);
    let bytes = number.parse::<u64>().ok()?.checked_mul(1 << shift)?;
    (known && bytes > 0).then_some(Bytes(bytes))
}

fn whole(cell: &str) -> Option<u32> {
    cell.parse().ok()
}

/// What a column of the wide form says of its numbers.
struct Column {
    claim: Claim,
}

/// What stands before and in the brackets at the end of a head.
fn bracketed(head: &str) -> Option<(&str, &str)> {
    let (test, unit) = head.trim().strip_suffix(')')?.rsplit_once('(')?;
    Some((test.trim(), unit.trim()))
}

/// `rand-read-4k-qd32 (IOPS)` or `rand-read-4k-qd32, IOPS`.
fn column(head: &str) -> Option<Column> {
    let (test, unit) = match bracketed(head) {
        Some(parts) => parts,
        None => head.rsplit_once(',').map(|(test, unit)| (test.trim(), unit.trim()))?,
    };
    let (dimension, _) = unit::parse(unit).filter(|_| !unit.is_empty())?;
    let metric = match dimension {
        Dimension::Throughput => "throughput",
        Dimension::Rate => "iops",
        Dimension::Time => "latency",
        Dimension::Percent => "relative_percent",
        Dimension::Size | Dimension::Plain => "value",
    };
    let mut claim =
        Claim { test: test.to_string(), unit: unit.to_string(), metric: metric.to_string(), ..Claim::default() };
    for word in test.to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '=') {
        let after = |name: &str| word.strip_prefix(name).map(|rest| rest.trim_start_matches('=')).and_then(whole);
        claim.queue_depth = claim.queue_depth.or(after("qd")).or(after("iodepth"));
        claim.jobs = claim.jobs.or(after("jobs")).or(after("numjobs"));
    }
    claim.block_size = block_size_in_name(test, block_size);
    Some(Column { claim })
}

#[cfg(test)]
mod tests;
