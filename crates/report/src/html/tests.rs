//! What must hold of every page.

use crate::fixture::{self, assert_well_formed};
use crate::html;
use expect_test::expect_file;
use stend_analyse::findings::Caveat;
use stend_base::Lang;
use stend_record::{HostFacts, RunState, StorageHost, StorageRecord};

#[test]
fn a_small_page_looks_as_reviewed() {
    let (mut findings, run) = (fixture::findings(), fixture::run());
    findings.cases.truncate(1);
    findings.cases[0].charts.remove(0);
    findings.charts.clear();
    let page = html(&findings, &run, Lang::En);
    // The style sheet is reviewed where it is written; tags on lines of their own make a readable diff.
    let (before, rest) = page.split_once("<style>").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    let shown = format!("{before}<style></style>{after}").replace("><", ">\n<");
    expect_file!["../../tests/golden/page.html"].assert_eq(&shown);
}

#[test]
fn the_page_fetches_nothing_and_runs_nothing() {
    for (findings, run) in [(fixture::findings(), fixture::run()), (fixture::hostile_findings(), fixture::run())] {
        let page = html(&findings, &run, Lang::Ru);
        assert_well_formed(&page);
        let lower = page.to_lowercase();
        for forbidden in ["<script", "http:", "https:", "url(", "@import", "<link", "<img", "<iframe", " on", " src="] {
            let tags = lower.split('<').filter_map(|t| t.split('>').next());
            let found =
                tags.into_iter().any(|tag| format!("<{tag}").contains(forbidden) && !inside_quotes(tag, forbidden));
            assert!(!found, "{forbidden}");
        }
        assert!(lower.contains("default-src 'none'") || lower.contains("default-src &#39;none&#39;"));
        assert!(!lower.contains("url(") && !lower.contains("@import"));
    }
}

/// Text of an attribute may say anything; only the tag's own words count.
fn inside_quotes(tag: &str, word: &str) -> bool {
    let own: String = tag.split('"').step_by(2).collect();
    !format!("<{own}").contains(word)
}

#[test]
fn hostile_names_do_not_change_the_structure() {
    let (mut plain, run) = (fixture::hostile_findings(), fixture::run());
    let hostile = html(&plain, &run, Lang::En);
    assert_well_formed(&hostile);
    assert!(!hostile.contains("<script") && !hostile.contains('\u{1b}') && !hostile.contains('\u{202e}'));
    assert!(!hostile.contains("NaN"), "a number that is not there is a dash");
    plain.suite = "quick".into();
    let count = |page: &str| page.matches("<tr").count();
    assert_eq!(count(&hostile), count(&html(&plain, &run, Lang::En)));
}

#[test]
fn both_languages_are_inside_and_the_asked_one_is_shown_first() {
    let page = html(&fixture::findings(), &fixture::run(), Lang::Ru);
    assert!(page.contains("Случайное чтение") && page.contains("Random reads"));
    assert!(page.contains("id=\"lang-ru\" aria-label=\"Русский\" checked"));
    assert!(page.contains("<html lang=\"ru\">"));
}

#[test]
fn the_storage_host_of_a_stand_is_told_with_what_it_hands_out() {
    let mut run = fixture::run();
    let host = HostFacts { hostname: "shelf <7>".into(), kernel: "6.12.1".into(), ..HostFacts::default() };
    let targets = run.targets.clone();
    let facts = StorageHost { name: "array1".into(), host, targets, clock_uncertainty_ns: 137_000 };
    let without = html(&fixture::findings(), &run, Lang::En);
    run.storage = Some(StorageRecord { facts, samples: Vec::new() });
    let page = html(&fixture::findings(), &run, Lang::En);
    assert_well_formed(&page);
    for part in
        ["Storage host array1", "Машина с накопителями array1", "shelf &lt;7&gt;", "6.12.1", "Clock known within"]
    {
        assert!(page.contains(part) && !without.contains(part), "{part}");
    }
    let known = page.split_once("Clock known within").map(|(_, rest)| rest.chars().take(120).collect::<String>());
    assert!(known.as_ref().is_some_and(|known| known.contains("137")), "{known:?}");
}

#[test]
fn a_failed_check_takes_the_number_out_of_comparison() {
    let page = html(&fixture::findings(), &fixture::run(), Lang::En);
    assert_eq!(page.matches("<tbody class=\"void\">").count(), 1);
    assert!(page.contains("✖ H18 "));
}

#[test]
fn a_run_killed_before_anything_was_known_still_has_a_page() {
    let mut findings = fixture::findings();
    findings.cases.clear();
    findings.charts.clear();
    findings.state = RunState::Open;
    findings.caveats = vec![Caveat::NoEnd];
    let mut run = stend_record::RunRecord::new(fixture::run().header);
    run.state = RunState::Open;
    let page = html(&findings, &run, Lang::En);
    assert_well_formed(&page);
    assert!(page.contains("class=\"unfinished\"") && page.contains("No trial of any case completed"));
}

#[test]
fn anchors_are_unique_and_links_lead_somewhere() {
    let page = html(&fixture::findings(), &fixture::run(), Lang::En);
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|s| s.split('"').next()).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for link in page.split("href=\"#").skip(1).filter_map(|s| s.split('"').next()) {
        assert!(ids.contains(&link), "{link}");
    }
}

#[test]
fn whatever_analysis_says_of_a_run_cut_short_can_be_shown() {
    let (whole, mut cut) = (fixture::run(), stend_record::RunRecord::new(fixture::run().header));
    cut.trials = whole.trials[..2].to_vec();
    cut.trials[1].outcome = None;
    for run in [stend_record::RunRecord::new(fixture::run().header), cut, whole] {
        let findings = stend_analyse::analyse(&run).unwrap();
        assert_well_formed(&html(&findings, &run, Lang::Ru));
        assert!(!crate::text(&findings, Lang::Ru, 80, false).is_empty());
        assert!(crate::json(&findings).ends_with("}\n"));
    }
}

#[test]
fn of_an_application_the_method_tells_instances_and_nothing_of_single_ios() {
    use stend_base::{Bytes, Millionths, Nanos};
    use stend_spec::app::{App, Limits, Program, Slo};
    let (findings, mut run) = (fixture::findings(), fixture::run());
    let slo = Slo {
        quantile: Millionths::percent(99),
        limit: Nanos::millis(100),
        served: Millionths::percent(95),
        window: Nanos::secs(1),
        windows: Millionths::percent(95),
    };
    let limits = Some(Limits { cpu_thousandths: 250, memory: Bytes::mib(64), iops: Some(100) });
    let (program, data) = (Program::NginxWrk, Bytes::mib(8));
    let app = App { program, instances: 3, data, clients: 2, rate: None, limits, slo };
    for trial in &mut run.trials {
        (trial.asked.app, trial.asked.streams) = (Some(app), Vec::new());
    }
    let page = html(&findings, &run, Lang::En);
    let method = &page[page.find("id=\"method\"").unwrap()..];
    for told in [
        "N = 3",
        "each with 8\u{a0}MiB of data and 2 connections",
        "each may take 0.25 CPUs, 64\u{a0}MiB of memory, 100 reads and as many writes",
        "The number of instances doubled",
        "каждому не более: процессоров 0,25",
    ] {
        assert!(method.contains(told), "{told}: {}", &method[..method.len().min(6000)]);
    }
    for other in ["interleaved", "direct I/O", "nothing was written", "Closed loop"] {
        assert!(!method[..method.find("Limits of checks").unwrap()].contains(other), "{other}");
    }
}
