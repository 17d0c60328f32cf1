//! `make lab`: every layout of the stands for soft RAID in one machine with drives that have limits, unattended: do the ratios come
//! out as arithmetic says, and is what no drive answered refused? And how long does a machine take to start? `ONLY` names one of the two
//! parts (`campaign`, `starts`); the other one stays on the page as it is.

mod campaign;
mod report;
mod starts;

use crate::{Outcome, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Machine with drives of 400 IOPS and 25 MiB/s.
pub const MACHINE: &str = "soft-raid";

/// A directory for what machines and runs leave, and the machines in it; both go with this.
pub struct Place<'a> {
    settings: &'a Settings,
    /// The binary under test, wherever a command is done.
    stend: PathBuf,
    root: PathBuf,
    /// Arguments of this bench alone.
    pub directory: PathBuf,
}

impl<'a> Place<'a> {
    /// A new one in `parent`.
    pub fn new(settings: &'a Settings, parent: &Path) -> Outcome<Place<'a>> {
        let stend = std::fs::canonicalize(&settings.stend).map_err(|e| format!("{}: {e}", settings.stend.display()))?;
        let directory = parent.join(format!("stend-bench-lab-{}", std::process::id()));
        std::fs::create_dir(&directory).map_err(|e| format!("cannot make `{}`: {e}", directory.display()))?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Ok(Place { settings, stend, root, directory })
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
        self.output_with(words, &[])
    }

    /// The same, with these variables in its environment.
    fn output_with(&self, words: &[&str], variables: &[(&str, &str)]) -> Outcome<String> {
        let mut command = self.command(words);
        let output = command.envs(variables.iter().copied()).stderr(std::process::Stdio::inherit()).output();
        let output = output.map_err(|e| format!("cannot run `{}`: {e}", self.stend.display()))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("`stend {}` failed: {}", words.join(" "), output.status)),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // Which is up depends on where a bench was given up.
        for name in [MACHINE, starts::MACHINE] {
            drop(self.command(&["lab", "down", name]).output());
        }
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

/// Measures what is wanted and writes its part of the page.
pub fn measure(settings: &Settings) -> Outcome<()> {
    let place = Place::new(settings, &std::env::temp_dir())?;
    let wanted = |part: &str| settings.only.as_ref().is_none_or(|only| part.contains(only.as_str()));
    if !wanted("starts") && !wanted("campaign") {
        return Err("ONLY: the parts of this bench are `campaign` and `starts`".to_string());
    }
    if wanted("starts") {
        report::write_starts(settings, &starts::measure(&place)?)?;
    }
    if wanted("campaign") {
        let file = format!("lab/{MACHINE}.yaml");
        place.output(&["lab", "build", &file])?;
        place.output(&["lab", "up", &file])?;
        report::write_campaign(settings, &campaign::measure(&place)?)?;
    }
    Ok(())
}
