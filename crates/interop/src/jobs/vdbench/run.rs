//! Run definitions of vdbench as cases: each `rd` with its workloads and storage, expanded by its `for…` lists. Must not know
//! lines.

use super::super::draft::DraftCase;
use super::super::notes::{Notes, shown};
use super::lines::{Definition, Pair};
use super::{File, area};
use stend_base::{Bytes, Error, MilliIops, Millionths, Nanos, Result, say};
use stend_spec::pattern::Pattern;
use stend_spec::rate::{Gaps, Rate};
use stend_spec::suite::{JobsOf, StreamSpec};
use stend_spec::workload::{Backend, BlockShare, Data, Mix, Pages, Sync};

/// Threads of each storage definition, where none is named.
const THREADS: u32 = 8;
/// Cases that the run definitions of a file may become.
const CASES_MAX: usize = 1000;

/// Refuses more cases; `rd` is the one with which it becomes so many.
pub(super) fn at_most(count: usize, rd: &Definition) -> Result<()> {
    if count <= CASES_MAX {
        return Ok(());
    }
    Err(rd
        .place
        .error(say!("more than {CASES_MAX} cases", "больше {CASES_MAX} случаев"))
        .hint(say!("shorten the lists, or import in parts", "сократите списки или импортируйте по частям")))
}

/// What all storage definitions lead to, in their order.
pub(super) fn targets(file: &File) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for sd in &file.sds {
        let Some(lun) = sd.get("lun") else {
            let name = shown(&sd.name);
            return Err(sd
                .place
                .error(say!("`sd={name}` has no `lun`", "у `sd={name}` нет `lun`"))
                .hint(say!("write `lun=/dev/sdb`", "напишите `lun=/dev/sdb`")));
        };
        found.push(lun.one()?.to_string());
    }
    Ok(found)
}

/// How long the files are, if the storage is files.
pub(super) fn size(file: &File, notes: &mut Notes) -> Result<Option<Bytes>> {
    let is_file =
        |sd: &&Definition| sd.get("lun").is_some_and(|lun| lun.values.iter().any(|path| !path.starts_with("/dev/")));
    let mut found: Option<Bytes> = None;
    for pair in file.sds.iter().filter(is_file).filter_map(|sd| sd.get("size")) {
        let size = pair.bytes(pair.one()?)?;
        if found.is_some_and(|found| found != size) {
            let text = say!("files of different sizes", "файлы разных размеров");
            notes.changed(&pair.place, text, say!("give all the same", "задайте всем одинаковый"))?;
        }
        notes.decided(
            &pair.place,
            say!(
                "a test file of this size is made in each directory that `--on` names",
                "файл такого размера создаётся в каждом каталоге из `--on`"
            ),
        );
        found = found.max(Some(size));
    }
    Ok(found)
}

/// The cases of a run definition.
pub(super) fn cases(file: &File, rd: &Definition, targets: u32, notes: &mut Notes) -> Result<Vec<DraftCase>> {
    let wds = workloads(file, rd, notes)?;
    let reads = list(rd, "forrdpct", |pair, text| pair.percent(text))?;
    let seeks = list(rd, "forseekpct", |pair, text| seek(pair, text, notes))?;
    at_most(reads.len() * seeks.len(), rd)?;
    let (mut window, mut ramp) = (Nanos::secs(30), Nanos(0));
    match rd.get("elapsed") {
        Some(pair) => window = pair.time()?,
        None => {
            notes.decided(&rd.place, say!("no `elapsed`: a trial lasts 30 s", "нет `elapsed`: испытание длится 30 с"))
        }
    }
    if let Some(pair) = rd.get("warmup") {
        ramp = pair.time()?;
    }
    let (direct, sync) = flags(file, &wds, rd, notes)?;
    let mut cases = Vec::new();
    for read in &reads {
        for seek in &seeks {
            let mut streams = Vec::new();
            for wd in &wds {
                let mut stream = stream(file, rd, wd, (read.as_ref().copied(), seek.clone()), notes)?;
                rates(&mut stream, rd, wd, wds.len() as u64, notes)?;
                threads(&mut stream, file, rd, wd, (wds.len() as u32, targets), notes)?;
                stream.sync = if stream.mix.write > 0 { sync } else { Sync::None };
                stream.data = if stream.mix.write > 0 { file.data } else { Data::default() };
                streams.push(stream);
            }
            if streams.len() > 1 {
                // Each goes over all of each target. Without regions they would share it.
                streams.iter_mut().for_each(|stream| stream.region = stream.region.or(Some(area::ALL)));
            }
            let of = |name: &str, value: Option<u32>| value.map(|value| format!(" {name}={value}")).unwrap_or_default();
            let name = format!(
                "{}{}{}",
                rd.name,
                of("rdpct", *read),
                if seeks.len() > 1 { seek.as_ref().map(label).unwrap_or_default() } else { String::new() }
            );
            cases.push(DraftCase {
                place: rd.place.clone(),
                name,
                streams,
                ramp,
                window,
                direct,
                pages: Pages::Ordinary,
                backend: Backend::Psync,
            });
        }
    }
    Ok(cases)
}

fn label(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Mixed { sequential } => format!(" seekpct={}", sequential.rest().0 / 10_000),
        Pattern::Sequential => " seekpct=0".into(),
        _ => " seekpct=100".into(),
    }
}

/// The definitions that a key names; `*` at the end stands for anything. Without the key: all.
fn named<'a>(known: &'a [Definition], pair: Option<&Pair>, by: &Definition) -> Result<Vec<&'a Definition>> {
    let found: Vec<&Definition> = match pair {
        None => known.iter().collect(),
        Some(pair) => {
            let fits = |name: &str, wanted: &str| {
                wanted.strip_suffix('*').map_or(name == wanted, |start| name.starts_with(start))
            };
            let missing = pair.values.iter().find(|wanted| !known.iter().any(|d| fits(&d.name, wanted)));
            if let Some(wanted) = missing {
                return Err(pair.wrong(wanted, "names that are defined above", "имена, определённые выше"));
            }
            known.iter().filter(|d| pair.values.iter().any(|wanted| fits(&d.name, wanted))).collect()
        }
    };
    if found.is_empty() {
        return Err(by
            .place
            .error(say!("it refers to something that is not defined", "она ссылается на то, что не определено"))
            .hint(say!("`sd=` and `wd=` stand above `rd=`", "`sd=` и `wd=` стоят выше `rd=`")));
    }
    Ok(found)
}

/// The workloads of a run definition, after everything in it that a suite cannot mean.
fn workloads<'f>(file: &'f File, rd: &Definition, notes: &mut Notes) -> Result<Vec<&'f Definition>> {
    let wds = named(&file.wds, rd.get("wd"), rd)?;
    for wd in &wds {
        let sds = named(&file.sds, wd.get("sd"), wd)?;
        if sds.len() != file.sds.len() {
            return Err(on_some(wd));
        }
    }
    for sd in &file.sds {
        storage(sd, notes)?;
    }
    if let [_, _, ..] = wds.as_slice() {
        together(rd, &wds, notes)?;
    }
    if named(&file.sds, rd.get("sd"), rd)?.len() != file.sds.len() {
        return Err(on_some(rd));
    }
    refuse(
        rd,
        &["curve", "stopcurve", "start_cmd", "end_cmd", "forhitarea", "forrhpct", "forwhpct", "maxdata", "format"],
        notes,
    )?;
    for ignored in ["interval", "pause"].iter().filter_map(|key| rd.get(key)) {
        notes.harmless(&ignored.place, &ignored.key);
    }
    Ok(wds)
}

fn on_some(by: &Definition) -> Box<Error> {
    by.place
        .error(say!("a workload on a part of the storage", "нагрузка на части хранилищ"))
        .hint(say!("import a file for each set of `sd=`", "импортируйте по файлу на каждый набор `sd=`"))
}

/// What a storage definition asks for that a target of ours is not.
fn storage(sd: &Definition, notes: &mut Notes) -> Result<()> {
    refuse(sd, &["hitarea", "align", "offset", "replay", "journal", "host", "count", "instance"], notes)?;
    let device = sd.get("lun").is_some_and(|lun| lun.values.iter().any(|path| path.starts_with("/dev/")));
    match sd.get("size").filter(|_| device) {
        Some(pair) => notes.changed(
            &pair.place,
            say!("the suite would use the whole device, not just `size`", "набор занял бы всё устройство, а не `size`"),
            say!(
                "write `range=(0,N)` in per cent, or `region` into the streams of the suite",
                "задайте `range=(0,N)` в процентах или `region` в потоках набора"
            ),
        ),
        None => Ok(()),
    }
}

/// Several workloads at the same time: what vdbench shares among them or varies for all together.
fn together(rd: &Definition, wds: &[&Definition], notes: &mut Notes) -> Result<()> {
    for pair in ["iorate", "forthreads", "threads", "forxfersize"].iter().filter_map(|key| rd.get(key)) {
        if pair.values.len() > 1 {
            let key = &pair.key;
            notes.changed(
                &pair.place,
                say!(
                    "vdbench uses one value of `{key}` for all workloads at a time; in a suite each varies separately",
                    "vdbench берёт одно значение `{key}` сразу для всех нагрузок; в наборе каждая меняется сама"
                ),
                say!("write an `rd` for each value", "напишите по `rd` на каждое значение"),
            )?;
        }
    }
    for wd in wds {
        refuse(wd, &["iorate"], notes)?;
    }
    let skews: Vec<&Pair> = wds.iter().filter_map(|wd| wd.get("skew")).collect();
    let mut sum = 0;
    for pair in &skews {
        sum += pair.percent(pair.one()?)?;
    }
    match skews.first() {
        Some(pair) if skews.len() < wds.len() || sum != 100 => notes.changed(
            &pair.place,
            say!(
                "the parts of `skew` are not those of all workloads, or do not add up to 100",
                "доли `skew` заданы не всем нагрузкам или не дают вместе 100"
            ),
            say!("give each `wd` its part", "задайте долю каждой `wd`"),
        ),
        _ => Ok(()),
    }
}

fn refuse(definition: &Definition, keys: &[&str], notes: &mut Notes) -> Result<()> {
    for pair in keys.iter().filter_map(|key| definition.get(key)) {
        if pair.is_neutral() {
            notes.harmless(&pair.place, &pair.key);
            continue;
        }
        let key = &pair.key;
        let text = say!("`{key}` has no equivalent", "у `{key}` нет соответствия");
        notes.changed(
            &pair.place,
            text,
            say!("leave it out, or write the suite by hand", "уберите его или напишите набор сами"),
        )?;
    }
    Ok(())
}

/// The values of a `for…` list, or one that there is none.
fn list<T>(rd: &Definition, key: &str, mut one: impl FnMut(&Pair, &str) -> Result<T>) -> Result<Vec<Option<T>>> {
    match rd.get(key) {
        None => Ok(vec![None]),
        Some(pair) => pair.values.iter().map(|text| one(pair, text).map(Some)).collect(),
    }
}

//= Vdbench Users Guide, "seekpct": `eof` ends the workload with the volume, `seqnz` does not start on block zero
fn seek(pair: &Pair, text: &str, notes: &mut Notes) -> Result<Pattern> {
    let differs = match text.to_ascii_lowercase().as_str() {
        "eof" => Some(say!(
            "vdbench stops at the end of the storage; here a trial starts over there until its time is up",
            "vdbench останавливается в конце хранилища; здесь испытание начинает сначала, пока не выйдет его время"
        )),
        "seqnz" | "sequentialnz" => Some(say!(
            "vdbench begins at a random block; here each job begins where its part of the range does",
            "vdbench начинает со случайного блока; здесь каждое задание начинает с начала своей части диапазона"
        )),
        _ => None,
    };
    differs.into_iter().for_each(|text| notes.decided(&pair.place, text));
    match text.to_ascii_lowercase().as_str() {
        "random" => Ok(Pattern::Uniform),
        "seq" | "sequential" | "eof" | "seqnz" | "sequentialnz" => Ok(Pattern::Sequential),
        text => Ok(match pair.percent(text)? {
            100 => Pattern::Uniform,
            0 => Pattern::Sequential,
            percent => Pattern::Mixed { sequential: Millionths::percent(100 - percent) },
        }),
    }
}

fn stream(
    file: &File,
    rd: &Definition,
    wd: &Definition,
    varied: (Option<u32>, Option<Pattern>),
    notes: &mut Notes,
) -> Result<StreamSpec> {
    refuse(wd, &["hotband", "priority", "stride", "streams", "host"], notes)?;
    for pair in ["rhpct", "whpct"].iter().filter_map(|key| wd.get(key)) {
        if pair.percent(pair.one()?)? > 0 {
            refuse(wd, &[pair.key.as_str()], notes)?;
        }
    }
    let either = |key: &str| rd.get(key).or_else(|| wd.get(key));
    let read = match (varied.0, either("rdpct")) {
        (Some(percent), _) => percent,
        (None, Some(pair)) => pair.percent(pair.one()?)?,
        (None, None) => 100,
    };
    let pattern = match (varied.1, either("seekpct")) {
        (Some(pattern), _) => pattern,
        (None, Some(pair)) => seek(pair, pair.one()?, notes)?,
        (None, None) => Pattern::Uniform,
    };
    let mut spec = StreamSpec::new(Mix::of_reads(read as u8), pattern, Bytes::kib(4));
    match rd.get("forxfersize").or_else(|| either("xfersize")) {
        Some(pair) => sizes(&mut spec, pair)?,
        None => notes.decided(&wd.place, say!("no `xfersize`: 4 KiB", "нет `xfersize`: 4 КиБ")),
    }
    spec.region = area::of(file, wd, notes)?;
    Ok(spec)
}

fn sizes(spec: &mut StreamSpec, pair: &Pair) -> Result<()> {
    let block = |text: &str| {
        let size = pair.bytes(text)?;
        let fits = (512..=64 << 20).contains(&size.0) && size.0.is_multiple_of(512);
        if fits {
            Ok(size)
        } else {
            Err(pair.wrong(text, "a multiple of 512 B up to 64 MiB", "размер, кратный 512 Б, не больше 64 МиБ"))
        }
    };
    if pair.key == "forxfersize" || pair.values.len() == 1 {
        spec.block_size = pair.values.iter().map(|text| block(text)).collect::<Result<_>>()?;
        return Ok(());
    }
    let bad =
        || pair.wrong(&pair.values.join(","), "sizes, each with its percentage", "размеры, каждый со своим процентом");
    let mut mix: Vec<BlockShare> = Vec::new();
    for two in pair.values.chunks(2) {
        let [size, percent] = two else { return Err(bad()) };
        mix.push(BlockShare { size: block(size)?, percent: pair.percent(percent)? as u8 });
    }
    mix.sort_by_key(|share| share.size);
    let sum: u32 = mix.iter().map(|share| u32::from(share.percent)).sum();
    let apart = mix.windows(2).all(|two| two[0].size < two[1].size && two[1].size.0.is_multiple_of(mix[0].size.0));
    if sum != 100 || !apart || mix.len() < 2 || mix.iter().any(|share| share.percent == 0) {
        return Err(bad().hint(say!(
            "the percentages add up to 100, and each size is a multiple of the smallest",
            "проценты дают вместе 100, и каждый размер кратен наименьшему"
        )));
    }
    spec.block_size = mix.last().map(|share| share.size).into_iter().collect();
    spec.block_mix = mix;
    Ok(())
}

fn rates(spec: &mut StreamSpec, rd: &Definition, wd: &Definition, wds: u64, notes: &mut Notes) -> Result<()> {
    let Some(pair) = wd.get("iorate").or_else(|| rd.get("iorate")) else { return Ok(()) };
    if pair.values.iter().any(|text| text.eq_ignore_ascii_case("curve")) {
        let text = say!(
            "a curve begins with a search for the highest rate, which is a key of its own here",
            "кривая начинается с поиска наибольшей частоты; здесь это отдельный ключ"
        );
        return notes.changed(
            &pair.place,
            text,
            say!(
                "write `rate: {{search: {{…, curve: [10%, 50%]}}}}`",
                "напишите `rate: {{search: {{…, curve: [10%, 50%]}}}}`"
            ),
        );
    }
    if let [only] = pair.values.as_slice()
        && only.eq_ignore_ascii_case("max")
    {
        if wds > 1 {
            let text = say!(
                "at `max` vdbench keeps the skew between workloads; here each runs as fast as it can",
                "при `max` vdbench держит доли нагрузок; здесь каждая идёт в полную силу"
            );
            notes.changed(&pair.place, text, say!("name a rate", "задайте частоту"))?;
        }
        return Ok(());
    }
    let skew = match wd.get("skew") {
        Some(pair) => u64::from(pair.percent(pair.one()?)?) * 10,
        None => 1000 / wds.max(1),
    };
    let gaps = match rd.get("distribution").map(|pair| pair.one().map(|text| (pair, text))).transpose()? {
        None => Gaps::Poisson,
        Some((_, text)) if "exponential".starts_with(text) => Gaps::Poisson,
        Some((_, text)) if "deterministic".starts_with(text) => Gaps::Even,
        Some((pair, text)) => {
            let text = shown(text);
            notes.changed(
                &pair.place,
                say!("Stend has no gaps of `{text}`", "промежутков вида `{text}` в Stend нет"),
                say!("take `deterministic` or `exponential`", "возьмите `deterministic` или `exponential`"),
            )?;
            Gaps::Even
        }
    };
    for text in &pair.values {
        let rate = u64::from(pair.whole(text)?);
        spec.rate.push(Rate::constant(MilliIops(rate.saturating_mul(skew)), gaps));
    }
    Ok(())
}

/// I/Os in flight: threads of each storage definition, shared by its workloads.
fn threads(
    spec: &mut StreamSpec,
    file: &File,
    rd: &Definition,
    wd: &Definition,
    (wds, targets): (u32, u32),
    notes: &mut Notes,
) -> Result<()> {
    let own = file.sds.first().and_then(|sd| sd.get("threads"));
    let pair = rd.get("forthreads").or_else(|| rd.get("threads")).or_else(|| wd.get("threads")).or(own);
    let asked: Vec<u32> = match pair {
        Some(pair) => pair.values.iter().map(|text| pair.whole(text)).collect::<Result<_>>()?,
        None => vec![THREADS],
    };
    if let Some(other) = file
        .sds
        .iter()
        .filter_map(|sd| sd.get("threads"))
        .find(|other| own.is_none_or(|own| own.values != other.values))
    {
        let text = say!("`threads` differs between storage definitions", "`threads` у хранилищ разное");
        notes.changed(&other.place, text, say!("give all the same", "задайте всем одинаковое"))?;
    }
    if wds > 1 {
        notes.decided(
            &wd.place,
            say!(
                "the threads of a target are shared by its {wds} workloads",
                "потоки объекта делятся между его нагрузками ({wds})"
            ),
        );
    }
    spec.queue_depth = asked.iter().map(|threads| (threads / wds.max(1)).max(1)).collect();
    spec.queue_depth.dedup();
    if targets > 1 {
        spec.jobs_of = JobsOf::Target;
    }
    Ok(())
}

/// Whether the page cache is bypassed, and when writes are durable.
fn flags(file: &File, wds: &[&Definition], rd: &Definition, notes: &mut Notes) -> Result<(bool, Sync)> {
    let (mut direct, mut sync) = (false, Sync::None);
    let given = file.sds.iter().chain(wds.iter().copied()).chain([rd]).filter_map(|d| d.get("openflags"));
    for pair in given {
        for flag in &pair.values {
            match flag.to_ascii_lowercase().as_str() {
                "o_direct" | "directio" => direct = true,
                "o_dsync" | "o_sync" => sync = Sync::ODsync,
                flag => {
                    let flag = shown(flag);
                    let text = say!("`openflags={flag}` has no equivalent", "у `openflags={flag}` нет соответствия");
                    notes.changed(&pair.place, text, say!("leave it out", "уберите его"))?;
                }
            }
        }
    }
    Ok((direct, sync))
}
