//! Notices to a vendor: nothing leaves without consent in writing, the first of each kind waits for a person, and what was shown is what arrives.

use crate::notify::{mail_server, mail_text, next_line, seeing_drives, web_server};
use crate::support::*;
use serde_json::Value;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;

const CONSENT: &str = "I agree that Stend sends notices about problems of this host to the vendor named here: what the problem is, since when, what was seen, what to do, and the name of the device in the kernel. Names of hosts, serial numbers, addresses and paths are taken out.";

/// A recorder that sees drives of ours, a log that hears of them, and a vendor who is reached this way.
struct World {
    scratch: Scratch,
    log: UnixDatagram,
    file: String,
    recorder: Running,
}

impl World {
    fn new(vendor: &str) -> World {
        let scratch = Scratch::new();
        let socket = scratch.join("log").to_string_lossy().into_owned();
        let log = UnixDatagram::bind(&socket).expect("a socket");
        let consent = format!("consent: {{by: \"A. Customer\", on: 2026-11-29, text: \"{CONSENT}\"}}");
        let text = format!("receivers: {{log: {{syslog: {{socket: {socket}}}}}}}\nvendor: {{{vendor}, {consent}}}\n");
        let file = scratch.file("r.yaml", &text);
        for name in ["sdx", "sdy", "sdz"] {
            scratch.directory(&format!("drives/{name}"));
            scratch.file(&format!("drives/{name}/size"), "8\n");
        }
        let recorder = World::begun(&scratch, &file);
        World { scratch, log, file, recorder }
    }

    fn begun(scratch: &Scratch, file: &str) -> Running {
        let recording = scratch.join("n.stend").to_string_lossy().into_owned();
        let words = ["record", "--every", "200ms", "--notify", file, "-o", &recording];
        let drives = scratch.directory("drives");
        let mut command = seeing_drives(&drives, &stend(scratch, &words));
        let running = Running::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
        eventually("it records", IN_TIME, || output(&mut stend(scratch, &["journal", &recording])).status.success());
        running
    }

    /// A drive goes; the log has heard of it.
    fn unplug(&self, name: &str) {
        std::fs::remove_dir_all(self.scratch.join(&format!("drives/{name}"))).expect("the drive");
        self.hears(&format!("{name} (critical): drive gone"));
    }

    /// The log hears this. Devices of other tests may have errors, of which it hears, too.
    fn hears(&self, what: &str) {
        while !next_line(&self.log).contains(what) {}
    }

    fn plug(&self, name: &str) {
        self.scratch.directory(&format!("drives/{name}"));
        self.scratch.file(&format!("drives/{name}/size"), "8\n");
        self.hears(&format!("{name} (over)"));
    }

    fn notices(&self, words: &[&str]) -> Value {
        let words = [&["notify", "vendor", &self.file, "--json"], words].concat();
        serde_json::from_str(&expect_exit(&mut stend(&self.scratch, &words), 0).0).expect("JSON")
    }

    /// The notice about a drive of ours that waits, when one does.
    fn waiting(&self) -> (String, String, String) {
        let first = || of_ours(&self.notices(&[])["waiting"]).first().cloned();
        eventually("a notice waits", IN_TIME, || first().is_some());
        let found = first().expect("a notice");
        let text = |name: &str| found[name].as_str().expect("a text").to_string();
        (found["id"].to_string(), text("kind"), text("bytes"))
    }

    fn end(&mut self) {
        tool(&["kill", "-INT", &self.recorder.child.id().to_string()]);
        assert_eq!(self.recorder.wait(IN_TIME), Some(0));
    }
}

/// Those notices, or lines of the log, that are of drives which go and come back.
fn of_ours(all: &Value) -> Vec<Value> {
    let is_ours = |of: &&Value| of["kind"].as_str().is_some_and(|kind| kind.starts_with("drive_gone/"));
    all.as_array().expect("a list").iter().filter(is_ours).cloned().collect()
}

#[test]
fn a_vendor_without_consent_in_writing_gets_nothing_and_the_file_is_refused() {
    let scratch = Scratch::new();
    let (web, posts) = web_server();
    let text = format!("receivers: {{log: {{syslog: {{}}}}}}\nvendor: {{webhook: {{url: \"http://{web}/vendor\"}}}}\n");
    let file = scratch.file("r.yaml", &text);
    for words in [&["record", "--for", "1s", "--notify", &file][..], &["notify", "vendor", &file]] {
        let (_, stderr) = expect_exit(&mut stend(&scratch, words), 3);
        assert!(stderr.contains("missing: `consent`") && stderr.contains(CONSENT), "{stderr}");
    }
    let part = format!(
        "receivers: {{log: {{syslog: {{}}}}}}\nvendor: {{webhook: {{url: \"http://{web}/vendor\"}}, consent: {{by: A}}}}\n"
    );
    let file = scratch.file("r.yaml", &part);
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["record", "--notify", &file, "--lang", "ru"]), 3);
    assert!(stderr.contains("не хватает: `on`, `text`") && stderr.contains("Я согласен, что Stend"), "{stderr}");
    let none = scratch.file("none.yaml", "receivers: {log: {syslog: {}}}\n");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["notify", "vendor", &none]), 2);
    assert!(stderr.contains("names no vendor"), "{stderr}");
    assert!(posts.lock().expect("a lock").is_empty() && !scratch.join("stend/runs").exists());
}

#[test]
fn the_first_notice_of_a_kind_waits_for_a_person_and_arrives_byte_for_byte_and_later_ones_go_by_themselves() {
    const TEST: &str =
        "the_first_notice_of_a_kind_waits_for_a_person_and_arrives_byte_for_byte_and_later_ones_go_by_themselves";
    if !root(TEST) {
        return;
    }
    let _turn = host_turn();
    let (web, posts) = web_server();
    let mut world = World::new(&format!("webhook: {{url: \"http://{web}/vendor\"}}, categories: [drive]"));
    let arrived = || posts.lock().expect("a lock").get("/vendor").cloned().unwrap_or_default();
    world.unplug("sdz");
    let (id, kind, bytes) = world.waiting();
    assert_eq!(kind, "drive_gone/opened");
    assert_eq!(arrived(), Vec::<String>::new(), "it waits for a person");
    let (shown, _) = expect_exit(&mut stend(&world.scratch, &["notify", "vendor", &world.file]), 0);
    assert!(shown.contains("consent: A. Customer, 2026-11-29") && shown.contains(&bytes), "{shown}");
    let (_, stderr) = expect_exit(&mut stend(&world.scratch, &["notify", "vendor", &world.file, "--approve", "99"]), 2);
    assert!(stderr.contains("no notice 99 waits"), "{stderr}");
    // A file of the same name with another address has the same queue, and decides nothing of what goes to this one.
    world.scratch.directory("other");
    let text = std::fs::read_to_string(&world.file).expect("the file").replace("/vendor\"", "/elsewhere\"");
    let other = world.scratch.file("other/r.yaml", &text);
    for decision in ["--approve", "--withhold"] {
        let mut decide = stend(&world.scratch, &["notify", "vendor", &other, decision, &id]);
        let (_, stderr) = expect_exit(&mut decide, 4);
        assert!(stderr.contains("/vendor`, and") && stderr.contains("/elsewhere`"), "{stderr}");
    }
    assert!(posts.lock().expect("a lock").is_empty());
    let json: Value = serde_json::from_str(&bytes).expect("JSON");
    let host = json["host"].as_str().expect("a host").to_string();
    assert!(host.starts_with("host-1-"), "{host}");

    world.notices(&["--approve", &id]);
    eventually("it arrives", IN_TIME, || !arrived().is_empty());
    assert_eq!(arrived(), [bytes]);
    // Another one of this kind is not shown before; that a drive is back is of another kind.
    world.unplug("sdy");
    eventually("the next one goes by itself", IN_TIME, || arrived().len() == 2);
    assert!(arrived()[1].contains("\"object\":\"sdy\"") && arrived()[1].contains(&host), "{:?}", arrived());
    world.plug("sdz");
    let (id, kind, _) = world.waiting();
    assert_eq!(kind, "drive_gone/closed");
    assert_eq!(of_ours(&world.notices(&["--withhold", &id])["waiting"]), Vec::<Value>::new());
    world.unplug("sdx");
    eventually("the next one goes by itself", IN_TIME, || arrived().len() == 3);
    world.end();

    assert_eq!(arrived().len(), 3, "what was withheld never goes");
    let log = of_ours(&world.notices(&[])["log"]);
    let lines: Vec<(String, String)> = log
        .iter()
        .map(|line| {
            let word = |name: &str| line[name].as_str().unwrap_or_default().to_string();
            (word("what"), word("kind"))
        })
        .collect();
    let (opened, closed) = ("drive_gone/opened", "drive_gone/closed");
    let expected = [
        ("held", opened),
        ("approved", opened),
        ("sent", opened),
        ("sent", opened),
        ("held", closed),
        ("withheld", closed),
        ("sent", opened),
    ];
    assert_eq!(lines, expected.map(|(what, kind)| (what.to_string(), kind.to_string())));
    let sent = log.iter().filter(|line| line["what"] == "sent").filter_map(|line| line["bytes"].as_str());
    let sent: Vec<&str> = sent.collect();
    assert_eq!(sent, arrived());
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    for text in arrived() {
        let words = text.split(|letter: char| !letter.is_alphanumeric() && !"._-".contains(letter));
        assert!(words.clone().all(|word| word != hostname.trim()), "{text}");
    }
}

#[test]
fn without_a_recorder_an_approved_mail_is_sent_by_the_command_as_it_was_shown() {
    const TEST: &str = "without_a_recorder_an_approved_mail_is_sent_by_the_command_as_it_was_shown";
    if !root(TEST) {
        return;
    }
    let _turn = host_turn();
    let (mail, mails) = mail_server();
    let to = format!(
        "mail: {{to: [support@vendor.example], from: storage@customer.example, server: \"smtp://{mail}\", tls: none}}"
    );
    let mut world = World::new(&to);
    world.unplug("sdz");
    let (id, _, bytes) = world.waiting();
    world.end();
    assert!(mails.lock().expect("a lock").is_empty());
    let (_, stderr) = expect_exit(&mut stend(&world.scratch, &["notify", "vendor", &world.file, "--approve", &id]), 0);
    assert!(stderr.contains("sent"), "{stderr}");
    let mails = mails.lock().expect("a lock");
    assert_eq!(mails.len(), 1);
    let (envelope, data) = mails[0].split_once("From: ").expect("a mail");
    assert_eq!(envelope.lines().count(), 2, "{envelope}");
    assert_eq!(format!("From: {data}"), bytes);
    let text = mail_text(&mails[0]);
    assert!(text.contains("✖ host-1-") && text.contains(": sdz: drive gone (critical)"), "{text}");
}
