//! A card for RDMA that the kernel imitates (soft RoCE) on an interface of the stand: the loopback cannot carry one.
//!
//! Source: rdma-link(8), ip-link(8) of iproute2 6.15; drivers/infiniband/sw/rxe of Linux 6.12.

use super::super::step::{Deed, Sign, Step};
use super::Site;
use super::exports::step;
use stend_base::say;

/// The address of the interface: of the network for benchmarks, which no machine on the Internet has.
//= RFC 2544, appendix C.2.2; RFC 6890: 198.18.0.0/15
pub(super) fn address(site: &Site) -> String {
    let [high, low] = site.names.number(&site.layer.name).to_be_bytes();
    format!("198.18.{high}.{low}")
}

/// An interface with nothing behind it, and the card over it. What is sent to its own address stays in this host.
pub(super) fn card(site: &Site) -> Step {
    // Names of interfaces have at most 15 letters.
    let name = format!("stend{}", site.names.number(&site.layer.name));
    let at = format!("{}/32", address(site));
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
        ..step(
            say!("make the interface {name} with a card for RDMA", "создать интерфейс {name} с адаптером RDMA"),
            card,
        )
    }
}
