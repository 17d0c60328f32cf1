//! The run in one or two sentences for someone who has not read the tables: what does not hold comes
//! first, then the two numbers that tell most, then the most serious reason to doubt.

use crate::check;
use crate::findings::{CaseFinding, Caveat, CheckId, CheckResult, CheckStatus, QuantileValue};
use crate::levels;
use crate::phrase::{on_each, printed, rate, sizes};
use crate::searched::Searched;
use crate::trials::CaseTrials;
use std::cmp::Reverse;
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Say, format, say, say_in};
use stend_plan::Plan;
use stend_spec::workload::{Op, Pattern, Stream, Trial};

/// Checks that count whatever a search was looking for: bytes as I/Os say, no errors, data as written, also after a crash.
const ANYWAY: [CheckId; 4] = [CheckId::H01, CheckId::H76, CheckId::H79, CheckId::H81];

/// What is said of a run first.
pub struct Verdict {
    /// What was found, or why nothing was.
    pub headline: Say,
    /// The same, with what it means for the numbers.
    pub whole: Say,
}

impl Verdict {
    /// One of a single sentence.
    pub fn alone(said: Say) -> Verdict {
        Verdict { headline: said.clone(), whole: said }
    }
}

/// The verdict. `trials` and `cases` are in the same order.
pub fn verdict(
    trials: &[CaseTrials<'_>],
    cases: &[CaseFinding],
    caveats: &[Caveat],
    searched: &Searched<'_>,
) -> Verdict {
    let measured: Vec<(&Trial, &CaseFinding)> =
        trials.iter().map(|t| t.asked).zip(cases).filter(|(_, case)| case.trials > 0).collect();
    if measured.is_empty() {
        return Verdict::alone(nothing(cases, caveats));
    }
    let alone: Vec<_> = measured.iter().copied().filter(|(_, case)| searched.plan.rung(case.case).is_none()).collect();
    let telling = telling(&alone);
    let told = |name: fn(&Trial, &CaseFinding) -> Say| {
        Say::both(|l| {
            let answers = searched.answers.iter().map(|answer| answer.get(l).to_string());
            let lines = telling.iter().map(|(asked, case)| line(name(asked, case).get(l), case, l) + ".");
            answers.chain(lines).collect::<Vec<_>>().join(" ")
        })
    };
    let numbers = told(|_, case| case.workload.clone());
    let in_short = searched.in_short.clone().unwrap_or_else(|| told(short_name));
    let cases: Vec<CaseFinding> = cases.iter().map(|case| held_against(case, searched)).collect();
    // What the numbers are not comes before anything else that can be said of them.
    let (nowhere, caveats) = match caveats.iter().position(is_nowhere) {
        Some(at) => (Some(caveats[at].say()), &[&caveats[..at], &caveats[at + 1..]].concat()[..]),
        None => (None, caveats),
    };
    let (of_told, others): (Vec<CaseFinding>, Vec<CaseFinding>) = cases
        .iter()
        .cloned()
        .partition(|case| telling.is_empty() || telling.iter().any(|(_, told)| told.case == case.case));
    let in_short = check::engine_limit(trials, &of_told).into_iter().fold(in_short, |short, limit| join(limit, short));
    // A headline with both levels leaves no reader with their mean; those of a case that it does not name come behind.
    let explained = levels::explain(&cases);
    let others_fell = levels::of_others(&cases, |case| telling.iter().any(|(_, told)| told.case == case));
    let (headline, whole) = match (failed(&cases), doubt(&of_told, &others, caveats)) {
        (Some((_, why)), _) if explained => match others_fell {
            Some(others) => (join(in_short, others.clone()), join(join(numbers, others), why)),
            None => (in_short, join(numbers, why)),
        },
        (Some((failed, why)), _) => (failed.clone(), join(join(failed, why), numbers)),
        (None, Some(doubt)) => (in_short, join(numbers, doubt)),
        (None, None) => (in_short, numbers),
    };
    match nowhere {
        Some(nowhere) => Verdict { headline: nowhere.clone(), whole: join(nowhere, whole) },
        None => Verdict { headline, whole },
    }
}

fn is_nowhere(caveat: &Caveat) -> bool {
    matches!(caveat, Caveat::NoStorage { cases, .. } if cases.is_empty())
}

/// A case with the checks that count. A rate that a search found too high fails those of latency and rate, as it should;
/// failed I/O and wrong data count at any rate.
fn held_against(case: &CaseFinding, searched: &Searched<'_>) -> CaseFinding {
    let mut case = case.clone();
    if searched.missed.contains(&case.case) {
        case.checks.retain(|check| ANYWAY.contains(&check.id));
    }
    case
}

fn join(first: Say, second: Say) -> Say {
    let (a, b, c, d) = (first.en, second.en, first.ru, second.ru);
    say!("{a} {b}", "{c} {d}")
}

/// Nothing was measured: the first failed check or caveat says why.
fn nothing(cases: &[CaseFinding], caveats: &[Caveat]) -> Say {
    let nothing = say!("Nothing was measured.", "Ничего не измерено.");
    let failed = failed(cases).map(|(failed, why)| join(failed, why));
    match failed.or_else(|| caveats.first().map(Caveat::say)) {
        Some(why) => join(nothing, why),
        None => nothing,
    }
}

/// That the check fails which does so in most cases, and what it means in the first of them.
fn failed(cases: &[CaseFinding]) -> Option<(Say, Say)> {
    let (count, check) = most_frequent(cases, CheckStatus::Fail)?;
    let (id, name, meaning) = (&check.id, &check.name, &check.meaning);
    let total = cases.len() as u64;
    let said = Say::both(|l| {
        let noun = match l {
            Lang::En => plural_en(total, "case", "cases"),
            Lang::Ru => plural_ru(total, "случая", "случаев", "случаев"),
        };
        let head = say_in!(
            l,
            "Do not rely on these numbers: check {id} ({name}) fails in {count} of {total} {noun}",
            "На эти числа полагаться нельзя: проверка {id} ({name}) не пройдена в {count} из {total} {noun}",
            name = name.get(l)
        );
        head + "."
    });
    Some((said, meaning.clone()))
}

/// The most serious reason to doubt: a caveat about missing data, a check that warns of the numbers in the verdict, one that
/// warns of others, which are then named, any other caveat.
fn doubt(told: &[CaseFinding], others: &[CaseFinding], caveats: &[Caveat]) -> Option<Say> {
    // A note is no doubt.
    let worst = caveats.iter().find(|caveat| !matches!(caveat, Caveat::VolatileCache { .. }));
    let warned = || most_frequent(told, CheckStatus::Warn).map(|(_, check)| check.meaning.clone());
    let elsewhere = || {
        let (_, found) = most_frequent(others, CheckStatus::Warn)?;
        let has = |case: &&CaseFinding| {
            case.checks.iter().any(|check| check.status == CheckStatus::Warn && check.id == found.id)
        };
        let label = &others.iter().find(has)?.label;
        let (en, ru) = (&found.meaning.en, &found.meaning.ru);
        Some(say!("Case {label}: {en}", "Случай {label}: {ru}"))
    };
    let about_data = worst.filter(|c| c.is_about_data()).map(Caveat::say);
    about_data.or_else(warned).or_else(elsewhere).or_else(|| worst.map(Caveat::say))
}

/// How many cases have a check of this status most often, and its first result; ties keep the lower number.
fn most_frequent(cases: &[CaseFinding], status: CheckStatus) -> Option<(usize, &CheckResult)> {
    let of = |id: CheckId| cases.iter().flat_map(|c| &c.checks).filter(|c| c.status == status && c.id == id).count();
    let found = cases.iter().flat_map(|case| &case.checks).filter(|check| check.status == status);
    found.map(|check| (of(check.id), check)).fold(None, |best: Option<(usize, &CheckResult)>, next| match best {
        Some(best) if (best.0, Reverse(best.1.id)) >= (next.0, Reverse(next.1.id)) => Some(best),
        _ => Some(next),
    })
}

/// The cases that the sentence names.
fn telling<'a>(measured: &[(&'a Trial, &'a CaseFinding)]) -> Vec<(&'a Trial, &'a CaseFinding)> {
    let named = named(&measured.iter().map(|(asked, case)| (*asked, case.case)).collect::<Vec<_>>());
    named.into_iter().filter_map(|index| measured.iter().find(|(_, case)| case.case == index).copied()).collect()
}

/// The two cases that tell a stranger most, by their index in the plan: random reads at the highest depth (what it does in
/// parallel) and durable writes (what a commit costs); without these, the first two.
pub fn named(measured: &[(&Trial, u32)]) -> Vec<u32> {
    let reads = measured
        .iter()
        .filter(|(asked, _)| {
            asked.streams.iter().all(|s| {
                s.pattern.is_scattered() && s.pattern.is_even() && !s.mix.writes() && !s.is_open() && s.think.is_none()
            })
        })
        .max_by_key(|(asked, case)| (asked.in_flight(), Reverse(*case)));
    let durable = measured.iter().find(|(asked, _)| asked.streams.iter().all(|s| s.sync.is_durable()));
    let found: Vec<u32> = reads.into_iter().chain(durable).map(|(_, case)| *case).collect();
    if found.is_empty() { measured.iter().take(2).map(|(_, case)| *case).collect() } else { found }
}

/// A case by as few words as tell it from others in a headline: of a durable write neither its order nor how it is made durable.
fn short_name(asked: &Trial, case: &CaseFinding) -> Say {
    let [stream] = asked.streams.as_slice() else { return case.workload.clone() };
    let plain = stream.sync.is_durable() && stream.mix.share(Op::Write) == 100 && stream.replay.is_none();
    // Where it appends it is no write to the range that others are measured on.
    if !plain || stream.is_open() || stream.pattern == Pattern::Append {
        return case.workload.clone();
    }
    let short = Say::both(|l| {
        let depth = match asked.in_flight() {
            ..=1 => String::new(),
            depth => say_in!(l, ", {depth} in flight", ", {depth} в очереди"),
        };
        format!("{}, {}{depth}", l.pick("durable write", "запись с подтверждением"), sizes(stream, l))
    });
    case.hosts.as_ref().map_or(short.clone(), |found| on_each(&short, found.hosts.len()))
}

/// Most cases whose numbers stand out.
const TELLING_MOST: usize = 4;

/// The cases that tell most of storage, by their index in the plan: random reads and random writes at their largest depth, reads in
/// order, durable writes; then the same at their smallest depth, then others in their order. All, if there are few.
pub fn stand_out(trials: &[CaseTrials<'_>], plan: &Plan) -> Vec<u32> {
    let measured = measured_alone(trials, plan);
    let every = |asked: &Trial, of: fn(&Stream) -> bool| asked.streams.iter().all(|s| of(s) && !s.is_open());
    let kinds: [fn(&Stream) -> bool; TELLING_MOST] = [
        |s| s.pattern.is_scattered() && !s.mix.writes(),
        |s| s.pattern.is_scattered() && !s.mix.reads() && !s.sync.is_durable(),
        |s| !s.pattern.is_scattered() && !s.mix.writes(),
        |s| s.sync.is_durable(),
    ];
    let fitting = |of: fn(&Stream) -> bool| measured.iter().filter(move |(asked, _)| every(asked, of));
    let deepest = kinds.map(|of| fitting(of).max_by_key(|(asked, case)| (asked.in_flight(), Reverse(*case))));
    let shallowest = kinds.map(|of| fitting(of).min_by_key(|(asked, case)| (asked.in_flight(), *case)));
    let of_many = deepest.into_iter().chain(shallowest).flatten().filter(|_| measured.len() > TELLING_MOST);
    let mut found: Vec<u32> = Vec::new();
    for (_, case) in of_many.chain(&measured) {
        if found.len() < TELLING_MOST && !found.contains(case) {
            found.push(*case);
        }
    }
    found
}

/// Cases with trials that count and are no steps of a search.
pub fn measured_alone<'a>(trials: &[CaseTrials<'a>], plan: &Plan) -> Vec<(&'a Trial, u32)> {
    let measured = trials.iter().filter(|case| !case.counting.is_empty() && plan.rung(case.case).is_none());
    measured.map(|case| (case.asked, case.case)).collect()
}

/// One case in words: `random read, 4 KiB, 32 in flight: 84 200 IOPS ± 1.3 %, p99 0.84 ms`.
fn line(name: &str, case: &CaseFinding, lang: Lang) -> String {
    if let Some(levels) = &case.levels {
        return format!("{}: {}", capital(name), levels.short(lang));
    }
    let estimate = case.total.of(case.headline);
    let latencies = case.ops.iter().filter(|op| op.op != Op::Sync).filter_map(|op| {
        let p99 = op.quantiles.iter().find(|q| q.q.0 == 0.99)?;
        match p99.value {
            QuantileValue::At(value) => Some(format::latency(value, lang)),
            QuantileValue::Above(value) => Some(format!("> {}", format::latency(value, lang))),
            QuantileValue::Printed(Some(range)) => Some(printed(range, lang)),
            QuantileValue::NotEnough { .. } | QuantileValue::Printed(None) => None,
        }
    });
    let latencies = latencies.collect::<Vec<_>>().join(" / ");
    let p99 = if latencies.is_empty() { String::new() } else { format!(", p99 {latencies}") };
    let alone = if estimate.interval.is_some() {
        ""
    } else {
        lang.pick(" (no interval: too few trials)", " (без интервала: мало испытаний)")
    };
    format!("{}: {}{alone}{p99}", capital(name), rate(case.headline, estimate, lang))
}

/// The text with its first letter in upper case.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use crate::analyse;
    use crate::fixture::{case, run, run_of};
    use expect_test::{Expect, expect};
    use stend_base::{Nanos, Say};
    use stend_record::{RunRecord, RunState, ZeroSample};
    use stend_spec::workload::Sync;

    fn verdict(record: &RunRecord) -> Say {
        analyse(record).unwrap().verdict
    }

    fn check(record: &RunRecord, expected: Expect) {
        let Say { en, ru } = verdict(record);
        expected.assert_eq(&format!("{en}\n{ru}\n"));
    }

    fn two_cases() -> RunRecord {
        let cases = vec![
            case("shallow", 100, 1, Sync::None),
            case("deep", 100, 32, Sync::None),
            case("durable", 0, 1, Sync::Fdatasync(1)),
        ];
        run_of(cases).six_blocks(&[9_000.0, 84_200.0, 1_234.0]).record()
    }

    #[test]
    fn a_headline_names_a_durable_write_in_short() {
        let Say { en, ru } = analyse(&two_cases()).unwrap().headline;
        expect![[r#"
            Random read, 4 KiB, 32 in flight: 84 195 IOPS ± 0.8 %, p99 569 µs. Durable write, 4 KiB: 1230 IOPS ± 0.8 %, p99 1.21 ms.
            Случайное чтение, 4 КиБ, 32 в очереди: 84 195 IOPS ± 0,8 %, p99 569 мкс. Запись с подтверждением, 4 КиБ: 1230 IOPS ± 0,8 %, p99 1,21 мс.
        "#]]
        .assert_eq(&format!("{en}\n{ru}\n"));
    }

    #[test]
    fn four_cases_stand_out_of_many_and_all_of_few() {
        let stand_out = |cases: Vec<stend_spec::suite::SuiteCase>| {
            let rates: Vec<f64> = (1..=cases.len()).map(|n| 1000.0 * n as f64).collect();
            analyse(&run_of(cases).six_blocks(&rates).record()).unwrap().telling
        };
        let all = || {
            vec![
                case("mix", 70, 8, Sync::None),
                case("shallow", 100, 1, Sync::None),
                case("deep", 100, 32, Sync::None),
                case("writes", 0, 8, Sync::None),
                case("durable", 0, 1, Sync::Fdatasync(1)),
                case("other", 70, 1, Sync::None),
            ]
        };
        assert_eq!(stand_out(all()), [2, 3, 4, 1]);
        assert_eq!(stand_out(all().into_iter().take(3).collect()), [0, 1, 2]);
    }

    #[test]
    fn the_two_numbers_that_tell_most() {
        check(
            &two_cases(),
            expect![[r#"
                Random read, 4 KiB, 32 in flight: 84 195 IOPS ± 0.8 %, p99 569 µs. Durable random write, 4 KiB, 1 in flight, fdatasync after each: 1230 IOPS ± 0.8 %, p99 1.21 ms.
                Случайное чтение, 4 КиБ, 32 в очереди: 84 195 IOPS ± 0,8 %, p99 569 мкс. Случайная запись с подтверждением, 4 КиБ, 1 в очереди, fdatasync после каждой: 1230 IOPS ± 0,8 %, p99 1,21 мс.
            "#]],
        );
    }

    #[test]
    fn a_warning_of_numbers_that_were_not_told_names_its_case() {
        use stend_base::Nanos;
        let cases = ["a", "b", "c"].map(|name| case(name, 100, 32, Sync::None));
        let verdict = |waiting: u32| {
            let wait = move |o: &mut stend_record::TrialOutcome, _: &mut Vec<stend_record::Slice>| {
                o.jobs[0].run_delay_ns = Some(Nanos::millis(500).0);
            };
            let mut run = run_of(cases.to_vec());
            for index in 0..3 {
                let trial = run.trial(index).iops(10_000.0 + f64::from(index) * 10.0);
                run = if index == waiting { trial.change(wait).done() } else { trial.done() };
            }
            analyse(&run.record()).unwrap().verdict.en
        };
        // The first of three alike is named.
        let (told, other) = (verdict(0), verdict(2));
        assert!(told.contains("The load threads waited") && !told.contains("Case "), "{told}");
        assert!(other.contains("Case c: The load threads waited"), "{other}");
    }

    #[test]
    fn a_failed_check_comes_before_the_numbers() {
        let mut record = two_cases();
        record.load_mut().zeros = Some(ZeroSample { sampled: 1000, zero: 400, contents: None });
        check(
            &record,
            expect![[r#"
                Do not rely on these numbers: check H18 (the range was written) fails in 2 of 3 cases. Blocks that were never written answer without the medium. Let Stend write first (`--confirm`), or measure a device that holds data. Random read, 4 KiB, 32 in flight: 84 195 IOPS ± 0.8 %, p99 569 µs. Durable random write, 4 KiB, 1 in flight, fdatasync after each: 1230 IOPS ± 0.8 %, p99 1.21 ms.
                На эти числа полагаться нельзя: проверка H18 (область записана) не пройдена в 2 из 3 случаев. Никогда не записанные блоки читаются без носителя. Дайте Стенду сначала записать (`--confirm`) или возьмите устройство с данными. Случайное чтение, 4 КиБ, 32 в очереди: 84 195 IOPS ± 0,8 %, p99 569 мкс. Случайная запись с подтверждением, 4 КиБ, 1 в очереди, fdatasync после каждой: 1230 IOPS ± 0,8 %, p99 1,21 мс.
            "#]],
        );
    }

    #[test]
    fn two_levels_are_told_instead_of_their_mean_unless_something_else_fails() {
        let shape = |second: u32| if second < 200 { 1.0 } else { 0.1 };
        let of = |zero: u32| {
            let mut record = run().trial(0).window(Nanos::secs(60)).iops(3_000.0).shape(shape).done().record();
            record.load_mut().zeros = Some(ZeroSample { sampled: 1000, zero, contents: None });
            analyse(&record).unwrap().headline.en
        };
        let (levels, unwritten) = (of(0), of(400));
        assert!(levels.contains("IOPS for") && levels.contains(", then"), "{levels}");
        assert!(unwritten.starts_with("Do not rely"), "{unwritten}");
    }

    #[test]
    fn a_case_that_fell_and_is_none_of_those_named_is_named_with_its_levels() {
        let shape = |second: u32| if second < 200 { 1.0 } else { 0.1 };
        let cases = vec![
            case("deep", 100, 32, Sync::None),
            case("durable", 0, 1, Sync::Fdatasync(1)),
            case("mix", 70, 8, Sync::None),
            case("writes", 0, 8, Sync::None),
        ];
        let headline = |fallen: &[u32]| {
            let run = (0..4).fold(run_of(cases.clone()), |run, index| {
                let trial =
                    run.trial(index).window(Nanos::secs(60)).iops([7_000.0, 900.0, 3_000.0, 5_000.0][index as usize]);
                if fallen.contains(&index) { trial.shape(shape).done() } else { trial.done() }
            });
            analyse(&run.record()).unwrap().headline
        };
        let one = headline(&[2]);
        assert!(
            one.en.starts_with("Random read") && one.en.contains(" Case mix: 3000 IOPS for 21 s, then 300 IOPS."),
            "{}",
            one.en
        );
        assert!(one.ru.contains(" Случай mix: 3000 IOPS в течение 21 с, затем 300 IOPS."), "{}", one.ru);
        let both = headline(&[2, 3]);
        assert!(both.en.ends_with(" Another case has two levels, too."), "{}", both.en);
        let named = headline(&[0]);
        assert!(named.en.contains("for 21 s, then") && !named.en.contains("Case "), "{}", named.en);
    }

    #[test]
    fn the_worst_caveat_follows_the_numbers() {
        let mut record = two_cases();
        record.state = RunState::Open;
        check(
            &record,
            expect![[r#"
                Random read, 4 KiB, 32 in flight: 84 195 IOPS ± 0.8 %, p99 569 µs. Durable random write, 4 KiB, 1 in flight, fdatasync after each: 1230 IOPS ± 0.8 %, p99 1.21 ms. The run has no recorded end: it is still in progress, or it was killed. This is what was recorded until now. Continue a killed run: `stend run --resume NAME`.
                Случайное чтение, 4 КиБ, 32 в очереди: 84 195 IOPS ± 0,8 %, p99 569 мкс. Случайная запись с подтверждением, 4 КиБ, 1 в очереди, fdatasync после каждой: 1230 IOPS ± 0,8 %, p99 1,21 мс. У прогона нет записанного конца: он ещё идёт или был прерван. Показано то, что записано до сих пор. Продолжить прерванный: `stend run --resume ИМЯ`.
            "#]],
        );
    }

    #[test]
    fn a_note_of_the_run_is_no_doubt_about_its_numbers() {
        let mut record = run_of(vec![case("write", 0, 32, Sync::None)]).six_blocks(&[9_000.0]).record();
        let before = verdict(&record);
        record
            .load_mut()
            .targets
            .iter_mut()
            .flat_map(|t| &mut t.devices)
            .for_each(|d| d.write_cache = Some("write back".into()));
        assert_eq!(analyse(&record).unwrap().caveats.len(), 1);
        assert_eq!(verdict(&record), before);
    }

    #[test]
    fn a_generator_that_was_the_limit_comes_before_a_virtual_disk() {
        let mut record = two_cases();
        record.load_mut().targets.iter_mut().flat_map(|t| &mut t.devices).for_each(|d| d.is_virtual = true);
        assert!(verdict(&record).en.contains("virtual disk"));
        let of_deep = record.trials.iter_mut().find(|trial| trial.case == 1).unwrap();
        of_deep.outcome.as_mut().unwrap().jobs[0].run_delay_ns = Some(1_000_000_000);
        assert!(verdict(&record).en.contains("the storage can do more"));
        let headline = analyse(&record).unwrap().headline.en;
        assert!(headline.starts_with("The load threads waited for a CPU"), "the worst news is in front: {headline}");
    }

    #[test]
    fn that_no_storage_took_part_comes_first_and_checks_of_storage_ask_nothing() {
        let mut cases = vec![case("null", 100, 32, Sync::None)];
        cases[0].backend = stend_spec::workload::Backend::Null;
        let mut record = run_of(cases).six_blocks(&[9e6]).record();
        // The drives saw nothing of it, of course.
        record.load_mut().samples.iter_mut().for_each(|sample| sample.disks.clear());
        record.load_mut().zeros = Some(ZeroSample { sampled: 1000, zero: 1000, contents: None });
        record.trials.iter_mut().filter_map(|t| t.outcome.as_mut()).for_each(|o| o.engine.backend = "none".into());
        let found = analyse(&record).unwrap();
        assert!(found.verdict.en.starts_with("No storage took part"), "{}", found.verdict.en);
        assert!(!found.verdict.en.contains("Do not rely"), "{}", found.verdict.en);
        let of = |id| found.cases[0].checks.iter().find(|check| check.id == id).map(|check| check.status);
        use crate::findings::CheckId::{H01, H10, H11, H12, H18, H66};
        for id in [H10, H11, H12, H18, H66] {
            assert_eq!(of(id), Some(crate::findings::CheckStatus::NotApplicable), "{id}");
        }
        assert_eq!(of(H01), Some(crate::findings::CheckStatus::Pass));
    }

    #[test]
    fn nothing_measured_says_why() {
        let mut record = run().record();
        record.state = RunState::Open;
        check(
            &record,
            expect![[r#"
            Nothing was measured. The run has no recorded end: it is still in progress, or it was killed. This is what was recorded until now. Continue a killed run: `stend run --resume NAME`.
            Ничего не измерено. У прогона нет записанного конца: он ещё идёт или был прерван. Показано то, что записано до сих пор. Продолжить прерванный: `stend run --resume ИМЯ`.
        "#]],
        );
    }

    #[test]
    fn one_trial_of_one_case_says_what_it_lacks() {
        check(
            &run().trial(0).done().record(),
            expect![[r#"
                Random read, 4 KiB, 32 in flight: 10 000 IOPS (no interval: too few trials), p99 4.78 ms. 1 case has fewer than 6 trials (down to 1): the intervals are wide, or missing.
                Случайное чтение, 4 КиБ, 32 в очереди: 10 000 IOPS (без интервала: мало испытаний), p99 4,78 мс. У 1 случая меньше 6 испытаний (в худшем — 1): интервалы широки или их нет.
            "#]],
        );
    }
}
