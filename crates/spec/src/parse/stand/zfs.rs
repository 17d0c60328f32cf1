//! A pool of ZFS: its settings, checked against each other.

use super::super::{Map, boolean, whole, word};
use super::values::{contradiction, power_of_two, size};
use crate::keys::stand::zfs as keys;
use crate::keys::{Choice, Limits};
use crate::stand::{Kind, Zfs, ZfsLayout, ZfsProduct};
use crate::yaml::Node;
use stend_base::{Bytes, Result, say};

pub(super) fn zfs(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::ZFS)?;
    let layout = map.required("layout", |node| word(node, keys::LAYOUTS))?;
    let group = map.optional("group", |node| whole(node, keys::GROUP))?;
    let helpers = |node: &Node| whole(node, keys::HELPERS);
    let (log, cache) = (map.optional("log", helpers)?.unwrap_or(0), map.optional("cache", helpers)?.unwrap_or(0));
    let spares = map.optional("spares", helpers)?.unwrap_or(0);
    let ashift = map.optional("ashift", |node| whole(node, keys::ASHIFT))?;
    let volume = map.optional("volume", size)?;
    let sparse = map.optional("sparse", boolean)?;
    let given = [
        ("volblocksize", block(&mut map, "volblocksize", keys::VOLUME_BLOCK)?),
        ("recordsize", block(&mut map, "recordsize", keys::RECORD)?),
        ("atime", switch(&mut map, "atime")?),
        ("compression", one_of(&mut map, "compression", keys::COMPRESSIONS)?),
        ("dedup", switch(&mut map, "dedup")?),
        ("sync", one_of(&mut map, "sync", keys::SYNCS)?),
        ("primarycache", one_of(&mut map, "primarycache", keys::CACHED)?),
    ];
    map.finish()?;
    let has = |names: [&str; 2]| given.iter().any(|(name, value)| names.contains(name) && value.is_some());
    let least = layout.least();
    let wrong = match () {
        () if layout == ZfsLayout::Stripe && group.is_some() => {
            say!("a `stripe` has no groups", "у `stripe` нет групп")
        }
        () if group.is_some_and(|group| group < least) => {
            let word = layout.word();
            say!("a group of `{word}` has at least {least} devices", "в группе `{word}` не меньше {least} устройств")
        }
        () if layout == ZfsLayout::Stripe && spares > 0 => say!(
            "a `stripe` has no copy that a spare could be filled from",
            "у `stripe` нет копий, из которых заполняется запасной накопитель"
        ),
        () if volume.is_none() && (sparse.is_some() || has(["volblocksize", ""])) => say!(
            "`sparse` and `volblocksize` are for a `volume`, and there is none",
            "`sparse` и `volblocksize` — для тома, а `volume` не указан"
        ),
        () if volume.is_some() && has(["recordsize", "atime"]) => say!(
            "`recordsize` and `atime` are for a dataset, and have no effect on a `volume`",
            "`recordsize` и `atime` — для набора файлов, на том (`volume`) они не действуют"
        ),
        () => {
            let product = match volume {
                Some(size) => ZfsProduct::Volume { size, sparse: sparse.unwrap_or(false) },
                None => ZfsProduct::Dataset,
            };
            let properties = given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
            return Ok(Kind::Zfs(Zfs { layout, group, log, cache, spares, ashift, product, properties }));
        }
    };
    contradiction(node, wrong)
}

/// A size as `zfs` takes it: bytes.
fn block(map: &mut Map, key: &'static str, limits: Limits<Bytes>) -> Result<Option<String>> {
    let found = map.optional(key, |node| power_of_two(node, limits))?;
    Ok(found.map(|size| size.0.to_string()))
}

fn switch(map: &mut Map, key: &'static str) -> Result<Option<String>> {
    let found = map.optional(key, boolean)?;
    Ok(found.map(|on| if on { "on" } else { "off" }.to_string()))
}

/// One of several words, which are those of `zfs`, too.
fn one_of(map: &mut Map, key: &'static str, choices: &[Choice<()>]) -> Result<Option<String>> {
    let spelled: Vec<Choice<&str>> = choices.iter().map(|(name, doc, ())| (*name, *doc, *name)).collect();
    let found = map.optional(key, |node| word(node, &spelled))?;
    Ok(found.map(str::to_string))
}
