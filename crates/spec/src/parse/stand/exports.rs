//! Layers that hand out what lies below: their settings, checked against each other.

use super::super::{Map, boolean, whole, word};
use super::values::{contradiction, plain_words};
use crate::keys::stand::exports as keys;
use crate::stand::{Iscsi, IscsiTransport, Kind, Multipath, Nfs, NvmeOf, NvmePolicy, PathPolicy, Transport};
use crate::yaml::Node;
use stend_base::{Result, Say, say};

pub(super) fn nvme_of(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::NVME_OF)?;
    let transport = map.required("transport", |node| word(node, keys::TRANSPORTS))?;
    let paths = map.optional("paths", |node| whole(node, keys::PATHS))?.unwrap_or(1);
    let policy = map.optional("policy", |node| word(node, keys::NVME_POLICIES))?;
    let active = map.optional("active", |node| whole(node, keys::PATHS))?;
    let soft_roce = map.optional("soft_roce", boolean)?.unwrap_or(false);
    map.finish()?;
    let wrong = match transport == Transport::Loop && paths > 1 {
        true => {
            Some(say!("`loop` has no addresses: one path at most", "у `loop` нет адресов: путь может быть только один"))
        }
        false => nothing_to_choose(paths, policy.is_some(), active)
            .or_else(|| nothing_to_imitate(soft_roce, transport == Transport::Rdma, "rdma")),
    };
    if let Some(wrong) = wrong {
        return contradiction(node, wrong);
    }
    let policy = policy.unwrap_or(NvmePolicy::Numa);
    Ok(Kind::NvmeOf(NvmeOf { transport, paths, active: active.unwrap_or(paths), policy, soft_roce }))
}

pub(super) fn iscsi(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::ISCSI)?;
    let transport = map.optional("transport", |node| word(node, keys::ISCSI_TRANSPORTS))?;
    let paths = map.optional("paths", |node| whole(node, keys::PATHS))?.unwrap_or(1);
    let policy = map.optional("policy", |node| word(node, keys::PATH_POLICIES))?;
    let active = map.optional("active", |node| whole(node, keys::PATHS))?;
    let soft_roce = map.optional("soft_roce", boolean)?.unwrap_or(false);
    map.finish()?;
    let transport = transport.unwrap_or(IscsiTransport::Tcp);
    let wrong = nothing_to_choose(paths, policy.is_some(), active)
        .or_else(|| nothing_to_imitate(soft_roce, transport == IscsiTransport::Iser, "iser"));
    if let Some(wrong) = wrong {
        return contradiction(node, wrong);
    }
    let policy = policy.unwrap_or(PathPolicy::ServiceTime);
    Ok(Kind::Iscsi(Iscsi { transport, paths, active: active.unwrap_or(paths), policy, soft_roce }))
}

/// What is wrong with a choice among so many paths.
fn nothing_to_choose(paths: u32, policy: bool, active: Option<u32>) -> Option<Say> {
    if paths == 1 && (policy || active.is_some()) {
        return Some(say!(
            "one path leaves nothing to choose: `policy` and `active` need `paths` above 1",
            "один путь не выбирают: для `policy` и `active` нужно `paths` больше 1"
        ));
    }
    let more = active.is_some_and(|active| active > paths);
    more.then(|| say!("`active` is more than there are `paths`", "`active` больше, чем `paths`"))
}

/// What is wrong with a card that is to be imitated.
fn nothing_to_imitate(soft_roce: bool, over_rdma: bool, word: &str) -> Option<Say> {
    (soft_roce && !over_rdma).then(|| {
        say!(
            "`soft_roce` imitates a card for RDMA, which only the transport `{word}` needs",
            "`soft_roce` имитирует адаптер RDMA, а он нужен только транспорту `{word}`"
        )
    })
}

pub(super) fn multipath(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::MULTIPATH)?;
    let paths = map.required("paths", |node| whole(node, keys::DRIVE_PATHS))?;
    let policy = map.optional("policy", |node| word(node, keys::PATH_POLICIES))?;
    map.finish()?;
    Ok(Kind::Multipath(Multipath { paths, policy: policy.unwrap_or(PathPolicy::ServiceTime) }))
}

pub(super) fn nbd(node: &Node) -> Result<Kind> {
    Map::of(node, &keys::NBD)?.finish()?;
    Ok(Kind::Nbd)
}

pub(super) fn nfs(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::NFS)?;
    let options = map.optional("options", plain_words)?.unwrap_or_default();
    map.finish()?;
    Ok(Kind::Nfs(Nfs { options }))
}
