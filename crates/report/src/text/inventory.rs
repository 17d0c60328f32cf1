//! `stend inspect` without a target: the storage of a host as a tree, drives first.

use super::layout::{clean, columns};
use crate::words;
use stend_analyse::journal::is_failing;
use stend_base::{Bytes, Lang, Say, format, say};
use stend_record::parts::{Link, LinkState};
use stend_record::{FabricPath, Health, Inventory, InventoryDevice, WriteAccess};

/// The storage of a host for a person.
pub fn inventory_text(inventory: &Inventory, lang: Lang) -> String {
    let Inventory { host, devices, parts } = inventory;
    let (name, cpus, nodes) = (clean(&host.hostname), host.cpus, host.numa_nodes.len());
    let (model, memory) = (clean(&host.cpu_model), format::bytes(host.memory, lang));
    let head = say!(
        "{name}: {model}, CPUs {cpus}, NUMA nodes {nodes}, memory {memory}",
        "{name}: {model}, процессоров {cpus}, узлов NUMA {nodes}, память {memory}"
    );
    let mut out = format!("{}\n{}\n", head.get(lang), clean(&host.kernel));
    if nodes > 1 {
        for node in &host.numa_nodes {
            let (number, cpus) = (node.node, ranges(&node.cpus));
            let on =
                devices.iter().filter(|line| line.device.depth == 0 && line.device.numa_node == Some(number as i32));
            let drives: Vec<String> = on.map(|line| clean(&line.device.name)).collect();
            let drives = if drives.is_empty() { "–".to_string() } else { drives.join(" ") };
            out.push_str(&format!(
                "{}\n",
                say!(
                    "  node {number}: CPUs {cpus}; drives {drives}",
                    "  узел {number}: процессоры {cpus}; накопители {drives}"
                )
                .get(lang)
            ));
        }
    }
    out.push('\n');
    let heads = [
        say!("device", "устройство"),
        say!("kind", "вид"),
        say!("size", "размер"),
        say!("blocks", "блоки"),
        say!("model", "модель"),
        say!("identity", "идентификатор"),
        say!("signatures", "метки"),
        say!("use", "занятость"),
    ];
    let heads = heads.iter().map(|head| head.get(lang).to_string()).collect();
    let rows: Vec<Vec<String>> =
        std::iter::once(heads).chain((0..devices.len()).map(|index| row(devices, index, lang))).collect();
    columns(&rows).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    for line in devices {
        let link = parts.links.iter().find(|link| link.device == line.device.name);
        let more: Vec<Say> =
            [link.map(linked), line.fabric.as_ref().map(reached), line.health.as_ref().map(healthy), interrupts(line)]
                .into_iter()
                .flatten()
                .collect();
        if !more.is_empty() {
            let told: Vec<&str> = more.iter().map(|say| say.get(lang)).collect();
            out.push_str(&format!("\n{}: {}", clean(&line.device.name), told.join("; ")));
        }
    }
    out.trim_end().to_string() + "\n"
}

fn row(devices: &[InventoryDevice], index: usize, lang: Lang) -> Vec<String> {
    let InventoryDevice { device, mounted, access, serial, logical_block, physical_block, signatures, .. } =
        &devices[index];
    let kind = [Some(device.kind.clone()), device.array(), device.transport.clone()];
    let spins = words::spins(device).map(|spins| spins.get(lang).to_string());
    let kind: Vec<String> = kind.into_iter().flatten().chain(spins).collect();
    let model = [device.model.clone(), device.firmware.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let marks: Vec<&str> = signatures.iter().map(|mark| mark.name.as_str()).collect();
    let state = match (mounted.is_empty(), access) {
        (false, _) => {
            let at = clean(&mounted.join(", "));
            say!("mounted at {at}", "смонтировано в {at}")
        }
        (true, WriteAccess::Confirm { .. }) => say!("free", "свободен"),
        (true, WriteAccess::Refused(reasons)) => reasons.first().map_or_else(|| Say::same(""), |reason| reason.say()),
        _ => Say::same(""),
    };
    vec![
        format!("{}{}", branch(devices, index), clean(&device.name)),
        clean(&kind.join(" ")),
        format::bytes(device.size, lang),
        format!("{logical_block}/{physical_block}"),
        clean(&model),
        clean(&known_by(device.identity.as_deref(), serial.as_deref())),
        clean(&marks.join(",")),
        clean(state.get(lang)),
    ]
}

/// The identity, and the serial number on the label where that is another one.
fn known_by(identity: Option<&str>, serial: Option<&str>) -> String {
    let identity = identity.unwrap_or("");
    match serial.filter(|serial| !serial.is_empty() && !identity.ends_with(&format!(":{serial}"))) {
        Some(serial) => format!("{identity} ({serial})"),
        None => identity.to_string(),
    }
}

/// The lines of the tree before a name.
fn branch(devices: &[InventoryDevice], index: usize) -> String {
    let depth = devices[index].device.depth;
    // Whether another one of this level comes before the level ends.
    let goes_on = |level: u32| {
        let later = devices[index + 1..].iter().map(|line| line.device.depth);
        later.take_while(|depth| *depth >= level).any(|depth| depth == level)
    };
    let mut out = String::new();
    for level in 1..depth {
        out.push_str(if goes_on(level) { "│ " } else { "  " });
    }
    match depth {
        0 => {}
        depth if goes_on(depth) => out.push_str("├─"),
        _ => out.push_str("└─"),
    }
    out
}

fn linked(link: &LinkState) -> Say {
    let shown = |Link { speed_mt_per_s, width }: Link| format!("{} GT/s × {width}", f64::from(speed_mt_per_s) / 1000.0);
    let (address, now, best) = (clean(&link.address), shown(link.now), shown(link.best));
    match link.now == link.best {
        true => Say::same(format!("PCIe {address}, {now}")),
        false => say!("PCIe {address}, {now} of {best} possible", "PCIe {address}, {now} из возможных {best}"),
    }
}

/// Over which ports of Fibre Channel a disk is reached.
fn reached(path: &FabricPath) -> Say {
    let words = |parts: &[Option<&String>]| {
        let known = parts.iter().flatten().map(|part| clean(part));
        known.collect::<Vec<String>>().join(" ")
    };
    let FabricPath { host, port, state, speed, remote_port, remote_state } = path;
    let own = words(&[Some(host), port.as_ref(), speed.as_ref(), state.as_ref()]);
    let far = words(&[remote_port.as_ref(), remote_state.as_ref()]);
    let far = if far.is_empty() { "?".to_string() } else { far };
    Say::same(format!("Fibre Channel {own} → {far}"))
}

fn healthy(health: &Health) -> Say {
    let verdict = match (is_failing(health), health.passed) {
        (Some(true), _) => {
            Some(say!("health: FAILING by its own verdict", "состояние: НЕИСПРАВЕН по собственной оценке"))
        }
        // It is too warm, for example.
        (_, Some(false)) => Some(say!("health: warns, does not fail", "состояние: предупреждает, но исправен")),
        (_, Some(true)) => Some(say!("health: passed", "состояние: исправен")),
        (_, None) => None,
    };
    let used = health.used_percent.map(|n| say!("endurance used {n} %", "ресурс израсходован на {n} %"));
    let spare = health.spare_percent.map(|n| say!("spare blocks {n} %", "резервных блоков {n} %"));
    let errors = health.media_errors.map(|n| say!("media errors {n}", "ошибок носителя {n}"));
    let hours = health.power_on_hours.map(|n| say!("{n} h of operation", "наработка {n} ч"));
    let written = health.bytes_written.map(|n| {
        Say::both(|lang| {
            let written = format::bytes(Bytes(n), lang);
            say!("written {written}", "записано {written}").get(lang).to_string()
        })
    });
    let heat = health.celsius.map(|n| Say::same(format!("{n} °C")));
    let all: Vec<Say> = [verdict, used, spare, errors, hours, written, heat].into_iter().flatten().collect();
    let join = |of: fn(&Say) -> &str| all.iter().map(of).collect::<Vec<_>>().join(", ");
    Say { en: join(|say| &say.en), ru: join(|say| &say.ru) }
}

fn interrupts(line: &InventoryDevice) -> Option<Say> {
    let cpus = ranges(&line.interrupt_cpus);
    (!line.interrupt_cpus.is_empty()).then(|| say!("interrupts on CPUs {cpus}", "прерывания на процессорах {cpus}"))
}

/// `0-3,8` of ascending numbers.
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let shown = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    parts.iter().map(shown).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{expect, expect_file};
    use stend_base::Bytes;
    use stend_record::parts::Parts;
    use stend_record::{HostFacts, Refusal};

    fn inventory() -> Inventory {
        let facts = crate::fixture::target();
        let line = |name: &str, depth, access| InventoryDevice {
            device: stend_record::Device {
                name: name.into(),
                depth,
                numa_node: Some(0),
                size: Bytes::gib(894),
                ..facts.devices[0].clone()
            },
            path: format!("/dev/{name}"),
            serial: (depth == 0).then(|| "S4NFNX0R100001".to_string()),
            logical_block: 512,
            physical_block: 4096,
            signatures: Vec::new(),
            mounted: Vec::new(),
            access,
            interrupt_cpus: Vec::new(),
            fabric: None,
            health: None,
        };
        let held = || WriteAccess::Refused(vec![Refusal::Holder { device: "md0".into() }]);
        let free = || WriteAccess::Confirm { identity: "serial:A".into(), signatures: Vec::new() };
        let mut devices = vec![
            line("nvme0n1", 0, held()),
            line("nvme0n1p1", 1, held()),
            line("md0", 2, held()),
            line("nvme0n1p2", 1, free()),
            line("nvme1n1", 0, free()),
        ];
        devices[2].mounted = vec!["/srv".into()];
        devices[0].interrupt_cpus = vec![0, 1, 2, 7];
        devices[4].health = Some(Health {
            passed: Some(true),
            used_percent: Some(7),
            spare_percent: Some(100),
            media_errors: Some(0),
            power_on_hours: Some(812),
            celsius: Some(41),
            critical_warning: Some(0),
            bytes_written: Some(5_000_000_000_000),
            ..Health::default()
        });
        devices[0].fabric = Some(FabricPath {
            host: "host7".into(),
            port: Some("0x21000024ff3dc3f4".into()),
            state: Some("Online".into()),
            speed: Some("16 Gbit".into()),
            remote_port: Some("0x500a09838a1b2c3d".into()),
            remote_state: None,
        });
        let (now, best) = (Link { speed_mt_per_s: 8000, width: 4 }, Link { speed_mt_per_s: 16_000, width: 4 });
        let link = LinkState { device: "nvme1n1".into(), address: "0000:01:00.0".into(), now, best, corrected: None };
        let node = |node, cpus: &[u32]| stend_spec::topology::NumaNode { node, cpus: cpus.to_vec() };
        let host = HostFacts {
            hostname: "box".into(),
            kernel: "6.12".into(),
            cpus: 4,
            numa_nodes: vec![node(0, &[0, 1]), node(1, &[2, 3])],
            memory: Bytes::gib(64),
            ..HostFacts::default()
        };
        Inventory { host, devices, parts: Parts { links: vec![link], ..Parts::default() } }
    }

    #[test]
    fn a_drive_that_is_only_too_warm_is_not_called_failing() {
        let says = |passed, critical_warning| healthy(&Health { passed, critical_warning, ..Health::default() }).en;
        assert_eq!(says(Some(false), Some(2)), "health: warns, does not fail");
        assert_eq!(says(Some(false), Some(6)), "health: FAILING by its own verdict");
        assert_eq!(says(None, Some(8)), "health: FAILING by its own verdict");
        assert_eq!((says(Some(true), Some(0)), says(None, Some(0))), ("health: passed".into(), String::new()));
    }

    #[test]
    fn a_host_is_a_tree_with_its_nodes_links_and_health() {
        expect![[r#"
            box: , CPUs 4, NUMA nodes 2, memory 64 GiB
            6.12
              node 0: CPUs 0-1; drives nvme0n1 nvme1n1
              node 1: CPUs 2-3; drives –

            device       kind  size     blocks    model  identity                         signatures  use
            nvme0n1      dm    894 GiB  512/4096         dm-uuid:LVM-x7 (S4NFNX0R100001)              is held by the block device `md0`
            ├─nvme0n1p1  dm    894 GiB  512/4096         dm-uuid:LVM-x7                               is held by the block device `md0`
            │ └─md0      dm    894 GiB  512/4096         dm-uuid:LVM-x7                               mounted at /srv
            └─nvme0n1p2  dm    894 GiB  512/4096         dm-uuid:LVM-x7                               free
            nvme1n1      dm    894 GiB  512/4096         dm-uuid:LVM-x7 (S4NFNX0R100001)              free

            nvme0n1: Fibre Channel host7 0x21000024ff3dc3f4 16 Gbit Online → 0x500a09838a1b2c3d; interrupts on CPUs 0-2,7
            nvme1n1: PCIe 0000:01:00.0, 8 GT/s × 4 of 16 GT/s × 4 possible; health: passed, endurance used 7 %, spare blocks 100 %, media errors 0, 812 h of operation, written 4.55 TiB, 41 °C
        "#]].assert_eq(&inventory_text(&inventory(), Lang::En));
        assert!(inventory_text(&inventory(), Lang::Ru).contains("ресурс израсходован на 7 %"));
    }

    #[test]
    fn the_machine_form_is_stable() {
        expect_file!["../../tests/golden/inventory.json"].assert_eq(&crate::inventory_json(&inventory()));
    }
}
