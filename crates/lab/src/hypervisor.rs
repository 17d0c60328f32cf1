//! What a guest of this image needs under a hypervisor that another crate drives. Must not start anything.

use crate::image::Image;
use crate::payload::payload;
use crate::qemu::KERNEL;
use std::fs::File;
use std::io::{self, Write};

/// Parameters for the kernel of a guest that stays up and serves its ports: so many disks are waited for, and `modules` (with commas) are
/// loaded for them. `emulated` is for a guest in software, with the speed of the time stamp counter in kHz, if that is known.
pub fn guest_parameters(cpus: u32, emulated: Option<Option<u64>>, disks: usize, modules: &str) -> String {
    let counter = emulated.flatten().map(|khz| format!(" tsc_early_khz={khz}")).unwrap_or_default();
    // It shall not make room for a CPU that is there only so that barriers are executed (`qemu.rs`).
    let alone = if cpus == 1 { " nr_cpus=1" } else { "" };
    format!("{KERNEL}{alone}{counter} stend.drives={disks} stend.modules={modules} stend.stays")
}

/// Writes the archive that such a guest unpacks: the first steps of the image, and this program behind them.
pub fn guest_archive(image: &Image, to: &mut impl Write) -> io::Result<()> {
    io::copy(&mut File::open(&image.start)?, to)?;
    to.write_all(&payload()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_waits_for_its_disks_and_serves_its_ports() {
        let line = guest_parameters(1, Some(Some(2_500_000)), 2, "virtio_blk");
        let ours = " nr_cpus=1 tsc_early_khz=2500000 stend.drives=2 stend.modules=virtio_blk stend.stays";
        assert_eq!(line.strip_prefix(KERNEL), Some(ours));
        let line = guest_parameters(2, None, 1, "virtio_scsi,sd_mod");
        assert_eq!(line.strip_prefix(KERNEL), Some(" stend.drives=1 stend.modules=virtio_scsi,sd_mod stend.stays"));
    }
}
