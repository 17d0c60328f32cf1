//! Stands on files, which go with the test that made them.

use super::{Scratch, expect_exit, output, stend, tool};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// A stand of this test run that is taken down however the test ends.
pub struct Stand<'a> {
    scratch: &'a Scratch,
    pub name: String,
    pub file: String,
}

impl<'a> Stand<'a> {
    /// `layers` and what comes beside them. Its name, for which the whole host has one place, is of this stand alone: tests beside one another
    /// give the same `name`.
    pub fn new(scratch: &'a Scratch, name: &str, rest: &str) -> Stand<'a> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("{name}-{}-{}", MADE.fetch_add(1, Ordering::Relaxed), std::process::id());
        let file = scratch.file(&format!("{name}.yaml"), &format!("stand: {name}\n{rest}\n"));
        Stand { scratch, name, file }
    }

    pub fn run(&self, action: &str, code: i32) -> (String, String) {
        expect_exit(&mut stend(self.scratch, &["stand", action, &self.file]), code)
    }

    pub fn status(&self) -> Value {
        let (told, _) = expect_exit(&mut stend(self.scratch, &["stand", "status", &self.name, "--json"]), 0);
        serde_json::from_str::<Value>(&told).expect("JSON")["stands"][0].clone()
    }

    pub fn journal(&self) -> std::path::PathBuf {
        Path::new("/var/lib/stend/stands").join(&self.name)
    }

    /// Nothing of it is left: no loop device, no mount, no directory, no journal.
    pub fn is_gone(&self) {
        assert!(!self.journal().exists(), "the journal is left");
        let told = format!("stend-{}", self.name);
        for seen in [tool(&["losetup", "--list", "--output", "BACK-FILE"]), read("/proc/self/mountinfo")] {
            assert!(!seen.contains(&told) && !seen.contains(&self.name), "{seen}");
        }
        let left: Vec<_> =
            std::fs::read_dir(self.scratch.path()).expect("a directory").flatten().map(|e| e.file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(&told)), "{left:?}");
    }
}

impl Drop for Stand<'_> {
    fn drop(&mut self) {
        if self.journal().exists() {
            output(&mut stend(self.scratch, &["stand", "down", &self.name]));
        }
    }
}

/// A file of the kernel.
pub fn read(path: &str) -> String {
    std::fs::read_to_string(path).expect(path)
}

/// Layers over files in the directory of the test.
pub fn on_files(scratch: &Scratch, count: u32, more: &str) -> String {
    let directory = scratch.path().display();
    format!("layers:\n- loop: {{directory: {directory}, size: 128MiB, count: {count}}}\n{more}")
}
