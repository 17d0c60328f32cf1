//! Virtual machines of libvirt: read from their file, put up, and named as the load hosts of a run. Must not talk to libvirt itself.

use crate::Progress;
use std::sync::Arc;
use stend_base::{Error, Result, Say, say};
use stend_lab::{Contents, Image};
use stend_record::{TargetFacts, WriteAccess};
use stend_run::{Hypervised, Hypervisor};
use stend_spec::fault::Act;
use stend_spec::hosts::{HostRole, Via};
use stend_spec::order::NamedText;
use stend_spec::permission::Permission;
use stend_spec::suite::Suite;
use stend_spec::vm::{Accelerator, Bus, DiskPlace, Machines};
use stend_stand::Lasting;
use stend_vm::{DiskDevice, Group, Member, Started, Step};

/// What a signature is called that is none.
const UNKNOWN_DATA: &str = "unknown-data";

/// Load hosts of a run that are virtual machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VmHosts {
    /// A file of hosts that names them.
    pub file: NamedText,
    /// Identities of all their disks, in the guests.
    pub identities: Vec<String>,
}

/// The machines of a file, and what putting them up would do. Changes nothing.
///
/// Errors: those of the file, of an image that is missing, of devices that may not be written, and of libvirt.
pub fn plan(file: &str, tell: &dyn Fn(Progress<'_>)) -> Result<(Machines, Accelerator, Vec<Step>)> {
    let (machines, text) = read(file)?;
    image()?;
    let order = order(&machines, &text, tell)?;
    let (group, how) = order.group(&stend_vm::state_directory()?)?;
    let steps = stend_vm::plan(&group, how, stend_lab::counter_khz());
    Ok((machines, how, steps))
}

/// Puts the machines of a file up and waits until all of their guests answer.
///
/// Errors: as [`plan`], and those of the start; `Interrupted` where `stopped` is true. Then all is undone.
pub fn up(file: &str, stopped: &dyn Fn() -> bool, tell: &dyn Fn(Progress<'_>)) -> Result<Started> {
    let (machines, text) = read(file)?;
    let (image, place) = (image()?, stend_vm::state_directory()?);
    let order = order(&machines, &text, tell)?;
    let (name, count) = (&machines.name, machines.count);
    tell(Progress::Note(say!(
        "starting virtual machines `{name}`: {count}",
        "запускаются виртуальные машины `{name}`: {count}"
    )));
    stend_vm::up(&order, &image, &place, stopped)
}

/// The machines of this name as load hosts, with all their disks as targets unless other targets are named.
///
/// Errors: `Preflight` where there are none, or a run has one of them.
pub fn hosts(name: &str, with_disks: bool) -> Result<VmHosts> {
    let group = Group::find(name, &stend_vm::state_directory()?)?;
    must_have_its_devices(&group)?;
    stend_vm::free(&group)?;
    Ok(of_group(&group, with_disks))
}

/// The hypervisor of the load hosts of an order; `None`: they are not all virtual machines of it. What a run that was killed left of its
/// changes to them is undone first, unless it is only looked `ahead`.
///
/// Errors: those of the file of hosts and of libvirt; `Preflight` where an event of the suite is not possible for these machines.
pub(crate) fn hypervisor(
    order: &stend_spec::order::Order,
    suite: &Suite,
    ahead: bool,
    tell: &dyn Fn(Say),
) -> Result<Option<Hypervisor>> {
    let hosts = crate::load_hosts::of_file(order, HostRole::Load)?.unwrap_or_default();
    let names: Vec<&String> =
        hosts.iter().filter_map(|host| if let Via::Vm(name) = &host.via { Some(name) } else { None }).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let place = stend_vm::state_directory()?;
    let members = names.iter().map(|name| Member::find(name, &place)).collect::<Result<Vec<_>>>()?;
    members.iter().try_for_each(|member| must_have_its_devices(&member.group))?;
    for (member, name) in members.iter().zip(&names).filter(|_| !ahead) {
        let group = &member.group.machines.name;
        let restored = stend_vm::restore(member, &mut |_| {}).map_err(|error| {
            error.or_hint(say!(
                "`stend vm down {group}` removes the machines and what was left of changes to them",
                "`stend vm down {group}` уберёт машины и всё, что осталось от их изменений"
            ))
        })?;
        if restored {
            tell(say!(
                "changes to `{name}` that a killed run had left are undone",
                "изменения `{name}`, оставшиеся от убитого прогона, отменены"
            ));
        }
    }
    if members.len() < hosts.len() {
        return Ok(None);
    }
    let all = suite.cases.iter().flat_map(|case| &case.faults);
    all.into_iter().try_for_each(|fault| stend_vm::foresee(&members, &fault.act))?;
    let change = move |asked: &Hypervised, tell: &mut dyn FnMut(String)| {
        if matches!((&asked.act, asked.undo), (Act::VmMove { .. }, true)) {
            // A drive that no machine has open may be another one by now, and gets the whole disk.
            members.iter().try_for_each(|member| must_have_its_devices(&member.group))?;
        }
        stend_vm::change(&members, &asked.act, (asked.block, asked.undo), tell)
    };
    Ok(Some(Hypervisor { change: Arc::new(change) }))
}

/// A path of a device may lead to another one since the machines got it: the host was started anew, or a drive was replaced.
///
/// Errors: `Unsafe` with the path that does.
fn must_have_its_devices(group: &Group) -> Result<()> {
    must_be_theirs(&group.machines.name, group.devices.iter().flatten())
}

fn must_be_theirs<'a>(name: &str, mut devices: impl Iterator<Item = &'a DiskDevice>) -> Result<()> {
    let moved = |device: &&DiskDevice| {
        device.identity.as_ref().is_some_and(|identity| !stend_stand::leads_to(&device.path, identity))
    };
    let Some(DiskDevice { path, identity }) = devices.find(moved) else { return Ok(()) };
    let identity = identity.as_deref().unwrap_or_default();
    Err(Error::refused(say!(
        "`{path}` is not the device that the virtual machines `{name}` got for a disk (`{identity}`)",
        "`{path}` — не то устройство, которое виртуальные машины `{name}` получили под диск (`{identity}`)"
    ))
    .hint(say!(
        "look for it with `stend inspect`; `stend vm down {name}` removes the machines and writes to no device",
        "найдите его командой `stend inspect`; `stend vm down {name}` уберёт машины и ничего не запишет на устройства"
    )))
}

fn of_group(group: &Group, with_disks: bool) -> VmHosts {
    let (mut text, mut identities) = ("hosts:\n".to_string(), Vec::new());
    for number in 1..=group.machines.count {
        let (name, serials) = (group.name_of(number), group.serials(number));
        let on = match with_disks {
            true => {
                let disks = group.machines.disks.iter().zip(&serials);
                let paths: Vec<String> = disks.map(|(disk, serial)| path(disk.bus, serial)).collect();
                format!(", on: [{}]", paths.join(", "))
            }
            false => String::new(),
        };
        text += &format!("  {name}: {{vm: {name}{on}}}\n");
        if with_disks {
            identities.extend(serials.iter().map(|serial| format!("serial:{serial}")));
        }
    }
    VmHosts { file: NamedText { file: format!("vm:{}", group.machines.name), text }, identities }
}

/// How udev calls a disk in the guest.
fn path(bus: Bus, serial: &str) -> String {
    match bus {
        Bus::Virtio => format!("/dev/disk/by-id/virtio-{serial}"),
        Bus::Scsi => format!("/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_{serial}"),
    }
}

fn read(file: &str) -> Result<(Machines, String)> {
    let limit = stend_spec::parse::SIZE_MAX as u64;
    let text = stend_sys::regular::text(file, limit).map_err(|Say { en, ru }| {
        let told = say!(
            "cannot read the file of virtual machines `{file}`: {en}",
            "не удаётся прочитать файл виртуальных машин `{file}`: {ru}"
        );
        Error::spec(told).hint(say!(
            "docs/formats/virtual-machines.md describes it",
            "формат описан в docs/formats/virtual-machines.md"
        ))
    })?;
    Ok((stend_spec::parse::machines(&text, file)?, text))
}

/// The guests are those of the lab.
fn image() -> Result<Image> {
    if std::env::consts::ARCH != "x86_64" {
        return Err(Error::preflight(say!(
            "the guests of virtual machines are for x86-64, and this machine has another processor",
            "гости виртуальных машин собраны для x86-64, а у этой машины другой процессор"
        )));
    }
    Image::find(&stend_lab::cache_directory()?, &Contents::default())
}

fn order<'a>(machines: &'a Machines, text: &'a str, tell: &dyn Fn(Progress<'_>)) -> Result<stend_vm::Order<'a>> {
    let now = crate::inputs::since_1970().as_nanos() as u64;
    let seed = stend_base::random::mix(now ^ u64::from(std::process::id()).rotate_left(32));
    Ok(stend_vm::Order { machines, text, devices: devices(machines, tell)?, seed })
}

/// The devices that the machines get: each is what the file names, in use by no one, and has nothing on it that the file does not
/// give up.
fn devices(machines: &Machines, tell: &dyn Fn(Progress<'_>)) -> Result<Vec<Vec<DiskDevice>>> {
    let all = machines.disks.iter().map(|disk| match &disk.place {
        DiskPlace::File { .. } => Ok(Vec::new()),
        DiskPlace::Devices(names) => names.iter().map(|name| stend_stand::inspect(name)).collect::<Result<Vec<_>>>(),
    });
    let mut all = all.collect::<Result<Vec<_>>>()?;
    let mut given = machines.overwrite.iter().filter(|named| *named != UNKNOWN_DATA).collect::<Vec<_>>();
    for (disk, facts) in machines.disks.iter().zip(&mut all) {
        let DiskPlace::Devices(names) = &disk.place else { continue };
        stend_stand::sample_contents(facts, &mut |told| tell(Progress::Note(Say::same(told))));
        for (name, facts) in names.iter().zip(facts.iter()) {
            let found: &[String] = match &facts.access {
                WriteAccess::Confirm { signatures, .. } => signatures,
                _ => &[],
            };
            given.retain(|named| !found.contains(named));
            let overwrite = machines.overwrite.iter().filter(|named| found.contains(named)).cloned().collect();
            let permission =
                Permission { confirm: vec![name.clone()], overwrite_signatures: overwrite, ..Permission::default() };
            stend_stand::may_write(facts, &permission)?.map_err(Error::refused)?;
        }
    }
    if let Some(named) = given.first() {
        let told = say!(
            "`overwrite` names `{named}`, which is on none of the devices",
            "`overwrite` называет `{named}`, а этого нет ни на одном устройстве"
        );
        return Err(Error::refused(told));
    }
    let device = |facts: &TargetFacts| {
        let Lasting { path, identity } = stend_stand::lasting(&facts.path);
        DiskDevice { path, identity }
    };
    Ok(all.iter().map(|facts| facts.iter().map(device).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn machines_whose_path_leads_to_another_device_are_not_used() {
        let device =
            |identity: Option<&str>| DiskDevice { path: "/dev/null".into(), identity: identity.map(String::from) };
        must_be_theirs("web", [device(None)].iter()).unwrap();
        let error = must_be_theirs("web", [device(None), device(Some("wwn:0xa"))].iter()).unwrap_err();
        assert!(error.kind == Kind::Unsafe && error.message.en.contains("wwn:0xa"), "{error}");
    }

    #[test]
    fn what_is_no_device_of_that_identity_is_not_given_to_a_machine() {
        let place = tempfile::tempdir().unwrap();
        let of = |device: &str, overwrite: &str| {
            let text = format!("machines: m\ncount: 1\noverwrite: [{overwrite}]\ndisks: [{{devices: ['{device}']}}]\n");
            devices(&stend_spec::parse::machines(&text, "m").unwrap(), &|_| {})
        };
        let here = place.path().to_string_lossy().into_owned();
        for device in [here.as_str(), "/nowhere", "serial:NOSUCHDISK"] {
            assert!(of(device, "").is_err(), "{device}");
        }
        let text = format!("machines: m\ncount: 1\noverwrite: [ext4]\ndisks: [{{size: 1MiB, directory: {here}}}]\n");
        let error = devices(&stend_spec::parse::machines(&text, "m").unwrap(), &|_| {}).unwrap_err();
        assert!(error.kind == Kind::Unsafe && error.message.ru.contains("ext4"), "{error}");
    }
}
