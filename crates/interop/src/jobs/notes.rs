//! Notes of reading another tool's jobs: places, decisions, and the one rule for what means something else.

use std::collections::HashSet;
use std::rc::Rc;
use stend_base::{Error, FilePosition, Result, Say, say};
use stend_spec::parse::distance;

/// Longest value of another tool that is repeated in a message.
const SHOWN_MAX: usize = 60;

/// A line of a file, or a word of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JobPlace {
    file: Rc<str>,
    line: u32,
}

impl JobPlace {
    /// `line` counts from 1.
    pub fn new(file: &str, line: u32) -> JobPlace {
        JobPlace { file: file.into(), line }
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The error that something is wrong there.
    pub(super) fn error(&self, message: Say) -> Box<Error> {
        Error::at(FilePosition { file: shown(&self.file), line: u64::from(self.line), column: None }, &message)
    }
}

impl std::fmt::Display for JobPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", shown(&self.file), self.line)
    }
}

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Weight {
    /// It changes no I/O, and was left out; the text is the name.
    Harmless,
    /// There was more than one way to read or express it.
    Decided,
    /// It means something else now, or nothing; only with `lenient`.
    Changed,
}

/// A note that comes with the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where it is about.
    pub place: JobPlace,
    /// How much it matters.
    pub weight: Weight,
    /// What it says.
    pub text: Say,
}

impl Note {
    /// Place and text.
    pub fn said(&self) -> Say {
        let (place, Say { en, ru }) = (&self.place, &self.text);
        say!("{place}: {en}", "{place}: {ru}")
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Notes {
    lenient: bool,
    notes: Vec<Note>,
    /// What is in the notes: a file of a mebibyte may have a hundred thousand of them.
    seen: HashSet<(JobPlace, Weight, String)>,
}

impl Notes {
    pub fn new(lenient: bool) -> Notes {
        Notes { lenient, notes: Vec::new(), seen: HashSet::new() }
    }

    pub fn harmless(&mut self, place: &JobPlace, name: &str) {
        self.add(place, Weight::Harmless, Say::same(name));
    }

    pub fn decided(&mut self, place: &JobPlace, text: Say) {
        self.add(place, Weight::Decided, text);
    }

    /// Refuses what cannot be taken over as it is meant, or lists it when that is allowed.
    pub fn changed(&mut self, place: &JobPlace, text: Say, hint: Say) -> Result<()> {
        if !self.lenient {
            return Err(place.error(text).hint(hint));
        }
        self.add(place, Weight::Changed, text);
        Ok(())
    }

    /// A name that the other tool does not have either, as far as we know; the nearest of `known` is offered.
    pub fn unknown(&mut self, place: &JobPlace, name: &str, known: impl Iterator<Item = &'static str>) -> Result<()> {
        let near = known.min_by_key(|k| distance(name, k)).filter(|k| distance(name, k) <= 2);
        let name = shown(name);
        let hint = match near {
            Some(near) => say!("did you mean `{near}`?", "возможно, `{near}`?"),
            None => say!(
                "leave it out, or take `--lenient`, which lists what is left out",
                "уберите её или добавьте `--lenient`: тогда пропущенное будет перечислено"
            ),
        };
        self.changed(place, say!("unknown option `{name}`", "неизвестная опция `{name}`"), hint)
    }

    fn add(&mut self, place: &JobPlace, weight: Weight, text: Say) {
        if self.seen.insert((place.clone(), weight, text.en.clone())) {
            self.notes.push(Note { place: place.clone(), weight, text });
        }
    }

    pub fn done(self) -> Vec<Note> {
        self.notes
    }
}

/// Text from outside as it may stand in a message: bounded, in one line.
pub(super) fn shown(text: &str) -> String {
    let whole = text.chars().count() <= SHOWN_MAX;
    let kept: String = in_one_line(text).chars().take(SHOWN_MAX).collect();
    if whole { kept } else { format!("{kept}…") }
}

/// Text from outside as it may stand in a line of a suite: what could end the line, or a reader would not see, is replaced.
pub(super) fn in_one_line(text: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}
