//! The OpenAPI document of `stend serve` and the table of its routes for people, from the routes and the types of their answers.

use super::File;
use super::suite::KINDS;
use super::types::Types;
use serde_json::{Map, Value, json};
use stend_api::{Answer, Body, Location, Method, Parameter, ROUTES, Route, SECONDS_MAX, Schema, Takes, VERSION};

const HEAD: &str = "\
# Routes of the API

[api.md](../api.md) has the rules that all share, [openapi.json](openapi.json) the same for programs.

Written by `cargo run -p xtask -- gen` from `crates/api/src/routes.rs`.

| method | address | role | answers | parameters | on the command line |
|---|---|---|---|---|---|
";

/// The table for people.
pub fn table() -> File {
    let row = |route: &Route| {
        let names: Vec<String> = route.parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
        let command = if route.command.is_empty() { String::new() } else { format!("`{}`", route.command) };
        let (method, role) = (route.method.word(), route.role.word());
        format!(
            "| {method} | `{}` | {role} | {} | {} | {command} |\n",
            route.path,
            (route.about)().en,
            names.join(", ")
        )
    };
    let rows: String = ROUTES.iter().map(row).collect();
    File { path: "docs/api/routes.md".to_string(), text: format!("{HEAD}{rows}") }
}

/// The document for programs.
pub fn document(types: &Types) -> Result<File, String> {
    let mut components = Map::new();
    let problem = typed(types, "problem.rs", "Problem", &mut components)?;
    let mut paths = json!({});
    for route in ROUTES {
        let method = route.method.word().to_lowercase();
        paths[route.path][method] = operation(types, route, &problem, &mut components)?;
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Stend",
            "version": VERSION,
            "description": "What `stend serve` answers. Numbers are in base units that their names say. Errors are decided by `code`, never by a text.",
        },
        "security": [{"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The token that the first start prints."},
                "session": {"type": "apiKey", "in": "cookie", "name": "stend", "description": "What signing in with the token gives a browser."},
            },
        },
    });
    Ok(File::of_json("docs/api/openapi.json".to_string(), &document))
}

fn operation(
    types: &Types,
    route: &Route,
    problem: &Value,
    components: &mut Map<String, Value>,
) -> Result<Value, String> {
    let mut content = Map::new();
    for Answer { media, schema } in route.answers {
        content.insert(media_type(media), answer(types, media, schema, components)?);
    }
    let mut responses = json!({"200": {"description": (route.about)().en, "content": content}});
    let has_tag = route.parameters.iter().any(|parameter| parameter.name == "If-None-Match");
    if has_tag {
        responses["200"]["headers"] = json!({"ETag": {"schema": {"type": "string"}}});
        responses["304"] = json!({"description": "nothing changed"});
    }
    if matches!(route.answers[0].schema, Schema::Events(..)) {
        responses["204"] = json!({"description": "the run has ended, and the reader has everything"});
    }
    responses["default"] =
        json!({"description": "why there is no answer", "content": {"application/problem+json": {"schema": problem}}});
    let parameters: Vec<Value> = route.parameters.iter().map(parameter).collect();
    let mut operation = json!({
        "operationId": route.operation,
        "x-role": route.role.word(),
        "summary": (route.about)().en,
        "parameters": parameters,
        "responses": responses,
    });
    match route.body {
        Body::None => {}
        Body::Format(name) => {
            let schema = add(name, input(name)?, components);
            operation["requestBody"] = json!({
                "required": true,
                "description": "JSON, or YAML with the same keys",
                "content": {"application/json": {"schema": schema.clone()}, "application/yaml": {"schema": schema}},
            });
        }
        Body::File(about) => {
            let content = json!({"application/octet-stream": {"schema": {}}});
            operation["requestBody"] = json!({"required": true, "description": about().en, "content": content});
        }
        Body::Text(media, about) => {
            let content = json!({media: {"schema": {"type": "string"}}});
            operation["requestBody"] = json!({"required": true, "description": about().en, "content": content});
        }
    }
    let header = match route.operation {
        "dryRunOrder" => {
            Some(("Stend-Confirmation", "of an order that may write to devices: what `confirmation` of the task takes"))
        }
        "events" => Some(("Stend-Run", "name of the run: `last` and labels may mean another one a moment later")),
        _ => None,
    };
    if let Some((name, about)) = header {
        operation["responses"]["200"]["headers"] = json!({name: {"description": about, "schema": {"type": "string"}}});
    }
    if route.method == Method::Put || route.operation == "import" {
        operation["responses"]["201"] =
            json!({"description": "it is new", "content": operation["responses"]["200"]["content"]});
    }
    if !route.command.is_empty() {
        operation["description"] = json!(format!("The same on the command line: `{}`", route.command));
    }
    Ok(operation)
}

/// The schema of a file that people write.
fn input(name: &str) -> Result<Value, String> {
    let path = format!("docs/formats/schema/{name}.json");
    let file = KINDS.iter().map(super::suite::schema).find(|file| file.path == path);
    let text = file.ok_or_else(|| format!("no format is called `{name}`"))?.text;
    serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))
}

/// Without what only a header needs.
fn media_type(media: &str) -> String {
    media.split(';').next().unwrap_or(media).to_string()
}

fn parameter(parameter: &Parameter) -> Value {
    let schema = match parameter.takes {
        Takes::Text => json!({"type": "string"}),
        Takes::Cron => json!({"type": "string", "maxLength": 200}),
        Takes::Time => json!({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?Z?$"}),
        Takes::TaskId => json!({"type": "string", "pattern": r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"}),
        Takes::Count(usize::MAX) => json!({"type": "integer", "minimum": 1}),
        Takes::Cursor => json!({"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}),
        Takes::Flag => json!({"type": "boolean", "default": false}),
        Takes::Choice(words) => json!({"type": "string", "enum": words}),
        Takes::Count(most) => json!({"type": "integer", "minimum": 1, "maximum": most}),
        Takes::Between(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Takes::Seconds => json!({"type": "number", "minimum": 0, "maximum": SECONDS_MAX}),
    };
    let about = (parameter.about)().en;
    let of = |place: &str, required: bool, schema: Value| json!({"name": parameter.name, "in": place, "required": required, "description": about, "schema": schema});
    match parameter.place {
        Location::Path => of("path", true, schema),
        Location::Query => of("query", false, schema),
        Location::Required => of("query", true, schema),
        Location::Several => of("query", false, json!({"type": "array", "items": schema})),
        Location::Repeated => of("query", true, json!({"type": "array", "items": schema, "minItems": 1})),
        Location::Header => of("header", false, schema),
    }
}

fn answer(types: &Types, media: &str, schema: &Schema, components: &mut Map<String, Value>) -> Result<Value, String> {
    Ok(match schema {
        Schema::Document(name) => json!({"schema": add(name, super::outputs::schema(types, name)?, components)}),
        Schema::Documents(name) => {
            let one = add(name, super::outputs::schema(types, name)?, components);
            json!({"schema": {"anyOf": [one.clone(), {"type": "array", "items": one}]}})
        }
        Schema::Type(file, name) => json!({"schema": typed(types, file, name, components)?}),
        // What the data of each event are: OpenAPI 3.1 has no word for streams.
        Schema::Events(file, events) => {
            let mut known = Map::new();
            for (event, name) in *events {
                known.insert((*event).to_string(), typed(types, file, name, components)?);
            }
            json!({"schema": {"type": "string", "description": "server-sent events; `x-events` has the data of each"}, "x-events": known})
        }
        Schema::Opaque if media == "application/json" => json!({"schema": {"type": "object"}}),
        Schema::Opaque => json!({}),
    })
}

fn typed(types: &Types, file: &str, name: &str, components: &mut Map<String, Value>) -> Result<Value, String> {
    Ok(add(name, types.schema(&format!("crates/api/src/{file}"), name)?, components))
}

/// Puts a schema and what it needs among the components, and points to it. Documents have types of the same name that differ, so that
/// what a document needs is named after it, too.
fn add(name: &str, mut schema: Value, components: &mut Map<String, Value>) -> Value {
    let needed = schema.as_object_mut().and_then(|schema| schema.remove("$defs"));
    repoint(&mut schema, name);
    components.insert(name.to_string(), schema);
    for (inner, mut schema) in needed.as_ref().and_then(Value::as_object).cloned().unwrap_or_default() {
        repoint(&mut schema, name);
        components.insert(format!("{name}.{inner}"), schema);
    }
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn repoint(schema: &mut Value, document: &str) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match value.as_str().and_then(|text| text.strip_prefix("#/$defs/")) {
                    Some(name) if key == "$ref" => *value = json!(format!("#/components/schemas/{document}.{name}")),
                    _ => repoint(value, document),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| repoint(item, document)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(object) => object.iter().for_each(|(key, value)| match value.as_str() {
                Some(target) if key == "$ref" => found.push(target.to_string()),
                _ => references(value, found),
            }),
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_of_the_document_leads_somewhere() {
        // Another test holds that it is what the code says.
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/api/openapi.json");
        let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 100, "{}", found.len());
        for target in found {
            assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target}");
        }
    }
}
