//! Gives drives a service time: each drive that has one is served to QEMU by an `nbdkit` of its own, whose filter `delay` keeps every
//! read and write for so long. Must not know what a drive is plugged into.
//!
//! QEMU's own limits let an idle drive answer at once, and nothing in QEMU 7.2 delays an I/O. Each `nbdkit` serves one connection, an
//! unnamed socket that QEMU inherits, and ends when QEMU has closed it: nothing is left of a machine that ended, however it ended.

use crate::drives::Backing;
use crate::files::Files;
use crate::socket::Socket;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use stend_base::{Error, Nanos, Result, say};
use stend_spec::machine::Machine;

/// A system program, in the package of this name.
const PROGRAM: &str = "nbdkit";
/// A program of util-linux: a machine that stays up outlives the session in which it was started, and so does what serves its drives.
/// It waits for `nbdkit`, which ends with its parent.
const OWN_SESSION: [&str; 2] = ["setsid", "--wait"];
/// I/Os of a drive that are kept at the same time: as many as QEMU's client has on their way.
//= QEMU 7.2, block/nbd.c, MAX_NBD_REQUESTS
const THREADS: &str = "16";

/// Where QEMU finds what the drives of a machine keep, and the ends of connections that it must inherit.
pub struct Served {
    /// In the order of the drives.
    pub places: Vec<Backing>,
    /// QEMU's ends, open under these numbers.
    pub kept: Vec<OwnedFd>,
}

/// Refuses a machine whose drives cannot be served because `nbdkit` is not there, before anything of it is started.
pub fn check(machine: &Machine) -> Result<()> {
    let Some(drive) = machine.drives.iter().find(|drive| drive.latency.is_some()) else { return Ok(()) };
    Command::new(PROGRAM).arg("--version").output().map(drop).map_err(|e| cannot_serve(&drive.serial, &e))
}

/// Starts what serves the drives of one start of QEMU. Errors: it cannot be started.
pub fn serve(machine: &Machine, files: &Files) -> Result<Served> {
    let mut served = Served { places: Vec::new(), kept: Vec::new() };
    for (drive, file) in machine.drives.iter().zip(files.drives()) {
        let Some(latency) = drive.latency else {
            served.places.push(Backing::File(file));
            continue;
        };
        let end = delayed(&file, latency).map_err(|e| cannot_serve(&drive.serial, &e))?;
        let name = file.rsplit('/').next().unwrap_or_default().to_string();
        served.places.push(Backing::Served { socket: end.as_raw_fd(), name });
        served.kept.push(end);
    }
    Ok(served)
}

/// QEMU's end of the connection to a file `/proc/…/fd/N` that is served so.
fn delayed(file: &str, latency: Nanos) -> io::Result<OwnedFd> {
    // Files of ours have no names, and `nbdkit` opens by name: it serves the directory of our descriptors, of which QEMU asks for one.
    let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
    let milliseconds = latency.0 / Nanos::millis(1).0;
    let (theirs, ours) = Socket::ends()?;
    let [program, wait] = OWN_SESSION;
    let mut command = Command::new(program);
    command.args([wait, PROGRAM, "--single", "--threads", THREADS, "--filter=delay", "file"]);
    command.args([format!("dir={directory}"), format!("rdelay={milliseconds}ms"), format!("wdelay={milliseconds}ms")]);
    command.stdin(Stdio::from(theirs.try_clone()?)).stdout(Stdio::from(theirs)).stderr(Stdio::null());
    // A group of its own: Ctrl-C in the terminal is for us alone.
    let mut served = command.process_group(0).spawn()?;
    // It ends with the connection; what is not waited for would stay in the table of processes as long as this one.
    std::thread::Builder::new().name("service time".into()).spawn(move || served.wait())?;
    Ok(ours)
}

fn cannot_serve(serial: &str, error: &io::Error) -> Box<Error> {
    Error::preflight(say!(
        "cannot give the drive `{serial}` its `latency`: {PROGRAM}: {error}",
        "не удаётся задать накопителю `{serial}` задержку `latency`: {PROGRAM}: {error}"
    ))
    .hint(say!(
        "`apt-get install {PROGRAM}`, or leave `latency` out of the machine file: then one I/O in flight on several drives is as fast as many",
        "`apt-get install {PROGRAM}` или уберите `latency` из файла машины: тогда одна операция в очереди на нескольких накопителях выполняется как несколько"
    ))
}
