//! A template of Zabbix in both languages, from one table, in the YAML form of export of version 6.0: 6.0 LTS and all later versions import it.
//! A test of the binary lets every pattern find its metric in a recorded page.

mod items;
mod kinds;

use super::File;
use items::{DISCOVERIES, HOST, HOST_TRIGGERS};
use kinds::{Discovery, Item, Then, Trigger};
use serde_json::{Value, json};
use stend_base::{Lang, say};

/// Name of the template, by which expressions and hosts refer to it.
const TEMPLATE: &str = "Stend host by HTTP";
/// Key of the item that holds the page, of which all others are made.
const PAGE: &str = "stend.metrics";

/// One file for each language.
pub fn files() -> Vec<File> {
    let of = |lang: Lang| {
        let folder = if lang == Lang::Ru { "ru" } else { "en" };
        let mut text = String::new();
        yaml(&template(lang), 0, &mut text);
        File { path: format!("monitoring/zabbix/{folder}/stend.yaml"), text }
    };
    vec![of(Lang::En), of(Lang::Ru)]
}

fn template(lang: Lang) -> Value {
    let about = say!(
        "A host that `stend record --metrics 0.0.0.0:9101` watches. The macro {{$STEND.URL}} is where it answers.",
        "Хост, за которым следит `stend record --metrics 0.0.0.0:9101`. Макрос {{$STEND.URL}} — адрес его метрик."
    );
    let address = say!("Where Stend answers", "Где отвечает Stend");
    let page_name = say!("Page of metrics", "Страница метрик");
    let page = json!({
        "uuid": uuid(PAGE),
        "name": page_name.get(lang),
        "type": "HTTP_AGENT",
        "key": PAGE,
        "delay": "30s",
        "history": "0",
        "trends": "0",
        "value_type": "TEXT",
        "timeout": "10s",
        "url": "{$STEND.URL}",
        "tags": [tag()],
    });
    let mut all = vec![page];
    all.extend(HOST.iter().map(|of| item(of, &[], lang)));
    let folder = "Templates/Stend";
    json!({"zabbix_export": {
        "version": "6.0",
        "date": "2026-11-30T00:00:00Z",
        "groups": [{"uuid": uuid(folder), "name": folder}],
        "templates": [{
            "uuid": uuid(TEMPLATE),
            "template": TEMPLATE,
            "name": TEMPLATE,
            "description": about.get(lang),
            "groups": [{"name": folder}],
            "items": all,
            "discovery_rules": DISCOVERIES.iter().map(|of| discovery(of, lang)).collect::<Vec<_>>(),
            "macros": [{
                "macro": "{$STEND.URL}",
                "value": "http://{HOST.CONN}:9101/metrics",
                "description": address.get(lang),
            }],
        }],
        "triggers": HOST_TRIGGERS.iter().map(|of| trigger(of, &[], lang)).collect::<Vec<_>>(),
    }})
}

fn discovery(of: &Discovery, lang: Lang) -> Value {
    let key = format!("stend.discover.{}", of.key);
    let paths = of.labels.iter().map(|label| json!({"lld_macro": lld(label), "path": format!("$.labels.{label}")}));
    let mut rule = json!({
        "uuid": uuid(&key),
        "name": (of.name)().get(lang),
        "type": "DEPENDENT",
        "key": key,
        "delay": "0",
        "lifetime": "7d",
        "master_item": {"key": PAGE},
        // A host without any has none to discover, which is no error.
        "preprocessing": [{
            "type": "PROMETHEUS_TO_JSON",
            "parameters": [of.pattern],
            "error_handler": "CUSTOM_VALUE",
            "error_handler_params": "[]",
        }],
        "lld_macro_paths": paths.collect::<Vec<_>>(),
        "item_prototypes": of.items.iter().map(|item_of| item(item_of, of.labels, lang)).collect::<Vec<_>>(),
    });
    let triggers: Vec<Value> = of.triggers.iter().map(|trigger_of| trigger(trigger_of, of.labels, lang)).collect();
    rule["trigger_prototypes"] = json!(triggers);
    rule
}

fn item(of: &Item, labels: &[&str], lang: Lang) -> Value {
    let named: Vec<String> = labels.iter().map(|label| format!("{label}=\"{}\"", lld(label))).collect();
    let found = json!({
        "type": "PROMETHEUS_PATTERN",
        "parameters": [of.pattern.replace('@', &named.join(",")), if of.sum { "sum" } else { "value" }, ""],
        // What a host does not have, or a drive does not tell, has no value.
        "error_handler": "DISCARD_VALUE",
    });
    let per_second = || json!({"type": "CHANGE_PER_SECOND", "parameters": [""]});
    let percent = || json!({"type": "MULTIPLIER", "parameters": ["100"]});
    let steps = match of.then {
        Then::Keep => vec![found],
        Then::PerSecond => vec![found, per_second()],
        Then::PercentOfTime => vec![found, per_second(), percent()],
        Then::Percent => vec![found, percent()],
    };
    let key = key(of.key, labels);
    let mut value = json!({
        "uuid": uuid(&key),
        "name": (of.name)().get(lang),
        "type": "DEPENDENT",
        "key": key,
        "delay": "0",
        "value_type": "FLOAT",
        "master_item": {"key": PAGE},
        "preprocessing": steps,
        "tags": [tag()],
    });
    if !of.unit.is_empty() {
        value["units"] = json!(of.unit);
    }
    value
}

fn trigger(of: &Trigger, labels: &[&str], lang: Lang) -> Value {
    // `(KEY)` within an expression: keys have lower-case letters and dots, arguments of functions never stand alone in brackets.
    let mut expression = String::new();
    let (mut rest, mut first) = (of.expression, None);
    while let Some((before, after)) = rest.split_once("((") {
        let (name, after) = after.split_once(')').unwrap_or((after, ""));
        let item = format!("/{TEMPLATE}/{}", key(name, labels));
        expression.push_str(&format!("{before}({item}"));
        first.get_or_insert(item);
        rest = after;
    }
    expression.push_str(rest);
    // What has left has no values any more, and its last one is no state of now.
    if let Some(item) = first.filter(|_| !labels.is_empty()) {
        expression.push_str(&format!(" and nodata({item},5m)=0"));
    }
    json!({
        "uuid": uuid(of.expression),
        "expression": expression,
        "name": (of.name)().get(lang),
        "priority": of.priority,
        "tags": [{"tag": "scope", "value": "storage"}],
    })
}

fn key(end: &str, labels: &[&str]) -> String {
    let of: Vec<String> = labels.iter().map(|label| lld(label)).collect();
    match of.is_empty() {
        true => format!("stend.{end}"),
        false => format!("stend.{end}[{}]", of.join(",")),
    }
}

fn lld(label: &str) -> String {
    format!("{{#{}}}", label.to_uppercase())
}

fn tag() -> Value {
    json!({"tag": "component", "value": "stend"})
}

/// The same for the same name, so that an import updates what is there; of the form of a random one (RFC 4122, version 4), which Zabbix wants.
/// FNV-1a of 128 bits.
fn uuid(name: &str) -> String {
    let prime = 0x0000_0000_0100_0000_0000_0000_0000_013b_u128;
    let begin = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let hash = name.bytes().fold(begin, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(prime));
    let version = hash & !(0xf << 76) & !(0xc << 60) | 4 << 76 | 8 << 60;
    format!("{version:032x}")
}

/// A tree as YAML: every text in single quotes, so that none is read as a number or a word of YAML.
fn yaml(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            out.push_str(&format!("{indent}{key}:"));
            nested(value, depth + 1, out);
        }),
        Value::Array(list) => list.iter().for_each(|value| {
            let mut inner = String::new();
            yaml(value, depth + 1, &mut inner);
            // The first line of what follows stands behind the dash.
            out.push_str(&format!("{indent}- {}", inner.trim_start()));
        }),
        other => out.push_str(&format!("{indent}{}\n", quoted(other))),
    }
}

fn nested(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(_) | Value::Array(_) => {
            out.push('\n');
            yaml(value, depth, out);
        }
        other => out.push_str(&format!(" {}\n", quoted(other))),
    }
}

fn quoted(value: &Value) -> String {
    format!("'{}'", value.as_str().unwrap_or_default().replace('\'', "''"))
}

#[cfg(test)]
mod evaluated;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_written_as_yaml_that_reads_everything_as_text() {
        let mut text = String::new();
        yaml(&json!({"a": "it's", "b": [{"c": "1", "d": ["", "x: y"]}], "e": {"f": "no"}}), 0, &mut text);
        assert_eq!(text, "a: 'it''s'\nb:\n  - c: '1'\n    d:\n      - ''\n      - 'x: y'\ne:\n  f: 'no'\n");
    }

    #[test]
    fn uuids_are_stable_of_version_4_and_differ() {
        let (one, other) = (uuid("a"), uuid("b"));
        assert_eq!((one.len(), &one[12..13]), (32, "4"));
        assert!("89ab".contains(&one[16..17]), "{one}");
        assert!(one != other && one == uuid("a"));
    }

    #[test]
    fn an_expression_names_the_items_of_the_template() {
        let of = Trigger { name: || say!("x", "у"), expression: "bitand(last((a.b)),29)>last((c))", priority: "HIGH" };
        let expected = "bitand(last(/Stend host by HTTP/stend.a.b[{#X}]),29)>last(/Stend host by HTTP/stend.c[{#X}]) \
                        and nodata(/Stend host by HTTP/stend.a.b[{#X}],5m)=0";
        assert_eq!(trigger(&of, &["x"], Lang::En)["expression"], expected);
        let of_host = "bitand(last(/Stend host by HTTP/stend.a.b),29)>last(/Stend host by HTTP/stend.c)";
        assert_eq!(trigger(&of, &[], Lang::En)["expression"], of_host, "its recorder has an alarm of its own");
    }
}
