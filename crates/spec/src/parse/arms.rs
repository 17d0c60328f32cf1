//! `arms` and `observe` of a suite file.

use super::{Map, expected, list, name, text};
use crate::arm::{Arm, FACTS, Observation, Switch, Tunable};
use crate::keys;
use crate::yaml::{Node, Value};
use stend_base::{Result, say};

/// Where a tunable may be.
const TUNABLE_ROOTS: [&str; 2] = ["/proc/sys/", "/sys/"];

/// Every arm, checked against the others.
pub fn arms(node: &Node, observe: &[Observation]) -> Result<Vec<Arm>> {
    let items = list(node)?;
    if !keys::ARMS.hold(&items.len()) {
        return Err(node.error(say!("a suite has 2 to 16 arms", "в наборе от 2 до 16 вариантов")));
    }
    let mut arms: Vec<Arm> = Vec::new();
    for item in items {
        let arm = arm(item, observe)?;
        check_order(item, &arms, &arm)?;
        arms.push(arm);
    }
    Ok(arms)
}

fn arm(node: &Node, observe: &[Observation]) -> Result<Arm> {
    let mut map = Map::of(node, &keys::arm::ARM)?;
    let arm = Arm {
        name: map.required("name", name)?,
        switch: map.optional("switch", switch)?.unwrap_or(Switch::None),
        expect: map.optional("expect", |node| facts(node, observe))?.unwrap_or_default(),
    };
    map.finish()?;
    Ok(arm)
}

/// What an arm may not be, given those before it.
fn check_order(node: &Node, before: &[Arm], arm: &Arm) -> Result<()> {
    let name = &arm.name;
    if before.iter().any(|earlier| earlier.name == *name) {
        return Err(node.error(say!("two arms are named `{name}`", "два варианта названы `{name}`")));
    }
    let waits = |arm: &Arm| arm.switch.instruction().is_some();
    if before.is_empty() && waits(arm) {
        return Err(node
            .error(say!("the first arm waits for a person", "первый вариант ждёт действий человека"))
            .hint(say!(
                "bring the machine into that state before the run and write `switch: none`",
                "приведите машину в это состояние до прогона и напишите `switch: none`"
            )));
    }
    if before.is_empty() && !arm.expect.is_empty() {
        return Err(node.error(say!(
            "`expect` of the first arm has nothing to differ from",
            "`expect` первого варианта: отличаться ещё не от чего"
        )));
    }
    if arm.switch == Switch::None && before.iter().any(waits) {
        return Err(node
            .error(say!(
                "`switch: none` after an arm that a person switched to: nobody would switch back",
                "`switch: none` после варианта, включённого человеком: вернуть прежнее состояние некому"
            ))
            .hint(say!(
                "say with `person` or `reboot` how to get there",
                "укажите в `person` или `reboot`, как туда попасть"
            )));
    }
    Ok(())
}

fn switch(node: &Node) -> Result<Switch> {
    if let Value::Text(word) = &node.value
        && word == "none"
    {
        return Ok(Switch::None);
    }
    let mut map = Map::of(node, &keys::arm::SWITCH)?;
    let tunables = map.optional("tunables", tunables)?;
    let (enter, leave) = (map.optional("command", command)?, map.optional("undo", command)?);
    let (reboot, person) = (map.optional("reboot", name)?, map.optional("person", name)?);
    map.finish()?;
    match (tunables, enter, leave, reboot, person) {
        (Some(tunables), None, None, None, None) => Ok(Switch::Tunables(tunables)),
        (None, Some(enter), Some(leave), None, None) => Ok(Switch::Command { enter, leave }),
        (None, None, None, Some(instruction), None) => Ok(Switch::Reboot { instruction }),
        (None, None, None, None, Some(instruction)) => Ok(Switch::Person { instruction }),
        (None, Some(_), None, None, None) => Err(node.error(say!(
            "`command` needs `undo`: Stend leaves the machine as it found it",
            "`command` требует `undo`: Stend оставляет машину такой, какой застал"
        ))),
        _ => Err(node.error(say!(
            "`switch` is `none`, or exactly one of `tunables`, `command` with `undo`, `reboot` and `person`",
            "`switch` — это `none` либо ровно одно из `tunables`, `command` вместе с `undo`, `reboot` и `person`"
        ))),
    }
}

pub(super) fn tunables(node: &Node) -> Result<Vec<Tunable>> {
    let pairs = named(node)?;
    let tunable = |(key, value): &(crate::yaml::Key, Node)| {
        let path = &key.name;
        let plain = !path.split('/').any(|part| part == ".." || part == ".") && !path.chars().any(char::is_control);
        if !plain || !TUNABLE_ROOTS.iter().any(|root| path.starts_with(root)) {
            let shown: String = path.chars().take(60).collect();
            return Err(key.error(say!(
                "`{shown}` is not a file below /proc/sys or /sys",
                "`{shown}` — не файл внутри /proc/sys или /sys"
            )));
        }
        let value = match &value.value {
            Value::Int(number) => number.to_string(),
            _ => name(value)?,
        };
        Ok(Tunable { path: path.clone(), value })
    };
    pairs.iter().map(tunable).collect()
}

/// Commands to look with, by name.
pub fn observations(node: &Node) -> Result<Vec<Observation>> {
    let observation = |(key, node): &(crate::yaml::Key, Node)| {
        let known = FACTS.contains(&key.name.as_str());
        if known || key.name.is_empty() || key.name.len() > 60 || key.name.chars().any(char::is_control) {
            let shown: String = key.name.chars().take(60).collect();
            return Err(key.error(say!(
                "`{shown}` cannot be the name of an observation: inventory has it, or it is longer than 60 bytes",
                "`{shown}` не годится как имя наблюдения: оно занято инвентарём или длиннее 60 байт"
            )));
        }
        Ok(Observation { name: key.name.clone(), command: command(node)? })
    };
    named(node)?.iter().map(observation).collect()
}

pub(super) fn command(node: &Node) -> Result<Vec<String>> {
    let items = list(node)?;
    if !keys::COMMAND.hold(&items.len()) {
        return Err(node.error(say!("a command has 1 to 100 words", "в команде от 1 до 100 слов")));
    }
    items.iter().map(self::word).collect()
}

/// A word of a command; numbers need no quotes, and a space or line feed is part of it.
fn word(node: &Node) -> Result<String> {
    let word = match &node.value {
        Value::Int(number) => number.to_string(),
        _ => text(node)?,
    };
    if word.len() > 4096 || word.contains('\0') {
        return Err(node.error(say!(
            "a word has at most 4096 bytes and no zero byte",
            "в слове не более 4096 байт и нет нулевых"
        )));
    }
    Ok(word)
}

fn facts(node: &Node, observe: &[Observation]) -> Result<Vec<String>> {
    let items = list(node)?;
    if !keys::EXPECTED.hold(&items.len()) {
        return Err(node.error(say!("`expect` has 1 to 100 facts", "в `expect` от 1 до 100 фактов")));
    }
    let fact = |node: &Node| {
        let text = name(node)?;
        if FACTS.contains(&text.as_str()) || observe.iter().any(|o| o.name == text) {
            return Ok(text);
        }
        let known = FACTS.join("`, `");
        Err(node
            .error(say!(
                "`{text}` is neither a known fact nor a name of `observe`",
                "`{text}` — не известный факт и не имя из `observe`"
            ))
            .hint(say!("known facts: `{known}`", "известные факты: `{known}`")))
    };
    items.iter().map(fact).collect()
}

/// A mapping whose keys the user chooses.
fn named(node: &Node) -> Result<&[(crate::yaml::Key, Node)]> {
    let Value::Map(pairs) = &node.value else {
        return Err(expected(node, say!("a mapping from names", "отображение имён")));
    };
    if !keys::SETTINGS.hold(&pairs.len()) {
        return Err(node.error(say!("1 to 100 entries are taken", "принимается от 1 до 100 записей")));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use crate::arm::Switch;
    use crate::parse::suite;
    use stend_base::Lang;

    fn with(arms: &str) -> stend_base::Result<crate::Suite> {
        let cases = "cases: [{name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}]";
        suite(&format!("suite: x\n{cases}\n{arms}\n"), "x.yaml")
    }

    fn refused(arms: &str, words: &str) {
        let error = with(arms).unwrap_err();
        assert!(error.message.get(Lang::En).contains(words), "{arms}\n{error}");
        assert!(error.message.get(Lang::En).starts_with("x.yaml:"), "{error}");
    }

    #[test]
    fn each_kind_of_switch_is_understood() {
        let found = with(
            "observe: {queue: [cat, /sys/block/sda/queue/scheduler]}\n\
             arms:\n\
             - name: plain\n\
             - {name: tuned, switch: {tunables: {/proc/sys/vm/swappiness: 1}}, expect: [queue]}\n\
             - {name: command, switch: {command: [blockdev, --setra, 0, /dev/sda], undo: [true-ish]}}\n\
             - {name: new kernel, switch: {reboot: boot 6.12}, expect: [kernel, boot_id]}\n\
             - {name: new drive, switch: {person: replace the drive}}",
        )
        .unwrap();
        let kinds: Vec<_> = found.arms.iter().map(|arm| (arm.switch.changes(), arm.switch.instruction())).collect();
        assert_eq!(kinds[0], (vec![], None));
        assert_eq!(kinds[1].0, ["/proc/sys/vm/swappiness = 1"]);
        assert_eq!(kinds[2].0, ["blockdev --setra 0 /dev/sda", "true-ish"]);
        assert_eq!((kinds[3].1, kinds[4].1), (Some("boot 6.12"), Some("replace the drive")));
        assert!(found.is_sequential());
        assert_eq!(found.changes().last().unwrap(), "cat /sys/block/sda/queue/scheduler");
        assert_eq!(with("arms: [{name: a}, {name: b}]").unwrap().arms[1].switch, Switch::None);
    }

    #[test]
    fn what_could_not_be_done_or_undone_is_refused_where_it_stands() {
        let of = |second: &str| format!("arms: [{{name: a}}, {second}]");
        refused("arms: [{name: a}]", "2 to 16 arms");
        refused(&of("{name: a}"), "two arms are named `a`");
        refused("arms: [{name: a, switch: {person: x}}, {name: b}]", "the first arm waits for a person");
        refused("arms: [{name: a, expect: [kernel]}, {name: b}]", "nothing to differ from");
        refused("arms: [{name: a}, {name: b, switch: {reboot: x}}, {name: c}]", "nobody would switch back");
        refused(&of("{name: b, switch: {command: [x]}}"), "`command` needs `undo`");
        refused(&of("{name: b, switch: {command: [x], undo: [y], person: z}}"), "exactly one of");
        refused(&of("{name: b, switch: {}}"), "exactly one of");
        refused(&of("{name: b, switch: {command: [], undo: [y]}}"), "1 to 100 words");
        refused(&of("{name: b, expect: [colour]}"), "neither a known fact");
        refused(&of("{name: b, switch: {tunables: {/etc/passwd: x}}}"), "not a file below /proc/sys or /sys");
        refused(&of("{name: b, switch: {tunables: {/sys/../etc/passwd: x}}}"), "not a file below");
        refused(&of("{name: b, swtich: none}"), "unknown key `swtich`");
        refused("observe: {kernel: [uname]}\narms: [{name: a}, {name: b}]", "cannot be the name of an observation");
        refused("observe: {x: [uname]}", "`observe` needs `arms`");
    }
}
