//! The suites that are built in: a list for people, and one for machines. Must not know which there are.

use crate::text::{list, screen};
use serde::Serialize;
use stend_base::{Lang, Say};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// One suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedSuite {
    /// What `stend run` takes.
    pub name: String,
    /// What it answers, in one sentence.
    pub about: Say,
    /// The file, in YAML.
    pub text: String,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    suites: &'a [ListedSuite],
}

/// The suites as JSON, indented, with a line feed at the end.
pub fn suites_json(suites: &[ListedSuite]) -> String {
    crate::json::pretty(&Document { schema: "stend-suites", schema_version: SCHEMA_VERSION, suites })
}

/// The suites for a person, at most `width` columns wide (40 at least), in the order given.
pub fn suites_text(suites: &[ListedSuite], lang: Lang, width: usize, colour: bool) -> String {
    let screen = screen(lang, width, colour);
    let about = |suite: &ListedSuite| (" ".to_string(), suite.about.get(lang).to_string());
    let entries = suites.iter().map(|suite| list(&Say::same(&suite.name), &screen, std::iter::once(about(suite))));
    entries.collect::<String>().trim_start().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::width;
    use expect_test::{expect, expect_file};
    use stend_base::say;

    fn suites() -> Vec<ListedSuite> {
        let suite = |name: &str, about: Say| ListedSuite { name: name.into(), about, text: format!("suite: {name}\n") };
        vec![
            suite("quick", say!("a screening in three minutes", "проверка за три минуты")),
            suite("fsync", say!("what it costs to make a write durable", "сколько стоит надёжная запись")),
        ]
    }

    #[test]
    fn every_suite_has_its_name_and_a_sentence_in_the_language_of_the_reader() {
        let shown = suites_text(&suites(), Lang::En, 40, false);
        expect![[r#"
            quick
              a screening in three minutes

            fsync
              what it costs to make a write durable
        "#]]
        .assert_eq(&shown);
        let russian = suites_text(&suites(), Lang::Ru, 20, false);
        assert!(russian.contains("  проверка за три минуты\n"), "{russian}");
        assert!(russian.lines().all(|line| width(line) <= 40), "{russian}");
    }

    #[test]
    fn machines_get_the_file_as_well() {
        expect_file!["../tests/golden/suites.json"].assert_eq(&suites_json(&suites()));
    }
}
