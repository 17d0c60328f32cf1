//! What each host of a mirror does.

use super::super::*;
use super::made;
use expect_test::{Expect, expect};
use stend_spec::stand::Stand;

/// Commands of both hosts, the peer first, as a person would type them.
fn check(settings: &str, on: &str, expected: Expect) {
    let drive = |name: &str| format!("{{id: {name}, name: {name}, host: {}}}", &name[..1]);
    let drives: Vec<String> = on.split(", ").map(drive).collect();
    let drives = drives.join(", ");
    let text = format!(
        "stand: x\nhosts: {{a: 10.0.0.1, b: 10.0.0.2}}\ndrives: [{drives}]\nlayers:\n- {{drbd: {{{settings}}}, on: [{on}], to: a}}\n"
    );
    let whole: Stand = stend_spec::parse::stand(&text, "s.yaml").unwrap();
    let mut told = String::new();
    for host in whole.hosts_from_below().unwrap() {
        let stand = whole.clone().on(Some(host));
        let layer = stand.layers_here().last().unwrap();
        let below: Vec<LowerDevice> = stand
            .below_here(layer)
            .map(|of| LowerDevice { path: format!("/dev/{}", of.name), size: Some(100 << 20) })
            .collect();
        let Made { steps, products } = made(&stand, layer, &below);
        told.push_str(&format!("## {host}\n"));
        for step in &steps {
            let wait = if step.wait.is_some() { ", and wait" } else { "" };
            let erased = step.erases.iter().map(|device| format!(", erases {device}")).collect::<String>();
            told.push_str(&format!("# {}{wait}{erased}\n", step.what.en));
            step.apply.iter().for_each(|action| told.push_str(&format!("{}\n", action.shell())));
        }
        told.push_str("# undo\n");
        for (_, action) in steps.iter().rev().flat_map(|step| &step.undo) {
            told.push_str(&format!("{}\n", action.shell()));
        }
        let products: Vec<String> = products.iter().map(Product::shown).collect();
        told.push_str(&format!("# makes {}\n", products.join(" ")));
    }
    expected.assert_eq(&told);
}

#[test]
fn a_mirror_is_built_on_its_peer_first_and_its_first_copy_is_waited_for() {
    check(
        "protocol: C",
        "a1, b1",
        expect![[r###"
        ## b
        # write the metadata of DRBD to /dev/b1, erases /dev/b1
        echo 'version "v08";
        uuid { 0x0000000000000004; 0x0000000000000000; 0x0000000000000000; 0x0000000000000000; flags 0x00000000; }
        la-size-sect 0;
        bm-byte-per-bit 4096;
        device-uuid 0x96A7F2A380C5DE7B;
        la-peer-max-bio-size 0;
        al-stripes 1;
        al-stripe-size-4k 8;
        bm { }' > /var/lib/stend/stands/x/drbd.md
        drbdmeta --force 60029 v08 /dev/b1 internal restore-md /var/lib/stend/stands/x/drbd.md
        # start the mirror stend-x-drbd with 10.0.0.1:19029, protocol C
        modprobe drbd
        echo 'global { usage-count no; }
        resource "stend-x-drbd" {
        net { protocol C; cram-hmac-alg sha1; shared-secret "stend-0000000000000001"; }
        volume 0 { device minor 60029; disk "/dev/b1"; meta-disk internal; }
        floating 10.0.0.2:19029 { }
        floating 10.0.0.1:19029 { }
        }' > /var/lib/stend/stands/x/drbd.res
        drbdadm --config-file /var/lib/stend/stands/x/drbd.res up stend-x-drbd
        # undo
        drbdsetup down stend-x-drbd
        rm -- /var/lib/stend/stands/x/drbd.res
        drbdmeta --force 60029 v08 /dev/b1 internal wipe-md
        rm -- /var/lib/stend/stands/x/drbd.md
        rm -- /var/lib/drbd/drbd-minor-60029.lkbd
        # makes /dev/drbd60029
        ## a
        # write the metadata of DRBD to /dev/a1, erases /dev/a1
        echo 'version "v08";
        uuid { 0x0000000000000004; 0x0000000000000000; 0x0000000000000000; 0x0000000000000000; flags 0x00000000; }
        la-size-sect 0;
        bm-byte-per-bit 4096;
        device-uuid 0x96A7F2A380C5DE7B;
        la-peer-max-bio-size 0;
        al-stripes 1;
        al-stripe-size-4k 8;
        bm { }' > /var/lib/stend/stands/x/drbd.md
        drbdmeta --force 60029 v08 /dev/a1 internal restore-md /var/lib/stend/stands/x/drbd.md
        # start the mirror stend-x-drbd with 10.0.0.2:19029, protocol C, and wait
        modprobe drbd
        echo 'global { usage-count no; }
        resource "stend-x-drbd" {
        net { protocol C; cram-hmac-alg sha1; shared-secret "stend-0000000000000001"; }
        volume 0 { device minor 60029; disk "/dev/a1"; meta-disk internal; }
        floating 10.0.0.1:19029 { }
        floating 10.0.0.2:19029 { }
        }' > /var/lib/stend/stands/x/drbd.res
        drbdadm --config-file /var/lib/stend/stands/x/drbd.res up stend-x-drbd
        # take what is on /dev/a1 for the contents of stend-x-drbd, and copy it to the peer, and wait
        drbdadm --config-file /var/lib/stend/stands/x/drbd.res primary --force stend-x-drbd
        # make this host primary of stend-x-drbd
        drbdadm --config-file /var/lib/stend/stands/x/drbd.res primary stend-x-drbd
        # undo
        drbdsetup down stend-x-drbd
        rm -- /var/lib/stend/stands/x/drbd.res
        drbdmeta --force 60029 v08 /dev/a1 internal wipe-md
        rm -- /var/lib/stend/stands/x/drbd.md
        rm -- /var/lib/drbd/drbd-minor-60029.lkbd
        # makes /dev/drbd60029
    "###]],
    );
}

#[test]
fn blank_drives_need_no_first_copy_and_metadata_may_lie_beside() {
    check(
        "protocol: A, metadata: external, initial_sync: skip, resync_rate: 20MiB",
        "a1, b1, a2, b2",
        expect![[r###"
        ## b
        # write the metadata of DRBD to /dev/b2, erases /dev/b1, erases /dev/b2
        cmp --bytes=104857600 -- /dev/b1 /dev/zero
        echo 'version "v08";
        uuid { 0x0000000000000004; 0x0000000000000000; 0x0000000000000000; 0x0000000000000000; flags 0x00000000; }
        la-size-sect 0;
        bm-byte-per-bit 4096;
        device-uuid 0x96A7F2A380C5DE7B;
        la-peer-max-bio-size 0;
        al-stripes 1;
        al-stripe-size-4k 8;
        bm { }' > /var/lib/stend/stands/x/drbd.md
        drbdmeta --force 60029 v08 /dev/b2 flex-external restore-md /var/lib/stend/stands/x/drbd.md
        # start the mirror stend-x-drbd with 10.0.0.1:19029, protocol A
        modprobe drbd
        echo 'global { usage-count no; }
        resource "stend-x-drbd" {
        net { protocol A; cram-hmac-alg sha1; shared-secret "stend-0000000000000001"; }
        disk { resync-rate 20480k; c-plan-ahead 0; }
        volume 0 { device minor 60029; disk "/dev/b1"; meta-disk /dev/b2; }
        floating 10.0.0.2:19029 { }
        floating 10.0.0.1:19029 { }
        }' > /var/lib/stend/stands/x/drbd.res
        drbdadm --config-file /var/lib/stend/stands/x/drbd.res up stend-x-drbd
        # undo
        drbdsetup down stend-x-drbd
        rm -- /var/lib/stend/stands/x/drbd.res
        drbdmeta --force 60029 v08 /dev/b2 flex-external wipe-md
        rm -- /var/lib/stend/stands/x/drbd.md
        rm -- /var/lib/drbd/drbd-minor-60029.lkbd
        # makes /dev/drbd60029
        ## a
        # write the metadata of DRBD to /dev/a2, erases /dev/a1, erases /dev/a2
        cmp --bytes=104857600 -- /dev/a1 /dev/zero
        echo 'version "v08";
        uuid { 0x0000000000000004; 0x0000000000000000; 0x0000000000000000; 0x0000000000000000; flags 0x00000000; }
        la-size-sect 0;
        bm-byte-per-bit 4096;
        device-uuid 0x96A7F2A380C5DE7B;
        la-peer-max-bio-size 0;
        al-stripes 1;
        al-stripe-size-4k 8;
        bm { }' > /var/lib/stend/stands/x/drbd.md
        drbdmeta --force 60029 v08 /dev/a2 flex-external restore-md /var/lib/stend/stands/x/drbd.md
        # start the mirror stend-x-drbd with 10.0.0.2:19029, protocol A, and wait
        modprobe drbd
        echo 'global { usage-count no; }
        resource "stend-x-drbd" {
        net { protocol A; cram-hmac-alg sha1; shared-secret "stend-0000000000000001"; }
        disk { resync-rate 20480k; c-plan-ahead 0; }
        volume 0 { device minor 60029; disk "/dev/a1"; meta-disk /dev/a2; }
        floating 10.0.0.1:19029 { }
        floating 10.0.0.2:19029 { }
        }' > /var/lib/stend/stands/x/drbd.res
        drbdadm --config-file /var/lib/stend/stands/x/drbd.res up stend-x-drbd
        # take both copies of stend-x-drbd for equal: both are blank, and wait
        drbdadm --config-file /var/lib/stend/stands/x/drbd.res new-current-uuid --clear-bitmap stend-x-drbd/0
        # make this host primary of stend-x-drbd
        drbdadm --config-file /var/lib/stend/stands/x/drbd.res primary stend-x-drbd
        # undo
        drbdsetup down stend-x-drbd
        rm -- /var/lib/stend/stands/x/drbd.res
        drbdmeta --force 60029 v08 /dev/a2 flex-external wipe-md
        rm -- /var/lib/stend/stands/x/drbd.md
        rm -- /var/lib/drbd/drbd-minor-60029.lkbd
        # makes /dev/drbd60029
    "###]],
    );
}

#[test]
fn only_a_resource_with_the_number_of_the_stand_is_taken_down() {
    let text = "stand: x\nhosts: {a: 10.0.0.1, b: 10.0.0.2}\ndrives: [{id: A, host: a}, {id: B, host: b}]\n\
        layers: [{drbd: {protocol: C}, to: b}]\n";
    let stand = stend_spec::parse::stand(text, "s.yaml").unwrap().on(Some("a"));
    let below = [LowerDevice { path: "/dev/d".into(), size: None }];
    let steps = made(&stand, &stand.layers[0], &below).steps;
    let mut undo = steps.iter().flat_map(|step| &step.undo);
    let down = undo.find(|(_, action)| action.shell().starts_with("drbdsetup down")).map(|(known, _)| known);
    let Some(Condition::Prints { words, text }) = down else { panic!("{down:?}") };
    assert_eq!(words.join(" "), "drbdsetup show stend-x-drbd");
    // As drbdsetup prints them.
    let told = |minor: u32| format!("    volume 0 {{\n        device\t\t\tminor {minor};\n    }}\n");
    assert!(told(60029).contains(text.as_str()), "{text}");
    assert!(!told(160029).contains(text.as_str()) && !told(6002).contains(text.as_str()), "{text}");
}

#[test]
fn the_first_copy_may_go_on_beside_and_an_event_cuts_the_peer_off() {
    let text = "stand: x\nhosts: {a: 10.0.0.1, b: 10.0.0.2}\ndrives: [{id: A, host: a}, {id: B, host: b}]\n\
        layers: [{drbd: {protocol: B, initial_sync: beside}, to: b}]\n";
    let whole = stend_spec::parse::stand(text, "s.yaml").unwrap();
    assert_eq!(whole.hosts_from_below(), Some(vec!["a", "b"]), "the primary is built last");
    let of = |host: &str| {
        let stand = whole.clone().on(Some(host));
        let below = [LowerDevice { path: "/dev/d".into(), size: None }];
        let waits =
            made(&stand, &stand.layers[0], &below).steps.iter().map(|step| step.wait.is_some()).collect::<Vec<_>>();
        let Kind::Drbd(drbd) = stand.layers[0].kind else { panic!("{:?}", stand.layers) };
        let context = super::context_of(&stand, &stand.layers[0], &below);
        (waits, drbd::of_events(&context, drbd).map(|event| event.disconnect.shell()))
    };
    assert_eq!(of("a"), (vec![false, false], None));
    let (waits, disconnect) = of("b");
    assert_eq!(waits, [false, true, false, false], "it waits for its peer, and not for the copy");
    let settings = "/var/lib/stend/stands/x/drbd.res";
    assert_eq!(
        disconnect.as_deref(),
        Some(format!("drbdadm --config-file {settings} disconnect stend-x-drbd").as_str())
    );
}
