//! Lines of fio's logs, block by block: numbers between commas. Pure; a block is all the memory it takes.
//!
//! A log of single I/Os has some 20 bytes for each, so this is about the time that a byte takes. Eight digits are read at once, and what
//! follows the value is mostly what followed it in the line before.

use std::io::Read;
use stend_base::{Say, say};

/// Bytes that are read at once.
const BLOCK: usize = 1 << 18;
/// Longest line: a row of 1,856 counts of 20 digits.
const LINE_MAX: usize = 1 << 16;
/// Commas are looked for in 32 bytes at a time and digits read from eight, so as many bytes may be looked at behind the last one.
pub const PADDING: usize = 40;
/// Longest rest of a line that is compared with the one before: time and value left out.
const TAIL_MAX: usize = 64;

/// Columns behind the size: offset, priority, time of issue.
const MORE_MAX: u32 = 3;

/// One line of a log of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line {
    /// When, ms.
    pub ms: u64,
    /// Latency, ns.
    pub value: u64,
    /// The other columns.
    pub columns: Columns,
}

/// What stands behind time and value. Newer versions have an offset, a priority and a time of issue behind these, by their options;
/// they must be numbers, and nothing follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Columns {
    /// Kind of I/O: 0 a read, 1 a write, 2 a trim.
    pub kind: u64,
    /// Bytes; 0 in a line that is an average.
    pub size: u64,
}

/// Why and where reading ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// Line, from 1; 0: none.
    pub line: u64,
    /// Why.
    pub why: Say,
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scanned {
    /// Whole lines.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
    /// The last line has no end: what wrote it was cut off, so it was left out.
    pub cut: bool,
}

/// Hands every whole line, its end included, to `each`, which says how long it is, or why it is wrong. Behind the line there are some
/// more bytes that may be looked at.
pub fn lines(read: &mut dyn Read, mut each: impl FnMut(&[u8]) -> Result<usize, Say>) -> Result<Scanned, Bad> {
    let mut buffer = vec![0u8; LINE_MAX + BLOCK + PADDING];
    let (mut held, mut scanned) = (0usize, Scanned::default());
    loop {
        let end = held + BLOCK.min(buffer.len() - PADDING - held);
        let got = loop {
            match read.read(&mut buffer[held..end]) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Bad { line: 0, why: Say::same(e.to_string()) }),
                Ok(got) => break got,
            }
        };
        if got == 0 {
            scanned.cut = held > 0;
            return Ok(scanned);
        }
        scanned.bytes += got as u64;
        let filled = held + got;
        let whole = buffer[..filled].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        buffer[filled..filled + PADDING].fill(0);
        let mut at = 0;
        while at < whole {
            scanned.lines += 1;
            at += each(&buffer[at..whole + PADDING]).map_err(|why| Bad { line: scanned.lines, why })?;
        }
        buffer.copy_within(whole..filled, 0);
        held = filled - whole;
        if held > LINE_MAX {
            let why = say!("a line of more than {LINE_MAX} bytes", "строка длиннее {LINE_MAX} байт");
            return Err(Bad { line: scanned.lines + 1, why });
        }
    }
}

/// A number and where it ends; `None` if there is none, or one above 2^64 - 1.
#[inline(always)]
pub fn number(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let (value, digits) = eight(bytes, at)?;
    match digits {
        0 => None,
        8 => longer(bytes, at + 8, value),
        _ => Some((value, at + digits)),
    }
}

/// Up to eight digits at once: a byte is a digit if it is at most 9 once `0` is taken off.
#[inline(always)]
fn eight(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let chunk = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?) ^ 0x3030_3030_3030_3030;
    let others = (chunk.wrapping_add(0x7676_7676_7676_7676) | chunk) & 0x8080_8080_8080_8080;
    let digits = others.trailing_zeros() as usize / 8;
    if digits == 0 {
        return Some((0, 0));
    }
    Some((joined(chunk << (64 - 8 * digits)), digits))
}

/// The number of eight digits, by joining neighbours three times; the first in the lowest byte; only the lower half of each byte counts.
#[inline(always)]
fn joined(digits: u64) -> u64 {
    let pairs = (digits & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 * 256 + 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 * 65_536 + 1) >> 16;
    (fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 * (1 << 32) + 1) >> 32
}

#[cold]
fn longer(bytes: &[u8], mut at: usize, mut value: u64) -> Option<(u64, usize)> {
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        at += 1;
    }
    Some((value, at))
}

/// Past a comma and the blanks behind it.
#[inline(always)]
pub fn comma(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes.get(at)?, bytes.get(at + 1)?) {
        (b',', b' ') if bytes.get(at + 2) != Some(&b' ') => Some(at + 2),
        (b',', _) => Some(at + 1 + bytes[at + 1..].iter().take_while(|byte| **byte == b' ').count()),
        _ => None,
    }
}

/// Reads lines of latencies, and remembers what followed the last value.
#[derive(Debug, Clone)]
pub struct LatencyLines {
    tail: [u8; TAIL_MAX],
    tail_len: usize,
    columns: Columns,
}

impl Default for LatencyLines {
    fn default() -> LatencyLines {
        LatencyLines { tail: [0; TAIL_MAX], tail_len: 0, columns: Columns::default() }
    }
}

impl LatencyLines {
    /// The line at the beginning of these bytes, and its length.
    #[inline(always)]
    pub fn next(&mut self, bytes: &[u8]) -> Result<(Line, usize), Say> {
        let begin = || {
            let (ms, at) = number(bytes, 0)?;
            let (value, at) = number(bytes, comma(bytes, at)?)?;
            Some((ms, value, at))
        };
        let Some((ms, value, at)) = begin() else { return Err(no_line()) };
        let tail = self.tail_len;
        if tail > 0 && bytes.get(at..at + tail) == Some(&self.tail[..tail]) {
            return Ok((Line { ms, value, columns: self.columns }, at + tail));
        }
        let (columns, end) = columns(bytes, at).ok_or_else(no_line)?;
        let rest = &bytes[at..end];
        self.tail_len = if rest.len() <= TAIL_MAX { rest.len() } else { 0 };
        self.tail[..self.tail_len].copy_from_slice(&rest[..self.tail_len]);
        self.columns = columns;
        Ok((Line { ms, value, columns }, end))
    }
}

/// Kind, size, and what newer versions have behind them, to the end of the line.
fn columns(bytes: &[u8], at: usize) -> Option<(Columns, usize)> {
    let (kind, at) = number(bytes, comma(bytes, at)?)?;
    let (size, mut at) = number(bytes, comma(bytes, at)?)?;
    let mut more = 0;
    while bytes.get(at) == Some(&b',') {
        let from = comma(bytes, at)?;
        // Priorities are in hexadecimal since fio 3.31.
        let hexadecimal = bytes.get(from..from + 2) == Some(b"0x");
        let (_, end) = if hexadecimal { hex(bytes, from + 2)? } else { number(bytes, from)? };
        (more, at) = (more + 1, end);
    }
    at += usize::from(bytes.get(at) == Some(&b'\r'));
    (bytes.get(at) == Some(&b'\n') && more <= MORE_MAX).then_some((Columns { kind, size }, at + 1))
}

fn hex(bytes: &[u8], from: usize) -> Option<(u64, usize)> {
    let digits = bytes[from..].iter().take(16).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let text = std::str::from_utf8(bytes.get(from..from + digits)?).ok()?;
    Some((u64::from_str_radix(text, 16).ok()?, from + digits))
}

fn no_line() -> Say {
    say!("not `time, value, kind, size` in whole numbers", "не `время, значение, вид, размер` целыми числами")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All lines of a text, read in pieces of so many bytes.
    fn read(text: &[u8], piece: usize) -> Result<(Vec<Line>, Scanned), Bad> {
        struct Pieces<'a>(&'a [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                let count = self.0.len().min(self.1).min(into.len());
                into[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let (mut found, mut parser) = (Vec::new(), LatencyLines::default());
        let scanned = lines(&mut Pieces(text, piece), |bytes| {
            let (line, len) = parser.next(bytes)?;
            found.push(line);
            Ok(len)
        })?;
        Ok((found, scanned))
    }

    fn bad(text: &str) -> (u64, String) {
        let bad = read(text.as_bytes(), 4096).unwrap_err();
        (bad.line, bad.why.en)
    }

    #[test]
    fn lines_of_every_version_are_read() {
        let text = "12, 4567, 0, 4096\n13,89,1,512,8192\r\n13, 123456789012, 0, 4096, 18446744073709551615, 0x2001\n14, 1, 2, 0, 0, 0, 99\n";
        let (found, scanned) = read(text.as_bytes(), 4096).unwrap();
        let of = |ms, value, kind, size| Line { ms, value, columns: Columns { kind, size } };
        let expected = [of(12, 4567, 0, 4096), of(13, 89, 1, 512), of(13, 123_456_789_012, 0, 4096), of(14, 1, 2, 0)];
        assert_eq!((found.as_slice(), scanned.lines, scanned.cut), (expected.as_slice(), 4, false));
    }

    #[test]
    fn what_follows_the_value_is_read_anew_when_it_changes() {
        let text = "1, 5, 0, 4096, 0, 0\n1, 6, 0, 4096, 0, 0\n2, 7, 1, 4096, 0, 0\n2, 8, 0, 4096, 0, 0\n2, 9, 0, 40960, 0, 0\n";
        let (found, _) = read(text.as_bytes(), 4096).unwrap();
        let told: Vec<_> = found.iter().map(|line| (line.value, line.columns.kind, line.columns.size)).collect();
        assert_eq!(told, [(5, 0, 4096), (6, 0, 4096), (7, 1, 4096), (8, 0, 4096), (9, 0, 40_960)]);
    }

    #[test]
    fn a_last_line_without_its_end_is_left_out_and_told() {
        let (found, scanned) = read(b"1, 5, 0, 4096\n2, 6, 0, 40", 4096).unwrap();
        assert_eq!((found.len(), scanned.cut, scanned.lines), (1, true, 1));
        assert_eq!(read(b"", 1).unwrap(), (Vec::new(), Scanned::default()));
    }

    #[test]
    fn what_is_no_such_line_is_told_with_its_number() {
        let why = "not `time, value, kind, size` in whole numbers".to_string();
        for text in ["1, 5, 0, 4096\nhello\n", "1, 2, 3, 4\n1, 5, 0, 4096, 1, 2, 3, 4\n", "1, 1, 1, 1\n\n"] {
            assert_eq!(bad(text), (2, why.clone()), "{text}");
        }
        for text in
            ["1.5, 5, 0, 4096\n", "-1, 5, 0, 4096\n", "1, 5\n", "1, 99999999999999999999, 0, 1\n", "1, 5, 0, 4096,\n"]
        {
            assert_eq!(bad(text), (1, why.clone()), "{text}");
        }
        assert_eq!(bad(&"9".repeat(LINE_MAX + BLOCK)).1, format!("a line of more than {LINE_MAX} bytes"));
    }

    proptest! {
        #[test]
        fn any_numbers_are_read_whatever_the_pieces(
            rows in prop::collection::vec((any::<u64>(), 0u32..64, any::<u64>(), 0u32..64, 0u64..3, any::<u32>()), 1..40),
            piece in 1usize..64,
        ) {
            let rows: Vec<_> = rows.iter().map(|(a, s, b, t, kind, size)| (a >> s, b >> t, *kind, u64::from(*size))).collect();
            let text: String = rows.iter().map(|(ms, value, kind, size)| format!("{ms}, {value}, {kind}, {size}, 0, 0\n")).collect();
            let (found, _) = read(text.as_bytes(), piece).unwrap();
            let told: Vec<_> = found.iter().map(|l| (l.ms, l.value, l.columns.kind, l.columns.size)).collect();
            prop_assert_eq!(told, rows);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop::sample::select(&b"0189, \n\rx\xff"[..]), 0..300), piece in 1usize..64) {
            let _ = read(&bytes, piece);
        }
    }
}
