//! Backups of the server: hashes of tokens, its own certificate, the log of changes, tasks and, if asked, run files as one ZIP archive. Must not replace a file,
//! and starts nothing. `restore.rs` below makes a server of one.

mod restore;

pub use restore::restore;

use crate::database;
use crate::tls::own;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use stend_api::is_task_id;
use stend_base::{Error, Result, Say, say};
use stend_record::store::{self, EXTENSION, KnownRun, Owner};
use zip::ZipWriter;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;

/// First entry of an archive: what it is, and when it was made.
const NOTE: &str = "stend-backup.json";
const SCHEMA: &str = "stend-backup";
const SCHEMA_VERSION: u32 = 1;
/// The hash of the token of the first start.
const TOKEN: &str = "token.sha256";
/// Key and certificate that the server made itself; what clients get of it is made of that again.
const CERTIFICATE: &str = own::FILE;
/// What is kept of a task beside the database; its lock means nothing elsewhere.
const OF_TASK: [&str; 4] = ["order", "runs", "ended", "log"];

/// What an archive says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    schema: String,
    schema_version: u32,
    stend_version: String,
    made_unix: i64,
}

/// What an archive holds.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Tasks with files of their own: those that have begun.
    pub tasks: usize,
    /// Run files.
    pub runs: usize,
    /// Run files that were left out, because something writes to them or their names are no names of runs.
    pub left_out: usize,
}

impl Contents {
    /// A file whose name in the archive is this.
    fn count(&mut self, name: &str) {
        self.runs += usize::from(name.starts_with("runs/") && has_extension(name, EXTENSION));
        self.tasks += usize::from(name.starts_with("server/tasks/") && name.ends_with("/order"));
    }
}

/// Writes the server whose run files are in a directory, which may be at work, to a new file that its owner alone can read.
///
/// Errors: `Unsafe` if there is such a file, `Preflight` if there is no server, or something cannot be read or written.
pub fn save(runs: &Path, with_runs: bool, file: &Path, stend_version: &str) -> Result<Contents> {
    let server = directory(runs);
    if server.join(TOKEN).symlink_metadata().is_err() {
        let shown = server.display();
        let message = say!("there is no server in `{shown}`", "в `{shown}` нет сервера");
        return Err(Error::preflight(message).hint(say!("`stend serve` makes one", "`stend serve` его создаст")));
    }
    let databases = databases(&server)?;
    let known = if with_runs { store::known_runs(runs)? } else { Vec::new() };
    let archive = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let archive = archive.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(file),
        _ => failed(file, &error),
    })?;
    let written = (|| {
        // Its key and hashes are the server's: who may start Stend as root gets no key of root's server.
        Owner::of_nearest(&server).and_then(|owner| owner.map_or(Ok(()), |owner| owner.take_file(&archive)))?;
        let mut writer = Writer { zip: ZipWriter::new(archive), contents: Contents::default() };
        writer.note(stend_version)?;
        writer.file("server/token.sha256", &server.join(TOKEN))?;
        // A server that never encrypted has made none. What its clients have compared stays true where it is restored.
        match writer.file(&format!("server/{CERTIFICATE}"), &server.join(CERTIFICATE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => done?,
        }
        for (name, image) in &databases {
            writer.bytes(&format!("server/{name}"), image)?;
        }
        writer.tasks(&server.join("tasks"))?;
        writer.runs(&known)?;
        writer.zip.finish()?.sync_all()?;
        Ok(writer.contents)
    })();
    written.map_err(|error: io::Error| {
        // Half an archive is none, and this process made it.
        drop(std::fs::remove_file(file));
        failed(file, &error)
    })
}

/// Where the server of a directory of run files keeps what it has.
fn directory(runs: &Path) -> PathBuf {
    runs.parent().unwrap_or(Path::new("/")).join("server")
}

/// The databases of a server, each as it is at one moment.
fn databases(server: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let entries = std::fs::read_dir(server).map_err(|error| failed(server, &error))?;
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| is_database(name));
    names.sort();
    names.into_iter().map(|name| Ok((name.clone(), database::image(&server.join(&name))?))).collect()
}

struct Writer {
    zip: ZipWriter<File>,
    contents: Contents,
}

impl Writer {
    fn note(&mut self, stend_version: &str) -> io::Result<()> {
        let note = Note {
            schema: SCHEMA.into(),
            schema_version: SCHEMA_VERSION,
            stend_version: stend_version.into(),
            made_unix: crate::clock::now_unix(),
        };
        self.bytes(NOTE, &serde_json::to_vec_pretty(&note)?)
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.begin(name)?;
        self.zip.write_all(bytes)
    }

    fn file(&mut self, name: &str, from: &Path) -> io::Result<()> {
        let mut from = File::open(from)?;
        self.begin(name)?;
        io::copy(&mut from, &mut self.zip).map(drop)
    }

    fn begin(&mut self, name: &str) -> ZipResult<()> {
        self.contents.count(name);
        self.zip.start_file(name, SimpleFileOptions::default().large_file(true).unix_permissions(0o600))
    }

    fn tasks(&mut self, tasks: &Path) -> io::Result<()> {
        let entries = match std::fs::read_dir(tasks) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let Some(id) = entry.file_name().to_str().filter(|id| is_task_id(id)).map(String::from) else { continue };
            for name in OF_TASK {
                match self.file(&format!("server/tasks/{id}/{name}"), &entry.path().join(name)) {
                    // A task that has not got so far.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    done => done?,
                }
            }
        }
        Ok(())
    }

    fn runs(&mut self, known: &[KnownRun]) -> io::Result<()> {
        for run in known.iter().filter(|run| run.is_there()) {
            let name = format!("runs/{}.{EXTENSION}", run.name);
            // A file that is being written has no moment at which a copy of it is whole.
            if stend_run::is_going_on(&run.path) || place(&name).is_none() {
                self.contents.left_out += 1;
                continue;
            }
            self.file(&name, &run.path)?;
            match self.file(&format!("{name}-wal"), &beside(&run.path, "-wal")) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => done?,
            }
        }
        Ok(())
    }
}

/// A file whose name goes on behind that of another.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(more);
    name.into()
}

/// Where a file of an archive belongs below the directory of data; `None` for a name that no backup has.
fn place(name: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = name.split('/').collect();
    let known = match parts.as_slice() {
        ["server", file] => [TOKEN, CERTIFICATE].contains(file) || is_database(file),
        ["server", "tasks", id, file] => is_task_id(id) && OF_TASK.contains(file),
        ["runs", file] => {
            let is_run = has_extension(file, EXTENSION) || has_extension(file, &format!("{EXTENSION}-wal"));
            is_run && !file.starts_with('.') && !file.contains('\0')
        }
        _ => false,
    };
    let path = PathBuf::from(name);
    (known && path.components().all(|part| matches!(part, Component::Normal(_)))).then_some(path)
}

fn is_database(name: &str) -> bool {
    name.strip_suffix(".db").is_some_and(|stem| !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension() == Some(OsStr::new(extension))
}

fn exists(file: &Path) -> Box<Error> {
    let shown = file.display();
    Error::refused(say!(
        "`{shown}` is there already, and nothing is replaced",
        "`{shown}` уже есть, а замены не бывает"
    ))
    .hint(say!("name another file", "укажите другой файл"))
}

fn failed(file: &Path, error: &io::Error) -> Box<Error> {
    let (shown, Say { en, ru }) = (file.display(), stend_sys::regular::why(error));
    Error::preflight(say!(
        "cannot make the backup `{shown}`: {en}",
        "не удаётся создать резервную копию `{shown}`: {ru}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn a_name_in_an_archive_is_one_of_ours_or_has_no_place() {
        for name in [
            "server/token.sha256",
            "server/tls.pem",
            "server/users.db",
            "server/tasks/a-1/log",
            "runs/R-1.stend",
            "runs/x.stend-wal",
        ] {
            assert_eq!(place(name), Some(name.into()), "{name}");
        }
        for name in [
            "",
            "server/../users.db",
            "../server/users.db",
            "/server/users.db",
            "server/.db",
            "server/x/users.db",
            "server/tasks/../log",
            "server/tasks/a/lock",
            "runs/../x.stend",
            "runs/.stend",
            "runs/a/b.stend",
            "runs//b.stend",
            "runs/b.sh",
        ] {
            assert_eq!(place(name), None, "{name}");
        }
    }

    /// An archive of these files, the note included.
    fn archive(at: &Path, version: u32, files: &[(&str, &[u8])]) {
        let mut zip = ZipWriter::new(File::create(at).unwrap());
        let note =
            format!(r#"{{"schema":"stend-backup","schema_version":{version},"stend_version":"9","made_unix":0}}"#);
        for (name, bytes) in [(NOTE, note.as_bytes())].iter().chain(files) {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
    }

    #[test]
    fn an_archive_that_is_no_whole_backup_makes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (runs, file) = (dir.path().join("data/runs"), dir.path().join("x.zip"));
        let users = dir.path().join("users.db");
        drop(database::open(&users, "CREATE TABLE token (id TEXT) STRICT").unwrap());
        let database = std::fs::read(&users).unwrap();
        let whole: Vec<(&str, &[u8])> = vec![
            ("server/token.sha256", b"00"),
            ("server/users.db", &database),
            ("server/server.db", b"no database"),
            ("runs/R-1.stend", b"run"),
        ];
        let refused = |what: &str| {
            let error = restore(&runs, &file).err().unwrap_or_else(|| panic!("{what} was taken"));
            assert_eq!(error.kind, Kind::Preflight, "{what}: {error}");
            let left: Vec<_> = std::fs::read_dir(dir.path().join("data")).into_iter().flatten().flatten().collect();
            let left: Vec<_> = left.iter().map(|entry| entry.file_name()).filter(|name| name != "runs").collect();
            assert!(left.is_empty(), "{what} left {left:?}");
            assert!(std::fs::read_dir(&runs).map_or(0, Iterator::count) == 0, "{what} left a run");
        };
        archive(&file, 1, &whole);
        refused("a database that is none");
        archive(&file, 2, &whole);
        refused("one of a later version");
        archive(&file, 1, &whole[..2]);
        refused("one without tasks");
        archive(&file, 1, &[whole.as_slice(), &[("../escaped", b"x")]].concat());
        refused("a name that leads out");
        let bytes = std::fs::read(&file).unwrap();
        for cut in [0, 10, bytes.len() / 2, bytes.len() - 5] {
            std::fs::write(&file, &bytes[..cut]).unwrap();
            refused("a part of one");
        }
        std::fs::write(&file, vec![7; 5000]).unwrap();
        refused("no archive");
    }
}
