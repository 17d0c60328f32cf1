//! The one queue of a run: the worker, signals and `stend stop` all end up here.

use crate::step::{Input, UserRequest};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;
use stend_base::{Error, Kind, say};

/// Where everything that happens to a run arrives.
pub struct Channel {
    pub(crate) sender: Sender<Input>,
    pub(crate) receiver: Receiver<Input>,
}

/// A handle for signal handlers and other outsiders.
#[derive(Clone)]
pub struct Stopper {
    pub(crate) sender: Sender<Input>,
}

/// A fresh channel and a handle to stop the run that will use it.
pub fn channel() -> (Channel, Stopper) {
    let (sender, receiver) = std::sync::mpsc::channel();
    (Channel { sender: sender.clone(), receiver }, Stopper { sender })
}

impl Channel {
    /// Waits for somebody who asks to stop, at most so long. For a session that is no run, to which nothing else can happen.
    pub fn waits_for_stop(&self, limit: Duration) -> bool {
        self.receiver.recv_timeout(limit).is_ok()
    }
}

impl Stopper {
    /// Ends the run softly: the trial in progress is cut short and kept, what was made is undone.
    pub fn stop(&self, kind: Kind) {
        // A run that is already over needs no stopping.
        drop(self.sender.send(Input::User(UserRequest::Stop(kind))));
    }

    /// Ends the run now.
    pub fn abort(&self) {
        drop(self.sender.send(Input::User(UserRequest::Abort)));
    }
}

/// A worker that is gone, or silent.
pub(crate) fn lost(detail: &str) -> Box<Error> {
    Error::host_lost(say!("the worker was lost: {detail}", "рабочий процесс потерян: {detail}"))
}

/// An answer to another question.
pub(crate) fn out_of_order() -> Box<Error> {
    Error::bug(say!("the worker sent an answer to another request", "рабочий процесс ответил не на тот запрос"))
}
