//! What the system did not let us do, in words, with a way out. Pure.

use stend_base::{Error, Say, say};

/// O_DIRECT does not work here.
pub(crate) fn direct_refused(path: &str) -> Box<Error> {
    Error::preflight(say!(
        "cannot open `{path}` with direct I/O: its file system refuses O_DIRECT",
        "не удаётся открыть `{path}` в режиме прямого ввода-вывода: файловая система не поддерживает O_DIRECT"
    ))
    .hint(say!(
        "name a directory on another file system, or write `direct: false` in the suite to measure with the page cache",
        "укажите каталог на другой файловой системе или задайте в наборе `direct: false`, чтобы измерять вместе со страничным кэшем"
    ))
}

/// The system did not let us do `what`, words that follow "cannot".
pub(crate) fn preflight(path: &str, what: &Say, error: &std::io::Error) -> Box<Error> {
    if let Some(refused) = stend_sys::tree::refusal(error) {
        return refused;
    }
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let Say { en, ru } = what;
    let Say { en: why, ru: why_ru } = stend_sys::regular::why(error);
    let message = say!("cannot {en}: `{path}`: {why}", "не удалось {ru}: `{path}`: {why_ru}");
    let error_with = |hint| Error::preflight(message.clone()).hint(hint);
    match error.kind() {
        StorageFull | QuotaExceeded => error_with(say!(
            "free some space, name another directory, or set a smaller `fill: {{size: …}}` in the suite",
            "освободите место, укажите другой каталог или задайте в наборе меньший `fill: {{size: …}}`"
        )),
        PermissionDenied => error_with(say!(
            "run as root for a device; for a directory, name one of yours, e.g. `--on ~/stend-test`",
            "для устройства нужны права root; каталог укажите свой, например `--on ~/stend-test`"
        )),
        ReadOnlyFilesystem => error_with(say!(
            "the file system is mounted read-only; name a directory on another one",
            "файловая система смонтирована только для чтения; укажите каталог на другой"
        )),
        _ => Error::preflight(message),
    }
}

/// The same of what is kept of a stand or of changes of the machine: only root may.
pub(crate) fn of_root(path: &str, what: &Say, error: &std::io::Error) -> Box<Error> {
    let told = preflight(path, what, error);
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => told.hint(say!(
            "stands and changes of the machine need root: `sudo stend stand up …`, `sudo stend run …`",
            "для стендов и изменений на машине нужны права root: `sudo stend stand up …`, `sudo stend run …`"
        )),
        _ => told,
    }
}

/// Why a target cannot be opened for reading.
pub(crate) fn cannot_read(path: &str, direct: bool, error: &std::io::Error) -> Box<Error> {
    if direct && error.kind() == std::io::ErrorKind::InvalidInput {
        return direct_refused(path);
    }
    preflight(path, &say!("open for reading", "открыть на чтение"), error)
}
