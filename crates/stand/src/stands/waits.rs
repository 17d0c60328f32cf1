//! What putting a stand up waits for: first synchronisations, and the start of clusters. Tells how far each is.

use super::kernel_state::{KernelState, status};
use super::layers::superblocks;
use crate::arrays::{degraded, syncing};
use crate::change::{Journal, Wait, Watch};
use crate::clusters;
use crate::roots::Roots;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_record::EventKind;

/// How often a synchronisation is looked at, and told of.
const SYNC_TICK: Duration = Duration::from_millis(500);
const SYNC_TELLS: Duration = Duration::from_secs(5);

/// Waits for a first synchronisation and tells how far it is.
pub(super) fn wait_for(roots: &Roots, journal: &Journal, wait: &Wait, watch: &mut Watch) -> Result<()> {
    let mut told: Option<Instant> = None;
    loop {
        let Some(now) = left(roots, journal, wait)? else { return Ok(()) };
        if (watch.stopped)() {
            return Err(Error::interrupted(say!(
                "the synchronisation was not waited for",
                "синхронизации не дождались"
            )));
        }
        if told.is_none_or(|at| at.elapsed() >= SYNC_TELLS) {
            told = Some(Instant::now());
            (watch.log)(EventKind::Step { action: now });
        }
        std::thread::sleep(SYNC_TICK);
    }
}

/// A first synchronisation that cannot come to its end.
fn broken(why: Say) -> Box<Error> {
    let Say { en, ru } = why;
    Error::preflight(say!(
        "the first synchronisation did not finish: {en}",
        "первая синхронизация не завершилась: {ru}"
    ))
}

/// How far a synchronisation is, in English; `None`: it is done.
fn left(roots: &Roots, journal: &Journal, wait: &Wait) -> Result<Option<String>> {
    match wait {
        Wait::Array(uuid) => {
            let kernel = KernelState::new(roots, journal);
            let array = kernel.array(uuid).ok_or_else(|| broken(say!("it is gone", "он исчез")))?;
            if syncing(array).is_none() && degraded(array) > 0 {
                return Err(broken(say!("members are missing", "не хватает накопителей")));
            }
            let far = |(action, done, all): (String, u64, u64)| match all {
                0 => format!("{action} of {} begins", array.name),
                all => format!("{action} of {}: {} %", array.name, done.saturating_mul(100) / all),
            };
            Ok(syncing(array).map(far))
        }
        Wait::Volume(group) => {
            // Checksums are computed for each part of the volume, besides.
            let percent =
                KernelState::new(roots, journal).synchronised(group).map_err(|told| broken(Say::same(told)))?;
            Ok((percent < 100.0).then(|| format!("synchronisation of {group}: {percent} %")))
        }
        Wait::Checksums(name) => {
            let words = status(name).ok_or_else(|| broken(say!("it is gone", "он исчез")))?;
            Ok(superblocks::computed(&words).map(|percent| format!("checksums of {name}: {percent} %")))
        }
        Wait::Pool(name) => {
            let kernel = KernelState::new(roots, journal);
            let health = kernel.health(name).ok_or_else(|| broken(say!("it is gone", "он исчез")))?;
            Ok(health.resilver.map(|percent| format!("resilver of {name}: {percent} %")))
        }
        Wait::Osds(settings) => Ok(cluster(settings)?.lacks_osds()),
        Wait::Cluster(settings) => Ok(cluster(settings)?.lacks()),
    }
}

fn cluster(settings: &str) -> Result<clusters::Health> {
    clusters::health(settings).ok_or_else(|| {
        let place = settings.rsplit_once('/').map_or("", |(place, _)| place);
        Error::preflight(say!("the monitor of the cluster does not answer", "монитор кластера не отвечает"))
            .hint(say!("its log is in `{place}`", "его журнал лежит в `{place}`"))
    })
}
