//! Leases on devices by identity, and what a claim that was not given means in words.

use crate::devices::Devices;
pub(crate) use crate::io_errors::{cannot_read, direct_refused, preflight};
use crate::node::Node;
use crate::owner::{self, Note, Owner};
use crate::roots::Roots;
use crate::{identity, permission};
use std::time::Duration;
use stend_base::{Code, Error, Result, Say, say};
use stend_record::Refusal;
use stend_sys::Claim;
use stend_sys::claim::{DeviceRequest, Lease, NotClaimed, OwnDirectory};

/// How long others may be looking at a device: udev reads a new one for well under a second.
const PATIENCE: Duration = Duration::from_secs(3);
/// Longest file name of a lease; the file systems allow 255.
const NAME_MAX: usize = 200;

/// Name of the lease on a device: that of its whole disk, because the lock is on the whole disk as well.
/// `None` if neither has an identity.
pub(crate) fn lease_name(roots: &Roots, devices: &Devices, node: &Node) -> Option<String> {
    let disk = identity::of(roots, devices, devices.disk(node));
    let identity = disk.or_else(|| identity::of(roots, devices, node))?;
    // Names that differ only in what is replaced share a lease: one refusal too many, never one too few.
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = identity.chars().map(safe).collect();
    Some(format!("{}.lease", &name[name.len().saturating_sub(NAME_MAX)..]))
}

/// The run that holds a lease now.
pub(crate) fn live(roots: &Roots, lease: &str) -> Option<Refusal> {
    let directory = OwnDirectory::open(&roots.leases()).ok()?;
    let seen = Lease::look(&directory, lease).ok()??;
    seen.held.then(|| owner::refusal(&seen.note))
}

/// What a run that is gone without giving a lease back has left in it.
pub(crate) fn left(roots: &Roots, lease: &str) -> Option<Note> {
    let directory = OwnDirectory::open(&roots.leases()).ok()?;
    let seen = Lease::look(&directory, lease).ok()??;
    Note::parse(&seen.note).filter(|_| !seen.held)
}

/// Claims a device for a run.
pub(crate) fn claim(roots: &Roots, devices: &Devices, node: &Node, owner: &Owner) -> Result<Claim> {
    let path = devices.path(node);
    let name = path.display().to_string();
    let lease = lease_name(roots, devices, node).ok_or_else(|| permission::refused(&name, &[Refusal::NoIdentity]))?;
    let request = DeviceRequest {
        node: &path,
        whole_disk: &devices.path(devices.disk(node)),
        device: node.number,
        size: node.size,
        leases: &roots.leases(),
        lease: &lease,
        note: &Note::own(roots, owner).to_text(),
        patience: PATIENCE,
    };
    Claim::device(&request).map_err(|error| explain(&name, error))
}

/// What a refused claim on `path` means to a person.
pub(crate) fn explain(path: &str, error: NotClaimed) -> Box<Error> {
    match error {
        NotClaimed::Leased(note) => permission::refused(path, &[owner::refusal(&note)]),
        NotClaimed::DiskLocked => Error::new(
            Code::TargetRefused,
            say!(
                "cannot claim `{path}`: another program holds the lock of the whole disk",
                "не удаётся занять `{path}`: блокировку всего диска держит другая программа"
            ),
        )
        .hint(say!(
            "find it with `lslocks`; partitioning tools, installers and another run of Stend take this lock",
            "найдите её командой `lslocks`; эту блокировку берут программы разметки, установщики и другой прогон Стенда"
        )),
        NotClaimed::Busy => permission::refused(path, &[Refusal::HeldBy { pid: 0, name: String::new() }]),
        NotClaimed::Changed(what) => changed(path, &what),
        NotClaimed::DirectRefused => direct_refused(path),
        NotClaimed::Io(what, error) => preflight(path, &what, &error),
    }
}

/// A target that is not what was confirmed.
pub(crate) fn changed(path: &str, what: &Say) -> Box<Error> {
    let Say { en, ru } = what;
    Error::new(
        Code::TargetChanged,
        say!(
            "refused to write to `{path}`: it has changed since it was checked ({en})",
            "запись в `{path}` отклонена: после проверки объект изменился ({ru})"
        ),
    )
    .hint(say!(
        "run `stend inspect {path}` and confirm what it shows now",
        "выполните `stend inspect {path}` и подтвердите то, что там сейчас"
    ))
}
