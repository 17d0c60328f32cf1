//! JSON Schema as text, and whether a document is as its schema says. Knows only the words that we use.

use serde_json::Value;

/// Indented, with a line feed at the end.
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// Where a document differs from a schema; stricter than the standard: a key that is not described is a
/// difference, too. `root` holds the definitions.
#[cfg(test)]
pub fn differences(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null);
        return differences(root, target, value, place);
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[word].as_array() {
            let all: Vec<Vec<String>> = choices.iter().map(|c| differences(root, c, value, place)).collect();
            return all.into_iter().min_by_key(Vec::len).unwrap_or_default();
        }
    }
    let mut found = Vec::new();
    if !schema["const"].is_null() && schema["const"] != *value {
        found.push(format!("{place}: {value} is not {}", schema["const"]));
    }
    if !of_type(&schema["type"], value) {
        found.push(format!("{place}: {value} is not of type {}", schema["type"]));
    }
    if let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object()) {
        for (key, value) in object {
            match properties.get(key) {
                Some(schema) => found.extend(differences(root, schema, value, &format!("{place}.{key}"))),
                None => found.push(format!("{place}: `{key}` is not described")),
            }
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        found.extend(required.filter(|key| !object.contains_key(*key)).map(|key| format!("{place}: no `{key}`")));
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        let schema = if schema["prefixItems"].is_array() { &schema["prefixItems"][i] } else { &schema["items"] };
        found.extend(differences(root, schema, item, &format!("{place}[{i}]")));
    }
    found
}

#[cfg(test)]
fn of_type(types: &Value, value: &Value) -> bool {
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
    match types {
        Value::Null => true,
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}
