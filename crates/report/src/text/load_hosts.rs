//! The load hosts of a run on a terminal: what each of several did in each case.

use super::Screen;
use super::grid::{Column, Row, grid};
use super::layout::clean;
use crate::figures::{self, LatencyUnit, NONE};
use crate::hosts::{beside, clock, lost, of_cases, rates_of, shared};
use crate::rates;
use stend_analyse::Findings;
use stend_analyse::findings::{CaseFinding, Headline, HostFinding, HostsFinding, LoadHostFinding};
use stend_base::{Say, Share, format, say, say_in};

/// Percentiles that have a column.
const QUANTILES: [Share; 2] = [Share(0.5), Share(0.99)];

/// A table for each case, and the clocks; nothing where there is one host.
pub(super) fn tables(findings: &Findings, screen: &Screen) -> String {
    let (lang, mut out) = (screen.lang, String::new());
    if findings.hosts.is_empty() {
        return out;
    }
    out.push_str(&format!("\n{}\n", screen.bold(say!("By load host", "По нагружающим машинам").get(lang))));
    for said in lost(findings) {
        out.push_str(&screen.alarm(&super::paragraph("✖ ", &clean(said.get(lang)), screen.width)));
    }
    if let Some(said) = shared(findings) {
        out.push_str(&super::paragraph("", said.get(lang), screen.width));
    }
    let unit = LatencyUnit::for_cases(&findings.cases);
    for (case, found) in of_cases(findings) {
        let said = format!("{}: {}", clean(&case.label), beside(found).get(lang));
        out.push_str(&super::paragraph("– ", &said, screen.width));
        out.push_str(&rows(case, found, unit, screen));
    }
    if findings.hosts.iter().any(|host| host.clock.is_some()) {
        out.push_str(&clocks(&findings.hosts, screen));
    }
    out
}

fn rows(case: &CaseFinding, found: &HostsFinding, unit: LatencyUnit, screen: &Screen) -> String {
    let lang = screen.lang;
    let unit_name = unit.name();
    let named = |name: &Say| format!("{}, {}", name.get(lang), unit_name.get(lang));
    let column = |head: String, right| Column { head, right };
    let mut columns = vec![
        column(say!("load host", "машина").get(lang).to_string(), false),
        column(rates::unit(case.headline).get(lang).to_string(), true),
    ];
    let only = case.ops.len() == 1;
    for op in &case.ops {
        let of = figures::op_name(case, op);
        columns.extend(QUANTILES.map(|q| {
            let name = named(&figures::quantile_name(q));
            column(if only { name } else { format!("{} {name}", of.get(lang)) }, true)
        }));
    }
    let shown = rates_of(case, found);
    let of_host = |(host, rates): (&HostFinding, &[Say; 2])| {
        let rate = match case.headline {
            Headline::Iops => &rates[0],
            Headline::Throughput => &rates[1],
        };
        let mut cells = vec![rate.get(lang).to_string()];
        for op in &case.ops {
            let own = host.ops.iter().find(|own| (own.stream, own.op) == (op.stream, op.op));
            cells.extend((0..QUANTILES.len()).map(|at| {
                let quantile = own.and_then(|own| own.quantiles.get(at));
                quantile.map_or(NONE.to_string(), |quantile| figures::quantile(quantile, unit).get(lang).to_string())
            }));
        }
        Row { name: clean(&host.name), indent: 2, cells, tint: None }
    };
    let rows: Vec<Row> = found.hosts.iter().zip(&shown).map(of_host).collect();
    // What does not fit side by side stands below each other.
    grid(&columns, &rows, screen).unwrap_or_else(|| {
        let line = |row: &Row| {
            let told = columns[1..].iter().zip(&row.cells).map(|(column, cell)| format!("{} {cell}", column.head));
            super::paragraph("  ", &format!("{}: {}", row.name, told.collect::<Vec<_>>().join(", ")), screen.width)
        };
        rows.iter().map(line).collect()
    })
}

/// Offsets of clocks to that of the coordinator.
fn clocks(hosts: &[LoadHostFinding], screen: &Screen) -> String {
    let lang = screen.lang;
    let known = hosts.iter().filter(|host| host.clock.is_some());
    let line = |host: &LoadHostFinding| {
        let [offset, uncertain, drift] = clock(host.clock).map(|cell| cell.get(lang).to_string());
        let drifted = match drift.as_str() {
            NONE => String::new(),
            drift => say_in!(lang, ", drift {drift}", ", уход {drift}"),
        };
        format!("{} {offset} {uncertain}{drifted}", clean(&host.name))
    };
    let lines: Vec<String> = known.map(line).collect();
    let heading = say_in!(
        lang,
        "Clocks beside that of the coordinator ({hosts})",
        "Часы относительно часов координатора ({hosts})",
        hosts = format::count(lines.len() as u64)
    );
    super::paragraph("– ", &format!("{heading}: {}.", lines.join("; ")), screen.width)
}
