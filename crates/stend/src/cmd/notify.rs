//! Receivers of problems, as `stend record --notify` names them: reads their file, sends, and says what became of a test.

use crate::out::Out;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use stend_analyse::journal::Problem;
use stend_base::{Error, Result, Say, say};
use stend_notify::{Changes, Outbox, Standing};
use stend_record::HostInfo;
use stend_session::WatchedMarks;
use stend_spec::notify::NotifyFile;

/// Tells of problems while a recording goes on.
pub struct Notifier {
    file: NotifyFile,
    directory: PathBuf,
    changes: Changes,
    outbox: Option<Outbox>,
    /// What its threads want to say.
    said: Receiver<Say>,
    told: stend_notify::Told,
    /// What people say of problems, as of the begin of the recording.
    marks: Option<WatchedMarks>,
    host: String,
    realtime_offset_ns: i64,
    /// What the outbox knows of.
    muted: BTreeSet<(String, String)>,
    acknowledged: BTreeSet<(String, String)>,
}

impl Notifier {
    /// Receivers of a file.
    ///
    /// Errors: those of reading and parsing it.
    pub fn new(file: &str) -> Result<Notifier> {
        let text = stend_sys::regular::text(file, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
            Error::usage(say!("cannot read `{file}`: {en}", "не удаётся прочитать `{file}`: {ru}"))
        })?;
        let parsed = stend_spec::parse::notify(&text, file)?;
        let (monotonic, _, realtime) = stend_sys::clock::stamps();
        let (to, said) = channel();
        let to = Mutex::new(to);
        // The recorder may have ended.
        let told = move |say| drop(to.lock().unwrap_or_else(PoisonError::into_inner).send(say));
        Ok(Notifier {
            file: parsed,
            directory: stend_session::notify_directory(file)?,
            changes: Changes::new(realtime as i64 - monotonic as i64),
            marks: None,
            host: String::new(),
            realtime_offset_ns: realtime as i64 - monotonic as i64,
            muted: BTreeSet::new(),
            acknowledged: BTreeSet::new(),
            outbox: None,
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

    /// What is printed when a recording begins.
    pub fn told(&self) -> Say {
        let names = self.file.receivers.iter().map(|receiver| receiver.name.as_str()).collect::<Vec<_>>().join(", ");
        let Say { en, ru } = stend_notify::limits();
        let place = self.directory.display();
        say!("notifies   {names} ({en}; in {place})", "извещает {names} ({ru}; в {place})")
    }

    /// Looks at the journal, and prints what its threads have to say.
    pub fn look(&mut self, problems: &[Problem], out: &Out) {
        let marks = self.marks.as_ref().map(WatchedMarks::now).unwrap_or_default();
        let now = super::journal::now_unix();
        let items = self.changes.look(problems, &|problem| {
            let problem = problem.occurrence(self.realtime_offset_ns);
            match (marks.muted(&self.host, &problem, now), marks.acknowledged(&self.host, &problem)) {
                (Some(_), _) => Standing::Muted,
                (None, Some(_)) => Standing::Acknowledged,
                (None, None) => Standing::Plain,
            }
        });
        if self.changes.muted() != &self.muted {
            self.muted.clone_from(self.changes.muted());
            self.outbox.iter().for_each(|outbox| outbox.mute(&self.muted));
        }
        if self.changes.acknowledged() != &self.acknowledged {
            self.acknowledged.clone_from(self.changes.acknowledged());
            self.outbox.iter().for_each(|outbox| outbox.found(&self.acknowledged));
        }
        self.outbox.iter().for_each(|outbox| outbox.note(items.clone()));
        self.said.try_iter().for_each(|say| out.note(&format!("! {}", say.get(out.lang))));
    }

    /// Gives what is due a last chance.
    pub fn end(self, out: &Out) {
        self.outbox.into_iter().for_each(Outbox::close);
        self.said.try_iter().for_each(|say| out.note(&format!("! {}", say.get(out.lang))));
    }
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
