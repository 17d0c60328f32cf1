//! Signals of a run: Ctrl-C and SIGTERM stop what goes on softly, and twice at once. Must not do the stopping itself.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::{Arc, Mutex, PoisonError};
use stend_base::{Error, Kind, Result, say};
use stend_run::Stopper;

/// Where signals go: to the session in progress.
#[derive(Clone, Default)]
pub(super) struct Stoppers(Arc<Mutex<Option<(Stopper, bool)>>>);

impl Stoppers {
    pub(super) fn aim(&self, stopper: Option<Stopper>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = stopper.map(|stopper| (stopper, false));
    }

    /// Stops what goes on: softly, and at once the second time. While nothing goes on, the process ends.
    fn signal(&self, kind: Kind) {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some((stopper, true)) => stopper.abort(),
            Some((stopper, asked)) => {
                *asked = true;
                stopper.stop(kind);
            }
            None => std::process::exit(kind.exit_code().into()),
        }
    }
}

/// Ctrl-C and SIGTERM stop softly, twice at once; a lost terminal (SIGHUP) does not stop a run.
pub(super) fn watch_signals() -> Result<Stoppers> {
    let failed = |e: std::io::Error| {
        Error::new(Kind::Bug, say!("cannot watch signals: {e}", "не удаётся следить за сигналами: {e}"))
    };
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let stoppers = Stoppers::default();
    let aimed = stoppers.clone();
    let watch = move || {
        for signal in signals.forever().filter(|s| *s != SIGHUP) {
            aimed.signal(if signal == SIGTERM { Kind::Terminated } else { Kind::Interrupted });
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(watch).map_err(failed)?;
    Ok(stoppers)
}
