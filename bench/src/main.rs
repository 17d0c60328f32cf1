//! `make agree`: do Stend and fio agree? Same target, same minute, paired and interleaved. Writes
//! `docs/bench/agree.md`. Must not judge by anything but the interval, and must not repeat what came out badly.
#![forbid(unsafe_code)]

mod cell;
mod contest;
mod fio;
mod limited;
mod report;
mod stend;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// What this program says when something stops it.
type Outcome<T> = Result<T, String>;

/// How to run, from the environment; `make agree` passes it on.
pub struct Settings {
    /// The binary under test (`STEND`).
    stend: PathBuf,
    /// fio (`FIO`).
    fio: PathBuf,
    /// Directory on the real disk (`ON`).
    directory: PathBuf,
    /// Interleaved blocks per cell (`BLOCKS`); six are the fewest for a 95 % statement.
    blocks: usize,
    /// Measuring window of each trial (`WINDOW_MS`). The limiter lets I/O through in slices of up to 100 ms; one I/O
    /// that spans the end of the window counts with its full latency, 2 % of 5 s at depth 1.
    window: Duration,
    /// Where the result goes (`OUT`).
    out: PathBuf,
}

impl Settings {
    fn from_environment() -> Outcome<Settings> {
        let text = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_string());
        let number = |name: &str, default: u64| -> Outcome<u64> {
            let value = text(name, &default.to_string());
            value.parse().map_err(|_| format!("{name}: `{value}` is not a whole number"))
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let out = std::env::var_os("OUT").map_or_else(|| root.join("docs/bench/agree.md"), PathBuf::from);
        Ok(Settings {
            stend: text("STEND", "stend").into(),
            fio: text("FIO", "fio").into(),
            directory: text("ON", "/var/tmp").into(),
            blocks: number("BLOCKS", 6)?.max(6) as usize,
            window: Duration::from_millis(number("WINDOW_MS", 5000)?.max(500)),
            out,
        })
    }
}

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Nobody is left to tell if even the standard error is closed.
            drop(writeln!(std::io::stderr(), "agree: {message}"));
            ExitCode::from(2)
        }
    }
}

fn compare() -> Outcome<()> {
    let settings = Settings::from_environment()?;
    let fio = fio::Fio::find(&settings)?;
    let mut tables = Vec::new();
    let limited = limited::Limited::make()?;
    tables.push(contest::on_device(&settings, &fio, limited.device(), &limited.words())?);
    drop(limited);
    tables.push(contest::in_directory(&settings, &fio)?);
    report::write(&settings, &fio, &tables)
}

/// Tells whoever waits what is going on.
fn say(text: &str) {
    drop(writeln!(std::io::stderr(), "{text}"));
}
