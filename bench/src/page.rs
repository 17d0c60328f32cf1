//! A page of results. What stands below "Notes" is written by people and kept.

use crate::{Outcome, say};
use std::io::ErrorKind;
use std::path::Path;

/// Begins the part that is kept.
const NOTES: &str = "## Notes\n";

/// Replaces everything above the notes of the page at `path` by `text`.
pub fn write(path: &Path, text: &str) -> Outcome<()> {
    let kept = match std::fs::read_to_string(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
        // Whatever else is wrong, notes may be in there.
        read => read.map_err(|e| format!("cannot read `{}`, whose notes are kept: {e}", path.display()))?,
    };
    let (_, notes) = kept.split_once(NOTES).unwrap_or(("", "\nNone yet.\n"));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    }
    let shown = path.display();
    std::fs::write(path, format!("{text}{NOTES}{notes}")).map_err(|e| format!("cannot write `{shown}`: {e}"))?;
    say(&format!("wrote {shown}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn notes_survive_and_everything_else_is_replaced() {
        let path = std::env::temp_dir().join(format!("stend-bench-page-{}", std::process::id()));
        std::fs::write(&path, "old\n## Notes\nkept\n").unwrap();
        super::write(&path, "new\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "new\n## Notes\nkept\n");
    }

    #[test]
    fn a_page_that_cannot_be_read_is_not_overwritten_and_one_that_is_not_there_is_made() {
        let path = std::env::temp_dir().join(format!("stend-bench-odd-page-{}", std::process::id()));
        let odd = b"old \xff\n## Notes\nkept\n";
        std::fs::write(&path, odd).unwrap();
        let refused = super::write(&path, "new\n");
        let left = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        super::write(&path, "new\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(refused.is_err_and(|why| why.starts_with("cannot read")));
        assert_eq!((left.as_slice(), text.as_str()), (odd.as_slice(), "new\n## Notes\n\nNone yet.\n"));
    }
}
