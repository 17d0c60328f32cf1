//! The report: one HTML file that opens from disk, without network and without scripts, in both
//! languages at once; a pair of radio inputs decides which one the style sheet shows.

pub mod audit;
mod bars;
mod cases;
pub mod comparison;
mod density;
mod faults;
mod figure;
mod first;
mod gate;
pub mod history;
mod hosts;
mod imported;
mod latency;
mod limits;
mod matrix;
mod method;
mod numa;
pub mod published;
mod ratios;
pub mod recording;
mod results;
mod sources;
mod summary;
mod system;
mod targets;
mod timeline;

use crate::figures::LatencyUnit;
use crate::markup::Markup;
use stend_analyse::compare::{GateFinding, Options};
use stend_analyse::{Comparison, Findings, Timeline};
use stend_base::{Lang, Say, say};
use stend_record::RunRecord;

/// The whole look of the page.
const STYLE: &str = include_str!("style.css");
/// Nothing may be fetched from anywhere, not even by a mistake of ours.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// What every part of the page draws from.
struct Page<'a> {
    findings: &'a Findings,
    run: &'a RunRecord,
    /// What the run was held against.
    gate: Option<&'a GateFinding>,
    /// The arms of the run against each other, if it has any.
    arms: Option<Comparison>,
    /// The whole run on one axis of time.
    timeline: Option<Timeline>,
    /// Language of the title and of the switch's first state.
    lang: Lang,
    /// The one unit of latency of all tables.
    unit: LatencyUnit,
}

/// The report of a run as one HTML file that starts in `lang`. Printed it is its first screen, the results and what to keep in mind.
pub fn html(findings: &Findings, run: &RunRecord, lang: Lang) -> String {
    gated_html(findings, run, None, false, lang)
}

/// The same with what a gate says of the run; printed `full` it is everything.
pub fn gated_html(findings: &Findings, run: &RunRecord, gate: Option<&GateFinding>, full: bool, lang: Lang) -> String {
    // The plan was made once to get at the findings; where it could not be, there are no arms either.
    let arms = stend_analyse::compare_arms(run, findings, &Options::default()).unwrap_or_default();
    let timeline = stend_analyse::timeline(run, findings);
    let page = Page { findings, run, gate, arms, timeline, lang, unit: LatencyUnit::for_cases(&findings.cases) };
    let printed = if full { "" } else { "short" };
    document(&summary::title(findings), lang, |m| body(m, &page, printed))
}

/// A whole file: style and language switch around a body of `header`, `main` and `footer`.
fn document(title: &Say, lang: Lang, inside: impl FnOnce(&mut Markup)) -> String {
    let mut m = Markup::new();
    m.raw("<!doctype html>\n");
    m.with("html", &[("lang", lang.tag())], |m| {
        m.el("head", "", |m| head(m, title, lang));
        m.raw("\n");
        m.el("body", "", |m| {
            switch(m, lang);
            inside(m);
        });
    });
    m.raw("\n");
    m.finish()
}

fn head(m: &mut Markup, title: &Say, lang: Lang) {
    m.start("meta", &[("charset", "utf-8")]);
    m.raw(crate::ours::GENERATOR);
    m.start("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    m.start("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
    m.start("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    m.el("title", "", |m| m.text(title.get(lang)));
    m.el("style", "", |m| m.raw(STYLE));
}

/// The inputs of the switch come first: the style sheet finds everything else as their sibling.
fn switch(m: &mut Markup, first: Lang) {
    for lang in [Lang::En, Lang::Ru] {
        let id = format!("lang-{}", lang.tag());
        let mut attributes = vec![("class", "switch"), ("type", "radio"), ("name", "lang"), ("id", id.as_str())];
        attributes.push(("aria-label", language(lang)));
        if lang == first {
            attributes.push(("checked", "checked"));
        }
        m.start("input", &attributes);
    }
}

/// Top line of every page: whose it is, and the labels of the switch.
fn bar(m: &mut Markup) {
    m.el("div", "bar", |m| {
        m.el("span", "brand", |m| m.raw("Stend"));
        m.el("span", "languages", |m| {
            for lang in [Lang::En, Lang::Ru] {
                let id = format!("lang-{}", lang.tag());
                m.with("label", &[("for", &id), ("lang", lang.tag())], |m| m.text(language(lang)));
            }
        });
    });
}

fn body(m: &mut Markup, page: &Page, printed: &'static str) {
    m.with("a", &[("class", "skip"), ("href", "#results")], |m| {
        m.say(&say!("Skip to the results", "К результатам"));
    });
    m.raw("\n");
    m.el("header", "top", |m| summary::header(m, page));
    m.raw("\n");
    m.el("main", printed, |m| {
        page.arms.iter().for_each(|arms| comparison::arms(m, arms));
        if page.findings.density.is_empty() {
            results::section(m, page);
        } else {
            density::section(m, page);
        }
        timeline::section(m, page);
        faults::section(m, page);
        summary::caveats(m, page);
        across(m, page);
        numa::section(m, page);
        cases::section(m, page);
        not_run(m, page);
        sources::all(m, page);
        whole_run(m, page);
        method::section(m, page);
        system::section(m, page);
        system::repeat(m, page);
        m.el("p", "note printed-short", |m| {
            m.say(&say!(
                "This is the short print; `stend report --full` makes a page that prints completely.",
                "Это краткая печать; страницу, которая печатается целиком, делает `stend report --full`."
            ));
        });
    });
    m.raw("\n");
    m.el("footer", "", |m| summary::footer(m, page));
}

/// A language's own name.
fn language(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "English",
        Lang::Ru => "Русский",
    }
}

/// A section with an anchor and a heading.
fn section(m: &mut Markup, id: &'static str, heading: &Say, inside: impl FnOnce(&mut Markup)) {
    m.raw("\n");
    m.with("section", &[("id", id)], |m| {
        m.line("h2", "", heading);
        inside(m);
    });
}

/// A table in a box of its own that scrolls when it is wider than the screen.
fn table(m: &mut Markup, class: &'static str, columns: &[Say], rows: impl FnOnce(&mut Markup)) {
    m.with("div", &[("class", "scroll"), ("tabindex", "0")], |m| {
        m.el("table", class, |m| {
            m.el("thead", "", |m| {
                m.el("tr", "", |m| {
                    for column in columns {
                        m.with("th", &[("scope", "col")], |m| m.say(column));
                    }
                });
            });
            m.el("tbody", "", rows);
        });
    });
}

/// A list of names and values.
fn facts(m: &mut Markup, rows: &[(Say, Say)]) {
    m.el("dl", "facts", |m| {
        for (name, value) in rows.iter().filter(|(_, value)| !value.en.is_empty()) {
            m.el("div", "", |m| {
                m.line("dt", "", name);
                m.line("dd", "", value);
            });
        }
    });
}

fn not_run(m: &mut Markup, page: &Page) {
    if page.findings.not_run.is_empty() {
        return;
    }
    section(m, "not-run", &say!("Not run", "Не выполнено"), |m| {
        table(m, "", &[say!("Case", "Случай"), say!("Reason", "Причина")], |m| {
            for case in &page.findings.not_run {
                m.el("tr", "", |m| {
                    m.with("th", &[("scope", "row")], |m| m.text(&case.label));
                    m.line("td", "", &case.reason);
                });
            }
        });
    });
}

/// Charts that hold cases against each other.
fn across(m: &mut Markup, page: &Page) {
    if page.findings.across.is_empty() {
        return;
    }
    section(m, "across", &say!("Across cases", "Сравнение случаев"), |m| {
        for sweep in &page.findings.sweeps {
            m.el("p", "about", |m| {
                m.el("b", "", |m| m.text(&sweep.label));
                m.raw(": ");
                m.say(&sweep.say());
            });
        }
        m.el("div", "charts", |m| {
            for chart in &page.findings.across {
                figure::draw(m, chart, page.lang, crate::svg::WIDTH_COLUMN);
            }
        });
    });
}

fn whole_run(m: &mut Markup, page: &Page) {
    if page.findings.charts.is_empty() {
        return;
    }
    section(m, "whole-run", &say!("The whole run", "Весь прогон"), |m| {
        m.el("div", "charts wide", |m| {
            for chart in &page.findings.charts {
                figure::draw(m, chart, page.lang, crate::svg::WIDTH_PAGE);
            }
        });
    });
}

#[cfg(test)]
mod tests;
