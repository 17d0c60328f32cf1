//! H04: is what was executed what was asked for? What the engine set up and did, against the suite.

use super::Check;
use crate::findings::{CheckResult, CheckStatus};
use crate::limits::{MIX_DEVIATION, MIX_SIGMA};
use crate::phrase::{both, op as op_name, pick};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Say, format, say};
use stend_spec::keys::BACKENDS;
use stend_spec::workload::{Backend, Op, Stream, Sync};

/// H04: backend, direct I/O, jobs, depth, block size, region and mix are those that were asked for.
pub fn executed(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: "H04",
        name: say!("executed as declared", "выполнено как заявлено"),
        limit: say!("no difference", "без отличий"),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    if case.counting.iter().any(|trial| trial.outcome.engine.jobs.is_empty()) {
        return check.not_measurable(say!(
            "the engine did not record what it had set up",
            "генератор нагрузки не записал, что именно он подготовил"
        ));
    }
    let found = case.counting.iter().map(differences).find(|differences| !differences.is_empty());
    let Some(found) = found else {
        let (streams, jobs) = (case.asked.streams.len(), case.counting[0].outcome.engine.jobs.len());
        return check
            .pass(say!("the same; {streams} streams, {jobs} jobs", "совпадает; потоков: {streams}, заданий: {jobs}"));
    };
    check.result(
        CheckStatus::Fail,
        both(|l| found.iter().map(|say| say.get(l)).collect::<Vec<_>>().join("; ")),
        say!(
            "The load was not the one that the suite describes; the number belongs to another experiment. Report this as a defect.",
            "Нагрузка была не той, что описана в наборе: число относится к другому опыту. Сообщите об этом как о дефекте."
        ),
    )
}

fn differences(trial: &Counting<'_>) -> Vec<Say> {
    let (asked, engine) = (&trial.record.asked, &trial.outcome.engine);
    let mut found = Vec::new();
    let named = BACKENDS.iter().find(|(_, _, backend)| *backend == asked.backend).map(|(name, _, _)| *name);
    if let Some(name) = named.filter(|&name| asked.backend != Backend::Auto && name != engine.backend) {
        let is = &engine.backend;
        found.push(say!("backend {is}, asked {name}", "способ {is}, заявлен {name}"));
    }
    if asked.direct != engine.direct {
        found.push(match asked.direct {
            true => say!("through the page cache, asked direct", "через страничный кэш, заявлен прямой ввод-вывод"),
            false => say!("direct, asked through the page cache", "прямой ввод-вывод, заявлен страничный кэш"),
        });
    }
    for (index, stream) in asked.streams.iter().enumerate() {
        found.extend(shape(trial, index as u16, stream));
        // A trace does not mix by chance: any part of it may be of one kind.
        if stream.replay.is_none() {
            found.extend(stream.mix.shares().filter_map(|share| mix(trial, index as u16, share)));
        }
    }
    let (first, last) = (asked.region.start.0, asked.region.start.0.saturating_add(asked.region.len.0));
    let inside = |start: u64, len: u64| start >= first && start.saturating_add(len) <= last;
    if !engine.jobs.iter().all(|job| inside(job.area.start.0, job.area.len.0)) {
        found.push(say!("a job outside of the region", "задание за пределами области"));
    }
    found
}

/// Jobs, depth and block size of a stream.
fn shape(trial: &Counting<'_>, index: u16, stream: &Stream) -> Vec<Say> {
    let jobs = || trial.outcome.engine.jobs.iter().filter(|job| job.stream == index);
    let mut found = Vec::new();
    let (is, asked) = (jobs().count(), stream.jobs);
    if is != asked as usize {
        found.push(say!("{is} jobs, asked {asked}", "заданий {is}, заявлено {asked}"));
    }
    if let Some(job) = jobs().find(|job| job.in_flight != stream.queue_depth) {
        let (is, asked) = (job.in_flight, stream.queue_depth);
        found.push(say!("queue depth {is}, asked {asked}", "глубина очереди {is}, заявлена {asked}"));
    }
    if jobs().any(|job| job.dsync != (stream.sync == Sync::ODsync)) {
        found.push(match stream.sync {
            Sync::ODsync => say!("open without O_DSYNC, asked with", "открыто без O_DSYNC, заявлено с ним"),
            _ => say!("open with O_DSYNC, asked without", "открыто с O_DSYNC, заявлено без него"),
        });
    }
    if stream.place.memory.is_some() && jobs().any(|job| job.memory_node != stream.place.memory) {
        found.push(say!("buffers not on the NUMA node asked for", "буферы не на заявленном узле NUMA"));
    }
    if stream.region.is_some_and(|region| jobs().any(|job| !region.holds(job.area))) {
        found.push(say!("a job outside of its stream's region", "задание за пределами области своего потока"));
    }
    if let Some(job) = jobs().find(|job| job.block_size != stream.block_size) {
        found.push(both(|l| {
            pick(l, "block size {i}, asked {a}", "блок {i}, заявлен {a}")
                .replace("{i}", &format::bytes(job.block_size, l))
                .replace("{a}", &format::bytes(stream.block_size, l))
        }));
    }
    found
}

/// The share of an operation, where it deviates by more than chance explains.
fn mix(trial: &Counting<'_>, index: u16, (op, percent): (Op, u8)) -> Option<Say> {
    let (done, _) = trial.done(Some(index), &[op]);
    let (all, _) = trial.done(Some(index), &Op::IO);
    if all == 0 {
        return None;
    }
    let (is, asked) = (done as f64 / all as f64, f64::from(percent) / 100.0);
    let chance = MIX_SIGMA * (asked * (1.0 - asked) / all as f64).sqrt();
    ((is - asked).abs() > chance.max(MIX_DEVIATION)).then(|| {
        both(|l| {
            pick(l, "{o}: {i}, asked {a}", "{o}: {i}, заявлено {a}")
                .replace("{o}", op_name(op).get(l))
                .replace("{i}", &format::percent(is, l))
                .replace("{a}", &format::percent(asked, l))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run, run_of};
    use crate::trials::by_case;
    use stend_base::Bytes;
    use stend_record::TrialOutcome;
    use stend_spec::workload::Mix;

    fn check(change: fn(&mut TrialOutcome)) -> CheckResult {
        let record = run().trial(0).done().trial(0).change(move |o, _| change(o)).done().record();
        executed(&by_case(&record)[0])
    }

    #[test]
    fn what_was_asked_passes_whatever_auto_chose() {
        assert_eq!(check(|_| {}).status, CheckStatus::Pass);
        assert_eq!(check(|o| o.engine.backend = "psync".into()).status, CheckStatus::Pass);
    }

    #[test]
    fn each_difference_fails_and_is_named() {
        let found = check(|o| {
            o.engine.direct = false;
            o.engine.jobs[0].in_flight = 4;
            o.engine.jobs[0].block_size = Bytes::kib(8);
            o.engine.jobs[0].area.start.0 += 1 << 50;
        });
        assert_eq!(found.status, CheckStatus::Fail);
        assert_eq!(
            found.measured.en,
            "through the page cache, asked direct; queue depth 4, asked 32; block size 8 KiB, asked 4 KiB; \
             a job outside of the region"
        );
        assert_eq!(check(|o| o.engine.jobs[0].dsync = true).measured.en, "open with O_DSYNC, asked without");
        let found = check(|o| o.engine.jobs.push(o.engine.jobs[0]));
        assert_eq!((found.status, found.measured.ru.as_str()), (CheckStatus::Fail, "заданий 2, заявлено 1"));
    }

    #[test]
    fn another_backend_than_the_named_one_fails() {
        let mut record = run().trial(0).done().record();
        record.trials[0].asked.backend = Backend::Psync;
        assert_eq!(executed(&by_case(&record)[0]).measured.en, "backend io_uring, asked psync");
    }

    #[test]
    fn a_mix_within_chance_passes_and_another_fails() {
        let of = |iops: f64, reads: f64| {
            let change = move |o: &mut TrialOutcome, _: &mut Vec<_>| {
                let all = o.jobs[0].done[0].0 + o.jobs[0].done[1].0;
                o.jobs[0].done[0].0 = (all as f64 * reads) as u64;
                o.jobs[0].done[1].0 = all - o.jobs[0].done[0].0;
            };
            let record =
                run_of(vec![case("mix", 70, 32, Sync::None)]).trial(0).iops(iops).change(change).done().record();
            executed(&by_case(&record)[0]).status
        };
        // Of 20,000 I/Os 1 point is much; of 200, 10 points are within four standard deviations (13 points).
        assert_eq!((of(10_000.0, 0.705), of(10_000.0, 0.67)), (CheckStatus::Pass, CheckStatus::Fail));
        assert_eq!((of(100.0, 0.6), of(100.0, 0.5)), (CheckStatus::Pass, CheckStatus::Fail));
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
            executed(&by_case(&run_of(vec![asked.clone()]).trial(0).change(change).done().record())[0])
        };
        assert_eq!(with(true).status, CheckStatus::Pass);
        let found = with(false).measured;
        assert!(found.en.contains("discard: 0") && found.ru.contains("освобождение: 0"), "{found:?}");
    }

    #[test]
    fn without_the_engines_facts_it_is_not_measurable() {
        assert_eq!(check(|o| o.engine.jobs.clear()).status, CheckStatus::NotMeasurable);
    }
}
