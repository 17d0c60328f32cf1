//! The cache of ZFS: `/proc/spl/kstat/zfs/arcstats`.

use crate::source::Source;
use std::path::Path;
use stend_record::parts::ArcCounters;

/// File of the counters.
pub fn open(root: &Path) -> Source {
    Source::open(&root.join("proc/spl/kstat/zfs/arcstats"))
}

/// Its counters; `None` without ZFS, or if one is missing.
pub fn counters(text: &str) -> Option<ArcCounters> {
    // `name type data`, after two lines of headings.
    let value = |wanted: &str| {
        let lines = text.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
        let mut values = lines.filter(|fields| fields.first() == Some(&wanted));
        values.find_map(|fields| fields.get(2)?.parse::<u64>().ok())
    };
    Some(ArcCounters {
        demand_hits: value("demand_data_hits")?,
        demand_misses: value("demand_data_misses")?,
        size_bytes: value("size")?,
        size_max_bytes: value("c_max")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let text = "9 1 0x01 123 33456 1 2\nname                            type data\nhits 4 999\n\
            demand_data_hits                4    70\ndemand_data_misses              4    30\nc_max 4 4096\nsize 4 1024\n";
        let expected = ArcCounters { demand_hits: 70, demand_misses: 30, size_bytes: 1024, size_max_bytes: 4096 };
        assert_eq!(counters(text), Some(expected));
        assert_eq!(counters(&text.replace("c_max", "x")), None);
        assert_eq!(counters(&text.replace("4    30", "4 x")), None);
        assert_eq!(open(Path::new("/absent")).read(), None);
    }
}
