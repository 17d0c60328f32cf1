//! `stend bundle [HOST]`: what is known of a host in one archive, for an engineer who has no Stend. Changes nothing on the host, and is made also where a
//! part cannot be read.

mod facts;
mod recordings;
mod runs;

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};
use stend_base::{Bytes, Error, Lang, Result, Say, format, say};
use stend_record::redact::Redaction;
use stend_record::store;
use stend_report::{Bundle, BundlePart, LeftOut, Packing};

/// Writes the archive and says where it is; with `--dry-run` what would be in it.
pub fn bundle(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let mut making = Making::new(!arguments.get_flag("no-redact"), out);
    let file = match arguments.get_one::<String>("output") {
        Some(file) => file.clone(),
        None => format!("{}.zip", making.bundle.name),
    };
    let dry_run = arguments.get_flag("dry-run");
    let to_file = (file != "-" && !dry_run).then(|| Output::new(&file, what(), arguments.get_flag("force")));
    to_file.as_ref().map_or(Ok(false), Output::check)?;
    let host = arguments.get_one::<String>("HOST").map(String::as_str);
    let facts = facts::look(host, !arguments.get_flag("quick"), &mut making)?;
    let (mut recordings, mut runs) = runs::of_host(&facts.names, &mut making);
    let mut recorded = recordings::open(&mut recordings, &mut making);
    if let Some(mut redaction) = making.redaction.take() {
        facts.teach(&mut redaction)?;
        recorded.iter().try_for_each(|recording| redaction.learn_of(&recording.rows.record))?;
        runs::teach(&runs, &mut redaction)?;
        making.redaction = Some(redaction);
    }
    making.part(BundlePart::Inventory, |making| facts.add(making));
    recordings::add(&mut recorded, &mut making);
    making.part(BundlePart::Runs, |making| runs::add(&mut runs, making));
    making.end(&file, to_file, dry_run)
}

fn what() -> Say {
    say!("the support bundle", "данные для поддержки")
}

/// A bundle that is being made.
struct Making<'a> {
    bundle: Bundle,
    /// `None`: everything stays as it is.
    redaction: Option<Redaction>,
    out: &'a Out,
}

impl Making<'_> {
    fn new(redacted: bool, out: &Out) -> Making<'_> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = store::new_run_id(now.as_secs(), stend_base::random::mix(now.as_nanos() as u64));
        let of_id = id.trim_start_matches("R-");
        let bundle = Bundle {
            name: format!("stend-bundle-{of_id}"),
            made_unix: now.as_secs() as i64,
            stend_version: env!("CARGO_PKG_VERSION").to_string(),
            redacted,
            files: Vec::new(),
            left_out: Vec::new(),
        };
        let tag = id.rsplit('-').next().unwrap_or_default();
        Making { bundle, redaction: redacted.then(|| Redaction::tagged(tag)), out }
    }

    /// Adds a file with a text.
    fn file(&mut self, name: String, about: Say, text: &str) -> Result<()> {
        let mut file = self.begin(name, about)?;
        file.write_all(text.as_bytes()).map_err(|error| unpacked(&error))?;
        self.whole(file)
    }

    /// A file of which each language has its own.
    fn in_both(&mut self, folder: &str, name: &str, about: &Say, text: &dyn Fn(Lang) -> String) -> Result<()> {
        for (lang, word) in [(Lang::En, "en"), (Lang::Ru, "ru")] {
            self.file(format!("{folder}{word}/{name}"), about.clone(), &text(lang))?;
        }
        Ok(())
    }

    fn begin(&self, name: String, about: Say) -> Result<Packing> {
        Packing::begin(&self.bundle, name, about).map_err(|error| unpacked(&error))
    }

    fn whole(&mut self, file: Packing) -> Result<()> {
        self.bundle.files.push(file.end().map_err(|error| unpacked(&error))?);
        Ok(())
    }

    /// Adds a part; what keeps it from that is in the bundle instead.
    fn part(&mut self, part: BundlePart, add: impl FnOnce(&mut Self) -> Result<()>) {
        if let Err(error) = add(self) {
            self.leave_out(part, error.message);
        }
    }

    /// Notes what is missing, for the bundle and for the user.
    fn leave_out(&mut self, part: BundlePart, why: Say) {
        let left_out = LeftOut { part, why };
        self.out.note(&format!("! {}", stend_report::left_out_text(&left_out, self.out.lang)));
        self.bundle.left_out.push(left_out);
    }

    /// A part without its secrets, unless they are wanted.
    fn masked<T: Serialize + DeserializeOwned>(&self, part: T) -> Result<T> {
        match &self.redaction {
            Some(redaction) => redaction.part(&part),
            None => Ok(part),
        }
    }

    /// Writes it, or lists what would be in it.
    fn end(mut self, file: &str, output: Option<Output>, dry_run: bool) -> Result<()> {
        if let Some(redaction) = &mut self.redaction {
            for Say { en, ru } in self.bundle.left_out.iter_mut().map(|left_out| &mut left_out.why) {
                redaction.scan(&[&*en, &*ru])?;
                (*en, *ru) = (redaction.text(en), redaction.text(ru));
            }
            self.out.note(&super::redact::told(redaction, self.out.lang));
        }
        let (bundle, out) = (&self.bundle, self.out);
        let bytes = bundle.archive().map_err(|error| unpacked(&error))?;
        let Some(output) = output.filter(|_| !dry_run) else {
            if !dry_run {
                return out.stream(|to| to.write_all(&bytes));
            }
            return out.result(&match out.json {
                true => bundle.json(None, Some(bytes.len() as u64)),
                false => format!("{}{}", bundle.text(out.lang), packed(&bytes).get(out.lang)),
            });
        };
        output.save(|to| to.write_all(&bytes))?;
        out.note(packed(&bytes).get(out.lang));
        out.result(&match out.json {
            true => bundle.json(Some(file), Some(bytes.len() as u64)),
            false => file.to_string(),
        })
    }
}

fn packed(bytes: &[u8]) -> Say {
    let size = |lang| format::bytes(Bytes(bytes.len() as u64), lang);
    let (en, ru) = (size(Lang::En), size(Lang::Ru));
    say!("packed: {en}", "в архиве: {ru}")
}

fn unpacked(error: &std::io::Error) -> Box<Error> {
    Error::bug(say!("cannot pack the bundle: {error}", "не удаётся собрать архив: {error}"))
}
