//! `stend compare A B`: runs relative to the first of them, or the arms of one run.

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use stend_analyse::{Comparison, Findings};
use stend_base::{Result, say};
use stend_record::RunRecord;
use stend_session::comparison::{self, Asked, Judged};
use stend_spec::gate::Gate;

/// Prints a comparison, or writes it as HTML.
pub fn compare(arguments: &ArgMatches, out: &Out) -> Result<()> {
    if arguments.get_flag("history") {
        return super::history::history(arguments, out);
    }
    if let Some(table) = arguments.get_one::<String>("published") {
        return super::published::compare(arguments, table, out);
    }
    if arguments.get_flag("sample-gate") {
        return out.result(super::gate::sample(out.lang));
    }
    super::is_page(arguments)?;
    // What is wrong with a gate or an output is said before anything is read.
    let gate = super::gate::of(arguments)?;
    let what = || say!("the comparison", "сравнение");
    let outputs = ["output", "junit", "markdown"].map(|option| super::output(arguments, option, what()));
    crate::save::check(&outputs.iter().flatten().cloned().collect::<Vec<_>>())?;
    let comparison = of(arguments, gate.as_ref(), out)?;
    print(arguments, outputs, &comparison, out)?;
    comparison.gate.as_ref().map_or(Ok(()), super::gate::verdict)
}

fn print(arguments: &ArgMatches, outputs: [Option<Output>; 3], comparison: &Comparison, out: &Out) -> Result<()> {
    let write = |output: Option<Output>, text: &dyn Fn() -> String| -> Result<()> {
        let Some(output) = output else { return Ok(()) };
        output.save(|to| to.write_all(text().as_bytes()))?;
        out.note(&output.path().display().to_string());
        Ok(())
    };
    let junit = || comparison.gate.as_ref().map(|gate| stend_report::junit(Some(comparison), gate, out.lang));
    let html = || stend_report::comparison_html(comparison, out.lang);
    let markdown = || stend_report::comparison_markdown(comparison, out.lang);
    let [page, checks, summary] = outputs;
    write(page, &html)?;
    write(checks, &|| junit().unwrap_or_default())?;
    write(summary, &markdown)?;
    let to_standard_output = |name| super::to_standard_output(arguments, name);
    out.result(&match () {
        () if to_standard_output("output") => html(),
        () if to_standard_output("junit") => junit().unwrap_or_default(),
        () if to_standard_output("markdown") => markdown(),
        () if out.json => stend_report::comparison_json(comparison),
        () if arguments.get_flag("verbose") => {
            stend_report::comparison_text(comparison, out.lang, out.width(), out.colour())
        }
        () => {
            let names = super::many(arguments, "RUN");
            stend_report::comparison_brief(comparison, &names, out.lang, out.width(), out.colour())
        }
    })
}

fn of(arguments: &ArgMatches, gate: Option<&Gate>, out: &Out) -> Result<Comparison> {
    let text = |name| arguments.get_one::<String>(name).cloned();
    let asked = Asked {
        names: super::many(arguments, "RUN"),
        margin: text("margin"),
        baseline: text("baseline"),
        floor: text("floor"),
        factors: super::many(arguments, "factor"),
        gate,
        drawn: arguments.contains_id("output"),
    };
    comparison::of(&asked, &|name| super::read(name, out), |runs| super::redact::records(arguments, runs, out))
}

/// Runs of the command line with what is `found` in each: with charts, or without.
///
/// Errors: as [`comparison::read`], and those of judging a run.
pub fn judged(arguments: &ArgMatches, found: fn(&RunRecord) -> Result<Findings>, out: &Out) -> Result<Vec<Judged>> {
    let runs = comparison::read(&super::many(arguments, "RUN"), &|name| super::read(name, out))?;
    // All together, so that one machine has one stand-in in all of them.
    comparison::judged(super::redact::records(arguments, runs, out)?, found)
}
