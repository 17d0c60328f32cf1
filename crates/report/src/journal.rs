//! The journal of a host on a terminal and for machines. Must not decide what a problem is.

use crate::figures::utc;
use crate::json::pretty;
use crate::text::{clean, paragraph, screen};
use serde::Serialize;
use stend_analyse::journal::marks::{Mark, Marks, Occurrence};
use stend_analyse::journal::{Category, JournalRule, Problem, ProblemSeverity, RULES_VERSION};
use stend_base::{Lang, Nanos, Say, say};
use stend_record::{RunRecord, WallClock};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// What people said of problems, and the time that is now, in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// All of it.
    pub marks: &'a Marks,
    /// Now: a mute ends.
    pub now_unix: i64,
}

impl<'a> Said<'a> {
    fn acknowledged(self, run: &RunRecord, problem: &Problem) -> Option<&'a Mark> {
        self.marks.acknowledged(run.load().called(), &occurrence(run, problem))
    }

    fn muted(self, run: &RunRecord, problem: &Problem) -> Option<&'a Mark> {
        self.marks.muted(run.load().called(), &occurrence(run, problem), self.now_unix)
    }
}

fn occurrence(run: &RunRecord, problem: &Problem) -> Occurrence {
    problem.occurrence(&WallClock::of(run))
}

/// Problems of a host for a person, open ones first, the newest on top; at most `width` columns wide.
pub fn journal_text(
    run: &RunRecord,
    problems: &[Problem],
    said: Said,
    lang: Lang,
    width: usize,
    colour: bool,
) -> String {
    let screen = screen(lang, width, colour);
    let title = title(run, problems, said);
    let mut out = screen.bold(&screen.paragraph(&clean(title.get(lang))));
    for problem in ordered(problems) {
        let object = clean(&problem.object);
        let (name, evidence, more) = (problem.rule.name(), &problem.evidence, problem.times - 1);
        let (name, evidence, span) = (name.get(lang), evidence.get(lang), span(run, problem));
        let again = match more {
            0 => Say::same(""),
            _ => say!(", came back: {more}", ", повторов: {more}"),
        };
        let (span, again) = (span.get(lang), again.get(lang));
        let key = occurrence(run, problem).key();
        let line = format!("{object}: {name}, {evidence}; {span}{again} [{key}]");
        let line = paragraph(&format!("{} ", glyph(problem)), &clean(&line), screen.width());
        out.push_str(&match problem.severity {
            ProblemSeverity::Critical if problem.closed.is_none() => screen.alarm(&line),
            _ => line,
        });
        if problem.closed.is_none() {
            out.push_str(&paragraph("  → ", problem.rule.advice().get(lang), screen.width()));
            let said = [said.acknowledged(run, problem), said.muted(run, problem)];
            for mark in said.into_iter().flatten() {
                out.push_str(&paragraph("  ", &clean(said_of(mark).get(lang)), screen.width()));
            }
        }
    }
    let open = || problems.iter().filter(|problem| problem.closed.is_none());
    // One of a single problem that is open stands there.
    let is_shown = |mark: &Mark| mark.rule.is_some() && open().any(|problem| said.muted(run, problem) == Some(mark));
    for mark in said.marks.mutes(run.load().called(), said.now_unix).filter(|mark| !is_shown(mark)) {
        let (what, said) = (what_is_muted(mark), said_of(mark));
        let (what, said) = (what.get(lang), said.get(lang));
        out.push_str(&paragraph("∅ ", &clean(&format!("{what}: {said}")), screen.width()));
    }
    out
}

fn title(run: &RunRecord, problems: &[Problem], said: Said) -> Say {
    let (host, version) = (run.load().called(), RULES_VERSION);
    let open: Vec<&Problem> = problems.iter().filter(|problem| problem.closed.is_none()).collect();
    let closed = problems.len() - open.len();
    let acknowledged = open.iter().filter(|problem| said.acknowledged(run, problem).is_some()).count();
    let muted = open.iter().filter(|problem| said.muted(run, problem).is_some()).count();
    let open = open.len();
    let of_them = match (acknowledged, muted) {
        (0, 0) => Say::same(""),
        (_, 0) => say!(" (acknowledged {acknowledged})", " (принято к сведению {acknowledged})"),
        (0, _) => say!(" (muted {muted})", " (заглушено {muted})"),
        _ => say!(
            " (acknowledged {acknowledged}, muted {muted})",
            " (принято к сведению {acknowledged}, заглушено {muted})"
        ),
    };
    let (en, ru) = (of_them.en, of_them.ru);
    say!(
        "{host}: open problems {open}{en}, closed {closed} (rules of version {version})",
        "{host}: открытых проблем {open}{ru}, закрытых {closed} (правила версии {version})"
    )
}

/// What a mute is about, as `--unmute` takes it.
fn what_is_muted(mark: &Mark) -> Say {
    let object = &mark.object;
    let Some(rule) = &mark.rule else {
        return say!("object:{object}, everything", "object:{object}, всё");
    };
    let (rule, object) = (rule.clone(), object.clone());
    let of = Occurrence { rule, object, opened_unix_s: 0, is_open: false };
    let (key, object) = (of.key(), of.object);
    let name = JournalRule::of(&of.rule).map_or_else(|| Say::same(of.rule), JournalRule::name);
    let (en, ru) = (name.en, name.ru);
    say!("{object}: {en} [{key}]", "{object}: {ru} [{key}]")
}

/// What is said, by whom and why.
fn said_of(mark: &Mark) -> Say {
    let (by, at) = (&mark.by, utc(mark.at_unix_s));
    let why = mark.comment.as_ref().map(|comment| format!(": {comment}")).unwrap_or_default();
    match mark.until().map(utc) {
        None => say!("acknowledged by {by}, {at}{why}", "принято к сведению: {by}, {at}{why}"),
        Some(until) => say!("muted until {until} by {by}{why}", "заглушено до {until}: {by}{why}"),
    }
}

/// How many there are; nothing where there are none.
pub(crate) fn counted(problems: &[Problem]) -> Option<Say> {
    let open = problems.iter().filter(|problem| problem.closed.is_none()).count();
    let closed = problems.len() - open;
    (!problems.is_empty())
        .then(|| say!("Problems: open {open}, closed {closed}", "Проблем: открыто {open}, закрыто {closed}"))
}

/// Open ones first, of each the newest.
pub(crate) fn ordered(problems: &[Problem]) -> Vec<&Problem> {
    let mut all: Vec<&Problem> = problems.iter().collect();
    all.sort_by_key(|problem| (problem.closed.is_some(), std::cmp::Reverse(problem.opened)));
    all
}

pub(crate) fn glyph(problem: &Problem) -> &'static str {
    match (problem.closed, problem.severity) {
        (Some(_), _) => "✔",
        (None, ProblemSeverity::Warning) => "!",
        (None, ProblemSeverity::Critical) => "✖",
    }
}

/// When it was.
pub(crate) fn span(run: &RunRecord, problem: &Problem) -> Say {
    let opened = utc(unix(run, problem.opened));
    match problem.closed.map(|closed| utc(unix(run, closed))) {
        None => say!("open since {opened}", "открыта с {opened}"),
        Some(closed) => say!("from {opened} to {closed}", "с {opened} до {closed}"),
    }
}

fn unix(run: &RunRecord, at: Nanos) -> i64 {
    WallClock::of(run).unix_s(at)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    /// Id of the recording or run.
    run: &'a str,
    host: &'a str,
    rules_version: &'static str,
    problems: Vec<ProblemOut<'a>>,
    /// Mutes of this host that hold now, also of what has no problem.
    mutes: Vec<MuteOut<'a>>,
}

#[derive(Serialize)]
struct ProblemOut<'a> {
    /// Its id for `--acknowledge` and `--mute`: the same in every look at the recording. Its first eight digits are those of every occurrence.
    id: String,
    rule: JournalRule,
    category: Category,
    severity: ProblemSeverity,
    object: &'a str,
    /// `open` or `closed`.
    state: &'static str,
    opened_unix_s: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_unix_s: Option<i64>,
    /// How often it came, within an hour of the time before.
    times: u32,
    name: Say,
    evidence: &'a Say,
    advice: Say,
    /// Somebody knows of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledged: Option<AcknowledgedOut<'a>>,
    /// Nothing is sent of it until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    muted_until_unix_s: Option<i64>,
}

#[derive(Serialize)]
struct AcknowledgedOut<'a> {
    by: &'a str,
    at_unix_s: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'a str>,
}

#[derive(Serialize)]
struct MuteOut<'a> {
    /// For `--unmute`: eight digits of a problem, or `object:NAME`.
    what: String,
    object: &'a str,
    /// Absent: every rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    /// What the rule calls a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Say>,
    until_unix_s: i64,
    by: &'a str,
    at_unix_s: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'a str>,
}

/// Problems of a host as JSON, in the order in which they opened.
pub fn journal_json(run: &RunRecord, problems: &[Problem], said: Said) -> String {
    pretty(&Document {
        schema: "stend-journal",
        schema_version: SCHEMA_VERSION,
        run: &run.header.id,
        host: run.load().called(),
        rules_version: RULES_VERSION,
        problems: problems.iter().map(|problem| out(run, problem, said)).collect(),
        mutes: said.marks.mutes(run.load().called(), said.now_unix).map(mute_out).collect(),
    })
}

fn mute_out(mark: &Mark) -> MuteOut<'_> {
    let of = |rule: &String| {
        let (rule, object) = (rule.clone(), mark.object.clone());
        Occurrence { rule, object, opened_unix_s: 0, is_open: false }.key()
    };
    MuteOut {
        what: mark.rule.as_ref().map_or_else(|| format!("object:{}", mark.object), of),
        object: &mark.object,
        rule: mark.rule.as_deref(),
        name: mark.rule.as_deref().and_then(JournalRule::of).map(JournalRule::name),
        until_unix_s: mark.until().unwrap_or_default(),
        by: &mark.by,
        at_unix_s: mark.at_unix_s,
        comment: mark.comment.as_deref(),
    }
}

fn out<'a>(run: &RunRecord, problem: &'a Problem, said: Said<'a>) -> ProblemOut<'a> {
    let acknowledged = said.acknowledged(run, problem).map(|mark| AcknowledgedOut {
        by: &mark.by,
        at_unix_s: mark.at_unix_s,
        comment: mark.comment.as_deref(),
    });
    ProblemOut {
        id: occurrence(run, problem).id(),
        acknowledged,
        muted_until_unix_s: said.muted(run, problem).and_then(Mark::until),
        rule: problem.rule,
        category: problem.rule.limits().category,
        severity: problem.severity,
        object: &problem.object,
        state: if problem.closed.is_none() { "open" } else { "closed" },
        opened_unix_s: unix(run, problem.opened),
        closed_unix_s: problem.closed.map(|closed| unix(run, closed)),
        times: problem.times,
        name: problem.rule.name(),
        evidence: &problem.evidence,
        advice: problem.rule.advice(),
    }
}
