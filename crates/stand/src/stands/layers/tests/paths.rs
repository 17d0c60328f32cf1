//! Drives over several paths, and LVM on them.

use super::*;

/// Commands of the last layer on these devices.
fn on(layers: &str, devices: &[&str]) -> String {
    let text = format!("stand: x\ndrives: [{SIX}]\nlayers:\n{layers}\n");
    let stand = stend_spec::parse::stand(&text, "s.yaml").unwrap();
    let below: Vec<LowerDevice> =
        devices.iter().map(|path| LowerDevice { path: path.to_string(), size: Some(100 << 20) }).collect();
    let made = made(&stand, stand.layers.last().unwrap(), &below);
    let mut text = String::new();
    for step in &made.steps {
        text.push_str(&format!("# {}\n", step.what.en));
        step.erases.iter().for_each(|device| text.push_str(&format!("erases: {device}\n")));
        step.apply.iter().for_each(|action| text.push_str(&format!("{}\n", action.shell())));
        step.undo.iter().for_each(|(_, action)| text.push_str(&format!("undo: {}\n", action.shell())));
    }
    text
}

#[test]
fn each_drive_is_joined_of_its_own_paths() {
    let text = on("- multipath: {paths: 2, policy: queue-length}", &["/dev/a", "/dev/b", "/dev/c", "/dev/d"]);
    expect![[r#"
        # join 2 paths to stend-x-multipath-1
        erases: /dev/a
        erases: /dev/b
        dmsetup create stend-x-multipath-1 --uuid STEND-mpath-c2f53549-f5e5-41a3-a916-5b754ce3cad1 --table '0 204800 multipath 0 0 1 1 queue-length 0 2 0 /dev/a /dev/b'
        undo: dmsetup remove --retry stend-x-multipath-1
        # join 2 paths to stend-x-multipath-2
        erases: /dev/c
        erases: /dev/d
        dmsetup create stend-x-multipath-2 --uuid STEND-mpath-665ae751-a9f9-4d66-aad8-1c47ec5ade98 --table '0 204800 multipath 0 0 1 1 queue-length 0 2 0 /dev/c /dev/d'
        undo: dmsetup remove --retry stend-x-multipath-2
    "#]]
    .assert_eq(&text);
}

#[test]
fn paths_that_are_not_optimised_are_for_when_the_others_are_gone() {
    let text = on("- multipath: {paths: 5}", &["/dev/idle", "/dev/far", "/dev/near", "/dev/far", "/dev/silent"]);
    expect![[r#"
        # join 5 paths to stend-x-multipath-1
        erases: /dev/idle
        erases: /dev/far
        erases: /dev/near
        erases: /dev/far
        erases: /dev/silent
        modprobe scsi_dh_alua
        dmsetup create stend-x-multipath-1 --uuid STEND-mpath-c2f53549-f5e5-41a3-a916-5b754ce3cad1 --table '0 204800 multipath 0 1 alua 3 1 service-time 0 2 0 /dev/near /dev/silent service-time 0 2 0 /dev/far /dev/far service-time 0 1 0 /dev/idle'
        undo: dmsetup remove --retry stend-x-multipath-1
    "#]]
    .assert_eq(&text);
}

#[test]
fn lvm_looks_at_no_path_below_what_it_lies_on() {
    let text = on("- multipath: {paths: 2}\n- lvm: {type: linear}", &["/dev/mapper/a", "/dev/mapper/b"]);
    expect![[r#"
        # make /dev/mapper/a a physical volume
        erases: /dev/mapper/a
        pvcreate --devices=/dev/mapper/a,/dev/mapper/b --yes --force --force --norestorefile --uuid apdVFE-A3bt-WbRi-ameJ-lQ7F-yQRF-XW4hTr /dev/mapper/a
        undo: pvremove --devices=/dev/mapper/a,/dev/mapper/b --yes /dev/mapper/a
        # make /dev/mapper/b a physical volume
        erases: /dev/mapper/b
        pvcreate --devices=/dev/mapper/a,/dev/mapper/b --yes --force --force --norestorefile --uuid 38JLSu-iemD-u0o0-s7Ti-OL35-4GwB-dBtFKk /dev/mapper/b
        undo: pvremove --devices=/dev/mapper/a,/dev/mapper/b --yes /dev/mapper/b
        # make the volume group stend-x-lvm
        vgcreate --devices=/dev/mapper/a,/dev/mapper/b --yes --addtag stend-0000000000000001 stend-x-lvm /dev/mapper/a /dev/mapper/b
        undo: vgremove --devices=/dev/mapper/a,/dev/mapper/b --yes stend-x-lvm
        # activate what is in stend-x-lvm
        vgchange --devices=/dev/mapper/a,/dev/mapper/b --yes --activate y stend-x-lvm
        # make the volume stend-x-lvm/main over 2 devices
        lvcreate --devices=/dev/mapper/a,/dev/mapper/b --yes --wipesignatures=y --name=main --type=linear --extents=100%FREE stend-x-lvm
        undo: lvremove --devices=/dev/mapper/a,/dev/mapper/b --yes stend-x-lvm
    "#]]
    .assert_eq(&text);
    let text = on("- lvm: {type: linear}", &["/dev/a"]);
    assert!(!text.contains("--devices"), "{text}");
}
