//! Where machines run: whether the host has such a place, and whether a machine that has started is there, by what the kernel says.
//= Linux, proc(5): `Cpus_allowed_list` of a thread

use crate::group::Group;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};
use stend_spec::vm::{Machines, Place};

/// Whether this machine has the CPUs and nodes that the file names.
///
/// Errors: `Preflight` with one that it has not.
pub(crate) fn must_exist(machines: &Machines) -> Result<()> {
    exist(machines, Path::new("/sys/devices/system"))
}

fn exist(machines: &Machines, system: &Path) -> Result<()> {
    let online = |what: &str| fs::read_to_string(system.join(what).join("online")).map(|text| numbers(&text));
    // What the kernel does not tell libvirt has to refuse.
    let (Ok(cpus), Ok(nodes)) = (online("cpu"), online("node")) else { return Ok(()) };
    let all = || machines.placement.iter();
    if let Some(cpu) = all().flat_map(|place| &place.cpus).find(|cpu| !cpus.contains(cpu)) {
        return Err(Error::preflight(say!(
            "`placement` names CPU {cpu}, which this machine does not have online",
            "`placement` называет CPU {cpu}, которого на этой машине нет или он отключён"
        )));
    }
    match all().filter_map(|place| place.memory_node).find(|node| !nodes.contains(node)) {
        None => Ok(()),
        Some(node) => Err(Error::preflight(say!(
            "`placement` names NUMA node {node}, which this machine does not have",
            "`placement` называет узел NUMA {node}, которого на этой машине нет"
        ))),
    }
}

/// Whether every thread of a machine that runs may run only where its file says.
///
/// Errors: `Preflight` with the thread that may run elsewhere, or where the machine has no process here.
pub(crate) fn must_be_kept(group: &Group, number: u32) -> Result<()> {
    let Some(place) = group.machines.place(number) else { return Ok(()) };
    kept(place, &group.name_of(number), &group.uuid(number), Path::new("/proc"))
}

fn kept(place: &Place, name: &str, uuid: &str, processes: &Path) -> Result<()> {
    let Some(process) = process_of(uuid, processes) else {
        return Err(Error::preflight(say!(
            "the process of `{name}` is not found, so where it runs is not known",
            "процесс `{name}` не найден, и где она выполняется, неизвестно"
        )));
    };
    let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    for thread in threads {
        let Ok(status) = fs::read_to_string(thread.path().join("status")) else { continue };
        let id = thread.file_name().to_string_lossy().into_owned();
        let list = |key: &str| status.lines().find_map(|line| Some(line.strip_prefix(key)?.trim().to_string()));
        let beyond = |key: &str, allowed: &[u32]| {
            list(key).filter(|found| !allowed.is_empty() && !numbers(found).iter().all(|one| allowed.contains(one)))
        };
        if let Some(found) = beyond("Cpus_allowed_list:", &place.cpus) {
            return Err(Error::preflight(say!(
                "`{name}` is not where `placement` says: its thread {id} may run on the CPUs {found}",
                "`{name}` не там, где указано в `placement`: её поток {id} может выполняться на CPU {found}"
            )));
        }
    }
    Ok(())
}

/// The process of the domain.
pub(crate) fn process_of(uuid: &str, processes: &Path) -> Option<PathBuf> {
    processes_of(uuid, processes).pop()
}

/// Those that have its UUID among their words: one, while it migrates two.
pub(crate) fn processes_of(uuid: &str, processes: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(processes).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let words = fs::read(path.join("cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0).skip_while(|word| *word != b"-uuid").skip(1);
        words.next() == Some(uuid.as_bytes())
    };
    all.filter(is_it).collect()
}

/// Numbers of a list of the kernel: `0-3,8`. What is none is left out.
fn numbers(list: &str) -> BTreeSet<u32> {
    let part = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(part).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machines(placement: &str) -> Machines {
        let text =
            format!("machines: web\ncount: 2\ndisks: [{{size: 1MiB, directory: /d}}]\nplacement: [{placement}]\n");
        stend_spec::parse::machines(&text, "m").unwrap()
    }

    #[test]
    fn cpus_and_nodes_that_are_not_there_are_refused() {
        let place = tempfile::tempdir().unwrap();
        for (what, online) in [("cpu", "0-3,8\n"), ("node", "0\n")] {
            fs::create_dir(place.path().join(what)).unwrap();
            fs::write(place.path().join(what).join("online"), online).unwrap();
        }
        let told = |text: &str| exist(&machines(text), place.path()).err().map(|error| error.message.en.clone());
        assert_eq!(told("{cpus: [0, 3, 8], memory_node: 0}"), None);
        assert!(told("{cpus: [0]}, {cpus: [3, 4]}").unwrap().contains("names CPU 4"));
        assert!(told("{memory_node: 1}").unwrap().contains("names NUMA node 1"));
    }

    #[test]
    fn a_thread_that_may_run_elsewhere_is_found() {
        let place = tempfile::tempdir().unwrap();
        let thread = |id: u32, cpus: &str| {
            let path = place.path().join("7/task").join(id.to_string());
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("status"), format!("Name:\tx\nCpus_allowed_list:\t{cpus}\n")).unwrap();
        };
        let asked = machines("{cpus: [2, 3]}");
        let kept = || kept(asked.place(1).unwrap(), "web-1", "U-1", place.path());
        assert!(kept().unwrap_err().message.en.contains("is not found"));
        thread(7, "2-3");
        thread(8, "3");
        fs::write(place.path().join("7/cmdline"), b"qemu\0-uuid\0U-1\0").unwrap();
        assert!(kept().is_ok());
        thread(9, "0-3");
        assert!(kept().unwrap_err().message.en.contains("its thread 9 may run on the CPUs 0-3"));
    }
}
