//! Names of runs: making one, and finding the file that an argument means.

use super::EXTENSION;
use super::failure;
use super::owner::Owner;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use stend_base::{Error, Kind, Result, random, say};

/// Most candidates that an error lists.
const LISTED_MAX: usize = 5;

/// Where run files live: `$XDG_DATA_HOME/stend/runs`, or `~/.local/share/stend/runs`; under sudo those
/// of the user behind it. It need not exist.
pub fn directory() -> Result<PathBuf> {
    let home_of = |uid| home_in(&std::fs::read_to_string("/etc/passwd").unwrap_or_default(), uid);
    directory_from(|name| std::env::var_os(name), Owner::behind_sudo().and_then(|owner| home_of(owner.uid))).ok_or_else(
        || {
            Error::new(
                Kind::Usage,
                say!(
                    "cannot tell where run files belong: neither XDG_DATA_HOME nor HOME is set",
                    "неизвестно, где хранить файлы прогонов: не заданы ни XDG_DATA_HOME, ни HOME"
                ),
            )
            .hint(say!("set HOME, or name the file with `-o`", "задайте HOME или укажите файл с помощью `-o`"))
        },
    )
}

fn directory_from(variable: impl Fn(&str) -> Option<OsString>, behind_sudo: Option<PathBuf>) -> Option<PathBuf> {
    // The XDG specification ignores relative paths.
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME");
    let data = data.or_else(|| behind_sudo.or_else(|| absolute("HOME")).map(|home| home.join(".local/share")));
    data.map(|data| data.join("stend/runs"))
}

/// Home directory of a user in the text of `/etc/passwd`.
fn home_in(passwd: &str, uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let home =
        fields.filter(|fields| fields.get(2) == Some(&uid.as_str())).find_map(|fields| fields.get(5).copied())?;
    Some(PathBuf::from(home)).filter(|home| home.is_absolute())
}

/// Least free space of a file system that a run file is made on. What a run really needs is reserved when its plan is known.
const ROOM_MIN: u64 = 1 << 20;

/// Whether a run file could be made at `path`, as far as can be told without making it: it must not exist, its
/// directory must and be writable, with room for a file, unless that is the one of [`directory`], which a run makes.
pub fn may_create(path: &Path) -> Result<()> {
    use std::io::ErrorKind::{AlreadyExists, NotFound};
    if path.symlink_metadata().is_ok() {
        return Err(failure::cannot_create(path, &AlreadyExists.into()));
    }
    let parent = path.parent().unwrap_or(path);
    if !parent.is_dir() {
        return match directory().is_ok_and(|own| own == parent) {
            true => Ok(()),
            false => Err(failure::cannot_create(path, &NotFound.into())),
        };
    }
    has_room(parent).map_err(|error| failure::cannot_create(path, &error.into()))
}

/// Whether we may make a file in a directory, and its file system has room for one.
fn has_room(directory: &Path) -> rustix::io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat, statvfs};
    accessat(CWD, directory, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
    let here = statvfs(directory)?;
    // A file system that does not count blocks or files has none of them.
    let full = here.f_blocks > 0 && here.f_bavail.saturating_mul(here.f_frsize) < ROOM_MIN;
    if full || here.f_files > 0 && here.f_ffree == 0 { Err(rustix::io::Errno::NOSPC) } else { Ok(()) }
}

/// Creates a directory for run files with its parents; what is new belongs to the user behind sudo.
pub fn make_directory(directory: &Path) -> Result<()> {
    make_owned(directory, Owner::behind_sudo()).map_err(|error| {
        let shown = directory.display();
        Error::new(
            Kind::RunFile,
            say!(
                "cannot create the directory `{shown}` for run files: {error}",
                "не удаётся создать каталог `{shown}` для файлов прогонов: {error}"
            ),
        )
        .hint(say!("name another place with `-o`", "укажите другое место с помощью `-o`"))
    })
}

fn make_owned(directory: &Path, owner: Option<Owner>) -> std::io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_owned(parent, owner)?;
    }
    match std::fs::create_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => owner.map_or(Ok(()), |owner| owner.take_directory(directory)),
    }
}

/// A new id: `R-<UTC time>-<4 letters>`, sorted by time as text.
pub fn new_run_id(unix_seconds: u64, entropy: u64) -> String {
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let letter = |i| char::from(b'a' + random::below(random::draw(entropy, i), 26) as u8);
    let letters: String = (0..4).map(letter).collect();
    format!("R-{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z-{letters}")
}

/// Longest id that is believed, far above the 23 characters of ours.
const ID_MAX: usize = 64;

/// Whether this can be the id of a run. Directories, spools and leases are named after it, so that it is letters, digits and hyphens, and
/// begins with one of the first two.
pub fn is_run_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    text.len() <= ID_MAX && text.bytes().all(fits) && text.bytes().next().is_some_and(|first| first != b'-')
}

/// Gregorian date of a day since 1970-01-01, counting years from March so that leap days come last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // from 0000-03-01
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// The run file that an argument means: `last`, an id, the beginning of one, or a path.
///
/// Errors are of kind `Usage` and list what could have been meant.
pub fn locate(argument: &str, directory: &Path) -> Result<PathBuf> {
    let path = Path::new(argument);
    if argument.contains('/') || path.extension().is_some_and(|extension| extension == EXTENSION) {
        return if path.exists() { Ok(path.to_path_buf()) } else { Err(no_file(argument)) };
    }
    let runs = runs_in(directory);
    let file = |id: &String| directory.join(format!("{id}.{EXTENSION}"));
    if argument == "last" {
        return newest(&runs, directory).map(file).ok_or_else(|| no_runs(directory));
    }
    if runs.iter().any(|id| id == argument) {
        return Ok(file(&argument.to_string()));
    }
    let fitting: Vec<&String> = runs.iter().filter(|id| !argument.is_empty() && id.starts_with(argument)).collect();
    match fitting.as_slice() {
        [one] => Ok(file(one)),
        [] if path.is_file() => Ok(path.to_path_buf()),
        [] if runs.is_empty() => Err(no_runs(directory)),
        [] => Err(no_such(argument, &runs)),
        several => Err(ambiguous(argument, several)),
    }
}

/// Ids of all runs in a directory, ascending.
fn runs_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let id = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_suffix(EXTENSION)?.strip_suffix('.')?.to_string())
    };
    let mut runs: Vec<String> = entries.filter_map(id).filter(|id| id.starts_with("R-")).collect();
    runs.sort_unstable();
    runs
}

/// The run that began last. Ids have whole seconds; the later change decides between equal ones.
fn newest<'a>(runs: &'a [String], directory: &Path) -> Option<&'a String> {
    let changed = |id: &String| {
        let found = std::fs::metadata(directory.join(format!("{id}.{EXTENSION}")));
        found.map_or((0, 0), |found| (found.mtime(), found.mtime_nsec()))
    };
    let second = |id: &'a String| id.rsplit_once('-').map_or(id.as_str(), |(time, _)| time);
    runs.iter().max_by_key(|id| (second(id), changed(id)))
}

fn no_file(argument: &str) -> Box<Error> {
    Error::new(Kind::Usage, say!("there is no run file `{argument}`", "нет файла прогона `{argument}`")).hint(say!(
        "name a run by its id, the beginning of its id, a path, or `last`",
        "укажите прогон его именем, началом имени, путём или словом `last`"
    ))
}

fn no_runs(directory: &Path) -> Box<Error> {
    let shown = directory.display();
    Error::new(Kind::Usage, say!("there are no runs in `{shown}`", "в `{shown}` нет прогонов"))
        .hint(say!("make one with `stend run quick --on PATH`", "выполните его: `stend run quick --on ПУТЬ`"))
}

fn no_such(argument: &str, runs: &[String]) -> Box<Error> {
    let latest = list(runs.iter().rev());
    Error::new(
        Kind::Usage,
        say!("no run begins with `{argument}`", "нет прогона, имя которого начинается с `{argument}`"),
    )
    .hint(say!("the latest runs are {latest}", "последние прогоны: {latest}"))
}

fn ambiguous(argument: &str, fitting: &[&String]) -> Box<Error> {
    let count = fitting.len();
    let some = list(fitting.iter().rev().copied());
    Error::new(
        Kind::Usage,
        say!("{count} runs begin with `{argument}`", "прогонов, имена которых начинаются с `{argument}`: {count}"),
    )
    .hint(say!("name one of them: {some}", "укажите один из них: {some}"))
}

fn list<'a>(ids: impl Iterator<Item = &'a String>) -> String {
    let quoted: Vec<String> = ids.take(LISTED_MAX + 1).map(|id| format!("`{id}`")).collect();
    match quoted.len() > LISTED_MAX {
        true => format!("{}, …", quoted[..LISTED_MAX].join(", ")),
        false => quoted.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Lang;

    fn directory_with(ids: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for id in ids {
            std::fs::write(dir.path().join(format!("{id}.stend")), "").unwrap();
        }
        dir
    }

    #[test]
    fn an_id_is_the_time_in_utc_and_four_letters() {
        let id = new_run_id(1_795_296_153, 42);
        assert!(id.starts_with("R-20261121T212233Z-"), "{id}");
        let letters = id.rsplit('-').next().unwrap();
        assert!(letters.len() == 4 && letters.bytes().all(|b| b.is_ascii_lowercase()), "{id}");
        assert_ne!(id, new_run_id(1_795_296_153, 43));
    }

    #[test]
    fn an_id_names_nothing_but_itself() {
        assert!([new_run_id(1, 2).as_str(), "R-1", "7"].into_iter().all(is_run_id));
        let long = "R".repeat(65);
        for wrong in ["", "../../x", "R-1/x", "/R-1", ".", "-R", "R 1", "R-1\n", "R-1\u{1b}[2J", "Р-1", "R_1", &long] {
            assert!(!is_run_id(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn leap_days_and_year_ends_are_dated_right() {
        let date = |seconds| new_run_id(seconds, 0)[2..18].to_string();
        assert_eq!(date(0), "19700101T000000Z");
        assert_eq!(date(951_782_399), "20000228T235959Z");
        assert_eq!(date(951_782_400), "20000229T000000Z");
        assert_eq!(date(1_709_251_199), "20240229T235959Z");
        assert_eq!(date(1_735_689_599), "20241231T235959Z");
        assert_eq!(date(4_107_542_400), "21000301T000000Z");
    }

    #[test]
    fn a_run_is_found_by_id_by_a_unique_beginning_by_path_and_as_the_last() {
        let dir = directory_with(&["R-20260101T000000Z-aaaa", "R-20260102T000000Z-bbbb"]);
        let second = dir.path().join("R-20260102T000000Z-bbbb.stend");
        for argument in ["R-20260102T000000Z-bbbb", "R-20260102", "last", second.to_str().unwrap()] {
            assert_eq!(locate(argument, dir.path()).unwrap(), second, "{argument}");
        }
    }

    #[test]
    fn an_id_that_begins_another_one_still_means_itself() {
        let dir = directory_with(&["R-1", "R-12"]);
        assert_eq!(locate("R-1", dir.path()).unwrap(), dir.path().join("R-1.stend"));
    }

    #[test]
    fn what_cannot_be_told_apart_or_is_absent_is_answered_with_candidates() {
        let dir = directory_with(&["R-20260101T000000Z-aaaa", "R-20260101T000000Z-bbbb"]);
        let error = locate("R-2026", dir.path()).unwrap_err();
        assert_eq!(error.kind, Kind::Usage);
        assert!(error.render(Lang::Ru).contains("R-20260101T000000Z-aaaa"), "{error}");
        let error = locate("R-1999", dir.path()).unwrap_err();
        assert!(error.render(Lang::En).contains("R-20260101T000000Z-bbbb"), "{error}");
        assert!(locate("", dir.path()).is_err());
        assert!(locate("./absent.stend", dir.path()).unwrap_err().message.en.contains("no run file"));
        let empty = tempfile::tempdir().unwrap();
        assert!(locate("last", empty.path()).unwrap_err().message.en.contains("no runs"));
        assert!(locate("last", &empty.path().join("absent")).is_err());
    }

    #[test]
    fn other_files_in_the_directory_are_not_runs() {
        let dir = directory_with(&["R-1", "notes"]);
        std::fs::write(dir.path().join("R-2.stend-wal"), "").unwrap();
        assert_eq!(locate("last", dir.path()).unwrap(), dir.path().join("R-1.stend"));
    }

    #[test]
    fn long_lists_of_candidates_are_cut() {
        let ids: Vec<String> = (0..9).map(|i| format!("R-{i}")).collect();
        let dir = directory_with(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        let hint = locate("R-", dir.path()).unwrap_err().hint.unwrap().en;
        assert_eq!(hint, "name one of them: `R-8`, `R-7`, `R-6`, `R-5`, `R-4`, …");
    }

    #[test]
    fn run_files_live_in_the_data_home_of_the_user() {
        let set = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        let at = |pairs, sudo: Option<&str>| directory_from(set(pairs), sudo.map(PathBuf::from));
        assert_eq!(at(&[("XDG_DATA_HOME", "/d"), ("HOME", "/h")], None), Some("/d/stend/runs".into()));
        assert_eq!(at(&[("XDG_DATA_HOME", "d"), ("HOME", "/h")], None), Some("/h/.local/share/stend/runs".into()));
        assert_eq!(at(&[("HOME", "/root")], Some("/home/u")), Some("/home/u/.local/share/stend/runs".into()));
        assert_eq!(at(&[], None), None);
    }

    #[test]
    fn the_home_of_the_user_behind_sudo_is_read_from_passwd() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nu:x:1000:1000:,,,:/home/u:/bin/sh\nbroken:line\n";
        assert_eq!(home_in(passwd, 1000), Some("/home/u".into()));
        assert_eq!(home_in(passwd, 1001), None);
    }

    #[test]
    fn missing_parents_are_made_and_existing_ones_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        make_owned(&deep, None).unwrap();
        make_owned(&deep, None).unwrap();
        assert!(deep.is_dir());
        std::fs::write(dir.path().join("file"), "").unwrap();
        assert!(make_owned(&dir.path().join("file/x"), None).is_err());
    }
}
