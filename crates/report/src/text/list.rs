//! `stend list` on a terminal: one line per run file.

use super::grid::{Column, Row, grid};
use super::layout::{at_most, clean, paragraph, wrap};
use super::{Screen, WIDTH_MAX, WIDTH_MIN};
use crate::figures::{both, utc};
use crate::listing::{Listed, ListedRun};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Say, format, say};
use stend_record::RunState;
use stend_record::targets::in_line;

/// Columns of a target in the table: longer ones are names by identity, told apart by their beginning (by eye).
const TARGET_MAX: usize = 28;

/// The runs of a directory for a person, at most `width` columns wide (40 at least), in the order given.
pub fn list_text(runs: &[Listed], directory: &str, lang: Lang, width: usize, colour: bool) -> String {
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    if runs.is_empty() {
        let none = say!("There are no runs in {directory}.", "В {directory} нет прогонов.");
        return paragraph("", &clean(none.get(lang)), screen.width);
    }
    let readable: Vec<(&Listed, &ListedRun)> = runs.iter().filter_map(|l| Some((l, l.run.as_ref().ok()?))).collect();
    let mut out = match readable.is_empty() {
        true => String::new(),
        false => wide(&readable, &screen).unwrap_or_else(|| stacked(&readable, &screen)),
    };
    let broken = runs.iter().filter_map(|listed| {
        let error = listed.run.as_ref().err()?;
        Some(("✖".to_string(), clean(error.message.get(lang))))
    });
    out.push_str(&super::list(&say!("Cannot be read", "Не читаются"), &screen, broken));
    out
}

fn state(run: &ListedRun) -> Say {
    match run.state {
        RunState::Complete => say!("complete", "завершён"),
        RunState::Open if run.going_on => say!("going on", "идёт"),
        RunState::Open => say!("no end", "нет конца"),
        RunState::Suspended { .. } => say!("waits for you", "ждёт вас"),
        RunState::Ended { .. } => say!("ended early", "прерван"),
    }
}

fn wide(runs: &[(&Listed, &ListedRun)], screen: &Screen) -> Option<String> {
    let columns = [
        (say!("run", "прогон"), false),
        (say!("started", "начало"), false),
        (say!("suite", "набор"), false),
        (say!("target", "объект"), false),
        (say!("state", "состояние"), false),
        (say!("cases", "случаев"), true),
        (say!("size", "размер"), true),
    ];
    let columns = columns.map(|(head, right)| Column { head: head.get(screen.lang).to_string(), right });
    let row = |(listed, run): &(&Listed, &ListedRun)| {
        let size = format::bytes(listed.size, screen.lang);
        let cells = vec![
            utc(run.started_unix),
            clean(&run.suite),
            at_most(wrap(&in_line(&run.targets), TARGET_MAX), 1, TARGET_MAX).concat(),
            state(run).get(screen.lang).to_string(),
            run.cases.to_string(),
            size,
        ];
        Row { name: clean(&listed.name), indent: 0, cells, tint: None }
    };
    // A name that breaks can no longer be copied.
    let drawn = grid(&columns, &runs.iter().map(row).collect::<Vec<_>>(), screen)?;
    runs.iter().all(|(listed, _)| drawn.contains(&clean(&listed.name))).then_some(drawn)
}

fn stacked(runs: &[(&Listed, &ListedRun)], screen: &Screen) -> String {
    let mut out = String::new();
    for (listed, run) in runs {
        let (suite, target, began, cases) = (&run.suite, in_line(&run.targets), utc(run.started_unix), run.cases);
        let (en, ru) =
            (plural_en(cases.into(), "case", "cases"), plural_ru(cases.into(), "случай", "случая", "случаев"));
        let size = both(|lang| format::bytes(listed.size, lang));
        let state = state(run);
        let (size_en, size_ru, state_en, state_ru) = (size.en, size.ru, state.en, state.ru);
        let text = say!(
            "{began}, {suite} on {target}, {state_en}, {cases} {en}, {size_en}",
            "{began}, {suite} на {target}, {state_ru}, {cases} {ru}, {size_ru}"
        );
        out.push_str(&screen.bold(&paragraph("", &clean(&listed.name), screen.width)));
        out.push_str(&paragraph("  ", &clean(text.get(screen.lang)), screen.width));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::HOSTILE;
    use crate::text::width;
    use expect_test::expect_file;
    use stend_base::{Bytes, Error, Kind};

    fn listed(name: &str, target: &str, state: RunState) -> Listed {
        let run = ListedRun {
            run: name.into(),
            started_unix: 1_795_296_600,
            suite: "quick".into(),
            targets: vec![target.into()],
            going_on: state == RunState::Open && name.ends_with('c'),
            state,
            cases: 8,
            trials: 48,
        };
        Listed { name: name.into(), path: format!("/runs/{name}.stend"), size: Bytes(1_300_000), run: Ok(run) }
    }

    fn runs() -> Vec<Listed> {
        let why = say!("the run file `/runs/x.stend` is damaged", "файл прогона `/runs/x.stend` повреждён");
        let error = Error::new(Kind::RunFile, why);
        let ended = RunState::Ended { kind: Kind::Interrupted, reason: say!("stopped", "остановлен") };
        vec![
            listed("R-20261123T213000Z-cccc", "/var/tmp", RunState::Open),
            listed("R-20261122T213000Z-bbbb", "/dev/disk/by-id/nvme-SAMSUNG_MZQL2960HCJR-00A07_S64GNN0TB01234", ended),
            Listed { name: "x".into(), path: "/runs/x.stend".into(), size: Bytes(7), run: Err(error) },
            listed("R-20261121T213000Z-aaaa", "/var/tmp", RunState::Complete),
        ]
    }

    #[test]
    fn runs_are_lines_and_what_cannot_be_read_is_said() {
        let mut all = String::new();
        for (lang, columns) in [(Lang::En, 110), (Lang::Ru, 110), (Lang::En, 40)] {
            let mut shown = runs();
            shown.truncate(if columns == 40 { 2 } else { 4 });
            let screen = list_text(&shown, "/runs", lang, columns, false);
            assert!(screen.lines().all(|line| width(line) <= columns), "{screen}");
            all.push_str(&format!("════ {} {columns}\n{screen}", lang.tag()));
        }
        expect_file!["../../tests/golden/list.txt"].assert_eq(&all);
    }

    #[test]
    fn no_run_and_no_readable_run_are_answered() {
        assert!(list_text(&[], "/runs", Lang::En, 80, false).contains("no runs in /runs"));
        let broken = &runs()[2..3];
        assert!(list_text(broken, "/runs", Lang::En, 80, false).contains("✖ the run file"));
    }

    #[test]
    fn hostile_names_fit_and_steer_nothing() {
        for name in HOSTILE {
            for columns in [40, 110] {
                let screen = list_text(&[listed(name, name, RunState::Complete)], "/runs", Lang::Ru, columns, false);
                assert!(screen.lines().all(|line| width(line) <= columns), "{screen}");
                assert!(!screen.contains('\u{1b}') && !screen.contains('\u{202e}'));
            }
        }
    }

    #[test]
    fn the_machine_form_tells_runs_from_broken_files() {
        let text = crate::list_json(&runs());
        expect_file!["../../tests/golden/list.json"].assert_eq(&text);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["schema_version"], 1);
        assert_eq!(value["runs"][0]["state"]["state"], "open");
        assert_eq!((&value["runs"][2]["run"], &value["runs"][2]["error"]["kind"]), (&().into(), &"run_file".into()));
    }
}
