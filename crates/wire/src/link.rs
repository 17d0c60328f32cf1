//! The coordinator's side of a worker: start it, talk to it, notice when it is gone.

use crate::comparer::{CLOCK_TRIES, Comparer, ToWorker, ask_clock, lock};
use crate::cut::Cut;
use crate::drift::{Clock, Drift, compared};
use crate::protocol::{Hello, Reply, Request, read_frame, read_hello, write_frame, write_hello};
use std::io::{self, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use stend_base::{Error, Nanos, Result, say};

/// How often we look whether it has ended.
const END_POLL: Duration = Duration::from_millis(10);
/// How often a worker behind a network hears of us: when a cable is cut, neither end notices, and the worker ends by itself when it has heard
/// nothing for [`SILENCE`].
const HEARTBEAT: Duration = Duration::from_secs(5);
/// After so long a worker behind a network takes its coordinator for gone: what TCP loses now and then comes within a few seconds, and
/// as long again does nobody any good.
pub const SILENCE: Duration = Duration::from_secs(30);

/// What arrives from a host.
#[derive(Debug)]
pub enum FromHost {
    /// A message.
    Reply(Reply),
    /// The stream ended or broke; nothing more will come.
    Lost(String),
}

type FromWorker = BufReader<Box<dyn Read + Send>>;

/// What starts a worker. The thread that does need not be the one that meets it: a child that is to die with its parent dies with the thread
/// that started it.
pub struct WorkerCommand(Command);

impl WorkerCommand {
    /// This command, as [`Host::reach`] takes it.
    pub fn new(command: Command) -> WorkerCommand {
        WorkerCommand(command)
    }

    /// Starts it. Errors: `HostLost` with what the system says.
    pub fn start(self) -> Result<StartedWorker> {
        let WorkerCommand(mut command) = self;
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|e| {
            Error::host_lost(say!("cannot start `{program}`: {e}", "не удаётся запустить `{program}`: {e}"))
        })?;
        Ok(StartedWorker(child))
    }
}

/// A worker that was started and has not said hello.
pub struct StartedWorker(Child);

impl StartedWorker {
    /// Waits until it has said hello, at most `limit`.
    pub fn meet(self, limit: Duration) -> Result<Host> {
        let StartedWorker(mut child) = self;
        let streams = (child.stdin.take(), child.stdout.take());
        // From here on whatever goes wrong ends the child.
        let mut host = Host::unmet(Some(child));
        let (Some(to), Some(from)) = streams else {
            return Err(Error::bug(say!("the worker has no streams", "у рабочего процесса нет потоков")));
        };
        host.greet(Box::new(from), Box::new(to), limit)?;
        if host.drift.is_some() {
            host.keep_asking()?;
        }
        Ok(host)
    }

    /// The same of a worker that ends when it hears nothing for [`SILENCE`]: it is spoken to as long as the host is held.
    pub fn meet_far(self, limit: Duration) -> Result<Host> {
        let host = self.meet(limit)?;
        if host.drift.is_none() {
            host.keep_asking()?;
        }
        Ok(host)
    }
}

/// One worker and the streams to it.
pub struct Host {
    /// The process that the streams come from; `None`: they were given, and so is what is at their other end.
    child: Option<Child>,
    to: Option<Arc<Mutex<ToWorker>>>,
    from: Option<FromWorker>,
    /// How its clock stands to ours; `None` if it is on this machine, where there is only one.
    drift: Option<Arc<Mutex<Drift>>>,
    /// Boot id of its machine; empty before it has said hello.
    boot_id: String,
    /// It sees other files and processes than its kernel has: a container.
    apart: bool,
    /// Ends the reading of what it says.
    cut: Cut,
}

impl Host {
    fn unmet(child: Option<Child>) -> Host {
        Host { child, to: None, from: None, drift: None, boot_id: String::new(), apart: false, cut: Cut::default() }
    }

    /// Starts a worker and waits until it has said hello, at most `limit`.
    ///
    /// `command` must speak the worker protocol on its standard input and output: the binary itself
    /// with the verb `worker`, `ssh HOST stend worker`, or an emulator whose guest has it on a port.
    pub fn reach(command: Command, limit: Duration) -> Result<Host> {
        WorkerCommand::new(command).start()?.meet(limit)
    }

    /// A worker at the other end of two streams that are there already; waits for its hello as [`Host::reach`]. Letting go of the host ends
    /// the stream to it and nothing else.
    pub fn over(from: impl Read + Send + 'static, to: impl Write + Send + 'static, limit: Duration) -> Result<Host> {
        let mut host = Host::unmet(None);
        host.greet(Box::new(from), Box::new(to), limit)?;
        Ok(host)
    }

    fn greet(&mut self, from: Box<dyn Read + Send>, mut to: ToWorker, limit: Duration) -> Result<()> {
        let mut from = BufReader::new(from);
        let (sender, receiver) = channel();
        thread("greeting", move || {
            let met = meet(&mut from, &mut to);
            // Nobody waits any more if it took too long.
            drop(sender.send((met, from, to)));
        })?;
        let (met, from, to) = receiver.recv_timeout(limit).map_err(|_| {
            let limit = limit.as_secs();
            Error::host_lost(say!(
                "the worker did not say hello within {limit} s",
                "рабочий процесс не отозвался за {limit} с"
            ))
        })?;
        let clock;
        (self.boot_id, clock) = met?;
        self.drift = clock.map(|clock| Arc::new(Mutex::new(Drift::new(stend_sys::clock::now(), clock))));
        (self.from, self.to) = (Some(from), Some(Arc::new(Mutex::new(to))));
        Ok(())
    }

    /// Asks for its time as long as the host is held: clocks drift apart, and a virtual machine that is paused falls behind.
    fn keep_asking(&self) -> Result<()> {
        let Some(to) = self.to.as_ref().map(Arc::downgrade) else { return Ok(()) };
        let drift = self.drift.clone();
        thread("heartbeat", move || beat(&to, drift.as_deref(), HEARTBEAT))
    }

    /// Hands everything that the worker says from now on to `sink`, on another thread, with its times moved to our clock.
    /// Once per host.
    pub fn listen(&mut self, mut sink: impl FnMut(FromHost) + Send + 'static) -> Result<()> {
        let Some(from) = self.from.take() else { return Ok(()) };
        let mut from = self.cut.over(from);
        let drift = self.drift.clone();
        thread("from-host", move || hand_on(&mut from, drift.as_deref(), &mut sink))
    }

    /// The same host in a container, perhaps: its kernel says neither which files and processes it sees, nor whether two are the same.
    pub fn apart(mut self) -> Host {
        self.apart = true;
        self
    }

    /// The kernel's own id of the boot of its machine, by which a machine is known until it is restarted; `None` of a container, which may
    /// have it from the machine of another.
    pub fn boot_id(&self) -> Option<&str> {
        Some(self.boot_id.as_str()).filter(|id| !id.is_empty() && !self.apart)
    }

    /// Whether its files and processes are ours.
    pub fn is_here(&self) -> bool {
        self.drift.is_none() && !self.apart
    }

    /// Whether both are one machine, whatever they are called. Whether two containers are one is not known here.
    pub fn is_same_machine(&self, other: &Host) -> bool {
        self.boot_id == other.boot_id && !self.apart && !other.apart
    }

    /// What its times are moved by now; `None` if it is on this machine, where there is only one clock.
    pub fn clock(&self) -> Option<Clock> {
        self.drift.as_deref().map(|drift| lock(drift).clock())
    }

    /// How its clock stood to ours when that was looked at last, which may be since then.
    pub fn latest_clock(&self) -> Option<Clock> {
        self.drift.as_deref().map(|drift| lock(drift).latest())
    }

    /// Asks for its time, for [`Host::latest_clock`]. Nothing where there is only one clock.
    pub fn ask_clock(&mut self) {
        if let (Some(to), Some(drift)) = (&self.to, self.drift.as_deref())
            && ask_clock(to, Some(drift)).is_err()
        {
            self.to = None;
        }
    }

    /// Compares its clock from any thread; `None` if it is on this machine, where there is only one.
    pub fn comparer(&self) -> Option<Comparer> {
        Some(Comparer::new(self.to.as_ref()?, self.drift.clone()?))
    }

    /// Process id of the worker, or of the command that reaches it; `None`: neither was started by us.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Sends a request. A worker that is gone shows up as [`FromHost::Lost`], not here.
    pub fn send(&mut self, request: &Request) {
        if let Some(to) = &self.to
            && write_frame(&mut *lock(to), request).is_err()
        {
            self.to = None;
        }
    }

    /// Ends both streams, and waits for nothing: it may undo what it made, and nothing that it says is heard.
    pub fn cut(&mut self) {
        self.to = None;
        self.cut.cut();
    }

    /// As [`Host::end`], of several: the streams of all end before anybody is waited for, and `limit` is for all together. Returns of each
    /// whether it ended by itself.
    pub fn end_all(hosts: impl IntoIterator<Item = Host>, limit: Duration) -> Vec<bool> {
        let mut hosts: Vec<Host> = hosts.into_iter().collect();
        hosts.iter_mut().for_each(|host| host.to = None);
        let deadline = Instant::now() + limit;
        let ended = |host: Host| host.end(deadline.saturating_duration_since(Instant::now()));
        hosts.into_iter().map(ended).collect()
    }

    /// Ends the stream; the worker stops its load, undoes what it made and exits. Waits for that, and
    /// kills a worker that does not end within `limit`. Returns whether it ended by itself.
    pub fn end(mut self, limit: Duration) -> bool {
        self.to = None;
        let Some(child) = &mut self.child else { return true };
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
                return true;
            }
            std::thread::sleep(END_POLL);
        }
        false
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.to = None;
        if let Some(child) = &mut self.child
            && matches!(child.try_wait(), Ok(None))
        {
            // It had its chance in `end`; a process that is already gone makes kill fail, which is fine.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Hands on what a worker says until it says no more; what it says of its clock stays here.
fn hand_on(from: &mut impl Read, drift: Option<&Mutex<Drift>>, sink: &mut impl FnMut(FromHost)) {
    let end = loop {
        match read_frame::<Reply>(from) {
            Ok(Some(Reply::Clock(theirs))) => {
                let now = stend_sys::clock::now();
                drift.into_iter().for_each(|drift| lock(drift).answered(theirs, now));
            }
            Ok(Some(reply)) => {
                let shift_ns = drift.map_or(0, |drift| lock(drift).clock().shift_ns);
                sink(FromHost::Reply(on_our_clock(reply, shift_ns)));
            }
            Ok(None) => break "the worker ended".to_string(),
            Err(error) => break format!("the worker's stream broke: {error}"),
        }
    };
    sink(FromHost::Lost(end));
}

/// Asks for the time until the host is let go or its stream is broken.
fn beat(to: &Weak<Mutex<impl Write>>, drift: Option<&Mutex<Drift>>, every: Duration) {
    loop {
        std::thread::sleep(every);
        let Some(to) = to.upgrade() else { return };
        if ask_clock(&to, drift).is_err() {
            return;
        }
    }
}

/// Exchanges hellos; with a worker of another machine times, too. Its boot id, and how its clock stands to ours.
fn meet(from: &mut impl Read, to: &mut impl Write) -> Result<(String, Option<Clock>)> {
    let gone = |e: io::Error| Error::host_lost(say!("the worker is gone: {e}", "рабочий процесс завершился: {e}"));
    write_hello(to).map_err(gone)?;
    let theirs = read_hello(from)?;
    if theirs.boot_id == Hello::ours().boot_id {
        return Ok((theirs.boot_id, None));
    }
    let mut best: Option<Clock> = None;
    for _ in 0..CLOCK_TRIES {
        let clock = compare_clocks(from, to).map_err(gone)?;
        if best.is_none_or(|best| clock.uncertainty_ns < best.uncertainty_ns) {
            best = Some(clock);
        }
    }
    Ok((theirs.boot_id, best))
}

/// Asks for the time once and waits for the answer.
fn compare_clocks(from: &mut impl Read, to: &mut impl Write) -> io::Result<Clock> {
    let asked = stend_sys::clock::now();
    write_frame(to, &Request::Clock)?;
    let Some(Reply::Clock(theirs)) = read_frame(from)? else {
        return Err(io::Error::other("no answer to the question for its time"));
    };
    Ok(compared(asked, theirs, stend_sys::clock::now()))
}

/// A reply with its times moved.
fn on_our_clock(mut reply: Reply, shift_ns: i64) -> Reply {
    let shift = |at: &mut Nanos| *at = at.shifted(shift_ns);
    match &mut reply {
        Reply::TrialDone { outcome, .. } => outcome.shift(shift_ns),
        Reply::Log { chunk, .. } => shift(&mut chunk.base),
        Reply::Sample(sample) => shift(&mut sample.at),
        Reply::Event(event) => shift(&mut event.at),
        _ => {}
    }
    reply
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = std::thread::Builder::new().name(name.into()).spawn(work);
    started.map(drop).map_err(|e| Error::bug(say!("cannot start a thread: {e}", "не удаётся запустить поток: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;
    use stend_record::io_log::Records;
    use stend_record::{Event, EventKind, IoChunk};

    /// What a worker says that was booted as `boot_id` and whose clock shows these times.
    fn worker(boot_id: &str, times: &[u64]) -> Vec<u8> {
        let mut said = Vec::new();
        let mut hello = Vec::new();
        write_hello(&mut hello).unwrap();
        said.extend_from_slice(&hello[..8]);
        write_frame(&mut said, &Hello { boot_id: boot_id.into(), ..Hello::ours() }).unwrap();
        times.iter().for_each(|time| write_frame(&mut said, &Reply::Clock(Nanos(*time))).unwrap());
        said
    }

    #[test]
    fn a_worker_of_this_machine_has_our_clock() {
        let said = worker(&Hello::ours().boot_id, &[]);
        assert_eq!(meet(&mut said.as_slice(), &mut Vec::new()).unwrap(), (Hello::ours().boot_id, None));
    }

    #[test]
    fn the_clock_of_another_machine_is_compared_and_how_well_is_known() {
        let before = stend_sys::clock::now();
        let said = worker("another", &[5_000_000_000; CLOCK_TRIES as usize]);
        let (boot_id, clock) = meet(&mut said.as_slice(), &mut Vec::new()).unwrap();
        let clock = clock.unwrap();
        assert_ne!(boot_id, Hello::ours().boot_id);
        let after = stend_sys::clock::now();
        let ours = clock.shift_ns + 5_000_000_000;
        assert!((before.0 as i64..=after.0 as i64 + 1).contains(&ours), "{clock:?}");
        assert!(clock.uncertainty_ns <= after.saturating_sub(before).0, "{clock:?}");
        let silent = worker("another", &[]);
        let error = meet(&mut silent.as_slice(), &mut Vec::new()).unwrap_err();
        assert!(error.message.en.contains("no answer to the question for its time"), "{error}");
    }

    #[test]
    fn a_machine_with_a_clock_of_its_own_is_asked_for_its_time_as_long_as_it_is_held() {
        let place = tempfile::tempdir().unwrap();
        let [said, heard] = ["said", "heard"].map(|name| place.path().join(name));
        std::fs::write(&said, worker("another", &[5_000_000_000; CLOCK_TRIES as usize])).unwrap();
        let mut command = Command::new("sh");
        // The worker says hello and hears what comes, to its end.
        command.args(["-c", "cat \"$0\"; exec cat > \"$1\""]).args([&said, &heard]);
        let host = Host::reach(command, Duration::from_secs(60)).unwrap();
        let length = || std::fs::metadata(&heard).map_or(0, |file| file.len());
        let mut question = Vec::new();
        write_frame(&mut question, &Request::Clock).unwrap();
        let greeting = {
            let mut hello = Vec::new();
            write_hello(&mut hello).unwrap();
            hello.len() + question.len() * CLOCK_TRIES as usize
        };
        while length() <= greeting as u64 {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(length(), (greeting + question.len()) as u64, "one more question for its time");
        assert!(host.end(Duration::from_secs(60)));
    }

    #[test]
    fn times_of_another_machine_are_told_on_our_clock() {
        let event = |at| Reply::Event(Event::new(Nanos(at), EventKind::StopRequested));
        assert_eq!(on_our_clock(event(1_000), 500), event(1_500));
        assert_eq!(on_our_clock(event(1_000), -400), event(600));
        let log = |base| {
            let chunk = IoChunk { stream: 0, job: 0, base: Nanos(base), records: Records::default() };
            Reply::Log { ordinal: 1, chunk }
        };
        assert_eq!(on_our_clock(log(1_000), 500), log(1_500));
    }

    #[test]
    fn a_worker_behind_a_network_hears_of_us_until_it_is_let_go() {
        let to = Arc::new(Mutex::new(Vec::new()));
        let beaten = Arc::downgrade(&to);
        let thread = std::thread::spawn(move || beat(&beaten, None, Duration::from_millis(1)));
        while to.lock().unwrap().len() < 20 {
            std::thread::yield_now();
        }
        let heard = std::mem::take(&mut *to.lock().unwrap());
        drop(to);
        thread.join().unwrap();
        assert!(matches!(read_frame::<Request>(&mut heard.as_slice()).unwrap(), Some(Request::Clock)));
    }

    #[test]
    fn answers_to_heartbeats_are_handed_to_nobody() {
        let mut said = Vec::new();
        for reply in [Reply::Clock(Nanos(1)), Reply::Released, Reply::Clock(Nanos(2))] {
            write_frame(&mut said, &reply).unwrap();
        }
        let mut heard = Vec::new();
        hand_on(&mut said.as_slice(), None, &mut |from| heard.push(format!("{from:?}")));
        assert_eq!(heard, ["Reply(Released)", "Lost(\"the worker ended\")"]);
    }

    #[test]
    fn times_are_moved_by_what_the_last_answer_says_of_a_clock_that_stood_still() {
        let event = |at| Reply::Event(Event::new(Nanos(at), EventKind::StopRequested));
        let mut said = Vec::new();
        for reply in [event(1_000), Reply::Clock(Nanos(1)), event(1_000)] {
            write_frame(&mut said, &reply).unwrap();
        }
        let now = stend_sys::clock::now();
        let mut drift = Drift::new(now, Clock { shift_ns: 7, uncertainty_ns: 1 });
        drift.ask(now);
        let (drift, mut heard) = (Mutex::new(drift), Vec::new());
        hand_on(&mut said.as_slice(), Some(&drift), &mut |from| heard.push(from));
        let shift_ns = lock(&drift).clock().shift_ns;
        assert!(shift_ns >= now.0 as i64 - 1, "{shift_ns}");
        let at = |from: &FromHost| match from {
            FromHost::Reply(Reply::Event(event)) => Some(event.at),
            _ => None,
        };
        let times: Vec<Nanos> = heard.iter().filter_map(at).collect();
        assert_eq!(times, [Nanos(1_007), Nanos(1_000).shifted(shift_ns)]);
    }

    #[test]
    fn times_of_a_machine_that_was_booted_years_before_or_claims_to_be_lie_on_our_clock() {
        let years = 30 * 365 * 86_400 * 1_000_000_000;
        let event = |at| Reply::Event(Event::new(Nanos(at), EventKind::StopRequested));
        let now = stend_sys::clock::now();
        for (theirs, most_apart) in [(now.0 + years, 0), (u64::MAX, u64::MAX - i64::MAX as u64)] {
            let mut said = Vec::new();
            for reply in [Reply::Clock(Nanos(theirs)), event(theirs)] {
                write_frame(&mut said, &reply).unwrap();
            }
            let mut drift = Drift::new(now, Clock { shift_ns: 0, uncertainty_ns: 1 });
            drift.ask(now);
            let (drift, mut placed) = (Mutex::new(drift), Vec::new());
            hand_on(&mut said.as_slice(), Some(&drift), &mut |from| {
                placed.extend(if let FromHost::Reply(Reply::Event(event)) = from { Some(event.at) } else { None });
            });
            let uncertainty_ns = lock(&drift).clock().uncertainty_ns;
            let [at] = placed[..] else { panic!("{placed:?}") };
            assert!(at.0.abs_diff(now.0) <= most_apart + uncertainty_ns, "{theirs}: {at:?} is not {now:?}");
        }
        let impossible = worker("another", &[u64::MAX; CLOCK_TRIES as usize]);
        let clock = meet(&mut impossible.as_slice(), &mut Vec::new()).unwrap().1.unwrap();
        assert_eq!(clock.shift_ns, -i64::MAX);
    }

    #[test]
    fn a_worker_that_says_nothing_is_not_waited_for_without_end() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        let error = Host::reach(command, Duration::from_millis(50)).err().unwrap();
        assert!(error.kind == Kind::HostLost && error.message.en.contains("did not say hello"), "{error}");
        assert!(error.message.ru.contains("не отозвался"), "{error}");
    }
}
