//! Stretches of a run over the API: single intervals and buckets of them, as the charts of the result have them.

use crate::serve::client::Server;
use crate::support::fixed_run::two_runs;
use crate::support::*;
use rusqlite::Connection;
use serde_json::Value;

const A: &str = "R-20261121T213000Z-aaaa";

fn with_runs() -> (Scratch, Server) {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let server = Server::start(&scratch, &[]);
    (scratch, server)
}

fn intervals(server: &Server, query: &str) -> Value {
    let reply = server.get(&format!("/api/v1/runs/{A}/intervals{query}"));
    assert_eq!(reply.status, 200, "{query}: {}", reply.text());
    reply.json()
}

fn column(values: &Value) -> Vec<f64> {
    values.as_array().expect("a column").iter().map(|value| value.as_f64().expect("a number")).collect()
}

fn trials(found: &Value) -> &[Value] {
    found["trials"].as_array().expect("trials")
}

#[test]
fn single_intervals_are_the_points_of_the_chart_of_the_result() {
    let (_scratch, server) = with_runs();
    let result = server.get(&format!("/api/v1/runs/{A}")).json();
    for case in result["cases"].as_array().expect("cases") {
        let charts = case["charts"].as_array().expect("charts");
        let chart = charts.iter().find(|chart| chart["id"].as_str().is_some_and(|id| id.ends_with("-time")));
        let points = chart.expect("a chart over time")["panes"][0]["series"][0]["points"].as_array().expect("points");
        let points = points.iter().filter(|point| !point["y"].is_null());
        let drawn: Vec<(f64, f64)> =
            points.map(|point| (point["x"].as_f64().expect("x"), point["y"].as_f64().expect("y"))).collect();
        let found = intervals(&server, &format!("?case={}", case["case"]));
        assert_eq!((&found["resolution_ms"], &found["latency_resolution_ms"]), (&100.into(), &1000.into()));
        let read: Vec<(f64, f64)> = trials(&found)
            .iter()
            .flat_map(|trial| column(&trial["at_s"]).into_iter().zip(column(&trial["operations"][0]["iops_mean"])))
            .collect();
        assert_eq!((read.len(), trials(&found).len()), (10, 2));
        assert_eq!(read.len(), drawn.len());
        for (read, drawn) in read.iter().zip(&drawn) {
            assert!((read.0 - drawn.0).abs() < 1e-5 && (read.1 - drawn.1).abs() < 1e-5, "{read:?} {drawn:?}");
        }
    }
}

#[test]
fn a_stretch_has_the_trials_that_ran_in_it_and_as_many_buckets_as_were_asked_for() {
    let (_scratch, server) = with_runs();
    // A trial begins every two seconds and takes half a second.
    let found = intervals(&server, "?from=2.1&to=2.35");
    let [trial] = trials(&found) else { panic!("{found:#}") };
    assert_eq!((&trial["trial"], &trial["case"], &trial["hosts"][0]), (&1.into(), &1.into(), &"lab".into()));
    assert_eq!((trial["from_s"].as_f64(), trial["to_s"].as_f64()), (Some(2.1), Some(2.4)));
    assert_eq!(column(&trial["at_s"]), [2.15, 2.25, 2.35]);
    assert_eq!(trial["operations"][0]["operation"], "write");
    // The histogram of the second, which ends with the trial.
    assert_eq!(column(&trial["latency_at_s"]), [2.25]);
    let latency = |name: &str| trial["operations"][0][format!("latency_ns_{name}")][0].as_u64();
    let [p50, p99, max] = ["p50", "p99", "max"].map(latency);
    assert!(p50.is_some() && p50 < p99 && p99 <= max, "{trial:#}");
    let few = intervals(&server, "?points=10");
    let buckets: usize = trials(&few).iter().map(|trial| column(&trial["at_s"]).len()).sum();
    assert_eq!((trials(&few).len(), buckets, &few["resolution_ms"]), (4, 8, &300.into()));
    assert_eq!(trials(&intervals(&server, "?from=0.5&to=2")).len(), 0);
    assert_eq!(trials(&intervals(&server, "?from=1000")).len(), 0);
}

#[test]
fn slices_that_claim_years_are_refused_as_a_whole_and_read_in_part() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let file = scratch.join(&format!("stend/runs/{A}.stend"));
    // One slice in each trial: a read that spans all intervals that there can be. The trials have no end.
    let hostile = "UPDATE slice SET body = x'0100ffffffff0f0000010100000000'; DELETE FROM outcome";
    Connection::open(file).and_then(|db| db.execute_batch(hostile)).expect("a changed file");
    let server = Server::start(&scratch, &[]);
    let reply = server.get(&format!("/api/v1/runs/{A}/intervals"));
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert!(reply.text().contains("58 hours"), "{}", reply.text());
    let found = intervals(&server, "?from=0&to=1");
    assert_eq!(trials(&found).iter().map(|trial| column(&trial["at_s"]).len()).collect::<Vec<_>>(), [10]);
}

#[test]
fn a_stretch_that_is_none_is_refused_and_an_answer_that_is_known_is_not_sent_again() {
    let (_scratch, server) = with_runs();
    for query in [
        "from=2&to=1",
        "from=1&to=1",
        "from=-1",
        "from=NaN",
        "to=x",
        "to=1e12",
        "points=9",
        "points=2001",
        "case=-1",
        "from=1&from=2",
        "resolution=1",
    ] {
        let reply = server.get(&format!("/api/v1/runs/{A}/intervals?{query}"));
        assert_eq!(reply.status, 400, "{query}: {}", reply.text());
        assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{query}");
    }
    assert_eq!(server.get("/api/v1/runs/no-such/intervals").status, 404);
    let address = format!("GET /api/v1/runs/{A}/intervals?to=3");
    let tag = server.with_token(&address, &[]).header("etag").expect("a tag").to_string();
    assert_eq!(server.with_token(&address, &[&format!("If-None-Match: {tag}")]).status, 304);
}
