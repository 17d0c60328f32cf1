//! Red and green of H07 and H42.

use super::*;
use crate::ceilings::fixture::{Ceilings, fail};
use crate::findings::CheckStatus;
use crate::fixture::{RunBuilder, case, open_case, run, run_of};
use crate::trials::by_case;
use stend_spec::suite::SuiteCase;
use stend_spec::workload::Sync;

fn trials(iops: &[f64]) -> RunBuilder {
    iops.iter().fold(run(), |run, rate| run.trial(0).iops(*rate).done())
}

fn above_of(record: &RunRecord) -> CheckResult {
    above(record, &by_case(record)[0])
}

fn headroom_of(record: &RunRecord) -> CheckResult {
    headroom(record, &by_case(record)[0])
}

#[test]
fn more_than_the_drives_can_give_came_from_a_cache() {
    let found = above_of(&Ceilings::default().on(trials(&[21_000.0, 21_010.0]).record()));
    assert_eq!(found.status, CheckStatus::Fail);
    assert_eq!(found.measured.en, "105.0 % of the ceiling (21\u{a0}005 IOPS of 20\u{a0}000 IOPS)");
    let below = above_of(&Ceilings::default().on(trials(&[20_400.0, 20_410.0]).record()));
    assert_eq!(below.status, CheckStatus::Pass, "{below:?}");
}

#[test]
fn a_rate_that_may_be_above_by_chance_or_through_the_page_cache_is_a_warning() {
    let wide = above_of(&Ceilings::default().on(trials(&[15_000.0, 27_500.0]).record()));
    assert_eq!(wide.status, CheckStatus::Warn, "{wide:?}");
    let buffered = SuiteCase { direct: false, ..case("buffered", 100, 32, Sync::None) };
    let record = run_of(vec![buffered]).trial(0).iops(90_000.0).done().record();
    assert_eq!(above_of(&Ceilings::default().on(record)).status, CheckStatus::Warn);
}

#[test]
fn without_a_ceiling_there_is_no_verdict() {
    assert_eq!(above_of(&trials(&[21_000.0]).record()).status, CheckStatus::NotApplicable);
    let mut record = Ceilings::default().on(trials(&[21_000.0]).record());
    fail(&mut record, "no permission");
    let found = above_of(&record);
    assert_eq!((found.status, found.meaning.en.as_str()), (CheckStatus::NotMeasurable, "no permission"));
    let writes = run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).done().record();
    assert_eq!(above_of(&Ceilings::default().on(writes)).status, CheckStatus::NotMeasurable);
}

#[test]
fn an_engine_that_is_hardly_faster_alone_is_a_part_of_the_rate() {
    let of = |engine: f64| headroom_of(&Ceilings { engine, ..Ceilings::default() }.on(trials(&[10_000.0]).record()));
    let (red, green) = (of(15_000.0), of(25_000.0));
    assert_eq!((red.status, red.measured.en.as_str()), (CheckStatus::Warn, "1.5 times"));
    assert_eq!((green.status, green.measured.en.as_str()), (CheckStatus::Pass, "2.5 times"));
}

#[test]
fn a_load_at_a_rate_of_its_own_has_no_headroom_to_speak_of() {
    let record = run_of(vec![open_case("open", 10_000)]).trial(0).done().record();
    assert_eq!(headroom_of(&Ceilings::default().on(record.clone())).status, CheckStatus::NotApplicable);
    assert_eq!(headroom_of(&record).status, CheckStatus::NotApplicable);
}
