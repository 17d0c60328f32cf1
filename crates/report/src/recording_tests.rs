//! What is shown of a recording and of its journal: the forms for machines, and the screens in both languages.

use crate::fixture::{recorded, recording, temperatures};
use crate::{host_json, journal_json, journal_text, recording_json, recording_text};
use expect_test::expect_file;
use stend_base::Lang;

#[test]
fn machines_get_the_whole_recording_each_step_and_the_journal() {
    let (run, (found, problems, step)) = (recording(), recorded());
    expect_file!["../tests/golden/recording.json"].assert_eq(&recording_json(&run, &found));
    expect_file!["../tests/golden/journal.json"].assert_eq(&journal_json(&run, &problems));
    let line = host_json("filer7", 1_795_296_611_000, &step, &temperatures());
    assert_eq!(line.lines().count(), 1);
    expect_file!["../tests/golden/host-step.json"].assert_eq(&line);
}

#[test]
fn people_get_a_sentence_the_drives_and_what_to_do() {
    let (run, (found, problems, _)) = (recording(), recorded());
    let screens = [Lang::En, Lang::Ru].map(|lang| {
        recording_text(&run, &found, lang, 80, false) + "\n" + &journal_text(&run, &problems, lang, 80, false)
    });
    expect_file!["../tests/golden/recording_en.txt"].assert_eq(&screens[0]);
    expect_file!["../tests/golden/recording_ru.txt"].assert_eq(&screens[1]);
}
