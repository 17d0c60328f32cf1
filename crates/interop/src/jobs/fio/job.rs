//! Jobs of fio: sections with what they inherit, each option by its class. Must not know what a value means.

use super::super::JobPlace;
use super::super::notes::{Notes, shown};
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

    /// The last of two names.
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
pub(super) fn jobs(sections: &[Section], first_case: usize, notes: &mut Notes) -> Result<Vec<Job>> {
    let (mut globals, mut jobs): (Vec<Opt>, Vec<Job>) = (Vec::new(), Vec::new());
    let mut case = first_case;
    for section in sections {
        let own = section.options.iter().map(|option| {
            let name = names::canonical(&option.name).to_string();
            Opt { name, ..option.clone() }
        });
        if section.is_global() {
            globals = last_of_each(globals.into_iter().chain(own));
            continue;
        }
        let options = last_of_each(globals.iter().cloned().chain(own));
        if no_storage(section, &options, notes)? {
            continue;
        }
        let options = sorted(options, notes)?;
        let mut job = Job { name: section.name.clone(), place: section.place.clone(), case, options };
        if let Some(name) = job.get("name") {
            job.name = name.text()?.to_string();
        }
        let before = jobs.iter().filter(|before: &&Job| before.case == case).count();
        if before > 0 && (job.flag("stonewall")? || waits(&job, &jobs, case, notes)?) {
            case += 1;
        }
        job.case = case;
        jobs.push(job);
    }
    Ok(jobs)
}

/// Whether the job does no I/O that a suite could: then it is left out where that is allowed.
fn no_storage(section: &Section, options: &[Opt], notes: &mut Notes) -> Result<bool> {
    let engine = options.iter().find(|option| option.name == "ioengine");
    let Some((option, engine)) = engine.and_then(|option| Some((option, option.value.as_deref()?))) else {
        return Ok(false);
    };
    if !names::NO_STORAGE.contains(&engine) {
        return Ok(false);
    }
    let (job, engine) = (shown(&section.name), shown(engine));
    notes.changed(
        &option.place,
        say!(
            "the job `{job}` is left out: `ioengine={engine}` neither reads nor writes storage",
            "задание `{job}` опущено: `ioengine={engine}` не читает и не пишет хранилище"
        ),
        say!("import the other jobs with `--lenient`", "остальные задания импортируйте с `--lenient`"),
    )?;
    Ok(true)
}

/// Whether `wait_for` has the job begin when all of its case have ended, as `stonewall` does.
fn waits(job: &Job, jobs: &[Job], case: usize, notes: &mut Notes) -> Result<bool> {
    let Some(option) = job.get("wait_for") else { return Ok(false) };
    let name = option.text()?;
    let mut running = jobs.iter().filter(|before| before.case == case);
    if running.by_ref().all(|before| before.name == name) {
        return Ok(true);
    }
    let shown = shown(name);
    notes.changed(
        &option.place,
        say!(
            "it begins when `{shown}` has ended, while others run on; the streams of a case begin together",
            "оно начинается после `{shown}`, пока другие ещё идут; потоки случая начинают вместе"
        ),
        say!("put `stonewall` between them", "поставьте между ними `stonewall`"),
    )?;
    Ok(false)
}

/// The last of options of one name, which is the one that counts: every job holds those of all globals above it, so that a file of many of
/// both would fill the memory.
fn last_of_each(options: impl Iterator<Item = Opt>) -> Vec<Opt> {
    let mut found: Vec<Opt> = Vec::new();
    for option in options {
        found.retain(|before| before.name != option.name);
        found.push(option);
    }
    found
}

/// The options that are to be read; others are noted, or refused. Those that ask for nothing change nothing.
fn sorted(options: Vec<Opt>, notes: &mut Notes) -> Result<Vec<Opt>> {
    let asks = |name: &str| {
        options.iter().any(|option| option.name == name && !names::is_neutral(name, option.value.as_deref()))
    };
    let mut found = Vec::new();
    for option in &options {
        let name = option.name.as_str();
        match names::class(name) {
            Some(Class::Understood) => {
                set(option)?;
                found.push(option.clone());
            }
            Some(Class::Harmless) => notes.harmless(&option.place, name),
            Some(Class::Unsupported(why)) => {
                let idle = names::needs(name).is_some_and(|mut needed| !needed.any(asks));
                if idle || names::is_neutral(name, option.value.as_deref()) {
                    notes.harmless(&option.place, name);
                    continue;
                }
                let Say { en, ru } = why.say();
                notes.changed(
                    &option.place,
                    say!("`{name}` is not imported: {en}", "`{name}` не импортируется: {ru}"),
                    why.instead(),
                )?;
            }
            None => notes.unknown(&option.place, name, names::all())?,
        }
    }
    Ok(found)
}

/// Refuses a value whose variable is not set. Where files lie a suite does not say anyway.
fn set(option: &Opt) -> Result<()> {
    match &option.unset {
        Some(name) if option.name != "directory" => {
            let name = shown(name);
            Err(option
                .place
                .error(say!(
                    "the variable `{name}` is not set; for fio it is empty",
                    "переменная `{name}` не задана; для fio она пуста"
                ))
                .hint(say!(
                    "set it, as for fio: `{name}=… stend import …`",
                    "задайте её, как для fio: `{name}=… stend import …`"
                )))
        }
        _ => Ok(()),
    }
}
