//! Lines of fio's histogram logs: counts by bucket of what completed since the line before. Pure.

use super::scan::{comma, number};
use stend_base::{Say, say};
use stend_record::fio_bins::BINS;

/// Columns that are 0, as they are printed: eight of them are passed at once.
const ZEROS: &[u8; 24] = b", 0, 0, 0, 0, 0, 0, 0, 0";

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// When it was written, ms.
    pub ms: u64,
    /// Kind of I/O: 0 a read, 1 a write, 2 a trim.
    pub kind: u64,
    /// Bytes of an I/O.
    pub size: u64,
    /// (Number of fio's bucket, count), ascending, those that are not 0; of wider columns (`log_hist_coarseness`) the last of those that
    /// they join.
    pub bins: Vec<(u32, u64)>,
}

/// Reads the line at the beginning of these bytes, and says how long it is.
pub fn row(bytes: &[u8], row: &mut Row) -> Result<usize, Say> {
    let head = || {
        let (ms, at) = number(bytes, 0)?;
        let (kind, at) = number(bytes, comma(bytes, at)?)?;
        let (size, at) = number(bytes, comma(bytes, at)?)?;
        Some(((ms, kind, size), at))
    };
    let mut at;
    ((row.ms, row.kind, row.size), at) = head().ok_or_else(no_row)?;
    row.bins.clear();
    let mut column = 0usize;
    while bytes.get(at) == Some(&b',') {
        let (count, end) = match short(bytes, at) {
            Some((0, _)) if zeros(bytes, at) => {
                (at, column) = (at + ZEROS.len(), column + 8);
                continue;
            }
            Some(found) => found,
            None => comma(bytes, at).and_then(|at| number(bytes, at)).ok_or_else(no_row)?,
        };
        if count > 0 {
            row.bins.push((column as u32, count));
        }
        (at, column) = (end, column + 1);
    }
    at += usize::from(bytes.get(at) == Some(&b'\r'));
    if bytes.get(at) != Some(&b'\n') {
        return Err(no_row());
    }
    // Coarseness n joins 2^n columns (fio, stat.c: 1856 >> coarseness).
    let joined = (0..7).map(|coarseness| 1usize << coarseness).find(|joined| column * joined == BINS);
    let Some(joined) = joined else {
        return Err(say!(
            "{column} counts, where {BINS} or a half of them (log_hist_coarseness) should stand",
            "{column} счётчиков вместо {BINS} или половины от них (log_hist_coarseness)"
        ));
    };
    if joined > 1 {
        let joined = joined as u32;
        row.bins.iter_mut().for_each(|(column, _)| *column = *column * joined + joined - 1);
    }
    Ok(at + 1)
}

/// A count of one or two digits between a comma and blank and the next comma, as nearly all are, and where it ends. Guessing its length
/// costs less than computing it.
#[inline(always)]
fn short(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let [b',', b' ', first, second, third, ..] = bytes.get(at..)?.first_chunk::<8>()? else { return None };
    let (tens, ones) = (first.wrapping_sub(b'0'), second.wrapping_sub(b'0'));
    match (second, third) {
        (b',', _) if tens < 10 => Some((u64::from(tens), at + 3)),
        (_, b',') if tens < 10 && ones < 10 => Some((u64::from(tens) * 10 + u64::from(ones), at + 4)),
        _ => None,
    }
}

/// Whether eight zeros stand here. The last of them may be the beginning of a longer number, so the byte behind must end it.
#[inline(always)]
fn zeros(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..at + ZEROS.len()) == Some(ZEROS) && bytes.get(at + ZEROS.len()) == Some(&b',')
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
        bytes.extend([0; 32]);
        let mut row = Row { bins: vec![(7, 7)], ..Row::default() };
        let len = super::row(&bytes, &mut row)?;
        Ok((row, len))
    }

    #[test]
    fn counts_stand_in_their_buckets_also_where_columns_are_joined() {
        let bytes = line(BINS, &[(0, 3), (700, 12_345), (1855, 1)]);
        let (found, len) = read(bytes.clone()).unwrap();
        assert_eq!((found.ms, found.kind, found.size, len), (1000, 1, 4096, bytes.len()));
        assert_eq!(found.bins, [(0, 3), (700, 12_345), (1855, 1)]);
        let coarse = read(line(BINS / 4, &[(10, 7)])).unwrap().0;
        assert_eq!(coarse.bins, [(43, 7)], "columns 40 to 43, at the upper edge");
    }

    #[test]
    fn what_is_no_such_line_is_told() {
        let why = |bytes: Vec<u8>| read(bytes).unwrap_err().en;
        assert!(why(line(BINS - 1, &[])).starts_with("1855 counts"));
        assert!(why(b"1, 2\n".to_vec()).starts_with("not `time"));
        assert!(why(line(BINS, &[])[..500].to_vec()).starts_with("not `time"), "no end of the line");
    }

    proptest! {
        #[test]
        fn every_count_is_found(counts in prop::collection::btree_map(0usize..BINS, 1u64..1_000_000_000_000, 0..60)) {
            let counts: Vec<_> = counts.into_iter().collect();
            let (found, _) = read(line(BINS, &counts)).unwrap();
            let expected: Vec<(u32, u64)> = counts.into_iter().map(|(column, count)| (column as u32, count)).collect();
            prop_assert_eq!(found.bins, expected);
        }
    }
}
