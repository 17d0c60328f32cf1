//! Which problems a mark is about, and until when.

use super::*;

const NOW: i64 = 1_795_296_600;

fn problem(rule: &str, object: &str, opened_unix_s: i64) -> Occurrence {
    Occurrence { rule: rule.into(), object: object.into(), opened_unix_s, is_open: true }
}

fn mark(object: &str, rule: Option<&str>, mark: MarkKind) -> Mark {
    let rule = rule.map(String::from);
    Mark { host: "nas".into(), object: object.into(), rule, mark, by: "anna".into(), at_unix_s: NOW, comment: None }
}

fn acknowledged(opened_unix_s: i64) -> Mark {
    mark("sda", Some("drive_hot"), MarkKind::Acknowledged { opened_unix_s })
}

fn muted(object: &str, rule: Option<&str>, lasts: i64) -> Mark {
    mark(object, rule, MarkKind::Muted { until_unix_s: NOW + lasts })
}

#[test]
fn an_acknowledgement_is_about_one_occurrence_whose_begin_may_move_by_a_step() {
    let marks = Marks::new(vec![acknowledged(NOW)]);
    let of = |host: &str, rule: &str, object: &str, opened: i64| {
        marks.acknowledged(host, &problem(rule, object, opened)).is_some()
    };
    assert!(of("nas", "drive_hot", "sda", NOW) && of("nas", "drive_hot", "sda", NOW - 300));
    // An hour later at the least.
    assert!(!of("nas", "drive_hot", "sda", NOW + 3600));
    assert!(!of("nas", "drive_slow", "sda", NOW) && !of("nas", "drive_hot", "sdb", NOW));
    assert!(!of("other", "drive_hot", "sda", NOW));
}

#[test]
fn a_mute_holds_over_occurrences_until_its_time_and_one_of_an_object_for_all_below_it() {
    let marks = Marks::new(vec![muted("sda", Some("drive_hot"), 60), muted("mpatha", None, 60)]);
    let of = |rule: &str, object: &str, now: i64| marks.muted("nas", &problem(rule, object, now), now).is_some();
    assert!(of("drive_hot", "sda", NOW) && of("drive_hot", "sda", NOW + 59) && !of("drive_hot", "sda", NOW + 60));
    assert!(!of("drive_slow", "sda", NOW) && !of("drive_hot", "sdab", NOW));
    assert!(of("path_down", "mpatha", NOW) && of("path_down", "mpatha/sdb", NOW) && !of("path_down", "mpathab", NOW));
    assert!(marks.muted("other", &problem("drive_hot", "sda", NOW), NOW).is_none());
    let longer = Marks::new(vec![muted("sda", None, 90), muted("sda", Some("drive_hot"), 60)]);
    let found = longer.muted("nas", &problem("drive_hot", "sda", NOW), NOW);
    assert_eq!(found.and_then(Mark::until), Some(NOW + 90), "the longest counts");
}

#[test]
fn what_is_said_again_takes_the_place_of_what_was_said_and_what_is_over_is_forgotten() {
    let mut marks = Marks::default();
    assert_eq!(marks.put(muted("sda", None, 60)), None);
    assert_eq!(marks.put(muted("sda", None, 600)), Some(muted("sda", None, 60)));
    assert_eq!(marks.put(acknowledged(NOW)), None);
    assert_eq!(marks.put(acknowledged(NOW + 60)), Some(acknowledged(NOW)));
    assert_eq!(marks.put(acknowledged(NOW + 7200)), None, "another occurrence");
    assert_eq!(marks.take(&muted("sda", Some("drive_hot"), 1)), None, "that was of all rules");
    assert_eq!(marks.take(&muted("sda", None, 1)), Some(muted("sda", None, 600)));
    marks.put(muted("sdb", None, 60));
    marks.forget(NOW + 60);
    assert_eq!(marks.all().len(), 2);
    marks.forget(NOW + KEPT);
    assert_eq!(marks.all(), []);
}

#[test]
fn a_problem_is_found_by_its_id_its_key_and_an_id_from_before_its_begin_moved() {
    let (old, new) = (problem("drive_hot", "sda", NOW - 9000), problem("drive_hot", "sda", NOW));
    let all = [old.clone(), new.clone(), problem("drive_gone", "sda", NOW)];
    assert_eq!(old.id(), format!("{}-{}", new.key(), NOW - 9000));
    let find = |what: &str| match named(what, &all) {
        Ok(Named::Problem(found)) => Some(found.clone()),
        _ => None,
    };
    assert_eq!((find(&old.id()), find(&new.key())), (Some(old), Some(new.clone())));
    assert_eq!(find(&format!("{}-{}", new.key(), NOW + 300)), Some(new.clone()));
    for wrong in [&*format!("{}-{}", new.key(), NOW + 7200), &*format!("{}-x", new.key()), "", "sda", "object:", "-"] {
        assert!(named(wrong, &all).unwrap_err().message.en.contains("no problem"), "{wrong}");
    }
    assert_eq!(named("object:md0", &all), Ok(Named::Object("md0")));
}

#[test]
fn two_problems_with_one_key_are_not_mixed_up() {
    // 400 000 names have 18 pairs of equal hashes on average.
    let mut seen = std::collections::BTreeMap::new();
    let (one, other) = (0..400_000)
        .find_map(|n| {
            let made = problem("drive_hot", &format!("sd{:x}", stend_base::random::mix(n)), NOW);
            seen.insert(made.key(), made.clone()).map(|before| (before, made))
        })
        .expect("32 bits collide among so many");
    let error = named(&one.key(), &[one.clone(), other.clone()]).unwrap_err();
    assert!(error.message.en.contains("several problems"), "{error}");
    assert!(named(&one.key(), std::slice::from_ref(&one)).is_ok());
}

#[test]
fn a_mute_ends_at_a_time_that_is_ahead_and_not_further_than_a_year() {
    let read = |text: &str| until(text, NOW).map_err(|error| error.message.en.clone());
    assert_eq!((read("2h"), read("2026-11-22T06:00Z")), (Ok(NOW + 7200), Ok(NOW + 8 * 3600 + 1800)));
    for (wrong, why) in [
        ("0s", "over already"),
        ("2026-11-21T21:30Z", "over already"),
        ("400d", "more than a year"),
        ("9999-01-01", "neither"),
        ("tomorrow", "neither"),
        ("", "neither"),
        ("-2h", "neither"),
    ] {
        assert!(read(wrong).unwrap_err().contains(why), "{wrong}");
    }
}

#[test]
fn a_mark_that_could_be_none_is_refused_with_the_reason() {
    let good = acknowledged(NOW);
    assert_eq!(good.check(), Ok(()));
    for (wrong, why) in [
        (Mark { comment: Some("x".repeat(501)), ..good.clone() }, "longer than 500"),
        (Mark { comment: Some("a\u{1b}[2Jb".into()), ..good.clone() }, "more than one line"),
        (Mark { by: "a\nb".into(), ..good.clone() }, "more than one line"),
        (Mark { object: String::new(), ..good.clone() }, "empty or longer"),
        (Mark { object: "x".repeat(257), ..good.clone() }, "empty or longer"),
        (Mark { at_unix_s: i64::MIN, ..good.clone() }, "1970 to 9999"),
        (Mark { mark: MarkKind::Muted { until_unix_s: i64::MAX }, ..good.clone() }, "1970 to 9999"),
        (Mark { rule: None, ..good.clone() }, "names no rule"),
    ] {
        assert!(wrong.check().unwrap_err().en.contains(why), "{wrong:?}");
    }
}

#[test]
fn what_is_named_becomes_a_mark_and_an_object_or_a_problem_that_is_over_no_acknowledgement() {
    let author = Author { host: "nas", by: "anna", now: NOW, comment: Some("") };
    let found = problem("drive_hot", "sda", NOW - 60);
    let of = Named::Problem(&found);
    assert_eq!(of.acknowledged(author), Ok(acknowledged(NOW - 60)));
    assert_eq!(of.muted(NOW + 60, author), muted("sda", Some("drive_hot"), 60));
    assert_eq!(Named::Object("sda").muted(NOW + 60, author), muted("sda", None, 60));
    assert!(Named::Object("sda").acknowledged(author).unwrap_err().message.en.contains("only a problem"));
    assert_eq!((of.is_open(), Named::Object("sda").is_open()), (Ok(()), Ok(())));
    let over = Occurrence { is_open: false, ..found.clone() };
    assert!(Named::Problem(&over).is_open().unwrap_err().message.en.contains("is over"));
    // A mute is taken back by its key also where the recording of today has no such problem.
    let marks = Marks::new(vec![muted("sda", Some("drive_hot"), 60), muted("sdb", None, 60)]);
    let known = marks.occurrences("nas");
    assert_eq!(known.len(), 1);
    assert!(matches!(named(&found.key(), &known), Ok(Named::Problem(found)) if found.object == "sda"));
    assert_eq!(marks.occurrences("other"), []);
}
