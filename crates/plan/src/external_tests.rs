//! Suites for fio: what is refused and by which name, and which differences are reported.

use crate::Plan;
use crate::fixture;
use expect_test::expect;
use stend_base::{Kind, Lang, Result};
use stend_spec::external::*;
use stend_spec::workload::{Engine, Sync};

/// A plan for a device, of a suite whose only case has these settings and these of its only stream.
fn plan(case: &str, stream: &str) -> Result<Plan> {
    let size = if stream.starts_with("block_size") { "" } else { "block_size: 4KiB, " };
    fixture::plan(&format!("  - name: a\n    engine: fio\n    {case}\n    streams: [{{{size}{stream}}}]\n"))
}

fn refused(case: &str, stream: &str) -> String {
    let error = plan(case, stream).unwrap_err();
    assert_eq!(error.kind, Kind::Spec, "{error}");
    assert!(error.hint.as_ref().unwrap().en.contains("engine: native") && !error.message.ru.is_ascii());
    error.message.en.clone()
}

#[test]
fn a_key_that_fio_cannot_express_is_named_before_anything_runs() {
    let reads = "op: read, pattern: random";
    let writes = "op: write, pattern: random";
    let found = [
        refused("backend: none", reads),
        refused("pages: huge", reads),
        refused("backend: psync", "op: read, pattern: random, queue_depth: 2"),
        refused("ramp: 0s", "op: read, pattern: random, jobs: 257"),
        refused("ramp: 0s", "op: discard, pattern: random"),
        refused("ramp: 0s", "op: {read: 50, write_zeroes: 50}, pattern: random"),
        refused("ramp: 0s", "op: read, pattern: reverse"),
        refused("ramp: 0s", "op: read, pattern: {zipf: {theta: 1.1}}"),
        refused("ramp: 0s", "op: read, pattern: {sequential: 30%}"),
        refused("ramp: 0s", &format!("{writes}, sync: dsync")),
        refused("ramp: 0s", "op: {read: 50, write: 50}, pattern: random, sync: {fsync: 8}"),
        refused("ramp: 0s", &format!("{writes}, sync: {{fdatasync: 8}}, queue_depth: 2")),
        refused("backend: io_uring", &format!("{writes}, sync: {{fsync: 8}}")),
        refused(
            "direct: false",
            &format!("{writes}, sync: {{fsync: 8}}}}, {{{reads}, block_size: 4KiB, queue_depth: 2"),
        ),
        refused("ramp: 0s", "op: {read: 50, write: 50}, pattern: sequential"),
        refused("ramp: 0s", "block_size: {4KiB: 50, 64KiB: 50}, op: read, pattern: random"),
        refused("ramp: 0s", "block_size: {4KiB: 50, 64KiB: 50}, op: write, pattern: sequential"),
        refused("direct: false", &format!("{writes}, sync: {{sync_file_range: 4}}")),
        refused("ramp: 0s", &format!("{writes}, data: {{dedup: 2}}")),
        refused("ramp: 0s", &format!("{writes}, verify: {{after: true}}")),
        refused("ramp: 0s", &format!("{reads}, think: {{time: 1ms}}")),
        refused("ramp: 0s", &format!("{reads}, batch: {{stamps: once}}")),
        refused("ramp: 0s", &format!("{reads}, numa: {{memory: 0}}")),
        refused("ramp: 0s", &format!("{reads}, rate: 100.5/s")),
        refused("ramp: 0s", &format!("{reads}, rate: 100/s, jobs: 3")),
        refused("ramp: 0s", "op: {read: 70, write: 30}, pattern: random, rate: 101/s"),
        refused("ramp: 0s", &format!("{reads}, rate: {{schedule: [{{at: 0s, rate: 10/s}}, {{at: 1s, rate: 20/s}}]}}")),
        refused(
            "ramp: 0s",
            &format!("{reads}, rate: {{search: {{quantile: 99%, limit: 2ms, from: 1000/s, to: 40000/s}}}}"),
        ),
        refused("load_hosts: {search: {quantile: 99%, limit: 2ms}}", reads),
        refused("io_log: {size: 1MiB}", reads),
    ];
    expect![[r#"
        case `a`: `backend: none` contradicts `engine: fio`: it measures the cost of Stend's own engine
        case `a`: `pages: huge` contradicts `engine: fio`: fio needs reserved huge pages (`vm.nr_hugepages`), and Stend reserves none
        case `a`: `backend: psync` contradicts `engine: fio`: a job of fio then has one I/O in flight, and a `queue_depth` above 1 was asked for
        case `a`: `jobs` contradicts `engine: fio`: 257 jobs were asked for, and Stend gives fio at most 256
        case `a`: `discard` contradicts `engine: fio`: there is nothing in fio that means the same
        case `a`: `write_zeroes` contradicts `engine: fio`: there is nothing in fio that means the same
        case `a`: `pattern: reverse` contradicts `engine: fio`: its blocks would not be those of Stend's definition
        case `a`: `zipf` contradicts `engine: fio`: its blocks would not be those of Stend's definition
        case `a`: `pattern: {sequential}` contradicts `engine: fio`: its blocks would not be those of Stend's definition
        case `a`: `sync: dsync` contradicts `engine: fio`: fio can only open the target so (`sync: o_dsync`)
        case `a`: `sync` contradicts `engine: fio`: among reads fio syncs again and again after the same write
        case `a`: `sync` contradicts `engine: fio`: with several I/Os in flight fio syncs after fewer writes than asked; at `queue_depth: 1` it keeps to the number
        case `a`: `backend: io_uring` contradicts `engine: fio`: through it fio does not notice that a sync has failed, and `sync` was asked for
        case `a`: `direct: false` contradicts `engine: fio`: beside `sync` fio then has one I/O in flight, and a `queue_depth` above 1 was asked for
        case `a`: `pattern: sequential` contradicts `engine: fio`: fio keeps a position for each kind of I/O, so that a mix is two sequences and not one
        case `a`: `block_size` contradicts `engine: fio`: fio cuts I/Os short where the pass was already, so that other sizes come out (`pattern: uniform` has no passes)
        case `a`: `block_size` contradicts `engine: fio`: fio cuts I/Os short where the pass was already, so that other sizes come out (`pattern: uniform` has no passes)
        case `a`: `sync_file_range` contradicts `engine: fio`: there is nothing in fio that means the same
        case `a`: `dedup` contradicts `engine: fio`: a share of equal buffers is not a ratio
        case `a`: `verify` contradicts `engine: fio`: marks of fio tell less than Stend's, which cannot read them
        case `a`: `think` contradicts `engine: fio`: in fio a whole job rests, not each place in flight
        case `a`: `batch: stamps` contradicts `engine: fio`: fio reads the clock as it does
        case `a`: `numa` contradicts `engine: fio`: fio does not report where its buffers are
        case `a`: `rate` contradicts `engine: fio`: fio counts whole I/Os per second for each job and each kind of I/O, and this rate does not divide evenly
        case `a`: `rate` contradicts `engine: fio`: fio counts whole I/Os per second for each job and each kind of I/O, and this rate does not divide evenly
        case `a`: `rate` contradicts `engine: fio`: fio counts whole I/Os per second for each job and each kind of I/O, and this rate does not divide evenly
        case `a`: `rate` contradicts `engine: fio`: fio keeps one rate
        case `a`: `rate: {search}` contradicts `engine: fio`: a search decides by latencies that count from when an I/O was due, and fio has none
        case `a`: `load_hosts: {search}` contradicts `engine: fio`: a search of hosts decides by the responses of each I/O, which fio does not give
        case `a`: `io_log` contradicts `engine: fio`: fio keeps logs of its own, in milliseconds and in files beside the run file
    "#]].assert_eq(&(found.join("\n") + "\n"));
}

#[test]
fn the_same_keys_are_fine_where_our_own_engine_runs_the_case() {
    let native = "op: write, pattern: reverse, queue_depth: 2, rate: 100/s, data: {dedup: 2}";
    assert!(plan("engine: native", native).is_err(), "a key given twice");
    let mut inputs = stend_spec::parse::suite(
        "suite: x\ndefaults: {engine: fio}\ncases: [{name: a, engine: native, streams: [{op: read, pattern: reverse, block_size: 4KiB}]}]",
        "suite.yaml",
    )
    .unwrap();
    assert_eq!(inputs.needs_fio(), None, "a case has the last word over the defaults");
    inputs.run_by(Engine::Fio);
    assert_eq!(inputs.needs_fio(), Some(FioNeed { o_dsync: false }), "and the command line over both");
    inputs.cases[0].streams[0].sync = Sync::ODsync;
    assert_eq!(inputs.needs_fio(), Some(FioNeed { o_dsync: true }));
}

#[test]
fn syncs_of_one_write_at_a_time_and_uniform_mixtures_of_sizes_are_fine() {
    for (case, stream) in [
        ("ramp: 0s", "op: write, pattern: random, sync: {fdatasync: 8}"),
        ("backend: libaio", "op: write, pattern: sequential, sync: {fsync: 1}"),
        ("backend: psync", "op: write, pattern: sequential, sync: {fsync: 1}"),
        ("backend: io_uring", "op: write, pattern: sequential, queue_depth: 8"),
        ("ramp: 0s", "block_size: {4KiB: 50, 64KiB: 50}, op: {read: 50, write: 50}, pattern: uniform"),
    ] {
        assert!(plan(case, stream).is_ok(), "{case}, {stream}");
    }
}

#[test]
fn a_rate_is_shared_out_among_jobs_and_kinds() {
    let of = |stream: &str| per_job(&plan("ramp: 0s", stream).unwrap().cases[0].trial.streams[0]);
    assert_eq!(of("op: read, pattern: random, rate: 1000/s"), Some([1000, 0]));
    assert_eq!(of("op: {read: 70, write: 30}, pattern: random, rate: {poisson: 3000/s}, jobs: 3"), Some([700, 300]));
    assert_eq!(of("op: write, pattern: random"), None);
}

#[test]
fn only_the_differences_that_concern_a_case_are_told() {
    let of = |stream: &str| differences(&plan("ramp: 0s", stream).unwrap().cases[0].trial);
    use Difference as D;
    assert_eq!(of("op: read, pattern: uniform"), [D::Seconds, D::Clock, D::End, D::Errors, D::Bins]);
    let mixed = "{op: {read: 50, write: 50}, pattern: uniform, block_size: {4KiB: 60, 8KiB: 40}, data: {compress: 2}}";
    let log = "{op: write, pattern: sequential, block_size: 4KiB, sync: {fdatasync: 8}, queue_depth: 1, rate: 100/s}";
    let plan = fixture::plan(&format!("  - {{name: a, engine: fio, streams: [{mixed}, {log}]}}\n")).unwrap();
    assert_eq!(plan.cases[0].trial.engine, Engine::Fio);
    assert_eq!(differences(&plan.cases[0].trial), Difference::ALL);
}

#[test]
fn every_difference_is_a_clause_in_both_languages() {
    for difference in Difference::ALL {
        let text = difference.say();
        assert_ne!(text.en, text.ru);
        for lang in [Lang::En, Lang::Ru] {
            let clause = text.get(lang);
            assert!(!clause.ends_with('.') && clause.chars().next().is_some_and(char::is_lowercase), "{clause}");
        }
    }
}
