//! A file of hosts: how each is reached, and what it is for. Pure; must not reach anything.

use stend_base::{Error, Result, say};

/// The hosts of a file, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostsFile {
    /// Each of them; one at least, names and ways differ.
    pub hosts: Vec<NamedHost>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedHost {
    /// As the user calls it.
    pub name: String,
    /// How it is reached.
    pub via: Via,
    /// Words before that shell which give it the rights that it needs: `sudo -n`.
    pub privilege: Vec<String>,
    /// What it does in a run.
    pub role: HostRole,
    /// Groups that it is in.
    pub groups: Vec<String>,
    /// Its targets; where it is watched, paths below which drives are watched, all of them if there is none.
    pub on: Vec<String>,
}

/// How a host is reached: its shell, or the worker of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// By `ssh`: what it knows the host as.
    Ssh(String),
    /// By a command of this machine whose input and output are those of a shell command behind it.
    Exec {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// It is this virtual machine, which `stend vm up` has started: `web-1`.
    Vm(String),
}

/// What a host does in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostRole {
    /// It makes the load.
    #[default]
    Load,
    /// It is watched.
    Observe,
}

impl HostsFile {
    /// The hosts of these groups, in the order of the file; without groups all of them.
    ///
    /// Errors: `Usage` where no host is in a group.
    pub fn of_groups(&self, groups: &[String]) -> Result<Vec<&NamedHost>> {
        let known = |group: &String| self.hosts.iter().any(|host| host.groups.contains(group));
        if let Some(unknown) = groups.iter().find(|group| !known(group)) {
            let all: std::collections::BTreeSet<&str> =
                self.hosts.iter().flat_map(|host| &host.groups).map(String::as_str).collect();
            let listed = all.into_iter().collect::<Vec<_>>().join(", ");
            let error =
                Error::usage(say!("no host is in the group `{unknown}`", "в группе `{unknown}` нет ни одной машины"));
            return Err(match listed.as_str() {
                "" => error.hint(say!("the file has no groups", "в файле нет групп")),
                _ => error.hint(say!("groups of the file: {listed}", "группы в файле: {listed}")),
            });
        }
        let wanted = |host: &&NamedHost| groups.is_empty() || host.groups.iter().any(|group| groups.contains(group));
        Ok(self.hosts.iter().filter(wanted).collect())
    }

    /// Whether any host is reached by a command of this machine.
    pub fn executes(&self) -> bool {
        self.hosts.iter().any(|host| matches!(host.via, Via::Exec { .. }))
    }
}
