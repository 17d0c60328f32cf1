//! Conditions on runs: on the command line and in the API, over recorded runs.

use crate::serve::client::Server;
use crate::support::fixed_run::two_runs;
use crate::support::*;
use serde_json::Value;

fn names(list: &Value) -> Vec<&str> {
    list["runs"].as_array().expect("runs").iter().filter_map(|run| run["name"].as_str()).collect()
}

fn encoded(condition: &str) -> String {
    condition.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn a_condition_finds_the_same_runs_on_the_command_line_and_in_the_api() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let server = Server::start(&scratch, &[]);
    let listed = |condition: &str| -> Value {
        let printed = expect_exit(&mut stend(&scratch, &["list", "--where", condition, "--json"]), 0).0;
        serde_json::from_str(&printed).expect("JSON")
    };
    let asked = |condition: &str| server.get(&format!("/api/v1/runs?where={}", encoded(condition)));
    for (condition, count) in [
        ("state = complete", 2),
        ("run contains aaaa", 1),
        ("run contains aaaa and run contains bbbb", 0),
        ("run != 'R-20261121T213000Z-aaaa'", 1),
        ("block > 0B", 2),
        ("block > 1TiB", 0),
        ("iops > 1", 2),
        ("serial-free = x", usize::MAX),
    ] {
        if count == usize::MAX {
            let reply = asked(condition);
            assert_eq!((reply.status, reply.json()["code"].as_str()), (400, Some("usage")), "{condition}");
            expect_exit(&mut stend(&scratch, &["list", "--where", condition]), 2);
            continue;
        }
        let (list, answer) = (listed(condition), asked(condition).json());
        assert_eq!(names(&list).len(), count, "{condition}: {list:#}");
        assert_eq!(names(&list), names(&answer), "{condition}");
        let sorted = server.get(&format!("/api/v1/runs?sort=rate&where={}", encoded(condition))).json();
        assert_eq!(names(&sorted).len(), count, "{condition}");
    }
    // No question makes the server slow or end.
    for hostile in ["(".repeat(400), "block = 4k and ".repeat(40), "'".into(), "\0\u{202e}".into(), "x".repeat(1200)] {
        assert_eq!(asked(&hostile).status, 400, "{hostile:?}");
    }
    assert_eq!(server.get("/api/v1/health").status, 200);
}
