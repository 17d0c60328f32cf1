//! A mirror lies on devices of two hosts, of which `to` names the one that has the device of it.

use crate::stand::{Layer, Stand};
use crate::yaml::Node;
use stend_base::{Error, Result, Say, say};

/// The host of a mirror that is not its primary.
pub(super) fn peer(stand: &Stand, layer: &Layer, node: &Node) -> Result<String> {
    let name = &layer.name;
    let error = |what: Say, hint: Say| Err(node.error(what).hint(hint));
    if layer.host.is_some() {
        return error(
            say!(
                "two hosts build `{name}`, and `host` names one",
                "`{name}` строят две машины, а `host` называет одну"
            ),
            say!("leave `host` out; `to` names the primary", "уберите `host`; основную машину называет `to`"),
        );
    }
    let count = |host: &str| {
        let of_host = layer.on.iter().filter(|of| stand.host_of(of) == Some(host));
        of_host.map(|of| stand.stands_for(of)).sum::<u32>()
    };
    let mut hosts: Vec<&str> = layer.on.iter().filter_map(|of| stand.host_of(of)).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let [one, other] = hosts[..] else {
        let all = hosts.join("`, `");
        return error(
            say!(
                "`{name}` is a mirror of two hosts, and what it lies on is on `{all}`",
                "`{name}` — зеркало двух машин, а то, на чём оно лежит, находится на `{all}`"
            ),
            on_each(),
        );
    };
    if count(one) != count(other) {
        let (here, there) = (count(one), count(other));
        return error(
            say!(
                "`{name}` has {here} devices of `{one}` and {there} of `{other}`",
                "у `{name}` устройств на `{one}`: {here}, на `{other}`: {there}"
            ),
            on_each(),
        );
    }
    match layer.to.as_deref() {
        Some(to) if to == one => Ok(other.to_string()),
        Some(to) if to == other => Ok(one.to_string()),
        Some(to) => error(
            say!("`{name}` has no device of `{to}`", "у `{name}` нет устройств на `{to}`"),
            say!("`to` names `{one}` or `{other}`", "`to` называет `{one}` или `{other}`"),
        ),
        None => error(
            say!("which host is primary of the mirror `{name}`?", "какая машина основная в зеркале `{name}`?"),
            say!(
                "`to` names it, `{one}` or `{other}`: the device is there, and what lies on it",
                "её называет `to`, `{one}` или `{other}`: там будет устройство и всё, что на нём лежит"
            ),
        ),
    }
}

fn on_each() -> Say {
    say!(
        "`on` names a device of each, and with `metadata: external` two: data, then metadata",
        "`on` называет по устройству каждой, а с `metadata: external` по два: данные, затем метаданные"
    )
}

/// A mirror in a file of one host.
pub(super) fn needs_hosts(node: &Node) -> Box<Error> {
    node.error(say!("a mirror (`drbd`) is of two hosts", "зеркало (`drbd`) бывает у двух машин")).hint(say!(
        "name them: `hosts: {{a: 10.77.0.1, b: 10.77.0.2}}`",
        "назовите их: `hosts: {{a: 10.77.0.1, b: 10.77.0.2}}`"
    ))
}
