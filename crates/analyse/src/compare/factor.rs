//! H70: only one thing may differ between what is compared; everything else that does is listed.

use super::Condition;
use crate::findings::{CheckId, CheckResult, CheckStatus};
use stend_base::{Say, say};

/// No circumstance that could matter: that the machine was started in between.
const INCIDENTAL: &str = "boot_id";

/// Whether only what was declared has changed. Without a declaration one changed condition is taken for the factor.
pub(super) fn check(changed: &[Condition], declared: &[String]) -> CheckResult {
    let meant = |condition: &&Condition| condition.key != INCIDENTAL;
    let (factors, others): (Vec<&Condition>, Vec<&Condition>) =
        changed.iter().filter(meant).partition(|condition| declared.contains(&condition.key));
    let alone = declared.is_empty() && others.len() == 1;
    let holds = others.is_empty() || alone;
    let factors = if alone { others.clone() } else { factors };
    let names = |of: &[&Condition]| match of.is_empty() {
        true => say!("nothing", "ничего"),
        false => {
            let list = |name: fn(&Say) -> &str| of.iter().map(|c| name(&c.name)).collect::<Vec<_>>().join(", ");
            Say { en: list(|name| &name.en), ru: list(|name| &name.ru) }
        }
    };
    let (changed, rest) = (names(&factors), names(&others));
    let measured = match holds {
        true => Say { en: format!("changed: {}", changed.en), ru: format!("изменилось: {}", changed.ru) },
        false => Say {
            en: format!("also changed: {}", rest.en), ru: format!("изменилось также: {}", rest.ru)
        },
    };
    let status = if holds { CheckStatus::Pass } else { CheckStatus::Warn };
    let meaning = match holds {
        true => Say::same(""),
        false => say!(
            "Any of these may cause the difference. Make them equal, or declare them with `--factor` if you compare them on purpose.",
            "Причиной различия может быть любое из них. Уравняйте их или объявите через `--factor`, если сравниваете именно их."
        ),
    };
    CheckResult::new(CheckId::H70, status, measured, say!("only what was declared", "только объявленное"), meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(changed: &[&str], declared: &[&str]) -> (CheckStatus, String) {
        let condition = |key: &&str| Condition { key: key.to_string(), name: Say::same(*key), values: Vec::new() };
        let changed: Vec<Condition> = changed.iter().map(condition).collect();
        let found = check(&changed, &declared.iter().map(|key| key.to_string()).collect::<Vec<_>>());
        (found.status, found.measured.en)
    }

    #[test]
    fn one_change_is_the_factor_and_a_second_one_is_listed() {
        assert_eq!(status(&["kernel"], &[]), (CheckStatus::Pass, "changed: kernel".into()));
        assert_eq!(status(&[], &[]), (CheckStatus::Pass, "changed: nothing".into()));
        let both = status(&["kernel", "governor"], &[]);
        assert_eq!(both, (CheckStatus::Warn, "also changed: kernel, governor".into()));
    }

    #[test]
    fn what_was_declared_may_change_and_nothing_else() {
        let declared = ["kernel", "governor"];
        assert_eq!(status(&["kernel", "governor"], &declared), (CheckStatus::Pass, "changed: kernel, governor".into()));
        let hidden = status(&["kernel", "device_firmware"], &declared);
        assert_eq!(hidden, (CheckStatus::Warn, "also changed: device_firmware".into()));
        assert_eq!(
            status(&["device_firmware"], &declared).0,
            CheckStatus::Warn,
            "one is enough if another was declared"
        );
    }

    #[test]
    fn a_reboot_is_no_variable() {
        assert_eq!(status(&["kernel", "boot_id"], &[]).0, CheckStatus::Pass);
    }
}
