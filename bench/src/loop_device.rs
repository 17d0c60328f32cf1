//! A loop device over memory. Whatever is made here is undone when it is dropped.

use crate::Outcome;
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
        let file = std::fs::File::create(&backing).and_then(|file| file.set_len(size.0));
        file.map_err(|e| format!("cannot make `{}`: {e}", backing.display()))?;
        let mut made = LoopDevice { device: PathBuf::new(), backing };
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

fn losetup(arguments: &[&str]) -> Outcome<String> {
    let output = Command::new("losetup").args(arguments).output().map_err(|e| format!("cannot run losetup: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
        false => Err(format!("losetup failed: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}
