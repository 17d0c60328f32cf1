//! The address of a server as users write it. Pure: no name is looked up, because a server of this machine or a tunnel to one needs none.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use stend_base::{Error, Result, say};

/// The port of `http://` without one.
const PORT: u16 = 80;

/// Where a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// As messages name it: `http://127.0.0.1:8421`.
    pub url: String,
    /// Host and port, as a request names them.
    pub(crate) authority: String,
    /// What is tried, in this order.
    pub(crate) sockets: Vec<SocketAddr>,
}

impl Address {
    /// Reads `http://HOST:PORT` of this machine.
    ///
    /// Errors: `Usage` for what is none, for another machine, and for `https`.
    pub fn parse(text: &str) -> Result<Address> {
        if let Some(rest) = text.strip_prefix("https://") {
            return Err(encrypted(text, rest));
        }
        let authority = text.strip_prefix("http://").map(|rest| rest.strip_suffix('/').unwrap_or(rest));
        let Some(authority) = authority.filter(|rest| !rest.is_empty() && !rest.contains(['/', '?', '#', '@', '\\']))
        else {
            return Err(no_address(text));
        };
        let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some((host, port)) => (host, port.parse().ok().filter(|port| *port != 0).ok_or_else(|| no_address(text))?),
            None => (authority, PORT),
        };
        let sockets = sockets(host, port).ok_or_else(|| no_address(text))?;
        if !sockets.iter().all(|socket| socket.ip().is_loopback()) {
            return Err(another_machine(text));
        }
        Ok(Address { url: format!("http://{authority}"), authority: authority.to_string(), sockets })
    }
}

/// A name that is neither `localhost` nor an address belongs to another machine: it is given an address that none has.
fn sockets(host: &str, port: u16) -> Option<Vec<SocketAddr>> {
    let at = |ip: IpAddr| SocketAddr::new(ip, port);
    if host.eq_ignore_ascii_case("localhost") {
        return Some(vec![at(Ipv4Addr::LOCALHOST.into()), at(Ipv6Addr::LOCALHOST.into())]);
    }
    if let Some(inside) = host.strip_prefix('[') {
        return Some(vec![at(IpAddr::V6(inside.strip_suffix(']')?.parse().ok()?))]);
    }
    let is_name =
        !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    is_name.then(|| vec![at(host.parse::<Ipv4Addr>().unwrap_or(Ipv4Addr::UNSPECIFIED).into())])
}

fn no_address(text: &str) -> Box<Error> {
    Error::usage(say!("`{text}` is not the address of a server", "`{text}` — не адрес сервера"))
        .hint(say!("for example `--server http://127.0.0.1:8421`", "например `--server http://127.0.0.1:8421`"))
}

fn another_machine(text: &str) -> Box<Error> {
    Error::usage(say!(
        "`{text}` is on another machine: without encryption the token could be read on the way",
        "`{text}` — на другой машине: без шифрования токен могут прочитать по пути"
    ))
    .hint(say!(
        "`ssh -L 8421:127.0.0.1:8421 HOST`, then `--server http://127.0.0.1:8421`",
        "`ssh -L 8421:127.0.0.1:8421 МАШИНА`, затем `--server http://127.0.0.1:8421`"
    ))
}

fn encrypted(text: &str, rest: &str) -> Box<Error> {
    let host = rest.split(['/', ':']).next().filter(|host| !host.is_empty()).unwrap_or("HOST");
    Error::usage(say!("`{text}`: the command line does not speak HTTPS yet", "`{text}`: командная строка пока не работает по HTTPS"))
        .hint(say!(
            "reach it by a tunnel, `ssh -L 8421:127.0.0.1:8421 {host}`, or by a reverse proxy on this machine that adds the encryption, and name that with `http://127.0.0.1:PORT`",
            "подключайтесь через туннель `ssh -L 8421:127.0.0.1:8421 {host}` или через обратный прокси на этой машине, который шифрует сам, и укажите `http://127.0.0.1:ПОРТ`"
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
    fn another_machine_and_encryption_are_refused_with_a_way_round() {
        for text in ["http://192.0.2.1:8421", "http://db1:8421", "http://0.0.0.0:1", "http://[2001:db8::1]:1"] {
            assert!(message(text).contains("ssh -L"), "{text}: {}", message(text));
        }
        let https = message("https://db1:8421/");
        assert!(https.contains("ssh -L 8421:127.0.0.1:8421 db1") && https.contains("reverse proxy"), "{https}");
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
        ] {
            assert!(message(text).contains("not the address"), "{text}: {}", message(text));
        }
    }
}
