//! The system of a guest as a tree of files: packages unpacked side by side, and what their installation would have added.
//! No program of a package runs but those that make the image. Must not choose packages.

use crate::packages::Package;
use crate::tool::{cannot, pipe, run};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use stend_base::{Result, Say, say};

/// What runs first in the system.
pub const SYSTEM: &str = include_str!("guest/system.sh");
/// What mounts the drive that a reset leaves.
pub const KEEP: &str = include_str!("guest/keep.sh");
/// How the system finds the program that it was given.
pub const PROGRAM: &str = include_str!("guest/program.sh");
/// Modules that find and mount the system; a drive, a file system, its checksums, and memory over it.
pub const EARLY: [&str; 4] = ["virtio_blk", "crc32c_generic", "erofs", "overlay"];
/// Packages that are unpacked at a time: one that is read by `tar` keeps two processors busy.
const TOGETHER: usize = 2;
/// What no guest needs: texts for people, and drivers of devices that QEMU does not have or storage does not use.
/// Rules of udev that start programs for every drive are left out, too: under emulation each start takes tenths of a second.
/// What they would do (multipath, kpartx, bcache, LVM activation, hdparm) is done by the stand that makes such a layer.
const LEFT_OUT: [&str; 41] = [
    "./usr/lib/udev/rules.d/55-scsi-sg3_id.rules",
    "./usr/lib/udev/rules.d/58-scsi-sg3_symlink.rules",
    "./usr/lib/udev/rules.d/60-kpartx.rules",
    "./usr/lib/udev/rules.d/60-multipath.rules",
    "./usr/lib/udev/rules.d/68-del-part-nodes.rules",
    "./usr/lib/udev/rules.d/69-bcache.rules",
    "./usr/lib/udev/rules.d/69-lvm.rules",
    "./usr/lib/udev/rules.d/69-vdev.rules",
    "./usr/lib/udev/rules.d/85-hdparm.rules",
    "./usr/lib/udev/rules.d/90-iocost.rules",
    "./usr/lib/udev/rules.d/90-zfs.rules",
    "./usr/lib/udev/rules.d/99-systemd.rules",
    "./usr/share/doc",
    "./usr/share/man",
    "./usr/share/locale",
    "./usr/share/info",
    "./usr/share/lintian",
    "*/kernel/sound",
    "*/kernel/drivers/accel",
    "*/kernel/drivers/bluetooth",
    "*/kernel/drivers/comedi",
    "*/kernel/drivers/firewire",
    "*/kernel/drivers/gpu",
    "*/kernel/drivers/hid",
    "*/kernel/drivers/hwmon",
    "*/kernel/drivers/iio",
    "*/kernel/drivers/infiniband/hw",
    "*/kernel/drivers/input",
    "*/kernel/drivers/isdn",
    "*/kernel/drivers/media",
    "*/kernel/drivers/mfd",
    "*/kernel/drivers/net/can",
    "*/kernel/drivers/net/ethernet",
    "*/kernel/drivers/net/wireless",
    "*/kernel/drivers/net/wwan",
    "*/kernel/drivers/platform",
    "*/kernel/drivers/staging",
    "*/kernel/drivers/usb",
    "*/kernel/drivers/video",
    "*/kernel/net/wireless",
    "*/kernel/net/mac80211",
];
/// Users and groups that packages add when they are installed, behind those of `base-passwd`.
const USERS: &str =
    "statd:x:101:65534::/var/lib/nfs:/usr/sbin/nologin\n_rpc:x:102:65534::/run/rpcbind:/usr/sbin/nologin\n";
const GROUPS: &str = "input:x:101:\nsgx:x:102:\nkvm:x:103:\nrender:x:104:\nclock:x:105:\n";
/// Files and links that installation would have made, or that a host with a name has.
const FILES: [(&str, &str); 4] = [
    ("etc/hostname", "lab\n"),
    ("etc/hosts", "127.0.0.1 localhost lab\n::1 localhost\n"),
    ("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
    ("etc/machine-id", "73746e6400000000000000000000001a\n"),
];
const LINKS: [(&str, &str); 5] = [
    ("etc/mtab", "/proc/mounts"),
    ("usr/bin/awk", "gawk"),
    ("usr/bin/which", "which.debianutils"),
    ("var/run", "/run"),
    ("var/lock", "/run/lock"),
];
const DIRECTORIES: [&str; 5] = ["media", "mnt", "opt", "srv", "usr/lib/stend"];

/// A tree in a directory.
pub struct Tree {
    root: PathBuf,
    /// Release of its kernel.
    release: String,
}

impl Tree {
    /// Unpacks packages below `root`, which must be an empty directory, and completes what comes of it. Its modules are still
    /// to be indexed.
    pub fn unpack(packages: &[Package], root: &Path) -> Result<Tree> {
        unpack(packages, root)?;
        let modules = root.join("usr/lib/modules");
        let release = fs::read_dir(&modules).ok().and_then(|mut entries| entries.next()?.ok());
        let release = release.ok_or_else(|| lacks("usr/lib/modules"))?.file_name().to_string_lossy().into_owned();
        let tree = Tree { root: root.to_path_buf(), release };
        tree.complete().map_err(|e| unwritten(root, &e))?;
        Ok(tree)
    }

    /// Release of its kernel.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Adds modules that no package has.
    pub fn add_modules(&self, modules: &[PathBuf]) -> Result<()> {
        let place = self.root.join("usr/lib/modules").join(&self.release).join("extra");
        let named = modules.iter().filter_map(|module| Some((module, module.file_name()?)));
        let added = fs::create_dir_all(&place)
            .and_then(|()| named.into_iter().try_for_each(|(from, name)| fs::copy(from, place.join(name)).map(drop)));
        added.map_err(|e| unwritten(&place, &e))
    }

    /// Writes down which modules there are, and what they need.
    pub fn index_modules(&self) -> Result<()> {
        self.own("usr/sbin/depmod").and_then(|mut depmod| run(depmod.arg("-b").arg(&self.root).arg(&self.release)))?;
        Ok(())
    }

    /// What installation would have made.
    fn complete(&self) -> std::io::Result<()> {
        let at = |name: &str| self.root.join(name);
        for (name, text) in FILES {
            fs::write(at(name), text)?;
        }
        for (name, to) in LINKS {
            if fs::symlink_metadata(at(name)).is_err() {
                symlink(to, at(name))?;
            }
        }
        for (name, master, more) in [("etc/passwd", "passwd.master", USERS), ("etc/group", "group.master", GROUPS)] {
            fs::write(at(name), fs::read_to_string(at("usr/share/base-passwd").join(master))? + more)?;
        }
        // Stands activate their volumes; udev and systemd do not.
        let lvm = at("etc/lvm/lvm.conf");
        if let Ok(text) = fs::read_to_string(&lvm) {
            fs::write(&lvm, text.replace("# event_activation = 1", "event_activation = 0"))?;
        }
        DIRECTORIES.iter().try_for_each(|name| fs::create_dir_all(at(name)))?;
        for (name, text) in [("usr/sbin/stend-init", SYSTEM), ("usr/sbin/stend-keep", KEEP), ("usr/bin/stend", PROGRAM)]
        {
            fs::write(at(name), text)?;
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    /// Packs the tree as an image of a file system that is only read.
    pub fn pack(&self, image: &Path) -> Result<()> {
        let mut pack = self.own("usr/bin/mkfs.erofs")?;
        // The larger pieces save a tenth of the size. All files belong to root and have no time, independent of user and time of unpacking.
        run(pack.args(["--quiet", "-zlz4", "-C65536", "--all-root", "-T0"]).arg(image).arg(&self.root)).map(drop)
    }

    /// The kernel.
    pub fn kernel(&self) -> PathBuf {
        self.root.join(format!("boot/vmlinuz-{}", self.release))
    }

    /// Program and shell of the first steps, which needs no libraries.
    pub fn busybox(&self) -> PathBuf {
        self.root.join("usr/bin/busybox")
    }

    /// The files of [`EARLY`] and of what they need, in the order in which they must be loaded.
    pub fn early_modules(&self) -> Result<Vec<PathBuf>> {
        let directory = self.root.join("usr/lib/modules").join(&self.release);
        let read = |name: &str| fs::read_to_string(directory.join(name)).map_err(|_| lacks(name));
        let order = order(&read("modules.dep")?, &read("modules.builtin")?, &EARLY)?;
        Ok(order.into_iter().map(|path| directory.join(path)).collect())
    }

    /// A program of the tree, with its own loader and libraries: it needs none of this machine.
    fn own(&self, program: &str) -> Result<Command> {
        let libraries = self.root.join("usr/lib/x86_64-linux-gnu");
        let program = self.root.join(program);
        // A link such as that of `depmod` says by its name which program it is.
        let name = program.file_name().unwrap_or_default().to_os_string();
        if !program.exists() {
            return Err(lacks(&name.to_string_lossy()));
        }
        let mut command = Command::new(libraries.join("ld-linux-x86-64.so.2"));
        command.arg("--argv0").arg(name).arg("--library-path").arg(&libraries).arg(program);
        Ok(command)
    }
}

/// Unpacks packages side by side below `root`, an empty directory.
pub fn unpack(packages: &[Package], root: &Path) -> Result<()> {
    // This one has the links of the root directory, through which the others unpack.
    let (first, others): (Vec<&Package>, Vec<&Package>) =
        packages.iter().partition(|package| package.name == "base-files");
    first.iter().try_for_each(|package| unpack_one(&package.file, root))?;
    let waiting = Mutex::new(others);
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = || std::iter::from_fn(next).try_for_each(|package| unpack_one(&package.file, root));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..TOGETHER).map(|_| scope.spawn(work)).collect();
        let died = || Err(cannot(&Say::same("tar")));
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| died()))
    })
}

fn unpack_one(package: &Path, root: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.arg("-x").arg("-C").arg(root).args([
        "--no-same-owner",
        "--keep-directory-symlink",
        "--delay-directory-restore",
    ]);
    tar.args(LEFT_OUT.map(|name| format!("--exclude={name}")));
    pipe(Command::new("dpkg-deb").arg("--fsys-tarfile").arg(package), &mut tar)
}

/// Paths of modules in the order in which they must be loaded, each once; built-in ones not at all.
//= modules.dep(5): "module: what it needs", what is needed first stands last.
fn order(dependencies: &str, builtin: &str, wanted: &[&str]) -> Result<Vec<String>> {
    let name_of = |path: &str| {
        let file = path.rsplit('/').next().unwrap_or_default();
        file.split(".ko").next().unwrap_or_default().replace('-', "_")
    };
    let mut order: Vec<String> = Vec::new();
    for name in wanted {
        if builtin.lines().any(|path| name_of(path) == *name) {
            continue;
        }
        let lines = dependencies.lines().filter_map(|line| line.split_once(':'));
        let (path, needs) = lines.into_iter().find(|(path, _)| name_of(path) == *name).ok_or_else(|| lacks(name))?;
        for module in needs.split_whitespace().rev().chain([path]) {
            if !order.iter().any(|other| other == module) {
                order.push(module.to_string());
            }
        }
    }
    Ok(order)
}

fn lacks(what: &str) -> Box<stend_base::Error> {
    cannot(&say!("the packages of the guest have no `{what}`", "в пакетах гостевой системы нет `{what}`"))
}

fn unwritten(root: &Path, error: &std::io::Error) -> Box<stend_base::Error> {
    let shown = root.display();
    cannot(&say!("cannot write into `{shown}`: {error}", "не удаётся записать в `{shown}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_come_after_what_they_need_and_built_in_ones_not_at_all() {
        let dependencies = "kernel/fs/erofs/erofs.ko.xz: kernel/lib/b.ko.xz kernel/lib/a.ko.xz\nkernel/lib/a.ko.xz:\n\
                            kernel/lib/b.ko.xz: kernel/lib/a.ko.xz\nkernel/x/crc32c-x.ko.xz:\n";
        let builtin = "kernel/drivers/block/virtio_blk.ko\n";
        let found = order(dependencies, builtin, &["virtio_blk", "crc32c_x", "erofs", "b"]).unwrap();
        let names = ["x/crc32c-x", "lib/a", "lib/b", "fs/erofs/erofs"].map(|name| format!("kernel/{name}.ko.xz"));
        assert_eq!(found, names);
        let error = order(dependencies, builtin, &["overlay"]).unwrap_err();
        assert!(error.message.en.contains("no `overlay`") && error.message.ru.contains("нет `overlay`"), "{error}");
    }

    #[test]
    fn a_package_that_is_none_is_an_error_that_names_the_program() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x.deb");
        fs::write(&file, "no package").unwrap();
        let error = unpack_one(&file, place.path()).unwrap_err();
        assert!(error.message.en.contains("dpkg-deb"), "{error}");
    }

    #[test]
    fn a_shell_understands_what_runs_in_a_guest() {
        for script in [SYSTEM, KEEP, PROGRAM] {
            assert!(Command::new("sh").args(["-n", "-c", script]).status().unwrap().success(), "{script}");
        }
    }
}
