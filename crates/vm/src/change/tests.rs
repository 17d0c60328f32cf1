//! What changes of machines are called and when they are refused; the changes themselves need a libvirt (crates/stend/tests/vm.rs).

use super::*;
use crate::group::tests::kept_in;

fn member(group: &Group, number: u32) -> Member {
    Member { group: group.clone(), number }
}

#[test]
fn files_of_changes_have_names_of_their_own_and_a_device_needs_a_directory() {
    let place = tempfile::tempdir().unwrap();
    let group = kept_in(place.path());
    let second = member(&group, 2);
    let disks = disks_of(&second);
    let id = &group.id;
    assert_eq!(disks[0].own(), format!("/d/stend-web-2-1-{id}.img"));
    assert_eq!(disks[0].made(None, SNAPSHOT).unwrap(), format!("/d/stend-web-2-1-{id}.snapshot.qcow2"));
    assert_eq!(disks[0].made(Some("/e/"), MOVED).unwrap(), format!("/e/stend-web-2-1-{id}.moved.img"));
    assert_eq!(disks[1].made(Some("/e"), SNAPSHOT).unwrap(), format!("/e/stend-web-2-2-{id}.snapshot.qcow2"));
    let error = disks[1].made(None, SNAPSHOT).err().unwrap();
    assert!(error.message.en.contains("is a device: `vm.snapshot` needs `directory`"), "{error}");
}

#[test]
fn what_cannot_be_done_is_told_before_a_run_begins() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path().display();
    let text = format!("machines: m\ncount: 2\ndisks: [{{size: 1MiB, directory: {here}}}]\n");
    let of = |text: &str| {
        let machines = stend_spec::parse::machines(text, "m").unwrap();
        let group = Group::new(&machines, String::new(), vec![Vec::new()], place.path(), 3);
        [1, 2].map(|number| member(&group, number))
    };
    let snapshot =
        |machine, directory: Option<&str>| Act::VmSnapshot { machine, directory: directory.map(String::from) };
    let told = |members: &[Member], act| foresee(members, &act).err().map(|error| error.message.en).unwrap_or_default();
    let members = of(&text);
    let all = WhichMachine::All;
    assert_eq!(told(&members, snapshot(all, None)), "");
    assert_eq!(told(&members, Act::VmLimit { machine: WhichMachine::Number(2), iops: Some(1), bandwidth: None }), "");
    assert!(told(&members, snapshot(WhichMachine::Number(3), None)).contains("virtual machine 3, but only 2 load"));
    assert!(told(&members, snapshot(all, Some("/nowhere"))).contains("/nowhere"));
    // Everything that a machine may write after its snapshot must have room.
    let large = of(&text.replace("1MiB", "16TiB"));
    assert!(told(&large, snapshot(all, None)).contains("are free there"));
    let moved = Act::VmMove { machine: all, directory: here.to_string() };
    assert!(told(&large, moved).contains("are free there"));
}

#[test]
fn sources_are_read_with_their_spaces() {
    let told = " vda      /s/system\n vdb      /d/a disk.img\n sda      -\n";
    let of = |target: &str, source: &str| (target.to_string(), source.to_string());
    assert_eq!(sources(told), [of("vda", "/s/system"), of("vdb", "/d/a disk.img"), of("sda", "-")]);
}
