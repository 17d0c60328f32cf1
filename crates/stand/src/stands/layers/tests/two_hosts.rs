//! What each host of a stand of two does.

use super::super::*;
use super::made;
use stend_spec::stand::Stand;

/// What the hosts of a stand of two do for its export: commands of the one with the drives, and of the other one.
fn on_two(layer: &str) -> [String; 2] {
    let text =
        format!("stand: x\nacross: {{storage: 10.0.0.1, client: 10.0.0.2}}\ndrives: [{{id: D1}}]\nlayers: [{layer}]\n");
    let whole: Stand = stend_spec::parse::stand(&text, "s.yaml").unwrap();
    ["storage", "client"].map(|host| {
        let stand = whole.clone().on(Some(host));
        let layer = stand.layers_here().last().unwrap();
        let below = [LowerDevice { path: "/dev/d1".into(), size: None }];
        let steps = made(&stand, layer, &below).steps;
        let shells: Vec<String> = steps.iter().flat_map(|step| &step.apply).map(Action::shell).collect();
        shells.join("\n")
    })
}

#[test]
fn of_two_hosts_each_does_its_part_and_others_of_the_network_are_kept_out() {
    let [storage, client] = on_two("{nvme_of: {transport: tcp}}");
    assert!(storage.contains("echo 10.0.0.1 > ") && storage.contains("echo 0 > ") && !storage.contains("nvme connect"));
    let (_, guest) = storage.split_once("/nvmet/hosts/").unwrap();
    let guest = guest.lines().next().unwrap();
    assert!(storage.contains(&format!("/allowed_hosts/{guest}")), "{storage}");
    assert!(
        client.contains(&format!("--hostnqn={guest} --hostid=")) && client.contains("--traddr=10.0.0.1"),
        "{client}"
    );
    assert!(!client.contains("/sys/kernel/config"), "{client}");

    let [storage, client] = on_two("{iscsi: {paths: 2}}");
    assert!(storage.contains("/np/10.0.0.1:") && storage.contains("/attrib/authentication"), "{storage}");
    assert!(storage.contains("echo 1 > ") && storage.contains("/auth/password") && !storage.contains("iscsiadm"));
    let secret = storage.lines().find(|line| line.ends_with("/auth/password")).unwrap().split(' ').nth(1).unwrap();
    assert!(client.contains(&format!("--name node.session.auth.password --value {secret}")), "{client}");
    assert!(client.contains("--portal 10.0.0.1:") && client.contains("SECTORS multipath"), "{client}");

    let [storage, client] = on_two("{fs: {type: ext4}}, {nfs: {}}");
    assert!(storage.contains(" 10.0.0.2:/dev/d1") && !storage.contains("mount -t nfs4"), "{storage}");
    assert!(client.contains("mount -t nfs4 -o vers=4.2 10.0.0.1:/dev/d1 ") && !client.contains("exportfs"), "{client}");

    let [storage, client] = on_two("{nbd: {}}");
    assert!(storage.contains("listenaddr = 10.0.0.1\n") && !storage.contains("nbd-client"), "{storage}");
    let (allowed, file) = (
        storage.contains("echo 10.0.0.2 > /run/stend/nbd/stend-x-nbd.allow"),
        "\nauthfile = /run/stend/nbd/stend-x-nbd.allow",
    );
    assert!(allowed && storage.contains(file), "{storage}");
    assert!(client.contains("nbd-client 10.0.0.1 ") && !client.contains("nbd-server"), "{client}");
}

#[test]
fn over_rdma_two_hosts_take_the_cards_that_they_have_unless_these_are_to_be_imitated() {
    let [storage, client] = on_two("{nvme_of: {transport: rdma}}");
    assert!(storage.contains("echo rdma > ") && storage.contains("echo 10.0.0.1 > "), "{storage}");
    assert!(client.contains("nvme connect --transport=rdma --traddr=10.0.0.1 "), "{client}");
    assert!(![&storage, &client].into_iter().any(|told| told.contains("rdma link") || told.contains("ip link")));
    for layer in ["{nvme_of: {transport: rdma, soft_roce: true}}", "{iscsi: {transport: iser, soft_roce: true}}"] {
        let [storage, client] = on_two(layer);
        let imitated = |told: &str, at: &str| {
            told.contains("modprobe rdma_rxe\n") && told.contains(&format!(" type rxe netdev INTERFACE[{at}]"))
        };
        assert!(imitated(&storage, "10.0.0.1") && imitated(&client, "10.0.0.2"), "{storage}\n{client}");
        assert!(![&storage, &client].into_iter().any(|told| told.contains("ip link")), "{storage}\n{client}");
    }
    let [storage, client] = on_two("{iscsi: {transport: iser, soft_roce: true}}");
    assert!(storage.contains("/np/10.0.0.1:") && storage.contains("/iser\n"), "{storage}");
    assert!(client.contains("modprobe ib_iser\n") && client.contains("--interface iser"), "{client}");
}
