//! The load hosts of a run: a table in the card of each case, and one of the machines with their clocks.

use super::latency::{mean, quantile_cell};
use super::{Page, table};
use crate::figures::{self, NONE};
use crate::hosts::{beside, clock, lost, rates_of, shared};
use crate::markup::Markup;
use stend_analyse::findings::{CaseFinding, HostFinding, LoadHostFinding, OpFinding};
use stend_base::{Bytes, Say, format, say};

/// What each host did in a case; nothing where there is one.
pub(super) fn table_of(m: &mut Markup, page: &Page, case: &CaseFinding) {
    let Some(found) = &case.hosts else { return };
    let Some(first) = found.hosts.iter().find_map(|host| host.ops.first()) else { return };
    m.line("h4", "", &say!("By load host", "По нагружающим машинам"));
    m.line("p", "note", &beside(found));
    let unit = page.unit.name();
    let named = |name: Say| {
        let (en, ru, unit_en, unit_ru) = (name.en, name.ru, &unit.en, &unit.ru);
        say!("{en}, {unit_en}", "{ru}, {unit_ru}")
    };
    let mut columns = vec![
        say!("Load host", "Машина"),
        Say::same("IOPS"),
        say!("MB/s", "МБ/с"),
        say!("Operation", "Операция"),
        say!("I/Os", "Операций"),
        named(say!("mean", "среднее")),
    ];
    columns.extend(first.quantiles.iter().map(|q| named(figures::quantile_name(q.q))));
    columns.push(named(say!("max", "макс.")));
    let rates = rates_of(case, found);
    table(m, "numbers", &columns, |m| {
        for (host, rates) in found.hosts.iter().zip(&rates) {
            rows(m, page, (case, host), rates);
        }
    });
    for (host, ceiling) in found.hosts.iter().filter_map(|host| Some((host, host.ceiling.as_ref()?))) {
        m.el("p", "note", |m| {
            m.el("b", "", |m| m.text(&host.name));
            m.raw(": ");
            m.say(&ceiling.known());
        });
    }
}

/// A row for each operation of a host; its rates are in the first.
fn rows(m: &mut Markup, page: &Page, (case, host): (&CaseFinding, &HostFinding), rates: &[Say; 2]) {
    let none: &[Option<&OpFinding>] = &[None];
    let ops: Vec<Option<&OpFinding>> = host.ops.iter().map(Some).collect();
    for (at, op) in (if ops.is_empty() { none } else { &ops }).iter().enumerate() {
        m.el("tr", "", |m| {
            m.with("th", &[("scope", "row")], |m| m.text(if at == 0 { &host.name } else { "" }));
            for rate in rates {
                m.line("td", "", if at == 0 { rate } else { const { &Say { en: String::new(), ru: String::new() } } });
            }
            let Some(op) = op else { return };
            m.line("td", "", &figures::op_name(case, op));
            m.el("td", "", |m| m.text(&format::count(op.count)));
            m.line("td", "", &mean(page, figures::known(op, op.latency_mean_ns)));
            for quantile in &op.quantiles {
                m.el("td", "", |m| quantile_cell(m, page, quantile));
            }
            m.line("td", "", &figures::latency_max(figures::largest(op), op.censored, page.unit));
        });
    }
}

/// The machines; nothing where there is one.
pub(super) fn machines(m: &mut Markup, page: &Page) {
    if page.findings.hosts.is_empty() {
        return;
    }
    m.line("h3", "", &say!("Load hosts", "Нагружающие машины"));
    for said in lost(page.findings).into_iter().chain(shared(page.findings)) {
        m.line("p", "note", &said);
    }
    let columns = [
        say!("Load host", "Машина"),
        say!("Host", "Хост"),
        say!("Kernel", "Ядро"),
        say!("CPUs", "Процессоры"),
        say!("Target", "Объект"),
        say!("Clock offset", "Сдвиг часов"),
        say!("Uncertainty", "Неопределённость"),
        say!("Drift over", "Уход за"),
        say!("Worker, CPUs", "Исполнитель, процессоров"),
        say!("Worker, memory", "Исполнитель, память"),
    ];
    table(m, "numbers", &columns, |m| {
        page.findings.hosts.iter().for_each(|host| machine(m, page, host));
    });
    m.line(
        "p",
        "note",
        &say!(
            "Times of a host with a clock of its own were moved by the offset when they arrived; they may be off by the uncertainty.",
            "Времена машины со своими часами сдвинуты при получении и могут быть смещены на величину неопределённости."
        ),
    );
}

fn machine(m: &mut Markup, page: &Page, host: &LoadHostFinding) {
    let record = page.run.hosts().get(host.host.index());
    let facts = record.and_then(|record| record.facts.as_ref());
    let text = |of: Option<String>| Say::same(of.unwrap_or_else(|| NONE.to_string()));
    let targets = record.map(|record| stend_record::targets::names(&record.targets).join(", "));
    m.el("tr", "", |m| {
        m.with("th", &[("scope", "row")], |m| m.text(&host.name));
        m.line("td", "", &text(facts.map(|facts| facts.hostname.clone())));
        m.line("td", "", &text(facts.map(|facts| facts.kernel.clone())));
        m.line("td", "", &text(facts.map(|facts| facts.cpus.to_string())));
        m.line("td", "", &text(targets));
        clock(host.clock).iter().for_each(|cell| m.line("td", "", cell));
        let cpus = host.cost.worker_cpus;
        m.line("td", "", &cpus.map_or(Say::same(NONE), |cpus| Say::both(|lang| format::fixed(cpus, 2, lang))));
        let memory = |bytes: Bytes| Say::both(|lang| format::bytes(bytes, lang));
        m.line("td", "", &host.cost.worker_memory.map_or(Say::same(NONE), memory));
    });
}
