//! The coordinator's side of a worker: start it, talk to it, notice when it is gone.

use crate::protocol::{Reply, Request, read_frame, read_hello, write_frame, write_hello};
use std::io::BufReader;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use stend_base::{Error, Kind, Result, say};

/// How often we look whether it has ended.
const END_POLL: Duration = Duration::from_millis(10);

/// What arrives from a host.
#[derive(Debug)]
pub enum FromHost {
    /// A message.
    Reply(Reply),
    /// The stream ended or broke; nothing more will come.
    Lost(String),
}

/// One worker and the stream to it.
pub struct Host {
    child: Child,
    to: Option<ChildStdin>,
}

impl Host {
    /// Starts a worker and a thread that hands everything it says to `sink`.
    ///
    /// `command` must speak the worker protocol on its standard input and output: the binary itself
    /// with the verb `worker`, or `ssh HOST stend worker`.
    pub fn start(mut command: Command, mut sink: impl FnMut(FromHost) + Send + 'static) -> Result<Host> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|e| {
            Error::new(Kind::HostLost, say!("cannot start `{program}`: {e}", "не удаётся запустить `{program}`: {e}"))
        })?;
        let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::new(Kind::Bug, say!("the worker has no streams", "у рабочего процесса нет потоков")));
        };
        let mut from = BufReader::new(from);
        let greeted = write_hello(&mut to)
            .map_err(|e| Error::new(Kind::HostLost, say!("the worker is gone: {e}", "рабочий процесс завершился: {e}")))
            .and_then(|()| read_hello(&mut from));
        let host = Host { child, to: Some(to) };
        greeted?;
        let reader = std::thread::Builder::new().name("from-host".into()).spawn(move || {
            let end = loop {
                match read_frame::<Reply>(&mut from) {
                    Ok(Some(reply)) => sink(FromHost::Reply(reply)),
                    Ok(None) => break "the worker ended".to_string(),
                    Err(error) => break format!("the worker's stream broke: {error}"),
                }
            };
            sink(FromHost::Lost(end));
        });
        reader.map_err(|e| {
            Error::new(Kind::Bug, say!("cannot start a thread: {e}", "не удаётся запустить поток: {e}"))
        })?;
        Ok(host)
    }

    /// Process id of the worker, or of the command that reaches it.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request. A worker that is gone shows up as [`FromHost::Lost`], not here.
    pub fn send(&mut self, request: &Request) {
        if let Some(to) = &mut self.to
            && write_frame(to, request).is_err()
        {
            self.to = None;
        }
    }

    /// Ends the stream; the worker stops its load, undoes what it made and exits. Waits for that, and
    /// kills a worker that does not end within `limit`. Returns whether it ended by itself.
    pub fn end(mut self, limit: Duration) -> bool {
        self.to = None;
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return true;
            }
            std::thread::sleep(END_POLL);
        }
        false
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.to = None;
        if matches!(self.child.try_wait(), Ok(None)) {
            // It had its chance in `end`; a process that is already gone makes kill fail, which is fine.
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}
