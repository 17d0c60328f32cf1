//! From YAML nodes to the hosts of a file.

use super::{Map, list, text, word};
use crate::hosts::{HostRole, HostsFile, NamedHost, Via};
use crate::keys::{Limits, hosts as known, order::WORD};
use crate::yaml::{self, Key, Node, Value};
use std::collections::BTreeMap;
use stend_base::{Error, Result, Say, say};

/// Most bytes that `ssh` takes as the name of a host, and of a word of `become`.
const SHORT_MAX: usize = 255;

/// What holds for hosts that say nothing else.
#[derive(Default)]
struct Defaults {
    privilege: Option<Vec<String>>,
    on: Option<Vec<String>>,
}

/// Parses a file of hosts. `file` names it in errors; kind of every error is `Spec`.
pub fn hosts(text: &str, file: &str) -> Result<HostsFile> {
    parsed(text, file).map_err(|error| {
        error.or_hint(say!(
            "docs/formats/hosts.md describes every key of a file of hosts",
            "все ключи файла машин описаны в docs/formats/hosts.md"
        ))
    })
}

fn parsed(text: &str, file: &str) -> Result<HostsFile> {
    let root = yaml::parse(text, file)?;
    let mut map = Map::of(&root, &known::FILE)?;
    let privilege = map.optional("become", privilege)?;
    let on = map.optional("on", targets)?;
    let defaults = Defaults { privilege, on };
    let hosts = map.required("hosts", |node| all(node, &defaults))?;
    map.finish()?;
    Ok(HostsFile { hosts })
}

fn all(node: &Node, defaults: &Defaults) -> Result<Vec<NamedHost>> {
    let Value::Map(pairs) = &node.value else {
        let told = say!("`hosts` is a mapping from names to hosts", "`hosts` — отображение имён на машины");
        return Err(node.error(told).hint(say!(
            "for example `hosts: {{db1: {{ssh: root@db1}}}}`",
            "например `hosts: {{db1: {{ssh: root@db1}}}}`"
        )));
    };
    let Limits { least, most } = known::HOSTS;
    if !known::HOSTS.hold(&pairs.len()) {
        let count = pairs.len();
        let told = say!(
            "{count} hosts; a file has {least} to {most}",
            "машин: {count}; в файле их бывает от {least} до {most}"
        );
        return Err(node.error(told));
    }
    let mut hosts: Vec<NamedHost> = Vec::with_capacity(pairs.len());
    let mut ways: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (at, (key, node)) in pairs.iter().enumerate() {
        let host = one(key, node, defaults)?;
        let way = match &host.via {
            Via::Ssh(destination) => vec![destination.clone()],
            Via::Exec { program, arguments } => {
                // No destination of `ssh` is empty.
                [String::new(), program.clone()].into_iter().chain(arguments.iter().cloned()).collect()
            }
            // No destination of `ssh` has a space.
            Via::Vm(machine) => vec![format!("vm {machine}")],
        };
        if let Some(first) = ways.insert(way, at) {
            let (name, first) = (&host.name, &hosts[first].name);
            let told = say!("`{name}` is reached as `{first}` is", "`{name}` — та же машина, что `{first}`");
            return Err(key.error(told).hint(say!(
                "a host has one name; give it several targets in `on`",
                "у машины одно имя; несколько её объектов перечислите в `on`"
            )));
        }
        hosts.push(host);
    }
    Ok(hosts)
}

fn one(key: &Key, node: &Node, defaults: &Defaults) -> Result<NamedHost> {
    let name = named(&key.name).map_err(|told| key.error(told))?;
    let mut map = Map::of(node, &known::HOST)?;
    let (ssh, exec) = (map.optional("ssh", destination)?, map.optional("exec", command)?);
    let vm = map.optional("vm", machine)?;
    let own_privilege = map.optional("become", privilege)?;
    let role = map.optional("role", |node| word(node, known::ROLES))?.unwrap_or_default();
    let groups = map.optional("groups", groups)?.unwrap_or_default();
    let own_on = map.optional("on", targets)?;
    map.finish()?;
    let via = match (ssh, exec, vm) {
        (Some(destination), None, None) => Via::Ssh(destination),
        (None, Some((program, arguments)), None) => Via::Exec { program, arguments },
        (None, None, Some(machine)) => Via::Vm(machine),
        (ssh, exec, vm) => return Err(not_one_way(node, &name, [ssh.is_some(), exec.is_some(), vm.is_some()])),
    };
    if matches!(via, Via::Vm(_)) && (role != HostRole::Load || own_privilege.is_some()) {
        let told = say!(
            "`{name}` is a virtual machine: it makes load, and its worker has all rights (no `role: observe`, no `become`)",
            "`{name}` — виртуальная машина: она нагружает, и её рабочий процесс имеет все права (без `role: observe` и `become`)"
        );
        return Err(node.error(told));
    }
    let on = match role {
        HostRole::Load => own_on.or_else(|| defaults.on.clone()).unwrap_or_default(),
        HostRole::Observe => own_on.unwrap_or_default(),
    };
    if let (HostRole::Observe, Some(path)) = (role, on.iter().find(|path| !path.starts_with('/'))) {
        let told = say!(
            "`on` of a host that is watched has paths, and `{path}` is none",
            "в `on` наблюдаемой машины — пути, а `{path}` — не путь"
        );
        return Err(node.error(told));
    }
    let privilege = match via {
        Via::Vm(_) => Vec::new(),
        _ => own_privilege.or_else(|| defaults.privilege.clone()).unwrap_or_default(),
    };
    Ok(NamedHost { name, via, privilege, role, groups, on })
}

/// Why a host is not reached in exactly one way; the ways that it has, in the order of their keys.
fn not_one_way(node: &Node, name: &str, ways: [bool; 3]) -> Box<Error> {
    let given: Vec<String> =
        ["ssh", "exec", "vm"].iter().zip(ways).filter(|(_, has)| *has).map(|(key, _)| format!("`{key}`")).collect();
    let told = match given.as_slice() {
        [] => say!("`{name}` has none of `ssh`, `exec`, `vm`", "у `{name}` нет ни `ssh`, ни `exec`, ни `vm`"),
        _ => {
            let (en, ru) = (given.join(" and "), given.join(" и "));
            say!("`{name}` has {en}; one of them is enough", "у `{name}` есть {ru}; нужно что-то одно")
        }
    };
    node.error(told).hint(say!(
        "`ssh: root@db1`, `exec: [kubectl, exec, -i, POD, --]`, or `vm: web-1`",
        "`ssh: root@db1`, `exec: [kubectl, exec, -i, ПОД, --]` или `vm: web-1`"
    ))
}

/// The name of a host or a group, if it is one: nothing that steers a terminal, is a path, or ends a host in `HOST:PATH`.
pub(super) fn named(text: &str) -> std::result::Result<String, Say> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let begins = text.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    match known::NAME.hold(&text.len()) && begins && text.chars().all(fits) {
        true => Ok(text.to_string()),
        false => {
            let (shown, most) = (text.chars().take(60).collect::<String>(), known::NAME.most);
            Err(say!(
                "`{shown}` is no name: 1 to {most} letters, digits, `.`, `_`, `-`, a letter or digit first",
                "`{shown}` — не имя: от 1 до {most} латинских букв, цифр, `.`, `_`, `-`, первой — буква или цифра"
            ))
        }
    }
}

fn groups(node: &Node) -> Result<Vec<String>> {
    let group = |node: &Node| named(&text(node)?).map_err(|told| node.error(told));
    several(node, known::GROUPS, group)
}

pub(super) fn destination(node: &Node) -> Result<String> {
    let found = text(node)?;
    let strange = |letter: char| letter.is_whitespace() || letter.is_control();
    match found.is_empty() || found.len() > SHORT_MAX || found.starts_with('-') || found.contains(strange) {
        false => Ok(found),
        true => Err(node.error(say!("this does not name a host for `ssh`", "это не имя машины для `ssh`"))),
    }
}

fn machine(node: &Node) -> Result<String> {
    let found = text(node)?;
    match crate::vm::numbered(&found) {
        Some(_) => Ok(found),
        None => Err(node
            .error(say!("`{found}` names no virtual machine", "`{found}` — не имя виртуальной машины"))
            .hint(say!("for example `vm: web-1`", "например `vm: web-1`"))),
    }
}

fn command(node: &Node) -> Result<(String, Vec<String>)> {
    let mut words = several(node, known::EXEC, path)?.into_iter();
    let program = words.next().unwrap_or_default();
    Ok((program, words.collect()))
}

/// Words that `ssh` hands to a shell there: none that it would change.
fn privilege(node: &Node) -> Result<Vec<String>> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._/=:@-".contains(letter);
    let plain = |word: &str| !word.is_empty() && word.len() <= SHORT_MAX && word.chars().all(fits);
    let words = match &node.value {
        Value::Text(words) => words.split(' ').filter(|word| !word.is_empty()).map(String::from).collect(),
        _ => several(node, known::PRIVILEGE, text)?,
    };
    match known::PRIVILEGE.hold(&words.len()) && words.iter().all(|word| plain(word)) {
        true => Ok(words),
        false => Err(node
            .error(say!(
                "`become` has 1 to 16 words of letters, digits and `._/=:@-`",
                "в `become` от 1 до 16 слов из латинских букв, цифр и `._/=:@-`"
            ))
            .hint(say!("for example `become: sudo -n`", "например `become: sudo -n`"))),
    }
}

fn targets(node: &Node) -> Result<Vec<String>> {
    match node.value {
        Value::List(_) => several(node, known::TARGETS, path),
        _ => Ok(vec![path(node)?]),
    }
}

/// A path, an identity, a word: data.
pub(super) fn path(node: &Node) -> Result<String> {
    let found = text(node)?;
    match WORD.hold(&found.len()) && !found.chars().any(char::is_control) {
        true => Ok(found),
        false => {
            let most = WORD.most;
            Err(node.error(say!(
                "not 1 to {most} bytes without control characters",
                "нужно от 1 до {most} байт без управляющих символов"
            )))
        }
    }
}

pub(super) fn several<T>(node: &Node, limits: Limits<usize>, one: impl Fn(&Node) -> Result<T>) -> Result<Vec<T>> {
    let items = list(node)?;
    let Limits { least, most } = limits;
    if !limits.hold(&items.len()) {
        let count = items.len();
        return Err(node.error(say!(
            "{count} of them; {least} to {most} are allowed",
            "их {count}; допустимо от {least} до {most}"
        )));
    }
    items.iter().map(one).collect()
}

#[cfg(test)]
mod tests;
