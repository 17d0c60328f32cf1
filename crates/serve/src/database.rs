//! Small databases beside the tokens and tasks of the server. Must not know what is in them.

use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions};
use std::path::Path;
use stend_base::{Error, Result, Say, say};
use stend_record::store;

/// `Stsv`, as the run file has `Stnd`.
const APPLICATION: i32 = 0x5374_7376;
const VERSION: i32 = 1;

/// Opens a database, or makes it with these tables. Only its owner can read it.
///
/// Errors: `Preflight` if it cannot be used, or something else has its name.
pub fn open(path: &Path, tables: &str) -> Result<Connection> {
    let outside = |error: std::io::Error| unusable(path, &stend_sys::regular::why(&error));
    let inside = |error: rusqlite::Error| unusable(path, &Say::same(error.to_string()));
    private(path).map_err(outside)?;
    let db = Connection::open(path).map_err(inside)?;
    // Its journal goes with each change, so that no file of another user stays behind `sudo`.
    db.pragma_update(None, "synchronous", "FULL").map_err(inside)?;
    if written_by(&db).map_err(inside)? == (0, 0) {
        let made =
            format!("BEGIN; {tables}; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;");
        db.execute_batch(&made).map_err(inside)?;
    }
    is_ours(&db, path)?;
    Ok(db)
}

/// A file that only the owner of its directory can read.
///
/// Errors: those of [`store::private_file`].
pub fn private(path: &Path) -> std::io::Result<File> {
    store::private_file(path, OpenOptions::new().read(true).write(true))
}

/// A whole database as it is at one moment, though a server goes on writing to it.
///
/// Errors: `Preflight` if it cannot be read, or is none of the server.
pub fn image(path: &Path) -> Result<Vec<u8>> {
    let inside = |error: rusqlite::Error| unusable(path, &Say::same(error.to_string()));
    let mut db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(inside)?;
    is_ours(&db, path)?;
    // Nothing is written meanwhile: one moment for all pages.
    db.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;").map_err(inside)?;
    Ok(db.serialize("main").map_err(inside)?.to_vec())
}

/// A run file as it is at one moment though a run goes on writing to it: a copy that has no name any more.
///
/// Errors: `RunFile` if it cannot be read, or the copy not be written.
pub fn moment(run_file: &Path, copy: &Path) -> Result<File> {
    let shown = run_file.display();
    let failed =
        |why: String| Error::run_file(say!("cannot copy `{shown}`: {why}", "не удаётся скопировать `{shown}`: {why}"));
    let outside = |error: std::io::Error| failed(error.to_string());
    // One that a server left which was killed meanwhile.
    match std::fs::remove_file(copy) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(outside(error)),
        _ => {}
    }
    let copied = (|| {
        let db = Connection::open_with_flags(run_file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // Others may have written the file: nothing in it is executed.
        db.pragma_update(None, "trusted_schema", false)?;
        db.execute("VACUUM INTO ?1", [copy.to_string_lossy()])
    })();
    let opened = copied
        .map_err(|error: rusqlite::Error| failed(error.to_string()))
        .and_then(|_| File::open(copy).map_err(outside));
    // Whether it became whole or not, nothing finds it by its name.
    drop(std::fs::remove_file(copy));
    opened
}

/// Whether this version of the server can use a database.
///
/// Errors: `Preflight`.
pub fn is_usable(path: &Path) -> Result<()> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    is_ours(&db.map_err(|error| unusable(path, &Say::same(error.to_string())))?, path)
}

fn is_ours(db: &Connection, path: &Path) -> Result<()> {
    match written_by(db).map_err(|error| unusable(path, &Say::same(error.to_string())))? {
        (APPLICATION, VERSION) => Ok(()),
        _ => Err(unusable(path, &say!("another version of Stend wrote it", "его записала другая версия Стенда"))),
    }
}

fn written_by(db: &Connection) -> rusqlite::Result<(i32, i32)> {
    let number = |name: &str| db.pragma_query_value(None, name, |row| row.get(0));
    Ok((number("application_id")?, number("user_version")?))
}

/// Why a file beside the database cannot be used.
pub fn unusable(path: &Path, Say { en, ru }: &Say) -> Box<Error> {
    let path = path.display();
    Error::preflight(say!("cannot use `{path}`: {en}", "нельзя использовать `{path}`: {ru}"))
}
