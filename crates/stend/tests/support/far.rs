//! Hosts that are reached by `ssh`: servers on the loopback, each with a home and keys of its own.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

/// Hosts, and an `ssh` that finds them: `far` and `second` are two names of one, `closed` is none, others have the names that they were
/// added with.
pub struct Far {
    servers: Vec<Child>,
    pub scratch: Scratch,
    path: String,
}

impl Far {
    /// `None`, with a note: it is not available here.
    pub fn start(test: &str) -> Option<Far> {
        if !root(test) {
            return None;
        }
        let there = ["dropbear", "dropbearkey", "ssh", "ssh-keygen"].iter().all(|program| has(program));
        assert!(there || std::env::var("CI").as_deref() != Ok("true"), "{test} needs dropbear-bin and openssh-client");
        if !there {
            eprintln!("skipped, needs dropbear-bin and openssh-client: {test}");
            return None;
        }
        let scratch = Scratch::new();
        let programs = scratch.directory("bin");
        let at = |name: &str| scratch.join(name).to_string_lossy().into_owned();
        tool(&["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", &at("key")]);
        tool(&["dropbearkey", "-t", "ed25519", "-f", &at("host")]);
        scratch.file("config", "Host closed\n  HostName 127.0.0.1\n  Port 1\n");
        script(&scratch, "bin/ssh", &format!("exec {} -F {} \"$@\"", which("ssh"), at("config")));
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
        let mut far = Far { servers: Vec::new(), scratch, path };
        far.serve("far second", "", None);
        Some(far)
    }

    /// A host of this name that says that it is another machine.
    pub fn add(&mut self, name: &str) {
        self.add_in(name, "");
    }

    /// The same where commands of a shell, each with ` && ` behind it, have changed what is mounted there.
    pub fn add_in(&mut self, name: &str, more: &str) {
        let number = self.servers.len();
        let boot = self.scratch.file(&format!("boot-{name}"), &format!("{number:08x}-0000-4000-8000-000000000000\n"));
        let leases = self.scratch.directory(&format!("leases-{name}"));
        let inside =
            format!("mount --bind {boot} /proc/sys/kernel/random/boot_id && export STEND_LEASES={leases} && {more}");
        self.serve(name, &inside, Some(name));
    }

    /// A server in a mount namespace in which the home of this user is another one.
    fn serve(&mut self, names: &str, inside: &str, own: Option<&str>) {
        let of = |what: &str| own.map_or_else(|| what.to_string(), |own| format!("{what}-{own}"));
        let at = |name: &str| self.scratch.join(name).to_string_lossy().into_owned();
        let home = self.scratch.directory(&of("home"));
        std::fs::create_dir(format!("{home}/.ssh")).expect("a directory");
        std::fs::copy(at("key.pub"), format!("{home}/.ssh/authorized_keys")).expect("a file");
        for private in [home.clone(), format!("{home}/.ssh"), format!("{home}/.ssh/authorized_keys")] {
            std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o700)).expect("permissions");
        }
        let made = tool(&["dropbearkey", "-y", "-f", &at("host")]);
        let public = made.lines().find(|line| line.starts_with("ssh-ed25519")).expect("a public key").to_string();
        let (server, port) = on_a_port(|port| {
            let mut server = self.started(&home, inside, port, &of);
            let pid = server.id();
            is_ready("the server listens", &mut server, || listens(pid, port)).then_some((server, port))
        });
        self.servers.push(server);
        append(&at("known"), &format!("[127.0.0.1]:{port} {public}\n"));
        append(
            &at("config"),
            &format!(
                "Host {names}\n  HostName 127.0.0.1\n  Port {port}\n  User root\n  IdentityFile {}\n  IdentitiesOnly yes\n  IdentityAgent none\n  \
                 UserKnownHostsFile {}\n  StrictHostKeyChecking yes\n",
                at("key"),
                at("known")
            ),
        );
    }

    /// A server on this port, or a process that ends because another has the port.
    fn started(&self, home: &str, inside: &str, port: u16, of: &dyn Fn(&str) -> String) -> Child {
        let at = |name: &str| self.scratch.join(name).to_string_lossy().into_owned();
        let inside = format!(
            "mount --bind {home} \"$HOME\" && {inside}exec dropbear -F -E -e -s -r {} -p 127.0.0.1:{port}",
            at("host")
        );
        Command::new("unshare")
            .args(["--mount", "--propagation", "slave", "sh", "-c", &inside])
            .env("XDG_CACHE_HOME", at(&of("cache")))
            .env("STEND_LEASES", self.scratch.path())
            .env("LANG", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(at(&of("server.log"))).expect("a file"))
            .spawn()
            .expect("unshare")
    }

    pub fn stend(&self, words: &[&str]) -> Command {
        let mut command = stend(&self.scratch, words);
        command.env("PATH", &self.path);
        command
    }

    /// What a command of a shell prints on a host.
    pub fn said_by(&self, name: &str, command: &str) -> String {
        tool(&[&self.scratch.join("bin/ssh").to_string_lossy(), name, command])
    }

    /// Names of the programs that were brought to the first host.
    pub fn programs(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.scratch.join("cache/stend/programs")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Workers that were started on the first host and live.
    pub fn workers(&self) -> Vec<u32> {
        self.workers_in("cache")
    }

    /// Those of a host that was added.
    pub fn workers_of(&self, name: &str) -> Vec<u32> {
        self.workers_in(&format!("cache-{name}"))
    }

    fn workers_in(&self, cache: &str) -> Vec<u32> {
        let place = self.scratch.join(&format!("{cache}/stend/programs"));
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.starts_with(&place)))
            .collect()
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        for server in &mut self.servers {
            drop(server.kill());
            drop(server.wait());
        }
    }
}

fn append(path: &str, text: &str) {
    let before = std::fs::read_to_string(path).unwrap_or_default();
    std::fs::write(path, before + text).expect("a file");
}

fn has(program: &str) -> bool {
    Command::new("sh").args(["-c", &format!("command -v {program}")]).output().is_ok_and(|out| out.status.success())
}

fn which(program: &str) -> String {
    tool(&["sh", "-c", &format!("command -v {program}")])
}

pub fn script(scratch: &Scratch, name: &str, text: &str) {
    let path = scratch.file(name, &format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
}
