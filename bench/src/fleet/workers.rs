//! Real workers of this machine as hosts of a file: each is reached by a command, in a network namespace in which no server listens, with
//! a cache and leases of its own. Needs root.

use crate::{Outcome, Settings};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// A host with a directory of its own, where it makes its load if it is to make any.
pub fn host(place: &Path, name: &str, role: &str, groups: &[&str]) -> Outcome<Value> {
    let [cache, leases] = [directory(place, "cache", name)?, directory(place, "leases", name)?];
    let words = ["unshare", "--net", "--", "env"].map(String::from);
    let more = [format!("XDG_CACHE_HOME={cache}"), format!("STEND_LEASES={leases}")];
    let exec: Vec<String> = words.into_iter().chain(more).collect();
    let mut host = json!({ "exec": exec, "role": role, "groups": groups });
    if role == "load" {
        host["on"] = json!(directory(place, "target", name)?);
    }
    Ok(host)
}

fn directory(place: &Path, what: &str, name: &str) -> Outcome<String> {
    let path = place.join(format!("{what}-{name}"));
    std::fs::create_dir(&path).map_err(|e| format!("cannot make `{}`: {e}", path.display()))?;
    Ok(path.display().to_string())
}

/// Writes the file of hosts and the suite. A mapping in JSON is one in YAML, with every path in quotes.
pub fn write(place: &Path, hosts: &[(&str, Value)], suite: &str) -> Outcome<()> {
    let hosts: serde_json::Map<String, Value> =
        hosts.iter().map(|(name, host)| (name.to_string(), host.clone())).collect();
    let text = format!("{:#}\n", json!({ "hosts": hosts }));
    for (name, text) in [("hosts.yaml", text.as_str()), ("suite.yaml", suite)] {
        let path = place.join(name);
        std::fs::write(&path, text).map_err(|e| format!("cannot write `{}`: {e}", path.display()))?;
    }
    Ok(())
}

/// Runs the suite on the hosts of a group, into this file.
pub fn run(settings: &Settings, place: &Path, group: &str, file: &Path) -> Outcome<()> {
    let mut command = stend(settings, place);
    command.arg("run").arg(place.join("suite.yaml")).arg("--hosts").arg(place.join("hosts.yaml"));
    command.args(["--group", group, "--progress", "none", "-o"]).arg(file);
    output(command).map(drop)
}

/// The result of a run for machines.
pub fn shown(settings: &Settings, place: &Path, file: &Path) -> Outcome<Value> {
    let mut command = stend(settings, place);
    command.args(["show", "--json"]).arg(file);
    let text = output(command)?;
    serde_json::from_str(&text).map_err(|e| format!("`stend show --json` prints no JSON: {e}"))
}

/// A run of a bench belongs in no list of runs.
fn stend(settings: &Settings, place: &Path) -> Command {
    let mut command = Command::new(&settings.stend);
    command.env("XDG_DATA_HOME", place).env("STEND_LEASES", place).env("LC_ALL", "C");
    command
}

fn output(mut command: Command) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("cannot run Stend: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("a run ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_hosts_is_understood_and_only_those_that_load_have_a_target() {
        let place = tempfile::tempdir().unwrap();
        let hosts = [("a", host(place.path(), "a", "load", &["g"]).unwrap())];
        let watched = ("w", host(place.path(), "w", "observe", &["g"]).unwrap());
        write(place.path(), &[&hosts[..], &[watched]].concat(), "suite: s\n").unwrap();
        let text = std::fs::read_to_string(place.path().join("hosts.yaml")).unwrap();
        let found = stend_spec::parse::hosts(&text, "hosts.yaml").unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let on: Vec<(&str, usize)> = found.hosts.iter().map(|host| (host.name.as_str(), host.on.len())).collect();
        assert_eq!(on, [("a", 1), ("w", 0)]);
        assert!(found.executes() && found.hosts.iter().all(|host| host.groups == ["g"]));
    }
}
