//! The run from its start to its end: the drawing, its legend, and the same as a table.

use super::Page;
use crate::markup::Markup;
use crate::svg;
use stend_analyse::chart::{Band, Mark};
use stend_analyse::{Row, Timeline};
use stend_base::{Nanos, Say, format, say};

const CAPTION: &str = "timeline-caption";
/// Rows of the table; a run with more phases, gaps and events has them in its run file.
const ROWS_MOST: usize = 60;

/// The section; nothing if no trial began.
pub fn section(m: &mut Markup, page: &Page) {
    let Some(timeline) = &page.timeline else { return };
    super::section(m, "timeline", &say!("Course of the run", "Ход прогона"), |m| {
        m.el("figure", "chart", |m| {
            m.with("figcaption", &[("id", CAPTION)], |m| m.line("span", "note", &timeline.summary));
            legend(m, timeline);
            m.el("div", "plot-box timeline", |m| svg::timeline(m, timeline, CAPTION, page.lang));
            table(m, timeline);
        });
    });
}

/// The kinds of stretches that there are.
fn legend(m: &mut Markup, timeline: &Timeline) {
    let any = |of: fn(&Row) -> &[(f64, f64)]| timeline.rows.iter().any(|row| !of(row).is_empty());
    let kinds = [
        ("measured", say!("measured", "измерение"), any(|row| &row.measured)),
        (
            "unmeasured",
            say!("ramp or rounds, not measured", "разгон или раунды, не измеряется"),
            any(|row| &row.unmeasured),
        ),
        ("broken", say!("did not end as planned", "не завершилось по плану"), any(|row| &row.broken)),
    ];
    m.el("ul", "legend", |m| {
        for (class, name, _) in kinds.iter().filter(|(_, _, present)| *present) {
            m.el("li", "", |m| {
                svg::stretch(m, class);
                m.say(name);
            });
        }
    });
}

/// Phases, gaps and events in the order of time.
fn table(m: &mut Markup, timeline: &Timeline) {
    let band = |band: &Band| (band.from, Some(band.to - band.from), band.label.clone());
    let event = |mark: &Mark| (mark.at, None, mark.name.clone());
    let bands = timeline.phases.iter().chain(&timeline.gaps).map(band);
    let mut all: Vec<(f64, Option<f64>, Say)> = bands.chain(timeline.events.iter().map(event)).collect();
    if all.is_empty() {
        return;
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.truncate(ROWS_MOST);
    let columns = [say!("What", "Что"), say!("begins at", "начало"), say!("lasts", "длится")];
    m.el("details", "data", |m| {
        m.line("summary", "", &say!("Data as a table", "Данные таблицей"));
        super::table(m, "numbers", &columns, |m| {
            for (at, length, name) in &all {
                m.el("tr", "", |m| {
                    m.with("th", &[("scope", "row")], |m| m.say(name));
                    m.line("td", "", &time(*at));
                    m.line("td", "", &length.map_or_else(|| Say::same(crate::figures::NONE), time));
                });
            }
        });
    });
}

fn time(seconds: f64) -> Say {
    Say::both(|lang| format::duration(Nanos((seconds * 1e9) as u64), lang))
}
