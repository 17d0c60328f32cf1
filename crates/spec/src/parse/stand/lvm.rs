//! A logical volume, with its keys checked against each other.

use super::super::{Map, boolean, whole, word};
use super::values::{contradiction, power_of_two, size};
use crate::keys::stand as common;
use crate::keys::stand::lvm as keys;
use crate::stand::{CacheMode, InitialSync, Kind, Lvm, LvmType};
use crate::yaml::Node;
use stend_base::{Bytes, Result, Say, say};

/// What the file itself says, where that and what stands for it differ.
struct Said {
    vdo: bool,
    sync: bool,
    mode: bool,
}

pub(super) fn lvm(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::LVM)?;
    let kind = map.required("type", |node| word(node, keys::LVM_TYPES))?;
    let (compression, deduplication) = (map.optional("compression", boolean)?, map.optional("deduplication", boolean)?);
    let pool = map.optional("pool", |node| word(node, keys::POOLS))?;
    let sync = map.optional("initial_sync", |node| word(node, common::INITIAL_SYNC))?;
    let mode = map.optional("mode", |node| word(node, keys::MODES))?;
    let found = Lvm {
        kind,
        pool: pool.unwrap_or(LvmType::Linear),
        stripes: map.optional("stripes", |node| whole(node, common::STRIPES))?,
        stripe_size: map.optional("stripe_size", |node| power_of_two(node, common::CHUNK))?,
        size: map.optional("size", size)?,
        virtual_size: map.optional("virtual_size", size)?,
        allocation: map.optional("allocation", |node| word(node, keys::ALLOCATIONS))?,
        compression: compression.unwrap_or(true),
        deduplication: deduplication.unwrap_or(true),
        initial_sync: sync.unwrap_or(InitialSync::Wait),
        integrity: map.optional("integrity", |node| word(node, keys::INTEGRITIES))?,
        mode: mode.unwrap_or(CacheMode::Writethrough),
        cache_size: map.optional("cache_size", size)?,
        chunk: map.optional("chunk", |node| power_of_two(node, chunks(kind)))?,
        snapshots: map.optional("snapshots", |node| whole(node, keys::SNAPSHOTS))?.unwrap_or(0),
    };
    map.finish()?;
    let vdo = compression.is_some() || deduplication.is_some() || pool.is_some();
    let said = Said { vdo, sync: sync.is_some(), mode: mode.is_some() };
    match wrong(&found, &said).or_else(|| wrong_beside(&found, &said)) {
        None => Ok(Kind::Lvm(found)),
        Some(what) => contradiction(node, what),
    }
}

fn chunks(kind: LvmType) -> crate::keys::Limits<Bytes> {
    if kind.is_cached() { keys::CACHE_CHUNK } else { keys::SNAPSHOT_CHUNK }
}

/// What contradicts the type.
fn wrong(lvm: &Lvm, said: &Said) -> Option<Say> {
    let (kind, layout) = (lvm.kind, lvm.layout());
    Some(match () {
        () if !layout.is_striped() && (lvm.stripes.is_some() || lvm.stripe_size.is_some()) => {
            say!(
                "`stripes` and `stripe_size` are for striped types",
                "`stripes` и `stripe_size` — для типов с чередованием"
            )
        }
        () if kind.is_in_pool() != lvm.virtual_size.is_some() => {
            say!(
                "`virtual_size` belongs to `thin` and `vdo`, and they need it",
                "`virtual_size` нужен типам `thin` и `vdo`, и только им"
            )
        }
        () if kind != LvmType::Vdo && said.vdo => {
            say!(
                "`pool`, `compression` and `deduplication` are for `vdo`",
                "`pool`, `compression` и `deduplication` — для `vdo`"
            )
        }
        () if said.sync && !layout.is_redundant() => {
            say!("`initial_sync` is for raid types", "`initial_sync` — для типов raid")
        }
        // LVM refuses: parity that was never computed would lose data with the first drive.
        () if lvm.initial_sync == InitialSync::Skip && matches!(layout, LvmType::Raid5 | LvmType::Raid6) => say!(
            "LVM does not leave out the first synchronisation of `raid5` and `raid6`",
            "LVM не пропускает первую синхронизацию `raid5` и `raid6`"
        ),
        () => return None,
    })
}

/// What contradicts the type, or each other, of what lies beside the volume.
fn wrong_beside(lvm: &Lvm, said: &Said) -> Option<Say> {
    let kind = lvm.kind;
    let copies = lvm.snapshots > 0 && kind != LvmType::Thin;
    Some(match () {
        () if lvm.integrity.is_some() && !kind.is_redundant() => say!(
            "`integrity` is for raid types with redundancy: others have nothing to repair from",
            "`integrity` — для типов raid с избыточностью: другим исправлять нечем"
        ),
        () if lvm.integrity.is_some() && lvm.initial_sync == InitialSync::Skip => say!(
            "with `integrity` the first synchronisation cannot be left out: checksums have to be computed",
            "с `integrity` первую синхронизацию пропустить нельзя: нужно вычислить контрольные суммы"
        ),
        () if said.mode && kind != LvmType::Cache => {
            say!(
                "`mode` is for `cache`; a `writecache` always writes back",
                "`mode` — для `cache`; у `writecache` запись всегда отложенная"
            )
        }
        () if lvm.cache_size.is_some() && !kind.is_cached() => {
            say!("`cache_size` is for `cache` and `writecache`", "`cache_size` — для `cache` и `writecache`")
        }
        () if lvm.snapshots > 0 && (kind.is_cached() || kind == LvmType::Vdo) => say!(
            "`snapshots` are not for `vdo`, `cache` and `writecache`",
            "`snapshots` не бывает у `vdo`, `cache` и `writecache`"
        ),
        () if copies && lvm.size.is_none() => say!(
            "`snapshots` need a `size`: each of them has room for the whole volume beside it",
            "для `snapshots` нужен `size`: рядом с томом у каждого снимка есть место для всего тома"
        ),
        () if lvm.chunk.is_some() && kind != LvmType::Cache && !copies => say!(
            "`chunk` is for `cache`, and for `snapshots` that are not `thin`",
            "`chunk` — для `cache` и для `snapshots` не у `thin`"
        ),
        () => return None,
    })
}
