//! The address of a server as users write it. Pure: a name is looked up by the caller.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use stend_base::{Error, Result, say};

/// The ports of `http://` and `https://` without one.
const PORT: u16 = 80;
const TLS_PORT: u16 = 443;

/// Where a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// As messages name it: `http://127.0.0.1:8421`.
    pub url: String,
    /// Whether it is asked over TLS.
    pub tls: bool,
    /// Name or address of the machine, without brackets.
    pub host: String,
    /// Host and port, as a request names them.
    pub(crate) authority: String,
    /// What is tried, in this order; empty: the host is a name that has to be looked up.
    pub(crate) sockets: Vec<SocketAddr>,
    port: u16,
}

impl Address {
    /// Reads `https://HOST:PORT`, or `http://HOST:PORT` of this machine.
    ///
    /// Errors: `Usage` for what is none, and for another machine without TLS.
    pub fn parse(text: &str) -> Result<Address> {
        let (tls, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            _ => return Err(no_address(text)),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.is_empty() || authority.contains(['/', '?', '#', '@', '\\']) {
            return Err(no_address(text));
        }
        let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some((host, port)) => (host, port.parse().ok().filter(|port| *port != 0).ok_or_else(|| no_address(text))?),
            None => (authority, if tls { TLS_PORT } else { PORT }),
        };
        let addresses = addresses(host).ok_or_else(|| no_address(text))?;
        // A name could lead anywhere.
        if !tls && (addresses.is_empty() || !addresses.iter().all(IpAddr::is_loopback)) {
            return Err(not_encrypted(text, authority));
        }
        let scheme = if tls { "https" } else { "http" };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_string();
        let address = Address {
            url: format!("{scheme}://{authority}"),
            tls,
            host,
            authority: authority.to_string(),
            sockets: Vec::new(),
            port,
        };
        Ok(address.at(&addresses))
    }

    /// The name that has to be looked up before the server can be asked, if there is one.
    pub fn name(&self) -> Option<&str> {
        self.sockets.is_empty().then_some(&*self.host)
    }

    /// The same at these addresses.
    pub fn at(mut self, addresses: &[IpAddr]) -> Address {
        self.sockets = addresses.iter().map(|ip| SocketAddr::new(*ip, self.port)).collect();
        self
    }
}

/// The addresses of a host that needs no look-up; empty: it is another name; `None`: it is none.
fn addresses(host: &str) -> Option<Vec<IpAddr>> {
    if host.eq_ignore_ascii_case("localhost") {
        return Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    if let Some(inside) = host.strip_prefix('[') {
        return Some(vec![IpAddr::V6(inside.strip_suffix(']')?.parse().ok()?)]);
    }
    let is_name = !host.is_empty()
        && !host.starts_with('-')
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    is_name.then(|| host.parse::<Ipv4Addr>().ok().map(IpAddr::V4).into_iter().collect())
}

fn no_address(text: &str) -> Box<Error> {
    Error::usage(say!("`{text}` is not the address of a server", "`{text}` — не адрес сервера")).hint(say!(
        "for example `--server http://127.0.0.1:8421`, or `--server https://db1:8421` for another machine",
        "например `--server http://127.0.0.1:8421` или `--server https://db1:8421` для другой машины"
    ))
}

fn not_encrypted(text: &str, authority: &str) -> Box<Error> {
    Error::usage(say!(
        "`{text}` is on another machine: without encryption the token could be read on the way",
        "`{text}` — на другой машине: без шифрования токен могут прочитать по пути"
    ))
    .hint(say!(
        "`--server https://{authority}`; `stend serve --listen 0.0.0.0:8421` there encrypts",
        "`--server https://{authority}`; там шифрует `stend serve --listen 0.0.0.0:8421`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let error = Address::parse(text).unwrap_err();
        format!("{} {}", error.message.en, error.hint.map(|hint| hint.en).unwrap_or_default())
    }

    #[test]
    fn an_address_of_this_machine_is_read_with_or_without_its_port() {
        for (text, url, first) in [
            ("http://127.0.0.1:8421", "http://127.0.0.1:8421", "127.0.0.1:8421"),
            ("http://127.0.0.1:8421/", "http://127.0.0.1:8421", "127.0.0.1:8421"),
            ("http://localhost", "http://localhost", "127.0.0.1:80"),
            ("http://[::1]:9000", "http://[::1]:9000", "[::1]:9000"),
            ("http://[::1]", "http://[::1]", "[::1]:80"),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.url.as_str(), address.sockets[0].to_string().as_str()), (url, first));
        }
    }

    #[test]
    fn another_machine_is_asked_over_tls_alone() {
        for text in ["http://192.0.2.1:8421", "http://db1:8421", "http://0.0.0.0:1", "http://[2001:db8::1]:1"] {
            assert!(message(text).contains("https://"), "{text}: {}", message(text));
        }
        for (text, url, host, first) in [
            ("https://192.0.2.1:8421/", "https://192.0.2.1:8421", "192.0.2.1", Some("192.0.2.1:8421")),
            ("https://[2001:db8::1]", "https://[2001:db8::1]", "2001:db8::1", Some("[2001:db8::1]:443")),
            ("https://localhost", "https://localhost", "localhost", Some("127.0.0.1:443")),
            ("https://db1.example.org", "https://db1.example.org", "db1.example.org", None),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.url.as_str(), address.host.as_str(), address.tls), (url, host, true));
            assert_eq!(address.sockets.first().map(SocketAddr::to_string).as_deref(), first);
            assert_eq!(address.name(), first.is_none().then_some(host));
        }
        let found = Address::parse("https://db1:9").unwrap().at(&["192.0.2.9".parse().unwrap()]);
        assert!(found.name().is_none() && found.sockets[0].to_string() == "192.0.2.9:9");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "127.0.0.1:8421",
            "http://",
            "http:///",
            "http://127.0.0.1:0",
            "http://127.0.0.1:99999",
            "http://a b:1",
            "http://user:secret@127.0.0.1:1",
            "http://127.0.0.1:1/api",
            "http://[::1",
            "ftp://127.0.0.1",
            "http://:80",
            "https://",
            "https://-db1",
            "https://db1:8421/api",
            "https://user@db1",
        ] {
            assert!(message(text).contains("not the address"), "{text}: {}", message(text));
        }
    }
}
