//! Jobs that are counted per target: how many there are in all, and in how many parts of the range they are laid out. Pure.

use stend_base::{Error, Result, Say, say};
use stend_spec::keys::IN_FLIGHT_MAX;
use stend_spec::keys::JOBS;
use stend_spec::suite::{JobsOf, SuiteCase};
use stend_spec::workload::Stream;

/// By how much a number of jobs is multiplied on so many targets.
pub(crate) fn times(of: JobsOf, targets: u32) -> u32 {
    match of {
        JobsOf::Range => 1,
        JobsOf::Files | JobsOf::Target => targets.max(1),
    }
}

/// Refuses what several targets make too much, which cannot be known before they are.
pub(crate) fn must_be_possible(case: &SuiteCase, streams: &[Stream], targets: u32) -> Result<()> {
    let name = &case.name;
    let refuse = |text: Say| {
        Err(Error::spec(text).hint(say!(
            "take fewer jobs per target, or fewer targets",
            "возьмите меньше заданий на объект или меньше объектов"
        )))
    };
    let most = JOBS.most;
    if let Some(jobs) = streams.iter().map(|stream| stream.jobs).find(|jobs| *jobs > most) {
        return refuse(say!(
            "case `{name}` has {jobs} jobs on {targets} targets; the limit is {most}",
            "в случае `{name}` заданий {jobs} на {targets} объектах, а предел — {most}"
        ));
    }
    let in_flight: u64 = streams.iter().map(|s| u64::from(s.queue_depth) * u64::from(s.jobs)).sum();
    if in_flight > IN_FLIGHT_MAX {
        return refuse(say!(
            "case `{name}` asks for {in_flight} I/Os in flight on {targets} targets; the limit is {IN_FLIGHT_MAX}",
            "случай `{name}` требует {in_flight} одновременных операций на {targets} объектах; предел — {IN_FLIGHT_MAX}"
        ));
    }
    Ok(())
}

/// In how many equal parts of the range the jobs of a case are laid out: one for each target if they are counted so, else 1.
/// The error is the reason why the case does not run.
pub(crate) fn parts(case: &SuiteCase, targets: u32) -> std::result::Result<u32, Say> {
    let counted = || case.streams.iter().filter(|stream| stream.jobs_of != JobsOf::Range);
    if targets < 2 || counted().next().is_none() {
        return Ok(1);
    }
    if counted().count() < case.streams.len() {
        return Err(say!(
            "some streams of the case count their jobs per target and others over all",
            "одни потоки случая считают задания по объектам, другие — на всех"
        ));
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::{Plan, PlanInputs, PlanTarget};
    use stend_base::{Bytes, Result};
    use stend_spec::workload::Trial;

    /// A suite with these streams, on three devices of 64 MiB.
    fn plan(streams: &str) -> Result<Plan> {
        let suite =
            stend_spec::parse::suite(&format!("suite: x\ncases: [{{name: a, streams: [{streams}]}}]\n"), "s.yaml")?;
        let target = PlanTarget { count: 3, ..fixture::device(Bytes::mib(64)) };
        Plan::new(&PlanInputs { target, ..fixture::inputs(suite) })
    }

    fn trial(streams: &str) -> Trial {
        plan(streams).unwrap().cases[0].trial.clone()
    }

    const READS: &str = "op: read, pattern: random, block_size: 4KiB";

    #[test]
    fn jobs_of_each_target_lie_in_its_part_of_the_range() {
        // Five jobs do not divide a share into whole blocks, and none crosses nevertheless.
        let trial = trial(&format!("{{{READS}, jobs: {{per_target: 5}}}}, {{{READS}, jobs: {{per_target: 2}}}}"));
        assert_eq!((trial.parts, trial.streams[0].jobs, trial.streams[1].jobs), (3, 15, 6));
        let spans = crate::fit::spans(&trial, |_| true);
        let share = Bytes::mib(64).0;
        for (index, span) in spans.iter().enumerate() {
            let target = if index < 15 { index / 5 } else { (index - 15) / 2 } as u64;
            assert!(span.start >= target * share && span.end <= (target + 1) * share, "{index}: {span:?}");
        }
        let mut sorted = spans.clone();
        sorted.sort_by_key(|span| span.start);
        assert!(sorted.windows(2).all(|pair| pair[0].end <= pair[1].start), "no byte has two jobs");
        let one = plan(&format!("{{{READS}, jobs: [1, 6]}}")).unwrap();
        assert!(one.cases.iter().all(|case| case.trial.parts == 1), "counted in all");
    }

    #[test]
    fn a_region_beside_jobs_of_each_target_is_that_part_of_each_target() {
        // Each has 64 MiB: the first 80 %, cut to 4 KiB, and the quarter behind it that a second stream has.
        let region = "jobs: {per_target: 2}, region: {start: 0%, size: 80%}";
        let tail = "jobs: {per_target: 1}, region: {start: 48MiB, size: 25%}";
        let trial = trial(&format!("{{{READS}, {region}}}, {{{READS}, {tail}}}"));
        assert_eq!((trial.parts, trial.streams[0].jobs, trial.streams[1].jobs), (3, 6, 3));
        let (share, part) = (Bytes::mib(64).0, Bytes::mib(64).0 * 4 / 5 / 4096 * 4096);
        let spans = crate::fit::spans(&trial, |_| true);
        for (index, span) in spans[..6].iter().enumerate() {
            let target = index as u64 / 2 * share;
            let half = part / 4096 / 2 * 4096;
            let begin = target + index as u64 % 2 * half;
            assert_eq!(*span, begin..begin + half, "job {index}");
        }
        let third = |target: u64| target * share + Bytes::mib(48).0..(target + 1) * share;
        assert_eq!(spans[6..], [third(0), third(1), third(2)]);
    }

    #[test]
    fn a_region_of_each_target_ends_with_the_target_and_needs_a_block_for_each_job() {
        let not_run = |keys: &str| plan(&format!("{{{READS}, {keys}}}")).unwrap_err().message.en;
        let behind = not_run("jobs: {per_target: 1}, region: {start: 60MiB, size: 8MiB}");
        assert!(behind.contains("ends at 68 MiB, beyond the range of 64 MiB of each target"), "{behind}");
        let small = not_run("jobs: {per_target: 4}, region: {start: 0%, size: 8KiB}");
        assert!(small.ends_with("the range has 8 KiB, and each of 4 jobs needs a block of 4 KiB"), "{small}");
        let all = trial(&format!("{{{READS}, jobs: 3, region: {{start: 0%, size: 80%}}}}"));
        assert_eq!((all.parts, all.streams[0].region.unwrap().len.0), (1, Bytes::mib(192).0 * 4 / 5 / 4096 * 4096));
    }

    #[test]
    fn a_case_is_called_alike_on_any_number_of_targets() {
        let plan = plan(&format!("{{{READS}, jobs: {{per_target: [1, 4]}}}}")).unwrap();
        let labels: Vec<String> = plan.cases.iter().map(|case| case.label()).collect();
        assert_eq!(labels, ["a, jobs_per_target 1", "a, jobs_per_target 4"]);
    }

    #[test]
    fn what_cannot_be_counted_per_target_does_not_run_or_is_an_error() {
        let refused = |streams: &str| plan(streams).unwrap_err().message.en;
        let mixed = format!("{{{READS}, jobs: {{per_target: 1}}}}, {{{READS}, jobs: 2}}");
        assert!(refused(&mixed).contains("the streams of a case count their jobs in the same way"));
        // A run file of before may still have such a suite.
        let alike = format!("{{{READS}, jobs: {{per_target: 1}}}}, {{{READS}, jobs: {{per_target: 2}}}}");
        let mut suite =
            stend_spec::parse::suite(&format!("suite: x\ncases: [{{name: a, streams: [{alike}]}}]\n"), "s").unwrap();
        suite.cases[0].streams[1].jobs_of = super::JobsOf::Range;
        let target = PlanTarget { count: 3, ..fixture::device(Bytes::mib(64)) };
        let old = Plan::new(&PlanInputs { target, ..fixture::inputs(suite) }).unwrap_err().message.en;
        assert!(old.contains("some streams of the case count their jobs per target"), "{old}");
        let many = format!("{{{READS}, jobs: {{per_target: 400}}}}");
        assert!(refused(&many).contains("1200 jobs on 3 targets"));
        let deep = format!("{{{READS}, jobs: {{per_target: 30}}, queue_depth: 1024}}");
        assert!(refused(&deep).contains("92160 I/Os in flight on 3 targets"));
    }
}
