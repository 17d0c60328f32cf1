//! Makes machines and starts them; what was begun is undone if they do not all answer.

use crate::disks;
use crate::domain;
use crate::down;
use crate::group::Group;
use crate::plan::xml;
use crate::reach;
use crate::virsh::Virsh;
use std::path::Path;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_lab::Image;
use stend_spec::vm::{Accelerator, Machines};

/// What is put up.
pub struct Order<'a> {
    /// The machines.
    pub machines: &'a Machines,
    /// Their file.
    pub text: &'a str,
    /// For each disk that is a device, paths that may be written, one for each machine; for others nothing.
    pub devices: Vec<Vec<String>>,
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

/// Makes the machines and waits until all of their guests answer; how long that took. When `stopped` is true, or one does not answer, all is
/// undone.
///
/// Errors: as [`Order::group`]; `HostLost` with the console of a guest that does not answer; `Interrupted`.
pub fn up(order: &Order, image: &Image, place: &Path, stopped: &dyn Fn() -> bool) -> Result<(Group, Duration)> {
    let begun = Instant::now();
    let (group, how) = order.group(place)?;
    group.keep(order.text)?;
    let done = begin(&group, how, image, stopped).and_then(|()| answer(&group, stopped));
    match done {
        Ok(()) => Ok((group, begun.elapsed())),
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

fn begin(group: &Group, how: Accelerator, image: &Image, stopped: &dyn Fn() -> bool) -> Result<()> {
    group.keep_image(image)?;
    disks::make(group)?;
    let mut how = how;
    for number in group.numbers() {
        if stopped() {
            return Err(interrupted());
        }
        let begun = start(group, number, how);
        // On some machines KVM is offered and QEMU ends at once with it. What the file asks for is not replaced by anything else.
        let may_emulate = number == 1 && how == Accelerator::Kvm && group.machines.accelerator.is_none();
        match begun {
            Err(_) if may_emulate => {
                group.virsh().run(&["undefine", &group.uuid(number)])?;
                how = Accelerator::Tcg;
                start(group, number, how)?;
            }
            begun => begun?,
        }
    }
    Ok(())
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
