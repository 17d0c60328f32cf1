//! Software RAID of Linux.
//!
//! Source: mdadm(8) of mdadm 4.2 and 4.4.

use super::super::product::Product;
use super::{Made, StepContext};
use crate::change::{Action, Change, Condition, Wait, run};
use stend_base::say;
use stend_spec::stand::{Consistency, InitialSync, Md, MdLevel};

pub(super) fn array(context: &StepContext, md: &Md) -> Made {
    let (name, uuid) = (context.name(), context.uuid(0));
    let product = Product::Array { uuid: uuid.clone(), name: name.clone() };
    let level = match md.level {
        MdLevel::Raid0 => 0,
        MdLevel::Raid1 => 1,
        MdLevel::Raid10 => 10,
        MdLevel::Raid5 => 5,
        MdLevel::Raid6 => 6,
    };
    let undo_of = |device: &str| {
        let mark = Condition::Mark { device: device.to_string(), uuid: uuid.clone() };
        (mark, run("mdadm --zero-superblock", &[device]))
    };
    let (path, stop) = ((context.path)(&product), stop(context));
    let count = context.count();
    let given = format!("--uuid={}", context.names.md_uuid(&context.layer.name));
    let members: Vec<&str> = [path.as_str(), &given].into_iter().chain(context.paths()).collect();
    let assemble = Change {
        what: say!("assemble the array {name} again", "снова собрать массив {name} из его накопителей"),
        erases: Vec::new(),
        done: Condition::NothingToAssemble {
            uuid: uuid.clone(),
            members: context.paths().map(str::to_string).collect(),
        },
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
        erases: context.erases(),
        done: Condition::Running(uuid.clone()),
        apply: vec![Action::Run(create(context, md, level))],
        undo: std::iter::once(stop).chain(context.paths().map(undo_of)).collect(),
        wait: (md.initial_sync == InitialSync::Wait && md.level != MdLevel::Raid0).then(|| Wait::Array(uuid.clone())),
    };
    Made { steps: vec![assemble, make], products: vec![product] }
}

/// What lets an array go without anything of it being lost.
pub(super) fn stop(context: &StepContext) -> (Condition, Action) {
    let (name, uuid) = (context.name(), context.uuid(0));
    let path = (context.path)(&Product::Array { uuid: uuid.clone(), name });
    (Condition::Array(uuid), run("mdadm --stop", &[path.as_str()]))
}

fn create(context: &StepContext, md: &Md, level: u32) -> Vec<String> {
    let name = context.name();
    let devices: Vec<&str> = context.paths().collect();
    let (devices, journal) = devices.split_at(devices.len() - usize::from(md.journal).min(devices.len()));
    let members = devices.len().saturating_sub(md.spares as usize);
    // `--run`: no questions, because what would be asked about was looked at before.
    let mut words = vec!["mdadm".to_string(), "--create".into(), format!("/dev/md/{name}"), "--run".into()];
    words.push(format!("--name={name}"));
    // The name belongs to no host: or another one would not take the array as its own.
    words.push("--homehost=any".into());
    words.push("--metadata=1.2".into());
    words.push(format!("--uuid={}", context.names.md_uuid(&context.layer.name)));
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
