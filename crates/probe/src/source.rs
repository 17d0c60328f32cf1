//! One file of `/proc`, kept open and read whole from its start each time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Text is kept up to this size: `/proc/interrupts` of 256 CPUs with 1,000 lines is 3 MiB, everything else
/// is far below.
const SIZE_MAX: usize = 4 << 20;

/// Room that a read begins with; most files fit.
const SIZE_FIRST: usize = 4096;

/// A file that may not exist, and the buffer for its text.
#[derive(Debug)]
pub struct Source {
    file: Option<File>,
    buffer: Vec<u8>,
    /// The text, where bytes of it were replaced.
    replaced: String,
}

impl Source {
    /// Opens the file if there is one.
    pub fn open(path: &Path) -> Source {
        Source { file: File::open(path).ok(), buffer: vec![0; SIZE_FIRST], replaced: String::new() }
    }

    /// A file that there is none of.
    pub fn absent() -> Source {
        Source { file: None, buffer: Vec::new(), replaced: String::new() }
    }

    /// Whether there is such a file.
    pub fn exists(&self) -> bool {
        self.file.is_some()
    }

    /// The whole text as it is now. A name in it, of a mount or an interface, may have bytes that are no UTF-8: they become �, and the rest is
    /// read. `None` if the file does not exist, cannot be read (a process that ended, pressure information switched off), or is larger than any
    /// real one.
    pub fn read(&mut self) -> Option<&str> {
        let file = self.file.as_ref()?;
        let mut len = 0;
        loop {
            if len == self.buffer.len() {
                if len >= SIZE_MAX {
                    return None;
                }
                self.buffer.resize(len * 2, 0);
            }
            match file.read_at(&mut self.buffer[len..], len as u64) {
                Ok(0) => break,
                Ok(n) => len += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        match std::str::from_utf8(&self.buffer[..len]) {
            Ok(text) => Some(text),
            Err(_) => {
                self.replaced = String::from_utf8_lossy(&self.buffer[..len]).into_owned();
                Some(&self.replaced)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source_of(bytes: &[u8]) -> Source {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, bytes).unwrap();
        Source::open(&path)
    }

    #[test]
    fn a_text_longer_than_the_buffer_is_read_whole_and_again() {
        let text = "line\n".repeat(10_000);
        let mut source = source_of(text.as_bytes());
        assert_eq!(source.read(), Some(text.as_str()));
        assert_eq!(source.read(), Some(text.as_str()));
    }

    #[test]
    fn what_is_absent_or_endless_is_none() {
        assert_eq!(Source::open(Path::new("/absent")).read(), None);
        assert_eq!(Source::open(Path::new("/dev/zero")).read(), None);
        assert_eq!(Source::open(Path::new("/proc/self")).read(), None);
    }

    #[test]
    fn a_name_that_is_no_utf_8_hides_nothing_around_it() {
        assert_eq!(source_of(b"one\nt\xcfo\nthree").read(), Some("one\nt\u{fffd}o\nthree"));
    }
}
