//! A Ceph: how its pool keeps data, checked against each other.

use super::super::{Map, whole};
use super::values::{contradiction, whole_mib};
use crate::keys::stand::ceph as keys;
use crate::stand::{Ceph, CephPool, Kind, least_of};
use crate::yaml::Node;
use stend_base::{Result, say};

pub(super) fn ceph(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::CEPH)?;
    let replicated = map.optional("replicated", replicated)?;
    let erasure = map.optional("ec", erasure)?;
    let memory = map.optional("osd_memory", |node| whole_mib(node, keys::OSD_MEMORY))?;
    map.finish()?;
    let pool = match (replicated, erasure) {
        (Some(pool), None) | (None, Some(pool)) => pool,
        _ => {
            let what = say!("`ceph` has either `replicated` or `ec`", "у `ceph` есть либо `replicated`, либо `ec`");
            return Err(node.error(what).hint(say!(
                "for example `ceph: {{replicated: {{size: 3}}}}` or `ceph: {{ec: {{k: 3, m: 2}}}}`",
                "например `ceph: {{replicated: {{size: 3}}}}` или `ceph: {{ec: {{k: 3, m: 2}}}}`"
            )));
        }
    };
    Ok(Kind::Ceph(Ceph { pool, osd_memory: memory.unwrap_or(keys::OSD_MEMORY_DEFAULT) }))
}

fn replicated(node: &Node) -> Result<CephPool> {
    let mut map = Map::of(node, &keys::REPLICATED)?;
    let size = map.required("size", |node| whole(node, keys::SIZE))?;
    let min_size = map.optional("min_size", |node| whole(node, keys::MIN_SIZE))?;
    map.finish()?;
    let min_size = min_size.unwrap_or(least_of(size));
    if min_size > size {
        let what = say!(
            "`min_size` {min_size} is more than the {size} copies that there are",
            "`min_size` {min_size} больше числа копий {size}"
        );
        return contradiction(node, what);
    }
    Ok(CephPool::Replicated { size, min_size })
}

fn erasure(node: &Node) -> Result<CephPool> {
    let mut map = Map::of(node, &keys::EC)?;
    let k = map.required("k", |node| whole(node, keys::K))?;
    let m = map.required("m", |node| whole(node, keys::M))?;
    map.finish()?;
    Ok(CephPool::Erasure { k, m })
}
