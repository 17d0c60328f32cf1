//! A support bundle: what is known of a host in one archive, for an engineer who has no Stend. Packs what it is handed, and says what is inside
//! and what is missing. Must not decide what goes in.

mod archive;
mod readme;
mod tables;

pub(crate) use archive::is_bundle;
pub use archive::{BundleFile, Packing};
pub use tables::{BundleTable, Step};

use crate::json::pretty;
use serde::Serialize;
use std::io::Result;
use stend_base::{Bytes, Lang, Nanos, Say, format, say};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// How far back the samples of a bundle go: a weekend is in it on Monday morning.
pub const BUNDLE_SPAN: Nanos = Nanos::secs(48 * 3600);

/// Most that the tables of samples take before they are packed: 48 h of 12 busy drives at 1 s, 12 · 172 800 rows of 112 bytes. Deflate makes a
/// tenth of rows of idle drives, and a third of rows in which every digit is drawn.
pub const BUNDLE_TABLES_MAX: Bytes = Bytes::mib(256);

/// Everything that goes into one archive.
#[derive(Debug)]
pub struct Bundle {
    /// Name of the folder in the archive, and of the file without its extension.
    pub name: String,
    /// When it was made, seconds since 1970.
    pub made_unix: i64,
    /// Version of Stend.
    pub stend_version: String,
    /// Whether names, addresses, serial numbers and paths were taken out.
    pub redacted: bool,
    /// What is in it.
    pub files: Vec<BundleFile>,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
}

/// A part that is missing, in whole or to some extent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Which.
    pub part: BundlePart,
    /// What is missing, and why.
    pub why: Say,
}

/// A part of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BundlePart {
    /// The host with its drives.
    Inventory,
    /// What `stend doctor` says.
    Checkup,
    /// A recording, with its journal.
    Recording,
    /// Samples of a recording that are older than those in the tables.
    Samples,
    /// Events of a recording that are older than those in the list.
    Events,
    /// What people said of problems.
    Marks,
    /// The list of runs.
    Runs,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    /// The file that was written; absent inside of it, and where nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<&'a str>,
    /// Its size; absent inside of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    packed_bytes: Option<u64>,
    stend_version: &'a str,
    made_unix_s: i64,
    /// Whether names, addresses, serial numbers and paths were taken out.
    redacted: bool,
    /// Most that the tables of samples take together.
    tables_max_bytes: u64,
    files: Vec<FileOut<'a>>,
    left_out: &'a [LeftOut],
}

#[derive(Serialize)]
struct FileOut<'a> {
    /// Path below the folder of the archive.
    name: &'a str,
    /// Before it is packed.
    size_bytes: u64,
    about: &'a Say,
}

impl Bundle {
    /// The archive (ZIP), with this list of its contents inside.
    ///
    /// Errors: those of packing.
    pub fn archive(&self) -> Result<Vec<u8>> {
        archive::pack(self)
    }

    /// What is in it, for machines. `written`: the file that it was written to; `packed_bytes`: its size.
    pub fn json(&self, written: Option<&str>, packed_bytes: Option<u64>) -> String {
        fn out(file: &BundleFile) -> FileOut<'_> {
            FileOut { name: &file.name, size_bytes: file.size, about: &file.about }
        }
        pretty(&Document {
            schema: "stend-bundle",
            schema_version: SCHEMA_VERSION,
            bundle: written,
            packed_bytes,
            stend_version: &self.stend_version,
            made_unix_s: self.made_unix,
            redacted: self.redacted,
            tables_max_bytes: BUNDLE_TABLES_MAX.0,
            files: self.files.iter().map(out).collect(),
            left_out: &self.left_out,
        })
    }

    /// What is in it, for a person: a line for each file with its size.
    pub fn text(&self, lang: Lang) -> String {
        let row = |file: &BundleFile| {
            vec![file.name.clone(), format::bytes(Bytes(file.size), lang), file.about.get(lang).to_string()]
        };
        let rows: Vec<Vec<String>> = self.files.iter().map(row).collect();
        crate::text::columns(&rows).iter().map(|row| format!("{row}\n")).collect()
    }
}

/// What is missing, in a line.
pub fn left_out_text(left_out: &LeftOut, lang: Lang) -> String {
    let Say { en, ru } = &left_out.why;
    say!("left out: {en}", "не вошло: {ru}").get(lang).to_string()
}

#[cfg(test)]
mod tests;
