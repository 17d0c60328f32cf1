//! From YAML nodes to a [`Gate`].

use super::{Map, limit, list, name, share, word};
use crate::gate::{Gate, GateMetric, GateRule, GateVerdict, Undecided};
use crate::keys::{Limits, gate as known};
use crate::yaml::{self, Node};
use stend_base::{Result, say};

/// Parses a gate file. `file` names it in errors; kind of every error is `Spec`.
pub fn gate(text: &str, file: &str) -> Result<Gate> {
    parsed(text, file).map_err(|error| {
        error.or_hint(say!(
            "docs/formats/gate.md describes every key; `stend compare --sample-gate` prints a gate to copy from",
            "все ключи описаны в docs/formats/gate.md; образец напечатает `stend compare --sample-gate`"
        ))
    })
}

fn parsed(text: &str, file: &str) -> Result<Gate> {
    let root = yaml::parse(text, file)?;
    let mut map = Map::of(&root, &known::GATE)?;
    let name = map.required("gate", name)?;
    let margin = map.optional("margin", |node| share(node, known::MARGIN))?;
    let inconclusive = map.optional("inconclusive", undecided)?.unwrap_or(Undecided::Undecided);
    let rules = map.optional("rules", |node| several(node, |item| rule(item, inconclusive)))?;
    let limits = map.optional("limits", |node| several(node, |item| limit::of(item, inconclusive)))?;
    map.finish()?;
    if rules.is_none() && limits.is_none() {
        let message = say!("the gate has neither `rules` nor `limits`", "в файле порогов нет ни `rules`, ни `limits`");
        return Err(root.error(message).hint(say!(
            "`stend compare --sample-gate` prints a sample",
            "образец напечатает `stend compare --sample-gate`"
        )));
    }
    Ok(Gate { name: Some(name), margin, rules: rules.unwrap_or_default(), limits: limits.unwrap_or_default() })
}

fn several<T>(node: &Node, item: impl Fn(&Node) -> Result<T>) -> Result<Vec<T>> {
    let items = list(node)?;
    let Limits { least, most } = known::RULES;
    if !known::RULES.hold(&items.len()) {
        return Err(node.error(say!(
            "a gate has {least} to {most} rules and as many limits",
            "правил, как и пределов, бывает от {least} до {most}"
        )));
    }
    items.iter().map(item).collect()
}

fn undecided(node: &Node) -> Result<Undecided> {
    word(node, known::UNDECIDED)
}

fn rule(node: &Node, inconclusive: Undecided) -> Result<GateRule> {
    let mut map = Map::of(node, &known::RULE)?;
    let rule = GateRule {
        line: u32::try_from(node.at.line).unwrap_or(u32::MAX),
        metric: map.optional("metric", |n| word(n, known::METRICS))?.unwrap_or(GateMetric::Any),
        cases: map.optional("cases", name)?.unwrap_or_else(|| "*".to_string()),
        op: map.optional("op", |n| word(n, known::OPERATIONS))?.flatten(),
        loss: map.optional("loss", |n| share(n, known::LOSS))?,
        verdicts: map.optional("verdicts", verdicts)?.unwrap_or_default(),
        inconclusive: map.optional("inconclusive", undecided)?.unwrap_or(inconclusive),
    };
    map.finish()?;
    if rule.op.is_some() && rule.metric == GateMetric::Rate {
        let message = say!(
            "`op` is about a latency, and the rule is about the rate, which is that of all operations together",
            "`op` относится к задержке, а правило — к скорости, которая считается по всем операциям вместе"
        );
        return Err(node
            .error(message)
            .hint(say!("leave `op` out, or write `metric: p99`", "уберите `op` или напишите `metric: p99`")));
    }
    if rule.loss.is_some() && !rule.verdicts.is_empty() {
        let message = say!(
            "`loss` and `verdicts` decide the same thing in two ways",
            "`loss` и `verdicts` решают одно и то же по-разному"
        );
        return Err(node.error(message).hint(say!("keep one of them", "оставьте что-то одно")));
    }
    Ok(rule)
}

fn verdicts(node: &Node) -> Result<Vec<GateVerdict>> {
    let items = list(node)?;
    let Limits { least, most } = known::ACCEPTED;
    if !known::ACCEPTED.hold(&items.len()) {
        return Err(node.error(say!("name {least} to {most} verdicts", "укажите от {least} до {most} вердиктов")));
    }
    items.iter().map(|item| word(item, known::VERDICTS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Op;
    use stend_base::Millionths;

    #[test]
    fn a_rule_knows_its_line_and_what_is_left_out() {
        let text = "gate: nightly\nmargin: 3%\nrules:\n  - {cases: 'rand-*', metric: p99, op: read, loss: 5%}\n  - verdicts: [better]\n    inconclusive: fail\n";
        let found = gate(text, "g.yaml").unwrap();
        assert_eq!(
            (found.name.as_deref(), found.margin, found.rules.len()),
            (Some("nightly"), Some(Millionths::percent(3)), 2)
        );
        let first = GateRule {
            line: 4,
            metric: GateMetric::P99,
            cases: "rand-*".into(),
            op: Some(Op::Read),
            loss: Some(Millionths::percent(5)),
            verdicts: Vec::new(),
            inconclusive: Undecided::Undecided,
        };
        assert_eq!(found.rules[0], first);
        let second = &found.rules[1];
        assert_eq!((second.line, second.cases.as_str(), second.metric), (5, "*", GateMetric::Any));
        assert_eq!((&second.verdicts[..], second.inconclusive), (&[GateVerdict::Better][..], Undecided::Fail));
    }

    #[test]
    fn what_the_file_says_of_the_inconclusive_holds_for_limits_and_rules_without_an_own_word() {
        let text = "gate: g\ninconclusive: pass\nlimits: ['rand-* p99 < 5 ms']\nrules:\n- {}\n- {inconclusive: fail}\n";
        let found = gate(text, "g.yaml").unwrap();
        assert_eq!((found.limits[0].inconclusive, found.limits[0].line), (Undecided::Pass, Some(3)));
        assert_eq!([0, 1].map(|i| found.rules[i].inconclusive), [Undecided::Pass, Undecided::Fail]);
        assert!(gate("gate: g\nlimits: [iops > 1]", "g.yaml").unwrap().rules.is_empty());
    }

    #[test]
    fn what_cannot_be_is_an_error_with_its_place_in_both_languages() {
        for (rule, told) in [
            ("", "1 to 1000 rules"),
            ("{}, {loss: 0.05%}", "g.yaml:2:20: 0.05% is outside 0.1% to 99%"),
            ("{loss: 100%}", "outside"),
            ("{loss: 5}", "a share such as"),
            ("{metric: iops}", "`rate`"),
            ("{op: trim}", "`discard`"),
            ("{metric: rate, op: read}", "`op` is about a latency"),
            ("{loss: 5%, verdicts: [better]}", "in two ways"),
            ("{verdicts: []}", "1 to 4 verdicts"),
            ("{verdicts: [inconclusive]}", "is not one of"),
            ("{inconclusive: maybe}", "`undecided`"),
            ("{cases: ''}", "1 to 200 characters"),
            ("{los: 5%}", "unknown key `los`"),
            ("5", "expected"),
        ] {
            let error = gate(&format!("gate: g\nrules: [{rule}]"), "g.yaml").unwrap_err();
            assert!(error.to_string().contains(told), "{told}: {error}");
            assert!(error.message.en.contains("g.yaml:2:") && error.message.ru.contains("g.yaml:2:"), "{error}");
        }
        for (text, told) in [
            ("rules: [{}]", "`gate`"),
            ("gate: g", "neither `rules` nor `limits`"),
            ("gate: g\nlimits: [iops > 5, p98 < 5ms]", "g.yaml:2:20: limit `p98 < 5ms`: unknown metric `p98`"),
            ("gate: g\nlimits: []", "1 to 1000 rules"),
            ("gate: g\nrule: [{}]", "did you mean `rules`?"),
            ("gate: g\nmargin: 60%\nrules: [{}]", "outside 0.1% to 50%"),
        ] {
            let error = gate(text, "g.yaml").unwrap_err();
            assert!(error.to_string().contains(told), "{told}: {error}");
        }
    }
}
