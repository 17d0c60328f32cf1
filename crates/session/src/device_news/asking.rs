//! Asks drives for their health, each on a thread of its own: one that hangs keeps only its own answer waiting. Must not keep or judge it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use stend_record::Health;

/// Time between two readings of the health of all drives: smartd asks every half an hour, and errors should not be older than a coffee.
const HEALTH_EVERY: Duration = Duration::from_secs(600);
/// How often the list of drives is looked at as long as it is empty (by eye: nothing beside a round).
const UNTIL_KNOWN: Duration = Duration::from_secs(1);
/// A drive that takes longer is not waited for; what it answers then counts in the next round.
const PATIENCE: Duration = Duration::from_secs(40);

/// Kernel names of the drives that are asked, each with its path.
pub(super) type Wanted = Mutex<Vec<(String, String)>>;

/// Asks the drives that are wanted for their health, again and again, and one that an error is known of before those whose turn is still to
/// come, until the reader has gone.
pub(super) fn ask_drives(
    of: &Weak<Wanted>,
    hurry: &Receiver<String>,
    give: &Sender<(String, Health)>,
    health: fn(&str) -> Option<Health>,
) {
    let (done, back) = channel();
    let mut asking = Asking { busy: BTreeSet::new(), give: give.clone(), health, done, back };
    while let Some(drives) = drives(of) {
        // The host is described some time after the thread began, and a drive that already fails must not wait for a round.
        if drives.is_empty() {
            std::thread::sleep(UNTIL_KNOWN);
            continue;
        }
        let mut turns = VecDeque::from(drives);
        while let Some(drive) = turns.pop_front() {
            asking.ask(drive);
            for name in hurry.try_iter() {
                turns.retain(|(drive, _)| *drive != name);
                drive_of(of, &name).into_iter().for_each(|drive| asking.ask(drive));
            }
        }
        let round = Instant::now() + HEALTH_EVERY;
        while let Ok(name) = hurry.recv_timeout(round.saturating_duration_since(Instant::now())) {
            drive_of(of, &name).into_iter().for_each(|drive| asking.ask(drive));
        }
    }
}

/// Drives that are asked, each on a thread of its own.
struct Asking {
    /// Those that have not answered yet.
    busy: BTreeSet<String>,
    give: Sender<(String, Health)>,
    health: fn(&str) -> Option<Health>,
    done: Sender<String>,
    back: Receiver<String>,
}

impl Asking {
    /// Asks one, unless it still owes an answer, and waits for it with patience.
    fn ask(&mut self, (name, path): (String, String)) {
        while let Ok(name) = self.back.try_recv() {
            self.busy.remove(&name);
        }
        if self.busy.contains(&name) {
            return;
        }
        let (give, done, health, asked) = (self.give.clone(), self.done.clone(), self.health, name.clone());
        let one = move || {
            if let Some(health) = health(&path) {
                // The reader may have gone.
                drop(give.send((asked.clone(), health)));
            }
            drop(done.send(asked));
        };
        if std::thread::Builder::new().name("health".into()).spawn(one).is_ok() {
            self.busy.insert(name);
        }
        // One after the other, as far as they answer.
        if let Ok(name) = self.back.recv_timeout(PATIENCE) {
            self.busy.remove(&name);
        }
    }
}

/// The drive of this name, if it is still wanted.
fn drive_of(of: &Weak<Wanted>, name: &str) -> Option<(String, String)> {
    drives(of)?.into_iter().find(|(drive, _)| drive == name)
}

/// Whether a name in the kernel's log means this drive: `nvme0` is the controller of `nvme0n1`.
pub(super) fn is_meant(drive: &str, name: &str) -> bool {
    let namespace = drive.strip_prefix(name).filter(|_| name.starts_with("nvme"));
    drive == name || namespace.is_some_and(|rest| rest.starts_with('n'))
}

/// The drives that are wanted; `None` once the reader has gone.
fn drives(of: &Weak<Wanted>) -> Option<Vec<(String, String)>> {
    Some(of.upgrade()?.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_controller_means_its_namespaces_and_no_other_drive() {
        assert!(is_meant("sda", "sda") && is_meant("nvme1n1", "nvme1") && is_meant("nvme1n1", "nvme1n1"));
        assert!(!is_meant("sdaa", "sda") && !is_meant("nvme10n1", "nvme1") && !is_meant("nvme1n1", "nvme0"));
        assert!(!is_meant("sdn", "sd"));
    }

    #[test]
    fn a_drive_with_an_error_is_asked_before_those_whose_turn_is_still_to_come_and_not_again_in_its_own() {
        let drives = ["sda", "sdb", "sdc"].map(|name| (name.to_string(), format!("/dev/{name}")));
        let wanted = Arc::new(Mutex::new(drives.to_vec()));
        let ((give, read), (hurry, hurried)) = (channel(), channel());
        hurry.send("sdc".to_string()).unwrap();
        let of = Arc::downgrade(&wanted);
        let asks = std::thread::spawn(move || ask_drives(&of, &hurried, &give, |_| Some(Health::default())));
        let next = || read.recv_timeout(Duration::from_secs(60)).map(|(name, _)| name).unwrap();
        assert_eq!([next(), next(), next()], ["sda", "sdc", "sdb"]);
        hurry.send("sda".to_string()).unwrap();
        assert_eq!(next(), "sda");
        drop((wanted, hurry));
        asks.join().unwrap();
    }
}
