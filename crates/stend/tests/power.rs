//! What is said where power is to be cut that is not ours: nothing is built, and nothing is measured.

use crate::support::*;

#[test]
fn power_that_is_not_ours_is_not_cut() {
    let scratch = Scratch::new();
    let here = scratch.directory("here");
    let machine = scratch.file("m.yaml", "machine: m\ndrives: [{serial: P1, size: 64MiB}]\n");
    let stand = scratch.file("s.yaml", "stand: s\nlayers: [{loop: {directory: /var/tmp, size: 64MiB}}]\n");
    // A machine that is started for one run ends with it: nothing would be there afterwards.
    for words in [
        &["--on", &here][..],
        &["--on", &here, "--dry-run"],
        &["--stand", &stand],
        &["--on", "/dev/nvme0n1", "--lab", &machine],
    ] {
        let (told, refused) = expect_exit(&mut stend(&scratch, &[&["run", "power-cut"], words].concat()), 4);
        assert!(
            refused.contains("Stend does not control the power of this host") && told.is_empty(),
            "{words:?}: {refused}"
        );
        assert!(refused.contains("stend lab up"), "{words:?}: {refused}");
    }
    assert_eq!(leftovers(&here), Vec::<String>::new());
    let (_, refused) = expect_exit(&mut stend(&scratch, &["run", "power-cut", "--stand", &stand, "--rebuild"]), 2);
    assert!(refused.contains("`power.cut`"), "{refused}");
}
