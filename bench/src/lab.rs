//! `make lab`: every layout of the stands for soft RAID in one machine with drives that have limits, unattended: do the ratios come
//! out as arithmetic says, and is what no drive answered refused?

mod campaign;
mod report;

use crate::{Outcome, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Machine with drives of 400 IOPS and 25 MiB/s.
pub const MACHINE: &str = "soft-raid";

/// A directory for what machines and runs leave, and the machines in it; both go with this.
pub struct Place {
    /// The binary under test, wherever a command is done.
    stend: PathBuf,
    root: PathBuf,
    /// Arguments of this bench alone.
    pub directory: PathBuf,
}

impl Place {
    /// A new one in `parent`.
    pub fn new(settings: &Settings, parent: &Path) -> Outcome<Place> {
        let stend = std::fs::canonicalize(&settings.stend).map_err(|e| format!("{}: {e}", settings.stend.display()))?;
        let directory = parent.join(format!("stend-bench-lab-{}", std::process::id()));
        std::fs::create_dir(&directory).map_err(|e| format!("cannot make `{}`: {e}", directory.display()))?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Ok(Place { stend, root, directory })
    }

    /// Stend with these words, at the root of the repository.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.stend);
        command.args(words).current_dir(&self.root);
        command.env("XDG_RUNTIME_DIR", &self.directory).env("XDG_DATA_HOME", &self.directory).env("LC_ALL", "C");
        command
    }

    /// What a command says. Its progress goes to the terminal.
    pub fn output(&self, words: &[&str]) -> Outcome<String> {
        let output = self.command(words).stderr(std::process::Stdio::inherit()).output();
        let output = output.map_err(|e| format!("cannot run `{}`: {e}", self.stend.display()))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("`stend {}` failed: {}", words.join(" "), output.status)),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.command(&["lab", "down", MACHINE]).output());
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

/// Measures, and writes the page.
pub fn measure(settings: &Settings) -> Outcome<()> {
    if let Some(only) = settings.only.as_ref().filter(|only| *only != "table") {
        return Err(format!("ONLY: this bench has the part `table` alone, not `{only}`"));
    }
    let place = Place::new(settings, &std::env::temp_dir())?;
    let file = format!("lab/{MACHINE}.yaml");
    place.output(&["lab", "build", &file])?;
    place.output(&["lab", "up", &file])?;
    report::write(settings, &campaign::measure(&place)?)
}
