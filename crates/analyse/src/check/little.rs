//! H02: Little's law. The I/Os in flight that latencies and rates imply, against those asked for.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{IN_FLIGHT_IMPOSSIBLE, IN_FLIGHT_REACHED, IN_FLIGHT_TURNS};
use crate::printed::{self, Occupied};
use crate::submitted;
use crate::trials::{CaseTrials, Counting};
use stend_base::{Say, format, say, say_in};
use stend_spec::workload::{Op, Stream};

/// fio's engines that make one I/O at a time by a plain call: there a sync begins when the write before it has ended.
const SYNCHRONOUS: [&str; 6] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"];

/// What a trial implies about the I/Os it had in flight, relative to those asked for.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    /// Mean number in flight: sum of latencies over length of the window, as far as they do not overlap for certain.
    mean: f64,
    /// Asked for.
    asked: f64,
    /// Least that the latencies leave possible: each lane may have begun one of them before the window.
    least: f64,
    /// Most: I/O that was in flight at the end was so for all of its latency, as far as it fits.
    most: f64,
    /// Mean number that waited to be submitted.
    held: f64,
}

/// H02: there are never more I/Os in flight than asked for, and in a closed loop hardly fewer.
pub fn in_flight(case: &CaseTrials<'_>) -> CheckResult {
    let (most, least) = (IN_FLIGHT_IMPOSSIBLE - 1.0, 1.0 - IN_FLIGHT_REACHED);
    let mut check = Check {
        id: CheckId::H02,
        limit: Say::both(|l| format!("+ {} / − {}", format::percent(most, l), format::percent(least, l))),
    };
    let trials: Vec<InFlight> = case.counting.iter().map(|trial| implied(trial, |_| true)).collect();
    if let Some(why) = case.counting.iter().find_map(unknown) {
        return check.not_measurable(why);
    }
    // An open loop takes the places that it needs, and one with rests leaves some empty.
    let paced = case.counting.iter().any(|trial| trial.outcome.tool_output.as_ref().is_some_and(|told| told.paced));
    let closed = |stream: &Stream| !stream.is_open() && stream.think.is_none() && !paced;
    let full: Vec<InFlight> = match case.asked.streams.iter().any(closed) {
        true => case.counting.iter().map(|trial| implied(trial, closed)).collect(),
        false => Vec::new(),
    };
    if full.is_empty() {
        check.limit = Say::both(|l| format!("+ {}", format::percent(most, l)));
    }
    // I/Os waiting for their turn are reported and accepted, as long as more are in flight than waiting.
    let low = |t: &InFlight| ((t.most + t.held) / t.asked).min(t.most / t.asked / IN_FLIGHT_TURNS * IN_FLIGHT_REACHED);
    let high = |t: &InFlight| t.least / t.asked;
    let Some(fullest) = trials.iter().max_by(|a, b| high(a).total_cmp(&high(b))) else { return check.no_trials() };
    let measured = |t: &InFlight| {
        let (mean, asked) = (t.mean, t.asked);
        Say::both(|l| {
            // The tolerance from the edges of the window is shown where it decides.
            let edge = match () {
                () if mean / asked < IN_FLIGHT_REACHED && !full.is_empty() && t.most > mean => {
                    say_in!(l, " (up to {n})", " (до {n})", n = format::number(t.most, l))
                }
                () if mean / asked > IN_FLIGHT_IMPOSSIBLE && t.least < mean => {
                    say_in!(l, " (at least {n})", " (не меньше {n})", n = format::number(t.least, l))
                }
                () => String::new(),
            };
            let reached = if mean < asked { IN_FLIGHT_REACHED } else { IN_FLIGHT_IMPOSSIBLE };
            let (mean, asked) =
                (format::near_limit::number(mean, reached * asked, l) + &edge, format::number(asked, l));
            let told = say_in!(l, "{mean} in flight of {asked}", "{mean} в очереди из {asked}");
            told + &submitted::beside(t.held, l)
        })
    };
    if high(fullest) > IN_FLIGHT_IMPOSSIBLE {
        return check.measured(measured(fullest)).fail(say!(
            "More I/Os in flight than were ever submitted: rates or latencies are wrong.",
            "В очереди больше операций, чем было отправлено: неверны скорости или задержки."
        ));
    }
    let Some(emptiest) = full.iter().min_by(|a, b| low(a).total_cmp(&low(b))) else {
        return check.pass(measured(fullest));
    };
    if low(emptiest) < IN_FLIGHT_REACHED {
        return check.measured(measured(emptiest)).warn(say!(
            "The queue was not kept full: the target was idle part of the time because the engine did not submit. Treat the rate as a lower bound.",
            "Очередь не была заполнена: часть времени объект простаивал, потому что генератор не успевал отправлять. Считайте скорость нижней границей."
        ));
    }
    check.pass(measured(emptiest))
}

/// For the streams that `counts` accepts. In an open loop an I/O has a place only from its begin on.
fn implied(trial: &Counting<'_>, counts: impl Fn(&Stream) -> bool) -> InFlight {
    let window = trial.window.0 as f64;
    let streams = &trial.record.asked.streams;
    let (mut sum, mut pending, mut edge, mut asked) = (0.0, 0.0, 0.0f64, 0.0);
    for (index, stream) in streams.iter().enumerate().filter(|(_, stream)| counts(stream)) {
        let index = index as u16;
        let lanes = lanes(stream);
        let mut longest = 0u64;
        let beside = are_syncs_beside(trial, stream);
        if let Some(occupied) = printed::occupied(trial, index) {
            let (least, most) = occupied.bounds(beside);
            sum += least as f64;
            pending += (most - least) as f64;
            longest = trial.outcome.jobs.iter().flat_map(|job| &job.latency).map(|l| l.max_ns).max().unwrap_or(0);
            edge += lanes * longest as f64;
            asked += lanes;
            continue;
        }
        let mut own = Occupied::default();
        for &op in occupying(stream, trial.outcome.engine.external.is_some()) {
            for job in trial.outcome.jobs.iter().filter(|job| job.stream == index) {
                let latency = &job.service.as_ref().unwrap_or(&job.latency)[op.index()];
                own.add(op, latency.sum_ns);
                longest = longest.max(latency.max_ns);
            }
            for drained in trial.outcome.drained.iter().filter(|d| d.stream == index && d.op == op) {
                let latency = drained.service.as_ref().unwrap_or(&drained.latency);
                pending += (latency.sum_ns as f64).min(latency.count() as f64 * window);
            }
        }
        let (least, most) = own.bounds(beside);
        sum += least as f64;
        pending += (most - least) as f64;
        let censored = trial.outcome.censored.iter().filter(|c| c.stream == index);
        pending += censored.map(|c| (c.in_flight.0 as f64).min(window)).sum::<f64>();
        edge += lanes * longest as f64;
        asked += lanes;
    }
    InFlight {
        mean: sum / window,
        asked: asked.max(1.0),
        least: (sum - edge).max(0.0) / window,
        most: (sum + pending) / window,
        held: submitted::waiting(trial),
    }
}

/// Operations that take a place in the queue. With a sync after each write, the write's latency
/// includes its sync: counting both would count the time twice. Other engines tell them apart, and syncs of a trace are
/// I/Os of their own.
fn occupying(stream: &Stream, external: bool) -> &'static [Op] {
    match stream.sync.every() {
        _ if stream.replay.is_some() => &Op::ALL,
        0 => &Op::IO,
        1 if !external => &Op::IO,
        _ => &Op::ALL,
    }
}

/// Whether another engine's syncs do not take the place of a write. fio starts the clock of a sync when it takes it up, and over an
/// engine that queues I/O the sync then waits for the writes before it, whose clocks run, too: the sum of both counts that time twice.
//= fio 3.33, engines/libaio.c: fio_libaio_queue returns FIO_Q_BUSY for a sync while writes are queued
fn are_syncs_beside(trial: &Counting<'_>, stream: &Stream) -> bool {
    let engine = &trial.outcome.engine;
    let other = engine.external.is_some() || trial.outcome.tool_output.is_some();
    other && stream.sync.every() > 0 && !SYNCHRONOUS.contains(&engine.backend.as_str())
}

/// I/Os that a stream may have in flight.
fn lanes(stream: &Stream) -> f64 {
    f64::from(stream.queue_depth) * f64::from(stream.jobs)
}

/// What another tool did not tell of an imported trial, without which nothing can be said.
fn unknown(trial: &Counting<'_>) -> Option<Say> {
    let told = trial.outcome.tool_output.as_ref()?;
    if !told.depth_known {
        return Some(say!("the queue depth is not given", "глубина очереди не указана"));
    }
    let streams = 0..trial.record.asked.streams.len() as u16;
    let missing = streams.map(|stream| printed::occupied(trial, stream)).any(|occupied| occupied.is_none());
    missing.then(|| say!("latencies count only from after the submission", "задержки отсчитаны лишь после отправки"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, open_case, run, run_of, traced_case};
    use crate::trials::by_case;
    use stend_base::histogram::Sparse;
    use stend_record::observed::{Drained, Submissions};
    use stend_record::{External, Slice, TrialOutcome};
    use stend_spec::trace::Pace;
    use stend_spec::workload::Sync;

    fn check(change: impl FnOnce(&mut TrialOutcome, &mut Vec<Slice>) + 'static) -> CheckResult {
        let record = run().trial(0).done().trial(0).change(change).done().record();
        in_flight(&by_case(&record)[0])
    }

    #[test]
    fn an_open_loop_may_be_idle_but_never_has_more_than_its_places() {
        let of = |factor: u128| {
            let change = move |o: &mut TrialOutcome, _: &mut Vec<Slice>| {
                o.jobs[0].service.as_mut().unwrap()[0].sum_ns *= factor;
            };
            let record = run_of(vec![open_case("open", 10_000)]).trial(0).change(change).done().record();
            in_flight(&by_case(&record)[0]).status
        };
        assert_eq!((of(1), of(8)), (CheckStatus::Pass, CheckStatus::Fail), "16 of 32 in flight, and 128 of 32");
    }

    fn scale(factor: f64) -> CheckResult {
        check(move |o, _| {
            let latency = &mut o.jobs[0].latency[0];
            latency.sum_ns = (latency.sum_ns as f64 * factor) as u128;
        })
    }

    #[test]
    fn a_full_queue_passes() {
        let found = scale(1.0);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "32.0 in flight of 32.0"));
    }

    #[test]
    fn more_in_flight_than_submitted_is_impossible() {
        assert_eq!(scale(1.2).status, CheckStatus::Fail);
    }

    #[test]
    fn a_queue_that_was_not_filled_is_a_warning() {
        assert_eq!(scale(0.7).status, CheckStatus::Warn);
    }

    #[test]
    fn what_waited_for_its_turn_is_told_and_will_do_unless_it_is_more_than_what_was_in_flight() {
        let of = |flying: f64, waiting: u64| {
            check(move |o, _| {
                let latency = &mut o.jobs[0].latency[0];
                latency.sum_ns = (latency.sum_ns as f64 * flying) as u128;
                let waited_ns = waiting * (o.window_end - o.load_start).0;
                o.jobs[0].submissions = Some(Submissions { calls: 1, ios: 1, together: 0, waited_ns, late_ns: 0 });
            })
        };
        let found = of(0.75, 7);
        let told = (found.status, found.measured.en.as_str());
        assert_eq!(told, (CheckStatus::Pass, "24.0 in flight of 32.0, 7.00 waited to be submitted"));
        assert_eq!(of(0.75, 1).status, CheckStatus::Warn, "four are missing besides");
        assert_eq!((of(0.45, 17).status, of(0.55, 14).status), (CheckStatus::Warn, CheckStatus::Pass));
    }

    #[test]
    fn a_stall_that_began_before_the_window_is_not_impossible() {
        let found = check(|o, _| {
            let latency = &mut o.jobs[0].latency[0];
            // 32 I/Os that hung for a second before the window and another one inside.
            latency.sum_ns += 32 * 2_000_000_000;
            latency.max_ns = 2_000_000_000;
        });
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
    }

    #[test]
    fn io_that_hangs_at_the_end_was_in_flight_all_the_time() {
        let found = check(|o, _| {
            o.jobs[0].latency[0].sum_ns /= 2;
            let hung = Sparse { buckets: vec![(5000, 32)].into(), sum_ns: 32 * 1_000_000_000, min_ns: 0, max_ns: 1 };
            o.drained.push(Drained { stream: 0, op: Op::Read, latency: hung, service: None });
        });
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
    }

    #[test]
    fn the_time_of_a_sync_after_each_write_is_counted_once() {
        let durable = run_of(vec![case("durable", 0, 1, Sync::Fdatasync(1))]);
        let record = durable.trial(0).iops(1_000.0).done().record();
        let found = in_flight(&by_case(&record)[0]);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "1.00 in flight of 1.00"));
    }

    #[test]
    fn a_sync_of_a_trace_takes_a_place_of_its_own() {
        let mut asap = traced_case("db", "t.iolog");
        asap.streams[0].trace.as_mut().unwrap().pace = vec![Pace::Asap];
        let syncs = |o: &mut TrialOutcome, _: &mut Vec<Slice>| {
            let latency = &mut o.jobs[0].latency;
            latency[Op::Read.index()].sum_ns /= 2;
            latency[Op::Sync.index()] = latency[Op::Read.index()].clone();
        };
        let record = run_of(vec![asap]).trial(0).iops(1_000.0).change(syncs).done().record();
        let found = in_flight(&by_case(&record)[0]);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "64.0 in flight of 64.0"));
    }

    #[test]
    fn another_engine_tells_a_write_and_its_sync_apart_and_both_take_the_place() {
        let checked = |external: bool| {
            let split = move |o: &mut TrialOutcome, _: &mut Vec<Slice>| {
                let latency = &mut o.jobs[0].latency;
                let half = latency[Op::Write.index()].sum_ns / 2;
                (latency[Op::Write.index()].sum_ns, latency[Op::Sync.index()].sum_ns) = (half, half);
                let other = External { version: "fio-3.33".into(), job_file: String::new(), start_uncertainty_ns: 0 };
                o.engine.external = external.then_some(other);
                o.engine.backend = "psync".into();
            };
            let durable = run_of(vec![case("durable", 0, 1, Sync::Fdatasync(1))]);
            let record = durable.trial(0).iops(1_000.0).change(split).done().record();
            in_flight(&by_case(&record)[0])
        };
        let (apart, together) = (checked(true), checked(false));
        assert_eq!((apart.status, apart.measured.en.as_str()), (CheckStatus::Pass, "1.00 in flight of 1.00"));
        assert_eq!(together.status, CheckStatus::Warn, "{together:?}");
    }

    /// A trial of fio over libaio at depth 1 with a sync after each write, with so much of a second of each kind, in ms.
    fn libaio(writes_ms: u64, syncs_ms: u64) -> CheckResult {
        let told = move |o: &mut TrialOutcome, _: &mut Vec<Slice>| {
            // The window has 2 s.
            let latency = &mut o.jobs[0].latency;
            latency[Op::Write.index()].sum_ns = u128::from(2 * writes_ms) * 1_000_000;
            latency[Op::Sync.index()].sum_ns = u128::from(2 * syncs_ms) * 1_000_000;
            for op in [Op::Write, Op::Sync] {
                latency[op.index()].max_ns = 3_000_000;
            }
            o.engine.backend = "libaio".into();
            o.engine.external =
                Some(External { version: "fio-3.33".into(), job_file: String::new(), start_uncertainty_ns: 0 });
        };
        let durable = run_of(vec![case("durable", 0, 1, Sync::Fsync(1))]);
        in_flight(&by_case(&durable.trial(0).iops(1_000.0).change(told).done().record())[0])
    }

    #[test]
    fn a_sync_of_fio_that_waits_for_its_write_is_not_in_flight_twice() {
        // fio 3.33, randwrite 4k, libaio, iodepth=1, fsync=1 on ext4: 2,719 writes of 143 µs and as many syncs of 685 µs in 2 s.
        let found = libaio(195, 931);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "0.931 in flight of 1.00"));
        // 10,850 writes a second with `fdatasync=4`: 1.12 together.
        assert_eq!(libaio(560, 560).status, CheckStatus::Pass);
    }

    #[test]
    fn impossible_times_of_writes_or_of_syncs_and_an_idle_thread_are_found_beside_syncs_as_well() {
        assert_eq!(libaio(1_200, 300).status, CheckStatus::Fail);
        assert_eq!(libaio(300, 1_200).status, CheckStatus::Fail);
        assert_eq!(libaio(300, 400).status, CheckStatus::Warn);
    }
}
