//! Where a server shall listen, as the user writes it, and whether it has to encrypt there. Pure.

use std::net::SocketAddr;
use stend_base::{Error, Result, say};

/// An address, and whether TLS was asked for with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen {
    /// Address and port.
    pub address: SocketAddr,
    /// Whatever is sent there is encrypted.
    pub tls: bool,
}

/// Reads `ADDRESS:PORT`, with or without `http://` or `https://`. Addresses of other machines are always encrypted; on those of this machine
/// it is the user's choice.
///
/// Errors: `Usage` for what is none, and for plain HTTP on an address that other machines reach.
pub fn listen(text: &str, tls: bool) -> Result<Listen> {
    let (plain, rest) = match text.strip_prefix("http://") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (secure, rest) = match rest.strip_prefix("https://") {
        Some(rest) if !plain => (true, rest),
        _ => (false, rest),
    };
    let rest = if plain || secure { rest.strip_suffix('/').unwrap_or(rest) } else { rest };
    let address: SocketAddr = rest.parse().map_err(|_| no_address(text))?;
    if plain && !address.ip().to_canonical().is_loopback() {
        return Err(not_encrypted(address));
    }
    if plain && tls {
        return Err(Error::usage(say!("`{text}` and TLS exclude each other", "`{text}` и TLS исключают друг друга"))
            .hint(say!("write `https://{address}`", "напишите `https://{address}`")));
    }
    Ok(Listen { address, tls: tls || secure || !address.ip().to_canonical().is_loopback() })
}

fn no_address(text: &str) -> Box<Error> {
    let message = say!("`--listen {text}` is not an address with a port", "`--listen {text}` — не адрес с портом");
    Error::usage(message).hint(say!(
        "for example `--listen 127.0.0.1:8421`, or `--listen 0.0.0.0:8421` for other machines",
        "например `--listen 127.0.0.1:8421` или `--listen 0.0.0.0:8421` для других машин"
    ))
}

fn not_encrypted(address: SocketAddr) -> Box<Error> {
    Error::usage(say!(
        "`{address}` can be reached from other machines: without encryption tokens could be read on the way",
        "`{address}` доступен с других машин: без шифрования токены могут прочитать по пути"
    ))
    .hint(say!(
        "`--listen {address}` encrypts with a certificate of its own, `--certificate FILE --key FILE` with yours",
        "`--listen {address}` шифрует со своим сертификатом, `--certificate ФАЙЛ --key ФАЙЛ` — с вашим"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_other_machines_is_always_encrypted() {
        for (text, asked, tls) in [
            ("127.0.0.1:8421", false, false),
            ("127.0.0.1:8421", true, true),
            ("http://127.0.0.1:8421/", false, false),
            ("https://127.0.0.1:8421", false, true),
            ("[::1]:8421", false, false),
            ("0.0.0.0:8421", false, true),
            ("[::]:8421", false, true),
            ("192.0.2.7:8421", false, true),
            ("https://192.0.2.7:8421/", false, true),
            ("[::ffff:127.0.0.1]:1", false, false),
        ] {
            assert_eq!(listen(text, asked).unwrap().tls, tls, "{text}");
        }
        for text in ["http://0.0.0.0:8421", "http://192.0.2.7:80", "http://[::]:1"] {
            let error = listen(text, false).unwrap_err();
            assert!(error.message.en.contains("without encryption") && error.hint.is_some(), "{error}");
        }
        assert!(listen("http://127.0.0.1:1", true).is_err());
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "localhost",
            "127.0.0.1",
            "127.0.0.1:99999",
            "http://https://127.0.0.1:1",
            "ftp://127.0.0.1:1",
            "127.0.0.1:1/",
        ] {
            assert!(listen(text, false).is_err(), "{text}");
        }
    }
}
