//! Can this machine measure, and what would disturb it: every finding with the one command that cures it.
//! Reads only, and never runs that command.

mod kernel;
mod machine;

use crate::host::host_facts_under;
use crate::inspect::inspect_under;
use crate::roots::Roots;
use crate::testfile::{self, Others};
use std::path::{Path, PathBuf};
use stend_base::{Say, say};
use stend_record::{Checkup, CheckupItem, Level, Refusal, TargetFacts, TargetKind, WriteAccess};
use stend_sys::Obstacle;
use stend_sys::obstacle::ShellCommand;
use stend_sys::uring::{Polling, Ring};

/// Where test files of runs usually go, beside the directory that is looked at and the current one.
const USUAL_PLACE: &str = "/var/tmp";

/// Looks at this machine and, if it is named, at a target. What is wrong is in the answer, never an error.
pub fn doctor(on: Option<&str>) -> Checkup {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = [Some(PathBuf::from(USUAL_PLACE)), std::env::current_dir().ok()];
    checkup(
        &Roots::host(),
        &CheckupContext {
            on,
            places: places.into_iter().flatten().collect(),
            // Tools for drives are in directories that a user's PATH often lacks.
            tools: std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from)).collect(),
            ring: Ring::probe(Polling::Off),
            arch: std::env::consts::ARCH,
        },
    )
}

/// What a checkup has to know that is not in the trees of the kernel.
struct CheckupContext<'a> {
    /// Target to look at.
    on: Option<&'a str>,
    /// Directories in which dead runs may have left something.
    places: Vec<PathBuf>,
    /// Where programs are looked for.
    tools: Vec<PathBuf>,
    /// Whether a ring could be made.
    ring: std::result::Result<(), Obstacle>,
    /// Architecture that this binary was built for, as Rust names it.
    arch: &'a str,
}

fn checkup(roots: &Roots, context: &CheckupContext) -> Checkup {
    let host = host_facts_under(roots);
    let mut items = vec![
        machine::kernel_files(roots),
        machine::processor(roots, context.arch),
        machine::rights(host.root),
        kernel::ring(&context.ring, host.root),
        kernel::locked_memory(roots, host.root),
        kernel::open_files(roots, host.root),
        kernel::aio_requests(roots, host.root),
        kernel::governor(roots, host.root),
        kernel::clock_source(roots, host.root),
    ];
    items.extend(machine::tools(roots, &context.tools, host.root));
    let target = context.on.map(|on| (on, inspect_under(roots, on)));
    let mut places = context.places.clone();
    if let Some((on, target)) = target {
        let (item, directory) = about_target(on, target);
        items.push(item);
        places.extend(directory);
    }
    items.extend(leftovers(roots, places, host.root));
    items.extend(left_switched(roots));
    Checkup { items }
}

/// Something that is as it should be.
fn fine(id: &str, found: Say) -> CheckupItem {
    CheckupItem { id: id.to_string(), level: Level::Ok, found, affects: Say::same(""), cure: None }
}

/// Something that is not, with what it means; the command is added by [`cured`].
fn wrong(id: &str, level: Level, found: Say, affects: Say) -> CheckupItem {
    CheckupItem { id: id.to_string(), level, found, affects, cure: None }
}

/// The same with the command that cures it.
fn cured(item: CheckupItem, cure: &ShellCommand, root: bool) -> CheckupItem {
    CheckupItem { cure: Some(cure.command(root)), ..item }
}

/// May the target be looked at and written; and for a directory, where it really is.
fn about_target(named: &str, target: stend_base::Result<TargetFacts>) -> (CheckupItem, Option<PathBuf>) {
    let facts = match target {
        Ok(facts) => facts,
        Err(error) => {
            let affects = say!("Nothing can be measured on it.", "На нём ничего нельзя измерить.");
            return (wrong("target", Level::Must, error.message, affects), None);
        }
    };
    let directory = (facts.kind == TargetKind::Directory).then(|| PathBuf::from(&facts.path));
    let item = match &facts.access {
        WriteAccess::OwnDirectory => {
            let on = facts.file_system.as_deref().unwrap_or("?");
            fine(
                "target",
                say!("`{named}` is a directory on {on}; it can be used", "`{named}` — каталог на {on}, пригоден"),
            )
        }
        WriteAccess::Confirm { identity, .. } => {
            fine("target", say!("`{named}` is a device, {identity}", "`{named}` — устройство, {identity}"))
        }
        WriteAccess::Nowhere => fine(
            "target",
            say!(
                "`{named}` discards all data: only the engine itself can be measured on it",
                "`{named}` отбрасывает данные: на нём можно измерить только сам генератор нагрузки"
            ),
        ),
        WriteAccess::Refused(reasons) => {
            let list = |words: fn(&Say) -> &str| {
                reasons.iter().map(|reason| words(&reason.say()).to_string()).collect::<Vec<_>>().join("; ")
            };
            let (en, ru) = (list(|say| &say.en), list(|say| &say.ru));
            let found = say!("`{named}` {en}", "`{named}` {ru}");
            let (level, affects) = match facts.kind {
                _ if reasons.iter().any(Refusal::is_unreadable) => {
                    (Level::Must, say!("It can be neither read nor written.", "Его нельзя ни читать, ни писать."))
                }
                TargetKind::Directory => {
                    (Level::Must, say!("No run can start there now.", "Сейчас там нельзя начать прогон."))
                }
                TargetKind::BlockDevice | TargetKind::File | TargetKind::NullDevice => {
                    (Level::Warn, say!("It is only read, never written.", "Он только читается, запись невозможна."))
                }
            };
            wrong("target", level, found, affects)
        }
    };
    (item, directory)
}

/// What runs that are gone left behind.
fn leftovers(roots: &Roots, places: Vec<PathBuf>, root: bool) -> Vec<CheckupItem> {
    let mut places: Vec<PathBuf> = places.iter().filter_map(|place| std::fs::canonicalize(place).ok()).collect();
    places.sort();
    places.dedup();
    let dead: Vec<PathBuf> = places.iter().flat_map(|place| testfile::dead(roots, place)).collect();
    let kept: Vec<_> = places.iter().flat_map(|place| testfile::kept(roots, place)).collect();
    let others: Vec<_> = places.iter().flat_map(|place| testfile::of_others(roots, place)).collect();
    if dead.is_empty() && kept.is_empty() && others.is_empty() {
        return vec![fine("leftovers", say!("no leftovers of killed runs", "остатков прерванных прогонов нет"))];
    }
    let kept = kept.iter().map(|(path, note)| to_be_judged(path, &note.owner, root));
    let others = others.iter().map(|(path, whose)| of_another(path, *whose));
    dead.iter().map(|path| leftover(path, root)).chain(kept).chain(others).collect()
}

/// What looks like test files of a run of somebody else.
fn of_another(path: &Path, whose: Others) -> CheckupItem {
    let name = path.display();
    let found = match whose {
        Others::User(user) => say!(
            "`{name}` belongs to user {user} and looks like the test files of a run",
            "`{name}` принадлежит пользователю {user} и похож на тестовые файлы прогона"
        ),
        Others::Machine => say!(
            "`{name}` looks like the test files of a run on another machine",
            "`{name}` похож на тестовые файлы прогона на другой машине"
        ),
    };
    let affects = say!(
        "If a run uses it now, it disturbs your runs there. Stend neither waits for it nor removes it.",
        "Если его сейчас использует прогон, он мешает вашим прогонам в этом каталоге. Stend его не ждёт и не удаляет."
    );
    wrong("leftovers", Level::Warn, found, affects)
}

/// What a run left that a crash ended while it kept a ledger.
fn to_be_judged(path: &Path, owner: &crate::Owner, root: bool) -> CheckupItem {
    let (name, ledger) = (path.display(), owner.ledger.as_deref().unwrap_or_default());
    let found = say!(
        "`{name}` is kept until its run is resumed and checks it after a crash",
        "`{name}` хранится, пока его прогон не продолжат и не проверят данные после сбоя"
    );
    let affects = say!(
        "Its test file takes space. If you do not need the check, remove the ledger `{ledger}`; the next run there removes the rest.",
        "Тестовый файл занимает место. Если проверка не нужна, удалите журнал `{ledger}`; остальное удалит следующий прогон там же."
    );
    let sudo = if root { "" } else { "sudo " };
    let cure = format!("{sudo}stend run --resume {}", quoted(&owner.run_file));
    CheckupItem { cure: Some(cure), ..wrong("leftovers", Level::Warn, found, affects) }
}

/// Shells take everything between single quotes as it is, except a single quote.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn leftover(path: &Path, root: bool) -> CheckupItem {
    let name = path.display().to_string();
    let found = say!("a dead run left `{name}`", "`{name}` остался от прерванного прогона");
    let affects = say!(
        "Its test file takes space until the next run there removes it.",
        "Тестовый файл занимает место, пока следующий прогон там его не удалит."
    );
    let sudo = if root { "" } else { "sudo " };
    if let Some(at) = testfile::mount_in(path) {
        let at = at.display().to_string();
        let found = say!(
            "a dead run left `{name}`, and something is mounted in it at `{at}`",
            "`{name}` остался от прерванного прогона, и внутри него что-то смонтировано: `{at}`"
        );
        let affects = say!(
            "No run can start there: a directory in which something is mounted is not removed.",
            "Новый прогон там не начнётся: каталог, внутри которого что-то смонтировано, не удаляется."
        );
        let cure = Some(format!("{sudo}umount {}", quoted(&at)));
        return CheckupItem { cure, ..wrong("leftovers", Level::Warn, found, affects) };
    }
    let cure = Some(format!("{sudo}rm -r --one-file-system {}", quoted(&name)));
    CheckupItem { cure, ..wrong("leftovers", Level::Warn, found, affects) }
}

/// A host that an earlier run left switched to one of its arms.
fn left_switched(roots: &Roots) -> Option<CheckupItem> {
    let undo = crate::change::left_behind(roots)?;
    let found = say!(
        "an earlier run left this host with the settings of an arm",
        "прежний прогон оставил на этой машине настройки своего варианта"
    );
    let affects = say!(
        "All runs now measure with the settings of that arm.",
        "Все прогоны сейчас измеряют с настройками этого варианта."
    );
    Some(CheckupItem { cure: Some(undo), ..wrong("switched", Level::Must, found, affects) })
}

#[cfg(test)]
mod tests;
