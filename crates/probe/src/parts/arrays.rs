//! Arrays of md: `/sys/class/block/mdN/md`.
//= linux, Documentation/admin-guide/md.rst: "MD devices in sysfs"

use super::word;
use crate::source::Source;
use std::path::Path;
use stend_record::parts::ArrayState;

/// Files of one array.
#[derive(Debug)]
pub struct Array {
    name: String,
    level: Source,
    state: Source,
    disks: Source,
    degraded: Source,
    action: Source,
    completed: Source,
}

/// The arrays among the devices.
pub fn find(root: &Path, devices: &[String]) -> Vec<Array> {
    let array = |name: &String| {
        let place = root.join("sys/class/block").join(name).join("md");
        let open = |file: &str| Source::open(&place.join(file));
        let level = open("level");
        level.exists().then(|| Array {
            name: name.clone(),
            level,
            state: open("array_state"),
            disks: open("raid_disks"),
            degraded: open("degraded"),
            action: open("sync_action"),
            completed: open("sync_completed"),
        })
    };
    devices.iter().filter_map(array).collect()
}

impl Array {
    /// Its state; `None` if the array is gone.
    pub fn read(&mut self) -> Option<ArrayState> {
        // While it is reshaped: `4 (3)`, what it becomes and what it was.
        let first = |text: &str| text.split_ascii_whitespace().next()?.parse::<u32>().ok();
        Some(ArrayState {
            name: self.name.clone(),
            level: word(self.level.read()?)?,
            state: self.state.read().and_then(word).unwrap_or_default(),
            disks: self.disks.read().and_then(first).unwrap_or(0),
            degraded: self.degraded.read().and_then(first),
            action: self.action.read().and_then(word),
            progress: self.completed.read().and_then(progress),
        })
    }
}

/// `123 / 456`; `none` and `delayed` are no progress.
fn progress(text: &str) -> Option<(u64, u64)> {
    let (done, all) = text.trim().split_once(" / ")?;
    Some((done.parse().ok()?, all.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str, files: &[(&str, &str)]) {
        let place = root.join("sys/class/block").join(name).join("md");
        std::fs::create_dir_all(&place).unwrap();
        files.iter().for_each(|(file, text)| std::fs::write(place.join(file), text).unwrap());
    }

    #[test]
    fn an_array_tells_its_state_its_lack_and_its_work() {
        let dir = tempfile::tempdir().unwrap();
        let files = [("level", "raid5\n"), ("array_state", "clean\n"), ("raid_disks", "4\n"), ("degraded", "1\n")];
        put(dir.path(), "md0", &files);
        put(dir.path(), "md0", &[("sync_action", "recover\n"), ("sync_completed", "512 / 2048\n")]);
        put(dir.path(), "md1", &[("level", "raid0\n"), ("array_state", "clean\n"), ("raid_disks", "2 (3)\n")]);
        let names = ["sda", "md0", "md1"].map(String::from);
        let mut found = find(dir.path(), &names);
        let recovering = ArrayState {
            name: "md0".into(),
            level: "raid5".into(),
            state: "clean".into(),
            disks: 4,
            degraded: Some(1),
            action: Some("recover".into()),
            progress: Some((512, 2048)),
        };
        assert_eq!(found[0].read(), Some(recovering));
        let striped = found[1].read().unwrap();
        assert_eq!((striped.disks, striped.degraded, striped.action, striped.progress), (2, None, None, None));
        put(dir.path(), "md0", &[("sync_action", "idle\n"), ("sync_completed", "none\n"), ("degraded", "0\n")]);
        let healed = found[0].read().unwrap();
        assert_eq!((healed.action.as_deref(), healed.degraded, healed.progress), (Some("idle"), Some(0), None));
        put(dir.path(), "md0", &[("level", "\n")]);
        assert_eq!(found[0].read(), None, "a stopped array has no level");
    }
}
