//! `stend audit TABLE`: numbers that others published, judged from themselves.

use crate::out::Out;
use clap::ArgMatches;
use std::io::Read;
use std::path::Path;
use stend_analyse::audit::{Audit, Declared};
use stend_base::{Error, Kind, Result, say};
use stend_record::published::Published;

/// Prints an audit, and writes it as HTML if asked.
pub fn audit(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let suite = arguments.get_one::<String>("suite").map(|name| super::run::read_suite(name)).transpose()?;
    let declared = suite.map(|(suite, _, _)| stend_analyse::audit::declared(suite)).transpose()?;
    let (audit, table) = read(super::required(arguments, "TABLE"), &declared.unwrap_or_default())?;
    if let Some(file) = arguments.get_one::<String>("output") {
        let html = stend_report::audit_html(&audit, &table, out.lang);
        if file == "-" {
            return out.result(&html);
        }
        crate::save::save(Path::new(file), &say!("the audit", "проверку"), |to| to.write_all(html.as_bytes()))?;
        out.note(file);
    }
    out.result(&match out.json {
        true => stend_report::audit_json(&audit),
        false => stend_report::audit_text(&audit, out.lang, out.width(), out.colour()),
    })
}

/// A table with what is to be said against it, and against the cells of a suite.
pub fn read(name: &str, suite: &[Declared]) -> Result<(Audit, Published)> {
    let (table, unread) = stend_import::read(&bytes(name)?, name)?;
    Ok((stend_analyse::audit::audit(&table, unread, suite), table))
}

/// The file, or so much more than may be read of it that it is refused.
fn bytes(name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(name).and_then(|file| file.take(stend_import::FILE_MAX as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|e| Error::new(Kind::Usage, say!("cannot read `{name}`: {e}", "не удаётся прочитать `{name}`: {e}")))?;
    Ok(bytes)
}
