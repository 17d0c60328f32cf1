//! What putting a stand up waits for: first synchronisations, and the start of clusters. Tells how far each is.

mod mirror;

use super::kernel_state::{KernelState, status};
use super::layers::superblocks;
use crate::arrays::{Redundancy, redundancy};
use crate::change::{Journal, Wait, Watch, perform, run};
use crate::roots::Roots;
use crate::{clusters, pools};
use mirror::Mirroring;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_record::EventKind;

/// How often a synchronisation is looked at, and told of.
const SYNC_TICK: Duration = Duration::from_millis(500);
const SYNC_TELLS: Duration = Duration::from_secs(5);

/// How long an array may do nothing about what it lacks: the kernel begins with it on a thread of its own. By eye, far above what a busy
/// machine takes.
const SYNC_BEGINS: Duration = Duration::from_secs(10);

/// How long a cluster that starts may answer nothing, or lack a program of an OSD. One question takes ten seconds where there is no answer.
const CLUSTER_AWAY: Duration = Duration::from_secs(60);
/// How long it may be as far as it is: several times what a group needs on a slow machine to find its OSDs, by eye.
const CLUSTER_STANDS: Duration = Duration::from_secs(300);

/// Waits for a first synchronisation and tells how far it is.
pub(super) fn wait_for(roots: &Roots, journal: &mut Journal, wait: &Wait, watch: &mut Watch) -> Result<()> {
    let mut told: Option<Instant> = None;
    let mut starting = Starting::since(Instant::now());
    let mut syncing = Syncing::since(Instant::now());
    let mut mirroring = Mirroring::since(Instant::now());
    loop {
        let now = match wait {
            Wait::Array(uuid) => syncing.left(roots, journal, uuid, watch)?,
            Wait::Osds(settings) | Wait::Cluster(settings) => starting.left(roots, settings, wait)?,
            Wait::Peer(of, peer) | Wait::Mirror(of, peer) => {
                let mirror = KernelState::new(roots, journal).mirror(of);
                mirroring.left(Instant::now(), mirror.as_ref(), peer, matches!(wait, Wait::Mirror(..)))?
            }
            wait => left(roots, journal, wait)?,
        };
        let Some(now) = now else { return Ok(()) };
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
            if !pools::is_imported(roots, name) {
                return Err(broken(say!("it is gone", "он исчез")));
            }
            Ok(match pools::health(roots, name) {
                Some(health) => health.resilver.map(|percent| format!("resilver of {name}: {percent} %")),
                None => Some(format!("zpool status of {name} does not answer")),
            })
        }
        // Their own ways to wait are above.
        Wait::Array(_) | Wait::Osds(_) | Wait::Cluster(_) | Wait::Peer(..) | Wait::Mirror(..) => Ok(None),
    }
}

/// An array that synchronises, as it was seen until now.
struct Syncing {
    /// Something was done about what it lacks last.
    active: Instant,
}

impl Syncing {
    fn since(now: Instant) -> Syncing {
        Syncing { active: now }
    }

    fn left(&mut self, roots: &Roots, journal: &mut Journal, uuid: &str, watch: &mut Watch) -> Result<Option<String>> {
        let kernel = KernelState::new(roots, journal);
        let array = kernel.array(uuid).ok_or_else(|| broken(say!("it is gone", "он исчез")))?;
        let (name, path) = (array.name.clone(), kernel.devices().path(array).display().to_string());
        let redundancy = redundancy(array);
        drop(kernel);
        if redundancy == Redundancy::AutoReadOnly {
            // It synchronises as if something had been written.
            perform(roots, &run("mdadm --readwrite", &[&path]), journal, watch)?;
        }
        self.judge(Instant::now(), &name, redundancy).map_err(broken)
    }

    /// What is lacking still.
    fn judge(&mut self, now: Instant, name: &str, redundancy: Redundancy) -> std::result::Result<Option<String>, Say> {
        if matches!(redundancy, Redundancy::Syncs(..) | Redundancy::AutoReadOnly) {
            self.active = now;
        }
        let is_given_up = now - self.active >= SYNC_BEGINS;
        match redundancy {
            Redundancy::Syncs(action, done, all @ 1..) => {
                Ok(Some(format!("{action} of {name}: {} %", done.saturating_mul(100) / all)))
            }
            Redundancy::Lacks(_) if is_given_up => Err(say!("members are missing", "не хватает накопителей")),
            // What is frozen does not go on by itself.
            Redundancy::Pending if is_given_up => Ok(None),
            Redundancy::Syncs(action, ..) => Ok(Some(format!("{action} of {name} begins"))),
            Redundancy::AutoReadOnly | Redundancy::Pending | Redundancy::Lacks(_) => {
                Ok(Some(format!("synchronisation of {name} begins")))
            }
            Redundancy::Whole => Ok(None),
        }
    }
}

/// A cluster that starts, as it was seen until now.
struct Starting {
    /// Its monitor answered last.
    answered: Instant,
    /// Programs of all its OSDs were there last.
    whole: Instant,
    /// What it lacked, and since when.
    lacked: (String, Instant),
}

impl Starting {
    fn since(now: Instant) -> Starting {
        Starting { answered: now, whole: now, lacked: (String::new(), now) }
    }

    fn left(&mut self, roots: &Roots, settings: &str, wait: &Wait) -> Result<Option<String>> {
        let health = clusters::health(settings);
        let lacks = health.as_ref().map(|health| match wait {
            Wait::Osds(_) => health.lacks_osds(),
            _ => health.lacks(),
        });
        let ended = health.and_then(|health| (0..health.osds()).find(|number| !runs(roots, settings, *number)));
        let place = settings.rsplit_once('/').map_or("", |(place, _)| place);
        self.judge(Instant::now(), lacks, ended).map_err(|why| {
            let Say { en, ru } = why;
            Error::preflight(say!("the cluster does not start: {en}", "кластер не запускается: {ru}"))
                .hint(say!("its logs are in `{place}`", "его журналы лежат в `{place}`"))
        })
    }

    /// What is lacking still. `lacks`: what it says now, if it answers; `ended`: number of an OSD whose program is not there.
    fn judge(
        &mut self,
        now: Instant,
        lacks: Option<Option<String>>,
        ended: Option<u64>,
    ) -> std::result::Result<Option<String>, Say> {
        let Some(lacks) = lacks else {
            return match now - self.answered {
                away if away >= CLUSTER_AWAY => Err(say!("its monitor does not answer", "монитор не отвечает")),
                _ => Ok(Some("the monitor does not answer yet".to_string())),
            };
        };
        self.answered = now;
        let Some(lacks) = lacks else { return Ok(None) };
        match ended {
            None => self.whole = now,
            Some(number) if now - self.whole >= CLUSTER_AWAY => {
                return Err(say!("the program of osd.{number} has ended", "программа osd.{number} завершилась"));
            }
            Some(_) => {}
        }
        if self.lacked.0 != lacks {
            self.lacked = (lacks.clone(), now);
        }
        if now - self.lacked.1 >= CLUSTER_STANDS {
            let minutes = CLUSTER_STANDS.as_secs() / 60;
            return Err(say!("{lacks} for {minutes} min", "уже {minutes} мин: {lacks}"));
        }
        Ok(Some(lacks))
    }
}

/// Whether the program of an OSD is there.
fn runs(roots: &Roots, settings: &str, number: u64) -> bool {
    let words = ["--conf", settings, "--id", &number.to_string()].map(String::from);
    !crate::exports::started_with(roots, "ceph-osd", &words).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_that_does_nothing_about_what_it_lacks_is_given_some_seconds() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut seen = Syncing::since(begin);
        let begins = Some("synchronisation of md0 begins".to_string());
        assert_eq!(seen.judge(at(1), "md0", Redundancy::Lacks(1)).unwrap(), begins);
        assert_eq!(seen.judge(at(2), "md0", Redundancy::AutoReadOnly).unwrap(), begins, "it is not synchronised");
        assert_eq!(seen.judge(at(11), "md0", Redundancy::Lacks(1)).unwrap(), begins);
        let recovers = Redundancy::Syncs("recover".into(), 1, 4);
        assert_eq!(seen.judge(at(20), "md0", recovers).unwrap().as_deref(), Some("recover of md0: 25 %"));
        assert_eq!(seen.judge(at(21), "md0", Redundancy::Pending).unwrap(), begins);
        assert!(seen.judge(at(30), "md0", Redundancy::Lacks(1)).unwrap_err().en.contains("members are missing"));
        assert_eq!(seen.judge(at(31), "md0", Redundancy::Whole).unwrap(), None);
    }

    #[test]
    fn a_cluster_that_starts_may_miss_answers_but_not_for_ever() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let lacks = |what: &str| Some(Some(what.to_string()));
        let mut seen = Starting::since(begin);
        assert_eq!(seen.judge(at(10), lacks("OSDs up: 4 of 5"), None).unwrap().as_deref(), Some("OSDs up: 4 of 5"));
        assert!(seen.judge(at(30), None, None).unwrap().is_some(), "a busy machine misses an answer");
        assert!(seen.judge(at(69), None, None).unwrap().is_some());
        assert!(seen.judge(at(70), None, None).unwrap_err().en.contains("monitor does not answer"));
        assert_eq!(seen.judge(at(71), Some(None), Some(3)).unwrap(), None, "what is whole is used");
    }

    #[test]
    fn an_osd_that_died_and_a_cluster_that_stands_still_end_the_wait() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let lacks = |what: &str| Some(Some(what.to_string()));
        let mut seen = Starting::since(begin);
        seen.judge(at(5), lacks("OSDs up: 4 of 5"), None).unwrap();
        seen.judge(at(40), lacks("OSDs up: 4 of 5"), Some(2)).unwrap();
        assert_eq!(
            seen.judge(at(65), lacks("OSDs up: 4 of 5"), Some(2)).unwrap_err().en,
            "the program of osd.2 has ended"
        );
        let mut seen = Starting::since(begin);
        for seconds in (0..1000).step_by(200) {
            seen.judge(at(seconds), lacks(&format!("placement groups clean: {seconds} of 999")), None).unwrap();
        }
        let clean = "placement groups clean: 800 of 999";
        seen.judge(at(1000), lacks(clean), None).unwrap();
        let told = seen.judge(at(1100), lacks(clean), None).unwrap_err();
        assert_eq!(told.en, "placement groups clean: 800 of 999 for 5 min");
    }
}
