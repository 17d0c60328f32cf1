//! Commands of a Ceph.

use super::{LowerDevice, check, context_of, made};
use expect_test::expect;

#[test]
fn copies_on_six_drives() {
    check(
        "- ceph: {replicated: {size: 3}}",
        expect![[r#"
        # make the directory /var/lib/stend/stands/x/cluster-ceph
        mkdir --parents --mode=0700 -- /var/lib/stend/stands/x/cluster-ceph
        # write the settings of the cluster
        echo '[global]
        fsid = 8a4872b0-4748-475d-a7cb-97ffe5a8b92a
        mon host = [v2:127.0.0.1:24911]
        public addr = 127.0.0.1
        cluster addr = 127.0.0.1
        ms bind msgr1 = false
        auth allow insecure global id reclaim = false
        keyring = /var/lib/stend/stands/x/cluster-ceph/keyring
        run dir = /var/lib/stend/stands/x/cluster-ceph
        crash dir = /var/lib/stend/stands/x/cluster-ceph
        admin socket =
        pid file = /var/lib/stend/stands/x/cluster-ceph/$name.pid
        log file = /var/lib/stend/stands/x/cluster-ceph/$name.log
        mon cluster log file = /var/lib/stend/stands/x/cluster-ceph/cluster.log
        debug rocksdb = 1/5
        debug bluefs = 1/5
        mon data = /var/lib/stend/stands/x/cluster-ceph/mon
        mgr data = /var/lib/stend/stands/x/cluster-ceph/mgr
        mds data = /var/lib/stend/stands/x/cluster-ceph/mds
        osd data = /var/lib/stend/stands/x/cluster-ceph/$name
        mon data avail warn = 5
        mgr initial modules =
        mon memory target = 536870912
        mds cache memory limit = 536870912
        osd memory target = 1073741824
        osd crush chooseleaf type = 0
        osd pool default size = 3
        osd pool default min size = 2
        osd pool default pg autoscale mode = off
        [client]
        log file =
        pid file = /var/lib/stend/stands/x/cluster-ceph/client.pid' > /var/lib/stend/stands/x/cluster-ceph/ceph.conf
        # draw the keys of the cluster
        ceph-authtool --create-keyring /var/lib/stend/stands/x/cluster-ceph/keyring.new
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name mon. --cap mon 'allow *'
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mds 'allow *' --cap mgr 'allow *'
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name mgr.a --cap mon 'allow profile mgr' --cap osd 'allow *' --cap mds 'allow *'
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name mds.a --cap mon 'allow profile mds' --cap osd 'allow *' --cap mds 'allow *' --cap mgr 'allow profile mds'
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name osd.0 --cap mon 'allow profile osd' --cap osd 'allow *' --cap mgr 'allow profile osd'
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name osd.1 --cap mon 'allow profile osd' --cap osd 'allow *' --cap mgr 'allow profile osd'
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name osd.2 --cap mon 'allow profile osd' --cap osd 'allow *' --cap mgr 'allow profile osd'
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name osd.3 --cap mon 'allow profile osd' --cap osd 'allow *' --cap mgr 'allow profile osd'
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name osd.4 --cap mon 'allow profile osd' --cap osd 'allow *' --cap mgr 'allow profile osd'
        ceph-authtool /var/lib/stend/stands/x/cluster-ceph/keyring.new --gen-key --name osd.5 --cap mon 'allow profile osd' --cap osd 'allow *' --cap mgr 'allow profile osd'
        mv -- /var/lib/stend/stands/x/cluster-ceph/keyring.new /var/lib/stend/stands/x/cluster-ceph/keyring
        # make the store of the monitor
        monmaptool --create --clobber --fsid 8a4872b0-4748-475d-a7cb-97ffe5a8b92a --addv a [v2:127.0.0.1:24911] /var/lib/stend/stands/x/cluster-ceph/monmap
        ceph-mon --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id a --mkfs --monmap /var/lib/stend/stands/x/cluster-ceph/monmap --keyring /var/lib/stend/stands/x/cluster-ceph/keyring --mon-data /var/lib/stend/stands/x/cluster-ceph/mon.new
        mv -- /var/lib/stend/stands/x/cluster-ceph/mon.new /var/lib/stend/stands/x/cluster-ceph/mon
        # start mon.a
        ceph-mon --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id a
        # start mgr.a
        mkdir --parents -- /var/lib/stend/stands/x/cluster-ceph/mgr
        ceph-mgr --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id a
        # make osd.0 on /dev/d1
        ceph --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --connect-timeout 10 osd new 354dae3f-8f6d-4d80-aaca-e5719a707c90 0
        mkdir -- /var/lib/stend/stands/x/cluster-ceph/osd.0.new
        ln --symbolic --force --no-dereference -- /dev/d1 /var/lib/stend/stands/x/cluster-ceph/osd.0.new/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 0 --mkfs --osd-uuid 354dae3f-8f6d-4d80-aaca-e5719a707c90 --osd-data /var/lib/stend/stands/x/cluster-ceph/osd.0.new
        mv -- /var/lib/stend/stands/x/cluster-ceph/osd.0.new /var/lib/stend/stands/x/cluster-ceph/osd.0
        # start osd.0
        ln --symbolic --force --no-dereference -- /dev/d1 /var/lib/stend/stands/x/cluster-ceph/osd.0/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 0
        # make osd.1 on /dev/d2
        ceph --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --connect-timeout 10 osd new 820452fc-fce2-41be-a80d-1a397372da99 1
        mkdir -- /var/lib/stend/stands/x/cluster-ceph/osd.1.new
        ln --symbolic --force --no-dereference -- /dev/d2 /var/lib/stend/stands/x/cluster-ceph/osd.1.new/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 1 --mkfs --osd-uuid 820452fc-fce2-41be-a80d-1a397372da99 --osd-data /var/lib/stend/stands/x/cluster-ceph/osd.1.new
        mv -- /var/lib/stend/stands/x/cluster-ceph/osd.1.new /var/lib/stend/stands/x/cluster-ceph/osd.1
        # start osd.1
        ln --symbolic --force --no-dereference -- /dev/d2 /var/lib/stend/stands/x/cluster-ceph/osd.1/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 1
        # make osd.2 on /dev/d3
        ceph --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --connect-timeout 10 osd new 27501f9f-5a65-4bc0-a98a-625c5ca9a797 2
        mkdir -- /var/lib/stend/stands/x/cluster-ceph/osd.2.new
        ln --symbolic --force --no-dereference -- /dev/d3 /var/lib/stend/stands/x/cluster-ceph/osd.2.new/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 2 --mkfs --osd-uuid 27501f9f-5a65-4bc0-a98a-625c5ca9a797 --osd-data /var/lib/stend/stands/x/cluster-ceph/osd.2.new
        mv -- /var/lib/stend/stands/x/cluster-ceph/osd.2.new /var/lib/stend/stands/x/cluster-ceph/osd.2
        # start osd.2
        ln --symbolic --force --no-dereference -- /dev/d3 /var/lib/stend/stands/x/cluster-ceph/osd.2/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 2
        # make osd.3 on /dev/d4
        ceph --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --connect-timeout 10 osd new 8d49aea5-a9c0-4513-a39b-bcd7e00c6804 3
        mkdir -- /var/lib/stend/stands/x/cluster-ceph/osd.3.new
        ln --symbolic --force --no-dereference -- /dev/d4 /var/lib/stend/stands/x/cluster-ceph/osd.3.new/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 3 --mkfs --osd-uuid 8d49aea5-a9c0-4513-a39b-bcd7e00c6804 --osd-data /var/lib/stend/stands/x/cluster-ceph/osd.3.new
        mv -- /var/lib/stend/stands/x/cluster-ceph/osd.3.new /var/lib/stend/stands/x/cluster-ceph/osd.3
        # start osd.3
        ln --symbolic --force --no-dereference -- /dev/d4 /var/lib/stend/stands/x/cluster-ceph/osd.3/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 3
        # make osd.4 on /dev/d5
        ceph --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --connect-timeout 10 osd new 8c6b27e3-307d-4f81-aba6-2157425b44a7 4
        mkdir -- /var/lib/stend/stands/x/cluster-ceph/osd.4.new
        ln --symbolic --force --no-dereference -- /dev/d5 /var/lib/stend/stands/x/cluster-ceph/osd.4.new/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 4 --mkfs --osd-uuid 8c6b27e3-307d-4f81-aba6-2157425b44a7 --osd-data /var/lib/stend/stands/x/cluster-ceph/osd.4.new
        mv -- /var/lib/stend/stands/x/cluster-ceph/osd.4.new /var/lib/stend/stands/x/cluster-ceph/osd.4
        # start osd.4
        ln --symbolic --force --no-dereference -- /dev/d5 /var/lib/stend/stands/x/cluster-ceph/osd.4/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 4
        # make osd.5 on /dev/d6
        ceph --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --connect-timeout 10 osd new da19ffe5-c74e-42fd-ab91-91afae62da94 5
        mkdir -- /var/lib/stend/stands/x/cluster-ceph/osd.5.new
        ln --symbolic --force --no-dereference -- /dev/d6 /var/lib/stend/stands/x/cluster-ceph/osd.5.new/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 5 --mkfs --osd-uuid da19ffe5-c74e-42fd-ab91-91afae62da94 --osd-data /var/lib/stend/stands/x/cluster-ceph/osd.5.new
        mv -- /var/lib/stend/stands/x/cluster-ceph/osd.5.new /var/lib/stend/stands/x/cluster-ceph/osd.5
        # start osd.5, and wait
        ln --symbolic --force --no-dereference -- /dev/d6 /var/lib/stend/stands/x/cluster-ceph/osd.5/block
        ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 5
        # make the file system with 3 copies (I/Os wait with fewer than 2) on different drives of this one host, whose loss takes all of them
        ceph --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --connect-timeout 10 osd pool create metadata 16 16 replicated
        ceph --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --connect-timeout 10 osd pool create data 128 128 replicated
        ceph --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --connect-timeout 10 fs new main metadata data
        # start mds.a, and wait
        mkdir --parents -- /var/lib/stend/stands/x/cluster-ceph/mds
        ceph-mds --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id a
        # make the directory /run/stend/stands/x-ceph
        mkdir --parents -- /run/stend/stands/x-ceph
        # mount the file system at /run/stend/stands/x-ceph
        ceph-fuse --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id admin -o fsname=/var/lib/stend/stands/x/cluster-ceph,subtype=ceph-fuse /run/stend/stands/x-ceph
        # undo
        umount -- /run/stend/stands/x-ceph
        pkill -KILL -f '^ceph-fuse --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id admin( |$)'
        rmdir -- /run/stend/stands/x-ceph
        pkill -KILL -f '^ceph-mds --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id a( |$)'
        pkill -KILL -f '^ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 5( |$)'
        wipefs --all --quiet /dev/d6  # and copies of its superblock
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.5.new
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.5
        pkill -KILL -f '^ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 4( |$)'
        wipefs --all --quiet /dev/d5  # and copies of its superblock
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.4.new
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.4
        pkill -KILL -f '^ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 3( |$)'
        wipefs --all --quiet /dev/d4  # and copies of its superblock
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.3.new
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.3
        pkill -KILL -f '^ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 2( |$)'
        wipefs --all --quiet /dev/d3  # and copies of its superblock
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.2.new
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.2
        pkill -KILL -f '^ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 1( |$)'
        wipefs --all --quiet /dev/d2  # and copies of its superblock
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.1.new
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.1
        pkill -KILL -f '^ceph-osd --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id 0( |$)'
        wipefs --all --quiet /dev/d1  # and copies of its superblock
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.0.new
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/osd.0
        pkill -KILL -f '^ceph-mgr --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id a( |$)'
        pkill -KILL -f '^ceph-mon --conf /var/lib/stend/stands/x/cluster-ceph/ceph.conf --id a( |$)'
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph/mon.new
        rm --recursive -- /var/lib/stend/stands/x/cluster-ceph
        # makes /run/stend/stands/x-ceph
    "#]],
    );
}

/// Commands and texts of the steps of a layer on drives of these sizes.
fn steps(layer: &str, sizes: &[u64]) -> Vec<String> {
    let drives: Vec<String> = (0..sizes.len()).map(|index| format!("{{id: D{index}}}")).collect();
    let text = format!("stand: x\ndrives: [{}]\nlayers:\n- {layer}\n", drives.join(", "));
    let stand = stend_spec::parse::stand(&text, "s.yaml").unwrap();
    let lower = |(index, size): (usize, &u64)| LowerDevice { path: format!("/dev/d{index}"), size: Some(*size) };
    let below: Vec<LowerDevice> = sizes.iter().enumerate().map(lower).collect();
    let steps = made(&stand, &stand.layers[0], &below).steps;
    steps.iter().flat_map(|step| step.apply.iter().map(|a| a.shell()).chain([step.what.en.clone()])).collect()
}

#[test]
fn parity_has_a_profile_and_overwrites_and_one_more_copy_of_metadata_than_drives_may_be_lost() {
    let steps = steps("ceph: {ec: {k: 3, m: 2}, osd_memory: 2GiB}", &[1 << 30; 5]);
    let settings = steps.iter().find(|step| step.starts_with("echo ")).unwrap();
    for line in ["osd memory target = 2147483648", "osd pool default size = 3", "osd pool default min size = 2"] {
        assert!(settings.contains(line), "{line}: {settings}");
    }
    let of_pools = |part: &str| steps.iter().any(|step| step.ends_with(part));
    assert!(of_pools(" osd erasure-code-profile set data k=3 m=2 crush-failure-domain=osd"), "{steps:?}");
    // 100 of 5 OSDs, of which each group has all.
    assert!(of_pools(" osd pool create data 64 64 erasure data"), "{steps:?}");
    assert!(of_pools(" osd pool set data allow_ec_overwrites true") && of_pools(" fs new main metadata data --force"));
    assert!(steps.iter().any(|step| step.contains("erasure coding 3+2") && step.contains("this one host")));
}

#[test]
fn drives_of_several_sizes_are_named_in_the_plan() {
    let told = |sizes: &[u64]| steps("ceph: {replicated: {size: 2}}", sizes).join("\n");
    assert!(told(&[1 << 30, 2 << 30]).contains("drives of 1 GiB to 2 GiB: larger ones get more data"));
    assert!(!told(&[1 << 30, 1 << 30]).contains("larger ones"));
}

#[test]
fn no_port_is_one_that_the_kernel_gives_to_clients() {
    let steps = steps("ceph: {replicated: {size: 2}}", &[1 << 30; 2]);
    let port = steps.iter().find_map(|step| step.split_once("v2:127.0.0.1:")).unwrap().1;
    let port: u16 = port[..5].parse().unwrap();
    assert!((20_000..32_768).contains(&port), "{port}");
}

#[test]
fn an_osd_that_an_event_takes_comes_back_with_its_data_or_empty() {
    let text = "stand: x\ndrives: [{id: D1}, {id: D2}, {id: D3}]\nlayers:\n- ceph: {ec: {k: 2, m: 1}}\n";
    let stand = stend_spec::parse::stand(text, "s.yaml").unwrap();
    let layer = &stand.layers[0];
    let below: Vec<LowerDevice> =
        (1..=3).map(|number| LowerDevice { path: format!("/dev/d{number}"), size: Some(1 << 30) }).collect();
    let stend_spec::stand::Kind::Ceph(ceph) = layer.kind else { panic!("{layer:?}") };
    let cluster = crate::stands::layers::cluster_of_events(&context_of(&stand, layer, &below), ceph);
    assert_eq!((cluster.survives, cluster.osds.len(), cluster.at.as_str()), (1, 3, "/run/stend/stands/x-ceph"));
    let osd = &cluster.osds[1];
    let lines = |actions: &[(crate::change::Condition, crate::change::Action)]| {
        actions.iter().map(|(_, action)| action.shell() + "\n").collect::<String>()
    };
    assert!(!lines(&osd.renew).contains('#'), "it may be typed in one line");
    let shown = format!("{}\n\n{}\n{}", osd.kill.shell(), lines(&osd.restart), lines(&osd.renew));
    expect![[r#"
        pkill -KILL -f '^ceph-osd --conf PLACE/ceph.conf --id 1( |$)'

        pkill -KILL -f '^ceph-osd --conf PLACE/ceph.conf --id 1( |$)'
        ln --symbolic --force --no-dereference -- /dev/d2 PLACE/osd.1/block
        ceph-osd --conf PLACE/ceph.conf --id 1

        pkill -KILL -f '^ceph-osd --conf PLACE/ceph.conf --id 1( |$)'
        ceph --conf PLACE/ceph.conf --connect-timeout 10 osd down 1
        ceph --conf PLACE/ceph.conf --connect-timeout 10 osd destroy 1 --yes-i-really-mean-it
        ceph --conf PLACE/ceph.conf --connect-timeout 10 auth add osd.1 -i PLACE/keyring
        rm --recursive -- PLACE/osd.1
        wipefs --all --quiet /dev/d2
        ceph --conf PLACE/ceph.conf --connect-timeout 10 osd new 820452fc-fce2-41be-a80d-1a397372da99 1
        mkdir -- PLACE/osd.1.new
        ln --symbolic --force --no-dereference -- /dev/d2 PLACE/osd.1.new/block
        ceph-osd --conf PLACE/ceph.conf --id 1 --mkfs --osd-uuid 820452fc-fce2-41be-a80d-1a397372da99 --osd-data PLACE/osd.1.new
        mv -- PLACE/osd.1.new PLACE/osd.1
        ln --symbolic --force --no-dereference -- /dev/d2 PLACE/osd.1/block
        ceph-osd --conf PLACE/ceph.conf --id 1
    "#]].assert_eq(&shown.replace("/var/lib/stend/stands/x/cluster-ceph", "PLACE"));
}
