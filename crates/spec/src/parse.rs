//! From YAML nodes to a [`Suite`]: strict, with a position and a hint for everything that is refused.

mod address;
mod app;
mod append;
mod arms;
mod backend;
mod batch;
mod ceilings;
mod data;
mod defaults;
mod fault;
mod files;
mod fill;
mod frequency;
mod gate;
mod hosts;
mod io_log;
mod limit;
mod load_hosts;
mod machine;
mod notify;
mod operation;
mod order;
mod overridden;
mod pattern;
mod placement;
mod power;
mod precondition;
mod prober;
mod rate;
mod repeats;
mod schedule;
mod similar;
mod size;
mod sources;
mod stand;
mod steady;
mod trace;
mod verify;
mod vm;

use crate::keys::{self, Choice, IN_FLIGHT_MAX, Limits, Mapping};
use crate::pattern::Pattern;
use crate::suite::{JobsOf, StreamSpec, Suite, SuiteCase};
use crate::topology::Placement;
use crate::workload::{Batch, Sync};
pub use crate::yaml::SIZE_MAX;
use crate::yaml::{self, Key, Node, Value};
use defaults::{Defaults, RAMP, WINDOW};
pub use gate::gate;
pub use hosts::hosts;
pub use limit::expect;
pub use machine::machine;
pub use notify::notify;
pub use order::{ORDER_MAX, needs_several, order};
pub use overridden::overridden;
pub use similar::{distance, nearest};
pub use sources::sources;
pub use stand::stand;
use stend_base::units::{parse_bytes, parse_millionths, parse_nanos};
use stend_base::{Bytes, Kind, Millionths, Nanos, Result, Say, say};
pub use vm::machines;

/// Parses a suite. `file` names it in errors; kind of every error is `Spec`.
pub fn suite(text: &str, file: &str) -> Result<Suite> {
    suite_of_options(text, file).map_err(|error| {
        error.or_hint(say!(
            "docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from",
            "все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`"
        ))
    })
}

/// The same for a text made from options: no hint about where the format is described.
pub fn suite_of_options(text: &str, file: &str) -> Result<Suite> {
    let root = yaml::parse(text, file)?;
    let mut map = Map::of(&root, &keys::SUITE)?;
    let name = map.required("suite", name)?;
    let defaults = map.optional("defaults", Defaults::parse)?.unwrap_or_default();
    let fill = map.optional("fill", fill::fill)?.flatten();
    let precondition = map.optional("precondition", |node| precondition::precondition(node, fill))?;
    let files = map.optional("files", |node| files::files(node, fill))?;
    let count = files.as_ref().map_or(1, |files| files.count);
    let calibrate = map.optional("calibrate", ceilings::calibrate)?.unwrap_or_default();
    let ceilings = map.optional("ceilings", ceilings::ceilings)?;
    let confirm = map.optional("confirm", ceilings::confirm)?.unwrap_or_default();
    let (blocks, until) = map.optional("repeats", repeats::repeats)?.unwrap_or((6, None));
    let one = |item: &Node| case(item, &defaults, count);
    let cases: Vec<SuiteCase> = map.required("cases", |node| list(node)?.iter().map(&one).collect())?;
    let observe = map.optional("observe", arms::observations)?.unwrap_or_default();
    let arms = map.optional("arms", |node| arms::arms(node, &observe))?.unwrap_or_default();
    map.finish()?;
    if arms.is_empty() && !observe.is_empty() {
        return Err(root.error(say!("`observe` needs `arms`", "`observe` требует `arms`")));
    }
    if !arms.is_empty() {
        rate::no_search(&root, &cases)?;
        steady::not_with_arms(&root, &cases)?;
        repeats::not_in_turn(&root, until, &arms)?;
        fault::not_with_arms(&root, &cases)?;
        load_hosts::not_with_arms(&root, &cases)?;
    }
    app::alone(&root, &cases)?;
    power::not_until(&root, &cases, until.is_some())?;
    if cases.is_empty() {
        return Err(root.error(say!("`cases` is empty", "список `cases` пуст")));
    }
    for (index, later) in cases.iter().enumerate() {
        if cases[..index].iter().any(|earlier| earlier.name == later.name) {
            let name = &later.name;
            return Err(root.error(say!("two cases are named `{name}`", "два случая названы `{name}`")));
        }
    }
    let before = Suite { name, fill, precondition, files, calibrate, ceilings, confirm, ..Suite::default() };
    Ok(Suite { cases, blocks, until, arms, observe, ..before })
}

/// A case of a suite with so many test files.
fn case(node: &Node, defaults: &Defaults, files: u32) -> Result<SuiteCase> {
    let mut map = Map::of(node, &keys::CASE)?;
    let name = map.required("name", name)?;
    let Defaults { direct, pages, ramp, window, backend, engine, io_log, prober, steady } =
        defaults.overridden(&mut map)?;
    if let Some(spec) = map.optional("application", app::application)? {
        let (ramp, window) = (ramp.unwrap_or(RAMP), window.unwrap_or(WINDOW));
        app::fits(node, &spec, ramp, window)?;
        map.finish()?;
        return Ok(SuiteCase { ramp, window, ..SuiteCase::of_application(name, spec) });
    }
    let faults = map.optional("events", fault::faults)?.unwrap_or_default();
    let load_hosts = map.optional("load_hosts", load_hosts::load_hosts)?.unwrap_or_default();
    let mut streams: Vec<StreamSpec> =
        map.required("streams", |node| list(node)?.iter().map(|item| stream(item, files)).collect())?;
    map.finish()?;
    rate::one_search(node, &streams)?;
    if !keys::STREAMS.hold(&streams.len()) {
        return Err(node.error(say!("a case needs 1 to 64 streams", "случаю нужно от 1 до 64 потоков")));
    }
    let largest = |values: &[u32]| u64::from(values.iter().copied().max().unwrap_or(0));
    let in_flight: u64 = streams.iter().map(|s| largest(&s.queue_depth) * largest(&s.jobs)).sum();
    if in_flight > IN_FLIGHT_MAX {
        return Err(node.error(say!(
            "the case asks for {in_flight} I/Os in flight; the limit is {IN_FLIGHT_MAX}",
            "случай требует {in_flight} одновременных операций; предел — {IN_FLIGHT_MAX}"
        )));
    }
    placement::all_or_none(&streams, node)?;
    placement::one_matrix(&streams, node)?;
    trace::alone_or_in_regions(&streams, node)?;
    let (ramp, window) = trace::lengths(&mut streams, ramp, window);
    // Where a trace says how long a trial is, the plan looks at what happens in it.
    let by_trace = trace::gives_window(&streams);
    if !by_trace {
        schedule::fits(node, Nanos(trace::ramp_least(&streams, ramp).0.saturating_add(window.0)), &streams)?;
    }
    files::alike(node, &streams)?;
    if io_log.is_some() {
        io_log::fits(node, &streams)?;
    }
    if let Some((message, hint)) = backend::contradiction(backend, direct, &streams) {
        return Err(node.error(message).hint(hint));
    }
    if prober != defaults.prober {
        prober::fits(node, prober, backend, &streams)?;
    }
    if steady.is_some() {
        steady::fits(node, &streams)?;
    }
    fault::fits(node, &faults, (!by_trace).then_some(window), (engine, &streams))?;
    power::fits(node, &faults, &streams, steady.is_some())?;
    load_hosts::fits(node, &load_hosts, &streams, (!faults.is_empty(), steady.is_some()))?;
    Ok(SuiteCase {
        name,
        app: None,
        streams,
        ramp,
        window,
        direct,
        pages,
        backend,
        engine,
        io_log,
        prober,
        steady,
        faults,
        load_hosts,
    })
}

fn stream(node: &Node, files: u32) -> Result<StreamSpec> {
    if trace::is_one(node) {
        return trace::stream(node);
    }
    let mut map = Map::of(node, &keys::STREAM)?;
    let mix = map.required("op", operation::mix)?;
    let (block_size, block_mix) = map.required("block_size", size::block_sizes)?;
    let sizes: Vec<Bytes> = block_mix.iter().map(|share| share.size).chain(block_size.iter().copied()).collect();
    let (rate, search) = map.optional("rate", rate::rates)?.unwrap_or_default();
    let cpus = map.optional("cpus", placement::cpus)?.unwrap_or_default();
    let open = !rate.is_empty() || search.is_some();
    let pattern = map.required("pattern", |node| pattern::pattern(node, &sizes))?;
    let depth = if open && pattern != Pattern::Append { keys::rate::OPEN_DEPTH } else { 1 };
    let (jobs, jobs_of) =
        map.optional("jobs", |node| files::jobs(node, files))?.unwrap_or_else(|| (vec![1], JobsOf::Range));
    let spec = StreamSpec {
        mix,
        pattern,
        block_size,
        block_mix,
        queue_depth: map
            .optional("queue_depth", |node| axis(node, |n| whole(n, keys::DEPTH)))?
            .unwrap_or_else(|| vec![depth]),
        jobs,
        jobs_of,
        sync: map.optional("sync", |node| operation::sync(node, mix))?.unwrap_or(Sync::None),
        data: map.optional("data", |node| data::data(node, mix))?.unwrap_or_default(),
        placement: Placement { numa: map.optional("numa", |node| placement::numa(node, &cpus))?.flatten(), cpus },
        region: map.optional("region", placement::region)?.flatten(),
        think: map.optional("think", |node| placement::think(node, open))?.flatten(),
        batch: Batch::default(),
        submit: map.optional("submit", |node| word(node, keys::batch::SUBMIT))?.unwrap_or_default(),
        rate,
        verify: None,
        search,
        trace: None,
    };
    let verify = map.optional("verify", |node| verify::verify(node, &spec))?.flatten();
    let batch = map.optional("batch", |node| batch::batch(node, &spec.queue_depth, open))?;
    map.finish()?;
    let spec = StreamSpec { verify, batch: batch.unwrap_or_default(), ..spec };
    append::check(node, &spec)?;
    Ok(spec)
}

fn name(node: &Node) -> Result<String> {
    let text = text(node)?;
    let length = text.chars().count();
    if length == 0 || length > 200 || text.chars().any(char::is_control) {
        return Err(node.error(say!(
            "a name has 1 to 200 characters and no control characters",
            "имя содержит от 1 до 200 символов без управляющих"
        )));
    }
    Ok(text)
}

fn span(node: &Node) -> Result<Nanos> {
    if let Value::Int(number) = node.value {
        return Err(node
            .error(say!("`{number}` has no unit", "у `{number}` нет единицы"))
            .hint(say!("write `{number}s` or, for example, `250ms`", "напишите `{number}s` или, например, `250ms`")));
    }
    let text = text(node)?;
    match parse_nanos(&text) {
        Ok(span) => Ok(span),
        Err(Say { en, ru }) => Err(node.error(say!("not a duration: {en}", "не длительность: {ru}"))),
    }
}

fn ramp(node: &Node) -> Result<Nanos> {
    let span = span(node)?;
    if !keys::RAMP.hold(&span) {
        return Err(node.error(say!("a ramp lasts 7 days at most", "разгон длится не более 7 дней")));
    }
    Ok(span)
}

fn window(node: &Node) -> Result<Nanos> {
    let span = span(node)?;
    if !keys::WINDOW.hold(&span) {
        return Err(node
            .error(say!("a trial lasts at least 200 ms and at most 7 days", "испытание длится от 200 мс до 7 дней")));
    }
    Ok(span)
}

fn bytes(node: &Node) -> Result<Bytes> {
    if let Value::Int(number) = node.value {
        return Err(node
            .error(say!("`{number}` has no unit", "у `{number}` нет единицы"))
            .hint(say!("write `{number}B` or, for example, `4KiB`", "напишите `{number}B` или, например, `4KiB`")));
    }
    let text = text(node)?;
    parse_bytes(&text).map_err(|Say { en, ru }| node.error(say!("not a size: {en}", "не размер: {ru}")))
}

fn axis<T: PartialEq>(node: &Node, one: impl Fn(&Node) -> Result<T>) -> Result<Vec<T>> {
    let Value::List(items) = &node.value else { return Ok(vec![one(node)?]) };
    if items.is_empty() {
        return Err(node.error(say!("an axis needs at least one value", "оси нужно хотя бы одно значение")));
    }
    let most = keys::CASES.most;
    if items.len() > most {
        return Err(node.error(say!("an axis has at most {most} values", "у оси не более {most} значений")));
    }
    let mut values: Vec<T> = Vec::with_capacity(items.len());
    for item in items {
        let value = one(item)?;
        if values.contains(&value) {
            let message = say!("this value stands in the list twice", "это значение указано в списке дважды");
            return Err(item.error(message).hint(say!("name each value once", "укажите каждое значение один раз")));
        }
        values.push(value);
    }
    Ok(values)
}

fn whole(node: &Node, limits: Limits<u32>) -> Result<u32> {
    let Limits { least, most } = limits;
    match node.value {
        Value::Int(n) if (i128::from(least)..=i128::from(most)).contains(&n) => Ok(n as u32),
        Value::Int(n) => {
            Err(node.error(say!("{n} is outside {least} to {most}", "{n} вне пределов от {least} до {most}")))
        }
        _ => Err(expected(node, say!("a whole number", "целое число"))),
    }
}

/// A part of a whole, written in percent.
fn share(node: &Node, limits: Limits<Millionths>) -> Result<Millionths> {
    let Value::Text(text) = &node.value else {
        return Err(expected(node, say!("a share such as `20%`", "доля, например `20%`")));
    };
    let share =
        parse_millionths(text).map_err(|Say { en, ru }| node.error(say!("not a share: {en}", "не доля: {ru}")))?;
    if limits.hold(&share) {
        return Ok(share);
    }
    let (least, most) = (limits.least.as_percent(), limits.most.as_percent());
    Err(node.error(say!("{text} is outside {least}% to {most}%", "{text} вне пределов от {least}% до {most}%")))
}

/// A number with at most three decimals, in thousandths.
fn thousandths(node: &Node, limits: Limits<u32>) -> Result<u32> {
    let number = match node.value {
        Value::Int(n) => n as f64,
        Value::Float(x) => x,
        _ => return Err(expected(node, say!("a number", "число"))),
    };
    let scaled = number * 1000.0;
    // What was written in decimal is off by a few units in the last place of a double.
    if (scaled - scaled.round()).abs() < 1e-6
        && (f64::from(limits.least)..=f64::from(limits.most)).contains(&scaled.round())
    {
        return Ok(scaled.round() as u32);
    }
    let (least, most) = (f64::from(limits.least) / 1e3, f64::from(limits.most) / 1e3);
    Err(node.error(say!(
        "{number} is not a number from {least} to {most} with at most three decimals",
        "{number} — не число от {least} до {most} не более чем с тремя знаками после запятой"
    )))
}

fn boolean(node: &Node) -> Result<bool> {
    match node.value {
        Value::Bool(b) => Ok(b),
        _ => Err(expected(node, say!("`true` or `false`", "`true` или `false`"))),
    }
}

fn text(node: &Node) -> Result<String> {
    match &node.value {
        Value::Text(text) => Ok(text.clone()),
        _ => Err(expected(node, say!("text", "текст"))),
    }
}

fn list(node: &Node) -> Result<&[Node]> {
    match &node.value {
        Value::List(items) => Ok(items),
        _ => Err(expected(node, say!("a list", "список"))),
    }
}

fn word<T: Clone>(node: &Node, words: &[Choice<T>]) -> Result<T> {
    let known = words.iter().map(|(word, ..)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match &node.value {
        Value::Text(text) => {
            words.iter().find(|(word, ..)| word == text).map(|(.., value)| value.clone()).ok_or_else(|| {
                let error = node.error(say!("`{text}` is not one of {known}", "`{text}` — не одно из {known}"));
                match nearest(text, words.iter().map(|(word, ..)| *word)) {
                    Some(near) => error.hint(say!("did you mean `{near}`?", "возможно, `{near}`?")),
                    None => error,
                }
            })
        }
        _ => Err(expected(node, Say::same(known))),
    }
}

/// What is said of anything else where keys are expected.
fn no_keys(node: &Node, Mapping { en, ru, keys, .. }: &Mapping) -> Box<stend_base::Error> {
    if node.value == Value::Null && (node.at.line, node.at.column) == (1, 1) {
        return node.error(say!("the file is empty", "файл пуст"));
    }
    let found = node.kind();
    let (found_en, found_ru) = (found.en, found.ru);
    let key = keys.iter().find(|key| key.default.is_none()).or(keys.first()).map_or("", |key| key.name);
    node.error(say!(
        "{en}: keys are expected, such as `{key}: …`, found {found_en}",
        "{ru}: нужны ключи, например `{key}: …`, найдено: {found_ru}"
    ))
}

fn expected(node: &Node, what: Say) -> Box<stend_base::Error> {
    let found = node.kind();
    let (en, ru) = (what.en, what.ru);
    let (found_en, found_ru) = (found.en, found.ru);
    node.error(say!("expected {en}, found {found_en}", "ожидалось: {ru}, найдено: {found_ru}"))
}

/// A mapping whose keys are taken one by one; what is left over is unknown.
struct Map<'a> {
    node: &'a Node,
    pairs: Vec<(&'a Key, &'a Node)>,
    known: &'static Mapping,
}

impl<'a> Map<'a> {
    fn of(node: &'a Node, known: &'static Mapping) -> Result<Map<'a>> {
        let Value::Map(pairs) = &node.value else { return Err(no_keys(node, known)) };
        Ok(Map { node, pairs: pairs.iter().map(|(k, v)| (k, v)).collect(), known })
    }

    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.known.keys.iter().map(|key| key.name)
    }

    fn optional<T>(&mut self, key: &'static str, parse: impl Fn(&Node) -> Result<T>) -> Result<Option<T>> {
        debug_assert!(self.names().any(|name| name == key), "`{key}` is described nowhere");
        let Some(index) = self.pairs.iter().position(|(k, _)| k.name == key) else { return Ok(None) };
        let (_, node) = self.pairs.remove(index);
        parse(node).map(Some)
    }

    fn required<T>(&mut self, key: &'static str, parse: impl Fn(&Node) -> Result<T>) -> Result<T> {
        if let Some(value) = self.optional(key, parse)? {
            return Ok(value);
        }
        // A mistyped required key is better reported as unknown, with the right name beside it.
        self.unknown_like(key)?;
        let Mapping { en, ru, .. } = self.known;
        Err(self.node.error(say!("{en}: the key `{key}` is missing", "{ru}: нет ключа `{key}`")))
    }

    fn unknown_like(&self, key: &str) -> Result<()> {
        let is_known = |name: &str| self.names().any(|known| known == name);
        match self.pairs.iter().find(|(k, _)| distance(&k.name, key) <= 2 && !is_known(&k.name)) {
            Some((k, _)) => Err(self.unknown(k, Some(key))),
            None => Ok(()),
        }
    }

    fn finish(self) -> Result<()> {
        let Some((key, _)) = self.pairs.first() else { return Ok(()) };
        Err(self.unknown(key, nearest(&key.name, self.names())))
    }

    fn unknown(&self, key: &Key, near: Option<&str>) -> Box<stend_base::Error> {
        debug_assert!(!self.names().any(|name| name == key.name), "`{}` is known, and not read here", key.name);
        let shown: String = key.name.chars().take(60).collect();
        let Mapping { en, ru, .. } = self.known;
        let error = key.error(say!("{en}: unknown key `{shown}`", "{ru}: неизвестный ключ `{shown}`"));
        debug_assert_eq!(error.kind, Kind::Spec);
        match near {
            Some(near) => error.hint(say!("did you mean `{near}`?", "возможно, `{near}`?")),
            None => {
                let known = self.names().collect::<Vec<_>>().join("`, `");
                error.hint(say!("known keys: `{known}`", "известные ключи: `{known}`"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
