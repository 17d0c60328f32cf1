//! The whole terminal for a picture that is drawn again and again: keys come one by one, and everything is as before when it ends.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{IsTerminal, Write};
use std::time::Duration;
use stend_base::{Error, Result, say};

/// Another screen than that of the shell, without a cursor.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";

/// Rows where a terminal does not say.
const ROWS: usize = 24;

/// A key that was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A step to what was before.
    Left,
    /// A step to what came after.
    Right,
    /// A minute to what was before.
    PageUp,
    /// A minute to what came after.
    PageDown,
    /// The oldest.
    Home,
    /// The newest.
    End,
    /// Enough.
    Quit,
}

/// The terminal while it is ours.
pub struct Terminal {
    before: Termios,
}

impl Terminal {
    /// Whether there is one, to draw on and to read keys from.
    pub fn is_there() -> bool {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !dumb
    }

    /// Takes it until dropped. Ctrl-C stays a signal.
    ///
    /// Errors: kind `Preflight`.
    pub fn take() -> Result<Terminal> {
        let failed = |error: std::io::Error| {
            Error::preflight(say!("cannot use the terminal: {error}", "не удаётся занять терминал: {error}"))
        };
        let before = tcgetattr(std::io::stdin()).map_err(|error| failed(error.into()))?;
        let mut ours = before.clone();
        ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Now, &ours).map_err(|error| failed(error.into()))?;
        let terminal = Terminal { before };
        write(ENTER).map_err(failed)?;
        Ok(terminal)
    }

    /// Rows that it has.
    pub fn rows(&self) -> usize {
        tcgetwinsize(std::io::stdout())
            .ok()
            .map(|size| usize::from(size.ws_row))
            .filter(|rows| *rows > 0)
            .unwrap_or(ROWS)
    }

    /// Draws a text over what was there. Nothing in it steers a terminal but our own colours.
    ///
    /// Errors: the terminal is gone.
    pub fn draw(&self, text: &str, colour: bool) -> std::io::Result<()> {
        let text = stend_report::for_terminal(text, colour);
        let lines = text.lines().take(self.rows()).collect::<Vec<_>>().join("\u{1b}[K\r\n");
        write(&format!("\u{1b}[H{lines}\u{1b}[K\u{1b}[J"))
    }

    /// Waits for keys, at most so long.
    pub fn keys(&self, limit: Duration) -> Vec<Key> {
        let stdin = std::io::stdin();
        let timeout = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut ready, Some(&timeout)).unwrap_or(0) == 0 {
            return Vec::new();
        }
        let mut bytes = [0; 64];
        match rustix::io::read(&stdin, &mut bytes) {
            // Nobody can press a key any more.
            Ok(0) | Err(_) => vec![Key::Quit],
            Ok(count) => keys(&bytes[..count]),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nobody is left to tell if it is gone.
        drop(write(LEAVE));
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

fn write(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
}

/// The keys in what a terminal sent; what is none of ours is passed over.
fn keys(bytes: &[u8]) -> Vec<Key> {
    /// As xterm, the Linux console and tmux send them.
    const SENT: [(&[u8], Key); 13] = [
        (b"\x1b[D", Key::Left),
        (b"\x1bOD", Key::Left),
        (b"\x1b[C", Key::Right),
        (b"\x1bOC", Key::Right),
        (b"\x1b[5~", Key::PageUp),
        (b"\x1b[6~", Key::PageDown),
        (b"\x1b[H", Key::Home),
        (b"\x1bOH", Key::Home),
        (b"\x1b[1~", Key::Home),
        (b"\x1b[F", Key::End),
        (b"\x1bOF", Key::End),
        (b"\x1b[4~", Key::End),
        (b"q", Key::Quit),
    ];
    let (mut found, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        match SENT.iter().find(|(sent, _)| rest.starts_with(sent)) {
            Some((sent, key)) => {
                found.push(*key);
                rest = &rest[sent.len()..];
            }
            None => rest = &rest[1..],
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart_and_what_is_none_is_passed_over() {
        assert_eq!(keys(b"\x1b[D\x1b[Dx\x1bOCq"), [Key::Left, Key::Left, Key::Right, Key::Quit]);
        assert_eq!(keys(b"\x1b[5~\x1b[6~\x1b[1~\x1b[F"), [Key::PageUp, Key::PageDown, Key::Home, Key::End]);
        assert_eq!(keys(b"\x1b\x1b[\xff\xd0\xb9"), []);
    }
}
