//! Jobs of the other tools, and which tool a text is for; must not read files.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use stend_base::Kind;

pub(super) fn context(lenient: bool) -> ImportContext<'static> {
    let none = |path: &str| Err(Error::usage(say!("no `{path}`", "нет `{path}`")));
    ImportContext { read: Box::leak(Box::new(none)), variable: &|_| None, lenient }
}

pub(super) fn of_command(text: &str, lenient: bool) -> Result<Imported> {
    command(&[text.to_string()], &context(lenient))
}

pub(super) fn of_file(text: &str, lenient: bool) -> Result<Imported> {
    files(&[("x".into(), text.as_bytes().to_vec())], &context(lenient))
}

pub(super) fn check(imported: Result<Imported>, expected: Expect) {
    expected.assert_eq(&imported.map_or_else(|e| e.render(Lang::En), |imported| imported.text(Lang::En)));
}

const VDBENCH: &str = "\
* a comment
compratio=2
sd=default,th=16,openflags=o_direct   everything behind the blank is ignored
sd=sd1,lun=/dev/sdb
sd=sd2,lun=/dev/sdc
wd=wd1,sd=sd*,xfersize=(4k,60,64k,40),rdpct=70,seekpct=random
rd=run1,wd=wd1,iorate=(1000,2000),
   elapsed=5m,interval=1,warmup=30,distribution=deterministic
rd=run2,wd=wd1,iorate=max,forthreads=(1,8),forrdpct=(0,100),elapsed=60
eof
nonsense behind the end
";

const ICF: &str = "Version 1.1.0
'TEST SETUP ====================================================================
'Test Description
\t
'Run Time
'\thours      minutes    seconds
\t0          10         0
'Ramp Up Time (s)
\t30
'Test Type
\tNORMAL
'END test setup
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\tOLTP,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t8192,100,67,100,0,1,0,0
'Access specification name,default assignment
\tunused,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t512,100,100,0,0,1,0,0
'END access specifications
'MANAGER LIST ==================================================================
'Manager ID, manager name
\t1,HOST
'Worker
\tWorker 1
'Worker type
\tDISK
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value
\t256,DISABLED,1,DISABLED,0
'Disk maximum size,starting sector,Data pattern
\t0,0,0
'End default target settings for worker
'Assigned access specs
\tOLTP
'End assigned access specs
'Target assignments
'Target
\t0: \"ATA disk\"
'Target type
\tDISK
'End target
'End target assignments
'End worker
";

#[test]
fn a_parameter_file_of_vdbench_is_expanded_and_its_keys_match_by_prefix() {
    check(
        of_file(VDBENCH, false),
        expect![[r##"
        # Made by `stend import --suite` of x
        # The jobs name these targets; a suite names none, so give them, in this order: --on /dev/sdb --on /dev/sdc
        # Left out, because it changes no I/O: interval
        suite: "x"
        defaults: {prober: off}
        cases:
          - name: "run1"
            trial: 300s
            ramp: 30s
            direct: true
            backend: psync
            streams:
              - {op: {read: 70, write: 30}, pattern: uniform, block_size: {4KiB: 60, 64KiB: 40}, queue_depth: 16, jobs: {per_target: 1}, data: {compress: 2, dedup: 1}, rate: [1000/s, 2000/s]}
          - name: "run2 rdpct=0"
            trial: 60s
            ramp: 0s
            direct: true
            backend: psync
            streams:
              - {op: write, pattern: uniform, block_size: {4KiB: 60, 64KiB: 40}, queue_depth: [1, 8], jobs: {per_target: 1}, data: {compress: 2, dedup: 1}}
          - name: "run2 rdpct=100"
            trial: 60s
            ramp: 0s
            direct: true
            backend: psync
            streams:
              - {op: read, pattern: uniform, block_size: {4KiB: 60, 64KiB: 40}, queue_depth: [1, 8], jobs: {per_target: 1}}
    "##]],
    );
}

#[test]
fn a_run_of_vdbench_may_name_storage_alone_ranges_and_words_in_capitals() {
    let text = "\
sd=sd1,lun=/dev/sdb
sd=sd2,lun=/dev/sdc
rd=run1,sd=(sd1-sd2),iorate=MAX,forxfersize=(4k-16k,d),forthreads=(2-6,2),seekpct=RANDOM,rdpct=0,elapsed=60
";
    check(
        of_file(text, false),
        expect![[r##"
        # Made by `stend import --suite` of x
        # The jobs name these targets; a suite names none, so give them, in this order: --on /dev/sdb --on /dev/sdc
        suite: "x"
        defaults: {prober: off}
        cases:
          - name: "run1"
            trial: 60s
            ramp: 0s
            direct: false
            backend: psync
            streams:
              - {op: write, pattern: uniform, block_size: [4KiB, 8KiB, 16KiB], queue_depth: [2, 4, 6], jobs: {per_target: 1}}
    "##]],
    );
    let wrong = |from: &str, to: &str| of_file(&text.replace(from, to), false).unwrap_err().to_string();
    assert!(wrong("(sd1-sd2)", "sd1").contains("x:3: a workload on a part of the storage"));
    assert!(wrong("(4k-16k,d)", "(4k-16k)").contains("x:3: `forxfersize=(4k-16k)` is not a range"));
}

#[test]
fn what_vdbench_means_otherwise_is_an_error_with_its_line() {
    for (from, to, why) in [
        ("iorate=max", "iorate=curve", "x:9: a curve begins with a search"),
        ("compratio=2", "validate=yes", "x:2: `validate` has no equivalent"),
        ("compratio=2", "comprratio=2", "x:2: unknown option `comprratio`"),
        ("seekpct=random", "rhpct=50", "x:6: `rhpct` has no equivalent"),
        ("openflags=o_direct", "openflags=fsync", "x:3: `openflags=fsync`"),
        ("deterministic", "uniform", "x:7: Stend has no gaps of `uniform`"),
        ("interval=1", "start_cmd=reboot", "x:7: `start_cmd` has no equivalent"),
    ] {
        let text = VDBENCH.replace(from, to);
        let error = of_file(&text, false).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(of_file(&text, true).unwrap().text(Lang::Ru).contains("Здесь значит другое"), "{text}");
    }
    for (from, to, why) in [
        ("lun=/dev/sdb", "size=1g", "x:4: `sd=sd1` has no `lun`"),
        ("wd=wd1,iorate=max", "wd=wd9,iorate=max", "x:9: `wd` needs names that are defined above"),
        ("(4k,60,64k,40)", "(4k,60,64k,30)", "sizes, each with its percentage"),
        ("th=16", "s=16", "x:3: `s` may be"),
        ("elapsed=60", "elapsed=soon", "x:9: `elapsed` needs seconds"),
        ("eof\nnonsense behind the end\n", "rd=run3,\n", "the file behind it"),
        ("sd=sd2", "fsd=fsd1,anchor=/x", "no file system workloads"),
        ("rdpct=70", "rdpct=(70", "`)` is missing"),
    ] {
        let error = of_file(&VDBENCH.replace(from, to), true).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains(why), "{from}: {error}");
    }
}

#[test]
fn a_configuration_of_iometer_becomes_a_case_for_each_specification_that_is_used() {
    check(
        of_file(ICF, false),
        expect![[r##"
            # Made by `stend import --suite` of x
            # The jobs name these targets; a suite names none, so give them, in this order: --on 0: "ATA disk"
            # Decisions:
            #   x:17: Iometer begins random I/Os at any sector (alignment 0); here they are aligned to their size
            suite: "x"
            defaults: {prober: off}
            cases:
              - name: "OLTP"
                trial: 600s
                ramp: 30s
                direct: true
                streams:
                  - {op: {read: 67, write: 33}, pattern: uniform, block_size: 8KiB, queue_depth: 256}
        "##]],
    );
    let mix = ICF.replace("\t8192,100,67,100,0,1,0,0\n", "\t4096,60,67,100,0,1,0,0\n\t8192,40,67,100,0,1,0,0\n");
    assert!(of_file(&mix, false).unwrap().text(Lang::En).contains("block_size: {4KiB: 60, 8KiB: 40}"));
    let rows = |reads: u32| {
        let rows = format!("\t8192,70,100,100,0,1,8192,0\n\t8192,30,{reads},100,0,1,8192,0\n");
        of_file(&ICF.replace("\t8192,100,67,100,0,1,0,0\n", &rows), false).unwrap().text(Lang::En)
    };
    let odd = rows(33);
    assert!(
        odd.contains("{read: 80, write: 20}") && odd.contains("read 79.90 % of the I/Os; here it is 80 %"),
        "{odd}"
    );
    assert!(!rows(50).contains("here it is"));
    for (from, to, why) in [
        ("NORMAL", "CYCLE_OUTSTANDING_IOS", "x:11: the test type"),
        ("67,100,0,1,0,0", "67,100,5,8,0,0", "x:17: bursts"),
        ("\t0,0,0\n'End default", "\t2048,0,0\n'End default", "a part of the disk"),
        ("256,DISABLED", "256,ENABLED", "connections are not opened"),
    ] {
        let text = ICF.replace(from, to);
        let error = of_file(&text, false).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(of_file(&text, true).is_ok(), "{text}");
    }
    for (from, to, why) in [
        ("8192,100,67", "8192,90,67", "add up to 90 %"),
        ("8192,100,67", "8191,100,67", "x:17: `size,% of size"),
        ("8192,100,67,100", "8192,100", "whole numbers"),
        ("\t256,", "\t0,", "1 to 4096"),
        ("0          10         0", "ten minutes", "x:7: `hours"),
    ] {
        let error = of_file(&ICF.replace(from, to), true).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("x:"), "{from}: {error}");
    }
    assert!(
        of_file("Version 1.1.0\n'TEST SETUP ====\n", true).unwrap_err().to_string().contains("x:1: there is no access")
    );
}

#[test]
fn workers_of_iometer_have_their_depth_on_each_of_their_targets() {
    let target = "'Target\n\t0: \"ATA disk\"\n'Target type\n\tDISK\n'End target\n";
    let two = ICF.replace(target, &format!("{target}{}", target.replace("0: ", "1: ")));
    let stream = |text: &str| {
        let text = of_file(text, false).unwrap_or_else(|e| panic!("{e}")).text(Lang::En);
        text.lines().find_map(|line| line.strip_prefix("      - ")).unwrap_or_default().to_string()
    };
    assert!(stream(&two).ends_with("queue_depth: 256, jobs: {per_target: 1}}"), "{}", stream(&two));
    let worker = &two[two.find("'Worker\n").unwrap()..];
    let second = worker.replace("Worker 1", "Worker 2");
    assert!(stream(&format!("{two}{second}")).ends_with("jobs: {per_target: 2}}"));
    // One with both targets and one with the first alone: three places, each with the depth.
    let first = second.replace(&target.replace("0: ", "1: "), "");
    assert!(
        stream(&format!("{two}{first}")).ends_with("queue_depth: 256, jobs: 3}"),
        "{}",
        stream(&format!("{two}{first}"))
    );
    let other = format!("{two}{}", second.replace("\tOLTP\n", "\tunused\n"));
    let error = of_file(&other, false).map(|i| i.text(Lang::En)).unwrap_err().to_string();
    assert!(error.contains("x:15: workers run different specifications at a time"), "{error}");
    let aligned = ICF.replace("8192,100,67,100,0,1,0,0", "8192,100,67,100,0,1,8192,0");
    assert!(of_file(ICF, false).unwrap().text(Lang::En).contains("x:17: Iometer begins random I/Os at any sector"));
    assert!(!of_file(&aligned, false).unwrap().text(Lang::En).contains("at any sector"));
}

#[test]
fn cases_of_all_runs_of_vdbench_together_are_bounded() {
    let list: Vec<String> = (0..=99).map(|percent| percent.to_string()).collect();
    let run = |n: usize| format!("rd=r{n},wd=wd1,iorate=max,elapsed=5,forrdpct=({})\n", list.join(","));
    let file = |runs: usize| {
        let runs: String = (0..runs).map(run).collect();
        of_file(&format!("sd=sd1,lun=/dev/sdb\nwd=wd1,sd=sd1,xfersize=4k\n{runs}"), false)
    };
    assert_eq!(file(10).unwrap().suite.cases.len(), 1000);
    assert!(file(11).unwrap_err().to_string().contains("x:13: more than 1000 cases"));
    let defaults = "sd=default,th=1\nsd=default,th=4,openflags=o_direct\nsd=sd1,lun=/dev/sdb\nsd=default,th=9\nwd=wd1,sd=sd1,xfersize=4k\nrd=r,wd=wd1,iorate=max,elapsed=5\n";
    let text = of_file(defaults, false).unwrap().text(Lang::En);
    assert!(text.contains("queue_depth: 4}") && text.contains("direct: true"), "{text}");
}

#[test]
fn a_file_as_hcibench_makes_it_is_taken_over_whole() {
    let text = "debug=86\ndata_errors=10000\nsd=sd1,lun=/dev/sdx,openflags=o_direct,hitarea=0,range=(0,100),threads=8\n\
                sd=sd2,lun=/dev/sdy,openflags=o_direct,hitarea=0,range=(0,100),threads=8\n\
                wd=wd1,sd=(sd1,sd2),xfersize=4k,rdpct=100,seekpct=seq\nrd=run1,wd=wd1,iorate=max,elapsed=300,warmup=60,interval=1\n";
    let text = of_file(text, false).unwrap_or_else(|e| panic!("{e}")).text(Lang::En);
    assert!(text.contains("pattern: sequential, block_size: 4KiB, queue_depth: 8, jobs: {per_target: 1}}"), "{text}");
    assert!(text.contains("changes no I/O: data_errors, debug, hitarea, interval"), "{text}");
    let file = "sd=sd1,lun=/home/v/f,size=1g\nwd=wd1,sd=sd1,xfersize=4k\nrd=r,wd=wd1,iorate=max,elapsed=5\n";
    assert_eq!(of_file(file, false).unwrap().targets, ["/home/v"], "the directory that `--on` takes");
}

#[test]
fn where_vdbench_begins_and_ends_otherwise_is_told() {
    let told = |seek: &str| {
        let text = format!("sd=sd1,lun=/dev/sdb\nwd=wd1,sd=sd1,xfersize=4k\nrd=r,wd=wd1,iorate=max,elapsed=5,{seek}\n");
        let text = of_file(&text, false).unwrap_or_else(|e| panic!("{e}")).text(Lang::En);
        assert!(text.contains("pattern: sequential"), "{text}");
        ["stops at the end of the storage", "begins at a random block"].map(|note| text.matches(note).count())
    };
    assert_eq!(told("seekpct=seq"), [0, 0]);
    assert_eq!(told("seekpct=eof"), [1, 0]);
    assert_eq!([told("seekpct=seqnz"), told("seekpct=sequentialnz")], [[0, 1]; 2]);
    assert_eq!(told("forseekpct=(eof,seqnz),forrdpct=(0,100)"), [1, 1]);
}

#[test]
fn a_page_with_jobs_in_it_is_no_file_of_jobs() {
    assert!(is_job_file("; of a drive\n\n[global] # all\nrw=read\n[a]\n") && is_job_file(VDBENCH) && is_job_file(ICF));
    assert!(is_job_file("include common.fio\n[a]\nbs=4k\n") && is_job_file("data_errors=1\nsd=sd1,lun=/dev/x\n"));
    for other in [
        "Write this:\n[a]\nrw=read\n",
        "import sys\n[a]\n",
        "",
        "[tox]\nenvlist = py3\n[testenv]\ncommands = pytest\n",
        "[global]\nauth = none\nsize = 3\n",
        "#!/bin/sh\nset -e\nsd=$(lsblk)\nwd=$PWD\n",
        "# Parameters\nWrite `sd=sd1,lun=/dev/x`:\nsd=sd1,lun=/dev/x\n",
    ] {
        assert!(!is_job_file(other), "{other}");
    }
}

#[test]
fn files_of_two_tools_are_not_one_suite() {
    let two = [("a".into(), VDBENCH.as_bytes().to_vec()), ("b".into(), b"[a]\nrw=read\n".to_vec())];
    assert!(files(&two, &context(true)).unwrap_err().to_string().contains("b:1: it is for a different tool"));
    let words = |text: &str| is_command(&text.split(' ').map(String::from).collect::<Vec<_>>());
    assert!(
        words("sudo /usr/bin/fio --name=x")
            && words("diskspd64.exe -b4K x")
            && !words("fio.job")
            && !words("a.fio b.fio")
    );
    assert!(
        of_command("fio --name=a --size=1g && rm -rf /", true)
            .unwrap_err()
            .to_string()
            .contains("`rm` is not supported")
    );
    assert!(of_command("fio --name=a --size=1g && diskspd x", true).unwrap_err().to_string().contains("two tools"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_after_a_true_beginning_are_a_suite_or_an_error_with_a_place(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), which in 0usize..3, cut in 0usize..700, lenient: bool,
    ) {
        let begin = [VDBENCH, ICF, "[a]\nfilename=/dev/x\nrw=randread\n"][which].as_bytes();
        let text: Vec<u8> = begin.iter().take(cut.max(20)).copied().chain(bytes).collect();
        if let Err(e) = files(&[("x".into(), text)], &context(lenient)) {
            prop_assert!(e.kind == Kind::Spec && (e.message.en.starts_with("x:") || e.message.en.starts_with("what these jobs")), "{}", e);
        }
    }

    #[test]
    fn any_line_of_vdbench_and_iometer_is_read_or_refused(
        line in "[a-z0-9=,()*%\"'. \\t]{0,40}", at in 0usize..40, which in 0usize..2, lenient: bool,
    ) {
        let begin = [VDBENCH, ICF][which];
        let mut lines: Vec<&str> = begin.lines().collect();
        lines.insert(at.min(lines.len()), &line);
        if let Err(e) = of_file(&lines.join("\n"), lenient) {
            prop_assert_eq!(e.kind, Kind::Spec, "{}", e);
        }
    }

    #[test]
    fn any_switches_of_diskspd_are_read_or_refused(words in proptest::collection::vec("[-/]?[a-zA-Z]{0,3}[0-9]{0,10}[KMGTb:/,i]{0,2}", 0..8)) {
        let words: Vec<String> = std::iter::once("diskspd".to_string()).chain(words).collect();
        if let Err(e) = command(&words, &context(true)) {
            prop_assert_eq!(e.kind, Kind::Spec, "{}", e);
        }
    }
}

#[test]
fn what_vdbench_shares_or_leaves_out_is_refused_with_its_line() {
    let why = |text: &str| of_file(text, false).map(|i| i.text(Lang::En)).unwrap_err().to_string();
    let with =
        |sd: &str, wd: &str, rd: &str| why(&format!("sd=sd1,lun=/dev/sdb{sd}\n{wd}\nrd=r,wd=wd*,elapsed=5{rd}\n"));
    let one = "wd=wd1,sd=sd1,xfersize=4k,rdpct=0";
    assert!(with(",size=10g", one, ",iorate=max").contains("x:1: the suite would use the whole device"));
    assert!(with(",hitarea=1m", one, ",iorate=max").contains("x:1: `hitarea` has no equivalent"));
    let two = |skew: &str, own: &str| format!("wd=wd1,sd=sd1,xfersize=4k{skew}\nwd=wd2,sd=sd1,xfersize=8k{own}");
    assert!(with("", &two(",skew=80", ""), ",iorate=1000").contains("x:2: the parts of `skew`"));
    assert!(with("", &two("", ",iorate=100"), ",iorate=1000").contains("x:3: `iorate` has no equivalent"));
    assert!(with("", &two("", ""), ",iorate=(1000,2000)").contains("x:4: vdbench uses one value of `iorate`"));
    let shared = format!("sd=sd1,lun=/dev/sdb\n{}\nrd=r,wd=wd*,elapsed=5,iorate=1000\n", two(",skew=80", ",skew=20"));
    let text = of_file(&shared, false).unwrap().text(Lang::En);
    assert!(text.contains("800/s") && text.contains("200/s"), "{text}");
}

#[test]
fn workloads_of_vdbench_side_by_side_go_over_all_of_each_of_several_targets() {
    let text = |sd: &str, wd: &str| {
        format!(
            "sd=sd1,lun=/dev/sdb{sd}\nsd=sd2,lun=/dev/sdc{sd}\nwd=wd1,sd=sd*,xfersize=4k,rdpct=0{wd}\nwd=wd2,sd=sd*,xfersize=8k\n\
             rd=r,wd=wd*,elapsed=5,iorate=1000\n"
        )
    };
    let suite = |text: &str| of_file(text, false).unwrap_or_else(|e| panic!("{e}")).text(Lang::En);
    let both = suite(&text("", ""));
    assert_eq!(
        (both.matches("region: {start: 0%}").count(), both.matches("jobs: {per_target: 1}").count()),
        (2, 2),
        "{both}"
    );
    // A range is the same part of each target.
    let own = suite(&text("", ",range=(10,30)"));
    assert!(own.contains("region: {start: 10%, size: 20%}") && own.contains("region: {start: 0%}"), "{own}");
    let of_storage = text(",range=(50,100)", "");
    assert_eq!(suite(&of_storage).matches("region: {start: 50%, size: 50%}").count(), 2);
    for other in [",range=(0,50)\nsd=sd2", ",range=(0,100)\nsd=sd2", "\nsd=sd2"] {
        let differ = of_storage.replacen(",range=(50,100)\nsd=sd2", other, 1);
        let error = of_file(&differ, false).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains("`range` differs between storage definitions"), "{error}");
    }
}
