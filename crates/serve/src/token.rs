//! The token of the server: made once, given to the user, and kept only as a hash. Must not know who asks with it.
//!
//! It is 256 random bits, so that its hash needs no slow function: there are no words to try.

use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use stend_base::{Error, Result, Say, say};
use stend_record::store::{self, Owner};

/// SHA-256 of a token or of the cookie of a session.
pub type Hash = [u8; 32];

/// The file of the hash.
const FILE: &str = "token.sha256";
/// What tokens begin with, so that people and scanners for secrets know what they see.
const PREFIX: &str = "stend_";
/// The same for codes of links.
const CODE: &str = "once_";

/// The hash of what was sent.
pub fn hash(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

/// A tag that tells two answers apart: 128 bits of their hash.
pub fn tag(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes)[..16])
}

/// 256 random bits as text.
///
/// Errors: those of reading the kernel's source of them.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hexadecimal(&bytes))
}

/// A new token.
///
/// Errors: those of [`secret`].
pub fn new_token() -> io::Result<String> {
    Ok(format!("{PREFIX}{}", secret()?))
}

/// A new code of a link to sign in, which is none of the tokens.
///
/// Errors: those of [`secret`].
pub fn new_code() -> io::Result<String> {
    Ok(format!("{CODE}{}", secret()?))
}

/// Whether what was sent is meant as such a code.
pub fn is_code(text: &str) -> bool {
    text.starts_with(CODE)
}

/// A token that was drawn and is not kept yet.
pub struct Drawn(String);

/// The hash that is kept in a directory; without one, or if it shall be renewed, that of a new token, which is kept later.
///
/// Errors: kind `Preflight` if it cannot be read, or without random numbers.
pub fn load_or_draw(directory: &Path, renew: bool) -> Result<(Hash, Option<Drawn>)> {
    let file = directory.join(FILE);
    if !renew && file.symlink_metadata().is_ok() {
        return Ok((read(&file)?, None));
    }
    let token = new_token().map_err(|error| unkept(directory, &error))?;
    Ok((hash(&token), Some(Drawn(token))))
}

impl Drawn {
    /// Keeps its hash, in the place of an older one, and hands the token over to be shown. To be done last: what fails behind it takes a token
    /// away that people have, for one that they never saw.
    ///
    /// Errors: kind `Preflight` if it cannot be kept.
    pub fn keep(self, directory: &Path) -> Result<String> {
        store::make_server_directory(directory)?;
        keep(directory, &hexadecimal(&hash(&self.0))).map_err(|error| unkept(directory, &error))?;
        Ok(self.0)
    }
}

fn unkept(directory: &Path, error: &io::Error) -> Box<Error> {
    let file = directory.join(FILE);
    let (shown, Say { en, ru }) = (file.display(), stend_sys::regular::why(error));
    Error::preflight(say!("cannot keep the token in `{shown}`: {en}", "не удаётся сохранить токен в `{shown}`: {ru}"))
}

/// Whole or not at all; nobody else may read it.
fn keep(directory: &Path, text: &str) -> io::Result<()> {
    let new = directory.join(format!("{FILE}.{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    let written = (|| {
        writeln!(file, "{text}")?;
        Owner::of_nearest(directory)?.map_or(Ok(()), |owner| owner.take_file(&file))?;
        file.sync_all()?;
        std::fs::rename(&new, directory.join(FILE))
    })();
    if written.is_err() {
        // Nothing is lost with it.
        drop(std::fs::remove_file(&new));
    }
    written
}

fn read(file: &Path) -> Result<Hash> {
    let shown = file.display();
    let unreadable = |Say { en, ru }: Say| {
        Error::preflight(say!(
            "cannot read the hash of the token `{shown}`: {en}",
            "не удаётся прочитать хеш токена `{shown}`: {ru}"
        ))
        .hint(say!("`stend serve --new-token` makes another", "`stend serve --new-token` сделает новый"))
    };
    let text = stend_sys::regular::text(file, 1024).map_err(unreadable)?;
    let digits = text.trim();
    let byte = |at: usize| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
    let hash = bytes.filter(|_| digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let hash = hash.and_then(|bytes| Hash::try_from(bytes).ok());
    hash.ok_or_else(|| unreadable(say!("it holds no hash", "в нём нет хеша")))
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_given_once_and_only_its_hash_is_kept_for_the_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("server");
        let made = |renew: bool| {
            let (hash, drawn) = load_or_draw(&directory, renew).unwrap();
            (hash, drawn.map(|drawn| drawn.keep(&directory).unwrap()))
        };
        let (first, token) = made(false);
        let token = token.unwrap();
        assert!(token.len() == 70 && hash(&token) == first, "{token}");
        let file = directory.join(FILE);
        let kept = std::fs::read_to_string(&file).unwrap();
        assert!(!kept.contains(token.trim_start_matches(PREFIX)));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(made(false), (first, None));
        let (second, renewed) = made(true);
        assert!(second != first && renewed.is_some_and(|renewed| hash(&renewed) == second));
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "nothing half made stays");
    }

    #[test]
    fn what_root_makes_of_a_server_belongs_to_the_owner_of_its_directory() {
        use std::os::unix::fs::{MetadataExt, chown};
        let test = "what_root_makes_of_a_server_belongs_to_the_owner_of_its_directory";
        if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{test} needs root");
            eprintln!("skipped: {test} needs root");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        chown(dir.path(), Some(12_345), Some(54_321)).unwrap();
        let server = dir.path().join("server");
        load_or_draw(&server, true).unwrap().1.unwrap().keep(&server).unwrap();
        drop(crate::database::open(&server.join("x.db"), "CREATE TABLE x (y INTEGER) STRICT").unwrap());
        // One that is there keeps its owner.
        std::fs::write(server.join("old.db"), "").unwrap();
        drop(crate::database::open(&server.join("old.db"), "CREATE TABLE x (y INTEGER) STRICT").unwrap());
        let owner = |name: &str| std::fs::metadata(server.join(name)).unwrap().uid();
        assert_eq!(["", FILE, "x.db", "old.db"].map(owner), [12_345, 12_345, 12_345, 0]);
    }

    #[test]
    fn a_file_that_holds_no_hash_lets_nobody_in_and_is_named() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "x", &"zz".repeat(32), &"ab".repeat(31), &"+1".repeat(32), &"ж".repeat(32)] {
            std::fs::write(dir.path().join(FILE), text).unwrap();
            let error = load_or_draw(dir.path(), false).err().unwrap();
            assert!(error.message.en.contains(FILE) && error.hint.is_some(), "{text}: {error}");
        }
    }
}
