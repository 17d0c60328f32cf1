//! A stream in options of fio, as far as fio has words for it, and what it has none for.
//!
//! Source: fio 3.33, HOWTO.rst, "Parameters list".

use stend_analyse::as_fio::GroupAsFio;
use stend_base::{Bytes, Lang, Nanos, Say, say};
use stend_record::{RunRecord, TargetKind};
use stend_spec::as_fio;
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Batch, Data, Pages, Stream, Sync};

/// What its I/Os do and in which order: `randread`. What a stream does besides that is in [`left_out`].
pub fn kinds(stream: &Stream) -> &'static str {
    let mix = stream.mix;
    let in_order = matches!(stream.pattern, Pattern::Sequential | Pattern::SharedSequential | Pattern::Append)
        || matches!(stream.pattern, Pattern::Reverse | Pattern::Strided { .. });
    match (mix.read > 0, mix.write > 0, mix.erases(), in_order) {
        (false, false, _, true) => "trim",
        (false, false, _, false) => "randtrim",
        (true, false, _, true) => "read",
        (true, false, _, false) => "randread",
        (false, true, _, true) => "write",
        (false, true, _, false) => "randwrite",
        (true, true, _, true) => "rw",
        (true, true, _, false) => "randrw",
    }
}

/// The options of a stream, all jobs of it reported as one.
pub(super) fn options(run: &RunRecord, group: &GroupAsFio, stream: u16) -> Vec<(String, String)> {
    let trial = &group.asked;
    let Some(stream) = trial.streams.get(usize::from(stream)) else { return Vec::new() };
    let micros = |time: Nanos| format!("{}us", time.0.div_ceil(1000));
    let mut out: Vec<(String, String)> = Vec::new();
    let mut put = |name: &str, value: String| out.push((name.to_string(), value));
    put("rw", kinds(stream).to_string());
    if stream.mix.read > 0 && stream.mix.write > 0 {
        put("rwmixread", stream.mix.read.to_string());
    }
    put("bs", size(stream.block_size));
    if !stream.block_mix.is_empty() {
        put("bssplit", as_fio::shares(&stream.block_mix, size));
    }
    put("ioengine", engine(&group.backend).to_string());
    // It may be unknown for imported results; fio has no word for that.
    if stream.queue_depth > 0 {
        put("iodepth", stream.queue_depth.to_string());
    }
    put("numjobs", stream.jobs.to_string());
    put("group_reporting", "1".to_string());
    if stend_analyse::is_cache_known(run) {
        put("direct", u8::from(trial.direct).to_string());
    }
    if trial.pages == Pages::Huge {
        put("mem", "shmhuge".to_string());
    }
    let order = as_fio::order(&stream.pattern).unwrap_or_default();
    let words = order.into_iter().chain(as_fio::sync(stream.sync)).chain(as_fio::rate(stream).unwrap_or_default());
    words.chain(besides(stream)).for_each(|(name, value)| put(name, value));
    if let Some(think) = stream.think {
        put("thinktime", micros(think.time));
        put("thinktime_blocks", think.every.to_string());
    }
    if trial.ramp > Nanos(0) {
        put("ramp_time", micros(trial.ramp));
    }
    put("time_based", "1".to_string());
    put("runtime", micros(trial.window));
    if let Some(target) = run.load().targets.first() {
        let name = if target.kind == TargetKind::Directory { "directory" } else { "filename" };
        put(name, joined(&stend_record::targets::names(&run.load().targets)));
    } else if let Some(named) = run.header.imported.as_ref().filter(|imported| !imported.targets.is_empty()) {
        // What fio itself told is a value of fio already.
        put("filename", if named.tool == "fio" { named.targets.join(":") } else { joined(&named.targets) });
    }
    out
}

/// Batches, contents and CPUs, as in the job files that `export --format fio-job` writes.
fn besides(stream: &Stream) -> as_fio::Options {
    let contents = as_fio::contents(stream.data, stream.block_size_min());
    [as_fio::batch(stream.batch, stream.submit, stream.queue_depth), contents, as_fio::cpus(&stream.place.cpus)]
        .concat()
}

/// Names as one value of fio, which parts them at colons but for those behind a `\` (HOWTO.rst, `filename`).
fn joined(names: &[String]) -> String {
    names.iter().map(|name| name.replace(':', "\\:")).collect::<Vec<_>>().join(":")
}

/// Bytes as people write them for fio, whose `k` is 1024.
fn size(bytes: Bytes) -> String {
    match bytes.0 {
        n if n > 0 && n % (1 << 20) == 0 => format!("{}m", n >> 20),
        n if n > 0 && n % (1 << 10) == 0 => format!("{}k", n >> 10),
        n => n.to_string(),
    }
}

/// fio's name of a way of submitting.
fn engine(backend: &str) -> &str {
    match backend {
        "nvme_passthrough" => "io_uring_cmd",
        "none" => "null",
        // Polling is a switch of the engine.
        other => other.split_once("_sqpoll").or(other.split_once("_iopoll")).map_or(other, |(engine, _)| engine),
    }
}

/// Properties of a stream without an option of fio, which the options therefore do not show.
pub(super) fn left_out(stream: &Stream) -> Vec<Say> {
    let mut out = Vec::new();
    if as_fio::order(&stream.pattern).is_err() {
        let [en, ru] = [Lang::En, Lang::Ru].map(|lang| stend_analyse::pattern_in_words(&stream.pattern, lang));
        out.push(say!("this order of offsets: {en}", "порядок смещений «{ru}»"));
    }
    match stream.sync {
        Sync::Dsync => {
            out.push(say!("writes that are durable one by one (RWF_DSYNC)", "подтверждение каждой записи (RWF_DSYNC)"))
        }
        Sync::SyncFileRange(_) => out.push(say!("this use of sync_file_range", "такие вызовы sync_file_range")),
        _ => {}
    }
    if stream.mix.write_zeroes > 0 {
        out.push(say!("writes of zeroes, which are not in the numbers", "запись нулей, в числа она не входит"));
    }
    if stream.mix.discard > 0 && (stream.mix.read > 0 || stream.mix.write > 0) {
        out.push(say!("discards among reads and writes", "освобождения вперемешку с чтениями и записями"));
    }
    if stream.rate.is_some() && as_fio::rate(stream).is_none() {
        out.push(say!(
            "a rate that changes, or does not divide evenly among the jobs",
            "частота, которая меняется или не делится на задания нацело"
        ));
    }
    if stream.batch.one_stamp != Batch::default().one_stamp {
        out.push(say!("one reading of the clock for a batch", "одно чтение часов на пачку"));
    }
    if stream.data.dedup_thousandths != Data::default().dedup_thousandths {
        out.push(say!("this share of equal blocks (`dedup`)", "такая доля равных блоков (`dedup`)"));
    }
    if stream.verify.is_some() {
        out.push(say!("marks with as much detail as `verify`", "метки с той же подробностью, что у `verify`"));
    }
    if stream.region.is_some() {
        out.push(say!("the regions of its jobs in a part of the range", "места его заданий в части диапазона"));
    }
    if stream.place.memory.is_some() {
        out.push(say!("the node of its buffers", "узел его буферов"));
    }
    if stream.replay.is_some() {
        out.push(say!("the trace that is replayed", "воспроизводимая трасса"));
    }
    out
}
