//! Benches against peers, paired in one run. `make agree`: do Stend and fio agree? `make speed`: what does an I/O cost? `make truth`: does a
//! load come as asked, and does a stall show? `make coverage`: do intervals hold the truth? `make analysis`: what does looking at runs cost?
//! `make serve-bench`: what does a server cost? `make lab`: do layouts cost in virtual machines what arithmetic says? `make signal`: what does Stend warn of on healthy storage?
//! `make fleet`: what do many hosts in one run cost?
//! Each writes its page in `docs/bench`. Must not judge by anything but the interval, and must not repeat what came out badly.
#![forbid(unsafe_code)]

mod agree;
mod analysis;
mod coverage;
mod cpu;
mod fio;
mod fleet;
mod lab;
mod loop_device;
mod machine;
mod page;
mod schedule;
mod serve;
mod signal;
mod speed;
mod stend;
mod truth;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// What this program says when something stops it.
type Outcome<T> = Result<T, String>;

/// How to run, from the environment; `make` passes it on.
#[derive(Clone)]
pub struct Settings {
    /// The binary under test (`STEND`).
    stend: PathBuf,
    /// fio (`FIO`).
    fio: PathBuf,
    /// `t/io_uring` of fio's sources (`T_IO_URING`).
    t_io_uring: Option<PathBuf>,
    /// elbencho (`ELBENCHO`).
    elbencho: Option<PathBuf>,
    /// The Python that runs fio's scripts (`PYTHON`); `fiologparser_hist.py` needs one with numpy and pandas.
    pub python: PathBuf,
    /// fio's `tools/hist/fiologparser_hist.py` (`FIOLOGPARSER_HIST`).
    pub histogram_parser: Option<PathBuf>,
    /// fio's `tools/fiologparser.py` (`FIOLOGPARSER`).
    log_parser: Option<PathBuf>,
    /// Directory on the real disk (`ON`).
    directory: PathBuf,
    /// Interleaved blocks per row (`BLOCKS`).
    blocks: Option<usize>,
    /// Measuring window of each trial (`WINDOW_MS`).
    window: Option<Duration>,
    /// Only rows whose name contains this (`ONLY`); the page is then printed and not written. `agree` writes it where `OUT`
    /// says.
    only: Option<String>,
    /// Simulations of each row (`SIMULATIONS`); the page is then printed and not written.
    simulations: Option<u32>,
    /// Where the result goes (`OUT`).
    out: Option<PathBuf>,
    /// Processes that ran or waited for a CPU before anything was measured: the averages over 1, 5 and 15 minutes.
    load_before: String,
}

impl Settings {
    fn from_environment() -> Outcome<Settings> {
        let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let number = |name: &str| -> Outcome<Option<u64>> {
            let parse = |value: String| value.parse().map_err(|_| format!("{name}: `{value}` is not a whole number"));
            text(name).map(parse).transpose()
        };
        let path = |name: &str, default: &str| PathBuf::from(text(name).unwrap_or_else(|| default.to_string()));
        Ok(Settings {
            stend: path("STEND", "stend"),
            fio: path("FIO", "fio"),
            t_io_uring: text("T_IO_URING").map(PathBuf::from),
            elbencho: text("ELBENCHO").map(PathBuf::from),
            python: text("PYTHON").unwrap_or_else(|| "python3".into()).into(),
            histogram_parser: text("FIOLOGPARSER_HIST").map(PathBuf::from),
            log_parser: text("FIOLOGPARSER").map(PathBuf::from),
            directory: path("ON", "/var/tmp"),
            blocks: number("BLOCKS")?.map(|blocks| blocks as usize),
            window: number("WINDOW_MS")?.map(|ms| Duration::from_millis(ms.max(500))),
            only: text("ONLY"),
            simulations: number("SIMULATIONS")?.map(|count| count.clamp(10, 1_000_000) as u32),
            out: text("OUT").map(PathBuf::from),
            load_before: machine::load_average(),
        })
    }

    /// Where a page goes.
    fn page(&self, name: &str) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/bench");
        self.out.clone().unwrap_or_else(|| root.join(name))
    }
}

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let result = Settings::from_environment().and_then(|settings| match wanted.as_str() {
        "agree" => agree::compare(&settings),
        "analysis" => analysis::measure(&settings),
        "speed" => speed::compare(&settings),
        "truth" => truth::compare(&settings),
        "coverage" => coverage::simulate(&settings),
        "fleet" => fleet::measure(&settings),
        "lab" => lab::measure(&settings),
        "serve" => serve::measure(&settings),
        "signal" => signal::measure(&settings),
        _ => Err("say which bench: agree, analysis, coverage, fleet, lab, serve, signal, speed or truth".to_string()),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Nobody is left to tell if even the standard error is closed.
            drop(writeln!(std::io::stderr(), "bench: {message}"));
            ExitCode::from(2)
        }
    }
}

/// Prints progress on the terminal.
fn say(text: &str) {
    drop(writeln!(std::io::stderr(), "{text}"));
}
