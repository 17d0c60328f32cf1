//! NVMe as the kernel lets it be spoken directly: which namespace is behind a block device, how its blocks are laid out, and
//! the commands that read and write them. Must not submit I/O.

use crate::file::IoFile;
use crate::obstacle::Obstacle;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::ioctl::{Updater, ioctl, opcode};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use stend_base::say;

/// Command data of a passthrough request: `struct nvme_uring_cmd` of linux/nvme_ioctl.h, and what is left of the entry.
pub type Command = [u8; 80];

/// `struct nvme_uring_cmd` and `struct nvme_passthru_cmd` alike, bytes.
const COMMAND_LEN: usize = 72;
//= linux/nvme_ioctl.h: NVME_URING_CMD_IO is _IOWR('N', 0x80, struct nvme_uring_cmd)
/// Number of the request that hands one command to the I/O queues.
pub const URING_CMD_IO: u32 = opcode::read_write::<[u8; COMMAND_LEN]>(b'N', 0x80) as u32;
//= linux/nvme_ioctl.h: NVME_IOCTL_ADMIN_CMD is _IOWR('N', 0x41, struct nvme_admin_cmd)
const ADMIN_CMD: rustix::ioctl::Opcode = opcode::read_write::<[u8; COMMAND_LEN]>(b'N', 0x41);
//= NVM Express Base Specification 2.0, 5.17 (Identify), and NVM Command Set 1.0, 3.2 (Write is 01h, Read is 02h)
const IDENTIFY: u8 = 0x06;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
/// What Identify answers with, bytes.
const IDENTIFY_LEN: usize = 4096;
/// Most blocks of one command: the field has 16 bits and counts from 0.
const BLOCKS_MAX: u64 = 1 << 16;
/// A page: the memory of an I/O may lie in as many pieces as it has pages.
const PAGE: u64 = 4096;

/// How the logical blocks of a namespace are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Bytes of data per block, as a power of two.
    pub shift: u8,
    /// Bytes of metadata per block.
    pub metadata: u16,
}

impl Format {
    /// What the answer to Identify Namespace says; `None` if that cannot be.
    //= NVM Command Set 1.0, 4.1.5.1: FLBAS is byte 26 (bits 3:0 and 6:5), LBAF0 begins at byte 128, four bytes each:
    //= MS (bits 15:0), LBADS (bits 23:16)
    pub fn of_namespace(told: &[u8; IDENTIFY_LEN]) -> Option<Format> {
        let chosen = usize::from(told[26] & 0x0f | (told[26] & 0x60) >> 1);
        let at = 128 + 4 * chosen;
        let format = Format { shift: told[at + 2], metadata: u16::from_le_bytes([told[at], told[at + 1]]) };
        // 512 bytes are the least; the kernel takes at most a page.
        (9..=12).contains(&format.shift).then_some(format)
    }
}

/// A namespace that commands can be sent to.
#[derive(Debug)]
pub struct Namespace {
    /// Its generic character device (`/dev/ng0n1`).
    pub(crate) node: OwnedFd,
    /// Its number in the controller.
    pub id: u32,
    /// Bytes of a block, as a power of two.
    pub shift: u8,
    /// Most bytes of one command.
    pub len_max: u64,
}

impl Namespace {
    /// The namespace that `file` is, opened through it: for commands that write only if `file` may be written, which only a
    /// claim makes so.
    pub fn behind(file: &IoFile) -> Result<Namespace, Obstacle> {
        if file.count() != 1 {
            // Their commands would all go to the first.
            return Err(Obstacle::incurable(say!(
                "NVMe commands go to one namespace, and the target is several devices or files",
                "команды NVMe идут в одно пространство имён, а объект состоит из нескольких устройств или файлов"
            )));
        }
        let disk = disk_of(Path::new("/sys"), file)?;
        let node = open_generic(Path::new("/sys"), &disk, file.is_writable())?;
        let unasked = |e: &io::Error| {
            Obstacle::incurable(say!(
                "cannot read the format of the namespace, which needs root: {e}",
                "не удаётся узнать формат пространства имён, для этого нужен root: {e}"
            ))
        };
        let id = namespace_id(&node).map_err(|e| unasked(&e))?;
        if namespace_id(file).ok() != Some(id) {
            return Err(not_found(&say!(
                "block and character device are of two namespaces",
                "блочное и символьное устройства относятся к разным пространствам имён"
            )));
        }
        let told = identify(&node, id).map_err(|e| unasked(&e))?;
        let format = Format::of_namespace(&told).ok_or_else(|| {
            Obstacle::incurable(say!("the namespace has an unknown format", "формат пространства имён неизвестен"))
        })?;
        if format.metadata > 0 {
            let metadata = format.metadata;
            return Err(Obstacle::incurable(say!(
                "the blocks of the namespace carry {metadata} bytes of metadata each, which passthrough does not make",
                "к блокам пространства имён относится по {metadata} байт метаданных, которых прямые команды не создают"
            )));
        }
        Ok(Namespace { node, id, shift: format.shift, len_max: len_max(&disk, format.shift) })
    }

    /// The command that reads or writes `len` bytes at `offset` of the namespace from or to `address`.
    #[inline]
    pub fn command(&self, write: bool, address: u64, len: u32, offset: u64) -> Command {
        command(
            if write { WRITE } else { READ },
            self.id,
            address,
            len,
            [offset >> self.shift, u64::from(len >> self.shift)],
        )
    }
}

/// The command over so many blocks from the first.
#[inline]
fn command(opcode: u8, namespace: u32, address: u64, len: u32, [first, blocks]: [u64; 2]) -> Command {
    let mut command = [0; 80];
    command[0] = opcode;
    command[4..8].copy_from_slice(&namespace.to_le_bytes());
    command[24..32].copy_from_slice(&address.to_le_bytes());
    command[36..40].copy_from_slice(&len.to_le_bytes());
    // Words 10 and 11 are the first block, word 12 their number less one.
    command[40..48].copy_from_slice(&first.to_le_bytes());
    command[48..52].copy_from_slice(&(blocks.saturating_sub(1) as u32 & 0xffff).to_le_bytes());
    command
}

/// Directory in sysfs of the whole NVMe disk that `file` is.
fn disk_of(sys: &Path, file: &IoFile) -> Result<PathBuf, Obstacle> {
    let no_nvme = || {
        Obstacle::incurable(say!(
            "the target is not an NVMe namespace (a block device such as /dev/nvme0n1, not a file or a partition)",
            "объект — не пространство имён NVMe (нужно блочное устройство вида /dev/nvme0n1, не файл и не раздел)"
        ))
    };
    let stat = rustix::fs::fstat(file).map_err(|_| no_nvme())?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
        return Err(no_nvme());
    }
    let number = crate::block::DevNo::from_raw(stat.st_rdev);
    let disk = fs::canonicalize(sys.join(format!("dev/block/{number}"))).map_err(|_| no_nvme())?;
    // Commands count from the beginning of the namespace: on a partition they would hit its neighbours.
    match disk.join("partition").exists() || generic_name(&disk).is_none() {
        true => Err(no_nvme()),
        false => Ok(disk),
    }
}

/// Name of the character device of a disk: `ng0n1` for `nvme0n1`.
//= linux, drivers/nvme/host/core.c and multipath.c: both names are made of the same two numbers
fn generic_name(disk: &Path) -> Option<String> {
    let numbers = disk.file_name()?.to_str()?.strip_prefix("nvme")?;
    let (controller, namespace) = numbers.split_once('n')?;
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (plain(controller) && plain(namespace)).then(|| format!("ng{numbers}"))
}

/// Opens the character device that sysfs knows under the disk's numbers, and nothing else that has its name.
fn open_generic(sys: &Path, disk: &Path, write: bool) -> Result<OwnedFd, Obstacle> {
    let name = generic_name(disk).unwrap_or_default();
    let known = fs::read_to_string(sys.join("class/nvme-generic").join(&name).join("dev")).map_err(|_| {
        not_found(&say!(
            "this kernel has no `{name}` (needs Linux 5.13)",
            "в этом ядре нет `{name}` (нужен Linux 5.13)"
        ))
    })?;
    let mut flags = OFlags::CLOEXEC;
    flags |= if write { OFlags::RDWR } else { OFlags::RDONLY };
    let failed =
        |e: rustix::io::Errno| not_found(&say!("cannot open `/dev/{name}`: {e}", "не открывается `/dev/{name}`: {e}"));
    let node = rustix::fs::open(Path::new("/dev").join(&name), flags, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&node).map_err(failed)?;
    let found = crate::block::DevNo::from_raw(stat.st_rdev).to_string();
    if FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice || found != known.trim() {
        return Err(not_found(&say!(
            "`/dev/{name}` is another device than the kernel's `{name}`",
            "`/dev/{name}` — не то устройство, которое ядро называет `{name}`"
        )));
    }
    Ok(node)
}

fn not_found(why: &stend_base::Say) -> Obstacle {
    let (en, ru) = (&why.en, &why.ru);
    Obstacle::incurable(say!(
        "the character device of the namespace cannot be used: {en}",
        "символьное устройство пространства имён использовать нельзя: {ru}"
    ))
}

/// Most bytes of one command: nobody splits it, so the limits of the queue hold as they are.
fn len_max(disk: &Path, shift: u8) -> u64 {
    let limit = |name: &str| fs::read_to_string(disk.join("queue").join(name)).ok()?.trim().parse::<u64>().ok();
    let by_size = limit("max_hw_sectors_kb").map(|kib| kib << 10);
    let by_pieces = limit("max_segments").map(|pieces| pieces * PAGE);
    [by_size, by_pieces].into_iter().flatten().fold(BLOCKS_MAX << shift, u64::min)
}

/// The number of the namespace that a device of it has.
fn namespace_id(device: impl AsFd) -> io::Result<u32> {
    use std::os::fd::AsRawFd;
    //= linux/nvme_ioctl.h: NVME_IOCTL_ID is _IO('N', 0x40)
    let request = opcode::none(b'N', 0x40);
    // SAFETY: the request takes no memory and answers with a number.
    match unsafe { libc::ioctl(device.as_fd().as_raw_fd(), request as libc::c_ulong) } {
        id if id > 0 => Ok(id as u32),
        0 => Err(io::ErrorKind::InvalidData.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Asks a namespace what it is.
fn identify(node: &OwnedFd, id: u32) -> io::Result<Box<[u8; IDENTIFY_LEN]>> {
    let mut told = Box::new([0; IDENTIFY_LEN]);
    let asked = command(IDENTIFY, id, told.as_mut_ptr() as u64, IDENTIFY_LEN as u32, [0, 1]);
    let mut passed = [0; COMMAND_LEN];
    passed.copy_from_slice(&asked[..COMMAND_LEN]);
    // SAFETY: the request reads and writes the 72 bytes of the command, and the kernel fills the 4096 bytes at the address
    // in it, which are ours and alive; it is over when the call returns.
    unsafe { ioctl(node, Updater::<ADMIN_CMD, [u8; COMMAND_LEN]>::new(&mut passed))? };
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_numbers_of_the_kernel_s_headers() {
        assert_eq!((URING_CMD_IO, ADMIN_CMD), (0xc048_4e80, 0xc048_4e41));
    }

    #[test]
    fn a_command_has_its_fields_where_the_kernel_looks_for_them() {
        // 8 blocks of 4 KiB from block 0x1_2345_6789 on.
        let command = command(WRITE, 7, 0x1122_3344_5566_7788, 32_768, [0x1_2345_6789, 8]);
        assert_eq!(command[0], 0x01);
        assert_eq!(command[1..4], [0, 0, 0], "flags, reserved");
        assert_eq!(command[4..8], [7, 0, 0, 0], "namespace");
        assert_eq!(command[8..24], [0; 16], "words 2 and 3, metadata");
        assert_eq!(command[24..32], [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11], "address");
        assert_eq!(command[32..36], [0; 4], "length of the metadata");
        assert_eq!(command[36..40], [0, 0x80, 0, 0], "length");
        assert_eq!(command[40..48], [0x89, 0x67, 0x45, 0x23, 1, 0, 0, 0], "first block");
        assert_eq!(command[48..52], [7, 0, 0, 0], "blocks less one");
        assert_eq!(command[52..], [0; 28], "nothing else");
    }

    #[test]
    fn offsets_become_blocks_of_the_format() {
        let node = OwnedFd::from(fs::File::open("/dev/null").unwrap());
        let namespace = Namespace { node, id: 1, shift: 12, len_max: 1 << 20 };
        assert_eq!(namespace.command(false, 1, 8192, 40_960)[40..52], [10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!((namespace.command(false, 1, 8192, 0)[0], namespace.command(true, 1, 8192, 0)[0]), (0x02, 0x01));
        let namespace = Namespace { shift: 9, ..namespace };
        assert_eq!(namespace.command(true, 1, 512, 1024)[40..52], [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn the_format_in_use_is_read_and_an_impossible_one_is_refused() {
        let mut told = [0; IDENTIFY_LEN];
        told[128..132].copy_from_slice(&[0, 0, 9, 0]);
        told[140..144].copy_from_slice(&[8, 0, 12, 0]);
        assert_eq!(Format::of_namespace(&told), Some(Format { shift: 9, metadata: 0 }));
        told[26] = 0x13;
        assert_eq!(Format::of_namespace(&told), Some(Format { shift: 12, metadata: 8 }));
        told[26] = 0x21;
        told[128 + 4 * 17 + 2] = 12;
        assert_eq!(
            Format::of_namespace(&told),
            Some(Format { shift: 12, metadata: 0 }),
            "the upper bits of 64 formats"
        );
        told[26] = 0x01;
        assert_eq!(Format::of_namespace(&told), None);
    }

    #[test]
    fn a_target_that_is_no_whole_namespace_is_refused() {
        let file = IoFile::create_scratch(Path::new("/var/tmp"), 4096, false).unwrap();
        let obstacle = Namespace::behind(&file).unwrap_err();
        assert!(obstacle.cause.en.contains("not an NVMe namespace"), "{obstacle}");
        let two = IoFile::joined(vec![file.try_clone().unwrap(), file], &[4096, 4096]).unwrap();
        let obstacle = Namespace::behind(&two).unwrap_err();
        assert!(obstacle.cause.en.contains("one namespace"), "{obstacle}");
        let name = |path: &str| generic_name(Path::new(path));
        assert_eq!(name("/sys/devices/x/nvme3/nvme3n12").as_deref(), Some("ng3n12"));
        for other in
            ["/sys/block/nvme0c0n1", "/sys/block/nvme0n1p1", "/sys/block/sda", "/sys/block/nvme", "/sys/block/nvmen1"]
        {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn a_command_is_at_most_as_long_as_the_queue_takes_it_whole() {
        let disk = std::env::temp_dir().join(format!("stend-nvme-{}", std::process::id()));
        fs::create_dir_all(disk.join("queue")).unwrap();
        let unlimited = len_max(&disk, 9);
        fs::write(disk.join("queue/max_hw_sectors_kb"), "512\n").unwrap();
        let by_size = len_max(&disk, 9);
        fs::write(disk.join("queue/max_segments"), "33\n").unwrap();
        let by_pieces = len_max(&disk, 9);
        fs::remove_dir_all(&disk).unwrap();
        assert_eq!((unlimited, by_size, by_pieces), (32 << 20, 512 << 10, 132 << 10));
    }
}
