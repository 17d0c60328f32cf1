//! The cells that test what others show. Pure; must not judge.

use super::{Plan, PlanTarget};
use crate::fit::why_not;
use crate::ladder::LOAD_HOSTS;
use stend_base::Bytes;
use stend_spec::case::Case;
use stend_spec::confirm::{Confirming, Test, TestedBy};
use stend_spec::files;
use stend_spec::keys::{DEPTH, IN_FLIGHT_MAX, JOBS};
use stend_spec::suite::{Suite, SuiteCase};
use stend_spec::topology::{Affinity, Numa, Placement, Topology};
use stend_spec::workload::{Backend, Engine, Pattern, Stream, Trial};

/// What `confirm` makes of the cells of an arm.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tests {
    /// Cells that are there for another one, in the order in which they follow the others.
    pub own: Vec<(Case, Confirming)>,
    /// Index of a cell that the suite has anyway, and what it is a test of.
    pub shared: Vec<(u32, Confirming)>,
}

impl Plan {
    /// What a cell is a test of, if it is there for another one.
    pub fn confirming(&self, cell: u32) -> Option<Confirming> {
        let in_arm = cell % self.cells().max(1);
        let (_, found) = self.confirming.iter().find(|(known, _)| *known == in_arm)?;
        Some(Confirming { of: cell - in_arm + found.of, ..*found })
    }

    /// The tests that a cell has by `confirm`, in its own arm.
    pub fn tests_of(&self, cell: u32) -> impl Iterator<Item = TestedBy> {
        let in_arm = cell % self.cells().max(1);
        let own = self.confirming.iter().map(|(known, test)| (known, test, false));
        let all = own.chain(self.shared_tests.iter().map(|(known, test)| (known, test, true)));
        all.filter(move |(_, confirming, _)| confirming.of == in_arm).map(move |(known, confirming, is_case)| {
            TestedBy { cell: cell - in_arm + known, test: confirming.test, is_case }
        })
    }
}

/// The cells that test these. A test that a case cannot have is left out.
pub(crate) fn cells(suite: &Suite, cases: &[Case], target: &PlanTarget, pieces: &[Bytes]) -> Tests {
    let (tests, of_search) = (&suite.confirm, |case: &&SuiteCase| case.load_hosts.search().is_some());
    let searched: Vec<&String> = suite.cases.iter().filter(of_search).map(|case| &case.name).collect();
    let fits = |trial: &Trial| why_not(trial, target).or_else(|| files::why_not(trial, pieces, target.count)).is_none();
    let mut found = Tests::default();
    // What a search tries is looked at as often as it needs, and no more.
    let is_rung = |case: &Case| case.axes.iter().any(|(axis, _)| axis == LOAD_HOSTS) && searched.contains(&&case.name);
    for (of, case) in (0u32..).zip(cases).filter(|(_, case)| !is_rung(case)) {
        for &test in tests {
            let Some(trial) = trial(test, case, &target.topology).filter(fits) else { continue };
            let confirming = Confirming { of, test };
            // Rounds before it and events in it make another load, and what does not run tests nothing.
            let is_same = |other: &Case| {
                let alike = other.trial == trial && other.faults == case.faults;
                alike && other.steady.is_none() && other.not_run.is_none()
            };
            if let Some((same, _)) = (0u32..).zip(cases).find(|(_, other)| is_same(other)) {
                found.shared.push((same, confirming));
                continue;
            }
            let axis = ("confirm".to_string(), label(test, &trial));
            let axes = case.axes.iter().cloned().chain([axis]).collect();
            found.own.push((Case { axes, trial, ..case.clone() }, confirming));
        }
    }
    found
}

fn label(test: Test, trial: &Trial) -> String {
    let stream = &trial.streams[0];
    match test {
        Test::Depth => format!("queue_depth {}", stream.queue_depth),
        Test::Threads => format!("jobs {}", stream.jobs),
        Test::Node => "numa remote".to_string(),
    }
}

/// The test of a closed loop of one stream, without anything in it that depends on depth or jobs.
fn trial(test: Test, case: &Case, topology: &Topology) -> Option<Trial> {
    let [stream] = case.trial.streams.as_slice() else { return None };
    let plain = !stream.is_open() && stream.think.is_none() && stream.verify.is_none() && stream.replay.is_none();
    let idle = case.not_run.is_some() || case.steady.is_some() || case.trial.backend == Backend::Null;
    // An append has one I/O in flight, and another engine its own rules of what it can have.
    let other = stream.pattern == Pattern::Append || case.trial.engine != Engine::Native;
    if !plain || idle || other || stream.batch.is_any() {
        return None;
    }
    let changed = match test {
        Test::Depth => {
            let queue_depth = stream.queue_depth.checked_mul(2).filter(|depth| DEPTH.hold(depth))?;
            Stream { queue_depth, ..stream.clone() }
        }
        Test::Threads => {
            // Jobs that go through their parts in order are another load if they are more.
            let halves = stream.queue_depth.is_multiple_of(2) && stream.pattern.is_scattered();
            let jobs = stream.jobs.checked_mul(2).filter(|jobs| halves && JOBS.hold(jobs))?;
            // Twice the threads on the same CPUs are not more of what they may lack.
            let cpus = stream.place.cpus.len();
            if cpus > 0 && cpus < jobs as usize {
                return None;
            }
            Stream { jobs, queue_depth: stream.queue_depth / 2, ..stream.clone() }
        }
        Test::Node => {
            let other = Placement { cpus: Vec::new(), numa: Some(Numa::Remote) };
            let place = other.on(topology).ok().filter(|place| !place.is_like(&stream.place))?;
            // Held against a case that is far from the device already it would not be a test of that.
            let near = Placement { cpus: Vec::new(), numa: Some(Numa::Local) }.on(topology).ok();
            if stream.place != Affinity::default() && near.is_none_or(|near| !near.is_like(&stream.place)) {
                return None;
            }
            // As many CPUs as before, or two things would change.
            if !stream.place.cpus.is_empty() && stream.place.cpus.len() != place.cpus.len() {
                return None;
            }
            Stream { place, ..stream.clone() }
        }
    };
    let trial = Trial { streams: vec![changed], ..case.trial.clone() };
    (trial.in_flight() <= IN_FLIGHT_MAX).then_some(trial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{Decision, Outcome};
    use crate::fixture;
    use stend_spec::topology::NumaNode;

    fn plan(confirm: &str, cases: &str, nodes: u32) -> Plan {
        let text = format!("suite: x\nrepeats: {{blocks: 2}}\n{confirm}\ncases:\n{cases}");
        let mut inputs = fixture::inputs(stend_spec::parse::suite(&text, "x").unwrap());
        let node = |node: u32| NumaNode { node, cpus: vec![node] };
        inputs.target.topology = Topology { nodes: (0..nodes).map(node).collect(), device: Some(0) };
        Plan::new(&inputs).unwrap()
    }

    fn labels(plan: &Plan) -> Vec<String> {
        plan.cases.iter().map(Case::label).collect()
    }

    #[test]
    fn what_a_search_of_hosts_tries_is_not_tested_besides() {
        let load_hosts = |text: &str| ONE.replace("name: a, ", &format!("name: a, load_hosts: {text}, "));
        let plan = |text: &str| plan("confirm: [depth]", &load_hosts(text), 1);
        assert_eq!(plan("{search: {quantile: 99%, limit: 1ms}}").confirming, []);
        assert_eq!(plan("1").confirming.len(), 1);
    }

    const ONE: &str = "  - {name: a, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 32}]}\n";

    #[test]
    fn each_test_is_a_cell_of_its_own_that_says_what_it_is_for() {
        let found = plan("confirm: [depth, threads, node]", ONE, 2);
        assert_eq!(labels(&found), ["a", "a, confirm queue_depth 64", "a, confirm jobs 2", "a, confirm numa remote"]);
        let tests: Vec<_> = (0..4).map(|cell| found.confirming(cell)).collect();
        let of = |test| Some(Confirming { of: 0, test });
        assert_eq!(tests, [None, of(Test::Depth), of(Test::Threads), of(Test::Node)]);
        assert_eq!(found.cases[2].trial.in_flight(), 32, "as much in flight");
        assert_eq!(found.cases[3].trial.streams[0].place.cpus, [1]);
        assert_eq!(labels(&plan("", ONE, 2)), ["a"]);
    }

    #[test]
    fn tests_run_in_the_blocks_of_their_cases_and_a_file_gives_the_same_decisions_again() {
        let found = plan("confirm: [depth]", ONE, 1);
        let run = || {
            let (mut history, mut decisions) = (Vec::new(), Vec::new());
            while let decision @ (Decision::Trial { .. } | Decision::Fill { .. }) = found.next(&history) {
                decisions.push(decision);
                history.push(Outcome::Ok);
            }
            decisions
        };
        let blocks: Vec<u32> = run()
            .iter()
            .filter_map(|d| if let Decision::Trial { block, .. } = d { Some(*block) } else { None })
            .collect();
        assert_eq!((blocks.as_slice(), run() == run()), (&[0, 0, 1, 1][..], true));
        // The case has the places that it would have had without its test.
        let without = plan("", ONE, 1);
        assert_eq!(found.cases[0].trial, without.cases[0].trial);
        for block in 0..2 {
            assert_eq!(found.trial_seed(block, 0), without.trial_seed(block, 0));
            assert_ne!(found.trial_seed(block, 1), without.trial_seed(block, 0));
        }
    }

    #[test]
    fn what_a_suite_measures_anyway_or_a_case_cannot_have_is_left_out() {
        let cases = "\
            \x20 - {name: depths, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 2, 4096]}]}\n\
            \x20 - {name: open, streams: [{op: read, pattern: random, block_size: 4KiB, rate: 10/s}]}\n\
            \x20 - {name: other-engine, engine: fio, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 2}]}\n\
            \x20 - {name: pinned, streams: [{op: read, pattern: random, block_size: 16KiB, queue_depth: 4096, cpus: [0]}]}\n\
            \x20 - {name: rests, streams: [{op: read, pattern: random, block_size: 4KiB, think: {time: 1ms}}]}\n\
            \x20 - {name: order, streams: [{op: read, pattern: sequential, block_size: 4KiB, queue_depth: 8}]}\n\
            \x20 - {name: nothing, backend: none, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 8}]}\n\
            \x20 - {name: two, streams: [{op: read, pattern: random, block_size: 4KiB}, {op: read, pattern: random, block_size: 8KiB}]}\n";
        let found = plan("confirm: [depth, threads, node]", cases, 1);
        let confirming: Vec<String> =
            (0u32..).zip(labels(&found)).filter(|(cell, _)| found.confirming(*cell).is_some()).map(|c| c.1).collect();
        assert_eq!(
            confirming,
            [
                "depths, queue_depth 2, confirm queue_depth 4",
                "depths, queue_depth 2, confirm jobs 2",
                "depths, queue_depth 4096, confirm jobs 2",
                "order, confirm queue_depth 16",
            ]
        );
    }

    #[test]
    fn a_case_of_the_suite_that_is_the_test_of_another_one_is_named_as_such() {
        let cases = "\
            \x20 - {name: a, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [8, 16]}]}\n\
            \x20 - {name: b, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 8, jobs: 2}]}\n";
        let found = plan("confirm: [depth, threads]\narms: [{name: x}, {name: y}]", cases, 1);
        let tests = |cell: u32| -> Vec<(String, Test, bool)> {
            let label = |t: &TestedBy| found.cases[t.cell as usize].label();
            found.tests_of(cell).map(|t| (label(&t), t.test, t.is_case)).collect()
        };
        let (own, shared) = (false, true);
        assert_eq!(
            tests(0),
            [
                ("x: a, queue_depth 8, confirm jobs 2".to_string(), Test::Threads, own),
                ("x: a, queue_depth 16".to_string(), Test::Depth, shared)
            ]
        );
        let second = found.cells() + 1;
        assert_eq!(tests(second)[1], ("y: b".to_string(), Test::Threads, shared));
        // What the suite has is a case like any other.
        assert_eq!(found.confirming(1), None);
        assert!(plan("", cases, 1).tests_of(0).next().is_none());
    }

    #[test]
    fn a_case_that_is_another_load_or_never_runs_is_no_test_of_another_one() {
        let read = "op: read, pattern: random, block_size: 4KiB";
        let labels_of = |keys: &str, other: &str| {
            let cases = format!(
                "  - {{name: a, prober: off{keys}, streams: [{{{read}, queue_depth: 8}}]}}\n  - {{name: b, prober: off{other}, streams: [{{{read}, queue_depth: 16}}]}}\n"
            );
            let found = plan("confirm: [depth]\nfill: {size: 64MiB}", &cases, 1);
            found.tests_of(0).map(|test| (found.cases[test.cell as usize].label(), test.is_case)).collect::<Vec<_>>()
        };
        let own = [("a, confirm queue_depth 16".to_string(), false)];
        let shared = [("b".to_string(), true)];
        let scrub = ", events: [{at: 1s, do: scrub}]";
        assert_eq!(labels_of("", ""), shared);
        assert_eq!(labels_of("", ", steady: {rounds: 6, round: 10s}"), own, "it has rounds before it");
        assert_eq!(labels_of(scrub, ""), own, "nothing happens in it");
        assert_eq!(labels_of(scrub, scrub), shared);
    }

    #[test]
    fn in_arms_each_test_is_of_the_case_in_its_own_arm() {
        let arms = "arms: [{name: x}, {name: y}]";
        let found = plan(&format!("confirm: [depth]\n{arms}"), ONE, 1);
        let of: Vec<Option<u32>> = (0..4).map(|cell| found.confirming(cell).map(|c| c.of)).collect();
        assert_eq!(of, [None, Some(0), None, Some(2)]);
    }
}
