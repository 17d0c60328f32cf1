//! Shows a page in the user's browser on this machine. Must not wait for the browser, nor fail because there is none.

use crate::out::Out;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use stend_base::{Say, say};
use stend_record::store::Owner;

/// The program that knows which browser is meant.
const OPENER: &str = "xdg-open";
/// How long it may take to say that it cannot: most hand over at once, and some stay as long as the browser does.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// Has the page shown, or says where it lies and why it is not.
pub fn open(page: &Path, out: &Out) {
    if let Err(Say { en, ru }) = shown(page) {
        let path = page.display();
        let text = say!("not opened: {en}; the page is `{path}`", "не открыто: {ru}; страница — `{path}`");
        out.note(text.get(out.lang));
    }
}

fn shown(page: &Path) -> Result<(), Say> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        return Err(say!("there is no display here", "здесь нет экрана"));
    }
    if Owner::behind_sudo().is_some() {
        return Err(say!("a browser does not belong to root", "браузер от имени root не запускается"));
    }
    // A path that begins with `-` would be an option.
    let page = std::path::absolute(page).map_err(|error| Say::same(error.to_string()))?;
    let failed = |error: std::io::Error| {
        say!("`{OPENER}` cannot be started: {error}", "не удаётся запустить `{OPENER}`: {error}")
    };
    let mut command = Command::new(OPENER);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C at this terminal is not meant for the browser.
    let mut child = command.process_group(0).spawn().map_err(failed)?;
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        match child.try_wait().map_err(failed)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(say!("`{OPENER}` failed: {status}", "`{OPENER}` не справился: {status}")),
            None => std::thread::sleep(PAUSE),
        }
    }
    Ok(())
}
