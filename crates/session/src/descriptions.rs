//! What this host is, for a recording, read on a thread of its own: a drive or a pool that hangs makes the description late and holds up no
//! sample. Must not keep what it read.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use stend_base::{Error, Result, say};
use stend_record::HostInfo;

/// How long the begin of a recording waits for the first description (by eye: it takes milliseconds, with hundreds of drives a second).
const PATIENCE: Duration = Duration::from_secs(10);

/// Descriptions of a host, the first of which is under way.
pub struct Descriptions {
    asks: Sender<()>,
    read: Receiver<HostInfo>,
}

impl Descriptions {
    /// Those of the host that this process runs on.
    ///
    /// Errors: kind `Preflight` if no thread can be started.
    pub fn of_this_host() -> Result<Descriptions> {
        let host = || HostInfo { targets: stend_stand::describe_drives(), ..machine() };
        Descriptions::by(host)
    }

    fn by(describe: impl Fn() -> HostInfo + Send + 'static) -> Result<Descriptions> {
        let ((asks, asked), (give, read)) = (channel(), channel());
        let describes = move || {
            while asked.recv().is_ok() {
                // What was asked for meanwhile is answered by one description.
                asked.try_iter().for_each(drop);
                if give.send(describe()).is_err() {
                    return;
                }
            }
        };
        // Never joined: one that waits for a dying drive ends with the process.
        std::thread::Builder::new().name("descriptions".into()).spawn(describes).map_err(|e| {
            Error::preflight(say!("cannot start telemetry: {e}", "не удалось запустить телеметрию: {e}"))
        })?;
        let descriptions = Descriptions { asks, read };
        descriptions.ask();
        Ok(descriptions)
    }

    /// Wants another one: drives came or went.
    pub fn ask(&self) {
        // The thread has ended only if it panicked; the recording goes on without.
        self.asks.send(()).ok();
    }

    /// The first one; where a drive holds it up, the machine without its drives, which [`Descriptions::take`] has later.
    pub fn first(&self) -> HostInfo {
        self.read.recv_timeout(PATIENCE).unwrap_or_else(|_| machine())
    }

    /// The newest that came since the last look, if any did. Never waits.
    pub fn take(&self) -> Option<HostInfo> {
        self.read.try_iter().last()
    }
}

fn machine() -> HostInfo {
    HostInfo { facts: Some(stend_stand::host_facts()), ports: stend_stand::ports(), ..HostInfo::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// A host whose description takes until it is let go, with its number as its name.
    fn held() -> (Descriptions, Sender<u32>) {
        let (let_go, gate) = channel::<u32>();
        let gate = Mutex::new(gate);
        let describe =
            move || HostInfo { name: gate.lock().unwrap().recv().unwrap().to_string(), ..HostInfo::default() };
        (Descriptions::by(describe).unwrap(), let_go)
    }

    #[test]
    fn a_description_that_takes_long_is_not_waited_for() {
        let (descriptions, let_go) = held();
        assert_eq!(descriptions.take(), None);
        let_go.send(1).unwrap();
        assert_eq!(descriptions.first().name, "1");
        descriptions.ask();
        descriptions.ask();
        assert_eq!(descriptions.take(), None, "a drive hangs");
        let_go.send(2).unwrap();
        let_go.send(3).unwrap();
        assert!(["2", "3"].contains(&descriptions.first().name.as_str()));
    }
}
