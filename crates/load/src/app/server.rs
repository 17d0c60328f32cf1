//! Servers of instances: when one is ready, and that none goes on when it was stopped, nor anything that it started.

use super::context::{With, failed, last_words, not_started};
use super::group::Group;
use super::processes;
use crate::child::{Ask, Started};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, say};
use stend_record::EventKind;
use stend_sys::process;

/// Longest that a server may take to start: one that was killed reads its log first.
const START_MAX: Duration = Duration::from_secs(60);
/// Longest that a server may take to write what it has in memory before it is killed. So many have as many times that together:
/// they write side by side.
const STOP_MAX: Duration = Duration::from_secs(20);
/// Longest that servers of a run that the user stopped may take when they are asked to end at once, before they are killed.
const AT_ONCE_MAX: Duration = Duration::from_secs(2);
/// Longest that processes which were killed are waited for; those that wait for a dead device stay.
const KILL_MAX: Duration = Duration::from_secs(1);
/// How often a server that starts or stops is looked at.
const TICK: Duration = Duration::from_millis(20);
/// First port that is tried; below are those of services.
const FIRST_PORT: u16 = 20_000;

/// An instance whose server runs.
#[derive(Debug)]
pub(super) struct Serving {
    server: Started,
    /// Port of the loopback, for nginx.
    pub port: u16,
}

impl Serving {
    /// A server that was started and is not ready yet.
    pub fn new(server: Started, port: u16) -> Serving {
        Serving { server, port }
    }

    /// Waits until the server takes connections.
    pub fn get_ready(&mut self, with: &mut With<'_>) -> Result<()> {
        let begin = Instant::now();
        loop {
            // Looked at first: one that said that it is ready may have ended since.
            let ended = self.server.has_ended().unwrap_or(true);
            if !ended && self.is_ready(with.programs.ready())? {
                return Ok(());
            }
            if (with.stopped)() {
                return Err(crate::threads::stopped_before_start());
            }
            if ended || begin.elapsed() > START_MAX {
                let words = self.server.words().unwrap_or_default();
                let last = words.lines().last().unwrap_or_default().to_string();
                (with.log)(EventKind::Note { text: format!("a server that did not start said:\n{words}") });
                return Err(failed("server", &last));
            }
            std::thread::sleep(TICK);
        }
    }

    /// Whether it printed that it is; one that prints nothing is ready when it, and no other program, listens on its port.
    fn is_ready(&self, word: &str) -> Result<bool> {
        if word.is_empty() {
            return Ok(processes::listen_on(&processes::led_by(self.server.id()), self.port));
        }
        Ok(self.server.words().map_err(|error| not_started("server", &error))?.contains(word))
    }
}

/// Stops servers: all are asked before the first is waited for. When the user stopped the run they end at once, for their data are
/// removed. Then everything that is left of them, and in the groups of their instances, is killed. Gives the last words of those that
/// had ended before.
pub(super) fn stop(mut serving: Vec<Serving>, groups: &[&Group], with: &mut With<'_>) -> Vec<Option<String>> {
    let gone: Vec<bool> = serving.iter_mut().map(|one| one.server.has_ended().unwrap_or(false)).collect();
    let limit = STOP_MAX.saturating_mul(serving.len() as u32);
    let at_once = with.programs.at_once();
    let mut user_stopped = (with.stopped)();
    let mut end = Instant::now() + if user_stopped { AT_ONCE_MAX } else { limit };
    let mut runs = ask(&mut serving, if user_stopped { at_once } else { Ask::Terminate });
    while runs > 0 && Instant::now() < end {
        if !user_stopped && (with.stopped)() {
            (user_stopped, end) = (true, Instant::now() + AT_ONCE_MAX);
            ask(&mut serving, at_once);
        }
        std::thread::sleep(TICK);
        runs = serving.iter_mut().filter_map(|one| one.server.has_ended().ok()).filter(|ended| !ended).count();
    }
    if runs > 0 {
        ask(&mut serving, Ask::Kill);
        if !user_stopped {
            let seconds = limit.as_secs();
            let text = format!("killed {runs} servers that took more than {seconds} s to stop");
            (with.log)(EventKind::Note { text });
        }
    }
    let last = |(one, gone): (Serving, bool)| {
        let ended = one.server.end(Duration::ZERO).ok()?;
        gone.then(|| {
            let status = ended.status.map_or("?".to_string(), |status| status.to_string());
            format!("the server ended ({status}): {}", last_words(&ended))
        })
    };
    let files: Vec<(u64, u64)> = serving.iter().filter_map(|one| one.server.words_file().ok()).collect();
    let words = serving.into_iter().zip(gone).map(last).collect();
    kill_what_is_left(groups, &files, user_stopped, with);
    words
}

/// How many of them still ran.
fn ask(serving: &mut [Serving], ask: Ask) -> usize {
    let mut runs = 0;
    for one in serving {
        if !one.server.has_ended().unwrap_or(true) {
            runs += 1;
            // What cannot be asked is killed later.
            let _ = one.server.ask(ask);
        }
    }
    runs
}

/// Kills processes of instances that have no server any more. Those of PostgreSQL have sessions of their own, and go on writing
/// for a while when it was killed: the next trial would have them beside its load. `files` are where servers printed.
fn kill_what_is_left(groups: &[&Group], files: &[(u64, u64)], user_stopped: bool, with: &mut With<'_>) {
    let (begin, mut killed) = (Instant::now(), 0);
    loop {
        let in_groups = groups.iter().flat_map(|group| group.processes());
        let left: BTreeSet<u32> = in_groups.chain(processes::speaking_to(files)).collect();
        let left: Vec<u32> = left.into_iter().filter(|pid| processes::lives(*pid)).collect();
        if left.is_empty() {
            break;
        }
        if begin.elapsed() > KILL_MAX {
            let text = format!("processes of instances still run although they were killed: {left:?}");
            (with.log)(EventKind::Note { text });
            break;
        }
        killed = killed.max(left.len());
        for pid in left {
            // It may end at this moment.
            let _ = process::kill(pid);
        }
        std::thread::sleep(TICK);
    }
    if killed > 0 && !user_stopped {
        let text = format!("killed {killed} processes that still ran after their servers had stopped");
        (with.log)(EventKind::Note { text });
    }
}

/// A port of the loopback that no program uses now and that is not among `given`, to which it is added.
pub(super) fn free_port(given: &mut Vec<u16>) -> Result<u16> {
    let taken = processes::ports_taken();
    let free = |port: &u16| !taken.contains(port) && !given.contains(port);
    let port = (FIRST_PORT..u16::MAX).find(free).ok_or_else(|| {
        Error::preflight(say!("no port of the loopback is free", "на локальном интерфейсе нет свободного порта"))
    })?;
    given.push(port);
    Ok(port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::{self, Order};

    #[test]
    fn a_port_on_which_another_program_listens_makes_no_server_ready() {
        let foreign = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let arguments = ["-c", "sleep 1000"].map(String::from).to_vec();
        let server = child::start(Order { program: "sh", arguments, ..Order::default() }).unwrap();
        let serving = Serving::new(server, foreign.local_addr().unwrap().port());
        let ready = serving.is_ready("").unwrap();
        serving.server.end(Duration::ZERO).unwrap();
        assert!(!ready);
    }

    #[test]
    fn a_port_is_given_once_and_never_while_it_is_used() {
        let mut given = vec![FIRST_PORT];
        let first = free_port(&mut given).unwrap();
        assert!(first > FIRST_PORT && given.contains(&first));
        assert_ne!(free_port(&mut given).unwrap(), first);
        // Where it cannot be taken, somebody else has it.
        let used = std::net::TcpListener::bind(("127.0.0.1", first));
        assert_ne!(free_port(&mut vec![FIRST_PORT]).unwrap(), first);
        drop(used);
    }
}
