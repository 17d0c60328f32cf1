//! XML profiles of diskspd (`-X`) as its options, one set for each time span. Facts: `diskspd.xsd` and `XmlProfileParser.cpp` of diskspd 2.2.
//! Must not know what a suite is.

use super::super::notes::{Notes, shown};
use super::super::{JobPlace, decoded};
use super::options::{Limit, Options};
use super::order::{Order, Seen, whole};
use super::word::Given;
use crate::xml::{self, Element};
use stend_base::{Bytes, Nanos, Result, say};
use stend_spec::workload::Pages;

/// Time spans of a profile.
const SPANS_MAX: usize = 1000;
/// Largest block, as of the switches.
const BLOCK_MAX: u64 = 64 << 20;
/// What changes no I/O of ours: what is printed, affinity, seeds, cool-down, hints.
const HARMLESS: [&str; 24] = [
    "Progress",
    "ExperimentFlags",
    "ResultFormat",
    "Verbose",
    "VerboseStats",
    "PrecreateFiles",
    "ETW",
    "CompletionRoutines",
    "MeasureLatency",
    "CalculateIopsStdDev",
    "IoBucketDuration",
    "DisableAffinity",
    "GroupAffinity",
    "Affinity",
    "Cooldown",
    "RandSeed",
    "SequentialScan",
    "RandomAccess",
    "TemporaryFile",
    "DisableLocalCache",
    "IOPriority",
    "Weight",
    "System",
    "FlushType",
];
/// What is read, for the nearest name of one that is unknown.
const KNOWN: [&str; 32] = [
    "UseLargePages",
    "Targets",
    "Duration",
    "Warmup",
    "ThreadCount",
    "RequestCount",
    "RandomWriteData",
    "Path",
    "BlockSize",
    "StrideSize",
    "InterlockedSequential",
    "BaseFileOffset",
    "MaxFileSize",
    "Random",
    "RandomRatio",
    "Distribution",
    "DisableAllCache",
    "DisableOSCache",
    "WriteThrough",
    "MemoryMappedIo",
    "WriteBufferContent",
    "BurstSize",
    "ThinkTime",
    "Throughput",
    "ThreadsPerFile",
    "FileSize",
    "WriteRatio",
    "ParallelAsyncIO",
    "ThreadStride",
    "ThreadTargets",
    "TimeSpans",
    "TimeSpan",
];

/// An element with its file.
struct At<'e> {
    file: &'e str,
    element: &'e Element<'e>,
}

impl At<'_> {
    fn place(&self) -> JobPlace {
        JobPlace::new(self.file, self.element.line)
    }

    fn wrong(&self, en: &str, ru: &str) -> Box<stend_base::Error> {
        let (name, text) = (shown(self.element.name), shown(self.element.text()));
        self.place().error(say!("`{name}` needs {en}, not `{text}`", "`{name}` требует {ru}, а не `{text}`"))
    }

    fn number(&self) -> Result<u64> {
        self.element.text().parse().map_err(|_| self.wrong("a whole number", "целое число"))
    }

    fn small(&self) -> Result<u32> {
        self.number().and_then(|n| u32::try_from(n).map_err(|_| self.wrong("a smaller number", "число поменьше")))
    }

    fn at_least_one(&self) -> Result<u32> {
        self.small().and_then(|n| if n > 0 { Ok(n) } else { Err(self.wrong("at least 1", "не меньше 1")) })
    }

    fn percent(&self) -> Result<u32> {
        let wrong = || self.wrong("0 to 100 percent", "от 0 до 100 процентов");
        self.small().ok().filter(|n| *n <= 100).ok_or_else(wrong)
    }

    fn yes(&self) -> Result<bool> {
        match self.element.text() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(self.wrong("true or false", "true или false")),
        }
    }

    fn given<T>(&self, value: T) -> Given<T> {
        Given { value, place: self.place() }
    }
}

/// The options of each time span of a file, which is a profile or results that repeat one.
pub(super) fn read(file: &str, bytes: &[u8], notes: &mut Notes) -> Result<Vec<Options>> {
    let text = decoded(bytes, file)?;
    let (roots, broken) = xml::documents(text);
    if let Some(broken) = broken {
        return Err(JobPlace::new(file, broken.line)
            .error(broken.why)
            .hint(say!("`diskspd … -Rpxml` writes a profile", "профиль записывает `diskspd … -Rpxml`")));
    }
    let profile = roots.iter().find_map(|root| match root.name {
        "Profile" => Some(root),
        _ => root.child("Profile"),
    });
    let none = |line| {
        JobPlace::new(file, line)
            .error(say!("there is no profile of diskspd in it", "в нём нет профиля diskspd"))
            .hint(say!("`diskspd … -Rpxml` writes a profile", "профиль записывает `diskspd … -Rpxml`"))
    };
    let Some(profile) = profile else { return Err(none(1)) };
    let mut found = Vec::new();
    for element in &profile.children {
        match element.name {
            "TimeSpans" => {
                for span in element.all("TimeSpan") {
                    if found.len() == SPANS_MAX {
                        return Err(JobPlace::new(file, span.line)
                            .error(say!("more than {SPANS_MAX} time spans", "больше {SPANS_MAX} интервалов"))
                            .hint(say!("import a profile with fewer", "импортируйте профиль, где их меньше")));
                    }
                    found.push(of_span(&At { file, element: span }, notes)?);
                }
            }
            _ => other(&At { file, element }, notes)?,
        }
    }
    if found.is_empty() { Err(none(profile.line)) } else { Ok(found) }
}

fn of_span(span: &At, notes: &mut Notes) -> Result<Options> {
    let mut options = Options::new(span.place());
    let mut targets: Vec<&Element> = Vec::new();
    for element in &span.element.children {
        let at = At { file: span.file, element };
        match element.name {
            "Duration" => options.duration = Nanos::secs(u64::from(at.small()?)),
            "Warmup" => options.warmup = Nanos::secs(u64::from(at.small()?)),
            "ThreadCount" => options.total = Some(at.small()?).filter(|count| *count > 0),
            "RequestCount" => match at.small()? {
                0 => {}
                depth => (options.depth, options.per_thread) = (depth, true),
            },
            "RandomWriteData" => options.random_data |= at.yes()?,
            "Targets" => targets.extend(element.all("Target")),
            _ => other(&at, notes)?,
        }
    }
    let Some(first) = targets.first() else {
        return Err(span
            .place()
            .error(say!("the time span names no target", "интервал не называет объекта"))
            .hint(say!("`Targets` holds a `Target` with its `Path`", "в `Targets` стоит `Target` с его `Path`")));
    };
    let settings_of_first = settings(first);
    for target in &targets {
        let at = At { file: span.file, element: target };
        let path = target.child("Path").map(Element::text).unwrap_or_default();
        options.targets.push((path.to_string(), at.place()));
        if settings(target) != settings_of_first {
            return Err(at
                .place()
                .error(say!(
                    "the load of the target differs from that of the first",
                    "нагрузка на объект отличается от нагрузки на первый"
                ))
                .hint(say!("write a profile for each", "напишите по профилю на каждый")));
        }
    }
    of_target(&mut options, &At { file: span.file, element: first }, notes)?;
    Ok(options)
}

/// Everything below a target but its path, to be compared.
fn settings(target: &Element) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Vec<&Element> = target.children.iter().filter(|child| child.name != "Path").collect();
    while let Some(element) = open.pop() {
        let of = element.attribute("IO").or(element.attribute("unit")).unwrap_or_default();
        found.push((format!("{} {of}", element.name), element.text().to_string()));
        open.extend(&element.children);
    }
    found.sort();
    found
}

fn of_target(options: &mut Options, target: &At, notes: &mut Notes) -> Result<()> {
    let mut seen = Seen::default();
    let size = target.element.child("BlockSize");
    if let Some(at) = size.map(|element| At { file: target.file, element }) {
        let size = at.number().ok().filter(|size| (512..=BLOCK_MAX).contains(size) && size.is_multiple_of(512));
        let wrong = || at.wrong("a multiple of 512 B up to 64 MiB", "размер, кратный 512 Б, не больше 64 МиБ");
        options.block = at.given(Bytes(size.ok_or_else(wrong)?));
        options.order.value = Order::Sequential(options.block.value);
    }
    for element in &target.element.children {
        let at = At { file: target.file, element };
        match element.name {
            "Path" | "BlockSize" => {}
            // One in all of each thread is said for the time span.
            "RequestCount" if options.per_thread => {}
            "RequestCount" => options.depth = at.at_least_one()?,
            "ThreadsPerFile" => options.threads = at.at_least_one()?,
            "WriteRatio" => options.writes = at.percent()? as u8,
            "FileSize" => options.create = Some(at.given(Bytes(at.number()?))),
            "DisableOSCache" => options.direct |= at.yes()?,
            "UseLargePages" if at.yes()? => options.pages = Pages::Huge,
            "UseLargePages" => {}
            "WriteThrough" => options.through |= at.yes()?,
            "DisableAllCache" => {
                let all = at.yes()?;
                (options.direct, options.through) = (options.direct | all, options.through | all);
            }
            "Throughput" => limit(options, &at)?,
            "BurstSize" => seen.burst = Some(at.given(at.small()?)).filter(|burst| burst.value > 0),
            "ThinkTime" => seen.pause = Some(Nanos::millis(u64::from(at.small()?))).filter(|time| time.0 > 0),
            "WriteBufferContent" => content(options, &at, notes)?,
            "MemoryMappedIo" | "ParallelAsyncIO" | "ThreadStride" | "ThreadTargets" => refused(&at, notes)?,
            _ => placed(&mut seen, &at, notes)?,
        }
    }
    options.take(&seen, notes)
}

/// Where the I/Os go.
fn placed(seen: &mut Seen, at: &At, notes: &mut Notes) -> Result<()> {
    match at.element.name {
        "Random" => {
            seen.random.get_or_insert(at.given(100));
            seen.align = Some(at.given(Bytes(at.number()?))).filter(|align| align.value.0 > 0);
        }
        "RandomRatio" => seen.random = Some(at.given(at.percent()?)),
        "StrideSize" => {
            seen.sequence.get_or_insert(at.given(false));
            seen.align = Some(at.given(Bytes(at.number()?))).filter(|align| align.value.0 > 0);
        }
        "InterlockedSequential" => {
            if at.yes()? {
                seen.sequence = Some(at.given(true));
            }
        }
        "Distribution" => match at.element.child("Percent") {
            Some(percent) => seen.zones = Some(at.given(zones(at, percent)?)),
            None => notes.changed(
                &at.place(),
                say!(
                    "parts of a target in bytes; here they are shares of it",
                    "части объекта в байтах; здесь это доли от него"
                ),
                say!("write them as `Percent`", "запишите их как `Percent`"),
            )?,
        },
        "BaseFileOffset" => seen.base = Some(at.given(Bytes(at.number()?))).filter(|base| base.value.0 > 0),
        "MaxFileSize" => seen.end = Some(at.given(Bytes(at.number()?))).filter(|end| end.value.0 > 0),
        _ => other(at, notes)?,
    }
    Ok(())
}

fn zones(at: &At, percent: &Element) -> Result<Vec<(u32, u32)>> {
    let wrong = || at.wrong("shares of I/Os and of the target up to 100 %", "доли операций и объекта до 100 %");
    let mut found = Vec::new();
    for range in percent.all("Range").take(100) {
        let accesses = range.attribute("IO").and_then(|text| text.trim().parse().ok()).filter(|n| *n <= 100u32);
        let space = range.text().parse().ok().filter(|n| *n <= 100u32);
        found.push((accesses.ok_or_else(wrong)?, space.ok_or_else(wrong)?));
    }
    whole(found).ok_or_else(wrong)
}

fn limit(options: &mut Options, at: &At) -> Result<()> {
    let limit = match (at.number()?, at.element.attribute("unit")) {
        (0, _) => return Ok(()),
        (rate, Some("IOPS")) => Limit::Iops(rate),
        (rate, None | Some("BPMS")) => Limit::BytesPerMs(rate),
        _ => return Err(at.wrong("the unit IOPS or BPMS", "единица IOPS или BPMS")),
    };
    options.limit = Some(at.given(limit));
    Ok(())
}

/// What is written.
fn content(options: &mut Options, at: &At, notes: &mut Notes) -> Result<()> {
    let of_file = at.element.child("RandomDataSource").is_some_and(|source| source.child("FilePath").is_some());
    match at.element.child("Pattern").map(Element::text) {
        Some("random") if !of_file => options.random_data = true,
        Some("sequential") | None => {}
        _ => notes.changed(
            &at.place(),
            say!(
                "zeroes, or bytes of a file, would be written; here data are incompressible",
                "писались бы нули или байты файла; здесь данные несжимаемы"
            ),
            say!("take the pattern `random`", "возьмите шаблон `random`"),
        )?,
    }
    Ok(())
}

/// What has no equal here, unless it is off.
fn refused(at: &At, notes: &mut Notes) -> Result<()> {
    if ["false", "0"].contains(&at.element.text()) {
        return Ok(());
    }
    let name = shown(at.element.name);
    notes.changed(
        &at.place(),
        say!("`{name}` has no equivalent", "у `{name}` нет соответствия"),
        say!("leave it out, or write the suite by hand", "уберите его или напишите набор сами"),
    )
}

fn other(at: &At, notes: &mut Notes) -> Result<()> {
    match HARMLESS.contains(&at.element.name) {
        true => notes.harmless(&at.place(), at.element.name),
        false => notes.unknown(&at.place(), at.element.name, KNOWN.iter().chain(&HARMLESS).copied())?,
    }
    Ok(())
}
