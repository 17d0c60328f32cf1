//! H03: are the shares of operations those that were asked for, in number and in bytes?

use super::Check;
use crate::findings::{CheckResult, CheckStatus};
use crate::limits::{MIX_DEVIATION, MIX_SIGMA};
use crate::phrase::{both, op as op_name, pick};
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
}

impl Executed {
    fn deviation(&self) -> f64 {
        self.is.iter().map(|is| (is - self.asked).abs()).fold(0.0, f64::max)
    }

    fn holds(&self) -> bool {
        self.deviation() <= self.allowed
    }
}

/// H03: the mix of operations is the one that was asked for, as far as chance lets it.
pub fn mix(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: "H03",
        name: say!("mix as declared", "смесь как заявлено"),
        limit: both(|l| {
            pick(l, "± {d}, or chance", "± {d} или случай").replace("{d}", &format::percent(MIX_DEVIATION, l))
        }),
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
    let excess = |found: &&Executed| found.deviation() / found.allowed;
    let Some(worst) = found.iter().max_by(|a, b| excess(a).total_cmp(&excess(b))) else {
        return check.not_measurable(say!("no I/O was completed", "не завершено ни одной операции"));
    };
    if worst.holds() {
        return check.pass(words(worst));
    }
    check.result(
        CheckStatus::Fail,
        words(worst),
        say!(
            "Reads and writes were not mixed as the suite says, and they cost the storage differently: the number belongs to another load. Report this as a defect.",
            "Чтения и записи смешаны не так, как сказано в наборе, а хранилищу они обходятся по-разному: число относится к другой нагрузке. Сообщите об этом как о дефекте."
        ),
    )
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
        // Of mixed sizes the bytes are drawn as well, and vary more than the numbers do.
        let bytes = if stream.block_mix.is_empty() { share(done.1, all.1) } else { ios };
        let chance = MIX_SIGMA * (asked * (1.0 - asked) / all.0 as f64).sqrt();
        (all.0 > 0 && all.1 > 0).then(|| Executed { op, is: [ios, bytes], asked, allowed: chance.max(MIX_DEVIATION) })
    };
    shares.filter_map(one).collect()
}

fn words(found: &Executed) -> Say {
    both(|l| {
        pick(l, "{o}: {i} of the I/Os, {b} of the bytes, asked {a}", "{o}: {i} операций, {b} байт, заявлено {a}")
            .replace("{o}", op_name(found.op).get(l))
            .replace("{i}", &format::percent(found.is[0], l))
            .replace("{b}", &format::percent(found.is[1], l))
            .replace("{a}", &format::percent(found.asked, l))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_record::TrialOutcome;
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
        // Of 20,000 I/Os 1.3 points are chance; of 200, 13 points are.
        assert_eq!((of(10_000.0, reads(0.705)).status, of(10_000.0, reads(0.67)).status), passes_and_fails());
        assert_eq!((of(100.0, reads(0.6)).status, of(100.0, reads(0.5)).status), passes_and_fails());
    }

    fn passes_and_fails() -> (CheckStatus, CheckStatus) {
        (CheckStatus::Pass, CheckStatus::Fail)
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
