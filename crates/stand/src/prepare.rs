//! Makes a target ready for a run and undoes that: the only place that changes a machine. Every change is a
//! step that says what it does before it does it; a dry run prints the same list.

use crate::access::Viewer;
use crate::claims;
use crate::contents;
use crate::devices::Devices;
use crate::inspect::device_facts;
use crate::node::Node;
use crate::owner::Owner;
use crate::permission::{self, may_write};
use crate::roots::Roots;
use crate::testfile::{self, Left, Others, TestFiles};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use stend_base::{Bytes, Error, Lang, Result, Say, format, say};
use stend_record::{DryRun, EventKind, TargetFacts, TargetKind, WriteAccess};
use stend_spec::permission::Permission;
use stend_sys::access::Intent;
use stend_sys::block;
use stend_sys::{Claim, IoFile};

/// What a run needs of its target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Need {
    /// Only to read a device or file as it is.
    Read,
    /// To write to the device itself.
    WriteDevice(Owner),
    /// Test files of its own in the directory, usually one.
    TestFiles {
        /// Their sizes, in the order of the space that they form.
        sizes: Vec<Bytes>,
        /// The run.
        owner: Owner,
    },
}

/// One change of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    RemoveDead(PathBuf),
    /// What is of somebody else.
    Leave(PathBuf, Others),
    MakeDirectory(PathBuf, Owner),
    /// In this directory.
    AllocateFiles(PathBuf, Vec<Bytes>),
}

impl Step {
    fn describe(&self) -> Say {
        match self {
            Step::RemoveDead(path) => {
                let path = path.display();
                say!("remove {path}, left by a dead run", "удалить {path}, остаток прерванного прогона")
            }
            Step::Leave(path, Others::User(user)) => {
                let path = path.display();
                say!(
                    "leave {path}, which belongs to user {user}: a run may be using it",
                    "не трогать {path} пользователя {user}: возможно, им занят прогон"
                )
            }
            Step::Leave(path, Others::Machine) => {
                let path = path.display();
                say!(
                    "leave {path}, which a run on another machine made and may be using",
                    "не трогать {path}: его создал прогон на другой машине и, возможно, использует"
                )
            }
            Step::MakeDirectory(path, _) => {
                let path = path.display();
                say!("make directory {path}", "создать каталог {path}")
            }
            Step::AllocateFiles(directory, sizes) => {
                let (first, count) = (testfile::data_in(directory, sizes.len()), sizes.len());
                let (first, together) = (first.display(), sizes.iter().copied().sum());
                let [en, ru] = [Lang::En, Lang::Ru].map(|lang| format::bytes(together, lang));
                match count {
                    1 => say!("create {first} of {en}", "создать файл {first} ({ru})"),
                    _ => say!(
                        "create {first} and the next, {count} files of {en} together",
                        "создать {first} и следующие, файлов {count}, вместе {ru}"
                    ),
                }
            }
        }
    }

    /// `None`: what was there is of no use to anyone.
    fn describe_undo(&self) -> Option<Say> {
        match self {
            Step::RemoveDead(_) | Step::Leave(..) => None,
            Step::MakeDirectory(path, _) => {
                let path = path.display();
                Some(say!("remove {path}", "удалить {path}"))
            }
            Step::AllocateFiles(directory, sizes) => {
                let (first, count) = (testfile::data_in(directory, sizes.len()), sizes.len());
                let first = first.display();
                Some(match count {
                    1 => say!("remove {first}", "удалить {first}"),
                    _ => say!(
                        "remove {first} and the next, {count} files",
                        "удалить {first} и следующие, файлов {count}"
                    ),
                })
            }
        }
    }
}

/// A target that is ready. Dropping it lets go of everything and removes what was made.
#[derive(Debug)]
pub struct Prepared {
    held: Held,
    path: PathBuf,
    size: Bytes,
    undo: Vec<String>,
    /// WWN, serial number or the like of a device that may be written.
    before: Option<Before>,
}

/// What was known of a device before anything was written to it.
#[derive(Debug)]
struct Before {
    identity: Option<String>,
    /// Everything on it was erased or ours, as far as a sample tells.
    ours: bool,
    /// Some of that was known by a mark alone.
    by_mark: bool,
    run_id: String,
}

#[derive(Debug)]
enum Held {
    Nothing,
    Device(Claim),
    Files(TestFiles),
}

/// What [`prepare`] and its undo would change; empty if nothing. Changes nothing.
pub fn dry_run(facts: &TargetFacts, need: &Need) -> DryRun {
    let steps = steps(&Roots::host(), facts, need);
    DryRun {
        undo: steps.iter().rev().filter_map(Step::describe_undo).collect(),
        steps: steps.iter().map(Step::describe).collect(),
    }
}

/// Whether the user of this process may begin what [`prepare`] would: asked, not tried.
///
/// Errors: `Preflight`, as `prepare` itself or the first trial would end with.
pub(crate) fn may_begin(facts: &TargetFacts, need: &Need) -> Result<()> {
    let (intent, what) = match (need, facts.kind) {
        (Need::TestFiles { sizes, .. }, TargetKind::Directory) if !sizes.is_empty() => {
            (Intent::MakeIn, say!("make the directory of the test file", "создать каталог тестового файла"))
        }
        (Need::WriteDevice(_), TargetKind::BlockDevice) => {
            (Intent::ReadWrite, say!("open for writing", "открыть на запись"))
        }
        (Need::Read, TargetKind::BlockDevice | TargetKind::File) => {
            (Intent::Read, say!("open for reading", "открыть на чтение"))
        }
        _ => return Ok(()),
    };
    stend_sys::access::may(&facts.path, intent).map_err(|error| claims::preflight(&facts.path, &what, &error))
}

/// What the run with this id, which is gone, left of the target, opened for reading; `sizes` of its test files, none for a
/// device.
pub fn open_left(facts: &TargetFacts, run_id: &str, sizes: &[Bytes], direct: bool) -> Result<Left> {
    let path = Path::new(&facts.path);
    if !sizes.is_empty() {
        return testfile::open_left(&Roots::host(), path, run_id, sizes, direct);
    }
    let file = IoFile::open_read(path, direct).map_err(|error| claims::cannot_read(&facts.path, direct, &error))?;
    Ok(Left::File(file))
}

/// Whether the last session of the run with this id left the target without undoing what it made: it was killed, or left it to be judged.
/// `sizes` as for [`open_left`]. A restart of the machine takes away what tells it of a device.
pub fn was_left(facts: &TargetFacts, run_id: &str, sizes: &[Bytes]) -> bool {
    let (roots, path) = (Roots::host(), Path::new(&facts.path));
    if !sizes.is_empty() {
        let left = testfile::open_left(&roots, path, run_id, sizes, false);
        return matches!(left, Ok(Left::File(_) | Left::Emptied));
    }
    let devices = Devices::read(&roots);
    let number = block::block_device_at(path).ok().flatten();
    let lease = number.and_then(|number| claims::lease_name(&roots, &devices, devices.by_number(number)?));
    lease.and_then(|lease| claims::left(&roots, &lease)).is_some_and(|note| note.owner.run_id == run_id)
}

/// What was made of the target of the run with this id is there again, as its device was at some time; opened for reading. `None`:
/// the test file is not there.
pub fn open_replayed(facts: &TargetFacts, run_id: &str, sizes: &[Bytes], direct: bool) -> Result<Option<IoFile>> {
    let path = Path::new(&facts.path);
    match sizes.is_empty() {
        false => testfile::open_made(path, run_id, sizes, direct),
        true => {
            let file = IoFile::open_read(path, direct);
            file.map(Some).map_err(|error| claims::cannot_read(&facts.path, direct, &error))
        }
    }
}

/// Makes a target ready for what a run needs. Each change goes to `log` when it has been made.
///
/// Errors: `Unsafe` where writing is refused, not confirmed, or the target is not what `facts` say any more;
/// `Preflight` where the system refuses, e.g. without room for the test file. After an error nothing is held
/// and nothing of ours is left.
pub fn prepare(
    facts: &TargetFacts,
    permission: &Permission,
    need: &Need,
    log: &mut dyn FnMut(EventKind),
) -> Result<Prepared> {
    let roots = Roots::host();
    match (need, facts.kind) {
        (Need::Read, TargetKind::BlockDevice | TargetKind::File) => Ok(Prepared::as_it_is(Held::Nothing, facts)),
        (Need::WriteDevice(owner), TargetKind::BlockDevice) => {
            let mut facts = facts.clone();
            if facts.contents.is_none() {
                contents::sample_contents(std::slice::from_mut(&mut facts), &mut |_| {});
            }
            must_be_allowed(&facts, permission)?;
            let held = Held::Device(claim_device(&roots, &facts, owner)?);
            Ok(Prepared { before: Some(Before::of(&facts, owner)), ..Prepared::as_it_is(held, &facts) })
        }
        (Need::TestFiles { sizes, .. }, TargetKind::Directory) if !sizes.is_empty() => {
            must_be_allowed(facts, permission)?;
            make_files(&roots, &steps(&roots, facts, need), sizes.iter().copied().sum(), log)
        }
        (Need::Read, TargetKind::NullDevice) | (Need::WriteDevice(_), TargetKind::NullDevice) => {
            let claim = Claim::null_device(Path::new(&facts.path)).map_err(|e| claims::explain(&facts.path, e))?;
            Ok(Prepared::as_it_is(Held::Device(claim), facts))
        }
        (Need::WriteDevice(_), TargetKind::File) => {
            Err(permission::refused(&facts.path, &[stend_record::Refusal::ForeignFile]))
        }
        (Need::Read | Need::WriteDevice(_), TargetKind::Directory) | (Need::TestFiles { .. }, _) => {
            let path = &facts.path;
            Err(Error::usage(say!(
                "the run needs a test file in a directory, and `{path}` is not a directory that it can use",
                "тестовый файл создаётся только в каталоге, и `{path}` не подходит для того, что требуется прогону"
            )))
        }
    }
}

impl Before {
    fn of(facts: &TargetFacts, owner: &Owner) -> Before {
        let contents = facts.contents.as_ref();
        Before {
            identity: facts.identity.clone(),
            ours: contents.is_some_and(|contents| !contents.is_unknown()),
            by_mark: contents.is_some_and(|contents| contents.other > 0),
            run_id: owner.run_id.clone(),
        }
    }
}

impl Prepared {
    fn as_it_is(held: Held, facts: &TargetFacts) -> Prepared {
        Prepared { held, path: PathBuf::from(&facts.path), size: facts.size, undo: Vec::new(), before: None }
    }

    /// Opens what I/O goes to: the device, the file, or the test file. `direct` bypasses the page cache.
    ///
    /// Errors: `Preflight` if direct I/O is refused; `Unsafe` if writing was not prepared, or if the target
    /// changed between the claim and its first opening for writing.
    pub fn open(&self, writable: bool, direct: bool) -> Result<IoFile> {
        if let Held::Files(files) = &self.held {
            return files.open(writable, direct);
        }
        let name = self.path.display().to_string();
        if !writable {
            return IoFile::open_read(&self.path, direct).map_err(|error| claims::cannot_read(&name, direct, &error));
        }
        let Held::Device(claim) = &self.held else {
            return Err(Error::refused(say!(
                "`{name}` was prepared for reading only",
                "`{name}` подготовлен только для чтения"
            )));
        };
        claim.open_write(direct).map_err(|error| claims::explain(&name, error))
    }

    /// Makes the directory in which instances of applications keep their data, below that of the run; once.
    pub fn make_app_directory(&mut self, passable: bool, log: &mut dyn FnMut(EventKind)) -> Result<PathBuf> {
        let Held::Files(files) = &mut self.held else {
            return Err(Error::usage(say!(
                "the data of instances are files: name a directory",
                "данные экземпляров — файлы: укажите каталог"
            )));
        };
        let path = files.make_app(passable)?;
        log(EventKind::Step { action: format!("make directory {}", path.display()) });
        self.undo.push(format!("remove {} with everything in it", path.display()));
        Ok(path)
    }

    /// What I/O goes to; of several test files their directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that I/O may use.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Leaves what was made for a later session to judge, and lets go of the target when this process ends.
    pub fn leave(self, log: &mut dyn FnMut(EventKind)) {
        let path = self.path.display();
        log(EventKind::Step { action: format!("leave {path} as it is, to be checked") });
        if let Held::Files(files) = self.held {
            files.leave();
        }
    }

    /// Lets go of the target at once, and leaves what was made: the device below is going to be made what it was at other times.
    pub fn let_go(self, log: &mut dyn FnMut(EventKind)) {
        let path = self.path.display();
        log(EventKind::Step { action: format!("let go of {path}") });
        if let Held::Files(files) = self.held {
            files.let_go();
        }
    }

    /// Leaves a mark on a device that was written, so that the next run knows what is on it as ours; only the first `end` bytes may be
    /// written. `opaque`: data may have been written that do not show whose they are. No mark is left where there were data before that were
    /// not ours: what was not written over is still there.
    pub fn leave_mark(&self, opaque: bool, end: Bytes, log: &mut dyn FnMut(EventKind)) {
        let (Held::Device(claim), Some(before)) = (&self.held, &self.before) else { return };
        if !before.ours || !(opaque || before.by_mark) {
            return;
        }
        let shown = self.path.display();
        let device = (self.path.as_path(), self.size.0);
        let text = match contents::leave(claim, device, before.identity.as_deref(), &before.run_id, end.0) {
            Ok(true) => format!("left a mark on {shown}: the next run knows its contents as those of this run"),
            Ok(false) => return,
            Err(error) => format!("left no mark on {shown}: {error}; the next run asks before it writes there"),
        };
        log(EventKind::Note { text });
    }

    /// Removes what was made and lets go of the target. Dropping does the same without a word.
    pub fn undo(mut self, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        if let Held::Files(files) = &mut self.held {
            let path = self.path.display().to_string();
            let what = say!("remove what was made for the test", "удалить созданное для теста");
            files.remove().map_err(|error| claims::preflight(&path, &what, &error))?;
        }
        self.undo.drain(..).rev().for_each(|action| log(EventKind::Step { action }));
        Ok(())
    }
}

fn steps(roots: &Roots, facts: &TargetFacts, need: &Need) -> Vec<Step> {
    let Need::TestFiles { sizes, owner } = need else { return Vec::new() };
    let parent = Path::new(&facts.path);
    let directory = testfile::directory_for(parent, &owner.run_id);
    let dead = testfile::dead_for(roots, parent, &owner.run_id).into_iter();
    let mut steps: Vec<Step> = dead.map(Step::RemoveDead).collect();
    steps.extend(testfile::of_others(roots, parent).into_iter().map(|(path, whose)| Step::Leave(path, whose)));
    steps.push(Step::MakeDirectory(directory.clone(), owner.clone()));
    steps.push(Step::AllocateFiles(directory, sizes.clone()));
    steps
}

/// Applies the steps in order. A step that fails drops what the earlier ones made, which removes it.
fn make_files(roots: &Roots, steps: &[Step], size: Bytes, log: &mut dyn FnMut(EventKind)) -> Result<Prepared> {
    let mut made: Option<TestFiles> = None;
    let mut undo = Vec::new();
    for step in steps {
        match step {
            Step::RemoveDead(path) => testfile::remove_dead(roots, path)?,
            Step::Leave(..) => {}
            Step::MakeDirectory(path, owner) => made = Some(TestFiles::make_directory(roots, path, owner)?),
            Step::AllocateFiles(_, sizes) => {
                // Each of many is open several times: claimed, for reading and for writing.
                if sizes.len() > 1 {
                    let allowed = stend_sys::process::allow_open_files();
                    testfile::must_be_openable(sizes.len(), allowed)?;
                }
                if !made.as_mut().ok_or_else(no_directory)?.allocate(sizes)? {
                    let text = "this file system cannot reserve space: the test file is sparse until it is filled";
                    log(EventKind::Note { text: text.to_string() });
                }
            }
        }
        log(EventKind::Step { action: step.describe().en });
        undo.extend(step.describe_undo().map(|undo| undo.en));
    }
    let files = made.ok_or_else(no_directory)?;
    Ok(Prepared { path: files.data(), held: Held::Files(files), size, undo, before: None })
}

fn no_directory() -> Box<Error> {
    Error::bug(say!("no step made a directory for the test file", "ни один шаг не создал каталог для тестового файла"))
}

fn must_be_allowed(facts: &TargetFacts, permission: &Permission) -> Result<()> {
    may_write(facts, permission)?.map_err(|reason| {
        let path = &facts.path;
        let (en, ru) = (reason.en, reason.ru);
        Error::refused(say!("refused to write to `{path}`: {en}", "запись в `{path}` отклонена: {ru}"))
    })
}

/// Looks again, claims, and looks once more with the claim in hand, when nobody can change it any more.
fn claim_device(roots: &Roots, facts: &TargetFacts, owner: &Owner) -> Result<Claim> {
    let devices = Devices::read(roots);
    let number = block::block_device_at(Path::new(&facts.path)).ok().flatten();
    let gone = || claims::changed(&facts.path, &say!("it is gone", "устройство исчезло"));
    let node = number.and_then(|number| devices.by_number(number)).ok_or_else(gone)?;
    must_be_same(roots, &devices, node, facts, Viewer::Stranger)?;
    let claim = claims::claim(roots, &devices, node, owner)?;
    let devices = Devices::read(roots);
    let node = devices.by_number(node.number).ok_or_else(gone)?;
    must_be_same(roots, &devices, node, facts, Viewer::Claimant)?;
    Ok(claim)
}

fn must_be_same(roots: &Roots, devices: &Devices, node: &Node, facts: &TargetFacts, viewer: Viewer) -> Result<()> {
    let now = device_facts(roots, devices, node, &facts.named, viewer);
    if let WriteAccess::Refused(reasons) = &now.access {
        return Err(permission::refused(&facts.path, reasons));
    }
    let differs = match () {
        () if now.identity != facts.identity => say!("identity", "идентификатор"),
        () if now.size != facts.size => say!("size", "размер"),
        () if now.signatures != facts.signatures => say!("signatures", "метки"),
        () => return Ok(()),
    };
    Err(claims::changed(&facts.path, &differs))
}
