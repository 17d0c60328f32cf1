//! What the kernel tells of its mirrors of two hosts: `/proc/drbd` of DRBD 8.4. Pure.
//!
//! Source: drbd_proc.c, `drbd_seq_show` and `drbd_syncer_progress`, of drivers/block/drbd in Linux 6.12.

use crate::parts::ArrayState;

/// Where the kernel tells it, below the root of the system.
pub const PLACE: &str = "proc/drbd";
/// Copies of a mirror.
const COPIES: u32 = 2;
/// A copy with all that was written.
const UP_TO_DATE: &str = "UpToDate";
/// Most mirrors that are followed: as many as a recording follows block devices.
const COUNT_MAX: usize = 512;

/// A mirror as one of its hosts sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    /// Number of its device, which is called `drbd` and that.
    pub minor: u32,
    /// State of the connection: `Connected`, `WFConnection`, `StandAlone`, `SyncSource`, …
    pub connection: String,
    /// `Primary`, `Secondary` or `Unknown`: here and at the peer.
    pub roles: [String; 2],
    /// `UpToDate`, `Inconsistent`, `Outdated`, `DUnknown`, …: here and at the peer.
    pub disks: [String; 2],
    /// A resync or a comparison that goes on.
    pub work: Option<MirrorWork>,
}

/// How far a mirror is with what it does beside its I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirrorWork {
    /// KiB that are done.
    pub done: u64,
    /// KiB of all.
    pub all: u64,
    /// When it will be done by its rate until now, in seconds.
    pub ends_in: Option<u64>,
}

/// Number of a mirror by the kernel name of its device, such as `drbd5`; `None` of any other device.
pub fn minor_of(name: &str) -> Option<u32> {
    name.strip_prefix("drbd")?.parse().ok()
}

/// The mirrors that a text of the kernel tells of and whose numbers are `wanted`, at most 512.
pub fn mirrors(text: &str, wanted: impl Fn(u32) -> bool) -> Vec<Mirror> {
    let mut found: Vec<Mirror> = Vec::new();
    // Lines without a number are of the mirror before them.
    let mut is_wanted = false;
    for line in text.lines() {
        if let Some(mirror) = mirror(line) {
            is_wanted = wanted(mirror.minor);
            if !is_wanted {
                continue;
            }
            if found.len() == COUNT_MAX {
                break;
            }
            found.push(mirror);
        } else if let Some(last) = found.last_mut().filter(|_| is_wanted) {
            if let Some((left, all)) = amounts(line) {
                last.work = Some(MirrorWork { done: all.saturating_sub(left), all, ends_in: None });
            } else if let (Some(work), Some(ends_in)) = (&mut last.work, end(line)) {
                work.ends_in = Some(ends_in);
            }
        }
    }
    found
}

/// ` 5: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C r-----`.
fn mirror(line: &str) -> Option<Mirror> {
    let (minor, rest) = line.trim().split_once(": cs:")?;
    let mut words = rest.split_whitespace();
    let connection = words.next()?.to_string();
    let pair = |word: Option<&str>, key: &str| {
        let (here, there) = word?.strip_prefix(key)?.split_once('/')?;
        Some([here.to_string(), there.to_string()])
    };
    let roles = pair(words.next(), "ro:")?;
    let disks = pair(words.next(), "ds:")?;
    Some(Mirror { minor: minor.parse().ok()?, connection, roles, disks, work: None })
}

/// `[=>....] sync'ed: 12.5% (61420/65496)K`, what is left of all; large ones are in MiB.
fn amounts(line: &str) -> Option<(u64, u64)> {
    let (_, rest) = line.split_once("% (")?;
    let (left, rest) = rest.split_once('/')?;
    let (all, unit) = rest.split_once(')')?;
    let kib = match unit.trim().as_bytes().first()? {
        b'K' => 1,
        b'M' => 1024,
        _ => return None,
    };
    let of = |text: &str| text.parse::<u64>().ok()?.checked_mul(kib);
    Some((of(left)?, of(all)?))
}

/// `finish: 0:01:21 speed: …`, hours first.
fn end(line: &str) -> Option<u64> {
    let told = line.trim().strip_prefix("finish: ")?.split_whitespace().next()?;
    let mut parts = told.split(':').map(|part| part.parse::<u64>().ok());
    let [hours, minutes, seconds] = [parts.next()??, parts.next()??, parts.next()??];
    hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?.checked_add(seconds)
}

impl Mirror {
    /// Copies that do not have all that was written.
    pub fn lacks(&self) -> u32 {
        self.disks.iter().filter(|disk| *disk != UP_TO_DATE).count() as u32
    }

    /// Whether both copies have all that was written, and each host knows it of the other, be it that they are being compared.
    pub fn is_whole(&self) -> bool {
        self.lacks() == 0 && matches!(self.connection.as_str(), "Connected" | "VerifyS" | "VerifyT")
    }

    /// Whether the copy of this host has all that was written.
    pub fn is_up_to_date_here(&self) -> bool {
        self.disks[0] == UP_TO_DATE
    }

    /// Whether this host may write.
    pub fn is_primary(&self) -> bool {
        self.roles[0] == "Primary"
    }

    /// Whether this host talks with the peer.
    pub fn is_connected(&self) -> bool {
        self.roles[1] != "Unknown"
    }

    /// Whether it does not even try to: it was disconnected, or both copies have been written apart from each other.
    pub fn stands_alone(&self) -> bool {
        self.connection == "StandAlone"
    }

    /// Whether neither copy has been taken for the one that counts.
    pub fn is_new(&self) -> bool {
        self.connection == "Connected" && self.disks.iter().all(|disk| disk == "Inconsistent")
    }

    /// What it does beside its I/O, in the words of md.
    pub fn action(&self) -> &'static str {
        match self.connection.as_str() {
            "SyncSource" | "SyncTarget" | "StartingSyncS" | "StartingSyncT" | "WFBitMapS" | "WFBitMapT"
            | "WFSyncUUID" => "resync",
            "PausedSyncS" | "PausedSyncT" => "frozen",
            "VerifyS" | "VerifyT" => "check",
            _ => "idle",
        }
    }

    /// In English: roles, connection and copies, each here and at the peer, and when a resync will be done.
    pub fn shown(&self) -> String {
        let [roles, disks] = [&self.roles, &self.disks].map(|[here, there]| format!("{here}/{there}"));
        let connection = &self.connection;
        let more = match (self.stands_alone(), self.work.and_then(|work| work.ends_in)) {
            (true, _) => ", disconnected by hand or split brain: neither copy is discarded".to_string(),
            (false, Some(seconds)) => format!(", {seconds} s left"),
            (false, None) => String::new(),
        };
        format!("{roles}, {connection}, {disks}{more}")
    }

    /// As an array of two drives.
    pub fn as_array(&self) -> ArrayState {
        ArrayState {
            name: format!("drbd{}", self.minor),
            level: "drbd".into(),
            state: self.connection.clone(),
            disks: COPIES,
            degraded: Some(self.lacks()),
            action: Some(self.action().into()),
            // In sectors of 512 bytes.
            progress: self.work.map(|work| (work.done.saturating_mul(2), work.all.saturating_mul(2))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of them.
    fn mirrors(text: &str) -> Vec<Mirror> {
        super::mirrors(text, |_| true)
    }

    /// As Linux 6.12 printed it on two machines of the lab.
    const SYNCS: &str = "version: 8.4.11 (api:1/proto:86-101)\nsrcversion: 637677C4EAFCF5D1D5446B0 \n\n\
        5001: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C r-----\n    \
        ns:4076 nr:0 dw:0 dr:4076 al:8 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:61420\n\
        \t[=>..................] sync'ed: 12.5% (61420/65496)K\n\tfinish: 0:01:21 speed: 1,356 (1,356) K/sec\n\n\
        6001: cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown   r-----\n    ns:0 nr:0 dw:400 oos:200\n\
        6002: cs:Unconfigured\n";

    #[test]
    fn mirrors_tell_their_states_and_how_far_a_resync_is() {
        let found = mirrors(SYNCS);
        let [syncs, alone] = &found[..] else { panic!("{found:?}") };
        assert_eq!((syncs.minor, syncs.connection.as_str()), (5001, "SyncSource"));
        assert_eq!(syncs.work, Some(MirrorWork { done: 4076, all: 65496, ends_in: Some(81) }));
        assert_eq!((syncs.lacks(), syncs.is_whole(), syncs.is_connected(), syncs.action()), (1, false, true, "resync"));
        assert_eq!(syncs.shown(), "Primary/Secondary, SyncSource, UpToDate/Inconsistent, 81 s left");
        assert!(alone.shown().ends_with("split brain: neither copy is discarded"), "{}", alone.shown());
        assert!(syncs.is_primary() && syncs.is_up_to_date_here() && !syncs.is_new() && !syncs.stands_alone());
        assert!(alone.stands_alone() && !alone.is_connected() && alone.work.is_none() && alone.action() == "idle");
        let whole = mirrors("1: cs:Connected ro:Secondary/Primary ds:UpToDate/UpToDate C r-----\n");
        assert!(whole[0].is_whole() && !whole[0].is_primary());
        let of = |state: &str| mirrors(&format!("1: cs:{state} C r-----\n"))[0].is_whole();
        assert!(of("VerifyS ro:Primary/Secondary ds:UpToDate/UpToDate"), "both copies are compared meanwhile");
        assert!(of("VerifyT ro:Secondary/Primary ds:UpToDate/UpToDate"));
        assert!(!of("VerifyS ro:Primary/Secondary ds:UpToDate/Inconsistent"));
        assert!(!of("PausedSyncS ro:Primary/Secondary ds:UpToDate/UpToDate"));
        let new = mirrors("1: cs:Connected ro:Secondary/Secondary ds:Inconsistent/Inconsistent C r-----\n");
        assert!(new[0].is_new() && new[0].lacks() == 2);
    }

    #[test]
    fn a_mirror_counts_as_an_array_of_two_drives_and_large_ones_are_told_in_mib() {
        let text = SYNCS.replace("(61420/65496)K", "(3000/4000)M");
        let array = mirrors(&text)[0].as_array();
        assert_eq!((array.name.as_str(), array.level.as_str(), array.disks), ("drbd5001", "drbd", 2));
        assert_eq!((array.degraded, array.action.as_deref()), (Some(1), Some("resync")));
        assert_eq!(array.progress, Some((1000 << 11, 4000 << 11)));
    }

    #[test]
    fn what_is_no_mirror_or_cannot_be_is_left_out() {
        for text in ["", "version: 9.2.4 (api:2/proto:86-121)\n", "x: cs:Connected ro:a/b ds:c/d", "1: cs:Unconfigured"]
        {
            assert_eq!(mirrors(text), [], "{text}");
        }
        let huge = "1: cs:SyncTarget ro:a/b ds:c/d\n% (1/99999999999999999999)K\n% (1/18446744073709551615)M\nfinish: 99999999999999999:0:0\n";
        assert_eq!(mirrors(huge)[0].work, None);
        assert_eq!(mirrors(&"1: cs:A ro:a/b ds:c/d\n".repeat(999)).len(), COUNT_MAX);
    }

    #[test]
    fn a_mirror_behind_many_others_is_found_with_its_own_work() {
        let others: String = (0..99).map(|minor| format!("{minor}: cs:Connected ro:a/b ds:c/d\n")).collect();
        let text = format!("{others}{SYNCS}7000: cs:SyncTarget ro:a/b ds:c/d\n% (1/9)K\n");
        let found = super::mirrors(&text, |minor| minor == 5001);
        let [Mirror { minor: 5001, work: Some(MirrorWork { all: 65496, .. }), .. }] = found[..] else {
            panic!("{found:?}")
        };
    }
}
