//! Runs of a machine while it was recorded: both have the clock of one boot, so that their times need no conversion. Changes nothing, and
//! a run that cannot be read is left out.

use stend_analyse::recording_lines::ConcurrentRun;
use stend_base::Nanos;
use stend_record::store::{self, KnownRun};
use stend_record::{RunRecord, WallClock};

/// Most runs that are shown, the newest ones. By eye: more bands than this hide the lines.
const RUNS_MAX: usize = 100;
/// Most runs whose events are read to find them: each takes some ms.
const FILES_MAX: usize = 300;
/// A run that began longer before is not looked for. By eye: the longest runs take days.
const LONGEST_S: i64 = 7 * 24 * 3600;

/// Runs in the directory of run files that loaded the host of this recording between two times of its clock, the oldest first.
pub fn concurrent_runs(recording: &RunRecord, (from, to): (Nanos, Nanos)) -> Vec<ConcurrentRun> {
    let known = store::directory().and_then(|directory| store::known_runs(&directory)).unwrap_or_default();
    let clock = WallClock::of(recording);
    // A second more on either side: the last letters of an id are random.
    let id = |unix_s: i64| store::new_run_id(unix_s.max(0) as u64, 0);
    let (first, last) = (id(clock.unix_s(from) - LONGEST_S), id(clock.unix_s(to) + 1));
    let is_near = |run: &&KnownRun| run.has_id() && first <= run.name && run.name <= last;
    let runs = known.iter().filter(is_near).filter(|run| is_run(run)).take(FILES_MAX);
    let found = runs.filter_map(|run| concurrent(run, recording, (from, to)));
    let mut found: Vec<ConcurrentRun> = found.take(RUNS_MAX).collect();
    found.reverse();
    found
}

/// Whether a file has a run that Stend measured, and neither a recording nor results of another tool. The file of a link may hold another
/// run by now.
fn is_run(known: &KnownRun) -> bool {
    store::glance(&known.path).is_ok_and(|found| {
        let header = found.header;
        let is_own = known.link.is_none() || header.id == known.name;
        is_own && header.recording.is_none() && header.imported.is_none()
    })
}

fn concurrent(known: &KnownRun, recording: &RunRecord, (from, to): (Nanos, Nanos)) -> Option<ConcurrentRun> {
    let run = store::read_events(&known.path).ok()?;
    let (here, there) = (recording.load().facts.as_ref()?, run.load().facts.as_ref()?);
    let is_same = !here.boot_id.is_empty() && (&here.boot_id, &here.hostname) == (&there.boot_id, &there.hostname);
    // The load host of a run on another machine has a name.
    if !is_same || !run.load().name.is_empty() {
        return None;
    }
    let times = || run.events.iter().map(|event| event.at);
    let ends = if stend_run::is_going_on(&known.path) { to } else { times().max()? };
    let begins = times().min()?;
    (begins <= to && ends >= from).then(|| ConcurrentRun {
        run: known.name.clone(),
        suite: run.header.inputs.suite.name.clone(),
        label: run.header.label.clone(),
        from: begins.max(from),
        to: ends.min(to),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_plan::{PlanInputs, PlanTarget};
    use stend_record::store::Options;
    use stend_record::{
        Entry, Event, EventKind, HostFacts, HostId, HostInfo, Recording, Retention, RunHeader, RunState,
    };
    use stend_spec::suite::Suite;

    fn header(id: &str) -> RunHeader {
        let target = PlanTarget::device(stend_base::Bytes(0));
        let suite = Suite { name: "quick".into(), ..Suite::default() };
        let inputs = PlanInputs { suite, seed: 0, target, time_budget: None, traces: Vec::new() };
        RunHeader::new(id, inputs)
    }

    fn host(name: &str, boot_id: &str) -> HostInfo {
        let facts = HostFacts { hostname: "h".into(), boot_id: boot_id.into(), ..HostFacts::default() };
        HostInfo { name: name.into(), facts: Some(facts), ..HostInfo::default() }
    }

    #[test]
    fn only_runs_of_this_machine_and_boot_that_overlap_count_and_only_as_far_as_they_do() {
        let dir = tempfile::tempdir().unwrap();
        let mut recording = RunRecord::new(header("R-20261121T213000Z-rcrd"));
        recording.apply(Entry::Host { host: HostId::LOAD, info: Box::new(host("", "boot")) });
        let span = (Nanos::secs(100), Nanos::secs(200));
        let found = |name: &str, boot: &str, times: [u64; 2]| {
            let id = "R-20261121T213000Z-aaaa";
            let path = dir.path().join(format!("{id}.stend"));
            let writer = store::create(&path, header(id), Options::default()).unwrap();
            writer.append(Entry::Host { host: HostId::LOAD, info: Box::new(host(name, boot)) });
            for at in times {
                writer.append(Entry::Event(Event::new(Nanos::secs(at), EventKind::StopRequested)));
            }
            writer.close(RunState::Complete).unwrap();
            let run = concurrent(&KnownRun { name: id.into(), path: path.clone(), link: None }, &recording, span);
            std::fs::remove_file(path).unwrap();
            run.map(|run| (run.from.as_secs(), run.to.as_secs()))
        };
        assert_eq!(found("", "boot", [120, 150]), Some((120.0, 150.0)));
        assert_eq!(found("", "boot", [50, 900]), Some((100.0, 200.0)));
        for (name, boot, times) in [
            ("", "boot", [10, 99]),
            ("", "boot", [201, 300]),
            ("", "earlier", [120, 150]),
            ("", "", [120, 150]),
            ("db1", "boot", [120, 150]),
        ] {
            assert_eq!(found(name, boot, times), None, "{name} {boot} {times:?}");
        }
    }

    #[test]
    fn a_recording_and_another_run_behind_a_link_are_no_runs_that_count() {
        let dir = tempfile::tempdir().unwrap();
        let file = |id: &str, recording| {
            let path = dir.path().join(format!("{id}.stend"));
            let writer = store::create(&path, RunHeader { recording, ..header(id) }, Options::default()).unwrap();
            writer.close(RunState::Complete).unwrap();
            path
        };
        let (run, other) = ("R-20261121T213000Z-aaaa", "R-20261121T213000Z-bbbb");
        let path = file(run, None);
        let behind = |name: &str, link: Option<&str>| KnownRun {
            name: name.into(),
            path: path.clone(),
            link: link.map(|link| dir.path().join(link)),
        };
        assert!(is_run(&behind(run, None)) && is_run(&behind(run, Some("link.stend"))));
        assert!(!is_run(&behind(other, Some("link.stend"))), "the file holds another run by now");
        let recording = Recording { every: Nanos::SECOND, retention: Retention::usual(Nanos::SECOND) };
        let path = file("R-20261121T213000Z-cccc", Some(recording));
        assert!(!is_run(&KnownRun { name: "R-20261121T213000Z-cccc".into(), path, link: None }));
    }
}
