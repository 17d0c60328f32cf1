//! The least and the most of what is taken.

/// The least and the most that is taken, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits<T> {
    /// Least.
    pub least: T,
    /// Most.
    pub most: T,
}

impl<T: PartialOrd> Limits<T> {
    /// Whether a value is taken.
    pub fn hold(&self, value: &T) -> bool {
        self.least <= *value && *value <= self.most
    }
}
