//! A guest that goes from one emulator to another while both sides talk: what each says arrives as it was said.

use super::*;
use crate::greeting;
use crate::port::{self, Ended};
use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use stend_base::random::Random;

const LONG: Duration = Duration::from_secs(60);

/// Bytes that follow from a number.
fn words(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Random::new(seed).fill(&mut bytes);
    bytes
}

/// An emulator's socket.
fn socket(place: &Path, name: &str) -> UnixListener {
    UnixListener::bind(place.join(name)).unwrap()
}

/// The other end of the session: a coordinator that says bytes as they are given and hears all that the guest says.
struct Coordinator {
    says: Sender<Vec<u8>>,
    passage: Arc<Passage>,
    heard: thread::JoinHandle<(io::Result<Ended>, Vec<u8>)>,
}

struct Given(Receiver<Vec<u8>>);

impl Read for Given {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Ok(bytes) = self.0.recv() else { return Ok(0) };
        to[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

fn coordinator(place: &Path) -> Coordinator {
    let (says, given) = channel();
    let passage = Arc::new(Passage::default());
    let (place, way) = (place.to_path_buf(), passage.clone());
    let heard = thread::spawn(move || {
        let mut output = Vec::new();
        let ended = port::join((&place, "a"), LONG, &|| true, &way, Given(given), &mut output);
        (ended, output)
    });
    Coordinator { says, passage, heard }
}

fn until(what: impl Fn() -> bool) {
    while !what() {
        thread::sleep(TICK);
    }
}

#[test]
fn a_guest_that_goes_hears_and_says_every_byte_once_and_in_its_order() {
    for seed in 0..20 {
        let place = tempfile::tempdir().unwrap();
        let first = socket(place.path(), "a");
        let Coordinator { says, passage, heard } = coordinator(place.path());
        let mut a = first.accept().unwrap().0;
        let session = greeting::await_host(&mut a).unwrap();
        let mut random = Random::new(seed);
        let mut part = || 1 + random.below(3000) as usize;
        let (before, later, after) = (words(seed, part()), words(seed + 100, part()), words(seed + 200, part()));
        let (first_words, last_words) = (words(seed + 300, part()), words(seed + 400, part()));

        says.send(before.clone()).unwrap();
        let mut got = vec![0; before.len()];
        let reads = thread::spawn(move || {
            // The emulator takes its time, and what is held back waits for that.
            thread::sleep(Duration::from_millis(seed % 5));
            a.read_exact(&mut got).unwrap();
            (a, got)
        });
        // What was said before must have begun to go.
        let begun = || passage.lock().here.as_ref().is_some_and(|here| !here.socket.is_read().unwrap());
        until(|| begun() || reads.is_finished());
        let went = passage.hold(LONG).unwrap();
        let (mut a, got) = reads.join().unwrap();
        assert_eq!(got, before, "seed {seed}");
        says.send(later.clone()).unwrap();

        let second = socket(place.path(), "b");
        let accepts = thread::spawn(move || second.accept().unwrap().0);
        passage.connect(&place.path().join("b"), LONG, &|| accepts.is_finished()).unwrap();
        let mut b = accepts.join().unwrap();
        // The guest runs there, and what it says there comes after what it has said here, whatever is read first.
        b.write_all(&last_words).unwrap();
        a.write_all(&first_words).unwrap();
        a.set_nonblocking(true).unwrap();
        assert_eq!(a.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock, "nothing goes to where it was");
        drop(a);
        passage.arrive(went, LONG).unwrap();
        says.send(after.clone()).unwrap();
        let mut got = vec![0; later.len() + after.len()];
        b.read_exact(&mut got).unwrap();
        assert_eq!(got, [later, after].concat(), "seed {seed}");
        greeting::end(&mut b, session).unwrap();
        let (ended, output) = heard.join().unwrap();
        assert_eq!((ended.unwrap(), output), (Ended::ByGuest, [first_words, last_words].concat()), "seed {seed}");
    }
}

#[test]
fn a_guest_that_stays_hears_what_was_held_back() {
    let place = tempfile::tempdir().unwrap();
    let first = socket(place.path(), "a");
    let Coordinator { says, passage, heard } = coordinator(place.path());
    let mut a = first.accept().unwrap().0;
    let session = greeting::await_host(&mut a).unwrap();
    until(|| passage.lock().here.is_some());
    let went = passage.hold(LONG).unwrap();
    says.send(b"later".to_vec()).unwrap();
    let second = socket(place.path(), "b");
    passage.connect(&place.path().join("b"), LONG, &|| true).unwrap();
    assert_eq!(passage.arrive(went, TICK).unwrap_err().kind(), ErrorKind::TimedOut);
    passage.stay();
    let mut got = [0; 5];
    a.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"later");
    assert_eq!(second.accept().unwrap().0.read(&mut [0; 1]).unwrap(), 0, "the other way is closed");
    greeting::end(&mut a, session).unwrap();
    assert_eq!(heard.join().unwrap().0.unwrap(), Ended::ByGuest);
}

#[test]
fn an_emulator_that_reads_nothing_or_accepts_nothing_is_not_waited_for_beyond_the_limit() {
    let place = tempfile::tempdir().unwrap();
    let passage = Passage::default();
    assert_eq!(passage.hold(TICK).unwrap_err().kind(), ErrorKind::NotConnected);
    let (mut socket_here, emulator) = Socket::pair().unwrap();
    socket_here.write_all(b"x").unwrap();
    passage.begin(socket_here, (place.path(), "a"));
    assert_eq!(passage.hold(TICK).unwrap_err().kind(), ErrorKind::TimedOut, "a byte is not read");
    assert!(!passage.lock().held, "the coordinator is not kept waiting");
    let mut emulator = UnixStream::from(emulator);
    emulator.read_exact(&mut [0; 1]).unwrap();
    passage.hold(LONG).unwrap();
    let path = place.path().join("b");
    assert_eq!(passage.connect(&path, TICK, &|| true).unwrap_err().kind(), ErrorKind::TimedOut, "nothing listens");
    let _listens = socket(place.path(), "b");
    assert_eq!(passage.connect(&path, TICK, &|| false).unwrap_err().kind(), ErrorKind::TimedOut, "nothing accepts");
    assert!(passage.lock().there.is_none() && passage.went().unwrap().is_none());
}
