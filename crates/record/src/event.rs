//! What happened during a run, beside its trials. Data only, worded by `analyse` and the binary.

use crate::calibration::Calibration;
use crate::crash::Aftermath;
use crate::facts::{HostFacts, TargetFacts};
use crate::fault::{Back, FaultMoment};
use crate::hosts::HostId;
use crate::inventory::Health;
use crate::phase::Phase;
use crate::source::{SourceAnswer, SourceInfo};
use serde::{Deserialize, Serialize};
use stend_base::{Nanos, Say};

/// Something that happened at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// CLOCK_MONOTONIC ns of the host that saw it.
    pub at: Nanos,
    /// Where.
    pub host: HostId,
    /// What.
    pub kind: EventKind,
}

impl Event {
    /// One of the host that is measured, or of the run as a whole.
    pub fn new(at: Nanos, kind: EventKind) -> Event {
        Event { at, host: HostId::LOAD, kind }
    }

    /// Moves its times by `by_ns` on the run's axis.
    pub fn shift(&mut self, by_ns: i64) {
        self.at = self.at.shifted(by_ns);
        if let EventKind::Calibrated(calibration) = &mut self.kind
            && let Ok(outcome) = &mut calibration.found
        {
            outcome.shift(by_ns);
        }
    }
}

/// Kinds of events; data only, worded elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A phase of the run began.
    Phase(Phase),
    /// The user or a signal asked to stop.
    StopRequested,
    /// A run that had ended early goes on.
    Resumed {
        /// The host as it is now; it may have another kernel.
        host: Box<HostFacts>,
        /// Added to the coordinator's CLOCK_MONOTONIC from here on, ns: after a reboot that clock begins anew,
        /// and wall clock ties both sessions to one axis.
        shift_ns: i64,
        /// The kernel's random id of the coordinator's boot; empty: unknown.
        #[serde(default)]
        boot_id: String,
    },
    /// The host is another machine than the coordinator's, with a clock of its own. There are several where clocks drifted apart, and one more when all
    /// was measured.
    HostClock {
        /// What is added to its CLOCK_MONOTONIC in all that it tells from here on, ns: the coordinator's minus its own.
        shift_ns: i64,
        /// How far off that may be at most, either way, ns: half of the shortest way there and back.
        uncertainty_ns: u64,
    },
    /// An arm was switched to; the trials from here on belong to it.
    Arm {
        /// Index of the arm in the suite.
        arm: u32,
        /// What the host and the targets were then.
        facts: Box<ArmFacts>,
    },
    /// A session that goes on after a crash has looked at the target.
    Crash(Aftermath),
    /// A ceiling was measured.
    Calibrated(Box<Calibration>),
    /// The worker's stream ended without a goodbye.
    HostLost {
        /// What the coordinator saw.
        detail: String,
    },
    /// Intervals were merged because the stream to the coordinator was slow.
    IntervalsMerged {
        /// How many were folded into others.
        count: u64,
    },
    /// From here on a trial that goes on would be lost with the coordinator: its entries are kept in memory until it ends.
    NoSpool {
        /// What was tried, and the system's own words.
        why: String,
    },
    /// The run file could not be written any more.
    RunFileFull {
        /// The store's own words.
        detail: String,
    },
    /// A command was executed on the host.
    Command {
        /// Its words.
        argv: Vec<String>,
        /// Exit code, `None` if killed.
        exit: Option<i32>,
        /// Both outputs, cut to 64 KiB.
        output: String,
    },
    /// The host is not watched, or from here on not any more, until its next sample.
    Unwatched {
        /// Why.
        why: Say,
    },
    /// A step changed the machine, or undid a change.
    Step {
        /// What it did, e.g. `create /var/tmp/.stend-x/data`.
        action: String,
    },
    /// What drives say of themselves, of those where that changed.
    DriveHealth {
        /// Kernel names, and what was read.
        drives: Vec<(String, Health)>,
    },
    /// The kernel noted errors of a device in its log.
    KernelErrors {
        /// Kernel name of the device or its controller.
        device: String,
        /// How many lines since the event before.
        count: u64,
        /// The last of them.
        text: String,
    },
    /// Anything else worth keeping, in English.
    Note {
        /// The note.
        text: String,
    },
    /// An event of a case, which is done to the storage.
    Fault {
        /// Ordinal of the trial.
        trial: u32,
        /// Index in the events of its case.
        fault: u32,
        /// How far it is.
        moment: FaultMoment,
        /// What it is, or what undoes it.
        what: Say,
    },
    /// A state of the log of writes is rebuilt, from 1.
    Replaying {
        /// Which.
        state: u32,
        /// How many there are.
        states: u32,
    },
    /// A machine whose power a run had cut, and what is measured on it, are there again.
    Back(Back),
    /// Another run loaded drives of the targets during this one.
    Beside {
        /// Its id.
        run_id: String,
        /// Path of its run file.
        run_file: String,
        /// Process id of its worker.
        pid: u32,
        /// Names of the drives, as the kernel has them.
        drives: Vec<String>,
    },
    /// Block devices of a host that is recorded appeared or are gone.
    Devices {
        /// Kernel names of those that appeared.
        came: Vec<String>,
        /// Kernel names of those that are gone.
        went: Vec<String>,
        /// Those of them that people take away as a matter of course: removable media, USB, what is reached over a network.
        #[serde(default)]
        detachable: Vec<String>,
    },
    /// From here on this is asked for values beside the load. A record has it apart from its events.
    Source(Box<SourceInfo>),
    /// A source was asked at that time. A record has it apart from its events.
    SourceRead {
        /// Name of the source.
        source: String,
        /// How long it took, or was waited, ns.
        took_ns: u64,
        /// What came.
        answer: SourceAnswer,
    },
    /// From here on the wall clock of the host that is recorded is ahead of its CLOCK_MONOTONIC by another time: somebody set it, or the host
    /// slept.
    WallClock {
        /// Wall-clock time minus CLOCK_MONOTONIC, ns.
        ahead_ns: i64,
    },
    /// A problem of the host that is recorded opened, became worse, closed or came back. It is kept because samples grow coarser with age, and
    /// a short problem would be lost with them.
    Problem(Box<KeptProblem>),
}

/// A problem of the journal, as its recorder saw it. Words are those of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptProblem {
    /// Stable word of the rule.
    pub rule: String,
    /// What it concerns.
    pub object: String,
    /// The worst that it was: stable word of the severity.
    pub severity: String,
    /// What was seen.
    pub evidence: Say,
    /// When it opened, on the clock of the host.
    pub opened: Nanos,
    /// When it closed; `None`: it was open.
    pub closed: Option<Nanos>,
    /// How often it came, within an hour of the time before.
    pub times: u32,
}

/// Host and targets in one arm, as they were just after switching to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmFacts {
    /// The host.
    pub host: HostFacts,
    /// Every target.
    pub targets: Vec<TargetFacts>,
    /// (name, output) of every command that the suite observes with, in its order.
    pub observed: Vec<(String, String)>,
}
