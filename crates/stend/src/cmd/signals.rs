//! Signals: Ctrl-C and SIGTERM stop what a session does, softly, and twice at once. Must not do the stopping itself.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use stend_base::{Error, Kind, Result, say};
use stend_session::Control;

/// Ctrl-C and SIGTERM stop softly, twice at once, and end the process while nothing goes on; a lost terminal (SIGHUP) does not stop a run.
pub(super) fn watch_signals() -> Result<Control> {
    let failed =
        |e: std::io::Error| Error::bug(say!("cannot watch signals: {e}", "не удаётся следить за сигналами: {e}"));
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let control = Control::default();
    let stopped = control.clone();
    let watch = move || {
        for signal in signals.forever().filter(|s| *s != SIGHUP) {
            let kind = if signal == SIGTERM { Kind::Terminated } else { Kind::Interrupted };
            if !stopped.stop(kind) {
                std::process::exit(kind.exit_code().into());
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(watch).map_err(failed)?;
    Ok(control)
}
