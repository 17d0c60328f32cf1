//! An archive of two files, and what its list and its README say.

use super::*;
use std::io::{Cursor, Read, Write};

fn bundle() -> Bundle {
    let mut bundle = Bundle {
        name: "stend-bundle-20261129T085000Z-kfzm".into(),
        made_unix: 1_795_942_200,
        stend_version: "0.1.0".into(),
        redacted: true,
        files: Vec::new(),
        left_out: vec![LeftOut {
            part: BundlePart::Recording,
            why: say!("samples: there is no recording", "отсчёты: нет записи"),
        }],
    };
    for (name, text) in [("en/host.txt", "a host\n"), ("data/host.json", "{}\n")] {
        let mut file = Packing::begin(&bundle, name.into(), say!("the host", "машина")).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        bundle.files.push(file.end().unwrap());
    }
    bundle
}

#[test]
fn an_archive_holds_its_files_and_a_list_of_them_below_one_folder_and_is_known_as_ours() {
    let bytes = bundle().archive().unwrap();
    assert!(is_bundle(&mut Cursor::new(&bytes)) && crate::is_ours(&mut Cursor::new(&bytes)).unwrap());
    let mut archive = zip::ZipArchive::new(Cursor::new(&bytes)).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let folder = "stend-bundle-20261129T085000Z-kfzm/";
    assert_eq!(
        names,
        ["bundle.json", "README.txt", "en/host.txt", "data/host.json"].map(|name| format!("{folder}{name}"))
    );
    let mut text = String::new();
    let mut file = archive.by_name(&names[2]).unwrap();
    assert_eq!(file.last_modified().map(|at| at.to_string()).as_deref(), Some("2026-11-29 08:50:00"));
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "a host\n");
}

#[test]
fn an_archive_of_others_is_not_ours() {
    for name in ["bundle.json", "other/bundle.json", "stend-bundle-x/list.json", "stend-bundle-x/bundle.json"] {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"{\"schema\": \"stend-bundles\"}").unwrap();
        assert!(!is_bundle(&mut Cursor::new(zip.finish().unwrap().into_inner())), "{name}");
    }
    assert!(!is_bundle(&mut Cursor::new(b"PK\x03\x04 cut".to_vec())));
}

#[test]
fn the_list_of_contents_is_stable() {
    expect_test::expect_file!["../../tests/golden/bundle.json"].assert_eq(&bundle().json(Some("case.zip"), Some(4711)));
}

#[test]
fn the_readme_tells_in_both_languages_what_is_in_it_and_what_is_not() {
    expect_test::expect_file!["../../tests/golden/bundle.txt"].assert_eq(&readme::readme(&bundle()));
}
