//! What a user puts on a drive that a stand no longer holds, or never came to hold, stays when the stand is taken down.

use crate::support::stand::Stand;
use crate::support::*;

/// A search path on which this program fails.
fn without(scratch: &Scratch, name: &str) -> String {
    let directory = scratch.directory("failing");
    tool(&["chmod", "+x", &scratch.file(&format!("failing/{name}"), "#!/bin/sh\nexit 1\n")]);
    format!("{directory}:{}", std::env::var("PATH").expect("a path"))
}

#[test]
fn what_a_user_puts_on_a_drive_whose_layer_was_never_made_stays() {
    if !root("what_a_user_puts_on_a_drive_whose_layer_was_never_made_stays") {
        return;
    }
    let scratch = Scratch::new();
    let drive = Loop::new(&scratch, "drive.img", 300 << 20);
    let id = drive.identity(&scratch);
    let stand = Stand::new(&scratch, "never", &format!("drives: [{{id: '{id}'}}]\nlayers: [fs: {{type: xfs}}]"));
    let path = without(&scratch, "mkfs.xfs");
    expect_exit(stend(&scratch, &["stand", "up", &stand.file]).env("PATH", path), 4);
    tool(&["mkfs.ext4", "-q", &drive.device]);
    let contents = || tool(&["sha256sum", &drive.device]);
    let before = contents();
    stand.run("down", 0);
    assert_eq!(contents(), before);
    stand.is_gone();
}

#[test]
fn what_comes_onto_a_drive_while_the_layers_before_it_are_made_is_not_written_over() {
    if !root("what_comes_onto_a_drive_while_the_layers_before_it_are_made_is_not_written_over") {
        return;
    }
    let scratch = Scratch::new();
    let drives = ["one.img", "two.img"].map(|name| Loop::new(&scratch, name, 300 << 20));
    let [one, two] = drives.each_ref().map(|drive| drive.identity(&scratch));
    let stand = Stand::new(
        &scratch,
        "between",
        &format!(
            "drives: [{{name: a, id: '{one}'}}, {{name: b, id: '{two}'}}]\nlayers:\n- {{fs: {{type: xfs}}, name: x, on: [a]}}\n- {{fs: {{type: ext4}}, name: e, on: [b]}}\ntargets: [x, e]"
        ),
    );
    let real = tool(&["sh", "-c", "command -v mkfs.xfs"]).trim().to_string();
    let second = &drives[1].device;
    let script = format!(
        "#!/bin/sh\ndd if=/dev/urandom of={second} bs=1M count=4 seek=1 conv=notrunc,fsync 2>&1\nexec {real} \"$@\"\n"
    );
    let directory = scratch.directory("failing");
    tool(&["chmod", "+x", &scratch.file("failing/mkfs.xfs", &script)]);
    let path = format!("{directory}:{}", std::env::var("PATH").expect("a path"));
    let (_, told) = expect_exit(stend(&scratch, &["stand", "up", &stand.file]).env("PATH", path), 5);
    assert!(told.contains("unknown-data"), "{told}");
    stand.run("down", 0);
    stand.is_gone();
}
