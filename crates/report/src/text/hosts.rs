//! What several hosts said of themselves: one table of which can measure, then each host with what it said.

use super::doctor::wrong;
use super::inspect::inspect_text;
use super::inventory::inventory_text;
use super::layout::{left, right, width};
use super::{WIDTH_MAX, WIDTH_MIN, paragraph};
use crate::machine::OfHost;
use stend_base::{Lang, say};
use stend_record::{Checkup, Level};

const GAP: &str = "  ";

/// The hosts in the order in which they were named.
pub fn hosts_text(hosts: &[OfHost<'_>], lang: Lang, columns: usize) -> String {
    let columns = columns.clamp(WIDTH_MIN, WIDTH_MAX);
    let mut out = if hosts.iter().any(|of| of.checkup.is_some()) { table(hosts, lang) } else { String::new() };
    for of in hosts {
        let said = said(of, lang, columns);
        if !said.is_empty() {
            let line = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{line}── {}\n{}", super::clean(of.host), said));
        }
    }
    out
}

fn said(of: &OfHost<'_>, lang: Lang, columns: usize) -> String {
    if let Some(error) = of.error {
        return error.render(lang).lines().map(|line| paragraph("", line, columns)).collect();
    }
    let checkup = of.checkup.map(|checkup| wrong(checkup, lang, columns));
    let inventory = of.inventory.map(|inventory| inventory_text(inventory, lang));
    let target = of.target.map(|target| inspect_text(target, lang, columns));
    checkup.or(inventory).or(target).unwrap_or_default()
}

/// Which of them can measure.
fn table(hosts: &[OfHost<'_>], lang: Lang) -> String {
    let heads = [
        say!("host", "машина"),
        say!("ready", "готова"),
        say!("must be cured", "препятствий"),
        say!("could be better", "замечаний"),
    ];
    let count = |checkup: &Checkup, level| checkup.items.iter().filter(|item| item.level == level).count().to_string();
    let row = |of: &OfHost<'_>| match of.checkup {
        Some(checkup) => {
            let ready = if checkup.musts() == 0 { say!("✔ yes", "✔ да") } else { say!("✖ no", "✖ нет") };
            let (must, warn) = (count(checkup, Level::Must), count(checkup, Level::Warn));
            [of.host.to_string(), ready.get(lang).to_string(), must, warn]
        }
        None => {
            let silent = say!("✖ no answer", "✖ нет ответа");
            [of.host.to_string(), silent.get(lang).to_string(), "–".into(), "–".into()]
        }
    };
    let heads = heads.map(|head| head.get(lang).to_string());
    let rows: Vec<[String; 4]> = [heads].into_iter().chain(hosts.iter().map(row)).collect();
    let widths: [usize; 4] =
        std::array::from_fn(|i| rows.iter().map(|row| width(&super::clean(&row[i]))).max().unwrap_or(0));
    let line = |row: &[String; 4]| {
        let cell = |i: usize| {
            let text = super::clean(&row[i]);
            if i < 2 { left(&text, widths[i]) } else { right(&text, widths[i]) }
        };
        let cells: Vec<String> = (0..4).map(cell).collect();
        format!("{}\n", cells.join(GAP).trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use stend_base::Error;
    use stend_record::CheckupItem;

    fn checkup(levels: &[Level]) -> Checkup {
        let item = |level: &Level| CheckupItem {
            id: "x".into(),
            level: *level,
            found: say!("governor: powersave", "частота: powersave"),
            affects: say!("Latency differs.", "Задержка меняется."),
            cure: Some("sudo cpupower".into()),
        };
        Checkup { items: levels.iter().map(item).collect() }
    }

    #[test]
    fn hosts_stand_in_one_table_and_those_that_are_fine_say_no_more() {
        let (fine, bad) = (checkup(&[Level::Ok]), checkup(&[Level::Warn, Level::Must]));
        let error = Error::host_lost(say!("cannot reach `db3`: no route", "`db3` недоступна: нет пути"));
        let none = OfHost { host: "", checkup: None, inventory: None, target: None, error: None };
        let hosts = [
            OfHost { host: "db1", checkup: Some(&fine), ..none },
            OfHost { host: "root@db2", checkup: Some(&bad), ..none },
            OfHost { host: "db3", error: Some(&error), ..none },
        ];
        expect_file!["../../tests/golden/hosts_en.txt"].assert_eq(&hosts_text(&hosts, Lang::En, 80));
        expect_file!["../../tests/golden/hosts_ru.txt"].assert_eq(&hosts_text(&hosts, Lang::Ru, 80));
    }
}
