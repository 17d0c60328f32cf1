//! Drives below a target, read while somebody else uses them.

use crate::bench::{Bench, run};
use stend_base::Bytes;
use stend_record::Device;
use stend_stand::open_drive;

#[test]
fn a_drive_that_is_in_use_is_opened_for_reading_only() {
    let Some(mut bench) = Bench::new("a_drive_that_is_in_use_is_opened_for_reading_only") else { return };
    let path = bench.disk(16);
    run(&["mkfs.ext4", "-qF", &path]);
    bench.mount(&path);
    let name = path.trim_start_matches("/dev/").to_string();
    let drive = Device { name, kind: "loop".into(), size: Bytes::mib(16), ..Device::default() };
    let file = open_drive(&drive).unwrap();
    assert!(!file.is_writable() && file.is_direct());
    // Another size: somebody else sits behind that name now.
    let changed = Device { size: Bytes::mib(32), ..drive };
    assert!(open_drive(&changed).unwrap_err().message.en.contains("no longer the drive"));
}
