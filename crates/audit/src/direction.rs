//! Whether a number is of reads, of writes, or of both, by its pattern or else by the name of its test.

use stend_record::published::Claim;

/// Whether a number is of a load of reads alone or of writes alone. Without a word on it, it is not known.
pub(super) fn is_one_way(claim: &Claim) -> bool {
    let text = text(claim);
    // `randread` and `reads` are reads, `threads` are not.
    let reads = |word: &str| word.ends_with("read") && !word.ends_with("thread") || word.starts_with("чтени");
    let writes = |word: &str| word.ends_with("write") || word.starts_with("запис");
    let any = |is: fn(&str) -> bool| words(&text).any(is);
    !is_mixed(claim) && any(reads) != any(writes)
}

/// Whether it is said that the load reads and writes; a number may then be of one side only.
pub(super) fn is_mixed(claim: &Claim) -> bool {
    let mixed = |word: &str| {
        word.starts_with("mix") || word.starts_with("смеш") || word.ends_with("rw") || word.ends_with("readwrite")
    };
    words(&text(claim)).any(mixed)
}

fn text(claim: &Claim) -> String {
    if claim.pattern.is_empty() { &claim.test } else { &claim.pattern }.to_lowercase()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).map(|word| word.trim_end_matches('s'))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::claim;
    use super::*;
    use stend_record::published::OTHER_PATTERN;

    #[test]
    fn names_of_tests_say_which_way_data_go() {
        let one_way = |test: &str| is_one_way(&claim(2, test, "iops", "IOPS", "1"));
        for test in ["seq-read-128k", "randread", "random writes", "Случайная запись 4k", "Чтение, 8 threads"]
        {
            assert!(one_way(test), "{test}");
        }
        for test in
            ["read 70 / write 30", "randrw", "mixed read", "64 threads", "readwrite", "чтение и запись", "oltp", ""]
        {
            assert!(!one_way(test), "{test}");
        }
        let of = Claim { pattern: "randwrite".into(), ..claim(2, "mixed", "iops", "IOPS", "1") };
        assert!(is_one_way(&of) && !is_mixed(&of), "the pattern says more than the name");
        let of = Claim { pattern: OTHER_PATTERN.into(), ..claim(2, "rand-read", "iops", "IOPS", "1") };
        assert!(!is_one_way(&of), "what our table writes for a load without a name");
    }
}
