//! Runs a program that delivers a message: with input, a limit of time, and secrets that no list of processes shows.

use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use stend_base::{Say, say};
use stend_sys::process::{die_with_parent, keep_open, kill_group, memory_file};

/// Longest time for one message; `curl` itself gives up after less.
const TIME_MAX: Duration = Duration::from_secs(60);
/// Most that is read of its answer.
const OUTPUT_MAX: u64 = 16 << 10;
const TICK: Duration = Duration::from_millis(20);
/// Stands for the path of what is hidden, in an argument.
pub const HIDDEN: &str = "@HIDDEN@";

/// A program with its arguments.
pub struct Program<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its arguments; [`HIDDEN`] is replaced by the path of what is hidden.
    pub arguments: Vec<String>,
    /// What it reads from its standard input.
    pub input: &'a str,
    /// What it reads from a file in memory that only it sees.
    pub hidden: Option<&'a str>,
    /// More of its environment.
    pub environment: Vec<(&'static str, String)>,
}

impl Program<'_> {
    /// What it printed, once it ended well; else why not, in its own words.
    pub fn run(self) -> Result<String, Say> {
        let name = self.name;
        self.executed().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                say!("the program `{name}` is not installed", "программа `{name}` не установлена")
            }
            _ => Say::same(format!("`{name}`: {error}")),
        })
    }

    fn executed(self) -> std::io::Result<String> {
        let mut command = Command::new(self.name);
        let mut path = String::new();
        if let Some(hidden) = self.hidden {
            let mut file = memory_file()?;
            file.write_all(hidden.as_bytes())?;
            path = format!("/proc/self/fd/{}", file.as_raw_fd());
            keep_open(&mut command, OwnedFd::from(file));
        }
        command
            .args(self.arguments.iter().map(|argument| argument.replace(HIDDEN, &path)))
            .envs(self.environment)
            .env("LC_ALL", "C")
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        die_with_parent(&mut command);
        let mut child = command.spawn()?;
        drop(command);
        let (out, err) = (gather(child.stdout.take())?, gather(child.stderr.take())?);
        if let Some(mut stdin) = child.stdin.take() {
            let text = self.input.to_string();
            // One that reads nothing does not hold us up; it says itself why it failed.
            std::thread::Builder::new().name("input".into()).spawn(move || drop(stdin.write_all(text.as_bytes())))?;
        }
        let status = wait(&mut child)?;
        let [out, err] = [out, err].map(|text| text.recv_timeout(TICK * 25).unwrap_or_default());
        match status {
            Some(status) if status.success() => Ok(out),
            Some(status) => Err(std::io::Error::other(format!("{} ({status})", reason(self.name, &err)))),
            None => Err(std::io::ErrorKind::TimedOut.into()),
        }
    }
}

/// Why a program failed, in its own words: the last line that it begins with its name, which `curl` explains in lines below, or else the
/// last one.
fn reason<'a>(name: &str, err: &'a str) -> &'a str {
    let own = err.lines().rfind(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")));
    own.or_else(|| err.lines().rfind(|line| !line.trim().is_empty())).unwrap_or("no word why").trim()
}

/// Reads a stream to its end on a thread, so that a full pipe does not stop the program.
fn gather(from: Option<impl Read + Send + 'static>) -> std::io::Result<std::sync::mpsc::Receiver<String>> {
    let (give, text) = std::sync::mpsc::channel();
    let read = move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // What came before an error counts; what is too much is read and forgotten.
            drop(from.by_ref().take(OUTPUT_MAX).read_to_end(&mut bytes));
            drop(std::io::copy(&mut from, &mut std::io::sink()));
        }
        // The one who asked may be gone.
        drop(give.send(String::from_utf8_lossy(&bytes).into_owned()));
    };
    std::thread::Builder::new().name("output".into()).spawn(read)?;
    Ok(text)
}

/// How it ended; `None`: it was killed after too long a time.
fn wait(child: &mut Child) -> std::io::Result<Option<std::process::ExitStatus>> {
    let begun = Instant::now();
    while begun.elapsed() < TIME_MAX {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(TICK);
    }
    kill_group(child)?;
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Program<'_> {
        let arguments = ["-c", script, "sh", HIDDEN].map(String::from).to_vec();
        Program {
            name: "sh",
            arguments,
            input: "text",
            hidden: Some("secret"),
            environment: vec![("SHOWN", "x".into())],
        }
    }

    #[test]
    fn input_hidden_text_and_environment_arrive_and_a_failure_has_the_words_of_the_program() {
        assert_eq!(sh("cat; cat $1; echo $SHOWN").run().unwrap(), "textsecretx\n");
        let why = sh("echo first >&2; echo 'it is closed' >&2; exit 7").run().unwrap_err();
        assert_eq!(why.en, "`sh`: it is closed (exit status: 7)");
        let absent = Program { name: "/absent/curl", ..sh("") };
        assert!(absent.run().unwrap_err().en.ends_with("is not installed"));
    }

    #[test]
    fn the_reason_of_a_failure_is_the_line_with_the_name_of_the_program_and_not_what_explains_it() {
        let curl = "curl: (60) SSL certificate problem: self-signed certificate\nMore details here: https://curl.se\n\nhow to fix it, \
            please visit the web page mentioned above.\n";
        assert_eq!(reason("curl", curl), "curl: (60) SSL certificate problem: self-signed certificate");
        assert_eq!((reason("curl", "Warning: x\n\n"), reason("curl", "curls: x")), ("Warning: x", "curls: x"));
        assert_eq!(reason("curl", " \n"), "no word why");
    }

    #[test]
    fn a_program_that_prints_without_end_or_reads_nothing_does_not_hold_us_up() {
        assert_eq!(sh("yes | head -c 1000000").run().unwrap().len() as u64, OUTPUT_MAX);
        let much = "x".repeat(1 << 20);
        assert_eq!(Program { input: &much, ..sh("echo done") }.run().unwrap(), "done\n");
    }
}
