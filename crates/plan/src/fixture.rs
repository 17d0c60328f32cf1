//! Plans for tests of this crate: a target that nothing else uses.

use crate::{Plan, PlanInputs, PlanTarget};
use stend_base::{Bytes, Result};
use stend_spec::suite::Suite;
use stend_spec::topology::{NumaNode, Topology};

/// A device of this size, with blocks of 512 B, on a machine with one NUMA node, that may be written.
pub(crate) fn device(size: Bytes) -> PlanTarget {
    PlanTarget {
        topology: Topology { nodes: vec![NumaNode { node: 0, cpus: vec![0, 1] }], device: Some(0) },
        ..PlanTarget::device(size)
    }
}

/// What a plan of this suite follows from, on a device of 1 GiB.
pub(crate) fn inputs(suite: Suite) -> PlanInputs {
    PlanInputs { suite, seed: 1, target: device(Bytes::gib(1)), time_budget: None, traces: Vec::new() }
}

/// The plan of a suite whose cases these are.
pub(crate) fn plan(cases: &str) -> Result<Plan> {
    Plan::new(&inputs(stend_spec::parse::suite(&format!("suite: x\ncases:\n{cases}"), "suite.yaml")?))
}
