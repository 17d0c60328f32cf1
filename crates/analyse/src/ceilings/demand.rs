//! What one I/O makes the drives below a layout do, and how many I/Os per second drives of given rates then do. Pure sums;
//! where layouts and rates come from stands elsewhere.
//!
//! `docs/method/ceilings.md` has the table.

use serde::{Deserialize, Serialize};
use stend_base::Bytes;
use stend_spec::ceilings::Layout;
use stend_spec::keys::ceilings::{CHUNK, DRIVES};

/// Places of an I/O in a row that are looked at, times drives; more places are sampled evenly (by eye: a hundredth of a second).
const LOOKS: u64 = 1 << 18;

/// What an I/O of the application makes all drives do together, on the mean.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Demand {
    /// Reads.
    pub reads: f64,
    /// Writes.
    pub writes: f64,
    /// Bytes that are read.
    pub read_bytes: f64,
    /// Bytes that are written.
    pub write_bytes: f64,
}

/// I/Os of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// It writes; else it reads.
    pub writes: bool,
    /// Bytes.
    pub block: u64,
    /// They begin at multiples of this behind `start`.
    pub step: u64,
    /// Where the target begins on the array.
    pub start: u64,
    /// Neighbours follow each other, so that whole rows may be written together.
    pub in_order: bool,
}

impl Demand {
    fn of(io: &Io, count: f64, bytes: f64) -> Demand {
        match io.writes {
            true => Demand { writes: count, write_bytes: bytes, ..Demand::default() },
            false => Demand { reads: count, read_bytes: bytes, ..Demand::default() },
        }
    }

    /// So many times as much.
    pub fn times(self, n: f64) -> Demand {
        Demand {
            reads: self.reads * n,
            writes: self.writes * n,
            read_bytes: self.read_bytes * n,
            write_bytes: self.write_bytes * n,
        }
    }

    /// Both together.
    pub fn plus(self, other: Demand) -> Demand {
        Demand {
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            read_bytes: self.read_bytes + other.read_bytes,
            write_bytes: self.write_bytes + other.write_bytes,
        }
    }

    /// More of what moves in one direction: links carry both at the same time.
    pub fn bytes_one_way(self) -> f64 {
        self.read_bytes.max(self.write_bytes)
    }
}

/// What an I/O takes; `layout` is `None` where each goes to one drive. `None` where only measuring tells.
pub fn demand(layout: Option<Layout>, io: &Io) -> Option<Demand> {
    let bytes = io.block as f64;
    // Neighbours on a drive are one I/O of it.
    let copied = |copies: u32, strips: f64, drives: u32| {
        let copies = if io.writes { f64::from(copies) } else { 1.0 };
        Some(Demand::of(io, (copies * strips).min(f64::from(drives)), copies * bytes))
    };
    let rows = |data: u32, parity: u32, chunk: Bytes, reconstructs: bool| {
        let rows = Rows { data: data.into(), parity: parity.into(), chunk: chunk.0, reconstructs };
        // A run file may say anything; what no suite may state has no model.
        let sane = DRIVES.hold(&data.saturating_add(parity)) && data > 0 && CHUNK.hold(&chunk);
        (io.block > 0 && sane).then(|| rows.demand(io))
    };
    let strips = |chunk: Option<Bytes>| chunk.map_or(1.0, |chunk| strips(io, chunk.0));
    match layout {
        None => copied(1, 1.0, 1),
        Some(Layout::Stripe { drives, chunk }) => copied(1, strips(chunk), drives),
        Some(Layout::Mirror { drives }) => copied(drives, 1.0, drives),
        Some(Layout::Raid10 { drives, copies, chunk }) => copied(copies, strips(chunk), drives),
        Some(Layout::Raid5 { drives, chunk }) => rows(drives.saturating_sub(1), 1, chunk, true),
        Some(Layout::Raid6 { drives, chunk }) => rows(drives.saturating_sub(2), 2, chunk, true),
        Some(Layout::Replication { copies, drives, .. }) => copied(copies, 1.0, drives),
        Some(Layout::Erasure { data, parity, chunk, .. }) => rows(data, parity, chunk, false),
        Some(Layout::CopyOnWrite { .. }) => (!io.writes).then(|| Demand::of(io, 1.0, bytes)),
    }
}

/// Drives that an I/O touches, on the mean over the places where it may begin.
///
/// With r = start mod g, g = gcd(step, chunk): 1 + ⌊(r + block − 1) / g⌋ · g / chunk, by Hermite's identity
/// Σ ⌊x + j/m⌋ = ⌊m x⌋.
fn strips(io: &Io, chunk: u64) -> f64 {
    if io.in_order || io.block == 0 || chunk == 0 {
        return 1.0;
    }
    let grid = gcd(io.step, chunk);
    let boundaries = (io.start % grid + io.block - 1) / grid;
    1.0 + boundaries as f64 * grid as f64 / chunk as f64
}

/// Rows of blocks with parity.
#[derive(Debug, Clone, Copy)]
struct Rows {
    /// Drives with data in a row.
    data: u64,
    /// Drives with parity.
    parity: u64,
    /// Bytes on one drive.
    chunk: u64,
    /// Where that is fewer reads, parity is made from what is not written (reconstruct-write), as md does.
    reconstructs: bool,
}

impl Rows {
    fn demand(&self, io: &Io) -> Demand {
        if !io.writes {
            let drives = (self.data + self.parity) as f64;
            return Demand::of(io, strips(io, self.chunk).min(drives), io.block as f64);
        }
        if io.in_order {
            // Neighbours fill whole rows, for which nothing is read.
            let all = (self.data + self.parity) as f64 / self.data as f64;
            return Demand::of(io, all, io.block as f64 * all);
        }
        let row = self.data * self.chunk;
        let grid = gcd(io.step, row);
        let places = row / grid;
        let looks = places.min((LOOKS / (self.data + self.parity)).max(1));
        let at =
            |look: u64| io.start % grid + (u128::from(look) * u128::from(places) / u128::from(looks)) as u64 * grid;
        let sum = (0..looks).fold(Demand::default(), |sum, look| sum.plus(self.write(at(look), io.block)));
        sum.times(1.0 / looks as f64)
    }

    /// One write at this place.
    fn write(&self, offset: u64, len: u64) -> Demand {
        let row = self.data * self.chunk;
        let from = offset % row;
        let first = len.min(row - from);
        let mut found = self.in_row(from, from + first);
        let rest = len - first;
        if rest >= row {
            // What lies one behind the other on a drive is one I/O.
            let all = (self.data + self.parity) as f64;
            let bytes = all * self.chunk as f64 * (rest / row) as f64;
            found = found.plus(Demand { writes: all, write_bytes: bytes, ..Demand::default() });
        }
        if !rest.is_multiple_of(row) {
            found = found.plus(self.in_row(0, rest % row));
        }
        // However many rows: what lies one behind the other on a drive is one I/O.
        let most = (self.data + self.parity) as f64;
        if len > row { Demand { reads: found.reads.min(most), writes: found.writes.min(most), ..found } } else { found }
    }

    /// A write from `x` to `y` in a row. Parity is made for what lies at the same place of each drive, so the row is cut where the
    /// set of written drives changes.
    fn in_row(&self, x: u64, y: u64) -> Demand {
        let chunk = self.chunk;
        let mut cuts = [0, x % chunk, (y - 1) % chunk + 1, chunk];
        cuts.sort_unstable();
        let covers = |drive: u64, at: u64| (x..y).contains(&(drive * chunk + at));
        let (first, last) = (x / chunk, (y - 1) / chunk);
        let mut found = Demand::default();
        // What was done to each drive with data, and to those with parity, just before a cut.
        let mut before: Vec<(bool, bool)> = vec![(false, false); self.data as usize + 1];
        for cut in cuts.windows(2).filter(|cut| cut[0] < cut[1]) {
            let (at, bytes) = (cut[0], (cut[1] - cut[0]) as f64);
            let written = (first..=last).filter(|drive| covers(*drive, at)).count() as u64;
            let (around, anew) = (written + self.parity, self.data - written);
            let reconstruct = self.reconstructs && anew < around;
            for (drive, before) in (0..=self.data).zip(&mut before) {
                let (drives, writes) = match drive == self.data {
                    true => (self.parity as f64, written > 0),
                    false => (1.0, covers(drive, at)),
                };
                let is_data = drive < self.data;
                let reads = written > 0 && written < self.data && if reconstruct { is_data && !writes } else { writes };
                let begins = |now: bool, before: bool| if now && !before { drives } else { 0.0 };
                let moved = |now: bool| if now { drives * bytes } else { 0.0 };
                found = found.plus(Demand {
                    reads: begins(reads, before.0),
                    writes: begins(writes, before.1),
                    read_bytes: moved(reads),
                    write_bytes: moved(writes),
                });
                *before = (reads, writes);
            }
        }
        found
    }
}

/// Reads of drives per read of an array with one parity that lacks one of `drives`: 2 (n − 1) / n.
//= method §5.2: a lost strip is read from all the others
pub fn degraded_reads(drives: u32) -> f64 {
    2.0 * (f64::from(drives) - 1.0) / f64::from(drives)
}

/// I/Os per second that drives do which read and write so many per second, all together; each I/O takes its part of their
/// time. `None` where nothing is asked of them.
//= method §5.2: X_max = n / (ρ/c_r + (1−ρ)·(w_r/c_r + w_w/c_w))
pub fn most_per_second((reads, writes): (f64, f64), (read_rate, write_rate): (f64, f64)) -> Option<f64> {
    let part = |count: f64, rate: f64| if count > 0.0 { count / rate } else { 0.0 };
    let time = part(reads, read_rate) + part(writes, write_rate);
    (time.is_finite() && time > 0.0).then(|| 1.0 / time)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
