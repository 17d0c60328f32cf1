//! Jobs of fio and the suites that they become; must not read files.

mod meaning;

use super::*;
use crate::jobs::notes::Weight;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use stend_base::{Kind, Lang};
use stend_spec::workload::Pages;

fn none(path: &str) -> Result<Vec<u8>> {
    Err(Error::usage(say!("no `{path}`", "нет `{path}`")))
}

fn context(lenient: bool) -> ImportContext<'static> {
    ImportContext { read: &none, variable: &|name| (name == "SIZE").then(|| "64m".to_string()), lenient }
}

pub(super) fn import(text: &str, lenient: bool) -> Result<Imported> {
    files(&[("jobs.fio".into(), text.as_bytes().to_vec())], &context(lenient))
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&import(text, false).map_or_else(|e| e.render(Lang::En), |i| i.text(Lang::En)));
}

/// The one line of the one stream.
fn stream(text: &str) -> String {
    let found = import(&format!("[a]\nfilename=/dev/x\ntime_based\nruntime=1\n{text}"), false);
    let text = found.unwrap_or_else(|e| panic!("{e}")).text(Lang::En);
    text.lines().filter_map(|line| line.strip_prefix("      - ")).collect::<Vec<_>>().join("\n")
}

pub(super) fn refused(text: &str) -> String {
    let text = format!("[a]\nfilename=/dev/x\nrw=randread\nruntime=1\n{text}");
    let error = import(&text, false).map(|i| i.text(Lang::En)).unwrap_err();
    assert!(error.kind == Kind::Spec && error.message.ru.starts_with("jobs.fio:"), "{error}");
    error.to_string()
}

#[test]
fn a_file_of_the_article_becomes_eight_streams_whose_lies_are_told() {
    let head = "[global]\nblocksize=4k\nsize=80%\ndirect=1\nbuffered=0\nioengine=libaio\niodepth=128\ngroup_reporting\nrw=read\n\
                numjobs=16\nruntime=2400\ntime_based=1\nper_job_logs=0\nlog_avg_msec=30000\nwrite_bw_log=./logs/read\n";
    let jobs: String = ["sdj", "sdc", "sdd", "sde", "sdf", "sdg", "sdh", "sdi"]
        .iter()
        .enumerate()
        .map(|(index, name)| format!("[job-{}]\nfilename=/dev/{name}\n", index + 1))
        .collect();
    let imported = import(&format!("{head}{jobs}"), false).unwrap();
    assert_eq!((imported.suite.cases.len(), imported.suite.cases[0].streams.len()), (1, 8));
    assert_eq!(imported.targets.first().map(String::as_str), Some("/dev/sdj"));
    let text = imported.text(Lang::En);
    assert!(text.contains("--on /dev/sdj --on /dev/sdc"), "{text}");
    assert!(text.contains("each of 16 jobs has a part of its own; in fio all go over all of it"), "{text}");
    assert!(text.contains("jobs: 16, region: {start: 12.5%, size: 10%}"), "{text}");
    assert!(text.contains("Left out, because it changes no I/O: group_reporting, log_avg_msec"), "{text}");
    // As printed: the last job of the last file has no device.
    let without = format!("{head}{}", jobs.replace("filename=/dev/sdi\n", ""));
    let error = import(&without, false).unwrap_err().to_string();
    assert!(error.contains("jobs.fio:30: the job `job-8` has no `filename`"), "{error}");
    assert!(import(&without, true).is_err(), "nobody can know which");
}

#[test]
fn memory_of_huge_pages_is_taken_over_and_other_memory_changes_no_io() {
    let of = |lines: &str| {
        let text = format!("[a]\nfilename=/dev/x\ntime_based\nruntime=1\nrw=read\n{lines}");
        let found = import(&text, false).unwrap_or_else(|e| panic!("{e}"));
        (found.suite.cases[0].pages, found.text(Lang::En))
    };
    for kind in ["mem=shmhuge", "iomem=mmaphuge", "mem=mmaphuge:/huge/file"] {
        let (pages, text) = of(kind);
        assert_eq!(pages, Pages::Huge, "{text}");
        assert!(text.contains("transparent ones of 2 MiB") && text.contains("\n    pages: huge\n"), "{text}");
        assert!(of(&format!("{kind}\nhugepage-size=1g")).1.contains("jobs.fio:7: huge pages have 2 MiB here"));
        assert!(!of(&format!("{kind}\nhugepage-size=2m")).1.contains("jobs.fio:7"));
    }
    for kind in ["", "mem=malloc", "iomem=mmap", "mem=mmap:/tmp/x", "mem=shm", "mem=mmapshared", "hugepage-size=2m"] {
        let (pages, text) = of(kind);
        assert!(pages == Pages::Ordinary && !text.contains("pages:"), "{text}");
    }
    assert!(refused("mem=cudamalloc").contains("jobs.fio:5: Stend has no memory `mem=cudamalloc`"));
    assert!(
        refused("[b]\nfilename=/dev/x\nrw=randread\nruntime=1\nmem=shmhuge")
            .contains("`mem` differs between jobs that run at once")
    );
}

#[test]
fn the_chain_of_the_article_becomes_a_case_per_command() {
    let command = "fio -name=seq_mbs_write_T1Q1N1 -ioengine=libaio -direct=1 -invalidate=1 -bs=4M -iodepth=32 -rw=write \
        -runtime=60 -filename=/dev/nvme1n1 && sleep 10 && fio -name=rand_iops_read_T1Q128N1 -ioengine=libaio -direct=1 \
        -invalidate=1 -bs=4k -iodepth=128 -numjobs=4 -group_reporting -rw=randread -runtime=60 -randrepeat=0 \
        -filename=/dev/nvme1n1 && sleep 10 && fio -name=rand_iops_write_T1Q1N1 -randrepeat=0 -ioengine=libaio -direct=1 \
        -invalidate=1 -bs=4k -iodepth=1 -fsync=1 -rw=randwrite -runtime=60 -filename=/dev/nvme1n1";
    let imported = crate::jobs::command(&[command.to_string()], &context(false)).unwrap();
    expect![[r##"
        # Made by `stend import --suite` of fio command line
        # The jobs name these targets; a suite names none, so give them, in this order: --on /dev/nvme1n1
        # Decisions:
        #   command:12: `sleep` between commands is left out
        #   command:29: `sleep` between commands is left out
        #   command:9: fio would end earlier, after its volume; a trial goes on until its time is over
        #   command:25: fio would end earlier, after its volume; a trial goes on until its time is over
        #   command:22: each of 4 jobs has a part of its own; in fio all go over all of it, so that a cache may answer what another job has read
        #   command:42: fio would end earlier, after its volume; a trial goes on until its time is over
        # Left out, because it changes no I/O: group_reporting, invalidate, randrepeat
        suite: "fio command line"
        defaults: {prober: off}
        cases:
          - name: "seq_mbs_write_T1Q1N1"
            trial: 60s
            ramp: 0s
            direct: true
            backend: libaio
            streams:
              - {op: write, pattern: sequential, block_size: 4MiB, queue_depth: 32}
          - name: "rand_iops_read_T1Q128N1"
            trial: 60s
            ramp: 0s
            direct: true
            backend: libaio
            streams:
              - {op: read, pattern: random, block_size: 4KiB, queue_depth: 128, jobs: 4}
          - name: "rand_iops_write_T1Q1N1"
            trial: 60s
            ramp: 0s
            direct: true
            backend: libaio
            streams:
              - {op: write, pattern: random, block_size: 4KiB, queue_depth: 1, sync: {fsync: 1}}
    "##]]
    .assert_eq(&imported.text(Lang::En));
}

#[test]
fn files_that_fio_would_name_after_its_jobs_are_files_of_a_directory() {
    let step = |rest: &str| format!("fio -name=test1 -ioengine=libaio -direct=1 {rest} -runtime=60 -filesize=20G");
    let words = format!(
        "{} && sleep 30 && {}",
        step("-bs=4M -iodepth=32 -rw=write"),
        step("-bs=4k -iodepth=128 -numjobs=16 -rw=randwrite")
    );
    let imported = crate::jobs::command(&[words], &context(false)).unwrap();
    let text = imported.text(Lang::En);
    assert!(text.contains("fill: {size: auto}\nfiles: {count: 16, size: 20GiB}"), "{text}");
    assert!(
        text.contains("queue_depth: 32, region: {start: 0B, size: 20GiB}}"),
        "the first job has one of them: {text}"
    );
    assert!(text.contains("queue_depth: 128, jobs: 16}"), "{text}");
    // As printed: a name that fio does not have, and a sync of reads.
    let typo =
        crate::jobs::command(&[step("-invaqdlidate=1 -bs=4k -rw=randread -fsync=1")], &context(false)).unwrap_err();
    assert!(
        typo.to_string().contains("command:5: unknown option `invaqdlidate`\nhint: did you mean `invalidate`?"),
        "{typo}"
    );
    let reads = crate::jobs::command(&[step("-bs=4k -rw=randread -fsync=1")], &context(false)).unwrap().text(Lang::En);
    assert!(reads.contains("`fsync` has no effect: nothing is written") && !reads.contains("sync:"), "{reads}");
}

#[test]
fn globals_count_below_them_and_stonewall_begins_a_case() {
    check(
        "[global]\nfilename=/dev/x\nbs=8k\nruntime=1m\ntime_based\n[a]\nrw=randread\n[global-2]\nbs=16k\n[b]\nrw=write\n[c]\nstonewall\nrw=randrw\nrwmixread=70\n",
        expect![[r##"
            # Made by `stend import --suite` of jobs.fio
            # The jobs name these targets; a suite names none, so give them, in this order: --on /dev/x
            # Decisions:
            #   jobs.fio:6: without `direct=1` fio drops the file from the page cache and then reads; here reads may be answered from memory by what the fill or an earlier trial left there: `direct: true` reads the storage
            #   jobs.fio:12: without `direct=1` fio drops the file from the page cache and then reads; here reads may be answered from memory by what the fill or an earlier trial left there: `direct: true` reads the storage
            suite: "jobs"
            defaults: {prober: off}
            cases:
              - name: "a +1"
                trial: 60s
                ramp: 0s
                direct: false
                backend: psync
                streams:
                  - {op: read, pattern: random, block_size: 8KiB, queue_depth: 1, region: {start: 0%}}
                  - {op: write, pattern: sequential, block_size: 16KiB, queue_depth: 1, region: {start: 0%}}
              - name: "c"
                trial: 60s
                ramp: 0s
                direct: false
                backend: psync
                streams:
                  - {op: {read: 70, write: 30}, pattern: random, block_size: 16KiB, queue_depth: 1}
        "##]],
    );
}

#[test]
fn every_value_that_a_stream_has_is_taken_over() {
    let all = [
        "rw=randread\nnorandommap\niodepth=8\nioengine=io_uring\ndirect=1",
        "rw=randrw\nrwmixwrite=30\nbssplit=4k/60:64k/40\nnorandommap",
        "rw=randread\nbsrange=4k-16k",
        "rw=randread\nrandom_distribution=zipf:1.2",
        "rw=randread\nrandom_distribution=pareto:0.3",
        "rw=randwrite\nrandom_distribution=normal:12.5",
        "rw=randread\nrandom_distribution=zoned:60/10:40/90",
        "rw=randread\npercentage_random=30",
        "rw=write\nfdatasync=8",
        "rw=randwrite\nsync=dsync\nbuffer_compress_percentage=60",
        "rw=randread\nrate_iops=500\nnumjobs=2\nrate_process=poisson",
        "rw=read\nrate=1m\nbs=64k",
        "rw=randread\nthinktime=200\nthinktime_blocks=4",
        "rw=randread\nioengine=libaio\ndirect=1\niodepth=16\niodepth_batch_submit=8\niodepth_batch_complete_min=8",
        "rw=write\nnumjobs=3\noffset_increment=1g\nsize=1g",
        "rw=randtrim\nbs=64k",
        "rw=randread\ncpus_allowed=0-2,5\ncpus_allowed_policy=split\noffset=25%\nsize=50%",
        "rw=write\nnumjobs=2",
        "rw=read\nsize=${SIZE}\noffset=(2*4)m\nbs=$pagesize*2",
    ];
    expect![[r#"
        {op: read, pattern: uniform, block_size: 4KiB, queue_depth: 8}
        {op: {read: 70, write: 30}, pattern: uniform, block_size: {4KiB: 60, 64KiB: 40}, queue_depth: 1}
        {op: read, pattern: random, block_size: {4KiB: 25, 8KiB: 25, 12KiB: 25, 16KiB: 25}, queue_depth: 1}
        {op: read, pattern: {zipf: {theta: 1.2}}, block_size: 4KiB, queue_depth: 1}
        {op: read, pattern: {pareto: {hot: 30%}}, block_size: 4KiB, queue_depth: 1}
        {op: write, pattern: {normal: {deviation: 12.5%}}, block_size: 4KiB, queue_depth: 1}
        {op: read, pattern: {zones: [{space: 10%, accesses: 60%}, {space: 90%, accesses: 40%}]}, block_size: 4KiB, queue_depth: 1}
        {op: read, pattern: {sequential: 70%}, block_size: 4KiB, queue_depth: 1}
        {op: write, pattern: sequential, block_size: 4KiB, queue_depth: 1, sync: {fdatasync: 8}}
        {op: write, pattern: random, block_size: 4KiB, queue_depth: 1, sync: o_dsync, data: {compress: 2.5, dedup: 1}}
        {op: read, pattern: random, block_size: 4KiB, queue_depth: 1, jobs: 2, rate: {poisson: 1000/s}}
        {op: read, pattern: sequential, block_size: 64KiB, queue_depth: 1, rate: 16/s}
        {op: read, pattern: random, block_size: 4KiB, queue_depth: 1, think: {time: 200us, every: 4}}
        {op: read, pattern: random, block_size: 4KiB, queue_depth: 16, batch: {size: 8}}
        {op: write, pattern: sequential, block_size: 4KiB, queue_depth: 1, region: {start: 0B, size: 1GiB}}
        {op: write, pattern: sequential, block_size: 4KiB, queue_depth: 1, region: {start: 1GiB, size: 1GiB}}
        {op: write, pattern: sequential, block_size: 4KiB, queue_depth: 1, region: {start: 2GiB, size: 1GiB}}
        {op: discard, pattern: random, block_size: 64KiB, queue_depth: 1}
        {op: read, pattern: random, block_size: 4KiB, queue_depth: 1, region: {start: 25%, size: 50%}, cpus: [0, 1, 2, 5]}
        {op: write, pattern: sequential, block_size: 4KiB, queue_depth: 1, region: {start: 0%}}
        {op: write, pattern: sequential, block_size: 4KiB, queue_depth: 1, region: {start: 0%}}
        {op: read, pattern: sequential, block_size: 8KiB, queue_depth: 1, region: {start: 8MiB, size: 64MiB}}"#]]
    .assert_eq(&all.map(stream).join("\n"));
}

#[test]
fn what_means_something_else_is_an_error_with_its_line_and_a_list_when_that_is_allowed() {
    let all = [
        "rw=rw",
        "rw=randread:8",
        "rw=read:4k",
        "rw=trimwrite",
        "rw=randrw\nbs=4k,8k",
        "verify=crc32c",
        "verify_only\nverify=md5\nrw=write",
        "verify=md5\nrw=write\nverify_backlog=8",
        "verify=md5\nrw=randwrite\nbssplit=4k/50:8k/50",
        "ioengine=io_uring_cmd\nrw=randtrim",
        "ioengine=rbd",
        "thinktime=1ms\niodepth=4\nioengine=io_uring\ndirect=1",
        "rw=randrw\nrwmixread=70\nrate_iops=100",
        "zero_buffers\nrw=write",
        "exec_prerun=reboot",
        "zonemode=zbd",
        "blocksiz=4k",
        "frobnicate=1",
        "hipri",
        "rw=write\nfsync=1\nsync=1",
        "bs=4k\nba=8k",
        "startdelay=5",
        "iodepth_batch_complete_min=4\niodepth=8\nioengine=libaio\ndirect=1",
        "random_distribution=zoned_abs:1/1g",
    ];
    let notes: Vec<String> =
        all.iter().map(|text| refused(text).lines().next().unwrap_or_default().to_string()).collect();
    expect![[r#"
        error: jobs.fio:5: fio keeps a position for reads and one for writes; here a mix goes through one sequence
        error: jobs.fio:5: with `:8` fio goes on in order for so many I/Os and then jumps
        error: jobs.fio:5: with `:4k` fio leaves holes or goes backwards
        error: jobs.fio:5: `trimwrite` discards each block right before it is written, which a mix does not
        error: jobs.fio:6: `bs` differs between kinds of I/O, and a stream has one for all
        error: jobs.fio:5: fio compares what an earlier job wrote; here these reads are not compared
        error: jobs.fio:5: what an earlier run of fio wrote is not known here
        error: jobs.fio:7: fio reads back amid its writes, which slows them down; here that is after the window
        error: jobs.fio:5: only writes of one block size and of data of Stend's own are compared, and none beside discards or without I/O
        error: jobs.fio:6: NVMe commands past the block layer are reads and writes here, and nothing else
        error: jobs.fio:5: Stend has no `ioengine=rbd`
        error: jobs.fio:5: in fio the whole job rests; here each of the 4 I/Os in flight would, and none beside a rate
        error: jobs.fio:7: the rates of reads and writes are not in the ratio of the mix
        error: jobs.fio:5: `zero_buffers`: a suite cannot ask for such data
        error: jobs.fio:5: `exec_prerun` is not imported: commands of a job file are never executed
        error: jobs.fio:5: `zonemode` is not imported: Stend does not know zones of zoned devices
        error: jobs.fio:5: unknown option `blocksiz`
        error: jobs.fio:5: unknown option `frobnicate`
        error: jobs.fio:5: polling is for `ioengine=io_uring`
        error: jobs.fio:7: two kinds of durable writes at once
        error: jobs.fio:6: here I/Os are aligned to their smallest size
        error: jobs.fio:5: all streams of a case begin together
        error: jobs.fio:5: a batch has one number for waiting and submitting, at most the depth, and no rate
        error: jobs.fio:5: zones in bytes are shares here"#]].assert_eq(&notes.join("\n"));
    for text in all {
        let text = format!("[a]\nfilename=/dev/x\nrw=randread\nruntime=1\n{text}");
        let imported = import(&text, true).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(imported.notes.iter().any(|note| note.weight == Weight::Changed), "{text}");
        let notes = imported.text(Lang::Ru);
        assert!(notes.contains("# Здесь значит другое или не действует (--lenient):\n#   jobs.fio:"), "{notes}");
    }
}

#[test]
fn what_is_wrong_is_an_error_even_if_much_is_allowed() {
    for (text, why) in [
        ("rw=sideways", "jobs.fio:5: `rw` needs a kind of I/O such as `randread`, not `sideways`"),
        ("bs=1.5k", "a size such as `4k`"),
        ("bs=1000", "a multiple of 512 B"),
        ("bs=0", "a multiple of 512 B"),
        ("bssplit=4k/60:64k/30", "100 percent"),
        ("bssplit=4k/50:6k/50", "multiples of the smallest"),
        ("bsrange=64k-4k", "at most 100 sizes"),
        ("iodepth=many", "a whole number"),
        ("iodepth=99999999999", "a smaller number"),
        ("numjobs=0", "1 to 1024"),
        ("runtime=5 parsecs", "a time"),
        ("rwmixread=101\nrw=rw", "0 to 100"),
        ("kb_base=1001", "1000 or 1024"),
        ("cpus_allowed=9-3", "CPUs such as"),
        ("direct=maybe", "0 or 1"),
        ("bs=4k,4k,4k,4k", "at most three"),
        ("=4k", "is not an option"),
        ("size=${UNSET", "a size such as"),
        ("[b", "has no end"),
        ("[]", "1 to 255 bytes"),
        ("[b] bs=4k", "follows the name"),
        ("random_distribution=zoned:60/10:40/80", "zones such as"),
        ("bs=$ncpus", "differs from machine to machine"),
        ("include x.inc", "no `x.inc`"),
    ] {
        let text = format!("[a]\nfilename=/dev/x\nrw=randread\nruntime=1\n{text}");
        let error = import(&text, true).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("jobs.fio:"), "{text}: {error}");
    }
}

#[test]
fn files_include_others_beside_them_but_not_themselves() {
    let read = |path: &str| match path {
        "dir/a.inc" => Ok(b"bs=8k\ninclude b.inc\n".to_vec()),
        "dir/b.inc" => Ok(b"iodepth=4\n".to_vec()),
        "dir/loop.inc" => Ok(b"include loop.inc\n".to_vec()),
        "dir/section.inc" => Ok(b"[x]\n".to_vec()),
        other => none(other),
    };
    let context = ImportContext { read: &read, ..context(false) };
    let of = |text: &str| files(&[("dir/jobs.fio".into(), text.as_bytes().to_vec())], &context);
    let good = of("[a]\nfilename=/dev/x\nioengine=io_uring\ndirect=1\ninclude a.inc\n").unwrap().text(Lang::En);
    assert!(good.contains("block_size: 8KiB, queue_depth: 4"), "{good}");
    let error = |name: &str| of(&format!("[a]\ninclude {name}\n")).unwrap_err().to_string();
    assert!(error("loop.inc").contains("dir/loop.inc:1: `loop.inc` includes itself"), "{}", error("loop.inc"));
    assert!(error("section.inc").contains("dir/section.inc:1: an included file has no sections"));
}

#[test]
fn bytes_that_are_no_text_have_a_place() {
    let of = |bytes: &[u8]| {
        files(&[("x".into(), bytes.to_vec())], &context(true)).map(|i| i.text(Lang::En)).unwrap_err().to_string()
    };
    assert!(of(b"[a]\n\xff\xfe").contains("x:2: the line is not UTF-8"));
    assert!(of(b"[a]\n\n\0bs=4k").contains("x:3: the line has control characters"));
    assert!(of(b"").contains("x:1: there is no job in it"));
    assert!(of(b"bs=4k").contains("x:1: `bs` comes before the first section"));
    assert!(of(&vec![b'a'; 2 << 20]).contains("x:1: the file is larger than 1 MiB"));
    assert!(of(format!("[a]\n{}", "b".repeat(20_000)).as_bytes()).contains("x:2: the line is longer than"));
    assert!(of("[a]\n".repeat(2000).as_bytes()).contains("x:1001: there are more than 1000 sections"));
    assert!(
        of(format!("[a]\n{}", "bs=4k\n".repeat(2000)).as_bytes())
            .contains("x:1002: the section has more than 1000 options")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_suite_or_an_error_with_a_place(bytes in proptest::collection::vec(any::<u8>(), 0..300), lenient: bool) {
        if let Err(e) = files(&[("x".into(), bytes)], &context(lenient)) {
            prop_assert!(e.kind == Kind::Spec && e.message.en.starts_with("x:"), "{}", e);
        }
    }

    #[test]
    fn any_options_are_a_suite_or_an_error(
        options in proptest::collection::vec((0usize..300, "[0-9a-zA-Z%:/,(){}$.\\-]{0,12}"), 0..12),
        lenient: bool,
    ) {
        let known: Vec<&str> = super::names::all().collect();
        let lines: String = options.iter().map(|(index, value)| format!("{}={value}\n", known[index % known.len()])).collect();
        for text in [format!("[a]\nfilename=/dev/x\n{lines}"), format!("[global]\nsize=1g\n[a]\n{lines}[b]\n{lines}")] {
            match import(&text, lenient) {
                Ok(_) => {}
                Err(e) => prop_assert_eq!(e.kind, Kind::Spec, "{}", e),
            }
        }
    }

    #[test]
    fn any_words_are_a_suite_or_an_error(words in proptest::collection::vec("[-a-z0-9=&;'\" \\\\]{0,10}", 0..8)) {
        let words: Vec<String> = std::iter::once("fio".to_string()).chain(words).collect();
        if let Err(e) = crate::jobs::command(&words, &context(true)) {
            prop_assert_eq!(e.kind, Kind::Spec, "{}", e);
        }
    }
}

#[test]
fn a_directory_is_part_of_the_path_and_files_that_are_included_are_counted() {
    let text = "[a]\ndirectory=/mnt/ssd\nfilename=t\nrw=read\nsize=1g\nruntime=1\ntime_based\n\
                [b]\nstonewall\ndirectory=/mnt/hdd/\nfilename=t\nrw=read\nsize=1g\nruntime=1\ntime_based\n";
    let apart = import(text, false).unwrap_err().to_string();
    assert!(apart.contains("jobs.fio:1: files of several directories"), "{apart}");
    let one = import(&text.replace("hdd/", "ssd"), false).unwrap();
    assert_eq!((&one.targets[..], one.suite.files), (&["/mnt/ssd".to_string()][..], None), "two jobs on one file");
    let own = import("[a]\ndirectory=/mnt/ssd\nrw=read\nsize=1g\n", false).unwrap();
    assert_eq!(own.targets, ["/mnt/ssd"]);
    assert_eq!(import("[a]\nfilename=t\nrw=read\nsize=1g\n", false).unwrap().targets, ["."]);
    let many: String = (0..200).map(|_| "include x\n".to_string()).collect();
    let empty = |_: &str| Ok(b"rw=read\n".to_vec());
    let context = ImportContext { read: &empty, variable: &|_| None, lenient: false };
    let error = files(&[("jobs.fio".into(), format!("[global]\n{many}").into_bytes())], &context).unwrap_err();
    assert!(error.to_string().contains("jobs.fio:102: more than 100 files"), "{error}");
    assert!(refused("create_only=1").contains("create_only"));
}

#[test]
fn the_value_of_a_variable_is_not_published() {
    let context = ImportContext { read: &none, variable: &|_| Some("secret".into()), lenient: false };
    let text = "[a]\ndescription=${TOKEN}\nfilename=/dev/x\nrw=read\nruntime=1\ntime_based\n";
    let text = files(&[("jobs.fio".into(), text.as_bytes().to_vec())], &context).unwrap().text(Lang::En);
    assert!(text.contains("the value of `${TOKEN}` was inserted") && !text.contains("secret"), "{text}");
}
