//! `stend serve` as programs, browsers and strangers meet it: the real binary, real run files, requests over a socket.

pub mod client;

use crate::support::fixed_run::two_runs;
use crate::support::*;
use client::{Reply, Server};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const A: &str = "R-20261121T213000Z-aaaa";
const B: &str = "R-20261122T213000Z-bbbb";

fn with_two_runs() -> (Scratch, Server) {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let server = Server::start(&scratch, &[]);
    (scratch, server)
}

/// What a verb prints.
fn printed(scratch: &Scratch, words: &[&str]) -> String {
    expect_exit(&mut stend(scratch, words), 0).0
}

/// Every address of the API that is only read, with a run where one is needed.
fn addresses(server: &Server) -> Vec<String> {
    let document = server.get("/api/v1/openapi.json").json();
    let paths = document["paths"].as_object().expect("paths").iter();
    let read = paths.filter(|(path, methods)| {
        methods["get"].is_object() && !["{task}", "{schedule}", "{recording}"].iter().any(|name| path.contains(name))
    });
    read.map(|(path, _)| path)
        .map(|path| path.replace("{run}", "last").replace("comparisons", &format!("comparisons?run={A}&run={B}")))
        .collect()
}

#[test]
fn the_first_start_shows_the_token_once_and_only_its_hash_is_kept() {
    let scratch = Scratch::new();
    let first = Server::start(&scratch, &[]);
    let token = first.token.clone().expect("a token");
    drop(first);
    let second = Server::start(&scratch, &[]);
    assert_eq!(second.token, None);
    assert_eq!(second.ask("GET /api/v1/health", &[&format!("Authorization: Bearer {token}")], "").status, 200);
    let kept = std::fs::read_to_string(scratch.join("stend/server/token.sha256")).expect("the hash");
    assert!(!kept.contains(token.trim_start_matches("stend_")), "{kept}");
    drop(second);
    let third = Server::start(&scratch, &["--new-token"]);
    assert_eq!(third.ask("GET /api/v1/health", &[&format!("Authorization: Bearer {token}")], "").status, 401);
    assert_eq!(third.get("/api/v1/health").json()["schema"], "stend-health");
    // For people it is a link, and in their language.
    drop(third);
    let mut told = stend(&scratch, &["serve", "--listen", "127.0.0.1:0", "--new-token", "--lang", "ru"]);
    let mut told = Running::new(&mut told);
    let lines = client::lines_until(&mut told, "  stend_");
    assert!(lines.contains("/login#code=once_") && lines.contains("Вход по этой ссылке"), "{lines}");
}

#[test]
fn the_link_of_the_first_start_signs_in_one_browser_and_no_program() {
    let scratch = Scratch::new();
    let mut running = Running::new(&mut stend(&scratch, &["serve", "--listen", "127.0.0.1:0", "--json"]));
    let told: serde_json::Value = serde_json::from_str(&client::lines_until(&mut running, "}")).expect("JSON");
    let (url, link) = (told["url"].as_str().expect("an address"), told["link"].as_str().expect("a link"));
    let address = url.trim_start_matches("http://").trim_end_matches('/').to_string();
    let code = link.strip_prefix(&format!("{url}login#code=")).expect("a code").to_string();
    let server = Server { address, token: Some(code.clone()), _running: running };
    assert_eq!(server.get("/api/v1/me").status, 401, "it is no token");
    let form = format!("token={code}");
    let sign_in = || server.ask("POST /login", &[&format!("Content-Length: {}", form.len())], &form);
    let signed_in = sign_in();
    let cookie = signed_in.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie");
    let me = server.ask("GET /api/v1/me", &[&format!("Cookie: {cookie}")], "").json();
    assert_eq!((&me["id"], &me["role"]), (&"admin".into(), &"admin".into()));
    let again = sign_in();
    assert!(again.status == 401 && again.text().contains("this link was used already"), "{}", again.text());
    assert_eq!(again.header("set-cookie"), None);
}

#[test]
fn every_address_of_the_api_needs_the_token_and_what_is_read_takes_get_alone() {
    let (_scratch, server) = with_two_runs();
    for path in addresses(&server) {
        for headers in [vec![], vec!["Cookie: stend=0123"], vec!["Authorization: Basic eDp5"]] {
            let reply = server.ask(&format!("GET {path}"), &headers, "");
            assert_eq!((reply.status, reply.header("content-type")), (401, Some("application/problem+json")), "{path}");
            assert_eq!(
                (reply.json()["code"].as_str(), reply.header("www-authenticate")),
                (Some("token_refused"), Some("Bearer"))
            );
        }
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let reply = server.with_token(&format!("{method} {path}"), &[]);
            assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD")), "{method} {path}");
        }
        let head = server.with_token(&format!("HEAD {path}"), &[]);
        // Two runs are no history.
        let expected = if path == "/api/v1/history" { 400 } else { 200 };
        assert!(head.status == expected && head.body.is_empty(), "{path}: {}", head.status);
    }
}

#[test]
fn wrong_tokens_are_put_off_and_the_right_one_is_not() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let wrong = || server.ask("GET /api/v1/health", &["Authorization: Bearer stend_00"], "");
    assert!((0..10).all(|_| wrong().status == 401));
    let reply = wrong();
    assert_eq!((reply.status, reply.json()["code"].as_str()), (429, Some("server_busy")));
    let wait: u64 = reply.header("retry-after").and_then(|text| text.parse().ok()).expect("seconds");
    assert!((1..=60).contains(&wait));
    assert_eq!(server.get("/api/v1/health").status, 200);
}

#[test]
fn the_server_answers_what_the_command_line_prints() {
    let (scratch, server) = with_two_runs();
    for (path, words) in [
        ("/api/v1/runs".to_string(), vec!["list", "--json"]),
        (format!("/api/v1/runs/{A}"), vec!["show", A, "--json"]),
        (format!("/api/v1/runs/{A}/report"), vec!["report", A, "-o", "-"]),
        (
            "/api/v1/runs/last/report?lang=ru&full=true".into(),
            vec!["report", "last", "-o", "-", "--lang", "ru", "--full"],
        ),
        (format!("/api/v1/runs/{A}/report?redact=true"), vec!["report", A, "--redact", "-o", "-"]),
        (format!("/api/v1/runs/{A}/report?format=md"), vec!["report", A, "--markdown", "-"]),
        (format!("/api/v1/comparisons?run={A}&run={B}"), vec!["compare", A, B, "--json"]),
        (
            format!("/api/v1/comparisons?run={A}&run={B}&baseline={B}&margin=5%25"),
            vec!["compare", A, B, "--baseline", B, "--margin", "5%", "--json"],
        ),
        ("/api/v1/suites".into(), vec!["suites", "--json"]),
    ] {
        let reply = server.get(&path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        assert!(reply.text() == printed(&scratch, &words), "{path} and {words:?} differ");
    }
    assert_eq!(server.get("/api/v1/doctor").json()["schema"], "stend-checkup");
    let russian = server.with_token(&format!("GET /api/v1/runs/{A}/report"), &["Accept-Language: ru-RU,ru;q=0.9"]);
    assert_eq!(russian.text(), printed(&scratch, &["report", A, "-o", "-", "--lang", "ru"]));
    let book = server.get(&format!("/api/v1/runs/{A}/report?format=xlsx"));
    assert!(book.body.starts_with(b"PK"));
    assert_eq!(book.header("content-disposition"), Some(format!("attachment; filename=\"{A}.xlsx\"").as_str()));
}

#[test]
fn a_summary_counts_what_the_result_holds() {
    let (_scratch, server) = with_two_runs();
    let (summary, result) =
        (server.get(&format!("/api/v1/runs/{A}/summary")).json(), server.get(&format!("/api/v1/runs/{A}")).json());
    let cases = result["cases"].as_array().expect("cases");
    let with = |status: &str| {
        let checks = cases.iter().flat_map(|case| case["checks"].as_array().expect("checks"));
        checks.filter(|check| check["status"] == status).count()
    };
    for (count, status) in [("checks_passed", "pass"), ("checks_warned", "warn"), ("checks_failed", "fail")] {
        assert_eq!(summary[count], with(status), "{count}: {summary}");
    }
    assert_eq!((&summary["run"], &summary["verdict"]), (&result["run"], &result["verdict"]));
    assert_eq!((summary["cases"].as_u64(), summary["publishable"].as_bool()), (Some(cases.len() as u64), Some(false)));
    let telling = summary["telling"].as_array().expect("cases that stand out");
    assert!(!telling.is_empty() && telling.iter().all(|case| cases.iter().any(|known| known["case"] == *case)));
}

#[test]
fn the_console_needs_the_token_and_its_files_are_kept_by_browsers() {
    let (_scratch, server) = with_two_runs();
    for (page, login) in [
        ("/", "/login"),
        ("/runs", "/login?next=/runs"),
        ("/compare?run=A&run=B", "/login?next=/compare%3Frun%3DA%26run%3DB"),
    ] {
        let refused = server.ask(&format!("GET {page}"), &[], "");
        assert_eq!((refused.status, refused.header("location")), (303, Some(login)));
        let shown = server.get(page);
        let tag = shown.header("etag").expect("a tag").to_string();
        assert!(shown.status == 200 && shown.header("cache-control") == Some("private, no-cache"));
        let policy = shown.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(server.with_token(&format!("GET {page}"), &[&format!("If-None-Match: {tag}")]).status, 304);
        let files: Vec<String> =
            shown.text().split('"').filter(|part| part.starts_with("/assets/index-")).map(String::from).collect();
        assert_eq!(files.len(), 2, "{}", shown.text());
        for file in files {
            let file = server.ask(&format!("GET {file}"), &[], "");
            assert!(file.status == 200 && !file.body.is_empty());
            assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
        }
    }
    assert_eq!(server.get("/assets/index-0.js").status, 404);
    assert_eq!(server.ask("GET /runs/a/b", &[], "").status, 401);
}

#[test]
fn a_result_that_has_not_changed_is_not_sent_again() {
    let (_scratch, server) = with_two_runs();
    for path in [
        format!("/api/v1/runs/{A}"),
        format!("/api/v1/runs/{A}/report?format=xlsx"),
        format!("/api/v1/comparisons?run={A}&run={B}"),
    ] {
        let tag = server.get(&path).header("etag").expect("a tag").to_string();
        let again = server.with_token(&format!("GET {path}"), &[&format!("If-None-Match: \"x\", W/{tag}")]);
        assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(tag.as_str())), "{path}");
        let other = server.with_token(&format!("GET {path}"), &["If-None-Match: \"x\""]);
        assert_eq!(other.status, 200);
    }
    let tag = |run: &str| server.get(&format!("/api/v1/runs/{run}")).header("etag").expect("a tag").to_string();
    assert_ne!(tag(A), tag(B));
}

#[test]
fn pages_of_the_list_follow_each_other_and_filters_hold() {
    let (scratch, server) = with_two_runs();
    let names = |path: &str| {
        let page = server.get(path).json();
        let runs = page["runs"].as_array().unwrap_or_else(|| panic!("{page}")).iter();
        (runs.map(|run| run["name"].as_str().expect("a name").to_string()).collect::<Vec<_>>(), page["next"].clone())
    };
    let (first, next) = names("/api/v1/runs?limit=1");
    assert_eq!((first, next.as_str()), (vec![B.to_string()], Some(B)));
    assert_eq!(names(&format!("/api/v1/runs?limit=1&cursor={B}")), (vec![A.to_string()], serde_json::Value::Null));
    let both = vec![B.to_string(), A.to_string()];
    for (query, expected) in [
        ("state=complete", both.clone()),
        ("state=running", vec![]),
        ("target=SRV", both.clone()),
        ("target=nvme", vec![]),
        ("suite=small&state=complete&target=srv", both.clone()),
        ("label=x", vec![]),
        ("text=SMALL", both.clone()),
        ("text=bbbb&sort=rate", vec![B.to_string()]),
        ("text=nothing-is-called-so", vec![]),
        ("sort=oldest", vec![A.to_string(), B.to_string()]),
        ("sort=suite", vec![B.to_string(), A.to_string()]),
        ("sort=oldest&limit=1", vec![A.to_string()]),
    ] {
        assert_eq!(names(&format!("/api/v1/runs?{query}")).0, expected, "{query}");
    }
    assert_eq!(names(&format!("/api/v1/runs?sort=oldest&limit=1&cursor={A}")).0, vec![B.to_string()]);
    // What is remembered of a run goes with its file.
    std::fs::remove_file(scratch.join(&format!("stend/runs/{B}.stend"))).expect("removed");
    assert_eq!(names("/api/v1/runs").0, vec![A.to_string()]);
    assert_eq!(server.get(&format!("/api/v1/runs?cursor={B}")).status, 404);
}

#[test]
fn hostile_requests_get_an_error_and_nothing_else_and_the_server_goes_on() {
    let (scratch, server) = with_two_runs();
    scratch.file("secret.stend", "secret");
    let outside = scratch.join("secret.stend").display().to_string().replace('/', "%2F");
    for run in
        ["..%2F..%2Fsecret", "..%2F..%2Fsecret.stend", &outside, "%2e%2e", "%00", "R-1", "%D0%96", "..", "R-2026"]
    {
        for rest in ["", "/report", "/events", "/file"] {
            let reply = server.get(&format!("/api/v1/runs/{run}{rest}"));
            // Two runs begin with `R-2026`.
            assert!(
                matches!(reply.status, 400 | 404 | 409) && !reply.text().contains("secret\n"),
                "{run}: {}",
                reply.text()
            );
        }
    }
    for (path, status) in [
        ("/api/v1/runs/../../etc/passwd", 404),
        ("/etc/passwd", 404),
        ("/assets/../token.sha256", 404),
        ("/api/v1/runs?limit=1000000", 400),
        ("/api/v1/runs/%zz", 400),
        ("/api/v1/comparisons?run=last", 400),
        (&format!("/api/v1/comparisons?run={A}&run={B}&baseline=x"), 400),
        (&format!("/api/v1/comparisons?{}", "run=last&".repeat(65)), 400),
        (&format!("/api/v1/runs?label={}", "x".repeat(5000)), 414),
        (&format!("/{}", "x".repeat(40_000)), 431),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
    }
    let many: Vec<String> = (0..100).map(|n| format!("X-{n}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(server.with_token("GET /api/v1/health", &many).status, 431);
    assert_eq!(server.with_token("GET /api/v1/health", &[&format!("X: {}", "x".repeat(20_000))]).status, 431);
    let large = format!("token={}", "x".repeat(5000));
    assert_eq!(server.ask("POST /login", &[&format!("Content-Length: {}", large.len())], &large).status, 413);
    // No HTTP at all is answered with 400, or not at all.
    for bytes in
        [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", &[0; 5000]]
    {
        let mut stream = TcpStream::connect(&server.address).expect("a connection");
        drop(stream.write_all(bytes).and_then(|()| stream.shutdown(std::net::Shutdown::Write)));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"), "{}", String::from_utf8_lossy(&answer));
    }
    // A run file that is damaged is named as such, and is no failure of the server.
    std::fs::write(scratch.join("stend/runs/R-20261123T213000Z-cccc.stend"), vec![7; 9000]).expect("a file");
    let reply = server.get("/api/v1/runs/R-20261123T213000Z-cccc");
    assert!(reply.status == 422 && reply.json()["kind"] == "run_file", "{}", reply.text());
    assert_eq!(server.get("/api/v1/runs").json()["runs"][0]["error"]["kind"], "run_file");
}

#[test]
fn connections_that_send_nothing_are_closed_and_keep_nobody_out_for_ever() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    // More than the server takes at the same time: each sends the begin of a request, and no more.
    let mut slow: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.address).expect("a connection");
            stream.write_all(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").expect("sent");
            stream
        })
        .collect();
    assert_eq!(server.get("/api/v1/health").status, 200);
    slow[0].set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
    let mut answer = Vec::new();
    drop(slow[0].read_to_end(&mut answer));
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn a_browser_signs_in_with_the_link_and_scripts_cannot_read_its_cookie() {
    let (_scratch, server) = with_two_runs();
    let token = server.token.clone().expect("a token");
    let to_login = server.ask("GET /", &[], "");
    assert_eq!((to_login.status, to_login.header("location")), (303, Some("/login")));
    let page = server.ask("GET /login", &["Accept-Language: ru"], "");
    assert!(
        page.text().contains("Токен")
            && page.header("content-security-policy").is_some_and(|policy| policy.contains("script-src 'self'"))
    );
    for asset in ["/assets/login.js", "/assets/page.css"] {
        assert_eq!(server.ask(&format!("GET {asset}"), &[], "").status, 200);
    }
    let sign_in = |token: &str| {
        let form = format!("token={token}");
        server.ask("POST /login", &[&format!("Content-Length: {}", form.len())], &form)
    };
    assert!(sign_in("stend_00").status == 401 && sign_in("").header("set-cookie").is_none());
    let signed_in = sign_in(&token);
    let cookie = signed_in.header("set-cookie").expect("a cookie").to_string();
    assert!(signed_in.status == 303 && cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(&token), "the cookie is no token");
    let cookie = format!("Cookie: other=1; {}", cookie.split(';').next().expect("its value"));
    let with_cookie = |request: &str| server.ask(request, &[&cookie], "");
    assert!(with_cookie("GET /api").text().contains("/api/v1/runs/{run}/report"));
    let report = with_cookie(&format!("GET /api/v1/runs/{A}/report"));
    assert!(
        report
            .header("content-security-policy")
            .is_some_and(|policy| policy.starts_with("default-src 'none'; style-src 'unsafe-inline'"))
    );
    assert_eq!(
        (report.header("x-content-type-options"), report.header("referrer-policy")),
        (Some("nosniff"), Some("no-referrer"))
    );
    assert_eq!(with_cookie("POST /logout").header("location"), Some("/login"));
    assert_eq!(with_cookie("GET /api/v1/runs").status, 401);
}

/// `id` and name of every event that came.
fn events(reply: &Reply) -> Vec<(String, String, serde_json::Value)> {
    let text = reply.text();
    let blocks = text.split("\n\n").filter(|block| block.contains("data: "));
    let field = |block: &str, name: &str| {
        block.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_string()
    };
    let parsed =
        |block: &str| serde_json::from_str(&field(block, "data:")).unwrap_or_else(|error| panic!("{error}: {block}"));
    blocks.map(|block| (field(block, "id:"), field(block, "event:"), parsed(block))).collect()
}

#[test]
fn a_run_is_followed_as_it_goes_on_and_who_comes_back_misses_nothing() {
    let scratch = Scratch::new();
    let suite = scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 40"));
    let (target, file) = (scratch.directory("t"), scratch.join("r.stend"));
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy(), "--progress", "none"];
    let mut run = Running::new(stend(&scratch, &words).stdout(std::process::Stdio::null()));
    eventually("a trial", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().any(|t| t.outcome.is_some()))
    });
    let server = Server::start(&scratch, &[]);
    assert_eq!(server.get("/api/v1/runs?state=running").json()["runs"][0]["going_on"], true);
    // The first reader goes after a second and a picture of the run.
    let first = server.until("GET /api/v1/runs/last/events", &["event: second", "event: progress"]);
    assert_eq!(first.header("content-type"), Some("text/event-stream"));
    let before = events(&first);
    let last_id = before.iter().rev().find(|(id, ..)| !id.is_empty()).expect("an id").0.clone();
    expect_exit(&mut stend(&scratch, &["stop", &file.to_string_lossy()]), 0);
    run.wait(Duration::from_secs(60));
    let header = format!("Last-Event-ID: {last_id}");
    let after = events(&server.with_token("GET /api/v1/runs/last/events", &[&header]));
    let all = events(&server.get("/api/v1/runs/last/events"));
    let kept = |of: &[(String, String, serde_json::Value)], name: &str| {
        of.iter().filter(|(_, kind, _)| kind == name).map(|(.., data)| data.to_string()).collect::<Vec<_>>()
    };
    for name in ["recorded", "second"] {
        let joined = [kept(&before, name), kept(&after, name)].concat();
        assert!(!joined.is_empty() && joined == kept(&all, name), "{name}: {joined:?}\n{:?}", kept(&all, name));
    }
    let record = stend_record::store::read(&file).expect("the run");
    assert_eq!(kept(&all, "recorded").len(), record.events.len());
    for (.., second) in all.iter().filter(|(_, kind, _)| kind == "second") {
        let number = |name: &str| second[name].as_u64().expect("a number");
        let begun = record.trials[number("trial") as usize].started.saturating_sub(record.events[0].at);
        assert_eq!(number("elapsed_ns"), begun.0 + number("second") * 1_000_000_000, "{second}");
    }
    assert_eq!(
        all.last().map(|(_, name, data)| (name.as_str(), data["state"].as_str())),
        Some(("finished", Some("ended")))
    );
    // Who has everything need not come again.
    let end = all.last().expect("the end").0.clone();
    assert_eq!(server.get(&format!("/api/v1/runs/last/events?after={end}")).status, 204);
    assert_eq!(server.with_token("GET /api/v1/runs/last/events", &["Last-Event-ID: x"]).status, 400);
}

#[test]
fn the_examples_of_the_page_about_the_api_run_as_they_are_written() {
    let (scratch, server) = with_two_runs();
    let page = include_str!("../../../docs/api.md");
    for (language, program) in [("python", "python3"), ("sh", "bash")] {
        let fence = format!("```{language}\n");
        let blocks: Vec<&str> = page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(!blocks.is_empty(), "{language}");
        let found = |name: &str| std::process::Command::new(name).arg("--version").output().is_ok();
        if !found(program) || language == "sh" && !found("curl") {
            eprintln!("skipped, needs {program} (and curl): the {language} example of docs/api.md");
            continue;
        }
        for block in blocks {
            let file = scratch.file("example", block);
            // What the page says is there already.
            scratch.file("suite.yaml", SMALL);
            scratch.directory("target");
            let words = ["run", "suite.yaml", "--on", "target", "--print-order"];
            let order = expect_exit(stend(&scratch, &words).current_dir(scratch.path()), 0).0;
            scratch.file("order.json", &order);
            let mut command = std::process::Command::new(program);
            command.arg(file).current_dir(scratch.path());
            let path = std::env::var("PATH").unwrap_or_default();
            let bin = std::path::Path::new(env!("CARGO_BIN_EXE_stend")).parent().expect("a directory").display();
            command
                .env("PATH", format!("{bin}:{path}"))
                .env("XDG_DATA_HOME", scratch.path())
                .env("STEND_URL", format!("http://{}", server.address))
                .env("STEND_TOKEN", server.token.clone().expect("a token"));
            let (stdout, _) = expect_exit(&mut command, 0);
            match block.contains("/tasks/") {
                true => assert!(stdout.contains("ended"), "{block}\n{stdout}"),
                false => assert!(stdout.contains(A) && stdout.contains(B), "{block}\n{stdout}"),
            }
        }
    }
}

#[test]
fn what_is_no_address_and_a_taken_port_are_refused_with_a_way_out() {
    let scratch = Scratch::new();
    let refused = |listen: &str, code| expect_exit(&mut stend(&scratch, &["serve", "--listen", listen]), code).1;
    assert!(refused("localhost", 2).contains("127.0.0.1:8421"));
    let server = Server::start(&scratch, &[]);
    assert!(refused(&server.address, 4).contains("another port"));
}
