//! Messages to a receiver that answers that it has moved.

use super::tests::{at, file, item, second};
use super::*;

#[test]
fn a_receiver_that_has_moved_gets_a_message_five_times_and_at_once_when_its_file_was_changed() {
    let (file, mut state) = (file(), State::default());
    let begin = at(12, 0).unix;
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    let mut sent = Vec::new();
    for unix in (begin..begin + 80 * 3600).step_by(600) {
        if let Some(message) = state.due("a", unix) {
            sent.push((unix - begin) / 3600);
            state.failed(&message, second(unix), true);
        }
        state.tick(&file, Clock { minute: 720, ..second(unix) });
    }
    assert_eq!(sent, [0, 1, 7, 31, 55]);
    state.note(&file, item(Happening::Opened, "drive", true), second(begin));
    let message = state.due("a", begin).unwrap();
    state.failed(&message, second(begin), true);
    assert_eq!(state.due("a", begin + 700), None);
    state.begin(&file, second(begin + 700));
    assert!(state.due("a", begin + 700).is_some(), "a recorder that begins again tries it");
}

#[test]
fn what_waits_for_a_receiver_that_has_moved_is_due_when_another_message_is_taken() {
    let (file, mut state) = (file(), State::default());
    let begin = at(12, 0).unix;
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    for unix in [begin, begin + 3600] {
        let message = state.due("a", unix).unwrap();
        state.failed(&message, second(unix), true);
    }
    let back = begin + 3700;
    assert_eq!(state.due("a", back), None);
    state.note(&file, item(Happening::Opened, "drive", true), second(back));
    let other = state.due("a", back).unwrap();
    assert_eq!(other.items[0].category, "drive");
    state.sent(&other, second(back));
    assert_eq!(state.due("a", back).unwrap().items[0].category, "array", "its proxy no longer redirects");
}

#[test]
fn a_receiver_that_was_away_before_it_moved_is_tried_again_after_an_hour() {
    let (file, mut state) = (file(), State::default());
    let begin = at(12, 0).unix;
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    for unix in (begin..begin + 3000).step_by(600) {
        let message = state.due("a", unix).unwrap();
        state.failed(&message, second(unix), false);
    }
    let message = state.due("a", begin + 3000).unwrap();
    state.failed(&message, second(begin + 3000), true);
    assert_eq!((state.due("a", begin + 6599), state.due("a", begin + 6600).is_some()), (None, true));
}
