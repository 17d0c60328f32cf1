//! The server's own certificate: made where there is none, kept with its key in one file that its owner alone can read, so that no crash
//! leaves one without the other. Must not replace one that is still valid unless the user asks for that.

use super::certificate::Certificate;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, date_time_ymd};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, Say, calendar, say};
use stend_record::store::{self, Owner};

/// Key and certificate.
pub const FILE: &str = "tls.pem";
/// The certificate alone, for clients.
pub const PUBLIC: &str = "certificate.pem";
/// Validity. Devices of Apple take no certificate that is valid for longer (support.apple.com/103769), and each new one has to be compared
/// again by everybody who uses it.
const DAYS: i64 = 825;
const DAY: i64 = 86_400;

/// What is kept, and whether it was made now.
pub struct Own {
    /// The certificate.
    pub certificate: Certificate,
    /// The file that clients may have.
    pub public: PathBuf,
    /// It takes the place of one that clients may know.
    pub is_another: bool,
}

/// The certificate of a directory; made for these names if there is none, if it has expired, or if another shall take its place.
///
/// Errors: `Preflight` if it cannot be read, made or kept.
pub fn load_or_make(directory: &Path, names: &[String], renew: bool, now_unix: i64) -> Result<Own> {
    let (file, public) = (directory.join(FILE), directory.join(PUBLIC));
    let is_there = file.symlink_metadata().is_ok();
    if is_there && !renew {
        let text = stend_sys::regular::text(&file, 1 << 20).map_err(|why| unreadable(&file, &why))?;
        let certificate =
            Certificate::of(text.as_bytes(), text.as_bytes()).map_err(|(_, why)| unreadable(&file, &why))?;
        if now_unix <= certificate.facts.ends_unix {
            show(directory, &text).map_err(|error| unkept(&public, &error))?;
            return Ok(Own { certificate, public, is_another: false });
        }
    }
    store::make_server_directory(directory)?;
    let text = made(names, now_unix).map_err(|error| unkept(&file, &io::Error::other(error)))?;
    keep(directory, FILE, 0o600, &text).map_err(|error| unkept(&file, &error))?;
    show(directory, &text).map_err(|error| unkept(&public, &error))?;
    let certificate = Certificate::of(text.as_bytes(), text.as_bytes());
    let certificate = certificate.map_err(|(_, why)| Error::bug(why))?;
    Ok(Own { certificate, public, is_another: is_there })
}

/// Key and certificate in PEM.
fn made(names: &[String], now_unix: i64) -> std::result::Result<String, rcgen::Error> {
    let mut parameters = CertificateParams::new(names)?;
    let at = |days: i64| {
        let [year, month, day] = calendar::date(days);
        date_time_ymd(year as i32, month as u8, day as u8)
    };
    // From yesterday on: clocks of others may be behind.
    let today = now_unix.div_euclid(DAY);
    (parameters.not_before, parameters.not_after) = (at(today - 1), at(today - 1 + DAYS));
    let host = names.first().map_or("", String::as_str);
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, format!("Stend on {host}"));
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?;
    Ok(format!("{}{}", key.serialize_pem(), certificate.pem()))
}

/// Writes the certificate without its key beside it, if that is not there.
fn show(directory: &Path, text: &str) -> io::Result<()> {
    let begin = text.find("-----BEGIN CERTIFICATE-----").unwrap_or(text.len());
    let public = &text[begin..];
    let known = stend_sys::regular::text(directory.join(PUBLIC), 1 << 20);
    if known.is_ok_and(|known| known == public) { Ok(()) } else { keep(directory, PUBLIC, 0o644, public) }
}

/// Whole or not at all.
fn keep(directory: &Path, name: &str, mode: u32, text: &str) -> io::Result<()> {
    let new = directory.join(format!("{name}.{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&new)?;
    let written = (|| {
        file.write_all(text.as_bytes())?;
        Owner::of_nearest(directory)?.map_or(Ok(()), |owner| owner.take_file(&file))?;
        file.sync_all()?;
        std::fs::rename(&new, directory.join(name))?;
        File::open(directory)?.sync_all()
    })();
    if written.is_err() {
        // Nothing is lost with it.
        drop(std::fs::remove_file(&new));
    }
    written
}

fn unreadable(file: &Path, Say { en, ru }: &Say) -> Box<Error> {
    let shown = file.display();
    Error::preflight(say!(
        "cannot read the server's certificate `{shown}`: {en}",
        "не удаётся прочитать сертификат сервера `{shown}`: {ru}"
    ))
    .hint(say!("`stend serve --new-certificate` makes another", "`stend serve --new-certificate` сделает новый"))
}

fn unkept(file: &Path, error: &io::Error) -> Box<Error> {
    let (shown, Say { en, ru }) = (file.display(), stend_sys::regular::why(error));
    Error::preflight(say!(
        "cannot keep the server's certificate in `{shown}`: {en}",
        "не удаётся сохранить сертификат сервера в `{shown}`: {ru}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const NOW: i64 = 1_795_910_400;

    fn names() -> Vec<String> {
        ["db1", "192.0.2.7", "localhost"].map(String::from).to_vec()
    }

    #[test]
    fn one_is_made_once_and_kept_for_its_owner_alone_until_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("server");
        let made = |renew, now| load_or_make(&directory, &names(), renew, now).unwrap();
        let first = made(false, NOW);
        assert_eq!(first.certificate.facts.names, names());
        assert!(first.certificate.is_valid_at(NOW).is_ok() && !first.is_another);
        let mode = |name: &str| std::fs::metadata(directory.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(FILE), 0o600);
        let public = std::fs::read_to_string(&first.public).unwrap();
        assert!(public.starts_with("-----BEGIN CERTIFICATE") && !public.contains("PRIVATE"), "{public}");
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 2, "nothing half made stays");
        std::fs::remove_file(&first.public).unwrap();
        let fingerprint = |own: &Own| own.certificate.fingerprint;
        assert_eq!(fingerprint(&made(false, NOW + 824 * DAY - 1)), fingerprint(&first));
        assert_eq!(std::fs::read_to_string(&first.public).unwrap(), public);
        let renewed = made(true, NOW);
        assert!(renewed.is_another && fingerprint(&renewed) != fingerprint(&first));
        let later = made(false, NOW + DAYS * DAY);
        assert!(later.is_another && fingerprint(&later) != fingerprint(&renewed), "the old one has expired");
    }

    #[test]
    fn a_damaged_one_is_named_and_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), "-----BEGIN").unwrap();
        let error = load_or_make(dir.path(), &names(), false, NOW).err().unwrap();
        assert!(error.message.en.contains(FILE) && error.hint.is_some(), "{error}");
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), "-----BEGIN");
        assert!(load_or_make(dir.path(), &names(), true, NOW).is_ok());
    }
}
