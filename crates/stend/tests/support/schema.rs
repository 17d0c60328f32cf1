//! Whether a document is as a schema that `xtask` writes says. Knows only the words that it writes; another one is a difference. The tests of
//! `xtask` include this file, too.

use serde_json::Value;

/// Words that only explain.
const NOTES: [&str; 6] = ["description", "default", "title", "$schema", "$id", "$defs"];

/// Where a value differs from a schema; `document` holds what references lead to. Stricter than the standard: a key that is not described is a
/// difference, too.
pub fn differences(document: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, says) in schema.as_object().into_iter().flatten() {
        match word.as_str() {
            "$ref" => {
                let target = says.as_str().and_then(|path| document.pointer(path.trim_start_matches('#')));
                let target = target.unwrap_or_else(|| panic!("{place}: {says} leads nowhere"));
                found.extend(differences(document, target, value, place));
            }
            // The closest choice says most.
            "anyOf" | "oneOf" => {
                let choices = says.as_array().into_iter().flatten();
                let all = choices.map(|choice| differences(document, choice, value, place));
                found.extend(all.min_by_key(Vec::len).unwrap_or_default());
            }
            "const" if says != value => found.push(format!("{place}: {value} is not {says}")),
            "type" if !is_of(says, value) => found.push(format!("{place}: {value} is not of type {says}")),
            "minimum" if value.as_f64() < says.as_f64() && value.is_number() => {
                found.push(format!("{place}: {value} is below {says}"));
            }
            "properties" => found.extend(of_object(document, schema, value, place)),
            "additionalProperties" if schema["properties"].is_null() => {
                let inside = value.as_object().into_iter().flatten();
                let all = inside.map(|(key, value)| differences(document, says, value, &format!("{place}.{key}")));
                found.extend(all.flatten());
            }
            "items" | "prefixItems" => {
                let inside = value.as_array().into_iter().flatten().enumerate();
                let of = |at: usize| if word == "items" { says } else { &says[at] };
                let all = inside.map(|(at, item)| differences(document, of(at), item, &format!("{place}[{at}]")));
                found.extend(all.flatten());
            }
            "minItems" if value.is_array() && count(value) < says.as_u64() => {
                found.push(format!("{place}: fewer than {says} items"));
            }
            "maxItems" if count(value) > says.as_u64() => found.push(format!("{place}: more than {says} items")),
            "required" | "const" | "type" | "minimum" | "minItems" | "maxItems" => {}
            note if NOTES.contains(&note) => {}
            other => found.push(format!("{place}: the schema says `{other}`, which this test cannot check")),
        }
    }
    found
}

fn of_object(document: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let Some(object) = value.as_object() else { return Vec::new() };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|key| !object.contains_key(*key)).map(|key| format!("{place}: no `{key}`"));
    let inside = object.iter().flat_map(|(key, value)| match schema["properties"].get(key) {
        Some(schema) => differences(document, schema, value, &format!("{place}.{key}")),
        None => vec![format!("{place}: `{key}` is not described")],
    });
    missing.chain(inside).collect()
}

/// Items of a list.
fn count(value: &Value) -> Option<u64> {
    value.as_array().map(|items| items.len() as u64)
}

fn is_of(types: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    types.as_array().map_or_else(|| is(types), |types| types.iter().any(is))
}

#[test]
fn a_document_that_is_not_as_its_schema_says_is_seen() {
    let document = serde_json::json!({"defs": {"word": {"oneOf": [{"const": "a"}, {"const": "b"}]}}});
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "list": {"type": "array", "prefixItems": [{"type": "integer", "minimum": 0}], "minItems": 1, "maxItems": 1},
            "word": {"$ref": "#/defs/word"},
            "text": {"type": ["string", "null"]},
        },
        "required": ["list", "word"],
    });
    let found = |value: serde_json::Value| differences(&document, &schema, &value, "").len();
    assert_eq!(found(serde_json::json!({"list": [1], "word": "b", "text": null})), 0);
    for (value, expected) in [
        (serde_json::json!({"list": [-1], "word": "b"}), 1),
        (serde_json::json!({"list": [], "word": "c"}), 2),
        (serde_json::json!({"list": ["1"], "word": "a", "text": 1}), 2),
        (serde_json::json!({"word": "a", "more": 1}), 2),
        (serde_json::json!([]), 1),
    ] {
        assert_eq!(found(value.clone()), expected, "{value}");
    }
    assert_eq!(differences(&document, &serde_json::json!({"pattern": "x"}), &"x".into(), "").len(), 1);
}
