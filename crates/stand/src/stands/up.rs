//! Puts a stand up, or goes on where an earlier attempt ended.

use super::down::undo;
use super::drives::Viewer;
use super::journal;
use super::kernel_state::KernelState;
use super::layers::{Made, mirror_named, sectors};
use super::product::Product;
use super::waits::wait_for;
use super::{LocalStand, drives, here, of_layer, stand_of};
use crate::change::{Change, Condition, Entry, Journal, StandHead, Watch, must_have, perform};
use crate::claims;
use crate::mirrors;
use crate::owner::{self, Owner};
use crate::permission::may_be_named;
use crate::roots::Roots;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};
use stend_record::{EventKind, Refusal, StandTargets, TargetFacts, UNKNOWN_DATA, WriteAccess};
use stend_spec::stand::{Layer, Stand};
use stend_sys::Claim;
use stend_sys::claim::Lease;

/// How long what a command has made may take to appear; udev needs well under a second.
const APPEARS: Duration = Duration::from_secs(10);
/// The first user makes what configures the kernel, and it stays.
const CONFIGURED: &str = "/sys/kernel/config/";
/// How often is looked.
const TICK: Duration = Duration::from_millis(50);

/// Puts a stand up. `text` is its file, `file` the name of that; `nonce` a number drawn for it. One that is up already, in whole or
/// in part, is gone on with, if its file is the same.
///
/// Errors: `Unsafe` for a drive that may not be written over; `Preflight` where something is missing or a command fails. What had
/// been made until then stays, and `down` takes it away.
pub fn put_up(
    stand: &Stand,
    text: &str,
    file: &str,
    nonce: u64,
    owner: &Owner,
    watch: &mut Watch,
) -> Result<StandTargets> {
    let roots = here();
    let mut journal = match journal::open(&roots, &stand.name)? {
        Some(journal) => {
            must_be_same(&journal, stand)?;
            journal
        }
        None => {
            let found = drives::identify(&roots, stand)?;
            // Everything that can be refused is refused before there is anything to take down.
            let imagined =
                Journal::imagined(StandHead::new(file, text, nonce, found.clone(), "").of(stand.here.as_deref()));
            let local = LocalStand { stand, nonce, drives: drives::paths(&roots, &found)? };
            let sizes: Vec<_> = found.iter().map(|drive| Some(drive.size)).collect();
            drives::must_have_room(stand, &sizes, file)?;
            foresee(&roots, &local, &imagined, watch)?;
            journal::create(
                &roots,
                &stand.name,
                StandHead::new(file, text, nonce, found, &owner.run_file).of(stand.here.as_deref()),
            )?
        }
    };
    let head = journal.stand().cloned().ok_or_else(super::no_head)?;
    let local = LocalStand { stand, nonce: head.nonce, drives: drives::paths(&roots, &head.drives)? };
    drives::must_have_all_paths(&head.drives, &local.drives)?;
    bare_targets_must_be_free(&roots, &local, &journal, watch)?;
    let mut leases = Vec::new();
    for layer in stand.layers_here() {
        raise(&roots, &local, layer, &mut journal, owner, &mut leases, watch)
            .map_err(|e| of_layer(layer, &head.file, e))?;
    }
    let kernel = KernelState::new(&roots, &journal);
    let targets = local.targets(&kernel);
    let nodes = targets.iter().filter_map(|path| kernel.at(path));
    // On what the stand made nothing is anybody's; on a drive that is measured as it is, what the file names.
    let made = targets.iter().filter(|path| !local.drives.iter().flatten().any(|drive| drive == *path));
    let made: Vec<&String> = made.collect();
    let mut signatures = self::signatures(&roots, &local, &kernel, made.iter().copied());
    // Encrypted or checksummed, even an erased drive reads as something.
    signatures.extend(made.iter().any(|path| kernel.at(path).is_some()).then(|| UNKNOWN_DATA.to_string()));
    signatures.extend(stand.overwrite.iter().cloned());
    let there = self::signatures(&roots, &local, &kernel, &targets);
    signatures.retain(|name| may_be_named(name, &there));
    signatures.sort();
    signatures.dedup();
    let identities = nodes.filter_map(|node| crate::identity::of(&roots, kernel.devices(), node)).collect();
    Ok(StandTargets { identities, signatures, targets })
}

/// A drive that is a target itself is looked at each time: no layer does that for it. So are its data: those that a run may write over
/// unasked, because the stand made what they are on, are of the other targets alone.
fn bare_targets_must_be_free(roots: &Roots, local: &LocalStand, journal: &Journal, watch: &mut Watch) -> Result<()> {
    if !local.stand.is_measured_here() {
        // What is handed out is no target here, and its layer looks at it.
        return Ok(());
    }
    let kernel = KernelState::new(roots, journal);
    let targets = local.targets(&kernel);
    let bare = targets.iter().filter(|path| local.drives.iter().flatten().any(|drive| drive == *path));
    let facts = bare.filter_map(|path| local.look(roots, &kernel, path)).collect();
    let facts = drives::sampled(facts, &mut |action| (watch.log)(EventKind::Step { action }));
    facts.iter().try_for_each(|facts| drives::must_be_free(facts, &local.stand.overwrite))
}

/// Signatures on devices that could be written, each once, sorted.
fn signatures<'a>(
    roots: &Roots,
    local: &LocalStand,
    kernel: &KernelState,
    paths: impl IntoIterator<Item = &'a String>,
) -> Vec<String> {
    let on = |path: &String| match local.look(roots, kernel, path)?.access {
        WriteAccess::Confirm { signatures, .. } => Some(signatures),
        _ => None,
    };
    let mut found: Vec<String> = paths.into_iter().filter_map(on).flatten().collect();
    found.sort();
    found.dedup();
    found
}

/// What would be refused on the way, refused now: programs, drives, names that are taken.
fn foresee(roots: &Roots, local: &LocalStand, journal: &Journal, watch: &mut Watch) -> Result<()> {
    let kernel = KernelState::new(roots, journal);
    let made: Vec<Made> = local.stand.layers_here().map(|layer| local.make(&kernel, layer)).collect();
    let steps = || made.iter().flat_map(|made| &made.steps);
    must_have(steps().flat_map(|step| step.apply.iter().chain(step.undone_by())))?;
    let facts = local.drives.iter().flatten().filter_map(|path| local.look(roots, &kernel, path));
    let facts = drives::sampled(facts.collect(), &mut |action| (watch.log)(EventKind::Step { action }));
    facts.iter().try_for_each(|facts| drives::must_be_free(facts, &local.stand.overwrite))?;
    // Where several hosts have drives, none knows all signatures.
    if local.stand.drives_here().count() == local.stand.drives.len() {
        must_know_signatures(roots, local, &kernel)?;
    }
    must_exist(&kernel, &made)?;
    must_have_cards(local, &kernel)?;
    must_take_blocks(local, &kernel, &made)?;
    must_have_mirrors(roots, local)?;
    must_not_be_shared(&kernel, &made)?;
    // Identities are drawn anew; what has one of our names already is somebody else's. A directory that was a mount
    // point before has no owner.
    let names = |condition: &Condition| match condition {
        Condition::Path(path) => !path.starts_with(super::names::MOUNTS) && !path.starts_with(CONFIGURED),
        // What the kernel is configured by is everybody's.
        Condition::Mounted(at) => at.starts_with(super::names::MOUNTS),
        condition => {
            matches!(
                condition,
                Condition::File { .. }
                    | Condition::Mapping { .. }
                    | Condition::Volume(_)
                    | Condition::VolumeOn { .. }
                    | Condition::Loop(_)
                    | Condition::Pool(_)
                    | Condition::Mirror(_)
            )
        }
    };
    // Kernel configuration that the stand takes away again: a port has only its number.
    let configured = |condition: &Condition| matches!(condition, Condition::Path(path) if path.starts_with(CONFIGURED));
    let taken = steps().find(|step| {
        let conditions = step.undo.iter().map(|(condition, _)| condition);
        let own = || conditions.filter(|condition| configured(condition)).any(|condition| kernel.shows(condition));
        (names(&step.done) && kernel.is_taken(&step.done)) || own()
    });
    // Without the module there are no resources, and asking for them would load it.
    let has_module = roots.proc.join("drbd").exists();
    let resource = || taken_resource(local, &|condition| has_module && kernel.shows(condition));
    match taken.map(|step| step.what.clone()).or_else(resource) {
        None => Ok(()),
        Some(Say { en, ru }) => {
            let taken = say!("cannot {en}: this name is already in use", "не удастся {ru}: такое имя уже занято");
            Err(Error::preflight(taken).hint(say!(
                "give the stand another name, or remove what uses this one",
                "дайте стенду другое имя или удалите то, что его занимает"
            )))
        }
    }
}

/// The step that would come upon a resource of DRBD that has the name of its own.
pub(super) fn taken_resource(local: &LocalStand, shows: &dyn Fn(&Condition) -> bool) -> Option<Say> {
    let mirrors = local.stand.layers_here().filter(|layer| layer.kind.is_mirror());
    let name = mirrors.map(|layer| local.names().of(&layer.name)).find(|name| shows(&mirror_named(name)))?;
    Some(say!("start the mirror {name}", "запустить зеркало {name}"))
}

/// `exportfs` would replace the export of somebody else, and `down` would take it away.
fn must_not_be_shared(kernel: &KernelState, made: &[Made]) -> Result<()> {
    let taken = made.iter().flat_map(|made| &made.steps).find_map(|step| match &step.done {
        Condition::NfsExport { path, client, .. } if kernel.is_taken(&step.done) => Some((path, client)),
        _ => None,
    });
    let Some((path, client)) = taken else { return Ok(()) };
    Err(Error::preflight(say!(
        "`{path}` is already exported over NFS to {client}",
        "`{path}` уже экспортирован по NFS для {client}"
    ))
    .hint(say!(
        "give the stand another directory; if that export is no longer needed, `exportfs -u {client}:{path}` removes it until the next `exportfs -a`",
        "дайте стенду другой каталог; если этот экспорт больше не нужен, `exportfs -u {client}:{path}` уберёт его до следующего `exportfs -a`"
    )))
}

/// A namespace that is formatted must be one, and have such blocks.
fn must_take_blocks(local: &LocalStand, kernel: &KernelState, made: &[Made]) -> Result<()> {
    for (layer, made) in local.stand.layers_here().zip(made) {
        let stend_spec::stand::Kind::Sectors { bytes } = layer.kind else { continue };
        for device in made.products.iter().map(Product::shown) {
            let Some(node) = kernel.at(&device) else { continue };
            let words = ["nvme", "id-ns", &device, "--output-format=json"].map(String::from);
            let identify = || crate::command::execute_plainly(&words, &|| false, &mut |_| {});
            sectors::must_take(&node.sysfs, &device, bytes, identify)?;
        }
    }
    Ok(())
}

/// The module of DRBD, loaded or not, is of the version that the stand speaks.
fn must_have_mirrors(roots: &Roots, local: &LocalStand) -> Result<()> {
    if !local.stand.layers_here().any(|layer| layer.kind.is_mirror()) {
        return Ok(());
    }
    let version = mirrors::version(roots);
    match version.as_deref().map(mirrors::is_known) {
        Some(true) => Ok(()),
        Some(false) => {
            let version = version.unwrap_or_default();
            Err(Error::preflight(say!(
                "this host has DRBD {version}, and Stend knows 8.4, the one of the kernel",
                "на этой машине DRBD {version}, а Stend умеет 8.4 — тот, что в ядре"
            ))
            .hint(say!(
                "without the module of version 9 (`drbd-dkms`, `kmod-drbd`) the kernel takes its own",
                "без модуля версии 9 (`drbd-dkms`, `kmod-drbd`) ядро возьмёт собственный"
            )))
        }
        None => Err(Error::preflight(say!(
            "the kernel of this host has no module `drbd`",
            "в ядре этой машины нет модуля `drbd`"
        ))),
    }
}

/// Between hosts RDMA goes over what the interface of each has.
fn must_have_cards(local: &LocalStand, kernel: &KernelState) -> Result<()> {
    let addresses = local.stand.addresses_here();
    let has = |address: &String| kernel.shows(&Condition::Card(address.clone()));
    let needs = local.stand.layers_here().any(|layer| layer.kind.needs_card());
    if !needs || addresses.is_empty() || addresses.iter().any(has) {
        return Ok(());
    }
    let address = addresses.join(", ");
    Err(Error::preflight(say!(
        "no interface with a card for RDMA has the address {address} here",
        "здесь нет интерфейса с адаптером RDMA и адресом {address}"
    ))
    .hint(say!(
        "with `soft_roce: true` the kernel emulates one, to test function and not performance; `tcp` needs none",
        "с `soft_roce: true` ядро эмулирует его — для проверки работы, а не скорости; для `tcp` он не нужен"
    )))
}

/// A directory that is measured as it is.
fn must_exist(kernel: &KernelState, made: &[Made]) -> Result<()> {
    let products = made.iter().flat_map(|made| &made.products);
    let lacking = products.filter_map(|product| match product {
        Product::Existing(path) if kernel.find(product).is_none() => Some(path),
        _ => None,
    });
    match lacking.into_iter().next() {
        None => Ok(()),
        Some(path) => {
            Err(Error::preflight(say!("there is no directory `{path}`", "нет каталога `{path}`")).hint(say!(
                "`existing` uses a file system that is already mounted; create or mount it first",
                "`existing` использует уже смонтированную файловую систему; сначала создайте или смонтируйте её"
            )))
        }
    }
}

/// `overwrite` names only what is there: a mistyped drive would show itself so.
fn must_know_signatures(roots: &Roots, local: &LocalStand, kernel: &KernelState) -> Result<()> {
    let there = signatures(roots, local, kernel, local.drives.iter().flatten());
    match local.stand.overwrite.iter().find(|name| !may_be_named(name, &there)) {
        None => Ok(()),
        Some(name) => Err(Error::refused(say!(
            "refused: `overwrite` names `{name}`, but no drive of the stand has it",
            "отказ: в `overwrite` указана метка `{name}`, которой нет ни на одном накопителе стенда"
        ))
        .hint(say!("check the drives with `stend inspect`", "проверьте накопители командой `stend inspect`"))),
    }
}

fn must_be_same(journal: &Journal, stand: &Stand) -> Result<()> {
    if stand_of(journal)? == *stand {
        return Ok(());
    }
    let name = &stand.name;
    Err(Error::preflight(say!(
        "the stand `{name}` was put up from another file, or its file has changed since",
        "стенд `{name}` поднят из другого файла, или файл с тех пор изменился"
    ))
    .hint(say!("`stend stand down {name}` takes it down first", "сначала уберите его: `stend stand down {name}`")))
}

fn raise(
    roots: &Roots,
    local: &LocalStand,
    layer: &Layer,
    journal: &mut Journal,
    owner: &Owner,
    leases: &mut Vec<(String, Lease)>,
    watch: &mut Watch,
) -> Result<()> {
    let count = local.make(&KernelState::new(roots, journal), layer).steps.len();
    for index in 0..count {
        // Anew each time: what a step made has its path only afterwards.
        let kernel = KernelState::new(roots, journal);
        let Some(step) = local.make(&kernel, layer).steps.into_iter().nth(index) else { break };
        let done = kernel.shows(&step.done);
        drop(kernel);
        if !done {
            if (watch.stopped)() {
                return Err(Error::interrupted(say!("it was stopped", "работа остановлена")));
            }
            do_step(roots, local, layer, &step, journal, owner, leases, watch)?;
        }
        if let Some(wait) = &step.wait {
            wait_for(roots, journal, wait, watch)?;
        }
    }
    if !local.stand.takes_in(layer) {
        // They appear on the other host.
        return Ok(());
    }
    let products = local.make(&KernelState::new(roots, journal), layer).products;
    products.iter().try_for_each(|product| {
        let shown = product.shown();
        until(&say!("make {shown}", "создать {shown}"), &mut || {
            KernelState::new(roots, journal).find(product).is_some()
        })
    })
}

#[expect(clippy::too_many_arguments, reason = "the state of putting a stand up, which nothing else has")]
fn do_step(
    roots: &Roots,
    local: &LocalStand,
    layer: &Layer,
    step: &Change,
    journal: &mut Journal,
    owner: &Owner,
    leases: &mut Vec<(String, Lease)>,
    watch: &mut Watch,
) -> Result<()> {
    let steps = local.make(&KernelState::new(roots, journal), layer).steps;
    claim_drives(roots, local, step, &steps, journal, owner, leases, watch)?;
    // What an earlier attempt left half done is in the way of the whole, and partitions of a table that is given up are in that of the
    // new one.
    step.undo.iter().try_for_each(|(condition, action)| undo(roots, condition, action, journal, watch))?;
    let what = step.what.en.clone();
    journal.append(Entry::Begin { layer: layer.name.clone(), what: what.clone() })?;
    for action in &step.apply {
        perform(roots, action, journal, watch)?;
    }
    until(&step.what, &mut || KernelState::new(roots, journal).shows(&step.done))?;
    journal.append(Entry::End { layer: layer.name.clone(), what })
}

/// Claims the drives that a step is the first to write to, and looks at them with the claims in hand: what was seen before the layers
/// below the others were made may be hours old.
#[expect(clippy::too_many_arguments, reason = "the state of putting a stand up, which nothing else has")]
fn claim_drives(
    roots: &Roots,
    local: &LocalStand,
    step: &Change,
    of_layer: &[Change],
    journal: &mut Journal,
    owner: &Owner,
    leases: &mut Vec<(String, Lease)>,
    watch: &mut Watch,
) -> Result<()> {
    let kernel = KernelState::new(roots, journal);
    let mut claimed: Vec<(String, Claim)> = Vec::new();
    for path in step.erases.iter().filter(|path| local.drives.iter().flatten().any(|drive| drive == *path)) {
        let ways = local.ways(path);
        // One lease is for all paths: they have one identity.
        let mut held = leases.iter().map(|(path, _)| path).chain(claimed.iter().map(|(path, _)| path));
        if held.any(|path| ways.contains(path)) || lies_on(&kernel, path, of_layer) {
            continue;
        }
        // All paths to a drive are free before any is taken.
        for way in ways {
            let facts = foreign(roots, local, &kernel, way, Viewer::Stranger)?;
            facts.iter().try_for_each(|facts| drives::must_be_free(facts, &local.stand.overwrite))?;
        }
        let node = kernel.at(path).ok_or_else(|| gone(path))?;
        claimed.push((path.clone(), claims::claim(roots, kernel.devices(), node, owner)?));
    }
    let kernel = KernelState::new(roots, journal);
    let ways = claimed.iter().flat_map(|(path, _)| local.ways(path));
    let facts: Result<Vec<_>> = ways.map(|way| foreign(roots, local, &kernel, way, Viewer::Claimant)).collect();
    let facts = facts?.into_iter().flatten().collect();
    let facts = drives::sampled(facts, &mut |action| (watch.log)(EventKind::Step { action }));
    facts.iter().try_for_each(|facts| drives::must_be_free(facts, &local.stand.overwrite))?;
    drop(kernel);
    let is_known = |facts: &TargetFacts| facts.contents.as_ref().is_some_and(|contents| !contents.is_unknown());
    for (path, claim) in claimed {
        let known = |way: &String| facts.iter().any(|facts| facts.path == *way && is_known(facts));
        let ours = local.ways(&path).iter().all(known);
        let drive = local.drives.iter().position(|ways| ways.contains(&path));
        let drives = journal.stand().map(|head| head.drives.clone()).unwrap_or_default();
        if let Some(drive) = drive.and_then(|drive| drives.get(drive)) {
            let (identity, boot_id) = (drive.identity.clone(), owner::boot_id(roots));
            journal.append(Entry::Taken { identity, ours, boot_id })?;
        }
        // The device is let go for the program that builds on it; the lease keeps other runs away until that holds it.
        leases.extend(claim.hand_over().map(|lease| (path, lease)));
    }
    Ok(())
}

/// Whether one of a layer's own things lies on a drive already: then it was looked at before that was made.
fn lies_on(kernel: &KernelState, path: &String, of_layer: &[Change]) -> bool {
    of_layer.iter().filter(|step| step.erases.contains(path)).any(|step| {
        let on_it = |condition: &Condition| match condition {
            // A bare table of ZFS does not say whose it was: only `down` takes it away unasked.
            Condition::Mark { device, .. }
            | Condition::OnlyMark { device, .. }
            | Condition::PoolLabel { device, pool: Some(_), .. } => device == path,
            Condition::Mapping { .. } => step.erases.len() == 1,
            // All that the step names goes with it: what is kept back of one is on another.
            Condition::SuperblockBegun(_) => true,
            _ => false,
        };
        step.undo.iter().any(|(condition, _)| on_it(condition) && kernel.shows(condition))
    })
}

fn gone(path: &str) -> Box<Error> {
    claims::changed(path, &say!("it is gone", "устройство исчезло"))
}

/// What is known of a drive; `None` where nothing speaks against it but marks that layers of this stand put on it through one that a
/// restart of the machine took away, such as a mapping or an export.
fn foreign(
    roots: &Roots,
    local: &LocalStand,
    kernel: &KernelState,
    path: &str,
    viewer: Viewer,
) -> Result<Option<TargetFacts>> {
    let node = kernel.at(path).ok_or_else(|| gone(path))?;
    let facts = local.look_as(viewer, roots, kernel, path).ok_or_else(|| gone(path))?;
    let of_the_drive = |reason: &Refusal| matches!(reason, Refusal::Member { device, .. } if *device == node.name);
    let by_marks_alone = match &facts.access {
        WriteAccess::Refused(reasons) => reasons.iter().all(of_the_drive),
        WriteAccess::Confirm { .. } => true,
        WriteAccess::OwnDirectory | WriteAccess::Nowhere => false,
    };
    let found = crate::marks::on(kernel.devices(), node).unwrap_or_default();
    let is_own = by_marks_alone && !found.is_empty() && found.iter().all(local.is_own(kernel));
    Ok((!is_own).then_some(facts))
}

/// Waits until the kernel shows what has been made; `what` are words that follow "to".
pub(super) fn until(what: &Say, shown: &mut dyn FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + APPEARS;
    while !shown() {
        if Instant::now() > deadline {
            let Say { en, ru } = what;
            return Err(Error::preflight(say!(
                "the command to {en} succeeded, but the kernel does not show it",
                "команда «{ru}» выполнена, но ядро этого не показывает"
            )));
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}
