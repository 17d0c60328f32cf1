//! Orders about stands that no run is part of: one request, reports on the way, one answer.

use crate::channel::Channel;
use crate::channel::{lost, next_within, out_of_order};
use crate::step::{Input, UserRequest, no_answer};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use stend_base::{Error, Result, Say, say};
use stend_record::EventKind;
use stend_wire::{FromHost, Host, Reply, Request, StandAnswer, StandOrder};

/// Longest silence: one command may take ten minutes.
const SILENCE_LIMIT: Duration = Duration::from_secs(11 * 60);
/// How long the worker may take to exit; it holds nothing.
const END_LIMIT: Duration = Duration::from_secs(15);

/// Has a host carry out an order, and hands everything that it does to `tell`. A stop of the user reaches the host, which ends the
/// step in progress; what was made stays.
pub fn order(host: Host, order: StandOrder, channel: Channel, tell: &mut dyn FnMut(&EventKind)) -> Result<StandAnswer> {
    let Channel { sender, receiver } = channel;
    let mut host = host;
    host.listen(move |message| drop(sender.send(Input::Host(message))))?;
    host.send(&Request::Stand(Box::new(order)));
    let mut stopped = None;
    let answer = loop {
        match next_within(SILENCE_LIMIT, |piece| receiver.recv_timeout(piece)) {
            Ok(Input::Host(FromHost::Reply(Reply::Event(event)))) => tell(&event.kind),
            Ok(Input::Host(FromHost::Reply(Reply::Stand(answer)))) => break Ok(*answer),
            Ok(Input::Host(FromHost::Reply(Reply::Failed(error)))) => break Err(error),
            Ok(Input::Host(FromHost::Reply(_))) => break Err(out_of_order()),
            Ok(Input::Host(FromHost::Lost(detail))) => break Err(lost(&Say::same(detail))),
            Ok(Input::User(UserRequest::Stop(kind))) => {
                stopped = Some(kind);
                host.send(&Request::Stop);
            }
            Ok(Input::User(UserRequest::Abort)) => break Err(broken_off()),
            Ok(Input::RunFile(_) | Input::Cut(_) | Input::MachinesChanged(_) | Input::Tick | Input::From(..)) => {}
            Ok(
                Input::TrialDone { .. } | Input::Facts { .. } | Input::Filled(_) | Input::Zeros(_) | Input::AllLost(_),
            ) => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break Err(lost(&no_answer())),
        }
    };
    // It holds nothing: whether it had to be killed makes no difference to what it said.
    let _ended = host.end(END_LIMIT);
    answer.map_err(|mut error| {
        error.kind = stopped.unwrap_or(error.kind);
        error
    })
}

fn broken_off() -> Box<Error> {
    Error::interrupted(say!(
        "interrupted in the middle; `stend stand status` shows what is there",
        "прервано на полпути; что есть, покажет `stend stand status`"
    ))
}
