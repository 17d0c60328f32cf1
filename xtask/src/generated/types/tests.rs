//! The translation of types is that of serde.

use super::*;

/// A file that serialises something.
fn source(path: &str, code: &str) -> Source {
    Source::new(path, &format!("use serde::Serialize;\n{code}"))
}

fn schema(code: &str) -> Result<Value, String> {
    let types = Types::of(&[source("crates/a/src/a.rs", code)])?;
    types.schema("crates/a/src/a.rs", "A")
}

#[test]
fn fields_are_required_unless_serde_may_leave_them_out() {
    let schema = schema(
        "/// A thing.\nstruct A<'a> {\n/// Its name,\n/// in full.\nname: &'a str, \
         #[serde(skip_serializing_if = \"Option::is_none\")] r#type: Option<u8>, #[serde(skip)] c: X }",
    );
    let expected = json!({
        "type": "object", "description": "A thing.", "required": ["name"], "$defs": {},
        "properties": {
            "name": {"type": "string", "description": "Its name, in full."},
            "type": {"type": ["integer", "null"], "minimum": 0},
        },
    });
    assert_eq!(schema.unwrap(), expected);
}

#[test]
fn variants_are_tagged_from_outside_and_spelled_as_asked() {
    let schema = schema(
        "#[serde(rename_all = \"snake_case\")] enum A { OneTwo, Held(u8), Pair(u8, bool), With { x: Option<B> } } struct B(pub f64);",
    );
    let schema = schema.unwrap();
    let variants = schema["oneOf"].as_array().unwrap();
    assert_eq!(variants[0], json!({"const": "one_two"}));
    assert_eq!(variants[1]["properties"]["held"]["type"], "integer");
    assert_eq!(variants[2]["properties"]["pair"]["prefixItems"][1]["type"], "boolean");
    let x = &variants[3]["properties"]["with"]["properties"]["x"];
    assert_eq!(*x, json!({"anyOf": [{"$ref": "#/$defs/B"}, {"type": "null"}]}));
    assert_eq!(schema["$defs"]["B"], json!({"type": ["number", "null"]}));
}

#[test]
fn a_tag_inside_is_one_more_key() {
    let schema = schema("#[serde(tag = \"kind\")] enum A { X { y: bool } }").unwrap();
    assert_eq!(schema["oneOf"][0]["required"], json!(["kind", "y"]));
    assert_eq!(schema["oneOf"][0]["properties"]["kind"], json!({"const": "X"}));
}

#[test]
fn a_type_that_contains_itself_ends() {
    let schema = schema("struct A { more: Vec<A>, map: BTreeMap<String, Result<u8, String>> }").unwrap();
    assert_eq!(schema["properties"]["more"]["items"], json!({"$ref": "#/$defs/A"}));
}

#[test]
fn what_is_not_understood_is_an_error_and_not_a_guess() {
    for (code, words) in [
        ("struct A { x: Unknown }", "nothing says how `Unknown` becomes JSON"),
        ("#[serde(rename_all = \"kebab-case\")] struct A { x: u8 }", "`kebab-case` is new"),
        ("struct A { #[serde(flatten)] x: u8 }", "`flatten` is new"),
        ("struct A { x: fn(u8) }", "has no JSON"),
    ] {
        let error = schema(code).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_nearest_type_of_a_name_is_meant() {
    let sources = [
        source("crates/a/src/a.rs", "struct A { b: B }"),
        source("crates/a/src/b.rs", "struct B { near: u8 }"),
        source("crates/c/src/c.rs", "struct B { far: u8 }"),
    ];
    let types = Types::of(&sources).unwrap();
    let schema = types.schema("crates/a/src/a.rs", "A").unwrap();
    assert!(schema["$defs"]["B"]["properties"]["near"].is_object(), "{schema}");
    let imported = source("crates/a/src/a.rs", "use stend_c::deep::{B, C};\nstruct A { b: B }");
    let types = Types::of(&[imported, sources[1].clone(), sources[2].clone()]).unwrap();
    let schema = types.schema("crates/a/src/a.rs", "A").unwrap();
    assert!(schema["$defs"]["B"]["properties"]["far"].is_object(), "{schema}");
    let qualified = source("crates/a/src/a.rs", "struct A { b: stend_c::deep::B }");
    let types = Types::of(&[qualified, sources[1].clone(), sources[2].clone()]).unwrap();
    let schema = types.schema("crates/a/src/a.rs", "A").unwrap();
    assert!(schema["$defs"]["B"]["properties"]["far"].is_object(), "{schema}");
    let more = [&sources[..], &[source("crates/a/src/d.rs", "struct B {}")]].concat();
    assert!(Types::of(&more).unwrap().schema("crates/a/src/a.rs", "A").unwrap_err().contains("more than one"));
}
