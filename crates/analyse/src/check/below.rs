//! What lies below the targets, from where it is seen: of a stand of two hosts the drives are below the storage host. Must not judge.

use super::stretch::{Stretch, stretches_in};
use crate::phrase::{both, pick};
use crate::trials::CaseTrials;
use stend_base::Say;
use stend_record::targets::drives;
use stend_record::{Device, RunRecord, Sample, TargetFacts};

/// Devices down to the drives, and the counters that were read of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Below<'a> {
    pub targets: &'a [TargetFacts],
    samples: &'a [Sample],
    /// The storage host, where they are there.
    host: Option<&'a str>,
}

impl<'a> Below<'a> {
    /// At the storage host if that was watched, else at the host that is measured.
    pub fn of(run: &'a RunRecord) -> Below<'a> {
        match &run.storage {
            Some(storage) => Below {
                targets: &storage.facts.targets,
                samples: &storage.samples,
                host: Some(storage.facts.name.as_str()),
            },
            None => Below { targets: &run.targets, samples: &run.samples, host: None },
        }
    }

    /// The drives; none if they are not visible.
    pub fn drives(&self) -> Vec<&'a Device> {
        drives(self.targets)
    }

    /// Stretches of load between samples of these counters, as [`stretches`](super::stretch::stretches).
    pub fn stretches(&self, case: &CaseTrials<'a>) -> Vec<Stretch<'a>> {
        stretches_in(self.samples, case)
    }

    /// Names of drives, and of the host if it is not the one that is measured.
    pub fn names(&self, drives: &[&Device]) -> Say {
        let names = drives.iter().map(|d| d.name.as_str()).collect::<Vec<_>>().join(", ");
        match self.host {
            Some(host) => both(|l| format!("{names} {} {host}", pick(l, "of", "машины"))),
            None => Say::same(names),
        }
    }

    /// Whether what is lowest here has drives behind a network, which nobody watched.
    pub fn ends_at_a_network(drives: &[&Device]) -> bool {
        drives.iter().any(|drive| matches!(drive.transport.as_deref(), Some("tcp" | "rdma" | "iscsi" | "nbd")))
    }
}
