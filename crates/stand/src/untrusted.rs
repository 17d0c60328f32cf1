//! What this crate reads that others may have written, as functions of the bytes alone: for tests with arbitrary bytes. Nothing here
//! looks at a machine, and nothing of the tool calls it.

use crate::owner::Note;
use crate::{blkid, contents, inventory, mounts, stands};
use std::io;
use stend_base::Result;
use stend_record::Health;
use stend_spec::stand::Stand;

/// The stand that a journal is of; `None` where no whole line of one is in it. Errors: `Preflight` for what is no journal, `Spec` for a
/// stand that this version does not know.
pub fn journal(text: &str) -> Result<Option<Stand>> {
    stands::stand_in(text)
}

/// The mark at the beginning of these blocks of a device, as it would be written again; `None` where there is no whole one.
pub fn mark(blocks: &[u8]) -> Option<Vec<u8>> {
    contents::mark_in(blocks)
}

/// Names of what `blkid -p` found, from its exit code and what it printed.
pub fn blkid(exit: Option<i32>, out: &str, err: &str) -> io::Result<Vec<String>> {
    Ok(blkid::parse(exit, out, err)?.into_iter().map(|mark| mark.name).collect())
}

/// Whether the text of a lease or marker is the note of a run.
pub fn is_note(text: &str) -> bool {
    Note::parse(text).is_some()
}

/// Mount points in the kernel's list of mounts, whose names users choose.
pub fn mounts(text: &str) -> Vec<std::path::PathBuf> {
    mounts::parse(text, None).into_iter().map(|mount| mount.at).collect()
}

/// What `smartctl` or `nvme` told of a drive.
pub fn health(text: &str) -> Option<Health> {
    inventory::health_in(text)
}
