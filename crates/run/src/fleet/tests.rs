//! What a fleet forgets, and what it does not.

use super::*;
use std::time::Duration;
use stend_record::observed::FillOutcome;
use stend_wire::protocol::write_hello;

/// Hosts whose workers have said hello; what they say otherwise is handed in by the test.
fn fleet(names: &[&str]) -> Fleet {
    let host = |name: &&str| {
        let mut said = Vec::new();
        write_hello(&mut said).unwrap();
        let host = Host::over(std::io::Cursor::new(said), std::io::sink(), Duration::from_secs(60)).unwrap();
        LoadHost { name: name.to_string(), host, targets: Vec::new() }
    };
    Fleet::new(names.iter().map(host).collect(), OnLoss::Stop)
}

fn filled(bytes: u64) -> FromHost {
    FromHost::Reply(Reply::Filled(FillOutcome { written: Bytes(bytes), ..FillOutcome::default() }))
}

#[test]
fn a_stop_forgets_no_answer_of_a_host_that_was_faster() {
    for asked_meanwhile in [Request::Stop, Request::Clock, Request::Mark] {
        let mut fleet = fleet(&["a", "b"]);
        let now = Nanos::secs(1);
        let first = fleet.hear(HostId(0), filled(1), (Step::Filling, 0), now);
        assert!(first.is_empty(), "the other one has not answered");
        fleet.send(&asked_meanwhile, now);
        let heard = fleet.hear(HostId(1), filled(2), (Step::Filling, 0), now);
        let parts = heard.iter().find_map(|notice| match notice {
            Notice::Walk(Input::Filled(parts)) => Some(parts.iter().map(|(host, of)| (host.0, of.written.0)).collect()),
            _ => None,
        });
        assert_eq!(parts, Some(vec![(0, 1), (1, 2)]), "{asked_meanwhile:?}: {heard:?}");
        assert!(fleet.late(Step::Releasing, now).len() >= 2, "what was answered is used up");
    }
}
