//! A run in every form that a verb gives it. What these say is not looked at, only that they end.

use stend_analyse::as_fio::Trials;
use stend_analyse::compare::Options;
use stend_analyse::history::RunPoint;
use stend_analyse::{analyse, as_fio, by_trial, compare, compare_arms, history, judge};
use stend_base::Lang;
use stend_plan::{PlanInputs, PlanTarget, Room};
use stend_record::{RunHeader, RunRecord};
use stend_report::{Book, Dialect, ResultsCsv};

/// A suite of everything that makes much of a record.
const SUITE: &str = include_str!("../corpus/suite/small.yaml");

/// Columns of a terminal.
const WIDTH: usize = 100;

/// As `show`, `report`, `compare`, `history` and `export` do. All of them take long: which are tried follows from `which`, so that each is
/// for one in four.
pub fn run(run: &RunRecord, which: usize) {
    let mut sink = std::io::sink();
    if let Ok(trials) = by_trial(run) {
        written(stend_report::trials_csv(&run.header.id, &trials, &mut sink));
    }
    let Ok(findings) = (if which.is_multiple_of(2) { analyse(run) } else { judge(run) }) else { return };
    match which % 4 {
        0 => {
            for lang in [Lang::En, Lang::Ru] {
                stend_report::html(&findings, run, lang);
            }
        }
        1 => {
            for lang in [Lang::En, Lang::Ru] {
                stend_report::text(&findings, lang, WIDTH, true);
            }
            stend_report::json(&findings);
            stend_report::markdown(&findings, Lang::Ru);
            stend_report::fio_jobs(run);
            history(vec![RunPoint::of(&findings); 3]);
        }
        2 => {
            let sides = [(run, &findings), (run, &findings)];
            let comparison = compare(&sides, &Options::default());
            comparison_shown(&comparison);
            if let Ok(Some(arms)) = compare_arms(run, &findings, &Options::default()) {
                comparison_shown(&arms);
            }
        }
        _ => {
            written(stend_report::record_json(run, &mut sink));
            if let Ok(groups) = as_fio(run, Trials::Each) {
                written(stend_report::fio_json(run, &groups, &mut sink));
            }
            if let Ok(table) = ResultsCsv::new(run, &findings, Dialect::Russian) {
                written(table.write(&mut sink));
            }
            let _ = stend_report::xlsx(&Book { runs: vec![(run, &findings)], comparison: None, lang: Lang::Ru });
        }
    }
}

fn comparison_shown(comparison: &stend_analyse::Comparison) {
    stend_report::comparison_text(comparison, Lang::Ru, WIDTH, true);
    stend_report::comparison_json(comparison);
    stend_report::comparison_html(comparison, Lang::En);
}

/// Nothing that is written to nowhere fails.
fn written<T, E: std::fmt::Debug>(outcome: Result<T, E>) {
    assert!(outcome.is_ok(), "{:?}", outcome.err());
}

/// What a plan can be laid out for: a directory, a device that may be written, one that may not, one that keeps nothing.
pub fn places() -> [PlanTarget; 4] {
    let device = PlanTarget {
        count: 2,
        logical_block: stend_base::Bytes(4096),
        ..PlanTarget::device(stend_base::Bytes::gib(64))
    };
    let room = Room { total: stend_base::Bytes::gib(100), free: stend_base::Bytes::gib(50) };
    let directory = PlanTarget::directory(room);
    let refused = PlanTarget { writes: Err(stend_base::say!("no", "нет")), ..device.clone() };
    let null =
        PlanTarget { count: 1, size: stend_base::Bytes(0), null: Some(stend_plan::NullDevice::Null), ..device.clone() };
    [directory, device, refused, null]
}

/// An empty run of the suite.
pub fn empty() -> RunRecord {
    let suite = stend_spec::parse::suite(SUITE, "small.yaml").expect("the suite of the corpus is one");
    let [target, ..] = places();
    let inputs = PlanInputs { suite, seed: 7, target, time_budget: None, traces: Vec::new() };
    RunRecord::new(header(inputs))
}

/// That of a run.
pub fn header(inputs: PlanInputs) -> RunHeader {
    RunHeader {
        started_unix: 1_795_296_600,
        stend_version: "0.1.0".into(),
        command_line: ["stend", "run"].map(String::from).to_vec(),
        suite_text: SUITE.into(),
        ..RunHeader::new("R-20261121T213000Z-aaaa", inputs)
    }
}
