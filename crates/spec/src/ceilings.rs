//! What a user states of the storage that cannot be measured without writing to it, or is not visible: how drives are laid out,
//! and what one of them gives. Data only; must not judge.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, MilliIops};

/// `ceilings` of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ceilings {
    /// How the drives are put together; `None`: as the host shows it.
    pub layout: Option<Layout>,
    /// What one drive gives.
    pub drive: DriveRates,
    /// Bytes per second and direction that the network between the host and the storage carries, all its links together.
    pub network: Option<Bytes>,
    /// Where the numbers come from; always there if there are any.
    pub source: Option<String>,
}

/// Rates of one drive alone; `None`: not stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DriveRates {
    /// Reads of 4 KiB at random.
    pub random_read: Option<MilliIops>,
    /// Writes of 4 KiB at random, in the state in which they last.
    pub random_write: Option<MilliIops>,
    /// Bytes per second of large reads in order.
    pub sequential_read: Option<Bytes>,
    /// Bytes per second of large writes in order.
    pub sequential_write: Option<Bytes>,
}

/// How drives are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// RAID 0: blocks lie on the drives in turn.
    Stripe {
        /// Drives.
        drives: u32,
        /// Bytes on one drive before the next one follows; `None`: not known.
        #[serde(rename = "chunk_bytes")]
        chunk: Option<Bytes>,
    },
    /// RAID 1: every drive holds everything.
    Mirror {
        /// Drives.
        drives: u32,
    },
    /// RAID 10: a stripe of which every block lies on several drives.
    Raid10 {
        /// Drives.
        drives: u32,
        /// Drives that hold a block.
        copies: u32,
        /// As of a stripe.
        #[serde(rename = "chunk_bytes")]
        chunk: Option<Bytes>,
    },
    /// RAID 5: a parity per row.
    Raid5 {
        /// Drives.
        drives: u32,
        /// As of a stripe.
        #[serde(rename = "chunk_bytes")]
        chunk: Bytes,
    },
    /// RAID 6: two of them.
    Raid6 {
        /// Drives.
        drives: u32,
        /// As of a stripe.
        #[serde(rename = "chunk_bytes")]
        chunk: Bytes,
    },
    /// Whole copies on several drives, of a cluster or of two hosts.
    Replication {
        /// Copies.
        copies: u32,
        /// Drives of all copies.
        drives: u32,
        /// Copies that this host itself sends over the network for each write.
        sent: u32,
    },
    /// Erasure code: a row has so many blocks of data and of parity, on as many of the drives.
    Erasure {
        /// Blocks of data.
        data: u32,
        /// Blocks of parity.
        parity: u32,
        /// Drives.
        drives: u32,
        /// Bytes of a block.
        #[serde(rename = "chunk_bytes")]
        chunk: Bytes,
    },
    /// Blocks are written elsewhere (ZFS, btrfs, log-structured storage): what that takes is only measured.
    CopyOnWrite {
        /// Drives.
        drives: u32,
    },
}

impl Layout {
    /// Drives.
    pub fn drives(self) -> u32 {
        match self {
            Layout::Stripe { drives, .. }
            | Layout::Mirror { drives }
            | Layout::Raid10 { drives, .. }
            | Layout::Raid5 { drives, .. }
            | Layout::Raid6 { drives, .. }
            | Layout::Replication { drives, .. }
            | Layout::Erasure { drives, .. }
            | Layout::CopyOnWrite { drives } => drives,
        }
    }
}

impl DriveRates {
    /// Whether anything is stated.
    pub fn is_any(&self) -> bool {
        *self != DriveRates::default()
    }
}
