//! `stend serve` beside a target that never answers, such as a directory of a dead network file system.

use crate::serve::client::{Server, lines_until};
use crate::support::*;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Mounts a file system of FUSE without a program that answers for it, and begins the rest of the words beside it. The file system ends with
/// what it begins.
const BESIDE: &str = "exec 3<>/dev/fuse || exit 1
mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 hanging \"$1\" || exit 1
setpriv --pdeathsig KILL sleep 1000000 >&- 2>&- &
exec 3>&-
shift
exec \"$@\"";

/// A server for which every look into this directory hangs, and for no other program of this machine.
fn beside(scratch: &Scratch, directory: &str) -> Server {
    let server = stend(scratch, &["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "bash", "-c", BESIDE, "bash", directory]);
    command.arg(server.get_program()).args(server.get_args());
    for (name, value) in server.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut running = Running::new(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let told: Value = serde_json::from_str(&lines_until(&mut running, "}")).expect("JSON");
    let address = told["url"].as_str().expect("an address").trim_start_matches("http://").trim_end_matches('/');
    Server { address: address.to_string(), token: told["token"].as_str().map(String::from), _running: running }
}

#[test]
fn a_target_that_hangs_stops_no_answer_about_anything_else() {
    if !root("a_target_that_hangs_stops_no_answer_about_anything_else") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, fine, hanging) =
        (scratch.file("suite.yaml", SMALL), scratch.directory("t"), scratch.directory("hanging"));
    let order = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &fine, "--print-order"]), 0).0;
    let order = order.replace(&fine, &hanging);
    let server = beside(&scratch, &hanging);
    let token = format!("Authorization: Bearer {}", server.token.as_deref().expect("a token"));
    let length = format!("Content-Length: {}", order.len());
    let ask = |request: &str| server.ask(request, &[&token, &length], &order);
    std::thread::scope(|scope| {
        // As many as are looked at at the same time.
        let checked: Vec<_> = (0..3).map(|_| scope.spawn(|| ask("POST /api/v1/orders/validate"))).collect();
        let repeated = scope.spawn(|| ask("PUT /api/v1/schedules/nightly?cron=0+2+*+*+*&paused=true"));
        for _ in 0..100 {
            assert_eq!((server.get("/api/v1/runs").status, server.get("/api/v1/schedules").status), (200, 200));
        }
        for checked in checked {
            let checked = checked.join().expect("an answer");
            assert_eq!(checked.json()["loads"], json!(["local"]), "{}", checked.text());
        }
        assert_eq!(repeated.join().expect("an answer").status, 201);
    });
}
