//! The copy of a member of an array of md on its spare.

use super::md;
use super::missing_redundancy::MissingRedundancy;
use crate::roots::text;
use serde::{Deserialize, Serialize};
use stend_spec::arm::line;

/// A member and the spare that gets what it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Copy {
    pub array: String,
    pub member: String,
    pub spare: String,
    /// Kernel name of the member.
    pub name: String,
    /// The file that tells of the member.
    pub state: String,
}

impl Copy {
    /// Md gives a member up when the spare has all that it has.
    //= linux, drivers/md/raid5.c, raid5_spare_active(): "Replaced device not technically faulty, but we need to be sure it gets removed and never re-added."
    pub(crate) fn is_complete(&self) -> bool {
        text(&self.state).is_none_or(|state| state.split(',').any(|word| word == "faulty"))
    }

    /// What is not copied yet, where the array does not tell that it is at it.
    pub(super) fn missing(&self) -> Option<MissingRedundancy> {
        let text = format!("the copy of {} is not complete", self.name);
        (!self.is_complete()).then_some(MissingRedundancy { text, is_mended: false })
    }

    /// As a person would type it when the copy is complete.
    pub(crate) fn shell(&self) -> String {
        self.swap(&self.member).map(|words| line(&words)).join("; ")
    }

    /// One of both leaves its place, and comes back as a spare.
    pub(crate) fn swap(&self, leaves: &str) -> [Vec<String>; 3] {
        [md::remove(&self.array, leaves), md::erase(leaves), md::add(&self.array, leaves)]
    }
}
