//! H04: is what was executed what was asked for? What the engine set up and did, against the suite.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{HOSTS_APART, HOSTS_APART_MOST};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Nanos, Say, format, say};
use stend_record::RunRecord;
use stend_record::observed::JobTotals;
use stend_spec::keys::BACKENDS;
use stend_spec::workload::{Backend, Pages, Region, Stream, Submit, Sync};

/// H04: backend, direct I/O, jobs, depth, block size and region are those that were asked for, and several hosts loaded at the same time.
pub fn executed(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H04, limit: say!("no difference", "без отличий") };
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
    if let Some((part, apart)) = found.is_none().then(|| most_apart(run, case)).flatten() {
        return not_at_one_time(check, part, apart);
    }
    let Some(found) = found else {
        let (streams, jobs) = (case.asked.streams.len(), case.counting[0].outcome.engine.jobs.len());
        return check
            .pass(say!("the same; {streams} streams, {jobs} jobs", "совпадает; потоков: {streams}, заданий: {jobs}"));
    };
    check.measured(Say::both(|l| found.iter().map(|say| say.get(l)).collect::<Vec<_>>().join("; "))).fail(say!(
        "The load differed from the suite; the number belongs to another experiment. Report this as a defect.",
        "Нагрузка была не той, что описана в наборе: число относится к другому опыту. Сообщите об этом как о дефекте."
    ))
}

/// The trial in which load hosts began furthest apart, beyond what is known of their clocks: the part of its window, and the time; `None` if
/// they began together.
fn most_apart(run: &RunRecord, case: &CaseTrials<'_>) -> Option<(f64, Nanos)> {
    let uncertain = run.loads().filter_map(|(_, host)| host.clock_uncertainty_ns).max().unwrap_or_default();
    let of = |trial: &Counting<'_>| {
        let begun = || trial.record.parts.iter().filter_map(|part| Some(part.outcome.as_ref()?.window_start));
        // The clock of either may be off so far.
        let apart = begun().max()?.saturating_sub(begun().min()?).saturating_sub(Nanos(uncertain.saturating_mul(2)));
        Some((apart.0 as f64 / trial.window.0.max(1) as f64, apart))
    };
    let most = case.counting.iter().filter_map(of).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (most.0 > HOSTS_APART).then_some(most)
}

fn not_at_one_time(check: Check, part: f64, apart: Nanos) -> CheckResult {
    let measured = say!(
        |l| "load hosts began {a} apart, {p} of the window",
        "нагружающие машины начали с разницей {a}, это {p} окна",
        a = format::latency(apart, l),
        p = format::percent(part, l)
    );
    let check = check.measured(measured);
    if part <= HOSTS_APART_MOST {
        return check.warn(say!(
            "The rates of the hosts are not of quite the same time, and their sum may be too large by that part. Use longer windows, or compare the clocks of the hosts.",
            "Скорости машин относятся не совсем к одному времени, и сумма может быть завышена на эту часть. Возьмите окна длиннее или сверьте часы машин."
        ));
    }
    check.fail(say!(
        "The hosts did not load at the same time, so that each had the storage partly to itself: the sum of their rates is too large. Look for a host that is slow to begin, and for clocks that were set.",
        "Машины нагружали не одновременно, и каждая часть времени пользовалась хранилищем одна: сумма их скоростей завышена. Ищите машину, которая начинает с опозданием, и переведённые часы."
    ))
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
    // Too few huge pages are the kernel's, and a caveat.
    if asked.pages == Pages::Ordinary && engine.buffers.is_some_and(|buffers| buffers.huge.0 > 0) {
        found.push(say!("buffers in huge pages, asked ordinary", "буферы в больших страницах, заявлены обычные"));
    }
    for (index, stream) in asked.streams.iter().enumerate() {
        found.extend(shape(trial, index as u16, stream));
        let own = || engine.jobs.iter().filter(|job| job.stream == index as u16);
        let each = (stream.jobs / asked.parts.max(1)).max(1);
        let place = |region: Region, job: u32| asked.in_part(region, u64::from(job / each));
        if stream.region.is_some_and(|region| own().any(|job| !place(region, job.job).holds(job.area))) {
            found.push(say!("a job outside of its stream's region", "задание за пределами области своего потока"));
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
    let together = |job: &&JobTotals| job.submissions.is_some_and(|done| done.together > 0);
    let own = || trial.outcome.jobs.iter().filter(|job| job.stream == index);
    if stream.submit == Submit::Each && own().any(|job| together(&job)) {
        found.push(say!("I/Os submitted together, asked one by one", "операции поданы вместе, заявлены по одной"));
    }
    if stream.place.memory.is_some() && jobs().any(|job| job.memory_node != stream.place.memory) {
        found.push(say!("buffers not on the NUMA node asked for", "буферы не на заявленном узле NUMA"));
    }
    if let Some(job) = jobs().find(|job| job.block_size != stream.block_size) {
        found.push(say!(
            |l| "block size {i}, asked {a}",
            "блок {i}, заявлен {a}",
            i = format::bytes(job.block_size, l),
            a = format::bytes(stream.block_size, l)
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_base::Bytes;
    use stend_record::TrialOutcome;
    use stend_record::observed::{JobFacts, Submissions};

    fn check(change: fn(&mut TrialOutcome)) -> CheckResult {
        let record = run().trial(0).done().trial(0).change(move |o, _| change(o)).done().record();
        executed(&record, &by_case(&record)[0])
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
        let huge = |o: &mut TrialOutcome| o.engine.buffers.as_mut().unwrap().huge = Bytes::mib(2);
        assert_eq!(check(huge).measured.en, "buffers in huge pages, asked ordinary");
        assert_eq!(check(|o| o.engine.jobs[0].dsync = true).measured.en, "open with O_DSYNC, asked without");
        let found = check(|o| o.engine.jobs.push(o.engine.jobs[0]));
        assert_eq!((found.status, found.measured.ru.as_str()), (CheckStatus::Fail, "заданий 2, заявлено 1"));
    }

    #[test]
    fn one_by_one_is_not_together() {
        let status = |submit, together| {
            let mut record = run().trial(0).done().record();
            record.trials[0].asked.streams[0].submit = submit;
            let jobs = &mut record.trials[0].outcome.as_mut().unwrap().jobs;
            jobs[0].submissions = Some(Submissions { calls: 90, ios: 100, together, waited_ns: 500_000, late_ns: 0 });
            let found = executed(&record, &by_case(&record)[0]);
            (found.status, found.measured.en)
        };
        assert_eq!(status(Submit::Each, 10), (CheckStatus::Fail, "I/Os submitted together, asked one by one".into()));
        assert_eq!(status(Submit::Each, 0).0, CheckStatus::Pass);
        assert_eq!(status(Submit::Auto, 10).0, CheckStatus::Pass);
    }

    #[test]
    fn a_job_in_the_region_of_another_target_fails() {
        let of = |second: u64| {
            let mut record = run().trial(0).done().record();
            let trial = &mut record.trials[0];
            let half = Bytes(trial.asked.region.len.0 / 2);
            let region = Region { start: trial.asked.region.start, len: Bytes(half.0 / 2) };
            trial.asked.parts = 2;
            (trial.asked.streams[0].jobs, trial.asked.streams[0].region) = (2, Some(region));
            let jobs = &mut trial.outcome.as_mut().unwrap().engine.jobs;
            jobs[0].area = region;
            jobs.push(JobFacts {
                job: 1,
                area: Region { start: Bytes(region.start.0 + second * half.0), ..region },
                ..jobs[0]
            });
            executed(&record, &by_case(&record)[0])
        };
        assert_eq!(of(1).status, CheckStatus::Pass);
        assert_eq!(of(0).measured.en, "a job outside of its stream's region");
    }

    #[test]
    fn another_backend_than_the_named_one_fails() {
        let mut record = run().trial(0).done().record();
        record.trials[0].asked.backend = Backend::Psync;
        assert_eq!(executed(&record, &by_case(&record)[0]).measured.en, "backend io_uring, asked psync");
    }

    #[test]
    fn without_the_engines_facts_it_is_not_measurable() {
        assert_eq!(check(|o| o.engine.jobs.clear()).status, CheckStatus::NotMeasurable);
    }
}
