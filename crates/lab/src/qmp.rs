//! Speaks with QEMU itself, in its protocol of JSON lines. Must not know what is asked for.

use crate::socket::Socket;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

/// How long an answer may take. QEMU is one thread for all of this, and a busy machine may keep it waiting.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest line that is read.
const LINE_MAX: u64 = 1 << 20;

/// A connection to QEMU.
//= QEMU, docs/interop/qmp-spec: greeting, `qmp_capabilities`, then one answer per command, events in between
#[derive(Debug)]
pub struct Qmp {
    to: Socket,
    from: BufReader<Socket>,
    /// What came of a line whose end has not come yet.
    begun: Vec<u8>,
    events: Vec<Value>,
}

impl Qmp {
    /// Takes QEMU's greeting on a fresh connection.
    pub fn greeted(socket: Socket) -> io::Result<Qmp> {
        socket.patience(Some(PATIENCE))?;
        let from = BufReader::new(socket.another()?);
        let mut qmp = Qmp { to: socket, from, begun: Vec::new(), events: Vec::new() };
        if qmp.line()?.get("QMP").is_none() {
            return Err(io::Error::other("QEMU does not greet"));
        }
        qmp.execute("qmp_capabilities", &json!({}))?;
        Ok(qmp)
    }

    /// Has a command done; what QEMU complains about is the error.
    pub fn execute(&mut self, command: &str, arguments: &Value) -> io::Result<Value> {
        self.to.write_all(&line(command, arguments))?;
        self.answer(command)
    }

    fn answer(&mut self, command: &str) -> io::Result<Value> {
        loop {
            let mut answer = self.line()?;
            if answer.get("event").is_some() {
                self.events.push(answer);
                continue;
            }
            if let Some(error) = answer.get("error") {
                let told = error["desc"].as_str().unwrap_or("?");
                return Err(io::Error::other(format!("QEMU refuses `{command}`: {told}")));
            }
            return Ok(answer["return"].take());
        }
    }

    /// Whether the guest is executed. With a KVM that cannot go on QEMU stays, and its guest stands still for ever.
    //= QEMU, qapi/run-state.json: RunState, `internal-error`
    pub fn executes(&mut self) -> bool {
        self.execute("query-status", &json!({})).is_ok_and(|told| told["status"] != "internal-error")
    }

    /// Has the guest reset, or QEMU end, when the guest restarts itself or is reset from outside.
    //= QEMU, qapi/run-state.json: set-action
    pub fn on_restart(&mut self, ends: bool) -> io::Result<()> {
        let action = if ends { "shutdown" } else { "reset" };
        self.execute("set-action", &json!({"reboot": action})).map(drop)
    }

    /// Has a line of QEMU's own command language done, which says nothing if all is well.
    pub fn monitor(&mut self, line: &str) -> io::Result<()> {
        let told = self.execute("human-monitor-command", &json!({"command-line": line}))?;
        match told.as_str().unwrap_or_default().trim() {
            "" => Ok(()),
            told => Err(io::Error::other(format!("QEMU refuses: {}", told.trim_start_matches("Error: ")))),
        }
    }

    /// Waits for an event for which `wanted` holds, also one that came before; events before it are forgotten.
    ///
    /// Errors: kind `TimedOut` after the limit, which may be longer than an answer may take.
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool, limit: Duration) -> io::Result<()> {
        let found = self.events.drain(..).any(|event| wanted(&event));
        if found {
            return Ok(());
        }
        let waited = self.comes(wanted, Instant::now() + limit);
        self.to.patience(Some(PATIENCE)).and(waited)
    }

    fn comes(&mut self, wanted: impl Fn(&Value) -> bool, until: Instant) -> io::Result<()> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.to.patience(Some(left))?;
            match self.line() {
                Ok(line) if line.get("event").is_some() && wanted(&line) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn line(&mut self) -> io::Result<Value> {
        let room = LINE_MAX.saturating_sub(self.begun.len() as u64);
        if (&mut self.from).take(room).read_until(b'\n', &mut self.begun)? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "QEMU has ended"));
        }
        serde_json::from_slice(&std::mem::take(&mut self.begun)).map_err(io::Error::other)
    }
}

fn line(command: &str, arguments: &Value) -> Vec<u8> {
    format!("{}\n", json!({"execute": command, "arguments": arguments})).into_bytes()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::fs::File;

    /// A QEMU that says these lines, one after each command, and returns the commands.
    pub fn actor(lines: Vec<Value>) -> (Qmp, std::thread::JoinHandle<Vec<Value>>) {
        let (ours, actor) = plays(lines);
        (Qmp::greeted(ours).unwrap(), actor)
    }

    /// The same, before anybody has listened to it.
    pub fn plays(lines: Vec<Value>) -> (Socket, std::thread::JoinHandle<Vec<Value>>) {
        let (ours, theirs) = Socket::pair().unwrap();
        let theirs = File::from(theirs);
        let plays = move || {
            let (mut to, mut from, mut heard) = (&theirs, BufReader::new(&theirs), Vec::new());
            let greeting = vec![json!({"QMP": {}}), json!({"return": {}})];
            for (index, line) in greeting.into_iter().chain(lines).enumerate() {
                if index > 0 && line.get("event").is_none() {
                    let mut told = String::new();
                    if from.read_line(&mut told).unwrap() == 0 {
                        break;
                    }
                    heard.push(serde_json::from_str::<Value>(&told).unwrap());
                }
                writeln!(to, "{line}").unwrap();
            }
            heard.split_off(1)
        };
        (ours, std::thread::spawn(plays))
    }

    #[test]
    fn answers_are_those_of_commands_and_events_are_kept_until_somebody_waits() {
        let gone = json!({"event": "DEVICE_DELETED", "data": {"device": "x"}});
        let lines = vec![
            gone.clone(),
            json!({"return": 7}),
            json!({"error": {"desc": "no such"}}),
            json!({"return": "Error: bad\r\n"}),
        ];
        let (mut qmp, actor) = actor(lines);
        assert_eq!(qmp.execute("a", &json!({})).unwrap(), 7);
        assert!(qmp.execute("b", &json!({})).unwrap_err().to_string().contains("refuses `b`: no such"));
        assert!(qmp.monitor("c").unwrap_err().to_string().ends_with("refuses: bad"));
        qmp.wait(|event| *event == gone, Duration::from_secs(60)).unwrap();
        drop(qmp);
        let heard = actor.join().unwrap();
        assert_eq!(heard[2]["arguments"]["command-line"], "c");
    }

    #[test]
    fn a_guest_that_kvm_cannot_execute_is_known_from_one_that_runs() {
        let told = |status: &str| json!({"return": {"status": status, "running": status == "running"}});
        let (mut qmp, actor) = actor(vec![told("running"), told("internal-error")]);
        assert_eq!((qmp.executes(), qmp.executes()), (true, false));
        actor.join().unwrap();
        assert!(!qmp.executes(), "it has ended");
    }

    #[test]
    fn an_event_is_waited_for_to_the_limit_however_long_nothing_comes() {
        let (ours, theirs) = Socket::pair().unwrap();
        let mut theirs = File::from(theirs);
        let from = BufReader::new(ours.another().unwrap());
        let mut qmp = Qmp { to: ours, from, begun: Vec::new(), events: Vec::new() };
        // An answer may take less than that event does.
        qmp.to.patience(Some(Duration::from_millis(20))).unwrap();
        let late = std::thread::spawn(move || {
            for piece in ["{\"event\":", "\"RES", "ET\"}\n"] {
                std::thread::sleep(Duration::from_millis(150));
                theirs.write_all(piece.as_bytes()).unwrap();
            }
            theirs
        });
        qmp.wait(|event| event["event"] == "RESET", Duration::from_secs(60)).unwrap();
        let _theirs = late.join().unwrap();
        let never = qmp.wait(|_| true, Duration::from_millis(50)).unwrap_err();
        assert_eq!(never.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_qemu_that_ended_is_an_error() {
        let (mut qmp, actor) = actor(Vec::new());
        actor.join().unwrap();
        assert!(qmp.execute("a", &json!({})).is_err());
    }
}
