//! H75: is latency told by its distribution, and not by its mean alone?

use super::Check;
use crate::findings::{CaseFinding, CheckId, CheckResult, QuantileValue};
use stend_base::{Say, Share, format, say, say_in};

/// The percentile without which a mean says nothing.
const LEAST: Share = Share(0.99);

/// H75: every operation has its p99, from histograms that were added up, and its maximum.
pub fn reported(case: &CaseFinding) -> CheckResult {
    let check = Check { id: CheckId::H75, limit: say!("p99 of every operation", "p99 каждой операции") };
    if case.trials == 0 {
        return check.no_trials();
    }
    if case.ops.is_empty() {
        return check.not_measurable(say!("no I/O was completed", "не завершено ни одной операции"));
    }
    let known = |q: Share, value: fn(&QuantileValue) -> bool| {
        case.ops.iter().filter(|op| op.quantiles.iter().any(|found| found.q == q && value(&found.value))).count()
    };
    if known(LEAST, |value| matches!(value, QuantileValue::Printed(None))) > 0 {
        return check.not_measurable(say!(
            "the tool that measured printed neither a histogram nor a p99",
            "инструмент, который измерял, не напечатал ни гистограммы, ни p99"
        ));
    }
    let (all, told) = (case.ops.len(), known(LEAST, |value| !matches!(value, QuantileValue::NotEnough { .. })));
    let measured = Say::both(|l| {
        let ios = case.ops.iter().map(|op| op.count).min().unwrap_or(0);
        say_in!(
            l,
            "{told} of {all}, {ios} I/Os and more",
            "{told} из {all}, операций от {ios}",
            ios = format::count(ios)
        )
    });
    if told == all {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "There are too few I/Os for a p99, so the latency is a mean that hides its tail. Measure longer before you draw conclusions about latency.",
        "Для p99 операции слишком мало операций: её задержка — среднее, которое скрывает хвост. Прежде чем говорить о задержке, измеряйте дольше."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::findings::CheckStatus;
    use crate::fixture::{imported, run};

    #[test]
    fn a_tail_that_was_not_printed_is_not_called_told() {
        let mut record = imported(run().trial(0).done().record(), false);
        let status = |record: &_| reported(&analyse(record).unwrap().cases[0]).status;
        assert_eq!(status(&record), CheckStatus::NotMeasurable);
        record.trials[0].outcome.as_mut().unwrap().tool_output.as_mut().unwrap().ops[0].percentiles =
            vec![(990_000, 7)];
        assert_eq!(status(&record), CheckStatus::Pass);
    }

    #[test]
    fn enough_ios_have_a_tail_and_few_have_a_mean_alone() {
        let of = |iops: f64| {
            let found = analyse(&run().trial(0).iops(iops).done().record()).unwrap();
            reported(&found.cases[0])
        };
        let found = of(10_000.0);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Pass, "1 of 1, 20\u{a0}000 I/Os and more")
        );
        let found = of(100.0);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Warn, "0 of 1, 200 I/Os and more"));
    }
}
