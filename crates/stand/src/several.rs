//! All targets of a run made ready and let go, each as if it were alone: looked at again, allowed, claimed or given its
//! test files. One that is refused refuses all, and then nothing has been written. The order is fixed, so that of two runs
//! that want the same devices one gets them.

use crate::permission::{flags, may_be_named, may_write};
use crate::prepare::{Need, Prepared, dry_run, may_begin, prepare};
use crate::testfile;
use std::path::PathBuf;
use stend_base::{Bytes, Code, Error, Result, Say, say};
use stend_record::DryRun;
use stend_record::{EventKind, TargetFacts, WriteAccess};
use stend_spec::permission::Permission;
use stend_sys::IoFile;

/// Targets that are ready. Dropping it lets go of everything and removes what was made.
#[derive(Debug)]
pub struct PreparedAll {
    /// In the order of the targets.
    each: Vec<Prepared>,
    /// What of each is used.
    used: Used,
}

/// What a run uses of each of its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// Bytes of the range on each.
    pub share: Bytes,
    /// Where the part of this host begins on devices that several load hosts share; `None`: no other host uses the targets.
    pub begin: Option<Bytes>,
}

/// [`may_write`] for every target of a run: all of them or none. `--overwrite-signature` names what may be lost on any.
pub fn may_write_all(targets: &[TargetFacts], permission: &Permission) -> Result<std::result::Result<(), Say>> {
    if let [target] = targets {
        return may_write(target, permission);
    }
    let on_any = |name: &String| targets.iter().any(|target| may_be_named(name, signatures(target)));
    if let Some(named) = permission.overwrite_signatures.iter().find(|name| !on_any(name)) {
        return Err(Error::refused(say!(
            "refused to write: there is no `{named}` signature on any of the targets to overwrite",
            "запись отклонена: ни на одном из объектов нет метки `{named}`, которую можно было бы затереть"
        ))
        .hint(say!(
            "if `stend inspect` shows your devices, leave `--overwrite-signature={named}` out",
            "если `stend inspect` показывает ваши устройства, уберите `--overwrite-signature={named}`"
        )));
    }
    let (mut reasons, mut needed) = (Vec::new(), Vec::new());
    for target in targets {
        must_be_named(target, permission)?;
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

/// Refuses a device that no confirmation names, where others are confirmed.
fn must_be_named(target: &TargetFacts, permission: &Permission) -> Result<()> {
    let WriteAccess::Confirm { identity, signatures } = &target.access else { return Ok(()) };
    if permission.confirm.is_empty() || permission.confirm.contains(identity) {
        return Ok(());
    }
    let (path, flags) = (&target.path, flags(identity, signatures));
    let message = say!(
        "refused to write to `{path}`: no `--confirm` names it; its identity is `{identity}`",
        "запись в `{path}` отклонена: ни один `--confirm` его не называет; идентификатор объекта — `{identity}`"
    );
    Err(Error::new(Code::NotConfirmed, message).hint(say!(
        "if all data on it may be lost, give {flags}; or leave it out",
        "если все данные на нём можно потерять, укажите {flags}; или не указывайте это устройство"
    )))
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
///
/// Errors: `Preflight` where this user may not do what it takes.
pub fn dry_run_all(targets: &[TargetFacts], need: &Need) -> Result<DryRun> {
    let mut all = DryRun::default();
    for target in targets {
        may_begin(target, need)?;
        all.steps.extend(dry_run(target, need).steps);
    }
    for target in targets.iter().rev() {
        all.undo.extend(dry_run(target, need).undo);
    }
    Ok(all)
}

/// Makes all targets ready for what a run needs, which uses this of each. Errors are those of [`prepare`]; after one nothing is held and
/// nothing of ours is left.
pub fn prepare_all(
    targets: &[TargetFacts],
    permission: &Permission,
    need: &Need,
    used: Used,
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
    Ok(PreparedAll { each: made.into_iter().map(|(_, prepared)| prepared).collect(), used })
}

impl PreparedAll {
    /// Opens what I/O goes to as one space; `direct` bypasses the page cache. Errors are those of [`Prepared::open`].
    pub fn open(&self, writable: bool, direct: bool) -> Result<IoFile> {
        let begin = self.used.begin.unwrap_or_default().0;
        if let [one] = self.each.as_slice() {
            return Ok(one.open(writable, direct)?.beginning_at(begin));
        }
        let files = self.each.iter().map(|target| target.open(writable, direct)).collect::<Result<Vec<IoFile>>>()?;
        let joined = IoFile::joined(files, &vec![self.used.share.0; self.each.len()]);
        joined.map(|file| file.beginning_at(begin)).map_err(|error| {
            Error::preflight(say!(
                "cannot use the targets as one space: {error}",
                "не удаётся использовать объекты как одно пространство: {error}"
            ))
        })
    }

    /// Makes the directory in which instances of applications keep their data, on the first target; once.
    pub fn make_app_directory(&mut self, passable: bool, log: &mut dyn FnMut(EventKind)) -> Result<PathBuf> {
        let none = || Error::bug(say!("there is no target", "объекта нет"));
        self.each.first_mut().ok_or_else(none)?.make_app_directory(passable, log)
    }

    /// [`Prepared::leave_mark`] of every target, of which no more than its share of the range is written; none where hosts share the
    /// devices, because no host knows all that was written.
    pub fn leave_marks(&self, opaque: bool, log: &mut dyn FnMut(EventKind)) {
        if self.used.begin.is_none() {
            return self.each.iter().for_each(|target| target.leave_mark(opaque, self.used.share, log));
        }
        if opaque {
            let text =
                "left no mark: several hosts have written to the devices; the next run asks before it writes there";
            log(EventKind::Note { text: text.into() });
        }
    }

    /// Leaves what was made for a later session to judge, and lets go of every target when this process ends.
    pub fn leave(self, log: &mut dyn FnMut(EventKind)) {
        self.each.into_iter().for_each(|prepared| prepared.leave(log));
    }

    /// Lets go of every target at once, and leaves what was made.
    pub fn let_go(self, log: &mut dyn FnMut(EventKind)) {
        self.each.into_iter().for_each(|prepared| prepared.let_go(log));
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

#[cfg(test)]
mod tests {
    use super::*;
    use stend_record::{Refusal, TargetKind};

    fn device(name: &str, access: WriteAccess) -> TargetFacts {
        TargetFacts {
            path: format!("/dev/{name}"),
            identity: Some(format!("serial:{name}")),
            size: Bytes::gib(1),
            free: Bytes::gib(1),
            ..TargetFacts::new(name, TargetKind::BlockDevice, access)
        }
    }

    fn blank(name: &str, signatures: &[&str]) -> TargetFacts {
        let signatures = signatures.iter().map(|s| s.to_string()).collect();
        device(name, WriteAccess::Confirm { identity: format!("serial:{name}"), signatures })
    }

    fn answer(targets: &[TargetFacts], confirm: &[&str], overwrite: &[&str]) -> String {
        let list = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        let permission =
            Permission { confirm: list(confirm), overwrite_signatures: list(overwrite), ..Permission::default() };
        match may_write_all(targets, &permission) {
            Ok(Ok(())) => "yes".into(),
            Ok(Err(reason)) => reason.en,
            Err(error) => format!("{:?}: {}", error.kind, error.message.en),
        }
    }

    #[test]
    fn every_device_is_confirmed_for_itself() {
        let two = [blank("A", &[]), blank("B", &["ext4"])];
        assert_eq!(answer(&two, &["serial:A", "serial:B"], &["ext4"]), "yes");
        assert_eq!(
            answer(&two, &[], &[]),
            "needs --confirm=serial:A --confirm=serial:B --overwrite-signature=ext4",
            "nobody asked"
        );
        for (confirm, overwrite, told) in [
            (&["serial:A"][..], &["ext4"][..], "Unsafe: refused to write to `/dev/B`: no `--confirm` names it"),
            (&["serial:A", "serial:B"], &[], "Unsafe: refused to write to `/dev/B`: it carries `ext4`"),
            (&["serial:A", "serial:B"], &["ext4", "xfs"], "Unsafe: refused to write: there is no `xfs` signature"),
            (&[], &["ext4"], "Unsafe: refused to write to `/dev/A`: `--overwrite-signature` without `--confirm`"),
        ] {
            assert!(answer(&two, confirm, overwrite).starts_with(told), "{}", answer(&two, confirm, overwrite));
        }
    }

    #[test]
    fn one_that_may_not_be_written_refuses_all_and_is_only_read_where_nobody_asked() {
        let mounted = || device("B", WriteAccess::Refused(vec![Refusal::Mounted { at: "/srv".into() }]));
        let both = [blank("A", &[]), mounted()];
        let asked = answer(&both, &["serial:A", "serial:B"], &[]);
        assert_eq!(asked, "Unsafe: refused to write to `/dev/B`: it is mounted at `/srv`");
        let unasked = answer(&both, &[], &[]);
        assert_eq!(unasked, "needs --confirm=serial:A; `/dev/B` is mounted at `/srv`");
    }
}
