//! Names under which a server is asked. A page of another site can have its own name point to this machine (DNS rebinding), so a request that
//! comes by a foreign name is refused. An address in digits is of no site. Pure but for looking up the machine's own names.

use crate::tls::Tls;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// How a request came in.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// Who sends it.
    pub from: IpAddr,
    /// The address of this machine that it was sent to.
    pub to: IpAddr,
}

/// The names that a server answers to.
pub struct Names {
    /// Those that the user gave.
    pub more: Vec<String>,
    /// The certificate, which has names, too.
    pub tls: Option<Arc<Tls>>,
}

impl Names {
    /// Whether a request for this host, with or without a port, is for this server.
    pub fn fit(&self, host: &str, way: Way) -> bool {
        let Some(name) = without_port(host) else { return false };
        let name = name.strip_suffix('.').unwrap_or(name);
        if self.more.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return true;
        }
        if let Ok(address) = name.parse::<IpAddr>() {
            let to = way.to.to_canonical();
            if address.to_canonical() == to || address.is_loopback() && to.is_loopback() {
                return true;
            }
        }
        match &self.tls {
            Some(tls) => tls.now().has_name(name),
            None => name.eq_ignore_ascii_case("localhost"),
        }
    }
}

/// The host of `HOST:PORT`, without the brackets of an address of IPv6.
fn without_port(host: &str) -> Option<&str> {
    if let Some(rest) = host.strip_prefix('[') {
        let (inside, port) = rest.split_once(']')?;
        return (port.is_empty() || is_port(port)).then_some(inside);
    }
    match host.find(':') {
        Some(at) => is_port(&host[at..]).then_some(&host[..at]),
        None => Some(host),
    }
    .filter(|name| !name.is_empty())
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.bytes().all(|digit| digit.is_ascii_digit()))
}

/// What a certificate of ours is for, and where people find a server that listens here: the name of this machine, its addresses, and what a
/// tunnel to it uses last.
pub fn own(listen: SocketAddr, more: &[String]) -> Vec<String> {
    let host = host_name().filter(|name| is_host_name(name));
    let addresses: Vec<IpAddr> = if listen.ip().is_unspecified() {
        let v4 = read("/proc/net/fib_trie").map(|text| local_v4(&text)).unwrap_or_default();
        let v6 = read("/proc/net/if_inet6").map(|text| local_v6(&text)).unwrap_or_default();
        v4.into_iter().chain(v6.into_iter().filter(|_| listen.is_ipv6())).collect()
    } else {
        vec![listen.ip()]
    };
    let mut names: Vec<String> = more.to_vec();
    let here = ["127.0.0.1", "localhost"].map(String::from);
    names.extend(host.into_iter().chain(addresses.iter().map(IpAddr::to_string)).chain(here));
    let mut known = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

/// Whether a text can be the name or the address of a machine.
pub fn is_name(text: &str) -> bool {
    is_host_name(text) || text.parse::<IpAddr>().is_ok()
}

fn is_host_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (1..=253).contains(&text.len()) && text.bytes().all(fits) && !text.starts_with(['.', '-'])
}

fn host_name() -> Option<String> {
    read("/proc/sys/kernel/hostname").map(|name| name.trim().to_string())
}

fn read(file: &str) -> Option<String> {
    // Files of the kernel have no length, and this much is more than thousands of addresses need.
    std::fs::read_to_string(file).ok().filter(|text| text.len() < 4 << 20)
}

/// Addresses of this machine but the loopback, each once.
///
//= linux, net/ipv4/fib_trie.c, fib_trie_seq_show(): a leaf is "|-- ADDRESS", below it "/32 host LOCAL" for an own address
fn local_v4(text: &str) -> Vec<IpAddr> {
    let (mut found, mut leaf) = (Vec::new(), None::<Ipv4Addr>);
    for line in text.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse().ok();
        } else if line == "/32 host LOCAL" {
            found.extend(leaf.filter(|address| !address.is_loopback()).map(IpAddr::V4));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The same for IPv6, without addresses of one link, which need the name of an interface to be reached.
fn local_v6(text: &str) -> Vec<IpAddr> {
    let addresses = text.lines().filter_map(|line| line.split_whitespace().next());
    let addresses = addresses.filter_map(|digits| u128::from_str_radix(digits, 16).ok()).map(Ipv6Addr::from);
    let mut found: Vec<IpAddr> = addresses
        .filter(|address| !address.is_loopback() && !address.is_unicast_link_local())
        .map(IpAddr::V6)
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(to: &str) -> Way {
        Way { from: IpAddr::V4(Ipv4Addr::LOCALHOST), to: to.parse().unwrap() }
    }

    #[test]
    fn a_name_of_another_site_is_refused_and_our_own_are_not() {
        let names = Names { more: vec!["db1.example.org".into()], tls: None };
        for host in [
            "127.0.0.1:8421",
            "localhost:8421",
            "LOCALHOST",
            "localhost.",
            "[::1]:9",
            "db1.EXAMPLE.org:443",
            "127.0.0.9",
        ] {
            assert!(names.fit(host, way("127.0.0.1")), "{host}");
        }
        for host in [
            "",
            ":80",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "db1",
            "[::1",
            "[::1]x",
            "localhost:x",
            "192.0.2.7",
            "0.0.0.0",
        ] {
            assert!(!names.fit(host, way("127.0.0.1")), "{host}");
        }
        assert!(names.fit("192.0.2.7:1", way("::ffff:192.0.2.7")) && names.fit("[2001:db8::7]", way("2001:db8::7")));
        assert!(!names.fit("127.0.0.1", way("192.0.2.7")), "the loopback of another machine is not ours");
    }

    #[test]
    fn a_certificate_is_made_for_the_name_of_the_machine_and_where_it_listens() {
        let names = own("192.0.2.7:8421".parse().unwrap(), &["db1.example.org".into()]);
        assert_eq!(names.first().map(String::as_str), Some("db1.example.org"));
        assert!(names.contains(&"192.0.2.7".to_string()) && names.last().is_some_and(|last| last == "localhost"));
    }

    #[test]
    fn addresses_of_the_machine_are_read_without_the_loopback() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     +-- 127.0.0.0/8 2 0 2\n        |-- 127.0.0.1\n           /32 host LOCAL\n     |-- 192.0.2.0\n        /24 link UNICAST\n     |-- 192.0.2.2\n        /32 host LOCAL\n     |-- 192.0.2.255\n        /32 link BROADCAST\nLocal:\n     |-- 192.0.2.2\n        /32 host LOCAL\n";
        assert_eq!(local_v4(trie), ["192.0.2.2".parse::<IpAddr>().unwrap()]);
        let inet6 = "00000000000000000000000000000001 01 80 10 80       lo\nfd000000000000000000000000000002 02 40 00 80     eth0\nfe8000000000000000fc00fffe000001 02 40 20 80     eth0\n";
        assert_eq!(local_v6(inet6), ["fd00::2".parse::<IpAddr>().unwrap()]);
        assert!(local_v4("|-- x\n/32 host LOCAL\n").is_empty() && local_v6("x\n\n").is_empty());
    }
}
