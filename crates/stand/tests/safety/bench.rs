//! A bench for tests on real loop devices: images, mounts and processes that are gone when the test is over,
//! also when it panics.

use std::fs::File;
use std::hash::Hasher;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One test at a time: a child that another test forks holds copies of our descriptors for an instant, and
/// with them locks and exclusive devices.
static TURN: Mutex<()> = Mutex::new(());

/// Things made for one test, undone in reverse order.
pub struct Bench {
    undo: Vec<Undo>,
    dir: tempfile::TempDir,
    images: Vec<PathBuf>,
    devices: Vec<String>,
    swaps: Vec<Swap>,
    mounts: usize,
    _turn: MutexGuard<'static, ()>,
}

/// Where the kernel itself writes while it swaps: everything of a swap area but its first page.
struct Swap {
    image: PathBuf,
    bytes: Range<u64>,
}

enum Undo {
    Command(Vec<String>),
    SwapOff(String),
    Kill(Child),
    Remove(PathBuf),
}

impl Bench {
    /// A bench in memory, where flushes cost nothing. `None`, saying so, without root; in CI that is a failure.
    pub fn new(test: &str) -> Option<Bench> {
        Bench::in_directory(test, "/dev/shm")
    }

    /// A bench on the machine's disk.
    pub fn on_disk(test: &str) -> Option<Bench> {
        Bench::in_directory(test, "/var/tmp")
    }

    fn in_directory(test: &str, parent: &str) -> Option<Bench> {
        let root = std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
        if !root {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{test} needs root in CI");
            println!("skipped: {test} needs root");
            return None;
        }
        // A mount namespace that another test makes would keep a copy of what is mounted here, and with it the device in use.
        let propagates = run(&["findmnt", "--noheadings", "--output", "PROPAGATION", "--target", parent]);
        let shared = propagates.lines().all(|line| line == "shared") || std::env::var("CI").as_deref() != Ok("true");
        assert!(shared, "{test} needs shared mounts in CI (`scripts/test.sh` makes them), not {propagates}");
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::Builder::new().prefix("stend-bench-").tempdir_in(parent).unwrap();
        Some(Bench {
            undo: Vec::new(),
            dir,
            images: Vec::new(),
            devices: Vec::new(),
            swaps: Vec::new(),
            mounts: 0,
            _turn: turn,
        })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A sparse image of zeros.
    pub fn image(&mut self, mib: u64) -> PathBuf {
        let path = self.dir.path().join(format!("image{}", self.images.len()));
        File::create(&path).unwrap().set_len(mib << 20).unwrap();
        self.images.push(path.clone());
        path
    }

    /// Counts a file that a test made as an image.
    pub fn adopt(&mut self, path: &Path) {
        self.images.push(path.to_path_buf());
    }

    /// A loop device over a new image.
    pub fn disk(&mut self, mib: u64) -> String {
        let image = self.image(mib);
        self.attach(&image, &[])
    }

    /// A loop device over a file or device. `losetup` itself tries again when another test takes its number.
    pub fn attach(&mut self, what: &Path, options: &[&str]) -> String {
        let words = [&["losetup", "-f", "--show"], options, &[what.to_str().unwrap()]].concat();
        let device = run(&words).trim().to_string();
        self.undo_with(&["losetup", "-d", &device]);
        self.devices.push(device.clone());
        device
    }

    /// A loop device with two partitions that the kernel knows.
    pub fn partitioned(&mut self, mib: u64, label: &str) -> (String, String, String) {
        let image = self.image(mib);
        let half = mib / 2 - 1;
        let script = format!("label: {label}\n1MiB,{half}MiB\n{}MiB,{}MiB\n", half + 1, half - 1);
        let script_file = self.dir.path().join("script");
        std::fs::write(&script_file, script).unwrap();
        shell(&format!("sfdisk -q {} < {}", image.display(), script_file.display()));
        let disk = self.attach(&image, &["-P"]);
        // Kernels without partition parsers learn of them from partx; the others know already.
        shell(&format!("partx -u {disk}"));
        self.undo_with(&["partx", "-d", &disk]);
        let (first, second) = (format!("{disk}p1"), format!("{disk}p2"));
        self.devices.extend([first.clone(), second.clone()]);
        (disk, first, second)
    }

    /// Mounts read-only, so that the file system itself changes no byte, and returns the mount point.
    pub fn mount(&mut self, device: &str) -> PathBuf {
        self.mount_with(device, "ro")
    }

    /// Mounts with these options and returns the mount point.
    pub fn mount_with(&mut self, device: &str, options: &str) -> PathBuf {
        self.mounts += 1;
        let at = self.dir.path().join(format!("mount{}", self.mounts));
        std::fs::create_dir(&at).unwrap();
        run(&["mount", "-o", options, device, at.to_str().unwrap()]);
        self.undo_with(&["umount", at.to_str().unwrap()]);
        at
    }

    /// Starts a process that is killed at the end of the test, and waits for the line that it prints when ready.
    pub fn start(&mut self, command: &mut Command) -> u32 {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        let mut out = child.stdout.take().unwrap();
        self.undo.push(Undo::Kill(child));
        let mut seen = Vec::new();
        let mut byte = [0];
        while !String::from_utf8_lossy(&seen).contains("ready\n") {
            assert_eq!(out.read(&mut byte).unwrap(), 1, "ended early: {}", String::from_utf8_lossy(&seen));
            seen.push(byte[0]);
        }
        pid
    }

    /// Undoes the latest thing now.
    pub fn undo_last(&mut self) {
        let last = self.undo.pop().unwrap();
        if matches!(last, Undo::SwapOff(_)) {
            self.swaps.pop();
        }
        undo(last);
    }

    /// Swaps to a device until this is undone.
    pub fn swap_on(&mut self, device: &str) {
        run(&["mkswap", "-q", device]);
        run(&["swapon", device]);
        self.undo.push(Undo::SwapOff(device.to_string()));
        let sysfs = std::fs::canonicalize(Path::new("/sys/class/block").join(device.trim_start_matches("/dev/")));
        let sysfs = sysfs.unwrap();
        let sectors = |name: &str| std::fs::read_to_string(sysfs.join(name)).map(|s| s.trim().parse::<u64>().unwrap());
        // Only partitions have a start; their disk is the directory above them.
        let (start, disk) = match sectors("start") {
            Ok(start) => (start * 512, sysfs.parent().unwrap()),
            Err(_) => (0, sysfs.as_path()),
        };
        let image = std::fs::read_to_string(disk.join("loop/backing_file")).unwrap();
        let end = start + sectors("size").unwrap() * 512;
        self.swaps.push(Swap { image: image.trim().into(), bytes: start + 4096..end });
    }

    pub fn undo_with(&mut self, words: &[&str]) {
        self.undo.push(Undo::Command(words.iter().map(|w| w.to_string()).collect()));
    }

    /// A link to a device: in a directory of ours, or where udev puts its names.
    pub fn link(&mut self, device: &str, place: &Path) -> PathBuf {
        std::fs::create_dir_all(place).unwrap();
        let link = place.join(format!("stend-test-{}-{}", std::process::id(), self.undo.len()));
        std::os::unix::fs::symlink(device, &link).unwrap();
        self.undo.push(Undo::Remove(link.clone()));
        link
    }

    /// Hash of every byte of every image that only we could have changed: a machine short of memory swaps to
    /// a device on which a test has just turned swap on.
    pub fn hash(&self) -> u64 {
        // Each device, disk or partition, has a cache of its own above the image.
        // What lies on another one writes to that one's.
        for device in self.devices.iter().rev().filter(|device| Path::new(device).exists()) {
            let _ = File::open(device).and_then(|device| device.sync_all());
        }
        let mut hasher = std::hash::DefaultHasher::new();
        let mut chunk = vec![0; 1 << 20];
        for image in &self.images {
            let mut file = File::open(image).unwrap();
            let mut at = 0;
            loop {
                let n = file.read(&mut chunk).unwrap();
                if n == 0 {
                    break;
                }
                let end = at + n as u64;
                for swap in self.swaps.iter().filter(|swap| swap.image == *image) {
                    let (first, last) = (swap.bytes.start.clamp(at, end), swap.bytes.end.clamp(at, end));
                    chunk[(first - at) as usize..(last - at) as usize].fill(0);
                }
                hasher.write(&chunk[..n]);
                at = end;
            }
        }
        hasher.finish()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        while let Some(last) = self.undo.pop() {
            undo(last);
        }
    }
}

fn undo(what: Undo) {
    match what {
        Undo::Command(words) => {
            let _ = Command::new("env").env("PATH", PATH).args(&words).stderr(Stdio::null()).status();
        }
        Undo::SwapOff(device) => undo(Undo::Command(vec!["swapoff".into(), device])),
        Undo::Kill(mut child) => {
            let _ = child.kill();
            let _ = child.wait();
        }
        Undo::Remove(path) => {
            let _ = std::fs::remove_file(&path);
            // The directories of links, where they were made for the test only: others are not empty.
            for directory in path.ancestors().skip(1).take(2) {
                let _ = std::fs::remove_dir(directory);
            }
        }
    }
}

/// The tools are in directories that a login of a normal user does not search.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Runs a tool that must succeed and returns what it printed.
pub fn run(words: &[&str]) -> String {
    ran(words).unwrap_or_else(|said| panic!("{words:?}: {said}"))
}

/// The same of a tool that fails as long as something has its device open: udev looks at what was written.
pub fn run_when_free(words: &[&str]) {
    let begun = Instant::now();
    while let Err(said) = ran(words) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{words:?}: {said}");
        std::thread::yield_now();
    }
}

/// What a tool printed; the error is everything that it said of its failure.
fn ran(words: &[&str]) -> Result<String, String> {
    let output = Command::new("env").env("PATH", PATH).args(words).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(out.into_owned()) } else { Err(format!("{out}{err}")) }
}

/// Runs a line of shell that must succeed.
fn shell(line: &str) -> String {
    run(&["sh", "-c", line])
}

/// Writes bytes into a device or image from outside.
pub fn poke(path: impl AsRef<Path>, offset: u64, bytes: &[u8]) {
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(bytes, offset).unwrap();
    file.sync_all().unwrap();
}
