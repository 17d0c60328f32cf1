//! A run on a terminal, with everything that is said of it; the table comes last.

pub mod audit;
pub mod brief;
pub mod comparison;
pub mod comparison_brief;
mod density;
pub mod doctor;
mod faults;
pub mod gate;
mod grid;
pub mod host;
pub mod hosts;
pub mod inspect;
pub mod inventory;
mod layout;
pub mod list;
mod load_hosts;
mod numa;
pub mod picture;
pub mod preview;
pub mod previews;
pub mod published;
pub mod recording;
mod sources;
mod table;

use crate::figures::{self, on, utc};
use crate::{rates, words};
pub(crate) use layout::paragraph;
pub use layout::{clean, columns, for_terminal, json_for_terminal, wrapped};
use stend_analyse::Findings;
use stend_analyse::findings::{
    CaseFinding, CeilingFinding, CheckResult, CheckStatus, OpFinding, ProberFinding, Quantile, QuantileValue,
    TargetFinding,
};
use stend_analyse::io_log::in_words;
use stend_base::{Lang, Say, format, say};
use table::Detail;

/// Narrower terminals are treated as this wide: words would break into letters.
const WIDTH_MIN: usize = 40;
/// Wider terminals are used up to this: longer lines are hard to read.
const WIDTH_MAX: usize = 110;

/// What `stend show -v` prints, at most `width` columns wide (40 at least).
/// Escape codes only with `colour`; no meaning is in colour alone.
pub fn text(findings: &Findings, lang: Lang, width: usize, colour: bool) -> String {
    let screen = screen(lang, width, colour);
    let mut out = screen.faint(&screen.paragraph(origin(findings).get(lang)));
    out.push_str(&screen.bold(&screen.paragraph(findings.verdict.get(lang))));
    for caveat in findings.caveats.iter().filter(|c| words::is_ending(c)) {
        out.push_str(&screen.alarm(&paragraph("✖ ", caveat.say().get(lang), screen.width)));
    }
    out.push_str(&screen.paragraph(findings.grade.banner.get(lang)));
    out.push_str(&faults::tables(&findings.faults, &screen));
    out.push_str(&beside(findings, &screen));
    out.push_str(&checks(&findings.cases, &[CheckStatus::Fail, CheckStatus::Warn], &screen));
    out.push_str(&list(
        &say!("Not run", "Не выполнено"),
        &screen,
        findings.not_run.iter().map(|case| {
            let reason = case.reason.get(lang);
            ("–".to_string(), format!("{}: {reason}", case.label))
        }),
    ));
    out.push_str(&list(
        &say!("Caveats", "Оговорки"),
        &screen,
        findings
            .caveats
            .iter()
            .filter(|c| !words::is_ending(c))
            .map(|caveat| ("!".to_string(), caveat.say().get(lang).to_string())),
    ));
    out.push('\n');
    match findings.density.as_slice() {
        [] => out.push_str(&table::table(&findings.cases, Detail::Full, &screen)),
        found => out.push_str(&density::tables(found, &screen)),
    }
    out
}

/// Lines about cases beside their table.
fn beside(findings: &Findings, screen: &Screen) -> String {
    let (lang, mut out) = (screen.lang, String::new());
    out.push_str(&list(
        &say!("By target", "По объектам"),
        screen,
        findings
            .cases
            .iter()
            .flat_map(|case| case.targets.iter().map(move |target| (case, target)))
            .map(|(case, target)| ("–".to_string(), one_target(case, target, lang))),
    ));
    out.push_str(&load_hosts::tables(findings, screen));
    out.push_str(&sources::lines(findings, screen));
    out.push_str(&list(
        &say!("Precision", "Точность"),
        screen,
        least_precise(&findings.cases).map(|(label, said)| ("–".to_string(), format!("{label}: {}", said.get(lang)))),
    ));
    out.push_str(&list(&say!("What bounds it", "Чем ограничено"), screen, bounds(&findings.cases, lang).into_iter()));
    out.push_str(&list(
        &say!("Before measuring", "Перед измерением"),
        screen,
        findings
            .cases
            .iter()
            .filter_map(|case| Some((case, case.steady.as_ref()?)))
            .map(|(case, steady)| ("–".to_string(), format!("{}: {}", case.label, steady.say().get(lang)))),
    ));
    out.push_str(&list(
        &say!("Two levels", "Два уровня"),
        screen,
        findings
            .cases
            .iter()
            .filter_map(|case| Some((case, case.levels.as_ref()?)))
            .map(|(case, levels)| ("–".to_string(), format!("{}: {}", case.label, levels.say().get(lang)))),
    ));
    out.push_str(&list(
        &say!("Gain from more I/Os in flight", "Что даёт глубина и параллельность"),
        screen,
        findings.sweeps.iter().map(|sweep| ("–".to_string(), format!("{}: {}", sweep.label, sweep.say().get(lang)))),
    ));
    out.push_str(&numa::matrices(&findings.numa, screen));
    out.push_str(&list(
        &say!("Replayed", "Воспроизведено"),
        screen,
        findings
            .cases
            .iter()
            .flat_map(|case| case.replays.iter().map(move |replay| (case, replay)))
            .map(|(case, replay)| ("–".to_string(), format!("{}: {}", case.label, replay.say().get(lang)))),
    ));
    let logs: Vec<_> = findings.cases.iter().flat_map(|case| case.io_logs.iter().copied()).collect();
    out.push_str(&list(
        &say!("Log of every I/O", "Журнал операций"),
        screen,
        in_words(&logs).map(|said| ("–".to_string(), said.get(lang).to_string())).into_iter(),
    ));
    out.push_str(&list(
        &say!("Probed", "Пробы"),
        screen,
        findings
            .cases
            .iter()
            .filter_map(|case| Some((case, case.prober.as_ref().map(ProberFinding::say).or(case.no_prober.clone())?)))
            .map(|(case, said)| ("–".to_string(), format!("{}: {}", case.label, said.get(lang)))),
    ));
    out
}

/// What bounds each case; what is not known of several for the same reason is said once.
fn bounds(cases: &[CaseFinding], lang: Lang) -> Vec<(String, String)> {
    let told: Vec<(&str, &CeilingFinding, Say)> = cases
        .iter()
        .filter_map(|case| Some((case, case.ceiling.as_ref()?)))
        .map(|(c, f)| (&*c.label, f, f.not_known()))
        .collect();
    let alike = |text: &Say| told.iter().filter(|(.., other)| other == text).count();
    let line = |(label, found, not_known): &(&str, &CeilingFinding, Say)| {
        let text = if alike(not_known) > 1 { found.known() } else { found.say() };
        ("–".to_string(), format!("{label}: {}", text.get(lang)))
    };
    let mut lines: Vec<(String, String)> = told.iter().map(line).collect();
    let mut shared: Vec<&Say> = Vec::new();
    for (.., text) in told.iter().filter(|(.., text)| !text.en.is_empty() && alike(text) > 1) {
        if !shared.contains(&text) {
            shared.push(text);
            let n = alike(text);
            let of = say!("The same in {n} cases.", "Одинаково в нескольких случаях ({n}).");
            lines.push(("–".to_string(), format!("{} {}", of.get(lang), text.get(lang))));
        }
    }
    lines
}

/// The case that is farthest from being as precise as it should, if any is not; the others are in the report.
fn least_precise(cases: &[CaseFinding]) -> impl Iterator<Item = (String, Say)> {
    let wide = cases.iter().filter_map(|case| Some((case, case.precision.as_ref().filter(|p| !p.is_reached())?)));
    let worst = wide.max_by(|(_, a), (_, b)| a.half_width.0.total_cmp(&b.half_width.0));
    worst.map(|(case, precision)| (case.label.clone(), precision.say())).into_iter()
}

/// A terminal of this width.
pub(crate) fn screen(lang: Lang, width: usize, colour: bool) -> Screen {
    Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour }
}

/// How to write on a terminal.
pub(crate) struct Screen {
    lang: Lang,
    width: usize,
    colour: bool,
}

impl Screen {
    /// Text in lines of its width.
    pub(crate) fn paragraph(&self, text: &str) -> String {
        paragraph("", text, self.width)
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.escape("1", text)
    }

    fn faint(&self, text: &str) -> String {
        self.escape("2", text)
    }

    /// Something is wrong: red, and never without its glyph.
    pub(crate) fn alarm(&self, text: &str) -> String {
        self.escape("31", text)
    }

    /// Codes go around each line, so that a pager or a cut line never leaves the terminal coloured.
    fn escape(&self, code: &str, text: &str) -> String {
        if !self.colour {
            return text.to_string();
        }
        let mut out = String::new();
        for line in text.split_inclusive('\n') {
            let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
            out.push_str(&format!("\u{1b}[{code}m{body}\u{1b}[0m{end}"));
        }
        out
    }
}

/// Checks of these results, each once with the cases it concerns.
fn checks(cases: &[CaseFinding], statuses: &[CheckStatus], screen: &Screen) -> String {
    let mut out = String::new();
    for (check, labels) in grouped(cases, statuses) {
        if out.is_empty() {
            out.push_str(&format!("\n{}\n", screen.bold(say!("Checks", "Проверки").get(screen.lang))));
        }
        out.push_str(&one_check(check, &labels, screen));
    }
    out
}

/// Checks of these results in this order, each with the labels of its cases.
pub(crate) fn grouped<'a>(cases: &'a [CaseFinding], statuses: &[CheckStatus]) -> Vec<(&'a CheckResult, Vec<&'a str>)> {
    let mut seen: Vec<(&CheckResult, Vec<&str>)> = Vec::new();
    for &status in statuses {
        for case in cases {
            for check in case.checks.iter().filter(|c| c.status == status) {
                match seen.iter_mut().find(|(c, _)| c.id == check.id && c.status == status) {
                    Some((_, labels)) => labels.push(&case.label),
                    None => seen.push((check, vec![&case.label])),
                }
            }
        }
    }
    seen
}

/// One check; its numbers only where it concerns a single case, its meaning always.
fn one_check(check: &CheckResult, labels: &[&str], screen: &Screen) -> String {
    let (lang, cases) = (screen.lang, labels.len());
    let name = check.name.get(lang);
    let whose = match (labels, lang) {
        ([label], _) => label.to_string(),
        (_, Lang::En) => format!("{cases} cases"),
        (_, Lang::Ru) => {
            format!("{cases} {}", stend_base::text::plural_ru(cases as u64, "случай", "случая", "случаев"))
        }
    };
    let mut text = format!("{} {name} ({whose}): ", check.id);
    if cases == 1 {
        let limit = say!("limit", "предел");
        text.push_str(&format!("{}, {} {}. ", check.measured.get(lang), limit.get(lang), check.limit.get(lang)));
    }
    text.push_str(check.meaning.get(lang));
    let line = paragraph(&format!("{} ", words::check_glyph(check.status)), &text, screen.width);
    if check.status == CheckStatus::Fail { screen.alarm(&line) } else { line }
}

/// One of several targets in a case: its rate, and by operation p50 and p99, of a mix also both rates.
fn one_target(case: &CaseFinding, target: &TargetFinding, lang: Lang) -> String {
    let numbers = rates::BOTH.map(|headline| rates::by_operation(&target.total, &target.ops, headline));
    let own_rates = |i: usize| {
        let shown = [0, 1].map(|n| rates::with_unit(&numbers[n][i], rates::BOTH[n]).get(lang).to_string());
        let known = shown.into_iter().filter(|text| case.is_mix() && text != figures::NONE);
        known.map(|text| text + ", ").collect::<String>()
    };
    let of_operation = |(i, op): (usize, &OpFinding)| {
        let at = |q: &Quantile| match q.value {
            QuantileValue::At(value) => {
                format!("{} {}", figures::quantile_name(q.q).get(lang), format::latency(value, lang))
            }
            QuantileValue::Above(value) => {
                format!("{} > {}", figures::quantile_name(q.q).get(lang), format::latency(value, lang))
            }
            QuantileValue::NotEnough { .. } | QuantileValue::Printed(_) => {
                format!("{} {}", figures::quantile_name(q.q).get(lang), figures::NONE)
            }
        };
        let told = op.quantiles.iter().take(2).map(at).collect::<Vec<_>>().join(", ");
        format!("{}: {}{told}", figures::op_name(case, op).get(lang), own_rates(i))
    };
    let operations = target.ops.iter().enumerate().map(of_operation).collect::<Vec<_>>().join("; ");
    let (label, target_name) = (&case.label, clean(&target.target));
    let total = rates::rate(target.total.of(case.headline), case.headline);
    format!("{label}, {target_name}: {}, {operations}", total.get(lang))
}

pub(crate) fn list(heading: &Say, screen: &Screen, items: impl Iterator<Item = (String, String)>) -> String {
    let mut out = String::new();
    for (glyph, text) in items {
        if out.is_empty() {
            out.push_str(&format!("\n{}\n", screen.bold(heading.get(screen.lang))));
        }
        out.push_str(&paragraph(&format!("{glyph} "), &text, screen.width));
    }
    out
}

/// Which run it was: suite, target, when and how long.
pub(crate) fn origin(findings: &Findings) -> Say {
    let id = clean(&findings.run);
    let run = findings.label.as_ref().map_or(id.clone(), |label| format!("{} ({id})", clean(label)));
    let (suite, target) = (clean(&findings.suite), clean(&on(&findings.targets, findings.stand.as_deref())));
    let (began, elapsed) = (utc(findings.started_unix), Say::both(|lang| format::duration(findings.elapsed, lang)));
    let (en, ru) = (elapsed.en, elapsed.ru);
    say!("{run}: {suite} on {target}, {began}, {en}", "{run}: {suite} на {target}, {began}, {ru}")
}

#[cfg(test)]
pub use layout::width;
#[cfg(test)]
mod tests;
