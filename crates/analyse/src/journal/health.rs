//! What drives say of themselves, and what the kernel notes of them, as verdicts. Must not know what was open before.

use super::judge::{Verdict, Verdicts};
use super::rules::{JournalRule, ProblemSeverity};
use std::collections::BTreeMap;
use stend_base::{Say, say};
use stend_record::Health;

/// Bits of an NVMe drive's warning, without the one for heat, which its temperature tells, and the one for a region of memory, which is no
/// block device.
/// Source: NVM Express Base Specification 2.0, figure 207 (SMART / Health Information, Critical Warning).
const WARNINGS: [(u64, &str, &str); 4] = [
    (1, "spare blocks are low", "мало резервных блоков"),
    (4, "its reliability is degraded", "надёжность снижена"),
    (8, "it is read-only", "он доступен только для чтения"),
    (16, "its volatile memory is not backed up", "его память не защищена от потери питания"),
];
/// A drive that is younger has no rate of wear, hours.
const YOUNG: u64 = 30 * 24;

/// Verdicts over a reading; `before` is what each drive said last.
pub(super) fn verdicts(before: &BTreeMap<String, Health>, drives: &[(String, Health)]) -> Verdicts {
    let mut said: Verdicts = Vec::new();
    for (name, health) in drives {
        if let Some(verdict) = failing(health) {
            said.push((JournalRule::DriveFailing, name.clone(), verdict));
        }
        if let Some(verdict) = worn(health) {
            said.push((JournalRule::DriveWorn, name.clone(), verdict));
        }
        let earlier = before.get(name).and_then(|earlier| earlier.media_errors);
        // A count that went back is of another drive.
        let more = earlier.zip(health.media_errors).and_then(|(earlier, now)| now.checked_sub(earlier));
        if let (Some(more), Some(all)) = (more, health.media_errors) {
            let verdict = match more {
                0 => Verdict::Good,
                _ => Verdict::Bad(
                    ProblemSeverity::Warning,
                    say!("{more} more, {all} in all", "новых {more}, всего {all}"),
                ),
            };
            said.push((JournalRule::MediaErrors, name.clone(), verdict));
        }
    }
    said
}

/// Whether a drive fails by its own word, as the rule of the journal has it; `None` if it gives none.
pub fn is_failing(health: &Health) -> Option<bool> {
    failing(health).map(|verdict| verdict != Verdict::Good)
}

/// A drive of NVMe is judged by the bits of its warning: any of them, also that of heat, is a failed check for smartctl. So the check counts only
/// where none is set, or of a drive without such bits. `None` if it tells neither.
fn failing(health: &Health) -> Option<Verdict> {
    let bits = health.critical_warning.unwrap_or_default();
    let warnings: Vec<Say> = WARNINGS
        .iter()
        .filter(|(bit, ..)| bits & bit != 0)
        .map(|(_, en, ru)| Say { en: en.to_string(), ru: ru.to_string() })
        .collect();
    let join = |of: fn(&Say) -> &str| warnings.iter().map(of).collect::<Vec<_>>().join(", ");
    match (health.passed, health.critical_warning) {
        _ if !warnings.is_empty() => {
            Some(Verdict::Bad(ProblemSeverity::Critical, Say { en: join(|say| &say.en), ru: join(|say| &say.ru) }))
        }
        (None, None) => None,
        (Some(false), None | Some(0)) => {
            let told = say!("its health check failed", "самопроверка не пройдена");
            Some(Verdict::Bad(ProblemSeverity::Critical, told))
        }
        _ => Some(Verdict::Good),
    }
}

fn worn(health: &Health) -> Option<Verdict> {
    let (used, limits) = (health.used_percent?, JournalRule::DriveWorn.limits());
    if (used as f64) < limits.from {
        return Some(Verdict::Good);
    }
    let severity = if used >= 100 { ProblemSeverity::Critical } else { ProblemSeverity::Warning };
    let told = match days_left(health) {
        Some((least, most)) => say!(
            "{used} % of its endurance is used; at the rate since it was new, 100 % in {least} to {most} days",
            "израсходовано {used} % ресурса; при темпе за всё время 100 % через {least}–{most} дней"
        ),
        None => say!("{used} % of its endurance is used", "израсходовано {used} % ресурса"),
    };
    Some(Verdict::Bad(severity, told))
}

/// Days until the endurance is used up at the mean rate since the drive was new. It tells whole percents, cut: what is used lies between
/// that number and the next, so that both ends of the interval are known. `None` of young drives and of those that are over it.
fn days_left(health: &Health) -> Option<(u64, u64)> {
    let (used, hours) = (health.used_percent?, health.power_on_hours.filter(|hours| *hours >= YOUNG)?);
    let days = |used: u64| hours.saturating_mul(100u64.saturating_sub(used)) / used / 24;
    (1..100).contains(&used).then(|| (days(used + 1), days(used)))
}

/// Lines of the kernel about a device.
pub(super) fn kernel_errors(count: u64, text: &str) -> Verdict {
    Verdict::Bad(
        ProblemSeverity::Critical,
        say!("{count} in the kernel's log: {text}", "в журнале ядра {count}: {text}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rule: JournalRule, before: Option<Health>, now: Health) -> Option<Verdict> {
        let before = before.map(|health| ("sda".to_string(), health)).into_iter().collect();
        let said = verdicts(&before, &[("sda".to_string(), now)]);
        said.into_iter().find(|(other, ..)| *other == rule).map(|(.., verdict)| verdict)
    }

    fn told(verdict: Option<Verdict>) -> String {
        match verdict {
            Some(Verdict::Bad(severity, evidence)) => format!("{severity:?}: {}", evidence.en),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_drive_fails_by_its_own_word_and_not_by_a_warning_that_is_about_something_else() {
        let health = |passed, critical_warning| Health { passed, critical_warning, ..Health::default() };
        let say = |passed, warning| told(of(JournalRule::DriveFailing, None, health(passed, warning)));
        assert_eq!(say(Some(true), Some(0)), "Some(Good)");
        assert_eq!(say(Some(false), Some(5)), "Critical: spare blocks are low, its reliability is degraded");
        for other in [2, 32, 34, 64] {
            assert_eq!(say(Some(false), Some(other)), "Some(Good)", "{other}");
        }
        assert_eq!(say(Some(false), Some(0)), "Critical: its health check failed");
        assert_eq!(say(Some(false), None), "Critical: its health check failed");
        assert_eq!(say(None, None), "None");
        let word = |passed, warning| is_failing(&health(passed, warning));
        assert_eq!(
            [word(Some(false), Some(2)), word(None, Some(8)), word(None, None)],
            [Some(false), Some(true), None]
        );
    }

    #[test]
    fn wear_is_extrapolated_with_an_interval_and_only_of_drives_that_tell_it() {
        let health = |used_percent, power_on_hours| Health { used_percent, power_on_hours, ..Health::default() };
        let say = |used, hours| told(of(JournalRule::DriveWorn, None, health(used, hours)));
        assert_eq!(say(Some(89), Some(10_000)), "Some(Good)");
        // 36 000 h for 90 to 91 %: 9/91 to 10/90 of that are left.
        assert_eq!(
            say(Some(90), Some(36_000)),
            "Warning: 90 % of its endurance is used; at the rate since it was new, 100 % in 148 to 166 days"
        );
        assert_eq!(say(Some(95), Some(20)), "Warning: 95 % of its endurance is used");
        assert_eq!(say(Some(130), Some(36_000)), "Critical: 130 % of its endurance is used");
        assert_eq!(say(None, Some(36_000)), "None");
    }

    #[test]
    fn media_errors_count_when_they_grow_and_not_what_was_there_before() {
        let health = |errors| Health { media_errors: Some(errors), ..Health::default() };
        let say = |before: Option<u64>, now| told(of(JournalRule::MediaErrors, before.map(health), health(now)));
        assert_eq!(
            (say(None, 3), say(Some(3), 3), say(Some(3), 0)),
            ("None".into(), "Some(Good)".into(), "None".into())
        );
        assert_eq!(say(Some(3), 5), "Warning: 2 more, 5 in all");
    }
}
