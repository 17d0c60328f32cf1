//! When a migration is refused and how what tools print is read; migrations themselves need two libvirts (crates/stend/tests/vm_migrate.rs).

use super::*;
use crate::group::tests::kept_in;

#[test]
fn disks_in_the_page_cache_do_not_migrate() {
    let place = tempfile::tempdir().unwrap();
    let of = |cache: &str| {
        let text = format!(
            "machines: m\ncount: 1\ndisks: [{{size: 1MiB, directory: /d, cache: none}}, {{size: 1MiB, directory: /d{cache}}}]\n"
        );
        let machines = stend_spec::parse::machines(&text, "m").unwrap();
        let group = Group::new(&machines, String::new(), vec![Vec::new(); 2], place.path(), 3);
        must_have_safe_disks(&group, 1).err().map(|error| error.message.en.clone())
    };
    for cache in ["", ", cache: writeback", ", cache: writethrough", ", cache: unsafe"] {
        assert!(of(cache).is_some_and(|told| told.contains("its disk `vdc` goes through the page cache")), "{cache}");
    }
    assert_eq!((of(", cache: none"), of(", cache: directsync")), (None, None));
}

#[test]
fn a_directory_whose_sockets_would_have_too_long_a_path_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let text = "machines: m\ncount: 1\ndisks: [{size: 1MiB, directory: /d, cache: none}]\n";
    let machines = stend_spec::parse::machines(text, "m").unwrap();
    let deep = place.path().join("x".repeat(100));
    let group = Group::new(&machines, String::new(), vec![Vec::new()], &deep, 3);
    let error = foresee(&group, 1, "qemu:///other").unwrap_err();
    assert!(error.message.en.contains("longer than 107 bytes"), "{error}");
}

#[test]
fn a_port_is_never_at_the_socket_that_it_leaves() {
    let place = tempfile::tempdir().unwrap();
    let group = kept_in(place.path());
    let (a, b) = (port(&group, 2, ""), port(&group, 2, &port(&group, 2, "")));
    assert!(a.ends_with("/web/port-2-a") && b.ends_with("/web/port-2-b"), "{a} {b}");
    assert_eq!((port(&group, 2, &b), port(&group, 2, "/var/lib/libvirt/x")), (a.clone(), a));
}

#[test]
fn an_emulator_that_waits_for_its_guest_is_the_one_that_was_not_there_before_whatever_its_number_is() {
    let place = tempfile::tempdir().unwrap();
    let process = |id: u32, words: &[u8]| {
        let path = place.path().join(id.to_string());
        fs::create_dir(&path).unwrap();
        fs::write(path.join("cmdline"), words).unwrap();
        path
    };
    // One that its guest came to has the same word, and numbers of processes begin anew at some time.
    let has_it = process(30_000, b"qemu\0-uuid\0U-1\0-incoming\0defer\0");
    process(30_001, b"qemu\0-uuid\0U-2\0-incoming\0defer\0");
    let before = placement::processes_of("U-1", place.path());
    assert_eq!((before.as_slice(), waiting("U-1", &before, place.path())), (&[has_it][..], None));
    let waits = process(11, b"qemu\0-uuid\0U-1\0-incoming\0defer\0");
    assert_eq!(waiting("U-1", &before, place.path()), Some(waits));
}

#[test]
fn a_disk_that_the_other_emulator_does_not_have_open_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path().display();
    let text = format!("machines: m\ncount: 1\ndisks: [{{size: 1MiB, directory: {here}}}]\n");
    let machines = stend_spec::parse::machines(&text, "m").unwrap();
    let group = Group::new(&machines, String::new(), vec![Vec::new()], place.path(), 3);
    let (own, paths) = (Virsh::new(None), group.paths(1));
    let trip = Trip { group: &group, number: 1, from: &own, to: &own };
    let process = place.path().join("9");
    let told = || trip.must_share_disks(&process).err().map(|error| error.message.en.clone()).unwrap_or_default();
    assert!(told().contains("cannot be seen"), "{}", told());
    fs::create_dir_all(process.join("fd")).unwrap();
    fs::create_dir(&group.directory).unwrap();
    fs::write(&paths.disks[0], "x").unwrap();
    fs::write(&paths.system, "x").unwrap();
    std::os::unix::fs::symlink(&paths.system, process.join("fd/3")).unwrap();
    // A file of the same name that is not the same.
    fs::write(place.path().join("other"), "x").unwrap();
    std::os::unix::fs::symlink(place.path().join("other"), process.join("fd/4")).unwrap();
    assert!(told().contains(&format!("`{}` is another file for the other libvirt", paths.disks[0])), "{}", told());
    std::os::unix::fs::symlink(&paths.disks[0], process.join("fd/5")).unwrap();
    assert_eq!(told(), "");
}

#[test]
fn a_machine_between_two_libvirts_is_waited_for_and_looked_at_again() {
    let looks = std::cell::Cell::new(0);
    let states = || {
        looks.set(looks.get() + 1);
        let own = if looks.get() < 3 { Presence::Paused } else { Presence::Runs };
        Ok((own, Presence::Paused))
    };
    let expected = (Found::Own, (Presence::Runs, Presence::Paused));
    assert_eq!((settled(&states).unwrap(), looks.get()), (expected, 3));
    let place = tempfile::tempdir().unwrap();
    let error = unknown(&kept_in(place.path()), 2);
    assert!(error.message.en.contains("`web-2` is paused in two") && error.hint.unwrap().en.contains("vm down web"));
}

#[test]
fn limits_and_what_libvirt_prints_are_read() {
    assert_eq!(limit(How::default(), Bytes::mib(512)), Duration::from_secs(248));
    assert_eq!(limit(How { bandwidth: None, limit: Some(Nanos::secs(7)) }, Bytes::gib(1)), Duration::from_secs(7));
    let told =
        "Job type:         Completed   \nTotal downtime:   382          ms\nDowntime w/o network: 371          ms\n";
    assert_eq!((downtime(told), downtime("Job type: None\n")), (Some(Nanos::millis(382)), None));
    let capabilities = "<capabilities>\n <host>\n  <uuid>4f5c</uuid>\n </host>\n</capabilities>";
    assert_eq!((host_of(capabilities).as_deref(), host_of("")), (Some("4f5c"), None));
}
