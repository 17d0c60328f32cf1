//! How the two ends of a port of a guest find each other. A port is one stream for all who come one after the other: what
//! the last one left in it must not be taken for words of the next. Must not open anything.
//!
//! The host asks with a number that is new each time, the guest repeats it, the host says go; whatever else lies in the
//! stream is passed over. The guest ends a session with the same number.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// First bytes of each word. As the length of a frame they are too much, so that an end that still reads frames breaks
/// off.
const MAGIC: [u8; 8] = *b"STENDLAB";
/// Bytes of a word: magic, what it says, the number.
const LENGTH: usize = MAGIC.len() + 1 + 8;
/// How long an answer may take before it is asked again: what was asked first may have gone to a session before us.
const AGAIN: Duration = Duration::from_millis(500);
/// How often a guest looks whether somebody is there: reading from a port ends at once while nobody is.
const NOBODY: Duration = Duration::from_millis(20);

/// The number of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session(pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Ask = b'?' as isize,
    Ready = b'!' as isize,
    Go = b'+' as isize,
    End = b'.' as isize,
}

fn word(says: Says, session: Session) -> [u8; LENGTH] {
    let mut word = [0; LENGTH];
    word[..8].copy_from_slice(&MAGIC);
    word[8] = says as u8;
    word[9..].copy_from_slice(&session.0.to_le_bytes());
    word
}

/// The last bytes of a stream.
struct Window([u8; LENGTH]);

impl Window {
    fn push(&mut self, byte: u8) {
        self.0.copy_within(1.., 0);
        self.0[LENGTH - 1] = byte;
    }

    fn says(&self, what: Says) -> Option<Session> {
        let number = self.0[9..].try_into().map(u64::from_le_bytes).map(Session).ok()?;
        (self.0 == word(what, number)).then_some(number)
    }
}

/// The guest's side: waits until a host has come, without limit. Nothing of what the host says afterwards is read.
pub fn await_host(port: &mut (impl Read + Write)) -> io::Result<Session> {
    let mut window = Window([0; LENGTH]);
    let mut promised = None;
    loop {
        let mut byte = [0];
        if port.read(&mut byte)? == 0 {
            std::thread::sleep(NOBODY);
            continue;
        }
        window.push(byte[0]);
        if let Some(session) = window.says(Says::Ask) {
            port.write_all(&word(Says::Ready, session))?;
            promised = Some(session);
        }
        if let Some(session) = window.says(Says::Go)
            && promised == Some(session)
        {
            return Ok(session);
        }
    }
}

/// The guest's side: the session is over.
pub fn end(port: &mut impl Write, session: Session) -> io::Result<()> {
    port.write_all(&word(Says::End, session))
}

/// The host's side: asks until the guest answers, at most for `limit`, and while `alive` says that there is a guest. `port`
/// must fail with [`ErrorKind::WouldBlock`] when nothing comes, or is taken, for a while.
pub fn meet(
    port: &mut (impl Read + Write),
    number: &mut dyn FnMut() -> u64,
    limit: Duration,
    alive: &dyn Fn() -> bool,
) -> io::Result<Session> {
    let start = Instant::now();
    while start.elapsed() < limit && alive() {
        let session = Session(number());
        match port.write_all(&word(Says::Ask, session)) {
            // A guest that reads nothing: what it was asked before fills the port.
            Err(error) if is_late(&error) => continue,
            asked => asked?,
        }
        if answered(port, session)? {
            port.write_all(&word(Says::Go, session))?;
            return Ok(session);
        }
    }
    Err(ErrorKind::TimedOut.into())
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Whether the answer of this session comes before it is time to ask again.
fn answered(port: &mut impl Read, session: Session) -> io::Result<bool> {
    let (mut window, asked) = (Window([0; LENGTH]), Instant::now());
    while asked.elapsed() < AGAIN {
        let mut byte = [0];
        match port.read(&mut byte) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => window.push(byte[0]),
            Err(error) if is_late(&error) => {}
            Err(error) => return Err(error),
        }
        if window.says(Says::Ready) == Some(session) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds the end of a session in what its guest says.
pub struct Ending {
    word: [u8; LENGTH],
    /// What came last, as much as could be the beginning of the word.
    before: Vec<u8>,
}

impl Ending {
    /// A word of this session.
    pub fn of(session: Session) -> Ending {
        Ending { word: word(Says::End, session), before: Vec::new() }
    }

    /// How many of these further bytes are the session's, and whether it ended.
    ///
    /// If a word came in pieces, the first are counted as the session's: nothing waits for what may follow.
    pub fn look(&mut self, bytes: &[u8]) -> (usize, bool) {
        let known = self.before.len();
        self.before.extend_from_slice(bytes);
        if let Some(at) = self.before.windows(LENGTH).position(|window| window == self.word) {
            return (at.saturating_sub(known), true);
        }
        let over = self.before.len().saturating_sub(LENGTH - 1);
        self.before.drain(..over);
        (bytes.len(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::Socket;

    /// What comes in, and what was answered.
    struct Port<'a>(&'a [u8], Vec<u8>);

    impl Read for Port<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.is_empty() {
                true => Err(ErrorKind::BrokenPipe.into()),
                false => self.0.read(buffer),
            }
        }
    }

    impl Write for Port<'_> {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            self.1.write(buffer)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_guest_passes_over_what_was_left_and_takes_the_last_host() {
        let said: Vec<u8> = [
            b"rest of a frame STEND".to_vec(),
            word(Says::Go, Session(1)).to_vec(),
            word(Says::Ask, Session(2)).to_vec(),
            word(Says::Ask, Session(3)).to_vec(),
            word(Says::Go, Session(2)).to_vec(),
            word(Says::Go, Session(3)).to_vec(),
            b"hello".to_vec(),
        ]
        .concat();
        let mut port = Port(&said, Vec::new());
        assert_eq!(await_host(&mut port).unwrap(), Session(3));
        assert_eq!(port.0, b"hello", "what follows is of the session");
        assert_eq!(port.1, [word(Says::Ready, Session(2)), word(Says::Ready, Session(3))].concat());
    }

    #[test]
    fn a_host_passes_over_what_others_were_told() {
        let said =
            [b"late words".to_vec(), word(Says::Ready, Session(6)).to_vec(), word(Says::Ready, Session(7)).to_vec()];
        let said = said.concat();
        let mut port = Port(&said, Vec::new());
        let met = meet(&mut port, &mut || 7, Duration::from_secs(60), &|| true).unwrap();
        assert_eq!(met, Session(7));
        assert_eq!(port.1, [word(Says::Ask, met), word(Says::Go, met)].concat());
    }

    #[test]
    fn a_guest_that_is_gone_is_not_asked() {
        let mut port = Port(b"", Vec::new());
        let error = meet(&mut port, &mut || 7, Duration::from_secs(60), &|| false).unwrap_err();
        assert!(error.kind() == ErrorKind::TimedOut && port.1.is_empty());
    }

    #[test]
    fn a_guest_that_reads_nothing_is_not_waited_for_beyond_the_limit() {
        let (mut host, _guest) = Socket::pair().unwrap();
        host.patience(Some(Duration::from_millis(1))).unwrap();
        while host.write_all(&[0; LENGTH]).is_ok() {}
        let error = meet(&mut host, &mut || 7, Duration::from_millis(20), &|| true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn both_sides_find_each_other_over_a_socket() {
        let (mut host, guest) = Socket::pair().unwrap();
        let mut guest = std::fs::File::from(guest);
        host.patience(Some(AGAIN)).unwrap();
        let waits = std::thread::spawn(move || await_host(&mut guest).unwrap());
        let mut next = 40;
        let met = meet(
            &mut host,
            &mut || {
                next += 1;
                next
            },
            Duration::from_secs(60),
            &|| true,
        )
        .unwrap();
        assert_eq!(waits.join().unwrap(), met);
    }

    #[test]
    fn an_end_is_found_however_it_is_cut() {
        let ending = word(Says::End, Session(9));
        let whole = [b"abcS".as_slice(), &ending, b"x"].concat();
        for cut in 0..=whole.len() {
            let mut looks = Ending::of(Session(9));
            let (first, ended) = looks.look(&whole[..cut]);
            let (second, ended) = if ended { (0, true) } else { looks.look(&whole[cut..]) };
            assert!(ended, "cut at {cut}");
            // A word in two pieces is not held back.
            let expected = if (5..4 + LENGTH).contains(&cut) { cut } else { 4 };
            assert_eq!(first + second, expected, "cut at {cut}");
        }
        assert_eq!(Ending::of(Session(8)).look(&whole), (whole.len(), false));
    }
}
