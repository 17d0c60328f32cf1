//! Records this host: one loop that waits, reads and hands on, until somebody asks it to stop. Must not print or judge.

use crate::control::Control;
use crate::descriptions::Descriptions;
use crate::device_news::{DeviceNews, News};
use crate::inputs::since_1970;
use crate::sampler::Sampler;
use crate::setup::absolute;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stend_base::{Bytes, Nanos, Result, Say, say};
use stend_plan::{PlanInputs, PlanTarget};
use stend_record::store::{self, Options, Writer};
use stend_record::{Entry, Event, EventKind, HostId, HostInfo, Recording, RunHeader, RunState, Sample};
use stend_run::ControlSocket;
use stend_spec::suite::Suite;

/// How often the file is synced, made fewer samples of, and tried again when its disk was full.
const EDGE_EVERY: Nanos = Nanos::secs(10);

/// A difference between the clocks that moved by less is kept as it was, ns: times are shown in seconds, and NTP sets a clock only when it is
/// off by more than an eighth of one.
const WALL_MOVES: u64 = 500_000_000;

/// What is to be recorded.
#[derive(Debug, Clone)]
pub struct RecordOrder {
    /// How often, and how long what is kept.
    pub recording: Recording,
    /// The file; `None`: in the directory of run files.
    pub output: Option<PathBuf>,
    /// What the user calls it.
    pub label: Option<String>,
    /// Ends by itself after this time.
    pub lasts: Option<Nanos>,
    /// The command line, as given.
    pub command_line: Vec<String>,
}

/// What happens to a recording.
pub enum RecordingNews<'a> {
    /// It began.
    Begins {
        /// Its id.
        id: &'a str,
        /// Its file.
        path: &'a Path,
        /// Block devices that are read.
        devices: usize,
    },
    /// The machine and its drives, at the begin and whenever drives came or went.
    Host(&'a HostInfo),
    /// Something happened on the host. Readings of drives that say nothing new come here and not into the file.
    Happened(&'a Event),
    /// A sample was read. What the listener adds is kept in the file as events of that moment: what it made of the sample.
    Read(&'a Sample, &'a mut Vec<EventKind>),
    /// Worth a word, and told once.
    Warning(Say),
}

/// Records this host until it is asked to stop, and returns the file.
///
/// Errors: kind `RunFile` if the file cannot be made or its end cannot be written.
pub fn record(order: RecordOrder, control: &Control, tell: &mut dyn FnMut(RecordingNews)) -> Result<PathBuf> {
    let mut sampler = Sampler::new(Path::new("/"))?;
    let (header, path) = begin(&order)?;
    let ahead = header.realtime_offset_ns;
    store::may_create(&path)?;
    let id = header.id.clone();
    let writer = store::create(&path, header, Options::default())?;
    if let Some(Err(error)) = store::directory().ok().map(|known| store::make_known(&path, &id, &known)) {
        tell(RecordingNews::Warning(error.message));
    }
    let (channel, stopper) = stend_run::channel();
    control.aim(Some(stopper.clone()));
    // Removed when it is dropped, before the last word.
    let _socket = ControlSocket::open(&path, stopper)
        .map_err(|error| {
            tell(RecordingNews::Warning(say!(
                "`stend stop` cannot reach this recording: {error}",
                "`stend stop` не сможет обратиться к этой записи: {error}"
            )));
        })
        .ok();
    let descriptions = Descriptions::of_this_host()?;
    let mut news = DeviceNews::new(Path::new("/"));
    let mut wall = Wall::new(ahead);
    let mut file = File { writer, stuck: false, detachable: BTreeSet::new() };
    file.meet(descriptions.first(), &mut news, tell);
    news.unread().into_iter().for_each(|why| tell(RecordingNews::Warning(why)));
    tell(RecordingNews::Begins { id: &id, path: &path, devices: sampler.devices().len() });
    let begun = stend_sys::clock::now();
    let end = order.lasts.map(|lasts| Nanos(begun.0.saturating_add(lasts.0)));
    let (mut due, mut edge) = (begun, begun + EDGE_EVERY);
    loop {
        let (sample, changed) = sampler.read();
        sampler.left_out().into_iter().for_each(|why| tell(RecordingNews::Warning(why)));
        let now = sample.at;
        if let Some(kind) = wall.look(ahead_ns()) {
            file.happened(Event::new(now, kind), tell);
        }
        let other = changed.is_some();
        let changed = changed.map(|kind| News::kept(file.with_detachable(kind)));
        for News { kind, is_kept } in changed.into_iter().chain(news.take(now)) {
            let event = Event::new(now, kind);
            match is_kept {
                true => file.happened(event, tell),
                false => tell(RecordingNews::Happened(&event)),
            }
        }
        if other {
            descriptions.ask();
        }
        descriptions.take().into_iter().for_each(|host| file.meet(host, &mut news, tell));
        let mut found = Vec::new();
        tell(RecordingNews::Read(&sample, &mut found));
        file.writer.append(Entry::Sample { host: HostId::LOAD, sample: Box::new(sample) });
        found.into_iter().for_each(|kind| file.writer.append(Entry::Event(Event::new(now, kind))));
        if now >= edge {
            edge = now + EDGE_EVERY;
            file.edge(tell);
        }
        match next(due, now, order.recording.every, end) {
            Some(at) if !channel.waits_for_stop(wait(at)) => due = at,
            _ => break,
        }
    }
    control.aim(None);
    file.writer.close(RunState::Complete)
}

/// Where messages about problems wait that this file of receivers asks for: beside the directory of run files, by the name of the file.
///
/// Errors: those of [`store::directory`].
pub fn notify_directory(file: &str) -> Result<PathBuf> {
    let runs = store::directory()?;
    let name = Path::new(file).file_stem().map_or_else(|| "receivers".into(), |stem| stem.to_os_string());
    Ok(runs.parent().unwrap_or(&runs).join("notify").join(name))
}

/// Makes the directory above this one. What is new belongs to the user behind sudo, as the run files beside it do.
///
/// Errors: `RunFile` if it cannot be made.
pub fn make_parent(directory: &Path) -> Result<()> {
    directory.parent().map_or(Ok(()), store::make_directory)
}

/// Time until then.
fn wait(due: Nanos) -> Duration {
    due.saturating_sub(stend_sys::clock::now()).duration()
}

/// When the next sample is due: times that have passed meanwhile (a host that slept, a reading that took long) are left out. A recording with
/// an end has its last one then; `None`: it has been read.
fn next(due: Nanos, now: Nanos, every: Nanos, end: Option<Nanos>) -> Option<Nanos> {
    let missed = now.saturating_sub(due).0 / every.0.max(1);
    let due = Nanos(due.0.saturating_add(every.0.saturating_mul(missed + 1)));
    match end {
        Some(end) if now >= end => None,
        Some(end) => Some(due.min(end)),
        None => Some(due),
    }
}

/// Wall-clock time minus the clock of samples now, ns.
fn ahead_ns() -> i64 {
    let (monotonic, _, realtime) = stend_sys::clock::stamps();
    realtime as i64 - monotonic as i64
}

/// Follows the wall clock.
struct Wall {
    /// By how much it was ahead when that was last kept, ns.
    ahead_ns: i64,
}

impl Wall {
    fn new(ahead_ns: i64) -> Wall {
        Wall { ahead_ns }
    }

    /// What is to be kept now that it is ahead by so much.
    fn look(&mut self, ahead_ns: i64) -> Option<EventKind> {
        let moved = ahead_ns.saturating_sub(self.ahead_ns);
        if moved.unsigned_abs() < WALL_MOVES {
            return None;
        }
        self.ahead_ns = ahead_ns;
        Some(EventKind::WallClock { ahead_ns })
    }
}

/// The file, and whether its disk was full when we last looked.
struct File {
    writer: Writer,
    stuck: bool,
    /// Devices that people take away, by the last description of the host: of one that is gone it is too late to ask.
    detachable: BTreeSet<String>,
}

impl File {
    /// Tells of an event, and keeps it.
    fn happened(&mut self, event: Event, tell: &mut dyn FnMut(RecordingNews)) {
        tell(RecordingNews::Happened(&event));
        self.writer.append(Entry::Event(event));
    }

    /// Keeps what the host is now, and has its drives asked from now on.
    fn meet(&mut self, host: HostInfo, news: &mut DeviceNews, tell: &mut dyn FnMut(RecordingNews)) {
        tell(RecordingNews::Host(&host));
        self.detachable = detachable(&host);
        news.meet(&host);
        self.writer.append(Entry::Host { host: HostId::LOAD, info: Box::new(host) });
    }

    /// Notes which of the devices that went a person may have taken away.
    fn with_detachable(&self, kind: EventKind) -> EventKind {
        match kind {
            EventKind::Devices { came, went, .. } => {
                let detachable = went.iter().filter(|name| self.detachable.contains(*name)).cloned().collect();
                EventKind::Devices { came, went, detachable }
            }
            other => other,
        }
    }

    /// Has everything made durable. A full disk makes one warning, and another one when there is room again.
    fn edge(&mut self, tell: &mut dyn FnMut(RecordingNews)) {
        let stuck = self.writer.is_stuck();
        if stuck != self.stuck {
            self.stuck = stuck;
            let why = self.writer.failure().map_or_else(|| Say::same(""), |error| error.message);
            let (en, ru) = (why.en, why.ru);
            tell(RecordingNews::Warning(match stuck {
                true => say!(
                    "{en}; reading goes on, and writing as soon as there is room",
                    "{ru}; чтение продолжается, а запись — как только появится место"
                ),
                false => say!("the recording is written again", "запись снова пишется на диск"),
            }));
        }
        self.writer.edge();
    }
}

/// Kernel names of the drives of a host that people take away as a matter of course.
fn detachable(host: &HostInfo) -> BTreeSet<String> {
    let devices = host.targets.iter().flat_map(|target| &target.devices);
    devices.filter(|device| device.is_detachable()).map(|device| device.name.clone()).collect()
}

/// Header and place of a new recording.
fn begin(order: &RecordOrder) -> Result<(RunHeader, PathBuf)> {
    let now = since_1970();
    let id = store::new_run_id(now.as_secs(), stend_base::random::mix(now.as_nanos() as u64));
    let path = match &order.output {
        Some(path) => absolute(path)?,
        None => {
            let directory = store::directory()?;
            store::make_directory(&directory)?;
            directory.join(format!("{id}.{}", store::EXTENSION))
        }
    };
    // Nothing is asked for: the suite has no cases, and its name is what lists show.
    let suite = Suite { name: "recording".to_string(), ..Suite::default() };
    let target = PlanTarget::device(Bytes(0));
    let inputs = PlanInputs { suite, seed: 0, target, time_budget: None, traces: Vec::new() };
    let header = RunHeader {
        started_unix: now.as_secs() as i64,
        stend_version: env!("CARGO_PKG_VERSION").to_string(),
        command_line: order.command_line.clone(),
        realtime_offset_ns: ahead_ns(),
        label: order.label.clone(),
        recording: Some(order.recording.clone()),
        ..RunHeader::new(&id, inputs)
    };
    Ok((header, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_record::{Device, TargetFacts, TargetKind, WriteAccess};

    #[test]
    fn a_clock_that_was_set_and_a_host_that_slept_are_kept_once_and_drift_is_not() {
        let mut wall = Wall::new(1_000_000_000);
        assert_eq!(wall.look(1_000_000_000), None);
        assert_eq!(wall.look(1_499_999_999), None, "NTP has slewed it");
        assert_eq!(wall.look(3_601_000_000_000), Some(EventKind::WallClock { ahead_ns: 3_601_000_000_000 }));
        assert_eq!(wall.look(3_601_000_000_001), None);
        assert_eq!(wall.look(-5), Some(EventKind::WallClock { ahead_ns: -5 }));
    }

    #[test]
    fn removable_drives_and_drives_over_a_network_are_detachable() {
        let drive = |(name, removable, transport): (&str, bool, Option<&str>)| TargetFacts {
            devices: vec![Device {
                name: name.into(),
                removable,
                transport: transport.map(String::from),
                ..Device::default()
            }],
            ..TargetFacts::new(name, TargetKind::BlockDevice, WriteAccess::Nowhere)
        };
        let drives = [
            ("sda", false, Some("sas")),
            ("sdb", true, None),
            ("sdc", false, Some("iscsi")),
            ("nvme0n1", false, Some("pcie")),
            ("nvme1n1", false, Some("tcp")),
        ];
        let host = HostInfo { targets: drives.map(drive).into(), ..HostInfo::default() };
        assert_eq!(detachable(&host).into_iter().collect::<Vec<_>>(), ["nvme1n1", "sdb", "sdc"]);
    }

    #[test]
    fn a_recording_that_lasts_has_its_last_sample_at_its_end() {
        let all = |every: u64, lasts: Option<u64>| {
            let (mut due, mut all) = (Nanos(100), vec![100]);
            while let Some(at) = next(due, due, Nanos(every), lasts.map(|lasts| Nanos(100 + lasts))) {
                (due, all) = (at, [all, vec![at.0]].concat());
                if all.len() == 5 {
                    break;
                }
            }
            all
        };
        assert_eq!(all(60, Some(90)), [100, 160, 190]);
        assert_eq!(all(60, Some(120)), [100, 160, 220]);
        assert_eq!(all(60, Some(10)), [100, 110]);
        assert_eq!(all(60, None), [100, 160, 220, 280, 340]);
        assert_eq!(next(Nanos(100), Nanos(290), Nanos(60), None), Some(Nanos(340)), "the host slept");
        assert_eq!(next(Nanos(100), Nanos(290), Nanos(60), Some(Nanos(200))), None);
    }
}
