//! How long a machine takes until it can be used: booted, booted and saved, restored. Must not try again what came out badly.

use super::Place;
use crate::{Outcome, say};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A machine with six drives of 400 IOPS and 25 MiB/s.
pub const MACHINE: &str = "six-nvme";
/// It is started so often in each way, in turn; `BLOCKS` is another number.
const TIMES: usize = 5;
/// Saved guests, in the directory for what is kept between starts.
const SAVED: &str = "stend/lab/saved";

/// Ways of starting, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// With `--cold`: nothing is saved.
    Cold,
    /// There is no saved guest, and one is saved on the way.
    First,
    /// That guest is restored.
    Restored,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 3] = [Way::Cold, Way::First, Way::Restored];

    /// What is typed.
    pub fn words(self) -> Vec<String> {
        let mut words = vec!["lab".into(), "up".into(), format!("lab/{MACHINE}.yaml")];
        words.extend((self == Way::Cold).then(|| "--cold".to_string()));
        words
    }
}

/// A start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Seconds until the guest answered.
    pub answered: f64,
    /// Seconds until the command ended, and all drives were there.
    pub ready: f64,
    /// It was restored.
    pub restored: bool,
}

/// Starts a machine again and again; in the order of [`Way::ALL`].
pub fn measure(place: &Place) -> Outcome<[Vec<Found>; 3]> {
    let times = place.settings.blocks.unwrap_or(TIMES);
    let cache = place.directory.join("cache");
    share_images(place, &cache)?;
    let mut found = [Vec::new(), Vec::new(), Vec::new()];
    for number in 1..=times {
        for (way, found) in Way::ALL.into_iter().zip(&mut found) {
            if way == Way::First {
                // Not there the first time.
                drop(std::fs::remove_dir_all(cache.join(SAVED)));
            }
            let start = start(place, &cache, way)?;
            say(&format!("{way:?}, {number} of {times}: {:.1} s, {:.1} s", start.answered, start.ready));
            found.push(start);
        }
    }
    Ok(found)
}

/// The image is there under this name, and guests that are saved are those of this bench.
fn share_images(place: &Place, cache: &Path) -> Outcome<()> {
    let built = place.output(&["lab", "build", &format!("lab/{MACHINE}.yaml"), "--json"])?;
    let built: Value = serde_json::from_str(&built).map_err(|e| format!("`lab build --json`: {e}"))?;
    let image = PathBuf::from(built["directory"].as_str().unwrap_or_default());
    let name = image.file_name().ok_or("`lab build --json` names no directory")?;
    let images = cache.join("stend/lab");
    let linked = std::fs::create_dir_all(&images).and_then(|()| std::os::unix::fs::symlink(&image, images.join(name)));
    linked.map_err(|e| format!("cannot link `{}`: {e}", image.display()))
}

fn start(place: &Place, cache: &Path, way: Way) -> Outcome<Found> {
    let cache = cache.to_string_lossy();
    let words = way.words();
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--json"]).collect();
    let began = Instant::now();
    let told = place.output_with(&words, &[("XDG_CACHE_HOME", &cache)])?;
    let ready = began.elapsed().as_secs_f64();
    place.output(&["lab", "down", MACHINE])?;
    read(&told, ready).ok_or_else(|| format!("`lab up --json` says `{told}`"))
}

fn read(told: &str, ready: f64) -> Option<Found> {
    let told: Value = serde_json::from_str(told).ok()?;
    let restored = told["start"].as_str()? == "restored";
    Some(Found { answered: told["answered_ns"].as_u64()? as f64 / 1e9, ready, restored })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_from_what_the_program_says() {
        let told = r#"{"machine":"m","start":"restored","answered_ns":500000000,"ready_ns":2000000000}"#;
        assert_eq!(read(told, 2.5), Some(Found { answered: 0.5, ready: 2.5, restored: true }));
        assert_eq!(read(r#"{"machine":"m","up":true}"#, 2.5), None);
    }
}
