//! Lines of fio's histogram logs: counts by bucket of what completed since the line before. Pure.

use super::scan::{comma, number};
use stend_base::{Say, say};
use stend_record::fio_bins::{BINS, Bins};

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
    /// Counts by number of fio's bucket; of wider columns (`log_hist_coarseness`) the last of those that they join.
    pub bins: Bins,
}

/// The line at the beginning of these bytes, and its length.
pub fn row(bytes: &[u8]) -> Result<(Row, usize), Say> {
    let head = || {
        let (ms, at) = number(bytes, 0)?;
        let (kind, at) = number(bytes, comma(bytes, at)?)?;
        let (size, at) = number(bytes, comma(bytes, at)?)?;
        Some((Row { ms, kind, size, bins: Bins::new() }, at))
    };
    let (mut row, mut at) = head().ok_or_else(no_row)?;
    let (mut column, mut counts) = (0usize, Vec::new());
    while bytes.get(at) == Some(&b',') {
        // The last of them may be the beginning of a longer number, so the byte behind must end it.
        if bytes.get(at..at + ZEROS.len()) == Some(ZEROS) && bytes.get(at + ZEROS.len()) == Some(&b',') {
            (at, column) = (at + ZEROS.len(), column + 8);
            continue;
        }
        let (count, end) = comma(bytes, at).and_then(|at| number(bytes, at)).ok_or_else(no_row)?;
        if count > 0 {
            counts.push((column, count));
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
    row.bins = counts.into_iter().map(|(column, count)| ((column * joined + joined - 1) as u32, count)).collect();
    Ok((row, at + 1))
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

    fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.extend([0; 32]);
        bytes
    }

    #[test]
    fn counts_stand_in_their_buckets_also_where_columns_are_joined() {
        let bytes = line(BINS, &[(0, 3), (700, 12_345), (1855, 1)]);
        let (found, len) = row(&padded(bytes.clone())).unwrap();
        assert_eq!((found.ms, found.kind, found.size, len), (1000, 1, 4096, bytes.len()));
        assert_eq!(found.bins, Bins::from([(0, 3), (700, 12_345), (1855, 1)]));
        let coarse = row(&padded(line(BINS / 4, &[(10, 7)]))).unwrap().0;
        assert_eq!(coarse.bins, Bins::from([(43, 7)]), "columns 40 to 43, at the upper edge");
    }

    #[test]
    fn what_is_no_such_line_is_told() {
        let why = |bytes: Vec<u8>| row(&padded(bytes)).unwrap_err().en;
        assert!(why(line(BINS - 1, &[])).starts_with("1855 counts"));
        assert!(why(b"1, 2\n".to_vec()).starts_with("not `time"));
        assert!(why(line(BINS, &[])[..500].to_vec()).starts_with("not `time"), "no end of the line");
    }

    proptest! {
        #[test]
        fn every_count_is_found(counts in prop::collection::btree_map(0usize..BINS, 1u64..1_000_000_000_000, 0..60)) {
            let counts: Vec<_> = counts.into_iter().collect();
            let (found, _) = row(&padded(line(BINS, &counts))).unwrap();
            let expected: Bins = counts.into_iter().map(|(column, count)| (column as u32, count)).collect();
            prop_assert_eq!(found.bins, expected);
        }
    }
}
