//! The one queue of a run: the worker, signals and `stend stop` all end up here.

use crate::step::{Input, UserRequest};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use stend_base::{Error, Kind, Say, say};

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

/// Pieces of a wait.
const PIECE: Duration = Duration::from_secs(1);

/// What arrives next, waited for in pieces: time in which this process was suspended counts as one of them.
pub(crate) fn next_within<T>(
    limit: Duration,
    mut wait: impl FnMut(Duration) -> std::result::Result<T, RecvTimeoutError>,
) -> std::result::Result<T, RecvTimeoutError> {
    for _ in 0..limit.as_secs().max(1) {
        match wait(PIECE) {
            Err(RecvTimeoutError::Timeout) => {}
            heard => return heard,
        }
    }
    Err(RecvTimeoutError::Timeout)
}

/// A worker that is gone, or silent.
pub(crate) fn lost(Say { en, ru }: &Say) -> Box<Error> {
    Error::host_lost(say!("the worker was lost: {en}", "рабочий процесс потерян: {ru}"))
}

/// An answer to another question.
pub(crate) fn out_of_order() -> Box<Error> {
    Error::bug(say!("the worker sent an answer to another request", "рабочий процесс ответил не на тот запрос"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_was_suspended_goes_on() {
        let mut waits = 0;
        // The first piece takes an hour, because the process was suspended; the answer came meanwhile.
        let heard = next_within(Duration::from_secs(60), |_| {
            waits += 1;
            if waits == 1 { Err(RecvTimeoutError::Timeout) } else { Ok(7) }
        });
        assert_eq!((heard, waits), (Ok(7), 2));
        let mut waited = Duration::ZERO;
        let nothing: std::result::Result<(), _> = next_within(Duration::from_secs(60), |piece| {
            waited += piece;
            Err(RecvTimeoutError::Timeout)
        });
        assert_eq!((nothing, waited), (Err(RecvTimeoutError::Timeout), Duration::from_secs(60)));
    }
}
