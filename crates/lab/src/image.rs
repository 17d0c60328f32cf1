//! The image of a guest: a kernel, an archive with its first steps, and its system. Made of packages, kept under a name
//! that follows from its recipe. Must not start anything.

use crate::archive::Cpio;
use crate::digest::digest;
use crate::packages::{self, ALWAYS, MAIN, Package, RELEASE, WITH_CONTRIB};
use crate::tool::cannot;
use crate::tree::{EARLY, KEEP, PROGRAM, SYSTEM, Tree};
use crate::zfs;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};
use stend_spec::machine::Machine;

/// What runs first in a guest.
const INIT: &str = include_str!("guest/init.sh");
/// Raised when an image is put together in another way.
const VERSION: &str = "3";
/// Directories of the first steps: what is mounted on the way, and where the program comes to lie.
const DIRECTORIES: [&str; 11] =
    ["bin", "dev", "memory", "modules", "proc", "program", "program/bin", "program/lib", "sys", "system", "whole"];

/// An image, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The kernel.
    pub kernel: PathBuf,
    /// Archive of the first steps, which find the system.
    pub start: PathBuf,
    /// File system of everything else; only read.
    pub system: PathBuf,
    /// Names and versions of its packages, one per line.
    pub packages: PathBuf,
}

/// What an image has beside what every image has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// Packages of Debian.
    pub packages: Vec<String>,
    /// ZFS, with modules for the image's kernel.
    pub zfs: bool,
}

impl Contents {
    /// What a machine asks for.
    pub fn of(machine: &Machine) -> Contents {
        Contents { packages: machine.packages.clone(), zfs: machine.zfs }
    }
}

/// What [`build`] did.
#[derive(Debug, PartialEq, Eq)]
pub struct Built {
    /// The image.
    pub image: Image,
    /// It was there already.
    pub found: bool,
}

/// Where images and packages are kept: `$XDG_CACHE_HOME/stend/lab`, else `~/.cache/stend/lab`.
pub fn cache_directory() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    cache.map(|cache| cache.join("stend/lab")).ok_or_else(|| {
        Error::preflight(say!(
            "neither XDG_CACHE_HOME nor HOME is set, so there is no directory for images",
            "не заданы ни XDG_CACHE_HOME, ни HOME: негде хранить образы"
        ))
    })
}

impl Image {
    /// The image with these contents that is kept in `cache`, if it is of this recipe.
    pub fn find(cache: &Path, further: &Contents) -> Result<Image> {
        let image = Image::in_directory(&cache.join(name(further)));
        if image.parts().iter().all(|part| part.is_file()) {
            return Ok(image);
        }
        let shown = cache.display();
        let error =
            Error::preflight(say!("there is no image of the lab in `{shown}`", "в `{shown}` нет образа лаборатории"));
        Err(match *further == Contents::default() {
            true => error.hint(say!("`stend lab build` builds it", "его соберёт `stend lab build`")),
            false => error.hint(say!(
                "`stend lab build FILE` builds the image for a machine file",
                "образ для файла машины соберёт `stend lab build ФАЙЛ`"
            )),
        })
    }

    fn in_directory(directory: &Path) -> Image {
        let [kernel, start, system, packages] =
            ["vmlinuz", "start.cpio", "system.erofs", "packages"].map(|name| directory.join(name));
        Image { kernel, start, system, packages }
    }

    fn parts(&self) -> [&PathBuf; 4] {
        [&self.kernel, &self.start, &self.system, &self.packages]
    }
}

/// Makes the image with these contents in `cache` unless it is there. Only one process at a time does; others wait
/// for it.
pub fn build(cache: &Path, further: &Contents, offline: bool) -> Result<Built> {
    supported()?;
    let store = cache.join("packages");
    fs::create_dir_all(&store).map_err(|e| failed(cache, &e))?;
    // Let go with the process, whichever way that ends.
    let lock = File::create(cache.join("lock")).map_err(|e| failed(cache, &e))?;
    lock.lock().map_err(|e| failed(cache, &e))?;
    if let Ok(image) = Image::find(cache, further) {
        return Ok(Built { image, found: true });
    }
    let sections = if further.zfs { WITH_CONTRIB } else { MAIN };
    let packages = packages::fetch(&store, &wanted(further), sections, offline)?;
    // What a killed build left is not built upon. Programs of the tree belong to the user who builds, and to no other.
    let unfinished = cache.join("unfinished");
    let root = unfinished.join("root");
    remove_tree(&unfinished)?;
    let made = DirBuilder::new().mode(0o700).create(&unfinished).and_then(|()| fs::create_dir(&root));
    made.map_err(|e| failed(&unfinished, &e))?;
    let tree = Tree::unpack(&packages, &root)?;
    if further.zfs {
        tree.add_modules(&zfs::modules(cache, &store, &unfinished.join("zfs"), tree.release(), offline)?)?;
    }
    tree.index_modules()?;
    let image = Image::in_directory(&unfinished);
    tree.pack(&image.system)?;
    let directory = cache.join(name(further));
    // Under its name the image is whole.
    let kept = fs::copy(tree.kernel(), &image.kernel)
        .and_then(|_| {
            fs::write(&image.start, start(&tree.busybox(), &tree.early_modules().map_err(std::io::Error::other)?)?)
        })
        .and_then(|()| fs::write(&image.packages, list(&packages)))
        .and_then(|()| stend_sys::tree::remove(&root))
        .and_then(|()| give_name(&unfinished, &directory));
    kept.map_err(|e| stend_sys::tree::refusal(&e).unwrap_or_else(|| failed(&directory, &e)))?;
    Ok(Built { image: Image::in_directory(&directory), found: false })
}

/// Gives an image its name. One of this name that lacks a part, as a clean-up of the cache leaves it, is in the way.
fn give_name(unfinished: &Path, directory: &Path) -> std::io::Result<()> {
    stend_sys::tree::remove(directory)?;
    fs::rename(unfinished, directory)
}

/// Removes what a killed build left.
fn remove_tree(unfinished: &Path) -> Result<()> {
    stend_sys::tree::remove(unfinished)
        .map_err(|e| stend_sys::tree::refusal(&e).unwrap_or_else(|| failed(unfinished, &e)))
}

/// Names of all packages that are asked for.
fn wanted(further: &Contents) -> Vec<String> {
    let zfs = further.zfs.then_some(zfs::TOOLS);
    let mut all: Vec<String> =
        ALWAYS.iter().copied().chain(zfs).map(String::from).chain(further.packages.iter().cloned()).collect();
    all.sort();
    all.dedup();
    all
}

/// The name of an image is the hash of what is asked for and how it is put together; the versions that came of it stand in
/// its list of packages.
fn name(further: &Contents) -> String {
    let recipe = [VERSION, RELEASE, INIT, SYSTEM, KEEP, PROGRAM].into_iter().chain(EARLY);
    let recipe = recipe.chain(further.zfs.then_some(zfs::BUILD)).map(String::from);
    format!("image-{}", digest(recipe.chain(wanted(further))))
}

fn list(packages: &[Package]) -> String {
    let mut lines: Vec<String> =
        packages.iter().map(|Package { name, version, .. }| format!("{name} {version}\n")).collect();
    lines.sort();
    lines.concat()
}

/// The archive of the first steps.
fn start(busybox: &Path, modules: &[PathBuf]) -> std::io::Result<Vec<u8>> {
    let mut cpio = Cpio::default();
    DIRECTORIES.iter().for_each(|path| cpio.directory(path));
    // The console of the first process; the rest comes with devtmpfs.
    cpio.device("dev/console", 5, 1);
    cpio.program("bin/busybox", &fs::read(busybox)?);
    let names = modules.iter().filter_map(|path| path.file_name()?.to_str());
    cpio.program("modules/order", names.clone().collect::<Vec<_>>().join("\n").as_bytes());
    for (path, name) in modules.iter().zip(names) {
        cpio.program(&format!("modules/{name}"), &fs::read(path)?);
    }
    cpio.program("init", INIT.as_bytes());
    Ok(cpio.finish())
}

fn supported() -> Result<()> {
    if cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    Err(Error::preflight(say!(
        "the lab needs an x86-64 machine in this version",
        "в этой версии лаборатории нужна машина x86-64"
    )))
}

fn failed(place: &Path, error: &std::io::Error) -> Box<Error> {
    let shown = place.display();
    cannot(&say!("cannot keep it in `{shown}`: {error}", "нельзя хранить его в `{shown}`: {error}"))
        .hint(say!("XDG_CACHE_HOME names another place", "другое место задаёт XDG_CACHE_HOME"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn an_image_is_found_only_when_it_is_whole() {
        let cache = tempfile::tempdir().unwrap();
        let plain = Contents::default();
        let error = Image::find(cache.path(), &plain).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.hint.unwrap().ru.contains("stend lab build"));
        let image = Image::in_directory(&cache.path().join(name(&plain)));
        fs::create_dir_all(image.kernel.parent().unwrap()).unwrap();
        for part in image.parts() {
            assert!(Image::find(cache.path(), &plain).is_err(), "without {}", part.display());
            fs::write(part, "").unwrap();
        }
        let built = build(cache.path(), &plain, true).unwrap();
        assert_eq!(built, Built { image: Image::find(cache.path(), &plain).unwrap(), found: true });
        let error = Image::find(cache.path(), &Contents { zfs: true, ..plain }).unwrap_err();
        assert!(error.hint.unwrap().en.contains("`stend lab build FILE`"));
    }

    #[test]
    fn an_image_that_lacks_a_part_is_replaced() {
        let cache = tempfile::tempdir().unwrap();
        let [unfinished, named] = ["unfinished", "image-1"].map(|name| cache.path().join(name));
        for (directory, part) in [(&unfinished, "vmlinuz"), (&named, "packages")] {
            fs::create_dir(directory).unwrap();
            fs::write(directory.join(part), "").unwrap();
        }
        give_name(&unfinished, &named).unwrap();
        assert!(named.join("vmlinuz").is_file() && !named.join("packages").exists() && !unfinished.exists());
        fs::create_dir(&unfinished).unwrap();
        give_name(&unfinished, &cache.path().join("image-2")).unwrap();
    }

    #[test]
    fn what_is_asked_for_has_a_name_whatever_its_order() {
        let with = |names: &[&str], zfs| {
            name(&Contents { packages: names.iter().map(|name| name.to_string()).collect(), zfs })
        };
        let of = |names: &[&str]| with(names, false);
        assert_eq!(of(&["a", "b"]), of(&["b", "a", "a", "mdadm"]));
        assert_ne!(of(&["a"]), of(&["b"]));
        assert_ne!(of(&[]), of(&["b"]));
        // The tools alone are not the modules.
        assert_ne!(with(&[], true), of(&[zfs::TOOLS]));
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_an_error_that_names_another_place() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("file");
        fs::write(&file, "").unwrap();
        let error = build(&file, &Contents::default(), true).unwrap_err();
        assert!(error.message.en.contains("cannot keep it"), "{error}");
        assert!(error.hint.unwrap().en.contains("XDG_CACHE_HOME"));
    }

    #[test]
    fn the_guest_s_first_program_is_one_that_its_shell_understands() {
        let checked = std::process::Command::new("sh").args(["-n", "-c", INIT]).status().unwrap();
        assert!(checked.success());
        assert!(INIT.starts_with("#!/bin/busybox sh\n"));
    }
}
