//! Programs that tests start, held against the packages that `scripts/setup.sh` installs: on a machine that has only what it
//! installs, no test may fail because a program is missing.

use crate::finding::Finding;
use crate::scan;
use crate::tree::Source;

const RULE: &str = "programs";
const SETUP: &str = "scripts/setup.sh";
/// What begins the words of a command in a test, up to the name of the program.
const CALLS: [&str; 7] =
    ["Command::new(\"", "tool(&[\"", "run(&[\"", "sh(&[\"", "command(&[\"/", "shell(\"", "shell(&format!(\""];
/// Packages of every Debian installation, which need no installation.
const ESSENTIAL: &str = "essential";
/// Our own program, and a word of the shell itself.
const NOT_INSTALLED: [&str; 2] = ["stend", "exec"];

/// Which package has a program, in Debian and Ubuntu.
const PACKAGES: [(&str, &[&str]); 26] = [
    (
        ESSENTIAL,
        &[
            "sh",
            "bash",
            "env",
            "sleep",
            "stat",
            "readlink",
            "mknod",
            "true",
            "cat",
            "chmod",
            "cp",
            "chown",
            "find",
            "truncate",
            "sha256sum",
            "tar",
            "touch",
            "echo",
            "dd",
            "mkfifo",
            "base64",
            "perl",
        ],
    ),
    (
        "util-linux",
        &[
            "mkswap",
            "partx",
            "blkid",
            "blkdiscard",
            "wipefs",
            "blockdev",
            "flock",
            "setsid",
            "unshare",
            "nsenter",
            "fsfreeze",
            "findmnt",
        ],
    ),
    ("mount", &["losetup", "mount", "umount", "swapon", "swapoff"]),
    ("udev", &["udevadm"]),
    ("systemd", &["systemd-analyze"]),
    ("procps", &["kill", "pgrep", "pkill", "ps"]),
    ("iproute2", &["ip"]),
    ("fdisk", &["sfdisk"]),
    ("gdisk", &["sgdisk"]),
    ("dosfstools", &["mkfs.vfat"]),
    ("e2fsprogs", &["mkfs.ext2", "mkfs.ext3", "mkfs.ext4"]),
    ("xfsprogs", &["mkfs.xfs"]),
    ("btrfs-progs", &["mkfs.btrfs", "btrfs"]),
    ("lvm2", &["pvcreate", "vgcreate", "lvcreate"]),
    ("openssh-client", &["ssh", "ssh-keygen"]),
    ("dropbear-bin", &["dropbearkey"]),
    ("curl", &["curl"]),
    ("snmp", &["snmpget", "snmptranslate"]),
    ("snmpd", &["snmpd"]),
    ("fio", &["fio"]),
    ("prometheus", &["prometheus", "promtool"]),
    ("snmptrapd", &["snmptrapd"]),
    ("chromium", &["chromium"]),
    ("qemu-system-x86", &["qemu-system-x86_64"]),
    ("libvirt-daemon", &["libvirtd"]),
    ("libvirt-clients", &["virsh"]),
];

/// Every program of a test has a package, and every package is installed.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let setup = sources.iter().find(|source| source.path == SETUP);
    let installed: Vec<&str> = setup.map_or(Vec::new(), |setup| packages(&setup.text));
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust() && source.path.starts_with("crates/")) {
        for (at, program) in started(source) {
            let line = scan::line_of(&source.text, at);
            match PACKAGES.iter().find(|(_, programs)| programs.contains(&program)) {
                Some((package, _)) if *package == ESSENTIAL || installed.contains(package) => {}
                Some((package, _)) => findings.push(Finding::new(
                    &source.path,
                    line,
                    RULE,
                    format!("`{program}` is in the package `{package}`, which {SETUP} does not install"),
                )),
                None => findings.push(Finding::new(
                    &source.path,
                    line,
                    RULE,
                    format!("the package of `{program}` is unknown: name it in xtask/src/programs.rs"),
                )),
            }
        }
    }
    findings
}

/// Words of the lists `…_packages=( … )`.
fn packages(setup: &str) -> Vec<&str> {
    let lists = setup.split("_packages=(").skip(1).filter_map(|rest| rest.split_once(')'));
    lists.flat_map(|(list, _)| list.split_whitespace()).collect()
}

/// Programs that the tests of a file start, and where.
fn started(source: &Source) -> Vec<(usize, &str)> {
    let of_tests = if source.production.is_empty() { Some(0) } else { source.text.find("#[cfg(test)]") };
    let Some(from) = of_tests else { return Vec::new() };
    let names = CALLS
        .iter()
        .flat_map(|call| scan::find_all(&source.text[from..], call).into_iter().map(move |at| (from + at, *call)));
    let name = |(at, call): (usize, &str)| {
        let rest = &source.text[at + call.len()..];
        let program =
            &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c)).unwrap_or(rest.len())];
        // `{}` is a path that the test has made, and a word of ours may begin with a capital.
        let real = program.starts_with(|c: char| c.is_ascii_lowercase()) && !NOT_INSTALLED.contains(&program);
        real.then_some((at, program))
    };
    names.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn findings(test: &str, setup: &str) -> Vec<String> {
        let sources = [Source::new("crates/a/tests/b.rs", test), Source::new(SETUP, setup)];
        check(&sources).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_program_whose_package_is_not_installed_is_found() {
        let setup = "build_packages=(gcc)\ntest_packages=(gdisk\n    fio)\n";
        assert_eq!(
            findings("fn a() { tool(&[\"sgdisk\", \"-o\"]); Command::new(\"fio\"); tool(&[\"sh\"]); }", setup),
            [""; 0]
        );
        let missing = findings("fn a() { tool(&[\"sgdisk\", \"-o\"]); }", "test_packages=(fio)\n");
        assert_eq!(missing, ["`sgdisk` is in the package `gdisk`, which scripts/setup.sh does not install"]);
        assert!(findings("fn a() { run(&[\"frob\"]); }", setup)[0].starts_with("the package of `frob` is unknown"));
    }

    /// Nothing is known of packages that are not installed here; in CI all of them are.
    #[test]
    fn every_program_is_in_the_package_that_is_said_to_have_it() {
        for (package, programs) in PACKAGES.iter().filter(|(package, _)| *package != ESSENTIAL) {
            let asked = std::process::Command::new("dpkg-query").args(["-L", package]).output();
            let listed = asked.ok().filter(|answer| answer.status.success());
            let Some(listed) = listed else {
                assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "`{package}` is not installed");
                eprintln!(
                    "skipped, `{package}` is not installed: every_program_is_in_the_package_that_is_said_to_have_it"
                );
                continue;
            };
            let files: Vec<PathBuf> = String::from_utf8_lossy(&listed.stdout).lines().map(PathBuf::from).collect();
            for program in *programs {
                let is_program = |path: &&PathBuf| {
                    path.file_name().is_some_and(|name| name == *program) && path.to_string_lossy().contains("bin/")
                };
                assert!(files.iter().any(|path| is_program(&path)), "`{program}` is not in `{package}`");
            }
        }
    }
}
