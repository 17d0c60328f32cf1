//! This program as a guest needs it: itself, and the libraries that the loader has found for it. Must not choose others.

use crate::archive::Cpio;
use std::io;

/// An archive with this program as `/program/bin/stend` and its libraries in `/program/lib`, whose directories are there.
pub fn payload() -> io::Result<Vec<u8>> {
    let mut cpio = Cpio::default();
    cpio.program("program/bin/stend", &std::fs::read("/proc/self/exe")?);
    for path in libraries(&std::fs::read_to_string("/proc/self/maps")?) {
        let name = path.rsplit('/').next().unwrap_or_default();
        cpio.program(&format!("program/lib/{name}"), &std::fs::read(path)?);
    }
    Ok(cpio.finish())
}

/// Paths of shared libraries, the loader too, among what a process has mapped; a static program has none.
fn libraries(maps: &str) -> Vec<&str> {
    let executable = maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|access| access.contains('x')));
    let paths = executable.filter_map(|line| Some(&line[line.find('/')?..]));
    let mut found: Vec<&str> = paths.filter(|path| path.contains(".so")).collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_those_that_are_mapped_to_be_executed() {
        let maps = "\
55d0c0000000-55d0c0100000 r-xp 00001000 fe:00 12 /usr/bin/stend
7f0000000000-7f0000020000 r--p 00000000 fe:00 13 /usr/lib/x86_64-linux-gnu/libc.so.6
7f0000020000-7f0000180000 r-xp 00020000 fe:00 13                         /usr/lib/x86_64-linux-gnu/libc.so.6
7f0000200000-7f0000210000 r-xp 00001000 fe:00 14                         /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
7f0000300000-7f0000310000 r--s 00000000 fe:00 15                         /usr/lib/locale/x.so.cache
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]
";
        let expected = ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"];
        assert_eq!(libraries(maps), expected);
        assert_eq!(libraries("55d0c0000000-55d0c0100000 r-xp 00001000 fe:00 12 /usr/bin/stend\n"), [""; 0]);
    }

    #[test]
    fn the_archive_holds_this_program() {
        let size = std::fs::metadata("/proc/self/exe").unwrap().len() as usize;
        let archive = payload().unwrap();
        assert!(archive.len() > size, "{} bytes for a program of {size}", archive.len());
        assert_eq!(&archive[110..128], b"program/bin/stend\0");
    }
}
