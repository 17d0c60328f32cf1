//! `stend import --suite FILE…`: job definitions of other tools as a suite. Reads files, and runs nothing.

mod table;

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use stend_base::text::plural_en;
use stend_base::{Lang, Result, say, say_in};
use stend_interop::jobs::{self, ImportContext, Imported, SIZE_MAX, Weight};

/// Prints or writes the suite that the jobs become.
pub fn import(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let words = super::many(arguments, "FILE");
    let output = super::output(arguments, "output", say!("the suite", "набор")).map(Output::that_is_edited);
    output.iter().try_for_each(|output| output.check().map(drop))?;
    let variable = |name: &str| std::env::var(name).ok();
    let world = ImportContext { read: &read, variable: &variable, lenient: arguments.get_flag("lenient") };
    if let [folder] = words.as_slice()
        && std::path::Path::new(folder).is_dir()
    {
        return table::of_folder(folder, arguments.get_one::<String>("output").is_some(), &world, out);
    }
    let imported = match jobs::is_command(&words) {
        true => jobs::command(&words, &world)?,
        false => {
            let sources: Vec<(String, Vec<u8>)> =
                words.iter().map(|name| Ok((name.clone(), read(name)?))).collect::<Result<_>>()?;
            jobs::files(&sources, &world)?
        }
    };
    let text = imported.text(out.lang);
    if let Some(output) = &output {
        output.save(|to| to.write_all(text.as_bytes()))?;
    }
    if out.json {
        return out.result(&document(&imported, &text).to_string());
    }
    let Some(output) = output else { return out.result(&text) };
    let file = output.path().display().to_string();
    out.result(&file)?;
    let count = |weight| imported.notes.iter().filter(|note| note.weight == weight).count();
    let (decided, changed) = (count(Weight::Decided), count(Weight::Changed));
    let (en, ru) = (plural_en(decided as u64, "decision", "decisions"), format!("решений: {decided}"));
    let others = |lang| say_in!(lang, ", with another meaning: {changed}", ", с другим значением: {changed}");
    let [other_en, other_ru] = [Lang::En, Lang::Ru].map(|lang| if changed > 0 { others(lang) } else { String::new() });
    let places = say!(
        "{decided} {en}{other_en}, listed at the top of `{file}`\nnext      stend run {file} --on PATH --dry-run",
        "{ru}{other_ru}, список в начале `{file}`\nдальше    stend run {file} --on ПУТЬ --dry-run"
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

fn read(name: &str) -> Result<Vec<u8>> {
    stend_sys::regular::bytes(name, SIZE_MAX as u64).map_err(|why| super::unreadable(name, &why))
}
