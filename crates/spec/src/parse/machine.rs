//! From YAML nodes to a [`Machine`] of the lab.

use super::{Map, bytes, list, name, text, whole, word};
use crate::keys::{self, Limits, machine as known};
use crate::machine::{Drive, DriveKind, Machine};
use crate::yaml::{self, Node};
use stend_base::format::bytes as format;
use stend_base::{Bytes, Lang, Result, say};

/// Parses a machine file. `file` names it in errors; kind of every error is `Spec`.
pub fn machine(text: &str, file: &str) -> Result<Machine> {
    let root = yaml::parse(text, file)?;
    let mut map = Map::of(&root, file, &known::MACHINE)?;
    let name = map.required("machine", name)?;
    let cpus = map.optional("cpus", |node, file| whole(node, file, known::CPUS))?.unwrap_or(1);
    let memory = map.optional("memory", |node, file| mebibytes(node, file, known::MEMORY))?;
    let poll_queues = map.optional("nvme_poll_queues", |node, file| whole(node, file, known::POLL_QUEUES))?;
    let drives = map.required("drives", drives)?;
    map.finish()?;
    Ok(Machine {
        name,
        cpus,
        memory: memory.unwrap_or(Bytes::gib(1)),
        nvme_poll_queues: poll_queues.unwrap_or(0),
        drives,
    })
}

fn drives(node: &Node, file: &str) -> Result<Vec<Drive>> {
    let items = list(node, file)?;
    let Limits { least, most } = known::DRIVES;
    if !known::DRIVES.hold(&items.len()) {
        let message = say!("a machine has {least} to {most} drives", "у машины от {least} до {most} накопителей");
        return Err(node.error(file, message));
    }
    let mut drives: Vec<Drive> = Vec::with_capacity(items.len());
    for item in items {
        let drive = drive(item, file)?;
        if drives.iter().any(|other| other.serial == drive.serial) {
            let serial = &drive.serial;
            let message = say!(
                "two drives have the serial number `{serial}`",
                "у двух накопителей один серийный номер: `{serial}`"
            );
            return Err(item.error(file, message));
        }
        drives.push(drive);
    }
    Ok(drives)
}

fn drive(node: &Node, file: &str) -> Result<Drive> {
    let mut map = Map::of(node, file, &known::DRIVE)?;
    let drive = Drive {
        kind: map.optional("kind", |node, file| word(node, file, known::KINDS))?.unwrap_or(DriveKind::Nvme),
        serial: map.required("serial", serial)?,
        size: map.required("size", |node, file| mebibytes(node, file, known::SIZE))?,
        logical_block_size: map
            .optional("logical_block_size", |node, file| word(node, file, known::LOGICAL_BLOCK_SIZES))?
            .unwrap_or(512),
        iops: map.optional("iops", |node, file| whole(node, file, known::IOPS))?,
        bandwidth: map.optional("bandwidth", |node, file| within(node, file, known::BANDWIDTH, 1))?,
    };
    map.finish()?;
    Ok(drive)
}

fn mebibytes(node: &Node, file: &str, limits: Limits<Bytes>) -> Result<Bytes> {
    within(node, file, limits, known::UNIT)
}

fn within(node: &Node, file: &str, limits: Limits<Bytes>, unit: u64) -> Result<Bytes> {
    let size = bytes(node, file)?;
    if limits.hold(&size) && size.0.is_multiple_of(unit) {
        return Ok(size);
    }
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| [limits.least, limits.most, Bytes(unit)].map(|n| format(n, lang)));
    let (least, most, step) = (&en[0], &en[1], &en[2]);
    let (from, to, by) = (&ru[0], &ru[1], &ru[2]);
    Err(node
        .error(file, say!("not {least} to {most} in steps of {step}", "нужен размер от {from} до {to} с шагом {by}")))
}

/// A serial number goes into command lines and paths of sysfs, so it is nothing but letters and digits.
fn serial(node: &Node, file: &str) -> Result<String> {
    let text = text(node, file)?;
    if keys::machine::SERIAL.hold(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(text);
    }
    let Limits { least, most } = known::SERIAL;
    Err(node.error(
        file,
        say!(
            "a serial number has {least} to {most} letters (A to Z) and digits",
            "в серийном номере от {least} до {most} латинских букв и цифр"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_needs_a_name_and_drives_and_knows_the_rest() {
        let found = machine("machine: m\ndrives: [{serial: LAB1, size: 64MiB}]", "m.yaml").unwrap();
        let drive = Drive {
            kind: DriveKind::Nvme,
            serial: "LAB1".into(),
            size: Bytes::mib(64),
            logical_block_size: 512,
            iops: None,
            bandwidth: None,
        };
        let plain =
            Machine { name: "m".into(), cpus: 1, memory: Bytes::gib(1), nvme_poll_queues: 0, drives: vec![drive] };
        assert_eq!(found, plain);
        let text = "machine: m\ncpus: 2\nmemory: 512MiB\nnvme_poll_queues: 1\ndrives:\n  - {kind: virtio, serial: A, \
                    size: 1GiB, logical_block_size: 4KiB, iops: 400, bandwidth: 20MiB}\n";
        let found = machine(text, "m.yaml").unwrap();
        assert_eq!((found.cpus, found.memory, found.nvme_poll_queues), (2, Bytes::mib(512), 1));
        let drive = &found.drives[0];
        assert_eq!((drive.kind, drive.logical_block_size), (DriveKind::Virtio, 4096));
        assert_eq!((drive.iops, drive.bandwidth), (Some(400), Some(Bytes::mib(20))));
    }

    #[test]
    fn what_cannot_be_is_an_error_with_its_place_in_both_languages() {
        for (head, drive, told) in [
            ("", "{serial: A, size: 100KiB}", "m.yaml:2:28: "),
            ("", "{serial: A, size: 17TiB}", "not 1 MiB to 16 TiB"),
            ("", "{serial: 'A,id=x', size: 1MiB}", "1 to 20 letters"),
            ("", "{serial: '', size: 1MiB}", "1 to 20 letters"),
            ("", "{serial: A, size: 1MiB, kind: tape}", "`nvme`"),
            ("", "{serial: A, size: 1MiB, logical_block_size: 1KiB}", "`512B`"),
            ("", "{serial: A, size: 1MiB, iops: 0}", "0 is outside 1"),
            ("", "{serial: A, size: 1MiB, bandwidth: 1B}", "not 4 KiB to 1 TiB"),
            ("", "{serial: A, size: 1MiB, sice: 1}", "unknown key `sice`"),
            ("", "{serial: A, size: 1MiB}, {serial: A, size: 1MiB}", "two drives have"),
            ("", "", "1 to 16 drives"),
            ("cpus: 0", "{serial: A, size: 1MiB}", "0 is outside 1 to 64"),
            ("memory: 64MiB", "{serial: A, size: 1MiB}", "not 256 MiB to 1 TiB"),
            ("nvme_poll_queues: 65", "{serial: A, size: 1MiB}", "65 is outside 0 to 64"),
        ] {
            let head = if head.is_empty() { String::new() } else { format!("\n{head}") };
            let error = machine(&format!("machine: m{head}\ndrives: [{drive}]"), "m.yaml").unwrap_err();
            assert!(error.to_string().contains(told), "{told}: {error}");
            assert!(error.message.en.contains("m.yaml:") && error.message.ru.contains("m.yaml:"), "{error}");
        }
    }
}
