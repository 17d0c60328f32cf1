//! What processes and hosts tell each other, and what they leave for those who come later.

use stend_stand::untrusted;
use stend_wire::protocol::{read_frame, read_hello};
use stend_wire::{Reply, Request};

/// A worker's stream: its hello if there is one, then replies.
pub fn from_worker(bytes: &[u8]) {
    let mut rest = bytes;
    let _ = read_hello(&mut rest);
    let mut rest = if rest.len() == bytes.len() { bytes } else { rest };
    while let Ok(Some(_)) = read_frame::<Reply>(&mut rest) {}
    let _ = postcard::from_bytes::<Reply>(bytes);
}

/// A coordinator's stream.
pub fn to_worker(bytes: &[u8]) {
    let mut rest = bytes;
    let _ = read_hello(&mut rest);
    let mut rest = if rest.len() == bytes.len() { bytes } else { rest };
    while let Ok(Some(_)) = read_frame::<Request>(&mut rest) {}
    let _ = postcard::from_bytes::<Request>(bytes);
}

/// The journal of a stand, and the stand that it is of.
pub fn journal(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = untrusted::journal(text);
}

/// Short texts of others: a note in a lease, the kernel's mounts, what `blkid` and `smartctl` print, what people say of problems.
pub fn notes(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    untrusted::is_note(&text);
    untrusted::mounts(&text);
    untrusted::health(&text);
    let _ = stend_session::marks_of(&text, "marks");
    for exit in [Some(0), Some(2), Some(8), None] {
        for name in untrusted::blkid(exit, &text, "").unwrap_or_default() {
            assert!(!name.is_empty() && name.is_ascii(), "{name:?}");
        }
    }
}
