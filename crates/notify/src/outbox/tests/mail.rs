//! A mail server that is slow, refuses for now, or dies: nothing is lost, and nothing is sent twice that the server acknowledged.

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// What a server does with one connection.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Turn {
    /// Takes the mail.
    Takes,
    /// Takes it, and thinks before each answer.
    TakesSlowly,
    /// Is gone once the first line of the mail has come.
    DiesInside,
    /// Has the mail, and is gone before it answers that.
    DiesBehind,
    /// Answers so to this command; `.` is the end of the mail.
    Refuses(&'static str, &'static str),
}

type Mails = Arc<Mutex<Vec<String>>>;

/// A server of SMTP (RFC 5321) that takes its turns and then listens no more, and the mails that it has.
fn server(turns: Vec<Turn>) -> (NotifyFile, Mails) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mails = Mails::default();
    let to = mails.clone();
    std::thread::spawn(move || {
        for turn in turns {
            let (stream, _) = listener.accept().unwrap();
            // A client may go away at any time.
            session(&stream, turn, &to).ok();
        }
    });
    let mail = format!("to: [ops@example.com], from: stend@nas, server: \"smtp://{address}\", tls: none");
    let text = format!("receivers: {{m: {{mail: {{{mail}}}}}}}");
    (stend_spec::parse::notify(&text, "n.yaml").unwrap(), mails)
}

fn session(stream: &TcpStream, turn: Turn, mails: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let answer = |text: &str| {
        if turn == Turn::TakesSlowly {
            std::thread::sleep(Duration::from_millis(150));
        }
        let mut to = stream;
        to.write_all(format!("{text}\r\n").as_bytes())
    };
    let (mut from, mut mail, mut is_data) = (BufReader::new(stream), String::new(), false);
    answer("220 here")?;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let command = if is_data && line == ".\r\n" { "." } else { line.split([' ', ':', '\r']).next().unwrap() };
        match (turn, command) {
            (Turn::DiesInside, _) if is_data => return Ok(()),
            (_, command) if is_data && command != "." => mail.push_str(&line),
            (Turn::Refuses(at, text), command) if at == command => {
                (is_data, mail) = (false, String::new());
                answer(text)?;
            }
            (_, ".") => {
                is_data = false;
                mails.lock().unwrap().push(std::mem::take(&mut mail));
                if turn == Turn::DiesBehind {
                    return Ok(());
                }
                answer("250 taken")?;
            }
            (_, "DATA") => {
                is_data = true;
                answer("354 go on")?;
            }
            (_, "QUIT") => return answer("221 bye"),
            _ => answer("250 ok")?,
        }
    }
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < IN_TIME, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A process that tries once to send what happened, and what waits. Returns what it told.
fn tries(file: &NotifyFile, place: &Path, items: Vec<Item>, is_done: impl Fn(&[String]) -> bool) -> Vec<String> {
    let (store, mut state) = opened(place);
    // Its pause is over.
    state.queue.iter_mut().for_each(|message| message.next = 0);
    store.keep(&state, 1).unwrap().unwrap();
    drop(store);
    let (outbox, lines) = started(file, place);
    outbox.note(items);
    let so_far = || lines.lock().unwrap().clone();
    until("a try", || is_done(&so_far()));
    // The end gives it some seconds only, which a busy machine may take to have an answer.
    until("the end of the try", || outbox.shared.lock().sending == 0);
    outbox.close();
    so_far()
}

fn waiting(place: &Path) -> usize {
    opened(place).1.queue.len()
}

fn opens() -> Vec<Item> {
    vec![item("md0", Happening::Opened)]
}

/// That a mail has all that was written.
fn is_whole(mail: &str) -> bool {
    mail.starts_with("From: stend@nas\r\n") && mail.split("\r\n\r\n").nth(1).is_some_and(|body| body.len() > 100)
}

#[test]
fn a_mail_whose_server_refuses_for_now_or_dies_inside_waits_and_is_sent_once() {
    let dir = tempfile::tempdir().unwrap();
    let greylisted = Turn::Refuses("RCPT", "451 4.7.1 try later");
    let full = Turn::Refuses(".", "452 4.3.1 no room");
    let (file, mails) = server(vec![greylisted, Turn::DiesInside, full, Turn::Takes]);
    for (items, times) in [(opens(), "first"), (opens(), "second"), (Vec::new(), "third")] {
        let lines = tries(&file, dir.path(), items, |lines| !lines.is_empty());
        assert_eq!(lines.len(), 1, "{times}: {lines:?}");
        assert!(lines[0].starts_with("`m` does not take messages: `curl`: "), "{lines:?}");
        assert_eq!((mails.lock().unwrap().len(), waiting(dir.path())), (0, 1), "{times}");
    }
    let lines = tries(&file, dir.path(), Vec::new(), |_| mails.lock().unwrap().len() == 1);
    assert_eq!((lines.len(), waiting(dir.path())), (0, 0), "{lines:?}");
    let mails = mails.lock().unwrap();
    assert!(mails.len() == 1 && is_whole(&mails[0]), "{mails:?}");
}

#[test]
fn a_mail_whose_server_dies_before_it_answers_arrives_again_as_the_same_mail() {
    let dir = tempfile::tempdir().unwrap();
    let (file, mails) = server(vec![Turn::DiesBehind, Turn::Takes]);
    tries(&file, dir.path(), opens(), |lines| !lines.is_empty());
    assert_eq!((mails.lock().unwrap().len(), waiting(dir.path())), (1, 1), "no answer is no acknowledgement");
    tries(&file, dir.path(), Vec::new(), |_| mails.lock().unwrap().len() == 2);
    let mails = mails.lock().unwrap();
    // Mail programs know it by its Message-ID and show it once.
    assert!(mails[0] == mails[1] && mails[0].contains("\r\nMessage-ID: <stend-"), "{mails:?}");
    assert_eq!(waiting(dir.path()), 0);
}

#[test]
fn a_slow_mail_server_gets_its_mail_once_and_keeps_no_other_receiver_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let (mut file, mails) = server(vec![Turn::TakesSlowly]);
    let socket = dir.path().join("log");
    let log = UnixDatagram::bind(&socket).unwrap();
    let text = format!("receivers: {{log: {{syslog: {{socket: {}}}}}}}", socket.display());
    file.receivers.extend(stend_spec::parse::notify(&text, "n.yaml").unwrap().receivers);
    let place = dir.path().join("q");
    let lines = tries(&file, &place, opens(), |_| {
        assert!(received(&log).starts_with("<26>stend: md0 "));
        until("the slow mail", || mails.lock().unwrap().len() == 1);
        true
    });
    assert_eq!((lines.len(), waiting(&place)), (0, 0), "{lines:?}");
    assert!(is_whole(&mails.lock().unwrap()[0]));
}

#[test]
fn a_receiver_that_fails_again_and_again_is_told_once_and_once_when_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let file = stend_spec::parse::notify("receivers: {m: {syslog: {socket: /nowhere}}}", "n.yaml").unwrap();
    let (tell, lines) = told();
    let outbox = Outbox::open(file.clone(), "nas", dir.path(), tell).unwrap();
    let mut is_failing = false;
    let failed = || Err(Unsent::from(say!("451 try later", "451 позже")));
    for sent in [Ok(()), failed(), failed(), failed(), Ok(()), Ok(()), failed()] {
        outbox.shared.tell(&file.receivers[0], &sent, &mut is_failing);
    }
    outbox.close();
    let lines: Vec<String> = lines.lock().unwrap().iter().map(|line| line[..16].to_string()).collect();
    assert_eq!(lines, ["`m` does not tak", "`m` takes messag", "`m` does not tak"]);
}
