//! From YAML nodes to the sources of a file.

use super::hosts::{destination, named, path, several};
use super::{Map, boolean, span, text, whole, word};
use crate::keys::{Limits, sources as known};
use crate::sources::{Series, Several, Source, SourceValue, SourcesFile, ValuePlace, Way};
use crate::yaml::{self, Key, Node, Value};
use stend_base::{Lang, Nanos, Result, Say, format, say};

/// Parses a file of sources. `file` names it in errors; kind of every error is `Spec`.
pub fn sources(text: &str, file: &str) -> Result<SourcesFile> {
    parsed(text, file).map_err(|error| {
        error.or_hint(say!(
            "docs/formats/sources.md describes every key of a file of sources",
            "все ключи файла источников описаны в docs/formats/sources.md"
        ))
    })
}

fn parsed(text: &str, file: &str) -> Result<SourcesFile> {
    let root = yaml::parse(text, file)?;
    let mut map = Map::of(&root, &known::FILE)?;
    let every = map.optional("every", every)?.unwrap_or(known::EVERY_DEFAULT);
    let sources =
        map.required("sources", |node| each(node, ("sources", known::SOURCES), |key, node| source(key, node, every)))?;
    map.finish()?;
    Ok(SourcesFile { sources })
}

/// The entries of a mapping from names that the user chooses.
fn each<T>(
    node: &Node,
    (what, limits): (&str, Limits<usize>),
    one: impl Fn(&Key, &Node) -> Result<T>,
) -> Result<Vec<T>> {
    let Value::Map(pairs) = &node.value else {
        return Err(node.error(say!("`{what}` is a mapping from names", "`{what}` — отображение имён")));
    };
    let (Limits { least, most }, count) = (limits, pairs.len());
    if !limits.hold(&count) {
        let told = say!(
            "{count} entries in `{what}`; {least} to {most} are allowed",
            "записей в `{what}`: {count}; допустимо от {least} до {most}"
        );
        return Err(node.error(told));
    }
    pairs.iter().map(|(key, node)| one(key, node)).collect()
}

fn source(key: &Key, node: &Node, every_of_file: Nanos) -> Result<Source> {
    let name = named(&key.name).map_err(|told| key.error(told))?;
    let mut map = Map::of(node, &known::SOURCE)?;
    let ways = [
        map.optional("command", command)?,
        map.optional("ssh", ssh)?,
        map.optional("http", http)?,
        map.optional("snmp", snmp)?,
    ];
    let every = map.optional("every", every)?.unwrap_or(every_of_file);
    let limit = map.optional("limit", |node| limit(node, every))?;
    let mut ways = ways.into_iter().flatten();
    let (Some(way), None) = (ways.next(), ways.next()) else {
        return Err(node.error(say!(
            "`{name}` needs exactly one of `command`, `ssh`, `http`, `snmp`",
            "`{name}`: нужен ровно один из ключей `command`, `ssh`, `http`, `snmp`"
        )));
    };
    let is_snmp = matches!(way, Way::Snmp { .. });
    let values =
        map.required("values", |node| each(node, ("values", known::VALUES), |key, node| value(key, node, is_snmp)))?;
    map.finish()?;
    let limit = limit.unwrap_or(every.min(known::LIMIT_DEFAULT));
    Ok(Source { name, way, every, limit, values })
}

fn value(key: &Key, node: &Node, is_snmp: bool) -> Result<SourceValue> {
    let name = named(&key.name).map_err(|told| key.error(told))?;
    let mut map = Map::of(node, &known::VALUE)?;
    let pattern = map.optional("pattern", pattern)?;
    let json = map.optional("json", pointer)?;
    let series = map.optional("prometheus", series)?;
    let oid = map.optional("oid", oid)?;
    let several: Option<Several> = map.optional("several", |node| word(node, known::SEVERAL))?;
    let found = SourceValue {
        name,
        place: match (pattern, json, series, oid) {
            (Some(pattern), None, None, None) => ValuePlace::Pattern { pattern, several },
            (None, Some(pointer), None, None) => ValuePlace::Json(pointer),
            (None, None, Some(series), None) => ValuePlace::Prometheus { series, several },
            (None, None, None, Some(oid)) => ValuePlace::Oid(oid),
            _ => {
                return Err(node.error(say!(
                    "a value needs exactly one of `pattern`, `json`, `prometheus`, `oid`",
                    "значению нужен ровно один из ключей `pattern`, `json`, `prometheus`, `oid`"
                )));
            }
        },
        unit: map.required("unit", short)?,
        meaning: map.required("meaning", short)?,
        counter: map.optional("counter", boolean)?.unwrap_or_default(),
        multiply: map.optional("multiply", factor)?.unwrap_or(1),
        divide: map.optional("divide", factor)?.unwrap_or(1),
    };
    map.finish()?;
    let wrong = match &found.place {
        ValuePlace::Oid(_) if !is_snmp => say!("`oid` is for `snmp` alone", "`oid` бывает только у `snmp`"),
        ValuePlace::Oid(_) | ValuePlace::Json(_) if several.is_some() => {
            say!("`several` goes with `pattern` or `prometheus`", "`several` бывает с `pattern` или `prometheus`")
        }
        ValuePlace::Oid(_) => return Ok(found),
        _ if is_snmp => say!("the answer of `snmp` has only `oid`", "в ответе `snmp` есть только `oid`"),
        _ => return Ok(found),
    };
    Err(node.error(wrong))
}

fn command(node: &Node) -> Result<Way> {
    let mut words = several(node, known::COMMAND, path)?.into_iter();
    let program = words.next().unwrap_or_default();
    if program.contains('/') && !program.starts_with('/') {
        return Err(node.error(say!(
            "the program `{program}` is neither a name of `PATH` nor an absolute path",
            "программа `{program}` — не имя из `PATH` и не абсолютный путь"
        )));
    }
    Ok(Way::Command { program, arguments: words.collect() })
}

fn ssh(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::SSH)?;
    let way = Way::Ssh { host: map.required("host", destination)?, command: map.required("command", path)? };
    map.finish()?;
    Ok(way)
}

fn http(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::HTTP)?;
    let way = Way::Http { url: map.required("url", url)?, config: map.optional("config", absolute)? };
    map.finish()?;
    Ok(way)
}

fn snmp(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::SNMP)?;
    let way = Way::Snmp { host: map.required("host", destination)?, config: map.optional("config", absolute)? };
    map.finish()?;
    Ok(way)
}

/// An address that a command line may show: without a user and a password.
fn url(node: &Node) -> Result<String> {
    let found = path(node)?;
    let rest = found.strip_prefix("http://").or_else(|| found.strip_prefix("https://"));
    let authority = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let error = |told: Say| Err(node.error(told));
    match authority {
        None | Some("") => {
            error(say!("an address begins with http:// or https://", "адрес начинается с http:// или https://"))
        }
        Some(authority) if authority.contains('@') => error(say!(
            "an address has no user and password: they belong in the file that `config` names",
            "в адресе нет имени и пароля: их место в файле, который указан в `config`"
        )),
        Some(_) if found.contains(char::is_whitespace) => {
            error(say!("an address has no blanks", "в адресе не бывает пробелов"))
        }
        Some(_) => Ok(found),
    }
}

fn absolute(node: &Node) -> Result<String> {
    let found = path(node)?;
    match found.starts_with('/') {
        true => Ok(found),
        false => Err(node.error(say!("`config` is an absolute path", "`config` — абсолютный путь"))),
    }
}

fn pattern(node: &Node) -> Result<String> {
    let found = path(node)?;
    match regex_lite::Regex::new(&found) {
        // The whole match is the first of them.
        Ok(regex) if regex.captures_len() == 2 => Ok(found),
        Ok(_) => Err(node
            .error(say!("a pattern has one group, the number", "в образце одна группа — само число"))
            .hint(say!("for example `cpu_pc +([0-9.]+)`", "например `cpu_pc +([0-9.]+)`"))),
        Err(why) => Err(node.error(say!("not a regular expression: {why}", "не регулярное выражение: {why}"))),
    }
}

fn pointer(node: &Node) -> Result<String> {
    let found = text(node)?;
    match found.is_empty() || (found.starts_with('/') && found.len() <= crate::keys::order::WORD.most) {
        true => Ok(found),
        false => Err(node
            .error(say!("`{found}` is not a JSON pointer", "`{found}` — не указатель JSON"))
            .hint(say!("for example `/records/0/cpu`", "например `/records/0/cpu`"))),
    }
}

fn series(node: &Node) -> Result<Series> {
    let found = path(node)?;
    match Series::read(found.trim()) {
        Some((series, "")) => Ok(series),
        _ => Err(node
            .error(say!("`{found}` is not a series of Prometheus", "`{found}` — не ряд Prometheus"))
            .hint(say!("for example `disk_busy{{device=\"sda\"}}`", "например `disk_busy{{device=\"sda\"}}`"))),
    }
}

fn oid(node: &Node) -> Result<String> {
    let found = text(node)?;
    let plain = found.strip_prefix('.').unwrap_or(&found);
    let numbers = plain.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    match numbers && plain.contains('.') && plain.len() <= known::TEXT.most * 4 {
        true => Ok(plain.to_string()),
        false => Err(node
            .error(say!("an object is written in numbers with dots", "объект записывают числами с точками"))
            .hint(say!("`snmptranslate -On NAME` prints them", "числа напечатает `snmptranslate -On ИМЯ`"))),
    }
}

fn short(node: &Node) -> Result<String> {
    let found = text(node)?;
    let Limits { least, most } = known::TEXT;
    match known::TEXT.hold(&found.chars().count()) && !found.chars().any(char::is_control) {
        true => Ok(found),
        false => Err(node.error(say!(
            "not {least} to {most} characters without control characters",
            "нужно от {least} до {most} символов без управляющих"
        ))),
    }
}

fn factor(node: &Node) -> Result<u32> {
    whole(node, known::FACTOR)
}

fn every(node: &Node) -> Result<Nanos> {
    within(node, known::EVERY)
}

fn limit(node: &Node, every: Nanos) -> Result<Nanos> {
    within(node, Limits { most: every, ..known::LIMIT })
}

fn within(node: &Node, limits: Limits<Nanos>) -> Result<Nanos> {
    let found = span(node)?;
    let [least, most] = [limits.least, limits.most].map(|limit| [Lang::En, Lang::Ru].map(|l| format::exact(limit, l)));
    let ([least_en, least_ru], [most_en, most_ru]) = (least, most);
    match limits.hold(&found) {
        true => Ok(found),
        false => Err(node.error(say!("not {least_en} to {most_en}", "нужно от {least_ru} до {most_ru}"))),
    }
}

#[cfg(test)]
mod tests;
