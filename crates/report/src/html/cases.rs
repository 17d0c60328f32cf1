//! One card per case: rates, latencies by operation, checks, charts.

use super::latency::{mean, quantile_cell};
use super::results::{checks, failed, number};
use super::{Page, figure, hosts, table, targets};
use crate::figures;
use crate::markup::Markup;
use crate::{rates, words};
use stend_analyse::findings::{CaseFinding, CheckResult, CheckStatus, Headline, OpFinding, ProberFinding, Service};
use stend_analyse::io_log::in_words;
use stend_analyse::submitted;
use stend_base::{Say, format, say};

/// The section. The first card is open: it shows what the others hold.
pub fn section(m: &mut Markup, page: &Page) {
    if page.findings.cases.is_empty() {
        return;
    }
    super::section(m, "cases", &say!("Case by case", "Подробно по случаям"), |m| {
        for (i, case) in page.findings.cases.iter().enumerate() {
            let class = if failed(case) { "card void" } else { "card" };
            let open = [("class", class), ("open", "open")];
            m.with("details", if i == 0 { &open } else { &open[..1] }, |m| card(m, page, case));
        }
    });
}

fn card(m: &mut Markup, page: &Page, case: &CaseFinding) {
    m.el("summary", "", |m| {
        m.el("h3", "", |m| m.text(&case.label));
        m.el("span", "figure", |m| {
            let estimate = case.total.of(case.headline);
            m.line("b", "", &rates::of_headline(case));
            if let Some(spread) = figures::plus_minus(estimate).filter(|_| case.levels.is_none()) {
                m.raw(" ");
                m.say(&spread);
            }
        });
        m.el("span", "checks", |m| checks(m, case));
    });
    // The anchor is inside the card: following a link to it opens the card.
    let anchor = format!("case-{}", number(case));
    m.with("div", &[("class", "body"), ("id", &anchor)], |m| {
        m.el("p", "about", |m| {
            m.say(&case.workload);
            m.raw(" · ");
            m.say(&words::trials(case.trials));
            if case.trials_left_out > 0 {
                let n = case.trials_left_out;
                m.raw(", ");
                m.say(&say!("{n} left out", "{n} не учтено"));
            }
        });
        if let Some(precision) = &case.precision {
            m.line("p", "about", &precision.say());
        }
        if let Some(steady) = &case.steady {
            m.line("p", "about", &steady.say());
        }
        if let Some(levels) = &case.levels {
            m.line("p", "about", &levels.say());
        }
        if let Some(ceiling) = &case.ceiling {
            m.line("p", "about", &ceiling.say());
        }
        for replay in &case.replays {
            m.line("p", "about", &replay.say());
        }
        if let Some(logs) = in_words(&case.io_logs) {
            m.line("p", "about", &log(logs));
        }
        if let Some(said) = case.submissions.and_then(submitted::say) {
            m.line("p", "about", &said);
        }
        let probed = case.prober.as_ref().map(ProberFinding::say);
        for said in probed.iter().chain(&case.no_prober) {
            m.line("p", "about", said);
        }
        rates(m, case);
        operations(m, page, case);
        targets::table_of(m, page, case);
        hosts::table_of(m, page, case);
        check_table(m, &case.checks);
        m.el("div", "charts", |m| {
            for chart in &case.charts {
                figure::draw(m, chart, page.lang, crate::svg::WIDTH_COLUMN);
            }
        });
    });
}

/// The logs of a case under their name.
fn log(Say { en, ru }: Say) -> Say {
    say!("Log of every I/O: {en}", "Журнал операций: {ru}")
}

/// Both rates with their intervals and where these come from.
fn rates(m: &mut Markup, case: &CaseFinding) {
    let rows = [
        (say!("I/Os per second", "Операций в секунду"), Headline::Iops, &case.total.iops),
        (say!("Throughput", "Пропускная способность"), Headline::Throughput, &case.total.throughput),
    ];
    m.el("dl", "rates", |m| {
        // The mean of two levels is neither.
        let is_shown = |headline| case.levels.as_ref().is_none_or(|levels| levels.of == headline);
        for (name, headline, estimate) in rows.into_iter().filter(|(_, headline, _)| is_shown(*headline)) {
            m.el("div", "", |m| {
                m.line("dt", "", &name);
                m.el("dd", "", |m| {
                    if case.levels.is_some() {
                        return m.line("b", "", &rates::of_headline(case));
                    }
                    m.line("b", "", &rates::rate(estimate, headline));
                    if let Some(interval) = figures::interval(estimate, headline) {
                        m.line("span", "note", &interval);
                    }
                    m.line("span", "note", &words::basis(&estimate.basis));
                });
            });
        }
    });
}

fn operations(m: &mut Markup, page: &Page, case: &CaseFinding) {
    let unit = page.unit.name();
    let named = |name: Say| {
        let (en, ru, unit_en, unit_ru) = (name.en, name.ru, &unit.en, &unit.ru);
        say!("{en}, {unit_en}", "{ru}, {unit_ru}")
    };
    let mut columns =
        vec![say!("Operation", "Операция"), Say::same("IOPS"), say!("MB/s", "МБ/с"), say!("I/Os", "Операций")];
    columns.push(named(say!("mean", "среднее")));
    let quantiles = case.ops.first().map_or(&[][..], |op| &op.quantiles);
    columns.extend(quantiles.iter().map(|q| named(figures::quantile_name(q.q))));
    columns.push(named(say!("max", "макс.")));
    table(m, "numbers", &columns, |m| {
        let [iops, throughput] = rates::BOTH.map(|headline| rates::of_operations(case, headline));
        for ((op, iops), throughput) in case.ops.iter().zip(&iops).zip(&throughput) {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| m.say(&figures::op_name(case, op)));
                m.line("td", "", iops);
                m.line("td", "", throughput);
                m.el("td", "", |m| {
                    m.text(&format::count(op.count));
                    if op.censored > 0 {
                        let n = format::count(op.censored);
                        m.line("span", "note", &say!("end of {n} not seen", "конец {n} не наблюдался"));
                    }
                });
                m.line("td", "", &mean(page, figures::known(op, op.latency_mean_ns)));
                for quantile in &op.quantiles {
                    m.el("td", "", |m| quantile_cell(m, page, quantile));
                }
                m.line("td", "", &figures::latency_max(figures::largest(op), op.censored, page.unit));
            });
            if let Some(service) = &op.service {
                service_row(m, page, op, service);
            }
        }
    });
}

/// The second row of an open loop: latencies without the wait for a place in flight.
fn service_row(m: &mut Markup, page: &Page, op: &OpFinding, service: &Service) {
    m.el("tr", "", |m| {
        m.with("th", &[("scope", "row")], |m| m.say(&words::service()));
        (0..3).for_each(|_| m.el("td", "", |_| {}));
        m.line("td", "", &mean(page, figures::known(op, service.mean_ns)));
        for quantile in &service.quantiles {
            m.el("td", "", |m| quantile_cell(m, page, quantile));
        }
        m.line("td", "", &figures::latency_max(figures::known(op, service.max), service.censored, page.unit));
    });
}

/// Checks that speak against the numbers with what they mean, failed ones before warnings; the others in a folded line for each result.
pub(super) fn check_table(m: &mut Markup, checks: &[CheckResult]) {
    let of = |statuses: &[CheckStatus]| -> Vec<&CheckResult> {
        statuses.iter().flat_map(|status| checks.iter().filter(move |check| check.status == *status)).collect()
    };
    check_rows(m, &of(&[CheckStatus::Fail, CheckStatus::Warn]));
    for status in [CheckStatus::NotMeasurable, CheckStatus::Pass] {
        let found = of(&[status]);
        let Say { en, ru } = words::check_count(status, found.len() as u64);
        let glyph = words::check_glyph(status);
        folded(m, &say!("{glyph} {en}", "{glyph} {ru}"), &found);
    }
    let aside = of(&[CheckStatus::NotApplicable, CheckStatus::ScreeningOnly]);
    let count = aside.len();
    let summary = say!(
        "{count} that do not apply to this case, or only to published numbers",
        "{count}: не относятся к этому случаю или нужны лишь для публикации"
    );
    folded(m, &summary, &aside);
}

fn folded(m: &mut Markup, summary: &Say, checks: &[&CheckResult]) {
    if checks.is_empty() {
        return;
    }
    m.el("details", "folded", |m| {
        m.line("summary", "", summary);
        check_rows(m, checks);
    });
}

fn check_rows(m: &mut Markup, checks: &[&CheckResult]) {
    if checks.is_empty() {
        return;
    }
    let columns = [
        say!("Check", "Проверка"),
        say!("Result", "Итог"),
        say!("Measured", "Измерено"),
        say!("Limit", "Предел"),
        say!("What this means", "Что это значит"),
    ];
    table(m, "check-table", &columns, |m| {
        for check in checks {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| {
                    m.el("span", "code", |m| m.text(check.id.code()));
                    m.raw(" ");
                    m.say(&check.name);
                });
                m.el("td", "", |m| {
                    m.el("span", words::check_class(check.status), |m| {
                        m.text(words::check_glyph(check.status));
                        m.raw(" ");
                        m.say(&words::check(check.status));
                    });
                });
                for (name, value) in columns[2..4].iter().zip([&check.measured, &check.limit]) {
                    m.el("td", "", |m| {
                        m.line("span", "key", name);
                        m.say(value);
                    });
                }
                m.line("td", "", &check.meaning);
            });
        }
    });
}
