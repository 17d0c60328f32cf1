//! Which certificate of a server is trusted: one that authorities of this machine vouch for, or one that the user pinned. A pinned one is the
//! server whatever its names and validity, as a host key of ssh is. Must not read files.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex, PoisonError};
use stend_base::{Code, Error, Fingerprint, Result, Say, say};

/// What a server has to prove itself with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// A certificate with this fingerprint.
    Fingerprint(Fingerprint),
    /// A certificate of this file in PEM, or one that an authority in it signed.
    Certificates {
        /// The file, as messages name it.
        file: String,
        /// What is in it.
        pem: Vec<u8>,
    },
    /// A certificate that an authority signed which this machine trusts: all of them in PEM.
    Authorities(Vec<u8>),
}

/// How a server is connected to, and what was thought of it.
#[derive(Clone)]
pub(crate) struct Tls {
    /// Settings of a connection.
    pub(crate) config: Arc<ClientConfig>,
    judge: Arc<Judge>,
}

/// Decides whether a certificate is trusted, and remembers the one that was not.
#[derive(Debug)]
struct Judge {
    trust: Trust,
    pinned: Vec<Fingerprint>,
    signed: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
    refused: Mutex<Option<(Fingerprint, rustls::Error)>>,
}

impl Tls {
    /// Connections that trust this and nothing else.
    ///
    /// Errors: `Usage` for a file without certificates.
    pub(crate) fn new(trust: Trust) -> Result<Tls> {
        let provider = Arc::new(ring::default_provider());
        let (pinned, roots) = match &trust {
            Trust::Fingerprint(fingerprint) => (vec![*fingerprint], Vec::new()),
            Trust::Certificates { file, pem } => {
                let found: Vec<_> = CertificateDer::pem_slice_iter(pem).flatten().collect();
                if found.is_empty() {
                    return Err(no_certificate(file));
                }
                (found.iter().map(|certificate| sum(certificate)).collect(), found)
            }
            Trust::Authorities(pem) => (Vec::new(), CertificateDer::pem_slice_iter(pem).flatten().collect()),
        };
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots);
        // Without authorities it cannot be built, and nothing is trusted but what is pinned.
        let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone()).build().ok();
        let judge = Judge { trust, pinned, signed, provider: provider.clone(), refused: Mutex::default() };
        let judge = Arc::new(judge);
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| Error::bug(Say::same(error.to_string())))?;
        let mut config = builder.dangerous().with_custom_certificate_verifier(judge.clone()).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { config: Arc::new(config), judge })
    }

    /// Why the last certificate was not trusted, in words; `None`: it was.
    pub(crate) fn refusal(&self, url: &str) -> Option<Box<Error>> {
        let (found, why) = self.judge.refused.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(match &self.judge.trust {
            Trust::Fingerprint(expected) => another(url, &expected.to_string(), found),
            Trust::Certificates { file, .. } if self.judge.pinned.len() == 1 => {
                let expected = format!("{} ({file})", self.judge.pinned[0]);
                another(url, &expected, found)
            }
            _ => untrusted(url, found, &reason(&why)),
        })
    }
}

impl ServerCertVerifier for Judge {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let found = sum(end_entity);
        if self.pinned.contains(&found) {
            return Ok(ServerCertVerified::assertion());
        }
        let verified = match &self.signed {
            Some(signed) => signed.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        };
        if let Err(error) = &verified {
            let refused = Some((found, error.clone()));
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = refused;
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn sum(certificate: &CertificateDer<'_>) -> Fingerprint {
    Fingerprint(Sha256::digest(certificate).into())
}

/// Why a certificate is not trusted, put behind a colon.
fn reason(error: &rustls::Error) -> Say {
    let rustls::Error::InvalidCertificate(why) = error else { return Say::same(error.to_string()) };
    match why {
        CertificateError::UnknownIssuer => {
            say!(
                "no authority that this machine trusts signed it",
                "его не подписал ни один центр, которому доверяет эта машина"
            )
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => say!("it has expired", "его срок истёк"),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            say!("it is not valid yet", "он ещё не действует")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            say!("it is for other names", "он для других имён")
        }
        other => Say::same(format!("{other:?}")),
    }
}

/// Something answers that is not the pinned server.
fn another(url: &str, expected: &str, found: Fingerprint) -> Box<Error> {
    Error::new(
        Code::ServerUntrusted,
        say!(
            "{url} has another certificate than the pinned one, so nothing was sent\n  pinned: {expected}\n  found:  {found}",
            "у {url} другой сертификат, не тот, что закреплён, поэтому ничего не отправлено\n  закреплён: {expected}\n  получен:   {found}"
        ),
    )
    .hint(say!(
        "if the server got a new certificate, its start has printed that fingerprint: compare and pin it; otherwise another machine answers in its place",
        "если сервер получил новый сертификат, он напечатал этот отпечаток при запуске: сверьте и закрепите его; иначе вместо сервера отвечает другая машина"
    ))
}

fn untrusted(url: &str, found: Fingerprint, Say { en, ru }: &Say) -> Box<Error> {
    Error::new(
        Code::ServerUntrusted,
        say!(
            "the certificate of {url} is not trusted, so nothing was sent: {en}\n  found: {found}",
            "сертификату {url} нет доверия, поэтому ничего не отправлено: {ru}\n  получен: {found}"
        ),
    )
    .hint(say!(
        "compare the fingerprint with what the start of the server printed; if it is the same: `--server-fingerprint {found}`",
        "сверьте отпечаток с тем, что сервер напечатал при запуске; если совпадает: `--server-fingerprint {found}`"
    ))
}

fn no_certificate(file: &str) -> Box<Error> {
    Error::usage(say!("`{file}` holds no certificate in PEM", "в `{file}` нет сертификата в PEM")).hint(say!(
        "`stend serve` names the file of its own certificate when it starts",
        "файл своего сертификата `stend serve` называет при запуске"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_refused_and_without_authorities_no_certificate_is_trusted() {
        let file = |pem: &str| Tls::new(Trust::Certificates { file: "pin.pem".into(), pem: pem.into() });
        for pem in ["", "-----BEGIN CERTIFICATE-----", "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"]
        {
            assert!(file(pem).err().unwrap().message.en.contains("pin.pem"));
        }
        let tls = Tls::new(Trust::Authorities(Vec::new())).unwrap();
        let name = ServerName::try_from("db1").unwrap();
        let refused = tls.judge.verify_server_cert(&CertificateDer::from(vec![0]), &[], &name, &[], UnixTime::now());
        assert!(refused.is_err());
        let error = tls.refusal("https://db1").unwrap();
        let found = sum(&CertificateDer::from(vec![0])).to_string();
        assert!(error.code == Code::ServerUntrusted && error.message.en.contains(&found), "{error}");
        assert!(tls.refusal("https://db1").is_none());
    }

    #[test]
    fn a_mismatch_names_both_fingerprints() {
        let pinned = Fingerprint([7; 32]);
        let tls = Tls::new(Trust::Fingerprint(pinned)).unwrap();
        let name = ServerName::try_from("db1").unwrap();
        let certificate = CertificateDer::from(vec![1]);
        assert!(tls.judge.verify_server_cert(&certificate, &[], &name, &[], UnixTime::now()).is_err());
        let error = tls.refusal("https://db1").unwrap();
        for fingerprint in [pinned, sum(&certificate)] {
            assert!(error.message.en.contains(&fingerprint.to_string()), "{error}");
        }
        assert!(error.hint.is_some());
    }
}
