//! H18: was the range that is read ever written? Unwritten blocks are answered without the medium.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::NEVER_WRITTEN;
use crate::trials::CaseTrials;
use stend_base::{Say, format, say, say_in};
use stend_record::RunRecord;

/// H18: hardly any of the blocks sampled before the first read case is all zeros.
pub fn zeros(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H18,
        limit: Say::both(|l| {
            let share = format::percent(NEVER_WRITTEN, l);
            say_in!(l, "≤ {share} zero blocks", "≤ {share} нулевых блоков")
        }),
    };
    if !case.asked.streams.iter().any(|s| s.mix.reads()) {
        return check.not_applicable(say!("the case does not read", "случай не читает"));
    }
    let Some(zeros) = run.load().zeros.filter(|z| z.sampled > 0) else {
        return check.not_measurable(say!("no blocks were sampled for zeros", "блоки не проверялись на нули"));
    };
    let (zero, sampled) = (zeros.zero, zeros.sampled);
    let measured = say!("{zero} of {sampled} blocks are zeros", "{zero} из {sampled} блоков нулевые");
    if f64::from(zero) / f64::from(sampled) <= NEVER_WRITTEN {
        return check.pass(measured);
    }
    check.measured(measured).fail(say!(
        "Blocks that were never written answer without the medium. Let Stend write first (`--confirm`), or measure a device that holds data.",
        "Никогда не записанные блоки читаются без носителя. Дайте Стенду сначала записать (`--confirm`) или возьмите устройство с данными."
    ))
}

#[cfg(test)]
mod tests {
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run, run_of};
    use crate::trials::by_case;
    use stend_record::ZeroSample;
    use stend_spec::workload::Sync;

    fn check(zeros: Option<ZeroSample>) -> CheckStatus {
        let mut record = run().trial(0).done().record();
        record.load_mut().zeros = zeros;
        super::zeros(&record, &by_case(&record)[0]).status
    }

    #[test]
    fn a_written_range_passes_and_an_empty_one_fails() {
        assert_eq!(check(Some(ZeroSample { sampled: 1000, zero: 10, contents: None })), CheckStatus::Pass);
        assert_eq!(check(Some(ZeroSample { sampled: 1000, zero: 11, contents: None })), CheckStatus::Fail);
    }

    #[test]
    fn no_sample_is_not_measurable_and_a_case_that_only_writes_is_not_concerned() {
        assert_eq!(check(None), CheckStatus::NotMeasurable);
        assert_eq!(check(Some(ZeroSample { sampled: 0, zero: 0, contents: None })), CheckStatus::NotMeasurable);
        let record = run_of(vec![case("write", 0, 1, Sync::None)]).trial(0).done().record();
        assert_eq!(super::zeros(&record, &by_case(&record)[0]).status, CheckStatus::NotApplicable);
    }
}
