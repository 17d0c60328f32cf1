//! Orders that `stend serve` repeats: the real binary, started by hand where the test cannot wait for a time; which time is due is tested with
//! given clocks in the crate of the server.

use crate::serve::client::{Reply, Server};
use crate::support::*;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(90);

fn ask(server: &Server, token: &str, request: &str, body: &str) -> Reply {
    let headers = [format!("Authorization: Bearer {token}"), format!("Content-Length: {}", body.len())];
    server.ask(request, &[&headers[0], &headers[1]], body)
}

fn order(scratch: &Scratch, more: &[&str]) -> String {
    let (suite, target) = (scratch.file("suite.yaml", SMALL), scratch.directory("t"));
    let words = [&["run", &suite, "--on", &target, "--seed", "7", "--print-order"], more].concat();
    expect_exit(&mut stend(scratch, &words), 0).0
}

fn schedule(server: &Server) -> Value {
    server.get("/api/v1/schedules").json()["schedules"][0].clone()
}

fn settled(server: &Server, times: usize) -> Value {
    eventually(&format!("time {times} is over"), LIMIT, || {
        let all = schedule(server)["times"].as_array().cloned().unwrap_or_default();
        all.len() == times && all.iter().all(|due| due["outcome"] != "running")
    });
    schedule(server)
}

#[test]
fn an_order_is_repeated_compared_with_its_first_result_and_told_of() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let admin = server.token.clone().expect("a token");
    let (hook, got) =
        (scratch.file("hook", "#!/bin/sh\ncat >> \"$0.got\"\necho >> \"$0.got\"\n"), scratch.join("hook.got"));
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let address =
        format!("/api/v1/schedules/nightly?cron=0+2+*+*+*&baseline=first&loss=90&notify={hook}&notify_when=always");
    let order = order(&scratch, &[]);
    let put = ask(&server, &admin, &format!("PUT {address}"), &order);
    assert_eq!(put.status, 201, "{}", put.text());
    let next = put.json()["next_unix"].as_i64().expect("a time");
    assert_eq!(next % 86_400, 2 * 3600);
    assert_eq!(ask(&server, &admin, &format!("PUT {address}"), &order).status, 200, "nothing new");
    assert_eq!(server.get("/api/v1/schedules/nightly/order").text(), order);

    for times in 1..=2 {
        // Two starts within one second would be one task.
        let started = ask(&server, &admin, "POST /api/v1/schedules/nightly/run", "");
        assert_eq!(started.status, 200, "{}", started.text());
        assert_eq!(started.json()["times"][0]["outcome"], "running");
        let is = settled(&server, times);
        let due = &is["times"][0];
        // A machine under tests may be too noisy to tell, but the comparison was made.
        let outcome = due["outcome"].as_str().expect("an outcome");
        assert!(
            if times == 1 { outcome == "passed" } else { ["passed", "undecided", "failed"].contains(&outcome) },
            "{is:#}"
        );
        eventually("the message is delivered", LIMIT, || schedule(&server)["times"][0]["notice"] == "sent");
    }
    let runs = server.get("/api/v1/runs?sort=oldest").json();
    assert_eq!(schedule(&server)["first_run"], runs["runs"][0]["name"]);
    let messages = std::fs::read_to_string(got).expect("messages");
    let messages: Vec<Value> = messages.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!((&messages[0]["schedule"], &messages[0]["due"]["outcome"]), (&"nightly".into(), &"passed".into()));
    let log = server.get("/api/v1/audit-log").json();
    let who: Vec<&str> =
        log["changes"].as_array().expect("changes").iter().filter_map(|entry| entry["who"].as_str()).collect();
    assert!(who.contains(&"schedule nightly") && who.contains(&"admin"), "{who:?}");

    // It is kept, and a paused one has no time.
    let token = server.token.clone();
    drop(server);
    let server = Server { token, ..Server::start(&scratch, &[]) };
    assert_eq!(schedule(&server)["times"].as_array().map(Vec::len), Some(2));
    let paused = ask(&server, &admin, "PUT /api/v1/schedules/nightly?cron=0+2+*+*+*&paused=true", &order).json();
    assert_eq!((&paused["next_unix"], paused["times"].as_array().map(Vec::len)), (&Value::Null, Some(2)));
    assert_eq!(ask(&server, &admin, "DELETE /api/v1/schedules/nightly", "").json()["schedules"], serde_json::json!([]));
    assert_eq!(ask(&server, &admin, "POST /api/v1/schedules/nightly/run", "").status, 404);
}

#[test]
fn a_new_schedule_takes_the_place_of_no_other_one() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let admin = server.token.clone().expect("a token");
    let (first, second) = (order(&scratch, &[]), order(&scratch, &["--expect", "iops > 1"]));
    let put = |words: &str, order: &str| {
        ask(&server, &admin, &format!("PUT /api/v1/schedules/nightly?cron=0+2+*+*+*{words}"), order)
    };
    assert_eq!((put("&new=true", &first).status, put("&new=true", &first).status), (201, 200), "the same once more");
    let before = schedule(&server);
    let refused = put("&new=true", &second);
    assert_eq!((refused.status, refused.json()["code"].as_str()), (409, Some("schedule_exists")));
    assert!(schedule(&server) == before && server.get("/api/v1/schedules/nightly/order").text() == first);
    assert_eq!(put("", &second).status, 200, "who wants to change it may");
}

#[test]
fn an_order_is_carried_out_once_at_a_time_to_come_and_at_no_other() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let admin = server.token.clone().expect("a token");
    let order = order(&scratch, &[]);
    let put = |words: &str| ask(&server, &admin, &format!("PUT /api/v1/schedules/once?{words}"), &order);
    for words in ["at=2020-01-01T00:00", "at=2999-13-01T00:00", "at=tomorrow", "at=2999-01-01T00:00&cron=0+2+*+*+*", ""]
    {
        assert_eq!(put(words).json()["code"], "usage", "{words}");
    }
    let later = put("at=2999-01-01T03:00");
    let at = 32_472_154_800_i64;
    assert_eq!((later.status, later.json()["at_unix"].as_i64()), (201, Some(at)), "{}", later.text());
    assert_eq!((later.json()["next_unix"].as_i64(), later.json()["cron"].clone()), (Some(at), Value::Null));
    assert_eq!(put("at=2999-01-01T03:00Z").status, 200, "the same once more");
    assert_eq!(put("at=2999-01-01T03:00&paused=true").json()["next_unix"], Value::Null);
    // Its time has come: the clock is that of the machine, so the wait is short.
    let soon = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_secs() + 8;
    let soon = stend_base::format::rfc3339(soon as i64);
    assert_eq!(put(&format!("at={soon}")).status, 200);
    let is = settled(&server, 1);
    assert_eq!((&is["times"][0]["outcome"], &is["next_unix"]), (&"passed".into(), &Value::Null), "{is:#}");
    assert_eq!(put(&format!("at={soon}")).status, 200, "it is what it was");
    assert_eq!(put(&format!("at={soon}&loss=7")).json()["code"], "usage", "a time that is over is no new one");
}

#[test]
fn a_gate_that_fails_is_a_problem_and_a_hook_that_fails_is_shown() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let admin = server.token.clone().expect("a token");
    let order = order(&scratch, &["--expect", "iops > 100000000000"]);
    let address = "/api/v1/schedules/nightly?cron=0+2+*+*+*&notify=/bin/false";
    assert_eq!(ask(&server, &admin, &format!("PUT {address}"), &order).status, 201);
    assert_eq!(ask(&server, &admin, "POST /api/v1/schedules/nightly/run", "").status, 200);
    let again = ask(&server, &admin, "POST /api/v1/schedules/nightly/run", "");
    assert_eq!((again.status, again.json()["code"].as_str()), (409, Some("task_conflict")));
    let failed = settled(&server, 1);
    assert_eq!(failed["times"][0]["outcome"], "failed", "{failed:#}");
    eventually("the hook was tried", LIMIT, || schedule(&server)["times"][0]["tries"] == 1);
    let due = schedule(&server)["times"][0].clone();
    assert!(due["notice"] == "pending" && due["notice_error"]["en"].is_string(), "{due:#}");
}

#[test]
fn an_order_that_writes_to_devices_and_a_hook_of_an_operator_are_refused() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let admin = server.token.clone().expect("a token");
    let issued = ask(&server, &admin, "PUT /api/v1/tokens/op?role=operator&days=1", "").json();
    let operator = issued["secret"].as_str().expect("a secret");
    let fine = order(&scratch, &[]);
    let with = |key: &str, value: Value| {
        let mut order: Value = serde_json::from_str(&fine).expect("JSON");
        order[key] = value;
        order.to_string()
    };
    let (suite, target) = (scratch.file("once.yaml", SMALL), scratch.directory("once"));
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--progress", "none", "--name", "once"]), 0);
    let run = server.get("/api/v1/runs").json()["runs"][0]["name"].clone();
    let long = "x".repeat(41);
    for (address, order, status) in [
        ("a?cron=0+2+*+*+*", with("permission", serde_json::json!({"confirm": ["serial:X"]})), 403),
        ("a?cron=0+2+*+*+*", with("permission", serde_json::json!({"commands": true})), 403),
        ("a?cron=0+2+*+*+*", with("output", "/tmp/x.stend".into()), 403),
        ("a?cron=0+2+*+*+*", "{".into(), 422),
        ("a?cron=0+2+*+*+*", serde_json::json!({"order": 1, "resume": run}).to_string(), 403),
        ("a?cron=0+2+*+*+*&baseline=first", with("against", serde_json::json!([scratch.directory("u")])), 403),
        ("a?cron=@daily", fine.clone(), 400),
        ("a", fine.clone(), 400),
        ("a?cron=0+2+*+*+*&notify=/bin/true", fine.clone(), 403),
        (&format!("{long}?cron=0+2+*+*+*"), fine.clone(), 400),
    ] {
        let reply = ask(&server, operator, &format!("PUT /api/v1/schedules/{address}"), &order);
        assert_eq!(reply.status, status, "{address}: {}", reply.text());
    }
    for hook in ["curl", "ftp://x", "/bin/x%20y", "--output=/etc/passwd"] {
        let address = format!("PUT /api/v1/schedules/a?cron=0+2+*+*+*&notify={hook}");
        assert_eq!(ask(&server, &admin, &address, &fine).status, 400, "{hook}");
    }
    assert_eq!(server.get("/api/v1/schedules").json()["schedules"], serde_json::json!([]));
    assert_eq!(ask(&server, operator, "PUT /api/v1/schedules/a?cron=0+2+*+*+*", &fine).status, 201);
    let in_turn = with("against", serde_json::json!([scratch.directory("u")]));
    assert_eq!(ask(&server, operator, "PUT /api/v1/schedules/b?cron=0+2+*+*+*", &in_turn).status, 201);
}
