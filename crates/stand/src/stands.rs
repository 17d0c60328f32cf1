//! Stands put up, looked at and taken down. Each change is a step that is asked of the kernel first, noted in a journal, done,
//! and asked of the kernel again; what was made is undone in the opposite order, by the identities that it was given.

mod down;
pub(crate) mod drives;
mod journal;
pub(crate) mod kernel_state;
pub(crate) mod layers;
mod names;
mod plan;
mod product;
mod rewind;
mod status;
mod up;
mod waits;
mod zram;

pub use down::take_down;
pub use plan::plan_stand;
pub use rewind::Rewind;
pub use status::{known_stands, stand_status};
pub use up::put_up;
pub(crate) use zram::uuid as zram_uuid;

use crate::change::{Action, Condition, Journal};
use crate::devices::Devices;
use crate::roots::Roots;
use drives::Viewer;
use kernel_state::{KernelState, same};
pub(crate) use layers::{EventCluster, EventMirror, Osd};
use layers::{LowerDevice, Made, StepContext, Way, cluster_of_events, mirror_of_events};
use names::Names;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, Say, say};
use stend_record::TargetFacts;
use stend_spec::stand::{IscsiTransport, Kind as LayerKind, Layer, Ref, Stand, Transport};
use stend_sys::signature::Found;

/// A stand on this machine: what names in its file mean.
struct LocalStand<'a> {
    stand: &'a Stand,
    nonce: u64,
    /// The paths of every drive of this host, in the order of the file; none of one that is not there.
    drives: Vec<Vec<String>>,
}

impl LocalStand<'_> {
    fn names(&self) -> Names<'_> {
        Names { stand: &self.stand.name, nonce: self.nonce }
    }

    /// The steps of a layer as the machine is now.
    fn make(&self, kernel: &KernelState, layer: &Layer) -> Made {
        kernel.layer(&layer.name, || self.with_site(kernel, layer, layers::make))
    }

    /// What stops a layer beyond its mounts and mappings.
    fn halt(&self, kernel: &KernelState, layer: &Layer) -> Option<(Condition, Action)> {
        self.with_site(kernel, layer, layers::halt)
    }

    fn with_site<T>(&self, kernel: &KernelState, layer: &Layer, work: impl FnOnce(&StepContext) -> T) -> T {
        let below: Vec<LowerDevice> = self.stand.below_here(layer).flat_map(|of| self.below(kernel, of)).collect();
        let path = |product: &product::Product| kernel.find(product).unwrap_or_else(|| product.shown());
        let lasting = |path: &str| kernel.lasting(path).unwrap_or_else(|| path.to_string());
        let overwrites = !self.stand.overwrite.is_empty();
        let size = |product: &product::Product| kernel.size(&path(product));
        work(&StepContext {
            names: self.names(),
            layer,
            below: &below,
            path: &path,
            lasting: &lasting,
            checksummed: &|path| kernel.checksummed(path),
            overwrites,
            size: &size,
            over_paths: self.stand.is_over_paths(layer),
            access_state: &|path| kernel.access_state(path),
            way: Way::of(self.stand, layer),
        })
    }

    /// What a reference stands for: paths, real ones of what exists.
    fn below(&self, kernel: &KernelState, of: &Ref) -> Vec<LowerDevice> {
        let mut found: Vec<LowerDevice> = Vec::new();
        if let Some(drive) = self.stand.drives.iter().find(|drive| drive.name == of.name) {
            let here = self.stand.drives_here().position(|drive| drive.name == of.name);
            let ways = here.and_then(|index| self.drives.get(index)).map(Vec::as_slice).unwrap_or_default();
            // As many as the file says: what is built on them is worked out also where some are lacking, or too many.
            let paths = self.stand.paths_to(&drive.name) as usize;
            let lacking = std::iter::repeat_with(|| format!("DRIVE[{}]", drive.id));
            let all = ways.iter().cloned().chain(lacking).take(paths);
            found.extend(all.map(|path| LowerDevice { size: kernel.size(&path), path }));
        }
        // Layers lie on earlier ones only, so this comes to its end.
        for product in self.stand.layer(&of.name).map(|layer| self.make(kernel, layer).products).unwrap_or_default() {
            let path = kernel.find(&product).unwrap_or_else(|| product.shown());
            found.push(LowerDevice { size: kernel.size(&path), path });
        }
        match of.part {
            Some(part) => found.into_iter().nth((part as usize).saturating_sub(1)).into_iter().collect(),
            None => found,
        }
    }

    /// All paths of the drive that has this one; none if it is of no drive.
    fn ways(&self, path: &str) -> &[String] {
        let of = self.drives.iter().find(|ways| ways.iter().any(|way| way == path));
        of.map(Vec::as_slice).unwrap_or_default()
    }

    /// What is known of a device, with the verdict whether it may be written; `None`: it is gone.
    fn look(&self, roots: &Roots, kernel: &KernelState, path: &str) -> Option<TargetFacts> {
        self.look_as(Viewer::Stranger, roots, kernel, path)
    }

    /// The same as the holder of the claim on it, or as anyone.
    fn look_as(&self, viewer: Viewer, roots: &Roots, kernel: &KernelState, path: &str) -> Option<TargetFacts> {
        let others = self.ways(path).iter().filter(|way| *way != path).filter_map(|way| kernel.at(way));
        let others: Vec<&str> = others.map(|node| node.name.as_str()).collect();
        Some(drives::look(roots, kernel.at(path)?, kernel.devices(), &others, viewer))
    }

    /// Whether a mark is one that layers of the stand put there.
    fn is_own(&self, kernel: &KernelState) -> impl Fn(&Found) -> bool + use<> {
        let steps = self.stand.layers.iter().flat_map(|layer| self.make(kernel, layer).steps);
        let uuid = |condition| match condition {
            Condition::Mark { uuid, .. } | Condition::OnlyMark { uuid, .. } => Some(uuid),
            _ => None,
        };
        let own: Vec<String> = steps.flat_map(|step| step.undo).filter_map(|(condition, _)| uuid(condition)).collect();
        move |mark| mark.uuid.as_deref().is_some_and(|uuid| own.iter().any(|known| same(known, uuid)))
    }

    /// What is measured: paths of what exists, something like it of the rest.
    fn targets(&self, kernel: &KernelState) -> Vec<String> {
        self.stand.targets_here().into_iter().flat_map(|of| self.below(kernel, of)).map(|below| below.path).collect()
    }
}

/// Who put up the stand of this name, in whole or in part, and its number; `None` if there is none.
///
/// Errors: `Preflight` or `Bug` where its journal cannot be read: then it is not known to be gone.
pub fn stand_owner(name: &str) -> Result<Option<(String, u64)>> {
    owner_under(&here(), name)
}

fn owner_under(roots: &Roots, name: &str) -> Result<Option<(String, u64)>> {
    let Some(journal) = journal::look(roots, name)? else { return Ok(None) };
    journal.stand().map(|head| Some((head.owner.clone(), head.nonce))).ok_or_else(no_head)
}

/// Kernel names of all devices that a stand has made; none if it is not up.
pub(crate) fn made_by(roots: &Roots, devices: &Devices, name: &str) -> Vec<String> {
    let Ok(Some(journal)) = journal::look(roots, name) else { return Vec::new() };
    let (Ok(stand), Some(head)) = (stand_of(&journal), journal.stand()) else { return Vec::new() };
    let drives = drives::paths(roots, &head.drives).unwrap_or_default();
    let local = LocalStand { stand: &stand, nonce: head.nonce, drives };
    let kernel = KernelState::new(roots, &journal);
    let products = stand.layers_here().flat_map(|layer| local.make(&kernel, layer).products);
    let paths = products.filter_map(|product| kernel.find(&product));
    paths.filter_map(|path| Some(devices.at(&path)?.name.clone())).collect()
}

/// Where a stand has mounted what it made; nothing if it is not up.
pub(crate) fn mounted_by(roots: &Roots, name: &str) -> Vec<PathBuf> {
    let Ok(Some(journal)) = journal::look(roots, name) else { return Vec::new() };
    let (Ok(stand), Some(head)) = (stand_of(&journal), journal.stand()) else { return Vec::new() };
    let names = Names { stand: &stand.name, nonce: head.nonce };
    // An export of a directory is mounted where it is taken in.
    let mounted = |layer: &&Layer| layer.kind.is_directory() && stand.takes_in(layer);
    let directories = stand.layers_here().filter(mounted);
    directories.map(|layer| names.mount(&layer.name).into()).collect()
}

/// The clusters of Ceph that a stand has put up, as events see them; none if it is not up.
pub(crate) fn clusters_of(roots: &Roots, name: &str) -> Vec<EventCluster> {
    of_layers(roots, name, |context| match context.layer.kind {
        LayerKind::Ceph(ceph) => Some(cluster_of_events(context, ceph)),
        _ => None,
    })
}

/// The same of the mirrors of which this host is primary.
pub(crate) fn mirrors_of(roots: &Roots, name: &str) -> Vec<EventMirror> {
    of_layers(roots, name, |context| match context.layer.kind {
        LayerKind::Drbd(drbd) => mirror_of_events(context, drbd),
        _ => None,
    })
}

fn of_layers<T>(roots: &Roots, name: &str, find: impl Fn(&StepContext) -> Option<T>) -> Vec<T> {
    let Ok(Some(journal)) = journal::look(roots, name) else { return Vec::new() };
    let (Ok(stand), Some(head)) = (stand_of(&journal), journal.stand()) else { return Vec::new() };
    let drives = drives::paths(roots, &head.drives).unwrap_or_default();
    let local = LocalStand { stand: &stand, nonce: head.nonce, drives };
    let kernel = KernelState::new(roots, &journal);
    stand.layers_here().filter_map(|layer| local.with_site(&kernel, layer, &find)).collect()
}

/// Whether a stand hands something out over the loopback; no if it is not up.
pub(crate) fn loops_back(roots: &Roots, name: &str) -> bool {
    let Ok(Some(journal)) = journal::look(roots, name) else { return false };
    let over_it = |layer: &Layer| match &layer.kind {
        LayerKind::NvmeOf(settings) => settings.transport == Transport::Tcp,
        LayerKind::Iscsi(settings) => settings.transport == IscsiTransport::Tcp,
        LayerKind::Nfs(_) | LayerKind::Nbd => true,
        _ => false,
    };
    // That of a stand of several hosts goes over their network.
    stand_of(&journal).is_ok_and(|stand| stand.hosts.is_empty() && stand.layers.iter().any(over_it))
}

/// The stand that the text of a journal is of; `None` where no whole line of one is in it. Errors: `Preflight` for what is no journal,
/// `Spec` for a stand that this version does not know.
pub(crate) fn stand_in(text: &str) -> Result<Option<Stand>> {
    Journal::of_text(text, Path::new("journal"))?.as_ref().map(stand_of).transpose()
}

/// The stand that a journal is of.
fn stand_of(journal: &Journal) -> Result<Stand> {
    let head = journal.stand().ok_or_else(no_head)?;
    Ok(stend_spec::parse::stand(&head.text, &head.file)?.on(head.host.as_deref()))
}

fn no_head() -> Box<Error> {
    Error::bug(say!("the journal of the stand has no head", "в журнале стенда нет заголовка"))
}

/// The error, with the layer that it is about.
fn of_layer(layer: &Layer, file: &str, mut error: Box<Error>) -> Box<Error> {
    let (Say { en, ru }, name, line) = (error.message.clone(), &layer.name, layer.line);
    error.message = say!("{file}:{line}: layer `{name}`: {en}", "{file}:{line}: слой `{name}`: {ru}");
    error
}

/// The machine that this process runs on, under the state directory that is usual.
fn here() -> Roots {
    Roots::host()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::StandHead;

    #[test]
    fn a_resource_of_others_with_the_name_of_a_mirror_is_taken() {
        let text = "stand: x\nhosts: {a: 10.0.0.1, b: 10.0.0.2}\ndrives: [{id: A, host: a}, {id: B, host: b}]\n\
            layers: [{drbd: {protocol: C}, to: b}]\n";
        let whole = stend_spec::parse::stand(text, "s.yaml").unwrap();
        for host in ["a", "b"] {
            let stand = whole.clone().on(Some(host));
            let local = LocalStand { stand: &stand, nonce: 1, drives: Vec::new() };
            let taken = |of: &str| up::taken_resource(&local, &|asked| *asked == layers::mirror_named(of));
            let start = Some("start the mirror stend-x-drbd".to_string());
            assert_eq!(taken("stend-x-drbd").map(|step| step.en), start, "{host}");
            assert_eq!(taken("stend-y-drbd"), None, "{host}");
        }
    }

    #[test]
    fn a_stand_whose_journal_cannot_be_read_is_not_taken_for_gone() {
        let tree = crate::recorded::Tree::new();
        assert_eq!(owner_under(&tree.roots, "x").unwrap(), None);
        let head = StandHead::new("s.yaml", "stand: x", 7, Vec::new(), "R-1");
        drop(journal::create(&tree.roots, "x", head).unwrap());
        assert_eq!(owner_under(&tree.roots, "x").unwrap(), Some(("R-1".to_string(), 7)));
        let place = tree.roots.state.join("stands/x/journal");
        std::fs::write(&place, "{\"what\": 1}\nno line of a journal\n").unwrap();
        assert!(owner_under(&tree.roots, "x").is_err());
    }
}
