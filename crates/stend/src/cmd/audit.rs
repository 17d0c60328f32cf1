//! `stend audit TABLE`: numbers that others published, judged from themselves.

use crate::out::Out;
use clap::ArgMatches;
use std::io::Read;
use std::path::Path;
use stend_base::{Error, Kind, Result, say};

/// Prints an audit, and writes it as HTML if asked.
pub fn audit(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let name = super::required(arguments, "TABLE");
    let (table, unread) = stend_import::read(&bytes(name)?, name)?;
    let audit = stend_analyse::audit::audit(&table, unread);
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

/// The file, or so much more than may be read of it that it is refused.
fn bytes(name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(name).and_then(|file| file.take(stend_import::FILE_MAX as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|e| Error::new(Kind::Usage, say!("cannot read `{name}`: {e}", "не удаётся прочитать `{name}`: {e}")))?;
    Ok(bytes)
}
