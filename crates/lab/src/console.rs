//! What a guest and QEMU print: the end of it is kept, to be shown if the machine does not start. Must not interpret it.

use std::collections::VecDeque;
use std::io::{PipeReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are kept.
const KEPT: usize = 16 << 10;
/// Lines that are shown.
const SHOWN: usize = 12;

/// The end of what was printed so far.
#[derive(Clone, Default)]
pub struct Console(Arc<Mutex<VecDeque<u8>>>);

impl Console {
    /// Reads a pipe to its end beside the caller.
    pub fn follow(mut from: PipeReader) -> std::io::Result<Console> {
        let console = Console::default();
        let kept = console.clone();
        let read = move || {
            let mut bytes = [0; 4096];
            // An error is an end like any other: what was printed before it is what there is.
            while let Ok(1..) = from.read(&mut bytes).inspect(|read| kept.keep(&bytes[..*read])) {}
        };
        std::thread::Builder::new().name("console".into()).spawn(read)?;
        Ok(console)
    }

    fn keep(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    /// The last lines, without what would steer a terminal.
    pub fn tail(&self) -> String {
        let kept: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        last_lines(&String::from_utf8_lossy(&kept))
    }
}

/// The last lines of a text, without what would steer a terminal.
pub fn last_lines(text: &str) -> String {
    let clean = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let lines: Vec<String> = text.lines().map(clean).filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_end_is_kept_and_cannot_steer_a_terminal() {
        let (from, mut to) = std::io::pipe().unwrap();
        let console = Console::follow(from).unwrap();
        for line in 0..10_000 {
            writeln!(to, "line {line}\x1b[2J\r").unwrap();
        }
        drop(to);
        // The reader is another thread; its end is awaited by what it shows.
        while !console.tail().ends_with("line 9999[2J") {
            std::thread::yield_now();
        }
        let tail = console.tail();
        assert_eq!(tail.lines().count(), SHOWN, "{tail}");
        assert!(tail.starts_with("line 9988[2J"), "{tail}");
    }
}
