//! Cuts the region of a trial into one area per job. Must not let areas overlap, so that each block has one writer, but where
//! the suite asks for it: streams that name overlapping regions, and jobs of a stream with a shared pattern.

use crate::area::Area;
use crate::course::Course;
use crate::replaying::Replaying;
use crate::verify::check::Check;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stend_base::random::{below, draw};
use stend_base::{Bytes, Error, Lang, Result, Say, format};
use stend_plan::fit::{areas, origin, too_small_for_shares};
use stend_spec::workload::{Region, Stream, Trial};

/// A shared cursor starts below this, so that what it counts to has room for 10^19 I/Os.
const CURSOR_START: u64 = 1 << 62;

/// The one place in a region that several jobs advance. On cache lines of its own (the prefetcher fetches pairs).
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Cursor(AtomicU64);

impl Cursor {
    /// A cursor that stands at `first`.
    pub fn new(first: u64) -> Cursor {
        Cursor(AtomicU64::new(first))
    }

    /// Where it stands; the next to ask gets the number after it.
    #[inline]
    pub fn take(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// One job of one stream, ready to be run.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Index of the job in its stream.
    pub job: u32,
    /// What it does.
    pub spec: Stream,
    /// Where.
    pub area: Area,
    /// Follows from the trial's seed, the stream and the job.
    pub seed: u64,
    /// What the jobs of its stream that work through one area together share.
    pub cursor: Option<Arc<Cursor>>,
    /// It is the first of them, or has its area alone.
    pub leads: bool,
    /// How arrivals of the stream follow from its rate, if it has one; all its jobs share it.
    pub course: Option<Arc<Course>>,
    /// I/Os after which it ends on its own.
    pub limit: u64,
    /// How its data are verified, if they are.
    pub check: Option<Check>,
    /// The recorded I/Os that it makes, if it replays a trace.
    pub replay: Option<Replaying>,
}

impl Job {
    /// Its area in bytes of the target.
    pub fn region(&self) -> Region {
        Region { start: Bytes(self.area.start), len: Bytes(self.area.blocks * self.spec.block_size.0) }
    }
}

/// All jobs of a trial, each with its area (see [`areas`]). Fails if the region has no block for one of them, or not the room for the
/// shares of a mixture of block sizes.
pub(crate) fn jobs(trial: &Trial, limit: u64) -> Result<Vec<Job>> {
    let mut areas = areas(trial).into_iter();
    let mut jobs = Vec::new();
    for (stream, spec) in trial.streams.iter().enumerate() {
        let (seed, shared) = (draw(trial.seed, stream as u64), spec.pattern.is_shared());
        let new_cursor = |part: u64| Arc::new(Cursor::new(below(draw(seed, u64::MAX - part), CURSOR_START)));
        // With jobs of each target the cursor is one per target.
        let together = (spec.jobs / trial.parts.max(1)).max(1);
        let mut cursor = None;
        let course = spec.rate.as_ref().map(|rate| Arc::new(Course::new(rate)));
        let origin = origin(trial, spec).0;
        for (job, area) in (0..spec.jobs).zip(&mut areas) {
            let size = spec.block_size.0.max(1);
            if area.is_empty() {
                return Err(match spec.region {
                    Some(region) => too_small(region, u64::from(together), size),
                    None => too_small_for_all(trial),
                });
            }
            let leads = !shared || job % together == 0;
            if shared && leads {
                cursor = Some(new_cursor(u64::from(job / together)));
            }
            jobs.push(Job {
                stream: stream as u16,
                job,
                spec: spec.clone(),
                area: Area { start: origin + area.start * size, blocks: area.end - area.start },
                seed: draw(seed, u64::from(job)),
                cursor: cursor.clone(),
                leads,
                course: course.clone(),
                limit,
                check: None,
                replay: None,
            });
        }
    }
    // Asked last: an area without a block has no room for shares either.
    match too_small_for_shares(trial) {
        Some(reason) => Err(Error::preflight(reason)),
        None => Ok(jobs),
    }
}

fn too_small_for_all(trial: &Trial) -> Box<Error> {
    let sharing = || trial.streams.iter().filter(|stream| stream.region.is_none());
    let largest = sharing().map(|stream| stream.block_size.0).max().unwrap_or(0);
    too_small(trial.region, sharing().map(|stream| u64::from(stream.jobs)).sum(), largest)
}

fn too_small(region: Region, count: u64, largest: u64) -> Box<Error> {
    let sizes = |lang: Lang| (format::bytes(region.len, lang), format::bytes(Bytes(largest), lang));
    let ((region, block), (region_ru, block_ru)) = (sizes(Lang::En), sizes(Lang::Ru));
    let message = Say {
        en: format!("a region of {region} is too small for {count} jobs with blocks of up to {block}"),
        ru: format!("область в {region_ru} слишком мала: заданий {count}, блоки до {block_ru}"),
    };
    Error::preflight(message).hint(stend_base::say!(
        "use a larger target, fewer jobs or smaller blocks",
        "возьмите объект больше, заданий меньше или блоки мельче"
    ))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use stend_base::Kind;
    use stend_base::Nanos;
    use stend_spec::workload::{Mix, Pattern};

    /// A stream of random 4 KiB reads at depth 1, to be varied.
    pub(crate) fn stream() -> Stream {
        Stream::new(Mix::of_reads(100), Pattern::Random, Bytes::kib(4))
    }

    /// A short direct trial over `len` bytes, to be varied.
    pub(crate) fn trial(len: Bytes, streams: Vec<Stream>) -> Trial {
        let region = Region { start: Bytes(0), len };
        Trial { drain_limit: Nanos::secs(10), seed: 7, ..Trial::new(streams, Nanos::millis(300), region) }
    }

    proptest! {
        #[test]
        fn areas_lie_inside_the_region_and_never_overlap(
            streams in prop::collection::vec((1u32..7, prop::sample::select(vec![512u64, 4096, 12_288, 65_536, 1 << 20])), 1..5),
            start in 0u64..50, len in 0u64..20_000,
        ) {
            let streams = streams.into_iter().map(|(jobs, size)| Stream { jobs, block_size: Bytes(size), ..stream() }).collect();
            let mut trial = trial(Bytes(len * 4096), streams);
            trial.region.start = Bytes(start * 4096);
            let Ok(jobs) = jobs(&trial, u64::MAX) else { return Ok(()) };
            let mut end = trial.region.start.0;
            for job in &jobs {
                let size = job.spec.block_size.0;
                prop_assert!(job.area.start >= end && job.area.blocks >= 1);
                prop_assert_eq!((job.area.start - trial.region.start.0) % size, 0);
                end = job.area.start + job.area.blocks * size;
            }
            prop_assert!(end <= trial.region.start.0 + trial.region.len.0);
        }
    }

    #[test]
    fn equal_jobs_get_equal_areas() {
        let jobs = jobs(&trial(Bytes::kib(40), vec![Stream { jobs: 3, ..stream() }]), u64::MAX).unwrap();
        let areas: Vec<_> = jobs.iter().map(|j| (j.area.start, j.area.blocks)).collect();
        assert_eq!(areas, [(0, 3), (12_288, 3), (24_576, 3)]);
        assert_ne!(jobs[0].seed, jobs[1].seed);
    }

    #[test]
    fn a_region_without_a_block_for_every_job_is_refused() {
        let error = jobs(&trial(Bytes::kib(8), vec![Stream { jobs: 3, ..stream() }]), 1).unwrap_err();
        assert_eq!(error.kind, Kind::Preflight);
        assert!(error.message.en.contains("8 KiB") && error.message.ru.contains("8 КиБ"), "{error}");
    }
}
