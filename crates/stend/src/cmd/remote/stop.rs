//! `stend stop` over a server.

use crate::out::Out;
use crate::remote::Remote;
use clap::ArgMatches;
use serde::Deserialize;
use std::time::{Duration, Instant};
use stend_base::{Result, say};
use stend_client::escaped;

/// What the server says of a run that it has asked to end.
#[derive(Deserialize)]
struct Asked {
    run: String,
}

#[derive(Deserialize)]
struct List {
    runs: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    run: Option<String>,
    state: Option<State>,
    going_on: Option<bool>,
}

#[derive(Deserialize)]
struct State {
    state: String,
}

const PAUSE: Duration = Duration::from_millis(300);

/// Asks, then waits until the run has ended.
pub(super) fn stop(remote: &Remote, arguments: &ArgMatches, out: &Out) -> Result<()> {
    let name = super::super::required(arguments, "RUN");
    let now = arguments.get_flag("now");
    let target = format!("/api/v1/runs/{}/stop?now={now}", escaped(name));
    let reply = remote.server.send("POST", &target, String::new())?;
    let Asked { run } = super::read(remote, &target, &reply.body)?;
    let deadline = Instant::now() + super::super::stop::LIMIT;
    let state = loop {
        let list: List = super::document(remote, &format!("/api/v1/runs?text={}&limit=10", escaped(&run)))?;
        match list.runs.into_iter().find(|entry| entry.run.as_deref() == Some(&run)) {
            Some(entry) if entry.going_on == Some(true) => {}
            found => break found.and_then(|entry| entry.state),
        }
        if Instant::now() > deadline {
            return Err(super::super::stop::goes_on());
        }
        std::thread::sleep(PAUSE);
    };
    if out.json {
        return out.result(&serde_json::json!({"run": run, "stopped": run}).to_string());
    }
    let ended = match state {
        Some(State { state }) if state == "complete" => {
            say!("everything had been measured; `{run}` is complete", "всё уже было измерено; прогон `{run}` полный")
        }
        _ => say!("stopped; `{run}` holds what was measured", "остановлено; измеренное — в `{run}`"),
    };
    out.result(ended.get(out.lang))
}
