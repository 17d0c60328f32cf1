//! A run in some twenty lines: what was found, what speaks against it, and the table last. Must not explain: the long form does.

use super::layout::{clean, width as width_of};
use super::table::{self, Detail};
use super::{density, faults, grouped, one_check, origin, screen};
use crate::{hosts, shell, words};
use stend_analyse::Findings;
use stend_analyse::findings::{CheckStatus, GradeLevel, NotRun};
use stend_base::text::{counted, listed};
use stend_base::{Lang, Say, say};

/// Most reasons for cases not run that are printed; more are counted.
const NOT_RUN_MOST: usize = 3;

/// What `stend run` ends with and `stend show` prints, at most `width` columns wide (40 at least); `name` is what the
/// user calls the run. Escape codes only with `colour`; no meaning is in colour alone.
pub fn brief(findings: &Findings, name: &str, lang: Lang, width: usize, colour: bool) -> String {
    let screen = screen(lang, width, colour);
    let mut out = screen.faint(&screen.paragraph(origin(findings).get(lang)));
    out.push_str(&screen.bold(&screen.paragraph(findings.headline.get(lang))));
    if let Some(sweep) = findings.only_sweep() {
        out.push_str(&screen.paragraph(sweep.in_short().get(lang)));
    }
    if let Some(hosts) = hosts::in_short(findings) {
        out.push_str(&screen.paragraph(&clean(hosts.get(lang))));
    }
    // Where nothing was measured the headline has said why.
    let measured = findings.cases.iter().any(|case| case.trials > 0);
    for caveat in findings.caveats.iter().filter(|caveat| measured && words::is_ending(caveat)) {
        out.push_str(&screen.alarm(&super::paragraph("✖ ", caveat.say().get(lang), screen.width)));
    }
    for (check, labels) in grouped(&findings.cases, &[CheckStatus::Fail]) {
        out.push_str(&one_check(check, &labels, &screen));
    }
    for (reason, labels) in not_run(&findings.not_run).into_iter().take(NOT_RUN_MOST) {
        let (labels, Say { en, ru }) = (listed(&labels), reason);
        let (which, which_ru) = (labels.en, labels.ru);
        let said = say!("not run: {which}: {en}", "не выполнено: {which_ru}: {ru}");
        out.push_str(&super::paragraph("– ", said.get(lang), screen.width));
    }
    let ((remarks, is_bare), more) = (remarks(findings), shell::join(&["stend", "show", "-v", name]));
    let (remarks, details) = (remarks.get(lang), lang.pick("Details", "Подробно"));
    let own = format!("{details}: {more}");
    let line = if is_bare { format!("{remarks}. {own}") } else { format!("{remarks}: {more}") };
    // A command that is broken between lines cannot be copied.
    out.push_str(&match () {
        () if width_of(&line) <= screen.width => format!("{line}\n"),
        () if width_of(&own) <= screen.width => format!("{}{own}\n", screen.paragraph(&format!("{remarks}."))),
        () => format!("{}{more}\n", screen.paragraph(&format!("{remarks}:"))),
    });
    out.push('\n');
    out.push_str(&faults::tables(&findings.faults, &screen));
    match findings.density.as_slice() {
        [] => out.push_str(&table::table(&findings.cases, Detail::Brief, &screen)),
        found => out.push_str(&density::tables(found, &screen)),
    }
    out
}

/// Reasons for which cases did not run, each with their labels.
pub(super) fn not_run(cases: &[NotRun]) -> Vec<(&Say, Vec<String>)> {
    let mut reasons: Vec<(&Say, Vec<String>)> = Vec::new();
    for case in cases {
        match reasons.iter_mut().find(|(reason, _)| **reason == case.reason) {
            Some((_, labels)) => labels.push(case.label.clone()),
            None => reasons.push((&case.reason, vec![case.label.clone()])),
        }
    }
    reasons
}

/// What the numbers may be used for, and how much there is to read about them; whether that is nothing.
fn remarks(findings: &Findings) -> (Say, bool) {
    let caveats = findings.caveats.iter().filter(|caveat| !words::is_ending(caveat)).count();
    let left_out = not_run(&findings.not_run).len().saturating_sub(NOT_RUN_MOST);
    let counts = [
        (caveats, ["caveat", "caveats"], ["оговорка", "оговорки", "оговорок"]),
        (
            left_out,
            ["more reason not to run", "more reasons not to run"],
            ["ещё причина не выполнять", "ещё причины не выполнять", "ещё причин не выполнять"],
        ),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts = counts.map(|(count, en, ru)| counted(count as u64, en, ru));
    let counts: Vec<Say> = words::warnings(findings).into_iter().chain(counts).collect();
    let joined = |lang| counts.iter().map(|count| count.get(lang)).collect::<Vec<_>>().join(", ");
    let (en, ru) = (joined(Lang::En), joined(Lang::Ru));
    let (grade_en, grade_ru) = match findings.grade.level {
        GradeLevel::Publishable => ("Publishable", "Годится для публикации"),
        GradeLevel::Screening => ("Screening, not for publishing", "Предварительная оценка, не для публикации"),
    };
    match en.is_empty() {
        true => (say!("{grade_en}", "{grade_ru}"), true),
        false => (say!("{grade_en}. {en}", "{grade_ru}. {ru}"), false),
    }
}
