//! Receivers of problems, as `stend record --notify` names them: reads their file, sends, and says what became of a test.

use crate::out::Out;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use stend_analyse::journal::Journal;
use stend_base::{Error, Result, Say, say};
use stend_notify::{Changes, Desk, Item, Outbox, Standing};
use stend_record::redact::Redaction;
use stend_record::{Event, HostInfo, WallClock};
use stend_session::WatchedMarks;
use stend_spec::notify::NotifyFile;

/// Where notices to a vendor are kept, below the directory of the file of receivers.
pub const VENDOR_DIRECTORY: &str = "vendor";

/// Reads a file of receivers.
///
/// Errors: those of reading and parsing it.
pub fn read(file: &str) -> Result<NotifyFile> {
    let text = stend_sys::regular::text(file, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
        Error::usage(say!("cannot read `{file}`: {en}", "не удаётся прочитать `{file}`: {ru}"))
    })?;
    stend_spec::parse::notify(&text, file)
}

/// What a vendor calls this host.
pub fn host_stand_in(tag: &str, hostname: &str) -> String {
    let mut redaction = Redaction::tagged(tag);
    redaction.learn_name(hostname);
    redaction.text(hostname)
}

/// Notices to a vendor: a queue of its own, and what is taken out of them.
struct ToVendor {
    outbox: Outbox,
    redaction: Redaction,
}

impl ToVendor {
    /// Begins to send to the vendor what was approved.
    ///
    /// Errors: those of [`Outbox::of_vendor`].
    fn begin(
        file: &NotifyFile,
        host: &HostInfo,
        directory: &Path,
        told: stend_notify::Told,
    ) -> Result<Option<ToVendor>> {
        let Some(vendor) = &file.vendor else { return Ok(None) };
        let directory = directory.join(VENDOR_DIRECTORY);
        let tag = Desk::open(&directory)?.tag()?;
        let mut redaction = Redaction::tagged(&tag);
        redaction.learn_name(host.called());
        redaction.learn_ports(&host.ports);
        redaction.learn_inventory(&stend_worker::inventory(false))?;
        let policy = stend_notify::file_of_vendor(vendor, file.lang);
        let called = redaction.text(host.called());
        Ok(Some(ToVendor { outbox: Outbox::of_vendor(policy, &called, &directory, told)?, redaction }))
    }

    /// Rule and object of problems, as the queue of the vendor has them.
    fn masked(&mut self, of: &BTreeSet<(String, String)>) -> BTreeSet<(String, String)> {
        of.iter().for_each(|(rule, object)| self.redaction.learn_object(rule, object));
        of.iter().map(|(rule, object)| (rule.clone(), self.redaction.text(object))).collect()
    }

    fn note(&mut self, items: &[Item]) {
        let items = items.iter().filter_map(|item| redacted(&mut self.redaction, item)).collect();
        self.outbox.note(items);
    }
}

/// What happened, without names, serial numbers, addresses and paths. `None`: it cannot be looked through, so it is not sent.
fn redacted(redaction: &mut Redaction, item: &Item) -> Option<Item> {
    redaction.learn_object(&item.rule, &item.object);
    redaction.scan(item).ok()?;
    redaction.part(item).ok()
}

/// Tells of problems while a recording goes on.
pub struct Notifier {
    file: NotifyFile,
    directory: PathBuf,
    changes: Changes,
    outbox: Option<Outbox>,
    vendor: Option<ToVendor>,
    /// What its threads want to say.
    said: Receiver<Say>,
    told: stend_notify::Told,
    /// What people say of problems, as of the begin of the recording.
    marks: Option<WatchedMarks>,
    host: String,
    /// As the file of the recording has it: what people mark is found by it.
    clock: WallClock,
    /// What the outbox knows of.
    muted: BTreeSet<(String, String)>,
    acknowledged: BTreeSet<(String, String)>,
    /// How many rules and objects were well, and what the host had then.
    well: (usize, BTreeSet<String>),
}

impl Notifier {
    /// Receivers of a file.
    ///
    /// Errors: those of reading and parsing it.
    pub fn new(file: &str) -> Result<Notifier> {
        let parsed = read(file)?;
        let (to, said) = channel();
        let to = Mutex::new(to);
        // The recorder may have ended.
        let told = move |say| drop(to.lock().unwrap_or_else(PoisonError::into_inner).send(say));
        Ok(Notifier {
            file: parsed,
            directory: stend_session::notify_directory(file)?,
            changes: Changes::default(),
            marks: None,
            host: String::new(),
            clock: WallClock::ahead_by(ahead_ns()),
            muted: BTreeSet::new(),
            acknowledged: BTreeSet::new(),
            well: Default::default(),
            outbox: None,
            vendor: None,
            said,
            told: Arc::new(told),
        })
    }

    /// Begins to send, as this host.
    ///
    /// Errors: those of [`Outbox::open`]; kind `RunFile` if its directory cannot be made.
    pub fn begin(&mut self, host: &HostInfo) -> Result<()> {
        if self.outbox.is_none() {
            stend_session::make_parent(&self.directory)?;
            self.host = host.called().to_string();
            self.outbox = Some(Outbox::open(self.file.clone(), host.called(), &self.directory, self.told.clone())?);
            self.vendor = ToVendor::begin(&self.file, host, &self.directory, self.told.clone())?;
        }
        Ok(())
    }

    /// From now on what people say of problems in this recording counts.
    ///
    /// Errors: those of [`WatchedMarks::begin`].
    pub fn follow(&mut self, recording: &Path) -> Result<()> {
        let told = self.told.clone();
        self.marks = Some(WatchedMarks::begin(recording, move |say| told(say))?);
        Ok(())
    }

    /// Something happened on the host.
    pub fn happened(&mut self, event: &Event) {
        self.clock.note(event);
    }

    /// What is printed when a recording begins.
    pub fn told(&self) -> Say {
        let names = self.file.receivers.iter().map(|receiver| receiver.name.as_str());
        let names = names.chain(self.file.vendor.iter().map(|_| stend_notify::VENDOR)).collect::<Vec<_>>().join(", ");
        let Say { en, ru } = stend_notify::limits();
        let place = self.directory.display();
        say!("notifies   {names} ({en}; in {place})", "извещает {names} ({ru}; в {place})")
    }

    /// Looks at the journal, and prints what its threads have to say.
    pub fn look(&mut self, journal: &Journal, out: &Out) {
        let marks = self.marks.as_ref().map(WatchedMarks::now).unwrap_or_default();
        let now = super::journal::now_unix();
        let items = self.changes.look(journal.problems(), &|at| self.clock.unix_s(at), &|problem| {
            let problem = problem.occurrence(&self.clock);
            match (marks.muted(&self.host, &problem, now), marks.acknowledged(&self.host, &problem)) {
                (Some(_), _) => Standing::Muted,
                (None, Some(_)) => Standing::Acknowledged,
                (None, None) => Standing::Plain,
            }
        });
        if self.changes.muted() != &self.muted {
            self.muted.clone_from(self.changes.muted());
            self.outbox.iter().for_each(|outbox| outbox.mute(&self.muted));
            if let Some(vendor) = &mut self.vendor {
                let muted = vendor.masked(&self.muted);
                vendor.outbox.mute(&muted);
            }
        }
        if self.changes.acknowledged() != &self.acknowledged {
            self.acknowledged.clone_from(self.changes.acknowledged());
            self.outbox.iter().for_each(|outbox| outbox.found(&self.acknowledged));
            if let Some(vendor) = &mut self.vendor {
                let acknowledged = vendor.masked(&self.acknowledged);
                vendor.outbox.found(&acknowledged);
            }
        }
        self.vendor.iter_mut().for_each(|vendor| vendor.note(&items));
        self.outbox.iter().for_each(|outbox| outbox.note(items.clone()));
        self.note_well(journal);
        self.said.try_iter().for_each(|say| out.note(&format!("! {}", say.get(out.lang))));
    }

    /// Has the outbox know what is well: what it waits for after a restart may be over. What is bad was noted before.
    fn note_well(&mut self, journal: &Journal) {
        let Some(objects) = journal.objects() else { return };
        let now = (journal.well().len(), objects);
        if now == self.well {
            return;
        }
        let well = journal.well().iter().map(|(rule, object)| (rule.key().to_string(), object.clone())).collect();
        self.outbox.iter().for_each(|outbox| outbox.found_well(&well, &now.1));
        if let Some(vendor) = &mut self.vendor {
            let well = vendor.masked(&well);
            let objects = now.1.iter().map(|object| vendor.redaction.text(object)).collect();
            vendor.outbox.found_well(&well, &objects);
        }
        self.well = now;
    }

    /// Gives what is due a last chance.
    pub fn end(self, out: &Out) {
        self.outbox.into_iter().chain(self.vendor.map(|vendor| vendor.outbox)).for_each(Outbox::close);
        self.said.try_iter().for_each(|say| out.note(&format!("! {}", say.get(out.lang))));
    }
}

/// By how many ns wall-clock time is ahead of the clock of samples.
fn ahead_ns() -> i64 {
    let (monotonic, _, realtime) = stend_sys::clock::stamps();
    realtime as i64 - monotonic as i64
}

/// Sends every receiver a test message, and prints who took it.
///
/// Errors: those of [`Notifier::new`]; kind `Preflight` if a receiver did not take it.
pub fn test(file: &str, out: &Out) -> Result<()> {
    let notifier = Notifier::new(file)?;
    let facts = stend_session::host_facts();
    let sent = stend_notify::test(&notifier.file, &facts.hostname, &notifier.directory);
    let failed = sent.iter().filter(|(_, sent)| sent.is_err()).count();
    out.result(&match out.json {
        true => {
            let one = |(name, sent): &(String, std::result::Result<(), Say>)| {
                json!({"name": name, "sent": sent.is_ok(), "why": sent.as_ref().err()})
            };
            json!({"receivers": sent.iter().map(one).collect::<Vec<_>>()}).to_string()
        }
        false => sent.iter().map(|(name, sent)| line(name, sent, out)).collect::<String>(),
    })?;
    match failed {
        0 => Ok(()),
        _ => Err(Error::preflight(say!(
            "receivers without their message: {failed}",
            "получателей без сообщения: {failed}"
        ))),
    }
}

fn line(name: &str, sent: &std::result::Result<(), Say>, out: &Out) -> String {
    match sent {
        Ok(()) => say!("✔ {name}: sent\n", "✔ {name}: отправлено\n").get(out.lang).to_string(),
        Err(why) => format!("✖ {name}: {}\n", why.get(out.lang)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_notify::Happening;

    #[test]
    fn what_a_vendor_is_sent_has_no_host_path_or_address() {
        let item = Item {
            happened: Happening::Opened,
            rule: "io_errors".into(),
            category: "drive".into(),
            is_critical: true,
            object: "sda".into(),
            name: say!("I/O errors", "ошибки"),
            evidence: Say::same("I/O error, dev sda, /srv/acme of 10.9.8.7:4420 on filer7"),
            advice: Say::same("Replace it."),
            opened: 1,
            closed: None,
        };
        let mut redaction = Redaction::tagged("kfzm");
        redaction.learn_name("bob@filer7");
        let found = redacted(&mut redaction, &item).unwrap();
        assert_eq!(found.evidence.en, "I/O error, dev sda, /path-1-kfzm of address-1-kfzm on host-2-kfzm");
        assert_eq!((&found.rule, &found.object), (&item.rule, &item.object));
        let port = Item { rule: "port_errors".into(), object: "enx0017c8aabbcc".into(), ..item };
        assert_eq!(redacted(&mut redaction, &port).unwrap().object, "address-2-kfzm");
        assert_eq!(host_stand_in("kfzm", "filer7"), "host-1-kfzm");
    }
}
