//! Whether the right thing is called the bound, and nothing where nothing is known.

use super::fixture::{Ceilings, fail};
use super::*;
use crate::analyse;
use crate::fixture::{RunBuilder, case, open_case, run, run_of};
use expect_test::{Expect, expect};
use stend_base::Nanos;
use stend_record::parts::{Link, LinkState};
use stend_record::{Device, Parts, TrialOutcome};
use stend_spec::calibration::Reading;
use stend_spec::confirm::Test;
use stend_spec::topology::{NumaNode, Topology};
use stend_spec::workload::Sync;

/// Two trials of the default case at so many reads per second.
fn trials(iops: f64) -> RunBuilder {
    run().trial(0).iops(iops * 0.995).done().trial(0).iops(iops * 1.005).done()
}

fn of(record: &RunRecord) -> CeilingFinding {
    analyse(record).unwrap().cases[0].ceiling.clone().expect("a ceiling")
}

fn check(record: &RunRecord, bound: Bound, expected: Expect) {
    let found = of(record);
    let said = found.say();
    expected.assert_eq(&format!("{}\n{}\n", said.en, said.ru));
    assert_eq!(found.bound, bound);
}

#[test]
fn a_drive_that_is_used_up_is_the_bound() {
    let record = Ceilings::default().on(trials(18_400.0).record());
    check(
        &record,
        Bound::Limited,
        expect![[r#"
            Limited by the drive sda: 92.0 % of 20 000 IOPS (its own ceiling, read alone: 4 KiB at random, 32 in flight each). Next: the CPUs of the machine 25.0 %. Headroom 8.0 %.
            Предел — накопитель sda: 92,0 % от 20 000 IOPS (его собственный потолок при чтении: 4 КиБ вразброс, глубина 32 на каждый). Затем процессоры машины 25,0 %. Запас 8,0 %.
        "#]],
    );
}

#[test]
fn an_engine_that_is_as_near_bounds_it_too() {
    let record = Ceilings { engine: 20_500.0, ..Ceilings::default() }.on(trials(18_400.0).record());
    check(
        &record,
        Bound::Together,
        expect![[r#"
            Limited by the drive sda, 92.0 % of 20 000 IOPS (its own ceiling, read alone: 4 KiB at random, 32 in flight each), and as much by the engine itself 89.7 %.
            Пределов два: накопитель sda, 92,0 % от 20 000 IOPS (его собственный потолок при чтении: 4 КиБ вразброс, глубина 32 на каждый), и сам генератор нагрузки 89,7 %.
        "#]],
    );
}

#[test]
fn a_load_thread_that_is_busy_is_the_bound_also_without_calibration() {
    let busy = |o: &mut TrialOutcome, _: &mut Vec<_>| o.jobs[0].cpu_max_ns = Some(Nanos::millis(1900).0);
    let record = run().trial(0).change(busy).done().record();
    check(
        &record,
        Bound::Limited,
        expect![[r#"
            Limited by the busiest load thread: 95.0 % of 10 526 IOPS (at full use). Next: the CPUs of the machine 25.0 %. Headroom 5.0 %.
            Предел — самый занятый поток нагрузки: 95,0 % от 10 526 IOPS (при полной занятости). Затем процессоры машины 25,0 %. Запас 5,0 %.
        "#]],
    );
    assert_eq!(analyse(&trials(18_400.0).record()).unwrap().cases[0].ceiling, None);
}

#[test]
fn io_that_takes_as_long_as_alone_is_bound_by_latency_and_more_in_flight_is_named() {
    let mut spec = case("rand-read", 100, 1, Sync::None);
    spec.streams[0].queue_depth = vec![1, 4];
    let trials = run_of(vec![spec]).trial(0).iops(1_000.0).done().trial(1).iops(3_900.0).done();
    let record = Ceilings::default().on(trials.record());
    let cases = analyse(&record).unwrap().cases;
    let found = cases[1].ceiling.clone().unwrap();
    assert_eq!((found.bound, found.needed), (Bound::Latency, Some(16)));
    expect![[r#"
        Bound by latency: with 4 in flight each I/O takes about as long as alone. Nearest ceiling: the CPUs of the machine, 25.0 % of 15 600 IOPS (at full use, by any process), which would take about 16 in flight.
        Предел — задержка: при глубине 4 каждая операция длится почти как в одиночку. Ближайший потолок: процессоры машины, 25,0 % от 15 600 IOPS (при полной занятости любыми процессами), для этого нужна глубина около 16."#]].assert_eq(&(found.say().en + "\n" + &found.say().ru));
}

#[test]
fn twice_the_depth_confirms_or_denies() {
    let doubled = |rates: [f64; 3]| {
        let mut spec = case("rand-read", 100, 1, Sync::None);
        spec.streams[0].queue_depth = vec![8, 16, 32];
        let all = [0.999, 1.001].into_iter().flat_map(|part| (0..3).map(move |i| (i, part * rates[i as usize])));
        let trials = all.fold(run_of(vec![spec]), |run, (i, rate)| run.trial(i).iops(rate).done());
        let cases = analyse(&Ceilings::default().on(trials.record())).unwrap().cases;
        cases.iter().map(|c| c.ceiling.as_ref().unwrap().doubled.as_ref().and_then(|d| d.saturated)).collect::<Vec<_>>()
    };
    assert_eq!(doubled([10_000.0, 18_000.0, 18_400.0]), [Some(false), Some(true), None]);
    assert_eq!(doubled([17_700.0, 18_400.0, 18_500.0]), [None, Some(true), None]);
}

/// A case of depth 8, what `confirm` makes of it at these rates, and everything that the run says.
fn confirmed(tests: &[Test], rates: &[f64]) -> crate::Findings {
    let mut spec = case("rand-read", 100, 1, Sync::None);
    spec.streams[0].queue_depth = vec![8];
    let builder = run_of(vec![spec]).inputs(|inputs| {
        inputs.suite.confirm = tests.to_vec();
        inputs.target.topology = two_nodes();
    });
    let all = [0.999, 1.001].into_iter().flat_map(|part| (0u32..).zip(rates).map(move |(i, rate)| (i, part * rate)));
    analyse(&all.fold(builder, |run, (i, rate)| run.trial(i).iops(rate).done()).record()).unwrap()
}

fn two_nodes() -> Topology {
    let node = |node: u32| NumaNode { node, cpus: vec![node] };
    Topology { nodes: vec![node(0), node(1)], device: Some(0) }
}

#[test]
fn what_was_run_to_confirm_is_told_with_its_case_and_is_no_case_itself() {
    let found = confirmed(&[Test::Depth, Test::Threads, Test::Node], &[10_000.0, 10_050.0, 12_000.0, 8_000.0]);
    assert_eq!((found.cases.len(), found.not_run.len()), (1, 0));
    let ceiling = found.cases[0].ceiling.as_ref().unwrap();
    assert_eq!(ceiling.doubled.as_ref().unwrap().saturated, Some(true));
    let tests: Vec<_> = ceiling.relieved.iter().map(|r| (r.test, r.matters)).collect();
    assert_eq!(tests, [(Test::Threads, Some(true)), (Test::Node, Some(true))]);
    let said = ceiling.known();
    assert!(said.en.contains("change the rate by 20.0 %: load threads bounded it."), "{}", said.en);
    assert!(said.ru.contains("меняется на −20,0 %: место потоков и памяти важно."), "{}", said.ru);
}

#[test]
fn a_test_of_cause_may_deny_it_and_may_not_tell() {
    let of = |threads: f64, node: f64| {
        let found = confirmed(&[Test::Threads, Test::Node], &[10_000.0, threads, node]);
        let ceiling = found.cases[0].ceiling.clone().unwrap();
        ceiling.relieved.iter().map(|r| r.matters).collect::<Vec<_>>()
    };
    assert_eq!(of(10_050.0, 9_950.0), [Some(false), Some(false)]);
    // More jobs that are slower are no sign of a thread that was the limit.
    assert_eq!(of(8_000.0, 10_400.0), [Some(false), None]);
    assert_eq!(of(10_400.0, 10_900.0), [None, Some(true)]);
}

#[test]
fn a_case_of_the_suite_that_confirms_another_one_is_named_with_it() {
    let mut spec = case("rand-read", 100, 1, Sync::None);
    spec.streams[0].queue_depth = vec![8, 16];
    let mut more = case("more-jobs", 100, 1, Sync::None);
    (more.streams[0].queue_depth, more.streams[0].jobs) = (vec![4], vec![2]);
    let tests = vec![Test::Depth, Test::Threads];
    let builder = run_of(vec![spec, more]).inputs(|inputs| inputs.suite.confirm = tests);
    let rates = [10_000.0, 18_000.0, 12_000.0];
    let all = [0.999, 1.001].into_iter().flat_map(|part| (0u32..).zip(rates).map(move |(i, rate)| (i, part * rate)));
    let found = analyse(&all.fold(builder, |run, (i, rate)| run.trial(i).iops(rate).done()).record()).unwrap();
    assert_eq!(found.cases.len(), 3, "none of them is there for another one alone");
    let said = found.cases[0].ceiling.as_ref().unwrap().known();
    let depth = "Twice the depth (16: case `rand-read, queue_depth 16`) does not confirm saturation";
    assert!(said.en.contains(depth), "{}", said.en);
    let threads = "Twice the jobs with as much in flight (case `more-jobs`) change the rate by 20.0 %";
    assert!(said.en.contains(threads), "{}", said.en);
    assert!(said.ru.contains("(16: случай `rand-read, queue_depth 16`)"), "{}", said.ru);
    assert!(said.ru.contains("при той же общей глубине (случай `more-jobs`) меняют"), "{}", said.ru);
}

#[test]
fn a_test_of_cause_that_was_not_run_is_named() {
    let found = confirmed(&[Test::Depth], &[10_000.0]);
    assert_eq!(found.not_run[0].label, "rand-read, confirm queue_depth 16");
    assert_eq!(found.cases[0].ceiling.as_ref().unwrap().doubled, None);
}

#[test]
fn what_no_ceiling_explains_is_called_unexplained() {
    let record = Ceilings::default().on(trials(9_000.0).record());
    check(
        &record,
        Bound::Unexplained,
        expect![[r#"
            No known ceiling explains the rate. Nearest ceiling: the drive sda, 45.0 % of 20 000 IOPS (its own ceiling, read alone: 4 KiB at random, 32 in flight each). Next: the CPUs of the machine 25.0 %.
            Ни один из известных потолков скорость не объясняет. Ближайший потолок: накопитель sda, 45,0 % от 20 000 IOPS (его собственный потолок при чтении: 4 КиБ вразброс, глубина 32 на каждый). Затем процессоры машины 25,0 %.
        "#]],
    );
}

#[test]
fn an_open_loop_has_the_rate_that_it_asks_for() {
    let record = Ceilings::default().on(run_of(vec![open_case("open", 10_000)]).trial(0).done().record());
    check(
        &record,
        Bound::Asked,
        expect![[r#"
            The rate is what the load asks for. Nearest ceiling: the drive sda, 50.0 % of 20 000 IOPS (its own ceiling, read alone: 4 KiB at random, 32 in flight each). Next: the CPUs of the machine 25.0 %. Not known: the engine alone (a case like this does not run without a target).
            Скорость задана самой нагрузкой. Ближайший потолок: накопитель sda, 50,0 % от 20 000 IOPS (его собственный потолок при чтении: 4 КиБ вразброс, глубина 32 на каждый). Затем процессоры машины 25,0 %. Неизвестно: генератор без объекта (такой случай без объекта не выполняется).
        "#]],
    );
}

#[test]
fn writes_and_drives_that_could_not_be_read_are_not_known() {
    let writes = run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).done();
    check(
        &Ceilings::default().on(writes.record()),
        Bound::Unexplained,
        expect![[r#"
            No known ceiling explains the rate. Nearest ceiling: the CPUs of the machine, 25.0 % of 40 000 IOPS (at full use, by any process). Next: the busiest load thread 10.0 %. Not known: the drives (Stend never measures writing to the drives; state it with `ceilings: {drive: …}` in the suite).
            Ни один из известных потолков скорость не объясняет. Ближайший потолок: процессоры машины, 25,0 % от 40 000 IOPS (при полной занятости любыми процессами). Затем самый занятый поток нагрузки 10,0 %. Неизвестно: накопители (потолок записи на накопители не измеряется; укажите его в наборе: `ceilings: {drive: …}`).
        "#]],
    );
    let mut record = Ceilings::default().on(trials(18_400.0).record());
    fail(&mut record, "no permission");
    let found = of(&record);
    assert!(found.unknown.iter().all(|unknown| unknown.why.en == "no permission") && found.unknown.len() == 1);
}

#[test]
fn a_case_with_more_in_flight_than_the_reading_is_not_held_against_it() {
    let deep = run_of(vec![case("deep", 100, 64, Sync::None)]).trial(0).iops(30_000.0).done();
    let found = of(&Ceilings::default().on(deep.record()));
    let random = |u: &CeilingUse| matches!(u.resource, Resource::Drives { reading: Reading::Random, .. });
    assert!(!found.uses.iter().any(random), "{:?}", found.uses);
    assert_eq!(found.unknown[0].why.en, "the case has 64 I/Os in flight, the reading had 32");
}

#[test]
fn what_a_case_is_faster_than_does_not_bound_it() {
    let found = of(&Ceilings::default().on(trials(24_000.0).record()));
    assert_eq!(found.bound, Bound::Unexplained);
    assert!(found.unknown[0].why.en.contains("120.0 % of it: see check H07"), "{:?}", found.unknown);
}

#[test]
fn several_drives_are_bound_by_what_they_give_together() {
    let mut record = trials(30_000.0).record();
    let drive = |name: &str| Device { name: name.into(), kind: "disk".into(), depth: 1, ..Device::default() };
    record.load_mut().targets[0].devices = vec![drive("sda"), drive("sdb")];
    let record = Ceilings { together: 0.8, zeros: 300, ..Ceilings::default() }.on(record);
    check(
        &record,
        Bound::Limited,
        expect![[r#"
            Limited by the drives sda, sdb: 93.7 % of 32 000 IOPS (read together: 4 KiB at random, 32 in flight each; 30.0 % of the blocks sampled were never written, so it may be too high). Next: the CPUs of the machine 25.0 %. Headroom 6.3 %.
            Предел — накопители sda, sdb: 93,7 % от 32 000 IOPS (при одновременном чтении: 4 КиБ вразброс, глубина 32 на каждый; 30,0 % просмотренных блоков никогда не записывались, так что он может быть завышен). Затем процессоры машины 25,0 %. Запас 6,3 %.
        "#]],
    );
}

#[test]
fn a_reading_whose_thread_was_busy_is_no_ceiling() {
    let record = Ceilings { busy: 0.95, ..Ceilings::default() }.on(trials(18_400.0).record());
    assert!(of(&record).unknown[0].why.en.contains("load thread was busy"), "{:?}", of(&record).unknown);
}

#[test]
fn a_disk_that_spins_has_no_ceiling_at_random_and_a_virtual_one_has_no_link() {
    let mut record = trials(18_400.0).record();
    record.load_mut().targets[0].devices[1] =
        Device { rotational: Some(true), ..record.load().targets[0].devices[1].clone() };
    let now = Link { speed_mt_per_s: 8_000, width: 4 };
    let link = LinkState { device: "sda".into(), address: "0000:01:00.0".into(), now, best: now, corrected: None };
    for sample in &mut record.load_mut().samples {
        sample.parts = Some(Box::new(Parts { links: vec![link.clone()], ..Parts::default() }));
    }
    let links = |found: &CeilingFinding| {
        let of = |u: &&CeilingUse| matches!(u.resource, Resource::Link { .. });
        found.uses.iter().find(of).map(|u| (u.ceiling / 1e7).round() / 100.0)
    };
    let found = of(&Ceilings::default().on(record.clone()));
    assert!(found.unknown[0].why.en.contains("a rotating disk"), "{:?}", found.unknown);
    // 3.94 GB/s × 0.87.
    assert_eq!(links(&found), Some(3.43));
    record.load_mut().targets[0].devices[1].is_virtual = true;
    let found = of(&Ceilings::default().on(record));
    assert_eq!((links(&found), found.unknown.len()), (None, 0));
}
