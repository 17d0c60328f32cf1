//! Layers that hand out what lies below: their settings, checked against each other.

use super::super::{Map, whole, word};
use super::layer::{contradiction, plain_words};
use crate::keys::stand::exports as keys;
use crate::stand::{Iscsi, IscsiTransport, Kind, Nfs, NvmeOf, NvmePolicy, PathPolicy, Transport};
use crate::yaml::Node;
use stend_base::{Result, say};

pub(super) fn nvme_of(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::NVME_OF)?;
    let transport = map.required("transport", |node, file| word(node, file, keys::TRANSPORTS))?;
    let paths = map.optional("paths", |node, file| whole(node, file, keys::PATHS))?.unwrap_or(1);
    let policy = map.optional("policy", |node, file| word(node, file, keys::NVME_POLICIES))?;
    let active = map.optional("active", |node, file| whole(node, file, keys::PATHS))?;
    map.finish()?;
    let wrong = match () {
        () if transport == Transport::Loop && paths > 1 => {
            say!("`loop` has no addresses: one path at most", "у `loop` нет адресов: путь может быть только один")
        }
        () if paths == 1 && (policy.is_some() || active.is_some()) => say!(
            "one path leaves nothing to choose: `policy` and `active` need `paths` above 1",
            "один путь не выбирают: для `policy` и `active` нужно `paths` больше 1"
        ),
        () if active.is_some_and(|active| active > paths) => {
            say!("`active` is more than there are `paths`", "`active` больше, чем `paths`")
        }
        () => {
            let policy = policy.unwrap_or(NvmePolicy::Numa);
            return Ok(Kind::NvmeOf(NvmeOf { transport, paths, active: active.unwrap_or(paths), policy }));
        }
    };
    contradiction(node, file, wrong)
}

pub(super) fn iscsi(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::ISCSI)?;
    let transport = map.optional("transport", |node, file| word(node, file, keys::ISCSI_TRANSPORTS))?;
    let paths = map.optional("paths", |node, file| whole(node, file, keys::PATHS))?.unwrap_or(1);
    let policy = map.optional("policy", |node, file| word(node, file, keys::PATH_POLICIES))?;
    map.finish()?;
    if paths == 1 && policy.is_some() {
        return contradiction(
            node,
            file,
            say!(
                "one path leaves nothing to choose: `policy` needs `paths` above 1",
                "один путь не выбирают: для `policy` нужно `paths` больше 1"
            ),
        );
    }
    let transport = transport.unwrap_or(IscsiTransport::Tcp);
    Ok(Kind::Iscsi(Iscsi { transport, paths, policy: policy.unwrap_or(PathPolicy::ServiceTime) }))
}

pub(super) fn nbd(node: &Node, file: &str) -> Result<Kind> {
    Map::of(node, file, &keys::NBD)?.finish()?;
    Ok(Kind::Nbd)
}

pub(super) fn nfs(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::NFS)?;
    let options = map.optional("options", plain_words)?.unwrap_or_default();
    map.finish()?;
    Ok(Kind::Nfs(Nfs { options }))
}
