//! One file of `/proc`, kept open and read whole from its start each time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stend_base::Bytes;

/// Text is kept up to this size; all but a table with a column for each CPU are far below.
const SIZE_MAX: usize = 4 << 20;

/// Room that a read begins with; most files fit.
const SIZE_FIRST: usize = 4096;

/// A file that may not exist, and the buffer for its text.
#[derive(Debug)]
pub struct Source {
    file: Option<File>,
    buffer: Vec<u8>,
    /// Larger texts are not kept, bytes.
    size_max: usize,
    /// The last reading was given up because the text is larger.
    is_too_large: bool,
    /// The text, where bytes of it were replaced.
    replaced: String,
}

impl Source {
    /// Opens the file if there is one.
    pub fn open(path: &Path) -> Source {
        Source::open_up_to(path, SIZE_MAX)
    }

    /// The same, with a text of at most so many bytes.
    pub fn open_up_to(path: &Path, size_max: usize) -> Source {
        Source { file: File::open(path).ok(), buffer: vec![0; SIZE_FIRST], size_max, ..Source::absent() }
    }

    /// A file that there is none of.
    pub fn absent() -> Source {
        Source { file: None, buffer: Vec::new(), size_max: SIZE_MAX, is_too_large: false, replaced: String::new() }
    }

    /// The largest text that is kept, if the last one was larger and therefore was not read.
    pub fn too_large(&self) -> Option<Bytes> {
        self.is_too_large.then_some(Bytes(self.size_max as u64))
    }

    /// Whether there is such a file.
    pub fn exists(&self) -> bool {
        self.file.is_some()
    }

    /// The whole text as it is now. A name in it, of a mount or an interface, may have bytes that are no UTF-8: they become �, and the rest is
    /// read. `None` if the file does not exist, cannot be read (a process that ended, pressure information switched off), or is larger than any
    /// real one ([`Source::too_large`]).
    pub fn read(&mut self) -> Option<&str> {
        let file = self.file.as_ref()?;
        self.is_too_large = false;
        let mut len = 0;
        loop {
            if len == self.buffer.len() {
                if len >= self.size_max {
                    self.is_too_large = true;
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
        let mut endless = Source::open(Path::new("/dev/zero"));
        assert_eq!((endless.too_large(), endless.read()), (None, None));
        assert_eq!(endless.too_large(), Some(Bytes::mib(4)));
        assert_eq!(Source::open(Path::new("/proc/self")).read(), None);
    }

    #[test]
    fn a_text_is_read_up_to_its_own_limit_and_again_once_it_is_small_enough() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let file = File::create(&path).unwrap();
        file.set_len(5 << 20).unwrap();
        let mut narrow = Source::open(&path);
        assert_eq!((narrow.read(), Source::open_up_to(&path, 8 << 20).read().map(str::len)), (None, Some(5 << 20)));
        file.set_len(5).unwrap();
        assert_eq!((narrow.read().map(str::len), narrow.too_large()), (Some(5), None));
    }

    #[test]
    fn a_name_that_is_no_utf_8_hides_nothing_around_it() {
        assert_eq!(source_of(b"one\nt\xcfo\nthree").read(), Some("one\nt\u{fffd}o\nthree"));
    }
}
