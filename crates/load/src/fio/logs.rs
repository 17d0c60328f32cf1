//! Reads fio's log of histograms: a line for each kind of I/O about every `log_hist_msec`, with what completed since the
//! line before it. Pure, and wary: the log comes from another program.

use std::io::BufRead;
use stend_record::fio_bins::{BINS, Bins};
use stend_spec::workload::Op;

/// Longest log that is read: 10,000 lines are 56 to 200 MB.
pub(super) const LOG_MAX: u64 = 512 << 20;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Time of the first completion that was not before the end of the span, ms.
    pub at_ms: u64,
    /// Kind of I/O.
    pub op: Op,
    /// What completed since the line before it of the same kind.
    pub bins: Bins,
}

/// All lines, as they come; or what is wrong with which of them.
pub(super) fn rows(log: impl BufRead) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(log.take(LOG_MAX).lines()) {
        let line = line.map_err(|e| format!("line {number} of its histogram log: {e}"))?;
        rows.push(row(&line).map_err(|why| format!("line {number} of its histogram log: {why}"))?);
    }
    Ok(rows)
}

fn row(line: &str) -> Result<Row, &'static str> {
    let mut fields = line.split(',').map(str::trim);
    let mut number = |what| fields.next().and_then(|field| field.parse::<u64>().ok()).ok_or(what);
    let at_ms = number("no time")?;
    let op = match number("no kind of I/O")? {
        0 => Op::Read,
        1 => Op::Write,
        _ => return Err("a kind of I/O that was not asked for"),
    };
    number("no block size")?;
    let (mut bins, mut columns) = (Bins::new(), 0u32);
    for field in fields {
        let count: u64 = field.parse().map_err(|_| "a count that is no number")?;
        if count > 0 {
            bins.insert(columns, count);
        }
        columns += 1;
        if columns as usize > BINS {
            break;
        }
    }
    if columns as usize != BINS {
        return Err("not 1856 counts");
    }
    Ok(Row { at_ms, op, bins })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A line with these counts.
    fn line(at_ms: u64, kind: u32, counts: &[(usize, u64)]) -> String {
        let mut columns = vec![0u64; BINS];
        counts.iter().for_each(|&(bin, count)| columns[bin] = count);
        let columns: Vec<String> = columns.iter().map(u64::to_string).collect();
        format!("{at_ms}, {kind}, 4096, {}\n", columns.join(", "))
    }

    fn refused(log: &str) -> String {
        rows(log.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_line_is_a_time_a_kind_and_the_counts_that_are_not_zero() {
        let log = line(35_390_756, 0, &[(7, 2), (1855, 1)]) + &line(35_390_760, 1, &[]);
        let found = rows(log.as_bytes()).unwrap();
        let read = Row { at_ms: 35_390_756, op: Op::Read, bins: Bins::from([(7, 2), (1855, 1)]) };
        assert_eq!(found, [read, Row { at_ms: 35_390_760, op: Op::Write, bins: Bins::new() }]);
        assert_eq!(rows(&b""[..]).unwrap(), []);
    }

    #[test]
    fn a_log_written_by_fio_3_33_has_the_counts_that_its_summary_has() {
        let log = include_str!("../../tests/fixtures/fio-3.33_clat_hist.1.log");
        let rows = rows(log.as_bytes()).unwrap();
        let count = |op| {
            rows.iter().filter(|row| row.op == op).map(|row| stend_record::fio_bins::count(&row.bins)).sum::<u64>()
        };
        assert_eq!((rows.len(), count(Op::Read), count(Op::Write)), (4, 1178, 537));
    }

    #[test]
    fn what_is_not_such_a_line_is_refused_with_its_number() {
        let good = line(1, 0, &[]);
        assert_eq!(
            refused(&format!("{good}{}", line(2, 2, &[]))),
            "line 2 of its histogram log: a kind of I/O that was not asked for"
        );
        assert_eq!(refused("\n"), "line 1 of its histogram log: no time");
        assert_eq!(refused(&good.replace("4096, 0,", "4096, ")), "line 1 of its histogram log: not 1856 counts");
        assert_eq!(refused(&good.replace("4096, 0,", "4096, 0, 0,")), "line 1 of its histogram log: not 1856 counts");
        assert_eq!(
            refused(&good.replace("4096, 0,", "4096, -1,")),
            "line 1 of its histogram log: a count that is no number"
        );
        assert!(rows(&b"\xff\xfe\n"[..]).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[0-9, \\n-]{0,400}") {
            let _ = rows(text.as_bytes());
        }
    }
}
