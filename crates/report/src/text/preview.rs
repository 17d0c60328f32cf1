//! `stend run --dry-run`: what the run would do, in the order in which it would do it.

mod load_hosts;

use super::inspect::what;
use super::layout::{clean, left, paragraph, width};
use super::{Screen, WIDTH_MAX, WIDTH_MIN};
use crate::words;
use stend_analyse::findings::Caveat;
use stend_analyse::preview::{PlannedArm, PlannedCalibration, PlannedCase, PlannedTest, Preview, Writes};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Bytes, Lang, Nanos, Say, format, say};
use stend_record::TargetFacts;
use stend_record::targets::{in_line, names};
use stend_spec::confirm::Test;
use stend_spec::precondition::{Precondition, Purge};

/// Most tests of cause that are named one by one (by eye).
const TESTS_SHOWN: usize = 12;

/// A preview for a person, at most `width` columns wide (40 at least).
pub fn preview_text(preview: &Preview, lang: Lang, width: usize, colour: bool) -> String {
    let screen = Screen { lang, width: width.clamp(WIDTH_MIN, WIDTH_MAX), colour };
    let mut out = screen.bold(&paragraph("", title(preview).get(lang), screen.width));
    out.push_str(&load_hosts::load_hosts(preview, &screen));
    out.push_str(&danger(preview, &screen));
    out.push_str(&steps(preview, &screen));
    out.push_str(&super::list(&say!("Arms", "Варианты"), &screen, arms(preview, lang)));
    let not_run = super::brief::not_run(&preview.not_run).into_iter();
    // Labels hold commas.
    let not_run = not_run
        .map(|(reason, labels)| ("–".to_string(), format!("{}: {}", clean(&labels.join("; ")), reason.get(lang))));
    out.push_str(&super::list(&say!("Not run", "Не выполняется"), &screen, not_run));
    out.push_str(&super::list(
        &say!("Tests of cause among the cases", "Проверки причин среди случаев"),
        &screen,
        tested_by_cases(&preview.tested_by_cases, lang),
    ));
    out.push('\n');
    out.push_str(&costs(preview, &screen));
    let caveats = preview.caveats.iter().filter(|caveat| !matches!(caveat, Caveat::WillWrite { .. }));
    let caveats = caveats.map(|caveat| ("!".to_string(), caveat.say().get(lang).to_string()));
    let warnings = preview.ahead.warnings.iter().map(|warning| ("!".to_string(), clean(warning.get(lang))));
    out.push_str(&super::list(&say!("Caveats", "Оговорки"), &screen, warnings.chain(caveats)));
    out
}

fn title(preview: &Preview) -> Say {
    let suite = clean(&preview.suite);
    if let count @ 1.. = preview.ahead.hosts.len() {
        return say!(
            "Nothing was changed. A run of {suite} with {count} load hosts would do this:",
            "Ничего не изменено. Прогон {suite}, нагружающих машин {count}, сделал бы следующее:"
        );
    }
    let named = clean(&in_line(&names(&preview.targets)));
    let Say { en, ru } = match preview.targets.as_slice() {
        [target] => what(target),
        several => {
            let (count, kind) = (several.len(), several.first().map(|target| words::target_kind(target.kind)));
            let Say { en, ru } = kind.unwrap_or_else(|| Say::same(""));
            say!("{en}, {count} targets", "{ru}, объектов {count}")
        }
    };
    say!(
        "Nothing was changed. A run of {suite} on {named} ({en}) would do this:",
        "Ничего не изменено. Прогон {suite} на {named} ({ru}) сделал бы следующее:"
    )
}

/// Every target, with the name of its host in front where there are several.
fn all_targets(preview: &Preview) -> Vec<(String, &TargetFacts)> {
    let of_hosts = preview.ahead.hosts.iter();
    let of_hosts =
        of_hosts.flat_map(|host| host.targets.iter().map(|target| (format!("{}: ", clean(&host.name)), target)));
    match preview.ahead.hosts.is_empty() {
        true => preview.targets.iter().map(|target| (String::new(), target)).collect(),
        false => of_hosts.collect(),
    }
}

/// What would be written and lost.
fn danger(preview: &Preview, screen: &Screen) -> String {
    let lang = screen.lang;
    let put = |glyph: &str, say: Say| paragraph(glyph, say.get(lang), screen.width);
    match &preview.writes {
        Writes::TestFiles { .. } if all_targets(preview).len() > 1 => put(
            "✔ ",
            say!(
                "It writes only to its own files, in its own directory in each target, and removes them at the end.",
                "Пишет только в собственные файлы, в собственном каталоге внутри каждого объекта, и в конце всё удаляет."
            ),
        ),
        Writes::TestFiles { count, .. } if *count > 1 || !preview.programs.is_empty() => put(
            "✔ ",
            say!(
                "It writes only to its own files in its own directory, and removes them at the end.",
                "Пишет только в собственные файлы в собственном каталоге и в конце всё удаляет."
            ),
        ),
        Writes::TestFiles { .. } => put(
            "✔ ",
            say!(
                "It writes only to its own file in its own directory, and removes both at the end.",
                "Пишет только в собственный файл в собственном каталоге и в конце удаляет и то и другое."
            ),
        ),
        Writes::Target { len, signatures } => {
            let len = Say::both(|lang| format::bytes(*len, lang));
            let mut out = String::new();
            for (host, target) in all_targets(preview) {
                let name = target.identity.as_ref().unwrap_or(&target.path);
                let path = format!("{host}{}", clean(&target.path));
                let (name, en, ru) = (clean(name), &len.en, &len.ru);
                let destroyed = say!(
                    "It destroys the data in the first {en} of {path} ({name}).",
                    "Уничтожит содержимое первых {ru} на {path} ({name})."
                );
                out += &screen.alarm(&put("✖ ", destroyed));
            }
            if !signatures.is_empty() {
                let list = clean(&signatures.join(", "));
                out += &screen.alarm(&put("✖ ", say!("It overwrites: {list}.", "Затрёт метки: {list}.")));
            }
            out
        }
        Writes::Nothing => put("✔ ", say!("It only reads the target.", "Объект только читается.")),
    }
}

/// What is measured first, and for how long.
fn ceilings(calibration: &PlannedCalibration, lang: Lang) -> String {
    let (drives, engine) = (clean(&in_line(&calibration.drives)), calibration.engine);
    let time = format::duration(calibration.time, lang);
    let text = match calibration.drives.is_empty() {
        true => say!(
            "measure ceilings: {engine} loads with nothing behind them ({time})",
            "измерить потолки: нагрузок без объекта — {engine} ({time})"
        ),
        false => say!(
            "measure ceilings: read {drives}, and run {engine} loads with nothing behind them ({time})",
            "измерить потолки: прочитать {drives} и выполнить нагрузок без объекта — {engine} ({time})"
        ),
    };
    text.get(lang).to_string()
}

/// What is started besides, and what of it is made on the machine.
fn starting(preview: &Preview, lang: Lang) -> Option<String> {
    let names =
        |lang| preview.programs.iter().map(|one| one.say().get(lang).to_string()).collect::<Vec<_>>().join(", ");
    let (en, ru) = (names(Lang::En), names(Lang::Ru));
    let started = say!(
        "start {en}: instances with data of their own below that directory (`app`) and, where they have limits, in control groups of their own (`stend-…`); both go at the end",
        "запустить {ru}: экземпляры со своими данными в том же каталоге (`app`) и, где заданы пределы, в своих контрольных группах (`stend-…`); в конце удаляется и то и другое"
    );
    (!preview.programs.is_empty()).then(|| started.get(lang).to_string())
}

fn steps(preview: &Preview, screen: &Screen) -> String {
    let (lang, ahead) = (screen.lang, &preview.ahead);
    let mut lines: Vec<String> = ahead.steps.iter().map(|step| clean(step.get(lang))).collect();
    if let Some(calibration) = &preview.calibration {
        lines.push(ceilings(calibration, lang));
    }
    lines.extend(preview.fill.iter().flat_map(|fill| filling(*fill, preview.precondition, lang)));
    if ahead.samples_zeros {
        let sample =
            say!("read a few blocks to check whether they hold data", "прочитать немного блоков: есть ли в них данные");
        lines.push(sample.get(lang).to_string());
    }
    lines.extend(starting(preview, lang));
    let measure = lines.len();
    let (trials, blocks, count) = (u64::from(preview.trials), u64::from(preview.blocks), preview.cases.len() as u64);
    let trial_words = (plural_en(trials, "trial", "trials"), plural_ru(trials, "испытание", "испытания", "испытаний"));
    let (en, ru) = trial_words;
    let plain = say!(
        "measure: {trials} {en}; each is warm-up + measurement",
        "измерить: {trials} {ru}; каждое — разгон + измерение"
    );
    let (cases_en, cases_ru) = (plural_en(count, "case", "cases"), plural_ru(count, "случай", "случая", "случаев"));
    // Searches, rounds and arms have numbers of their own.
    let (of_en, of_ru) = match trials == count * blocks {
        true => (format!(" ({count} {cases_en} × {blocks})"), format!(" ({count} {cases_ru} × {blocks})")),
        false => (String::new(), String::new()),
    };
    let (mixed_en, mixed_ru) = if count > 1 && blocks > 1 { (", mixed", " вперемешку") } else { ("", "") };
    let measured = say!(
        "measure: {trials} {en}{of_en}{mixed_en}; each is warm-up + measurement",
        "измерить: {trials} {ru}{of_ru}{mixed_ru}; каждое — разгон + измерение"
    );
    let enough = preview.until.map(|until| words::until(&until).get(lang).to_string()).unwrap_or_default();
    let measured = if preview.programs.is_empty() { measured } else { plain };
    lines.push(measured.get(lang).to_string() + &enough);
    lines.extend(ahead.undo.iter().map(|step| clean(step.get(lang))));
    let mut out = format!("\n{}\n", screen.bold(say!("Steps", "Шаги").get(lang)));
    for (index, line) in lines.iter().enumerate() {
        out.push_str(&paragraph(&format!("{:>2}  ", index + 1), line, screen.width));
        if index == measure {
            out.push_str(&cases(&preview.cases, screen));
        }
    }
    if preview.ahead.in_blocks {
        let again = say!(
            "Each block is a session of its own: it prepares, fills and cleans up its target, and then the next target has its turn.",
            "Каждый блок — отдельная сессия: она готовит и заполняет свой объект, убирает за собой, и очередь переходит к следующему объекту."
        );
        out.push_str(&paragraph("    ", again.get(lang), screen.width));
    }
    out
}

/// What is done to the range before it is measured.
fn filling(fill: Bytes, how: Option<Precondition>, lang: Lang) -> Vec<String> {
    let size = Say::both(|lang| format::bytes(fill, lang));
    let (en, ru) = (size.en, size.ru);
    let Some(how) = how else {
        return vec![say!("write {en} once, in order", "один раз подряд записать {ru}").get(lang).to_string()];
    };
    let purge = (how.purge == Purge::Discard).then(|| {
        say!(
            "purge: discard {en}, or zero them where the target takes no discards",
            "очистка: освободить {ru} (discard) или обнулить, если объект не принимает discard"
        )
    });
    if how.passes == 0 {
        let untouched =
            say!("write nothing: the drive stays as purged", "ничего не записывать: накопитель остаётся очищенным");
        return purge.into_iter().chain([untouched]).map(|line| line.get(lang).to_string()).collect();
    }
    let (passes, block) = (how.passes, Say::both(|lang| format::bytes(how.block_size, lang)));
    let (block_en, block_ru, times) = (block.en, block.ru, plural_en(u64::from(passes), "pass", "passes"));
    let written = say!(
        "precondition: write {en} in order in blocks of {block_en}, {passes} {times}",
        "подготовка: записать {ru} подряд блоками по {block_ru}, проходов: {passes}"
    );
    purge.into_iter().chain([written]).map(|line| line.get(lang).to_string()).collect()
}

/// How each arm is switched to, and what looks at it.
fn arms(preview: &Preview, lang: Lang) -> impl Iterator<Item = (String, String)> {
    let arm = move |arm: &PlannedArm| {
        let name = clean(&arm.name);
        let how = match &arm.person {
            Some(text) => {
                let text = clean(text);
                say!("waits for you: {text}", "ждёт вас: {text}").get(lang).to_string()
            }
            None if arm.changes.is_empty() => say!("the machine as it is", "машина как есть").get(lang).to_string(),
            None => clean(&arm.changes.join("; ")),
        };
        ("▸".to_string(), format!("{name}: {how}"))
    };
    let look = move |command: &String| {
        let command = clean(command);
        let text = say!("in every arm: {command}", "в каждом варианте: {command}");
        ("·".to_string(), text.get(lang).to_string())
    };
    preview.arms.iter().map(arm).chain(preview.observes.iter().map(look))
}

/// Which case tests which other one; of very many the first, and how many more there are.
fn tested_by_cases(tests: &[PlannedTest], lang: Lang) -> impl Iterator<Item = (String, String)> {
    let one = move |test: &PlannedTest| {
        let changed = match test.test {
            Test::Depth => say!("with twice the queue depth", "при вдвое большей глубине"),
            Test::Threads => say!("with twice the jobs at half the depth", "с вдвое большим числом заданий"),
            Test::Node => say!("on another NUMA node", "на другом узле NUMA"),
        };
        let (of, by, Say { en, ru }) = (clean(&test.of), clean(&test.by), changed);
        let text = say!(
            "{of}, {en}: the case {by}, which is not run a second time",
            "{of} {ru}: случай {by}, второй раз он не выполняется"
        );
        text.get(lang).to_string()
    };
    let left = tests.len().saturating_sub(TESTS_SHOWN) as u64;
    let more = (left > 0).then(|| say!("and {left} more", "и ещё {left}").get(lang).to_string());
    tests.iter().take(TESTS_SHOWN).map(one).chain(more).map(|text| ("·".to_string(), text))
}

fn cases(cases: &[PlannedCase], screen: &Screen) -> String {
    let lang = screen.lang;
    let span = |value: Nanos| format::duration(value, lang);
    let each = |case: &PlannedCase| {
        let about = if case.searched.is_some() { "≈ " } else { "" };
        format!("{about}{} × ({} + {})", case.trials, span(case.ramp), span(case.window))
    };
    let workload = |case: &PlannedCase| {
        let events = case.events.iter().map(|event| event.get(lang));
        let workload = std::iter::once(case.workload.get(lang)).chain(events).collect::<Vec<_>>().join("; ");
        if let Some(steady) = case.steady {
            let (most, round) = (steady.rounds, Say::both(|lang| format::duration(steady.round, lang)));
            let (en, ru) = (round.en, round.ru);
            let rounds = say!(
                "first rounds of {en} until the rate is steady, at most {most}",
                "перед ними раунды по {ru}, пока режим не установится, не более {most}"
            );
            return format!("{workload}; {}", rounds.get(lang));
        }
        match case.searched {
            Some(searched) => format!("{workload}; {}", searched.say().get(lang)),
            None => workload,
        }
    };
    let names = cases.iter().map(|case| width(&clean(&case.label))).max().unwrap_or_default();
    let lengths = cases.iter().map(|case| width(&each(case))).max().unwrap_or_default();
    let wide = names + lengths + 24 <= screen.width;
    let mut out = String::new();
    for case in cases {
        let (label, workload) = (clean(&case.label), workload(case));
        out.push_str(&match wide {
            true => {
                let first = format!("      {}  {}  ", left(&label, names), left(&each(case), lengths));
                paragraph(&first, &workload, screen.width)
            }
            false => paragraph("      ", &format!("{label}: {}, {workload}", each(case)), screen.width),
        });
    }
    out
}

/// Time, bytes and files: what is known, and by what the rest is decided.
fn costs(preview: &Preview, screen: &Screen) -> String {
    let ahead = &preview.ahead;
    let spool = match ahead.shares_drive {
        true => say!(
            " It is on the drive that is measured, so Stend writes to it only between trials.",
            " Он на измеряемом накопителе, поэтому Стенд пишет в него только между испытаниями."
        ),
        false => Say::same(""),
    };
    let size = Say::both(|lang| format::bytes(ahead.run_file_size, lang));
    let (path, en, ru, spool_en, spool_ru) = (clean(&ahead.run_file), size.en, size.ru, spool.en, spool.ru);
    let file = say!(
        "{path}, about {en}, which are reserved first.{spool_en}",
        "{path}, около {ru}, место резервируется заранее.{spool_ru}"
    );
    let log = preview.io_log.map(|size| {
        let (name, size) = (say!("log", "журнал"), Say::both(|lang| format::bytes(size, lang)));
        let (en, ru) = (size.en, size.ru);
        let most = say!(
            "Every I/O of the windows: at most {en} in the run file, depending on the target.",
            "Каждая операция окон измерения: не более {ru} в файле прогона, смотря по скорости объекта."
        );
        (name, most)
    });
    let rows = [
        (say!("time", "время"), time(preview)),
        (say!("written", "запись"), written(preview)),
        (say!("run file", "файл прогона"), file),
    ];
    let rows: Vec<(Say, Say)> = rows.into_iter().chain(log).chain(beside_the_run_file(preview)).collect();
    let names = rows.iter().map(|(name, _)| width(name.get(screen.lang))).max().unwrap_or_default();
    let row = |(name, value): &(Say, Say)| {
        let first = format!("{}  ", left(name.get(screen.lang), names));
        paragraph(&first, value.get(screen.lang), screen.width)
    };
    rows.iter().map(row).collect()
}

/// The ledger, if one is kept, and the report.
fn beside_the_run_file(preview: &Preview) -> impl Iterator<Item = (Say, Say)> {
    let ahead = &preview.ahead;
    let ledger = ahead.ledger.as_ref().map(|path| {
        let path = clean(path);
        let what =
            say!("{path}, which lists the writes until they are checked.", "{path} — перечень записей до их проверки.");
        (say!("ledger", "журнал записей"), what)
    });
    let path = clean(&ahead.report);
    let report = match ahead.report_replaces {
        true => say!("{path}, in place of the file that is there.", "{path}, вместо имеющегося файла."),
        false => Say::same(format!("{path}.")),
    };
    ledger.into_iter().chain(std::iter::once((say!("report", "отчёт"), report)))
}

/// What is written to the target, as far as it is known.
pub(super) fn written(preview: &Preview) -> Say {
    let will_write = preview.caveats.iter().find(|caveat| matches!(caveat, Caveat::WillWrite { .. }));
    let written = will_write.map_or_else(|| say!("Nothing.", "Ничего."), |caveat| caveat.say());
    let (amounts, hosts) = (amounts(preview), preview.ahead.hosts.len());
    let each = match hosts {
        0 => Say::same(""),
        _ if will_write.is_none() => Say::same(""),
        _ => say!(" So much on each of {hosts} hosts.", " Столько на каждой из машин ({hosts})."),
    };
    Say::both(|l| [written.get(l), amounts.get(l), each.get(l)].concat())
}

/// How long it takes, as far as it is known.
pub(super) fn time(preview: &Preview) -> Say {
    let budget = preview.time_budget;
    let rates = examples(preview, |e, lang| format::duration(e.fill, lang));
    Say::both(|lang| {
        let rounds = preview.cases.iter().any(|case| case.steady.is_some());
        let trials = format::duration(preview.trial_time, lang);
        let mut text = match (lang, budget.map(|budget| format::duration(budget, lang))) {
            (Lang::En, None) if rounds => format!("{trials} at most of rounds and trials"),
            (Lang::Ru, None) if rounds => format!("не более {trials} на раунды и испытания"),
            (Lang::En, None) => format!("{trials} of trials"),
            (Lang::Ru, None) => format!("{trials} на испытания"),
            (Lang::En, Some(budget)) => format!("{trials} of trials (fitted to a budget of {budget})"),
            (Lang::Ru, Some(budget)) => format!("{trials} на испытания (подогнано под бюджет {budget})"),
        };
        if preview.fill.is_some() {
            let fills = preview.fills;
            text += &match lang {
                Lang::En if fills > 1 => format!(", and {fills} fills: {}", rates.en),
                Lang::Ru if fills > 1 => format!(" и заполнения ({fills}): {}", rates.ru),
                Lang::En => format!(", and the fill: {}", rates.en),
                Lang::Ru => format!(" и заполнение: {}", rates.ru),
            };
        }
        text + match lang {
            Lang::En => "; preparing, syncing the run file between trials and cleaning up come on top.",
            Lang::Ru => "; сверх того — подготовка, сброс файла прогона между испытаниями и уборка.",
        }
    })
}

/// What the trials that write may come to.
fn amounts(preview: &Preview) -> Say {
    if preview.writing_time == Nanos(0) {
        return Say::same("");
    }
    let rates = examples(preview, |e, lang| format::bytes(Bytes(e.written_by_trials.0), lang));
    let (en, ru) = (rates.en, rates.ru);
    say!(" The trials write at most {en}.", " Испытания запишут не более {ru}.")
}

/// `82 s at 100 MB/s, 4.1 s at 2 GB/s`
fn examples(preview: &Preview, value: impl Fn(&stend_analyse::preview::Example, Lang) -> String) -> Say {
    Say::both(|lang| {
        let at = if lang == Lang::En { "at" } else { "при" };
        let one = |e| format!("{} {at} {}", value(e, lang), format::throughput(e.bytes_per_s as f64, lang));
        preview.examples.iter().map(one).collect::<Vec<_>>().join(", ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use expect_test::expect_file;

    #[test]
    fn a_preview_reads_the_same_way_as_the_run_goes() {
        let mut text = String::new();
        for (lang, width) in [(Lang::En, 100), (Lang::Ru, 80), (Lang::Ru, 40)] {
            for preview in [fixture::preview(), fixture::preview_of_a_device(), fixture::preview_of_two_hosts()] {
                let shown = preview_text(&preview, lang, width, false);
                assert!(shown.lines().all(|line| super::width(line) <= width), "{shown}");
                text += &format!("{shown}---\n");
            }
        }
        expect_file!["../../tests/golden/preview.txt"].assert_eq(&text);
    }

    #[test]
    fn of_very_many_tests_by_cases_the_first_are_named_and_the_others_counted() {
        let test = |i: usize| PlannedTest { of: format!("a{i}"), test: Test::Threads, by: format!("b{i}") };
        let lines = |count| {
            tested_by_cases(&(0..count).map(test).collect::<Vec<_>>(), Lang::En).map(|l| l.1).collect::<Vec<_>>()
        };
        assert_eq!(lines(TESTS_SHOWN).len(), TESTS_SHOWN);
        let many = lines(TESTS_SHOWN + 3);
        assert_eq!((many.len(), many.last().unwrap().as_str()), (TESTS_SHOWN + 1, "and 3 more"));
    }

    #[test]
    fn colour_marks_only_what_is_lost() {
        assert!(!preview_text(&fixture::preview(), Lang::En, 80, true).contains("\u{1b}[31m"));
        assert!(preview_text(&fixture::preview_of_a_device(), Lang::En, 80, true).contains("\u{1b}[31m✖ It destroys"));
    }
}
