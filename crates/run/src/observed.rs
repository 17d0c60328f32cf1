//! Hosts that are watched while another one is measured: the storage host of a stand of two hosts, and whatever the user names. Each has
//! a worker, whose telemetry is kept beside that of the run. Must not end a run: without it the run says less, and nothing wrong.

use crate::ahead::SAMPLE_EVERY;
use crate::channel::{lost, next_within};
use crate::step::no_answer;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use stend_base::{Nanos, Result, Say, say};
use stend_record::{Entry, Event, EventKind, HostId, HostInfo, Role};
use stend_wire::{FromHost, Host, Reply, Request, Watch};

/// Longest silence while it looks at what it hands out: drives that sleep need ten seconds to wake up.
const FACTS_LIMIT: Duration = Duration::from_secs(60);
/// How long what a mark asks for may take to arrive at the end of a run: a reading, and the way there and back.
const MARK_LIMIT: Duration = Duration::from_secs(2);
/// How long its worker may take to exit; it made nothing.
const END_LIMIT: Duration = Duration::from_secs(5);

/// A reading comes twice a second: a host that says nothing for so long is paused, or its line hangs.
const SILENT: Nanos = Nanos::secs(30);

/// What it has said, for the run file; and once why it will say no more.
pub(crate) type Heard = (Vec<Entry>, Option<Say>);

/// A host that is watched.
pub struct ObservedHost {
    id: HostId,
    info: HostInfo,
    /// What was done to it before the run, and that it is not watched if so.
    done: Vec<EventKind>,
    /// What is known of it has been told.
    told: bool,
    watched: Option<Watched>,
}

/// One that is watched.
struct Watched {
    host: Host,
    /// What it says, its times on our clock.
    from: Receiver<FromHost>,
    /// When the last mark was set, until everything has been read after it.
    awaited: Option<Nanos>,
    /// Nothing more will come.
    over: bool,
    /// When it last said something; `None`: nothing was listened to yet.
    heard_at: Option<Nanos>,
    /// That it is silent has been told.
    silence_told: bool,
    /// After that it spoke again, which has not been told.
    speaks_again: bool,
}

impl ObservedHost {
    /// One to which this was done. It is not watched yet. `id` is its place among the hosts of the run.
    pub fn new(id: HostId, role: Role, name: &str, done: Vec<EventKind>) -> ObservedHost {
        let info = HostInfo { name: name.to_string(), role, ..HostInfo::default() };
        ObservedHost { id, info, done, told: false, watched: None }
    }

    /// Has its worker watch what lies below these paths, or without any every drive of the host, and waits until it does. A host that
    /// could not be watched stays as it is, with the reason for the run file.
    ///
    /// Errors: what keeps `host` from being reached, what the worker says against it, or `HostLost`.
    pub fn watch(&mut self, host: Result<Host>, targets: Option<Vec<String>>) -> Result<()> {
        let watched = host.and_then(|host| self.begin(host, targets));
        watched.inspect_err(|error| self.done.push(EventKind::Unwatched { why: error.message.clone() }))
    }

    fn begin(&mut self, mut host: Host, targets: Option<Vec<String>>) -> Result<()> {
        let (sender, from) = channel();
        host.listen(move |message| drop(sender.send(message)))?;
        host.send(&Request::Watch(Watch { targets, sample_every: SAMPLE_EVERY }));
        let (found, ports, targets) = loop {
            match next_within(FACTS_LIMIT, |piece| from.recv_timeout(piece)) {
                Ok(FromHost::Reply(Reply::Watched { host, ports, targets })) => break (host, ports, targets),
                Ok(FromHost::Reply(Reply::Failed(error))) => return Err(error),
                Ok(FromHost::Reply(_)) => {}
                Ok(FromHost::Lost(detail)) => return Err(lost(&Say::same(detail))),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(lost(&no_answer()));
                }
            }
        };
        self.info.clock_uncertainty_ns = host.clock().map(|clock| clock.uncertainty_ns);
        (self.info.facts, self.info.ports, self.info.targets) = (Some(*found), ports, targets);
        let (awaited, over, heard_at) = (None, false, None);
        let (silence_told, speaks_again) = (false, false);
        self.watched = Some(Watched { host, from, awaited, over, heard_at, silence_told, speaks_again });
        Ok(())
    }

    /// What is known of it and was done to it, for the run file, once; `now` is when the run begins.
    pub(crate) fn known(&mut self, now: Nanos) -> Vec<Entry> {
        if std::mem::replace(&mut self.told, true) {
            return Vec::new();
        }
        let (host, info) = (self.id, Box::new(self.info.clone()));
        let done = std::mem::take(&mut self.done).into_iter().map(|kind| Entry::Event(Event { at: now, host, kind }));
        let info = Entry::Host { host, info };
        [info].into_iter().chain(done).collect()
    }

    /// A trial begins or ends at this time: its counters are read now.
    pub(crate) fn mark(&mut self, now: Nanos) {
        if let Some(watched) = &mut self.watched {
            watched.awaited = Some(now);
            watched.host.send(&Request::Mark);
        }
    }

    /// What has come since the last time; `now` is when.
    pub(crate) fn heard(&mut self, now: Nanos) -> Heard {
        let (mut entries, mut told, name) = (Vec::new(), None, &self.info.name);
        if let Some(watched) = &mut self.watched {
            while let Some(message) = watched.from.try_recv().ok().filter(|_| !watched.over) {
                told = told.or(watched.take(self.id, message, now, &mut entries).map(|why| unwatched(name, &why)));
            }
            let is_silent = watched.is_silent(self.id, now, &mut entries);
            let speaks_again = std::mem::take(&mut watched.speaks_again);
            told = told.or(is_silent.then(|| silent(name))).or(speaks_again.then(|| again(name)));
        }
        (entries, told)
    }

    /// The same at the end of a run, with what the last mark asks for.
    pub(crate) fn heard_last(&mut self, now: Nanos) -> Heard {
        let (mut entries, told) = self.heard(now);
        let mut why = None;
        if let Some(watched) = &mut self.watched {
            while watched.awaited.is_some() && !watched.over {
                let Ok(message) = watched.from.recv_timeout(MARK_LIMIT) else { break };
                why = why.or(watched.take(self.id, message, now, &mut entries));
            }
        }
        (entries, told.or(why.map(|why| unwatched(&self.info.name, &why))))
    }

    /// Ends watching.
    pub(crate) fn end(self) {
        if let Some(watched) = self.watched {
            // It made nothing: whether it had to be killed makes no difference to what it said.
            let _ended = watched.host.end(END_LIMIT);
        }
    }
}

impl Watched {
    /// Turns a message of this host into entries; one that ends it into the reason.
    fn take(&mut self, host: HostId, message: FromHost, now: Nanos, entries: &mut Vec<Entry>) -> Option<Say> {
        self.heard_at = Some(now);
        let why = match message {
            FromHost::Reply(Reply::Sample(sample)) => {
                self.speaks_again |= std::mem::take(&mut self.silence_told);
                // Everything is read at a mark, and hardly ever in between.
                if self.awaited.is_some_and(|marked| sample.at >= marked && sample.parts.is_some()) {
                    self.awaited = None;
                }
                entries.push(Entry::Sample { host, sample });
                return None;
            }
            FromHost::Reply(Reply::Failed(error)) => error.message,
            FromHost::Reply(_) => return None,
            FromHost::Lost(detail) => lost(&Say::same(detail)).message,
        };
        self.over = true;
        entries.push(Entry::Event(Event { at: now, host, kind: EventKind::Unwatched { why: why.clone() } }));
        Some(why)
    }
}

impl Watched {
    /// Whether data will be missing, because it has said nothing for too long: once, until it speaks again. Its next sample shows when that was.
    fn is_silent(&mut self, host: HostId, now: Nanos, entries: &mut Vec<Entry>) -> bool {
        let since = *self.heard_at.get_or_insert(now);
        if self.over || self.silence_told || now.saturating_sub(since) < SILENT {
            return false;
        }
        self.silence_told = true;
        let seconds = SILENT.as_secs();
        let why = say!("it said nothing for more than {seconds} s", "от неё ничего не было слышно более {seconds} с");
        entries.push(Entry::Event(Event { at: since, host, kind: EventKind::Unwatched { why } }));
        true
    }
}

/// A host says nothing, and may speak again.
fn silent(name: &str) -> Say {
    let seconds = SILENT.as_secs();
    say!(
        "`{name}` has said nothing for {seconds} s. Until it answers, the result will have no data about it",
        "от `{name}` ничего не слышно {seconds} с. Пока ответа нет, данных о ней в результате не будет"
    )
}

fn again(name: &str) -> Say {
    say!("`{name}` answers again and is watched", "`{name}` снова отвечает, наблюдение продолжается")
}

/// Why a host is not watched, or not any more.
pub fn unwatched(name: &str, why: &Say) -> Say {
    let Say { en, ru } = why;
    say!(
        "`{name}` is not watched: {en}. The result will have no data about it",
        "наблюдения за `{name}` нет: {ru}. Данных о ней в результате не будет"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::Instant;
    use stend_base::{Error, Kind};
    use stend_record::{HostFacts, Sample};
    use stend_wire::protocol::{write_frame, write_hello};

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

    fn new(done: Vec<EventKind>) -> ObservedHost {
        ObservedHost::new(HostId::STORAGE, Role::Storage, "array1", done)
    }

    fn watched() -> Reply {
        let host = Box::new(HostFacts { hostname: "array".into(), ..HostFacts::default() });
        Reply::Watched { host, ports: vec!["eth0".into()], targets: Vec::new() }
    }

    fn sample(at: u64) -> Reply {
        Reply::Sample(Box::new(Sample { at: Nanos(at), ..Sample::default() }))
    }

    fn watch(host: Host) -> Result<ObservedHost> {
        let mut array = new(Vec::new());
        array.watch(Ok(host), None).map(|()| array)
    }

    /// When a sample of the array host was read.
    fn read_at(entry: &Entry) -> Option<Nanos> {
        match entry {
            Entry::Sample { host: HostId::STORAGE, sample } => Some(sample.at),
            _ => None,
        }
    }

    /// Everything that is heard until nothing more comes.
    fn to_its_end(array: &mut ObservedHost) -> (Vec<Entry>, Say) {
        let (until, mut all) = (Instant::now() + Duration::from_secs(30), Vec::new());
        loop {
            let (entries, told) = array.heard(Nanos(9));
            all.extend(entries);
            if let Some(told) = told {
                return (all, told);
            }
            assert!(Instant::now() < until, "{all:?}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_host_that_falls_silent_is_told_once_until_it_speaks_again() {
        let (mut worker, ours) = std::os::unix::net::UnixStream::pair().unwrap();
        write_hello(&mut worker).unwrap();
        write_frame(&mut worker, &watched()).unwrap();
        let to = ours.try_clone().unwrap();
        let host = Host::over(ours, to, Duration::from_secs(60)).unwrap();
        let mut array = watch(host).unwrap();
        let told = |array: &mut ObservedHost, at: u64| array.heard(Nanos::secs(at));
        assert!(told(&mut array, 100).1.is_none() && told(&mut array, 129).1.is_none());
        let (entries, why) = told(&mut array, 131);
        assert!(why.unwrap().en.contains("said nothing for 30 s"));
        let [Entry::Event(Event { at, kind: EventKind::Unwatched { .. }, .. })] = entries.as_slice() else {
            panic!("{entries:?}")
        };
        assert_eq!(*at, Nanos::secs(100));
        assert!(told(&mut array, 200).1.is_none(), "once");
        write_frame(&mut worker, &sample(7)).unwrap();
        let until = Instant::now() + Duration::from_secs(90);
        let back = loop {
            let (entries, back) = told(&mut array, 201);
            if entries.iter().any(|entry| read_at(entry) == Some(Nanos(7))) {
                break back;
            }
            assert!(Instant::now() < until, "what it says later is kept");
        };
        assert!(back.unwrap().en.contains("`array1` answers again"));
        assert!(told(&mut array, 230).1.is_none());
        let (entries, why) = told(&mut array, 232);
        assert!(entries.len() == 1 && why.unwrap().en.contains("said nothing for 30 s"), "it falls silent once more");
        drop(worker);
    }

    #[test]
    fn what_it_reads_is_kept_and_that_it_is_gone_is_told_once() {
        let (_file, host) = saying(&[watched(), sample(1), sample(2)]);
        let done = vec![EventKind::Step { action: "make md0".into() }];
        let mut array = new(done.clone());
        array.watch(Ok(host), Some(vec!["/dev/md0".into()])).unwrap();
        let known = array.known(Nanos(3));
        let [Entry::Host { host: HostId::STORAGE, info }, Entry::Event(made)] = known.as_slice() else {
            panic!("{known:?}")
        };
        let hostname = info.facts.as_ref().map(|facts| facts.hostname.as_str());
        assert_eq!((info.name.as_str(), hostname, info.role), ("array1", Some("array"), Role::Storage));
        assert_eq!(info.ports, ["eth0"]);
        assert_eq!((made.at, made.host, &made.kind), (Nanos(3), HostId::STORAGE, &done[0]));
        assert!(array.known(Nanos(4)).is_empty(), "it is told once");
        let (entries, told) = to_its_end(&mut array);
        let [first, second, Entry::Event(last)] = entries.as_slice() else { panic!("{entries:?}") };
        assert_eq!([first, second].map(read_at), [Some(Nanos(1)), Some(Nanos(2))]);
        let EventKind::Unwatched { why } = &last.kind else { panic!("{last:?}") };
        assert_eq!((last.host, why.en.as_str()), (HostId::STORAGE, "the worker was lost: the worker ended"));
        assert!(
            told.en.contains("`array1` is not watched") && told.ru.contains("наблюдения за `array1` нет"),
            "{told:?}"
        );
        assert!(matches!(array.heard(Nanos(9)), (entries, None) if entries.is_empty()));
        array.mark(Nanos(9));
        assert!(matches!(array.heard_last(Nanos(9)), (entries, None) if entries.is_empty()));
        array.end();
    }

    #[test]
    fn what_the_last_mark_asks_for_is_waited_for() {
        let all = |at: u64| Sample { at: Nanos(at), parts: Some(Box::default()), ..Sample::default() };
        let (_file, host) =
            saying(&[watched(), Reply::Sample(Box::new(all(4))), sample(6), Reply::Sample(Box::new(all(7)))]);
        let mut array = watch(host).unwrap();
        array.mark(Nanos(5));
        let (entries, _) = array.heard_last(Nanos(8));
        let found: Vec<Nanos> = entries.iter().filter_map(read_at).collect();
        assert_eq!(found, [Nanos(4), Nanos(6), Nanos(7)]);
    }

    #[test]
    fn one_that_fails_is_over_with_its_reason() {
        let failed = || Reply::Failed(Error::preflight(say!("no telemetry", "телеметрии нет")));
        let (_file, host) = saying(&[watched(), failed()]);
        let (entries, told) = to_its_end(&mut watch(host).unwrap());
        assert_eq!((entries.len(), told.en.contains("no telemetry")), (1, true), "{told:?}");
        let (_file, host) = saying(&[failed()]);
        let error = watch(host).err().unwrap();
        assert_eq!((error.kind, error.message.en.as_str()), (Kind::Preflight, "no telemetry"));
        let (_file, host) = saying(&[]);
        let mut array = new(Vec::new());
        assert_eq!(array.watch(Ok(host), None).unwrap_err().kind, Kind::HostLost);
        let known = array.known(Nanos(1));
        let [Entry::Host { info, .. }, Entry::Event(Event { kind: EventKind::Unwatched { .. }, .. })] =
            known.as_slice()
        else {
            panic!("{known:?}")
        };
        assert_eq!((info.facts.as_ref(), info.role), (None, Role::Storage), "nothing is known but its name");
    }
}
