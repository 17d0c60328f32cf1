//! What is sent when: problems become messages now, wait for a digest, or go to no one. Pure: the clock is an argument.

use crate::item::{Happening, Item, Message};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use stend_analyse::journal::JournalRule;
use stend_base::{Say, say};
use stend_spec::notify::{NotifyFile, When};

/// Most messages that wait, and most problems that wait for a digest; the oldest warnings go first.
pub const WAITING_MAX: usize = 1000;
/// How long a message is tried, seconds: over a weekend without a mail server nothing is lost that is still of use.
pub const TRIED_FOR: i64 = 72 * 3600;
/// How long a message waits for a person, seconds: a month.
const HELD_FOR: i64 = 31 * 86_400;
/// First and longest pause between two tries, seconds.
const PAUSE: (i64, i64) = (10, 600);
/// The same where a receiver answers that it has moved: somebody has to look at its address, and it may have kept the message. A proxy that is
/// being mended redirects for an hour or a shift. In 72 hours it gets a message five times.
const PAUSES_MOVED: [i64; 3] = [3600, 6 * 3600, 86_400];
/// A recorder that was started again has this long, in seconds, to find an open problem again before one that is well counts as over.
const FOUND_AGAIN: i64 = 600;
/// A clock that moves by more than this against the other one was set, or the host slept, seconds: NTP corrects less.
const CLOCK_SET: i64 = 60;
/// Problems that are over are remembered this long, seconds: far longer than the hour in which a problem is the same one.
const REMEMBERED: i64 = 7 * 86_400;

/// The moment.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Seconds since 1970.
    pub unix: i64,
    /// Seconds of a clock that no program sets; it stands still while the host sleeps.
    pub monotonic: i64,
    /// Minute of the day by local time.
    pub minute: u16,
}

/// A problem that was sent, or would have been.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    item: Item,
    /// It was found since this recorder began.
    is_found: bool,
    /// This recorder found it well, or does not find its object.
    #[serde(default)]
    may_be_over: bool,
    /// A message says that it is open, and none that it is over.
    #[serde(default)]
    is_sent: bool,
    /// The last news of it were muted before they were sent: it is news once more when the mute ends.
    #[serde(default)]
    is_kept_back: bool,
}

/// What is kept in the file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct State {
    next_id: u64,
    known: Vec<Known>,
    /// Messages that were not taken yet, the oldest first.
    pub queue: Vec<Message>,
    digest: Vec<Item>,
    /// When the first of them came.
    digest_since: i64,
    /// Some of them only wait for the end of quiet hours.
    is_held_back: bool,
    /// By receiver, messages that were given up.
    lost: BTreeMap<String, u64>,
    /// Rule and object of problems that were muted since the last digest.
    #[serde(default)]
    muted: BTreeSet<(String, String)>,
    /// When this recorder began, by the clock that no program sets.
    begun: i64,
    /// By how many seconds wall-clock time is ahead of that clock.
    #[serde(default)]
    ahead: Option<i64>,
    /// Kinds of messages that a person has approved; `None`: every one goes.
    #[serde(default)]
    approved: Option<BTreeSet<String>>,
    /// The place for which they were approved.
    #[serde(default)]
    pub approved_for: String,
    /// Decisions of people that were followed.
    #[serde(default)]
    pub followed: usize,
    /// Number of the last message that the log has.
    #[serde(default)]
    logged: u64,
}

impl State {
    /// A recorder begins with what an earlier one left.
    pub fn begin(&mut self, file: &NotifyFile, clock: Clock) {
        (self.begun, self.ahead) = (clock.monotonic, Some(clock.unix - clock.monotonic));
        // What is in the future was noted while the clock was wrong.
        self.digest_since = self.digest_since.min(clock.unix);
        for message in &mut self.queue {
            message.made = message.made.min(clock.unix);
            if message.next.saturating_sub(clock.unix) > PAUSE.1 {
                message.next = clock.unix;
            }
        }
        self.known.iter_mut().for_each(|known| (known.is_found, known.may_be_over) = (false, false));
        // Receivers that the file does not name any more get nothing.
        self.queue.retain(|message| file.receivers.iter().any(|receiver| receiver.name == message.receiver));
    }

    /// From now on each kind of message waits for a person, who approves it for one place: what was approved for another one waits again.
    pub fn hold_kinds(&mut self, place: &str) {
        if self.approved.is_none() || self.approved_for != place {
            self.approved = Some(BTreeSet::new());
            self.approved_for = place.to_string();
            self.queue.iter_mut().for_each(|message| message.is_held = true);
        }
    }

    /// A person approved this kind: what waits of it goes, and what comes.
    pub fn approve(&mut self, kind: &str) {
        self.approved.get_or_insert_default().insert(kind.to_string());
        self.queue.iter_mut().filter(|message| message.kind() == kind).for_each(|message| message.is_held = false);
    }

    /// A person wants this message not to be sent.
    pub fn withhold(&mut self, id: u64) {
        self.queue.retain(|message| message.id != id);
    }

    /// Messages that wait for a person and that the log lacks; asked twice, they are no longer among them.
    pub fn unlogged(&mut self) -> Vec<Message> {
        let fresh = self.queue.iter().filter(|message| message.is_held && message.id > self.logged);
        let fresh: Vec<Message> = fresh.cloned().collect();
        self.logged = self.queue.iter().map(|message| message.id).max().unwrap_or_default().max(self.logged);
        fresh
    }

    /// Something happened.
    pub fn note(&mut self, file: &NotifyFile, mut item: Item, clock: Clock) {
        self.follow_clock(clock);
        if !self.is_news(&mut item) {
            return;
        }
        let is_quiet = file.quiet.is_some_and(|quiet| quiet.holds(clock.minute));
        match file.when(&item.category, item.is_critical) {
            When::Never => {}
            When::Now if item.is_critical || !is_quiet => {
                // What a digest would say of it is older.
                self.digest.retain(|waiting| !waiting.is_of(&item.rule, &item.object));
                self.is_held_back &= !self.digest.is_empty();
                self.enqueue(file, false, vec![item], clock);
            }
            when => {
                self.is_held_back |= when == When::Now;
                self.wait(item, clock);
            }
        }
    }

    /// These problems are open and muted. What waits for a digest about one of them is not sent; if it is open when the mute ends, it comes
    /// as a new one.
    pub fn mute(&mut self, muted: &BTreeSet<(String, String)>) {
        self.found(muted);
        let is_muted = |item: &Item| muted.iter().any(|(rule, object)| item.is_of(rule, object));
        let waiting = std::mem::take(&mut self.digest);
        // One that waits to be called over was sent when it opened.
        let (kept_back, digest): (Vec<Item>, Vec<Item>) =
            waiting.into_iter().partition(|item| item.closed.is_none() && is_muted(item));
        self.digest = digest;
        self.is_held_back &= !self.digest.is_empty();
        for item in &kept_back {
            // Receivers that were sent an earlier state have to hear that it is over.
            self.known.retain(|known| known.is_sent || !known.item.is_of(&item.rule, &item.object));
            let of_item = self.known.iter_mut().filter(|known| known.item.is_of(&item.rule, &item.object));
            of_item.for_each(|known| known.is_kept_back = true);
        }
        self.muted.extend(muted.iter().cloned());
        while self.muted.len() > WAITING_MAX {
            self.muted.pop_first();
        }
    }

    /// These problems are open: what keeps them from being sent does not make them be over.
    pub fn found(&mut self, problems: &BTreeSet<(String, String)>) {
        for (rule, object) in problems {
            let found = self.known.iter_mut().filter(|known| known.item.is_of(rule, object));
            found.for_each(|known| known.is_found = true);
        }
    }

    /// This recorder has found these rules and objects well, and the host has these objects. What was not found well is not over: a drive in
    /// standby is not asked, and one that hangs does not answer. What was wrong with an object that has left is over, but not that it is gone.
    pub fn found_well(&mut self, well: &BTreeSet<(String, String)>, objects: &BTreeSet<String>) {
        for known in &mut self.known {
            let Item { rule, object, .. } = &known.item;
            let has_left = rule != JournalRule::DriveGone.key() && !objects.contains(object);
            known.may_be_over = has_left || well.contains(&(rule.clone(), object.clone()));
        }
    }

    /// Time has passed: a digest may be due, messages too old.
    pub fn tick(&mut self, file: &NotifyFile, clock: Clock) {
        self.follow_clock(clock);
        let runs = clock.monotonic - self.begun;
        if runs >= FOUND_AGAIN {
            // A rule that needs an hour without errors needs it after a restart, too. What no rule has judged for days, such as the wear of a
            // drive in whose place another one is, is over in the end.
            let is_over = |known: &&Known| {
                let waits =
                    JournalRule::of(&known.item.rule).map_or(0, |rule| rule.limits().closes_after.as_secs() as i64);
                let is_well = known.may_be_over && runs >= waits;
                !known.is_found && known.item.closed.is_none() && (is_well || runs >= REMEMBERED)
            };
            let over: Vec<Item> = self.known.iter().filter(is_over).map(|known| over(&known.item, clock)).collect();
            over.into_iter().for_each(|item| self.note(file, item, clock));
        }
        self.known.retain(|known| known.item.closed.is_none_or(|closed| clock.unix - closed < REMEMBERED));
        let is_quiet = file.quiet.is_some_and(|quiet| quiet.holds(clock.minute));
        let waited = clock.unix - self.digest_since >= (file.digest.as_secs()) as i64;
        if !self.digest.is_empty() && !is_quiet && (waited || self.is_held_back) {
            let items = std::mem::take(&mut self.digest);
            self.is_held_back = false;
            self.enqueue(file, true, items, clock);
        }
        // A person may be on holiday: what is held waits for longer.
        let is_old = |message: &Message| clock.unix - message.made > if message.is_held { HELD_FOR } else { TRIED_FOR };
        let given_up = self.queue.iter().filter(|message| is_old(message));
        let given_up: Vec<String> = given_up.map(|message| message.receiver.clone()).collect();
        given_up.into_iter().for_each(|receiver| *self.lost.entry(receiver).or_default() += 1);
        self.queue.retain(|message| !is_old(message));
    }

    /// The next message to a receiver that may be tried now. None overtakes an older one about the same problem: that it is over would
    /// arrive before that it opened.
    pub fn due(&self, receiver: &str, unix: i64) -> Option<Message> {
        let mut waits: BTreeSet<(&str, &str)> = BTreeSet::new();
        let due = self.queue.iter().filter(|message| message.receiver == receiver).find(|message| {
            let of: Vec<(&str, &str)> = message.items.iter().map(|item| (&*item.rule, &*item.object)).collect();
            let may = !message.is_held && message.next <= unix && of.iter().all(|problem| !waits.contains(problem));
            waits.extend(of);
            may
        })?;
        Some(Message { lost: self.lost.get(receiver).copied().unwrap_or_default(), ..due.clone() })
    }

    /// A message was taken. Others that wait for hours, because the receiver answered that it has moved, are due: it is back.
    pub fn sent(&mut self, message: &Message, clock: Clock) {
        self.follow_clock(clock);
        self.queue.retain(|waiting| waiting.id != message.id);
        self.lost.remove(&message.receiver);
        let of_receiver = self.queue.iter_mut().filter(|waiting| waiting.receiver == message.receiver);
        let waits_for_hours = |waiting: &&mut Message| waiting.next.saturating_sub(clock.unix) > PAUSE.1;
        of_receiver.filter(waits_for_hours).for_each(|waiting| waiting.next = clock.unix);
    }

    /// A message was not taken; it is tried again after a pause that doubles, or seldom if the receiver has moved.
    pub fn failed(&mut self, message: &Message, clock: Clock, has_moved: bool) {
        self.follow_clock(clock);
        if let Some(waiting) = self.queue.iter_mut().find(|waiting| waiting.id == message.id) {
            let pause = match has_moved {
                true => PAUSES_MOVED[(waiting.moved as usize).min(PAUSES_MOVED.len() - 1)],
                false => (PAUSE.0 << waiting.tries.min(10)).min(PAUSE.1),
            };
            waiting.moved += u32::from(has_moved);
            waiting.next = clock.unix + pause;
            waiting.tries += 1;
        }
    }

    /// No message grows older because a clock was set or the host slept: times that were noted move along.
    fn follow_clock(&mut self, clock: Clock) {
        let ahead = clock.unix - clock.monotonic;
        let moved = ahead - *self.ahead.get_or_insert(ahead);
        if moved.abs() <= CLOCK_SET {
            return;
        }
        self.ahead = Some(ahead);
        self.digest_since = self.digest_since.saturating_add(moved);
        for message in &mut self.queue {
            message.made = message.made.saturating_add(moved);
            message.next = message.next.saturating_add(moved);
        }
    }

    /// A problem is sent once: what an earlier recorder sent is not sent again. What is sent fits to what was: this recorder may have seen
    /// another severity than the one before, and receivers know a problem by it.
    fn is_news(&mut self, item: &mut Item) -> bool {
        let known = self.known.iter_mut().find(|known| known.item.is_of(&item.rule, &item.object));
        let Some(known) = known else {
            let (is_sent, may_be_over, is_kept_back) = (false, false, false);
            self.known.push(Known { item: item.clone(), is_found: true, may_be_over, is_sent, is_kept_back });
            // What is over was sent when it opened, or the receiver did not exist then.
            return item.happened != Happening::Closed;
        };
        known.is_found = true;
        let (was_open, was_critical) = (known.item.closed.is_none(), known.item.is_critical);
        let is_worse = item.is_critical && !was_critical;
        let is_news = match item.happened {
            Happening::Closed => was_open,
            Happening::Opened | Happening::Worse => !was_open || known.is_kept_back || is_worse,
        };
        if is_news {
            match item.happened {
                Happening::Opened if was_open && is_worse && known.is_sent => item.happened = Happening::Worse,
                Happening::Closed => item.is_critical = was_critical,
                _ => {}
            }
            known.is_kept_back = false;
            // The first time of an open problem stays.
            if was_open {
                item.opened = known.item.opened;
            }
            known.item = item.clone();
        }
        is_news
    }

    fn enqueue(&mut self, file: &NotifyFile, is_digest: bool, items: Vec<Item>, clock: Clock) {
        let muted = if is_digest { std::mem::take(&mut self.muted).len() as u64 } else { 0 };
        for item in &items {
            let of_item = self.known.iter_mut().filter(|known| known.item.is_of(&item.rule, &item.object));
            of_item.for_each(|known| known.is_sent = item.closed.is_none());
        }
        for receiver in &file.receivers {
            self.next_id += 1;
            let (id, made, next) = (self.next_id, clock.unix, clock.unix);
            let receiver = receiver.name.clone();
            let items = items.clone();
            let is_held = false;
            let mut message =
                Message { id, receiver, is_digest, items, made, tries: 0, moved: 0, next, lost: 0, muted, is_held };
            message.is_held = self.approved.as_ref().is_some_and(|kinds| !kinds.contains(&message.kind()));
            self.queue.push(message);
        }
        while self.queue.len() > WAITING_MAX {
            let is_warning = |message: &Message| message.items.iter().all(|item| !item.is_critical);
            let at = self.queue.iter().position(is_warning).unwrap_or_default();
            let dropped = self.queue.remove(at);
            *self.lost.entry(dropped.receiver).or_default() += 1;
        }
    }

    /// Only the newest state of a waiting problem is sent: one that closed meanwhile has both times.
    fn wait(&mut self, item: Item, clock: Clock) {
        if self.digest.is_empty() {
            self.digest_since = clock.unix;
        }
        self.digest.retain(|waiting| !waiting.is_of(&item.rule, &item.object));
        self.digest.push(item);
        if self.digest.len() > WAITING_MAX {
            self.digest.remove(0);
        }
    }
}

/// A problem that an earlier recorder told and this one does not see.
fn over(item: &Item, clock: Clock) -> Item {
    Item {
        happened: Happening::Closed,
        closed: Some(clock.unix),
        evidence: say!("it is not seen any more", "больше не наблюдается"),
        ..item.clone()
    }
}

/// A message that says that messages arrive.
pub fn test_message(receiver: &str, unix: i64) -> Message {
    let receiver = receiver.to_string();
    Message {
        id: 0,
        receiver,
        is_digest: false,
        items: Vec::new(),
        made: unix,
        tries: 0,
        moved: 0,
        next: unix,
        lost: 0,
        muted: 0,
        is_held: false,
    }
}

/// What is printed of the limits.
pub fn limits() -> Say {
    let (hours, most) = (TRIED_FOR / 3600, WAITING_MAX);
    say!(
        "a message is tried for {hours} h, at most {most} wait",
        "сообщение пробуют отправить {hours} ч, ждут не более {most}"
    )
}

#[cfg(test)]
mod moved_tests;
#[cfg(test)]
mod tests;
