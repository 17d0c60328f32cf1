//! Modules of ZFS, which Debian has as source alone: built for the kernel of a guest in a tree of packages that is thrown away,
//! and kept. Must not install anything on this machine.

use crate::digest::digest;
use crate::packages::{self, Package, WITH_CONTRIB};
use crate::tool::{cannot, run};
use crate::tree;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use stend_base::{Result, say};
use stend_sys::process::die_with_parent;

/// What the guest needs beside the modules.
pub const TOOLS: &str = "zfsutils-linux";
/// How they are built.
pub const BUILD: &str = include_str!("guest/zfs.sh");
/// What that takes: the source, headers of the kernel, a compiler, and the programs that scripts of theirs use, which are in
/// every Debian and so in no dependencies.
const WANTED: [&str; 25] = [
    "zfs-dkms",
    "linux-headers-amd64",
    "gcc",
    "make",
    "binutils",
    "file",
    "kmod",
    "base-files",
    "base-passwd",
    "bash",
    "coreutils",
    "dash",
    "debianutils",
    "diffutils",
    "findutils",
    "gawk",
    "grep",
    "gzip",
    "hostname",
    "libc-bin",
    "perl",
    "sed",
    "tar",
    "util-linux",
    "xz-utils",
];
/// Links that installation would have made.
const LINKS: [(&str, &str); 3] =
    [("usr/bin/awk", "gawk"), ("usr/bin/cc", "gcc"), ("usr/bin/which", "which.debianutils")];
/// The kernel's devices and processes are seen in the tree by what runs there, and by nobody else: what is mounted goes with the
/// process, so that removing the tree cannot reach them. Rights are those of the user who builds.
const ENTER: &str =
    "mount --rbind /dev \"$1/dev\" && mount --rbind /proc \"$1/proc\" && exec chroot \"$1\" /bin/sh /build.sh \"$2\"";

/// The modules for the kernel of this release, as files in `cache`: built below `place`, which must not exist, unless they are there.
/// Packages come from and go to `store`.
pub fn modules(cache: &Path, store: &Path, place: &Path, release: &str, offline: bool) -> Result<Vec<PathBuf>> {
    let packages = packages::fetch(store, &WANTED.map(String::from), WITH_CONTRIB, offline)?;
    let kept = cache.join(name(release, &packages));
    if !kept.is_dir() {
        build(&packages, place, release)?;
        // Under their name they are whole.
        fs::rename(place.join("built"), &kept)
            .and_then(|()| stend_sys::tree::remove(place))
            .map_err(|e| stend_sys::tree::refusal(&e).unwrap_or_else(|| failed(&kept, &e)))?;
    }
    let entries = fs::read_dir(&kept).map_err(|e| failed(&kept, &e))?;
    let mut modules: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    modules.sort();
    match modules.is_empty() {
        true => {
            Err(cannot(&say!("building the source of ZFS gave no modules", "из исходного кода ZFS не вышло модулей")))
        }
        false => Ok(modules),
    }
}

/// The name of modules is the hash of what they are built for and of: the release of the kernel alone would not do, because Debian
/// keeps it when headers change in a compatible way.
fn name(release: &str, packages: &[Package]) -> String {
    let decides = |package: &&Package| package.name == "zfs-dkms" || package.name.starts_with("linux-headers-");
    let mut versions: Vec<String> =
        packages.iter().filter(decides).map(|Package { name, version, .. }| format!("{name} {version}")).collect();
    versions.sort();
    format!("zfs-{}", digest([BUILD.to_string(), release.to_string()].into_iter().chain(versions)))
}

fn build(packages: &[Package], place: &Path, release: &str) -> Result<()> {
    fs::create_dir(place).map_err(|e| failed(place, &e))?;
    tree::unpack(packages, place)?;
    let at = |name: &str| place.join(name);
    let made = ["dev", "proc", "tmp"]
        .iter()
        .try_for_each(|name| fs::create_dir_all(at(name)))
        .and_then(|()| fs::write(at("build.sh"), BUILD))
        .and_then(|()| {
            let missing = |(name, _): &&(&str, &str)| fs::symlink_metadata(at(name)).is_err();
            LINKS.iter().filter(missing).try_for_each(|(name, to)| symlink(to, at(name)))
        });
    made.map_err(|e| failed(place, &e))?;
    let mut build = Command::new("unshare");
    build.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh"]);
    die_with_parent(build.arg(place).arg(release));
    run(&mut build).map(drop).map_err(|mut error| {
        error.hint = Some(say!(
            "ZFS modules are built in a user namespace (`unshare --user`), which this machine may forbid; \
             a machine file without `zfs` does not need them",
            "модули ZFS собираются в пространстве имён пользователя (`unshare --user`), а здесь оно может быть запрещено; \
             файлу машины без `zfs` модули не нужны"
        ));
        error
    })
}

fn failed(place: &Path, error: &std::io::Error) -> Box<stend_base::Error> {
    let shown = place.display();
    cannot(&say!("cannot build in `{shown}`: {error}", "не удаётся собрать в `{shown}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str) -> Package {
        Package { name: name.into(), version: version.into(), file: PathBuf::new() }
    }

    #[test]
    fn modules_are_built_anew_for_another_kernel_other_headers_and_another_source_only() {
        let of = |release: &str, headers: &str, source: &str, compiler: &str| {
            let packages =
                [package("gcc", compiler), package("linux-headers-amd64", headers), package("zfs-dkms", source)];
            name(release, &packages)
        };
        let first = of("6.12.1-amd64", "6.12.1-1", "2.3.2-2", "14");
        assert_eq!(first, of("6.12.1-amd64", "6.12.1-1", "2.3.2-2", "15"));
        assert_ne!(first, of("6.12.2-amd64", "6.12.1-1", "2.3.2-2", "14"));
        assert_ne!(first, of("6.12.1-amd64", "6.12.1-2", "2.3.2-2", "14"));
        assert_ne!(first, of("6.12.1-amd64", "6.12.1-1", "2.3.3-1", "14"));
    }

    #[test]
    fn a_shell_understands_how_they_are_built() {
        for script in [BUILD, ENTER] {
            assert!(Command::new("sh").args(["-n", "-c", script]).status().unwrap().success(), "{script}");
        }
    }
}
