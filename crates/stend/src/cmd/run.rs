//! `stend run SUITE --on PATH`: measure, keep, judge, report.

use super::frontend::Terminal;
use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_base::Result;
use stend_spec::order::{Order, Work};

/// Carries out what the command line or an order asks for, and shows what it found.
pub fn run(arguments: &ArgMatches, out: &Out) -> Result<()> {
    if arguments.get_flag("print-suite") {
        let (suite, _) = super::order::suite(arguments)?;
        stend_session::suite(&suite)?;
        return out.result(&suite.text);
    }
    // What is wrong with a gate is said before anything is measured.
    let gate = super::gate::of_one_run(arguments)?;
    let order = super::order::of(arguments)?;
    if let (Some(gate), Work::Suite(work)) = (&gate, &order.work) {
        let suite = stend_session::suite(&work.suite)?;
        super::gate::check_cases(gate, &suite.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>())?;
    }
    if arguments.get_flag("print-order") {
        return out.result(&stend_session::complete(order)?);
    }
    let force = arguments.get_flag("force");
    let progress = arguments.get_one::<String>("progress").map_or("auto", String::as_str);
    let terminal = Terminal::new(out, force, progress).holding(gate);
    match arguments.get_flag("dry-run") {
        true => dry_run(&order, terminal, force, out),
        false => terminal.session(|control, frontend| stend_session::carry_out(&order, control, frontend)),
    }
}

/// Prints what the run would do, or refuses as the run would. Makes no file.
fn dry_run(order: &Order, terminal: Terminal, force: bool, out: &Out) -> Result<()> {
    let mut preview = terminal.session(|control, frontend| stend_session::preview(order, control, frontend))?;
    let run_file = Path::new(&preview.ahead.run_file);
    let report = super::report::beside(run_file, force)?;
    // A run makes the directory of run files if it is not there yet.
    let replaces = if run_file.parent().is_some_and(Path::exists) { report.check()? } else { false };
    preview.ahead.report = report.path().to_string_lossy().into_owned();
    preview.ahead.report_replaces = replaces;
    out.result(&match out.json {
        true => stend_report::preview_json(&preview),
        false => stend_report::preview_text(&preview, out.lang, out.width(), out.colour()),
    })
}
