//! A recording in sentences and for machines, and one step of a host for machines.

use crate::json::{State, pretty, state as state_out};
use serde::Serialize;
use stend_analyse::Chart;
use stend_analyse::host_rates::{DriveRates, HostRates, NetworkRates, NfsMountRates, NfsServerRates};
use stend_analyse::recording::Recorded;
use stend_analyse::recording_lines::{ConcurrentRun, RecordedDrive, Spread};
use stend_base::{Lang, Nanos, Say, format, say};
use stend_record::parts::Temperature;
use stend_record::{Retention, RunRecord, RunState, WallClock};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// The host in a sentence.
pub(crate) fn host(found: &Recorded) -> Say {
    Say::both(|lang| {
        let percent = |of: Spread| (format::percent(of.mean, lang), format::percent(of.max, lang));
        let Some((mean, max)) = found.cpu_busy.map(percent) else {
            return say!("Nothing was read yet.", "Пока ничего не прочитано.").get(lang).to_string();
        };
        let cpu = say!(
            "CPUs busy {mean} on average, {max} at most",
            "процессоры заняты в среднем на {mean}, самое большее на {max}"
        );
        let io = found.io_some.map(percent).map(|(mean, max)| {
            say!(
                "; some task waited for I/O {mean} of the time, {max} at most",
                "; задачи ждали ввода-вывода {mean} времени, самое большее {max}"
            )
        });
        let io = io.map_or(String::new(), |said| said.get(lang).to_string());
        let text = format!("{}{io}.", cpu.get(lang));
        let mut letters = text.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    })
}

/// What is to be said of how it ended; nothing of one that ended as it should.
pub(crate) fn state(run: &RunRecord) -> Option<Say> {
    match &run.state {
        RunState::Open => Some(say!(
            "It has no end: it is going on, or its process was killed.",
            "Конца нет: запись идёт, или её процесс убили."
        )),
        _ => None,
    }
}

/// Devices without any I/O.
pub(crate) fn idle(found: &Recorded) -> Option<Say> {
    let names = found.idle.join(", ");
    (!found.idle.is_empty()).then(|| say!("Without I/O: {names}.", "Без операций: {names}."))
}

/// How long a recording keeps what: `1 s for 2 d, 10 s for 14 d, at most 1 GiB`.
pub fn retention_text(retention: &Retention) -> Say {
    Say::both(|lang| {
        let one = |tier: &stend_record::Tier| {
            let (step, age) = (format::exact(tier.step, lang), age(tier.age, lang));
            say!("{step} for {age}", "шаг {step} — {age}").get(lang).to_string()
        };
        // What stays for no time is not kept.
        let tiers = retention.tiers.iter().filter(|tier| tier.age > Nanos(0));
        let tiers = tiers.map(one).collect::<Vec<_>>().join(", ");
        let size = format::bytes(retention.size_max, lang);
        say!("{tiers}, at most {size}", "{tiers}, не более {size}").get(lang).to_string()
    })
}

/// An age in days where it is whole days.
fn age(age: Nanos, lang: Lang) -> String {
    const DAY: u64 = 24 * 3600 * 1_000_000_000;
    match age.0 > 0 && age.0.is_multiple_of(DAY) {
        true => format!("{} {}", age.0 / DAY, lang.pick("d", "сут")),
        false => format::exact(age, lang),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    /// Id of the recording.
    run: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    host: &'a str,
    started_unix_s: i64,
    /// Time between two samples as it was asked for.
    every_ns: u64,
    /// Wall clock at the first sample that is there: charts begin with it.
    first_sample_unix_s: i64,
    span_ns: u64,
    samples: u64,
    state: State<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_busy_share: Option<SpreadOut>,
    /// Share of time in which some task waited for I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    io_some_share: Option<SpreadOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_used_bytes: Option<SpreadOut>,
    drives: Vec<DriveOut<'a>>,
    /// Kernel names of the devices without any I/O.
    idle: &'a [String],
    /// Runs of the host in that time, which are bands in the charts; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<ConcurrentRunOut<'a>>,
    /// What happened to the host, the newest 1000 in the order of time; absent if nothing did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<RecordedEventOut<'a>>,
    charts: &'a [Chart],
}

/// A run of the host while it was recorded.
#[derive(Serialize)]
struct ConcurrentRunOut<'a> {
    /// Its name in the list.
    run: &'a str,
    suite: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    /// When it began, after the first sample.
    from_ns: u64,
    to_ns: u64,
}

#[derive(Serialize)]
struct RecordedEventOut<'a> {
    /// After the first sample.
    at_ns: u64,
    name: &'a Say,
}

#[derive(Serialize)]
struct SpreadOut {
    mean: f64,
    /// The largest of one step.
    max: f64,
}

#[derive(Serialize)]
struct DriveOut<'a> {
    name: &'a str,
    /// `disk`, `loop`, `md`, `dm`, `zram`, …: what lies above drives counts their I/Os again.
    kind: &'a str,
    /// Stable identity, as the host described it last; absent if it has none, or has left.
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<&'a str>,
    iops: SpreadOut,
    throughput_bytes_per_s: SpreadOut,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_latency_ns: Option<SpreadOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_latency_ns: Option<SpreadOut>,
    queue_depth: SpreadOut,
    busy_share: SpreadOut,
}

/// A recording as JSON.
pub fn recording_json(run: &RunRecord, found: &Recorded) -> String {
    pretty(&Document {
        schema: "stend-recording",
        schema_version: SCHEMA_VERSION,
        run: &run.header.id,
        label: run.header.label.as_deref(),
        host: run.load().called(),
        started_unix_s: run.header.started_unix,
        every_ns: run.header.recording.as_ref().map_or(0, |recording| recording.every.0),
        first_sample_unix_s: WallClock::of(run).unix_s(found.begin),
        span_ns: found.span.0,
        samples: found.samples,
        state: state_out(&run.state),
        cpu_busy_share: found.cpu_busy.map(spread),
        io_some_share: found.io_some.map(spread),
        memory_used_bytes: found.memory_used.map(spread),
        drives: found.drives.iter().map(drive).collect(),
        idle: &found.idle,
        runs: found.runs.iter().map(|run| run_out(run, found.begin)).collect(),
        events: found.events.iter().map(|(at, name)| event_out(*at, name, found.begin)).collect(),
        charts: &found.charts,
    })
}

fn run_out(run: &ConcurrentRun, begin: Nanos) -> ConcurrentRunOut<'_> {
    let ns = |at: Nanos| at.saturating_sub(begin).0;
    ConcurrentRunOut {
        run: &run.run,
        suite: &run.suite,
        label: run.label.as_deref(),
        from_ns: ns(run.from),
        to_ns: ns(run.to),
    }
}

fn event_out(at: Nanos, name: &Say, begin: Nanos) -> RecordedEventOut<'_> {
    RecordedEventOut { at_ns: at.saturating_sub(begin).0, name }
}

fn spread(of: Spread) -> SpreadOut {
    SpreadOut { mean: of.mean, max: of.max }
}

fn drive(drive: &RecordedDrive) -> DriveOut<'_> {
    DriveOut {
        name: &drive.name,
        kind: &drive.kind,
        identity: drive.identity.as_deref(),
        iops: spread(drive.iops),
        throughput_bytes_per_s: spread(drive.throughput),
        read_latency_ns: drive.read_latency.map(spread),
        write_latency_ns: drive.write_latency.map(spread),
        queue_depth: spread(drive.queue),
        busy_share: spread(drive.busy),
    }
}

/// One step of a host, a document per line.
#[derive(Serialize)]
struct Step<'a> {
    schema: &'static str,
    schema_version: u32,
    host: &'a str,
    at_unix_ms: i64,
    /// Length of the step.
    span_ns: u64,
    cpu_busy_share: Option<f64>,
    cpu_iowait_share: Option<f64>,
    cpu_steal_share: Option<f64>,
    memory_total_bytes: Option<u64>,
    memory_available_bytes: Option<u64>,
    cpu_some_share: Option<f64>,
    io_some_share: Option<f64>,
    io_full_share: Option<f64>,
    memory_some_share: Option<f64>,
    memory_full_share: Option<f64>,
    tcp_sent_again_share: Option<f64>,
    drives: Vec<StepDrive<'a>>,
    networks: Vec<StepNetwork<'a>>,
    temperatures: Vec<StepTemperature<'a>>,
    /// Shares of NFS that are mounted; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nfs_mounts: Vec<StepNfsMount<'a>>,
    /// The server of NFS; absent where it does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    nfs_server: Option<StepNfsServer>,
}

#[derive(Serialize)]
struct StepNfsMount<'a> {
    /// Where it is mounted.
    mount: &'a str,
    /// What is mounted.
    export: &'a str,
    reads_per_s: f64,
    writes_per_s: f64,
    /// Requests that neither read nor write.
    others_per_s: f64,
    read_bytes_per_s: f64,
    write_bytes_per_s: f64,
    /// Waiting in the queue of the client included; null where nothing was read.
    read_latency_ns_mean: Option<u64>,
    write_latency_ns_mean: Option<u64>,
    sent_again_per_s: f64,
}

#[derive(Serialize)]
struct StepNfsServer {
    requests_per_s: f64,
    read_bytes_per_s: f64,
    write_bytes_per_s: f64,
}

#[derive(Serialize)]
struct StepDrive<'a> {
    name: &'a str,
    reads_per_s: f64,
    writes_per_s: f64,
    read_bytes_per_s: f64,
    write_bytes_per_s: f64,
    /// Null where nothing was read.
    read_latency_ns_mean: Option<u64>,
    write_latency_ns_mean: Option<u64>,
    queue_depth_mean: f64,
    busy_share: f64,
}

#[derive(Serialize)]
struct StepNetwork<'a> {
    name: &'a str,
    received_bytes_per_s: f64,
    sent_bytes_per_s: f64,
    errors_per_s: f64,
    drops_per_s: f64,
}

#[derive(Serialize)]
struct StepTemperature<'a> {
    device: &'a str,
    celsius: f64,
}

/// One step of a host as JSON on one line.
pub fn host_json(host: &str, at_unix_ms: i64, rates: &HostRates, temperatures: &[Temperature]) -> String {
    let step = Step {
        schema: "stend-host-step",
        schema_version: SCHEMA_VERSION,
        host,
        at_unix_ms,
        span_ns: rates.span.0,
        cpu_busy_share: rates.cpu_busy,
        cpu_iowait_share: rates.cpu_iowait,
        cpu_steal_share: rates.cpu_steal,
        memory_total_bytes: rates.memory.map(|m| m.total_bytes),
        memory_available_bytes: rates.memory.map(|m| m.available_bytes),
        cpu_some_share: rates.stalls.cpu_some,
        io_some_share: rates.stalls.io_some,
        io_full_share: rates.stalls.io_full,
        memory_some_share: rates.stalls.memory_some,
        memory_full_share: rates.stalls.memory_full,
        tcp_sent_again_share: rates.tcp_sent_again,
        drives: rates.drives.iter().map(step_drive).collect(),
        networks: rates.networks.iter().map(step_network).collect(),
        temperatures: temperatures
            .iter()
            .map(|t| StepTemperature { device: &t.device, celsius: t.milli_celsius as f64 / 1e3 })
            .collect(),
        nfs_mounts: rates.nfs_mounts.iter().map(step_nfs_mount).collect(),
        nfs_server: rates.nfs_server.map(step_nfs_server),
    };
    // A tree of structs, strings and numbers has no case in which it cannot be written.
    serde_json::to_string(&step).unwrap_or_default() + "\n"
}

fn step_drive(drive: &DriveRates) -> StepDrive<'_> {
    StepDrive {
        name: &drive.name,
        reads_per_s: drive.reads,
        writes_per_s: drive.writes,
        read_bytes_per_s: drive.read_bytes,
        write_bytes_per_s: drive.write_bytes,
        read_latency_ns_mean: drive.read_latency.map(|ns| ns.0),
        write_latency_ns_mean: drive.write_latency.map(|ns| ns.0),
        queue_depth_mean: drive.queue,
        busy_share: drive.busy,
    }
}

fn step_nfs_mount(mount: &NfsMountRates) -> StepNfsMount<'_> {
    StepNfsMount {
        mount: &mount.at,
        export: &mount.export,
        reads_per_s: mount.reads,
        writes_per_s: mount.writes,
        others_per_s: mount.others,
        read_bytes_per_s: mount.read_bytes,
        write_bytes_per_s: mount.write_bytes,
        read_latency_ns_mean: mount.read_latency.map(|ns| ns.0),
        write_latency_ns_mean: mount.write_latency.map(|ns| ns.0),
        sent_again_per_s: mount.sent_again,
    }
}

fn step_nfs_server(server: NfsServerRates) -> StepNfsServer {
    StepNfsServer {
        requests_per_s: server.requests,
        read_bytes_per_s: server.read_bytes,
        write_bytes_per_s: server.write_bytes,
    }
}

fn step_network(network: &NetworkRates) -> StepNetwork<'_> {
    StepNetwork {
        name: &network.name,
        received_bytes_per_s: network.received,
        sent_bytes_per_s: network.sent,
        errors_per_s: network.errors,
        drops_per_s: network.drops,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retention_is_told_in_days_where_it_is_whole_days() {
        let text = retention_text(&Retention::usual(Nanos::SECOND));
        assert_eq!(text.en, "1 s for 2 d, 10 s for 14 d, 5 min for 400 d, at most 1 GiB");
        assert_eq!(text.ru, "шаг 1 с — 2 сут, шаг 10 с — 14 сут, шаг 5 мин — 400 сут, не более 1 ГиБ");
        assert_eq!(age(Nanos::secs(90 * 60), Lang::En), "90 min");
    }
}
