//! When which problem goes to whom, over hours that pass in no time.

use super::*;

const FILE: &str = "digest: 1h\nquiet: {from: \"23:00\", to: \"07:00\"}\ncategories: {temperature: {warning: now}, pool: {warning: never}}\n\
    receivers: {a: {syslog: {}}, b: {syslog: {}}}\n";

pub(super) fn file() -> NotifyFile {
    stend_spec::parse::notify(FILE, "n.yaml").unwrap()
}

pub(super) fn at(hours: i64, minutes: i64) -> Clock {
    let minute = hours * 60 + minutes;
    Clock { unix: 1_000_000_000 + minute * 60, monotonic: minute * 60, minute: (minute % 1440) as u16 }
}

/// The moment of so many seconds since 1970.
pub(super) fn second(unix: i64) -> Clock {
    Clock { unix, monotonic: unix - 1_000_000_000, minute: 0 }
}

/// The same moment after somebody has set the clock by so many seconds.
fn set_by(seconds: i64, clock: Clock) -> Clock {
    Clock { unix: clock.unix + seconds, ..clock }
}

/// A recorder has found these categories well.
fn found_well(state: &mut State, categories: &[&str]) {
    let of = |category: &&str| (format!("{category}_rule"), "sda".to_string());
    state.found_well(&categories.iter().map(of).collect(), &["sda".to_string()].into());
}

pub(super) fn item(happened: Happening, category: &str, is_critical: bool) -> Item {
    Item {
        happened,
        rule: format!("{category}_rule"),
        category: category.into(),
        is_critical,
        object: "sda".into(),
        name: Say::same("name"),
        evidence: Say::same("evidence"),
        advice: Say::same("advice"),
        opened: 5,
        closed: (happened == Happening::Closed).then_some(6),
    }
}

/// What waits for receiver `a`: whether it is a digest, and of what.
fn to_a(state: &State) -> Vec<(bool, Vec<String>)> {
    let of = |message: &Message| {
        let told = message.items.iter().map(|item| format!("{:?} {}", item.happened, item.category)).collect();
        (message.is_digest, told)
    };
    state.queue.iter().filter(|message| message.receiver == "a").map(of).collect()
}

fn now(told: &str) -> (bool, Vec<String>) {
    (false, vec![told.to_string()])
}

#[test]
fn critical_problems_go_at_once_to_everybody_warnings_in_a_digest_and_some_never() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    state.note(&file, item(Happening::Opened, "port", false), at(12, 1));
    state.note(&file, item(Happening::Opened, "temperature", false), at(12, 2));
    state.note(&file, item(Happening::Opened, "pool", false), at(12, 3));
    state.tick(&file, at(13, 0));
    assert_eq!(to_a(&state), [now("Opened array"), now("Opened temperature")]);
    assert_eq!(state.queue.len(), 4, "the same for the other receiver");
    state.note(&file, item(Happening::Closed, "port", false), at(13, 0));
    state.tick(&file, at(13, 1));
    assert_eq!(to_a(&state)[2], (true, vec!["Closed port".to_string()]), "both times are in one line");
    state.tick(&file, at(20, 0));
    assert_eq!(to_a(&state).len(), 3, "an empty digest is not sent");
}

#[test]
fn in_quiet_hours_only_critical_problems_are_sent_and_the_rest_when_they_end() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(22, 0));
    state.note(&file, item(Happening::Opened, "port", false), at(22, 0));
    state.note(&file, item(Happening::Opened, "temperature", false), at(23, 30));
    state.note(&file, item(Happening::Opened, "array", true), at(25, 0));
    state.tick(&file, at(25, 0));
    state.tick(&file, at(30, 59));
    assert_eq!(to_a(&state), [now("Opened array")]);
    state.tick(&file, at(31, 0));
    assert_eq!(to_a(&state)[1], (true, vec!["Opened port".to_string(), "Opened temperature".to_string()]));
}

#[test]
fn a_problem_is_sent_once_also_over_a_restart_and_one_that_is_not_found_again_is_over() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    state.note(&file, item(Happening::Opened, "drive", true), at(12, 0));
    state.queue.clear();
    let text = serde_json::to_string(&state).unwrap();
    let mut state: State = serde_json::from_str(&text).unwrap();
    state.begin(&file, at(14, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(14, 0));
    found_well(&mut state, &["array", "drive"]);
    state.tick(&file, at(14, 9));
    assert_eq!(to_a(&state), []);
    state.tick(&file, at(14, 10));
    assert_eq!(to_a(&state), [now("Closed drive")]);
    state.tick(&file, at(14, 20));
    assert_eq!(to_a(&state).len(), 1);
    state.note(&file, item(Happening::Closed, "array", true), at(15, 0));
    state.note(&file, item(Happening::Closed, "array", true), at(15, 0));
    assert_eq!(to_a(&state)[1..], [now("Closed array")]);
    state.note(&file, item(Happening::Opened, "array", true), at(16, 0));
    assert_eq!(to_a(&state)[2..], [now("Opened array")], "it came back");
}

#[test]
fn what_is_not_taken_is_tried_again_ever_more_seldom_and_given_up_after_days() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    let mut unix = at(12, 0).unix;
    let mut pauses = Vec::new();
    while let Some(message) = (unix..unix + 3600).find_map(|at| state.due("a", at).inspect(|_| pauses.push(at - unix)))
    {
        unix += pauses.last().copied().unwrap_or_default();
        state.failed(&message, second(unix), false);
        state.tick(&file, Clock { minute: 720, ..second(unix) });
    }
    assert_eq!(pauses[..9], [0, 10, 20, 40, 80, 160, 320, 600, 600]);
    assert!((420..450).contains(&pauses.len()), "{}", pauses.len());
    state.note(&file, item(Happening::Opened, "drive", true), Clock { minute: 720, ..second(unix) });
    let next = state.due("a", unix).unwrap();
    assert_eq!(next.lost, 1, "the next message says how many were lost");
    state.sent(&next, second(unix));
    assert_eq!((state.due("a", unix), state.due("b", unix).map(|message| message.lost)), (None, Some(1)));
}

#[test]
fn a_receiver_that_is_dead_for_long_costs_bounded_room_and_critical_problems_stay() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    for number in 0..3000 {
        let hot = Item { object: format!("sd{number}"), ..item(Happening::Opened, "temperature", false) };
        state.note(&file, hot, at(12, 0));
    }
    assert_eq!(state.queue.len(), WAITING_MAX);
    assert_eq!(to_a(&state)[0], now("Opened array"));
    assert!(state.due("a", at(12, 0).unix).unwrap().lost > 2000);
}

#[test]
fn no_message_overtakes_an_older_one_about_the_same_problem_and_others_do_not_wait_for_it() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    let unix = at(12, 0).unix;
    let due = |state: &State, unix| state.due("a", unix).map(|message| message.items[0].happened);
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    for tried in [unix, unix + 100] {
        let message = state.due("a", tried).unwrap();
        state.failed(&message, second(tried), false);
    }
    state.note(&file, item(Happening::Closed, "array", true), at(12, 1));
    assert_eq!(due(&state, unix + 101), None, "that it is over waits");
    let other = Item { object: "sdb".into(), ..item(Happening::Opened, "drive", true) };
    state.note(&file, other, at(12, 1));
    assert_eq!(state.due("a", unix + 101).map(|message| message.items[0].object.clone()), Some("sdb".into()));
    assert_eq!(due(&state, unix + 1000), Some(Happening::Opened));
    state.sent(&state.due("a", unix + 1000).unwrap(), second(unix + 1000));
    assert_eq!(due(&state, unix + 1000), Some(Happening::Closed));
}

#[test]
fn a_digest_says_nothing_older_than_what_was_sent_at_once() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "port", false), at(12, 0));
    state.note(&file, item(Happening::Worse, "port", true), at(12, 1));
    state.note(&file, item(Happening::Closed, "port", true), at(12, 2));
    state.tick(&file, at(19, 0));
    assert_eq!(to_a(&state), [now("Worse port"), now("Closed port")]);
}

#[test]
fn what_nothing_was_heard_of_since_a_restart_is_not_said_to_be_over() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "drive", true), at(12, 0));
    state.queue.clear();
    state.begin(&file, at(13, 0));
    state.found_well(&BTreeSet::new(), &["sda".to_string()].into());
    state.tick(&file, at(15, 0));
    assert_eq!(to_a(&state), [], "a drive in standby is not asked for its health");
    found_well(&mut state, &["drive"]);
    state.tick(&file, at(15, 1));
    assert_eq!(to_a(&state), [now("Closed drive")]);
}

#[test]
fn a_rule_that_needs_an_hour_without_errors_needs_it_after_a_restart_and_what_no_rule_judges_ends_after_days() {
    let (file, mut state) = (file(), State::default());
    let of = |rule: &str| Item { rule: rule.into(), ..item(Happening::Opened, "drive", true) };
    state.begin(&file, at(12, 0));
    ["drive_errors", "drive_worn"].iter().for_each(|rule| state.note(&file, of(rule), at(12, 0)));
    state.queue.clear();
    state.begin(&file, at(13, 0));
    state.found_well(&[("drive_errors".to_string(), "sda".to_string())].into(), &["sda".to_string()].into());
    state.tick(&file, at(13, 50));
    assert_eq!(to_a(&state), [], "errors of half an hour ago are not over");
    state.tick(&file, at(14, 1));
    assert_eq!(to_a(&state), [now("Closed drive")]);
    state.queue.clear();
    state.tick(&file, at(13 + 7 * 24, 0));
    assert_eq!(to_a(&state), [now("Closed drive")], "the drive may be another one");
}

#[test]
fn what_was_wrong_with_a_device_that_left_while_nothing_was_recorded_is_over() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "drive", true), at(12, 0));
    state.queue.clear();
    state.begin(&file, at(13, 0));
    state.found_well(&BTreeSet::new(), &["sdb".to_string()].into());
    state.tick(&file, at(13, 10));
    assert_eq!(to_a(&state), [now("Closed drive")]);
}

#[test]
fn a_drive_that_was_gone_before_a_restart_is_back_when_it_is_seen_and_its_next_loss_is_news() {
    let (file, mut state) = (file(), State::default());
    let gone = || Item { rule: "drive_gone".into(), ..item(Happening::Opened, "drive", true) };
    state.begin(&file, at(12, 0));
    state.note(&file, gone(), at(12, 0));
    state.queue.clear();
    state.begin(&file, at(13, 0));
    state.found_well(&BTreeSet::new(), &["sdb".to_string()].into());
    state.tick(&file, at(13, 20));
    assert_eq!(to_a(&state), [], "it is still missed");
    state.found_well(&[("drive_gone".to_string(), "sda".to_string())].into(), &["sda".to_string()].into());
    state.tick(&file, at(13, 21));
    assert_eq!(to_a(&state), [now("Closed drive")]);
    state.note(&file, gone(), at(14, 0));
    assert_eq!(to_a(&state)[1..], [now("Opened drive")]);
}

/// Whether what waits for receiver `a` is critical.
fn critical_to_a(state: &State) -> Vec<bool> {
    state.queue.iter().filter(|message| message.receiver == "a").map(|message| message.items[0].is_critical).collect()
}

#[test]
fn what_is_worse_after_a_restart_ends_the_alert_of_before_and_what_is_over_has_the_severity_that_was_sent() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "temperature", false), at(12, 0));
    state.begin(&file, at(13, 0));
    state.note(&file, item(Happening::Opened, "temperature", true), at(13, 0));
    assert_eq!(to_a(&state), [now("Opened temperature"), now("Worse temperature")]);
    // The next one sees it when it is milder.
    state.begin(&file, at(14, 0));
    state.note(&file, item(Happening::Opened, "temperature", false), at(14, 0));
    state.note(&file, item(Happening::Closed, "temperature", false), at(14, 5));
    assert_eq!(to_a(&state)[2..], [now("Closed temperature")]);
    assert_eq!(critical_to_a(&state), [false, true, true]);
}

#[test]
fn a_clock_that_is_set_neither_loses_nor_holds_up_a_message_nor_ends_a_problem() {
    for jump in [40 * 86_400, -40 * 86_400] {
        let (file, mut state) = (file(), State::default());
        state.begin(&file, at(12, 0));
        state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
        state.note(&file, item(Happening::Opened, "port", false), at(12, 0));
        let first = state.due("a", at(12, 0).unix).unwrap();
        state.failed(&first, at(12, 0), false);
        state.begin(&file, at(12, 1));
        found_well(&mut state, &["array"]);
        state.tick(&file, at(12, 1));
        let later = set_by(jump, at(12, 2));
        state.tick(&file, later);
        assert_eq!(to_a(&state), [now("Opened array")], "nothing is lost, and no problem is over: {jump}");
        assert_eq!(state.due("a", later.unix).map(|message| message.id), Some(first.id), "{jump}");
        state.tick(&file, set_by(jump, at(12, 59)));
        assert_eq!(to_a(&state).len(), 2, "that the array is over: {jump}");
        state.tick(&file, set_by(jump, at(13, 1)));
        assert_eq!(to_a(&state)[2], (true, vec!["Opened port".to_string()]), "{jump}");
    }
}

#[test]
fn what_a_wrong_clock_has_put_into_the_future_is_sent_now() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    let early = set_by(-1_000_000, at(0, 0));
    state.begin(&file, early);
    assert!(state.due("a", early.unix).is_some());
}

/// A problem of a category that is muted.
fn muted(category: &str) -> BTreeSet<(String, String)> {
    [(format!("{category}_rule"), "sda".to_string())].into()
}

#[test]
fn what_is_muted_while_it_waits_for_a_digest_is_counted_there_and_sent_when_the_mute_ends() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "port", false), at(12, 0));
    state.note(&file, item(Happening::Opened, "node", false), at(12, 1));
    state.mute(&muted("port"));
    state.mute(&muted("port"));
    state.tick(&file, at(13, 1));
    assert_eq!(to_a(&state), [(true, vec!["Opened node".to_string()])]);
    assert_eq!(state.queue[0].muted, 1);
    state.mute(&BTreeSet::new());
    state.note(&file, item(Happening::Opened, "port", false), at(13, 2));
    state.tick(&file, at(14, 3));
    assert_eq!((to_a(&state)[1].1.clone(), state.queue[2].muted), (vec!["Opened port".to_string()], 0));
}

#[test]
fn a_mute_alone_makes_no_digest_and_what_was_sent_before_it_is_not_sent_again() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    state.mute(&muted("array"));
    state.tick(&file, at(14, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(14, 1));
    assert_eq!(to_a(&state), [now("Opened array")]);
    // Those who heard of it hear that it is over.
    state.note(&file, item(Happening::Closed, "array", true), at(14, 2));
    assert_eq!(to_a(&state)[1], now("Closed array"));
    // Also if that waits for a digest, and it is muted and open again by then.
    state.note(&file, item(Happening::Opened, "port", false), at(14, 2));
    state.tick(&file, at(15, 3));
    state.note(&file, item(Happening::Closed, "port", false), at(15, 4));
    state.mute(&muted("port"));
    state.tick(&file, at(16, 5));
    assert_eq!(to_a(&state)[3], (true, vec!["Closed port".to_string()]));
    // They heard nothing of one that opened under a mute.
    state.note(&file, item(Happening::Closed, "path", true), at(16, 6));
    assert_eq!(to_a(&state).len(), 4);
}

#[test]
fn a_recorder_that_begins_again_does_not_take_a_muted_problem_for_one_that_is_over() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    state.begin(&file, at(12, 10));
    found_well(&mut state, &["array"]);
    state.mute(&muted("array"));
    state.tick(&file, at(13, 0));
    assert_eq!(to_a(&state), [now("Opened array")]);
}

#[test]
fn an_acknowledged_problem_that_a_recorder_finds_again_is_not_over_and_stays_in_the_digest() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    state.note(&file, item(Happening::Opened, "port", false), at(12, 0));
    state.begin(&file, at(12, 10));
    found_well(&mut state, &["array", "port"]);
    state.found(&muted("array").into_iter().chain(muted("port")).collect());
    state.tick(&file, at(12, 30));
    assert_eq!(to_a(&state), [now("Opened array")]);
    state.tick(&file, at(13, 0));
    assert_eq!(to_a(&state)[1..], [(true, vec!["Opened port".to_string()])]);
}

#[test]
fn a_mute_that_takes_news_out_of_a_digest_keeps_the_end_of_what_was_sent() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "port", false), at(12, 0));
    state.tick(&file, at(13, 0));
    // It ends and comes back before the next digest.
    for happened in [Happening::Closed, Happening::Opened] {
        state.note(&file, item(happened, "port", false), at(13, 1));
    }
    state.mute(&muted("port"));
    state.tick(&file, at(14, 2));
    assert_eq!(to_a(&state).len(), 1);
    state.note(&file, item(Happening::Closed, "port", false), at(14, 3));
    state.tick(&file, at(15, 4));
    assert_eq!(to_a(&state)[1..], [(true, vec!["Closed port".to_string()])]);
    // One that is open when the mute ends is news, because its return was not sent.
    for (happened, minute) in [(Happening::Opened, 5), (Happening::Closed, 66), (Happening::Opened, 67)] {
        state.note(&file, item(happened, "port", false), at(15, minute));
        if minute == 5 {
            state.tick(&file, at(16, 5));
        }
    }
    state.mute(&muted("port"));
    state.mute(&BTreeSet::new());
    state.note(&file, item(Happening::Opened, "port", false), at(17, 0));
    state.tick(&file, at(18, 0));
    assert_eq!(to_a(&state)[3..], [(true, vec!["Opened port".to_string()])]);
}

#[test]
fn what_quiet_hours_held_back_and_a_mute_took_away_hurries_no_later_digest() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(23, 30));
    state.note(&file, item(Happening::Opened, "temperature", false), at(23, 30));
    state.mute(&muted("temperature"));
    state.note(&file, item(Happening::Opened, "port", false), at(31, 0));
    state.tick(&file, at(31, 1));
    assert_eq!(to_a(&state), []);
    state.tick(&file, at(32, 0));
    assert_eq!(to_a(&state), [(true, vec!["Opened port".to_string()])]);
}

#[test]
fn a_state_that_an_earlier_version_kept_is_read() {
    let (file, mut state) = (file(), State::default());
    state.begin(&file, at(12, 0));
    state.note(&file, item(Happening::Opened, "array", true), at(12, 0));
    let mut kept = serde_json::to_value(&state).unwrap();
    kept.as_object_mut().unwrap().remove("muted");
    for message in kept["queue"].as_array_mut().unwrap() {
        message.as_object_mut().unwrap().remove("muted");
    }
    assert_eq!(serde_json::from_value::<State>(kept).unwrap(), state);
}

#[test]
fn each_kind_waits_for_a_person_and_later_ones_go_by_themselves() {
    let file = stend_spec::parse::notify("receivers: {vendor: {syslog: {}}}", "n.yaml").unwrap();
    let of = |object: &str, happened| Item { object: object.into(), ..item(happened, "array", true) };
    let due =
        |state: &State, clock: Clock| state.due("vendor", clock.unix).map(|message| message.items[0].object.clone());
    let mut state = State::default();
    state.hold_kinds("https://vendor.example");
    state.note(&file, of("md0", Happening::Opened), at(0, 0));
    assert_eq!((state.queue[0].kind().as_str(), due(&state, at(0, 1))), ("array_rule/opened", None));
    assert_eq!((state.unlogged().len(), state.unlogged().len()), (1, 0));
    // A week later it still waits; what was approved would have been given up.
    let now = at(7 * 24, 0);
    state.tick(&file, now);
    assert_eq!(state.queue.len(), 1);
    state.approve("array_rule/opened");
    let first = state.due("vendor", now.unix).unwrap();
    state.sent(&first, now);
    state.note(&file, of("md1", Happening::Opened), now);
    assert_eq!(due(&state, now).as_deref(), Some("md1"), "it goes by itself");
    // Another address was not approved.
    let mut elsewhere = state.clone();
    elsewhere.hold_kinds("https://other.example");
    assert_eq!(due(&elsewhere, now), None);
    state.hold_kinds("https://vendor.example");
    let second = state.due("vendor", now.unix).unwrap();
    state.sent(&second, now);
    // That it is over is another kind.
    state.note(&file, of("md1", Happening::Closed), now);
    assert_eq!(due(&state, now), None);
    state.withhold(state.queue[0].id);
    state.approve("array_rule/closed");
    assert_eq!(due(&state, now), None, "what was withheld does not come back");
}
