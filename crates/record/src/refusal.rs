//! Why a target is never written, and the words for it.

use serde::{Deserialize, Serialize};
use stend_base::{Say, say};

/// Why a target is never written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The device is mounted.
    Mounted {
        /// Mount point.
        at: String,
    },
    /// A partition or holder of the device is mounted.
    RelativeMounted {
        /// Which.
        device: String,
        /// Mount point.
        at: String,
    },
    /// The device, or one that shares its space, is mounted, but not where Stend sees it: in another mount namespace.
    MountedElsewhere {
        /// Which device.
        device: String,
        /// Mount point there.
        at: String,
        /// A process that sees it.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// Swap in use.
    Swap {
        /// The device or file in use.
        device: String,
    },
    /// Member of a volume manager, array or pool.
    Member {
        /// What it is: `LVM2_member`, `linux_raid_member`, `zfs_member`, `btrfs`, …
        of: String,
        /// The device that carries the signature.
        device: String,
    },
    /// Another block device is built on it.
    Holder {
        /// Its kernel name.
        device: String,
    },
    /// A process holds it open.
    HeldBy {
        /// Process id, 0 if it cannot be seen.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// Named in fstab.
    Fstab {
        /// The line's mount point.
        at: String,
    },
    /// The running system is on it.
    RootDisk {
        /// The device that is mounted as root.
        device: String,
    },
    /// A file that Stend did not make.
    ForeignFile,
    /// Another device has the same identity.
    DuplicateIdentity {
        /// Its kernel name.
        other: String,
    },
    /// The device or file system is read-only.
    ReadOnly,
    /// Its signatures cannot be read, so what is on it is unknown.
    Unreadable {
        /// The system's own words.
        why: String,
    },
    /// A block of it cannot be read, so what is on it is unknown.
    UnreadableAt {
        /// Byte offset of the block.
        offset: u64,
        /// The system's own words.
        why: String,
    },
    /// It has no stable identity to confirm.
    NoIdentity,
    /// Another run of Stend uses it.
    InUseByRun {
        /// Process id of its worker.
        pid: u32,
        /// Its run file.
        run: String,
    },
    /// This host hands it out over the network.
    Exported {
        /// Under which name.
        name: String,
    },
    /// Something is mounted in what a dead run left in the directory, so that this cannot be removed.
    MountInLeftover {
        /// Where.
        at: String,
    },
    /// This user, or the container that it is in, may not read the device, so what is on it is unknown.
    NoPermission {
        /// It is root: something else than the user keeps it from reading.
        root: bool,
    },
}

impl Refusal {
    /// Whether it keeps the target from being read as well.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Refusal::Unreadable { .. } | Refusal::NoPermission { .. })
    }

    /// The reason in words that follow "it".
    pub fn say(&self) -> Say {
        match self {
            Refusal::Mounted { at } => say!("is mounted at `{at}`", "смонтирован в `{at}`"),
            Refusal::RelativeMounted { device, at } => say!(
                "is in use: `{device}`, which shares its space, is mounted at `{at}`",
                "занят: `{device}` на том же месте смонтирован в `{at}`"
            ),
            Refusal::MountedElsewhere { device, at, pid, name } => say!(
                "is in use: `{device}` is mounted at `{at}` in the mount namespace of process {pid} ({name})",
                "занят: `{device}` смонтирован в `{at}` в пространстве имён процесса {pid} ({name})"
            ),
            Refusal::Swap { device } => {
                say!("holds active swap (`{device}`)", "содержит активную подкачку (`{device}`)")
            }
            Refusal::Member { of, device } => say!(
                "is a member of something larger: `{device}` carries a `{of}` signature",
                "входит в состав другого устройства: на `{device}` метка `{of}`"
            ),
            Refusal::Holder { device } => {
                say!("is held by the block device `{device}`", "удерживается блочным устройством `{device}`")
            }
            Refusal::HeldBy { pid: 0, .. } => say!(
                "is held exclusively by a program or driver that Stend cannot see",
                "удерживается монопольно программой или драйвером, которых Стенд не видит"
            ),
            Refusal::HeldBy { pid, name } => {
                say!("is held open by process {pid} ({name})", "открыт процессом {pid} ({name})")
            }
            Refusal::Fstab { at } => say!("is listed in /etc/fstab for `{at}`", "указан в /etc/fstab для `{at}`"),
            Refusal::RootDisk { device } => say!(
                "carries the running system (`{device}` is the root)",
                "содержит работающую систему (корень — `{device}`)"
            ),
            Refusal::ForeignFile => say!(
                "is a file that Stend did not create; foreign files are only read",
                "создан не Стендом; чужие файлы только читаются"
            ),
            Refusal::DuplicateIdentity { other } => say!(
                "has the same identity as `{other}`; if these are paths to one drive, name the multipath device over them",
                "имеет тот же идентификатор, что и `{other}`; если это пути к одному накопителю, укажите устройство multipath над ними"
            ),
            Refusal::ReadOnly => say!("is read-only", "доступен только для чтения"),
            Refusal::Unreadable { why } => {
                say!("cannot be read to check its contents ({why})", "не читается, и неизвестно, что на нём ({why})")
            }
            Refusal::NoPermission { .. } => say!("cannot be read: permission denied", "не читается: нет прав"),
            Refusal::UnreadableAt { offset, why } => say!(
                "cannot be read at byte {offset} to check its contents ({why})",
                "не читается со смещения {offset}, и неизвестно, что на нём ({why})"
            ),
            Refusal::NoIdentity => say!(
                "has no stable identity that could be confirmed",
                "не имеет постоянного идентификатора, который можно подтвердить"
            ),
            Refusal::InUseByRun { pid, run } => say!(
                "is in use by another run of Stend (process {pid}, `{run}`)",
                "занят другим прогоном Стенда (процесс {pid}, `{run}`)"
            ),
            Refusal::Exported { name } => {
                say!("is exported to other hosts as `{name}`", "экспортируется другим машинам под именем `{name}`")
            }
            Refusal::MountInLeftover { at } => say!(
                "holds remains of a dead run, with something mounted inside, at `{at}`",
                "содержит остаток прерванного прогона, внутри которого что-то смонтировано: `{at}`"
            ),
        }
    }

    /// What the user can do about it; `None` where nothing general helps.
    pub fn way_out(&self) -> Option<Say> {
        Some(match self {
            Refusal::Mounted { at } | Refusal::RelativeMounted { at, .. } => say!(
                "unmount `{at}` first, or name a directory on it to use a test file",
                "сначала размонтируйте `{at}` или укажите каталог на нём, чтобы использовать тестовый файл"
            ),
            Refusal::MountedElsewhere { at, pid, .. } => say!(
                "stop that process or its container, or unmount it there: `nsenter --target {pid} --mount umount '{at}'`",
                "остановите этот процесс или его контейнер либо размонтируйте там: `nsenter --target {pid} --mount umount '{at}'`"
            ),
            Refusal::Swap { device } => {
                // A device by its name in the kernel, a file by its path.
                let path = if device.starts_with('/') { device.clone() } else { format!("/dev/{device}") };
                say!("switch it off with `swapoff {path}`", "отключите подкачку: `swapoff {path}`")
            }
            Refusal::Member { of, .. } => say!(
                "remove it from the array, pool or group it belongs to. If only a remainder of `{of}` is left, clear it with `wipefs`, or with `blkdiscard --zeroout` at the offset that `stend inspect` shows",
                "выведите его из массива, пула или группы. Если от `{of}` остался лишь след, удалите его командой `wipefs` или `blkdiscard --zeroout` по смещению, которое покажет `stend inspect`"
            ),
            Refusal::Holder { device } => {
                say!("stop or close `/dev/{device}` first", "сначала остановите или закройте `/dev/{device}`")
            }
            Refusal::HeldBy { .. } | Refusal::InUseByRun { .. } => {
                say!("wait until it ends, or stop it", "дождитесь завершения или остановите его")
            }
            Refusal::Fstab { at } => {
                say!("remove the line of `{at}` from /etc/fstab", "удалите строку `{at}` из /etc/fstab")
            }
            Refusal::ForeignFile => say!(
                "name its directory instead: Stend makes a test file of its own there",
                "укажите вместо него каталог: Стенд создаст там свой тестовый файл"
            ),
            Refusal::RootDisk { .. } => say!(
                "name a directory on it to use a test file",
                "укажите каталог на нём, чтобы использовать тестовый файл"
            ),
            Refusal::Exported { .. } => say!(
                "take it out of the target first (`/sys/kernel/config/nvmet`, `/sys/kernel/config/target`)",
                "сначала уберите его из цели (`/sys/kernel/config/nvmet`, `/sys/kernel/config/target`)"
            ),
            Refusal::MountInLeftover { at } => say!(
                "check it with `findmnt '{at}'` and unmount it; Stend removes nothing in it",
                "посмотрите командой `findmnt '{at}'`, что это, и размонтируйте; Стенд внутри ничего не удаляет"
            ),
            Refusal::NoPermission { root: false } => say!("run as root", "запустите от root"),
            Refusal::NoPermission { root: true } => {
                say!("allow the device in this container", "разрешите устройство в этом контейнере")
            }
            Refusal::Unreadable { .. } | Refusal::UnreadableAt { .. } => say!(
                "see the messages of the kernel (`dmesg`) and the state of the drive (`smartctl -x`)",
                "посмотрите, что сообщают о ней ядро (`dmesg`) и сам накопитель (`smartctl -x`)"
            ),
            Refusal::DuplicateIdentity { .. } | Refusal::ReadOnly | Refusal::NoIdentity => return None,
        })
    }
}
