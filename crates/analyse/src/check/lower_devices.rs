//! What lies below the targets, from where it is seen: of a stand of two hosts the drives are below the storage host. Must not judge.

use super::readings::readings_in;
use super::stretch::{Stretch, stretches_in};
use super::worst_of;
use crate::findings::{CheckResult, CheckStatus};
use crate::trials::CaseTrials;
use stend_base::{Say, say};
use stend_record::targets::drives;
use stend_record::{Device, EventKind, HostId, HostRecord, Parts, Role, RunRecord, Sample, TargetFacts};

/// Devices down to the drives, and the counters that were read of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct LowerDevices<'a> {
    pub targets: &'a [TargetFacts],
    samples: &'a [Sample],
    /// The storage host, where they are there.
    host: Option<&'a str>,
}

impl<'a> LowerDevices<'a> {
    /// At the storage host if the run knows of one, else at the host that is measured.
    pub fn of(run: &'a RunRecord) -> LowerDevices<'a> {
        LowerDevices::there(run).unwrap_or_else(|| LowerDevices::here(run))
    }

    /// At the host that is measured.
    fn here(run: &'a RunRecord) -> LowerDevices<'a> {
        let load = run.load();
        LowerDevices { targets: &load.targets, samples: &load.samples, host: None }
    }

    /// At the storage host. Nothing is known of one that could not be watched, and what the client sees does not stand for it.
    fn there(run: &'a RunRecord) -> Option<LowerDevices<'a>> {
        if let Some(storage) = run.storage() {
            let host = Some(storage.name.as_str());
            return Some(LowerDevices { targets: &storage.targets, samples: &storage.samples, host });
        }
        let storage = |id: HostId| run.hosts().get(id.index()).filter(|host| host.role == Role::Storage);
        let unwatched = run.events.iter().filter(|event| matches!(event.kind, EventKind::Unwatched { .. }));
        let host = unwatched.filter_map(|event| storage(event.host)).next()?;
        Some(LowerDevices { targets: &[], samples: &[], host: Some(&host.name) })
    }

    /// At the hosts that the user had watched.
    fn observed(run: &'a RunRecord) -> impl Iterator<Item = LowerDevices<'a>> {
        let below = |host: &'a HostRecord| {
            let name = Some(host.name.as_str());
            LowerDevices { targets: &host.targets, samples: &host.samples, host: name }
        };
        run.observed().map(move |(_, host)| below(host))
    }

    /// Judges what is below at each host, where there are several; the worst counts.
    pub fn at_each(run: &'a RunRecord, judge: impl Fn(&LowerDevices<'a>) -> CheckResult) -> CheckResult {
        let storage = LowerDevices::there(run).into_iter().map(|below| (judge(&below), below.host));
        let observed = LowerDevices::observed(run).map(|below| (judge(&below), below.host));
        // Missing data of an additional watched host do not reduce what is known here; a caveat reports them.
        let observed = observed.filter(|(found, _)| found.status != CheckStatus::NotMeasurable);
        let here = judge(&LowerDevices::here(run));
        storage
            .chain(observed)
            .fold(here, |here, (there, host)| LowerDevices::worse(here, there, host.unwrap_or_default()))
    }

    /// Combines what was found here with what was found at the host of this name.
    fn worse(here: CheckResult, mut there: CheckResult, name: &str) -> CheckResult {
        let Say { en, ru } = &there.measured;
        there.measured = say!("{name}: {en}", "{name}: {ru}");
        match (worst_of(here.status), worst_of(there.status)) {
            (own, other) if own > other => here,
            (own, other) if own < other => there,
            // Both say something, or neither does.
            _ if here.status == CheckStatus::Pass => {
                let measured = Say::both(|l| format!("{}; {}", here.measured.get(l), there.measured.get(l)));
                CheckResult { measured, ..here }
            }
            _ => here,
        }
    }

    /// What the parts of the host said around the load of each trial, as [`readings`](super::readings::readings).
    pub fn readings(&self, case: &CaseTrials<'_>) -> Vec<Vec<&'a Parts>> {
        readings_in(self.samples, case)
    }

    /// The first of these that there is.
    pub fn first_reading(&self) -> Option<&'a Parts> {
        self.samples.iter().find_map(|sample| sample.parts.as_deref())
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
            Some(host) => Say::both(|l| format!("{names} {} {host}", l.pick("of", "машины"))),
            None => Say::same(names),
        }
    }

    /// Whether what is lowest here has drives behind a network, which nobody watched.
    pub fn ends_at_a_network(drives: &[&Device]) -> bool {
        drives.iter().any(|drive| matches!(drive.transport.as_deref(), Some("tcp" | "rdma" | "iscsi" | "nbd")))
    }
}
