//! Layers that hand on parts of a device: partitions, and mappings of the device mapper.

use super::super::product::Product;
use super::{LowerDevice, Made, StepContext, sectors};
use crate::change::{Action, Change, Condition, run};
use stend_base::say;
use stend_spec::stand::{Cipher, Dm};

/// Partitions begin and end at whole MiB, and a table takes one at either end.
const MIB: u64 = 1 << 20;

pub(super) fn partitions(context: &StepContext, count: u32) -> Made {
    let mut made = Made::default();
    for (index, LowerDevice { path, size }) in context.below.iter().enumerate() {
        let uuid = context.uuid(index);
        let each = size.map(|size| size.saturating_sub(2 * MIB) / u64::from(count) / MIB);
        let each = each.map_or_else(|| "SIZE".to_string(), |mib| mib.to_string());
        let mut words = vec!["sgdisk".to_string(), "--clear".into(), format!("--disk-guid={uuid}")];
        words.extend((1..=count).map(|number| format!("--new={number}:0:+{each}M")));
        words.push(path.clone());
        let mark = Condition::Mark { device: path.clone(), uuid: uuid.clone() };
        let only = Condition::OnlyMark { device: path.clone(), uuid: uuid.clone() };
        made.steps.push(Change {
            what: say!("divide {path} into {count} partitions", "разбить {path} на разделы: {count}"),
            erases: vec![path.clone()],
            done: mark,
            apply: vec![Action::Run(words)],
            // It clears both ends of the device: the spare table at the end may be all that others have left of ours.
            undo: vec![(only, run("sgdisk --zap-all", &[path.as_str()]))],
            wait: None,
        });
        let known = |least| Condition::Parts { device: path.clone(), uuid: uuid.clone(), least };
        made.steps.push(Change {
            // A kernel that cannot read partition tables gets the contents of this one after each start; others know them.
            what: say!("tell the kernel of the partitions of {path}", "сообщить ядру о разделах {path}"),
            erases: Vec::new(),
            done: known(count),
            apply: vec![run("partx --update", &[path.as_str()])],
            undo: vec![(known(1), run("partx --delete", &[path.as_str()]))],
            wait: None,
        });
        made.products.extend((1..=count).map(|number| Product::Partition { disk: path.clone(), number }));
    }
    made
}

pub(super) fn mappings(context: &StepContext, dm: Dm) -> Made {
    if let Dm::LogWrites { .. } = dm {
        return log_writes(context);
    }
    let mut made = Made::default();
    for (index, below) in context.below.iter().enumerate() {
        let name = numbered(context, index);
        made.steps.push(mapping(&context.uuid(index), &name, &table(context, index, below, dm), &below.path));
        made.products.push(Product::Mapping(name));
    }
    made
}

/// Name of the mapping over one of the devices.
pub(super) fn numbered(context: &StepContext, index: usize) -> String {
    if context.count() == 1 { context.name() } else { format!("{}-{}", context.name(), index + 1) }
}

/// Lines of the table: start and length in sectors of 512 bytes, target, its parameters.
///
/// Source: Documentation/admin-guide/device-mapper of Linux 6.12.
fn table(context: &StepContext, index: usize, LowerDevice { path, size }: &LowerDevice, dm: Dm) -> Vec<String> {
    let ms = |time: stend_base::Nanos| time.0 / 1_000_000;
    let seconds = |time: stend_base::Nanos| time.0 / 1_000_000_000;
    let target = match dm {
        Dm::Delay { read, write } => format!("delay {path} 0 {} {path} 0 {}", ms(read), ms(write)),
        Dm::Flakey { up, down, drops } => {
            let features = if drops { " 1 drop_writes" } else { "" };
            format!("flakey {path} 0 {} {}{features}", seconds(up), seconds(down))
        }
        // They need a superblock first: `superblocks.rs`.
        Dm::Integrity(_) | Dm::WriteCache { .. } => return Vec::new(),
        // Over two devices: see `log_writes`.
        Dm::LogWrites { .. } | Dm::Linear => format!("linear {path} 0"),
        Dm::Crypt(cipher) => format!("crypt aes-xts-plain64 {} 0 {path} 0", key(context, index, cipher)),
        Dm::Error { from, length } => {
            let (from, length) = (from.0 / 512, length.0 / 512);
            let end = from.saturating_add(length);
            let rest = size.map(|size| (size / 512).saturating_sub(end));
            let rest_is = rest.map_or_else(|| "REST".to_string(), |rest| rest.to_string());
            let before = (from > 0).then(|| format!("0 {from} linear {path} 0"));
            let behind = (rest != Some(0)).then(|| format!("{end} {rest_is} linear {path} {end}"));
            return before.into_iter().chain([format!("{from} {length} error")]).chain(behind).collect();
        }
    };
    vec![format!("0 {} {target}", sectors(*size))]
}

/// The first device, with a log of every write to it on the second.
//= linux, Documentation/admin-guide/device-mapper/log-writes.rst: "log-writes <dev_path> <log_dev_path>"
fn log_writes(context: &StepContext) -> Made {
    let [LowerDevice { path, size }, LowerDevice { path: log, .. }] = context.below else { return Made::default() };
    let name = context.name();
    let table = format!("0 {} log-writes {path} {log}", sectors(*size));
    let mut step = mapping(&context.uuid(0), &name, &[table], path);
    step.erases.push(log.clone());
    Made { steps: vec![step], products: vec![Product::Mapping(name)] }
}

/// Both halves of a key in hexadecimal digits, from the numbers that are drawn for the stand.
fn key(context: &StepContext, index: usize, cipher: Cipher) -> String {
    let words = match cipher {
        Cipher::Aes256Xts => 4,
        Cipher::Aes128Xts => 2,
    };
    // Numbers behind those of the mappings themselves.
    let own = context.below.len() + index * words;
    (own..own + words).map(|number| context.uuid(number).replace('-', "")).collect()
}

/// Bytes of each of so many parts of a device: whole MiB. None begins or ends with the device, so that what is put on a part, such as a
/// superblock, is not taken for something that lies on the whole: by udev, by LVM, by us.
pub(super) fn each_of_luns(size: u64, count: u32) -> u64 {
    size.saturating_sub(2 * MIB) / u64::from(count).max(1) / MIB * MIB
}

pub(super) fn luns(context: &StepContext, count: u32) -> Made {
    let mut made = Made::default();
    let Some(LowerDevice { path, size }) = context.below.first() else { return made };
    let each = size.map(|size| each_of_luns(size, count));
    for number in 1..=count {
        let name = format!("{}-{number}", context.name());
        let start = each.map(|each| MIB + each * u64::from(number - 1));
        let table = format!("0 {} linear {path} {}", sectors(each), sectors(start));
        made.steps.push(mapping(&context.uuid(number as usize - 1), &name, &[table], path));
        made.products.push(Product::Mapping(name));
    }
    made
}

pub(super) fn mapping(uuid: &str, name: &str, table: &[String], path: &str) -> Change {
    let uuid = format!("STEND-{uuid}");
    let several = format!("{name},{uuid},,rw,{}", table.join(","));
    let create = match table {
        [line] => vec!["dmsetup", "create", name, "--uuid", &uuid, "--table", line],
        // `--table` takes one line.
        _ => vec!["dmsetup", "create", "--concise", &several],
    };
    let there = Condition::Mapping { name: name.to_string(), uuid: uuid.clone() };
    Change {
        what: say!("map {name} onto {path}", "отобразить {name} на {path}"),
        // The mapping itself changes nothing on the device; what is written to it later does. Its UUID is its identity, without
        // which nothing could be written to it.
        erases: vec![path.to_string()],
        done: there.clone(),
        apply: vec![Action::Run(create.into_iter().map(String::from).collect())],
        // A program that still probes a new device holds it for an instant.
        undo: vec![(there, run("dmsetup remove --retry", &[name]))],
        wait: None,
    }
}
