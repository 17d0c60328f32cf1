//! Cards for RDMA. On one host the kernel imitates one (soft RoCE) on an interface of the stand: the loopback cannot carry one. Between
//! two hosts it is what the interfaces have by which these reach each other, or, with `soft_roce` in the stand, imitated over these.
//!
//! Source: rdma-link(8), ip-link(8) of iproute2 6.15; drivers/infiniband/sw/rxe of Linux 6.12.

use super::super::product::Product;
use super::StepContext;
use crate::change::{Action, Change, Condition, run};
use stend_base::say;

/// The address at which something is handed out over one of several paths of RDMA.
pub(super) fn address(context: &StepContext, path: usize) -> String {
    match context.way {
        Some(_) => context.address_of(path).to_string(),
        None => own_address(context),
    }
}

/// What there is to do for a card, before anything goes over it.
pub(super) fn card(context: &StepContext, soft: bool) -> Vec<Change> {
    match &context.way {
        None => vec![own_card(context)],
        Some(way) if soft => {
            way.addresses_here().enumerate().map(|(at, address)| imitated(context, at, address)).collect()
        }
        Some(_) => Vec::new(),
    }
}

/// Over the interface with an address, which stays as it is; one that has a card keeps it.
fn imitated(context: &StepContext, at: usize, address: &str) -> Change {
    let name = match at {
        0 => name(context),
        at => format!("{}x{at}", name(context)),
    };
    let interface = (context.path)(&Product::Interface(address.to_string()));
    let link = run("rdma link add", &[name.as_str(), "type", "rxe", "netdev", interface.as_str()]);
    let card = Condition::Path(format!("/sys/class/infiniband/{name}"));
    Change {
        apply: vec![Action::Module("rdma_rxe".into()), link],
        undo: vec![(card, run("rdma link delete", &[name.as_str()]))],
        ..Change::new(
            say!("have a card for RDMA imitated at {address}", "имитировать адаптер RDMA на {address}"),
            Condition::Card(address.to_string()),
        )
    }
}

/// Names of interfaces have at most 15 letters.
fn name(context: &StepContext) -> String {
    format!("stend{}", context.names.number(&context.layer.name))
}

/// The address of the interface: of the network for benchmarks, which no machine on the Internet has.
//= RFC 2544, appendix C.2.2; RFC 6890: 198.18.0.0/15
fn own_address(context: &StepContext) -> String {
    let [high, low] = context.names.number(&context.layer.name).to_be_bytes();
    format!("198.18.{high}.{low}")
}

/// An interface with nothing behind it, and the card over it. What is sent to its own address stays in this host.
fn own_card(context: &StepContext) -> Change {
    let name = name(context);
    let at = format!("{}/32", own_address(context));
    let (interface, card) = (format!("/sys/class/net/{name}"), format!("/sys/class/infiniband/{name}"));
    let name = name.as_str();
    let card = Condition::Path(card);
    Change {
        apply: vec![
            Action::Module("rdma_rxe".into()),
            run("ip link add", &[name, "type", "dummy"]),
            run("ip address add", &[at.as_str(), "dev", name]),
            run("ip link set", &[name, "up"]),
            // Last, so that one that has it is whole.
            run("rdma link add", &[name, "type", "rxe", "netdev", name]),
        ],
        undo: vec![
            (card.clone(), run("rdma link delete", &[name])),
            (Condition::Path(interface), run("ip link delete", &[name])),
        ],
        ..Change::new(
            say!("make the interface {name} with a card for RDMA", "создать интерфейс {name} с адаптером RDMA"),
            card,
        )
    }
}
