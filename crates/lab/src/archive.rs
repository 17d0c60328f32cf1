//! The two archive formats that an image passes through: `tar` is read (what a package unpacks to), `cpio` is written (what
//! a kernel unpacks at its start). Must not touch files.

use std::io::{self, Read};

/// Bytes of a block of `tar`, and of its header.
const BLOCK: usize = 512;
/// Largest file that is kept of an archive: a kernel is a tenth of it.
const FILE_MAX: u64 = 256 << 20;

/// Calls `keep` with the path of each regular file of a `tar` archive, and hands on the contents of those that it wants.
//= POSIX.1-1988, ustar; GNU tar manual, "Basic Tar Format": type `L` holds the long name of the next file.
pub fn files_of_tar(
    from: &mut impl Read,
    keep: &dyn Fn(&str) -> bool,
    found: &mut dyn FnMut(String, Vec<u8>),
) -> io::Result<()> {
    let mut long_name = None;
    loop {
        let mut header = [0; BLOCK];
        match from.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        if header.iter().all(|byte| *byte == 0) {
            // The end; what follows is padding, which is read so that the writer does not break off.
            return io::copy(from, &mut io::sink()).map(drop);
        }
        let size = octal(&header[124..136])?;
        let path = long_name.take().unwrap_or_else(|| path_of(&header));
        let wanted = match header[156] {
            b'L' => true,
            b'0' | 0 => keep(&path),
            _ => false,
        };
        let padded = size.next_multiple_of(BLOCK as u64);
        if !wanted {
            io::copy(&mut from.take(padded), &mut io::sink())?;
            continue;
        }
        if size > FILE_MAX {
            return Err(io::Error::other(format!("`{path}` has {size} bytes, more than is sensible")));
        }
        let mut data = vec![0; padded as usize];
        from.read_exact(&mut data)?;
        data.truncate(size as usize);
        match header[156] {
            b'L' => long_name = Some(text(&data)),
            _ => found(path, data),
        }
    }
}

fn path_of(header: &[u8; BLOCK]) -> String {
    let (name, prefix) = (text(&header[..100]), text(&header[345..500]));
    // GNU archives have other things where ustar has the prefix.
    let ustar = &header[257..263] == b"ustar\0";
    if ustar && !prefix.is_empty() { format!("{prefix}/{name}") } else { name }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn octal(bytes: &[u8]) -> io::Result<u64> {
    let digits = text(bytes);
    u64::from_str_radix(digits.trim(), 8)
        .map_err(|_| io::Error::other(format!("`{digits}` is no size in an archive of type tar")))
}

/// A `cpio` archive in the making. The kernel takes several, one behind the other.
//= Linux, Documentation/driver-api/early-userspace/buffer-format.rst ("newc")
#[derive(Default)]
pub struct Cpio {
    bytes: Vec<u8>,
    entries: u32,
}

impl Cpio {
    /// Adds a directory.
    pub fn directory(&mut self, path: &str) {
        self.entry(path, 0o040_755, &[], (0, 0));
    }

    /// Adds a file that may be executed.
    pub fn program(&mut self, path: &str, data: &[u8]) {
        self.entry(path, 0o100_755, data, (0, 0));
    }

    /// Adds a symbolic link.
    pub fn link(&mut self, path: &str, to: &str) {
        self.entry(path, 0o120_777, to.as_bytes(), (0, 0));
    }

    /// Adds a character device.
    pub fn device(&mut self, path: &str, major: u32, minor: u32) {
        self.entry(path, 0o020_600, &[], (major, minor));
    }

    /// The archive with its end mark.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[], (0, 0));
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, data: &[u8], (major, minor): (u32, u32)) {
        self.entries += 1;
        let links = if mode & 0o170_000 == 0o040_000 { 2 } else { 1 };
        // A file of 4 GiB would need more memory than the guest has.
        let (size, name) = (data.len() as u32, path.len() as u32 + 1);
        let fields = [self.entries, mode, 0, 0, links, 0, size, 0, 0, major, minor, name, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(data);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What is found by `files_of_tar` in an archive of a directory, made by tar.
    fn packed(options: &[&str]) -> Vec<(String, Vec<u8>)> {
        let place = tempfile::tempdir().unwrap();
        let deep = place.path().join("a".repeat(90)).join("b".repeat(90));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("long.ko"), b"deep").unwrap();
        std::fs::write(place.path().join("short.ko"), vec![7; 1000]).unwrap();
        std::fs::write(place.path().join("other"), vec![8; 3000]).unwrap();
        let tar =
            Command::new("tar").args(options).arg("-C").arg(place.path()).args(["-cf", "-", "."]).output().unwrap();
        assert!(tar.status.success());
        let mut found = Vec::new();
        files_of_tar(&mut tar.stdout.as_slice(), &|path| path.ends_with(".ko"), &mut |path, data| {
            found.push((path, data))
        })
        .unwrap();
        found.sort();
        found
    }

    #[test]
    fn wanted_files_of_a_tar_come_out_whatever_the_length_of_their_names() {
        for format in ["--format=gnu", "--format=ustar"] {
            let found = packed(&[format]);
            let names: Vec<&str> = found.iter().map(|(path, _)| path.rsplit('/').next().unwrap()).collect();
            assert_eq!(names, ["long.ko", "short.ko"], "{format}");
            assert!(found[0].0.contains(&"b".repeat(90)), "{found:?}");
            assert_eq!((found[0].1.as_slice(), found[1].1.as_slice()), (b"deep".as_slice(), [7; 1000].as_slice()));
        }
    }

    #[test]
    fn a_damaged_tar_is_an_error() {
        let mut bytes = vec![b'x'; BLOCK];
        bytes[156] = b'0';
        let read = |bytes: &[u8]| files_of_tar(&mut &bytes[..], &|_| true, &mut |_, _| {});
        assert!(read(&bytes).unwrap_err().to_string().contains("no size"));
        bytes[124..136].copy_from_slice(b"00000001000\0");
        assert!(read(&bytes).is_err(), "the file is cut off");
        bytes[124..136].copy_from_slice(b"77777777777\0");
        assert!(read(&bytes).unwrap_err().to_string().contains("more than is sensible"));
    }

    #[test]
    fn the_kernel_s_own_description_of_a_cpio_is_met() {
        let mut cpio = Cpio::default();
        cpio.directory("bin");
        cpio.program("bin/x", b"hello");
        cpio.link("lib64", "lib");
        cpio.device("dev/console", 5, 1);
        let bytes = cpio.finish();
        assert_eq!(bytes.len() % 4, 0);
        let header = format!("070701{:08X}{:08X}", 1, 0o040_755);
        assert_eq!(&bytes[..22], header.as_bytes());
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("bin/x\0") && text.contains("hello\0\0\x00070701"), "{text}");
        assert!(text.ends_with("TRAILER!!!\0\0\0\0"), "{text}");
    }
}
