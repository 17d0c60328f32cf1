//! Jobs of fio and the suites that they become; must not read files.

use super::*;
use crate::jobs::told::Weight;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use stend_base::Lang;

fn none(path: &str) -> Result<Vec<u8>> {
    Err(Error::new(Kind::Usage, say!("no `{path}`", "нет `{path}`")))
}

fn world(lenient: bool) -> World<'static> {
    World { read: &none, variable: &|name| (name == "SIZE").then(|| "64m".to_string()), lenient }
}

pub(super) fn import(text: &str, lenient: bool) -> Result<Imported> {
    files(&[("jobs.fio".into(), text.as_bytes().to_vec())], &world(lenient))
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
fn the_chain_of_the_article_becomes_a_case_per_command() {
    let command = "fio -name=seq_mbs_write_T1Q1N1 -ioengine=libaio -direct=1 -invalidate=1 -bs=4M -iodepth=32 -rw=write \
        -runtime=60 -filename=/dev/nvme1n1 && sleep 10 && fio -name=rand_iops_read_T1Q128N1 -ioengine=libaio -direct=1 \
        -invalidate=1 -bs=4k -iodepth=128 -numjobs=4 -group_reporting -rw=randread -runtime=60 -randrepeat=0 \
        -filename=/dev/nvme1n1 && sleep 10 && fio -name=rand_iops_write_T1Q1N1 -randrepeat=0 -ioengine=libaio -direct=1 \
        -invalidate=1 -bs=4k -iodepth=1 -fsync=1 -rw=randwrite -runtime=60 -filename=/dev/nvme1n1";
    let imported = crate::jobs::command(&[command.to_string()], &world(false)).unwrap();
    expect![[r##"
        # Made by `stend import --suite` of fio command line
        # The jobs name these targets; a suite names none, so give them, in this order: --on /dev/nvme1n1
        # Decided:
        #   command:12: `sleep` between commands is left out
        #   command:29: `sleep` between commands is left out
        #   command:9: fio would end earlier if it were done with its volume; a trial goes on until its time is over
        #   command:25: fio would end earlier if it were done with its volume; a trial goes on until its time is over
        #   command:22: each of 4 jobs has a part of its own; in fio all go over all of it, so that a cache may answer what another job has read
        #   command:42: fio would end earlier if it were done with its volume; a trial goes on until its time is over
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
    let imported = crate::jobs::command(&[words], &world(false)).unwrap();
    let text = imported.text(Lang::En);
    assert!(text.contains("fill: {size: auto}\nfiles: {count: 16, size: 20GiB}"), "{text}");
    assert!(
        text.contains("queue_depth: 32, region: {start: 0B, size: 20GiB}}"),
        "the first job has one of them: {text}"
    );
    assert!(text.contains("queue_depth: 128, jobs: 16}"), "{text}");
    // As printed: a name that fio does not have, and a sync of reads.
    let typo =
        crate::jobs::command(&[step("-invaqdlidate=1 -bs=4k -rw=randread -fsync=1")], &world(false)).unwrap_err();
    assert!(
        typo.to_string().contains("command:5: unknown option `invaqdlidate`\nhint: did you mean `invalidate`?"),
        "{typo}"
    );
    let reads = crate::jobs::command(&[step("-bs=4k -rw=randread -fsync=1")], &world(false)).unwrap().text(Lang::En);
    assert!(reads.contains("`fsync` has no effect: nothing is written") && !reads.contains("sync:"), "{reads}");
}

#[test]
fn globals_count_below_them_and_stonewall_begins_a_case() {
    check(
        "[global]\nfilename=/dev/x\nbs=8k\nruntime=1m\ntime_based\n[a]\nrw=randread\n[global-2]\nbs=16k\n[b]\nrw=write\n[c]\nstonewall\nrw=randrw\nrwmixread=70\n",
        expect![[r##"
            # Made by `stend import --suite` of jobs.fio
            # The jobs name these targets; a suite names none, so give them, in this order: --on /dev/x
            # Decided:
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
    let told: Vec<String> =
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
        error: jobs.fio:5: `ioengine=rbd` is not there in Stend
        error: jobs.fio:5: in fio the whole job rests; here each of the 4 I/Os in flight would, and none beside a rate
        error: jobs.fio:7: the rates of reads and writes are not in the ratio of the mix
        error: jobs.fio:5: `zero_buffers`: data would be written that the suite cannot ask for
        error: jobs.fio:5: `exec_prerun` is not taken over: commands of a job file are never executed
        error: jobs.fio:5: `zonemode` is not taken over: zones of a zoned device are not known here
        error: jobs.fio:5: unknown option `blocksiz`
        error: jobs.fio:5: unknown option `frobnicate`
        error: jobs.fio:5: polling is for `ioengine=io_uring`
        error: jobs.fio:7: two kinds of durability at once
        error: jobs.fio:6: I/Os are at multiples of their smallest size here
        error: jobs.fio:5: all streams of a case begin together
        error: jobs.fio:5: a batch is waited for and submitted with the same number, at most the depth, and not beside a rate
        error: jobs.fio:5: zones in bytes are shares here"#]].assert_eq(&told.join("\n"));
    for text in all {
        let text = format!("[a]\nfilename=/dev/x\nrw=randread\nruntime=1\n{text}");
        let imported = import(&text, true).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(imported.notes.iter().any(|note| note.weight == Weight::Changed), "{text}");
        let told = imported.text(Lang::Ru);
        assert!(told.contains("# Теперь значит другое или не значит ничего (--lenient):\n#   jobs.fio:"), "{told}");
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
        ("=4k", "is no option"),
        ("size=${UNSET", "a size such as"),
        ("[b", "has no end"),
        ("[]", "1 to 255 bytes"),
        ("[b] bs=4k", "stands behind the name"),
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
    let world = World { read: &read, ..world(false) };
    let of = |text: &str| files(&[("dir/jobs.fio".into(), text.as_bytes().to_vec())], &world);
    let good = of("[a]\nfilename=/dev/x\nioengine=io_uring\ndirect=1\ninclude a.inc\n").unwrap().text(Lang::En);
    assert!(good.contains("block_size: 8KiB, queue_depth: 4"), "{good}");
    let error = |name: &str| of(&format!("[a]\ninclude {name}\n")).unwrap_err().to_string();
    assert!(error("loop.inc").contains("dir/loop.inc:1: `loop.inc` includes itself"), "{}", error("loop.inc"));
    assert!(error("section.inc").contains("dir/section.inc:1: a file that is included has no sections"));
}

#[test]
fn bytes_that_are_no_text_have_a_place() {
    let of = |bytes: &[u8]| {
        files(&[("x".into(), bytes.to_vec())], &world(true)).map(|i| i.text(Lang::En)).unwrap_err().to_string()
    };
    assert!(of(b"[a]\n\xff\xfe").contains("x:2: the line is not UTF-8"));
    assert!(of(b"[a]\n\n\0bs=4k").contains("x:3: the line has control characters"));
    assert!(of(b"").contains("x:1: there is no job in it"));
    assert!(of(b"bs=4k").contains("x:1: `bs` stands before the first section"));
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
        if let Err(e) = files(&[("x".into(), bytes)], &world(lenient)) {
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
        if let Err(e) = crate::jobs::command(&words, &world(true)) {
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
    let world = World { read: &empty, variable: &|_| None, lenient: false };
    let error = files(&[("jobs.fio".into(), format!("[global]\n{many}").into_bytes())], &world).unwrap_err();
    assert!(error.to_string().contains("jobs.fio:102: more than 100 files"), "{error}");
    assert!(refused("create_only=1").contains("create_only"));
}

#[test]
fn the_value_of_a_variable_is_not_published() {
    let world = World { read: &none, variable: &|_| Some("secret".into()), lenient: false };
    let text = "[a]\ndescription=${TOKEN}\nfilename=/dev/x\nrw=read\nruntime=1\ntime_based\n";
    let text = files(&[("jobs.fio".into(), text.as_bytes().to_vec())], &world).unwrap().text(Lang::En);
    assert!(text.contains("the value of `${TOKEN}` was put in") && !text.contains("secret"), "{text}");
}

/// What is decided and left out of a file that imports.
fn notes(text: &str) -> String {
    let imported = import(text, false).unwrap_or_else(|e| panic!("{text}: {e}"));
    imported.notes.iter().map(|note| format!("{}\n", note.said().en)).collect()
}

const RANDOM: &str = "[a]\nfilename=/dev/x\nrw=randread\ndirect=1\nruntime=1\ntime_based\n";

#[test]
fn values_that_ask_for_nothing_are_taken_for_what_they_are() {
    for neutral in [
        "verify=0",
        "zonemode=none",
        "nice=0",
        "prioclass=0",
        "latency_target=0",
        "flow=0",
        "create_only=0",
        "io_submit_mode=inline",
        "continue_on_error=none",
        "file_append=0",
        "ba=0",
        "loops=1",
        "number_ios=0",
        "rate_min=0",
        "numa_mem_policy=default",
        "dedupe_mode=repeat",
        "sync=none",
        "startdelay=0",
        "steadystate_duration=10",
        "thinktime=0",
        "threads=1",
        "trim_percentage=0",
        "latency_window=5",
        "cmdprio_class=1",
        "flow_sleep=1000",
    ] {
        assert_eq!(stream(&format!("rw=randread\n{neutral}")), stream("rw=randread"), "{neutral}");
    }
    // The last value counts, wherever the others stand.
    let text = format!("[global]\nnice=5\nverify=md5\n{RANDOM}nice=0\nverify=0\n");
    assert!(import(&text, false).is_ok());
    assert!(refused("nice=5").contains("jobs.fio:5: `nice`") && refused("flow=2").contains("`flow`"));
}

#[test]
fn what_stands_behind_a_value_is_a_comment() {
    let plain = "bs=8k\nnumjobs=1\ndescription=x\n";
    let text = "bs=8k # of a page\nnumjobs=1\t; one ; and no more\ndescription=x;y\n;bs=4k\n";
    assert_eq!(stream(&format!("rw=randread\n{text}")), stream(&format!("rw=randread\n{plain}")));
    assert!(import(&RANDOM.replace("time_based", "time_based ; yes"), false).is_ok());
    let commented = refused("numjobs=; four").to_string();
    assert!(commented.contains("`numjobs` needs a value"), "{commented}");
}

#[test]
fn a_variable_that_is_not_set_is_an_error_where_its_value_counts() {
    let unset = |option: &str| {
        format!("[a]\nrw=randread\ndirectory=${{DIR}}\ndescription=${{X}}\n{option}\nsize=1g\nruntime=1\n")
    };
    let error = |option: &str| import(&unset(option), true).map(|i| i.text(Lang::En)).unwrap_err().to_string();
    assert!(error("bs=${BS}").contains("jobs.fio:5: the variable `BS` is not set"), "{}", error("bs=${BS}"));
    let imported = import(&unset("bs=${BS}\nbs=8k"), false).unwrap();
    assert_eq!(imported.targets, ["${DIR}"], "where files lie is said by `--on`");
}

#[test]
fn what_is_verified_is_verified_by_marks_of_our_own() {
    assert!(stream("rw=randwrite\nverify=crc32c").contains("verify: {after: true}"));
    assert!(stream("rw=randrw\nverify=meta\ndo_verify=0\nverify_interval=512").contains("verify: {after: false}"));
    assert!(!stream("rw=write\nverify=md5\ndo_verify=0").contains("verify"));
    let two = "[global]\nfilename=/dev/x\nrw=randwrite\nverify=md5\ndirect=1\n[a]\nsize=1g\n[b]\noffset=1g\nsize=1g\n";
    assert!(import(two, false).unwrap().suite.cases[0].streams.iter().all(|stream| stream.verify.is_some()));
    let over = import(&two.replace("offset=1g", "offset=512m"), false).unwrap_err().to_string();
    assert!(over.contains("jobs.fio:4: other jobs beside it write over the same blocks"), "{over}");
    assert!(refused("verify=md5").contains("fio compares what an earlier job wrote"));
}

#[test]
fn shares_of_zones_that_are_left_out_are_equal_parts_of_the_rest() {
    let zones = |text: &str| stream(&format!("rw=randread\nrandom_distribution=zoned:{text}"));
    assert!(
        zones("50/5:30/15:20/")
            .contains("{space: 5%, accesses: 50%}, {space: 15%, accesses: 30%}, {space: 80%, accesses: 20%}")
    );
    assert!(
        zones("50:30/40:20")
            .contains("{space: 30%, accesses: 50%}, {space: 40%, accesses: 30%}, {space: 30%, accesses: 20%}")
    );
    for bad in ["50/50:50/60", "100/100", "50/100:50/"] {
        assert!(refused(&format!("random_distribution=zoned:{bad}")).contains("needs zones such as"), "{bad}");
    }
}

#[test]
fn lengths_that_no_region_has_are_refused_as_they_stand_there() {
    assert!(refused("size=1030792150").contains("jobs.fio:5: `size` needs a multiple of 512 B, not `1030792150`"));
    assert!(refused("offset=1000").contains("jobs.fio:5: `offset` needs a multiple of 512 B, not `1000`"));
}

#[test]
fn a_file_shorter_than_the_smallest_fill_is_a_part_of_it() {
    for size in ["size=256k", "filesize=256k", "filesize=256k\nsize=1m"] {
        let text = import(&format!("[a]\nrw=randread\nruntime=1\n{size}\n"), false).unwrap().text(Lang::En);
        assert!(
            text.contains("fill: {size: 1MiB}") && text.contains("region: {start: 0B, size: 256KiB}"),
            "{size}: {text}"
        );
    }
    let text = import("[a]\nrw=randread\nruntime=1\nfilesize=4m\noffset=1m\n", false).unwrap().text(Lang::En);
    assert!(text.contains("fill: {size: 4MiB}") && text.contains("region: {start: 1MiB, size: 3MiB}"), "{text}");
}

#[test]
fn no_file_is_made_where_no_i_o_is() {
    let text = import("[a]\nioengine=null\nsize=100g\nrw=randread\nnumjobs=2\n", false).unwrap().text(Lang::En);
    assert!(!text.contains("fill:") && text.contains("backend: none") && text.contains("jobs: 2}"), "{text}");
    assert!(text.contains("`ioengine=null` makes no I/O"), "{text}");
}

#[test]
fn what_the_page_cache_may_answer_is_said() {
    let file = "[a]\nfilename=/mnt/f\nsize=1g\nrw=randread\nruntime=1\ntime_based\n";
    assert!(notes(file).contains("jobs.fio:1: without `direct=1` fio drops the file from the page cache"));
    assert!(notes(&format!("{file}invalidate=0\n")).contains("jobs.fio:7: with `invalidate=0` reads may be answered"));
    let direct = notes(&format!("{file}direct=1\ninvalidate=1\n"));
    assert!(!direct.contains("cache") && direct.contains("jobs.fio:8: invalidate"), "{direct}");
}

#[test]
fn jobs_that_go_side_by_side_over_a_device_are_said_to_begin_elsewhere() {
    let clones = notes(&RANDOM.replace("randread", "read\nnumjobs=3"));
    assert!(
        clones.contains("in fio side by side from one start") && clones.contains("here each from a start of its own"),
        "{clones}"
    );
    let sections = "[global]\nfilename=/dev/x\nrw=read\ndirect=1\nruntime=1\ntime_based\n[a]\n[b]\n";
    assert!(notes(sections).contains("jobs.fio:8: jobs that go over the same blocks in order"), "{}", notes(sections));
    assert!(!notes(&sections.replace("rw=read", "rw=randread")).contains("same blocks"));
}

#[test]
fn a_device_that_a_first_job_would_fill_is_not_filled_unless_the_suite_says_so() {
    let text = "[global]\nfilename=/dev/x\ndirect=1\n[fill]\nrw=write\nbs=1m\n[measure]\nstonewall\nrw=randwrite\nruntime=60\ntime_based\n";
    assert!(
        notes(text).contains("jobs.fio:4: cases are measured in a mixed order")
            && notes(text).contains("`fill: {size: …}`")
    );
    // Test files are written beforehand anyway.
    let files = text.replace("filename=/dev/x", "filename=/mnt/f\nsize=1g");
    assert!(!notes(&files).contains("mixed order"), "{}", notes(&files));
}

#[test]
fn jobs_that_touch_no_storage_are_left_out_where_that_is_allowed_and_a_wait_is_a_stonewall() {
    let text = "[global]\nfilename=/dev/x\nrw=randread\nruntime=1\ntime_based\ndirect=1\n[burn]\nioengine=cpuio\ncpuload=50\n[a]\n[b]\nwait_for=a\n";
    let error = import(text, false).unwrap_err().to_string();
    assert!(error.contains("jobs.fio:8: the job `burn` is left out"), "{error}");
    assert_eq!(import(text, true).unwrap().suite.cases.len(), 2, "`b` begins when `a` has ended");
    let alone = import("[a]\nioengine=net\nhostname=x\nsize=1g\nrw=read\n", true).unwrap_err().to_string();
    assert!(alone.contains("jobs.fio:1: none of its jobs reads or writes storage"), "{alone}");
}

#[test]
fn discards_beside_other_i_o_have_one_way_for_both() {
    let text = "[global]\nfilename=/dev/x\ndirect=1\nioengine=libaio\nruntime=1\ntime_based\n[a]\nrw=randwrite\n[b]\nrw=randtrim\n";
    let imported = import(text, false).unwrap();
    assert_eq!(imported.suite.cases[0].backend, crate::workload::Backend::Auto);
    let plain = import(&text.replace("[b]\n", "[b]\ndirect=0\n"), true).unwrap();
    assert_eq!(plain.suite.cases[0].backend, crate::workload::Backend::Auto, "whatever `direct` says");
    let passthrough = stream("rw=randread\nioengine=io_uring_cmd\ncmd_type=nvme");
    assert!(passthrough.contains("op: read"), "direct whatever `direct` says");
}
