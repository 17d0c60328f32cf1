//! Software RAID of Linux.
//!
//! Source: mdadm(8) of mdadm 4.2 and 4.4.

use super::super::product::Product;
use super::{Made, Site};
use crate::change::{Action, Change, Sign, Wait, run};
use stend_base::say;
use stend_spec::stand::{Consistency, InitialSync, Md, MdLevel};

pub(super) fn array(site: &Site, md: &Md) -> Made {
    let (name, uuid) = (site.name(), site.uuid(0));
    let product = Product::Array { uuid: uuid.clone(), name: name.clone() };
    let level = match md.level {
        MdLevel::Raid0 => 0,
        MdLevel::Raid1 => 1,
        MdLevel::Raid10 => 10,
        MdLevel::Raid5 => 5,
        MdLevel::Raid6 => 6,
    };
    let undo_of = |device: &str| {
        let mark = Sign::Mark { device: device.to_string(), uuid: uuid.clone() };
        (mark, run("mdadm --zero-superblock", &[device]))
    };
    let (path, stop) = ((site.path)(&product), stop(site));
    let count = site.count();
    let given = format!("--uuid={}", site.names.md_uuid(&site.layer.name));
    let members: Vec<&str> = [path.as_str(), &given].into_iter().chain(site.paths()).collect();
    let assemble = Change {
        what: say!("assemble the array {name} again", "снова собрать массив {name} из его накопителей"),
        erases: Vec::new(),
        done: Sign::NothingToAssemble { uuid: uuid.clone(), members: site.paths().map(str::to_string).collect() },
        // `--run`: an array that lost a member holds its data all the same; made anew it would not.
        apply: vec![run("mdadm --assemble --run", &members)],
        undo: vec![stop.clone()],
        wait: None,
    };
    let make = Change {
        what: say!(
            "make the array {name}, RAID {level} of {count} devices",
            "собрать массив {name}: RAID {level}, устройств: {count}"
        ),
        erases: site.erases(),
        done: Sign::Running(uuid.clone()),
        apply: vec![Action::Run(create(site, md, level))],
        undo: std::iter::once(stop).chain(site.paths().map(undo_of)).collect(),
        wait: (md.initial_sync == InitialSync::Wait && md.level != MdLevel::Raid0).then(|| Wait::Array(uuid.clone())),
    };
    Made { steps: vec![assemble, make], products: vec![product] }
}

/// What lets an array go without anything of it being lost.
pub(super) fn stop(site: &Site) -> (Sign, Action) {
    let (name, uuid) = (site.name(), site.uuid(0));
    let path = (site.path)(&Product::Array { uuid: uuid.clone(), name });
    (Sign::Array(uuid), run("mdadm --stop", &[path.as_str()]))
}

fn create(site: &Site, md: &Md, level: u32) -> Vec<String> {
    let name = site.name();
    let devices: Vec<&str> = site.paths().collect();
    let (devices, journal) = devices.split_at(devices.len() - usize::from(md.journal).min(devices.len()));
    let members = devices.len().saturating_sub(md.spares as usize);
    // `--run`: no questions, because what would be asked about was looked at before.
    let mut words = vec!["mdadm".to_string(), "--create".into(), format!("/dev/md/{name}"), "--run".into()];
    words.push(format!("--name={name}"));
    // The name belongs to no host: or another one would not take the array as its own.
    words.push("--homehost=any".into());
    words.push("--metadata=1.2".into());
    words.push(format!("--uuid={}", site.names.md_uuid(&site.layer.name)));
    words.push(format!("--level={level}"));
    words.push(format!("--raid-devices={members}"));
    words.extend((md.spares > 0).then(|| format!("--spare-devices={}", md.spares)));
    words.extend(md.chunk.map(|chunk| format!("--chunk={}", chunk.0 / 1024)));
    words.extend(md.member_size.map(|size| format!("--size={}", size.0 / 1024)));
    words.extend(md.consistency.map(|consistency| match consistency {
        Consistency::Resync => "--consistency-policy=resync".to_string(),
        Consistency::Bitmap => "--bitmap=internal".into(),
        Consistency::Ppl => "--consistency-policy=ppl".into(),
    }));
    words.extend((md.initial_sync == InitialSync::Skip && md.level != MdLevel::Raid0).then(|| "--assume-clean".into()));
    words.extend(journal.iter().map(|device| format!("--write-journal={device}")));
    words.extend(devices.iter().map(|device| device.to_string()));
    words
}
