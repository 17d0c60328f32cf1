//! Each caveat appears when its cause is there and only then.

use super::*;
use crate::analyse;
use crate::fixture::{RunBuilder, case, run, run_of};
use stend_base::{Bytes, Kind, Lang, Nanos, Share, say};
use stend_record::{
    Entry, Event, HostId, Refusal, Sample, TargetKind, TrialOutcome, TrialStatus, WriteAccess, ZeroSample,
};
use stend_spec::arm::Switch;
use stend_spec::external::Difference;
use stend_spec::workload::{Backend, Engine, Mix, Pages, Sync};

/// Caveats of a record.
fn caveats(record: &RunRecord) -> Vec<Caveat> {
    analyse(record).unwrap().caveats
}

/// A run without any reason to doubt.
fn clean() -> RunBuilder {
    run().six_blocks(&[10_000.0])
}

/// Caveats after one change of a clean run.
fn after(change: impl FnOnce(&mut RunRecord)) -> Vec<Caveat> {
    let mut record = clean().record();
    change(&mut record);
    caveats(&record)
}

fn outcome(record: &mut RunRecord) -> &mut TrialOutcome {
    record.trials[3].outcome.as_mut().unwrap()
}

#[test]
fn a_clean_run_has_no_caveats() {
    assert_eq!(caveats(&clean().record()), []);
}

#[test]
fn a_run_without_an_end_or_with_an_early_one_says_so_first() {
    assert_eq!(after(|r| r.state = RunState::Open), [Caveat::NoEnd]);
    let reason = say!("stopped by the user", "остановлен пользователем");
    let ended = RunState::Ended { kind: Kind::Interrupted, reason: reason.clone() };
    assert_eq!(after(|r| r.state = ended.clone()), [Caveat::EndedEarly { reason }]);
    let mut nothing = crate::fixture::run().record();
    nothing.state = ended;
    let found = crate::analyse(&nothing).unwrap();
    assert!(found.verdict.en.contains("The run ended early: "), "{}", found.verdict.en);
    let told_elsewhere = found.without_reason();
    assert_eq!(told_elsewhere.verdict.en, "Nothing was measured. The run ended early.");
    assert_eq!(told_elsewhere.caveats[0].say().en, "The run ended early.");
}

#[test]
fn a_run_in_which_nothing_was_moved_says_so_first() {
    let nowhere = after(|r| {
        let target = &mut r.load_mut().targets[0];
        (target.kind, target.path) = (TargetKind::NullDevice, "/dev/null".into());
        target.devices.clear();
    });
    assert_eq!(nowhere, [Caveat::NoStorage { what: "/dev/null".into(), cases: Vec::new() }]);
    let null = after(|r| r.header.inputs.suite.cases.iter_mut().for_each(|case| case.backend = Backend::Null));
    assert_eq!(null, [Caveat::NoStorage { what: "backend: none".into(), cases: Vec::new() }]);
}

#[test]
fn each_watched_host_that_was_lost_is_named_with_its_last_reason() {
    let mut record = crate::fixture::watching(run().trial(0).done().record(), |_, _| {});
    let slugs = |record: &RunRecord| {
        let caveats = crate::analyse(record).unwrap().caveats;
        caveats.iter().map(|caveat| (caveat.slug(), caveat.say().en)).collect::<Vec<_>>()
    };
    assert!(slugs(&record).iter().all(|(slug, _)| *slug != "host-unwatched"));
    for why in ["the line was cut", "the worker ended"] {
        let kind = EventKind::Unwatched { why: Say::same(why) };
        record.apply(Entry::Event(Event { at: Nanos::secs(200), host: HostId(1), kind }));
    }
    let told: Vec<_> = slugs(&record).into_iter().filter(|(slug, _)| slug.contains("unwatched")).collect();
    let text = "The host `switch1` was not watched all the time: the worker ended.".to_string();
    assert_eq!(told, [("host-unwatched".to_string(), text)]);
}

#[test]
fn a_watched_host_that_speaks_again_lacks_what_lies_between_where_there_was_load() {
    let mut record = crate::fixture::watching(run().trial(0).done().record(), |_, _| {});
    let begin = record.trials[0].started;
    let ends = record.executed().into_iter().filter_map(|trial| trial.outcome.as_ref());
    let end = ends.map(|outcome| outcome.window_end).max().unwrap();
    let host = HostId(1);
    let mut found = |since: Nanos, again: Nanos| {
        record.events.retain(|event| event.host != host);
        let kind = EventKind::Unwatched { why: Say::same("silence") };
        record.apply(Entry::Event(Event { at: since, host, kind }));
        let samples = [since.0.saturating_sub(1), again.0].map(|at| Sample { at: Nanos(at), ..Sample::default() });
        record.hosts_mut()[1].samples = samples.to_vec();
        let caveats = crate::analyse(&record).unwrap().caveats;
        caveats
            .iter()
            .filter(|caveat| caveat.slug() == "host-unwatched")
            .map(|caveat| caveat.say().en)
            .collect::<Vec<_>>()
    };
    let text = "The host `switch1` was not watched all the time: silence; data of 40 s are missing.";
    assert_eq!(found(begin, begin + Nanos::secs(40)), [text]);
    assert_eq!(found(begin, begin + Nanos::secs(2)), [""; 0], "it was late, and nothing is missing");
    assert_eq!(found(end + Nanos::secs(1), end + Nanos::secs(41)), [""; 0], "nothing was measured");
}

#[test]
fn a_case_without_storage_beside_others_is_named_and_does_not_speak_for_the_run() {
    let mut null = case("null", 100, 1, Sync::None);
    null.backend = Backend::Null;
    let cases = vec![null, case("real", 100, 1, Sync::None)];
    let found = caveats(&run_of(cases).six_blocks(&[1e6, 1e4]).record());
    let caveat = Caveat::NoStorage { what: "backend: none".into(), cases: vec!["null".into()] };
    assert!(found.contains(&caveat) && !caveat.is_about_data(), "{found:?}");
    assert!(caveat.say().en.contains("in null (`backend: none`)"));
}

#[test]
fn zeros_in_the_range_are_told_with_their_share() {
    let found = after(|r| r.load_mut().zeros = Some(ZeroSample { sampled: 1000, zero: 500, contents: None }));
    assert_eq!(found, [Caveat::NeverWritten { share: Share(0.5) }]);
}

#[test]
fn a_fill_that_is_missing_or_short_is_told_when_something_reads() {
    assert_eq!(after(|r| r.load_mut().fill = None), [Caveat::NotFilled]);
    assert_eq!(after(|r| r.load_mut().fill.as_mut().unwrap().written.0 -= 1), [Caveat::NotFilled]);
    let writes = after(|r| {
        r.load_mut().fill = None;
        r.trials.iter_mut().for_each(|t| t.asked.streams[0].mix = Mix::of_reads(0));
    });
    assert!(!writes.contains(&Caveat::NotFilled));
}

#[test]
fn the_engine_says_when_it_was_not_the_first_choice() {
    let found = after(|r| {
        outcome(r).engine.backend = "psync".into();
        outcome(r).engine.fallback_reason = "forbidden".into();
        outcome(r).engine.kernel_workers = Some(4);
    });
    let fallback = Caveat::Fallback { backend: "psync".into(), reason: "forbidden".into() };
    assert_eq!(found, [fallback, Caveat::KernelWorkers { count: 4 }]);
}

#[test]
fn huge_pages_that_were_asked_for_and_not_got_are_told_and_ordinary_ones_are_none() {
    let pages = |asked, huge| {
        after(|r| {
            r.trials[3].asked.pages = asked;
            outcome(r).engine.buffers = Some(stend_record::BufferPages { size: Bytes::mib(8), huge: Bytes::mib(huge) });
        })
    };
    assert_eq!(pages(Pages::Huge, 2), [Caveat::OrdinaryPages { huge: Share(0.25) }]);
    assert_eq!((pages(Pages::Huge, 8), pages(Pages::Ordinary, 0)), (vec![], vec![]));
}

#[test]
fn a_target_in_use_is_told_and_a_foreign_file_is_not_in_use() {
    let access = |refusals| move |r: &mut RunRecord| r.load_mut().targets[0].access = WriteAccess::Refused(refusals);
    let mounted = Refusal::Mounted { at: "/srv".into() };
    let found = after(access(vec![mounted.clone(), Refusal::Fstab { at: "/srv".into() }]));
    assert_eq!(found, [Caveat::TargetInUse { reasons: vec![mounted.say()] }]);
    assert_eq!(after(access(vec![Refusal::ForeignFile])), []);
}

#[test]
fn what_lies_below_the_target_may_be_invisible() {
    assert_eq!(
        after(|r| r.load_mut().targets[0].devices[1].is_virtual = true),
        [Caveat::VirtualDisk { device: "sda".into() }]
    );
    assert_eq!(after(|r| r.load_mut().targets[0].devices.clear()), [Caveat::NoDevice]);
}

#[test]
fn trials_that_do_not_count_are_told_and_leave_too_few() {
    let found = after(|r| outcome(r).status = TrialStatus::Interrupted);
    let [Caveat::TrialsLeftOut { count: 1 }, few] = found.as_slice() else { panic!("{found:?}") };
    assert!(matches!(few, Caveat::FewTrials { cases: 1, trials: 5, need: 6, blocks: 6, takes: Some(_) }), "{few:?}");
}

#[test]
fn too_few_trials_that_spread_are_told_how_many_blocks_it_takes_and_for_how_long() {
    // Five trials from 9,600 to 10,400 IOPS: a deviation of 316, so that ± 2 % take t(11) · 316 / √12 = 201 and one more for pairs of blocks.
    let rates = [9_600.0, 9_800.0, 10_000.0, 10_200.0, 10_400.0];
    let blocks = rates
        .into_iter()
        .zip(0..)
        .fold(crate::fixture::run(), |run, (iops, block)| run.trial(0).block(block).iops(iops).done());
    let findings = crate::analyse(&blocks.record()).unwrap();
    let few = findings.caveats.iter().find(|caveat| matches!(caveat, Caveat::FewTrials { .. })).unwrap();
    let Caveat::FewTrials { blocks, takes: Some(takes), .. } = few else { panic!("{few:?}") };
    assert_eq!(*blocks, findings.cases[0].precision.as_ref().unwrap().needed.unwrap());
    assert!((12..=16).contains(blocks), "{few:?}");
    let seconds = takes.0 / 1_000_000_000 / u64::from(*blocks);
    assert!((2..=5).contains(&seconds), "{few:?}");
    let advice = few.advice().en;
    assert!(advice.contains(&format!("blocks: {blocks}}}` or more (about ")), "{advice}");
}

#[test]
fn a_clock_that_was_set_is_told_and_one_that_is_steered_is_not() {
    let set = after(|r| outcome(r).clocks[1].2 += 3_000_000_000);
    // Set forward inside the trial, and the next trial reads the old clock again: the first is as large.
    assert!(matches!(set.as_slice(), [Caveat::ClockStep { by_ns }] if by_ns.unsigned_abs() == 3_000_000_000));
    assert_eq!(after(|r| outcome(r).clocks[1].2 += 1_500_000), []);
}

#[test]
fn writes_without_syncs_to_a_volatile_cache_are_one_note_of_the_run() {
    let suite = vec![
        case("read", 100, 1, Sync::None),
        case("write", 0, 1, Sync::None),
        case("mix", 70, 1, Sync::None),
        case("log", 0, 1, Sync::Fdatasync(1)),
    ];
    let mut record = run_of(suite).six_blocks(&[1e4, 1e4, 1e4, 1e3]).record();
    assert_eq!(caveats(&record), []);
    let devices = record.load_mut().targets.iter_mut().flat_map(|target| &mut target.devices);
    devices.for_each(|device| device.write_cache = Some("write back".into()));
    let note = Caveat::VolatileCache { drives: stend_base::Say::same("sda"), cases: 2 };
    assert_eq!(caveats(&record), [note]);
}

#[test]
fn that_a_kill_would_have_lost_a_trial_is_told_once() {
    let found = after(|r| {
        let event = |at| Event::new(Nanos::secs(at), EventKind::NoSpool { why: format!("full at {at}") });
        r.events.extend([event(1), event(2)]);
    });
    assert_eq!(found, [Caveat::NoSpool { why: "full at 1".into() }]);
}

#[test]
fn runs_beside_are_told_together_each_once() {
    let found = after(|r| {
        let event = |run: &str, drive: &str| EventKind::Beside {
            run_id: format!("R-{run}"),
            run_file: format!("/data/{run}.stend"),
            pid: 7,
            drives: vec![drive.into()],
        };
        let kinds = [event("b", "sdb"), event("a", "sda"), event("b", "sdb")];
        r.events.extend(kinds.into_iter().map(|kind| Event::new(Nanos::secs(1), kind)));
    });
    assert_eq!(found, [Caveat::RunBeside { runs: "/data/a.stend, /data/b.stend".into(), drives: "sda, sdb".into() }]);
}

#[test]
fn few_cpus_and_merged_intervals_are_told_last() {
    let found = after(|r| {
        r.load_mut().facts.as_mut().unwrap().cpus = 2;
        let merged = |count| Event::new(Nanos::secs(101), EventKind::IntervalsMerged { count });
        r.events.extend([merged(3), merged(4)]);
    });
    assert_eq!(found, [Caveat::FewCpus { cpus: 2 }, Caveat::IntervalsMerged { count: 7 }]);
}

#[test]
fn what_another_engine_means_otherwise_is_told_for_its_cases_only() {
    let found = after(|r| r.header.inputs.suite.cases[0].engine = Engine::Fio);
    let [Caveat::OtherEngine { cases: 1, differences }] = found.as_slice() else { panic!("{found:?}") };
    assert!(differences.contains(&Difference::Bins) && !differences.contains(&Difference::Compression));
    assert!(found[0].say().ru.starts_with("В 1 случае ввод-вывод выполняет fio"), "{}", found[0].say().ru);
}

#[test]
fn what_was_said_before_stays_but_the_plan_of_writing_does_not() {
    let found = after(|r| {
        r.load_mut().targets[0].file_system = Some("btrfs".into());
        r.load_mut().facts.as_mut().unwrap().memory = Bytes::gib(256);
    });
    assert_eq!(found, [Caveat::CopyOnWrite { file_system: "btrfs".into() }]);
}

/// Every kind of caveat, to look at the words.
fn every() -> Vec<Caveat> {
    let gib = Bytes::gib;
    let drive = ("nvme0n1".to_string(), gib(931));
    vec![
        Caveat::NoEnd,
        Caveat::NoStorage { what: "backend: none".into(), cases: Vec::new() },
        Caveat::Imported { by: "fio-3.33".into(), after_submission: true, printed: true, snapshots: 3 },
        Caveat::ImportedInPart { dropped: vec![say!("a.json:9: cut", "a.json:9: обрыв"); 3] },
        Caveat::EndedEarly { reason: say!("stopped by the user", "остановлен пользователем") },
        Caveat::OnLoadHosts {
            hosts: vec!["b".into(), "d".into()],
            of_hosts: 4,
            caveat: Box::new(Caveat::FewCpus { cpus: 2 }),
        },
        Caveat::LoadHostLost {
            hosts: 1,
            of_hosts: 4,
            host: "db2".into(),
            after: Nanos::secs(130),
            why: "connection reset".into(),
            trials: 5,
            of_trials: 12,
            cases: 0,
            of_others: 0,
        },
        Caveat::LoadHostLost {
            hosts: 3,
            of_hosts: 16,
            host: "db2".into(),
            after: Nanos::secs(4),
            why: "no answer in time".into(),
            trials: 1,
            of_trials: 12,
            cases: 2,
            of_others: 3,
        },
        Caveat::CrashesSurvived { crashes: 3, rebooted: 1, below: Share(0.632) },
        Caveat::ReplaysSurvived { states: 48, of: 1500 },
        Caveat::CrashUnknown { reason: say!("the ledger is gone", "журнала больше нет") },
        Caveat::Suspended { arm: "after".into(), instruction: "boot kernel 6.12".into() },
        Caveat::ArmsInSequence,
        Caveat::ArmWithoutChange { arm: "tuned".into() },
        Caveat::ArmDrifted {
            arm: "tuned".into(),
            conditions: vec![say!("kernel", "ядро"), stend_base::Say::same("queue")],
        },
        Caveat::TargetInUse { reasons: vec![Refusal::Mounted { at: "/srv".into() }.say()] },
        Caveat::VirtualDisk { device: "vda".into() },
        Caveat::NoDevice,
        Caveat::Fallback { backend: "psync".into(), reason: "io_uring is forbidden here (EPERM)".into() },
        Caveat::OtherEngine { cases: 2, differences: stend_spec::external::Difference::ALL.to_vec() },
        Caveat::KernelWorkers { count: 4 },
        Caveat::OrdinaryPages { huge: Share(0.25) },
        Caveat::FewCpus { cpus: 2 },
        Caveat::ClockStep { by_ns: -2_500_000_000 },
        Caveat::TrialsLeftOut { count: 3 },
        Caveat::EventsMissing { trials: 2, case: "oltp".into(), cases: 1 },
        Caveat::EventsMissing { trials: 5, case: "oltp".into(), cases: 3 },
        Caveat::IntervalsMerged { count: 12_345 },
        Caveat::NoSpool { why: "no file can be made in /dev/shm: No space left on device".into() },
        Caveat::LogIncomplete { dropped: 4_097, recorded: 1_234_567 },
        Caveat::NeverWritten { share: Share(0.25) },
        Caveat::NotFilled,
        Caveat::ReadsErased { at_once: true },
        Caveat::ReadsErased { at_once: false },
        Caveat::ProberHeavy { case: "oltp".into(), share: Share(0.031) },
        Caveat::StreamsOverlap { case: "oltp".into(), first: 1, second: 2 },
        Caveat::TargetsInTurn { cases: 2, targets: 6 },
        Caveat::TraceChanged {
            trace: "db.iolog".into(),
            ios: 200,
            aligned: 12,
            left_out: 3,
            wrapped: true,
            scaled: true,
        },
        Caveat::RunBeside { runs: "/data/R-2.stend".into(), drives: "sda, sdb".into() },
        Caveat::VolatileCache { drives: stend_base::Say::same("sda, sdb"), cases: 4 },
        Caveat::InMemory { what: "tmpfs".into() },
        Caveat::OverNetwork { file_system: "nfs4".into() },
        Caveat::OverFabric { device: "nvme1n1".into(), transport: "tcp".into() },
        Caveat::StorageWatched { host: "array1".into(), drives: 6 },
        Caveat::StorageUnwatched {
            host: "array1".into(), why: say!("the worker ended", "исполнитель завершился")
        },
        Caveat::HostUnwatched {
            host: "switch1".into(), why: say!("the worker ended", "исполнитель завершился")
        },
        Caveat::Fuse { file_system: "fuse.mergerfs".into() },
        Caveat::Overlay,
        Caveat::CopyOnWrite { file_system: "btrfs".into() },
        Caveat::Compressed { option: "compress=zstd:3".into() },
        Caveat::Encrypted { device: "dm-0".into() },
        Caveat::Cached { device: "dm-2".into(), size: gib(4) },
        Caveat::Removable { device: "sdb".into() },
        Caveat::NearlyFull { used: Share(0.75) },
        Caveat::MemorySized { working_set: gib(8), memory: gib(64), direct: true },
        Caveat::MemorySized { working_set: gib(8), memory: gib(64), direct: false },
        Caveat::OtherLoad { device: "sda".into(), iops: 1240.0, bytes_per_s: 87.5e6 },
        Caveat::WillWrite { fill: gib(8), trials: Nanos::secs(75), drive: Some(drive) },
        Caveat::WillWrite { fill: gib(8), trials: Nanos(0), drive: None },
        Caveat::WillWrite { fill: Bytes(0), trials: Nanos::secs(75), drive: None },
        Caveat::NotPrecise {
            cases: 2,
            case: "oltp".into(),
            between_arms: false,
            rate: Some(Share(0.041)),
            p99: Some(Share(0.12)),
            no_p99: false,
        },
        Caveat::NotPrecise {
            cases: 1,
            case: "oltp".into(),
            between_arms: true,
            rate: Some(Share(0.031)),
            p99: Some(Share(0.062)),
            no_p99: false,
        },
        Caveat::NotPrecise { cases: 1, case: "oltp".into(), between_arms: false, rate: None, p99: None, no_p99: true },
        Caveat::NotSteady {
            cases: 2,
            case: "write".into(),
            rounds: 25,
            range: Some(Share(0.31)),
            slope: Some(Share(0.12)),
        },
        Caveat::NotSteady { cases: 1, case: "write".into(), rounds: 5, range: None, slope: None },
        Caveat::FewTrials { cases: 2, trials: 1, need: 6, blocks: 14, takes: Some(Nanos::secs(840)) },
    ]
}

#[test]
fn every_caveat_is_a_sentence_in_both_languages_with_advice() {
    let mut text = String::new();
    for caveat in every() {
        for lang in [Lang::En, Lang::Ru] {
            text += &format!("{}\n  {}\n", caveat.say().get(lang), caveat.advice().get(lang));
        }
    }
    expect_test::expect_file!["../../tests/golden/caveats.txt"].assert_eq(&text);
}

/// Names of the variants, from the source itself: the language cannot list them.
fn variants() -> Vec<&'static str> {
    let source = include_str!("../findings/caveat.rs");
    let body = source.split_once("pub enum Caveat {").unwrap().1.split_once("\n}").unwrap().0;
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let names = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    names.map(|line| line.trim_end_matches([' ', '{', ','])).collect()
}

#[test]
fn the_list_of_every_caveat_is_complete() {
    let listed: Vec<String> = every().iter().map(|caveat| format!("{caveat:?}")).collect();
    let is_listed = |name: &&str| listed.iter().any(|l| l == name || l.starts_with(&format!("{name} {{")));
    let missing: Vec<&str> = variants().into_iter().filter(|name| !is_listed(name)).collect();
    assert!(variants().len() > 20 && missing.is_empty(), "{missing:?}");
}

#[test]
fn every_caveat_has_its_page_and_every_page_its_caveat() {
    let pages = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/caveats");
    let index = std::fs::read_to_string(pages.join("README.md")).unwrap();
    let slugs: std::collections::BTreeSet<String> = every().iter().map(Caveat::slug).collect();
    assert_eq!(slugs.len(), variants().len(), "one page each");
    for slug in &slugs {
        let page = std::fs::read_to_string(pages.join(format!("{slug}.md"))).unwrap_or_default();
        for part in ["# ", "\n## What it means\n", "\n## Why it matters\n", "\n## What to do\n"] {
            assert!(page.contains(part), "docs/caveats/{slug}.md lacks `{}`", part.trim());
        }
        assert!(index.contains(&format!("({slug}.md)")), "docs/caveats/README.md does not list {slug}");
    }
    for entry in std::fs::read_dir(&pages).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let slug = name.strip_suffix(".md").unwrap();
        assert!(slug == "README" || slugs.contains(slug), "docs/caveats/{name} is about no caveat");
    }
}

fn arm_caveats(switch: Switch, kernels: [&str; 3]) -> Vec<Caveat> {
    let [first, second, again] = kernels;
    let run = run().arms(&[("a", Switch::None, first), ("b", switch, second)]).entered(0, again);
    let record = run.six_blocks(&[1000.0, 1000.0]).record();
    let about_arms =
        |c: &Caveat| matches!(c, Caveat::ArmsInSequence | Caveat::ArmWithoutChange { .. } | Caveat::ArmDrifted { .. });
    analyse(&record).unwrap().caveats.into_iter().filter(about_arms).collect()
}

#[test]
fn doubts_about_arms_are_told_apart_and_a_good_comparison_has_none() {
    let command = || Switch::Command { enter: vec!["x".into()], leave: vec!["y".into()] };
    assert_eq!(arm_caveats(command(), ["6.1", "6.2", "6.1"]), []);
    let without = Caveat::ArmWithoutChange { arm: "b".into() };
    assert_eq!(arm_caveats(command(), ["6.1", "6.1", "6.1"]), [without]);
    assert_eq!(arm_caveats(Switch::None, ["6.1", "6.1", "6.1"]), [], "an arm against itself is meant so");
    let kernel = say!("kernel", "ядро");
    let drifted = Caveat::ArmDrifted { arm: "a".into(), conditions: vec![kernel] };
    assert_eq!(arm_caveats(command(), ["6.1", "6.2", "6.3"]), [drifted]);
    let person = Switch::Person { instruction: "swap".into() };
    assert_eq!(arm_caveats(person, ["6.1", "6.2", "6.1"]), [Caveat::ArmsInSequence]);
}

#[test]
fn a_suspended_run_says_what_it_waits_for() {
    let state = RunState::Suspended { arm: 0, instruction: "swap the drive".into() };
    let told = Caveat::Suspended { arm: "1".into(), instruction: "swap the drive".into() };
    assert_eq!(after(|r| r.state = state), [told]);
}
