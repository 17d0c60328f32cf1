//! Starts a machine that stays up. Must not decide where machines and files lie.

use crate::boot::{BOOT_LIMIT, Failed, accelerators, does_not_start, try_each};
use crate::files::Files;
use crate::image::Image;
use crate::qemu::{self, Accelerator, COMMAND_SOCKET, Paths};
use crate::qmp::Qmp;
use crate::service_time::{self, serve};
use crate::standing::{Standing, start_turn, startable};
use std::cell::RefCell;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use stend_base::{Error, Result, Say, say};
use stend_spec::machine::Machine;

/// What a machine is started from.
pub struct Order<'a> {
    /// What its file says.
    pub machine: &'a Machine,
    /// The file.
    pub text: &'a str,
    /// Kernel and system.
    pub image: &'a Image,
    /// The directory for what its drives hold.
    pub cache: &'a Path,
}

/// A start, in one way of executing a guest after the other.
struct Attempt<'a> {
    standing: &'a Standing,
    order: &'a Order<'a>,
    files: &'a Files,
    stopped: &'a dyn Fn() -> bool,
}

/// Starts a machine that stays up and waits until its guest answers and has its drives. When `stopped` is true it is ended, and an
/// error of kind `Interrupted`.
pub fn up(order: &Order, place: &Path, stopped: &dyn Fn() -> bool) -> Result<Standing> {
    let standing = Standing::named(&order.machine.name, place)?;
    let unkept = |e| standing.unkept(&e);
    DirBuilder::new().recursive(true).mode(0o700).create(place).map_err(unkept)?;
    // One start at a time: two of one name must not take each other's directory for a dead one.
    let _turn = start_turn(place).map_err(unkept)?;
    startable(&order.machine.name, place)?;
    service_time::check(order.machine)?;
    let files = Files::make(order.machine, order.image, order.cache)?;
    let attempt = Attempt { standing: &standing, order, files: &files, stopped };
    // Why it did not start counts; a directory that stays is removed, or refused with its reason, by the next start.
    try_each(accelerators(), |how| {
        attempt.start(how).map_err(|error| {
            let failed = Failed::with(&standing.console(), error);
            drop(standing.end());
            failed
        })
    })?;
    Ok(standing)
}

impl Attempt<'_> {
    /// Starts it in this way. After an error something of it may be left.
    fn start(&self, how: Accelerator) -> Result<()> {
        self.booted(&RefCell::new(self.launch(how)?))
    }

    /// Has QEMU started.
    fn launch(&self, how: Accelerator) -> Result<Qmp> {
        self.standing.prepare(self.order.text)?;
        if (self.stopped)() {
            return Err(not_started());
        }
        let machine = self.order.machine;
        let served = serve(machine, self.files)?;
        let paths = Paths {
            image: self.order.image,
            archive: self.files.archive(),
            drives: served.places,
            keep: self.files.keep(),
        };
        self.standing.launch(|streams| qemu::arguments(machine, how, &paths, streams), served.kept)
    }

    /// Waits until a guest that boots answers.
    fn booted(&self, qmp: &RefCell<Qmp>) -> Result<()> {
        let executes = || qmp.borrow_mut().executes();
        let met = self.standing.meet(COMMAND_SOCKET, BOOT_LIMIT, &|| !(self.stopped)() && executes());
        let error = match met {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        if (self.stopped)() {
            return Err(not_started());
        }
        let why = if self.standing.process().is_none() {
            say!("it ended", "она завершилась")
        } else if !executes() {
            say!("KVM cannot execute its kernel", "KVM не может исполнить её ядро")
        } else {
            Say::same(error.to_string())
        };
        Err(does_not_start(&why, &self.standing.console()))
    }
}

fn not_started() -> Box<Error> {
    Error::interrupted(say!("interrupted; no machine was left running", "прервано; запущенной машины не осталось"))
}
