//! `stend serve` over TLS as machines beside it meet it: the real binary, certificates of its own and of others, `curl` and our own client.

use crate::serve::client::lines_until;
use crate::support::fixed_run::two_runs;
use crate::support::*;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

const HEALTH: &str = "/api/v1/health";

/// A server that encrypts and ends with the test.
struct Server {
    _running: Running,
    told: Value,
    /// PEM that vouches for it.
    trusted: String,
    port: u16,
}

impl Server {
    /// One that other machines could reach.
    fn own(scratch: &Scratch, more: &[&str]) -> Server {
        Server::start(scratch, &[&["--listen", "0.0.0.0:0"], more].concat(), "")
    }

    fn start(scratch: &Scratch, more: &[&str], trusted: &str) -> Server {
        let mut running = Running::new(&mut stend(scratch, &[&["serve", "--json"], more].concat()));
        let told: Value = serde_json::from_str(&lines_until(&mut running, "}")).expect("JSON");
        let port = told["url"].as_str().and_then(|url| url.trim_end_matches('/').rsplit(':').next()?.parse().ok());
        let trusted = told["certificate"]["file"].as_str().unwrap_or(trusted).to_string();
        Server { port: port.expect("a port"), trusted, told, _running: running }
    }

    fn fingerprint(&self) -> String {
        self.told["certificate"]["fingerprint"].as_str().expect("a fingerprint").to_string()
    }

    fn url(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// Status, head and body of an answer.
    fn curl(&self, path: &str, more: &[&str]) -> (u16, String) {
        let mut command = Command::new("curl");
        let url = if path.contains("://") { path.to_string() } else { self.url() + path };
        command.args(["--silent", "--show-error", "--include", "--max-time", "30", "--noproxy", "*"]);
        command.args(["--cacert", &self.trusted]).args(more).arg(url);
        let (answer, _) = expect_exit(&mut command, 0);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("{answer}")), answer)
    }

    fn token(&self) -> String {
        self.told["token"].as_str().expect("a token").to_string()
    }

    fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token())
    }

    fn health(&self) -> Value {
        let (status, answer) = self.curl(HEALTH, &["--header", &self.bearer()]);
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
    }

    /// The command line on another machine.
    fn client(&self, home: &Scratch, words: &[&str]) -> Command {
        let mut command = stend(home, words);
        command.args(["--server", &self.url()]).env("STEND_TOKEN", self.token());
        command
    }
}

/// A certificate with these names that was valid from 2000 to a day, and its key, in files.
fn pair(scratch: &Scratch, file: &str, names: &[&str], (year, month, day): (i32, u8, u8)) -> [String; 2] {
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    let mut parameters = rcgen::CertificateParams::new(names).expect("names");
    parameters.not_before = rcgen::date_time_ymd(2000, 1, 1);
    parameters.not_after = rcgen::date_time_ymd(year, month, day);
    let key = rcgen::KeyPair::generate().expect("a key");
    let pem = parameters.self_signed(&key).expect("a certificate").pem();
    [scratch.file(&format!("{file}.crt"), &pem), scratch.file(&format!("{file}.key"), &key.serialize_pem())]
}

#[test]
fn a_server_for_other_machines_makes_a_certificate_once_and_clients_pin_it() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let server = Server::own(&scratch, &[]);
    let kept = scratch.join("stend/server/tls.pem");
    assert_eq!(std::fs::metadata(&kept).expect("the key").permissions().mode() & 0o777, 0o600);
    assert!(!std::fs::read_to_string(&server.trusted).expect("a file").contains("PRIVATE"));
    assert_eq!(server.health()["certificate"]["fingerprint"], server.fingerprint());
    let url = server.told["url"].as_str().expect("an address");
    assert!(url.starts_with("https://") && !url.contains("localhost") && !url.contains("0.0.0.0"), "{url}");

    let home = Scratch::new();
    let (listed, _) = expect_exit(&mut stend(&scratch, &["list"]), 0);
    let pinned = ["list", "--server-fingerprint", &server.fingerprint()];
    assert_eq!(expect_exit(&mut server.client(&home, &pinned), 0).0, listed);
    let by_file = expect_exit(server.client(&home, &["list"]).env("STEND_SERVER_CERTIFICATE", &server.trusted), 0);
    assert_eq!(by_file.0, listed);
    let (_, errors) = expect_exit(&mut server.client(&home, &["list"]), 4);
    assert!(errors.contains(&server.fingerprint()) && errors.contains("--server-fingerprint"), "{errors}");
    let (_, told) = expect_exit(&mut server.client(&home, &["list", "--json"]), 4);
    assert!(told.contains("\"server_untrusted\""), "{told}");

    let (first, token) = (server.fingerprint(), server.token());
    drop(server);
    let again = Server::own(&scratch, &[]);
    assert_eq!(again.fingerprint(), first);
    drop(again);
    let mut renewed = Server::own(&scratch, &["--new-certificate"]);
    assert_ne!(renewed.fingerprint(), first);
    renewed.told["token"] = token.into();
    let (_, errors) = expect_exit(&mut renewed.client(&home, &["list", "--server-fingerprint", &first]), 4);
    assert!(errors.contains(&first) && errors.contains(&renewed.fingerprint()), "{errors}");
}

#[test]
fn a_browser_signs_in_over_tls_and_its_cookie_never_leaves_it() {
    let scratch = Scratch::new();
    let server = Server::own(&scratch, &[]);
    let (status, page) = server.curl("/login", &[]);
    assert!(status == 200 && page.contains("/assets/login.js"), "{page}");
    let form = format!("token={}", server.token());
    let (status, answer) = server.curl("/login", &["--data", &form]);
    let lower = answer.to_lowercase();
    let cookie = lower.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    assert!(status == 303 && cookie.starts_with("__host-stend="), "{answer}");
    for word in ["; secure", "; httponly", "; samesite=strict", "; path=/;"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!lower.contains("strict-transport-security"), "it would bind every port of the name: {answer}");
    let session = cookie.split(';').next().expect("a pair").replace("__host-stend", "__Host-stend");
    let asked = |name: &str, more: &[&str]| {
        let path = format!("/api/v1/tokens/{name}?role=viewer");
        server.curl(&path, &[&["--request", "PUT", "--cookie", &session][..], more].concat()).0
    };
    let own = format!("Origin: {}", server.url());
    assert_eq!(asked("a", &["--header", &own]), 201);
    for origin in [own.replace("https", "http"), "Origin: https://evil.example".into(), "Origin: null".into()] {
        assert_eq!(asked("b", &["--header", &origin]), 403, "{origin}");
    }
    assert_eq!(asked("b", &[]), 403);
    let unsafe_name = session.replace("__Host-", "");
    assert_eq!(server.curl(HEALTH, &["--cookie", &unsafe_name]).0, 401, "a neighbour in the domain can set that");
}

#[test]
fn a_request_for_a_name_of_another_site_is_refused() {
    let scratch = Scratch::new();
    let server = Server::own(&scratch, &["--name", "db1.lab"]);
    let of = |host: &str| server.curl(HEALTH, &["--header", &server.bearer(), "--header", &format!("Host: {host}")]).0;
    for host in ["db1.lab", "DB1.lab:8421", "localhost", "127.0.0.1:1"] {
        assert_eq!(of(host), 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "db1.lab.evil.example:8421", "192.0.2.99", "a b", ";"] {
        assert_eq!(of(host), 421, "{host}");
    }
    assert_eq!(server.curl("/login", &["--header", "Host: evil.example"]).0, 421, "not even the page to sign in");
    drop(server);
    // Without encryption as well: a page of another site may have its name point to this machine.
    let plain = Server::start(&scratch, &["--listen", "127.0.0.1:0"], "/dev/null");
    let url = format!("http://127.0.0.1:{}/login", plain.port);
    let asked = |host: &str| {
        let mut command = Command::new("curl");
        command.args(["--silent", "--include", "--noproxy", "*", "--header", &format!("Host: {host}"), &url]);
        expect_exit(&mut command, 0).0
    };
    assert!(asked("127.0.0.1:80").starts_with("HTTP/1.1 200") && asked("evil.example").starts_with("HTTP/1.1 421"));
}

#[test]
fn what_is_no_handshake_leaves_other_connections_alone() {
    let scratch = Scratch::new();
    let server = Server::own(&scratch, &[]);
    let connect = || {
        let stream = TcpStream::connect(("127.0.0.1", server.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        stream
    };
    // Those that say nothing, or only a part, take places and block no other; they are given up.
    let mut silent: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    for stream in silent.iter_mut().step_by(2) {
        stream.write_all(&[22, 3, 1, 2]).expect("sent");
    }
    let said = |bytes: &[u8]| {
        let mut stream = connect();
        // It may be closed before all of it is sent.
        drop(stream.write_all(bytes));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        String::from_utf8_lossy(&answer).into_owned()
    };
    let plain = said(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(plain.starts_with("HTTP/1.1 400") && plain.contains("https://"), "{plain}");
    let noise: Vec<u8> = (0..100_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for bytes in [&noise[..], &[0; 4000], &[22; 4000], &[[22, 3, 3, 0xff, 0xff].as_slice(), &noise[..]].concat()] {
        said(bytes);
    }
    assert_eq!(server.health()["schema"], "stend-health");
    let mut rest = Vec::new();
    // Closed or broken off, and not silent beyond our patience.
    let ended = silent[1].read_to_end(&mut rest).err().map(|error| error.kind());
    assert_ne!(ended, Some(std::io::ErrorKind::WouldBlock), "it still has its place");
}

#[test]
fn wrong_tokens_of_one_machine_do_not_put_off_another() {
    let scratch = Scratch::new();
    let server = Server::own(&scratch, &[]);
    let wrong = |from: &str| {
        let url = format!("https://127.0.0.1:{}{HEALTH}", server.port);
        server.curl(&url, &["--interface", from, "--header", "Authorization: Bearer stend_00"]).0
    };
    assert!((0..10).all(|_| wrong("127.0.0.2") == 401));
    assert_eq!((wrong("127.0.0.2"), wrong("127.0.0.3")), (429, 401));
}

#[test]
fn what_cannot_encrypt_is_refused_before_the_server_listens_or_makes_anything() {
    let scratch = Scratch::new();
    let [good, key] = pair(&scratch, "good", &["localhost"], (2999, 1, 1));
    let [old, old_key] = pair(&scratch, "old", &["localhost"], (2020, 1, 1));
    let [nameless, nameless_key] = pair(&scratch, "nameless", &[], (2999, 1, 1));
    let rubbish = scratch.file("rubbish", "rubbish");
    let refused = |words: &[&str], code, named: &str| {
        let (_, errors) = expect_exit(&mut stend(&scratch, &[&["serve"], words].concat()), code);
        assert!(errors.contains(named), "{words:?}: {errors}");
    };
    let with = |certificate: &str, key: &str, named: &str| {
        refused(&["--listen", "127.0.0.1:0", "--certificate", certificate, "--key", key], 4, named);
    };
    with(&old, &old_key, "old.crt` for TLS: it expired on 2020-01-01");
    with(&good, &old_key, "old.key` for TLS: it is not the key");
    with(&nameless, &nameless_key, "it has no names");
    with(&rubbish, &key, "rubbish` for TLS: it holds no certificate");
    with(&good, &rubbish, "rubbish` for TLS: it holds no private key");
    with(&good, "/absent.key", "/absent.key` for TLS: there is no such file");
    refused(&["--listen", "http://0.0.0.0:0"], 2, "without encryption");
    refused(&["--listen", "http://127.0.0.1:0", "--tls"], 2, "exclude");
    refused(&["--certificate", &good], 2, "--key");
    refused(&["--new-certificate"], 2, "--tls");
    refused(&["--name", "a/b"], 2, "not a name");
    assert!(!scratch.join("stend/server").exists());
}

#[test]
fn a_given_certificate_is_renewed_without_a_restart_and_its_end_is_warned_of() {
    let scratch = Scratch::new();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs();
    let [year, month, day] = stend_base::calendar::date((now / 86_400) as i64 + 7);
    let [certificate, key] = pair(&scratch, "a", &["localhost"], (year as i32, month as u8, day as u8));
    let options = ["--listen", "127.0.0.1:0", "--certificate", &certificate, "--key", &key];
    let server = Server::start(&scratch, &options, &certificate);
    for told in [&server.told, &server.health()] {
        let about = &told["certificate"];
        assert!(about["is_own"] == false && about["warning"]["en"].as_str().is_some_and(|w| w.contains("ends on")));
    }
    let [next, next_key] = pair(&scratch, "b", &["localhost", "new.lab"], (2999, 1, 1));
    let both = std::fs::read_to_string(&certificate).expect("PEM") + &std::fs::read_to_string(&next).expect("PEM");
    let server = Server { trusted: scratch.file("both.pem", &both), ..server };
    std::fs::rename(&next, &certificate).expect("renamed");
    std::fs::rename(&next_key, &key).expect("renamed");
    eventually("the new certificate is used", Duration::from_secs(30), || {
        server.health()["certificate"]["names"] == serde_json::json!(["localhost", "new.lab"])
    });
    let about = server.health()["certificate"].clone();
    assert!(about["warning"].is_null() && about["fingerprint"] != server.fingerprint(), "{about}");
}

#[test]
fn a_restored_server_has_the_certificate_that_clients_know() {
    let scratch = Scratch::new();
    let server = Server::own(&scratch, &[]);
    let archive = scratch.join("server.zip").display().to_string();
    expect_exit(&mut stend(&scratch, &["serve", "backup", &archive]), 0);
    let other = Scratch::new();
    expect_exit(&mut stend(&other, &["serve", "restore", &archive]), 0);
    let mode = std::fs::metadata(other.join("stend/server/tls.pem")).expect("the key").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let restored = Server::start(&other, &["--listen", "127.0.0.1:0", "--tls"], "");
    assert_eq!(restored.fingerprint(), server.fingerprint());
}
