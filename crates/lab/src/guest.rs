//! The service of a guest that stays up: a client of one of its ports gets a worker, or a command executed. One after
//! the other per port. Must not end before the machine does.

use crate::command;
use crate::greeting;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use stend_base::{Error, Result, say};

/// Port of the worker; on a machine of one run its only one.
pub const WORKER: &str = "stend.worker";
/// Port of commands.
pub const COMMAND: &str = "stend.command";
/// Directory of a guest whose contents stay when its machine is reset: journals of stands, and ledgers.
pub const KEEP: &str = "/var/lib/stend";
/// Where the kernel lists ports.
const PORTS: &str = "/sys/class/virtio-ports";
/// A port that breaks is tried again, not faster than this.
const PAUSE: Duration = Duration::from_millis(200);

/// Serves both ports for as long as the machine runs.
pub fn serve_guest() -> Result<()> {
    let broken = |e: io::Error| {
        let message =
            say!("the ports of this guest cannot be served: {e}", "порты гостевой системы не обслуживаются: {e}");
        Error::preflight(message)
            .hint(say!("`stend guest` runs in machines of the lab", "`stend guest` работает в машинах лаборатории"))
    };
    let (worker, command) = (open(WORKER).map_err(broken)?, open(COMMAND).map_err(broken)?);
    std::thread::Builder::new()
        .name("commands".into())
        .spawn(move || -> () { forever(command, |port| command::serve(port, port.try_clone()?)) })
        .map_err(broken)?;
    forever(worker, |port| {
        let (input, output) = (Stdio::from(port.try_clone()?), Stdio::from(port.try_clone()?));
        Command::new("stend").arg("worker").stdin(input).stdout(output).status().map(drop)
    })
}

/// Meets one host after the other.
fn forever(mut port: File, serve: impl Fn(&mut File) -> io::Result<()>) -> ! {
    loop {
        let served = greeting::await_host(&mut port).and_then(|session| {
            // However a session ends, the next one begins with a greeting.
            drop(serve(&mut port));
            greeting::end(&mut port, session)
        });
        if served.is_err() {
            std::thread::sleep(PAUSE);
        }
    }
}

/// The port of this name: its link in `/dev` would need udev.
fn open(name: &str) -> io::Result<File> {
    let entries = std::fs::read_dir(PORTS)?.flatten();
    let has = |path: &PathBuf| std::fs::read_to_string(path.join("name")).is_ok_and(|found| found.trim_end() == name);
    let found =
        entries.map(|entry| entry.path()).find(has).ok_or_else(|| io::Error::other(format!("no port `{name}`")))?;
    let device = PathBuf::from("/dev").join(found.file_name().unwrap_or_default());
    OpenOptions::new().read(true).write(true).open(device)
}
