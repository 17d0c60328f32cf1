//! `make lab`: every layout of the stands for soft RAID in one machine with drives that have limits, unattended: do the ratios come
//! out as arithmetic says, is what no drive answered refused, and how long does a machine take to start?

mod campaign;
mod report;

use crate::{Outcome, Settings, say};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Machine with drives of 400 IOPS and 25 MiB/s.
const MACHINE: &str = "soft-raid";
/// The machine is started so often to be timed, and stays up the last time.
const STARTS: usize = 5;

/// A directory for what the machine and its runs leave, and the machine in it; both go with this.
struct Place<'a> {
    settings: &'a Settings,
    root: PathBuf,
    directory: PathBuf,
}

impl Place<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.settings.stend);
        command.args(words).current_dir(&self.root);
        command.env("XDG_RUNTIME_DIR", &self.directory).env("XDG_DATA_HOME", &self.directory).env("LC_ALL", "C");
        command
    }

    /// What a command says. Its progress goes to whoever waits.
    fn output(&self, words: &[&str]) -> Outcome<String> {
        let output = self.command(words).stderr(std::process::Stdio::inherit()).output();
        let output = output.map_err(|e| format!("cannot run `{}`: {e}", self.settings.stend.display()))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("`stend {}` failed: {}", words.join(" "), output.status)),
        }
    }

    fn start(&self) -> Outcome<Duration> {
        let began = Instant::now();
        self.output(&["lab", "up", &format!("lab/{MACHINE}.yaml")])?;
        Ok(began.elapsed())
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // Whether it is up depends on where a bench was given up.
        drop(self.command(&["lab", "down", MACHINE]).output());
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

/// Measures everything and writes the page.
pub fn measure(settings: &Settings) -> Outcome<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let directory = std::env::temp_dir().join(format!("stend-bench-lab-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|e| format!("cannot make `{}`: {e}", directory.display()))?;
    let stend = std::fs::canonicalize(&settings.stend).map_err(|e| format!("{}: {e}", settings.stend.display()))?;
    let settings = Settings { stend, ..settings.clone() };
    let place = Place { settings: &settings, root, directory };
    place.output(&["lab", "build", &format!("lab/{MACHINE}.yaml")])?;
    let mut starts = Vec::new();
    for number in 1..=STARTS {
        starts.push(place.start()?);
        say(&format!("start {number} of {STARTS}: {:.1} s", starts[number - 1].as_secs_f64()));
        if number < STARTS {
            place.output(&["lab", "down", MACHINE])?;
        }
    }
    let campaign = campaign::measure(&place)?;
    report::write(&settings, &starts, &campaign)
}
