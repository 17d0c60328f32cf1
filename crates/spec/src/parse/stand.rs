//! From YAML nodes to a [`Stand`]: names, references, and which layer can lie on which. What a layer is, is read beside it.

mod ceph;
mod dm;
mod drbd;
mod exports;
mod hosts;
mod layer;
mod logged;
mod lvm;
mod values;
mod zfs;

use super::{Map, expected, list, text};
use crate::keys::stand as keys;
use crate::stand::{DriveRef, Kind, Layer, Ref, Stand};
use crate::yaml::{self, Node};
use stend_base::{Result, Say, say};

/// Longest name of a stand and of what is in it: `stend-NAME-LAYER` has to fit what LVM, md and ZFS take.
const NAME_MAX: usize = 32;

/// Parses a stand file. `file` names it in errors; kind of every error is `Spec`.
pub fn stand(text: &str, file: &str) -> Result<Stand> {
    parsed(text, file).map_err(|error| {
        error.or_hint(say!(
            "docs/formats/stand.md describes every key and has examples",
            "все ключи с примерами описаны в docs/formats/stand.md"
        ))
    })
}

fn parsed(text: &str, file: &str) -> Result<Stand> {
    let root = yaml::parse(text, file)?;
    let mut map = Map::of(&root, &keys::STAND)?;
    let name = map.required("stand", short_name)?;
    let machine = map.optional("machine", |node| Ok((super::name(node)?, node.clone())))?;
    let drives = map.optional("drives", drives)?.unwrap_or_default();
    let overwrite =
        map.optional("overwrite", |node| list(node)?.iter().map(super::name).collect::<Result<Vec<String>>>())?;
    let drive_names: Vec<&str> = drives.iter().map(|drive| drive.name.as_str()).collect();
    let found = map.optional("layers", |node| Ok((layers(node, &drive_names)?, list(node)?.to_vec())))?;
    let (layers, nodes) = found.unwrap_or_default();
    let mut stand = Stand {
        name,
        machine: machine.as_ref().map(|(machine, _)| machine.clone()),
        drives,
        overwrite: overwrite.unwrap_or_default(),
        layers,
        targets: Vec::new(),
        hosts: Vec::new(),
        here: None,
    };
    let across = map.optional("across", |node| Ok((hosts::across(node)?, node.clone())))?;
    let several = map.optional("hosts", |node| Ok((hosts::hosts(node)?, node.clone())))?;
    let given = map.optional("targets", |node| {
        let refs = references(node)?;
        refs.iter().try_for_each(|(of, item)| known(of, item, &stand, stand.layers.len()))?;
        free(&refs, &stand)?;
        Ok(refs.into_iter().map(|(of, _)| of).collect::<Vec<Ref>>())
    })?;
    map.finish()?;
    stand.targets = match given {
        Some(given) => given,
        None if stand.layers.is_empty() => {
            stand.drives.iter().map(|drive| Ref { name: drive.name.clone(), part: None }).collect()
        }
        None => last_product(&stand).into_iter().collect(),
    };
    if stand.targets.is_empty() {
        let message =
            say!("no layer makes anything that could be measured", "ни один слой не создаёт того, что можно измерить");
        return Err(root.error(message));
    }
    unused_drive(&stand, &root)?;
    hosts::set(&mut stand, (across, several), machine.map(|(_, node)| node), (&root, &nodes))?;
    logged::check(&stand, &root)?;
    Ok(stand)
}

/// All that the last layer that makes something makes.
fn last_product(stand: &Stand) -> Option<Ref> {
    let last = stand.layers.iter().rev().find(|layer| stand.makes(layer) > 0)?;
    Some(Ref { name: last.name.clone(), part: None })
}

fn unused_drive(stand: &Stand, root: &Node) -> Result<()> {
    let used = |drive: &DriveRef| {
        let names = |of: &Ref| of.name == drive.name;
        stand.layers.iter().any(|layer| layer.on.iter().any(names)) || stand.targets.iter().any(names)
    };
    let Some(drive) = stand.drives.iter().find(|drive| !used(drive)) else { return Ok(()) };
    let name = &drive.name;
    Err(root
        .error(say!("no layer uses the drive `{name}`", "накопитель `{name}` не использует ни один слой"))
        .hint(say!("name it in `on` of a layer, or leave it out", "укажите его в `on` слоя или уберите")))
}

fn drives(node: &Node) -> Result<Vec<DriveRef>> {
    let items = list(node)?;
    let most = keys::DRIVES.most;
    if items.len() > most {
        return Err(node.error(say!("a stand has {most} drives at most", "в стенде не больше {most} накопителей")));
    }
    let mut drives: Vec<DriveRef> = Vec::new();
    for (item, number) in items.iter().zip(1..) {
        let mut map = Map::of(item, &keys::DRIVE)?;
        let id = map.required("id", super::name)?;
        let name = map.optional("name", short_name)?.unwrap_or_else(|| format!("d{number}"));
        let host = map.optional("host", short_name)?;
        map.finish()?;
        // Serial numbers of two hosts may be one: each knows its own drives.
        let same = |other: &&DriveRef| (other.id == id && other.host == host) || other.name == name;
        if let Some(other) = drives.iter().find(same) {
            let (id, other) = (if other.id == id { &id } else { &name }, &other.name);
            return Err(item.error(say!(
                "`{id}` appears twice, first as `{other}`",
                "`{id}` встречается дважды, впервые как `{other}`"
            )));
        }
        drives.push(DriveRef { name, id, host });
    }
    Ok(drives)
}

fn layers(node: &Node, drives: &[&str]) -> Result<Vec<Layer>> {
    let items = list(node)?;
    if !keys::LAYERS.hold(&items.len()) {
        return Err(node.error(say!("a stand has 1 to 16 layers", "в стенде от 1 до 16 слоёв")));
    }
    let refs = |names: &[&str]| names.iter().map(|name| Ref { name: name.to_string(), part: None }).collect();
    // What a layer lies on whose `on` says nothing.
    let mut below: Vec<Ref> = refs(drives);
    let drive_refs =
        drives.iter().map(|name| DriveRef { name: name.to_string(), id: String::new(), host: None }).collect();
    let mut so_far = Stand {
        name: String::new(),
        machine: None,
        drives: drive_refs,
        overwrite: Vec::new(),
        layers: Vec::new(),
        targets: Vec::new(),
        hosts: Vec::new(),
        here: None,
    };
    for item in items {
        let mut map = Map::of(item, &keys::LAYER)?;
        let name = map.optional("name", short_name)?;
        let on = map.optional("on", references)?;
        let (host, to) = (map.optional("host", short_name)?, map.optional("to", short_name)?);
        let kind = layer::kind(&mut map, item)?;
        map.finish()?;
        let name = name.unwrap_or_else(|| kind.key().to_string());
        if so_far.layer(&name).is_some() || drives.contains(&name.as_str()) {
            return Err(item
                .error(say!("`{name}` is named twice", "имя `{name}` занято"))
                .hint(say!("give the layer a `name` of its own", "дайте слою своё имя в `name`")));
        }
        let number = so_far.layers.len();
        let on = match on {
            Some(on) => {
                on.iter().try_for_each(|(of, node)| known(of, node, &so_far, number))?;
                on.into_iter().map(|(of, _)| of).collect()
            }
            None if kind.needs().1 == 0 => Vec::new(),
            None => below.clone(),
        };
        let layer = Layer { name, kind, on, host, to, line: item.at.line };
        fits(&layer, &so_far, item)?;
        if layer.kind.makes(1) > 0 {
            below = refs(&[&layer.name]);
        }
        if so_far.makes(&layer) > keys::THINGS_MAX {
            let most = keys::THINGS_MAX;
            let message = say!("a layer makes {most} things at most", "слой создаёт не больше {most} устройств");
            return Err(item.error(message));
        }
        so_far.layers.push(layer);
    }
    Ok(so_far.layers)
}

/// Whether a layer can lie on what it names: enough devices, no directory, nothing that another layer has.
fn fits(layer: &Layer, below: &Stand, node: &Node) -> Result<()> {
    let (least, most) = layer.kind.needs();
    let count = layer.on.iter().map(|of| below.stands_for(of)).fold(0, u32::saturating_add);
    let (name, key) = (&layer.name, layer.kind.key());
    let error = |what: Say, hint: Say| Err(node.error(what).hint(hint));
    if most == 0 && count > 0 {
        return error(
            say!(
                "`{key}` lies on nothing, and `on` names something",
                "`{key}` ни на чём не лежит, а `on` что-то называет"
            ),
            say!("leave `on` out", "уберите `on`"),
        );
    }
    if count < least || count > most {
        return error(
            say!(
                "`{name}` needs {least} to {most} devices and has {count}",
                "слою `{name}` нужно устройств: от {least} до {most}, а есть {count}"
            ),
            say!("`on` names what it lies on", "в `on` указывается, на чём он лежит"),
        );
    }
    if let Kind::Zfs(zfs) = &layer.kind
        && !zfs.divides(count as usize)
    {
        let data = zfs.data(count as usize);
        let width = zfs.width(data);
        return error(
            say!(
                "{data} devices do not make groups of {width}",
                "устройств {data}: на группы по {width} они не делятся"
            ),
            say!(
                "`group` says how many devices a group has; those of `log` and `cache` do not count",
                "сколько устройств в группе, задаёт `group`; устройства `log` и `cache` не считаются"
            ),
        );
    }
    on_its_like(layer, below, node)?;
    if layer.kind.is_of_drives()
        && let Some(of) = layer.on.iter().find(|of| below.layer(&of.name).is_some())
    {
        let of = &of.name;
        return error(
            say!(
                "`{name}` cannot lie on `{of}`: below `{key}` there are drives and nothing else",
                "`{name}` не может лежать на `{of}`: под `{key}` бывают только накопители"
            ),
            say!("`on` names drives of the stand", "в `on` указываются накопители стенда"),
        );
    }
    for (index, of) in layer.on.iter().enumerate() {
        let by = carried(of, &below.layers);
        if let Some(by) = by.or_else(|| layer.on[..index].iter().any(|other| overlap(other, of)).then_some(name)) {
            return Err(taken(of, by, node));
        }
    }
    Ok(())
}

/// Whether what is measured carries no layer, and stands there once.
fn free(targets: &[(Ref, Node)], stand: &Stand) -> Result<()> {
    for (index, (of, node)) in targets.iter().enumerate() {
        if let Some(by) = carried(of, &stand.layers) {
            return Err(taken(of, by, node));
        }
        if targets[..index].iter().any(|(other, _)| overlap(other, of)) {
            let shown = shown(of);
            return Err(node.error(say!("`{shown}` is measured twice", "`{shown}` измеряется дважды")));
        }
    }
    Ok(())
}

/// Whether two names are of the same thing, or one is of all among which the other is.
fn overlap(one: &Ref, other: &Ref) -> bool {
    one.name == other.name && (one.part == other.part || one.part.is_none() || other.part.is_none())
}

/// The layer that lies on it.
fn carried<'a>(of: &Ref, layers: &'a [Layer]) -> Option<&'a String> {
    layers.iter().find(|layer| layer.on.iter().any(|other| overlap(other, of))).map(|layer| &layer.name)
}

fn taken(of: &Ref, by: &str, node: &Node) -> Box<stend_base::Error> {
    let shown = shown(of);
    node.error(say!("`{shown}` is taken by `{by}` already", "`{shown}` уже занято слоем `{by}`"))
        .hint(say!("each device carries one layer", "на одном устройстве лежит один слой"))
}

/// NFS lies on a directory, everything else on devices.
fn on_its_like(layer: &Layer, below: &Stand, node: &Node) -> Result<()> {
    let is_directory = |of: &Ref| below.layer(&of.name).is_some_and(|layer| layer.kind.is_directory());
    let wants = matches!(layer.kind, Kind::Nfs(_));
    let Some(of) = layer.on.iter().find(|of| is_directory(of) != wants) else { return Ok(()) };
    let (name, of) = (&layer.name, &of.name);
    let error = match wants {
        true => node
            .error(say!(
                "`{name}` cannot lie on `{of}`, which is a device and no directory",
                "`{name}` не может лежать на `{of}`: это устройство, а не каталог"
            ))
            .hint(say!("put a layer `fs` between them", "положите между ними слой `fs`")),
        false => node
            .error(say!(
                "`{name}` cannot lie on `{of}`, which is a directory and no device",
                "`{name}` не может лежать на `{of}`: это каталог, а не устройство"
            ))
            .hint(say!(
                "a `loop` layer makes devices of files in a directory",
                "устройства из файлов в каталоге создаёт слой `loop`"
            )),
    };
    Err(error)
}

/// Whether a reference names a drive, or something that one of the first `number` layers makes.
fn known(of: &Ref, node: &Node, stand: &Stand, number: usize) -> Result<()> {
    if stand.drives.iter().any(|drive| drive.name == of.name) && of.part.is_none() {
        return Ok(());
    }
    let shown = shown(of);
    let Some(layer) = stand.layers[..number].iter().find(|layer| layer.name == of.name) else {
        let names: Vec<&str> = stand
            .drives
            .iter()
            .map(|drive| drive.name.as_str())
            .chain(stand.layers.iter().map(|layer| layer.name.as_str()))
            .collect();
        let names = names.join("`, `");
        return Err(node
            .error(say!(
                "`{shown}` is neither a drive nor a layer above this one",
                "`{shown}` — не накопитель и не слой, описанный выше"
            ))
            .hint(say!("there are: `{names}`", "есть: `{names}`")));
    };
    let makes = stand.makes(layer);
    if makes == 0 || of.part.is_some_and(|part| part == 0 || part > makes) {
        let name = &of.name;
        return Err(node.error(say!(
            "`{name}` makes {makes} things, not `{shown}`",
            "`{name}` создаёт устройств: {makes}, и `{shown}` среди них нет"
        )));
    }
    Ok(())
}

fn shown(of: &Ref) -> String {
    match of.part {
        Some(part) => format!("{}/{part}", of.name),
        None => of.name.clone(),
    }
}

fn references(node: &Node) -> Result<Vec<(Ref, Node)>> {
    let items = list(node)?;
    if !keys::REFS.hold(&items.len()) {
        return Err(node.error(say!("1 to 64 names are needed", "нужно от 1 до 64 имён")));
    }
    items.iter().map(|item| Ok((reference(item)?, item.clone()))).collect()
}

fn reference(node: &Node) -> Result<Ref> {
    let text = text(node)?;
    let Some((name, part)) = text.split_once('/') else { return Ok(Ref { name: text, part: None }) };
    match part.parse() {
        Ok(part) => Ok(Ref { name: name.to_string(), part: Some(part) }),
        Err(_) => Err(expected(node, say!("a name such as `parts/2`", "имя вида `parts/2`"))),
    }
}

/// Names go into names of devices, pools and directories.
fn short_name(node: &Node) -> Result<String> {
    let text = text(node)?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    if first && text.len() <= NAME_MAX && text.bytes().all(plain) {
        return Ok(text);
    }
    Err(node.error(say!(
        "a name here has 1 to {NAME_MAX} small letters (a to z), digits and `-`, a letter first",
        "имя здесь — от 1 до {NAME_MAX} строчных латинских букв, цифр и `-`, первой идёт буква"
    )))
}

#[cfg(test)]
mod tests;
