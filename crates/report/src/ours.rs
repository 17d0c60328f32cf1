//! By what a file is known to be a result that Stend wrote, whatever it is called. Must not take for one what a person or another
//! program has written or changed, as far as its format tells that.
//!
//! What each format is known by is in docs/formats/export.md, "What is replaced". Suites and job files are not known: they are made
//! to be changed by hand, and the lines of fio's logs have no place for a mark.

use crate::{Dialect, bundle, export, io_log, results_csv, sources};
use std::io::{Cursor, Read, Result, Seek, SeekFrom};

/// First line of JUnit.
pub(crate) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
/// The next line of JUnit, and the first of Markdown; a comment in both.
pub(crate) const COMMENT: &str = "<!-- Stend -->\n";
/// Last line of Markdown: what was written behind it is not ours.
pub(crate) const COMMENT_END: &str = "<!-- /Stend -->\n";
/// What a manual page begins with.
pub const MAN_COMMENT: &str = ".\\\" Written by Stend.\n";
/// What a unit of systemd begins with.
pub const UNIT_COMMENT: &str = "# Written by `stend serve install`.\n";
/// Element of the head of each page.
pub(crate) const GENERATOR: &str = "<meta name=\"generator\" content=\"Stend\">";
/// Title of each workbook.
pub(crate) const WORKBOOK_TITLE: &str = "Stend";

/// Bytes that are looked at from the start: every mark lies within the first 1 KiB, fio's document has some members before it.
const HEAD: u64 = 4 << 10;
/// Bytes that are looked at from the end, where pages have their last mark.
const TAIL: u64 = 4 << 10;
/// Largest workbook or bundle that is opened: a workbook of 64 runs has some MiB, a bundle some tens.
const ARCHIVE_MAX: u64 = 256 << 20;
/// Largest list of properties of a workbook: ours has under 1 KiB.
const PROPERTIES_MAX: u64 = 64 << 10;

/// Whether a file is a result that Stend wrote and that nobody has written anew since.
///
/// Errors: those of reading it.
pub fn is_ours(file: &mut (impl Read + Seek)) -> Result<bool> {
    let size = file.seek(SeekFrom::End(0))?;
    let head = piece(file, 0, HEAD)?;
    let tail = piece(file, size.saturating_sub(TAIL), TAIL)?;
    Ok(match head.as_slice() {
        [b'P', b'K', ..] => size <= ARCHIVE_MAX && (bundle::is_bundle(file) || is_workbook(piece(file, 0, size)?)),
        _ => is_page(&head, &tail) || is_json(&head) || tables().iter().any(|line| head.starts_with(line.as_bytes())),
    })
}

fn piece(file: &mut (impl Read + Seek), from: u64, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_page(head: &[u8], tail: &[u8]) -> bool {
    let html =
        head.starts_with(b"<!doctype html>\n<html lang=") && holds(head, GENERATOR) && tail.ends_with(b"</html>\n");
    let junit = head.strip_prefix(DECLARATION.as_bytes());
    let markdown = head.starts_with(COMMENT.as_bytes()) && tail.ends_with(COMMENT_END.as_bytes());
    html || markdown
        || [MAN_COMMENT, UNIT_COMMENT].iter().any(|mark| head.starts_with(mark.as_bytes()))
        || junit.is_some_and(|rest| rest.starts_with(COMMENT.as_bytes()))
}

/// A record, or a document of fio with the member that no fio prints.
fn is_json(head: &[u8]) -> bool {
    let fio = head.starts_with(b"{\n  \"fio version\": ") && holds(head, "\n  \"stend\": {\n    \"run\": ");
    fio || head.starts_with(b"{\"schema\":\"stend-")
}

/// First lines of the tables, which are always the same.
fn tables() -> [String; 7] {
    let [plain, russian] = [Dialect::Plain, Dialect::Russian].map(results_csv::head);
    let [trials, ios] = [export::COLUMNS.join(","), io_log::COLUMNS.to_string()];
    let sources = format!("{}\n", sources::COLUMNS.join(","));
    let [trials_of_hosts, ios_of_hosts] = [format!("{trials},host\n"), format!("{ios},host\n")];
    [plain, russian, format!("{trials}\n"), trials_of_hosts, format!("{ios}\n"), ios_of_hosts, sources]
}

/// A workbook that no spreadsheet has saved: those put the time of that beside the time at which it was made.
fn is_workbook(bytes: Vec<u8>) -> bool {
    let core = || -> Option<String> {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).ok()?;
        let mut text = String::new();
        archive.by_name("docProps/core.xml").ok()?.take(PROPERTIES_MAX).read_to_string(&mut text).ok()?;
        Some(text)
    };
    let Some(core) = core() else { return false };
    let inside = |name: &str| {
        let (_, from) = core.split_once(&format!("<{name}"))?;
        from.split_once('>')?.1.split_once("</").map(|(value, _)| value)
    };
    let (made, saved) = (inside("dcterms:created"), inside("dcterms:modified"));
    inside("dc:title") == Some(WORKBOOK_TITLE) && made.is_some() && made == saved
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Book, IoFormat, ResultsCsv, fixture};
    use stend_analyse::as_fio::{Trials, as_fio};
    use stend_base::Lang;

    fn ours(bytes: &[u8]) -> bool {
        is_ours(&mut Cursor::new(bytes)).unwrap()
    }

    /// A result of each format that has a mark, with its name.
    fn results(lang: Lang) -> Vec<(&'static str, Vec<u8>)> {
        let (run, findings) = (fixture::run(), fixture::findings());
        let book = Book { runs: vec![(&run, &findings)], comparison: None, lang };
        let written = |write: &dyn Fn(&mut Vec<u8>) -> Result<()>| {
            let mut bytes = Vec::new();
            write(&mut bytes).unwrap();
            bytes
        };
        let table = |dialect| written(&|to| ResultsCsv::new(&run, &findings, dialect).unwrap().write(to));
        vec![
            ("html", crate::html(&findings, &run, lang).into_bytes()),
            ("markdown", crate::markdown(&findings, lang).into_bytes()),
            ("record", written(&|to| crate::record_json(&run, to))),
            ("fio-json", written(&|to| crate::fio_json(&run, &as_fio(&run, Trials::Each).unwrap(), to))),
            ("csv", table(Dialect::Plain)),
            ("csv-ru", table(Dialect::Russian)),
            ("csv-trials", written(&|to| crate::trials_csv("R-1", &[], to))),
            ("csv-sources", written(&|to| crate::sources_csv(&run, stend_base::Nanos(0), to))),
            ("ios", written(&|to| crate::ios_head(IoFormat::Csv, true, to))),
            ("xlsx", crate::xlsx(&book).unwrap()),
        ]
    }

    #[test]
    fn a_result_of_every_format_is_known_as_ours() {
        for lang in [Lang::En, Lang::Ru] {
            for (format, bytes) in results(lang) {
                assert!(ours(&bytes), "{format}: {:.300}", String::from_utf8_lossy(&bytes));
            }
        }
    }

    #[test]
    fn what_somebody_else_wrote_or_went_on_with_is_not_ours() {
        let foreign: [&[u8]; 8] = [
            b"",
            b"notes\n",
            b"<!doctype html>\n<html lang=\"en\"><title>Stend</title></html>\n",
            b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stend\"></testsuites>\n",
            b"{\"stend\": {\"run\": 1}}",
            b"run,trial,block\n",
            b"# <!-- Stend -->\n",
            b"PK\x03\x04 no archive",
        ];
        for bytes in foreign {
            assert!(!ours(bytes), "{}", String::from_utf8_lossy(bytes));
        }
        // A page that is quoted in another, and one to which somebody has added a line.
        for (format, bytes) in results(Lang::En).iter().take(2) {
            assert!(!ours(&[b"> ", bytes.as_slice()].concat()), "{format}, quoted");
            assert!(!ours(&[bytes.as_slice(), b"My notes\n"].concat()), "{format}, with notes");
        }
    }

    #[test]
    fn a_workbook_that_was_saved_by_a_spreadsheet_is_not_ours_any_more() {
        let with = |created: &str, modified: &str| {
            let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
            archive.start_file("docProps/core.xml", zip::write::SimpleFileOptions::default()).unwrap();
            let core = format!(
                "<x><dc:title>Stend</dc:title><dcterms:created xsi:type=\"dcterms:W3CDTF\">{created}</dcterms:created>\
                 <dcterms:modified xsi:type=\"dcterms:W3CDTF\">{modified}</dcterms:modified></x>"
            );
            std::io::Write::write_all(&mut archive, core.as_bytes()).unwrap();
            archive.finish().unwrap().into_inner()
        };
        let made = "2026-11-21T21:30:00Z";
        assert!(ours(&with(made, made)));
        assert!(!ours(&with(made, "2026-11-22T08:00:00Z")));
    }
}
