//! `stend run` over a server: the order becomes a task, its runs are followed, and what they found is printed as after a run of this machine.

use super::super::frontend::{Terminal, campaign};
use super::super::gate::Junit;
use super::follow::{follow, patiently, suite};
use crate::out::{Out, print_error};
use crate::progress::{Display, DisplayThread};
use crate::remote::Remote;
use clap::ArgMatches;
use serde::Deserialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stend_api::{Task, TaskState};
use stend_base::{Code, Error, Kind, Result, Say, say};
use stend_client::escaped;
use stend_spec::gate::Gate;
use stend_spec::order::{Order, Work};

const PAUSE: Duration = Duration::from_millis(500);

/// What is held against each run when it has ended.
pub(in crate::cmd) struct Held {
    /// The gate of the order.
    pub gate: Option<Gate>,
    /// Where what it says is written.
    pub junit: Option<Junit>,
}

/// Errors: `Usage` if nothing says where to run: drives of this machine are no suggestion.
pub(in crate::cmd) fn names_a_target(arguments: &ArgMatches) -> Result<()> {
    let given = |name: &&str| arguments.get_raw(name).is_some();
    if ["on", "stand", "resume", "hosts", "vm", "order"].iter().any(given) {
        return Ok(());
    }
    Err(Error::usage(say!("no target is named", "объект не указан")).hint(say!(
        "`--on PATH`, on the machine of the server; `stend inspect` with the same server lists its drives",
        "`--on ПУТЬ` на машине сервера; её диски покажет `stend inspect` с тем же сервером"
    )))
}

/// Prints what the order would do there.
pub(in crate::cmd) fn dry_run(remote: &Remote, order: Order, out: &Out) -> Result<()> {
    let (lang, color) = (out.lang.tag(), out.colour());
    let form = if out.json { String::new() } else { format!("?format=text&lang={lang}&color={color}") };
    let target = format!("/api/v1/orders/dry-run{form}");
    let reply = remote.server.send("POST", &target, stend_session::complete(order)?)?;
    out.result(&String::from_utf8_lossy(&reply.body))
}

/// Gives the order to the server, follows its runs, and prints what they found.
///
/// Errors: those of the run, with its exit code; those of the server.
pub(in crate::cmd) fn carry_out(
    remote: &Remote,
    order: Order,
    held: &Held,
    arguments: &ArgMatches,
    out: &Out,
) -> Result<()> {
    let progress = arguments.get_one::<String>("progress").map_or("auto", String::as_str);
    let (id, is_sent) = (new_id(), Arc::new(AtomicBool::new(false)));
    stop_at_signals(remote, &id, is_sent.clone(), out)?;
    let mut task = given(remote, order, &id, &is_sent, out)?;
    let (mut followed, mut reason) = (0, None);
    loop {
        if task.state == TaskState::Queued && task.reason != reason {
            reason.clone_from(&task.reason);
            reason.iter().for_each(|reason| out.note(reason.get(out.lang)));
        }
        // Targets in turn go on with runs that were followed before.
        let current = task.current_run.as_ref().filter(|_| task.sessions > followed);
        if let Some(run) = current
            && shown(remote, run, &task, progress, out)?
        {
            followed = task.sessions;
        }
        if task.state.is_over() {
            break;
        }
        std::thread::sleep(PAUSE);
        task = patiently(|| super::document(remote, &format!("/api/v1/tasks/{id}")))?;
    }
    concluded(remote, &task, held, arguments, out)?;
    outcome(&task, remote.server.url())
}

/// A name for a task that no other one has.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    format!("cli-{:016x}", stend_base::random::mix(now ^ u64::from(std::process::id()) << 40))
}

/// What the server says of an order, as far as it is needed here.
#[derive(Deserialize)]
struct Checked {
    confirms: Vec<String>,
    builds: bool,
}

/// The task of an order under this name, which is printed and noted as sent before the server can have it. What a user confirmed on the command
/// line is sent with what the server has seen of the devices.
fn given(remote: &Remote, order: Order, id: &str, is_sent: &AtomicBool, out: &Out) -> Result<Task> {
    let mut devices = order.permission.confirm.clone();
    // A stand file that names a drive confirms it, as on this machine.
    for file in &order.stands {
        let drives = stend_spec::parse::stand(&file.text, &file.file)?.drives.into_iter().map(|drive| drive.id);
        devices.extend(drives);
    }
    devices.sort();
    devices.dedup();
    let mut is_destructive = !devices.is_empty() || order.permission.commands || !order.stands.is_empty();
    let resumes = matches!(order.work, Work::Resume { .. });
    let text = stend_session::complete(order)?;
    if resumes {
        // Only the server knows the stand of the run, which names its drives in the same way.
        let target = "/api/v1/orders/validate";
        let reply = remote.server.send("POST", target, text.clone())?;
        let Checked { confirms, builds } = super::read(remote, target, &reply.body)?;
        is_destructive |= builds;
        devices.extend(confirms.into_iter().filter(|_| builds));
        devices.sort();
        devices.dedup();
    }
    let mut query = String::new();
    if is_destructive {
        let preview = remote.server.send("POST", "/api/v1/orders/dry-run", text.clone())?;
        // Without it the server refuses the order, and says which role is missing.
        if let Some(confirmation) = preview.header("stend-confirmation") {
            query = format!("?confirmation={}", escaped(confirmation));
            query.extend(devices.iter().map(|device| format!("&device={}", escaped(device))));
        }
    }
    is_sent.store(true, Ordering::SeqCst);
    let url = remote.server.url();
    out.note(say!("task {id} on {url}", "задача {id} на {url}").get(out.lang));
    let target = format!("/api/v1/tasks/{id}{query}");
    // The same order under the same id changes nothing, so that it can be sent again.
    let reply = patiently(|| remote.server.send("PUT", &target, text.clone()))?;
    super::read(remote, &target, &reply.body)
}

/// Shows a run as it goes on; `false`: its file is not there yet, or it does not go on yet.
fn shown(remote: &Remote, run: &str, task: &Task, progress: &str, out: &Out) -> Result<bool> {
    let display = DisplayThread::start(Display::new(progress, out), run, &suite(remote, run), &task.on.join(", "))?;
    let mut goes_on = false;
    let followed = follow(remote, run, &mut |update| {
        goes_on = true;
        display.show(update);
    });
    display.end();
    match followed {
        Ok(_) => Ok(goes_on),
        // It is being made. What is wrong with one that is over comes out when it is read.
        Err(error) if error.code == Code::RunUnknown || error.kind == Kind::RunFile => Ok(false),
        Err(error) => Err(error),
    }
}

/// The first signal asks the task to end, the second at once; behind that the task is left alone. Before the order is sent each ends this command.
fn stop_at_signals(remote: &Remote, id: &str, is_sent: Arc<AtomicBool>, out: &Out) -> Result<()> {
    let failed =
        |e: std::io::Error| Error::bug(say!("cannot watch signals: {e}", "не удаётся следить за сигналами: {e}"));
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let (server, target, lang, json) = (remote.server.clone(), format!("/api/v1/tasks/{id}/stop"), out.lang, out.json);
    let watch = move || {
        // Signals so far, and whether the server still has to hear of the last.
        let (mut signalled, mut is_new) = (Vec::new(), false);
        loop {
            // The server looks at drives before it has the task: until then it is asked again and again.
            let came = if is_new {
                std::thread::sleep(PAUSE);
                signals.pending()
            } else {
                signals.wait()
            };
            for signal in came {
                if !is_sent.load(Ordering::SeqCst) {
                    std::process::exit(128 + signal);
                }
                // As with a run of this machine, a lost terminal stops nothing.
                if signal != SIGHUP {
                    signalled.push(signal);
                    is_new = true;
                }
            }
            let now = match signalled.len() {
                _ if !is_new => continue,
                1 => "",
                2 => "?now=true",
                _ => std::process::exit(exit_code(&signalled)),
            };
            match server.send("POST", &format!("{target}{now}"), String::new()) {
                Err(error) if error.code == Code::TaskUnknown => continue,
                Ok(_) => is_new = false,
                // It has ended by itself, and its results come.
                Err(error) if error.code == Code::TaskConflict => is_new = false,
                Err(error) => {
                    print_error(&error, lang, json);
                    std::process::exit(exit_code(&signalled));
                }
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(watch).map(drop).map_err(failed)
}

/// That of a command which the last of these signals ends.
fn exit_code(signals: &[i32]) -> i32 {
    let kind = if signals.last() == Some(&SIGTERM) { Kind::Terminated } else { Kind::Interrupted };
    kind.exit_code().into()
}

/// Prints the findings of every run that left any, and of several those against the first.
fn concluded(remote: &Remote, task: &Task, held: &Held, arguments: &ArgMatches, out: &Out) -> Result<()> {
    let terminal = Terminal::new(out, false, "none").holding(held.gate.clone(), None);
    let mut found = Vec::new();
    for name in &task.runs {
        let run = match patiently(|| remote.read(name)) {
            // One that was refused before it began has no file.
            Err(error) if error.code == Code::RunUnknown => continue,
            run => run?,
        };
        let findings = stend_analyse::analyse(&run)?;
        let gate = terminal.held_against(&run, &findings);
        let is_printed = match (&held.junit, &gate) {
            (Some(junit), Some(gate)) => junit.write(gate, out)?,
            _ => false,
        };
        if !is_printed && out.json {
            out.result(&stend_report::gated_json(&findings, gate.as_ref()))?;
        } else if !is_printed {
            let url = remote.server.url();
            let places = say!(
                "run       {name} on {url}\nreport    stend report {name} -o report.html --server {url}",
                "прогон        {name} на {url}\nотчёт         stend report {name} -o report.html --server {url}"
            );
            out.note(places.get(out.lang));
            // Why it ended early is the error of this command.
            super::super::show::print(&run, &findings.clone().without_reason(), gate.as_ref(), Some(name), out)?;
        }
        found.push((run, findings));
    }
    match found.len() < 2 || arguments.contains_id("junit") {
        true => Ok(()),
        false => out.result(&campaign(&found, &task.runs, out)),
    }
}

/// How the task ended, as this command's own end.
fn outcome(task: &Task, url: &str) -> Result<()> {
    let id = &task.id;
    let reason = task.reason.clone();
    match (task.exit_code, task.code) {
        (Some(0), _) => Ok(()),
        (Some(_), Some(code)) => Err(failed(task, code, reason, url)),
        // Its process could not begin.
        (None, Some(code)) if task.state == TaskState::Failed => Err(failed(task, code, reason, url)),
        _ => {
            let Say { en, ru } = reason.unwrap_or_else(|| say!("it left no result", "результата нет"));
            Err(Error::host_lost(say!("the task {id} on {url} is lost: {en}", "задача {id} на {url} потеряна: {ru}")))
        }
    }
}

fn failed(task: &Task, code: Code, reason: Option<Say>, url: &str) -> Box<Error> {
    let id = &task.id;
    let message = reason.unwrap_or_else(|| say!("the task {id} failed", "задача {id} не выполнена"));
    let error = Error::new(code, message);
    match task.state {
        TaskState::Failed => {
            error.hint(say!("what it printed is on {url}/tasks/{id}", "что она напечатала, видно на {url}/tasks/{id}"))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_could_not_begin_has_failed_for_its_reason_and_one_without_a_word_is_lost() {
        let task = |state, code: Option<Code>| Task {
            id: "a".into(),
            change: 1,
            state,
            reason: code.map(|_| say!("no room", "нет места")),
            code,
            exit_code: None,
            work: String::new(),
            on: Vec::new(),
            label: None,
            loads: Vec::new(),
            runs: Vec::new(),
            current_run: None,
            sessions: 0,
            order_sha256: String::new(),
            created_unix: 0,
            started_unix: None,
            ended_unix: None,
        };
        let code = |task: Task| outcome(&task, "http://x").unwrap_err().code;
        assert_eq!(code(task(TaskState::Failed, Some(Code::Preflight))), Code::Preflight);
        assert_eq!(code(task(TaskState::Lost, Some(Code::HostLost))), Code::HostLost);
        assert_eq!(code(task(TaskState::Lost, None)), Code::HostLost);
    }
}
