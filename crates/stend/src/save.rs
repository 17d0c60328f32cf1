//! Writes a result into a file that the user named. Never over anything but a file of its like: a slip of
//! the hand must not cost a run or a disk.

use std::fs::File;
use std::io::{BufWriter, Read, Result as IoResult, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use stend_base::{Error, Kind, Result, Say, say};

/// First bytes of every run file.
const DATABASE: &[u8; 16] = b"SQLite format 3\0";

/// Writes `what` (an accusative, for the error) to `path`, which is created, or emptied if it exists.
///
/// Errors: `Unsafe` if `path` is a block device or a run file, `Preflight` if it cannot be written.
pub fn save(path: &Path, what: &Say, write: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> Result<()> {
    let shown = path.display();
    if let Some(reason) = precious(path) {
        let (en, ru) = (&what.en, &what.ru);
        let (why_en, why_ru) = (reason.en, reason.ru);
        return Err(Error::new(
            Kind::Unsafe,
            say!(
                "refused to write {en} over `{shown}`: {why_en}",
                "запись поверх `{shown}` ({ru}) отклонена: {why_ru}"
            ),
        )
        .hint(say!("name another file", "укажите другой файл")));
    }
    let written = File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.flush()
    });
    written.map_err(|e| {
        let (en, ru) = (&what.en, &what.ru);
        Error::new(Kind::Preflight, say!("cannot write {en} `{shown}`: {e}", "не удаётся записать {ru} `{shown}`: {e}"))
    })
}

/// Creates a directory for results, with its parents.
pub fn directory(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|e| {
        let shown = path.display();
        Error::new(
            Kind::Preflight,
            say!("cannot create the directory `{shown}`: {e}", "не удаётся создать каталог `{shown}`: {e}"),
        )
    })
}

/// Why what is there must not be lost.
fn precious(path: &Path) -> Option<Say> {
    let found = std::fs::metadata(path).ok()?.file_type();
    if found.is_block_device() {
        return Some(say!("it is a block device", "это блочное устройство"));
    }
    let mut first = [0; DATABASE.len()];
    let database = found.is_file() && File::open(path).is_ok_and(|mut f| f.read_exact(&mut first).is_ok());
    (database && &first == DATABASE)
        .then(|| say!("it is a run file or another database", "это файл прогона или другая база данных"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) -> Result<()> {
        save(path, &Say::same("x"), |to| to.write_all(text.as_bytes()))
    }

    #[test]
    fn a_result_replaces_an_older_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.html");
        put(&path, "a long text").unwrap();
        put(&path, "short").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "short");
    }

    #[test]
    fn a_run_file_is_never_overwritten_by_a_result() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("last.html");
        std::fs::write(&path, [DATABASE.as_slice(), b"more"].concat()).unwrap();
        assert_eq!(put(&path, "x").unwrap_err().kind, Kind::Unsafe);
        assert!(std::fs::read(&path).unwrap().ends_with(b"more"));
    }

    #[test]
    fn a_block_device_is_never_overwritten_by_a_result() {
        let devices = std::fs::read_dir("/dev").unwrap().flatten().map(|entry| entry.path());
        let Some(device) =
            devices.into_iter().find(|p| std::fs::metadata(p).is_ok_and(|m| m.file_type().is_block_device()))
        else {
            eprintln!("skipped, no block device: a_block_device_is_never_overwritten_by_a_result");
            return;
        };
        assert!(precious(&device).is_some(), "only looked at, never written: {}", device.display());
        assert!(precious(Path::new("/dev/null")).is_none());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let error = put(Path::new("/does/not/exist/report.html"), "x").unwrap_err();
        assert!(error.kind == Kind::Preflight && error.message.ru.contains("/does/not/exist"), "{error}");
    }
}
