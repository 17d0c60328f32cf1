//! H77: does watching cost so much that it is part of what is watched?

use super::{Check, too_few_samples};
use crate::cost;
use crate::findings::{CheckId, CheckResult};
use crate::limits::TELEMETRY_CPU;
use crate::trials::CaseTrials;
use stend_base::{Say, format, say};
use stend_record::RunRecord;

/// H77: taking samples takes hardly any of a CPU.
pub fn telemetry(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H77,
        limit: say!(|l| "≤ {p} of a CPU", "≤ {p} одного ЦП", p = format::percent(TELEMETRY_CPU, l)),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let outcomes = case.counting.iter().map(|trial| trial.outcome);
    let stretches: Vec<_> =
        outcomes.filter_map(|o| cost::stretch(&run.load().samples, o.load_start, o.window_end)).collect();
    let ends = stretches.iter().filter_map(|samples| Some((samples.first()?.at, samples.last()?.at)));
    let length = ends.fold(0u64, |sum, (first, last)| sum.saturating_add(last.saturating_sub(first).0));
    if length == 0 {
        return check.not_measurable(too_few_samples());
    }
    let share = cost::of_readings(&stretches) as f64 / length as f64;
    let measured =
        Say::both(|l| format!("{} %", format::near_limit::fixed(share * 100.0, TELEMETRY_CPU * 100.0, 2, l)));
    if share <= TELEMETRY_CPU {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "Reading the counters of this machine takes long enough to disturb the load where CPUs are scarce. Stop what makes `/proc` slow, or keep a CPU free of load threads (`cpus`).",
        "Чтение счётчиков этой машины идёт так долго, что при нехватке ЦП мешает нагрузке. Остановите то, что замедляет `/proc`, или оставьте один ЦП без потоков нагрузки (`cpus`)."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;

    #[test]
    fn cheap_samples_pass_and_dear_ones_are_a_warning() {
        let of = |cost_ns: u64| {
            let mut record = run().trial(0).done().record();
            record.load_mut().samples.iter_mut().for_each(|sample| sample.cost_ns = cost_ns);
            telemetry(&record, &by_case(&record)[0])
        };
        let (cheap, dear) = (of(200_000), of(20_000_000));
        assert_eq!((cheap.status, cheap.measured.en.as_str()), (CheckStatus::Pass, "0.04 %"));
        assert_eq!((dear.status, dear.measured.en.as_str()), (CheckStatus::Warn, "4.00 %"));
        let mut record = run().trial(0).done().record();
        record.load_mut().samples.clear();
        assert_eq!(telemetry(&record, &by_case(&record)[0]).status, CheckStatus::NotMeasurable);
    }

    #[test]
    fn readings_that_waited_for_a_cpu_cost_no_more_than_the_others_and_slow_parts_are_found() {
        let of = |change: fn(usize, &mut stend_record::Sample)| {
            let mut record = run().trial(0).window(stend_base::Nanos::secs(10)).done().record();
            let samples = record.load_mut().samples.iter_mut();
            samples.enumerate().for_each(|(at, sample)| change(at, sample));
            telemetry(&record, &by_case(&record)[0]).status
        };
        // A guest without KVM on two CPUs: 3 ms a reading, and every fourth time 60 ms until its thread got a CPU.
        let waits = of(|at, sample| sample.cost_ns = if at % 4 == 0 { 60_000_000 } else { 3_000_000 });
        assert_eq!(waits, CheckStatus::Pass);
        let slow_parts = of(|at, sample| {
            sample.parts = (at % 4 == 0).then(Default::default);
            sample.cost_ns = if at % 4 == 0 { 60_000_000 } else { 3_000_000 };
        });
        assert_eq!(slow_parts, CheckStatus::Warn);
    }
}
