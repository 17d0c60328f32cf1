//! Mirrors of two hosts (DRBD 8.4): `/proc/drbd`, in which version 9 has nothing but its number.

use crate::source::Source;
use std::path::Path;
use stend_record::mirrors::{PLACE, minor_of, mirrors};
use stend_record::parts::ArrayState;

/// The file with all of them, and which of them are followed.
#[derive(Debug)]
pub struct Mirrors {
    file: Source,
    minors: Vec<u32>,
}

impl Mirrors {
    /// The mirrors among the devices.
    pub fn find(root: &Path, devices: &[String]) -> Mirrors {
        let minors: Vec<u32> = devices.iter().filter_map(|name| minor_of(name)).collect();
        let file = if minors.is_empty() { Source::absent() } else { Source::open(&root.join(PLACE)) };
        Mirrors { file, minors }
    }

    /// Their states, each as that of an array of two drives.
    pub fn read(&mut self) -> Vec<ArrayState> {
        let minors = &self.minors;
        let found = self.file.read().map(|text| mirrors(text, |minor| minors.contains(&minor))).unwrap_or_default();
        found.iter().map(|mirror| mirror.as_array()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_among_the_devices_is_told_and_others_are_not() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("proc")).unwrap();
        let line = |minor: u32, disk: &str| {
            format!("{minor}: cs:WFConnection ro:Primary/Unknown ds:{disk}/DUnknown C r-----\n    ns:0 nr:0\n")
        };
        let text = format!("version: 8.4.11\n{}{}", line(5, "UpToDate"), line(6, "UpToDate"));
        std::fs::write(dir.path().join(PLACE), text).unwrap();
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            Mirrors::find(dir.path(), &names).read()
        };
        let found = of(&["sda", "drbd6", "drbdx"]);
        let [ArrayState { name, degraded: Some(1), .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!(name, "drbd6");
        assert_eq!(of(&["sda"]), []);
        let many: String = (0..99).map(|minor| line(minor, "UpToDate")).collect();
        std::fs::write(dir.path().join(PLACE), many).unwrap();
        assert_eq!(of(&["drbd98"]).len(), 1, "however many there are before it");
        let all: Vec<String> = (0..99).map(|minor| format!("drbd{minor}")).collect();
        assert_eq!(Mirrors::find(dir.path(), &all).read().len(), 99);
    }
}
