//! Problems as commands and requests name them: by an id that the same recording gives again, or all of an object. Pure.

use super::{MUTE_MAX, Mark, MarkKind, begins_with};
use stend_base::{Code, Error, Result, say};

/// What begins the name of everything about an object.
const OBJECT: &str = "object:";

/// A problem, as far as people say something of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// Stable word of the rule.
    pub rule: String,
    /// What it concerns.
    pub object: String,
    /// When it opened, seconds since 1970.
    pub opened_unix_s: i64,
    /// It is not over.
    pub is_open: bool,
}

impl Occurrence {
    /// Which object under which rule: eight digits that every occurrence has. FNV-1a of both.
    pub fn key(&self) -> String {
        let bytes = self.rule.bytes().chain([0]).chain(self.object.bytes());
        let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        format!("{hash:08x}")
    }

    /// Whether both are the same occurrence of the same problem.
    pub fn is_same(&self, other: &Occurrence) -> bool {
        (&self.rule, &self.object) == (&other.rule, &other.object)
            && begins_with(self.opened_unix_s, other.opened_unix_s)
    }

    /// Its id: the key, and when it opened.
    pub fn id(&self) -> String {
        format!("{}-{}", self.key(), self.opened_unix_s)
    }
}

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named<'a> {
    /// Every rule about an object.
    Object(&'a str),
    /// A problem.
    Problem(&'a Occurrence),
}

/// What somebody wants to say of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish<'a> {
    /// That they know of it.
    Acknowledge,
    /// That this was a mistake.
    Unacknowledge,
    /// That they want no messages.
    Mute {
        /// Until when, as [`until`] reads it.
        until: &'a str,
    },
    /// That they want messages again.
    Unmute,
}

/// The author of a mark and the reason given.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// The host with the problem.
    pub host: &'a str,
    /// Who says it.
    pub by: &'a str,
    /// When, seconds since 1970.
    pub now: i64,
    /// Why.
    pub comment: Option<&'a str>,
}

impl Named<'_> {
    /// The mute of it until then.
    pub fn muted(self, until_unix_s: i64, author: Author) -> Mark {
        let (object, rule) = match self {
            Named::Object(object) => (object.to_string(), None),
            Named::Problem(problem) => (problem.object.clone(), Some(problem.rule.clone())),
        };
        let Author { host, by, now, comment } = author;
        let comment = comment.filter(|comment| !comment.is_empty()).map(String::from);
        let mark = MarkKind::Muted { until_unix_s };
        Mark { host: host.into(), object, rule, mark, by: by.into(), at_unix_s: now, comment }
    }

    /// Its acknowledgement.
    ///
    /// Errors: kind `Usage` for an object.
    pub fn acknowledged(self, author: Author) -> Result<Mark> {
        let Named::Problem(problem) = self else {
            return Err(Error::usage(say!(
                "only a problem can be acknowledged, not an object",
                "принять к сведению можно только проблему, а не объект"
            ))
            .hint(say!(
                "name its problem by its id, or mute the object",
                "укажите номер проблемы или заглушите объект"
            )));
        };
        let mark = MarkKind::Acknowledged { opened_unix_s: problem.opened_unix_s };
        Ok(Mark { mark, ..self.muted(author.now, author) })
    }

    /// Errors: kind `Usage` if it is a problem that is over.
    pub fn is_open(self) -> Result<()> {
        match self {
            Named::Problem(Occurrence { object, is_open: false, .. }) => {
                Err(Error::usage(say!("that problem of `{object}` is over", "эта проблема `{object}` устранена"))
                    .hint(say!("`--mute` also holds when it comes back", "`--mute` действует и при её повторе")))
            }
            _ => Ok(()),
        }
    }
}

/// What `object:NAME`, an id or a key means among the problems of a host; a key means the newest occurrence.
///
/// Errors: kind `Usage` if there is none of the name, or several.
pub fn named<'a>(what: &'a str, problems: &'a [Occurrence]) -> Result<Named<'a>> {
    if let Some(object) = what.strip_prefix(OBJECT).filter(|object| !object.is_empty()) {
        return Ok(Named::Object(object));
    }
    let (key, opened) = match what.split_once('-') {
        None => (what, None),
        Some((key, opened)) => (key, Some(opened.parse::<i64>().map_err(|_| unknown(what))?)),
    };
    let is_meant = |problem: &&Occurrence| {
        opened.is_none_or(|opened| begins_with(opened, problem.opened_unix_s)) && problem.key() == key
    };
    let found = problems.iter().filter(is_meant).max_by_key(|problem| problem.opened_unix_s);
    let found = found.ok_or_else(|| unknown(what))?;
    let is_other = |other: &Occurrence| (&other.rule, &other.object) != (&found.rule, &found.object);
    match problems.iter().filter(is_meant).find(|problem| is_other(problem)) {
        None => Ok(Named::Problem(found)),
        Some(_) => {
            Err(Error::usage(say!("several problems have the id `{what}`", "номер `{what}` у нескольких проблем"))
                .hint(say!("mute `object:NAME` instead", "заглушите `object:ИМЯ`")))
        }
    }
}

fn unknown(what: &str) -> Box<Error> {
    Error::new(Code::Usage, say!("there is no problem `{what}`", "проблемы `{what}` нет")).hint(say!(
        "`stend journal RUN` shows the ids; `object:sda` means everything about sda",
        "номера показывает `stend journal ПРОГОН`; `object:sda` — всё, что касается sda"
    ))
}

/// When a mute ends: after a time such as `2h`, or at a time in UTC such as `2026-11-22T06:00Z`.
///
/// Errors: kind `Usage` for what is neither, is over, or is more than a year ahead.
pub fn until(text: &str, now: i64) -> Result<i64> {
    let lasts = || Some(now.saturating_add_unsigned(stend_base::units::parse_nanos(text).ok()?.0 / 1_000_000_000));
    let wrong = || {
        Error::usage(say!("`{text}` is neither a duration nor a time", "`{text}` — не срок и не время")).hint(say!(
            "such as `2h`, `1d`, or `2026-11-22T06:00Z` (UTC)",
            "например `2h`, `1d` или `2026-11-22T06:00Z` (UTC)"
        ))
    };
    let until = lasts().or_else(|| stend_base::format::parse_utc(text)).ok_or_else(wrong)?;
    match until - now {
        ..=0 => Err(Error::usage(say!("`{text}` is over already", "`{text}` уже прошло"))
            .hint(say!("times are in UTC", "время указывается по UTC"))),
        1..=MUTE_MAX => Ok(until),
        _ => Err(Error::usage(say!("`{text}` is more than a year ahead", "до `{text}` больше года")).hint(say!(
            "mute for a shorter time, and again if it is needed",
            "заглушите на меньший срок, а потом ещё раз"
        ))),
    }
}
