//! What the label of a ZFS pool says of the pool. Pure; takes any bytes.
//!
//! Layout: OpenZFS include/sys/vdev_impl.h (a label begins with 16 KiB of padding, then 112 KiB of list); the list: module/nvpair
//! in its XDR form (RFC 4506).

use super::Image;

/// Where the list begins in a label, and how long it is at most.
const LIST: u64 = 16 << 10;
const LIST_LEN: usize = 112 << 10;
/// Size of a label.
const LABEL: u64 = 256 << 10;
/// The types of pairs that are read.
//= OpenZFS include/sys/nvpair.h, data_type_t
const UINT64: u32 = 8;
const STRING: u32 = 9;
/// Most pairs of a list; real ones have some twenty.
const PAIRS_MAX: usize = 256;

/// What a label says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pool {
    /// Name of the pool; devices that only cache, and spares, do not know it.
    pub name: Option<String>,
    /// The comment that the pool was given.
    pub comment: Option<String>,
    /// What the pool was when the label was written.
    pub state: u64,
}

impl Pool {
    /// State of a pool that was destroyed.
    //= OpenZFS include/sys/fs/zfs.h, pool_state_t
    pub const DESTROYED: u64 = 2;
    /// State in the label of a spare that stands in for nothing.
    pub const SPARE: u64 = 3;
    /// State in the label of a device that only caches what is read.
    pub const CACHE: u64 = 4;
}

impl Image {
    /// The pool that a label at the start of the device names; labels at its end say the same.
    pub fn pool(&self) -> Option<Pool> {
        let list =
            [0, LABEL].into_iter().find_map(|label| Some(List::of(self.bytes(label + LIST, LIST_LEN)?)?.pairs()))?;
        let mut pool = Pool::default();
        let mut state = None;
        for (name, value) in list {
            match (name, value) {
                ("name", Value::Text(text)) => pool.name = Some(text),
                ("comment", Value::Text(text)) => pool.comment = Some(text),
                ("state", Value::Number(number)) => state = Some(number),
                _ => {}
            }
        }
        state.map(|state| Pool { state, ..pool })
    }
}

enum Value {
    Number(u64),
    Text(String),
}

/// The bytes of a list behind its head.
struct List<'a>(&'a [u8]);

impl<'a> List<'a> {
    /// `None` unless the list is in the form that labels have: XDR, little-endian host or not, version 0.
    fn of(bytes: &'a [u8]) -> Option<List<'a>> {
        let version = word(bytes, 4)?;
        (bytes.first() == Some(&1) && version == 0).then_some(List(bytes.get(12..)?))
    }

    /// Pairs of the types that are read, as far as they can be.
    fn pairs(&self) -> Vec<(&'a str, Value)> {
        let (mut rest, mut found) = (self.0, Vec::new());
        for _ in 0..PAIRS_MAX {
            // A pair has its size here and its size in memory; both are zero at the end.
            let Some(size) = word(rest, 0).filter(|size| *size >= 8) else { break };
            let Some(pair) = rest.get(8..size as usize) else { break };
            found.extend(value(pair));
            rest = &rest[size as usize..];
        }
        found
    }
}

/// Name, type, count, and what is behind.
fn value(pair: &[u8]) -> Option<(&str, Value)> {
    let (name, rest) = text(pair)?;
    let value = match (word(rest, 0)?, word(rest, 4)?) {
        (UINT64, 1) => Value::Number(u64::from_be_bytes(rest.get(8..16)?.try_into().ok()?)),
        (STRING, 1) => Value::Text(text(rest.get(8..)?)?.0.to_string()),
        _ => return None,
    };
    Some((name, value))
}

/// A text with its length before it, padded to words; and what is behind.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let length = word(bytes, 0)? as usize;
    let text = std::str::from_utf8(bytes.get(4..)?.get(..length)?).ok()?;
    Some((text, bytes.get(4 + length.checked_next_multiple_of(4)?..)?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..)?.get(..4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn padded(text: &str) -> Vec<u8> {
        let mut bytes = (text.len() as u32).to_be_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn pair(name: &str, kind: u32, value: &[u8]) -> Vec<u8> {
        let mut inside = padded(name);
        inside.extend([kind.to_be_bytes(), 1u32.to_be_bytes()].concat());
        inside.extend(value);
        let size = (inside.len() as u32 + 8).to_be_bytes();
        [&size[..], &size[..], &inside[..]].concat()
    }

    fn device(label: u64, pairs: &[Vec<u8>]) -> Image {
        let mut bytes = vec![0; 1 << 20];
        let list = [&[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1][..], &pairs.concat(), &[0; 8]].concat();
        let at = (label + LIST) as usize;
        bytes[at..at + list.len()].copy_from_slice(&list);
        Image::from_bytes(&bytes)
    }

    #[test]
    fn a_label_names_its_pool_its_comment_and_its_state_in_either_place() {
        let pairs = [
            pair("version", UINT64, &5000u64.to_be_bytes()),
            pair("name", STRING, &padded("tank")),
            pair("state", UINT64, &2u64.to_be_bytes()),
            // A list inside is gone over as a whole.
            pair("vdev_tree", 19, &[0; 36]),
            pair("comment", STRING, &padded("stend-1")),
        ];
        let expected = Pool { name: Some("tank".into()), comment: Some("stend-1".into()), state: Pool::DESTROYED };
        for label in [0, LABEL] {
            assert_eq!(device(label, &pairs).pool(), Some(expected.clone()));
        }
    }

    #[test]
    fn a_device_that_only_caches_has_a_state_and_no_name() {
        let found = device(0, &[pair("state", UINT64, &4u64.to_be_bytes())]).pool();
        assert_eq!(found, Some(Pool { state: Pool::CACHE, ..Pool::default() }));
        assert_eq!(device(0, &[pair("name", STRING, &padded("tank"))]).pool(), None, "no label has no state");
        assert_eq!(Image::from_bytes(&vec![0; 1 << 20]).pool(), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(tail in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let mut bytes = vec![0; 1 << 18];
            let at = LIST as usize;
            bytes[at] = 1;
            bytes[at + 12..at + 12 + tail.len()].copy_from_slice(&tail);
            Image::from_bytes(&bytes).pool();
        }
    }
}
