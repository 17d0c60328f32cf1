//! The threads that send: one for each receiver, so that one that is slow or dead keeps no other waiting, and none of them the caller.

use crate::item::{Item, Message, Unsent};
use crate::policy::{Clock, State};
use crate::send::{deliver, rendered, send, unix};
use crate::store::Store;
use crate::vendor::{Decided, Decision, Desk, Logged, place};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stend_base::{Result, Say, say};
use stend_spec::notify::{NotifyFile, Receiver};

/// How often what is due is looked for.
const TICK: Duration = Duration::from_secs(1);
/// Pause after a failure before another message is tried there, or the same state is to be kept again.
const PAUSE: Duration = Duration::from_secs(10);
/// How long the end waits for what is due. What is not sent then waits in the file.
const LAST: Duration = Duration::from_secs(5);
/// How often the local time zone is asked for: it changes twice a year.
const ZONE_EVERY: Duration = Duration::from_secs(3600);

/// Something for the log of the recorder.
pub type Told = Arc<dyn Fn(Say) + Send + Sync>;

/// Messages on their way.
pub struct Outbox {
    shared: Arc<Shared>,
    /// The thread that keeps the state.
    keeper: JoinHandle<()>,
}

/// What threads share.
struct Shared {
    file: NotifyFile,
    host: String,
    store: Store,
    held: Mutex<Held>,
    changed: Condvar,
    told: Told,
    /// Where people decide about notices to a vendor, and their log; `None`: these are other messages.
    desk: Option<Desk>,
}

/// What is behind the lock.
struct Held {
    state: State,
    /// How many states were to be kept: the number of the last one.
    generation: u64,
    /// The state could not be kept; standard error has it once.
    is_unkept: bool,
    /// Receivers that something is being sent to now.
    sending: usize,
    is_over: bool,
}

impl Outbox {
    /// Begins to send what waits in the directory, and what [`Outbox::note`] brings. `told` hears of receivers that do not answer.
    ///
    /// Errors: kind `Preflight` if the directory cannot be used.
    pub fn open(file: NotifyFile, host: &str, directory: &Path, told: Told) -> Result<Outbox> {
        Outbox::of(file, host, directory, told, None)
    }

    /// The same of notices to a vendor, which wait for people.
    ///
    /// Errors: those of [`Outbox::open`].
    pub fn of_vendor(file: NotifyFile, host: &str, directory: &Path, told: Told) -> Result<Outbox> {
        Outbox::of(file, host, directory, told, Some(Desk::open(directory)?))
    }

    fn of(file: NotifyFile, host: &str, directory: &Path, told: Told, desk: Option<Desk>) -> Result<Outbox> {
        let (store, mut state) = Store::open(directory)?;
        if let Some(desk) = &desk {
            state.hold_kinds(&file.receivers.first().map(place).unwrap_or_default());
            follow(&mut state, &desk.decisions());
        }
        zone::ask();
        state.begin(&file, now());
        let held = Mutex::new(Held { state, generation: 0, is_unkept: false, sending: 0, is_over: false });
        let shared =
            Arc::new(Shared { file, host: host.to_string(), store, held, changed: Condvar::new(), told, desk });
        let of = shared.clone();
        let keeper = start("notify".into(), move || of.pass_time())?;
        for receiver in shared.file.receivers.clone() {
            let of = shared.clone();
            start(format!("to {}", receiver.name), move || of.serve(&receiver))?;
        }
        Ok(Outbox { shared, keeper })
    }

    /// Something happened. Returns at once: files and networks are waited for elsewhere.
    pub fn note(&self, items: Vec<Item>) {
        if items.is_empty() {
            return;
        }
        let clock = now();
        let mut held = self.shared.lock();
        items.into_iter().for_each(|item| held.state.note(&self.shared.file, item, clock));
        drop(held);
        self.shared.changed.notify_all();
    }

    /// These problems, by rule and object, are open and muted. Returns at once.
    pub fn mute(&self, muted: &BTreeSet<(String, String)>) {
        self.shared.lock().state.mute(muted);
        self.shared.changed.notify_all();
    }

    /// These problems, by rule and object, are open, and people know of them. Returns at once.
    pub fn found(&self, problems: &BTreeSet<(String, String)>) {
        self.shared.lock().state.found(problems);
        self.shared.changed.notify_all();
    }

    /// These rules and objects were found well, and the host has these objects. Returns at once.
    pub fn found_well(&self, well: &BTreeSet<(String, String)>, objects: &BTreeSet<String>) {
        self.shared.lock().state.found_well(well, objects);
        self.shared.changed.notify_all();
    }

    /// Gives what is due a last chance. What is left waits for the next recording.
    pub fn close(self) {
        let begun = Instant::now();
        let mut held = self.shared.lock();
        let due = |held: &Held| {
            let due = |receiver: &Receiver| held.state.due(&receiver.name, unix()).is_some_and(|m| m.tries == 0);
            held.sending > 0 || self.shared.file.receivers.iter().any(due)
        };
        while due(&held) && begun.elapsed() < LAST {
            held = self.shared.wait(held, Duration::from_millis(50));
        }
        held.is_over = true;
        drop(held);
        self.shared.changed.notify_all();
        // What it is writing is older than what is kept below. If it panicked, that was printed, and the state is kept all the same.
        drop(self.keeper.join());
        self.shared.keep(&mut self.shared.lock());
    }
}

/// The moment.
fn now() -> Clock {
    let unix = unix();
    Clock { unix, monotonic: stend_sys::clock::now().as_secs() as i64, minute: zone::minute(unix) }
}

/// Does what people have decided since it was looked at last. What they decided about another address is no decision about this one.
fn follow(state: &mut State, decided: &[Decided]) {
    let new: Vec<&Decided> = decided.iter().skip(state.followed).filter(|of| of.place == state.approved_for).collect();
    for of in new {
        match of.decision {
            Decision::Approved => state.approve(&of.kind),
            Decision::Withheld => state.withhold(of.id),
        }
    }
    state.followed = state.followed.max(decided.len());
}

/// Starts a thread.
///
/// Errors: kind `Preflight` if the system allows no more.
fn start(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).spawn(work).map_err(|error| {
        stend_base::Error::preflight(say!("cannot start a thread: {error}", "не удаётся запустить поток: {error}"))
    })
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, held: MutexGuard<'a, Held>, limit: Duration) -> MutexGuard<'a, Held> {
        self.changed.wait_timeout(held, limit).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Keeps the state, and makes digests when they are due.
    fn pass_time(&self) {
        let mut kept = State::default();
        let (mut asked, mut tried) = (Instant::now(), Instant::now());
        loop {
            if asked.elapsed() >= ZONE_EVERY {
                asked = Instant::now();
                zone::ask();
            }
            let clock = now();
            let decided = self.desk.as_ref().map(Desk::decisions).unwrap_or_default();
            let mut held = self.lock();
            if held.is_over {
                return;
            }
            held.state.tick(&self.file, clock);
            follow(&mut held.state, &decided);
            let fresh = held.state.unlogged();
            // Where the disk was full there may be room by now.
            if held.state != kept || held.is_unkept && tried.elapsed() >= PAUSE {
                tried = Instant::now();
                kept = held.state.clone();
                held.generation += 1;
                let generation = held.generation;
                drop(held);
                // The lock is free meanwhile: a disk that hangs stops no reading.
                self.log_held(&fresh);
                let result = self.store.keep(&kept, generation);
                self.changed.notify_all();
                let mut held = self.lock();
                self.note_kept(&mut held, result);
                continue;
            }
            drop(self.wait(held, TICK));
        }
    }

    fn keep(&self, held: &mut Held) {
        held.generation += 1;
        let kept = self.store.keep(&held.state, held.generation);
        self.note_kept(held, kept);
    }

    fn note_kept(&self, held: &mut Held, kept: Option<std::io::Result<()>>) {
        // A newer state was kept, and what became of it is noted.
        let Some(kept) = kept else { return };
        if let Err(error) = &kept
            && !held.is_unkept
        {
            let place = self.store.directory().display();
            let Say { en, ru } = stend_sys::regular::why(error);
            (self.told)(say!(
                "messages that wait cannot be kept in `{place}`: {en}; they are sent as long as this recording goes on",
                "ожидающие сообщения не удаётся сохранить в `{place}`: {ru}; они отправляются, пока идёт запись"
            ));
        }
        held.is_unkept = kept.is_err();
    }

    /// Sends to one receiver until the end.
    fn serve(&self, receiver: &Receiver) {
        let mut rests_until = Instant::now();
        let mut is_failing = false;
        loop {
            let held = self.lock();
            if held.is_over {
                return;
            }
            let due = if Instant::now() < rests_until { None } else { held.state.due(&receiver.name, unix()) };
            let Some(message) = due else {
                drop(self.wait(held, TICK));
                continue;
            };
            let mut held = held;
            held.sending += 1;
            drop(held);
            let sent = self.send(receiver, &message);
            // The end waits as long as something is being sent: its lines after that would be lost.
            self.tell(receiver, &sent, &mut is_failing);
            let mut held = self.lock();
            held.sending -= 1;
            match &sent {
                Ok(()) => held.state.sent(&message, now()),
                Err(unsent) => {
                    held.state.failed(&message, now(), unsent.has_moved);
                    let waiting = held.state.queue.iter_mut().find(|waiting| waiting.id == message.id);
                    waiting.into_iter().for_each(|waiting| waiting.drop_sent(unsent.through));
                }
            }
            drop(held);
            self.changed.notify_all();
            if sent.is_err() {
                rests_until = Instant::now() + PAUSE;
            }
        }
    }

    fn send(&self, receiver: &Receiver, message: &Message) -> std::result::Result<(), Unsent> {
        let Some(desk) = &self.desk else {
            return send(receiver, message, &self.host, self.file.lang, self.store.directory());
        };
        let to = place(receiver);
        let shown = desk.decisions().into_iter().rfind(|of| of.id == message.id && of.place == to).map(|of| of.bytes);
        let bytes = shown.unwrap_or_else(|| rendered(receiver, message, &self.host, self.file.lang));
        let sent = deliver(&receiver.way, &bytes);
        let what = if sent.is_ok() { "sent" } else { "not_taken" };
        let why = sent.as_ref().err().map(|unsent| unsent.why.en.clone());
        self.log(desk, Logged { why, bytes: Some(bytes), ..Logged::of(what, message, unix()) });
        sent
    }

    /// Puts what is held into the log, and tells of it.
    fn log_held(&self, fresh: &[Message]) {
        let Some((desk, receiver)) = self.desk.as_ref().zip(self.file.receivers.first()) else { return };
        for message in fresh {
            let bytes = rendered(receiver, message, &self.host, self.file.lang);
            self.log(desk, Logged { bytes: Some(bytes), ..Logged::of("held", message, unix()) });
            let (id, kind) = (message.id, message.kind());
            (self.told)(say!(
                "notice {id} to the vendor ({kind}) waits for a person: `stend notify vendor` shows it",
                "сообщение {id} производителю ({kind}) ждёт решения: его покажет `stend notify vendor`"
            ));
        }
    }

    fn log(&self, desk: &Desk, line: Logged) {
        if let Err(error) = desk.log(&line) {
            let Say { en, ru } = stend_sys::regular::why(&error);
            (self.told)(say!(
                "the log of notices to the vendor cannot be written: {en}",
                "не удаётся записать журнал сообщений производителю: {ru}"
            ));
        }
    }

    /// Reports a receiver that does not answer once, and once more when it answers again.
    fn tell(&self, receiver: &Receiver, sent: &std::result::Result<(), Unsent>, is_failing: &mut bool) {
        let name = &receiver.name;
        match (sent, *is_failing) {
            (Err(unsent), false) => {
                let (en, ru) = (&unsent.why.en, &unsent.why.ru);
                (self.told)(say!(
                    "`{name}` does not take messages: {en}; they wait and are tried again",
                    "`{name}` не принимает сообщения: {ru}; они ждут, попытки повторяются"
                ));
            }
            (Ok(()), true) => (self.told)(say!("`{name}` takes messages again", "`{name}` снова принимает сообщения")),
            _ => {}
        }
        *is_failing = sent.is_err();
    }
}

/// The local time of this host, as the program `date` tells it: it knows all time zones and their rules.
mod zone {
    use super::{Command, Stdio};
    use std::sync::atomic::{AtomicI64, Ordering};

    /// Minutes east of Greenwich.
    static OFFSET: AtomicI64 = AtomicI64::new(0);

    /// Asks anew. Where it does not answer, what was known last counts, and UTC before.
    pub fn ask() {
        let told = Command::new("date").arg("+%z").stdin(Stdio::null()).stderr(Stdio::null()).output();
        let minutes = told.ok().and_then(|told| of(std::str::from_utf8(&told.stdout).ok()?.trim()));
        minutes.into_iter().for_each(|minutes| OFFSET.store(minutes, Ordering::Relaxed));
    }

    /// Minute of the day.
    pub fn minute(unix: i64) -> u16 {
        (unix.div_euclid(60) + OFFSET.load(Ordering::Relaxed)).rem_euclid(1440) as u16
    }

    /// `+0330` in minutes.
    pub fn of(text: &str) -> Option<i64> {
        let (sign, digits) = match text.split_at_checked(1)? {
            ("+", digits) => (1, digits),
            ("-", digits) => (-1, digits),
            _ => return None,
        };
        let digits: i64 = digits.parse().ok().filter(|_| digits.len() == 4)?;
        Some(sign * (digits / 100 * 60 + digits % 100))
    }
}

#[cfg(test)]
mod tests;
