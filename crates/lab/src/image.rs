//! The image of a guest: a kernel, and an archive with everything else that it starts from. Made of packages, kept under
//! a name that follows from its recipe. Must not start anything.

use crate::archive::Cpio;
use crate::packages::{self, BUSYBOX, Files, KERNEL, MODULES};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use stend_base::{Error, Kind, Result, Say, say};

/// What runs first in a guest.
const INIT: &str = include_str!("guest/init.sh");
/// Raised when an image is put together in another way.
const VERSION: &str = "1";
/// Directories of the guest; the worker keeps its leases and marks below `/run`.
const DIRECTORIES: [&str; 10] = ["bin", "dev", "etc", "lib", "lib/modules", "proc", "run", "sys", "tmp", "var"];

/// An image, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The kernel.
    pub kernel: PathBuf,
    /// Archive of what is in every guest.
    pub system: PathBuf,
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
        Error::new(
            Kind::Preflight,
            say!(
                "neither XDG_CACHE_HOME nor HOME says where images are kept",
                "ни XDG_CACHE_HOME, ни HOME не говорят, где хранить образы"
            ),
        )
    })
}

impl Image {
    /// The image that is kept in `cache`, if it is of this recipe.
    pub fn find(cache: &Path) -> Result<Image> {
        let image = Image::in_directory(&cache.join(name()));
        if image.kernel.is_file() && image.system.is_file() {
            return Ok(image);
        }
        let shown = cache.display();
        Err(Error::new(
            Kind::Preflight,
            say!("there is no image of the lab in `{shown}`", "в `{shown}` нет образа лаборатории"),
        )
        .hint(say!("`stend lab build` makes it", "его соберёт `stend lab build`")))
    }

    fn in_directory(directory: &Path) -> Image {
        Image { kernel: directory.join("vmlinuz"), system: directory.join("system.cpio") }
    }
}

/// Makes the image in `cache` unless it is there. Only one process at a time does; others wait for it.
pub fn build(cache: &Path, offline: bool) -> Result<Built> {
    supported()?;
    let packages = cache.join("packages");
    fs::create_dir_all(&packages).map_err(|e| failed(cache, &e))?;
    // Let go with the process, whichever way that ends.
    let lock = File::create(cache.join("lock")).map_err(|e| failed(cache, &e))?;
    lock.lock().map_err(|e| failed(cache, &e))?;
    if let Ok(image) = Image::find(cache) {
        return Ok(Built { image, found: true });
    }
    let [kernel, busybox] = packages::fetch(&packages, offline)?;
    let kernel = packages::unpack(&kernel, &packages::of_kernel)?;
    let busybox = packages::unpack(&busybox, &|path| path.ends_with("/bin/busybox"))?;
    let system = system(&kernel, &busybox)?;
    let vmlinuz = kernel.iter().find(|(path, _)| path.contains("/boot/vmlinuz-"));
    let (_, vmlinuz) = vmlinuz.ok_or_else(|| lacks("vmlinuz"))?;
    // What a killed build left is written over; under its name the image is whole.
    let (unfinished, directory) = (cache.join("unfinished"), cache.join(name()));
    let image = Image::in_directory(&unfinished);
    let kept = fs::create_dir_all(&unfinished)
        .and_then(|()| fs::write(&image.kernel, vmlinuz))
        .and_then(|()| fs::write(&image.system, system))
        .and_then(|()| fs::rename(&unfinished, &directory));
    kept.map_err(|e| failed(&directory, &e))?;
    Ok(Built { image: Image::in_directory(&directory), found: false })
}

/// The name of an image is the hash of what it is made of and how.
fn name() -> String {
    let mut hash = Sha256::new();
    for part in [VERSION, INIT, KERNEL, BUSYBOX].iter().chain(&MODULES) {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let hash = hash.finalize();
    let digits: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("image-{digits}")
}

/// The archive of what is in every guest.
fn system(kernel: &Files, busybox: &Files) -> Result<Vec<u8>> {
    let mut cpio = Cpio::default();
    DIRECTORIES.iter().for_each(|path| cpio.directory(path));
    // Where 64-bit programs look for the loader that they name.
    cpio.link("lib64", "lib");
    // The console of the first process; the rest comes with devtmpfs.
    cpio.device("dev/console", 5, 1);
    let (_, data) = busybox.first().ok_or_else(|| lacks("busybox"))?;
    cpio.program("bin/busybox", data);
    let modules = packages::modules(kernel)?;
    let order: Vec<&str> = modules.iter().map(|(name, _)| name.as_str()).collect();
    cpio.program("lib/modules/order", order.join("\n").as_bytes());
    for (name, data) in &modules {
        cpio.program(&format!("lib/modules/{name}.ko"), data);
    }
    cpio.program("init", INIT.as_bytes());
    Ok(cpio.finish())
}

fn supported() -> Result<()> {
    if cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    Err(Error::new(
        Kind::Preflight,
        say!("the lab needs an x86-64 machine in this version", "в этой версии лаборатории нужна машина x86-64"),
    ))
}

fn lacks(what: &str) -> Box<Error> {
    let message = say!("a package of the guest has no `{what}`", "в пакете гостевой системы нет `{what}`");
    Error::new(Kind::Preflight, message)
}

fn failed(place: &Path, error: &std::io::Error) -> Box<Error> {
    let shown = place.display();
    let Say { en, ru } =
        say!("cannot keep an image in `{shown}`: {error}", "нельзя хранить образ в `{shown}`: {error}");
    Error::new(Kind::Preflight, Say { en, ru })
        .hint(say!("XDG_CACHE_HOME names another place", "другое место задаёт XDG_CACHE_HOME"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_found_only_when_it_is_whole() {
        let cache = tempfile::tempdir().unwrap();
        let error = Image::find(cache.path()).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.hint.unwrap().ru.contains("stend lab build"));
        let directory = cache.path().join(name());
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("vmlinuz"), "").unwrap();
        assert!(Image::find(cache.path()).is_err());
        fs::write(directory.join("system.cpio"), "").unwrap();
        let built = build(cache.path(), true).unwrap();
        assert_eq!(built, Built { image: Image::find(cache.path()).unwrap(), found: true });
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_an_error_that_names_another_place() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("file");
        fs::write(&file, "").unwrap();
        let error = build(&file, true).unwrap_err();
        assert!(error.message.en.contains("cannot keep an image"), "{error}");
        assert!(error.hint.unwrap().en.contains("XDG_CACHE_HOME"));
    }

    #[test]
    fn the_guest_s_first_program_is_one_that_its_shell_understands() {
        let checked = std::process::Command::new("sh").args(["-n", "-c", INIT]).status().unwrap();
        assert!(checked.success());
        assert!(INIT.starts_with("#!/bin/busybox sh\n"));
    }
}
