//! A loop device over memory. Whatever is made here is undone when it is dropped.

use crate::Outcome;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use stend_base::Bytes;

/// See the module.
pub struct LoopDevice {
    device: PathBuf,
    backing: PathBuf,
}

impl LoopDevice {
    /// Makes one of this size; `direct` lets it bypass the page cache of its file. Needs root.
    pub fn make(size: Bytes, direct: bool) -> Outcome<LoopDevice> {
        let backing = PathBuf::from(format!("/dev/shm/stend-bench-{}", std::process::id()));
        let file = create(&backing)?;
        let mut made = LoopDevice { device: PathBuf::new(), backing };
        file.set_len(size.0).map_err(|e| format!("cannot give `{}` its size: {e}", made.backing.display()))?;
        let direct = format!("--direct-io={}", if direct { "on" } else { "off" });
        made.device = losetup(&[&direct, "--find", "--show", &made.backing.to_string_lossy()])?.into();
        Ok(made)
    }

    /// Its node.
    pub fn path(&self) -> &Path {
        &self.device
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if !self.device.as_os_str().is_empty() {
            drop(losetup(&["--detach", &self.device.to_string_lossy()]));
        }
        drop(std::fs::remove_file(&self.backing));
    }
}

/// A file that was not there: everybody may write to the directory, and this runs as root, so a link that somebody
/// planted under the name must not be followed.
fn create(path: &Path) -> Outcome<File> {
    File::create_new(path).map_err(|e| format!("cannot make `{}`: {e}", path.display()))
}

fn losetup(arguments: &[&str]) -> Outcome<String> {
    let output = Command::new("losetup").args(arguments).output().map_err(|e| format!("cannot run losetup: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
        false => Err(format!("losetup failed: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = std::env::temp_dir().join(format!("stend-bench-link-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let (victim, link) = (folder.join("victim"), folder.join("link"));
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        let (planted, fresh) = (create(&link), create(&folder.join("fresh")));
        let text = std::fs::read_to_string(&victim).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(planted.is_err_and(|why| why.starts_with("cannot make")) && fresh.is_ok());
        assert_eq!(text, "precious");
    }
}
