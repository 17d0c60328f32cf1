//! The short hash by which what is kept in the cache is named after what it was made from.

use sha2::{Digest, Sha256};

/// A short hash of these parts in their order.
pub fn digest(parts: impl IntoIterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
