//! The text of a suite that was made of jobs. Only what jobs of other tools become is written: closed loops and plain rates,
//! no arms, traces or searches. Its maker (`draft`) reads it back.

use super::Imported;
use super::notes::{Note, Weight, in_one_line};
use std::fmt::Write;
use stend_base::{Bytes, Lang, MilliIops, Millionths, Nanos, Say, say};
use stend_spec::pattern::Pattern;
use stend_spec::rate::{Gaps, Rate};
use stend_spec::region::{Extent, Part};
use stend_spec::suite::{Fill, JobsOf, StreamSpec, SuiteCase};
use stend_spec::workload::{Backend, Data, Mix, Pages, Submit, Sync};

/// The file: what was decided as comments, then the suite.
pub(super) fn text(imported: &Imported, lang: Lang) -> String {
    let suite = &imported.suite;
    let mut out = head(imported, lang);
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("suite: {}", quoted(&suite.name)));
    // The load is that of the jobs and nothing beside it.
    line("defaults: {prober: off}".into());
    match suite.fill {
        Some(Fill::Size(size)) => line(format!("fill: {{size: {}}}", bytes(size))),
        Some(Fill::Auto) => line("fill: {size: auto}".into()),
        None => {}
    }
    if let Some(files) = &suite.files
        && let [one] = files.sizes.as_slice()
    {
        line(format!("files: {{count: {}, size: {}}}", files.count, bytes(one.size)));
    }
    let files = suite.files.as_ref().map_or(1, |files| files.count);
    line("cases:".into());
    for case in &suite.cases {
        line(format!("  - name: {}", quoted(&case.name)));
        line(format!("    {}", settings(case)));
        line("    streams:".into());
        for stream in &case.streams {
            line(format!("      - {{{}}}", keys(stream, files).join(", ")));
        }
    }
    out
}

fn head(imported: &Imported, lang: Lang) -> String {
    let mut out = String::new();
    let from = in_one_line(&imported.from);
    let mut comment = |say: Say| {
        // Into a string nothing fails.
        let _ = writeln!(out, "# {}", in_one_line(say.get(lang)));
    };
    comment(say!("Made by `stend import --suite` of {from}", "Сделано `stend import --suite` из {from}"));
    if !imported.targets.is_empty() {
        let list = imported.targets.iter().map(|t| in_one_line(t)).collect::<Vec<_>>().join(" --on ");
        comment(say!(
            "The jobs name these targets; a suite names none, so give them, in this order: --on {list}",
            "В заданиях названы эти объекты; в наборе объектов нет, укажите их в этом порядке: --on {list}"
        ));
    }
    let of = |weight| imported.notes.iter().filter(move |note| note.weight == weight);
    let mut section = |title: Say, notes: Vec<&Note>| {
        if notes.is_empty() {
            return;
        }
        comment(title);
        for note in notes {
            let Say { en, ru } = note.said();
            comment(say!("  {en}", "  {ru}"));
        }
    };
    section(
        say!("Different here, or without effect (--lenient):", "Здесь значит другое или не действует (--lenient):"),
        of(Weight::Changed).collect(),
    );
    section(say!("Decisions:", "Решения:"), of(Weight::Decided).collect());
    let mut names: Vec<&str> = of(Weight::Harmless).map(|note| note.text.en.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        let names = names.join(", ");
        comment(say!(
            "Left out, because it changes no I/O: {names}",
            "Опущено, так как на операции не влияет: {names}"
        ));
    }
    out
}

/// Text in double quotes, as YAML and JSON have them.
fn quoted(text: &str) -> String {
    format!("\"{}\"", in_one_line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

fn settings(case: &SuiteCase) -> String {
    let mut lines = vec![format!("trial: {}", nanos(case.window)), format!("ramp: {}", nanos(case.ramp))];
    lines.push(format!("direct: {}", case.direct));
    if case.pages != Pages::default() {
        let word = stend_spec::keys::pages::PAGES
            .iter()
            .find(|(_, _, is)| *is == case.pages)
            .map_or("ordinary", |(word, ..)| word);
        lines.push(format!("pages: {word}"));
    }
    if case.backend != Backend::Auto {
        let word =
            stend_spec::keys::BACKENDS.iter().find(|(_, _, is)| *is == case.backend).map_or("auto", |(word, ..)| word);
        lines.push(format!("backend: {word}"));
    }
    lines.join("\n    ")
}

/// The keys of a stream of a suite with so many files.
fn keys(stream: &StreamSpec, files: u32) -> Vec<String> {
    let mut keys = vec![format!("op: {}", op(stream.mix)), format!("pattern: {}", pattern(&stream.pattern))];
    keys.push(match stream.block_mix.as_slice() {
        [] => format!("block_size: {}", list(stream.block_size.iter().map(|size| bytes(*size)).collect())),
        mix => {
            let shares: Vec<String> = mix.iter().map(|s| format!("{}: {}", bytes(s.size), s.percent)).collect();
            format!("block_size: {{{}}}", shares.join(", "))
        }
    });
    keys.push(format!("queue_depth: {}", list(stream.queue_depth.iter().map(u32::to_string).collect())));
    let each = |per: u32| list(stream.jobs.iter().map(|jobs| (jobs / per.max(1)).to_string()).collect());
    match stream.jobs_of {
        JobsOf::Files => keys.push(format!("jobs: {{per_file: {}}}", each(files))),
        JobsOf::Target => keys.push(format!("jobs: {{per_target: {}}}", each(1))),
        JobsOf::Range if stream.jobs != [1] => keys.push(format!("jobs: {}", each(1))),
        JobsOf::Range => {}
    }
    keys.extend(sync(stream.sync).map(|sync| format!("sync: {sync}")));
    let data = stream.data;
    if data != Data::default() {
        let ratio = |thousandths: u32| decimal(u64::from(thousandths), 1000);
        let (compress, dedup) = (ratio(data.compress_thousandths), ratio(data.dedup_thousandths));
        keys.push(format!("data: {{compress: {compress}, dedup: {dedup}}}"));
    }
    if !stream.rate.is_empty() {
        keys.push(format!("rate: {}", list(stream.rate.iter().map(rate).collect())));
    }
    keys.extend(stream.verify.map(|verify| format!("verify: {{after: {}}}", verify.after)));
    keys.extend(stream.region.map(|part| format!("region: {}", region(part))));
    keys.extend(stream.think.map(|t| format!("think: {{time: {}, every: {}}}", nanos(t.time), t.every)));
    if stream.batch.size > 1 {
        keys.push(format!("batch: {{size: {}}}", stream.batch.size));
    }
    keys.extend(match stream.submit {
        Submit::Auto => None,
        Submit::Each => Some("submit: each".to_string()),
        Submit::Batch => Some("submit: batch".to_string()),
    });
    if !stream.placement.cpus.is_empty() {
        let cpus: Vec<String> = stream.placement.cpus.iter().map(u32::to_string).collect();
        keys.push(format!("cpus: [{}]", cpus.join(", ")));
    }
    keys
}

/// One value, or an axis.
fn list(values: Vec<String>) -> String {
    if let [one] = values.as_slice() { one.clone() } else { format!("[{}]", values.join(", ")) }
}

fn op(mix: Mix) -> String {
    let all = [("read", mix.read), ("write", mix.write), ("discard", mix.discard), ("write_zeroes", mix.write_zeroes)];
    let present: Vec<_> = all.iter().filter(|(_, share)| *share > 0).collect();
    match present.as_slice() {
        [(name, _)] => (*name).to_string(),
        several => {
            let shares: Vec<String> = several.iter().map(|(name, share)| format!("{name}: {share}")).collect();
            format!("{{{}}}", shares.join(", "))
        }
    }
}

fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Zipf { theta_thousandths } => {
            format!("{{zipf: {{theta: {}}}}}", decimal(u64::from(*theta_thousandths), 1000))
        }
        Pattern::Pareto { hot } => format!("{{pareto: {{hot: {}}}}}", share(*hot)),
        Pattern::Normal { deviation } => format!("{{normal: {{deviation: {}}}}}", share(*deviation)),
        Pattern::Zones(zones) => {
            let one = |z: &stend_spec::pattern::Zone| {
                format!("{{space: {}, accesses: {}}}", share(z.space), share(z.accesses))
            };
            format!("{{zones: [{}]}}", zones.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        Pattern::Strided { stride } => format!("{{strided: {{stride: {}}}}}", bytes(*stride)),
        Pattern::Mixed { sequential } => format!("{{sequential: {}}}", share(*sequential)),
        word => {
            let found = stend_spec::keys::pattern::PATTERNS.iter().find(|(_, _, is)| is == word);
            found.map_or("random", |(word, ..)| word).to_string()
        }
    }
}

fn sync(sync: Sync) -> Option<String> {
    match sync {
        Sync::None => None,
        Sync::Fdatasync(n) => Some(format!("{{fdatasync: {n}}}")),
        Sync::Fsync(n) => Some(format!("{{fsync: {n}}}")),
        Sync::SyncFileRange(n) => Some(format!("{{sync_file_range: {n}}}")),
        Sync::Dsync => Some("dsync".into()),
        Sync::ODsync => Some("o_dsync".into()),
    }
}

fn rate(rate: &Rate) -> String {
    let MilliIops(level) = rate.level().unwrap_or(MilliIops(0));
    let text = format!("{}/s", decimal(level, 1000));
    if rate.gaps == Gaps::Poisson { format!("{{poisson: {text}}}") } else { text }
}

fn region(part: Part) -> String {
    let extent = |extent| match extent {
        Extent::Share(part) => share(part),
        Extent::Size(size) => bytes(size),
    };
    let size = part.size.map(|size| format!(", size: {}", extent(size)));
    format!("{{start: {}{}}}", extent(part.start), size.unwrap_or_default())
}

/// The largest unit of which it is a whole number.
fn bytes(size: Bytes) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let whole = units.iter().find(|(_, shift)| size.0 > 0 && size.0.is_multiple_of(1 << shift));
    whole.map_or_else(|| format!("{}B", size.0), |(unit, shift)| format!("{}{unit}", size.0 >> shift))
}

fn nanos(time: Nanos) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)];
    let whole = units.iter().find(|(_, one)| time.0.is_multiple_of(*one));
    whole.map_or_else(|| format!("{}ns", time.0), |(unit, one)| format!("{}{unit}", time.0 / one))
}

fn share(part: Millionths) -> String {
    format!("{}%", decimal(u64::from(part.0), 10_000))
}

/// `value / unit`, exactly; `unit` is a power of ten.
fn decimal(value: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let text = format!("{}.{:0digits$}", value / unit, value % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
