//! The journal of a host on a terminal and for machines. Must not decide what a problem is.

use crate::figures::utc;
use crate::json::pretty;
use crate::text::{clean, paragraph, screen};
use serde::Serialize;
use stend_analyse::journal::{Category, JournalRule, Problem, ProblemSeverity, RULES_VERSION};
use stend_base::{Lang, Nanos, Say, say};
use stend_record::RunRecord;

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// Problems of a host for a person, open ones first, the newest on top; at most `width` columns wide.
pub fn journal_text(run: &RunRecord, problems: &[Problem], lang: Lang, width: usize, colour: bool) -> String {
    let screen = screen(lang, width, colour);
    let (host, open) = (run.load().called(), problems.iter().filter(|problem| problem.closed.is_none()).count());
    let (closed, version) = (problems.len() - open, RULES_VERSION);
    let title = say!(
        "{host}: open problems {open}, closed {closed} (rules of version {version})",
        "{host}: открытых проблем {open}, закрытых {closed} (правила версии {version})"
    );
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
        let line = format!("{object}: {name}, {evidence}; {span}{again}");
        let line = paragraph(&format!("{} ", glyph(problem)), &clean(&line), screen.width());
        out.push_str(&match problem.severity {
            ProblemSeverity::Critical if problem.closed.is_none() => screen.alarm(&line),
            _ => line,
        });
        if problem.closed.is_none() {
            out.push_str(&paragraph("  → ", problem.rule.advice().get(lang), screen.width()));
        }
    }
    out
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
    run.header.realtime_offset_ns.saturating_add_unsigned(at.0).div_euclid(1_000_000_000)
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
}

#[derive(Serialize)]
struct ProblemOut<'a> {
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
}

/// Problems of a host as JSON, in the order in which they opened.
pub fn journal_json(run: &RunRecord, problems: &[Problem]) -> String {
    pretty(&Document {
        schema: "stend-journal",
        schema_version: SCHEMA_VERSION,
        run: &run.header.id,
        host: run.load().called(),
        rules_version: RULES_VERSION,
        problems: problems.iter().map(|problem| out(run, problem)).collect(),
    })
}

fn out<'a>(run: &RunRecord, problem: &'a Problem) -> ProblemOut<'a> {
    ProblemOut {
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
