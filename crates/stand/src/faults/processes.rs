//! Processes that are killed by their name, or by what they were started with. Kills the named ones, and nothing that the run itself stands on.

use crate::exports;
use crate::roots::{Roots, names, text};
use crate::users::{ancestors, is_reapable, stat_field};
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_record::EventKind;
use stend_sys::process;

type Found<T> = std::result::Result<T, Say>;

/// How long a process that was killed may take to end, and how often it is looked at.
const LETS_GO: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(100);
/// The process that starts all threads of the kernel.
//= linux, init/main.c, rest_init(): kthreadd is the second that is made
const KTHREADD: u64 = 2;

/// Processes of a name, of which every one may be killed.
pub(super) fn victims(roots: &Roots, name: &str) -> Found<Vec<u32>> {
    let own = own(roots);
    let mut victims = Vec::new();
    for pid in &named(roots, name) {
        let lower = roots.proc.join(pid.to_string());
        if own.contains(&u64::from(*pid)) {
            return Err(say!(
                "process {pid} (`{name}`) is this run itself, or its parent",
                "процесс {pid} (`{name}`) — сам этот прогон или его родительский процесс"
            ));
        }
        if u64::from(*pid) == KTHREADD || stat_field(&lower, 4) == Some(KTHREADD) {
            return Err(say!(
                "`{name}` ({pid}) is a kernel thread, which cannot be killed",
                "`{name}` ({pid}) — поток ядра, его нельзя завершить"
            ));
        }
        match process::may_kill(*pid) {
            Ok(()) => victims.push(*pid),
            // It has ended since it was listed.
            Err(error) if process::is_gone(&error) => {}
            Err(error) => {
                return Err(say!(
                    "process {pid} (`{name}`) may not be killed: {error}",
                    "процесс {pid} (`{name}`) нельзя завершить: {error}"
                ));
            }
        }
    }
    match victims.is_empty() {
        true => Err(say!("no process with the name `{name}` runs", "процесса с именем `{name}` нет")),
        false => Ok(victims),
    }
}

/// Ids of live processes with a name.
fn named(roots: &Roots, name: &str) -> Vec<u32> {
    let ids = names(&roots.proc).into_iter().filter_map(|entry| entry.parse::<u32>().ok());
    ids.filter(|pid| {
        let process = roots.proc.join(pid.to_string());
        text(process.join("comm")).as_deref() == Some(name) && !is_reapable(&process)
    })
    .collect()
}

/// This process and all that it comes from, the first of the machine included.
fn own(roots: &Roots) -> Vec<u64> {
    ancestors(roots).chain([u64::from(std::process::id()), 1]).collect()
}

/// Kills every process of a name, and waits until they are gone.
pub(crate) fn kill(roots: &Roots, name: &str, log: &mut dyn FnMut(EventKind)) -> Result<()> {
    let victims = victims(roots, name).map_err(Error::preflight)?;
    kill_all(&victims, name, &|| named(roots, name), log)
}

/// Kills the processes of a program that were started with all of these words, and waits until they are gone. That there is none is no
/// error.
pub(crate) fn end(roots: &Roots, program: &str, words: &[String], log: &mut dyn FnMut(EventKind)) -> Result<()> {
    let alive = || exports::started_with(roots, program, words);
    match alive() {
        victims if victims.is_empty() => Ok(()),
        victims => kill_all(&victims, program, &alive, log),
    }
}

fn kill_all(victims: &[u32], name: &str, alive: &dyn Fn() -> Vec<u32>, log: &mut dyn FnMut(EventKind)) -> Result<()> {
    let failed = |why: Say| Error::preflight(why);
    let listed = victims.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    for pid in victims {
        match process::kill(*pid) {
            // It may have ended by itself, or with another one.
            Err(error) if !process::is_gone(&error) => {
                return Err(failed(say!("cannot kill `{name}`: {error}", "не удалось убить `{name}`: {error}")));
            }
            Ok(()) | Err(_) => {}
        }
    }
    log(EventKind::Step { action: format!("kill -KILL {listed}") });
    let begin = Instant::now();
    while alive().iter().any(|pid| victims.contains(pid)) {
        if begin.elapsed() >= LETS_GO {
            return Err(failed(say!(
                "`{name}` was killed but does not exit: it waits in the kernel",
                "`{name}` убит, но не завершается: он ждёт в ядре"
            )));
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Tree;

    /// A process of a made-up machine.
    fn process(tree: &Tree, pid: u32, name: &str, parent: u32) {
        tree.put(&format!("proc/{pid}/comm"), format!("{name}\n"));
        let zeros = "0 ".repeat(15);
        tree.put(&format!("proc/{pid}/stat"), format!("{pid} ({name}) S {parent} {zeros}1 0 5"));
    }

    #[test]
    fn a_process_that_has_ended_since_it_was_listed_is_none() {
        let tree = Tree::new();
        // Above every id that the kernel gives.
        process(&tree, 1 << 30, "short", 1);
        assert_eq!(
            victims(&tree.roots, "short").map_err(|why| why.en),
            Err("no process with the name `short` runs".into())
        );
    }

    #[test]
    fn nothing_that_the_run_stands_on_is_killed_and_no_thread_of_the_kernel() {
        let tree = Tree::new();
        let told = |name| victims(&tree.roots, name).map_err(|why| why.en);
        tree.put("proc/self/stat", format!("90 (stend) S 70 {}1 0 5", "0 ".repeat(15)));
        for (pid, name, parent) in
            [(1, "init", 0), (60, "bash", 1), (70, "stend", 60), (2, "kthreadd", 0), (9, "nfsd", 2)]
        {
            process(&tree, pid, name, parent);
        }
        assert_eq!(told("none").unwrap_err(), "no process with the name `none` runs");
        for (pid, name) in [(1, "init"), (60, "bash"), (70, "stend")] {
            let why = format!("process {pid} (`{name}`) is this run itself, or its parent");
            assert_eq!(told(name).unwrap_err(), why);
        }
        for name in ["kthreadd", "nfsd"] {
            assert!(told(name).unwrap_err().ends_with("is a kernel thread, which cannot be killed"), "{name}");
        }
        // One of several is enough.
        process(&tree, 61, "bash", 1);
        assert!(told("bash").is_err());
    }

    #[test]
    fn a_daemon_is_known_by_what_it_was_started_with_and_not_by_a_number_in_a_file() {
        let tree = Tree::new();
        for (pid, id) in [(51, "1"), (52, "10"), (53, "1")] {
            tree.put(&format!("proc/{pid}/comm"), "ceph-osd");
            let settings = if pid == 53 { "/other.conf" } else { "/a.conf" };
            tree.put(&format!("proc/{pid}/cmdline"), format!("ceph-osd\0--conf\0{settings}\0--id\0{id}\0"));
        }
        let words = |id: &str| ["--conf", "/a.conf", "--id", id].map(String::from);
        assert_eq!(exports::started_with(&tree.roots, "ceph-osd", &words("1")), [51]);
        // The number of one that died belongs to another process by now.
        tree.put("proc/51/comm", "ceph-mon");
        assert!(exports::started_with(&tree.roots, "ceph-osd", &words("1")).is_empty());
        let mut told = 0;
        end(&tree.roots, "ceph-osd", &words("1"), &mut |_| told += 1).unwrap();
        assert_eq!(told, 0, "nothing was killed");
    }

    #[test]
    fn all_of_a_name_are_killed_and_the_others_live() {
        let own = format!("se{:x}", std::process::id());
        let sleeping = |name: &str| {
            let dir = tempfile::tempdir().unwrap();
            let program = dir.path().join(name);
            // By another process: one that is forked here meanwhile would keep the program busy.
            assert!(std::process::Command::new("cp").arg("/bin/sleep").arg(&program).status().unwrap().success());
            let child = std::process::Command::new(&program).arg("60").spawn().unwrap();
            (child, dir)
        };
        let (mut first, mut second, mut other) = (sleeping(&own), sleeping(&own), sleeping(&format!("x{own}")));
        let roots = Roots::host();
        let begin = Instant::now();
        while named(&roots, &own).len() < 2 || named(&roots, &format!("x{own}")).is_empty() {
            assert!(begin.elapsed().as_secs() < 60, "not in time");
            std::thread::sleep(TICK);
        }
        let mut told = Vec::new();
        kill(&roots, &own, &mut |event| told.push(event)).unwrap();
        // They are named as the system lists them, and process ids begin anew where they end.
        let mut ids = [first.0.id(), second.0.id()];
        ids.sort_unstable();
        let named = |action: &str| -> Option<Vec<u32>> {
            let mut pids: Vec<u32> =
                action.strip_prefix("kill -KILL ")?.split(' ').map(|pid| pid.parse().unwrap()).collect();
            pids.sort_unstable();
            Some(pids)
        };
        let is_both = |action: &str| named(action).is_some_and(|pids| pids == ids);
        assert!(matches!(&told[..], [EventKind::Step { action }] if is_both(action)), "{told:?}");
        for (child, _) in [&mut first, &mut second] {
            assert!(!child.wait().unwrap().success());
        }
        assert!(other.0.try_wait().unwrap().is_none());
        assert_eq!(
            kill(&roots, &own, &mut |_| {}).unwrap_err().message.en,
            format!("no process with the name `{own}` runs")
        );
        other.0.kill().unwrap();
        other.0.wait().unwrap();
    }
}
