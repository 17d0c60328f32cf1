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
}

impl Source {
    /// Opens the file if there is one.
    pub fn open(path: &Path) -> Source {
        Source { file: File::open(path).ok(), buffer: vec![0; SIZE_FIRST] }
    }

    /// A file that there is none of.
    pub fn absent() -> Source {
        Source { file: None, buffer: Vec::new() }
    }

    /// Whether there is such a file.
    pub fn exists(&self) -> bool {
        self.file.is_some()
    }

    /// The whole text as it is now. `None` if the file does not exist, cannot be read (a process that
    /// ended, pressure information switched off), is not text, or is larger than any real one.
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
        std::str::from_utf8(&self.buffer[..len]).ok()
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
    fn what_is_absent_not_text_or_endless_is_none() {
        assert_eq!(Source::open(Path::new("/absent")).read(), None);
        assert_eq!(Source::open(Path::new("/dev/zero")).read(), None);
        assert_eq!(Source::open(Path::new("/proc/self")).read(), None);
        assert_eq!(source_of(b"\xff\xfe").read(), None);
    }
}
