//! `--sources FILE`: the file of sources that a command line names.

use clap::ArgMatches;
use stend_base::{Error, Result, Say, say};
use stend_spec::order::NamedText;

/// The file, if one is named. A mistake in it comes before anything is reached.
pub(super) fn file(arguments: &ArgMatches) -> Result<Option<NamedText>> {
    let Some(file) = arguments.get_one::<String>("sources") else { return Ok(None) };
    let text = stend_sys::regular::text(file, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
        let told = say!(
            "cannot read the file of sources `{file}`: {en}",
            "не удаётся прочитать файл источников `{file}`: {ru}"
        );
        Error::spec(told).hint(say!("docs/formats/sources.md describes it", "формат описан в docs/formats/sources.md"))
    })?;
    stend_spec::parse::sources(&text, file)?;
    Ok(Some(NamedText { file: file.clone(), text }))
}
