//! Roles of `stend serve`: who may ask what, who may write to a device, and what the log of changes keeps.

use crate::serve::client::{Reply, Server};
use crate::support::*;
use serde_json::{Value, json};
use std::time::Duration;

const ROLES: [&str; 4] = ["viewer", "operator", "destroyer", "admin"];

/// The least role of every operation, by hand: a change of the table of routes has to be made here, too.
const LEAST: [(&str, &str); 46] = [
    ("health", "viewer"),
    ("runs", "viewer"),
    ("run", "viewer"),
    ("summary", "viewer"),
    ("intervals", "viewer"),
    ("report", "viewer"),
    ("events", "viewer"),
    ("runFile", "viewer"),
    ("stopRun", "operator"),
    ("comparison", "viewer"),
    ("history", "viewer"),
    ("audit", "viewer"),
    ("import", "operator"),
    ("suites", "viewer"),
    ("doctor", "viewer"),
    ("drives", "viewer"),
    ("openapi", "viewer"),
    ("recordings", "viewer"),
    ("recording", "viewer"),
    ("journal", "viewer"),
    ("acknowledgeProblem", "operator"),
    ("unacknowledgeProblem", "operator"),
    ("muteProblem", "operator"),
    ("unmuteProblem", "operator"),
    ("openProblems", "viewer"),
    ("metrics", "viewer"),
    ("testNotices", "admin"),
    ("tasks", "viewer"),
    ("task", "viewer"),
    ("taskOrder", "viewer"),
    ("taskLog", "viewer"),
    ("taskEvents", "viewer"),
    ("me", "viewer"),
    ("validateOrder", "operator"),
    ("dryRunOrder", "operator"),
    ("putTask", "operator"),
    ("stopTask", "operator"),
    ("schedules", "viewer"),
    ("scheduleOrder", "viewer"),
    ("putSchedule", "operator"),
    ("deleteSchedule", "operator"),
    ("runSchedule", "operator"),
    ("tokens", "admin"),
    ("putToken", "admin"),
    ("deleteToken", "admin"),
    ("auditLog", "admin"),
];

fn ask(server: &Server, token: &str, request: &str, body: &str) -> Reply {
    let headers = [format!("Authorization: Bearer {token}"), format!("Content-Length: {}", body.len())];
    server.ask(request, &[&headers[0], &headers[1]], body)
}

fn issued(server: &Server, id: &str, role: &str) -> String {
    let admin = server.token.as_deref().expect("a token");
    let reply = ask(server, admin, &format!("PUT /api/v1/tokens/{id}?role={role}&days=1"), "");
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()["secret"].as_str().expect("a secret").to_string()
}

#[test]
fn every_route_answers_every_role_or_refuses_it_as_the_table_says() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let tokens: Vec<String> = ROLES.iter().map(|role| issued(&server, &format!("the-{role}"), role)).collect();
    let document = server.get("/api/v1/openapi.json").json();
    let mut seen = 0;
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let name = operation["operationId"].as_str().expect("a name");
            let least =
                LEAST.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name} is in no table")).1;
            let least = ROLES.iter().position(|role| *role == least).expect("a role");
            seen += 1;
            for (index, token) in tokens.iter().enumerate() {
                let path = ["{run}", "{recording}", "{task}", "{token}", "{schedule}"]
                    .iter()
                    .fold(path.clone(), |path, name| path.replace(name, "no-such"));
                let query = match name {
                    "putSchedule" => "?cron=0+2+*+*+*",
                    "import" => "?name=result.json",
                    "acknowledgeProblem" | "unacknowledgeProblem" => "?problem=0-0",
                    "muteProblem" => "?what=object%3Asda&until=1h",
                    "unmuteProblem" => "?what=object%3Asda",
                    "testNotices" => "?file=%2Fno%2Fsuch%2Ffile",
                    _ => "",
                };
                // A stream does not end: that it has begun is its answer.
                let token = format!("Authorization: Bearer {token}");
                let line = format!("{} {path}{query}", method.to_uppercase());
                let reply = server.begun(&line, &[&token, "Content-Length: 0"], "");
                assert_eq!(reply.status == 403, index < least, "{line} as {}: {}", ROLES[index], reply.text());
                assert!(reply.status < 500, "{line} as {}: {}", ROLES[index], reply.text());
                if index < least {
                    assert_eq!(reply.json()["code"], "not_allowed");
                    continue;
                }
                if name == "putToken" {
                    // The next role must find it as it was.
                    assert_eq!(server.with_token("DELETE /api/v1/tokens/no-such", &[]).status, 200);
                }
            }
        }
    }
    assert_eq!(seen, LEAST.len());
}

#[test]
fn no_form_of_a_dry_run_executes_a_command_that_an_order_brings() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let operator = issued(&server, "op", "operator");
    let (suite, target, made) = (scratch.file("suite.yaml", SMALL), scratch.directory("t"), scratch.join("made"));
    let shown = made.display();
    let order = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--print-order"]), 0).0;
    let order: Value = serde_json::from_str(&order).expect("an order");
    let values = "values: {v: {pattern: '([0-9]+)', unit: x, meaning: y}}";
    let sources = format!("sources: {{a: {{command: [touch, '{shown}'], {values}}}}}");
    let hosts = format!("hosts: {{a: {{exec: [touch, '{shown}']}}}}");
    for (key, text) in [("sources", sources), ("hosts", hosts)] {
        let mut order = order.clone();
        order[key] = json!({"file": "x.yaml", "text": text});
        for form in ["", "?format=text", "?format=text&lang=ru&color=true"] {
            let reply = ask(&server, &operator, &format!("POST /api/v1/orders/dry-run{form}"), &order.to_string());
            let code = (reply.status, reply.json()["code"].clone());
            assert_eq!(code, (403, json!("not_allowed")), "{key} {form}: {}", reply.text());
        }
    }
    assert!(!made.exists(), "a command was executed");
}

#[test]
fn a_token_ends_when_it_is_deleted_and_the_log_has_every_change_with_its_author() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let (ci, admin) = (issued(&server, "ci", "operator"), server.token.clone().expect("a token"));
    assert_eq!(ask(&server, &ci, "GET /api/v1/me", "").json()["id"], "ci");
    let again = ask(&server, &admin, "PUT /api/v1/tokens/ci?role=admin", "");
    assert_eq!((again.status, again.json()["code"].as_str()), (409, Some("token_exists")));
    let (suite, target) = (scratch.file("suite.yaml", SMALL), scratch.directory("t"));
    let order = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--print-order"]), 0).0;
    assert_eq!(ask(&server, &ci, "PUT /api/v1/tasks/a", &order).status, 201);
    assert_eq!(ask(&server, &ci, "PUT /api/v1/tasks/a", &order).status, 200, "no change, no entry");
    eventually("it ends", Duration::from_secs(90), || server.get("/api/v1/tasks/a").json()["ended_unix"].is_i64());
    assert_eq!(ask(&server, &admin, "DELETE /api/v1/tokens/ci", "").json()["tokens"], json!([]));
    assert_eq!(ask(&server, &ci, "GET /api/v1/me", "").status, 401);
    let log = server.get("/api/v1/audit-log").json();
    let entries: Vec<(&str, &str)> = log["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .map(|entry| (entry["who"].as_str().expect("who"), entry["what"].as_str().expect("what")))
        .collect();
    assert_eq!(
        entries,
        [
            ("admin", "DELETE /api/v1/tokens/ci"),
            ("ci", "PUT /api/v1/tasks/a"),
            ("admin", "PUT /api/v1/tokens/ci?role=operator&days=1"),
        ]
    );
    let page = |query: String| {
        let page = server.get(&format!("/api/v1/audit-log?limit=2{query}")).json();
        (page["changes"].as_array().map(Vec::len), page["changes"][0].clone(), page["next"].clone())
    };
    let number = log["changes"][1]["number"].clone();
    assert_eq!(page(String::new()), (Some(2), log["changes"][0].clone(), number.clone()));
    assert_eq!(page(format!("&cursor={number}")), (Some(1), log["changes"][2].clone(), Value::Null));
    let (made, ended) = (&log["changes"][2], &log["changes"][0]);
    assert!(made["before"] == "" && ended["after"] == "" && made["after"] == ended["before"], "{log:#}");
}

#[test]
fn a_slow_disk_delays_no_other_request_and_a_change_that_the_log_lacks_is_done_with_a_warning() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let operator = issued(&server, "op", "operator");
    let (suite, target) = (scratch.file("suite.yaml", SMALL), scratch.directory("t"));
    let order = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--print-order"]), 0).0;
    let slow = held(&scratch.join("stend/server/users.db"));
    let put = std::thread::scope(|scope| {
        let put = scope.spawn(|| ask(&server, &operator, "PUT /api/v1/tasks/a", &order));
        // Its sender waits for the log, and everybody else for nothing.
        eventually("it is given", IN_TIME, || server.get("/api/v1/tasks/a").status == 200);
        assert_eq!(ask(&server, &operator, "GET /api/v1/me", "").json()["id"], "op");
        put.join().expect("an answer")
    });
    assert_eq!((put.status, put.header("stend-warning")), (201, Some("not_logged")), "{}", put.text());
    drop(slow);
    let log = server.get("/api/v1/audit-log").json();
    assert_eq!((&log["changes"][0]["who"], &log["changes"][0]["what"]), (&json!("op"), &json!("PUT /api/v1/tasks/a")));
    eventually("it ends", IN_TIME, || server.get("/api/v1/tasks/a").json()["ended_unix"].is_i64());
}

#[test]
fn a_stand_is_built_only_for_a_destroyer_who_names_its_drives_after_its_plan() {
    if !root("a_stand_is_built_only_for_a_destroyer_who_names_its_drives_after_its_plan") {
        return;
    }
    let scratch = Scratch::new();
    let device = Loop::new(&scratch, "disk.img", 384 << 20);
    tool(&["mkfs.ext4", "-q", "-F", &device.device]);
    let server = Server::start(&scratch, &[]);
    let (operator, destroyer) = (issued(&server, "op", "operator"), issued(&server, "de", "destroyer"));
    let (id, suite) = (device.identity(&scratch), scratch.file("small.yaml", SMALL));
    let name = format!("built-{}", std::process::id());
    let stand = format!("stand: {name}\ndrives: [{{id: '{id}'}}]\noverwrite: [ext4]\nlayers:\n  - fs: {{type: xfs}}\n");
    let file = scratch.file("s.yaml", &stand);
    let of = |more: &[&str]| {
        let words = [&["run", &suite, "--stand", &file, "--seed", "1"], more].concat();
        expect_exit(&mut stend(&scratch, &words), 0).0
    };
    let order = of(&["--print-order"]);
    let before = tool(&["sha256sum", &device.backing.to_string_lossy()]);
    let typed = id.replace(':', "%3A").replace('/', "%2F");
    let put = |token: &str, query: &str| ask(&server, token, &format!("PUT /api/v1/tasks/a?{query}"), &order);
    let checked = ask(&server, &operator, "POST /api/v1/orders/validate", &order).json();
    assert_eq!((&checked["confirms"], &checked["builds"]), (&json!([id]), &json!(true)));
    let repeated = ask(&server, &destroyer, "PUT /api/v1/schedules/n?cron=0+2+*+*+*", &order);
    assert_eq!((put(&operator, "").status, repeated.status), (403, 403));
    let seen = ask(&server, &destroyer, "POST /api/v1/orders/dry-run", &order);
    assert_eq!(seen.json()["plan"]["drives"][0]["signatures"], json!(["ext4"]), "{}", seen.text());
    let confirmation = seen.header("stend-confirmation").unwrap_or_else(|| panic!("{}", seen.text())).to_string();
    assert_eq!(put(&destroyer, &format!("confirmation={confirmation}")).json()["code"], "not_confirmed");
    assert_eq!(tool(&["sha256sum", &device.backing.to_string_lossy()]), before);
    assert_eq!(server.get("/api/v1/tasks").json()["tasks"], json!([]));
    let taken = put(&destroyer, &format!("confirmation={confirmation}&device={typed}"));
    assert_eq!(taken.status, 201, "{}", taken.text());
    eventually("it ends", Duration::from_secs(120), || server.get("/api/v1/tasks/a").json()["ended_unix"].is_i64());
    let task: Value = server.get("/api/v1/tasks/a").json();
    assert_eq!((&task["state"], &task["exit_code"]), (&"ended".into(), &0.into()), "{task:#}");
    // The run that is resumed would build the stand again.
    let run = task["runs"][0].as_str().expect("a run");
    let resumed = format!("order: 1\nresume: {run}\n");
    let refused = ask(&server, &operator, "PUT /api/v1/tasks/b", &resumed);
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("not_allowed")), "{}", refused.text());

    // The dry run of the command line refuses what the run would refuse.
    tool(&["mkfs.ext4", "-q", "-F", &device.device]);
    assert!(of(&["--dry-run", "--lang", "en"]).contains("mkfs.xfs"));
    tool(&["mkfs.btrfs", "-qf", &device.device]);
    let words = ["run", &suite, "--stand", &file, "--dry-run", "--lang", "en"];
    let (_, told) = expect_exit(&mut stend(&scratch, &words), 5);
    assert!(told.contains("btrfs"), "{told}");
}

#[test]
fn a_run_on_a_stand_is_resumed_by_a_destroyer_who_saw_its_plan() {
    if !root("a_run_on_a_stand_is_resumed_by_a_destroyer_who_saw_its_plan") {
        return;
    }
    let scratch = Scratch::new();
    let device = Loop::new(&scratch, "disk.img", 384 << 20);
    let server = Server::start(&scratch, &[]);
    let destroyer = issued(&server, "de", "destroyer");
    let (id, suite) = (device.identity(&scratch), scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 8")));
    let name = format!("resumed-{}", std::process::id());
    let stand = format!("stand: {name}\ndrives: [{{id: '{id}'}}]\nlayers:\n  - fs: {{type: xfs}}\n");
    let file = scratch.file("s.yaml", &stand);
    // As from another machine: what a person named on the command line is sent with what the server has seen.
    let home = Scratch::new();
    let from_there = |words: &[&str]| {
        let mut command = stend(&home, words);
        command.env("STEND_SERVER", format!("http://{}", server.address)).env("STEND_TOKEN", &destroyer);
        command
    };
    let words = ["run", &suite, "--stand", &file, "--seed", "1", "--progress", "none"];
    let mut running = Running::new(&mut from_there(&words));
    let task = || server.get("/api/v1/tasks").json()["tasks"][0].clone();
    eventually("it measures", Duration::from_secs(90), || {
        let run = task()["runs"][0].as_str().unwrap_or_default().to_string();
        let file = scratch.join(&format!("stend/runs/{run}.stend"));
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().any(|trial| trial.outcome.is_some()))
    });
    expect_exit(std::process::Command::new("kill").args(["-INT", &running.child.id().to_string()]), 0);
    assert_eq!(running.wait_as_shell(Duration::from_secs(90)), Some(130));
    let run = task()["runs"][0].as_str().expect("a run").to_string();
    let seen = ask(&server, &destroyer, "POST /api/v1/orders/dry-run", "order: 1\nresume: last\n");
    assert_eq!(seen.json()["plan"]["drives"][0]["id"], json!(id), "{}", seen.text());
    assert!(seen.status == 200 && seen.header("stend-confirmation").is_some(), "{}", seen.text());
    expect_exit(&mut from_there(&["run", "--resume", "last", "--progress", "none"]), 0);
    assert_eq!((&task()["runs"][0], &task()["exit_code"]), (&json!(run), &json!(0)), "{:#}", task());
}

#[test]
fn a_device_is_written_only_for_a_destroyer_who_names_it_after_a_dry_run() {
    if !root("a_device_is_written_only_for_a_destroyer_who_names_it_after_a_dry_run") {
        return;
    }
    let scratch = Scratch::new();
    let device = Loop::new(&scratch, "disk.img", 96 << 20);
    let server = Server::start(&scratch, &[]);
    let (operator, destroyer) = (issued(&server, "op", "operator"), issued(&server, "de", "destroyer"));
    let (id, suite) = (device.identity(&scratch), scratch.file("small.yaml", SMALL));
    let words = ["run", &suite, "--on", &device.device, "--confirm", &id, "--seed", "1", "--print-order"];
    let order = expect_exit(&mut stend(&scratch, &words), 0).0;
    let sum = || tool(&["sha256sum", &device.backing.to_string_lossy()]);
    let before = sum();
    let typed = id.replace(':', "%3A").replace('/', "%2F");
    let put = |token: &str, confirmation: &str, device: &str| {
        ask(&server, token, &format!("PUT /api/v1/tasks/a?confirmation={confirmation}&device={device}"), &order)
    };
    let dry = |token: &str| ask(&server, token, "POST /api/v1/orders/dry-run", &order);
    assert_eq!((put(&operator, "x", &typed).status, dry(&operator).header("stend-confirmation")), (403, None));
    assert_eq!(put(&destroyer, "x", &typed).json()["code"], "not_confirmed");
    let seen = dry(&destroyer);
    let confirmation = seen.header("stend-confirmation").unwrap_or_else(|| panic!("{}", seen.text())).to_string();
    assert_eq!(put(&destroyer, &confirmation, "serial%3Aother").json()["code"], "not_confirmed");
    // The device gets something that the dry run did not show.
    tool(&["mkfs.ext4", "-q", "-F", &device.device]);
    let changed = put(&destroyer, &confirmation, &typed);
    assert!(
        matches!(changed.json()["code"].as_str(), Some("target_changed" | "signature_not_named")),
        "{}",
        changed.text()
    );
    tool(&["dd", "if=/dev/zero", &format!("of={}", device.device), "bs=1M", "count=96", "oflag=direct", "status=none"]);
    let wiped = sum();
    assert_eq!(server.get("/api/v1/tasks").json()["tasks"], json!([]));
    let confirmation = dry(&destroyer).header("stend-confirmation").expect("a confirmation").to_string();
    let taken = put(&destroyer, &confirmation, &typed);
    assert_eq!(taken.status, 201, "{}", taken.text());
    eventually("it ends", Duration::from_secs(90), || server.get("/api/v1/tasks/a").json()["ended_unix"].is_i64());
    let task: Value = server.get("/api/v1/tasks/a").json();
    assert_eq!((&task["state"], &task["exit_code"]), (&"ended".into(), &0.into()), "{task:#}");
    assert!(before == wiped && sum() != wiped, "nothing but the task has written");
    let log = server.get("/api/v1/audit-log").json();
    assert!(
        log["changes"][0]["who"] == "de"
            && log["changes"][0]["after"].as_str().is_some_and(|after| after.contains(&id)),
        "{log:#}"
    );
}
