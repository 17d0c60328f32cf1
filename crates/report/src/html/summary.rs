//! Top and bottom of the page: what was measured, the verdict, the grade, the caveats.

use super::{Page, first, gate};
use crate::figures::utc;
use crate::markup::Markup;
use crate::text::grouped;
use crate::words;
use std::cmp::Reverse;
use stend_analyse::Findings;
use stend_analyse::findings::{Caveat, CheckResult, CheckStatus, GradeLevel};
use stend_base::{Say, format, say};

/// Doubtful checks that are shown without unfolding.
const WORST: usize = 3;

/// `quick on /var/tmp`, after the label of the run if it has one.
pub fn title(findings: &Findings) -> Say {
    let label = findings.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
    let (suite, target) = (&findings.suite, crate::figures::on(&findings.targets, findings.stand.as_deref()));
    say!("{label}{suite} on {target}", "{label}{suite} на {target}")
}

/// Everything above the first section.
pub fn header(m: &mut Markup, page: &Page) {
    let findings = page.findings;
    super::bar(m);
    m.line("h1", "", &findings.headline);
    m.el("p", "meta", |m| {
        m.say(&title(findings));
        m.raw(" · ");
        m.text(&utc(findings.started_unix));
        m.raw(" · ");
        m.say(&Say::both(|lang| format::duration(findings.elapsed, lang)));
        match (crate::hosts::count(findings), &page.run.load().facts) {
            (Some(several), _) => {
                m.raw(" · ");
                m.say(&several);
            }
            (None, Some(host)) => {
                m.raw(" · ");
                m.text(&host.hostname);
            }
            (None, None) => {}
        }
        m.raw(" · ");
        m.el("code", "", |m| m.text(&findings.run));
    });
    crate::hosts::in_short(findings).iter().for_each(|hosts| m.line("p", "lead", hosts));
    findings.only_sweep().iter().for_each(|sweep| m.line("p", "lead", &sweep.in_short()));
    for caveat in findings.caveats.iter().filter(|c| words::is_ending(c)) {
        m.el("p", "unfinished", |m| {
            m.raw("✖ ");
            m.say(&caveat.say());
            m.line("span", "advice", &caveat.advice());
        });
    }
    page.gate.iter().for_each(|found| gate::of_run(m, found));
    first::cards(m, page);
    first::bars(m, page);
    first::chips(m, page);
    contents(m, page);
}

fn grade(m: &mut Markup, page: &Page) {
    let grade = &page.findings.grade;
    let class = match grade.level {
        GradeLevel::Screening => "grade screening",
        GradeLevel::Publishable => "grade publishable",
    };
    m.line("aside", class, &grade.banner);
}

fn contents(m: &mut Markup, page: &Page) {
    let findings = page.findings;
    let entries = [
        ("#arms", say!("Arms", "Варианты"), page.arms.is_some()),
        ("#results", say!("Results", "Результаты"), true),
        ("#timeline", say!("Course", "Ход"), page.timeline.is_some()),
        ("#caveats", say!("Caveats", "Оговорки"), true),
        ("#across", say!("Across cases", "Сравнение случаев"), !findings.across.is_empty()),
        ("#cases", say!("Cases", "Случаи"), !findings.cases.is_empty()),
        ("#not-run", say!("Not run", "Не выполнено"), !findings.not_run.is_empty()),
        ("#whole-run", say!("Whole run", "Весь прогон"), !findings.charts.is_empty()),
        ("#method", say!("Method", "Методика"), true),
        ("#system", say!("System", "Система"), true),
        ("#repeat", say!("Repeat", "Повторить"), true),
    ];
    let label = say!("Contents", "Содержание");
    m.with("nav", &[("aria-label", label.get(page.lang))], |m| {
        for (href, name, _) in entries.iter().filter(|(_, _, present)| *present) {
            m.with("a", &[("href", href)], |m| m.say(name));
        }
    });
}

/// Caveats but those that stand at the top already.
fn caveats_listed<'a>(page: &Page<'a>) -> impl Iterator<Item = &'a Caveat> {
    page.findings.caveats.iter().filter(|c| !words::is_ending(c))
}

/// What the numbers may be used for, checks that speak against them, and reasons to doubt the whole run, each with what to do.
pub fn caveats(m: &mut Markup, page: &Page) {
    super::section(m, "caveats", &say!("Caveats", "Оговорки"), |m| {
        grade(m, page);
        worst(m, page);
        m.el("ul", "caveats", |m| {
            for caveat in caveats_listed(page) {
                m.el("li", "", |m| {
                    m.say(&caveat.say());
                    m.line("span", "advice", &caveat.advice());
                });
            }
        });
    });
}

/// Checks that speak against cases, the worst three first and the others folded.
fn worst(m: &mut Markup, page: &Page) {
    let mut doubts = grouped(&page.findings.cases, &[CheckStatus::Fail, CheckStatus::Warn]);
    // Stable: those of as many cases stay in the order of their numbers.
    doubts.sort_by_key(|(check, labels)| (check.status != CheckStatus::Fail, Reverse(labels.len())));
    let (first, others) = doubts.split_at(doubts.len().min(WORST));
    let list = |m: &mut Markup, doubts: &[(&CheckResult, Vec<&str>)]| {
        m.el("ul", "caveats", |m| {
            for (check, labels) in doubts {
                let class = if check.status == CheckStatus::Fail { "failed" } else { "" };
                m.el("li", class, |m| doubtful(m, check, labels));
            }
        });
    };
    if first.is_empty() {
        return;
    }
    if !others.is_empty() {
        m.line(
            "p",
            "note",
            &say!(
                "The worst three: failed checks first, then warnings; those of most cases first.",
                "Три худшие: сначала не пройденные проверки, затем предупреждения; первыми те, что касаются большего числа случаев."
            ),
        );
    }
    list(m, first);
    if !others.is_empty() {
        let count = others.len();
        m.el("details", "folded", |m| {
            m.line("summary", "", &say!("{count} more", "Ещё {count}"));
            list(m, others);
        });
    }
}

/// A check that speaks against cases.
fn doubtful(m: &mut Markup, check: &CheckResult, labels: &[&str]) {
    m.text(check.id.code());
    m.raw(" ");
    m.say(&check.name);
    m.raw(" (");
    match labels {
        [label] => m.text(label),
        labels => {
            let cases = labels.len();
            m.say(&say!("{cases} cases", "случаев: {cases}"));
        }
    }
    m.raw(")");
    m.line("span", "advice", &check.meaning);
}

/// What the file is and what it was made from.
pub fn footer(m: &mut Markup, page: &Page) {
    let (run, header) = (&page.findings.run, &page.run.header);
    let version = &header.stend_version;
    m.el("p", "", |m| {
        m.say(&say!(
            "Computed from run {run}, recorded by Stend {version}. A run file holds only what was observed; every report computes its numbers from it anew.",
            "Вычислено по прогону {run}, записанному Stend {version}. Файл прогона хранит только наблюдения; каждый отчёт заново вычисляет числа по ним."
        ));
    });
}
