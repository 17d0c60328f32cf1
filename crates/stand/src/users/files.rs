//! The numbers under which the file behind a loop device is known: its own, and those by which overlays show it, or that it has below
//! them. Reads only.

use crate::mounts::Mount;
use crate::node::Node;
use crate::roots::{Roots, text};
use std::path::{Path, PathBuf};
use stend_sys::opened::{self, FileId, Opened};

/// Every number of the file behind a loop device, that which the kernel tells first.
pub(super) fn identities(roots: &Roots, mounts: &[Mount], node: &Node) -> Vec<FileId> {
    let Some(backing) = node.backing else { return Vec::new() };
    let mut found = vec![FileId { device: backing.device, inode: backing.inode }];
    let Some(path) = text(node.sysfs.join("loop/backing_file")) else { return found };
    let path = Path::new(path.strip_suffix(" (deleted)").unwrap_or(&path));
    for overlay in mounts.iter().filter(|mount| mount.kind == "overlay").filter_map(|mount| Overlay::of(roots, mount)) {
        for id in overlay.other_names(path).iter().filter_map(|path| file_at(path)) {
            if !found.contains(&id) {
                found.push(id);
            }
        }
    }
    found
}

/// A mounted overlay as those see it who have mounted it.
struct Overlay {
    /// Where the root of these is for us.
    root: PathBuf,
    at: PathBuf,
    /// The upper directory, if it has one, then the lower ones from the top.
    layers: Vec<PathBuf>,
}

impl Overlay {
    fn of(roots: &Roots, mount: &Mount) -> Option<Overlay> {
        let options = || split(&mount.options, ',');
        let of = |key: &str| {
            options().into_iter().filter_map(|option| option.strip_prefix(key).map(str::to_string)).collect()
        };
        let upper: Vec<String> = of("upperdir=");
        let lower: Vec<String> = of("lowerdir=");
        let added: Vec<String> = of("lowerdir+=");
        let lower = lower.iter().flat_map(|lower| split(lower, ':')).chain(added);
        let layers: Vec<PathBuf> =
            upper.into_iter().chain(lower).map(|layer| PathBuf::from(unescape(&layer))).collect();
        let root = match mount.seen_by {
            Some(pid) => roots.proc.join(format!("{pid}/root")),
            None => PathBuf::from("/"),
        };
        (!layers.is_empty()).then(|| Overlay { root, at: mount.at.clone(), layers })
    }

    /// Where the file at `path` is besides: below the overlay if it is in it, in the overlay if it is in a layer of it and shows there.
    fn other_names(&self, path: &Path) -> Vec<PathBuf> {
        let here = |path: PathBuf| self.root.join(path.strip_prefix("/").unwrap_or(&path));
        let first = |name: &Path| {
            let layers = self.layers.iter().enumerate();
            layers
                .map(|(index, layer)| (index, here(layer.join(name))))
                .find(|(_, path)| path.symlink_metadata().is_ok())
        };
        if let Ok(name) = path.strip_prefix(&self.at) {
            return first(name).map(|(_, path)| path).into_iter().collect();
        }
        let shows = |(index, layer): (usize, &PathBuf)| {
            let name = path.strip_prefix(layer).ok()?;
            (first(name)?.0 == index).then(|| here(self.at.join(name)))
        };
        self.layers.iter().enumerate().filter_map(shows).collect()
    }
}

fn file_at(path: &Path) -> Option<FileId> {
    match opened::at(path) {
        Ok(Opened::File(file)) => Some(file),
        Ok(_) | Err(_) => None,
    }
}

/// The parts of a text between separators that no backslash stands before.
fn split(text: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match parts.last_mut() {
            Some(part) if c == '\\' => {
                part.push(c);
                part.extend(chars.next());
            }
            Some(part) if c != separator => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts
}

fn unescape(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        plain.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_sys::block::DevNo;

    #[test]
    fn a_file_has_another_name_in_the_overlay_where_its_layer_is_the_one_that_shows() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (layer, name) in [("up", "a"), ("low:er", "a"), ("low:er", "b"), ("last", "b"), ("merged", "x")] {
            std::fs::create_dir_all(at(layer)).unwrap();
            std::fs::write(at(layer).join(name), layer).unwrap();
        }
        let shown = |name: &str| at(name).display().to_string();
        let options = format!(
            "rw,lowerdir={}:{},upperdir={},workdir=/w",
            shown("low:er").replace(':', "\\:"),
            shown("last"),
            shown("up")
        );
        let mount = Mount {
            number: DevNo { major: 0, minor: 50 },
            at: at("merged"),
            kind: "overlay".into(),
            source: "overlay".into(),
            options,
            seen_by: None,
        };
        let overlay = Overlay::of(&Roots::host(), &mount).unwrap();
        let others = |name: &str| overlay.other_names(&at(name));
        assert_eq!(others("up/a"), [at("merged/a")]);
        assert_eq!(others("low:er/a"), Vec::<PathBuf>::new(), "covered");
        assert_eq!(others("low:er/b"), [at("merged/b")]);
        assert_eq!(others("last/b"), Vec::<PathBuf>::new());
        assert_eq!(others("merged/a"), [at("up/a")]);
        assert_eq!(others("merged/b"), [at("low:er/b")]);
        assert_eq!(others("elsewhere/b"), Vec::<PathBuf>::new());
    }
}
