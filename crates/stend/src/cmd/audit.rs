//! `stend audit TABLE`: numbers that others published, judged from themselves.

use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_audit::{Audit, Declared};
use stend_base::{Error, Result, Say, say};
use stend_record::published::Published;
use stend_session::embedded::TABLES;

/// Prints an audit, and writes it as HTML if asked.
pub fn audit(arguments: &ArgMatches, out: &Out) -> Result<()> {
    super::is_page(arguments)?;
    let output = super::output(arguments, "output", say!("the audit", "проверку"));
    output.iter().try_for_each(|output| output.check().map(drop))?;
    let suite = arguments.get_one::<String>("suite").map(|name| super::read_suite(name)).transpose()?;
    let declared = suite.map(stend_audit::declared).transpose()?;
    let (audit, table) = read(super::required(arguments, "TABLE"), &declared.unwrap_or_default())?;
    let html = || stend_report::audit_html(&audit, &table, out.lang);
    if super::to_standard_output(arguments, "output") {
        return out.result(&html());
    }
    if let Some(output) = output {
        output.save(|to| to.write_all(html().as_bytes()))?;
        out.note(&output.path().display().to_string());
    }
    out.result(&match out.json {
        true => stend_report::audit_json(&audit),
        false => stend_report::audit_text(&audit, out.lang, out.width(), out.colour()),
    })
}

/// What is neither a file nor an embedded table.
fn unknown(name: &str, why: &Say) -> Box<Error> {
    let error = super::unreadable(name, why);
    let near = stend_spec::parse::nearest(name, TABLES.all().iter().map(|file| file.name));
    match near.filter(|_| !Path::new(name).exists()) {
        Some(near) => error.hint(say!("did you mean `{near}`?", "возможно, `{near}`?")),
        None => error,
    }
}

/// A table, else the embedded one of that name, with what is to be said against it, and against the cells of a suite.
pub fn read(name: &str, suite: &[Declared]) -> Result<(Audit, Published)> {
    let bytes = match TABLES.find(name) {
        Some(file) => file.text.as_bytes().to_vec(),
        None => stend_sys::regular::bytes(name, stend_interop::FILE_MAX as u64).map_err(|why| unknown(name, &why))?,
    };
    let (table, unread) = stend_interop::read(&bytes, name)?;
    Ok((stend_audit::audit(&table, unread, suite), table))
}
