//! Processes and ports of this host, as `/proc` shows them. Must not end or start any.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// State of a socket that listens, in the tables of the kernel.
const LISTENS: &str = "0A";

/// Processes whose standard error is one of these files, by device and inode. A child has it from the one that started it, whatever
/// session it made for itself, and no shell of a person that looks at the data has it.
pub(super) fn speaking_to(files: &[(u64, u64)]) -> Vec<u32> {
    let speaks = |pid: &u32| {
        let path = of(*pid, "fd/2");
        // What others print to may lie on a file system that does not answer any more: only files in memory are looked at.
        fs::read_link(&path).is_ok_and(|link| is_in_memory(&link))
            && fs::metadata(&path).is_ok_and(|file| files.contains(&(file.dev(), file.ino())))
    };
    if files.is_empty() { Vec::new() } else { all().filter(speaks).collect() }
}

/// Whether the kernel shows a file like this that was made in memory, as those of children are.
fn is_in_memory(link: &Path) -> bool {
    link.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
}

/// A process and the others of the process group that it leads.
pub(super) fn led_by(leader: u32) -> Vec<u32> {
    all().filter(|pid| *pid == leader || state(*pid).is_some_and(|(_, group)| group == leader)).collect()
}

/// Whether a process has not ended; one that waits to be reaped has.
pub(super) fn lives(pid: u32) -> bool {
    state(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// Whether one of these processes listens on a TCP port.
pub(super) fn listen_on(pids: &[u32], port: u16) -> bool {
    let sockets: Vec<PathBuf> =
        sockets().iter().filter(|one| one.listens && one.port == port).map(Socket::link).collect();
    let holds = |pid: &u32| {
        let mut descriptors = fs::read_dir(of(*pid, "fd")).into_iter().flatten().flatten();
        descriptors.any(|entry| fs::read_link(entry.path()).is_ok_and(|link| sockets.contains(&link)))
    };
    !sockets.is_empty() && pids.iter().any(holds)
}

/// TCP ports that a program listens on or uses.
pub(super) fn ports_taken() -> Vec<u16> {
    sockets().iter().map(|socket| socket.port).collect()
}

#[derive(Debug, PartialEq, Eq)]
struct Socket {
    port: u16,
    listens: bool,
    inode: u64,
}

impl Socket {
    fn link(&self) -> PathBuf {
        PathBuf::from(format!("socket:[{}]", self.inode))
    }
}

fn sockets() -> Vec<Socket> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let tables = [read("/proc/net/tcp"), read("/proc/net/tcp6")].concat();
    tables.lines().filter_map(socket_of).collect()
}

fn socket_of(line: &str) -> Option<Socket> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let port = u16::from_str_radix(fields.get(1)?.rsplit_once(':')?.1, 16).ok()?;
    Some(Socket { port, listens: *fields.get(3)? == LISTENS, inode: fields.get(9)?.parse().ok()? })
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn of(pid: u32, what: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{what}"))
}

/// Its state and its process group.
fn state(pid: u32) -> Option<(char, u32)> {
    let line = fs::read_to_string(of(pid, "stat")).ok()?;
    // Its name, in parentheses, may have any character.
    let mut fields = line.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(1)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_from_the_tables_of_the_kernel() {
        let line = "   1: 0100007F:5BA0 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101        0 64234 1";
        let found = Socket { port: 0x5BA0, listens: true, inode: 64234 };
        let none = [socket_of("  sl  local_address rem_address"), socket_of("")];
        assert_eq!((socket_of(line), none), (Some(found), [None, None]));
        assert!(socket_of(&line.replace(" 0A ", " 06 ")).is_some_and(|socket| !socket.listens));
    }

    #[test]
    fn this_process_lives_leads_nothing_foreign_and_listens_where_it_does() {
        let own = std::process::id();
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        assert!(lives(own) && led_by(own).contains(&own) && !lives(u32::MAX));
        assert!(listen_on(&[own], port) && !listen_on(&[], port) && ports_taken().contains(&port));
    }

    #[test]
    fn a_process_is_known_by_its_file_in_memory_and_no_other_file_is_looked_at() {
        let asleep = |error: fs::File| {
            let mut command = std::process::Command::new("sleep");
            command.arg("1000").stderr(error).spawn().unwrap()
        };
        let place = tempfile::NamedTempFile::new().unwrap();
        let files = [stend_sys::process::memory_file().unwrap(), place.reopen().unwrap()];
        let ids = files.each_ref().map(|file| file.metadata().map(|file| (file.dev(), file.ino())).unwrap());
        let mut children = files.map(asleep);
        let found = ids.map(|id| speaking_to(&[id]));
        children.iter_mut().for_each(|child| child.kill().and_then(|()| child.wait().map(drop)).unwrap());
        assert_eq!(found, [vec![children[0].id()], vec![]]);
        let shown = ["/memfd:output (deleted)", "/mnt/nfs/memfd:log"].map(|link| is_in_memory(Path::new(link)));
        assert_eq!(shown, [true, false]);
    }
}
