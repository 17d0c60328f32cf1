//! Access specifications of Iometer as its results repeat them: rows of sizes, kinds and orders with their shares. Pure.

use super::Bad;
use stend_base::{Bytes, Millionths, say};
use stend_spec::pattern::Pattern;
use stend_spec::workload::BlockShare;

/// Rows of a specification; Iometer has at most 100.
const ROWS_MAX: usize = 100;

/// A specification.
#[derive(Debug, Clone)]
pub struct Access {
    /// Its name.
    pub name: String,
    rows: Vec<Row>,
}

/// So many percent of the I/Os are like this.
#[derive(Debug, Clone)]
struct Row {
    text: String,
    size: u64,
    share: u64,
    random: u64,
    delay: u64,
}

impl Access {
    /// Without rows yet.
    pub fn named(name: &str) -> Access {
        Access { name: name.trim().to_string(), rows: Vec::new() }
    }

    /// Adds `size,% of size,% reads,% random,delay,burst,align,reply`.
    pub fn add(&mut self, line: u32, cells: &[String]) -> Result<(), Bad> {
        let numbers: Vec<u64> = cells.iter().map_while(|cell| cell.trim().parse().ok()).collect();
        let [size, share, reads, random, delay, ..] = numbers[..] else {
            let why = say!(
                "expected a row of an access specification in whole numbers",
                "здесь ожидалась строка описания доступа в целых числах"
            );
            return Err((line, why));
        };
        if share > 100 || reads > 100 || random > 100 || self.rows.len() >= ROWS_MAX {
            let why = say!(
                "shares above 100 %, or more than {ROWS_MAX} rows",
                "доли больше 100 % или больше {ROWS_MAX} строк"
            );
            return Err((line, why));
        }
        let text = cells.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(",");
        self.rows.push(Row { text, size, share, random, delay });
        Ok(())
    }

    fn used(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.share > 0)
    }

    /// The rows as they are written.
    pub fn text(&self) -> String {
        self.rows.iter().map(|row| row.text.as_str()).collect::<Vec<_>>().join("; ")
    }

    /// Rests between bursts hold the load back.
    pub fn paced(&self) -> bool {
        self.used().any(|row| row.delay > 0)
    }

    /// The one size of all I/Os; `None` if there are several.
    pub fn size(&self) -> Option<u64> {
        let first = self.used().next()?.size;
        self.used().all(|row| row.size == first).then_some(first)
    }

    /// The largest size, and shares of sizes if there are several.
    pub fn sizes(&self) -> (Bytes, Vec<BlockShare>) {
        let largest = Bytes(self.used().map(|row| row.size).max().unwrap_or(0));
        if self.size().is_some() || self.used().map(|row| row.share).sum::<u64>() != 100 {
            return (largest, Vec::new());
        }
        let mut shares: Vec<BlockShare> = Vec::new();
        for row in self.used() {
            match shares.iter_mut().find(|share| share.size.0 == row.size) {
                Some(share) => share.percent += row.share as u8,
                None => shares.push(BlockShare { size: Bytes(row.size), percent: row.share as u8 }),
            }
        }
        shares.sort_by_key(|share| share.size);
        (largest, shares)
    }

    /// Order of offsets; of rows that differ the share of all together.
    pub fn pattern(&self) -> Pattern {
        let all = self.used().map(|row| row.share).sum::<u64>().max(1);
        let random = self.used().map(|row| row.share * row.random).sum::<u64>() / all;
        match random.min(100) as u32 {
            0 => Pattern::Sequential,
            100 => Pattern::Uniform,
            percent => Pattern::Mixed { sequential: Millionths::percent(100 - percent) },
        }
    }
}
