//! A run beside published numbers.

use super::*;
use crate::analyse;
use crate::fixture::{case, open_case, run_of};
use stend_base::Bytes;
use stend_plan::Plan;
use stend_record::published::Number;
use stend_spec::workload::Sync;

fn claim(row: u32, layout: &str, (metric, dimension): (&str, Dimension), value: f64, depth: Option<u32>) -> Claim {
    Claim {
        row,
        layout: layout.into(),
        test: "rand-read".into(),
        stand: "their server".into(),
        pattern: "randread".into(),
        block_size: Some(Bytes::kib(4)),
        queue_depth: depth,
        jobs: Some(1),
        metric: metric.into(),
        printed: format!("{value}"),
        value: Some(Number { value, step: 1.0, digits: 5, dimension, factor: 1.0 }),
        ..Claim::default()
    }
}

fn table() -> Published {
    let (iops, mean) = (("iops", Dimension::Rate), ("latency", Dimension::Time));
    let rows = vec![
        claim(2, "md raid0", iops, 20_000.0, Some(32)),
        claim(3, "md raid5", iops, 8_000.0, Some(128)),
        claim(4, "md raid5", mean, 0.004, None),
        claim(7, "md raid5", iops, 1_000.0, Some(1)),
        Claim { pattern: "randwrite".into(), ..claim(5, "md raid5", iops, 1.0, Some(1)) },
        Claim { block_size: Some(Bytes::kib(8)), ..claim(6, "md raid5", iops, 1.0, Some(1)) },
    ];
    Published { file: "t.csv".into(), rows }
}

fn found(layout: Option<&str>) -> PublishedComparison {
    let run = run_of(vec![case("rand-read", 100, 32, Sync::None), open_case("open", 500)]);
    let record = run.six_blocks(&[10_000.0, 500.0]).record();
    let findings = analyse(&record).unwrap();
    let table = table();
    compare_with_published((&record, &findings), &table, &|_| Vec::new(), layout).unwrap()
}

#[test]
fn a_case_meets_the_numbers_of_its_own_load_and_no_others() {
    let found = found(None);
    let rows = &found.cases[0].rows;
    assert_eq!(rows.iter().map(|row| row.row).collect::<Vec<_>>(), [2, 3, 4]);
    assert!((rows[0].ratio().unwrap() - 0.5).abs() < 1e-3 && rows[0].differences.is_empty(), "{:?}", rows[0]);
    let (low, high) = rows[1].interval().unwrap();
    assert!(low < 1.25 && 1.25 < high && high < 1.27, "{low} {high}");
    assert_eq!(rows[1].differences[0].en, "queue depth 32, theirs 128");
    assert_eq!(rows[2].differences[0].ru, "глубина очереди 32, у них не указано");
    // 32 in flight at 10,000 per second take 3.2 ms.
    assert!((rows[2].ratio().unwrap() - 0.8).abs() < 0.01, "{:?}", rows[2]);
    assert_eq!(found.left, 3, "another load, another size, and a depth further from ours");
    assert_eq!(found.theirs, ["their server"]);
    let open = &found.unmatched[0];
    assert_eq!((open.0.as_str(), open.1.en.as_str()), ("open", "its rate is given, not found"));
    assert_eq!(found.summary().en, "The table has the load of 1 of 2 cases: 3 numbers; 3 numbers belong to no case.");
}

#[test]
fn a_depth_that_is_not_known_is_not_zero() {
    let mut stream =
        run_of(vec![case("rand-read", 100, 32, Sync::None)]).trial(0).done().record().trials[0].asked.clone();
    stream.streams[0].queue_depth = 0;
    let (asked, table) = (stream, table());
    let claims: Vec<&Claim> = table.rows.iter().collect();
    let near = near(&claims, "randread", &asked.streams[0]);
    assert_eq!(near.iter().map(|claim| claim.row).collect::<Vec<_>>(), [2, 3, 4, 7], "any of them may be it");
    let differences: Vec<Say> =
        near.iter().map(|claim| differences(claim, &asked, &asked.streams[0]).remove(0)).collect();
    assert_eq!(differences[0], say!("queue depth not known, theirs 32", "глубина очереди неизвестна, у них 32"));
    assert_eq!(differences[2].en, "queue depth not known, theirs not given");
}

#[test]
fn a_number_that_is_nearest_to_two_cases_is_still_one() {
    let cases = vec![case("a", 100, 32, Sync::None), case("b", 100, 16, Sync::None)];
    let record = run_of(cases).six_blocks(&[10_000.0, 9_000.0]).record();
    let table = Published {
        file: "t.csv".into(),
        rows: vec![
            claim(2, "md raid0", ("iops", Dimension::Rate), 20_000.0, Some(32)),
            Claim { pattern: "read".into(), ..claim(3, "md raid0", ("iops", Dimension::Rate), 1.0, Some(1)) },
        ],
    };
    let found = compare_with_published((&record, &analyse(&record).unwrap()), &table, &|_| Vec::new(), None).unwrap();
    assert_eq!((found.cases.len(), found.left), (2, 1));
}

#[test]
fn durable_writes_are_told_however_they_are_made_durable() {
    for sync in [Sync::Fsync(1), Sync::Dsync, Sync::ODsync] {
        let record = run_of(vec![case("w", 0, 1, sync)]).six_blocks(&[1_000.0]).record();
        let rows = vec![Claim {
            pattern: "randwrite".into(),
            ..claim(2, "md raid0", ("iops", Dimension::Rate), 2_000.0, Some(1))
        }];
        let table = Published { file: "t.csv".into(), rows };
        let found =
            compare_with_published((&record, &analyse(&record).unwrap()), &table, &|_| Vec::new(), None).unwrap();
        assert_eq!(found.cases[0].rows[0].differences[0].en, "ours are durable, theirs not given", "{sync:?}");
    }
}

#[test]
fn jobs_that_are_not_told_are_not_taken_for_one() {
    let inputs = run_of(vec![case("a", 100, 32, Sync::None)]).record().header.inputs;
    let stream = Plan::new(&inputs).unwrap().cases[0].trial.streams[0].clone();
    let stream = Stream { jobs: 4, ..stream };
    let (told, untold) = (
        claim(2, "md", ("iops", Dimension::Rate), 1.0, Some(64)),
        Claim { jobs: None, ..claim(3, "md", ("iops", Dimension::Rate), 1.0, Some(32)) },
    );
    let near = nearest(vec![&told, &untold], &stream);
    assert_eq!(near.iter().map(|claim| claim.row).collect::<Vec<_>>(), [3]);
}

#[test]
fn only_the_layouts_that_are_asked_for_count() {
    let found = found(Some("RAID0"));
    assert_eq!((found.cases[0].rows.len(), found.left), (1, 0));
    assert!(found.ours.iter().any(|condition| condition.key == "memory"));
}
