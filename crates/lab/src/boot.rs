//! Starts a machine and waits until its worker says hello.

use crate::console::Console;
use crate::image::Image;
use crate::payload::payload;
use crate::qemu::{self, Accelerator, PROGRAM, Paths};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use stend_base::{Bytes, Error, Kind, Result, Say, say};
use stend_host::Host;
use stend_spec::machine::Machine;

/// How long a machine may take until its worker speaks. On two busy processors 16 s were measured under emulation.
const BOOT_LIMIT: Duration = Duration::from_secs(300);

/// Starts a machine; this program is the worker in it. `cache` is a directory for what its drives hold, which has no name
/// there and goes with the machine.
///
/// The machine ends with the returned host, and with the *thread* that calls this, however that ends.
pub fn boot(machine: &Machine, image: &Image, cache: &Path) -> Result<Host> {
    let archive = archive(image, cache).map_err(|e| no_room(cache, &e))?;
    let mut accelerators = vec![Accelerator::Tcg];
    // That it can be opened does not mean that it works: on some rented machines QEMU ends at once.
    if File::options().read(true).write(true).open("/dev/kvm").is_ok() {
        accelerators.insert(0, Accelerator::Kvm);
    }
    let mut failure = None;
    for accelerator in accelerators {
        match start(machine, image, cache, &archive, accelerator) {
            Ok(host) => return Ok(host),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| does_not_start(&Say::same(""), "")))
}

fn start(machine: &Machine, image: &Image, cache: &Path, archive: &File, how: Accelerator) -> Result<Host> {
    let drives: io::Result<Vec<File>> = machine.drives.iter().map(|drive| empty(cache, drive.size)).collect();
    // QEMU opens them for itself; until it has said hello they are kept open here.
    let drives = drives.map_err(|e| no_room(cache, &e))?;
    let paths = Paths { image, archive: path_of(archive), drives: drives.iter().map(path_of).collect() };
    let broken = |e: io::Error| does_not_start(&Say::same(e.to_string()), "");
    let (from, to) = io::pipe().map_err(broken)?;
    let console = Console::follow(from).map_err(broken)?;
    let mut command = Command::new(PROGRAM);
    // A group of its own: Ctrl-C in the terminal is for us alone, who end the run as it should be ended.
    command.args(qemu::arguments(machine, how, &paths)).stderr(to).process_group(0);
    stend_sys::process::die_with_parent(&mut command);
    without_core_dumps(|| Host::reach(command, BOOT_LIMIT))
        .map_err(|error| does_not_start(&error.message, &console.tail()))
}

/// What is started here leaves no core dump: where KVM does not work, QEMU ends with one.
fn without_core_dumps<T>(start: impl FnOnce() -> T) -> T {
    let usual = getrlimit(Resource::Core);
    // Less is always allowed, and so is what was before.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: usual.maximum });
    let started = start();
    let _ = setrlimit(Resource::Core, usual);
    started
}

/// The archive that a guest starts from: its system, and this program.
fn archive(image: &Image, cache: &Path) -> io::Result<File> {
    let mut file = nameless(cache)?;
    io::copy(&mut File::open(&image.system)?, &mut file)?;
    file.write_all(&payload()?)?;
    Ok(file)
}

fn empty(cache: &Path, size: Bytes) -> io::Result<File> {
    let file = nameless(cache)?;
    file.set_len(size.0)?;
    Ok(file)
}

/// A file without a name: it is gone when nobody has it open any more.
fn nameless(directory: &Path) -> io::Result<File> {
    Ok(rustix::fs::open(directory, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)?.into())
}

/// A path by which another process of ours can open the same file.
fn path_of(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

fn no_room(cache: &Path, error: &io::Error) -> Box<Error> {
    let shown = cache.display();
    Error::new(
        Kind::Preflight,
        say!(
            "cannot make the files of a machine in `{shown}`: {error}",
            "не удаётся создать файлы машины в `{shown}`: {error}"
        ),
    )
    .hint(say!("XDG_CACHE_HOME names another place", "другое место задаёт XDG_CACHE_HOME"))
}

fn does_not_start(why: &Say, console: &str) -> Box<Error> {
    let Say { en, ru } = why;
    let (told, shown) = match console {
        "" => (String::new(), String::new()),
        lines => (format!("; its console ends with:\n{lines}"), format!("; последнее на её консоли:\n{lines}")),
    };
    Error::new(
        Kind::HostLost,
        say!("the machine of the lab did not start: {en}{told}", "машина лаборатории не запустилась: {ru}{shown}"),
    )
    .hint(say!(
        "QEMU is needed (`apt-get install qemu-system-x86`), and memory for what the machine file asks",
        "нужны QEMU (`apt-get install qemu-system-x86`) и память, которую задаёт файл машины"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_s_files_have_no_name_and_can_be_opened_by_another_process() {
        let cache = tempfile::tempdir().unwrap();
        let file = empty(cache.path(), Bytes::mib(3)).unwrap();
        assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 0);
        let seen = Command::new("stat").args(["-L", "-c", "%s"]).arg(path_of(&file)).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&seen.stdout).trim(), "3145728");
        let error = no_room(cache.path(), &empty(Path::new("/nowhere"), Bytes::mib(1)).unwrap_err());
        assert!(error.message.en.contains("cannot make the files") && error.hint.is_some(), "{error}");
    }

    #[test]
    fn what_is_started_may_not_dump_core_and_the_limit_comes_back() {
        let before = getrlimit(Resource::Core);
        let inside = without_core_dumps(|| getrlimit(Resource::Core));
        assert_eq!((inside.current, getrlimit(Resource::Core)), (Some(0), before));
    }

    #[test]
    fn a_machine_that_does_not_start_shows_its_console_and_what_is_needed() {
        let error = does_not_start(&say!("it ended", "она завершилась"), "no space");
        assert!(error.message.en.contains("did not start: it ended; its console ends with:\nno space"), "{error}");
        assert!(error.message.ru.contains("она завершилась; последнее на её консоли:\nno space"), "{error}");
        assert!(!does_not_start(&say!("x", "x"), "").message.en.contains("console"));
    }
}
