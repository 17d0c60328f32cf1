//! How long the peer of a mirror is waited for, and how far its synchronisation is. Must not wait itself.

use super::SYNC_BEGINS;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_record::mirrors::Mirror;

/// How long a peer may not answer: DRBD tries every ten seconds, so several times that.
const PEER_AWAY: Duration = Duration::from_secs(60);

/// A mirror that is waited for, as it was seen until now.
pub(super) struct Mirroring {
    /// Its peer answered last.
    connected: Instant,
    /// Something was copied last, or could not be because the peer did not answer.
    copied: Instant,
}

impl Mirroring {
    pub(super) fn since(now: Instant) -> Mirroring {
        Mirroring { connected: now, copied: now }
    }

    /// What is lacking still, in English: until it is connected, or synchronised, too. `mirror`: how it is now, if it is there.
    ///
    /// Errors: `Preflight` where it cannot come to that.
    pub(super) fn left(
        &mut self,
        now: Instant,
        mirror: Option<&Mirror>,
        peer: &str,
        synchronised: bool,
    ) -> Result<Option<String>> {
        let mirror = mirror.ok_or_else(|| broken(say!("it is gone", "его больше нет")))?;
        if mirror.stands_alone() {
            return Err(alone(mirror.minor));
        }
        if !mirror.is_connected() {
            self.copied = now;
            return match now - self.connected {
                away if away >= PEER_AWAY => Err(no_peer(peer)),
                _ => Ok(Some(format!("drbd{}: the peer {peer} does not answer yet", mirror.minor))),
            };
        }
        self.connected = now;
        if !synchronised || mirror.is_whole() {
            return Ok(None);
        }
        if mirror.action() == "resync" {
            self.copied = now;
        }
        match now - self.copied {
            idle if idle >= SYNC_BEGINS => Err(stands_still(mirror)),
            _ => Ok(Some(progress(mirror))),
        }
    }
}

/// How far a mirror is, in English: `resync of drbd5: 12 %, 81 s left`.
fn progress(mirror: &Mirror) -> String {
    let minor = mirror.minor;
    let Some(work) = mirror.work.filter(|work| work.all > 0) else {
        return format!("resync of drbd{minor} begins");
    };
    let percent = work.done.saturating_mul(100) / work.all;
    let left = work.ends_in.map(|seconds| format!(", {seconds} s left")).unwrap_or_default();
    format!("resync of drbd{minor}: {percent} %{left}")
}

fn broken(why: Say) -> Box<Error> {
    let Say { en, ru } = why;
    Error::preflight(say!("the mirror is not in step: {en}", "копии зеркала не сошлись: {ru}"))
}

fn no_peer(peer: &str) -> Box<Error> {
    let seconds = PEER_AWAY.as_secs();
    broken(say!("its peer at {peer} does not answer for {seconds} s", "вторая машина ({peer}) не отвечает {seconds} с"))
        .hint(say!(
            "look there with `stend stand status`; a firewall may block this port",
            "посмотрите там `stend stand status`; этот порт может закрывать межсетевой экран"
        ))
}

/// One of both hosts has no copy any more, or people stopped the resync.
fn stands_still(mirror: &Mirror) -> Box<Error> {
    let (seconds, shown) = (SYNC_BEGINS.as_secs(), mirror.shown());
    broken(say!("nothing is copied for {seconds} s: {shown}", "{seconds} с ничего не копируется: {shown}")).hint(say!(
        "a host with `Diskless` has lost its device: look at both with `dmesg` and `stend stand status`",
        "машина с `Diskless` потеряла своё устройство: посмотрите на обеих `dmesg` и `stend stand status`"
    ))
}

/// Nothing is discarded unasked: which copy counts is for people to say.
pub(super) fn alone(minor: u32) -> Box<Error> {
    let name = format!("/dev/drbd{minor}");
    broken(say!(
        "{name} stands alone: it was disconnected, or both copies have been written apart (split brain)",
        "{name} сам по себе: его отключили, или обе копии менялись порознь (split brain)"
    ))
    .hint(say!(
        "Stend discards neither copy. `dmesg` says which of the two it is. Take the stand down and put it up anew, or choose the copy to lose: on its host `drbdadm -c FILE connect --discard-my-data NAME`, on the other one `drbdadm -c FILE connect NAME`; FILE is in `stend stand plan`",
        "Stend не отбрасывает ни одну из копий. Что из двух произошло, скажет `dmesg`. Уберите стенд и поднимите заново или выберите копию, которую не жалко: на её машине `drbdadm -c ФАЙЛ connect --discard-my-data ИМЯ`, на другой `drbdadm -c ФАЙЛ connect ИМЯ`; ФАЙЛ есть в `stend stand plan`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_record::mirrors::mirrors;

    fn of(text: &str) -> Mirror {
        mirrors(text, |_| true).remove(0)
    }

    #[test]
    fn a_peer_is_waited_for_a_while_and_a_resync_as_long_as_it_takes() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let waits = of("5: cs:WFConnection ro:Secondary/Unknown ds:Inconsistent/DUnknown C r----s");
        let mut seen = Mirroring::since(begin);
        let told = seen.left(at(59), Some(&waits), "10.0.0.2:11000", false).unwrap();
        assert_eq!(told.as_deref(), Some("drbd5: the peer 10.0.0.2:11000 does not answer yet"));
        let error = seen.left(at(60), Some(&waits), "10.0.0.2:11000", false).unwrap_err();
        assert!(error.message.en.contains("its peer at 10.0.0.2:11000 does not answer for 60 s"), "{error}");
        let syncs = of("5: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C r-----\n\
            \t[>....] sync'ed: 12.5% (61420/65496)K\n\tfinish: 0:01:21 speed: 1 K/sec\n");
        assert_eq!(seen.left(at(61), Some(&syncs), "p", false).unwrap(), None, "it is connected");
        let told = seen.left(at(9999), Some(&syncs), "p", true).unwrap();
        assert_eq!(told.as_deref(), Some("resync of drbd5: 6 %, 81 s left"));
        assert!(seen.left(at(10_050), Some(&waits), "p", true).unwrap().is_some(), "the peer may be away for a while");
        let whole = of("5: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----");
        assert_eq!(seen.left(at(10_051), Some(&whole), "p", true).unwrap(), None);
    }

    #[test]
    fn a_peer_that_loses_its_device_ends_the_wait() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut seen = Mirroring::since(begin);
        let syncs = of("5: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C r-----");
        let lost = of("5: cs:Connected ro:Primary/Secondary ds:UpToDate/Diskless C r-----");
        assert_eq!(seen.left(at(9), Some(&lost), "p", true).unwrap().as_deref(), Some("resync of drbd5 begins"));
        assert!(seen.left(at(500), Some(&syncs), "p", true).unwrap().is_some(), "it may take long");
        assert!(seen.left(at(509), Some(&lost), "p", true).unwrap().is_some());
        let error = seen.left(at(510), Some(&lost), "p", true).unwrap_err();
        assert!(error.message.en.contains("nothing is copied for 10 s: Primary/Secondary, Connected"), "{error}");
        assert_eq!(seen.left(at(511), Some(&lost), "p", false).unwrap(), None, "only the peer is waited for");
    }

    #[test]
    fn a_split_brain_ends_the_wait_and_nothing_is_discarded() {
        let alone = of("5: cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown   r-----");
        let error = Mirroring::since(Instant::now()).left(Instant::now(), Some(&alone), "p", true).unwrap_err();
        let hint = error.hint.unwrap().en;
        assert!(error.message.en.contains("split brain") && hint.contains("discards neither copy"), "{hint}");
        assert!(Mirroring::since(Instant::now()).left(Instant::now(), None, "p", true).is_err(), "it is gone");
    }
}
