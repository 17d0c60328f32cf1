//! `batch`: what is done for several I/Os together.

use super::{Map, whole, word};
use crate::keys::batch as keys;
use crate::workload::Batch;
use crate::yaml::Node;
use stend_base::{Result, say};

/// A batch of a stream with these queue depths; `open` if it has a rate.
pub(super) fn batch(node: &Node, depths: &[u32], open: bool) -> Result<Batch> {
    let mut map = Map::of(node, &keys::BATCH)?;
    let size = map.optional("size", |node| whole(node, keys::SIZE))?.unwrap_or(1);
    let one_stamp = map.optional("stamps", |node| word(node, keys::STAMPS))?.unwrap_or(false);
    map.finish()?;
    if open {
        return Err(node.error(say!(
            "`batch` contradicts `rate`: in an open loop I/Os begin when they are due",
            "`batch` противоречит `rate`: в разомкнутом цикле операции начинаются в срок"
        )));
    }
    if let Some(depth) = depths.iter().find(|depth| **depth < size) {
        return Err(node
            .error(say!(
                "a batch of {size} never fills with {depth} I/Os in flight",
                "пачка из {size} никогда не наберётся при глубине очереди {depth}"
            ))
            .hint(say!("lower `size` or raise `queue_depth`", "уменьшите `size` или увеличьте `queue_depth`")));
    }
    Ok(Batch { size, one_stamp })
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use crate::workload::Batch;

    fn parsed(more: &str) -> stend_base::Result<Batch> {
        let text = format!(
            "suite: x\ncases:\n  - name: a\n    streams:\n      - {{op: read, pattern: random, block_size: 4KiB{more}}}\n"
        );
        Ok(suite(&text, "suite.yaml")?.cases[0].streams[0].batch)
    }

    #[test]
    fn a_batch_has_a_size_and_a_way_of_reading_the_clock() {
        assert_eq!(parsed("").unwrap(), Batch { size: 1, one_stamp: false });
        let full = parsed(", queue_depth: [16, 32], batch: {size: 16, stamps: once}").unwrap();
        assert_eq!(full, Batch { size: 16, one_stamp: true });
        assert_eq!(parsed(", batch: {stamps: once}").unwrap(), Batch { size: 1, one_stamp: true });
    }

    #[test]
    fn what_cannot_be_is_an_error_with_its_place() {
        for (more, told) in [
            (", queue_depth: [8, 32], batch: {size: 16}", "never fills with 8 I/Os"),
            (", rate: 100/s, batch: {size: 2}", "`batch` contradicts `rate`"),
            (", queue_depth: 4, batch: {size: 0}", "0 is outside 1 to 4096"),
            (", batch: {stamps: never}", "`never` is not one of"),
            (", batch: {size: 2, sise: 3}", "unknown key `sise`"),
        ] {
            let error = parsed(more).unwrap_err().to_string();
            assert!(error.contains(told) && error.contains("suite.yaml:5:"), "{error}");
        }
        let text = "suite: x\ncases:\n  - name: a\n    backend: psync\n    streams:\n      - {op: read, pattern: random, block_size: 4KiB, queue_depth: 4, batch: {size: 2}}\n";
        let error = suite(text, "suite.yaml").unwrap_err().to_string();
        assert!(error.contains("`batch`") && error.contains("psync"), "{error}");
    }
}
