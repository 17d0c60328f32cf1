//! One case: its trials in, everything that is found about it out.

use crate::by_target;
use crate::charts::Charts;
use crate::fidelity;
use crate::findings::CaseFinding;
use crate::operations::{latencies, op_finding};
use crate::trials::CaseTrials;
use crate::{charts, check, io_log, levels, phrase, prober, rates, submitted};
use stend_base::Nanos;
use stend_record::RunRecord;
use stend_spec::workload::Op;

/// Everything about one case, with its charts if they are to be `drawn`. `run_start` is where the run's axis begins.
pub fn finding(
    run: &RunRecord,
    case: &CaseTrials<'_>,
    (label, axes): (String, Vec<(String, String)>),
    (drawn, run_start): (Charts, Nanos),
) -> CaseFinding {
    let latencies = latencies(case);
    let headline = phrase::headline(case.asked);
    CaseFinding {
        case: case.case,
        label,
        axes,
        workload: phrase::workload(case.asked),
        headline,
        trials: case.counting.len() as u32,
        trials_left_out: (case.all.len() - case.counting.len()) as u32,
        total: rates::rates(case, None, &Op::IO),
        precision: None,
        steady: None,
        levels: levels::of_case(case),
        ops: latencies.iter().map(|latency| op_finding(case, latency)).collect(),
        targets: by_target::findings(run, case),
        hosts: None,
        ceiling: None,
        replays: fidelity::of_case(run, case),
        io_logs: io_log::of_case(case),
        submissions: submitted::of_case(case),
        prober: prober::of_case(case),
        no_prober: prober::why_none(case),
        checks: check::all(run, case),
        charts: match drawn {
            Charts::Drawn => charts::of_case(run, case, headline, &latencies, run_start),
            Charts::LeftOut => Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Headline, Quantile, QuantileValue};
    use crate::fixture::{case, open_case, run, run_of};
    use crate::trials::by_case;
    use stend_base::histogram::Sparse;
    use stend_record::TrialOutcome;
    use stend_record::observed::Drained;
    use stend_spec::workload::Sync;

    fn first(record: &RunRecord) -> CaseFinding {
        finding(record, &by_case(record)[0], ("x".into(), Vec::new()), (Charts::Drawn, Nanos(0)))
    }

    #[test]
    fn io_that_ended_after_the_window_counts_for_latency_and_not_for_the_rate() {
        let slow = Sparse { buckets: vec![(4000, 400)].into(), sum_ns: 1, min_ns: 1, max_ns: 20_000_000_000 };
        let with = run()
            .trial(0)
            .change(move |o, _| o.drained.push(Drained { stream: 0, op: Op::Read, latency: slow, service: None }))
            .done()
            .record();
        let (with, without) = (first(&with), first(&run().trial(0).done().record()));
        assert_eq!(with.total.iops.value, without.total.iops.value);
        assert_eq!(with.ops[0].count, without.ops[0].count + 400);
        assert_eq!(with.ops[0].latency_max, Nanos::secs(20));
        assert!(matches!(with.ops[0].quantiles[1].value, QuantileValue::At(v) if v > Nanos::millis(500)));
    }

    #[test]
    fn an_open_loop_has_both_latencies_and_what_never_began_is_a_lower_bound() {
        let ages =
            Sparse { buckets: vec![(4000, 1000)].into(), sum_ns: 1, min_ns: 9_000_000_000, max_ns: 20_000_000_000 };
        let of = |behind: bool| {
            let ages = if behind { ages.clone() } else { Sparse::default() };
            let change = move |o: &mut TrialOutcome, _: &mut Vec<_>| o.open[0].never_begun[0] = ages;
            let record = run_of(vec![open_case("open", 10_000)]).trial(0).change(change).done().record();
            first(&record).ops[0].clone()
        };
        let (kept_up, behind) = (of(false), of(true));
        let (response, service) = (&kept_up.quantiles, &kept_up.service.as_ref().unwrap().quantiles);
        let at = |q: &Quantile| if let QuantileValue::At(value) = q.value { value } else { panic!("{q:?}") };
        assert!(response.iter().zip(service).all(|(response, service)| at(response) > at(service)));
        assert!(matches!(behind.quantiles[1].value, QuantileValue::Above(least) if least >= Nanos::secs(9)));
        assert_eq!(behind.service, kept_up.service);
        assert_eq!((behind.censored, behind.count), (1_000, kept_up.count + 1_000));
    }

    #[test]
    fn the_total_is_reads_and_writes_without_syncs() {
        let record = run_of(vec![case("durable", 0, 1, Sync::Fdatasync(1))]).trial(0).iops(500.0).done().record();
        let found = first(&record);
        let ops: Vec<_> = found.ops.iter().map(|o| (o.op, o.rates.iops.value)).collect();
        assert_eq!((found.total.iops.value, ops), (500.0, vec![(Op::Write, 500.0), (Op::Sync, 500.0)]));
    }

    #[test]
    fn a_mix_shows_each_operation() {
        let record = run_of(vec![case("mix", 70, 32, Sync::None)]).trial(0).done().record();
        let ops: Vec<_> = first(&record).ops.iter().map(|o| (o.op, o.rates.iops.value)).collect();
        assert_eq!(ops, [(Op::Read, 7_000.0), (Op::Write, 3_000.0)]);
    }

    #[test]
    fn rates_of_operations_add_up_to_the_total_and_syncs_are_no_part_of_it() {
        let mixed = run_of(vec![case("mix", 70, 8, Sync::None)]).six_blocks(&[9_973.0]).record();
        let durable = run_of(vec![case("durable", 0, 1, Sync::Fdatasync(1))]).six_blocks(&[997.0]).record();
        for (record, ops, is_mix) in [(&mixed, [Op::Read, Op::Write], true), (&durable, [Op::Write, Op::Sync], false)] {
            let found = first(record);
            assert_eq!((found.ops.iter().map(|o| o.op).collect::<Vec<_>>(), found.is_mix()), (ops.to_vec(), is_mix));
            for headline in [Headline::Iops, Headline::Throughput] {
                let parts = found.ops.iter().filter(|o| o.op != Op::Sync).map(|o| o.rates.of(headline).value);
                let (sum, total) = (parts.sum::<f64>(), found.total.of(headline).value);
                assert!((sum - total).abs() < 1e-9 * total, "{headline:?}: {sum} {total}");
            }
        }
    }
}
