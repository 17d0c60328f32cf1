//! Where one job of fio goes to, as it says itself. Must not know of other jobs.

use super::job::Job;
use crate::fio_values::Amount;
use stend_base::{Bytes, Result};
use stend_spec::keys::BLOCK_UNIT;

/// Where one job goes to, as it says.
#[derive(Debug)]
pub(super) struct Area {
    /// Files and devices by name; none: files of its own.
    pub paths: Vec<String>,
    /// Files of its own for each clone.
    pub files: u64,
    /// Clones of the job.
    pub clones: u32,
    pub size: Option<Amount>,
    pub filesize: Option<Bytes>,
    pub offset: Amount,
    pub step: Amount,
    /// Where files are made that have no names.
    pub directory: Option<String>,
}
impl Area {
    pub fn of(job: &Job) -> Result<Area> {
        let base = job.kb_base()?;
        let paths = match job.get("filename") {
            Some(option) => split(option.text()?),
            None => attached(job)?,
        };
        let directory = job.get("directory").map(|option| option.text()).transpose()?;
        let directory = directory.map(|directory| directory.trim_end_matches('/').to_string());
        // As in fio a relative name counts from there.
        let paths = match &directory {
            Some(directory) => {
                let join = |path: String| if path.starts_with('/') { path } else { format!("{directory}/{path}") };
                paths.into_iter().map(join).collect()
            }
            None => paths,
        };
        whole_sectors(job, base)?;
        let clones = job.get("numjobs").map_or(Ok(1), |option| option.small())?;
        if let Some(option) = job.get("numjobs").filter(|_| !(1..=1024).contains(&clones)) {
            return Err(option.wrong(&clones.to_string(), "1 to 1024", "от 1 до 1024"));
        }
        let bytes = |name: &str| job.get(name).map(|option| option.bytes(option.text()?, base)).transpose();
        let amount = |name: &str| -> Result<Amount> {
            match job.get(name).map(|option| option.amount(base)).transpose()? {
                None | Some(Amount::Percent(0)) => Ok(Amount::NONE),
                Some(amount) => Ok(amount),
            }
        };
        let files = job.get("nrfiles").map_or(Ok(1), |option| option.small())?;
        if let Some(option) = job.get("nrfiles").filter(|_| !(1..=10_000).contains(&files)) {
            return Err(option.wrong(&files.to_string(), "1 to 10000", "от 1 до 10000"));
        }
        let filesize = match job.get("filesize") {
            Some(option) if option.text()?.contains(['-', ',']) => {
                return Err(option.wrong(option.text()?, "one size for all files", "один размер для всех файлов"));
            }
            _ => bytes("filesize")?.filter(|size| size.0 > 0),
        };
        Ok(Area {
            paths,
            files: u64::from(files),
            clones,
            size: job.get("size").map(|option| option.amount(base)).transpose()?.filter(|size| *size != Amount::NONE),
            filesize,
            offset: amount("offset")?,
            step: amount("offset_increment")?,
            directory,
        })
    }

    /// Whether each clone begins further on than the one before.
    pub fn steps(&self) -> bool {
        self.step != Amount::NONE && !self.paths.is_empty()
    }

    /// Whether it works on files that nobody else has.
    pub fn has_own_files(&self) -> bool {
        self.paths.is_empty()
    }

    /// Files that fio would make for the job alone.
    pub fn own_files(&self) -> u64 {
        if self.paths.is_empty() { self.files * u64::from(self.clones) } else { 0 }
    }

    /// Bytes of each of its files, if they are known.
    pub(super) fn file(&self) -> Option<Bytes> {
        let count = if self.paths.is_empty() { self.files } else { self.paths.len() as u64 };
        if let Some(size) = self.filesize {
            return Some(whole_blocks(size));
        }
        let notes = match self.size {
            Some(Amount::Bytes(size)) => Some(Bytes(size.0 / count.max(1))),
            _ => None,
        }?;
        let offset = if let Amount::Bytes(offset) = self.offset { offset } else { Bytes(0) };
        // What is before the offset has to be there, too, and before that of the last clone.
        let step = if let Amount::Bytes(step) = self.step { step.0 } else { 0 };
        let steps = step.saturating_mul(u64::from(self.clones) - 1);
        Some(whole_blocks(Bytes((notes + offset).0.saturating_add(steps))))
    }
}

/// What a job of an engine of a network works on, by the options of that engine: a device, once it is attached.
fn attached(job: &Job) -> Result<Vec<String>> {
    let text = |name: &str| job.get(name).map(|option| option.text().map(String::from)).transpose();
    Ok(match job.get("ioengine").and_then(|option| option.value.as_deref()) {
        Some("libblkio") => text("libblkio_path")?.into_iter().collect(),
        Some("nbd") => text("uri")?.into_iter().collect(),
        Some("rbd") => {
            let (pool, image) = (text("pool")?, text("rbdname")?);
            image.map(|image| format!("rbd:{}/{image}", pool.unwrap_or_default())).into_iter().collect()
        }
        _ => Vec::new(),
    })
}

/// Refuses lengths that no region has, as they stand there.
fn whole_sectors(job: &Job, base: u64) -> Result<()> {
    for option in ["size", "filesize", "offset", "offset_increment"].iter().filter_map(|name| job.get(name)) {
        let text = option.text()?;
        // Ranges of sizes are refused where they are read.
        let Ok(Amount::Bytes(bytes)) = option.amount(base) else { continue };
        if !bytes.0.is_multiple_of(BLOCK_UNIT) {
            return Err(option.wrong(text, "a multiple of 512 B", "размер, кратный 512 Б"));
        }
    }
    Ok(())
}

fn whole_blocks(size: Bytes) -> Bytes {
    Bytes(size.0.checked_next_multiple_of(4096).unwrap_or(size.0))
}

/// Names with `:` between them; `\:` is a colon of a name.
fn split(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&':') => names.last_mut().into_iter().for_each(|name| name.push(':')),
            ':' if !names.last().is_some_and(|name| name.ends_with(':') || name.is_empty()) => {
                names.push(String::new())
            }
            ':' => {}
            letter => names.last_mut().into_iter().for_each(|name| name.push(letter)),
        }
        if letter == '\\' && letters.peek() == Some(&':') {
            letters.next();
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Devices, and what becomes one when it is attached.
pub(super) fn device(path: &str) -> bool {
    let network = path.starts_with("rbd:") || path.contains("://");
    network || (path.starts_with("/dev/") && !path.starts_with("/dev/shm/"))
}
