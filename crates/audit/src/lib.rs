//! Judges numbers that others published, from nothing but themselves: what contradicts arithmetic, a law or another number
//! of the same table. Pure. What a table does not hold cannot be checked, and is said to be so.
#![forbid(unsafe_code)]

mod bandwidth;
mod carried;
mod ceiling;
mod cells;
mod command;
mod declared;
mod direction;
mod duplicates;
mod implied;
mod link;
mod little;
mod percent;
mod product;
mod settings;
mod shape;
mod slip;
mod stated;
mod worded;
mod words;

pub use declared::{Declared, declared};

use carried::Links;
use settings::Settings;
use stend_analyse::findings::CheckId;
use stend_base::text::plural_ru;
use stend_base::{Lang, Say, format};
use stend_record::published::{Claim, Dimension, Published, Unread, block_size_in_name};

/// What is found about a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// The table's file.
    pub file: String,
    /// Numbers that were read.
    pub numbers: usize,
    /// Every check, in the order of the catalogue.
    pub checks: Vec<Checked>,
    /// Everything doubtful, by row.
    pub doubts: Vec<Doubt>,
    /// What could not be read, and so was not checked.
    pub unread: Vec<Unread>,
}

impl Audit {
    /// Checks that doubt a number of the table.
    pub fn doubting(&self, claim: &Claim) -> Vec<CheckId> {
        let of = |doubt: &&Doubt| doubt.row == claim.row && doubt.what == claim.name();
        let mut checks: Vec<CheckId> = self.doubts.iter().filter(of).map(|doubt| doubt.check).collect();
        checks.dedup();
        checks
    }
}

/// What a check could look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Which one.
    pub id: CheckId,
    /// What it asks.
    pub name: Say,
    /// Places where the table holds what the check needs; 0: it could not be asked.
    pub places: usize,
    /// How many of them are doubtful.
    pub doubts: usize,
}

/// How bad a doubt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Needs an explanation that the table does not give.
    Warn,
    /// Cannot be true as printed.
    Wrong,
}

/// A number that cannot be believed as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// Which check.
    pub check: CheckId,
    /// How bad.
    pub severity: Severity,
    /// Line of the table's file with the number in doubt.
    pub row: u32,
    /// Lines of the numbers that speak against it.
    pub against: Vec<u32>,
    /// Line of the publication.
    pub line: Option<u32>,
    /// Which number: layout, test, metric.
    pub what: String,
    /// As printed, with its unit.
    pub printed: String,
    /// What it would have to be, with its unit, where that follows: not where another number may be the wrong one, nor where only
    /// a limit is known.
    pub right: Option<String>,
    /// Why, in a sentence.
    pub why: Say,
}

/// What one check found.
struct Found {
    id: CheckId,
    places: usize,
    doubts: Vec<Doubt>,
    /// Doubts that are only counted; the last of the others gives their number.
    unlisted: usize,
}

impl Found {
    fn new(id: CheckId, places: usize, doubts: Vec<Doubt>) -> Found {
        Found { id, places, doubts, unlisted: 0 }
    }

    fn checked(&self) -> Checked {
        let name = self.id.name_of_table().unwrap_or_else(|| Say::same(""));
        // The row that gives the number of the others is none of them.
        let doubts = self.doubts.len() + self.unlisted - usize::from(self.unlisted > 0);
        Checked { id: self.id, name, places: self.places, doubts }
    }
}

/// Everything that can be said against the numbers of a table, of which `unread` could not be read. With the cells of a suite it is
/// held against them, too.
pub fn audit(table: &Published, mut unread: Vec<Unread>, suite: &[Declared]) -> Audit {
    let completed = declared::completed(&table.rows, suite);
    let rows = &completed;
    let settings = Settings::new(rows);
    let links = Links::of(rows, &mut unread);
    let mut found = vec![
        bandwidth::bandwidth(rows),
        little::little(rows, &settings),
        duplicates::duplicates(rows),
        percent::percent(rows),
        ceiling::ceiling(rows),
        shape::shape(rows),
        cells::contradictions(rows),
        stated::stated(rows, &settings, &mut unread),
        worded::worded(rows),
        product::products(rows, &mut unread),
        carried::carried(rows, &settings, &links),
        implied::implied(rows, &settings, &links),
        slip::siblings(rows),
        duplicates::rounded(rows),
    ];
    if !suite.is_empty() {
        found.extend([declared::agrees(rows, suite), declared::whole(rows, suite)]);
        found.sort_by_key(|found| found.id);
    }
    let checks = found.iter().map(Found::checked);
    let checks = checks.collect();
    let mut doubts: Vec<Doubt> = found.into_iter().flat_map(|f| f.doubts).collect();
    doubts.sort_by_key(|doubt| (doubt.row, doubt.check));
    unread.sort_by_key(|unread| unread.row);
    let numbers = rows.iter().filter(|claim| claim.value.is_some()).count();
    Audit { file: table.file.clone(), numbers, checks, doubts, unread }
}

/// A number with where it stands.
#[derive(Debug, Clone, Copy)]
struct Cell<'a> {
    claim: &'a Claim,
    /// In base units.
    value: f64,
    /// What rounding may hide, in base units.
    half: f64,
}

/// The number of a claim, if it is one of this dimension.
fn cell(claim: &Claim, dimension: Dimension) -> Option<Cell<'_>> {
    let number = claim.value.filter(|number| number.dimension == dimension && number.value.is_finite())?;
    Some(Cell { claim, value: number.value, half: number.step / 2.0 })
}

/// The numbers of one test of one system: what belongs together.
struct Group<'a> {
    rate: Option<Cell<'a>>,
    throughput: Option<Cell<'a>>,
    latency: Option<Cell<'a>>,
}

impl<'a> Group<'a> {
    /// I/Os per second with half of their rounding, told or from throughput and block size.
    fn in_iops(&self) -> Option<(f64, f64, &'a Claim)> {
        if let Some(rate) = self.rate.filter(|rate| rate.value > 0.0) {
            return Some((rate.value, rate.half, rate.claim));
        }
        let throughput = self.throughput.filter(|throughput| throughput.value > 0.0)?;
        let block = block_size(throughput.claim)?;
        Some((throughput.value / block, throughput.half / block, throughput.claim))
    }
}

/// Bytes per I/O of a test, by its column or else by its name: `seq-read-128k`.
fn block_size(claim: &Claim) -> Option<f64> {
    let in_name = || block_size_in_name(&claim.test, command::block_size);
    claim.block_size.or_else(in_name).map(|size| size.0 as f64)
}

/// All tests of all systems, in the order of their first number.
fn groups(rows: &[Claim]) -> Vec<Group<'_>> {
    let mut keys: Vec<(&Claim, Group<'_>)> = Vec::new();
    for claim in rows {
        let of = |metric: &str, dimension| (claim.metric == metric).then(|| cell(claim, dimension)).flatten();
        let rate = of("iops", Dimension::Rate);
        let throughput = of("throughput", Dimension::Throughput);
        let latency = of("latency", Dimension::Time);
        if rate.is_none() && throughput.is_none() && latency.is_none() {
            continue;
        }
        let known = keys.iter_mut().find(|(first, _)| same_test(first, claim));
        match known {
            // What is printed twice is for `cells`.
            Some((_, group)) => {
                group.rate = group.rate.or(rate);
                group.throughput = group.throughput.or(throughput);
                group.latency = group.latency.or(latency);
            }
            None => keys.push((claim, Group { rate, throughput, latency })),
        }
    }
    keys.into_iter().map(|(_, group)| group).collect()
}

fn same_test(a: &Claim, b: &Claim) -> bool {
    (&a.source, &a.experiment, &a.layout, &a.test) == (&b.source, &b.experiment, &b.layout, &b.test) && same_load(a, b)
}

/// Whether the columns give two numbers the same load and the same hardware.
fn same_load(a: &Claim, b: &Claim) -> bool {
    (&a.pattern, &a.stand, a.block_size, a.queue_depth, a.jobs)
        == (&b.pattern, &b.stand, b.block_size, b.queue_depth, b.jobs)
}

/// Whether two rows can be of one load: what both state of it is the same. The stand is left out, since a ratio may be of two.
fn one_load(a: &Claim, b: &Claim) -> bool {
    fn agree<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
        a.is_none() || b.is_none() || a == b
    }
    agree_if_stated(&a.pattern, &b.pattern)
        && agree(a.block_size, b.block_size)
        && agree(a.queue_depth, b.queue_depth)
        && agree(a.jobs, b.jobs)
}

/// Whether two texts are the same, or one of them is blank.
fn agree_if_stated(a: &str, b: &str) -> bool {
    a.is_empty() || b.is_empty() || a == b
}

/// Whether a metric is no measurement but a setting, or what a data sheet promises: such numbers repeat for good reasons.
fn is_setting(metric: &str) -> bool {
    metric == "config" || ["config_", "fio_", "theoretical_"].iter().any(|start| metric.starts_with(start))
}

/// A number as printed, with its unit; a count and a text have none.
pub fn printed(claim: &Claim) -> String {
    let unit = if matches!(&*claim.unit, "text" | "count") { "" } else { &claim.unit };
    format!("{} {unit}", claim.printed).trim().to_string()
}

/// A doubt about a claim.
fn doubt(check: CheckId, severity: Severity, claim: &Claim, against: &[&Claim], why: Say) -> Doubt {
    Doubt {
        check,
        severity,
        row: claim.row,
        against: against.iter().map(|other| other.row).collect(),
        line: claim.line,
        what: claim.name(),
        printed: printed(claim),
        right: None,
        why,
    }
}

impl Doubt {
    /// The same, with what the number would have to be, in base units; shown in the unit and with the digits of the claim.
    fn right(mut self, claim: &Claim, value: f64) -> Doubt {
        self.right = as_printed(claim, value);
        self
    }
}

/// A value in base units as the claim prints its own: in its unit, with its digits. `None`: the claim is no number.
fn as_printed(claim: &Claim, value: f64) -> Option<String> {
    let number = claim.value?;
    let in_unit = |base: f64| if number.factor > 0.0 { base / number.factor } else { base };
    let decimals = (-in_unit(number.step).log10()).round().clamp(0.0, 6.0) as usize;
    Some(format!("{:.decimals$} {}", in_unit(value), claim.unit).trim().to_string())
}

/// How a number compares with another one of which it is `ratio` times as much: `18 % more`, `2.50 times as much`.
fn compared(ratio: f64, lang: Lang) -> String {
    let (more, less) = (lang.pick("more", "больше"), lang.pick("less", "меньше"));
    match ratio {
        _ if ratio >= 2.0 => match lang {
            Lang::En => format!("{} times as much", times(ratio, lang)),
            Lang::Ru => format!("в\u{a0}{} {more}", repeated(ratio)),
        },
        _ if ratio <= 0.5 && ratio > 0.0 => match lang {
            Lang::En => format!("1/{} of that", times(1.0 / ratio, lang)),
            Lang::Ru => format!("в\u{a0}{} {less}", repeated(1.0 / ratio)),
        },
        _ => {
            let share = format::percent((ratio - 1.0).abs(), lang);
            let word = if ratio < 1.0 { less } else { more };
            if lang == Lang::En { format!("{share} {word}") } else { format!("на\u{a0}{share} {word}") }
        }
    }
}

/// A ratio for sentences: `2.5`.
fn times(ratio: f64, lang: Lang) -> String {
    format::fixed(ratio, if ratio < 10.0 { 2 } else { 0 }, lang)
}

/// «2,50 раза», «13 раз»: the noun in the form that the number as shown asks for.
fn repeated(ratio: f64) -> String {
    let noun = if ratio < 10.0 { "раза" } else { plural_ru(ratio.round() as u64, "раз", "раза", "раз") };
    format!("{}\u{a0}{noun}", times(ratio, Lang::Ru))
}

#[cfg(test)]
mod fixture {
    use super::*;
    use stend_base::Bytes;
    use stend_record::published::Number;

    /// A claim of a system `md` on line `row`, with a number as it would be read.
    pub fn claim(row: u32, test: &str, metric: &str, unit: &str, printed: &str) -> Claim {
        let (dimension, factor) = match unit {
            "IOPS" => (Dimension::Rate, 1.0),
            "MB/s" => (Dimension::Throughput, 1e6),
            "GB/s" => (Dimension::Throughput, 1e9),
            "ms" => (Dimension::Time, 1e-3),
            "%" => (Dimension::Percent, 1.0),
            _ => (Dimension::Plain, 1.0),
        };
        let decimals = printed.split_once('.').map_or(0, |(_, d)| d.len()) as i32;
        let digits = printed.chars().filter(char::is_ascii_digit).skip_while(|c| *c == '0').count() as u32;
        let value = printed.parse::<f64>().unwrap() * factor;
        Claim {
            row,
            layout: "md".into(),
            test: test.into(),
            block_size: Some(Bytes::kib(4)),
            metric: metric.into(),
            unit: unit.into(),
            printed: printed.into(),
            value: Some(Number { value, step: factor * 10f64.powi(-decimals), digits, dimension, factor }),
            ..Claim::default()
        }
    }

    pub fn of_layout(layout: &str, claim: Claim) -> Claim {
        Claim { layout: layout.into(), ..claim }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_and_links_in_the_name_of_a_test_are_no_block_size() {
        let size = |test: &str| block_size(&Claim { block_size: None, ..fixture::claim(1, test, "iops", "IOPS", "1") });
        for (test, bytes) in [
            ("seq-read-128k", Some(131_072.0)),
            ("SAS 15k, 12G, 4K", Some(4096.0)),
            ("512b", Some(512.0)),
            ("15k", None),
            ("FC 8g", None),
            ("rand-write 512b-8k", None),
            ("seq-read-4k+seq-write-4k", Some(4096.0)),
            ("qd32 16", None),
            ("seq-write-768k, 64k chunk", None),
            ("seq-write-768k", Some(786_432.0)),
            ("SAS 15k 4k", Some(4096.0)),
            ("10k, 7.2k, 7,2k, 4k.", Some(4096.0)),
            ("qd32,4k", Some(4096.0)),
            ("520b", None),
        ] {
            assert_eq!(size(test), bytes, "{test}");
        }
    }

    #[test]
    fn a_load_that_has_no_name_in_our_table_is_none_that_has_one() {
        let of = |pattern: &str| Claim { pattern: pattern.into(), ..fixture::claim(2, "t", "iops", "IOPS", "1") };
        let other = of(stend_record::published::OTHER_PATTERN);
        assert!(!one_load(&other, &of("randwrite")) && one_load(&other, &other) && one_load(&of(""), &of("randwrite")));
    }

    #[test]
    fn every_check_of_tables_has_its_row_and_every_row_its_check() {
        let page = include_str!("../../../docs/formats/published.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| H")?.split_once(" |"));
        let mut rows: Vec<String> = rows.map(|(number, _)| format!("H{number}")).collect();
        rows.sort_unstable();
        let of_tables = || CheckId::ALL.iter().filter(|id| id.name_of_table().is_some());
        assert_eq!(rows, of_tables().map(|id| id.to_string()).collect::<Vec<_>>());
        let asked: Vec<CheckId> = audit(&Published::default(), Vec::new(), &[]).checks.iter().map(|c| c.id).collect();
        assert!(of_tables().all(|id| asked.contains(id) || [CheckId::H04, CheckId::H73].contains(id)), "{asked:?}");
    }
}
