//! What the hypervisor does to machines while they load: snapshots and moves of their disks, other limits, migrations, and the undo of each. Must not
//! decide when.

use crate::disks;
use crate::domain;
use crate::down::must_be_ours;
use crate::group::Group;
use crate::location;
use crate::migrate::{self, How};
use crate::notes::Notes;
use crate::virsh::Virsh;
use std::path::Path;
use std::time::Duration;
use stend_base::{Bytes, Error, Nanos, Result, say};
use stend_spec::fault::{Act, WhichMachine};
use stend_spec::vm::{Disk, DiskPlace};

/// Endings of files: those that are written after a snapshot, and disks that were moved.
const SNAPSHOT: &str = "snapshot.qcow2";
const MOVED: &str = "moved.img";
/// Longest job of a disk: the time that its size takes at the rate of a slow disk, and some more.
const SLOW: u64 = 4 << 20;
const SOME: u64 = 120;
/// What the client may take longer than the job.
const CLIENT: Duration = Duration::from_secs(30);

/// A machine that loads.
pub struct Member {
    /// Its group.
    pub group: Group,
    /// Its number there.
    pub number: u32,
}

impl Member {
    /// The machine of this name, such as `web-1`.
    ///
    /// Errors: as [`Group::find_machine`].
    pub fn find(name: &str, place: &Path) -> Result<Member> {
        Group::find_machine(name, place).map(|(group, number)| Member { group, number })
    }

    fn notes(&self) -> Result<Notes<'_>> {
        Notes::of(&self.group, self.number)
    }

    fn name(&self) -> String {
        self.group.name_of(self.number)
    }
}

/// A disk of a machine.
struct DiskOf<'a> {
    member: &'a Member,
    at: usize,
    disk: &'a Disk,
    /// What libvirt calls it.
    target: String,
}

impl DiskOf<'_> {
    /// Where it lies, by its file of machines.
    fn own(&self) -> String {
        self.member.group.disk(self.at, self.member.number)
    }

    /// What is made for it in a directory, or beside it.
    fn made(&self, directory: Option<&str>, ending: &str) -> Result<String> {
        let beside = match &self.disk.place {
            DiskPlace::File { directory, .. } => Some(directory.as_str()),
            DiskPlace::Devices(_) => None,
        };
        let (group, number) = (&self.member.group, self.member.number);
        match directory.or(beside) {
            Some(directory) => Ok(group.file_of_disk(directory, self.at, number, ending)),
            None => {
                let (name, target) = (self.member.name(), &self.target);
                Err(Error::preflight(say!(
                    "the disk `{target}` of `{name}` is a device: `vm.snapshot` needs `directory` for the new file",
                    "диск `{target}` машины `{name}` — устройство: для `vm.snapshot` нужен `directory` под новый файл"
                )))
            }
        }
    }
}

fn disks_of(member: &Member) -> Vec<DiskOf<'_>> {
    let disks = &member.group.machines.disks;
    let named = disks.iter().zip(domain::targets(disks)).enumerate();
    named.map(|(at, (disk, target))| DiskOf { member, at, disk, target }).collect()
}

/// The machines that are meant in a block.
fn meant(members: &[Member], which: WhichMachine, block: u32) -> impl Iterator<Item = &Member> {
    let count = members.len();
    members.iter().enumerate().filter(move |(at, _)| which.means(*at, count, block)).map(|(_, member)| member)
}

/// Whether an event can be done to these machines.
///
/// Errors: `Preflight` where there is no such machine, where its disks do not fit, or where their directory is not there.
pub fn foresee(members: &[Member], act: &Act) -> Result<()> {
    let Some(which) = act.machine() else { return Ok(()) };
    if let WhichMachine::Number(number) = which
        && members.len() < number as usize
    {
        let count = members.len();
        return Err(Error::preflight(say!(
            "an event is for virtual machine {number}, but only {count} load",
            "событие — для виртуальной машины {number}, а нагружающих всего {count}"
        )));
    }
    if let Act::VmMigrate { to, .. } = act {
        let blocks = 0..members.len() as u32;
        let mut all = blocks.flat_map(|block| meant(members, which, block));
        return all.try_for_each(|member| migrate::foresee(&member.group, member.number, to));
    }
    let (ending, directory) = match act {
        Act::VmSnapshot { directory, .. } => (SNAPSHOT, directory.as_deref()),
        Act::VmMove { directory, .. } => (MOVED, Some(directory.as_str())),
        _ => return Ok(()),
    };
    // Machines that take turns are each meant once.
    let all =
        (0..members.len() as u32).flat_map(|block| meant(members, which, block).map(move |member| (block, member)));
    let mut needs: Vec<Vec<(String, u64)>> = vec![Vec::new(); members.len()];
    for (block, member) in all {
        for disk in disks_of(member) {
            let path = disk.made(directory, ending)?;
            let place = Path::new(&path).parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
            needs[block as usize].push((place, capacity(&disk)?.0));
        }
    }
    needs.iter().try_for_each(|needs| disks::must_fit(needs))
}

/// Does an event of the trial of a block, or undoes it; `tell` hears the commands. Returns the longest time for which a guest was paused, if
/// libvirt says that.
///
/// Errors: those of libvirt; `Unsafe` where a domain does not bear the mark of its machine. What was done before an error is undone as if
/// all had been.
pub fn change(
    members: &[Member],
    act: &Act,
    (block, undo): (u32, bool),
    tell: &mut dyn FnMut(String),
) -> Result<Option<Nanos>> {
    let Some(which) = act.machine() else { return Ok(None) };
    let (mut failure, mut downtime) = (None, None);
    for member in meant(members, which, block) {
        let mut virsh = Told { member, tell: &mut *tell };
        let done = virsh.is_up().and_then(|is_up| match (act, undo) {
            _ if !is_up => Ok(()),
            (Act::VmMigrate { to, bandwidth, limit, .. }, _) => {
                let (how, way) = (How { bandwidth: *bandwidth, limit: *limit }, (&member.group, member.number));
                let stood = match undo {
                    false => migrate::go(way.0, way.1, to, how, virsh.tell),
                    true => migrate::come_back(way.0, way.1, how, virsh.tell),
                };
                stood.map(|stood| downtime = downtime.max(stood))
            }
            (Act::VmSnapshot { directory, .. }, false) => virsh.snapshot(directory.as_deref()),
            (Act::VmMove { directory, .. }, false) => virsh.move_to(directory),
            (Act::VmLimit { iops, bandwidth, .. }, false) => virsh.limit_to(*iops, *bandwidth),
            (Act::VmLimit { .. }, true) => virsh.own_limits(),
            (_, true) => virsh.bring_back(),
            (_, false) => Ok(()),
        });
        match done {
            Ok(()) => {}
            // One that ended by itself, be it meanwhile, is a load host that is lost, with which the run deals; what was made for it goes
            // with `down`.
            Err(_) if matches!(virsh.is_up(), Ok(false)) => {}
            // Each is undone, whatever becomes of another.
            Err(error) if undo => {
                failure.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    failure.map_or(Ok(downtime), Err)
}

/// Undoes what a run that was killed left of its changes to a machine; whether there was anything.
///
/// Errors: as [`change`], and `Preflight` where a run has the machine.
pub fn restore(member: &Member, tell: &mut dyn FnMut(String)) -> Result<bool> {
    if member.notes()?.is_empty() {
        return Ok(false);
    }
    // What a run has changed is for that run to undo.
    let _lock = member.group.lock(member.number)?;
    migrate::come_back(&member.group, member.number, How::default(), tell)?;
    let mut virsh = Told { member, tell };
    virsh.is_ours()?;
    virsh.bring_back()?;
    if member.notes()?.has_limits() {
        virsh.own_limits()?;
    }
    member.notes()?.remove_files()?;
    Ok(true)
}

/// Size of a disk.
fn capacity(disk: &DiskOf<'_>) -> Result<Bytes> {
    if let DiskPlace::File { size, .. } = &disk.disk.place {
        return Ok(*size);
    }
    let (group, uuid) = (&disk.member.group, disk.member.group.uuid(disk.member.number));
    let told = group.virsh().run(&["domblkinfo", &uuid, &disk.target])?;
    let size = told.lines().find_map(|line| line.strip_prefix("Capacity:")?.trim().parse().ok());
    size.map(Bytes).ok_or_else(|| {
        let path = disk.own();
        Error::preflight(say!("libvirt does not tell the size of `{path}`", "libvirt не сообщает размер `{path}`"))
    })
}

/// Commands for one machine, each of which is reported.
struct Told<'a, 'b> {
    member: &'a Member,
    tell: &'b mut dyn FnMut(String),
}

impl Told<'_, '_> {
    fn uuid(&self) -> String {
        self.member.group.uuid(self.member.number)
    }

    /// The libvirt that has the machine now.
    fn virsh(&self) -> Result<Virsh> {
        location::virsh(&self.member.group, self.member.number)
    }

    fn is_ours(&self) -> Result<()> {
        let (group, number) = (&self.member.group, self.member.number);
        must_be_ours(group, number, &self.virsh()?.run(&["dumpxml", &self.uuid()])?)
    }

    /// Whether the machine runs; it must bear its mark.
    fn is_up(&self) -> Result<bool> {
        self.is_ours()?;
        let state = self.virsh()?.run(&["domstate", &self.uuid()])?;
        Ok(matches!(state.trim(), "running" | "paused"))
    }

    /// Ends jobs of disks that go on without the client that began them, because it was killed: a copy that the machine has not taken is
    /// given up, what was not merged is merged anew.
    fn end_jobs(&self) -> Result<()> {
        let virsh = self.virsh()?;
        for disk in disks_of(self.member) {
            // Most disks have none, and the command fails. A job that does not end makes the next one fail, with its own error.
            drop(virsh.run(&["blockjob", &self.uuid(), &disk.target, "--abort"]));
        }
        Ok(())
    }

    fn run(&mut self, words: &[&str], limit: Duration) -> Result<()> {
        let virsh = self.virsh()?;
        (self.tell)(virsh.words(words).join(" "));
        virsh.run_within(words, limit).map(drop)
    }

    /// Has a job of a disk come to its end.
    fn job(&mut self, disk: &DiskOf<'_>, words: &[&str]) -> Result<()> {
        let seconds = SOME.saturating_add(capacity(disk)?.0 / SLOW);
        let timeout = seconds.to_string();
        let words = [words, &["--wait", "--pivot", "--timeout", &timeout]].concat();
        self.run(&words, Duration::from_secs(seconds) + CLIENT)
    }

    /// The file or device that each disk has now.
    fn sources(&self) -> Result<Vec<(String, String)>> {
        let told = self.virsh()?.run(&["domblklist", &self.uuid()])?;
        Ok(sources(&told))
    }

    fn snapshot(&mut self, directory: Option<&str>) -> Result<()> {
        let (member, uuid) = (self.member, self.uuid());
        let disks = disks_of(member);
        let paths = disks.iter().map(|disk| disk.made(directory, SNAPSHOT)).collect::<Result<Vec<_>>>()?;
        member.notes()?.add(&paths)?;
        let specs: Vec<String> = disks
            .iter()
            .zip(&paths)
            .map(|(disk, path)| format!("{},snapshot=external,file={}", disk.target, path.replace(',', ",,")))
            .collect();
        let mut words = vec!["snapshot-create-as", &uuid, "--disk-only", "--atomic", "--no-metadata"];
        words.extend(["--diskspec", "vda,snapshot=no"]);
        words.extend(specs.iter().flat_map(|spec| ["--diskspec", spec]));
        self.run(&words, CLIENT * 4)
    }

    fn move_to(&mut self, directory: &str) -> Result<()> {
        let (member, uuid) = (self.member, self.uuid());
        for disk in disks_of(member) {
            let path = disk.made(Some(directory), MOVED)?;
            member.notes()?.add(std::slice::from_ref(&path))?;
            let sparse = matches!(disk.disk.place, DiskPlace::File { sparse: true, .. });
            let made = disks::file(Path::new(&path), capacity(&disk)?, sparse);
            made.map_err(|e| disks::not_made(&path, &e))?;
            self.job(&disk, &copy(&uuid, &disk.target, &path))?;
        }
        Ok(())
    }

    /// Gives each disk its own file or device again: what was written after a snapshot is merged into it, a disk that was moved is copied
    /// back.
    fn bring_back(&mut self) -> Result<()> {
        let (member, uuid) = (self.member, self.uuid());
        let mut failure = None;
        self.end_jobs()?;
        let sources = self.sources()?;
        for disk in disks_of(member) {
            let now = sources.iter().find(|(target, _)| *target == disk.target).map(|(_, source)| source.as_str());
            if let Err(error) = self.bring_disk_back(&disk, now.unwrap_or_default(), &uuid) {
                failure.get_or_insert(error);
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn bring_disk_back(&mut self, disk: &DiskOf<'_>, now: &str, uuid: &str) -> Result<()> {
        let (member, own) = (self.member, disk.own());
        let mut notes = member.notes()?;
        if now.is_empty() {
            let (name, target) = (member.name(), &disk.target);
            return Err(Error::preflight(say!(
                "`{name}` has no disk `{target}` any more",
                "у `{name}` больше нет диска `{target}`"
            )));
        }
        if now != own && !notes.has(now) {
            let (name, target) = (member.name(), &disk.target);
            return Err(Error::refused(say!(
                "the disk `{target}` of `{name}` is `{now}`, which Stend did not make; it is left alone",
                "диск `{target}` машины `{name}` — это `{now}`, созданный не Стендом; он не тронут"
            )));
        }
        if now.ends_with(SNAPSHOT) {
            self.job(disk, &["blockcommit", uuid, &disk.target, "--active"])?;
        } else if now != own {
            let mut words = copy(uuid, &disk.target, &own).to_vec();
            if matches!(disk.disk.place, DiskPlace::Devices(_)) {
                words.push("--blockdev");
            }
            self.job(disk, &words)?;
        }
        // Also what was made and never taken.
        let named = format!("-{}-{}-{}.", member.number, disk.at + 1, member.group.id);
        let left: Vec<String> = notes.paths().filter(|path| path.contains(&named)).cloned().collect();
        left.iter().try_for_each(|path| notes.remove(path))
    }

    fn limit_to(&mut self, iops: Option<u32>, bandwidth: Option<Bytes>) -> Result<()> {
        self.member.notes()?.add_limits()?;
        disks_of(self.member).iter().try_for_each(|disk| self.limit(&disk.target, iops, bandwidth))
    }

    fn own_limits(&mut self) -> Result<()> {
        let own = |disk: &DiskOf<'_>| (disk.target.clone(), disk.disk.iops, disk.disk.bandwidth);
        let all: Vec<_> = disks_of(self.member).iter().map(own).collect();
        all.into_iter().try_for_each(|(target, iops, bandwidth)| self.limit(&target, iops, bandwidth))?;
        self.member.notes()?.forget_limits()
    }

    /// 0 is no limit.
    fn limit(&mut self, target: &str, iops: Option<u32>, bandwidth: Option<Bytes>) -> Result<()> {
        let uuid = self.uuid();
        let (iops, bytes) = (iops.unwrap_or(0).to_string(), bandwidth.map_or(0, |bytes| bytes.0).to_string());
        let words = ["blkdeviotune", &uuid, target, "--total-iops-sec", &iops, "--total-bytes-sec", &bytes, "--live"];
        self.run(&words, CLIENT * 4)
    }
}

/// The copy of a disk to a file or device that is there; the machine takes it when the copy is complete.
fn copy<'a>(uuid: &'a str, target: &'a str, to: &'a str) -> [&'a str; 9] {
    ["blockcopy", uuid, target, "--dest", to, "--format", "raw", "--reuse-external", "--transient-job"]
}

/// Targets and sources of `domblklist`: two columns, and paths may have spaces.
fn sources(told: &str) -> Vec<(String, String)> {
    let of = |line: &str| {
        let (target, source) = line.trim().split_once(' ')?;
        Some((target.to_string(), source.trim().to_string()))
    };
    told.lines().filter_map(of).collect()
}

#[cfg(test)]
mod tests;
