//! Does one action. The only place where a stand, an arm or an event changes anything but a journal.

use super::Watch;
use super::action::{Action, COMPARED, compare_with_zeroes, format_blocks};
use super::condition::LayerDevice;
use super::entry::Entry;
use super::journal::Journal;
use crate::access::Viewer;
use crate::claims;
use crate::command::{self, words};
use crate::faults::{ended, md, processes};
use crate::owner::boot_id;
use crate::roots::{Roots, number, text};
use crate::stands::drives;
use crate::stands::kernel_state::{KernelState, has_module};
use crate::stands::layers::sectors;
use crate::{exports, settings};
use std::time::{Duration, Instant};
use stend_base::{Error, Kind, Result, Say, say};
use stend_record::EventKind;

/// A member that failed is let go when its last I/O is through.
const LETS_GO: Duration = Duration::from_secs(10);
/// How often that is tried.
const AGAIN: Duration = Duration::from_millis(100);
/// Where the kernel hands out zram devices.
const ZRAM_CONTROL: &str = "class/zram-control/hot_add";

/// Does it. What is executed goes to the log with its output.
pub(crate) fn perform(roots: &Roots, action: &Action, journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    match action {
        Action::Run(words) => {
            must_remove_its_own(words)?;
            execute(words, watch)
        }
        Action::LetGo(words) => let_go(words, watch),
        Action::User(words) => command::execute(words, watch.stopped, watch.log).map(drop),
        Action::Set { path, value } => set(roots, path, value, journal, watch),
        Action::PutBack { path } => put_back(roots, path, journal, watch),
        Action::Tell { path, value } => tell(path, value, watch),
        Action::Module(name) => module(roots, name, watch),
        Action::AddZram { layer, index } => add_zram(roots, (layer, *index), journal, watch),
        Action::RemoveZram { layer, index, number } => {
            tell("/sys/class/zram-control/hot_remove", number, watch)?;
            journal.append(Entry::ZramGone { layer: layer.clone(), index: *index })
        }
        Action::Format { of, words } => format(roots, of, words, journal, watch),
        Action::Erase { of, words } => {
            execute(words, watch)?;
            journal.append(Entry::Erased { layer: of.layer.clone(), index: of.index })
        }
        Action::Wipe { device, uuid } => wipe(roots, device, uuid, journal, watch),
        Action::Blocks { of, bytes } => to_blocks(roots, of, *bytes, journal, watch),
        Action::BlocksBack { of } => blocks_back(roots, of, journal, watch),
        Action::MustBeBlank { device, bytes } => must_be_blank(device, *bytes, COMPARED, watch),
        Action::Attach { export, host, port, of } => attach(roots, export, (host, *port), of.as_deref(), watch),
        Action::Detach { export } => detach(roots, export, watch),
        Action::Rebuild { array, member, degraded } => rebuild((array, member), degraded, watch),
        Action::Readd { array, member, state } => readd((array, member), state, watch),
        Action::GiveBack(copy) => ended(copy).iter().try_for_each(|action| perform(roots, action, journal, watch)),
        Action::Fill(filling) => filling.perform(watch.stopped, watch.log).map(drop),
        Action::Kill(name) => processes::kill(roots, name, watch.log),
        Action::End { program, words } => processes::end(roots, program, words, watch.log),
        Action::Cancel { words, state, while_it_shows } => cancel(words, state, while_it_shows, watch),
    }
}

fn execute(words: &[String], watch: &mut Watch) -> Result<()> {
    command::execute_plainly(words, watch.stopped, watch.log).map(drop)
}

/// A command that fails while what it takes out is still held.
fn let_go(words: &[String], watch: &mut Watch) -> Result<()> {
    let begin = Instant::now();
    loop {
        match execute(words, watch) {
            Err(error) if error.kind != Kind::Interrupted && begin.elapsed() < LETS_GO => std::thread::sleep(AGAIN),
            result => return result,
        }
    }
}

/// What is mounted over the directory of a file hides it, and may have another file of that name.
fn must_remove_its_own(words: &[String]) -> Result<()> {
    let ("rm", [.., path]) = (words.first().map_or("", String::as_str), words) else { return Ok(()) };
    let Some(parent) = std::path::Path::new(path).parent() else { return Ok(()) };
    match stend_sys::tree::must_be_no_mount_point(parent) {
        // Anything else the command says better.
        Err(error) => stend_sys::tree::refusal(&error).map_or(Ok(()), Err),
        Ok(()) => Ok(()),
    }
}

/// Noted before and after: what is half made is the stand's, too.
fn format(roots: &Roots, of: &LayerDevice, words: &[String], journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    let LayerDevice { layer, index, device } = of;
    let noted = |mark| Entry::Formatted { layer: layer.clone(), index: *index, mark };
    journal.append(noted(None))?;
    execute(words, watch)?;
    let mark = KernelState::new(roots, journal).superblock(device);
    journal.append(noted(mark))
}

/// Takes a file system off: `wipefs` knows its first superblock, our own reading also the copies, which would keep the next stand or
/// run from the drive. Anything else stays: `wipefs` takes all, so that beside marks of others only blocks with our own are cleared.
fn wipe(roots: &Roots, device: &str, uuid: &str, journal: &Journal, watch: &mut Watch) -> Result<()> {
    /// More than any file system keeps at places that are looked at.
    const COPIES_MAX: usize = 64;
    /// What is cleared at each: the blocks of 4 KiB that copies begin in, and no more.
    const LEN: u64 = 4096;
    let is_ours = KernelState::new(roots, journal).carries_only(device, uuid);
    if is_ours {
        let words = ["wipefs", "--all", "--quiet", device].map(String::from);
        execute(&words, watch)?;
    }
    for _ in 0..COPIES_MAX {
        let left = KernelState::new(roots, journal).marks(device, uuid);
        let Some(offset) = left.first() else { return Ok(()) };
        let (offset, len) = (offset - offset % LEN, LEN);
        let mut words = ["blkdiscard", "--zeroout"].map(String::from).to_vec();
        // Without that it takes the device for itself alone: what others have mounted may be writing to the block.
        words.extend(is_ours.then(|| "--force".to_string()));
        words.extend([format!("--offset={offset}"), format!("--length={len}"), device.to_string()]);
        execute(&words, watch)?;
    }
    Err(Error::preflight(say!(
        "copies of the superblock {uuid} on `{device}` could not be cleared",
        "копии суперблока {uuid} на `{device}` стереть не удалось"
    ))
    .hint(say!("`stend inspect {device}` shows where they are", "где они лежат, покажет `stend inspect {device}`")))
}

fn to_blocks(roots: &Roots, of: &LayerDevice, bytes: u32, journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    let name = sectors::noted(of);
    if journal.before(&name, &boot_id(roots)).is_none() {
        let value = KernelState::new(roots, journal).blocks(&of.device).ok_or_else(|| no_blocks(&of.device))?;
        journal.append(Entry::Before {
            path: name,
            value: value.to_string(),
            boot_id: boot_id(roots),
            device: None,
        })?;
    }
    blocks(&of.device, &bytes.to_string(), watch)
}

fn blocks_back(roots: &Roots, of: &LayerDevice, journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    let name = sectors::noted(of);
    let before = journal.before(&name, &boot_id(roots)).map(str::to_string);
    let now = KernelState::new(roots, journal).blocks(&of.device).map(|now| now.to_string());
    // Where it did not come to be formatted, it is not formatted now.
    if let Some(before) = before.filter(|before| now.as_ref() != Some(before)) {
        must_be_empty(roots, &of.device, journal)?;
        blocks(&of.device, &before, watch)?;
    }
    journal.append(Entry::PutBack { path: name })
}

/// All that the stand put on a drive is off it again when the drive is formatted back: what is there now is somebody else's.
fn must_be_empty(roots: &Roots, device: &str, journal: &Journal) -> Result<()> {
    let kernel = KernelState::new(roots, journal);
    let Some(node) = kernel.at(device) else { return Ok(()) };
    drives::must_be_free(&drives::look(roots, node, kernel.devices(), &[], Viewer::Stranger), &[]).map_err(|error| {
        let stend_base::Say { en, ru } = &error.message;
        Error::new(
            error.kind,
            say!(
                "{en}; it was not formatted back, because that would erase it",
                "{ru}; обратно он не отформатирован: это стёрло бы данные"
            ),
        )
    })
}

fn blocks(device: &str, bytes: &str, watch: &mut Watch) -> Result<()> {
    execute(&format_blocks(device, bytes), watch)
}

/// Reads a device in pieces, because one command that reads all of a large drive takes longer than any may.
fn must_be_blank(device: &str, bytes: Option<u64>, piece: u64, watch: &mut Watch) -> Result<()> {
    let all = bytes.ok_or_else(|| claims::changed(device, &say!("it is gone", "устройство исчезло")))?;
    (0..all).step_by(piece as usize).try_for_each(|from| {
        let words = compare_with_zeroes(device, from, Some(piece.min(all - from)));
        let mut differs = false;
        let read = command::execute_plainly(&words, watch.stopped, &mut |event| {
            differs =
                matches!(&event, EventKind::Command { exit: Some(1), output, .. } if output.contains(" differ: "));
            (watch.log)(event);
        });
        read.map(drop).map_err(|error| if differs { not_blank(device, &error) } else { error })
    })
}

fn not_blank(device: &str, error: &Error) -> Box<Error> {
    let Say { en, ru } = &error.message;
    Error::preflight(say!("`{device}` is not blank: {en}", "`{device}` не пуст: {ru}")).hint(say!(
        "`initial_sync: skip` is for two devices that are zeroes throughout: take `wait`, or erase both first (`blkdiscard --zeroout {device}`)",
        "`initial_sync: skip` — для двух устройств, на которых одни нули: возьмите `wait` или сначала сотрите оба (`blkdiscard --zeroout {device}`)"
    ))
}

fn no_blocks(device: &str) -> Box<Error> {
    Error::preflight(say!(
        "the kernel does not tell the logical block of `{device}`",
        "ядро не сообщает логический блок `{device}`"
    ))
}

fn detach(roots: &Roots, export: &str, watch: &mut Watch) -> Result<()> {
    let ends = exports::attached(roots).into_iter().filter(|end| end.export == export);
    ends.map(|end| end.name).try_for_each(|name| {
        let words = ["nbd-client", "-d", &format!("/dev/{name}")].map(String::from);
        execute(&words, watch)?;
        let note = exports::note(roots, &name);
        std::fs::remove_file(&note).map_err(|e| cannot_note(&note, &e))
    })
}

/// The kernel knows its devices of NBD by numbers alone; what the one that was taken is the other end of is noted.
fn attach(roots: &Roots, export: &str, (host, port): (&str, u16), of: Option<&str>, watch: &mut Watch) -> Result<()> {
    let name = exports::unattached(roots).ok_or_else(|| {
        Error::preflight(say!("every device of NBD is connected", "все устройства NBD заняты"))
            .hint(say!("`modprobe nbd nbds_max=64` makes more of them", "больше их создаёт `modprobe nbd nbds_max=64`"))
    })?;
    let device = format!("/dev/{name}");
    let words = ["nbd-client", host, &port.to_string(), &device, "-name", export].map(String::from);
    execute(&words, watch)?;
    let pid = text(roots.sys.join("class/block").join(&name).join("pid")).unwrap_or_default();
    let (note, of) = (exports::note(roots, &name), of.unwrap_or(exports::ANOTHER_HOST));
    std::fs::write(&note, format!("{pid} {export} {of}\n")).map_err(|e| cannot_note(&note, &e))
}

fn cannot_note(note: &std::path::Path, error: &std::io::Error) -> Box<Error> {
    let shown = note.display();
    Error::preflight(say!(
        "cannot change the note `{shown}`: {error}",
        "не удаётся изменить пометку `{shown}`: {error}"
    ))
}

fn tell(path: &str, value: &str, watch: &mut Watch) -> Result<()> {
    // A whole line, as `echo` writes it: the NFS server takes nothing else. Names and passwords of the iSCSI target are all that is
    // written, the end of the line included.
    let end = if path.contains("/target/iscsi/") && path.contains("/auth/") { "" } else { "\n" };
    std::fs::write(path, format!("{value}{end}")).map_err(|e| {
        Error::preflight(say!("cannot write {value} to `{path}`: {e}", "не удалось записать {value} в `{path}`: {e}"))
    })?;
    (watch.log)(EventKind::Step { action: format!("echo {value} > {path}") });
    Ok(())
}

fn set(roots: &Roots, path: &str, value: &str, journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    let now = settings::current(path)?;
    let boot_id = boot_id(roots);
    if journal.before(path, &boot_id).is_none() {
        let device = settings::device_number(roots, path);
        journal.append(Entry::Before { path: path.to_string(), value: now.clone(), boot_id, device })?;
    }
    settings::write(path, value)?;
    (watch.log)(EventKind::Step { action: format!("set {path} to {value} (it was {now})") });
    Ok(())
}

fn put_back(roots: &Roots, path: &str, journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    // What a setting was of may be gone, with the machine's last start or with a layer.
    if let Some(value) = journal.before(path, &boot_id(roots)).filter(|_| std::path::Path::new(path).exists()) {
        settings::write(path, value)?;
        (watch.log)(EventKind::Step { action: format!("put {path} back to {value}") });
    }
    journal.append(Entry::PutBack { path: path.to_string() })
}

fn module(roots: &Roots, name: &str, watch: &mut Watch) -> Result<()> {
    if has_module(roots, name) {
        return Ok(());
    }
    execute(&words("modprobe --", &[name]), watch)
        .map_err(|error| error.hint(say!("the kernel of this host lacks `{name}`", "в ядре этой машины нет `{name}`")))
}

fn add_zram(roots: &Roots, (layer, index): (&str, u32), journal: &mut Journal, watch: &mut Watch) -> Result<()> {
    let path = roots.sys.join(ZRAM_CONTROL);
    let given = number(&path).and_then(|number| u32::try_from(number).ok());
    let number = given.ok_or_else(|| {
        let shown = path.display();
        Error::preflight(say!(
            "cannot add a zram device by `{shown}`",
            "не удаётся добавить устройство zram через `{shown}`"
        ))
        .hint(say!("this needs root and the module `zram`", "для этого нужны права root и модуль `zram`"))
    })?;
    let boot_id = boot_id(roots);
    let sequence = crate::roots::number(roots.sys.join(format!("class/block/zram{number}/diskseq")));
    journal.append(Entry::Zram { layer: layer.to_string(), index, number, boot_id, sequence })?;
    (watch.log)(EventKind::Step { action: format!("add zram{number}") });
    Ok(())
}

fn cancel(words: &[String], state: &[String], while_it_shows: &str, watch: &mut Watch) -> Result<()> {
    let goes_on =
        || -> Result<bool> { Ok(command::execute_plainly(state, &|| false, &mut |_| {})?.contains(while_it_shows)) };
    if !goes_on()? {
        return Ok(());
    }
    match execute(words, watch) {
        // It ended in between.
        Err(_) if !goes_on()? => Ok(()),
        result => result,
    }
}

fn readd((array, member): (&str, &str), state: &str, watch: &mut Watch) -> Result<()> {
    match text(state) {
        Some(state) if !state.split(',').any(|word| word == "faulty") => Ok(()),
        given_up => {
            if given_up.is_some() {
                let_go(&md::remove(array, member), watch)?;
            }
            execute(&md::add(array, member), watch)
        }
    }
}

/// Writes a member anew from the others, if all of them are there.
fn rebuild((array, member): (&str, &str), degraded: &str, watch: &mut Watch) -> Result<()> {
    if let Some(missing) = text(degraded).filter(|missing| missing != "0") {
        return Err(Error::preflight(say!(
            "{member} has wrong data and stays in {array}, which lacks {missing} members already",
            "{member} с неверными данными остаётся в {array}: там уже не хватает накопителей: {missing}"
        )));
    }
    md::rebuild(array, member).iter().try_for_each(|words| let_go(words, watch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::StandHead;

    #[test]
    fn a_device_is_read_in_pieces_and_only_other_bytes_make_it_not_blank() {
        let place = tempfile::tempdir().unwrap();
        let device = place.path().join("d").to_string_lossy().into_owned();
        let read = |bytes: Option<u64>| {
            let mut commands = Vec::new();
            let mut log =
                |event: EventKind| commands.extend(matches!(event, EventKind::Command { .. }).then_some(event));
            let mut watch = Watch { stopped: &|| false, log: &mut log };
            let error = must_be_blank(&device, bytes, 4096, &mut watch).err();
            (commands.len(), error.map(|error| error.message.en.clone()))
        };
        let not_blank = |told: (usize, Option<String>)| told.1.is_some_and(|told| told.contains("is not blank"));
        assert!(read(Some(4096)).1.is_some_and(|told| told.contains("cmp") && !told.contains("is not blank")));
        std::fs::write(&device, [0_u8; 10_000]).unwrap();
        assert_eq!(read(Some(10_000)), (3, None));
        let short = read(Some(20_000));
        assert!(short.1.is_some() && !not_blank(short), "it ends before its end");
        assert!(read(None).1.is_some_and(|told| told.contains("it is gone")));
        for at in [0, 4096, 9_999] {
            let mut bytes = [0_u8; 10_000];
            bytes[at] = 1;
            std::fs::write(&device, bytes).unwrap();
            assert!(not_blank(read(Some(10_000))), "{at}");
        }
    }

    #[test]
    fn a_module_that_nobody_has_names_the_kernel() {
        let tree = tempfile::tempdir().unwrap();
        let roots = Roots::under(tree.path());
        let mut journal = Journal::imagined(StandHead::new("", "", 0, Vec::new(), ""));
        let mut watch = Watch { stopped: &|| false, log: &mut |_| {} };
        let error = perform(&roots, &Action::Module("no_such_module".into()), &mut journal, &mut watch).unwrap_err();
        assert!(error.hint.unwrap().en.contains("lacks `no_such_module`"));
        std::fs::create_dir_all(roots.sys.join("module/no_such_module")).unwrap();
        perform(&roots, &Action::Module("no_such_module".into()), &mut journal, &mut watch).unwrap();
    }
}
