//! `stend suites [SUITE]`: which suites are built in, or the file of one.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Error, Result, say};
use stend_report::ListedSuite;
use stend_session::suites::{ALL, find};

/// Prints the list, or the file of the suite that is named, as it is.
pub fn suites(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let known = || ALL.iter().map(|suite| suite.name);
    let named = arguments.get_one::<String>("SUITE");
    let named = named.map(|name| find(name).ok_or_else(|| unknown(name, known()))).transpose()?;
    let shown = ALL.iter().filter(|suite| named.is_none_or(|one| one.name == suite.name));
    let shown = shown
        .map(|suite| ListedSuite::of(suite.name, (suite.about)(), suite.text))
        .collect::<Result<Vec<ListedSuite>>>()?;
    print(&shown, named.is_some(), out)
}

/// Prints suites, or the file of the only one if that was named.
pub(super) fn print(shown: &[ListedSuite], is_named: bool, out: &Out) -> Result<()> {
    out.result(&match (out.json, shown) {
        (true, _) => stend_report::suites_json(shown),
        (false, [one]) if is_named => one.text.clone(),
        (false, _) => stend_report::suites_text(shown, out.lang, out.width(), out.colour()),
    })
}

/// There is no such suite among these.
pub(super) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Box<Error> {
    Error::usage(say!("no suite `{name}` is built in", "встроенного набора `{name}` нет")).hint(
        match stend_spec::parse::nearest(name, known) {
            Some(near) => say!("did you mean `{near}`?", "возможно, `{near}`?"),
            None => say!("`stend suites` lists them", "какие есть, покажет `stend suites`"),
        },
    )
}
