//! What can be done to the drives of a machine while it runs: make them slow, take them out and put them back, have them
//! fail. Each has its undo. Must not decide when.

use crate::drives::{self, id};
use crate::qmp::Qmp;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use stend_base::{Bytes, Error, Result, say};
use stend_spec::machine::{Drive, DriveKind, Machine};

/// How long a guest may take to let a drive go. Behind a bridge of a NUMA node its slot waits 5 s for a second press of
/// the button, and an emulated guest takes its time.
const LET_GO: Duration = Duration::from_secs(60);
/// For a drive that does not answer: one I/O per second is the lowest possible limit.
const FROZEN: u32 = 1;
/// The error that the guest gets for a failed I/O: `EIO`.
const EIO: u32 = 5;

/// Which I/Os fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Both.
    All,
}

/// The drives of a machine that runs, named by their serial numbers. Errors are of the kind `HostLost`, but for a drive that
/// the machine does not have or that cannot do this (`Usage`).
pub struct Faults {
    machine: Machine,
    qmp: Qmp,
}

impl Faults {
    /// Names of this machine.
    pub(crate) fn of(machine: &Machine, qmp: Qmp) -> Faults {
        Faults { machine: machine.clone(), qmp }
    }

    /// Limits a drive to so many I/Os and bytes per second; `None`: no limit.
    fn limit(&mut self, serial: &str, iops: Option<u32>, bandwidth: Option<Bytes>) -> Result<()> {
        let drive = self.drive(serial)?;
        self.set_limits(&drive, iops.map_or(0, u64::from), bandwidth.map_or(0, |bandwidth| bandwidth.0))
    }

    /// Has a drive answer one I/O per second.
    pub fn freeze(&mut self, serial: &str) -> Result<()> {
        self.limit(serial, Some(FROZEN), None)
    }

    /// Gives a drive the limits of the machine file again.
    pub fn as_described(&mut self, serial: &str) -> Result<()> {
        let drive = self.drive(serial)?;
        self.limit(serial, drive.iops, drive.bandwidth)
    }

    /// Takes a drive out and waits until the guest has let it go. What it keeps stays for [`Faults::plug`].
    pub fn unplug(&mut self, serial: &str) -> Result<()> {
        let drive = self.drive(serial)?;
        if drive.kind == DriveKind::Sas {
            return Err(cannot(serial, "sas"));
        }
        let mut take_out = |name: String| {
            self.qmp.execute("device_del", &json!({"id": name}))?;
            let gone = |event: &Value| event["event"] == "DEVICE_DELETED" && event["data"]["device"] == name.as_str();
            self.qmp.wait(gone, LET_GO)
        };
        drives::names(&drive).try_for_each(|name| take_out(name).map(drop)).map_err(|e| failed(serial, &e))
    }

    /// Puts a drive back where it was.
    pub fn plug(&mut self, serial: &str) -> Result<()> {
        let drive = self.drive(serial)?;
        let mut lines = drives::plugs(&self.machine).into_iter().filter(|(of, _)| *of == drive.serial);
        lines.try_for_each(|(_, line)| self.qmp.monitor(&line)).map_err(|e| failed(serial, &e))
    }

    /// Has I/Os of a drive fail, all of this kind or those that touch the 512 bytes at this offset.
    pub fn fail(&mut self, serial: &str, failing: Failing, at: Option<Bytes>) -> Result<()> {
        let drive = self.drive(serial)?;
        // A rule that does not say which I/Os would catch flushes, too, and then could not be taken away again.
        let kinds: &[&str] = match failing {
            Failing::Reads => &["read"],
            Failing::Writes => &["write"],
            Failing::All => &["read", "write"],
        };
        let rule = |kind: &&str| {
            let mut rule = json!({"event": "none", "iotype": kind, "errno": EIO});
            if let Some(at) = at {
                rule["sector"] = json!(at.0 / 512);
            }
            rule
        };
        let rules: Vec<Value> = kinds.iter().map(rule).collect();
        let errors = id("errors", serial);
        let node = json!({"driver": "blkdebug", "node-name": errors, "image": id("file", serial), "discard": "unmap", "inject-error": rules});
        self.qmp
            .execute("blockdev-add", &node)
            .and_then(|_| self.qmp.execute("blockdev-reopen", &limited(&drive, &errors)))
            .map(drop)
            .map_err(|e| failed(serial, &e))
    }

    /// Has a drive work again that [`Faults::fail`] had fail.
    pub fn heal(&mut self, serial: &str) -> Result<()> {
        let drive = self.drive(serial)?;
        self.qmp
            .execute("blockdev-reopen", &limited(&drive, &id("file", serial)))
            .and_then(|_| self.qmp.execute("blockdev-del", &json!({"node-name": id("errors", serial)})))
            .map(drop)
            .map_err(|e| failed(serial, &e))
    }

    /// Has an NVMe drive complain in its SMART log, with these bits of `critical_warning` beside those that its machine file gives it.
    pub fn warn(&mut self, serial: &str, further: u8) -> Result<()> {
        let drive = self.drive(serial)?;
        if drive.kind != DriveKind::Nvme {
            return Err(cannot(serial, "scsi, sas, virtio"));
        }
        let warnings = drive.warnings | further;
        let path = format!("/machine/peripheral/{}", id("drive", serial));
        let set = json!({"path": path, "property": "smart_critical_warning", "value": warnings});
        self.qmp.execute("qom-set", &set).map(drop).map_err(|e| failed(serial, &e))
    }

    fn set_limits(&mut self, drive: &Drive, iops: u64, bandwidth: u64) -> Result<()> {
        let path = format!("/objects/{}", id("limits", &drive.serial));
        // 0: no limit. A burst that the old limit had saved up is none of the new one's.
        let value = json!({"iops-total": iops, "bps-total": bandwidth});
        let set = json!({"path": path, "property": "limits", "value": value});
        self.qmp.execute("qom-set", &set).map(drop).map_err(|e| failed(&drive.serial, &e))
    }

    fn drive(&self, serial: &str) -> Result<Drive> {
        let found = self.machine.drives.iter().find(|drive| drive.serial == serial);
        found.cloned().ok_or_else(|| {
            let all: Vec<&str> = self.machine.drives.iter().map(|drive| drive.serial.as_str()).collect();
            let (all, name) = (all.join(", "), &self.machine.name);
            let message =
                say!("the machine `{name}` has no drive `{serial}`", "у машины `{name}` нет накопителя `{serial}`");
            Error::usage(message).hint(say!("it has {all}", "есть {all}"))
        })
    }
}

/// The limits of a drive over this node instead of the one below them now.
fn limited(drive: &Drive, below: &str) -> Value {
    let serial = &drive.serial;
    let discard = if drives::has_limits(drive) { "ignore" } else { "unmap" };
    json!({"options": [{"driver": "throttle", "node-name": id("limited", serial), "throttle-group": id("limits", serial), "file": below, "discard": discard}]})
}

fn cannot(serial: &str, kinds: &str) -> Box<Error> {
    Error::usage(say!(
        "the drive `{serial}` does not support this: QEMU cannot do it for this kind ({kinds})",
        "с накопителем `{serial}` этого сделать нельзя: для этого вида ({kinds}) QEMU такого не умеет"
    ))
}

fn failed(serial: &str, error: &io::Error) -> Box<Error> {
    Error::host_lost(say!(
        "the fault of the drive `{serial}` failed: {error}",
        "сбой накопителя `{serial}` вызвать не удалось: {error}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qmp::tests::actor;
    use stend_base::Kind;

    const MACHINE: &str =
        "machine: m\ndrives:\n  - {serial: A1, size: 64MiB, iops: 400}\n  - {serial: B2, kind: sas, size: 64MiB}\n";

    /// Commands that QEMU gets when it agrees to everything and then reports these events.
    fn told(answers: usize, events: &[Value], act: impl FnOnce(&mut Faults) -> Result<()>) -> (Vec<Value>, Result<()>) {
        let lines = std::iter::repeat_n(json!({"return": ""}), answers).chain(events.iter().cloned());
        let (qmp, actor) = actor(lines.collect());
        let mut faults = Faults::of(&stend_spec::parse::machine(MACHINE, "m.yaml").unwrap(), qmp);
        let done = act(&mut faults);
        drop(faults);
        (actor.join().unwrap(), done)
    }

    #[test]
    fn limits_come_and_go() {
        let (heard, done) = told(2, &[], |faults| faults.freeze("A1").and_then(|()| faults.as_described("A1")));
        done.unwrap();
        assert_eq!(heard[0]["arguments"]["path"], "/objects/limits-A1");
        assert_eq!(heard[0]["arguments"]["value"], json!({"iops-total": 1, "bps-total": 0}));
        assert_eq!(heard[1]["arguments"]["value"], json!({"iops-total": 400, "bps-total": 0}));
    }

    #[test]
    fn a_drive_is_out_when_the_guest_has_let_it_go_and_comes_back_to_its_slot() {
        let gone = json!({"event": "DEVICE_DELETED", "data": {"device": "drive-A1", "path": "/x"}});
        let (heard, done) = told(1, &[gone], |faults| faults.unplug("A1"));
        done.unwrap();
        assert_eq!(heard[0], json!({"execute": "device_del", "arguments": {"id": "drive-A1"}}));
        let (heard, done) = told(1, &[], |faults| faults.plug("A1"));
        done.unwrap();
        let line = heard[0]["arguments"]["command-line"].as_str().unwrap();
        assert!(line.starts_with("device_add nvme,id=drive-A1,bus=slot1,serial=A1,drive=limited-A1,"), "{line}");
    }

    #[test]
    fn of_a_drive_with_two_paths_both_are_out() {
        let text = "machine: m\ndrives: [{serial: A, kind: scsi, size: 64MiB, paths: 2, wwn: 5000c500a0b1c2d0}]\n";
        let gone = |name: &str| json!({"event": "DEVICE_DELETED", "data": {"device": name}});
        let answer = json!({"return": ""});
        let (qmp, actor) = actor(vec![answer.clone(), gone("drive-A"), answer, gone("drive-A-2")]);
        let mut faults = Faults::of(&stend_spec::parse::machine(text, "m.yaml").unwrap(), qmp);
        faults.unplug("A").unwrap();
        drop(faults);
        let asked: Vec<Value> = actor.join().unwrap().iter().map(|heard| heard["arguments"]["id"].clone()).collect();
        assert_eq!(asked, ["drive-A", "drive-A-2"]);
    }

    #[test]
    fn warnings_of_the_machine_file_stay_when_another_one_begins_and_ends() {
        let text = "machine: m\ndrives: [{serial: A, size: 64MiB, warnings: [spare]}]\n";
        let (qmp, actor) = actor(vec![json!({"return": ""}), json!({"return": ""})]);
        let mut faults = Faults::of(&stend_spec::parse::machine(text, "m.yaml").unwrap(), qmp);
        faults.warn("A", 4).unwrap();
        faults.warn("A", 0).unwrap();
        drop(faults);
        let values: Vec<Value> =
            actor.join().unwrap().iter().map(|heard| heard["arguments"]["value"].clone()).collect();
        assert_eq!(values, [5, 1]);
    }

    #[test]
    fn errors_are_put_below_the_limits_and_taken_away_again() {
        let (heard, done) = told(2, &[], |faults| faults.fail("A1", Failing::All, Some(Bytes::kib(40))));
        done.unwrap();
        let rules = heard[0]["arguments"]["inject-error"].as_array().unwrap();
        assert!(rules.len() == 2 && rules.iter().all(|rule| rule["sector"] == 80 && rule["iotype"].is_string()));
        assert_eq!(heard[1]["arguments"]["options"][0]["file"], "errors-A1");
        let (heard, done) = told(2, &[], |faults| faults.heal("A1"));
        done.unwrap();
        assert_eq!(heard[0]["arguments"]["options"][0]["file"], "file-A1");
        assert_eq!(heard[1]["arguments"]["node-name"], "errors-A1");
    }

    #[test]
    fn a_drive_that_is_not_there_or_cannot_is_an_error_before_qemu_is_asked() {
        for (act, words) in [(Faults::unplug as fn(&mut Faults, &str) -> Result<()>, "B2"), (Faults::freeze, "C3")] {
            let (heard, done) = told(0, &[], |faults| act(faults, words));
            let error = done.unwrap_err();
            assert!(heard.is_empty() && error.kind == Kind::Usage && error.message.ru.contains(words), "{error}");
        }
        let (_, done) = told(0, &[], |faults| faults.warn("B2", 1));
        assert!(done.unwrap_err().message.en.contains("does not support this"));
        let (qmp, actor) = actor(vec![json!({"error": {"desc": "node in use"}})]);
        let mut faults = Faults::of(&stend_spec::parse::machine(MACHINE, "m.yaml").unwrap(), qmp);
        let error = faults.warn("A1", 1).unwrap_err();
        assert!(error.kind == Kind::HostLost && error.message.en.contains("node in use"), "{error}");
        drop(faults);
        actor.join().unwrap();
    }
}
