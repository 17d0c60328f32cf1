//! The file in which messages wait: whole or as it was before, readable for its owner alone, and of one process at a time.

use crate::policy::State;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use stend_base::{Error, Result, Say, say};

/// Larger than what the limits of the queue allow.
const SIZE_MAX: u64 = 64 << 20;

/// A directory with the state of one file of receivers.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    /// Generation of the newest state that was to be kept. Locked while one is written: there is one `state.new`.
    newest: Mutex<u64>,
    /// Locked as long as this lives.
    _lock: File,
}

impl Store {
    /// Opens the directory, which is made if it is not there, and what an earlier process left in it.
    ///
    /// Errors: kind `Preflight` if it cannot be used, or another process uses it.
    pub fn open(directory: &Path) -> Result<(Store, State)> {
        let shown = directory.display();
        let failed = |error: io::Error| {
            let Say { en, ru } = stend_sys::regular::why(&error);
            Error::preflight(say!(
                "cannot keep messages in `{shown}`: {en}",
                "не удаётся хранить сообщения в `{shown}`: {ru}"
            ))
        };
        private_directory(directory).map_err(failed)?;
        let mut options = OpenOptions::new();
        let lock = options
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(directory.join("lock"))
            .map_err(failed)?;
        hand_over(&lock, directory).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::preflight(say!(
                    "another recording sends messages from `{shown}`",
                    "сообщения из `{shown}` отправляет другая запись"
                ))
                .hint(say!(
                    "stop it, or give this one a file of receivers of another name",
                    "остановите её или дайте этой файл получателей с другим именем"
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let store = Store { directory: directory.to_path_buf(), newest: Mutex::new(0), _lock: lock };
        let place = store.place();
        let state = match place.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => State::default(),
            _ => {
                let text =
                    stend_sys::regular::text(&place, SIZE_MAX).map_err(|why| failed(io::Error::other(why.en)))?;
                serde_json::from_str(&text).map_err(|error| failed(error.into()))?
            }
        };
        Ok((store, state))
    }

    /// Keeps the state, durably. Generations ascend from 1; `None`: a newer one came first, and an older state never takes its place.
    pub fn keep(&self, state: &State, generation: u64) -> Option<io::Result<()>> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if generation <= *newest {
            return None;
        }
        *newest = generation;
        Some(self.write(state))
    }

    fn write(&self, state: &State) -> io::Result<()> {
        let new = self.directory.join("state.new");
        // Left over by a process that was killed.
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        write_private(&new, serde_json::to_string(state)?.as_bytes())?;
        std::fs::rename(&new, self.place())?;
        File::open(&self.directory)?.sync_all()
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn place(&self) -> PathBuf {
        self.directory.join("state.json")
    }
}

/// Whether a process sends from this directory now.
///
/// Errors: those of opening its lock.
pub fn is_held(directory: &Path) -> io::Result<bool> {
    match File::open(directory.join("lock")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
        Ok(lock) => match lock.try_lock() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        },
    }
}

/// A directory that its owner alone can enter, with those above it; a new one belongs to the owner of the one that it is in.
pub fn private_directory(place: &Path) -> io::Result<()> {
    if place.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(place)?;
    hand_over(&File::open(place)?, place.parent().unwrap_or(place))
}

/// A new file that its owner alone can read, made durable.
pub fn write_private(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(place)?;
    hand_over(&file, place.parent().unwrap_or(place))?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A file belongs to the owner of its directory: what root writes under sudo, the user behind it reads without.
pub fn hand_over(file: &File, directory: &Path) -> io::Result<()> {
    let of = directory.metadata()?;
    match file.metadata()?.uid() == of.uid() {
        true => Ok(()),
        false => std::os::unix::fs::fchown(file, Some(of.uid()), Some(of.gid())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Happening;
    use crate::policy::Clock;
    use crate::words::tests::item;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn threads_that_keep_at_the_same_time_disturb_no_other_and_the_newest_state_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (store, state) = Store::open(dir.path()).unwrap();
        let file = stend_spec::parse::notify("receivers: {a: {syslog: {}}}", "n.yaml").unwrap();
        let of = |generation: u64| {
            let mut state = state.clone();
            state.note(
                &file,
                item(&format!("md{generation}"), Happening::Opened),
                Clock { unix: 5, monotonic: 5, minute: 0 },
            );
            state
        };
        std::thread::scope(|scope| {
            for first in 1..=4 {
                let (store, of) = (&store, &of);
                scope.spawn(move || {
                    for generation in (first..=40).step_by(4) {
                        store.keep(&of(generation), generation).into_iter().for_each(|kept| kept.unwrap());
                    }
                });
            }
        });
        assert!(store.keep(&of(7), 7).is_none(), "an older one");
        drop(store);
        assert_eq!(Store::open(dir.path()).unwrap().1, of(40));
    }

    #[test]
    fn what_waits_is_there_for_the_next_process_and_two_do_not_send_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("notify/x");
        let (store, mut state) = Store::open(&place).unwrap();
        let file = stend_spec::parse::notify("receivers: {a: {syslog: {}}}", "n.yaml").unwrap();
        state.note(&file, item("md0", Happening::Opened), Clock { unix: 5, monotonic: 5, minute: 0 });
        std::fs::write(place.join("state.new"), "of a process that was killed").unwrap();
        store.keep(&state, 1).unwrap().unwrap();
        assert!(Store::open(&place).unwrap_err().message.en.contains("another recording"));
        drop(store);
        let (store, found) = Store::open(&place).unwrap();
        assert_eq!((found.queue.len(), found), (1, state));
        let mode = std::fs::metadata(store.place()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(store);
        std::fs::write(place.join("state.json"), "{}x").unwrap();
        assert!(Store::open(&place).unwrap_err().message.en.contains("cannot keep messages"));
    }
}
