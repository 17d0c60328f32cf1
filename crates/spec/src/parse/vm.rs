//! From YAML nodes to virtual machines of a hypervisor.

use super::placement::cpus;
use super::{Map, boolean, bytes, list, span, text, whole, word};
use crate::keys::placement::NUMBER;
use crate::keys::{Limits, machine, vm as known};
use crate::vm::{Cache, Disk, DiskIo, DiskPlace, Machines, Place};
use crate::yaml::{self, Node};
use std::collections::BTreeSet;
use stend_base::format::bytes as format;
use stend_base::{Bytes, Lang, Nanos, Result, say};

/// Parses a file of virtual machines. `name` names it in errors; kind of every error is `Spec`.
pub fn machines(text: &str, name: &str) -> Result<Machines> {
    parsed(text, name).map_err(|error| {
        error.or_hint(say!(
            "docs/formats/virtual-machines.md describes every key and has examples",
            "все ключи с примерами описаны в docs/formats/virtual-machines.md"
        ))
    })
}

fn parsed(text: &str, file: &str) -> Result<Machines> {
    let root = yaml::parse(text, file)?;
    let mut map = Map::of(&root, &known::FILE)?;
    let name = map.required("machines", named)?;
    let connection = map.optional("connection", connection)?;
    let count = map.required("count", |node| whole(node, known::COUNT))?;
    let cpus = map.optional("cpus", |node| whole(node, machine::CPUS))?.unwrap_or(1);
    let memory = map.optional("memory", |node| mebibytes(node, machine::MEMORY))?;
    let accelerator = map.optional("accelerator", |node| word(node, known::ACCELERATORS))?;
    let boot_limit = map.optional("boot_limit", limit)?.unwrap_or(Nanos::secs(300));
    let overwrite = map.optional("overwrite", signatures)?.unwrap_or_default();
    let placement = map.optional("placement", places)?.unwrap_or_default();
    let disks = map.required("disks", |node| disks(node, count))?;
    map.finish()?;
    each_once(&root, &disks)?;
    let memory = memory.unwrap_or(Bytes::gib(1));
    Ok(Machines { name, connection, count, cpus, memory, accelerator, boot_limit, overwrite, placement, disks })
}

fn named(node: &Node) -> Result<String> {
    let found = text(node)?;
    match crate::vm::is_name(&found) {
        true => Ok(found),
        false => {
            let most = known::NAME.most;
            Err(node.error(say!(
                "not a name: 1 to {most} letters, digits, `-`, `_`, a letter or digit first",
                "не имя: от 1 до {most} латинских букв, цифр, `-`, `_`, первой — буква или цифра"
            )))
        }
    }
}

/// What is handed to `virsh`: no option, and nothing that has to be quoted.
pub(super) fn connection(node: &Node) -> Result<String> {
    let found = text(node)?;
    let strange = |letter: char| letter.is_whitespace() || letter.is_control();
    match known::PATH.hold(&found.len()) && !found.starts_with('-') && !found.contains(strange) {
        true => Ok(found),
        false => Err(node
            .error(say!("this is no URI of libvirt", "это не URI libvirt"))
            .hint(say!("for example `qemu:///system`", "например `qemu:///system`"))),
    }
}

fn limit(node: &Node) -> Result<Nanos> {
    let found = span(node)?;
    match known::BOOT_LIMIT.hold(&found) {
        true => Ok(found),
        false => Err(node.error(say!("`boot_limit` is 1 s to 1 h", "`boot_limit` — от 1 с до 1 ч"))),
    }
}

fn mebibytes(node: &Node, limits: Limits<Bytes>) -> Result<Bytes> {
    let found = bytes(node)?;
    if limits.hold(&found) && found.0 % machine::UNIT == 0 {
        return Ok(found);
    }
    let [(least, most), (least_ru, most_ru)] =
        [Lang::En, Lang::Ru].map(|lang| (format(limits.least, lang), format(limits.most, lang)));
    Err(node.error(say!("not {least} to {most} in whole MiB", "нужно от {least_ru} до {most_ru}, целое число МиБ")))
}

fn places(node: &Node) -> Result<Vec<Place>> {
    let items = list(node)?;
    if !known::PLACES.hold(&items.len()) {
        let most = known::PLACES.most;
        return Err(node.error(say!("`placement` has 1 to {most} items", "в `placement` от 1 до {most} элементов")));
    }
    items.iter().map(place).collect()
}

fn place(node: &Node) -> Result<Place> {
    let mut map = Map::of(node, &known::PLACE)?;
    let cpus = map.optional("cpus", cpus)?.unwrap_or_default();
    let memory_node = map.optional("memory_node", |node| whole(node, NUMBER))?;
    map.finish()?;
    if cpus.is_empty() && memory_node.is_none() {
        return Err(
            node.error(say!("a place has `cpus`, `memory_node` or both", "у места есть `cpus`, `memory_node` или оба"))
        );
    }
    Ok(Place { cpus, memory_node })
}

/// A device is the disk of one machine.
fn each_once(node: &Node, disks: &[Disk]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let all = disks.iter().filter_map(|disk| if let DiskPlace::Devices(all) = &disk.place { Some(all) } else { None });
    match all.flatten().find(|device| !seen.insert(*device)) {
        None => Ok(()),
        Some(twice) => {
            Err(node.error(say!("`{twice}` is named twice in `devices`", "`{twice}` указан в `devices` дважды")))
        }
    }
}

fn disks(node: &Node, count: u32) -> Result<Vec<Disk>> {
    let items = list(node)?;
    let Limits { least, most } = known::DISKS;
    if !known::DISKS.hold(&items.len()) {
        return Err(node.error(say!("a machine has {least} to {most} disks", "у машины от {least} до {most} дисков")));
    }
    items.iter().map(|item| disk(item, count)).collect()
}

fn disk(node: &Node, count: u32) -> Result<Disk> {
    let mut map = Map::of(node, &known::DISK)?;
    let directory = map.optional("directory", directory)?;
    let size = map.optional("size", |node| mebibytes(node, machine::SIZE))?;
    let sparse = map.optional("sparse", boolean)?;
    let devices = map.optional("devices", |node| devices(node, count))?;
    let bus = map.optional("bus", |node| word(node, known::BUSES))?.unwrap_or_default();
    let cache = map.optional("cache", |node| word(node, known::CACHES))?;
    let io = map.optional("io", |node| word(node, known::IO))?;
    let iothread = map.optional("iothread", boolean)?.unwrap_or(false);
    let iops = map.optional("iops", |node| whole(node, machine::IOPS))?;
    let bandwidth = map.optional("bandwidth", bandwidth)?;
    map.finish()?;
    let place = match (directory, size, devices, sparse) {
        (Some(directory), Some(size), None, sparse) => {
            DiskPlace::File { directory, size, sparse: sparse.unwrap_or(false) }
        }
        (None, None, Some(devices), None) => DiskPlace::Devices(devices),
        _ => {
            return Err(node.error(say!(
                "a disk has either `directory` with `size` (and `sparse`), or `devices`",
                "у диска бывает либо `directory` с `size` (и `sparse`), либо `devices`"
            )));
        }
    };
    // QEMU refuses it: Linux AIO waits in the page cache.
    if io == Some(DiskIo::Native) && !matches!(cache, Some(Cache::None | Cache::Directsync)) {
        let told = say!(
            "`io: native` needs `cache: none` or `cache: directsync`",
            "для `io: native` нужно `cache: none` или `cache: directsync`"
        );
        return Err(node.error(told));
    }
    Ok(Disk { place, bus, cache, io, iothread, iops, bandwidth })
}

/// Most bytes per second of a disk.
pub(super) fn bandwidth(node: &Node) -> Result<Bytes> {
    let found = bytes(node)?;
    match machine::BANDWIDTH.hold(&found) {
        true => Ok(found),
        false => Err(node.error(say!("`bandwidth` is 4 KiB to 1 TiB", "`bandwidth` — от 4 КиБ до 1 ТиБ"))),
    }
}

/// A path that is the same wherever Stend runs and whatever it is handed to.
pub(super) fn directory(node: &Node) -> Result<String> {
    let found = text(node)?;
    let plain =
        found.starts_with('/') && !found.chars().any(char::is_control) && !found.split('/').any(|part| part == "..");
    match known::PATH.hold(&found.len()) && plain {
        true => Ok(found),
        false => Err(node.error(say!("not an absolute path without `..`", "нужен абсолютный путь без `..`"))),
    }
}

/// As many as there are machines.
fn devices(node: &Node, count: u32) -> Result<Vec<String>> {
    let items = list(node)?;
    if items.len() != count as usize {
        let found = items.len();
        return Err(node.error(say!(
            "{found} devices for {count} machines; each needs its own",
            "устройств: {found}, машин: {count}; каждой нужно своё"
        )));
    }
    let one = |item: &Node| {
        let found = text(item)?;
        match known::PATH.hold(&found.len()) && !found.chars().any(char::is_control) {
            true => Ok(found),
            false => Err(item.error(say!("this is no identity of a device", "это не идентификатор устройства"))),
        }
    };
    items.iter().map(one).collect()
}

fn signatures(node: &Node) -> Result<Vec<String>> {
    let items = list(node)?;
    let most = known::SIGNATURES.most;
    if !known::SIGNATURES.hold(&items.len()) {
        return Err(node.error(say!("at most {most} signatures", "не больше {most} меток")));
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let one = |item: &Node| {
        let found = text(item)?;
        match (1..=64).contains(&found.len()) && found.bytes().all(fits) {
            true => Ok(found),
            false => Err(item.error(say!("this names no signature", "это не имя метки"))),
        }
    };
    items.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vm::{Accelerator, Bus};
    use stend_base::Kind;

    const DISK: &str = "{size: 64MiB, directory: /srv}";

    fn refused(text: &str, told: &str) {
        let error = machines(text, "m.yaml").expect_err(text);
        assert!(error.kind == Kind::Spec && error.message.en.contains(told), "{text}: {error}");
        assert!(error.place.is_some() && error.message.en != error.message.ru, "{text}: {error}");
    }

    #[test]
    fn machines_are_what_their_file_says_and_else_small_and_plain() {
        let found = machines(&format!("machines: web\ncount: 4\ndisks: [{DISK}]"), "m").unwrap();
        let disk = Disk {
            place: DiskPlace::File { directory: "/srv".into(), size: Bytes::mib(64), sparse: false },
            bus: Bus::Virtio,
            cache: None,
            io: None,
            iothread: false,
            iops: None,
            bandwidth: None,
        };
        let plain = Machines {
            name: "web".into(),
            connection: None,
            count: 4,
            cpus: 1,
            memory: Bytes::gib(1),
            accelerator: None,
            boot_limit: Nanos::secs(300),
            overwrite: Vec::new(),
            placement: Vec::new(),
            disks: vec![disk],
        };
        assert_eq!(found, plain);
        let text = "machines: db\nconnection: qemu:///session\ncount: 2\ncpus: 8\nmemory: 2GiB\naccelerator: tcg\nboot_limit: 90s\n\
                    overwrite: [ext4]\ndisks: [{devices: [serial:A, serial:B], bus: scsi, cache: none, io: native, iothread: true, iops: 400, bandwidth: 20MiB}]";
        let found = machines(text, "m").unwrap();
        let connection = (found.connection.as_deref(), found.accelerator, found.boot_limit);
        assert_eq!(connection, (Some("qemu:///session"), Some(Accelerator::Tcg), Nanos::secs(90)));
        let disk = &found.disks[0];
        assert_eq!((disk.bus, disk.io, disk.iothread), (Bus::Scsi, Some(DiskIo::Native), true));
        assert_eq!(disk.place, DiskPlace::Devices(vec!["serial:A".into(), "serial:B".into()]));
        assert_eq!(found.overwrite, ["ext4"]);
    }

    #[test]
    fn what_no_machine_can_have_is_refused_by_its_place() {
        let whole = |more: &str, disk: &str| format!("machines: m\ncount: 1\n{more}disks: [{disk}]");
        let either = "either `directory` with `size`";
        for disk in
            ["size: 64MiB", "directory: /a", "size: 64MiB, devices: [a]", "devices: [a], sparse: true", "bus: scsi"]
        {
            refused(&whole("", &format!("{{{disk}}}")), either);
        }
        refused(&whole("", "{devices: [a, b]}"), "2 devices for 1 machines");
        refused("machines: m\ncount: 2\ndisks: [{devices: [a, b]}, {devices: [c, a]}]", "`a` is named twice");
        refused(&whole("overwrite: ['a b']\n", DISK), "names no signature");
        refused(&whole("", "{size: 64MiB, directory: /a, io: native}"), "`io: native` needs `cache: none`");
        for path in ["a", "/a/../etc", "\"/a\\nb\""] {
            refused(&whole("", &format!("{{size: 64MiB, directory: {path}}}")), "absolute path");
        }
        refused(&whole("", "{size: 100B, directory: /a}"), "in whole MiB");
        refused(&whole("memory: 128MiB\n", DISK), "in whole MiB");
        refused(&whole("boot_limit: 2h\n", DISK), "`boot_limit` is");
        refused(&whole("placement: []\n", DISK), "1 to 64 items");
        refused(&whole("placement: [{}]\n", DISK), "`memory_node` or both");
        refused(&whole("placement: [{cpus: [0, 0]}]\n", DISK), "each once");
        refused(&whole("connection: --help\n", DISK), "no URI of libvirt");
        refused("machines: m\ncount: 1\ndisks: []", "1 to 16 disks");
        refused(&format!("machines: m\ncount: 65\ndisks: [{DISK}]"), "64");
        for name in ["a/b", "-m", "''", &"x".repeat(31)] {
            refused(&format!("machines: {name}\ncount: 1\ndisks: [{DISK}]"), "");
        }
        refused(&whole("", "{size: 64MiB, directory: /a, bus: nvme}"), "nvme");
    }
}
