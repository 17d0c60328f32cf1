//! `stend doctor`: what is wrong with this machine, what it affects, and the one command that cures it.

use super::layout::{clean, paragraph};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Say, say};
use stend_record::{Checkup, CheckupItem, Level};

/// A checkup for a person, at most `width` columns wide (40 at least): what must be cured first, then what
/// should be, then what is fine. Commands are never wrapped: they are there to be copied.
pub fn doctor_text(checkup: &Checkup, lang: Lang, width: usize) -> String {
    let columns = width.clamp(super::WIDTH_MIN, super::WIDTH_MAX);
    let mut out = paragraph("", verdict(checkup).get(lang), columns);
    out.push_str(&wrong(checkup, lang, columns));
    out.push('\n');
    of(checkup, Level::Ok).for_each(|item| out.push_str(&paragraph("✔ ", item.found.get(lang), columns)));
    out
}

fn of(checkup: &Checkup, level: Level) -> impl Iterator<Item = &CheckupItem> {
    checkup.items.iter().filter(move |item| item.level == level)
}

/// What must or may be cured, worst first; empty if there is nothing.
pub(super) fn wrong(checkup: &Checkup, lang: Lang, columns: usize) -> String {
    of(checkup, Level::Must).chain(of(checkup, Level::Warn)).map(|item| one(item, lang, columns)).collect()
}

fn verdict(checkup: &Checkup) -> Say {
    let musts = checkup.musts() as u64;
    let warnings = checkup.items.iter().filter(|item| item.level == Level::Warn).count() as u64;
    let en = plural_en(warnings, "thing", "things");
    let ru = plural_ru(warnings, "замечание", "замечания", "замечаний");
    match (musts, warnings) {
        (0, 0) => say!("Nothing on this machine prevents measuring.", "На этой машине ничто не мешает измерять."),
        (0, _) => say!(
            "This machine can measure; {warnings} {en} could be better.",
            "На этой машине можно измерять; {warnings} {ru}."
        ),
        _ => {
            let en = plural_en(musts, "thing", "things");
            let ru = plural_ru(musts, "препятствие", "препятствия", "препятствий");
            say!(
                "Measuring here makes no sense until {musts} {en} is fixed.",
                "Пока не устранено {musts} {ru}, измерять здесь нет смысла."
            )
        }
    }
}

fn one(item: &CheckupItem, lang: Lang, columns: usize) -> String {
    let glyph = if item.level == Level::Must { "✖ " } else { "! " };
    let found = item.found.get(lang);
    let affects = item.affects.get(lang);
    let mut out = format!("\n{}{}", paragraph(glyph, found, columns), paragraph("  ", affects, columns));
    if let Some(command) = &item.cure {
        out.push_str(&format!("    {}\n", clean(command)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn item(level: Level, found: Say, affects: Say, cure: Option<&str>) -> CheckupItem {
        CheckupItem { id: "x".into(), level, found, affects, cure: cure.map(String::from) }
    }

    fn checkup() -> Checkup {
        let items = vec![
            item(Level::Ok, say!("io_uring works", "io_uring работает"), Say::same(""), None),
            item(
                Level::Warn,
                say!("CPU frequency governor: powersave", "управление частотой процессора: powersave"),
                say!("Latency at low queue depth differs.", "Задержка при малой глубине очереди меняется."),
                Some("sudo sh -c 'echo performance | tee /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor'"),
            ),
            item(
                Level::Must,
                say!("not mounted: /proc", "не смонтировано: /proc"),
                say!("Nothing can be observed.", "Нечего наблюдать."),
                Some("mount -t proc proc /proc\u{1b}[2J"),
            ),
        ];
        Checkup { items }
    }

    #[test]
    fn what_must_be_cured_comes_first_and_commands_stay_on_one_line() {
        expect![[r#"
            Measuring here makes no sense until 1 thing is fixed.

            ✖ not mounted: /proc
              Nothing can be observed.
                mount -t proc proc /proc�[2J

            ! CPU frequency governor: powersave
              Latency at low queue depth differs.
                sudo sh -c 'echo performance | tee /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor'

            ✔ io_uring works
        "#]]
        .assert_eq(&doctor_text(&checkup(), Lang::En, 80));
    }

    #[test]
    fn a_good_machine_is_said_to_be_one_in_both_languages() {
        let mut checkup = checkup();
        checkup.items.truncate(1);
        assert!(doctor_text(&checkup, Lang::En, 80).starts_with("Nothing on this machine prevents"));
        assert!(doctor_text(&checkup, Lang::Ru, 80).starts_with("На этой машине ничто не мешает"));
        assert_eq!(checkup.musts(), 0);
    }
}
