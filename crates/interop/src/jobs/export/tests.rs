//! Suites and the jobs that they become, and back again; must not read files.

use super::super::{ImportContext, Imported, export, files};
use expect_test::expect;
use stend_base::{Error, Lang, say};
use stend_spec::workload::Pages;

/// Jobs that were exported, as a suite again.
fn read_back(jobs: &str) -> Imported {
    let read = |path: &str| Err(Error::usage(say!("no `{path}`", "нет `{path}`")));
    let variable = |name: &str| (name == "TARGET").then(|| "/dev/sdb".to_string());
    let context = ImportContext { read: &read, variable: &variable, lenient: false };
    files(&[("x".into(), jobs.as_bytes().to_vec())], &context).unwrap_or_else(|e| panic!("{e}\n{jobs}"))
}

#[test]
fn what_a_suite_does_beside_its_load_is_named() {
    let suite = stend_spec::parse::suite(
        "suite: x\ncalibrate: members\nconfirm: [depth]\ncases:\n\
         - {name: a, prober: {rate: 10/s}, streams: [{op: read, pattern: random, block_size: 4KiB}]}\n",
        "s.yaml",
    )
    .unwrap();
    let lacks: Vec<String> = export::fio(&suite).lacks.into_iter().map(|lack| lack.en).collect();
    for key in ["`calibrate` and `ceilings`", "`confirm`", "`prober`"] {
        assert!(lacks.iter().any(|lack| lack.starts_with(key)), "{key}: {lacks:?}");
    }
}

#[test]
fn jobs_that_write_begin_with_what_is_lost_and_others_do_not() {
    let of = |op: &str| {
        let case = format!("{{name: a, streams: [{{op: {op}, pattern: random, block_size: 4KiB}}]}}");
        let suite = stend_spec::parse::suite(&format!("suite: x\ncases: [{case}]\n"), "s.yaml").unwrap();
        export::fio(&suite)
    };
    let second = |exported: &export::Exported, lang| exported.text(lang).lines().nth(1).unwrap_or_default().to_string();
    for op in ["write", "discard", "{read: 99, write: 1}"] {
        assert!(second(&of(op), Lang::En).starts_with("; These jobs WRITE: all data on TARGET are lost."), "{op}");
        assert!(second(&of(op), Lang::Ru).starts_with("; Задания ПИШУТ: данные на TARGET пропадут."), "{op}");
    }
    assert_eq!(second(&of("read"), Lang::En), "; Name the target: TARGET=/dev/XXX fio FILE");
}

#[test]
fn huge_pages_become_reserved_ones_which_is_told_and_come_back() {
    let text = "suite: x\ncases:\n- {name: a, pages: huge, streams: [{op: read, pattern: random, block_size: 1MiB}]}\n\
                - {name: b, streams: [{op: read, pattern: random, block_size: 1MiB}]}\n";
    let suite = stend_spec::parse::suite(text, "s.yaml").unwrap();
    let exported = export::fio(&suite);
    assert!(exported.lacks.iter().any(|lack| lack.en.contains("vm.nr_hugepages")), "{:?}", exported.lacks);
    let jobs = exported.text(Lang::En);
    assert_eq!(jobs.matches("mem=shmhuge\nhugepage-size=2m\n").count(), 1, "{jobs}");
    let pages: Vec<_> = read_back(&jobs).suite.cases.iter().map(|case| case.pages).collect();
    assert_eq!(pages, [Pages::Huge, Pages::Ordinary]);
}

#[test]
fn what_fio_can_say_is_exported_and_the_rest_is_listed() {
    let suite = stend_spec::parse::suite(
        "suite: x\nfill: {size: 1GiB}\ndefaults: {trial: 5s}\ncases:\n\
         - {name: a, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 8], jobs: 2}]}\n\
         - {name: b, streams: [{op: {read: 70, write: 30}, pattern: uniform, block_size: {4KiB: 60, 64KiB: 40}, rate: {poisson: 1000/s}, queue_depth: 4}]}\n\
         - {name: c, streams: [{op: write, pattern: append, block_size: 4KiB}]}\n\
         - {name: d, streams: [{op: write, pattern: sequential, block_size: 4KiB, sync: dsync, region: {start: 0%, size: 50%}}, {op: read, pattern: {zipf: {theta: 1.2}}, block_size: 8KiB, region: {start: 1MiB, size: 1MiB}}]}\n",
        "s.yaml",
    )
    .unwrap();
    expect![[r#"
        ; The suite `x` as jobs of fio
        ; These jobs WRITE: all data on TARGET are lost. TARGET=/dev/XXX fio FILE
        ; What is missing or different:
        ;   repeats: each job runs once, not 6 times in mixed order
        ;   `fill` and `precondition`: nothing is written beforehand
        ;   `rate`: fio's latency begins when it submits, not when an I/O was due
        ;   `c` is left out: fio has no equivalent of `append`
        ;   `d`: `dsync` is that of the open target, not of each write
        [global]
        filename=${TARGET}
        time_based=1
        refill_buffers=1

        [a qd1]
        stonewall
        ioengine=io_uring
        direct=1
        runtime=5000000us
        ramp_time=1000000us
        rw=randread
        bs=4096
        iodepth=1
        numjobs=2
        offset=0%
        size=50%
        offset_increment=50%

        [a qd8]
        stonewall
        ioengine=io_uring
        direct=1
        runtime=5000000us
        ramp_time=1000000us
        rw=randread
        bs=4096
        iodepth=8
        numjobs=2
        offset=0%
        size=50%
        offset_increment=50%

        [b]
        stonewall
        ioengine=io_uring
        direct=1
        runtime=5000000us
        ramp_time=1000000us
        rw=randrw
        norandommap=1
        rwmixread=70
        bssplit=4096/60:65536/40
        iodepth=4
        numjobs=1
        rate_iops=700,300
        rate_process=poisson
        offset=0%
        size=100%

        [d s1]
        stonewall
        ioengine=io_uring
        direct=1
        runtime=5000000us
        ramp_time=1000000us
        rw=write
        bs=4096
        iodepth=1
        numjobs=1
        sync=dsync
        offset=0%
        size=50%

        [d s2]
        ioengine=io_uring
        direct=1
        runtime=5000000us
        ramp_time=1000000us
        rw=randread
        random_distribution=zipf:1.2
        bs=8192
        iodepth=1
        numjobs=1
        offset=1048576
        size=1048576
    "#]]
    .assert_eq(&export::fio(&suite).text(Lang::En));
}

#[test]
fn what_is_exported_is_read_back_as_the_same_streams() {
    let stream = "op: {read: 70, write: 30}, pattern: uniform, block_size: {4KiB: 60, 64KiB: 40}, queue_depth: 4";
    let text = format!(
        "suite: x\ndefaults: {{prober: off, trial: 5s, ramp: 2s, backend: libaio}}\ncases:\n\
         - {{name: a, streams: [{{{stream}, region: {{start: 25%, size: 50%}}, data: {{compress: 2.5}}}}]}}\n\
         - {{name: b, streams: [{{op: write, pattern: {{zones: [{{space: 10%, accesses: 90%}}, {{space: 90%, accesses: 10%}}]}}, block_size: 8KiB, sync: o_dsync, cpus: [0, 1]}}]}}\n"
    );
    let suite = stend_spec::parse::suite(&text, "s.yaml").unwrap();
    let jobs = export::fio(&suite).text(Lang::Ru);
    assert_eq!(read_back(&jobs).suite.cases, suite.cases, "{jobs}");
}

#[test]
fn the_rate_of_discards_is_the_third_one() {
    let text = "suite: x\ncases:\n- {name: a, streams: [{op: discard, pattern: sequential, block_size: 1MiB, rate: 50/s, jobs: 2}]}\n";
    let jobs = export::fio(&stend_spec::parse::suite(text, "s.yaml").unwrap()).text(Lang::En);
    assert!(jobs.contains("rw=trim") && jobs.contains("rate_iops=,,25\n"), "{jobs}");
}

#[test]
fn what_fio_refuses_or_rounds_is_listed_and_cells_are_whole() {
    let export = |streams: &str| {
        let text = format!("suite: x\ncases:\n- {{name: a, streams: [{streams}]}}\n");
        export::fio(&stend_spec::parse::suite(&text, "s.yaml").unwrap()).text(Lang::En)
    };
    let zipf = |theta: &str| export(&format!("{{op: read, pattern: {{zipf: {{theta: {theta}}}}}, block_size: 4KiB}}"));
    assert!(
        zipf("1").contains("`a` is left out: fio refuses `zipf` with a `theta` of exactly 1")
            && !zipf("1").contains("zipf:1\n")
    );
    assert!(zipf("0.9").contains("random_distribution=zipf:0.9"));
    let part = |size: u32| {
        export(&format!(
            "{{op: read, pattern: random, block_size: 4KiB, jobs: 3, region: {{start: 0%, size: {size}%}}}}"
        ))
    };
    assert!(
        part(50).contains("each job has 16 % of the target, and the rest of the region is left out"),
        "{}",
        part(50)
    );
    assert!(!part(60).contains("rest of the region"));
    // Three streams with axes: more cells than fio is given, and each of those has all three.
    let axis: Vec<String> = (1..=30).map(|depth| depth.to_string()).collect();
    let one = format!("{{op: read, pattern: random, block_size: 4KiB, queue_depth: [{}]}}", axis.join(", "));
    let case =
        &stend_spec::parse::suite(&format!("suite: x\ncases:\n- {{name: a, streams: [{one}, {one}]}}\n"), "s.yaml")
            .unwrap()
            .cases[0];
    let mut three = case.clone();
    three.streams.push(three.streams[0].clone());
    let cells = export::cells::cells(&three, 100);
    assert!(cells.len() == 101 && cells.iter().all(|(_, streams)| streams.len() == 3));
    let labels: Vec<&str> = cells.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!((labels[0], labels[30]), ("a s1 qd1 s2 qd1 s3 qd1", "a s1 qd1 s2 qd2 s3 qd1"));
    assert_eq!(export::cells::cells(case, 10_000).len(), 900);
}

#[test]
fn more_cells_than_a_number_holds_are_counted_from_the_first() {
    let one = "{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 2]}";
    let text = format!("suite: x\ncases:\n- {{name: a, streams: [{one}]}}\n");
    let mut case = stend_spec::parse::suite(&text, "s.yaml").unwrap().cases[0].clone();
    case.streams = vec![case.streams[0].clone(); 64];
    let cells = export::cells::cells(&case, 5);
    let depths: Vec<Vec<u32>> =
        cells.iter().map(|(_, streams)| streams[61..].iter().map(|stream| stream.queue_depth[0]).collect()).collect();
    assert_eq!(depths, [[1, 1, 1], [1, 1, 2], [1, 2, 1], [1, 2, 2], [2, 1, 1], [2, 1, 2]]);
    assert!(cells.iter().all(|(_, streams)| streams.len() == 64 && streams[0].queue_depth == [1]));
}

#[test]
fn events_logs_and_observations_that_jobs_do_not_have_are_listed() {
    let lacks = |text: &str| export::fio(&stend_spec::parse::suite(text, "s.yaml").unwrap()).text(Lang::En);
    let case = "streams: [{op: read, pattern: random, block_size: 4KiB}]}\n";
    let observed = format!(
        "suite: x\nobserve: {{q: [cat, /x]}}\narms:\n- {{name: a}}\n- {{name: b, switch: {{person: turn it}}}}\ncases:\n- {{name: c, {case}"
    );
    assert!(lacks(&observed).contains(";   `observe`: "), "{}", lacks(&observed));
    let logged = format!("suite: x\ncases:\n- {{name: c, trial: 10s, io_log: {{size: 1MiB}}, {case}");
    assert!(lacks(&logged).contains(";   `io_log`: ") && !lacks(&logged).contains("`events`"));
    let changed = format!("suite: x\ncases:\n- {{name: c, trial: 10s, events: [{{at: 1s, do: scrub}}], {case}");
    assert!(lacks(&changed).contains(";   `events`: "), "{}", lacks(&changed));
}
