//! OSDs of a Ceph that the stand of the run made: killed and started again, or replaced by empty ones. Reads the machine; must not
//! change it.

use super::lower_devices::{LowerDevices, too_few};
use super::missing_redundancy::MissingRedundancy;
use crate::change::Change;
use crate::clusters::{Health, health};
use crate::stands::{EventCluster, Osd};
use stend_base::{Result, Say, say};
use stend_spec::fault::{Act, Fault, Which};

type Found<T> = std::result::Result<T, Say>;

/// The OSD is killed, and an empty one comes in its place, as if on a new drive.
pub(super) fn fail(lower: &LowerDevices, which: Which, block: u32) -> Found<Change> {
    let osd = osd(lower, which, block, &health)?;
    Ok(changed(osd, &osd.renew))
}

/// The OSD is killed, and started again with what is on its drive.
pub(super) fn kill(lower: &LowerDevices, which: Which, block: u32) -> Found<Change> {
    let osd = osd(lower, which, block, &health)?;
    Ok(changed(osd, &osd.restart))
}

fn changed(osd: &Osd, undo: &[(crate::change::Condition, crate::change::Action)]) -> Change {
    Change { undo: undo.to_vec(), ..Change::unseen(Say::same(&osd.name), vec![osd.kill.clone()], []) }
}

fn osd<'a>(
    lower: &'a LowerDevices,
    which: Which,
    block: u32,
    health: &dyn Fn(&str) -> Option<Health>,
) -> Found<&'a Osd> {
    let cluster = lower.clusters().first().ok_or_else(|| {
        say!(
            "there is no Ceph below the target that the stand of this run made",
            "под объектом нет Ceph, созданного стендом этого прогона"
        )
    })?;
    let osds = &cluster.osds;
    let osd = osds.get(which.index(block, osds.len())).ok_or_else(|| too_few(osds.len()))?;
    match health(&cluster.settings).map(|health| health.lacks()) {
        Some(None) => Ok(osd),
        Some(Some(lacking)) => {
            Err(say!("the cluster is not whole already: {lacking}", "кластер уже не цел: {lacking}"))
        }
        None => Err(no_answer()),
    }
}

fn no_answer() -> Say {
    say!("the monitor of the cluster does not answer", "монитор кластера не отвечает")
}

/// Refuses a case that takes the data of more drives than the pool has to spare.
pub(super) fn must_survive(lower: &LowerDevices, faults: &[Fault]) -> Result<()> {
    let Some(cluster) = lower.clusters().first() else { return Ok(()) };
    match too_many(cluster, faults) {
        Some((act, why)) => Err(super::refused(act, why)),
        None => Ok(()),
    }
}

fn too_many<'a>(cluster: &EventCluster, faults: &'a [Fault]) -> Option<(&'a Act, Say)> {
    let lost = faults.iter().filter(|fault| matches!(fault.act, Act::DriveFail(_)));
    let one_more = lost.map(|fault| &fault.act).nth(cluster.survives as usize)?;
    let most = cluster.survives;
    let why = say!(
        "the pool survives the loss of {most} drives at the same time, and the case takes more",
        "пул переживает одновременную потерю накопителей: {most}, а случай отнимает больше"
    );
    Some((one_more, why))
}

/// What a cluster with these settings lacks. Asks its monitor.
pub(super) fn missing(settings: &str) -> Option<MissingRedundancy> {
    lacking(health(settings).as_ref())
}

fn lacking(health: Option<&Health>) -> Option<MissingRedundancy> {
    let Some(health) = health else {
        return Some(MissingRedundancy { text: no_answer().en, is_mended: false });
    };
    let text = health.lacks()?;
    let text = match health.recovered {
        Some(percent) => format!("{text}, recovered {percent} %"),
        None => text,
    };
    // With all OSDs at work it recovers by itself.
    Some(MissingRedundancy { text, is_mended: health.missing() == 0 })
}

#[cfg(test)]
mod tests;
