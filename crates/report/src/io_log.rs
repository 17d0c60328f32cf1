//! The log of every I/O for other programs: a table of our own, or the lines of fio. Numbers are in base units, with a point
//! for decimals, whatever the language. Must not hold more than one line.

use crate::export::{operation, quoted};
use std::io::{Result, Write};
use stend_base::{Bytes, Nanos};
use stend_record::IoChunk;
use stend_record::io_log::Logged;
use stend_spec::workload::{Op, Trial};

/// Heads of the table of I/Os; of several load hosts there is one more, `host`.
pub(crate) const COLUMNS: &str = "trial,case,stream,job,begin_ns,latency_ns,op,offset,bytes,failed";

/// How a log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoFormat {
    /// A line with all that is known, under a head (RFC 4180).
    Csv,
    /// As fio's `write_lat_log` with `log_offset` has it: milliseconds since the start, latency in ns, 0 for a read, 1 for a
    /// write and 2 for a trim, bytes, offset, and a priority, which is 0. Other operations and failures are left out.
    Fio,
}

/// What the lines of a trial need besides its records.
pub struct LoggedTrial<'a> {
    /// Ordinal in the run.
    pub trial: u32,
    /// Label of its case.
    pub case: &'a str,
    /// The load host that made its I/Os; `None` where there is one.
    pub host: Option<&'a str>,
    /// What was asked.
    pub asked: &'a Trial,
    /// CLOCK_MONOTONIC that its lines count from: the start of its window.
    pub start: Nanos,
}

/// Writes what stands above all lines, of one load host or of `several`.
pub fn ios_head(format: IoFormat, several: bool, to: &mut dyn Write) -> Result<()> {
    match format {
        IoFormat::Csv => writeln!(to, "{COLUMNS}{}", if several { ",host" } else { "" }),
        IoFormat::Fio => Ok(()),
    }
}

/// Writes a line for each I/O of a chunk; how many have none, because the format has no words for them or the record is
/// damaged.
pub fn ios(format: IoFormat, trial: &LoggedTrial<'_>, chunk: &IoChunk, to: &mut dyn Write) -> Result<u64> {
    let sizes: Vec<Bytes> = match trial.asked.streams.get(usize::from(chunk.stream)) {
        Some(stream) => stream.sizes().map(|share| share.size).collect(),
        None => Vec::new(),
    };
    let back = trial.host.map_or(String::new(), |host| format!(",{}", quoted(host)));
    let front = format!("{},{},{},{},", trial.trial, quoted(trial.case), chunk.stream, chunk.job);
    let mut left_out = 0;
    for io in chunk.ios() {
        let told = io.and_then(|io| Some((io, io.bytes(&sizes)?.0)));
        let Some((io, bytes)) = told else {
            left_out += 1;
            continue;
        };
        let end = since(chunk.base.0.saturating_add(io.end), trial.start.0);
        let Logged { latency, op, failed, offset, .. } = io;
        match (format, direction(op).filter(|_| !failed)) {
            (IoFormat::Csv, _) => {
                let (begin, op) = (end.saturating_sub_unsigned(latency.0), operation(op));
                writeln!(to, "{front}{begin},{},{op},{offset},{bytes},{failed}{back}", latency.0)?;
            }
            (IoFormat::Fio, Some(direction)) => {
                let ms = end.max(0) / 1_000_000;
                writeln!(to, "{ms}, {}, {direction}, {bytes}, {offset}, 0", latency.0)?;
            }
            (IoFormat::Fio, None) => left_out += 1,
        }
    }
    Ok(left_out)
}

/// Time after a start, ns, negative before it.
fn since(at: u64, start: u64) -> i64 {
    i64::try_from(i128::from(at) - i128::from(start)).unwrap_or(i64::MAX)
}

/// What fio calls a data direction.
fn direction(op: Op) -> Option<u8> {
    match op {
        Op::Read => Some(0),
        Op::Write => Some(1),
        Op::Discard => Some(2),
        Op::WriteZeroes | Op::Sync => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use stend_record::io_log::Records;
    use stend_spec::workload::{BlockShare, Mix, Pattern, Region, Stream};

    fn written(format: IoFormat) -> (String, u64) {
        written_of(format, None)
    }

    fn written_of(format: IoFormat, host: Option<&str>) -> (String, u64) {
        let share = |kib, percent| BlockShare { size: Bytes::kib(kib), percent };
        let mixed = Stream {
            block_mix: vec![share(4, 50), share(8, 50)],
            ..Stream::new(Mix::of_reads(50), Pattern::Random, Bytes::kib(8))
        };
        let region = Region { start: Bytes(0), len: Bytes::mib(1) };
        let asked = Trial::new(vec![mixed], Nanos::SECOND, region);
        let read = Logged { end: 0, latency: Nanos(1_500), op: Op::Read, failed: false, offset: 4096, size: 0 };
        let ios = [
            read,
            Logged { end: 7_000_000, op: Op::Write, size: 1, ..read },
            Logged { end: 8_000_000, failed: true, ..read },
            Logged { end: 9_000_000, op: Op::Sync, ..read },
            Logged { end: 9_000_001, op: Op::Discard, offset: 0, ..read },
            Logged { end: 9_000_002, size: 9, ..read },
        ];
        let words: Vec<[u64; 2]> = ios.iter().map(|io| io.pack()).collect();
        let chunk = IoChunk { stream: 0, job: 1, base: Nanos(5_001_000), records: Records::of(&words) };
        let trial = LoggedTrial { trial: 3, case: "oltp, \"a\"", host, asked: &asked, start: Nanos(5_000_000) };
        let mut text = Vec::new();
        ios_head(format, host.is_some(), &mut text).unwrap();
        let left_out = super::ios(format, &trial, &chunk, &mut text).unwrap();
        (String::from_utf8(text).unwrap(), left_out)
    }

    #[test]
    fn the_table_has_all_that_a_record_says_and_an_io_may_have_begun_before_the_window() {
        let (text, left_out) = written(IoFormat::Csv);
        expect![[r#"
            trial,case,stream,job,begin_ns,latency_ns,op,offset,bytes,failed
            3,"oltp, ""a""",0,1,-500,1500,read,4096,4096,false
            3,"oltp, ""a""",0,1,6999500,1500,write,4096,8192,false
            3,"oltp, ""a""",0,1,7999500,1500,read,4096,4096,true
            3,"oltp, ""a""",0,1,8999500,1500,sync,4096,0,false
            3,"oltp, ""a""",0,1,8999501,1500,discard,0,4096,false
        "#]]
        .assert_eq(&text);
        assert_eq!(left_out, 1, "a size that the stream does not have");
    }

    #[test]
    fn of_several_load_hosts_each_line_ends_with_its_host() {
        let (text, _) = written_of(IoFormat::Csv, Some("db,1"));
        let mut lines = text.lines();
        assert!(lines.next().is_some_and(|head| head.ends_with(",failed,host")), "{text}");
        assert!(lines.all(|line| line.ends_with(",\"db,1\"")), "{text}");
    }

    #[test]
    fn fio_s_lines_have_its_columns_and_no_words_for_syncs_and_failures() {
        let (text, left_out) = written(IoFormat::Fio);
        expect![[r#"
            0, 1500, 0, 4096, 4096, 0
            7, 1500, 1, 8192, 4096, 0
            9, 1500, 2, 4096, 0, 0
        "#]]
        .assert_eq(&text);
        assert_eq!(left_out, 3);
    }
}
