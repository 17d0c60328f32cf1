//! Reaches the load hosts of an order side by side. Must not decide which they are, or what they do.

use crate::frontend::Frontend;
use crate::worker_host::{WorkerHost, named_twice};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use stend_base::{Error, Result, Say, say};
use stend_wire::{Host, StartedWorker, WorkerCommand};

/// Hosts that are reached at a time. Each logs in up to three times, one after the other; where ten logins wait, an `sshd` begins to turn
/// others away (`MaxStartups 10:30:100`), and all may go through one jump host.
const AT_A_TIME: usize = 8;
/// Reasons that the error about several hosts has (by eye); it names all of them.
const REASONS_MAX: usize = 4;

/// A load host that is another machine.
pub(crate) struct FarHost {
    /// As the user calls it.
    pub name: String,
    /// Where its worker runs.
    pub place: WorkerHost,
}

/// A load host with its worker.
pub(crate) struct Reached {
    /// As the user calls it; empty: the machine that is measured without being named in a file of hosts or by `ssh`.
    pub name: String,
    /// Its worker.
    pub host: Host,
    /// Its targets, if any are named.
    pub targets: Vec<String>,
}

/// All of them in their order, or `place` where there is none. They end with the calling thread, which starts their commands.
///
/// Errors: what keeps hosts from being reached, with the names of all of those; `Usage` if two are one machine.
pub(crate) fn connect(
    far: Vec<FarHost>,
    targets: Vec<Vec<String>>,
    place: &WorkerHost,
    frontend: &Frontend,
) -> Result<Vec<Reached>> {
    if far.is_empty() {
        return Ok(vec![Reached { name: String::new(), host: place.reach(frontend)?, targets: Vec::new() }]);
    }
    let hosts = all_or_why(&far, side_by_side(&far, frontend))?;
    let mut reached: Vec<Reached> = Vec::new();
    for ((FarHost { name, .. }, host), targets) in far.into_iter().zip(hosts).zip(targets) {
        if let Some(other) = reached.iter().find(|other| other.host.is_same_machine(&host)) {
            return Err(named_twice(&other.name, &name));
        }
        reached.push(Reached { name, host, targets });
    }
    Ok(reached)
}

/// What a thread that reaches hosts wants of the one that waits for all of them.
enum Wish {
    /// The user is to know this.
    Tell(Say),
    /// This is to be started.
    Start(Box<WorkerCommand>, Sender<Result<StartedWorker>>),
}

/// What became of each host, in their order.
fn side_by_side(far: &[FarHost], frontend: &Frontend) -> Vec<Result<Host>> {
    let next = AtomicUsize::new(0);
    let (wishes, wished) = channel();
    let reach_some = |wishes: &Sender<Wish>| {
        let mine = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < far.len()));
        let reach_one = |at: usize| {
            let reached = reach(&far[at].place, wishes);
            // Several rounds without answers take most of an hour, so each host is reported when it is given up. After a single round the
            // error has them all.
            if let (Err(error), true) = (&reached, far.len() > AT_A_TIME) {
                drop(wishes.send(Wish::Tell(with_name(&far[at].name, &error.message))));
            }
            (at, reached)
        };
        mine.map(reach_one).collect::<Vec<_>>()
    };
    let mut all: Vec<Result<Host>> = far.iter().map(|_| Err(died())).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_A_TIME.min(far.len()))
            .map(|_| {
                let wishes = wishes.clone();
                scope.spawn(move || reach_some(&wishes))
            })
            .collect();
        drop(wishes);
        // Until the last of them wants nothing more.
        for wish in wished {
            match wish {
                Wish::Tell(text) => frontend.note(text),
                Wish::Start(command, to) => drop(to.send(command.start())),
            }
        }
        for (at, host) in threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()) {
            all[at] = host;
        }
    });
    all
}

fn reach(place: &WorkerHost, wishes: &Sender<Wish>) -> Result<Host> {
    let mut start = |command| {
        let (to, started) = channel();
        wishes.send(Wish::Start(Box::new(command), to)).map_err(|_| died())?;
        started.recv().map_err(|_| died())?
    };
    place.reach_by(&mut |text| drop(wishes.send(Wish::Tell(text))), &mut start)
}

/// A thread that panicked has printed that on the standard error.
fn died() -> Box<Error> {
    Error::bug(say!("reaching this host was interrupted", "подключение к этой машине прервалось"))
}

/// All hosts, or why those that are missing were not reached: the first of them decides how the run ends.
fn all_or_why(far: &[FarHost], all: Vec<Result<Host>>) -> Result<Vec<Host>> {
    let mut hosts = Vec::new();
    let mut missing = Vec::new();
    for (FarHost { name, .. }, host) in far.iter().zip(all) {
        match host {
            Ok(host) => hosts.push(host),
            Err(error) => missing.push((name.as_str(), error)),
        }
    }
    match missing.len() {
        0 => Ok(hosts),
        1 => {
            let (name, mut error) = missing.remove(0);
            if far.len() > 1 {
                error.message = with_name(name, &error.message);
            }
            Err(error)
        }
        _ => Err(several(far.len(), &missing)),
    }
}

/// What is said of a host, with its name before it unless it has that.
fn with_name(name: &str, Say { en, ru }: &Say) -> Say {
    let before = |text: &str| match text.contains(&format!("`{name}`")) {
        true => text.to_string(),
        false => format!("`{name}`: {text}"),
    };
    Say { en: before(en), ru: before(ru) }
}

fn several(all: usize, missing: &[(&str, Box<Error>)]) -> Box<Error> {
    let count = missing.len();
    let names = missing.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let reasons = |of: fn(&Say) -> &str| {
        let reasons = missing.iter().take(REASONS_MAX);
        let reasons = reasons.map(|(name, error)| of(&with_name(name, &error.message)).to_string());
        let more = (count > REASONS_MAX).then(|| "…".to_string());
        reasons.chain(more).collect::<Vec<_>>().join("; ")
    };
    let (why, why_ru) = (reasons(|say| say.en.as_str()), reasons(|say| say.ru.as_str()));
    let first = &missing[0].1;
    let error = Error::new(
        first.code,
        say!(
            "{count} of {all} load hosts cannot be used ({names}): {why}",
            "не отвечают или непригодны нагружающие машины: {count} из {all} ({names}): {why_ru}"
        ),
    );
    first.hint.iter().fold(error, |error, hint| error.hint(hint.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::Progress;
    use stend_base::Code;
    use stend_spec::hosts::{HostRole, NamedHost, Via};

    /// A host that is reached by this script of a shell.
    fn host(name: &str, script: String) -> FarHost {
        let via = Via::Exec { program: "sh".into(), arguments: vec!["-c".into(), script] };
        let (groups, on) = (Vec::new(), Vec::new());
        let named = NamedHost { name: name.into(), via, privilege: Vec::new(), role: HostRole::Load, groups, on };
        FarHost { name: name.into(), place: WorkerHost::of(&named).unwrap() }
    }

    fn refused(far: Vec<FarHost>) -> Box<Error> {
        refused_with_notes(far).0
    }

    /// The error, and what was said before.
    fn refused_with_notes(far: Vec<FarHost>) -> (Box<Error>, Vec<Say>) {
        let notes = std::cell::RefCell::new(Vec::new());
        let hears = |progress: Progress<'_>| match progress {
            Progress::Note(text) => notes.borrow_mut().push(text),
            _ => panic!("only notes"),
        };
        let frontend = Frontend { hears: &hears, may_report: &|_| Ok(()), ready: None, command_line: Vec::new() };
        let targets = vec![Vec::new(); far.len()];
        let error = connect(far, targets, &WorkerHost::Local, &frontend).err().expect("refused");
        (error, notes.take())
    }

    #[test]
    fn hosts_are_reached_at_the_same_time_and_all_that_cannot_be_are_named_in_their_order() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().display();
        // Each waits until the other is being reached, too.
        let waits = |own: &str, other: &str| {
            format!("touch {at}/{own}; while [ ! -e {at}/{other} ]; do sleep 0.01; done; echo why-{own} >&2; exit 1")
        };
        let error = refused(vec![host("a", waits("a", "b")), host("b", waits("b", "a"))]);
        assert_eq!(error.code, Code::HostUnreachable);
        let Say { en, ru } = &error.message;
        assert!(en.starts_with("2 of 2 load hosts cannot be used (a, b): cannot reach `a`: why-a; "), "{en}");
        assert!(en.ends_with("; cannot reach `b`: why-b"), "{en}");
        assert!(ru.contains("2 из 2 (a, b): `a` недоступна: why-a; "), "{ru}");
        assert!(error.hint.is_some_and(|hint| hint.en.contains("sh -c")));
    }

    #[test]
    fn the_name_of_a_host_is_before_what_does_not_have_it() {
        let named = with_name("a", &say!("cannot start `kubectl`: gone", "не удаётся запустить `kubectl`: gone"));
        assert_eq!(named.en, "`a`: cannot start `kubectl`: gone");
        assert_eq!(with_name("a", &named), named);
        let failed = |name: &str, text: &str| -> (FarHost, Result<Host>) {
            (host(name, String::new()), Err(Error::host_lost(Say::same(text))))
        };
        let (far, all): (Vec<FarHost>, Vec<Result<Host>>) = [failed("a", "gone")].into_iter().unzip();
        assert_eq!(all_or_why(&far, all).err().expect("refused").message.en, "gone", "the only one");
        let (far, all): (Vec<FarHost>, Vec<Result<Host>>) =
            [failed("a", "gone"), failed("b", "`b` is paused")].into_iter().unzip();
        let error = all_or_why(&far, all).err().expect("refused");
        assert!(error.message.en.ends_with("(a, b): `a`: gone; `b` is paused"), "{error}");
    }

    #[test]
    fn one_host_that_cannot_be_reached_has_its_own_error_and_many_are_named_with_the_first_reasons() {
        let fails = |name: &str| host(name, format!("echo why-{name} >&2; exit 1"));
        let error = refused(vec![fails("a")]);
        assert_eq!(error.message.en, "cannot reach `a`: why-a");
        let names: Vec<String> = (0..12).map(|number| format!("h{number}")).collect();
        let (error, notes) = refused_with_notes(names.iter().map(|name| fails(name)).collect());
        let Say { en, .. } = &error.message;
        let mut told: Vec<&str> = notes.iter().map(|note| note.en.as_str()).collect();
        let mut each: Vec<String> = names.iter().map(|name| format!("cannot reach `{name}`: why-{name}")).collect();
        told.sort_unstable();
        each.sort_unstable();
        assert_eq!(told, each);
        assert!(en.contains(&format!("12 of 12 load hosts cannot be used ({}): ", names.join(", "))), "{en}");
        assert!(en.ends_with("why-h2; cannot reach `h3`: why-h3; …"), "{en}");
    }
}
