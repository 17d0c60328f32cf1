//! Jobs that are counted per target: how many there are in all, and in how many parts of the range they are laid out. Pure.

use crate::keys::JOBS;
use crate::parse::IN_FLIGHT_MAX;
use crate::suite::{JobsOf, SuiteCase};
use crate::workload::Stream;
use stend_base::{Error, Kind, Result, Say, say};

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
        Err(Error::new(Kind::Spec, text).hint(say!(
            "take fewer jobs per target, or fewer targets",
            "возьмите меньше заданий на объект или меньше объектов"
        )))
    };
    let most = JOBS.most;
    if let Some(jobs) = streams.iter().map(|stream| stream.jobs).find(|jobs| *jobs > most) {
        return refuse(say!(
            "case `{name}` has {jobs} jobs on {targets} targets, and {most} is the most",
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
    if counted().any(|stream| stream.region.is_some()) {
        return Err(say!(
            "`region` counts over all targets, and jobs of each target work on that one alone",
            "`region` отсчитывается по всем объектам, а задания каждого объекта работают только на нём"
        ));
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
    use crate::plan::{Plan, PlanInputs, PlanTarget};
    use crate::workload::Trial;
    use stend_base::{Bytes, Result};

    /// A suite with these streams, on three devices of 64 MiB.
    fn plan(streams: &str) -> Result<Plan> {
        let suite = crate::parse::suite(&format!("suite: x\ncases: [{{name: a, streams: [{streams}]}}]\n"), "s.yaml")?;
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
    fn a_case_is_called_alike_on_any_number_of_targets() {
        let plan = plan(&format!("{{{READS}, jobs: {{per_target: [1, 4]}}}}")).unwrap();
        let labels: Vec<String> = plan.cases.iter().map(|case| case.label()).collect();
        assert_eq!(labels, ["a, jobs_per_target 1", "a, jobs_per_target 4"]);
    }

    #[test]
    fn what_cannot_be_counted_per_target_does_not_run_or_is_an_error() {
        let refused = |streams: &str| plan(streams).unwrap_err().message.en;
        let mixed = format!("{{{READS}, jobs: {{per_target: 1}}}}, {{{READS}, jobs: 2}}");
        assert!(refused(&mixed).contains("some streams of the case count their jobs per target"));
        let part = format!("{{{READS}, jobs: {{per_target: 1}}, region: {{start: 0%, size: 10%}}}}");
        assert!(refused(&part).contains("`region` counts over all targets"));
        let many = format!("{{{READS}, jobs: {{per_target: 400}}}}");
        assert!(refused(&many).contains("1200 jobs on 3 targets"));
        let deep = format!("{{{READS}, jobs: {{per_target: 30}}, queue_depth: 1024}}");
        assert!(refused(&deep).contains("92160 I/Os in flight on 3 targets"));
    }
}
