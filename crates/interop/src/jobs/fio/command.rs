//! Command lines of fio: words to sections, also several commands one after the other (`fio … && sleep 10 && fio …`). Must not
//! execute anything.

use super::super::notes::{Notes, shown};
use super::super::words::{place, program};
use super::super::{ImportContext, Imported};
use super::job::Job;
use super::lines::{self, Section};
use super::{job, names, suite};
use stend_base::{Result, say};

/// Options of the program, not of a job, that tell how it prints; and whether a value follows.
const PROGRAM: &[(&str, bool)] = &[
    ("output", true),
    ("output-format", true),
    ("bandwidth-log", false),
    ("minimal", false),
    ("append-terse", false),
    ("terse-version", true),
    ("eta", true),
    ("eta-newline", true),
    ("eta-interval", true),
    ("status-interval", true),
    ("parse-only", false),
    ("readonly", false),
    ("warnings-fatal", false),
    ("max-jobs", true),
    ("idle-prof", true),
    ("debug", true),
    ("aux-path", true),
    ("alloc-size", true),
];

/// The suite of commands of fio, each with the number of its first word.
pub(in super::super) fn commands(
    parts: &[(usize, &[String])],
    context: &ImportContext,
    mut notes: Notes,
) -> Result<Imported> {
    let mut jobs: Vec<Job> = Vec::new();
    for (first, part) in parts {
        let case = jobs.last().map_or(0, |job| job.case + 1);
        jobs.extend(job::jobs(&of_fio(*first, part, context, &mut notes)?, case, &mut notes)?);
    }
    if jobs.is_empty() {
        return Err(place(0).error(say!("the command has no job", "в команде нет ни одного задания")).hint(say!(
            "a job begins with `--name=…`; files of jobs are named without `fio`",
            "задание начинается с `--name=…`; файлы заданий указывают без `fio`"
        )));
    }
    suite(jobs, "fio command line", notes)
}

fn of_fio(first: usize, words: &[String], context: &ImportContext, notes: &mut Notes) -> Result<Vec<Section>> {
    let (skipped, _) = program(words);
    let global = |index| Section { name: "global".into(), place: place(index), options: Vec::new() };
    let mut sections = vec![global(first)];
    let mut index = skipped + 1;
    while index < words.len() {
        let at = first + index;
        let Some(word) = words[index].strip_prefix("--").or_else(|| words[index].strip_prefix('-')) else {
            let word = shown(&words[index]);
            return Err(place(at)
                .error(say!(
                    "`{word}` is a file of jobs, or a value without its option",
                    "`{word}` — файл заданий или значение без опции"
                ))
                .hint(say!(
                    "import files of jobs on their own: `stend import --suite FILE`",
                    "файлы заданий импортируйте отдельно: `stend import --suite ФАЙЛ`"
                )));
        };
        index += 1;
        let mut text = word.to_string();
        // A value may be a word of its own, where the option is none that goes without.
        let bare = !word.contains('=');
        if bare && words.get(index).is_some_and(|next| !next.starts_with('-')) && takes_value(word) {
            text = format!("{word}={}", words[index]);
            index += 1;
        }
        if let Some((name, _)) = PROGRAM.iter().find(|(name, _)| text.split('=').next() == Some(name)) {
            notes.harmless(&place(at), name);
            continue;
        }
        let option = lines::option(&text, &place(at), context, notes)?;
        if option.name == "name" {
            let name = option.text()?.to_string();
            sections.push(Section { name, place: place(at), options: Vec::new() });
        } else if let Some(section) = sections.last_mut() {
            section.options.push(option);
        }
    }
    Ok(sections)
}

/// Whether a bare word such as `--bs` is followed by its value; flags are not.
fn takes_value(name: &str) -> bool {
    const FLAGS: [&str; 12] = [
        "group_reporting",
        "time_based",
        "stonewall",
        "wait_for_previous",
        "thread",
        "norandommap",
        "new_group",
        "exitall",
        "hipri",
        "sqthread_poll",
        "fixedbufs",
        "gtod_reduce",
    ];
    match PROGRAM.iter().find(|(program, _)| *program == name) {
        Some((_, value)) => *value,
        None => !FLAGS.contains(&names::canonical(name)) && !FLAGS.contains(&name),
    }
}
