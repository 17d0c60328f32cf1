//! A folder of results, as bench-fio leaves it: the files in it, by what is in them. Nothing follows from names of folders: what a
//! result is of is in its options.

use std::path::{Path, PathBuf};
use stend_base::{Code, Error, Result, Say, say};

/// Folders inside each other: bench-fio has three, the repositories of others have up to a dozen.
const DEPTH_MAX: u32 = 32;
/// Files of all folders: as many documents are read at once.
const FILES_MAX: usize = 10_000;

/// The names, with the JSON files of a folder in its place, in the order of their paths; and what of folders is not read. Links are not followed.
///
/// Errors are of kind `Usage`: a folder that cannot be read, is too deep or too full, or has no JSON.
pub(in crate::cmd) fn expanded(names: Vec<String>) -> Result<(Vec<String>, Vec<Say>)> {
    let (mut files, mut aside) = (Vec::new(), Vec::new());
    for name in names {
        if !Path::new(&name).is_dir() {
            files.push(name);
            continue;
        }
        let (mut found, mut others) = (Vec::new(), 0u32);
        let json = |path: &Path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
        below(Path::new(&name), 0, &json, &mut found, &mut others)?;
        if found.is_empty() {
            let message = say!("no `.json` file is in `{name}` or below", "ни в `{name}`, ни ниже нет файлов `.json`");
            return Err(Error::usage(message).hint(say!(
                "from a folder only JSON is imported; name logs and other results one by one",
                "из каталога импортируется только JSON; журналы и другие результаты назовите по одному"
            )));
        }
        if others > 0 {
            aside.push(say!(
                "{name}: {others} files that are no `.json` were not read",
                "{name}: не прочитано файлов, кроме `.json`: {others}"
            ));
        }
        found.sort();
        files.extend(found.into_iter().map(|path| path.display().to_string()));
    }
    Ok((files, aside))
}

/// Regular files of a folder and of those in it that `wanted` takes, and how many others are there. Links are not followed.
pub(in crate::cmd) fn below(
    directory: &Path,
    depth: u32,
    wanted: &dyn Fn(&Path) -> bool,
    found: &mut Vec<PathBuf>,
    others: &mut u32,
) -> Result<()> {
    let name = directory.display();
    if depth > DEPTH_MAX {
        let message =
            say!("`{name}` is more than {DEPTH_MAX} folders deep", "`{name}` лежит глубже {DEPTH_MAX} каталогов");
        return Err(Error::usage(message));
    }
    let unreadable = |e: std::io::Error| {
        Error::new(Code::FileUnreadable, say!("cannot read `{name}`: {e}", "не удаётся прочитать `{name}`: {e}"))
    };
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        match kind {
            kind if kind.is_dir() => below(&path, depth + 1, wanted, found, others)?,
            kind if kind.is_file() && wanted(&path) => found.push(path),
            _ => *others = others.saturating_add(1),
        }
        if found.len() > FILES_MAX {
            let message = say!("`{name}` holds more than {FILES_MAX} files", "в `{name}` больше {FILES_MAX} файлов");
            return Err(Error::usage(message).hint(say!("import it in parts", "импортируйте его по частям")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Lang;

    #[test]
    fn a_folder_stands_for_the_json_below_it_in_the_order_of_paths() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("b/randread")).unwrap();
        for name in ["b/randread/2.json", "b/randread/1.JSON", "a.json", "b/1_bw.1.log"] {
            std::fs::write(at(name), "{}").unwrap();
        }
        std::os::unix::fs::symlink(at("a.json"), at("c.json")).unwrap();
        let name = folder.path().display().to_string();
        let (files, aside) = expanded(vec!["x".into(), name.clone()]).unwrap();
        let expected = ["a.json", "b/randread/1.JSON", "b/randread/2.json"].map(|own| at(own).display().to_string());
        assert_eq!((files[0].as_str(), &files[1..]), ("x", &expected[..]));
        assert_eq!(aside[0].en, format!("{name}: 2 files that are no `.json` were not read"));
    }

    #[test]
    fn a_folder_without_results_and_one_that_is_too_deep_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().display().to_string();
        let why = |name: &str| expanded(vec![name.to_string()]).unwrap_err().render(Lang::En);
        assert!(why(&name).contains("no `.json` file is in"), "{}", why(&name));
        std::fs::create_dir_all(folder.path().join("d/".repeat(DEPTH_MAX as usize + 1))).unwrap();
        assert!(why(&name).contains("more than 32 folders deep"), "{}", why(&name));
    }
}
