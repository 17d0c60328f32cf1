//! `stend list` on a terminal: one line per run file.

use super::grid::{Column, Row, grid};
use super::layout::{clean, paragraph, width};
use super::{Screen, WIDTH_MAX, WIDTH_MIN};
use crate::figures::{NONE, utc};
use crate::listing::Listing;
use crate::rates;
use stend_analyse::listed::{Content, Listed, ListedRun};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Say, format, say};
use stend_record::RunState;
use stend_record::targets::in_line;

/// How much is shown in a line of the table, the most first (by eye); the first that fits the screen is taken.
const LAYOUTS: [Layout; 7] = [
    Layout { started: true, details: true, target: 28, suite: 28 },
    Layout { started: true, details: false, target: 28, suite: 28 },
    Layout { started: true, details: false, target: 14, suite: 10 },
    // Ids tell the time, too.
    Layout { started: false, details: false, target: 20, suite: 16 },
    Layout { started: false, details: false, target: 14, suite: 10 },
    Layout { started: false, details: false, target: 12, suite: 8 },
    // A label says more than the suite.
    Layout { started: false, details: false, target: 12, suite: 0 },
];

/// Columns that a label has at least: as many as suites where there is room (by eye).
const LABEL_LEAST: usize = 12;

/// What the table has.
struct Layout {
    /// When the run began.
    started: bool,
    /// How many cases it has and how large its file is.
    details: bool,
    /// Columns of a target: longer ones are names by identity, told apart by their beginning.
    target: usize,
    /// Columns of a suite; 0: it is left out where runs have labels.
    suite: usize,
}

/// The runs of a directory for a person, at most `width` columns wide (40 at least), in the order given.
pub fn list_text(listing: &Listing, lang: Lang, width: usize, colour: bool) -> String {
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    let (runs, directory) = (&listing.runs, &listing.directory);
    if runs.is_empty() {
        let none = match listing.known {
            0 => say!("There are no runs in {directory}.", "В {directory} нет прогонов."),
            _ => say!(
                "No run meets the condition; `stend list` shows all.",
                "Под условие не подходит ни один прогон; все покажет `stend list`."
            ),
        };
        return paragraph("", &clean(none.get(lang)), screen.width);
    }
    let lines: Vec<&Listed> = runs.iter().filter(|l| !matches!(l.content, Content::Unreadable(_))).collect();
    let mut out = match lines.is_empty() {
        true => String::new(),
        false => LAYOUTS
            .iter()
            .find_map(|layout| Some(table(&lines, layout, &screen)? + &left_out(layout, &screen)))
            .unwrap_or_else(|| lines.iter().map(|listed| stacked(listed, &screen)).collect()),
    };
    if listing.left_out > 0 {
        let count = listing.left_out as u64;
        let (en, ru) = (plural_en(count, "run", "runs"), plural_ru(count, "прогон", "прогона", "прогонов"));
        let more = say!(
            "{count} older {en} not shown; `stend list --all` shows all",
            "Ещё {count} {ru} старше; все покажет `stend list --all`"
        );
        out.push_str(&screen.faint(&paragraph("", more.get(lang), screen.width)));
    }
    let broken = runs.iter().filter_map(|listed| {
        let Content::Unreadable(error) = &listed.content else { return None };
        Some(("✖".to_string(), clean(error.message.get(lang))))
    });
    out.push_str(&super::list(&say!("Cannot be read", "Не читаются"), &screen, broken));
    out
}

/// That a layout has no place for suites.
fn left_out(layout: &Layout, screen: &Screen) -> String {
    if layout.suite > 0 {
        return String::new();
    }
    let note = say!("Suites need a wider screen.", "Для наборов нужен экран шире.");
    screen.faint(&paragraph("", note.get(screen.lang), screen.width))
}

fn state(run: &ListedRun) -> Say {
    match run.state {
        RunState::Complete => say!("complete", "завершён"),
        RunState::Open if run.going_on => say!("going on", "идёт"),
        RunState::Open => say!("running or killed", "оборван или идёт"),
        RunState::Suspended { .. } => say!("waits for you", "ждёт вас"),
        RunState::Ended { .. } => say!("ended early", "прерван"),
    }
}

fn gone() -> Say {
    say!("file gone", "файла нет")
}

/// The number that stands for a run.
fn result(run: &ListedRun) -> Say {
    run.result.as_ref().map_or(Say::same(NONE), |found| rates::rate(found.total.of(found.headline), found.headline))
}

fn table(runs: &[&Listed], layout: &Layout, screen: &Screen) -> Option<String> {
    let labels = runs.iter().filter_map(|listed| listed.run()).any(|run| run.label.is_some());
    if layout.suite == 0 && !labels {
        return None;
    }
    let columns = [
        (true, say!("run", "прогон"), false),
        (layout.started, say!("started", "начало"), false),
        (labels, say!("label", "метка"), false),
        (layout.suite > 0, say!("suite", "набор"), false),
        (true, say!("target", "объект"), false),
        (true, say!("main case", "главный случай"), true),
        (true, say!("state", "состояние"), false),
        (layout.details, say!("cases", "случаев"), true),
        (layout.details, say!("size", "размер"), true),
    ];
    let has = columns.each_ref().map(|(has, ..)| *has);
    let columns = columns.into_iter().filter(|(has, ..)| *has);
    let columns: Vec<Column> =
        columns.map(|(_, head, right)| Column { head: head.get(screen.lang).to_string(), right }).collect();
    let row = |listed: &&Listed| {
        let cells = cells(listed, layout, screen.lang).into_iter().zip(&has[1..]);
        let cells = cells.filter(|(_, has)| **has).map(|(cell, _)| cell).collect();
        Row { name: clean(&listed.name), indent: 0, cells, tint: None }
    };
    // A name that breaks can no longer be copied.
    let drawn = grid(&columns, &runs.iter().map(row).collect::<Vec<_>>(), screen)?;
    runs.iter().all(|listed| drawn.contains(&clean(&listed.name))).then_some(drawn)
}

/// Every cell but the name.
fn cells(listed: &Listed, layout: &Layout, lang: Lang) -> [String; 8] {
    let Some(run) = listed.run() else {
        let none = || NONE.to_string();
        let path = end_of(&listed.path, layout.target);
        return [none(), none(), none(), path, none(), gone().get(lang).to_string(), none(), none()];
    };
    [
        utc(run.started_unix),
        run.label.as_ref().map_or(NONE.to_string(), |label| short(label, layout.suite.max(LABEL_LEAST))),
        short(&run.suite, layout.suite),
        short(&in_line(&run.targets), layout.target),
        result(run).get(lang).to_string(),
        state(run).get(lang).to_string(),
        run.cases.to_string(),
        format::bytes(listed.size, lang),
    ]
}

/// The beginning of a text in so many columns.
fn short(text: &str, columns: usize) -> String {
    let text = clean(text);
    if width(&text) <= columns {
        return text;
    }
    let mut cut = String::new();
    for letter in text.chars() {
        cut.push(letter);
        if width(&cut) >= columns {
            cut.pop();
            break;
        }
    }
    cut + "…"
}

/// The end of a path, which tells more than its beginning.
fn end_of(path: &str, columns: usize) -> String {
    let turned = |text: &str| text.chars().rev().collect::<String>();
    turned(&short(&turned(path), columns))
}

fn stacked(listed: &Listed, screen: &Screen) -> String {
    let text = match listed.run() {
        None => {
            let (path, gone) = (&listed.path, gone());
            let (en, ru) = (gone.en, gone.ru);
            say!("{en}: {path}", "{ru}: {path}")
        }
        Some(run) => {
            let label = run.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
            let (suite, target, began, cases) = (&run.suite, in_line(&run.targets), utc(run.started_unix), run.cases);
            let (en, ru) =
                (plural_en(cases.into(), "case", "cases"), plural_ru(cases.into(), "случай", "случая", "случаев"));
            let size = Say::both(|lang| format::bytes(listed.size, lang));
            let (state, result) = (state(run), result(run));
            let (size_en, size_ru, state_en, state_ru) = (size.en, size.ru, state.en, state.ru);
            let (result_en, result_ru) = (result.en, result.ru);
            say!(
                "{label}{began}, {suite} on {target}, {result_en}, {state_en}, {cases} {en}, {size_en}",
                "{label}{began}, {suite} на {target}, {result_ru}, {state_ru}, {cases} {ru}, {size_ru}"
            )
        }
    };
    let name = screen.bold(&paragraph("", &clean(&listed.name), screen.width));
    name + &paragraph("  ", &clean(text.get(screen.lang)), screen.width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::HOSTILE;
    use expect_test::expect_file;
    use stend_analyse::Leading;
    use stend_analyse::findings::{Headline, Rates};
    use stend_analyse::rates::estimate;
    use stend_base::{Bytes, Error, Kind};

    fn listed(name: &str, target: &str, state: RunState) -> Listed {
        let run = ListedRun {
            run: name.into(),
            started_unix: 1_795_296_600,
            label: match target {
                "/var/tmp" => None,
                device if device.starts_with("/dev") => Some("до ремонта, 12 накопителей".into()),
                hostile => Some(hostile.into()),
            },
            suite: "quick".into(),
            recording: false,
            targets: vec![target.into()],
            going_on: state == RunState::Open && name.ends_with('c'),
            state,
            cases: 8,
            trials: 48,
            result: Some(Leading {
                label: "read".into(),
                workload: say!("random read", "случайное чтение"),
                headline: Headline::Iops,
                total: Rates { iops: estimate(&[86_551.0], &[]), throughput: estimate(&[354_512_896.0], &[]) },
            }),
        };
        let (path, content) = (format!("/runs/{name}.stend"), Content::Run(Box::new(run)));
        Listed { name: name.into(), path, size: Bytes(1_300_000), content }
    }

    fn listing(runs: Vec<Listed>) -> Listing {
        Listing { known: runs.len(), runs, left_out: 0, next: None, directory: "/runs".into() }
    }

    fn runs() -> Vec<Listed> {
        let why = say!("the run file `/runs/x.stend` is damaged", "файл прогона `/runs/x.stend` повреждён");
        let error = Error::run_file(why);
        let ended = RunState::Ended { kind: Kind::Interrupted, reason: say!("stopped", "остановлен") };
        vec![
            listed("R-20261123T213000Z-cccc", "/var/tmp", RunState::Open),
            listed("R-20261122T213000Z-bbbb", "/dev/disk/by-id/nvme-SAMSUNG_MZQL2960HCJR-00A07_S64GNN0TB01234", ended),
            Listed {
                name: "x".into(),
                path: "/runs/x.stend".into(),
                size: Bytes(7),
                content: Content::Unreadable(error),
            },
            listed("R-20261121T213000Z-aaaa", "/var/tmp", RunState::Complete),
            Listed {
                name: "R-20261120T213000Z-gone".into(),
                path: "/srv/before.stend".into(),
                size: Bytes(0),
                content: Content::Gone,
            },
        ]
    }

    #[test]
    fn runs_are_lines_and_what_cannot_be_read_is_said() {
        let mut all = String::new();
        for (lang, columns) in [(Lang::En, 120), (Lang::Ru, 120), (Lang::En, 80), (Lang::Ru, 80), (Lang::En, 40)] {
            let mut shown = listing(runs());
            shown.runs.truncate(if columns == 40 { 2 } else { 5 });
            shown.left_out = if columns == 80 { 7 } else { 0 };
            let screen = list_text(&shown, lang, columns, false);
            assert!(screen.lines().all(|line| width(line) <= columns), "{screen}");
            let suites = [screen.contains("quick"), screen.contains("wider screen") || screen.contains("экран шире")];
            assert!(suites[0] != suites[1], "suites are shown, or missing with a word: {screen}");
            all.push_str(&format!("════ {} {columns}\n{screen}", lang.tag()));
        }
        expect_file!["../../tests/golden/list.txt"].assert_eq(&all);
    }

    #[test]
    fn no_run_and_no_readable_run_are_answered() {
        assert!(list_text(&listing(Vec::new()), Lang::En, 80, false).contains("no runs in /runs"));
        let filtered = Listing { known: 7, ..listing(Vec::new()) };
        assert!(list_text(&filtered, Lang::En, 80, false).starts_with("No run meets the condition; `stend list`"));
        assert!(list_text(&filtered, Lang::Ru, 80, false).starts_with("Под условие не подходит ни один прогон"));
        let broken = listing(runs()[2..3].to_vec());
        assert!(list_text(&broken, Lang::En, 80, false).contains("✖ the run file"));
    }

    #[test]
    fn hostile_names_fit_and_steer_nothing() {
        for name in HOSTILE {
            for columns in [40, 110] {
                let screen =
                    list_text(&listing(vec![listed(name, name, RunState::Complete)]), Lang::Ru, columns, false);
                assert!(screen.lines().all(|line| width(line) <= columns), "{screen}");
                assert!(!screen.contains('\u{1b}') && !screen.contains('\u{202e}'));
            }
        }
    }

    #[test]
    fn the_machine_form_tells_runs_from_broken_files() {
        let text = crate::list_json(&listing(runs()));
        expect_file!["../../tests/golden/list.json"].assert_eq(&text);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["schema_version"], 1);
        assert_eq!(value["runs"][0]["state"]["state"], "open");
        assert_eq!((&value["runs"][2]["run"], &value["runs"][2]["error"]["kind"]), (&().into(), &"run_file".into()));
        assert_eq!((&value["runs"][4]["gone"], &value["runs"][0]["result"]["case"]), (&true.into(), &"read".into()));
    }
}
