//! `stend compare A B`: runs relative to the first of them.

use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_base::{Error, Kind, Result, say};
use stend_record::RunRecord;

/// More runs no longer fit a table or an eye.
const RUNS_MAX: usize = 6;

/// Prints a comparison, or writes it as HTML.
pub fn compare(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let names = super::many(arguments, "RUN");
    let given = names.len();
    if !(2..=RUNS_MAX).contains(&given) {
        return Err(Error::new(
            Kind::Usage,
            say!(
                "`compare` takes 2 to {RUNS_MAX} runs, {given} given",
                "`compare` принимает от 2 до {RUNS_MAX} прогонов, указано: {given}"
            ),
        )
        .hint(say!("`stend list` shows the runs there are", "`stend list` покажет, какие прогоны есть")));
    }
    let runs: Vec<RunRecord> = names.iter().map(|name| super::read(name)).collect::<Result<_>>()?;
    let findings = runs.iter().map(stend_analyse::analyse).collect::<Result<Vec<_>>>()?;
    let comparison = stend_analyse::compare(&runs.iter().zip(&findings).collect::<Vec<_>>());
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
