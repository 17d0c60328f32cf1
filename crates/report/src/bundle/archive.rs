//! Files of a bundle, each packed as it is written, so that tables of hundreds of MiB take a tenth of that in memory; and the archive of all.

use super::{Bundle, readme};
use std::io::{Cursor, Read, Result, Seek, Write};
use stend_base::{Say, calendar};
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipArchive, ZipWriter};

/// The list of contents: the first file of each archive, by which one is known.
const CONTENTS: &str = "bundle.json";
/// What the folder in every archive begins with.
const FOLDER: &str = "stend-bundle-";
/// How the list of contents begins.
const HEAD: &str = "{\n  \"schema\": \"stend-bundle\",";

/// One file of a bundle.
#[derive(Debug)]
pub struct BundleFile {
    /// Path below the folder of the archive.
    pub(super) name: String,
    /// What it is.
    pub(super) about: Say,
    /// Bytes before packing.
    pub(super) size: u64,
    /// An archive with this file alone.
    packed: Vec<u8>,
}

/// A file that is being written.
pub struct Packing {
    name: String,
    about: Say,
    size: u64,
    zip: ZipWriter<Cursor<Vec<u8>>>,
}

impl Packing {
    /// An empty file of `bundle`.
    ///
    /// Errors: those of packing.
    pub fn begin(bundle: &Bundle, name: String, about: Say) -> Result<Packing> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file(format!("{}/{name}", bundle.name), options(bundle))?;
        Ok(Packing { name, about, size: 0, zip })
    }

    /// The whole file.
    ///
    /// Errors: those of packing.
    pub fn end(self) -> Result<BundleFile> {
        let packed = self.zip.finish()?.into_inner();
        Ok(BundleFile { name: self.name, about: self.about, size: self.size, packed })
    }
}

impl Write for Packing {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.zip.write(bytes)?;
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.zip.flush()
    }
}

/// All of them as one archive.
pub(super) fn pack(bundle: &Bundle) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [(CONTENTS, bundle.json(None, None)), ("README.txt", readme::readme(bundle))] {
        archive.start_file(format!("{}/{name}", bundle.name), options(bundle))?;
        archive.write_all(text.as_bytes())?;
    }
    for file in &bundle.files {
        archive.merge_archive(ZipArchive::new(Cursor::new(file.packed.as_slice()))?)?;
    }
    Ok(archive.finish()?.into_inner())
}

fn options(bundle: &Bundle) -> SimpleFileOptions {
    let [year, month, day, hour, minute, second] = calendar::date_time(bundle.made_unix);
    let small = |of: i64| u8::try_from(of).unwrap_or_default();
    let year = u16::try_from(year).unwrap_or_default();
    // A clock before 1980 shows no time that a ZIP can hold.
    let at = DateTime::from_date_and_time(year, small(month), small(day), small(hour), small(minute), small(second));
    SimpleFileOptions::default().large_file(true).unix_permissions(0o644).last_modified_time(at.unwrap_or_default())
}

/// Whether an archive is a support bundle of ours.
pub(crate) fn is_bundle(file: &mut (impl Read + Seek)) -> bool {
    let mut head = Vec::new();
    let look = || -> Option<()> {
        let mut archive = ZipArchive::new(file).ok()?;
        let first = archive.by_index(0).ok()?;
        let name = first.name().ok()?.into_owned();
        let is_known = name.starts_with(FOLDER) && name.split_once('/')?.1 == CONTENTS;
        is_known.then(|| first.take(HEAD.len() as u64).read_to_end(&mut head))?.ok().map(drop)
    };
    look().is_some() && head == HEAD.as_bytes()
}
