//! H03: are the shares of operations those that were asked for, in number and in bytes?

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{MIX_DEVIATION, MIX_SIGMA};
use crate::phrase::op as op_name;
use crate::trials::{CaseTrials, Counting};
use stend_base::{Say, format, say};
use stend_spec::workload::{Op, Stream};

/// The share of an operation in a stream of a trial.
#[derive(Debug, Clone, Copy)]
struct Executed {
    op: Op,
    /// Shares of the I/Os and of their bytes.
    is: [f64; 2],
    asked: f64,
    /// By how much it may deviate.
    allowed: f64,
    /// By how much more because of what was in flight at the edges of the window.
    edges: f64,
}

impl Executed {
    fn deviation(&self) -> f64 {
        self.is.iter().map(|is| (is - self.asked).abs()).fold(0.0, f64::max)
    }

    fn excess(&self) -> f64 {
        self.deviation() / (self.allowed + self.edges)
    }
}

/// H03: the mix of operations is the one that was asked for, as far as chance lets it.
pub fn mix(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H03,
        limit: say!(|l| "± {d}, or chance", "± {d} или случай", d = format::percent(MIX_DEVIATION, l)),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    // A trace does not mix by chance: any part of it may be of one kind.
    let mixed = |stream: &Stream| stream.replay.is_none() && stream.mix.shares().count() > 1;
    if !case.asked.streams.iter().any(mixed) {
        return check.not_applicable(say!("one operation, or a trace", "одна операция или трасса"));
    }
    let found: Vec<Executed> = case.counting.iter().flat_map(|trial| executed(trial, mixed)).collect();
    // The one that is furthest off for what chance lets it be.
    let Some(worst) = found.iter().max_by(|a, b| a.excess().total_cmp(&b.excess())) else {
        return check.not_measurable(say!("no I/O was completed", "не завершено ни одной операции"));
    };
    if worst.excess() <= 1.0 {
        return check.pass(words(worst));
    }
    check.measured(words(worst)).fail(say!(
        "The mix of reads and writes differs from the suite, and they cost the storage differently: the number belongs to another load. Report this as a defect.",
        "Чтения и записи смешаны не так, как сказано в наборе, а хранилищу они обходятся по-разному: число относится к другой нагрузке. Сообщите об этом как о дефекте."
    ))
}

fn executed(trial: &Counting<'_>, mixed: impl Fn(&Stream) -> bool) -> Vec<Executed> {
    let streams = trial.record.asked.streams.iter().enumerate().filter(|(_, stream)| mixed(stream));
    let shares =
        streams.flat_map(|(index, stream)| stream.mix.shares().map(move |share| (index as u16, stream, share)));
    let one = |(index, stream, (op, percent)): (u16, &Stream, (Op, u8))| {
        let (done, all) = (trial.done(Some(index), &[op]), trial.done(Some(index), &Op::IO));
        let asked = f64::from(percent) / 100.0;
        let share = |part: u64, all: u64| part as f64 / all as f64;
        let ios = share(done.0, all.0);
        // With mixed sizes the bytes are random as well, and vary more than the numbers.
        let bytes = if stream.block_mix.is_empty() { share(done.1, all.1) } else { ios };
        let is_off = |is: f64, all: u64| (is - asked).abs() > allowed(asked, all);
        // An operation that takes longer has more of what is in flight when the window ends than of what ended in it. What was
        // begun is computed from that: its shares are those that were drawn.
        let in_flight = match trial.begun(index) {
            Some((begun, after)) => {
                let all = Op::IO.iter().map(|op| begun[op.index()]).fold(0, u64::saturating_add);
                if all == 0 || is_off(begun[op.index()] as f64 / all as f64, all) { 0 } else { after }
            }
            None => u64::MAX,
        };
        let most = f64::from(stream.queue_depth) * f64::from(stream.jobs);
        let edges = (in_flight as f64).min(most) / all.0 as f64;
        (all.0 > 0 && all.1 > 0).then(|| Executed {
            op,
            is: [ios, bytes],
            asked,
            allowed: allowed(asked, all.0),
            edges,
        })
    };
    shares.filter_map(one).collect()
}

/// What a share may deviate by: one point, or what chance explains of so many I/Os.
fn allowed(asked: f64, ios: u64) -> f64 {
    (MIX_SIGMA * (asked * (1.0 - asked) / ios as f64).sqrt()).max(MIX_DEVIATION)
}

fn words(found: &Executed) -> Say {
    let percent = |is: f64, l| {
        let allowed = if is < found.asked { -MIX_DEVIATION } else { MIX_DEVIATION };
        format::near_limit::percent(is, found.asked + allowed, l)
    };
    say!(
        |l| "{o}: {i} of the I/Os, {b} of the bytes, asked {a}",
        "{o}: {i} операций, {b} байт, заявлено {a}",
        o = op_name(found.op).get(l),
        i = percent(found.is[0], l),
        b = percent(found.is[1], l),
        a = format::percent(found.asked, l)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of, slice};
    use crate::trials::by_case;
    use stend_base::histogram::Sparse;
    use stend_record::observed::Drained;
    use stend_record::{External, Slice, TrialOutcome};
    use stend_spec::workload::{Mix, Sync};

    fn of(iops: f64, change: impl FnOnce(&mut TrialOutcome) + 'static) -> CheckResult {
        let run = run_of(vec![case("mix", 70, 32, Sync::None)]);
        let record = run.trial(0).iops(iops).change(|o, _| change(o)).done().record();
        mix(&by_case(&record)[0])
    }

    fn reads(share: f64) -> impl FnOnce(&mut TrialOutcome) + 'static {
        move |o| {
            let all = o.jobs[0].done[0].0 + o.jobs[0].done[1].0;
            let reads = (all as f64 * share) as u64;
            (o.jobs[0].done[0], o.jobs[0].done[1]) = ((reads, reads * 4096), (all - reads, (all - reads) * 4096));
        }
    }

    #[test]
    fn a_mix_within_chance_passes_and_another_fails() {
        // 1.3 points are chance with 20,000 I/Os, 13 points with 200.
        assert_eq!((of(10_000.0, reads(0.705)).status, of(10_000.0, reads(0.67)).status), passes_and_fails());
        assert_eq!((of(100.0, reads(0.6)).status, of(100.0, reads(0.5)).status), passes_and_fails());
    }

    fn passes_and_fails() -> (CheckStatus, CheckStatus) {
        (CheckStatus::Pass, CheckStatus::Fail)
    }

    /// A short trial with 1024 in flight over storage that answers reads at once and writes late: of 8,192 I/Os that began, 70 % of them
    /// reads, the last 1,024 were nearly all writes when the window ended. Made up.
    fn deep(drained: bool, counted: bool) -> CheckResult {
        let change = move |o: &mut TrialOutcome, slices: &mut Vec<Slice>| {
            let (reads, writes) = (5_680, 1_488);
            (o.jobs[0].done[0], o.jobs[0].done[1]) = ((reads, reads * 4096), (writes, writes * 4096));
            let window = o.window_start.saturating_sub(o.load_start).0 / crate::series::INTERVAL.0;
            slices.truncate(0);
            slices.extend([slice(window as u32, Op::Read, reads), slice(window as u32, Op::Write, writes)]);
            let late = |op, count| Drained {
                stream: 0,
                op,
                latency: Sparse { buckets: vec![(5000, count)].into(), sum_ns: 1, min_ns: 1, max_ns: 1 },
                service: None,
            };
            o.drained = if drained { vec![late(Op::Read, 54), late(Op::Write, 970)] } else { Vec::new() };
            if !counted {
                let other = External { version: "fio-3.33".into(), job_file: String::new(), start_uncertainty_ns: 0 };
                o.engine.external = Some(other);
            }
        };
        mix(&by_case(&run_of(vec![case("mix", 70, 1024, Sync::None)]).trial(0).change(change).done().record())[0])
    }

    #[test]
    fn slow_writes_still_in_flight_at_the_end_of_the_window_are_no_other_mix() {
        let found = deep(true, true);
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
        assert_eq!(found.measured.en, "read: 79.2 % of the I/Os, 79.2 % of the bytes, asked 70.0 %");
        // Nothing was in flight: so many writes were never drawn.
        assert_eq!(deep(false, true).status, CheckStatus::Fail);
        // Another engine does not tell what was in flight; it may have been so many.
        assert_eq!(deep(false, false).status, CheckStatus::Pass);
    }

    /// A closed loop with 4096 in flight over storage that answers reads in 1 ms and writes in 300 ms, both exponential: what ended in the
    /// window of the fixture, what ended before it, and what was still in flight. `drawn` of a hundred are reads, 70 are asked for.
    fn simulated(seed: u64, drawn: u64) -> CheckResult {
        use std::cmp::Reverse;
        let change = move |o: &mut TrialOutcome, slices: &mut Vec<Slice>| {
            let mut random = stend_base::random::Random::new(seed);
            let begin = |now: u64, random: &mut stend_base::random::Random| {
                let op = if random.below(100) < drawn { Op::Read } else { Op::Write };
                let mean = if op == Op::Read { 1e6 } else { 300e6 };
                Reverse((now + (-(1.0 - random.unit()).ln() * mean) as u64, op.index()))
            };
            let mut flying: std::collections::BinaryHeap<_> = (0..4096).map(|_| begin(0, &mut random)).collect();
            let (from, to) =
                (o.window_start.saturating_sub(o.load_start).0, o.window_end.saturating_sub(o.load_start).0);
            let mut ended = [[0u64; 2]; 2];
            while let Some(Reverse((at, op))) = flying.pop() {
                if at >= to {
                    flying.push(Reverse((at, op)));
                    break;
                }
                ended[usize::from(at >= from)][op] += 1;
                flying.push(begin(at, &mut random));
            }
            let left = |op: Op| flying.iter().filter(|Reverse((_, of))| *of == op.index()).count() as u64;
            slices.clear();
            o.drained.clear();
            for op in [Op::Read, Op::Write] {
                let [before, inside] = [0, 1].map(|part| ended[part][op.index()]);
                o.jobs[0].done[op.index()] = (inside, inside * 4096);
                let window = from / crate::series::INTERVAL.0;
                slices.extend([slice(0, op, before), slice(window as u32, op, inside)]);
                let latency = Sparse { buckets: vec![(5000, left(op))].into(), sum_ns: 1, min_ns: 1, max_ns: 1 };
                o.drained.push(Drained { stream: 0, op, latency, service: None });
            }
        };
        mix(&by_case(&run_of(vec![case("mix", 70, 4096, Sync::None)]).trial(0).change(change).done().record())[0])
    }

    #[test]
    fn a_deep_queue_over_slow_writes_passes_whatever_chance_drew_and_another_mix_does_not() {
        for seed in 1..=5 {
            assert_eq!(simulated(seed, 70).status, CheckStatus::Pass, "seed {seed}: {:?}", simulated(seed, 70));
        }
        assert_eq!(simulated(1, 60).status, CheckStatus::Fail);
    }

    #[test]
    fn a_wrong_mix_is_not_hidden_by_a_deep_queue() {
        let found = |share| {
            let record = run_of(vec![case("mix", 70, 128, Sync::None)])
                .trial(0)
                .change(move |o, _| reads(share)(o))
                .done()
                .record();
            mix(&by_case(&record)[0]).status
        };
        // 128 of 20,000 in flight are 0.6 points.
        assert_eq!((found(0.69), found(0.65)), passes_and_fails());
    }

    #[test]
    fn bytes_that_are_mixed_otherwise_than_their_numbers_fail() {
        let found = of(10_000.0, |o| o.jobs[0].done[1].1 *= 2);
        assert_eq!(found.status, CheckStatus::Fail);
        assert_eq!(found.measured.en, "write: 30.0 % of the I/Os, 46.2 % of the bytes, asked 30.0 %");
    }

    #[test]
    fn discards_that_were_asked_for_and_not_made_fail() {
        let mut asked = case("mix", 100, 32, Sync::None);
        asked.streams[0].mix = Mix { read: 90, write: 0, discard: 10, write_zeroes: 0 };
        let with = |discards: bool| {
            let change = move |o: &mut TrialOutcome, _: &mut Vec<_>| {
                if !discards {
                    o.jobs[0].done[Op::Discard.index()] = (0, 0);
                }
            };
            mix(&by_case(&run_of(vec![asked.clone()]).trial(0).change(change).done().record())[0])
        };
        assert_eq!(with(true).status, CheckStatus::Pass);
        let found = with(false);
        assert_eq!(found.status, CheckStatus::Fail);
        assert!(found.measured.ru.contains("заявлено"), "{found:?}");
    }

    #[test]
    fn one_operation_has_no_mix() {
        let record = run_of(vec![case("read", 100, 32, Sync::None)]).trial(0).done().record();
        assert_eq!(mix(&by_case(&record)[0]).status, CheckStatus::NotApplicable);
    }
}
