//! The grammar of vdbench's parameter files: lines to definitions with keys by prefix, each with its place. Must not know what a
//! key means. Facts: `Vdb_scan.java` of vdbench 5.04.

use super::super::notes::{Notes, shown};
use super::super::{ImportContext, JobPlace, decoded};
use super::ranges;
use stend_base::{Bytes, Error, Nanos, Result, say};

/// Definitions of one file.
const DEFINITIONS_MAX: usize = 1000;
/// Files that one file includes.
const INCLUDES_MAX: usize = 100;

/// Keys of each kind of definition; the first one begins it.
const KINDS: [(&str, &[&str]); 3] = [
    (
        "sd",
        &[
            "sd",
            "lun",
            "size",
            "threads",
            "openflags",
            "hitarea",
            "range",
            "align",
            "offset",
            "replay",
            "journal",
            "host",
            "count",
            "instance",
        ],
    ),
    (
        "wd",
        &[
            "wd",
            "sd",
            "xfersize",
            "rdpct",
            "seekpct",
            "rhpct",
            "whpct",
            "skew",
            "range",
            "hotband",
            "priority",
            "iorate",
            "stride",
            "streams",
            "threads",
            "openflags",
            "host",
        ],
    ),
    (
        "rd",
        &[
            "rd",
            "wd",
            "sd",
            "iorate",
            "curve",
            "stopcurve",
            "elapsed",
            "interval",
            "warmup",
            "pause",
            "distribution",
            "forthreads",
            "forxfersize",
            "forrdpct",
            "forseekpct",
            "forhitarea",
            "forrhpct",
            "forwhpct",
            "start_cmd",
            "end_cmd",
            "openflags",
            "maxdata",
            "threads",
            "xfersize",
            "rdpct",
            "seekpct",
            "format",
        ],
    ),
];

/// `key=value`, or `key=(a,b)`.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub key: String,
    pub values: Vec<String>,
    pub place: JobPlace,
}

/// One definition: its kind (`sd`, `wd`, `rd`, or empty for a general one) and its pairs.
#[derive(Debug, Clone)]
pub(super) struct Definition {
    pub kind: &'static str,
    pub name: String,
    pub place: JobPlace,
    pub pairs: Vec<Pair>,
}

impl Definition {
    pub fn get(&self, key: &str) -> Option<&Pair> {
        self.pairs.iter().rev().find(|pair| pair.key == key)
    }
}

/// Values at which a key asks for nothing: vdbench's default, or "off".
const NEUTRAL: [(&str, &[&str]); 15] = [
    ("hitarea", &["0"]),
    ("range", &["0", "100"]),
    ("hotband", &["0", "0"]),
    ("offset", &["0"]),
    ("align", &["0"]),
    ("count", &["1", "1"]),
    ("journal", &["no"]),
    ("validate", &["no"]),
    ("replay", &["no"]),
    ("maxdata", &["0"]),
    ("format", &["no"]),
    ("host", &["localhost"]),
    ("stride", &["0"]),
    ("forhitarea", &["0"]),
    ("forwhpct", &["0"]),
];

impl Pair {
    /// Whether it asks for nothing.
    pub fn is_neutral(&self) -> bool {
        let same = |(key, neutral): &(&str, &[&str])| {
            *key == self.key && self.values.iter().map(|value| value.to_ascii_lowercase()).eq(neutral.iter().copied())
        };
        NEUTRAL.iter().any(same)
    }

    pub fn wrong(&self, value: &str, en: &str, ru: &str) -> Box<Error> {
        let (key, value) = (&self.key, shown(value));
        self.place.error(say!("`{key}` needs {en}, not `{value}`", "`{key}` требует {ru}, а не `{value}`"))
    }

    /// The only value.
    pub fn one(&self) -> Result<&str> {
        match self.values.as_slice() {
            [one] => Ok(one),
            _ => Err(self.wrong(&self.values.join(","), "one value", "одно значение")),
        }
    }

    pub fn whole(&self, text: &str) -> Result<u32> {
        text.parse().map_err(|_| self.wrong(text, "a whole number", "целое число"))
    }

    pub fn percent(&self, text: &str) -> Result<u32> {
        self.whole(text)
            .ok()
            .filter(|n| *n <= 100)
            .ok_or_else(|| self.wrong(text, "0 to 100 percent", "от 0 до 100 процентов"))
    }

    /// With k, m, g or t, powers of 1024.
    pub fn bytes(&self, text: &str) -> Result<Bytes> {
        ranges::bytes(text).map(Bytes).ok_or_else(|| self.wrong(text, "a size such as `4k`", "размер, например `4k`"))
    }

    /// Seconds, or with m and h minutes and hours: of these keys an `m` is no mebibyte.
    pub fn time(&self) -> Result<Nanos> {
        let text = self.one()?;
        let (number, factor) = match text.strip_suffix(['m', 'M']) {
            Some(number) => (number, 60),
            None => text.strip_suffix(['h', 'H']).map_or((text, 1), |number| (number, 3600)),
        };
        let seconds = number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)).filter(|n| *n < 1 << 32);
        seconds.map(Nanos::secs).ok_or_else(|| self.wrong(text, "seconds, or `5m`", "секунды или `5m`"))
    }
}

/// The definitions of one file.
pub(super) fn definitions(
    file: &str,
    bytes: &[u8],
    context: &ImportContext,
    notes: &mut Notes,
) -> Result<Vec<Definition>> {
    let mut found = Vec::new();
    read(file, bytes, context, notes, true, &mut found)?;
    Ok(found)
}

fn read(
    file: &str,
    bytes: &[u8],
    context: &ImportContext,
    notes: &mut Notes,
    outer: bool,
    found: &mut Vec<Definition>,
) -> Result<()> {
    let mut open: Option<(String, JobPlace)> = None;
    let mut included = 0;
    for (index, line) in decoded(bytes, file)?.lines().enumerate() {
        let place = JobPlace::new(file, index as u32 + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['*', '#', '/']) {
            continue;
        }
        if line.eq_ignore_ascii_case("eof") {
            break;
        }
        let (text, place) = match open.take() {
            Some((before, place)) => (before + first_word(line), place),
            None => (first_word(line).to_string(), place),
        };
        if text.ends_with(',') {
            open = Some((text, place));
            continue;
        }
        if let Some(path) = text.strip_prefix("include=") {
            if !outer {
                let message =
                    say!("an included file cannot include others", "включаемый файл не может включать другие");
                return Err(place.error(message).hint(say!("write its lines here", "впишите его строки сюда")));
            }
            included += 1;
            if included > INCLUDES_MAX {
                let message =
                    say!("more than {INCLUDES_MAX} files are included", "включено больше {INCLUDES_MAX} файлов");
                return Err(place.error(message).hint(say!("write their lines here", "впишите их строки сюда")));
            }
            let full = match file.rsplit_once('/') {
                Some((directory, _)) if !path.starts_with('/') => format!("{directory}/{path}"),
                _ => path.to_string(),
            };
            let bytes = (context.read)(&full).map_err(|e| {
                let (en, ru) = (&e.message.en, &e.message.ru);
                place.error(say!("`include` fails: {en}", "`include` не удался: {ru}"))
            })?;
            read(&full, &bytes, context, notes, false, found)?;
            continue;
        }
        if found.len() == DEFINITIONS_MAX {
            let message =
                say!("there are more than {DEFINITIONS_MAX} definitions", "определений больше {DEFINITIONS_MAX}");
            return Err(place.error(message).hint(say!("import the file in parts", "импортируйте файл по частям")));
        }
        found.push(definition(&text, &place, notes)?);
    }
    match open {
        Some((_, place)) => Err(place
            .error(say!(
                "the line ends with a comma, and the file behind it",
                "строка кончается запятой, а за ней — конец файла"
            ))
            .hint(say!("the file may have been cut", "возможно, файл обрезан"))),
        None => Ok(()),
    }
}

/// What is before the first blank that is not inside of quotes: the rest is a comment.
fn first_word(line: &str) -> &str {
    let mut quoted = false;
    let end = line.find(|c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    });
    &line[..end.unwrap_or(line.len())]
}

fn definition(text: &str, place: &JobPlace, notes: &mut Notes) -> Result<Definition> {
    let pairs = pairs(text, place)?;
    let Some(first) = pairs.first() else {
        let text = shown(text);
        return Err(place
            .error(say!("`{text}` is not `key=value`", "`{text}` — не `ключ=значение`"))
            .hint(say!("comments begin with `*`", "комментарии начинаются с `*`")));
    };
    let key = first.key.to_ascii_lowercase();
    if matches!(key.as_str(), "fsd" | "fwd") {
        return Err(place
            .error(say!(
                "`{key}`: Stend has no file system workloads (directories, names)",
                "`{key}`: нагрузок на файловую систему (каталоги, имена) в Stend нет"
            ))
            .hint(say!("take `sd=` with files", "возьмите `sd=` с файлами")));
    }
    let Some((kind, known)) = KINDS.iter().find(|(kind, _)| *kind == key) else {
        return Ok(Definition { kind: "", name: String::new(), place: place.clone(), pairs });
    };
    let name = first.one()?.to_string();
    let mut found = Vec::new();
    for pair in pairs.into_iter().skip(1) {
        let key = pair.key.to_ascii_lowercase();
        let fits: Vec<&&str> = known.iter().filter(|name| name.starts_with(key.as_str())).collect();
        match fits.as_slice() {
            _ if known.contains(&key.as_str()) => found.push(Pair { key, ..pair }),
            [one] => found.push(Pair { key: one.to_string(), ..pair }),
            [] => notes.unknown(&pair.place, &pair.key, known.iter().copied())?,
            several => {
                let list = several.iter().map(|name| **name).collect::<Vec<_>>().join("`, `");
                return Err(pair
                    .place
                    .error(say!("`{key}` may be `{list}`", "`{key}` — это может быть `{list}`"))
                    .hint(say!("write the key in full", "напишите ключ полностью")));
            }
        }
    }
    Ok(Definition { kind, name, place: place.clone(), pairs: found })
}

/// `key=value,key=(a,b),…`; a word without `=` belongs to the value before it.
fn pairs(text: &str, place: &JobPlace) -> Result<Vec<Pair>> {
    let mut found: Vec<Pair> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some((key, behind)) = rest.split_once('=') else { break };
        let key = key.trim_start_matches(',').trim();
        let (value, after) = match behind.chars().next() {
            Some('(') => enclosed(&behind[1..], ')', place)?,
            Some('"') => enclosed(&behind[1..], '"', place)?,
            _ => behind.split_once(',').unwrap_or((behind, "")),
        };
        let list = behind.starts_with('(');
        let values = if list { listed(key, value, place)? } else { vec![value.trim().to_string()] };
        if key.is_empty() || values.iter().any(String::is_empty) {
            let key = shown(key);
            return Err(place
                .error(say!(
                    "`{key}` has no value, or a value no key",
                    "у `{key}` нет значения, или у значения нет ключа"
                ))
                .hint(say!("write `key=value` with commas between them", "пишите `ключ=значение` через запятую")));
        }
        found.push(Pair { key: key.to_string(), values, place: place.clone() });
        rest = after.trim_start_matches(',');
    }
    match rest.is_empty() {
        true => Ok(found),
        false => {
            let rest = shown(rest);
            Err(place
                .error(say!("`{rest}` is not `key=value`", "`{rest}` — не `ключ=значение`"))
                .hint(say!("several values stand in parentheses", "несколько значений стоят в скобках")))
        }
    }
}

/// Values in parentheses, with each range in full where the key can have one.
fn listed(key: &str, text: &str, place: &JobPlace) -> Result<Vec<String>> {
    let values: Vec<String> = text.split(',').map(|value| value.trim().to_string()).collect();
    let lower = key.to_ascii_lowercase();
    if lower == "host" || lower == "hd" || "seekpct".starts_with(&lower) {
        return Ok(values);
    }
    ranges::expanded(&values).ok_or_else(|| {
        let (key, text) = (shown(key), shown(text));
        place.error(say!("`{key}=({text})` is not a range", "`{key}=({text})` — не диапазон")).hint(say!(
            "a range is `(4k-64k,d)`, which doubles, `(10-50,10)` or `(sd1-sd8)`, with at most 1000 values",
            "диапазон — это `(4k-64k,d)`, с удвоением, `(10-50,10)` или `(sd1-sd8)`, не больше 1000 значений"
        ))
    })
}

fn enclosed<'a>(text: &'a str, end: char, place: &JobPlace) -> Result<(&'a str, &'a str)> {
    text.split_once(end).ok_or_else(|| {
        place
            .error(say!("`{end}` is missing", "нет `{end}`"))
            .hint(say!("the line may have been cut", "возможно, строка обрезана"))
    })
}
