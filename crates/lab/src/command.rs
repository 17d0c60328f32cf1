//! A command in a machine that stays up: what host and guest say to each other about it, and the guest's part, which
//! executes it. Must not decide what is executed.

use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stend_sys::process::kill_group;
use stend_wire::protocol::{read_frame, write_frame};

/// Bytes of output in one message.
const PIECE: usize = 32 << 10;
/// Output of a command that has ended may take this long to arrive; what it left running keeps the pipe open.
const LATE_OUTPUT: Duration = Duration::from_millis(500);
/// How often the end of a command is looked for.
const TICK: Duration = Duration::from_millis(10);

/// Requests to a guest.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum ToGuest {
    /// Execute this program with these arguments; whether it gets an input.
    Execute { words: Vec<String>, input: bool },
    /// More of its input; nothing: its end.
    Input(Vec<u8>),
}

/// What a guest tells.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum FromGuest {
    /// From the standard output.
    Output(Vec<u8>),
    /// From the standard error.
    Errors(Vec<u8>),
    /// It ended with this code; 128 and the number of the signal, if one ended it; 127 if it could not be started.
    Ended(i32),
}

/// Executes what one host asks for, over a port that host and guest have met on. Returns when that host is gone.
pub fn serve(port: &mut impl Read, to: impl Write + Send + 'static) -> io::Result<()> {
    let told = read_frame(port)?;
    let to = Arc::new(Mutex::new(to));
    let Some(ToGuest::Execute { words, input }) = told else { return Ok(()) };
    let mut child = match start(&words, input) {
        Ok(child) => child,
        Err(error) => {
            let refused = format!("{}: {error}\n", words.first().map_or("", String::as_str));
            tell(&to, &FromGuest::Errors(refused.into_bytes()))?;
            return tell(&to, &FromGuest::Ended(127));
        }
    };
    let mut stdin = child.stdin.take();
    let ends = Arc::new(Mutex::new(child));
    let watched = ends.clone();
    let watcher = std::thread::Builder::new().name("command".into()).spawn(move || watch(&watched, &to))?;
    // The host goes when it has heard of the end, or before.
    let heard = listen(port, &mut stdin);
    drop(stdin);
    if !watcher.is_finished() {
        // It may just have ended.
        drop(kill_group(&ends.lock().unwrap_or_else(PoisonError::into_inner)));
    }
    drop(watcher.join());
    heard
}

fn start(words: &[String], input: bool) -> io::Result<Child> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command.stdin(if input { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Hands on what the host says until it is gone.
fn listen(port: &mut impl Read, stdin: &mut Option<ChildStdin>) -> io::Result<()> {
    while let Some(ToGuest::Input(bytes)) = read_frame(port)? {
        let open = stdin.as_mut().is_some_and(|input| input.write_all(&bytes).is_ok());
        if bytes.is_empty() || !open {
            *stdin = None;
        }
    }
    Ok(())
}

/// Tells what the command prints, and then how it ended.
fn watch(child: &Mutex<Child>, to: &Arc<Mutex<impl Write + Send + 'static>>) {
    let taken = {
        let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
        (child.stdout.take(), child.stderr.take())
    };
    let readers = [
        taken.0.and_then(|from| follow(from, to.clone(), FromGuest::Output)),
        taken.1.and_then(|from| follow(from, to.clone(), FromGuest::Errors)),
    ];
    let status = loop {
        match child.lock().unwrap_or_else(PoisonError::into_inner).try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => break status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            Err(_) => break 127,
        }
        std::thread::sleep(TICK);
    };
    let since = Instant::now();
    while since.elapsed() < LATE_OUTPUT && readers.iter().flatten().any(|reader| !reader.is_finished()) {
        std::thread::sleep(TICK);
    }
    // The caller may be gone.
    drop(tell(to, &FromGuest::Ended(status)));
}

fn follow(
    mut from: impl Read + Send + 'static,
    to: Arc<Mutex<impl Write + Send + 'static>>,
    as_message: fn(Vec<u8>) -> FromGuest,
) -> Option<std::thread::JoinHandle<()>> {
    let read = move || {
        let mut piece = vec![0; PIECE];
        while let Ok(read @ 1..) = from.read(&mut piece) {
            if tell(&to, &as_message(piece[..read].to_vec())).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("output".into()).spawn(read).ok()
}

fn tell(to: &Mutex<impl Write>, message: &FromGuest) -> io::Result<()> {
    write_frame(&mut *to.lock().unwrap_or_else(PoisonError::into_inner), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::Socket;
    use std::fs::File;

    /// What a guest tells a host that says this and waits for the end.
    fn told(words: &[&str], input: Option<&[u8]>) -> Vec<FromGuest> {
        let (mut host, guest) = Socket::pair().unwrap();
        let mut guest = File::from(guest);
        let to = guest.try_clone().unwrap();
        let served = std::thread::spawn(move || serve(&mut guest, to));
        let words = words.iter().map(|word| word.to_string()).collect();
        write_frame(&mut host, &ToGuest::Execute { words, input: input.is_some() }).unwrap();
        for piece in input.iter().flat_map(|bytes| [bytes.to_vec(), Vec::new()]) {
            write_frame(&mut host, &ToGuest::Input(piece)).unwrap();
        }
        let mut told = Vec::new();
        while !matches!(told.last(), Some(FromGuest::Ended(_))) {
            told.push(read_frame(&mut host).unwrap().unwrap());
        }
        host.hang_up();
        served.join().unwrap().unwrap();
        told
    }

    #[test]
    fn a_command_gets_its_input_and_both_outputs_and_its_end_are_told() {
        let found = told(&["sh", "-c", "cat; exit 3"], Some(b"words"));
        assert_eq!(found, [FromGuest::Output(b"words".to_vec()), FromGuest::Ended(3)]);
        let found = told(&["sh", "-c", "echo x >&2; kill -9 $$"], None);
        assert_eq!(found, [FromGuest::Errors(b"x\n".to_vec()), FromGuest::Ended(137)]);
        let found = told(&["/nowhere/tool"], None);
        assert!(
            matches!(&found[..], [FromGuest::Errors(told), FromGuest::Ended(127)] if told.starts_with(b"/nowhere/tool: "))
        );
    }
}
