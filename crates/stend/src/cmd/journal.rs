//! `stend journal RUN`: the problems of the host in a recording or of the hosts of a run, and what people say of them.

use super::remote;
use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use stend_analyse::journal::marks::{Author, Marks, Occurrence, Wish};
use stend_analyse::journal::{Journal, Problem};
use stend_base::{Error, Result, Say, say};
use stend_record::{RunRecord, WallClock};
use stend_report::Said;

/// What is to be said of which problem.
pub struct Asked<'a> {
    /// Its id, or `object:NAME`.
    pub what: &'a str,
    /// What.
    pub wish: Wish<'a>,
    /// Why.
    pub comment: Option<&'a str>,
}

/// Prints them, after doing what is to be said of one.
pub fn journal(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let name = super::required(arguments, "RUN");
    let asked = asked(arguments);
    let path = super::located(name, out)?;
    match super::recording::open(&path, arguments, &[])? {
        Some(rows) => {
            let samples = (0..rows.len()).filter_map(|index| rows.get(index));
            let mut journal = Journal::new(&rows.record);
            samples.for_each(|sample| journal.add(sample));
            let problems = journal.end();
            let marks = match &out.remote {
                Some(remote) => remote::journal::marks(remote, name, asked.as_ref())?,
                None => marks(&path, &rows.record, &problems, asked.as_ref(), out)?,
            };
            print(&rows.record, problems, &marks, arguments, out)
        }
        None => {
            if asked.is_some() {
                return Err(only_recordings(name));
            }
            let mut run = stend_session::read_run(&path)?;
            let problems = stend_analyse::journal::of_run(&mut run);
            print(&run, problems, &Marks::default(), arguments, out)
        }
    }
}

/// Seconds since 1970.
pub fn now_unix() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64
}

fn asked(arguments: &ArgMatches) -> Option<Asked<'_>> {
    let option = |name: &str| arguments.get_one::<String>(name).map(String::as_str);
    let comment = option("comment");
    let until = option("until").unwrap_or_default();
    let wishes = [
        ("acknowledge", Wish::Acknowledge),
        ("unacknowledge", Wish::Unacknowledge),
        ("mute", Wish::Mute { until }),
        ("unmute", Wish::Unmute),
    ];
    wishes.into_iter().find_map(|(name, wish)| Some(Asked { what: option(name)?, wish, comment }))
}

/// What people say of problems here. If it cannot be read the problems are shown all the same.
fn marks(path: &Path, run: &RunRecord, problems: &[Problem], asked: Option<&Asked>, out: &Out) -> Result<Marks> {
    if let Some(Asked { what, wish, comment }) = asked {
        let by = user();
        let author = Author { host: run.load().called(), by: &by, now: now_unix(), comment: *comment };
        let clock = WallClock::of(run);
        let known: Vec<Occurrence> = problems.iter().map(|problem| problem.occurrence(&clock)).collect();
        stend_session::mark(path, &known, what, *wish, author)?;
    }
    Ok(stend_session::marks(path).unwrap_or_else(|error| {
        let Say { en, ru } = &error.message;
        let told =
            say!("! nothing is muted or acknowledged: {en}", "! ничего не заглушено и не принято к сведению: {ru}");
        out.note(told.get(out.lang));
        Marks::default()
    }))
}

/// Who calls: the user behind sudo, else the one of this session.
pub(super) fn user() -> String {
    let named = ["SUDO_USER", "USER", "LOGNAME"].iter().filter_map(|name| std::env::var(name).ok());
    named.map(|name| name.trim().to_string()).find(|name| !name.is_empty()).unwrap_or_else(|| {
        let uid = rustix::process::geteuid().as_raw().to_string();
        let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let name = fields.filter(|of| of.get(2) == Some(&&*uid)).find_map(|of| of.first().map(ToString::to_string));
        name.unwrap_or_else(|| format!("uid {uid}"))
    })
}

fn only_recordings(name: &str) -> Box<Error> {
    Error::usage(say!(
        "`{name}` is a run, and only problems of a recording are acknowledged or muted",
        "`{name}` — прогон, а принимать к сведению и заглушать можно только проблемы записи"
    ))
    .hint(say!("`stend list` shows what is a recording", "какие из них записи, показывает `stend list`"))
}

fn print(run: &RunRecord, mut problems: Vec<Problem>, marks: &Marks, arguments: &ArgMatches, out: &Out) -> Result<()> {
    if arguments.get_flag("open") {
        problems.retain(|problem| problem.closed.is_none());
    }
    let said = Said { marks, now_unix: now_unix() };
    out.result(&match out.json {
        true => stend_report::journal_json(run, &problems, said),
        false => stend_report::journal_text(run, &problems, said, out.lang, out.width(), out.colour()),
    })
}
