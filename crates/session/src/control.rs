//! Stops what a session does, from another thread. Must not know who asks for it.

use std::sync::{Arc, Mutex, PoisonError};
use stend_base::{Error, Kind, Result};
use stend_run::Stopper;

/// What is going on, and what it was asked.
#[derive(Default)]
struct State {
    /// What goes on can be stopped by this.
    stopper: Option<Stopper>,
    /// Something is half made that would stay if the process ended.
    held: bool,
    /// Why what goes on shall stop.
    asked: Option<Kind>,
}

/// A handle on a session: clones stop the same one.
#[derive(Clone, Default)]
pub struct Control(Arc<Mutex<State>>);

impl Control {
    /// Stops what goes on: softly, and at once the second time; `kind` is `Interrupted` or `Terminated`.
    ///
    /// Returns `false` if nothing goes on, so that the process may end.
    pub fn stop(&self, kind: Kind) -> bool {
        let mut state = self.state();
        let again = state.asked.replace(kind).is_some();
        match &state.stopper {
            Some(stopper) if again => stopper.abort(),
            Some(stopper) => stopper.stop(kind),
            None => return state.held,
        }
        true
    }

    /// Carries out what would leave something half made if the process ended; it can ask whether it shall stop.
    ///
    /// Errors: those of `work`; one of kind `Interrupted` gets the kind that was asked for.
    pub fn hold<T>(&self, work: impl FnOnce(&dyn Fn() -> bool) -> Result<T>) -> Result<T> {
        *self.state() = State { held: true, ..State::default() };
        let outcome = work(&|| self.state().asked.is_some());
        let asked = std::mem::take(&mut *self.state()).asked;
        outcome.map_err(|mut error: Box<Error>| {
            if error.kind == Kind::Interrupted {
                error.kind = asked.unwrap_or(error.kind);
            }
            error
        })
    }

    /// What is stopped from now on.
    pub(crate) fn aim(&self, stopper: Option<Stopper>) {
        *self.state() = State { stopper, ..State::default() };
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Say;

    #[test]
    fn what_is_half_made_is_asked_to_stop_and_ends_for_the_reason_that_was_given() {
        let control = Control::default();
        assert!(!control.stop(Kind::Interrupted), "nothing goes on");
        let made = control.hold(|stopped| {
            assert!(!stopped(), "what came before it is not meant");
            assert!(control.stop(Kind::Terminated), "it stays alive");
            assert!(stopped());
            Err::<(), _>(Error::interrupted(Say::same("half made")))
        });
        assert_eq!(made.unwrap_err().kind, Kind::Terminated);
        assert!(!control.stop(Kind::Interrupted), "it is over");
        let other = control.hold(|_| {
            control.stop(Kind::Terminated);
            Err::<(), _>(Error::preflight(Say::same("its own fault")))
        });
        assert_eq!(other.unwrap_err().kind, Kind::Preflight);
    }

    #[test]
    fn what_goes_on_is_stopped_softly_and_then_at_once() {
        let control = Control::default();
        let (channel, stopper) = stend_run::channel();
        control.aim(Some(stopper));
        assert!(control.stop(Kind::Interrupted) && control.stop(Kind::Interrupted));
        control.aim(None);
        assert!(!control.stop(Kind::Interrupted));
        drop(channel);
    }
}
