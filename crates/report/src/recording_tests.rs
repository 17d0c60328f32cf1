//! What is shown of a recording and of its journal: the forms for machines, and the screens in both languages.

use crate::fixture::{recorded, recording, temperatures};
use crate::{Said, host_json, journal_json, journal_text, recording_html, recording_json, recording_text};
use expect_test::expect_file;
use stend_analyse::journal::marks::{Mark, MarkKind, Marks};
use stend_analyse::recording::Recorded;
use stend_base::Lang;

/// Somebody knows of the warm drive, and wants to hear nothing of the other one while its rack moves.
fn said() -> Marks {
    let mark = |object: &str, rule: Option<&str>, mark| Mark {
        host: "stand-7".into(),
        object: object.into(),
        rule: rule.map(String::from),
        mark,
        by: "anna".into(),
        at_unix_s: 1_795_296_700,
        comment: None,
    };
    let acknowledged = mark("sda", Some("drive_hot"), MarkKind::Acknowledged { opened_unix_s: 1_795_296_660 });
    let muted = mark("sdb", None, MarkKind::Muted { until_unix_s: 1_795_327_200 });
    Marks::new(vec![Mark { comment: Some("fan ordered".into()), ..acknowledged }, muted])
}

const NOW: i64 = 1_795_296_720;

#[test]
fn machines_get_the_whole_recording_each_step_and_the_journal() {
    let (run, (found, problems, step)) = (recording(), recorded());
    expect_file!["../tests/golden/recording.json"].assert_eq(&recording_json(&run, &found));
    expect_file!["../tests/golden/journal.json"].assert_eq(&journal_json(
        &run,
        &problems,
        Said { marks: &said(), now_unix: NOW },
    ));
    let line = host_json("filer7", 1_795_296_611_000, &step, &temperatures());
    assert_eq!(line.lines().count(), 1);
    expect_file!["../tests/golden/host-step.json"].assert_eq(&line);
}

#[test]
fn people_get_a_sentence_the_drives_and_what_to_do() {
    let (run, (found, problems, _)) = (recording(), recorded());
    let screens = [Lang::En, Lang::Ru].map(|lang| {
        recording_text(&run, &found, &problems, lang, 80, false)
            + "\n"
            + &journal_text(&run, &problems, Said { marks: &said(), now_unix: NOW }, lang, 80, false)
    });
    expect_file!["../tests/golden/recording_en.txt"].assert_eq(&screens[0]);
    expect_file!["../tests/golden/recording_ru.txt"].assert_eq(&screens[1]);
}

#[test]
fn the_page_of_a_recording_has_its_problems_first_and_what_drives_say_of_themselves() {
    let (run, (mut found, problems, _)) = (recording(), recorded());
    let health = stend_record::Health { passed: Some(false), used_percent: Some(93), ..Default::default() };
    found.health.insert("sda".into(), health);
    let page = recording_html(&run, &found, &problems, Lang::En);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not in the page"));
    assert!(at("id=\"problems\"") < at("id=\"results\"") && at("id=\"results\"") < at("id=\"health\""));
    assert!(at("drive too warm") < at("Check fans and airflow") && at("✖ fails") < at(">93<"), "{page}");
    let quiet = recording_html(&run, &Recorded { health: Default::default(), ..found }, &[], Lang::Ru);
    assert!(!quiet.contains("id=\"problems\"") && !quiet.contains("id=\"health\""));
}
