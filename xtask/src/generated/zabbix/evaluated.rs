//! The template held against what Zabbix does with it: elements and words of its import, and every pattern on a recorded page.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// What each element may have, and what it must have; the rest of a line are words that its value may be.
//= Zabbix 6.0 manual, "Configuration export/import", "Templates": tables of elements
const ELEMENTS: [(&str, &[&str], &[&str]); 10] = [
    ("zabbix_export", &["version", "templates"], &["date", "groups", "triggers"]),
    ("groups", &["name"], &["uuid"]),
    ("templates", &["uuid", "template", "groups"], &["name", "description", "items", "discovery_rules", "macros"]),
    ("items", &["uuid", "name", "key"], ITEM),
    ("item_prototypes", &["uuid", "name", "key"], ITEM),
    (
        "discovery_rules",
        &["uuid", "name", "key", "item_prototypes"],
        &["type", "delay", "lifetime", "master_item", "preprocessing", "lld_macro_paths", "trigger_prototypes"],
    ),
    ("preprocessing", &["type", "parameters"], &["error_handler", "error_handler_params"]),
    ("lld_macro_paths", &["lld_macro", "path"], &[]),
    ("triggers", &["uuid", "expression", "name"], &["priority", "tags"]),
    ("trigger_prototypes", &["uuid", "expression", "name"], &["priority", "tags"]),
];

const ITEM: &[&str] = &[
    "type",
    "delay",
    "history",
    "trends",
    "value_type",
    "units",
    "timeout",
    "url",
    "master_item",
    "preprocessing",
    "tags",
];

/// Words that a value may be, by the name of its key.
const WORDS: [(&str, &[&str]); 5] = [
    (
        "type",
        &["HTTP_AGENT", "DEPENDENT", "PROMETHEUS_PATTERN", "PROMETHEUS_TO_JSON", "CHANGE_PER_SECOND", "MULTIPLIER"],
    ),
    ("value_type", &["FLOAT", "TEXT"]),
    ("error_handler", &["DISCARD_VALUE", "CUSTOM_VALUE"]),
    ("priority", &["WARNING", "HIGH"]),
    ("version", &["6.0"]),
];

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Holds an element of this name, and those in it, against the tables.
fn check(name: &str, value: &Value, found: &mut Vec<String>) {
    if let Some(words) = WORDS.iter().find(|(key, _)| *key == name).map(|(_, words)| words) {
        found.extend((!words.contains(&text(value))).then(|| format!("{name}: {value}")));
    }
    match value {
        Value::Array(all) => all.iter().for_each(|one| check(name, one, found)),
        Value::Object(map) => {
            if let Some((_, must, may)) = ELEMENTS.iter().find(|(element, ..)| *element == name) {
                let missing = must.iter().filter(|key| !map.contains_key(**key));
                found.extend(missing.map(|key| format!("{name} lacks {key}")));
                let unknown = map.keys().filter(|key| !must.contains(&key.as_str()) && !may.contains(&key.as_str()));
                found.extend(unknown.map(|key| format!("{name} has {key}")));
            }
            map.iter().for_each(|(key, value)| check(key, value, found));
        }
        _ => {}
    }
}

/// A sample of a page: name, labels, value.
type Sample = (String, BTreeMap<String, String>, f64);

fn labels(inside: &str) -> Vec<(String, bool, String)> {
    let pairs = inside.split("\",").filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').expect("a label");
            let (is_pattern, value) = value.strip_prefix('~').map_or((false, value), |value| (true, value));
            (name.to_string(), is_pattern, value.trim_matches('"').to_string())
        })
        .collect()
}

fn split(text: &str) -> (&str, &str) {
    text.split_once('{').map_or((text, ""), |(name, rest)| (name, rest.trim_end_matches('}')))
}

/// The page of a host on which everything is, as the test of the metrics keeps it.
fn page() -> Vec<Sample> {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/report/tests/golden/metrics/host.prom");
    let text = std::fs::read_to_string(place).expect("a page");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let (name, inside) = split(series);
            let labels = labels(inside).into_iter().map(|(name, _, value)| (name, value)).collect();
            (name.to_string(), labels, value.parse().expect("a number"))
        })
        .collect()
}

/// Samples that a pattern finds.
fn matched<'a>(page: &'a [Sample], pattern: &str) -> Vec<&'a Sample> {
    let (name, inside) = split(pattern);
    let wanted = labels(inside);
    let fits = |of: &BTreeMap<String, String>| {
        wanted.iter().all(|(label, is_pattern, value)| match (of.get(label), is_pattern) {
            (Some(found), false) => found == value,
            (Some(found), true) => value.split('|').any(|word| word == found),
            (None, _) => false,
        })
    };
    page.iter().filter(|(series, labels, _)| series == name && fits(labels)).collect()
}

fn pattern(value: &Value) -> (&str, &str) {
    let step = &value["preprocessing"][0];
    (text(&step["parameters"][0]), step["parameters"][1].as_str().unwrap_or_default())
}

/// Whether Zabbix gets a number from this: one sample, or a sum of some.
fn has_value(page: &[Sample], pattern: &str, output: &str) -> bool {
    match matched(page, pattern).len() {
        0 => false,
        1 => true,
        _ => output == "sum",
    }
}

#[test]
fn elements_and_words_are_those_of_the_import_of_zabbix() {
    for lang in [Lang::En, Lang::Ru] {
        let mut found = Vec::new();
        check("", &template(lang), &mut found);
        assert_eq!(found, [""; 0]);
    }
    let mut found = Vec::new();
    let bad = json!({"zabbix_export": {"version": "9", "templates": [{"uuid": "", "template": "", "colour": "red"}]}});
    check("", &bad, &mut found);
    assert_eq!(found, ["templates lacks groups", "templates has colour", "version: \"9\""]);
}

#[test]
fn every_pattern_finds_its_metric_on_a_recorded_page_and_no_pattern_finds_two() {
    let page = page();
    assert!(!has_value(&page, "node_disk_colour", "value") && !has_value(&page, "node_cpu_seconds_total", "value"));
    let template = &template(Lang::En)["zabbix_export"]["templates"][0];
    let items = list(&template["items"]);
    for item in items.iter().skip(1) {
        let (pattern, output) = pattern(item);
        assert!(has_value(&page, pattern, output), "{pattern}");
    }
    for rule in list(&template["discovery_rules"]) {
        let found = matched(&page, pattern(&rule).0);
        assert!(!found.is_empty(), "{}", rule["name"]);
        for (_, labels, _) in found {
            // Each label of what was discovered stands where its macro is.
            let fill = |text: &str| {
                list(&rule["lld_macro_paths"]).iter().fold(text.to_string(), |text, path| {
                    let label = path["path"].as_str().and_then(|path| path.strip_prefix("$.labels.")).expect("a label");
                    text.replace(path["lld_macro"].as_str().expect("a macro"), &labels[label])
                })
            };
            for item in list(&rule["item_prototypes"]) {
                let (pattern, output) = pattern(&item);
                let filled = fill(pattern);
                assert!(!filled.contains("{#") && has_value(&page, &filled, output), "{filled}");
            }
        }
    }
}

/// Whether an expression of last values holds on a page, for all that was discovered there; `None` where it asks for more than last values, or
/// one is missing.
fn holds(page: &[Sample], rule: &Value, expression: &str) -> Option<bool> {
    let of_item = |named: &str| {
        let key = named.strip_prefix(&format!("last(/{TEMPLATE}/"))?.strip_suffix(')')?;
        let items = list(&rule["item_prototypes"]);
        let item = items.iter().find(|item| text(&item["key"]) == key)?;
        // The page has one of each kind: without labels of what was discovered the pattern finds it.
        let pattern = pattern(item).0;
        let (name, inside) = split(pattern);
        let fixed: Vec<&str> = inside.split(',').filter(|label| !label.contains("{#")).collect();
        let found = matched(page, &format!("{name}{{{}}}", fixed.join(",")));
        let factor = if item["preprocessing"][1]["type"] == "MULTIPLIER" { 100.0 } else { 1.0 };
        found.first().map(|(.., value)| value * factor)
    };
    let side = |of: &str| of.parse::<f64>().ok().or_else(|| of_item(of));
    let (states, _) = expression.split_once(" and nodata(")?;
    let mut all = true;
    for condition in states.split(" and ") {
        let word = [">=", "<", ">", "="].into_iter().find(|word| condition.contains(word))?;
        let (left, right) = condition.split_once(word)?;
        let (left, right): (f64, f64) = (side(left)?, side(right)?);
        all &= match word {
            ">=" => left >= right,
            "<" => left < right,
            ">" => left > right,
            _ => left == right,
        };
    }
    Some(all)
}

#[test]
fn a_drive_that_is_only_too_warm_raises_that_alarm_alone_and_a_pool_that_is_degraded_its_own() {
    let page = page();
    // As smartctl tells of a warm drive of NVMe.
    let value = |name: &str| matched(&page, name)[0].2;
    assert_eq!((value("stend_disk_critical_warning"), value("stend_disk_healthy")), (2.0, 0.0));
    let whole = template(Lang::En)["zabbix_export"]["templates"][0].clone();
    let mut raised = Vec::new();
    for rule in list(&whole["discovery_rules"]) {
        for trigger in list(&rule["trigger_prototypes"]) {
            let is_raised = holds(&page, &rule, text(&trigger["expression"])) == Some(true);
            raised.extend(is_raised.then(|| text(&trigger["name"]).to_string()));
        }
    }
    let expected = [
        "Drive {#DEVICE} is too warm",
        "Array {#DEVICE} lacks drives",
        "Pool {#ZPOOL} is degraded",
        "Link of {#DEVICE} is narrower than possible",
    ];
    assert_eq!(raised, expected);
}

#[test]
fn an_alarm_about_what_has_left_ends() {
    let whole = template(Lang::En)["zabbix_export"]["templates"][0].clone();
    for rule in list(&whole["discovery_rules"]) {
        for trigger in list(&rule["trigger_prototypes"]) {
            let expression = text(&trigger["expression"]);
            let (states, end) = expression.rsplit_once(" and nodata(").expect("its end");
            let item = end.strip_suffix(",5m)=0").expect("five minutes");
            // All that is asked holds at once, so that one part without values ends it.
            assert!(states.contains(item) && !states.contains(" or "), "{expression}");
        }
    }
}

/// Rules of the journal by the alarms that stand for them, with the severity that the journal gives (`health.rs` and `judge.rs` there).
const SEVERITIES: [(&str, &str, &str); 13] = [
    ("drive_failing", "Drive {#DEVICE} fails by its own word", "critical"),
    ("drive_hot", "Drive {#DEVICE} is critically hot", "critical"),
    ("drive_hot", "Drive {#DEVICE} is too warm", "warning"),
    ("drive_worn", "Drive {#DEVICE} is almost worn", "warning"),
    ("drive_worn", "Drive {#DEVICE} is worn out", "critical"),
    ("media_errors", "Drive {#DEVICE}: more media errors", "warning"),
    ("port_errors", "Port {#DEVICE}: bad packets", "warning"),
    ("array_degraded", "Array {#DEVICE} lacks drives", "critical"),
    ("pool_unhealthy", "Pool {#ZPOOL} is degraded", "warning"),
    ("pool_unhealthy", "Pool {#ZPOOL} is not healthy", "critical"),
    ("path_down", "Path {#DEVICE}/{#PATH} is down", "warning"),
    ("link_narrow", "Link of {#DEVICE} is narrower than possible", "warning"),
    ("nfs_silent", "NFS {#EXPORT} at {#MOUNT} does not answer", "critical"),
];

#[test]
fn every_alarm_has_the_severity_that_the_journal_gives() {
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/analyse/src/journal/rules.rs");
    let rules = std::fs::read_to_string(rules).expect("the rules");
    for (rule, ..) in SEVERITIES {
        assert!(rules.contains(&format!("=> \"{rule}\"")), "{rule}");
    }
    let whole = template(Lang::En)["zabbix_export"]["templates"][0].clone();
    let triggers = list(&whole["discovery_rules"]).into_iter().flat_map(|rule| list(&rule["trigger_prototypes"]));
    let found: BTreeMap<String, String> =
        triggers.map(|trigger| (text(&trigger["name"]).to_string(), text(&trigger["priority"]).to_string())).collect();
    let priority = |severity: &str| String::from(if severity == "critical" { "HIGH" } else { "WARNING" });
    let expected: BTreeMap<String, String> =
        SEVERITIES.iter().map(|(_, name, severity)| (name.to_string(), priority(severity))).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_expression_names_items_that_there_are_and_nothing_is_there_twice() {
    let whole = template(Lang::En)["zabbix_export"].clone();
    let template = &whole["templates"][0];
    let rules = list(&template["discovery_rules"]);
    let of = |value: &Value, key: &str| list(&value[key]);
    let items: Vec<Value> =
        of(template, "items").into_iter().chain(rules.iter().flat_map(|rule| of(rule, "item_prototypes"))).collect();
    let keys: BTreeSet<&str> = items.iter().map(|item| text(&item["key"])).collect();
    assert_eq!(keys.len(), items.len());
    let triggers: Vec<Value> = of(&whole, "triggers")
        .into_iter()
        .chain(rules.iter().flat_map(|rule| of(rule, "trigger_prototypes")))
        .collect();
    for trigger in &triggers {
        let expression = text(&trigger["expression"]);
        let named: Vec<&str> = expression
            .split(&format!("/{TEMPLATE}/"))
            .skip(1)
            .map(|rest| {
                let end = rest.find(']').map(|at| at + 1).or_else(|| rest.find([',', ')'])).expect("an end");
                &rest[..end]
            })
            .collect();
        assert!(!named.is_empty() && named.iter().all(|key| keys.contains(key)), "{expression}");
    }
    let uuids: Vec<&str> =
        items.iter().chain(&rules).chain(&triggers).chain([template]).map(|one| text(&one["uuid"])).collect();
    assert_eq!(uuids.iter().collect::<BTreeSet<_>>().len(), uuids.len());
}
