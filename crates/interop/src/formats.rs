//! The results that can be imported, recognised by what is in a file, not by its name. A new tool is a row here and a module of its
//! own. Pure.

use crate::build::{File, ImportedRun};
use crate::{diskspd, elbencho, fio, iometer, vdbench};
use stend_base::{Error, Result, Say, say};

/// Characters of a line that a refusal shows.
const SHOWN: usize = 60;

/// What one tool prints in one form.
struct Format {
    /// The tool.
    tool: &'static str,
    /// What its file is, as users call it.
    form: &'static str,
    /// Whether a text is one.
    looks: fn(&str) -> bool,
    /// Reads files of this form.
    read: fn(&[File<'_>]) -> Result<ImportedRun>,
}

/// Every form, in the order in which they are looked for: none of these texts is two of them.
const FORMATS: [Format; 6] = [
    Format { tool: "diskspd", form: "XML", looks: diskspd::is_results, read: diskspd::read },
    Format { tool: "elbencho", form: "CSV", looks: elbencho::is_table, read: elbencho::read_tables },
    Format { tool: "elbencho", form: "JSON", looks: elbencho::is_json, read: elbencho::read_json },
    Format { tool: "fio", form: "JSON", looks: is_fio, read: fio::read },
    Format { tool: "Iometer", form: "CSV", looks: iometer::is_results, read: iometer::read },
    Format { tool: "vdbench", form: "flatfile.html", looks: vdbench::is_flatfile, read: vdbench::read },
];

/// Reads results of whichever tool made them: all files together are one run, so they must be of one tool and form.
///
/// Errors are of kind `Spec`: a form that is not known, which is described; files of different forms; or what the reader of
/// the form says.
pub fn results(files: &[File<'_>]) -> Result<ImportedRun> {
    let mut found: Option<(&File<'_>, &Format)> = None;
    for file in files {
        let text = file.text()?;
        let format = FORMATS.iter().find(|format| (format.looks)(&text)).ok_or_else(|| unknown(file, &text))?;
        match found {
            Some((first, one)) if (one.tool, one.form) != (format.tool, format.form) => {
                return Err(different((first, one), (file, format)));
            }
            Some(_) => {}
            None => found = Some((file, format)),
        }
    }
    match found {
        Some((_, format)) => (format.read)(files),
        None => Err(Error::usage(say!("no file to import", "нет файла для импорта"))),
    }
}

fn is_fio(text: &str) -> bool {
    starts_json(text) && ["\"fio version\"", "\"jobs\"", "\"client_stats\""].iter().any(|name| text.contains(name))
}

/// Whether a line begins as a JSON document does.
fn starts_json(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(['{', '[']))
}

fn different((one, as_one): (&File<'_>, &Format), (other, as_other): (&File<'_>, &Format)) -> Box<Error> {
    let of = |file: &File<'_>, format: &Format| format!("`{}` ({} {})", file.name, format.tool, format.form);
    let (one, other) = (of(one, as_one), of(other, as_other));
    Error::spec(say!("{one} and {other} are results of different kinds", "{one} и {other} — результаты разного вида"))
        .hint(say!(
            "import each kind into a run of its own; `stend compare` takes several runs",
            "импортируйте каждый вид в отдельный прогон; `stend compare` берёт несколько прогонов"
        ))
}

fn unknown(file: &File<'_>, text: &str) -> Box<Error> {
    let name = file.name;
    if let Some((is, instead)) = for_people(text) {
        let Say { en, ru } = is;
        return Error::spec(say!("`{name}` is {en}", "`{name}` — это {ru}")).hint(instead);
    }
    let Say { en, ru } = described(file.bytes, text);
    let known: Vec<String> = FORMATS.iter().map(|format| format!("{} {}", format.tool, format.form)).collect();
    let known = known.join(", ");
    Error::spec(say!("`{name}` holds no known results: it is {en}", "в `{name}` нет знакомых результатов: это {ru}"))
        .hint(say!(
            "Stend reads {known} and fio logs; see docs/formats/import.md",
            "Stend читает {known} и журналы fio; см. docs/formats/import.md"
        ))
}

/// Whether a text is what a tool prints for people, in which numbers are rounded, or what it is asked for; and what to import instead.
fn for_people(text: &str) -> Option<(Say, Say)> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or_default();
    let any = |all: &[&str]| lines.clone().any(|line| all.iter().all(|part| line.contains(part)));
    let rounded = |tool: &str| {
        say!("what {tool} prints for people, in rounded numbers", "вывод {tool} для людей, с округлёнными числами")
    };
    let fio = say!(
        "run fio again with `--output-format=json+ --output=FILE`, and import that file",
        "запустите fio ещё раз с `--output-format=json+ --output=ФАЙЛ` и импортируйте этот файл"
    );
    Some(match () {
        () if any(&[": (g=", "rw="]) || any(&[": (groupid=", "jobs="]) => (rounded("fio"), fio),
        () if first.split(';').nth(1).is_some_and(|version| version.starts_with("fio-")) => (
            say!(
                "the terse output of fio, which lacks options and histograms",
                "краткий вывод fio (terse), в нём нет опций и гистограмм"
            ),
            fio,
        ),
        () if any(&["Command Line:", "diskspd"]) || (any(&["Input parameters:"]) && any(&["timespan:"])) => (
            rounded("diskspd"),
            say!(
                "run diskspd again with `-Rxml`, and import what it prints",
                "запустите diskspd ещё раз с `-Rxml` и импортируйте его вывод"
            ),
        ),
        () if any(&["OPERATION", "RESULT TYPE", "FIRST DONE"]) => (
            rounded("elbencho"),
            say!(
                "run elbencho again with `--jsonfile FILE`, and import that file",
                "запустите elbencho ещё раз с `--jsonfile ФАЙЛ` и импортируйте этот файл"
            ),
        ),
        // Its page for people begins as a page.
        () if first.starts_with('<') => return None,
        () if any(&["Vdbench distribution"]) || any(&["Starting RD="]) => (
            rounded("vdbench"),
            say!(
                "import `flatfile.html` from the directory of its output (`-o`)",
                "импортируйте `flatfile.html` из каталога её вывода (`-o`)"
            ),
        ),
        () if crate::jobs::is_jobs(text) && lines.next().is_some() => (
            say!("jobs: what to measure, not results", "задания, то есть что измерять, а не результаты"),
            say!("`stend import --suite` makes a suite of them", "набор из них делает `stend import --suite`"),
        ),
        () => return None,
    })
}

/// What a file looks like to somebody who expected results.
fn described(bytes: &[u8], text: &str) -> Say {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let shown: String = first.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
    match () {
        () if text.trim().is_empty() => say!("empty", "пустой файл"),
        () if bytes.starts_with(b"SQLite format 3\0") => say!(
            "a SQLite database, perhaps a run file, which needs no import",
            "база SQLite; если это файл прогона, импорт не нужен"
        ),
        () if bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(b"PK\x03\x04") => {
            say!("compressed; unpack it first", "сжатый файл; сначала распакуйте его")
        }
        () if text.contains('\0') => say!("binary", "двоичный файл"),
        () if first.starts_with(['{', '[']) => say!("JSON of something else", "JSON, но чего-то другого"),
        () if diskspd::is_profile(text) => say!(
            "a diskspd profile, a request and not a result; `stend import --suite` makes a suite of it",
            "профиль diskspd, то есть задание; набор из него делает `stend import --suite`"
        ),
        () if first.starts_with("<?xml") => say!("XML of something else", "XML, но чего-то другого"),
        () if vdbench::is_summary(text) => say!(
            "the page that vdbench writes for people, with rounded numbers; import `flatfile.html` from the same directory",
            "страница vdbench для людей, с округлёнными числами; импортируйте `flatfile.html` из того же каталога"
        ),
        () if first.starts_with('<') => {
            say!("a page or XML that begins with `{shown}`", "страница или XML с началом `{shown}`")
        }
        () if first.matches([',', ';']).count() > 1 => {
            say!("a table that begins with `{shown}`", "таблица с началом `{shown}`")
        }
        () => say!("a text that begins with `{shown}`", "текст с началом `{shown}`"),
    }
}

#[cfg(test)]
mod tests;
