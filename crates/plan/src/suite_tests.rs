//! Plans of suites whose keys are parsed elsewhere: searches for precision, NUMA nodes, preconditioning.

use crate::decision::{Decision, Outcome, StopReason};
use crate::{Case, Plan, PlanInputs, fixture};
use stend_base::{Bytes, say};
use stend_spec::parse::suite;
use stend_spec::topology::{NumaNode, Topology, ranges};

fn machine(nodes: &[(u32, &[u32])], device: Option<u32>) -> Topology {
    let node = |&(node, cpus): &(u32, &[u32])| NumaNode { node, cpus: cpus.to_vec() };
    Topology { nodes: nodes.iter().map(node).collect(), device }
}

fn text(head: &str) -> String {
    format!("suite: x\n{head}cases:\n  - {{name: a, streams: [{{op: read, pattern: random, block_size: 4KiB}}]}}\n")
}

#[test]
fn a_case_that_is_precise_is_not_repeated_and_the_others_go_on() {
    let stream = "[{op: read, pattern: random, block_size: 4KiB}]";
    let text = format!(
        "suite: x\nfill: none\nrepeats: {{blocks: 8, until: {{}}}}\ncases:\n  - {{name: a, streams: {stream}}}\n  \
         - {{name: b, streams: {stream}}}\n"
    );
    let plan = Plan::new(&fixture::inputs(suite(&text, "x").unwrap())).unwrap();
    let (mut history, mut count) = (Vec::new(), [0; 2]);
    while let Decision::Trial { case, .. } = plan.next(&history) {
        count[case as usize] += 1;
        let narrow = case == 0 && count[0] == 6;
        history.push(if narrow { Outcome::Narrow } else { Outcome::Ok });
    }
    assert_eq!(count, [6, 8]);
    assert_eq!(plan.next(&history), Decision::Stop(StopReason::Done));
}

#[test]
fn a_case_whose_arms_differ_precisely_ends_in_all_of_them() {
    let stream = "[{op: read, pattern: random, block_size: 4KiB}]";
    let text = format!(
        "suite: x\nfill: none\nrepeats: {{blocks: 8, until: {{}}}}\narms: [{{name: x}}, {{name: y}}]\ncases:\n  \
         - {{name: a, streams: {stream}}}\n  - {{name: b, streams: {stream}}}\n"
    );
    let plan = Plan::new(&fixture::inputs(suite(&text, "x").unwrap())).unwrap();
    let (mut history, mut count) = (Vec::new(), [0; 4]);
    while let Decision::Trial { case, block, .. } = plan.next(&history) {
        count[case as usize] += 1;
        // Whichever arm is the last of the sixth block completes it.
        let narrow = block == 5 && case % 2 == 0 && (count[0], count[2]) == (6, 6);
        history.push(if narrow { Outcome::Narrow } else { Outcome::Ok });
    }
    assert_eq!(count, [6, 8, 6, 8]);
}

#[test]
fn the_suite_for_numa_has_every_pair_of_nodes_and_one_cell_where_there_is_one_node() {
    let suite = suite(include_str!("../../../suites/numa-placement/suite.yaml"), "s.yaml").unwrap();
    let places = |topology: Topology| -> Vec<String> {
        let mut inputs = fixture::inputs(suite.clone());
        inputs.target.topology = topology;
        let cases = Plan::new(&inputs).unwrap().cases;
        let told = |case: &Case| {
            let place = &case.trial.streams[0].place;
            format!("{}: {} {:?}", case.label(), ranges(&place.cpus), place.memory)
        };
        assert!(cases.iter().all(|case| case.not_run.is_none()) && cases.len().is_multiple_of(4));
        cases[..cases.len() / 4].iter().map(told).collect()
    };
    let two = machine(&[(0, &[0, 1]), (1, &[2, 3]), (2, &[])], Some(1));
    assert_eq!(
        places(two),
        [
            "rand-read-4k, numa threads 0 memory 0: 0-1 Some(0)",
            "rand-read-4k, numa threads 0 memory 1: 0-1 Some(1)",
            "rand-read-4k, numa threads 0 memory 2: 0-1 Some(2)",
            "rand-read-4k, numa threads 1 memory 0: 2-3 Some(0)",
            "rand-read-4k, numa threads 1 memory 1: 2-3 Some(1)",
            "rand-read-4k, numa threads 1 memory 2: 2-3 Some(2)"
        ]
    );
    assert_eq!(places(machine(&[(0, &[0, 1])], None)), ["rand-read-4k: 0-1 Some(0)"]);
    assert_eq!(places(machine(&[], None)), ["rand-read-4k:  None"], "a machine that tells no nodes");
}

#[test]
fn a_plan_writes_the_range_as_often_as_asked_and_never_without_permission() {
    let parsed = suite(&text("fill: {size: 64MiB}\nprecondition: {passes: 3}\n"), "s.yaml").unwrap();
    let mut inputs: PlanInputs = fixture::inputs(parsed);
    let plan = Plan::new(&inputs).unwrap();
    assert_eq!((plan.fill, plan.fill_bytes()), (Some(Bytes::mib(64)), Bytes::mib(192)));
    let purged = suite(&text("fill: {size: 64MiB}\nprecondition: {purge: discard, passes: 0}\n"), "s.yaml").unwrap();
    let plan = Plan::new(&fixture::inputs(purged)).unwrap();
    assert_eq!((plan.fill, plan.fill_bytes()), (Some(Bytes::mib(64)), Bytes(0)), "it is purged and not written");
    inputs.target.writes = Err(say!("needs --confirm", "нужен --confirm"));
    let plan = Plan::new(&inputs).unwrap();
    assert_eq!((plan.fill, plan.precondition, plan.fill_bytes()), (None, None, Bytes(0)));
}
