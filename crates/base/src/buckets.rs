//! The used buckets of a histogram in as few bytes as they can be stored in, because a long run has hundreds of millions of them. Pure;
//! knows nothing of what a bucket stands for.

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// (gap to the previous used bucket, count), ascending, each pair as two LEB128 varints; gaps keep them short.
///
/// For machines that is one run of bytes, for people a list of pairs. Bytes of a hostile file that are no pairs end the list.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Buckets(Vec<u8>);

impl Buckets {
    /// None yet, with room for about so many of the usual size.
    pub fn with_capacity(buckets: usize) -> Buckets {
        Buckets(Vec::with_capacity(buckets * 3))
    }

    /// Adds one behind the others.
    #[inline(always)]
    pub fn push(&mut self, gap: u32, count: u64) {
        // Nearly all are like this.
        if gap < 0x80 && count < 0x4000 {
            let (gap, low) = (gap as u8, count as u8 & 0x7f);
            return match count < 0x80 {
                true => self.0.extend_from_slice(&[gap, low]),
                false => self.0.extend_from_slice(&[gap, low | 0x80, (count >> 7) as u8]),
            };
        }
        self.push_longer(gap, count);
    }

    #[cold]
    fn push_longer(&mut self, gap: u32, count: u64) {
        for mut value in [u64::from(gap), count] {
            while value >= 0x80 {
                self.0.push(value as u8 | 0x80);
                value >>= 7;
            }
            self.0.push(value as u8);
        }
    }

    /// All in order.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter(&self.0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// How many there are; looks at each.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Memory that they take, in bytes.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// Gives back what was reserved for more of them.
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }
}

/// Goes through [`Buckets`].
#[derive(Debug, Clone)]
pub struct Iter<'a>(&'a [u8]);

impl Iterator for Iter<'_> {
    type Item = (u32, u64);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, u64)> {
        // Nearly all are like this.
        if let [gap, count, rest @ ..] = self.0
            && (gap | count) < 0x80
        {
            self.0 = rest;
            return Some((u32::from(*gap), u64::from(*count)));
        }
        self.next_longer()
    }
}

impl Iter<'_> {
    #[inline(never)]
    fn next_longer(&mut self) -> Option<(u32, u64)> {
        let (gap, rest) = varint(self.0)?;
        let (count, rest) = varint(rest)?;
        self.0 = rest;
        Some((u32::try_from(gap).ok()?, count))
    }
}

/// A varint and what follows it; `None` where there is none, or one above 2^64 - 1.
#[inline]
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        return Some((u64::from(first), rest));
    }
    let (&second, rest) = rest.split_first()?;
    let two = u64::from(first & 0x7f) | u64::from(second & 0x7f) << 7;
    if second < 0x80 { Some((two, rest)) } else { longer(two, rest) }
}

#[cold]
fn longer(mut value: u64, bytes: &[u8]) -> Option<(u64, &[u8])> {
    for (index, &byte) in bytes.iter().enumerate().take(8) {
        let (shift, part) = (14 + 7 * index as u32, u64::from(byte & 0x7f));
        if part << shift >> shift != part {
            return None;
        }
        value |= part << shift;
        if byte < 0x80 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

impl FromIterator<(u32, u64)> for Buckets {
    fn from_iter<I: IntoIterator<Item = (u32, u64)>>(pairs: I) -> Buckets {
        let mut buckets = Buckets::default();
        pairs.into_iter().for_each(|(gap, count)| buckets.push(gap, count));
        buckets.shrink_to_fit();
        buckets
    }
}

impl From<Vec<(u32, u64)>> for Buckets {
    fn from(pairs: Vec<(u32, u64)>) -> Buckets {
        pairs.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Buckets {
    type Item = (u32, u64);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl std::fmt::Debug for Buckets {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_list().entries(self).finish()
    }
}

impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { to.collect_seq(self) } else { to.serialize_bytes(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Buckets, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Buckets;
            fn expecting(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
                to.write_str("buckets")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Buckets, E> {
                Ok(Buckets(bytes.to_vec()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Buckets, A::Error> {
                let mut buckets = Buckets::default();
                while let Some((gap, count)) = pairs.next_element()? {
                    buckets.push(gap, count);
                }
                buckets.shrink_to_fit();
                Ok(buckets)
            }
        }
        if from.is_human_readable() { from.deserialize_seq(Either) } else { from.deserialize_bytes(Either) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_put_in_comes_out_in_order(
            pairs in prop::collection::vec((any::<u32>(), 0u32..32, any::<u64>(), 0u32..64), 0..50),
        ) {
            let pairs: Vec<(u32, u64)> = pairs.into_iter().map(|(gap, s, count, t)| (gap >> s, count >> t)).collect();
            let buckets = Buckets::from(pairs.clone());
            prop_assert_eq!(buckets.iter().collect::<Vec<_>>(), pairs.clone());
            prop_assert_eq!((buckets.len(), buckets.is_empty()), (pairs.len(), pairs.is_empty()));
        }

        #[test]
        fn any_bytes_are_some_pairs_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let most = bytes.len() / 2;
            prop_assert!(Buckets(bytes).iter().count() <= most);
        }
    }

    #[test]
    fn small_pairs_take_two_bytes_and_bytes_that_end_early_or_overflow_end_the_list() {
        assert_eq!(Buckets::from(vec![(1, 100), (2, 300)]).size(), 5);
        assert_eq!(Buckets(vec![1, 2, 3]).iter().collect::<Vec<_>>(), [(1, 2)]);
        let largest = Buckets::from(vec![(u32::MAX, u64::MAX)]);
        assert_eq!(largest.iter().next(), Some((u32::MAX, u64::MAX)));
        let mut beyond = largest.0;
        *beyond.last_mut().unwrap() = 2;
        assert_eq!(Buckets(beyond).iter().next(), None, "a count of 2^64");
        assert!(Buckets(vec![0xff; 40]).is_empty());
        assert!(Buckets(vec![0x80, 0x80, 0x80, 0x80, 0x10, 1]).is_empty(), "a gap of 2^32");
    }
}
