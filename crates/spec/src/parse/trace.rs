//! `trace`: a stream that makes recorded I/O again. Must not read the trace: only its name is here.

use super::{Map, RAMP, WINDOW, axis, bytes, data, name, placement, thousandths, whole, word};
use crate::keys::{self, Limits};
use crate::pattern::Pattern;
use crate::suite::StreamSpec;
use crate::trace::{Arrival, Beyond, Pace, Source, TraceDevice, TraceSpec};
use crate::workload::Mix;
use crate::yaml::{Node, Value};
use stend_base::{Bytes, Nanos, Result, say};

/// Keys of a stream that a trace leaves nothing to say about.
const TAKEN: [&str; 9] = ["op", "pattern", "block_size", "rate", "sync", "think", "batch", "submit", "verify"];

/// Whether a stream replays a trace.
pub(super) fn is_one(stream: &Node) -> bool {
    matches!(&stream.value, Value::Map(pairs) if pairs.iter().any(|(key, _)| key.name == "trace"))
}

/// A stream that does.
pub(super) fn stream(node: &Node) -> Result<StreamSpec> {
    if let Value::Map(pairs) = &node.value
        && let Some((key, value)) = pairs.iter().find(|(key, _)| TAKEN.contains(&key.name.as_str()))
    {
        let key = &key.name;
        return Err(value.error(say!(
            "`{key}` contradicts `trace`: the trace says what each I/O does, where and when",
            "`{key}` противоречит `trace`: что делает каждая операция, где и когда, говорит трасса"
        )));
    }
    let mut map = Map::of(node, &keys::STREAM)?;
    let nothing = Mix { read: 0, write: 0, discard: 0, write_zeroes: 0 };
    // Whether the trace writes is not known yet; data for writes that do not come harm nobody.
    let any = Mix::of_reads(50);
    let cpus = map.optional("cpus", placement::cpus)?.unwrap_or_default();
    let whole_of = |limits: Limits<u32>| move |node: &Node| axis(node, |n| whole(n, limits));
    let trace = map.required("trace", trace)?;
    let timed = trace.pace.iter().any(|pace| *pace != Pace::Asap);
    let depth = if timed { keys::rate::OPEN_DEPTH } else { 1 };
    let mut spec = StreamSpec::new(nothing, Pattern::Traced, Bytes(0));
    spec.queue_depth = map.optional("queue_depth", whole_of(keys::DEPTH))?.unwrap_or_else(|| vec![depth]);
    spec.jobs = map.optional("jobs", whole_of(keys::JOBS))?.unwrap_or_else(|| vec![1]);
    spec.data = map.optional("data", |node| data::data(node, any))?.unwrap_or_default();
    spec.placement.numa = map.optional("numa", |node| placement::numa(node, &cpus))?.flatten();
    spec.placement.cpus = cpus;
    spec.region = map.optional("region", placement::region)?.flatten();
    spec.trace = Some(trace);
    map.finish()?;
    Ok(spec)
}

fn trace(node: &Node) -> Result<TraceSpec> {
    let mut map = Map::of(node, &keys::trace::TRACE)?;
    let source = Source {
        file: map.required("file", name)?,
        device: map.optional("device", device)?.unwrap_or(TraceDevice::Only),
        arrival: map.optional("arrival", |n| word(n, keys::trace::ARRIVALS))?.unwrap_or(Arrival::Queued),
        align: map.optional("align", align)?,
    };
    let pace = map.optional("pace", |node| axis(node, pace))?.unwrap_or_else(|| vec![Pace::Timed(1000)]);
    let beyond = map.optional("beyond", |n| word(n, keys::trace::BEYOND))?.unwrap_or(Beyond::Refuse);
    map.finish()?;
    Ok(TraceSpec { source, whole: false, unramped: false, pace, beyond })
}

fn pace(node: &Node) -> Result<Pace> {
    match &node.value {
        Value::Int(_) | Value::Float(_) => Ok(Pace::Timed(thousandths(node, keys::trace::PACE)?)),
        _ => word(node, keys::trace::PACES).map_err(|_| {
            node.error(say!(
                "a pace is a number such as `2` or `0.5`, or `asap`",
                "темп — это число, например `2` или `0.5`, либо `asap`"
            ))
        }),
    }
}

fn device(node: &Node) -> Result<TraceDevice> {
    Ok(match name(node)?.as_str() {
        "all" => TraceDevice::All,
        named => TraceDevice::Named(named.to_string()),
    })
}

fn align(node: &Node) -> Result<Bytes> {
    let size = bytes(node)?;
    if keys::trace::ALIGN.hold(&size) && size.0.is_power_of_two() {
        return Ok(size);
    }
    Err(node.error(say!("`align` is a power of two from 512 B to 1 MiB", "`align` — степень двойки от 512 Б до 1 МиБ")))
}

/// Ramp and window of a case with these streams: as named; else a trace that has times is replayed as a whole, and cells in
/// which one is have no ramp.
pub(super) fn lengths(streams: &mut [StreamSpec], ramp: Option<Nanos>, window: Option<Nanos>) -> (Nanos, Nanos) {
    for trace in streams.iter_mut().filter_map(|stream| stream.trace.as_mut()) {
        (trace.whole, trace.unramped) = (window.is_none(), ramp.is_none());
    }
    (ramp.unwrap_or(RAMP), window.unwrap_or(WINDOW))
}

/// Whether the window of any cell of a case is that of its trace.
pub(super) fn gives_window(streams: &[StreamSpec]) -> bool {
    let timed = |trace: &TraceSpec| trace.whole && trace.pace.iter().any(|pace| *pace != Pace::Asap);
    streams.iter().filter_map(|stream| stream.trace.as_ref()).any(timed)
}

/// The shortest ramp of the cells of a case whose ramp is this.
pub(super) fn ramp_least(streams: &[StreamSpec], ramp: Nanos) -> Nanos {
    let begins_at_once = |trace: &TraceSpec| trace.unramped && trace.pace.iter().any(|pace| *pace != Pace::Asap);
    if streams.iter().filter_map(|stream| stream.trace.as_ref()).any(begins_at_once) { Nanos(0) } else { ramp }
}

/// Whether the streams of a case leave the range to the trace: streams without regions would share it.
pub(super) fn alone_or_in_regions(streams: &[StreamSpec], case: &Node) -> Result<()> {
    let traced = streams.iter().any(|stream| stream.trace.is_some());
    if !traced || streams.len() == 1 || streams.iter().all(|stream| stream.region.is_some()) {
        return Ok(());
    }
    Err(case
        .error(say!(
            "a stream with `trace` beside others needs a `region`, and so do they",
            "потоку с `trace` рядом с другими нужен `region`, и им тоже"
        ))
        .hint(say!(
            "`region: {{start: 0%}}` is the whole range; regions may overlap",
            "`region: {{start: 0%}}` — вся область; области могут перекрываться"
        )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::suite;
    use crate::suite::{Suite, SuiteCase};
    use expect_test::expect;
    use stend_base::Lang;

    fn parse(defaults: &str, streams: &str) -> Result<Suite> {
        suite(&format!("suite: x\ndefaults: {{{defaults}}}\ncases:\n  - name: a\n    streams: [{streams}]\n"), "s.yaml")
    }

    fn case(defaults: &str, streams: &str) -> SuiteCase {
        parse(defaults, streams).unwrap().cases.remove(0)
    }

    fn trace(keys: &str) -> TraceSpec {
        case("", &format!("{{trace: {{file: a.iolog{keys}}}}}")).streams.remove(0).trace.unwrap()
    }

    #[test]
    fn a_trace_has_the_defaults_of_its_page_and_takes_what_is_said() {
        let plain = trace("");
        let source =
            Source { file: "a.iolog".into(), device: TraceDevice::Only, arrival: Arrival::Queued, align: None };
        let (pace, beyond) = (vec![Pace::Timed(1000)], Beyond::Refuse);
        assert_eq!(plain, TraceSpec { source, whole: true, unramped: true, pace, beyond });
        let full = trace(", pace: [0.5, 2, asap], device: \"8,0\", arrival: issued, align: 4KiB, beyond: wrap");
        assert_eq!(full.pace, [Pace::Timed(500), Pace::Timed(2000), Pace::Asap]);
        assert_eq!((full.source.device, full.source.arrival), (TraceDevice::Named("8,0".into()), Arrival::Issued));
        assert_eq!((full.source.align, full.beyond), (Some(Bytes::kib(4)), Beyond::Wrap));
        assert_eq!(trace(", device: all").source.device, TraceDevice::All);
    }

    #[test]
    fn the_lengths_are_those_of_the_trace_unless_they_are_named() {
        let lengths = |defaults: &str, pace: &str| {
            let case = case(defaults, &format!("{{trace: {{file: a, pace: {pace}}}}}"));
            let (stream, trace) = (&case.streams[0], case.streams[0].trace.as_ref().unwrap());
            (case.ramp, trace.unramped, case.window, trace.whole, stream.queue_depth[0])
        };
        let second = Nanos::secs(1);
        assert_eq!(lengths("", "1"), (second, true, Nanos::secs(3), true, 64));
        assert_eq!(lengths("ramp: 2s, trial: 5s", "1"), (Nanos::secs(2), false, Nanos::secs(5), false, 64));
        assert_eq!(lengths("", "asap"), (second, true, Nanos::secs(3), true, 1));
    }

    #[test]
    fn the_same_file_read_the_same_way_is_one_trace() {
        let one = "{trace: {file: a}, region: {size: 50%}}";
        let suite = parse("", &format!("{one}, {}, {one}", one.replace("file: a", "file: a, align: 4KiB"))).unwrap();
        let sources: Vec<_> = suite.traces().iter().map(|source| source.align).collect();
        assert_eq!(sources, [None, Some(Bytes::kib(4))]);
    }

    #[test]
    fn no_key_of_a_stream_is_unknown_beside_a_trace() {
        for key in keys::STREAM.keys.iter().map(|key| key.name).filter(|key| *key != "trace") {
            let told = parse("", &format!("{{trace: {{file: a}}, {key}: 1}}"));
            let error = told.err().map(|error| error.message.en).unwrap_or_default();
            assert!(!error.contains("unknown"), "{error}");
        }
    }

    #[test]
    fn what_happens_at_a_time_of_its_own_is_not_held_against_the_usual_window_where_the_trace_gives_it() {
        let of = |trial: &str, pace: &str| {
            let steps = "{schedule: [{at: 0s, rate: 5/s}, {at: 60s, rate: 6/s}]}";
            let other =
                format!("{{op: read, pattern: random, block_size: 4KiB, region: {{size: 10%}}, rate: {steps}}}");
            let events = "[{at: 70s, do: scrub}]";
            let trace = format!("{{trace: {{file: a, pace: {pace}}}, region: {{size: 50%}}}}");
            suite(
                &format!("suite: x\ncases:\n  - {{name: a{trial}, events: {events}, streams: [{trace}, {other}]}}\n"),
                "s.yaml",
            )
        };
        of("", "1").unwrap();
        of("", "[1, asap]").unwrap();
        assert!(of(", trial: 30s", "1").is_err() && of("", "asap").is_err());
    }

    #[test]
    fn traces_without_meaning_are_refused() {
        let one = |keys: &str| format!("{{trace: {{file: a{keys}}}}}");
        let all = [
            "{trace: {pace: 1}}".to_string(),
            "{trace: a.iolog}".into(),
            one(", pace: 0"),
            one(", pace: 101"),
            one(", pace: fast"),
            one(", pace: []"),
            one(", align: 3KiB"),
            one(", align: 2MiB"),
            one(", arrival: done"),
            one(", beyond: ignore"),
            one(", speed: 2"),
            "{trace: {file: a}, op: read}".into(),
            "{trace: {file: a}, rate: 5/s}".into(),
            "{trace: {file: a}, sync: dsync}".into(),
            "{trace: {file: a, pace: asap}, batch: {size: 4}}".into(),
            "{trace: {file: a}, verify: none}".into(),
            "{trace: {file: a}}, {op: read, pattern: random, block_size: 4KiB}".into(),
        ];
        let refused = |streams: &String| parse("", streams).unwrap_err().render(Lang::En);
        expect![[r#"
            error: s.yaml:5:23: trace: the key `file` is missing
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:23: trace: keys are expected, such as `file: …`, found text
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:39: 0 is not a number from 0.01 to 100 with at most three decimals
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:39: 101 is not a number from 0.01 to 100 with at most three decimals
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:39: a pace is a number such as `2` or `0.5`, or `asap`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:39: an axis needs at least one value
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:40: `align` is a power of two from 512 B to 1 MiB
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:40: `align` is a power of two from 512 B to 1 MiB
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:42: `done` is not one of `queued`, `issued`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:41: `ignore` is not one of `refuse`, `wrap`, `scale`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:33: trace: unknown key `speed`
            hint: known keys: `file`, `pace`, `device`, `arrival`, `align`, `beyond`
            error: s.yaml:5:38: `op` contradicts `trace`: the trace says what each I/O does, where and when
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:40: `rate` contradicts `trace`: the trace says what each I/O does, where and when
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:40: `sync` contradicts `trace`: the trace says what each I/O does, where and when
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:53: `batch` contradicts `trace`: the trace says what each I/O does, where and when
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:5:42: `verify` contradicts `trace`: the trace says what each I/O does, where and when
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:4:5: a stream with `trace` beside others needs a `region`, and so do they
            hint: `region: {start: 0%}` is the whole range; regions may overlap"#]]
        .assert_eq(&all.iter().map(refused).collect::<Vec<_>>().join("\n"));
    }
}
