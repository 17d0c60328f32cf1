//! What drives say of themselves, and what the kernel's log says of them, for a recording. A drive that hangs makes its own news late and
//! nothing else. Must not judge.

mod asking;

use asking::{Wanted, ask_drives, is_meant};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError};
use stend_base::{Nanos, Say, say};
use stend_probe::{DeviceErrors, KernelLog};
use stend_record::{EventKind, Health, HostInfo};
use stend_stand::HealthTools;

/// So long after a change its drive is quiet: what it says then is kept, so that the file tells that a problem is over.
const QUIET_AFTER: Nanos = Nanos::secs(3600);
/// How often the health of all drives is kept although nothing changed: where events go with age, the newest stays.
const ALL_EVERY: Nanos = Nanos::secs(86_400);
/// Least time between two events about the log: a drive that dies writes lines without end.
const LOG_EVERY: Nanos = Nanos::secs(10);
/// Least time between two questions to a drive that the kernel's log names: a drive that dies writes lines without end, and each question
/// is one more thing that it has to do.
const ASK_AGAIN: Nanos = Nanos::secs(60);

/// One of the news.
#[derive(Debug)]
pub struct News {
    /// What it is.
    pub kind: EventKind,
    /// Whether it belongs in the file; else it says nothing new, and is for those who show what is now.
    pub is_kept: bool,
}

impl News {
    /// What belongs in the file.
    pub fn kept(kind: EventKind) -> News {
        News { kind, is_kept: true }
    }
}

/// Reads both.
pub struct DeviceNews {
    log: Option<KernelLog>,
    /// When an event about the log was last made.
    logged: Option<Nanos>,
    /// What came since then.
    errors: Vec<DeviceErrors>,
    /// The drives that are asked.
    wanted: Arc<Wanted>,
    /// Drives with errors in the log, which are to be asked now.
    hurry: Sender<String>,
    /// When those were last asked for.
    hurried: BTreeMap<String, Nanos>,
    /// Programs to ask with.
    tools: HealthTools,
    /// What was read; `None`: nothing asks drives here.
    read: Option<Receiver<(String, Health)>>,
    /// What each drive of this host said last.
    told: BTreeMap<String, Health>,
    /// Drives that changed, and since when they are quiet; `None`: not yet.
    restless: BTreeMap<String, Option<Nanos>>,
    /// When all of it was reported last.
    all_told: Nanos,
}

impl DeviceNews {
    /// News of the host whose `/dev` lies below `root`.
    pub fn new(root: &Path) -> DeviceNews {
        let wanted: Arc<Wanted> = Arc::default();
        let (give, read) = channel();
        let (hurry, hurried) = channel();
        let of = Arc::downgrade(&wanted);
        let ask = move || ask_drives(&of, &hurried, &give, stend_stand::drive_health);
        // The thread is never joined: one that waits for a dying drive ends with the process.
        let tools = stend_stand::health_tools();
        let asks = tools != HealthTools::None && std::thread::Builder::new().name("drives".into()).spawn(ask).is_ok();
        DeviceNews {
            log: KernelLog::open(root),
            logged: None,
            errors: Vec::new(),
            wanted,
            hurry,
            hurried: BTreeMap::new(),
            tools,
            read: asks.then_some(read),
            told: BTreeMap::new(),
            restless: BTreeMap::new(),
            all_told: Nanos(0),
        }
    }

    /// What of this is not read here, and why.
    pub fn unread(&self) -> Vec<Say> {
        let is_nvme = |(_, path): &(String, String)| path.starts_with("/dev/nvme");
        let all_are = || self.wanted.lock().unwrap_or_else(PoisonError::into_inner).iter().all(is_nvme);
        let health = match self.tools {
            HealthTools::None => Some(say!(
                "the health of drives is not read: neither `smartctl` (package smartmontools) nor `nvme` (package nvme-cli) is installed",
                "состояние накопителей не читается: не установлены ни `smartctl` (пакет smartmontools), ни `nvme` (пакет nvme-cli)"
            )),
            HealthTools::OnlyNvme if !all_are() => Some(say!(
                "the health of drives other than NVMe is not read: `smartctl` (package smartmontools) is not installed",
                "состояние накопителей, кроме NVMe, не читается: `smartctl` (пакет smartmontools) не установлен"
            )),
            HealthTools::All | HealthTools::OnlyNvme => None,
        };
        let log = self.log.is_none().then(|| {
            say!(
                "errors in the kernel's log are not read: this user may not open /dev/kmsg",
                "ошибки в журнале ядра не читаются: этому пользователю нельзя открыть /dev/kmsg"
            )
        });
        health.into_iter().chain(log).collect()
    }

    /// Asks the drives of this host from the next round on, and forgets those that left.
    pub fn meet(&mut self, host: &HostInfo) {
        let drives = host.targets.iter().flat_map(|target| {
            let disks = target.devices.iter().filter(|device| device.kind == "disk");
            disks.map(|device| (device.name.clone(), target.path.clone()))
        });
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = drives.collect();
        let here = self.here();
        self.told.retain(|name, _| here.contains(name));
        self.restless.retain(|name, _| here.contains(name));
        self.hurried.retain(|name, _| here.contains(name));
    }

    /// Kernel names of the drives that the host has.
    fn here(&self) -> BTreeSet<String> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(name, _)| name.clone()).collect()
    }

    /// What is new since the last look. Never waits.
    pub fn take(&mut self, now: Nanos) -> Vec<News> {
        let mut news: Vec<News> = self.log_news(now).into_iter().map(News::kept).collect();
        let read: Vec<(String, Health)> = self.read.iter().flat_map(Receiver::try_iter).collect();
        news.extend(self.health_news(now, read));
        news
    }

    fn log_news(&mut self, now: Nanos) -> Vec<EventKind> {
        for errors in self.log.iter_mut().flat_map(KernelLog::read).collect::<Vec<_>>() {
            self.ask_soon(now, &errors.device);
            match self.errors.iter_mut().find(|known| known.device == errors.device) {
                Some(known) => *known = DeviceErrors { count: known.count + errors.count, ..errors },
                None => self.errors.push(errors),
            }
        }
        if self.errors.is_empty() || self.logged.is_some_and(|logged| now.saturating_sub(logged) < LOG_EVERY) {
            return Vec::new();
        }
        self.logged = Some(now);
        let event = |errors: DeviceErrors| {
            let DeviceErrors { device, count, text } = errors;
            EventKind::KernelErrors { device, count, text }
        };
        std::mem::take(&mut self.errors).into_iter().map(event).collect()
    }

    /// Has the drives that the log means by a name asked for their health now, and not with the next round. It names a drive of NVMe in two
    /// ways: `nvme1` and `nvme1n1`.
    fn ask_soon(&mut self, now: Nanos, name: &str) {
        for drive in self.here().into_iter().filter(|drive| is_meant(drive, name)) {
            if self.hurried.get(&drive).is_some_and(|asked| now.saturating_sub(*asked) < ASK_AGAIN) {
                continue;
            }
            self.hurried.insert(drive.clone(), now);
            // Without a program to ask with there is no reader.
            drop(self.hurry.send(drive));
        }
    }

    fn health_news(&mut self, now: Nanos, read: Vec<(String, Health)>) -> Vec<News> {
        // A drive that left may still have answered.
        let here = self.here();
        let read: BTreeMap<String, Health> = read.into_iter().filter(|(name, _)| here.contains(name)).collect();
        if read.is_empty() {
            return Vec::new();
        }
        let (mut kept, mut shown) = (Vec::new(), Vec::new());
        for (name, health) in read {
            let into = if self.is_kept(now, &name, &health) { &mut kept } else { &mut shown };
            into.push((name.clone(), health.clone()));
            self.told.insert(name, health);
        }
        if now.saturating_sub(self.all_told) >= ALL_EVERY {
            self.all_told = now;
            (kept, shown) = (self.told.clone().into_iter().collect(), Vec::new());
        }
        let of = |drives: Vec<_>, is_kept| {
            (!drives.is_empty()).then_some(News { kind: EventKind::DriveHealth { drives }, is_kept })
        };
        of(kept, true).into_iter().chain(of(shown, false)).collect()
    }

    /// Whether the file shall have this: a change, the first reading without one, and the first of those an hour later.
    fn is_kept(&mut self, now: Nanos, name: &str, health: &Health) -> bool {
        let Some(told) = self.told.get(name) else { return true };
        if differ(told, health) {
            self.restless.insert(name.to_string(), None);
            return true;
        }
        match self.restless.get_mut(name) {
            None => false,
            Some(Some(quiet)) if now.saturating_sub(*quiet) < QUIET_AFTER => false,
            Some(Some(_)) => {
                self.restless.remove(name);
                true
            }
            Some(since) => {
                *since = Some(now);
                true
            }
        }
    }
}

/// Whether more changed than what always does: hours, bytes written, temperature and how long it was too high.
fn differ(one: &Health, other: &Health) -> bool {
    let lasting = |health: &Health| Health {
        power_on_hours: None,
        bytes_written: None,
        celsius: None,
        hot_minutes: None,
        throttled_s: None,
        ..health.clone()
    };
    lasting(one) != lasting(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;
    use stend_record::{Device, TargetFacts, TargetKind, WriteAccess};

    fn news(root: &Path) -> DeviceNews {
        DeviceNews {
            log: KernelLog::open(root),
            logged: None,
            errors: Vec::new(),
            wanted: Arc::default(),
            hurry: channel().0,
            hurried: BTreeMap::new(),
            tools: HealthTools::None,
            read: None,
            told: BTreeMap::new(),
            restless: BTreeMap::new(),
            all_told: Nanos(0),
        }
    }

    /// A host with these drives.
    fn host(drives: &[&str]) -> HostInfo {
        let drive = |name: &&str| TargetFacts {
            devices: vec![Device { name: name.to_string(), kind: "disk".into(), ..Device::default() }],
            ..TargetFacts::new(*name, TargetKind::BlockDevice, WriteAccess::Nowhere)
        };
        HostInfo { targets: drives.iter().map(drive).collect(), ..HostInfo::default() }
    }

    fn health(hours: u64, errors: u64) -> Health {
        Health { power_on_hours: Some(hours), media_errors: Some(errors), ..Health::default() }
    }

    /// Names of the drives that are kept, and of those that are only shown.
    fn told(news: &mut DeviceNews, at: u64, read: &[(&str, Health)]) -> [String; 2] {
        let read = read.iter().map(|(name, health)| (name.to_string(), health.clone())).collect();
        let news = news.health_news(Nanos::secs(at), read);
        [true, false].map(|kept| {
            let of = |one: &News| match &one.kind {
                EventKind::DriveHealth { drives } => {
                    drives.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(" ")
                }
                other => panic!("{other:?}"),
            };
            news.iter().filter(|one| one.is_kept == kept).map(of).collect::<Vec<_>>().join(", ")
        })
    }

    #[test]
    fn every_reading_is_shown_and_the_file_has_changes_and_all_drives_once_a_day() {
        let mut news = news(Path::new("/absent"));
        news.meet(&host(&["sda", "sdb"]));
        let mut told = |at, sda, sdb| told(&mut news, at, &[("sda", sda), ("sdb", sdb)]);
        assert_eq!(told(100_000, health(1, 0), health(1, 0)), ["sda sdb", ""]);
        let hot = Health { hot_minutes: Some(9), throttled_s: Some(540), ..health(2, 0) };
        assert_eq!(told(100_500, health(2, 0), hot), ["", "sda sdb"]);
        assert_eq!(told(100_600, health(2, 0), health(2, 0)), ["", "sda sdb"]);
        assert_eq!(told(101_200, health(2, 0), health(2, 1)), ["sdb", "sda"]);
        assert_eq!(told(186_400, health(26, 0), health(26, 1)), ["sda sdb", ""]);
    }

    #[test]
    fn what_cannot_be_asked_for_want_of_a_program_is_said() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("dev")).unwrap();
        std::fs::write(dir.path().join("dev/kmsg"), "").unwrap();
        let unread = |tools, drives: &[&str]| {
            let mut news = DeviceNews { tools, ..news(dir.path()) };
            news.meet(&host(drives));
            news.unread().into_iter().map(|say| say.en).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(unread(HealthTools::All, &["/dev/sda"]), "");
        assert_eq!(unread(HealthTools::OnlyNvme, &["/dev/nvme0n1"]), "");
        assert!(unread(HealthTools::OnlyNvme, &["/dev/nvme0n1", "/dev/sda"]).contains("other than NVMe"));
        assert!(unread(HealthTools::None, &["/dev/nvme0n1"]).contains("neither `smartctl`"));
    }

    #[test]
    fn the_file_tells_that_a_drive_that_changed_is_quiet_for_an_hour() {
        let mut news = news(Path::new("/absent"));
        news.meet(&host(&["sda"]));
        let read = |n: u64| (100_000 + 600 * n, health(n, u64::from(n >= 3)));
        let kept: Vec<u64> = (0..40)
            .filter(|n| {
                let (at, health) = read(*n);
                told(&mut news, at, &[("sda", health)])[0] == "sda"
            })
            .collect();
        // At first, the change, the first reading without one, and the one an hour later.
        assert_eq!(kept, [0, 3, 4, 10]);
    }

    #[test]
    fn a_drive_that_left_is_told_no_more_even_if_it_answers_late() {
        let mut news = news(Path::new("/absent"));
        news.meet(&host(&["sda", "sdb"]));
        assert_eq!(told(&mut news, 100_000, &[("sda", health(1, 0)), ("sdb", health(1, 9))]), ["sda sdb", ""]);
        news.meet(&host(&["sda"]));
        assert_eq!(told(&mut news, 100_600, &[("sdb", health(1, 9))]), ["", ""]);
        assert_eq!(told(&mut news, 190_000, &[("sda", health(30, 0))]), ["sda", ""]);
        news.meet(&host(&["sda", "sdb"]));
        assert_eq!(told(&mut news, 190_600, &[("sdb", health(1, 9))]), ["sdb", ""], "another drive of that name");
    }

    #[test]
    fn errors_in_the_log_are_told_at_once_and_then_together() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("dev")).unwrap();
        std::fs::write(dir.path().join("dev/kmsg"), "").unwrap();
        let mut news = news(dir.path());
        let write = |sector: u32| {
            let mut file = std::fs::OpenOptions::new().append(true).open(dir.path().join("dev/kmsg")).unwrap();
            writeln!(file, "3,{sector},1,-;I/O error, dev sdb, sector {sector}").unwrap();
        };
        let mut take = |at: u64| -> Vec<u64> {
            let of = |news: News| match news.kind {
                EventKind::KernelErrors { count, .. } => count,
                other => panic!("{other:?}"),
            };
            news.take(Nanos::secs(at)).into_iter().map(of).collect()
        };
        write(1);
        assert_eq!(take(100), [1]);
        write(2);
        assert_eq!(take(101), [0; 0]);
        write(3);
        assert_eq!(take(109), [0; 0]);
        assert_eq!((take(110), take(120)), (vec![2], Vec::new()));
    }

    #[test]
    fn a_drive_that_is_known_after_the_thread_began_is_asked_now_and_not_with_the_next_round() {
        let wanted: Arc<Wanted> = Arc::default();
        let ((give, read), (hurry, hurried)) = (channel(), channel());
        let (of, mut news) = (Arc::downgrade(&wanted), DeviceNews { wanted, hurry, ..news(Path::new("/absent")) });
        std::thread::spawn(move || ask_drives(&of, &hurried, &give, |_| Some(health(7, 0))));
        // What describes the host comes some time later.
        assert_eq!(read.recv_timeout(Duration::from_millis(200)).ok(), None);
        news.meet(&host(&["sda"]));
        let (name, _) = read.recv_timeout(Duration::from_secs(60)).expect("its health, before the round is over");
        assert_eq!(name, "sda");
        // The next round is in ten minutes.
        news.ask_soon(Nanos::secs(100), "sda");
        let (name, _) = read.recv_timeout(Duration::from_secs(60)).expect("its health after an error");
        assert_eq!(name, "sda");
    }

    #[test]
    fn a_drive_with_an_error_in_the_log_is_asked_at_once_and_once_a_minute() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("dev")).unwrap();
        std::fs::write(dir.path().join("dev/kmsg"), "").unwrap();
        let (hurry, asked) = channel();
        let mut news = DeviceNews { hurry, ..news(dir.path()) };
        news.meet(&host(&["sda", "nvme1n1"]));
        let mut asked_at = |at: u64, lines: &str| {
            let mut file = std::fs::OpenOptions::new().append(true).open(dir.path().join("dev/kmsg")).unwrap();
            write!(file, "{lines}").unwrap();
            news.take(Nanos::secs(at));
            asked.try_iter().collect::<Vec<String>>().join(" ")
        };
        let sda = "3,1,1,-;I/O error, dev sda, sector 1\n";
        assert_eq!(asked_at(100, ""), "");
        assert_eq!(asked_at(101, &format!("{sda}{sda}3,2,2,-;I/O error, dev sdz, sector 1\n")), "sda");
        assert_eq!(asked_at(102, sda), "", "a drive that dies is not asked without end");
        assert_eq!(asked_at(103, "3,3,3,-;nvme nvme1: I/O 12 QID 3 timeout, aborting\n"), "nvme1n1");
        assert_eq!(asked_at(104, "3,4,4,-;I/O error, dev nvme1n1, sector 1\n"), "", "it is the same drive");
        assert_eq!((asked_at(160, sda).as_str(), asked_at(161, sda).as_str()), ("", "sda"));
    }
}
