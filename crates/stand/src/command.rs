//! Executes a command that the user's suite names: without a shell, without input, with a limit on its time
//! and on what is kept of its output.

use std::io::{PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_record::EventKind;
use stend_spec::arm::line;
use stend_sys::process::kill_group;

/// Longest time a command may take: building an initramfs takes minutes.
const TIME_MAX: Duration = Duration::from_secs(600);
/// Most output that is kept.
const OUTPUT_MAX: usize = 64 << 10;
/// How often an end, a stop and the limit are looked at.
const TICK: Duration = Duration::from_millis(10);
/// Output of a command that has ended may take this long to arrive; a daemon that it left behind keeps the
/// pipe open for ever.
const LATE_OUTPUT: Duration = Duration::from_millis(500);

/// Executes a command to its end and returns both outputs, as they came.
///
/// Errors of kind `Preflight`: it cannot be started, fails, or takes longer than ten minutes; of kind `Interrupted` if
/// `stopped` is true first. It goes to `log` in any case.
pub(crate) fn execute(words: &[String], stopped: &dyn Fn() -> bool, log: &mut dyn FnMut(EventKind)) -> Result<String> {
    executed(words, false, stopped, log)
}

/// [`execute`] for commands whose words are ours: in no language but the plain one, so that their answers can be read; from the root,
/// so that no word can be taken for a file of where the user happens to be; and they end with this process.
pub(crate) fn execute_plainly(
    words: &[String],
    stopped: &dyn Fn() -> bool,
    log: &mut dyn FnMut(EventKind),
) -> Result<String> {
    executed(words, true, stopped, log)
}

/// The words of a command: those of a line without quotes, and more.
pub(crate) fn words(line: &str, more: &[&str]) -> Vec<String> {
    line.split(' ').chain(more.iter().copied()).map(str::to_string).collect()
}

/// What a command tells that changes nothing.
pub(crate) fn told(words: &[String]) -> std::result::Result<String, Say> {
    execute_plainly(words, &|| false, &mut |_| {}).map_err(|error| error.message)
}

/// The standard output of a command of ours that changes nothing, without its warnings; the error is what it said of its failure.
pub(crate) fn printed(words: &[String]) -> std::result::Result<String, String> {
    match ask(words, TIME_MAX) {
        Ok(Answer { exit: Some(0), out, .. }) => Ok(out),
        Ok(Answer { err, .. }) => Err(err),
        Err(error) => Err(error.to_string()),
    }
}

/// What a program that only looks said.
#[derive(Debug)]
pub struct Answer {
    /// Its exit code; `None` where a signal ended it.
    pub exit: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its errors.
    pub err: String,
}

/// Executes a program that only looks, as [`execute_plainly`] does, and tells its answer whole, also where that says no. It leaves no event.
///
/// Fails where it cannot be started, with `TimedOut` where it takes longer than `patience`, and where it prints more than is kept.
pub(crate) fn ask(words: &[String], patience: Duration) -> std::io::Result<Answer> {
    ask_within(words, patience, OUTPUT_MAX, &|| false)
}

/// The same with a limit of bytes of its own for each output, until `stopped` is true: then it is killed, too.
///
/// Fails where it cannot be started, with `TimedOut` after `patience`, with `Interrupted` when it was stopped, and
/// with `InvalidData` where it prints more than `most`.
pub fn ask_within(
    words: &[String],
    patience: Duration,
    most: usize,
    stopped: &dyn Fn() -> bool,
) -> std::io::Result<Answer> {
    let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    let [(out, out_writer), (err, err_writer)] = [std::io::pipe()?, std::io::pipe()?];
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).process_group(0);
    plain(&mut command);
    command.env_remove("LIBBLKID_DEBUG");
    let child = command.stdout(out_writer).stderr(err_writer).spawn()?;
    drop(command);
    let (out, err) = (Output::read(out, most)?, Output::read(err, most)?);
    let status = match wait(child, patience, stopped)? {
        Ok(status) => status,
        Err(Cut::Late) => return Err(std::io::ErrorKind::TimedOut.into()),
        Err(Cut::Stopped) => return Err(std::io::ErrorKind::Interrupted.into()),
    };
    let (out, err) = (out.text(), err.text());
    match out.len() >= most - 1 {
        true => Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "it prints too much")),
        false => Ok(Answer { exit: status.code(), out, err }),
    }
}

fn executed(
    words: &[String],
    plainly: bool,
    stopped: &dyn Fn() -> bool,
    log: &mut dyn FnMut(EventKind),
) -> Result<String> {
    let shown = line(words);
    let cannot = |e: std::io::Error| {
        Error::preflight(say!("cannot execute `{shown}`: {e}", "не удаётся выполнить `{shown}`: {e}"))
    };
    let (program, arguments) = words.split_first().ok_or_else(|| cannot(std::io::ErrorKind::InvalidInput.into()))?;
    let (reader, writer) = std::io::pipe().map_err(cannot)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).process_group(0);
    if plainly {
        plain(&mut command);
    }
    let child = command.stdout(writer.try_clone().map_err(cannot)?).stderr(writer).spawn().map_err(cannot)?;
    // Our own ends of the pipe go with the command.
    drop(command);
    let output = Output::read(reader, OUTPUT_MAX).map_err(cannot)?;
    let ended = wait(child, TIME_MAX, stopped).map_err(cannot)?;
    let text = output.text();
    let exit = ended.as_ref().ok().and_then(ExitStatus::code);
    log(EventKind::Command { argv: words.to_vec(), exit, output: text.clone() });
    let last = gist(&text);
    match ended {
        Ok(status) if status.success() => Ok(text),
        Ok(status) => Err(Error::preflight(say!(
            "`{shown}` failed ({status}): {last}",
            "команда `{shown}` завершилась неудачей ({status}): {last}"
        ))),
        Err(Cut::Stopped) => Err(Error::interrupted(say!("`{shown}` was stopped", "команда `{shown}` остановлена"))),
        Err(Cut::Late) => {
            let minutes = TIME_MAX.as_secs() / 60;
            Err(Error::preflight(say!(
                "`{shown}` took longer than {minutes} minutes and was killed: {last}",
                "команда `{shown}` шла дольше {minutes} минут и была прервана: {last}"
            )))
        }
    }
}

/// Has a command of ours answer in the plain language, from the root, and end with this process.
fn plain(command: &mut Command) {
    // LVM complains of each descriptor that it inherits, and blames who started it.
    command.env("LC_ALL", "C").env("LVM_SUPPRESS_FD_WARNINGS", "1").current_dir("/");
    stend_sys::process::die_with_parent(command);
}

/// What a command told of its failure: some say it first and explain their use after it, others say it last.
fn gist(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next_back()) {
        (Some(first), Some(last)) => format!("{first} … {last}"),
        (only, _) => only.unwrap_or_default().to_string(),
    }
}

/// Why a command did not come to its own end.
enum Cut {
    Stopped,
    Late,
}

fn wait(
    mut child: Child,
    limit: Duration,
    stopped: &dyn Fn() -> bool,
) -> std::io::Result<std::result::Result<ExitStatus, Cut>> {
    let start = Instant::now();
    // Short at first: programs that only look end after milliseconds.
    let mut tick = Duration::from_millis(1);
    let cut = loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ok(status));
        }
        if stopped() {
            break Cut::Stopped;
        }
        if start.elapsed() > limit {
            break Cut::Late;
        }
        std::thread::sleep(tick);
        tick = (tick * 2).min(TICK);
    };
    kill_group(&child)?;
    child.wait()?;
    Ok(Err(cut))
}

/// What a command printed so far.
struct Output {
    text: Arc<Mutex<Vec<u8>>>,
    done: std::sync::mpsc::Receiver<()>,
}

impl Output {
    fn read(mut from: PipeReader, most: usize) -> std::io::Result<Output> {
        let text = Arc::new(Mutex::new(Vec::new()));
        let (all_read, done) = std::sync::mpsc::channel();
        let kept = text.clone();
        let read = move || {
            let mut chunk = [0; 4096];
            while let Ok(n @ 1..) = from.read(&mut chunk) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = most - kept.len();
                kept.extend_from_slice(&chunk[..n.min(room)]);
            }
            // Nobody may be waiting any more.
            let _ = all_read.send(());
        };
        std::thread::Builder::new().name("output".into()).spawn(read)?;
        Ok(Output { text, done })
    }

    fn text(&self) -> String {
        // Late output is left out, not waited for.
        let _ = self.done.recv_timeout(LATE_OUTPUT);
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&text).trim_end().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn the_reason_is_told_wherever_a_command_says_it() {
        assert_eq!(gist("too small\nusage: x\n  size is y\n"), "too small … size is y");
        assert_eq!((gist("\n only \n").as_str(), gist("").as_str()), ("only", ""));
    }

    fn run(words: &[&str]) -> (Result<String>, Vec<EventKind>) {
        let mut log = Vec::new();
        let words: Vec<String> = words.iter().map(|w| w.to_string()).collect();
        (execute(&words, &|| false, &mut |kind| log.push(kind)), log)
    }

    #[test]
    fn both_outputs_and_the_exit_code_are_kept() {
        let (result, log) = run(&["sh", "-c", "echo out; echo err >&2"]);
        assert_eq!(result.unwrap(), "out\nerr");
        assert!(matches!(&log[..], [EventKind::Command { exit: Some(0), output, .. }] if output == "out\nerr"));
        let (result, log) = run(&["sh", "-c", "echo no >&2; exit 3"]);
        let error = result.unwrap_err();
        assert_eq!(error.kind, Kind::Preflight);
        assert!(error.message.en.ends_with("(exit status: 3): no"), "{error}");
        assert!(matches!(&log[..], [EventKind::Command { exit: Some(3), .. }]));
    }

    #[test]
    fn an_answer_has_its_exit_code_and_both_outputs_and_a_limit() {
        let asked = |line: &str, patience| ask(&["sh", "-c", line].map(String::from), patience);
        let long = Duration::from_secs(60);
        let answer = asked("echo $LC_ALL; echo err >&2; exit 2", long).unwrap();
        assert_eq!((answer.exit, answer.out.as_str(), answer.err.as_str()), (Some(2), "C", "err"));
        let late = asked("sleep 1000", Duration::ZERO).unwrap_err();
        assert_eq!(late.kind(), std::io::ErrorKind::TimedOut);
        let much = asked("yes | head -c 300000", long).unwrap_err();
        assert_eq!(much.kind(), std::io::ErrorKind::InvalidData);
        let stopped = ask_within(&["sleep".into(), "1000".into()], long, OUTPUT_MAX, &|| true).unwrap_err();
        assert_eq!(stopped.kind(), std::io::ErrorKind::Interrupted);
        let absent = ask(&["/no/such/program".to_string()], long).unwrap_err();
        assert_eq!(absent.kind(), std::io::ErrorKind::NotFound);
    }

    #[test]
    fn what_a_command_warns_of_is_no_part_of_what_it_printed() {
        let of = |line: &str| printed(&["sh", "-c", line].map(String::from));
        assert_eq!(of("echo WARNING: x >&2; echo main active"), Ok("main active".to_string()));
        assert_eq!(of("echo half; echo not found >&2; exit 5"), Err("not found".to_string()));
        assert_eq!(of("echo $LVM_SUPPRESS_FD_WARNINGS"), Ok("1".to_string()));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let (result, log) = run(&["/no/such/program", "x"]);
        assert!(result.unwrap_err().message.en.starts_with("cannot execute `/no/such/program x`"));
        assert!(log.is_empty(), "nothing was executed");
    }

    #[test]
    fn a_stop_kills_the_command_with_its_children() {
        let words = ["sh", "-c", "sleep 1000 & wait"].map(String::from);
        let error = execute(&words, &|| true, &mut |_| {}).unwrap_err();
        assert_eq!(error.kind, Kind::Interrupted);
    }

    #[test]
    fn a_process_left_in_the_background_is_not_waited_for_and_endless_output_is_cut() {
        let (result, _) = run(&["sh", "-c", "echo started; sleep 5 &"]);
        assert_eq!(result.unwrap(), "started");
        let (result, _) = run(&["sh", "-c", "yes | head -c 300000"]);
        assert_eq!(result.unwrap().len(), OUTPUT_MAX - 1);
    }
}
