//! Parameter files of vdbench as suites. Facts: `SD_entry`, `WD_entry` and `RD_entry` of vdbench 5.04. Must not execute anything.

mod area;
mod lines;
mod ranges;
mod run;

use super::draft::{Draft, directory_of};
use super::notes::Notes;
use super::{ImportContext, Imported};
use lines::Definition;
use stend_base::{Result, say};
use stend_spec::workload::Data;

/// Keys that stand alone and change no I/O of ours.
const HARMLESS: [&str; 10] = [
    "debug",
    "messagescan",
    "histogram",
    "data_errors",
    "swat_coll",
    "report",
    "monitor",
    "abort_failed_skew",
    "create_anchors",
    "dedupunit",
];
/// Those that mean something that a suite does not express so.
const REFUSED: [&str; 8] = ["validate", "pattern", "hd", "journal", "rg", "startcmd", "endcmd", "port"];

/// Whether a text is a parameter file: its first line that is no comment defines something that there is.
pub(super) fn is_job_file(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['*', '#', '/']));
    let Some((key, _)) = lines.next().and_then(|line| line.split_once('=')) else { return false };
    let key = key.to_ascii_lowercase();
    let kinds = ["sd", "wd", "rd", "fsd", "fwd", "include", "compratio", "dedupratio"];
    kinds.contains(&key.as_str()) || HARMLESS.contains(&key.as_str()) || REFUSED.contains(&key.as_str())
}

/// All of a file.
struct File {
    sds: Vec<Definition>,
    wds: Vec<Definition>,
    rds: Vec<Definition>,
    data: Data,
}

/// The suite of parameter files.
pub(super) fn files(sources: &[(String, Vec<u8>)], context: &ImportContext) -> Result<Imported> {
    let mut notes = Notes::new(context.lenient);
    let mut definitions = Vec::new();
    for (name, bytes) in sources {
        definitions.extend(lines::definitions(name, bytes, context, &mut notes)?);
    }
    let file = sorted(definitions, &mut notes)?;
    let first = sources.first().map_or("vdbench", |(name, _)| name.as_str());
    let stem = first.rsplit('/').next().unwrap_or(first);
    let mut draft = Draft {
        name: stem.rsplit_once('.').map_or(stem, |(stem, _)| stem).to_string(),
        from: sources.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "),
        ..Draft::default()
    };
    if file.rds.is_empty() {
        return Err(super::JobPlace::new(first, 1)
            .error(say!("no `rd=` says what to run", "нет `rd=`: непонятно, что выполнять"))
            .hint(say!(
                "a file of vdbench has `sd=`, `wd=` and `rd=` lines",
                "в файле vdbench есть строки `sd=`, `wd=` и `rd=`"
            )));
    }
    draft.targets = run::targets(&file)?;
    draft.fill = run::size(&file, &mut notes)?.map(stend_spec::suite::Fill::Size);
    if draft.fill.is_some() {
        draft.targets.iter_mut().filter(|path| !path.starts_with("/dev/")).for_each(|path| *path = directory_of(path));
    }
    for rd in &file.rds {
        draft.cases.extend(run::cases(&file, rd, draft.targets.len() as u32, &mut notes)?);
        run::at_most(draft.cases.len(), rd)?;
    }
    draft.imported(notes)
}

/// Definitions by kind, with `default` put into those behind it.
fn sorted(definitions: Vec<Definition>, notes: &mut Notes) -> Result<File> {
    let mut file = File { sds: Vec::new(), wds: Vec::new(), rds: Vec::new(), data: Data::default() };
    let mut defaults: Vec<Definition> = Vec::new();
    for mut definition in definitions {
        if definition.kind.is_empty() {
            general(&definition, &mut file.data, notes)?;
            continue;
        }
        if definition.name == "default" {
            // The last of repeated pairs counts: every definition below holds all of them.
            match defaults.iter_mut().find(|known| known.kind == definition.kind) {
                Some(known) => {
                    known.pairs.retain(|pair| definition.get(&pair.key).is_none());
                    known.pairs.append(&mut definition.pairs);
                }
                None => defaults.push(definition),
            }
            continue;
        }
        let inherited =
            defaults.iter().filter(|known| known.kind == definition.kind).flat_map(|known| known.pairs.clone());
        definition.pairs = inherited.chain(std::mem::take(&mut definition.pairs)).collect();
        match definition.kind {
            "sd" => file.sds.push(definition),
            "wd" => file.wds.push(definition),
            _ => file.rds.push(definition),
        }
    }
    // A run may name storage alone.
    if let Some(first) = file.rds.first().filter(|_| file.wds.is_empty()) {
        let place = first.place.clone();
        file.wds.push(Definition { kind: "wd", name: String::new(), place, pairs: Vec::new() });
    }
    Ok(file)
}

fn general(definition: &Definition, data: &mut Data, notes: &mut Notes) -> Result<()> {
    for pair in &definition.pairs {
        let thousandths = |text: &str| {
            let value = text.trim_end_matches(":1").parse::<f64>().ok().filter(|v| (1.0..=100.0).contains(v));
            value
                .map(|v| (v * 1000.0).round() as u32)
                .ok_or_else(|| pair.wrong(text, "a ratio of 1 to 100", "коэффициент от 1 до 100"))
        };
        match pair.key.to_ascii_lowercase().as_str() {
            key if "compratio".starts_with(key) && key.len() > 3 => {
                data.compress_thousandths = thousandths(pair.one()?)?
            }
            key if "dedupratio".starts_with(key) && key.len() > 5 => data.dedup_thousandths = thousandths(pair.one()?)?,
            key if HARMLESS.contains(&key) => notes.harmless(&pair.place, key),
            key if REFUSED.contains(&key) && pair.is_neutral() => notes.harmless(&pair.place, key),
            key if REFUSED.contains(&key) => {
                let text = say!("`{key}` has no equivalent", "у `{key}` нет соответствия");
                notes.changed(&pair.place, text, say!("leave it out", "уберите его"))?;
            }
            key => notes.unknown(
                &pair.place,
                key,
                HARMLESS.into_iter().chain(REFUSED).chain(["compratio", "dedupratio"]),
            )?,
        }
    }
    Ok(())
}
