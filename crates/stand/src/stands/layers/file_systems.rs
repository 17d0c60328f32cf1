//! File systems, made and mounted.

use super::super::product::Product;
use super::{Made, StepContext, directory, over};
use crate::change::{Action, Change, Condition, run};
use stend_base::say;
use stend_spec::stand::{Btrfs, Fs, FsKind};

pub(super) fn plain(context: &StepContext, fs: &Fs) -> Made {
    let Some(device) = context.paths().next() else { return Made::default() };
    let (kind, uuid) = (fs.kind.word(), context.uuid(0));
    let mut words: Vec<String> = match fs.kind {
        FsKind::Ext4 => vec!["mkfs.ext4".into(), "-F".into(), "-q".into(), "-U".into(), uuid.clone()],
        FsKind::Xfs => vec!["mkfs.xfs".into(), "-f".into(), "-q".into(), "-m".into(), format!("uuid={uuid}")],
        FsKind::F2fs => vec!["mkfs.f2fs".into(), "-f".into(), "-q".into(), "-U".into(), uuid.clone()],
    };
    words.extend(fs.make.iter().cloned());
    words.push(device.to_string());
    let made = Change {
        what: say!("make {kind} on {device}", "создать {kind} на {device}"),
        erases: context.erases(),
        done: Condition::Mark { device: device.to_string(), uuid: uuid.clone() },
        apply: vec![Action::Run(words)],
        undo: vec![wipe(device, &uuid)],
        wait: None,
    };
    mounted(context, made, kind, device, &fs.options)
}

pub(super) fn btrfs(context: &StepContext, btrfs: &Btrfs) -> Made {
    let Some(first) = context.paths().next() else { return Made::default() };
    let uuid = context.uuid(0);
    let mut words: Vec<String> = ["mkfs.btrfs", "--force", "--quiet", "--uuid", &uuid].map(String::from).to_vec();
    words.extend(["--data", btrfs.data.word(), "--metadata", btrfs.metadata.word()].map(String::from));
    words.extend(context.erases());
    let name = context.name();
    let made = Change {
        what: over(context.count(), &format!("make the btrfs {name}"), &format!("создать btrfs {name}")),
        erases: context.erases(),
        done: Condition::Mark { device: first.to_string(), uuid: uuid.clone() },
        // Before that: or the new members are not noticed, and the mount fails.
        apply: vec![Action::Module("btrfs".into()), Action::Run(words)],
        undo: context.paths().map(|device| wipe(device, &uuid)).collect(),
        wait: None,
    };
    // Every member is named: nobody need have scanned for them.
    let members = context.paths().map(|device| format!("device={device}"));
    let options: Vec<String> = members.chain(btrfs.options.iter().cloned()).collect();
    mounted(context, made, "btrfs", first, &options)
}

/// What takes a file system of ours off a device again.
fn wipe(device: &str, uuid: &str) -> (Condition, Action) {
    let mark = Condition::Mark { device: device.to_string(), uuid: uuid.to_string() };
    (mark, Action::Wipe { device: device.to_string(), uuid: uuid.to_string() })
}

fn mounted(context: &StepContext, made: Change, kind: &str, device: &str, options: &[String]) -> Made {
    let at = context.names.mount(&context.layer.name);
    let mut words: Vec<String> = ["mount", "-t", kind].map(String::from).to_vec();
    if !options.is_empty() {
        words.extend(["-o".to_string(), options.join(",")]);
    }
    words.extend([device.to_string(), at.clone()]);
    let there = Condition::Mounted(at.clone());
    let mount = Change {
        what: say!("mount {device} at {at}", "смонтировать {device} в {at}"),
        erases: Vec::new(),
        done: there.clone(),
        apply: vec![Action::Run(words)],
        undo: vec![(there, run("umount --", &[at.as_str()]))],
        wait: None,
    };
    Made { steps: vec![made, directory(&at), mount], products: vec![Product::Directory(at)] }
}
