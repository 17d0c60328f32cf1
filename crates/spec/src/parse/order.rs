//! From YAML (or JSON, which is YAML) to an [`Order`].

use super::{Map, boolean, limit, list, text, whole, word};
use crate::gate::Undecided;
use crate::keys::repeats::BLOCKS;
use crate::keys::{ENGINES, Limits, order as known};
use crate::order::{NamedText, Order, SuiteWork, TraceFile, VERSION, Work, not_a_label};
use crate::permission::Permission;
use crate::yaml::{self, Node, Value};
use stend_base::{Nanos, Result, Say, say};

/// Largest order, bytes: a suite and some stands of the largest size, quoted.
pub const ORDER_MAX: usize = 8 << 20;

/// Parses an order. `file` names it in errors; kind of every error is `Spec`. The texts in it are parsed by the code that carries
/// it out.
pub fn order(text: &str, file: &str) -> Result<Order> {
    parsed(text, file).map_err(|error| {
        error.or_hint(say!(
            "docs/formats/order.md describes every key; `stend run SUITE --on PATH --print-order` prints an order",
            "все ключи описаны в docs/formats/order.md; заказ напечатает `stend run НАБОР --on ПУТЬ --print-order`"
        ))
    })
}

fn parsed(text: &str, file: &str) -> Result<Order> {
    let root = yaml::parse_up_to(text, file, ORDER_MAX)?;
    let mut map = Map::of(&root, &known::ORDER)?;
    let version = map.required("order", version)?;
    let work = work(&mut map)?;
    let stands = map.optional("stands", |node| several(node, known::STANDS, named_text))?.unwrap_or_default();
    let rebuild = map.optional("rebuild", boolean)?.unwrap_or_default();
    let on = map.optional("on", paths)?.unwrap_or_default();
    let against = map.optional("against", paths)?.unwrap_or_default();
    let (lab, ssh) =
        (map.optional("lab", path)?, map.optional("ssh", |node| hosts(node, known::LOADS))?.unwrap_or_default());
    let hosts_file = map.optional("hosts", named_text)?;
    let groups = map.optional("groups", paths)?.unwrap_or_default();
    let load = map.optional("load", |node| word(node, known::LOAD_OF))?;
    let on_loss = map.optional("on_loss", |node| word(node, known::ON_LOSS))?;
    let storage = map.optional("storage", |node| hosts(node, known::STORAGES))?.unwrap_or_default();
    let observe = map.optional("observe", |node| several(node, known::OBSERVED, path))?.unwrap_or_default();
    let sources = map.optional("sources", named_text)?;
    let permission = map.optional("permission", permission)?.unwrap_or_default();
    let label = map.optional("label", label)?;
    let gate = map.optional("gate", named_text)?;
    let expect = map.optional("expect", |node| several(node, known::SEVERAL, limited))?.unwrap_or_default();
    let output = map.optional("output", path)?;
    map.finish()?;
    let contradiction = |what: Say| Err(root.error(what));
    let work = match work {
        Ok(work) => work,
        Err(what) => return contradiction(what),
    };
    let order = Order {
        version,
        work,
        stands,
        rebuild,
        on,
        against,
        lab,
        ssh,
        hosts: hosts_file,
        groups,
        load: load.unwrap_or_default(),
        on_loss: on_loss.unwrap_or_default(),
        storage,
        observe,
        sources,
        permission,
        label,
        gate,
        expect,
        output,
    };
    let for_several = load.map(|_| "load").or(on_loss.map(|_| "on_loss"));
    let wrong = misfit(&order, for_several);
    wrong.map_or(Ok(order), contradiction)
}

/// What is run, or why the keys say nothing that could be.
fn work(map: &mut Map<'_>) -> Result<std::result::Result<Work, Say>> {
    let suite = map.optional("suite", named_text)?;
    let directory = map.optional("directory", path)?;
    let traces = map.optional("traces", |node| several(node, known::SEVERAL, trace))?;
    let seed = map.optional("seed", seed)?;
    let engine = map.optional("engine", |node| word(node, ENGINES))?;
    let repeats = map.optional("repeats", |node| whole(node, BLOCKS))?;
    let time_budget = map.optional("time_budget", budget)?;
    let resume = map.optional("resume", path)?;
    let asked = [directory.is_some(), traces.is_some(), seed.is_some(), engine.is_some(), repeats.is_some()];
    let of_suite = asked.contains(&true) || time_budget.is_some();
    Ok(match (suite, resume, seed) {
        (Some(suite), None, Some(seed)) => {
            let (directory, traces) = (directory.unwrap_or_default(), traces.unwrap_or_default());
            Ok(Work::Suite(Box::new(SuiteWork { suite, directory, traces, seed, engine, repeats, time_budget })))
        }
        (Some(_), None, None) => Err(say!(
            "an order with a suite needs a `seed`: two processes must make the same plan of it",
            "заказу с набором нужен `seed`: два процесса должны составить по нему один и тот же план"
        )),
        (None, Some(resume), None) if !of_suite => Ok(Work::Resume { resume }),
        _ => Err(say!(
            "an order has either `suite` with its keys, or `resume`",
            "в заказе либо `suite` со своими ключами, либо `resume`"
        )),
    })
}

/// That something is for several load hosts alone.
pub fn needs_several(what: &str) -> Say {
    say!("`{what}` needs several load hosts", "для `{what}` нужно несколько нагружающих машин")
}

/// What cannot be asked for together, as on the command line; `for_several`: a key that it has and that is for several load hosts alone.
fn misfit(order: &Order, for_several: Option<&str>) -> Option<Say> {
    let resumes = matches!(order.work, Work::Resume { .. });
    let asks = !order.permission.confirm.is_empty() || !order.permission.overwrite_signatures.is_empty();
    let placed = order.lab.is_some() || !order.ssh.is_empty() || !order.storage.is_empty();
    let in_turn = !order.stands.is_empty() || !order.against.is_empty();
    Some(match () {
        () if for_several.is_some() && order.ssh.len() < 2 && order.hosts.is_none() => {
            needs_several(for_several.unwrap_or_default())
        }
        () if order.hosts.is_some() && (placed || in_turn) => say!(
            "`hosts` goes with none of `ssh`, `lab`, `storage`, `stands`, `against`",
            "с `hosts` нельзя ни `ssh`, ни `lab`, ни `storage`, ни `stands`, ни `against`"
        ),
        () if !order.groups.is_empty() && order.hosts.is_none() => {
            say!("`groups` needs `hosts`", "для `groups` нужно `hosts`")
        }
        () if order.lab.is_some() && !order.ssh.is_empty() => {
            say!("`lab` and `ssh` are two places", "`lab` и `ssh` — два разных места")
        }
        () if !order.stands.is_empty() && (resumes || !order.on.is_empty()) => {
            say!(
                "`stands` make the targets: neither `on` nor `resume` goes with them",
                "объекты создают `stands`: с ними нельзя ни `on`, ни `resume`"
            )
        }
        () if !order.stands.is_empty() && asks => say!(
            "drives of a stand are confirmed in its file, not in `permission`",
            "накопители стенда подтверждает его файл, а не `permission`"
        ),
        () if order.rebuild && order.stands.is_empty() => {
            say!("`rebuild` needs `stands`", "для `rebuild` нужны `stands`")
        }
        () if order.stands.is_empty() && !resumes && order.on.is_empty() && order.hosts.is_none() => {
            say!("an order needs `on`, `stands` or `resume`", "заказу нужно `on`, `stands` или `resume`")
        }
        () if !order.against.is_empty() && (resumes || order.on.is_empty()) => {
            say!("`against` needs `on`, and no `resume`", "для `against` нужно `on`, а `resume` нельзя")
        }
        () if resumes && order.output.is_some() => {
            say!("a run that goes on has its file already", "у продолжаемого прогона уже есть файл")
        }
        () if resumes && order.label.is_some() => {
            say!("a run that goes on has its label already", "у продолжаемого прогона метка уже есть или её нет")
        }
        () => return None,
    })
}

fn label(node: &Node) -> Result<String> {
    let found = text(node)?;
    match not_a_label(&found) {
        Some(why) => Err(node.error(why)),
        None => Ok(found),
    }
}

/// A limit, as it was written.
fn limited(node: &Node) -> Result<String> {
    Ok(limit::of(node, Undecided::Undecided)?.text)
}

fn version(node: &Node) -> Result<u32> {
    match node.value {
        Value::Int(found) if found == i128::from(VERSION) => Ok(VERSION),
        Value::Int(found) => {
            let message = say!("an order of version {found}", "заказ версии {found}");
            Err(node
                .error(message)
                .hint(say!("this Stend reads version {VERSION}", "этот Stend читает версию {VERSION}")))
        }
        _ => whole(node, known::VERSIONS),
    }
}

fn named_text(node: &Node) -> Result<NamedText> {
    let mut map = Map::of(node, &known::FILE)?;
    let found = NamedText { file: map.required("file", path)?, text: map.required("text", text)? };
    map.finish()?;
    Ok(found)
}

fn trace(node: &Node) -> Result<TraceFile> {
    let mut map = Map::of(node, &known::TRACE)?;
    let sha256 = |node: &Node| {
        let found = text(node)?;
        let hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match found.len() == 64 && found.bytes().all(hexadecimal) {
            true => Ok(found),
            false => Err(node.error(say!(
                "not 64 hexadecimal digits, letters in lower case",
                "не 64 шестнадцатеричные цифры, буквы строчные"
            ))),
        }
    };
    let found = TraceFile { file: map.required("file", path)?, sha256: map.required("sha256", sha256)? };
    map.finish()?;
    Ok(found)
}

fn permission(node: &Node) -> Result<Permission> {
    let mut map = Map::of(node, &known::PERMISSION)?;
    let found = Permission {
        confirm: map.optional("confirm", paths)?.unwrap_or_default(),
        overwrite_signatures: map.optional("overwrite_signatures", paths)?.unwrap_or_default(),
        commands: map.optional("commands", boolean)?.unwrap_or_default(),
        beside: map.optional("beside", boolean)?.unwrap_or_default(),
    };
    map.finish()?;
    Ok(found)
}

/// YAML has no whole numbers above 2^63 everywhere, so that a seed may be text.
fn seed(node: &Node) -> Result<u64> {
    let found = match &node.value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    found.ok_or_else(|| node.error(say!("a seed is a whole number below 2^64", "`seed` — целое число меньше 2^64")))
}

fn budget(node: &Node) -> Result<Nanos> {
    let found = super::span(node)?;
    match known::BUDGET.hold(&found) {
        true => Ok(found),
        false => Err(node.error(say!("a run takes 1 s to 7 days", "прогон длится от 1 с до 7 суток"))),
    }
}

/// A path, an identity, a host: data, of which nothing is opened here.
fn path(node: &Node) -> Result<String> {
    let found = text(node)?;
    if known::WORD.hold(&found.len()) && !found.chars().any(char::is_control) {
        return Ok(found);
    }
    let Limits { most, .. } = known::WORD;
    Err(node.error(say!(
        "not 1 to {most} bytes without control characters",
        "нужно от 1 до {most} байт без управляющих символов"
    )))
}

fn paths(node: &Node) -> Result<Vec<String>> {
    several(node, known::SEVERAL, path)
}

/// A host, or a list of them.
fn hosts(node: &Node, limits: Limits<usize>) -> Result<Vec<String>> {
    match node.value {
        Value::List(_) => several(node, limits, path),
        _ => Ok(vec![path(node)?]),
    }
}

fn several<T>(node: &Node, limits: Limits<usize>, one: impl Fn(&Node) -> Result<T>) -> Result<Vec<T>> {
    let items = list(node)?;
    if items.len() < limits.least {
        let least = limits.least;
        return Err(node.error(say!("fewer than {least} of them", "их меньше {least}")));
    }
    if !limits.hold(&items.len()) {
        let most = limits.most;
        return Err(node.error(say!("more than {most} of them", "их больше {most}")));
    }
    items.iter().map(one).collect()
}

#[cfg(test)]
mod tests;
