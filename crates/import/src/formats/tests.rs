//! What is recognised, and how the rest is refused.

use super::{FORMATS, results};
use crate::build::File;
use stend_base::Lang;

const FIO: &[u8] = include_bytes!("../../tests/fixtures/fio-2.21.json");
const ELBENCHO: &[u8] = include_bytes!("../../tests/corpus/elbencho/3.1-10.csv");

fn refused(name: &str, bytes: &[u8]) -> String {
    results(&[File { name, bytes }]).unwrap_err().render(Lang::En)
}

#[test]
fn a_file_is_recognised_by_its_content_whatever_its_name() {
    let tool = |bytes| results(&[File { name: "x.txt", bytes }]).unwrap().imported.tool;
    assert_eq!((tool(FIO), tool(ELBENCHO)), ("fio".to_string(), "elbencho".to_string()));
}

#[test]
fn what_is_unknown_is_described_and_the_refusal_names_what_is_known() {
    for (bytes, what) in [
        (&b""[..], "it is empty"),
        (b"SQLite format 3\0....", "a SQLite database"),
        (b"\x1f\x8b\x08", "compressed"),
        (b"abc\0def", "binary"),
        (b"{\"a\": 1}", "JSON of something else"),
        (b"<Profile><TimeSpans><TimeSpan/></TimeSpans></Profile>", "a profile of diskspd"),
        (b"<?xml version=\"1.0\"?><a/>", "XML of something else"),
        (
            include_bytes!("../../tests/corpus/vdbench/5.04.06-summary.html"),
            "import `flatfile.html` from the same directory",
        ),
        (b"<html>", "begins with `<html>`"),
        (b"a,b,c\n1,2,3\n", "a table that begins with `a,b,c`"),
        (b"hello\x1b[31m\n", "a text that begins with `hello[31m`"),
    ] {
        let error = refused("x", bytes);
        assert!(error.contains(what), "{error}");
        assert!(FORMATS.iter().all(|format| error.contains(format.tool)), "{error}");
    }
}

#[test]
fn files_of_two_tools_are_two_runs() {
    let files = [File { name: "a", bytes: FIO }, File { name: "b", bytes: ELBENCHO }];
    let error = results(&files).unwrap_err().render(Lang::En);
    assert!(error.contains("`a` (fio JSON) and `b` (elbencho CSV)"), "{error}");
}
