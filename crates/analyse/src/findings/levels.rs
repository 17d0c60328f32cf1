//! Two levels of a rate, one after the other. Data only.

use super::Headline;
use serde::{Deserialize, Serialize};
use stend_base::Nanos;

/// That the rate of a case fell from one level to a lower one, and what a bucket of credits would hold that explains it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelsFinding {
    /// What the rates below are of.
    pub of: Headline,
    /// I/Os or bytes per second before the fall.
    pub first: f64,
    /// From the start of the load to the fall, to within a second.
    pub lasted: Nanos,
    /// I/Os or bytes per second after it.
    pub then: f64,
    /// I/Os or bytes that were done before it beyond the lower rate.
    pub bucket: f64,
    /// How long such a bucket takes to be full again without load, if it is filled at the lower rate.
    pub refill: Nanos,
}
