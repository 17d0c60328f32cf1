//! Machines that are up, as they are kept between commands: a directory of their name with their file, what was drawn for them, and what
//! their guests start from. Must not ask libvirt anything.

use crate::devices::{self, DiskDevice};
use crate::domain::{self, Mark, Paths};
use crate::modes::{let_read, make_place, set_mode};
use crate::virsh::Virsh;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stend_base::random::{draw, mix};
use stend_base::{Error, Result, Say, say};
use stend_lab::Image;
use stend_spec::vm::{Accelerator, DiskPlace, Machines, is_name, numbered};

/// Their file.
const FILE: &str = "machines.yaml";
/// What was drawn for them.
const ID: &str = "id";
/// By which libvirt is reached.
const CONNECTION: &str = "connection";
/// How their guests are executed, once they were started.
const ACCELERATOR: &str = "accelerator";
/// Their block devices, one a line: those of the first disk, then those of the next.
const DEVICES: &str = "devices";
/// How long a worker waits for those who look whether a machine is in use: they hold its lock for microseconds.
const LOOK: Duration = Duration::from_millis(300);
/// Longest file that is read of the directory.
const KEPT_MAX: u64 = 1 << 20;

/// Where machines that are up are kept: `/var/lib/stend/vm` for root, else `$XDG_STATE_HOME/stend/vm` or `~/.local/state/stend/vm`.
///
/// Errors: `Preflight` where none of them can be told.
pub fn state_directory() -> Result<PathBuf> {
    if rustix::process::getuid().is_root() {
        return Ok("/var/lib/stend/vm".into());
    }
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    state.map(|state| state.join("stend/vm")).ok_or_else(|| {
        Error::preflight(say!(
            "neither XDG_STATE_HOME nor HOME is set, so there is no directory for virtual machines",
            "не заданы ни XDG_STATE_HOME, ни HOME: негде хранить виртуальные машины"
        ))
    })
}

/// Machines of one file, with what was drawn for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// As their file has them.
    pub machines: Machines,
    /// 16 hexadecimal digits, in the names of all that is theirs.
    pub id: String,
    /// By which libvirt is reached.
    pub connection: String,
    /// Their block devices: of each disk one for each machine, or none.
    pub devices: Vec<Vec<DiskDevice>>,
    pub(crate) directory: PathBuf,
}

impl Group {
    /// Machines that are not up yet. `devices` has one for each machine of each disk that is a device.
    pub(crate) fn new(
        machines: &Machines,
        connection: String,
        devices: Vec<Vec<DiskDevice>>,
        place: &Path,
        seed: u64,
    ) -> Group {
        let id = format!("{:016x}", mix(seed));
        let directory = place.join(&machines.name);
        Group { machines: machines.clone(), id, connection, devices, directory }
    }

    /// Those of this name that are up, or of which something is left.
    ///
    /// Errors: `Usage` for what can be no name, `Preflight` where there are none.
    pub fn find(name: &str, place: &Path) -> Result<Group> {
        if !is_name(name) {
            return Err(Error::usage(say!(
                "`{name}` is no name of virtual machines",
                "`{name}` — не имя виртуальных машин"
            )));
        }
        let directory = place.join(name);
        if !directory.is_dir() {
            return Err(Error::preflight(say!(
                "there are no virtual machines `{name}`",
                "виртуальных машин `{name}` нет"
            ))
            .hint(say!(
                "`stend vm status` lists them, `stend vm up FILE` starts them",
                "список — `stend vm status`, запускает их `stend vm up ФАЙЛ`"
            )));
        }
        let kept = |file: &str| kept(&directory, file);
        let file = directory.join(FILE).to_string_lossy().into_owned();
        let machines = stend_spec::parse::machines(&kept(FILE)?, &file)?;
        let (id, connection) = (kept(ID)?.trim().to_string(), kept(CONNECTION)?.trim().to_string());
        if id.len() != 16 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unreadable(&directory, ID, &say!("it is damaged", "он повреждён")));
        }
        let devices = devices::of_lines(&kept(DEVICES)?, &machines);
        Ok(Group { machines, id, connection, devices, directory })
    }

    /// The machines that one of them is named by, and its number.
    ///
    /// Errors: as [`Group::find`], and `Usage` where there are not so many.
    pub fn find_machine(name: &str, place: &Path) -> Result<(Group, u32)> {
        let (of, number) = numbered(name).ok_or_else(|| {
            Error::usage(say!("`{name}` names no virtual machine", "`{name}` — не имя виртуальной машины"))
                .hint(say!("for example `web-1`", "например `web-1`"))
        })?;
        let group = Group::find(of, place)?;
        let count = group.machines.count;
        match number <= count {
            true => Ok((group, number)),
            false => Err(Error::usage(say!(
                "there are {count} machines `{of}`, and no `{name}`",
                "машин `{of}` {count}, и `{name}` среди них нет"
            ))),
        }
    }

    /// Numbers of all machines.
    pub(crate) fn numbers(&self) -> std::ops::RangeInclusive<u32> {
        1..=self.machines.count
    }

    /// What a user calls one of them: `web-1`.
    pub fn name_of(&self, number: u32) -> String {
        format!("{}-{number}", self.machines.name)
    }

    /// libvirt, as they were started.
    pub(crate) fn virsh(&self) -> Virsh {
        Virsh::new(Some(&self.connection))
    }

    pub(crate) fn mark(&self, number: u32) -> Mark {
        Mark { machines: self.machines.name.clone(), id: self.id.clone(), number }
    }

    /// UUID of a domain, which follows from what was drawn: no other domain has it.
    pub(crate) fn uuid(&self, number: u32) -> String {
        let seed = u64::from_str_radix(&self.id, 16).unwrap_or_default();
        let hex = format!("{seed:016x}{:016x}", draw(seed, u64::from(number)));
        // Version 4, variant 1 (RFC 9562, section 5.4).
        let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..]);
        format!("{a}-{b}-4{c}-a{d}-{e}")
    }

    /// Serial numbers of the disks of a machine, in their order.
    pub fn serials(&self, number: u32) -> Vec<String> {
        (1..=self.machines.disks.len()).map(|disk| domain::serial(&self.id, number, disk)).collect()
    }

    pub(crate) fn paths(&self, number: u32) -> Paths {
        let own = |name: &str| self.directory.join(name).to_string_lossy().into_owned();
        let [kernel, archive, system] = ["kernel", "archive", "system"].map(own);
        let disks = (0..self.machines.disks.len()).map(|disk| self.disk(disk, number)).collect();
        Paths { kernel, archive, system, console: own(&format!("console-{number}.log")), disks }
    }

    /// File or device of a disk. The name of a file has what was drawn for these machines, so that no other file has it.
    pub(crate) fn disk(&self, disk: usize, number: u32) -> String {
        match &self.machines.disks[disk].place {
            DiskPlace::File { directory, .. } => self.file_of_disk(directory, disk, number, "img"),
            DiskPlace::Devices(_) => {
                self.devices[disk].get(number as usize - 1).map(|device| device.path.clone()).unwrap_or_default()
            }
        }
    }

    /// A file that belongs to a disk, in a directory.
    pub(crate) fn file_of_disk(&self, directory: &str, disk: usize, number: u32, ending: &str) -> String {
        let (name, id, disk) = (&self.machines.name, &self.id, disk + 1);
        let directory = directory.trim_end_matches('/');
        format!("{directory}/stend-{name}-{number}-{disk}-{id}.{ending}")
    }

    /// That there are none of their name yet.
    ///
    /// Errors: `Preflight` where there are.
    pub(crate) fn must_be_new(&self) -> Result<()> {
        if self.directory.symlink_metadata().is_ok() { Err(self.exists()) } else { Ok(()) }
    }

    fn exists(&self) -> Box<Error> {
        let name = &self.machines.name;
        let told = say!("virtual machines `{name}` exist already", "виртуальные машины `{name}` уже есть");
        Error::preflight(told).hint(say!("`stend vm down {name}` removes them", "их убирает `stend vm down {name}`"))
    }

    /// Makes their directory, with what every later command needs. From then on [`Group::find`] finds them.
    ///
    /// Errors: `Preflight` where there are some of that name.
    pub(crate) fn keep(&self, text: &str) -> Result<()> {
        let place = self.directory.parent().unwrap_or(&self.directory);
        make_place(place).map_err(|e| self.unkept(&e))?;
        let one_at_a_time = File::create(place.join(".lock")).map_err(|e| self.unkept(&e))?;
        one_at_a_time.lock().map_err(|e| self.unkept(&e))?;
        self.must_be_new()?;
        // It gets its name when it is whole: of half a directory no command could say whose machines these are.
        let new = place.join(format!(".{}.new", self.machines.name));
        let made = self.make(&new, text).and_then(|()| fs::rename(&new, &self.directory));
        made.map_err(|e| {
            // No command finds one that stays, and the next one of this name replaces it.
            drop(stend_sys::tree::remove(&new));
            self.unkept(&e)
        })
    }

    fn make(&self, new: &Path, text: &str) -> io::Result<()> {
        // What was killed in the middle.
        stend_sys::tree::remove(new)?;
        fs::create_dir(new)?;
        set_mode(new, 0o755)?;
        let devices: String = self.devices.iter().flatten().map(DiskDevice::line).collect();
        let files = [(DEVICES, devices.as_str()), (CONNECTION, &self.connection), (FILE, text), (ID, &self.id)];
        files.iter().try_for_each(|(file, text)| durable(&new.join(file), text))
    }

    /// Puts there what guests start from.
    pub(crate) fn keep_image(&self, image: &Image) -> Result<()> {
        let paths = self.paths(1);
        let made = || -> io::Result<()> {
            fs::copy(&image.kernel, &paths.kernel)?;
            // Guests only read it, and the XML keeps libvirt from changing its owner; another file system needs a copy.
            fs::hard_link(&image.system, &paths.system)
                .or_else(|_| fs::copy(&image.system, &paths.system).map(drop))?;
            let mut archive = io::BufWriter::new(readable(Path::new(&paths.archive))?);
            stend_lab::guest_archive(image, &mut archive)?;
            archive.flush()?;
            [&paths.kernel, &paths.system, &paths.archive].iter().try_for_each(|path| let_read(Path::new(path)))
        };
        made().map_err(|e| self.unkept(&e))
    }

    /// Notes how the guests are executed.
    pub(crate) fn keep_accelerator(&self, how: Accelerator) -> Result<()> {
        fs::write(self.directory.join(ACCELERATOR), how.name()).map_err(|e| self.unkept(&e))
    }

    /// How the guests are executed; `None` where it was not noted: they were not all started, or by an earlier version.
    pub fn accelerator(&self) -> Option<Accelerator> {
        let name = kept(&self.directory, ACCELERATOR).ok()?;
        [Accelerator::Kvm, Accelerator::Tcg].into_iter().find(|how| how.name() == name)
    }

    /// Writes the XML of a domain there; its path.
    pub(crate) fn keep_domain(&self, number: u32, xml: &str) -> Result<String> {
        let path = self.directory.join(format!("domain-{number}.xml"));
        fs::write(&path, xml).map_err(|e| self.unkept(&e))?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Writes the XML there that a domain migrates with; its path.
    pub(crate) fn keep_arrival(&self, number: u32, xml: &str) -> Result<String> {
        let path = self.directory.join(format!("arrival-{number}.xml"));
        fs::write(&path, xml).map_err(|e| self.unkept(&e))?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// What a guest printed last, without what would steer a terminal.
    pub fn console(&self, number: u32) -> String {
        let text = fs::read(self.paths(number).console).unwrap_or_default();
        stend_lab::last_lines(&String::from_utf8_lossy(&text))
    }

    /// Takes a machine for a worker: one run at a time has it.
    pub(crate) fn lock(&self, number: u32) -> Result<File> {
        let name = self.name_of(number);
        let lock = File::create(self.worker_lock(number)).map_err(|e| self.unkept(&e))?;
        let since = Instant::now();
        let locked = loop {
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) if since.elapsed() < LOOK => std::thread::sleep(LOOK / 100),
                locked => break locked,
            }
        };
        match locked {
            Ok(()) => Ok(lock),
            Err(_) => Err(Error::preflight(say!(
                "another run is using the virtual machine `{name}`",
                "виртуальную машину `{name}` использует другой прогон"
            ))),
        }
    }

    /// Whether a worker has a machine. Others may look at the same time, and a worker that begins waits until they have.
    pub(crate) fn is_in_use(&self, number: u32) -> bool {
        let lock = File::open(self.worker_lock(number));
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn worker_lock(&self, number: u32) -> PathBuf {
        self.directory.join(format!("worker-{number}.lock"))
    }

    /// Removes the directory.
    pub(crate) fn forget(&self) -> Result<()> {
        stend_sys::tree::remove(&self.directory)
            .map_err(|e| stend_sys::tree::refusal(&e).unwrap_or_else(|| self.unkept(&e)))
    }

    pub(crate) fn unkept(&self, error: &io::Error) -> Box<Error> {
        let shown = self.directory.display();
        Error::preflight(say!(
            "cannot keep what belongs to the virtual machines in `{shown}`: {error}",
            "не удаётся сохранить данные виртуальных машин в `{shown}`: {error}"
        ))
    }
}

/// Names of all machines that are kept.
pub(crate) fn names(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let names = entries.filter(|entry| entry.path().is_dir()).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_name(name)).collect();
    names.sort();
    names
}

fn durable(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn readable(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)
}

fn kept(directory: &Path, file: &str) -> Result<String> {
    stend_sys::regular::text(directory.join(file), KEPT_MAX).map_err(|why| unreadable(directory, file, &why))
}

fn unreadable(directory: &Path, file: &str, Say { en, ru }: &Say) -> Box<Error> {
    let shown = directory.join(file);
    let shown = shown.display();
    Error::preflight(say!("cannot read `{shown}`: {en}", "не удаётся прочитать `{shown}`: {ru}"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    const TEXT: &str =
        "machines: web\ncount: 2\ndisks: [{size: 1MiB, directory: /d/}, {devices: [serial:A, serial:B]}]\n";

    /// Two machines with a file and a device each, kept in this directory.
    pub(crate) fn kept_in(place: &Path) -> Group {
        let machines = stend_spec::parse::machines(TEXT, "m").unwrap();
        let a = DiskDevice { path: "/dev/disk/by-id/wwn-0xa".into(), identity: Some("wwn:0xa".into()) };
        let devices = vec![Vec::new(), vec![a, DiskDevice { path: "/dev/b".into(), identity: None }]];
        let group = Group::new(&machines, "qemu:///system".into(), devices, place, 7);
        group.keep(TEXT).unwrap();
        group
    }

    #[test]
    fn machines_are_found_again_as_they_were_kept_and_only_once() {
        let place = tempfile::tempdir().unwrap();
        let group = kept_in(place.path());
        assert_eq!(Group::find("web", place.path()).unwrap(), group, "with the identities of their devices");
        assert_eq!(group.accelerator(), None, "they were not started");
        group.keep_accelerator(Accelerator::Tcg).unwrap();
        assert_eq!(group.accelerator(), Some(Accelerator::Tcg));
        assert_eq!(names(place.path()), ["web"]);
        let again = group.keep(TEXT).unwrap_err();
        assert!(again.message.en.contains("exist already"), "{again}");
        assert_eq!(Group::find_machine("web-2", place.path()).unwrap().1, 2);
        group.forget().unwrap();
        assert_eq!(names(place.path()), [""; 0]);
        for (name, told) in [("web", "no virtual machines `web`"), ("../web", "no name")] {
            let error = Group::find(name, place.path()).unwrap_err();
            assert!(error.message.en.contains(told), "{error}");
        }
    }

    #[test]
    fn what_is_theirs_has_what_was_drawn_for_them_in_its_name() {
        let place = tempfile::tempdir().unwrap();
        let (group, id) = (kept_in(place.path()), format!("{:016x}", mix(7)));
        assert_eq!(group.disk(0, 2), format!("/d/stend-web-2-1-{id}.img"));
        assert_eq!((group.disk(1, 1).as_str(), group.disk(1, 2).as_str()), ("/dev/disk/by-id/wwn-0xa", "/dev/b"));
        assert_eq!(group.serials(2), [format!("{}-2-1", &id[..8]), format!("{}-2-2", &id[..8])]);
        assert_ne!(group.uuid(1), group.uuid(2));
        assert!(group.uuid(1).starts_with(&id[..8]) && group.uuid(1).len() == 36, "{}", group.uuid(1));
    }

    #[test]
    fn the_emulator_finds_what_it_reads_whatever_the_umask_is() {
        let place = tempfile::tempdir().unwrap();
        let vm = place.path().join("stend/vm");
        let machines = stend_spec::parse::machines(TEXT, "m").unwrap();
        let group = Group::new(&machines, "qemu:///system".into(), Vec::new(), &vm, 7);
        let before = rustix::process::umask(rustix::fs::Mode::from_bits_retain(0o077));
        let kept = group.keep(TEXT);
        rustix::process::umask(before);
        kept.unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let modes = [&place.path().join("stend"), &vm, &group.directory].map(|path| mode(path));
        assert_eq!(modes.map(|mode| mode & 0o111), [0o111; 3], "{modes:?}");
        group.forget().unwrap();
        fs::set_permissions(&vm, Permissions::from_mode(0o750)).unwrap();
        group.keep(TEXT).unwrap();
        assert_eq!(mode(&vm), 0o750, "as its owner gave it");
    }

    #[test]
    fn a_number_beyond_the_machines_and_a_name_of_none_are_refused() {
        let place = tempfile::tempdir().unwrap();
        kept_in(place.path());
        for (name, told) in [
            ("web-3", "there are 2 machines"),
            ("web", "names no virtual machine"),
            ("db-1", "no virtual machines `db`"),
        ] {
            let error = Group::find_machine(name, place.path()).unwrap_err();
            assert!(error.message.en.contains(told), "{error}");
        }
    }

    #[test]
    fn a_directory_that_cannot_be_made_whole_is_in_the_way_of_nothing() {
        let place = tempfile::tempdir().unwrap();
        let machines = stend_spec::parse::machines(TEXT, "m").unwrap();
        let group = Group::new(&machines, "qemu:///system".into(), Vec::new(), place.path(), 7);
        // As after a kill: some of the files are there, under the name that it has until it is whole.
        let half = place.path().join(".web.new");
        fs::create_dir(&half).unwrap();
        fs::write(half.join(DEVICES), "").unwrap();
        assert!(Group::find("web", place.path()).unwrap_err().message.en.contains("no virtual machines"));
        assert_eq!(names(place.path()), [""; 0]);
        group.keep(TEXT).unwrap();
        assert_eq!(Group::find("web", place.path()).unwrap().id, group.id);
        group.forget().unwrap();
        // A disk that gets full: the second file cannot be written.
        let full = Group { connection: "x".repeat(2 << 20), ..group };
        let root = full.directory.parent().unwrap().join("small");
        fs::create_dir(&root).unwrap();
        let mounted =
            std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(&root).status();
        if !mounted.unwrap().success() {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "mounting needs root in CI");
            return;
        }
        let full = Group { directory: root.join("web"), ..full };
        let refused = full.keep(TEXT);
        let left = fs::read_dir(&root).unwrap().flatten().filter(|entry| entry.path().is_dir()).count();
        assert!(std::process::Command::new("umount").arg(&root).status().unwrap().success());
        assert!(refused.is_err() && left == 0, "{refused:?}, {left} left");
    }

    #[test]
    fn looking_whether_a_machine_is_in_use_keeps_no_run_from_it() {
        let place = tempfile::tempdir().unwrap();
        let group = kept_in(place.path());
        assert!(!group.is_in_use(1));
        let lock = group.lock(1).unwrap();
        assert!(group.is_in_use(1) && !group.is_in_use(2));
        drop(lock);
        let looking = File::open(group.worker_lock(1)).unwrap();
        looking.try_lock_shared().unwrap();
        assert!(!group.is_in_use(1), "another one looks, too");
        let looks = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            drop(looking);
        });
        group.lock(1).unwrap();
        looks.join().unwrap();
    }

    #[test]
    fn a_machine_is_had_by_one_run_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let group = kept_in(place.path());
        let lock = group.lock(1).unwrap();
        assert!(group.lock(1).unwrap_err().message.en.contains("another run"));
        drop((lock, group.lock(2).unwrap()));
        group.lock(1).unwrap();
    }
}
