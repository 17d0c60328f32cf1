//! Devices in the memory of a machine: known by the stand that made them, or not at all.

use super::Tree;
use stend_record::{Refusal, WriteAccess};

/// A machine with two zram devices, and the journal of a stand that made the first of them in this boot.
fn with_journal(entry: &str) -> Tree {
    let tree = Tree::new();
    tree.put("proc/sys/kernel/random/boot_id", "now");
    tree.disk("zram0", "252:0", "virtual", &[("diskseq", "7")]);
    tree.disk("zram1", "252:1", "virtual", &[("diskseq", "8")]);
    let head = r#"{"stand":{"version":1,"file":"s.yaml","text":"stand: fast","nonce":7,"drives":[],"owner":"R-1"}}"#;
    tree.put("var/lib/stend/stands/fast/journal", format!("{head}\n{entry}\n"));
    tree
}

const MADE: &str = r#"{"zram":{"layer":"zram","index":0,"number":0,"boot_id":"now","sequence":7}}"#;

#[test]
fn what_a_stand_made_in_memory_may_be_confirmed_and_what_others_made_is_refused() {
    let tree = with_journal(MADE);
    let identity = tree.identity("zram0");
    assert!(identity.starts_with("zram:") && identity.len() == "zram:".len() + 36, "{identity}");
    assert_eq!(tree.access("zram0"), WriteAccess::Confirm { identity, signatures: Vec::new() });
    assert_eq!(tree.identity("zram1"), "none");
    assert_eq!(tree.reasons("zram1"), [Refusal::NoIdentity]);
}

#[test]
fn a_number_that_was_given_anew_is_not_the_device_of_the_stand() {
    let gone = format!("{MADE}\n{}", r#"{"zram_gone":{"layer":"zram","index":0}}"#);
    for (what, entry) in [
        ("taken away by somebody else, and another one made", MADE.replace("\"sequence\":7", "\"sequence\":6")),
        ("made in another boot", MADE.replace("now", "before")),
        ("taken away by the stand", gone),
        ("made by a Stend that noted no sequence", MADE.replace(",\"sequence\":7", "")),
    ] {
        let tree = with_journal(&entry);
        assert_eq!(tree.identity("zram0"), "none", "{what}");
        assert_eq!(tree.reasons("zram0"), [Refusal::NoIdentity], "{what}");
    }
}
