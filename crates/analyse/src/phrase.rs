//! Phrases that several findings share: workloads, operations and rates in words, in both languages.

mod conditioned;
mod files;
mod load_hosts;
mod open_loop;

pub use self::conditioned::{conditioned, method};
pub use self::files::files;
pub use self::load_hosts::on_each;
pub use self::open_loop::rate_of;
use self::open_loop::{at_most, paced};
use crate::findings::{Estimate, Headline};
use stend_base::{Bytes, Lang, Millionths, Nanos, Say, format, say_in};
use stend_spec::app::App;
use stend_spec::topology::ranges;
use stend_spec::trace::Pace;
use stend_spec::workload::{BlockShare, Data, Op, Pages, Pattern, Stream, Submit, Sync, Trial, Zone};

/// From here on a case is described by its throughput.
const LARGE_BLOCK: Bytes = Bytes::kib(64);

/// Above this half width the ends of an interval are printed instead (by eye: a factor of three between them).
const HALF_WIDTH_WIDE: f64 = 0.5;

/// More zones than this make a name that nobody reads.
const ZONES_TOLD: usize = 4;

/// A percentile as another tool printed it, over its jobs and trials: `1.2 ms`, `1.2 ms to 1.4 ms`.
pub fn printed((least, most): (Nanos, Nanos), lang: Lang) -> String {
    let (low, high) = (format::latency(least, lang), format::latency(most, lang));
    if least == most { low } else { format!("{low}{}{high}", lang.pick(" to ", "…")) }
}

/// A workload in words: `random read, 4 KiB, 32 in flight`; streams joined by ` + `.
pub fn workload(trial: &Trial) -> Say {
    Say::both(|lang| {
        if let Some(app) = &trial.app {
            return application(app, lang);
        }
        let mut text = trial.streams.iter().map(|s| stream(s, lang)).collect::<Vec<_>>().join(" + ");
        if trial.parts > 1 {
            let parts = trial.parts;
            text += &match trial.streams.iter().any(|stream| stream.region.is_some()) {
                true => say_in!(lang, ", of each of {parts} targets", ", на каждом из {parts} объектов"),
                false => {
                    say_in!(
                        lang,
                        ", each job on one of {parts} targets",
                        ", каждое задание на одном из {parts} объектов"
                    )
                }
            };
        }
        if !trial.direct {
            text.push_str(lang.pick(", through the page cache", ", через страничный кэш"));
        }
        if trial.pages == Pages::Huge {
            text.push_str(lang.pick(", buffers in huge pages", ", буферы в больших страницах"));
        }
        text
    })
}

/// `PostgreSQL under sysbench oltp_read_write, 8 connections, 20/s, 200 MiB, at most 1 CPU and 512 MiB of memory each`.
fn application(app: &App, lang: Lang) -> String {
    let mut text = app.program.say().get(lang).to_string();
    let clients = say_in!(lang, ", {n} connections", ", соединений: {n}", n = app.clients);
    text += &clients;
    if let Some(rate) = app.rate {
        text += &format!(", {}", format::rate(rate, lang));
    }
    text += &format!(", {}", format::bytes(app.data, lang));
    if let Some(limits) = app.limits {
        let cpus = format::number(f64::from(limits.cpu_thousandths) / 1000.0, lang);
        text += &say_in!(
            lang,
            ", at most {cpus} CPU and {m} of memory",
            ", не более {cpus} CPU и {m} памяти",
            m = format::bytes(limits.memory, lang)
        );
        if let Some(iops) = limits.iops {
            text += &say_in!(lang, " and {iops} IOPS each way", " и {iops} IOPS в каждую сторону");
        }
    }
    text + lang.pick(" each", " каждому")
}

fn stream(stream: &Stream, lang: Lang) -> String {
    let what = operations(stream, lang);
    let size = sizes(stream, lang);
    // An imported run may lack it.
    let depth = match stream.queue_depth {
        0 => "?".to_string(),
        depth => depth.to_string(),
    };
    let jobs = if stream.jobs == 1 { String::new() } else { format!("{} × ", stream.jobs) };
    let pattern = pattern(&stream.pattern, lang);
    let more = sync(stream.sync, lang) + &data(stream.data, lang) + &place(stream, lang) + verified(stream, lang);
    match &stream.rate {
        Some(rate) => format!("{what}{pattern}, {size}, {}{more}", paced(rate, &format!("{jobs}{depth}"), lang)),
        None if stream.is_open() => {
            format!("{what}{pattern}, {size}, {}{more}", at_most(&format!("{jobs}{depth}"), lang))
        }
        None => format!("{what}{pattern}, {size}, {jobs}{depth} {}{more}", lang.pick("in flight", "в очереди")),
    }
}

/// Where it works and when it rests, if that was asked for: `, in 4 GiB from 1 GiB, resting 1 ms after every 8`.
pub fn place(stream: &Stream, lang: Lang) -> String {
    let region = stream.region.map(|region| {
        say_in!(
            lang,
            ", in {l} from {s}",
            ", в {l} от {s}",
            l = format::bytes(region.len, lang),
            s = format::bytes(region.start, lang)
        )
    });
    let think = stream.think.map(|think| {
        let every = match (lang, think.every) {
            (Lang::En, 1) => "each".to_string(),
            (Lang::En, n) => format!("every {n}"),
            (Lang::Ru, 1) => "каждой".to_string(),
            (Lang::Ru, n) => format!("каждых {n}"),
        };
        say_in!(lang, ", resting {t} after {every}", ", пауза {t} после {every}", t = format::latency(think.time, lang))
    });
    let batch = Some(stream.batch).filter(|batch| batch.is_any()).map(|batch| {
        let stamps = if batch.one_stamp {
            lang.pick(", one time stamp", ", одна отметка времени")
        } else {
            ""
        };
        say_in!(lang, ", {n} at a time{stamps}", ", пачками по {n}{stamps}", n = batch.size)
    });
    let cpus = Some(ranges(&stream.place.cpus)).filter(|cpus| !cpus.is_empty()).map(|cpus| format!(", CPU {cpus}"));
    let memory =
        stream.place.memory.map(|node| say_in!(lang, ", memory of NUMA node {node}", ", память узла NUMA {node}"));
    let submit = match stream.submit {
        Submit::Auto => None,
        Submit::Each => Some(say_in!(lang, ", each submitted by itself", ", каждая подаётся отдельно")),
        Submit::Batch => Some(say_in!(lang, ", submitted together", ", подаются вместе")),
    };
    [region, think, batch, submit, cpus, memory].into_iter().flatten().collect()
}

/// What I/Os do, and in which order: `random read`, `random, 70 % reads and 30 % writes`.
pub fn operations(stream: &Stream, lang: Lang) -> String {
    let random = stream.pattern.is_scattered();
    let shares: Vec<(Op, u8)> = stream.mix.shares().collect();
    // Without the options of an imported run its order is not known either; vdbench prints the order without the depth.
    if stream.queue_depth == 0 && !random {
        let part = |(op, share): &(Op, u8)| format!("{share} % {}", of_mix(*op, lang));
        return match shares.as_slice() {
            [(op, _)] => self::op(*op).get(lang).to_string(),
            parts => parts.iter().map(part).collect::<Vec<_>>().join(", "),
        };
    }
    if let Some(traced) = traced(stream, &shares, lang) {
        return traced;
    }
    if let [(op, _)] = shares.as_slice() {
        let durable = stream.sync.is_durable();
        return match lang {
            Lang::En => {
                let durable = if durable { "durable " } else { "" };
                let order = if random { "random" } else { "sequential" };
                format!("{durable}{order} {}", self::op(*op).en)
            }
            Lang::Ru => {
                // A discard is neuter in Russian as a read is; writes, of data and of zeroes, are feminine.
                let neuter = matches!(op, Op::Read | Op::Discard);
                let order = match (random, neuter) {
                    (true, true) => "случайное",
                    (true, false) => "случайная",
                    (false, true) => "последовательное",
                    (false, false) => "последовательная",
                };
                let durable = if durable { " с подтверждением" } else { "" };
                format!("{order} {}{durable}", self::op(*op).ru)
            }
        };
    }
    let parts: Vec<String> = shares.into_iter().map(|(op, share)| format!("{share} % {}", of_mix(op, lang))).collect();
    let order = match random {
        true => lang.pick("random", "случайный доступ"),
        false => lang.pick("sequential", "последовательный доступ"),
    };
    match parts.as_slice() {
        [first @ .., last] => format!("{order}, {}{}{last}", first.join(", "), lang.pick(" and ", " и ")),
        [] => order.to_string(),
    }
}

/// Operations of which there is a share.
fn of_mix(op: Op, lang: Lang) -> &'static str {
    match op {
        Op::Read => lang.pick("reads", "чтения"),
        Op::Write => lang.pick("writes", "записи"),
        Op::Discard => lang.pick("discards", "освобождения"),
        Op::WriteZeroes => lang.pick("writes of zeroes", "записи нулей"),
        Op::Sync => lang.pick("syncs", "синхронизации"),
    }
}

/// `trace at pace 2, 70 % reads and 30 % writes`; `None` if the stream replays none.
fn traced(stream: &Stream, shares: &[(Op, u8)], lang: Lang) -> Option<String> {
    let pace = match stream.replay?.pace {
        Pace::Asap => say_in!(lang, "trace as fast as possible", "трасса как можно быстрее"),
        pace => say_in!(
            lang,
            "trace at pace {p}",
            "трасса с темпом {p}",
            p = pace.label().replace('.', lang.pick(".", ","))
        ),
    };
    let parts: Vec<String> = shares.iter().map(|(op, share)| format!("{share} % {}", of_mix(*op, lang))).collect();
    Some(format!("{pace}, {}", parts.join(", ")))
}

/// `, data 2:1 compressible, 1.5:1 repeated`; empty if neither was asked for.
pub fn data(data: Data, lang: Lang) -> String {
    let ratio = |thousandths: u32| (f64::from(thousandths) / 1e3).to_string().replace('.', lang.pick(".", ","));
    let (compress, dedup) = (ratio(data.compress_thousandths), ratio(data.dedup_thousandths));
    let compresses = format!("{compress}:1 {}", lang.pick("compressible", "сжимаемые"));
    let repeats = format!("{dedup}:1 {}", lang.pick("repeated", "повторяющиеся"));
    match (data.compress_thousandths > 1000, data.dedup_thousandths > 1000) {
        (false, false) => String::new(),
        (true, false) => format!(", {} {compresses}", lang.pick("data", "данные")),
        (false, true) => format!(", {} {repeats}", lang.pick("data", "данные")),
        (true, true) => format!(", {} {compresses}, {repeats}", lang.pick("data", "данные")),
    }
}

/// `, verified`; empty if the stream is not.
pub fn verified(stream: &Stream, lang: Lang) -> &'static str {
    match stream.verify {
        Some(verify) if verify.crash => lang.pick(", verified across crashes", ", со сверкой после сбоев"),
        Some(_) => lang.pick(", verified", ", со сверкой"),
        None => "",
    }
}

/// Bytes per I/O: `4 KiB`, or `60 % 4 KiB and 40 % 64 KiB`.
pub fn sizes(stream: &Stream, lang: Lang) -> String {
    let of = |share: BlockShare| match share.percent {
        100 => format::bytes(share.size, lang),
        percent => format!("{percent} % {}", format::bytes(share.size, lang)),
    };
    if stream.replay.is_some() {
        return say_in!(lang, "up to ", "до ") + &format::bytes(stream.block_size, lang);
    }
    stream.sizes().map(of).collect::<Vec<_>>().join(lang.pick(" and ", " и "))
}

/// What "random" and "sequential" leave open of a pattern, such as ` (Zipf, exponent 1.2)`; empty if nothing.
pub fn pattern(pattern: &Pattern, lang: Lang) -> String {
    // As it was asked for, not rounded.
    let number = |value: f64| value.to_string().replace('.', lang.pick(".", ","));
    let percent = |share: Millionths| format!("{} %", number(share.as_percent()));
    let words = match pattern {
        Pattern::Random | Pattern::Sequential | Pattern::Traced => return String::new(),
        Pattern::SharedSequential => say_in!(lang, "one cursor for all jobs", "общий курсор всех заданий"),
        Pattern::Append => say_in!(lang, "appending to a file of its own", "дописывание в собственный файл"),
        Pattern::Reverse => say_in!(lang, "backwards", "от конца к началу"),
        Pattern::Uniform => say_in!(lang, "with repetition", "с повторениями"),
        Pattern::Zipf { theta_thousandths } => {
            let exponent = number(f64::from(*theta_thousandths) / 1e3);
            say_in!(lang, "Zipf, exponent {exponent}", "Ципф, показатель {exponent}")
        }
        Pattern::Pareto { hot } => say_in!(lang, "Pareto, {hot} hot", "Парето, горячих {hot}", hot = percent(*hot)),
        Pattern::Normal { deviation } => {
            let deviation = percent(*deviation);
            say_in!(lang, "normal, deviation {deviation}", "нормальное, отклонение {deviation}")
        }
        Pattern::Zones(zones) => {
            let of = |zone: &Zone| {
                say_in!(lang, "{s} gets {a}", "{s} получает {a}", s = percent(zone.space), a = percent(zone.accesses))
            };
            let shown = zones.iter().take(ZONES_TOLD).map(of).collect::<Vec<_>>().join(", ");
            let more = if zones.len() > ZONES_TOLD { ", …" } else { "" };
            say_in!(lang, "zones: {shown}{more}", "зоны: {shown}{more}")
        }
        Pattern::Strided { stride } => {
            say_in!(lang, "strides of {stride}", "с шагом {stride}", stride = format::bytes(*stride, lang))
        }
        Pattern::Mixed { sequential } => {
            say_in!(lang, "{jumps} jump", "{jumps} — скачки", jumps = percent(sequential.rest()))
        }
    };
    format!(" ({words})")
}

fn sync(sync: Sync, lang: Lang) -> String {
    let (name, every) = match sync {
        Sync::None => return String::new(),
        Sync::Dsync => return say_in!(lang, ", each with RWF_DSYNC", ", каждая с RWF_DSYNC"),
        Sync::ODsync => return say_in!(lang, ", open with O_DSYNC", ", открыто с O_DSYNC"),
        Sync::SyncFileRange(every) => ("sync_file_range", every),
        Sync::Fdatasync(every) => ("fdatasync", every),
        Sync::Fsync(every) => ("fsync", every),
    };
    match (lang, every) {
        (_, 0) => String::new(),
        (Lang::En, 1) => format!(", {name} after each"),
        (Lang::En, n) => format!(", {name} after every {n}"),
        (Lang::Ru, 1) => format!(", {name} после каждой"),
        (Lang::Ru, n) => format!(", {name} после каждых {n}"),
    }
}

/// An operation as a noun.
pub fn op(op: Op) -> Say {
    match op {
        Op::Read => Say::both(|l| l.pick("read", "чтение").into()),
        Op::Write => Say::both(|l| l.pick("write", "запись").into()),
        Op::Discard => Say::both(|l| l.pick("discard", "освобождение").into()),
        Op::WriteZeroes => Say::both(|l| l.pick("write of zeroes", "запись нулей").into()),
        Op::Sync => Say::both(|l| l.pick("sync", "синхронизация").into()),
    }
}

/// Which rate tells a workload: throughput where every stream has large blocks, I/Os otherwise.
pub fn headline(trial: &Trial) -> Headline {
    let large = trial.streams.iter().all(|s| s.block_size_min() >= LARGE_BLOCK);
    if large { Headline::Throughput } else { Headline::Iops }
}

/// A rate alone, `84 200 IOPS`.
pub fn plain_rate(headline: Headline, value: f64, lang: Lang) -> String {
    match headline {
        Headline::Iops => format!("{} IOPS", format::iops(value, lang)),
        Headline::Throughput => format::throughput(value, lang),
    }
}

/// A rate with half its interval, `84 200 IOPS ± 1.3 %`; with the interval itself where that is so
/// wide that the value alone says little.
pub fn rate(headline: Headline, estimate: &Estimate, lang: Lang) -> String {
    let number = |value: f64| plain_rate(headline, value, lang);
    let value = number(estimate.value);
    let Some((low, high)) = estimate.interval.filter(|_| estimate.value > 0.0) else { return value };
    if let Some(half) = estimate.half_width().filter(|half| *half <= HALF_WIDTH_WIDE) {
        return format!("{value} {}", format::plus_minus(half, lang));
    }
    let (low, high) = (number(low), number(high));
    say_in!(lang, "{value} (95 %: {low} to {high})", "{value} (95 %: от {low} до {high})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Basis;
    use crate::fixture::{case, run_of};
    use expect_test::expect;
    use stend_spec::workload::Mix;

    #[test]
    fn order_and_depth_that_are_not_known_are_not_told() {
        let known = Stream { queue_depth: 8, ..Stream::new(Mix::of_reads(70), Pattern::Sequential, Bytes::kib(4)) };
        let unknown = Stream { queue_depth: 0, ..known.clone() };
        assert_eq!(stream(&known, Lang::En), "sequential, 70 % reads and 30 % writes, 4 KiB, 8 in flight");
        assert_eq!(stream(&unknown, Lang::En), "70 % reads, 30 % writes, 4 KiB, ? in flight");
        let scattered = Stream { pattern: Pattern::Uniform, ..unknown.clone() };
        assert_eq!(
            stream(&scattered, Lang::En),
            "random, 70 % reads and 30 % writes (with repetition), 4 KiB, ? in flight"
        );
        let writes = Stream { mix: Mix::of_reads(0), ..unknown };
        assert_eq!(stream(&writes, Lang::Ru), "запись, 4 КиБ, ? в очереди");
    }

    #[test]
    fn data_are_told_where_they_can_be_reduced() {
        let told = |compress_thousandths, dedup_thousandths| {
            [Lang::En, Lang::Ru].map(|lang| data(Data { compress_thousandths, dedup_thousandths }, lang)).join(" | ")
        };
        assert_eq!(data(Data::default(), Lang::En), "");
        let all = [told(2000, 1000), told(1000, 1500), told(2500, 1500)];
        expect![[r#"
            , data 2:1 compressible | , данные 2:1 сжимаемые
            , data 1.5:1 repeated | , данные 1,5:1 повторяющиеся
            , data 2.5:1 compressible, 1.5:1 repeated | , данные 2,5:1 сжимаемые, 1,5:1 повторяющиеся"#]]
        .assert_eq(&all.join("\n"));
    }

    #[test]
    fn a_pattern_tells_what_random_and_sequential_leave_open() {
        let told = |pattern: Pattern| {
            let mut case = case("x", 100, 1, Sync::None);
            case.streams[0].pattern = pattern;
            let record = run_of(vec![case]).trial(0).done().record();
            let said = workload(&record.trials[0].asked);
            [said.en, said.ru].map(|text| text.split(", 4 ").next().unwrap_or_default().to_string()).join(" | ")
        };
        let percent = Millionths::percent;
        let zones = [(10, 90), (90, 10)].map(|(s, a)| Zone { space: percent(s), accesses: percent(a) });
        let all = [
            Pattern::Sequential,
            Pattern::SharedSequential,
            Pattern::Append,
            Pattern::Reverse,
            Pattern::Random,
            Pattern::Uniform,
            Pattern::Zipf { theta_thousandths: 1250 },
            Pattern::Pareto { hot: Millionths(125_000) },
            Pattern::Normal { deviation: percent(10) },
            Pattern::Zones(zones.to_vec()),
            Pattern::Zones([zones[0]; 5].to_vec()),
            Pattern::Strided { stride: Bytes::mib(1) },
            Pattern::Mixed { sequential: percent(60) },
        ];
        expect![[r#"
            sequential read | последовательное чтение
            sequential read (one cursor for all jobs) | последовательное чтение (общий курсор всех заданий)
            sequential read (appending to a file of its own) | последовательное чтение (дописывание в собственный файл)
            sequential read (backwards) | последовательное чтение (от конца к началу)
            random read | случайное чтение
            random read (with repetition) | случайное чтение (с повторениями)
            random read (Zipf, exponent 1.25) | случайное чтение (Ципф, показатель 1,25)
            random read (Pareto, 12.5 % hot) | случайное чтение (Парето, горячих 12,5 %)
            random read (normal, deviation 10 %) | случайное чтение (нормальное, отклонение 10 %)
            random read (zones: 10 % gets 90 %, 90 % gets 10 %) | случайное чтение (зоны: 10 % получает 90 %, 90 % получает 10 %)
            random read (zones: 10 % gets 90 %, 10 % gets 90 %, 10 % gets 90 %, 10 % gets 90 %, …) | случайное чтение (зоны: 10 % получает 90 %, 10 % получает 90 %, 10 % получает 90 %, 10 % получает 90 %, …)
            sequential read (strides of 1 MiB) | последовательное чтение (с шагом 1 МиБ)
            sequential read (40 % jump) | последовательное чтение (40 % — скачки)"#]].assert_eq(&all.map(told).join("\n"));
    }

    #[test]
    fn an_interval_that_is_too_wide_for_a_percentage_is_told_by_its_ends() {
        let of = |low, high| Estimate { value: 1000.0, interval: Some((low, high)), basis: Basis::Trials { n: 6 } };
        assert_eq!(rate(Headline::Iops, &of(900.0, 1100.0), Lang::En), "1000 IOPS ± 10 %");
        assert_eq!(rate(Headline::Iops, &of(0.0, 2500.0), Lang::Ru), "1000 IOPS (95 %: от 0 IOPS до 2500 IOPS)");
    }

    #[test]
    fn what_takes_data_away_is_told_alone_and_in_a_mix() {
        let told = |mix: Mix| {
            let mut case = case("x", 100, 1, Sync::None);
            case.streams[0].mix = mix;
            let said = workload(&run_of(vec![case]).trial(0).done().record().trials[0].asked);
            [said.en, said.ru].map(|text| text.split(", 4 ").next().unwrap_or_default().to_string()).join(" | ")
        };
        let all = [
            Mix::only(Op::Discard),
            Mix::only(Op::WriteZeroes),
            Mix { read: 60, write: 25, discard: 5, write_zeroes: 10 },
            Mix { read: 0, write: 0, discard: 50, write_zeroes: 50 },
        ];
        expect![[r#"
            random discard | случайное освобождение
            random write of zeroes | случайная запись нулей
            random, 60 % reads, 25 % writes, 5 % discards and 10 % writes of zeroes | случайный доступ, 60 % чтения, 25 % записи, 5 % освобождения и 10 % записи нулей
            random, 50 % discards and 50 % writes of zeroes | случайный доступ, 50 % освобождения и 50 % записи нулей"#]]
        .assert_eq(&all.map(told).join("\n"));
    }

    #[test]
    fn workloads_read_naturally_in_both_languages() {
        let mut text = String::new();
        for (read, depth, sync) in
            [(100, 32, Sync::None), (0, 1, Sync::Fdatasync(1)), (70, 32, Sync::None), (0, 4, Sync::Fsync(8))]
        {
            let record = run_of(vec![case("x", read, depth, sync)]).trial(0).done().record();
            let mut asked = record.trials[0].asked.clone();
            asked.streams[0].jobs = if depth == 4 { 2 } else { 1 };
            asked.direct = depth != 4;
            asked.pages = if depth == 1 { Pages::Huge } else { Pages::Ordinary };
            let say = workload(&asked);
            text += &format!("{}\n{}\n", say.en, say.ru);
        }
        expect![[r#"
            random read, 4 KiB, 32 in flight
            случайное чтение, 4 КиБ, 32 в очереди
            durable random write, 4 KiB, 1 in flight, fdatasync after each, buffers in huge pages
            случайная запись с подтверждением, 4 КиБ, 1 в очереди, fdatasync после каждой, буферы в больших страницах
            random, 70 % reads and 30 % writes, 4 KiB, 32 in flight
            случайный доступ, 70 % чтения и 30 % записи, 4 КиБ, 32 в очереди
            durable random write, 4 KiB, 2 × 4 in flight, fsync after every 8, through the page cache
            случайная запись с подтверждением, 4 КиБ, 2 × 4 в очереди, fsync после каждых 8, через страничный кэш
        "#]]
        .assert_eq(&text);
    }
}
