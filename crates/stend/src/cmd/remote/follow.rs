//! A run of a server, followed by its events. Must not print.

use crate::out::Out;
use crate::progress::Display;
use crate::remote::Remote;
use clap::ArgMatches;
use serde::Deserialize;
use std::time::{Duration, Instant};
use stend_analyse::{Eta, EtaQuality, LiveFigures};
use stend_api::{Figures, Finished, LiveState, Progress};
use stend_base::{Code, Error, Nanos, Result, say};
use stend_client::{Reply, escaped, not_understood};
use stend_run::Update;

/// How long a server may be away: it is restarted while its tasks go on.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_secs(1);

/// Asks until the server answers, or has not for a minute.
///
/// Errors: what the server says, and `ServerUnreachable`.
pub(super) fn patiently<T>(mut ask: impl FnMut() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    loop {
        match ask() {
            Err(error) if error.code == Code::ServerUnreachable && begun.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE)
            }
            answer => return answer,
        }
    }
}

/// Hears how a run goes on until it ends, and how; with the name of that run, since `last` and labels mean another one when others begin.
///
/// Errors: what the server says; `ServerUnreachable` if it is away for too long.
pub(super) fn follow(remote: &Remote, run: &str, hear: &mut dyn FnMut(&Update)) -> Result<(LiveState, String)> {
    // Behind which event the stream goes on, and since when the server is away.
    let (mut last, mut away): (Option<String>, Option<Instant>) = (None, None);
    let mut run = run.to_string();
    loop {
        let after = last.as_ref().map(|id| format!("?after={}", escaped(id))).unwrap_or_default();
        let target = format!("/api/v1/runs/{}/events{after}", escaped(&run));
        let mut end = None;
        let mut begun = |reply: &Reply| reply.header("stend-run").into_iter().for_each(|name| run = name.to_string());
        let done = remote.server.follow(&target, &mut begun, &mut |event| {
            away = None;
            last = event.id.or(last.take());
            match event.name.as_str() {
                "progress" => hear(&update(super::read(remote, &target, event.data.as_bytes())?)),
                "finished" => end = Some(super::read::<Finished>(remote, &target, event.data.as_bytes())?.state),
                _ => {}
            }
            Ok(end.is_none())
        });
        let failed = match (end, done) {
            (Some(end), _) => return Ok((end, run)),
            (None, Err(error)) if error.code != Code::ServerUnreachable => return Err(error),
            (None, Err(error)) => error,
            // Nothing comes behind the last event: the end was sent to a connection that broke off.
            (None, Ok(())) => {
                last = None;
                not_understood(remote.server.url(), &target, &say!("the stream has no end", "у потока нет конца"))
            }
        };
        if away.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return Err(failed);
        }
        std::thread::sleep(PAUSE);
    }
}

/// What a display shows of it. How much is filled comes in no event.
fn update(progress: Progress) -> Update {
    let eta = |left: u64| Eta {
        left: Nanos(left),
        low: Nanos(progress.left_ns_low.unwrap_or(left)),
        high: Nanos(progress.left_ns_high.unwrap_or(left)),
        quality: EtaQuality::Rough,
    };
    let unknown = Eta { left: Nanos(0), low: Nanos(0), high: Nanos(0), quality: EtaQuality::Unknown };
    Update {
        phase: progress.phase,
        step: progress.step,
        steps: progress.steps,
        elapsed: Nanos(progress.elapsed_ns),
        done: progress.done_share.clamp(0.0, 1.0),
        eta: progress.left_ns.map_or(unknown, eta),
        live: progress.figures.as_ref().map(live),
        fill: None,
        replay: None,
        silent: Nanos(progress.silent_ns),
        warnings: Vec::new(),
        label: progress.case,
    }
}

fn live(figures: &Figures) -> LiveFigures {
    LiveFigures {
        iops: figures.iops,
        bytes_per_s: figures.throughput_bytes_per_s,
        p50: figures.latency_ns_p50.map(Nanos),
        p99: figures.latency_ns_p99.map(Nanos),
        p999: figures.latency_ns_p999.map(Nanos),
        max: figures.latency_ns_max.map(Nanos),
        errors: figures.errors,
    }
}

/// `stend watch`.
pub(super) fn watch(remote: &Remote, arguments: &ArgMatches, out: &Out) -> Result<()> {
    super::refuse(remote, arguments, &["metrics"])?;
    let name = super::super::required(arguments, "RUN");
    let mut display = Display::new(super::super::required(arguments, "progress"), out);
    let (suite, mut begun) = (suite(remote, name), false);
    let end = follow(remote, name, &mut |update| {
        if !begun {
            let interrupt =
                say!("Ctrl-C ends watching; the run goes on", "Ctrl-C — перестать следить; прогон продолжится");
            display.begin(name, &suite, remote.server.url(), &interrupt);
            begun = true;
        }
        display.show(update);
    });
    display.end();
    let (end, name) = end?;
    let run = remote.read(&name)?;
    match out.json {
        true => out.result(&stend_report::json(&stend_analyse::analyse(&run)?))?,
        false => super::super::show::print(&run, &stend_analyse::judge(&run)?, None, Some(name.as_str()), out)?,
    }
    if end == LiveState::Lost {
        return Err(Error::host_lost(say!(
            "the process of this run is gone; the file holds what it measured",
            "процесса этого прогона больше нет; измеренное сохранено в файле"
        )));
    }
    Ok(())
}

/// The suite of a run, for the first line; it is no loss if the list does not find it.
pub(super) fn suite(remote: &Remote, name: &str) -> String {
    #[derive(Deserialize)]
    struct List {
        runs: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        suite: Option<String>,
    }
    let text = if name == "last" { String::new() } else { format!("&text={}", escaped(name)) };
    let list: Result<List> = super::document(remote, &format!("/api/v1/runs?limit=1{text}"));
    list.ok().and_then(|list| list.runs.into_iter().next()?.suite).unwrap_or_default()
}
