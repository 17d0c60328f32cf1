//! Why a run file cannot be created or written, in words.

use rusqlite::ErrorCode;
use std::io;
use std::path::Path;
use stend_base::{Bytes, Code, Error, Lang, Say, format, say};

/// The file could not be made.
pub fn cannot_create(path: &Path, error: &io::Error) -> Box<Error> {
    let shown = path.display();
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Error::new(
            Code::RunFileExists,
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
    if error.kind() == io::ErrorKind::NotFound {
        let directory = path.parent().unwrap_or(path).display();
        return Error::run_file(say!(
            "cannot create the run file `{shown}`: there is no directory `{directory}`",
            "не удаётся создать файл прогона `{shown}`: нет каталога `{directory}`"
        ))
        .hint(say!(
            "name a file in a directory that exists and that you may write to",
            "укажите файл в существующем каталоге, доступном на запись"
        ));
    }
    let Say { en, ru } = stend_sys::regular::why(error);
    Error::run_file(say!(
        "cannot create the run file `{shown}`: {en}",
        "не удаётся создать файл прогона `{shown}`: {ru}"
    ))
    .hint(say!(
        "name a file in a directory that you may write to: `-o FILE`",
        "укажите файл в каталоге, доступном вам на запись: `-o ФАЙЛ`"
    ))
}

/// SQLite could not write; the most common cause is put in words.
pub fn cannot_write(path: &Path, error: &rusqlite::Error) -> Box<Error> {
    not_written(path, &reason(error))
}

fn reason(error: &rusqlite::Error) -> Say {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => {
            say!("no space is left on its file system", "на его файловой системе не осталось места")
        }
        _ => Say::same(error.to_string()),
    }
}

/// A file that is there whole or not at all could not be written.
pub fn not_whole(path: &Path, error: &rusqlite::Error) -> Box<Error> {
    not_written(path, &reason(error)).hint(say!(
        "nothing of it was kept; free some space, or name another place with `-o`",
        "от него ничего не осталось; освободите место или укажите другое с помощью `-o`"
    ))
}

/// The file or its directory could not be handed over or synced.
pub fn cannot_sync(path: &Path, error: &io::Error) -> Box<Error> {
    not_written(path, &Say::same(error.to_string()))
}

fn not_written(path: &Path, why: &Say) -> Box<Error> {
    let (shown, en, ru) = (path.display(), &why.en, &why.ru);
    Error::run_file(say!(
        "cannot write the run file `{shown}`: {en}",
        "не удаётся записать файл прогона `{shown}`: {ru}"
    ))
    .hint(say!(
        "what was recorded so far is kept; free some space, or name another place with `-o`",
        "записанное до сих пор сохранено; освободите место или укажите другое с помощью `-o`"
    ))
}

/// The disk has no room for the expected size of the file.
pub fn no_room(path: &Path, reserve: Bytes, error: &io::Error) -> Box<Error> {
    let shown = path.display();
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| format::bytes(reserve, lang));
    Error::run_file(say!(
        "cannot reserve {en} for the run file `{shown}`: {error}",
        "не удаётся зарезервировать {ru} для файла прогона `{shown}`: {error}"
    ))
    .hint(say!("make room, or name another place with `-o`", "освободите место или укажите другое с помощью `-o`"))
}

/// A run that cannot be gone on with, and what to do instead.
pub fn cannot_resume(path: &Path, why: Say, hint: Say) -> Box<Error> {
    let (shown, en, ru) = (path.display(), why.en, why.ru);
    Error::run_file(say!(
        "cannot resume the run in `{shown}`: {en}",
        "не удаётся возобновить прогон из файла `{shown}`: {ru}"
    ))
    .hint(hint)
}

/// The plan has been walked to its end.
pub fn complete(path: &Path) -> Box<Error> {
    cannot_resume(
        path,
        say!("it is complete", "он завершён"),
        say!(
            "see it with `stend show`, or begin a new run",
            "посмотрите его командой `stend show` или начните новый прогон"
        ),
    )
}

/// Another process writes the file or its spool.
pub fn in_use(path: &Path) -> Box<Error> {
    cannot_resume(
        path,
        say!("another process is writing it", "в него пишет другой процесс"),
        say!(
            "wait until that run ends, or stop it with `stend stop`",
            "дождитесь конца того прогона или остановите его командой `stend stop`"
        ),
    )
}

/// Nobody may write the file.
pub fn read_only(path: &Path) -> Box<Error> {
    cannot_resume(
        path,
        say!("it is read-only", "он доступен только для чтения"),
        say!(
            "make it and its directory writable (`chmod u+w`), or resume it as the user it belongs to",
            "разрешите запись в него и в его каталог (`chmod u+w`) или возобновите прогон от имени владельца файла"
        ),
    )
}

/// The file could not be opened or locked.
pub fn cannot_open(path: &Path, error: &io::Error) -> Box<Error> {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => read_only(path),
        _ => cannot_resume(path, Say::same(error.to_string()), elsewhere()),
    }
}

/// A second writer could not be kept out.
pub fn no_locks(path: &Path) -> Box<Error> {
    let why = say!(
        "its file system cannot tell whether another process is writing it",
        "его файловая система не позволяет узнать, пишет ли в него другой процесс"
    );
    cannot_resume(path, why, elsewhere())
}

fn elsewhere() -> Say {
    say!(
        "copy it, with the files beside it that have its name and `-wal` or `.ledger` at the end, to a local disk and resume the copy",
        "скопируйте его вместе с файлами рядом с ним, имена которых отличаются лишь `-wal` или `.ledger` на конце, на локальный диск и возобновите копию"
    )
}

/// Entries that a killed coordinator left in its spool cannot be taken over.
pub fn cannot_take_spool(path: &Path, spool: &Path, error: &io::Error) -> Box<Error> {
    let spool = spool.display();
    cannot_resume(
        path,
        say!("its last entries are in `{spool}`: {error}", "его последние записи находятся в `{spool}`: {error}"),
        say!("resume it as the user that began it", "возобновите прогон от имени пользователя, который его начал"),
    )
}

/// What was recorded could not be put in order, or the resumption not be recorded.
pub fn cannot_go_on(path: &Path, error: &rusqlite::Error) -> Box<Error> {
    cannot_resume(
        path,
        reason(error),
        say!(
            "nothing recorded is lost; make room on its file system and resume it again",
            "записанное не потеряно; освободите место на файловой системе и возобновите прогон ещё раз"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_copies_a_run_file_to_go_on_is_asked_to_take_its_ledger_along() {
        let hint = no_locks(Path::new("/net/R-1.stend")).hint.unwrap();
        assert!(
            hint.en.contains("`-wal`") && hint.en.contains("`.ledger`") && hint.ru.contains("`.ledger`"),
            "{hint:?}"
        );
    }
}
