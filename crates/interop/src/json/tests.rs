//! What is read, and where and why something is not.

use super::*;
use proptest::prelude::*;

fn why(text: &str) -> String {
    let broken = documents(text).1.expect("something is wrong");
    format!("{}: {}{}", broken.line, broken.why.en, if broken.truncated { " (cut)" } else { "" })
}

#[test]
fn values_keep_their_digits_and_their_lines() {
    let text =
        "{\n  \"a\" : 1.500000,\n \"b\": [ -nan, 12e3, null],\n \"c\" : \"x \\\"\\u0436\\ud83d\\ude00\\ud83d!\" }";
    let (found, broken) = documents(text);
    assert_eq!((found.len(), broken), (1, None));
    let of = |name: &str| found[0].get(name).unwrap();
    assert_eq!((of("a").line, of("a").text(), of("a").number()), (2, Some("1.500000"), Some(1.5)));
    assert_eq!((of("b").items()[0].number(), of("b").items()[1].number()), (None, Some(12_000.0)));
    assert_eq!((of("a").whole(), of("b").items()[2].text()), (None, None));
    assert_eq!(of("c").text(), Some("x \"ж😀\u{fffd}!"));
}

#[test]
fn text_around_documents_is_left_out_and_there_may_be_several() {
    let text = "fio: warning {\"a\": 1}\n{\"a\": 1}\nbye\n  {\"a\": 2}\n";
    let values: Vec<_> = documents(text).0.iter().map(|value| (value.line, value.get("a").unwrap().whole())).collect();
    assert_eq!(values, [(2, Some(1)), (4, Some(2))]);
    assert_eq!(documents("nothing here\n"), (Vec::new(), None));
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_what_came_before_is_kept() {
    assert_eq!(why("{\n\"a\": 1\n\"b\": 2}"), "3: expected a comma");
    assert_eq!(why("{\"a\" 1}"), "1: expected a colon after `a`");
    assert_eq!(why("{\"a\": 1,\n \"a\": 2}"), "2: `a` appears twice");
    assert_eq!(why("{\"a\": fio: error}"), "1: `fio:` is not a value");
    assert_eq!(why("{a: 1}"), "1: expected a name in quotes");
    assert_eq!(why("{\"a\": \"x\ny\"}"), "1: a string without a closing quote");
    assert_eq!(why("{\"a\": [1, 2"), "1: the file ends in the middle of it (cut)");
    assert_eq!(why(&"{\"a\":".repeat(40)), "1: nested more than 16 levels deep");
    assert_eq!(documents("{\"a\": 1}\n{\"a\":").0.len(), 1);
}

#[test]
fn an_option_that_is_there_twice_means_its_last_value() {
    let (found, broken) = documents("{\"job options\": {\"bs\": \"4k\", \"bs\": \"8k\"}}");
    assert_eq!(broken, None);
    assert_eq!(found[0].get("job options").unwrap().get("bs").unwrap().text(), Some("8k"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[{}\\[\\]\":,\\\\ua0-9. \n]{0,200}") {
        let _ = documents(&text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = documents(&String::from_utf8_lossy(&bytes));
    }
}
