//! libvirt of a test's own: a daemon in a mount namespace, with directories and a socket that no other sees.

use super::{Running, Scratch, eventually, expect_exit, output, stend};
use std::process::Command;
use std::time::Duration;

/// The daemon, with all programs that know it; machines that a test left are removed with it.
pub struct Libvirt<'a> {
    pub scratch: &'a Scratch,
    /// Name of the test's machines.
    pub name: String,
    /// The directory of all that is the daemon's.
    world: String,
    daemon: Running,
}

/// The whole of the daemon's world is private: what it keeps, its socket, its log.
const SCRIPT: &str = r#"
set -e
w=$1
mkdir -p $w/etc $w/lib $w/cache $w/log $w/run /run/libvirt /var/lib/libvirt /var/cache/libvirt /var/log/libvirt
cp -a /etc/libvirt/. $w/etc/
printf '%s\n' 'user="root"' 'group="root"' 'security_driver="none"' 'namespaces=[]' 'remember_owner=0' 'stdio_handler="file"' >$w/etc/qemu.conf
printf '%s\n' 'auth_unix_rw="none"' 'listen_tls=0' 'log_outputs="3:file:/var/log/libvirt/daemon.log"' "host_uuid=\"$(cat /proc/sys/kernel/random/uuid)\"" >$w/etc/libvirtd.conf
mount --bind $w/etc /etc/libvirt
mount --bind $w/lib /var/lib/libvirt
mount --bind $w/cache /var/cache/libvirt
mount --bind $w/log /var/log/libvirt
mount --bind $w/run /run/libvirt
# Groups of the kernel have the numbers of machines in their names, and both daemons count from 1.
[ -z "$2" ] || echo 'cgroup_controllers=[]' >>$w/etc/qemu.conf
exec libvirtd -f /etc/libvirt/libvirtd.conf -p /run/libvirt/daemon.pid
"#;

impl<'a> Libvirt<'a> {
    /// Starts one; a named skip where libvirt, QEMU or the packages of the guest are missing, a failure under CI.
    pub fn start(scratch: &'a Scratch, letter: char, test: &str) -> Option<Libvirt<'a>> {
        let daemon = Command::new("libvirtd").arg("--version").output();
        let client = Command::new("virsh").arg("--version").output();
        let there = daemon.is_ok() && client.is_ok() && super::root(test);
        assert!(there || std::env::var("CI").as_deref() != Ok("true"), "{test}: {daemon:?}, {client:?}");
        if !there {
            eprintln!("skipped, needs libvirtd and virsh (`scripts/setup.sh`): {test}");
            return None;
        }
        if !super::lab::ready(scratch, test) {
            return None;
        }
        Some(Libvirt::started(scratch, "libvirt", format!("t{}{letter}", std::process::id())))
    }

    /// Another one, which is another host for the first: machines can migrate from one to the other.
    pub fn second(&self) -> Libvirt<'a> {
        Libvirt::started(self.scratch, "second", format!("{}2", self.name))
    }

    fn started(scratch: &'a Scratch, directory: &str, name: String) -> Libvirt<'a> {
        let world = scratch.directory(directory);
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "slave", "bash", "-c", SCRIPT, "libvirt", &world]);
        command.args((directory == "second").then_some("second"));
        let daemon = Running::new(&mut command);
        let libvirt = Libvirt { scratch, name, world, daemon };
        eventually("libvirt answers", Duration::from_secs(60), || libvirt.virsh(&["uri"]).status.success());
        libvirt
    }

    /// By which others reach it.
    pub fn uri(&self) -> String {
        format!("qemu+unix:///system?socket={}/run/libvirt-sock", self.world)
    }

    /// Executes a program in the world of the daemon; it must succeed.
    pub fn runs(&self, words: &[&str]) {
        let done = output(&mut self.inside(words));
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// A program in the world of the daemon.
    fn inside(&self, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--mount=/proc/{}/ns/mnt", self.daemon.child.id())).arg("--").args(words);
        command
    }

    /// What `virsh` says.
    pub fn virsh(&self, words: &[&str]) -> std::process::Output {
        output(self.inside(&["virsh", "--quiet", "--connect", "qemu:///system"]).args(words))
    }

    /// What `virsh` prints; it must succeed.
    pub fn says(&self, words: &[&str]) -> String {
        let said = self.virsh(words);
        assert!(said.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    /// The program, as it reaches this libvirt.
    pub fn command(&self, words: &[&str]) -> Command {
        let plain = stend(self.scratch, words);
        let mut command = self.inside(&[&plain.get_program().to_string_lossy()]);
        command.args(plain.get_args());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("LIBVIRT_DEFAULT_URI", "qemu:///system");
        command
    }

    /// The same of words that are made.
    pub fn command_of(&self, words: &[String]) -> Command {
        self.command(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The program with this exit code; its standard output and error.
    pub fn stend(&self, words: &[&str], code: i32) -> (String, String) {
        expect_exit(&mut self.command(words), code)
    }

    /// Names of all domains.
    pub fn domains(&self) -> Vec<String> {
        self.says(&["list", "--all", "--name"]).lines().filter(|line| !line.is_empty()).map(String::from).collect()
    }
}

impl Drop for Libvirt<'_> {
    fn drop(&mut self) {
        // What a test that failed left; the daemon ends with its guard.
        drop(output(&mut self.command(&["vm", "down", &self.name])));
        // Libvirt leaves its groups. One of an older kernel's hierarchy keeps the CPUs that there were, also when one comes back later; a
        // group with machines of others in it stays.
        let groups = std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
        groups.for_each(|group| drop(std::fs::remove_dir(group.path().join("machine"))));
    }
}
