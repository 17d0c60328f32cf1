//! What lacks redundancy.

/// What lacks redundancy: in English, for people who wait, and whether something is being done about it.
pub(super) struct MissingRedundancy {
    pub text: String,
    pub is_mended: bool,
}
