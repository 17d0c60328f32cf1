//! Mappings of the device mapper.

use stend_base::{Bytes, Nanos};

/// A mapping over each device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dm {
    /// The device itself.
    Linear,
    /// I/Os wait.
    Delay {
        /// How long reads wait.
        read: Nanos,
        /// How long writes wait.
        write: Nanos,
    },
    /// I/Os fail for a while, again and again.
    Flakey {
        /// How long it works, whole seconds.
        up: Nanos,
        /// How long it fails, whole seconds.
        down: Nanos,
        /// Instead of failing, writes are acknowledged and dropped.
        drops: bool,
    },
    /// I/Os to one place fail, as on a drive with bad blocks there.
    Error {
        /// Where the place begins.
        from: Bytes,
        /// How long it is.
        length: Bytes,
    },
    /// Contents are encrypted with a key that is drawn for the stand and shown in its plan: what encryption costs, not protection.
    Crypt(Cipher),
    /// A checksum of every sector is kept beside it and compared whenever that is read.
    Integrity(Checksums),
    /// The first of two devices, each write of which is kept in a log on the second, so that every state in which its power could
    /// have gone can be rebuilt.
    LogWrites {
        /// Most states that are examined after a trial whose crash is to be judged.
        points: u32,
    },
    /// The last of two devices takes the writes of the other one first.
    WriteCache {
        /// What it keeps at once.
        block_size: Bytes,
    },
}

impl Dm {
    /// Whether it makes one of two, and not one over each.
    pub(super) fn is_over_two(self) -> bool {
        matches!(self, Dm::WriteCache { .. } | Dm::LogWrites { .. })
    }
}

/// How checksums stay in step with data when the power goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksums {
    /// Both go through a journal.
    Journal,
    /// What a bitmap marks is computed anew.
    Bitmap,
    /// They do not.
    Direct,
}

impl Checksums {
    /// Letter in a table of the device mapper.
    pub fn letter(self) -> char {
        match self {
            Checksums::Journal => 'J',
            Checksums::Bitmap => 'B',
            Checksums::Direct => 'D',
        }
    }
}

/// A cipher of dm-crypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// AES in XTS mode with a key of 256 bits per half: what LUKS2 takes unless told otherwise.
    Aes256Xts,
    /// AES in XTS mode with a key of 128 bits per half.
    Aes128Xts,
}
