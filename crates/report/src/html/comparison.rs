//! A comparison as one HTML file in the style of the report: what changed, the cases relative to the
//! baseline, and what could not be compared.

use super::{figure, ratios};
use crate::comparison::verdict::{self, Tint};
use crate::comparison::{self, Line, gate, layers, matrix};
use crate::figures::NONE;
use crate::markup::Markup;
use std::collections::BTreeSet;
use stend_analyse::Comparison;
use stend_analyse::compare::Condition;
use stend_base::{Lang, Say, say};

/// A comparison as one HTML file that starts in `lang`.
pub fn comparison_html(comparison: &Comparison, lang: Lang) -> String {
    let title = title(comparison);
    super::document(&title, lang, |m| {
        m.raw("\n");
        m.el("header", "top", |m| header(m, comparison, &title));
        m.raw("\n");
        m.el("main", "", |m| {
            gated(m, comparison);
            if comparison.runs.len() <= matrix::FEW {
                pictures(m, comparison, lang);
            }
            if let Some(matrix) = matrix::of(comparison) {
                super::matrix::section(m, &matrix);
            }
            conditions(m, comparison);
            results(m, comparison);
            prices(m, comparison);
            lists(m, comparison);
        });
        m.raw("\n");
        m.el("footer", "", footer);
    })
}

/// `quick: /dev/nvme1n1 against /dev/nvme0n1`: by what tells the runs apart.
fn title(comparison: &Comparison) -> Say {
    let names = comparison::names(comparison);
    let Some((baseline, others)) = names.split_first() else { return say!("comparison", "сравнение") };
    let suites: BTreeSet<&str> = comparison.runs.iter().map(|run| run.suite.as_str()).collect();
    let suite = suites.first().filter(|_| suites.len() == 1).map_or(String::new(), |suite| format!("{suite}: "));
    if comparison.runs.len() > matrix::FEW {
        let (count, Say { en, ru }) = (others.len(), baseline);
        return say!("{suite}{count} runs against {en}", "{suite}прогоны против {ru}: {count}");
    }
    let listed = |lang| others.iter().map(|name| name.get(lang)).collect::<Vec<_>>().join(", ");
    let (en, ru, of_en, of_ru) = (listed(Lang::En), listed(Lang::Ru), &baseline.en, &baseline.ru);
    say!("{suite}{en} against {of_en}", "{suite}{ru} против {of_ru}")
}

fn header(m: &mut Markup, comparison: &Comparison, title: &Say) {
    super::bar(m);
    let told = verdict::summary(comparison);
    match told.split_first().filter(|_| comparison.runs.len() == 2) {
        Some((first, rest)) => {
            m.line("h1", "", first);
            rest.iter().for_each(|line| m.line("p", "lead", line));
            m.line("p", "meta", title);
        }
        None => {
            m.line("h1", "", title);
            told.iter().filter(|_| comparison.runs.len() <= matrix::FEW).for_each(|line| m.line("p", "lead", line));
        }
    }
    match comparison.runs.len() > matrix::FEW {
        true => m.el("details", "data", |m| {
            m.line("summary", "", &say!("The runs", "Прогоны"));
            runs(m, comparison);
        }),
        false => runs(m, comparison),
    }
}

fn runs(m: &mut Markup, comparison: &Comparison) {
    m.el("dl", "facts", |m| {
        for (i, run) in comparison.runs.iter().enumerate() {
            let letter = comparison::letter(i);
            m.el("div", "", |m| {
                m.line(
                    "dt",
                    "",
                    &if i == 0 { say!("{letter}, baseline", "{letter}, база") } else { Say::same(letter) },
                );
                m.line("dd", "", &comparison::describe(run));
            });
        }
    });
}

/// What a reader sees first: every ratio, and the rates side by side.
fn pictures(m: &mut Markup, comparison: &Comparison, lang: Lang) {
    if comparison.cases.is_empty() {
        return;
    }
    let heading = say!("How they compare, A = 100 %", "Как они соотносятся, A = 100 %");
    super::section(m, "ratios", &heading, |m| ratios::forest(m, comparison));
    let heading = say!("Rates, with their 95 % intervals", "Скорости с 95 %-ми интервалами");
    super::section(m, "rates", &heading, |m| ratios::sides(m, comparison));
    if comparison.charts.is_empty() {
        return;
    }
    super::section(m, "latency", &say!("Latency by percentile", "Задержка по процентилям"), |m| {
        m.el("div", "charts", |m| {
            comparison.charts.iter().for_each(|chart| figure::draw(m, chart, lang, crate::svg::WIDTH_COLUMN));
        });
    });
}

/// What the gate says, on top: it is what a machine decided by.
fn gated(m: &mut Markup, comparison: &Comparison) {
    let Some(found) = &comparison.gate else { return };
    super::section(m, "gate", &say!("Gate", "Порог"), |m| {
        super::gate::first(m, found);
        super::gate::lines(m, &gate::failures(comparison, found));
    });
}

fn conditions(m: &mut Markup, comparison: &Comparison) {
    super::section(m, "conditions", &say!("Changed conditions", "Изменившиеся условия"), |m| {
        if comparison.changed.is_empty() {
            m.line("p", "", &say!("No recorded condition changed.", "Записанные условия не изменились."));
        } else {
            condition_table(m, comparison, &comparison.changed);
        }
        if !comparison.follow.is_empty() {
            m.el("details", "data", |m| {
                m.line("summary", "", &comparison::follow(comparison));
                condition_table(m, comparison, &comparison.follow);
            });
        }
        let same = comparison.same.len();
        m.el("details", "data", |m| {
            m.line("summary", "", &say!("The same in all runs: {same}", "Одинаковы во всех прогонах: {same}"));
            let rows = comparison.same.iter().filter_map(|c| Some((c.name.clone(), c.values.first()?.clone())));
            super::facts(m, &rows.collect::<Vec<_>>());
        });
        super::limits::folded(m);
    });
}

fn condition_table(m: &mut Markup, comparison: &Comparison, conditions: &[Condition]) {
    if comparison.runs.len() > matrix::FEW {
        let rows = conditions.iter().map(|c| (c.name.clone(), comparison::arrows(&c.values)));
        return super::facts(m, &rows.collect::<Vec<_>>());
    }
    let letters = (0..comparison.runs.len()).map(|i| Say::same(comparison::letter(i)));
    let columns: Vec<Say> = [say!("Condition", "Условие")].into_iter().chain(letters).collect();
    super::table(m, "", &columns, |m| {
        for condition in conditions {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| m.say(&condition.name));
                for value in &condition.values {
                    m.el("td", "", |m| if value.en.is_empty() { m.raw(NONE) } else { m.say(value) });
                }
            });
        }
    });
}

/// The arms of one run side by side, as a section of its report.
pub(super) fn arms(m: &mut Markup, comparison: &Comparison) {
    super::section(m, "arms", &say!("Arms", "Варианты"), |m| {
        m.el("dl", "facts", |m| {
            for (i, arm) in comparison.runs.iter().enumerate() {
                let letter = comparison::letter(i);
                m.el("div", "", |m| {
                    m.line("dt", "", &Say::same(letter));
                    m.line("dd", "", &comparison::describe(arm));
                });
            }
        });
        m.line("h3", "", &say!("What differs between the arms", "Чем различаются варианты"));
        match comparison.changed.is_empty() {
            true => m.line("p", "", &say!("No recorded condition.", "Ничем из известного.")),
            false => condition_table(m, comparison, &comparison.changed),
        }
        m.line("h3", "", &say!("Results, A = 100 %", "Результаты, A = 100 %"));
        verdict::summary(comparison).iter().for_each(|line| m.line("p", "lead", line));
        ratios::forest(m, comparison);
        result_table(m, comparison);
    });
}

fn results(m: &mut Markup, comparison: &Comparison) {
    super::section(m, "results", &say!("Results, A = 100 %", "Результаты, A = 100 %"), |m| {
        match comparison.runs.len() > matrix::FEW {
            true => m.el("details", "data", |m| {
                m.line("summary", "", &say!("Every value of every run", "Каждое значение каждого прогона"));
                result_table(m, comparison);
            }),
            false => result_table(m, comparison),
        }
    });
}

/// What layers leave of the rates below them.
fn prices(m: &mut Markup, comparison: &Comparison) {
    let Some(note) = layers::note(comparison) else { return };
    super::section(m, "layers", &layers::heading(), |m| {
        let columns = [
            say!("Layer", "Слой"),
            say!("Case", "Случай"),
            say!("Left", "Остаётся"),
            say!("95 % interval", "95 %-й интервал"),
        ];
        super::table(m, "", &columns, |m| {
            for price in &comparison.layers {
                for (i, (name, ratio, interval)) in layers::lines(price).iter().enumerate() {
                    m.el("tr", "", |m| {
                        m.line("th", "", &if i == 0 { layers::title(price) } else { Say::same("") });
                        [name, ratio, interval].into_iter().for_each(|cell| m.line("td", "", cell));
                    });
                }
            }
        });
        m.line("p", "note", &note);
    });
}

fn result_table(m: &mut Markup, comparison: &Comparison) {
    if comparison.cases.is_empty() {
        let nothing = say!("No case of A is in another run.", "Ни одного случая из A в других прогонах нет.");
        return m.line("p", "", &nothing);
    }
    let columns = [
        say!("Case", "Случай"),
        match comparison.runs.iter().any(|run| run.arm.is_some()) {
            true => say!("Arm", "Вариант"),
            false => say!("Run", "Прогон"),
        },
        Say::same("A"),
        say!("Value", "Значение"),
        say!("Of A", "От A"),
        say!("95 % interval", "95 %-й интервал"),
        say!("Verdict", "Вердикт"),
    ];
    let scale = comparison::scale(comparison);
    super::table(m, "numbers", &columns, |m| {
        for case in &comparison.cases {
            comparison::lines(case, scale).iter().for_each(|line| row(m, line));
        }
        comparison::means(comparison).iter().for_each(|line| row(m, line));
    });
    how_sure(m, comparison);
    for note in comparison::notes(comparison) {
        m.line("p", "note", &note);
    }
    super::cases::check_table(m, &comparison.checks);
    let labels = verdict::labels(comparison);
    if !labels.is_empty() {
        m.el("ul", "caveats", |m| labels.iter().for_each(|label| m.line("li", "", label)));
    }
}

/// Probabilities and robust estimates, folded.
fn how_sure(m: &mut Markup, comparison: &Comparison) {
    let scale = comparison::scale(comparison);
    let lines: Vec<Line> = comparison.cases.iter().flat_map(|case| comparison::lines(case, scale)).collect();
    if lines.iter().all(|line| line.sure.is_none()) {
        return;
    }
    let columns = [
        say!("Case", "Случай"),
        Say::same(""),
        Say::same("p"),
        say!("p, Holm", "p, Холм"),
        say!("Hodges–Lehmann", "Ходжес–Леман"),
        say!("95 % interval", "95 %-й интервал"),
    ];
    m.el("details", "data", |m| {
        m.line(
            "summary",
            "",
            &say!("Confidence: probabilities and robust ratios", "Надёжность: вероятности и устойчивые отношения"),
        );
        super::table(m, "numbers", &columns, |m| {
            for line in &lines {
                let nothing = || Say::same(NONE);
                let cells = line.sure.as_ref().map_or_else(
                    || [nothing(), nothing(), nothing(), nothing()],
                    |s| [&s.p, &s.adjusted, &s.robust, &s.robust_interval].map(Say::clone),
                );
                m.el("tr", "", |m| {
                    name(m, line);
                    m.el("td", "", |m| m.text(&line.run));
                    cells.iter().for_each(|cell| m.line("td", "", cell));
                });
            }
        });
    });
}

fn name(m: &mut Markup, line: &Line) {
    m.with("th", &[("scope", "row")], |m| match line.first {
        true => m.text(&line.label.en),
        false => m.line("span", "code", &line.label),
    });
}

fn row(m: &mut Markup, line: &Line) {
    m.el("tr", "", |m| {
        name(m, line);
        m.el("td", "", |m| m.text(&line.run));
        for cell in [&line.baseline, &line.other, &line.ratio, &line.interval] {
            m.line("td", "", cell);
        }
        let class = match line.tint {
            Some(Tint::Better) => "judged better",
            Some(Tint::Worse) => "judged worse",
            None => "judged",
        };
        m.line("td", class, &line.verdict);
    });
}

fn lists(m: &mut Markup, comparison: &Comparison) {
    let lists = [
        ("failed", say!("Do not compare these", "Сравнивать нельзя"), comparison::failed(comparison)),
        (
            "redefined",
            say!("Same name, other workload", "Одно имя, разная нагрузка"),
            comparison::redefined(comparison),
        ),
        ("unmatched", say!("Not in all runs", "Есть не во всех прогонах"), comparison::unmatched(comparison)),
    ];
    for (id, heading, items) in lists.iter().filter(|(_, _, items)| !items.is_empty()) {
        super::section(m, id, heading, |m| {
            m.el("ul", "caveats", |m| items.iter().for_each(|item| m.line("li", "", item)));
        });
    }
}

fn footer(m: &mut Markup) {
    m.line(
        "p",
        "",
        &say!(
            "Computed from the run files, which hold only observations. The reader decides which difference does not matter: `--margin`.",
            "Вычислено по файлам прогонов, в которых только наблюдения. Какое различие не важно, решает читатель: `--margin`."
        ),
    );
}
