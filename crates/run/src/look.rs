//! One look at a host that no run is part of.

use crate::channel::{lost, next_within, out_of_order};
use crate::step::no_answer;
use std::sync::mpsc::channel;
use std::time::Duration;
use stend_base::{Result, Say};
use stend_wire::{FromHost, Host, Look, Reply, Request, Seen};

/// Longest wait for the answer: drives that sleep are asked for their health, and blocks of a target are sampled.
const ANSWER_LIMIT: Duration = Duration::from_secs(150);
/// How long the worker may take to exit; it holds nothing.
const END_LIMIT: Duration = Duration::from_secs(15);

/// What the host says. Changes nothing there.
///
/// Errors: what the worker says against it, or `HostLost`.
pub fn look(mut host: Host, what: &Look) -> Result<Seen> {
    let (sender, receiver) = channel();
    host.listen(move |message| drop(sender.send(message)))?;
    host.send(&Request::Look(what.clone()));
    let seen = loop {
        match next_within(ANSWER_LIMIT, |piece| receiver.recv_timeout(piece)) {
            Ok(FromHost::Reply(Reply::Seen(seen))) => break Ok(*seen),
            Ok(FromHost::Reply(Reply::Failed(error))) => break Err(error),
            // How long the look takes.
            Ok(FromHost::Reply(Reply::Event(_))) => {}
            Ok(FromHost::Reply(_)) => break Err(out_of_order()),
            Ok(FromHost::Lost(detail)) => break Err(lost(&Say::same(detail))),
            Err(_) => break Err(lost(&no_answer())),
        }
    };
    // It holds nothing: whether it had to be killed makes no difference to what it said.
    let _ended = host.end(END_LIMIT);
    seen
}
