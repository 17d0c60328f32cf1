//! The fingerprint of a certificate as people compare it. Pure: the sum itself is computed where the certificate is.

use std::fmt;

/// What a fingerprint begins with: how it was computed.
const PREFIX: &str = "sha256:";

/// SHA-256 of a certificate, as browsers show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Reads 64 hexadecimal digits, with or without colons or spaces between the bytes and `sha256:` before them.
    pub fn parse(text: &str) -> Option<Fingerprint> {
        let text = text.trim();
        let begins = text.get(..PREFIX.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(PREFIX));
        let rest = if begins { &text[PREFIX.len()..] } else { text };
        let digits: Vec<u8> = rest.bytes().filter(|byte| !matches!(byte, b':' | b' ')).collect();
        let digits =
            std::str::from_utf8(&digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let byte = |at: usize| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
        let bytes: Vec<u8> = (0..32).map(byte).collect::<Option<_>>().filter(|_| digits.len() == 64)?;
        bytes.try_into().ok().map(Fingerprint)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02X}", if at == 0 { PREFIX } else { ":" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_in_every_form_that_browsers_and_tools_print() {
        let fingerprint = Fingerprint(std::array::from_fn(|at| at as u8 * 8));
        let shown = fingerprint.to_string();
        assert!(shown.starts_with("sha256:00:08:10:") && shown.ends_with(":F0:F8"), "{shown}");
        let bare = shown.trim_start_matches("sha256:");
        for text in [
            shown.clone(),
            shown.to_lowercase(),
            bare.replace(':', ""),
            bare.replace(':', " "),
            format!(" SHA256:{}\n", bare.replace(':', "").to_lowercase()),
        ] {
            assert_eq!(Fingerprint::parse(&text), Some(fingerprint), "{text}");
        }
    }

    #[test]
    fn what_is_no_fingerprint_pins_nothing() {
        let zeros = "00".repeat(32);
        for text in
            ["", "sha256:", &zeros[2..], &format!("{zeros}00"), &zeros.replace("00", "+0"), &"ж".repeat(32), "sha1:00"]
        {
            assert_eq!(Fingerprint::parse(text), None, "{text}");
        }
    }
}
