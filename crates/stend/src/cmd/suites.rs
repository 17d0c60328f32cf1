//! `stend suites [SUITE]`: which suites are built in, or the file of one.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Error, Result, say};
use stend_report::ListedSuite;
use stend_session::suites::{ALL, find};

/// Prints the list, or the file of the suite that is named, as it is.
pub fn suites(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let named = arguments.get_one::<String>("SUITE").map(|name| find(name).ok_or_else(|| unknown(name))).transpose()?;
    let shown = ALL.iter().filter(|suite| named.is_none_or(|one| one.name == suite.name));
    let shown = shown
        .map(|suite| ListedSuite::of(suite.name, (suite.about)(), suite.text))
        .collect::<Result<Vec<ListedSuite>>>()?;
    out.result(&match (out.json, named) {
        (true, _) => stend_report::suites_json(&shown),
        (false, Some(one)) => one.text.to_string(),
        (false, None) => stend_report::suites_text(&shown, out.lang, out.width(), out.colour()),
    })
}

fn unknown(name: &str) -> Box<Error> {
    Error::usage(say!("no suite `{name}` is built in", "встроенного набора `{name}` нет")).hint(
        match stend_spec::parse::nearest(name, ALL.iter().map(|suite| suite.name)) {
            Some(near) => say!("did you mean `{near}`?", "возможно, имелось в виду `{near}`?"),
            None => say!("`stend suites` lists them", "какие есть, покажет `stend suites`"),
        },
    )
}
