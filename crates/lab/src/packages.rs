//! Debian's packages, of which a guest is made: which, and where they come from. Nothing of this machine's own list of
//! packages is read or changed. Must not install any.

use crate::tool::{cannot, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use stend_base::{Error, Result, say};

/// The release; its kernel 6.12 is the first of Debian with `dm-vdo`.
pub const RELEASE: &str = "trixie";
/// What is in every guest: a kernel, a shell and its tools, the tools of every layer that a stand file can name, and what one machine
/// reaches another one by.
/// `xz-utils`, `kmod` and `erofs-utils` also make the image.
pub const ALWAYS: [&str; 62] = [
    "linux-image-amd64",
    "base-files",
    "base-passwd",
    "bash",
    "bsdutils",
    "busybox-static",
    "coreutils",
    "dash",
    "debianutils",
    "diffutils",
    "findutils",
    "gawk",
    "grep",
    "gzip",
    "libc-bin",
    "procps",
    "sed",
    "tar",
    "util-linux",
    "xz-utils",
    "kmod",
    "udev",
    "mount",
    "iproute2",
    "iputils-ping",
    "openssh-client",
    "dropbear-bin",
    "ethtool",
    "pciutils",
    "numactl",
    "strace",
    "hdparm",
    "sg3-utils",
    "nvme-cli",
    "smartmontools",
    "blktrace",
    "fdisk",
    "gdisk",
    "parted",
    "mdadm",
    "lvm2",
    "dmsetup",
    "drbd-utils",
    "thin-provisioning-tools",
    "vdo",
    "cryptsetup-bin",
    "bcache-tools",
    "multipath-tools",
    "e2fsprogs",
    "xfsprogs",
    "btrfs-progs",
    "f2fs-tools",
    "dosfstools",
    "open-iscsi",
    "nfs-kernel-server",
    "nfs-common",
    "nbd-client",
    "nbd-server",
    "rdma-core",
    "ibverbs-providers",
    "erofs-utils",
    "fio",
];
/// Sections of the archive that every guest is made of.
pub const MAIN: &str = "main";
/// Those with what is free and is not built with the rest: ZFS.
pub const WITH_CONTRIB: &str = "main contrib";
/// Keys of Debian's archive, where its packages lay them.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Where packages come from if this machine's apt does not say otherwise.
const MIRROR: &str = "http://deb.debian.org/debian/";

/// A package in the place where packages are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its file.
    pub file: PathBuf,
}

/// The packages that `wanted` and what they need come down to, as files in `place`: downloaded into it unless they are
/// there, or `offline`. `sections` are those of the archive that they may come from.
pub fn fetch(place: &Path, wanted: &[String], sections: &str, offline: bool) -> Result<Vec<Package>> {
    if offline && !place.join("status").is_file() {
        return Err(none_downloaded(place));
    }
    let apt = Apt::of(place, sections)?;
    if !offline {
        run(apt.command("apt-get").arg("update"))?;
    }
    let told = run(apt.command("apt-get").args(["-s", "install"]).args(wanted))?;
    let packages: Vec<Package> = told.lines().filter_map(|line| package(line, place)).collect();
    if packages.is_empty() {
        return Err(cannot(&say!("`apt-get` names no packages", "`apt-get` не назвал пакетов")));
    }
    if packages.iter().all(|package| package.file.is_file()) {
        return Ok(packages);
    }
    if offline {
        return Err(none_downloaded(place));
    }
    run(apt.command("apt-get").args(["-y", "--download-only", "install"]).args(wanted))?;
    match packages.iter().find(|package| !package.file.is_file()) {
        None => Ok(packages),
        Some(Package { name, .. }) => {
            Err(cannot(&say!("`apt-get` left no package `{name}`", "`apt-get` не оставил пакета `{name}`")))
        }
    }
}

fn none_downloaded(place: &Path) -> Box<Error> {
    let shown = place.display();
    let message =
        say!("not all packages of the guest are in `{shown}`", "в `{shown}` нет всех пакетов гостевой системы");
    Error::preflight(message)
        .hint(say!("`stend lab build` without --offline downloads them", "`stend lab build` без --offline загрузит их"))
}

/// A line of what would be installed: `Inst mdadm (4.4-11 Debian:13.1/stable [amd64])`.
//= apt-get(8), "-s, --simulate"
fn package(line: &str, place: &Path) -> Option<Package> {
    let (name, rest) = line.strip_prefix("Inst ")?.split_once(' ')?;
    let inside = rest.trim_start_matches('(');
    let version = inside.split(' ').next()?.to_string();
    let architecture = inside.split_once('[')?.1.split(']').next()?;
    // A colon, the end of an epoch, stands in names of files as in addresses.
    let file = format!("{name}_{}_{architecture}.deb", version.replace(':', "%3a"));
    Some(Package { name: name.to_string(), version, file: place.join("archives").join(file) })
}

/// `apt-get` with a list of sources, a state and a cache of our own.
struct Apt {
    place: PathBuf,
}

impl Apt {
    fn of(place: &Path, sections: &str) -> Result<Apt> {
        if !Path::new(KEYRING).is_file() {
            return Err(cannot(&say!("there is no `{KEYRING}`", "нет файла `{KEYRING}`")).hint(say!(
                "the package `debian-archive-keyring` has it",
                "он есть в пакете `debian-archive-keyring`"
            )));
        }
        let source = format!("deb [arch=amd64 signed-by={KEYRING}] {} {RELEASE} {sections}\n", mirror());
        let made = ["lists/partial", "archives/partial"]
            .iter()
            .try_for_each(|name| fs::create_dir_all(place.join(name)))
            .and_then(|()| fs::write(place.join("status"), ""))
            .and_then(|()| fs::write(place.join("sources.list"), source));
        made.map_err(|e| {
            let shown = place.display();
            cannot(&say!("cannot keep packages in `{shown}`: {e}", "нельзя хранить пакеты в `{shown}`: {e}"))
        })?;
        Ok(Apt { place: place.to_path_buf() })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.arg("-qq");
        let own = |name: &str| self.place.join(name).to_string_lossy().into_owned();
        for (key, value) in [
            ("Dir::State", own("")),
            ("Dir::State::Lists", own("lists")),
            ("Dir::State::status", own("status")),
            ("Dir::Cache", own("")),
            ("Dir::Cache::archives", own("archives")),
            ("Dir::Cache::pkgcache", String::new()),
            ("Dir::Cache::srcpkgcache", String::new()),
            ("Dir::Etc::SourceList", own("sources.list")),
            ("Dir::Etc::SourceParts", "/dev/null".into()),
            ("Dir::Etc::Preferences", "/dev/null".into()),
            ("Dir::Etc::PreferencesParts", "/dev/null".into()),
            ("APT::Architecture", "amd64".into()),
            ("APT::Architectures", "amd64".into()),
            ("APT::Install-Recommends", "false".into()),
            // Lists of sections that are not asked for this time stay for the next.
            ("APT::Get::List-Cleanup", "false".into()),
            // Without it, as root, apt would warn that its own user cannot write here.
            ("APT::Sandbox::User", "root".into()),
            ("Acquire::Languages", "none".into()),
            ("Acquire::IndexTargets::deb::DEP-11::DefaultEnabled", "false".into()),
            ("Acquire::Retries", "3".into()),
            // One process at a time is here: see the lock of the directory of images.
            ("Debug::NoLocking", "true".into()),
        ] {
            command.arg("-o").arg(format!("{key}={value}"));
        }
        command
    }
}

/// The archive of Debian that this machine's apt uses, whatever release it takes from there.
fn mirror() -> String {
    let told = run(Command::new("apt-get").args([
        "indextargets",
        "--format",
        "$(LABEL)|$(COMPONENT)|$(REPO_URI)",
        "Created-By: Packages",
    ]));
    // Where that is not known, the archive that every Debian can use.
    told.ok().and_then(|lines| mirror_of(&lines)).unwrap_or_else(|| MIRROR.into())
}

fn mirror_of(lines: &str) -> Option<String> {
    let address = lines.lines().find_map(|line| line.strip_prefix("Debian|main|"))?;
    address.contains("://").then(|| address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn what_apt_would_install_is_understood() {
        let place = Path::new("/c");
        let found = package("Inst libc6 (2.41-12+deb13u4 Debian:13.7/stable [amd64]) []", place).unwrap();
        assert_eq!((found.name.as_str(), found.version.as_str()), ("libc6", "2.41-12+deb13u4"));
        assert_eq!(found.file, Path::new("/c/archives/libc6_2.41-12+deb13u4_amd64.deb"));
        let found = package("Inst procps (2:4.0.4-9 Debian:13.7/stable [all])", place).unwrap();
        assert_eq!(found.file, Path::new("/c/archives/procps_2%3a4.0.4-9_all.deb"));
        for other in ["Conf libc6 (2.41-12+deb13u4 Debian:13.7/stable [amd64])", "Inst x", "", "Reading lists…"] {
            assert_eq!(package(other, place), None, "{other}");
        }
    }

    #[test]
    fn the_archive_is_the_one_that_this_machine_uses() {
        let told =
            "Debian-Security|main|http://s/\nDebian|contrib|http://x/\nDebian|main|http://mirror.local/debian/\n";
        assert_eq!(mirror_of(told).as_deref(), Some("http://mirror.local/debian/"));
        assert_eq!(mirror_of("Ubuntu|main|http://u/\nDebian|main|\n"), None);
    }

    #[test]
    fn without_packages_and_without_network_the_way_out_is_named() {
        let place = tempfile::tempdir().unwrap();
        let error = fetch(place.path(), &["mdadm".into()], MAIN, true).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.hint.unwrap().en.contains("stend lab build"));
    }

    #[test]
    fn no_package_is_named_twice_and_each_name_is_one() {
        for (index, name) in ALWAYS.iter().enumerate() {
            assert!(!ALWAYS[..index].contains(name), "{name}");
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+-.".contains(&b)),
                "{name}"
            );
        }
    }
}
