//! What one process after the other has open: in the tables of descriptors of all its threads, in its memory, in rings of io_uring, and on
//! the way through its sockets. Reads only; must not judge whether that is a use.

use crate::devices::Devices;
use crate::roots::{Roots, names};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use stend_sys::block::DevNo;
use stend_sys::opened::{self, FileId, Opened};

/// With so many tables of a process a thread is compared before its own is read; programs with more than one hardly exist.
const TABLES_COMPARED: usize = 4;
/// What is read of a text of the kernel about one descriptor or memory, bytes: maps of the largest databases have some megabytes.
const TEXT_MAX: u64 = 64 << 20;

/// A look at processes, which remembers what it need not look at twice.
pub(super) struct Walk<'a> {
    roots: &'a Roots,
    files: BTreeSet<FileId>,
    inodes: BTreeSet<u64>,
    /// Devices and files by the names that old kernels give, and that deleted files have.
    named: BTreeMap<String, Opened>,
    /// Lines of maps, from the device on, that are neither devices nor files which are asked for.
    plain: HashSet<String>,
    sockets: HashSet<u64>,
    found: Vec<(Opened, bool)>,
}

impl<'a> Walk<'a> {
    /// `files`: those that are asked for, beside every block device.
    pub fn new(roots: &'a Roots, devices: &Devices, files: BTreeSet<FileId>) -> Walk<'a> {
        let mut named: BTreeMap<String, Opened> =
            devices.all().map(|node| (node.name.clone(), Opened::Device(node.number))).collect();
        for node in devices.all() {
            let Some(file) = node.backing.filter(|file| file.block.is_none()) else { continue };
            let Ok(path) = std::fs::read_to_string(node.sysfs.join("loop/backing_file")) else { continue };
            let of = Opened::File(FileId { device: file.device, inode: file.inode });
            let path = path.trim_end_matches('\n');
            named.insert(path.to_string(), of);
            named.extend(Path::new(path).file_name().map(|name| (name.to_string_lossy().into_owned(), of)));
        }
        let inodes = files.iter().map(|file| file.inode).collect();
        let (plain, sockets) = (HashSet::new(), HashSet::new());
        Walk { roots, files, inodes, named, plain, sockets, found: Vec::new() }
    }

    /// What a process has open, each with whether it may write through it.
    pub fn process(&mut self, pid: u32) -> Vec<(Opened, bool)> {
        let process = self.roots.proc.join(pid.to_string());
        let mut mapped = false;
        for thread in tables(&process, pid) {
            let at = if thread == pid { process.clone() } else { process.join(format!("task/{thread}")) };
            self.descriptors(&process, &at, (pid, thread));
            // Threads share their memory; the first one has none any more where it has ended.
            mapped = mapped || self.memory(&at);
        }
        self.found.sort_unstable();
        self.found.dedup();
        std::mem::take(&mut self.found)
    }

    fn descriptors(&mut self, process: &Path, at: &Path, (pid, thread): (u32, u32)) {
        let Ok(open) = std::fs::read_dir(at.join("fd")) else { return };
        for entry in open.flatten() {
            let path = entry.path();
            let told = || text(at.join("fdinfo").join(entry.file_name()));
            match opened::at(&path) {
                Ok(Opened::Device(number)) => self.found.push((Opened::Device(number), may_write(&told()))),
                Ok(Opened::File(file)) if self.files.contains(&file) => {
                    self.found.push((Opened::File(file), may_write(&told())));
                }
                Ok(Opened::Socket(number)) if self.sockets.insert(number) => {
                    let Some(descriptor) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                        continue;
                    };
                    self.on_their_way(&told(), (pid, thread, descriptor));
                }
                Ok(Opened::Anonymous) if is_ring(&path) => self.registered(process, &told()),
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// What is asked for and a process has in its hands in another way than by a descriptor.
    fn note(&mut self, of: Opened) {
        let asked = match of {
            Opened::Device(_) => true,
            Opened::File(file) => self.files.contains(&file),
            Opened::Socket(_) | Opened::Anonymous | Opened::Other => false,
        };
        if asked {
            self.found.push((of, true));
        }
    }

    /// Descriptors that were sent to a socket and not yet received.
    //= linux, net/unix/af_unix.c, unix_show_fdinfo(): "scm_fds: %u", since 5.7
    fn on_their_way(&mut self, told: &str, (pid, thread, descriptor): (u32, u32, u32)) {
        let count = told.lines().find_map(|line| line.strip_prefix("scm_fds:")?.trim().parse::<u32>().ok());
        if count.is_none_or(|count| count == 0) {
            return;
        }
        // A user who may not look into the process cannot see its other descriptors either.
        for of in opened::in_flight(pid, thread, descriptor).unwrap_or_default() {
            self.note(of);
        }
    }

    /// Files that a ring of io_uring holds, also when their descriptors are closed.
    //= linux, io_uring/fdinfo.c: "UserFiles:\t%u", then "%5u: " and a path, until 6.8 the last name of it
    fn registered(&mut self, process: &Path, told: &str) {
        let lines = told.lines().skip_while(|line| !line.starts_with("UserFiles:")).skip(1);
        for line in lines.map_while(|line| line.trim_start().split_once(": ").filter(|(n, _)| n.parse::<u32>().is_ok()))
        {
            let path = line.1;
            let of = match path.strip_prefix('/') {
                Some(below) => opened::at(&process.join("root").join(below)).ok(),
                None => None,
            };
            if let Some(of) = of.or_else(|| self.named.get(path).copied()) {
                self.note(of);
            }
        }
    }

    /// What is mapped into the memory of a process; `false` if it has none.
    ///
    /// Files are found by their numbers. The kernel gives the number of a device's node, so that each other file is looked at
    /// once, whichever process has it.
    fn memory(&mut self, at: &Path) -> bool {
        let maps = text(at.join("maps"));
        for line in maps.lines() {
            let Some(line) = Mapping::of(line) else { continue };
            if !self.inodes.contains(&line.inode) && self.plain.contains(line.file) {
                continue;
            }
            let writes = line.writes;
            match opened::at(&at.join("map_files").join(&line.range)).ok().or_else(|| line.guessed()) {
                Some(Opened::Device(number)) => self.found.push((Opened::Device(number), writes)),
                Some(Opened::File(file)) if self.files.contains(&file) => self.found.push((Opened::File(file), writes)),
                Some(_) | None => drop(self.plain.insert(line.file.to_string())),
            }
        }
        !maps.is_empty()
    }
}

/// A line of maps that is about a file.
#[derive(Debug, PartialEq, Eq)]
struct Mapping<'a> {
    /// Its name in `map_files`.
    range: String,
    writes: bool,
    device: DevNo,
    inode: u64,
    /// Device, number and path as they stand there.
    file: &'a str,
}

impl<'a> Mapping<'a> {
    /// Format: Linux Documentation/filesystems/proc.rst, "maps".
    fn of(line: &'a str) -> Option<Mapping<'a>> {
        let mut words = line.splitn(4, ' ');
        let ((start, end), modes, _) = (words.next()?.split_once('-')?, words.next()?, words.next()?);
        let file = words.next()?;
        let mut words = file.split(' ');
        let (major, minor) = words.next()?.split_once(':')?;
        let number = |text| u32::from_str_radix(text, 16).ok();
        let inode = words.next()?.parse().ok().filter(|inode| *inode != 0)?;
        let bare = |address: &str| match address.trim_start_matches('0') {
            "" => "0".to_string(),
            address => address.to_string(),
        };
        Some(Mapping {
            range: format!("{}-{}", bare(start), bare(end)),
            writes: modes.contains('w') && modes.contains('s'),
            device: DevNo { major: number(major)?, minor: number(minor)? },
            inode,
            file,
        })
    }

    /// What it is where the mapping itself may not be looked at: a file by its numbers, a device by its name in `/dev`.
    fn guessed(&self) -> Option<Opened> {
        let file = Opened::File(FileId { device: self.device, inode: self.inode });
        let path = self.file.split_once('/').map(|(_, path)| format!("/{path}"));
        match path.filter(|path| path.starts_with("/dev/")) {
            Some(path) => opened::at(Path::new(&path)).ok(),
            None => Some(file),
        }
    }
}

/// One thread for each table of descriptors of a process, as a rule its first alone. That one's is empty where it has ended.
fn tables(process: &Path, pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let threads = names(process.join("task")).into_iter().filter_map(|name| name.parse::<u32>().ok());
    for thread in threads.filter(|&thread| thread != pid) {
        // An ended first thread has no table: no process owns it.
        if !found.iter().take(TABLES_COMPARED).any(|&known| opened::share_descriptors(known, thread)) {
            found.push(thread);
        }
    }
    found
}

fn may_write(told: &str) -> bool {
    // The two lowest bits of the flags of open(2): 0 reads, everything else may write. Unknown is taken for the worse.
    let flags = told.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_none_or(|flags| flags & 3 != 0)
}

fn is_ring(path: &Path) -> bool {
    std::fs::read_link(path).is_ok_and(|to| to == Path::new("anon_inode:[io_uring]"))
}

/// What the kernel says of a descriptor or a memory; empty if it says nothing.
fn text(path: PathBuf) -> String {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(TEXT_MAX).read_to_end(&mut bytes));
    // A process that ended while it was read was seen as far as it went.
    drop(read);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_maps_is_read_with_its_range_as_map_files_names_it() {
        let line = "00400000-00452000 rw-s 00000000 fe:00 1234                       /opt/a file (deleted)";
        let found = Mapping::of(line).unwrap();
        assert_eq!((found.range.as_str(), found.writes, found.inode), ("400000-452000", true, 1234));
        assert_eq!(found.device, DevNo { major: 254, minor: 0 });
        let private = Mapping::of("7f00-7f01 rw-p 00000000 00:06 95 /dev/loop1").unwrap();
        assert!(!private.writes && private.range == "7f00-7f01");
        for line in ["7ffc-7ffd rw-p 00000000 00:00 0      [stack]", "7ffc-7ffd rw-p 00000000 00:00 0 ", "broken", ""] {
            assert_eq!(Mapping::of(line), None, "{line}");
        }
    }

    #[test]
    fn flags_tell_readers_from_writers_and_what_is_not_told_may_write() {
        assert!(!may_write("pos:\t0\nflags:\t02100000\nmnt_id:\t1\n"));
        assert!(may_write("flags:\t0100001\n") && may_write("flags:\t02\n") && may_write(""));
    }
}
