//! What util-linux sees on a device: `blkid -p` is asked beside our own reading, and either one refuses. Reads only; must not decide what a
//! mark means.
//!
//! The program and not the library: what hostile bytes do to it stays in a process of its own that has a limit of time, and a static
//! binary cannot load it. What it prints is not trusted either: it has limits, and what is not understood is an error.

use crate::command;
use crate::devices::Devices;
use crate::marks::Part;
use crate::node::Node;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest time for one device: it takes milliseconds, and a disk that has to spin up some ten seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// Its answer for nothing found.
const NOTHING: i32 = 2;
/// Its answer where several file systems could be meant.
const AMBIVALENT: i32 = 8;
/// Most marks of one answer, and letters of a name (by eye; an answer has at most some five).
const MARKS_MAX: usize = 64;
const NAME_MAX: usize = 64;

/// What it found on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// TYPE or PTTYPE.
    pub name: String,
    /// Label, or UUID.
    pub label: Option<String>,
    /// It says that this is used as a part of an array or volume group.
    pub member: bool,
}

/// What it found on a device or on a part of it.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Where that begins on the device.
    pub start: u64,
    /// Its name.
    pub device: String,
    pub mark: Mark,
}

/// Whether there is no `blkid` on this host, so that our own reading decides alone.
pub fn blkid_is_missing() -> bool {
    program().is_none()
}

/// What it sees on a device and in its parts; nothing where there is no `blkid`. Fails where it gives no answer, because then nobody knows.
pub(crate) fn on(devices: &Devices, node: &Node, parts: &[Part]) -> io::Result<Vec<Seen>> {
    let Some(program) = program() else { return Ok(Vec::new()) };
    let path = devices.path(node);
    let mut seen = Vec::new();
    let mut ask = |device: &str, start: u64, answer: io::Result<Vec<Mark>>| {
        let marks = answer.map_err(|error| io::Error::new(error.kind(), format!("`blkid -p` of {device}: {error}")))?;
        seen.extend(marks.into_iter().map(|mark| Seen { start, device: device.to_string(), mark }));
        Ok::<(), io::Error>(())
    };
    ask(&node.name, 0, answer(&program, &path, None))?;
    for part in parts {
        let (start, len) = (part.entry.start, part.entry.len);
        // The kernel knows some partitions as devices, others only the table does.
        let answer = match devices.by_name(&part.name) {
            Some(known) => answer(&program, &devices.path(known), None),
            None => answer(&program, &path, Some((start, len))),
        };
        ask(&part.name, start, answer)?;
    }
    Ok(seen)
}

/// Where it is, whatever the user's list of directories leaves out.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    places.find_map(|place| Some(place.join("blkid")).filter(|file| file.is_file()))
}

fn answer(program: &Path, device: &Path, range: Option<(u64, u64)>) -> io::Result<Vec<Mark>> {
    let mut words = vec![program.display().to_string(), "-p".into(), "-o".into(), "udev".into()];
    if let Some((start, len)) = range {
        words.extend(["-O".into(), start.to_string(), "-S".into(), len.to_string()]);
    }
    words.extend(["--".into(), device.display().to_string()]);
    let answer = command::ask(&words, PATIENCE)?;
    parse(answer.exit, &answer.out, &answer.err)
}

/// From its exit code and what it printed.
pub(crate) fn parse(exit: Option<i32>, out: &str, err: &str) -> io::Result<Vec<Mark>> {
    let strange = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what.to_string()));
    let mut pairs = Vec::new();
    for line in out.lines() {
        match line.split_once('=') {
            Some((key, value)) => pairs.push((key, value)),
            None => return strange("a line without a value"),
        }
    }
    let value = |wanted: &str| pairs.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value);
    let is_member = |usage: Option<&str>| usage == Some("raid");
    let label = || value("ID_FS_LABEL").or_else(|| value("ID_FS_UUID")).map(String::from);
    let found: Vec<Mark> = match exit {
        Some(0) => {
            let file_system = value("ID_FS_TYPE").map(|name| Mark {
                name: name.to_string(),
                label: label(),
                member: is_member(value("ID_FS_USAGE")),
            });
            let table = value("ID_PART_TABLE_TYPE").map(|name| Mark {
                name: name.to_string(),
                label: value("ID_PART_TABLE_UUID").map(String::from),
                member: false,
            });
            file_system.into_iter().chain(table).collect()
        }
        Some(NOTHING) if err.is_empty() && pairs.is_empty() => Vec::new(),
        // Each of them as `usage:name:version`.
        Some(AMBIVALENT) => {
            let all = value("ID_FS_AMBIVALENT").unwrap_or_default();
            let one = |text: &str| {
                let mut fields = text.split(':');
                let (usage, name) = (fields.next(), fields.next().unwrap_or_default().to_string());
                Mark { name, label: None, member: is_member(usage) }
            };
            match all.split(' ').filter(|text| !text.is_empty()).map(one).collect::<Vec<_>>() {
                none if none.is_empty() => return strange("an ambivalent result without names"),
                some => some,
            }
        }
        Some(code) => return strange(&format!("exit code {code}: {}", err.lines().next().unwrap_or_default())),
        None => return strange("ended by a signal"),
    };
    let is_name = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
        !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(plain)
    };
    match found.len() <= MARKS_MAX && found.iter().all(|mark| is_name(&mark.name)) {
        true => Ok(found),
        false => strange("names that are none"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(exit: i32, out: &str, err: &str) -> std::result::Result<Vec<(String, bool)>, String> {
        let marks = parse(Some(exit), out, err).map_err(|error| error.to_string())?;
        Ok(marks.into_iter().map(|mark| (mark.name, mark.member)).collect())
    }

    fn some(list: &[(&str, bool)]) -> std::result::Result<Vec<(String, bool)>, String> {
        Ok(list.iter().map(|(name, member)| (name.to_string(), *member)).collect())
    }

    #[test]
    fn types_tables_and_all_of_an_ambivalent_result_are_marks() {
        let both = "ID_FS_UUID=1\nID_FS_TYPE=ext3\nID_FS_USAGE=filesystem\nID_PART_TABLE_TYPE=dos\n";
        assert_eq!(names(0, both, ""), some(&[("ext3", false), ("dos", false)]));
        assert_eq!(names(0, "ID_FS_TYPE=isw_raid_member\nID_FS_USAGE=raid\n", ""), some(&[("isw_raid_member", true)]));
        assert_eq!(names(0, "ID_PART_ENTRY_NUMBER=1\n", ""), some(&[]), "a partition with nothing on it");
        assert_eq!(names(2, "", ""), some(&[]));
        let ambivalent = "ID_FS_AMBIVALENT=filesystem:ext2:1.0 raid:promise_fasttrack_raid_member:\n";
        assert_eq!(names(8, ambivalent, ""), some(&[("ext2", false), ("promise_fasttrack_raid_member", true)]));
    }

    #[test]
    fn what_is_not_understood_is_no_answer() {
        let cases = [
            (2, "", "error: /dev/x: Input/output error"),
            (4, "", "blkid: unknown option"),
            (8, "", ""),
            (0, "garbage", ""),
            (0, "ID_FS_TYPE=\x1b[2J", ""),
            (0, "ID_FS_TYPE=", ""),
        ];
        for (exit, out, err) in cases {
            assert!(names(exit, out, err).is_err(), "{exit} {out:?} {err:?}");
        }
        assert!(names(0, &format!("ID_FS_TYPE={}", "x".repeat(65)), "").is_err());
        assert!(parse(None, "", "").is_err(), "killed");
    }

    #[test]
    fn a_good_answer_with_any_byte_changed_or_cut_is_marks_or_an_error() {
        let good =
            b"ID_FS_TYPE=ext4\nID_FS_USAGE=filesystem\nID_PART_TABLE_TYPE=gpt\nID_FS_AMBIVALENT=raid:x:1 other:y:\n";
        for exit in [0, 2, 8] {
            for place in 0..good.len() {
                for byte in [b'\n', b'=', b':', b' ', b'x', 0x7f, 0xff] {
                    let mut bytes = good.to_vec();
                    bytes[place] = byte;
                    let marks = parse(Some(exit), &String::from_utf8_lossy(&bytes), "").unwrap_or_default();
                    assert!(marks.iter().all(|mark| mark.name.is_ascii() && !mark.name.is_empty()));
                }
                let _ = parse(Some(exit), &String::from_utf8_lossy(&good[..place]), "");
            }
        }
    }
}
