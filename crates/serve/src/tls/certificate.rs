//! A certificate with its key: read from PEM, and refused with file and reason if it could not serve. Must not choose where it lies.

use super::x509::{self, Facts};
use rustls::client::verify_server_name;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{Error as TlsError, InconsistentKeys};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use stend_base::{Error, Fingerprint, Result, Say, format, say};

/// Longest file of a certificate with its chain, or of a key, that is read.
const FILE_MAX: u64 = 1 << 20;

/// What a server proves itself with.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The chain and the key.
    pub certified: Arc<CertifiedKey>,
    /// SHA-256 of the first certificate of the chain.
    pub fingerprint: Fingerprint,
    /// Validity and names.
    pub facts: Facts,
}

impl Certificate {
    /// Reads a chain and its key.
    ///
    /// Errors: `Preflight`, with file and reason, for what cannot be read, does not fit together, or is not valid now.
    pub fn read(certificate: &Path, key: &Path, now_unix: i64) -> Result<Certificate> {
        let (chain, secret) = (bytes(certificate)?, bytes(key)?);
        let found = Certificate::of(&chain, &secret)
            .map_err(|(is_key, why)| refused(if is_key { key } else { certificate }, &why))?;
        found.is_valid_at(now_unix).map_err(|why| refused(certificate, &why))?;
        Ok(found)
    }

    /// A chain and its key in PEM; the error has whether it is about the key.
    pub fn of(chain: &[u8], key: &[u8]) -> std::result::Result<Certificate, (bool, Say)> {
        let parsed: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = parsed.map_err(|_| (false, say!("it is damaged PEM", "это повреждённый PEM")))?;
        let first = chain.first().cloned().ok_or((false, no_certificate()))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| (true, no_key()))?;
        let facts =
            x509::facts(&first).ok_or((false, say!("it holds no X.509 certificate", "в нём нет сертификата X.509")))?;
        if facts.names.is_empty() {
            return Err((false, no_names()));
        }
        let certified = CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|error| match error {
            TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                (true, say!("it is not the key of the certificate", "это ключ не от этого сертификата"))
            }
            TlsError::InvalidCertificate(_) => (false, Say::same(error.to_string())),
            other => (true, Say::same(other.to_string())),
        })?;
        let fingerprint = Fingerprint(Sha256::digest(&first).into());
        Ok(Certificate { certified: Arc::new(certified), fingerprint, facts })
    }

    /// Whether it is valid at a time.
    pub fn is_valid_at(&self, now_unix: i64) -> std::result::Result<(), Say> {
        let Facts { begins_unix, ends_unix, .. } = self.facts;
        if now_unix > ends_unix {
            let ended = format::utc(ends_unix);
            return Err(say!("it expired on {ended}", "его срок истёк {ended}"));
        }
        if now_unix < begins_unix {
            let begins = format::utc(begins_unix);
            return Err(say!("it is valid from {begins} on", "он действует с {begins}"));
        }
        Ok(())
    }

    /// Whether it was made for this name or address; patterns such as `*.example.org` count as clients count them.
    pub fn has_name(&self, name: &str) -> bool {
        let Ok(name) = ServerName::try_from(name) else { return false };
        let first = self.certified.end_entity_cert().and_then(ParsedCertificate::try_from);
        first.is_ok_and(|first| verify_server_name(&first, &name).is_ok())
    }
}

fn bytes(file: &Path) -> Result<Vec<u8>> {
    let bytes = stend_sys::regular::bytes(file, FILE_MAX).map_err(|why| refused(file, &why))?;
    match bytes.len() as u64 > FILE_MAX {
        true => Err(refused(file, &say!("it is larger than 1 MiB", "он больше 1 МиБ"))),
        false => Ok(bytes),
    }
}

fn refused(file: &Path, Say { en, ru }: &Say) -> Box<Error> {
    let shown = file.display();
    Error::preflight(say!("cannot use `{shown}` for TLS: {en}", "`{shown}` не годится для TLS: {ru}"))
}

fn no_certificate() -> Say {
    say!("it holds no certificate in PEM", "в нём нет сертификата в PEM")
}

fn no_key() -> Say {
    say!("it holds no private key in PEM without a password", "в нём нет закрытого ключа в PEM без пароля")
}

fn no_names() -> Say {
    say!(
        "it has no names (`subjectAltName`), and clients look at nothing else",
        "в нём нет имён (`subjectAltName`), а клиенты смотрят только на них"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PEM of a certificate and of its key.
    fn made(names: &[&str], days: std::ops::Range<i64>) -> (String, String) {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let mut parameters = rcgen::CertificateParams::new(names).unwrap();
        let at = |days| {
            let [year, month, day] = stend_base::calendar::date(days);
            rcgen::date_time_ymd(year as i32, month as u8, day as u8)
        };
        (parameters.not_before, parameters.not_after) = (at(days.start), at(days.end));
        let key = rcgen::KeyPair::generate().unwrap();
        (parameters.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    #[test]
    fn a_pair_that_cannot_serve_is_refused_with_file_and_reason() {
        let dir = tempfile::tempdir().unwrap();
        let (certificate, key) = made(&["db1"], 10..20);
        let (no_name, other) = made(&[], 10..20);
        let [crt, pem] = ["a.crt", "a.key"].map(|name| dir.path().join(name));
        let read = |chain: &str, secret: &str, day: i64| {
            std::fs::write(&crt, chain).unwrap();
            std::fs::write(&pem, secret).unwrap();
            Certificate::read(&crt, &pem, day * 86_400)
        };
        assert_eq!(read(&certificate, &key, 15).unwrap().facts.names, ["db1"]);
        let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
        for (chain, secret, day, named) in [
            (&*certificate, &*other, 15, "a.key` for TLS: it is not the key"),
            (&certificate, &key, 21, "a.crt` for TLS: it expired on 1970-01-21"),
            (&certificate, &key, 9, "a.crt` for TLS: it is valid from 1970-01-11"),
            (&no_name, &other, 15, "a.crt` for TLS: it has no names"),
            ("", &key, 15, "a.crt` for TLS: it holds no certificate"),
            (&certificate, "", 15, "a.key` for TLS: it holds no private key"),
            (&certificate, &encrypted, 15, "a.key` for TLS: it holds no private key"),
            (&certificate[..200], &key, 15, "a.crt` for TLS: it"),
        ] {
            let error = read(chain, secret, day).unwrap_err();
            assert!(error.message.en.contains(named), "{error}");
        }
        let absent = Certificate::read(&dir.path().join("absent"), &pem, 0).unwrap_err();
        assert!(absent.message.en.contains("absent` for TLS: there is no such file"), "{absent}");
    }

    #[test]
    fn a_certificate_is_for_its_names_alone() {
        let (certificate, key) = made(&["db1.example.org", "*.lab.example", "192.0.2.7", "2001:db8::7"], 0..20_000);
        let certificate = Certificate::of(certificate.as_bytes(), key.as_bytes()).unwrap();
        for name in ["db1.example.org", "DB1.Example.ORG", "a.lab.example", "192.0.2.7", "2001:db8::7"] {
            assert!(certificate.has_name(name), "{name}");
        }
        for name in ["", "db1", "lab.example", "a.b.lab.example", "192.0.2.8", "::", "db1.example.org.evil.net", "a b"]
        {
            assert!(!certificate.has_name(name), "{name}");
        }
    }
}
