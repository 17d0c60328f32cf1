//! Names and identities of what a stand makes. They follow from the stand's name and from a number that is drawn when it is
//! first put up, so that what is found later can be told to be its own. Pure.

use stend_base::random::{draw, mix};

/// Where file systems of stands are mounted.
pub(crate) const MOUNTS: &str = "/run/stend/stands";
/// Where stands are kept, as programs get it; the journal of each is there, too.
const STANDS: &str = "/var/lib/stend/stands";

/// What names follow from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names<'a> {
    /// Name of the stand.
    pub stand: &'a str,
    /// Drawn for this one.
    pub nonce: u64,
}

impl Names<'_> {
    /// Name of what a layer makes: `stend-oltp-md`.
    pub(crate) fn of(&self, layer: &str) -> String {
        format!("stend-{}-{layer}", self.stand)
    }

    /// Where what a layer makes is mounted.
    pub(crate) fn mount(&self, layer: &str) -> String {
        format!("{MOUNTS}/{}-{layer}", self.stand)
    }

    /// Where the daemons of a layer keep their state. It goes with the layer, and stays when the machine is started anew.
    pub(crate) fn cluster(&self, layer: &str) -> String {
        format!("{STANDS}/{}/cluster-{layer}", self.stand)
    }

    /// A file in which a layer keeps its settings. It goes with the layer, and stays when the machine is started anew.
    pub(crate) fn file(&self, layer: &str, end: &str) -> String {
        format!("{STANDS}/{}/{layer}.{end}", self.stand)
    }

    /// A word that only this stand carries.
    pub(crate) fn tag(&self) -> String {
        format!("stend-{:016x}", self.nonce)
    }

    /// UUID of the n-th thing of a layer, as file systems and partition tables write it.
    pub(crate) fn uuid(&self, layer: &str, index: u32) -> String {
        let hex = format!("{:032x}", self.bits(layer, index));
        // Version 4, variant 1: some tools look (RFC 9562, section 5.4).
        let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..]);
        format!("{a}-{b}-4{c}-a{d}-{e}")
    }

    /// A number for what is numbered, from 1 to 65535.
    pub(crate) fn number(&self, layer: &str) -> u16 {
        (self.bits(layer, 0) % u128::from(u16::MAX)) as u16 + 1
    }

    /// UUID of 64 bits, 16 hexadecimal digits of which the first is none.
    pub(crate) fn short_uuid(&self, layer: &str) -> String {
        format!("{:016x}", self.bits(layer, 0) as u64 | 1 << 63)
    }

    /// UUID of an array as `mdadm` takes it.
    pub(crate) fn md_uuid(&self, layer: &str) -> String {
        let hex = self.uuid(layer, 0).replace('-', "");
        format!("{}:{}:{}:{}", &hex[..8], &hex[8..16], &hex[16..24], &hex[24..])
    }

    /// UUID of the n-th physical volume of a layer, as LVM takes it: 32 letters and digits in groups.
    pub(crate) fn lvm_uuid(&self, layer: &str, index: u32) -> String {
        let letters = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let mut bits = self.bits(layer, index);
        let mut next = || {
            let letter = letters[(bits % 62) as usize] as char;
            bits = (bits / 62) ^ (u128::from(mix(bits as u64)) << 64);
            letter
        };
        let group = |length: usize, next: &mut dyn FnMut() -> char| (0..length).map(|_| next()).collect::<String>();
        [6, 4, 4, 4, 4, 4, 6].map(|length| group(length, &mut next)).join("-")
    }

    fn bits(&self, layer: &str, index: u32) -> u128 {
        let words = self.stand.bytes().chain([0]).chain(layer.bytes());
        let seed = words.fold(self.nonce, |seed, byte| mix(seed ^ u64::from(byte)));
        let at = u64::from(index) * 2;
        u128::from(draw(seed, at)) << 64 | u128::from(draw(seed, at + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_follow_from_the_names_and_differ_for_everything() {
        let names = Names { stand: "oltp", nonce: 7 };
        assert_eq!((names.of("md"), names.mount("fs")), ("stend-oltp-md".into(), "/run/stend/stands/oltp-fs".into()));
        let again = Names { stand: "oltp", nonce: 7 };
        assert_eq!(names.uuid("md", 0), again.uuid("md", 0));
        let all = [
            names.uuid("md", 0),
            names.uuid("md", 1),
            names.uuid("fs", 0),
            Names { stand: "web", nonce: 7 }.uuid("md", 0),
            Names { stand: "oltp", nonce: 8 }.uuid("md", 0),
        ];
        assert!((1..all.len()).all(|n| !all[..n].contains(&all[n])), "{all:?}");
    }

    #[test]
    fn identities_have_the_form_that_their_tools_take() {
        let names = Names { stand: "a", nonce: u64::MAX };
        let uuid = names.uuid("fs", 3);
        let groups: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12]);
        assert!(uuid.as_bytes()[14] == b'4' && uuid.as_bytes()[19] == b'a', "{uuid}");
        assert_eq!(names.md_uuid("fs").replace(':', ""), names.uuid("fs", 0).replace('-', ""));
        let short = names.short_uuid("drbd");
        assert!(short.len() == 16 && u64::from_str_radix(&short, 16).is_ok_and(|bits| bits >> 63 == 1), "{short}");
        let lvm = names.lvm_uuid("lvm", 0);
        assert_eq!(lvm.split('-').map(str::len).collect::<Vec<_>>(), [6, 4, 4, 4, 4, 4, 6]);
        assert_ne!(lvm, names.lvm_uuid("lvm", 1));
        assert!(lvm.bytes().all(|b| b == b'-' || b.is_ascii_alphanumeric()), "{lvm}");
    }
}
