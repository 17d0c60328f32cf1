//! Writes results into files that the user named. Must not replace what Stend did not write, follow a link, or leave half a file.
//!
//! A file is written beside its place and gets its name when it is whole. What has that name already is replaced only if it is a
//! result of Stend (by its content: [`stend_report::is_ours`]), or empty, or if the user says `--force`; a run file never is.

mod folder;

use folder::{Folder, Naming, Unusable};
use rustix::fs::{FileType, Stat};
use std::ffi::OsStr;
use std::io::{BufWriter, Error as IoError, ErrorKind, Read, Result as IoResult, Seek, Write};
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, Say, say};
use stend_record::store::Owner;

/// First bytes of every run file.
const DATABASE: &[u8; 16] = b"SQLite format 3\0";

/// A result that is to be written.
#[derive(Clone)]
pub struct Output {
    path: PathBuf,
    /// An accusative, for errors.
    what: Say,
    /// Whether a foreign file may be replaced.
    force: bool,
    /// It is written to be edited, so that nothing in it says whose it is.
    edited: bool,
}

impl Output {
    /// `what` (an accusative) at `path`; with `force` in place of any regular file that is no run file.
    pub fn new(path: impl AsRef<Path>, what: Say, force: bool) -> Output {
        Output { path: path.as_ref().to_path_buf(), what, force, edited: false }
    }

    /// The same of a text that people edit, such as a suite: one that is there is never taken for a result of ours.
    pub fn that_is_edited(self) -> Output {
        Output { edited: true, ..self }
    }

    /// Where it goes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it can be written, as far as can be told without writing; `true` if it takes the place of a file.
    ///
    /// Errors: `Unsafe` if what is there must stay, `Preflight` if it cannot be written.
    pub fn check(&self) -> Result<bool> {
        let (folder, name) = self.place()?;
        let found = self.replaced(&folder, name)?;
        folder.has_room().map_err(|e| self.failed(&e))?;
        Ok(found.is_some())
    }

    /// Writes it: whole, or not at all.
    ///
    /// Errors: as [`check`](Self::check), and those of `write`.
    pub fn save(&self, write: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> Result<()> {
        let (folder, name) = self.place()?;
        let found = self.replaced(&folder, name)?;
        let _held = found.map(|_| folder.hold(name)).transpose().map_err(|e| self.failed(&e))?;
        let fresh = folder.fresh(name).map_err(|e| self.failed(&e))?;
        let mut buffer = BufWriter::new(&fresh.file);
        let written = write(&mut buffer).and_then(|()| buffer.flush());
        drop(buffer);
        if let Err(error) = written {
            folder.discard(fresh);
            return Err(self.failed(&error));
        }
        let naming = match &found {
            Some(found) => Naming::InPlaceOf(found),
            None => Naming::New(Owner::behind_sudo()),
        };
        folder.name(fresh, name, &naming).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                self.refused(&say!("another file got this name meanwhile", "тем временем это имя получил другой файл"))
            }
            _ => self.failed(&error),
        })
    }

    fn place(&self) -> Result<(Folder, &OsStr)> {
        let named = self.path.file_name().filter(|_| !self.path.as_os_str().as_encoded_bytes().ends_with(b"/"));
        let Some(name) = named else {
            return Err(self.refused(&say!("it is a directory", "это каталог")));
        };
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = Folder::open(parent, false).map_err(|why| match why {
            Unusable::Io(error) => self.failed(&error),
            Unusable::ForeignLink(link) => self.refused(&foreign_link(&link)),
        })?;
        Ok((folder, name))
    }

    /// The file whose place it takes; `None` if there is none.
    fn replaced(&self, folder: &Folder, name: &OsStr) -> Result<Option<Stat>> {
        let Some(found) = folder.look(name).map_err(|e| self.failed(&e))? else { return Ok(None) };
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind == FileType::Symlink {
            let target = folder.link(name).map_err(|e| self.failed(&e))?;
            return Err(self.is_link(&target));
        }
        if kind != FileType::RegularFile {
            return Err(self.refused(&named(kind)));
        }
        if !is_mine(&found, folder.is_shared().map_err(|e| self.failed(&e))?) {
            return Err(self.refused(&say!("it belongs to another user", "он принадлежит другому пользователю")));
        }
        match looked_into(folder, name) {
            Ok(Content::Database) => {
                Err(self
                    .refused(&say!("it is a run file or another database", "это файл прогона или другая база данных")))
            }
            Ok(Content::Ours | Content::Empty) => Ok(Some(found)),
            Ok(Content::Foreign) | Err(_) if self.force => Ok(Some(found)),
            Ok(Content::Foreign) if self.edited => Err(self.exists()),
            Ok(Content::Foreign) => Err(self.foreign(say!("Stend did not write it", "Стенд его не создавал"))),
            Err(error) => Err(self.foreign(say!("it cannot be read: {error}", "его не удаётся прочитать: {error}"))),
        }
    }

    fn foreign(&self, why: Say) -> Box<Error> {
        self.refused(&why).hint(say!(
            "name another file, or replace this one with `--force`",
            "укажите другой файл или замените этот с ключом `--force`"
        ))
    }

    fn exists(&self) -> Box<Error> {
        let shown = self.path.display();
        Error::refused(say!(
            "`{shown}` exists; Stend does not replace it, because you may have edited it",
            "`{shown}` уже есть; он не заменяется: возможно, вы его правили"
        ))
        .hint(say!("another name, or `--force`", "другое имя или `--force`"))
    }

    fn is_link(&self, target: &Path) -> Box<Error> {
        let shown = target.display();
        let why = say!(
            "it is a link to `{shown}`, and links are not followed",
            "это ссылка на `{shown}`, а по ссылкам запись не идёт"
        );
        let open = ["/proc", "/dev"].iter().any(|root| target.starts_with(root) || self.path.starts_with(root));
        self.refused(&why).hint(match open {
            true => say!("`-o -` is the standard output", "`-o -` — стандартный вывод"),
            false => say!("name the file itself, or remove the link", "укажите сам файл или удалите ссылку"),
        })
    }

    fn refused(&self, why: &Say) -> Box<Error> {
        let (shown, en, ru) = (self.path.display(), &self.what.en, &self.what.ru);
        let (why_en, why_ru) = (&why.en, &why.ru);
        let message = say!(
            "refused to write {en} over `{shown}`: {why_en}",
            "запись поверх `{shown}` ({ru}) отклонена: {why_ru}"
        );
        Error::refused(message).hint(say!("name another file", "укажите другой файл"))
    }

    fn failed(&self, error: &IoError) -> Box<Error> {
        let (shown, en, ru) = (self.path.display(), &self.what.en, &self.what.ru);
        let folder = self.path.parent().filter(|_| error.kind() == ErrorKind::NotFound).map(Path::display);
        let why = match folder {
            Some(folder) => say!("there is no directory `{folder}`", "нет каталога `{folder}`"),
            None => stend_sys::regular::why(error),
        };
        let (why_en, why_ru) = (why.en, why.ru);
        Error::preflight(say!("cannot write {en} `{shown}`: {why_en}", "не удаётся записать {ru} `{shown}`: {why_ru}"))
            .hint(say!(
                "name a file in a directory that exists and that you may write to",
                "укажите файл в существующем каталоге, доступном на запись"
            ))
    }
}

/// Whether all of them can be written, so that none is when one cannot.
///
/// Errors: as [`Output::check`]; `Usage` if two are one file.
pub fn check(outputs: &[Output]) -> Result<()> {
    are_different(outputs)?;
    outputs.iter().try_for_each(|output| output.check().map(drop))
}

/// Whether each has a name of its own.
///
/// Errors: `Usage`.
pub fn are_different(outputs: &[Output]) -> Result<()> {
    for (index, output) in outputs.iter().enumerate() {
        let path = |output: &Output| std::path::absolute(&output.path).unwrap_or_else(|_| output.path.clone());
        if outputs[..index].iter().any(|other| path(other) == path(output)) {
            let shown = output.path.display();
            return Err(Error::usage(say!(
                "two results are to be written to `{shown}`",
                "в `{shown}` должны быть записаны два результата"
            ))
            .hint(say!("name a file for each", "укажите для каждого свой файл")));
        }
    }
    Ok(())
}

/// Whether a result of Stend that we may remove is at `path`, by its content. A link is none.
pub fn is_ours(path: &Path) -> bool {
    let output = Output::new(path, Say::same(""), false);
    let known = output.place().and_then(|(folder, name)| {
        // Empty ones could be anybody's.
        let found = output.replaced(&folder, name)?;
        Ok(found.is_some_and(|found| found.st_size > 0))
    });
    known.unwrap_or(false)
}

/// Removes a result of Stend.
///
/// Errors: as [`Output::check`], where it is none by now.
pub fn remove(path: &Path) -> Result<()> {
    let output = Output::new(path, say!("the report", "отчёт"), false);
    let (folder, name) = output.place()?;
    match output.replaced(&folder, name)? {
        Some(_) => folder.remove(name).map_err(|error| {
            let shown = path.display();
            Error::preflight(say!("cannot remove `{shown}`: {error}", "не удаётся удалить `{shown}`: {error}"))
        }),
        None => Ok(()),
    }
}

/// Creates a directory for results, with its parents.
pub fn directory(path: &Path) -> Result<()> {
    let shown = path.display();
    let why = match Folder::open(path, true) {
        Ok(_) => return Ok(()),
        Err(Unusable::Io(error)) => stend_sys::regular::why(&error),
        Err(Unusable::ForeignLink(link)) => foreign_link(&link),
    };
    let Say { en, ru } = why;
    Err(Error::preflight(say!(
        "cannot create the directory `{shown}`: {en}",
        "не удаётся создать каталог `{shown}`: {ru}"
    ))
    .hint(say!("name a directory that you may write to", "укажите каталог, доступный вам на запись")))
}

fn foreign_link(link: &Path) -> Say {
    let link = link.display();
    say!(
        "`{link}` on the way there is a link of another user, in a directory where everybody can make one",
        "`{link}` на пути к нему — ссылка другого пользователя в каталоге, где её может создать любой"
    )
}

/// Whether this user may replace a file: our own; as root any file, but of those in a directory of everybody only ours
/// and those of the user behind `sudo`.
fn is_mine(found: &Stat, shared: bool) -> bool {
    let me = rustix::process::geteuid();
    let behind = Owner::behind_sudo().map(|owner| owner.uid);
    found.st_uid == me.as_raw() || behind == Some(found.st_uid) || me.is_root() && !shared
}

/// What a file holds.
enum Content {
    Empty,
    Ours,
    Database,
    Foreign,
}

fn looked_into(folder: &Folder, name: &OsStr) -> IoResult<Content> {
    let mut file = folder.read(name)?;
    let mut first = Vec::new();
    Read::by_ref(&mut file).take(DATABASE.len() as u64).read_to_end(&mut first)?;
    file.rewind()?;
    Ok(match first.as_slice() {
        [] => Content::Empty,
        first if first == DATABASE => Content::Database,
        _ if stend_report::is_ours(&mut file)? => Content::Ours,
        _ => Content::Foreign,
    })
}

fn named(kind: FileType) -> Say {
    match kind {
        FileType::Directory => say!("it is a directory", "это каталог"),
        FileType::BlockDevice => say!("it is a block device", "это блочное устройство"),
        FileType::CharacterDevice => say!("it is a character device", "это символьное устройство"),
        FileType::Fifo => say!("it is a named pipe", "это именованный канал"),
        FileType::Socket => say!("it is a socket", "это сокет"),
        _ => say!("it is no regular file", "это не обычный файл"),
    }
}

#[cfg(test)]
mod tests;
