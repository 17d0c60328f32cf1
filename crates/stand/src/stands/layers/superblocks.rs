//! Mappings whose targets keep a superblock of their own on a device: checksums beside data, and a cache of writes. These superblocks
//! have no UUID: which of them are the stand's is known from its journal.
//!
//! Source: Documentation/admin-guide/device-mapper/dm-integrity.rst and writecache.rst of Linux 6.12; integritysetup(8) of
//! cryptsetup 2.7.

use super::super::product::Product;
use super::mappings::{mapping, numbered};
use super::{Made, StepContext, sectors};
use crate::change::{Action, Change, Condition, LayerDevice, Wait, run};
use stend_base::{Bytes, say};
use stend_spec::stand::Checksums;

/// Bytes of a checksum: CRC32C.
const CHECKSUM: &str = "4";
/// The kernel wants zeroes in a new superblock of a cache.
const SUPERBLOCK: &str = "4096";

/// Checksums of all that is on each device. They are computed of what is there already, and that is waited for: before, it is not known
/// what is wrong.
pub(super) fn integrity(context: &StepContext, mode: Checksums) -> Made {
    let mut made = Made::default();
    for (index, device) in context.paths().enumerate() {
        let local = local(context, index, device);
        let begun = Condition::SuperblockBegun(local.clone());
        made.steps.push(Change {
            what: say!("set up checksums on {device}", "разметить {device} под контрольные суммы"),
            erases: vec![device.to_string()],
            done: Condition::Superblock(local.clone()),
            apply: vec![Action::Format {
                of: local.clone(),
                words: words(
                    "integritysetup format --batch-mode --no-wipe --integrity=crc32c --tag-size",
                    &[CHECKSUM, device],
                ),
            }],
            undo: vec![(
                begun,
                Action::Erase { of: local, words: words("wipefs --all --types=DM_integrity", &[device]) },
            )],
            wait: None,
        });
        let name = numbered(context, index);
        let sectors =
            (context.checksummed)(device).map_or_else(|| "SECTORS".to_string(), |sectors| sectors.to_string());
        let letter = mode.letter();
        let table = format!("0 {sectors} integrity {device} 0 {CHECKSUM} {letter} 2 internal_hash:crc32c recalculate");
        let wait = Some(Wait::Checksums(name.clone()));
        made.steps.push(Change { wait, ..mapping(&context.uuid(index), &name, &[table], device) });
        made.products.push(Product::Mapping(name));
    }
    made
}

/// The second device takes the writes of the first. What is on it alone is written back before it is taken away.
pub(super) fn write_cache(context: &StepContext, block_size: Bytes) -> Made {
    let [slow, fast] = context.below else { return Made::default() };
    let (name, size, block) = (context.name(), sectors(slow.size), block_size.0);
    let (slow, fast) = (slow.path.as_str(), fast.path.as_str());
    let local = local(context, 1, fast);
    let clear = |force: &str| words(&format!("blkdiscard {force}--zeroout --offset=0 --length"), &[SUPERBLOCK, fast]);
    let clean = Change {
        what: say!("clear the start of {fast} for a cache", "очистить начало {fast} под кэш"),
        erases: context.erases(),
        done: Condition::Superblock(local.clone()),
        apply: vec![Action::Format { of: local.clone(), words: clear("--force ") }],
        // Without force the kernel keeps a device that something else has taken by now.
        undo: vec![(Condition::SuperblockBegun(local.clone()), Action::Erase { of: local, words: clear("") })],
        wait: None,
    };
    let table = format!("0 {size} writecache s {slow} {fast} {block} 0");
    // By its identity others can tell that it is a cache.
    let mut join = mapping(&format!("CACHE-{}", context.uuid(0)), &name, &[table], slow);
    join.what = say!("put {fast} before {slow} as {name}", "поставить {fast} перед {slow} как {name}");
    join.erases = context.erases();
    let flush = run("dmsetup message", &[name.as_str(), "0", "flush"]);
    join.undo.insert(0, (Condition::Unwritten(name.clone()), flush));
    Made { steps: vec![clean, join], products: vec![Product::Mapping(name)] }
}

fn local(context: &StepContext, index: usize, device: &str) -> LayerDevice {
    LayerDevice { layer: context.layer.name.clone(), index: index as u32, device: device.to_string() }
}

fn words(line: &str, more: &[&str]) -> Vec<String> {
    line.split(' ').chain(more.iter().copied()).map(str::to_string).collect()
}

/// How many percent of the checksums are computed, by the status of their mapping; `None`: all.
//= linux, Documentation/admin-guide/device-mapper/dm-integrity.rst, "Status line": mismatches, provided data sectors, recalculated ones or `-`
pub(crate) fn computed(status: &[String]) -> Option<u64> {
    let number = |index: usize| status.get(index).and_then(|word| word.parse::<u64>().ok());
    let (all, done) = (number(2)?, number(3)?);
    (done < all).then(|| done.saturating_mul(100) / all)
}

/// Whether a cache keeps what is not written back, by the status of its mapping.
//= linux, Documentation/admin-guide/device-mapper/writecache.rst, "Status": error indicator, blocks, free blocks, blocks under writeback
pub(crate) fn keeps_back(status: &[String]) -> bool {
    let number = |index: usize| status.get(index).and_then(|word| word.parse::<u64>().ok());
    number(2).zip(number(3)).is_some_and(|(all, free)| free < all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    #[test]
    fn what_is_left_to_do_is_told_by_the_kernel() {
        assert_eq!(computed(&status("integrity 0 193656 163840")), Some(84));
        assert_eq!(computed(&status("integrity 0 193656 193656")), None);
        assert_eq!(computed(&status("integrity 0 193656 -")), None);
        assert!(keeps_back(&status("writecache 0 24480 22432 0 326 97 2048 0 0 0 2048 0 1 0")));
        assert!(!keeps_back(&status("writecache 0 24480 24480 0 163 0 0 0 0 0 0 0 0 0")));
        assert!(!keeps_back(&status("linear")));
    }
}
