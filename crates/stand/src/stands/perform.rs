//! Does one deed. The only place of a stand that changes anything but its journal.

use super::journal::{Entry, Journal};
use super::layers::sectors;
use super::signs::{Sight, has_module};
use super::step::{Deed, Spot, format_blocks};
use super::{Watch, drives};
use crate::exports;
use crate::roots::{Roots, number, text};
use stend_base::{Code, Error, Kind, Result, say};
use stend_record::EventKind;
use stend_spec::arm::Tunable;

/// Programs and the packages of Debian that have them.
const PACKAGES: [(&str, &str); 40] = [
    ("blkdiscard", "util-linux"),
    ("dmsetup", "dmsetup"),
    ("exportfs", "nfs-kernel-server"),
    ("fallocate", "util-linux"),
    ("integritysetup", "cryptsetup-bin"),
    ("ip", "iproute2"),
    ("iscsiadm", "open-iscsi"),
    ("iscsid", "open-iscsi"),
    ("ln", "coreutils"),
    ("losetup", "mount"),
    ("lvconvert", "lvm2"),
    ("lvcreate", "lvm2"),
    ("lvremove", "lvm2"),
    ("mdadm", "mdadm"),
    ("mkdir", "coreutils"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.f2fs", "f2fs-tools"),
    ("mkfs.xfs", "xfsprogs"),
    ("mount", "mount"),
    ("nbd-client", "nbd-client"),
    ("nbd-server", "nbd-server"),
    ("nvme", "nvme-cli"),
    ("partx", "util-linux"),
    ("pkill", "procps"),
    ("prlimit", "util-linux"),
    ("pvcreate", "lvm2"),
    ("pvremove", "lvm2"),
    ("rdma", "iproute2"),
    ("rm", "coreutils"),
    ("rpc.mountd", "nfs-kernel-server"),
    ("rmdir", "coreutils"),
    ("sgdisk", "gdisk"),
    ("umount", "mount"),
    ("vgchange", "lvm2"),
    ("vgcreate", "lvm2"),
    ("vgremove", "lvm2"),
    ("wipefs", "util-linux"),
    ("zfs", "zfsutils-linux"),
    ("zpool", "zfsutils-linux"),
];
/// Where the kernel hands out zram devices.
const ZRAM_CONTROL: &str = "class/zram-control/hot_add";

/// Does it. What is executed goes to the log with its output.
pub(super) fn perform(roots: &Roots, deed: &Deed, journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    match deed {
        Deed::Run(words) => {
            must_remove_its_own(words)?;
            crate::command::execute_plainly(words, watch.stopped, watch.log).map(drop)
        }
        Deed::Set { path, value } => {
            if journal.before(path).is_none() {
                let value = crate::arm::current(path)?;
                journal.append(Entry::Before { path: path.clone(), value })?;
            }
            set(path, value, watch)
        }
        Deed::Tell { path, value } => tell(path, value, watch),
        Deed::PutBack { path } => {
            // What a setting was of may be gone, with the machine's last start or with a layer.
            if let Some(value) =
                journal.before(path).map(str::to_string).filter(|_| std::path::Path::new(path).exists())
            {
                set(path, &value, watch)?;
            }
            journal.append(Entry::PutBack { path: path.clone() })
        }
        Deed::Format { of, words } => format(roots, of, words, journal, watch),
        Deed::Erase { of, words } => {
            crate::command::execute_plainly(words, watch.stopped, watch.log)?;
            journal.append(Entry::Erased { layer: of.layer.clone(), index: of.index })
        }
        Deed::Wipe { device, uuid } => wipe(roots, device, uuid, journal, watch),
        Deed::Blocks { of, bytes } => to_blocks(roots, of, *bytes, journal, watch),
        Deed::BlocksBack { of } => blocks_back(roots, of, journal, watch),
        Deed::Attach { export, host, port, of } => attach(roots, export, (host, *port), of.as_deref(), watch),
        Deed::Detach { export } => detach(roots, export, watch),
        Deed::RemoveZram { layer, index, number } => {
            tell("/sys/class/zram-control/hot_remove", number, watch)?;
            journal.append(Entry::ZramGone { layer: layer.clone(), index: *index })
        }
        Deed::Module(name) if has_module(roots, name) => Ok(()),
        Deed::Module(name) => {
            let words = ["modprobe", "--", name].map(String::from);
            crate::command::execute_plainly(&words, watch.stopped, watch.log).map(drop).map_err(|error| {
                error.hint(say!("the kernel of this host lacks `{name}`", "в ядре этой машины нет `{name}`"))
            })
        }
        Deed::AddZram { layer, index } => {
            let path = roots.sys.join(ZRAM_CONTROL);
            let given = number(&path).and_then(|number| u32::try_from(number).ok());
            let number = given.ok_or_else(|| {
                let shown = path.display();
                Error::new(
                    Kind::Preflight,
                    say!(
                        "cannot add a zram device by `{shown}`",
                        "не удаётся добавить устройство zram через `{shown}`"
                    ),
                )
                .hint(say!("this needs root and the module `zram`", "для этого нужны права root и модуль `zram`"))
            })?;
            let boot_id = crate::owner::boot_id(roots);
            let sequence = crate::roots::number(roots.sys.join(format!("class/block/zram{number}/diskseq")));
            journal.append(Entry::Zram { layer: layer.clone(), index: *index, number, boot_id, sequence })?;
            (watch.log)(EventKind::Step { action: format!("add zram{number}") });
            Ok(())
        }
    }
}

/// What is mounted over the directory of a file hides it, and may have another file of that name.
fn must_remove_its_own(words: &[String]) -> Result<()> {
    let ("rm", [.., path]) = (words.first().map_or("", String::as_str), words) else { return Ok(()) };
    let Some(parent) = std::path::Path::new(path).parent() else { return Ok(()) };
    match stend_sys::tree::must_be_no_mount_point(parent) {
        // Anything else the command says better.
        Err(error) => stend_sys::tree::refusal(&error).map_or(Ok(()), Err),
        Ok(()) => Ok(()),
    }
}

/// Noted before and after: what is half made is the stand's, too.
fn format(roots: &Roots, of: &Spot, words: &[String], journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    let Spot { layer, index, device } = of;
    let noted = |mark| Entry::Formatted { layer: layer.clone(), index: *index, mark };
    journal.append(noted(None))?;
    crate::command::execute_plainly(words, watch.stopped, watch.log)?;
    let mark = Sight::new(roots, journal).superblock(device);
    journal.append(noted(mark))
}

/// Takes a file system off: `wipefs` knows its first superblock, our own reading also the copies, which would keep the next stand or
/// run from the drive. Copies of anything else stay.
fn wipe(roots: &Roots, device: &str, uuid: &str, journal: &Journal, watch: &mut Watch) -> Result<()> {
    /// More than any file system keeps at places that are looked at.
    const COPIES_MAX: usize = 64;
    /// What is cleared at each: the blocks of 4 KiB that copies begin in, and no more.
    const LEN: u64 = 4096;
    let words = ["wipefs", "--all", "--quiet", device].map(String::from);
    crate::command::execute_plainly(&words, watch.stopped, watch.log)?;
    for _ in 0..COPIES_MAX {
        let left = Sight::new(roots, journal).marks(device, uuid);
        let Some(offset) = left.first() else { return Ok(()) };
        let (offset, len) = (offset - offset % LEN, LEN);
        let mut words = ["blkdiscard", "--force", "--zeroout"].map(String::from).to_vec();
        words.extend([format!("--offset={offset}"), format!("--length={len}"), device.to_string()]);
        crate::command::execute_plainly(&words, watch.stopped, watch.log)?;
    }
    Err(Error::new(
        Kind::Preflight,
        say!(
            "copies of the superblock {uuid} on `{device}` could not be cleared",
            "копии суперблока {uuid} на `{device}` стереть не удалось"
        ),
    )
    .hint(say!("`stend inspect {device}` shows where they are", "где они лежат, покажет `stend inspect {device}`")))
}

fn to_blocks(roots: &Roots, of: &Spot, bytes: u32, journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    let name = sectors::noted(of);
    if journal.before(&name).is_none() {
        let value = Sight::new(roots, journal).blocks(&of.device).ok_or_else(|| no_blocks(&of.device))?;
        journal.append(Entry::Before { path: name, value: value.to_string() })?;
    }
    blocks(&of.device, &bytes.to_string(), watch)
}

fn blocks_back(roots: &Roots, of: &Spot, journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    let name = sectors::noted(of);
    let before = journal.before(&name).map(str::to_string);
    let now = Sight::new(roots, journal).blocks(&of.device).map(|now| now.to_string());
    // Where it did not come to be formatted, it is not formatted now.
    if let Some(before) = before.filter(|before| now.as_ref() != Some(before)) {
        must_be_empty(roots, &of.device, journal)?;
        blocks(&of.device, &before, watch)?;
    }
    journal.append(Entry::PutBack { path: name })
}

/// All that the stand put on a drive is off it again when the drive is formatted back: what is there now is somebody else's.
fn must_be_empty(roots: &Roots, device: &str, journal: &Journal) -> Result<()> {
    let sight = Sight::new(roots, journal);
    let Some(node) = sight.at(device) else { return Ok(()) };
    drives::must_be_free(&drives::look(roots, node, sight.devices(), &[]), &[]).map_err(|error| {
        let stend_base::Say { en, ru } = &error.message;
        Error::new(
            error.kind,
            say!(
                "{en}; it is not formatted back, which would erase it",
                "{ru}; обратно он не отформатирован: это стёрло бы всё"
            ),
        )
    })
}

fn blocks(device: &str, bytes: &str, watch: &mut Watch) -> Result<()> {
    crate::command::execute_plainly(&format_blocks(device, bytes), watch.stopped, watch.log).map(drop)
}

fn no_blocks(device: &str) -> Box<Error> {
    Error::new(
        Kind::Preflight,
        say!("the kernel does not tell the logical block of `{device}`", "ядро не сообщает логический блок `{device}`"),
    )
}

fn detach(roots: &Roots, export: &str, watch: &mut Watch) -> Result<()> {
    let ends = exports::attached(roots).into_iter().filter(|end| end.export == export);
    ends.map(|end| end.name).try_for_each(|name| {
        let words = ["nbd-client", "-d", &format!("/dev/{name}")].map(String::from);
        crate::command::execute_plainly(&words, watch.stopped, watch.log)?;
        let note = exports::note(roots, &name);
        std::fs::remove_file(&note).map_err(|e| cannot_note(&note, &e))
    })
}

/// The kernel knows its devices of NBD by numbers alone; what the one that was taken is the other end of is noted.
fn attach(roots: &Roots, export: &str, (host, port): (&str, u16), of: Option<&str>, watch: &mut Watch) -> Result<()> {
    let name = exports::unattached(roots).ok_or_else(|| {
        Error::new(Kind::Preflight, say!("every device of NBD is connected", "все устройства NBD заняты"))
            .hint(say!("`modprobe nbd nbds_max=64` makes more of them", "больше их создаёт `modprobe nbd nbds_max=64`"))
    })?;
    let device = format!("/dev/{name}");
    let words = ["nbd-client", host, &port.to_string(), &device, "-name", export].map(String::from);
    crate::command::execute_plainly(&words, watch.stopped, watch.log)?;
    let pid = text(roots.sys.join("class/block").join(&name).join("pid")).unwrap_or_default();
    let (note, of) = (exports::note(roots, &name), of.unwrap_or(exports::ANOTHER_HOST));
    std::fs::write(&note, format!("{pid} {export} {of}\n")).map_err(|e| cannot_note(&note, &e))
}

fn cannot_note(note: &std::path::Path, error: &std::io::Error) -> Box<Error> {
    let shown = note.display();
    Error::new(
        Kind::Preflight,
        say!("cannot change the note `{shown}`: {error}", "не удаётся изменить пометку `{shown}`: {error}"),
    )
}

fn tell(path: &str, value: &str, watch: &mut Watch) -> Result<()> {
    // A whole line, as `echo` writes it: the NFS server takes nothing else. Names and passwords of the iSCSI target are all that is
    // written, the end of the line included.
    let end = if path.contains("/target/iscsi/") && path.contains("/auth/") { "" } else { "\n" };
    std::fs::write(path, format!("{value}{end}")).map_err(|e| {
        Error::new(
            Kind::Preflight,
            say!("cannot write {value} to `{path}`: {e}", "не удалось записать {value} в `{path}`: {e}"),
        )
    })?;
    (watch.log)(EventKind::Step { action: format!("echo {value} > {path}") });
    Ok(())
}

fn set(path: &str, value: &str, watch: &mut Watch) -> Result<()> {
    crate::arm::write(&Tunable { path: path.to_string(), value: value.to_string() })?;
    (watch.log)(EventKind::Step { action: format!("set {path} to {value}") });
    Ok(())
}

/// Refuses a stand whose programs are not here, before anything is changed: each with the package that has it.
pub(super) fn must_have<'a>(deeds: impl IntoIterator<Item = &'a Deed>) -> Result<()> {
    let mut lacking: Vec<&str> = deeds.into_iter().filter_map(Deed::program).filter(|name| !is_there(name)).collect();
    lacking.sort_unstable();
    lacking.dedup();
    if lacking.is_empty() {
        return Ok(());
    }
    let mut packages: Vec<&str> =
        PACKAGES.iter().filter(|(program, _)| lacking.contains(program)).map(|p| p.1).collect();
    packages.sort_unstable();
    packages.dedup();
    let (lacking, packages) = (lacking.join("`, `"), packages.join(" "));
    Err(Error::new(
        Code::ProgramMissing,
        say!(
            "this host lacks the programs `{lacking}`, which the stand needs",
            "на этой машине нет программ, нужных стенду: `{lacking}`"
        ),
    )
    .hint(say!(
        "Debian and Ubuntu have them in: `apt-get install {packages}`",
        "в Debian и Ubuntu они в пакетах: `apt-get install {packages}`"
    )))
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_that_is_missing_is_named_with_its_package() {
        let deeds = [Deed::run("no-such-program -x", []), Deed::run("mkdir --", ["/x"]), Deed::Module("x")];
        let error = must_have(&deeds).unwrap_err();
        assert!(error.message.en.contains("`no-such-program`") && !error.message.en.contains("mkdir"), "{error}");
        assert!(must_have(&deeds[1..]).is_ok());
        for (program, package) in PACKAGES {
            assert!(!program.is_empty() && !package.is_empty());
        }
    }

    #[test]
    fn a_module_that_nobody_has_names_the_kernel() {
        let tree = tempfile::tempdir().unwrap();
        let roots = Roots::under(tree.path());
        let mut journal = Journal::imagined(super::super::journal::Head::new("", "", 0, Vec::new(), ""));
        let mut watch = Watch { stopped: &|| false, log: &mut |_| {} };
        let error = perform(&roots, &Deed::Module("no_such_module"), &mut journal, &mut watch).unwrap_err();
        assert!(error.hint.unwrap().en.contains("lacks `no_such_module`"));
        std::fs::create_dir_all(roots.sys.join("module/no_such_module")).unwrap();
        perform(&roots, &Deed::Module("no_such_module"), &mut journal, &mut watch).unwrap();
    }
}
