//! Messages reach who answers although another does not, and what is not taken is there for the next process.

mod mail;

use super::*;
use crate::item::{Happening, Message};
use crate::words::tests::{item, message};
use std::os::unix::net::UnixDatagram;

/// How long a test waits for what must happen.
const IN_TIME: Duration = Duration::from_secs(90);

fn told() -> (Told, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let to = lines.clone();
    (Arc::new(move |say: Say| to.lock().unwrap().push(say.en)), lines)
}

fn received(log: &UnixDatagram) -> String {
    log.set_read_timeout(Some(IN_TIME)).unwrap();
    let mut bytes = [0; 1024];
    let count = log.recv(&mut bytes).expect("a message");
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}

/// What `open` gives as soon as the lock is free: a process that another test starts in this moment holds it, too, until it is another
/// program.
fn unlocked<T>(open: impl Fn() -> stend_base::Result<T>) -> T {
    let begun = Instant::now();
    loop {
        match open() {
            Ok(opened) => return opened,
            Err(error) => assert!(begun.elapsed() < IN_TIME, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn opened(place: &Path) -> (Store, State) {
    unlocked(|| Store::open(place))
}

/// An outbox, and what it tells.
fn started(file: &NotifyFile, place: &Path) -> (Outbox, Arc<Mutex<Vec<String>>>) {
    unlocked(|| {
        let (tell, lines) = told();
        Ok((Outbox::open(file.clone(), "nas", place, tell)?, lines))
    })
}

#[test]
fn a_receiver_that_is_dead_keeps_no_other_waiting_and_gets_its_message_from_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    let (alive, dead) = (dir.path().join("alive"), dir.path().join("dead"));
    let log = UnixDatagram::bind(&alive).unwrap();
    let text = format!(
        "receivers: {{a: {{syslog: {{socket: {}}}}}, b: {{syslog: {{socket: {}}}}}}}",
        alive.display(),
        dead.display()
    );
    let file = stend_spec::parse::notify(&text, "n.yaml").unwrap();
    let (outbox, lines) = started(&file, &dir.path().join("q"));
    outbox.note(vec![item("md0", Happening::Opened)]);
    assert!(received(&log).starts_with("<26>stend: md0 (critical)"));
    outbox.note(vec![item("md0", Happening::Opened), item("md1", Happening::Opened)]);
    assert!(received(&log).starts_with("<26>stend: md1 (critical)"), "md0 is sent once");
    outbox.close();
    assert_eq!(lines.lock().unwrap().len(), 1, "{lines:?}");
    assert!(lines.lock().unwrap()[0].starts_with("`b` does not take messages: cannot write to the log"));
    let late = UnixDatagram::bind(&dead).unwrap();
    // Its pause is over.
    let (store, mut state) = opened(&dir.path().join("q"));
    state.queue.iter_mut().for_each(|message| message.next = 0);
    store.keep(&state, 1).unwrap().unwrap();
    drop(store);
    let (outbox, _) = started(&file, &dir.path().join("q"));
    assert!(received(&late).starts_with("<26>stend: md0 (critical)"));
    assert!(received(&late).starts_with("<26>stend: md1 (critical)"));
    outbox.close();
}

#[test]
fn a_digest_that_failed_in_its_middle_goes_on_there_and_repeats_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (place, socket) = (dir.path().join("q"), dir.path().join("log"));
    let log = UnixDatagram::bind(&socket).unwrap();
    let text = format!("receivers: {{a: {{syslog: {{socket: {}}}}}}}", socket.display());
    let file = stend_spec::parse::notify(&text, "n.yaml").unwrap();
    // No socket takes the second line: it is longer than any datagram.
    let long = item(&"x".repeat(8 << 20), Happening::Opened);
    let items = vec![item("md0", Happening::Opened), long, item("md2", Happening::Opened)];
    let (store, mut state) = Store::open(&place).unwrap();
    state.queue.push(Message { is_digest: true, made: unix(), ..message(items) });
    store.keep(&state, 1).unwrap().unwrap();
    drop(store);
    let (outbox, _) = started(&file, &place);
    assert!(received(&log).starts_with("<26>stend: md0 "));
    outbox.close();
    let (store, mut state) = opened(&place);
    let waiting = &mut state.queue[0];
    assert_eq!((waiting.items.len(), waiting.tries), (2, 1), "what is through is kept as such");
    waiting.items[0].object = "md1".into();
    waiting.next = 0;
    store.keep(&state, 1).unwrap().unwrap();
    drop(store);
    let (outbox, _) = started(&file, &place);
    assert!(received(&log).starts_with("<26>stend: md1 "), "md0 is not sent again");
    assert!(received(&log).starts_with("<26>stend: md2 "));
    outbox.close();
}

#[test]
fn what_was_decided_about_another_address_is_not_followed() {
    let file = stend_spec::parse::notify("receivers: {vendor: {syslog: {}}}", "n.yaml").unwrap();
    let mut state = State::default();
    state.hold_kinds("https://vendor.example");
    state.note(&file, item("md0", Happening::Opened), Clock { unix: 5, monotonic: 5, minute: 0 });
    let (id, kind) = (state.queue[0].id, state.queue[0].kind());
    let decided = |place: &str, decision| {
        let (kind, place, by, bytes) = (kind.clone(), place.to_string(), "ann".to_string(), "{}".to_string());
        Decided { id, kind, place, decision, by, at_unix_s: 5, bytes }
    };
    let mut all = vec![decided("https://old.example", Decision::Approved), decided("", Decision::Withheld)];
    follow(&mut state, &all);
    assert!(state.due("vendor", 6).is_none() && state.queue.len() == 1, "{state:?}");
    all.push(decided("https://vendor.example", Decision::Approved));
    follow(&mut state, &all);
    assert!(state.due("vendor", 6).is_some(), "{state:?}");
}

#[test]
fn a_time_zone_is_read_and_nonsense_is_none() {
    assert_eq!(["+0000", "+0330", "-1200"].map(zone::of), [Some(0), Some(210), Some(-720)]);
    assert_eq!(["", "0300", "+3", "+03:0"].map(zone::of), [None; 4]);
}
