//! Why a run file cannot be created or written, in words.

use rusqlite::ErrorCode;
use std::io;
use std::path::Path;
use stend_base::{Bytes, Error, Kind, Lang, Say, format, say};

/// The file could not be made.
pub fn cannot_create(path: &Path, error: &io::Error) -> Box<Error> {
    let shown = path.display();
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Error::new(
            Kind::RunFile,
            say!(
                "cannot create the run file `{shown}`: it exists",
                "не удаётся создать файл прогона `{shown}`: он уже существует"
            ),
        )
        .hint(say!(
            "name another file; a run file is never replaced",
            "укажите другое имя: файл прогона никогда не заменяется"
        ));
    }
    Error::new(
        Kind::RunFile,
        say!("cannot create the run file `{shown}`: {error}", "не удаётся создать файл прогона `{shown}`: {error}"),
    )
    .hint(say!(
        "name a file in a directory that exists and that you may write to",
        "укажите файл в существующем каталоге, доступном для записи"
    ))
}

/// SQLite could not write; the most common cause is put in words.
pub fn cannot_write(path: &Path, error: &rusqlite::Error) -> Box<Error> {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => {
            not_written(path, &say!("no space is left on its file system", "на его файловой системе не осталось места"))
        }
        _ => not_written(path, &Say::same(error.to_string())),
    }
}

/// The file or its directory could not be handed over or synced.
pub fn cannot_sync(path: &Path, error: &io::Error) -> Box<Error> {
    not_written(path, &Say::same(error.to_string()))
}

fn not_written(path: &Path, why: &Say) -> Box<Error> {
    let (shown, en, ru) = (path.display(), &why.en, &why.ru);
    Error::new(
        Kind::RunFile,
        say!("cannot write the run file `{shown}`: {en}", "не удаётся записать файл прогона `{shown}`: {ru}"),
    )
    .hint(say!(
        "what was recorded so far is kept; make room, or name another place with `-o`",
        "записанное до сих пор сохранено; освободите место или укажите другое с помощью `-o`"
    ))
}

/// The disk has no room for the expected size of the file.
pub fn no_room(path: &Path, reserve: Bytes, error: &io::Error) -> Box<Error> {
    let shown = path.display();
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| format::bytes(reserve, lang));
    Error::new(
        Kind::RunFile,
        say!(
            "cannot reserve {en} for the run file `{shown}`: {error}",
            "не удаётся зарезервировать {ru} для файла прогона `{shown}`: {error}"
        ),
    )
    .hint(say!("make room, or name another place with `-o`", "освободите место или укажите другое с помощью `-o`"))
}
