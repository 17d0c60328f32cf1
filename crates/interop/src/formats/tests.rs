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
        (b"<Profile><TimeSpans><TimeSpan/></TimeSpans></Profile>", "a diskspd profile"),
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
fn what_a_tool_prints_for_people_is_answered_with_the_option_that_prints_it_for_programs() {
    for (text, tool, instead) in [
        ("a: (g=0): rw=randread, bs=(R) 4096B-4096B, ioengine=libaio\nfio-3.36\nStarting 1 process\n", "fio", "json+"),
        ("a: (groupid=0, jobs=1): err= 0: pid=1\n  read: IOPS=40\n", "fio", "json+"),
        ("3;fio-3.33;a;0;0;4096;400\n", "fio", "json+"),
        ("Command Line: diskspd.exe -c1G t.dat\n\nInput parameters:\n", "diskspd", "-Rxml"),
        ("\nInput parameters:\n\n\ttimespan:   1\n", "diskspd", "-Rxml"),
        ("OPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n", "elbencho", "--jsonfile"),
        ("Vdbench distribution: vdbench50406\n", "vdbench", "flatfile.html"),
        ("[global]\nrw=read\n[a]\nsize=1g\n", "jobs", "stend import --suite"),
        ("sd=sd1,lun=/dev/sdb\nwd=wd1,sd=sd1\n", "jobs", "stend import --suite"),
    ] {
        let error = refused("x.txt", text.as_bytes());
        let (message, hint) = error.split_once("hint: ").unwrap();
        assert!(message.contains(tool) && hint.contains(instead), "{error}");
    }
}

#[test]
fn files_of_two_tools_are_two_runs() {
    let files = [File { name: "a", bytes: FIO }, File { name: "b", bytes: ELBENCHO }];
    let error = results(&files).unwrap_err().render(Lang::En);
    assert!(error.contains("`a` (fio JSON) and `b` (elbencho CSV)"), "{error}");
}
