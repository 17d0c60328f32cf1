//! Failed and short I/Os in what fio said. Pure.
//!
//! fio names kind and offset of an I/O that the kernel refused on its standard error. What ended a job otherwise it says in
//! one line on its standard output, with the name of its own function and without a place.

use super::document::Report;
use super::ran::{Ran, kinds};
use crate::layout::Job;
use stend_record::fio_bins as bins;
use stend_record::observed::IoErrors;
use stend_spec::workload::Op;

/// The functions in whose name fio ends a job because of an I/O: its queue refused it, nothing was transferred, or it
/// came back with an error (fio 3.33: ioengines.c, backend.c, io_u.c).
const OF_IO: [&str; 4] = ["td_io_queue", "full resid", "xfer", "io_u error"];

/// Failed I/Os by job; none if no job failed, or not by an I/O.
pub(super) fn failed(ran: &Ran, reports: &[&Report]) -> Vec<IoErrors> {
    let words = &ran.ended.words;
    let of = |(job, report): (&Job, &&Report)| {
        let errno = (report.error != 0).then_some(report.error)?;
        let area = job.region();
        let inside = |at: u64| area.start.0 <= at && at - area.start.0 < area.len.0;
        let placed = words.lines().filter_map(refused).find(|(_, at)| inside(*at));
        let (op, first_offset) = match placed {
            Some((op, at)) => (op, Some(at)),
            None => (likeliest(job, words.lines().filter_map(gave_up).find(|(of, _)| *of == errno)?.1), None),
        };
        Some(IoErrors { stream: job.stream, op, errno, count: 1, first_offset })
    };
    ran.jobs.iter().zip(reports).filter_map(of).collect()
}

/// I/Os that moved less than was asked for, by job: fio counts them as done. The error says what contradicts itself.
pub(super) fn short(ran: &Ran, reports: &[&Report]) -> Result<Vec<IoErrors>, String> {
    let mut found = Vec::new();
    for (job, report) in ran.jobs.iter().zip(reports).filter(|(job, _)| job.spec.block_mix.is_empty()) {
        let size = job.spec.block_size.0;
        for (op, side) in
            kinds(job).filter(|op| Op::TRANSFERS.contains(op)).filter_map(|op| Some((op, report.side(op)?)))
        {
            let count = bins::count(&side.lat_ns.bins()?);
            let asked = count.saturating_mul(size);
            // For I/Os that complete while the ramp ends, fio counts the bytes but not yet the latency.
            let uncounted = if ran.trial.ramp.0 > 0 { u64::from(job.spec.queue_depth).saturating_mul(size) } else { 0 };
            if side.io_bytes > asked.saturating_add(uncounted) {
                return Err(format!("{} bytes in {count} I/Os of {size} bytes", side.io_bytes));
            }
            let missing = asked.saturating_sub(side.io_bytes).div_ceil(size.max(1));
            if missing > 0 {
                found.push(IoErrors { stream: job.stream, op, errno: 0, count: missing, first_offset: None });
            }
        }
    }
    Ok(found)
}

/// Kind and offset in a line such as `fio: io_u error on file F: Input/output error: read offset=4096, buflen=4096`.
fn refused(line: &str) -> Option<(Op, u64)> {
    let (_, what) = line.split_once("io_u error on file ")?;
    let (before, rest) = what.rsplit_once(" offset=")?;
    let op = match before.rsplit(' ').next()? {
        "read" => Op::Read,
        "write" => Op::Write,
        _ => Op::Sync,
    };
    Some((op, rest.split(',').next()?.trim().parse().ok()?))
}

/// Number and function in a line such as `fio: pid=1, err=22/file:ioengines.c:399, func=td_io_queue, error=Invalid argument`.
fn gave_up(line: &str) -> Option<(i32, &str)> {
    let errno = line.strip_prefix("fio: pid=")?.split_once(", err=")?.1.split('/').next()?.parse().ok()?;
    let function = line.split_once(", func=")?.1.split(", error=").next()?;
    OF_IO.contains(&function).then_some((errno, function))
}

/// The kind of an I/O that fio does not name. Its queue refuses syncs; of transfers only a read ends with nothing.
fn likeliest(job: &Job, function: &str) -> Op {
    let syncs = kinds(job).find(|op| *op == Op::Sync && function == "td_io_queue");
    syncs.or_else(|| kinds(job).next()).unwrap_or(Op::Read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_about_failed_io_are_taken_for_such() {
        let line = |kind: &str| {
            format!("fio: io_u error on file a offset=1 b: Input/output error: {kind} offset=512, buflen=4096")
        };
        assert_eq!(refused(&line("read")), Some((Op::Read, 512)));
        assert_eq!(refused(&line("write")), Some((Op::Write, 512)));
        assert_eq!(refused(&line("datasync")), Some((Op::Sync, 512)));
        assert_eq!(refused("fio: io_u error on file x: no"), None);
        assert_eq!(refused("read offset=4096, buflen=4096"), None);
    }

    #[test]
    fn what_ended_a_job_is_an_io_only_where_fio_says_so() {
        // Both are of fio 3.33: a sync on /dev/null through libaio, and a file that was cut under psync.
        let sync = "fio: pid=17553, err=22/file:ioengines.c:399, func=td_io_queue, error=Invalid argument";
        let cut = "fio: pid=17573, err=5/file:backend.c:471, func=full resid, error=Input/output error";
        assert_eq!((gave_up(sync), gave_up(cut)), (Some((22, "td_io_queue")), Some((5, "full resid"))));
        let open = "fio: pid=9, err=13/file:filesetup.c:852, func=open(/dev/sda), error=Permission denied";
        assert_eq!((gave_up(open), gave_up("fio: pid=x"), gave_up("")), (None, None, None));
    }
}
