//! What must hold of every page.

use crate::fixture::{self, assert_well_formed};
use crate::html;
use expect_test::expect_file;
use stend_analyse::findings::{CaseFinding, Caveat, CheckId, CheckStatus, Headline, LevelsFinding};
use stend_base::{Lang, Nanos};
use stend_record::{Entry, HostFacts, HostId, HostInfo, Role, RunState};

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
fn the_first_screen_of_a_sweep_shows_its_ends_and_where_it_bends() {
    let (mut findings, run) = (fixture::findings(), fixture::run());
    let sweep = findings.sweeps[0].clone();
    assert!(!html(&findings, &run, Lang::En).contains("class=\"lead\""), "others have other questions");
    findings.cases.truncate(sweep.points.len());
    for (case, point) in findings.cases.iter_mut().zip(&sweep.points) {
        case.total.iops.value = point.rate;
    }
    let page = html(&findings, &run, Lang::En);
    assert!(page.contains("The rate bends at queue depth 16"), "it is said before the table");
    assert_eq!(page.matches("class=\"tell\"").count(), 3, "the least depth, the bend and the largest rate");
}

#[test]
fn where_the_rate_fell_to_a_lower_level_no_place_shows_the_mean_of_both() {
    let (mut findings, run) = (fixture::findings(), fixture::run());
    findings.cases.truncate(2);
    findings.telling = findings.cases.iter().map(|case| case.case).collect();
    let case = &mut findings.cases[0];
    case.levels = Some(LevelsFinding {
        of: Headline::Iops,
        first: 3000.0,
        lasted: Nanos::secs(21),
        then: 300.0,
        bucket: 55_350.0,
        refill: Nanos::secs(184),
    });
    // A number that stands nowhere else.
    (case.total.iops.value, case.headline) = (7_654_321.0, Headline::Iops);
    case.ops[0].rates.iops.value = 7_654_321.0;
    let page = html(&findings, &run, Lang::En);
    assert!(!page.contains("7 654 321") && !page.contains("7\u{a0}654\u{a0}321"), "{page}");
    // The card, the bar, the table, and the head of the case.
    assert!(page.matches("3000 → 300").count() >= 3, "{}", page.matches("3000 → 300").count());
    let plain = page.replace('\u{a0}', " ");
    let card = plain.split("class=\"numbers-that-tell\"").nth(1).unwrap().split("</a>").next().unwrap();
    assert!(card.contains("3000 IOPS for 21 s, then 300 IOPS") && card.contains("3000 IOPS в течение 21"), "{card}");
    let csv = crate::numbers::numbers(&findings);
    let levels = csv.iter().filter(|number| number.metric.key().starts_with("level_"));
    let levels: Vec<(String, f64)> = levels.map(|number| (number.metric.key(), number.value)).collect();
    assert_eq!(levels, [("level_first".to_string(), 3000.0), ("level_then".to_string(), 300.0)]);
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

/// The page above its first section.
fn first_screen(findings: &stend_analyse::Findings) -> String {
    let page = html(findings, &fixture::run(), Lang::En);
    let from = page.find("<header").expect("a header");
    let to = page.find("<nav").expect("the contents");
    page[from..to].to_string()
}

#[test]
fn the_first_screen_has_large_numbers_and_a_bar_with_its_interval_for_each_case() {
    let findings = fixture::findings();
    let screen = first_screen(&findings);
    let count = |part: &str| screen.matches(part).count();
    assert_eq!((count("class=\"tell\""), count("class=\"length "), count("class=\"dot\"")), (4, 8, 8));
    assert_eq!((count("length iops"), count("length throughput"), count("class=\"whisker\"")), (6, 2, 8));
    // The longest of each unit takes the same room.
    assert_eq!(count("--high:62%"), 2, "{screen}");
    assert!(screen.contains("href=\"#case-4\"") && !screen.contains("One check failed"), "{screen}");
}

#[test]
fn the_first_screen_leads_to_what_speaks_against_the_numbers() {
    let mut findings = fixture::findings();
    let screen = first_screen(&findings);
    for chip in ["✖ <span lang=\"en\">1 check fails", "! <span lang=\"en\">1 warning", "not for publishing"] {
        assert!(screen.contains(chip), "{chip}: {screen}");
    }
    let page = html(&findings, &fixture::run(), Lang::En);
    let keep_in_mind = &page[page.find("id=\"caveats\"").expect("the section")..];
    assert!(keep_in_mind.find("H18").expect("the failed one") < keep_in_mind.find("H02").expect("the warning"));
    findings.cases.iter_mut().flat_map(|case| &mut case.checks).for_each(|check| check.status = CheckStatus::Pass);
    let screen = first_screen(&findings);
    assert!(!screen.contains("chip fail") && !screen.contains("chip warn"), "{screen}");
}

#[test]
fn of_many_cases_the_first_are_drawn_and_of_one_or_none_no_picture() {
    let mut findings = fixture::findings();
    let case = findings.cases[3].clone();
    findings.cases = (0..30).map(|index| CaseFinding { case: index, ..case.clone() }).collect();
    let screen = first_screen(&findings);
    assert_eq!(screen.matches("class=\"length ").count(), 24);
    assert!(screen.contains("The first 24 of 30 cases"), "{screen}");
    findings.cases.truncate(1);
    assert!(!first_screen(&findings).contains("all-cases"));
    findings.cases[0].total.iops.value = f64::NAN;
    let screen = first_screen(&findings);
    assert!(!screen.contains("class=\"tell\"") && !screen.contains("NaN"), "{screen}");
}

#[test]
fn the_storage_host_of_a_stand_is_told_with_what_it_hands_out() {
    let mut run = fixture::run();
    let host = HostFacts { hostname: "shelf <7>".into(), kernel: "6.12.1".into(), ..HostFacts::default() };
    let info = HostInfo {
        name: "array1".into(),
        role: Role::Storage,
        facts: Some(host),
        targets: run.load().targets.clone(),
        clock_uncertainty_ns: Some(137_000),
        ..HostInfo::default()
    };
    let without = html(&fixture::findings(), &run, Lang::En);
    run.apply(Entry::Host { host: HostId::STORAGE, info: Box::new(info) });
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
fn a_watched_host_is_told_with_what_was_watched_there() {
    let mut run = fixture::run();
    let facts = Some(HostFacts { hostname: "sw".into(), kernel: "6.12.1".into(), ..HostFacts::default() });
    let targets = run.load().targets.clone();
    let info = HostInfo { name: "switch1".into(), role: Role::Observe, facts, targets, ..HostInfo::default() };
    run.apply(Entry::Host { host: HostId(1), info: Box::new(info) });
    let page = html(&fixture::findings(), &run, Lang::En);
    assert_well_formed(&page);
    for part in ["Watched host switch1", "Машина под наблюдением switch1", "Watched there", "6.12.1"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("Storage host"));
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
    for other in ["interleaved", "direct I/O", "no fill; the range", "Closed loop"] {
        assert!(!method[..method.find("Limits of checks").unwrap()].contains(other), "{other}");
    }
}

#[test]
fn a_printer_gets_the_short_page_unless_the_whole_one_was_asked_for() {
    let (findings, run) = (fixture::findings(), fixture::run());
    let (short, full) = (html(&findings, &run, Lang::En), crate::gated_html(&findings, &run, None, true, Lang::En));
    assert!(short.contains("<main class=\"short\">") && full.contains("<main>"));
    // What the style sheet hides are sections that there are, and neither results nor what to keep in mind.
    let (_, printed) = super::STYLE.split_once("@media print").unwrap();
    let hidden: Vec<&str> =
        printed.split(".short > #").skip(1).map(|rest| rest.split([',', ' ']).next().unwrap()).collect();
    for id in ["timeline", "across", "cases", "whole-run", "method", "system", "repeat"] {
        assert!(hidden.contains(&id) && short.contains(&format!("<section id=\"{id}\">")), "{id}: {hidden:?}");
    }
    assert!(!hidden.contains(&"results") && !hidden.contains(&"caveats"), "{hidden:?}");
}

/// A rule for bars of the page moved the numbers at the axes of every chart, which have a class of the same name.
#[test]
fn no_rule_for_the_page_places_what_a_chart_is_drawn_of() {
    let drawn =
        [".tick", ".dot", ".line", ".whisker", ".event", ".cut", ".cell", ".base", ".band", ".grid", ".halo", ".plot"];
    for rule in
        super::STYLE.split('}').filter(|rule| rule.contains("position: absolute") || rule.contains("translateX"))
    {
        let selectors = rule.split('{').nth(rule.matches('{').count() - 1).unwrap_or_default();
        let alone = selectors.split(',').map(str::trim).filter(|selector| drawn.contains(selector));
        assert_eq!(alone.collect::<Vec<_>>(), Vec::<&str>::new(), "{rule}");
    }
}

#[test]
fn what_the_run_was_held_against_stands_between_the_verdict_and_the_numbers() {
    let (findings, run) = (fixture::findings(), fixture::run());
    let limit = |text: &str| stend_spec::parse::expect(text).unwrap();
    let limits = vec![limit("iops >= 1"), limit("iops >= 900000000")];
    let gate = stend_spec::gate::Gate { name: None, margin: None, rules: Vec::new(), limits };
    let found = stend_analyse::gate::of_run(&gate, &findings);
    let page = crate::gated_html(&findings, &run, Some(&found), false, Lang::En);
    assert_well_formed(&page);
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}"));
    assert!(
        place("<h1>") < place("<aside class=\"gate failed\"")
            && place("class=\"gate failed\"") < place("class=\"tell\"")
    );
    assert!(page.contains("iops &gt;= 900000000") && page.contains("limits are met"), "{}", first_screen(&findings));
    assert!(!html(&findings, &run, Lang::En).contains("class=\"gate"));
}

#[test]
fn the_worst_three_checks_come_first_and_passed_ones_are_a_line() {
    let mut findings = fixture::findings();
    let mut check = findings.cases[0].checks[0].clone();
    check.status = CheckStatus::Warn;
    let named = |id, status| stend_analyse::findings::CheckResult { id, status, ..check.clone() };
    for (i, case) in findings.cases.iter_mut().enumerate() {
        case.checks = vec![named(CheckId::H01, CheckStatus::Pass), named(CheckId::H50, CheckStatus::Warn)];
        if i == 0 {
            case.checks.extend([CheckId::H20, CheckId::H21, CheckId::H22].map(|id| named(id, CheckStatus::Warn)));
            case.checks.push(named(CheckId::H60, CheckStatus::Fail));
        }
    }
    let page = html(&findings, &fixture::run(), Lang::En);
    let section = &page[page.find("id=\"caveats\"").expect("the section")..page.find("id=\"cases\"").expect("cases")];
    let place = |id: &str| section.find(id).unwrap_or_else(|| panic!("{id}"));
    // The failed one, then the warning of all cases, then the others in their order.
    let places = ["H60", "H50", "H20", "2 more", "H21", "H22"].map(place);
    assert!(places.is_sorted(), "{places:?}");
    let cards = &page[page.find("id=\"cases\"").expect("cases")..];
    let passed = cards.find("✔ 1 passed</span>").expect("a line");
    assert!(cards.find("H60").unwrap() < cards.find("H20").unwrap() && passed < cards.find("H01").unwrap());
}
