//! Huge pages for fio, which takes no transparent ones: as many more as its largest cell needs, reserved for as long as this
//! lives.

use super::cell;
use crate::Outcome;
use std::path::Path;

/// Huge pages of the default size, which is that of x86-64.
const COUNT: &str = "/proc/sys/vm/nr_hugepages";
const SIZE: u64 = 2 << 20;
/// Pages beyond the buffers: fio aligns and rounds.
const SPARE: u64 = 2;

/// See the module.
pub struct Reserved {
    before: u64,
}

impl Reserved {
    /// Reserves them. Needs root, and memory that is not in pieces.
    pub fn make() -> Outcome<Reserved> {
        let before = read()?;
        // From here on dropping it puts the number back.
        let reserved = Reserved { before };
        let wanted = before + needed();
        write(wanted)?;
        match read()? {
            got if got >= wanted => Ok(reserved),
            got => Err(format!("{got} of {wanted} huge pages could be reserved: free memory, or drop caches first")),
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Err(why) = write(self.before) {
            crate::say(&why);
        }
    }
}

/// Pages for the buffers of the largest cell.
fn needed() -> u64 {
    let bytes = cell::all().iter().map(|cell| cell.block_size.0 * u64::from(cell.queue_depth)).max().unwrap_or(0);
    bytes.div_ceil(SIZE) + SPARE
}

fn read() -> Outcome<u64> {
    let text = std::fs::read_to_string(Path::new(COUNT)).map_err(|e| format!("cannot read `{COUNT}`: {e}"))?;
    text.trim().parse().map_err(|_| format!("`{COUNT}` is no number: {}", text.trim()))
}

fn write(count: u64) -> Outcome<()> {
    std::fs::write(COUNT, count.to_string()).map_err(|e| format!("cannot write {count} into `{COUNT}`: {e}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_largest_cell_has_room() {
        // Eight of 4 MiB.
        assert_eq!(super::needed(), 18);
    }
}
