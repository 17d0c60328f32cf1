//! What tests of machines of the lab share.

use super::{Scratch, alive, expect_exit, output, stend, texts};
use std::path::PathBuf;
use std::process::Command;

/// A machine of the lab that is up, taken down however the test ends.
pub struct Machine<'a> {
    pub scratch: &'a Scratch,
    /// What the serial numbers of its drives begin with: of this process alone.
    pub serial: String,
    name: &'static str,
    /// Where the program keeps what runs.
    place: String,
}

impl<'a> Machine<'a> {
    /// Starts a machine with what `text` says of it for the serial number given.
    pub fn up(scratch: &'a Scratch, name: &'static str, text: impl Fn(&str) -> String) -> Machine<'a> {
        let serial = format!("T{}{}", std::process::id(), name[..1].to_uppercase());
        let file = scratch.file(&format!("{name}.yaml"), &format!("machine: {name}\n{}", text(&serial)));
        let machine = Machine { scratch, serial, name, place: scratch.directory("run") };
        expect_exit(&mut machine.command(&["lab", "up", &file]), 0);
        machine
    }

    /// The program, as it knows the machine.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = stend(self.scratch, words);
        command.env("XDG_RUNTIME_DIR", &self.place);
        command
    }

    /// Both outputs of a command that is done in the machine.
    pub fn stend(&self, words: &[&str], code: i32) -> (String, String) {
        expect_exit(&mut self.command(&[words, &["--lab", self.name]].concat()), code)
    }

    /// What a shell of the machine prints.
    pub fn guest(&self, script: &str) -> String {
        expect_exit(&mut self.command(&["lab", "shell", self.name, "--", "sh", "-c", script]), 0).0
    }

    /// Puts a text into a file of the guest's root.
    pub fn put(&self, name: &str, text: &str) {
        let quoted = text.replace('\'', "'\\''");
        self.guest(&format!("mkdir -p ~/.ssh; printf '%s' '{quoted}' > ~/{name}; chmod go= ~ ~/.ssh"));
    }

    /// A stand file on the first drives of the machine.
    pub fn stand(&self, name: &str, drives: u32, layers: &str) -> String {
        let drives: Vec<String> = (1..=drives).map(|number| format!("{{id: {}{number}}}", self.serial)).collect();
        let text = format!("stand: {name}\ndrives: [{}]\nlayers: [{layers}]\n", drives.join(", "));
        self.scratch.file(&format!("{name}.yaml"), &text)
    }

    /// Ends it in good order.
    pub fn down(&self) {
        expect_exit(&mut self.command(&["lab", "down", self.name]), 0);
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        drop(output(&mut self.command(&["lab", "down", self.name])));
    }
}

/// A server of SSH on one machine at this address of it, and an `ssh` that finds it under this name on the other one.
pub fn acquaint(server: &Machine, client: &Machine, name: &str, address: &str) {
    let public = client.guest(
        "mkdir -p ~/.ssh; [ -e ~/.ssh/id_ed25519 ] || ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519; cat ~/.ssh/id_ed25519.pub",
    );
    server.put(".ssh/authorized_keys", &public);
    let told = server.guest(&format!(
        "echo /bin/bash > /etc/shells; dropbearkey -t ed25519 -f ~/host 2>/dev/null; \
         dropbear -s -r ~/host -p {address}:22 > /dev/null 2>&1"
    ));
    let key = told.lines().find(|line| line.starts_with("ssh-ed25519 ")).expect("a public key");
    client.guest(&format!(
        "printf '%s\n' '{address} {key}' >> ~/.ssh/known_hosts; \
         printf 'Host {name}\n  HostName {address}\n  User root\n' >> ~/.ssh/config; chmod go= ~ ~/.ssh"
    ));
}

/// Whether machines can be started; a named skip where QEMU or the packages of the guest are missing, a failure under CI.
pub fn ready(scratch: &Scratch, test: &str) -> bool {
    let emulator = std::process::Command::new("qemu-system-x86_64").arg("--version").output();
    let built = output(&mut stend(scratch, &["lab", "build", "--offline"]));
    let (code, _, stderr) = texts(&built);
    let ready = emulator.is_ok() && code == 0;
    assert!(ready || std::env::var("CI").as_deref() != Ok("true"), "{test}: {emulator:?}, {stderr}");
    if !ready {
        eprintln!("skipped, needs QEMU and the image of the lab (`make lab-setup`): {test}");
    }
    ready
}

/// The identity of an emulated NVMe drive, which follows from its serial number.
pub fn identity(serial: &str) -> String {
    let hexadecimal = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("wwn:nvme.1b36-{}-{}-00000001", hexadecimal(serial), hexadecimal("QEMU NVMe Ctrl"))
}

/// Process ids of the emulators that have a drive of this serial number.
pub fn emulators(serial: &str) -> Vec<u32> {
    processes("qemu-system", serial)
}

/// Living processes whose command begins so and has this in it.
pub fn processes(program: &str, word: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.starts_with(program) && line.contains(word) && alive(*pid)
    };
    ids.filter(has).collect()
}

/// Those that serve drives of machines whose place is this directory: they have the environment of the command that started them.
pub fn served(place: &str) -> Vec<u32> {
    let own = format!("XDG_RUNTIME_DIR={place}");
    let is_own = |pid: &u32| {
        let set = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        set.split(|byte| *byte == 0).any(|one| one == own.as_bytes())
    };
    processes("nbdkit", "delay").into_iter().filter(is_own).collect()
}

/// What is in the directory of images, but for guests that were saved.
pub fn cached() -> Vec<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).expect("a cache directory");
    let mut names: Vec<PathBuf> = std::fs::read_dir(cache.join("stend/lab"))
        .expect("images")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| !path.ends_with("saved"))
        .collect();
    names.sort();
    names
}
