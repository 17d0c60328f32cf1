//! H24: is a case known precisely enough? Only publishing asks for it; a comparison has its own intervals.

use super::Check;
use crate::findings::{CaseFinding, CheckId, CheckResult};
use crate::limits::PRECISION;
use stend_base::{Say, format, say};

/// H24: the interval of the rate is as narrow as it should be after all the trials that there are.
pub fn noise(case: &CaseFinding) -> CheckResult {
    let goal = case.precision.as_ref().map_or(PRECISION, |precision| precision.goal.0);
    let check = Check { id: CheckId::H24, limit: Say::both(|l| format!("≤ ± {}", format::percent(goal, l))) };
    let Some(precision) = &case.precision else {
        return check.measured(say!("no interval", "нет интервала")).only_screening(say!(
            "There is no interval over trials: fewer than two trials, or a rate that a search only tried. Screening shows the value; a published number needs more trials.",
            "Интервала по испытаниям нет: испытаний меньше двух или скорость лишь опробована поиском. Предварительная оценка показывает значение; для публикации нужно больше испытаний."
        ));
    };
    let measured = Say::both(|l| format!("± {}", format::near_limit::percent(precision.half_width.0, goal, l)));
    match precision.is_reached() {
        true => check.pass(measured),
        false => check.measured(measured).only_screening(say!(
            "The trials differ so much that the value is known only this well. For screening this is good enough; for a published number, the line on precision shows how many blocks are needed.",
            "Испытания различаются так, что значение известно лишь в этих пределах. Предварительная оценка показывает его так; сколько блоков нужно для публикации, сказано в строке о точности."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::findings::CheckStatus;
    use crate::fixture::{RunBuilder, run};

    fn of(run: RunBuilder) -> CheckResult {
        let found = analyse(&run.record()).unwrap();
        found.cases[0].checks.iter().find(|check| check.id == CheckId::H24).unwrap().clone()
    }

    #[test]
    fn trials_that_agree_are_precise_and_others_are_told_without_an_alarm() {
        let found = of(run().six_blocks(&[10_000.0]));
        assert_eq!((found.status, found.limit.en.as_str()), (CheckStatus::Pass, "≤ ± 2.0 %"));
        let wide = [9_000.0, 11_000.0, 9_500.0, 10_500.0];
        let found = of(wide.iter().fold(run(), |run, rate| run.trial(0).iops(*rate).done()));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::ScreeningOnly, "± 14.5 %"));
        assert_eq!(of(run().trial(0).done()).measured.en, "no interval");
    }
}
