//! Links of made-up machines. Executes nothing but what asks this one for addresses.

use super::*;
use crate::recorded::Tree;

/// A machine with the loopback and two cards; the first carries the default route.
fn machine() -> Tree {
    let tree = Tree::new();
    for (link, kind, flags) in
        [("lo", "772", "0x9"), ("eth0", "1", "0x1003"), ("eth1", "1", "0x1003"), ("eth2", "1", "0x1002")]
    {
        tree.put(&format!("sys/class/net/{link}/type"), kind);
        tree.put(&format!("sys/class/net/{link}/flags"), flags);
    }
    tree.put("proc/net/route", ROUTES);
    tree.put("proc/net/ipv6_route", ROUTES_6);
    tree
}

/// As `/proc/net/route` shows it.
const ROUTES: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth1\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
";
/// As `/proc/net/ipv6_route` shows it: the loopback refuses what nothing else takes.
const ROUTES_6: &str = "fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth1
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth3
00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
";

#[test]
fn a_link_that_carries_the_way_to_all_others_is_not_touched_nor_is_what_it_lies_on() {
    let tree = machine();
    assert_eq!(ways_out(&tree.roots), ["eth0", "eth3"]);
    let told = |link| must_be_spare(&tree.roots, link).map_err(|why| why.en);
    assert_eq!(told("eth0").unwrap_err(), "the way to all other hosts (the default route) is over eth0");
    assert_eq!(told("eth1"), Ok(()));
    // A bridge with the default route, over a bond, over a card.
    tree.put("sys/class/net/eth1/upper_bond0/ifindex", "7");
    tree.put("sys/class/net/bond0/upper_eth3/ifindex", "8");
    assert_eq!(told("eth1").unwrap_err(), "the way to all other hosts (the default route) is over eth3");
}

#[test]
fn a_link_that_is_not_there_or_is_down_is_told() {
    let tree = machine();
    let told = |link| must_be_up(&tree.roots, link).map_err(|why| why.en);
    assert_eq!(told("eth9").unwrap_err(), "there is no network interface eth9");
    assert_eq!(told("eth2").unwrap_err(), "eth2 is down already");
    assert_eq!(told("eth1"), Ok(()));
    assert!(is_loopback(&tree.roots, "lo") && !is_loopback(&tree.roots, "eth1"));
}

#[test]
fn the_link_by_which_a_person_works_here_is_found_also_behind_sudo() {
    let tree = machine();
    tree.put("proc/self/stat", "90 (stend) S 70 0");
    tree.put("proc/self/environ", "HOME=/root\0");
    tree.put("proc/70/stat", "70 (sudo) S 60 0");
    tree.put("proc/60/stat", "60 (bash) S 1 0");
    tree.put("proc/60/environ", "A=b\0SSH_CONNECTION=127.0.0.2 50000 127.0.0.1 22\0");
    let found: Vec<_> = sessions(&tree.roots).into_iter().map(|session| (session.from, session.to)).collect();
    assert_eq!(found, [("127.0.0.2".to_string(), "127.0.0.1".to_string())]);
    // The tools are asked of the machine that this runs on, where these addresses are of the loopback.
    let why = must_be_spare(&tree.roots, "lo").unwrap_err().en;
    assert_eq!(why, "this host is reached from 127.0.0.2 over lo (SSH_CONNECTION)");
    assert_eq!(must_be_spare(&tree.roots, "eth1"), Ok(()));
}

#[test]
fn the_tool_names_links_in_two_ways() {
    let way = "192.0.2.7 dev eth0.7 src 192.0.2.1 uid 0 \\    cache";
    assert!(names_link(way, "eth0.7") && !names_link(way, "eth0"));
    let address = "4: eth0.7@eth0    inet 192.0.2.1/24 scope global eth0.7\\       valid_lft forever";
    assert!(names_link(address, "eth0.7") && !names_link(address, "eth0"));
    assert!(!names_link("", "eth0"));
}

#[test]
fn a_queue_that_somebody_set_up_is_told_from_those_of_the_kernel() {
    let own = "qdisc mq 0: root\nqdisc fq_codel 0: parent :1 limit 10240p\nqdisc clsact ffff: parent ffff:fff1\n";
    assert_eq!(somebodys(own), None);
    assert_eq!(somebodys("qdisc noqueue 0: root refcnt 2\n"), None);
    assert_eq!(
        somebodys("qdisc tbf 8001: root refcnt 2 rate 1Mbit\n"),
        Some("qdisc tbf 8001: root refcnt 2 rate 1Mbit")
    );
}

#[test]
fn what_a_link_would_come_back_without_is_told() {
    let own = "192.0.2.0/24 proto kernel scope link src 192.0.2.1 \n";
    assert_eq!(forgets_nothing("eth1", own), Ok(()));
    let route = "198.51.100.0/24 via 192.0.2.9 \n";
    let why = forgets_nothing("eth1", &format!("{own}{route}")).unwrap_err().en;
    assert_eq!(why, "eth1 would lose these settings: `198.51.100.0/24 via 192.0.2.9`");
}
