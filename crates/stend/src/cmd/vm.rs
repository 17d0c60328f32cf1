//! `stend vm`: virtual machines of libvirt.

use super::frontend::Terminal;
use super::required;
use super::signals::watch_signals;
use crate::out::Out;
use clap::ArgMatches;
use serde_json::{Value, json};
use stend_base::format::duration;
use stend_base::{Error, Lang, Nanos, Result, Say, say};
use stend_session::Progress;
use stend_spec::vm::Accelerator;
use stend_vm::{Group, Started, State, Status, Step};

/// What `stend vm` is asked for.
pub fn vm(arguments: &ArgMatches, out: &Out) -> Result<()> {
    match arguments.subcommand() {
        Some(("plan", arguments)) => plan(required(arguments, "FILE"), out),
        Some(("up", arguments)) => up(required(arguments, "FILE"), out),
        Some(("status", arguments)) => status(arguments.get_one::<String>("NAME").map(String::as_str), out),
        Some(("console", arguments)) => console(required(arguments, "MACHINE"), out),
        Some(("down", arguments)) => down(required(arguments, "NAME"), out),
        Some(("connect", arguments)) => connect(required(arguments, "MACHINE")),
        _ => Err(Error::usage(say!("no command given", "команда не указана"))),
    }
}

fn plan(file: &str, out: &Out) -> Result<()> {
    let tell = |progress: Progress<'_>| {
        if let Progress::Note(text) = progress {
            out.note(text.get(out.lang));
        }
    };
    let (machines, how, steps) = stend_session::vms::plan(file, &tell)?;
    let how = how.name();
    if out.json {
        let step = |step: &Step| json!({"does": step.does.get(out.lang), "undone": step.undone.as_ref().map(|undone| undone.get(out.lang)), "xml": step.xml});
        let steps: Vec<Value> = steps.iter().map(step).collect();
        let document = json!({"machines": machines.name, "count": machines.count, "accelerator": how, "steps": steps});
        return out.result(&document.to_string());
    }
    let (name, count) = (&machines.name, machines.count);
    let head = say!(
        "virtual machines `{name}`: {count}, executed by {how}",
        "виртуальные машины `{name}`: {count}, выполняет {how}"
    );
    let mut lines = vec![head.get(out.lang).to_string()];
    for (number, step) in (1..).zip(&steps) {
        lines.push(format!("{number}. {}", step.does.get(out.lang)));
        if let Some(Say { en, ru }) = &step.undone {
            lines.push(format!("   {}", say!("undone by: {en}", "отмена: {ru}").get(out.lang)));
        }
    }
    // The other domains differ by numbers and names alone.
    if let Some(xml) = steps.iter().find_map(|step| step.xml.as_deref()) {
        let told = say!("The first domain (with --json: all of them):", "Первый домен (с --json — все):");
        lines.extend([String::new(), told.get(out.lang).to_string(), xml.trim_end().to_string()]);
    }
    out.result(&lines.join("\n"))
}

fn up(file: &str, out: &Out) -> Result<()> {
    let Started { group, took, how, without_kvm } = Terminal::new(out, false, "none")
        .session(|control, frontend| control.hold(|stopped| stend_session::vms::up(file, stopped, frontend.hears)))?;
    let (name, count, ns) = (&group.machines.name, group.machines.count, took.as_nanos() as u64);
    if let Some(Say { en, ru }) = without_kvm {
        out.note(
            say!(
                "libvirt offers KVM, but a guest does not start with it ({en}): they are emulated, ten times slower, and latencies describe the emulator",
                "libvirt предлагает KVM, но гость с ним не запускается ({ru}): машины эмулируются, в десять раз медленнее, и задержки описывают эмулятор"
            )
            .get(out.lang),
        );
    }
    let how = how.name();
    if out.json {
        let machines: Vec<Value> = (1..=count)
            .map(|number| json!({"machine": group.name_of(number), "serials": group.serials(number)}))
            .collect();
        return out.result(
            &json!({"machines": name, "up": true, "accelerator": how, "ready_ns": ns, "each": machines}).to_string(),
        );
    }
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| duration(Nanos(ns), lang));
    let told = say!(
        "virtual machines `{name}` are up after {en} ({count}), executed by {how}; `stend run SUITE --vm {name}` measures in them, `stend vm down {name}` removes them",
        "виртуальные машины `{name}` запущены за {ru} ({count}), выполняет {how}; `stend run НАБОР --vm {name}` выполнит в них прогон, `stend vm down {name}` уберёт их"
    );
    out.result(told.get(out.lang))
}

fn status(name: Option<&str>, out: &Out) -> Result<()> {
    let place = stend_vm::state_directory()?;
    let (all, mut failures) = match name {
        Some(name) => (vec![stend_vm::status(name, &place)?], Vec::new()),
        None => stend_vm::all(&place),
    };
    if all.is_empty() && !failures.is_empty() {
        return Err(failures.remove(0));
    }
    failures.iter().for_each(|error| out.error(error));
    if out.json {
        return out.result(&Value::from(all.iter().map(shown).collect::<Vec<_>>()).to_string());
    }
    if all.is_empty() {
        return out.result(say!("there are no virtual machines", "виртуальных машин нет").get(out.lang));
    }
    let mut lines = Vec::new();
    for (how, machine) in all.iter().flat_map(|of| of.machines.iter().map(|machine| (of.how, machine))) {
        let how = how.map(|how| format!("{}  ", how.name())).unwrap_or_default();
        let state = machine.state.shown();
        let used = match (machine.in_use, machine.changed) {
            (true, _) => say!(", a run is using it", ", её использует прогон"),
            (false, true) => say!(
                ", a killed run has left changes, which the next run undoes",
                ", остались изменения убитого прогона, их отменит следующий"
            ),
            (false, false) => Say::same(""),
        };
        let (disks, state, used) = (machine.disks.join(" "), state.get(out.lang), used.get(out.lang));
        let away = machine.away.as_ref().map_or(Say::same(""), |uri| say!(", at `{uri}`", ", в `{uri}`"));
        let away = away.get(out.lang);
        lines.push(format!("{}  {state}{away}{used}  {how}{disks}", machine.name));
    }
    out.result(&lines.join("\n"))
}

fn shown(status: &Status) -> Value {
    let machines: Vec<Value> = status
        .machines
        .iter()
        .map(|machine| {
            let state = match &machine.state {
                State::Missing => "missing",
                State::Is(state) => state,
            };
            json!({"machine": machine.name, "state": state, "away": machine.away, "in_use": machine.in_use, "changed": machine.changed, "disks": machine.disks, "serials": machine.serials})
        })
        .collect();
    json!({"machines": status.name, "accelerator": status.how.map(Accelerator::name), "each": machines})
}

fn console(machine: &str, out: &Out) -> Result<()> {
    let (group, number) = Group::find_machine(machine, &stend_vm::state_directory()?)?;
    match group.console(number) {
        text if out.json => out.result(&json!({"machine": machine, "console": text}).to_string()),
        text if text.is_empty() => out.result(say!("nothing is on its console", "её консоль пуста").get(out.lang)),
        text => out.result(&text),
    }
}

fn down(name: &str, out: &Out) -> Result<()> {
    // A signal must not leave half of it: what is there is removed, and the next call would do the rest.
    let group = watch_signals()?.hold(|_| stend_vm::down(name, &stend_vm::state_directory()?))?;
    let count = group.machines.count;
    match out.json {
        true => out.result(&json!({"machines": name, "up": false, "count": count}).to_string()),
        false => out.result(
            say!("virtual machines `{name}` are removed: {count}", "виртуальные машины `{name}` убраны: {count}")
                .get(out.lang),
        ),
    }
}

/// Between a coordinator and the worker of a machine.
fn connect(machine: &str) -> Result<()> {
    let (from, mut to) = stend_sys::process::own_streams()
        .map_err(|e| Error::host_lost(say!("cannot take over the streams: {e}", "не удаётся занять потоки: {e}")))?;
    stend_vm::connect(machine, &stend_vm::state_directory()?, from, &mut to)
}
