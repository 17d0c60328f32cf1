//! A mirror of two hosts: when a write is done, and where its metadata lie.

use super::super::{Map, word};
use super::values::{initial_sync, whole_mib};
use crate::keys::stand::drbd as keys;
use crate::stand::{Drbd, Kind};
use crate::yaml::Node;
use stend_base::Result;

pub(super) fn drbd(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::DRBD)?;
    let found = Drbd {
        protocol: map.required("protocol", |node| word(node, keys::PROTOCOLS))?,
        external: map.optional("metadata", |node| word(node, keys::METADATA))?.unwrap_or(false),
        resync_rate: map.optional("resync_rate", |node| whole_mib(node, keys::RESYNC_RATE))?,
        initial_sync: initial_sync(&mut map)?,
    };
    map.finish()?;
    Ok(Kind::Drbd(found))
}
