//! From YAML nodes to a [`Machine`] of the lab.

use super::address::{self, Address};
use super::{Map, boolean, bytes, list, name, span, text, whole, word};
use crate::keys::{self, Limits, machine as known};
use crate::machine::{self, Drive, DriveKind, Link, Machine};
use crate::yaml::{self, Node};
use stend_base::format::bytes as format;
use stend_base::{Bytes, Lang, Nanos, Result, say};

/// Parses a machine file. `file` names it in errors; kind of every error is `Spec`.
pub fn machine(text: &str, file: &str) -> Result<Machine> {
    parsed(text, file).map_err(|error| {
        error.or_hint(say!(
            "docs/formats/lab.md describes every key and has examples",
            "все ключи с примерами описаны в docs/formats/lab.md"
        ))
    })
}

fn parsed(text: &str, file: &str) -> Result<Machine> {
    let root = yaml::parse(text, file)?;
    let mut map = Map::of(&root, &known::MACHINE)?;
    let name = map.required("machine", name)?;
    let numa = map.optional("numa", nodes)?.unwrap_or_default();
    let whole_machine = numa.is_empty();
    let cpus = map.optional("cpus", |node| {
        alone(node, whole_machine)?;
        whole(node, known::CPUS)
    })?;
    let memory = map.optional("memory", |node| {
        alone(node, whole_machine)?;
        mebibytes(node, known::MEMORY)
    })?;
    let packages = map.optional("packages", |node| several(node, package))?.unwrap_or_default();
    let zfs = map.optional("zfs", boolean)?.unwrap_or(false);
    let kernel = map.optional("kernel", |node| several(node, parameter))?.unwrap_or_default();
    let poll_queues = map.optional("nvme_poll_queues", |node| whole(node, known::POLL_QUEUES))?;
    let links = map.optional("links", |node| links(node, &name))?.unwrap_or_default();
    let drives = map.required("drives", |node| drives(node, numa.len()))?;
    map.finish()?;
    let (all_cpus, all_memory) =
        numa.iter().fold((0, 0), |(cpus, memory), node| (cpus + node.cpus, memory + node.memory.0));
    Ok(Machine {
        name,
        cpus: if whole_machine { cpus.unwrap_or(1) } else { all_cpus },
        memory: if whole_machine { memory.unwrap_or(Bytes::gib(1)) } else { Bytes(all_memory) },
        numa,
        packages,
        zfs,
        kernel,
        links,
        nvme_poll_queues: poll_queues.unwrap_or(0),
        drives,
    })
}

/// What a machine with NUMA nodes does not say for itself.
fn alone(node: &Node, whole_machine: bool) -> Result<()> {
    if whole_machine {
        return Ok(());
    }
    let message = say!(
        "with `numa` the machine has the CPUs and the memory of its nodes",
        "с `numa` у машины процессоры и память её узлов"
    );
    Err(node.error(message))
}

fn nodes(node: &Node) -> Result<Vec<machine::Node>> {
    let items = list(node)?;
    let Limits { least, most } = known::NODES;
    if !known::NODES.hold(&items.len()) {
        let message = say!("a machine has {least} to {most} NUMA nodes", "у машины от {least} до {most} узлов NUMA");
        return Err(node.error(message));
    }
    let mut nodes = Vec::with_capacity(items.len());
    for item in items {
        let mut map = Map::of(item, &known::NUMA)?;
        let cpus = map.required("cpus", |node| whole(node, known::CPUS))?;
        let memory = map.required("memory", |node| mebibytes(node, known::NODE_MEMORY))?;
        map.finish()?;
        nodes.push(machine::Node { cpus, memory });
    }
    let (cpus, most) = (nodes.iter().map(|node| node.cpus).sum::<u32>(), known::CPUS.most);
    if cpus > most {
        let message = say!(
            "the nodes have {cpus} CPUs together, a machine has at most {most}",
            "у узлов вместе {cpus} процессоров, у машины их не больше {most}"
        );
        return Err(node.error(message));
    }
    let least = known::MEMORY.least;
    if nodes.iter().map(|node| node.memory.0).sum::<u64>() < least.0 {
        let (en, ru) = (format(least, Lang::En), format(least, Lang::Ru));
        return Err(node.error(say!("a machine has at least {en} of memory", "у машины не меньше {ru} памяти")));
    }
    Ok(nodes)
}

fn several(node: &Node, one: fn(&Node) -> Result<String>) -> Result<Vec<String>> {
    let items = list(node)?;
    let most = known::LIST.most;
    if !known::LIST.hold(&items.len()) {
        return Err(node.error(say!("at most {most} of them", "их может быть не больше {most}")));
    }
    items.iter().map(one).collect()
}

/// Networks of the machine `own` with others.
fn links(node: &Node, own: &str) -> Result<Vec<Link>> {
    let items = list(node)?;
    let Limits { least, most } = known::LINKS;
    if !known::LINKS.hold(&items.len()) {
        return Err(node.error(say!("a machine has {least} to {most} links", "у машины от {least} до {most} связей")));
    }
    let mut links: Vec<Link> = Vec::new();
    for item in items {
        let mut map = Map::of(item, &known::LINK)?;
        let link = Link { to: map.required("to", machine_name)?, address: map.required("address", with_prefix)? };
        map.finish()?;
        let to = &link.to;
        if to == own {
            return Err(item.error(say!("a link leads to another machine", "связь ведёт к другой машине")));
        }
        if links.iter().any(|other| other.to == *to) {
            return Err(item.error(say!("two links lead to `{to}`", "две связи ведут к `{to}`")));
        }
        links.push(link);
    }
    Ok(links)
}

/// It is the name of a directory, as that of every machine that stays up.
fn machine_name(node: &Node) -> Result<String> {
    let text = text(node)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if (1..=40).contains(&text.len()) && text.bytes().all(plain) && text.as_bytes()[0].is_ascii_alphanumeric() {
        return Ok(text);
    }
    Err(node.error(say!("`{text}` is no name of a machine that stays up", "`{text}` — не имя запущенной машины")))
}

fn with_prefix(node: &Node) -> Result<String> {
    let text = text(node)?;
    let fits = |(address, prefix): (&str, &str)| {
        Address::of(address).is_some_and(Address::is_host)
            && prefix.parse().is_ok_and(|bits: u8| (8..=30).contains(&bits))
    };
    match text.split_once('/').is_some_and(fits) {
        true => Ok(text),
        false => Err(address::wrong(node, &text, "10.77.0.1/24")),
    }
}

/// Its name goes into a command line of `apt-get`.
fn package(node: &Node) -> Result<String> {
    let text = text(node)?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if known::WORD.hold(&text.len())
        && text.bytes().all(|byte| plain(byte) || b"+.-".contains(&byte))
        && text.bytes().next().is_some_and(plain)
    {
        return Ok(text);
    }
    Err(node.error(say!("`{text}` is no name of a package", "`{text}` не имя пакета")).hint(say!(
        "names of packages are small letters, digits and `+`, `.`, `-`",
        "имена пакетов состоят из строчных латинских букв, цифр и знаков `+`, `.`, `-`"
    )))
}

/// It goes into the command line of the kernel, in which spaces set apart; `stend.` is ours.
fn parameter(node: &Node) -> Result<String> {
    let text = text(node)?;
    if known::WORD.hold(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.,:=/+-".contains(&byte))
        && text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && !text.starts_with("stend.")
    {
        return Ok(text);
    }
    Err(node.error(say!("`{text}` is no parameter of a kernel", "`{text}` не параметр ядра")).hint(say!(
        "one parameter per item, such as `nvme_core.io_timeout=5`, without spaces and quotes",
        "по одному параметру, например `nvme_core.io_timeout=5`, без пробелов и кавычек"
    )))
}

fn drives(node: &Node, nodes: usize) -> Result<Vec<Drive>> {
    let mut drives: Vec<Drive> = Vec::new();
    for item in list(node)? {
        for drive in item_drives(item, nodes)? {
            if drives.iter().any(|other| other.serial == drive.serial) {
                let serial = &drive.serial;
                let message = say!(
                    "two drives have the serial number `{serial}`",
                    "у двух накопителей один серийный номер: `{serial}`"
                );
                return Err(item.error(message));
            }
            if let Some(wwn) = drive.wwn.filter(|wwn| drives.iter().any(|other| other.wwn == Some(*wwn))) {
                let message = say!(
                    "two drives have the world-wide name `{wwn:016x}`",
                    "у двух накопителей одно всемирное имя: `{wwn:016x}`"
                );
                return Err(item.error(message));
            }
            drives.push(drive);
        }
    }
    let Limits { least, most } = known::DRIVES;
    if !known::DRIVES.hold(&drives.len()) {
        let message = say!("a machine has {least} to {most} drives", "у машины от {least} до {most} накопителей");
        return Err(node.error(message));
    }
    Ok(drives)
}

/// The drives that an item stands for.
fn item_drives(node: &Node, nodes: usize) -> Result<Vec<Drive>> {
    let mut map = Map::of(node, &known::DRIVE)?;
    let kind = map.optional("kind", |node| word(node, known::KINDS))?.unwrap_or(DriveKind::Nvme);
    let disk = matches!(kind, DriveKind::Scsi | DriveKind::Sas);
    let serial = map.required("serial", serial)?;
    let count = map.optional("count", |node| whole(node, known::COUNT))?;
    let drive = Drive {
        kind,
        serial: String::new(),
        node: map.optional("node", |item| place(item, nodes, kind))?,
        size: map.required("size", |node| mebibytes(node, known::SIZE))?,
        logical_block_size: map
            .optional("logical_block_size", |node| word(node, known::LOGICAL_BLOCK_SIZES))?
            .unwrap_or(512),
        iops: map.optional("iops", |node| whole(node, known::IOPS))?,
        bandwidth: map.optional("bandwidth", |node| within(node, known::BANDWIDTH, 1))?,
        latency: map.optional("latency", latency)?,
        rotation: map.optional("rotation", |node| of(node, disk, whole(node, known::ROTATION)?))?,
        wwn: map.optional("wwn", |node| of(node, disk, wwn(node)?))?,
        paths: map.optional("paths", |node| of(node, disk, whole(node, known::PATHS)?))?.unwrap_or(1),
        warnings: map.optional("warnings", |node| of(node, kind == DriveKind::Nvme, warnings(node)?))?.unwrap_or(0),
    };
    map.finish()?;
    if drive.paths > 1 && drive.wwn.is_none() {
        let message = say!(
            "a drive with several paths needs a `wwn`, by which they are known",
            "накопителю с несколькими путями нужен `wwn`: по нему их узнают"
        );
        return Err(node.error(message));
    }
    let last = count.map_or(0, |count| count - 1);
    if drive.wwn.is_some_and(|first| first.checked_add(u64::from(last)).is_none()) {
        let message = say!(
            "there are no world-wide names behind `wwn` for all of them",
            "после `wwn` не хватает всемирных имён на все накопители"
        );
        return Err(node.error(message));
    }
    let numbered = |index: u32| match count {
        None => serial.clone(),
        Some(count) => format!("{serial}{:0width$}", index + 1, width = count.to_string().len()),
    };
    let each = (0..count.unwrap_or(1)).map(|index| Drive {
        serial: numbered(index),
        wwn: drive.wwn.map(|first| first.saturating_add(u64::from(index))),
        ..drive.clone()
    });
    let drives: Vec<Drive> = each.collect();
    match drives.iter().find(|drive| !known::SERIAL.hold(&drive.serial.len())) {
        None => Ok(drives),
        Some(Drive { serial, .. }) => {
            let most = known::SERIAL.most;
            let message = say!(
                "with its number, `{serial}`, a serial number has more than {most} characters",
                "вместе с номером, `{serial}`, в серийном номере больше {most} знаков"
            );
            Err(node.error(message))
        }
    }
}

/// A value that drives of this kind have.
fn of<T>(node: &Node, has: bool, value: T) -> Result<T> {
    if has {
        return Ok(value);
    }
    Err(node.error(say!("drives of this kind do not have that", "у накопителей этого вида такого нет")))
}

fn place(node: &Node, nodes: usize, kind: DriveKind) -> Result<u32> {
    let number = whole(node, known::NODE)?;
    if kind == DriveKind::Sas {
        let message = say!(
            "a drive of the kind `sas` is on no node: the interrupts of its controller do not arrive there",
            "накопитель вида `sas` не может быть на узле: прерывания его контроллера оттуда не приходят"
        );
        return Err(node.error(message));
    }
    if (number as usize) < nodes {
        return Ok(number);
    }
    Err(node.error(say!("`numa` has no node {number}", "в `numa` нет узла {number}")))
}

fn wwn(node: &Node) -> Result<u64> {
    let text = text(node)?;
    let digits = text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let number = if digits { u64::from_str_radix(&text, 16).ok() } else { None };
    number.ok_or_else(|| {
        node.error(say!(
            "a world-wide name has 16 hexadecimal digits, letters in lower case; in quotes, if they are all decimal",
            "во всемирном имени 16 шестнадцатеричных цифр, буквы строчные; в кавычках, если все они десятичные"
        ))
    })
}

fn warnings(node: &Node) -> Result<u8> {
    let mut bits = list(node)?.iter().map(|item| word(item, known::WARNINGS));
    bits.try_fold(0, |all, bit| Ok(all | bit?))
}

fn mebibytes(node: &Node, limits: Limits<Bytes>) -> Result<Bytes> {
    within(node, limits, known::UNIT)
}

/// Whole milliseconds.
fn latency(node: &Node) -> Result<Nanos> {
    let (time, unit) = (span(node)?, Nanos::millis(1).0);
    if known::LATENCY.hold(&time) && time.0.is_multiple_of(unit) {
        return Ok(time);
    }
    let [least, most] = [known::LATENCY.least, known::LATENCY.most].map(|time| time.0 / unit);
    let message =
        say!("not {least} to {most} whole milliseconds", "нужно целое число миллисекунд, от {least} до {most}");
    Err(node.error(message))
}

fn within(node: &Node, limits: Limits<Bytes>, unit: u64) -> Result<Bytes> {
    let size = bytes(node)?;
    if limits.hold(&size) && size.0.is_multiple_of(unit) {
        return Ok(size);
    }
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| [limits.least, limits.most, Bytes(unit)].map(|n| format(n, lang)));
    let (least, most, step) = (&en[0], &en[1], &en[2]);
    let (from, to, by) = (&ru[0], &ru[1], &ru[2]);
    Err(node.error(say!("not {least} to {most} in steps of {step}", "нужен размер от {from} до {to} с шагом {by}")))
}

/// A serial number goes into command lines and paths of sysfs, so it is nothing but letters and digits.
fn serial(node: &Node) -> Result<String> {
    let text = text(node)?;
    if keys::machine::SERIAL.hold(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(text);
    }
    let Limits { least, most } = known::SERIAL;
    Err(node.error(say!(
        "a serial number has {least} to {most} letters (A to Z) and digits",
        "в серийном номере от {least} до {most} латинских букв и цифр"
    )))
}

#[cfg(test)]
mod tests;
