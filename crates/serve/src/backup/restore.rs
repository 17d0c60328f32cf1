//! Makes a server of a backup, where there is none. Must not replace a file, and begins nothing: tasks that waited end, schedules pause.

use super::{Contents, NOTE, Note, SCHEMA, SCHEMA_VERSION, TOKEN, directory, exists, is_database, place};
use crate::database;
use crate::{schedules, tasks};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, Say, say};
use stend_record::store::{self, Owner};
use zip::ZipArchive;

/// Longest note and hash, in bytes.
const NOTE_MAX: u64 = 64 << 10;

/// Makes a server of an archive, for the directory of run files, and puts its runs there.
///
/// Errors: `Unsafe` if there is a server or one of the runs already; `Preflight` if the file is no whole backup, or cannot be read or written. Then
/// nothing stays of it.
pub fn restore(runs: &Path, file: &Path) -> Result<Contents> {
    let server = directory(runs);
    let damaged = |error: &dyn std::fmt::Display| unreadable(file, &Say::same(error.to_string()));
    let opened = File::open(file).map_err(|error| unreadable(file, &stend_sys::regular::why(&error)))?;
    let mut archive = ZipArchive::new(opened).map_err(|error| damaged(&error))?;
    let entries = entries(&mut archive, file)?;
    if std::fs::read_dir(&server).is_ok_and(|mut found| found.next().is_some()) {
        return Err(is_taken(&server));
    }
    let below = server.parent().unwrap_or(Path::new("/")).to_path_buf();
    let of_runs = || entries.keys().filter(|path| path.starts_with("runs"));
    if let Some(there) = of_runs().map(|path| below.join(path)).find(|path| path.symlink_metadata().is_ok()) {
        return Err(exists(&there));
    }
    store::make_server_directory(&below)?;
    store::make_server_directory(runs)?;
    let owner = Owner::of_nearest(&below).map_err(|error| unreadable(file, &stend_sys::regular::why(&error)))?;
    let mut made = Made { owner, paths: Vec::new(), is_kept: false };
    let fresh = below.join(format!("server.{}", std::process::id()));
    let mut contents = Contents::default();
    let mut unpacked = || -> io::Result<()> {
        made.directory(&fresh)?;
        for (path, index) in &entries {
            let mut entry = archive.by_index(*index)?;
            contents.count(&path.to_string_lossy());
            match path.strip_prefix("server") {
                Ok(within) => made.file(&fresh.join(within), &mut entry)?,
                Err(_) => made.file(&below.join(path), &mut entry)?,
            }
        }
        Ok(())
    };
    unpacked().map_err(|error| unreadable(file, &stend_sys::regular::why(&error)))?;
    for name in entries.keys().filter_map(|path| path.file_name()?.to_str()).filter(|name| is_database(name)) {
        database::is_usable(&fresh.join(name))?;
    }
    made.paths.extend([fresh.join("server.lock"), fresh.join("schedules.db")]);
    tasks::drop_queue(&fresh)?;
    schedules::pause_all(&fresh)?;
    let named = std::fs::rename(&fresh, &server).and_then(|()| File::open(&below)?.sync_all());
    named.map_err(|error| match error.kind() {
        // Somebody began one meanwhile.
        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => is_taken(&server),
        _ => unreadable(file, &stend_sys::regular::why(&error)),
    })?;
    made.is_kept = true;
    Ok(contents)
}

/// Where the files of an archive belong, all of which are known.
fn entries(archive: &mut ZipArchive<File>, file: &Path) -> Result<BTreeMap<PathBuf, usize>> {
    let none = || unreadable(file, &say!("it is no backup of a server", "это не резервная копия сервера"));
    let mut text = String::new();
    let noted = archive.by_name(NOTE).map_err(|_| none())?.take(NOTE_MAX).read_to_string(&mut text);
    let note: Note = noted.ok().and_then(|_| serde_json::from_str(&text).ok()).ok_or_else(none)?;
    if (note.schema.as_str(), note.schema_version) != (SCHEMA, SCHEMA_VERSION) {
        let version = &note.stend_version;
        return Err(unreadable(file, &say!("Stend {version} wrote it", "её записал Стенд {version}")));
    }
    let mut entries = BTreeMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| unreadable(file, &Say::same(error.to_string())))?;
        let name = entry.name().map_err(|_| none())?.into_owned();
        if name == NOTE {
            continue;
        }
        let place = place(&name).ok_or_else(|| {
            unreadable(file, &say!("it holds `{name}`, which no backup has", "в ней `{name}`, чего в копии не бывает"))
        })?;
        entries.insert(place, index);
    }
    let is_there = |name: &str| entries.contains_key(&Path::new("server").join(name));
    if is_there(TOKEN) && is_there("users.db") && is_there("server.db") { Ok(entries) } else { Err(none()) }
}

/// What was made so far; it goes with an error.
struct Made {
    /// Who all of it belongs to: the owner of the directory that the server is in.
    owner: Option<Owner>,
    /// Directories before what is in them.
    paths: Vec<PathBuf>,
    is_kept: bool,
}

impl Made {
    fn directory(&mut self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)?;
        self.paths.push(path.into());
        self.owner.map_or(Ok(()), |owner| owner.take_entry(path))
    }

    /// A new file, with its directories below the first that was made.
    fn file(&mut self, path: &Path, from: &mut impl Read) -> io::Result<()> {
        for parent in path.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
            if !parent.exists() {
                self.directory(parent)?;
            }
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        self.paths.push(path.into());
        self.owner.map_or(Ok(()), |owner| owner.take_file(&file))?;
        io::copy(from, &mut file)?;
        file.sync_all()
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for path in self.paths.iter().rev() {
            // A directory that others have put something into stays.
            drop(if path.is_dir() { std::fs::remove_dir(path) } else { std::fs::remove_file(path) });
        }
    }
}

fn is_taken(server: &Path) -> Box<Error> {
    let shown = server.display();
    Error::refused(say!(
        "there is a server in `{shown}` already, and nothing is replaced",
        "в `{shown}` уже есть сервер, а замены не бывает"
    ))
    .hint(say!(
        "move it away, or restore into another place: `XDG_DATA_HOME=DIR stend serve restore FILE`",
        "переместите его или восстановите в другое место: `XDG_DATA_HOME=КАТАЛОГ stend serve restore ФАЙЛ`"
    ))
}

fn unreadable(file: &Path, Say { en, ru }: &Say) -> Box<Error> {
    let shown = file.display();
    Error::preflight(say!("cannot restore from `{shown}`: {en}", "не удаётся восстановить из `{shown}`: {ru}"))
}
