//! Makes a run that was written elsewhere known to the directory of run files: by a link, so that there is nothing to keep in step with
//! the file. Must not replace anything but a link of ours that leads nowhere.

use super::EXTENSION;
use super::directory::make_directory;
use super::owner::Owner;
use super::runs::KnownRun;
use std::io;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};

/// Links the run `id` into the directory of run files, which is made if it is not there, unless the file is in it by this name.
///
/// Errors: kind `RunFile`. The run file itself is not touched.
pub fn make_known(run_file: &Path, id: &str, directory: &Path) -> Result<()> {
    make_directory(directory)?;
    linked(run_file, id, directory, Owner::behind_sudo()).map_err(|error| {
        let shown = directory.display();
        Error::run_file(say!(
            "`stend list` and `last` will not know this run: no link can be made in `{shown}`: {error}",
            "`stend list` и `last` не будут знать этот прогон: в `{shown}` не удаётся создать ссылку: {error}"
        ))
    })
}

fn linked(run_file: &Path, id: &str, directory: &Path, owner: Option<Owner>) -> io::Result<()> {
    let target = std::path::absolute(run_file)?;
    let link = directory.join(format!("{id}.{EXTENSION}"));
    if is_same(&target, &link) {
        return Ok(());
    }
    match std::os::unix::fs::symlink(&target, &link) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // What is no link stays: another file has this name.
            let led_to = std::fs::read_link(&link).map_err(|_| error)?;
            let known = KnownRun { name: id.to_string(), path: directory.join(led_to), link: Some(link.clone()) };
            if known.path == target || known.is_there() {
                return Ok(());
            }
            // The file was moved, and its run goes on where it is now.
            std::fs::remove_file(&link)?;
            std::os::unix::fs::symlink(&target, &link)?;
        }
        made => made?,
    }
    owner.map_or(Ok(()), |owner| owner.take_entry(&link))
}

/// Whether both are one file, by whatever way they are reached.
fn is_same(file: &Path, name: &Path) -> bool {
    let place = |path: &Path| -> Option<PathBuf> { Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)) };
    place(file).is_some_and(|file| Some(file) == place(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_made_once_and_anew_where_the_file_has_moved_but_never_in_place_of_a_file() {
        let place = tempfile::tempdir().unwrap();
        let (runs, before, after) = (place.path().join("runs"), place.path().join("a"), place.path().join("b"));
        std::fs::create_dir(&runs).unwrap();
        std::fs::write(&before, "").unwrap();
        let link = runs.join("R-1.stend");
        for _ in 0..2 {
            linked(&before, "R-1", &runs, None).unwrap();
            assert_eq!(std::fs::read_link(&link).unwrap(), before);
        }
        std::fs::rename(&before, &after).unwrap();
        linked(&after, "R-1", &runs, None).unwrap();
        assert_eq!(std::fs::read_link(&link).unwrap(), after);
        std::fs::write(runs.join("R-2.stend"), "precious").unwrap();
        assert!(linked(&after, "R-2", &runs, None).is_err());
        assert_eq!(std::fs::read_to_string(runs.join("R-2.stend")).unwrap(), "precious");
        linked(&runs.join("R-2.stend"), "R-2", &runs, None).unwrap();
        assert!(runs.join("R-2.stend").symlink_metadata().unwrap().is_file(), "it is there by itself");
    }
}
