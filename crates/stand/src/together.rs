//! Several targets of one run: each looked at like one alone, and whether they may be used together. Reads only.

use crate::busy;
use crate::devices::Devices;
use crate::inspect::inspect_among;
use crate::roots::Roots;
use std::os::unix::fs::MetadataExt;
use stend_base::{Error, Result, Say, say};
use stend_record::targets::TARGETS_MAX;
use stend_record::{Device, TargetFacts, TargetKind};

/// [`inspect`](crate::inspect) of every target of a run, in their order, and whether they can be used together.
///
/// Errors: those of `inspect`; `Usage` for none, for more than 64, for different kinds, for several null devices or
/// directories of one file system; `Unsafe` if two are the same thing or share their bytes.
pub fn inspect_all(names: &[String]) -> Result<Vec<TargetFacts>> {
    if names.is_empty() || names.len() > TARGETS_MAX {
        let count = names.len();
        return Err(Error::usage(say!(
            "a run has 1 to {TARGETS_MAX} targets, not {count}",
            "у прогона от 1 до {TARGETS_MAX} объектов, а не {count}"
        )));
    }
    let roots = Roots::host();
    let devices = Devices::read(&roots);
    let mut found =
        names.iter().map(|name| inspect_among(&roots, &devices, name)).collect::<Result<Vec<TargetFacts>>>()?;
    together(&found)?;
    let stacks: Vec<&[Device]> = found.iter().map(|target| target.devices.as_slice()).collect();
    let seen = busy::look_at_all(&roots, &stacks);
    found.iter_mut().zip(seen).for_each(|(target, busy)| target.busy = busy);
    Ok(found)
}

/// Whether targets can be used together. Looks at the file systems of directories and files only.
fn together(targets: &[TargetFacts]) -> Result<()> {
    for (index, second) in targets.iter().enumerate() {
        for first in &targets[..index] {
            pair(first, second)?;
        }
    }
    Ok(())
}

fn pair(first: &TargetFacts, second: &TargetFacts) -> Result<()> {
    let (a, b) = (&first.named, &second.named);
    let usage = |text: Say, hint: Say| Err(Error::usage(text).hint(hint));
    if first.kind != second.kind {
        return usage(
            say!(
                "`{a}` and `{b}` are of different kinds; all targets of a run must be of one kind",
                "`{a}` и `{b}` разного вида, а все объекты прогона должны быть одного вида"
            ),
            say!(
                "name only devices, only directories or only files",
                "укажите только устройства, только каталоги или только файлы"
            ),
        );
    }
    if let Some(Say { en, ru }) = shared(first, second) {
        return Err(Error::refused(say!(
            "refused to use `{a}` and `{b}` together: {en}",
            "`{a}` и `{b}` нельзя использовать вместе: {ru}"
        ))
        .hint(say!("name each device once", "укажите каждое устройство один раз")));
    }
    let system = |target: &TargetFacts| std::fs::metadata(&target.path).ok().map(|meta| meta.dev());
    match first.kind {
        TargetKind::NullDevice => usage(
            say!("neither `{a}` nor `{b}` stores anything", "`{a}` и `{b}` ничего не хранят"),
            say!("name one of them", "укажите одно из них"),
        ),
        TargetKind::Directory if system(first).is_some() && system(first) == system(second) => usage(
            say!("`{a}` and `{b}` lie on one file system", "`{a}` и `{b}` лежат на одной файловой системе"),
            say!(
                "name one of them, and `files: {{count: 2}}` in the suite if several files are meant",
                "укажите один из них и `files: {{count: 2}}` в наборе, если нужно несколько файлов"
            ),
        ),
        TargetKind::Directory | TargetKind::BlockDevice | TargetKind::File => Ok(()),
    }
}

/// Why two targets are not two, as words that follow a colon.
fn shared(first: &TargetFacts, second: &TargetFacts) -> Option<Say> {
    if first.path == second.path {
        let path = &first.path;
        return Some(say!("both are `{path}`", "оба — это `{path}`"));
    }
    if first.kind == TargetKind::File {
        let file = |target: &TargetFacts| std::fs::metadata(&target.path).ok().map(|meta| (meta.dev(), meta.ino()));
        let same = file(first).is_some() && file(first) == file(second);
        return same.then(|| say!("they are two names of one file", "это два имени одного файла"));
    }
    if let (Some(one), Some(other)) = (&first.identity, &second.identity)
        && one == other
    {
        return Some(say!("they are two ways to one device, `{one}`", "это два пути к одному устройству, `{one}`"));
    }
    if first.kind != TargetKind::BlockDevice {
        return None;
    }
    // The device itself stands first, what it lies on after it.
    let own = |target: &TargetFacts| target.devices.first().map(|device| device.name.clone());
    let lies_on = |above: &TargetFacts, below: &TargetFacts| {
        let name = own(below)?;
        let (over, under) = (&above.named, &below.named);
        let found = above.devices.iter().any(|device| device.name == name);
        found.then(|| say!("`{over}` lies on `{under}`", "`{over}` лежит на `{under}`"))
    };
    lies_on(first, second).or_else(|| lies_on(second, first)).or_else(|| {
        let disk = |target: &TargetFacts| {
            let is_partition = target.devices.first().is_some_and(|device| device.kind == "partition");
            target.devices.get(1).filter(|_| is_partition).map(|disk| disk.name.clone())
        };
        let disk = disk(first).filter(|one| disk(second).as_ref() == Some(one))?;
        Some(say!(
            "both are partitions of `{disk}`, which can be claimed only once",
            "оба — разделы диска `{disk}`, а занять его можно только один раз"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Bytes;
    use stend_base::Kind;
    use stend_record::WriteAccess;

    /// A block device under this name, whose stack is this, itself first.
    fn device(named: &str, identity: &str, stack: &[(&str, &str)]) -> TargetFacts {
        let devices = stack.iter().zip(0..).map(|((name, kind), depth)| Device {
            name: name.to_string(),
            kind: kind.to_string(),
            depth,
            ..Device::default()
        });
        TargetFacts {
            path: format!("/dev/{}", stack[0].0),
            identity: Some(identity.into()),
            size: Bytes::gib(1),
            free: Bytes::gib(1),
            devices: devices.collect(),
            ..TargetFacts::new(named, TargetKind::BlockDevice, WriteAccess::Refused(Vec::new()))
        }
    }

    fn refusal(first: TargetFacts, second: TargetFacts) -> (Kind, String) {
        let error = together(&[first, second]).unwrap_err();
        assert_ne!(error.message.en, error.message.ru);
        (error.kind, error.message.en.clone())
    }

    #[test]
    fn drives_and_volumes_of_one_pool_go_together() {
        let (a, b) = (device("a", "serial:1", &[("sda", "disk")]), device("b", "serial:2", &[("sdb", "disk")]));
        together(&[a, b]).unwrap();
        let volume = |name: &str| device(name, &format!("dm:{name}"), &[(name, "dm"), ("sda", "disk")]);
        together(&[volume("dm-0"), volume("dm-1"), volume("dm-2")]).unwrap();
    }

    #[test]
    fn what_shares_its_bytes_is_refused_whichever_comes_first() {
        let disk = || device("disk", "serial:1", &[("sda", "disk")]);
        let partition = |n: u32| {
            device("part", &format!("serial:1-part{n}"), &[(&format!("sda{n}"), "partition"), ("sda", "disk")])
        };
        let mapped = || device("map", "dm:x", &[("dm-0", "dm"), ("sda", "disk")]);
        let other_path = || device("path", "serial:1", &[("sdb", "disk")]);
        for (second, told) in [
            (disk(), "both are `/dev/sda`"),
            (partition(1), "`part` lies on `disk`"),
            (mapped(), "`map` lies on `disk`"),
            (other_path(), "two ways to one device, `serial:1`"),
        ] {
            let (kind, text) = refusal(disk(), second.clone());
            assert!(kind == Kind::Unsafe && text.contains(told), "{text}");
            assert_eq!(refusal(second, disk()).0, Kind::Unsafe);
        }
        assert!(refusal(partition(1), partition(2)).1.contains("partitions of `sda`"));
    }

    #[test]
    fn different_kinds_and_directories_of_one_file_system_are_refused() {
        let disk = device("disk", "serial:1", &[("sda", "disk")]);
        let of_kind = |kind, path: &str| TargetFacts { kind, path: path.into(), identity: None, ..disk.clone() };
        let directory = |path: &str| of_kind(TargetKind::Directory, path);
        let (kind, text) = refusal(disk.clone(), directory("/"));
        assert!(kind == Kind::Usage && text.contains("different kinds"), "{text}");
        assert!(refusal(directory("/usr"), directory("/usr/bin")).1.contains("one file system"));
        together(&[directory("/"), directory("/proc")]).unwrap();
        let null = |path| of_kind(TargetKind::NullDevice, path);
        assert!(refusal(null("/dev/null"), null("/dev/zero")).1.contains("stores anything"));
        assert_eq!(inspect_all(&[]).unwrap_err().kind, Kind::Usage);
        assert_eq!(inspect_all(&vec!["/".to_string(); TARGETS_MAX + 1]).unwrap_err().kind, Kind::Usage);
    }

    #[test]
    fn two_names_of_one_file_are_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["a", "b", "c"].map(|name| dir.path().join(name).display().to_string());
        std::fs::write(&names[0], "x").unwrap();
        std::fs::hard_link(&names[0], &names[1]).unwrap();
        std::fs::write(&names[2], "x").unwrap();
        let error = inspect_all(&names[..2]).unwrap_err();
        assert!(error.kind == Kind::Unsafe && error.message.en.contains("two names of one file"), "{error}");
        assert_eq!(inspect_all(&names[1..]).unwrap().len(), 2);
    }
}
