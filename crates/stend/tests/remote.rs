//! `--server`: the command line as a client of `stend serve`. The client has a directory of its own, in which there is no run.

use crate::serve::client::Server;
use crate::support::fixed_run::{FixedRun, two_runs};
use crate::support::*;
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::process::Command;
use std::time::Duration;

const A: &str = "R-20261121T213000Z-aaaa";
const B: &str = "R-20261122T213000Z-bbbb";
const LIMIT: Duration = Duration::from_secs(120);

/// The command line on another machine, as far as its files go.
struct Client<'a> {
    home: Scratch,
    server: &'a Server,
}

impl<'a> Client<'a> {
    fn of(server: &'a Server) -> Client<'a> {
        let home = Scratch::new();
        home.directory("tmp");
        Client { home, server }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = stend(&self.home, words);
        command.args(["--server", &format!("http://{}", self.server.address)]);
        command.env("STEND_TOKEN", self.server.token.as_deref().expect("a token"));
        command.env("TMPDIR", self.home.join("tmp"));
        command
    }

    fn prints(&self, words: &[&str], code: i32) -> (String, String) {
        let printed = expect_exit(&mut self.command(words), code);
        let left = std::fs::read_dir(self.home.join("tmp")).expect("a directory").count();
        assert_eq!(left, 0, "{words:?} left fetched files behind");
        printed
    }
}

#[test]
fn what_reads_runs_prints_over_a_server_what_it_prints_there() {
    let there = Scratch::new();
    two_runs(&there);
    let server = Server::start(&there, &[]);
    let client = Client::of(&server);
    let words: [&[&str]; 15] = [
        &["list"],
        &["list", "--lang", "ru", "--where", "suite contains t"],
        &["list", "--all", "--json"],
        &["show", A],
        &["show", "last", "--json"],
        &["show", "R-20261122", "-v", "--lang", "ru"],
        &["report", A, "-o", "-"],
        &["report", A, "--redact", "--markdown", "-"],
        &["export", A, "--format", "csv"],
        &["export", "last", "--format", "json"],
        &["compare", A, B],
        &["compare", A, B, "--json"],
        &["journal", A],
        &["suites"],
        &["suites", "quick"],
    ];
    for words in words {
        let (local, _) = expect_exit(&mut stend(&there, words), 0);
        assert_eq!(client.prints(words, 0).0, local, "{words:?}");
    }
    // What fails there fails here in the same way.
    for (words, code) in [
        (vec!["show", "no-such"], 2),
        (vec!["show", "R-2026"], 2),
        (vec!["show", A, "--expect", "* p99 < 1ns"], 11),
        (vec!["stop", A], 4),
    ] {
        let (_, local) = expect_exit(&mut stend(&there, &words), code);
        let (_, errors) = client.prints(&words, code);
        assert!(!errors.is_empty() && !local.is_empty(), "{words:?}");
    }
    // A file that was asked for is written here.
    let copy = client.home.join("copy.stend").display().to_string();
    client.prints(&["export", B, "--format", "run", "-o", &copy], 0);
    assert_eq!(show_json(&client.home, copy.as_ref())["run"], B);
}

#[test]
fn the_machine_that_is_looked_at_is_that_of_the_server() {
    let there = Scratch::new();
    let server = Server::start(&there, &[]);
    let client = Client::of(&server);
    let of = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON")["schema"].clone();
    let checkup = output(&mut client.command(&["doctor", "--json"]));
    assert_eq!(of(&String::from_utf8_lossy(&checkup.stdout)), "stend-checkup");
    let (inventory, _) = client.prints(&["inspect", "--quick"], 0);
    assert!(!inventory.is_empty());
    let (_, refused) = client.prints(&["inspect", "/dev/null"], 2);
    assert!(refused.contains("PATH") && refused.contains(&server.address), "{refused}");
}

#[test]
fn an_order_is_carried_out_there_and_ends_here_with_its_exit_code() {
    let there = Scratch::new();
    let server = Server::start(&there, &[]);
    let client = Client::of(&server);
    let (suite, target) = (client.home.file("suite.yaml", SMALL), there.directory("t"));
    let (ahead, _) = client.prints(&["run", &suite, "--on", &target, "--dry-run"], 0);
    assert!(ahead.contains(&target), "{ahead}");
    let (found, told) = client.prints(&["run", &suite, "--on", &target, "--json"], 0);
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    let run = found["run"].as_str().expect("a run");
    assert!(told.contains("task cli-") && there.join(&format!("stend/runs/{run}.stend")).exists(), "{told}");
    assert!(!client.home.join("stend").exists(), "nothing is measured or kept here");
    // What a gate says is the end of both: failed, or too few data to tell.
    let gated = output(&mut client.command(&["run", &suite, "--on", &target, "--expect", "* p99 < 1ns"]));
    let (code, _, errors) = texts(&gated);
    assert!([10, 11].contains(&code) && errors.contains("--expect"), "{code}: {errors}");
    let tasks = server.get("/api/v1/tasks").json();
    let codes: Vec<_> =
        tasks["tasks"].as_array().expect("tasks").iter().map(|task| task["exit_code"].clone()).collect();
    assert_eq!(codes, [code, 0]);
}

#[test]
fn ctrl_c_stops_the_run_on_the_server_and_keeps_what_was_measured() {
    let there = Scratch::new();
    let server = Server::start(&there, &[]);
    let client = Client::of(&server);
    let long = client.home.file("suite.yaml", &SMALL.replace("blocks: 2", "blocks: 300"));
    let target = there.directory("t");
    let mut running = Running::new(&mut client.command(&["run", &long, "--on", &target, "--progress", "plain"]));
    let begun = || {
        let task = server.get("/api/v1/tasks").json()["tasks"][0].clone();
        let run = task["runs"][0].as_str().unwrap_or_default().to_string();
        !run.is_empty() && there.join(&format!("stend/runs/{run}.stend.sock")).exists()
    };
    eventually("it measures", LIMIT, begun);
    expect_exit(Command::new("kill").args(["-INT", &running.child.id().to_string()]), 0);
    assert_eq!(running.wait_as_shell(LIMIT), Some(130));
    let task = server.get("/api/v1/tasks").json()["tasks"][0].clone();
    assert_eq!((&task["state"], &task["exit_code"]), (&"ended".into(), &130.into()), "{task:#}");
    let run = task["runs"][0].as_str().expect("a run").to_string();
    client.prints(&["show", &run], 0);
}

#[test]
fn ctrl_c_while_the_server_takes_an_order_stops_it_there() {
    let there = Scratch::new();
    let server = Server::start(&there, &[]);
    let client = Client::of(&server);
    let long = client.home.file("suite.yaml", &SMALL.replace("blocks: 2", "blocks: 300"));
    let target = there.directory("t");
    let slow = held(&there.join("stend/server/server.db"));
    let mut running = Running::new(&mut client.command(&["run", &long, "--on", &target, "--progress", "plain"]));
    let (mut told, mut line) = (BufReader::new(running.child.stderr.take().expect("a stream")), String::new());
    while !line.starts_with("task cli-") {
        line.clear();
        assert!(told.read_line(&mut line).expect("a line") > 0, "its name was not printed");
    }
    expect_exit(Command::new("kill").args(["-INT", &running.child.id().to_string()]), 0);
    drop(slow);
    assert_eq!(running.wait_as_shell(LIMIT), Some(130));
    let task = server.get("/api/v1/tasks").json()["tasks"][0].clone();
    assert_eq!((&task["state"], &task["exit_code"]), (&"ended".into(), &130.into()), "{task:#}");
}

#[test]
fn a_run_that_somebody_began_there_is_watched_and_stopped_from_here() {
    let there = Scratch::new();
    let server = Server::start(&there, &[]);
    let client = Client::of(&server);
    let long = there.file("suite.yaml", &SMALL.replace("blocks: 2", "blocks: 300"));
    let target = there.directory("t");
    let mut local = Running::new(&mut stend(&there, &["run", &long, "--on", &target, "--progress", "none"]));
    let going_on = || {
        let runs = server.get("/api/v1/runs?state=running").json();
        runs["runs"][0]["name"].as_str().map(String::from)
    };
    eventually("it measures", LIMIT, || going_on().is_some());
    let run = going_on().expect("a run");
    // The file of a run that goes on is a run file, too.
    assert!(client.prints(&["show", &run], 0).0.contains(&run));
    let watcher = Client::of(&server);
    let mut watched = Running::new(&mut watcher.command(&["watch", "last", "--progress", "plain"]));
    let mut told = BufReader::new(watched.child.stderr.take().expect("a stream"));
    assert!(told.read_line(&mut String::new()).expect("a line") > 0);
    // By the end another run is the last.
    let later =
        FixedRun { id: "R-20990101T000000Z-cccc", started_unix: 4_070_908_800, seed: 7, kernel: "6.8.0", iops: 5000.0 };
    later.write(&there.join(&format!("stend/runs/{}.stend", later.id)));
    let (stopped, _) = client.prints(&["stop", &run, "--json"], 0);
    let stopped: serde_json::Value = serde_json::from_str(&stopped).expect("JSON");
    assert_eq!((&stopped["stopped"], &stopped["run"]), (&run.as_str().into(), &run.as_str().into()));
    assert_eq!(local.wait_as_shell(LIMIT), Some(130));
    let mut found = String::new();
    watched.child.stdout.take().expect("a stream").read_to_string(&mut found).expect("findings");
    assert_eq!(watched.wait_as_shell(LIMIT), Some(0));
    assert!(found.contains(&run) && !found.contains(later.id), "{found}");
}

#[test]
fn results_of_another_tool_are_uploaded_and_what_is_wrong_with_a_file_is_told_with_its_line() {
    let there = Scratch::new();
    let server = Server::start(&there, &[]);
    let client = Client::of(&server);
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures/fio-3.33-group.json");
    let (shown, told) = client.prints(&["import", fixture], 0);
    assert!(shown.contains("Imported from what fio-3.33 printed") && told.contains(&server.address), "{shown}{told}");
    let listed = server.get("/api/v1/runs").json();
    assert_eq!(listed["runs"].as_array().expect("runs").len(), 1);
    let broken = client.home.file("broken.json", "{\"jobs\": [\n{]}");
    let (_, errors) = client.prints(&["import", &broken], 3);
    assert!(errors.contains("broken.json:2"), "{errors}");
    client.prints(&["import", fixture, &broken], 2);
    // A program that sends too much, breaks off, or names a file elsewhere leaves nothing behind.
    let token = format!("Authorization: Bearer {}", server.token.as_deref().expect("a token"));
    let post = |name: &str, length: usize| {
        let request = format!("POST /api/v1/imports?name={name}");
        server.ask(&request, &[&token, &format!("Content-Length: {length}")], "{").status
    };
    assert_eq!((post("..%2Fx.json", 1), post("x.json", 65 << 20), post(".x", 1)), (400, 413, 400));
    let kept = std::fs::read_dir(there.join("stend/server")).expect("a directory");
    let left = kept.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with('.')).count();
    assert_eq!(left, 0);
}

#[test]
fn what_cannot_ask_a_server_is_refused_before_anything_is_asked() {
    let home = Scratch::new();
    let none = "http://127.0.0.1:9";
    let refused = |words: &[&str], named: &str| {
        let (_, errors) = expect_exit(stend(&home, words).env("STEND_TOKEN", "stend_secret"), 2);
        assert!(errors.contains(named) && !errors.contains("stend_secret"), "{words:?}: {errors}");
    };
    for verb in
        [&["rm", "last", "--yes"][..], &["record"], &["audit", "t.csv"], &["hosts", "clean", "a"], &["man", "m"]]
    {
        refused(&[verb, &["--server", none]].concat(), "--server");
    }
    for (url, named) in
        [("http://db1:1", "https://db1:1"), ("http://192.0.2.1:1", "encr"), ("127.0.0.1", "not the address")]
    {
        refused(&["list", "--server", url], named);
    }
    let pin = "00".repeat(32);
    refused(&["list", "--server", none, "--server-fingerprint", &pin], "does not encrypt");
    refused(&["list", "--server", "https://127.0.0.1:9", "--server-fingerprint", "00"], "not the fingerprint");
    refused(&["list", "--server-fingerprint", &pin], "no server");
    refused(&["show", "./a.stend", "--server", none], "path");
    refused(&["run", "quick", "--on", "/x", "--force", "--server", none], "--force");
    refused(&["list", "--token-file", "token"], "--server");
    let (_, errors) = expect_exit(&mut stend(&home, &["list", "--server", none]), 2);
    assert!(errors.contains("STEND_TOKEN"), "{errors}");
    // The variable is meant for what asks, warns who means this machine, and does not touch the rest.
    for (words, code) in [(vec!["rm", "last", "--yes"], 2), (vec!["completions", "bash"], 0)] {
        let (_, errors) = expect_exit(stend(&home, &words).env("STEND_SERVER", none), code);
        assert_eq!(errors.contains("STEND_SERVER"), code == 2, "{errors}");
    }
}

/// Answers every connection with these bytes.
fn answering(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            drop(stream.read(&mut [0; 4096]));
            drop(stream.write_all(bytes));
        }
    });
    format!("http://{address}")
}

#[test]
fn what_is_no_server_of_stend_is_called_so_with_its_address() {
    let home = Scratch::new();
    let token = home.file("token", "stend_secret\n");
    let ask = |words: &[&str], url: &str, code: i32| {
        let words = [words, &["--server", url, "--token-file", &token]].concat();
        let (_, errors) = expect_exit(&mut stend(&home, &words), code);
        assert!(errors.contains(url) && !errors.contains("stend_secret"), "{errors}");
    };
    // A port that is taken, so that no other program gets it, and at which no connection is accepted.
    let silent = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&silent, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = SocketAddr::try_from(getsockname(&silent).expect("an address")).expect("an address of the internet");
    ask(&["list"], &format!("http://{address}"), 8);
    let html = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>");
    ask(&["suites"], &html, 8);
    ask(&["show", "last"], &html, 8);
    ask(&["list"], &answering(b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n"), 8);
    ask(&["list"], &answering(b"SSH-2.0-OpenSSH_10\r\n"), 8);
    ask(&["show", "last"], &answering(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\nshort"), 8);
    let there = Scratch::new();
    let server = Server::start(&there, &[]);
    ask(&["list"], &format!("http://{}", server.address), 4);
}

#[test]
fn every_verb_has_its_place_in_the_table_of_what_works_over_a_server() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md")).expect("the page");
    let section = page.split("## The command line over a server").nth(1).expect("the section");
    let table: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    let scratch = Scratch::new();
    let asks = |verb: &str| {
        let (help, _) = expect_exit(&mut stend(&scratch, &[verb, "--help"]), 0);
        help.contains("--server")
    };
    for verb in verbs(&scratch) {
        let name = format!("`{verb}`");
        let row = table.iter().position(|cell| cell.contains(&name)).unwrap_or_else(|| panic!("{name} is in no row"));
        let refused = table.iter().position(|cell| cell.contains("`record`")).expect("the row of what is refused");
        assert_eq!(asks(&verb), row < refused, "the help of {name} and the table differ");
    }
}
