//! One cell of the matrix of a suite, as it is measured.

use crate::fault::Fault;
use crate::steady::Steady;
use crate::workload::Trial;
use serde::{Deserialize, Serialize};
use stend_base::Say;

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Name in the suite.
    pub name: String,
    /// Values of the axes that vary in its suite case, e.g. `[("queue_depth", "32")]`.
    pub axes: Vec<(String, String)>,
    /// What the engine is asked to do; `seed` is set per trial.
    pub trial: Trial,
    /// Why it does not run.
    pub not_run: Option<Say>,
    /// Name of the arm that it is measured in; `None` if the suite has no arms.
    pub arm: Option<String>,
    /// Rounds of its load until its rate is steady, before it is measured.
    pub steady: Option<Steady>,
    /// What is done to the storage in each of its trials, in the order of time.
    pub faults: Vec<Fault>,
}

impl Case {
    /// Name with its axes, e.g. `rand-read, queue_depth 32`; with its arm in front, if there are any.
    pub fn label(&self) -> String {
        let label = self.label_in_arm();
        self.arm.as_ref().map_or(label.clone(), |arm| format!("{arm}: {label}"))
    }

    /// The label that the case has in every arm.
    pub fn label_in_arm(&self) -> String {
        self.axes.iter().fold(self.name.clone(), |label, (axis, value)| format!("{label}, {axis} {value}"))
    }
}

impl Case {
    /// The rounds before it is measured, if it is measured and has any.
    pub fn rounds(&self) -> Option<Steady> {
        self.steady.filter(|_| self.not_run.is_none())
    }
}
