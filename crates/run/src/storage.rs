//! The storage host of a stand of two hosts, watched while the client is measured: another worker, whose telemetry is kept beside
//! that of the run. Must not end a run: without it the run says less, and nothing wrong.

use crate::ahead::SAMPLE_EVERY;
use crate::preview::lost;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use stend_base::{Nanos, Result, Say, say};
use stend_host::{FromHost, Host, Reply, Request, Watch};
use stend_record::{Entry, Event, EventKind, StorageHost};

/// Longest silence while it looks at what it hands out: drives that sleep need ten seconds to wake up.
const FACTS_LIMIT: Duration = Duration::from_secs(60);
/// How long what a mark asks for may take to arrive at the end of a run: a reading, and the way there and back.
const MARK_LIMIT: Duration = Duration::from_secs(2);
/// How long its worker may take to exit; it made nothing.
const END_LIMIT: Duration = Duration::from_secs(5);

/// What it has said, for the run file; and once why it will say no more.
pub(crate) type Heard = (Vec<Entry>, Option<Say>);

/// A storage host that is watched.
pub struct Storage {
    host: Host,
    /// What it says, its times on our clock.
    from: Receiver<FromHost>,
    facts: StorageHost,
    /// When the last mark was set, until everything has been read after it.
    awaited: Option<Nanos>,
    /// Nothing more will come.
    over: bool,
}

impl Storage {
    /// Has its worker watch what lies below these paths, which the host hands out, and waits until it does.
    ///
    /// Errors: what the worker says against it, or `HostLost`.
    pub fn watch(mut host: Host, name: &str, targets: Vec<String>) -> Result<Storage> {
        let (sender, from) = channel();
        host.listen(move |message| drop(sender.send(message)))?;
        host.send(&Request::Watch(Watch { targets, sample_every: SAMPLE_EVERY }));
        let (found, targets) = loop {
            match from.recv_timeout(FACTS_LIMIT) {
                Ok(FromHost::Reply(Reply::Watched { host, targets })) => break (host, targets),
                Ok(FromHost::Reply(Reply::Failed(error))) => return Err(error),
                Ok(FromHost::Reply(_)) => {}
                Ok(FromHost::Lost(detail)) => return Err(lost(&detail)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(lost("no answer in time"));
                }
            }
        };
        let clock_uncertainty_ns = host.clock().map_or(0, |clock| clock.uncertainty_ns);
        let facts = StorageHost { name: name.to_string(), host: *found, targets, clock_uncertainty_ns };
        Ok(Storage { host, from, facts, awaited: None, over: false })
    }

    /// What is known of it, for the run file.
    pub(crate) fn facts(&self) -> Entry {
        Entry::Storage(Box::new(self.facts.clone()))
    }

    /// A trial begins or ends at this time: its counters are read now.
    pub(crate) fn mark(&mut self, now: Nanos) {
        self.awaited = Some(now);
        self.host.send(&Request::Mark);
    }

    /// What has come since the last time; `now` is when.
    pub(crate) fn heard(&mut self, now: Nanos) -> Heard {
        let (mut entries, mut told) = (Vec::new(), None);
        while let Some(message) = self.from.try_recv().ok().filter(|_| !self.over) {
            told = told.or(self.take(message, now, &mut entries));
        }
        (entries, told)
    }

    /// The same at the end of a run, with what the last mark asks for.
    pub(crate) fn heard_last(&mut self, now: Nanos) -> Heard {
        let (mut entries, mut told) = self.heard(now);
        while self.awaited.is_some() && !self.over {
            let Ok(message) = self.from.recv_timeout(MARK_LIMIT) else { break };
            told = told.or(self.take(message, now, &mut entries));
        }
        (entries, told)
    }

    /// Turns a message into entries; one that ends it into what is told.
    fn take(&mut self, message: FromHost, now: Nanos, entries: &mut Vec<Entry>) -> Option<Say> {
        let why = match message {
            FromHost::Reply(Reply::Sample(sample)) => {
                // Everything is read at a mark, and hardly ever in between.
                if self.awaited.is_some_and(|marked| sample.at >= marked && sample.parts.is_some()) {
                    self.awaited = None;
                }
                entries.push(Entry::StorageSample(sample));
                return None;
            }
            FromHost::Reply(Reply::Failed(error)) => error.message,
            FromHost::Reply(_) => return None,
            FromHost::Lost(detail) => lost(&detail).message,
        };
        self.over = true;
        let kind = EventKind::StorageUnwatched { host: self.facts.name.clone(), why: why.clone() };
        entries.push(Entry::Event(Event { at: now, kind }));
        Some(unwatched(&self.facts.name, &why))
    }

    /// Ends watching.
    pub(crate) fn end(self) {
        // It made nothing: whether it had to be killed makes no difference to what it said.
        let _ended = self.host.end(END_LIMIT);
    }
}

/// What is told of a storage host that is not watched, or not any more.
pub fn unwatched(name: &str, why: &Say) -> Say {
    let Say { en, ru } = why;
    say!(
        "the drives of `{name}` are not watched: {en}. What reaches them cannot be told",
        "за накопителями `{name}` никто не следит: {ru}. Что до них доходит, сказать нельзя"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::Instant;
    use stend_base::{Error, Kind};
    use stend_host::protocol::{write_frame, write_hello};
    use stend_record::{HostFacts, Sample};

    /// A worker that hears our hello, says this and ends.
    fn saying(replies: &[Reply]) -> (tempfile::NamedTempFile, Host) {
        let mut said = Vec::new();
        write_hello(&mut said).unwrap();
        let hello = said.len().to_string();
        replies.iter().for_each(|reply| write_frame(&mut said, reply).unwrap());
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), said).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "head -c $1 > /dev/null; cat $2", "sh", &hello]).arg(file.path());
        let host = Host::reach(command, Duration::from_secs(30)).unwrap();
        (file, host)
    }

    fn watched() -> Reply {
        let host = Box::new(HostFacts { hostname: "array".into(), ..HostFacts::default() });
        Reply::Watched { host, targets: Vec::new() }
    }

    fn sample(at: u64) -> Reply {
        Reply::Sample(Box::new(Sample { at: Nanos(at), ..Sample::default() }))
    }

    /// Everything that is heard until nothing more comes.
    fn to_its_end(storage: &mut Storage) -> (Vec<Entry>, Say) {
        let (until, mut all) = (Instant::now() + Duration::from_secs(30), Vec::new());
        loop {
            let (entries, told) = storage.heard(Nanos(9));
            all.extend(entries);
            if let Some(told) = told {
                return (all, told);
            }
            assert!(Instant::now() < until, "{all:?}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_it_reads_is_kept_and_that_it_is_gone_is_told_once() {
        let (_file, host) = saying(&[watched(), sample(1), sample(2)]);
        let mut storage = Storage::watch(host, "array1", vec!["/dev/md0".into()]).unwrap();
        let Entry::Storage(facts) = storage.facts() else { panic!() };
        assert_eq!((facts.name.as_str(), facts.host.hostname.as_str()), ("array1", "array"));
        let (entries, told) = to_its_end(&mut storage);
        let [Entry::StorageSample(first), Entry::StorageSample(second), Entry::Event(last)] = entries.as_slice() else {
            panic!("{entries:?}")
        };
        assert_eq!((first.at, second.at), (Nanos(1), Nanos(2)));
        let EventKind::StorageUnwatched { host, why } = &last.kind else { panic!("{last:?}") };
        assert_eq!((host.as_str(), why.en.as_str()), ("array1", "the worker was lost: the worker ended"));
        assert!(
            told.en.contains("`array1` are not watched") && told.ru.contains("`array1` никто не следит"),
            "{told:?}"
        );
        assert!(matches!(storage.heard(Nanos(9)), (entries, None) if entries.is_empty()));
        storage.mark(Nanos(9));
        assert!(matches!(storage.heard_last(Nanos(9)), (entries, None) if entries.is_empty()));
        storage.end();
    }

    #[test]
    fn what_the_last_mark_asks_for_is_waited_for() {
        let all = |at: u64| Sample { at: Nanos(at), parts: Some(Box::default()), ..Sample::default() };
        let (_file, host) =
            saying(&[watched(), Reply::Sample(Box::new(all(4))), sample(6), Reply::Sample(Box::new(all(7)))]);
        let mut storage = Storage::watch(host, "array1", Vec::new()).unwrap();
        storage.mark(Nanos(5));
        let (entries, _) = storage.heard_last(Nanos(8));
        let of = |entry: &Entry| if let Entry::StorageSample(sample) = entry { Some(sample.at) } else { None };
        let found: Vec<Nanos> = entries.iter().filter_map(of).collect();
        assert_eq!(found, [Nanos(4), Nanos(6), Nanos(7)]);
    }

    #[test]
    fn one_that_fails_is_over_with_its_reason() {
        let failed = || Reply::Failed(Error::new(Kind::Preflight, say!("no telemetry", "телеметрии нет")));
        let (_file, host) = saying(&[watched(), failed()]);
        let (entries, told) = to_its_end(&mut Storage::watch(host, "array1", Vec::new()).unwrap());
        assert_eq!((entries.len(), told.en.contains("no telemetry")), (1, true), "{told:?}");
        let (_file, host) = saying(&[failed()]);
        let error = Storage::watch(host, "array1", Vec::new()).err().unwrap();
        assert_eq!((error.kind, error.message.en.as_str()), (Kind::Preflight, "no telemetry"));
        let (_file, host) = saying(&[]);
        let error = Storage::watch(host, "array1", Vec::new()).err().unwrap();
        assert_eq!(error.kind, Kind::HostLost);
    }
}
