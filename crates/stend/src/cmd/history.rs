//! `stend compare --history RUN…`: where values changed over many runs.

use crate::out::Out;
use clap::ArgMatches;
use std::collections::BTreeSet;
use stend_analyse::compare::{Condition, Options};
use stend_analyse::history::{History, RunPoint};
use stend_base::{Error, Result, say};

/// Fewer runs have two on neither side of a change.
const RUNS_MIN: usize = 4;
/// More take longer than anybody waits for.
const RUNS_MAX: usize = 1000;

/// Prints the history of the runs that are named, or writes it as HTML.
pub fn history(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let names = &super::many(arguments, "RUN");
    let given = names.len();
    if !(RUNS_MIN..=RUNS_MAX).contains(&given) {
        return Err(Error::usage(say!(
            "`compare --history` takes {RUNS_MIN} to {RUNS_MAX} runs, {given} given",
            "`compare --history` принимает от {RUNS_MIN} до {RUNS_MAX} прогонов, указано: {given}"
        ))
        .hint(say!(
            "a change is visible only with several runs before it and several after it",
            "изменение видно, только если есть несколько прогонов до него и несколько после"
        )));
    }
    super::is_page(arguments)?;
    let output = super::output(arguments, "output", say!("the history", "историю прогонов"));
    output.iter().try_for_each(|output| output.check().map(drop))?;
    // One at a time: many runs do not fit the memory together.
    let mut points: Vec<(RunPoint, &String)> = Vec::new();
    for name in names {
        let point = RunPoint::of(&stend_analyse::judge(&super::read(name, out)?)?);
        match points.iter().any(|(known, _)| known.run == point.run) {
            true => return Err(twice(&point.run)),
            false => points.push((point, name)),
        }
    }
    let history = stend_analyse::history(points.iter().map(|(point, _)| point.clone()).collect());
    let changed = changed(&history, &points, out)?;
    let page = || stend_report::history_html(&history, &changed, out.lang);
    if super::to_standard_output(arguments, "output") {
        return out.result(&page());
    }
    if let Some(output) = &output {
        output.save(|to| to.write_all(page().as_bytes()))?;
        out.note(&output.path().display().to_string());
    }
    out.result(&match out.json {
        true => stend_report::history_json(&history, &changed),
        false => stend_report::history_text(&history, &changed, out.lang, out.width(), out.colour()),
    })
}

/// What was not the same in the runs on both sides of each change.
fn changed(history: &History, points: &[(RunPoint, &String)], out: &Out) -> Result<Vec<(usize, Vec<Condition>)>> {
    let sides: BTreeSet<(usize, usize)> =
        history.series.iter().flat_map(|series| &series.changes).map(|change| (change.first, change.last)).collect();
    let read = |index: usize| {
        let name = points.iter().find(|(point, _)| point.run == history.runs[index].0).map(|(_, name)| *name);
        let run = super::read(name.map_or("", String::as_str), out)?;
        let findings = stend_analyse::judge(&run)?;
        Ok::<_, Box<Error>>((run, findings))
    };
    let mut all = Vec::new();
    for (first, last) in sides {
        let (before, after) = (read(last)?, read(first)?);
        let sides = [(&before.0, &before.1), (&after.0, &after.1)];
        let compared = stend_analyse::compare(&sides, &Options::default());
        all.push((first, compared.changed));
    }
    Ok(all)
}

fn twice(run: &str) -> Box<Error> {
    Error::usage(say!("`{run}` is named twice", "`{run}` указан дважды"))
        .hint(say!("name each run once", "укажите каждый прогон один раз"))
}
