//! Suites and the jobs that they become, and back again; must not read files.

use super::super::{World, export, files};
use expect_test::expect;
use stend_base::{Error, Kind, Lang, say};

#[test]
fn what_fio_can_say_is_exported_and_the_rest_is_listed() {
    let suite = crate::parse::suite(
        "suite: x\nfill: {size: 1GiB}\ndefaults: {trial: 5s}\ncases:\n\
         - {name: a, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 8], jobs: 2}]}\n\
         - {name: b, streams: [{op: {read: 70, write: 30}, pattern: uniform, block_size: {4KiB: 60, 64KiB: 40}, rate: {poisson: 1000/s}, queue_depth: 4}]}\n\
         - {name: c, streams: [{op: write, pattern: append, block_size: 4KiB}]}\n\
         - {name: d, streams: [{op: write, pattern: sequential, block_size: 4KiB, sync: dsync, region: {start: 0%, size: 50%}}, {op: read, pattern: {zipf: {theta: 1.2}}, block_size: 8KiB, region: {start: 1MiB, size: 1MiB}}]}\n",
        "s.yaml",
    )
    .unwrap();
    expect![[r#"
        ; The suite `x` as jobs of fio. Name the target: TARGET=/dev/sdb fio FILE
        ; What is not in it, or is otherwise:
        ;   repeats: each job runs once, not 6 times in mixed order
        ;   `fill` and `precondition`: nothing is written beforehand
        ;   `rate`: fio's latency begins when it submits, not when an I/O was due
        ;   `c` is left out: fio has nothing that means `append`
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
    let suite = crate::parse::suite(&text, "s.yaml").unwrap();
    let jobs = export::fio(&suite).text(Lang::Ru);
    let read = |path: &str| Err(Error::new(Kind::Usage, say!("no `{path}`", "нет `{path}`")));
    let variable = |name: &str| (name == "TARGET").then(|| "/dev/sdb".to_string());
    let world = World { read: &read, variable: &variable, lenient: false };
    let back = files(&[("x".into(), jobs.clone().into_bytes())], &world).unwrap_or_else(|e| panic!("{e}\n{jobs}"));
    assert_eq!(back.suite.cases, suite.cases, "{jobs}");
}

#[test]
fn the_rate_of_discards_is_the_third_one() {
    let text = "suite: x\ncases:\n- {name: a, streams: [{op: discard, pattern: sequential, block_size: 1MiB, rate: 50/s, jobs: 2}]}\n";
    let jobs = export::fio(&crate::parse::suite(text, "s.yaml").unwrap()).text(Lang::En);
    assert!(jobs.contains("rw=trim") && jobs.contains("rate_iops=,,25\n"), "{jobs}");
}
