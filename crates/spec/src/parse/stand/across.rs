//! `across` of a stand file: two hosts, and what of the stand is on which.

use super::super::address::{self, Address};
use super::super::{Map, text};
use crate::keys::stand as keys;
use crate::stand::{Across, Kind, Ref, Stand, Transport};
use crate::yaml::Node;
use stend_base::{Result, Say, say};

pub(super) fn addresses(node: &Node) -> Result<Across> {
    let mut map = Map::of(node, &keys::ACROSS)?;
    let found = Across { storage: map.required("storage", host)?, client: map.required("client", host)? };
    map.finish()?;
    match found.storage == found.client {
        false => Ok(found),
        true => Err(node
            .error(say!("both hosts have one address", "у обеих машин один адрес"))
            .hint(say!("leave `across` out for a stand of one host", "для стенда на одной машине уберите `across`"))),
    }
}

fn host(node: &Node) -> Result<String> {
    let text = text(node)?;
    match Address::of(&text).is_some_and(Address::is_host) {
        true => Ok(text),
        false => Err(address::wrong(node, &text, "10.77.0.1")),
    }
}

/// There is one way from one host to the other, and everything is on one side of it.
pub(super) fn fits(stand: &Stand, node: &Node) -> Result<()> {
    let error = |what: Say, hint: Say| Err(node.error(what).hint(hint));
    let exports = stand.layers.iter().filter(|layer| layer.kind.is_export()).count();
    let Some(border) = stand.border().filter(|_| exports == 1) else {
        return error(
            say!(
                "a stand of two hosts has exactly one export, this one has {exports}",
                "у стенда на двух машинах ровно один экспорт, а здесь их {exports}"
            ),
            say!("exports are `nvme_of`, `iscsi`, `nbd` and `nfs`", "экспорты — это `nvme_of`, `iscsi`, `nbd` и `nfs`"),
        );
    };
    if matches!(&stand.layers[border].kind, Kind::NvmeOf(settings) if settings.transport == Transport::Loop) {
        return error(
            say!("the transport `loop` does not leave its host", "транспорт `loop` не выходит за пределы машины"),
            say!("take `tcp` or `rdma`", "возьмите `tcp` или `rdma`"),
        );
    }
    let below = |of: &&Ref| {
        let layer = stand.layers.iter().position(|layer| layer.name == of.name);
        layer.is_none_or(|index| index < border)
    };
    let above = stand.layers[border + 1..].iter().flat_map(|layer| &layer.on);
    let Some(Ref { name, .. }) = above.chain(&stand.targets).find(below) else { return Ok(()) };
    error(
        say!(
            "`{name}` is on the host with the drives, and what is measured, or lies above the export, is not",
            "`{name}` находится на машине с накопителями, а измеряемое и всё выше экспорта — на другой"
        ),
        say!(
            "below the export lies what is on one host, above it what is on the other",
            "ниже экспорта — то, что на одной машине, выше — то, что на другой"
        ),
    )
}

#[cfg(test)]
mod tests {
    use crate::parse::stand;
    use crate::stand::Side;

    fn file(across: &str, layers: &str) -> String {
        format!("stand: two\ndrives: [{{id: A}}, {{id: B}}]\nacross: {across}\nlayers:\n{layers}")
    }

    const BOTH: &str = "{storage: 10.77.0.1, client: 10.77.0.2}";
    const LAYERS: &str = "  - md: {level: 1}\n  - nvme_of: {transport: tcp}\n  - fs: {type: ext4}\n";

    #[test]
    fn each_host_has_the_layers_on_its_side_and_both_the_export() {
        let whole = stand(&file(BOTH, LAYERS), "s.yaml").unwrap();
        let names = |side| {
            let part = whole.clone().on(side);
            part.layers_here().iter().map(|layer| layer.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(Some(Side::Storage)), ["md", "nvme_of"]);
        assert_eq!(names(Some(Side::Client)), ["nvme_of", "fs"]);
        assert_eq!(names(None), ["md", "nvme_of", "fs"]);
        let storage = whole.clone().on(Some(Side::Storage));
        assert_eq!(
            (storage.targets_here()[0].name.as_str(), storage.has_drives(), storage.takes_in()),
            ("md", true, false)
        );
        let client = whole.on(Some(Side::Client));
        assert_eq!(
            (client.targets_here()[0].name.as_str(), client.has_drives(), client.takes_in()),
            ("fs", false, true)
        );
        let one = stand("stand: one\ndrives: [{id: A}]\nlayers: [{fs: {type: xfs}}]", "s.yaml").unwrap();
        assert_eq!(one.on(Some(Side::Client)).side, None, "it has one host");
    }

    #[test]
    fn what_no_two_hosts_can_share_is_refused() {
        for (across, layers, words) in [
            (BOTH, "  - md: {level: 1}\n", "has exactly one export, this one has 0"),
            (BOTH, "  - iscsi: {}\n  - nvme_of: {transport: tcp}\n", "this one has 2"),
            (BOTH, "  - nvme_of: {transport: loop}\n", "`loop` does not leave its host"),
            (BOTH, "  - nvme_of: {transport: tcp, soft_roce: true}\n", "which only the transport `rdma` needs"),
            (BOTH, "  - iscsi: {soft_roce: true}\n", "which only the transport `iser` needs"),
            (
                BOTH,
                "  - {nvme_of: {transport: tcp}, on: [d1]}\n  - {fs: {type: ext4}, on: [d2]}\n",
                "`d2` is on the host",
            ),
            ("{storage: 10.77.0.1, client: 10.77.0.1}", LAYERS, "both hosts have one address"),
            ("{storage: 127.0.0.1, client: 10.77.0.2}", LAYERS, "`127.0.0.1` is no address of a host"),
            ("{storage: array, client: 10.77.0.2}", LAYERS, "`array` is no address"),
            ("{storage: 10.77.0.1}", LAYERS, "`client`"),
        ] {
            let error = stand(&file(across, layers), "s.yaml").unwrap_err();
            assert!(error.message.en.contains(words), "{words}: {error}");
        }
    }
}
