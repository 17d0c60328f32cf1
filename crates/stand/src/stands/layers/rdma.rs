//! Cards for RDMA. On one host the kernel imitates one (soft RoCE) on an interface of the stand: the loopback cannot carry one. Between
//! two hosts it is what the interfaces have by which these reach each other, or, where the stand says so, imitated over these.
//!
//! Source: rdma-link(8), ip-link(8) of iproute2 6.15; drivers/infiniband/sw/rxe of Linux 6.12.

use super::super::product::Product;
use super::super::step::{Deed, Sign, Step};
use super::Site;
use stend_base::say;

/// The address at which something is handed out over RDMA.
pub(super) fn address(site: &Site) -> String {
    match site.way {
        Some(_) => site.address().to_string(),
        None => own_address(site),
    }
}

/// What there is to do for a card, before anything goes over it.
pub(super) fn card(site: &Site, soft: bool) -> Vec<Step> {
    match &site.way {
        None => vec![own_card(site)],
        Some(way) if soft => way.addresses().into_iter().map(|address| imitated(site, address)).collect(),
        Some(_) => Vec::new(),
    }
}

/// Over the interface with an address, which stays as it is; one that has a card keeps it.
fn imitated(site: &Site, address: &str) -> Step {
    let name = name(site);
    let interface = (site.path)(&Product::Interface(address.to_string()));
    let link = Deed::run("rdma link add", [name.as_str(), "type", "rxe", "netdev", interface.as_str()]);
    let card = Sign::Path(format!("/sys/class/infiniband/{name}"));
    Step {
        apply: vec![Deed::Module("rdma_rxe"), link],
        undo: vec![(card, Deed::run("rdma link delete", [name.as_str()]))],
        ..Step::new(
            say!("have a card for RDMA imitated at {address}", "имитировать адаптер RDMA на {address}"),
            Sign::Card(address.to_string()),
        )
    }
}

/// Names of interfaces have at most 15 letters.
fn name(site: &Site) -> String {
    format!("stend{}", site.names.number(&site.layer.name))
}

/// The address of the interface: of the network for benchmarks, which no machine on the Internet has.
//= RFC 2544, appendix C.2.2; RFC 6890: 198.18.0.0/15
fn own_address(site: &Site) -> String {
    let [high, low] = site.names.number(&site.layer.name).to_be_bytes();
    format!("198.18.{high}.{low}")
}

/// An interface with nothing behind it, and the card over it. What is sent to its own address stays in this host.
fn own_card(site: &Site) -> Step {
    let name = name(site);
    let at = format!("{}/32", own_address(site));
    let (interface, card) = (format!("/sys/class/net/{name}"), format!("/sys/class/infiniband/{name}"));
    let name = name.as_str();
    let card = Sign::Path(card);
    Step {
        apply: vec![
            Deed::Module("rdma_rxe"),
            Deed::run("ip link add", [name, "type", "dummy"]),
            Deed::run("ip address add", [at.as_str(), "dev", name]),
            Deed::run("ip link set", [name, "up"]),
            // Last, so that one that has it is whole.
            Deed::run("rdma link add", [name, "type", "rxe", "netdev", name]),
        ],
        undo: vec![
            (card.clone(), Deed::run("rdma link delete", [name])),
            (Sign::Path(interface), Deed::run("ip link delete", [name])),
        ],
        ..Step::new(
            say!("make the interface {name} with a card for RDMA", "создать интерфейс {name} с адаптером RDMA"),
            card,
        )
    }
}
