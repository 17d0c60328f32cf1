//! What a command of this program prints as JSON, from a process of its own: looking at drives and targets may hang and needs no server. Must
//! not know what the command does.

use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};
use stend_base::{Error, Result, say};

/// The largest answer, and how long it may take. By eye: a dry run of a large array takes seconds.
const OUTPUT_MAX: u64 = 64 << 20;
const TIME: Duration = Duration::from_secs(120);

/// The variable that names the server which the command line asks.
pub const SERVER: &str = "STEND_SERVER";

/// What a command prints that reads `input`.
///
/// Errors: that of the command; `Preflight` if it takes too long.
pub fn printed(program: &Path, words: &[&str], input: &str) -> Result<Vec<u8>> {
    printed_in(program, words, input, Path::new("/"))
}

/// The same, and no longer than this.
///
/// Errors: as [`printed`].
pub fn printed_within(program: &Path, words: &[&str], input: &str, time: Duration) -> Result<Vec<u8>> {
    limited(program, words, input, Path::new("/"), time)
}

/// The same in a directory, where the names of files begin.
///
/// Errors: as [`printed`].
pub fn printed_in(program: &Path, words: &[&str], input: &str, directory: &Path) -> Result<Vec<u8>> {
    limited(program, words, input, directory, TIME)
}

/// What a command prints whose document has itself what failed; it counts if there is one, however the command ended.
///
/// Errors: as [`printed`].
pub fn printed_in_any_case(program: &Path, words: &[&str]) -> Result<Vec<u8>> {
    let (done, shown) = ended(program, words, "", Path::new("/"), TIME)?;
    match done.output.is_empty() {
        false => Ok(done.output),
        true => Err(said(&shown, &String::from_utf8_lossy(&done.errors))),
    }
}

fn limited(program: &Path, words: &[&str], input: &str, directory: &Path, time: Duration) -> Result<Vec<u8>> {
    let (done, shown) = ended(program, words, input, directory, time)?;
    match done.status.success() {
        true => Ok(done.output),
        false => Err(said(&shown, &String::from_utf8_lossy(&done.errors))),
    }
}

/// How a command ended, and its name.
fn ended(program: &Path, words: &[&str], input: &str, directory: &Path, time: Duration) -> Result<(Done, String)> {
    // The verb with its first options tells enough; a history names a hundred files.
    let shown = words.iter().take(4).filter(|word| **word != "--").copied().collect::<Vec<_>>().join(" ");
    let mut command = Command::new(program);
    // It looks at this machine, even if this server was started where another one is asked.
    command.args(words).current_dir(directory).env_remove(SERVER);
    let done = fed(command, &format!("stend {shown}"), input, time)?;
    Ok((done, shown))
}

/// How a program ended, and what it printed.
pub struct Done {
    /// Its exit code, or its signal.
    pub status: ExitStatus,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Its standard error.
    pub errors: Vec<u8>,
}

/// Has a program read `input` and end.
///
/// Errors: `Preflight` if it cannot be started, or takes longer than this.
fn fed(mut command: Command, shown: &str, input: &str, time: Duration) -> Result<Done> {
    let failed = |error: io::Error| {
        Error::preflight(say!("`{shown}` cannot be started: {error}", "не удаётся запустить `{shown}`: {error}"))
    };
    let file = || stend_sys::process::memory_file().map_err(failed);
    let (mut stdin, mut output, mut errors) = (file()?, file()?, file()?);
    let same = |file: &File| file.try_clone().map_err(failed);
    stdin.write_all(input.as_bytes()).and_then(|()| stdin.rewind()).map_err(failed)?;
    let mut child = command.stdin(stdin).stdout(same(&output)?).stderr(same(&errors)?).spawn().map_err(failed)?;
    let deadline = Instant::now() + time;
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if Instant::now() > deadline => {
                drop(child.kill());
                // One that hangs in the kernel ends when its drive answers. The request does not wait for that.
                std::thread::spawn(move || child.wait());
                return Err(took_too_long(shown, time));
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let read = |file: &mut File| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.take(OUTPUT_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    if output.metadata().map_err(failed)?.len() > OUTPUT_MAX {
        return Err(printed_too_much(shown));
    }
    Ok(Done { status, output: read(&mut output).map_err(failed)?, errors: read(&mut errors).map_err(failed)? })
}

fn printed_too_much(shown: &str) -> Box<Error> {
    let most = OUTPUT_MAX >> 20;
    Error::preflight(say!("`{shown}` printed more than {most} MiB", "`{shown}` напечатал больше {most} МиБ"))
        .hint(say!("ask for less, such as fewer runs", "запросите меньше, например меньше прогонов"))
}

fn took_too_long(shown: &str, time: Duration) -> Box<Error> {
    let seconds = time.as_secs();
    Error::preflight(say!("`{shown}` took more than {seconds} s", "`{shown}` работал дольше {seconds} с"))
}

/// The error that a command printed as JSON, on a line among notes for people.
fn said(shown: &str, text: &str) -> Box<Error> {
    #[derive(Deserialize)]
    struct Failed {
        error: Option<Error>,
    }
    let printed = text.lines().rev().find_map(|line| serde_json::from_str::<Failed>(line).ok()?.error);
    printed.map_or_else(
        || Error::bug(say!("`stend {shown}` ended without a result", "`stend {shown}` закончился без результата")),
        Box::new,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn an_error_is_found_behind_notes() {
        let error = Error::new(stend_base::Code::TargetRefused, say!("no", "нет")).hint(say!("x", "y"));
        let printed = stend_report::error_json(&error);
        assert_eq!(said("run", &format!("a note\n{printed}")), error);
        assert_eq!(said("run", "killed").kind, Kind::Bug);
    }

    #[test]
    fn more_than_is_read_is_an_error_and_no_half_document() {
        let bytes = (OUTPUT_MAX + 1).to_string();
        let error = printed(Path::new("/usr/bin/head"), &["-c", &bytes, "/dev/zero"], "").unwrap_err();
        assert!(error.kind == Kind::Preflight && error.message.en.contains("64 MiB"), "{error}");
    }

    #[test]
    fn a_command_that_cannot_be_started_or_says_nothing_is_named() {
        let none = printed(Path::new("/no/such/program"), &["inspect"], "").unwrap_err();
        assert!(none.kind == Kind::Preflight && none.message.en.contains("stend inspect"), "{none}");
        assert_eq!(printed(Path::new("/bin/false"), &["inspect"], "").unwrap_err().kind, Kind::Bug);
        assert_eq!(printed(Path::new("/bin/cat"), &["-"], "text").unwrap(), b"text");
        // `cat` prints the one file, and ends with an error because of the other.
        let words = ["/proc/sys/kernel/ostype", "/no/such/file"];
        assert!(printed(Path::new("/bin/cat"), &words, "").is_err());
        assert_eq!(printed_in_any_case(Path::new("/bin/cat"), &words).unwrap(), b"Linux\n");
        assert!(printed_in_any_case(Path::new("/bin/false"), &[]).is_err());
    }
}
