//! Makes machines and starts them; what was begun is undone if they do not all answer.

use crate::devices::DiskDevice;
use crate::disks;
use crate::domain;
use crate::down;
use crate::group::Group;
use crate::placement;
use crate::plan::xml;
use crate::reach;
use crate::virsh::Virsh;
use std::path::Path;
use std::time::{Duration, Instant};
use stend_base::{Error, Kind, Result, Say, say};
use stend_lab::Image;
use stend_spec::vm::{Accelerator, Machines};

/// What is put up.
pub struct Order<'a> {
    /// The machines.
    pub machines: &'a Machines,
    /// Their file.
    pub text: &'a str,
    /// For each disk that is a device, those that may be written, one for each machine; for others nothing.
    pub devices: Vec<Vec<DiskDevice>>,
    /// A number drawn for them.
    pub seed: u64,
}

impl Order<'_> {
    /// The machines as they would be, and how their guests would be executed. Nothing is changed.
    ///
    /// Errors: `Preflight` without libvirt, where it cannot execute guests so, or where there are machines of that name; `Unsafe` where a
    /// domain of somebody else has one of their names.
    pub fn group(&self, place: &Path) -> Result<(Group, Accelerator)> {
        let virsh = Virsh::new(self.machines.connection.as_deref());
        let uri = virsh.uri()?;
        let how = accelerator(&virsh, self.machines.accelerator)?;
        placement::must_exist(self.machines)?;
        let group = Group::new(self.machines, uri, self.devices.clone(), place, self.seed);
        group.must_be_new()?;
        let names = virsh.names()?;
        let taken = group.numbers().map(|number| domain::name(&self.machines.name, number));
        match taken.into_iter().find(|name| names.contains(name)) {
            None => Ok((group, how)),
            Some(name) => Err(Error::refused(say!(
                "libvirt has a domain `{name}` that is not one of these machines; it is left alone",
                "в libvirt есть домен `{name}`, который не из этих машин; он не тронут"
            ))
            .hint(say!("give the machines another name in the file", "дайте машинам в файле другое имя"))),
        }
    }
}

/// Machines that were put up.
pub struct Started {
    /// They.
    pub group: Group,
    /// Until all of their guests answered.
    pub took: Duration,
    /// How their guests are executed.
    pub how: Accelerator,
    /// Why they are emulated although libvirt offers KVM.
    pub without_kvm: Option<Say>,
}

/// Makes the machines and waits until all of their guests answer. When `stopped` is true, or one does not answer, all is undone.
///
/// Errors: as [`Order::group`]; `HostLost` with the console of a guest that does not answer; `Interrupted`.
pub fn up(order: &Order, image: &Image, place: &Path, stopped: &dyn Fn() -> bool) -> Result<Started> {
    let begun = Instant::now();
    let (group, how) = order.group(place)?;
    group.keep(order.text)?;
    let done = begin(&group, how, image, stopped).and_then(|way| answer(&group, stopped).map(|()| way));
    match done {
        Ok((how, without_kvm)) => Ok(Started { group, took: begun.elapsed(), how, without_kvm }),
        Err(error) => match down::undo(&group) {
            Ok(()) => Err(error),
            Err(left) => {
                let name = &group.machines.name;
                let Say { en, ru } = left.message;
                Err(error.hint(say!(
                    "not all of it could be undone ({en}); `stend vm down {name}` does that",
                    "не всё удалось отменить ({ru}); это сделает `stend vm down {name}`"
                )))
            }
        },
    }
}

/// Makes and starts all; how they are executed, and why not by KVM if that was tried.
fn begin(
    group: &Group,
    how: Accelerator,
    image: &Image,
    stopped: &dyn Fn() -> bool,
) -> Result<(Accelerator, Option<Say>)> {
    group.keep_image(image)?;
    disks::make(group)?;
    let begins = |number, how| if stopped() { Err(interrupted()) } else { start(group, number, how) };
    let gives_up = || group.virsh().run(&["undefine", &group.uuid(1)]).map(drop);
    let way = first(how, group.machines.accelerator, &|how| begins(1, how), &gives_up)?;
    for number in group.numbers().skip(1) {
        begins(number, way.0)?;
    }
    group.keep_accelerator(way.0)?;
    Ok(way)
}

/// Starts the first machine, by emulation where KVM is offered and QEMU ends at once with it. What the file asks for is not replaced by
/// anything else.
fn first(
    how: Accelerator,
    asked: Option<Accelerator>,
    start: &dyn Fn(Accelerator) -> Result<()>,
    gives_up: &dyn Fn() -> Result<()>,
) -> Result<(Accelerator, Option<Say>)> {
    let Err(error) = start(how) else { return Ok((how, None)) };
    if how != Accelerator::Kvm || asked.is_some() || error.kind == Kind::Interrupted {
        return Err(error);
    }
    if let Err(second) = gives_up() {
        let Say { en, ru } = second.message;
        return Err(error.hint(say!("it could not be undone either: {en}", "отменить это тоже не удалось: {ru}")));
    }
    let why = error.message;
    let emulated = start(Accelerator::Tcg);
    let Say { en, ru } = &why;
    emulated
        .map_err(|error| error.hint(say!("by KVM it did not start either: {en}", "с KVM тоже не запустилось: {ru}")))?;
    Ok((Accelerator::Tcg, Some(why)))
}

/// Makes libvirt know a machine, and starts it.
fn start(group: &Group, number: u32, how: Accelerator) -> Result<()> {
    let file = group.keep_domain(number, &xml(group, number, how, stend_lab::counter_khz()))?;
    let virsh = group.virsh();
    virsh.run(&["define", &file])?;
    virsh.run(&["start", &group.uuid(number)]).map(drop)
}

/// Waits for all guests, which boot at the same time.
fn answer(group: &Group, stopped: &dyn Fn() -> bool) -> Result<()> {
    let limit = Duration::from_nanos(group.machines.boot_limit.0);
    let begun = Instant::now();
    for number in group.numbers() {
        let left = limit.saturating_sub(begun.elapsed()).max(Duration::from_secs(1));
        let answered = reach::answers(group, number, left, stopped);
        if stopped() {
            return Err(interrupted());
        }
        answered?;
        placement::must_be_kept(group, number)?;
    }
    Ok(())
}

fn interrupted() -> Box<Error> {
    Error::interrupted(say!("interrupted; the virtual machines are removed", "прервано; виртуальные машины убраны"))
}

/// How guests are executed there: as asked for, else by KVM where libvirt offers it.
fn accelerator(virsh: &Virsh, asked: Option<Accelerator>) -> Result<Accelerator> {
    let offers =
        |kind| virsh.run(&["domcapabilities", "--virttype", kind, "--arch", "x86_64", "--machine", "q35"]).map(drop);
    match asked {
        Some(Accelerator::Tcg) => offers("qemu").map(|()| Accelerator::Tcg),
        Some(Accelerator::Kvm) => offers("kvm").map(|()| Accelerator::Kvm),
        None if offers("kvm").is_ok() => Ok(Accelerator::Kvm),
        None => offers("qemu").map(|()| Accelerator::Tcg),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// How the first machine is started where KVM does not work, and what was tried.
    fn tried(asked: Option<Accelerator>, works: bool) -> (Result<(Accelerator, Option<Say>)>, Vec<Accelerator>) {
        tried_with(asked, works, &|| Ok(()))
    }

    fn tried_with(
        asked: Option<Accelerator>,
        works: bool,
        gives_up: &dyn Fn() -> Result<()>,
    ) -> (Result<(Accelerator, Option<Say>)>, Vec<Accelerator>) {
        let tried = RefCell::new(Vec::new());
        let start = |how| {
            tried.borrow_mut().push(how);
            match how {
                Accelerator::Tcg if works => Ok(()),
                how => Err(Error::preflight(Say::same(format!("no {}", how.name())))),
            }
        };
        let result = first(Accelerator::Kvm, asked, &start, gives_up);
        (result, tried.into_inner())
    }

    #[test]
    fn a_kvm_that_is_offered_and_does_not_work_is_replaced_and_the_reason_is_told() {
        let both = vec![Accelerator::Kvm, Accelerator::Tcg];
        let (way, which) = tried(None, true);
        assert_eq!((way.unwrap(), &which), ((Accelerator::Tcg, Some(Say::same("no kvm"))), &both));
        let (way, which) = tried(None, false);
        let error = way.unwrap_err();
        assert_eq!((error.message.en.as_str(), which), ("no tcg", both));
        assert!(error.hint.unwrap().en.contains("no kvm"), "the first reason is kept");
        let (way, which) = tried_with(None, true, &|| Err(Error::preflight(Say::same("no undo"))));
        let error = way.unwrap_err();
        assert_eq!((error.message.en.as_str(), which), ("no kvm", vec![Accelerator::Kvm]), "what went wrong first");
        assert!(error.hint.unwrap().en.contains("no undo"));
        let (way, which) = tried(Some(Accelerator::Kvm), true);
        assert_eq!((way.unwrap_err().message.en.as_str(), which), ("no kvm", vec![Accelerator::Kvm]));
    }
}
