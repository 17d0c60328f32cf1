//! `stend import --suite FILE…`: job definitions of other tools as a suite. Reads files, and runs nothing.

use crate::out::Out;
use clap::ArgMatches;
use std::io::Read;
use std::path::Path;
use stend_base::{Error, Kind, Result, say};
use stend_spec::jobs::{self, Imported, SIZE_MAX, Weight, World};

/// Prints or writes the suite that the jobs become.
pub fn import(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let words = super::many(arguments, "FILE");
    let variable = |name: &str| std::env::var(name).ok();
    let world = World { read: &read, variable: &variable, lenient: arguments.get_flag("lenient") };
    let imported = match jobs::is_command(&words) {
        true => jobs::command(&words, &world)?,
        false => {
            let sources: Vec<(String, Vec<u8>)> =
                words.iter().map(|name| Ok((name.clone(), read(name)?))).collect::<Result<_>>()?;
            jobs::files(&sources, &world)?
        }
    };
    let text = imported.text(out.lang);
    let written = arguments.get_one::<String>("output").filter(|file| *file != "-");
    if let Some(file) = written {
        crate::save::save(Path::new(file), &say!("the suite", "набор"), |to| to.write_all(text.as_bytes()))?;
    }
    if out.json {
        return out.result(&document(&imported, &text).to_string());
    }
    let Some(file) = written else { return out.result(&text) };
    out.result(file)?;
    let count = |weight| imported.notes.iter().filter(|note| note.weight == weight).count();
    let (decided, changed) = (count(Weight::Decided), count(Weight::Changed));
    let places = say!(
        "decided {decided}, means something else {changed}; the file begins with them\nnext      stend run {file} --on PATH --dry-run",
        "решено: {decided}, значит другое: {changed}; файл с этого начинается\nдальше    stend run {file} --on PATH --dry-run"
    );
    out.note(places.get(out.lang));
    Ok(())
}

fn document(imported: &Imported, text: &str) -> serde_json::Value {
    let notes: Vec<serde_json::Value> = imported
        .notes
        .iter()
        .map(|note| {
            let weight = match note.weight {
                Weight::Harmless => "harmless",
                Weight::Decided => "decided",
                Weight::Changed => "changed",
            };
            serde_json::json!({"place": note.place.to_string(), "weight": weight, "text": note.text})
        })
        .collect();
    serde_json::json!({"suite": text, "targets": imported.targets, "notes": notes})
}

/// At most so much of a file that its length is refused.
fn read(name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(name).and_then(|file| file.take(SIZE_MAX as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|e| Error::new(Kind::Usage, say!("cannot read `{name}`: {e}", "не удаётся прочитать `{name}`: {e}")))?;
    Ok(bytes)
}
