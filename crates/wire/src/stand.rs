//! What is asked about stands, and answered.

use serde::{Deserialize, Serialize};
use stend_record::{StandPlan, StandStatus, StandTargets};

/// A stand file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandFile {
    /// Its text.
    pub text: String,
    /// Its name, for errors.
    pub file: String,
    /// Drawn for the stand: names and identities of what it makes follow from it.
    pub nonce: u64,
    /// Which of its hosts is meant, by the name in the file; `None`: it has one.
    pub host: Option<String>,
}

/// What is to be done about stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StandOrder {
    /// Say what putting one up would do.
    Plan(StandFile),
    /// Put one up.
    Up {
        /// Which.
        stand: StandFile,
        /// `Release` takes it down.
        until_release: bool,
        /// Id of the run, or of another claimant.
        owner: String,
    },
    /// Take the one of this name down.
    Down(String),
    /// Say how the one of this name is; without a name all of them.
    Status(Option<String>),
    /// Say whose the one of this name is.
    Owner(String),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StandAnswer {
    /// Answer to [`StandOrder::Plan`].
    Plan(StandPlan),
    /// Answer to [`StandOrder::Up`].
    Up(StandTargets),
    /// Answer to [`StandOrder::Down`].
    Down,
    /// Answer to [`StandOrder::Status`].
    Status(Vec<StandStatus>),
    /// Answer to [`StandOrder::Owner`]; `None`: nothing of it is here.
    Owner(Option<StandOwner>),
}

/// Whose a stand is that is up, in whole or in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandOwner {
    /// Who put it up: the run file of a run, which takes it down again; else words.
    pub owner: String,
    /// The number that was drawn for it.
    pub nonce: u64,
}
