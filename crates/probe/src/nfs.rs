//! `/proc/self/mountstats` and `/proc/net/rpc/nfsd` to numbers. Neither asks a server anything, so that a share that hangs holds up no reading.

use crate::source::Source;
use std::path::{Path, PathBuf};
use stend_base::{Bytes, Nanos};
use stend_record::nfs::{Nfs, NfsMount, NfsRequests, NfsServer};

/// Most shares that are kept: a host of containers mounts some for each, a file server none.
pub const MOUNTS_MAX: usize = 64;

/// Time between two looks whether a share was mounted or the server started, where there was neither: mountstats has a line for each mount.
const LOOK_EVERY: Nanos = Nanos::secs(10);

/// Readers of both.
#[derive(Debug)]
pub struct NfsFiles {
    mountstats: Source,
    server: Source,
    server_path: PathBuf,
    /// Shares of the last reading, and how many there were beyond [`MOUNTS_MAX`].
    known: Mounts,
    /// Nothing is looked at before.
    next: Nanos,
}

/// Shares in `mountstats`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mounts {
    /// The first [`MOUNTS_MAX`] of them.
    pub found: Vec<NfsMount>,
    /// How many more there are.
    pub left_out: usize,
}

impl NfsFiles {
    /// Opens what there is below `root`.
    pub fn open(root: &Path) -> NfsFiles {
        let server_path = root.join("proc/net/rpc/nfsd");
        let mountstats = Source::open(&root.join("proc/self/mountstats"));
        NfsFiles {
            mountstats,
            server: Source::open(&server_path),
            server_path,
            known: Mounts::default(),
            next: Nanos(0),
        }
    }

    /// How many shares the last reading found beyond [`MOUNTS_MAX`].
    pub fn left_out(&self) -> usize {
        self.known.left_out
    }

    /// The largest text of the shares that is kept, if the last one was larger.
    pub fn too_large(&self) -> Option<Bytes> {
        self.mountstats.too_large()
    }

    /// NFS of now; `None` where this host is neither client nor server, and until that is looked at again. A reading of the shares that fails
    /// has what the one before had: none of them was unmounted by that. Where there are too many of them to be read, none has values.
    pub fn read(&mut self, at: Nanos) -> Option<Box<Nfs>> {
        if at < self.next {
            return None;
        }
        if !self.server.exists() {
            self.server = Source::open(&self.server_path);
        }
        if let Some(text) = self.mountstats.read() {
            self.known = mounts(text);
        }
        // It may stay so for ever: values of long ago are none of now.
        if self.mountstats.too_large().is_some() {
            self.known = Mounts::default();
        }
        let server = self.server.read().and_then(server);
        if self.known.found.is_empty() && server.is_none() {
            // The file of a module that was unloaded answers nothing, also when it is loaded again.
            (self.next, self.server) = (at + LOOK_EVERY, Source::absent());
            return None;
        }
        Some(Box::new(Nfs { mounts: self.known.found.clone(), server }))
    }
}

/// Shares in `mountstats`. One that does not look as documented is left out.
//= linux, fs/nfs/super.c, nfs_show_stats(); net/sunrpc/stats.c, rpc_clnt_show_stats(); net/sunrpc/xprtsock.c, xs_tcp_print_stats()
pub fn mounts(text: &str) -> Mounts {
    let (mut found, mut left_out): (Vec<(NfsMount, Mounted)>, usize) = (Vec::new(), 0);
    for block in text.split("\ndevice ").map(|block| block.strip_prefix("device ").unwrap_or(block)) {
        let Some((mount, mounted)) = mount(block) else { continue };
        // Bound to another place, it has the same connection. Its counters are read a moment later, so that they and its age may have grown.
        let is_bound = |(of, earlier): &(NfsMount, Mounted)| {
            of.export == mount.export
                && earlier.options == mounted.options
                && mounted.age_s.abs_diff(earlier.age_s) <= 1
        };
        if found.iter().any(is_bound) {
            continue;
        }
        // Each is held against those that are kept alone: with thousands of them a reading once a second stays cheap.
        match found.len() < MOUNTS_MAX {
            true => found.push((mount, mounted)),
            false => left_out += 1,
        }
    }
    Mounts { found: found.into_iter().map(|(mount, _)| mount).collect(), left_out }
}

/// What tells one connection to an export from another.
#[derive(Default)]
struct Mounted {
    options: String,
    /// Time since it was mounted, s.
    age_s: u64,
}

fn mount(block: &str) -> Option<(NfsMount, Mounted)> {
    let mut lines = block.lines();
    let words: Vec<&str> = lines.next()?.split(' ').collect();
    let &[export, "mounted", "on", at, "with", "fstype", "nfs" | "nfs4", _] = words.as_slice() else { return None };
    let mut mount = NfsMount { at: plain(at), export: plain(export), ..NfsMount::default() };
    let (mut bytes, mut is_whole, mut mounted) = (None, false, Mounted::default());
    for line in lines.map(str::trim) {
        let Some((name, rest)) = line.split_once(':') else {
            is_whole |= line == "per-op statistics";
            continue;
        };
        match name {
            "opts" => (mount.version, mounted.options) = (version(rest), rest.trim().to_string()),
            "age" => mounted.age_s = rest.trim().parse().unwrap_or_default(),
            "bytes" => bytes = numbers(rest),
            "xprt" => {
                let (sent, answered) = connection(rest)?;
                mount.sent = mount.sent.saturating_add(sent);
                mount.answered = mount.answered.saturating_add(answered);
            }
            // Other lines before these have names in lower case.
            _ if is_whole => {
                let kind = match name {
                    "READ" => &mut mount.reads,
                    "WRITE" => &mut mount.writes,
                    _ => &mut mount.others,
                };
                *kind = together(*kind, requests(&numbers(rest)?)?);
            }
            _ => {}
        }
    }
    // Reads and writes each: normal I/O, direct I/O, then what went to the server.
    let &[_, _, _, _, read_bytes, write_bytes, ..] = bytes?.as_slice() else { return None };
    is_whole.then_some((NfsMount { read_bytes, write_bytes, ..mount }, mounted))
}

/// `vers=4.2` among the options; kernels before 3.8 have `vers=4,minorversion=1`.
fn version(options: &str) -> String {
    let of = |key: &str| options.trim().split(',').find_map(|option| option.strip_prefix(key)?.strip_prefix('='));
    match (of("vers").unwrap_or_default(), of("minorversion")) {
        (major @ "4", Some(minor)) => format!("{major}.{minor}"),
        (version, _) => version.to_string(),
    }
}

/// Requests and answers of a connection. Times and how often it was set up come before them, of UDP only how often and its port.
fn connection(rest: &str) -> Option<(u64, u64)> {
    let (kind, rest) = rest.trim().split_once(' ')?;
    let skip = if kind == "udp" { 2 } else { 5 };
    // The time since the last request may be negative where a clock was set.
    let mut fields = rest.split_ascii_whitespace().skip(skip).map_while(|field| field.parse().ok());
    Some((fields.next()?, fields.next()?))
}

/// The line of an operation: how many, how often sent, without an answer in time, bytes both ways, then ms in the queue, to the server and back,
/// and in all; from 5.3 on also errors.
fn requests(fields: &[u64]) -> Option<NfsRequests> {
    let &[done, sent, timeouts, _, _, _, _, whole_ms, ..] = fields else { return None };
    Some(NfsRequests { done, sent, timeouts, time_ns: whole_ms.saturating_mul(1_000_000) })
}

fn together(one: NfsRequests, other: NfsRequests) -> NfsRequests {
    NfsRequests {
        done: one.done.saturating_add(other.done),
        sent: one.sent.saturating_add(other.sent),
        timeouts: one.timeouts.saturating_add(other.timeouts),
        time_ns: one.time_ns.saturating_add(other.time_ns),
    }
}

/// The server's counters. `None` without the requests, which every kernel has.
//= linux, fs/nfsd/stats.c, nfsd_show(); net/sunrpc/stats.c, svc_seq_show()
pub fn server(text: &str) -> Option<NfsServer> {
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let &[requests, bad, ..] = numbers(line("rpc")?)?.as_slice() else { return None };
    let &[read_bytes, write_bytes] = numbers(line("io")?)?.as_slice() else { return None };
    let threads = line("th").and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok());
    Some(NfsServer { requests, bad, read_bytes, write_bytes, threads })
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split_ascii_whitespace().map(|field| field.parse().ok()).collect()
}

/// A name as it is: the kernel writes white space and backslashes as `\040`.
fn plain(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| first == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::put;

    const ROOT: &str = "device rootfs mounted on / with fstype rootfs\ndevice proc mounted on /proc with fstype proc\n";

    fn share(at: &str, reads: u64) -> String {
        format!(
            "device filer:/vol mounted on {at} with fstype nfs4 statvers=1.1\n\topts:\trw,vers=4.2,hard,proto=tcp\n\tage:\t5\n\
             \tbytes:\t1 2 3 4 {} 4096 7 8\n\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\
             \txprt:\ttcp 0 0 1 0 -3 50 48 0 50 0 2 0 0\n\txprt:\ttcp 0 0 1 0 0 7 7 0 7 0 2 0 0\n\tper-op statistics\n\
             \t        NULL: 1 1 0 44 24 0 0 0 0\n\t        READ: {reads} {} 1 5 6 2 30 40 0\n\
             \t       WRITE: 4 4 0 5 6 0 8 9 0\n\t    SEQUENCE: 2 2 0 5 6 0 1 1 0\n",
            reads * 4096,
            reads + 1
        )
    }

    #[test]
    fn a_share_has_its_requests_by_kind_and_those_of_all_its_connections() {
        let found = mounts(&format!("{ROOT}{}\n", share("/mnt/a\\040b", 10))).found;
        let of = |done, sent, timeouts, ms: u64| NfsRequests { done, sent, timeouts, time_ns: ms * 1_000_000 };
        let expected = NfsMount {
            at: "/mnt/a b".into(),
            export: "filer:/vol".into(),
            version: "4.2".into(),
            read_bytes: 40_960,
            write_bytes: 4096,
            reads: of(10, 11, 1, 40),
            writes: of(4, 4, 0, 9),
            others: of(3, 3, 0, 1),
            sent: 57,
            answered: 55,
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn a_share_that_is_bound_to_a_second_place_is_counted_once_and_another_one_is_not() {
        let at = |text: &str| mounts(text).found.into_iter().map(|mount| mount.at).collect::<Vec<_>>();
        let bound = share("/srv/bound", 11);
        for later in [bound.clone(), bound.replace("age:\t5", "age:\t6")] {
            assert_eq!(at(&format!("{ROOT}{}\n{later}\n", share("/mnt", 10))), ["/mnt"], "it is busy");
        }
        for (what, other) in [
            ("export", bound.replace("filer:/vol", "filer:/other")),
            ("options", bound.replace("rw,", "ro,")),
            ("age", bound.replace("age:\t5", "age:\t7")),
        ] {
            assert_eq!(at(&format!("{}\n{other}\n{ROOT}", share("/mnt", 10))), ["/mnt", "/srv/bound"], "{what}");
        }
    }

    #[test]
    fn of_a_hundred_shares_the_first_64_are_kept_and_the_rest_is_counted() {
        let share = |n: u64| share(&format!("/m{n}"), n).replace("filer:/vol", &format!("filer:/vol{n}"));
        let many: String = (0..100).map(|n| share(n) + "\n").collect();
        let all = mounts(&many);
        assert_eq!((all.found.len(), all.left_out), (MOUNTS_MAX, 36));
    }

    #[test]
    fn a_share_that_is_cut_or_has_no_numbers_is_left_out_and_the_next_one_is_read() {
        let good = share("/good", 1);
        for (what, bad) in [
            ("no operations", share("/bad", 2).split("\tper-op").next().unwrap().to_string()),
            ("no bytes", share("/bad", 2).replace("bytes:", "bites:")),
            ("a word", share("/bad", 2).replace("READ: 2", "READ: x")),
            ("a short line", share("/bad", 2).replace("9 0\n", "\n")),
            ("no such file system", share("/bad", 2).replace("fstype nfs4", "fstype nfsd")),
        ] {
            let found: Vec<String> =
                mounts(&format!("{bad}\n{good}\n")).found.into_iter().map(|mount| mount.at).collect();
            assert_eq!(found, ["/good"], "{what}");
        }
        assert_eq!((mounts(""), mounts("device ")), (Mounts::default(), Mounts::default()));
    }

    #[test]
    fn a_mount_with_a_name_that_is_no_utf_8_hides_no_share_and_a_file_that_is_too_large_has_none() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "proc/self/mountstats", "");
        let place = dir.path().join("proc/self/mountstats");
        let odd =
            [share("/mnt", 10).as_bytes(), b"\ndevice x mounted on /media/\xcf with fstype vfat\n".as_slice()].concat();
        std::fs::write(&place, &odd).unwrap();
        let mut files = NfsFiles::open(dir.path());
        let mut at = |s| files.read(Nanos::secs(s)).map(|nfs| nfs.mounts[0].at.clone());
        assert_eq!(at(1).as_deref(), Some("/mnt"));
        // Larger than any file that is read.
        std::fs::OpenOptions::new().write(true).open(&place).unwrap().set_len(5 << 20).unwrap();
        assert_eq!(at(2), None, "what it had before is not what it has now");
        std::fs::write(&place, odd).unwrap();
        assert_eq!(at(12).as_deref(), Some("/mnt"));
        std::fs::write(&place, ROOT).unwrap();
        assert_eq!(at(13), None, "it was unmounted");
    }

    #[test]
    fn a_server_has_its_requests_and_bytes() {
        let text =
            "rc 0 5 100\nfh 0 0 0 0 0\nio 4294967299 7\nth 8 0 0.000\nnet 100 0 100 5\nrpc 100 3 1 2 0\nproc4 2 0 99\n";
        let expected = NfsServer { requests: 100, bad: 3, read_bytes: 4_294_967_299, write_bytes: 7, threads: Some(8) };
        assert_eq!(server(text), Some(expected));
        assert_eq!(server(&text.replace("th 8 0 0.000", "th")).unwrap().threads, None);
        for bad in [text.replace("rpc", "rpx"), text.replace("io 4", "io x"), text.replace(" 7\n", "\n")] {
            assert_eq!(server(&bad), None, "{bad}");
        }
    }

    #[test]
    fn a_host_without_nfs_is_looked_at_every_ten_seconds_and_one_with_it_every_time() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "proc/self/mountstats", ROOT);
        let mut files = NfsFiles::open(dir.path());
        assert_eq!(files.read(Nanos::secs(1)), None);
        put(dir.path(), "proc/net/rpc/nfsd", "io 1 2\nrpc 3 0 0 0 0\n");
        assert_eq!(files.read(Nanos::secs(10)), None);
        let mut requests = |s| files.read(Nanos::secs(s)).map(|nfs| nfs.server.unwrap().requests);
        assert_eq!((requests(11), requests(12)), (Some(3), Some(3)));
        std::fs::write(dir.path().join("proc/net/rpc/nfsd"), "").unwrap();
        assert_eq!(requests(13), None, "the module was unloaded");
        std::fs::remove_file(dir.path().join("proc/net/rpc/nfsd")).unwrap();
        put(dir.path(), "proc/net/rpc/nfsd", "io 1 2\nrpc 4 0 0 0 0\n");
        assert_eq!((requests(14), requests(23)), (None, Some(4)), "and loaded again");
    }
}
