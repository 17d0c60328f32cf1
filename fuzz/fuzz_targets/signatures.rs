//! Any bytes as a device: its signatures, its partition table, the label of a pool, the superblock of a target of the device mapper.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stend_sys::signature::{Image, partition};

fuzz_target!(|bytes: &[u8]| {
    let image = Image::from_bytes(bytes);
    let found = image.signatures();
    assert!(found.iter().all(|mark| mark.offset < bytes.len() as u64));
    let sector = |at: u64| {
        let at = usize::try_from(at).ok()?;
        Some(Image::from_bytes(bytes.get(at..at.checked_add(512)?)?))
    };
    for block in [512, 4096] {
        let partitions = partition::table(&image, block, &sector);
        assert!(partitions.iter().all(|p| p.start.checked_add(p.len).is_some_and(|end| end <= bytes.len() as u64)));
    }
    let _ = (image.pool(), image.superblock());
});
