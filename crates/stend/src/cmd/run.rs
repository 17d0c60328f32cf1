//! `stend run SUITE --on PATH`: measure, keep, judge, report.

use super::frontend::{Terminal, comparison_beside};
use super::gate::Junit;
use super::remote::run::Held;
use super::task::Task;
use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_base::{Error, Result, say};
use stend_record::StandText;
use stend_spec::order::Order;
use stend_wire::StandAnswer;

/// Carries out what the command line or an order asks for, and shows what it found.
pub fn run(arguments: &ArgMatches, out: &Out) -> Result<()> {
    match arguments.get_one::<String>("task") {
        Some(directory) => Task::begin(directory)?.end(|task| carry_out(arguments, out, Some(task))),
        None => carry_out(arguments, out, None),
    }
}

fn carry_out(arguments: &ArgMatches, out: &Out, task: Option<&Task>) -> Result<()> {
    super::workload::has_effect(arguments)?;
    if arguments.get_flag("print-suite") {
        return out.result(&super::order::suite(arguments)?);
    }
    if let Some(remote) = &out.remote {
        super::remote::refuse(remote, arguments, &["force"])?;
        super::remote::run::names_a_target(arguments)?;
    }
    let order = super::order::of(arguments)?;
    // What is wrong with a gate is said before anything is measured.
    let gate = super::gate::of_order(&order)?;
    if arguments.get_flag("print-order") {
        return out.result(&stend_session::complete(order)?);
    }
    let force = arguments.get_flag("force");
    let progress = arguments.get_one::<String>("progress").map_or("auto", String::as_str);
    let junit = Junit::of(arguments)?;
    if junit.is_some() {
        may_be_junit(&order, gate.is_some())?;
    }
    if let Some(remote) = &out.remote {
        return match arguments.get_flag("dry-run") {
            true => super::remote::run::dry_run(remote, order, out),
            false => super::remote::run::carry_out(remote, order, &Held { gate, junit }, arguments, out),
        };
    }
    let terminal = Terminal::new(out, force, progress).holding(gate, junit).of_task(task);
    match arguments.get_flag("dry-run") {
        true => dry_run(&order, terminal, out),
        false => terminal.session(|control, frontend| stend_session::carry_out(&order, control, frontend)),
    }
}

/// Whether what a gate says of the order can be one file.
fn may_be_junit(order: &Order, has_gate: bool) -> Result<()> {
    if !has_gate {
        let message = say!(
            "`--junit` writes the result of a gate, but the order has none",
            "`--junit` записывает решение порога, а в заказе порога нет"
        );
        return Err(Error::usage(message)
            .hint(say!("add `gate` or `expect` to the order", "добавьте в заказ `gate` или `expect`")));
    }
    if order.stands.len() > 1 || !order.against.is_empty() {
        let message = say!(
            "`--junit` is for one run, and these are several",
            "`--junit` — для одного прогона, а здесь их несколько"
        );
        return Err(Error::usage(message).hint(say!(
            "write it for each run when all are measured: `stend show RUN --gate FILE --junit FILE`",
            "запишите его по каждому прогону после измерений: `stend show ПРОГОН --gate ФАЙЛ --junit ФАЙЛ`"
        )));
    }
    Ok(())
}

/// Prints what putting up the stands would do. Refuses, as the run would, drives that may not be written.
fn stand_plans(order: &Order, stands: Vec<StandText>, terminal: Terminal, out: &Out) -> Result<()> {
    let mut refused: Option<Box<Error>> = None;
    terminal.session(|control, frontend| {
        stend_session::stand_plans(order, stands, control, frontend, &mut |told| {
            if let StandAnswer::Plan(plan) = &told.answer {
                let why = plan.drives.iter().find_map(|drive| Some(Error::refused(drive.refused.clone()?)));
                refused = refused.take().or(why);
            }
            super::stand::show(told, "", out)
        })
    })?;
    if let Some(refused) = refused {
        return Err(refused);
    }
    let more = say!(
        "What the suite writes shows only on a stand that is up: `stend stand up FILE`, then a dry run with its target in `--on`.",
        "Что запишет набор, видно только на поднятом стенде: `stend stand up ФАЙЛ`, затем пробный запуск с его объектом в `--on`."
    );
    out.note(more.get(out.lang));
    Ok(())
}

/// Prints what the run would do, or refuses as the run would. Makes no file.
fn dry_run(order: &Order, terminal: Terminal, out: &Out) -> Result<()> {
    let stands = stend_session::stands(order)?;
    if !stands.is_empty() {
        return stand_plans(order, stands, terminal, out);
    }
    let mut previews = terminal.session(|control, frontend| stend_session::preview(order, control, frontend))?;
    for ahead in previews.iter_mut().map(|preview| &mut preview.ahead) {
        let run_file = Path::new(&ahead.run_file);
        let report = terminal.report(run_file)?;
        // A run makes the directory of run files if it is not there yet.
        ahead.report_replaces = if run_file.parent().is_some_and(Path::exists) { report.check()? } else { false };
        ahead.report = report.path().to_string_lossy().into_owned();
    }
    out.result(&match (out.json, previews.as_slice()) {
        (true, _) => previews.iter().map(stend_report::preview_json).collect(),
        (false, [one]) => stend_report::preview_text(one, out.lang, out.width(), out.colour()),
        (false, several) => {
            let page = several.first().map(|first| comparison_beside(Path::new(&first.ahead.run_file)));
            let page = page.map(|page| page.to_string_lossy().into_owned()).unwrap_or_default();
            stend_report::previews_text(several, &page, out.lang, out.width(), out.colour())
        }
    })
}
