//! A pool of ZFS as a stand file describes it. Pure.

use stend_base::Bytes;

/// How a pool lies on its devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZfsLayout {
    /// Blocks go to one device after the other.
    Stripe,
    /// Groups of copies.
    Mirror,
    /// Groups with one parity.
    Raidz1,
    /// Groups with two parities.
    Raidz2,
    /// Groups with three parities.
    Raidz3,
}

impl ZfsLayout {
    /// Word in the file and for `zpool`, which has none for a stripe.
    pub fn word(self) -> &'static str {
        match self {
            ZfsLayout::Stripe => "stripe",
            ZfsLayout::Mirror => "mirror",
            ZfsLayout::Raidz1 => "raidz1",
            ZfsLayout::Raidz2 => "raidz2",
            ZfsLayout::Raidz3 => "raidz3",
        }
    }

    /// Least devices of a group.
    pub fn least(self) -> u32 {
        match self {
            ZfsLayout::Stripe => 1,
            ZfsLayout::Mirror | ZfsLayout::Raidz1 => 2,
            ZfsLayout::Raidz2 => 3,
            ZfsLayout::Raidz3 => 4,
        }
    }
}

/// A pool with one volume or one dataset in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zfs {
    /// How it lies on its devices.
    pub layout: ZfsLayout,
    /// Devices of a group; `None`: two of a mirror, all of raidz.
    pub group: Option<u32>,
    /// So many of the last devices below (before those of `cache` and `spares`) keep the log of synchronous writes.
    pub log: u32,
    /// So many of the last devices below (before those of `spares`) keep a cache of what is read.
    pub cache: u32,
    /// So many of the last devices below are spares.
    pub spares: u32,
    /// Smallest block, as a power of two; `None`: what ZFS takes.
    pub ashift: Option<u32>,
    /// What is in it.
    pub product: ZfsProduct,
    /// Properties of that, with the words that `zfs` takes: those that the file names.
    pub properties: Vec<(&'static str, String)>,
}

/// What is in a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZfsProduct {
    /// A block device.
    Volume {
        /// Its size.
        size: Bytes,
        /// Room for it is not set aside.
        sparse: bool,
    },
    /// A file system, mounted.
    Dataset,
}

impl Zfs {
    /// Least devices below.
    pub(super) fn least(&self) -> u32 {
        self.group.unwrap_or(0).max(self.layout.least()) + self.helpers()
    }

    fn helpers(&self) -> u32 {
        self.log + self.cache + self.spares
    }

    /// How many devices a group has of so many that carry data.
    pub fn width(&self, data: usize) -> usize {
        match (self.layout, self.group) {
            (ZfsLayout::Stripe, _) => 1,
            (_, Some(group)) => group as usize,
            (ZfsLayout::Mirror, None) => 2,
            (_, None) => data,
        }
    }

    /// The number of so many lower devices that carries data.
    pub fn data(&self, below: usize) -> usize {
        below.saturating_sub(self.helpers() as usize)
    }

    /// Whether so many devices below make whole groups.
    pub fn divides(&self, below: usize) -> bool {
        let data = self.data(below);
        data > 0 && data.is_multiple_of(self.width(data).max(1))
    }
}
