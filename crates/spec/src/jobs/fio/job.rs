//! Jobs of fio: sections with what they inherit, each option by its class. Must not know what a value means.

use super::super::JobPlace;
use super::super::told::Told;
use super::lines::{Opt, Section};
use super::names::{self, Class};
use stend_base::{Result, Say, say};

/// A job with the options that count.
#[derive(Debug)]
pub(super) struct Job {
    pub name: String,
    /// Where its section begins.
    pub place: JobPlace,
    /// Which case it belongs to: one begins at each `stonewall` and with each file.
    pub case: usize,
    options: Vec<Opt>,
}

impl Job {
    /// The option of this canonical name: of several the last, as fio has it.
    pub fn get(&self, name: &str) -> Option<&Opt> {
        self.options.iter().rev().find(|option| option.name == name)
    }

    /// Of two names the one that came last.
    pub fn last(&self, names: [&str; 2]) -> Option<&Opt> {
        self.options.iter().rev().find(|option| names.contains(&option.name.as_str()))
    }

    /// A flag; absent is no.
    pub fn flag(&self, name: &str) -> Result<bool> {
        self.get(name).map_or(Ok(false), Opt::flag)
    }

    /// What `k` is.
    pub fn kb_base(&self) -> Result<u64> {
        match self.get("kb_base") {
            None => Ok(1024),
            Some(option) => match option.whole()? {
                base @ (1000 | 1024) => Ok(base),
                other => Err(option.wrong(&other.to_string(), "1000 or 1024", "1000 или 1024")),
            },
        }
    }
}

/// The jobs of the sections of one file. Sections named `global` count for the jobs below them.
pub(super) fn jobs(sections: &[Section], first_case: usize, told: &mut Told) -> Result<Vec<Job>> {
    let (mut globals, mut jobs): (Vec<Opt>, Vec<Job>) = (Vec::new(), Vec::new());
    let mut case = first_case;
    for section in sections {
        let own: Vec<Opt> =
            section.options.iter().filter_map(|option| sorted(option, told).transpose()).collect::<Result<_>>()?;
        if section.is_global() {
            globals = last_of_each(globals.into_iter().chain(own));
            continue;
        }
        let options = last_of_each(globals.iter().cloned().chain(own));
        let mut job = Job { name: section.name.clone(), place: section.place.clone(), case, options };
        if let Some(name) = job.get("name") {
            job.name = name.text()?.to_string();
        }
        if job.flag("stonewall")? && jobs.last().is_some_and(|before: &Job| before.case == case) {
            case += 1;
        }
        job.case = case;
        jobs.push(job);
    }
    Ok(jobs)
}

/// Of options of one name the last, which is the one that counts: every job holds those of all globals above it, so that a file of many of
/// both would fill the memory.
fn last_of_each(options: impl Iterator<Item = Opt>) -> Vec<Opt> {
    let mut found: Vec<Opt> = Vec::new();
    for option in options {
        found.retain(|before| before.name != option.name);
        found.push(option);
    }
    found
}

/// The option by its canonical name, if it is to be read; others are told.
fn sorted(option: &Opt, told: &mut Told) -> Result<Option<Opt>> {
    let name = names::canonical(&option.name);
    match names::class(name) {
        Some(Class::Understood) => Ok(Some(Opt { name: name.to_string(), ..option.clone() })),
        Some(Class::Harmless) => {
            told.harmless(&option.place, name);
            Ok(None)
        }
        Some(Class::Unsupported(why)) => {
            let Say { en, ru } = why.say();
            told.changed(
                &option.place,
                say!("`{name}` is not taken over: {en}", "`{name}` не переносится: {ru}"),
                why.instead(),
            )?;
            Ok(None)
        }
        None => {
            told.unknown(&option.place, name, names::all())?;
            Ok(None)
        }
    }
}
