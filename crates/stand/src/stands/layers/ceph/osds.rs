//! What events do to single OSDs of a cluster that is up: the actions, and what undoes them. Pure.

use super::{Cluster, Daemon};
use crate::change::{Action, Condition, run};
use crate::command::words;
use stend_spec::stand::{Ceph, CephPool};

/// A cluster as events see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventCluster {
    /// Where its file system is mounted.
    pub at: String,
    /// Its settings.
    pub settings: String,
    /// So many drives may lose their data at the same time.
    pub survives: u32,
    /// In the order of their numbers.
    pub osds: Vec<Osd>,
}

/// One of its OSDs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Osd {
    /// `osd.3`.
    pub name: String,
    /// Path of its drive.
    pub device: String,
    /// Kills it.
    pub kill: Action,
    /// Starts it again with what is on its drive.
    pub restart: Vec<(Condition, Action)>,
    /// Puts an empty one in its place, as if on a new drive.
    pub renew: Vec<(Condition, Action)>,
}

/// The cluster of a layer.
pub(crate) fn of(context: &super::StepContext, ceph: Ceph) -> EventCluster {
    let cluster = Cluster::of(context, ceph);
    let survives = match ceph.pool {
        CephPool::Replicated { size, .. } => size.saturating_sub(1),
        CephPool::Erasure { m, .. } => m,
    };
    let osds = context.paths().enumerate().map(|(index, device)| cluster.of_event(index, device)).collect();
    let at = context.names.mount(&context.layer.name);
    EventCluster { at, settings: cluster.settings, survives, osds }
}

impl Cluster<'_> {
    fn of_event(&self, index: usize, device: &str) -> Osd {
        let daemon = Daemon::osd(index);
        let always = |action: Action| (Condition::Always, action);
        // It may run: what was noted and not done is undone, too.
        let kill = self.end(daemon.program, &daemon.id);
        let start = self.osd_started(index, device).apply.into_iter().map(always);
        let restart = std::iter::once(always(kill.clone())).chain(start.clone()).collect();
        let renew = self.emptied(index, device).into_iter().chain(start).collect();
        Osd { name: daemon.name(), device: device.to_string(), kill, restart, renew }
    }

    /// The OSD is given up, its drive is erased, and gets an empty one with the same number.
    //= ceph 16.2, doc/rados/operations/add-or-rm-osds.rst, "Replacing an OSD": destroy, zap, prepare with the same id
    fn emptied(&self, index: usize, device: &str) -> Vec<(Condition, Action)> {
        let daemon = Daemon::osd(index);
        let (name, place, uuid) = (daemon.name(), self.at(&daemon.name()), self.uuid_of(index));
        let of = |line: String| crate::clusters::words(&self.settings, &line);
        // The monitor destroys only what it has heard to be down.
        let destroy = Action::LetGo(of(format!("osd destroy {index} --yes-i-really-mean-it")));
        // The rights that it had went with it, and lie in the same file still.
        let keyed = Action::Run([of(format!("auth add {name}")), vec!["-i".to_string(), self.at("keyring")]].concat());
        let always = |action: Action| (Condition::Always, action);
        let mark = Condition::Mark { device: device.to_string(), uuid };
        let mut all = vec![
            always(self.end(daemon.program, &daemon.id)),
            always(Action::Run(of(format!("osd down {index}")))),
            always(destroy),
            always(keyed),
            (Condition::Path(place.clone()), run("rm --recursive --", &[place.as_str()])),
            // The label alone: what is there besides is written over at once. These lines may be typed one behind the other after a crash, so
            // none of them ends with a comment.
            (mark, Action::LetGo(words("wipefs --all --quiet", &[device]))),
        ];
        all.extend(self.osd(index, device).apply.into_iter().map(always));
        all
    }
}
