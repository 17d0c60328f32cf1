//! The page of error codes, from the one list of them.

use super::File;
use super::types::Types;
use serde_json::Value;
use stend_base::Code;

const HEAD: &str = "\
# Error codes

A command that fails with `--json` prints the error to the standard error on one line ([schema](formats/schema/error.json)). Programs decide by `code`, or by the
class `kind`, which has the exit code; never by the text, which may be worded anew at any time. Codes keep their meaning; new ones may
come, each inside a class. The code that is called like its class stands for all its errors that have none of their own.

Written by `cargo run -p xtask -- gen` from `crates/base/src/code.rs`.

| exit | kind | code | what happened |
|---|---|---|---|
";

/// It.
pub fn page(types: &Types) -> Result<File, String> {
    let schema = types.schema("crates/base/src/code.rs", "Code")?;
    let codes = schema["oneOf"].as_array().into_iter().flatten();
    let rows = codes.map(row).collect::<Result<String, String>>()?;
    Ok(File { path: "docs/errors.md".to_string(), text: format!("{HEAD}{rows}") })
}

fn row(code: &Value) -> Result<String, String> {
    let kind = serde_json::from_value::<Code>(code["const"].clone()).map_err(|error| error.to_string())?.kind();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let kind_word = serde_json::to_value(kind).map_err(|error| error.to_string())?;
    let (exit, code, meaning) = (kind.exit_code(), word(&code["const"]), word(&code["description"]));
    Ok(format!("| {exit} | `{}` | `{code}` | {meaning} |\n", word(&kind_word)))
}
