//! A client of `stend serve`: requests over HTTP to this machine and over TLS to any, with limits of sizes and times, and errors that name the server. Must not
//! know what the verbs do with the answers.
#![forbid(unsafe_code)]

mod address;
mod events;
mod failure;
mod http;
mod tls;

pub use address::Address;
pub use events::Event;
pub use failure::not_understood;
pub use http::{Reply, Server};
pub use tls::Trust;

/// A text as a part of a path or of a query.
pub fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_become_another_address() {
        assert_eq!(escaped("R-1.a_b~c"), "R-1.a_b~c");
        assert_eq!(escaped("../a b?c&d#é\r\n"), "..%2Fa%20b%3Fc%26d%23%C3%A9%0D%0A");
    }
}
