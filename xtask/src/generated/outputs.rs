//! JSON Schemas of what `--json` prints, from the types that are printed.

use super::File;
use super::types::Types;
use serde_json::{Value, json};

/// (file, title, where the type is, the type).
const DOCUMENTS: [(&str, &str, &str, &str); 22] = [
    ("findings", "`stend show --json` and `stend run --json`", "crates/report/src/json.rs", "Document"),
    ("preview", "`stend run --dry-run --json`", "crates/report/src/preview.rs", "Document"),
    ("list", "`stend list --json`", "crates/report/src/listing.rs", "Document"),
    ("suites", "`stend suites --json`", "crates/report/src/suites.rs", "Document"),
    ("comparison", "`stend compare --json`", "crates/report/src/comparison/json.rs", "Document"),
    ("history", "`stend compare --history --json`", "crates/report/src/history.rs", "Document"),
    ("audit", "`stend audit --json`", "crates/report/src/audit/json.rs", "Document"),
    ("beside", "`stend compare RUN --published TABLE --json`", "crates/report/src/published/json.rs", "Document"),
    ("stand-plan", "`stend stand plan --json`", "crates/report/src/stands.rs", "Planned"),
    ("stand-status", "`stend stand status --json`", "crates/report/src/stands.rs", "Statuses"),
    ("stand-up", "`stend stand up --json`", "crates/report/src/stands.rs", "Up"),
    ("recording", "`stend show RECORDING --json`", "crates/report/src/recording.rs", "Document"),
    ("host-step", "`stend top --json`, a document per line", "crates/report/src/recording.rs", "Step"),
    ("journal", "`stend journal --json`", "crates/report/src/journal.rs", "Document"),
    ("bundle", "`stend bundle --json`, and `bundle.json` in the archive", "crates/report/src/bundle.rs", "Document"),
    ("checkup", "`stend doctor --json`", "crates/report/src/machine.rs", "Document"),
    (
        "hosts",
        "`stend doctor --ssh … --json` and `stend inspect --ssh … --json`",
        "crates/report/src/machine.rs",
        "Hosts",
    ),
    ("error", "what fails with `--json`, on the standard error", "crates/report/src/machine.rs", "Failure"),
    ("serving", "`stend serve --json`", "crates/report/src/machine.rs", "Serving"),
    ("record", "`stend export --format json`", "crates/report/src/export.rs", "Document"),
    ("inventory", "`stend inspect --json` without a target", "crates/record/src/inventory.rs", "Inventory"),
    ("target", "`stend inspect PATH --json`", "crates/record/src/facts.rs", "TargetFacts"),
];

/// One schema per document.
pub fn files(types: &Types) -> Result<Vec<File>, String> {
    DOCUMENTS.iter().map(|document| file(types, document)).collect()
}

/// The schema of a document by its name.
pub fn schema(types: &Types, name: &str) -> Result<Value, String> {
    let known = DOCUMENTS.iter().find(|(known, ..)| *known == name);
    let (_, _, place, root) = known.ok_or_else(|| format!("there is no document `{name}`"))?;
    types.schema(place, root)
}

fn file(types: &Types, (name, title, place, root): &(&str, &str, &str, &str)) -> Result<File, String> {
    let mut schema = types.schema(place, root)?;
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(title.replace('`', ""));
    Ok(File::of_json(format!("docs/formats/schema/{name}.json"), &schema))
}

#[cfg(test)]
#[path = "../../../crates/stend/tests/support/schema.rs"]
mod as_a_schema_says;

#[cfg(test)]
mod tests {
    use super::DOCUMENTS;
    use super::as_a_schema_says::differences;
    use serde_json::Value;
    use std::path::Path;

    fn read(path: &str) -> Value {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn what_is_really_printed_is_as_the_schema_says() {
        for (name, ..) in DOCUMENTS {
            let schema = read(&format!("docs/formats/schema/{name}.json"));
            let printed = read(&format!("crates/report/tests/golden/{name}.json"));
            assert_eq!(differences(&schema, &schema, &printed, "document"), [""; 0], "{name}");
        }
    }

    #[test]
    fn a_document_that_differs_is_found() {
        let schema = read("docs/formats/schema/findings.json");
        let mut printed = read("crates/report/tests/golden/findings.json");
        printed["cases"][0]["iops"]["n"] = "six".into();
        printed["caveats"] = Value::Null;
        printed["new"] = 1.into();
        let found = differences(&schema, &schema, &printed, "document");
        for words in ["iops.n: \"six\" is not", "caveats: null is not", "`new` is not described"] {
            assert!(found.iter().any(|difference| difference.contains(words)), "{found:?}");
        }
    }
}
