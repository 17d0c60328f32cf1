//! Debian's packages, of which a guest is made: which, where they come from, what is taken of them. Must not install any.

use crate::archive::files_of_tar;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use stend_base::{Error, Kind, Result, say};

/// The package that names the newest kernel, and the one with a `busybox` that needs no libraries.
pub const KERNEL: &str = "linux-image-amd64";
/// See [`KERNEL`].
pub const BUSYBOX: &str = "busybox-static";
/// Modules that a guest loads, with whatever they need. Where a kernel has one of them built in, so much the better.
pub const MODULES: [&str; 5] = ["virtio_pci", "virtio_console", "virtio_blk", "nvme", "loop"];
/// Folders of the kernel's modules where those and what they need lie.
const FOLDERS: [&str; 8] = [
    "/kernel/drivers/virtio/",
    "/kernel/drivers/nvme/host/",
    "/kernel/drivers/block/",
    "/kernel/drivers/char/",
    "/kernel/lib/",
    "/kernel/crypto/",
    "/kernel/block/",
    "/kernel/arch/x86/crypto/",
];

/// What is taken of packages: paths and contents.
pub type Files = Vec<(String, Vec<u8>)>;

/// The two packages as files in `place`: those that are there, else downloaded into it, unless `offline`.
pub fn fetch(place: &Path, offline: bool) -> Result<[PathBuf; 2]> {
    // The file of a kernel is called as its version, and the package with no version in its name holds no kernel.
    let wanted = ["linux-image-", BUSYBOX];
    if let [Some(kernel), Some(busybox)] = wanted.map(|prefix| newest(place, prefix)) {
        return Ok([kernel, busybox]);
    }
    if offline {
        let shown = place.display();
        return Err(Error::new(Kind::Preflight, say!("there are no packages in `{shown}`", "в `{shown}` нет пакетов"))
            .hint(say!(
                "`stend lab build` without --offline downloads them",
                "`stend lab build` без --offline загрузит их"
            )));
    }
    let told = run(Command::new("apt-cache").args(["depends", KERNEL]))?;
    let kernel = told.lines().find_map(|line| line.trim().strip_prefix("Depends: ")).ok_or_else(|| {
        no_packages(&say!("`apt-cache` does not know `{KERNEL}`", "`apt-cache` не знает пакета `{KERNEL}`"))
    })?;
    // Without the sandbox, as root, apt would warn that its own user cannot write here.
    let sandbox = ["-o", "APT::Sandbox::User=root"];
    run(Command::new("apt-get").args(["-qq"]).args(sandbox).args(["download", kernel, BUSYBOX]).current_dir(place))?;
    match wanted.map(|prefix| newest(place, prefix)) {
        [Some(kernel), Some(busybox)] => Ok([kernel, busybox]),
        _ => Err(no_packages(&say!("`apt-get download` left no packages", "`apt-get download` не оставил пакетов"))),
    }
}

/// The last by name of the packages in `place` whose names begin with `prefix`.
fn newest(place: &Path, prefix: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(place).ok()?.flatten();
    let ours = |name: &str| name.starts_with(prefix) && name.ends_with(".deb");
    entries.filter(|entry| ours(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).max()
}

/// Of a package those files whose paths `keep` wants.
pub fn unpack(package: &Path, keep: &dyn Fn(&str) -> bool) -> Result<Files> {
    let shown = package.display();
    let failed = |e: std::io::Error| {
        Error::new(Kind::Preflight, say!("cannot unpack `{shown}`: {e}", "не удаётся распаковать `{shown}`: {e}"))
    };
    let mut command = Command::new("dpkg-deb");
    command.arg("--fsys-tarfile").arg(package).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let mut files = Files::new();
    let read = match child.stdout.take() {
        Some(mut from) => files_of_tar(&mut from, keep, &mut |path, data| files.push((path, data))),
        None => Err(std::io::ErrorKind::BrokenPipe.into()),
    };
    let ended = child.wait().map_err(failed)?;
    read.map_err(failed)?;
    if !ended.success() {
        return Err(failed(std::io::Error::other(format!("dpkg-deb: {ended}"))));
    }
    Ok(files)
}

/// Whether a file of the kernel's package is needed for a guest, or to find out what is.
pub fn of_kernel(path: &str) -> bool {
    let module = path.ends_with(".ko") && FOLDERS.iter().any(|folder| path.contains(folder));
    module || path.contains("/boot/vmlinuz-") || path.ends_with("/modules.builtin")
}

/// The modules to load, in this order: [`MODULES`], each after what it needs. `files` are those of the kernel's package.
pub fn modules(files: &Files) -> Result<Vec<(String, &[u8])>> {
    let builtin = files.iter().find(|(path, _)| path.ends_with("/modules.builtin"));
    let builtin: Vec<String> =
        builtin.map(|(_, list)| String::from_utf8_lossy(list).lines().map(name_of).collect()).unwrap_or_default();
    let mut order: Vec<(String, &[u8])> = Vec::new();
    // A module waits behind those that it needs; the depth of that is small, and a circle is none of Linux.
    let mut waiting: Vec<String> = MODULES.iter().rev().map(|name| name.to_string()).collect();
    let mut looked_at: Vec<String> = Vec::new();
    while let Some(name) = waiting.pop() {
        if builtin.contains(&name) || order.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let file = files.iter().find(|(path, _)| path.ends_with(".ko") && name_of(path) == name);
        let (_, data) = file.ok_or_else(|| {
            no_packages(&say!(
                "the kernel's package has no module `{name}`; modules that are compressed are not read",
                "в пакете ядра нет модуля `{name}`; сжатые модули не читаются"
            ))
        })?;
        if looked_at.contains(&name) {
            order.push((name, data));
            continue;
        }
        looked_at.push(name.clone());
        waiting.push(name);
        waiting.extend(needs(data).into_iter().filter(|other| !looked_at.contains(other)));
    }
    Ok(order)
}

/// Name of a module from its path.
fn name_of(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().trim_end_matches(".ko").replace('-', "_")
}

/// The modules that a module says it needs, in its section `.modinfo`.
fn needs(module: &[u8]) -> Vec<String> {
    let mark = b"\0depends=";
    let Some(at) = module.windows(mark.len()).position(|window| window == mark) else { return Vec::new() };
    let list = &module[at + mark.len()..];
    let end = list.iter().position(|byte| *byte == 0).unwrap_or(0);
    let list = String::from_utf8_lossy(&list[..end]).replace('-', "_");
    list.split(',').filter(|name| !name.is_empty()).map(str::to_string).collect()
}

/// Runs a command and returns what it printed.
fn run(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).env("LC_ALL", "C").output().map_err(|e| {
            no_packages(&say!("cannot start `{program}`: {e}", "не удаётся запустить `{program}`: {e}"))
        })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let told = told.lines().last().unwrap_or_default().trim_start_matches("E: ").to_string();
    Err(no_packages(&say!("`{program}` failed: {told}", "ошибка `{program}`: {told}")))
}

fn no_packages(why: &stend_base::Say) -> Box<Error> {
    let (en, ru) = (&why.en, &why.ru);
    Error::new(
        Kind::Preflight,
        say!("cannot get the packages of the guest: {en}", "не удаётся получить пакеты гостевой системы: {ru}"),
    )
    .hint(say!(
        "an image is made of packages of Debian 12 with its `apt-get` and `dpkg-deb`; after `sudo apt-get update` they are found again",
        "образ собирается из пакетов Debian 12 её командами `apt-get` и `dpkg-deb`; устаревший список обновит `sudo apt-get update`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str, depends: &str) -> (String, Vec<u8>) {
        (format!("./lib/modules/6/kernel/{path}.ko"), format!("\x7fELF…\0license=GPL\0depends={depends}\0x=y\0").into())
    }

    fn kernel() -> Files {
        vec![
            module("drivers/nvme/host/nvme", "nvme-core"),
            module("drivers/nvme/host/nvme-core", "t10-pi"),
            module("block/t10-pi", ""),
            module("drivers/virtio/virtio_pci", "virtio,virtio_ring"),
            module("drivers/virtio/virtio", "virtio_ring"),
            module("drivers/virtio/virtio_ring", ""),
            module("drivers/block/virtio_blk", "virtio,virtio_ring"),
            (
                "./lib/modules/6/modules.builtin".into(),
                b"kernel/drivers/block/loop.ko\nkernel/drivers/char/virtio_console.ko\n".into(),
            ),
        ]
    }

    #[test]
    fn modules_come_after_what_they_need_and_built_in_ones_not_at_all() {
        let files = kernel();
        let names: Vec<String> = modules(&files).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["virtio_ring", "virtio", "virtio_pci", "virtio_blk", "t10_pi", "nvme_core", "nvme"]);
    }

    #[test]
    fn a_module_that_is_not_there_is_named() {
        let mut files = kernel();
        files.retain(|(path, _)| !path.ends_with("t10-pi.ko"));
        let error = modules(&files).unwrap_err();
        assert!(error.message.en.contains("no module `t10_pi`") && error.message.ru.contains("`t10_pi`"), "{error}");
    }

    #[test]
    fn of_the_kernel_only_what_a_guest_may_need_is_taken() {
        assert!(of_kernel("./boot/vmlinuz-6.1.0-1-amd64"));
        assert!(of_kernel("./usr/lib/modules/6/kernel/drivers/nvme/host/nvme.ko"));
        assert!(!of_kernel("./lib/modules/6/kernel/sound/snd.ko"));
        assert!(!of_kernel("./boot/config-6"));
    }

    #[test]
    fn without_packages_and_without_network_the_way_out_is_named() {
        let place = tempfile::tempdir().unwrap();
        let error = fetch(place.path(), true).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.hint.unwrap().en.contains("stend lab build"));
        for name in ["linux-image-6.1.0-9-amd64_6.1_amd64.deb", "busybox-static_1_amd64.deb", "other.deb"] {
            std::fs::write(place.path().join(name), "").unwrap();
        }
        let [kernel, busybox] = fetch(place.path(), false).unwrap();
        assert!(kernel.ends_with("linux-image-6.1.0-9-amd64_6.1_amd64.deb"));
        assert!(busybox.ends_with("busybox-static_1_amd64.deb"));
    }
}
