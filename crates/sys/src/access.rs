//! Whether the user of this process may do something with a path, asked of the system and not tried.

use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::io;
use std::path::Path;

/// What somebody wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// Open a file or a device for reading.
    Read,
    /// Open a device for reading and writing.
    ReadWrite,
    /// Make a file in a directory.
    MakeIn,
}

/// Whether the effective user may. Errors are those that trying would end with.
pub fn may(path: impl AsRef<Path>, intent: Intent) -> io::Result<()> {
    let access = match intent {
        Intent::Read => Access::READ_OK,
        Intent::ReadWrite => Access::READ_OK | Access::WRITE_OK,
        Intent::MakeIn => Access::WRITE_OK | Access::EXEC_OK,
    };
    Ok(accessat(CWD, path.as_ref(), access, AtFlags::EACCESS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_trying_would_end_with_is_told_without_trying() {
        let dir = tempfile::tempdir().unwrap();
        assert!(
            [Intent::Read, Intent::ReadWrite, Intent::MakeIn].iter().all(|intent| may(dir.path(), *intent).is_ok())
        );
        let absent = may(dir.path().join("absent"), Intent::MakeIn).unwrap_err();
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
    }
}
