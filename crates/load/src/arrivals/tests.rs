//! What the times of arrivals must be, by arithmetic.

use super::*;
use crate::layout::tests::{stream, trial};
use stend_base::{Bytes, MilliIops};
use stend_spec::rate::{Rate, Shape, Step};
use stend_spec::workload::Stream;

fn per_second(n: u64) -> MilliIops {
    MilliIops::per_second(n)
}

fn arrivals(rate: Rate, jobs: u32) -> Vec<Arrivals> {
    let spec = Stream { rate: Some(rate), jobs, ..stream() };
    let jobs = crate::layout::jobs(&trial(Bytes::mib(1), vec![spec]), u64::MAX).unwrap();
    jobs.iter().map(|job| Arrivals::new(job).unwrap()).collect()
}

/// The first `n` times of one job.
fn times(arrivals: &Arrivals, n: usize) -> Vec<u64> {
    let counts = std::iter::successors(Some(arrivals.first()), |&count| Some(arrivals.after(count)));
    counts.take(n).map_while(|count| arrivals.due(count)).collect()
}

fn schedule(steps: &[(u64, u64, Shape)]) -> Rate {
    let step = |&(at, rate, shape): &(u64, u64, Shape)| Step { at: Nanos::secs(at), rate: per_second(rate), shape };
    Rate { gaps: Gaps::Even, steps: steps.iter().map(step).collect() }
}

/// Arrivals in each of the first `n` seconds.
fn by_second(rate: Rate, n: u64) -> Vec<u64> {
    let (arrivals, mut count) = (&arrivals(rate, 1)[0], 0);
    let second = |second: u64| {
        let (found, next) = arrivals.before(count, (second + 1) * 1_000_000_000);
        count = next;
        found
    };
    (0..n).map(second).collect()
}

#[test]
fn a_constant_rate_is_exact_to_the_nanosecond_after_any_time() {
    for rate in [1, 3, 7_000, 333_333, 999_999, 10_000_000] {
        let arrivals = &arrivals(Rate::constant(per_second(rate), Gaps::Even), 1)[0];
        // Every second begins with an arrival, a week later too.
        for second in [0, 1, 86_400, 604_800] {
            assert_eq!(arrivals.due((second * rate) << FRACTION), Some(second * 1_000_000_000), "{rate}");
        }
        assert_eq!(arrivals.due(ONE), Some(1_000_000_000 / rate));
    }
}

#[test]
fn jobs_share_a_rate_without_loss_or_overlap() {
    let one = times(&arrivals(Rate::constant(per_second(7_777), Gaps::Even), 1)[0], 3_000);
    let several = arrivals(Rate::constant(per_second(7_777), Gaps::Even), 3);
    let mut all: Vec<u64> = several.iter().flat_map(|a| times(a, 1_000)).collect();
    all.sort_unstable();
    assert_eq!(one, all);
}

#[test]
fn jobs_of_a_poisson_stream_differ_and_make_its_rate() {
    let jobs = arrivals(Rate::constant(per_second(10_000), Gaps::Poisson), 4);
    let counts: Vec<u64> = jobs.iter().map(|a| a.before(a.first(), 10_000_000_000).0).collect();
    let sum: u64 = counts.iter().sum();
    // 100,000 expected; the standard deviation is 316.
    assert!(sum.abs_diff(100_000) < 1_300, "{counts:?}");
    assert!(counts.iter().all(|&n| n.abs_diff(25_000) < 650) && counts[0] != counts[1], "{counts:?}");
}

#[test]
fn gaps_of_a_poisson_process_are_exponential() {
    let rate = 1_000_000;
    let times = times(&arrivals(Rate::constant(per_second(rate), Gaps::Poisson), 1)[0], 100_001);
    let mut gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 * rate as f64 / 1e9).collect();
    gaps.sort_by(f64::total_cmp);
    let n = gaps.len() as f64;
    // Whole nanoseconds round the theory by half a thousandth of the mean gap.
    let distance = |(i, gap): (usize, &f64)| {
        let theory = 1.0 - (-(gap + 0.0005)).exp();
        (theory - i as f64 / n).abs().max((theory - (i + 1) as f64 / n).abs())
    };
    let largest = gaps.iter().enumerate().map(distance).fold(0.0, f64::max);
    // Kolmogorov and Smirnov, 1 %: 1.63 / √n.
    assert!(largest < 1.63 / n.sqrt(), "{largest}");
}

#[test]
fn the_same_seed_gives_the_same_times_and_the_order_of_asking_does_not_matter() {
    let a = &arrivals(Rate::constant(per_second(5), Gaps::Poisson), 1)[0];
    let b = &arrivals(Rate::constant(per_second(5), Gaps::Poisson), 1)[0];
    assert_eq!(times(a, 100), times(b, 100));
    assert!(times(a, 100).windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn steps_pauses_and_ramps_have_the_arrivals_of_their_area() {
    let jump = schedule(&[(0, 100, Shape::Jump), (2, 0, Shape::Jump), (4, 300, Shape::Jump)]);
    assert_eq!(by_second(jump, 6), [100, 100, 0, 0, 300, 300]);
    let ramp = schedule(&[(0, 0, Shape::Jump), (4, 4_000, Shape::Ramp), (5, 1_000, Shape::Jump)]);
    let found = by_second(ramp, 7);
    let expected = [500, 1_500, 2_500, 3_500, 4_000, 1_000, 1_000];
    assert!(found.iter().zip(expected).all(|(f, e)| f.abs_diff(e) <= 2), "{found:?}");
    assert_eq!(found.iter().sum::<u64>(), 14_000, "borders neither lose nor double an arrival");
}

#[test]
fn bursts_and_swings_repeat_exactly() {
    let burst = Shape::Burst { rate: per_second(900), every: Nanos::secs(3), lasting: Nanos::secs(1) };
    assert_eq!(by_second(schedule(&[(0, 100, burst)]), 7), [900, 100, 100, 900, 100, 100, 900]);
    let sine = Shape::Sine { amplitude: per_second(1_000), period: Nanos::secs(4) };
    let found = by_second(schedule(&[(0, 1_000, sine)]), 400);
    // The mean of the rising half of a sine is 2/π of its amplitude.
    assert!((1_636..=1_638).contains(&(found[0])) && (362..=364).contains(&found[2]), "{:?}", &found[..4]);
    let periods: Vec<u64> = found.chunks(4).map(|p| p.iter().sum()).collect();
    assert!(periods.iter().all(|&sum| sum.abs_diff(4_000) <= 1), "{periods:?}");
    assert!(found.iter().sum::<u64>().abs_diff(400_000) <= 1);
}

#[test]
fn a_schedule_that_ends_in_a_pause_has_an_end() {
    let arrivals = &arrivals(schedule(&[(0, 10, Shape::Jump), (1, 0, Shape::Jump)]), 1)[0];
    assert_eq!(times(arrivals, 100).len(), 10);
    assert_eq!(arrivals.before(0, u64::MAX >> 1).0, 10);
}

#[test]
fn what_was_left_is_counted_whole_however_much_it_is() {
    let few = &arrivals(Rate::constant(per_second(1_000), Gaps::Even), 2)[1];
    let left: Vec<_> = few.left(few.first(), 1_000_000_000).collect();
    assert_eq!((left.len(), left[0], left[499]), (500, (0, 1_000_000, 1), (499, 999_000_000, 1)));
    for gaps in [Gaps::Even, Gaps::Poisson] {
        let many = &arrivals(Rate::constant(per_second(10_000_000), gaps), 1)[0];
        let sum: u64 = many.left(many.first(), 60_000_000_000).map(|(.., stands_for)| stands_for).sum();
        assert!(sum.abs_diff(600_000_000) < 1_000, "{sum}");
    }
}

#[test]
fn what_is_due_before_a_moment_is_what_is_due_before_it_one_by_one() {
    let sine = Shape::Sine { amplitude: per_second(900), period: Nanos::secs(2) };
    for gaps in [Gaps::Even, Gaps::Poisson] {
        let steps = schedule(&[(0, 333, Shape::Jump), (2, 7, Shape::Ramp), (3, 1_000, sine), (9, 0, Shape::Jump)]);
        for arrivals in arrivals(Rate { gaps, ..steps }, 3) {
            let mut count = arrivals.first();
            for end in (0..120).map(|i| i * 99_999_999) {
                let (found, next) = arrivals.before(count, end);
                let all = std::iter::successors(Some(count), |&count| Some(arrivals.after(count)));
                let one_by_one = all.take_while(|&count| arrivals.due(count).is_some_and(|due| due < end)).count();
                assert_eq!(found as usize, one_by_one, "before {end}");
                count = next;
            }
        }
    }
}

#[test]
fn a_gap_that_rounds_to_nothing_does_not_hold_time_up() {
    let arrivals = &arrivals(Rate::constant(per_second(10_000_000), Gaps::Poisson), 1)[0];
    let (found, next) = arrivals.before(arrivals.first(), 1_000_000_000);
    assert!(found.abs_diff(10_000_000) < 15_000 && arrivals.due(next) >= Some(1_000_000_000), "{found}");
}

#[test]
fn threads_that_share_a_job_take_every_arrival_once() {
    let arrivals = &arrivals(Rate::constant(per_second(1_000), Gaps::Poisson), 1)[0];
    let progress = Progress::new(Some(arrivals));
    let wanted = |due: u64| due < 2_000_000_000;
    let mut taken: Vec<Nanos> = std::thread::scope(|scope| {
        let take = || std::iter::from_fn(|| progress.take(arrivals, wanted)).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).map(|(due, _)| due).collect()
    });
    taken.sort_unstable();
    let expected: Vec<Nanos> = times(arrivals, taken.len()).into_iter().map(Nanos).collect();
    assert_eq!(taken, expected);
    assert_eq!(progress.take(arrivals, wanted), None);
}

/// How long each I/O of these times waits for a target that serves one after the other, each in `service`, and begins none
/// from 4 s on for `stall`.
fn waits(due: &[u64], stall: u64, service: u64) -> Vec<u64> {
    let (begin, mut free) = (4_000_000_000, 0);
    let one = |&due: &u64| {
        let start = free.max(due);
        let start = if (begin..begin + stall).contains(&start) { begin + stall } else { start };
        free = start + service;
        free - due
    };
    due.iter().map(one).collect()
}

/// Nearest rank of the waits themselves, and what the histogram that they are kept in tells.
fn p99(mut waits: Vec<u64>) -> (f64, f64) {
    let mut kept = stend_base::Histogram::new();
    waits.iter().for_each(|&wait| kept.record(Nanos(wait)));
    waits.sort_unstable();
    let rank = (0.99 * waits.len() as f64).ceil() as usize;
    (waits[rank - 1] as f64, kept.quantile(stend_base::Share(0.99)).unwrap().0 as f64)
}

/// docs/bench/truth.md, "What adds to a stall": two terms, of which draining is real and a bucket is at most 1/128.
#[test]
fn p99_of_a_stall_in_ten_seconds_is_within_a_hundredth_of_arithmetic_that_counts_the_draining() {
    let due = times(&arrivals(Rate::constant(per_second(1000), Gaps::Even), 1)[0], 10_000);
    let (mut most, mut most_without) = (0f64, 0f64);
    // Stalls from 1 s to 1.075 s lie everywhere in many buckets (of 4 and 8 ms).
    for (stall, service) in
        (0..300u64).flat_map(|n| [1, 20, 50, 100, 300].map(|us| (1e9 + n as f64 * 250e3, us as f64 * 1e3)))
    {
        let (exact, told) = p99(waits(&due, stall as u64, service as u64));
        assert!((exact..=exact * (1.0 + 1.0 / 128.0)).contains(&told), "a bucket: {exact} {told}");
        // A hundred arrivals of the second waited longer, and each of those before it took the target a service.
        let without = stall - 0.01 * 10e9;
        let truth = without + 100.0 * service;
        // The gap between two arrivals is 0.1 % of it.
        assert!((exact / truth - 1.0).abs() < 0.0013, "{stall} {service}: {exact} {truth}");
        (most, most_without) = (most.max((told / truth - 1.0).abs()), most_without.max(told / without - 1.0));
    }
    assert!(most < 0.01 && most_without > 0.03, "{most} {most_without}");
}

#[test]
fn p99_of_a_stall_is_within_a_bucket_of_the_waits_themselves_whatever_arrivals_are_drawn() {
    let mut apart = Vec::new();
    for seed in 0..50 {
        let spec = Stream { rate: Some(Rate::constant(per_second(1000), Gaps::Poisson)), ..stream() };
        let jobs =
            crate::layout::jobs(&stend_spec::workload::Trial { seed, ..trial(Bytes::mib(1), vec![spec]) }, u64::MAX);
        let mut due = times(&Arrivals::new(&jobs.unwrap()[0]).unwrap(), 11_000);
        due.retain(|&at| at < 10_000_000_000);
        let (exact, told) = p99(waits(&due, 1_000_000_000, 20_000));
        assert!((exact..=exact * (1.0 + 1.0 / 128.0)).contains(&told), "seed {seed}: {exact} {told}");
        apart.push((exact / 902e6 - 1.0).abs());
    }
    // The waits themselves differ from the mean by the draw: 100 arrivals that come at random take 100 ms ± 10.
    let far = apart.iter().filter(|apart| **apart > 0.011).count();
    assert!((5..30).contains(&far), "{far} of 50 draws are more than one standard deviation away");
}
