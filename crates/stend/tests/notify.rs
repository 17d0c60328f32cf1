//! What `stend record --notify` tells, held against receivers that take it: web servers, an SMTP server, a log socket, `snmptrapd`.

use crate::support::*;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What arrived, by address.
pub type Arrived = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

/// A web server that keeps what is posted to each address. What is posted to `/once-broken` is refused the first time, and to
/// `/silent` there is never an answer; `/moved` has another address.
pub fn web_server() -> (String, Arrived) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let arrived = Arrived::default();
    let to = arrived.clone();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming().flatten() {
            let (path, body) = posted(&stream);
            let mut arrived = to.lock().expect("a lock");
            let all = arrived.entry(path.clone()).or_default();
            all.push(body);
            let status = match path.as_str() {
                "/once-broken" if all.len() == 1 => "503 Not Now",
                "/moved" => "301 Moved Permanently\r\nLocation: https://127.0.0.1:1/moved",
                _ => "200 OK",
            };
            match path.as_str() {
                "/silent" => silent.push(stream),
                _ => respond(stream, status),
            }
        }
    });
    (address, arrived)
}

/// Address and body of a request; its headers before the body, too, so that a token shows.
fn posted(stream: &TcpStream) -> (String, String) {
    let mut from = BufReader::new(stream);
    let (mut path, mut headers, mut length) = (String::new(), String::new(), 0);
    loop {
        let mut line = String::new();
        from.read_line(&mut line).expect("a line");
        if path.is_empty() {
            path = line.split(' ').nth(1).unwrap_or_default().to_string();
        }
        if let Some(count) = line.to_lowercase().strip_prefix("content-length:") {
            length = count.trim().parse().expect("a length");
        }
        if line.to_lowercase().starts_with("authorization") {
            headers.push_str(&line);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).expect("a body");
    (path, headers + &String::from_utf8(body).expect("UTF-8"))
}

fn respond(mut stream: TcpStream, status: &str) {
    let _ = stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes());
}

/// A server that takes mails by SMTP (RFC 5321) and keeps them, envelope first.
pub fn mail_server() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let mails = Arc::new(Mutex::new(Vec::new()));
    let to = mails.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes away in the middle has sent no mail.
            if let Ok(mail) = one_mail(&stream) {
                to.lock().expect("a lock").push(mail);
            }
        }
    });
    (address, mails)
}

fn one_mail(mut stream: &TcpStream) -> std::io::Result<String> {
    let mut from = BufReader::new(stream);
    let (mut mail, mut is_data, mut line) = (String::new(), false, String::new());
    stream.write_all(b"220 here\r\n")?;
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let word = line.split([' ', ':']).next().unwrap_or_default().trim().to_uppercase();
        let answer: &[u8] = match (is_data, line.trim_end(), word.as_str()) {
            (true, ".", _) => {
                is_data = false;
                b"250 taken\r\n"
            }
            (true, ..) => {
                mail.push_str(&line);
                continue;
            }
            (_, _, "DATA") => {
                is_data = true;
                b"354 go on\r\n"
            }
            (_, _, "QUIT") => {
                stream.write_all(b"221 bye\r\n")?;
                return Ok(mail);
            }
            // Somebody who has left.
            (_, _, "RCPT") if line.contains("gone@example.com") => b"550 no such user\r\n",
            (_, _, "MAIL" | "RCPT") => {
                mail.push_str(&line);
                b"250 ok\r\n"
            }
            _ => b"250 ok\r\n",
        };
        stream.write_all(answer)?;
    }
}

/// The text of a mail, whose last part is base64.
pub fn mail_text(mail: &str) -> String {
    let body: String = mail.split("\r\n\r\n").nth(1).expect("a body").split_whitespace().collect();
    let mut decode =
        Command::new("base64").arg("-d").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("base64");
    decode.stdin.take().expect("a stream").write_all(body.as_bytes()).expect("a text");
    String::from_utf8(decode.wait_with_output().expect("an end").stdout).expect("UTF-8")
}

/// A real receiver of traps, and what it printed so far; `None` where it is not installed.
fn trap_receiver(scratch: &Scratch, test: &str) -> Option<(Running, String, Arc<Mutex<String>>)> {
    let there = Command::new("snmptrapd").arg("--version").output().is_ok();
    assert!(there || std::env::var("CI").as_deref() != Ok("true"), "{test} needs the package `snmptrapd`");
    if !there {
        eprintln!("skipped, needs the package `snmptrapd`: traps of {test}");
        return None;
    }
    let conf =
        "authCommunity log geheim\ncreateUser stend SHA \"auth-secret\" AES \"priv-secret\"\nauthUser log stend\n";
    let conf = scratch.file("snmptrapd.conf", conf);
    Some(on_a_port(|port| listening(scratch, &conf, format!("127.0.0.1:{port}"))))
}

/// A receiver of traps on this address; `None` if another program has the port.
fn listening(scratch: &Scratch, conf: &str, address: String) -> Option<(Running, String, Arc<Mutex<String>>)> {
    let mut command = Command::new("snmptrapd");
    command
        .args(["-f", "-Lo", "-C", "-On", "-m", "", "-c", conf, "-F", "trap %v\\n", &format!("udp:{address}")])
        .env("SNMP_PERSISTENT_DIR", scratch.directory("snmp"))
        .env("SNMPCONFPATH", scratch.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut running = Running::new(&mut command);
    let mut stdout = BufReader::new(running.child.stdout.take().expect("a stream"));
    let told = Arc::new(Mutex::new(String::new()));
    let to = told.clone();
    std::thread::spawn(move || {
        let mut line = String::new();
        while stdout.read_line(&mut line).is_ok_and(|count| count > 0) {
            to.lock().expect("a lock").push_str(&line);
            line.clear();
        }
    });
    // It says its version when it has its port.
    let says = || told.lock().expect("a lock").contains("NET-SNMP version");
    is_ready("snmptrapd", &mut running.child, says).then_some((running, address, told))
}

/// A file of receivers with each way, and their secrets.
fn receivers(scratch: &Scratch, web: &str, mail: &str, log: &str, traps: Option<&str>) -> String {
    let secret = |name: &str, text: &str| scratch.file(name, &format!("{text}\n"));
    let (token, url) = (secret("token", "42:abc"), secret("url", &format!("http://{web}/once-broken")));
    let (community, auth, privacy) =
        (secret("c", "geheim"), secret("auth", "auth-secret"), secret("priv", "priv-secret"));
    let snmp = traps.map_or_else(String::new, |to| {
        format!(
            "  noc: {{snmp: {{to: \"{to}\", community: {{file: {community}}}}}}}\n  \
             noc3: {{snmp: {{to: \"{to}\", user: stend, auth: {{file: {auth}}}, privacy: {{file: {privacy}}}}}}}\n"
        )
    });
    scratch.file(
        "receivers.yaml",
        &format!(
            "lang: both\nreceivers:\n  \
             dead: {{webhook: {{url: \"http://{web}/silent\"}}}}\n  \
             mail: {{mail: {{to: [gone@example.com, ops@example.com, boss@example.com], from: stend@nas, server: \"smtp://{mail}\", tls: none}}}}\n  \
             chat: {{telegram: {{chat: \"-100\", token: {{file: {token}}}, url: \"http://{web}\"}}}}\n  \
             room: {{mattermost: {{url: {{file: {url}}}}}}}\n  \
             am: {{alertmanager: {{url: \"http://{web}\"}}}}\n  \
             hook: {{webhook: {{url: \"http://{web}/hook\", token: {{file: {token}}}}}}}\n  \
             log: {{syslog: {{socket: {log}}}}}\n{snmp}"
        ),
    )
}

/// A recorder that sees a list of drives of ours, in a mount namespace of its own.
pub fn seeing_drives(drives: &str, recorder: &Command) -> Command {
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--propagation",
        "slave",
        "sh",
        "-c",
        "mount --bind \"$0\" /sys/class/block && exec \"$@\"",
        drives,
    ]);
    command.arg(recorder.get_program()).args(recorder.get_args());
    for (name, value) in recorder.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

pub fn next_line(log: &UnixDatagram) -> String {
    log.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
    let mut bytes = [0; 2048];
    let count = loop {
        match log.recv(&mut bytes) {
            // A signal of another test.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            received => break received.expect("a line of the log"),
        }
    };
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}

#[test]
fn a_drive_that_goes_and_comes_back_is_sent_once_each_by_every_way_in_both_languages() {
    const TEST: &str = "a_drive_that_goes_and_comes_back_is_sent_once_each_by_every_way_in_both_languages";
    if !root(TEST) {
        return;
    }
    let _turn = host_turn();
    let scratch = Scratch::new();
    let ((web, posts), (mail, mails)) = (web_server(), mail_server());
    let socket = scratch.join("log").to_string_lossy().into_owned();
    let log = UnixDatagram::bind(&socket).expect("a socket");
    let traps = trap_receiver(&scratch, TEST);
    let file = receivers(&scratch, &web, &mail, &socket, traps.as_ref().map(|(_, address, _)| address.as_str()));

    let drives = scratch.directory("drives");
    let plugged = || scratch.file("drives/sdz/size", "8\n");
    scratch.directory("drives/sdz");
    plugged();
    let recording = scratch.join("n.stend").to_string_lossy().into_owned();
    let words = ["record", "--every", "200ms", "--notify", &file, "-o", &recording];
    let mut command = seeing_drives(&drives, &stend(&scratch, &words));
    let mut running = Running::new(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    eventually("it records", IN_TIME, || std::path::Path::new(&recording).exists());
    std::fs::remove_dir_all(scratch.join("drives/sdz")).expect("the drive");
    let (opened, opened_ru) = (next_line(&log), next_line(&log));
    assert!(opened.starts_with("<26>stend: sdz (critical): drive gone; "), "{opened}");
    assert!(opened_ru.starts_with("<26>stend: sdz (критично): накопитель пропал; "), "{opened_ru}");
    scratch.directory("drives/sdz");
    plugged();
    let (closed, _) = (next_line(&log), next_line(&log));
    assert!(closed.starts_with("<29>stend: sdz (over): "), "{closed}");

    let arrived = |path: &str| posts.lock().expect("a lock").get(path).cloned().unwrap_or_default();
    let limit = Duration::from_secs(60);
    eventually("posts", limit, || {
        ["/bot42:abc/sendMessage", "/api/v2/alerts", "/hook"].iter().all(|path| arrived(path).len() == 2)
            && arrived("/once-broken").len() == 3
    });
    eventually("mails", limit, || mails.lock().expect("a lock").len() == 2);
    let mail = mails.lock().expect("a lock")[0].clone();
    assert!(mail.starts_with("MAIL FROM:<stend@nas>") && mail.contains("RCPT TO:<boss@example.com>"), "{mail}");
    let text = mail_text(&mail);
    assert!(
        text.contains("sdz: drive gone (critical)") && text.contains("sdz: накопитель пропал (критично)"),
        "{text}"
    );
    let hook = arrived("/hook");
    let json = hook[0].strip_prefix("Authorization: Bearer 42:abc\r\n").expect("the token");
    let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!((json["kind"].as_str(), json["problems"][0]["rule"].as_str()), (Some("now"), Some("drive_gone")));
    assert_eq!(json["problems"][0]["happened"], "opened");
    let alert: serde_json::Value = serde_json::from_str(&arrived("/api/v2/alerts")[1]).expect("JSON");
    assert_eq!(
        (alert[0]["labels"]["object"].as_str(), alert[0]["labels"]["severity"].as_str()),
        (Some("sdz"), Some("critical"))
    );
    assert!(arrived("/bot42:abc/sendMessage")[0].contains("\"chat_id\":\"-100\""));
    if let Some((_, _, told)) = &traps {
        let lines = || {
            told.lock()
                .expect("a lock")
                .lines()
                .filter(|line| line.starts_with("trap "))
                .map(String::from)
                .collect::<Vec<_>>()
        };
        eventually("two traps by both versions", limit, || lines().len() == 4);
        for line in lines() {
            assert!(line.contains(".1.3.6.1.4.1.8072.9999.9999.7833.1.5.0 = STRING: \"sdz\""), "{line}");
            assert!(line.contains("7833.1.2.0 = STRING: \"drive_gone\""), "{line}");
        }
        let of = |trap: &str| {
            lines()
                .iter()
                .filter(|line| line.contains(&format!("OID: .1.3.6.1.4.1.8072.9999.9999.7833.0.{trap}")))
                .count()
        };
        assert_eq!((of("1"), of("2")), (2, 2), "{:?}", lines());
    }

    // The receiver that never answers has not kept the others waiting, and its messages stay for the next recording.
    let steps = || -> Vec<serde_json::Value> {
        let (steps, _) = expect_exit(&mut stend(&scratch, &["top", &recording, "--json"]), 0);
        steps.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    eventually("sampling goes on", IN_TIME, || steps().len() > 40);
    tool(&["kill", "-INT", &running.child.id().to_string()]);
    assert_eq!(running.wait(IN_TIME), Some(0));
    let mut said = String::new();
    running.child.stderr.take().expect("a stream").read_to_string(&mut said).expect("text");
    assert!(said.contains("notifies   dead, mail, chat"), "{said}");
    let state = std::fs::read_to_string(scratch.join("stend/notify/receivers/state.json")).expect("the queue");
    let state: serde_json::Value = serde_json::from_str(&state).expect("JSON");
    let waiting: Vec<_> =
        state["queue"].as_array().expect("a list").iter().map(|message| message["receiver"].as_str()).collect();
    assert_eq!(waiting, [Some("dead"), Some("dead")]);
    // A silent receiver is given up after thirty seconds; no sample has waited for that.
    let longest = steps().iter().filter_map(|step| step["span_ns"].as_u64()).max();
    assert!(longest.is_some_and(|span| span < 10_000_000_000), "sampling went on: {longest:?} ns");
    let (journal, _) = expect_exit(&mut stend(&scratch, &["journal", &recording, "--json"]), 0);
    assert!(journal.contains("\"drive_gone\""), "{journal}");
}

#[test]
fn a_test_message_says_who_took_it_and_a_receiver_that_did_not_is_an_error() {
    let scratch = Scratch::new();
    let (web, posts) = web_server();
    let file = scratch.file(
        "r.yaml",
        &format!(
            "receivers:\n  hook: {{webhook: {{url: \"http://{web}/hook\"}}}}\n  log: {{syslog: {{socket: /nowhere/log}}}}\n  \
             closed: {{webhook: {{url: \"http://127.0.0.1:1/\"}}}}\n  lost: {{mattermost: {{url: {{file: /nowhere/url}}}}}}\n"
        ),
    );
    let (stdout, stderr) = expect_exit(&mut stend(&scratch, &["record", "--notify", &file, "--test"]), 4);
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[0], "✔ hook: sent");
    assert!(lines[1].starts_with("✖ log: cannot write to the log `/nowhere/log`: there is no such file"), "{stdout}");
    assert!(lines[2].starts_with("✖ closed: `curl`: curl: (7) "), "{stdout}");
    assert!(lines[3].starts_with("✖ lost: cannot read the secret in `/nowhere/url`"), "{stdout}");
    assert!(stderr.contains("receivers without their message: 3"), "{stderr}");
    let posts = posts.lock().expect("a lock");
    assert!(
        posts["/hook"][0].contains("\"kind\":\"test\"") && posts["/hook"][0].contains("test message of Stend"),
        "{posts:?}"
    );
    assert!(!scratch.join("stend/runs").exists(), "nothing is recorded");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["record", "--test"]), 2);
    assert!(stderr.contains("--notify"), "{stderr}");
    let inline = scratch.file("s.yaml", "receivers: {chat: {telegram: {chat: \"1\", token: abc}}}\n");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["record", "--notify", &inline, "--test"]), 3);
    assert!(stderr.contains("a secret does not stand in this file") && stderr.contains("s.yaml:1"), "{stderr}");
}

#[test]
fn a_receiver_that_has_moved_has_not_taken_its_message() {
    let scratch = Scratch::new();
    let (web, posts) = web_server();
    let file = scratch.file("r.yaml", &format!("receivers: {{hook: {{webhook: {{url: \"http://{web}/moved\"}}}}}}\n"));
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["record", "--notify", &file, "--test"]), 4);
    assert!(stdout.starts_with("✖ hook: the server answers with code 301"), "{stdout}");
    assert_eq!(posts.lock().expect("a lock")["/moved"].len(), 1);
}

#[test]
fn under_sudo_what_is_new_belongs_to_the_user_behind_it() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    if !root("under_sudo_what_is_new_belongs_to_the_user_behind_it") {
        return;
    }
    let scratch = Scratch::new();
    let file = scratch.file("r.yaml", "receivers: {log: {syslog: {socket: /nowhere/log}}}\n");
    let mut record = stend(&scratch, &["record", "--every", "200ms", "--for", "1s", "--notify", &file]);
    record.env("SUDO_UID", "65534").env("SUDO_GID", "65534").env("XDG_DATA_HOME", scratch.join("fresh/share"));
    expect_exit(&mut record, 0);
    for name in
        ["", "/share", "/share/stend", "/share/stend/notify", "/share/stend/notify/r", "/share/stend/notify/r/lock"]
    {
        let found = std::fs::metadata(scratch.join(&format!("fresh{name}"))).expect("it is there");
        assert_eq!((found.uid(), found.gid()), (65534, 65534), "fresh{name}");
    }
    let queue = std::fs::metadata(scratch.join("fresh/share/stend/notify/r")).expect("it is there");
    assert_eq!(queue.permissions().mode() & 0o777, 0o700);
}

/// Debian leaves out the modules that all MIBs stand on (their text is not free): what ours imports of them is beside the test.
#[test]
fn the_mib_is_understood_by_net_snmp_and_names_what_the_traps_carry() {
    if Command::new("snmptranslate").arg("-V").output().is_err() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "needs the package `snmp`");
        eprintln!(
            "skipped, needs the package `snmp`: the_mib_is_understood_by_net_snmp_and_names_what_the_traps_carry"
        );
        return;
    }
    let scratch = Scratch::new();
    let (mib, _) = expect_exit(&mut stend(&scratch, &["monitoring", "snmp/STEND-MIB.txt"]), 0);
    scratch.directory("mibs");
    scratch.file("mibs/STEND-MIB.txt", &mib);
    let folders = format!("{}/tests/monitoring/mibs:{}", env!("CARGO_MANIFEST_DIR"), scratch.join("mibs").display());
    let number = |name: &str| {
        let asked = ["-M", &folders, "-m", "STEND-MIB", "-On", &format!("STEND-MIB::{name}")];
        let out = Command::new("snmptranslate")
            .args(asked)
            .env("SNMP_PERSISTENT_DIR", scratch.path())
            .output()
            .expect("an answer");
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(told.lines().all(|line| line.starts_with("Created directory")), "{name}: {told}");
        String::from_utf8_lossy(&out.stdout).trim().to_string()
    };
    let root = ".1.3.6.1.4.1.8072.9999.9999.7833";
    let traps = ["stendProblemOpened", "stendProblemClosed", "stendTest"];
    let objects = ["Host", "Rule", "Category", "Severity", "Object", "Text", "Advice", "Opened"];
    for (at, name) in (1..).zip(traps) {
        assert_eq!(number(name), format!("{root}.0.{at}"));
    }
    for (at, name) in (1..).zip(objects) {
        assert_eq!(number(&format!("stend{name}")), format!("{root}.1.{at}"));
    }
}
