//! The guests of machines that are up, through the ports that libvirt gave them. Must not change a machine.

use crate::domain;
use crate::group::Group;
use crate::link;
use crate::location;
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_lab::Passage;

/// How long a guest that is up may take to answer; the last worker may be undoing what it made.
const MEET_LIMIT: Duration = Duration::from_secs(60);
/// How often libvirt is asked whether a machine still runs.
const ASKED: Duration = Duration::from_secs(2);

/// Which port of a guest.
enum Port {
    Worker,
    Command,
}

/// Joins two streams to the worker of a machine, until either side ends.
///
/// Errors: `Preflight` where another run has it, `HostLost` where its guest does not answer.
pub fn connect(name: &str, place: &Path, input: impl Read + Send + 'static, output: &mut impl Write) -> Result<()> {
    let (group, number) = Group::find_machine(name, place)?;
    let _lock = group.lock(number)?;
    let (directory, file) = port(&group, number, &Port::Worker)?;
    let runs = runs(&group, number);
    let passage = Arc::new(Passage::default());
    let _listens = link::listen(&group, number, &passage).map_err(|e| group.unkept(&e))?;
    let joined = stend_lab::join((&directory, &file), MEET_LIMIT, &runs, &passage, input, output);
    joined.map(drop).map_err(|e| silent(&group, number, &e))
}

/// Says why the workers of these machines cannot be had now, if a run has one of them.
pub fn free(group: &Group) -> Result<()> {
    group.numbers().try_for_each(|number| group.lock(number).map(drop))
}

/// Waits until the guest of a machine answers.
pub(crate) fn answers(group: &Group, number: u32, limit: Duration, stopped: &dyn Fn() -> bool) -> Result<()> {
    let (directory, file) = port(group, number, &Port::Command)?;
    let runs = runs(group, number);
    stend_lab::answers(&directory, &file, limit, &|| !stopped() && runs()).map_err(|e| silent(group, number, &e))
}

/// The socket of a port: its directory and its name.
fn port(group: &Group, number: u32, which: &Port) -> Result<(PathBuf, String)> {
    let text = location::virsh(group, number)?.run(&["dumpxml", &group.uuid(number)])?;
    let found = domain::read(&text).unwrap_or_default();
    let path = match which {
        Port::Worker => found.worker,
        Port::Command => found.command,
    };
    let path = path.map(PathBuf::from);
    let parts =
        path.as_ref().and_then(|path| Some((path.parent()?.to_path_buf(), path.file_name()?.to_str()?.to_string())));
    parts.ok_or_else(|| silent(group, number, &io::Error::other("it has no port")))
}

/// Whether libvirt still runs a machine, asked now and then.
fn runs(group: &Group, number: u32) -> impl Fn() -> bool {
    let uuid = group.uuid(number);
    let (asked, last) = (Cell::new(Instant::now()), Cell::new(true));
    move || {
        if asked.get().elapsed() >= ASKED {
            let state = location::virsh(group, number).and_then(|virsh| virsh.run(&["domstate", &uuid]));
            last.set(state.is_ok_and(|state| state.trim() == "running"));
            asked.set(Instant::now());
        }
        last.get()
    }
}

/// Why a guest cannot be spoken to, with what it printed last.
fn silent(group: &Group, number: u32, error: &io::Error) -> Box<Error> {
    let name = group.name_of(number);
    let (en, ru) = match error.kind() {
        io::ErrorKind::TimedOut => (String::new(), String::new()),
        _ => (format!(" ({error})"), format!(" ({error})")),
    };
    let Say { en, ru } = match group.console(number).as_str() {
        "" => say!(
            "the virtual machine `{name}` does not answer{en}, and nothing is on its console",
            "виртуальная машина `{name}` не отвечает{ru}, её консоль пуста"
        ),
        lines => say!(
            "the virtual machine `{name}` does not answer{en}; its console ends with:\n{lines}",
            "виртуальная машина `{name}` не отвечает{ru}; последнее на её консоли:\n{lines}"
        ),
    };
    Error::host_lost(Say { en, ru })
}
