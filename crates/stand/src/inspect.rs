//! From a path or identity to everything that is known of the target. Reads only.

use crate::access::{self, Viewer};
use crate::devices::Devices;
use crate::mounts::{self, Mount};
use crate::node::Node;
use crate::roots::{Roots, names, number};
use crate::{busy, drives, identity, testfile};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use stend_base::{Bytes, Error, Result, Say, say};
use stend_record::{Refusal, TargetFacts, TargetKind, WriteAccess};
use stend_sys::IoFile;
use stend_sys::block::{self, DevNo};

/// Direct I/O of file systems that do not tell their alignment: every one of them takes 4 KiB.
const BLOCK_UNKNOWN: Bytes = Bytes::kib(4);

/// Offsets on a null device stay below this; it takes any.
const NULL_SIZE: Bytes = Bytes::gib(64);

/// Looks at a target: a directory, a file, a block device or a link to one, the name of a device in `/dev` or
/// `/dev/disk/by-id`, or an identity as printed. Changes nothing, and reads no more of a device than its signatures.
///
/// Errors: `Usage` if there is no such thing, `Preflight` if it may not be read.
pub fn inspect(name: &str) -> Result<TargetFacts> {
    let roots = Roots::host();
    let mut facts = inspect_under(&roots, name)?;
    facts.busy = busy::look(&roots, &facts.devices);
    Ok(facts)
}

/// Whether a run file in `directory` would be written to a drive that the target is on. Then writing it
/// while measuring would disturb the measurement. A directory that is not there yet would lie where the nearest one above it does. False where the drives cannot be told, e.g. on a network
/// file system.
pub fn shares_drive(directory: &Path, target: &TargetFacts) -> bool {
    let roots = Roots::host();
    let Some(directory) = directory.ancestors().find_map(|at| std::fs::canonicalize(at).ok()) else { return false };
    let number = |path: &Path| std::fs::metadata(path).map(|m| m.dev());
    if target.kind != TargetKind::BlockDevice
        && let (Ok(ours), Ok(theirs)) = (number(&directory), number(Path::new(&target.path)))
        && ours == theirs
    {
        return true;
    }
    let devices = Devices::read(&roots);
    let mounts = mounts::own(&roots);
    let below = mounts::of_path(&mounts, &directory).map(|m| mounts::devices_of(&roots, &devices, &mounts, m));
    let stack = devices.stack(&below.unwrap_or_default());
    stack.iter().any(|(_, node)| target.devices.iter().any(|device| device.name == node.name))
}

/// [`inspect`] over given roots, without the look at what others do right now.
pub(crate) fn inspect_under(roots: &Roots, name: &str) -> Result<TargetFacts> {
    inspect_among(roots, &Devices::read(roots), name)
}

/// [`inspect_under`] with the devices of the host as they were read, so that several targets are looked at at one moment.
pub(crate) fn inspect_among(roots: &Roots, devices: &Devices, name: &str) -> Result<TargetFacts> {
    if identity::PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        let node = devices.all().find(|node| identity::of(roots, devices, node).as_deref() == Some(name));
        let node = node.ok_or_else(|| absent_identity(name))?;
        return Ok(device_facts(roots, devices, node, name, Viewer::Stranger));
    }
    let path = resolve(roots, name)?;
    let meta = std::fs::metadata(&path).map_err(|error| unreadable(name, &error))?;
    let kind = meta.file_type();
    if kind.is_block_device() {
        let number = DevNo::from_raw(meta.rdev());
        let node = devices.by_number(number).ok_or_else(|| dead_node(name, number))?;
        return Ok(device_facts(roots, devices, node, name, Viewer::Stranger));
    }
    let null = block::null_name(DevNo::from_raw(meta.rdev())).filter(|_| kind.is_char_device());
    if let Some(known_as) = null {
        return Ok(null_facts(name, known_as));
    }
    match (kind.is_dir(), kind.is_file()) {
        (true, _) => directory_facts(roots, devices, name, &path),
        (_, true) => file_facts(roots, devices, name, &path),
        _ => Err(Error::usage(say!(
            "`{name}` is neither a directory, nor a file, nor a block device",
            "`{name}` — не каталог, не файл и не блочное устройство"
        ))
        .hint(what_to_name())),
    }
}

/// Facts of a block device, with the verdict.
pub(crate) fn device_facts(roots: &Roots, devices: &Devices, node: &Node, named: &str, viewer: Viewer) -> TargetFacts {
    let verdict = access::judge(roots, devices, node, viewer);
    let queue = devices.disk(node).sysfs.join("queue");
    let block = |file: &str| number(queue.join(file)).map(Bytes);
    let logical_block = block("logical_block_size").unwrap_or(Bytes(512));
    TargetFacts {
        path: devices.path(node).display().to_string(),
        identity: verdict.identity,
        size: Bytes(node.size),
        free: Bytes(node.size),
        logical_block,
        physical_block: block("physical_block_size").unwrap_or(logical_block),
        devices: drives::describe(roots, devices, &devices.stack(&[node])),
        signatures: verdict.signatures,
        ..TargetFacts::new(named, TargetKind::BlockDevice, verdict.access)
    }
}

/// `/dev/null` and `/dev/zero` have no size and no blocks; what is said here only bounds offsets.
fn null_facts(named: &str, path: &str) -> TargetFacts {
    TargetFacts {
        path: path.to_string(),
        size: NULL_SIZE,
        free: NULL_SIZE,
        ..TargetFacts::new(named, TargetKind::NullDevice, WriteAccess::Nowhere)
    }
}

fn file_facts(roots: &Roots, devices: &Devices, named: &str, path: &Path) -> Result<TargetFacts> {
    let file = IoFile::open_read(path, false).map_err(|error| unreadable(named, &error))?;
    let shape = block::geometry(&file).map_err(|error| unreadable(named, &error))?;
    let mut facts = lying_on(roots, devices, named, path);
    facts.kind = TargetKind::File;
    facts.size = Bytes(shape.size);
    facts.free = facts.size;
    facts.logical_block = Bytes(u64::from(shape.logical_block));
    facts.physical_block = facts.physical_block.max(facts.logical_block);
    facts.access = WriteAccess::Refused(vec![Refusal::ForeignFile]);
    Ok(facts)
}

fn directory_facts(roots: &Roots, devices: &Devices, named: &str, path: &Path) -> Result<TargetFacts> {
    let (total, free) = block::space(path).map_err(|error| unreadable(named, &error))?;
    let mut facts = lying_on(roots, devices, named, path);
    facts.size = Bytes(total);
    facts.free = Bytes(free);
    let read_only = facts.mount_options.as_ref().is_some_and(|o| o.split(',').any(|option| option == "ro"));
    let blocked = if read_only { vec![Refusal::ReadOnly] } else { testfile::blocked(roots, path) };
    facts.access = if blocked.is_empty() { WriteAccess::OwnDirectory } else { WriteAccess::Refused(blocked) };
    Ok(facts)
}

/// What file and directory have in common: the file system and the devices below it.
fn lying_on(roots: &Roots, devices: &Devices, named: &str, path: &Path) -> TargetFacts {
    let mounts = mounts::own(roots);
    let mount = mounts::of_path(&mounts, path);
    let below = mount.map(|m| mounts::devices_of(roots, devices, &mounts, m)).unwrap_or_default();
    let stack = devices.stack(&below);
    let largest = |file: &str| {
        let sizes = below.iter().filter_map(|node| number(devices.disk(node).sysfs.join("queue").join(file)));
        sizes.max().map_or(BLOCK_UNKNOWN, Bytes)
    };
    let logical_block =
        if mount.is_some_and(takes_device_blocks) { largest("logical_block_size") } else { BLOCK_UNKNOWN };
    TargetFacts {
        path: path.display().to_string(),
        logical_block,
        physical_block: largest("physical_block_size").max(logical_block),
        file_system: mount.map(|m| m.kind.clone()),
        mount_options: mount.map(|m| m.options.clone()),
        journal: mount.and_then(|mount| journal(roots, devices, mount)),
        devices: drives::describe(roots, devices, &stack),
        ..TargetFacts::new(named, TargetKind::Directory, WriteAccess::OwnDirectory)
    }
}

/// Whether a file system of the ext family keeps a journal: each one that is mounted has a directory in `/proc/fs/jbd2`, named after the
/// device. `None` for others, or where the kernel shows none of that.
//= linux 6.12, fs/jbd2/journal.c, journal_init_inode(), jbd2_stats_proc_init()
fn journal(roots: &Roots, devices: &Devices, mount: &Mount) -> Option<bool> {
    if !matches!(mount.kind.as_str(), "ext3" | "ext4") {
        return None;
    }
    let (node, place) = (devices.by_number(mount.number)?, roots.proc.join("fs/jbd2"));
    let own = format!("{}-", node.name);
    place.is_dir().then(|| names(&place).iter().any(|name| name.starts_with(&own)))
}

/// File systems whose direct I/O is aligned to the blocks of the device, not to their own.
fn takes_device_blocks(mount: &Mount) -> bool {
    matches!(mount.kind.as_str(), "ext2" | "ext3" | "ext4" | "xfs")
}

/// Follows links; a bare name that is no file is looked for among the devices.
fn resolve(roots: &Roots, name: &str) -> Result<PathBuf> {
    let given = match std::fs::canonicalize(name) {
        Ok(path) => return Ok(path),
        Err(error) => error,
    };
    if !name.is_empty() && !name.contains('/') {
        let places = [roots.dev.join(name), roots.dev.join("disk/by-id").join(name)];
        if let Some(path) = places.iter().find_map(|place| std::fs::canonicalize(place).ok()) {
            return Ok(path);
        }
    }
    if name.is_empty() {
        let message = say!("the target has an empty name", "имя объекта пусто");
        return Err(Error::usage(message).hint(what_to_name()));
    }
    match given.kind() {
        std::io::ErrorKind::NotFound => {
            Err(Error::usage(say!("there is no `{name}`", "`{name}` не существует")).hint(what_to_name()))
        }
        _ => Err(unreadable(name, &given)),
    }
}

fn what_to_name() -> Say {
    say!(
        "name a directory, a file, a block device such as /dev/sda, or an identity as `stend inspect` prints it",
        "укажите каталог, файл, блочное устройство вроде /dev/sda или идентификатор, как его печатает `stend inspect`"
    )
}

fn unreadable(name: &str, error: &std::io::Error) -> Box<Error> {
    let Say { en, ru } = stend_sys::regular::why(error);
    let refused = Error::preflight(say!("cannot look at `{name}`: {en}", "не удаётся прочитать `{name}`: {ru}"));
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => refused
            .hint(say!("run it as a user who may read it", "запустите от имени пользователя, которому это разрешено")),
        std::io::ErrorKind::NotADirectory => refused.hint(what_to_name()),
        _ => refused,
    }
}

fn absent_identity(name: &str) -> Box<Error> {
    Error::usage(say!(
        "no block device here has the identity `{name}`",
        "здесь нет блочного устройства с идентификатором `{name}`"
    ))
    .hint(say!(
        "`stend inspect /dev/NAME` prints the identity of a device; reading it may need root",
        "`stend inspect /dev/ИМЯ` печатает идентификатор устройства; для чтения могут понадобиться права root"
    ))
}

fn dead_node(name: &str, number: DevNo) -> Box<Error> {
    Error::preflight(say!(
        "`{name}` refers to device {number}, which the kernel does not have",
        "`{name}` указывает на устройство {number}, которого нет в ядре"
    ))
}
