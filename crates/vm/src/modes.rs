//! Who may read what is kept of machines: the emulator is another user. Must not decide what is kept.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The directory of all machines. The emulator, which is another user, finds kernel and system there whatever the umask is; one that was
/// there keeps the mode that it has.
pub(crate) fn make_place(place: &Path) -> io::Result<()> {
    let all = [(place.parent(), 0o711), (Some(place), 0o755)];
    let new: Vec<(&Path, u32)> =
        all.into_iter().filter_map(|(path, mode)| Some((path?, mode))).filter(|(path, _)| !path.exists()).collect();
    fs::create_dir_all(place)?;
    new.into_iter().try_for_each(|(path, mode)| set_mode(path, mode))
}

/// The emulator may read it, whichever user it is. A link to the image of the lab is as that is, unless others may not read it.
pub(crate) fn let_read(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o004 == 0 { set_mode(path, 0o644) } else { Ok(()) }
}

/// Others may do this with it, whatever the umask is.
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}
