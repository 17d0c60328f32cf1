//! TLS of the server: which certificate it has now, taken anew when its files change, and what is wrong with it. Must not know of requests.

pub mod certificate;
pub mod own;
mod x509;

use certificate::Certificate;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use stend_base::{Error, Result, Say, format, say};

use crate::clock::now_unix;

/// How often the files of a certificate are looked at: soon enough for everybody who renews one, and two calls of the kernel.
const EVERY: Duration = Duration::from_secs(2);
/// How long before its end a certificate is warned of. Those that are renewed by a program are so 30 days before.
const SOON: i64 = 14 * 86_400;

/// The files of a certificate that the user gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The chain in PEM, the server's certificate first.
    pub certificate: PathBuf,
    /// Its key in PEM.
    pub key: PathBuf,
}

/// The certificate of a server that runs.
#[derive(Debug)]
pub struct Tls {
    files: Option<Files>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    now: Arc<Certificate>,
    /// What the files looked like when they were read last.
    seen: Seen,
    /// Why what is in the files now was not taken.
    refused: Option<Say>,
}

/// When the content of each file changed, and when anything of it; which one it is, and its length.
type Seen = [Option<(SystemTime, (i64, i64), u64, u64)>; 2];

impl Tls {
    /// Serves with the certificate in these files.
    ///
    /// Errors: those of [`Certificate::read`].
    pub fn of_files(files: Files) -> Result<Tls> {
        // Looked at before they are read: what changes meanwhile is read once more.
        let seen = seen(&files);
        let now = Certificate::read(&files.certificate, &files.key, now_unix())?;
        Ok(Tls { files: Some(files), state: Mutex::new(State { now: Arc::new(now), seen, refused: None }) })
    }

    /// Serves with the server's own certificate.
    pub fn own(certificate: Certificate) -> Tls {
        let state = State { now: Arc::new(certificate), seen: [None, None], refused: None };
        Tls { files: None, state: Mutex::new(state) }
    }

    /// Whether the server made it itself.
    pub fn is_own(&self) -> bool {
        self.files.is_none()
    }

    /// The certificate of new connections.
    pub fn now(&self) -> Arc<Certificate> {
        self.state().now.clone()
    }

    /// What an admin should do something about now.
    pub fn warning_now(&self) -> Option<Say> {
        self.warning(now_unix())
    }

    fn warning(&self, now_unix: i64) -> Option<Say> {
        let state = self.state();
        let ends_unix = state.now.facts.ends_unix;
        let refused = state.refused.as_ref().map(|Say { en, ru }| {
            say!("the new certificate is not used: {en}", "новый сертификат не используется: {ru}")
        });
        let ends = format::utc(ends_unix);
        let ended = match ends_unix - now_unix {
            ..0 => Some(say!("the certificate expired on {ends}", "срок сертификата истёк {ends}")),
            0..SOON => Some(say!("the certificate ends on {ends}", "сертификат действует до {ends}")),
            _ => None,
        };
        match (ended, refused) {
            (Some(Say { en, ru }), Some(Say { en: why, ru: why_ru })) => Some(say!("{en}; {why}", "{ru}; {why_ru}")),
            (ended, refused) => ended.or(refused),
        }
    }

    /// Begins to look whether its files change. A pair that cannot serve leaves the old one in use.
    ///
    /// Errors: `Preflight` if there is no thread for it.
    pub fn watch(self: &Arc<Self>) -> Result<()> {
        let Some(files) = self.files.clone() else { return Ok(()) };
        let tls = self.clone();
        let look = move || {
            loop {
                std::thread::sleep(EVERY);
                tls.look(&files, now_unix());
            }
        };
        let begun = std::thread::Builder::new().name("certificate".into()).spawn(look);
        begun.map(drop).map_err(|error| {
            Error::preflight(say!("the server cannot begin: {error}", "сервер не может начать: {error}"))
        })
    }

    fn look(&self, files: &Files, now_unix: i64) {
        let found = seen(files);
        {
            let state = self.state();
            // What was refused may be fine by now without a change: its time has begun, or a directory above became readable.
            if state.seen == found && state.refused.is_none() {
                return;
            }
        }
        let read = Certificate::read(&files.certificate, &files.key, now_unix);
        let mut state = self.state();
        state.seen = found;
        match read {
            Ok(certificate) => (state.now, state.refused) = (Arc::new(certificate), None),
            Err(error) => state.refused = Some(error.message),
        }
    }

    /// How connections are encrypted: TLS 1.2 and 1.3, HTTP/1.1 alone.
    ///
    /// Errors: a bug.
    pub fn config(self: &Arc<Self>) -> Result<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| Error::bug(Say::same(error.to_string())))?;
        let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::new(Resolver(self.clone())));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The certificate that is used now, whatever name is asked for.
#[derive(Debug)]
struct Resolver(Arc<Tls>);

impl ResolvesServerCert for Resolver {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.now().certified.clone())
    }
}

/// When both files changed last, and which ones they are. Programs that renew certificates put another file or link in place of the old.
fn seen(files: &Files) -> Seen {
    use std::os::unix::fs::MetadataExt;
    let of = |file: &Path| {
        let found = std::fs::metadata(file).ok()?;
        Some((found.modified().ok()?, (found.ctime(), found.ctime_nsec()), found.ino(), found.len()))
    };
    [of(&files.certificate), of(&files.key)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, ends: (i32, u8, u8)) -> (String, String) {
        let mut parameters = rcgen::CertificateParams::new(vec![name.to_string()]).unwrap();
        parameters.not_before = rcgen::date_time_ymd(2000, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(ends.0, ends.1, ends.2);
        let key = rcgen::KeyPair::generate().unwrap();
        (parameters.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    #[test]
    fn a_renewed_pair_is_taken_and_half_of_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files { certificate: dir.path().join("crt"), key: dir.path().join("key") };
        let (old, new) = (pair("old", (2999, 1, 1)), pair("new", (2999, 1, 1)));
        std::fs::write(&files.certificate, &old.0).unwrap();
        std::fs::write(&files.key, &old.1).unwrap();
        let tls = Tls::of_files(files.clone()).unwrap();
        let name = || tls.now().facts.names.join(" ");
        let look = || tls.look(&files, now_unix());
        look();
        assert_eq!((name().as_str(), tls.warning(now_unix())), ("old", None));
        let put = |file: &Path, text: &str| {
            std::fs::write(dir.path().join("next"), text).unwrap();
            std::fs::rename(dir.path().join("next"), file).unwrap();
        };
        put(&files.certificate, &new.0);
        look();
        let warning = tls.warning(now_unix()).unwrap();
        assert!(name() == "old" && warning.en.contains("not the key"), "{warning:?}");
        put(&files.key, &new.1);
        look();
        assert_eq!((name().as_str(), tls.warning(now_unix())), ("new", None));
        std::fs::remove_file(&files.key).unwrap();
        look();
        assert!(name() == "new" && tls.warning(now_unix()).is_some());
    }

    #[test]
    fn a_pair_that_was_refused_is_looked_at_again_and_the_end_of_the_old_one_is_still_warned_of() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files { certificate: dir.path().join("crt"), key: dir.path().join("key") };
        let put = |(certificate, key): &(String, String)| {
            std::fs::write(&files.certificate, certificate).unwrap();
            std::fs::write(&files.key, key).unwrap();
        };
        put(&pair("old", (2999, 1, 1)));
        let tls = Tls::of_files(files.clone()).unwrap();
        let name = || tls.now().facts.names.join(" ");
        let new = pair("new", (2999, 1, 1));
        put(&new);
        // It begins with the year 2000.
        let begins = 946_684_800;
        tls.look(&files, begins - 1);
        assert!(name() == "old" && tls.warning(begins).is_some_and(|warning| warning.en.contains("is not used")));
        let end = tls.now().facts.ends_unix;
        let warning = tls.warning(end + 1).unwrap().en;
        assert!(warning.contains("expired on") && warning.contains("is not used"), "{warning}");
        tls.look(&files, begins + 1);
        assert_eq!((name().as_str(), tls.warning(begins)), ("new", None));
    }

    #[test]
    fn an_end_within_two_weeks_is_warned_of() {
        let (certificate, key) = pair("db1", (2030, 1, 15));
        let tls = Tls::own(Certificate::of(certificate.as_bytes(), key.as_bytes()).unwrap());
        let end = tls.now().facts.ends_unix;
        assert_eq!(tls.warning(end - SOON), None);
        assert!(tls.warning(end - SOON + 1).is_some_and(|warning| warning.en.contains("ends on 2030-01-15")));
        assert!(tls.warning(end + 1).is_some_and(|warning| warning.en.contains("expired")));
    }
}
