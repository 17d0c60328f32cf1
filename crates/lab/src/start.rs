//! Starts a machine that stays up. Where a guest of its shape was saved, that is restored and its drives are plugged in; else it
//! boots, is saved, and gets its drives in the same way. What cannot be saved boots with its drives, and so does what did not
//! work out otherwise. Must not decide where machines and files lie.

use crate::begin::Beginning;
use crate::boot::{BOOT_LIMIT, Failed, accelerators, does_not_start, try_each};
use crate::command::{FromGuest, ToGuest};
use crate::drives::{self, Plugging};
use crate::files::Files;
use crate::image::Image;
use crate::migration;
use crate::qemu::{self, Accelerator, COMMAND_SOCKET, PROGRAM, Paths};
use crate::qmp::Qmp;
use crate::saved::{self, Saved, Saves};
use crate::service_time::{self, serve};
use crate::standing::{Standing, start_turn, startable};
use std::cell::RefCell;
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};
use stend_base::{Error, Result, Say, say};
use stend_spec::machine::Machine;
use stend_wire::protocol::{read_frame, write_frame};

/// How long a restored guest may take until it answers. On two busy processors it took a second.
const RESTORE_LIMIT: Duration = Duration::from_secs(30);
/// How long a guest may take to begin; it has limits of its own for its drives (`begin.rs`).
const BEGIN_LIMIT: Duration = Duration::from_secs(120);
/// Random bytes that a guest is given.
const SEED: usize = 64;

/// What a machine is started from.
pub struct Order<'a> {
    /// What its file says.
    pub machine: &'a Machine,
    /// The file.
    pub text: &'a str,
    /// Kernel and system.
    pub image: &'a Image,
    /// The directory for what its drives hold, and of saved guests.
    pub cache: &'a Path,
    /// It boots with its drives, and neither is a guest restored nor saved.
    pub cold: bool,
}

/// How a machine came up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// It was restored; else it booted.
    pub restored: bool,
    /// From the beginning until the guest answered.
    pub answered: Duration,
    /// The same until all drives were there.
    pub ready: Duration,
    /// What did not go as usual.
    pub notes: Vec<Say>,
}

/// A start, in one way of executing a guest after the other.
pub(crate) struct Attempt<'a> {
    pub standing: &'a Standing,
    pub order: &'a Order<'a>,
    pub files: &'a Files,
    /// When it was begun.
    pub began: Instant,
    pub stopped: &'a dyn Fn() -> bool,
}

/// Starts a machine that stays up and waits until its guest answers and has its drives. When `stopped` is true it is ended, and an
/// error of kind `Interrupted`.
pub fn up(order: &Order, place: &Path, stopped: &dyn Fn() -> bool) -> Result<(Standing, Start)> {
    let began = Instant::now();
    let standing = Standing::named(&order.machine.name, place)?;
    let unkept = |e| standing.unkept(&e);
    DirBuilder::new().recursive(true).mode(0o700).create(place).map_err(unkept)?;
    // One start at a time: two of one name must not take each other's directory for a dead one.
    let _turn = start_turn(place).map_err(unkept)?;
    startable(&order.machine.name, place)?;
    let files = Files::make(order.machine, order.image, order.cache)?;
    let attempt = Attempt { standing: &standing, order, files: &files, began, stopped };
    // Why it did not start counts; a directory that stays is removed, or refused with its reason, by the next start.
    let start = try_each(accelerators(), |how| {
        attempt.start(how).map_err(|error| {
            let failed = Failed::with(&standing.console(), error);
            drop(standing.end());
            failed
        })
    })?;
    Ok((standing, start))
}

impl Attempt<'_> {
    /// Starts it in this way. After an error something of it may be left.
    pub fn start(&self, how: Accelerator) -> Result<Start> {
        // Else a saved guest would be taken for damaged.
        service_time::check(self.order.machine)?;
        let mut notes = Vec::new();
        if let Some(key) = self.key(how)
            && let Some(start) = self.with_saves(&key, how, &mut notes)?
        {
            return Ok(start);
        }
        let qmp = self.launch(how, Plugging::Start, None)?;
        self.booted(&RefCell::new(qmp))?;
        let answered = self.began.elapsed();
        Ok(Start { restored: false, answered, ready: answered, notes })
    }

    /// What a saved guest of this machine is kept under; `None`: none is.
    fn key(&self, how: Accelerator) -> Option<String> {
        if self.order.cold || how == Accelerator::Kvm {
            return None;
        }
        let version = Command::new(PROGRAM).arg("--version").output().ok()?;
        let version = String::from_utf8(version.stdout).ok().filter(|text| !text.is_empty())?;
        saved::key(self.order.machine, how, self.order.image, &self.files.program, &version)
    }

    /// Starts it with a saved guest, or saves one; `None`: something of that did not work, and it has to boot as if there were none.
    fn with_saves(&self, key: &str, how: Accelerator, notes: &mut Vec<Say>) -> Result<Option<Start>> {
        let saves = Saves::beside(self.order.cache);
        let found = saves.find(key);
        let done = match &found {
            Some(saved) => self.restore(saved, how),
            None => {
                let qmp = RefCell::new(self.launch(how, Plugging::Later, None)?);
                self.booted(&qmp)?;
                self.save(&saves, key, qmp.into_inner(), notes)
            }
        };
        match done {
            _ if (self.stopped)() => Err(not_started()),
            Ok(start) => Ok(Some(Start { notes: std::mem::take(notes), ..start })),
            Err(error) => {
                // The next start removes its directory, or says why it cannot.
                drop(self.standing.end());
                // One that does not begin is not to be met again.
                saves.remove(key);
                notes.push(if found.is_some() { unrestored(&error) } else { unplugged(&error) });
                Ok(None)
            }
        }
    }

    /// Has QEMU started.
    fn launch(&self, how: Accelerator, plugging: Plugging, saved: Option<&Saved>) -> Result<Qmp> {
        self.standing.prepare(self.order.text)?;
        if (self.stopped)() {
            return Err(not_started());
        }
        let machine = self.order.machine;
        let mut served = serve(machine, self.files)?;
        let paths = Paths {
            image: self.order.image,
            archive: self.files.archive(),
            drives: served.places,
            keep: self.files.keep(),
        };
        let stream = saved.map(Saved::stream).transpose().map_err(|e| lost(&e))?;
        let incoming = stream.as_ref().map(|stream| ["-incoming".to_string(), format!("fd:{}", stream.as_raw_fd())]);
        served.kept.extend(stream);
        self.standing.launch(
            |streams| {
                let mut words = qemu::arguments(machine, how, &paths, streams, plugging);
                words.extend(incoming.into_iter().flatten());
                words
            },
            served.kept,
        )
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

    /// Saves a guest that has booted without drives, and plugs these in.
    fn save(&self, saves: &Saves, key: &str, mut qmp: Qmp, notes: &mut Vec<Say>) -> Result<Start> {
        let answered = self.began.elapsed();
        let written = saves.begin().and_then(|file| migration::save(&mut qmp, &file).map(|()| file));
        migration::go_on(&mut qmp).map_err(|e| lost(&e))?;
        // The sum of what was written is made while the drives appear.
        let (kept, begun) = std::thread::scope(|scope| {
            let kept = scope.spawn(|| written.and_then(|file| saves.keep(file, key)));
            let begun = self.begin(&mut qmp);
            (kept.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())), begun)
        });
        if let Err(error) = kept {
            notes.push(unsaved(&error));
        }
        begun.map_err(|e| lost(&e))?;
        Ok(Start { restored: false, answered, ready: self.began.elapsed(), notes: Vec::new() })
    }

    fn restore(&self, saved: &Saved, how: Accelerator) -> Result<Start> {
        let mut qmp = self.launch(how, Plugging::Later, Some(saved))?;
        // QEMU reads it meanwhile.
        let whole =
            saved.check().and_then(|()| migration::restored(&mut qmp)).and_then(|()| migration::go_on(&mut qmp));
        let answered = whole.and_then(|()| self.begin(&mut qmp)).map_err(|e| lost(&e))?;
        Ok(Start { restored: true, answered, ready: self.began.elapsed(), notes: Vec::new() })
    }

    /// Plugs the drives in and has the guest begin; when it answered.
    fn begin(&self, qmp: &mut Qmp) -> io::Result<Duration> {
        let later = |serial: &str| {
            self.order.machine.drives.iter().any(|drive| drive.serial == serial && drives::comes_later(drive))
        };
        let plugs: Vec<(String, String)> =
            drives::plugs(self.order.machine).into_iter().filter(|(serial, _)| later(serial)).collect();
        plugs.iter().try_for_each(|(_, line)| qmp.monitor(line))?;
        qmp.monitor(&format!("device_add {}", qemu::KEEP))?;
        let (mut port, _) = self.standing.meet(COMMAND_SOCKET, RESTORE_LIMIT, &|| !(self.stopped)())?;
        let answered = self.began.elapsed();
        port.patience(Some(BEGIN_LIMIT))?;
        let mut seed = vec![0; SEED];
        File::open("/dev/urandom")?.read_exact(&mut seed)?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_err(io::Error::other)?;
        let now = (now.as_secs() as i64, now.subsec_nanos());
        let plugged = plugs.into_iter().map(|(serial, _)| serial).collect();
        let drives = drives::at_start(self.order.machine, Plugging::Start);
        write_frame(&mut port, &ToGuest::Begin(Beginning { now, seed, plugged, drives }))?;
        begun(&mut port).map(|()| answered)
    }
}

fn not_started() -> Box<Error> {
    Error::interrupted(say!("interrupted; no machine was left running", "прервано; запущенной машины не осталось"))
}

/// Hears how a guest began.
fn begun(port: &mut impl Read) -> io::Result<()> {
    let mut complaint = String::new();
    loop {
        match read_frame(port)? {
            Some(FromGuest::Ended(0)) => return Ok(()),
            Some(FromGuest::Ended(_)) => return Err(io::Error::other(complaint)),
            Some(FromGuest::Errors(told) | FromGuest::Output(told)) => complaint += &String::from_utf8_lossy(&told),
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

fn lost(error: &io::Error) -> Box<Error> {
    Error::host_lost(Say::same(error.to_string()))
}

fn unrestored(error: &Error) -> Say {
    let Say { en, ru } = &error.message;
    say!(
        "the saved guest could not be restored and was removed; the machine boots: {en}",
        "сохранённую гостевую систему восстановить не удалось, она удалена; машина загружается: {ru}"
    )
}

fn unsaved(error: &io::Error) -> Say {
    say!(
        "the guest was not saved, so the next start of such a machine will take as long: {error}",
        "гостевая система не сохранена, и следующий запуск такой машины займёт столько же: {error}"
    )
}

fn unplugged(error: &Error) -> Say {
    let Say { en, ru } = &error.message;
    say!(
        "the drives could not be hot-plugged into the running guest; the machine boots again with them: {en}",
        "накопители не удалось подключить к работающей гостевой системе; машина загружается заново вместе с ними: {ru}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(words: Vec<FromGuest>) -> io::Result<()> {
        let mut said = Vec::new();
        words.iter().for_each(|word| write_frame(&mut said, word).unwrap());
        begun(&mut &said[..])
    }

    #[test]
    fn a_guest_has_begun_when_it_says_so_and_its_complaint_is_the_error() {
        says(vec![FromGuest::Ended(0)]).unwrap();
        let error = says(vec![FromGuest::Errors(b"no drive".to_vec()), FromGuest::Ended(1)]).unwrap_err();
        assert_eq!(error.to_string(), "no drive");
        assert_eq!(says(Vec::new()).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_did_not_go_as_usual_is_told_with_what_becomes_of_the_machine() {
        let error = lost(&io::Error::other("it is damaged"));
        assert!(unrestored(&error).en.ends_with("was removed; the machine boots: it is damaged"));
        assert!(
            unplugged(&error).ru.contains("загружается заново")
                && unsaved(&io::Error::other("full")).en.ends_with("full")
        );
    }
}
