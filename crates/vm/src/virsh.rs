//! Runs `virsh`: with a limit of time, in plain English, without input. Must not know what is asked.

use std::collections::BTreeSet;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use stend_base::{Error, Result, say};

/// Longest time of a command. The first connection to a daemon that starts looks at every emulator, which took 8 s.
const TIME_MAX: Duration = Duration::from_secs(120);
/// How often it is looked whether a command has ended.
const TICK: Duration = Duration::from_millis(5);
/// Most output that is read: the XML of a domain has some 10 KiB.
const OUTPUT_MAX: u64 = 4 << 20;

/// libvirt, as it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Virsh {
    connection: Option<String>,
}

impl Virsh {
    /// What is behind this connection; `None`: what `virsh` takes by itself.
    pub fn new(connection: Option<&str>) -> Virsh {
        Virsh { connection: connection.map(String::from) }
    }

    /// What it was made for.
    pub fn connection(&self) -> Option<&str> {
        self.connection.as_deref()
    }

    /// The words of a command, as people would give it.
    pub fn words(&self, words: &[&str]) -> Vec<String> {
        let connection = self.connection.iter().flat_map(|uri| ["--connect".to_string(), uri.clone()]);
        let program = ["virsh".to_string(), "--quiet".to_string()];
        program.into_iter().chain(connection).chain(words.iter().map(|word| word.to_string())).collect()
    }

    /// What a command prints.
    ///
    /// Errors: `Preflight` where it cannot be started, fails or takes longer than two minutes.
    pub fn run(&self, words: &[&str]) -> Result<String> {
        self.run_within(words, TIME_MAX)
    }

    /// The same for what may take its time.
    pub fn run_within(&self, words: &[&str], limit: Duration) -> Result<String> {
        let all = self.words(words);
        let (status, out, complaint) = executed(&all, limit).map_err(|error| not_executed(&all, &error))?;
        if status.success() {
            return Ok(out);
        }
        let (shown, complaint) = (all.join(" "), gist(&complaint));
        Err(Error::preflight(say!(
            "`{shown}` failed: {complaint}",
            "команда `{shown}` завершилась неудачей: {complaint}"
        )))
    }

    /// By which libvirt it is reached, if it answers.
    ///
    /// Errors: `Preflight` where there is none.
    pub fn uri(&self) -> Result<String> {
        let answer = self.run(&["uri"]).map_err(|error| {
            error.or_hint(say!(
                "libvirt must run on this machine (`systemctl start libvirtd`), and this user must be allowed to use it",
                "libvirt должен работать на этой машине (`systemctl start libvirtd`) и быть доступен этому пользователю"
            ))
        })?;
        Ok(answer.trim().to_string())
    }

    /// UUIDs of all domains.
    pub fn domains(&self) -> Result<BTreeSet<String>> {
        Ok(lines(&self.run(&["list", "--all", "--uuid"])?))
    }

    /// Names of all domains.
    pub fn names(&self) -> Result<BTreeSet<String>> {
        Ok(lines(&self.run(&["list", "--all", "--name"])?))
    }
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from).collect()
}

fn executed(words: &[String], limit: Duration) -> io::Result<(ExitStatus, String, String)> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let [(out, out_writer), (err, err_writer)] = [io::pipe()?, io::pipe()?];
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(out_writer).stderr(err_writer);
    // A group of its own: Ctrl-C is for us, who undo what was begun. A question for a password could not be answered.
    command.env("LC_ALL", "C").env_remove("DISPLAY").process_group(0);
    stend_sys::process::die_with_parent(&mut command);
    let mut child = command.spawn()?;
    // Our ends of the pipes go with the command.
    drop(command);
    let (out, err) = (std::thread::spawn(|| kept(out)), std::thread::spawn(|| kept(err)));
    let begun = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if begun.elapsed() < limit => std::thread::sleep(TICK),
            None => {
                stend_sys::process::kill_group(&child)?;
                child.wait()?;
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    };
    Ok((status, out.join().unwrap_or_default(), err.join().unwrap_or_default()))
}

/// The beginning of what comes; the rest is read and forgotten.
fn kept(mut from: PipeReader) -> String {
    let mut bytes = Vec::new();
    // What breaks off has said what it had to say.
    drop(from.by_ref().take(OUTPUT_MAX).read_to_end(&mut bytes));
    drop(io::copy(&mut from, &mut io::sink()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a command complains of: several lines follow each other where one call fails in another.
fn gist(complaint: &str) -> String {
    let clean = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let lines: Vec<String> = complaint
        .lines()
        .map(|line| clean(line.trim().trim_start_matches("error: ")))
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(2)..].join("; ")
}

fn not_executed(words: &[String], error: &io::Error) -> Box<Error> {
    let shown = words.join(" ");
    let failed = Error::preflight(say!("cannot execute `{shown}`: {error}", "не удаётся выполнить `{shown}`: {error}"));
    match error.kind() {
        io::ErrorKind::NotFound => failed.hint(say!(
            "virtual machines need libvirt: packages libvirt-daemon-system, libvirt-clients and qemu-system-x86",
            "виртуальным машинам нужен libvirt: пакеты libvirt-daemon-system, libvirt-clients и qemu-system-x86"
        )),
        _ => failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn a_connection_stands_before_the_words_of_a_command() {
        assert_eq!(Virsh::new(None).words(&["uri"]), ["virsh", "--quiet", "uri"]);
        let words = Virsh::new(Some("qemu:///session")).words(&["start", "x"]);
        assert_eq!(words, ["virsh", "--quiet", "--connect", "qemu:///session", "start", "x"]);
    }

    #[test]
    fn what_a_command_complains_of_is_short_and_cannot_steer_a_terminal() {
        let told = "error: Failed to start domain 'x'\nerror: internal error:\x1b[2J no\n\n";
        assert_eq!(gist(told), "Failed to start domain 'x'; internal error:[2J no");
        assert_eq!(gist(""), "");
    }

    #[test]
    fn a_program_that_is_missing_says_which_packages_have_it() {
        let words = ["/nowhere/virsh".to_string()];
        let error = not_executed(&words, &executed(&words, TIME_MAX).unwrap_err());
        assert!(error.kind == Kind::Preflight && error.hint.is_some_and(|hint| hint.en.contains("libvirt-clients")));
    }

    #[test]
    fn both_outputs_are_read_however_long_they_are() {
        let script = "head -c 9000000 /dev/zero; head -c 100000 /dev/zero >&2; exit 3";
        let (status, out, err) = executed(&["sh", "-c", script].map(String::from), TIME_MAX).unwrap();
        assert_eq!((status.code(), out.len() as u64, err.len()), (Some(3), OUTPUT_MAX, 100_000));
    }
}
