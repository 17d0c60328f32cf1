//! Where the journals of stands lie: below `/var/lib/stend`. A drive of the stand cannot hold one, because what is mounted is never
//! written over.

use crate::change::{Entry, Journal, StandHead};
use crate::roots::Roots;
use std::path::{Path, PathBuf};
use stend_base::{Code, Error, Result, say};

/// Name of the file in the directory of a stand.
const FILE: &str = "journal";

fn local(roots: &Roots) -> PathBuf {
    roots.state.join("stands")
}

/// That of a stand; `None` for what is no name of one and would lead elsewhere.
fn path_of(roots: &Roots, name: &str) -> Option<PathBuf> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (!name.is_empty() && name.bytes().all(plain)).then(|| local(roots).join(name).join(FILE))
}

/// Names of the stands that have a journal, sorted.
pub(crate) fn known(roots: &Roots) -> Vec<String> {
    let names = crate::roots::names(local(roots));
    names.into_iter().filter(|name| local(roots).join(name).join(FILE).is_file()).collect()
}

/// Begins one. Fails if there is one of this name.
pub(crate) fn create(roots: &Roots, name: &str, head: StandHead) -> Result<Journal> {
    Journal::create(&local(roots).join(name).join(FILE), Entry::Stand(head))
}

/// Opens that of a stand which is up, or half up, for going on with it; `None` if there is none.
///
/// Errors: `Unsafe` while another process works on it; `Preflight` if it cannot be read.
pub(crate) fn open(roots: &Roots, name: &str) -> Result<Option<Journal>> {
    path_of(roots, name).map_or(Ok(None), |path| Journal::open(&path, busy))
}

/// Reads that of a stand without holding it; `None` if there is none.
pub(crate) fn look(roots: &Roots, name: &str) -> Result<Option<Journal>> {
    path_of(roots, name).map_or(Ok(None), |path| Journal::look(&path))
}

/// Ends it: nothing of the stand is left.
pub(crate) fn remove(roots: &Roots, name: &str, journal: &Journal) -> Result<()> {
    journal.remove()?;
    let directory = local(roots).join(name);
    let what = say!("remove the directory of the stand", "удалить каталог стенда");
    std::fs::remove_dir(&directory).map_err(|e| crate::io_errors::of_root(&directory.display().to_string(), &what, &e))
}

fn busy(path: &Path) -> Box<Error> {
    let shown = path.parent().unwrap_or(path).display();
    Error::new(
        Code::StandInUse,
        say!("another process works on the stand in `{shown}`", "со стендом в `{shown}` работает другой процесс"),
    )
    .hint(say!("wait until it ends", "дождитесь его завершения"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn a_stand_is_known_by_its_journal_and_no_name_leads_elsewhere() {
        let tree = tempfile::tempdir().unwrap();
        let roots = Roots::under(tree.path());
        let held = create(&roots, "x", StandHead::new("s.yaml", "stand: x", 7, Vec::new(), "R-1")).unwrap();
        assert_eq!(known(&roots), ["x"]);
        assert!(look(&roots, "../stands/x").unwrap().is_none() && open(&roots, "/x").unwrap().is_none());
        let error = open(&roots, "x").unwrap_err();
        assert!(error.kind == Kind::Unsafe && error.message.en.ends_with("stands/x`"), "{error}");
        remove(&roots, "x", &held).unwrap();
        assert!(known(&roots).is_empty() && open(&roots, "x").unwrap().is_none());
    }
}
