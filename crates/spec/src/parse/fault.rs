//! `events` of a case.

mod machines;

use super::{Map, arms, bytes, list, share, span, text, vm, whole};
use crate::fault::{Act, Fault, Which, WhichMachine};
use crate::keys::fault as keys;
use crate::suite::{StreamSpec, SuiteCase};
use crate::workload::Engine;
use crate::yaml::{Node, Value};
use stend_base::{Bytes, Lang, Millionths, Nanos, Result, format, say};

/// Every event of a case, in the order of time.
pub(super) fn faults(node: &Node) -> Result<Vec<Fault>> {
    let items = list(node)?;
    if !keys::EVENTS.hold(&items.len()) {
        return Err(node.error(say!("a case has 1 to 16 events", "у случая от 1 до 16 событий")));
    }
    let mut found: Vec<Fault> = items.iter().map(fault).collect::<Result<_>>()?;
    found.sort_by_key(|fault| fault.at);
    Ok(found)
}

fn fault(node: &Node) -> Result<Fault> {
    let mut map = Map::of(node, &keys::EVENT)?;
    let at = map.required("at", |n| within(n, keys::AT))?;
    let lasts = map.optional("for", |n| within(n, keys::LASTS))?;
    let what = map.required("do", text)?;
    let is_migration = what == "vm.migrate";
    let given = Given {
        drive: map.optional("drive", which)?,
        delay: map.optional("delay", delay)?,
        from: map.optional("from", |n| pages(n, keys::FROM))?,
        length: map.optional("length", |n| pages(n, keys::LENGTH))?,
        path: map.optional("path", |n| whole(n, keys::PATH))?,
        cpu: map.optional("cpu", |n| whole(n, keys::CPU))?,
        to: if is_migration { None } else { map.optional("to", |n| share(n, keys::FULL))? },
        connection: if is_migration { map.optional("to", machines::destination)? } else { None },
        limit: map.optional("limit", limit)?,
        link: map.optional("link", |n| name(n, keys::LINK, "_.@", "-"))?,
        loss: map.optional("loss", |n| share(n, keys::LOSS))?,
        process: map.optional("process", |n| name(n, keys::PROCESS, "_", ".:+-"))?,
        command: map.optional("command", arms::command)?,
        undo: map.optional("undo", arms::command)?,
        machine: map.optional("machine", machines::which)?,
        directory: map.optional("directory", vm::directory)?,
        iops: map.optional("iops", |n| whole(n, crate::keys::machine::IOPS))?,
        bandwidth: map.optional("bandwidth", vm::bandwidth)?,
    };
    map.finish()?;
    let act = act(node, &what, given)?;
    must_end_itself(node, &act, lasts)?;
    machines::must_be_mebibytes(node, &act)?;
    Ok(Fault { at, lasts, act })
}

/// A copy ends when it is complete.
fn must_end_itself(node: &Node, act: &Act, lasts: Option<Nanos>) -> Result<()> {
    if lasts.is_none() || !matches!(act, Act::DriveReplace(_)) {
        return Ok(());
    }
    let message = say!(
        "`drive.replace` takes no `for`: it ends with its copy",
        "у `drive.replace` нет `for`: событие кончается вместе с копированием"
    );
    Err(node.error(message).hint(say!(
        "give `trial` the time that the copy takes; after the trial the drive becomes the spare",
        "дайте `trial` столько времени, сколько занимает копирование; после испытания накопитель становится запасным"
    )))
}

/// What an event may say besides.
#[derive(Default)]
struct Given {
    drive: Option<Which>,
    delay: Option<Nanos>,
    from: Option<Bytes>,
    length: Option<Bytes>,
    path: Option<u32>,
    cpu: Option<u32>,
    to: Option<Millionths>,
    connection: Option<String>,
    limit: Option<Nanos>,
    link: Option<String>,
    loss: Option<Millionths>,
    process: Option<String>,
    command: Option<Vec<String>>,
    undo: Option<Vec<String>>,
    machine: Option<WhichMachine>,
    directory: Option<String>,
    iops: Option<u32>,
    bandwidth: Option<Bytes>,
}

impl Given {
    /// Names of the keys that are there.
    fn names(&self) -> Vec<&'static str> {
        let there = [
            ("drive", self.drive.is_some()),
            ("delay", self.delay.is_some()),
            ("from", self.from.is_some()),
            ("length", self.length.is_some()),
            ("path", self.path.is_some()),
            ("cpu", self.cpu.is_some()),
            ("limit", self.limit.is_some()),
            ("to", self.to.is_some() || self.connection.is_some()),
            ("link", self.link.is_some()),
            ("loss", self.loss.is_some()),
            ("process", self.process.is_some()),
            ("command", self.command.is_some()),
            ("undo", self.undo.is_some()),
            ("machine", self.machine.is_some()),
            ("directory", self.directory.is_some()),
            ("iops", self.iops.is_some()),
            ("bandwidth", self.bandwidth.is_some()),
        ];
        there.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
    }
}

/// Each kind takes exactly its own keys.
fn act(node: &Node, what: &str, given: Given) -> Result<Act> {
    if let Some(machines) = machines::act(node, what, &given) {
        return machines;
    }
    let names = given.names();
    let (wanted, act): (&[&str], Option<Act>) = match what {
        "drive.fail" => (&["drive"], given.drive.map(Act::DriveFail)),
        "drive.replace" => (&["drive"], given.drive.map(Act::DriveReplace)),
        "drive.slow" => {
            (&["drive", "delay"], given.drive.zip(given.delay).map(|(drive, delay)| Act::DriveSlow(drive, delay)))
        }
        "drive.error" => (&["drive"], given.drive.map(Act::DriveError)),
        "daemon.kill" => (&["drive"], given.drive.map(Act::DaemonKill)),
        "drive.corrupt" => {
            let from = given.from;
            let both = given.drive.zip(given.length);
            let wanted: &[&str] = if from.is_some() { &["drive", "from", "length"] } else { &["drive", "length"] };
            (wanted, both.map(|(drive, length)| Act::DriveCorrupt { drive, from, length }))
        }
        "scrub" => (&[], Some(Act::Scrub)),
        "snapshot" => (&[], Some(Act::Snapshot)),
        "path.down" => (&["path"], given.path.map(Act::PathDown)),
        "peer.down" => (&[], Some(Act::PeerDown)),
        "power.cut" => (&[], Some(Act::PowerCut)),
        "cpu.offline" => (&["cpu"], given.cpu.map(Act::CpuOffline)),
        "fill" => (&["to"], given.to.map(Act::Fill)),
        "link.down" => (&["link"], given.link.map(Act::LinkDown)),
        "link.delay" => {
            (&["delay", "link"], given.link.zip(given.delay).map(|(link, delay)| Act::LinkDelay(link, delay)))
        }
        "link.loss" => (&["link", "loss"], given.link.zip(given.loss).map(|(link, loss)| Act::LinkLoss(link, loss))),
        "process.kill" => {
            let both = given.process.zip(given.undo);
            (&["process", "undo"], both.map(|(process, undo)| Act::ProcessKill { process, undo }))
        }
        "command" => {
            (&["command", "undo"], given.command.zip(given.undo).map(|(command, undo)| Act::Command { command, undo }))
        }
        other => {
            let known = keys::ACTS.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            return Err(node.error(say!("`{other}` is not one of {known}", "`{other}` — не одно из {known}")));
        }
    };
    let listed = wanted.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match act {
        Some(act) if names == wanted => Ok(act),
        _ if wanted.is_empty() => {
            Err(node.error(say!("`{what}` takes no other keys", "`{what}` не принимает других ключей")))
        }
        _ => Err(node.error(say!("`{what}` takes exactly {listed}", "`{what}` принимает ровно {listed}"))),
    }
}

fn within(node: &Node, limits: crate::keys::Limits<Nanos>) -> Result<Nanos> {
    let span = span(node)?;
    if limits.hold(&span) {
        return Ok(span);
    }
    let least = |lang| stend_base::format::exact(limits.least, lang);
    let (en, ru) = (least(stend_base::Lang::En), least(stend_base::Lang::Ru));
    Err(node.error(say!("at least {en}, at most 7 days", "не меньше {ru} и не больше 7 дней")))
}

fn delay(node: &Node) -> Result<Nanos> {
    let span = span(node)?;
    if keys::DELAY.hold(&span) && span.0.is_multiple_of(Nanos::millis(1).0) {
        return Ok(span);
    }
    Err(node.error(say!(
        "a delay is a whole number of milliseconds, from 1 ms to 60 s",
        "задержка — целое число миллисекунд, от 1 мс до 60 с"
    )))
}

/// How long a migration may take.
fn limit(node: &Node) -> Result<Nanos> {
    let span = span(node)?;
    match keys::MIGRATION.hold(&span) {
        true => Ok(span),
        false => Err(node.error(say!("`limit` is 10 s to 1 day", "`limit` — от 10 с до 1 дня"))),
    }
}

/// Whole pages.
fn pages(node: &Node, limits: crate::keys::Limits<Bytes>) -> Result<Bytes> {
    let size = bytes(node)?;
    if limits.hold(&size) && size.0.is_multiple_of(keys::OVERWRITE_UNIT) {
        return Ok(size);
    }
    let told = |size, lang| format::bytes(size, lang);
    let (least, least_ru) = (told(limits.least, Lang::En), told(limits.least, Lang::Ru));
    let (most, most_ru) = (told(limits.most, Lang::En), told(limits.most, Lang::Ru));
    Err(node.error(say!("a multiple of 4 KiB from {least} to {most}", "кратно 4 КиБ, от {least_ru} до {most_ru}")))
}

/// A name of these many bytes: letters and digits of ASCII and some signs, of which the later ones may not come first.
fn name(node: &Node, length: crate::keys::Limits<usize>, signs: &str, later: &str) -> Result<String> {
    let name = text(node)?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || signs.contains(c) || later.contains(c);
    if length.hold(&name.len()) && name.chars().all(allowed) && !name.starts_with(|c| later.contains(c)) {
        return Ok(name);
    }
    let most = length.most;
    Err(node.error(say!(
        "a name here has 1 to {most} letters, digits and signs of `{signs}{later}`, and does not begin with one of `{later}`",
        "имя здесь — от 1 до {most} букв, цифр и знаков из `{signs}{later}`, и начинается не с `{later}`"
    )))
}

fn which(node: &Node) -> Result<Which> {
    match &node.value {
        Value::Text(word) if word == "each" => Ok(Which::Each),
        _ => whole(node, keys::DRIVE).map(Which::Number),
    }
}

/// Refuses events that cannot come in the window, or whose case is not measured in a way that shows them.
/// `window` is `None` where only the plan knows it.
pub(super) fn fits(case: &Node, faults: &[Fault], window: Option<Nanos>, how: (Engine, &[StreamSpec])) -> Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    if faults.iter().any(|fault| window.is_some_and(|window| fault.end() >= window)) {
        return Err(case
            .error(say!(
                "an event comes, or is undone, after the window of the trial",
                "событие наступает или отменяется после конца окна испытания"
            ))
            .hint(say!(
                "times count from the begin of the window (`trial`); without `for` an event is undone after the trial",
                "время считается от начала окна (`trial`); без `for` событие отменяется после испытания"
            )));
    }
    if let Some(link) = twice(faults, Act::link) {
        return Err(case.error(say!(
            "events of the link `{link}` overlap: one is undone before the next begins",
            "события интерфейса `{link}` пересекаются: следующее начинается после отмены предыдущего"
        )));
    }
    if let Some(kind) = twice(faults, machines::kind) {
        return Err(case.error(say!(
            "`{kind}` of virtual machines overlap: one is undone before the next begins",
            "события `{kind}` виртуальных машин пересекаются: следующее начинается после отмены предыдущего"
        )));
    }
    must_be_alone(case, faults)?;
    let (engine, streams) = how;
    if engine != Engine::Native {
        return Err(case.error(say!("`events` need `engine: native`", "для `events` нужен `engine: native`")));
    }
    if streams.iter().any(|stream| stream.search.is_some()) {
        return Err(case
            .error(say!("`events` cannot be used in a search", "`events` нельзя использовать при поиске"))
            .hint(say!("give the rate that the search found", "задайте найденную поиском частоту")));
    }
    Ok(())
}

/// A drive with wrong data is written anew from the others: all of them must be there, and have the right ones. A spare that another
/// event takes is none for a copy, and what gives it back would meet what the other one has put in.
fn must_be_alone(case: &Node, faults: &[Fault]) -> Result<()> {
    let of = |wanted: fn(&Act) -> bool| faults.iter().filter(|fault| wanted(&fault.act)).count();
    let wrong = of(|act| matches!(act, Act::DriveCorrupt { .. }));
    let copied = of(|act| matches!(act, Act::DriveReplace(_)));
    let gone = of(|act| matches!(act, Act::DriveFail(_) | Act::DriveError(_) | Act::DaemonKill(_)));
    if copied > 1 || (copied == 1 && wrong + gone > 0) {
        return Err(case.error(say!(
            "`drive.replace` comes once in a case, and not beside `drive.fail`, `drive.error`, `drive.corrupt` or `daemon.kill`",
            "`drive.replace` бывает в случае один раз и не вместе с `drive.fail`, `drive.error`, `drive.corrupt` и `daemon.kill`"
        )));
    }
    if wrong == 0 || (wrong == 1 && gone == 0) {
        return Ok(());
    }
    Err(case.error(say!(
        "`drive.corrupt` comes once in a case, and not beside `drive.fail`, `drive.error` or `daemon.kill`",
        "`drive.corrupt` бывает в случае один раз и не вместе с `drive.fail`, `drive.error` и `daemon.kill`"
    )))
}

/// What an event changes while another one has it changed.
fn twice<'a>(faults: &'a [Fault], changes: fn(&'a Act) -> Option<&'a str>) -> Option<&'a str> {
    let end = |fault: &Fault| fault.lasts.map(|lasts| Nanos(fault.at.0.saturating_add(lasts.0)));
    // In the order of time.
    (0..).zip(faults).find_map(|(index, fault)| {
        let what = changes(&fault.act)?;
        let before = faults.iter().take(index).filter(|before| changes(&before.act) == Some(what));
        before.into_iter().any(|before| end(before).is_none_or(|end| end >= fault.at)).then_some(what)
    })
}

/// Arms change the host, and so do events: what would undo which?
pub(super) fn not_with_arms(suite: &Node, cases: &[SuiteCase]) -> Result<()> {
    if cases.iter().all(|case| case.faults.is_empty()) {
        return Ok(());
    }
    let message =
        say!("`events` cannot be used in a suite with `arms`", "`events` нельзя использовать в наборе с `arms`");
    Err(suite.error(message).hint(say!(
        "compare two runs, or two stands, with `stend compare`",
        "сравните два прогона или два стенда командой `stend compare`"
    )))
}

#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod tests {
    use crate::fault::{Act, Which};
    use crate::parse::suite;
    use expect_test::{Expect, expect};
    use stend_base::{Lang, Nanos};

    fn text(events: &str, more: &str, stream: &str) -> String {
        format!(
            "suite: x\n{more}cases:\n  - name: a\n    trial: 30s\n    events: {events}\n    streams: [{{op: read, pattern: random, block_size: 4KiB{stream}}}]\n"
        )
    }

    fn check_error(events: &str, more: &str, stream: &str, expected: Expect) {
        let error = suite(&text(events, more, stream), "s.yaml").unwrap_err();
        expected.assert_eq(&format!("{}\n{}\n", error.render(Lang::En), error.render(Lang::Ru)));
    }

    #[test]
    fn events_come_in_the_order_of_time_with_what_each_needs() {
        let events = "[{at: 20s, do: scrub}, {at: 5s, for: 10s, do: drive.fail, drive: each}, {at: 6s, do: drive.slow, drive: 3, delay: 50ms}, {at: 7s, do: cpu.offline, cpu: 1}, {at: 8s, do: command, command: [a, b], undo: [c]}, {at: 9s, do: snapshot}, {at: 10s, do: path.down, path: 2}]";
        let found = suite(&text(events, "", ""), "s.yaml").unwrap().cases.remove(0).faults;
        let acts: Vec<(u64, &Act)> = found.iter().map(|fault| (fault.at.0 / 1_000_000_000, &fault.act)).collect();
        let command = Act::Command { command: vec!["a".into(), "b".into()], undo: vec!["c".into()] };
        assert_eq!(
            acts,
            [
                (5, &Act::DriveFail(Which::Each)),
                (6, &Act::DriveSlow(Which::Number(3), Nanos::millis(50))),
                (7, &Act::CpuOffline(1)),
                (8, &command),
                (9, &Act::Snapshot),
                (10, &Act::PathDown(2)),
                (20, &Act::Scrub),
            ]
        );
        assert_eq!(found[0].lasts, Some(Nanos::secs(10)));
        assert_eq!(found[0].say().en, "at 5 s: a drive, in each block the next fails and is taken out, for 10 s");
    }

    #[test]
    fn what_cannot_come_or_lacks_its_keys_is_refused() {
        check_error(
            "[]",
            "",
            "",
            expect![[r#"
                error: s.yaml:5:13: a case has 1 to 16 events
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:5:13: у случая от 1 до 16 событий
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "[{at: 5s, do: explode}]",
            "",
            "",
            expect![[r#"
                error: s.yaml:5:14: `explode` is not one of `drive.fail`, `drive.replace`, `drive.slow`, `drive.error`, `drive.corrupt`, `scrub`, `snapshot`, `path.down`, `peer.down`, `daemon.kill`, `cpu.offline`, `fill`, `link.down`, `link.delay`, `link.loss`, `process.kill`, `power.cut`, `vm.snapshot`, `vm.move`, `vm.migrate`, `vm.limit`, `command`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:5:14: `explode` — не одно из `drive.fail`, `drive.replace`, `drive.slow`, `drive.error`, `drive.corrupt`, `scrub`, `snapshot`, `path.down`, `peer.down`, `daemon.kill`, `cpu.offline`, `fill`, `link.down`, `link.delay`, `link.loss`, `process.kill`, `power.cut`, `vm.snapshot`, `vm.move`, `vm.migrate`, `vm.limit`, `command`
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "[{at: 5s, do: drive.fail}]",
            "",
            "",
            expect![[r#"
                error: s.yaml:5:14: `drive.fail` takes exactly `drive`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:5:14: `drive.fail` принимает ровно `drive`
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "[{at: 5s, do: scrub, drive: 1}]",
            "",
            "",
            expect![[r#"
                error: s.yaml:5:14: `scrub` takes no other keys
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:5:14: `scrub` не принимает других ключей
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "[{at: 500ms, do: scrub}]",
            "",
            "",
            expect![[r#"
                error: s.yaml:5:19: at least 1 s, at most 7 days
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:5:19: не меньше 1 с и не больше 7 дней
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "[{at: 5s, do: drive.slow, drive: 1, delay: 1500us}]",
            "",
            "",
            expect![[r#"
                error: s.yaml:5:56: a delay is a whole number of milliseconds, from 1 ms to 60 s
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:5:56: задержка — целое число миллисекунд, от 1 мс до 60 с
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "[{at: 25s, for: 5s, do: scrub}]",
            "",
            "",
            expect![[r#"
            error: s.yaml:3:5: an event comes, or is undone, after the window of the trial
            hint: times count from the begin of the window (`trial`); without `for` an event is undone after the trial
            ошибка: s.yaml:3:5: событие наступает или отменяется после конца окна испытания
            совет: время считается от начала окна (`trial`); без `for` событие отменяется после испытания
        "#]],
        );
        check_error(
            "[{at: 5s, do: scrub}]",
            "arms: [{name: a}, {name: b}]\n",
            "",
            expect![[r#"
            error: s.yaml:1:1: `events` cannot be used in a suite with `arms`
            hint: compare two runs, or two stands, with `stend compare`
            ошибка: s.yaml:1:1: `events` нельзя использовать в наборе с `arms`
            совет: сравните два прогона или два стенда командой `stend compare`
        "#]],
        );
        check_error(
            "[{at: 5s, do: scrub}]",
            "defaults: {engine: fio}\n",
            "",
            expect![[r#"
                error: s.yaml:4:5: `events` need `engine: native`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:4:5: для `events` нужен `engine: native`
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        let search = ", rate: {search: {from: 10/s, to: 100/s, quantile: 99%, limit: 10ms}}";
        check_error(
            "[{at: 5s, do: scrub}]",
            "",
            search,
            expect![[r#"
            error: s.yaml:3:5: `events` cannot be used in a search
            hint: give the rate that the search found
            ошибка: s.yaml:3:5: `events` нельзя использовать при поиске
            совет: задайте найденную поиском частоту
        "#]],
        );
    }
}
