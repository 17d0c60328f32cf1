//! What several hosts that loaded at the same time did together. Counts add up and histograms are merged bucket by bucket, so that nothing
//! is lost; must not judge how far the hosts differ.

use crate::io_log::IoLogTotals;
use crate::observed::{Drained, JobTotals, OpenTotals, TrialOutcome, TrialStatus};
use crate::probes::{Probes, Silence};
use crate::verification::{ReadBack, Verification};
use std::collections::BTreeMap;
use stend_base::histogram::Sparse;

/// Most examples of blocks that were not as written.
const EXAMPLES_MAX: usize = 16;

/// The outcome of a trial on all its hosts; `None` without any.
///
/// The window begins where the last of them begins and is as long as the longest, so that a rate is never more than the sum of those of
/// the hosts; hosts that measured their whole windows differ by microseconds. Jobs are counted on from host to host. How I/O was
/// submitted is what the first host reports.
pub fn together(hosts: &[&TrialOutcome]) -> Option<TrialOutcome> {
    let (first, others) = hosts.split_first()?;
    let mut all = (*first).clone();
    for other in others {
        let length = |of: &TrialOutcome| of.window_end.saturating_sub(of.window_start);
        let longest = length(&all).max(length(other));
        all.status = worse(all.status, other.status);
        all.load_start = all.load_start.max(other.load_start);
        all.window_start = all.window_start.max(other.window_start);
        all.window_end = all.window_start + longest;
        add_jobs(&mut all.jobs, &other.jobs);
        other.drained.iter().for_each(|drained| add_drained(&mut all.drained, drained));
        all.censored.extend_from_slice(&other.censored);
        other.open.iter().for_each(|open| add_open(&mut all.open, open));
        all.errors.extend_from_slice(&other.errors);
        all.probes = both(all.probes.take(), other.probes.clone(), add_probes);
        all.verification = both(all.verification.take(), other.verification.clone(), add_verification);
        all.io_log = both(all.io_log, other.io_log, add_io_log);
    }
    Some(all)
}

fn both<T>(one: Option<T>, other: Option<T>, add: fn(&mut T, T)) -> Option<T> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            add(&mut one, other);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}

/// How a trial ended that ended so on one host and so on another.
fn worse(one: TrialStatus, other: TrialStatus) -> TrialStatus {
    let badness = |status: TrialStatus| match status {
        TrialStatus::Complete => 0,
        TrialStatus::Mismatch => 1,
        TrialStatus::Interrupted => 2,
        TrialStatus::Stalled => 3,
        TrialStatus::Failed => 4,
    };
    if badness(other) > badness(one) { other } else { one }
}

/// Adds the latencies of another histogram.
fn add(to: &mut Sparse, other: &Sparse) {
    if other.count() == 0 {
        return;
    }
    let mut merged = to.dense();
    merged.merge_sparse(other);
    *to = merged.sparse();
}

fn add_jobs(to: &mut Vec<JobTotals>, others: &[JobTotals]) {
    let mut counted: BTreeMap<u16, u32> = BTreeMap::new();
    for job in to.iter() {
        let next = counted.entry(job.stream).or_default();
        *next = (*next).max(job.job.saturating_add(1));
    }
    let behind = |job: &JobTotals| job.job.saturating_add(counted.get(&job.stream).copied().unwrap_or_default());
    to.extend(others.iter().map(|job| JobTotals { job: behind(job), ..job.clone() }));
}

fn add_drained(to: &mut Vec<Drained>, other: &Drained) {
    match to.iter_mut().find(|one| (one.stream, one.op) == (other.stream, other.op)) {
        Some(one) => {
            add(&mut one.latency, &other.latency);
            one.service = both(one.service.take(), other.service.clone(), |one, other| add(one, &other));
        }
        None => to.push(other.clone()),
    }
}

fn add_open(to: &mut Vec<OpenTotals>, other: &OpenTotals) {
    match to.iter_mut().find(|one| one.stream == other.stream) {
        Some(one) => {
            one.due = one.due.saturating_add(other.due);
            add(&mut one.late, &other.late);
            add(&mut one.own_late, &other.own_late);
            one.never_begun.iter_mut().zip(&other.never_begun).for_each(|(one, other)| add(one, other));
        }
        None => to.push(other.clone()),
    }
}

fn add_probes(to: &mut Probes, other: Probes) {
    add(&mut to.response, &other.response);
    add(&mut to.service, &other.service);
    add(&mut to.unanswered, &other.unanswered);
    to.errors.extend(other.errors);
    let silences = to.longest.into_iter().chain(other.longest);
    to.longest = silences.max_by_key(Silence::length);
    to.bytes = to.bytes.saturating_add(other.bytes);
    to.begun = to.begun.saturating_add(other.begun);
    to.lasted = to.lasted.max(other.lasted);
    to.cpu_ns = to.cpu_ns.zip(other.cpu_ns).map(|(one, other)| one.saturating_add(other));
}

fn add_verification(to: &mut Verification, other: Verification) {
    to.memory.0 = to.memory.0.saturating_add(other.memory.0);
    to.running.add(&other.running);
    match (&mut to.after, other.after) {
        (ReadBack::Made { checked, unread }, ReadBack::Made { checked: more, unread: left }) => {
            checked.add(&more);
            *unread = unread.saturating_add(left);
        }
        // One host that did not read back everything leaves the whole unknown.
        (ReadBack::Made { .. }, other) => to.after = other,
        _ => {}
    }
    to.examples.extend(other.examples);
    to.examples.truncate(EXAMPLES_MAX);
}

fn add_io_log(to: &mut IoLogTotals, other: IoLogTotals) {
    let sums = [
        (&mut to.recorded, other.recorded),
        (&mut to.dropped, other.dropped),
        (&mut to.beyond, other.beyond),
        (&mut to.failed, other.failed),
        (&mut to.placed, other.placed),
        (&mut to.places, other.places),
    ];
    sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::{Histogram, Nanos};
    use stend_spec::workload::{OPS, Op};

    fn latencies(values: &[u64]) -> Sparse {
        let mut histogram = Histogram::new();
        values.iter().for_each(|ns| histogram.record(Nanos(*ns)));
        histogram.sparse()
    }

    /// A host whose window of `length` ns begins at `start`, with these latencies of reads.
    fn host(start: u64, length: u64, values: &[u64]) -> TrialOutcome {
        let done = Op::ALL.map(|op| if op == Op::Read { (values.len() as u64, 4096) } else { (0, 0) });
        let latency = Op::ALL.map(|op| if op == Op::Read { latencies(values) } else { Sparse::default() });
        let never_begun: [Sparse; OPS] = Op::ALL.map(|_| latencies(&values[..1]));
        let open = OpenTotals { stream: 0, due: 7, late: latencies(values), own_late: latencies(values), never_begun };
        TrialOutcome {
            jobs: vec![JobTotals { done, latency, ..JobTotals::default() }],
            drained: vec![Drained { stream: 0, op: Op::Read, latency: latencies(values), service: None }],
            open: vec![open],
            ..TrialOutcome::empty(Nanos(start), (Nanos(start), Nanos(start + length)))
        }
    }

    #[test]
    fn counts_add_up_and_every_latency_is_kept() {
        let (a, b) = (host(10, 100, &[1_000, 2_000]), host(13, 90, &[5_000, 900_000, 7]));
        let all = together(&[&a, &b]).unwrap();
        assert_eq!(all.jobs.iter().map(|job| (job.stream, job.job)).collect::<Vec<_>>(), [(0, 0), (0, 1)]);
        let every = latencies(&[1_000, 2_000, 5_000, 900_000, 7]);
        assert_eq!((all.drained.len(), &all.drained[0].latency), (1, &every));
        assert_eq!((all.open.len(), all.open[0].due, &all.open[0].late), (1, 14, &every));
        assert_eq!(all.open[0].never_begun[0], latencies(&[1_000, 5_000]));
        assert_eq!((all.window_start, all.window_end), (Nanos(13), Nanos(113)), "as long as the longest");
    }

    #[test]
    fn one_host_alone_is_itself_and_none_is_nothing() {
        let a = host(10, 100, &[1]);
        assert_eq!(together(&[&a]), Some(a.clone()));
        assert_eq!(together(&[]), None);
    }

    #[test]
    fn the_worst_end_counts_for_all() {
        let of = |status| TrialOutcome { status, ..host(0, 1, &[1]) };
        let (fine, failed) = (of(TrialStatus::Complete), of(TrialStatus::Failed));
        let stopped = of(TrialStatus::Interrupted);
        for order in [[&fine, &failed, &stopped], [&stopped, &fine, &failed], [&failed, &stopped, &fine]] {
            assert_eq!(together(&order).unwrap().status, TrialStatus::Failed);
        }
    }
}
