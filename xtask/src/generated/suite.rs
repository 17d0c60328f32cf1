//! The JSON Schemas of suites, machines and gates and the references of their keys, both from the one description that the
//! parser uses. Must not know a key by name.

use super::File;
use serde_json::{Map, Value, json};
use std::path::Path;
use stend_base::{Bytes, Nanos};
use stend_spec::keys::{self, Key, Limits, Mapping, Shape};

/// One kind of file that users write.
pub struct Kind {
    /// Its mappings, the whole first.
    mappings: &'static [&'static Mapping],
    title: &'static str,
    schema: &'static str,
    /// Where the reference goes, between its marks.
    pub reference: &'static str,
}

/// All of them.
pub const KINDS: &[Kind] = &[
    Kind {
        mappings: keys::ALL,
        title: "Stend suite",
        schema: "docs/formats/schema/suite.json",
        reference: "docs/formats/suite.md",
    },
    Kind {
        mappings: keys::machine::ALL,
        title: "Stend machine of the lab",
        schema: "docs/formats/schema/machine.json",
        reference: "docs/formats/lab.md",
    },
    Kind {
        mappings: keys::stand::ALL,
        title: "Stend stand",
        schema: "docs/formats/schema/stand.json",
        reference: "docs/formats/stand.md",
    },
    Kind {
        mappings: keys::gate::ALL,
        title: "Stend gate",
        schema: "docs/formats/schema/gate.json",
        reference: "docs/formats/gate.md",
    },
    Kind {
        mappings: keys::hosts::ALL,
        title: "Stend hosts file",
        schema: "docs/formats/schema/hosts-file.json",
        reference: "docs/formats/hosts.md",
    },
    Kind {
        mappings: keys::vm::ALL,
        title: "Stend virtual machines",
        schema: "docs/formats/schema/virtual-machines.json",
        reference: "docs/formats/virtual-machines.md",
    },
    Kind {
        mappings: keys::sources::ALL,
        title: "Stend sources file",
        schema: "docs/formats/schema/sources-file.json",
        reference: "docs/formats/sources.md",
    },
    Kind {
        mappings: keys::notify::ALL,
        title: "Stend receivers of problems",
        schema: "docs/formats/schema/notify.json",
        reference: "docs/formats/notify.md",
    },
    Kind {
        mappings: keys::order::ALL,
        title: "Stend order",
        schema: "docs/formats/schema/order.json",
        reference: "docs/formats/order.md",
    },
];

const BEGIN: &str = "<!-- keys: written by `cargo run -p xtask -- gen` -->\n";
const END: &str = "<!-- end of keys -->";

/// Sizes, rates and durations as the parser reads them.
const SIZE: &str = r"^\s*[0-9]*\.?[0-9]+\s*(B|KiB|MiB|GiB|TiB|kB|KB|MB|GB|TB)\s*$";
const RATE: &str = r"^\s*[0-9]*\.?[0-9]+\s*/s\s*$";
const THROUGHPUT: &str = r"^\s*[0-9]*\.?[0-9]+\s*(kB|KB|KiB|MB|MiB|GB|GiB|TB|TiB|B|kbit|Mbit|Gbit|Tbit)/s\s*$";
const SPAN: &str = r"^\s*[0-9]*\.?[0-9]+\s*(ns|us|µs|ms|s|m|min|h|d)\s*$";

const SHARE: &str = r"^\s*[0-9]*\.?[0-9]+\s*%\s*$";

/// The schema, for editors.
pub fn schema(kind: &Kind) -> File {
    let mut definitions = Map::new();
    for mapping in &kind.mappings[1..] {
        definitions.insert(anchor(mapping), object(mapping));
    }
    let mut schema = object(kind.mappings[0]);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(kind.title);
    schema["$defs"] = Value::Object(definitions);
    File::of_json(kind.schema.to_string(), &schema)
}

fn object(mapping: &Mapping) -> Value {
    let properties: Map<String, Value> = mapping.keys.iter().map(|key| (key.name.to_string(), property(key))).collect();
    let required: Vec<&str> = mapping.keys.iter().filter(|key| key.default.is_none()).map(|key| key.name).collect();
    json!({
        "type": "object",
        "description": mapping.doc,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(key: &Key) -> Value {
    let one = value(&key.shape);
    let many = json!({"type": "array", "minItems": 1, "items": one});
    let mut schema = if key.axis { json!({"anyOf": [one, many]}) } else { one };
    let default = key.default.map(|default| format!(" Default: {default}.")).unwrap_or_default();
    schema["description"] = json!(format!("{} {}.{default}", key.doc, words(&key.shape, "; ").replace('`', "")));
    schema
}

fn value(shape: &Shape) -> Value {
    match shape {
        Shape::Name => json!({"type": "string", "minLength": 1, "maxLength": 200}),
        Shape::Serial(Limits { least, most }) => {
            json!({"type": "string", "pattern": format!("^[A-Za-z0-9]{{{least},{most}}}$")})
        }
        Shape::Spelled(_, pattern) => json!({"type": "string", "pattern": pattern}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Span(_) => json!({"type": "string", "pattern": SPAN}),
        Shape::Size(..) => json!({"type": "string", "pattern": SIZE}),
        Shape::Whole(Limits { least, most }) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Shape::Share(_) => json!({"type": "string", "pattern": SHARE}),
        Shape::Thousandths(Limits { least, most }) => {
            json!({"type": "number", "minimum": f64::from(*least) / 1e3, "maximum": f64::from(*most) / 1e3})
        }
        Shape::Rate(_) => json!({"type": "string", "pattern": RATE}),
        Shape::Throughput(_) => json!({"type": "string", "pattern": THROUGHPUT}),
        Shape::Word(words) => {
            let words: Vec<Value> =
                words().iter().map(|(word, doc)| json!({"const": word, "description": doc})).collect();
            json!({"oneOf": words})
        }
        Shape::Sizes(_) => {
            let Limits { least, most } = keys::SIZE_PERCENT;
            let percent = json!({"type": "integer", "minimum": least, "maximum": most});
            json!({"type": "object", "minProperties": 2, "propertyNames": {"pattern": SIZE}, "additionalProperties": percent})
        }
        Shape::Map(mapping) => json!({"$ref": format!("#/$defs/{}", anchor(mapping))}),
        Shape::List(mapping, Limits { least, most }) => {
            let items = json!({"$ref": format!("#/$defs/{}", anchor(mapping))});
            json!({"type": "array", "minItems": least, "maxItems": most, "items": items})
        }
        Shape::Several(one, Limits { least, most }) => {
            json!({"type": "array", "minItems": least, "maxItems": most, "items": value(one)})
        }
        Shape::Named(one, Limits { least, most }) => {
            json!({"type": "object", "minProperties": least, "maxProperties": most, "additionalProperties": value(one)})
        }
        Shape::Either(shapes) => json!({"anyOf": shapes.iter().map(value).collect::<Vec<_>>()}),
    }
}

/// The reference with its tables renewed; the rest of the document is kept.
pub fn reference(kind: &Kind, root: &Path) -> Result<File, String> {
    let place = kind.reference;
    let text = std::fs::read_to_string(root.join(place)).map_err(|e| format!("cannot read `{place}`: {e}"))?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("`{place}` has lost the marks of its tables"))?;
    let tables: String = kind.mappings.iter().enumerate().map(|(index, mapping)| table(mapping, index == 0)).collect();
    Ok(File { path: place.to_string(), text: format!("{before}{BEGIN}{tables}\n{END}{after}") })
}

fn table(mapping: &Mapping, whole: bool) -> String {
    let title = if whole { "The file".to_string() } else { capital(&heading(mapping)) };
    let mut text =
        format!("\n### {title}\n\n{}\n\n| key | value | default | meaning |\n|---|---|---|---|\n", mapping.doc);
    for key in mapping.keys {
        let list = if key.axis { ", or a list of them" } else { "" };
        let default = key.default.map_or("required".to_string(), |default| format!("`{default}`"));
        text += &format!("| `{}` | {}{list} | {default} | {} |\n", key.name, words(&key.shape, "<br>"), key.doc);
    }
    text
}

/// `a stream` in tables; keys that are their own name between back-quotes.
fn heading(mapping: &Mapping) -> String {
    if mapping.en.starts_with("a ") { mapping.en.to_string() } else { format!("`{}`", mapping.en) }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn anchor(mapping: &Mapping) -> String {
    mapping.en.trim_start_matches("a ").to_string()
}

/// A shape in words; what may stand in place of each other is set apart by `apart`.
fn words(shape: &Shape, apart: &str) -> String {
    match shape {
        Shape::Name => "1 to 200 characters, none of them a control character".to_string(),
        Shape::Serial(Limits { least, most }) => format!("{least} to {most} letters (A to Z) and digits"),
        Shape::Spelled(what, _) => what.to_string(),
        Shape::Bool => "`true` or `false`".to_string(),
        Shape::Span(Limits { least, most }) => format!("duration, {} to {}", span(*least), span(*most)),
        Shape::Size(Limits { least, most }, unit) => {
            let most = if most.0 == u64::MAX { String::new() } else { format!(" to {}", size(*most)) };
            let from = if most.is_empty() { "at least " } else { "" };
            let unit = if *unit > 1 { format!(", a multiple of {unit} B") } else { String::new() };
            format!("size, {from}{}{most}{unit}", size(*least))
        }
        Shape::Rate(Limits { least, most }) => {
            let [least, most] = [least, most].map(|rate| format!("{}/s", rate.as_iops()));
            format!("I/Os per second, {least} to {most}")
        }
        Shape::Throughput(Limits { least, most }) => {
            let (least, most) = (least.0 as f64 / 1e6, most.0 as f64 / 1e12);
            format!("bytes or bits per second, {least} MB/s to {most} TB/s")
        }
        Shape::Whole(Limits { least, most }) => format!("whole number, {least} to {most}"),
        Shape::Share(Limits { least, most }) => {
            format!("share, {} % to {} %", least.as_percent(), most.as_percent())
        }
        Shape::Thousandths(Limits { least, most }) => {
            format!("number, {} to {}, at most three decimals", f64::from(*least) / 1e3, f64::from(*most) / 1e3)
        }
        Shape::Word(words) => {
            words().iter().map(|(word, doc)| format!("`{word}`: {doc}")).collect::<Vec<_>>().join(apart)
        }
        Shape::Sizes(Limits { least, most }) => {
            let (least, most) = (size(*least), size(*most));
            format!("mapping of sizes ({least} to {most}, multiples of the smallest) to percent, 100 together")
        }
        Shape::Map(mapping) => format!("mapping {}", heading(mapping)),
        Shape::List(mapping, Limits { least, most }) => format!("list of {least} to {most}, each {}", heading(mapping)),
        Shape::Several(one, Limits { least, most }) => format!("list of {least} to {most}, each {}", words(one, apart)),
        Shape::Named(one, Limits { least, most }) => {
            format!("mapping from {least} to {most} names, each to {}", words(one, apart))
        }
        Shape::Either(shapes) => shapes.iter().map(|shape| words(shape, apart)).collect::<Vec<_>>().join(apart),
    }
}

fn size(bytes: Bytes) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.iter().find(|(_, bits)| bytes.0 > 0 && bytes.0.is_multiple_of(1 << bits));
    unit.map_or_else(|| format!("{} B", bytes.0), |(name, bits)| format!("{} {name}", bytes.0 >> bits))
}

fn span(nanos: Nanos) -> String {
    let units = [("d", 86_400_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000), ("ns", 1)];
    let unit = units.iter().find(|(_, length)| nanos.0 > 0 && nanos.0.is_multiple_of(*length));
    unit.map_or_else(|| nanos.0.to_string(), |(name, length)| format!("{} {name}", nanos.0 / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<(String, String)> {
        let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites");
        let entries = |directory: &Path| std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let directories = entries(&suites).filter(|path| path.is_dir());
        let files = directories.flat_map(|directory| entries(&directory).collect::<Vec<_>>());
        let yaml = files.filter(|file| file.extension().is_some_and(|extension| extension == "yaml"));
        yaml.map(|file| (file.display().to_string(), std::fs::read_to_string(file).unwrap())).collect()
    }

    #[test]
    fn every_key_of_every_example_is_described() {
        let known: Vec<&str> = keys::ALL.iter().flat_map(|mapping| mapping.keys).map(|key| key.name).collect();
        let examples = examples();
        assert!(!examples.is_empty());
        for (file, text) in examples {
            stend_spec::parse::suite(&text, &file).unwrap();
            let code = text.lines().map(|line| line.split(" #").next().unwrap_or_default());
            for line in code.filter(|line| !line.starts_with('#')) {
                for (before, _) in
                    line.match_indices(": ").chain(line.match_indices(":\n")).map(|(at, _)| line.split_at(at))
                {
                    let key = before.rsplit(['{', ' ', ',', '-']).next().unwrap_or_default();
                    let dashed = before.rsplit(['{', ' ', ',']).next().unwrap_or_default();
                    // Sizes of a mixture are keys, too, and no names.
                    let size = key.starts_with(|c: char| c.is_ascii_digit());
                    assert!(size || known.contains(&key) || known.contains(&dashed), "{file}: `{dashed}` in {line}");
                }
            }
        }
    }

    #[test]
    fn every_mapping_is_reached_from_the_file() {
        for kind in KINDS {
            let text = schema(kind).text;
            for mapping in &kind.mappings[1..] {
                assert!(text.contains(&format!("\"#/$defs/{}\"", anchor(mapping))), "{}", mapping.en);
            }
        }
    }

    #[test]
    fn every_mapping_that_a_schema_refers_to_is_described() {
        for kind in KINDS {
            let text = schema(kind).text;
            for at in text.match_indices("\"#/$defs/").map(|(at, found)| at + found.len()) {
                let name = text[at..].split('"').next().unwrap();
                assert!(text.contains(&format!("\n    \"{name}\": {{")), "{name} is referred to and not there");
            }
        }
    }

    #[test]
    fn limits_are_told_in_units_that_people_use() {
        assert_eq!(words(&Shape::Size(keys::BLOCK_SIZE, 512), ""), "size, 512 B to 64 MiB, a multiple of 512 B");
        assert_eq!(words(&Shape::Size(keys::FILL_SIZE, 1), ""), "size, at least 1 MiB");
        assert_eq!(words(&Shape::Span(keys::WINDOW), ""), "duration, 200 ms to 7 d");
        assert_eq!(words(&Shape::Span(keys::rate::LIMIT), ""), "duration, 1 µs to 3600 s");
        let short = Limits { least: Nanos(0), most: Nanos(1_500) };
        assert_eq!(words(&Shape::Span(short), ""), "duration, 0 to 1500 ns");
        let share = Limits { least: stend_base::Millionths(1), most: stend_base::Millionths::percent(50) };
        assert_eq!(words(&Shape::Share(share), ""), "share, 0.0001 % to 50 %");
        let decimal = Shape::Thousandths(Limits { least: 1, most: 10_000 });
        assert_eq!(words(&decimal, ""), "number, 0.001 to 10, at most three decimals");
    }
}
