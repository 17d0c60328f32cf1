//! What is made for others' monitors, held against a real Prometheus: pages are scraped, every query of the dashboards finds something,
//! every alert rule fires on what is bad and on nothing that is good.

use crate::serve::client::Server;
use crate::support::{self, IN_TIME, Running, Scratch, eventually, expect_exit, stend, tool};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether the packages are installed; without them a named skip, under CI a failure.
fn installed(test: &str) -> bool {
    let there = Command::new("promtool").arg("--version").output().is_ok();
    assert!(there || std::env::var("CI").as_deref() != Ok("true"), "{test} needs the package `prometheus`");
    if !there {
        eprintln!("skipped, needs the package `prometheus`: {test}");
    }
    there
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(in_repository(path)).expect("a file")
}

/// Names of the alert rules.
fn alerts(rules: &str) -> BTreeSet<&str> {
    rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect()
}

#[test]
fn every_alert_rule_fires_on_a_bad_host_and_on_no_good_one() {
    if !installed("every_alert_rule_fires_on_a_bad_host_and_on_no_good_one") {
        return;
    }
    let scratch = Scratch::new();
    // As a user gets them.
    let (rules, _) = expect_exit(&mut stend(&scratch, &["monitoring", "prometheus/rules.yaml"]), 0);
    assert_eq!(rules, read("monitoring/prometheus/rules.yaml"));
    let file = scratch.file("rules.yaml", &rules);
    tool(&["promtool", "check", "rules", "--lint=all", "--lint-fatal", &file]);
    let cases = read("crates/stend/tests/monitoring/rules_test.yaml");
    for alert in alerts(&rules) {
        assert!(cases.contains(&format!("alertname=\"{alert}\"")), "{alert} has no case");
    }
    let cases = scratch.file("rules_test.yaml", &cases.replace("RULES", &file));
    tool(&["promtool", "test", "rules", &cases]);
}

/// Names at this depth below a line, in a file of YAML that is indented by two spaces.
fn names_below<'a>(text: &'a str, line: &str, depth: usize) -> BTreeSet<&'a str> {
    let indent = " ".repeat(depth);
    let below = text.lines().skip_while(|of| *of != line).skip(1);
    let block = below.take_while(|of| of.starts_with(&indent));
    let own = block.filter_map(|of| of.strip_prefix(&indent).filter(|of| !of.starts_with(' ')));
    own.filter_map(|of| of.split_once(':')).map(|(name, _)| name).collect()
}

#[test]
fn the_collector_of_opentelemetry_scrapes_what_a_recording_answers_and_names_what_it_has() {
    let scratch = Scratch::new();
    let (text, _) = expect_exit(&mut stend(&scratch, &["monitoring", "opentelemetry/collector.yaml"]), 0);
    // Each part is used by the pipeline, and the pipeline uses no other.
    for kind in ["receivers", "processors", "exporters"] {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("      {kind}: ["))).expect("a list");
        let used: BTreeSet<&str> = line.trim_end_matches(']').split(", ").collect();
        assert_eq!(names_below(&text, &format!("{kind}:"), 2), used, "{kind}");
    }
    assert_eq!(names_below(&text, "service:", 2), BTreeSet::from(["pipelines"]));
    let documented = read("docs/watching.md");
    assert!(documented.contains("--metrics 9101") && text.contains("targets: [\"127.0.0.1:9101\"]"));
    if !installed("the_collector_of_opentelemetry_scrapes_what_a_recording_answers_and_names_what_it_has") {
        return;
    }
    // Its receiver takes the configuration of Prometheus as it is.
    let own = text.lines().skip_while(|line| *line != "    config:").skip(1);
    let own: String = own.map_while(|line| line.strip_prefix("      ")).map(|line| format!("{line}\n")).collect();
    tool(&["promtool", "check", "config", &scratch.file("prometheus.yaml", &own)]);
}

/// Answers one page of metrics, whose counters grow with every time that it is asked.
fn growing(page: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for (asked, stream) in listener.incoming().flatten().enumerate() {
            answer(stream, &grown(&page, asked as u64));
        }
    });
    address
}

fn answer(mut stream: TcpStream, body: &str) {
    let mut piece = [0; 4096];
    // The whole request is one packet.
    let _ = stream.read(&mut piece);
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

/// Counters of a page after so many steps.
fn grown(page: &str, steps: u64) -> String {
    let mut counts = false;
    let line = |line: &str| {
        if let Some((_, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            counts = kind != "gauge";
        }
        match line.rsplit_once(' ') {
            Some((name, value)) if counts && !line.starts_with('#') => {
                let value: f64 = value.parse().expect("a number");
                format!("{name} {}\n", value * (1 + steps) as f64)
            }
            _ => format!("{line}\n"),
        }
    };
    page.lines().map(line).collect()
}

/// A Prometheus that scrapes these addresses every second, and more jobs as YAML.
fn prometheus(scratch: &Scratch, targets: &[(&str, &str)], more: &str) -> Server {
    let job = |(job, address): &(&str, &str)| {
        format!("  - job_name: {job}\n    static_configs: [{{targets: [\"{address}\"]}}]\n")
    };
    let jobs: String = targets.iter().map(job).collect();
    let rules = in_repository("monitoring/prometheus/rules.yaml");
    let rules = rules.display();
    let text = format!(
        "global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}\nrule_files: [\"{rules}\"]\nscrape_configs:\n{jobs}{more}"
    );
    let configuration = scratch.file("prometheus.yaml", &text);
    // It does not tell which port it got.
    support::on_a_port(|port| {
        let address = format!("127.0.0.1:{port}");
        let mut command = Command::new("prometheus");
        command
            .arg(format!("--config.file={configuration}"))
            .arg(format!("--storage.tsdb.path={}", scratch.directory("tsdb")))
            .arg(format!("--web.listen-address={address}"))
            .args(["--log.level=error", "--web.console.libraries=/nowhere", "--web.console.templates=/nowhere"])
            .stdout(Stdio::null());
        let mut running = Running::new(&mut command);
        let pid = running.child.id();
        let is_up = support::is_ready("Prometheus", &mut running.child, || support::listens(pid, port));
        is_up.then_some(Server { _running: running, address, token: None })
    })
}

/// What a query finds now.
fn found(server: &Server, query: &str) -> Vec<Value> {
    let escaped: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let reply = server.ask(&format!("GET /api/v1/query?query={escaped}"), &[], "");
    // It answers 503 while it starts.
    if reply.status == 503 {
        return Vec::new();
    }
    let document = reply.json();
    assert_eq!(document["status"], "success", "{query}: {document}");
    document["data"]["result"].as_array().cloned().unwrap_or_default()
}

/// A recording of this machine that answers Prometheus, and where.
fn recorder(scratch: &Scratch) -> (Running, String) {
    let mut command = stend(scratch, &["record", "--every", "500ms", "--metrics", "0"]);
    let mut running = Running::new(command.stderr(Stdio::piped()));
    let mut told = BufReader::new(running.child.stderr.take().expect("a stream"));
    let mut line = String::new();
    while !line.starts_with("metrics ") {
        line.clear();
        assert!(told.read_line(&mut line).expect("a line") > 0, "it ended");
    }
    let address = line.trim().rsplit("http://").next().and_then(|rest| rest.split('/').next()).expect("an address");
    (running, address.to_string())
}

/// Queries of a dashboard: of panels, of what is marked, and as labels whose values it lists.
fn queries(board: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let panels = list(&board["panels"]).into_iter().flat_map(|panel| list(&panel["targets"]));
    let mut all: Vec<String> = panels.chain(list(&board["annotations"]["list"])).map(|of| text(&of["expr"])).collect();
    all.extend(list(&board["templating"]["list"]).iter().filter(|of| of["type"] == "query").map(|of| {
        let (series, label) = (text(&of["definition"]), text(&of["name"]));
        let series = series.trim_start_matches("label_values(").trim_end_matches(')').to_string();
        let series = series.rsplit_once(", ").map(|(series, of)| (series.to_string(), of.to_string()));
        let (series, of) = series.expect("series and label");
        assert_eq!(of, label);
        format!("group by ({of}) ({series})")
    }));
    all
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_string()
}

#[test]
fn a_real_prometheus_scrapes_a_recording_and_every_query_of_the_dashboards_finds_something() {
    if !installed("a_real_prometheus_scrapes_a_recording_and_every_query_of_the_dashboards_finds_something") {
        return;
    }
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let (_recorder, live) = recorder(&scratch);
    let [host, run] =
        ["host", "run"].map(|name| growing(read(&format!("crates/report/tests/golden/metrics/{name}.prom"))));
    let server = prometheus(&scratch, &[("live", &live), ("host", &host), ("run", &run)], "");
    let shown = |query: &str| {
        let fill = [("$__rate_interval", "10s"), ("$instance", &host), ("$device", "nvme0n1"), ("$run", "R-1")];
        fill.iter().fold(query.to_string(), |query, (name, value)| query.replace(name, value))
    };
    for board in ["host", "drive", "run"] {
        let (printed, _) = expect_exit(&mut stend(&scratch, &["monitoring", &format!("grafana/en/{board}.json")]), 0);
        assert_eq!(printed, read(&format!("monitoring/grafana/en/{board}.json")));
        let board: Value = serde_json::from_str(&printed).expect("JSON");
        let all = queries(&board);
        assert!(all.len() > 8, "{all:?}");
        for query in all {
            let query = shown(&query);
            eventually(&query, IN_TIME, || !found(&server, &query).is_empty());
        }
    }
    // The page of the real machine is scraped without a complaint, too.
    assert_eq!(found(&server, "up == 1").len(), 3);
    let memory = found(&server, "node_memory_MemTotal_bytes{job=\"live\"}");
    let total = std::fs::read_to_string("/proc/meminfo").expect("a file");
    let kib = total.lines().next().and_then(|line| line.split_whitespace().nth(1)).expect("a size");
    let bytes = kib.parse::<f64>().expect("a number") * 1024.0;
    assert_eq!(memory[0]["value"][1].as_str().and_then(|value| value.parse().ok()), Some(bytes));
    // The rules find what is bad in the page.
    eventually("an alert", IN_TIME, || {
        !found(&server, "ALERTS{alertname=\"ArrayDegraded\",alertstate=\"firing\",job=\"host\"}").is_empty()
    });
}

/// Samples of a page by name and labels, those of a recording without its labels.
fn samples(page: &str) -> BTreeSet<String> {
    let own = |line: &str| {
        let (name, _) = line.rsplit_once(' ').expect("a value");
        let labels = name.split_once("{recording=").map(|(name, rest)| {
            // Neither names of recordings nor those of hosts have a comma.
            let own = rest.splitn(3, ',').nth(2).map_or(String::new(), |own| format!("{{{own}"));
            format!("{name}{own}")
        });
        labels.unwrap_or_else(|| name.to_string())
    };
    page.lines().filter(|line| !line.starts_with('#')).map(own).collect()
}

#[test]
fn the_server_shows_prometheus_each_host_that_is_recorded_now_as_its_recorder_does_and_no_other() {
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let page = || server.get("/metrics");
    let before = page();
    let kind = before.header("content-type").map(String::from);
    assert_eq!((before.status, kind.as_deref()), (200, Some("text/plain; version=0.0.4; charset=utf-8")));
    let text = before.text();
    for line in ["stend_tasks{state=\"queued\"} 0", "stend_recordings 0", "stend_runs_going_on 0"] {
        assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
    }
    assert!(text.contains("stend_scrape_seconds ") && !text.contains("recording="), "{text}");
    let (mut recorder, address) = recorder(&scratch);
    let recorded = Server { _running: Running::new(&mut Command::new("true")), address, token: None };
    let has = |name: &str| page().text().contains(name);
    // Parts come half a second after the first sample.
    eventually("it is on the page", IN_TIME, || has("node_memory_MemTotal_bytes{recording=\"R-"));
    eventually("each series of the recorder is there", IN_TIME, || {
        let shown = samples(&page().text());
        let given = samples(&recorded.ask("GET /metrics", &[], "").text());
        given.len() > 30 && given.is_subset(&shown)
    });
    let open = server.get("/api/v1/open-problems").json();
    let list = server.get("/api/v1/recordings").json();
    assert_eq!(open["recordings"][0]["recording"], list["runs"][0]["name"]);
    if installed("the_server_shows_prometheus_each_host_that_is_recorded_now_as_its_recorder_does_and_no_other") {
        let (address, token) = (&server.address, scratch.file("token", server.token.as_deref().expect("a token")));
        let job = format!(
            "  - job_name: server\n    authorization: {{credentials_file: {token}}}\n    static_configs: [{{targets: [\"{address}\"]}}]\n"
        );
        let prometheus = prometheus(&scratch, &[], &job);
        let query = "node_memory_MemTotal_bytes{job=\"server\",recording!=\"\"} and on(job) up == 1";
        eventually("it is scraped", IN_TIME, || !found(&prometheus, query).is_empty());
    }
    recorder.kill();
    eventually("a recording that ended is gone", IN_TIME, || !has("recording="));
}

#[test]
fn of_many_recordings_the_server_reads_the_newest_and_counts_the_others() {
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let (mut recorder, _) = recorder(&scratch);
    let open = || server.get("/api/v1/open-problems").json();
    eventually("it is read", IN_TIME, || open()["recordings"][0].is_object());
    recorder.kill();
    let runs = scratch.join("stend/runs");
    let paths = || std::fs::read_dir(&runs).expect("runs").flatten().map(|entry| entry.path());
    let of = |end: &str| paths().find(|path| path.to_string_lossy().ends_with(end));
    let (file, log) = (of(".stend").expect("a recording"), of(".stend-wal"));
    // A socket that listens beside a copy of the file is all that tells a recorder that goes on.
    let copied = |at: usize| {
        let to = |end: &str| runs.join(format!("copy-{at}.stend{end}"));
        std::fs::copy(&file, to("")).expect("a copy");
        if let Some(log) = &log {
            std::fs::copy(log, to("-wal")).expect("a copy of its log");
        }
        UnixListener::bind(to(".sock")).expect("a socket")
    };
    let _sockets: Vec<UnixListener> = (0..17).map(copied).collect();
    eventually("the newest are read", IN_TIME, || open()["recordings"].as_array().map(Vec::len) == Some(16));
    assert_eq!(open()["left_out"], 1);
    let page = server.get("/metrics").text();
    assert!(page.lines().any(|line| line == "stend_recordings_left_out 1"), "{page}");
}
