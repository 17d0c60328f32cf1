//! How a server of another machine is found and trusted: its name, authorities of this machine, or what the user pinned. Must not ask it.

use clap::ArgMatches;
use std::net::IpAddr;
use std::time::Duration;
use stend_base::{Code, Error, Fingerprint, Result, Say, say};
use stend_client::{Address, Trust};

/// The variable with the fingerprint of the server's certificate.
const FINGERPRINT: &str = "STEND_SERVER_FINGERPRINT";
/// The variable that names a file with the server's certificate, or with that of its authority.
const CERTIFICATE: &str = "STEND_SERVER_CERTIFICATE";
/// Where distributions keep the authorities that a machine trusts: Debian, Fedora, SUSE, Alpine.
const AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// Largest file of certificates that is read: distributions have a quarter of a MiB.
const CERTIFICATES_MAX: u64 = 8 << 20;
/// How long looking up a name may take: as long as resolvers try by default.
const LOOKUP_TIME: Duration = Duration::from_secs(15);
const LOOKUP_MAX: usize = 64 << 10;

/// What the server at this address has to prove itself with.
///
/// Errors: `Usage` for a pin that is none, for two of them, and for one where nothing is encrypted; `FileUnreadable`.
pub fn trust(arguments: &ArgMatches, address: &Address) -> Result<Trust> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let flag = arguments.get_one::<String>("server-fingerprint").cloned();
    let fingerprint = flag.clone().or_else(|| variable(FINGERPRINT));
    let file = if flag.is_some() { None } else { variable(CERTIFICATE) };
    if !address.tls && (fingerprint.is_some() || file.is_some()) {
        return Err(nothing_to_prove(&address.url));
    }
    match (fingerprint, file) {
        (Some(_), Some(_)) => Err(two_pins()),
        (Some(text), None) => Fingerprint::parse(&text).map(Trust::Fingerprint).ok_or_else(|| no_fingerprint(&text)),
        (None, Some(file)) => Ok(Trust::Certificates { pem: read(&file)?, file }),
        (None, None) if address.tls => authorities().map(Trust::Authorities),
        (None, None) => Ok(Trust::Authorities(Vec::new())),
    }
}

/// The same address with the machine found.
///
/// Errors: `ServerUnreachable` for a name that no machine has.
pub fn found(address: Address) -> Result<Address> {
    let Some(name) = address.name() else { return Ok(address) };
    // The system's own resolver, whatever it is set up with: a static program cannot load its parts.
    let words = ["getent", "ahosts", name].map(String::from);
    let answer = stend_stand::ask_within(&words, LOOKUP_TIME, LOOKUP_MAX, &|| false);
    let answer = answer.map_err(|error| unknown(&address.url, &Say::same(format!("getent: {error}"))))?;
    let addresses = addresses(&answer.out);
    if addresses.is_empty() {
        let name = name.to_string();
        return Err(unknown(&address.url, &say!("no machine is called `{name}`", "машины с именем `{name}` нет")));
    }
    Ok(address.at(&addresses))
}

/// The addresses of an answer, each once, in its order.
fn addresses(text: &str) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for address in text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()) {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

/// The authorities that this machine trusts; none: only what is pinned is trusted.
fn authorities() -> Result<Vec<u8>> {
    if let Some(file) = std::env::var("SSL_CERT_FILE").ok().filter(|file| !file.is_empty()) {
        return read(&file);
    }
    AUTHORITIES.iter().find(|file| std::path::Path::new(file).exists()).map_or(Ok(Vec::new()), |file| read(file))
}

fn read(file: &str) -> Result<Vec<u8>> {
    stend_sys::regular::bytes(file, CERTIFICATES_MAX).map_err(|Say { en, ru }| {
        Error::new(
            Code::FileUnreadable,
            say!(
                "cannot read the certificates in `{file}`: {en}",
                "не удаётся прочитать сертификаты из `{file}`: {ru}"
            ),
        )
    })
}

fn unknown(url: &str, Say { en, ru }: &Say) -> Box<Error> {
    Error::new(Code::ServerUnreachable, say!("the server {url} is not found: {en}", "сервер {url} не найден: {ru}"))
}

fn no_fingerprint(text: &str) -> Box<Error> {
    Error::usage(say!("`{text}` is not the fingerprint of a certificate", "`{text}` — не отпечаток сертификата")).hint(
        say!(
            "`stend serve` prints it when it starts: `sha256:` and 64 hexadecimal digits",
            "его печатает `stend serve` при запуске: `sha256:` и 64 шестнадцатеричные цифры"
        ),
    )
}

fn two_pins() -> Box<Error> {
    Error::usage(say!(
        "{FINGERPRINT} and {CERTIFICATE} are both set, and one of them is enough",
        "заданы и {FINGERPRINT}, и {CERTIFICATE}, а нужно что-то одно"
    ))
    .hint(say!("unset one of them", "уберите одну из переменных"))
}

fn nothing_to_prove(url: &str) -> Box<Error> {
    Error::usage(say!(
        "a certificate is pinned, and `{url}` does not encrypt",
        "закреплён сертификат, а `{url}` не шифрует"
    ))
    .hint(say!(
        "use `https://`, or leave out `--server-fingerprint`, {FINGERPRINT} and {CERTIFICATE}",
        "используйте `https://` или уберите `--server-fingerprint`, {FINGERPRINT} и {CERTIFICATE}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_resolver_in_its_order() {
        let text = "2001:db8::7     STREAM db1\n2001:db8::7     DGRAM  \n192.0.2.7       STREAM \nrubbish\n\n";
        assert_eq!(addresses(text), ["2001:db8::7".parse::<IpAddr>().unwrap(), "192.0.2.7".parse().unwrap()]);
    }

    #[test]
    fn a_name_is_looked_up_and_an_unknown_one_is_named() {
        let error = found(Address::parse("https://no-such-machine.invalid").unwrap()).unwrap_err();
        assert!(error.code == Code::ServerUnreachable && error.message.en.contains("no-such-machine"), "{error}");
        assert!(found(Address::parse("https://192.0.2.7").unwrap()).is_ok());
    }
}
