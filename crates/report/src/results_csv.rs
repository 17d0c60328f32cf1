//! The numbers of a result as a tidy table, a number a row: for programs, and for `stend audit` and `stend compare --published`; in a
//! second form for spreadsheets in Russian, which want semicolons, decimal commas and a byte order mark.

use crate::export::{guarded, operation, quoted};
use crate::figures::op_name;
use crate::numbers::{CasePlace, ResultNumber, checks, numbers, places};
use crate::words;
use std::io::Write;
use stend_analyse::Findings;
use stend_analyse::findings::{Basis, CheckStatus, GradeLevel, OpFinding};
use stend_base::{Bytes, Lang, Result, Say, say};
use stend_record::RunRecord;
use stend_record::published::OTHER_PATTERN;
use stend_spec::workload::Stream;

/// For whom a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Commas, decimal points, names in English, lines that end with a line feed (RFC 4180 allows it).
    Plain,
    /// For Excel where its language is Russian.
    Russian,
}

/// Columns: as `docs/formats/published.md` names them, and what published tables do not tell behind them.
const COLUMNS: [(&str, &str); 22] = [
    ("source", "прогон"),
    ("experiment", "набор"),
    ("stand", "стенд"),
    ("layout", "вариант"),
    ("test", "случай"),
    ("pattern", "порядок"),
    ("block_size", "размер блока"),
    ("queue_depth", "глубина очереди"),
    ("jobs", "задания"),
    ("metric", "показатель"),
    ("unit", "единица"),
    ("value", "значение"),
    ("interval_95_low", "95 % от"),
    ("interval_95_high", "95 % до"),
    ("interval_from", "откуда интервал"),
    ("at_least", "не меньше"),
    ("trials", "испытаний"),
    ("grade", "оценка"),
    ("checks_failed", "проверки не пройдены"),
    ("checks_warned", "предупреждения"),
    ("stream", "поток"),
    ("operation", "операция"),
];

/// A cell.
enum Cell {
    /// Not known, or not applicable.
    Empty,
    /// Words from outside or of ours.
    Text(String),
    /// A number.
    Number(f64),
}

/// A result as a table. Errors: those of the plan, if the recorded inputs no longer make one.
pub struct ResultsCsv<'a> {
    run: &'a RunRecord,
    findings: &'a Findings,
    places: Vec<CasePlace>,
    dialect: Dialect,
}

impl<'a> ResultsCsv<'a> {
    /// The table of a run.
    ///
    /// Errors: as [`stend_analyse::analyse`].
    pub fn new(run: &'a RunRecord, findings: &'a Findings, dialect: Dialect) -> Result<ResultsCsv<'a>> {
        Ok(ResultsCsv { run, findings, places: places(run, findings)?, dialect })
    }

    /// Writes all of it.
    pub fn write(&self, to: &mut dyn Write) -> std::io::Result<()> {
        to.write_all(head(self.dialect).as_bytes())?;
        for number in numbers(self.findings) {
            to.write_all(line(self.dialect, &self.cells(&number)).as_bytes())?;
        }
        Ok(())
    }

    fn cells(&self, number: &ResultNumber) -> [Cell; 22] {
        let (case, place) = (&self.findings.cases[number.case], &self.places[number.case]);
        let stream = place.only_stream();
        let several = case.ops.len() > 1;
        let op = number.of.and_then(|of| case.ops.iter().find(|op| (op.stream, op.op) == of));
        let name = op.map(|op| op_name(case, op));
        // For one of several kinds of I/O the place of the case would claim too much.
        let test = match &name {
            Some(name) if several => format!("{}, {}", place.label, self.pick(name)),
            _ => place.label.clone(),
        };
        let whole = stream.filter(|_| !several);
        let own = op.filter(|_| self.run.header.imported.is_some()).and_then(|op| one_size(stream?, op));
        let host = self.run.load().facts.as_ref().map_or("", |host| host.hostname.as_str());
        let layout = match (&self.findings.stand, place.arm.is_empty()) {
            (_, false) => place.arm.clone(),
            (Some(stand), true) => stand.clone(),
            (None, true) => self.findings.targets.join(", "),
        };
        let (low, high) = match number.interval {
            Some((low, high)) => (Cell::Number(low), Cell::Number(high)),
            None => (Cell::Empty, Cell::Empty),
        };
        let text = |text: &str| if text.is_empty() { Cell::Empty } else { Cell::Text(text.to_string()) };
        let count =
            |of: fn(&Stream) -> u32| whole.map(of).filter(|n| *n > 0).map_or(Cell::Empty, |n| Cell::Number(n.into()));
        [
            text(&self.findings.run),
            text(&self.findings.suite),
            text(host),
            text(&layout),
            text(&test),
            text(stream.filter(|s| s.block_mix.is_empty() || own.is_some()).map_or(OTHER_PATTERN, pattern)),
            text(&match (own, stream.filter(|s| s.block_mix.is_empty())) {
                (Some(size), _) => block_size(size),
                (None, stream) => stream.map_or(String::new(), |stream| block_size(stream.block_size)),
            }),
            // What an open loop or one that rests keeps in flight is not what it was asked for.
            if whole.is_some_and(|s| s.is_open() || s.think.is_some()) {
                Cell::Empty
            } else {
                count(|s| s.queue_depth)
            },
            count(|s| s.jobs),
            Cell::Text(match self.dialect {
                Dialect::Plain => number.metric.key(),
                Dialect::Russian => number.metric.say().ru,
            }),
            Cell::Text(self.pick(&number.metric.unit())),
            Cell::Number(number.value),
            low,
            high,
            number.basis.as_ref().map_or(Cell::Empty, |basis| Cell::Text(self.basis(basis))),
            if number.at_least { Cell::Text(self.pick(&say!("yes", "да"))) } else { Cell::Empty },
            Cell::Number(case.trials.into()),
            Cell::Text(self.pick(&grade(self.findings.grade.level))),
            text(&checks(case, CheckStatus::Fail)),
            text(&checks(case, CheckStatus::Warn)),
            number.of.map_or(Cell::Empty, |(stream, _)| Cell::Number((u32::from(stream) + 1).into())),
            match number.of {
                Some((_, op)) if self.dialect == Dialect::Plain => Cell::Text(operation(op).to_string()),
                Some((_, op)) => Cell::Text(words::op(op).ru),
                None => Cell::Empty,
            },
        ]
    }

    fn basis(&self, basis: &Basis) -> String {
        self.pick(&match basis {
            Basis::Trials { .. } => say!("trials", "испытания"),
            Basis::Batches { .. } => say!("batches", "части испытания"),
            Basis::TooFew { .. } => say!("none", "нет"),
        })
    }

    fn pick(&self, text: &Say) -> String {
        text.get(if self.dialect == Dialect::Plain { Lang::En } else { Lang::Ru }).to_string()
    }
}

/// First line of the table.
pub(crate) fn head(dialect: Dialect) -> String {
    match dialect {
        Dialect::Plain => line(dialect, &COLUMNS.map(|(en, _)| Cell::Text(en.to_string()))),
        // The byte order mark, without which Excel takes UTF-8 for Windows-1251.
        Dialect::Russian => "\u{feff}".to_string() + &line(dialect, &COLUMNS.map(|(_, ru)| Cell::Text(ru.to_string()))),
    }
}

fn line(dialect: Dialect, cells: &[Cell; 22]) -> String {
    let plain = dialect == Dialect::Plain;
    let cells = cells.iter().map(|cell| match cell {
        Cell::Empty => String::new(),
        Cell::Number(value) if plain => number(*value),
        Cell::Number(value) => number(*value).replace('.', ","),
        Cell::Text(text) if plain => quoted(text),
        Cell::Text(text) => guarded(text, ';'),
    });
    let line = cells.collect::<Vec<_>>().join(if plain { "," } else { ";" });
    line + if plain { "\n" } else { "\r\n" }
}

/// Every digit that the number has. One of exactly three decimals gets a fourth, because `1.234` can be read as 1234.
fn number(value: f64) -> String {
    let text = value.to_string();
    match text.split_once('.') {
        Some((_, decimals)) if decimals.len() == 3 => text + "0",
        _ => text,
    }
}

/// What its I/Os do and in which order, in a word of fio. [`OTHER_PATTERN`] where fio has none: discards among reads and writes, writes of
/// zeroes.
fn pattern(stream: &Stream) -> &'static str {
    let mix = stream.mix;
    let is_known = mix.write_zeroes == 0 && (mix.discard == 0 || mix.read == 0 && mix.write == 0);
    if is_known { crate::fio_json::kinds(stream) } else { OTHER_PATTERN }
}

/// `4KiB`, as tables of published numbers have it.
fn block_size(size: Bytes) -> String {
    match size.0 {
        0 => String::new(),
        n if n % (1 << 20) == 0 => format!("{}MiB", n >> 20),
        n if n % (1 << 10) == 0 => format!("{}KiB", n >> 10),
        n => format!("{n}B"),
    }
}

/// Bytes of each I/O of one kind, where another tool had a size for each kind; `None` if they are not one of the sizes of the stream.
fn one_size(stream: &Stream, op: &OpFinding) -> Option<Bytes> {
    let mean = (op.rates.throughput.value / op.rates.iops.value).round();
    stream.block_mix.iter().map(|share| share.size).find(|size| size.0 as f64 == mean)
}

/// Word of a grade.
fn grade(level: GradeLevel) -> Say {
    match level {
        GradeLevel::Screening => say!("screening", "предварительно"),
        GradeLevel::Publishable => say!("publishable", "для публикации"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::numbers::Metric;
    use expect_test::expect_file;
    use stend_spec::pattern::Pattern;
    use stend_spec::workload::Mix;

    fn table(findings: &Findings, dialect: Dialect) -> String {
        let run = fixture::run();
        let mut out = Vec::new();
        ResultsCsv::new(&run, findings, dialect).unwrap().write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_tables_are_stable() {
        let mut findings = fixture::findings();
        findings.cases.truncate(3);
        expect_file!["../tests/golden/results.csv"].assert_eq(&table(&findings, Dialect::Plain));
        // A golden file has the line ends of its reader.
        let russian = table(&findings, Dialect::Russian);
        assert!(russian.split_inclusive('\n').all(|line| line.ends_with("\r\n")));
        expect_file!["../tests/golden/results_ru.csv"].assert_eq(&russian.replace("\r\n", "\n"));
    }

    #[test]
    fn every_line_of_any_result_has_every_column() {
        for dialect in [Dialect::Plain, Dialect::Russian] {
            let separator = if dialect == Dialect::Plain { ',' } else { ';' };
            for findings in [fixture::findings(), fixture::hostile_findings(), fixture::open_findings()] {
                let text = table(&findings, dialect);
                let (mut quotes, mut columns, mut lines) = (false, 1, 0);
                for c in text.chars() {
                    match c {
                        '"' => quotes = !quotes,
                        _ if quotes => {}
                        '\n' => {
                            assert_eq!(columns, COLUMNS.len(), "line {lines} of {dialect:?}");
                            (columns, lines) = (1, lines + 1);
                        }
                        _ if c == separator => columns += 1,
                        _ => {}
                    }
                }
                assert_eq!((lines, quotes), (1 + numbers(&findings).len(), false));
            }
        }
    }

    #[test]
    fn a_name_is_never_a_formula_for_excel() {
        assert_eq!(guarded("=cmd|' /C calc'!A0", ';'), "'=cmd|' /C calc'!A0");
        assert_eq!(["+1", "-1", "@x", "a;b"].map(|text| guarded(text, ';')), ["'+1", "'-1", "'@x", "\"a;b\""]);
        assert_eq!(guarded("rand-read", ';'), "rand-read");
    }

    #[test]
    fn a_name_that_begins_as_a_formula_stays_as_it_is_where_programs_read_it() {
        let mut findings = fixture::findings();
        findings.suite = "=lab".to_string();
        let plain = table(&findings, Dialect::Plain);
        assert!(plain.contains(",=lab,") && !plain.contains("'=lab"), "{plain}");
        assert!(table(&findings, Dialect::Russian).contains(";'=lab;"));
    }

    #[test]
    fn a_load_with_discards_or_zeroes_is_not_called_after_its_reads_and_writes() {
        let of = |read, write, discard, write_zeroes| {
            let mix = Mix { read, write, discard, write_zeroes };
            pattern(&Stream::new(mix, Pattern::Random, Bytes::kib(4)))
        };
        assert_eq!([of(70, 30, 0, 0), of(0, 0, 100, 0)], ["randrw", "randtrim"]);
        for other in [of(60, 30, 10, 0), of(90, 0, 0, 10), of(0, 0, 0, 100), of(0, 0, 50, 50), of(0, 90, 10, 0)] {
            assert_eq!(other, OTHER_PATTERN);
        }
    }

    #[test]
    fn every_row_has_a_pattern_because_a_blank_one_would_be_any() {
        let run = fixture::run();
        for findings in [fixture::findings(), fixture::hostile_findings(), fixture::open_findings()] {
            let table = ResultsCsv::new(&run, &findings, Dialect::Plain).unwrap();
            for number in numbers(&findings) {
                let cells = table.cells(&number);
                assert!(matches!(&cells[5], Cell::Text(_)), "{:?}", number.metric);
            }
        }
    }

    #[test]
    fn a_number_can_be_read_in_one_way_only_and_loses_no_digit() {
        assert_eq!(
            [5000.0, 5000.125, 0.1, 333.3333333333333].map(number),
            ["5000", "5000.1250", "0.1", "333.3333333333333"]
        );
        for value in [1e-9, 123_456_789.123_456_7, f64::MIN_POSITIVE, 1e300] {
            assert_eq!(number(value).parse::<f64>().unwrap(), value);
        }
    }

    #[test]
    fn the_metric_that_others_read_keeps_its_name_and_a_depth_that_was_not_asked_for_is_not_told() {
        let text = table(&fixture::findings(), Dialect::Plain);
        for name in ["iops", "throughput", "latency", "latency_p99", "latency_p99_9", "latency_max"] {
            assert!(text.contains(&format!(",{name},")), "{name}");
        }
        assert_eq!(Metric::Throughput.unit().en, "B/s");
        let mixed = text.lines().find(|line| line.contains("\"mix, read\"") && line.contains(",latency,")).unwrap();
        assert!(mixed.contains(",randrw,4KiB,,,latency,"), "{mixed}");
    }
}
