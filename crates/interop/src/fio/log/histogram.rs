//! Lines of fio's histogram logs: counts by bucket of what completed since the line before. Pure.

use super::super::document::impossible;
use super::scan::{PADDING, comma, number};
use super::totals::{Latencies, SumOf};
use stend_base::buckets::Buckets;
use stend_base::{Histogram, Say, say};
use stend_record::fio_bins::{BINS, sparse_of_log};
use stend_spec::workload::Op;

/// Columns that are 0, as they are printed: eight of them are passed at once.
const ZEROS: &[u8; 24] = b", 0, 0, 0, 0, 0, 0, 0, 0";

/// Bytes that are looked at together; behind a line there are as many.
const AHEAD: usize = PADDING;

/// I/Os of one bucket that no line has, though the computer ran for a year: fio's difference of two counts was negative.
const COUNT_MAX: u64 = 1 << 40;

/// One line.
#[derive(Debug, Clone)]
pub struct Row {
    /// When it was written, ms.
    pub ms: u64,
    /// Kind of I/O: 0 a read, 1 a write, 2 a trim.
    pub kind: u64,
    /// Bytes of an I/O.
    pub size: u64,
    /// What is used of `slots`.
    used: usize,
    /// One for every bucket, and one more for what a line has too much.
    slots: Box<[(u32, u64); BINS + 1]>,
}

impl Default for Row {
    fn default() -> Row {
        Row { ms: 0, kind: 0, size: 0, used: 0, slots: Box::new([(0, 0); BINS + 1]) }
    }
}

impl Row {
    /// (Number of fio's bucket, count), ascending, those that are not 0; of wider columns (`log_hist_coarseness`) the last of those that
    /// they join.
    pub fn bins(&self) -> &[(u32, u64)] {
        &self.slots[..self.used]
    }

    /// Reads the line at the beginning of these bytes, and says how long it is.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, Say> {
        let head = || {
            let (ms, at) = number(bytes, 0)?;
            let (kind, at) = number(bytes, comma(bytes, at)?)?;
            let (size, at) = number(bytes, comma(bytes, at)?)?;
            Some(((ms, kind, size), at))
        };
        let at;
        ((self.ms, self.kind, self.size), at) = head().ok_or_else(no_row)?;
        let (columns, mut at) = self.counts(bytes, at)?;
        if let Some((_, count)) = self.bins().iter().find(|(_, count)| *count > COUNT_MAX) {
            return Err(impossible(*count));
        }
        at += usize::from(bytes.get(at) == Some(&b'\r'));
        if bytes.get(at) != Some(&b'\n') {
            return Err(no_row());
        }
        // Coarseness n joins 2^n columns (fio, stat.c: 1856 >> coarseness).
        let width = (0..7).map(|coarseness| 1usize << coarseness).find(|width| columns * width == BINS);
        let Some(width) = width else {
            return Err(say!(
                "{columns} counts, where {BINS} or a half of them (log_hist_coarseness) should stand",
                "{columns} счётчиков вместо {BINS} или половины от них (log_hist_coarseness)"
            ));
        };
        if width > 1 {
            let width = width as u32;
            self.slots[..self.used].iter_mut().for_each(|(column, _)| *column = *column * width + width - 1);
        }
        Ok(at + 1)
    }

    /// Takes the counts that begin here; how many columns there are, and where they end.
    #[inline(always)]
    fn counts(&mut self, bytes: &[u8], mut at: usize) -> Result<(usize, usize), Say> {
        let (mut column, mut used) = (0usize, 0usize);
        while let Some(ahead) = bytes.get(at..).and_then(|bytes| bytes.first_chunk()) {
            if zeros(ahead) {
                (at, column) = (at + ZEROS.len(), column + 8);
                continue;
            }
            if ahead[0] != b',' {
                break;
            }
            let mut keep = |count| {
                // Written in any case and kept if it is not 0: which of them are is not to be guessed.
                self.slots[used.min(BINS)] = (column as u32, count);
                (used, column) = (used + usize::from(count > 0), column + 1);
            };
            let length = short(ahead, &mut keep);
            at += length;
            if length == 0 {
                let (count, end) = comma(bytes, at).and_then(|at| number(bytes, at)).ok_or_else(no_row)?;
                keep(count);
                at = end;
            }
        }
        self.used = used.min(BINS);
        Ok((column, at))
    }
}

/// What the lines of a log come to.
#[derive(Debug, Default)]
pub struct Totals(Vec<Total>);

/// One kind of I/O.
#[derive(Debug)]
struct Total {
    op: Op,
    ops: u64,
    bytes: u64,
    largest: u64,
    counts: Vec<u64>,
}

impl Totals {
    /// Counts a line, and says how many I/Os and bytes it has.
    pub fn add(&mut self, op: Op, row: &Row) -> (u64, u64) {
        let at = self.0.iter().position(|total| total.op == op).unwrap_or_else(|| {
            self.0.push(Total { op, ops: 0, bytes: 0, largest: 0, counts: vec![0; BINS] });
            self.0.len() - 1
        });
        let total = &mut self.0[at];
        let mut ops = 0u64;
        for &(bin, count) in row.bins() {
            let slot = &mut total.counts[bin as usize];
            (*slot, ops) = (slot.saturating_add(count), ops.saturating_add(count));
        }
        let bytes = ops.saturating_mul(row.size);
        (total.ops, total.bytes) = (total.ops.saturating_add(ops), total.bytes.saturating_add(bytes));
        if ops > 0 {
            total.largest = total.largest.max(row.size);
        }
        (ops, bytes)
    }

    /// Kinds of I/O that occurred.
    pub fn finish(self) -> Vec<SumOf> {
        let used = self.0.into_iter().filter(|total| total.ops > 0);
        let sums = used.map(|Total { op, ops, bytes, largest, counts }| {
            let bins: Vec<_> = (0u32..).zip(counts).filter(|(_, count)| *count > 0).collect();
            let mut all = Histogram::new();
            all.merge_sparse(&sparse_of_log(&bins, &mut Buckets::default()));
            SumOf { op, ops, bytes, largest, latency: Latencies::Each(all) }
        });
        sums.collect()
    }
}

/// Hands over the counts of up to four digits, each between a comma with a blank and the next comma, as nearly all are, and says how many
/// bytes they are. All commas of 32 bytes are found at once, so that no count waits until the length of the one before is known: a row of
/// 360 counts takes half of the time.
#[inline(always)]
fn short(ahead: &[u8; AHEAD], keep: &mut impl FnMut(u64)) -> usize {
    let (mut commas, mut from) = (commas(ahead) & !1, 0);
    while commas != 0 {
        let next = commas.trailing_zeros() as usize;
        let Some(count) = ahead.get(from..from + 8).and_then(|word| between(word.first_chunk()?, next - from)) else {
            break;
        };
        keep(count);
        (commas, from) = (commas & (commas - 1), next);
    }
    from
}

/// Which of the first 32 bytes may be commas, the first in the lowest bit. A byte above 127 may seem to be one; it is no digit and no comma
/// where it is read.
#[inline(always)]
fn commas(ahead: &[u8; AHEAD]) -> u32 {
    let (words, _) = ahead.as_chunks::<8>();
    words.iter().take(4).enumerate().fold(0, |all, (index, word)| {
        let differs = (u64::from_le_bytes(*word) ^ 0x2c2c_2c2c_2c2c_2c2c) & 0x7f7f_7f7f_7f7f_7f7f;
        let equal = !(differs + 0x7f7f_7f7f_7f7f_7f7f) & 0x8080_8080_8080_8080;
        // One bit of each byte, brought together in the highest byte.
        all | ((((equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32) << (8 * index))
    })
}

/// The count of so many bytes, `, ` before it included.
#[inline(always)]
fn between(word: &[u8; 8], length: usize) -> Option<u64> {
    let word = u64::from_le_bytes(*word);
    let plain = (word >> 16) as u32 ^ 0x3030_3030;
    let others = (plain.wrapping_add(0x7676_7676) | plain) & 0x8080_8080;
    let digits = others.trailing_zeros() / 8;
    if word as u16 != u16::from_le_bytes(*b", ") || digits == 0 || length != 2 + digits as usize {
        return None;
    }
    // Neighbours are joined twice, as `scan` does with eight digits thrice.
    let pairs = ((plain << (32 - 8 * digits)) & 0x0f0f_0f0f).wrapping_mul(10 * 256 + 1) >> 8;
    Some(u64::from((pairs & 0x00ff_00ff).wrapping_mul(100 * 65_536 + 1) >> 16))
}

/// Whether eight zeros stand here. The last of them may be the beginning of a longer number, so the byte behind must end it.
#[inline(always)]
fn zeros(ahead: &[u8; AHEAD]) -> bool {
    // The first eight bytes alone at first: where I/Os fall, no two counts in a row are 0, mostly.
    ahead.first_chunk::<8>() == ZEROS.first_chunk() && ahead.starts_with(ZEROS) && ahead[ZEROS.len()] == b','
}

fn no_row() -> Say {
    say!("not `time, kind, size, counts` in whole numbers", "не `время, вид, размер, счётчики` целыми числами")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(columns: usize, counts: &[(usize, u64)]) -> Vec<u8> {
        let mut all = vec![0u64; columns];
        counts.iter().for_each(|(column, count)| all[*column] = *count);
        let text = all.iter().map(|count| format!(", {count}")).collect::<String>();
        format!("1000, 1, 4096{text}\n").into_bytes()
    }

    /// The line at the beginning of these bytes, and its length; what the row held before does not matter.
    fn read(mut bytes: Vec<u8>) -> Result<(Row, usize), Say> {
        bytes.extend([0; PADDING]);
        let mut row = Row::default();
        (row.used, row.slots[0]) = (1, (7, 7));
        let len = row.read(&bytes)?;
        Ok((row, len))
    }

    #[test]
    fn counts_stand_in_their_buckets_also_where_columns_are_joined() {
        let bytes = line(BINS, &[(0, 3), (700, 12_345), (1855, 1)]);
        let (found, len) = read(bytes.clone()).unwrap();
        assert_eq!((found.ms, found.kind, found.size, len), (1000, 1, 4096, bytes.len()));
        assert_eq!(found.bins(), [(0, 3), (700, 12_345), (1855, 1)]);
        let coarse = read(line(BINS / 4, &[(10, 7)])).unwrap().0;
        assert_eq!(coarse.bins(), [(43, 7)], "columns 40 to 43, at the upper edge");
    }

    #[test]
    fn a_count_that_was_negative_is_refused() {
        let error = read(line(BINS, &[(700, 3), (701, u64::MAX - 2)])).unwrap_err().en;
        assert!(error.starts_with("18446744073709551613 is not a number of I/Os"), "{error}");
    }

    #[test]
    fn what_is_no_such_line_is_told() {
        let why = |bytes: Vec<u8>| read(bytes).unwrap_err().en;
        assert!(why(line(BINS - 1, &[])).starts_with("1855 counts"));
        assert!(why(b"1, 2\n".to_vec()).starts_with("not `time"));
        assert!(why(line(BINS + 9, &[(1860, 1)])).starts_with("1865 counts"));
        assert!(
            why(line(40_000, &(0..40_000).map(|column| (column, 1)).collect::<Vec<_>>())).starts_with("40000 counts")
        );
        assert!(why(line(BINS, &[])[..500].to_vec()).starts_with("not `time"), "no end of the line");
    }

    proptest! {
        #[test]
        fn every_count_is_found(counts in prop::collection::btree_map(0usize..BINS, 1u64..1_000_000_000_000, 0..60)) {
            let counts: Vec<_> = counts.into_iter().collect();
            let (found, _) = read(line(BINS, &counts)).unwrap();
            let expected: Vec<(u32, u64)> = counts.into_iter().map(|(column, count)| (column as u32, count)).collect();
            prop_assert_eq!(found.bins(), expected);
        }
    }
}
