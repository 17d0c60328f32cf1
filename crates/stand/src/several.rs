//! All targets of a run made ready and let go, each as if it were alone: looked at again, allowed, claimed or given its
//! test files. One that is refused refuses all, and then nothing has been written. The order is fixed, so that of two runs
//! that want the same devices one gets them.

use crate::permission::{Permission, flags, may_write};
use crate::prepare::{Need, Prepared, Rehearsal, dry_run, prepare};
use crate::testfile;
use stend_base::{Bytes, Error, Kind, Result, Say, say};
use stend_record::{EventKind, TargetFacts, WriteAccess};
use stend_sys::IoFile;

/// Targets that are ready. Dropping it lets go of everything and removes what was made.
#[derive(Debug)]
pub struct PreparedAll {
    /// In the order of the targets.
    each: Vec<Prepared>,
    /// Bytes of the range on each of several.
    share: Bytes,
}

/// [`may_write`] for every target of a run: all of them or none. `--overwrite-signature` names what may be lost on any.
pub fn may_write_all(targets: &[TargetFacts], permission: &Permission) -> Result<std::result::Result<(), Say>> {
    if let [target] = targets {
        return may_write(target, permission);
    }
    let on_any = |name: &String| targets.iter().any(|target| signatures(target).contains(name));
    if let Some(named) = permission.overwrite_signatures.iter().find(|name| !on_any(name)) {
        return Err(Error::new(
            Kind::Unsafe,
            say!(
                "refused to write: there is no `{named}` signature on any of the targets to overwrite",
                "запись отклонена: ни на одном из объектов нет метки `{named}`, которую можно было бы затереть"
            ),
        )
        .hint(say!("check the devices with `stend inspect`", "проверьте устройства командой `stend inspect`")));
    }
    let (mut reasons, mut needed) = (Vec::new(), Vec::new());
    for target in targets {
        match (may_write(target, &of_one(permission, target))?, &target.access) {
            (Ok(()), _) => {}
            (Err(_), WriteAccess::Confirm { identity, signatures }) => needed.push(flags(identity, signatures)),
            (Err(reason), _) => reasons.push(reason),
        }
    }
    if !needed.is_empty() {
        let flags = needed.join(" ");
        reasons.insert(0, say!("needs {flags}", "требуется {flags}"));
    }
    let join = |of: fn(&Say) -> &str| {
        let texts: Vec<&str> = reasons.iter().map(of).collect();
        texts.join("; ")
    };
    match reasons.is_empty() {
        true => Ok(Ok(())),
        false => Ok(Err(Say { en: join(|say| &say.en), ru: join(|say| &say.ru) })),
    }
}

/// The permission as far as it is about one of several targets: what may be overwritten on it.
fn of_one(permission: &Permission, target: &TargetFacts) -> Permission {
    let on = signatures(target);
    let mut own = permission.clone();
    // An empty list asks for nothing; whether anything was asked for is still told by `--confirm`.
    own.overwrite_signatures.retain(|name| on.contains(name) || permission.confirm.is_empty());
    own
}

fn signatures(target: &TargetFacts) -> &[String] {
    match &target.access {
        WriteAccess::Confirm { signatures, .. } => signatures,
        WriteAccess::OwnDirectory | WriteAccess::Nowhere | WriteAccess::Refused(_) => &[],
    }
}

/// What [`prepare_all`] and its undo would change; empty if nothing. Changes nothing.
pub fn dry_run_all(targets: &[TargetFacts], need: &Need) -> Rehearsal {
    let mut all = Rehearsal::default();
    for target in targets {
        all.steps.extend(dry_run(target, need).steps);
    }
    for target in targets.iter().rev() {
        all.undo.extend(dry_run(target, need).undo);
    }
    all
}

/// Makes all targets ready for what a run needs, of which each gives `share` bytes to its range. Errors are those of
/// [`prepare`]; after one nothing is held and nothing of ours is left.
pub fn prepare_all(
    targets: &[TargetFacts],
    permission: &Permission,
    need: &Need,
    share: Bytes,
    log: &mut dyn FnMut(EventKind),
) -> Result<PreparedAll> {
    if let (Need::TestFiles { sizes, .. }, [_, _, ..]) = (need, targets) {
        testfile::must_be_openable(sizes.len() * targets.len(), stend_sys::process::allow_open_files())?;
    }
    let several = targets.len() > 1;
    let mut order: Vec<usize> = (0..targets.len()).collect();
    order.sort_by_key(|&index| (&targets[index].identity, &targets[index].path));
    let mut made = Vec::with_capacity(targets.len());
    for index in order {
        let target = &targets[index];
        let own = if several { of_one(permission, target) } else { permission.clone() };
        made.push((index, prepare(target, &own, need, log)?));
    }
    made.sort_by_key(|(index, _)| *index);
    Ok(PreparedAll { each: made.into_iter().map(|(_, prepared)| prepared).collect(), share })
}

impl PreparedAll {
    /// Opens what I/O goes to as one space; `direct` bypasses the page cache. Errors are those of [`Prepared::open`].
    pub fn open(&self, writable: bool, direct: bool) -> Result<IoFile> {
        if let [one] = self.each.as_slice() {
            return one.open(writable, direct);
        }
        let files = self.each.iter().map(|target| target.open(writable, direct)).collect::<Result<Vec<IoFile>>>()?;
        IoFile::joined(files, &vec![self.share.0; self.each.len()]).map_err(|error| {
            Error::new(
                Kind::Preflight,
                say!(
                    "cannot use the targets as one space: {error}",
                    "не удаётся использовать объекты как одно пространство: {error}"
                ),
            )
        })
    }

    /// Removes what was made and lets go of every target, also where that fails for one of them. Dropping does the same
    /// without a word.
    pub fn undo(self, log: &mut dyn FnMut(EventKind)) -> Result<()> {
        let mut failed = None;
        for prepared in self.each.into_iter().rev() {
            if let Err(error) = prepared.undo(log) {
                failed.get_or_insert(error);
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
