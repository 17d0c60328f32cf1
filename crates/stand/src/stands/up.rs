//! Puts a stand up, or goes on where an earlier attempt ended.

use super::journal;
use super::layers::{Made, sectors, superblocks};
use super::product::Product;
use super::signs::{Sight, same, status};
use super::{Place, drives, here, of_layer, stand_of};
use crate::arrays::{degraded, syncing};
use crate::change::{Change, Entry, Journal, Sign, StandHead, Wait, Watch, must_have, perform};
use crate::claims;
use crate::contents;
use crate::node::Node;
use crate::owner::{self, Owner};
use crate::permission::may_be_named;
use crate::roots::Roots;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use stend_base::{Error, Kind, Result, Say, say};
use stend_record::{EventKind, Raised, Refusal, Sampled, UNKNOWN_DATA, WriteAccess};
use stend_spec::stand::{Layer, Stand};
use stend_sys::claim::Lease;
use stend_sys::signature::Found;

/// How long what a command has made may take to appear; udev needs well under a second.
const APPEARS: Duration = Duration::from_secs(10);
/// What the kernel is configured by is made by whoever is the first, and stays.
const CONFIGURED: &str = "/sys/kernel/config/";
/// How often is looked.
const TICK: Duration = Duration::from_millis(50);
/// How often a synchronisation is looked at, and told of.
const SYNC_TICK: Duration = Duration::from_millis(500);
const SYNC_TELLS: Duration = Duration::from_secs(5);

/// Puts a stand up. `text` is its file, `file` the name of that; `nonce` a number drawn for it. One that is up already, in whole or
/// in part, is gone on with, if its file is the same.
///
/// Errors: `Unsafe` for a drive that may not be written over; `Preflight` where something is missing or a command fails. What had
/// been made until then stays, and `down` takes it away.
pub fn put_up(stand: &Stand, text: &str, file: &str, nonce: u64, owner: &Owner, watch: &mut Watch) -> Result<Raised> {
    let roots = here();
    let mut sampled = BTreeMap::new();
    let mut journal = match journal::open(&roots, &stand.name)? {
        Some(journal) => {
            must_be_same(&journal, stand)?;
            journal
        }
        None => {
            let found = if stand.has_drives() { drives::identify(&roots, stand)? } else { Vec::new() };
            // Everything that can be refused is refused before there is anything to take down.
            let imagined = Journal::imagined(StandHead::new(file, text, nonce, found.clone(), "").of(stand.side));
            let place = Place { stand, nonce, drives: drives::paths(&roots, &found)? };
            if stand.has_drives() {
                let sizes: Vec<_> = found.iter().map(|drive| Some(drive.size)).collect();
                drives::must_have_room(stand, &sizes, file)?;
            }
            sampled = foresee(&roots, &place, &imagined, watch)?;
            journal::create(
                &roots,
                &stand.name,
                StandHead::new(file, text, nonce, found, &owner.run_file).of(stand.side),
            )?
        }
    };
    let head = journal.stand().cloned().ok_or_else(super::no_head)?;
    let place = Place { stand, nonce: head.nonce, drives: drives::paths(&roots, &head.drives)? };
    drives::must_have_all_paths(&head.drives, &place.drives)?;
    bare_targets_must_be_free(&roots, &place, &journal)?;
    let mut leases = Vec::new();
    for layer in stand.layers_here() {
        raise(&roots, &place, layer, &mut journal, owner, (&mut leases, &sampled), watch)
            .map_err(|e| of_layer(layer, &head.file, e))?;
    }
    let sight = Sight::new(&roots, &journal);
    let targets = place.targets(&sight);
    let nodes = targets.iter().filter_map(|path| sight.at(path));
    // On what the stand made nothing is anybody's; on a drive that is measured as it is, what the file names.
    let made = targets.iter().filter(|path| !place.drives.iter().flatten().any(|drive| drive == *path));
    let made: Vec<&String> = made.collect();
    let mut signatures = self::signatures(&roots, &place, &sight, made.iter().copied());
    // Encrypted or checksummed, even an erased drive reads as something.
    signatures.extend(made.iter().any(|path| sight.at(path).is_some()).then(|| UNKNOWN_DATA.to_string()));
    signatures.extend(stand.overwrite.iter().cloned());
    let there = self::signatures(&roots, &place, &sight, &targets);
    signatures.retain(|name| may_be_named(name, &there));
    signatures.sort();
    signatures.dedup();
    let identities = nodes.filter_map(|node| crate::identity::of(&roots, sight.devices(), node)).collect();
    Ok(Raised { identities, signatures, targets })
}

/// A drive that is a target itself is looked at each time: no layer does that for it.
fn bare_targets_must_be_free(roots: &Roots, place: &Place, journal: &Journal) -> Result<()> {
    if !place.stand.takes_in() {
        // What is handed out is no target here, and its layer looks at it.
        return Ok(());
    }
    let sight = Sight::new(roots, journal);
    for path in place.targets(&sight).iter().filter(|path| place.drives.iter().flatten().any(|drive| drive == *path)) {
        if let Some(facts) = place.look(roots, &sight, path) {
            drives::must_be_free(&facts, &place.stand.overwrite)?;
        }
    }
    Ok(())
}

/// Signatures on devices that could be written, each once, sorted.
fn signatures<'a>(
    roots: &Roots,
    place: &Place,
    sight: &Sight,
    paths: impl IntoIterator<Item = &'a String>,
) -> Vec<String> {
    let on = |path: &String| match place.look(roots, sight, path)?.access {
        WriteAccess::Confirm { signatures, .. } => Some(signatures),
        _ => None,
    };
    let mut found: Vec<String> = paths.into_iter().filter_map(on).flatten().collect();
    found.sort();
    found.dedup();
    found
}

/// What would be refused on the way, refused now: programs, drives, names that are taken.
///
/// Returns what samples of the drives found, by their paths.
fn foresee(roots: &Roots, place: &Place, journal: &Journal, watch: &mut Watch) -> Result<BTreeMap<String, Sampled>> {
    let sight = Sight::new(roots, journal);
    let made: Vec<Made> = place.stand.layers_here().iter().map(|layer| place.make(&sight, layer)).collect();
    let steps = || made.iter().flat_map(|made| &made.steps);
    must_have(steps().flat_map(|step| step.apply.iter().chain(step.undone_by())))?;
    let facts = place.drives.iter().flatten().filter_map(|path| place.look(roots, &sight, path));
    let facts = drives::sampled(facts.collect(), &mut |action| (watch.log)(EventKind::Step { action }));
    facts.iter().try_for_each(|facts| drives::must_be_free(facts, &place.stand.overwrite))?;
    if place.stand.has_drives() {
        must_know_signatures(roots, place, &sight)?;
    }
    must_exist(&sight, &made)?;
    must_have_cards(place, &sight)?;
    must_take_blocks(place, &sight, &made)?;
    // Identities are drawn anew; what has one of our names already is somebody else's.
    // A directory where something was mounted before is nobody's.
    let names = |sign: &Sign| match sign {
        Sign::Path(path) => !path.starts_with(super::names::MOUNTS) && !path.starts_with(CONFIGURED),
        // What the kernel is configured by is everybody's.
        Sign::Mounted(at) => at.starts_with(super::names::MOUNTS),
        sign => {
            matches!(
                sign,
                Sign::File { .. }
                    | Sign::Mapping { .. }
                    | Sign::Volume(_)
                    | Sign::VolumeOn { .. }
                    | Sign::Loop(_)
                    | Sign::Pool(_)
            )
        }
    };
    // Of what the kernel is configured by, that which the stand takes away again: of a port there is only its number.
    let configured = |sign: &Sign| matches!(sign, Sign::Path(path) if path.starts_with(CONFIGURED));
    let taken = steps().find(|step| {
        let signs = step.undo.iter().map(|(sign, _)| sign);
        let own = || signs.filter(|sign| configured(sign)).any(|sign| sight.shows(sign));
        (names(&step.done) && sight.is_taken(&step.done)) || own()
    });
    let Some(Change { what: Say { en, ru }, .. }) = taken else {
        return Ok(facts.into_iter().filter_map(|facts| Some((facts.path, facts.contents?))).collect());
    };
    Err(Error::new(
        Kind::Preflight,
        say!("cannot {en}: this name is already in use", "не удастся {ru}: такое имя уже занято"),
    )
    .hint(say!(
        "give the stand another name, or remove what uses this one",
        "дайте стенду другое имя или удалите то, что его занимает"
    )))
}

/// A namespace that is formatted must be one, and have such blocks.
fn must_take_blocks(place: &Place, sight: &Sight, made: &[Made]) -> Result<()> {
    for (layer, made) in place.stand.layers_here().iter().zip(made) {
        let stend_spec::stand::Kind::Sectors { bytes } = layer.kind else { continue };
        for device in made.products.iter().map(Product::shown) {
            let Some(node) = sight.at(&device) else { continue };
            let words = ["nvme", "id-ns", &device, "--output-format=json"].map(String::from);
            let identify = || crate::command::execute_plainly(&words, &|| false, &mut |_| {});
            sectors::must_take(&node.sysfs, &device, bytes, identify)?;
        }
    }
    Ok(())
}

/// Between two hosts RDMA goes over what the interface of each has.
fn must_have_cards(place: &Place, sight: &Sight) -> Result<()> {
    let Some(address) = place.stand.address_here() else { return Ok(()) };
    let needs = |layer: &Layer| layer.kind.needs_card();
    if !place.stand.layers_here().iter().any(needs) || sight.shows(&Sign::Card(address.to_string())) {
        return Ok(());
    }
    Err(Error::new(
        Kind::Preflight,
        say!(
            "no interface with a card for RDMA has the address {address} here",
            "здесь нет интерфейса с адаптером RDMA и адресом {address}"
        ),
    )
    .hint(say!(
        "with `soft_roce: true` the kernel emulates one, to test function and not performance; `tcp` needs none",
        "с `soft_roce: true` ядро эмулирует его — для проверки работы, а не скорости; для `tcp` он не нужен"
    )))
}

/// A directory that is measured as it is.
fn must_exist(sight: &Sight, made: &[Made]) -> Result<()> {
    let products = made.iter().flat_map(|made| &made.products);
    let lacking = products.filter_map(|product| match product {
        Product::Existing(path) if sight.find(product).is_none() => Some(path),
        _ => None,
    });
    match lacking.into_iter().next() {
        None => Ok(()),
        Some(path) => Err(Error::new(Kind::Preflight, say!("there is no directory `{path}`", "нет каталога `{path}`"))
            .hint(say!(
                "`existing` uses a file system that is already mounted; create or mount it first",
                "`existing` использует уже смонтированную файловую систему; сначала создайте или смонтируйте её"
            ))),
    }
}

/// `overwrite` names only what is there: a mistyped drive would show itself so.
fn must_know_signatures(roots: &Roots, place: &Place, sight: &Sight) -> Result<()> {
    let there = signatures(roots, place, sight, place.drives.iter().flatten());
    match place.stand.overwrite.iter().find(|name| !may_be_named(name, &there)) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            Kind::Unsafe,
            say!(
                "refused: `overwrite` names `{name}`, but no drive of the stand has it",
                "отказ: в `overwrite` указана метка `{name}`, которой нет ни на одном накопителе стенда"
            ),
        )
        .hint(say!("check the drives with `stend inspect`", "проверьте накопители командой `stend inspect`"))),
    }
}

fn must_be_same(journal: &Journal, stand: &Stand) -> Result<()> {
    if stand_of(journal)? == *stand {
        return Ok(());
    }
    let name = &stand.name;
    Err(Error::new(
        Kind::Preflight,
        say!(
            "the stand `{name}` was put up from another file, or its file has changed since",
            "стенд `{name}` поднят из другого файла, или файл с тех пор изменился"
        ),
    )
    .hint(say!("`stend stand down {name}` takes it down first", "сначала уберите его: `stend stand down {name}`")))
}

fn raise(
    roots: &Roots,
    place: &Place,
    layer: &Layer,
    journal: &mut Journal,
    owner: &Owner,
    (leases, sampled): (&mut Vec<(String, Lease)>, &BTreeMap<String, Sampled>),
    watch: &mut Watch,
) -> Result<()> {
    let count = place.make(&Sight::new(roots, journal), layer).steps.len();
    for index in 0..count {
        // Anew each time: what a step made has its path only afterwards.
        let sight = Sight::new(roots, journal);
        let Some(step) = place.make(&sight, layer).steps.into_iter().nth(index) else { break };
        let done = sight.shows(&step.done);
        drop(sight);
        if !done {
            if (watch.stopped)() {
                return Err(Error::new(Kind::Interrupted, say!("it was stopped", "работа остановлена")));
            }
            do_step(roots, place, layer, &step, journal, owner, (leases, sampled), watch)?;
        }
        if let Some(wait) = &step.wait {
            wait_for(roots, journal, wait, watch)?;
        }
    }
    if layer.kind.is_export() && !place.stand.takes_in() {
        // They appear on the other host.
        return Ok(());
    }
    let products = place.make(&Sight::new(roots, journal), layer).products;
    products.iter().try_for_each(|product| {
        let shown = product.shown();
        until(&say!("make {shown}", "создать {shown}"), &mut || {
            Sight::new(roots, journal).find(product).is_some()
        })
    })
}

#[expect(clippy::too_many_arguments, reason = "the state of putting a stand up, which nothing else has")]
fn do_step(
    roots: &Roots,
    place: &Place,
    layer: &Layer,
    step: &Change,
    journal: &mut Journal,
    owner: &Owner,
    (leases, sampled): (&mut Vec<(String, Lease)>, &BTreeMap<String, Sampled>),
    watch: &mut Watch,
) -> Result<()> {
    let steps = place.make(&Sight::new(roots, journal), layer).steps;
    claim_drives(roots, place, step, &steps, journal, owner, (leases, sampled))?;
    // What an earlier attempt left half done is in the way of the whole.
    for (sign, action) in &step.undo {
        if Sight::new(roots, journal).shows(sign) {
            perform(roots, action, journal, watch)?;
        }
    }
    let what = step.what.en.clone();
    journal.append(Entry::Begin { layer: layer.name.clone(), what: what.clone() })?;
    for action in &step.apply {
        perform(roots, action, journal, watch)?;
    }
    until(&step.what, &mut || Sight::new(roots, journal).shows(&step.done))?;
    journal.append(Entry::End { layer: layer.name.clone(), what })
}

/// Looks at the drives that a step is the first to write to once more, with the right to them in hand.
fn claim_drives(
    roots: &Roots,
    place: &Place,
    step: &Change,
    of_layer: &[Change],
    journal: &mut Journal,
    owner: &Owner,
    (leases, sampled): (&mut Vec<(String, Lease)>, &BTreeMap<String, Sampled>),
) -> Result<()> {
    for path in step.erases.iter().filter(|path| place.drives.iter().flatten().any(|drive| drive == *path)) {
        let sight = Sight::new(roots, journal);
        // One of this layer's own things lies on it already: then it was looked at before that was made.
        let ours = of_layer.iter().filter(|step| step.erases.contains(path)).any(|step| {
            let on_it = |sign: &Sign| match sign {
                // A bare table of ZFS does not say whose it was: only `down` takes it away unasked.
                Sign::Mark { device, .. } | Sign::PoolLabel { device, pool: Some(_), .. } => device == path,
                Sign::Mapping { .. } => step.erases.len() == 1,
                // All that the step names goes with it: what is kept back of one is on another.
                Sign::SuperblockBegun(_) => true,
                _ => false,
            };
            step.undo.iter().any(|(sign, _)| on_it(sign) && sight.shows(sign))
        });
        let ways = place.ways(path);
        if ours || leases.iter().any(|(leased, _)| ways.contains(leased)) {
            continue;
        }
        let gone = |path: &str| claims::changed(path, &say!("it is gone", "устройство исчезло"));
        // All paths to a drive are free before any is taken.
        let mut ours = true;
        for way in ways {
            let node = sight.at(way).ok_or_else(|| gone(way))?;
            let mut facts = place.look(roots, &sight, way).ok_or_else(|| gone(way))?;
            if carries_its_own(place, &sight, node, &facts.access) {
                ours = false;
                continue;
            }
            match sampled.get(way) {
                Some(sampled) => contents::add_sampled(&mut facts, sampled.clone()),
                None => contents::sample_contents(std::slice::from_mut(&mut facts), &mut |_| {}),
            }
            drives::must_be_free(&facts, &place.stand.overwrite)?;
            ours &= facts.contents.is_some_and(|contents| !contents.is_unknown());
        }
        let node = sight.at(path).ok_or_else(|| gone(path))?;
        // One lease is for all paths: they have one identity.
        let claim = claims::claim(roots, sight.devices(), node, owner)?;
        // The device is let go for the program that builds on it; the lease keeps other runs away until that holds it.
        let lease = claim.hand_over();
        drop(sight);
        let drive = place.drives.iter().position(|ways| ways.contains(path));
        let drives = journal.stand().map(|head| head.drives.clone()).unwrap_or_default();
        if let Some(drive) = drive.and_then(|drive| drives.get(drive)) {
            let (identity, boot_id) = (drive.identity.clone(), owner::boot_id(roots));
            journal.append(Entry::Taken { identity, ours, boot_id })?;
        }
        leases.extend(lease.map(|lease| (path.clone(), lease)));
    }
    Ok(())
}

/// Whether nothing speaks against a drive but marks that layers of this stand put on it through one that a restart of the machine took
/// away, such as a mapping or an export.
fn carries_its_own(place: &Place, sight: &Sight, node: &Node, access: &WriteAccess) -> bool {
    let of_the_drive = |reason: &Refusal| matches!(reason, Refusal::Member { device, .. } if *device == node.name);
    let by_marks_alone = match access {
        WriteAccess::Refused(reasons) => reasons.iter().all(of_the_drive),
        WriteAccess::Confirm { .. } => true,
        WriteAccess::OwnDirectory | WriteAccess::Nowhere => false,
    };
    let steps = place.stand.layers.iter().flat_map(|layer| place.make(sight, layer).steps);
    let own: Vec<String> = steps
        .flat_map(|step| step.undo)
        .filter_map(|(sign, _)| if let Sign::Mark { uuid, .. } = sign { Some(uuid) } else { None })
        .collect();
    let found = crate::marks::on(sight.devices(), node).unwrap_or_default();
    let is_own = |mark: &Found| mark.uuid.as_deref().is_some_and(|uuid| own.iter().any(|known| same(known, uuid)));
    by_marks_alone && !found.is_empty() && found.iter().all(is_own)
}

/// Waits until the kernel shows what has been made; `what` are words that follow "to".
pub(super) fn until(what: &Say, shown: &mut dyn FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + APPEARS;
    while !shown() {
        if Instant::now() > deadline {
            let Say { en, ru } = what;
            return Err(Error::new(
                Kind::Preflight,
                say!(
                    "the command to {en} succeeded, but the kernel does not show it",
                    "команда «{ru}» выполнена, но ядро этого не показывает"
                ),
            ));
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

/// Waits for a first synchronisation and tells how far it is.
fn wait_for(roots: &Roots, journal: &Journal, wait: &Wait, watch: &mut Watch) -> Result<()> {
    let mut told: Option<Instant> = None;
    loop {
        let Some(now) = left(roots, journal, wait)? else { return Ok(()) };
        if (watch.stopped)() {
            return Err(Error::new(
                Kind::Interrupted,
                say!("the synchronisation was not waited for", "синхронизации не дождались"),
            ));
        }
        if told.is_none_or(|at| at.elapsed() >= SYNC_TELLS) {
            told = Some(Instant::now());
            (watch.log)(EventKind::Step { action: now });
        }
        std::thread::sleep(SYNC_TICK);
    }
}

/// A first synchronisation that cannot come to its end.
fn broken(why: Say) -> Box<Error> {
    let Say { en, ru } = why;
    Error::new(
        Kind::Preflight,
        say!("the first synchronisation did not finish: {en}", "первая синхронизация не завершилась: {ru}"),
    )
}

/// How far a synchronisation is, in English; `None`: it is done.
fn left(roots: &Roots, journal: &Journal, wait: &Wait) -> Result<Option<String>> {
    match wait {
        Wait::Array(uuid) => {
            let sight = Sight::new(roots, journal);
            let array = sight.array(uuid).ok_or_else(|| broken(say!("it is gone", "он исчез")))?;
            if syncing(array).is_none() && degraded(array) > 0 {
                return Err(broken(say!("members are missing", "не хватает накопителей")));
            }
            let far = |(action, done, all): (String, u64, u64)| match all {
                0 => format!("{action} of {} begins", array.name),
                all => format!("{action} of {}: {} %", array.name, done.saturating_mul(100) / all),
            };
            Ok(syncing(array).map(far))
        }
        Wait::Volume(group) => {
            // Checksums are computed for each part of the volume, besides.
            let percent = Sight::new(roots, journal).synchronised(group).map_err(|told| broken(Say::same(told)))?;
            Ok((percent < 100.0).then(|| format!("synchronisation of {group}: {percent} %")))
        }
        Wait::Checksums(name) => {
            let words = status(name).ok_or_else(|| broken(say!("it is gone", "он исчез")))?;
            Ok(superblocks::computed(&words).map(|percent| format!("checksums of {name}: {percent} %")))
        }
        Wait::Pool(name) => {
            let sight = Sight::new(roots, journal);
            let health = sight.health(name).ok_or_else(|| broken(say!("it is gone", "он исчез")))?;
            Ok(health.resilver.map(|percent| format!("resilver of {name}: {percent} %")))
        }
    }
}
