//! Sources of an order: values that are read beside the load where no worker can run, by programs that exist (`ssh`, `curl`, `snmpget`, the
//! tool of an array). Each is asked on a thread of its own, with a limit of time, so that one that is slow or silent delays nothing. Must not
//! read a password: the programs do that from files of the user.

use crate::frontend::Frontend;
use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;
use stend_base::{Error, Lang, Nanos, Result, Say, format, say};
use stend_interop::answers;
use stend_record::{SourceAnswer, SourceInfo, SourceValueInfo, SourceWay};
use stend_run::{SourceHeard, Sources};
use stend_spec::order::{NamedText, Order};
use stend_spec::sources::{Source, SourceValue, ValuePlace, Way};

/// Largest answer, bytes: a page of metrics of a large cluster is below it.
const ANSWER_MAX: usize = 4 << 20;
/// So many letters of what a program says against itself are kept.
const WHY_MAX: usize = 200;

/// Asks each source of the order once, and then again and again until what it returns is dropped. `None`: the order has none.
///
/// Errors: those of the file; and if `must` why a source gave no answer, or no number for a value, else that is reported.
pub(crate) fn begin(order: &Order, must: bool, frontend: &Frontend) -> Result<Option<Sources>> {
    let sources = of_order(order)?;
    for (source, asked) in sources.iter().zip(all_once(&sources)) {
        let name = &source.name;
        match asked {
            Ok(Asked { took_ns, .. }) => {
                let every = [Lang::En, Lang::Ru].map(|lang| format::exact(source.every, lang));
                let took = [Lang::En, Lang::Ru].map(|lang| format::latency(Nanos(took_ns), lang));
                let ([every_en, every_ru], [took_en, took_ru], count) = (every, took, source.values.len());
                frontend.note(say!(
                    "`{name}`: values: {count}, every {every_en}; an answer took {took_en}",
                    "`{name}`: значений: {count}, каждые {every_ru}; ответ занял {took_ru}"
                ));
            }
            Err(why) if must => return Err(unread(name, &why)),
            Err(why) => frontend.note(unread(name, &why).message),
        }
    }
    Ok((!sources.is_empty()).then(|| watched(sources)))
}

/// Asks each source of the order once, and reports what it answered.
///
/// Errors: as [`begin`] with `must`.
pub(crate) fn try_once(order: &Order, frontend: &Frontend) -> Result<()> {
    let sources = of_order(order)?;
    for (source, asked) in sources.iter().zip(all_once(&sources)) {
        let name = &source.name;
        let Asked { numbers, took_ns } = asked.map_err(|why| unread(name, &why))?;
        let told = |(value, number): (&SourceValue, String)| {
            let SourceValue { name, unit, counter, multiply, divide, .. } = value;
            let times = if *multiply == 1 { String::new() } else { format!(" × {multiply}") };
            let parts = if *divide == 1 { String::new() } else { format!(" / {divide}") };
            match counter {
                true => say!("{name}: {number} (a counter)", "{name}: {number} (счётчик)"),
                false => Say::same(format!("{name}: {number}{times}{parts} {unit}")),
            }
        };
        let told: Vec<Say> = source.values.iter().zip(numbers).map(told).collect();
        let [en, ru] =
            [Lang::En, Lang::Ru].map(|lang| told.iter().map(|say| say.get(lang)).collect::<Vec<_>>().join(", "));
        let (took_en, took_ru) = (format::latency(Nanos(took_ns), Lang::En), format::latency(Nanos(took_ns), Lang::Ru));
        frontend.note(say!("`{name}` answered in {took_en}: {en}", "`{name}` ответил за {took_ru}: {ru}"));
    }
    Ok(())
}

fn of_order(order: &Order) -> Result<Vec<Source>> {
    let Some(NamedText { file, text }) = &order.sources else { return Ok(Vec::new()) };
    Ok(stend_spec::parse::sources(text, file)?.sources)
}

/// A whole answer.
struct Asked {
    numbers: Vec<String>,
    took_ns: u64,
}

/// The first answers of sources, which are asked at the same time; or why one is not whole.
fn all_once(sources: &[Source]) -> Vec<std::result::Result<Asked, Say>> {
    std::thread::scope(|scope| {
        let asking: Vec<_> = sources.iter().map(|source| scope.spawn(|| once(source))).collect();
        // A thread that panicked has said why; here it has no answer.
        let lost = || Err(say!("asking failed", "опрос не удался"));
        asking.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    })
}

fn once(source: &Source) -> std::result::Result<Asked, Say> {
    let begun = stend_wire::now();
    let answer = match ask(source, &|| false) {
        Ok(answer) => answer,
        Err(Silent::Late) => return Err(late(source)),
        Err(Silent::Failed(why)) => return Err(why),
        Err(Silent::Stopped) => return Err(say!("it was stopped", "опрос остановлен")),
    };
    let took_ns = stend_wire::now().saturating_sub(begun).0;
    let found = answers::numbers(source, &answer);
    let named = |(value, found): (&SourceValue, std::result::Result<String, answers::Absent>)| {
        let name = &value.name;
        found.map_err(|absent| {
            let Say { en, ru } = absent.say();
            say!("no number for `{name}`: {en}", "нет числа для `{name}`: {ru}")
        })
    };
    let numbers = source.values.iter().zip(found).map(named).collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(Asked { numbers, took_ns })
}

fn late(source: &Source) -> Say {
    let (en, ru) = (format::exact(source.limit, Lang::En), format::exact(source.limit, Lang::Ru));
    say!("no answer within {en}", "нет ответа за {ru}")
}

fn unread(name: &str, Say { en, ru }: &Say) -> Box<Error> {
    Error::preflight(say!("the source `{name}` cannot be read: {en}", "источник `{name}` не читается: {ru}"))
    .hint(say!(
        "docs/formats/sources.md has examples; `--dry-run` tries the file; without `--sources` the run starts without it",
        "примеры есть в docs/formats/sources.md; файл проверит `--dry-run`; без `--sources` прогон начнётся без него"
    ))
}

/// Has each asked on a thread of its own from now on.
fn watched(sources: Vec<Source>) -> Sources {
    let (to, from) = channel();
    let infos = sources.iter().map(info).collect();
    let began = stend_wire::now();
    let asking = sources.into_iter().map(|source| {
        let ((asking, over), to) = (channel(), to.clone());
        // A thread that cannot be started leaves its source without answers, which the result shows.
        let _thread = std::thread::Builder::new()
            .name("source".into())
            .spawn(move || again_and_again(&source, began, &to, &over));
        asking
    });
    Sources::new(infos, from, asking.collect())
}

/// Asks at multiples of its interval; a late answer takes the turns that it overlaps. Ends when `over` does, or when its answers have no reader.
fn again_and_again(source: &Source, began: Nanos, to: &Sender<SourceHeard>, over: &Receiver<()>) {
    let mut due = began;
    loop {
        let wait = Duration::from_nanos(due.saturating_sub(stend_wire::now()).0);
        if over.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let asked = stend_wire::now();
        let found = ask(source, &|| over.try_recv() == Err(TryRecvError::Disconnected));
        let ended = stend_wire::now();
        let answer = match found {
            Ok(text) => {
                SourceAnswer::Values(answers::numbers(source, &text).into_iter().map(|found| found.ok()).collect())
            }
            Err(Silent::Late) => SourceAnswer::Late,
            Err(Silent::Failed(why)) => SourceAnswer::Failed { why },
            Err(Silent::Stopped) => return,
        };
        let took_ns = ended.saturating_sub(asked).0;
        if to.send(SourceHeard { source: source.name.clone(), asked, took_ns, answer }).is_err() {
            return;
        }
        let passed = ended.saturating_sub(began).0 / source.every.0;
        due = began + Nanos((passed + 1).saturating_mul(source.every.0));
    }
}

/// Why there is no answer.
enum Silent {
    Late,
    Failed(Say),
    Stopped,
}

fn ask(source: &Source, stopped: &dyn Fn() -> bool) -> std::result::Result<String, Silent> {
    let words = words(source).map_err(|error| Silent::Failed(error.message.clone()))?;
    let asked = stend_stand::ask_within(&words, Duration::from_nanos(source.limit.0), ANSWER_MAX, stopped);
    match asked {
        Ok(answer) if answer.exit == Some(0) => Ok(answer.out),
        Ok(answer) => {
            let said = answer.err.lines().chain(answer.out.lines()).find(|line| !line.trim().is_empty());
            let said: String = said.unwrap_or_default().trim().chars().take(WHY_MAX).collect();
            let (program, code) = (program(source), answer.exit.map_or("?".to_string(), |code| code.to_string()));
            Err(Silent::Failed(say!(
                "`{program}` ended with exit code {code}: {said}",
                "`{program}` завершился с кодом {code}: {said}"
            )))
        }
        Err(error) => match error.kind() {
            ErrorKind::TimedOut => Err(Silent::Late),
            ErrorKind::Interrupted => Err(Silent::Stopped),
            _ => {
                let program = program(source);
                Err(Silent::Failed(say!(
                    "cannot execute `{program}`: {error}",
                    "не удаётся выполнить `{program}`: {error}"
                )))
            }
        },
    }
}

/// The program that asks.
fn program(source: &Source) -> &str {
    match &source.way {
        Way::Command { program, .. } => program,
        Way::Ssh { .. } => "ssh",
        Way::Http { .. } => "curl",
        Way::Snmp { .. } => "snmpget",
    }
}

/// What is executed. Nothing in it is secret.
fn words(source: &Source) -> Result<Vec<String>> {
    // Our own limit comes first, so that one that is late is known as such.
    let limit = format!("{:.0}", 2.0 * source.limit.as_secs() + 1.0);
    let of = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<String>>();
    Ok(match &source.way {
        Way::Command { program, arguments } => [program].into_iter().chain(arguments).cloned().collect(),
        Way::Ssh { host, command } => stend_wire::ssh_words(host, command)?,
        Way::Http { url, config } => {
            // Without `~/.curlrc`; nothing but HTTP, and no redirection, which would take a password elsewhere.
            let mut words =
                of(&["curl", "-q", "--silent", "--show-error", "--fail", "--globoff", "--proto", "=http,https"]);
            words.extend(of(&["--max-time", &limit]));
            words.extend(config.iter().flat_map(|file| ["--config".to_string(), file.clone()]));
            words.extend(["--url".to_string(), url.clone()]);
            words
        }
        Way::Snmp { host, config } => {
            let place = config.iter().map(|directory| format!("SNMPCONFPATH={directory}"));
            let mut words: Vec<String> = ["env".to_string()].into_iter().chain(place).collect();
            // No MIB is needed, and loading them takes longer than the question. Numbers are printed plainly, each behind its object.
            words.extend(of(&["snmpget", "-m", "", "-OnqetU", "-r", "0", "-t", &limit, host]));
            let oid = |value: &SourceValue| match &value.place {
                ValuePlace::Oid(oid) => Some(format!(".{oid}")),
                _ => None,
            };
            words.extend(source.values.iter().filter_map(oid));
            words
        }
    })
}

fn info(source: &Source) -> SourceInfo {
    let (way, place) = match &source.way {
        Way::Command { program, .. } => (SourceWay::Command, program.clone()),
        Way::Ssh { host, .. } => (SourceWay::Ssh, host.clone()),
        // A query may have a token.
        Way::Http { url, .. } => (SourceWay::Http, url.split(['?', '#']).next().unwrap_or_default().to_string()),
        Way::Snmp { host, .. } => (SourceWay::Snmp, host.clone()),
    };
    let value = |value: &SourceValue| {
        let SourceValue { name, unit, meaning, counter, multiply, divide, place: _ } = value.clone();
        SourceValueInfo { name, unit, meaning, counter, multiply, divide }
    };
    let values = source.values.iter().map(value).collect();
    SourceInfo { name: source.name.clone(), way, place, every: source.every, limit: source.limit, values }
}

#[cfg(test)]
mod tests;
