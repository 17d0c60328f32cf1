//! What a server knows, for Prometheus: its tasks and runs, and every host that is recorded now with the names that its recorder gives out.
//! Must not look anything up.

use super::page::{Page, seconds};
use super::{HostNow, build, whole_host};
use stend_base::Nanos;

/// What a server knows now.
#[derive(Debug, Clone, Copy)]
pub struct ServerNow<'a> {
    /// How many tasks have each state, by its word.
    pub tasks: &'a [(&'static str, usize)],
    /// Runs and recordings that the server knows, whatever became of them.
    pub run_files: usize,
    /// Runs that go on.
    pub runs: usize,
    /// Recordings that are written now and have a sample.
    pub recordings: &'a [RecordingNow<'a>],
    /// Recordings that are written now and could not be read.
    pub unread: usize,
    /// Recordings that are written now and were not looked at, because there are too many.
    pub left_out: usize,
    /// How long looking all of this up took.
    pub cost: Nanos,
}

/// A recording that is written now.
#[derive(Debug, Clone, Copy)]
pub struct RecordingNow<'a> {
    /// Its name in the list.
    pub recording: &'a str,
    /// What its host is called.
    pub host: &'a str,
    /// Wall-clock time of its newest sample, ns since 1970.
    pub at_unix_ns: i64,
    /// That sample, and what is known of the host beside it.
    pub now: HostNow<'a>,
}

/// A page for Prometheus. What is known of a host has its recording and its name as labels.
pub fn server_metrics_text(now: &ServerNow<'_>, version: &str) -> String {
    let mut page = Page::default();
    build(&mut page, version);
    let name = "stend_tasks";
    page.family((name, "gauge", "Orders that the server was given, by state."));
    now.tasks.iter().for_each(|(state, count)| page.sample(name, &[("state", state)], *count as f64));
    for (name, what, count) in [
        ("stend_run_files", "Runs and recordings that the server knows.", now.run_files),
        ("stend_runs_going_on", "Runs that go on.", now.runs),
        ("stend_recordings", "Recordings that are written now.", now.recordings.len()),
        ("stend_recordings_unread", "Recordings that are written now and could not be read.", now.unread),
        ("stend_recordings_left_out", "More recordings that are written now, which were not looked at.", now.left_out),
    ] {
        page.alone((name, "gauge", what), Some(count as f64));
    }
    let cost = ("stend_scrape_seconds", "gauge", "How long looking up this page took.");
    page.alone(cost, Some(seconds(now.cost.0)));
    for recording in now.recordings {
        page.label_all(vec![("recording", recording.recording.to_string()), ("host", recording.host.to_string())]);
        let at = ("stend_sample_time_seconds", "gauge", "When the host was read last, in seconds since 1970.");
        page.alone(at, Some(recording.at_unix_ns as f64 / 1e9));
        whole_host(&mut page, &recording.now);
    }
    page.text()
}

#[cfg(test)]
mod tests {
    use super::super::full;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn two_recordings_on_one_page_share_each_family_and_are_told_apart_by_labels() {
        let (sample, host, problems, health) = (full::sample(), full::host(), full::problems(), full::health());
        let one = |recording| RecordingNow {
            recording,
            host: "db\"1\"",
            at_unix_ns: 1_795_296_153_500_000_000,
            now: HostNow {
                host: Some(&host),
                sample: &sample,
                parts: sample.parts.as_deref(),
                health: Some(&health),
                problems: Some(&problems),
            },
        };
        let recordings = [one("R-1"), one("R-2")];
        let now = ServerNow {
            tasks: &[("queued", 2), ("running", 0)],
            run_files: 7,
            runs: 1,
            recordings: &recordings,
            unread: 0,
            left_out: 3,
            cost: Nanos(1_500_000),
        };
        let page = server_metrics_text(&now, "0.2.0");
        let has = |line: &str| assert!(page.lines().any(|other| other == line), "{line} is not in\n{page}");
        has(r#"stend_build_info{version="0.2.0"} 1"#);
        has(r#"stend_tasks{state="queued"} 2"#);
        has("stend_run_files 7");
        has("stend_runs_going_on 1");
        has("stend_recordings 2");
        has("stend_recordings_left_out 3");
        has("stend_scrape_seconds 0.0015");
        has(r#"stend_sample_time_seconds{recording="R-2",host="db\"1\""} 1795296153.5"#);
        let named: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), named.len(), "a family is named once");
        // What its recorder gives out of the host, under the same names.
        let alone = super::super::metrics_text(&recordings[0].now, "0.2.0");
        let of_host = |line: &&str| !line.starts_with('#') && !line.starts_with("stend_build_info");
        for line in alone.lines().filter(of_host) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = name.split_once('{').unwrap_or((name, "}"));
            let comma = if labels == "}" { "" } else { "," };
            for recording in ["R-1", "R-2"] {
                has(&format!("{name}{{recording=\"{recording}\",host=\"db\\\"1\\\"\"{comma}{labels} {value}"));
            }
        }
        let samples: Vec<&str> = page.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(samples.iter().collect::<BTreeSet<_>>().len(), samples.len(), "no series comes twice");
    }
}
