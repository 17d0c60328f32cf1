//! Jobs of any tool on their way to a suite: what each asks for, and the suite that they make together. Must not know whose
//! jobs they were.

use super::notes::Notes;
use super::{Imported, JobPlace, not_ours};
use stend_base::{Bytes, Error, FilePosition, Lang, Nanos, Result, say};
use stend_spec::files::Files;
use stend_spec::load_hosts::LoadHosts;
use stend_spec::prober::ProberKey;
use stend_spec::suite::{Fill, StreamSpec, Suite, SuiteCase};
use stend_spec::workload::{Backend, BlockShare, Engine, Pages};

/// Where jobs name no length: fio and others end by volume then, and a trial ends by the clock.
pub(super) const WINDOW: Nanos = Nanos::secs(30);
/// Longest name of a suite or case.
const NAME_MAX: usize = 200;

/// What becomes a suite.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub name: String,
    /// What was read, for the first line of the file.
    pub from: String,
    /// Bytes written before anything is measured.
    pub fill: Option<Fill>,
    /// Test files, how many and how large each.
    pub files: Option<(u32, Bytes)>,
    pub cases: Vec<DraftCase>,
    /// Paths in the order of the range.
    pub targets: Vec<String>,
}

/// A case whose name need not be the only one of its kind yet.
#[derive(Debug)]
pub(super) struct DraftCase {
    /// Where it is asked for.
    pub place: JobPlace,
    pub name: String,
    pub streams: Vec<StreamSpec>,
    pub ramp: Nanos,
    pub window: Nanos,
    pub direct: bool,
    pub pages: Pages,
    pub backend: Backend,
}

impl Draft {
    /// The suite, read back by the parser that reads those of users.
    pub fn imported(self, notes: Notes) -> Result<Imported> {
        let mut cases: Vec<SuiteCase> = Vec::new();
        let mut places = Vec::new();
        for case in self.cases {
            places.push(case.place);
            let mut name = named(&case.name);
            for count in 2.. {
                if cases.iter().all(|earlier| earlier.name != name) {
                    break;
                }
                name = format!("{} ({count})", named(&case.name));
            }
            cases.push(SuiteCase {
                name,
                app: None,
                streams: case.streams,
                ramp: case.ramp,
                window: case.window,
                direct: case.direct,
                pages: case.pages,
                backend: case.backend,
                engine: Engine::Native,
                io_log: None,
                prober: ProberKey::Off,
                steady: None,
                faults: Vec::new(),
                load_hosts: LoadHosts::All,
            });
        }
        let sizes = |size| vec![BlockShare { size, percent: 100 }];
        let suite = Suite {
            name: named(&self.name),
            fill: self.fill,
            files: self.files.map(|(count, size)| Files { count, sizes: sizes(size) }),
            cases,
            blocks: 6,
            ..Suite::default()
        };
        let imported = Imported { suite, targets: self.targets, notes: notes.done(), from: self.from };
        let text = imported.text(Lang::En);
        let read = stend_spec::parse::suite(&text, "suite.yaml").map_err(|error| beyond(&imported, &places, &error))?;
        if read != imported.suite {
            return Err(Error::bug(say!(
                "the suite is not read as it was written",
                "набор читается не так, как был записан"
            )));
        }
        Ok(imported)
    }
}

/// The error of a suite that is not read: at the place of the case that alone makes no suite either, because it asks for more than there is.
fn beyond(whole: &Imported, places: &[JobPlace], error: &Error) -> Box<Error> {
    for (case, place) in whole.suite.cases.iter().zip(places) {
        let suite = Suite { cases: vec![case.clone()], ..whole.suite.clone() };
        let text = Imported { suite, targets: Vec::new(), notes: Vec::new(), from: String::new() }.text(Lang::En);
        if let Err(error) = stend_spec::parse::suite(&text, "") {
            let key = error.place.as_ref().and_then(|place| key_at(&text, place)).unwrap_or_default();
            let bare = |said: &str| said.split_once(": ").map_or(said, |(_, behind)| behind).to_string();
            let (en, ru) = (bare(&error.message.en), bare(&error.message.ru));
            return place.error(say!("`{key}` of the suite: {en}", "`{key}` в наборе: {ru}")).hint(say!(
                "stay within that, or import the other jobs without this one",
                "останьтесь в этих пределах или импортируйте остальные задания без этого"
            ));
        }
    }
    not_ours(error)
}

/// The key whose value stands there.
fn key_at(text: &str, place: &FilePosition) -> Option<String> {
    let line = text.lines().nth(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
    let before = line.get(..usize::try_from(place.column?).ok()?.checked_sub(1)?)?;
    let before = before.trim_end_matches([' ', ':', '[', '{']);
    let from = before.rfind(|c: char| !c.is_ascii_lowercase() && c != '_').map_or(0, |at| at + 1);
    Some(before[from..].to_string())
}

/// The directory that a file lies in, also of Windows; `.` of a bare name.
pub(super) fn directory_of(path: &str) -> String {
    match path.rfind(['/', '\\']) {
        Some(0) => path[..1].to_string(),
        // The root of a drive of Windows.
        Some(at) if path[..at].ends_with(':') => path[..=at].to_string(),
        Some(at) => path[..at].to_string(),
        None => ".".to_string(),
    }
}

/// A name as ours may be: one line, not empty, not too long; room is left for a number.
fn named(text: &str) -> String {
    let kept = super::notes::in_one_line(text).chars().take(NAME_MAX - 10).collect::<String>();
    if kept.trim().is_empty() { "jobs".to_string() } else { kept.trim().to_string() }
}
