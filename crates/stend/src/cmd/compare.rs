//! `stend compare A B`: runs relative to the first of them, or the arms of one run.

use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_analyse::{Comparison, Findings};
use stend_base::{Error, Kind, Result, say};
use stend_record::RunRecord;

/// More runs no longer fit a table or an eye.
const RUNS_MAX: usize = 6;

/// Prints a comparison, or writes it as HTML.
pub fn compare(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let names = super::many(arguments, "RUN");
    let given = names.len();
    if !(1..=RUNS_MAX).contains(&given) {
        return Err(Error::new(
            Kind::Usage,
            say!(
                "`compare` takes 1 to {RUNS_MAX} runs, {given} given",
                "`compare` принимает от 1 до {RUNS_MAX} прогонов, указано: {given}"
            ),
        )
        .hint(say!("`stend list` shows the runs there are", "`stend list` покажет, какие прогоны есть")));
    }
    let runs: Vec<RunRecord> = names.iter().map(|name| super::read(name)).collect::<Result<_>>()?;
    let findings = runs.iter().map(stend_analyse::analyse).collect::<Result<Vec<_>>>()?;
    let comparison = match (&runs[..], &findings[..]) {
        ([run], [findings]) => arms(run, findings)?,
        _ => stend_analyse::compare(&runs.iter().zip(&findings).collect::<Vec<_>>()),
    };
    if let Some(file) = arguments.get_one::<String>("output") {
        let html = stend_report::comparison_html(&comparison, out.lang);
        if file == "-" {
            return out.result(&html);
        }
        crate::save::save(Path::new(file), &say!("the comparison", "сравнение"), |to| {
            to.write_all(html.as_bytes())
        })?;
        out.note(file);
    }
    out.result(&match out.json {
        true => stend_report::comparison_json(&comparison),
        false => stend_report::comparison_text(&comparison, out.lang, out.width(), out.colour()),
    })
}

/// A single run is compared with itself: its arms with the first of them.
fn arms(run: &RunRecord, findings: &Findings) -> Result<Comparison> {
    stend_analyse::compare_arms(run, findings)?.ok_or_else(|| {
        let id = &findings.run;
        Error::new(
            Kind::Usage,
            say!(
                "`{id}` alone has nothing to compare: fewer than two arms of it were measured",
                "в `{id}` нечего сравнивать: измерено меньше двух вариантов"
            ),
        )
        .hint(say!(
            "name another run, or use a suite with `arms`",
            "укажите ещё один прогон или возьмите набор с `arms`"
        ))
    })
}
