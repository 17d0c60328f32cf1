//! Lines of a file that may be anything: bounded, counted, and summed up. Must not know what they mean.

use super::{SIZE_MAX, at_line};
use sha2::{Digest, Sha256};
use std::io::{BufRead, Read};
use stend_base::{Error, Result, say};

/// Longest line, in bytes; one of a trace has about a hundred.
const LINE_MAX: u64 = 4096;

/// See the module.
pub(super) struct Lines<'a, R> {
    input: R,
    file: &'a str,
    buffer: Vec<u8>,
    text: String,
    number: u64,
    read: u64,
    sum: Sha256,
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// At the beginning of `input`; `file` names it in errors.
    pub fn new(input: R, file: &'a str) -> Lines<'a, R> {
        let (buffer, text) = (Vec::new(), String::new());
        Lines { input, file, buffer, text, number: 0, read: 0, sum: Sha256::default() }
    }

    /// The next line, without its end; `None` behind the last.
    pub fn next(&mut self) -> Result<Option<&str>> {
        let file = self.file;
        self.buffer.clear();
        let found = (&mut self.input)
            .take(LINE_MAX + 1)
            .read_until(b'\n', &mut self.buffer)
            .map_err(|e| Error::preflight(say!("cannot read `{file}`: {e}", "не удаётся прочитать `{file}`: {e}")))?;
        if found == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.read += found as u64;
        self.sum.update(&self.buffer);
        let refuse = |message| Err(at_line(file, self.number, message));
        if found as u64 > LINE_MAX {
            return refuse(say!("the line is longer than {LINE_MAX} bytes", "строка длиннее {LINE_MAX} байт"));
        }
        if self.read > SIZE_MAX.0 {
            return refuse(say!("the trace is larger than 1 GiB", "трасса больше 1 ГиБ"));
        }
        match std::str::from_utf8(&self.buffer) {
            Ok(text) if !text.contains('\0') => {
                self.text.clear();
                self.text.push_str(text.trim_end_matches(['\n', '\r']));
                Ok(Some(&self.text))
            }
            _ => refuse(say!("the line is not text", "строка — не текст")),
        }
    }

    /// The last line that was read.
    pub fn line(&self) -> &str {
        &self.text
    }

    /// Its number, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// SHA-256 of everything that was read, in hexadecimal digits, as `sha256sum` prints it.
    pub fn sha256(&self) -> String {
        self.sum.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: FIPS 180-2, B.1.
    #[test]
    fn the_sum_is_that_of_the_standard_and_of_whole_files() {
        let of = |text: &str| {
            let mut lines = Lines::new(text.as_bytes(), "t");
            while lines.next().unwrap().is_some() {}
            lines.sha256()
        };
        assert_eq!(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        // As `printf 'a\nb\n' | sha256sum` prints it.
        assert_eq!(of("a\nb\n"), "911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2");
    }
}
