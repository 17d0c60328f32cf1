//! The right to write to one target. Nothing in the tool can open for writing without it.

/// A lease on one target.
#[derive(Debug)]
pub struct Claim {}
