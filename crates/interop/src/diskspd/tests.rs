//! Samples after XmlResultParser.cpp of diskspd 2.2: a mixed load with latencies and intervals, and two time spans of two targets without.

use super::read;
use crate::build::{File, ImportedRun};
use stend_base::{Bytes, Lang, Nanos, Result};
use stend_record::Entry;
use stend_record::observed::{Slice, TrialOutcome};
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Op, Pages, Sync, Trial};

const MIX: &str = include_str!("../../tests/corpus/diskspd/2.2-mix.xml");
const SPANS: &str = include_str!("../../tests/corpus/diskspd/2.2-two-spans.xml");

fn results(text: &str) -> Result<ImportedRun> {
    read(&[File { name: "x.xml", bytes: text.as_bytes() }])
}

fn why(text: &str) -> String {
    results(text).unwrap_err().render(Lang::En)
}

fn trials(text: &str) -> Vec<(Trial, TrialOutcome, Vec<Slice>)> {
    let run = results(text).unwrap_or_else(|e| panic!("{}", e.render(Lang::En)));
    let (mut found, mut asked, mut own) = (Vec::new(), None, Vec::new());
    for entry in run.entries {
        match entry {
            Entry::TrialStart { asked: trial, .. } => asked = Some(*trial),
            Entry::Slices { slices, .. } => own = slices,
            Entry::TrialEnd { outcome, .. } => found.push((asked.take().unwrap(), *outcome, std::mem::take(&mut own))),
            other => panic!("{other:?}"),
        }
    }
    found
}

/// Line of the first line with this text.
fn line(text: &str, with: &str) -> usize {
    text.lines().position(|line| line.contains(with)).unwrap() + 1
}

#[test]
fn counts_are_the_sums_of_threads_and_latencies_those_of_all_together() {
    let (asked, outcome, _) = trials(MIX).remove(0);
    let done = outcome.jobs[0].done;
    assert_eq!((done[Op::Read.index()], done[Op::Write.index()]), ((56_007, 56_007 * 8192), (23_993, 23_993 * 8192)));
    assert_eq!((asked.window, asked.ramp), (Nanos::millis(5010), Nanos::secs(2)));
    let told = outcome.tool_output.unwrap();
    let (read, write) = (&told.ops[0], &told.ops[1]);
    // Printed as 0.842 and 1.317 ms.
    assert_eq!((read.sum_ns / u128::from(read.count), write.sum_ns / u128::from(write.count)), (842_000, 1_317_000));
    assert_eq!((read.min_ns, read.max_ns, read.latency.as_str()), (463_000, 3_957_000, "lat"));
    let p = |share: u32| read.percentiles.iter().find(|(own, _)| *own == share).map(|(_, at)| *at);
    assert_eq!((p(500_000), p(990_000), p(999_000)), (Some(842_000), Some(1_213_000), Some(3_680_000)));
    assert!(!read.mergeable && read.percentiles.iter().all(|(share, _)| *share < 1_000_000));
    assert!(told.sizes_known && told.depth_known && !told.paced);
}

#[test]
fn what_was_asked_for_is_what_the_profile_says() {
    let (asked, outcome, _) = trials(MIX).remove(0);
    let stream = &asked.streams[0];
    assert_eq!((stream.block_size, stream.queue_depth, stream.jobs), (Bytes::kib(8), 8, 2));
    assert_eq!(
        (&stream.pattern, stream.mix.read, stream.sync, asked.direct),
        (&Pattern::Uniform, 70, Sync::ODsync, true)
    );
    assert!(outcome.engine.direct);
    let large = MIX.replace("<UseLargePages>false<", "<UseLargePages>true<");
    assert_eq!((asked.pages, trials(&large).remove(0).0.pages), (Pages::Ordinary, Pages::Huge));
    let run = results(MIX).unwrap();
    assert_eq!(run.imported.files[0].version, "diskspd 2.2");
    assert_eq!(run.imported.targets, ["D:\\test & more\\io.dat"]);
    // 2024/07/01 12:00:00 UTC
    assert_eq!(run.started_unix_ns, Some(1_719_835_200_000_000_000));
    assert_eq!(run.inputs.suite.imported[0].name, "random 30% write");
    let ordered = |order: &str| {
        trials(&MIX.replace("            <Random>8192</Random>", order)).remove(0).0.streams[0].pattern.clone()
    };
    assert_eq!(ordered("<StrideSize>8192</StrideSize>"), Pattern::Sequential);
    assert_eq!(ordered("<StrideSize>65536</StrideSize>"), Pattern::Strided { stride: Bytes::kib(64) });
    assert_eq!(ordered("<InterlockedSequential>true</InterlockedSequential>"), Pattern::SharedSequential);
    assert!(matches!(ordered("<Random>8192</Random><RandomRatio>40</RandomRatio>"), Pattern::Mixed { .. }));
    let zones = "<Random>8192</Random><Distribution><Percent><Range IO=\"90\">10</Range></Percent></Distribution>";
    assert!(matches!(ordered(zones), Pattern::Zones(zones) if zones.len() == 2 && zones[1].space.0 == 900_000));
}

#[test]
fn threads_and_depths_are_counted_as_diskspd_does() {
    let of = |text: &str| (text.to_string(), trials(text).remove(0)).1.0.streams[0].clone();
    // Threads of two targets; then threads of all targets with a depth for each, and with one in all.
    assert_eq!((of(SPANS).jobs, of(SPANS).queue_depth), (2, 2));
    let all = SPANS.replace("        <ThreadCount>0</ThreadCount>", "        <ThreadCount>4</ThreadCount>");
    assert_eq!((of(&all).jobs, of(&all).queue_depth), (4, 4));
    let each = all.replacen("        <RequestCount>0</RequestCount>", "        <RequestCount>9</RequestCount>", 1);
    assert_eq!((of(&each).jobs, of(&each).queue_depth), (4, 9));
    let other =
        SPANS.replacen("            <RequestCount>2</RequestCount>", "            <RequestCount>3</RequestCount>", 1);
    let (asked, outcome, _) = trials(&other).remove(0);
    assert!(
        asked.streams[0].queue_depth == 0 && !outcome.tool_output.unwrap().depth_known,
        "depths that differ are not known"
    );
}

#[test]
fn time_spans_are_cases_and_without_latencies_nothing_is_told_of_them() {
    let found = trials(SPANS);
    assert_eq!(found.len(), 2);
    for (asked, outcome, slices) in &found {
        let told = outcome.tool_output.as_ref().unwrap();
        assert!(
            told.ops[0].latency.is_empty() && told.ops[0].occupied_ns.is_none() && told.ops[0].percentiles.is_empty()
        );
        assert!(slices.is_empty() && !asked.direct);
    }
    assert_eq!(found[0].1.jobs[0].done[Op::Read.index()].0, 40_050);
    let run = results(SPANS).unwrap();
    let labels: Vec<String> = run.inputs.suite.imported.iter().map(|case| case.label()).collect();
    assert_eq!(labels, ["sequential read", "sequential write"]);
    assert_eq!(run.imported.dropped.len(), 1);
    assert!(run.imported.dropped[0].en.contains("a time span without results: The test was interrupted"));
    // The second began when warm-up and duration of the first were over.
    assert_eq!(found[1].1.window_start - found[0].1.window_start, Nanos::secs(15));
}

#[test]
fn intervals_are_counts_with_their_largest_latency() {
    let (_, outcome, slices) = trials(MIX).remove(0);
    assert_eq!((slices.len(), slices[0].interval, slices[0].span, slices[9].interval), (10, 0, 10, 40));
    let of = |op: Op| slices.iter().filter(|slice| slice.op == op).map(|slice| slice.ops).sum::<u64>();
    assert_eq!(of(Op::Read), outcome.jobs[0].done[Op::Read.index()].0);
    assert_eq!((slices[0].latency_max_ns, slices[0].bytes), (3_500_000, slices[0].ops * 8192));
    // Buckets of 50 ms lie two by two in a slice; their rates are counts of a twentieth of a second.
    let short = (1..=4).map(|n| format!("<Bucket SampleMillisecond=\"{}\" Read=\"{}\" Write=\"0\"/>", n * 50, n * 20));
    let text = MIX.replacen("    <Iops>\n", &format!("    <Iops>{}</Iops><Other>\n", short.collect::<String>()), 1);
    let text = text.replacen("    </Iops>\n    <Thread>", "    </Other>\n    <Thread>", 1);
    let slices = trials(&text).remove(0).2;
    let told: Vec<_> = slices.iter().map(|slice| (slice.interval, slice.span, slice.ops)).collect();
    assert_eq!(told, [(0, 1, 3), (1, 1, 7)]);
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    let sum = MIX.replacen("<ReadCount>28010<", "<ReadCount>28011<", 1);
    let error = why(&sum);
    let at = line(MIX, "<ReadCount>28010<") - 6;
    assert!(error.contains(&format!("x.xml:{at}: the reads and writes of the target do not add up")), "{error}");
    let word = why(&MIX.replacen("<AverageReadMilliseconds>0.842<", "<AverageReadMilliseconds>soon<", 1));
    assert!(
        word.contains(&format!("x.xml:{}: `soon` of `AverageReadMilliseconds`", line(MIX, "AverageReadMill"))),
        "{word}"
    );
    let back = why(&MIX.replacen("SampleMillisecond=\"2000\"", "SampleMillisecond=\"1000\"", 1));
    assert!(back.contains("an interval that ends at 1000 ms does not follow"), "{back}");
    let broken = why(&MIX.replacen("</CPU>", "</GPU>", 1));
    assert!(broken.contains("no XML") && broken.contains("hint: write them with `diskspd -Rxml"), "{broken}");
    let entity = why(&format!("<!DOCTYPE a [<!ENTITY b \"c\">]>\n{MIX}"));
    assert!(entity.contains("x.xml:1: document type definitions"), "{entity}");
}

#[test]
fn of_a_file_that_was_cut_the_time_spans_before_are_imported_and_it_is_told() {
    let at = SPANS.rfind("<Error>").unwrap();
    let run = results(&SPANS[..at]).unwrap();
    assert_eq!(run.inputs.suite.imported.len(), 2);
    let said: Vec<&str> = run.imported.dropped.iter().map(|say| say.en.as_str()).collect();
    assert!(
        said[0].contains("a time span without its end") && said[1].contains("the file ends in the middle"),
        "{said:?}"
    );
    assert!(why(&MIX[..MIX.len() / 2]).contains("the file ends in the middle of `Results`"));
}

#[test]
fn several_documents_of_a_file_are_trials_of_one_case() {
    let again = MIX.replace("12:00:00 UTC", "12:01:00 UTC").replace(">0.842<", ">0.843<");
    let run = results(&format!("{MIX}{again}\n")).unwrap();
    assert_eq!((run.inputs.suite.imported.len(), run.inputs.suite.blocks), (1, 2));
    assert!(why(&format!("{MIX}{MIX}")).contains("holds the same results as"));
}

#[test]
fn bytes_of_intervals_are_those_of_a_mean_i_o_also_where_sizes_differ() {
    let iops = "<Iops><Bucket SampleMillisecond=\"1000\" Read=\"100\" Write=\"0\"/></Iops>";
    let target = |size: u64, count: u64| {
        let bytes = size * count;
        format!(
            "<Target><BytesCount>{bytes}</BytesCount><IOCount>{count}</IOCount><ReadBytes>{bytes}</ReadBytes><ReadCount>{count}</ReadCount></Target>"
        )
    };
    let text = format!(
        "<Results><Profile><TimeSpans><TimeSpan><Targets><Target><BlockSize>4096</BlockSize></Target><Target><BlockSize>65536</BlockSize></Target></Targets>\
         </TimeSpan></TimeSpans></Profile><TimeSpan><TestTimeSeconds>1</TestTimeSeconds>{iops}<Thread>{}{}</Thread></TimeSpan></Results>",
        target(4096, 75),
        target(65_536, 25)
    );
    let (_, outcome, slices) = trials(&text).remove(0);
    assert_eq!((slices[0].ops, slices[0].bytes), outcome.jobs[0].done[Op::Read.index()]);
}

/// Results of one time span with these targets in its profile.
fn with_targets(targets: &str) -> String {
    format!(
        "<Results><Profile><TimeSpans><TimeSpan><Targets>{targets}</Targets></TimeSpan></TimeSpans></Profile><TimeSpan>\
         <TestTimeSeconds>1</TestTimeSeconds><Thread><Target><IOCount>1</IOCount><BytesCount>512</BytesCount><ReadCount>1</ReadCount>\
         <ReadBytes>512</ReadBytes></Target></Thread></TimeSpan></Results>"
    )
}

#[test]
fn settings_that_all_targets_have_are_told_once_and_too_many_of_them_leave_the_time_span_out() {
    let options = |targets: &str| {
        let text = format!("<TimeSpan><Targets>{targets}</Targets></TimeSpan>");
        let options = super::profile::Profile::of(crate::xml::documents(&text).0.first()).options();
        options.map(|all| all.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>())
    };
    let range = "<D><R IO=\"90\">10</R><R>20</R></D>";
    assert_eq!(
        options(&format!("<Target><Path>a</Path>{range}</Target><Target><Path>b</Path>{range}</Target>")).unwrap(),
        ["D.R=90 10, 20", "Target1.Path=a", "Target2.Path=b"]
    );
    let many = format!("<Target>{}</Target>", format!("<A>{}</A>", "x".repeat(1 << 20)).repeat(8));
    assert!(why(&with_targets(&many)).contains("a time span with more than 8 MiB of settings"));
    assert_eq!(trials(&with_targets("<Target/>")).len(), 1);
}

#[test]
fn more_time_spans_than_a_run_holds_are_refused_where_they_begin() {
    let of = |count: usize| super::of_text(&format!("<Results>{}</Results>", "<TimeSpan/>\n".repeat(count)), 0, 3);
    assert_eq!(of(3).map(|found| found.dropped.len()).unwrap(), 3);
    let (line, why) = of(4).map(|found| found.dropped.len()).unwrap_err();
    assert_eq!((line, why.en.as_str()), (4, "more than 10000 time spans in all"));
}
