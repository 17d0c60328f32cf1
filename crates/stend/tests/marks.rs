//! Problems that are acknowledged or muted: by the command line, by a server, and what a recorder then sends.

use crate::notify::{next_line, seeing_drives};
use crate::serve::client::Server;
use crate::support::*;
use serde_json::Value;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Duration;

/// Drives that a recorder sees.
struct Drives<'a>(&'a Scratch);

impl Drives<'_> {
    fn plug(&self, name: &str) {
        self.0.directory(&format!("drives/{name}"));
        self.0.file(&format!("drives/{name}/size"), "8\n");
    }

    fn unplug(&self, name: &str) {
        std::fs::remove_dir_all(self.0.join(&format!("drives/{name}"))).expect("the drive");
    }
}

fn journal(scratch: &Scratch, recording: &str, words: &[&str]) -> Value {
    let words: Vec<&str> = ["journal", recording, "--json"].iter().chain(words).copied().collect();
    serde_json::from_str(&expect_exit(&mut stend(scratch, &words), 0).0).expect("JSON")
}

fn problem(journal: &Value, object: &str) -> Option<Value> {
    journal["problems"].as_array().expect("a list").iter().find(|problem| problem["object"] == object).cloned()
}

/// A recorder that begins to see drives of ours, and its file.
fn begun(scratch: &Scratch, receivers: &str) -> (Running, String) {
    let recording = scratch.join("n.stend").to_string_lossy().into_owned();
    let recorder = stend(scratch, &["record", "--every", "200ms", "--notify", receivers, "-o", &recording]);
    let drives = scratch.directory("drives");
    let mut command = seeing_drives(&drives, &recorder);
    let running = Running::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
    eventually("it records", Duration::from_secs(30), || {
        output(&mut stend(scratch, &["journal", &recording])).status.success()
    });
    (running, recording)
}

#[test]
fn a_muted_drive_that_goes_is_not_sent_until_the_mute_ends_and_an_acknowledged_one_is_not_sent_again() {
    const TEST: &str =
        "a_muted_drive_that_goes_is_not_sent_until_the_mute_ends_and_an_acknowledged_one_is_not_sent_again";
    if !root(TEST) {
        return;
    }
    let _turn = host_turn();
    let scratch = Scratch::new();
    let socket = scratch.join("log").to_string_lossy().into_owned();
    let log = UnixDatagram::bind(&socket).expect("a socket");
    let receivers = scratch.file("r.yaml", &format!("receivers: {{log: {{syslog: {{socket: {socket}}}}}}}\n"));
    let drives = Drives(&scratch);
    ["sdy", "sdz"].iter().for_each(|name| drives.plug(name));

    // A mute is made in an earlier recording, and holds for that of the recorder that is started then.
    let earlier = scratch.join("earlier.stend").to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["record", "--every", "100ms", "--for", "300ms", "-o", &earlier]), 0);
    let mute = ["--mute", "object:sdy", "--until", "1h", "--comment", "the rack moves"];
    assert_eq!(journal(&scratch, &earlier, &mute)["mutes"][0]["what"], "object:sdy");
    let (mut running, recording) = begun(&scratch, &receivers);
    ["sdy", "sdz"].iter().for_each(|name| drives.unplug(name));
    let first = next_line(&log);
    assert!(first.contains("stend: sdz (critical): drive gone"), "{first}");
    eventually("both are gone", Duration::from_secs(30), || {
        journal(&scratch, &recording, &[])["problems"].as_array().is_some_and(|problems| problems.len() == 2)
    });
    let seen = journal(&scratch, &recording, &[]);
    assert!(problem(&seen, "sdy").is_some_and(|found| found["muted_until_unix_s"].is_i64()), "{seen:#}");

    // The id is the same in every look, and names that occurrence.
    let id = problem(&seen, "sdz").expect("a problem")["id"].as_str().expect("an id").to_string();
    let again = journal(&scratch, &recording, &["--acknowledge", &id, "--comment", "новый заказан"]);
    let again = problem(&again, "sdz").expect("a problem");
    assert_eq!((again["id"].as_str(), again["acknowledged"]["comment"].as_str()), (Some(&*id), Some("новый заказан")));
    let (text, _) = expect_exit(&mut stend(&scratch, &["journal", &recording]), 0);
    assert!(text.contains("open problems 2 (acknowledged 1, muted 1), closed 0"), "{text}");
    assert!(text.contains(": новый заказан") && text.contains("∅ object:sdy, everything: muted until "), "{text}");
    let (russian, _) = expect_exit(&mut stend(&scratch, &["journal", &recording, "--lang", "ru"]), 0);
    assert!(russian.contains("(принято к сведению 1, заглушено 1)") && russian.contains("заглушено до "), "{russian}");

    // It comes back and goes again within an hour: the same problem, and no news.
    drives.plug("sdz");
    let over = next_line(&log);
    assert!(over.contains("stend: sdz (over)"), "{over}");
    drives.unplug("sdz");
    eventually("it is gone again", Duration::from_secs(60), || {
        problem(&journal(&scratch, &recording, &[]), "sdz").is_some_and(|found| found["times"] == 2)
    });
    journal(&scratch, &recording, &["--unmute", "object:sdy"]);
    let next = next_line(&log);
    assert!(next.contains("stend: sdy (critical): drive gone"), "{next}");
    journal(&scratch, &recording, &["--unacknowledge", &id]);
    let next = next_line(&log);
    assert!(next.contains("stend: sdz (critical): drive gone"), "{next}");
    let server = Server::start(&scratch, &[]);
    counted_by_a_server(&server);
    tool(&["kill", "-INT", &running.child.id().to_string()]);
    assert_eq!(running.wait(Duration::from_secs(30)), Some(0));
    over_a_server(&scratch, &server, &recording, &id);
}

/// The two drives that are gone, in a recording that goes on; the earlier recording has ended and does not count.
fn counted_by_a_server(server: &Server) {
    let open = server.get("/api/v1/open-problems").json();
    let recordings = open["recordings"].as_array().expect("a list");
    assert_eq!((recordings.len(), recordings[0]["critical"].as_u64()), (1, Some(2)), "{open:#}");
    let page = server.get("/metrics").text();
    let mut problems = page.lines().filter(|line| line.starts_with("stend_problems{"));
    assert!(problems.any(|line| line.ends_with("category=\"drive\",severity=\"critical\"} 2")), "{page}");
}

/// The same by the API and by a command line that asks it.
fn over_a_server(scratch: &Scratch, server: &Server, recording: &str, id: &str) {
    eventually("a recording that has ended is not counted", IN_TIME, || {
        server.get("/api/v1/open-problems").json()["recordings"].as_array().map(Vec::len) == Some(0)
    });
    let list = server.get("/api/v1/recordings").json();
    let recordings = list["runs"].as_array().expect("a list");
    let found = recordings.iter().find(|one| one["path"].as_str().is_some_and(|path| path.ends_with("n.stend")));
    let name = found.unwrap_or(&recordings[0])["name"].as_str().expect("a name");
    let address = format!("/api/v1/recordings/{name}/journal");
    let ask = |request: &str| server.with_token(request, &[]);
    let put = ask(&format!("PUT {address}/acknowledgement?problem={id}&comment=a+%22fan%22"));
    assert_eq!(put.status, 200, "{}", put.text());
    assert_eq!(problem(&put.json(), "sdz").expect("a problem")["acknowledged"]["by"], "admin");
    assert_eq!(ask(&format!("PUT {address}/mute?what=object%3Asdy&until=8h")).status, 200);
    let again = ask(&format!("PUT {address}/mute?what=object%3Asdy&until=2h"));
    assert_eq!(again.status, 200, "{}", again.text());
    // What the command line prints here it prints over the server.
    let here = |words: &[&str]| {
        let words: Vec<&str> = ["journal", recording].iter().chain(words).copied().collect();
        expect_exit(&mut stend(scratch, &words), 0).0
    };
    let url = format!("http://{}", server.address);
    let there = |words: &[&str]| {
        let words: Vec<&str> = ["journal", name, "--server", &url].iter().chain(words).copied().collect();
        let mut command = stend(scratch, &words);
        command.env("STEND_TOKEN", server.token.as_deref().expect("a token"));
        expect_exit(&mut command, 0).0
    };
    assert_eq!((there(&[]), there(&["--json"])), (here(&[]), here(&["--json"])));
    assert!(there(&["--unmute", "object:sdy"]).contains("(acknowledged 1)"));
    assert_eq!(there(&[]), here(&[]));
    for (request, status) in [
        (format!("DELETE {address}/mute?what=object%3Asdy"), 400),
        (format!("PUT {address}/mute?what=object%3Asdy&until=yesterday"), 400),
        (format!("PUT {address}/acknowledgement?problem=00000000"), 400),
        (format!("PUT {address}/acknowledgement?problem={id}&comment=a%0Ab"), 400),
        ("PUT /api/v1/recordings/R-0/journal/mute?what=object%3Asdy&until=1h".to_string(), 404),
    ] {
        let reply = ask(&request);
        assert_eq!(reply.status, status, "{request}: {}", reply.text());
    }
    let log = server.get("/api/v1/audit-log").json();
    let of = |at: usize, side: &str| log["changes"][at][side].as_str().expect("words").to_string();
    assert!(of(0, "before").starts_with("sdy, everything: muted until ") && of(0, "after").is_empty(), "{log:#}");
    assert!(of(1, "before").ends_with(" by admin") && of(1, "after") != of(1, "before"), "{log:#}");
    assert_eq!(of(3, "after"), "sdz, drive_gone: acknowledged by admin: a \"fan\"");
}

#[test]
fn a_server_sends_test_messages_for_an_admin_and_says_who_took_one() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let [socket, absent] = ["log", "absent"].map(|name| scratch.join(name).display().to_string());
    let log = UnixDatagram::bind(&socket).expect("a socket");
    let there = |name: &str, socket: &str| format!("{name}: {{syslog: {{socket: {socket}}}}}");
    let receivers = format!("receivers: {{{}, {}}}\n", there("good", &socket), there("bad", &absent));
    let ask = |file: &str| {
        let escaped = file.replace('/', "%2F");
        server.with_token(&format!("POST /api/v1/notices/test?file={escaped}"), &[])
    };
    let reply = ask(&scratch.file("r.yaml", &receivers));
    assert_eq!(reply.status, 200, "{}", reply.text());
    let told = reply.json();
    let of = |name: &str| {
        let mut all = told["receivers"].as_array().expect("a list").iter();
        all.find(|one| one["name"] == name).expect("a receiver").clone()
    };
    assert!(of("good")["sent"] == true && of("good")["why"].is_null(), "{told:#}");
    assert!(of("bad")["sent"] == false && of("bad")["why"]["ru"].is_string(), "{told:#}");
    assert!(next_line(&log).contains("stend"));
    assert_eq!(server.get("/api/v1/audit-log").json()["changes"][0]["after"], "test messages were sent");
    // Where nothing was sent, why not.
    for file in ["/no/such/file", "r.yaml"] {
        let reply = ask(file);
        assert!(reply.status == 400 && reply.json()["detail"].as_str().is_some_and(|why| why.contains(file)), "{file}");
    }
}

#[test]
fn what_names_no_problem_or_no_recording_is_refused_and_a_hostile_file_of_marks_hides_no_problem() {
    let _turn = host_turn();
    let scratch = Scratch::new();
    fixed_run::two_runs(&scratch);
    let recording = scratch.join("a.stend").to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["record", "--every", "100ms", "--for", "300ms", "-o", &recording]), 0);
    let refused = |words: &[&str], why: &str| {
        let words: Vec<&str> = ["journal"].iter().chain(words).copied().collect();
        let (_, stderr) = expect_exit(&mut stend(&scratch, &words), 2);
        assert!(stderr.contains(why), "{words:?}: {stderr}");
    };
    refused(&["R-20261121T213000Z-aaaa", "--mute", "object:sda", "--until", "1h"], "is a run");
    refused(&[&recording, "--acknowledge", "00000000"], "there is no problem `00000000`");
    refused(&[&recording, "--acknowledge", "object:sda"], "only a problem can be acknowledged");
    refused(&[&recording, "--mute", "object:sda", "--until", "400d"], "more than a year");
    refused(&[&recording, "--unmute", "object:sda"], "`sda` as a whole is not muted");
    refused(&[&recording, "--mute", "object:sda"], "--until");
    refused(&[&recording, "--until", "1h"], "--mute");
    refused(&[&recording, "--comment", "x"], "--acknowledge");
    refused(&[&recording, "--mute", "object:sda", "--until", "1h", "--acknowledge", "0"], "cannot be used");
    let long = "x".repeat(501);
    refused(&[&recording, "--mute", "object:sda", "--until", "1h", "--comment", &long], "longer than 500");

    assert_eq!(journal(&scratch, &recording, &["--mute", "object:sda", "--until", "1h"])["mutes"][0]["object"], "sda");
    let marks = scratch.join("journal-marks.jsonl");
    let kept = std::fs::read_to_string(&marks).expect("the file");
    scratch.file("journal-marks.jsonl", &format!("{kept}{{\"host\":\"\u{1b}[2J\n"));
    let (text, stderr) = expect_exit(&mut stend(&scratch, &["journal", &recording]), 0);
    assert!(text.contains("open problems") && !text.contains("muted"), "{text}");
    assert!(
        stderr.contains("nothing is muted or acknowledged") && stderr.contains("journal-marks.jsonl:3: "),
        "{stderr}"
    );
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["journal", &recording, "--unmute", "object:sda"]), 3);
    assert!(stderr.contains("journal-marks.jsonl:3: "), "{stderr}");
}
