//! Real answers of `stend serve` held against its OpenAPI document: every address gets values that fit its parameters, and values that do not.

use crate::serve::client::{Reply, Server};
use crate::support::fixed_run::FixedRun;
use crate::support::schema::differences;
use crate::support::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

/// Chooses the values that are sent. Any other one must do as well.
const SEED: u64 = 33;
const A: &str = "R-20260101T000000Z-abcd";
const B: &str = "R-20260102T000000Z-abcd";
/// What pages, shells, databases and parsers stumble over.
const LETTERS: [&str; 16] =
    ["a", "Z", "0", "-", ".", "'", "\"", "<", "&", "%", "\\", "\n", "\0", "ж", "💾", "\u{202e}"];
/// What succeeds only with a problem in the recording, with a run that goes on, or with receivers of messages; other tests have these.
const NEVER_SUCCEED: [&str; 5] = ["acknowledgeProblem", "unacknowledgeProblem", "stopRun", "stopTask", "testNotices"];

/// splitmix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }

    fn text(&mut self) -> String {
        (0..=self.below(40)).map(|_| LETTERS[self.below(LETTERS.len())]).collect()
    }

    /// Values for a parameter of this schema: at its limits, beyond them, and of other types.
    fn values(&mut self, schema: &Value) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut values = match schema["type"].as_str() {
            Some("array") => return self.values(&schema["items"]),
            Some("boolean") => words(&["true", "false", "TRUE", "1", ""]),
            Some("integer") => {
                let (least, most) = (schema["minimum"].as_i64().unwrap_or(0), schema["maximum"].as_u64());
                let most = most.unwrap_or(u64::MAX);
                let mut values = words(&["99999999999999999999", "-1", "1.5", "x", ""]);
                values.extend([least.to_string(), (least - 1).to_string()]);
                values.extend([most.to_string(), (u128::from(most) + 1).to_string()]);
                values
            }
            _ => match schema["enum"].as_array() {
                Some(choices) => {
                    let known = choices.iter().filter_map(Value::as_str);
                    known.chain(["", "no-such"]).map(String::from).collect()
                }
                None => {
                    let long = "x".repeat(1000);
                    let all = ["", "x", "last", "1.2.3", "../../etc/passwd", "-x", "*", "жж", "%2e", "x y", &long];
                    (0..3).map(|_| all[self.below(all.len())].to_string()).collect()
                }
            },
        };
        values.push(self.text());
        values
    }
}

/// A request, and what it is about.
struct Ask {
    operation: Value,
    /// Method and address.
    line: String,
    headers: Vec<String>,
    body: String,
}

/// What there is to ask for.
struct World {
    recording: String,
    /// An order on a directory, and the same on one that is not there: its task fails at once.
    order: String,
    gone: String,
}

impl World {
    /// Five runs and a recording.
    fn new(scratch: &Scratch, server: &Server) -> World {
        let runs = scratch.directory("stend/runs");
        for day in 1..=5 {
            let id = format!("R-202601{day:02}T000000Z-abcd");
            let path = Path::new(&runs).join(format!("{id}.stend"));
            let (started_unix, iops) = (1_767_225_600 + 86_400 * day, 5000.0 + 50.0 * day as f64);
            FixedRun { id: &id, started_unix, seed: 7, kernel: "6.12.0", iops }.write(&path);
        }
        expect_exit(&mut stend(scratch, &["record", "--every", "100ms", "--for", "300ms", "--name", "night"]), 0);
        let list = server.get("/api/v1/recordings").json();
        let recording = list["runs"][0]["name"].as_str().expect("a recording").to_string();
        let (suite, target) = (scratch.file("suite.yaml", SMALL), scratch.directory("t"));
        let words = ["run", &suite, "--on", &target, "--seed", "7", "--print-order"];
        let order = expect_exit(&mut stend(scratch, &words), 0).0;
        let mut gone: Value = serde_json::from_str(&order).expect("an order");
        gone["on"] = json!(["/no/such/place"]);
        World { recording, order, gone: gone.to_string() }
    }

    /// Values with which an operation succeeds.
    fn good(&self, parameter: &Value) -> Vec<String> {
        let text = |text: &str| vec![text.to_string()];
        match parameter["name"].as_str().expect("a name") {
            "run" if parameter["in"] == "path" => text(A),
            "run" => vec![A.into(), B.into()],
            "recording" => text(&self.recording),
            name @ ("task" | "token" | "schedule") => text(&format!("{name}-1")),
            "cron" => text("0 2 * * *"),
            "name" => text("result.json"),
            "problem" => text("1-1"),
            "what" => text("object:sda"),
            "until" => text("1h"),
            "suite" => text("small"),
            "file" => text("/no/such/file"),
            other => panic!("{other} is required, and this test has no value for it"),
        }
    }

    fn bodies(&self, operation: &Value) -> Vec<String> {
        let fixture = |path: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
            std::fs::read_to_string(path).expect("a file of the tree")
        };
        let good = match operation["operationId"].as_str().expect("a name") {
            "audit" => fixture("published/ssd-vs-sas.csv"),
            "import" => fixture("crates/interop/tests/fixtures/fio-3.33-group.json"),
            "putTask" | "putSchedule" => self.gone.clone(),
            _ if operation["requestBody"].is_object() => self.order.clone(),
            _ => return vec![String::new()],
        };
        let wrong = ["", "{}", "[]", "null", "{\"order\": 1}", "ж\0", "a,b\n1,2\n", "- - - -"];
        let deep = "[".repeat(5000);
        [good].into_iter().chain(wrong.map(String::from)).chain([deep]).collect()
    }

    /// Everything that is asked of an operation; what succeeds comes first.
    fn asks(&self, method: &str, path: &str, operation: &Value, draw: &mut Draw) -> Vec<Ask> {
        let parameters = operation["parameters"].as_array().expect("parameters");
        // A schedule needs one of two times; a history of all runs would have those that this test imports.
        let is_of_history = operation["operationId"] == "history";
        let is_needed = |parameter: &&Value| {
            parameter["required"] == true
                || parameter["name"] == "cron"
                || is_of_history && parameter["name"] == "suite"
        };
        let good: Vec<(&Value, String)> = parameters
            .iter()
            .filter(is_needed)
            .flat_map(|parameter| self.good(parameter).into_iter().map(move |value| (parameter, value)))
            .collect();
        let bodies = self.bodies(operation);
        let ask = |values: &[(&Value, String)], more: &str, body: &str| Ask {
            operation: operation.clone(),
            line: format!("{} {}", method.to_uppercase(), address(path, values, more)),
            headers: headers(values),
            body: body.to_string(),
        };
        let mut asks = vec![ask(&good, "", &bodies[0]), ask(&good, "no-such=1", &bodies[0])];
        for parameter in parameters {
            let others: Vec<(&Value, String)> =
                good.iter().filter(|(other, _)| other["name"] != parameter["name"]).cloned().collect();
            let with = |values: &[&str]| {
                let given = values.iter().map(|value| (parameter, value.to_string()));
                others.iter().cloned().chain(given).collect::<Vec<_>>()
            };
            let values = draw.values(&parameter["schema"]);
            asks.extend(values.iter().map(|value| ask(&with(&[value]), "", &bodies[0])));
            if parameter["in"] == "query" {
                asks.push(ask(&with(&[&values[0], &values[1]]), "", &bodies[0]));
                asks.push(ask(&others, "", &bodies[0]));
            }
        }
        asks.extend(bodies[1..].iter().map(|body| ask(&good, "", body)));
        asks
    }
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn address(path: &str, values: &[(&Value, String)], more: &str) -> String {
    let (mut path, mut query) = (path.to_string(), vec![]);
    for (parameter, value) in values {
        let name = parameter["name"].as_str().expect("a name");
        match parameter["in"].as_str() {
            Some("path") => path = path.replace(&format!("{{{name}}}"), &escaped(value)),
            Some("query") => query.push(format!("{name}={}", escaped(value))),
            _ => {}
        }
    }
    query.extend((!more.is_empty()).then(|| more.to_string()));
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// Those of the values that can stand in a header.
fn headers(values: &[(&Value, String)]) -> Vec<String> {
    let in_header = values.iter().filter(|(parameter, _)| parameter["in"] == "header");
    let plain = in_header.filter(|(_, value)| value.bytes().all(|byte| byte.is_ascii_graphic()));
    plain.map(|(parameter, value)| format!("{}: {value}", parameter["name"].as_str().expect("a name"))).collect()
}

/// What an answer has that the document does not.
fn faults(document: &Value, operation: &Value, reply: &Reply) -> Vec<String> {
    let responses = &operation["responses"];
    let named = &responses[reply.status.to_string()];
    let response = match reply.status {
        500.. => return vec!["the server failed".into()],
        400.. if named.is_null() => &responses["default"],
        _ if named.is_null() => return vec!["no such status is documented".into()],
        _ => named,
    };
    let Some(content) = response["content"].as_object() else {
        return if reply.body.is_empty() { vec![] } else { vec!["no body is documented".into()] };
    };
    let media = reply.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
    let Some(content) = content.get(media) else { return vec![format!("{media:?} is not documented")] };
    if content["x-events"].is_object() {
        return events(document, &content["x-events"], &reply.text());
    }
    if !media.ends_with("json") {
        let is_json = |kind: &Value| kind == "object" || kind == "array";
        return if is_json(&content["schema"]["type"]) { vec![format!("{media} is no JSON")] } else { vec![] };
    }
    let Ok(body) = serde_json::from_slice::<Value>(&reply.body) else { return vec!["the body is no JSON".into()] };
    let mut found = differences(document, &content["schema"], &body, "");
    if reply.status >= 400 && body["status"] != reply.status {
        found.push("the problem has another status".into());
    }
    found
}

/// The same of each event of a stream.
fn events(document: &Value, known: &Value, text: &str) -> Vec<String> {
    let of = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let (name, data) = (field("event:"), serde_json::from_str::<Value>(field("data:")).unwrap_or_default());
        match known.get(name) {
            Some(schema) => differences(document, schema, &data, name),
            None => vec![format!("the event {name:?} is not documented")],
        }
    };
    text.split("\n\n").filter(|block| block.contains("data:")).flat_map(of).collect()
}

/// Asks, and says what is wrong; names of operations that succeeded go to `done`.
fn held(server: &Server, document: &Value, ask: &Ask, done: &Mutex<BTreeSet<String>>) -> Vec<String> {
    let token = format!("Authorization: Bearer {}", server.token.as_deref().expect("a token"));
    let length = format!("Content-Length: {}", ask.body.len());
    let mut headers: Vec<&str> = ask.headers.iter().map(String::as_str).collect();
    headers.extend([token.as_str(), length.as_str()]);
    let Ask { operation, line, body, .. } = ask;
    let name = operation["operationId"].as_str().expect("a name");
    // The stream of a run that has ended is whole.
    let reply = match line.contains(A) && name == "events" {
        true => server.ask(line, &headers, body),
        false => server.begun(line, &headers, body),
    };
    if reply.status < 300 {
        done.lock().expect("a lock").insert(name.to_string());
    }
    let found = faults(document, operation, &reply).into_iter();
    let begin: String = body.chars().take(60).collect();
    found.map(|fault| format!("{line} {:?} {begin:?}: {}: {fault}", ask.headers, reply.status)).collect()
}

#[test]
fn every_answer_is_one_that_the_document_describes_whatever_is_asked() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let world = World::new(&scratch, &server);
    let document = server.get("/api/v1/openapi.json").json();
    let (mut draw, done, found) = (Draw(SEED), Mutex::default(), Mutex::new(Vec::new()));
    let mut names = BTreeSet::new();
    // What is made is there before it is asked for, and is taken away last.
    for method in ["put", "post", "get", "delete"] {
        let mut asks = Vec::new();
        for (path, methods) in document["paths"].as_object().expect("paths") {
            let Some(operation) = methods.get(method) else { continue };
            names.insert(operation["operationId"].as_str().expect("a name").to_string());
            asks.extend(world.asks(method, path, operation, &mut draw));
        }
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (asks, server, document, done, found) = (&asks, &server, &document, &done, &found);
                scope.spawn(move || {
                    for ask in asks.iter().skip(thread).step_by(4) {
                        let faults = held(server, document, ask, done);
                        found.lock().expect("a lock").extend(faults);
                    }
                });
            }
        });
    }
    let tasks = server.until("GET /api/v1/task-events", &["event: task"]);
    let mut found = found.into_inner().expect("faults");
    found.extend(faults(&document, &document["paths"]["/api/v1/task-events"]["get"], &tasks));
    assert!(found.is_empty(), "seed {SEED}, {} faults:\n{}", found.len(), found.join("\n"));
    let done = done.into_inner().expect("names");
    let never: Vec<&String> = names.difference(&done).filter(|name| !NEVER_SUCCEED.contains(&name.as_str())).collect();
    assert!(never.is_empty(), "these have no answer but errors: {never:?}");
    eventually("its tasks are over", IN_TIME, || {
        let none = |state: &str| server.get(&format!("/api/v1/tasks?state={state}")).json()["tasks"] == json!([]);
        none("queued") && none("running")
    });
}
