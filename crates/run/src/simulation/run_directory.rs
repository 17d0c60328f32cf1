//! Where a simulated run keeps its file: in memory, on a small file system of its own if that is to get full. Also what a kill leaves of it:
//! the files as they were, whatever the writer does afterwards.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use stend_record::store;
use tempfile::TempDir;

/// Memory-backed, as the spools of runs are.
const MEMORY: &str = "/dev/shm";
/// More than any simulated run needs together with its reserve.
const SMALL: &str = "size=12m";
/// What can still be written when there is room for another page.
const PAGE: u64 = 4096;

/// A directory for one run file.
pub struct RunDirectory {
    directory: TempDir,
    id: String,
    mounted: bool,
}

/// The files of a run at one moment.
pub struct Image(Vec<(PathBuf, Vec<u8>)>);

impl RunDirectory {
    /// An empty one; `small` asks for a file system that can get full, which takes root. `None`: it cannot be had.
    pub fn new(id: &str, small: bool) -> Option<RunDirectory> {
        let memory = Path::new(MEMORY);
        let parent = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        // The same path each time, because errors name it.
        let name = format!("stend-simulation-{}-{id}", std::process::id());
        let directory = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(parent).expect("a directory");
        let mut made = RunDirectory { directory, id: id.to_string(), mounted: false };
        if small {
            let mount = Command::new("mount")
                .args(["-t", "tmpfs", "-o", SMALL, "stend-simulation"])
                .arg(made.directory.path())
                .output();
            made.mounted = mount.is_ok_and(|done| done.status.success());
        }
        (made.mounted || !small).then_some(made)
    }

    /// Path of the run file.
    pub fn run_file(&self) -> PathBuf {
        self.directory.path().join(format!("{}.{}", self.id, store::EXTENSION))
    }

    /// Takes all room but that of so many pages.
    pub fn fill(&self, pages: u64) {
        let mut filler = std::fs::File::create(self.filler()).expect("a filler");
        let mut len = 0u64;
        let zeros = [0; 64 << 10];
        while let Ok(written) = filler.write(&zeros) {
            len += written as u64;
        }
        filler.set_len(len.saturating_sub(pages * PAGE)).expect("a shorter filler");
    }

    /// Gives it back.
    pub fn make_room(&self) {
        // Usually there is none.
        drop(std::fs::remove_file(self.filler()));
    }

    fn filler(&self) -> PathBuf {
        self.directory.path().join("filler")
    }

    /// What a kill would leave now; of what waits in the spool so many 1024ths, and of 0 not even the spool.
    pub fn image(&self, spooled: u64) -> Image {
        let file = self.run_file();
        let wal = PathBuf::from(format!("{}-wal", file.display()));
        let read = |path: PathBuf| std::fs::read(&path).ok().map(|bytes| (path, bytes));
        let mut spools = if spooled == 0 { Vec::new() } else { self.spools() };
        for (_, bytes) in &mut spools {
            // Its magic and whose it is came when it was made.
            let start = bytes.len().min(256) as u64;
            bytes.truncate((start + (bytes.len() as u64 - start) * spooled / 1024) as usize);
        }
        Image([file, wal].into_iter().filter_map(read).chain(spools).collect())
    }

    /// Puts back what a kill left, over whatever its writer made of it since.
    pub fn restore(&self, image: &Image) {
        // A process that looks for leftovers may have one of them in hand, and would remove what is put in its place.
        let held: Vec<_> = self.spools().iter().filter_map(|(path, _)| std::fs::File::open(path).ok()).collect();
        held.iter().for_each(|spool| spool.lock().expect("a lock"));
        self.spools().iter().for_each(|(path, _)| drop(std::fs::remove_file(path)));
        let file = self.run_file();
        for suffix in ["-wal", "-shm", "-journal"] {
            drop(std::fs::remove_file(format!("{}{suffix}", file.display())));
        }
        image.0.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).expect("what a kill left"));
    }

    /// Removes the run file of a run that begins anew.
    pub fn forget(&self) {
        self.restore(&Image(Vec::new()));
        drop(std::fs::remove_file(self.run_file()));
    }

    fn spools(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let Ok(entries) = std::fs::read_dir(MEMORY) else { return Vec::new() };
        let marked = format!("-{}-", self.id);
        let ours = entries.flatten().map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".spool") && name.contains(&marked)
        });
        ours.filter_map(|path| Some((path.clone(), std::fs::read(&path).ok()?))).collect()
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        self.forget();
        if self.mounted {
            drop(Command::new("umount").arg("-l").arg(self.directory.path()).status());
        }
    }
}
