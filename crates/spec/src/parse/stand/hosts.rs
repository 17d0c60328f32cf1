//! `hosts` and `across` of a stand file: several hosts, and what of the stand is on which.

mod mirror;

use super::super::address::{self, Address};
use super::super::{Map, list, text};
use super::short_name;
use crate::keys::stand as keys;
use crate::stand::{Kind, Layer, Ref, Stand, StandHost, Transport};
use crate::yaml::{Node, Value};
use stend_base::{Error, Result, Say, say};

/// Names that `across` gives to its hosts.
const STORAGE: &str = "storage";
const CLIENT: &str = "client";

/// `hosts`: names with an address each, or several.
pub(super) fn hosts(node: &Node) -> Result<Vec<StandHost>> {
    let Value::Map(pairs) = &node.value else {
        let told = say!("`hosts` is a mapping from names to addresses", "`hosts` — отображение имён на адреса");
        return Err(node.error(told).hint(say!(
            "for example `hosts: {{node1: 10.77.1.1, client: 10.77.1.2}}`",
            "например `hosts: {{node1: 10.77.1.1, client: 10.77.1.2}}`"
        )));
    };
    if !keys::HOSTS.hold(&pairs.len()) {
        let (least, most) = (keys::HOSTS.least, keys::HOSTS.most);
        return Err(node
            .error(say!("`hosts` names {least} to {most} hosts", "в `hosts` от {least} до {most} машин"))
            .hint(say!("leave it out for a stand of one host", "для стенда на одной машине уберите его")));
    }
    let mut found: Vec<StandHost> = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let name = short_name(&Node { at: key.at.clone(), value: Value::Text(key.name.clone()) })?;
        found.push(StandHost { name, addresses: addresses_of(value)? });
    }
    once_each(&found, node)?;
    Ok(found)
}

/// `across`: two of them.
pub(super) fn across(node: &Node) -> Result<Vec<StandHost>> {
    let mut map = Map::of(node, &keys::ACROSS)?;
    let host = |name: &str, addresses| StandHost { name: name.to_string(), addresses };
    let found =
        vec![host(STORAGE, map.required(STORAGE, addresses_of)?), host(CLIENT, map.required(CLIENT, addresses_of)?)];
    map.finish()?;
    once_each(&found, node)?;
    Ok(found)
}

/// Hosts as a key of the file names them, with that key's value.
type Named = Option<(Vec<StandHost>, Node)>;

/// Says which hosts the stand has, and what of it is on which: by `across`, by `hosts`, or by neither. `machine`: it makes one.
pub(super) fn set(
    stand: &mut Stand,
    (across, several): (Named, Named),
    machine: Option<Node>,
    (root, layers): (&Node, &[Node]),
) -> Result<()> {
    let named = match (across, several) {
        (Some((_, node)), Some(_)) => {
            let told = say!(
                "`across` and `hosts` are two ways to name hosts",
                "`across` и `hosts` — два способа назвать машины"
            );
            return Err(node.error(told).hint(say!("keep one of them", "оставьте один из них")));
        }
        (Some((found, node)), None) => {
            split(stand, &node)?;
            Some((found, node))
        }
        (None, several) => several,
    };
    let Some((found, node)) = named else { return must_be_none(stand, root, layers) };
    stand.hosts = found;
    place(stand, &node, layers)?;
    machine.map_or(Ok(()), |node| {
        Err(node
            .error(say!("a stand of several hosts makes no machine", "стенд на нескольких машинах не создаёт машину"))
            .hint(say!(
                "start each with `stend lab up`, and name them by `--lab` and `--storage`",
                "запустите каждую командой `stend lab up` и укажите их в `--lab` и `--storage`"
            )))
    })
}

/// The addresses of a host: one, or a list of them.
fn addresses_of(node: &Node) -> Result<Vec<String>> {
    let items = match node.value {
        Value::List(_) => list(node)?,
        _ => std::slice::from_ref(node),
    };
    if !keys::ADDRESSES_OF_A_HOST.hold(&items.len()) {
        let most = keys::ADDRESSES_OF_A_HOST.most;
        return Err(node.error(say!("a host has 1 to {most} addresses", "у машины от 1 до {most} адресов")));
    }
    items.iter().map(address_of).collect()
}

fn address_of(node: &Node) -> Result<String> {
    let text = text(node)?;
    match Address::of(&text).is_some_and(Address::is_host) {
        true => Ok(text),
        false => Err(address::wrong(node, &text, "10.77.0.1")),
    }
}

fn once_each(hosts: &[StandHost], node: &Node) -> Result<()> {
    let all: Vec<&String> = hosts.iter().flat_map(|host| &host.addresses).collect();
    let Some((_, twice)) = all.iter().enumerate().find(|(at, address)| all[..*at].contains(address)) else {
        return Ok(());
    };
    Err(node
        .error(say!("two hosts have the address `{twice}`", "адрес `{twice}` указан у двух машин"))
        .hint(say!("a stand of one host names no hosts", "стенд на одной машине машин не называет")))
}

/// Says of `across` in the words of `hosts` what is on which host: there is one way from the one to the other, and everything is on one
/// side of it.
fn split(stand: &mut Stand, node: &Node) -> Result<()> {
    let exports = stand.layers.iter().filter(|layer| layer.kind.is_export()).count();
    let border = stand.layers.iter().position(|layer| layer.kind.is_export());
    let Some(border) = border.filter(|_| exports == 1) else {
        return Err(node
            .error(say!(
                "a stand with `across` has exactly one export, this one has {exports}",
                "у стенда с `across` ровно один экспорт, а здесь их {exports}"
            ))
            .hint(say!(
                "exports are `nvme_of`, `iscsi`, `nbd` and `nfs`; for several take `hosts` in place of `across`",
                "экспорты — это `nvme_of`, `iscsi`, `nbd` и `nfs`; если их несколько, вместо `across` нужен `hosts`"
            )));
    };
    if stand.layers.iter().any(|layer| layer.host.is_some() || layer.to.is_some())
        || stand.drives.iter().any(|drive| drive.host.is_some())
    {
        return Err(needs_hosts(node));
    }
    stand.drives.iter_mut().for_each(|drive| drive.host = Some(STORAGE.to_string()));
    for (at, layer) in stand.layers.iter_mut().enumerate() {
        let side = if at > border { CLIENT } else { STORAGE };
        layer.host = layer.on.is_empty().then(|| side.to_string());
        layer.to = (at == border).then(|| CLIENT.to_string());
    }
    Ok(())
}

/// `host` and `to` in a file without `hosts`, and what lies on several.
fn must_be_none(stand: &Stand, root: &Node, layers: &[Node]) -> Result<()> {
    let mirror = stand.layers.iter().zip(layers).find(|(layer, _)| layer.kind.is_mirror());
    if let Some((_, node)) = mirror {
        return Err(mirror::needs_hosts(node));
    }
    if stand.drives.iter().any(|drive| drive.host.is_some()) {
        return Err(needs_hosts(root));
    }
    let given = |(layer, _): &(&Layer, &Node)| layer.host.is_some() || layer.to.is_some();
    stand.layers.iter().zip(layers).find(given).map_or(Ok(()), |(_, node)| Err(needs_hosts(node)))
}

fn needs_hosts(node: &Node) -> Box<Error> {
    node.error(say!("`host` and `to` are for a stand with `hosts`", "`host` и `to` бывают только у стенда с `hosts`"))
        .hint(say!(
            "for example `hosts: {{node1: 10.77.1.1, client: 10.77.1.2}}`",
            "например `hosts: {{node1: 10.77.1.1, client: 10.77.1.2}}`"
        ))
}

/// Gives every layer its host, which follows from what it lies on; what cannot be on hosts so is an error.
fn place(stand: &mut Stand, root: &Node, layers: &[Node]) -> Result<()> {
    for drive in &stand.drives {
        let name = &drive.name;
        match &drive.host {
            None => {
                return Err(root.error(say!(
                    "no host is given for the drive `{name}`: `host` says which one has it",
                    "у накопителя `{name}` не указана машина: её задаёт `host`"
                )));
            }
            Some(host) => known(stand, host, root)?,
        }
    }
    for (at, node) in layers.iter().enumerate().take(stand.layers.len()) {
        let host = host_of(stand, &stand.layers[at], node)?;
        stand.layers[at].host = Some(host);
    }
    must_have_work(stand, root)?;
    if stand.hosts_from_below().is_none() {
        return Err(root
            .error(say!(
                "the hosts take things in from each other in a circle",
                "машины принимают устройства друг у друга по кругу"
            ))
            .hint(say!(
                "each host is built whole before the next one: exports go in one direction",
                "каждая машина строится целиком до следующей: экспорты идут в одну сторону"
            )));
    }
    let measured = stand.measured().unwrap_or_default();
    let elsewhere = stand.targets.iter().find(|of| stand.host_of(of) != Some(measured));
    let Some(Ref { name, .. }) = elsewhere else { return Ok(()) };
    let other = stand.host_of(elsewhere.unwrap_or(&stand.targets[0])).unwrap_or_default();
    Err(root
        .error(say!(
            "`{name}` is on `{other}`, and other targets are on `{measured}`",
            "`{name}` находится на `{other}`, а другие объекты — на `{measured}`"
        ))
        .hint(say!(
            "a run measures one host of a stand: hand everything out to it, and name in `targets` what it takes in",
            "прогон измеряет одну машину стенда: отдайте ей всё и укажите в `targets` то, что она принимает"
        )))
}

/// The host that builds a layer.
fn host_of(stand: &Stand, layer: &Layer, node: &Node) -> Result<String> {
    if layer.kind.is_mirror() {
        return mirror::peer(stand, layer, node);
    }
    let name = &layer.name;
    let error = |what: Say, hint: Say| Err(node.error(what).hint(hint));
    let mut below: Vec<&str> = layer.on.iter().filter_map(|of| stand.host_of(of)).collect();
    below.dedup();
    let host = match (&below[..], &layer.host) {
        ([], None) => {
            return error(
                say!("`{name}` lies on nothing: on which host?", "`{name}` ни на чём не лежит: на какой он машине?"),
                say!("`host` names it", "её называет `host`"),
            );
        }
        ([], Some(host)) => host,
        ([one], None) => *one,
        ([one], Some(host)) if one == host => one,
        ([one, ..], Some(host)) if *one != host => {
            return error(
                say!(
                    "`{name}` lies on what is on `{one}`, and not on `{host}`",
                    "`{name}` лежит на том, что находится на `{one}`, а не на `{host}`"
                ),
                say!(
                    "leave `host` out, or hand out what it lies on",
                    "уберите `host` или отдайте нижний слой экспортом"
                ),
            );
        }
        ([one, other, ..], _) => {
            return error(
                say!(
                    "`{name}` lies on what is on `{one}` and on `{other}`",
                    "`{name}` лежит на том, что находится на `{one}` и на `{other}`"
                ),
                say!(
                    "an export with `to` hands a layer out to another host; below and above it is what is on one host",
                    "экспорт с `to` отдаёт слой другой машине; ниже и выше него — то, что на одной машине"
                ),
            );
        }
        ([_], Some(host)) => host,
    };
    known(stand, host, node)?;
    must_go_to_another(stand, layer, host, node)?;
    Ok(host.to_string())
}

/// An export goes to another host, and nothing else does.
fn must_go_to_another(stand: &Stand, layer: &Layer, host: &str, node: &Node) -> Result<()> {
    let (name, key) = (&layer.name, layer.kind.key());
    let (what, hint) = match (&layer.to, layer.kind.is_export()) {
        (None, false) => return Ok(()),
        (Some(_), false) => (
            say!(
                "`{key}` hands nothing out, and `to` names a host",
                "`{key}` ничего не отдаёт, а `to` называет машину"
            ),
            say!("exports are `nvme_of`, `iscsi`, `nbd` and `nfs`", "экспорты — это `nvme_of`, `iscsi`, `nbd` и `nfs`"),
        ),
        (None, true) => (
            say!("which host takes in what `{name}` hands out?", "какая машина принимает то, что отдаёт `{name}`?"),
            say!("`to` names it", "её называет `to`"),
        ),
        (Some(to), true) if to == host => (
            say!("`{name}` is on `{host}` and goes there, too", "`{name}` находится на `{host}` и отдаётся ей же"),
            say!("`to` names another host of the stand", "`to` называет другую машину стенда"),
        ),
        (Some(_), true) if matches!(&layer.kind, Kind::NvmeOf(settings) if settings.transport == Transport::Loop) => (
            say!("the transport `loop` does not leave its host", "транспорт `loop` не выходит за пределы машины"),
            say!("take `tcp` or `rdma`", "возьмите `tcp` или `rdma`"),
        ),
        (Some(to), true) => return known(stand, to, node),
    };
    Err(node.error(what).hint(hint))
}

fn known(stand: &Stand, host: &str, node: &Node) -> Result<()> {
    if stand.hosts.iter().any(|known| known.name == host) {
        return Ok(());
    }
    let names = stand.hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join("`, `");
    Err(node
        .error(say!("`{host}` is no host of the stand", "машины `{host}` в стенде нет"))
        .hint(say!("`hosts` has: `{names}`", "в `hosts` есть: `{names}`")))
}

fn must_have_work(stand: &Stand, root: &Node) -> Result<()> {
    let works = |host: &str| {
        let of = |other: &Option<String>| other.as_deref() == Some(host);
        stand.drives.iter().any(|drive| of(&drive.host))
            || stand.layers.iter().any(|layer| of(&layer.host) || of(&layer.to))
    };
    let Some(idle) = stand.hosts.iter().find(|host| !works(&host.name)) else { return Ok(()) };
    let name = &idle.name;
    Err(root
        .error(say!("nothing of the stand is on the host `{name}`", "на машине `{name}` ничего из стенда нет"))
        .hint(say!("leave it out of `hosts`", "уберите её из `hosts`")))
}

#[cfg(test)]
mod tests;
