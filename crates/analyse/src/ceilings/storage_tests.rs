//! Whether layouts are read from what hosts show, and writes, links and networks are held against the right ceilings.

use super::fixture::Ceilings as Read;
use super::layout::{in_words, layout};
use super::*;
use crate::analyse;
use crate::findings::CheckStatus;
use crate::findings::{LayoutFrom, RateFrom};
use crate::fixture::{case, run_of};
use expect_test::{Expect, expect};
use stend_base::{Bytes, Lang, MilliIops};
use stend_record::parts::{ArrayState, LineRate, Link, LinkState};
use stend_record::sample::{DiskCounters, NetworkCounters, Traffic};
use stend_record::{Device, Parts, TargetKind};
use stend_spec::calibration::Reading;
use stend_spec::ceilings::{Ceilings, Layout};
use stend_spec::workload::Sync;

const NAMES: [&str; 6] = ["sda", "sdb", "sdc", "sdd", "sde", "sdf"];
const RAID5: Layout = Layout::Raid5 { drives: 6, chunk: Bytes::kib(512) };

fn device(name: &str, kind: &str, depth: u32) -> Device {
    Device { name: name.into(), kind: kind.into(), depth, ..Device::default() }
}

/// Drives under an array of this level.
fn array(level: &str) -> Vec<Device> {
    let md = device("md0", "md", 0);
    let md =
        Device { level: Some(level.into()), members: Some(6), chunk: Some(Bytes::kib(512)), copies: Some(2), ..md };
    std::iter::once(md).chain(NAMES.map(|name| device(name, "disk", 1))).collect()
}

/// A case with so many percent reads at this rate on a RAID 5 of six drives.
fn on_raid5(read_percent: u8, iops: f64) -> RunRecord {
    let builder = run_of(vec![case("load", read_percent, 32, Sync::None)]);
    let mut record = builder.trial(0).iops(iops).done().record();
    record.load_mut().targets[0].devices = array("raid5");
    record.load_mut().targets[0].kind = TargetKind::BlockDevice;
    record
}

fn state(record: &mut RunRecord, change: impl Fn(&mut Ceilings)) {
    let stated = record.header.inputs.suite.ceilings.get_or_insert_default();
    stated.source = Some("data sheet".into());
    change(stated);
}

/// Each drive writes so much; the drives read ten times as much as those of the fixture.
fn stated_writes(mut record: RunRecord, random: u64, sequential: u64) -> RunRecord {
    state(&mut record, |stated| {
        let drive = &mut stated.drive;
        drive.random_write = Some(MilliIops::per_second(random));
        drive.sequential_write = Some(Bytes(sequential));
    });
    Read { iops: 60_000.0, bytes: 1e9, together: 1.0, ..Read::default() }.on(record)
}

fn of(record: &RunRecord) -> CeilingFinding {
    analyse(record).unwrap().cases[0].ceiling.clone().expect("a ceiling")
}

fn h07(record: &RunRecord) -> CheckStatus {
    let cases = analyse(record).unwrap().cases;
    cases[0].checks.iter().find(|check| check.id == crate::findings::CheckId::H07).unwrap().status
}

fn check(record: &RunRecord, expected: Expect) {
    let said = of(record).say();
    expected.assert_eq(&format!("{}\n{}\n", said.en, said.ru));
}

#[test]
fn writes_to_an_array_are_limited_by_what_they_make_its_drives_do() {
    // Drives of 60 000 reads and 15 000 writes each: 6 / (2/60 000 + 2/15 000) = 36 000.
    let record = stated_writes(on_raid5(0, 33_000.0), 15_000, 500_000_000);
    assert_eq!((of(&record).bound, h07(&record)), (Bound::Limited, CheckStatus::Pass));
    check(
        &record,
        expect![[r#"
        Limited by the drives sda … sdf (6): 91.7 % of 36 000 IOPS (read together: 4 KiB at random, 32 in flight each; writes as the suite states from `data sheet`). Next: the CPUs of the machine 25.0 %. Headroom 8.3 %. RAID 5 × 6, chunk 512 KiB (as the host shows it): an I/O takes 2.00 reads and 2.00 writes of drives by the model.
        Предел — накопители sda … sdf (6): 91,7 % от 36 000 IOPS (при одновременном чтении: 4 КиБ вразброс, глубина 32 на каждый; запись — как указано в наборе, источник — `data sheet`). Затем процессоры машины 25,0 %. Запас 8,3 %. RAID 5 × 6, чанк 512 КиБ (как показывает хост): на операцию по модели у накопителей чтений 2,00 и записей 2,00.
    "#]],
    );
}

#[test]
fn a_mixed_load_shares_the_time_of_the_drives() {
    // The fixture of method §5.2: 973 000 of drives ten times as fast.
    let found = of(&stated_writes(on_raid5(70, 80_000.0), 15_000, 900_000_000));
    let ceiling = found.uses.iter().find(|u| matches!(u.resource, Resource::Drives { reading: Reading::Random, .. }));
    assert_eq!((ceiling.unwrap().ceiling / 1e3).round(), 97.0);
}

#[test]
fn a_stated_ceiling_that_is_beaten_is_flagged_and_not_believed() {
    let record = stated_writes(on_raid5(0, 38_000.0), 15_000, 900_000_000);
    let found = of(&record);
    assert_eq!((found.bound, h07(&record)), (Bound::Unexplained, CheckStatus::Warn));
    assert!(found.unknown[0].why.en.contains("the stated numbers allow, 105.6 %"), "{:?}", found.unknown);
}

#[test]
fn writes_without_a_stated_ceiling_have_none_and_say_how_to_state_it() {
    let found = of(&Read::default().on(on_raid5(0, 10_000.0)));
    assert!(found.unknown[0].why.en.contains("`ceilings: {drive: …}`"), "{:?}", found.unknown);
    // The text has what an I/O takes all the same.
    assert_eq!(found.demand.unwrap().modelled.unwrap().writes, 2.0);
}

#[test]
fn writes_alone_may_have_ceilings_without_calibration() {
    let mut record = on_raid5(0, 33_000.0);
    state(&mut record, |stated| {
        let all = MilliIops::per_second;
        stated.drive.random_read = Some(all(60_000));
        stated.drive.random_write = Some(all(15_000));
    });
    let found = of(&record);
    assert_eq!(found.bound, Bound::Limited, "{found:?}");
    let stated = RateFrom::Stated { source: "data sheet".into() };
    let Resource::Drives { read, written, .. } = &found.uses[0].resource else { panic!("{found:?}") };
    assert_eq!((read.as_ref(), written.as_ref()), (Some(&stated), Some(&stated)));
}

/// Counters of all drives: so many bytes read and written by all of them for each byte of the application.
fn counters(record: &mut RunRecord, read: f64, written: f64) {
    for sample in &mut record.load_mut().samples {
        let one = sample.disks.iter().find(|disk| disk.name == "sda").unwrap().clone();
        let done = (one.write_bytes - (7 << 40)) as f64 / NAMES.len() as f64;
        let bytes = |factor: f64| (7 << 40) + (done * factor) as u64;
        let counts = |factor: f64| (done * factor / 4096.0) as u64;
        sample.disks = NAMES
            .map(|name| DiskCounters {
                name: name.into(),
                reads: counts(read),
                writes: counts(written),
                read_bytes: bytes(read),
                write_bytes: bytes(written),
                ..DiskCounters::default()
            })
            .into();
    }
}

#[test]
fn what_drives_counted_stands_beside_the_model_and_wins_where_it_differs() {
    let counted = |read: f64, written: f64| {
        let mut record = on_raid5(0, 33_000.0);
        counters(&mut record, read, written);
        stated_writes(record, 15_000, 900_000_000)
    };
    let alike = of(&counted(2.0, 2.0));
    let demand = alike.demand.unwrap();
    assert!(!demand.differs && (demand.counted.unwrap().writes - 2.0).abs() < 0.01, "{demand:?}");
    // A cache of the array gathers writes into rows: nothing is read, and 1.2 bytes are written for each.
    let record = counted(0.0, 1.2);
    let found = of(&record);
    let drives = found.uses.iter().find(|u| matches!(u.resource, Resource::Drives { reading: Reading::Random, .. }));
    assert!(found.demand.unwrap().differs);
    // 90 000 writes of all drives, 1.2 for each of the case: 75 000. The model alone would have said 36 000.
    assert_eq!((drives.unwrap().ceiling / 1e3).round(), 75.0);
    check(
        &record,
        expect![[r#"
            No known ceiling explains the rate. Nearest ceiling: the drives sda … sdf (6), 44.0 % of 75 000 IOPS (as the suite states from `data sheet`). Next: the CPUs of the machine 25.0 %. RAID 5 × 6, chunk 512 KiB (as the host shows it): an I/O takes 2.00 reads and 2.00 writes of drives by the model; counted: 1.20 writes. The bytes do not match: caches, journals, copies or other programs had a part in it.
            Ни один из известных потолков скорость не объясняет. Ближайший потолок: накопители sda … sdf (6), 44,0 % от 75 000 IOPS (как указано в наборе, источник — `data sheet`). Затем процессоры машины 25,0 %. RAID 5 × 6, чанк 512 КиБ (как показывает хост): на операцию по модели у накопителей чтений 2,00 и записей 2,00; сосчитано: записей 1,20. По байтам не сходится: сказываются кэши, журналы, запись в другое место или чужая нагрузка.
        "#]],
    );
}

#[test]
fn a_few_reads_of_somebody_else_do_not_hide_the_ceiling_of_writes() {
    let ceiling = |reads: f64| {
        let mut record = on_raid5(0, 33_000.0);
        record.load_mut().targets[0].devices.remove(0);
        counters(&mut record, reads, 1.5);
        state(&mut record, |stated| stated.drive.random_write = Some(MilliIops::per_second(15_000)));
        let found = of(&record);
        let drives = found.uses.iter().find(|u| matches!(u.resource, Resource::Drives { .. }));
        (drives.map(|u| (u.ceiling / 1e3).round()), found.say())
    };
    // What they read is neither measured nor stated; 90 000 writes at 1.5 each.
    let (few, said) = ceiling(0.01);
    assert_eq!((few, ceiling(0.1).0), (Some(60.0), None));
    let en = ". An I/O should take 1.00 writes of drives; counted: 0.01 reads and 1.50 writes.";
    assert!(said.en.contains(en), "{}", said.en);
    assert!(said.ru.contains(". На операцию у накопителей ожидается записей 1,00; сосчитано:"), "{}", said.ru);
}

#[test]
fn copy_on_write_goes_by_what_was_counted_alone() {
    let mut record = on_raid5(0, 12_000.0);
    record.load_mut().targets[0].file_system = Some("btrfs".into());
    let without = of(&stated_writes(record.clone(), 15_000, 900_000_000));
    assert!(without.unknown[0].why.en.contains("only be counted"), "{:?}", without.unknown);
    counters(&mut record, 0.5, 3.0);
    let found = of(&stated_writes(record, 15_000, 900_000_000));
    let demand = found.demand.unwrap();
    assert_eq!((demand.layout, demand.modelled), (Some(Layout::CopyOnWrite { drives: 6 }), None));
    assert_eq!(demand.from, LayoutFrom::Host);
    // 6 × 15 000 writes at 3 each, and 360 000 reads at a half: 1 / (0.5/360 000 + 3/90 000).
    let drives = found.uses.iter().find(|u| matches!(u.resource, Resource::Drives { reading: Reading::Random, .. }));
    assert_eq!((drives.unwrap().ceiling / 10.0).round(), 2880.0);
}

#[test]
fn a_layout_that_contradicts_the_host_is_not_used() {
    let mut record = stated_writes(on_raid5(0, 33_000.0), 15_000, 900_000_000);
    let stated = |record: &mut RunRecord, layout| state(record, |stated| stated.layout = Some(layout));
    stated(&mut record, Layout::Raid6 { drives: 6, chunk: Bytes::kib(512) });
    let found = of(&record);
    assert_eq!(found.unknown[0].what.en, "the layout");
    expect!["the suite states RAID 6 × 6, chunk 512 KiB, but the host shows RAID 5 × 6, chunk 512 KiB"]
        .assert_eq(&found.unknown[0].why.en);
    assert!(!found.uses.iter().any(|u| matches!(u.resource, Resource::Drives { .. })), "{:?}", found.uses);
    stated(&mut record, RAID5);
    assert_eq!(layout(&record), Ok((Some(RAID5), LayoutFrom::Suite)));
    // What the host does not show is believed; the number of drives that it shows is not.
    record.load_mut().targets[0].devices[0] = device("dm-0", "dm", 0);
    assert_eq!(layout(&record), Ok((Some(RAID5), LayoutFrom::Suite)));
    stated(&mut record, Layout::Raid5 { drives: 5, chunk: Bytes::kib(512) });
    assert!(layout(&record).unwrap_err().en.contains("shows 6 drives"));
    // One drive may be an array of a controller.
    record.load_mut().targets[0].devices = vec![device("sda", "disk", 0)];
    assert!(layout(&record).is_ok());
}

#[test]
fn an_array_behind_one_volume_bounds_writes_by_its_model() {
    // The host sees one write for each, whatever the array does with it.
    let mut record = stated_writes(on_raid5(0, 33_000.0), 15_000, 900_000_000);
    state(&mut record, |stated| {
        stated.layout = Some(RAID5);
        stated.drive.random_read = Some(MilliIops::per_second(60_000));
    });
    record.load_mut().targets[0].devices = vec![device("sda", "disk", 0)];
    let found = of(&record);
    let demand = found.demand.unwrap();
    assert_eq!((demand.modelled.unwrap().writes, demand.counted, demand.differs), (2.0, None, false));
    let drives = found.uses.iter().find(|u| matches!(u.resource, Resource::Drives { reading: Reading::Random, .. }));
    assert!(drives.is_none_or(|drives| drives.ceiling < 40_000.0), "{drives:?}");
    // Eight volumes of one array are no eight arrays.
    record.load_mut().targets = vec![record.load().targets[0].clone(); 8];
    for (target, name) in
        record.load_mut().targets.iter_mut().zip(["sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh"])
    {
        target.devices = vec![device(name, "disk", 0)];
    }
    assert_eq!(layout(&record), Ok((Some(RAID5), LayoutFrom::Suite)));
}

#[test]
fn spares_are_no_contradiction_and_several_arrays_have_the_drives_of_each() {
    let mut record = stated_writes(on_raid5(0, 33_000.0), 15_000, 900_000_000);
    state(&mut record, |stated| stated.layout = Some(RAID5));
    record.load_mut().targets[0].devices.push(device("sdg", "disk", 1));
    assert_eq!(layout(&record), Ok((Some(RAID5), LayoutFrom::Suite)));
    let one = super::storage::working(&record, Some(RAID5), 7);
    let mut second = record.load().targets[0].clone();
    second.devices[0].name = "md1".into();
    record.load_mut().targets.push(second);
    assert_eq!((one, super::storage::working(&record, Some(RAID5), 12)), (6.0, 12.0));
    // Two partitions of one array are on the same drives.
    record.load_mut().targets[1].devices[0].name = "md0".into();
    assert_eq!(super::storage::working(&record, Some(RAID5), 6), 6.0);
}

#[test]
fn a_spare_adds_nothing_to_the_ceilings_of_drives_and_links() {
    let now = Link { speed_mt_per_s: 8_000, width: 4 };
    let link = |name: &str| LinkState {
        device: name.into(),
        address: format!("0000:{name}:00.0"),
        now,
        best: now,
        corrected: None,
    };
    let most = |reserve| {
        let mut record = on_raid5(100, 33_000.0);
        record.load_mut().targets[0].devices.push(Device { reserve, ..device("sdg", "disk", 1) });
        let links: Vec<LinkState> = NAMES.iter().chain(&["sdg"]).map(|name| link(name)).collect();
        for sample in &mut record.load_mut().samples {
            sample.parts = Some(Box::new(Parts { links: links.clone(), ..Parts::default() }));
        }
        let found = of(&Read { iops: 10_000.0, bytes: 1e9, together: 1.0, ..Read::default() }.on(record));
        let ceiling = |wanted: fn(&Resource) -> bool| {
            found.uses.iter().find(|used| wanted(&used.resource)).map(|used| used.ceiling.round())
        };
        let drives = ceiling(|resource| matches!(resource, Resource::Drives { reading: Reading::Random, .. }));
        (drives, ceiling(|resource| matches!(resource, Resource::Link { .. })))
    };
    let (drives, links) = most(Some(true));
    assert_eq!((drives, links.map(|most| (most / 1e9).round())), (Some(60_000.0), Some(21.0)), "6 × 4 GB/s × 0.87");
    assert_eq!(most(Some(false)).0, Some(70_000.0), "seven drives at work");
}

#[test]
fn a_layout_is_read_from_what_the_host_shows() {
    let shown = |change: &dyn Fn(&mut Vec<Device>)| {
        let mut record = on_raid5(100, 1000.0);
        change(&mut record.load_mut().targets[0].devices);
        layout(&record)
            .map(|(layout, _)| layout.map_or("none".to_string(), |l| in_words(l, Lang::En)))
            .map_err(|e| e.en)
    };
    let level = |level: &'static str| shown(&move |devices| *devices = array(level));
    for (name, expected) in [
        ("raid0", "RAID 0 × 6, chunk 512 KiB"),
        ("raid1", "RAID 1 × 6"),
        ("raid10", "RAID 10 × 6, 2 copies, chunk 512 KiB"),
        ("raid5", "RAID 5 × 6, chunk 512 KiB"),
        ("raid6", "RAID 6 × 6, chunk 512 KiB"),
        ("linear", "none"),
    ] {
        assert_eq!(level(name).as_deref(), Ok(expected));
    }
    assert!(level("raid4").unwrap_err().contains("`md0` (raid4)"));
    let plain = shown(&|devices| *devices = vec![device("sda1", "partition", 0), device("sda", "disk", 1)]);
    assert_eq!(plain.as_deref(), Ok("none"));
    let volume = |uuid: &str| Device { identity: Some(format!("dm:{uuid}")), ..device("dm-0", "dm", 0) };
    let below = |devices: &mut Vec<Device>, top: Device| {
        devices.iter_mut().for_each(|device| device.depth += 1);
        devices.insert(0, top);
    };
    assert_eq!(shown(&|d| below(d, volume("LVM-x"))).as_deref(), Ok("RAID 5 × 6, chunk 512 KiB"));
    assert!(shown(&|d| below(d, volume("CRYPT-x"))).unwrap_err().contains("how `dm-0` maps"));
    // Ways to one disk that this host hands out itself are no drives; ways to two disks are something else.
    let paths = |of: [&str; 2]| {
        let path = |index: usize| Device {
            identity: Some(of[index].to_string()),
            ..device(["sdx", "sdy"][index], "iscsi", 1)
        };
        vec![volume("STEND-x"), path(0), path(1), device("nvme0n1", "disk", 2)]
    };
    assert_eq!(shown(&|d| *d = paths(["wwn:1", "wwn:1"])).as_deref(), Ok("none"));
    assert!(shown(&|d| *d = paths(["wwn:1", "wwn:2"])).unwrap_err().contains("how `dm-0` maps"));
    // Drives of an array that come over two paths each.
    let joined = |devices: &mut Vec<Device>| {
        devices.truncate(1);
        let mapping =
            |i: usize| Device { identity: Some(format!("dm:mpath-{i}")), ..device(["dm-0", "dm-1"][i], "dm", 1) };
        let path = |i: usize| Device {
            identity: Some(format!("wwn:{}", i / 2)),
            ..device(["sda", "sdb", "sdc", "sdd"][i], "disk", 2)
        };
        devices.extend((0..2).map(mapping).chain((0..4).map(path)));
        devices[0].members = Some(2);
        devices[0].level = Some("raid0".into());
    };
    assert_eq!(shown(&joined).as_deref(), Ok("RAID 0 × 2, chunk 512 KiB"));
    let one_alone = shown(&|devices| {
        joined(devices);
        devices.pop();
    });
    assert!(one_alone.unwrap_err().contains("how `dm-0` maps"));
    // A volume over several drives may be striped.
    let striped = shown(&|devices| devices[0] = volume("LVM-x"));
    assert!(striped.unwrap_err().contains("`ceilings: {layout: …}`"));
    assert!(shown(&|d| below(d, device("md1", "md", 0))).unwrap_err().contains("arrays on arrays"));
    assert!(shown(&|d| d.clear()).unwrap_err().contains("no block device"));
}

#[test]
fn targets_that_differ_have_no_common_layout() {
    let mut record = on_raid5(100, 1000.0);
    let mut other = record.load().targets[0].clone();
    other.devices = vec![device("sdx", "disk", 0)];
    record.load_mut().targets.push(other);
    assert!(layout(&record).unwrap_err().en.contains("in different ways"));
}

#[test]
fn reads_of_an_array_that_lacks_a_drive_take_more_and_writes_have_no_model() {
    let degraded = |read_percent: u8| {
        let mut record = on_raid5(read_percent, 10_000.0);
        for sample in &mut record.load_mut().samples {
            let array = ArrayState { name: "md0".into(), degraded: Some(1), ..ArrayState::default() };
            sample.parts = Some(Box::new(Parts { arrays: vec![array], ..Parts::default() }));
        }
        of(&stated_writes(record, 15_000, 900_000_000))
    };
    // 2 (n − 1) / n.
    assert!((degraded(100).demand.unwrap().modelled.unwrap().reads - 10.0 / 6.0).abs() < 1e-9);
    let writes = degraded(0);
    assert!(writes.unknown[0].why.en.contains("lacked drives"), "{:?}", writes.unknown);
}

#[test]
fn links_carry_what_the_layout_makes_of_a_write() {
    let mut record = stated_writes(on_raid5(0, 10_000.0), 15_000, 900_000_000);
    record.load_mut().targets[0].devices[0].level = Some("raid1".into());
    let now = Link { speed_mt_per_s: 2_500, width: 1 };
    let link = LinkState { device: "sda".into(), address: "0000:01:00.0".into(), now, best: now, corrected: None };
    for sample in &mut record.load_mut().samples {
        sample.parts = Some(Box::new(Parts { links: vec![link.clone()], ..Parts::default() }));
    }
    let found = of(&record);
    let link = found.uses.iter().find(|u| matches!(u.resource, Resource::Link { .. })).unwrap();
    // 0.25 GB/s × 0.87, six copies of each byte: 36 MB/s; 41 MB/s are 113 % of that.
    assert_eq!(((link.ceiling / 1e6).round(), (link.used.0 * 100.0).round()), (36.0, 113.0));
}

#[test]
fn a_network_has_the_ceiling_of_its_interface_or_what_is_stated() {
    let remote = |mbit: Option<u64>, stated: bool| {
        let mut record = run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).iops(26_000.0).done().record();
        record.load_mut().targets[0].file_system = Some("nfs4".into());
        record.load_mut().targets[0].devices.clear();
        // 57 MB in half a second are 912 Mbit/s.
        for (at, sample) in (0u64..).zip(&mut record.load_mut().samples) {
            let sent = Traffic { bytes: at * 57_000_000, ..Traffic::default() };
            sample.networks = Some(vec![NetworkCounters { name: "eth0".into(), sent, ..Default::default() }]);
            let line_rates = mbit.map(|mbit_per_s| LineRate { name: "eth0".into(), mbit_per_s }).into_iter().collect();
            sample.parts = Some(Box::new(Parts { line_rates, ..Parts::default() }));
        }
        state(&mut record, |of| {
            of.layout = Some(Layout::Replication { copies: 3, drives: 12, sent: 2 });
            of.network = stated.then_some(Bytes(250_000_000));
        });
        of(&record)
    };
    let found = remote(Some(1000), false);
    let interface = Resource::Network { interface: Some("eth0".into()), source: None };
    assert_eq!((found.bound, &found.uses[0].resource), (Bound::Limited, &interface));
    assert_eq!((found.uses[0].used.0 * 1000.0).round(), 912.0);
    let found = remote(None, true);
    // 26 000 × 4 KiB, two copies of which this host sends, of 250 MB/s × 0.94.
    assert_eq!((found.uses[0].used.0 * 1000.0).round(), 906.0);
    let said = found.say().en;
    assert!(
        said.starts_with("Limited by the network: 90.6 % of 118 MB/s (as the suite states from `data sheet`)"),
        "{said}"
    );
    let found = remote(None, false);
    assert!(found.unknown.iter().any(|u| u.what.en == "the network" && u.why.en.contains("line rate")), "{found:?}");
}

#[test]
fn writes_through_the_page_cache_have_no_model() {
    let mut record = stated_writes(on_raid5(0, 33_000.0), 15_000, 900_000_000);
    record.trials[0].asked.direct = false;
    let found = of(&record);
    assert!(found.unknown[0].why.en.contains("page cache"), "{:?}", found.unknown);
}

#[test]
fn nothing_is_told_of_drives_where_nothing_was_measured_or_stated() {
    let record = on_raid5(0, 33_000.0);
    assert_eq!((analyse(&record).unwrap().cases[0].ceiling.as_ref(), h07(&record)), (None, CheckStatus::NotApplicable));
}
