//! Addresses of hosts on a network. Must not resolve names.

use crate::yaml::Node;
use stend_base::{Error, say};

/// An IPv4 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address([u8; 4]);

impl Address {
    /// From four decimal numbers with dots between them.
    pub(super) fn of(text: &str) -> Option<Address> {
        let mut numbers = text.split('.').map(|number| {
            let plain = (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
            // `010` would be eight to some programs and ten to others.
            let decimal = plain && (number == "0" || !number.starts_with('0'));
            if decimal { number.parse().ok() } else { None }
        });
        let mut next = || numbers.next().flatten();
        let address = [next()?, next()?, next()?, next()?];
        numbers.next().is_none().then_some(Address(address))
    }

    /// Whether another host can have it: not the loopback, not "this network", not a group or reserved.
    ///
    /// Source: RFC 6890, section 2.2.2.
    pub(super) fn is_host(self) -> bool {
        !matches!(self.0[0], 0 | 127 | 224..)
    }
}

/// What is no address of a host.
pub(super) fn wrong(node: &Node, text: &str, example: &str) -> Box<Error> {
    node.error(say!("`{text}` is no address of a host", "`{text}` — не адрес машины")).hint(say!(
        "an IPv4 address that another host can reach, such as `{example}`",
        "нужен адрес IPv4, доступный с другой машины, например `{example}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_four_decimal_numbers() {
        for text in ["10.77.0.1", "192.168.255.254", "1.0.0.0"] {
            assert!(Address::of(text).is_some_and(Address::is_host), "{text}");
        }
        for text in
            ["", "10.77.0", "10.77.0.1.2", "10.77.0.256", "10.077.0.1", "10.77.0.+1", "a.b.c.d", "10.77.0.1 ", "::1"]
        {
            assert_eq!(Address::of(text), None, "{text}");
        }
        for text in ["127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255"] {
            assert!(!Address::of(text).unwrap().is_host(), "{text}");
        }
    }
}
