//! The drives under the targets, opened to be read and nothing else: what holds them does not matter. Must not write.

use crate::devices::device_path;
use crate::roots::Roots;
use stend_base::{Bytes, Error, Result, say};
use stend_record::Device;
use stend_sys::{IoFile, block};

/// Opens a drive of a stack for reading past the page cache.
///
/// Errors are of kind `Preflight`: it may not be read, or it is not what inventory saw any more.
pub fn open_drive(drive: &Device) -> Result<IoFile> {
    open_under(&Roots::host(), drive)
}

fn open_under(roots: &Roots, drive: &Device) -> Result<IoFile> {
    let path = device_path(roots, &drive.name);
    let shown = path.display().to_string();
    let cannot = |why: String| {
        Error::preflight(say!(
            "cannot open the drive `{shown}` for reading: {why}",
            "не удаётся открыть накопитель `{shown}` для чтения: {why}"
        ))
        .hint(say!(
            "run as root, or as a member of the group that may read it (often `disk`)",
            "запустите от имени root или участника группы, которой разрешено чтение (часто `disk`)"
        ))
    };
    let file = IoFile::open_read(&path, true).map_err(|error| cannot(error.to_string()))?;
    let shape = block::geometry(&file).map_err(|error| cannot(error.to_string()))?;
    if shape.device.is_none() || Bytes(shape.size) != drive.size {
        return Err(Error::preflight(say!(
            "`{shown}` is no longer the drive that was inspected",
            "`{shown}` — уже не тот накопитель, что при осмотре"
        )));
    }
    Ok(file)
}

/// Drives as one space, with `share` bytes of each.
pub fn join_drives(drives: Vec<IoFile>, share: Bytes) -> Result<IoFile> {
    // Whole blocks of every size that a reading uses.
    let share = share.0 / Bytes::mib(1).0 * Bytes::mib(1).0;
    let count = drives.len();
    IoFile::joined(drives, &vec![share; count]).map_err(|error| {
        Error::preflight(say!(
            "cannot read the drives together: {error}",
            "не удаётся читать накопители вместе: {error}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    fn drive(size: Bytes) -> Device {
        Device { name: "sdx".into(), kind: "disk".into(), size, ..Device::default() }
    }

    #[test]
    fn what_is_not_the_drive_that_was_looked_at_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        let roots = Roots::under(place.path());
        std::fs::create_dir(&roots.dev).unwrap();
        let gone = open_under(&roots, &drive(Bytes::mib(1))).unwrap_err();
        assert!(gone.kind == Kind::Preflight && gone.message.en.contains("sdx` for reading"), "{gone}");
        // A file of the right name and size is no drive.
        std::fs::write(roots.dev.join("sdx"), vec![0; 1 << 20]).unwrap();
        let other = open_under(&roots, &drive(Bytes::mib(1))).unwrap_err();
        assert!(other.kind == Kind::Preflight, "{other}");
    }

    #[test]
    fn drives_are_joined_with_equal_shares_and_nothing_without_one() {
        let scratch = || IoFile::create_scratch(&std::env::temp_dir(), 4 << 20, false).unwrap();
        let joined = join_drives(vec![scratch(), scratch()], Bytes(Bytes::mib(3).0 + 5)).unwrap();
        assert_eq!(joined.count(), 2);
        assert!(join_drives(vec![scratch(), scratch()], Bytes::kib(4)).is_err());
    }
}
