//! How a stand is: which of its layers are there, and what they say of themselves. Reads only.

use super::journal;
use super::kernel_state::KernelState;
use super::product::Product;
use super::{LocalStand, drives, here, stand_of};
use crate::arrays::{degraded, syncing};
use crate::change::{Condition, MirrorDevice, Wait};
use crate::clusters;
use crate::roots::Roots;
use stend_base::{Error, Result, say};
use stend_record::{LayerStatus, StandStatus};

/// Names of the stands that are up, in whole or in part, sorted.
pub fn known_stands() -> Vec<String> {
    journal::known(&here())
}

/// How the stand of this name is.
///
/// Errors: `Usage` if there is none.
pub fn stand_status(name: &str) -> Result<StandStatus> {
    let roots = here();
    let journal = journal::look(&roots, name)?.ok_or_else(|| not_up(&roots, name))?;
    let stand = stand_of(&journal)?;
    let head = journal.stand().cloned().ok_or_else(super::no_head)?;
    let local = LocalStand { stand: &stand, nonce: head.nonce, drives: drives::paths(&roots, &head.drives)? };
    let kernel = KernelState::new(&roots, &journal);
    let layers = stand.layers_here().map(|layer| {
        let made = local.make(&kernel, layer);
        let array = made.products.iter().find_map(|product| match product {
            Product::Array { uuid, .. } => kernel.array(uuid),
            _ => None,
        });
        let far = |(action, done, all): (String, u64, u64)| {
            (action, (done.saturating_mul(100)).checked_div(all).unwrap_or(0))
        };
        let pool = made.steps.iter().find_map(|step| match &step.done {
            Condition::Pool(pool) if kernel.shows(&step.done) => kernel.health(&pool.name),
            _ => None,
        });
        let cluster = made.steps.iter().find_map(|step| match &step.wait {
            Some(Wait::Cluster(settings)) if kernel.shows(&step.done) => clusters::health(settings),
            _ => None,
        });
        let recovered = cluster.as_ref().and_then(|cluster| Some(("recovery".to_string(), cluster.recovered?)));
        let missing = || pool.as_ref().map(|pool| pool.missing).or(cluster.as_ref().map(clusters::Health::missing));
        let mirror = made.products.iter().find_map(|product| match product {
            Product::Mirror { minor, uuid } => kernel.mirror(&MirrorDevice { minor: *minor, uuid: uuid.clone() }),
            _ => None,
        });
        let missing = || missing().or(mirror.as_ref().map(|mirror| u64::from(mirror.lacks())));
        let mirrored = mirror.as_ref().and_then(|mirror| {
            let work = mirror.work.filter(|work| work.all > 0)?;
            Some((mirror.action().to_string(), work.done.saturating_mul(100) / work.all))
        });
        let resilver = pool.as_ref().and_then(|pool| Some(("resilver".to_string(), pool.resilver?)));
        LayerStatus {
            name: layer.name.clone(),
            kind: layer.kind.key().to_string(),
            done: made.steps.iter().filter(|step| kernel.shows(&step.done)).count() as u32,
            steps: made.steps.len() as u32,
            products: made.products.iter().filter_map(|product| kernel.find(product)).collect(),
            degraded: array.map(degraded).or_else(missing).unwrap_or(0),
            syncing: array.and_then(syncing).map(far).or(resilver).or(recovered).or(mirrored),
            health: cluster
                .as_ref()
                .map(clusters::Health::shown)
                .or(pool.map(|pool| pool.state))
                .or(mirror.map(|mirror| mirror.shown())),
        }
    });
    Ok(StandStatus {
        name: stand.name.clone(),
        file: head.file,
        owner: head.owner,
        layers: layers.collect(),
        targets: local.targets(&kernel),
    })
}

/// There is no such stand here.
pub(super) fn not_up(roots: &Roots, name: &str) -> Box<Error> {
    let known = journal::known(roots);
    let error = Error::usage(say!("there is no stand `{name}` on this host", "стенда `{name}` на этой машине нет"));
    match known.is_empty() {
        true => error.hint(say!("none is up here", "ни один стенд не поднят")),
        false => {
            let known = known.join("`, `");
            error.hint(say!("there are: `{known}`", "есть: `{known}`"))
        }
    }
}
