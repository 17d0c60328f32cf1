//! Many runs in the order of time as one HTML file: what changed and stayed so, and each case as a chart.

use super::{bar, document, figure, section};
use crate::history::{Changed, changes, conditions, left_out, short, short_heading, steady, title};
use crate::markup::Markup;
use crate::svg::WIDTH_PAGE;
use stend_analyse::history::History;
use stend_base::{Lang, Say, say};

/// A history as one HTML file that starts in `lang`.
pub fn history_html(history: &History, changed: &Changed, lang: Lang) -> String {
    let title = title(history);
    document(&title, lang, |m| {
        m.raw("\n");
        m.el("header", "top", |m| {
            bar(m);
            m.line("h1", "", &title);
            m.line("p", "verdict", &verdict(history));
        });
        m.raw("\n");
        m.el("main", "", |m| {
            lines(m, "changed", &say!("Changed for good", "Изменилось и осталось таким"), &changes(history));
            let heading = say!("What else changed right after it", "Что ещё стало другим сразу после этого");
            lines(m, "conditions", &heading, &conditions(history, changed));
            charts(m, history, lang);
            let heading = say!("No lasting change of 5 % or more", "Стойких изменений от 5 % нет");
            lines(m, "steady", &heading, &steady(history));
            lines(m, "short", &short_heading(), &short(history));
            let heading = say!("Left out, because a check failed", "Не учтено: проверка не пройдена");
            lines(m, "left-out", &heading, &left_out(history));
        });
    })
}

fn verdict(history: &History) -> Say {
    let count = history.series.iter().map(|series| series.changes.len()).sum::<usize>();
    let all_short = !history.series.is_empty() && history.series.iter().all(|series| series.is_short());
    match count {
        0 if all_short => say!(
            "There are too few runs to tell whether anything changed for good.",
            "Прогонов слишком мало, чтобы судить, изменилось ли что-то стойко."
        ),
        0 => say!("No value changed for good by 5 % or more.", "Ни одна величина не изменилась стойко на 5 % и более."),
        _ => say!("Lasting changes: {count}.", "Стойких изменений: {count}."),
    }
}

fn lines(m: &mut Markup, id: &'static str, heading: &Say, lines: &[Say]) {
    if !lines.is_empty() {
        section(m, id, heading, |m| m.el("ul", "", |m| lines.iter().for_each(|line| m.line("li", "", line))));
    }
}

fn charts(m: &mut Markup, history: &History, lang: Lang) {
    let (charts, left_out) = stend_analyse::history_charts(history);
    if charts.is_empty() {
        return;
    }
    section(m, "cases", &say!("Cases over the runs", "Случаи по прогонам"), |m| {
        if left_out > 0 {
            let text = say!(
                "Cases without a change that are not drawn: {left_out}.",
                "Не изображено случаев без изменений: {left_out}."
            );
            m.line("p", "note", &text);
        }
        m.el("div", "charts wide", |m| charts.iter().for_each(|chart| figure::draw(m, chart, lang, WIDTH_PAGE)));
    });
}
