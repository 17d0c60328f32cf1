//! Trees of files in place of those of the kernel, for tests.

use std::path::Path;

/// Puts a file there, with the directories above it.
pub fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
