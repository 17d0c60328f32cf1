//! Live migration of a machine to another libvirt of this host, and back. Must not decide when, nor touch a domain that does not bear the mark
//! of its machine.
//!
//! The memory is copied slowly at first: as long as that goes on the guest cannot go. Meanwhile the link to the worker is connected to the
//! emulator that waits for the guest, and the disks are compared that it has open. Then the copy gets the rate that was asked for.

use crate::arrival;
use crate::disks::same;
use crate::domain;
use crate::down::{must_be_ours, remove_from};
use crate::group::Group;
use crate::link::Link;
use crate::location::{Found, Presence, found, presence, presences};
use crate::notes::Notes;
use crate::placement::{self, process_of};
use crate::virsh::Virsh;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stend_base::{Bytes, Error, Lang, Nanos, Result, format, say};
use stend_spec::vm::{Accelerator, Cache};

/// MiB per second until the link is there: a guest of the least memory has dozens of MiB that are not empty, and takes minutes.
const SLOW: u64 = 1;
/// The same for no limit; libvirt takes up to 2^53 bytes.
const UNLIMITED: u64 = 1 << 20;
/// What libvirt says of a domain that waits for its guest.
const WAITS: &str = "paused (migrating)";
/// How long the other libvirt may take to start an emulator that waits for the guest.
const BEGIN_LIMIT: Duration = Duration::from_secs(60);
/// How long a libvirt whose client was killed may take to call its migration off.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);
/// How long libvirt may take to end a migration that is called off.
const ABORT_LIMIT: Duration = Duration::from_secs(60);
/// How long a migration may take where nothing is said: so much, and what the memory takes at the rate of a slow network.
const SOME: u64 = 120;
const RATE: u64 = 4 << 20;
/// How often it is looked whether something has happened.
const TICK: Duration = Duration::from_millis(5);
/// Longest path of a socket.
//= unix(7): `sun_path` has 108 bytes, with the zero at its end
const SOCKET_MAX: usize = 107;

/// How a machine migrates.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct How {
    /// Most bytes per second.
    pub bandwidth: Option<Bytes>,
    /// How long it may take.
    pub limit: Option<Nanos>,
}

/// Whether a machine can migrate there, as far as that is known before.
///
/// Errors: `Preflight` where it cannot, with the reason; `Unsafe` where a domain of others has its name.
pub(crate) fn foresee(group: &Group, number: u32, to: &str) -> Result<()> {
    must_have_safe_disks(group, number)?;
    let (name, other) = (group.name_of(number), Virsh::new(Some(to)));
    if port(group, number, "").len() > SOCKET_MAX {
        let directory = group.directory.display();
        return Err(Error::preflight(say!(
            "`{name}` cannot migrate: the path of its socket in `{directory}` would be longer than {SOCKET_MAX} bytes",
            "`{name}` не может мигрировать: путь её сокета в `{directory}` длиннее {SOCKET_MAX} байт"
        )));
    }
    other.uri()?;
    let hosts = [&group.virsh(), &other].map(|virsh| virsh.run(&["capabilities"]).map(|text| host_of(&text)));
    let [own, theirs] = hosts;
    if own?.is_some_and(|own| theirs.is_ok_and(|theirs| theirs == Some(own))) {
        return Err(Error::preflight(say!(
            "`{name}` cannot migrate to `{to}`: for libvirt that is the host where it is",
            "`{name}` не может мигрировать в `{to}`: для libvirt это та же машина, где она сейчас"
        ))
        .hint(say!(
            "a second daemon on this machine needs `host_uuid` of its own in libvirtd.conf",
            "второму демону на этой машине нужен свой `host_uuid` в libvirtd.conf"
        )));
    }
    must_be_free(group, number, to)?;
    let kind = if group.accelerator() == Some(Accelerator::Kvm) { "kvm" } else { "qemu" };
    other.run(&["domcapabilities", "--virttype", kind, "--arch", "x86_64", "--machine", "q35"])?;
    // The emulator that waits for the guest will be one as that which has it.
    let process = process_of(&group.uuid(number), Path::new("/proc"));
    match process.map(|process| (fs::read_dir(process.join("fd")), process)) {
        Some((Err(error), process)) => Err(unseen(&name, &process, &error)),
        _ => Ok(()),
    }
}

/// A domain there that is not this machine is left alone.
fn must_be_free(group: &Group, number: u32, to: &str) -> Result<()> {
    let (other, uuid) = (Virsh::new(Some(to)), group.uuid(number));
    if other.domains()?.contains(&uuid) {
        return must_be_ours(group, number, &other.run(&["dumpxml", &uuid])?);
    }
    let domain = domain::name(&group.machines.name, number);
    if !other.names()?.contains(&domain) {
        return Ok(());
    }
    Err(Error::refused(say!(
        "the libvirt `{to}` has a domain `{domain}` that is not one of these machines; it is left alone",
        "в libvirt `{to}` есть домен `{domain}`, который не из этих машин; он не тронут"
    ))
    .hint(say!("give the machines another name in their file", "дайте машинам в их файле другое имя")))
}

/// Two emulators must not have a disk in two caches.
//= virsh(1), migrate: `--unsafe`; libvirt's own check takes cache modes `none` and `directsync` alone
fn must_have_safe_disks(group: &Group, number: u32) -> Result<()> {
    let is_safe = |cache: Option<Cache>| matches!(cache, Some(Cache::None | Cache::Directsync));
    let mut disks = group.machines.disks.iter().zip(domain::targets(&group.machines.disks));
    let Some((_, target)) = disks.find(|(disk, _)| !is_safe(disk.cache)) else { return Ok(()) };
    let name = group.name_of(number);
    Err(Error::preflight(say!(
        "`{name}` cannot migrate: its disk `{target}` goes through the page cache of the host, and could be damaged",
        "`{name}` не может мигрировать: её диск `{target}` идёт через страничный кэш машины и может быть повреждён"
    ))
    .hint(say!(
        "give each disk `cache: none` or `cache: directsync` in the file of machines",
        "укажите в файле машин у каждого диска `cache: none` или `cache: directsync`"
    )))
}

/// Has a machine migrate to another libvirt. Returns how long the guest was paused, if libvirt says that.
///
/// Errors: as [`foresee`], and those of libvirt. Then the machine is where it was, and nothing of it is there, or a note has that.
pub(crate) fn go(
    group: &Group,
    number: u32,
    to: &str,
    how: How,
    tell: &mut dyn FnMut(String),
) -> Result<Option<Nanos>> {
    must_be_free(group, number, to)?;
    Notes::of(group, number)?.set_destination(Some(to))?;
    let other = Virsh::new(Some(to));
    let gone = Trip { group, number, from: &group.virsh(), to: &other }.make(how, tell);
    if gone.is_err() && presence(&other, &group.uuid(number)).is_ok_and(|there| there == Presence::Absent) {
        Notes::of(group, number)?.set_destination(None)?;
    }
    gone
}

/// Has a machine come back, if it is elsewhere, and removes what is left of it there.
///
/// Errors: those of libvirt; `Preflight` where it cannot be known which of two copies is the machine. What is noted stays then.
pub(crate) fn come_back(group: &Group, number: u32, how: How, tell: &mut dyn FnMut(String)) -> Result<Option<Nanos>> {
    let Some(uri) = Notes::of(group, number)?.destination() else { return Ok(None) };
    let (own, other, uuid) = (group.virsh(), Virsh::new(Some(&uri)), group.uuid(number));
    let mut downtime = None;
    let (is_at, (on_own, on_other)) = settled(&|| presences(group, number, &other))?;
    match is_at {
        Found::Other => {
            if on_own == Presence::Paused {
                // It was killed when its guest had gone and its own libvirt had not heard of that.
                end(group, number, &own, tell)?;
            }
            downtime = Trip { group, number, from: &other, to: &own }.make(how, tell)?;
        }
        Found::Unknown => return Err(unknown(group, number)),
        Found::Own => {}
    }
    // One that has nothing of it need not even answer.
    if on_other != Presence::Absent && remove_from(group, number, &other, &other.domains()?)? {
        tell(other.words(&["destroy", &uuid]).join(" "));
    }
    if presence(&own, &uuid)? == Presence::Paused {
        // It stood still for the last of its memory, which no longer goes anywhere.
        tell(own.words(&["resume", &uuid]).join(" "));
        own.run(&["resume", &uuid])?;
    }
    Notes::of(group, number)?.set_destination(None)?;
    Ok(downtime)
}

/// Where a machine is, and what its own libvirt and the other one say of it. A libvirt whose client was killed needs some time to call a
/// migration off.
fn settled(states: &dyn Fn() -> Result<(Presence, Presence)>) -> Result<(Found, (Presence, Presence))> {
    let since = Instant::now();
    loop {
        let (own, other) = states()?;
        match found(own, other) {
            Found::Unknown if since.elapsed() < SETTLE_LIMIT => std::thread::sleep(TICK),
            is => return Ok((is, (own, other))),
        }
    }
}

fn unknown(group: &Group, number: u32) -> Box<Error> {
    let (name, group) = (group.name_of(number), &group.machines.name);
    Error::preflight(say!(
        "`{name}` is paused in two libvirts, and it is not known where it ran last",
        "`{name}` приостановлена в двух libvirt, и неизвестно, где она выполнялась последней"
    ))
    .hint(say!("`stend vm down {group}` removes both", "`stend vm down {group}` уберёт обе"))
}

/// Ends a copy of a machine that is not it any more; its definition stays.
fn end(group: &Group, number: u32, virsh: &Virsh, tell: &mut dyn FnMut(String)) -> Result<()> {
    let uuid = group.uuid(number);
    must_be_ours(group, number, &virsh.run(&["dumpxml", &uuid])?)?;
    tell(virsh.words(&["destroy", &uuid]).join(" "));
    virsh.run(&["destroy", &uuid]).map(drop)
}

/// From one libvirt to the other.
struct Trip<'a> {
    group: &'a Group,
    number: u32,
    from: &'a Virsh,
    to: &'a Virsh,
}

impl Trip<'_> {
    fn make(&self, how: How, tell: &mut dyn FnMut(String)) -> Result<Option<Nanos>> {
        let (group, number, uuid) = (self.group, self.number, self.group.uuid(self.number));
        let Some(to) = self.to.connection() else { return Ok(None) };
        let text = self.from.run(&["dumpxml", &uuid])?;
        must_be_ours(group, number, &text)?;
        let port = port(group, number, domain::read(&text).unwrap_or_default().worker.as_deref().unwrap_or_default());
        let file = self.arrival(&port)?;
        // Without a worker that is joined to its coordinator there is nothing that must not be lost.
        let mut link = Link::open(group, number);
        link.iter_mut().try_for_each(Link::hold)?;
        let begin = SLOW.to_string();
        // The disks are compared here, whatever libvirt takes for shared; the memory does not leave this host.
        let words = ["migrate", "--live", "--unsafe", "--bandwidth", &begin, "--migrateuri", "tcp:127.0.0.1"];
        let words = [&words[..], &["--xml", &file, &uuid, to]].concat();
        tell(self.from.words(&words).join(" "));
        let limit = limit(how, group.machines.memory);
        self.carried_out(&words, limit, how.bandwidth, (link.as_mut(), &port), tell)?;
        link.iter_mut().try_for_each(Link::arrive)?;
        placement::must_be_kept(group, number)?;
        let told = self.to.run(&["domjobinfo", &uuid, "--completed"]);
        Ok(told.ok().as_deref().and_then(downtime))
    }

    /// The file that the other libvirt gets.
    fn arrival(&self, port: &str) -> Result<String> {
        let text = self.from.run(&["dumpxml", "--migratable", &self.group.uuid(self.number)])?;
        let name = self.group.name_of(self.number);
        let made = arrival::xml(&text, port).ok_or_else(|| {
            Error::preflight(say!(
                "`{name}` cannot migrate: its domain has no port of a worker",
                "`{name}` не может мигрировать: в её домене нет порта рабочего процесса"
            ))
        })?;
        self.group.keep_arrival(self.number, &made)
    }

    /// Executes the migration, which has to be complete within `limit`.
    fn carried_out(
        &self,
        words: &[&str],
        limit: Duration,
        bandwidth: Option<Bytes>,
        (link, port): (Option<&mut Link>, &str),
        tell: &mut dyn FnMut(String),
    ) -> Result<()> {
        let (from, uuid, begun) = (self.from, self.group.uuid(self.number), Instant::now());
        let before = placement::processes_of(&uuid, Path::new("/proc"));
        std::thread::scope(|scope| {
            let job = scope.spawn(|| from.run_within(words, limit + BEGIN_LIMIT + ABORT_LIMIT));
            let goes_on = || !job.is_finished();
            let mut late = false;
            let prepared = self.prepare(&before, (link, port), &goes_on).and_then(|()| {
                let rate = bandwidth.map_or(UNLIMITED, |bytes| bytes.0 >> 20).to_string();
                let faster = ["migrate-setspeed", &uuid, &rate];
                tell(from.words(&faster).join(" "));
                // One that has ended has its own error.
                if goes_on() { from.run(&faster).map(drop) } else { Ok(()) }
            });
            while goes_on() && prepared.is_ok() && !late {
                std::thread::sleep(TICK);
                late = begun.elapsed() >= limit;
            }
            if goes_on() {
                let abort = ["domjobabort", &uuid];
                tell(from.words(&abort).join(" "));
                // A migration that ends by itself at this moment has nothing to be called off.
                drop(from.run(&abort));
            }
            let ended = job.join().unwrap_or_else(|_| Err(Error::bug(say!("a thread panicked", "поток упал"))));
            match (ended, prepared) {
                (Ok(_), _) => Ok(()),
                (Err(_), _) if late => Err(self.not_converged(limit)),
                (Err(error), Ok(())) | (Err(_), Err(error)) => Err(error),
            }
        })
    }

    /// While the guest cannot go: connects the link to where it will be, and compares the disks.
    fn prepare(
        &self,
        before: &[PathBuf],
        (link, port): (Option<&mut Link>, &str),
        goes_on: &dyn Fn() -> bool,
    ) -> Result<()> {
        let (uuid, begun) = (self.group.uuid(self.number), Instant::now());
        // Then it has its disks open, and libvirt speaks to it.
        while self.to.run(&["domstate", &uuid, "--reason"]).map_or(true, |state| state.trim() != WAITS) {
            if !goes_on() {
                // What ended it is its own error.
                return Ok(());
            }
            if begun.elapsed() >= BEGIN_LIMIT {
                return Err(self.not_begun());
            }
            std::thread::sleep(TICK);
        }
        let process = waiting(&uuid, before, Path::new("/proc")).ok_or_else(|| self.not_begun())?;
        self.must_share_disks(&process)?;
        link.map_or(Ok(()), |link| link.connect(port))
    }

    /// The emulator that waits for the guest has the very disks of the machine open.
    fn must_share_disks(&self, process: &Path) -> Result<()> {
        let paths = self.group.paths(self.number);
        let name = self.group.name_of(self.number);
        let open = fs::read_dir(process.join("fd")).map_err(|e| unseen(&name, process, &e))?;
        let open: Vec<PathBuf> = open.flatten().map(|entry| entry.path()).collect();
        match paths
            .disks
            .iter()
            .chain([&paths.system])
            .find(|path| !open.iter().any(|file| same(Path::new(path), file)))
        {
            None => Ok(()),
            Some(path) => Err(Error::preflight(say!(
                "`{name}` cannot migrate: `{path}` is another file for the other libvirt; it stays where it is",
                "`{name}` не может мигрировать: `{path}` для другого libvirt — другой файл; она остаётся на месте"
            ))
            .hint(say!(
                "both must see the disks at the same paths: the same directories, the same mounts",
                "обоим нужны те же диски по тем же путям: те же каталоги, те же точки монтирования"
            ))),
        }
    }

    fn not_begun(&self) -> Box<Error> {
        let name = self.group.name_of(self.number);
        Error::preflight(say!(
            "`{name}` cannot migrate: no emulator of the other libvirt waits for it on this machine",
            "`{name}` не может мигрировать: на этой машине её не ждёт эмулятор другого libvirt"
        ))
    }

    fn not_converged(&self, limit: Duration) -> Box<Error> {
        let name = self.group.name_of(self.number);
        let limit = Nanos(limit.as_nanos() as u64);
        let [en, ru] = [Lang::En, Lang::Ru].map(|lang| format::duration(limit, lang));
        Error::preflight(say!(
            "the migration of `{name}` was not complete within {en}: its memory is written as fast as it is copied; it goes on where it was",
            "миграция `{name}` не завершилась за {ru}: память меняется так же быстро, как копируется; машина работает там, где была"
        ))
        .hint(say!(
            "give the event a larger `limit` or `bandwidth`, or the case less load",
            "увеличьте `limit` или `bandwidth` события либо уменьшите нагрузку случая"
        ))
    }
}

/// A socket that its port has not now.
fn port(group: &Group, number: u32, now: &str) -> String {
    let of = |letter: char| group.directory.join(format!("port-{number}-{letter}")).to_string_lossy().into_owned();
    let first = of('a');
    if now == first { of('b') } else { first }
}

/// How long a migration may take.
fn limit(how: How, memory: Bytes) -> Duration {
    how.limit.map_or(Duration::from_secs(SOME + memory.0 / RATE), |limit| Duration::from_nanos(limit.0))
}

/// The emulator of a domain that waits for its guest: the one that was not `before`. One that its guest came to was started in the same way, and a
/// younger one may have a smaller number.
fn waiting(uuid: &str, before: &[PathBuf], processes: &Path) -> Option<PathBuf> {
    placement::processes_of(uuid, processes).into_iter().find(|process| !before.contains(process))
}

/// The UUID of the host in what libvirt says of itself.
fn host_of(capabilities: &str) -> Option<String> {
    let (_, host) = capabilities.split_once("<uuid>")?;
    host.split_once("</uuid>").map(|(uuid, _)| uuid.trim().to_string())
}

/// How long a guest was paused, as `domjobinfo` has it in milliseconds.
fn downtime(told: &str) -> Option<Nanos> {
    let line = told.lines().find_map(|line| line.strip_prefix("Total downtime:"))?;
    line.split_whitespace().next()?.parse().ok().map(Nanos::millis)
}

fn unseen(name: &str, process: &Path, error: &std::io::Error) -> Box<Error> {
    let process = process.display();
    Error::preflight(say!(
        "`{name}` cannot migrate: which disks an emulator has open cannot be seen (`{process}/fd`: {error})",
        "`{name}` не может мигрировать: не видно, какие диски открыты у эмулятора (`{process}/fd`: {error})"
    ))
    .hint(say!("this needs root", "для этого нужны права root"))
}

#[cfg(test)]
mod tests;
