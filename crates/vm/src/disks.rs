//! Files of disks: made new, removed again. Must not write into any other file, nor into a device.

use crate::group::Group;
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use stend_base::format::bytes;
use stend_base::{Bytes, Error, Lang, Result, Say, say};
use stend_spec::vm::{Disk, DiskPlace};

/// Makes the files of all machines. What was made before an error stays, for [`remove`].
pub(crate) fn make(group: &Group) -> Result<()> {
    must_have_room(group)?;
    for (at, disk) in group.machines.disks.iter().enumerate() {
        let DiskPlace::File { size, sparse, .. } = &disk.place else { continue };
        for number in group.numbers() {
            let path = group.disk(at, number);
            file(Path::new(&path), *size, *sparse).map_err(|e| not_made(&path, &e))?;
        }
    }
    Ok(())
}

/// File systems allocate what they have before they notice that it is too little, and others would find them full meanwhile. So they are
/// asked first.
fn must_have_room(group: &Group) -> Result<()> {
    let of = |disk: &'_ Disk| match &disk.place {
        DiskPlace::File { directory, size, sparse: false } => {
            Some((directory.clone(), size.0.saturating_mul(u64::from(group.machines.count))))
        }
        _ => None,
    };
    must_fit(&group.machines.disks.iter().filter_map(of).collect::<Vec<_>>())
}

/// That directories take so many bytes each; those of one file system share what is free there.
///
/// Errors: `Preflight` where they do not, or a directory is not there.
pub(crate) fn must_fit(all: &[(String, u64)]) -> Result<()> {
    let mut needs: BTreeMap<u64, (&str, u64)> = BTreeMap::new();
    for (directory, bytes) in all {
        let facts = fs::metadata(directory).map_err(|e| not_made(directory, &e))?;
        let (_, needed) = needs.entry(facts.dev()).or_insert((directory, 0));
        *needed = needed.saturating_add(*bytes);
    }
    for (directory, needed) in needs.into_values() {
        let found = statvfs(directory).map_err(|e| not_made(directory, &e.into()))?;
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        if needed > free {
            let [(all, left), (all_ru, left_ru)] =
                [Lang::En, Lang::Ru].map(|lang| (bytes(Bytes(needed), lang), bytes(Bytes(free), lang)));
            let told = say!(
                "the disks of all machines take {all} in `{directory}`, and {left} are free there",
                "дискам всех машин нужно {all_ru} в `{directory}`, а свободно там {left_ru}"
            );
            return Err(Error::preflight(told).hint(room_hint()));
        }
    }
    Ok(())
}

fn room_hint() -> Say {
    say!(
        "`sparse: true` takes room only when blocks are written",
        "с `sparse: true` место занимается только при записи блоков"
    )
}

/// A new file.
pub(crate) fn file(path: &Path, size: Bytes, sparse: bool) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    match sparse {
        true => file.set_len(size.0),
        // Room that is missing is found now, and no trial pays for the allocation of blocks.
        false => Ok(fallocate(&file, FallocateFlags::empty(), 0, size.0)?),
    }
}

/// Whether two paths lead to one file or device.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    let what = |path| {
        let facts = fs::metadata(path).ok()?;
        // A device is its number, wherever its node lies.
        let device = facts.file_type().is_block_device();
        Some(if device { (true, facts.rdev(), 0) } else { (false, facts.dev(), facts.ino()) })
    };
    what(one).is_some_and(|one| what(other) == Some(one))
}

/// Removes the files of all machines, as far as they are there. The first failure is returned when all were tried.
pub(crate) fn remove(group: &Group) -> Result<()> {
    let mut failure = None;
    for (at, disk) in group.machines.disks.iter().enumerate() {
        if !matches!(disk.place, DiskPlace::File { .. }) {
            continue;
        }
        for number in group.numbers() {
            let path = group.disk(at, number);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let told = say!("cannot remove `{path}`: {error}", "не удаётся удалить `{path}`: {error}");
                    failure.get_or_insert(Error::preflight(told));
                }
                _ => {}
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Why a disk could not be made.
pub(crate) fn not_made(path: &str, error: &io::Error) -> Box<Error> {
    let failed =
        Error::preflight(say!("cannot make the disk `{path}`: {error}", "не удаётся создать диск `{path}`: {error}"));
    match error.kind() {
        io::ErrorKind::StorageFull => failed.hint(room_hint()),
        io::ErrorKind::Unsupported => failed.hint(say!(
            "this file system cannot allocate blocks before they are written; `sparse: true` does without",
            "эта файловая система не выделяет блоки заранее; без этого обходится `sparse: true`"
        )),
        io::ErrorKind::NotFound => failed.hint(say!("its directory must exist", "каталог должен существовать")),
        _ => failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_new_have_their_room_and_go_again_and_no_other_file_is_touched() {
        let place = tempfile::tempdir().unwrap();
        let here = place.path().display();
        let text = format!(
            "machines: m\ncount: 2\ndisks: [{{size: 1MiB, directory: {here}}}, {{size: 4MiB, directory: {here}, sparse: true}}]\n"
        );
        let machines = stend_spec::parse::machines(&text, "m").unwrap();
        let group = Group::new(&machines, String::new(), vec![Vec::new(); 2], place.path(), 3);
        fs::write(place.path().join("other"), "x").unwrap();
        make(&group).unwrap();
        let blocks = |disk| std::os::unix::fs::MetadataExt::blocks(&fs::metadata(group.disk(disk, 2)).unwrap());
        assert!(blocks(0) >= 2048 && blocks(1) == 0, "{} {}", blocks(0), blocks(1));
        // What is there is never taken for a new one.
        assert!(make(&group).unwrap_err().message.en.contains("cannot make the disk"));
        remove(&group).unwrap();
        remove(&group).unwrap();
        // Nothing is allocated where not all of it fits.
        let large = text.replace("size: 1MiB", "size: 16TiB").replace("count: 2", "count: 64");
        let large = Group::new(
            &stend_spec::parse::machines(&large, "m").unwrap(),
            String::new(),
            vec![Vec::new(); 2],
            place.path(),
            3,
        );
        let error = make(&large).unwrap_err();
        assert!(error.message.en.contains("the disks of all machines take 1") && error.hint.is_some(), "{error}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn two_paths_are_of_one_file_by_what_they_lead_to() {
        let place = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| place.path().join(name));
        fs::write(&a, "x").unwrap();
        fs::write(&b, "x").unwrap();
        fs::hard_link(&a, &c).unwrap();
        assert!(same(&a, &c) && !same(&a, &b) && !same(&a, Path::new("/nowhere")));
        assert!(!same(Path::new("/nowhere"), Path::new("/nowhere")));
        let open = fs::File::open(&a).unwrap();
        let shown = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
        assert!(same(&a, Path::new(&shown)));
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let text = "machines: m\ncount: 1\ndisks: [{size: 1MiB, directory: /nowhere}]\n";
        let machines = stend_spec::parse::machines(text, "m").unwrap();
        let group = Group::new(&machines, String::new(), vec![Vec::new()], Path::new("/nowhere"), 3);
        let error = make(&group).unwrap_err();
        assert!(error.message.en.contains("/nowhere") && error.hint.is_some(), "{error}");
        remove(&group).unwrap();
    }
}
