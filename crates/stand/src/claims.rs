//! Leases on devices by identity, and what a claim that was not given means in words.

use crate::devices::Devices;
use crate::node::Node;
use crate::owner::{self, Note, Owner};
use crate::roots::Roots;
use crate::{identity, permission};
use std::time::Duration;
use stend_base::{Code, Error, Kind, Result, Say, say};
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
            "найдите её командой `lslocks`; эту блокировку берут программы разметки, установщики и другой прогон Stend"
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
            "refused to write to `{path}`: it changed since it was looked at ({en})",
            "запись в `{path}` отклонена: после проверки цель изменилась ({ru})"
        ),
    )
    .hint(say!(
        "run `stend inspect {path}` and confirm what it shows now",
        "выполните `stend inspect {path}` и подтвердите то, что там сейчас"
    ))
}

/// O_DIRECT does not work here.
pub(crate) fn direct_refused(path: &str) -> Box<Error> {
    Error::new(
        Kind::Preflight,
        say!(
            "cannot open `{path}` with direct I/O: its file system refuses O_DIRECT",
            "не удаётся открыть `{path}` в режиме прямого ввода-вывода: файловая система не поддерживает O_DIRECT"
        ),
    )
    .hint(say!(
        "name a directory on another file system, or write `direct: false` in the suite to measure with the page cache",
        "укажите каталог на другой файловой системе или задайте в наборе `direct: false`, чтобы измерять вместе с кешем страниц"
    ))
}

/// The system did not let us do `what`, words that follow "cannot".
pub(crate) fn preflight(path: &str, what: &Say, error: &std::io::Error) -> Box<Error> {
    if let Some(refused) = stend_sys::tree::refusal(error) {
        return refused;
    }
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let Say { en, ru } = what;
    let Say { en: why, ru: why_ru } = stend_sys::regular::why(error);
    let message = say!("cannot {en}: `{path}`: {why}", "не удалось {ru}: `{path}`: {why_ru}");
    let error_with = |hint| Error::new(Kind::Preflight, message.clone()).hint(hint);
    match error.kind() {
        StorageFull | QuotaExceeded => error_with(say!(
            "free some space, name another directory, or set a smaller `fill: {{size: …}}` in the suite",
            "освободите место, укажите другой каталог или задайте в наборе меньший `fill: {{size: …}}`"
        )),
        PermissionDenied => error_with(say!(
            "devices need root; of directories name one of your own, for example `mkdir ~/stend-test` and `--on ~/stend-test`",
            "для устройств нужны права root; каталог укажите свой, например `mkdir ~/stend-test` и `--on ~/stend-test`"
        )),
        ReadOnlyFilesystem => error_with(say!(
            "the file system is mounted read-only; name a directory on another one",
            "файловая система смонтирована только для чтения; укажите каталог на другой"
        )),
        _ => Error::new(Kind::Preflight, message),
    }
}

/// Why a target cannot be opened for reading.
pub(crate) fn cannot_read(path: &str, direct: bool, error: &std::io::Error) -> Box<Error> {
    if direct && error.kind() == std::io::ErrorKind::InvalidInput {
        return direct_refused(path);
    }
    preflight(path, &say!("open for reading", "открыть на чтение"), error)
}
