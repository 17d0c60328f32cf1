//! Where the kernel shows itself. Real directories on a host, recorded trees in tests; readers go through
//! here so that both look the same. Reads only.

use std::path::{Path, PathBuf};

/// The environment variable that names another directory for notes about drives: one that containers share, or one of a test.
const LEASES: &str = "STEND_LEASES";

/// Roots of the trees that inventory reads.
#[derive(Debug, Clone)]
pub struct Roots {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
    /// `/run`; leases are kept under `stend` in it.
    pub run: PathBuf,
    /// `/etc`.
    pub etc: PathBuf,
    /// `/var/lib/stend`, where stands that are up are kept.
    pub state: PathBuf,
    /// `/dev/shm`, where runs tell each other which drives they use; of a host what [`LEASES`] says, if it is set.
    pub memory: PathBuf,
}

impl Roots {
    /// The machine that this process runs on.
    pub fn host() -> Roots {
        let set = std::env::var_os(LEASES).filter(|value| !value.is_empty()).map(PathBuf::from);
        let host = Roots::under(Path::new("/"));
        Roots { memory: set.unwrap_or(host.memory), ..host }
    }

    /// A tree with the usual names below `root`.
    pub fn under(root: &Path) -> Roots {
        let join = |name| root.join(name);
        Roots {
            proc: join("proc"),
            sys: join("sys"),
            dev: join("dev"),
            run: join("run"),
            etc: join("etc"),
            state: join("var/lib/stend"),
            memory: join("dev/shm"),
        }
    }

    /// Where leases on devices are kept.
    pub fn leases(&self) -> PathBuf {
        self.run.join("stend")
    }
}

/// Text of a small file without surrounding white space; `None` if absent, unreadable or empty.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_string();
    (!text.is_empty()).then_some(text)
}

/// A number in a small file.
pub(crate) fn number(path: impl AsRef<Path>) -> Option<u64> {
    text(path)?.parse().ok()
}

/// Names in a directory, sorted; empty if it is absent.
pub(crate) fn names(path: impl AsRef<Path>) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
