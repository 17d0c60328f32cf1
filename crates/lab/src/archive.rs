//! The archive that a kernel unpacks at its start, `cpio`. Must not touch files.

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

    #[test]
    fn the_kernel_s_own_description_of_a_cpio_is_met() {
        let mut cpio = Cpio::default();
        cpio.directory("bin");
        cpio.program("bin/x", b"hello");
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
