//! What the server has to know of a certificate: from when to when it is valid, and for which names. Whether it is genuine is decided by
//! rustls. Pure; a certificate that is cut or nested wrongly yields nothing.

use std::net::IpAddr;
use stend_base::calendar;

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const OID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// The version of a certificate, and its extensions.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
//= RFC 5280, 4.2.1.6: "GeneralName ::= CHOICE { … dNSName [2] IA5String, … iPAddress [7] OCTET STRING …"
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
/// 2.5.29.17: `subjectAltName`.
const ALTERNATIVE_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];

/// What a certificate says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// First second of validity, since 1970.
    pub begins_unix: i64,
    /// Last second of validity.
    pub ends_unix: i64,
    /// Names and addresses, in its order.
    pub names: Vec<String>,
}

/// The facts of a certificate in DER; `None` if it is none.
pub fn facts(der: &[u8]) -> Option<Facts> {
    let mut certificate = Elements(der).of(SEQUENCE)?;
    let mut fields = certificate.of(SEQUENCE)?;
    if fields.0.first() == Some(&VERSION) {
        fields.of(VERSION)?;
    }
    fields.of(INTEGER)?;
    // Signature algorithm, issuer.
    fields.of(SEQUENCE)?;
    fields.of(SEQUENCE)?;
    let mut validity = fields.of(SEQUENCE)?;
    let (begins_unix, ends_unix) = (time(validity.next()?)?, time(validity.next()?)?);
    let mut names = Vec::new();
    while let Some((tag, content)) = fields.next() {
        if tag == EXTENSIONS {
            names = alternative_names(Elements(content).of(SEQUENCE)?)?;
        }
    }
    Some(Facts { begins_unix, ends_unix, names })
}

/// Elements that follow one another.
struct Elements<'a>(&'a [u8]);

impl<'a> Elements<'a> {
    /// Tag and content of the next element.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        // A length below 128 is a byte; else the byte counts the bytes of the length. Four are 4 GiB, more than is ever read.
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
                (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// What is in the next element, which must have this tag.
    fn of(&mut self, expected: u8) -> Option<Elements<'a>> {
        self.next().filter(|(tag, _)| *tag == expected).map(|(_, content)| Elements(content))
    }
}

/// Seconds since 1970. RFC 5280 allows two forms, both with seconds and in UTC.
fn time((tag, text): (u8, &[u8])) -> Option<i64> {
    let digits = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match (tag, digits.len()) {
        (UTC_TIME, 12) => {
            let year: i64 = number(digits.get(..2)?)?;
            (year + if year < 50 { 2000 } else { 1900 }, digits.get(2..)?)
        }
        (GENERALIZED_TIME, 14) => (number(digits.get(..4)?)?, digits.get(4..)?),
        _ => return None,
    };
    let part = |at: usize| number(rest.get(2 * at..2 * at + 2)?);
    let (month, day) = (part(0)?, part(1)?);
    // The calendar has the years 1970 to 2999. `99991231235959Z`, which stands for "never", has to be far away and nothing else.
    let days = calendar::days_since_1970(year.clamp(1970, 2999), month, day)?;
    Some(days * 86_400 + part(2)? * 3600 + part(3)? * 60 + part(4)?)
}

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn alternative_names(mut extensions: Elements) -> Option<Vec<String>> {
    let mut found = Vec::new();
    while !extensions.0.is_empty() {
        let mut extension = extensions.of(SEQUENCE)?;
        if extension.of(OID)?.0 != ALTERNATIVE_NAMES {
            continue;
        }
        // Whether it is critical may stand before.
        let mut content = extension.next()?;
        if content.0 != OCTETS {
            content = extension.next()?;
        }
        let mut names = Elements(content.1).of(SEQUENCE)?;
        while let Some((tag, name)) = names.next() {
            found.extend(match tag {
                DNS_NAME => std::str::from_utf8(name).ok().map(String::from),
                IP_ADDRESS => address(name).map(|address| address.to_string()),
                _ => None,
            });
        }
    }
    Some(found)
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(from: (i32, u8, u8), to: (i32, u8, u8), names: &[&str]) -> Vec<u8> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let mut parameters = rcgen::CertificateParams::new(names).unwrap();
        parameters.not_before = rcgen::date_time_ymd(from.0, from.1, from.2);
        parameters.not_after = rcgen::date_time_ymd(to.0, to.1, to.2);
        parameters.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        parameters.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn validity_and_names_are_what_was_asked_for_before_and_after_2050() {
        for (from, to, begins_unix, ends_unix) in [
            ((2026, 11, 29), (2029, 3, 3), 1_795_910_400, 1_867_190_400),
            ((1970, 1, 2), (2100, 3, 1), 86_400, 4_107_542_400),
            ((2026, 11, 29), (9999, 1, 1), 1_795_910_400, 32_472_144_000),
        ] {
            let names = ["db1.example.org", "192.0.2.7", "2001:db8::7", "*.lab"];
            let read = facts(&made(from, to, &names)).unwrap();
            assert_eq!((read.begins_unix, read.ends_unix), (begins_unix, ends_unix));
            assert_eq!(read.names, names);
        }
        assert!(facts(&made((2020, 1, 1), (2021, 1, 1), &[])).unwrap().names.is_empty());
    }

    #[test]
    fn a_certificate_that_is_cut_or_changed_is_read_without_a_panic() {
        let der = made((2020, 1, 1), (2021, 1, 1), &["a", "192.0.2.7"]);
        assert!((0..der.len()).all(|end| facts(&der[..end]).is_none()));
        for at in 0..der.len() {
            for value in [0, 0x7f, 0x84, 0xff] {
                let mut changed = der.clone();
                changed[at] = value;
                // Whatever it yields; rustls judges it before.
                drop(facts(&changed));
            }
        }
    }
}
