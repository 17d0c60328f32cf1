//! `stend show RUN`: a run on one screen.

use super::gate::Junit;
use crate::out::Out;
use clap::ArgMatches;
use stend_analyse::Findings;
use stend_analyse::compare::Options;
use stend_analyse::gate::GateFinding;
use stend_base::Result;
use stend_record::RunRecord;

/// Prints the findings of a run, behind what a gate says of it.
pub fn show(arguments: &ArgMatches, out: &Out) -> Result<()> {
    // What is wrong with a gate or an output is said before anything is read.
    let asked = super::gate::of_one_run(arguments)?;
    let junit = Junit::of(arguments)?;
    let path = super::located(super::required(arguments, "RUN"), out)?;
    if super::recording::show(&path, arguments, out)? {
        return Ok(());
    }
    let run = super::redact::record(arguments, stend_session::read_run(&path)?, out)?;
    let findings = if out.json { stend_analyse::analyse(&run)? } else { stend_analyse::judge(&run)? };
    let is_asked = asked.is_some();
    let gate = asked.or_else(|| super::gate::of_record(&run, out));
    let gate = gate.map(|gate| stend_analyse::gate::of_run(&gate, &findings));
    let printed = match (&junit, &gate) {
        (Some(junit), Some(gate)) => junit.write(gate, out)?,
        _ => false,
    };
    match () {
        () if printed => {}
        () if out.json => out.result(&stend_report::gated_json(&findings, gate.as_ref()))?,
        () => {
            let name = super::required(arguments, "RUN");
            let in_short = if arguments.get_flag("verbose") { None } else { Some(name) };
            print(&run, &findings, gate.as_ref(), in_short, out)?;
        }
    }
    gate.filter(|_| is_asked).as_ref().map_or(Ok(()), super::gate::verdict)
}

/// What a gate says, the findings, and behind them the arms against each other if the run has any. In short if the run has a name by which
/// `stend show -v` finds it.
pub fn print(
    run: &RunRecord,
    findings: &Findings,
    gate: Option<&GateFinding>,
    in_short: Option<&str>,
    out: &Out,
) -> Result<()> {
    let (lang, width, colour) = (out.lang, out.width(), out.colour());
    let mut text = gate.map(|gate| stend_report::gate_text(gate, lang, width, colour) + "\n").unwrap_or_default();
    text.push_str(&match in_short {
        Some(name) => stend_report::brief(findings, name, lang, width, colour),
        None => stend_report::text(findings, lang, width, colour),
    });
    if let Some(arms) = stend_analyse::compare_arms(run, findings, &Options::default())? {
        text.push_str(&match in_short {
            Some(name) => stend_report::arms_brief(&arms, name, lang, width, colour),
            None => stend_report::arms_text(&arms, lang, width, colour),
        });
    }
    out.result(&text)
}
