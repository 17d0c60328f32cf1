//! Errors of block devices in the log of the kernel, from where it stands when watching begins. Must not judge, and never waits.
//= linux, Documentation/ABI/testing/dev-kmsg: a record is `priority,sequence,microseconds,flags;text`

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// Most records that are read at a time: a drive that dies writes thousands.
const RECORDS_MAX: usize = 1000;
/// Longest record of the kernel.
const RECORD_MAX: usize = 8192;
/// Longest text that is kept of a line.
const TEXT_MAX: usize = 200;
/// Most devices in one report.
const DEVICES_MAX: usize = 64;

/// What stands before and behind the name of a device in a line about an error, and what else the line must have.
/// Source: `blk_print_req_error`, `buffer_io_error`, `scsi_io_completion`, `nvme_timeout`, `md_error` of Linux 4.19 to 6.12.
const MARKS: [(&str, &str, &str); 8] = [
    ("dev ", ",", "I/O error"),
    ("dev ", ",", "medium error"),
    ("dev ", ",", "target error"),
    ("dev ", ",", "protection error"),
    ("[", "]", "FAILED Result"),
    // Not `Shutdown timeout set to 8 seconds`, which a healthy drive says when it comes.
    ("nvme ", ":", " timeout, "),
    ("nvme ", ":", "controller is down"),
    ("Disk failure on ", ",", "md/raid"),
];

/// Drives that have errors as a matter of course: floppies that no machine has, and discs that were taken out.
const WITHOUT_MEDIUM: [&str; 2] = ["fd", "sr"];
/// What a drive answers "not possible" to although it promised it, without any data being lost.
//= linux, block/blk-core.c, blk_print_req_error(): "op 0x%x:(%s)"
const OPTIONAL: [&str; 3] = [":(DISCARD)", ":(SECURE_ERASE)", ":(WRITE_ZEROES)"];

/// Errors of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceErrors {
    /// Kernel name of the device, or of its controller or port.
    pub device: String,
    /// How many lines.
    pub count: u64,
    /// The last of them.
    pub text: String,
}

/// The log, as far as it was read.
#[derive(Debug)]
pub struct KernelLog {
    file: File,
}

impl KernelLog {
    /// The log of the host whose `/dev` lies below `root`, from its end on; `None` where this user may not read it.
    pub fn open(root: &Path) -> Option<KernelLog> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::open(root.join("dev/kmsg"), flags, Mode::empty()).ok()?);
        file.seek(SeekFrom::End(0)).ok()?;
        Some(KernelLog { file })
    }

    /// Errors since the last look, by device.
    pub fn read(&mut self) -> Vec<DeviceErrors> {
        let mut found: Vec<DeviceErrors> = Vec::new();
        let mut record = [0; RECORD_MAX];
        for _ in 0..RECORDS_MAX {
            match self.file.read(&mut record) {
                Ok(0) => break,
                // One read is one record of the kernel.
                Ok(count) => String::from_utf8_lossy(&record[..count]).lines().for_each(|line| take(&mut found, line)),
                // What was not read in time is overwritten; reading goes on behind it.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(_) => break,
            }
        }
        found
    }
}

fn take(found: &mut Vec<DeviceErrors>, line: &str) {
    // Lines of a dictionary begin with a space.
    let Some((_, text)) = line.split_once(';').filter(|_| !line.starts_with(' ')) else { return };
    let Some(device) = device(text) else { return };
    let text: String = text.chars().filter(|letter| !letter.is_control()).take(TEXT_MAX).collect();
    if let Some(errors) = found.iter_mut().find(|errors| errors.device == device) {
        errors.count += 1;
        errors.text = text;
    } else if found.len() < DEVICES_MAX {
        found.push(DeviceErrors { device: device.to_string(), count: 1, text });
    }
}

/// The device that a line names, if it tells of an error.
fn device(text: &str) -> Option<&str> {
    let named = |(before, behind, must): &(&str, &str, &str)| {
        let rest = text.contains(must).then_some(text)?.split_once(before)?.1;
        let (name, rest) = rest.split_once(behind)?;
        let is_harmless = match *must {
            "target error" => OPTIONAL.iter().any(|op| rest.contains(op)),
            // The drive has answered: a line of its own tells what, and whether that matters.
            "FAILED Result" => rest.contains("hostbyte=DID_OK"),
            _ => false,
        };
        let is_name = |name: &str| {
            !name.is_empty()
                && name.len() <= 32
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        let number = WITHOUT_MEDIUM.iter().find_map(|family| name.strip_prefix(family));
        let has_medium = number.is_none_or(|number| !number.bytes().all(|b| b.is_ascii_digit()));
        (is_name(name) && has_medium && !is_harmless).then_some(name)
    };
    MARKS.iter().find_map(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;

    #[test]
    fn the_device_is_named_in_lines_of_errors_of_several_kernels_and_in_no_others() {
        for (line, expected) in [
            ("blk_update_request: I/O error, dev sdb, sector 2048 op 0x0:(READ) flags 0x0 phys_seg 1", Some("sdb")),
            ("I/O error, dev nvme1n1, sector 512 op 0x1:(WRITE) flags 0x8800 phys_seg 8 prio class 2", Some("nvme1n1")),
            ("critical medium error, dev sdc, sector 123 op 0x0:(READ)", Some("sdc")),
            ("Buffer I/O error on dev dm-3, logical block 0, async page read", Some("dm-3")),
            ("sd 2:0:0:0: [sdd] tag#5 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK", Some("sdd")),
            // What the drive answered is in the line behind it.
            ("sd 2:0:0:0: [sdd] tag#5 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=0s", None),
            ("critical target error, dev sdd, sector 2048 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 2", None),
            ("critical target error, dev sdd, sector 0 op 0x9:(WRITE_ZEROES) flags 0x8000000 phys_seg 0", None),
            ("critical target error, dev sdd, sector 0 op 0x1:(WRITE) flags 0x800 phys_seg 1", Some("sdd")),
            ("blk_update_request: I/O error, dev fd0, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0", None),
            ("I/O error, dev sr0, sector 1433600 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2", None),
            ("Buffer I/O error on dev sr0, logical block 358400, async page read", None),
            ("nvme nvme0: I/O 12 QID 3 timeout, aborting", Some("nvme0")),
            (
                "nvme nvme0: I/O tag 5 (1005) opcode 0x2 (I/O Cmd) QID 3 timeout, aborting req_op:READ(0) size:4096",
                Some("nvme0"),
            ),
            ("nvme nvme0: Shutdown timeout set to 8 seconds", None),
            ("nvme nvme0: controller is down; will reset: CSTS=0xffffffff", Some("nvme0")),
            ("md/raid:md0: Disk failure on sdb, disabling device.", Some("sdb")),
            ("EXT4-fs (sda1): mounted filesystem", None),
            ("usb 1-1: new high-speed USB device", None),
            ("I/O error, dev , sector", None),
            ("I/O error, dev $(reboot), sector", None),
        ] {
            assert_eq!(device(line), expected, "{line}");
        }
    }

    #[test]
    fn only_what_is_new_is_told_counted_by_device() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("dev")).unwrap();
        let path = dir.path().join("dev/kmsg");
        std::fs::write(&path, "3,1,1,-;I/O error, dev sda, sector 1\n").unwrap();
        let mut log = KernelLog::open(dir.path()).unwrap();
        assert_eq!(log.read(), []);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        write!(file, "3,2,2,-;I/O error, dev sdb, sector 7\n SUBSYSTEM=block\n3,3,3,-;I/O error, dev sdb, sector 8\n6,4,4,-;hello\n").unwrap();
        let told = log.read();
        assert_eq!((told.len(), told[0].device.as_str(), told[0].count), (1, "sdb", 2));
        assert_eq!(told[0].text, "I/O error, dev sdb, sector 8");
        assert_eq!(log.read(), []);
        assert!(KernelLog::open(Path::new("/absent")).is_none());
    }
}
