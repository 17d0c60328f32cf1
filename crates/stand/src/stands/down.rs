//! Takes a stand down: undoes what the kernel shows of it, from the last layer to the first. Other things than its own it does
//! not touch, and contents of drives it does not bring back.

use super::journal;
use super::kernel_state::KernelState;
use super::{LayerKind, LocalStand, drives, here, stand_of};
use crate::change::{Action, Condition, Drive, Entry, Journal, Watch, perform};
use crate::devices::Devices;
use crate::owner::{self, Owner};
use crate::roots::Roots;
use crate::{access, claims, contents, identity, marks, permission};
use std::path::Path;
use std::time::{Duration, Instant};
use stend_base::{Code, Error, Kind, Result, Say, say};
use stend_record::EventKind;
use stend_spec::stand::{Layer, Stand};
use stend_sys::signature::Found;

/// How long something that was undone may still be seen.
const VANISHES: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(50);
/// How long a command that undoes is tried again: udev and everything that lists drives open what is there for a moment, and the
/// kernel lets nothing go that is open.
const LETS_GO: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(250);
/// What a block with a copy of a superblock becomes.
const BLOCK: [u8; 4096] = [0; 4096];

/// Takes down the stand of this name. What lies below something that cannot be undone is left alone; then the journal stays.
///
/// Errors: `Usage` if there is none; `Unsafe` while a run uses it; `Preflight` where a command fails.
pub fn take_down(name: &str, watch: &mut Watch) -> Result<()> {
    let roots = here();
    let mut journal = journal::open(&roots, name)?.ok_or_else(|| super::status::not_up(&roots, name))?;
    let stand = stand_of(&journal)?;
    let head = journal.stand().cloned().ok_or_else(super::no_head)?;
    let local = LocalStand { stand: &stand, nonce: head.nonce, drives: drives::paths(&roots, &head.drives)? };
    must_be_idle(&roots, &local, &journal)?;
    let boot = owner::boot_id(&roots);
    let ours: Vec<bool> = head.drives.iter().map(|drive| journal.was_ours(&drive.identity, &boot)).collect();
    for layer in stand.layers_here().rev() {
        let count = local.make(&KernelState::new(&roots, &journal), layer).steps.len();
        for index in (0..count).rev() {
            // Anew each time: paths are those of what is still there.
            let steps = local.make(&KernelState::new(&roots, &journal), layer).steps;
            for (condition, action) in steps.into_iter().nth(index).map(|step| step.undo).unwrap_or_default() {
                // What lies below must not be taken away under it.
                undo(&roots, &condition, &action, &mut journal, watch)?;
            }
        }
        release(&stand, layer, &head.drives, &mut journal)?;
    }
    // The marks on a drive that is not here are still on it.
    drives::must_all_be_here(&head.drives, &local.drives)?;
    let ours = local.drives.iter().zip(ours).filter_map(|(ways, ours)| ways.first().filter(|_| ours));
    leave_marks(&roots, &local, ours.collect(), &journal, watch);
    journal::remove(&roots, name, &journal)
}

/// Notes that the lowest layer over a drive is gone: from now on the user may have it, also where what follows fails.
fn release(stand: &Stand, layer: &Layer, drives: &[Drive], journal: &mut Journal) -> Result<()> {
    let lies_on = |layer: &&Layer, drive: &Drive| layer.on.iter().any(|of| of.name == drive.name);
    for drive in drives {
        let lowest = stand.layers_here().find(|layer| lies_on(layer, drive));
        if lowest.is_some_and(|lowest| lowest.name == layer.name) && journal.holds(&drive.identity) {
            journal.append(Entry::Released { identity: drive.identity.clone() })?;
        }
    }
    Ok(())
}

/// What layers wrote to drives does not say whose it is: a mark on each drive, of those at these paths, tells the next stand or run. Where
/// it cannot be left that is said, and they ask.
fn leave_marks(roots: &Roots, local: &LocalStand, paths: Vec<&String>, journal: &Journal, watch: &mut Watch) {
    let (by, is_own) = (format!("stand {}", local.stand.name), local.is_own(&KernelState::new(roots, journal)));
    let (by, is_own) = (&by, &is_own);
    let told: Vec<String> = std::thread::scope(|scope| {
        let leave = |path: &String| match leave_mark(roots, path, by, is_own) {
            Ok(true) => Some(format!("left a mark on {path}: the next run knows its contents as those of the stand")),
            Ok(false) => None,
            Err(error) => {
                let why = error.message.en;
                Some(format!("left no mark on {path}: {why}; the next run that writes there asks first"))
            }
        };
        let threads: Vec<_> = paths.into_iter().map(|path| scope.spawn(move || leave(path))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect()
    });
    told.into_iter().for_each(|text| (watch.log)(EventKind::Note { text }));
}

fn leave_mark(roots: &Roots, path: &str, by: &str, is_own: &dyn Fn(&Found) -> bool) -> Result<bool> {
    let devices = Devices::read(roots);
    let Some(node) = devices.at(path) else { return Ok(false) };
    let owner = Owner { run_id: by.to_string(), run_file: by.to_string(), ledger: None };
    let claim = claims::claim(roots, &devices, node, &owner)?;
    // With the claim in hand nobody can change that.
    let look = || marks::on(&devices, node).map_err(|error| unreadable(path, &error));
    // Copies of superblocks of what lay above, which are at other places there. What the stand did not make is its user's: the drive was
    // free as soon as its layers were gone.
    for copy in look()?.iter().filter(|found| !found.member && is_own(found)) {
        let block = copy.offset / BLOCK.len() as u64 * BLOCK.len() as u64;
        claim.write_durably(&BLOCK, block).map_err(|error| unreadable(path, &error))?;
    }
    let signatures = look()?;
    if !signatures.is_empty() {
        let names: Vec<&str> = signatures.iter().map(|found| found.name).collect();
        let names = names.join("`, `");
        return Err(Error::refused(say!("it carries `{names}`", "на нём `{names}`")));
    }
    let identity = identity::of(roots, &devices, node);
    contents::leave(&claim, (Path::new(path), node.size), identity.as_deref(), by, node.size)
        .map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &str, error: &std::io::Error) -> Box<Error> {
    claims::preflight(path, &say!("mark what is on the device", "пометить содержимое устройства"), error)
}

pub(super) fn undo(
    roots: &Roots,
    condition: &Condition,
    action: &Action,
    journal: &mut Journal,
    watch: &mut Watch,
) -> Result<()> {
    if !KernelState::new(roots, journal).shows(condition) {
        return Ok(());
    }
    journal.append(Entry::Undo { command: action.shell() })?;
    let mut begun = None;
    while let Err(error) = perform(roots, action, journal, watch) {
        // The first attempt may have taken longer than all others may.
        let begun = *begun.get_or_insert_with(Instant::now);
        let gone = !KernelState::new(roots, journal).shows(condition);
        if is_over(error.kind, gone, begun.elapsed()) {
            let seconds = LETS_GO.as_secs();
            return Err(error.hint(say!(
                "Stend tried for {seconds} s; close what has it open and repeat the command: it continues from here",
                "попытки шли {seconds} с; закройте то, что его держит, и повторите команду: она продолжит с этого места"
            )));
        }
        if gone {
            break;
        }
        std::thread::sleep(AGAIN);
    }
    let deadline = Instant::now() + VANISHES;
    while KernelState::new(roots, journal).shows(condition) {
        if Instant::now() > deadline {
            let shell = action.shell();
            return Err(Error::preflight(say!(
                "`{shell}` succeeded, but what it should remove is still there",
                "команда `{shell}` выполнена, но то, что она удаляет, осталось"
            )));
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

/// Whether what could not be undone is given up. What is gone is undone, however long that took.
fn is_over(kind: Kind, gone: bool, tried: Duration) -> bool {
    kind == Kind::Interrupted || (!gone && tried > LETS_GO)
}

/// Refuses while a run has a target of the stand: taking it away would be taken for a fault of the storage. So does anything else that uses
/// what comes over a network, which goes without the kernel's asking; of other devices the kernel lets nothing go that is in use. A host that
/// hands on what it takes in uses that itself, and the hosts above it have let go before.
fn must_be_idle(roots: &Roots, local: &LocalStand, journal: &Journal) -> Result<()> {
    let kernel = KernelState::new(roots, journal);
    for of in local.stand.targets_here() {
        let layer = local.stand.layer(&of.name).filter(|layer| local.stand.takes_in(layer));
        let goes_unasked = layer
            .filter(|_| local.stand.is_measured_here())
            .is_some_and(|layer| matches!(layer.kind, LayerKind::NvmeOf(_) | LayerKind::Iscsi(_) | LayerKind::Nbd));
        for path in local.below(&kernel, of).into_iter().map(|below| below.path) {
            let node = kernel.at(&path);
            let lease = node.and_then(|node| claims::lease_name(roots, kernel.devices(), node));
            // In a directory a run has a directory of its own.
            let inside = crate::testfile::live(roots, Path::new(&path));
            let run = lease.and_then(|lease| claims::live(roots, &lease)).or(inside);
            let used = || access::users(roots, kernel.devices(), node.filter(|_| goes_unasked)?).into_iter().next();
            if let Some(reason) = run.or_else(used) {
                let Say { en, ru } = &permission::refused(&path, &[reason]).message;
                return Err(Error::new(
                    Code::StandInUse,
                    say!("the stand is in use: {en}", "стенд используется: {ru}"),
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::StandHead;
    use crate::recorded::Tree;
    use crate::stands::product::Product;

    #[test]
    fn a_device_that_comes_over_a_network_is_not_taken_from_those_who_use_it() {
        let text = "stand: x\ndrives: [{id: D1}]\nlayers: [nbd: {}]\n";
        let stand = stend_spec::parse::stand(text, "x.yaml").unwrap();
        let (tree, journal) = (Tree::new(), Journal::imagined(StandHead::new("", "", 0, Vec::new(), "")));
        let local = LocalStand { stand: &stand, nonce: 1, drives: vec![Vec::new()] };
        let kernel = KernelState::new(&tree.roots, &journal);
        let products = local.make(&kernel, &stand.layers[0]).products;
        let [Product::Attached { export }] = &products[..] else { panic!("{products:?}") };
        tree.disk("nbd0", "43:0", "virtual", &[("pid", "77\n")]);
        tree.put("run/stend/nbd/nbd0", format!("77 {export} -\n"));
        must_be_idle(&tree.roots, &local, &journal).unwrap();
        tree.put("proc/self/mountinfo", "1 0 43:0 / /srv rw - xfs /dev/nbd0 rw\n");
        let error = must_be_idle(&tree.roots, &local, &journal).unwrap_err();
        assert!(error.code == Code::StandInUse && error.message.en.contains("/srv"), "{error:?}");
    }

    #[test]
    fn a_host_that_hands_on_what_it_takes_in_is_not_kept_from_letting_go() {
        let text = "stand: x\nhosts: {low: 10.0.0.1, middle: 10.0.0.2, top: 10.0.0.3}\ndrives: [{id: D1, host: low}]\n\
            layers: [{nbd: {}, name: a, to: middle}, {iscsi: {}, on: [a], to: top}]\n";
        let stand = |host: &str| stend_spec::parse::stand(text, "x.yaml").unwrap().on(Some(host));
        let (tree, journal) = (Tree::new(), Journal::imagined(StandHead::new("", "", 0, Vec::new(), "")));
        let middle = stand("middle");
        let local = LocalStand { stand: &middle, nonce: 1, drives: vec![Vec::new()] };
        let kernel = KernelState::new(&tree.roots, &journal);
        let products = local.make(&kernel, &middle.layers[0]).products;
        let [Product::Attached { export }] = &products[..] else { panic!("{products:?}") };
        tree.disk("nbd0", "43:0", "virtual", &[("pid", "77\n")]);
        tree.put("run/stend/nbd/nbd0", format!("77 {export} -\n"));
        // As its own export of it is.
        tree.put("proc/self/mountinfo", "1 0 43:0 / /srv rw - xfs /dev/nbd0 rw\n");
        must_be_idle(&tree.roots, &local, &journal).unwrap();
    }

    #[test]
    fn what_is_gone_after_an_attempt_that_took_long_is_undone_and_a_user_who_interrupts_is_heard() {
        let (short, long) = (Duration::ZERO, LETS_GO * 2);
        assert!(!is_over(Kind::Preflight, true, long), "gone");
        assert!(!is_over(Kind::Preflight, false, short) && is_over(Kind::Preflight, false, long));
        assert!(is_over(Kind::Interrupted, true, short));
    }
}
