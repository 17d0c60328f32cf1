//! `stend run --rw randread --bs 4k --qd 1,16`: a workload in fio's words becomes a suite, as text. Must not decide what a suite may hold:
//! its parser does.

use clap::ArgMatches;
use clap::parser::ValueSource;
use stend_base::units::{parse_bytes, parse_nanos};
use stend_base::{Error, FilePosition, Nanos, Result, Say, say};
use stend_spec::order::NamedText;

/// A word, whether it reads, whether it writes, whether places are random.
pub(crate) type Kind = (&'static str, bool, bool, bool);

/// What errors call the suite.
const NAME: &str = "command-line.yaml";
/// Words of `--rw`, as fio has them.
pub(crate) const KINDS: [Kind; 8] = [
    ("read", true, false, false),
    ("write", false, true, false),
    ("randread", true, false, true),
    ("randwrite", false, true, true),
    ("rw", true, true, false),
    ("readwrite", true, true, false),
    ("randrw", true, true, true),
    ("randreadwrite", true, true, true),
];
/// Trials of at least this length have the ramp of `quick`.
const LONG: Nanos = Nanos::secs(2);

/// Options that have an effect with `--rw` alone.
const OF_RW: [&str; 9] = ["bs", "qd", "jobs", "mix", "rate", "time", "size", "sync", "verify"];

/// Refuses an option of `--rw` where something else says what runs. Clap does not: it asks for no `--rw` where that cannot stand.
///
/// Errors: `Usage`, naming the option.
pub(super) fn has_effect(arguments: &ArgMatches) -> Result<()> {
    let Some(option) = OF_RW.into_iter().find(|option| is_given(arguments, option)) else { return Ok(()) };
    if let Some(suite) = given(arguments, "SUITE") {
        let message = say!("`--{option}` has no effect with a suite", "`--{option}` не действует вместе с набором");
        return Err(Error::usage(message).hint(match stend_session::suites::find(suite) {
            Some(_) => say!(
                "leave out `{suite}` and add `--rw`, or change the suite: `stend suites {suite} > my.yaml`",
                "уберите `{suite}` и добавьте `--rw` или измените набор: `stend suites {suite} > my.yaml`"
            ),
            None => say!(
                "leave out `{suite}` and add `--rw`, or change the suite",
                "уберите `{suite}` и добавьте `--rw` или измените набор"
            ),
        }));
    }
    let Some(instead) = ["resume", "order"].into_iter().find(|instead| is_given(arguments, instead)) else {
        return Ok(());
    };
    let message =
        say!("`--{option}` has no effect with `--{instead}`", "`--{option}` не действует вместе с `--{instead}`");
    Err(Error::usage(message).hint(say!(
        "leave `--{option}` out, or begin a new run with `--rw`",
        "уберите `--{option}` или начните новый прогон с `--rw`"
    )))
}

/// The suite that the command line describes.
///
/// Errors: `Usage`, naming the option.
pub(super) fn suite(arguments: &ArgMatches) -> Result<NamedText> {
    let words = super::many(arguments, "rw");
    let kinds: Vec<&Kind> = KINDS.iter().filter(|(word, ..)| words.iter().any(|given| given == word)).collect();
    let writes = kinds.iter().any(|(_, _, writes, _)| *writes);
    if let Some(option) = ["verify", "sync"].into_iter().find(|option| !writes && is_given(arguments, option)) {
        return Err(needs(option, "write, randwrite, rw, randrw"));
    }
    if is_given(arguments, "mix") && !kinds.iter().any(|(_, reads, writes, _)| *reads && *writes) {
        return Err(needs("mix", "rw, randrw"));
    }
    let time = given(arguments, "time").unwrap_or("2500ms");
    let trial = parse_nanos(time).map_err(|why| wrong("time", why, "10s"))?;
    let ramp = if trial >= LONG { "500ms" } else { "200ms" };
    let keys = keys(arguments)?;
    let cases = kinds.iter().map(|kind| case(kind, &keys, arguments)).collect::<Result<String>>()?;
    let size = given(arguments, "size").map_or(Ok("auto".to_string()), |size| sizes("size", size))?;
    let blocks = count("repeats", given(arguments, "repeats").unwrap_or("6"))?;
    let name = kinds.iter().map(|(word, ..)| *word).collect::<Vec<_>>().join("-");
    let text = format!(
        "suite: {name}\ndefaults: {{ramp: {ramp}, trial: {time}}}\nfill: {{size: {size}}}\ncases:\n{cases}repeats: {{blocks: {blocks}}}\n"
    );
    checked(NamedText { file: NAME.to_string(), text })
}

/// What all cases have in common, behind a comma.
fn keys(arguments: &ArgMatches) -> Result<String> {
    let block_size = sizes("bs", given(arguments, "bs").unwrap_or("4k"))?;
    let queue_depth = counts("qd", given(arguments, "qd").unwrap_or("1"))?;
    let mut keys = format!(", block_size: {block_size}, queue_depth: {queue_depth}");
    if let Some(jobs) = given(arguments, "jobs") {
        keys += &format!(", jobs: {}", counts("jobs", jobs)?);
    }
    if let Some(rate) = given(arguments, "rate") {
        keys += &format!(", rate: {}/s", count("rate", rate.trim_end_matches("/s"))?);
    }
    Ok(keys)
}

/// One case, named by its word.
fn case(&(word, reads, writes, random): &Kind, keys: &str, arguments: &ArgMatches) -> Result<String> {
    let percent = given(arguments, "mix").map_or(Ok(50), percent)?;
    let op = match (reads, writes) {
        (true, true) => format!("{{read: {percent}, write: {}}}", 100 - percent),
        (true, false) => "read".to_string(),
        (false, _) => "write".to_string(),
    };
    let pattern = if random { "random" } else { "sequential" };
    let mut own = match given(arguments, "sync").filter(|_| writes) {
        Some(call @ ("fsync" | "fdatasync")) => format!(", sync: {{{call}: 1}}"),
        Some(word) => format!(", sync: {word}"),
        None => String::new(),
    };
    if writes && arguments.get_flag("verify") {
        own += ", verify: {after: true}";
    }
    Ok(format!("  - name: {word}\n    streams: [{{op: {op}, pattern: {pattern}{keys}{own}}}]\n"))
}

fn list(text: &str) -> Vec<&str> {
    text.split(',').map(str::trim).collect()
}

/// A list of the suite's, or its only member.
fn written(items: Vec<String>) -> String {
    match items.as_slice() {
        [only] => only.clone(),
        items => format!("[{}]", items.join(", ")),
    }
}

fn sizes(option: &str, text: &str) -> Result<String> {
    let example = if option == "size" { "10g" } else { "4k" };
    let size = |size: &&str| parse_bytes(size).map(|_| size.to_string()).map_err(|why| wrong(option, why, example));
    list(text).iter().map(size).collect::<Result<Vec<_>>>().map(written)
}

fn counts(option: &str, text: &str) -> Result<String> {
    let all = list(text).iter().map(|one| count(option, one).map(|n| n.to_string())).collect::<Result<Vec<_>>>();
    all.map(written)
}

fn count(option: &str, text: &str) -> Result<u32> {
    let why = || match text.is_empty() {
        true => say!("a number is missing between two commas", "между запятыми нет числа"),
        false => say!("`{text}` is not a whole number", "`{text}` — не целое число"),
    };
    text.parse().map_err(|_| wrong(option, why(), example(option)))
}

/// Percent of reads in a mix.
fn percent(text: &str) -> Result<u32> {
    let reads = count("mix", text.trim_end_matches('%'))?;
    match reads {
        1..=99 => Ok(reads),
        _ => Err(wrong("mix", say!("`{text}` is not 1 to 99", "`{text}` не от 1 до 99"), "70")),
    }
}

/// A value that an option may have.
fn example(option: &str) -> &'static str {
    match option {
        "bs" => "4k",
        "size" => "10g",
        "time" => "10s",
        "jobs" => "4",
        "repeats" => "6",
        "rate" => "5000",
        "mix" => "70",
        _ => "32",
    }
}

/// What the parser refuses in the text, told by the option that wrote it: nobody has seen the file that it names.
fn checked(text: NamedText) -> Result<NamedText> {
    match stend_spec::parse::suite_of_options(&text.text, NAME) {
        Ok(_) => Ok(text),
        Err(error) => {
            let at = error.place.as_ref().and_then(|place| Some((option_at(&text.text, place)?, format!("{place}: "))));
            let Some((option, place)) = at else { return Err(error) };
            let Say { en, ru } = &error.message;
            let (en, ru) = (en.replacen(&place, "", 1), ru.replacen(&place, "", 1));
            let told = wrong(option, say!("{en}", "{ru}"), example(option));
            Err(match error.hint {
                Some(hint) => told.hint(hint),
                None => told,
            })
        }
    }
}

/// The option that wrote what stands at a place.
fn option_at(text: &str, place: &FilePosition) -> Option<&'static str> {
    let (line, column) = (place.line as usize, place.column? as usize);
    let before: String = text.lines().nth(line.checked_sub(1)?)?.chars().take(column.saturating_sub(1)).collect();
    const KEYS: [(&str, &str); 9] = [
        ("trial:", "time"),
        ("size:", "size"),
        ("block_size:", "bs"),
        ("queue_depth:", "qd"),
        ("jobs:", "jobs"),
        ("rate:", "rate"),
        ("sync:", "sync"),
        ("op:", "mix"),
        ("blocks:", "repeats"),
    ];
    // `block_size:` ends with `size:`: of keys at one end the longest is meant.
    let end = |key: &str| before.rfind(key).map(|at| (at + key.len(), key.len()));
    KEYS.iter().filter_map(|(key, option)| Some((end(key)?, *option))).max().map(|(_, option)| option)
}

fn given<'a>(arguments: &'a ArgMatches, option: &str) -> Option<&'a str> {
    arguments.get_one::<String>(option).map(String::as_str)
}

/// Whether the user gave an option or a flag.
fn is_given(arguments: &ArgMatches, option: &str) -> bool {
    arguments.value_source(option) == Some(ValueSource::CommandLine)
}

fn wrong(option: &str, why: Say, example: &str) -> Box<Error> {
    let Say { en, ru } = why;
    Error::usage(say!("--{option}: {en}", "--{option}: {ru}"))
        .hint(say!("for example `--{option} {example}`", "например `--{option} {example}`"))
}

fn needs(option: &str, kinds: &str) -> Box<Error> {
    Error::usage(say!("--{option} needs `--rw` to be one of {kinds}", "--{option} годится только для `--rw`: {kinds}"))
        .hint(say!(
            "leave `--{option}` out, or choose another `--rw`",
            "уберите `--{option}` или выберите другой `--rw`"
        ))
}
