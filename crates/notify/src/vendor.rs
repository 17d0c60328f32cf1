//! Notices to a vendor: a queue of their own, of which each kind waits until a person has seen its first notice and approved it. Decisions come from
//! another process by a file; everything that was held, decided, sent or not taken is in a log. Must not redact: what comes here is redacted.

use crate::item::Message;
use crate::policy::State;
use crate::send::rendered;
use crate::store::{is_held, private_directory, write_private};
use crate::words::text;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, Say, random, say};
use stend_spec::notify::{MessageLang, NotifyFile, Receiver, Vendor, Way};

/// What the vendor is called where receivers have names.
pub const RECEIVER: &str = "vendor";
/// Largest log and list of decisions that is read.
const SIZE_MAX: u64 = 64 << 20;
/// From this size on a new log begins; the one before is kept.
const LOG_MAX: u64 = 16 << 20;

/// What a person says of a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Number of the notice.
    pub id: u64,
    /// Its kind.
    pub kind: String,
    /// Where it was to go. Empty in a decision of an earlier version, which no address has and no process follows.
    #[serde(default)]
    pub place: String,
    /// What.
    pub decision: Decision,
    /// Who.
    pub by: String,
    /// When, seconds since 1970.
    pub at_unix_s: i64,
    /// What was shown, which is what is sent.
    pub bytes: String,
}

/// What becomes of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is sent, and later ones of its kind go by themselves.
    Approved,
    /// It is not sent.
    Withheld,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// When, seconds since 1970.
    pub at_unix_s: i64,
    /// `held`, `approved`, `withheld`, `sent`, `not_taken`.
    pub what: String,
    /// Number of the notice.
    pub id: u64,
    /// Its kind.
    pub kind: String,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why it was not taken, in English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What was sent, or shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

impl Logged {
    /// What happened to a message.
    pub fn of(what: &str, message: &Message, at_unix_s: i64) -> Logged {
        let (id, kind) = (message.id, message.kind());
        Logged { at_unix_s, what: what.to_string(), id, kind, by: None, why: None, bytes: None }
    }
}

/// A notice that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// What it says.
    pub message: Message,
    /// In words.
    pub text: String,
    /// The bytes that are sent.
    pub bytes: String,
    /// Where to.
    pub place: String,
}

/// The files of a vendor's notices beside their queue.
#[derive(Debug, Clone)]
pub struct Desk {
    directory: PathBuf,
}

impl Desk {
    /// Those in this directory, which is made.
    ///
    /// Errors: kind `Preflight` if it cannot be used.
    pub fn open(directory: &Path) -> Result<Desk> {
        private_directory(directory).map_err(|error| unusable(directory, &error))?;
        Ok(Desk { directory: directory.to_path_buf() })
    }

    /// What ends each stand-in in the notices of this host: drawn once, so that the vendor can tell which notices are of one host.
    ///
    /// Errors: kind `Preflight` if it cannot be kept.
    pub fn tag(&self) -> Result<String> {
        let place = self.directory.join("tag");
        if let Ok(found) = stend_sys::regular::text(&place, 64) {
            return Ok(found.trim().to_string());
        }
        let drawn = random::mix(stend_sys::clock::stamps().2);
        let letter = |i| char::from(b'a' + random::below(random::draw(drawn, i), 26) as u8);
        let tag: String = (0..6).map(letter).collect();
        write_private(&place, tag.as_bytes()).map_err(|error| unusable(&self.directory, &error))?;
        Ok(tag)
    }

    /// What waits, as the process that sends has kept it.
    ///
    /// Errors: kind `Preflight` if it cannot be read.
    pub fn waiting(&self, way: &Receiver, host: &str, lang: MessageLang) -> Result<Vec<Waiting>> {
        let Some(state) = self.state()? else { return Ok(Vec::new()) };
        // What the other process has followed is in the state.
        let decided = self.decisions().split_off(state.followed.min(self.decisions().len()));
        let to = place(way);
        let is_undecided = |message: &&Message| !decided.iter().any(|of| of.id == message.id && of.place == to);
        let held = state.queue.into_iter().filter(|message| message.is_held);
        let held: Vec<Message> = held.filter(|message| is_undecided(&message)).collect();
        let waiting = |message: Message| {
            let (text, bytes) = (text(&message, host, lang), rendered(way, &message, host, lang));
            Waiting { message, text, bytes, place: to.clone() }
        };
        Ok(held.into_iter().map(waiting).collect())
    }

    /// The address to which a process that is at work sends what is approved, if it is not that of this receiver.
    ///
    /// Errors: kind `Preflight` if that cannot be read.
    pub fn elsewhere(&self, way: &Receiver) -> Result<Option<String>> {
        let to = self.state()?.map(|state| state.approved_for).unwrap_or_default();
        // A lock that is taken here for a moment could keep a recorder from beginning: only where it matters.
        if to.is_empty() || to == place(way) {
            return Ok(None);
        }
        let is_at_work = is_held(&self.directory).map_err(|error| unusable(&self.directory, &error))?;
        Ok(is_at_work.then_some(to))
    }

    /// What the process that sends has kept, if there was one.
    fn state(&self) -> Result<Option<State>> {
        let place = self.directory.join("state.json");
        if place.symlink_metadata().is_err() {
            return Ok(None);
        }
        let kept = stend_sys::regular::text(&place, SIZE_MAX)
            .map_err(|why| unusable(&self.directory, &io::Error::other(why.en)))?;
        serde_json::from_str(&kept).map(Some).map_err(|error| unusable(&self.directory, &io::Error::from(error)))
    }

    /// Adds a decision, and puts it into the log.
    ///
    /// Errors: kind `Preflight` if it cannot be kept.
    pub fn decide(&self, decided: &Decided) -> Result<()> {
        let line = serde_json::to_string(decided).unwrap_or_default() + "\n";
        append(&self.directory.join("decisions.jsonl"), &line).map_err(|error| unusable(&self.directory, &error))?;
        let what = match decided.decision {
            Decision::Approved => "approved",
            Decision::Withheld => "withheld",
        };
        self.log(&Logged {
            at_unix_s: decided.at_unix_s,
            what: what.to_string(),
            id: decided.id,
            kind: decided.kind.clone(),
            by: Some(decided.by.clone()),
            why: None,
            bytes: Some(decided.bytes.clone()),
        })
        .map_err(|error| unusable(&self.directory, &error))
    }

    /// All decisions, the oldest first; a line that is none is left out.
    pub fn decisions(&self) -> Vec<Decided> {
        lines(&self.directory.join("decisions.jsonl"))
    }

    /// The log, the oldest line first.
    pub fn logged(&self) -> Vec<Logged> {
        let [old, new] = ["log.old.jsonl", "log.jsonl"].map(|name| lines(&self.directory.join(name)));
        [old, new].concat()
    }

    /// Adds a line to the log.
    ///
    /// Errors: those of writing it.
    pub fn log(&self, logged: &Logged) -> io::Result<()> {
        let place = self.directory.join("log.jsonl");
        if place.symlink_metadata().is_ok_and(|found| found.len() > LOG_MAX) {
            std::fs::rename(&place, self.directory.join("log.old.jsonl"))?;
        }
        append(&place, &(serde_json::to_string(logged)? + "\n"))
    }
}

/// The policy of a vendor: what was chosen goes at once, the rest never; there are no digests and no quiet hours.
pub fn file_of(vendor: &Vendor, lang: MessageLang) -> NotifyFile {
    NotifyFile {
        lang,
        policy: vendor.policy.clone(),
        digest: stend_base::Nanos::secs(6 * 3600),
        quiet: None,
        receivers: vec![Receiver { name: RECEIVER.to_string(), way: vendor.way.clone() }],
        vendor: None,
    }
}

/// Where notices go: what people approve is for this place alone.
pub fn place(receiver: &Receiver) -> String {
    match &receiver.way {
        Way::Mail(mail) => mail.to.join(", "),
        Way::Webhook { url, .. } => url.clone(),
        _ => String::new(),
    }
}

/// Whole lines of a file; one that is none is left out.
fn lines<T: for<'a> Deserialize<'a>>(place: &Path) -> Vec<T> {
    let text = stend_sys::regular::text(place, SIZE_MAX).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Adds a line in one write, so that two processes do not mix theirs.
fn append(place: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(place)?;
    crate::store::hand_over(&file, place.parent().unwrap_or(place))?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

fn unusable(directory: &Path, error: &io::Error) -> Box<Error> {
    let (shown, Say { en, ru }) = (directory.display(), stend_sys::regular::why(error));
    Error::preflight(say!(
        "cannot keep notices to the vendor in `{shown}`: {en}",
        "не удаётся хранить сообщения производителю в `{shown}`: {ru}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Happening;
    use crate::policy::Clock;
    use crate::words::tests::{item, message};

    #[test]
    fn decisions_and_the_log_are_read_line_by_line_and_half_a_line_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let desk = Desk::open(&dir.path().join("vendor")).unwrap();
        let decided = Decided {
            id: 7,
            kind: "array_degraded/opened".into(),
            place: "https://vendor.example".into(),
            decision: Decision::Approved,
            by: "ann".into(),
            at_unix_s: 5,
            bytes: "{}".into(),
        };
        desk.decide(&decided).unwrap();
        append(&desk.directory.join("decisions.jsonl"), "no decision\n{\"id\": 8").unwrap();
        assert_eq!(desk.decisions(), [decided]);
        let logged = desk.logged();
        assert_eq!((logged[0].what.as_str(), logged[0].by.as_deref()), ("approved", Some("ann")));
        let other = Logged {
            why: Some("no route".into()),
            ..Logged::of("not_taken", &message(vec![item("md0", Happening::Opened)]), 6)
        };
        desk.log(&other).unwrap();
        assert_eq!(desk.logged()[1], other);
    }

    #[test]
    fn a_process_at_work_that_sends_elsewhere_is_found_and_a_decision_about_there_is_none_about_here() {
        let dir = tempfile::tempdir().unwrap();
        let desk = Desk::open(dir.path()).unwrap();
        let file = stend_spec::parse::notify("receivers: {vendor: {syslog: {}}}", "n.yaml").unwrap();
        let to = |url: &str| {
            let way = Way::Webhook { url: url.into(), token: None };
            Receiver { name: RECEIVER.into(), way }
        };
        let (old, new) = (to("https://old.example"), to("https://new.example"));
        let elsewhere = |way: &Receiver| desk.elsewhere(way).unwrap();
        assert_eq!(elsewhere(&new), None, "no process has sent anything");
        let (store, mut state) = crate::store::Store::open(dir.path()).unwrap();
        state.hold_kinds(&place(&old));
        state.note(&file, item("md0", Happening::Opened), Clock { unix: 5, monotonic: 5, minute: 0 });
        store.keep(&state, 1).unwrap().unwrap();
        assert_eq!((elsewhere(&old), elsewhere(&new).as_deref()), (None, Some("https://old.example")));
        let waiting = |way: &Receiver| desk.waiting(way, "host", MessageLang::En).unwrap();
        let [Waiting { message, bytes, place, .. }] = &waiting(&old)[..] else { panic!("one waits") };
        let (id, kind, decision) = (message.id, message.kind(), Decision::Withheld);
        let (by, bytes, place) = ("ann".into(), bytes.clone(), place.clone());
        desk.decide(&Decided { id, kind, place, decision, by, at_unix_s: 5, bytes }).unwrap();
        assert_eq!((waiting(&old).len(), waiting(&new).len()), (0, 1));
        drop(store);
        assert_eq!(elsewhere(&new), None, "no process is at work");
    }

    #[test]
    fn the_tag_of_a_host_stays() {
        let dir = tempfile::tempdir().unwrap();
        let desk = Desk::open(dir.path()).unwrap();
        let tag = desk.tag().unwrap();
        assert!(tag.len() == 6 && tag.bytes().all(|byte| byte.is_ascii_lowercase()), "{tag}");
        assert_eq!(Desk::open(dir.path()).unwrap().tag().unwrap(), tag);
    }
}
