//! The honesty checks: each asks one question of a case and answers with what it measured.
//!
//! A check never changes a number. Limits live in [`crate::limits`] only.

#[cfg(test)]
mod agreement;
mod alignment;
mod amplification;
mod arc;
mod arithmetic;
mod background;
mod burst;
mod by_host;
mod cache;
mod ceilings;
pub mod clock;
mod crashed;
mod depth;
mod drives;
mod duplicates;
mod durability;
mod errors;
mod executed;
mod expected;
#[cfg(test)]
mod expected_tests;
mod first_pass;
mod foreign;
mod generator;
mod heat;
mod idle;
mod imported;
mod length;
mod limiter;
mod links;
mod little;
mod lower_devices;
mod machine;
mod mix;
mod network;
mod noise;
mod offered;
mod overlap;
mod placement;
mod places;
mod preconditioned;
mod readings;
mod reducible;
mod redundancy;
mod replayed;
mod reported;
mod steady;
pub(crate) mod stretch;
mod sweep;
mod telemetry;
mod verified;
mod written;
mod zfs;
#[cfg(test)]
mod zfs_tests;

pub use by_host::{OfHost, Shared, joined};
pub use crashed::bound;
pub use durability::{flushes_are_off, is_volatile, left_in_caches};
pub use generator::{engine_limit, is_limit};
pub(crate) use network::{fullest_interface, is_over_network};

use crate::findings::CheckId::{self, *};
use crate::findings::{CaseFinding, CheckResult, CheckStatus};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Say, say};
use stend_plan::Plan;
use stend_record::{RunRecord, TargetKind};
use stend_spec::workload::Backend;

/// Checks of what happens below the engine: they ask nothing where no storage takes part.
const OF_STORAGE: [CheckId; 23] =
    [H07, H10, H11, H12, H13, H14, H17, H18, H19, H25, H26, H30, H31, H41, H45, H46, H60, H61, H62, H63, H64, H65, H66];

/// Checks that take a case for one whose storage is left alone: they would find what its events were meant to do.
const OF_QUIET: [CheckId; 13] = [H02, H07, H11, H15, H21, H22, H23, H25, H26, H43, H63, H64, H66];

/// A result of a case with events: what they were meant to do is no finding.
fn with_events(result: CheckResult) -> CheckResult {
    match OF_QUIET.contains(&result.id) {
        true => CheckResult {
            status: CheckStatus::NotApplicable,
            measured: does_not_apply(),
            meaning: say!(
                "Events of the case disturb its storage on purpose; their effect has its own section.",
                "События случая намеренно нарушают работу хранилища; их влияние показано отдельно."
            ),
            ..result
        },
        false => result,
    }
}

/// Every check that looks at one case alone, in the order of their numbers.
pub fn all(run: &RunRecord, case: &CaseTrials<'_>) -> Vec<CheckResult> {
    let results = unless_nowhere(run, case);
    let happened = crate::faults::had_events(run, case);
    results.into_iter().map(|result| if happened { with_events(result) } else { result }).collect()
}

fn unless_nowhere(run: &RunRecord, case: &CaseTrials<'_>) -> Vec<CheckResult> {
    let nowhere = run.load().targets.iter().any(|target| target.kind == TargetKind::NullDevice);
    let results = each(run, case).into_iter().map(|result| imported::answered(run, result));
    if case.asked.backend == Backend::NvmePassthrough {
        return results.map(without_counters).collect();
    }
    if !nowhere && case.asked.backend != Backend::Null {
        return results.collect();
    }
    let without_storage = |result: CheckResult| match OF_STORAGE.contains(&result.id) {
        true => CheckResult {
            status: CheckStatus::NotApplicable,
            measured: does_not_apply(),
            meaning: say!("No storage took part.", "Хранилище не участвовало."),
            ..result
        },
        false => result,
    };
    results.map(without_storage).collect()
}

/// Checks that count I/Os by what the kernel's counters of drives say.
const BY_COUNTERS: [CheckId; 7] = [H11, H12, H26, H30, H41, H63, H66];

/// A result that does not rest on counters which do not see the I/Os of a case: commands that pass by the block layer are not in
/// them.
//= linux, block/blk.h: blk_do_io_stat is false for passthrough requests
fn without_counters(result: CheckResult) -> CheckResult {
    match BY_COUNTERS.contains(&result.id) && result.status != CheckStatus::NotApplicable {
        true => CheckResult {
            status: CheckStatus::NotMeasurable,
            measured: say!("the kernel does not count NVMe commands", "команды NVMe ядро не считает"),
            meaning: say!(
                "The case sends commands past the block layer, whose counters do not see them.",
                "Команды случая идут мимо блочного уровня, и его счётчики их не видят."
            ),
            ..result
        },
        false => result,
    }
}

fn each(run: &RunRecord, case: &CaseTrials<'_>) -> Vec<CheckResult> {
    vec![
        arithmetic::bandwidth(case),
        little::in_flight(case),
        mix::mix(case),
        executed::executed(run, case),
        ceilings::above(run, case),
        arithmetic::sums(case),
        cache::working_set(run, case),
        drives::bytes(run, case),
        cache::page_cache(run, case),
        arc::arc(run, case),
        first_pass::first_pass(run, case),
        burst::burst(case),
        overlap::overlap(case),
        reducible::reducible(run, case),
        written::zeros(run, case),
        places::places(case),
        preconditioned::preconditioned(run, case),
        steady::steady(run, case),
        length::warm_up(case),
        length::long_enough(case),
        background::background(run, case),
        foreign::foreign(run, case),
        durability::fsync(run, case),
        durability::unsafe_modes(run, case),
        generator::busy(run, case),
        depth::depth(run, case),
        ceilings::headroom(run, case),
        offered::offered(case),
        clock::clock(run, case),
        placement::numa(run, case),
        placement::interrupts(run, case),
        heat::frequency(run, case),
        heat::heat(run, case),
        machine::steal(run, case),
        machine::memory(run, case),
        links::links(run, case),
        network::network(run, case),
        alignment::alignment(run, case),
        amplification::amplification(run, case),
        redundancy::redundancy(run, case),
        limiter::limiter(run, case),
        foreign::io_size(run, case),
        errors::errors(case),
        telemetry::telemetry(run, case),
        idle::idle(run, case),
        verified::verified(case),
        replayed::replayed(run, case),
        crashed::crashed(run, case),
    ]
}

/// Puts the checks that hold a case against others, or judge what was found of it, among its checks in the order of their
/// numbers. What is found must be complete otherwise.
pub fn insert(plan: &Plan, trials: &[CaseTrials<'_>], cases: &mut [CaseFinding]) {
    // A sweep leaves out cases that failed, copies among them.
    put(cases, duplicates::duplicates(trials));
    let sweeps = sweep::sweeps(plan, cases);
    put(cases, sweeps);
    for of in [noise::noise, reported::reported] {
        let found = cases.iter().map(of).collect();
        put(cases, found);
    }
}

/// One result for each case.
fn put(cases: &mut [CaseFinding], results: Vec<CheckResult>) {
    for (case, result) in cases.iter_mut().zip(results) {
        let at = case.checks.iter().position(|check| check.id > result.id).unwrap_or(case.checks.len());
        case.checks.insert(at, result);
    }
}

/// A check before its result.
struct Check {
    id: CheckId,
    limit: Say,
}

impl Check {
    fn result(self, status: CheckStatus, measured: Say, meaning: Say) -> CheckResult {
        let result = CheckResult::new(self.id, status, measured, self.limit, meaning);
        #[cfg(test)]
        agrees(&result);
        result
    }

    fn measured(self, measured: Say) -> Measured {
        Measured { check: self, measured }
    }

    fn pass(self, measured: Say) -> CheckResult {
        self.result(CheckStatus::Pass, measured, Say::same(""))
    }

    fn not_measurable(self, why: Say) -> CheckResult {
        self.result(CheckStatus::NotMeasurable, say!("not measurable", "неизмеримо"), why)
    }

    fn not_applicable(self, why: Say) -> CheckResult {
        self.result(CheckStatus::NotApplicable, does_not_apply(), why)
    }

    /// The answer when no trial of the case was measured over its whole window.
    fn no_trials(self) -> CheckResult {
        self.not_measurable(say!(
            "no trial of this case was measured over its whole window",
            "ни одно испытание этого случая не измерено целиком"
        ))
    }
}

/// A check with what it measured, before this is judged: each judgement gets its meaning.
struct Measured {
    check: Check,
    measured: Say,
}

impl Measured {
    fn warn(self, meaning: Say) -> CheckResult {
        self.check.result(CheckStatus::Warn, self.measured, meaning)
    }

    fn fail(self, meaning: Say) -> CheckResult {
        self.check.result(CheckStatus::Fail, self.measured, meaning)
    }

    fn only_screening(self, meaning: Say) -> CheckResult {
        self.check.result(CheckStatus::ScreeningOnly, self.measured, meaning)
    }
}

/// Whatever a test checks, the numbers that it prints agree.
#[cfg(test)]
fn agrees(result: &CheckResult) {
    let passed = match result.status {
        CheckStatus::Pass => true,
        CheckStatus::Warn | CheckStatus::Fail | CheckStatus::ScreeningOnly => false,
        CheckStatus::NotMeasurable | CheckStatus::NotApplicable => return,
    };
    let [en, ru] = [(&result.measured.en, &result.limit.en), (&result.measured.ru, &result.limit.ru)]
        .map(|(measured, limit)| agreement::contradiction(passed, measured, limit));
    assert_eq!((en, ru), (None, None), "{result:#?}");
}

fn does_not_apply() -> Say {
    say!("does not apply", "не относится")
}

fn too_few_samples() -> Say {
    say!(
        "too few counter readings fall surely into the load",
        "слишком мало показаний счётчиков, достоверно снятых под нагрузкой"
    )
}

/// Whether a case lacks what only publishing needs: it was measured and did not hold, which screening is not marked for, or it could
/// not be told. That a check does not concern a case is no lack.
pub fn is_unmet(result: &CheckResult) -> bool {
    match result.status {
        CheckStatus::Pass | CheckStatus::NotApplicable => false,
        CheckStatus::Warn | CheckStatus::Fail | CheckStatus::NotMeasurable | CheckStatus::ScreeningOnly => true,
    }
}

/// How much a status says against a number.
fn worst_of(status: CheckStatus) -> u8 {
    match status {
        CheckStatus::NotApplicable => 0,
        CheckStatus::Pass => 1,
        CheckStatus::ScreeningOnly => 2,
        CheckStatus::NotMeasurable => 3,
        CheckStatus::Warn => 4,
        CheckStatus::Fail => 5,
    }
}

/// The trial for which `key` is largest, with its key; ties keep the earlier one.
fn worst<'a, 'c>(case: &'c CaseTrials<'a>, key: impl Fn(&Counting<'a>) -> f64) -> Option<(f64, &'c Counting<'a>)> {
    case.counting.iter().map(|trial| (key(trial), trial)).fold(None, |best: Option<(f64, _)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    })
}

#[cfg(test)]
mod tests {
    use super::BY_COUNTERS;
    use crate::analyse;
    use crate::findings::{CheckId, CheckStatus};
    use crate::fixture::{case, run_of};
    use stend_spec::suite::SuiteCase;
    use stend_spec::workload::{Backend, Sync};

    /// Findings of a clean run.
    fn clean() -> crate::Findings {
        analyse(&run_of(vec![case("mix", 70, 32, Sync::None)]).six_blocks(&[9_870.0]).record()).unwrap()
    }

    #[test]
    fn every_check_has_its_section_and_every_section_its_check() {
        let page = include_str!("../../../../docs/method/checks.md");
        let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let of_runs = || CheckId::ALL.iter().filter_map(|id| Some((id, id.name()?)));
        assert_eq!(sections, of_runs().map(|(id, name)| format!("{id} {}", name.en)).collect::<Vec<_>>());
        let parts = ["**Catches**", "**Formula**", "**Source**", "**What to"];
        for section in page.split("\n## ").skip(1) {
            assert!(parts.iter().all(|part| section.contains(part)), "{section}");
        }
        let found = clean();
        let record = run_of(vec![case("mix", 70, 32, Sync::None)]).record();
        let compared = crate::compare(&[(&record, &found)], &crate::compare::Options::default());
        let mut asked: Vec<CheckId> = found.cases[0].checks.iter().chain(&compared.checks).map(|c| c.id).collect();
        asked.sort_unstable();
        assert_eq!(asked, of_runs().map(|(id, _)| *id).collect::<Vec<_>>(), "each of them is asked");
    }

    #[test]
    fn every_check_has_its_name_in_both_languages() {
        let is_russian = |text: &str| text.chars().any(|c| ('\u{400}'..='\u{4ff}').contains(&c));
        for id in CheckId::ALL {
            let names: Vec<_> = id.name().into_iter().chain(id.name_of_table()).collect();
            assert!(!names.is_empty() && names.iter().all(|n| is_russian(&n.ru) && !is_russian(&n.en)), "{names:?}");
        }
    }

    #[test]
    fn what_the_kernel_does_not_count_is_not_measurable_by_its_counters() {
        let status = |backend: Backend| {
            let suite = SuiteCase { backend, ..case("mix", 70, 32, Sync::None) };
            let mut record = run_of(vec![suite]).six_blocks(&[9_870.0]).record();
            let name = if backend == Backend::NvmePassthrough { "nvme_passthrough" } else { "io_uring" };
            record.trials.iter_mut().filter_map(|t| t.outcome.as_mut()).for_each(|o| o.engine.backend = name.into());
            let checks = analyse(&record).unwrap().cases[0].checks.clone();
            checks.into_iter().map(|check| (check.id, check.status)).collect::<Vec<_>>()
        };
        for ((id, plain), (_, by_commands)) in
            status(Backend::IoUring).into_iter().zip(status(Backend::NvmePassthrough))
        {
            let concerned = BY_COUNTERS.contains(&id) && plain != CheckStatus::NotApplicable;
            let expected = if concerned { CheckStatus::NotMeasurable } else { plain };
            assert_eq!(by_commands, expected, "{id}, {plain:?} with io_uring");
        }
    }

    #[test]
    fn a_clean_run_has_no_check_that_warns_or_fails() {
        for check in &clean().cases[0].checks {
            use CheckStatus::{NotApplicable, Pass, ScreeningOnly};
            assert!(matches!(check.status, Pass | NotApplicable | ScreeningOnly), "{check:?}");
        }
    }
}
