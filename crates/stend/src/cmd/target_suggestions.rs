//! Places that could be measured, for who has named none. Looks at what is mounted, and writes nothing.

use rustix::fs::{Access, access, statvfs};
use std::path::Path;
use stend_base::{Bytes, Error, Lang, Result, format, say};

/// Most places that a hint lists.
const MOST: usize = 3;
/// Where anybody may write on the root file system, and files outlive a reboot.
const ON_ROOT: &str = "/var/tmp";

/// The error when `--on` is missing.
pub(super) fn none_named() -> Box<Error> {
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| directories(&mounts().unwrap_or_default(), lang));
    Error::usage(say!("`--on PATH` is missing: what is to be measured?", "не указано, что измерять: `--on ПУТЬ`"))
    .hint(say!(
        "a directory, in which a test file is made and removed again:{en}\na whole device; all data on it will be lost: `stend inspect` lists the possible ones with their `--confirm`",
        "каталог, в котором создаётся и потом удаляется тестовый файл:{ru}\nустройство целиком; данные на нём пропадут: подходящие устройства с нужным `--confirm` перечислит `stend inspect`"
    ))
}

/// What is mounted of devices, as (device, directory, file system).
fn mounts() -> Result<Vec<(String, String, String)>> {
    let text = stend_sys::regular::text("/proc/self/mounts", 1 << 20)
        .map_err(|why| super::unreadable("/proc/self/mounts", &why))?;
    let field = |words: &[&str], at: usize| words.get(at).unwrap_or(&"").replace("\\040", " ");
    let all = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let of_devices = all.filter(|words| words[0].starts_with("/dev/"));
    Ok(of_devices.map(|words| (field(&words, 0), field(&words, 1), field(&words, 2))).collect())
}

/// Directories on them in which this user may make a file, each file system once, those with most room first.
fn directories(mounts: &[(String, String, String)], lang: Lang) -> String {
    let mut found: Vec<(u64, String)> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (device, mounted, file_system) in mounts {
        let directory = if mounted == "/" { ON_ROOT } else { mounted };
        let may = access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok() && Path::new(directory).is_dir();
        let Some(room) = statvfs(directory).ok().filter(|_| may && !seen.contains(&device.as_str())) else { continue };
        let free = room.f_bavail.saturating_mul(room.f_frsize);
        seen.push(device);
        let shown = format::bytes(Bytes(free), lang);
        let told = say!("{file_system} on {device}, {shown} free", "{file_system} на {device}, свободно {shown}");
        found.push((free, format!("\n  --on {}  ({})", stend_report::clean(directory), told.get(lang))));
    }
    found.sort_by_key(|(free, _)| std::cmp::Reverse(*free));
    found.into_iter().take(MOST).map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_system_is_told_once_and_what_cannot_be_written_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_string_lossy().into_owned();
        let mount = |device: &str, at: &str| (device.to_string(), at.to_string(), "ext4".to_string());
        let mounts = [mount("/dev/a", &path), mount("/dev/a", &path), mount("/dev/b", "/nowhere/at/all")];
        let told = directories(&mounts, Lang::En);
        assert_eq!(told.lines().filter(|line| !line.is_empty()).count(), 1, "{told}");
        assert!(told.contains(&format!("--on {path}  (ext4 on /dev/a, ")) && told.ends_with("free)"), "{told}");
    }
}
