//! What tells saved guests apart, and that none is used that is not whole.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const TCG: Accelerator = Accelerator::Tcg { counter_khz: Some(2_500_000) };
const MACHINE: &str =
    "machine: m\nmemory: 512MiB\ndrives: [{serial: A1, size: 64MiB}, {kind: scsi, serial: B2, size: 64MiB}]";

/// An image with these packages, and its directory.
fn image(packages: &str) -> (tempfile::TempDir, Image) {
    let directory = tempfile::tempdir().unwrap();
    let [kernel, start, system, list] =
        ["kernel", "start", "system", "packages"].map(|name| directory.path().join(name));
    [&kernel, &start, &system].into_iter().for_each(|path| fs::write(path, "x").unwrap());
    fs::write(&list, packages).unwrap();
    (directory, Image { kernel, start, system, packages: list })
}

fn machine(text: &str) -> Machine {
    stend_spec::parse::machine(text, "m.yaml").unwrap()
}

#[test]
fn a_guest_is_kept_under_everything_that_it_follows_from() {
    let image = image("busybox 1\n");
    let of = |text: &str, how, program: &[u8], version: &str| key(&machine(text), how, &image.1, program, version);
    let usual = of(MACHINE, TCG, b"program", "QEMU 7.2").unwrap();
    assert_eq!(of(MACHINE, TCG, b"program", "QEMU 7.2").unwrap(), usual);
    let others = [
        of(MACHINE, TCG, b"program", "QEMU 7.2.1"),
        of(MACHINE, TCG, b"another program", "QEMU 7.2"),
        of(MACHINE, Accelerator::Tcg { counter_khz: Some(2_502_000) }, b"program", "QEMU 7.2"),
        of(&MACHINE.replace("512MiB", "768MiB"), TCG, b"program", "QEMU 7.2"),
        of(&MACHINE.replace("memory", "cpus: 2\nmemory"), TCG, b"program", "QEMU 7.2"),
        of(&MACHINE.replace("memory", "kernel: [a=b]\nmemory"), TCG, b"program", "QEMU 7.2"),
        of(&MACHINE.replace("serial: A1", "serial: A, count: 2"), TCG, b"program", "QEMU 7.2"),
        of(&MACHINE.replace("memory", "links: [{to: n, address: 10.77.0.1/24}]\nmemory"), TCG, b"program", "QEMU 7.2"),
        // The guest has seen this one already.
        of(&MACHINE.replace("B2", "B3"), TCG, b"program", "QEMU 7.2"),
    ];
    for (index, other) in others.into_iter().enumerate() {
        assert_ne!(other.unwrap(), usual, "change {index}");
    }
    fs::write(&image.1.packages, "busybox 2\n").unwrap();
    let updated = of(MACHINE, TCG, b"program", "QEMU 7.2").unwrap();
    assert_ne!(updated, usual);
    fs::write(&image.1.system, "another").unwrap();
    assert_ne!(of(MACHINE, TCG, b"program", "QEMU 7.2").unwrap(), updated);
}

#[test]
fn what_a_guest_cannot_know_of_yet_does_not_tell_it_apart() {
    let image = image("busybox 1\n");
    let of = |text: &str, khz| {
        key(&machine(text), Accelerator::Tcg { counter_khz: Some(khz) }, &image.1, b"program", "QEMU 7.2").unwrap()
    };
    let usual = of(MACHINE, 2_500_000);
    // The counter is measured anew for every machine.
    assert_eq!(of(MACHINE, 2_500_001), usual);
    assert_eq!(of(&MACHINE.replace("machine: m", "machine: another"), 2_500_000), usual);
    assert_eq!(of(&MACHINE.replace("serial: A1, size: 64MiB", "serial: Z9, size: 1GiB, iops: 400"), 2_500_000), usual);
}

#[test]
fn what_cannot_be_saved_has_no_key() {
    let image = image("busybox 1\n");
    let of = |text: &str, how| key(&machine(text), how, &image.1, b"program", "QEMU 7.2");
    assert!(of(MACHINE, TCG).is_some());
    assert_eq!(of(MACHINE, Accelerator::Kvm), None);
    assert_eq!(of(MACHINE, Accelerator::Tcg { counter_khz: None }), None);
    assert_eq!(of(&MACHINE.replace("scsi", "sas"), TCG), None);
    assert_eq!(of(&MACHINE.replace("512MiB", "9GiB"), TCG), None);
    fs::remove_file(&image.1.system).unwrap();
    assert_eq!(of(MACHINE, TCG), None);
}

/// A guest whose memory is its name.
fn keep(saves: &Saves, name: &str) {
    let file = saves.begin().unwrap();
    // As QEMU writes: from where the file stands.
    io::Write::write_all(&mut &file, name.as_bytes()).unwrap();
    saves.keep(file, name).unwrap();
}

fn names(saves: &Saves) -> Vec<String> {
    let entries = fs::read_dir(&saves.directory).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_saved_guest_has_its_name_when_it_is_whole_and_only_its_owner_can_read_it() {
    let cache = tempfile::tempdir().unwrap();
    let saves = Saves::beside(cache.path());
    assert!(saves.find("a").is_none());
    let file = saves.begin().unwrap();
    io::Write::write_all(&mut &file, b"memory").unwrap();
    assert!(names(&saves).is_empty(), "it is written");
    saves.keep(file, "a").unwrap();
    let saved = saves.find("a").unwrap();
    saved.check().unwrap();
    let mut read = String::new();
    io::Read::read_to_string(&mut File::from(saved.stream().unwrap()), &mut read).unwrap();
    assert_eq!(read, "memory");
    let mode = fs::metadata(saves.directory.join("a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Another start, at the same time.
    keep(&saves, "a");
    saves.find("a").unwrap().check().unwrap();
    assert_eq!(names(&saves), ["a"]);
    saves.remove("a");
    assert!(saves.find("a").is_none());
    saved.check().unwrap();
}

#[test]
fn damage_is_found() {
    let cache = tempfile::tempdir().unwrap();
    let saves = Saves::beside(cache.path());
    for damage in [
        |file: &File| file.write_all_at(b"M", HEAD).unwrap(),
        |file: &File| file.write_all_at(b"S", 0).unwrap(),
        |file: &File| file.write_all_at(b"more", HEAD + 1).unwrap(),
        |file: &File| file.set_len(HEAD + 3).unwrap(),
        |file: &File| file.set_len(100).unwrap(),
        |file: &File| file.set_len(0).unwrap(),
    ] {
        keep(&saves, "a");
        saves.find("a").unwrap().check().unwrap();
        let file = File::options().write(true).open(saves.directory.join("a")).unwrap();
        damage(&file);
        assert!(saves.find("a").unwrap().check().is_err());
        saves.remove("a");
    }
}

#[test]
fn those_that_were_used_last_are_kept() {
    let cache = tempfile::tempdir().unwrap();
    let saves = Saves::beside(cache.path());
    let old = SystemTime::now() - Duration::from_secs(1000);
    for (age, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        keep(&saves, name);
        let file = File::open(saves.directory.join(name)).unwrap();
        file.set_modified(old + Duration::from_secs(age as u64)).unwrap();
    }
    assert_eq!(names(&saves), ["a", "b", "c", "d"]);
    // Used once more, it is not the oldest any more.
    assert!(saves.find("a").is_some());
    keep(&saves, "e");
    assert_eq!(names(&saves), ["a", "c", "d", "e"]);
}

#[test]
fn a_place_that_cannot_be_written_is_an_error() {
    let cache = tempfile::tempdir().unwrap();
    fs::write(cache.path().join("saved"), "").unwrap();
    assert!(Saves::beside(cache.path()).begin().is_err());
}
