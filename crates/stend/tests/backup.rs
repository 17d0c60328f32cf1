//! `stend serve backup` and `restore`: a server that is saved while it works, and answers the same in another place.

use crate::serve::client::Server;
use crate::support::fixed_run::two_runs;
use crate::support::*;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(90);

fn send(server: &Server, request: &str, body: &str) -> u16 {
    let token = format!("Authorization: Bearer {}", server.token.as_deref().expect("a token"));
    server.ask(request, &[&token, &format!("Content-Length: {}", body.len())], body).status
}

fn order(scratch: &Scratch, blocks: u32) -> String {
    let suite = scratch.file("suite.yaml", &SMALL.replace("blocks: 2", &format!("blocks: {blocks}")));
    let target = scratch.directory("t");
    expect_exit(&mut stend(scratch, &["run", &suite, "--on", &target, "--seed", "7", "--print-order"]), 0).0
}

fn task(server: &Server, id: &str) -> Value {
    server.get(&format!("/api/v1/tasks/{id}")).json()
}

/// A server in another place, made of the archive.
fn restored(archive: &str, token: Option<String>) -> (Scratch, Server) {
    let scratch = Scratch::new();
    expect_exit(&mut stend(&scratch, &["serve", "restore", archive]), 0);
    let server = Server::start(&scratch, &[]);
    assert_eq!(server.token, None, "the token of the saved server is valid");
    (scratch, Server { token, ..server })
}

#[test]
fn a_restored_server_answers_as_the_saved_one_did_and_nothing_is_replaced() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let server = Server::start(&scratch, &[]);
    let issued = server.with_token("PUT /api/v1/tokens/ci?role=operator", &[]).json();
    assert_eq!(send(&server, "PUT /api/v1/tasks/a", &order(&scratch, 1)), 201);
    eventually("the task ends", LIMIT, || task(&server, "a")["ended_unix"].is_i64());
    let archive = scratch.join("server.zip").display().to_string();
    let (told, _) = expect_exit(&mut stend(&scratch, &["serve", "backup", &archive, "--runs", "--json"]), 0);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((&told["tasks"], &told["runs"], &told["left_out"]), (&1.into(), &3.into(), &0.into()));
    assert_eq!(std::fs::metadata(&archive).expect("the archive").permissions().mode() & 0o777, 0o600);
    let saved = std::fs::read(&archive).expect("the archive");
    expect_exit(&mut stend(&scratch, &["serve", "backup", &archive]), 5);
    assert!(std::fs::read(&archive).expect("the archive") == saved, "it was replaced");

    let (other, again) = restored(&archive, server.token.clone());
    for path in [
        "/api/v1/tasks",
        "/api/v1/tasks/a/order",
        "/api/v1/tasks/a/log",
        "/api/v1/tokens",
        "/api/v1/audit-log",
        "/api/v1/runs/R-20261121T213000Z-aaaa",
        "/api/v1/comparisons?run=R-20261121T213000Z-aaaa&run=R-20261122T213000Z-bbbb",
    ] {
        assert!(again.get(path).text() == server.get(path).text(), "{path}");
    }
    let ci = format!("Authorization: Bearer {}", issued["secret"].as_str().expect("a secret"));
    assert_eq!(again.ask("GET /api/v1/me", &[&ci], "").json()["role"], "operator");
    drop(again);
    let (_, refused) = expect_exit(stend(&other, &["serve", "restore", &archive]).args(["--lang", "en"]), 5);
    assert!(refused.contains("there is a server in") && refused.contains("XDG_DATA_HOME="), "{refused}");
    // Where a run of that name is already, nothing is made.
    let third = Scratch::new();
    two_runs(&third);
    let (_, refused) = expect_exit(stend(&third, &["serve", "restore", &archive]).args(["--lang", "en"]), 5);
    assert!(refused.contains("nothing is replaced") && !third.join("stend/server").exists(), "{refused}");
    expect_exit(&mut stend(&third, &["serve", "backup", &third.join("x.zip").display().to_string()]), 4);
}

#[test]
fn a_task_that_waited_when_it_was_saved_does_not_begin_in_a_restored_server() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    assert_eq!(send(&server, "PUT /api/v1/tasks/a", &order(&scratch, 300)), 201);
    eventually("it measures", LIMIT, || {
        let run = task(&server, "a")["runs"][0].as_str().unwrap_or_default().to_string();
        scratch.join(&format!("stend/runs/{run}.stend.sock")).exists()
    });
    assert_eq!(send(&server, "PUT /api/v1/tasks/b", &order(&scratch, 1)), 201);
    eventually("the second waits", LIMIT, || task(&server, "b")["reason"].is_object());
    let archive = scratch.join("server.zip").display().to_string();
    let (told, _) = expect_exit(&mut stend(&scratch, &["serve", "backup", &archive, "--runs", "--json"]), 0);
    assert!(told.contains("\"left_out\":1"), "{told}");
    assert_eq!(send(&server, "POST /api/v1/tasks/a/stop?now=true", ""), 200);

    let (other, again) = restored(&archive, server.token.clone());
    eventually("both are over", LIMIT, || ["a", "b"].iter().all(|id| task(&again, id)["ended_unix"].is_i64()));
    assert_eq!((&task(&again, "a")["state"], &task(&again, "b")["code"]), (&"lost".into(), &"interrupted".into()));
    let waited = task(&again, "b");
    assert!(waited["reason"]["en"].as_str().is_some_and(|why| why.contains("backup")), "{waited:#}");
    assert!(std::fs::read_dir(other.join("stend/runs")).expect("a directory").next().is_none());
    eventually("the first ends", LIMIT, || task(&server, "b")["ended_unix"].is_i64());
}

#[test]
fn a_server_that_root_restores_belongs_to_the_owner_of_its_place_and_to_no_caller_of_sudo() {
    use std::os::unix::fs::{MetadataExt, chown};
    if !root("a_server_that_root_restores_belongs_to_the_owner_of_its_place_and_to_no_caller_of_sudo") {
        return;
    }
    let scratch = Scratch::new();
    two_runs(&scratch);
    let server = Server::start(&scratch, &[]);
    let archive = scratch.join("server.zip").display().to_string();
    expect_exit(&mut stend(&scratch, &["serve", "backup", &archive, "--runs"]), 0);
    drop(server);
    for owner in [0, 12_345] {
        let place = scratch.directory(&format!("place-of-{owner}"));
        chown(&place, Some(owner), Some(owner)).expect("another owner");
        let mut restore = stend(&scratch, &["serve", "restore", &archive]);
        expect_exit(restore.env("SUDO_UID", "65534").env("SUDO_GID", "65534").env("XDG_DATA_HOME", &place), 0);
        let owners = |path: &str| {
            let found = std::fs::metadata(format!("{place}/stend{path}")).expect("it is restored");
            (found.uid(), found.gid())
        };
        for path in ["", "/runs", "/server", "/server/token.sha256", "/server/users.db", "/server/server.db"] {
            assert_eq!(owners(path), (owner, owner), "{path}");
        }
        assert_eq!(owners("/runs/R-20261121T213000Z-aaaa.stend"), (owner, owner));
        // It holds the key of the server, and goes to no caller of sudo either.
        let again = format!("{place}/again.zip");
        let mut backup = stend(&scratch, &["serve", "backup", &again]);
        expect_exit(backup.env("SUDO_UID", "65534").env("SUDO_GID", "65534").env("XDG_DATA_HOME", &place), 0);
        assert_eq!(std::fs::metadata(&again).expect("a backup").uid(), owner);
    }
}
