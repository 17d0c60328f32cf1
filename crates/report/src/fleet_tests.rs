//! Screens, pages and tables of runs on several load hosts.

use crate::fixture::{assert_well_formed, load_hosts::on_hosts};
use crate::text::{brief::brief, text, width};
use crate::{html, json, markdown};
use expect_test::expect_file;
use stend_analyse::Findings;
use stend_base::{Bytes, Lang};
use stend_record::RunRecord;

fn found(hosts: u16) -> (RunRecord, Findings) {
    let run = on_hosts(hosts);
    let findings = stend_analyse::analyse(&run).expect("findings");
    (run, findings)
}

#[test]
fn two_and_sixteen_load_hosts_are_shown_each_with_its_numbers() {
    let (_, two) = found(2);
    let (_, many) = found(16);
    for (lang, of_two, of_many) in
        [(Lang::En, "fleet_2_en_80.txt", "fleet_16_en_80.txt"), (Lang::Ru, "fleet_2_ru_80.txt", "fleet_16_ru_80.txt")]
    {
        for (findings, golden) in [(&two, of_two), (&many, of_many)] {
            let screen =
                format!("{}\n====\n{}", brief(findings, "last", lang, 80, false), text(findings, lang, 80, false));
            assert!(screen.lines().all(|line| width(line) <= 80), "{screen}");
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(golden);
            expect_file![path].assert_eq(&screen);
        }
    }
    expect_file!["../tests/golden/fleet_2_en.md"].assert_eq(&markdown(&two, Lang::En));
}

#[test]
fn the_machine_form_of_several_load_hosts_is_stable() {
    let (_, mut findings) = found(2);
    // Charts and checks are reviewed elsewhere.
    for case in &mut findings.cases {
        case.charts.clear();
        case.checks.retain(|check| check.id.code() == "H40");
    }
    findings.charts.clear();
    findings.across.clear();
    expect_file!["../tests/golden/fleet_2.json"].assert_eq(&json(&findings));
}

#[test]
fn rates_of_load_hosts_add_up_to_the_total_as_it_is_shown() {
    for hosts in [2, 16] {
        let (_, findings) = found(hosts);
        for (case, found) in crate::hosts::of_cases(&findings) {
            let number = |text: &str| -> f64 {
                text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect::<String>().parse().expect("a number")
            };
            let shown = crate::hosts::rates_of(case, found);
            let sum: f64 = shown.iter().map(|[iops, _]| number(&iops.en)).sum();
            let total = number(&crate::rates::rate(&case.total.iops, stend_analyse::findings::Headline::Iops).en);
            assert!((sum - total).abs() < 1e-6 * total, "{sum} {total}");
        }
    }
}

#[test]
fn the_page_of_several_load_hosts_has_a_row_and_a_line_for_each() {
    for hosts in [2, 16] {
        let (run, findings) = found(hosts);
        let page = html(&findings, &run, Lang::En);
        assert_well_formed(&page);
        for host in 1..=hosts {
            assert!(page.contains(&format!("<th scope=\"row\">load{host}</th>")), "load{host}");
        }
        assert!(page.contains("IOPS of each load host over time"));
        if let Ok(folder) = std::env::var("STEND_PAGES") {
            std::fs::write(format!("{folder}/fleet{hosts}.html"), &page).expect("a page");
        }
    }
}

#[test]
fn the_workbook_has_a_page_of_several_load_hosts_and_none_of_one() {
    let book = |run: &RunRecord, findings: &Findings| {
        let book = crate::Book { runs: vec![(run, findings)], comparison: None, lang: Lang::En };
        let bytes = crate::xlsx(&book).expect("a workbook");
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("an archive");
        let mut part = archive.by_name("xl/workbook.xml").expect("its pages");
        std::io::read_to_string(&mut part).expect("a text").contains("Load hosts")
    };
    let (run, findings) = found(2);
    assert!(book(&run, &findings));
    assert!(!book(&crate::fixture::run(), &crate::fixture::findings()));
}

#[test]
fn hosts_that_kept_the_planned_times_are_not_said_to_be_nothing_apart() {
    let (_, mut findings) = found(2);
    let said = |findings: &Findings| {
        let (_, found) = crate::hosts::of_cases(findings).next().expect("a case");
        crate::hosts::beside(found).en
    };
    assert!(said(&findings).contains("Loads began within"), "{}", said(&findings));
    let apart = findings.cases[0].hosts.as_mut().expect("hosts");
    (apart.began_apart, apart.ended_apart) = (stend_base::Nanos(0), stend_base::Nanos(0));
    assert!(said(&findings).contains("All began and ended at the planned times (±"), "{}", said(&findings));
}

#[test]
fn that_hosts_share_a_device_is_on_every_screen_and_in_the_machine_form() {
    let (mut run, _) = found(2);
    let part = |at: u64| stend_spec::workload::Region { start: Bytes::mib(47 * at), len: Bytes::mib(47) };
    for (at, host) in (0..).zip(run.hosts_mut()) {
        host.info.part = Some(part(at));
    }
    let findings = stend_analyse::analyse(&run).expect("findings");
    let of_each = [(Lang::En, "a part of its own, 47 MiB of each"), (Lang::Ru, "свою часть — по 47 МиБ")];
    let page = html(&findings, &run, Lang::En) + &html(&findings, &run, Lang::Ru);
    for (lang, told) in of_each {
        let screen = text(&findings, lang, 200, false);
        assert!(screen.replace('\u{a0}', " ").contains(told), "{screen}");
        assert!(page.replace('\u{a0}', " ").contains(told), "{told}");
    }
    let machine = json(&findings);
    assert!(machine.contains("\"start_bytes\": 49283072") && machine.contains("\"size_bytes\": 49283072"), "{machine}");
}
