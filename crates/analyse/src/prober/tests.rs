//! What is found about probes, by made-up trials. Must not judge but by what is shown.

use super::*;
use crate::fixture::{case as closed, open_case, run_of};
use crate::trials::by_case;
use expect_test::{Expect, expect};
use stend_base::MilliIops;
use stend_base::{Bytes, Histogram};
use stend_record::{RunRecord, Slice, TrialOutcome};
use stend_spec::suite::SuiteCase;
use stend_spec::workload::Sync;

/// Probes of which each took so long, with one silence from and to these times of the window, ms.
fn probes(count: u64, took: Nanos, (since, until): (u64, u64), window_start: Nanos) -> Probes {
    let mut all = Histogram::new();
    all.record_many(took, count);
    Probes {
        response: all.sparse(),
        service: all.sparse(),
        unanswered: Histogram::new().sparse(),
        errors: Vec::new(),
        longest: Some(Silence {
            since: window_start + Nanos::millis(since),
            until: window_start + Nanos::millis(until),
            ended: true,
        }),
        bytes: count * 4096,
        begun: count,
        lasted: Nanos::secs(2),
        cpu_ns: Some(4_000_000),
        cpus: vec![0],
    }
}

/// Two trials with 50 probes per second; the first had a silence of this place in its window, the load these I/Os in it.
fn record(case: SuiteCase, silence: (u64, u64), change: impl Fn(&mut Probes, &mut Vec<Slice>) + 'static) -> RunRecord {
    let asked = Prober { rate: MilliIops::per_second(50), op: Op::Read, block: Bytes(4096), region: WHOLE };
    let first = move |outcome: &mut TrialOutcome, slices: &mut Vec<Slice>| {
        let mut seen = probes(100, Nanos::millis(1), silence, outcome.window_start);
        change(&mut seen, slices);
        outcome.probes = Some(seen);
    };
    let second = |outcome: &mut TrialOutcome, _: &mut Vec<Slice>| {
        outcome.probes = Some(probes(100, Nanos::millis(2), (0, 21), outcome.window_start));
    };
    let mut record = run_of(vec![case]).trial(0).change(first).done().trial(0).change(second).done().record();
    record.trials.iter_mut().for_each(|trial| trial.asked.probing = Probing::By(asked));
    record
}

const WHOLE: stend_spec::workload::Region = stend_spec::workload::Region { start: Bytes(0), len: Bytes(1 << 30) };

fn open() -> SuiteCase {
    open_case("open", 10_000)
}

fn found(record: &RunRecord) -> ProberFinding {
    of_case(&by_case(record)[0]).unwrap()
}

fn check(record: &RunRecord, expected: Expect) {
    let Say { en, ru } = found(record).say();
    expected.assert_eq(&format!("{en}\n{ru}\n"));
}

/// Takes what the load completed in the intervals of the window from the first to before the second.
fn silence_load(slices: &mut Vec<Slice>, from: u32, to: u32) {
    let ramp = slices.iter().map(|slice| slice.interval).max().unwrap_or(0) - 19;
    slices.retain(|slice| !(from..to).contains(&slice.interval.wrapping_sub(ramp)));
}

#[test]
fn silence_in_which_the_load_completed_nothing_either_is_a_standstill() {
    let record = record(open(), (405, 1210), |_, slices| silence_load(slices, 4, 13));
    let longest = found(&record).longest.unwrap();
    assert_eq!((longest.kind, longest.load_completed, longest.trial), (SilenceKind::Standstill, Some(0), 0));
    assert_eq!((longest.length, longest.at), (Nanos::millis(805), Nanos::millis(405)));
    check(
        &record,
        expect![[r#"
        Prober: 200 reads at 50/s, p50 1.00 ms, p99 (too few), at most 2.00 ms. Standstill: nothing was completed for 805 ms, neither probes nor load, from 0.4 s of the window of trial 1. It took 0.5 % of the load's I/Os and 0.2 % of a CPU.
        Пробы: чтения, 200 с частотой 50/с; p50 1,00 мс, p99 (проб мало), не более 2,00 мс. Остановка: 805 мс не завершалось ничего, ни пробы, ни нагрузка, с 0,4 с окна испытания 1. Они заняли 0,5 % операций нагрузки и 0,2 % процессора.
    "#]],
    );
    let findings = crate::analyse(&record).unwrap();
    let events = &findings.cases[0].charts[0].events;
    assert_eq!(events.iter().map(|mark| mark.name.ru.as_str()).collect::<Vec<_>>(), ["остановка 805 мс"]);
}

#[test]
fn a_standstill_may_begin_a_little_later_than_the_silence_and_no_more_than_that() {
    let kind = |from: u32| {
        let record = record(open(), (405, 1210), move |_, slices| silence_load(slices, from, 13));
        (found(&record).longest.unwrap().kind, record)
    };
    // Seven intervals lie wholly in it, from the fifth on.
    let (later, record) = kind(6);
    assert_eq!((later, kind(7).0), (SilenceKind::Standstill, SilenceKind::Queued));
    check(
        &record,
        expect![[r#"
        Prober: 200 reads at 50/s, p50 1.00 ms, p99 (too few), at most 2.00 ms. Standstill: no probe was answered for 805 ms from 0.4 s of the window of trial 1, and in nearly all of that time the load completed nothing (in all of it 1000 I/Os). It took 0.5 % of the load's I/Os and 0.2 % of a CPU.
        Пробы: чтения, 200 с частотой 50/с; p50 1,00 мс, p99 (проб мало), не более 2,00 мс. Остановка: пробы оставались без ответа 805 мс с 0,4 с окна испытания 1, и почти всё это время нагрузка ничего не завершала (всего операций: 1000). Они заняли 0,5 % операций нагрузки и 0,2 % процессора.
    "#]],
    );
}

#[test]
fn silence_in_which_the_load_went_on_is_a_queue() {
    let record = record(open(), (405, 1210), |_, _| {});
    assert_eq!(found(&record).longest.map(|longest| longest.kind), Some(SilenceKind::Queued));
    check(
        &record,
        expect![[r#"
        Prober: 200 reads at 50/s, p50 1.00 ms, p99 (too few), at most 2.00 ms. No standstill of everything: probes had no answer for 805 ms from 0.4 s of the window of trial 1, but the load completed 7000 I/Os meanwhile; these reads waited in a queue. It took 0.5 % of the load's I/Os and 0.2 % of a CPU.
        Пробы: чтения, 200 с частотой 50/с; p50 1,00 мс, p99 (проб мало), не более 2,00 мс. Полной остановки нет: пробы оставались без ответа 805 мс с 0,4 с окна испытания 1, но нагрузка за это время завершила операций: 7000; эти чтения ждали в очереди. Они заняли 0,5 % операций нагрузки и 0,2 % процессора.
    "#]],
    );
}

#[test]
fn the_time_between_probes_is_no_silence_and_a_short_one_is_not_judged() {
    let quiet = record(open(), (400, 459), |_, _| {});
    check(
        &quiet,
        expect![[r#"
        Prober: 200 reads at 50/s, p50 1.00 ms, p99 (too few), at most 2.00 ms. No standstill seen: 59.0 ms without an answer at most, less than three times the time between probes. It took 0.5 % of the load's I/Os and 0.2 % of a CPU.
        Пробы: чтения, 200 с частотой 50/с; p50 1,00 мс, p99 (проб мало), не более 2,00 мс. Остановок не видно: без ответа не более 59,0 мс, меньше трёх промежутков между пробами. Они заняли 0,5 % операций нагрузки и 0,2 % процессора.
    "#]],
    );
    let short = record(open(), (405, 590), |_, _| {});
    assert_eq!(found(&short).longest.map(|l| (l.kind, l.load_completed)), Some((SilenceKind::Unknown, None)));
    check(
        &short,
        expect![[r#"
        Prober: 200 reads at 50/s, p50 1.00 ms, p99 (too few), at most 2.00 ms. Probes had no answer for 185 ms from 0.4 s of the window of trial 1; what the load did in so short a time is not recorded. It took 0.5 % of the load's I/Os and 0.2 % of a CPU.
        Пробы: чтения, 200 с частотой 50/с; p50 1,00 мс, p99 (проб мало), не более 2,00 мс. Пробы оставались без ответа 185 мс с 0,4 с окна испытания 1; что за столь короткое время делала нагрузка, не записано. Они заняли 0,5 % операций нагрузки и 0,2 % процессора.
    "#]],
    );
}

#[test]
fn unanswered_and_failed_probes_are_told_and_bound_the_response_from_below() {
    let hangs = record(open(), (405, 9000), |probes, slices| {
        let mut ages = Histogram::new();
        ages.record_many(Nanos::secs(9), 20);
        probes.unanswered = ages.sparse();
        probes.errors = vec![(5, 2), (28, 1)];
        probes.cpu_ns = None;
        probes.longest = probes.longest.map(|longest| Silence { ended: false, ..longest });
        silence_load(slices, 4, 20);
    });
    let seen = found(&hangs);
    assert_eq!((seen.probes, seen.unanswered, seen.failed, seen.cpus), (223, 20, 3, None));
    check(
        &hangs,
        expect![[r#"
        Prober: 223 reads at 50/s, p50 2.01 ms, p99 (too few), the longest more than 9.00 s. Unanswered: 20; failed: 3. Standstill: nothing was completed for more than 8.60 s, neither probes nor load, from 0.4 s of the window of trial 1. It took 0.6 % of the load's I/Os.
        Пробы: чтения, 223 с частотой 50/с; p50 2,01 мс, p99 (проб мало), самая долгая более 9,00 с. Без ответа: 20; с ошибкой: 3. Остановка: более 8,60 с не завершалось ничего, ни пробы, ни нагрузка, с 0,4 с окна испытания 1. Они заняли 0,6 % операций нагрузки.
    "#]],
    );
}

#[test]
fn a_prober_is_heavy_from_half_a_percent_of_the_load_on() {
    let of = |count: u64| {
        found(&record(open(), (0, 20), move |probes, _| {
            let mut all = Histogram::new();
            all.record_many(Nanos::millis(1), count);
            probes.response = all.sparse();
        }))
    };
    let light = of(100);
    assert!(light.share.is_some_and(|share| (share.0 - 0.005).abs() < 1e-9) && !light.is_heavy(), "{light:?}");
    assert!(of(300).is_heavy());
    assert_eq!(light.cpus, Some(0.002));
}

#[test]
fn a_case_without_a_prober_says_why_only_where_one_would_expect_it() {
    let with = |probing: Probing| {
        let mut record = run_of(vec![closed("reads", 100, 32, Sync::None)]).trial(0).done().record();
        record.trials.iter_mut().for_each(|trial| trial.asked.probing = probing);
        let cases = by_case(&record);
        assert_eq!(of_case(&cases[0]), None);
        why_none(&cases[0]).map(|say| say.en)
    };
    assert_eq!(with(Probing::None(NoProber::Off)), None);
    assert_eq!(with(Probing::None(NoProber::Capacity)), None);
    let slow = with(Probing::None(NoProber::TooSlow)).unwrap();
    assert_eq!(slow, "No prober: 0.5 % of a load below 200/s is less than 1/s, too seldom to tell anything.");
}

/// A load at a rate of which 30 % are writes, beside probes that read and always had an answer; its writes stood in these intervals of the
/// window, as on an ext4 that was frozen for a second.
fn mixed(iops: f64, stood: std::ops::Range<u32>) -> RunRecord {
    let asked = Prober { rate: MilliIops::per_second(50), op: Op::Read, block: Bytes(4096), region: WHOLE };
    let mut suite = open_case("open", iops as u64);
    suite.streams[0].mix = stend_spec::workload::Mix::of_reads(70);
    let change = move |outcome: &mut TrialOutcome, slices: &mut Vec<Slice>| {
        outcome.probes = Some(probes(100, Nanos::millis(1), (0, 21), outcome.window_start));
        let ramp = slices.iter().map(|slice| slice.interval).max().unwrap_or(0) - 19;
        slices.retain(|slice| slice.op != Op::Write || !stood.contains(&slice.interval.wrapping_sub(ramp)));
    };
    let mut record = run_of(vec![suite]).trial(0).iops(iops).change(change).done().record();
    record.trials.iter_mut().for_each(|trial| trial.asked.probing = Probing::By(asked));
    record
}

#[test]
fn writes_that_stood_while_probes_were_read_are_told_by_the_load() {
    let record = mixed(10_000.0, 4..14);
    let seen = found(&record);
    let [other] = seen.others.as_slice() else { panic!("{seen:?}") };
    let stood = other.stood.unwrap();
    assert_eq!((other.op, stood.length, stood.at, stood.trial), (Op::Write, Nanos::SECOND, Nanos::millis(400), 0));
    let Say { en, ru } = seen.say();
    assert!(
        en.contains(
            "The load's writes stood still: none was completed for at least 1.00 s from 0.4 s of the window of trial 1."
        ),
        "{en}"
    );
    assert!(ru.contains("Стояли записи нагрузки: не менее 1,00 с"), "{ru}");
    let findings = crate::analyse(&record).unwrap();
    let marks: Vec<_> = findings.cases[0].charts[0].events.iter().map(|mark| mark.name.en.clone()).collect();
    assert_eq!(marks, ["standstill 1.00 s"]);
}

#[test]
fn writes_that_went_on_or_pause_by_chance_are_no_standstill_and_too_few_of_them_are_told() {
    let whole = found(&mixed(10_000.0, 0..0));
    assert_eq!(whole.others, [OtherOp { op: Op::Write, stood: None, too_few: false }]);
    assert!(!whole.say().en.contains("stood still"), "{whole:?}");
    // Six writes a second: a second without any is nothing, and that is said.
    let few = found(&mixed(20.0, 4..14));
    assert!(few.others[0].stood.is_none() && few.others[0].too_few, "{few:?}");
    assert!(few.say().en.contains("It is unknown whether writes alone stood still"), "{few:?}");
    // Probes of a load that only reads miss nothing.
    assert_eq!(found(&record(open(), (0, 21), |_, _| {})).others, []);
}
