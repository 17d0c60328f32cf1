//! Logs as fio 3.33 writes them, made up.

use crate::Outcome;
use std::fs::File;
use std::io::{BufWriter, Result as IoResult, Write};
use std::path::Path;
use stend_base::random::draw;

/// Columns of a log of histograms.
const COLUMNS: usize = 1856;
/// So many of these are used, as by a drive between 50 us and 3 ms.
const USED: std::ops::Range<u64> = 640..1000;

/// A log of so many reads of 4 KiB, 100 in a millisecond. How many bytes it has.
pub fn each_io(path: &Path, count: u64) -> Outcome<u64> {
    written(path, |to| {
        for i in 0..count {
            writeln!(to, "{}, {}, 0, 4096, 0", i / 100, 8_000 + draw(1, i) % 292_000)?;
        }
        Ok(())
    })
}

/// A log of so many histograms, one each second.
pub fn histograms(path: &Path, count: u64) -> Outcome<u64> {
    written(path, |to| {
        for i in 0..count {
            let mut counts = [0u64; COLUMNS];
            for j in 0..1000 {
                counts[(USED.start + draw(i, j) % (USED.end - USED.start)) as usize] += draw(i, j) % 7;
            }
            write!(to, "{}, 0, 4096", (i + 1) * 1000)?;
            counts.iter().try_for_each(|count| write!(to, ", {count}"))?;
            writeln!(to)?;
        }
        Ok(())
    })
}

fn written(path: &Path, lines: impl FnOnce(&mut BufWriter<File>) -> IoResult<()>) -> Outcome<u64> {
    let shown = path.display();
    let write = || {
        let mut to = BufWriter::with_capacity(1 << 20, File::create(path)?);
        lines(&mut to)?;
        to.flush()?;
        Ok(std::fs::metadata(path)?.len())
    };
    write().map_err(|e: std::io::Error| format!("cannot write `{shown}`: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_fio() {
        let path = std::env::temp_dir().join(format!("stend-bench-log-{}", std::process::id()));
        let bytes = each_io(&path, 150).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        histograms(&path, 2).unwrap();
        let rows = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((text.len() as u64, text.lines().count()), (bytes, 150));
        assert!(text.lines().nth(149).unwrap().starts_with("1, ") && text.ends_with(", 0, 4096, 0\n"));
        assert!(rows.lines().all(|row| row.split(", ").count() == COLUMNS + 3), "{rows}");
    }
}
