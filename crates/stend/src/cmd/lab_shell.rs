//! `stend lab shell`: a command in a machine that is up, or a shell on the terminal of its user.

use crate::out::Out;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{IsTerminal, Read};
use stend_base::{Error, Result, say};
use stend_lab::Standing;

/// Executes the command, or a shell, and ends this process as it ended.
pub fn shell(standing: &Standing, words: &[String], out: &Out) -> Result<()> {
    let typed = std::io::stdin().is_terminal();
    let mut relay = |bytes: &[u8], errors: bool| out.relay(bytes, errors);
    let status = match words {
        [] if typed => {
            let _raw = Raw::enter()?;
            standing.execute(&terminal(), Some(Box::new(std::io::stdin())), &mut relay)?
        }
        // Nobody types: what comes is what the shell shall do.
        [] => standing.execute(&["bash".to_string()], Some(Box::new(std::io::stdin())), &mut relay)?,
        words => {
            // A command does not wait for what is typed.
            let input = (!typed).then(|| Box::new(std::io::stdin()) as Box<dyn Read + Send>);
            standing.execute(words, input, &mut relay)?
        }
    };
    match status {
        0 => Ok(()),
        status => std::process::exit(status),
    }
}

/// A shell with a terminal of its own in the guest, of the size of this one.
fn terminal() -> Vec<String> {
    let size = tcgetwinsize(std::io::stdin()).ok().filter(|size| size.ws_col > 0);
    let (rows, columns) = size.map_or((24, 80), |size| (size.ws_row, size.ws_col));
    let inside = format!("stty rows {rows} cols {columns}; exec env TERM=xterm-256color bash -l");
    ["script", "-qefc", &inside, "/dev/null"].map(String::from).to_vec()
}

/// The terminal hands on every key as it is, until this is dropped.
struct Raw(Termios);

impl Raw {
    fn enter() -> Result<Raw> {
        let failed = |e: rustix::io::Errno| {
            Error::usage(say!("cannot use this terminal: {e}", "не удаётся использовать этот терминал: {e}"))
        };
        let before = tcgetattr(std::io::stdin()).map_err(failed)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw).map_err(failed)?;
        Ok(Raw(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs no settings.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}
