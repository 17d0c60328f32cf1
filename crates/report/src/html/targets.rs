//! The targets of a case apart: a table in its card, where every job works on one of several.

use super::latency::{mean, quantile_cell};
use super::{Page, table};
use crate::figures;
use crate::markup::Markup;
use crate::rates;
use stend_analyse::findings::CaseFinding;
use stend_base::{Say, format, say};

/// One row for each target and operation; nothing where targets are not told apart.
pub(super) fn table_of(m: &mut Markup, page: &Page, case: &CaseFinding) {
    let Some(first) = case.targets.iter().find_map(|target| target.ops.first()) else { return };
    m.line("h4", "", &say!("By target", "По объектам"));
    m.line(
        "p",
        "note",
        &say!(
            "Latencies do not include I/Os that ended after the window: their target is unknown.",
            "Задержки не включают операции, завершившиеся после окна: их объект неизвестен."
        ),
    );
    let unit = page.unit.name();
    let named = |name: Say| {
        let (en, ru, unit_en, unit_ru) = (name.en, name.ru, &unit.en, &unit.ru);
        say!("{en}, {unit_en}", "{ru}, {unit_ru}")
    };
    let mut columns = vec![
        say!("Target", "Объект"),
        say!("Operation", "Операция"),
        Say::same("IOPS"),
        say!("MB/s", "МБ/с"),
        say!("I/Os", "Операций"),
        named(say!("mean", "среднее")),
    ];
    columns.extend(first.quantiles.iter().map(|q| named(figures::quantile_name(q.q))));
    columns.push(named(say!("max", "макс.")));
    table(m, "numbers", &columns, |m| {
        for target in &case.targets {
            let [iops, throughput] =
                rates::BOTH.map(|headline| rates::by_operation(&target.total, &target.ops, headline));
            for ((op, iops), throughput) in target.ops.iter().zip(&iops).zip(&throughput) {
                m.el("tr", "", |m| {
                    m.with("th", &[("scope", "row")], |m| m.el("code", "", |m| m.text(&target.target)));
                    m.line("td", "", &figures::op_name(case, op));
                    m.line("td", "", iops);
                    m.line("td", "", throughput);
                    m.el("td", "", |m| m.text(&format::count(op.count)));
                    m.line("td", "", &mean(page, figures::known(op, op.latency_mean_ns)));
                    for quantile in &op.quantiles {
                        m.el("td", "", |m| quantile_cell(m, page, quantile));
                    }
                    m.line("td", "", &figures::latency_max(figures::largest(op), op.censored, page.unit));
                });
            }
        }
    });
}
