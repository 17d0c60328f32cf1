//! Starts a machine for one run and waits until its worker says hello.

use crate::console::{Console, last_lines};
use crate::faults::Faults;
use crate::files::Files;
use crate::image::Image;
use crate::qemu::{self, Accelerator, PROGRAM, Paths, Streams};
use crate::qmp::Qmp;
use crate::service_time::{self, serve};
use crate::socket::Socket;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use stend_base::{Error, Result, Say, say};
use stend_spec::machine::Machine;
use stend_wire::Host;

/// How long a machine may take until its worker speaks. On two busy processors 16 s were measured under emulation.
pub const BOOT_LIMIT: Duration = Duration::from_secs(300);

/// What a kernel of Linux ends with on its console.
const PANIC: &str = "Kernel panic - not syncing";
/// How long the time stamp counter is looked at: its speed is then known to 1 in a million.
const COUNTED: Duration = Duration::from_millis(50);

/// How often a machine that boots is looked at: whether its kernel is executed at all.
const WATCHED: Duration = Duration::from_millis(250);

/// A machine of one run.
pub struct Started {
    /// The worker in it.
    pub host: Host,
    /// What can be done to its drives.
    pub faults: Faults,
}

/// Starts a machine; this program is the worker in it. `cache` is a directory for what its drives hold, which has no name
/// there and goes with the machine.
///
/// The machine ends with the returned host, and with the *thread* that calls this, however that ends.
pub fn boot(machine: &Machine, image: &Image, cache: &Path) -> Result<Started> {
    if let Some(link) = machine.links.first() {
        let (name, to) = (&machine.name, &link.to);
        return Err(Error::usage(say!(
            "the machine `{name}` has a link to `{to}`, but `--lab FILE` starts one machine only",
            "у машины `{name}` есть связь с `{to}`, но `--lab ФАЙЛ` запускает только одну машину"
        ))
        .hint(say!("start both with `stend lab up`", "запустите обе командой `stend lab up`")));
    }
    service_time::check(machine)?;
    let files = Files::make(machine, image, cache)?;
    try_each(accelerators(), |accelerator| start(machine, image, &files, accelerator))
}

/// Why a machine did not start.
pub struct Failed {
    /// The reason.
    pub error: Box<Error>,
    /// Its kernel panicked.
    pub panicked: bool,
}

impl Failed {
    /// A failed start; the console shows whether the kernel panicked.
    pub fn with(console: &str, error: Box<Error>) -> Failed {
        Failed { error, panicked: console.contains(PANIC) }
    }
}

impl From<Box<Error>> for Failed {
    /// Before its kernel was executed.
    fn from(error: Box<Error>) -> Failed {
        Failed { error, panicked: false }
    }
}

/// Starts a machine in the first of these ways that works. Where its kernel panicked while it booted it is started once more: under
/// emulation (QEMU 7.2, Linux 6.12) one of nine starts did, in an interrupt, before anything of ours ran, while guests had `cmpxchg16b`
/// (see [`qemu`]).
pub fn try_each<T>(
    ways: Vec<Accelerator>,
    mut start: impl FnMut(Accelerator) -> std::result::Result<T, Failed>,
) -> Result<T> {
    let mut failure = None;
    for way in ways {
        for _ in 0..2 {
            match start(way) {
                Ok(started) => return Ok(started),
                Err(Failed { error, panicked }) => {
                    failure = Some(error);
                    if !panicked {
                        break;
                    }
                }
            }
        }
    }
    Err(failure.unwrap_or_else(|| does_not_start(&Say::same(""), "")))
}

/// Ways of executing a guest, the best first.
pub fn accelerators() -> Vec<Accelerator> {
    // That it can be opened does not mean that it works: on some rented machines QEMU ends at once, on others KVM executes a part of
    // the kernel and then stands still.
    let emulated = Accelerator::Tcg { counter_khz: counter_khz() };
    match File::options().read(true).write(true).open("/dev/kvm") {
        Ok(_) => vec![Accelerator::Kvm, emulated],
        Err(_) => vec![emulated],
    }
}

/// Speed of the time stamp counter of this machine, kHz; `None`: it cannot be told.
pub fn counter_khz() -> Option<u64> {
    stend_sys::ticker::counter_khz(COUNTED)
}

fn start(machine: &Machine, image: &Image, files: &Files, how: Accelerator) -> std::result::Result<Started, Failed> {
    let broken = |e: io::Error| does_not_start(&Say::same(e.to_string()), "");
    let (control, theirs) = Socket::pair().map_err(broken)?;
    let streams = Streams::Standard { control: theirs.as_raw_fd() };
    let served = serve(machine, files)?;
    let paths = Paths { image, archive: files.archive(), drives: served.places, keep: files.keep() };
    let (from, to) = io::pipe().map_err(broken)?;
    let console = Console::follow(from).map_err(broken)?;
    let mut command = Command::new(PROGRAM);
    // A group of its own: Ctrl-C in the terminal is for us alone, who end the run as it should be ended.
    command.args(qemu::arguments(machine, how, &paths, &streams)).stderr(to).process_group(0);
    stend_sys::process::die_with_parent(&mut command);
    [theirs].into_iter().chain(served.kept).for_each(|kept| stend_sys::process::keep_open(&mut command, kept));
    let watch = Watch::begin(control).map_err(broken)?;
    let host = without_core_dumps(|| Host::reach(command, BOOT_LIMIT));
    let qmp = watch.end();
    let host = host.map_err(|error| {
        let shown = console.tail();
        Failed::with(&shown, does_not_start(&error.message, &shown))
    })?;
    Ok(Started { host, faults: Faults::of(machine, qmp.map_err(broken)?) })
}

/// Looks beside a machine that boots whether it is executed, and ends one that is not.
struct Watch {
    booted: Sender<()>,
    thread: JoinHandle<io::Result<Qmp>>,
}

impl Watch {
    fn begin(control: Socket) -> io::Result<Watch> {
        let (booted, told) = channel();
        let watches = move || {
            let mut qmp = Qmp::greeted(control)?;
            while told.recv_timeout(WATCHED) == Err(RecvTimeoutError::Timeout) {
                if !qmp.executes() {
                    // It ends before it answers, if it has not ended already.
                    drop(qmp.execute("quit", &json!({})));
                    return Err(io::Error::other("the kernel of the guest cannot be executed"));
                }
            }
            Ok(qmp)
        };
        Ok(Watch { booted, thread: std::thread::Builder::new().name("watch".into()).spawn(watches)? })
    }

    /// The connection, once the machine has booted or not.
    fn end(self) -> io::Result<Qmp> {
        drop(self.booted);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the watch over the machine ended")))
    }
}

/// What is started here leaves no core dump: where KVM does not work, QEMU ends with one.
pub fn without_core_dumps<T>(start: impl FnOnce() -> T) -> T {
    let usual = getrlimit(Resource::Core);
    // Less is always allowed, and so is what was before.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: usual.maximum });
    let started = start();
    let _ = setrlimit(Resource::Core, usual);
    started
}

/// The error of a machine that does not start, with the end of what its guest printed.
pub fn does_not_start(why: &Say, console: &str) -> Box<Error> {
    let Say { en, ru } = why;
    let (told, shown) = match last_lines(console).as_str() {
        "" => (String::new(), String::new()),
        lines => (format!("; its console ends with:\n{lines}"), format!("; последнее на её консоли:\n{lines}")),
    };
    Error::host_lost(say!(
        "the machine of the lab did not start: {en}{told}",
        "машина лаборатории не запустилась: {ru}{shown}"
    ))
    .hint(say!(
        "QEMU is needed (`apt-get install qemu-system-x86`), and as much memory as the machine file asks for",
        "нужны QEMU (`apt-get install qemu-system-x86`) и память, которую задаёт файл машины"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_started_may_not_dump_core_and_the_limit_comes_back() {
        let before = getrlimit(Resource::Core);
        let inside = without_core_dumps(|| getrlimit(Resource::Core));
        assert_eq!((inside.current, getrlimit(Resource::Core)), (Some(0), before));
    }

    #[test]
    fn a_machine_whose_kernel_cannot_be_executed_is_ended_while_it_boots() {
        use crate::qmp::tests::plays;
        let told = |status: &str| json!({"return": {"status": status}});
        let (ours, heard) = plays(vec![told("running"), told("internal-error"), json!({"return": {}})]);
        let watch = Watch::begin(ours).unwrap();
        let heard = heard.join().unwrap();
        assert!(watch.end().is_err());
        assert_eq!(heard.last().map(|told| told["execute"].clone()), Some(json!("quit")));
        let (ours, heard) = plays(vec![told("running")]);
        assert!(Watch::begin(ours).unwrap().end().is_ok(), "it booted before anybody looked");
        drop(heard);
    }

    #[test]
    fn a_kernel_that_panicked_is_booted_once_more_and_what_does_not_start_for_another_reason_is_not() {
        let emulated = Accelerator::Tcg { counter_khz: None };
        let attempts = |ends: &[&str]| {
            let mut tried = Vec::new();
            let started = try_each(vec![Accelerator::Kvm, emulated], |way| {
                tried.push(way);
                match ends.get(tried.len() - 1) {
                    None => Ok(()),
                    Some(console) => {
                        Err(Failed::with(console, does_not_start(&say!("it ended", "она завершилась"), console)))
                    }
                }
            });
            (started.is_ok(), tried)
        };
        let panic = "[ 6.7] Kernel panic - not syncing: Fatal exception in interrupt";
        assert_eq!(attempts(&["no space", panic]), (true, vec![Accelerator::Kvm, emulated, emulated]));
        assert_eq!(attempts(&["no space", panic, panic]), (false, vec![Accelerator::Kvm, emulated, emulated]));
        assert_eq!(attempts(&["no space", "no space"]), (false, vec![Accelerator::Kvm, emulated]));
    }

    #[test]
    fn a_machine_that_does_not_start_shows_its_console_and_what_is_needed() {
        let error = does_not_start(&say!("it ended", "она завершилась"), "no space");
        assert!(error.message.en.contains("did not start: it ended; its console ends with:\nno space"), "{error}");
        assert!(error.message.ru.contains("она завершилась; последнее на её консоли:\nno space"), "{error}");
        assert!(!does_not_start(&say!("x", "x"), "").message.en.contains("console"));
    }
}
