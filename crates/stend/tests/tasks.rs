//! Orders given to `stend serve`: the real binary as server and as process of a task, killed at any moment.

use crate::serve::client::{Reply, Server};
use crate::support::*;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Long enough for every build to be caught in the middle.
const LIMIT: Duration = Duration::from_secs(90);

fn order(scratch: &Scratch, suite: &str, target: &str) -> String {
    let (suite, target) = (scratch.file("suite.yaml", suite), scratch.directory(target));
    expect_exit(&mut stend(scratch, &["run", &suite, "--on", &target, "--seed", "7", "--print-order"]), 0).0
}

fn long() -> String {
    SMALL.replace("blocks: 2", "blocks: 300")
}

fn with_body(server: &Server, request: &str, body: &str) -> Reply {
    let token = format!("Authorization: Bearer {}", server.token.as_deref().expect("a token"));
    server.ask(request, &[&token, &format!("Content-Length: {}", body.len())], body)
}

fn put(server: &Server, id: &str, order: &str) -> Reply {
    with_body(server, &format!("PUT /api/v1/tasks/{id}"), order)
}

fn task(server: &Server, id: &str) -> Value {
    server.get(&format!("/api/v1/tasks/{id}")).json()
}

fn wait(server: &Server, id: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let said = format!("{id} {what}");
    eventually(&said, LIMIT, || holds(&task(server, id)));
    task(server, id)
}

fn is_over(task: &Value) -> bool {
    task["ended_unix"].is_i64()
}

/// It has begun a run that can be stopped.
fn measures(scratch: &Scratch, task: &Value) -> bool {
    let run = task["runs"][0].as_str().unwrap_or_default();
    task["state"] == "running" && scratch.join(&format!("stend/runs/{run}.stend.sock")).exists()
}

fn stop(server: &Server, id: &str) -> Reply {
    with_body(server, &format!("POST /api/v1/tasks/{id}/stop"), "")
}

/// The same server again, after `kill -9`.
fn killed_and_started(scratch: &Scratch, server: Server) -> Server {
    let token = server.token.clone();
    drop(server);
    Server { token, ..Server::start(scratch, &[]) }
}

#[test]
fn an_order_is_carried_out_once_however_often_it_is_sent() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let order = order(&scratch, SMALL, "t");
    let checked = with_body(&server, "POST /api/v1/orders/validate", &order).json();
    assert_eq!((checked["schema"].as_str(), &checked["confirms"]), (Some("stend-order-check"), &serde_json::json!([])));
    let preview = with_body(&server, "POST /api/v1/orders/dry-run", &order).json();
    assert_eq!((&preview["trials"], preview["seed"].as_u64()), (&4.into(), Some(7)));
    let (first, second) = (put(&server, "a", &order), put(&server, "a", &order));
    assert_eq!((first.status, second.status), (201, 200), "{}", first.text());
    assert_eq!(put(&server, "a", &order.replace("\"7\"", "\"8\"")).json()["code"], "task_conflict");
    let ended = wait(&server, "a", "ends", is_over);
    assert_eq!((&ended["state"], &ended["exit_code"]), (&"ended".into(), &0.into()), "{ended:#}");
    let runs = ended["runs"].as_array().expect("runs");
    let listed = server.get("/api/v1/runs").json();
    assert!(
        runs.len() == 1 && listed["runs"][0]["name"] == runs[0] && listed["runs"].as_array().expect("runs").len() == 1
    );
    assert!(server.get("/api/v1/tasks/a/log").text().contains("run file"));
    assert_eq!(put(&server, "a", &order).json(), ended);
    assert_eq!(stop(&server, "a").json()["code"], "task_conflict");
    assert_eq!(server.get("/api/v1/tasks?state=ended").json()["tasks"][0], ended);
    assert_eq!(server.get("/api/v1/tasks/b").json()["code"], "task_unknown");
}

#[test]
fn the_drives_are_those_that_inspect_prints_and_an_order_is_kept_as_it_was_sent() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let identities = |inventory: &Value| -> Vec<Value> {
        let devices = inventory["devices"].as_array().expect("devices").iter();
        devices.map(|line| line["device"]["identity"].clone()).collect()
    };
    let look = || -> Value {
        let (printed, _) = expect_exit(&mut stend(&scratch, &["inspect", "--quick", "--json"]), 0);
        serde_json::from_str(&printed).expect("JSON")
    };
    // Drives of other tests come and go meanwhile: what counts is a moment between two looks that see the same.
    let kept = |id: &Value| !id.as_str().is_some_and(|id| id.starts_with("loop:"));
    let of = |inventory: &Value| identities(inventory).into_iter().filter(kept).collect::<Vec<_>>();
    eventually("both print the same drives", IN_TIME, || {
        let before = look();
        let drives = server.get("/api/v1/drives?quick=true");
        assert_eq!((drives.status, drives.json()["host"]["boot_id"].clone()), (200, before["host"]["boot_id"].clone()));
        let [before, between, after] = [of(&before), of(&drives.json()), of(&look())];
        before == between && between == after
    });
    let order = format!("# sent by a person\n{}", order(&scratch, SMALL, "t"));
    assert_eq!(put(&server, "a", &order).status, 201);
    assert_eq!(server.get("/api/v1/tasks/a/order").text(), order);
    assert_eq!(server.get("/api/v1/tasks/b/order").json()["code"], "task_unknown");
    wait(&server, "a", "ends", is_over);
}

#[test]
fn a_task_outlives_its_server_is_found_again_and_can_be_stopped() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let order = order(&scratch, &long(), "t");
    assert_eq!(put(&server, "a", &order).status, 201);
    let before = wait(&server, "a", "measures", |task| measures(&scratch, task));
    let server = killed_and_started(&scratch, server);
    let after = task(&server, "a");
    assert_eq!((&after["state"], &after["runs"]), (&"running".into(), &before["runs"]));
    assert_eq!(put(&server, "a", &order).status, 200);
    assert_eq!(stop(&server, "a").status, 200);
    let ended = wait(&server, "a", "ends", is_over);
    assert_eq!(
        (&ended["state"], &ended["code"], &ended["exit_code"]),
        (&"ended".into(), &"interrupted".into(), &130.into())
    );
    assert_eq!(ended["runs"], before["runs"], "it was not begun twice");
}

#[test]
fn targets_in_turn_are_stopped_in_the_session_that_goes_on() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let suite = SMALL.replace("blocks: 2", "blocks: 4").replace("trial: 400ms", "trial: 1500ms");
    let (suite, t, u) = (scratch.file("suite.yaml", &suite), scratch.directory("t"), scratch.directory("u"));
    let words = ["run", &suite, "--on", &t, "--against", &u, "--seed", "7", "--print-order"];
    put(&server, "a", &expect_exit(&mut stend(&scratch, &words), 0).0);
    let third = wait(&server, "a", "goes on with its first run", |task| task["sessions"] == 3);
    // Each block begins with another target.
    let runs = third["runs"].as_array().expect("runs");
    assert!(runs.len() == 2 && runs.contains(&third["current_run"]), "{third:#}");
    assert_eq!(stop(&server, "a").status, 200);
    let ended = wait(&server, "a", "ends", is_over);
    assert_eq!((&ended["exit_code"], &ended["sessions"]), (&130.into(), &3.into()), "{ended:#}");
    assert_eq!((&ended["state"], &ended["current_run"]), (&"ended".into(), &Value::Null));
}

#[test]
fn the_run_that_is_resumed_is_the_one_that_was_meant_when_the_order_was_sent() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    put(&server, "a", &order(&scratch, &SMALL.replace("blocks: 2", "blocks: 8"), "t"));
    let run = wait(&server, "a", "measures", |task| measures(&scratch, task))["runs"][0].clone();
    stop(&server, "a");
    wait(&server, "a", "ends", is_over);
    let run = run.as_str().expect("a run");
    let path = scratch.join(&format!("stend/runs/{run}.stend")).display().to_string();
    for path in [path.as_str(), "../runs/x.stend", &format!("{run}.stend")] {
        let refused = put(&server, "b", &format!("order: 1\nresume: {path}\n"));
        assert_eq!((refused.status, refused.json()["code"].as_str()), (403, Some("not_allowed")), "{path}");
    }
    let preview = with_body(&server, "POST /api/v1/orders/dry-run", "order: 1\nresume: last\n");
    assert_eq!(preview.json()["trials"], 16, "{}", preview.text());
    assert_eq!(put(&server, "b", "order: 1\nresume: last\n").status, 201);
    assert_eq!(put(&server, "b", "order: 1\nresume: last\n").status, 200);
    let kept: Value = serde_json::from_str(&server.get("/api/v1/tasks/b/order").text()).expect("JSON");
    assert_eq!((&kept["resume"], &task(&server, "b")["work"]), (&run.into(), &run.into()));
    let ended = wait(&server, "b", "ends", is_over);
    assert_eq!((&ended["exit_code"], &ended["runs"][0]), (&0.into(), &run.into()), "{ended:#}");
}

#[test]
fn a_task_that_was_asked_to_end_before_its_run_began_ends_though_the_server_was_killed() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    assert_eq!(put(&server, "a", &order(&scratch, &long(), "t")).status, 201);
    wait(&server, "a", "begins", |task| task["state"] == "running");
    assert_eq!(stop(&server, "a").status, 200);
    let server = killed_and_started(&scratch, server);
    let ended = wait(&server, "a", "ends", is_over);
    assert_eq!((&ended["state"], &ended["exit_code"]), (&"ended".into(), &130.into()), "{ended:#}");
}

#[test]
fn a_process_that_is_killed_while_no_server_looks_is_lost_and_one_that_ends_is_not() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let token = server.token.clone();
    put(&server, "a", &order(&scratch, &long(), "t"));
    let run = wait(&server, "a", "measures", |task| measures(&scratch, task))["runs"][0].clone();
    drop(server);
    let file = scratch.join(&format!("stend/runs/{}.stend", run.as_str().expect("a run")));
    // The one process of this machine that has this task's order on its command line.
    let home = scratch.join("stend/server/tasks/a").display().to_string();
    let (pids, _) = expect_exit(std::process::Command::new("pgrep").args(["-f", &format!("task {home}")]), 0);
    let pid = pids.trim();
    expect_exit(std::process::Command::new("kill").args(["-9", pid]), 0);
    eventually("its worker goes", LIMIT, || {
        std::fs::read_dir(scratch.join("t")).is_ok_and(|mut left| left.next().is_none())
    });
    let server = Server { token, ..Server::start(&scratch, &[]) };
    let lost = wait(&server, "a", "is over", is_over);
    assert_eq!(
        (&lost["state"], &lost["runs"][0], &lost["exit_code"]),
        (&"lost".into(), &run, &Value::Null),
        "{lost:#}"
    );
    assert!(stend_record::store::read(&file).is_ok(), "what was measured is kept");
}

#[test]
fn a_task_waits_for_another_on_the_same_drive_and_leaves_the_queue_on_request() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let (first, second) = (order(&scratch, &long(), "t"), order(&scratch, SMALL, "u"));
    // It does not matter who sends an order.
    let operator = |name: &str| {
        let issued = with_body(&server, &format!("PUT /api/v1/tokens/{name}?role=operator&days=1"), "").json();
        format!("Authorization: Bearer {}", issued["secret"].as_str().expect("a secret"))
    };
    let given = |by: &str, id: &str, order: &str| {
        let length = format!("Content-Length: {}", order.len());
        assert_eq!(server.ask(&format!("PUT /api/v1/tasks/{id}"), &[by, &length], order).status, 201, "{id}");
    };
    let (anna, boris) = (operator("anna"), operator("boris"));
    given(&anna, "a", &first);
    wait(&server, "a", "measures", |task| measures(&scratch, task));
    given(&boris, "b", &second);
    given(&anna, "c", &second);
    let waits = |id: &str| wait(&server, id, "waits", |task| task["reason"].is_object());
    for id in ["b", "c"] {
        let waiting = waits(id);
        assert!(
            waiting["state"] == "queued" && waiting["reason"]["en"].as_str().is_some_and(|why| why.contains("`a`")),
            "{waiting:#}"
        );
    }
    // Pages of the list follow each other, also where the task that one ended with is in another state.
    let page = |query: &str| {
        let page = server.get(&format!("/api/v1/tasks?limit=1{query}")).json();
        (page["tasks"][0]["id"].clone(), page["left_out"].clone(), page["next"].clone())
    };
    assert_eq!(page(""), ("c".into(), 2.into(), "c".into()));
    assert_eq!(page("&cursor=c"), ("b".into(), 1.into(), "b".into()));
    assert_eq!(page("&cursor=b"), ("a".into(), 0.into(), Value::Null));
    assert_eq!(page("&state=running&cursor=c"), ("a".into(), 0.into(), Value::Null));
    assert_eq!(server.get("/api/v1/tasks?cursor=z").json()["code"], "task_unknown");
    // Both survive the server, in their order.
    let server = killed_and_started(&scratch, server);
    let taken = stop(&server, "c").json();
    assert_eq!(
        (&taken["state"], &taken["code"], &taken["runs"]),
        (&"ended".into(), &"interrupted".into(), &serde_json::json!([]))
    );
    assert_eq!(task(&server, "b")["state"], "queued");
    stop(&server, "a");
    wait(&server, "a", "ends", is_over);
    assert_eq!(wait(&server, "b", "ends", is_over)["exit_code"], 0);
}

#[test]
fn an_order_that_no_server_carries_out_or_no_parser_reads_starts_nothing() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let fine: Value = serde_json::from_str(&order(&scratch, SMALL, "t")).expect("JSON");
    let with = |key: &str, value: Value| {
        let mut order = fine.clone();
        order[key] = value;
        order.to_string()
    };
    for (order, status, code) in [
        (with("permission", serde_json::json!({"confirm": ["serial:X"]})), 422, "not_confirmed"),
        (with("permission", serde_json::json!({"commands": true})), 422, "not_confirmed"),
        (with("output", "/etc/passwd.stend".into()), 403, "not_allowed"),
        (with("order", 2.into()), 422, "spec"),
        (with("suite", serde_json::json!({"file": "x.yaml", "text": "suite: 1"})), 422, "spec"),
        (with("expect", serde_json::json!(["x"])), 422, "spec"),
        ("{".repeat(10_000), 422, "spec"),
        (String::new(), 422, "spec"),
    ] {
        let reply = put(&server, "a", &order);
        assert_eq!((reply.status, reply.json()["code"].as_str()), (status, Some(code)), "{order}: {}", reply.text());
    }
    for id in ["..", "a%2Fb", "%00", ".a", "a%20b"] {
        assert_eq!(put(&server, id, &fine.to_string()).status, 400, "{id}");
    }
    assert_eq!(put(&server, "a", &" ".repeat((8 << 20) + 1)).status, 413);
    let missing = with("on", serde_json::json!(["/no/such/place"]));
    let refused = with_body(&server, "POST /api/v1/orders/dry-run", &missing);
    assert!((400..500).contains(&refused.status), "{}", refused.text());
    assert_eq!(server.get("/api/v1/tasks").json()["tasks"], serde_json::json!([]));
    // One whose target is gone is carried out, and fails as its command would.
    put(&server, "b", &missing);
    let failed = wait(&server, "b", "fails", is_over);
    assert_eq!((&failed["state"], &failed["code"]), (&"failed".into(), &refused.json()["code"]), "{failed:#}");
    assert!(failed["reason"]["ru"].as_str().is_some_and(|why| why.contains("/no/such/place")));
}

#[test]
fn a_page_of_another_site_cannot_use_the_cookie_of_a_browser() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let order = order(&scratch, SMALL, "t");
    let form = format!("token={}", server.token.clone().expect("a token"));
    let signed_in = server.ask("POST /login", &[&format!("Content-Length: {}", form.len())], &form);
    let cookie =
        signed_in.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie").to_string();
    let cookie = format!("Cookie: {cookie}");
    let length = format!("Content-Length: {}", order.len());
    let own = format!("Origin: http://{}", server.address);
    let sent =
        |origin: &[&str]| server.ask("PUT /api/v1/tasks/a", &[&[cookie.as_str(), &length], origin].concat(), &order);
    for origin in [&[][..], &["Origin: null"], &["Origin: http://example.org"], &["Origin: http://127.0.0.1"]] {
        let reply = sent(origin);
        assert_eq!((reply.status, reply.json()["code"].as_str()), (403, Some("not_allowed")), "{origin:?}");
    }
    assert_eq!(sent(&[&own]).status, 201);
    wait(&server, "a", "ends", is_over);
}

#[test]
fn changes_of_tasks_are_sent_once_and_readers_that_never_read_stop_nobody() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let token = format!("Authorization: Bearer {}", server.token.clone().expect("a token"));
    let deaf: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.address).expect("a connection");
            let asked = format!("GET /api/v1/task-events HTTP/1.1\r\nHost: localhost\r\n{token}\r\n\r\n");
            stream.write_all(asked.as_bytes()).expect("sent");
            stream
        })
        .collect();
    let order = order(&scratch, SMALL, "t");
    put(&server, "a", &order);
    let ended = wait(&server, "a", "ends", is_over);
    let seen = server.until("GET /api/v1/task-events", &["event: task", "\"ended\""]);
    let ids = |reply: &Reply| -> Vec<String> {
        reply.text().lines().filter_map(|line| line.strip_prefix("id: ").map(String::from)).collect()
    };
    assert_eq!(ids(&seen), [ended["change"].to_string()], "only its newest state");
    put(&server, "b", &order);
    let last = ended["change"].to_string();
    let after = server.until(&format!("GET /api/v1/task-events?after={last}"), &["\"b\"", "\"running\"", "\"ended\""]);
    let numbers: Vec<u64> = ids(&after).iter().map(|id| id.parse().expect("a number")).collect();
    assert!(
        numbers.is_sorted() && numbers.iter().all(|id| *id > ended["change"].as_u64().expect("a number")),
        "{numbers:?}"
    );
    assert_eq!(server.with_token("GET /api/v1/task-events", &["Last-Event-ID: x"]).status, 400);
    for mut stream in deaf {
        stream.set_read_timeout(Some(IN_TIME)).expect("a limit");
        assert!(stream.read(&mut [0; 16]).expect("an answer") > 0);
    }
}

#[test]
fn a_full_disk_is_an_answer_and_neither_a_task_nor_the_server_is_lost() {
    if !root("a_full_disk_is_an_answer_and_neither_a_task_nor_the_server_is_lost") {
        return;
    }
    let scratch = Scratch::new();
    let order = order(&scratch, SMALL, "t");
    let data = scratch.directory("stend");
    expect_exit(std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "none", &data]), 0);
    let _unmounted = Unmounted(data);
    let server = Server::start(&scratch, &[]);
    std::fs::create_dir_all(scratch.join("stend/runs")).expect("a directory");
    let full = scratch.join("stend/full");
    drop(std::fs::write(&full, vec![1; 1 << 20]));
    let reply = put(&server, "a", &order);
    assert_eq!((reply.status, reply.json()["code"].as_str()), (422, Some("preflight")), "{}", reply.text());
    assert_eq!(server.get("/api/v1/tasks").json()["tasks"], serde_json::json!([]));
    std::fs::remove_file(&full).expect("removed");
    assert_eq!(put(&server, "a", &order).status, 201);
    // There is no room for the run, and that is its result.
    let failed = wait(&server, "a", "fails", is_over);
    assert!(failed["state"] == "failed" && failed["reason"].is_object(), "{failed:#}");
    assert_eq!(server.get("/api/v1/health").status, 200);
}

struct Unmounted(String);

impl Drop for Unmounted {
    fn drop(&mut self) {
        drop(std::process::Command::new("umount").args(["-l", &self.0]).status());
    }
}
