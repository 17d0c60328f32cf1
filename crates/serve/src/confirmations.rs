//! Confirmations of orders that may write to devices: each is bound to the order and to the devices as a dry run has seen them, and ages out. Pure
//! except for drawing secrets; its caller passes the time.

use crate::token::{self, Hash};
use serde::Deserialize;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use stend_base::{Code, Error, Result, Say, say};

/// How long a dry run may be relied on. By eye: reading it and typing a serial number takes a minute.
const LIFE: Duration = Duration::from_secs(600);
/// Confirmations at the same time; the oldest goes first.
const MOST: usize = 100;

/// What comes with an order.
#[derive(Default)]
pub struct Confirmed<'a> {
    /// What its dry run gave.
    pub confirmation: Option<&'a str>,
    /// Identities that a person typed.
    pub devices: &'a [String],
}

/// Those that were given and not used yet.
#[derive(Default)]
pub struct Confirmations(Mutex<VecDeque<Given>>);

struct Given {
    secret: Hash,
    order: Hash,
    seen: Hash,
    until: Instant,
}

/// What of a dry run is bound.
#[derive(Deserialize)]
#[serde(untagged)]
enum Preview {
    Run(Run),
    Stand(Stand),
}

/// A stand that is to be put up.
#[derive(Deserialize)]
struct Stand {
    plan: Plan,
}

/// Its steps follow from the order and from this; identities of what they make are drawn anew each time.
#[derive(Deserialize)]
struct Plan {
    is_up: bool,
    drives: Vec<Drive>,
}

#[derive(Deserialize)]
struct Drive {
    id: String,
    paths: Vec<String>,
    size: Option<u64>,
    signatures: Vec<String>,
}

#[derive(Deserialize)]
struct Run {
    targets: Vec<Target>,
    /// Where several hosts load: the targets of each. `targets` holds for the first alone.
    #[serde(default)]
    hosts: Vec<LoadHost>,
}

#[derive(Deserialize)]
struct LoadHost {
    host: String,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    identity: Option<String>,
    size: u64,
    signatures: serde_json::Value,
}

impl Confirmations {
    /// One for an order with this dry run.
    ///
    /// Errors: `Preflight` without random numbers.
    pub fn give(&self, order: &str, preview: &[u8], now: Instant) -> Result<String> {
        let secret = token::secret()
            .map_err(|error| Error::preflight(say!("no random numbers: {error}", "нет случайных чисел: {error}")))?;
        let given =
            Given { secret: token::hash(&secret), order: token::hash(order), seen: seen(preview)?, until: now + LIFE };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| now < known.until);
        all.truncate(MOST - 1);
        all.push_front(given);
        Ok(secret)
    }

    /// Uses one up, if it is of this order, the devices were typed, and a dry run still sees the same.
    ///
    /// Errors: `NotConfirmed`; `TargetChanged`; those of the dry run.
    pub fn take(
        &self,
        order: &str,
        confirms: &[String],
        confirmed: &Confirmed,
        dry_run: impl FnOnce() -> Result<Vec<u8>>,
        now: Instant,
    ) -> Result<()> {
        let typed: BTreeSet<&String> = confirmed.devices.iter().collect();
        if let Some(missing) = confirms.iter().find(|id| !typed.contains(id)) {
            return Err(not_confirmed(say!(
                "`device={missing}` is missing in the query",
                "в запросе нет `device={missing}`"
            )));
        }
        if let Some(more) = typed.into_iter().find(|id| !confirms.contains(id)) {
            return Err(not_confirmed(say!(
                "the order does not allow to overwrite `{more}`",
                "заказ не разрешает перезаписывать `{more}`"
            )));
        }
        let secret = token::hash(confirmed.confirmation.unwrap_or_default());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |given: &Given| given.secret == secret && given.order == token::hash(order) && now < given.until;
        let Some(given) = all.iter().position(fits).and_then(|at| all.remove(at)) else {
            return Err(not_confirmed(say!(
                "there is no valid confirmation for this order",
                "для этого заказа нет действующего подтверждения"
            )));
        };
        drop(all);
        if seen(&dry_run()?)? != given.seen {
            return Err(Error::new(
                Code::TargetChanged,
                say!(
                    "the targets are not what the dry run has shown",
                    "объекты уже не такие, какими их показал пробный режим"
                ),
            )
            .hint(again()));
        }
        Ok(())
    }
}

/// Identity, size and signatures of all targets, of every document (one for each side of `against`) and every load host, or of the drives of
/// every stand.
fn seen(previews: &[u8]) -> Result<Hash> {
    let mut text = String::new();
    let add = |text: &mut String, host: &str, targets: &[Target]| {
        for Target { identity, size, signatures } in targets {
            *text += &format!("{host:?} {identity:?} {size} {signatures}\n");
        }
    };
    for preview in serde_json::Deserializer::from_slice(previews).into_iter::<Preview>() {
        let preview =
            preview.map_err(|error| Error::bug(Say::same(format!("a dry run is not what it was: {error}"))))?;
        match preview {
            Preview::Run(run) => {
                add(&mut text, "", &run.targets);
                run.hosts.iter().for_each(|of| add(&mut text, &of.host, &of.targets));
            }
            Preview::Stand(Stand { plan: Plan { is_up, drives } }) => {
                text += &format!("{is_up}\n");
                for Drive { id, paths, size, signatures } in drives {
                    text += &format!("{id:?} {paths:?} {size:?} {signatures:?}\n");
                }
            }
        }
    }
    Ok(token::hash(&text))
}

fn not_confirmed(message: Say) -> Box<Error> {
    Error::new(Code::NotConfirmed, message).hint(again())
}

fn again() -> Say {
    say!(
        "look at the dry run of the order (`/api/v1/orders/dry-run`), and send its `Stend-Confirmation` with the identity of every device within 10 minutes",
        "посмотрите пробный режим заказа (`/api/v1/orders/dry-run`) и в течение 10 минут пришлите его `Stend-Confirmation` с идентификатором каждого устройства"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    fn preview(size: u64) -> Vec<u8> {
        format!(r#"{{"targets": [{{"identity": "serial:X", "size": {size}, "signatures": [], "free": 1}}]}}"#)
            .into_bytes()
    }

    fn take(all: &Confirmations, order: &str, secret: &str, devices: &[&str], size: u64, now: Instant) -> Option<Code> {
        let devices: Vec<String> = devices.iter().map(|id| id.to_string()).collect();
        let confirmed = Confirmed { confirmation: Some(secret), devices: &devices };
        all.take(order, &["serial:X".into()], &confirmed, || Ok(preview(size)), now).err().map(|error| error.code)
    }

    #[test]
    fn a_confirmation_holds_once_for_its_order_its_devices_and_ten_minutes() {
        let (all, now) = (Confirmations::default(), Instant::now());
        let secret = all.give("order", &preview(1), now).unwrap();
        let x = &["serial:X"][..];
        for (order, secret, devices, at) in [
            ("order", secret.as_str(), &[][..], now),
            ("order", &secret, &["serial:X", "serial:Y"], now),
            ("order", &secret, &["X"], now),
            ("order", "", x, now),
            ("another", &secret, x, now),
            ("order", &secret, x, now + LIFE),
        ] {
            assert_eq!(take(&all, order, secret, devices, 1, at), Some(Code::NotConfirmed), "{order} {devices:?}");
        }
        assert_eq!(take(&all, "order", &secret, x, 1, now), None);
        assert_eq!(take(&all, "order", &secret, x, 1, now), Some(Code::NotConfirmed), "it is used up");
    }

    #[test]
    fn every_target_of_every_side_and_host_is_bound() {
        let target = |size: u64| format!(r#"{{"identity": "serial:X", "size": {size}, "signatures": []}}"#);
        let sides = |a: u64, b: u64| format!(r#"{{"targets": [{}]}} {{"targets": [{}]}}"#, target(a), target(b));
        let host = |name: &str, size: u64| format!(r#"{{"host": "{name}", "targets": [{}]}}"#, target(size));
        let hosts = |a: u64, b: u64| {
            format!(r#"{{"targets": [{}], "hosts": [{}, {}]}}"#, target(a), host("a", a), host("b", b))
        };
        let of = |text: String| seen(text.as_bytes()).unwrap();
        assert!(of(sides(1, 2)) == of(sides(1, 2)) && of(sides(1, 2)) != of(sides(1, 3)));
        assert!(of(hosts(1, 2)) == of(hosts(1, 2)) && of(hosts(1, 2)) != of(hosts(1, 3)));
        assert_eq!(seen(b"{\"targets\": []} {").unwrap_err().kind, Kind::Bug);
    }

    #[test]
    fn every_drive_of_a_stand_is_bound_with_what_is_on_it() {
        let plan = |path: &str, signature: &str| {
            let drive =
                format!(r#"{{"id": "serial:X", "paths": ["{path}"], "size": 1, "signatures": ["{signature}"]}}"#);
            seen(format!(r#"{{"plan": {{"is_up": false, "drives": [{drive}]}}}}"#).as_bytes()).unwrap()
        };
        assert!(plan("/dev/sda", "xfs") == plan("/dev/sda", "xfs"));
        assert!(
            plan("/dev/sda", "xfs") != plan("/dev/sda", "ext4") && plan("/dev/sda", "xfs") != plan("/dev/sdb", "xfs")
        );
    }

    #[test]
    fn a_device_that_is_not_what_was_seen_is_not_confirmed() {
        let (all, now) = (Confirmations::default(), Instant::now());
        let secret = all.give("order", &preview(1), now).unwrap();
        assert_eq!(take(&all, "order", &secret, &["serial:X"], 2, now), Some(Code::TargetChanged));
    }
}
