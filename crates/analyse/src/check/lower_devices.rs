//! What lies below the targets, from where it is seen: of a stand of several hosts the drives are below the storage hosts. Must not judge.

use super::readings::readings_in;
use super::stretch::{Stretch, stretches_in};
use super::worst_of;
use crate::findings::{CheckResult, CheckStatus};
use crate::trials::CaseTrials;
use stend_base::{Say, say};
use stend_record::targets::drives;
use stend_record::{Device, EventKind, HostId, HostRecord, Parts, Role, RunRecord, Sample, TargetFacts};

/// Kind of a device of which two hosts keep a copy.
pub(super) const MIRROR: &str = "drbd";

/// Devices of one host down to the drives, and the counters that were read of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct LowerDevices<'a> {
    pub targets: &'a [TargetFacts],
    samples: &'a [Sample],
    /// The storage host, where they are there.
    host: Option<&'a str>,
    /// It may have taken in what another storage host hands out, which has the drives then.
    may_take_in: bool,
}

impl<'a> LowerDevices<'a> {
    /// At each storage host if the run knows of one, else at the host that is measured. One that keeps a copy of a mirror has drives of its
    /// own beside those of its peer.
    pub fn of(run: &'a RunRecord) -> Vec<LowerDevices<'a>> {
        let (mirrored, there) = (LowerDevices::mirrored(run), LowerDevices::there(run));
        let here = (mirrored || there.is_empty()).then(|| LowerDevices::here(run));
        here.into_iter().chain(there).collect()
    }

    /// Whether the host that is measured keeps a copy of a mirror below the target.
    pub fn mirrored(run: &RunRecord) -> bool {
        let mut devices = run.load().targets.iter().flat_map(|target| &target.devices);
        devices.any(|device| device.kind == MIRROR)
    }

    /// At the host that is measured.
    pub fn here(run: &'a RunRecord) -> LowerDevices<'a> {
        let load = run.load();
        LowerDevices { targets: &load.targets, samples: &load.samples, host: None, may_take_in: false }
    }

    /// At each storage host. Nothing is known of one that could not be watched, and what the client sees does not stand for it.
    fn there(run: &'a RunRecord) -> Vec<LowerDevices<'a>> {
        let storages: Vec<(HostId, &HostRecord)> =
            (0..).map(HostId).zip(run.hosts()).filter(|(_, host)| host.role == Role::Storage).collect();
        let may_take_in = storages.len() > 1;
        let unwatched = |id: HostId| {
            run.events.iter().any(|event| event.host == id && matches!(event.kind, EventKind::Unwatched { .. }))
        };
        let below = |(id, storage): &(HostId, &'a HostRecord)| {
            let host = Some(storage.name.as_str());
            match storage.facts.is_some() {
                true => Some(LowerDevices { targets: &storage.targets, samples: &storage.samples, host, may_take_in }),
                false => unwatched(*id).then_some(LowerDevices { targets: &[], samples: &[], host, may_take_in }),
            }
        };
        storages.iter().filter_map(below).collect()
    }

    /// At the hosts that the user had watched.
    fn observed(run: &'a RunRecord) -> impl Iterator<Item = LowerDevices<'a>> {
        let below = |host: &'a HostRecord| {
            let name = Some(host.name.as_str());
            LowerDevices { targets: &host.targets, samples: &host.samples, host: name, may_take_in: false }
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

    /// The drives; none if they are not visible. What comes to one of several storage hosts over a network is left out: it may be of another
    /// one, which counts it.
    pub fn drives(&self) -> Vec<&'a Device> {
        let all = drives(self.targets);
        match self.may_take_in {
            true => all.into_iter().filter(|drive| !is_over_network(drive)).collect(),
            false => all,
        }
    }

    /// The drives of all of these; `None` where those of one are not visible.
    pub fn drives_of(all: &[LowerDevices<'a>]) -> Option<Vec<&'a Device>> {
        let each: Vec<Vec<&Device>> = all.iter().map(LowerDevices::drives).collect();
        let visible = each.iter().all(|drives| !drives.is_empty());
        visible.then(|| each.into_iter().flatten().collect())
    }

    /// Names of those drives of all of these that are chosen, with their hosts.
    pub fn names_of(all: &[LowerDevices<'a>], chosen: impl Fn(&Device) -> bool) -> Say {
        let of = |at: &LowerDevices<'a>| {
            let drives: Vec<&Device> = at.drives().into_iter().filter(|drive| chosen(drive)).collect();
            (!drives.is_empty()).then(|| at.names(&drives))
        };
        let names: Vec<Say> = all.iter().filter_map(of).collect();
        Say::both(|l| names.iter().map(|name| name.get(l)).collect::<Vec<_>>().join("; "))
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
        drives.iter().any(|drive| is_over_network(drive))
    }
}

fn is_over_network(drive: &Device) -> bool {
    matches!(drive.transport.as_deref(), Some("tcp" | "rdma" | "iscsi" | "nbd"))
}
