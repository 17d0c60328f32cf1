//! Printing: results to standard output, everything else to standard error.

use crate::remote::Remote;
use clap::ArgMatches;
use std::io::{BufWriter, IsTerminal, Write};
use stend_base::{Error, Lang, Result, say};

/// Widest text we lay out, even on wider terminals.
const WIDTH_MAX: usize = 120;
/// Width when the terminal does not say.
const WIDTH_DEFAULT: usize = 80;

/// How this process talks to people and programs.
pub struct Out {
    /// Language of texts for people.
    pub lang: Lang,
    /// Results as JSON.
    pub json: bool,
    /// The server whose runs and machine are meant; `None`: this machine.
    pub remote: Option<Remote>,
    colour: Option<bool>,
    /// The standard output was a terminal at the start.
    terminal: bool,
}

impl Out {
    /// As the global flags say.
    pub fn new(matches: &ArgMatches, lang: Lang) -> Out {
        let arguments = matches.subcommand().map_or(matches, |(_, arguments)| arguments);
        let colour = match arguments.get_one::<String>("color").map(String::as_str) {
            Some("always") => Some(true),
            Some("never") => Some(false),
            _ => None,
        };
        Out { lang, json: arguments.get_flag("json"), remote: None, colour, terminal: std::io::stdout().is_terminal() }
    }

    /// Whether the standard output gets colours: as asked, else on a terminal without `NO_COLOR`.
    pub fn colour(&self) -> bool {
        self.colour.unwrap_or_else(|| self.terminal && plain_environment().is_none())
    }

    /// Whether somebody sits at a terminal who reads questions and can answer them.
    pub fn has_person(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Columns of the terminal.
    pub fn width(&self) -> usize {
        columns(std::io::stdout())
    }

    /// Writes a result: a document where JSON is asked for, else a text for people or a page. Nothing in it steers a terminal. A reader
    /// that closed the pipe has seen enough; a terminal that was hung up has no reader.
    pub fn result(&self, text: &str) -> Result<()> {
        let text = match self.json {
            true => stend_report::json_for_terminal(text),
            false => stend_report::for_terminal(text, self.colour()),
        };
        let newline = if text.ends_with('\n') { "" } else { "\n" };
        self.write(|to| write!(to, "{text}{newline}"))
    }

    /// As [`result`](Self::result), of something that goes on: whether somebody still reads it.
    pub fn is_read(&self, text: &str) -> Result<bool> {
        self.result(text)?;
        // What follows the last reader of a pipe is lost; only the next write would tell.
        Ok(!is_closed(std::io::stdout()))
    }

    /// Writes a file that was asked for on the standard output, piece by piece: byte for byte, but to a terminal as [`result`](Self::result).
    pub fn stream(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        if !self.terminal {
            return self.write(write);
        }
        self.write(|to| {
            let mut visible = Visible { to, line: Vec::new() };
            write(&mut visible).and_then(|()| visible.end())
        })
    }

    fn write(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        let mut stdout = BufWriter::new(std::io::stdout().lock());
        match write(&mut stdout).and_then(|()| stdout.flush()) {
            Err(e) if !self.nobody_reads(&e) => {
                Err(Error::preflight(say!("cannot write the result: {e}", "не удаётся вывести результат: {e}")))
            }
            _ => Ok(()),
        }
    }

    fn nobody_reads(&self, error: &std::io::Error) -> bool {
        let hung_up = error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
        error.kind() == std::io::ErrorKind::BrokenPipe || self.terminal && hung_up
    }

    /// Hands on what another program printed, as it is.
    pub fn relay(&self, bytes: &[u8], errors: bool) -> Result<()> {
        if errors {
            // As with our own notes: nobody is left to tell.
            drop(std::io::stderr().write_all(bytes));
            return Ok(());
        }
        self.write(|to| to.write_all(bytes))
    }

    /// Writes a line for people, beside the result.
    pub fn note(&self, text: &str) {
        // Nobody is left to tell if even the standard error is closed.
        drop(writeln!(std::io::stderr(), "{}", for_errors(&stend_report::for_terminal(text, false))));
    }

    /// Writes an error.
    pub fn error(&self, error: &Error) {
        print_error(error, self.lang, self.json);
    }
}

/// Writes an error as text, or as JSON where a program reads.
pub fn print_error(error: &Error, lang: Lang, json: bool) {
    let mut stderr = std::io::stderr();
    let text = match json {
        true => stend_report::json_for_terminal(&stend_report::error_json(error)),
        // What a file or a user named is in it, and must not steer the terminal.
        false => error.render(lang).lines().map(stend_report::clean).collect::<Vec<_>>().join("\n"),
    };
    drop(writeln!(stderr, "{}", if json { text } else { for_errors(&text) }));
}

/// A text of the standard error: in lines that fit, if a terminal shows them.
fn for_errors(text: &str) -> String {
    let stderr = std::io::stderr();
    match stderr.is_terminal() {
        true => stend_report::wrapped(text, columns(stderr)),
        false => text.to_string(),
    }
}

/// Whether the other end of a pipe or of a terminal is gone.
fn is_closed(stream: impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut ready = [PollFd::new(&stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut ready, Some(&now)).is_ok() && ready[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Columns of a terminal, or of where one is expected.
fn columns(stream: impl std::os::fd::AsFd) -> usize {
    let columns = rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    let columns = columns.filter(|c| *c > 0).or_else(|| std::env::var("COLUMNS").ok()?.parse().ok());
    columns.unwrap_or(WIDTH_DEFAULT).clamp(20, WIDTH_MAX)
}

/// What goes to a terminal line by line, without anything that steers it.
struct Visible<'a> {
    to: &'a mut dyn Write,
    /// Its beginning, without the end.
    line: Vec<u8>,
}

impl Visible<'_> {
    /// Writes what has no end of line.
    fn end(&mut self) -> std::io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.to.write_all(stend_report::for_terminal(&String::from_utf8_lossy(&line), false).as_bytes())
    }
}

impl Write for Visible<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // In between a letter of several bytes may be cut.
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend(piece);
            if self.line.ends_with(b"\n") {
                self.end()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

/// The reason not to use colours, if the environment gives one.
pub fn plain_environment() -> Option<&'static str> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    match () {
        () if set("NO_COLOR") => Some("NO_COLOR"),
        () if std::env::var_os("TERM").is_some_and(|t| t == "dumb") => Some("TERM"),
        () => None,
    }
}
