//! The suites that are built in: a list for people, and one for machines. Must not know which there are.

use crate::text::{list, screen};
use serde::Serialize;
use stend_analyse::Outline;
use stend_base::{Bytes, Lang, Nanos, Result, Say, format, say};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// One suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSuite {
    /// What `stend run` takes.
    pub name: String,
    /// What it answers, in one sentence.
    pub about: Say,
    /// What it takes on a usual target; `None` if that depends on the target or on a file that it names.
    pub takes: Option<Outline>,
    /// The file, in YAML.
    pub text: String,
}

impl ListedSuite {
    /// The suite that a text is.
    ///
    /// Errors: those of the parser.
    pub fn of(name: &str, about: Say, text: &str) -> Result<ListedSuite> {
        let takes = stend_analyse::outline(&stend_spec::parse::suite(text, name)?);
        Ok(ListedSuite { name: name.into(), about, takes, text: text.into() })
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    suites: Vec<SuiteOut<'a>>,
}

#[derive(Serialize)]
struct SuiteOut<'a> {
    /// What `stend run` takes.
    name: &'a str,
    about: &'a Say,
    /// Where that depends on neither the target nor a file that the suite names.
    #[serde(skip_serializing_if = "Option::is_none")]
    takes: Option<TakesOut>,
    /// The file, in YAML.
    text: &'a str,
}

/// On a directory of a file system that is large enough.
#[derive(Serialize)]
struct TakesOut {
    /// Trials and rounds; filling, preparing and cleaning up come on top.
    time_ns: u64,
    /// It may be over earlier.
    time_at_most: bool,
    /// Test files together; they are removed.
    files_bytes: u64,
    /// Written before the first trial, all passes.
    fill_bytes: u64,
}

/// The suites as JSON, indented, with a line feed at the end.
pub fn suites_json(suites: &[ListedSuite]) -> String {
    let suites = suites.iter().map(suite_out).collect();
    crate::json::pretty(&Document { schema: "stend-suites", schema_version: SCHEMA_VERSION, suites })
}

fn suite_out(suite: &ListedSuite) -> SuiteOut<'_> {
    let takes = suite.takes.map(|takes| TakesOut {
        time_ns: takes.time.0,
        time_at_most: takes.at_most,
        files_bytes: takes.files.0,
        fill_bytes: takes.fill.0,
    });
    SuiteOut { name: &suite.name, about: &suite.about, takes, text: &suite.text }
}

/// The suites for a person, at most `width` columns wide (40 at least), in the order given.
pub fn suites_text(suites: &[ListedSuite], lang: Lang, width: usize, colour: bool) -> String {
    let screen = screen(lang, width, colour);
    let line = |text: &Say| (" ".to_string(), text.get(lang).to_string());
    let entries = suites.iter().map(|suite| {
        let lines = [line(&suite.about), line(&takes(suite.takes.as_ref()))];
        list(&Say::same(&suite.name), &screen, lines.into_iter())
    });
    entries.collect::<String>().trim_start().to_string()
}

/// `about 2.5 min · writes a file of 16 GiB`.
fn takes(outline: Option<&Outline>) -> Say {
    let Some(outline) = outline else {
        return say!(
            "time and space depend on the target: see `stend run SUITE --on PATH --dry-run`",
            "время и место зависят от объекта: их покажет `stend run НАБОР --on ПУТЬ --dry-run`"
        );
    };
    let time = Say::both(|lang| roughly(outline.time, lang));
    let size = Say::both(|lang| format::bytes(outline.files, lang));
    let size = match (outline.files_at_most, size) {
        (true, Say { en, ru }) => say!("at most {en}", "не более {ru}"),
        (false, size) => size,
    };
    let (time_en, time_ru, size_en, size_ru) = (time.en, time.ru, size.en, size.ru);
    let time = match outline.at_most {
        true => say!("at most {time_en}", "не более {time_ru}"),
        false => say!("about {time_en}", "около {time_ru}"),
    };
    let files = match (outline.files, outline.fill) {
        _ if outline.needs_data => {
            say!("needs a device or file that holds data", "нужно устройство или файл с данными")
        }
        (Bytes(0), Bytes(0)) => say!("writes no file", "файлов не пишет"),
        (Bytes(0), _) => say!("fills the target", "заполняет объект"),
        (_, Bytes(0)) => {
            say!("makes a file of {size_en} and does not fill it", "создаёт файл {size_ru} и не заполняет его")
        }
        (files, fill) if fill > files => {
            let passes = Say::both(|lang| format::bytes(fill, lang));
            let (fill_en, fill_ru) = (passes.en, passes.ru);
            say!(
                "writes a file of {size_en}, {fill_en} in all passes of the fill",
                "пишет файл {size_ru}, за все проходы заполнения — {fill_ru}"
            )
        }
        _ => say!("writes a file of {size_en}", "пишет файл {size_ru}"),
    };
    let (en, ru, files_en, files_ru) = (time.en, time.ru, files.en, files.ru);
    say!("{en} · {files_en}", "{ru} · {files_ru}")
}

/// A time with two digits, for choosing: `2.4 min`, `18 min`, `3.5 h`.
fn roughly(time: Nanos, lang: Lang) -> String {
    let seconds = time.as_secs();
    let (value, en, ru) = match seconds {
        s if s < 60.0 => (s, "s", "с"),
        s if s < 3600.0 => (s / 60.0, "min", "мин"),
        s => (s / 3600.0, "h", "ч"),
    };
    let unit = if lang == Lang::En { en } else { ru };
    format!("{}\u{a0}{unit}", format::fixed(value, if value < 10.0 { 1 } else { 0 }, lang))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::width;
    use expect_test::{expect, expect_file};
    use stend_base::say;

    fn suites() -> Vec<ListedSuite> {
        let suite = |name: &str, about: Say| ListedSuite {
            name: name.into(),
            about,
            takes: (name == "quick").then_some(Outline {
                time: Nanos::secs(144),
                files: Bytes::gib(16),
                fill: Bytes::gib(16),
                ..Outline::default()
            }),
            text: format!("suite: {name}\n"),
        };
        vec![
            suite("quick", say!("a screening in three minutes", "проверка за три минуты")),
            suite("fsync", say!("what it costs to make a write durable", "сколько стоит запись с подтверждением")),
        ]
    }

    #[test]
    fn every_suite_has_its_name_and_a_sentence_in_the_language_of_the_reader() {
        let shown = suites_text(&suites(), Lang::En, 40, false);
        expect![[r#"
            quick
              a screening in three minutes
              about 2.4 min · writes a file of
              16 GiB

            fsync
              what it costs to make a write durable
              time and space depend on the target:
              see `stend run SUITE --on PATH
              --dry-run`
        "#]]
        .assert_eq(&shown);
        let russian = suites_text(&suites(), Lang::Ru, 20, false);
        assert!(russian.contains("  проверка за три минуты\n"), "{russian}");
        assert!(russian.lines().all(|line| width(line) <= 40), "{russian}");
    }

    #[test]
    fn times_and_files_are_said_in_few_words() {
        let said = |time, at_most, files, fill| {
            let Say { en, ru } = takes(Some(&Outline { time, at_most, files, fill, ..Outline::default() }));
            format!("{en} / {ru}").replace('\u{a0}', " ")
        };
        let gib = Bytes::gib(1);
        let short = said(Nanos::secs(30), false, Bytes(0), Bytes(0));
        assert_eq!(short, "about 30 s · writes no file / около 30 с · файлов не пишет");
        let steady = said(Nanos::secs(12_600), true, gib, Bytes::gib(2));
        assert_eq!(
            steady,
            "at most 3.5 h · writes a file of 1 GiB, 2 GiB in all passes of the fill / \
             не более 3,5 ч · пишет файл 1 ГиБ, за все проходы заполнения — 2 ГиБ"
        );
        let small = Outline { files: gib, fill: gib, files_at_most: true, ..Outline::default() };
        let small = takes(Some(&small)).en.replace('\u{a0}', " ");
        assert!(small.ends_with("writes a file of at most 1 GiB"), "{small}");
        let reads = Outline { files: gib, needs_data: true, ..Outline::default() };
        assert!(takes(Some(&reads)).en.ends_with(" · needs a device or file that holds data"));
    }

    #[test]
    fn machines_get_the_file_as_well() {
        expect_file!["../tests/golden/suites.json"].assert_eq(&suites_json(&suites()));
    }
}
